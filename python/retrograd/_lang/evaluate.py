"""From a function's syntax tree to the builder: expressions."""

from __future__ import annotations

import ast
import operator
from functools import partial
from typing import Any, Callable

import numpy as np

from . import dtypes, functions, places
from . import expr as e
from .arguments import Buffer, element
from .build import Build
from .dtypes import DType
from .errors import CompilationError, SyntaxError_, TypeError_, locate, located
from .expr import Expr
from .filling import fill_array
from .data import Data, unwrap
from .instead import instead_of
from .iteration import static
from .matrix import Matrix
from .places import Place, is_value, local
from .runtime import cfg
from .scopes import Frame, named
from .text import Text

BINARY: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv, ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod, ast.Pow: operator.pow, ast.BitAnd: operator.and_, ast.BitOr: operator.or_, ast.BitXor: operator.xor,
    ast.LShift: operator.lshift, ast.RShift: operator.rshift, ast.MatMult: operator.matmul,
}
SYMBOLS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**", ast.BitAnd: "&", ast.BitOr: "|",
           ast.BitXor: "^", ast.LShift: "<<", ast.RShift: ">>", ast.MatMult: "@"}
COMPARE: dict[type, Callable[[Any, Any], Any]] = {
    ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge, ast.Eq: operator.eq, ast.NotEq: operator.ne,
}
INSTEAD = {"Lambda": "define it, or a @func, outside of the kernel", "Set": "use a tuple", "SetComp": "use a list", "Yield": "kernels are no generators",
           "YieldFrom": "kernels are no generators", "Await": "kernels are not asynchronous"}
IDENTITY: dict[type, Callable[[Any, Any], Any]] = {
    ast.Is: lambda x, y: x is y, ast.IsNot: lambda x, y: x is not y, ast.In: lambda x, y: x in y, ast.NotIn: lambda x, y: x not in y,
}

# Functions that a walk does itself: called with the walker and the call. Modules of the package add theirs.
SPECIAL: dict[Any, Callable[[Any, ast.Call], Any]] = {}


def special(*keys: Any) -> Callable[[Any], Any]:
    """A decorator: how a walk does calls of these."""

    def register(handler: Any) -> Any:
        for key in keys:
            SPECIAL[key] = handler
        return handler

    return register


def is_run_time(x: Any) -> bool:
    """Whether a kernel computes it, or a part of it."""
    return isinstance(x, (Expr, Buffer)) or isinstance(x, Matrix) and any(isinstance(v, Expr) for v in x.entries) or \
        isinstance(x, (tuple, list)) and any(is_run_time(v) for v in x)


def is_simple(node: ast.expr) -> bool:
    """Whether evaluating it does nothing, so that no branch has to guard it."""
    return isinstance(node, (ast.Name, ast.Constant))


