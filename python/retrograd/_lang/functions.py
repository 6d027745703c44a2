"""Functions of scalars and vectors, in kernels and on the host."""

from __future__ import annotations

import builtins
import math
from typing import Any, Callable

from . import dtypes
from . import expr as e
from .build import OP, building, current
from .dtypes import DType, promote
from .errors import TypeError_
from .expr import Expr
from .runtime import cfg


def elementwise(f: Callable[..., Any], *args: Any) -> Any:
    """f of scalars; of vectors and matrices it is taken for each entry, and scalars are used for all."""
    from .matrix import Matrix

    like = next((a for a in args if isinstance(a, Matrix)), None)
    if like is None:
        return f(*args)
    for a in args:
        if isinstance(a, Matrix) and a.shape != like.shape:
            raise TypeError_(f"shapes {like.shape} and {a.shape} do not fit")
    return like.like([f(*(a.entries[k] if isinstance(a, Matrix) else a for a in args)) for k in builtins.range(len(like.entries))])


def _is_run_time(*args: Any) -> bool:
    return any(isinstance(a, Expr) for a in args)


def _float(x: Expr, name: str) -> Expr:
    if not x.dtype.is_float:
        raise TypeError_(f"`{name}` takes a float, not {x.dtype}: convert it, as in {name}(float(x))")
    return x


# -- one operand, floats ------------------------------------------------------------------------------------------------


def float_function(name: str, op: str, host: Callable[[float], float], promotes: bool = False) -> Callable[[Any], Any]:
    """A function of a float; integers are refused, or taken as the default float type."""

    def scalar(x: Any) -> Any:
        if not isinstance(x, Expr):
            return host(x)
        return e.unary(op, e.cast(x, cfg.default_fp) if promotes and not x.dtype.is_float else _float(x, name))

    def function(x: Any) -> Any:
        return elementwise(scalar, x)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{name}(x), elementwise."
    return function


def _guarded(f: Callable[[float], float], domain: float = math.nan) -> Callable[[float], float]:
    def host(x: float) -> float:
        try:
            return f(x)
        except (ValueError, ZeroDivisionError):
            return domain
        except OverflowError:
            return math.inf

    return host


def _host_log(x: float) -> float:
    return -math.inf if x == 0 else math.log(x) if x > 0 else math.nan


sin = float_function("sin", "sin", _guarded(math.sin))
cos = float_function("cos", "cos", _guarded(math.cos))
tan = float_function("tan", "tan", _guarded(math.tan))
asin = float_function("asin", "asin", _guarded(math.asin))
acos = float_function("acos", "acos", _guarded(math.acos))
atan = float_function("atan", "atan", math.atan)
sinh = float_function("sinh", "sinh", _guarded(math.sinh))
cosh = float_function("cosh", "cosh", _guarded(math.cosh))
tanh = float_function("tanh", "tanh", math.tanh)
asinh = float_function("asinh", "asinh", math.asinh)
acosh = float_function("acosh", "acosh", _guarded(math.acosh))
atanh = float_function("atanh", "atanh", _guarded(math.atanh))
exp = float_function("exp", "exp", _guarded(math.exp))
exp2 = float_function("exp2", "exp2", _guarded(lambda x: 2.0**x))
expm1 = float_function("expm1", "expm1", _guarded(math.expm1))
log1p = float_function("log1p", "log1p", lambda x: math.log1p(x) if x > -1 else -math.inf if x == -1 else math.nan)
log = float_function("log", "log", _host_log)
log2 = float_function("log2", "log2", lambda x: _host_log(x) / math.log(2) if x > 0 else _host_log(x))
log10 = float_function("log10", "log10", lambda x: math.log10(x) if x > 0 else _host_log(x))
erf = float_function("erf", "erf", math.erf)
erfc = float_function("erfc", "erfc", math.erfc)
cbrt = float_function("cbrt", "cbrt", lambda x: math.copysign(builtins.abs(x) ** (1 / 3), x))
sqrt = float_function("sqrt", "sqrt", _guarded(math.sqrt), promotes=True)
rsqrt = float_function("rsqrt", "rsqrt", lambda x: 1 / math.sqrt(x) if x > 0 else math.inf if x == 0 else math.nan, promotes=True)


def _rounding(name: str, op: str, host: Callable[[float], Any]) -> Callable[..., Any]:
    inner = float_function(name, op, lambda x: float(host(x)) if math.isfinite(x) else x)

    def function(x: Any, dtype: Any = None) -> Any:
        result = inner(x)
        return result if dtype is None else cast(result, dtype)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{name}(x), elementwise; `dtype`: the type of the result."
    return function


