"""The oracle of generated kernels: runs a program's text, kernels by a small interpreter of Python's syntax, on the numbers of gen_numbers.

The text's module level is run by Python itself, with `rg` and `np` replaced by what stands here. Kernels and functions are interpreted:
names live in blocks, variables keep the type of their first assignment, vectors are values, iterations run in order.
"""

import ast
import itertools
import random
from types import SimpleNamespace

import gen_numbers as g
from gen_numbers import Invalid, Scalar, Undefined, Vector, cast, is_scalar, type_of

STEPS = 200000  # statements and expressions that a program may take


class Break(Exception):
    """A break statement."""


class Continue(Exception):
    """A continue statement."""


class Return(Exception):
    """A return statement, with its value."""


class VectorType:
    """The type of vectors and matrices; a call makes one."""

    def __init__(self, *given):
        *self.shape, self.dtype = given

    def __call__(self, *args):
        entries = [e for a in args for e in (a.entries if isinstance(a, Vector) else a if isinstance(a, (list, tuple)) else [a])]
        count = 1
        for n in self.shape:
            count *= n
        entries = entries * count if len(entries) == 1 else entries
        if len(entries) != count:
            raise Invalid("the wrong number of entries")
        return Vector.of([cast(e, scalar_type(self.dtype)) for e in entries], tuple(self.shape))


def scalar_type(t):
    """The type that Python's own types stand for, too."""
    return {int: g.world.default_ip, float: g.world.default_fp, bool: g.u1}.get(t, t)


class Array:
    """A field, an ndarray, or an array of NumPy."""

    def __init__(self, dtype, shape, active=False):
        self.element = tuple(dtype.shape) if isinstance(dtype, VectorType) else ()
        self.t = scalar_type(dtype.dtype if isinstance(dtype, VectorType) else dtype)
        self.active = active
        self.width = 1
        for n in self.element:
            self.width *= n
        self.grad = self.dual = Derivative(self)
        if shape is not None:
            self.place(tuple(shape) if isinstance(shape, (tuple, list)) else (shape,))

    def place(self, shape):
        """The shape becomes known."""
        count = self.width
        for n in shape:
            count *= n
        self.shape, self.data = shape, [Scalar(self.t, 0.0 if self.t.kind == "f" else 0)] * count

    @property
    def n(self):
        return self.element[0]

    @property
    def m(self):
        return self.element[1]

    def at(self, index):
        """The position of an element's first entry."""
        given = []
        for part in index if isinstance(index, tuple) else () if index is None else (index,):
            given += part.entries if isinstance(part, Vector) else list(part) if isinstance(part, tuple) else [part]
        if len(given) != len(self.shape):
            raise Invalid("the wrong number of indices")
        at = 0
        for i, extent in zip(given, self.shape):
            i = i.v if isinstance(i, Scalar) else i
            if not isinstance(i, int) or not 0 <= i < extent:
                raise Invalid(f"index {i} of {extent}")
            at = at * extent + i
        return at * self.width


class Derivative:
    """The adjoint or tangent of an array, which is active if it has one."""

    def __init__(self, of):
        self.of = of

    def place(self, shape):
        self.of.active = True


class Node:
    """A node of the layout: where fields are placed."""

    def __init__(self, shape=()):
        self.shape = shape

    def dense(self, axes, sizes):
        return Node(self.shape + (tuple(sizes) if isinstance(sizes, tuple) else (sizes,)))

    def place(self, *arrays):
        for a in arrays:
            a.place(self.shape)


# -- what can be assigned ------------------------------------------------------------------------------------------------


class Slot:
    """A local name: a variable of run time, which keeps its type, or something else. A place, too."""

    def __init__(self, value, tentative=False):
        self.value, self.tentative = value, tentative

    def load(self):
        return self.value

    def store(self, value):
        self.value = fitted(value, self.value)


class Element:
    """A scalar of an array, or some of a vector there."""

    tentative = False

    def __init__(self, array, at, shape):
        self.array, self.at, self.shape = array, at, shape

    def load(self):
        return Vector.of([self.array.data[k] for k in self.at], self.shape) if self.shape else self.array.data[self.at[0]]

    def store(self, value):
        for k, e in zip(self.at, entries_for(value, self.shape)):
            self.array.data[k] = cast(e, self.array.t)


class Entries:
    """Some entries of a place that holds a vector."""

    tentative = False

    def __init__(self, of, at, shape):
        self.of, self.at, self.shape = of, at, shape

    def load(self):
        whole = self.of.load()
        return Vector.of([whole.entries[k] for k in self.at], self.shape) if self.shape else whole.entries[self.at[0]]

    def store(self, value):
        whole = self.of.load()
        entries = list(whole.entries)
        for k, e in zip(self.at, entries_for(value, self.shape)):
            entries[k] = e if not isinstance(entries[k], Scalar) else cast(e, entries[k].t)
        self.of.store(Vector.of(entries, whole.shape))


