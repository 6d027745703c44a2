"""A ball that falls and bounces until it has lost its speed, for many starts: each has its own number of bounces."""

import numpy as np

from . import Program

BOUND = 40  # bounces that no ball exceeds here


def _fields(ti, scale):
    n = int(100000 * scale)
    height = ti.field(ti.f32, shape=n, needs_grad=True)
    speed = ti.field(ti.f32, shape=n, needs_grad=True)
    loss = ti.field(ti.f32, shape=(), needs_grad=True)
    generator = np.random.default_rng(6)
    height.from_numpy((0.5 + 2.0 * generator.random(n)).astype(np.float32))
    speed.from_numpy((3.0 * generator.random(n)).astype(np.float32))

    def clear():
        loss[None] = 0.0
        for f in (height, speed, loss):
            f.grad.fill(0.0)

    return n, height, speed, loss, clear


def make(ti, scale=1.0):
    n, height, speed, loss, clear = _fields(ti, scale)

    @ti.kernel
    def bounce():
        for i in range(n):
            x = 0.0
            u = speed[i]
            w = ti.sqrt(2.0 * 9.81 * height[i])
            x += u * w / 9.81
            while w > 0.5:
                w *= 0.8
                u *= 0.95
                x += u * 2.0 * w / 9.81
            loss[None] += x * x

    return Program([(bounce, ())], clear, loss, [height, speed])


def bounded(ti, scale=1.0):
    n, height, speed, loss, clear = _fields(ti, scale)

    @ti.kernel
    def bounce():
        for i in range(n):
            x = 0.0
            u = speed[i]
            w = ti.sqrt(2.0 * 9.81 * height[i])
            x += u * w / 9.81
            for _ in range(BOUND):
                if w > 0.5:
                    w *= 0.8
                    u *= 0.95
                    x += u * 2.0 * w / 9.81
            loss[None] += x * x

    return Program([(bounce, ())], clear, loss, [height, speed])
