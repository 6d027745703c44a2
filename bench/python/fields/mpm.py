"""The three kernels of a step of the material point method (MLS-MPM) in the plane: particles to grid, grid, grid to particles."""

import numpy as np

from . import Program


def _fields(ti, scale):
    n, grid = int(20000 * scale), 128
    particles = [ti.Vector.field(2, ti.f32, shape=n, needs_grad=True) for _ in range(2)]
    matrices = [ti.Matrix.field(2, 2, ti.f32, shape=n, needs_grad=True) for _ in range(2)]
    moments = ti.Vector.field(2, ti.f32, shape=(grid, grid), needs_grad=True)
    masses = ti.field(ti.f32, shape=(grid, grid), needs_grad=True)
    loss = ti.field(ti.f32, shape=(), needs_grad=True)
    generator = np.random.default_rng(3)
    particles[0].from_numpy((0.2 + 0.5 * generator.random((n, 2))).astype(np.float32))
    particles[1].from_numpy(generator.standard_normal((n, 2)).astype(np.float32))
    matrices[0].from_numpy((0.1 * generator.standard_normal((n, 2, 2))).astype(np.float32))
    matrices[1].from_numpy((np.eye(2) + 0.05 * generator.standard_normal((n, 2, 2))).astype(np.float32))
    return n, grid, *particles, *matrices, moments, masses, loss


def _clear(fields, sums):
    def clear():
        for f in sums:
            f.fill(0.0)
        for f in fields:
            f.grad.fill(0.0)

    return clear


def p2g(ti, scale=1.0):
    n, grid, x, v, c, f, moments, masses, loss = _fields(ti, scale)
    dx, dt = 1.0 / grid, 1e-4
    p_vol, mu, la = (dx * 0.5) ** 2, 400.0, 600.0

    @ti.kernel
    def scatter():
        for p in range(n):
            base = ti.cast(x[p] / dx - 0.5, ti.i32)
            fx = x[p] / dx - ti.cast(base, ti.f32)
            w = [0.5 * (1.5 - fx) ** 2, 0.75 - (fx - 1.0) ** 2, 0.5 * (fx - 0.5) ** 2]
            d = f[p]
            j = d.determinant()
            stress = mu * (d @ d.transpose() - ti.Matrix.identity(ti.f32, 2)) + la * ti.Matrix.identity(ti.f32, 2) * (j - 1.0)
            affine = (-dt * p_vol * 4.0 * grid * grid) * stress + p_vol * c[p]
            for a, b in ti.static(ti.ndrange(3, 3)):
                offset = ti.Vector([a, b])
                at = (ti.cast(offset, ti.f32) - fx) * dx
                weight = w[a][0] * w[b][1]
                moments[base + offset] += weight * (p_vol * v[p] + affine @ at)
                masses[base + offset] += weight * p_vol

    @ti.kernel
    def measure():
        for i, j in masses:
            loss[None] += 1e6 * (moments[i, j].norm_sqr() + masses[i, j] ** 2)

    return Program([(scatter, ()), (measure, ())], _clear((x, v, c, f, moments, masses, loss), (moments, masses, loss)), loss, [x, v, c, f])


def grid_op(ti, scale=1.0):
    grid = int(512 * scale**0.5)
    moments = ti.Vector.field(2, ti.f32, shape=(grid, grid), needs_grad=True)
    masses = ti.field(ti.f32, shape=(grid, grid), needs_grad=True)
    velocities = ti.Vector.field(2, ti.f32, shape=(grid, grid), needs_grad=True)
    loss = ti.field(ti.f32, shape=(), needs_grad=True)

    @ti.kernel
    def move():
        for i, j in masses:
            v = ti.Vector([0.0, 0.0])
            if masses[i, j] > 0.1:
                v = moments[i, j] / masses[i, j]
                v[1] -= 1e-3
            if i < 3 and v[0] < 0.0:
                v[0] = 0.0
            if i > grid - 3 and v[0] > 0.0:
                v[0] = 0.0
            if j < 3 and v[1] < 0.0:
                v[1] = 0.0
            if j > grid - 3 and v[1] > 0.0:
                v[1] = 0.0
            velocities[i, j] = v

    @ti.kernel
    def measure():
        for i, j in masses:
            loss[None] += velocities[i, j].norm_sqr()

    generator = np.random.default_rng(4)
    moments.from_numpy(generator.standard_normal((grid, grid, 2)).astype(np.float32))
    masses.from_numpy(generator.random((grid, grid)).astype(np.float32))
    return Program([(move, ()), (measure, ())], _clear((moments, masses, velocities, loss), (loss,)), loss, [moments, masses])


def g2p(ti, scale=1.0):
    n, grid, x, v, c, f, moments, masses, loss = _fields(ti, scale)
    dx, dt = 1.0 / grid, 1e-4
    x2, v2 = ti.Vector.field(2, ti.f32, shape=n, needs_grad=True), ti.Vector.field(2, ti.f32, shape=n, needs_grad=True)
    c2, f2 = ti.Matrix.field(2, 2, ti.f32, shape=n, needs_grad=True), ti.Matrix.field(2, 2, ti.f32, shape=n, needs_grad=True)

    @ti.kernel
    def gather():
        for p in range(n):
            base = ti.cast(x[p] / dx - 0.5, ti.i32)
            fx = x[p] / dx - ti.cast(base, ti.f32)
            w = [0.5 * (1.5 - fx) ** 2, 0.75 - (fx - 1.0) ** 2, 0.5 * (fx - 0.5) ** 2]
            u = ti.Vector([0.0, 0.0])
            b = ti.Matrix([[0.0, 0.0], [0.0, 0.0]])
            for i, j in ti.static(ti.ndrange(3, 3)):
                offset = ti.Vector([i, j])
                at = ti.cast(offset, ti.f32) - fx
                g = moments[base + offset]
                weight = w[i][0] * w[j][1]
                u += weight * g
                b += 4.0 * weight * g.outer_product(at) * grid
            v2[p] = u
            x2[p] = x[p] + dt * u
            c2[p] = b
            f2[p] = (ti.Matrix.identity(ti.f32, 2) + dt * b) @ f[p]

    @ti.kernel
    def measure():
        for p in range(n):
            loss[None] += x2[p].norm_sqr() + v2[p].norm_sqr() + f2[p].determinant() + 1e-4 * c2[p].trace()

    moments.from_numpy(np.random.default_rng(5).standard_normal((grid, grid, 2)).astype(np.float32))
    return Program([(gather, ()), (measure, ())], _clear((x, v, c, f, moments, x2, v2, c2, f2, loss), (loss,)), loss, [x, f, moments])
