"""Array arguments of kernels: ndarrays, arrays of NumPy, tensors of torch."""

from __future__ import annotations

import functools
import operator
import sys
import warnings
from typing import Any, Callable

import numpy as np

from .. import _core
from .._arrays import ADJOINT, Array
from . import dtypes
from . import expr as e
from .arguments import Buffer, parameter
from .build import Build
from .data import Data, element_of, unwrap
from .dtypes import DType
from .errors import RuntimeTypeError
from .guards import MEMORY, SAME, SIGNATURE, Guard, Path, guard
from .ndarrays import Ndarray
from .parameters import At, Getter, Parameter
from .runtime import runtime


class NdarrayType:
    """The annotation of an array argument: `types.ndarray(dtype=f32, ndim=2)`, `types.NDArray[f32, 2]`.

    Parameters
    ----------
    dtype : optional
        The type of the elements; of a vector or matrix type the last axes of arrays of NumPy and torch are its entries.
    ndim : int, optional
        The number of axes, without those of the elements.
    element_dim, element_shape : optional
        The number of axes, or the shape, of the elements, where dtype is a scalar type.
    needs_grad : bool, optional
        True: the array has to have an adjoint. False: the kernel's derivatives take it for a constant.
    boundary : str
        "unsafe": indices have to be in the bounds. "clamp": indices out of the bounds mean the element at the bound.
    """

    def __init__(self, dtype: Any = None, ndim: int | None = None, element_dim: int | None = None, element_shape: tuple[int, ...] | None = None,
                 needs_grad: bool | None = None, boundary: str = "unsafe") -> None:
        if boundary not in ("unsafe", "clamp"):
            raise ValueError(f"boundary={boundary!r}: it is 'unsafe' or 'clamp'")
        if element_dim is not None and element_shape is not None and len(element_shape) != element_dim:
            raise ValueError(f"element_dim={element_dim} and element_shape={element_shape} differ")
        self.dtype, self.ndim, self.needs_grad, self.boundary = dtype, ndim, needs_grad, boundary
        self.element_shape = None if element_shape is None else tuple(element_shape)
        self.element_dim = element_dim if element_shape is None else len(element_shape)

    def __class_getitem__(cls, given: Any) -> "NdarrayType":
        return cls(*given) if isinstance(given, tuple) else cls(given)

    def __repr__(self) -> str:
        return f"types.ndarray({', '.join(f'{k}={dtypes.shown(v)}' for k, v in vars(self).items() if v not in (None, 'unsafe'))})"


