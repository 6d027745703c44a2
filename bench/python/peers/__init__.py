"""The problems of `bench/python/peers.py`, a module and a C file each, and the systems that compute them.
SPDX-License-Identifier: Apache-2.0

A problem's module has

TITLE, BLOCK, TOLERANCE
    Its name in tables; how many steps PyTorch does between two looks at whether all are done, and compiles as one function; the
    largest difference of a gradient, relative to its norm.
SIZES
    For each device the parameters of `data`.
data(scale, **sizes)
    `Data`: the arguments of the kernel, which has the name of the module.
start(xp, d), step(xp, state, d, item), finish(xp, state, d)
    The computation for PyTorch and JAX, a loop over a tuple of arrays, between a first state and the loss. `xp` is `torch` or
    `jax.numpy`, which share the names of what is used here; `d` has the kernel's arguments.
alive(state, d) or items(xp, d)
    Which elements go on, where data decide that; else what each step takes, or None.
further()
    Optional: what else users of these systems take, where it is installed, as (name, system, what, tolerance): the system is "torch" or
    "jax" with a `function` of `d`, or "retrograd" with another `kernel`.
"""

from dataclasses import dataclass, field

import numpy as np


@dataclass
class Data:
    """Arguments of a kernel by name: arrays with a gradient, others, integers that no array tells."""

    floats: dict[str, np.ndarray]
    fixed: dict[str, np.ndarray] = field(default_factory=dict)
    integers: dict[str, int] = field(default_factory=dict)


def step_of(xp, problem):
    """A step of all elements, as a function (state, d, item): those that are done stay as they are."""
    if not hasattr(problem, "alive"):
        return lambda state, d, item: problem.step(xp, state, d, item)

    def step(state, d, item):
        alive = problem.alive(state, d)
        return tuple(xp.where(alive, new, old) for new, old in zip(problem.step(xp, state, d, item), state))

    return step
