"""Linear algebra of small matrices in kernels: svd, sym_eig, eig, polar_decompose, solve.

Decompositions find their factors by Jacobi's method, whose iterations have no part in derivatives. Two steps of a refinement follow, which take
the factors as constants to begin with and the matrix as it is. A step makes the error its square, and so the derivative of the first step is the
true one, and that of both steps to the second order.

Which vectors belong to equal singular or eigenvalues is not determined, and how they turn is no derivative: they do not turn then. The sums of such
values, U @ V.transpose() and U @ S @ V.transpose() have their true derivatives there too. U @ f(S) @ V.transpose() lacks what f's derivative
gives off the diagonal; where that is wanted, polynomials of A, or polar_decompose, take its place.
"""

from __future__ import annotations

from typing import Any, Callable

from . import dtypes
from . import expr as e
from .ad_stop import stopped
from .build import building, current
from .dtypes import DType
from .errors import RuntimeError_, TypeError_
from .expr import Expr
from .functions import abs, cast, max, rsqrt, select, sqrt
from .matrix import Matrix, total
from .places import LocalMatrix
from .runtime import cfg

SWEEPS = 30  # far more than are ever needed
EPSILON = {16: 2.0**-10, 32: 2.0**-23, 64: 2.0**-52}
STEPS = 2  # of refinement: one for each order of derivatives


def _prepared(a: Any, dt: Any, name: str, sizes: range) -> tuple[Any, DType]:
    """The matrix in the type of the result."""
    if not building():
        raise RuntimeError_(f"{name} works in kernels only; NumPy has it for the host")
    if not isinstance(a, Matrix) or len(a.shape) != 2 or a.n != a.m or a.n not in sizes:
        raise TypeError_(f"{name} takes a square matrix of {sizes[0]} to {sizes[-1]} rows, not {e.describe(a)}")
    t = cfg.default_fp if dt is None else dtypes.of(dt)
    if t is None or not t.is_float:
        raise TypeError_(f"{name}: dt is a type of floats, not {dt!r}")
    return cast(a, t), t


class Work:
    """A matrix of variables, and of them those that a rotation changes."""

    def __init__(self, name: str, value: Matrix) -> None:
        self.shape = value.shape
        self.place = LocalMatrix(name, value.shape, e.type_of(e.lift(value.entries[0])))
        self.place.store(value)

    def column(self, j: int) -> Matrix:
        """Column number j."""
        return Matrix.of([self.entry(i, j) for i in range(self.shape[0])], (self.shape[0],))

    def set_column(self, j: int, value: Matrix) -> None:
        """Set it."""
        for i, x in enumerate(value.entries):
            self.place.item((i, j)).store(x)

    def rotate(self, p: int, q: int, c: Any, s: Any) -> None:
        """Columns p and q become c p - s q and s p + c q."""
        x, y = self.column(p), self.column(q)
        self.set_column(p, c * x - s * y)
        self.set_column(q, s * x + c * y)

    def rotate_rows(self, p: int, q: int, c: Any, s: Any) -> None:
        """The same with rows."""
        x, y = ([self.entry(i, j) for j in range(self.shape[1])] for i in (p, q))
        for j in range(self.shape[1]):
            self.place.item((p, j)).store(c * x[j] - s * y[j])
            self.place.item((q, j)).store(s * x[j] + c * y[j])

    def entry(self, i: int, j: int) -> Any:
        """An entry."""
        return self.place.item((i, j)).load()

    def exchange_if(self, condition: Any, p: int, q: int) -> None:
        """Exchange two columns, one of them with the other sign: a rotation."""
        x, y = self.column(p), self.column(q)
        self.set_column(p, select(condition, -y, x))
        self.set_column(q, select(condition, x, y))

    def value(self) -> Matrix:
        """As a matrix."""
        return self.place.load()


def _rotation(alpha: Any, beta: Any, gamma: Any, t: DType) -> tuple[Any, Any]:
    """Cosine and sine of the rotation that makes [[alpha, gamma], [gamma, beta]] diagonal; the smaller of the angles."""
    one = e.typed(1, t)
    zeta = (beta - alpha) / select(gamma == 0, one, gamma + gamma)
    size = one / (abs(zeta) + sqrt(one + zeta * zeta))
    tangent = select(gamma == 0, e.typed(0, t), select(zeta < 0, -size, size))
    c = rsqrt(one + tangent * tangent)
    return c, c * tangent


