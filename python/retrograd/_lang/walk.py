"""From a function's syntax tree to the builder: statements."""

from __future__ import annotations

import ast
from typing import Any

from . import dtypes
from . import expr as e
from .arguments import Buffer, domain
from .build import IDENTITY_OF, Build
from .errors import CompilationError, SyntaxError_, TypeError_, locate, located
from .evaluate import Evaluator
from .expr import Expr
from .fields import Data
from .iteration import Grouped, NdRange, Range, index_type
from .matrix import Matrix
from .places import LocalMatrix, Place, Variable, is_value, local, same_type
from .scopes import assigned, definitely, leaves, targets

OPERATORS = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "div", ast.FloorDiv: "floordiv", ast.Mod: "mod", ast.Pow: "pow",
             ast.BitAnd: "and", ast.BitOr: "or", ast.BitXor: "xor", ast.LShift: "shl", ast.RShift: "shr"}
INSTEAD = {"Try": "kernels have no exceptions: use `assert` or a flag", "With": "kernels have no context managers", "Raise": "use `assert`",
           "FunctionDef": "define a @func outside of the kernel", "Lambda": "define a @func outside of the kernel",
           "ClassDef": "define it outside of the kernel", "Import": "import outside of the kernel", "ImportFrom": "import outside of the kernel",
           "Global": "globals are constants in kernels; use a field", "Nonlocal": "outer variables are constants in kernels; use a field",
           "Delete": "names end with their block"}


class Loop:
    """A loop around the present statement."""

    def __init__(self, level: int, on_break: int | None, on_continue: int | None, static: bool = False, parallel: bool = False) -> None:
        self.level, self.on_break, self.on_continue, self.static, self.parallel = level, on_break, on_continue, static, parallel
        self.broken = False


class Hoisted:
    """A name that all arms of an `if` assign: a variable around it, if the types agree."""

    def __init__(self, depth: int) -> None:
        self.depth = depth
        self.place: Place | None = None
        self.arms = 0
        self.differs = False


class Tentative:
    """A variable that an `if` assigned: an assignment before it is read makes a new one."""

    def __init__(self, place: Place) -> None:
        self.place = place


