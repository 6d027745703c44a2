"""Steps of a layer of LSTM cells, one launch a step, for a batch."""

import numpy as np

from . import Program


def make(ti, scale=1.0):
    batch, cells, steps = max(1, int(64 * scale)), 64, 8
    h = ti.field(ti.f32, shape=(steps + 1, batch, cells), needs_grad=True)
    c = ti.field(ti.f32, shape=(steps + 1, batch, cells), needs_grad=True)
    w = ti.field(ti.f32, shape=(4, cells, cells), needs_grad=True)
    b = ti.field(ti.f32, shape=(4, cells), needs_grad=True)
    loss = ti.field(ti.f32, shape=(), needs_grad=True)

    @ti.kernel
    def step(t: ti.i32):
        for k, i in ti.ndrange(batch, cells):
            z = ti.Vector([b[0, i], b[1, i], b[2, i], b[3, i]])
            for j in range(cells):
                for g in ti.static(range(4)):
                    z[g] += w[g, i, j] * h[t, k, j]
            gate = 1.0 / (1.0 + ti.exp(-z[0]))
            keep = 1.0 / (1.0 + ti.exp(-z[1]))
            give = 1.0 / (1.0 + ti.exp(-z[2]))
            cell = keep * c[t, k, i] + gate * ti.tanh(z[3])
            c[t + 1, k, i] = cell
            h[t + 1, k, i] = give * ti.tanh(cell)

    @ti.kernel
    def measure():
        for k, i in ti.ndrange(batch, cells):
            loss[None] += h[steps, k, i] ** 2

    generator = np.random.default_rng(7)
    w.from_numpy((0.2 * generator.standard_normal((4, cells, cells))).astype(np.float32))
    b.from_numpy((0.1 * generator.standard_normal((4, cells))).astype(np.float32))
    start = np.zeros((steps + 1, batch, cells), np.float32)
    start[0] = generator.standard_normal((batch, cells))
    h.from_numpy(start)
    c.from_numpy(start)

    def clear():
        loss[None] = 0.0
        for f in (h, c, w, b, loss):
            f.grad.fill(0.0)

    return Program([(step, (t,)) for t in range(steps)] + [(measure, ())], clear, loss, [w, b])
