"""What Quadrants refuses to differentiate and Retrograd does not: refused too, where `init(refuse_like_quadrants=True)` asks for it.

The refusals look at the source of a kernel, and of the functions that it calls, when its `grad` or that of a tape is called.
"""

import ast
import inspect

from retrograd import CompilationError, RuntimeError_
from retrograd._lang.ad_tape import Tape
from retrograd._lang.func import Func
from retrograd._lang.kernel import PythonKernel
from retrograd._lang.source import source_of

plain_grad, plain_tape_grad = PythonKernel.grad, Tape.grad


class Refusals(ast.NodeVisitor):
    """A walk over a function that raises. `loops`: whether loops in loops are refused."""

    def __init__(self, function, loops, depth=0):
        self.function, self.loops, self.depth = function, loops, depth
        self.names = {**function.__globals__, **inspect.getclosurevars(function).nonlocals}
        for statement in source_of(function).tree.body:
            self.visit(statement)

    def static(self, node):
        """What stands in a call of `static`; None: it is no such call."""
        name = getattr(node.func, "attr", getattr(node.func, "id", "")) if isinstance(node, ast.Call) else ""
        return node.args[0] if name == "static" else None

    def arm(self, node):
        """The parts of an `if` that are compiled."""
        condition = self.static(node.test)
        if condition is None:
            return [node.test, node.body, node.orelse]
        return [node.body if eval(ast.unparse(condition), self.names) else node.orelse]

    def visit_parts(self, parts):
        for part in parts:
            for node in part if isinstance(part, list) else [part]:
                self.visit(node)

    def visit_If(self, node):
        self.visit_parts(self.arm(node))

    def visit_For(self, node):
        over = node.iter
        while isinstance(over, ast.IfExp):
            over = self.arm(over)[0]
        if self.static(over) is None:
            if self.depth and self.loops:
                raise CompilationError("a non static range in a loop")
            if not self.depth:
                self.iterations_apart(node)
            self.depth += 1
            self.visit_parts([node.body])
            self.depth -= 1
        else:
            self.visit_parts([node.body])

    def iterations_apart(self, loop):
        """Refuses an array of which an iteration sets one element and reads another, both at places that depend on the loop's index."""
        index = {n.id for n in ast.walk(loop.target) if isinstance(n, ast.Name)}
        places = {}
        for n in (n for s in loop.body for n in ast.walk(s) if isinstance(n, ast.Subscript) and isinstance(n.value, ast.Name)):
            if any(isinstance(m, ast.Name) and m.id in index for m in ast.walk(n.slice)):
                places.setdefault((n.value.id, type(n.ctx)), set()).add(ast.dump(n.slice))
        for (name, context), read in places.items():
            written = places.get((name, ast.Store), set())
            if context is ast.Load and written and read - written:
                raise RuntimeError_(f"Cross-iteration read-after-write of `{name}`")

    def visit_While(self, node):
        raise RuntimeError_("a while loop")

    def visit_Call(self, node):
        if getattr(node.func, "attr", "") in ("random", "randn"):
            raise RuntimeError_("RandStmt not supported")
        called = self.names.get(getattr(node.func, "id", ""))
        if isinstance(called, Func):
            Refusals(called.function, self.loops, self.depth)
        self.generic_visit(node)

    def visit_Attribute(self, node):
        if node.attr == "grad":
            raise RuntimeError_("Cannot automatically differentiate through a grad tensor")
        self.generic_visit(node)


def install(on, loops):
    """Refuse from now on, or not. `loops`: loops in loops, too."""

    def grad(kernel, *args, **named):
        Refusals(kernel.function, loops)
        return plain_grad(kernel, *args, **named)

    def tape_grad(tape):
        for kernel, _ in tape.calls:
            if isinstance(kernel, PythonKernel):
                Refusals(kernel.function, loops)
        return plain_tape_grad(tape)

    PythonKernel.grad, Tape.grad = (grad, tape_grad) if on else (plain_grad, plain_tape_grad)
