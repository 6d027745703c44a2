"""A soft creature learns to run: the material point method, and gradients through all its steps.

    python examples/python/mpm.py [FOLDER]

The creature is jelly with muscles in its legs. Its particles hand mass and momentum to a grid, the grid moves under gravity and
meets the floor, and the particles take their velocities back (MLS-MPM, Hu et al. 2018). Muscles contract by a sum of waves,
whose weights Adam learns: the loss is how far the creature got. All kernels work in place; the tape keeps what the reverse
needs. FOLDER/mpm.png is an animation: the creature before and after.
SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import pictures as pic
import retrograd as rg
from adam import Adam

WIDE, HIGH, DX, FLOOR, DT = 140, 36, 1 / 64, 3, 1.5e-3  # nodes, their distance, those below the floor; seconds of a step
STIFF, STRENGTH, WAVES, BEAT, GRAVITY = 16.0, 6.0, 4, 25.0, 5.0
ACROSS, DOWN, ZOOM = 700, 180, 320  # pixels, and those of a unit of length


def creature(spacing: float) -> tuple[np.ndarray, np.ndarray]:
    """Particles [count][2], and the muscle of each, or -1."""
    left, low, leg, width, height = 0.12, FLOOR * DX + 0.005, 0.09, 0.34, 0.1
    x, y = (a.ravel() for a in np.meshgrid(np.arange(left, left + width, spacing), np.arange(low, low + leg + height, spacing)))
    along, up = x - left, y - low
    first, last = along < 0.08, along > width - 0.08
    inside = (up > leg) | first | last
    muscle = np.where(up > leg, -1, np.where(first, (along > 0.04) + 0, (along > width - 0.04) + 2))
    muscle = np.where((up > leg) & (up < leg + height / 2), np.where(along < width / 2, 4, 5), muscle)
    return np.stack([x, y], axis=1)[inside], muscle[inside].astype(np.int32)


@rg.data_oriented
class Jelly:
    def __init__(self, spacing: float) -> None:
        self.start, muscle = creature(spacing)
        count, muscles = len(muscle), muscle.max() + 1
        self.x, self.v = (rg.Vector.field(2, float, count, needs_grad=True) for _ in range(2))
        self.C, self.F = (rg.Matrix.field(2, 2, float, count, needs_grad=True) for _ in range(2))
        self.momentum = rg.Vector.field(2, float, (WIDE, HIGH), needs_grad=True)
        self.weight = rg.field(float, (WIDE, HIGH), needs_grad=True)
        self.muscle = rg.field(int, count)
        self.waves = rg.field(float, (muscles, WAVES), needs_grad=True)
        self.pull = rg.field(float, muscles, needs_grad=True)
        self.loss = rg.field(float, (), needs_grad=True)
        self.ink = rg.Vector.field(2, float, (DOWN, ACROSS))
        self.muscle.from_numpy(muscle)

    @rg.kernel
    def contract(self, t: float):
        for k in self.pull:
            pull = 0.0
            for j in range(WAVES):
                pull += self.waves[k, j] * rg.sin(BEAT * t + 2 * rg.math.pi / WAVES * j)
            self.pull[k] = rg.tanh(pull)

    @rg.kernel
    def clear(self):
        for I in rg.grouped(self.weight):
            self.momentum[I] = [0.0, 0.0]
            self.weight[I] = 0.0

    @rg.func
    def around(self, x):
        """The first of the 3 by 3 nodes near a place, the place from there in cells, and the nodes' parts."""
        base = rg.cast(x / DX - 0.5, int)
        f = x / DX - base
        return base, f, [0.5 * (1.5 - f) ** 2, 0.75 - (f - 1) ** 2, 0.5 * (f - 0.5) ** 2]

    @rg.kernel
    def to_grid(self):
        for p in self.x:
            F = (rg.Matrix.identity(float, 2) + DT * self.C[p]) @ self.F[p]
            self.F[p] = F
            J = F.determinant()
            turned = rg.Vector([F[0, 0] + F[1, 1], F[1, 0] - F[0, 1]]).normalized(1e-6)
            R = rg.Matrix([[turned.x, -turned.y], [turned.y, turned.x]])
            stress = 2 * STIFF * (F - R) @ F.transpose() + rg.Matrix.identity(float, 2) * (STIFF * (J - 1) * J)
            if self.muscle[p] >= 0:
                up = rg.Vector([F[0, 1], F[1, 1]])
                along = rg.Vector([F[0, 0], F[1, 0]])
                fibre = up if self.muscle[p] < 4 else along
                stress += STRENGTH * self.pull[self.muscle[p]] * fibre.outer_product(fibre)
            affine = self.C[p] - 4 * DT / DX**2 * stress  # a particle's volume and mass are 1
            base, f, w = self.around(self.x[p])
            for i, j in rg.static(rg.ndrange(3, 3)):
                away = (rg.Vector([i, j]) - f) * DX
                part = w[i].x * w[j].y
                self.momentum[base + [i, j]] += part * (self.v[p] + affine @ away)
                self.weight[base + [i, j]] += part

    @rg.kernel
    def on_grid(self):
        for i, j in self.weight:
            if self.weight[i, j] > 0:
                v = self.momentum[i, j] / self.weight[i, j]
                v.y -= DT * GRAVITY
                if j < FLOOR and v.y < 0:  # the floor: friction holds as much as the impact presses
                    v.x = rg.math.sign(v.x) * max(0.0, abs(v.x) + 1.5 * v.y)
                    v.y = 0.0
                if i < 3 and v.x < 0 or i > WIDE  - 3 and v.x > 0:
                    v.x = 0.0
                self.momentum[i, j] = v

    @rg.kernel
    def from_grid(self):
        for p in self.x:
            base, f, w = self.around(self.x[p])
            v, C = rg.Vector([0.0, 0.0]), rg.Matrix.zero(float, 2, 2)
            for i, j in rg.static(rg.ndrange(3, 3)):
                part = w[i].x * w[j].y * self.momentum[base + [i, j]]
                v += part
                C += 4 / DX * part.outer_product(rg.Vector([i, j]) - f)
            self.v[p], self.C[p] = v, C
            self.x[p] += DT * v

    @rg.kernel
    def measure(self):
        for p in self.x:
            self.loss[None] -= self.x[p].x / self.x.shape[0]

    @rg.kernel
    def paint(self):
        """Each particle as a drop of ink: how much, and how much of it is muscle that contracts (negative: that stretches)."""
        for I in rg.grouped(self.ink):
            self.ink[I] = [0.0, 0.0]
        for p in self.x:
            at = rg.Vector([DOWN - 1 - ZOOM * self.x[p].y, ZOOM * self.x[p].x])
            pull = 0.0
            if self.muscle[p] >= 0:
                pull = self.pull[self.muscle[p]]
            middle = rg.cast(at, int)
            for i, j in rg.ndrange((-4, 5), (-4, 5)):
                pixel = middle + [i, j]
                if pixel.x >= 0 and pixel.x < DOWN and pixel.y >= 0 and pixel.y < ACROSS:
                    drop = rg.exp(-0.3 * (pixel - at).norm_sqr())
                    self.ink[pixel] += [drop, drop * pull]

    def reset(self) -> None:
        self.x.from_numpy(self.start)
        self.v.fill(0), self.C.fill(0)
        self.F.from_numpy(np.tile(np.eye(2), (len(self.start), 1, 1)))

    def step(self, k: int) -> None:
        self.contract(k * DT)
        self.clear()
        self.to_grid()
        self.on_grid()
        self.from_grid()

    def learn(self, steps: int) -> float:
        """The gradient for the waves; returns how far the creature got."""
        self.reset()
        with rg.ad.Tape(self.loss):
            for k in range(steps):
                self.step(k)
            self.measure()
        return -self.loss[None] - self.start[:, 0].mean()


