"""What loops of kernels run over."""

from __future__ import annotations

import itertools
import math
from typing import Any, Iterator

from . import dtypes
from . import expr as e
from .errors import TypeError_
from .expr import Expr
from .matrix import Matrix


class Range:
    """`range` with bounds of run time."""

    def __init__(self, lo: Any, hi: Any, step: Any = 1) -> None:
        self.lo, self.hi, self.step = (bound(x) for x in (lo, hi, step))


class NdRange:
    """A product of ranges, the last axis fastest.

    Parameters
    ----------
    *args : int or (int, int)
        Extents, or pairs of begin and end. Without any there is one index, which has no entries.
    axes : tuple of int, optional
        The order in which the axes run, the fastest last.
    """

    def __init__(self, *args: Any, axes: Any = None) -> None:
        self.bounds = []
        for a in args:
            pair = tuple(a) if isinstance(a, (tuple, list, Matrix)) else (0, a)
            if len(pair) != 2:
                raise TypeError_(f"ndrange takes extents, and pairs of begin and end, not {len(pair)} numbers for an axis")
            self.bounds.append((bound(pair[0]), bound(pair[1])))
        self.order = tuple(axes) if axes is not None else tuple(range(len(self.bounds)))
        if not all(type(k) is int for k in self.order) or sorted(self.order) != list(range(len(self.bounds))):
            raise TypeError_(f"axes={axes!r} does not name each of the {len(self.bounds)} axes once")

    def __iter__(self) -> Iterator[Any]:
        for at in itertools.product(*(range(*self.bounds[k]) for k in self.order)):
            found = [0] * len(at)
            for k, i in zip(self.order, at):
                found[k] = i
            yield tuple(found)

    def __len__(self) -> int:
        return math.prod(max(0, hi - lo) for lo, hi in self.bounds)

    def grouped(self) -> Iterator[Matrix]:
        """Each index as a vector."""
        for at in self:
            yield Matrix.of(at, (len(at),))


class Grouped:
    """Indices as one vector."""

    def __init__(self, of: Any) -> None:
        self.of = of

    def __iter__(self) -> Iterator[Any]:
        return iter(self.of.grouped())


def bound(x: Any) -> Any:
    """A bound of a loop: an integer; floats are truncated."""
    if isinstance(x, Expr):
        return e.cast(x, dtypes.i32) if x.dtype.is_float or x.dtype.bits < 32 else x
    if isinstance(x, float):
        return int(x)
    if not hasattr(x, "__index__"):
        raise TypeError_(f"a bound of a loop is an integer, not {e.describe(x)}")
    return x.__index__()


def index_type(*bounds: Any) -> dtypes.DType:
    """The type of an index between bounds: i32, or i64 if a bound may need it. It has a sign: `i - 1` of the first index is -1."""
    needs = any(x.dtype is not dtypes.i32 if isinstance(x, Expr) else not dtypes.i32.least() <= x <= dtypes.i32.most() for x in bounds)
    return dtypes.i64 if needs else dtypes.i32


def grouped(x: Any) -> Grouped:
    """The indices of a field, an ndarray or an ndrange as vectors."""
    return Grouped(x)


def ndrange(*args: Any, axes: Any = None) -> NdRange:
    """A product of ranges: `for i, j in ndrange(n, (a, b))`, the last axis fastest."""
    return NdRange(*args, axes=axes)


def static(*args: Any) -> Any:
    """What is known when a kernel is compiled: `if static(c)`, `for i in static(range(3))`. On the host the same as its arguments."""
    return args[0] if len(args) == 1 else args


def _hint(name: str) -> Any:
    def hint(*args: Any) -> None:
        pass

    hint.__name__ = hint.__qualname__ = name
    hint.__doc__ = "A hint, which has no effect."
    return hint


block_local, cache_read_only, no_activate = _hint("block_local"), _hint("cache_read_only"), _hint("no_activate")


def assume_in_range(value: Any, base: Any, low: int, high: int) -> Any:
    """The value; that it is from base + low to base + high is a hint, which has no effect."""
    return value


def loop_unique(value: Any, covers: Any = None) -> Any:
    """The value; that no other iteration has it is a hint, which has no effect."""
    return value


def loop_config(*, serialize: bool = False, parallelize: int | None = None, block_dim: int | None = None, block_dim_adaptive: bool = True,
                name: str = "") -> None:
    """Of the next loop: `serialize=True` and `parallelize=1` run it in order, on one thread. `parallelize` of more lets a loop inside of an `if`, a
    `for` or a `while` of the kernel run in parallel, which such loops do not do by themselves. The others are hints."""
