"""Random statements of generated kernels. A statement is a line, or a pair: a header and the statements under it."""

from gen_expressions import Expressions
from gen_state import Access, Variable, is_integer, is_real

NAMES = """pos vel mass t h u v w acc total energy best step rate err old near p q r s a0 b0 force dist angle left right gap alpha beta tmp
           value delta""".split()
INDICES = "i j k l m n it row col _k".split()

# Methods that write a statement, with their weights: those that always may, and those that hold others.
SIMPLE = """7 new_real 3 new_integer 1 new_truth 3 new_vector 1 new_matrix 5 assign 5 augment 2 swap 3 entry_store 1 chained 1 annotated
            1 taken_apart 1 asserted 1 buffer 1 by_template 1 unpacked 2 local_atomic"""
NESTED = "5 branch 1 named_condition 2 both_arms 6 for_range 3 while_loop 1 unrolled 1 over_fields 1 static_if 1 nested_product"
DEEP = "5 branch 1 named_condition 2 both_arms 2 for_range 1 while_loop 1 unrolled 1 static_if"


class Statements(Expressions):
    """Writes statements for a scope."""

    # -- names -------------------------------------------------------------------------------------------------------------

    def fresh(self, scope, names=NAMES):
        """A name that is not live here: seldom one that has died."""
        live = {v.name.split("[")[0] for v in scope.variables}
        dead = [n for n in scope.taken if n in names and n not in live]
        if dead and self.chance(25):
            return self.pick(sorted(dead))
        more = [f"{n}{k}" for k in range(1, 9) for n in names]
        name = self.pick([n for n in names if n not in scope.taken] or [n for n in more if n not in scope.taken])
        scope.taken.add(name)
        return name

    def declare(self, scope, name, t, hi=None, fixed=False):
        scope.variables.append(Variable(name, t, hi, fixed))

    def inside(self, scope, size, depth, loop=False):
        """Statements of a block, whose names die with it."""
        count, breaks = len(scope.variables), scope.breaks
        scope.loops += loop
        scope.control += 1
        body = self.block(scope, size, depth)
        scope.control -= 1
        scope.loops -= loop
        scope.breaks = breaks
        del scope.variables[count:]
        return body

    def block(self, scope, size, depth):
        """Some statements; at least one."""
        body = []
        for _ in range(1 + self.below(size)):
            body += self.statement(scope, depth)
        return body or ["pass"]

    def targets(self, scope, wanted=lambda t: True):
        return [v for v in scope.variables if not v.fixed and v.hi is None and wanted(v.t)]

    # -- statements --------------------------------------------------------------------------------------------------------

    def statement(self, scope, depth):
        kinds = [SIMPLE, "7 store 1 counted" * bool(scope.writes), "5 add" * bool(scope.adds), "4 reduce" * bool(scope.sums),
                 (NESTED if scope.loops < 1 else DEEP) * (depth > 0), "2 leave" * bool(scope.loops and scope.breaks),
                 "1 early_return" * (scope.returns is not None)]
        words = " ".join(kinds).split()
        name = self.weighted(*((int(weight), name) for weight, name in zip(words[::2], words[1::2])))
        return getattr(self, name)(scope, depth) or self.new_real(scope, depth)

    def new(self, scope, t, text, hi=None):
        name = self.fresh(scope)
        self.declare(scope, name, t, hi)
        return [f"{name} = {text}"]

    def new_real(self, scope, depth):
        if self.chance(25):
            return self.new(scope, self.program.fp, self.literal())
        value = self.real(scope, 2)  # in f32 programs perhaps an f64
        return self.new(scope, self.program.fp, f"{self.literal()} * {value}" if self.program.fp == "f64" else f"rg.f32({value})")

    def new_integer(self, scope, depth):
        t = self.weighted((5, self.program.ip), (1, "i64"), (1, "u8"), (1, "i32"))
        if self.chance(30) and t == self.program.ip:
            return self.new(scope, t, str(self.below(4)))
        return self.new(scope, t, f"rg.{t}({self.integer(scope, 2)})")

    def new_truth(self, scope, depth):
        return self.new(scope, "u1", f"bool({self.condition(scope, 2)})" if self.chance(50) else self.pick(["True", "False"]))

    def new_vector(self, scope, depth):
        n = self.pick([2, 3])
        return self.new(scope, ("v", n, self.program.fp), f"rg.types.vector({n}, rg.{self.program.fp})({self.vector(scope, n, 2)})")

    def new_matrix(self, scope, depth):
        fp = self.program.fp
        return self.new(scope, ("m", 2, 2, fp), f"rg.types.matrix(2, 2, rg.{fp})({self.matrix(scope, 2)})")

    def assign(self, scope, depth):
        found = self.targets(scope)
        if not found:
            return None
        v = self.pick(found)
        if v.t[0] == "b":
            return None
        if is_integer(v.t) and v.t != "u8" and self.chance(20):
            return [f"{v.name} = {self.real(scope, 2)}"]  # truncated
        if is_real(v.t) and not v.left and self.chance(10):
            return [f"{v.name} = {self.integer(scope, 2)}"]
        if is_real(v.t) and scope.loops:
            return [f"{v.name} = {v.name} * 0.5 + {self.real(scope, 2)}"]
        text = self.value(scope, v.t, 2)
        return [f"{v.name} = " + (f"rg.{v.t}({text})" if v.left else text)]

    def change(self, scope, name, t):
        """An augmented assignment to a place of a type."""
        if is_real(t):
            op = self.weighted((5, "+="), (3, "-="), (1, "*="), (1, "/="), (1, "%="), (1, "**="))
            value = self.real(scope, 2)
            text = {"*=": f"rg.sin({value})", "/=": self.away(scope, 1), "%=": "1.5", "**=": "2"}.get(op, value)
            return f"{name} {op} {text}"
        if is_integer(t):
            op = self.weighted((5, "+="), (3, "-="), *((1, o) for o in ("*=", "//=", "%=", "&=", "|=", "^=", "<<=", ">>=")))
            text = {"//=": "3", "%=": "5", "<<=": "1", ">>=": "1"}.get(op) or self.integer(scope, 1)
            return f"{name} {op} {text}"
        if t[0] == "b":
            return f"{name} *= {self.literal()}"
        if isinstance(t, tuple):
            return f"{name} *= {self.literal()}" if self.chance(40) else f"{name} {self.pick(['+=', '-='])} {self.value(scope, t, 2)}"
        return f"{name} = {self.condition(scope, 1)}"

    def augment(self, scope, depth):
        found = self.targets(scope)
        if not found:
            return None
        v = self.pick(found)
        return [self.change(scope, v.name, v.t)]

    def swap(self, scope, depth):
        found = self.targets(scope, is_real)
        if len(found) < 2:
            return None
        a, b = self.random.sample(found, 2)
        if self.chance(30) and not a.left and not b.left:
            return [f"{a.name}, {b.name} = {self.real(scope, 1)}, {a.name} * 0.5"]
        return [f"{a.name}, {b.name} = {b.name}, {a.name}"]

    def chained(self, scope, depth):
        text = self.literal()
        one, two = self.fresh(scope), self.fresh(scope)
        for name in {one, two}:
            self.declare(scope, name, self.program.fp)
        return [f"{one} = {two} = {text}"]

    def annotated(self, scope, depth):
        t = self.pick([self.program.fp, self.program.fp, "i32", "i64"] + ([self.program.other] if self.program.other else []))
        text = self.real(scope, 2) if is_real(t) else self.integer(scope, 2)
        name = self.fresh(scope)
        self.declare(scope, name, t)
        return [f"{name}: {'float' if t == self.program.fp and self.chance(40) else 'rg.' + t} = {text}"]

    def unpacked(self, scope, depth):
        f = next(iter(scope.callable(lambda f: isinstance(f.gives, list))), None)
        if f is None:
            return None
        text = f"{f.name}({self.call_arguments(scope, f, 1)})"
        one = self.fresh(scope)
        self.declare(scope, one, f.gives[0])
        two = self.fresh(scope)
        self.declare(scope, two, f.gives[1])
        return [f"{one}, {two} = {text}"]

    def taken_apart(self, scope, depth):
        """A vector becomes variables."""
        found = self.variables(scope, lambda v: v.t == ("v", 2, self.program.fp))
        if not found:
            return None
        text = self.pick(found).name
        names = [self.fresh(scope)]
        self.declare(scope, names[0], self.program.fp)
        names.append(self.fresh(scope))
        self.declare(scope, names[1], self.program.fp)
        return [f"{', '.join(names)} = {text}"]

    def asserted(self, scope, depth):
        return [f"assert {self.real(scope, 1)} < 1e7, 'too large'"]

    def buffer(self, scope, depth):
        """A local array."""
        return self.new(scope, ("b", 18, self.program.fp), f"rg.Vector.zero(rg.{self.program.fp}, 18)")

    def counted(self, scope, depth):
        """An atomic update whose old value is used."""
        found = [a for a in scope.writes if is_integer(a.array.t) and a.array.hi is None]
        if not found:
            return None
        access = self.pick(found)
        place = self.element(scope, access)
        way = self.pick(["add", "sub", "max", "or"])
        return self.new(scope, access.array.t, f"rg.atomic_{way}({place}, {self.integer(scope, 1)})")

    def entry_store(self, scope, depth):
        """To an entry of a local vector."""
        found = self.targets(scope, lambda t: isinstance(t, tuple))
        if not found:
            return None
        v = self.pick(found)
        if v.t[0] == "v" and self.chance(25):
            letters = self.pick(["xy", "yx"] + (["zx", "yz"] if v.t[1] == 3 else []))
            part = self.pick([f".{letters}", "[:2]" if v.t[1] == 3 else "[:]"])
            return [f"{v.name}{part} {self.pick(['=', '+='])} {self.vector(scope, 2, 1)}"]
        if v.t[0] == "m" and self.chance(30):
            return [f"{v.name}[{self.pick(['0, :', '1, :', ':, 0', ':, 1'])}] {self.pick(['=', '-='])} {self.vector(scope, 2, 1)}"]
        return [self.change(scope, self.part(scope, v.name, v.t[1:-1]), self.program.fp)] if self.chance(50) else [
            f"{self.part(scope, v.name, v.t[1:-1])} = {self.real(scope, 2)}"]

    def local_atomic(self, scope, depth):
        found = self.targets(scope, lambda t: is_real(t) or t == "i32")
        if not found:
            return None
        v = self.pick(found)
        return [f"rg.atomic_{self.pick(['add', 'sub', 'min', 'max'])}({v.name}, {self.value(scope, v.t, 2)})"]

    def by_template(self, scope, depth):
        """A call of a function that changes its argument."""
        found = [(f, v) for f in scope.callable(lambda f: f.template) for v in self.targets(scope, lambda t, f=f: t == f.template)]
        if not found:
            return None
        f, v = self.pick(found)
        return [f"{f.name}({v.name}, {self.call_arguments(scope, f, 1)})"]

    # -- arrays ------------------------------------------------------------------------------------------------------------

    def store(self, scope, depth):
        access = self.pick(scope.writes)
        place, t = self.element(scope, access), access.array.type
        if access.array.hi is not None:
            return [f"{place} = ({self.integer(scope, 2)}) % {access.array.hi}"]
        if isinstance(t, tuple) and self.chance(40):
            entry = self.part(scope, place, access.array.element)
            return [self.change(scope, entry, access.array.t)] if self.chance(50) else [f"{entry} = {self.real(scope, 2)}"]
        if self.chance(45):
            return [self.change(scope, place, t)]
        if is_real(t) and self.chance(30):
            return [f"{place} = {place} * {self.literal()} + {self.real(scope, 2)}"]
        return [f"{place} = {self.value(scope, t, 3)}"]

    def add(self, scope, depth):
        """To an element that other threads may add to as well."""
        access, way = self.pick(scope.adds)
        place = self.element(scope, access)
        t = access.array.type
        if isinstance(t, tuple) and self.chance(40) and way in ("+=", "-="):
            place, t = self.part(scope, place, access.array.element), access.array.t
        value = self.value(scope, t, 2)
        if way == "*=":
            return [f"{place} *= (1.0 + 0.3 * rg.sin({self.real(scope, 1)}))"]
        if way in ("min", "max"):
            return [f"rg.atomic_{way}({place}, {value})"]
        if self.chance(25):
            return [f"rg.atomic_{'add' if way == '+=' else 'sub'}({place}, {value})"]
        return [f"{place} {way} {value}"]

    def reduce(self, scope, depth):
        """To a variable of the kernel that all threads change."""
        v, way = self.pick(scope.sums)
        if way in ("min", "max"):
            return [f"rg.atomic_{way}({v.name}, {self.value(scope, v.t, 2)})"]
        if way == "*=":
            return [f"{v.name} *= (1.0 + 0.3 * rg.cos({self.real(scope, 1)}))"]
        return [f"{v.name} {way} {self.value(scope, v.t, 2)}"]

    # -- control -----------------------------------------------------------------------------------------------------------

    def branch(self, scope, depth):
        found = [(f"if {self.condition(scope, 2)}:", self.inside(scope, 3, depth - 1))]
        if self.chance(25):
            found.append((f"elif {self.condition(scope, 1)}:", self.inside(scope, 2, depth - 1)))
        if self.chance(45):
            found.append(("else:", self.inside(scope, 3, depth - 1)))
        return found

    def named_condition(self, scope, depth):
        name = self.fresh(scope)
        text = f"rg.{self.program.fp}({self.real(scope, 2)})"
        self.declare(scope, name, self.program.fp)
        return [(f"if ({name} := {text}) {self.pick(['<', '>'])} {self.literal()}:", self.inside(scope, 2, depth - 1))]

    def both_arms(self, scope, depth):
        """A name that each arm assigns, and that lives on."""
        t = self.program.fp
        text = lambda: f"rg.{t}({self.real(scope, 2)})"  # noqa: E731
        condition = self.condition(scope, 2)
        between, count = self.condition(scope, 1), len(scope.variables)
        scope.control += 1
        before = self.block(scope, 1, depth - 1) if self.chance(40) else []
        scope.control -= 1
        name = self.fresh(scope)
        del scope.variables[count:]
        arms = [(f"if {condition}:", [*before, f"{name} = {text()}"])]
        if self.chance(30):
            arms.append((f"elif {between}:", [f"{name} = {text()}"]))
        arms.append(("else:", [f"{name} = {text()}"]))
        scope.variables.append(Variable(name, t, left=True))
        return arms

    def bounds(self, scope):
        """Arguments of a range with few iterations, and the index's bound if it is not negative."""
        counts = [a for a in scope.reads if a.array.hi is not None and a.array.hi <= 5 and a.array.t != "u8"]
        inside = self.variables(scope, lambda v: v.hi is not None and v.hi <= 5)
        n = self.integer(scope, 1)
        choices = [(1, ("2", 2)), (1, ("3", 3)), (1, ("4", 4)), (2, (f"({n}) % 4", 4)), (1, ("1, 4", 4)), (1, (f"1, ({n}) % 5", 5)),
                   (1, ("3, -1, -1", 4)), (1, ("0, 5, 2", 5)), (1, (f"-2, ({n}) % 3", None))]
        if counts:
            access = self.pick(counts)
            choices.append((5, (self.element(scope, access, 0), access.array.hi)))
        if inside:
            v = self.pick(inside)
            choices += [(3, (v.name, v.hi)), (2, (f"{v.name} + 1", v.hi + 1)), (1, (f"{v.name}, {v.hi}", v.hi)),
                        (1, (f"{v.hi} - {v.name}", v.hi + 1))]
        return self.weighted(*choices)

    def for_range(self, scope, depth):
        text, hi = self.bounds(scope)
        name = self.fresh(scope, INDICES)
        lines = [a for a in scope.reads if len(a.array.shape) == 1]
        over = f"range({text})"
        if lines and self.chance(10):
            access = self.pick(lines)
            over, hi = access.name, access.array.shape[0]
        count = len(scope.variables)
        self.declare(scope, name, "i32", hi, True)
        breaks, scope.breaks = scope.breaks, True
        body = self.inside(scope, 3, depth - 1, loop=True)
        scope.breaks = breaks
        del scope.variables[count:]
        return [*self.in_order(scope), (f"for {name} in {over}:", body)]

    def in_order(self, scope):
        """What stands before a loop that would be a task otherwise."""
        return [] if scope.parallel or scope.control else ["rg.loop_config(serialize=True)"]

    def nested_product(self, scope, depth):
        one, two = self.random.sample(sorted(set(INDICES) - {v.name.split("[")[0] for v in scope.variables}), 2)
        scope.taken |= {one, two}
        count = len(scope.variables)
        a, b = 2, 1 + self.below(3)
        breaks, scope.breaks = scope.breaks, True
        if self.chance(50):
            self.declare(scope, one, "i32", a, True)
            self.declare(scope, two, "i32", b, True)
            header = f"for {one}, {two} in rg.ndrange({a}, {b}):"
        else:
            header = f"for {one} in rg.grouped(rg.ndrange({a}, ({b - 1}, {b}))):"
            self.declare(scope, f"{one}[0]", "i32", a, True)
            self.declare(scope, f"{one}[1]", "i32", b, True)
        body = self.inside(scope, 3, depth - 1, loop=True)
        scope.breaks = breaks
        del scope.variables[count:]
        return [*self.in_order(scope), (header, body)]

    def while_loop(self, scope, depth):
        name = self.fresh(scope)
        self.declare(scope, name, self.program.ip, None, True)
        breaks, scope.breaks = scope.breaks, True
        start = f"{name} = 0"
        bound = self.pick(["3", "4", f"({self.integer(scope, 1)}) % 5"])
        condition = f"{name} < {bound}" if self.chance(50) else f"{name} < {bound} and {self.condition(scope, 1)}"
        body = self.inside(scope, 3, depth - 1, loop=True)
        form = self.below(4)
        if form == 0:
            loop = (f"while ({name} := {name} + 1) < {bound}:", body)
        elif form == 1:
            loop = ("while True:", [f"{name} += 1", (f"if not ({condition}):", ["break"]), *body])
        elif form == 2 and not jumps(body):
            loop = ("while True:", [f"{name} += 1", *body, (f"if not ({condition}):", ["break"])])
        else:
            loop = (f"while {condition}:", [f"{name} += 1", *body])
        scope.breaks = breaks
        return [start, loop]

    def leave(self, scope, depth):
        word = self.pick(["break", "continue"])
        return [(f"if {self.condition(scope, 1)}:", [word])]

    def early_return(self, scope, depth):
        return [(f"if {self.condition(scope, 2)}:", [scope.returns(scope)])]

    def unrolled(self, scope, depth):
        """A static loop."""
        name = self.fresh(scope, INDICES)
        count = len(scope.variables)
        breaks, scope.breaks = scope.breaks, False
        form = self.below(5)
        known = [n for n, t in scope.named if is_integer(t)]
        most = self.pick(known) if known else 2
        over = [f"range({most})", "[0.5, -1.5]", "enumerate(COEF)", "zip((0, 1), (2.0, -0.5))", "rg.ndrange(2, 2)"][form]
        other = self.fresh(scope, INDICES) if form > 1 else None
        if form == 1:
            self.declare(scope, name, self.program.fp, None, True)
        else:
            self.declare(scope, name, self.program.ip, 3 if form == 2 else 2, True)
        if other == name:
            other = "weight"
        if other:
            self.declare(scope, other, *((self.program.ip, 2, True) if form == 4 else (self.program.fp, None, True)))
        body = self.block(scope, 2, min(depth - 1, 1))
        if form != 1 and self.chance(25):
            body.insert(0, (f"if rg.static({name} == 1):", [self.pick(["break", "continue"])]))
        scope.breaks = breaks
        del scope.variables[count:]
        return [(f"for {name + (', ' + other if other else '')} in rg.static({over}):", body)]

    def over_fields(self, scope, depth):
        """A static loop over arrays of one kind."""
        one = self.pick(scope.writes) if scope.writes else None
        alike = [a for a in scope.writes if (a.array.type, a.array.shape, a.own) == (one.array.type, one.array.shape, one.own)]
        if len(alike) < 2 or not is_real(one.array.t):
            return None
        name = self.fresh(scope, ["f", "g"])
        access, count = Access(one.array, name, one.own), len(scope.variables)
        self.declare(scope, name, "array", None, True)
        place = self.element(scope, access)
        change = f"{place} = {place} * {self.literal()} + {self.value(scope, one.array.type, 2)}"
        body = [change if self.chance(50) else self.change(scope, place, one.array.type), *self.block(scope, 1, 0)]
        del scope.variables[count:]
        return [(f"for {name} in rg.static([{', '.join(a.name for a in alike)}]):", body)]

    def static_if(self, scope, depth):
        more = self.program.constants["N"] > 3
        test, holds = self.pick([("FLAG", True), ("not FLAG", False), ("N > 3", more), ("M == 7", False)])
        test = f"rg.static({test})"
        arms = [self.block(scope, 2, depth - 1) if holds else self.dead(scope, depth)]
        if self.chance(50):
            arms.append(self.dead(scope, depth) if holds else self.block(scope, 2, depth - 1))
        return [(header, arm) for header, arm in zip((f"if {test}:", "else:"), arms)]

    def dead(self, scope, depth):
        """Statements of an arm that is not compiled."""
        count = len(scope.variables)
        body = self.block(scope, 2, depth - 1)
        del scope.variables[count:]
        return body


def jumps(body):
    """Whether a jump stands in statements."""
    return any(s in ("break", "continue") or s.startswith("return") if isinstance(s, str) else jumps(s[1]) for s in body)


def render(body, indent=0):
    """Statements as lines."""
    lines = []
    for s in body:
        if isinstance(s, str):
            lines.append("    " * indent + s)
        else:
            lines.append("    " * indent + s[0])
            lines += render(s[1], indent + 1)
    return lines
