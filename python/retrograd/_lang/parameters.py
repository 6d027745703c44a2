"""Arguments of kernels by value, and by identity: what they take, and what they are in the kernel."""

from __future__ import annotations

import dataclasses
from typing import Any, Callable

import numpy as np

from . import dtypes
from . import expr as e
from .build import Build
from .data import unwrap
from .dtypes import DType
from .errors import RuntimeTypeError
from .expr import Expr
from .guards import EQUAL, INTEGER, REAL, SAME, TRUTH, Guard, Path, guard
from .matrix import Matrix, MatrixType
from .structs import Struct, StructType

At = Callable[[tuple[Any, ...]], Any]  # from the arguments of a launch to the value that a parameter takes


class Getter:
    """From the arguments of a launch to what the library takes for a parameter.

    `names`: the attributes that lead there from the value, if that is all.
    """

    __slots__ = ("at", "take", "names")

    def __init__(self, at: At, take: Callable[[Any], Any], names: tuple[str, ...] | None = None) -> None:
        self.at, self.take, self.names = at, take, names

    def __call__(self, args: tuple[Any, ...]) -> Any:
        return self.take(self.at(args))

    def path(self) -> tuple[Any, ...] | None:
        """The way there, for the C part; None: Python goes it."""
        return (self.at.index, None, self.at.names + self.names) if self.names is not None and isinstance(self.at, Path) else None


class Parameter:
    """An argument of a kernel, or a member of one."""

    def __init__(self, name: str) -> None:
        self.name = name

    def key(self, value: Any) -> Any:
        """What of the value the compiled kernel depends on; raises if the value does not fit."""
        raise NotImplementedError

    def declare(self, build: Build, at: At, value: Any) -> Any:
        """What the parameter's name means in the kernel under construction."""
        raise NotImplementedError

    def guards(self, at: Path, value: Any) -> list[Guard] | None:
        """Checks that only values with the same key pass; None: Python compares keys."""
        return None


class ScalarParameter(Parameter):
    """A number by value."""

    def __init__(self, name: str, annotation: Any) -> None:
        super().__init__(name)
        self.annotation = annotation

    @property
    def dtype(self) -> DType:
        """The type that it has in the kernel."""
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

    def declare(self, build: Build, at: At, value: Any) -> Any:
        t = self.dtype
        name = build.unique(self.name)
        handle = build.builder.scalar(name, t.code)
        build.inputs.append((name, Getter(at, wrapped(t), ())))
        return Expr(handle, t)

    def guards(self, at: Path, value: Any) -> list[Guard] | None:
        t = self.dtype
        return [guard(at, REAL if t.is_float else TRUTH if t.kind == "b" else INTEGER, None, t.code)]


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
        shape = value.shape if isinstance(value, Matrix) else np.shape(value)
        if shape != self.type.shape:
            raise RuntimeTypeError(f"argument '{self.name}' is a {self.type}, and cannot take a value of shape {shape}")
        return None

    def declare(self, build: Build, at: At, value: Any) -> Any:
        entries = []
        for k in range(int(np.prod(self.type.shape))):
            entry = ScalarParameter(f"{self.name}_{k}", self.type.scalar)
            entries.append(entry.declare(build, lambda args, k=k: _entry(at(args), k), None))  # type: ignore[misc]
        return Matrix.of(entries, self.type.shape)


def _entry(value: Any, k: int) -> Any:
    return value.entries[k] if isinstance(value, Matrix) else np.asarray(value).reshape(-1)[k].item()


class StructParameter(Parameter):
    """A struct by value; structs and dicts are taken."""

    def __init__(self, name: str, type_: StructType, members: dict[str, Parameter]) -> None:
        super().__init__(name)
        self.type, self.members = type_, members

    def key(self, value: Any) -> Any:
        given = value.members if isinstance(value, Struct) else value
        if not isinstance(given, dict) or set(given) != set(self.members):
            raise RuntimeTypeError(f"argument '{self.name}' is a {self.type}, and cannot take {e.describe(value)}"
                                   + (f" of {', '.join(given)}" if isinstance(given, dict) else ""))
        return tuple([p.key(given[name]) for name, p in self.members.items()])

    def declare(self, build: Build, at: At, value: Any) -> Any:
        def member(name: str) -> At:
            def get(args: tuple[Any, ...]) -> Any:
                found = at(args)
                return (found.members if isinstance(found, Struct) else found)[name]

            return get

        return Struct({name: p.declare(build, member(name), None) for name, p in self.members.items()}, self.type)


class TemplateParameter(Parameter):
    """Anything, by identity: a constant, a field, a function, an object. Tuples and dataclasses: by that of their members."""

    def key(self, value: Any) -> Any:
        if isinstance(value, (int, float, str, bytes, type(None), np.generic)):
            return type(value), value
        if isinstance(value, tuple):
            return tuple(self.key(v) for v in value)
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            return type(value), tuple(self.key(getattr(value, f.name)) for f in dataclasses.fields(value))
        return id(unwrap(value))

    def declare(self, build: Build, at: At, value: Any) -> Any:
        build.kept.append(value)  # its address, or those of its members, are in the key
        return unwrap(value)

    def guards(self, at: Path, value: Any) -> list[Guard] | None:
        if isinstance(value, tuple) or dataclasses.is_dataclass(value) and not isinstance(value, type):
            return None
        return [guard(at, EQUAL if isinstance(value, (int, float, str, bytes, type(None), np.generic)) else SAME, value)]
