"""From a function's syntax tree to the builder: statements."""

from __future__ import annotations

import ast
from typing import Any

from . import dtypes
from . import expr as e
from .ad_stop import stops
from .build import Build
from .errors import CompilationError, SyntaxError_, TypeError_, locate, located
from .expr import Expr
from .liveness import Liveness, occurring
from .loops import Looper
from .matrix import Matrix
from .places import Place, is_value, local, same_type
from .scopes import Hoisted, in_all_arms
from .shared import OPERATORS
from .text import Text

INSTEAD = {"Try": "kernels have no exceptions: use `assert` or a flag", "With": "kernels have no context managers", "Raise": "use `assert`",
           "FunctionDef": "define a @func outside of the kernel", "AsyncFunctionDef": "define a @func outside of the kernel",
           "AsyncFor": "use `for`", "AsyncWith": "kernels have no context managers", "TryStar": "kernels have no exceptions: use `assert` or a flag",
           "ClassDef": "define it outside of the kernel", "Import": "import outside of the kernel", "ImportFrom": "import outside of the kernel",
           "Global": "globals are constants in kernels; use a field", "Nonlocal": "outer variables are constants in kernels; use a field",
           "Delete": "names end with their block", "Match": "use `if` and `elif`", "TypeAlias": "define it outside of the kernel"}

SIMPLE = (ast.Name, ast.Constant, ast.Attribute, ast.UnaryOp, ast.BinOp, ast.BoolOp, ast.Compare,
          ast.unaryop, ast.operator, ast.boolop, ast.cmpop, ast.expr_context)


