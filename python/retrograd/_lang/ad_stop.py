"""`stop_grad`: values that are constants to the derivative."""

from __future__ import annotations

import ast
from typing import Any

from . import expr as e
from .arguments import buffer_of
from .data import unwrap
from .errors import SyntaxError_
from .evaluate import special
from .functions import elementwise
from .places import Place
from .structs import Struct


def stop_grad(x: Any) -> Any:
    """The value, as a constant to the derivative; of scalars, vectors, matrices and structs.

    As a statement of a kernel, with a field or an array: what is read of it in the same block, and in blocks and functions inside, is constant,
    before the statement too.

    Examples
    --------
    >>> import retrograd as rg
    >>> rg.init()
    >>> x, y = rg.field(float, (), needs_grad=True), rg.field(float, (), needs_grad=True)
    >>> @rg.kernel
    ... def scaled():
    ...     y[None] = x[None] / rg.stop_grad(x[None])
    >>> x[None] = 4
    >>> y.grad[None] = 1
    >>> scaled.grad()
    >>> x.grad[None]
    0.25
    """
    return stopped(x)


def stopped(value: Any) -> Any:
    """A value without derivative."""
    if isinstance(value, Struct):
        return Struct({name: stopped(v) for name, v in value.members.items()}, value.type)
    return elementwise(lambda v: e.constant(v) if isinstance(v, e.Expr) else v, value)


@special(stop_grad)
def _stop_grad(walker: Any, node: ast.Call) -> Any:
    if len(node.args) != 1 or node.keywords:
        raise SyntaxError_("stop_grad takes a value, or a field or an array")
    found = walker.ref(node.args[0])
    arrays = arrays_of(found)
    if not arrays:
        return stopped(found.load() if isinstance(found, Place) else found)
    if any(buffer_of(a).value not in walker.build.stopped for a in arrays):  # type: ignore[union-attr]
        raise SyntaxError_("stop_grad of a whole array is a statement of its own: `stop_grad(x)`")
    return None


def arrays_of(x: Any) -> list[Any]:
    """The arrays that a field, an ndarray, a tensor or a field of structs consists of; none: it is no array."""
    x = unwrap(x)
    if hasattr(x, "_leaves"):
        return list(x._leaves())
    x = getattr(x, "of", x) if hasattr(x, "element_place") else x
    return [] if buffer_of(x) is None else [x]


def stops(walker: Any, body: list[ast.stmt]) -> set[int]:
    """The array parameters that statements of a block make constant."""
    found: set[int] = set()
    for s in body:
        call = s.value if isinstance(s, ast.Expr) else None
        if not isinstance(call, ast.Call) or len(call.args) != 1 or getattr(call.func, "attr", getattr(call.func, "id", "")) != "stop_grad":
            continue
        if walker.ref(call.func) is stop_grad:
            found.update(buffer_of(a).value for a in arrays_of(walker.ref(call.args[0])))  # type: ignore[union-attr]
    return found
