"""Arguments of kernels by value, and by identity: what they take, and what they are in the kernel."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any, Callable

import numpy as np

from . import dtypes
from . import expr as e
from .build import Build
from .data import unwrap
from .dtypes import DType
from .errors import RuntimeTypeError
from .expr import Expr
from .guards import EQUAL, INTEGER, OF_TYPE, REAL, SAME, SIGNATURE, TRUTH, Guard, Path, guard
from .matrix import Matrix, MatrixType
from .ndarrays import Ndarray
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
        return (self.at.index, self.at.start, self.at.names + self.names) if self.names is not None and isinstance(self.at, Path) else None


class Parameter:
    """An argument of a kernel, or a member of one."""

    def __init__(self, name: str) -> None:
        self.name = name

    def key(self, value: Any) -> Any:
        """What of the value the compiled kernel depends on; raises if the value does not fit."""
        raise NotImplementedError

    def arrays(self, value: Any) -> list[Any]:
        """The arrays in it that are arguments: where one comes twice, the kernel has one parameter for both."""
        return []

    def declare(self, build: Build, at: At, value: Any) -> Any:
        """What the parameter's name means in the kernel under construction."""
        raise NotImplementedError

    def guards(self, at: Path, value: Any) -> list[Guard] | None:
        """Checks that only values with the same key pass; None: Python compares keys."""
        return None

    def describe(self, value: Any, description: Any) -> None:
        """The same as a key for other runs of the program."""
        description.say(repr(self.key(value)))


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
    return _truth if t.kind == "b" else functools.partial(_wrap, mask, 0 if t.kind == "u" else top)


def _truth(v: Any) -> int:
    return int(bool(v))


def _wrap(mask: int, top: int, v: Any) -> int:
    return ((int(v) + top) & mask) - top


class MatrixParameter(Parameter):
    """A vector or matrix by value."""

    def __init__(self, name: str, type_: MatrixType) -> None:
        super().__init__(name)
        self.type = type_

    def key(self, value: Any) -> Any:
        shape = value.shape if isinstance(value, Matrix) else np.shape(value)
        if shape != self.type.shape:
            raise RuntimeTypeError(f"argument '{self.name}' is a {self.type}, and cannot take a value of shape {shape}")
        kind = np.asarray(value).dtype.kind
        if kind not in ("biuf" if self.type.scalar.is_float else "biu"):
            raise RuntimeTypeError(f"argument '{self.name}' is a {self.type}, and cannot take {'floats' if kind == 'f' else repr(value)}")
        return None

    def declare(self, build: Build, at: At, value: Any) -> Any:
        entries = []
        for k in range(int(np.prod(self.type.shape))):
            entry = ScalarParameter(f"{self.name}_{k}", self.type.scalar)
            entries.append(entry.declare(build, functools.partial(_entry, at, k), None))
        return Matrix.of(entries, self.type.shape)


def _entry(at: At, k: int, args: tuple[Any, ...]) -> Any:
    value = at(args)
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
        return Struct({name: p.declare(build, functools.partial(_member, at, name), None) for name, p in self.members.items()}, self.type)


def _member(at: At, name: str, args: tuple[Any, ...]) -> Any:
    found = at(args)
    return (found.members if isinstance(found, Struct) else found)[name]


class TemplateParameter(Parameter):
    """Anything, by identity: a constant, a field, a function, an object. Ndarrays by their kind, dataclasses by their members."""

    def key(self, value: Any) -> Any:
        value = unwrap(value)
        if isinstance(value, Ndarray):
            return value.signature
        if is_dataclass(value):
            return type(value), tuple([self.key(getattr(value, f.name)) for f in dataclasses.fields(value)])
        return identity(value)

    def arrays(self, value: Any) -> list[Any]:
        value = unwrap(value)
        if is_dataclass(value):
            return [a for f in dataclasses.fields(value) for a in self.arrays(getattr(value, f.name))]
        return [value] if isinstance(value, Ndarray) else []

    def declare(self, build: Build, at: At, value: Any) -> Any:
        build.kept.append(value)  # its address, or those of its members, are in the key
        build.reads.watch(value, at)
        return unwrap(value)

    def describe(self, value: Any, description: Any) -> None:
        description.value(unwrap(value))

    def guards(self, at: Path, value: Any) -> list[Guard] | None:
        inner = unwrap(value)
        if isinstance(inner, Ndarray):
            return [guard(at, SIGNATURE, inner.signature)]
        if isinstance(inner, tuple):
            return None
        if not is_dataclass(inner):
            return [guard(at, EQUAL if isinstance(inner, CONSTANTS) else SAME, value)]
        found = [guard(at, OF_TYPE, type(inner))]
        for f in dataclasses.fields(inner):
            more = self.guards(at.member(f.name), getattr(inner, f.name))
            if more is None:
                return None
            found += more
        return found


CONSTANTS = (int, float, str, bytes, type(None), np.generic)


def is_dataclass(value: Any) -> bool:
    """Whether it is an instance of a dataclass of Python's."""
    return dataclasses.is_dataclass(value) and not isinstance(value, type)


def identity(value: Any) -> Any:
    """By what a template argument is known: numbers and texts by what they are, tuples by their items, others by their address."""
    if isinstance(value, CONSTANTS):
        return type(value), value
    return tuple(map(identity, value)) if isinstance(value, tuple) else id(unwrap(value))
