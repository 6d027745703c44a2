"""A recurrence whose number of steps the data knows: v = sin(v) + c, until steps[i], or until v is large."""

import numpy as np

from . import Program


def make(ti, scale=1.0):
    n = int(100000 * scale)
    x = ti.field(ti.f32, shape=n, needs_grad=True)
    c = ti.field(ti.f32, shape=n, needs_grad=True)
    steps = ti.field(ti.i32, shape=n)
    loss = ti.field(ti.f32, shape=(), needs_grad=True)

    @ti.kernel
    def run():
        for i in range(n):
            v = x[i]
            for t in range(steps[i]):
                v = ti.sin(v) + c[i] * 0.1
            loss[None] += v

    generator = np.random.default_rng(1)
    x.from_numpy(generator.random(n, dtype=np.float32))
    c.from_numpy(generator.random(n, dtype=np.float32))
    steps.from_numpy((64 * generator.random(n) ** 3).astype(np.int32))

    def clear():
        loss[None] = 0.0
        for f in (x, c, loss):
            f.grad.fill(0.0)

    return Program([(run, ())], clear, loss, [x, c])
