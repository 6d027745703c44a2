"""Vectors and matrices: small values of known shape, in kernels and on the host."""

from __future__ import annotations

import itertools
import math
import operator
from typing import Any, Callable, Iterator, Sequence

import numpy as np

from . import dtypes
from . import expr as e
from .build import building, current
from .dtypes import DType
from .errors import IndexError_, TypeError_
from .expr import Expr
from .operators import Operators
from .runtime import cfg

OF_SYMBOLS: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "//": operator.floordiv, "%": operator.mod, "**": operator.pow,
    "&": operator.and_, "|": operator.or_, "^": operator.xor, "<<": operator.lshift, ">>": operator.rshift,
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq, "!=": operator.ne,
}
SWIZZLES = ("xyzw", "rgba", "stpq", "uvw")


def swizzle(name: str) -> list[int] | None:
    """The entries that a name like `xyz` means; None: it is no such name."""
    if 0 < len(name) <= 4:
        for letters in SWIZZLES:
            if all(c in letters for c in name):
                return [letters.index(c) for c in name]
    return None


def _flat(values: Any) -> tuple[list[Any], tuple[int, ...]]:
    """The entries of nested lists, row by row, and their shape."""
    if isinstance(values, Matrix):
        return list(values.entries), values.shape
    if isinstance(values, np.ndarray):
        return [v.item() for v in values.reshape(-1)], values.shape
    if isinstance(values, (list, tuple, range)) or (hasattr(values, "__iter__") and not isinstance(values, Expr)):
        rows = [_flat(v) for v in values]
        if any(shape != rows[0][1] for _, shape in rows):
            raise TypeError_("the rows of a matrix have different lengths")
        return list(itertools.chain.from_iterable(r for r, _ in rows)), (len(rows), *(rows[0][1] if rows else ()))
    if not e.is_scalar(values):
        raise TypeError_(f"the entries of a vector are scalars, not {e.describe(values)}")
    return [values], ()