floor = _rounding("floor", "floor", math.floor)
ceil = _rounding("ceil", "ceil", math.ceil)
trunc = _rounding("trunc", "trunc", math.trunc)
round = _rounding("round", "rint", builtins.round)


def abs(x: Any) -> Any:
    """|x|, elementwise."""
    return elementwise(builtins.abs, x)


# -- two and more -------------------------------------------------------------------------------------------------------


def _two(op: str, host: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def scalar(x: Any, y: Any) -> Any:
        if not _is_run_time(x, y):
            return host(x, y)
        x, y = e.as_number(x), e.as_number(y)
        return e.apply(op, promote(e.type_of(x), e.type_of(y)), x, y)

    return scalar


_min, _max = _two("min", builtins.min), _two("max", builtins.max)


def min(*args: Any) -> Any:
    """The least of any number of arguments, elementwise; the derivative follows the choice."""
    result = args[0]
    for a in args[1:]:
        result = elementwise(_min, result, a)
    return result


def max(*args: Any) -> Any:
    """The greatest of any number of arguments, elementwise; the derivative follows the choice."""
    result = args[0]
    for a in args[1:]:
        result = elementwise(_max, result, a)
    return result


def _float_two(op: str, host: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def scalar(x: Any, y: Any) -> Any:
        if not _is_run_time(x, y):
            return host(x, y)
        t = promote(e.type_of(x), e.type_of(y))
        return e.apply(op, t if t.is_float else cfg.default_fp, x, y)

    return scalar


_atan2, _hypot = _float_two("atan2", math.atan2), _float_two("hypot", math.hypot)


def atan2(y: Any, x: Any) -> Any:
    """The angle of the point (x, y), elementwise."""
    return elementwise(_atan2, y, x)


def hypot(x: Any, y: Any) -> Any:
    """sqrt(x * x + y * y) without overflow, elementwise."""
    return elementwise(_hypot, x, y)


def _pow(x: Any, y: Any) -> Any:
    if _is_run_time(x, y):
        return x**y
    try:
        result = x**y
    except (ZeroDivisionError, OverflowError):
        return math.inf
    return math.nan if isinstance(result, complex) else result


def pow(x: Any, y: Any) -> Any:
    """x ** y, elementwise."""
    return elementwise(_pow, x, y)


def frexp(x: Any) -> tuple[Any, Any]:
    """The fraction f, 0 or from 1/2 to 1 in size, and the exponent n of x = f * 2**n, elementwise."""

    def fraction(a: Any) -> Any:
        return e.unary("fraction", _float(a, "frexp")) if isinstance(a, Expr) else math.frexp(a)[0]

    def exponent(a: Any) -> Any:
        return Expr(current().builder.op(OP["exponent"], _float(a, "frexp").value), dtypes.i32) if isinstance(a, Expr) else math.frexp(a)[1]

    return elementwise(fraction, x), elementwise(exponent, x)


def select(condition: Any, x: Any, y: Any) -> Any:
    """x where the condition is not 0, else y, elementwise; both are evaluated."""
    return elementwise(e.select, condition, x, y)


def _host_quotient(x: Any, y: Any) -> Any:
    if isinstance(x, float) or isinstance(y, float):
        return x / y if y else math.copysign(math.inf, x) * math.copysign(1, y) if x else math.nan
    return 0 if y == 0 else (x // y if (x < 0) == (y < 0) else -(-x // y))


def _host_remainder(x: Any, y: Any) -> Any:
    if isinstance(x, float) or isinstance(y, float):
        return math.fmod(x, y) if y else math.nan
    return x - _host_quotient(x, y) * y


_raw_div, _raw_mod = _two("div", _host_quotient), _two("rem", _host_remainder)


def raw_div(x: Any, y: Any) -> Any:
    """x / y as C has it: integers truncate."""
    return elementwise(_raw_div, x, y)


def raw_mod(x: Any, y: Any) -> Any:
    """x % y as C has it: the sign of x."""
    return elementwise(_raw_mod, x, y)


# -- types --------------------------------------------------------------------------------------------------------------


def _scalar_type(dtype: Any) -> DType:
    found = dtypes.of(dtype)
    if found is None:
        raise TypeError_(f"{dtype!r} is not a scalar type")
    return found


def cast(x: Any, dtype: Any) -> Any:
    """The same numbers in another type, elementwise: floats truncate to integers."""
    t = _scalar_type(dtype)

    def scalar(a: Any) -> Any:
        if building():
            return e.cast(a, t) if isinstance(a, Expr) else e.typed(a, t)
        return t.wrapped(a) if isinstance(a, int) and t.kind in "iu" else t.numpy.type(a).item()

    return elementwise(scalar, x)


def bit_cast(x: Any, dtype: Any) -> Any:
    """The same bits in another type of the same width, elementwise."""
    t = _scalar_type(dtype)

    def scalar(a: Any) -> Any:
        if not isinstance(a, Expr) and not building():
            source = e.type_of(a)
            if source.bits != t.bits:
                raise TypeError_(f"bit_cast from {source} to {t}: the widths differ")
            return source.numpy.type(a).view(t.numpy).item()
        a = e.lift(a)
        if a.dtype.bits != t.bits:
            raise TypeError_(f"bit_cast from {a.dtype} to {t}: the widths differ")
        return a if a.dtype is t else Expr(current().builder.bitcast(t.code, a.value), t)

    return elementwise(scalar, x)


def zero(x: Any) -> Any:
    """Zeros of the type and shape of x."""
    return elementwise(lambda a: e.typed(0, a.dtype) if isinstance(a, Expr) else type(a)(0), x)


def one(x: Any) -> Any:
    """Ones of the type and shape of x."""
    return elementwise(lambda a: e.typed(1, a.dtype) if isinstance(a, Expr) else type(a)(1), x)


# -- bits ---------------------------------------------------------------------------------------------------------------


def bit_shr(x: Any, y: Any) -> Any:
    """x shifted right with zeros from the left."""

    def scalar(a: Any, b: Any) -> Any:
        if not _is_run_time(a, b):
            return (a & (1 << e.type_of(a).bits) - 1) >> b
        a = e.lift(a)
        return e.cast(e.apply("shr", dtypes.unsigned(a.dtype), a, b), a.dtype)

    return elementwise(scalar, x, y)


def bit_sar(x: Any, y: Any) -> Any:
    """x shifted right with its sign from the left."""
    return elementwise(lambda a, b: a >> b, x, y)


def bit_shl(x: Any, y: Any) -> Any:
    """x shifted left."""
    return elementwise(lambda a, b: a << b, x, y)


def integer_function(name: str, op: str, host: Callable[[int, int], int], what: str) -> Callable[[Any], Any]:
    """A function of an integer's bits, which gives an i32. `host`: the same of the bits as a number, and how many they are."""

    def scalar(x: Any) -> Any:
        t = e.type_of(x)
        if t.is_float:
            raise TypeError_(f"`{name}` takes an integer, not {t}")
        if not isinstance(x, Expr):
            return host(int(x) & (1 << t.bits) - 1, t.bits)
        return e.cast(Expr(current().builder.op(OP[op], x.value), x.dtype), dtypes.i32)

    def function(x: Any) -> Any:
        return elementwise(scalar, x)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{what}, elementwise."
    return function


popcnt = integer_function("popcnt", "popcount", lambda bits, width: bits.bit_count(), "The number of bits that are set")
clz = integer_function("clz", "clz", lambda bits, width: width - bits.bit_length(), "The number of zeros before the highest bit that is set")
_ctz = integer_function("ffs", "ctz", lambda bits, width: (bits & -bits).bit_length() - 1 if bits else width, "The number of zeros behind the lowest bit")


def ffs(x: Any) -> Any:
    """The number of the lowest bit that is set, counted from 1; 0: there is none. Elementwise."""
    return elementwise(lambda a: e.select(a == 0, 0, _ctz(a) + 1), x)


# -- at compile time ------------------------------------------------------------------------------------------------------


def static_print(*args: Any) -> None:
    """Print when the kernel is compiled."""
    print(*args)


def static_assert(condition: Any, message: str = "") -> None:
    """Check something that is known when the kernel is compiled."""
    from .errors import CompilationError

    if isinstance(condition, Expr):
        raise CompilationError("static_assert: the condition is known at run time only")
    if not condition:
        raise CompilationError(message or "static_assert failed")


__all__ = ["abs", "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "bit_cast", "bit_sar", "bit_shl", "bit_shr", "cast",
           "cbrt", "ceil", "clz", "cos", "cosh", "erf", "erfc", "exp", "exp2", "expm1", "ffs", "floor", "frexp", "hypot", "log",
           "log10", "log1p", "log2", "max", "min", "one", "popcnt", "pow", "raw_div", "raw_mod", "round", "rsqrt", "select",
           "sin", "sinh", "sqrt", "static_assert", "static_print", "tan", "tanh", "trunc", "zero"]
