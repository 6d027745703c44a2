"""Value and gradient of a problem by each system. SPDX-License-Identifier: Apache-2.0

Each class makes, from a problem's module and its `Data`, an object with

    call()      compute, and wait until the value and the gradient are there
    results()   of the last call: the value, and a dict of gradients as NumPy arrays
    memory()    bytes that a call needs at most beside its arguments and what was there before
"""

import ctypes
from pathlib import Path
from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import torch

import retrograd as rg

from . import step_of


def resident(call):
    """Bytes by which the process grows during the call, at most."""
    ctypes.CDLL(None).malloc_trim(0)  # what was freed before is not used again without being counted
    Path("/proc/self/clear_refs").write_text("5")  # the peak is what it is now
    before = _status("VmRSS:")
    call()
    return _status("VmHWM:") - before


def _status(key):
    return next(int(line.split()[1]) * 1024 for line in Path("/proc/self/status").read_text().splitlines() if line.startswith(key))


class Retrograd:
    """The kernel of the problem's name, or another one of its file, compiled with its gradient at the first call."""

    def __init__(self, problem, data, device, kernel=None):
        name = problem.__name__.split(".")[-1]
        self.kernel = rg.load(Path(__file__).parent / f"{name}.c")[kernel or name]
        self.device = device
        self.arrays = {name: rg.array(a, device=device, adjoint=name in data.floats) for name, a in {**data.floats, **data.fixed}.items()}
        self.loss = rg.zeros(1, np.float32, device=device, adjoint=True)
        self.gradient = {name: self.arrays[name].adjoint for name in data.floats}
        self.integers = data.integers

    def call(self):
        for adjoint in self.gradient.values():
            adjoint.fill(0)
        self.loss.fill(0)
        self.loss.adjoint.fill(1)
        self.kernel.forward_vjp(**self.arrays, **self.integers, loss=self.loss)
        rg.current_queue(self.device).sync()

    def results(self):
        return self.loss.numpy()[0], {name: adjoint.numpy() for name, adjoint in self.gradient.items()}

    def memory(self):
        with rg.Queue(self.device) as queue:  # which has no memory for a tape yet
            if self.device != "cuda":
                return resident(self.call)
            self.call()
            return queue.tape_peak


class Torch:
    """A loop in Python over steps of PyTorch, blocks of which may be compiled; or another function of the arguments."""

    def __init__(self, problem, data, device, compiled=False, function=None):
        self.device = device
        self.floats = {name: torch.tensor(a, device=device, requires_grad=True) for name, a in data.floats.items()}
        self.fixed = {name: torch.tensor(a, device=device) for name, a in data.fixed.items()}
        self.function = function or torch_loss(problem, data, compiled)

    def call(self):
        self.value = self.function(SimpleNamespace(**self.floats, **self.fixed))
        self.gradient = torch.autograd.grad(self.value, list(self.floats.values()))
        if self.device == "cuda":
            torch.cuda.synchronize()

    def results(self):
        return self.value.item(), {name: g.cpu().numpy() for name, g in zip(self.floats, self.gradient)}

    def memory(self):
        self.value = self.gradient = None
        if self.device != "cuda":
            return resident(self.call)
        before = torch.cuda.memory_allocated()
        torch.cuda.reset_peak_memory_stats()
        self.call()
        return torch.cuda.max_memory_allocated() - before


def torch_loss(problem, data, compiled):
    """A function of the arguments. What decides the number of steps is looked at once in a block of them."""
    masked, step = hasattr(problem, "alive"), step_of(torch, problem)

    def block(state, d, items):
        for item in items:
            state = step(state, d, item)
        return state

    if compiled:
        torch._dynamo.reset()
        block = torch.compile(block, fullgraph=True, dynamic=False)

    def loss(d):
        state = problem.start(torch, d)
        if masked:
            while problem.alive(state, d).any():
                state = block(state, d, [None] * problem.BLOCK)
        else:
            items = problem.items(torch, d)
            items = [None] * data.integers["steps"] if items is None else items
            for t in range(0, len(items), problem.BLOCK):
                state = block(state, d, items[t:t + problem.BLOCK])
        return problem.finish(torch, state, d)

    return loss


class Jax:
    """A loop of JAX under `jit`, of the kind "scan", "remat" or "while"; or another function of the arguments."""

    def __init__(self, problem, data, device, kind="scan", steps=None, unroll=1, function=None):
        where = jax.devices(device)[0]
        self.floats, self.fixed = ({name: jax.device_put(a, where) for name, a in arrays.items()} for arrays in (data.floats, data.fixed))
        function = function or jax_loss(problem, kind, steps, unroll)
        self.function = jax.jit(jax.value_and_grad(lambda floats, fixed: function(SimpleNamespace(**floats, **fixed))))
        self.compiled = None

    def call(self):
        if self.compiled is None:
            self.compiled = self.function.lower(self.floats, self.fixed).compile()
        self.value, self.gradient = jax.block_until_ready(self.compiled(self.floats, self.fixed))

    def results(self):
        return float(self.value), {name: np.asarray(g) for name, g in self.gradient.items()}

    def memory(self):
        """XLA decides when it compiles what a program takes; the peak in its statistics is that of all programs of the process."""
        return self.compiled.memory_analysis().temp_size_in_bytes


def jax_loss(problem, kind, steps, unroll):
    """A function of the arguments. `steps` of `scan`, None: one for each item."""
    step = step_of(jnp, problem)

    def loss(d):
        state = problem.start(jnp, d)
        if kind == "while":
            state = jax.lax.while_loop(lambda state: jnp.any(problem.alive(state, d)), lambda state: step(state, d, None), state)
            return problem.finish(jnp, state, d)

        def body(state, item):
            return step(state, d, item), None

        items = problem.items(jnp, d) if hasattr(problem, "items") else None
        body = jax.checkpoint(body, prevent_cse=False) if kind == "remat" else body
        state, _ = jax.lax.scan(body, state, items, length=steps, unroll=unroll)
        return problem.finish(jnp, state, d)

    return loss


def bound(problem, data, device):
    """Steps for JAX's `scan`: where data decide their number, what the element with the most of them takes, and a few, as another
    system may round so that it takes more."""
    if not hasattr(problem, "alive"):
        return data.integers.get("steps")
    d = SimpleNamespace(**{name: torch.tensor(a, device=device) for name, a in {**data.floats, **data.fixed}.items()})
    state, count, step = problem.start(torch, d), 0, step_of(torch, problem)
    while problem.alive(state, d).any():
        state, count = step(state, d, None), count + 1
    return count + 8