class Matrix(Operators):
    """A matrix of scalars. A `Vector` is a matrix with one column, whose shape has one axis.

    Parameters
    ----------
    values : nested sequences
        Entries, or rows that are vectors.
    dt : optional
        The type of the entries.

    Examples
    --------
    >>> import retrograd as rg
    >>> m = rg.Matrix([[1.0, 2.0], [3.0, 4.0]])
    >>> m @ rg.Vector([1.0, 1.0])
    [3.0, 7.0]
    """

    __slots__ = ("entries", "shape")
    entries: list[Any]
    shape: tuple[int, ...]

    def __init__(self, values: Any, dt: Any = None) -> None:
        entries, shape = _flat(values)
        if not 1 <= len(shape) <= 2 or not entries:
            raise TypeError_(f"a matrix has one or two axes, not {len(shape)}")
        self._set(entries, shape)
        if dt is not None:
            self._set(self.cast(dt).entries, shape)

    def _set(self, entries: list[Any], shape: tuple[int, ...]) -> None:
        object.__setattr__(self, "entries", entries)
        object.__setattr__(self, "shape", shape)

    @staticmethod
    def of(entries: Sequence[Any], shape: tuple[int, ...]) -> "Matrix":
        """Entries row by row, as a value of that shape."""
        cls: type[Matrix] = Vector if len(shape) == 1 else Matrix
        made = cls.__new__(cls)
        made._set(list(entries), tuple(shape))
        return made

    def like(self, entries: Sequence[Any]) -> "Matrix":
        """Other entries in the same shape."""
        return Matrix.of(entries, self.shape)

    def __reduce__(self) -> Any:
        return Matrix.of, (self.entries, self.shape)

    # -- shape ---------------------------------------------------------------------------------------------------------

    @property
    def n(self) -> int:
        """Rows."""
        return self.shape[0]

    @property
    def m(self) -> int:
        """Columns."""
        return self.shape[1] if len(self.shape) == 2 else 1

    def get_shape(self) -> tuple[int, ...]:
        """The shape."""
        return self.shape

    def __len__(self) -> int:
        return self.shape[0]

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(self.shape[0]))

    def __repr__(self) -> str:
        return repr(self.to_list())

    def __format__(self, spec: str) -> str:
        return format(str(self), spec)

    def to_list(self) -> list[Any]:
        """Nested lists."""
        return list(self.entries) if len(self.shape) == 1 else [list(self.entries[i * self.m : (i + 1) * self.m]) for i in range(self.n)]

    def to_numpy(self) -> np.ndarray[Any, Any]:
        """A NumPy array."""
        return np.array(self.to_list())

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray[Any, Any]:
        return np.array(self.to_list(), dtype)

    def __bool__(self) -> bool:
        if any(isinstance(x, Expr) for x in self.entries):
            raise TypeError_("a vector of run time has no truth value: use `.any()` or `.all()`")
        return all(bool(x) for x in self.entries)

    # -- entries -------------------------------------------------------------------------------------------------------

    def axes_of(self, index: Any) -> tuple[Any, ...]:
        """An index as one entry for each axis."""
        indices = tuple(index.entries) if isinstance(index, Matrix) else index if isinstance(index, tuple) else (index,)
        if len(indices) > len(self.shape):
            raise IndexError_(f"{len(indices)} indices for a value of shape {self.shape}")
        return indices + (slice(None),) * (len(self.shape) - len(indices))

    def positions(self, index: tuple[Any, ...]) -> tuple[list[int], tuple[int, ...]]:
        """The positions of the entries that known indices mean, and the shape that they make."""
        axes: list[list[int]] = []
        shape: list[int] = []
        for axis, i in enumerate(index):
            if isinstance(i, slice):
                axes.append(list(range(self.shape[axis]))[i])
                shape.append(len(axes[-1]))
                continue
            if not -self.shape[axis] <= i < self.shape[axis]:
                raise IndexError_(f"index {i} is out of the range of axis {axis}, which has {self.shape[axis]} entries")
            axes.append([int(i) % self.shape[axis]])
        strides = (self.m, 1) if len(self.shape) == 2 else (1,)
        return [sum(i * s for i, s in zip(at, strides)) for at in itertools.product(*axes)], tuple(shape)

    def __getitem__(self, index: Any) -> Any:
        at = self.axes_of(index)
        if any(isinstance(i, Expr) for i in at):
            return self._run_time_item(at)
        where, shape = self.positions(at)
        return Matrix.of([self.entries[k] for k in where], shape) if shape else self.entries[where[0]]

    def _run_time_item(self, at: tuple[Any, ...]) -> Any:
        """A choice among the entries of one axis after the other."""
        axis = next(k for k, i in enumerate(at) if isinstance(i, Expr))
        from .functions import select

        check_index(at[axis], axis, self.shape)
        result = self[at[:axis] + (self.shape[axis] - 1,) + at[axis + 1 :]]
        for k in reversed(range(self.shape[axis] - 1)):
            result = select(at[axis] == k, self[at[:axis] + (k,) + at[axis + 1 :]], result)
        return result

    def __setitem__(self, index: Any, value: Any) -> None:
        where, shape = self.positions(self.axes_of(index))
        values = value if shape else [value]
        values = list(values.entries) if isinstance(values, Matrix) else list(values) if isinstance(values, (list, tuple)) else [values] * len(where)
        for k, v in zip(where, values):
            self._put(k, v)

    def _put(self, position: int, value: Any) -> None:
        self.entries[position] = value

    def __getattr__(self, name: str) -> Any:
        where = swizzle(name)
        if where is None or len(self.shape) != 1 or max(where) >= self.n:
            raise AttributeError(f"a vector of {self.shape} has no attribute '{name}'")
        return self[where[0]] if len(where) == 1 else Matrix.of([self[k] for k in where], (len(where),))

    def __setattr__(self, name: str, value: Any) -> None:
        where = swizzle(name)
        if where is None or max(where) >= self.n:
            raise AttributeError(f"a vector of {self.shape} has no attribute '{name}'")
        for k, position in enumerate(where):
            self[position] = value if len(where) == 1 else value[k]

    # -- arithmetic ----------------------------------------------------------------------------------------------------

    def operate(self, symbol: str, x: Any, y: Any) -> Any:
        from .functions import elementwise

        return elementwise(OF_SYMBOLS[symbol], _fit(x), _fit(y))

    def __neg__(self) -> "Matrix":
        return self.like([-x for x in self.entries])

    def __pos__(self) -> "Matrix":
        return self

    def __invert__(self) -> "Matrix":
        return self.like([~x for x in self.entries])

    def __abs__(self) -> "Matrix":
        return self.like([abs(x) for x in self.entries])

    def __matmul__(self, other: Any) -> Any:
        other = other if isinstance(other, Matrix) else Matrix(other)
        inner = self.shape[-1]
        if inner != other.n:
            raise TypeError_(f"`@` cannot be applied to shapes {self.shape} and {other.shape}")
        rows = [self.entries[i : i + inner] for i in range(0, len(self.entries), inner)]
        columns = [other.entries[j :: other.m] for j in range(other.m)]
        found = [total(a * b for a, b in zip(r, c)) for r in rows for c in columns]
        shape = self.shape[:-1] + other.shape[1:]
        return Matrix.of(found, shape) if shape else found[0]

    def __rmatmul__(self, other: Any) -> Any:
        return Matrix(other) @ self

    # -- of all entries ------------------------------------------------------------------------------------------------

    def sum(self) -> Any:
        """The sum of all entries."""
        return total(self.entries)

    def min(self) -> Any:
        """The least entry."""
        from .functions import min

        return min(*self.entries)

    def max(self) -> Any:
        """The greatest entry."""
        from .functions import max

        return max(*self.entries)

    def any(self) -> Any:
        """Whether an entry is not 0."""
        return _reduce(lambda a, b: a | b, [_nonzero(x) for x in self.entries])

    def all(self) -> Any:
        """Whether no entry is 0."""
        return _reduce(lambda a, b: a & b, [_nonzero(x) for x in self.entries])

    def norm_sqr(self) -> Any:
        """The sum of the squares."""
        return total(x * x for x in self.entries)

    def norm(self, eps: Any = 0) -> Any:
        """The Euclidean (Frobenius) length; `eps` is added under the root."""
        from .functions import sqrt

        square = self.norm_sqr()
        return sqrt(square if not isinstance(eps, Expr) and eps == 0 else square + eps)

    def norm_inv(self, eps: Any = 0) -> Any:
        """One over the length."""
        from .functions import rsqrt

        square = self.norm_sqr()
        return rsqrt(square if not isinstance(eps, Expr) and eps == 0 else square + eps)

    def normalized(self, eps: Any = 0) -> Any:
        """The vector over its length."""
        return self / (self.norm() + eps)

    def dot(self, other: Any) -> Any:
        """The inner product."""
        other = _fit(other)
        if not isinstance(other, Matrix):
            raise TypeError_(f"the inner product of a vector is with a vector, not with {e.describe(other)}")
        return (self * other).sum()

    def cross(self, other: Any) -> Any:
        """The cross product; of vectors in the plane a scalar."""
        a, b = self.entries, other.entries
        if len(a) == 2 and len(b) == 2:
            return a[0] * b[1] - a[1] * b[0]
        if len(a) != 3 or len(b) != 3:
            raise TypeError_(f"cross products take vectors of 2 or 3 entries, not {len(a)} and {len(b)}")
        return Matrix.of([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]], (3,))

    def outer_product(self, other: Any) -> "Matrix":
        """The matrix of all products."""
        return Matrix.of([x * y for x in self.entries for y in other.entries], (len(self.entries), len(other.entries)))

    def transpose(self) -> "Matrix":
        """Rows as columns."""
        if len(self.shape) == 1:
            return Matrix.of(self.entries, (1, self.n))
        return Matrix.of([self.entries[i * self.m + j] for j in range(self.m) for i in range(self.n)], (self.m, self.n))

    def trace(self) -> Any:
        """The sum of the diagonal."""
        self._square("trace")
        return total(self.entries[i * self.m + i] for i in range(self.n))

    def _square(self, what: str, most: int = 1 << 30) -> None:
        if len(self.shape) != 2 or self.n != self.m or self.n > most:
            raise TypeError_(f"`{what}` takes a square matrix{f' of at most {most} rows' if most < 100 else ''}, not one of shape {self.shape}")

    def _minor(self, i: int, j: int) -> "Matrix":
        return Matrix.of([self.entries[r * self.m + c] for r in range(self.n) if r != i for c in range(self.m) if c != j], (self.n - 1, self.m - 1))

    def determinant(self) -> Any:
        """The determinant, of at most 4 rows."""
        self._square("determinant", 4)
        x = self.entries
        if self.n == 1:
            return x[0]
        if self.n == 2:
            return x[0] * x[3] - x[1] * x[2]
        return total((x[j] if j % 2 == 0 else -x[j]) * self._minor(0, j).determinant() for j in range(self.n))

    def inverse(self) -> "Matrix":
        """The inverse, of at most 4 rows."""
        self._square("inverse", 4)
        one_over = 1 / (self.determinant() if building() else float(self.determinant()))
        if self.n == 1:
            return self.like([one_over])
        minors = [[self._minor(i, j).determinant() for j in range(self.n)] for i in range(self.n)]
        return self.like([(minors[j][i] if (i + j) % 2 == 0 else -minors[j][i]) * one_over for i in range(self.n) for j in range(self.n)])

    def cast(self, dtype: Any) -> Any:
        """The entries in another type."""
        from .functions import cast

        return cast(self, dtype)

    def fill(self, value: Any) -> None:
        """Set all entries."""
        if building():
            raise TypeError_("`fill` sets variables, and elements of arrays: this is a value")
        for k in range(len(self.entries)):
            self._put(k, value)

    # -- making --------------------------------------------------------------------------------------------------------

    @staticmethod
    def zero(dt: Any, n: int, m: int | None = None) -> "Matrix":
        """Zeros."""
        return _filled(dt, n, m, lambda i, j: 0)

    @staticmethod
    def one(dt: Any, n: int, m: int | None = None) -> "Matrix":
        """Ones."""
        return _filled(dt, n, m, lambda i, j: 1)

    @staticmethod
    def unit(n: int, i: int, dt: Any = None) -> "Matrix":
        """A vector of zeros with a one at i."""
        return _filled(dt if dt is not None else int, n, None, lambda k, j: int(k == i))

    @staticmethod
    def identity(dt: Any, n: int) -> "Matrix":
        """The identity matrix."""
        return _filled(dt, n, n, lambda i, j: int(i == j))

    @staticmethod
    def diag(dim: int, val: Any) -> "Matrix":
        """A matrix with one value on its diagonal."""
        return Matrix.of([val if i == j else (val * 0 if isinstance(val, Expr) else type(val)(0)) for i in range(dim) for j in range(dim)], (dim, dim))

    @staticmethod
    def rows(rows: Sequence[Any]) -> "Matrix":
        """A matrix of rows."""
        return Matrix([list(r.entries) if isinstance(r, Matrix) else list(r) for r in rows])

    @staticmethod
    def cols(cols: Sequence[Any]) -> "Matrix":
        """A matrix of columns."""
        return Matrix.rows(cols).transpose()

    @staticmethod
    def field(n: int, m: int, dtype: Any, shape: Any = None, **options: Any) -> Any:
        """A field of matrices; options as in `field`."""
        return MatrixType(n, m, dtype).field(shape, **options)

    @staticmethod
    def ndarray(n: int, m: int, dtype: Any, shape: Any, **options: Any) -> Any:
        """An ndarray of matrices; options as in `ndarray`."""
        return MatrixType(n, m, dtype).ndarray(shape, **options)

    @staticmethod
    def tensor(n: int, m: int, dtype: Any, shape: Any, **options: Any) -> Any:
        """A tensor of matrices; options as in `tensor`."""
        return MatrixType(n, m, dtype).tensor(shape, **options)