class Walker(Evaluator):
    """Builds one kernel, statement by statement."""

    def __init__(self, build: Build) -> None:
        super().__init__(build)
        self.config: dict[str, Any] = {}
        self.hoists: list[dict[str, Hoisted]] = []

    # Each statement's method says whether control surely does not come out behind it.

    def statements(self, body: list[ast.stmt]) -> bool:
        for s in body:
            if self.statement(s):
                return True
        return False

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

    def bind(self, name: str, value: Any, dtype: Any = None, node: Any = None) -> None:
        """Assign to a name."""
        frame = self.frame
        if name in frame.immutable and frame.find(name) is frame.scopes[0]:
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
            if scope is not None and not isinstance(entry, Tentative) and self.level > frame.levels.get(name, 0) and scope is not frame.scopes[-1]:
                raise CompilationError(f"`{name}` is known when the kernel is compiled, and cannot be changed under control of run time")
            (scope if scope is not None else frame.scopes[-1])[name] = value
            frame.levels[name] = self.level
            return
        hoist = self.hoists[-1].get(name) if self.hoists and frame.scopes[-1] is self.hoist_scope else None
        if hoist is not None and dtype is None:
            if hoist.place is None:
                hoist.place = local(name, value, hoist.depth)
            if same_type(hoist.place, value):
                hoist.place.store(value)
                hoist.arms += 1
                frame.scopes[-1][name] = hoist.place
                return
            hoist.differs = True
        made = local(name, value, dtype=dtype)
        made.store(value)
        frame.scopes[-1][name] = made

    @property
    def hoist_scope(self) -> Any:
        return self.hoist_scopes[-1] if self.hoist_scopes else None

    def assign(self, target: ast.expr, value: Any) -> None:
        if isinstance(target, ast.Name):
            self.bind(target.id, value)
        elif isinstance(target, (ast.Tuple, ast.List)):
            values = list(value) if isinstance(value, (tuple, list, Matrix)) else None
            if values is None:
                raise TypeError_(f"{e.describe(value)} cannot be unpacked")
            if len(values) != len(target.elts):
                raise TypeError_(f"{len(values)} values for {len(target.elts)} names")
            for t, v in zip(target.elts, values):
                self.assign(t, v)
        elif isinstance(target, (ast.Subscript, ast.Attribute)):
            place = self.ref(target)
            if isinstance(place, Place):
                place.store(value)
            else:
                self.assign_object(target, value)
        else:
            raise SyntaxError_(f"an assignment to {type(target).__name__} is not possible in a kernel")

    def assign_object(self, target: Any, value: Any) -> None:
        """To an item of a list, which is known at compile time."""
        base = self.ref(target.value)
        if isinstance(target, ast.Subscript) and isinstance(base, (list, dict)) and self.level == 0:
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
        if isinstance(node.target, ast.Name) and not isinstance(place, Place):
            self.bind(node.target.id, self.operate(node.op, place, value))
            return
        if isinstance(node.target, ast.Name) and node.target.id in self.frame.immutable and self.frame.find(node.target.id) is self.frame.scopes[0]:
            raise SyntaxError_(f'Kernel argument "{node.target.id}" is immutable in the kernel: copy it to another name')
        if not isinstance(place, Place):
            self.assign_object(node.target, self.operate(node.op, place, value))
            return
        if op is None:  # @
            place.store(place.load() @ value)
            return
        self.at(node)
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
            return self.statements(node.body if test else node.orelse)
        b = self.build.builder
        frame = self.frame
        both = definitely(node.body) & definitely(node.orelse)
        outer = self.hoists[-1] if self.hoists and frame.scopes[-1] is self.hoist_scope else {}
        depth = b.depth()
        hoists = {name: outer.get(name) or Hoisted(depth) for name in both
                  if (scope := frame.find(name)) is None or isinstance(scope[name], Tentative)}
        before = {name: h.arms for name, h in hoists.items()}
        b.if_(e.truth(test).value)
        left = [self.arm(node.body, hoists)]
        if node.orelse:
            b.else_()
            left.append(self.arm(node.orelse, hoists))
        b.end()
        for name, h in hoists.items():
            if h.place is not None and not h.differs and h.arms - before[name] == len(left):
                if name in outer:
                    frame.scopes[-1][name] = h.place
                    h.arms = before[name] + 1
                else:
                    frame.scopes[-1][name] = Tentative(h.place)
        return len(left) == 2 and all(left)

    def arm(self, body: list[ast.stmt], hoists: dict[str, Hoisted]) -> bool:
        frame = self.frame
        self.enter()
        frame.open()
        self.hoists.append(hoists)
        self.hoist_scopes.append(frame.scopes[-1])
        try:
            left = self.statements(body)
            if left:  # whoever comes behind has not come through here
                for name, h in hoists.items():
                    h.arms += name not in frame.scopes[-1]
        finally:
            self.hoists.pop()
            self.hoist_scopes.pop()
            frame.close()
            self.exit()
        return left

    # -- loops ---------------------------------------------------------------------------------------------------------

    def do_While(self, node: ast.While) -> None:
        self.no_else(node)
        b = self.build.builder
        label = b.loop()
        self.enter()
        self.frame.open()
        test = self.eval(node.test)
        if isinstance(test, Expr):
            b.leave_if(e.unary("not", e.truth(test)).value, label)
        elif not test:
            b.leave(label)
        self.body(node.body, Loop(self.level, label, None))
        self.frame.close()
        self.exit()
        b.end()

    def no_else(self, node: Any) -> None:
        if node.orelse:
            raise SyntaxError_("an `else` of a loop is not supported in kernels: use a flag")

    def body(self, statements: list[ast.stmt], loop: Loop) -> bool:
        """The statements of an iteration."""
        b = self.build.builder
        block = None
        if loop.on_continue is None and leaves(statements, (ast.Continue,)):
            block = loop.on_continue = b.block()
        self.frame.loops.append(loop)
        left = self.statements(statements)
        self.frame.loops.pop()
        if block is not None:
            b.end()
        return left

    def do_Break(self, node: ast.Break) -> bool:
        return self.jump("break")

    def do_Continue(self, node: ast.Continue) -> bool:
        return self.jump("continue")

    def jump(self, kind: str) -> bool:
        loop = self.frame.loops[-1]
        if loop.static and self.level == loop.level:
            loop.broken = kind == "break"
            return True
        if kind == "break" and loop.parallel:
            raise SyntaxError_("Cannot break in the outermost loop: its iterations run in parallel; "
                               "`loop_config(serialize=True)` before the loop runs it in order")
        self.build.builder.leave(loop.on_break if kind == "break" else loop.on_continue)
        return True

    def do_For(self, node: ast.For) -> bool:
        self.no_else(node)
        config, self.config = self.config, {}
        if isinstance(node.iter, ast.Call) and self.is_static(node.iter):
            self.unrolled(node, self.eval(node.iter))
            return False
        over = self.eval(node.iter)
        if isinstance(over, range):
            over = Range(over.start, over.stop, over.step)
        inner = over.of if isinstance(over, Grouped) else over
        serial = config.get("serialize") or config.get("parallelize") == 1 or self.build.in_parallel or self.build.control > 0
        if isinstance(over, Range):
            self.over_ranges(node, [(over.lo, over.hi)], over.step, serial, None, lambda index: index[0])
        elif isinstance(inner, NdRange):
            vector = isinstance(over, Grouped)
            self.over_ranges(node, inner.bounds, 1, serial, inner.order, lambda index: Matrix.of(index, (len(index),)) if vector else tuple(index))
        elif isinstance(inner, (Data, Buffer)) or hasattr(inner, "loop_domain"):
            self.over_array(node, over if not hasattr(inner, "loop_domain") else
                            (Grouped(inner.loop_domain) if isinstance(over, Grouped) else inner.loop_domain), serial)
        elif isinstance(over, (list, tuple, Matrix)):
            self.unrolled(node, list(over))
        else:
            raise TypeError_(f"a loop runs over range, ndrange, grouped, static, a field or an ndarray, not over {e.describe(over)}")
        return False

    def unrolled(self, node: ast.For, over: Any) -> None:
        """A copy of the body for each item."""
        b = self.build.builder
        frame = self.frame
        jumps = leaves(node.body, (ast.Break, ast.Continue))
        label = b.block() if jumps else None
        if isinstance(over, Data):
            raise TypeError_("static loops run over what is known when the kernel is compiled, not over fields")
        for item in over:
            frame.open()
            self.assign_index(node.target, item, constant=True)
            inner = b.block() if jumps else None
            loop = Loop(self.level, label, inner, static=True)
            frame.loops.append(loop)
            self.statements(node.body)
            frame.loops.pop()
            if jumps:
                b.end()
            frame.close()
            if loop.broken:
                break
        if jumps:
            b.end()

    def assign_index(self, target: ast.expr, value: Any, constant: bool = False) -> None:
        """A loop's index, in the scope of its body."""
        if isinstance(target, (ast.Tuple, ast.List)):
            values = list(value) if isinstance(value, (tuple, list, Matrix)) else [value]
            if len(values) != len(target.elts):
                raise SyntaxError_(f"{len(target.elts)} names for an index of {len(values)} entries")
            for t, v in zip(target.elts, values):
                self.assign_index(t, v, constant)
            return
        if not isinstance(target, ast.Name):
            raise SyntaxError_("the index of a loop is a name")
        if isinstance(value, tuple) and len(value) == 1:
            value = value[0]
        if isinstance(value, tuple) and not constant:
            raise SyntaxError_(f"1 name for an index of {len(value)} entries: name each, or use `grouped`")
        scope = self.frame.find(target.id)
        if scope is not None and isinstance(scope[target.id], Place) and target.id != "_":
            raise SyntaxError_(f"the loop's index `{target.id}` has the name of a variable around it")
        if constant or not is_value(value):
            self.frame.scopes[-1][target.id] = value
            self.frame.levels[target.id] = self.level
            return
        made = local(target.id, value)
        made.store(value)
        self.frame.scopes[-1][target.id] = made

    def over_array(self, node: ast.For, over: Any, serial: bool) -> None:
        found = domain(over)
        assert found is not None
        buffer, vector = found
        shape = buffer.shape
        start = buffer.offset or (0,) * len(shape)
        bounds = [(lo, lo + n) for lo, n in zip(start, shape)]
        if not bounds:
            self.over_ranges(node, [(0, 1)], 1, True, None, lambda index: Matrix.of([e.typed(0, dtypes.i32)], (1,)) if vector else (0,))
            return
        self.over_ranges(node, bounds, 1, serial, buffer.order, lambda index: Matrix.of(index, (len(index),)) if vector else tuple(index))

    def over_ranges(self, node: ast.For, bounds: list[Any], step: Any, serial: bool, order: Any, index_of: Any) -> None:
        """A loop over a product of ranges, whose axes run in an order."""
        order = order or tuple(range(len(bounds)))
        t = index_type(*(x for pair in bounds for x in pair))
        run = [bounds[k] for k in order]
        only = all(not isinstance(x, Expr) for pair in run for x in pair) and all(hi - lo == 1 for lo, hi in run) and step == 1

        def named(found: list[Expr]) -> Any:
            index: list[Any] = [None] * len(order)
            for k, i in zip(order, found):
                index[k] = i
            return index_of(index)

        if serial or step != 1 or len(run) > 8:
            self.serial(node, run, step, t, named)
        else:
            self.parallel(node, run, t, named, only)

    def serial(self, node: ast.For, bounds: list[Any], step: Any, t: dtypes.DType, named: Any) -> None:
        b = self.build.builder
        single = len(bounds) == 1
        label = None if single else b.block()
        found, labels = [], []
        for lo, hi in bounds:
            lo, hi = e.typed(lo, t), e.typed(hi, t)
            if isinstance(step, Expr):
                inner, index = self.stepped(lo, hi, step, t)
            else:
                if step == 0:
                    raise TypeError_("the step of a range must not be 0")
                inner, value = b.for_(lo.value, hi.value, step)
                index = Expr(value, t)
            labels.append(inner)
            found.append(index)
            self.enter()
        self.frame.open()
        self.assign_index(node.target, named(found))
        self.body(node.body, Loop(self.level, labels[0] if single else label, None))
        self.frame.close()
        for _ in bounds:
            self.exit()
            b.end()
        if not single:
            b.end()

    def stepped(self, lo: Expr, hi: Expr, step: Expr, t: dtypes.DType) -> tuple[int, Expr]:
        """A loop whose step is known at run time only."""
        b = self.build.builder
        step = e.cast(step, t)
        zero = step == 0
        last = (hi - lo + step - e.select(step > 0, 1, -1)) // e.select(zero, 1, step)
        inner, value = b.for_(e.typed(0, t).value, e.typed(e.select(zero, 0, last), t).value, 1)
        return inner, lo + Expr(value, t) * step

    def parallel(self, node: ast.For, bounds: list[Any], t: dtypes.DType, named: Any, only: bool) -> None:
        b = self.build.builder
        frame = self.frame
        shared = self.reductions(node)
        lows, highs = [e.typed(lo, t).value for lo, _ in bounds], [e.typed(hi, t).value for _, hi in bounds]
        found = [Expr(v, t) for v in b.parallel(*lows, *highs)]
        for place, op in shared:
            for var in [place.var] if isinstance(place, Variable) else place.vars:
                b.reduce(var, op)
        self.build.in_parallel = True
        thread = b.block()
        before, frame.thread = frame.thread, thread
        frame.open()
        self.level += 1
        self.assign_index(node.target, named(found))
        self.body(node.body, Loop(self.level, None, thread, parallel=True))
        self.level -= 1
        frame.close()
        b.end()
        frame.thread = before
        self.build.in_parallel = False
        b.end()

    def reductions(self, node: ast.For) -> list[tuple[Any, int]]:
        """Variables from outside that all iterations change, and how."""
        own = set(targets(node.target))
        ways: dict[str, set[str]] = {}
        for name, statement in assigned(node.body):
            way = OPERATORS.get(type(statement.op), "") if isinstance(statement, ast.AugAssign) else ""
            ways.setdefault(name, set()).add(way)
        atomic: set[int] = set()
        for call in (n for s in node.body for n in ast.walk(s) if isinstance(n, ast.Call) and n.args and isinstance(n.args[0], ast.Name)):
            way = getattr(call.func, "attr", getattr(call.func, "id", ""))
            if way.startswith("atomic_"):
                ways.setdefault(call.args[0].id, set()).add(way[7:])  # type: ignore[attr-defined]
                atomic.add(id(call.args[0]))
        found = []
        for name, how in ways.items():
            scope = self.frame.find(name)
            entry = scope[name] if scope is not None else None
            entry = entry.place if isinstance(entry, Tentative) else entry
            if name in own or not isinstance(entry, (Variable, LocalMatrix)):
                continue
            ops = {IDENTITY_OF.get(w) for w in how}
            read = any(isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Load) and id(n) not in atomic
                       for s in node.body for n in ast.walk(s))
            op = next(iter(ops))
            if len(ops) != 1 or op is None or read or isinstance(entry, LocalMatrix) and entry.array is not None:
                raise SyntaxError_(f"`{name}` is a variable of the kernel, which all iterations of the parallel loop share: they can add to it "
                                   f"(`{name} += ...`; also -=, *=, &=, |=, ^=, atomic_min, atomic_max), but not read or set it. Use a variable "
                                   "of the loop's body, a field, or `loop_config(serialize=True)`")
            found.append((entry, op))
        return found

    # -- return, assert ------------------------------------------------------------------------------------------------

    def do_Return(self, node: ast.Return) -> bool:
        frame = self.frame
        if frame.thread is not None:
            if node.value is not None:
                raise SyntaxError_("a parallel loop returns no value: `return` ends the iteration")
            self.build.builder.leave(frame.thread)
            return True
        value = None if node.value is None else self.eval(node.value)
        frame.returns.give(self, value)
        return True

    def do_Assert(self, node: ast.Assert) -> None:
        from .runtime import cfg

        if not cfg.debug:
            return
        message = self.text_of(node.msg) if node.msg is not None else ast.unparse(node.test)
        test = self.eval(node.test)
        self.build.builder.assert_(e.truth(test).value, message)

    def configure(self, **options: Any) -> None:
        self.config = options
