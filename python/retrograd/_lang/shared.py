"""What the iterations of a parallel loop do to variables around it."""

from __future__ import annotations

import ast
from collections import ChainMap
from typing import Any, Iterator, Mapping

from .build import IDENTITY_OF
from .errors import SyntaxError_
from .func import Func, is_template, resolve
from .liveness import of_comprehensions
from .places import LocalMatrix, Place, StructPlace, Variable
from .scopes import Frame, targets
from .source import names_of, source_of

OPERATORS = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "div", ast.FloorDiv: "floordiv", ast.Mod: "mod", ast.Pow: "pow",
             ast.BitAnd: "and", ast.BitOr: "or", ast.BitXor: "xor", ast.LShift: "shl", ast.RShift: "shr"}
SET = "set"


class Change:
    """A statement or call that changes a variable, or a part of it. `value`: what a name is set to. `base`: the node of its name. `target`: that of
    what is changed."""

    def __init__(self, base: ast.Name, way: str, node: Any, target: ast.expr, value: ast.expr | None = None) -> None:
        self.base, self.way, self.node, self.target, self.value = base, way, node, target, value

    def is_of_entry(self, place: Place) -> bool:
        """Whether it changes an entry of a vector, where the name means this place."""
        return isinstance(place, LocalMatrix) and self.target is not self.base or any(isinstance(n, ast.Subscript) for n in ast.walk(self.target))


class Shared:
    """A variable around a parallel loop that its iterations change: combined by `op`, or (op is None) all set to one `value`."""

    def __init__(self, name: str, place: Any, op: int | None, value: ast.expr | None = None) -> None:
        self.name, self.place, self.op, self.value = name, place, op, value

    def vars(self) -> list[int]:
        """The builder's variables."""
        return _vars(self.place)


def _vars(place: Any) -> list[int]:
    if isinstance(place, StructPlace):
        return [v for member in place.members.values() for v in _vars(member)]
    return [place.var] if isinstance(place, Variable) else list(place.vars)


def _is_array(place: Any) -> bool:
    """Whether the builder has it as an array, which no reduction makes."""
    return any(map(_is_array, place.members.values())) if isinstance(place, StructPlace) else getattr(place, "array", None) is not None


class Flag(Place):
    """In the loop, a variable that iterations set: a flag of whether one did."""

    def __init__(self, name: str, flag: Variable) -> None:
        self.name, self.flag = name, flag

    def load(self) -> Any:
        raise SyntaxError_(_message(self.name))

    def store(self, value: Any) -> None:
        self.flag.store(True)


def _base(node: Any) -> ast.Name | None:
    """The name of what a target is a part of."""
    while isinstance(node, (ast.Subscript, ast.Attribute)):
        node = node.value
    return node if isinstance(node, ast.Name) else None


def _parts(target: Any) -> Iterator[Any]:
    if isinstance(target, (ast.Tuple, ast.List)):
        for t in target.elts:
            yield from _parts(t)
    else:
        yield target


def _called(names: Mapping[str, Any], node: Any) -> Any:
    """The function that is called; None: it has no name outside of the kernel."""
    if isinstance(node, ast.Name):
        return names.get(node.id)
    return getattr(_called(names, node.value), node.attr, None) if isinstance(node, ast.Attribute) else None


def _by_reference(names: Mapping[str, Any], call: ast.Call, seen: tuple[Any, ...]) -> Iterator[Change]:
    """What a call changes of the variables that it gives to a function by reference."""
    function = _called(names, call.func)
    if not isinstance(function, Func) or function.function in seen:
        return
    parameters = list(function.signature.parameters.values())[1 if function.bound else 0 :]
    given = {p.name: a for p, a in zip(parameters, call.args)} | {k.arg: k.value for k in call.keywords if k.arg}
    given = {p.name: given[p.name] for p in parameters if p.name in given and is_template(resolve(function.function, p.annotation))}
    if not any(_base(a) for a in given.values()):
        return
    body = source_of(function.function).tree.body
    inner = list(changes(ChainMap(names_of(function.function), function.function.__globals__), body, (*seen, function.function)))
    bases = {id(c.base) for c in inner}
    for name, node in given.items():
        base = _base(node)
        own = [c for c in inner if c.base.id == name]
        if base is None or not own:
            continue
        for c in own:
            yield Change(base, c.way, call, c.target if node is base else node)
        if any(n.id == name and id(n) not in bases for s in body for n in ast.walk(s) if isinstance(n, ast.Name)):
            yield Change(base, "read", call, base)


