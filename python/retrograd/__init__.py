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
from ._kernels import Finding, Kernel, Param, Report
from ._lang.errors import (AssertionError_, CompilationError, IndexError_, NameError_, RuntimeError_, RuntimeTypeError, SyntaxError_, TypeError_)
from ._lang.explain import explain
from ._lang.dtypes import (f16, f32, f64, float16, float32, float64, i8, i16, i32, i64, int8, int16, int32, int64, u1, u8, u16, u32, u64, uint1,
                           uint8, uint16, uint32, uint64)
from ._lang.ad_stop import stop_grad
from ._lang.calls import (atomic_add, atomic_and, atomic_cas, atomic_exchange, atomic_max, atomic_min, atomic_mul, atomic_or, atomic_sub,
                             atomic_xor)
from ._lang.fields import Field, field
from ._lang.func import Template, func, pyfunc, real_func, template
from ._lang.functions import *  # noqa: F403
from ._lang.iteration import assume_in_range, block_local, cache_read_only, grouped, loop_config, loop_unique, ndrange, no_activate, static
from ._lang.kernel import kernel
from ._lang.kinds import MatrixField, MatrixNdarray, MatrixTensor, ScalarField, ScalarNdarray, VectorNdarray, VectorTensor
from ._lang.layout import FieldsBuilder, Layout, axes, i, ij, ijk, ijkl, ijl, ik, ikl, il, j, jk, jkl, jl, k, kl, l, root
from ._lang.linalg import eig, make_spd, polar_decompose, solve, svd, sym_eig
from ._lang.matrix import Matrix, Vector
from ._lang.missing import missing
from ._lang.ndarrays import Ndarray, ndarray
from ._lang.oriented import data_oriented
from ._lang.random import randn, random
from ._lang.runtime import (amdgpu, arm64, cfg, cpu, cuda, extension, gpu, init, is_arch_supported, is_extension_supported, metal, reset, simt,
                            sync, vulkan, x64)
from ._lang.struct_fields import StructField
from ._lang.structs import Struct, dataclass
from ._lang.tensors import Backend, Tensor, tensor, wrap
from ._modules import Module, compile_c, load
from ._notebook import load_ipython_extension
from ._tapes import Graph, Tape, graph, tape
from . import ad as ad
from . import algorithms as algorithms
from . import math as math
from . import profiler as profiler
from . import types as types

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
        raise missing(f"module {__name__!r}", name)
