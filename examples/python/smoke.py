"""Smoke that becomes a sign: the wind of the first moment is learned, through advection and pressure.

    python examples/python/smoke.py [FOLDER]

An Eulerian solver: velocity and smoke are carried along by the velocity (semi-Lagrangian, with linear interpolation), and the
pressure, by iterations of Jacobi, takes the divergence away. At first the smoke fills a square. Adam learns the velocity of the
first moment so that the smoke looks like the sign at the end. FOLDER/smoke.png is an animation of what it learned.
SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

import pictures as pic
import retrograd as rg
from adam import Adam


def sign(size: int) -> np.ndarray:
    """What the smoke is to be: the letter for partial derivatives."""
    way = np.array([[0.31, 0.31], [0.37, 0.21], [0.48, 0.17], [0.59, 0.22], [0.66, 0.36], [0.66, 0.54], [0.61, 0.71], [0.50, 0.82],
                    [0.38, 0.81], [0.32, 0.69], [0.36, 0.55], [0.46, 0.46], [0.57, 0.47], [0.66, 0.56]]) * 1.2 - 0.1
    at = np.linspace(0, len(way) - 1, 400)
    line = np.stack([np.convolve(np.interp(at, range(len(way)), way[:, k]), np.ones(41) / 41, "valid") for k in (0, 1)], axis=1)
    picture = pic.Picture(2 * size, 2 * size, (0, 0, 0))
    picture.line(2 * size * line, (255, 255, 255), 0.19 * size)
    return picture.pixels[..., 0].reshape(size, 2, size, 2).mean(axis=(1, 3)) / 255


@rg.data_oriented
class Box:
    """A periodic box of cells. The axes of arrays are rows and columns, and so are a velocity's components, in cells per step."""

    def __init__(self, size: int, sweeps: int) -> None:
        self.size, self.sweeps = size, sweeps
        self.first, self.v, self.carried = (rg.Vector.field(2, float, (size, size), needs_grad=True) for _ in range(3))
        self.smoke, self.moved, self.outflow, self.p, self.q = (rg.field(float, (size, size), needs_grad=True) for _ in range(5))
        self.wanted = rg.field(float, (size, size))
        self.loss = rg.field(float, (), needs_grad=True)
        self.wanted.from_numpy(sign(size))

    @rg.func
    def sample(self, x: rg.template(), at):
        """Between four cells."""
        low = rg.floor(at)
        f = at - low
        i, j = rg.cast(low.x, int) % self.size, rg.cast(low.y, int) % self.size
        k, l = (i + 1) % self.size, (j + 1) % self.size
        return (1 - f.x) * ((1 - f.y) * x[i, j] + f.y * x[i, l]) + f.x * ((1 - f.y) * x[k, j] + f.y * x[k, l])

    @rg.kernel
    def carry(self, x: rg.template(), v: rg.template(), result: rg.template()):
        """Each cell takes what was where its air comes from: half of a step back, and from there the whole way."""
        for I in rg.grouped(result):
            half = I - 0.5 * v[I]
            result[I] = self.sample(x, I - self.sample(v, half))

    @rg.kernel
    def diverge(self):
        for i, j in self.outflow:
            n = self.size
            self.outflow[i, j] = 0.5 * (self.carried[(i + 1) % n, j].x - self.carried[(i + n - 1) % n, j].x
                                        + self.carried[i, (j + 1) % n].y - self.carried[i, (j + n - 1) % n].y)
            self.p[i, j] = 0.0

    @rg.kernel
    def sweep(self, p: rg.template(), q: rg.template()):
        """One of Jacobi's, for the pressure."""
        for i, j in q:
            n = self.size
            around = p[(i + 1) % n, j] + p[(i + n - 1) % n, j] + p[i, (j + 1) % n] + p[i, (j + n - 1) % n]
            q[i, j] = 0.25 * (around - self.outflow[i, j])

    @rg.kernel
    def project(self, v: rg.template()):
        for i, j in v:
            n = self.size
            slope = rg.Vector([self.p[(i + 1) % n, j] - self.p[(i + n - 1) % n, j], self.p[i, (j + 1) % n] - self.p[i, (j + n - 1) % n]])
            v[i, j] = self.carried[i, j] - 0.5 * slope

    @rg.kernel
    def measure(self, smoke: rg.template()):
        for I in rg.grouped(smoke):
            self.loss[None] += (smoke[I] - self.wanted[I]) ** 2 / self.size**2

    def press(self) -> None:
        """From the velocity that was carried to one without divergence."""
        self.diverge()
        for _ in range(self.sweeps // 2):
            self.sweep(self.p, self.q)
            self.sweep(self.q, self.p)
        self.project(self.v)

    def blow(self, steps: int, show: Any = None) -> rg.Field:
        """From the first velocity; returns where the smoke is then. `show` is called with it at each step."""
        smoke, moved = self.smoke, self.moved
        smoke.from_numpy(square(self.size))
        self.carried.copy_from(self.first)
        self.press()
        for _ in range(steps):
            self.carry(smoke, self.v, moved)
            smoke, moved = moved, smoke
            self.carry(self.v, self.v, self.carried)
            self.press()
            if show:
                show(smoke)
        return smoke

    def learn(self, steps: int) -> float:
        """The gradient for the first velocity, and the loss: the mean square of the differences."""
        with rg.ad.Tape(self.loss):
            self.measure(self.blow(steps))
        return self.loss[None]


def square(size: int) -> np.ndarray:
    """The smoke of the first moment, as much as the sign has."""
    side = np.sqrt(sign(size).mean()) * size
    edge = np.clip(side / 2 + 0.5 - np.abs(np.arange(size) + 0.5 - size / 2), 0, 1)
    return np.outer(edge, edge)


def colours(smoke: np.ndarray) -> np.ndarray:
    return pic.colours(smoke, [pic.NIGHT, (52, 44, 96), (150, 70, 140), (240, 130, 110), pic.AMBER, (255, 240, 214)])


def draw(box: Box, steps: int, path: Path) -> None:
    zoom, gap = 3, 12
    side = zoom * box.size
    scene = pic.Picture(2 * side + 3 * gap, side + 2 * gap)
    scene.box(2 * gap + side, gap, side, side)
    scene.image(2 * gap + side, gap, larger(colours(sign(box.size)), zoom))
    scene.text(2 * gap + side + 12, gap + 24, "the sign", pic.WHITE, 11, bold=True)
    shown = [square(box.size)]
    box.blow(steps, lambda smoke: shown.append(smoke.to_numpy()))
    frames = []
    for smoke in shown[:1] * 4 + shown[::2]:
        picture = scene.copy()
        picture.image(gap, gap, larger(colours(smoke), zoom))
        frames.append(picture)
    pic.save_animation(path, frames, 0.1, rest=3)


def larger(pixels: np.ndarray, times: int) -> np.ndarray:
    """With linear interpolation."""
    at = np.clip((np.arange(times * len(pixels)) + 0.5) / times - 0.5, 0, len(pixels) - 1)
    low = np.minimum(at.astype(int), len(pixels) - 2)
    part = at - low
    rows = pixels[low] * (1 - part)[:, None, None] + pixels[low + 1] * part[:, None, None]
    return rows[:, low] * (1 - part)[:, None] + rows[:, low + 1] * part[:, None]


def run(folder: str | Path = "out", tries: int = 80, size: int = 96, steps: int = 50) -> list[float]:
    """Returns the loss of each try."""
    rg.init(arch=rg.cpu)
    box = Box(size, sweeps=16)
    adam, losses = Adam(box.first), []
    for k in range(tries):
        losses.append(box.learn(steps))
        adam.step(0.07 * min(1.0, 2 - 2 * k / tries))
        if k % 10 == 9 or k == tries - 1:
            print(f"try {k + 1:2}: loss {losses[-1]:.4f}", flush=True)
    path = Path(folder) / "smoke.png"
    draw(box, steps, path)
    print(path)
    return losses


if __name__ == "__main__":
    run(*sys.argv[1:2])
