"""Calls that a walk does itself: of Python's own functions, of `static` and `loop_config`, and of atomic operations."""

from __future__ import annotations

import ast
import builtins
from typing import Any, Callable

from . import functions
from . import expr as e
from .arguments import Buffer
from .data import Data
from .errors import SyntaxError_, TypeError_
from .evaluate import is_run_time, special
from .expr import Expr
from .iteration import Range, loop_config, static
from .matrix import Matrix
from .places import Place
from .runtime import cfg
from .text import Text


@special(static)
def _static(walker: Any, node: ast.Call) -> Any:
    values = [walker.eval_static(a) for a in node.args]
    for value in values:
        if isinstance(value, Place) and isinstance(value.load(), Expr) or isinstance(value, Expr):
            raise TypeError_("the argument of static() is not known when the kernel is compiled")
    values = [v.load() if isinstance(v, Place) else v for v in values]
    return values[0] if len(values) == 1 else tuple(values)


@special(loop_config)
def _loop_config(walker: Any, node: ast.Call) -> None:
    args, named = walker.arguments(node)
    if args or any(is_run_time(v) for v in named.values()):
        raise SyntaxError_("loop_config takes named arguments that are known when the kernel is compiled")
    loop_config(**named)
    walker.config = named


@special(builtins.range)
def _range(walker: Any, node: ast.Call) -> Any:
    args, named = walker.arguments(node)
    if named or not 1 <= len(args) <= 3:
        raise SyntaxError_(f"range takes one to three arguments, not {len(args) + len(named)}")
    if walker.static:
        if is_run_time(args):
            raise TypeError_("the bounds of a static range are known when the kernel is compiled")
        return builtins.range(*args)
    return Range(0, args[0]) if len(args) == 1 else Range(*args)


@special(builtins.int, builtins.float, builtins.bool)
def _convert(walker: Any, node: ast.Call) -> Any:
    target = walker.ref(node.func)
    args, _ = walker.arguments(node)
    if len(args) != 1 or not (is_run_time(args[0]) or isinstance(args[0], Matrix)):
        return target(*args)
    if target is bool:
        return functions.elementwise(e.truth, args[0])
    return functions.cast(args[0], cfg.default_ip if target is int else cfg.default_fp)


@special(builtins.len)
def _len(walker: Any, node: ast.Call) -> Any:
    value = walker.eval(node.args[0])
    return value.shape[0] if isinstance(value, (Data, Buffer)) and value.shape else len(value)


@special(builtins.print)
def _print(walker: Any, node: ast.Call) -> None:
    args, named = walker.arguments(node)
    if set(named) - {"sep", "end"}:
        raise TypeError_("print in a kernel takes sep and end")
    walker.at(node)
    if walker.build.marks is None:  # a kernel that is validated runs twice
        Text.joined(args, named.get("sep", " "), named.get("end", "\n")).emit(walker.build.builder)


# -- atomic operations ---------------------------------------------------------------------------------------------------


def _place(walker: Any, node: ast.Call, name: str, count: int) -> tuple[Place, list[Any]]:
    """What an atomic operation works on, and its other operands."""
    if len(node.args) != count or node.keywords:
        raise TypeError_(f"{name} takes {count} arguments, not {len(node.args) + len(node.keywords)}")
    place = walker.ref(node.args[0])
    if isinstance(node.args[0], ast.Name) and walker.frame.is_argument(node.args[0].id) or not isinstance(place, Place):
        raise SyntaxError_(f"{name}: the first operand cannot be assigned")
    operands = [walker.eval(a) for a in node.args[1:]]
    walker.at(node)
    return place, operands


def _atomic(way: str, what: str) -> Callable[[Any, Any], Any]:
    name = f"atomic_{way}"

    def atomic(x: Any, y: Any) -> Any:
        raise TypeError_(f"{name} works in kernels only")

    atomic.__name__ = atomic.__qualname__ = name
    atomic.__doc__ = f"{what}, atomically where threads share the element; a vector entry by entry. The value before."

    @special(atomic)
    def handler(walker: Any, node: ast.Call) -> Any:
        place, (value,) = _place(walker, node, name, 2)
        return place.update(way, value)

    return atomic


atomic_add, atomic_sub, atomic_mul = _atomic("add", "x += y"), _atomic("sub", "x -= y"), _atomic("mul", "x *= y")
atomic_min, atomic_max = _atomic("min", "x = min(x, y)"), _atomic("max", "x = max(x, y)")
atomic_and, atomic_or, atomic_xor = _atomic("and", "x &= y"), _atomic("or", "x |= y"), _atomic("xor", "x ^= y")
atomic_exchange = _atomic("exchange", "x = y")


def atomic_cas(x: Any, expected: Any, desired: Any) -> Any:
    """x = desired if x == expected, of integers, atomically where threads share the element. The value before."""
    raise TypeError_("atomic_cas works in kernels only")


@special(atomic_cas)
def _cas(walker: Any, node: ast.Call) -> Any:
    place, (expected, desired) = _place(walker, node, "atomic_cas", 3)
    return place.cas(expected, desired)
