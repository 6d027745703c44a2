"""Run-time scalars: their operators append to the kernel under construction."""

from __future__ import annotations

import math
import numbers
from typing import Any, Callable

import numpy as np

from . import dtypes
from .build import OP, current
from .dtypes import DType, f32, i32, promote, u1
from .errors import TypeError_
from .operators import Operators
from .runtime import cfg


class Expr(Operators):
    """A scalar that the kernel computes: a value of the builder, and its type."""

    __slots__ = ("value", "dtype")

    def __init__(self, value: int, dtype: DType) -> None:
        self.value, self.dtype = value, dtype

    def __repr__(self) -> str:
        return f"<run-time {self.dtype}>"

    def __bool__(self) -> bool:
        raise TypeError_("a run-time value has no truth value at compile time: use `if` in a @kernel or @func, or `select`")

    def __index__(self) -> int:
        raise TypeError_("a run-time value cannot be an index of a Python container: use `static` loops for these")

    def __iter__(self) -> Any:
        raise TypeError_(f"a scalar ({self.dtype}) cannot be unpacked")

    def operate(self, symbol: str, x: Any, y: Any) -> Any:
        return binary(symbol, x, y)

    def __neg__(self) -> Any:
        return unary("neg", as_number(self))

    def __pos__(self) -> Any:
        return self

    def __invert__(self) -> Any:
        if self.dtype.is_float:
            raise TypeError_(f"`~` takes integers, not {self.dtype}")
        return unary("not", self)

    def __abs__(self) -> Any:
        return self if self.dtype.kind in "bu" else unary("abs", self)


def is_scalar(x: Any) -> bool:
    """Whether it is a scalar: of run time, or a number."""
    return isinstance(x, (Expr, numbers.Number, np.generic))


def typed(x: Any, dtype: DType) -> Expr:
    """A number as a value of a type."""
    if isinstance(x, Expr):
        return cast(x, dtype)
    b = current()
    if not dtype.is_float:
        x = int(bool(x)) if dtype is u1 else int(math.trunc(x)) if math.isfinite(x) else 0
    key = (dtype.code, repr(x))
    if key not in b.constants:
        b.constants[key] = b.builder.number(dtype.code, float(x) if dtype.is_float else x)
    return Expr(b.constants[key], dtype)


def assigned(x: Any, dtype: DType) -> Expr:
    """A number as a value of the type of what it is assigned to."""
    if isinstance(x, numbers.Integral) and not dtype.is_float and not dtype.least() <= int(x) <= dtype.most():
        type_of(x)  # refuses what the default type does not hold, either
    return typed(x, dtype)


def type_of(x: Any) -> DType:
    """The type of a scalar; Python's numbers have the default types."""
    if isinstance(x, Expr):
        return x.dtype
    if isinstance(x, (bool, np.bool_)):
        return u1
    if isinstance(x, numbers.Integral):
        if not cfg.default_ip.least() <= int(x) <= cfg.default_ip.most():
            raise TypeError_(f"Integer literal {x} exceeded the range of default_ip: {cfg.default_ip}, please specify the dtype via e.g. "
                             f"`rg.u64({x})` or set a different `default_ip` in `rg.init()`")
        return cfg.default_ip
    if isinstance(x, numbers.Real):
        return cfg.default_fp
    raise TypeError_(f"a scalar is wanted, not {describe(x)}")


def describe(x: Any) -> str:
    """What it is, for messages."""
    shape = getattr(x, "shape", None)
    return f"{type(x).__name__} of shape {tuple(shape)}" if isinstance(shape, (tuple, list)) else x.__name__ if isinstance(x, type) else type(x).__name__


def lift(x: Any) -> Expr:
    """A scalar as a value of the kernel."""
    return x if isinstance(x, Expr) else typed(x, type_of(x))


def as_number(x: Any) -> Any:
    """The same; truth values as integers."""
    return cast(x, cfg.default_ip) if isinstance(x, Expr) and x.dtype is u1 else int(x) if isinstance(x, bool) else x


def cast(x: Expr, dtype: DType) -> Expr:
    """Another type for the same number."""
    return x if x.dtype is dtype else Expr(current().builder.cast(dtype.code, x.value), dtype)


def constant(x: Expr) -> Expr:
    """The same number, without derivative: its bits were an integer on the way, which has none."""
    if not x.dtype.is_float:
        return x
    b, bits = current().builder, {16: dtypes.u16, 32: dtypes.u32, 64: dtypes.u64}[x.dtype.bits]
    return Expr(b.bitcast(x.dtype.code, b.bitcast(bits.code, x.value)), x.dtype)


def truth(x: Any) -> Expr:
    """Whether a scalar is not 0."""
    x = lift(x)
    return x if x.dtype is u1 else cast(x, u1)


def unary(op: str, x: Any) -> Expr:
    """An operation of one operand, of its type."""
    x = lift(x)
    return Expr(current().builder.op(OP[op], x.value), x.dtype)


def apply(op: str, dtype: DType, *operands: Any) -> Expr:
    """An operation on operands converted to a type, of that type."""
    return Expr(current().builder.op(OP[op], *(typed(x, dtype).value for x in operands)), dtype)


def select(c: Any, x: Any, y: Any) -> Any:
    """x where c is not 0, else y."""
    if not isinstance(c, Expr):
        return x if c else y
    t = promote(type_of(x), type_of(y))
    return Expr(current().builder.op(OP["select"], truth(c).value, typed(x, t).value, typed(y, t).value), t)


# -- operators ---------------------------------------------------------------------------------------------------------


