"""Arrays in a kernel under construction, and what a launch gives for each parameter."""

from __future__ import annotations

from operator import attrgetter
from typing import Any, Callable

from .._arrays import ADJOINT
from . import dtypes
from . import expr as e
from .build import Build, current
from .dtypes import DType
from .errors import CompilationError, IndexError_, TypeError_
from .expr import Expr
from .functions import max as greatest
from .functions import min as least
from .data import Data
from .iteration import Grouped
from .matrix import Matrix
from .parameters import Getter
from .places import Element, ElementMatrix, Place

class Buffer:
    """An array parameter of the kernel.

    `shape` has integers where they are known when the kernel is compiled, else values of run time.
    """

    def __init__(self, value: int, name: str, dtype: DType, rank: int, element_shape: tuple[int, ...], order: tuple[int, ...], extents: Any = None,
                 offset: tuple[int, ...] | None = None) -> None:
        self.value, self.name, self.dtype, self.rank, self.element_shape, self.order = value, name, dtype, rank, element_shape, order
        self.extents, self.offset = extents, offset
        self.derivatives: dict[str, Any] = {}
        self.constant = False  # whether its elements are constants to the derivative
        self.clamped = False  # whether indices out of the bounds mean the element at the bound

    @property
    def shape(self) -> tuple[Any, ...]:
        """Extents by axis."""
        if self.extents is not None:
            return tuple(self.extents)
        b = current().builder
        where = [self.order.index(k) for k in range(self.rank)]
        return tuple(Expr(b.cast(dtypes.i32.code, b.extent(self.value, k)), dtypes.i32) for k in where)

    @property
    def grad(self) -> Any:
        """Its adjoint."""
        return self._derivative("grad")

    @property
    def dual(self) -> Any:
        """Its tangent."""
        return self._derivative("dual")

    def _derivative(self, which: str) -> Any:
        make = self.derivatives.get(which)
        if make is None:
            raise CompilationError(f"{'Gradient' if which == 'grad' else 'Tangent'} {self.name}.{which} has not been placed, check whether "
                                   f"`needs_{which}=True`")
        if not isinstance(make, Buffer):
            self.derivatives[which] = make = make()
        return make

    @property
    def n(self) -> int:
        """Rows of an element."""
        return self.element_shape[0] if self.element_shape else 1

    @property
    def m(self) -> int:
        """Columns of an element."""
        return self.element_shape[1] if len(self.element_shape) == 2 else 1

    def get_shape(self) -> tuple[Any, ...]:
        """The shape."""
        return self.shape


def parameter(build: Build, name: str, dtype: DType, rank: int, element_shape: tuple[int, ...], getter: Callable[..., Any], order: tuple[int, ...] | None = None,
              extents: Any = None, offset: tuple[int, ...] | None = None) -> Buffer:
    """A new array parameter."""
    if rank + len(element_shape) > 8:
        raise TypeError_(f"array `{name}` has {rank} axes and elements of {len(element_shape)}: at most 8 in all")
    unique = build.unique(name or "field")
    value = build.builder.buffer(unique, dtype.code, rank + len(element_shape))
    build.inputs.append((unique, getter))
    made = Buffer(value, unique, dtype, rank, element_shape, order or tuple(range(rank)), extents, offset)
    known = [] if extents is None else [extents[k] for k in made.order]
    for axis, extent in enumerate([*known, *element_shape] if extents is not None else element_shape, 0 if extents is not None else rank):
        build.extents += [value, axis, extent]
    return made


class Captured:
    """The array of a field or ndarray that the kernel names."""

    __slots__ = ("data",)

    def __init__(self, data: Data) -> None:
        self.data = data

    def __call__(self, args: tuple[Any, ...]) -> Any:
        return self.data.array

    def path(self) -> tuple[Any, ...]:
        """The way there, for the C part."""
        return -1, self.data, ("_array",)


def capture(data: Data) -> Buffer:
    """The parameter for a field or ndarray that the kernel names."""
    build = current()
    known: Buffer | None = build.captured.get(id(data))
    if known is not None:
        return known
    if not getattr(data, "placed", True):
        data._allocate()  # says what is missing
    at = build.reads.arrays.get(id(data))
    if at is None:
        build.kept.append(data)
        getter: Any = Captured(data)
        extents: Any = data.shape
    else:
        getter, extents = Getter(at, attrgetter("array"), ("_array",)), None
    made = parameter(build, _name_of(data), data.dtype, len(data.shape), data.element_shape, getter, data.order, extents, data.offset)
    for which, has in (("grad", data.has_grad()), ("dual", data.has_dual())):
        if has:
            if at is not None:
                build.reads.arrays[id(getattr(data, which))] = at.member(which)
            made.derivatives[which] = lambda which=which: capture(getattr(data, which))
    build.captured[id(data)] = made
    return made


def _name_of(data: Data) -> str:
    if data.primal is not None:
        return f"{_name_of(data.primal)}_{'grad' if data.plane == ADJOINT else 'dual'}"
    return data.name.replace(".", "_") or current().names.get(id(data), data.kind)


def buffer_of(x: Any) -> Buffer | None:
    """The parameter that it is or gets; None: it is no array."""
    return x if isinstance(x, Buffer) else capture(x) if isinstance(x, Data) else None


def element(array: Any, index: Any) -> Place:
    """The place of an element."""
    buffer = buffer_of(array)
    assert buffer is not None
    if buffer.rank == 0 and isinstance(index, Matrix) and len(index.entries) == 1:
        index = ()  # of a loop over grouped(x)
    given: list[Any] = []
    for part in index if isinstance(index, tuple) else () if index is None else (index,):
        given += part.entries if isinstance(part, Matrix) else list(part) if isinstance(part, (tuple, list)) else [part]
    if len(given) != buffer.rank:
        raise IndexError_(f"array `{buffer.name}` has {buffer.rank} axes: {len(given)} indices are given")
    at = []
    for k in buffer.order:
        i = given[k]
        if isinstance(i, slice) or not e.is_scalar(i) or e.type_of(i).is_float:
            raise TypeError_(f"an index of array `{buffer.name}` is an integer, not {e.type_of(i) if e.is_scalar(i) else e.describe(i)}")
        i = e.as_number(e.lift(i))
        i = i - buffer.offset[k] if buffer.offset and buffer.offset[k] else i
        at.append((least(greatest(i, 0), buffer.shape[k] - 1) if buffer.clamped else i).value)
    return ElementMatrix(buffer, at) if buffer.element_shape else Element(buffer, at)


def domain(x: Any) -> tuple[Buffer, bool] | None:
    """The array whose indices a loop runs over, and whether they are grouped; None: it is no array."""
    inner = x.of if isinstance(x, Grouped) else x
    buffer = buffer_of(inner)
    return None if buffer is None else (buffer, isinstance(x, Grouped))