class Vector(Matrix):
    """A vector of scalars.

    Examples
    --------
    >>> import retrograd as rg
    >>> v = rg.Vector([3.0, 4.0])
    >>> v.norm(), v.yx
    (5.0, [4.0, 3.0])
    """

    __slots__ = ()

    @staticmethod
    def zero(dt: Any, n: int, m: int | None = None) -> Matrix:
        """Zeros."""
        return _filled(dt, n, None, lambda i, j: 0)

    @staticmethod
    def one(dt: Any, n: int, m: int | None = None) -> Matrix:
        """Ones."""
        return _filled(dt, n, None, lambda i, j: 1)

    @staticmethod
    def field(n: int, dtype: Any, shape: Any = None, **options: Any) -> Any:  # type: ignore[override]
        """A field of vectors; options as in `field`."""
        return MatrixType(n, None, dtype).field(shape, **options)

    @staticmethod
    def ndarray(n: int, dtype: Any, shape: Any, **options: Any) -> Any:  # type: ignore[override]
        """An ndarray of vectors; options as in `ndarray`."""
        return MatrixType(n, None, dtype).ndarray(shape, **options)

    @staticmethod
    def tensor(n: int, dtype: Any, shape: Any, **options: Any) -> Any:  # type: ignore[override]
        """A tensor of vectors; options as in `tensor`."""
        return MatrixType(n, None, dtype).tensor(shape, **options)


