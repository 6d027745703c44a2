"""What can be assigned: variables, elements of arrays, and parts of these."""

from __future__ import annotations

import itertools
import math
from typing import Any, Callable, Sequence

from . import dtypes
from . import expr as e
from .build import ADD, AND, CAS, EXCHANGE, MAX, MIN, MUL, OR, XOR, current
from .dtypes import DType
from .errors import IndexError_, TypeError_
from .expr import Expr
from .functions import max as greatest
from .functions import min as least
from .functions import select
from .matrix import Matrix, check_index, swizzle
from .structs import Struct

UPDATES: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda x, y: x + y, "sub": lambda x, y: x - y, "mul": lambda x, y: x * y, "and": lambda x, y: x & y, "or": lambda x, y: x | y,
    "xor": lambda x, y: x ^ y, "min": lambda x, y: least(x, y), "max": lambda x, y: greatest(x, y), "div": lambda x, y: x / y,
    "floordiv": lambda x, y: x // y, "mod": lambda x, y: x % y, "pow": lambda x, y: x**y, "shl": lambda x, y: x << y, "shr": lambda x, y: x >> y,
    "exchange": lambda x, y: y,
}
ATOMIC = {"add": ADD, "sub": ADD, "mul": MUL, "and": AND, "or": OR, "xor": XOR, "min": MIN, "max": MAX, "exchange": EXCHANGE}
ARRAY_FROM = 17  # entries from which on a local vector is an array of the builder instead of so many variables


class Place:
    """Something that can be loaded, stored and updated."""

    def load(self) -> Any:
        """Its value."""
        raise NotImplementedError

    def store(self, value: Any) -> None:
        """Set it; the value is converted to its type."""
        raise NotImplementedError

    def update(self, op: str, value: Any) -> Any:
        """Combine it with a value; elements atomically where threads share them. The value before."""
        old = self.load()
        self.store(UPDATES[op](old, value))
        return old

    def cas(self, expected: Any, desired: Any) -> Any:
        """Set it if it has the expected value. The value before."""
        old = self.load()
        self.store(e.select(old == expected, desired, old))
        return old

    def attr(self, name: str) -> Any:
        """A part by its name, or a method; None: it has no such part."""
        return None

    def item(self, index: Any) -> "Place":
        """A part by its index."""
        raise TypeError_("a scalar has no entries")


class Variable(Place):
    """A local scalar."""

    def __init__(self, var: int, dtype: DType) -> None:
        self.var, self.dtype = var, dtype

    def load(self) -> Expr:
        return Expr(current().builder.get(self.var), self.dtype)

    def store(self, value: Any) -> None:
        if not e.is_scalar(value):
            raise TypeError_(f"a variable of {self.dtype} cannot hold {e.describe(value)}")
        current().builder.set(self.var, e.assigned(value, self.dtype).value)


class Element(Place):
    """A scalar in an array."""

    def __init__(self, buffer: Any, index: Sequence[int]) -> None:
        self.buffer, self.index, self.dtype = buffer, index, buffer.dtype

    def load(self) -> Expr:
        b = current()
        if b.marks is not None:
            b.marks.read(self.buffer, self.index)
        value = Expr(b.builder.load(self.buffer.value, *self.index), self.dtype)
        return e.constant(value) if self.buffer.constant or self.buffer.value in b.stopped else value

    def _stored(self, value: Any) -> int:
        """What is written for a value."""
        b = current()
        if b.marks is not None:
            b.marks.write(self.buffer, self.index)
        found = e.assigned(value, self.dtype)
        return (e.constant(found) if self.buffer.constant else found).value

    def store(self, value: Any) -> None:
        if not e.is_scalar(value):
            raise TypeError_(f"an element of {self.dtype} cannot hold {e.describe(value)}")
        current().builder.store(self._stored(value), self.buffer.value, *self.index)

    def update(self, op: str, value: Any) -> Any:
        if op not in ATOMIC:
            return super().update(op, value)
        if not e.is_scalar(value):
            raise TypeError_(f"an element of {self.dtype} cannot be combined with {e.describe(value)}")
        if self.dtype.is_float and op in ("and", "or", "xor"):
            raise TypeError_(f"bits of {self.dtype} cannot be combined")
        if self.dtype is dtypes.u1 and op in ("add", "sub", "mul", "min", "max"):
            return super().update(op, value)
        b = current()
        stored = self._stored(-e.typed(value, self.dtype) if op == "sub" else value)  # an operand of another type may have no negative
        return Expr(b.builder.rmw(ATOMIC[op], int(b.in_parallel), stored, None, self.buffer.value, *self.index), self.dtype)

    def cas(self, expected: Any, desired: Any) -> Any:
        if self.dtype.is_float:
            raise TypeError_("atomic_cas takes integers")
        b = current()
        old = b.builder.rmw(CAS, int(b.in_parallel), e.typed(desired, self.dtype).value, e.typed(expected, self.dtype).value, self.buffer.value,
                            *self.index)
        return Expr(old, self.dtype)


