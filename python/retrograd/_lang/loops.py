"""From a function's syntax tree to the builder: loops."""

from __future__ import annotations

import ast
import warnings
from typing import Any, Callable, Iterator

import numpy as np

from .._core import RetrogradWarning
from . import dtypes
from . import expr as e
from .arguments import Buffer, domain
from .build import OR, Where
from .errors import SyntaxError_, TypeError_
from .evaluate import Evaluator
from .expr import Expr
from .data import Data
from .iteration import Grouped, NdRange, Range, index_type
from .matrix import Matrix
from .places import Place, Variable, is_value, local
from .random import count
from .runtime import cfg
from .scopes import leaves
from .shared import Flag, Race, Shared, shared

Named = Callable[[list[Expr]], Any]  # from the indices of a loop's ranges to the value of its target


class Loop:
    """A loop around the present statement."""

    def __init__(self, level: int, on_break: int | None, on_continue: int | None, static: bool = False, parallel: bool = False) -> None:
        self.level, self.on_break, self.on_continue, self.static, self.parallel = level, on_break, on_continue, static, parallel
        self.broken = False
        self.jumped = False  # whether an iteration may have ended at run time


class Looper(Evaluator):
    """Builds loops. A statement's method says whether control surely does not come out behind it."""

    config: dict[str, Any]  # of the next loop

    def statements(self, body: list[ast.stmt]) -> bool:
        """Build statements one after the other."""
        raise NotImplementedError

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
        loop.jumped = True
        self.build.builder.leave(loop.on_break if kind == "break" else loop.on_continue)
        return True

    def around(self, node: Any) -> int | None:
        """Before a loop with an `else`, which a `break` skips: the block that it leaves."""
        return self.build.builder.block() if node.orelse else None

    def otherwise(self, node: Any, label: int | None) -> None:
        """After such a loop."""
        if label is not None:
            self.statements(node.orelse)
            self.build.builder.end()

    # -- while ---------------------------------------------------------------------------------------------------------

    def do_While(self, node: ast.While) -> bool:
        b = self.build.builder
        outer = self.around(node)
        label = b.loop()
        self.enter(repeats=True)
        self.frame.open()
        test = self.eval(node.test)
        if isinstance(test, Expr):
            b.leave_if(e.unary("not", e.truth(test)).value, label)
        elif isinstance(test, Matrix):
            raise TypeError_("the condition of a while is a scalar: use `.any()` or `.all()` of a vector")
        elif not test:
            b.leave(label)
        self.body(node.body, Loop(self.level, outer or label, None))
        self.frame.close()
        self.exit(repeats=True)
        b.end()
        self.otherwise(node, outer)
        return not isinstance(test, Expr) and bool(test) and not leaves(node.body, (ast.Break,))

    # -- for -----------------------------------------------------------------------------------------------------------

    def do_For(self, node: ast.For) -> bool:
        config, self.config = self.config, {}
        if isinstance(node.iter, ast.Call) and self.is_static(node.iter):
            return self.unrolled(node, self.eval(node.iter))
        over = self.eval(node.iter)
        if isinstance(over, range):
            over = Range(over.start, over.stop, over.step)
        inner = over.of if isinstance(over, Grouped) else over
        if is_known(inner):
            return self.unrolled(node, inner)
        outer = self.around(node)
        variables = None if self.is_serial(node, config) else self.variables(node)
        if isinstance(over, Range):
            self.over_ranges(node, [(over.lo, over.hi)], over.step, variables, None, lambda index: index[0], outer)
        elif isinstance(inner, NdRange):
            self.over_ranges(node, inner.bounds, 1, variables, inner.order, index_of(over), outer)
        elif isinstance(inner, (Data, Buffer)) or hasattr(inner, "loop_domain"):
            self.over_array(node, over if not hasattr(inner, "loop_domain") else
                            (Grouped(inner.loop_domain) if isinstance(over, Grouped) else inner.loop_domain), variables, outer)
        else:
            raise TypeError_(f"a loop runs over range, ndrange, grouped, static, a field or an ndarray, not over {e.describe(over)}")
        self.otherwise(node, outer)
        return False

    def is_serial(self, node: ast.For, config: dict[str, Any]) -> bool:
        """Whether its iterations run one after the other."""
        threads = config.get("parallelize")
        if config.get("serialize") or threads == 1 or self.build.in_parallel or (self.build.control > 0 and threads is None):
            return True
        if any(isinstance(n, ast.Return) and n.value is not None for s in node.body for n in ast.walk(s)):
            return True  # the first iteration that returns decides
        return self.may_be_serial and leaves(node.body, (ast.Break,))

    @property
    def may_be_serial(self) -> bool:
        """Whether a loop here may also be meant to run in order: that of a function, whose loops are parallel in some of its calls only, and one
        under an `if` that looks like one of run time."""
        return bool(self.calls) or self.known_arms > 0

    def variables(self, node: ast.For) -> list[Shared] | None:
        """Variables around a parallel loop that its iterations change; None: they depend on each other, and the loop may run in order."""
        try:
            return shared(self.frame, node)
        except Race as race:
            if self.may_be_serial or race.of_entries:
                return None
            raise self.locate(SyntaxError_(str(race)), race.node) from None

    def unrolled(self, node: ast.For, over: Any) -> bool:
        """A copy of the body for each item."""
        b = self.build.builder
        frame = self.frame
        if isinstance(over, (Data, Buffer)):
            raise TypeError_("static loops run over what is known when the kernel is compiled, not over fields")
        jumps = leaves(node.body, (ast.Break, ast.Continue))
        label = b.block() if jumps else None
        left = False
        over = list(over)
        if 0 < cfg.unrolling_limit < len(over):
            warnings.warn(f"{frame.source.place(node)}\nthis static loop becomes {len(over)} copies of its body, which take their time to compile; "
                          "`unrolling_limit=0` in init says that this is meant", RetrogradWarning, stacklevel=2)
        for item in over:
            frame.open()
            self.assign_index(node.target, item, constant=True)
            inner = b.block() if jumps else None
            loop = Loop(self.level, label, inner, static=True)
            frame.loops.append(loop)
            left = self.statements(node.body) and (not jumps or frame.returns.ended)
            frame.loops.pop()
            if jumps:
                b.end()
            frame.close()
            if loop.broken or left:
                break
        else:
            self.statements(node.orelse)
        if jumps:
            b.end()
        return left

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
        if isinstance(value, tuple) and len(value) == 1 and not constant:
            value = value[0]
        if isinstance(value, tuple) and not constant:
            raise SyntaxError_(f"1 name for an index of {len(value)} entries: name each, or use `grouped`")
        around = self.frame.find(target.id)
        if around is not None and isinstance(around[target.id], Place) and target.id != "_":
            raise SyntaxError_(f"the loop's index `{target.id}` has the name of a variable around it")
        if constant or not is_value(value) or isinstance(value, Matrix) and not value.entries:
            self.frame.scope[target.id] = value
            self.frame.levels[target.id] = self.level
            return
        made = local(target.id, value)
        made.store(value)
        self.frame.scope[target.id] = made

    def over_array(self, node: ast.For, over: Any, variables: list[Shared] | None, outer: int | None) -> None:
        """A loop over the indices of an array."""
        found = domain(over)
        assert found is not None
        buffer, vector = found
        shape = buffer.shape
        start = buffer.offset or (0,) * len(shape)
        bounds = [(lo, lo + n) for lo, n in zip(start, shape)]
        index = index_of(over) if bounds else lambda _: Matrix.of([e.typed(0, dtypes.i32)], (1,)) if vector else (0,)
        self.over_ranges(node, bounds, 1, variables, buffer.order, index, outer)

    def over_ranges(self, node: ast.For, bounds: list[Any], step: Any, variables: list[Shared] | None, order: Any, index: Named,
                    outer: int | None) -> None:
        """A loop over a product of ranges, whose axes run in an order. `variables`: None, or it is parallel. `outer`: what a break leaves."""
        if not bounds:
            self.serial(node, [(0, 1)], 1, dtypes.i32, lambda found: index([]), outer)
            return
        order = order or tuple(range(len(bounds)))
        t = index_type(*(x for pair in bounds for x in pair))
        run = [bounds[k] for k in order]
        if not isinstance(step, Expr) and step == 0:
            raise TypeError_("the step of a range must not be 0")

        def named(found: list[Expr]) -> Any:
            by_axis: list[Any] = [None] * len(order)
            for k, i in zip(order, found):
                by_axis[k] = i
            return index(by_axis)

        if variables is None or len(run) > 8:
            self.serial(node, run, step, t, named, outer)
        elif isinstance(step, Expr) or step != 1:
            (lo, hi), = run
            first, by = e.typed(lo, t), e.typed(step, t)
            self.parallel(node, [(0, trips(first, e.typed(hi, t), by))], t, lambda found: index([first + found[0] * by]), variables)
        else:
            self.parallel(node, run, t, named, variables)

    def serial(self, node: ast.For, bounds: list[Any], step: Any, t: dtypes.DType, named: Named, outer: int | None) -> None:
        """Loops one inside of the other."""
        b = self.build.builder
        single = len(bounds) == 1
        label = outer if single or outer is not None else b.block()
        found, labels = [], []
        for lo, hi in bounds:
            lo, hi = e.typed(lo, t), e.typed(hi, t)
            if isinstance(step, Expr):
                inner, index = self.stepped(lo, hi, step, t)
            else:
                inner, value = b.for_(lo.value, hi.value, step)
                index = Expr(value, t)
            labels.append(inner)
            found.append(index)
            self.enter(repeats=True)
        self.frame.open()
        self.assign_index(node.target, named(found))
        self.body(node.body, Loop(self.level, label if label is not None else labels[0], None))
        self.frame.close()
        for _ in bounds:
            self.exit(repeats=True)
            b.end()
        if label is not None and label is not outer:
            b.end()

    def stepped(self, lo: Expr, hi: Expr, step: Expr, t: dtypes.DType) -> tuple[int, Expr]:
        """A loop whose step is known at run time only."""
        step = e.cast(step, t)
        count = trips(lo, hi, step)
        inner, value = self.build.builder.for_(e.typed(0, t).value, count.value, 1)
        return inner, lo + Expr(value, t) * step

    def parallel(self, node: ast.For, bounds: list[Any], t: dtypes.DType, named: Named, variables: list[Shared]) -> None:
        """A task, whose iterations are threads."""
        b = self.build.builder
        frame = self.frame
        flags = {v.name: Variable(self.build.var(f"{v.name} is set", dtypes.u1), dtypes.u1) for v in variables if v.op is None}
        lows, highs = [e.typed(lo, t).value for lo, _ in bounds], [e.typed(hi, t).value for _, hi in bounds]
        found = [Expr(v, t) for v in b.parallel(*lows, *highs)]
        for v in variables:
            for var in [flags[v.name].var] if v.op is None else v.vars():
                b.reduce(var, OR if v.op is None else v.op)
        self.build.in_parallel = True
        self.build.where = Where(b.depth(), found)
        thread = b.block()
        before, frame.thread = frame.thread, thread
        frame.open()
        frame.scope.update({name: Flag(name, flag) for name, flag in flags.items()})
        self.level += 1
        self.assign_index(node.target, named(found))
        self.body(node.body, Loop(self.level, None, thread, parallel=True))
        self.level -= 1
        frame.close()
        b.end()
        frame.thread = before
        drawn, self.build.where = self.build.where.draws, self.build.serial
        self.build.in_parallel = False
        b.end()
        if drawn and self.build.serial.repeats:
            count(self.build.serial)
        for v in variables:
            if v.op is None:
                b.if_(flags[v.name].load().value)
                v.place.store(self.eval(v.value))  # type: ignore[arg-type]
                b.end()


def is_known(x: Any) -> bool:
    """Whether its items are known when the kernel is compiled: a list, a vector, what zip and enumerate give."""
    return isinstance(x, (list, tuple, dict, Matrix, np.ndarray)) or isinstance(x, Iterator) and not isinstance(x, Place)


def trips(lo: Expr, hi: Expr, step: Expr) -> Expr:
    """How many iterations a range has; of a step of 0 none."""
    still = step == 0
    count = (hi - lo + step - e.select(step > 0, 1, -1)) // e.select(still, 1, step)
    return e.typed(e.select(still, 0, count), lo.dtype)


def index_of(over: Any) -> Named:
    """What the target of a loop over several axes gets: a vector if they are grouped, else an index for each."""
    if isinstance(over, Grouped):
        return lambda index: Matrix.of(index, (len(index),))
    return tuple
