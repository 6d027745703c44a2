"""Annotations of a kernel's arguments: what they take, and what they are in the kernel."""

from __future__ import annotations

import inspect
import sys
from typing import Any, Callable

import numpy as np

from . import dtypes
from . import expr as e
from .arguments import Buffer, parameter
from .build import Build
from .dtypes import DType
from .errors import RuntimeTypeError, SyntaxError_
from .expr import Expr
from .fields import Data, Ndarray, element_of
from .func import is_template, resolve
from .matrix import Matrix, MatrixType


class Getter:
    """From the arguments of a launch to what the library takes for a parameter."""

    __slots__ = ("index", "take", "adjoint")

    def __init__(self, index: int, take: Callable[[Any], Any], adjoint: Callable[[Any], Any] | None = None) -> None:
        self.index, self.take, self.adjoint = index, take, adjoint

    def __call__(self, args: tuple[Any, ...]) -> Any:
        return self.take(args[self.index])


class Parameter:
    """An argument of a kernel."""

    def __init__(self, name: str) -> None:
        self.name = name

    def key(self, value: Any) -> Any:
        """What of the value the compiled kernel depends on; raises if the value does not fit."""
        raise NotImplementedError

    def declare(self, build: Build, index: int, value: Any) -> Any:
        """The parameter's name in the kernel under construction."""
        raise NotImplementedError


class ScalarParameter(Parameter):
    """A number by value."""

    def __init__(self, name: str, annotation: Any) -> None:
        super().__init__(name)
        self.annotation = annotation

    @property
    def dtype(self) -> DType:
        found = dtypes.of(self.annotation)
        assert found is not None
        return found

    def key(self, value: Any) -> Any:
        if type(value) is float:
            if not self.dtype.is_float:
                raise RuntimeTypeError(f"argument '{self.name}' is {self.dtype}, and cannot take the float {value}")
        elif type(value) is not int:
            if not e.is_scalar(value) or isinstance(value, Expr):
                raise RuntimeTypeError(f"argument '{self.name}' is a scalar ({self.dtype}), and cannot take {e.describe(value)}")
            if isinstance(value, (float, np.floating)) and not self.dtype.is_float:
                raise RuntimeTypeError(f"argument '{self.name}' is {self.dtype}, and cannot take the float {value}")
        return None

    def declare(self, build: Build, index: int, value: Any) -> Any:
        t = self.dtype
        handle = build.builder.scalar(self.name, t.code)
        build.inputs.append((self.name, Getter(index, wrapped(t))))
        return Expr(handle, t)


def wrapped(t: DType) -> Callable[[Any], Any]:
    """What makes an argument of a Python number: integers wrap."""
    if t.is_float:
        return float
    mask, top = (1 << t.bits) - 1, 1 << (t.bits - 1)
    if t.kind == "b":
        return lambda v: int(bool(v))
    if t.kind == "u":
        return lambda v: int(v) & mask
    return lambda v: ((int(v) + top) & mask) - top


class MatrixParameter(Parameter):
    """A vector or matrix by value."""

    def __init__(self, name: str, type_: MatrixType) -> None:
        super().__init__(name)
        self.type = type_

    def key(self, value: Any) -> Any:
        shape = np.shape(value.to_list() if isinstance(value, Matrix) else value)
        if shape != self.type.shape:
            raise RuntimeTypeError(f"argument '{self.name}' is a {self.type}, and cannot take a value of shape {shape}")
        return None

    def declare(self, build: Build, index: int, value: Any) -> Any:
        t = self.type.scalar
        entries = []
        convert = wrapped(t)

        def entry(k: int) -> Callable[[Any], Any]:
            return lambda v: convert(v.entries[k] if isinstance(v, Matrix) else np.asarray(v).reshape(-1)[k].item())

        for k in range(len(np.empty(self.type.shape).reshape(-1))):
            name = f"{self.name}_{k}"
            entries.append(Expr(build.builder.scalar(name, t.code), t))
            build.inputs.append((name, Getter(index, entry(k))))
        return Matrix.of(entries, self.type.shape)


class TemplateParameter(Parameter):
    """Anything, by identity: a constant, or a field."""

    def key(self, value: Any) -> Any:
        if isinstance(value, (int, float, str, bytes, type(None))):
            return type(value), value
        if isinstance(value, tuple):
            return tuple(self.key(v) for v in value)
        return id(value)

    def declare(self, build: Build, index: int, value: Any) -> Any:
        build.kept.append(value)  # its address is in the key
        return value