PLACES = (Slot, Element, Entries)


def entries_for(value, shape):
    """The scalars that a place of a shape takes from a value."""
    if not shape:
        if not is_scalar(value):
            raise Invalid("a vector where a scalar is wanted")
        return [value]
    count = 1
    for n in shape:
        count *= n
    if is_scalar(value):
        return [value] * count
    value = Vector(value) if isinstance(value, (list, tuple)) else value
    if not isinstance(value, Vector) or value.shape != tuple(shape):
        raise Invalid("shapes that do not fit")
    return value.entries


def fitted(value, like):
    """A value in the type of the one that a variable holds."""
    if isinstance(like, Scalar):
        if not is_scalar(value):
            raise Invalid("a vector for a scalar variable")
        return cast(value, like.t)
    if isinstance(like, Vector):
        return Vector.of([cast(e, k.t) for e, k in zip(entries_for(value, like.shape), like.entries)], like.shape)
    return value


def settled(value):
    """A value as a variable holds it: Python's own numbers get their types."""
    if is_scalar(value):
        return cast(value, type_of(value))
    if isinstance(value, Vector):
        return Vector.of([cast(e, type_of(e)) for e in value.entries], value.shape)
    return value


def positions(shape, index):
    """The entries of a value of a shape that an index means, and the shape that they make."""
    index = tuple(index.entries) if isinstance(index, Vector) else index if isinstance(index, tuple) else (index,)
    index = tuple(i.v if isinstance(i, Scalar) else i for i in index) + (slice(None),) * (len(shape) - len(index))
    axes, left = [], []
    for i, extent in zip(index, shape):
        if isinstance(i, slice):
            axes.append(list(range(extent))[i])
            left.append(len(axes[-1]))
        else:
            if not isinstance(i, int) or not 0 <= i < extent:
                raise Invalid(f"entry {i} of {extent}")
            axes.append([i])
    if len(axes) == 1:
        return axes[0], tuple(left)
    return [i * shape[1] + j for i in axes[0] for j in axes[1]], tuple(left)


SWIZZLES = ("xyzw", "rgba", "stpq")


def swizzle(name, shape):
    """The entries that a name like `xy` means; None: it is no such name."""
    letters = next((s for s in SWIZZLES if all(c in s for c in name)), None)
    return [letters.index(c) for c in name] if letters and len(shape) == 1 and len(name) <= 4 else None


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


class Static:
    """What `static` gives to a loop."""

    def __init__(self, items):
        self.items = items


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
    """The type of a loop's index: i32, or what its bounds need."""
    t = g.i32
    for x in bounds:
        if isinstance(x, Scalar) and x.t.bits >= 32:
            t = g.promote(t, x.t)
    return t


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


OPERATORS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**", ast.BitAnd: "&", ast.BitOr: "|",
             ast.BitXor: "^", ast.LShift: "<<", ast.RShift: ">>", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}
PYTHON = {"+": lambda x, y: x + y, "-": lambda x, y: x - y, "*": lambda x, y: x * y, "/": lambda x, y: x / y, "//": lambda x, y: x // y,
          "%": lambda x, y: x % y, "**": lambda x, y: x**y, "&": lambda x, y: x & y, "|": lambda x, y: x | y, "^": lambda x, y: x ^ y,
          "<<": lambda x, y: x << y, ">>": lambda x, y: x >> y, "<": lambda x, y: x < y, "<=": lambda x, y: x <= y, ">": lambda x, y: x > y,
          ">=": lambda x, y: x >= y, "==": lambda x, y: x == y, "!=": lambda x, y: x != y, "@": lambda x, y: x @ y}
ATOMIC = {"add": "+", "sub": "-", "mul": "*", "and": "&", "or": "|", "xor": "^"}
BUILTINS = {"range": ranged, "abs": g.absolute, "min": g.minimum, "max": g.maximum, "pow": g.pow_, "round": g.rounded, "len": len, "zip": zip,
            "enumerate": enumerate, "int": int, "float": float, "bool": bool, "sum": sum, "True": True, "False": False}