class Walker(Looper):
    """Builds one kernel, statement by statement."""

    def __init__(self, build: Build) -> None:
        super().__init__(build)
        self.config = {}

    def statements(self, body: list[ast.stmt]) -> bool:
        before = self.build.stopped
        self.build.stopped = before | stops(self, body)
        left = any(self.statement(s) for s in body)
        self.build.stopped = before
        return left

    def statement(self, node: ast.stmt) -> bool:
        try:
            self.at(node)
            method = getattr(self, f"do_{type(node).__name__}", None)
            if method is None:
                name = type(node).__name__
                raise SyntaxError_(f"Unsupported node \"{name}\" in a kernel" + (f": {INSTEAD[name]}" if name in INSTEAD else ""))
            return bool(method(node))
        except RecursionError:
            raise
        except Exception as error:
            if located(error):
                raise
            raise self.locate(error, node) from error

    def locate(self, error: Exception, node: Any) -> Exception:
        calls = "\n".join(f.source.place(n) for f, n in self.calls)
        return locate(error, (calls + "\n" if calls else "") + self.frame.source.place(node))

    # -- names ---------------------------------------------------------------------------------------------------------

    def bind(self, name: str, value: Any, dtype: Any = None) -> None:
        """Assign to a name."""
        frame = self.frame
        if frame.is_argument(name):
            raise SyntaxError_(f'Kernel argument "{name}" is immutable in the kernel: copy it to another name')
        if isinstance(value, list) and value and all(e.is_scalar(v) for v in value) and (name in frame.stored or any(isinstance(v, Expr) for v in value)):
            value = Matrix(value)
        scope = frame.find(name)
        entry = scope[name] if scope is not None else None
        if isinstance(entry, Place) and dtype is None:
            if not is_value(value):
                raise TypeError_(f"`{name}` is a variable of run time and cannot become {e.describe(value)}")
            entry.store(value)
            return
        if not is_value(value):
            if scope is not None and self.level > frame.levels.get(name, 0) and scope is not frame.scope:
                raise CompilationError(f"`{name}` is known when the kernel is compiled, and cannot be changed under control of run time")
            (scope if scope is not None else frame.scope)[name] = value
            frame.levels[name] = self.level
            return
        place = self.hoisted(name, value) if dtype is None else None
        if place is None:
            place = local(name, value, dtype=dtype)
        place.store(value)
        frame.scope[name] = place

    def hoisted(self, name: str, value: Any) -> Place | None:
        """The variable around an `if` for a name that this arm assigns for the first time; None: it ends with the arm."""
        hoist = self.frame.scope.hoists.get(name)
        if hoist is None:
            return None
        if hoist.place is None:
            hoist.place = local(name, value, hoist.depth)
        if not same_type(hoist.place, value):
            hoist.differs = True
            return None
        hoist.arms += 1
        return hoist.place

    def assign(self, target: ast.expr, value: Any) -> None:
        if isinstance(target, ast.Name):
            self.bind(target.id, value)
        elif isinstance(target, (ast.Tuple, ast.List)):
            self.unpack(target, value)
        elif isinstance(target, (ast.Subscript, ast.Attribute)):
            place = self.ref(target)
            if isinstance(place, Place):
                place.store(value)
            else:
                self.assign_object(target, value)
        else:
            raise SyntaxError_(f"an assignment to {type(target).__name__} is not possible in a kernel")

    def unpack(self, target: ast.Tuple | ast.List, value: Any) -> None:
        """To several targets, of which one may take what is left: `first, *rest = values`."""
        values = list(value) if isinstance(value, (tuple, list, Matrix)) else None
        if values is None:
            raise TypeError_(f"{e.describe(value)} cannot be unpacked")
        n, star = len(target.elts), next((k for k, t in enumerate(target.elts) if isinstance(t, ast.Starred)), None)
        if len(values) != n if star is None else len(values) < n - 1:
            raise TypeError_(f"{len(values)} values for {n} names")
        if star is not None:
            rest = len(values) - n + 1
            values[star : star + rest] = [values[star : star + rest]]
        for t, v in zip(target.elts, values):
            self.assign(t.value if isinstance(t, ast.Starred) else t, v)

    def assign_object(self, target: Any, value: Any) -> None:
        """To an item of a list, which is known at compile time."""
        base = self.ref(target.value)
        if isinstance(target, ast.Subscript) and isinstance(base, (list, dict)):
            if self.level > 0:
                raise CompilationError("a list is known when the kernel is compiled, and cannot be changed under control of run time")
            base[self.index_of(target.slice)] = value
            return
        raise SyntaxError_("only variables, and elements of arrays, vectors and structs can be assigned in a kernel")

    def do_Assign(self, node: ast.Assign) -> None:
        value = self.eval(node.value)
        for target in node.targets:
            self.at(node)
            self.assign(target, value)

    def do_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is None:
            raise SyntaxError_("a declaration needs a value: `x: i32 = 0`")
        annotation = self.eval_static(node.annotation)
        value = self.eval(node.value)
        dtype = dtypes.of(annotation)
        if dtype is None and not callable(annotation):
            raise TypeError_(f"{annotation!r} is not a type of variables")
        if isinstance(node.target, ast.Name):
            if dtype is None:
                value = annotation(value)
            self.bind(node.target.id, value, dtype)
        else:
            self.assign(node.target, value)

    def do_AugAssign(self, node: ast.AugAssign) -> None:
        op = OPERATORS.get(type(node.op))
        value = self.eval(node.value)
        place = self.ref(node.target)
        if isinstance(node.target, ast.Name):
            if self.frame.is_argument(node.target.id):
                raise SyntaxError_(f'Kernel argument "{node.target.id}" is immutable in the kernel: copy it to another name')
            if not isinstance(place, Place):
                self.bind(node.target.id, self.operate(node.op, place, value))
                return
        if not isinstance(place, Place):
            self.assign_object(node.target, self.operate(node.op, place, value))
            return
        self.at(node)
        if op is None:  # @
            place.store(place.load() @ value)
        else:
            place.update(op, value)

    def do_Expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Constant):
            return  # a docstring
        self.eval(node.value)

    def do_Pass(self, node: ast.Pass) -> None:
        return

    # -- if ------------------------------------------------------------------------------------------------------------

    def do_If(self, node: ast.If) -> bool:
        test = self.eval(node.test)
        if not isinstance(test, Expr):
            if isinstance(test, Matrix) and any(isinstance(x, Expr) for x in test.entries):
                raise TypeError_("the condition of an if is a scalar: use `.any()` or `.all()` of a vector")
            return self.known_arm(node, node.body if test else node.orelse)
        b = self.build.builder
        frame = self.frame
        outer = frame.scope.hoists
        depth = b.depth()
        hoists = {name: outer.get(name) or Hoisted(depth) for name in self.left_behind(node) if frame.find(name) is None}
        before = {name: h.arms for name, h in hoists.items()}
        b.if_(e.truth(test).value)
        left = [self.arm(node.body, hoists)]
        b.else_()
        left.append(self.arm(node.orelse, hoists))
        b.end()
        for name, h in hoists.items():
            if h.place is None or h.differs or h.arms - before[name] != 2:
                frame.dead[name] = "the arms of the `if` that assigns it give it different types" if h.differs else frame.dead.get(name, "")
            else:
                frame.scope[name] = h.place
                h.arms = before[name] + (name in outer)
        return all(left)

    def left_behind(self, node: ast.If) -> set[str]:
        """The names that every arm assigns, and that are read behind the `if`."""
        frame, names = self.frame, in_all_arms(node)
        if not names:
            return set()
        if frame.liveness is None:
            frame.liveness = Liveness(frame.source.tree, self.taken)
            self.at(node.test)
        return names & frame.liveness.behind[node]

    def taken(self, node: ast.If) -> bool | None:
        """Whether the condition of an `if` anywhere in the function holds; None: it is not `static`, or more than outer names and numbers."""
        test = node.test
        if not isinstance(test, ast.Call) or not self.is_static(test):
            return None
        own = occurring(self.frame.source.tree, ast.Store)
        if any(not isinstance(n, SIMPLE) or getattr(n, "id", None) in own for a in test.args for n in ast.walk(a)):
            return None
        try:
            return bool(self.eval(test))
        except Exception:  # what is wrong with it is said where it stands
            return None

    def known_arm(self, node: ast.If, arm: list[ast.stmt]) -> bool:
        """The arm that a condition known now takes. Its names live on under `static`, else as under a condition of run time."""
        if any(isinstance(n, ast.Call) and self.is_static(n) for n in ast.walk(node.test)):
            return self.statements(arm)
        frame, stay = self.frame, self.left_behind(node)
        self.known_arms += 1
        frame.open({name: h for name, h in frame.scope.hoists.items() if name in stay})
        left = self.statements(arm)
        found = {name: entry for name, entry in frame.scope.items() if name in stay}
        frame.close()
        frame.scope.update(found)
        self.known_arms -= 1
        return left

    def arm(self, body: list[ast.stmt], hoists: dict[str, Hoisted]) -> bool:
        frame = self.frame
        self.enter()
        frame.open(hoists)
        try:
            left = self.statements(body)
            if left:  # whoever comes behind has not come through here
                for name, h in hoists.items():
                    h.arms += name not in frame.scope
        finally:
            frame.close()
            self.exit()
        return left

    # -- return, assert ------------------------------------------------------------------------------------------------

    def do_Return(self, node: ast.Return) -> bool:
        frame = self.frame
        if frame.thread is not None:
            self.build.builder.leave(frame.thread)
            return True
        frame.returns.give(self, None if node.value is None else self.eval(node.value))
        return True

    def do_Assert(self, node: ast.Assert) -> None:
        from .runtime import cfg

        test = self.eval(node.test)  # what it calls and changes does not depend on options
        if isinstance(test, Matrix):
            raise TypeError_("the condition of an assert is a scalar: use `.any()` or `.all()` of a vector")
        if not cfg.debug:
            return
        message = ast.unparse(node.test) if node.msg is None else self.eval(node.msg)
        (message if isinstance(message, Text) else Text([str(message)])).emit_assert(self.build.builder, e.truth(test))
