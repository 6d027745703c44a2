"""Random programs with kernels, as text: `program(seed)`.

A program declares arrays and fills them with random numbers, has functions and kernels, and calls the kernels in `main`. Its threads touch
only elements of their own, but for atomic updates whose order does not matter.
"""

import ast

from gen_state import Access, Array, Function, Scope, Variable, is_real
from gen_statements import Statements, render

FIELDS = ["x", "y", "z", "grid", "rho", "psi", "phi", "out", "state", "field_a", "field_b"]


class Program(Statements):
    """One program under construction."""

    def __init__(self, seed):
        super().__init__(seed)
        self.program = self
        single = self.chance(25)
        self.fp, self.other = ("f32", "f64") if single else ("f64", None)
        self.ip = "i64" if self.chance(15) else "i32"
        self.constants = {"N": 3 + self.below(4), "M": 2 + self.below(2), "SCALE": 0.8, "OFFSET": -0.35, "FLAG": True}
        self.tuples = {"COEF": (0.5, -1.25)}
        self.functions, self.tasks, self.lambdas, self.arrays, self.calls = [], [], [], [], []

    # -- declarations ------------------------------------------------------------------------------------------------------

    def declare_arrays(self):
        n, m = self.constants["N"], self.constants["M"]
        real = lambda: self.fp if not self.other or self.chance(80) else self.other  # noqa: E731
        names = iter(self.random.sample(FIELDS, len(FIELDS)))
        for _ in range(2 + self.below(3)):
            shape = self.weighted((6, (n,)), (2, (n, m)), (1, ()), (1, (m,)))
            element = self.weighted((7, ()), (2, (2,)), (1, (3,)), (1, (2, 2)))
            kind = self.weighted((6, "field"), (4, "ndarray"))
            self.arrays.append(Array(next(names), real(), shape, element, True, kind))
        if self.chance(40):
            self.arrays.append(Array("fixed", self.fp, (n,), (), False, self.pick(["field", "numpy", "ndarray"])))
        if self.chance(70):
            self.arrays.append(Array("count", "i32", (n,), hi=4, kind=self.pick(["field", "ndarray", "numpy"])))
        if self.chance(60):
            self.arrays.append(Array("where", self.pick(["i32", "i64"]), (n,), hi=n, kind="field"))
        if self.chance(20):
            self.arrays.append(Array("mask", "u8", (n,), hi=2, kind="field"))
        if self.chance(20):
            self.arrays.append(Array("solid", "u1", (n,), kind="field"))
        if self.chance(40):
            shape, kind = self.pick([(n,), ()]), self.pick(["field", "ndarray"])
            self.arrays.append(Array("hits", self.pick(["i32", "i64"]), shape, kind=kind))
        self.loss = self.chance(50)

    def type_text(self, a):
        return self.vector_type(a.element, a.t) if a.element else f"rg.{a.t}"

    def vector_type(self, shape, t):
        return f"rg.types.{'vector' if len(shape) == 1 else 'matrix'}({', '.join(map(str, shape))}, rg.{t})"

    def declaration(self, a):
        n, m = self.constants["N"], self.constants["M"]
        shape = {(n,): "N", (n, m): "(N, M)"}.get(a.shape, str(a.shape))
        if a.kind == "numpy":
            kind = {"f64": "float64", "f32": "float32", "i32": "int32"}[a.t]
            return f"{a.name} = np.zeros({shape}, np.{kind})"
        options = ", needs_grad=True, needs_dual=True" if a.active else ""
        if a.kind == "field" and a.shape and self.chance(15):
            placed = f"{a.name}, {a.name}.grad, {a.name}.dual" if a.active else a.name
            axes = "i" if len(a.shape) == 1 else "ij"
            return f"{a.name} = rg.field({self.type_text(a)})\nrg.root.dense(rg.{axes}, {shape}).place({placed})"
        if a.kind == "field" and len(a.shape) == 2 and self.chance(30):
            options += ', order="ji"'
        return f"{a.name} = rg.{a.kind}({self.type_text(a)}, {shape}{options})"

    def filling(self, number, a):
        bounds = self.pick(["-1.0, 1.0", "0.2, 1.5", "-2.0, 2.0"]) if is_real(a.t) else "0, 1" if a.t == "u1" else "-3, 3"
        bounds = bounds if a.hi is None else f"0, {a.hi - 1}"
        return f"fill({a.name}, {number + 1}, {bounds})"

    # -- functions ---------------------------------------------------------------------------------------------------------

    def function(self):
        """One @func, as text."""
        scope = Scope(self, parallel=True)
        v, m = ("v", self.pick([2, 3]), self.fp), ("m", 2, 2, self.fp)
        gives = self.weighted((5, self.fp), (2, "i32"), (2, v), (1, m), (1, "u1"), (2, [self.fp, self.fp]), (2, None))
        takes = [self.weighted((5, self.fp), (2, self.ip), (2, v)) for _ in range(1 + self.below(3))]
        name = f"f{len(self.functions)}_{self.pick(['blend', 'force', 'clip', 'shape', 'kernel', 'mix'])}"
        parameters = [self.fresh(scope) for _ in takes]
        if len(set(parameters)) < len(parameters):
            return ""
        for p, t in zip(parameters, takes):
            self.declare(scope, p, t)
        constants = [a for a in self.arrays if not a.active and a.kind == "field" and is_real(a.t)]
        scope.reads = [Access(a, a.name) for a in constants]
        template = None
        if gives is None:
            template = self.pick([self.fp, ("v", 2, self.fp), "i32"])
            self.declare(scope, "target", template)
            scope.taken.add("target")
        scope.returns = lambda s: "return" if gives is None else f"return {self.returned(s, gives)}"
        if self.chance(60) or gives is None:
            scope.returns = None if self.chance(40) else scope.returns
        depth = 2 if self.chance(60) else 0
        body = self.block(scope, 3, depth)
        if gives is None:
            body.append(self.change(scope, "target", template))
        else:
            body.append(f"return {self.returned(scope, gives)}")
        loops = "for " in "\n".join(render(body)) or "while " in "\n".join(render(body))
        given = [f"{p}: rg.{t}" if isinstance(t, str) and self.chance(20) else p for p, t in zip(parameters, takes)]
        if gives is None:
            given = ["target: rg.template()", *given]
        default = is_real(takes[-1]) and self.chance(20)
        if default:
            given[-1] += f"={self.literal()}"
        self.functions.append(Function(name, takes, gives, template, bool(loops), parameters, default))
        return "\n".join(["@rg.func", f"def {name}({', '.join(given)}):", *render(body, 1)])

    def task_function(self):
        """A @func that has a parallel loop over an array that it gets, as text."""
        lines = [a for a in self.arrays if a.active and len(a.shape) == 1 and a.t == self.fp]
        if not lines:
            return ""
        scope, like = Scope(self), self.pick(lines)
        scope.taken.add("data")
        strength = self.fresh(scope)
        self.declare(scope, strength, self.fp, None, True)
        scope.reads = [Access(like, "data")]
        name = f"f{len(self.functions)}_relax"
        body = ([] if self.chance(60) else self.block(scope, 2, 0)) + self.task(scope)
        self.tasks.append((name, like.type, like.shape))
        return "\n".join(["@rg.func", f"def {name}(data: rg.template(), {strength}):", *render(body, 1)])

    def called_task(self, scope):
        """A call of such a function; None: there is none for these arrays."""
        found = [(name, a) for name, t, shape in self.tasks for a in scope.writes if a.array.type == t and a.array.shape == shape]
        if not found:
            return None
        name, access = self.pick(found)
        return f"{name}({access.name}, {self.real(scope, 1)})"

    def returned(self, scope, gives):
        """What a function returns: of the same type at each place."""
        if isinstance(gives, list):
            return ", ".join(self.returned(scope, t) for t in gives)
        text = self.value(scope, gives, 2)
        if isinstance(gives, tuple):
            return f"{self.vector_type(gives[1:-1], self.fp)}({text})"
        return f"bool({text})" if gives == "u1" else f"rg.{gives}({text})"

    # -- kernels -----------------------------------------------------------------------------------------------------------

    def kernel(self, number):
        """One @kernel, as text. Its call goes to `calls`."""
        scope = Scope(self)
        used = [a for a in self.arrays if self.chance(75)]
        accesses, parameters, arguments = [], [], []
        for a in used:
            name = a.name
            if a.kind != "field" or self.chance(20):
                name = f"arg_{a.name}" if self.chance(30) else a.name
                parameters.append(f"{name}: {self.annotation(a)}")
                arguments.append(a.name)
            accesses.append(Access(a, name))
        form = self.weighted((6, "plain"), (2, "method"), (1, "factory"))
        method = []
        if form == "method":
            scope.named.append(("self.gain", self.fp))
            if self.chance(60):
                scope.functions.append(Function("self.damp", [self.fp], self.fp, names=["v"]))
                value = self.pick(["v * self.gain", "rg.sin(v) + self.gain", "self.gain / (1.0 + v * v)"])
                method = ["    @rg.func", "    def damp(self, v):", f"        return rg.{self.fp}({value})"]
        elif form == "factory":
            scope.named.append(("gain", self.fp))
        if self.chance(15):
            scope.named.append(("copies", self.ip))
            parameters.append("copies: rg.template()")
            arguments.append(self.pick(["2", "1"]))
        vector = ("v", 2, self.fp)
        for t, annotation in ((self.fp, "float"), (self.ip, "int"), (self.fp, f"rg.{self.fp}"), (vector, self.vector_type((2,), self.fp))):
            if self.chance(15 if t == vector else 25):
                name = self.fresh(scope)
                if name not in {v.name for v in scope.variables}:
                    self.declare(scope, name, t, None, True)
                    parameters.append(f"{name}: {annotation}")
                    pair = f"[{self.literal()}, {self.literal()}]"
                    arguments.append(self.pick([pair, f"rg.Vector({pair})"]) if t == vector else self.literal() if is_real(t) else str(self.below(5)))
        if not any(a.array.active for a in accesses):
            return ""
        gives = self.weighted((7, None), (2, self.fp), (1, [self.fp, self.ip]), (1, ("v", 2, self.fp)))
        scope.reads = accesses
        scope.writes = [a for a in accesses if self.may_write(a.array)]
        body = []
        for k in range(1 + self.below(3)):
            if self.chance(50):
                body += self.block(scope, 2, 1)
            if self.chance(10) and k:
                body.append((f"if {self.condition(scope, 2)}:", ["return" if gives is None else f"return {self.returned(scope, gives)}"]))
            called = self.called_task(scope) if self.chance(40) else None
            body += [called] if called else self.task(scope)
        if self.chance(25):
            body += self.block(scope, 2, 2)
        result = ""
        if gives is not None:
            body.append(f"return {self.returned(scope, gives)}")
            result = f" -> {self.annotated_result(gives)}"
        name = f"{self.pick(['substep', 'update', 'collect', 'advance', 'smooth', 'gather'])}_{number}"
        call = f"{name}({', '.join(arguments)})"
        parameters = ["self", *parameters] if form == "method" else parameters
        lines = ["@rg.kernel", f"def {name}({', '.join(parameters)}){result}:", *render(body, 1)]
        if form == "method":
            lines = ["@rg.data_oriented", f"class Model{number}:", "    def __init__(self, gain):", "        self.gain = gain", *method,
                     *("    " + line for line in lines), f"model{number} = Model{number}(0.7)"]
            call = f"model{number}.{call}"
        elif form == "factory":
            inner = ["    " + line for line in lines]
            lines = [f"def make_{number}(gain):", *inner, f"    return {name}", f"{name} = make_{number}(0.7)"]
        self.calls.append(call)
        return "\n".join(lines)

    def measure(self):
        """A kernel that adds up all active arrays in a loss, as text."""
        active = [a for a in self.arrays if a.active]
        parameters = ", ".join(f"{a.name}: {self.annotation(a)}" for a in active if a.kind != "field")
        lines = []
        for a in active:
            value = self.pick(["{0} * SCALE", "0.5 * {0} ** 2", "rg.sin({0})"]).format(f"{a.name}[{'I' if a.shape else 'None'}]")
            value = f"({value}).sum()" if a.element else value
            header = [f"    for I in rg.grouped({a.name}):"] if a.shape else []
            lines += [*header, "    " * (1 + len(header)) + f"loss[None] += {value}"]
        self.calls.append(f"measure({', '.join(a.name for a in active if a.kind != 'field')})")
        return "\n".join(["@rg.kernel", f"def measure({parameters}):", *lines])

    def annotated_result(self, t):
        if isinstance(t, list):
            return f"({', '.join(map(self.annotated_result, t))})"
        return f"rg.types.vector({t[1]}, rg.{self.fp})" if isinstance(t, tuple) else "float" if is_real(t) else "int"

    def annotation(self, a):
        if a.kind == "field":
            return "rg.template()"
        element = self.type_text(a)
        if a.element or self.chance(30):
            return f"rg.types.ndarray(dtype={element}, ndim={len(a.shape)})"
        return self.pick(["rg.types.ndarray()", f"rg.types.NDArray[{element}, {len(a.shape)}]"])

    @staticmethod
    def may_write(a):
        return a.active or not is_real(a.t) and a.hi is None

    def task(self, scope):
        """A parallel loop."""
        n, m = self.constants["N"], self.constants["M"]
        inner = scope.inner()
        inner.returns = (lambda s: "return") if self.chance(25) else None
        header, own = self.domain(scope, inner, n, m)
        for access in scope.reads:
            self.role(inner, access, own)
        changed = self.targets(scope, lambda t: t in (self.fp, "i32"))
        for v in self.random.sample(changed, min(len(changed), self.below(3))):
            way = self.weighted((5, "+="), (2, "-="), (1, "min"), (1, "max"), (1, "*=" if is_real(v.t) else "^="))
            inner.sums.append((v, way))
            inner.variables = [Variable(w.name, "sum", None, True) if w.name == v.name else w for w in inner.variables]
        body = self.block(inner, 4, 2)
        last = [f for f, there in ((self.store, inner.writes), (self.add, inner.adds), (self.reduce, inner.sums)) if there]
        if last:
            body += self.pick(last)(inner, 0)
        return [(header, body)]

    def domain(self, scope, inner, n, m):
        """A loop's header, and the own index by shape."""
        over = [a for a in scope.reads if a.array.shape in ((n,), (n, m)) and not a.array.kind == "numpy"]
        if over and self.chance(35):
            access = self.pick(over)
            shape = access.array.shape
            if len(shape) == 1:
                i = self.fresh(inner, INDICES_OF_TASKS)
                self.declare(inner, i, "i32", n, True)
                return f"for {i} in {access.name}:", {(n,): self.mirrored(i, n), (n, m): (i, None)}
            if self.chance(40):
                return self.grouped_domain(inner, f"rg.grouped({access.name})", n, m)
            return self.pair_domain(inner, access.name, n, m)
        if self.chance(25):
            if self.chance(40):
                return self.grouped_domain(inner, "rg.grouped(rg.ndrange(N, M))", n, m)
            return self.pair_domain(inner, "rg.ndrange(N, M)", n, m)
        i = self.fresh(inner, INDICES_OF_TASKS)
        self.declare(inner, i, "i32", n, True)
        bounds = self.pick(["N", "N", "N", str(n), "1, N", "N - 1", self.bound_of_shape(scope, n)])
        return f"for {i} in range({bounds}):", {(n,): self.mirrored(i, n), (n, m): (i, None)}

    def bound_of_shape(self, scope, n):
        found = [a for a in scope.reads if a.array.shape == (n,)]
        return f"{self.pick(found).name}.shape[0]" if found else "N"

    def mirrored(self, i, n):
        return (i,) if self.chance(80) else (f"{self.extent(n)} - 1 - {i}",)

    def pair_domain(self, inner, over, n, m):
        i, j = self.fresh(inner, ["i", "a"]), self.fresh(inner, ["j", "b"])
        self.declare(inner, i, "i32", n, True)
        self.declare(inner, j, "i32", m, True)
        return f"for {i}, {j} in {over}:", {(n, m): (i, j)}

    def grouped_domain(self, inner, over, n, m):
        at = self.fresh(inner, ["I", "P"])
        self.declare(inner, f"{at}[0]", "i32", n, True)
        self.declare(inner, f"{at}[1]", "i32", m, True)
        return f"for {at} in {over}:", {(n, m): at}

    def role(self, inner, access, own):
        """What threads may do with an array."""
        a = access.array
        mine = own.get(a.shape)
        writable = self.may_write(a)
        role = "read" if not writable else self.weighted((5 if mine else 0, "own"), (4, "read"), (0 if a.t == "u1" else 3, "add"))
        if role == "own":
            access = Access(a, access.name, mine)
            inner.reads.append(access)
            inner.writes.append(access)
        elif role == "read":
            inner.reads.append(access)
        else:
            ways = [(5, "+="), (2, "-=")] + ([(1, "min"), (1, "max"), (1, "*=")] if not a.element and is_real(a.t) else [])
            inner.adds.append((access, self.weighted(*ways)))

    # -- the whole -----------------------------------------------------------------------------------------------------------

    def text(self):
        self.declare_arrays()
        debug = ", debug=True" if self.chance(15) else ""
        parts = ["import numpy as np", "import retrograd as rg", f"rg.init(default_fp=rg.{self.fp}, default_ip=rg.{self.ip}{debug})"]
        parts += [f"{n} = {v}" for n, v in {**self.constants, **self.tuples}.items()]
        parts += [self.declaration(a) for a in self.arrays]
        parts += [self.filling(k, a) for k, a in enumerate(self.arrays)]
        if self.chance(30):
            self.lambdas.append("curve")
            value = self.pick(["rg.sin(t) * t + 0.5", "t ** 2 / (1.0 + t * t)", "rg.max(t, 0.1) - 0.25 * t", "1.5 - t"])
            parts.append(f"curve = lambda t: {value}")
        parts += [self.function() for _ in range(self.below(4))]
        if self.chance(30):
            parts.append(self.task_function())
        parts += [self.kernel(k) for k in range(1 + self.below(3))]
        self.calls = self.calls if self.chance(85) else [f"for _ in range(2):\n        {c}" for c in self.calls]
        if self.loss:
            parts += [f"loss = rg.field(rg.{self.fp}, (), needs_grad=True, needs_dual=True)", self.measure()]
        parts.append("def main():\n    " + "\n    ".join(self.calls or ["pass"]))
        return ast.unparse(ast.parse("\n".join(p for p in parts if p))) + "\n"


INDICES_OF_TASKS = ["i", "k", "p"]


def program(seed):
    """The text of the program with a number."""
    return Program(seed).text()