class ArrayParameter(Parameter):
    """An ndarray, an array of NumPy, or a tensor of torch."""

    def __init__(self, name: str, dtype: Any = None, ndim: int | None = None, needs_grad: bool | None = None, element_dim: int | None = None) -> None:
        super().__init__(name)
        self.dtype, self.ndim, self.needs_grad, self.element_dim = dtype, ndim, needs_grad, element_dim

    def key(self, value: Any) -> Any:
        if isinstance(value, Ndarray):
            if self.dtype is not None:
                scalar, element = element_of(self.dtype)
                if (scalar, element) != (value.dtype, value.element_shape):
                    raise ValueError(f"argument '{self.name}' takes elements of {self.dtype}, not {described(value.dtype, value.element_shape)}")
            if self.ndim is not None and len(value.shape) != self.ndim:
                raise ValueError(f"argument '{self.name}' takes {self.ndim} axes, not {len(value.shape)}")
            if self.needs_grad and value.grad is None:
                raise ValueError(f"argument '{self.name}' takes an array with needs_grad=True")
            return (value.dtype.name, value.element_shape, value.order, value.grad is not None, value.dual is not None)
        if isinstance(value, np.ndarray):
            return ("numpy", *self._memory(value.dtype, value.shape, value.flags.c_contiguous))
        if is_tensor(value):
            grad = value.requires_grad and self.needs_grad is not False
            return ("torch", grad, *self._memory(str(value.dtype).rpartition(".")[2], tuple(value.shape), value.is_contiguous()))
        raise RuntimeTypeError(f"argument '{self.name}' takes an array, not {e.describe(value)}")

    def _memory(self, dtype: Any, shape: tuple[int, ...], contiguous: bool) -> tuple[Any, ...]:
        try:
            found = dtypes.by_numpy(dtype)
        except TypeError:
            found = None
        if found is None:
            raise ValueError(f"argument '{self.name}': arrays of {dtype} are not supported")
        element: tuple[int, ...] = ()
        if self.dtype is not None:
            scalar, element = element_of(self.dtype)
            if scalar is not found or shape[len(shape) - len(element) :] != element:
                raise ValueError(f"argument '{self.name}' takes elements of {self.dtype}, not {found} with shape {shape}")
        rank = len(shape) - len(element)
        if self.ndim is not None and rank != self.ndim:
            raise ValueError(f"argument '{self.name}' takes {self.ndim} axes, not {rank}")
        if not contiguous:
            raise ValueError(f"argument '{self.name}': non contiguous arrays are not supported, pass a contiguous copy")
        if self.needs_grad and "torch" not in sys.modules:
            raise ValueError(f"argument '{self.name}' takes an array with needs_grad=True, which arrays of NumPy are not")
        return found.name, element, rank

    def declare(self, build: Build, index: int, value: Any) -> Any:
        if isinstance(value, Ndarray):
            made = parameter(build, self.name, value.dtype, len(value.shape), value.element_shape, Getter(index, lambda v: v.array), value.order)
            for which in ("grad", "dual"):
                if getattr(value, which) is not None:
                    made.derivatives[which] = self._derivative(build, index, which, made)
            return made
        key = self.key(value)
        scalar, element, rank = key[-3:]
        tensor = is_tensor(value)
        getter = Getter(index, (lambda v: v.detach()) if tensor else (lambda v: v), tensor_adjoint if tensor and key[1] else None)
        made = parameter(build, self.name, dtypes.by_name(scalar), rank, element, getter)
        if tensor and key[1]:
            made.derivatives["grad"] = lambda: parameter(build, f"{self.name}_grad", dtypes.by_name(scalar), rank, element, Getter(index, tensor_adjoint))
        return made

    def _derivative(self, build: Build, index: int, which: str, of: Buffer) -> Any:
        return lambda: parameter(build, f"{self.name}_{which}", of.dtype, of.rank, of.element_shape,
                                 Getter(index, lambda v: getattr(v, which).array), of.order)


class AnyArrayParameter(ArrayParameter):
    """A field, an ndarray, or whatever wraps one."""

    def key(self, value: Any) -> Any:
        inner = unwrap(value)
        return id(inner) if isinstance(inner, Data) and not isinstance(inner, Ndarray) else super().key(inner)

    def declare(self, build: Build, index: int, value: Any) -> Any:
        inner = unwrap(value)
        if isinstance(inner, Data) and not isinstance(inner, Ndarray):
            build.kept.append(inner)
            return inner
        return super().declare(build, index, inner)


def unwrap(value: Any) -> Any:
    """The field or ndarray in a tensor."""
    return value._unwrap() if hasattr(value, "_unwrap") else value


def is_tensor(value: Any) -> bool:
    """Whether it is a tensor of torch."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def tensor_adjoint(value: Any) -> Any:
    """A tensor's gradient; zeros are made where there is none."""
    if not value.requires_grad:
        return None
    if value.grad is None:
        import torch

        value.grad = torch.zeros_like(value)
    return value.grad


def described(dtype: DType, element: tuple[int, ...]) -> str:
    """A type of elements, for messages."""
    return str(dtype) if not element else f"{'vector' if len(element) == 1 else 'matrix'}({', '.join(map(str, element))}, {dtype})"


# Further kinds of annotations: functions from a name and an annotation to a Parameter, or None.
KINDS: list[Callable[[str, Any], Parameter | None]] = []


def parameter_for(name: str, annotation: Any) -> Parameter:
    """The parameter that an annotation means."""
    if is_template(annotation):
        return TemplateParameter(name)
    if dtypes.of(annotation) is not None:
        return ScalarParameter(name, annotation)
    if isinstance(annotation, MatrixType):
        return MatrixParameter(name, annotation)
    for kind in KINDS:
        found = kind(name, annotation)
        if found is not None:
            return found
    raise SyntaxError_(f"Invalid type annotation of argument `{name}`: {annotation!r}. A scalar, vector, matrix or struct type, `types.ndarray()`, "
                       "`template()` or a dataclass is wanted")


def parameters_of(function: Callable[..., Any], is_method: bool) -> list[Parameter]:
    """The parameters of a kernel."""
    found = []
    for k, p in enumerate(inspect.signature(function).parameters.values()):
        if k == 0 and is_method:
            continue
        if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD):
            raise SyntaxError_(f"kernel {function.__name__}: `*{p.name}` is not supported")
        if p.default is not p.empty:
            raise SyntaxError_(f"kernel {function.__name__}: argument `{p.name}` has a default value, which kernels do not support")
        if p.annotation is p.empty:
            raise SyntaxError_(f"kernel {function.__name__}: argument `{p.name}` needs a type annotation")
        found.append(parameter_for(p.name, resolve(function, p.annotation)))
    return found
