"""A picture of two spheres by sphere tracing, and its gradient in their places and radii."""

import numpy as np

from . import Program

BOUND = 64  # steps that no ray exceeds here


def _scene(ti, scale):
    size = int(256 * scale**0.5)
    centers = ti.Vector.field(3, ti.f32, shape=2, needs_grad=True)
    radii = ti.field(ti.f32, shape=2, needs_grad=True)
    image = ti.field(ti.f32, shape=(size, size), needs_grad=True)
    loss = ti.field(ti.f32, shape=(), needs_grad=True)
    centers.from_numpy(np.array([[-0.4, 0.0, 3.0], [0.5, 0.2, 3.5]], np.float32))
    radii.from_numpy(np.array([0.7, 0.9], np.float32))

    @ti.func
    def distance(p):
        a = (p - centers[0]).norm() - radii[0]
        b = (p - centers[1]).norm() - radii[1]
        h = ti.max(0.3 - ti.abs(a - b), 0.0) / 0.3
        return ti.min(a, b) - h * h * 0.075

    @ti.kernel
    def measure():
        for i, j in image:
            loss[None] += (image[i, j] - 0.5) ** 2

    def clear():
        loss[None] = 0.0
        for f in (centers, radii, image, loss):
            f.grad.fill(0.0)

    return size, centers, radii, image, loss, distance, measure, clear


def make(ti, scale=1.0):
    size, centers, radii, image, loss, distance, measure, clear = _scene(ti, scale)

    @ti.kernel
    def trace():
        for i, j in image:
            d = ti.Vector([(i + 0.5) / size - 0.5, (j + 0.5) / size - 0.5, 1.0]).normalized()
            t = 0.0
            while t < 6.0:
                step = distance(d * t)
                if step < 1e-3:
                    break
                t += step
            image[i, j] = ti.exp(-0.3 * t)

    return Program([(trace, ()), (measure, ())], clear, loss, [centers, radii])


def bounded(ti, scale=1.0):
    size, centers, radii, image, loss, distance, measure, clear = _scene(ti, scale)

    @ti.kernel
    def trace():
        for i, j in image:
            d = ti.Vector([(i + 0.5) / size - 0.5, (j + 0.5) / size - 0.5, 1.0]).normalized()
            t = 0.0
            going = 1
            for _ in range(BOUND):
                if going == 1:
                    if t < 6.0:
                        step = distance(d * t)
                        if step < 1e-3:
                            going = 0
                        else:
                            t += step
                    else:
                        going = 0
            image[i, j] = ti.exp(-0.3 * t)

    return Program([(trace, ()), (measure, ())], clear, loss, [centers, radii])
