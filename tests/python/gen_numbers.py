"""Numbers of the oracle of generated kernels: typed scalars with a derivative along one direction, vectors of these; plain Python alone.

A run may be disturbed: each inexact result is then changed by a small relative amount, and what comes out tells how much rounding may
change it. Where a result jumps, has no derivative or grows without bound, `Undefined` ends the run: such programs prove nothing.
"""

import math
import struct
from types import SimpleNamespace


class Undefined(Exception):
    """The program's value or derivative is not defined, or not reliable, where it is evaluated."""


class Invalid(Exception):
    """The program is not one that kernels can be: the generator, or the reducer, made a mistake."""


class Type:
    """A scalar type; a call is a cast."""

    def __init__(self, name, kind, bits):
        self.name, self.kind, self.bits = name, kind, bits

    def __repr__(self):
        return self.name

    def __call__(self, x):
        return entrywise(lambda e: cast(e, self), x)


u1 = Type("u1", "b", 1)
u8, i32, i64, f32, f64 = Type("u8", "u", 8), Type("i32", "i", 32), Type("i64", "i", 64), Type("f32", "f", 32), Type("f64", "f", 64)
u32 = Type("u32", "u", 32)
SINGLE, DOUBLE = 1e-3, 1e-6  # how far from a jump is far enough
MOST = 1e5  # greater values are wild


class World:
    """What holds for a whole run. `shift`: how far along the direction it begins."""

    def __init__(self, default_fp=f64, default_ip=i32, noise=0.0, phase=0.0, shift=0.0):
        self.default_fp, self.default_ip, self.noise, self.phase, self.shift = default_fp, default_ip, noise, phase, shift


world = World()


def margin(t):
    """How far from a jump a value of the type has to be."""
    return SINGLE if t is f32 else DOUBLE


class Scalar:
    """A value of run time: its type, its value, its derivative. `known`: any arithmetic gives just this value, whatever is contracted.
    `product`: of floats, which may be contracted with a sum."""

    __slots__ = ("t", "v", "d", "known", "product")

    def __init__(self, t, v, d=0.0, known=False, product=False):
        self.t, self.v, self.d, self.known, self.product = t, v, d, known, product

    def __repr__(self):
        return f"{self.t}({self.v!r}, {self.d!r})"

    def __bool__(self):
        raise Invalid("a truth value of run time in Python")

    def __neg__(self):
        x = number(self)
        return Scalar(x.t, -x.v, -x.d, x.known, x.product) if x.t.kind == "f" else integer(x.t, -x.v)

    def __invert__(self):
        return integer(self.t, ~self.v)

    def __abs__(self):
        if self.t.kind != "f":
            return integer(self.t, abs(self.v))
        apart(self.t, self, zero(self.t))
        return self if self.v > 0 else -self


def short(v):
    """Whether a number is a small multiple of 1/256: sums and products of such are exact."""
    return abs(v) < 1e4 and v * 256 == math.floor(v * 256)


def exact(x):
    """Whether a value is surely the same in any arithmetic, and depends on nothing."""
    return x.known and x.d == 0 and short(x.v)


def zero(t):
    return Scalar(t, 0.0, 0.0, True)


def apart(t, x, y):
    """Both are equal for sure, or far from equal. Numbers that are equal without being exact are one constant, as a rule."""
    if exact(x) and exact(y) or not exact(x) and not exact(y) and x.v == y.v and x.d == y.d == 0:
        return
    if not abs(x.v - y.v) > margin(t) * (1 + abs(x.v) + abs(y.v)):
        raise Undefined("a comparison of numbers that are nearly equal")


def smooth(t, x, distance):
    """No jump is nearer than the margin."""
    if not exact(x) and not distance > margin(t) * (1 + abs(x.v)):
        raise Undefined("a jump is near")


def domain(holds):
    """An operand is inside of what a function is smooth on."""
    if not holds:
        raise Undefined("an operand near the edge of a domain")


def real(t, v, d=0.0, known=False):
    """A float, as its type rounds it."""
    if not (abs(v) < MOST and abs(d) < MOST):
        raise Undefined("a wild value")
    made = Scalar(t, v, d, known)
    if world.noise:
        if not exact(made):  # equal numbers stay equal
            made.v = v * (1 + world.noise * math.sin(1e4 * v + world.phase))
            made.d = d * (1 + world.noise * math.sin(1e4 * d + 4e3 * v + world.phase))
    elif t is f32:
        made.v, made.d = struct.unpack("ff", struct.pack("ff", v, d))
    return made