class Evaluator:
    """Evaluates expressions: what is known now is computed by Python, the rest by the kernel."""

    def __init__(self, build: Build) -> None:
        self.build = build
        self.frame: Frame = None  # type: ignore[assignment]
        self.calls: list[tuple[Frame, Any]] = []  # inlined functions that are open: the caller's frame, and the call
        self.level = 0  # run-time constructs that are open
        self.known_arms = 0  # of plain `if`s whose conditions are known now: those that are open
        self.static = 0  # evaluations of static(...) that are open
        self.node: Any = None

    def at(self, node: Any) -> None:
        """What is built from now on stands at this node."""
        frame = self.frame
        self.node = node
        start, end = frame.source.columns(node)
        self.build.builder.at(frame.file, frame.source.line(node), start + 1, end + 1)

    def enter(self, repeats: bool = False) -> None:
        """A run-time construct opens."""
        self.level += 1
        self.build.where.repeats += repeats
        self.build.control += not self.build.in_parallel

    def exit(self, repeats: bool = False) -> None:
        """It closes."""
        self.level -= 1
        self.build.where.repeats -= repeats
        self.build.control -= not self.build.in_parallel

    def locate(self, error: Exception, node: Any) -> Exception:
        return locate(error, self.frame.source.place(node))

    # -- values and places ---------------------------------------------------------------------------------------------

    def eval(self, node: ast.expr) -> Any:
        """The value of an expression."""
        found = self.ref(node)
        return found.load() if isinstance(found, Place) else found

    def eval_static(self, node: ast.expr) -> Any:
        """The value of an expression that is known now."""
        self.static += 1
        try:
            return self.ref(node)
        finally:
            self.static -= 1

    def ref(self, node: ast.expr) -> Any:
        """The place of an expression that can be assigned, the value of others."""
        try:
            method = getattr(self, f"on_{type(node).__name__}", None)
            if method is None:
                name = type(node).__name__
                raise SyntaxError_(f'Unsupported node "{name}" in a kernel' + (f": {INSTEAD[name]}" if name in INSTEAD else ""))
            return unwrap(method(node))
        except RecursionError:
            raise
        except Exception as error:
            if located(error):
                raise
            raise self.locate(error, node) from error

    def on_Constant(self, node: ast.Constant) -> Any:
        return node.value

    def on_Name(self, node: ast.Name) -> Any:
        return self.known_as(self.frame.lookup(node.id), node.id)

    def known_as(self, found: Any, name: str) -> Any:
        """The same; an array without a name of its own has, in messages, the one that the source first gives it."""
        if isinstance(found, Data):
            self.build.names.setdefault(id(found), name)
        return found

    def on_Attribute(self, node: ast.Attribute) -> Any:
        base = self.ref(node.value)
        if isinstance(base, Place):
            part = base.attr(node.attr)
            if part is not None:
                return part
            base = base.load()
        if isinstance(base, Data) and node.attr in ("grad", "dual"):
            derivative = getattr(base, node.attr)
            if derivative is None or not getattr(derivative, "placed", True):
                raise CompilationError(f"{'Gradient' if node.attr == 'grad' else 'Tangent'} {base.name or base.kind}.{node.attr} has not been placed, "
                                       f"check whether `needs_{node.attr}=True`")
            return self.build.reads.read(self.build, base, node.attr, derivative)
        if isinstance(base, (Data, Buffer)) and node.attr == "fill":
            return fill_array.__get__(base)
        if isinstance(base, Expr):
            raise TypeError_(f"a scalar ({base.dtype}) has no attribute '{node.attr}'")
        return self.known_as(self.build.reads.read(self.build, base, node.attr, getattr(base, node.attr)), node.attr)

    def index_of(self, node: ast.expr) -> Any:
        """The value of a subscript."""
        if isinstance(node, ast.Tuple):
            return tuple(self.index_of(n) for n in node.elts) if not any(isinstance(n, ast.Starred) for n in node.elts) else tuple(self.items(node.elts))
        if isinstance(node, ast.Slice):
            parts = [None if n is None else self.eval(n) for n in (node.lower, node.upper, node.step)]
            if any(isinstance(p, Expr) for p in parts):
                raise TypeError_("the bounds of a slice are known when the kernel is compiled")
            return slice(*parts)
        return self.eval(node)

    def on_Subscript(self, node: ast.Subscript) -> Any:
        base = self.ref(node.value)
        index = self.index_of(node.slice)
        self.at(node)
        if isinstance(base, (Data, Buffer)):
            return element(base, index)
        if hasattr(base, "element_place"):
            return base.element_place(index)
        if isinstance(base, Place):
            return base.item(index)
        if isinstance(base, Expr):
            raise TypeError_(f"a scalar ({base.dtype}) has no entries")
        if is_run_time(index) and isinstance(base, (list, tuple, np.ndarray)):
            base = Matrix(base)
        return base[index]

    # -- operators -----------------------------------------------------------------------------------------------------

    def operate(self, op: ast.operator, x: Any, y: Any) -> Any:
        try:
            return BINARY[type(op)](x, y)
        except TypeError as error:
            if isinstance(error, TypeError_):
                raise
            raise TypeError_(f"`{SYMBOLS[type(op)]}` cannot be applied to {e.describe(x)} and {e.describe(y)}") from error

    def on_BinOp(self, node: ast.BinOp) -> Any:
        x, y = self.eval(node.left), self.eval(node.right)
        self.at(node)
        if isinstance(x, str) and isinstance(node.op, ast.Mod):
            return Text.percent(x, y).known()
        return self.operate(node.op, x, y)

    def on_UnaryOp(self, node: ast.UnaryOp) -> Any:
        x = self.eval(node.operand)
        if isinstance(node.op, ast.Not):
            if isinstance(x, Matrix):
                return x.like([e.unary("not", e.truth(v)) if isinstance(v, Expr) else not v for v in x.entries])
            return e.unary("not", e.truth(x)) if isinstance(x, Expr) else not x
        if isinstance(node.op, ast.USub):
            return -x
        return +x if isinstance(node.op, ast.UAdd) else ~x

    def on_Compare(self, node: ast.Compare) -> Any:
        return self.chain(node, self.eval(node.left), node.ops, node.comparators)

    def chain(self, node: ast.Compare, left: Any, ops: list[ast.cmpop], nodes: list[ast.expr]) -> Any:
        """`left < b < c`: each operand is evaluated once, and the later ones only where the pairs before them hold."""
        right = self.eval(nodes[0])
        self.at(node)
        holds = self.compare(ops[0], left, right)
        if len(nodes) == 1:
            return holds
        rest = partial(self.chain, node, right, ops[1:], nodes[1:])
        if not is_run_time(holds):
            return rest() if holds else holds
        return holds & rest() if isinstance(holds, Matrix) or all(map(is_simple, nodes[1:])) else self.choose(holds, rest, lambda: holds)

    def compare(self, op: ast.cmpop, x: Any, y: Any) -> Any:
        if type(op) not in IDENTITY:
            return COMPARE[type(op)](x, y)
        if (is_run_time(x) or is_run_time(y)) and not isinstance(op, (ast.Is, ast.IsNot)):
            raise SyntaxError_("`in` and `not in` take what is known when the kernel is compiled")
        return IDENTITY[type(op)](x, y)

    def on_BoolOp(self, node: ast.BoolOp) -> Any:
        return self.decide(isinstance(node.op, ast.And), node.values)

    def decide(self, conjunction: bool, nodes: list[ast.expr]) -> Any:
        """`and`, `or`: the operand that decides."""
        first = self.eval(nodes[0])
        if len(nodes) == 1:
            return first
        if not is_run_time(first):
            return self.decide(conjunction, nodes[1:]) if bool(first) == conjunction else first
        if isinstance(first, Matrix):
            rest = self.decide(conjunction, nodes[1:])
            return functions.elementwise(lambda x, y: (e.truth(x) & e.truth(y)) if conjunction else (e.truth(x) | e.truth(y)), first, rest)
        if not cfg.short_circuit_operators or first.dtype is dtypes.u1 and all(map(is_simple, nodes[1:])):
            rest = self.decide(conjunction, nodes[1:])
            if first.dtype is dtypes.u1 and (isinstance(rest, bool) or isinstance(rest, Expr) and rest.dtype is dtypes.u1):
                return (first & rest) if conjunction else (first | rest)
            return e.select(first, rest, first) if conjunction else e.select(first, first, rest)
        rest_of = (lambda: self.decide(conjunction, nodes[1:]), lambda: first)
        return self.choose(e.truth(first), *(rest_of if conjunction else reversed(rest_of)))

    def choose(self, condition: Expr, then: Callable[[], Any], otherwise: Callable[[], Any]) -> Any:
        """One of two values, or tuples of values, of which one is evaluated. Where their types differ they are converted afterwards."""
        b = self.build.builder
        depth = b.depth()
        b.if_(condition.value)
        self.enter()
        first = then()
        many = isinstance(first, tuple)
        firsts = first if many else (first,)
        for x in firsts:
            if not is_value(x):
                raise TypeError_(f"{e.describe(x)} cannot be chosen at run time")
        chosen = [local("chosen", x, depth) for x in firsts]
        for p, x in zip(chosen, firsts):
            p.store(x)
        self.exit()
        b.else_()
        self.enter()
        second = otherwise()
        seconds = second if many and isinstance(second, tuple) else (second,)
        if len(seconds) != len(firsts) or many != isinstance(second, tuple):
            raise TypeError_(f"one of {e.describe(first)} and {e.describe(second)} cannot be chosen at run time")
        same = [places.same_type(p, x) for p, x in zip(chosen, seconds)]
        others = [p if s else local("chosen", x, depth) for p, s, x in zip(chosen, same, seconds)]
        for p, x in zip(others, seconds):
            p.store(x)
        self.exit()
        b.end()
        found = tuple(p.load() if s else places.either(condition, p.load(), o.load()) for p, s, o in zip(chosen, same, others))
        return found if many else found[0]

    def on_IfExp(self, node: ast.IfExp) -> Any:
        test = self.eval(node.test)
        if isinstance(test, Matrix) and is_run_time(test):
            raise TypeError_("the condition is a vector: use `select`")
        if not isinstance(test, Expr):
            return self.ref(node.body if test else node.orelse)
        if is_simple(node.body) and is_simple(node.orelse):
            return places.either(e.truth(test), self.eval(node.body), self.eval(node.orelse))
        return self.choose(e.truth(test), lambda: self.eval(node.body), lambda: self.eval(node.orelse))

    def on_NamedExpr(self, node: ast.NamedExpr) -> Any:
        value = self.eval(node.value)
        self.bind(node.target.id, value)  # type: ignore[attr-defined]
        return value

    # -- containers ----------------------------------------------------------------------------------------------------

    def items(self, nodes: list[ast.expr]) -> list[Any]:
        found: list[Any] = []
        for n in nodes:
            if isinstance(n, ast.Starred):
                found += list(self.eval(n.value))
            else:
                found.append(self.eval(n))
        return found

    def on_Tuple(self, node: ast.Tuple) -> Any:
        return tuple(self.items(node.elts))

    def on_List(self, node: ast.List) -> Any:
        return self.items(node.elts)

    def on_Dict(self, node: ast.Dict) -> Any:
        found: dict[Any, Any] = {}
        for k, v in zip(node.keys, node.values):
            found.update(self.eval(v) if k is None else {self.eval(k): self.eval(v)})
        return found

    def comprehension(self, generators: list[ast.comprehension], make: Callable[[], None]) -> None:
        if not generators:
            make()
            return
        g = generators[0]
        over = self.eval_static(g.iter)
        for item in over.load() if isinstance(over, Place) else over:
            self.frame.open()  # its names are its own: they may be those of variables around it, and leave no trace
            self.frame.scope.update(named(g.target, item))
            tests = [self.eval(t) for t in g.ifs]
            if any(is_run_time(t) for t in tests):
                raise TypeError_("the conditions of a comprehension are known when the kernel is compiled")
            if all(tests):
                self.comprehension(generators[1:], make)
            self.frame.scopes.pop()

    def on_ListComp(self, node: Any) -> Any:
        found: list[Any] = []
        self.comprehension(node.generators, lambda: found.append(self.eval(node.elt)))
        return found

    on_GeneratorExp = on_ListComp

    def on_DictComp(self, node: ast.DictComp) -> Any:
        found: dict[Any, Any] = {}
        self.comprehension(node.generators, lambda: found.__setitem__(self.eval(node.key), self.eval(node.value)))
        return found

    def on_JoinedStr(self, node: ast.JoinedStr) -> Any:
        parts: list[Any] = []
        for n in node.values:
            if isinstance(n, ast.FormattedValue):
                spec = "" if n.format_spec is None else "".join(str(v.value) for v in getattr(n.format_spec, "values", ()) if isinstance(v, ast.Constant))
                parts.append((self.eval(n.value), spec))
            else:
                parts.append(n.value)  # type: ignore[attr-defined]
        return Text(parts).known()

    # -- calls ---------------------------------------------------------------------------------------------------------

    def is_static(self, node: ast.Call) -> bool:
        """Whether it is a call of `static`."""
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        return name == "static" and self.ref(node.func) is static

    def arguments(self, node: ast.Call) -> tuple[list[Any], dict[str, Any]]:
        named: dict[str, Any] = {}
        for k in node.keywords:
            if k.arg is None:
                named.update(self.eval(k.value))
            else:
                named[k.arg] = self.eval(k.value)
        return self.items(node.args), named

    def on_Call(self, node: ast.Call) -> Any:
        function = self.ref(node.func)
        if isinstance(function, Place):
            raise TypeError_("a value of run time cannot be called")
        try:
            handler = SPECIAL.get(function)
        except TypeError:  # not hashable
            handler = None
        if handler is not None:
            return handler(self, node)
        if getattr(function, "__name__", "") == "format" and isinstance(getattr(function, "__self__", None), str):
            args, named = self.arguments(node)
            return Text.formatted(function.__self__, args, named).known()
        inline = getattr(function, "inline", None)
        if inline is not None and hasattr(type(function), "inline"):
            return inline(self, node)
        args, named = self.arguments(node)
        self.at(node)
        if isinstance(function, DType) and len(args) == 1 and not named:
            return functions.cast(args[0], function)
        if is_run_time(args):
            function = instead_of(function) or function
        self.build.called.append(function)
        return function(*args, **named)
