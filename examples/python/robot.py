"""A robot of masses and springs learns to walk: a network moves its muscles, and gradients come through the whole walk.

    python examples/python/robot.py [FOLDER]

Some of the springs are muscles. A network of two layers sees a clock, where the masses are and how they move, and which way the robot
should go, and tells the muscles how long to be. Two robots walk with the same network, one to the right and one to the left.
They are reversed through all steps, contacts with the ground included. FOLDER/robot.png is an animation of the lesson's
beginning, middle and end.
SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import pictures as pic
import retrograd as rg
from adam import Adam

DT, GRAVITY, DAMPING, DRAG, BEAT, CLOCK = 0.004, 4.8, 8.0, 3.0, 14.0, 6
HARD, FRICTION = 3000.0, 1.0  # the ground
CELL, ACTIVE = 0.1, 0.3  # the length of a box's side; how much of its length a muscle may change


def frame(boxes: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A robot of square boxes: its masses [count][2], springs [count][2], and which of them are muscles."""
    places: dict[tuple[int, int], int] = {}
    springs: dict[tuple[int, int], bool] = {}
    for i, j in boxes:
        a, b, c, d = (places.setdefault((i + di, j + dj), len(places)) for di in (0, 1) for dj in (0, 1))
        for p, q, muscle in ((a, b, True), (c, d, True), (a, c, False), (b, d, False), (a, d, j == 0), (b, c, j == 0)):
            springs[p, q] = springs.get((p, q), False) or muscle
    return CELL * (np.array(list(places)) + [0, 0.2]), np.array(list(springs), np.int32), np.array(list(springs.values()))


BOXES = [(0, 0), (2, 0), (0, 1), (1, 1), (2, 1)]


@rg.data_oriented
class Robots:
    """count robots of one kind, side by side in all arrays; the network is one."""

    def __init__(self, count: int = 2, hidden: int = 32) -> None:
        self.start, springs, muscles = frame(BOXES)
        masses, self.springs, self.hidden, self.count = len(self.start), len(springs), hidden, count
        self.inputs = CLOCK + 4 * masses + 1
        self.x, self.v, self.force = (rg.Vector.field(2, float, (count, masses), needs_grad=True) for _ in range(3))
        self.ends = rg.Vector.field(2, int, self.springs)
        self.length = rg.field(float, self.springs)
        self.muscle = rg.field(int, self.springs)
        self.goal = rg.field(float, count)
        self.middle = rg.Vector.field(2, float, count, needs_grad=True)
        self.within = rg.field(float, (hidden, self.inputs), needs_grad=True)
        self.bias = rg.field(float, hidden, needs_grad=True)
        self.out = rg.field(float, (self.springs, hidden), needs_grad=True)
        self.network = self.within, self.bias, self.out
        self.active = rg.field(float, (count, hidden), needs_grad=True)
        self.pull = rg.field(float, (count, self.springs), needs_grad=True)
        self.loss = rg.field(float, (), needs_grad=True)
        self.ends.from_numpy(springs)
        self.muscle.from_numpy(muscles.astype(np.int32))
        self.length.from_numpy(np.linalg.norm(self.start[springs[:, 0]] - self.start[springs[:, 1]], axis=1))
        self.goal.from_numpy(np.where(np.arange(count) % 2, -1, 1))

    def begin(self, seed: int) -> None:
        """Another network."""
        rng = np.random.default_rng(seed)
        self.within.from_numpy(rng.normal(size=self.within.shape) * np.sqrt(1 / self.inputs))
        self.out.from_numpy(rng.normal(size=self.out.shape) * 0.5 / np.sqrt(self.hidden))
        self.bias.fill(0)

    @rg.kernel
    def centre(self):
        for r in self.middle:
            self.middle[r] = [0.0, 0.0]
            for i in range(self.x.shape[1]):
                self.middle[r] += self.x[r, i] / self.x.shape[1]

    @rg.kernel
    def think(self, t: float):
        for r, h in self.active:
            a = self.bias[h] + self.goal[r] * self.within[h, self.inputs - 1]
            for k in range(CLOCK):
                a += self.within[h, k] * rg.sin(BEAT * t + 2 * rg.math.pi / CLOCK * k)
            for i in range(self.x.shape[1]):
                place, move = 2 * (self.x[r, i] - self.middle[r]), self.v[r, i]
                at = CLOCK + 4 * i
                a += self.within[h, at] * place.x + self.within[h, at + 1] * place.y
                a += self.within[h, at + 2] * move.x + self.within[h, at + 3] * move.y
            self.active[r, h] = rg.tanh(a)

    @rg.kernel
    def pull_springs(self):
        for I in rg.grouped(self.force):
            self.force[I] = [0.0, -GRAVITY]
        for r, s in self.pull:
            a = 0.0
            if self.muscle[s] == 1:
                for h in range(self.hidden):
                    a += self.out[s, h] * self.active[r, h]
            self.pull[r, s] = rg.tanh(a)
            p, q = self.ends[s]
            away = self.x[r, q] - self.x[r, p]
            far = away.norm()
            along = away / far
            faster = (self.v[r, q] - self.v[r, p]).dot(along)
            wanted = self.length[s] * (1 + ACTIVE * self.pull[r, s])
            force = (2000.0 * (far - wanted) + DAMPING * faster) * along
            self.force[r, p] += force
            self.force[r, q] -= force

    @rg.kernel
    def move(self):
        for r, i in self.x:
            v, force = self.v[r, i], self.force[r, i]
            deep = -self.x[r, i].y
            if deep > 0:  # the ground presses more the deeper a mass is in it, and friction is a part of that
                press = deep * max(0.0, HARD * (1 - v.y))
                force += press * rg.Vector([-FRICTION * v.x / rg.sqrt(v.x**2 + 0.01), 1.0])
            v = (1 - DT * DRAG) * v + DT * force
            self.v[r, i] = v
            self.x[r, i] += DT * v

    @rg.kernel
    def measure(self):
        for r in self.middle:
            self.loss[None] -= self.goal[r] * self.middle[r].x / self.count

    def reset(self) -> None:
        self.x.from_numpy(np.tile(self.start - [self.start[:, 0].mean(), 0], (self.count, 1, 1)))
        self.v.fill(0)

    def step(self, k: int) -> None:
        self.centre()
        self.think(k * DT)
        self.pull_springs()
        self.move()

    def learn(self, steps: int) -> float:
        """The gradient for the network; returns how far the robots got, in the mean."""
        self.reset()
        with rg.ad.Tape(self.loss):
            for k in range(steps):
                self.step(k)
            self.centre()
            self.measure()
        return -self.loss[None]


