"""Functions of scalars and vectors, in kernels and on the host."""

from __future__ import annotations

import builtins
import math
from typing import Any, Callable

from . import dtypes
from . import expr as e
from .build import OP, current
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


# -- one operand, floats ------------------------------------------------------------------------------------------------


def float_function(name: str, op: str, host: Callable[[float], float], promotes: bool = False) -> Callable[[Any], Any]:
    """A function of a float; integers are refused, or taken as the default float type."""

    def scalar(x: Any) -> Any:
        if not isinstance(x, Expr):
            return host(x)
        if not x.dtype.is_float:
            if not promotes:
                raise TypeError_(f"`{name}` takes a float, not {x.dtype}: convert it, as in {name}(float(x))")
            x = e.cast(x, cfg.default_fp)
        return e.unary(op, x)

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
exp = float_function("exp", "exp", _guarded(math.exp))
log = float_function("log", "log", _host_log)
log2 = float_function("log2", "log2", lambda x: _host_log(x) / math.log(2) if x > 0 else _host_log(x))
log10 = float_function("log10", "log10", lambda x: math.log10(x) if x > 0 else _host_log(x))
erf = float_function("erf", "erf", math.erf)
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


_atan2 = _float_two("atan2", math.atan2)


def atan2(y: Any, x: Any) -> Any:
    """The angle of the point (x, y), elementwise."""
    return elementwise(_atan2, y, x)


def pow(x: Any, y: Any) -> Any:
    """x ** y, elementwise."""
    return elementwise(lambda a, b: a**b, x, y)


def select(condition: Any, x: Any, y: Any) -> Any:
    """x where the condition is not 0, else y, elementwise; both are evaluated."""
    return elementwise(e.select, condition, x, y)


def raw_div(x: Any, y: Any) -> Any:
    """x / y as C has it: integers truncate."""
    return elementwise(_two("div", lambda a, b: a / b if isinstance(a, float) or isinstance(b, float) else int(a / b)), x, y)


def raw_mod(x: Any, y: Any) -> Any:
    """x % y as C has it: the sign of x."""
    return elementwise(_two("rem", math.fmod), x, y)


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
        from .build import building

        if building():
            return e.cast(a, t) if isinstance(a, Expr) else e.typed(a, t)
        return t.numpy.type(a).item()

    return elementwise(scalar, x)


def bit_cast(x: Any, dtype: Any) -> Any:
    """The same bits in another type of the same width, elementwise."""
    t = _scalar_type(dtype)

    def scalar(a: Any) -> Any:
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
        a = e.lift(a)
        unsigned = dtypes.by_name("u" + a.dtype.name[1:])
        return e.cast(e.apply("shr", unsigned, a, b), a.dtype)

    return elementwise(scalar, x, y)


def bit_sar(x: Any, y: Any) -> Any:
    """x shifted right with its sign from the left."""
    return elementwise(lambda a, b: a >> b, x, y)


def bit_shl(x: Any, y: Any) -> Any:
    """x shifted left."""
    return elementwise(lambda a, b: a << b, x, y)


def integer_function(name: str, op: str) -> Callable[[Any], Any]:
    """A function of an integer's bits, which gives an i32."""

    def scalar(x: Any) -> Any:
        x = e.lift(x)
        if x.dtype.is_float:
            raise TypeError_(f"`{name}` takes an integer, not {x.dtype}")
        return e.cast(Expr(current().builder.op(OP[op], x.value), x.dtype), dtypes.i32)

    def function(x: Any) -> Any:
        return elementwise(scalar, x)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{name}(x), elementwise."
    return function


popcnt = integer_function("popcnt", "popcount")
clz = integer_function("clz", "clz")


def ffs(x: Any) -> Any:
    """The number of the lowest bit that is set, counted from 1; 0: there is none."""

    def scalar(a: Any) -> Any:
        a = e.lift(a)
        low = Expr(current().builder.op(OP["ctz"], a.value), a.dtype)
        return e.select(a == 0, e.typed(0, dtypes.i32), e.cast(low, dtypes.i32) + 1)

    return elementwise(scalar, x)


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


__all__ = ["abs", "acos", "asin", "atan", "atan2", "bit_cast", "bit_sar", "bit_shl", "bit_shr", "cast", "ceil", "clz", "cos", "cosh", "erf", "exp", "ffs", "floor",
           "log", "log10", "log2", "max", "min", "one", "popcnt", "pow", "raw_div", "raw_mod", "round", "rsqrt", "select", "sin", "sinh", "sqrt",
           "static_assert", "static_print", "tan", "tanh", "trunc", "zero"]
