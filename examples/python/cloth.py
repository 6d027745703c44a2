"""A cloth is thrown over a ball: the throw is learned, through contacts and friction.

    python examples/python/cloth.py [FOLDER]

The cloth is a net of masses and springs. It flies, falls on the ball or beside it, slides, and comes to rest on the floor. Each of
its corners gets a velocity, between them it is interpolated; Adam learns these four from where the cloth lies at the end. Contacts
begin without a jump: the force of a surface grows from 0 on, so that small changes of a throw have small effects. All kernels
work in place, and the tape keeps what the reverse needs. FOLDER/cloth.png is an animation of the first throw and of the best one;
kernels draw it, too.
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

DT, GRAVITY, STIFF, DAMPING, DRAG = 1 / 400, 9.81, 30.0, 12.0, 1.0
BALL, RADIUS, SKIN, HARD, FRICTION = (0.0, 0.4, 0.0), 0.4, 0.015, 4000.0, 0.35
SIDE, AWAY, ABOVE = 1.2, 1.35, 1.0  # of the cloth; where its middle is at first
ZOOM, SHADOW = 1.2, 160  # of the camera; cells of the map of shadows
LINKS = [(1, 0), (0, 1), (1, 1), (1, -1), (2, 0), (0, 2)]  # springs along the threads, across, and against bending


@rg.data_oriented
class Cloth:
    def __init__(self, nodes: int) -> None:
        self.nodes, self.gap = nodes, SIDE / (nodes - 1)
        self.x, self.v, self.force = (rg.Vector.field(3, float, (nodes, nodes), needs_grad=True) for _ in range(3))
        self.throw = rg.Vector.field(3, float, (2, 2), needs_grad=True)
        self.loss = rg.field(float, (), needs_grad=True)

    @rg.kernel
    def let_go(self):
        for i, j in self.x:
            a, b = i / (self.nodes - 1), j / (self.nodes - 1)
            self.x[i, j] = [SIDE * (a - 0.5) - AWAY, ABOVE, SIDE * (b - 0.5)]
            left, right = rg.math.mix(self.throw[0, 0], self.throw[0, 1], b), rg.math.mix(self.throw[1, 0], self.throw[1, 1], b)
            self.v[i, j] = rg.math.mix(left, right, a)

    @rg.kernel
    def pull(self):
        for i, j in self.x:
            force = rg.Vector([0.0, -GRAVITY, 0.0]) - DRAG * self.v[i, j]
            for di, dj in rg.static(LINKS):
                for sign in rg.static((-1, 1)):
                    k, l = i + sign * di, j + sign * dj
                    if k >= 0 and k < self.nodes and l >= 0 and l < self.nodes:
                        length = self.gap * (di**2 + dj**2) ** 0.5
                        away = self.x[k, l] - self.x[i, j]
                        far = away.norm()
                        force += STIFF * (far / length - 1) / length * away / far + DAMPING * (self.v[k, l] - self.v[i, j])
            self.force[i, j] = force

    @rg.func
    def meet(self, v, deep, out):
        """The force of a surface: it grows with the depth from 0 on, so that a contact begins without a jump. Friction is a part of it."""
        force = rg.Vector([0.0, 0.0, 0.0])
        if deep > 0:
            inwards = v.dot(out)
            along = v - inwards * out
            press = deep * max(0.0, HARD * (1 - inwards))
            force = press * (out - FRICTION * along / along.norm(0.01))
        return force

    @rg.kernel
    def move(self):
        for I in rg.grouped(self.x):
            away = self.x[I] - rg.Vector(BALL)
            far = away.norm()
            force = self.force[I] + self.meet(self.v[I], RADIUS + SKIN - far, away / far)
            force += self.meet(self.v[I], SKIN - self.x[I].y, rg.Vector([0.0, 1.0, 0.0]))
            self.v[I] += DT * force
            self.x[I] += DT * self.v[I]

    @rg.kernel
    def measure(self):
        """How far masses lie from where they should, seen from above: over the ball, and drawn in, as a cloth hangs."""
        for i, j in self.x:
            a, b = i / (self.nodes - 1) - 0.5, j / (self.nodes - 1) - 0.5
            wrong = self.x[i, j].xz - 0.75 * SIDE * rg.Vector([a, b])
            self.loss[None] += wrong.norm_sqr() / self.nodes**2

    def fall(self, steps: int, show: Any = None) -> None:
        self.let_go()
        for k in range(steps):
            self.pull()
            self.move()
            if show:
                show(k)

    def learn(self, steps: int) -> float:
        with rg.ad.Tape(self.loss):
            self.fall(steps)
            self.measure()
        return self.loss[None]


@rg.data_oriented
class Camera:
    """Pictures of a cloth: triangles with a depth for each pixel, before a floor and a ball that rays meet."""

    def __init__(self, cloth: Cloth, width: int, height: int) -> None:
        self.cloth, self.nodes, self.width, self.height = cloth, cloth.nodes, width, height
        self.near = rg.field(float, (height, width))
        self.pixel = rg.Vector.field(3, float, (height, width))
        self.normal = rg.Vector.field(3, float, (cloth.nodes, cloth.nodes))
        self.shadow = rg.field(float, (SHADOW, SHADOW))
        eye, at = np.array([1.1, 1.5, 3.6]), np.array([-0.5, 0.5, 0.0])
        ahead = (at - eye) / np.linalg.norm(at - eye)
        right = np.cross(ahead, [0, 1, 0]) / np.linalg.norm(np.cross(ahead, [0, 1, 0]))
        self.eye, self.right, self.up, self.ahead = (rg.Vector(list(v)) for v in (eye, right, np.cross(right, ahead), ahead))
        self.sun = rg.Vector([0.42, 0.80, 0.43])

    @rg.kernel
    def prepare(self):
        for I in rg.grouped(self.near):
            self.near[I] = 0.0
        for I in rg.grouped(self.shadow):
            self.shadow[I] = 0.0
        for i, j in self.normal:
            x = self.cloth.x
            along = x[min(i + 1, self.nodes - 1), j] - x[max(i - 1, 0), j]
            across = x[i, min(j + 1, self.nodes - 1)] - x[i, max(j - 1, 0)]
            self.normal[i, j] = along.cross(across).normalized(1e-9)
            low = x[i, j] - x[i, j].y / self.sun.y * self.sun  # where its shadow falls
            at = (low.xz + 2.5) * (SHADOW / 5.0)
            middle = rg.cast(at, int)
            for k, l in rg.ndrange((-4, 5), (-4, 5)):
                cell = middle + [k, l]
                if cell.min() >= 0 and cell.max() < SHADOW:
                    self.shadow[cell] += 0.35 * rg.exp(-0.25 * (cell - at).norm_sqr())

    @rg.func
    def in_shade(self, x):
        """How much of the sun is kept from a place on the floor."""
        out = rg.Vector(BALL) - x
        past = (out - out.dot(self.sun) * self.sun).norm()
        cell = rg.cast((x.xz + 2.5) * (SHADOW / 5.0), int)
        shade = rg.math.smoothstep(RADIUS + 0.03, RADIUS - 0.03, past)
        if cell.min() >= 0 and cell.max() < SHADOW:
            shade = max(shade, min(1.0, self.shadow[cell]))
        return shade

    @rg.kernel
    def background(self):
        for i, j in self.pixel:
            x, y = (j - 0.5 * self.width) / (ZOOM * self.width), (0.5 * self.height - i) / (ZOOM * self.width)
            way = (self.ahead + x * self.right + y * self.up).normalized()
            colour = rg.Vector([0.10, 0.13, 0.19])
            if way.y < 0:
                floor = self.eye - self.eye.y / way.y * way
                light = 1 - 0.6 * self.in_shade(floor)
                fade = rg.exp(-0.03 * floor.norm_sqr())
                colour = rg.math.mix(colour, light * rg.Vector([0.24, 0.30, 0.40]), fade)
            away = self.eye - rg.Vector(BALL)
            b = away.dot(way)
            root = b * b - away.norm_sqr() + (0.98 * RADIUS)**2
            if root > 0:
                t = -b - rg.sqrt(root)
                up = (away + t * way) / RADIUS
                lit = 0.3 + 0.15 * up.y + 0.6 * max(0.0, up.dot(self.sun))
                colour = lit * rg.Vector([0.93, 0.80, 0.62])
                self.near[i, j] = 1 / (t * way.dot(self.ahead))
            self.pixel[i, j] = colour

    @rg.func
    def seen(self, x):
        """The pixel of a place, and one over its depth."""
        away = x - self.eye
        near = 1 / away.dot(self.ahead)
        at = ZOOM * self.width * near * rg.Vector([-away.dot(self.up), away.dot(self.right)])
        return at + 0.5 * rg.Vector([self.height, self.width]), near

    @rg.kernel
    def triangles(self, final: rg.template()):
        """First what is nearest at each pixel, then its colour."""
        for i, j, half in rg.ndrange(self.nodes - 1, self.nodes - 1, 2):
            p, q, r = rg.Vector([i, j]), rg.Vector([i + 1, j + 1]), rg.Vector([i + 1 - half, j + half])
            (a, near_a), (b, near_b), (c, near_c) = self.seen(self.cloth.x[p]), self.seen(self.cloth.x[q]), self.seen(self.cloth.x[r])
            area = (b - a).cross(c - a)
            low = max(rg.cast(rg.floor(min(a, b, c)), int), 0)
            high = min(rg.cast(rg.ceil(max(a, b, c)), int) + 1, rg.Vector([self.height, self.width]))
            for y, x in rg.ndrange((low.x, high.x), (low.y, high.y)):
                at = rg.Vector([y, x])
                u, v, w = (c - b).cross(at - b) / area, (a - c).cross(at - c) / area, (b - a).cross(at - a) / area
                if min(u, v, w) >= 0:
                    near = u * near_a + v * near_b + w * near_c
                    if rg.static(not final):
                        rg.atomic_max(self.near[y, x], near)
                    elif near > 0.9999 * self.near[y, x]:
                        out = (u * self.normal[p] + v * self.normal[q] + w * self.normal[r]).normalized(1e-9)
                        if out.dot(self.eye - self.cloth.x[p]) < 0:
                            out = -out
                        lit = 0.38 + 0.12 * out.y + 0.6 * max(0.0, out.dot(self.sun))
                        check = ((i // 3) % 2 + (j // 3) % 2) / 2
                        self.pixel[y, x] = lit * rg.math.mix(rg.Vector([0.95, 0.93, 0.90]), rg.Vector([0.86, 0.22, 0.27]), check)

    def photograph(self) -> np.ndarray:
        """Bytes, half as wide and high."""
        self.prepare()
        self.background()
        self.triangles(False)
        self.triangles(True)
        pixels = self.pixel.to_numpy().reshape(self.height // 2, 2, self.width // 2, 2, 3).mean(axis=(1, 3))
        return 255 * np.clip(pixels, 0, 1) ** 0.8


def film(cloth: Cloth, throw: np.ndarray, steps: int, frames: int) -> list[np.ndarray]:
    camera, shown = Camera(cloth, 2 * 420, 2 * 280), []
    cloth.throw.from_numpy(throw)
    cloth.fall(steps, lambda k: k * frames // steps < (k + 1) * frames // steps and shown.append(camera.photograph()))
    return shown


def run(folder: str | Path = "out", tries: int = 40, nodes: int = 31, steps: int = 500, frames: int = 40) -> list[float]:
    """Returns the loss of each try: the mean square of how far masses lie from where they should."""
    rg.init(arch=rg.cpu)
    cloth = Cloth(nodes)
    first = np.tile([2.0, 2.0, 0.0], (2, 2, 1)) + 0.2 * np.random.default_rng(0).normal(size=(2, 2, 3))
    cloth.throw.from_numpy(first)
    adam, losses = Adam(cloth.throw, 0.95), []
    for k in range(tries):
        throw = cloth.throw.to_numpy()
        losses.append(cloth.learn(steps))
        if losses[-1] == min(losses):
            best = throw
        if k % 5 == 4 or k == tries - 1:
            print(f"try {k + 1:2}: loss {losses[-1]:.4f}", flush=True)
        adam.step(0.1 * (1 - k / tries))
    films = [(name, film(cloth, throw, steps, frames)) for name, throw in (("the first throw", first), ("learned", best))]
    shown = []
    for pixels in zip(*(pictures for _, pictures in films)):
        picture = pic.Picture(2 * 420 + 30, 280 + 20)
        for k, (name, _) in enumerate(films):
            picture.image(10 + 430 * k, 10, pixels[k])
            picture.text(22 + 430 * k, 34, name, pic.WHITE, 11, bold=True)
        shown.append(picture)
    path = pic.save_animation(Path(folder) / "cloth.png", shown, steps * DT / frames)
    print(path)
    return losses


if __name__ == "__main__":
    run(*sys.argv[1:2])
