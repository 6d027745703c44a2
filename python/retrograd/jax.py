"""Kernels as functions of JAX arrays, under `jit`, `grad`, `vmap`, `scan` and `shard_map`, on the CPU and on NVIDIA GPUs.

>>> import jax, numpy as np, retrograd as rg
>>> relax = rg.compile_c('''
... #include <math.h>
... void relax(int n, const int steps[n], const float x[n], float loss[1])
... {
...     for (int i = 0; i < n; i++) {
...         float v = x[i];
...         for (int t = 0; t < steps[i]; t++)
...             v = sinf(v) + 0.1f;
...         loss[0] += v;
...     }
... }''').relax
>>> f = rg.jax.function(relax, outputs=["loss"])
>>> steps, x = np.array([3, 0], np.int32), np.array([0.5, 0.25], np.float32)
>>> f(steps, x)
Array([0.9532...], dtype=float32)
>>> jax.jit(jax.grad(lambda x: f(steps, x)[0]))(x)
Array([0.5856..., 1.       ], dtype=float32)
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Mapping, Sequence

import jax
import jax.numpy as jnp
import numpy as np

from . import _jax_rules  # noqa: F401 (derivatives of the primitives)
from ._function import Function, Outputs, Slot
from ._jax_launch import Program, Site
from ._jax_primitives import bind, forward
from ._jax_types import is_split
from ._kernels import Kernel

__all__ = ["function"]


def function(kernel: Kernel, outputs: Outputs = None) -> "JaxFunction":
    """A kernel as a function of JAX arrays, with derivatives of first and second order in both modes.

    Parameters
    ----------
    kernel : Kernel
    outputs : str, list of str, or dict of shapes by name; optional
        Arrays that the function makes, and returns; zeros where the kernel reads them first. A dict gives shapes that do not follow from
        arguments. By default all arrays that the kernel writes and does not read.

    Returns
    -------
    JaxFunction
        It takes the other arguments, in the kernel's order or by name, and returns, in this order: arrays that the kernel works on in
        place, as new values; the outputs; what the C function returns. One value is returned as it is, several as a tuple.

    Notes
    -----
    Arrays have the dtypes of the C parameters; those of 64 bits need `jax_enable_x64`. XLA's memory is used in place, and copied only if a
    kernel overwrites what is used again. In a traced program Python numbers are constants. Other scalars are arrays without axes; on a GPU
    a launch copies each of them to the host, and waits for that: give numbers where you can. Extents are Python integers, or follow from
    shapes. A struct is an object or a dict with its fields.

    A kernel is taken for a pure function: a program may leave out launches whose results nobody uses, and do others again.

    `vmap` makes directions of one launch where only tangents or cotangents are batched, and else runs one launch after the other. The `jvp`
    of a `jvp` takes a direction for each output; prefer the `jvp` of a `grad`. Third derivatives are refused.

    Examples
    --------
    >>> import jax, jax.numpy as jnp, retrograd as rg
    >>> step = rg.compile_c("void step(int n, float a, float x[n]) { for (int i = 0; i < n; i++) x[i] = a * x[i] * (1 - x[i]); }").step
    >>> f = rg.jax.function(step)
    >>> x, _ = jax.lax.scan(lambda x, _: (f(2.0, x), None), jnp.full(2, 0.25), length=10)
    >>> x
    Array([0.5, 0.5], dtype=float32)
    """
    return JaxFunction(kernel, outputs)


class JaxFunction:
    """A kernel as a function of JAX arrays. Made by `function`."""

    def __init__(self, kernel: Kernel, outputs: Outputs = None) -> None:
        self._function = Function(kernel, outputs)
        self._outputs = outputs
        self._program = Program(self._function)
        self._made_shapes = lru_cache(256)(lambda shapes, integers: tuple(self._function.made_shapes(dict(shapes), dict(integers)).items()))
        if not (self._function.updated or self._function.made):
            raise ValueError(f"kernel {kernel.name} writes no array and returns nothing: a function of it would have no value")

    @property
    def kernel(self) -> Kernel:
        """The kernel."""
        return self._function.kernel

    def __call__(self, *args: Any, **named: Any) -> Any:
        given = self._function.bind(args, named)
        traced = any(isinstance(value, jax.core.Tracer) for value in given.values())
        arrays, constants, integers, shapes = [], [], [], []
        for slot in self._function.given:
            if slot.name not in given:
                continue
            value = given[slot.name]
            if slot.is_array:
                arrays.append(self._array(slot, value))
                shapes.append((slot.name, arrays[-1].shape))
                continue
            number = self._number(slot, value)
            if number is not None and not slot.param.is_float:
                integers.append((slot.name, number))
            if number is not None and (traced or slot.param.extent or not _has_type(slot.param.dtype)):
                constants.append((slot.name, number.hex() if slot.param.is_float else number))
            else:
                arrays.append(self._scalar(slot, value))
        for slot in self._function.made:
            if not _has_type(slot.param.dtype):
                raise TypeError(self._needs_64_bits(slot))
        made = self._made_shapes(tuple(shapes), tuple(integers))
        site = Site(self._program, tuple(constants), tuple(shapes) + made)
        done = bind(forward, arrays, site=site)
        return done[0] if len(done) == 1 else tuple(done)

    def __reduce__(self) -> tuple[Any, ...]:
        return JaxFunction, (self.kernel, self._outputs)

    def __repr__(self) -> str:
        function = self._function
        takes = ", ".join(dict.fromkeys(s.param.argument for s in function.given if not s.param.extent))
        gives = ", ".join(s.name for s in function.updated + function.made)
        return f"<retrograd.jax function {self.kernel.name}({takes}) -> {gives}>"

    def _name(self, slot: Slot) -> str:
        return f"kernel {self.kernel.name}: argument '{slot.name}'"

    def _array(self, slot: Slot, value: Any) -> Any:
        if not hasattr(value, "dtype") or not hasattr(value, "shape"):
            raise TypeError(f"{self._name(slot)} has to be an array, not {type(value).__name__}")
        value = _as_array(value)
        self._check_type(slot, value)
        if value.ndim != slot.param.ndim and not slot.param.flat:
            raise TypeError(f"{self._name(slot)} has {value.ndim} axes, the parameter {slot.param.ndim}")
        if is_split(value):
            raise TypeError(f"{self._name(slot)} is split over the devices of a mesh, and a kernel needs all of it: call the function for each part "
                            "in jax.shard_map, or put it together with jax.sharding.reshard")
        return value

    def _number(self, slot: Slot, value: Any) -> Any:
        """A Python number, or None for an array."""
        if isinstance(value, (bool, int, float, np.generic)):
            if slot.param.is_float and not isinstance(value, np.complexfloating):
                return float(value)
            if isinstance(value, (bool, int, np.integer, np.bool_)):
                return self._fitting(slot, int(value))
            raise TypeError(f"{self._name(slot)} has to be {'a real number' if slot.param.is_float else 'an integer'}, not {value!r}")
        return None

    def _fitting(self, slot: Slot, number: int) -> int:
        dtype = slot.param.dtype
        least, most = (0, 1) if dtype.kind == "b" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
        if not least <= number <= most:
            raise OverflowError(f"{self._name(slot)} is {dtype}: {number} does not fit")
        return number

    def _scalar(self, slot: Slot, value: Any) -> Any:
        if slot.param.extent:
            raise TypeError(f"{self._name(slot)} is an extent of an array: leave it out, or give a Python integer")
        if isinstance(value, (bool, int, float, np.generic)):
            return jnp.asarray(value, slot.param.dtype)
        if not hasattr(value, "dtype") or not hasattr(value, "shape"):
            raise TypeError(f"{self._name(slot)} has to be a number or an array without axes, not {type(value).__name__}")
        value = _as_array(value)
        if value.ndim:
            raise TypeError(f"{self._name(slot)} is a number; it has {value.ndim} axes")
        if jax.typeof(value).weak_type and slot.param.is_float and _has_type(slot.param.dtype) and value.dtype.kind in "fiub":
            value = value.astype(slot.param.dtype)
        if slot.param.is_float:
            self._check_type(slot, value)
        elif value.dtype.kind not in "iub":
            raise TypeError(f"{self._name(slot)} has to be an integer, not {value.dtype}")
        return value

    def _check_type(self, slot: Slot, value: Any) -> None:
        wanted = slot.param.dtype
        if value.dtype == wanted:
            return
        if not _has_type(wanted):
            raise TypeError(self._needs_64_bits(slot))
        raise TypeError(f"{self._name(slot)} has elements of {value.dtype}, the parameter of {wanted}; convert it first")

    def _needs_64_bits(self, slot: Slot) -> str:
        return (f"{self._name(slot)} is {slot.param.dtype} in C, and JAX has no types of 64 bits unless they are switched on: "
                "jax.config.update('jax_enable_x64', True)")


def _as_array(value: Any) -> Any:
    return value if isinstance(value, jax.Array) else jnp.asarray(value)


def _has_type(dtype: np.dtype[Any]) -> bool:
    return bool(jax.dtypes.canonicalize_dtype(dtype) == dtype)