def changes(names: Mapping[str, Any], body: list[ast.stmt], seen: tuple[Any, ...] = ()) -> Iterator[Change]:
    """What statements change. `names`: what those outside of the function mean. `seen`: functions that are looked into."""
    inside = [n for statement in body for n in ast.walk(statement)]
    unused = {id(n.value) for n in inside if isinstance(n, ast.Expr)}
    for node in inside:
        if isinstance(node, ast.Assign):
            for target in (t for whole in node.targets for t in _parts(whole)):
                base = _base(target)
                if base is not None:
                    yield Change(base, SET, node, target, node.value if base is target and target in node.targets else None)
        elif isinstance(node, ast.AugAssign):
            base = _base(node.target)
            if base is not None:
                yield Change(base, OPERATORS.get(type(node.op), SET), node, node.target)
        elif isinstance(node, ast.NamedExpr):
            yield Change(node.target, SET, node, node.target)
        elif isinstance(node, ast.Call):
            way = str(getattr(_called(names, node.func), "__name__", getattr(node.func, "attr", "")))
            base = _base(node.args[0]) if node.args else None
            if way.startswith("atomic_") and base is not None:
                yield Change(base, way[7:] if id(node) in unused else "read", node, node.args[0])
            else:
                yield from _by_reference(names, node, seen)


def _message(name: str) -> str:
    return (f"`{name}` is a variable of the kernel, which all iterations of the parallel loop share: they can add to it (`{name} += ...`; also -=, *=, "
            "&=, |=, ^=, atomic_min, atomic_max), or all set it to one value, but not read it. Use a variable of the loop's body, a field, or "
            "`loop_config(serialize=True)` before the loop, which runs it in order")


class Race(SyntaxError_):
    """A parallel loop whose iterations depend on each other through a variable; `node` is where."""

    node: Any = None
    of_entries = False  # whether the variable is a vector whose entries they change one by one: such loops run in order


def _race(name: str, node: Any, place: Any, all_of: list[Change]) -> Race:
    race = Race(_message(name))
    race.node = node
    race.of_entries = any(c.is_of_entry(place) for c in all_of)
    return race


def _is_invariant(value: ast.expr | None, own: set[str]) -> bool:
    """Whether an expression has one value in all iterations: it is of constants and of names that they do not assign."""
    return value is not None and all(
        n.id not in own if isinstance(n, ast.Name) else
        isinstance(n, (ast.Constant, ast.UnaryOp, ast.BinOp, ast.operator, ast.unaryop, ast.expr_context, ast.Attribute)) for n in ast.walk(value))


def shared(frame: Frame, node: ast.For) -> list[Shared]:
    """The variables around a loop that its iterations change; raises Race if they cannot run in parallel."""
    found: dict[str, list[Change]] = {}
    for c in changes(ChainMap(*reversed(frame.scopes), frame.closure, frame.globals), node.body):
        found.setdefault(c.base.id, []).append(c)
    index = set(targets(node.target))
    inside = [n for s in node.body for n in ast.walk(s)]
    hidden = of_comprehensions(node)
    inside = [n for n in inside if id(n) not in hidden]
    own = index | {n.id for n in inside if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    declared = {n.target.id for n in inside if isinstance(n, ast.AnnAssign) and isinstance(n.target, ast.Name)}
    result: list[Shared] = []
    races: list[Race] = []
    for name, all_of in found.items():
        place = frame.local(name)
        if name in index | declared or not isinstance(place, (Variable, LocalMatrix, StructPlace)):
            continue
        bases = {id(c.base) for c in all_of}
        read = next((n for n in inside if isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Load) and id(n) not in bases), None)
        if read is not None:
            races.append(_race(name, read, place, all_of))
            continue
        values = {ast.dump(c.value) if c.value is not None else "" for c in all_of}
        if all(c.way == SET for c in all_of) and len(values) == 1 and _is_invariant(all_of[0].value, own):
            result.append(Shared(name, place, None, all_of[0].value))
            continue
        ops = {IDENTITY_OF.get(c.way) for c in all_of}
        op = next(iter(ops))
        if len(ops) != 1 or op is None or _is_array(place):
            races.append(_race(name, next(c.node for c in all_of if c.way == SET or len(ops) == 1 or c is all_of[-1]), place, all_of))
            continue
        result.append(Shared(name, place, op))
    if races:
        raise next((r for r in races if not r.of_entries), races[0])
    return result
