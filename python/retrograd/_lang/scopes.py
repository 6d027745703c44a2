"""Names in a function that is being built."""

from __future__ import annotations

import ast
import builtins
from typing import Any, Callable, Iterator

from .errors import NameError_
from .source import Source, names_of


class Frame:
    """A function whose body is being built: the kernel, or one that is inlined."""

    def __init__(self, function: Callable[..., Any], source: Source, file: int) -> None:
        self.function, self.source, self.file = function, source, file
        self.scopes: list[dict[str, Any]] = [{}]
        self.dead: set[str] = set()  # names of scopes that have ended
        self.closure = names_of(function)
        self.globals = function.__globals__
        self.loops: list[Any] = []
        self.returns: Any = None
        self.immutable: set[str] = set()  # arguments that cannot be assigned
        self.stored: set[str] = set()  # names whose items are assigned
        self.levels: dict[str, int] = {}  # of names that are known when the kernel is compiled: where they were bound
        self.thread: int | None = None  # the label of the parallel loop that is open in this function

    def find(self, name: str) -> dict[str, Any] | None:
        """The innermost scope with the name."""
        for scope in reversed(self.scopes):
            if name in scope:
                return scope
        return None

    def lookup(self, name: str) -> Any:
        """What a name means."""
        scope = self.find(name)
        if scope is not None:
            return scope[name]
        if name in self.closure:
            return self.closure[name]
        if name in self.dead:
            raise NameError_(f'Name "{name}" is not defined: it was assigned inside of a block that has ended')
        if name in self.globals:
            return self.globals[name]
        if hasattr(builtins, name):
            return getattr(builtins, name)
        raise NameError_(f'Name "{name}" is not defined')

    def open(self) -> None:
        """A block begins."""
        self.scopes.append({})

    def close(self) -> dict[str, Any]:
        """It ends, and its names with it."""
        scope = self.scopes.pop()
        self.dead.update(scope)
        return scope


def targets(node: Any) -> Iterator[str]:
    """The names that an assignment to this target assigns."""
    if isinstance(node, ast.Name):
        yield node.id
    elif isinstance(node, (ast.Tuple, ast.List)):
        for inner in node.elts:
            yield from targets(inner)
    elif isinstance(node, ast.Starred):
        yield from targets(node.value)


def assigned(body: list[ast.stmt]) -> Iterator[tuple[str, ast.stmt]]:
    """All names that statements assign, with the statement."""
    for statement in body:
        for node in ast.walk(statement):
            if isinstance(node, ast.Assign):
                for t in node.targets:
                    for name in targets(t):
                        yield name, node
            elif isinstance(node, (ast.AugAssign, ast.AnnAssign)):
                for name in targets(node.target):
                    yield name, node


def definitely(body: list[ast.stmt]) -> set[str]:
    """Names that each way through the statements assigns at their top level."""
    found: set[str] = set()
    for statement in body:
        if isinstance(statement, ast.Assign):
            for t in statement.targets:
                found.update(targets(t))
        elif isinstance(statement, ast.AnnAssign) and statement.value is not None:
            found.update(targets(statement.target))
        elif isinstance(statement, ast.If) and statement.orelse:
            found.update(definitely(statement.body) & definitely(statement.orelse))
    return found


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