def integer(t, v):
    """An integer that wraps at its type's width."""
    if t.kind == "b":
        return Scalar(t, int(v) & 1)
    v &= (1 << t.bits) - 1
    return Scalar(t, v - (1 << t.bits) if t.kind == "i" and v >> t.bits - 1 else v)


def truth(holds):
    """A truth value."""
    return Scalar(u1, int(holds))


def type_of(x):
    """A scalar's type; Python's own numbers have the default types."""
    if isinstance(x, Scalar):
        return x.t
    if isinstance(x, bool):
        return u1
    if isinstance(x, int):
        return world.default_ip
    if isinstance(x, float):
        return world.default_fp
    raise Invalid(f"no scalar: {x!r}")


def promote(a, b):
    """Floats before integers, then the wider, then the unsigned one."""
    if a is b:
        return a
    if (a.kind == "f") != (b.kind == "f"):
        return a if a.kind == "f" else b
    if a.bits != b.bits:
        return a if a.bits > b.bits else b
    return a if a.kind == "u" else b


def cast(x, t):
    """The same number in another type."""
    if not isinstance(x, Scalar):
        if t.kind == "f":
            return Scalar(t, struct.unpack("f", struct.pack("f", x))[0] if t is f32 else float(x), 0.0, short(x))
        x = Scalar(f64, x, 0.0, short(x)) if isinstance(x, float) else Scalar(i64, int(x))
    if x.t is t:
        return x
    if t.kind == "f":
        return real(t, float(x.v), x.d, x.t.kind != "f" or x.known)
    if x.t.kind != "f":
        return truth(x.v != 0) if t is u1 else integer(t, x.v)
    if t is u1:
        apart(x.t, x, zero(x.t))
        return truth(x.v != 0)
    smooth(x.t, x, abs(x.v - round(x.v)))
    domain(abs(x.v) < 2.0**30 and (t.kind == "i" or 0 <= x.v <= 255))
    return integer(t, int(x.v))


def number(x):
    """Truth values become integers."""
    return cast(x, world.default_ip) if type_of(x) is u1 else x if isinstance(x, Scalar) else cast(x, type_of(x))


def both(x, y):
    """Two operands of an arithmetic operator in their common type."""
    x, y = number(x), number(y)
    t = promote(x.t, y.t)
    return t, cast(x, t), cast(y, t)


def unrounded(x, y):
    """Two operands of a sum, of which one may be a product that arithmetic does not round: equal products need not cancel."""
    if not world.noise or x.t.kind != "f" or not (x.product or y.product):
        return x, y
    p = x if x.product else y
    if not exact(p):
        p = Scalar(p.t, p.v * (1 + world.noise * math.cos(world.phase)), p.d * (1 + world.noise * math.cos(2 * world.phase)), p.known)
    return (p, y) if x.product else (x, p)


def add(x, y):
    t, x, y = both(x, y)
    x, y = unrounded(x, y)
    return real(t, x.v + y.v, x.d + y.d, x.known and y.known) if t.kind == "f" else integer(t, x.v + y.v)


def sub(x, y):
    t, x, y = both(x, y)
    x, y = unrounded(x, y)
    return real(t, x.v - y.v, x.d - y.d, x.known and y.known) if t.kind == "f" else integer(t, x.v - y.v)


def mul(x, y):
    t, x, y = both(x, y)
    if t.kind != "f":
        return integer(t, x.v * y.v)
    made = real(t, x.v * y.v, x.d * y.v + x.v * y.d, x.known and y.known)
    made.product = True
    return made


def div(x, y):
    t, x, y = both(x, y)
    if t.kind != "f":
        t = world.default_fp
        x, y = cast(x, t), cast(y, t)
    domain(abs(y.v) > 0.02)
    return real(t, x.v / y.v, (x.d - x.v / y.v * y.d) / y.v, x.known and y.known and short(x.v / y.v))


def quotient(t, x, y):
    """floor(x / y) of floats, and nothing near the next integer."""
    domain(abs(y.v) > 0.02)
    q = x.v / y.v
    if not (exact(x) and exact(y)):
        smooth(t, Scalar(t, q), abs(q - round(q)))
    return math.floor(q)


