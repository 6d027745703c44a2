"""Parallel kernels in C, and their exact gradients, as functions of NumPy arrays and all arrays with DLPack.

>>> import numpy as np, retrograd as rg
>>> kernels = rg.compile_c('''
... void saxpy(int n, float a, const float x[n], float y[n])
... {
...     for (int i = 0; i < n; i++)
...         y[i] += a * x[i];
... }''')
>>> x, y = np.ones(3, np.float32), np.zeros(3, np.float32)
>>> kernels.saxpy(2.0, x, y)  # n is the length of x
>>> y
array([2., 2., 2.], dtype=float32)

`load` and `compile_c` give modules, whose attributes are kernels. A kernel is called with arrays and scalars, and works in place;
its methods `vjp`, `forward_vjp`, `jvp`, `hvp`, `value_and_grad` and `jacobian` are its derivatives. `array` makes arrays that have
derivatives of their own, on any device; `tape` records calls and reverses all of them; `graph` records and repeats them.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ._arrays import Array, array, empty, zeros
from ._core import (BudgetError, CancelledError, CompileError, DeviceError, Error, FileError, InvalidError, KernelAssertionError,
                    NotFoundError, OutOfMemoryError, Queue, RetrogradWarning, UnsupportedError, current_queue, device, devices)
from ._core import version as __version__
from ._kernels import Finding, Kernel, Module, Param, Report, compile_c, load
from ._notebook import load_ipython_extension
from ._tapes import Graph, Tape, graph, tape

__all__ = ["Array", "BudgetError", "CancelledError", "CompileError", "DeviceError", "Error", "FileError", "Finding", "Graph", "InvalidError",
           "Kernel", "KernelAssertionError", "Module", "NotFoundError", "OutOfMemoryError", "Param", "Queue", "Report", "RetrogradWarning", "Tape",
           "UnsupportedError", "array", "compile_c", "current_queue", "device", "devices", "empty", "graph", "load",
           "load_ipython_extension", "tape", "zeros"]

if TYPE_CHECKING:
    from . import jax as jax, torch as torch
else:

    def __getattr__(name: str) -> Any:
        if name in ("jax", "torch"):  # imported when they are used: they need packages that may be missing
            return import_module(f".{name}", __name__)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