def _sweeps(sweep: Callable[[], Any]) -> None:
    """Repeat until it says that nothing is left to do."""
    b = current().builder
    label, _ = b.for_(e.typed(0, dtypes.i32).value, e.typed(SWEEPS, dtypes.i32).value, 1)
    b.leave_if(sweep().value, label)
    b.end()


def _pairs(n: int) -> list[tuple[int, int]]:
    return [(p, q) for p in range(n) for q in range(p + 1, n)]


def _sort(n: int, keys: Callable[[], list[Any]], exchange: Callable[[Any, int, int], None], descending: bool) -> None:
    """Bubble sort of n columns, one after the other."""
    for end in range(n - 1, 0, -1):
        for p in range(end):
            k = keys()
            exchange(k[p] < k[p + 1] if descending else k[p] > k[p + 1], p, p + 1)


def _half_per(x: Any, t: DType) -> Any:
    """1 / (2 x); about 0 it goes through 0 instead of to infinity."""
    small = EPSILON[t.bits]
    return e.typed(0.5, t) * x / (x * x + e.typed(small * small, t))


def _turn(n: int, above: dict[tuple[int, int], Any], t: DType) -> Any:
    """The rotation with a small skew matrix, of which these entries stand above the diagonal: its exponential to the second order."""
    rows: list[list[Any]] = [[e.typed(0, t)] * n for _ in range(n)]
    for (p, q), x in above.items():
        rows[p][q], rows[q][p] = x, -x
    m = Matrix(rows)
    return Matrix.identity(t, n) + m + (m @ m) * e.typed(0.5, t)


def _scaled(a: Matrix, t: DType) -> tuple[Matrix, Any]:
    """The matrix over the size of its greatest entry, and that, which is a constant."""
    most = stopped(max(*[abs(x) for x in a.entries]))
    most = select((most > 0) & (most < e.typed(float("inf"), t)), most, e.typed(1, t))
    return a / most, most


# -- singular values ---------------------------------------------------------------------------------------------------------


def _orthogonal_to(u: Matrix, t: DType) -> Any:
    """A unit vector in space at right angles to a unit vector."""
    x, y, z = u.entries
    zero = e.typed(0, t)
    flat = abs(z) > e.typed(0.5, t)
    v = Matrix.of([select(flat, z, -y), select(flat, zero, x), select(flat, -x, zero)], (3,))
    return v * rsqrt(v.norm_sqr())


def _unit(v: Matrix, otherwise: Matrix, small: Any, t: DType) -> Any:
    """v over its length; the other vector where it is too short for that."""
    square = v.norm_sqr()
    enough = square > small
    return select(_each(enough, v), v * rsqrt(select(enough, square, e.typed(1, t))), otherwise)


def _each(condition: Any, like: Matrix) -> Matrix:
    return like.like([condition] * len(like.entries))


def _factors(a: Matrix, t: DType) -> tuple[Matrix, Matrix]:
    """U and V of a matrix without derivative, by one-sided rotations: they make the columns of A V orthogonal."""
    n = a.n
    b, v = Work("b", a), Work("v", Matrix.identity(t, n))
    tolerance = e.typed(EPSILON[t.bits] ** 2, t)

    def sweep() -> Any:
        done = e.typed(1, dtypes.u1)
        for p, q in _pairs(n):
            x, y = b.column(p), b.column(q)
            alpha, beta, gamma = x.dot(x), y.dot(y), x.dot(y)
            done = done & (gamma * gamma <= tolerance * alpha * beta)
            c, s = _rotation(alpha, beta, gamma, t)
            b.rotate(p, q, c, s)
            v.rotate(p, q, c, s)
        return done

    def exchange(condition: Any, p: int, q: int) -> None:
        b.exchange_if(condition, p, q)
        v.exchange_if(condition, p, q)

    _sweeps(sweep)
    _sort(n, lambda: [b.column(j).norm_sqr() for j in range(n)], exchange, True)
    columns = [b.column(j) for j in range(n)]
    unit = Matrix.of([e.typed(int(k == 0), t) for k in range(n)], (n,))
    first = _unit(columns[0], unit, e.typed(0, t), t)
    if n == 2:
        second = Matrix.of([-first.entries[1], first.entries[0]], (2,))
        flip = second.dot(columns[1]) < 0  # singular values are not negative
        return Matrix.cols([first, select(_each(flip, second), -second, second)]), v.value()
    rest = columns[1] - first * first.dot(columns[1])
    second = _unit(rest, _orthogonal_to(first, t), e.typed(EPSILON[t.bits] ** 2, t) * columns[0].norm_sqr(), t)
    return Matrix.cols([first, second, first.cross(second)]), v.value()