def floordiv(x, y):
    t, x, y = both(x, y)
    if t.kind == "f":
        return real(t, float(quotient(t, x, y)), 0.0, True)
    domain(y.v != 0)
    return integer(t, x.v // y.v)


def mod(x, y):
    t, x, y = both(x, y)
    if t.kind == "f":
        q = quotient(t, x, y)
        return real(t, x.v - q * y.v, x.d - q * y.d, x.known and y.known)
    domain(y.v != 0)
    return integer(t, x.v % y.v)


def power(x, y):
    x, y = number(x), number(y)
    if y.t.kind != "f":
        if x.t.kind != "f":
            domain(0 <= y.v < 40)
            return integer(x.t, x.v**y.v)
        domain(abs(y.v) < 40 and (y.v >= 0 or abs(x.v) > 0.05))
        n = y.v
        return real(x.t, x.v**n, n * x.v ** (n - 1) * x.d if n else 0.0, n == 0 or n > 0 and x.known)
    t, x, y = both(x, y)
    domain(x.v > 0.05 and abs(y.v) < 40)
    v = x.v**y.v
    return real(t, v, y.v * x.v ** (y.v - 1) * x.d + v * math.log(x.v) * y.d)


def bits(f):
    """An operator of integers."""

    def apply(x, y):
        a, b = type_of(x), type_of(y)
        t = promote(a, b)
        if t.kind == "f":
            raise Invalid("bits of floats")
        return integer(t, f(cast(x, t).v, cast(y, t).v))

    return apply


def shift(f):
    """A shift, by less than the width."""

    def apply(x, y):
        t, x, y = both(x, y)
        domain(t.kind != "f" and 0 <= y.v < t.bits)
        return integer(t, f(x.v, y.v))

    return apply


def compare(f):
    """A comparison in the common type."""

    def apply(x, y):
        t, x, y = both(x, y)
        if t.kind == "f":
            apart(t, x, y)
        return truth(f(x.v, y.v))

    return apply


BINARY = {
    "+": add, "-": sub, "*": mul, "/": div, "//": floordiv, "%": mod, "**": power, "&": bits(lambda x, y: x & y), "|": bits(lambda x, y: x | y),
    "^": bits(lambda x, y: x ^ y), "<<": shift(lambda x, y: x << y), ">>": shift(lambda x, y: x >> y), "<": compare(lambda x, y: x < y),
    "<=": compare(lambda x, y: x <= y), ">": compare(lambda x, y: x > y), ">=": compare(lambda x, y: x >= y), "==": compare(lambda x, y: x == y),
    "!=": compare(lambda x, y: x != y),
}
NAMES = {"+": "add", "-": "sub", "*": "mul", "/": "truediv", "//": "floordiv", "%": "mod", "**": "pow", "&": "and", "|": "or", "^": "xor",
         "<<": "lshift", ">>": "rshift", "<": "lt", "<=": "le", ">": "gt", ">=": "ge", "==": "eq", "!=": "ne"}


def is_scalar(x):
    """Whether it is a number of either kind."""
    return isinstance(x, (Scalar, int, float))


# -- vectors -------------------------------------------------------------------------------------------------------------


class Vector:
    """A vector or matrix: entries row by row, of one type where one of them is of run time."""

    def __init__(self, values, dt=None):
        rows = [list(r.entries) if isinstance(r, Vector) else list(r) if isinstance(r, (list, tuple)) else None for r in values]
        nested = rows[0] is not None
        entries = [e for r in rows for e in r] if nested else list(values)
        self.set(entries, (len(rows), len(rows[0])) if nested else (len(rows),))
        if dt is not None:
            self.entries = [cast(e, dt) for e in self.entries]

    @classmethod
    def of(cls, entries, shape):
        """Entries in a shape."""
        made = cls.__new__(cls)
        made.set(entries, shape)
        return made

    def set(self, entries, shape):
        if any(isinstance(e, Scalar) for e in entries):
            t = type_of(entries[0])
            for e in entries[1:]:
                t = promote(t, type_of(e))
            entries = [cast(e, t) for e in entries]
        self.entries, self.shape = list(entries), shape

    @staticmethod
    def zero(t, n):
        return Vector.of([cast(0, t)] * n, (n,))

    @property
    def n(self):
        return self.shape[0]

    @property
    def m(self):
        return self.shape[1] if len(self.shape) == 2 else 1

    def __len__(self):
        return self.shape[0]

    def __iter__(self):
        return (self.item((k,)) for k in range(self.n))

    def position(self, index):
        """The number of an entry."""
        at = 0
        for i, extent in zip(index, self.shape):
            i = i.v if isinstance(i, Scalar) else i
            if not 0 <= i < extent:
                raise Invalid(f"entry {i} of {extent}")
            at = at * extent + i
        return at

    def item(self, index):
        """An entry, or a row."""
        if len(index) == len(self.shape):
            return self.entries[self.position(index)]
        first = self.position(index) * self.m
        return Vector.of(self.entries[first : first + self.m], (self.m,))

    def __neg__(self):
        return entrywise(lambda e: -e, self)

    def __abs__(self):
        return entrywise(abs, self)

    def __matmul__(self, other):
        columns = [other.entries[j :: other.m] for j in range(other.m)]
        rows = [self.entries[i * self.m : (i + 1) * self.m] for i in range(self.n)]
        return Vector.of([total([a * b for a, b in zip(r, c)]) for r in rows for c in columns], (self.n,) + other.shape[1:])

    # what vectors offer by name

    def sum(self):
        return total(self.entries)

    def min(self):
        return minimum(*self.entries)

    def max(self):
        return maximum(*self.entries)

    def norm_sqr(self):
        return total([e * e for e in self.entries])

    def norm(self, eps=0):
        return sqrt(self.norm_sqr() + eps)

    def normalized(self, eps=0):
        return self / (self.norm() + eps)

    def dot(self, other):
        return (self * other).sum()

    def cross(self, other):
        a, b = self.entries, other.entries
        if len(a) == 2:
            return a[0] * b[1] - a[1] * b[0]
        return Vector.of([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]], (3,))

    def outer_product(self, other):
        return Vector.of([a * b for a in self.entries for b in other.entries], (self.n, other.n))

    def transpose(self):
        return Vector.of([self.entries[i * self.m + j] for j in range(self.m) for i in range(self.n)], (self.m, self.n))

    def trace(self):
        return total([self.entries[i * self.m + i] for i in range(self.n)])

    def determinant(self):
        a = self.entries
        if self.n == 2:
            return a[0] * a[3] - a[1] * a[2]
        return total([a[0] * (a[4] * a[8] - a[5] * a[7]), a[1] * (a[5] * a[6] - a[3] * a[8]), a[2] * (a[3] * a[7] - a[4] * a[6])])

    def any(self):
        return truth(any(cast(e, u1).v for e in self.entries))

    def all(self):
        return truth(all([cast(e, u1).v for e in self.entries]))

    def cast(self, t):
        return t(self)