class ArrayParameter(Parameter):
    """An ndarray, an array of NumPy, or a tensor of torch."""

    def __init__(self, name: str, type_: NdarrayType) -> None:
        super().__init__(name)
        self.type = type_
        self.fits: set[Any] = set()  # signatures of ndarrays that do

    # -- what is taken -------------------------------------------------------------------------------------------------

    def key(self, value: Any) -> Any:
        value = unwrap(value)
        if isinstance(value, Ndarray):
            if value.signature not in self.fits:
                self._check(value.dtype, value.element_shape, len(value.shape), value.grad is not None)
                self.fits.add(value.signature)
            return value.signature
        if isinstance(value, np.ndarray):
            return "numpy", *self._memory("numpy arrays", value.dtype, value.shape, value.flags.c_contiguous, value.flags.f_contiguous, False)
        if is_tensor(value):
            grad = bool(value.requires_grad)
            found = self._memory("tensors", _name_of(value.dtype), tuple(value.shape), value.is_contiguous(), False, grad)
            return "torch", *found, grad, value.is_cuda
        raise RuntimeTypeError(f"argument '{self.name}' takes an array, not {e.describe(value)}" + (
            "; annotate it with `template()` to take fields, or with `rg.Tensor` to take both" if isinstance(value, Data) else ""))

    def arrays(self, value: Any) -> list[Any]:
        return [unwrap(value)]

    def _refuse(self, why: str) -> ValueError:
        return ValueError(f"Invalid value for argument '{self.name}' ({self.type}): {why}")

    def _check(self, dtype: DType, element: tuple[int, ...], rank: int, grad: bool) -> None:
        t = self.type
        if t.dtype is not None:
            wanted, shape = element_of(t.dtype)
            shape = t.element_shape or shape
            if wanted is not dtype or t.element_dim is None and shape != element or t.element_shape is not None and shape != element:
                raise self._refuse(f"required dtype={described(wanted, shape)}, but elements of {described(dtype, element)} are given")
        if t.element_dim is not None and t.element_dim != len(element):
            raise self._refuse(f"required element_dim={t.element_dim}, but elements of shape {element} are given")
        if t.ndim is not None and t.ndim != rank:
            raise self._refuse(f"required ndim={t.ndim}, but an array of {rank} axes is given")
        if t.needs_grad and not grad:
            raise self._refuse("required needs_grad=True, but the array has no adjoint")

    def _memory(self, what: str, dtype: Any, shape: tuple[int, ...], contiguous: bool, columns: bool, grad: bool) -> tuple[str, tuple[int, ...], tuple[int, ...]]:
        """Type of the elements, their shape, and the order of the axes, of an array that others made."""
        try:
            found = dtypes.by_numpy(dtype)
        except TypeError:
            found = None
        if found is None:
            raise self._refuse(f"arrays of {dtype} are not supported")
        t = self.type
        count = t.element_dim if t.element_dim is not None else 0 if t.dtype is None else len(element_of(t.dtype)[1])
        if count > len(shape):
            raise self._refuse(f"the last {count} axes are those of the elements, but an array of shape {shape} is given")
        rank = len(shape) - count
        self._check(found, shape[rank:], rank, grad)
        if not contiguous and (not columns or count):
            raise self._refuse(f"Non contiguous {what} are not supported, pass a contiguous copy")
        return found.name, shape[rank:], tuple(range(rank)) if contiguous else tuple(reversed(range(rank)))

    # -- what it is in the kernel ---------------------------------------------------------------------------------------

    def declare(self, build: Build, at: At, value: Any) -> Any:
        value = unwrap(value)
        known = build.captured.get(id(value))
        if known is not None:  # the same array for two arguments
            return known
        build.reads.watch(value, at)
        made = self._of_ndarray(build, at, value) if isinstance(value, Ndarray) else self._of_memory(build, at, value)
        made.clamped = self.type.boundary == "clamp"
        build.captured[id(value)] = made
        return made

    def _of_ndarray(self, build: Build, at: At, value: Ndarray) -> Buffer:
        made = parameter(build, self.name, value.dtype, len(value.shape), value.element_shape, Getter(at, _array, ("_array",)), value.order)
        made.constant = self.type.needs_grad is False
        for which in ("grad", "dual"):
            if getattr(value, which) is not None:
                made.derivatives[which] = self._companion(build, made, at, which, operator.attrgetter(f"{which}.array"), (which, "_array"))
        return made

    def _of_memory(self, build: Build, at: At, value: Any) -> Buffer:
        kind, name, element, order, *more = self.key(value)
        grad = bool(more and more[0]) and self.type.needs_grad is not False
        on_gpu = bool(more and more[1])
        getter: Getter
        if on_gpu != runtime.device.startswith("cuda") or not on_gpu and _core.device(runtime.device).own_memory:
            getter = CopiedGetter(at, grad)
        elif grad:
            getter = TensorGetter(at, _with_zeros)
        else:
            rows = order == tuple(range(len(order)))
            getter = Getter(at, _with_zeros if more and more[0] else _detached if kind == "torch" else _itself if rows else np.transpose, () if rows else None)
        made = parameter(build, self.name, dtypes.by_name(name), len(order), element, getter, order)
        if grad:
            made.derivatives["grad"] = self._companion(build, made, at, "grad", tensor_adjoint)
        return made

    def _companion(self, build: Build, of: Buffer, at: At, which: str, take: Callable[[Any], Any], names: Any = None) -> Callable[[], Buffer]:
        return lambda: parameter(build, f"{self.name}_{which}", of.dtype, of.rank, of.element_shape, Getter(at, take, names), of.order)

    # -- by what it is known again --------------------------------------------------------------------------------------

    def guards(self, at: Path, value: Any) -> list[Guard] | None:
        if isinstance(unwrap(value), Ndarray):
            return [guard(at, SIGNATURE, unwrap(value).signature)]
        name, element, order, *more = self.key(value)[1:]
        if more and more[1] or order != tuple(range(len(order))):
            return None
        return [guard(at, MEMORY, type(value), dtypes.by_name(name).code, len(order) + len(element), element)]