def _filled(dt: Any, n: int, m: int | None, entry: Callable[[int, int], int]) -> Matrix:
    t = dtypes.of(dt)
    if t is None:
        raise TypeError_(f"{dt!r} is not a scalar type")
    values = [entry(i, j) for i in range(n) for j in range(m or 1)]
    return Matrix.of([t(v) for v in values], (n,) if m is None else (n, m))


def check_index(i: Any, axis: int, shape: tuple[int, ...]) -> None:
    """In debug mode: the kernel compares an index of run time with the shape of a vector or matrix."""
    if cfg.checked and isinstance(i, Expr):
        from .text import Text

        Text(["index ", (i, ""), f" leaves axis {axis} of a local value of shape {shape}"]).emit_assert(current().builder, (i >= 0) & (i < shape[axis]))


def total(values: Any) -> Any:
    """The sum, from the first on."""
    return _reduce(lambda a, b: a + b, list(values))


def _reduce(f: Callable[[Any, Any], Any], values: list[Any]) -> Any:
    result = values[0]
    for v in values[1:]:
        result = f(result, v)
    return result


def _nonzero(x: Any) -> Any:
    return e.truth(x) if isinstance(x, Expr) else bool(x)


def _fit(x: Any) -> Any:
    return Matrix(x) if isinstance(x, (list, tuple, np.ndarray)) and not e.is_scalar(x) else x