def _change(x: Any) -> Any:
    """0, with the derivative of x."""
    return x - stopped(x)


def svd(A: Any, dt: Any = None) -> tuple[Matrix, Matrix, Matrix]:
    """The singular value decomposition A = U @ S @ V.transpose() of a matrix of 2 or 3 rows.

    Of 3 rows U and V are rotations, and the last singular value has the sign of A's determinant; of 2 rows no singular value is negative, and
    V is a rotation.

    Parameters
    ----------
    A : Matrix
    dt : optional
        The type of the results; `default_fp`.

    Returns
    -------
    U, S, V : Matrix
        S is diagonal, its values descend.
    """
    a, t = _prepared(A, dt, "svd", range(2, 4))
    a, most = _scaled(a, t)
    u, v = _factors(stopped(a), t)
    n = a.n
    for _ in range(STEPS):
        p = u.transpose() @ a @ v
        even, odd = {}, {}
        for i, j in _pairs(n):
            even[i, j] = _change(p[i, j] + p[j, i]) * _half_per(p[j, j] - p[i, i], t)
            odd[i, j] = _change(p[i, j] - p[j, i]) * _half_per(p[j, j] + p[i, i], t)
        u = u @ _turn(n, {k: even[k] + odd[k] for k in even}, t)
        v = v @ _turn(n, {k: even[k] - odd[k] for k in even}, t)
    p = u.transpose() @ a @ v
    return u, Matrix([[p[i, j] * most if i == j else _change(p[i, j]) * most for j in range(n)] for i in range(n)]), v


def polar_decompose(A: Any, dt: Any = None) -> tuple[Matrix, Matrix]:
    """The polar decomposition A = R @ S of a matrix of 2 or 3 rows: R is a rotation, S is symmetric.

    Of matrices that mirror, S is not positive. The derivative is the true one wherever R has one, also where singular values are equal.
    """
    whole, t = _prepared(A, dt, "polar_decompose", range(2, 4))
    a, _ = _scaled(whole, t)
    if a.n == 2:
        x, y = a[0, 0] + a[1, 1], a[1, 0] - a[0, 1]
        square = x * x + y * y
        one = e.typed(1, t)
        per = rsqrt(select(square > 0, square, one))
        c, s = select(square > 0, x * per, one), y * per
        r = Matrix([[c, -s], [s, c]])
    else:
        u, v = _factors(stopped(a), t)
        p = u.transpose() @ a @ v
        w = Matrix.identity(t, 3)  # R between the vectors of U and V
        for _ in range(STEPS):
            m = w.transpose() @ p
            w = w @ _turn(3, {(i, j): _change(m[i, j] - m[j, i]) * _half_per(m[i, i] + m[j, j], t) * 2 for i, j in _pairs(3)}, t)
        r = u @ w @ v.transpose()
    return r, r.transpose() @ whole


# -- eigenvalues ---------------------------------------------------------------------------------------------------------------


def sym_eig(A: Any, dt: Any = None) -> tuple[Matrix, Matrix]:
    """Eigenvalues and eigenvectors of a symmetric matrix of 2 to 6 rows.

    Parameters
    ----------
    A : Matrix
    dt : optional
        The type of the results; `default_fp`.

    Returns
    -------
    values : Vector
        They ascend.
    vectors : Matrix
        Its columns.
    """
    a, t = _prepared(A, dt, "sym_eig", range(2, 7))
    n = a.n
    a, most = _scaled(a, t)
    d, q = Work("d", stopped(a)), Work("q", Matrix.identity(t, n))

    def sweep() -> Any:
        done = e.typed(1, dtypes.u1)
        for i, j in _pairs(n):
            alpha, beta, gamma = d.entry(i, i), d.entry(j, j), d.entry(i, j)
            done = done & (abs(gamma) <= e.typed(EPSILON[t.bits], t))
            c, s = _rotation(alpha, beta, gamma, t)
            d.rotate(i, j, c, s)
            d.rotate_rows(i, j, c, s)
            q.rotate(i, j, c, s)
        return done

    values: list[Any] = []

    def exchange(condition: Any, i: int, j: int) -> None:
        values[i], values[j] = select(condition, values[j], values[i]), select(condition, values[i], values[j])
        q.exchange_if(condition, i, j)

    _sweeps(sweep)
    values += [d.entry(k, k) for k in range(n)]
    _sort(n, lambda: values, exchange, False)
    vectors = q.value()
    for _ in range(STEPS):
        p = vectors.transpose() @ a @ vectors
        vectors = vectors @ _turn(n, {(i, j): _change(p[i, j] + p[j, i]) * _half_per(p[j, j] - p[i, i], t) for i, j in _pairs(n)}, t)
    p = vectors.transpose() @ a @ vectors
    return Matrix.of([p[k, k] * most for k in range(n)], (n,)), vectors