class AnyArrayParameter(ArrayParameter):
    """A field, an ndarray, a tensor of either kind, or None, which each call decides."""

    def key(self, value: Any) -> Any:
        return id(unwrap(value)) if is_fixed(value) else super().key(value)

    def arrays(self, value: Any) -> list[Any]:
        return [] if is_fixed(value) else super().arrays(value)

    def declare(self, build: Build, at: At, value: Any) -> Any:
        if not is_fixed(value):
            return super().declare(build, at, value)
        build.kept.append(unwrap(value))
        return unwrap(value)

    def guards(self, at: Path, value: Any) -> list[Guard] | None:
        return [guard(at, SAME, value)] if is_fixed(value) else super().guards(at, value)

    def describe(self, value: Any, description: Any) -> None:
        if is_fixed(value):
            description.value(unwrap(value))
        else:
            super().describe(value, description)


def is_fixed(value: Any) -> bool:
    """Whether a kernel knows it by identity."""
    inner = unwrap(value)
    return inner is None or isinstance(inner, Data) and not isinstance(inner, Ndarray)


# -- what the library takes ----------------------------------------------------------------------------------------------


def _array(value: Any) -> Any:
    return value.array


def _itself(value: Any) -> Any:
    return value


def _with_zeros(value: Any) -> Any:
    tensor_adjoint(value)  # is there from the first launch on
    return value.detach()


def _detached(value: Any) -> Any:
    return value.detach()


@functools.cache
def _name_of(dtype: Any) -> str:
    return str(dtype).rpartition(".")[2]


def is_tensor(value: Any) -> bool:
    """Whether it is a tensor of torch."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def tensor_adjoint(value: Any) -> Any:
    """A tensor's gradient; zeros are made where there is none."""
    if not value.requires_grad:
        return None
    if not value.is_leaf:  # torch warns of those who ask for its gradient
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return _gradient(value)
    return _gradient(value)


def _gradient(value: Any) -> Any:
    if value.grad is None:
        value.grad = sys.modules["torch"].zeros_like(value)
    return value.grad


class TensorGetter(Getter):
    """Of a tensor with a gradient, which is its adjoint."""

    __slots__ = ()

    def adjoint(self, args: tuple[Any, ...]) -> Any:
        """The gradient."""
        return tensor_adjoint(self.at(args))


class CopiedGetter(Getter):
    """Of an array that is in other memory than the device's: copied there for a launch, and back after it."""

    __slots__ = ("grad",)

    def __init__(self, at: At, grad: bool) -> None:
        super().__init__(at, _itself)
        self.grad = grad

    def __call__(self, args: tuple[Any, ...]) -> Array:
        value = self.at(args)
        values = _on_host(value)
        made = Array(values.shape, values.dtype.name, runtime.device, None, self.grad, False, 0, False, None)
        made._write(values)
        if self.grad:
            adjoint: Any = made._plane(ADJOINT)
            adjoint._write(_on_host(tensor_adjoint(value)))
        return made

    def back(self, args: tuple[Any, ...], made: Array, written: bool) -> None:
        """After a launch."""
        value = self.at(args)
        if written:
            _set(value, made)
        if self.grad:
            _set(value.grad, made._plane(ADJOINT))


def _on_host(value: Any) -> np.ndarray[Any, Any]:
    values = value if isinstance(value, np.ndarray) else value.detach().cpu().numpy()
    return np.ascontiguousarray(values if values.flags.c_contiguous else values.T)


def _set(value: Any, made: Any) -> None:
    values = made.numpy()
    if isinstance(value, np.ndarray):
        value[...] = values if value.flags.c_contiguous else values.T
    else:
        value.detach().copy_(sys.modules["torch"].from_numpy(values))


def described(dtype: DType, element: tuple[int, ...]) -> str:
    """A type of elements, for messages."""
    return str(dtype) if not element else f"{'vector' if len(element) == 1 else 'matrix'}({', '.join(map(str, element))}, {dtype})"