def total(values):
    """The sum, from the first on."""
    result = values[0]
    for v in values[1:]:
        result = result + v
    return result


def entrywise(f, *args):
    """f of scalars, or of each entry of vectors."""
    like = next((a for a in args if isinstance(a, Vector)), None)
    if like is None:
        return f(*args)
    if any(isinstance(a, Vector) and a.shape != like.shape for a in args):
        raise Invalid("vectors of different shapes")
    return Vector.of([f(*(a.entries[k] if isinstance(a, Vector) else a for a in args)) for k in range(len(like.entries))], like.shape)


def _operators():
    for symbol, name in NAMES.items():
        f = BINARY[symbol]

        def scalars(x, y, f=f):
            return f(x, y) if is_scalar(y) else NotImplemented

        def reflected(x, y, f=f):
            return f(y, x) if is_scalar(y) else NotImplemented

        def both_known(x, y, f=f, name=name):
            if isinstance(x, Scalar) or isinstance(y, Scalar):
                return f(x, y)
            return getattr(__import__("operator"), name if name not in ("and", "or") else name + "_")(x, y)

        setattr(Scalar, f"__{name}__", scalars)
        setattr(Vector, f"__{name}__", lambda x, y, g=both_known: entrywise(g, x, y))
        if name not in ("lt", "le", "gt", "ge", "eq", "ne"):
            setattr(Scalar, f"__r{name}__", reflected)
            setattr(Vector, f"__r{name}__", lambda x, y, g=both_known: entrywise(g, y, x))
    Scalar.__hash__ = Vector.__hash__ = object.__hash__


_operators()


# -- functions -----------------------------------------------------------------------------------------------------------


def _unary(f, slope, holds=None, known=None, promotes=False):
    """A function of a float: its value, its derivative from operand and value, and where it is smooth."""

    def scalar(x):
        if not isinstance(x, Scalar):
            return (known or f)(x)
        if x.t.kind != "f":
            if not promotes:
                raise Invalid("an integer where a float is wanted")
            x = cast(x, world.default_fp)
        domain(holds is None or holds(x.v))
        v = f(x.v)
        return real(x.t, v, slope(x.v, v) * x.d)

    return lambda x: entrywise(scalar, x)


