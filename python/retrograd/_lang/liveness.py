"""Which names may be read behind an `if` before they are assigned again: of what its arms assign, these live on."""

from __future__ import annotations

import ast
from typing import Any, Callable, Iterator

COMPREHENSIONS = (ast.ListComp, ast.GeneratorExp, ast.DictComp)


def of_comprehensions(node: ast.AST) -> set[int]:
    """Of the names in a node those that are a comprehension's own, by id."""
    found: set[int] = set()
    for c in ast.walk(node):
        if isinstance(c, COMPREHENSIONS):
            own = {n.id for g in c.generators for n in ast.walk(g.target) if isinstance(n, ast.Name)}
            found.update(id(n) for n in ast.walk(c) if isinstance(n, ast.Name) and n.id in own)
    return found


def occurring(node: ast.AST, context: type) -> set[str]:
    """The names that a node reads (`ast.Load`) or assigns (`ast.Store`)."""
    hidden = of_comprehensions(node)
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, context) and id(n) not in hidden}


def read_in(node: ast.AST) -> set[str]:
    """The names that an expression or a simple statement reads."""
    found = occurring(node, ast.Load)
    return found | {node.target.id} if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name) else found


def surely(node: ast.AST) -> Iterator[ast.AST]:
    """A node, and what in it is evaluated whatever the values are."""
    yield node
    inner = (node.values[:1] if isinstance(node, ast.BoolOp) else [node.left, node.comparators[0]] if isinstance(node, ast.Compare) else
             [node.test] if isinstance(node, (ast.IfExp, ast.Assert)) else [] if isinstance(node, (ast.Lambda, *COMPREHENSIONS)) else
             ast.iter_child_nodes(node))
    for child in inner:
        yield from surely(child)


def assigned_by(node: ast.AST) -> set[str]:
    """The names that an expression or a simple statement surely assigns."""
    targets: list[ast.expr] = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return {name for t in targets for name in occurring(t, ast.Store)} | {n.target.id for n in surely(node) if isinstance(n, ast.NamedExpr)}


def before_evaluation(node: ast.AST, live: set[str]) -> set[str]:
    """What is live before an expression or a simple statement, from what is live behind it."""
    return read_in(node) | (live - assigned_by(node))


class Liveness:
    """Of the names of a function. `behind`: for each `if`, those that are live behind it. `taken` says which arm a condition takes for sure."""

    def __init__(self, function: ast.FunctionDef, taken: Callable[[ast.If], bool | None]) -> None:
        self.taken = taken
        self.behind: dict[ast.AST, set[str]] = {}
        self.loops: list[tuple[set[str], set[str]]] = []  # that are open: what is live behind each, and before its next iteration
        self.before(function.body, set())

    def before(self, body: list[ast.stmt], live: set[str]) -> set[str]:
        """What is live before statements, from what is live behind them."""
        for statement in reversed(body):
            live = self.before_one(statement, live)
        return live

    def before_one(self, node: ast.stmt, live: set[str]) -> set[str]:
        if isinstance(node, ast.If):
            self.behind[node] = live
            arms, taken = (self.before(node.orelse, live), self.before(node.body, live)), self.taken(node)
            return before_evaluation(node.test, arms[0] | arms[1] if taken is None else arms[taken])
        if isinstance(node, ast.For):
            return before_evaluation(node.iter, self.before_loop(node, ast.Constant(0), occurring(node.target, ast.Store), live))
        if isinstance(node, ast.While):
            return self.before_loop(node, node.test, set(), live)
        if isinstance(node, (ast.Break, ast.Continue)):
            return self.loops[-1][isinstance(node, ast.Continue)]
        return before_evaluation(node, set() if isinstance(node, ast.Return) else live)

    def before_loop(self, node: Any, test: ast.expr, index: set[str], live: set[str]) -> set[str]:
        """What is live before an iteration of a loop, or its end."""
        ends = self.before(node.orelse, live)
        head = before_evaluation(test, ends)
        for _ in range(2):  # what the first pass finds is live behind each iteration in the second, which finds nothing more
            self.loops.append((live, head))
            head = before_evaluation(test, ends | (self.before(node.body, head) - index))
            self.loops.pop()
        return head