def film(jelly: Jelly, waves: np.ndarray, steps: int, frames: int) -> list[np.ndarray]:
    """The creature with these waves: colours of pixels."""
    jelly.waves.from_numpy(waves)
    jelly.reset()
    shown = []
    for k in range(steps):
        jelly.step(k)
        if (k + 1) * frames // steps > k * frames // steps:
            jelly.paint()
            ink = jelly.ink.to_numpy()
            amount = ink[..., :1]
            body = pic.colours(0.5 + 0.5 * ink[..., 1] / np.maximum(ink[..., 0], 1e-3), [pic.BLUE, (150, 226, 190), pic.AMBER])
            body = np.where(amount > 1.3, body, 0.6 * body)  # the rim
            scene = np.full((DOWN, ACROSS, 3), pic.PANEL, float)
            scene[DOWN - int(ZOOM * FLOOR * DX):] = (44, 54, 74)
            scene[DOWN - int(ZOOM * FLOOR * DX):, (np.arange(ACROSS) // 32) % 2 == 0] = (52, 64, 88)
            shown.append(scene + np.clip(4 * amount - 2.4, 0, 1) * (body - scene))
    return shown


def draw(jelly: Jelly, known: list[tuple[str, np.ndarray]], steps: int, path: Path, frames: int) -> None:
    gap = 10
    scene = pic.Picture(ACROSS + 2 * gap, len(known) * (DOWN + gap) + gap)
    rows = [film(jelly, waves, steps, frames) for _, waves in known]
    shown = []
    for pictures in zip(*rows):
        picture = scene.copy()
        for row, (pixels, (name, _)) in enumerate(zip(pictures, known)):
            y = gap + row * (DOWN + gap)
            picture.image(gap, y, pixels)
            picture.text(gap + 12, y + 24, name, pic.WHITE, 11, bold=True)
        shown.append(picture)
    pic.save_animation(path, shown, steps * DT / frames)


def run(folder: str | Path = "out", tries: int = 40, steps: int = 900, frames: int = 50, spacing: float = 0.0062) -> list[float]:
    """Returns how far the creature got at each try."""
    rg.init(arch=rg.cpu)
    jelly = Jelly(spacing)
    jelly.waves.from_numpy(0.01 * np.random.default_rng(0).normal(size=jelly.waves.shape))
    adam, known, far = Adam(jelly.waves, 0.9), [], []
    for k in range(tries):
        waves = jelly.waves.to_numpy()
        far.append(jelly.learn(steps))
        adam.step(0.1 * (1 - k / tries))
        if k in (0, tries // 6):
            known.append((f"try {k + 1}", waves))
        if far[-1] == max(far):
            best = (f"try {k + 1}", waves)
        if k % 5 == 4 or k == tries - 1:
            print(f"try {k + 1:2}: {far[-1]:.3f} far", flush=True)
    path = Path(folder) / "mpm.png"
    draw(jelly, [*known, best], steps, path, frames)
    print(path)
    return far


if __name__ == "__main__":
    run(*sys.argv[1:2])