def make_spd(A: Any, dt: Any = None) -> Any:
    """The positive semi-definite matrix next to a symmetric one of 2 to 6 rows: its negative eigenvalues become 0."""
    values, vectors = sym_eig(A, dt)
    return (vectors * Matrix([[max(x, e.typed(0, x.dtype)) for x in values.entries]] * values.n)) @ vectors.transpose()


def eig(A: Any, dt: Any = None) -> tuple[Matrix, Matrix]:
    """Eigenvalues and eigenvectors of a matrix of 2 rows, which may be complex.

    Returns
    -------
    values : Matrix
        In each row the real and the imaginary part of one; that with the greater real or imaginary part is the first.
    vectors : Matrix
        In each column one: real and imaginary part of the first entry, and of the second.
    """
    a, t = _prepared(A, dt, "eig", range(2, 3))
    zero, half = e.typed(0, t), e.typed(0.5, t)
    mean, apart = (a[0, 0] + a[1, 1]) * half, (a[0, 0] - a[1, 1]) * half
    square = apart * apart + a[0, 1] * a[1, 0]  # of half the difference of the eigenvalues
    real = square >= 0
    root = sqrt(abs(square))
    values, vectors = [], []
    for sign in (1, -1):
        over, beside = select(real, root * sign, zero), select(real, zero, root * sign)
        values.append(Matrix.of([mean + over, beside], (2,)))
        # A - value has rows at right angles to the vector: that with the longer one
        first = Matrix.of([a[0, 1], zero, over - apart, beside], (4,))
        second = Matrix.of([over + apart, beside, a[1, 0], zero], (4,))
        longer = select(_each(first.norm_sqr() >= second.norm_sqr(), first), first, second)
        unit = Matrix.of([e.typed(int(k == (0 if sign > 0 else 2)), t) for k in range(4)], (4,))
        vectors.append(_unit(longer, unit, zero, t))
    return Matrix.rows(values), Matrix.cols(vectors)


# -- equations -----------------------------------------------------------------------------------------------------------------


def solve(A: Any, b: Any, dt: Any = None) -> Matrix:
    """The vector x with A @ x == b, of a matrix of 1 to 6 rows, by elimination with pivots. In debug mode a singular matrix is an error."""
    a, t = _prepared(A, dt, "solve", range(1, 7))
    n = a.n
    if not isinstance(b, Matrix) or b.shape != (n,):
        raise TypeError_(f"solve: a vector of {n} entries is wanted, not {e.describe(b)}")
    rows = [[a[i, j] for j in range(n)] + [e.typed(b.entries[i], t)] for i in range(n)]
    for k in range(n):
        for i in range(k + 1, n):  # the greatest pivot comes up
            better = abs(rows[i][k]) > abs(rows[k][k])
            rows[k], rows[i] = ([select(better, y, x) for x, y in zip(rows[k], rows[i])], [select(better, x, y) for x, y in zip(rows[k], rows[i])])
        if cfg.debug:
            current().builder.assert_((rows[k][k] != 0).value, "Matrix is singular in linear solve.")
        for i in range(k + 1, n):
            factor = rows[i][k] / rows[k][k]
            rows[i] = [y if j <= k else y - factor * x for j, (x, y) in enumerate(zip(rows[k], rows[i]))]
    found: list[Any] = [None] * n
    for k in reversed(range(n)):
        rest = [rows[k][j] * found[j] for j in range(k + 1, n)]
        found[k] = (rows[k][n] - total(rest) if rest else rows[k][n]) / rows[k][k]
    return Matrix.of(found, (n,))


__all__ = ["eig", "make_spd", "polar_decompose", "solve", "svd", "sym_eig"]