class Machine:
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
            types=SimpleNamespace(vector=VectorType, matrix=VectorType, ndarray=lambda **options: None, NDArray=Anything()), template=lambda: TEMPLATE,
            Vector=Vector, Matrix=Vector, static=stub("static"), ndrange=ndrange, grouped=grouped, loop_config=stub("loop_config"),
            sin=g.sin, cos=g.cos, tan=g.tan, asin=g.asin, acos=g.acos, atan=g.atan, atan2=g.atan2, tanh=g.tanh, exp=g.exp, log=g.log, sqrt=g.sqrt,
            rsqrt=g.rsqrt, floor=g.floor, ceil=g.ceil, round=g.rounded, min=g.minimum, max=g.maximum, abs=g.absolute, pow=g.pow_,
            select=g.select, stop_grad=g.stop_grad, math=g.math_functions, root=Node(), i=None, ij=None, j=None, cast=lambda x, t: cast(x, scalar_type(t)) if is_scalar(x) else x.cast(scalar_type(t)),
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
        if slot is not None and run_time and not slot.tentative and not fresh:
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
        place.store(self.operate(OPERATORS.get(type(s.op), "@"), place.load(), value))

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
        return self.operate(OPERATORS.get(type(e.op), "@"), x, self.eval(e.right))

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
            one = self.operate(OPERATORS[type(op)], left, right)
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

    def common(self, value, nodes):
        """A chosen value in the common type of all that could be chosen."""
        if not is_scalar(value):
            return value
        types = [self.type_in(n) for n in nodes]
        if not isinstance(value, Scalar) and all(isinstance(n, ast.Constant) for n in nodes):
            return cast(value, type_of(value)) if len({type_of(n.value) for n in nodes}) == 1 else cast(value, g.world.default_fp)
        t = type_of(value)
        for other in types:
            t = g.promote(t, other or t)
        return cast(value, t)

    def type_in(self, e):
        """The scalar type of an expression that is not evaluated; None: that of the others."""
        kind = type(e).__name__
        if kind in ("Constant", "Name"):
            return self.type_of_value(self.eval(e))
        if kind in ("Subscript", "Attribute"):
            return self.type_in(e.value)
        if kind in ("Compare", "Not"):
            return g.u1
        if kind == "UnaryOp":
            return g.u1 if isinstance(e.op, ast.Not) else self.arithmetic(self.type_in(e.operand))
        if kind == "IfExp":
            return self.promoted([self.type_in(e.body), self.type_in(e.orelse)])
        if kind == "BoolOp":
            return self.promoted([self.type_in(v) for v in e.values])
        if kind == "BinOp":
            pair = [self.type_in(e.left), self.type_in(e.right)]
            if isinstance(e.op, (ast.BitAnd, ast.BitOr, ast.BitXor)):
                return self.promoted(pair)
            pair = [self.arithmetic(t) for t in pair]
            if isinstance(e.op, ast.Pow) and pair[1] is not None and pair[1].kind != "f":
                return pair[0]
            t = self.promoted(pair)
            return g.world.default_fp if isinstance(e.op, ast.Div) and t is not None and t.kind != "f" else t
        if kind == "Call":
            return self.type_of_call(e)
        return None

    def type_of_call(self, e):
        f = self.ref(e.func) if not isinstance(e.func, ast.Attribute) or isinstance(e.func.value, ast.Name) and e.func.value.id == "rg" else None
        if isinstance(scalar_type(f), g.Type):
            return scalar_type(f)
        if f is None:
            return self.type_in(e.func.value)
        if isinstance(f, (Function, SpecialForm)):
            return None
        types = [self.type_in(a) for a in (e.args[1:] if f is g.select else e.args)]
        t = self.promoted([self.arithmetic(t) for t in types])
        return g.world.default_fp if f in (g.sqrt, g.rsqrt, g.atan2) and t is not None and t.kind != "f" else t

    def type_of_value(self, value):
        if isinstance(value, Array):
            return value.t
        if isinstance(value, Vector):
            return self.promoted([type_of(k) for k in value.entries])
        return type_of(value) if is_scalar(value) else None

    def arithmetic(self, t):
        return g.world.default_ip if t is g.u1 else t

    def promoted(self, types):
        found = None
        for t in types:
            found = t if found is None else found if t is None else g.promote(found, t)
        return found

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
        return [found[p.arg] if self.annotation(f, p) is TEMPLATE or not isinstance(found[p.arg], PLACES) else found[p.arg].load() for p in parameters]

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


class SpecialForm:
    """A function that the machine does itself."""

    def __init__(self, name):
        self.name = name


class Anything:
    """An annotation that says nothing to the oracle."""

    def __getitem__(self, given):
        return None


TEMPLATE = object()


def values_of(seed, count, lo, hi):
    """The numbers that `fill` gives: integers if the bounds are."""
    r = random.Random(seed)
    return [r.randint(lo, hi) if isinstance(lo, int) else r.uniform(lo, hi) for _ in range(count)]


def direction_of(seed, count):
    """A direction, or weights, for as many elements."""
    r = random.Random(seed * 7919 + 5)
    return [r.uniform(0.25, 1) * r.choice((-1, 1)) for _ in range(count)]


def fill(array, seed, lo, hi):
    """Set an array to random numbers; along a direction where it is active."""
    values = values_of(seed, len(array.data), lo, hi)
    along = direction_of(seed, len(array.data)) if array.active else [0.0] * len(array.data)
    array.data = [Scalar(array.t, g.cast(v + g.world.shift * d if d else v, array.t).v, d) for v, d in zip(values, along)]