sin = _unary(math.sin, lambda x, v: math.cos(x), lambda x: abs(x) < 1e3)
cos = _unary(math.cos, lambda x, v: -math.sin(x), lambda x: abs(x) < 1e3)
tan = _unary(math.tan, lambda x, v: 1 + v * v, lambda x: abs(x) < 1e3 and abs(math.cos(x)) > 0.1)
asin = _unary(math.asin, lambda x, v: 1 / math.sqrt(1 - x * x), lambda x: abs(x) < 0.97)
acos = _unary(math.acos, lambda x, v: -1 / math.sqrt(1 - x * x), lambda x: abs(x) < 0.97)
atan = _unary(math.atan, lambda x, v: 1 / (1 + x * x))
tanh = _unary(math.tanh, lambda x, v: 1 - v * v)
exp = _unary(math.exp, lambda x, v: v, lambda x: x < 11)
log = _unary(math.log, lambda x, v: 1 / x, lambda x: x > 0.02)
sqrt = _unary(math.sqrt, lambda x, v: 0.5 / v, lambda x: x > 0.01, promotes=True)
rsqrt = _unary(lambda x: 1 / math.sqrt(x), lambda x, v: -0.5 * v / x, lambda x: x > 0.01, promotes=True)


def _rounding(f, distance):
    def scalar(x, dtype):
        if not isinstance(x, Scalar):
            return float(f(x)) if dtype is None else cast(float(f(x)), dtype)
        if x.t.kind != "f":
            raise Invalid("an integer where a float is wanted")
        smooth(x.t, x, distance(x.v))
        result = real(x.t, float(f(x.v)), 0.0, True)
        return result if dtype is None else cast(result, dtype)

    return lambda x, dtype=None: entrywise(lambda e: scalar(e, dtype), x)


floor = _rounding(math.floor, lambda x: abs(x - round(x)))
ceil = _rounding(math.ceil, lambda x: abs(x - round(x)))
rounded = _rounding(round, lambda x: abs(x - math.floor(x) - 0.5))


def _atan2(y, x):
    if not isinstance(x, Scalar) and not isinstance(y, Scalar):
        return math.atan2(y, x)
    t = promote(type_of(y), type_of(x))
    t = t if t.kind == "f" else world.default_fp
    y, x = cast(y, t), cast(x, t)
    square = x.v * x.v + y.v * y.v
    domain(square > 0.01 and (x.v > 0.01 or abs(y.v) > 0.01))
    return real(t, math.atan2(y.v, x.v), (x.v * y.d - y.v * x.d) / square)


def atan2(y, x):
    return entrywise(_atan2, y, x)


def _extreme(choose):
    def two(x, y):
        if not isinstance(x, Scalar) and not isinstance(y, Scalar):
            return x if choose(x, y) else y
        t, x, y = both(x, y)
        if t.kind == "f" and (x.v, x.d) != (y.v, y.d):
            apart(t, x, y)
        return x if choose(x.v, y.v) else y

    def extreme(*args):
        result = args[0]
        for a in args[1:]:
            result = entrywise(two, result, a)
        return result

    return extreme


minimum = _extreme(lambda x, y: x < y)
maximum = _extreme(lambda x, y: x > y)


def absolute(x):
    return entrywise(abs, x)


def pow_(x, y):
    return x**y


def _select(c, x, y):
    if not isinstance(c, Scalar):
        return x if c else y
    t = promote(type_of(x), type_of(y))
    return cast(x if cast(c, u1).v else y, t)


def select(c, x, y):
    return entrywise(_select, c, x, y)


def _smoothstep(lo, hi, x):
    t = maximum(0.0, minimum(1.0, (x - lo) / (hi - lo)))
    return t * t * (3.0 - 2.0 * t)


def _sign(x):
    if not isinstance(x, Scalar):
        return float((x > 0) - (x < 0))
    apart(x.t, x, zero(x.t))
    return real(x.t, float((x.v > 0) - (x.v < 0)), 0.0, True)


math_functions = SimpleNamespace(
    clamp=lambda x, lo, hi: minimum(hi, maximum(lo, x)), mix=lambda x, y, a: x * (1.0 - a) + y * a, smoothstep=_smoothstep,
    fract=lambda x: x - floor(x), sign=lambda x: entrywise(_sign, x), dot=lambda x, y: x.dot(y), length=lambda x: x.norm())


def stop_grad(x):
    return entrywise(lambda e: Scalar(e.t, e.v, 0.0, e.known) if isinstance(e, Scalar) else e, x)
