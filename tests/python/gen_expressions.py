"""Random expressions of generated kernels, as text. Their values stay moderate for most operands."""

from gen_state import Random, is_integer, is_real


class Expressions(Random):
    """Writes expressions for a scope. The program has `fp` and `ip` (the default types), constants and functions."""

    # -- reading -----------------------------------------------------------------------------------------------------------

    def variables(self, scope, wanted):
        return [v for v in scope.variables if wanted(v)]

    def index(self, scope, extent, depth=1):
        """An integer that is surely an index of an axis."""
        n = self.extent(extent)
        inside = self.variables(scope, lambda v: v.hi is not None and v.hi <= extent)
        choices = [(1, lambda: str(self.below(extent)))]
        if inside:
            choices += [(6, lambda: self.pick(inside).name), (1, lambda: f"({self.pick(inside).name} + {1 + self.below(2)}) % {n}"),
                        (1, lambda: f"{n} - 1 - {self.pick(inside).name}"), (1, lambda: f"max({self.pick(inside).name} - 1, 0)"),
                        (1, lambda: self.stepped_back(self.pick(inside).name))]
        if depth > 0:
            choices += [(2, lambda: f"({self.integer(scope, depth - 1)}) % {n}")]
            tables = [a for a in scope.reads if a.array.hi is not None and a.array.hi <= extent and a.array.t != "u8"]
            if tables:
                choices += [(3, lambda: self.element(scope, self.pick(tables), 0))]
        return self.weighted(*choices)()

    def stepped_back(self, name):
        return f"({name} - 1 if {name} > 0 else 0)"

    def extent(self, n):
        """An extent as text."""
        known = [c for c, v in self.program.constants.items() if v == n and type(v) is int]
        return self.pick(known) if known and self.chance(60) else str(n)

    def element(self, scope, access, depth=1):
        """An element of an array."""
        if isinstance(access.own, str):
            return f"{access.name}[{access.own}]"
        if not access.array.shape:
            return f"{access.name}[{'None' if self.chance(90) else '()'}]"
        if len(access.array.shape) == 2 and access.own is None and self.chance(20):
            return f"{access.name}[{self.vector_index(scope, access.array.shape)}]"
        return f"{access.name}[{', '.join(o or self.index(scope, n, depth) for o, n in zip(access.own or (None, None), access.array.shape))}]"

    def vector_index(self, scope, shape):
        """An index of two axes as one vector."""
        whole = [v.name[:-3] for v in scope.variables if v.name.endswith("[0]") and v.hi is not None]
        base = self.pick(whole) if whole and self.chance(70) else f"rg.Vector([{self.index(scope, shape[0])}, {self.index(scope, shape[1])}])"
        return f"({base} + rg.Vector([{self.below(3)}, {self.below(3)}])) % rg.Vector([{self.extent(shape[0])}, {self.extent(shape[1])}])"

    def readable(self, scope, t):
        """A variable or an element of a type, as text; None: there is none."""
        found = [lambda v=v: v.name for v in self.variables(scope, lambda v: v.t == t)]
        found += [lambda a=a: self.element(scope, a) for a in scope.reads if a.array.type == t]
        return self.pick(found)() if found else None

    # -- scalars -----------------------------------------------------------------------------------------------------------

    def literal(self):
        return self.pick(["0.5", "1.0", "-0.75", "0.3", "1.25", "2.0", "-1.5", "0.1", "0.9", "1.7"])

    def real_leaf(self, scope):
        real = self.program.fp
        t = real if self.chance(85) or not self.program.other else self.program.other
        named = [n for n, v in self.program.constants.items() if type(v) is float] + 3 * [n for n, t in scope.named if is_real(t)]
        choices = [(6, lambda: self.readable(scope, t)), (2, self.literal), (1, lambda: self.pick(named)), (1, lambda: self.entry(scope)),
                   (1, lambda: f"{self.pick(list(self.program.tuples))}[{self.below(2)}]")]
        return self.weighted(*choices)() or self.readable(scope, t) or self.literal()

    def entry(self, scope):
        """An entry of a vector or matrix."""
        held = self.variables(scope, lambda v: isinstance(v.t, tuple) and is_real(v.t[-1]))
        stored = [a for a in scope.reads if a.array.element]
        if not held and not stored:
            return None
        if held and (not stored or self.chance(60)):
            chosen = self.pick(held)
            return self.part(scope, chosen.name, chosen.t[1:-1])
        access = self.pick(stored)
        return self.part(scope, self.element(scope, access), access.array.element)

    def part(self, scope, whole, shape):
        """One entry of a value with this shape."""
        if len(shape) == 1 and self.chance(40):
            return f"{whole}.{self.pick('xyz'[: shape[0]])}"
        return f"{whole}[{', '.join(self.index(scope, n, 1) if self.chance(40) else str(self.below(n)) for n in shape)}]"

    def real(self, scope, depth):
        """A float of the program's default type (or what it is promoted to)."""
        if depth <= 0:
            return self.real_leaf(scope)
        r = lambda: self.real(scope, depth - 1 - self.below(2))  # noqa: E731
        n = lambda: self.integer(scope, depth - 1)  # noqa: E731
        c = lambda: self.condition(scope, depth - 1)  # noqa: E731
        rg = "rg."
        choices = [
            (6, lambda: f"({r()} + {r()})"), (5, lambda: f"({r()} - {r()})"), (6, lambda: f"({r()} * {r()})"),
            (2, lambda: f"({r()} / {self.away(scope, depth)})"), (1, lambda: f"-{r()}"), (2, lambda: f"{r()} * {self.literal()}"),
            (3, lambda: f"{rg}{self.pick(['sin', 'cos', 'tanh', 'atan'])}({r()})"),
            (1, lambda: f"{rg}exp(-abs({r()}))"), (1, lambda: f"{rg}exp({rg}sin({r()}))"), (1, lambda: f"{rg}log({self.positive(scope, depth)})"),
            (2, lambda: f"{rg}{self.pick(['sqrt', 'rsqrt'])}({self.positive(scope, depth)})"), (1, lambda: f"{rg}tan(0.5 * {rg}sin({r()}))"),
            (1, lambda: f"{rg}{self.pick(['asin', 'acos'])}(0.8 * {rg}cos({r()}))"), (1, lambda: f"{rg}atan2({r()}, {self.positive(scope, depth)})"),
            (2, lambda: f"{self.pick(['min', 'max', 'rg.min', 'rg.max'])}({r()}, {r()})"), (1, lambda: f"max({r()}, {r()}, {r()})"),
            (1, lambda: f"abs({r()})"), (1, lambda: f"{rg}select({c()}, {r()}, {r()})"), (2, lambda: f"({r()} if {c()} else {r()})"),
            (2, lambda: f"{r()} ** {self.pick(['2', '2', '3', '2.0', '0'])}"), (1, lambda: f"{self.positive(scope, depth)} ** {self.pick(['0.5', '-1', '1.5', '-2'])}"),
            (1, lambda: f"{self.positive(scope, depth)} ** {rg}sin({r()})"), (1, lambda: f"{rg}pow({self.positive(scope, depth)}, 0.7)"),
            (1, lambda: f"{r()} ** ({n()} % 3)"), (1, lambda: f"{r()} % {self.pick(['1.5', '0.7', '-1.1'])}"),
            (1, lambda: f"{r()} // {self.pick(['0.5', '-0.8'])} * 0.1"), (1, lambda: f"{rg}{self.pick(['floor', 'ceil', 'round'])}({r()})"),
            (1, lambda: f"rg.math.clamp({r()}, -0.6, {self.pick(['1.1', '0.7'])})"), (1, lambda: f"rg.math.mix({r()}, {r()}, {r()})"),
            (1, lambda: f"rg.math.{self.pick(['fract', 'sign'])}({r()})"), (1, lambda: f"rg.math.smoothstep(-1.3, 1.6, {r()})"),
            (1, lambda: f"float({n()})"), (1, lambda: f"{r()} * {n()}"), (1, lambda: f"{n()} / {self.nonzero(scope, depth)}"),
            (1, lambda: f"({r()} {self.pick(['and', 'or'])} {r()})"), (3, lambda: self.of_vector(scope, depth)), (3, lambda: self.call(scope, self.program.fp, depth)),
            (1, lambda: f"{self.pick(self.program.lambdas)}({r()})" if self.program.lambdas else None),
            (4, lambda: self.real_leaf(scope)),
        ]
        return f"({self.weighted(*choices)() or self.real_leaf(scope)})"

    def positive(self, scope, depth):
        """A float that is clearly greater than 0."""
        r = self.real(scope, depth - 2)
        return self.pick([f"(1.2 + {r} * {r})", f"(0.4 + abs({r}))", f"rg.exp(0.5 * rg.sin({r}))"])

    def away(self, scope, depth):
        """A float far from 0."""
        return self.pick(["2.0", "-1.6", "3", self.positive(scope, depth), f"(3.0 + rg.cos({self.real(scope, depth - 2)}))"])

    def nonzero(self, scope, depth):
        """An integer that is not 0."""
        return self.pick(["2", "3", "-4", f"(1 + abs({self.integer(scope, depth - 2)}) % 5)"])

    def of_vector(self, scope, depth):
        """A scalar made of vectors."""
        n = self.pick([2, 3])
        v = lambda: self.vector(scope, n, depth - 1)  # noqa: E731
        m = lambda: self.matrix(scope, depth - 1)  # noqa: E731
        return self.pick([
            lambda: f"{v()}.dot({v()})", lambda: f"{v()}.norm(0.5)", lambda: f"{v()}.norm_sqr()", lambda: f"{v()}.sum()", lambda: f"{v()}.max()",
            lambda: f"{v()}.min()", lambda: f"rg.math.dot({v()}, {v()})", lambda: f"rg.math.length({v()} + 3.0)", lambda: f"{m()}.determinant()", lambda: f"{m()}.trace()", lambda: self.part(scope, v(), (n,)),
            lambda: self.part(scope, m(), (2, 2)), lambda: f"{self.vector(scope, 2, depth - 1)}.cross({self.vector(scope, 2, depth - 1)})",
        ])()

    def call(self, scope, t, depth):
        """A call of a function that gives a type; None: there is none."""
        found = scope.callable(lambda f: f.gives == t and f.template is None)
        if not found:
            return None
        f = self.pick(found)
        return f"{f.name}({self.call_arguments(scope, f, depth - 1)})"

    def call_arguments(self, scope, f, depth):
        """The arguments of a call: some by name, some left to their defaults."""
        values = [self.value(scope, p, depth) for p in f.takes]
        if f.default and self.chance(50):
            values.pop()
        named = self.chance(15)
        return ", ".join(f"{name}={v}" if named and k == len(values) - 1 else v for k, (name, v) in enumerate(zip(f.names, values)))

    def value(self, scope, t, depth):
        """An expression of a type."""
        if isinstance(t, tuple):
            return self.vector(scope, t[1], depth) if t[0] == "v" else self.matrix(scope, depth)
        if is_real(t):
            return self.real(scope, depth) if t == self.program.fp else f"rg.{t}({self.real(scope, depth)})"
        if is_integer(t):
            return self.integer(scope, depth) if t == self.program.ip else f"rg.{t}({self.integer(scope, depth)})"
        return self.condition(scope, depth)

    # -- integers and truth values -----------------------------------------------------------------------------------------

    def integer_leaf(self, scope):
        types = self.random.sample(["i32", "i64", "u8"], 3)
        named = [n for n, v in self.program.constants.items() if type(v) is int] + 3 * [n for n, t in scope.named if is_integer(t)]
        found = self.weighted((6, lambda: next(filter(None, (self.readable(scope, t) for t in types)), None)), (2, lambda: str(self.below(7))),
                              (1, lambda: self.pick(named)))()
        return found or str(1 + self.below(5))

    def integer(self, scope, depth):
        """An integer."""
        if depth <= 0:
            return self.integer_leaf(scope)
        n = lambda: self.integer(scope, depth - 1 - self.below(2))  # noqa: E731
        choices = [
            (5, lambda: f"({n()} + {n()})"), (4, lambda: f"({n()} - {n()})"), (3, lambda: f"{n()} * {n()}"), (2, lambda: f"{n()} // {self.nonzero(scope, depth)}"),
            (3, lambda: f"{n()} % {self.nonzero(scope, depth)}"), (1, lambda: f"({n()} & {n()})"), (1, lambda: f"({n()} | {n()})"),
            (1, lambda: f"({n()} ^ {n()})"), (1, lambda: f"({n()} << {self.below(3)})"), (1, lambda: f"({n()} >> {self.below(3)})"), (1, lambda: f"-{n()}"),
            (1, lambda: f"~{n()}"), (1, lambda: f"({n()} % 5) ** {self.below(4)}"), (1, lambda: f"abs({n()})"), (1, lambda: f"min({n()}, {n()})"),
            (1, lambda: f"max({n()}, {n()})"), (1, lambda: f"({n()} if {self.condition(scope, depth - 1)} else {n()})"),
            (1, lambda: f"rg.select({self.condition(scope, depth - 1)}, {n()}, {n()})"), (1, lambda: f"int({self.real(scope, depth - 1)})"),
            (1, lambda: f"int({self.condition(scope, depth - 1)})"), (1, lambda: f"rg.{self.pick(['i32', 'i64', 'u8'])}({n()})"),
            (1, lambda: f"rg.cast({n()}, rg.{self.pick(['i32', 'i64'])})"),
            (1, lambda: f"rg.floor({self.real(scope, depth - 1)}, rg.i32)"), (2, lambda: self.call(scope, "i32", depth)), (3, lambda: self.integer_leaf(scope)),
        ]
        return f"({self.weighted(*choices)() or self.integer_leaf(scope)})"

    def condition(self, scope, depth):
        """A truth value."""
        r = lambda: self.real(scope, depth - 1)  # noqa: E731
        n = lambda: self.integer(scope, depth - 1)  # noqa: E731
        c = lambda: self.condition(scope, depth - 1)  # noqa: E731
        order = lambda: self.pick(["<", "<=", ">", ">="])  # noqa: E731

        def compared():
            left, right = r(), r()
            return f"{left} {order()} {right if left != right else self.literal()}"

        if depth <= 0:
            return self.weighted((1, lambda: self.readable(scope, "u1")), (2, lambda: f"{self.integer_leaf(scope)} {order()} {self.below(4)}"),
                                 (3, lambda: f"{self.real_leaf(scope)} {order()} {self.literal()}"))() or f"{self.integer_leaf(scope)} % 2 == 0"
        chosen = self.weighted(
            (5, compared), (3, lambda: f"{n()} {self.pick(['<', '<=', '>', '>=', '==', '!='])} {n()}"),
            (2, lambda: f"({c()} and {c()})"), (2, lambda: f"({c()} or {c()})"), (1, lambda: f"(not ({c()}))"), (1, lambda: f"{self.literal()} < {r()} < 2.2"),
            (1, lambda: f"{n()} <= {n()} < {n()}"), (1, lambda: f"({c()} and {c()} or {c()})"), (1, lambda: f"bool({n()})"),
            (1, lambda: f"(({c()}) & ({c()}))"), (1, lambda: f"({self.vector(scope, 2, depth - 1)} > {self.literal()}).{self.pick(['any', 'all'])}()"),
            (1, lambda: f"{n()} % 2 == 0"), (1, lambda: self.call(scope, "u1", depth) or c()))()
        return f"({chosen})"

    # -- vectors -----------------------------------------------------------------------------------------------------------

    def vector(self, scope, n, depth):
        """A vector of n floats."""
        t = ("v", n, self.program.fp)
        r = lambda: self.real(scope, depth - 1)  # noqa: E731
        v = lambda: self.vector(scope, n, depth - 1)  # noqa: E731
        made = lambda: f"rg.Vector([{', '.join(r() for _ in range(n))}])"  # noqa: E731
        if depth <= 0:
            return self.readable(scope, t) or made()
        k = self.pick("kqz")
        choices = [
            (4, lambda: self.readable(scope, t)), (2, made), (3, lambda: f"({v()} + {v()})"), (2, lambda: f"({v()} - {v()})"), (3, lambda: f"{v()} * {r()}"),
            (1, lambda: f"{r()} * {v()}"), (1, lambda: f"({v()} * {v()})"), (1, lambda: f"({v()} / {self.away(scope, depth)})"), (1, lambda: f"-{v()}"),
            (1, lambda: f"rg.{self.pick(['sin', 'cos', 'tanh'])}({v()})"), (1, lambda: f"rg.{self.pick(['min', 'max'])}({v()}, {v()})"), (1, lambda: f"abs({v()})"),
            (1, lambda: f"{v()}.normalized(0.5)"), (1, lambda: f"rg.Vector([{self.comprehended(k)} for {k} in range({n})])"),
            (1, lambda: f"rg.types.vector({n}, rg.{self.program.fp})({', '.join(r() for _ in range(n))})"), (2, lambda: self.call(scope, t, depth)),
            (1, lambda: f"rg.select({self.condition(scope, depth - 1)}, {v()}, {v()})"), (1, lambda: f"({v()} if {self.condition(scope, depth - 1)} else {v()})"),
        ]
        if n == 2:
            choices += [(2, lambda: f"{self.matrix(scope, depth - 1)} @ {v()}"), (1, lambda: f"{v()}.yx"), (1, lambda: f"{self.vector(scope, 3, depth - 1)}.{self.pick(['xy', 'zx'])}"),
                        (1, lambda: f"{self.vector(scope, 3, depth - 1)}[1:3]"), (1, lambda: f"{self.matrix(scope, depth - 1)}[{self.below(2)}, :]")]
        else:
            choices += [(1, lambda: f"{v()}.cross({v()})"), (1, lambda: f"{v()}.zyx"), (1, lambda: f"{self.vector(scope, 2, depth - 1)}.xyx")]
        return f"({self.weighted(*choices)() or made()})"

    def comprehended(self, k):
        return f"{self.literal()} * {k} + {self.literal()}"

    def matrix(self, scope, depth):
        """A matrix of 2 by 2 floats."""
        t = ("m", 2, 2, self.program.fp)
        r = lambda: self.real(scope, depth - 1)  # noqa: E731
        m = lambda: self.matrix(scope, depth - 1)  # noqa: E731
        made = lambda: f"rg.Matrix([[{r()}, {r()}], [{r()}, {r()}]])"  # noqa: E731
        if depth <= 0:
            return self.readable(scope, t) or made()
        chosen = self.weighted(
            (4, lambda: self.readable(scope, t)), (2, made), (2, lambda: f"({m()} + {m()})"), (2, lambda: f"{m()} * {r()}"), (2, lambda: f"({m()} @ {m()})"),
            (1, lambda: f"{m()}.transpose()"), (1, lambda: f"{self.vector(scope, 2, depth - 1)}.outer_product({self.vector(scope, 2, depth - 1)})"),
            (1, lambda: f"-{m()}"), (1, lambda: f"rg.Matrix([{self.vector(scope, 2, depth - 1)}, {self.vector(scope, 2, depth - 1)}])"),
            (1, lambda: self.call(scope, t, depth)))() or made()
        return f"({chosen})"
