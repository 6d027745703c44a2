"""Gravity between all pairs of bodies, and the energy of a step."""

import numpy as np

from . import Program


def make(ti, scale=1.0):
    n = int(1500 * scale**0.5)
    x = ti.Vector.field(3, ti.f32, shape=n, needs_grad=True)
    v = ti.Vector.field(3, ti.f32, shape=n, needs_grad=True)
    f = ti.Vector.field(3, ti.f32, shape=n, needs_grad=True)
    mass = ti.field(ti.f32, shape=n, needs_grad=True)
    loss = ti.field(ti.f32, shape=(), needs_grad=True)

    @ti.kernel
    def forces():
        for i in range(n):
            total = ti.Vector([0.0, 0.0, 0.0])
            p = x[i]
            for j in range(n):
                d = x[j] - p
                r2 = d.dot(d) + 0.01
                total += d * (mass[j] / (r2 * ti.sqrt(r2)))
            f[i] = total

    @ti.kernel
    def step():
        for i in range(n):
            u = v[i] + 0.01 * f[i]
            q = x[i] + 0.01 * u
            loss[None] += mass[i] * u.dot(u) + q.norm_sqr()

    generator = np.random.default_rng(2)
    x.from_numpy(generator.standard_normal((n, 3)).astype(np.float32))
    v.from_numpy(generator.standard_normal((n, 3)).astype(np.float32))
    mass.from_numpy((0.5 + generator.random(n)).astype(np.float32) / n)

    def clear():
        loss[None] = 0.0
        for g in (x, v, f, mass, loss):
            g.grad.fill(0.0)

    return Program([(forces, ()), (step, ())], clear, loss, [x, v, mass])
