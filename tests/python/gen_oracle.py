"""The oracle of generated kernels: runs a program's text, kernels by a small interpreter of Python's syntax, on the numbers of gen_numbers.

The text's module level is run by Python itself, with `rg` and `np` replaced by what stands here. Kernels and functions are interpreted:
names live in blocks, variables keep the type of their first assignment, vectors are values, iterations run in order.
"""

import ast
import itertools
from types import SimpleNamespace

import gen_numbers as g
from gen_numbers import Invalid, Scalar, Undefined, Vector, cast, is_scalar
from gen_places import PLACES, Array, Element, Entries, Node, Slot, VectorType, fill, positions, same_type, scalar_type, settled, swizzle
from gen_types import SpecialForm, Types

STEPS = 200000  # statements and expressions that a program may take


class Break(Exception):
    """A break statement."""


class Continue(Exception):
    """A continue statement."""


class Return(Exception):
    """A return statement, with its value."""


# -- kernels and functions -----------------------------------------------------------------------------------------------


class Function:
    """A @func or a @kernel."""

    def __init__(self, machine, function, kernel):
        self.machine, self.function, self.kernel, self.owner = machine, function, kernel, None
        self.tree = machine.functions[function.__code__.co_firstlineno]
        names, cells = function.__code__.co_freevars, function.__closure__ or ()
        self.closure = dict(zip(names, cells))

    def __get__(self, owner, kind=None):
        made = Function(self.machine, self.function, self.kernel)
        made.owner = owner
        return made

    def __call__(self, *args):
        if not self.kernel:
            return self.machine.call(self, args)
        self.machine.launches += 1
        result = self.machine.launch(self, args)
        self.machine.results.append(result)
        return result


class Frame:
    """A function whose body runs."""

    def __init__(self, function):
        self.function, self.scopes = function, [{}]

    def find(self, name):
        for scope in reversed(self.scopes):
            if name in scope:
                return scope[name]
        return None

    def lookup(self, name):
        slot = self.find(name)
        if slot is not None:
            if slot.lost:
                raise Invalid("what an if has left behind has got another type")
            slot.tentative = False
            return slot
        if name in self.function.closure:
            return self.function.closure[name].cell_contents
        names = self.function.function.__globals__
        if name in names:
            return names[name]
        if name in BUILTINS:
            return BUILTINS[name]
        raise Invalid(f"the name {name} is not defined")


class Loop:
    """What a loop runs over: indices, each one value or one for each name."""

    def __init__(self, indices):
        self.indices = indices


def shape_indices(bounds):
    """All indices of a product, the last axis fastest."""
    found = [()]
    for lo, hi in bounds:
        found = [at + (Scalar(g.i32, k),) for at in found for k in range(lo, hi)]
    return found


def known(x):
    """An integer, also of run time, as Python's."""
    if isinstance(x, Scalar) and x.t.kind == "f" or isinstance(x, float):
        raise Invalid("a float where an integer is wanted")
    return x.v if isinstance(x, Scalar) else x


def index_type(*bounds):
    """The type of a loop's index: i32, or i64 where a bound has another type that is as wide."""
    return g.i64 if any(isinstance(x, Scalar) and x.t.bits >= 32 and x.t is not g.i32 for x in bounds) else g.i32


def ranged(*args):
    """`range` as a loop of run time."""
    t = index_type(*args)
    return Loop([Scalar(t, k) for k in range(*(known(a) for a in args))])


def static_ndrange(*args):
    """`ndrange` in a static loop."""
    return list(itertools.product(*(range(*a) if isinstance(a, tuple) else range(a) for a in args)))


def ndrange(*args):
    return Loop(shape_indices([tuple(known(k) for k in a) if isinstance(a, (tuple, list)) else (0, known(a)) for a in args]))


def grouped(x):
    indices = shape_indices([(0, n) for n in x.shape]) if isinstance(x, Array) else x.indices
    return Loop([Vector.of(list(at), (len(at),)) for at in indices])