class ArrayEntry(Place):
    """A scalar in a local array."""

    def __init__(self, var: int, dtype: DType, at: Any) -> None:
        self.var, self.dtype, self.at = var, dtype, at

    def _at(self) -> int:
        return e.typed(self.at, dtypes.i64).value

    def load(self) -> Expr:
        b = current().builder
        return Expr(b.extract(b.get(self.var), self._at()), self.dtype)

    def store(self, value: Any) -> None:
        b = current().builder
        b.set(self.var, b.insert(b.get(self.var), self._at(), e.assigned(value, self.dtype).value))


class Chosen(Place):
    """The entry of a local vector that an index of run time means."""

    def __init__(self, of: "MatrixPlace", at: Expr) -> None:
        self.of, self.at, self.dtype = of, at, of.dtype

    def load(self) -> Any:
        result = self.of.entry(self.of.count - 1).load()
        for k in reversed(range(self.of.count - 1)):
            result = e.select(self.at == k, self.of.entry(k).load(), result)
        return result

    def store(self, value: Any) -> None:
        for k in range(self.of.count):
            entry = self.of.entry(k)
            old = entry.load()
            entry.store(e.select(self.at == k, e.typed(value, self.dtype), old))


class MatrixPlace(Place):
    """A vector or matrix whose entries are places."""

    def __init__(self, shape: tuple[int, ...], dtype: DType) -> None:
        self.shape, self.dtype, self.count = shape, dtype, math.prod(shape)

    def entry(self, k: int) -> Place:
        """Entry number k, row by row."""
        raise NotImplementedError

    def chosen(self, at: Expr, index: tuple[Any, ...]) -> Place:
        """The entry at a position of run time: in all, and by axis."""
        self.check(index)
        return Chosen(self, at)

    def check(self, index: tuple[Any, ...]) -> None:
        """In debug mode: the kernel compares indices with the shape."""
        for axis, i in enumerate(index):
            check_index(i, axis, self.shape)

    def load(self) -> Matrix:
        return Matrix.of([self.entry(k).load() for k in range(self.count)], self.shape)

    def _values(self, value: Any) -> list[Any]:
        if isinstance(value, (list, tuple)):
            value = Matrix(value)
        if e.is_scalar(value):
            return [value] * self.count
        if not isinstance(value, Matrix) or value.shape != self.shape:
            raise TypeError_(f"a value of shape {self.shape} is wanted, not {e.describe(value)}")
        return value.entries

    def store(self, value: Any) -> None:
        for k, v in enumerate(self._values(value)):
            self.entry(k).store(v)

    def update(self, op: str, value: Any) -> Any:
        return Matrix.of([self.entry(k).update(op, v) for k, v in enumerate(self._values(value))], self.shape)

    def attr(self, name: str) -> Any:
        if name == "fill":
            return self.store
        where = swizzle(name) if len(self.shape) == 1 else None
        if where is None or max(where) >= self.count:
            return None
        return self.entry(where[0]) if len(where) == 1 else Selection([self.entry(k) for k in where], (len(where),), self.dtype)

    def item(self, index: Any) -> Place:
        indices = tuple(index.entries) if isinstance(index, Matrix) else index if isinstance(index, tuple) else (index,)
        if len(indices) > len(self.shape):
            raise IndexError_(f"{len(indices)} indices for a value of shape {self.shape}")
        indices += (slice(None),) * (len(self.shape) - len(indices))
        indices = tuple(i if isinstance(i, slice) else _integer(i) for i in indices)
        if not any(isinstance(i, Expr) for i in indices):
            where, shape = Matrix.of([None] * self.count, self.shape).positions(indices)
            return Selection([self.entry(k) for k in where], shape, self.dtype) if shape else self.entry(where[0])
        free = [range(self.shape[k])[i] if isinstance(i, slice) else [i] for k, i in enumerate(indices)]
        places = []
        for at in itertools.product(*free):
            position = at[0] * self.shape[1] + at[1] if len(at) == 2 else at[0]
            places.append(self.chosen(position, at))
        shape = tuple(len(f) for f, i in zip(free, indices) if isinstance(i, slice))
        return Selection(places, shape, self.dtype) if shape else places[0]


def _integer(i: Any) -> Any:
    if isinstance(i, Expr):
        if i.dtype.is_float:
            raise TypeError_(f"an index is an integer, not {i.dtype}")
        bits = current().builder.constant(i.value)
        return i if bits is None else bits - (1 << 64) if bits >> 63 else bits
    if isinstance(i, float) or not hasattr(i, "__index__"):
        raise TypeError_(f"an index is an integer, not {e.describe(i)}")
    return i.__index__()


