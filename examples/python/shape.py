"""A shape from photographs: blobs that melt into each other become a rubber duck, by gradients through sphere tracing.

    python examples/python/shape.py [FOLDER]

Ten cameras photograph a duck. Pictures of 96 blobs are made by sphere tracing: a ray goes on, `while` it has not met anything, by
the distance to the nearest surface (shape.c). Adam changes the blobs' middles, radii and colours until the pictures agree. The
gradient at the point that a ray meets is that of the implicit function: the kernel ends with a step of Newton's method, and the
derivative of that step is all that is left. FOLDER/shape.png shows the way there, also from sides where no camera was.
SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import pictures as pic
import retrograd as rg

kernels = rg.load(Path(__file__).with_suffix(".c"))


def camera(turn: float, height: float) -> np.ndarray:
    """Where a camera is, and the way it looks: to the right, up, forwards. It looks at the middle."""
    away = np.array([np.cos(height) * np.cos(turn), np.sin(height), np.cos(height) * np.sin(turn)])
    right = np.array([away[2], 0, -away[0]]) / np.hypot(away[0], away[2])
    return np.stack([3.4 * away, right, np.cross(away, right), -1.7 * away]).astype(np.float32)


def photograph(cameras: np.ndarray, size: int, blur: float) -> np.ndarray:
    pixels = np.zeros((len(cameras), size, size, 4), np.float32)
    kernels.photograph(blur, cameras, pixels)
    return pixels


def render(blobs: np.ndarray, cameras: np.ndarray, size: int, blur: float) -> np.ndarray:
    pixels = np.zeros((len(cameras), size, size, 4), np.float32)
    kernels.render(blur, blobs, cameras, pixels)
    return pixels


def loss_and_gradient(blobs: np.ndarray, cameras: np.ndarray, wanted: np.ndarray, blur: float) -> tuple[float, np.ndarray]:
    pixels = render(blobs, cameras, wanted.shape[1], blur)
    wrong = pixels - wanted
    gradient = np.zeros_like(blobs)
    kernels.render.vjp(blur, blobs, cameras, pixels, adjoints={"blob": gradient, "pixel": 2 * wrong / wrong.size})
    return float((wrong**2).mean()), gradient


class Adam:
    """Kingma and Ba (2015); `rate` has the shape of what is learned, or one that can be broadcast to it."""

    def __init__(self, rate: np.ndarray) -> None:
        self.rate, self.mean, self.square, self.steps = rate, 0.0, 0.0, 0

    def step(self, values: np.ndarray, gradient: np.ndarray) -> None:
        self.steps += 1
        self.mean = 0.9 * self.mean + 0.1 * gradient
        self.square = 0.99 * self.square + 0.01 * gradient**2
        values -= self.rate * (self.mean / (1 - 0.9**self.steps)) / (np.sqrt(self.square / (1 - 0.99**self.steps)) + 1e-12)


def draw(shapes: list[tuple[int, np.ndarray]], path: Path, size: int = 126) -> None:
    """A row of photographs, and a row of pictures of each shape, from the same cameras."""
    cameras = np.stack([camera(*at) for at in ((0.75, 0.25), (2.1, 0.45), (3.7, 0.1), (5.3, 0.35))])
    left, gap = 126, 8
    picture = pic.Picture(left + 4 * (size + gap) + 8, (len(shapes) + 1) * (size + gap) + gap)
    rows = [("photographs", photograph(cameras, size, 0.02))]
    rows += [(f"step {steps}" if steps else "start", render(blobs, cameras, size, 0.02)) for steps, blobs in shapes]
    for k, (name, pixels) in enumerate(rows):
        y = gap + k * (size + gap)
        picture.text(left - 10, y + size / 2, name, pic.WHITE, 11, align=1)
        for v, view in enumerate(pixels):
            picture.image(left + v * (size + gap), y, 255 * view[..., :3] + (1 - view[..., 3:]) * np.array(pic.PANEL))
    pic.save_png(path, picture)


def run(folder: str | Path = "out", steps: int = 300, blobs: int = 96, seed: int = 5) -> list[float]:
    """Returns the loss of each step: the mean square of the differences of colours and covers."""
    rng = np.random.default_rng(seed)
    cameras = np.stack([camera(2 * np.pi * k / 10, (0.15, 0.6, -0.2)[k % 3]) for k in range(10)])
    start = rng.normal(size=(blobs, 3)) * 0.4, np.full((blobs, 1), 0.05), np.full((blobs, 3), 0.6)
    shape = np.concatenate(start, axis=1).astype(np.float32)
    shapes, losses = [(0, shape.copy())], []
    rate = np.array([0.012] * 3 + [0.006] + [0.02] * 3, np.float32)
    adam = Adam(rate)
    for step in range(steps):
        size = 32 if step < steps // 2 else 64  # small pictures first
        if step in (0, steps // 2):
            wanted = photograph(cameras, size, 2 / size)  # outlines fade within two pixels
        some = rng.choice(len(cameras), 5, replace=False)
        loss, gradient = loss_and_gradient(shape, cameras[some], wanted[some], 2 / size)
        losses.append(loss)
        adam.rate = rate * min(1.0, 2 * (1 - step / steps))
        adam.step(shape, gradient)
        np.clip(shape[:, 4:], 0, 1.2, out=shape[:, 4:])
        if step + 1 in (steps // 10, steps):
            shapes.append((step + 1, shape.copy()))
        if step % 25 == 0 or step == steps - 1:
            print(f"step {step:3}: loss {loss:.5f}", flush=True)
    path = Path(folder) / "shape.png"
    draw(shapes, path)
    print(path)
    return losses


if __name__ == "__main__":
    run(*sys.argv[1:2])