class MatrixType:
    """The type of vectors (m is None) or matrices; a call makes one."""

    __slots__ = ("n", "m", "dtype")

    def __init__(self, n: int, m: int | None, dtype: Any) -> None:
        self.n, self.m, self.dtype = n, m, dtype

    @property
    def shape(self) -> tuple[int, ...]:
        """Of its values."""
        return (self.n,) if self.m is None else (self.n, self.m)

    @property
    def scalar(self) -> DType:
        """The type of its entries."""
        found = dtypes.of(self.dtype)
        if found is None:
            raise TypeError_(f"{self.dtype!r} is not a scalar type")
        return found

    def __repr__(self) -> str:
        t = dtypes.shown(self.dtype)
        return f"vector({self.n}, {t})" if self.m is None else f"matrix({self.n}, {self.m}, {t})"

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, MatrixType) and (self.n, self.m, self.dtype) == (other.n, other.m, other.dtype)

    def __hash__(self) -> int:
        return hash((self.n, self.m, self.dtype))

    def __deepcopy__(self, memo: Any) -> "MatrixType":
        return self

    def __call__(self, *args: Any) -> Matrix:
        entries: list[Any] = []
        for a in args:
            entries += _flat(a)[0]
        count = math.prod(self.shape)
        if len(entries) == 1:
            entries *= count
        if len(entries) != count:
            raise TypeError_(f"{self} takes {count} entries, not {len(entries)}")
        return Matrix.of([self.scalar(x) for x in entries], self.shape)

    def field(self, shape: Any = None, **options: Any) -> Any:
        """A field of such elements."""
        from .fields import field

        return field(self, shape, **options)

    def ndarray(self, shape: Any, **options: Any) -> Any:
        """An ndarray of such elements."""
        from .ndarrays import ndarray

        return ndarray(self, shape, **options)

    def tensor(self, shape: Any, **options: Any) -> Any:
        """A tensor of such elements."""
        from .tensors import tensor

        return tensor(self, shape, **options)