def definitely(body):
    """Names that each way through the statements assigns at their top level."""
    found = set()
    for s in body:
        if isinstance(s, ast.Assign):
            for t in s.targets:
                found |= {n.id for n in ast.walk(t) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        elif isinstance(s, ast.AnnAssign) and isinstance(s.target, ast.Name):
            found.add(s.target.id)
        elif isinstance(s, ast.If) and s.orelse:
            found |= definitely(s.body) & definitely(s.orelse)
    return found


def comes_out(body):
    """Whether control may come out behind statements."""
    for s in body:
        if isinstance(s, (ast.Return, ast.Break, ast.Continue)):
            return False
        if isinstance(s, ast.If) and s.orelse and not comes_out(s.body) and not comes_out(s.orelse):
            return False
    return True


SYMBOLS = {"Add": "+", "Sub": "-", "Mult": "*", "Div": "/", "FloorDiv": "//", "Mod": "%", "Pow": "**", "BitAnd": "&", "BitOr": "|",
           "BitXor": "^", "LShift": "<<", "RShift": ">>", "Lt": "<", "LtE": "<=", "Gt": ">", "GtE": ">=", "Eq": "==", "NotEq": "!=", "MatMult": "@"}
PYTHON = {symbol: eval(f"lambda x, y: x {symbol} y") for symbol in SYMBOLS.values()}
ATOMIC = {"add": "+", "sub": "-", "mul": "*", "and": "&", "or": "|", "xor": "^"}
BUILTINS = {"range": ranged, "abs": g.absolute, "min": g.minimum, "max": g.maximum, "pow": g.pow_, "round": g.rounded, "len": len, "zip": zip,
            "enumerate": enumerate, "int": int, "float": float, "bool": bool, "sum": sum, "True": True, "False": False}


class Machine(Types):
    """Runs one program."""

    def __init__(self, text):
        tree = ast.parse(text)
        self.functions = {n.decorator_list[0].lineno: n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and n.decorator_list}
        tree.body = [s for s in tree.body if not isinstance(s, (ast.Import, ast.ImportFrom))]
        self.code = compile(tree, "<oracle>", "exec")
        self.frame = None
        self.static = self.control = self.steps = self.launches = 0
        self.parallel = False
        self.config = {}
        self.results = []

    # -- running -----------------------------------------------------------------------------------------------------------

    def names(self):
        """The module's namespace."""
        def array(dtype, shape=None, needs_grad=False, needs_dual=False, **other):
            return Array(dtype, shape, needs_grad)

        def stub(name):
            return SpecialForm(name)

        def init(default_fp=g.f32, default_ip=g.i32, **options):
            g.world.default_fp, g.world.default_ip = default_fp, default_ip

        rg = SimpleNamespace(
            init=init, f32=g.f32, f64=g.f64, i32=g.i32, i64=g.i64, u8=g.u8, u1=g.u1, u32=g.u32, field=array, ndarray=array,
            kernel=lambda f: Function(self, f, True), func=lambda f: Function(self, f, False), data_oriented=lambda c: c,
            types=SimpleNamespace(vector=VectorType, matrix=VectorType, ndarray=lambda **options: None, NDArray=Anything()),
            template=lambda: TEMPLATE,
            Vector=Vector, Matrix=Vector, static=stub("static"), ndrange=ndrange, grouped=grouped, loop_config=stub("loop_config"),
            sin=g.sin, cos=g.cos, tan=g.tan, asin=g.asin, acos=g.acos, atan=g.atan, atan2=g.atan2, tanh=g.tanh, exp=g.exp, log=g.log, sqrt=g.sqrt,
            rsqrt=g.rsqrt, floor=g.floor, ceil=g.ceil, round=g.rounded, min=g.minimum, max=g.maximum, abs=g.absolute, pow=g.pow_,
            select=g.select, stop_grad=g.stop_grad, math=g.math_functions, root=Node(), i=None, ij=None,
            cast=lambda x, t: scalar_type(t)(x),
            **{f"atomic_{k}": stub(f"atomic_{k}") for k in ("add", "sub", "mul", "min", "max", "and", "or", "xor")})
        np = SimpleNamespace(zeros=lambda shape, dtype: Array(dtype, shape), float64=g.f64, float32=g.f32, int32=g.i32)
        return {"__name__": "program", "rg": rg, "np": np, "fill": fill}

    def run(self):
        """The module's level, and its `main`. The namespace after it."""
        names = self.names()
        exec(self.code, names)
        names["main"]()
        return names

    def launch(self, kernel, args):
        given = [cast(a, scalar_type(self.annotation(kernel, p))) if is_scalar(a) and self.annotation(kernel, p) is not TEMPLATE else a
                 for a, p in zip(args, kernel.tree.args.args[kernel.owner is not None :])]
        self.frame, self.control, self.parallel = None, 0, False
        result = self.call(kernel, given)
        annotation = kernel.tree.returns
        if annotation is None:
            return None
        wanted = kernel.function.__annotations__["return"]
        if isinstance(wanted, tuple):
            return tuple(self.as_annotated(v, t) for v, t in zip(result, wanted))
        return self.as_annotated(result, wanted)

    def as_annotated(self, value, wanted):
        return wanted(value) if isinstance(wanted, VectorType) else cast(value, scalar_type(wanted))

    def annotation(self, function, parameter):
        return function.function.__annotations__.get(parameter.arg)

    def call(self, function, args):
        """A function's body with arguments: values are copies, and templates what they are."""
        frame = Frame(function)
        parameters = function.tree.args.args
        if function.owner is not None:
            frame.scopes[0][parameters[0].arg] = Slot(function.owner)
            parameters = parameters[1:]
        if len(parameters) != len(args):
            raise Invalid("the wrong number of arguments")
        for p, a in zip(parameters, args):
            annotation = self.annotation(function, p)
            if annotation is TEMPLATE:
                frame.scopes[0][p.arg] = a if isinstance(a, PLACES) else Slot(a)
                continue
            a = a.load() if isinstance(a, PLACES) else a
            if isinstance(annotation, VectorType) or annotation is not None and isinstance(scalar_type(annotation), g.Type):
                a = self.as_annotated(a, annotation)
            frame.scopes[0][p.arg] = Slot(settled(a))
        before, self.frame = self.frame, frame
        static, self.static = self.static, 0
        try:
            self.block(function.tree.body)
            return None
        except Return as r:
            return r.args[0]
        finally:
            self.frame, self.static = before, static

    # -- statements --------------------------------------------------------------------------------------------------------

    def block(self, body):
        for s in body:
            self.steps += 1
            if self.steps > STEPS:
                raise Undefined("too many steps")
            getattr(self, f"do_{type(s).__name__}")(s)

    def scoped(self, body):
        """Statements in a block of names. The names of the block."""
        self.frame.scopes.append({})
        depth = len(self.frame.scopes)
        try:
            self.block(body)
            return self.frame.scopes[-1]
        finally:
            del self.frame.scopes[depth - 1 :]

    def controlled(self, body):
        """The same, under control of run time."""
        self.control += 1
        try:
            return self.scoped(body)
        finally:
            self.control -= 1

    def do_Pass(self, s):
        pass

    do_Assert = do_Pass

    def do_Expr(self, s):
        if not isinstance(s.value, ast.Constant):
            self.eval(s.value)

    def bind(self, name, value, fresh=False):
        slot = self.frame.find(name)
        value = settled(value)
        run_time = slot is not None and isinstance(slot.load(), (Scalar, Vector))
        replaced = slot is not None and slot.tentative and (slot.lost or not same_type(slot.value, value))
        if replaced:
            slot.lost = True
        if slot is not None and run_time and not fresh and not replaced:
            slot.store(value)
        elif slot is not None and not run_time and not fresh and not isinstance(value, (Scalar, Vector)):
            slot.value = value
        else:
            self.frame.scopes[-1][name] = Slot(value)

    def assign(self, target, value):
        if isinstance(target, ast.Name):
            self.bind(target.id, value)
        elif isinstance(target, ast.Tuple):
            values = list(value)
            if len(values) != len(target.elts):
                raise Invalid("unpacking")
            for t, v in zip(target.elts, values):
                self.assign(t, v)
        else:
            self.place(target).store(value)

    def do_Assign(self, s):
        value = self.eval(s.value)
        for t in s.targets:
            self.assign(t, value)

    def do_AnnAssign(self, s):
        t = scalar_type(self.eval(s.annotation))
        self.bind(s.target.id, t(self.eval(s.value)), fresh=True)

    def do_AugAssign(self, s):
        value = self.eval(s.value)
        place = self.ref(s.target)
        if not isinstance(place, PLACES):
            raise Invalid("an augmented assignment to a constant")
        place.store(self.operate(SYMBOLS[type(s.op).__name__], place.load(), value))

    def do_If(self, s):
        test = self.eval(s.test)
        if not isinstance(test, Scalar) and self.is_static(s.test):
            self.block(s.body if test else s.orelse)
            return
        taken = cast(test, g.u1).v if isinstance(test, Scalar) else test
        arm = s.body if taken else s.orelse
        names = self.controlled(arm) if isinstance(test, Scalar) else self.scoped(arm)
        arms = [definitely(b) for b in (s.body, s.orelse) if comes_out(b)]
        for name in set.intersection(*arms) if s.orelse and arms else ():
            if name in names:
                self.frame.scopes[-1][name] = Slot(names[name].load(), tentative=True)

    def is_static(self, e):
        """Whether `static` stands around the condition."""
        return isinstance(e, ast.Call) and isinstance(e.func, ast.Attribute) and e.func.attr == "static"

    def do_While(self, s):
        while True:
            self.steps += 1
            if self.steps > STEPS:
                raise Undefined("too many steps")
            self.frame.scopes.append({})
            self.control += 1
            depth = len(self.frame.scopes)
            try:
                test = self.eval(s.test)
                if not (cast(test, g.u1).v if isinstance(test, Scalar) else test):
                    return
                self.block(s.body)
            except Break:
                return
            except Continue:
                pass
            finally:
                self.control -= 1
                del self.frame.scopes[depth - 1 :]

    def do_For(self, s):
        config, self.config = self.config, {}
        over = self.eval(s.iter)
        if isinstance(over, Array):
            over = Loop([at if len(at) > 1 else at[0] for at in shape_indices([(0, n) for n in over.shape])])
        static = not isinstance(over, Loop)
        parallel = not static and self.control == 0 and not self.parallel and not config.get("serialize")
        for item in over if static else over.indices:
            try:
                self.iteration(s, item, static, parallel)
            except Continue:
                pass
            except Break:
                break

    def iteration(self, s, item, static, parallel):
        self.frame.scopes.append({})
        depth = len(self.frame.scopes)
        before, self.parallel = self.parallel, parallel or self.parallel
        self.control += not static
        try:
            self.index(s.target, item, static)
            self.block(s.body)
        except Return:
            if not parallel:
                raise
        finally:
            self.parallel = before
            self.control -= not static
            del self.frame.scopes[depth - 1 :]

    def index(self, target, item, static):
        if isinstance(target, ast.Tuple):
            for t, v in zip(target.elts, item):
                self.index(t, v, static)
        else:
            self.frame.scopes[-1][target.id] = Slot(item)

    def do_Break(self, s):
        raise Break

    def do_Continue(self, s):
        raise Continue

    def do_Return(self, s):
        raise Return(None if s.value is None else self.eval(s.value))

    # -- expressions -------------------------------------------------------------------------------------------------------

    def eval(self, e):
        found = self.ref(e)
        return found.load() if isinstance(found, PLACES) else found

    def place(self, e):
        found = self.ref(e)
        if not isinstance(found, PLACES):
            raise Invalid("this cannot be assigned")
        return found

    def ref(self, e):
        self.steps += 1
        return getattr(self, f"on_{type(e).__name__}")(e)

    def on_Constant(self, e):
        return e.value

    def on_Name(self, e):
        return self.frame.lookup(e.id)

    def on_Attribute(self, e):
        base = self.ref(e.value)
        value = base.load() if isinstance(base, PLACES) else base
        if isinstance(value, Vector):
            at = swizzle(e.attr, value.shape)
            if at is not None:
                return Entries(base if isinstance(base, PLACES) else Slot(value), at, (len(at),) if len(at) > 1 else ())
        found = getattr(value, e.attr)
        return found

    def on_Subscript(self, e):
        base = self.ref(e.value)
        index = tuple(self.piece(k) for k in e.slice.elts) if isinstance(e.slice, ast.Tuple) else self.piece(e.slice)
        value = base.load() if isinstance(base, PLACES) else base
        if isinstance(value, Array):
            at = value.at(index)
            return Element(value, list(range(at, at + value.width)), value.element)
        if isinstance(value, Vector):
            at, shape = positions(value.shape, index)
            return Entries(base if isinstance(base, PLACES) else Slot(value), at, shape)
        return value[index]

    def piece(self, e):
        if isinstance(e, ast.Slice):
            return slice(*(None if k is None else self.eval(k) for k in (e.lower, e.upper, e.step)))
        return self.eval(e)

    def operate(self, symbol, x, y):
        return PYTHON[symbol](x, y)

    def on_BinOp(self, e):
        x = self.eval(e.left)
        return self.operate(SYMBOLS[type(e.op).__name__], x, self.eval(e.right))

    def on_UnaryOp(self, e):
        x = self.eval(e.operand)
        if isinstance(e.op, ast.Not):
            return g.truth(not cast(x, g.u1).v) if isinstance(x, Scalar) else not x
        return -x if isinstance(e.op, ast.USub) else +x if isinstance(e.op, ast.UAdd) else ~x

    def on_Compare(self, e):
        left = self.eval(e.left)
        result = None
        for op, node in zip(e.ops, e.comparators):
            right = self.eval(node)
            one = self.operate(SYMBOLS[type(op).__name__], left, right)
            known_now = not isinstance(result, (Scalar, Vector)) and not isinstance(one, (Scalar, Vector))
            result = one if result is None else (result and one) if known_now else result & one
            left = right
        return result

    def on_BoolOp(self, e):
        conjunction = isinstance(e.op, ast.And)
        values = [self.eval(e.values[0])]
        result = values[0]
        for k in e.values[1:]:
            taken = cast(result, g.u1).v if isinstance(result, Scalar) else bool(result)
            if taken != conjunction:
                break
            result = self.eval(k)
        return self.common(result, e.values)

    def on_IfExp(self, e):
        test = self.eval(e.test)
        if not isinstance(test, Scalar):
            return self.ref(e.body if test else e.orelse)
        value = self.eval(e.body if cast(test, g.u1).v else e.orelse)
        return self.common(value, [e.body, e.orelse])

    def on_NamedExpr(self, e):
        value = self.eval(e.value)
        self.bind(e.target.id, value)
        return value

    def on_Tuple(self, e):
        return tuple(self.eval(k) for k in e.elts)

    def on_List(self, e):
        return [self.eval(k) for k in e.elts]

    def on_ListComp(self, e):
        (one,) = e.generators
        found = []
        self.static += 1
        items = self.eval(one.iter)
        self.static -= 1
        for item in items:
            self.frame.scopes.append({})
            self.index(one.target, item, True)
            found.append(self.eval(e.elt))
            self.frame.scopes.pop()
        return found

    def on_Call(self, e):
        f = self.ref(e.func)
        f = f.load() if isinstance(f, PLACES) else f
        if isinstance(f, SpecialForm):
            return getattr(self, f"form_{f.name.split('_')[0]}")(f.name, e)
        if isinstance(f, Function):
            return self.call(f, self.arguments(f, e))
        if f in (ranged, ndrange) and self.static:
            return (range if f is ranged else static_ndrange)(*(self.eval(a) for a in e.args))
        args = [self.eval(a) for a in e.args]
        if f in (int, float, bool):
            return g.entrywise(lambda x: cast(x, scalar_type(f)) if isinstance(x, Scalar) else f(x), args[0])
        return f(*args, **{k.arg: self.eval(k.value) for k in e.keywords})

    def arguments(self, f, e):
        """A call's arguments in the order of the parameters: by position, by name, or the default."""
        parameters = f.tree.args.args[f.owner is not None :]
        defaults = dict(zip((p.arg for p in reversed(parameters)), reversed(f.tree.args.defaults)))
        given = {p.arg: a for p, a in zip(parameters, e.args)} | {k.arg: k.value for k in e.keywords}
        found = {name: self.ref(a) for name, a in given.items()}
        found = {p.arg: found[p.arg] if p.arg in found else self.eval(defaults[p.arg]) for p in parameters}
        templates = {p.arg for p in parameters if self.annotation(f, p) is TEMPLATE}
        return [v if name in templates or not isinstance(v, PLACES) else v.load() for name, v in found.items()]

    def form_static(self, name, e):
        self.static += 1
        try:
            return self.eval(e.args[0])
        finally:
            self.static -= 1

    def form_loop(self, name, e):
        self.config = {k.arg: self.eval(k.value) for k in e.keywords}

    def form_atomic(self, name, e):
        place = self.place(e.args[0])
        value = self.eval(e.args[1])
        old = place.load()
        op = name[7:]
        if op in ("min", "max"):
            place.store((g.minimum if op == "min" else g.maximum)(old, value))
        else:
            place.store(self.operate(ATOMIC[op], old, value))
        return old


class Anything:
    """An annotation that says nothing to the oracle."""

    def __getitem__(self, given):
        return None


TEMPLATE = object()
