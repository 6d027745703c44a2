"""Names in a function that is being built."""

from __future__ import annotations

import ast
import builtins
from typing import Any, Callable, Iterable, Iterator

from .errors import NameError_, SyntaxError_, TypeError_
from .liveness import Liveness
from .places import Place
from .source import Source, names_of


class Hoisted:
    """A name that every arm of an `if` assigns, and that is read behind it: a variable around it, if the types agree."""

    def __init__(self, depth: int) -> None:
        self.depth = depth
        self.place: Place | None = None
        self.arms = 0  # that have set it
        self.differs = False


class Scope(dict[str, Any]):
    """The names of a block, and those of them that live on behind it: `hoists`."""

    def __init__(self, hoists: dict[str, Hoisted] | None = None) -> None:
        super().__init__()
        self.hoists: dict[str, Hoisted] = hoists or {}


class Frame:
    """A function whose body is being built: the kernel, or one that is inlined."""

    def __init__(self, function: Callable[..., Any], source: Source, file: int) -> None:
        self.function, self.source, self.file = function, source, file
        self.scopes: list[Scope] = [Scope()]
        self.dead: dict[str, str] = {}  # names of blocks that have ended, and why they ended
        self.closure = names_of(function)
        self.globals = function.__globals__
        self.loops: list[Any] = []
        self.returns: Any = None
        self.immutable: set[str] = set()  # arguments that cannot be assigned
        self.stored: set[str] = set()  # names whose items are assigned
        self.levels: dict[str, int] = {}  # of names that are known when the kernel is compiled: where they were bound
        self.thread: int | None = None  # the label of the parallel loop that is open in this function
        self.liveness: Liveness | None = None  # of its names, once it has been asked for

    @property
    def scope(self) -> Scope:
        """The innermost one."""
        return self.scopes[-1]

    def find(self, name: str) -> Scope | None:
        """The innermost scope with the name."""
        for scope in reversed(self.scopes):
            if name in scope:
                return scope
        return None

    def local(self, name: str) -> Any:
        """What a local name means, None if it is none."""
        scope = self.find(name)
        return None if scope is None else scope[name]

    def lookup(self, name: str) -> Any:
        """What a name means."""
        scope = self.find(name)
        if scope is not None:
            return scope[name]
        if name in self.closure:
            return self.closure[name]
        if name in self.dead:
            raise NameError_(f'Name "{name}" is not defined: {self.dead[name]}')
        if name in self.globals:
            return self.globals[name]
        if hasattr(builtins, name):
            return getattr(builtins, name)
        raise NameError_(f'Name "{name}" is not defined')

    def is_argument(self, name: str) -> bool:
        """Whether it is an argument of the kernel, which cannot be assigned."""
        return name in self.immutable and self.find(name) is self.scopes[0]

    def open(self, hoists: dict[str, Hoisted] | None = None) -> None:
        """A block begins."""
        self.scopes.append(Scope(hoists))

    def close(self) -> None:
        """It ends, and its names with it."""
        scope = self.scopes.pop()
        for name in list(scope):
            self.end(name, scope)

    def end(self, name: str, scope: Scope) -> None:
        """A name ends."""
        del scope[name]
        self.dead[name] = "it was assigned inside of a block that has ended"


def targets(node: Any) -> Iterator[str]:
    """The names that an assignment to this target assigns."""
    if isinstance(node, ast.Name):
        yield node.id
    elif isinstance(node, (ast.Tuple, ast.List)):
        for inner in node.elts:
            yield from targets(inner)
    elif isinstance(node, ast.Starred):
        yield from targets(node.value)


def named(target: ast.expr, value: Any) -> Iterator[tuple[str, Any]]:
    """The names of a target, with what an item of a loop or comprehension gives to each."""
    if isinstance(target, (ast.Tuple, ast.List)):
        values = list(value) if isinstance(value, Iterable) else [value]
        if len(values) != len(target.elts):
            raise TypeError_(f"{len(values)} values for {len(target.elts)} names")
        for inner, v in zip(target.elts, values):
            yield from named(inner, v)
    elif isinstance(target, ast.Name):
        yield target.id, value
    else:
        raise SyntaxError_("what a comprehension assigns is a name")


def definitely(body: list[ast.stmt]) -> set[str] | None:
    """Names that each way through the statements assigns at their top level; None: no way comes out behind them."""
    found: set[str] = set()
    for statement in body:
        if isinstance(statement, ast.Assign):
            for t in statement.targets:
                found.update(targets(t))
        elif isinstance(statement, ast.AnnAssign) and statement.value is not None:
            found.update(targets(statement.target))
        elif isinstance(statement, ast.If):
            found.update(in_all_arms(statement) or ())
        elif isinstance(statement, (ast.Return, ast.Break, ast.Continue)):
            return None
    return found


def in_all_arms(node: ast.If) -> set[str] | None:
    """Names that every arm of an `if` that comes out behind it assigns; None: none comes out."""
    arms = [a for a in (definitely(node.body), definitely(node.orelse)) if a is not None]
    return set.intersection(*arms) if arms else None


def leaves(body: list[ast.stmt], kinds: tuple[type, ...]) -> bool:
    """Whether a break or continue of the loop with this body stands in it."""
    for statement in body:
        if isinstance(statement, kinds):
            return True
        for field in ("body", "orelse", "handlers", "finalbody"):
            inner = getattr(statement, field, None)
            if isinstance(statement, (ast.For, ast.While)) and field == "body":
                continue
            if isinstance(inner, list) and leaves(inner, kinds):
                return True
    return False
