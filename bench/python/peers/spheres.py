"""An image of blended spheres by sphere tracing. SPDX-License-Identifier: Apache-2.0"""

import numpy as np

from . import Data

TITLE, BLOCK, TOLERANCE = "sphere tracing", 4, 1e-2
SIZES = {"cpu": dict(rows=96), "cuda": dict(rows=384)}


def data(scale, rows):
    rows = max(2, int(rows * scale**0.5))
    random = np.random.default_rng(3)
    sphere = np.concatenate([random.uniform(-1, 1, (8, 2)), random.uniform(3, 4, (8, 1)), random.uniform(0.3, 0.6, (8, 1))], 1)
    y, x = (np.mgrid[:rows, :rows] + 0.5) / rows - 0.5
    ray = np.stack([x, y, np.ones_like(x)]) / np.sqrt(x * x + y * y + 1)
    return Data(dict(sphere=sphere.astype(np.float32)),
                dict(ray=ray.astype(np.float32), target=random.uniform(0, 1, (rows, rows)).astype(np.float32)))


def start(xp, d):
    zeros = xp.zeros_like(d.target)
    return zeros, zeros + 1, zeros, zeros, zeros  # how far, distance, normal


def alive(state, d):
    return (state[1] > 1e-3) & (state[0] < 8)


def step(xp, state, d, item):
    t = xp.where(alive(state, d), state[0], 0)  # far away the sum is 0, and its logarithm has no derivative
    (dx, dy, dz), (sx, sy, sz, radius) = d.ray, d.sphere.T[:, :, None, None]
    x, y, z = t * dx - sx, t * dy - sy, t * dz - sz
    length = xp.sqrt(x * x + y * y + z * z)
    weight = xp.exp(-8 * (length - radius))
    distance = -0.125 * xp.log(xp.sum(weight, 0))
    return t + distance, distance, xp.sum(weight * x / length, 0), xp.sum(weight * y / length, 0), xp.sum(weight * z / length, 0)


def finish(xp, state, d):
    t, _, nx, ny, nz = state
    hit = t < 8
    square = xp.where(hit, nx * nx + ny * ny + nz * nz, 1)
    light = xp.clip(-0.5 * nx - 0.5 * ny - 0.7 * nz, 0, None) / xp.sqrt(square)
    return xp.mean((xp.where(hit, light, 0) - d.target) ** 2)