def _arithmetic(op: str) -> Callable[[Any, Any], Expr]:
    def build(x: Any, y: Any) -> Expr:
        x, y = as_number(x), as_number(y)
        return _watched(op, promote(type_of(x), type_of(y)), x, y)

    return build


def _watched(op: str, t: DType, x: Any, y: Any) -> Expr:
    """An operation on operands converted to a type; in debug mode the kernel says where integers overflow."""
    first, second = typed(x, t), typed(y, t)
    result = apply(op, t, first, second)
    if cfg.debug and not t.is_float:
        from .overflow import report

        report(op, first, second, result)
    return result


def _divide(x: Any, y: Any) -> Expr:
    x, y = as_number(x), as_number(y)
    a, b = type_of(x), type_of(y)
    t = promote(a, b)
    if not t.is_float:
        t = cfg.default_fp
    elif t is dtypes.f16 and a.is_float != b.is_float:
        t = f32
    return apply("div", t, x, y)


def _bits(op: str) -> Callable[[Any, Any], Expr]:
    def build(x: Any, y: Any) -> Expr:
        t = promote(type_of(x), type_of(y))
        if t.is_float:
            raise TypeError_(f"`{SYMBOLS[op]}` takes integers, not {type_of(x)} and {type_of(y)}")
        if t is u1 and op in ("shl", "shr"):
            t = i32
        return _watched(op, t, x, y)

    return build


def _compare(op: str) -> Callable[[Any, Any], Expr]:
    def build(x: Any, y: Any) -> Expr:
        x, y = as_number(x), as_number(y)
        t = promote(type_of(x), type_of(y))
        return Expr(current().builder.op(OP[op], typed(x, t).value, typed(y, t).value), u1)

    return build


def _known(x: Any) -> Any:
    """The number that a value is; None: it is known at run time only."""
    if not isinstance(x, Expr):
        return x
    bits = None if x.dtype.is_float else current().builder.constant(x.value)
    return None if bits is None else bits - (1 << 64) if x.dtype.kind == "i" and bits >> 63 else bits


def _product(x: Any, n: int) -> Any:
    """x to the n > 0, by squares."""
    result: Any = None
    while n:
        if n & 1:
            result = x if result is None else result * x
        n >>= 1
        x = x * x if n else x
    return result


def _integer_power(x: Expr, n: Expr) -> Expr:
    """An integer to an integer of run time, by squares in a loop; negative exponents truncate."""
    b = current()
    build = b.builder
    n = cast(n, dtypes.i64)
    base, result, left = (b.var(name, t) for name, t in (("base", x.dtype), ("power", x.dtype), ("exponent", n.dtype)))
    build.set(base, x.value)
    build.set(result, typed(1, x.dtype).value)
    build.set(left, n.value)
    label = build.loop()
    rest = Expr(build.get(left), n.dtype)
    build.leave_if(binary("<=", rest, 0).value, label)
    square = Expr(build.get(base), x.dtype)
    power = Expr(build.get(result), x.dtype)
    build.set(result, select(binary("!=", rest & 1, 0), apply("mul", x.dtype, power, square), power).value)
    build.set(base, apply("mul", x.dtype, square, square).value)
    build.set(left, (rest >> 1).value)
    build.end()
    inverse = select(x == 1, 1, select(x == -1, 1 - 2 * (n & 1), 0))
    return cast(select(n < 0, inverse, Expr(build.get(result), x.dtype)), x.dtype)


def _power(x: Any, y: Any) -> Any:
    x, y = as_number(x), as_number(y)
    n = _known(y)
    if isinstance(n, float) and n.is_integer() and abs(n) <= 32 and isinstance(x, Expr) and x.dtype.is_float and y is n:
        t = promote(x.dtype, type_of(y))
        x, n = cast(x, t), int(n)
    if type_of(y).is_float and not isinstance(n, int):
        return apply("pow", promote(type_of(x), type_of(y)), x, y)
    base = lift(x)
    if n is None:
        return apply("pow", base.dtype, base, y) if base.dtype.is_float else _integer_power(base, lift(y))
    if n == 0:
        return typed(1, base.dtype)
    if n > 0:
        return _product(base, n) if n <= 64 or not base.dtype.is_float else apply("pow", base.dtype, base, n)
    if base.dtype.is_float:
        return apply("div", base.dtype, 1.0, _product(base, -n)) if n >= -64 else apply("pow", base.dtype, base, n)
    return _integer_power(base, typed(n, cfg.default_ip))


SYMBOLS = {"and": "&", "or": "|", "xor": "^", "shl": "<<", "shr": ">>"}
_binary: dict[str, Callable[[Any, Any], Any]] = {
    "+": _arithmetic("add"), "-": _arithmetic("sub"), "*": _arithmetic("mul"), "/": _divide, "//": _arithmetic("floordiv"),
    "%": _arithmetic("floormod"), "**": _power, "&": _bits("and"), "|": _bits("or"), "^": _bits("xor"), "<<": _bits("shl"), ">>": _bits("shr"),
    "<": _compare("lt"), "<=": _compare("le"), ">": _compare("gt"), ">=": _compare("ge"), "==": _compare("eq"), "!=": _compare("ne"),
}


def binary(symbol: str, x: Any, y: Any) -> Any:
    """An operator of two scalars, of which one is of run time."""
    if not is_scalar(x) or not is_scalar(y):
        other = y if is_scalar(x) else x
        if isinstance(other, Expr) or not hasattr(other, "entries"):
            raise TypeError_(f"`{symbol}` cannot be applied to {describe(x)} and {describe(y)}")
        return NotImplemented
    return _binary[symbol](x, y)