def film(robots: Robots, network: list[np.ndarray], steps: int, frames: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Places of the masses, and pulls of the springs, of all robots."""
    for field, values in zip(robots.network, network):
        field.from_numpy(values)
    robots.reset()
    shown = []
    for k in range(steps):
        robots.step(k)
        if k * frames // steps < (k + 1) * frames // steps:
            shown.append((robots.x.to_numpy(), robots.pull.to_numpy()))
    return shown


def draw(robots: Robots, known: list[tuple[str, list[np.ndarray]]], steps: int, path: Path, frames: int) -> None:
    wide, high, gap, zoom = 640, 130, 10, 250
    ends, muscle = robots.ends.to_numpy(), robots.muscle.to_numpy() == 1
    scene = pic.Picture(wide + 2 * gap, len(known) * (high + gap) + gap)
    rows = [film(robots, network, steps, frames) for _, network in known]
    for row, (name, _) in enumerate(known):
        y = gap + row * (high + gap)
        scene.box(gap, y, wide, high)
        scene.box(gap, y + high - 24, wide, 24, (44, 54, 74))
        scene.text(gap + 12, y + 24, name, pic.WHITE, 11, bold=True)
        for k in range(-12, 13):
            at = gap + wide / 2 + 0.1 * k * zoom
            scene.line([(at, y + high - 24), (at, y + high - (14 if k % 5 else 6))], pic.DIM)
    shown = []
    for f in range(frames):
        picture = scene.copy()
        for row, walk in enumerate(rows):
            corner = np.array([gap + wide / 2, gap + row * (high + gap) + high - 26])
            for x, pull, body in zip(*walk[f], (pic.AMBER, pic.TEAL)):
                at = corner + zoom * x * [1, -1]
                picture.lines(at[ends[~muscle]], body, 2, 0.5)
                for s in np.flatnonzero(muscle):
                    picture.line(at[ends[s]], pic.colours(0.5 + 0.5 * pull[s], [pic.ROSE, (190, 196, 210), pic.BLUE]), 3.5 - 1.5 * pull[s])
                for place in at:
                    picture.disc(*place, 4, body)
        shown.append(picture)
    pic.save_animation(path, shown, steps * DT / frames)


def run(folder: str | Path = "out", tries: int = 45, steps: int = 800, frames: int = 38, seed: int = 0) -> list[float]:
    """Returns how far the robots got at each try."""
    rg.init(arch=rg.cpu)
    robots = Robots()
    robots.begin(seed)
    adams, known, far = [Adam(field, 0.9) for field in robots.network], [], []
    for k in range(tries):
        network = [field.to_numpy() for field in robots.network]
        far.append(robots.learn(steps))
        for adam in adams:
            adam.step(0.006 * (1 - 0.5 * k / tries))
        if k in (tries // 9, tries // 3):
            known.append((f"try {k + 1}", network))
        if far[-1] == max(far):
            best = (f"try {k + 1}", network)
        if k % 5 == 4 or k == tries - 1:
            print(f"try {k + 1:2}: {far[-1]:.3f} far", flush=True)
    path = Path(folder) / "robot.png"
    draw(robots, [*known, best], steps, path, frames)
    print(path)
    return far


if __name__ == "__main__":
    run(*sys.argv[1:2])
