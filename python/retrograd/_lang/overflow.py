"""Integer overflow, of which kernels print a line in debug mode."""

from __future__ import annotations

from typing import Any, Callable

from . import dtypes
from . import expr as e
from .build import current
from .expr import Expr

WIDE = {"i": dtypes.i64, "u": dtypes.u64}
NAMES = {"add": "Addition", "sub": "Subtraction", "mul": "Multiplication", "shl": "Shift left"}


def _negative(x: Expr) -> Any:
    return e.binary("<", x, 0)


def _sum(x: Expr, y: Expr, total: Expr) -> Any:
    return _negative((x ^ total) & (y ^ total)) if x.dtype.kind == "i" else total < x


def _difference(x: Expr, y: Expr, difference: Expr) -> Any:
    return _negative((x ^ y) & (x ^ difference)) if x.dtype.kind == "i" else x < y


def _product(x: Expr, y: Expr, product: Expr) -> Any:
    t = x.dtype
    if t.bits < 64:
        wide = WIDE[t.kind]
        return e.binary("!=", e.apply("mul", wide, x, y), e.cast(product, wide))
    differs = (y != 0) & (e.apply("div", t, product, y) != x)
    return differs | (x == e.typed(t.least(), t)) & (y == -1) if t.kind == "i" else differs


def _shifted(x: Expr, y: Expr, shifted: Expr) -> Any:
    outside = e.binary(">=", e.cast(y, dtypes.unsigned(y.dtype)), y.dtype.bits)
    return outside | (e.apply("shr", x.dtype, shifted, y) != x)


OVERFLOWS: dict[str, Callable[[Expr, Expr, Expr], Any]] = {"add": _sum, "sub": _difference, "mul": _product, "shl": _shifted}


def report(op: str, x: Expr, y: Expr, result: Expr) -> None:
    """Where an operation on integers of one type has a result that the type does not hold, print a line. The kernel goes on with the wrapped result."""
    build = current()
    if op not in OVERFLOWS or build.marks is not None:  # a kernel that is validated runs twice
        return
    overflows = OVERFLOWS[op](x, y, result)
    walker = build.walker
    build.builder.if_(overflows.value)
    build.builder.print_(f"{NAMES[op]} overflow detected in {walker.frame.source.place(walker.node)}\n".replace("%", "%%"))
    build.builder.end()
