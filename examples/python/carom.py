"""Discs that come to rest as a heart: the pushes of all discs are learned, through everything that they knock into.

    python examples/python/carom.py [FOLDER]

Discs on a table are pushed all at once. Friction takes speed away in proportion, so the way that a disc has before it is straight,
and as long as it is fast. `while` there is a contact on these ways, the kernel goes on to the first one, which is an element of a
quadratic equation, and lets two discs or a disc and a wall bounce; how many there are, only the discs know. Each disc has a place in
the heart, and a push that would take it there, was there not the crowd. Adam learns better ones, on several tables with other
starts at once; now and then discs exchange their places. FOLDER/carom.png is an animation of the table that learned most, before and after.
SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import pictures as pic
import retrograd as rg
from adam import Adam

RADIUS, BOUNCE, WIDE, HIGH = 0.045, 0.9, 1.0, 0.75  # of a disc; what is left of a speed; half of the table's sides


def heart(count: int) -> np.ndarray:
    """Places on its outline, evenly."""
    t = np.linspace(0, 2 * np.pi, 2000)
    line = 0.036 * np.stack([16 * np.sin(t) ** 3, 2 + 13 * np.cos(t) - 5 * np.cos(2 * t) - 2 * np.cos(3 * t) - np.cos(4 * t)], axis=1)
    length = np.concatenate([[0], np.cumsum(np.hypot(*np.diff(line, axis=0).T))])
    at = np.arange(count) * length[-1] / count
    return np.stack([np.interp(at, length, line[:, k]) for k in (0, 1)], axis=1)


def crowd(count: int, rng: np.random.Generator) -> np.ndarray:
    """Places in a block, in some order."""
    side = int(np.ceil(np.sqrt(count)))
    i, j = np.divmod(rng.permutation(side**2)[:count], side)
    return 3 * RADIUS * (np.stack([i, j], axis=1) - (side - 1) / 2) + rng.uniform(-0.01, 0.01, (count, 2))


@rg.data_oriented
class Tables:
    def __init__(self, tables: int, discs: int, seed: int) -> None:
        self.discs, rng = discs, np.random.default_rng(seed)
        self.start = np.stack([crowd(discs, rng) for _ in range(tables)])
        self.push, self.x, self.way = (rg.Vector.field(2, float, (tables, discs), needs_grad=True) for _ in range(3))
        self.goal = rg.Vector.field(2, float, (tables, discs))
        self.contacts = rg.field(int, tables)
        self.away = rg.field(float, tables, needs_grad=True)
        self.loss = rg.field(float, (), needs_grad=True)
        self.goal.from_numpy(np.tile(heart(discs), (tables, 1, 1)))
        self.push.from_numpy(heart(discs) - self.start)

    @rg.func
    def first(self, t, most):
        """The first contact on a table: the part of the ways until there, a disc, and another one or a wall (-1, -2). Or `most`, -1."""
        soon, a, b = most, -1, 0
        for i in range(self.discs):
            x, way = self.x[t, i], self.way[t, i]
            for k in rg.static(range(2)):
                ahead = (WIDE, HIGH)[k] - RADIUS - x[k] * rg.math.sign(way[k])
                if soon * abs(way[k]) > ahead:
                    soon, a, b = ahead / abs(way[k]), i, -1 - k
            for j in range(i):
                d, w = x - self.x[t, j], way - self.way[t, j]
                nearer = d.dot(w)
                if nearer < 0:
                    root = nearer**2 - w.norm_sqr() * (d.norm_sqr() - 4 * RADIUS**2)
                    if root > 0 and -nearer - rg.sqrt(root) < soon * w.norm_sqr():
                        soon, a, b = (-nearer - rg.sqrt(root)) / w.norm_sqr(), i, j
        return max(soon, 0.0), a, b

    @rg.func
    def bounce(self, t, a, b):
        for k in rg.static(range(2)):
            if b == -1 - k:
                self.way[t, a][k] = -BOUNCE * self.way[t, a][k]
        if b >= 0:
            out = (self.x[t, a] - self.x[t, b]).normalized()
            knock = 0.5 * (1 + BOUNCE) * out.dot(self.way[t, a] - self.way[t, b]) * out
            self.way[t, a] -= knock
            self.way[t, b] += knock

    @rg.kernel
    def play(self, until: float):
        """Until this part of all ways is gone; 1: until all are at rest."""
        for t in self.contacts:
            for i in range(self.discs):
                self.way[t, i] = self.push[t, i]
            self.contacts[t] = 0
            left = 1.0
            while True:
                part, a, b = self.first(t, 1 - (1 - until) / left)
                left *= 1 - part
                for i in range(self.discs):
                    self.x[t, i] += part * self.way[t, i]
                    self.way[t, i] = (1 - part) * self.way[t, i]
                if a < 0:
                    break
                self.bounce(t, a, b)
                self.contacts[t] += 1

    @rg.kernel
    def measure(self):
        for t in self.away:
            self.away[t] = 0.0
            for i in range(self.discs):
                self.away[t] += (self.x[t, i] - self.goal[t, i]).norm_sqr() / self.discs
            self.loss[None] += self.away[t]

    @rg.kernel
    def exchange(self):
        """Two discs exchange their places in the heart where both together are nearer then."""
        for t in self.away:
            for i in range(self.discs):
                for j in range(i):
                    x, y, p, q = self.x[t, i], self.x[t, j], self.goal[t, i], self.goal[t, j]
                    if (x - q).norm_sqr() + (y - p).norm_sqr() < (x - p).norm_sqr() + (y - q).norm_sqr():
                        self.goal[t, i], self.goal[t, j] = q, p

    def learn(self) -> np.ndarray:
        """The gradient for the pushes, and of each table the mean square of how far from their places discs come to rest."""
        self.x.from_numpy(self.start)
        with rg.ad.Tape(self.loss):
            self.play(1.0)
            self.measure()
        return self.away.to_numpy()


def film(tables: Tables, table: int, frames: int) -> np.ndarray:
    """Places of the discs [frame][disc][2], as they slow down."""
    places = []
    for f in range(frames):
        tables.x.from_numpy(tables.start)
        tables.play(1 - (1 - f / (frames - 1)) ** 2)
        places.append(tables.x.to_numpy()[table])
    return np.stack(places)


def draw(films: list[tuple[str, np.ndarray]], tints: np.ndarray, path: Path) -> None:
    zoom, gap = 170, 14
    wide, high = int(2 * WIDE * zoom), int(2 * HIGH * zoom)
    scene = pic.Picture(len(films) * (wide + gap) + gap, high + 2 * gap + 20)
    corners = [(gap + k * (wide + gap), gap + 20) for k in range(len(films))]
    for (x, y), (name, _) in zip(corners, films):
        scene.text(x, y - 10, name, pic.WHITE, 11, bold=True)
        scene.box(x, y, wide, high, (22, 62, 60))
        scene.line([(x, y), (x + wide, y), (x + wide, y + high), (x, y + high), (x, y)], (104, 82, 62), 4)
    shown = []
    for f in range(len(films[0][1])):
        picture = scene.copy()
        for corner, (_, places) in zip(corners, films):
            at = np.array(corner) + zoom * (places[:f + 1] * [1, -1] + [WIDE, HIGH])
            for i, tint in enumerate(tints):
                picture.line(at[-6:, i], tint, 1.5, 0.6)
            for i, tint in enumerate(tints):
                picture.disc(*at[-1, i], RADIUS * zoom, tint)
        shown.append(picture)
    pic.save_animation(path, shown, 0.06, rest=3)


def run(folder: str | Path = "out", tries: int = 900, tables: int = 12, discs: int = 26, frames: int = 40, seed: int = 0) -> list[float]:
    """Returns the loss of each try: the mean square of how far from their places discs come to rest, on the best table."""
    rg.init(arch=rg.cpu)
    played = Tables(tables, discs, seed)
    first, adam, losses = played.push.to_numpy(), Adam(played.push, 0.9), []
    for k in range(tries):
        away = played.learn()
        losses.append(float(away.min()))
        if k % 5 == 0:
            played.exchange()
        if k % 100 == 99 or k == tries - 1:
            contacts = played.contacts[int(away.argmin())]
            print(f"try {k + 1:3}: {losses[-1]**0.5:.3f} from their places, after {contacts} contacts", flush=True)
        if k < tries - 1:
            adam.step(0.012 * (1 - k / tries))
    best = int(away.argmin())
    after = film(played, best, frames)
    goals = played.goal.to_numpy()[best]
    played.push.from_numpy(first)
    films = [("pushed to their places", film(played, best, frames)), ("learned", after)]
    turn = np.arctan2(goals[:, 1], goals[:, 0]) / (2 * np.pi) + 0.5
    draw(films, pic.colours(turn, [pic.ROSE, pic.LILAC, pic.BLUE, pic.TEAL, pic.LEAF, pic.AMBER, pic.ROSE]), Path(folder) / "carom.png")
    print(Path(folder) / "carom.png")
    return losses


if __name__ == "__main__":
    run(*sys.argv[1:2])
