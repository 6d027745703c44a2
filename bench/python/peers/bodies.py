"""Bodies that attract each other, leapfrog steps. SPDX-License-Identifier: Apache-2.0"""

import numpy as np

from . import Data

TITLE, BLOCK, TOLERANCE = "n-body", 1, 1e-3
SIZES = {"cpu": dict(n=256), "cuda": dict(n=1024)}


def data(scale, n, steps=100):
    n = max(2, int(n * scale))
    random = np.random.default_rng(4)
    return Data(dict(position=random.normal(size=(3, n)).astype(np.float32), velocity=random.normal(size=(3, n)).astype(np.float32) / 2,
                     mass=(random.uniform(0.5, 1.5, n) / n).astype(np.float32)), integers=dict(steps=steps))


def items(xp, d):
    return None


def start(xp, d):
    return d.position + 0.005 * d.velocity, d.velocity


def step(xp, state, d, item):
    x, v = state
    apart = [x[k] - x[k][:, None] for k in range(3)]
    inverse = 1 / xp.sqrt(apart[0] * apart[0] + apart[1] * apart[1] + apart[2] * apart[2] + 0.01)
    pull = d.mass * inverse * inverse * inverse
    v = v + 0.01 * xp.stack([(pull * along).sum(1) for along in apart])
    return x + 0.01 * v, v


def finish(xp, state, d):
    return xp.mean((state[0] ** 2).sum(0))
