"""Coupled pendulums, each with its own number of steps. SPDX-License-Identifier: Apache-2.0"""

import numpy as np
import torch

from . import Data, step_of

TITLE, BLOCK, TOLERANCE = "ragged recurrence", 8, 1e-3
SIZES = {"cpu": dict(n=4096), "cuda": dict(n=131072)}


def data(scale, n):
    n = max(2, int(n * scale))
    random = np.random.default_rng(1)
    steps = np.minimum(16 / random.uniform(size=n), 1024).astype(np.int32)  # half of them below 32
    start = random.uniform(-1, 1, (4, n)).astype(np.float32)
    return Data(dict(start=start, rate=np.array([1.0, 0.5, 0.1], np.float32)), dict(steps=steps))


def start(xp, d):
    return (*d.start, d.steps)


def alive(state, d):
    return state[4] > 0


def step(xp, state, d, item):
    a, b, va, vb, left = state
    pull = d.rate[1] * (a - b)
    va = va + 0.02 * (-d.rate[0] * xp.sin(a) - pull - d.rate[2] * va)
    vb = vb + 0.02 * (-d.rate[0] * xp.sin(b) + pull - d.rate[2] * vb)
    a = a + 0.02 * va
    b = b + 0.02 * vb
    return a, b, va, vb, xp.where(xp.abs(a) > 1.5, 0, left - 1)


def energy(state):
    a, b, va, vb, _ = state
    return a * a + b * b + va * va + vb * vb


def finish(xp, state, d):
    return xp.mean(energy(state))


def further():
    """PyTorch on those elements that are not done yet."""
    from . import ragged
    step = step_of(torch, ragged)

    def loss(d):
        state, total = start(torch, d), 0
        while len(state[0]):
            for _ in range(BLOCK):
                state = step(state, d, None)
            goes_on = alive(state, d)
            total = total + energy([s[~goes_on] for s in state]).sum()
            state = [s[goes_on] for s in state]
        return total / len(d.steps)

    return [("torch eager, packed", "torch", dict(function=loss), TOLERANCE)]