class LocalMatrix(MatrixPlace):
    """A local vector or matrix."""

    def __init__(self, name: str, shape: tuple[int, ...], dtype: DType, depth: int = 0) -> None:
        super().__init__(shape, dtype)
        b = current()
        self.array = b.var(name, dtype, self.count, depth) if self.count >= ARRAY_FROM else None
        self.vars = [] if self.array is not None else [b.var(name, dtype, 0, depth) for _ in range(self.count)]

    def entry(self, k: int) -> Place:
        return Variable(self.vars[k], self.dtype) if self.array is None else ArrayEntry(self.array, self.dtype, k)

    def chosen(self, at: Expr, index: tuple[Any, ...]) -> Place:
        self.check(index)
        return Chosen(self, at) if self.array is None else ArrayEntry(self.array, self.dtype, at)


class ElementMatrix(MatrixPlace):
    """A vector or matrix in an array."""

    def __init__(self, buffer: Any, index: Sequence[int]) -> None:
        super().__init__(buffer.element_shape, buffer.dtype)
        self.buffer, self.index = buffer, tuple(index)

    def _element(self, at: Sequence[Any]) -> Place:
        return Element(self.buffer, self.index + tuple(e.lift(i).value for i in at))

    def entry(self, k: int) -> Place:
        return self._element((k,) if len(self.shape) == 1 else divmod(k, self.shape[1]))

    def chosen(self, at: Expr, index: tuple[Any, ...]) -> Place:
        if self.buffer.clamped:
            index = tuple(least(greatest(i, 0), n - 1) for i, n in zip(index, self.shape))
        return self._element(index)


class Selection(MatrixPlace):
    """Some entries of another vector or matrix."""

    def __init__(self, places: list[Place], shape: tuple[int, ...], dtype: DType) -> None:
        super().__init__(shape, dtype)
        self.places = places

    def entry(self, k: int) -> Place:
        return self.places[k]


class StructPlace(Place):
    """A struct whose members are places."""

    def __init__(self, members: dict[str, Place], type_: Any = None) -> None:
        self.members, self.type = members, type_

    def load(self) -> Struct:
        return Struct({name: p.load() for name, p in self.members.items()}, self.type)

    def store(self, value: Any) -> None:
        if not isinstance(value, Struct) or list(value.members) != list(self.members):
            raise TypeError_(f"a struct of {', '.join(self.members)} is wanted, not {e.describe(value)}")
        for name, p in self.members.items():
            p.store(value.members[name])

    def attr(self, name: str) -> Any:
        method = None if self.type is None else self.type.methods.get(name)
        return self.members.get(name) if method is None else method.__get__(self, Struct)


def local(name: str, value: Any, depth: int = 0, dtype: Any = None) -> Place:
    """A new variable for a value, not set yet. `dtype`: its scalar type, if not that of the value."""
    if isinstance(value, Struct):
        return StructPlace({k: local(f"{name}.{k}", v, depth) for k, v in value.members.items()}, value.type)
    if isinstance(value, Matrix):
        t = dtype or entry_type(value)
        return LocalMatrix(name, value.shape, t, depth)
    t = dtype or e.type_of(value)
    return Variable(current().var(name, t, 0, depth), t)


def entry_type(value: Matrix) -> DType:
    """The type of a vector's entries: the promotion of all."""
    t = e.type_of(value.entries[0])
    for x in value.entries[1:]:
        t = dtypes.promote(t, e.type_of(x))
    return t


def either(condition: Expr, x: Any, y: Any) -> Any:
    """x where the condition holds, else y; both are evaluated."""
    if isinstance(x, Struct) and isinstance(y, Struct) and list(x.members) == list(y.members):
        return Struct({k: either(condition, v, y.members[k]) for k, v in x.members.items()}, x.type)
    if isinstance(x, tuple) and isinstance(y, tuple) and len(x) == len(y):
        return tuple(either(condition, a, b) for a, b in zip(x, y))
    if isinstance(x, (Struct, tuple)) or isinstance(y, (Struct, tuple)):
        raise TypeError_(f"one of {e.describe(x)} and {e.describe(y)} cannot be chosen at run time")
    return select(condition, x, y)


def same_type(place: Place, value: Any) -> bool:
    """Whether the place's type is that of the value."""
    if isinstance(place, Variable):
        return e.is_scalar(value) and e.type_of(value) is place.dtype
    if isinstance(place, MatrixPlace):
        return isinstance(value, Matrix) and value.shape == place.shape and entry_type(value) is place.dtype
    return isinstance(place, StructPlace) and isinstance(value, Struct) and list(value.members) == list(place.members)


def is_value(x: Any) -> bool:
    """Whether variables hold it: a scalar, vector, matrix or struct."""
    return isinstance(x, (Matrix, Struct)) or e.is_scalar(x)
