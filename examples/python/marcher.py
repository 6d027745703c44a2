"""A scene from its picture: balls on a floor, their shadows, and the light are learned through a ray marcher.

    python examples/python/marcher.py [FOLDER]

A ray goes on, `while` it is near enough, by the distance to what is nearest, and breaks off where it meets something; from there
another ray goes to the light, and finds how near the light passes by the balls. No step of this is smoothed or bounded for the
derivative. Seven numbers of each ball and two of the light are learned by Adam from one picture, first from a small one.
FOLDER/marcher.png shows the picture, and the scene on the way.
SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import pictures as pic
import retrograd as rg
from adam import Adam

FAR, NEAR = 12.0, 1e-3  # where rays end, and what is met


@rg.data_oriented
class Scene:
    """Balls on a floor at the height 0; size: of the picture."""

    def __init__(self, balls: int, size: int) -> None:
        self.balls, self.size = balls, size
        self.middle, self.colour = (rg.Vector.field(3, float, balls, needs_grad=True) for _ in range(2))
        self.radius = rg.field(float, balls, needs_grad=True)
        self.light = rg.Vector.field(2, float, (), needs_grad=True)  # its turn and height, in radians
        self.pixel = rg.Vector.field(3, float, (size, size), needs_grad=True)
        self.wanted = rg.Vector.field(3, float, (size, size))
        self.loss = rg.field(float, (), needs_grad=True)

    @rg.func
    def distance(self, at):
        """To the nearest surface, and whose it is: a ball's, or the floor's, which is the last."""
        near, which = at.y, self.balls
        for k in range(self.balls):
            d = (at - self.middle[k]).norm() - self.radius[k]
            if d < near:
                near, which = d, k
        return near, which

    @rg.func
    def to_balls(self, at):
        near = FAR
        for k in range(self.balls):
            near = min(near, (at - self.middle[k]).norm() - self.radius[k])
        return near

    @rg.func
    def towards_light(self):
        turn, height = self.light[None]
        return rg.Vector([rg.cos(height) * rg.cos(turn), rg.sin(height), rg.cos(height) * rg.sin(turn)])

    @rg.func
    def shade(self, start, light):
        """How much of the light arrives: 1, less by what its ray passes close to, and 0 behind a ball."""
        open, t = 1.0, 0.02
        while t < 6.0:
            d = self.to_balls(start + t * light)
            open = min(open, 0.5 + 4.0 * d / t)
            if open <= 0.0:
                open = 0.0
                break
            t += max(d, 0.02)
        return open * open * (3 - 2 * open)

    @rg.func
    def sky(self, way):
        return rg.math.mix(rg.Vector([0.80, 0.86, 0.94]), rg.Vector([0.30, 0.46, 0.70]), rg.math.clamp(1.6 * way.y, 0.0, 1.0))

    @rg.func
    def surface(self, at, which, way, light):
        """The colour of a point that a ray meets."""
        if which == self.balls:
            checks = rg.cast(rg.floor(at.x) + rg.floor(at.z), int) % 2
            floor = rg.Vector([0.62, 0.62, 0.60]) - 0.14 * checks
            shown = floor * (0.25 + 0.75 * light.y * self.shade(at, light))
            return rg.math.mix(self.sky(way), shown, rg.exp(-0.012 * at.dot(at)))
        up = (at - self.middle[which]).normalized()
        lit = max(0.0, up.dot(light)) * self.shade(at + 0.02 * up, light)
        gloss = max(0.0, up.dot((light - way).normalized())) ** 40 * lit
        return self.colour[which] * (0.25 + 0.15 * up.y + 0.75 * lit) + 0.4 * gloss

    @rg.func
    def march(self, start, way, blur):
        """Along a ray: how far it gets and what it meets, or -1; how near it passes by a ball, for its distance, and where and whose."""
        t, which, edge, passed, whose = 0.01, -1, blur, 0.0, -1
        while t < FAR:
            d, k = self.distance(start + t * way)
            if d < NEAR * t:
                t += d
                which = k
                break
            if k < self.balls and d < edge * t:
                edge, passed, whose = d / t, t, k
            t += d
        return t, which, edge, passed, whose

    @rg.kernel
    def render(self, blur: float):
        for i, j in self.pixel:
            right, up = 2 * (j + 0.5) / self.size - 1, 1 - 2 * (i + 0.5) / self.size
            at = rg.Vector([0.0, 1.5, -4.4])
            way = rg.Vector([0.5 * right, 0.5 * up - 0.24, 1.0]).normalized()
            light = self.towards_light()
            colour, left = rg.Vector([0.0, 0.0, 0.0]), 1.0
            for bounce in range(3):
                t, which, edge, passed, whose = self.march(at, way, blur)
                if whose >= 0 and whose != which:  # an outline fades within the width `blur`
                    open = edge / blur
                    cover = 1 - open * open * (3 - 2 * open)
                    colour += left * cover * self.surface(at + passed * way, whose, way, light)
                    left *= 1 - cover
                if which < 0:
                    colour += left * self.sky(way)
                    break
                at += t * way
                if which == self.balls:
                    colour += left * self.surface(at, which, way, light)
                    break
                colour += 0.8 * left * self.surface(at, which, way, light)
                left *= 0.2
                normal = (at - self.middle[which]).normalized()
                at += 0.02 * normal
                way -= 2 * way.dot(normal) * normal
            self.pixel[i, j] = colour

    @rg.kernel
    def measure(self):
        for I in rg.grouped(self.pixel):
            self.loss[None] += (self.pixel[I] - self.wanted[I]).norm_sqr() / self.size**2

    def put(self, scene: dict[str, np.ndarray]) -> None:
        for name, values in scene.items():
            getattr(self, name).from_numpy(values)

    def get(self) -> dict[str, np.ndarray]:
        return {name: getattr(self, name).to_numpy() for name in TRUE}

    def learn(self, blur: float) -> float:
        """The gradient for the scene; returns the loss."""
        with rg.ad.Tape(self.loss):
            self.render(blur)
            self.measure()
        return self.loss[None]


TRUE = {"middle": np.array([[-1.05, 0.62, 0.6], [0.25, 0.45, -0.5], [1.2, 0.75, 0.9], [0.1, 1.5, 1.6]]),
        "radius": np.array([0.62, 0.45, 0.75, 0.5]),
        "colour": np.array([[0.9, 0.3, 0.25], [0.95, 0.7, 0.2], [0.25, 0.6, 0.8], [0.55, 0.75, 0.3]]),
        "light": np.array([-2.2, 0.75])}
GUESS = {"middle": np.array([[-0.8, 0.5, 0.0], [0.0, 0.5, 0.0], [0.8, 0.5, 0.0], [0.0, 1.2, 1.0]]), "radius": np.full(4, 0.35),
         "colour": np.full((4, 3), 0.6), "light": np.array([-1.0, 1.1])}
RATES = {"middle": 0.015, "radius": 0.008, "colour": 0.015, "light": 0.015}


def photograph(scene: dict[str, np.ndarray], size: int, blur: float) -> np.ndarray:
    picture = Scene(len(scene["radius"]), size)
    picture.put(scene)
    picture.render(blur)
    return picture.pixel.to_numpy()


def draw(shown: list[tuple[str, dict[str, np.ndarray]]], path: Path, size: int) -> None:
    gap = 10
    picture = pic.Picture(len(shown) * (size + gap) + gap, size + 40)
    for k, (name, scene) in enumerate(shown):
        large = photograph(scene, 2 * size, 1 / size)
        small = large.reshape(size, 2, size, 2, 3).mean(axis=(1, 3))
        picture.image(gap + k * (size + gap), gap, 255 * np.clip(small, 0, 1) ** 0.8)
        picture.text(gap + k * (size + gap) + size / 2, size + 29, name, pic.WHITE, 11, align=0.5)
    pic.save_png(path, picture)


def run(folder: str | Path = "out", tries: int = 240, large: int = 240) -> list[float]:
    """Returns the loss of each try: the mean square of the differences of colours."""
    rg.init(arch=rg.cpu)
    shown, known, losses = [("the picture", TRUE), ("start", GUESS)], GUESS, []
    for size, blur in ((32, 0.25), (48, 0.1), (64, 0.04)):
        scene = Scene(len(TRUE["radius"]), size)
        scene.wanted.from_numpy(photograph(TRUE, size, blur))
        scene.put(known)
        adams = {name: Adam(getattr(scene, name), 0.95) for name in RATES}
        for k in range(tries // 3):
            losses.append(scene.learn(blur))
            for name, adam in adams.items():
                adam.step(RATES[name] * min(1.0, 1.6 - 1.5 * k * 3 / tries))
            if len(losses) % 20 == 0:
                print(f"try {len(losses):3}, {size} by {size} pixels: loss {losses[-1]:.5f}", flush=True)
        known = scene.get()
        shown.append((f"try {len(losses)}", known))
    path = Path(folder) / "marcher.png"
    draw(shown, path, large)
    print(path)
    return losses


if __name__ == "__main__":
    run(*sys.argv[1:2])
