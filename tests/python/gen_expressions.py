"""Random expressions of generated kernels, as text. Their values stay moderate for most operands.

A form is a text with holes: {r} a float, {n} an integer, {c} a truth value, {v} a vector of the size in question, {2} and {3} one of that
size, {m} a matrix of 2 by 2, {p} a float that is clearly greater than 0, {a} a float far from 0, {z} an integer that is not 0, {l} a literal,
{o} an order. What a hole takes is one level less deep. ` ; ` stands between alternatives, of which one is taken; the number before a line is
its weight.
"""

import re

from gen_state import Random, is_integer, is_real

LITERALS = ["0.5", "1.0", "-0.75", "0.3", "1.25", "2.0", "-1.5", "0.1", "0.9", "1.7"]

REAL = """
6 {r} + {r}
5 {r} - {r}
6 {r} * {r}
2 {r} / {a}
1 -{r}
2 {r} * {l}
3 rg.sin({r}) ; rg.cos({r}) ; rg.tanh({r}) ; rg.atan({r})
2 rg.exp(-abs({r})) ; rg.exp(rg.sin({r})) ; rg.log({p})
2 rg.sqrt({p}) ; rg.rsqrt({p})
2 rg.tan(0.5 * rg.sin({r})) ; rg.asin(0.8 * rg.cos({r})) ; rg.acos(0.8 * rg.cos({r})) ; rg.atan2({r}, {p})
3 min({r}, {r}) ; max({r}, {r}) ; rg.min({r}, {r}) ; rg.max({r}, {r}) ; max({r}, {r}, {r})
1 abs({r})
1 rg.select({c}, {r}, {r})
2 {r} if {c} else {r}
2 {r} ** 2 ; {r} ** 3 ; {r} ** 2.0 ; {r} ** 0
2 {p} ** 0.5 ; {p} ** -1 ; {p} ** 1.5 ; {p} ** -2 ; {p} ** rg.sin({r}) ; rg.pow({p}, 0.7)
1 {r} ** ({n} % 3)
1 {r} % 1.5 ; {r} % 0.7 ; {r} % -1.1
1 {r} // 0.5 * 0.1 ; {r} // -0.8 * 0.1
1 rg.floor({r}) ; rg.ceil({r}) ; rg.round({r})
2 rg.math.clamp({r}, -0.6, 1.1) ; rg.math.mix({r}, {r}, {r}) ; rg.math.fract({r}) ; rg.math.sign({r}) ; rg.math.smoothstep(-1.3, 1.6, {r})
3 float({n}) ; {r} * {n} ; {n} / {z}
1 {r} and {r} ; {r} or {r}
3 {2}.dot({2}) ; {3}.norm(0.5) ; {2}.norm_sqr() ; {3}.sum() ; {2}.max() ; {3}.min() ; rg.math.dot({3}, {3}) ; rg.math.length({2} + 3.0)
2 {m}.determinant() ; {m}.trace() ; {2}.cross({2})
"""
INTEGER = """
5 {n} + {n}
4 {n} - {n}
3 {n} * {n}
2 {n} // {z}
3 {n} % {z}
3 {n} & {n} ; {n} ^ {n} ; {n} << 1 ; {n} >> 2 ; ~{n}
1 {n} | {n}
1 -{n}
1 ({n} % 5) ** 2 ; ({n} % 5) ** 0 ; ({n} % 4) ** 3
3 abs({n}) ; min({n}, {n}) ; max({n}, {n})
2 {n} if {c} else {n} ; rg.select({c}, {n}, {n})
2 int({r}) ; int({c}) ; rg.floor({r}, rg.i32)
2 rg.i32({n}) ; rg.i64({n}) ; rg.u8({n}) ; rg.cast({n}, rg.i32) ; rg.cast({n}, rg.i64)
"""
CONDITION = """
3 {n} < {n} ; {n} <= {n} ; {n} == {n} ; {n} != {n}
5 {r} {o} {r}
2 {c} and {c}
2 {c} or {c}
1 not {c}
1 {l} < {r} < 2.2 ; {n} <= {n} < {n}
1 {c} and {c} or {c}
1 bool({n})
1 {c} & {c}
1 ({2} > {l}).any() ; ({3} > {l}).all()
1 {n} % 2 == 0
"""
VECTOR = """
3 {v} + {v}
2 {v} - {v}
3 {v} * {r}
3 {r} * {v} ; {v} * {v} ; {v} / {a} ; -{v}
2 rg.sin({v}) ; rg.cos({v}) ; rg.tanh({v}) ; rg.min({v}, {v}) ; rg.max({v}, {v}) ; abs({v})
1 {v}.normalized(0.5)
2 rg.select({c}, {v}, {v}) ; {v} if {c} else {v}
"""
OF_TWO = """
2 {m} @ {v}
3 {v}.yx ; {3}.xy ; {3}.zx ; {3}[1:3] ; {m}[0, :] ; {m}[1, :]
"""
OF_THREE = """
3 {v}.cross({v}) ; {v}.zyx ; {2}.xyx
"""
MATRIX = """
2 {m} + {m}
2 {m} * {r}
2 {m} @ {m}
3 {m}.transpose() ; {2}.outer_product({2}) ; -{m} ; rg.Matrix([{2}, {2}])
"""


def forms(text):
    """Weights and alternatives, one pair a line."""
    return [(int(weight), form.split(" ; ")) for weight, form in (line.split(" ", 1) for line in text.strip().split("\n"))]


REAL, INTEGER, CONDITION, MATRIX = forms(REAL), forms(INTEGER), forms(CONDITION), forms(MATRIX)
VECTORS = {2: forms(VECTOR + OF_TWO.lstrip()), 3: forms(VECTOR + OF_THREE.lstrip())}


class Expressions(Random):
    """Writes expressions for a scope. The program has `fp` and `ip` (the default types), constants and functions."""

    def formed(self, scope, table, depth, *others, n=2):
        """An expression of one of the forms, or what one of `others` gives: (weight, function), None where it has nothing."""
        chosen = self.weighted(*table, *others)
        if callable(chosen):
            return chosen()
        makers = {
            "r": self.real, "n": self.integer, "c": self.condition, "p": self.positive, "a": self.away, "z": self.nonzero, "m": self.matrix,
            "v": lambda s, d: self.vector(s, n, d), "2": lambda s, d: self.vector(s, 2, d), "3": lambda s, d: self.vector(s, 3, d),
            "l": lambda s, d: self.literal(), "o": lambda s, d: self.pick(["<", "<=", ">", ">="]),
        }
        parts = re.split(r"\{(.)\}", self.pick(chosen))
        for k in range(1, len(parts), 2):
            kind = parts[k]
            parts[k] = makers[kind](scope, depth - 1 - (self.below(2) if kind in "rn" else 0))
            if kind == "r" and k == 5 and parts[1:5:2] and parts[1] == parts[5]:
                parts[5] = self.literal()  # nothing is compared with itself
        return f"({''.join(parts)})"

    # -- reading -----------------------------------------------------------------------------------------------------------

    def variables(self, scope, wanted):
        return [v for v in scope.variables if wanted(v)]

    def index(self, scope, extent, depth=1):
        """An integer that is surely an index of an axis."""
        n = self.extent(extent)
        inside = self.variables(scope, lambda v: v.hi is not None and v.hi <= extent)
        choices = [(1, lambda: str(self.below(extent)))]
        if inside:
            name = self.pick(inside).name
            choices += [(6, lambda: name), (1, lambda: f"({name} + {1 + self.below(2)}) % {n}"), (1, lambda: f"{n} - 1 - {name}"),
                        (1, lambda: f"max({name} - 1, 0)"), (1, lambda: f"({name} - 1 if {name} > 0 else 0)")]
        if depth > 0:
            choices += [(2, lambda: f"({self.integer(scope, depth - 1)}) % {n}")]
            tables = [a for a in scope.reads if a.array.hi is not None and a.array.hi <= extent]
            if tables:
                choices += [(3, lambda: self.element(scope, self.pick(tables), 0))]
        return self.weighted(*choices)()

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
        own = access.own or (None, None)
        return f"{access.name}[{', '.join(o or self.index(scope, n, depth) for o, n in zip(own, access.array.shape))}]"

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

    def named(self, scope, wanted, kind):
        """A constant that is known by name."""
        known = [n for n, t in scope.named if wanted(t)]
        return self.pick([n for n, v in self.program.constants.items() if type(v) is kind] + 3 * known)

    # -- floats ------------------------------------------------------------------------------------------------------------

    def literal(self):
        return self.pick(LITERALS)

    def real_leaf(self, scope):
        fp, other = self.program.fp, self.program.other
        t = fp if self.chance(85) or not other else other
        found = self.weighted((6, lambda: self.readable(scope, t)), (2, self.literal), (1, lambda: self.named(scope, is_real, float)),
                              (1, lambda: self.entry(scope)), (1, lambda: f"{self.pick(list(self.program.tuples))}[{self.below(2)}]"))()
        return found or self.readable(scope, t) or self.literal()

    def entry(self, scope):
        """An entry of a vector or matrix; None: there is none."""
        held = self.variables(scope, lambda v: isinstance(v.t, tuple) and is_real(v.t[-1]))
        stored = [a for a in scope.reads if a.array.element]
        if held and (not stored or self.chance(60)):
            chosen = self.pick(held)
            return self.part(scope, chosen.name, chosen.t[1:-1])
        if not stored:
            return None
        access = self.pick(stored)
        return self.part(scope, self.element(scope, access), access.array.element)

    def part(self, scope, whole, shape):
        """One entry of a value with this shape."""
        if len(shape) == 1 and self.chance(40):
            return f"{whole}.{self.pick('xyz'[: shape[0]])}"
        return f"{whole}[{', '.join(self.index(scope, n, 1) if self.chance(40) else str(self.below(n)) for n in shape)}]"

    def real(self, scope, depth):
        """A float of the program's default type, or what it is promoted to."""
        if depth <= 0:
            return self.real_leaf(scope)
        n = self.pick([2, 3])
        return self.formed(scope, REAL, depth, (4, lambda: self.real_leaf(scope)), (3, lambda: self.call(scope, self.program.fp, depth)),
                           (1, lambda: self.part(scope, self.vector(scope, n, depth - 1), (n,))),
                           (1, lambda: f"{self.pick(self.program.lambdas)}({self.real(scope, depth - 1)})" if self.program.lambdas else None)
                           ) or self.real_leaf(scope)

    def positive(self, scope, depth):
        """A float that is clearly greater than 0."""
        r = self.real(scope, depth - 1)
        return self.pick([f"(1.2 + {r} * {r})", f"(0.4 + abs({r}))", f"rg.exp(0.5 * rg.sin({r}))"])

    def away(self, scope, depth):
        """A float far from 0."""
        return self.pick(["2.0", "-1.6", "3", self.positive(scope, depth), f"(3.0 + rg.cos({self.real(scope, depth - 1)}))"])

    def nonzero(self, scope, depth):
        """An integer that is not 0."""
        return self.pick(["2", "3", "-4", f"(1 + abs({self.integer(scope, depth - 1)}) % 5)"])

    # -- others ------------------------------------------------------------------------------------------------------------

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

    def integer_leaf(self, scope):
        types = self.random.sample(["i32", "i64", "u8"], 3)
        found = self.weighted((6, lambda: next(filter(None, (self.readable(scope, t) for t in types)), None)), (2, lambda: str(self.below(7))),
                              (1, lambda: self.named(scope, is_integer, int)))()
        return found or str(1 + self.below(5))

    def integer(self, scope, depth):
        """An integer."""
        if depth <= 0:
            return self.integer_leaf(scope)
        return self.formed(scope, INTEGER, depth, (2, lambda: self.call(scope, "i32", depth)), (3, lambda: self.integer_leaf(scope))
                           ) or self.integer_leaf(scope)

    def condition(self, scope, depth):
        """A truth value."""
        if depth > 0:
            return self.formed(scope, CONDITION, depth, (1, lambda: self.call(scope, "u1", depth))) or self.condition(scope, 0)
        order = self.pick(["<", "<=", ">", ">="])
        found = self.weighted((1, lambda: self.readable(scope, "u1")), (2, lambda: f"{self.integer_leaf(scope)} {order} {self.below(4)}"),
                              (3, lambda: f"{self.real_leaf(scope)} {order} {self.literal()}"))() or f"{self.integer_leaf(scope)} % 2 == 0"
        return f"({found})"

    def vector(self, scope, n, depth):
        """A vector of n floats."""
        t = ("v", n, self.program.fp)

        def made():
            return f"rg.Vector([{', '.join(self.real(scope, depth - 1) for _ in range(n))}])"

        def comprehended():
            k = self.pick("kqz")
            return f"rg.Vector([{self.literal()} * {k} + {self.literal()} for {k} in range({n})])"

        def typed():
            return f"rg.types.vector({n}, rg.{self.program.fp})({', '.join(self.real(scope, depth - 1) for _ in range(n))})"

        if depth <= 0:
            return self.readable(scope, t) or made()
        return self.formed(scope, VECTORS[n], depth, (4, lambda: self.readable(scope, t)), (2, made), (1, comprehended), (1, typed),
                           (2, lambda: self.call(scope, t, depth)), n=n) or made()

    def matrix(self, scope, depth):
        """A matrix of 2 by 2 floats."""
        t = ("m", 2, 2, self.program.fp)

        def made():
            a, b, c, d = (self.real(scope, depth - 1) for _ in range(4))
            return f"rg.Matrix([[{a}, {b}], [{c}, {d}]])"

        if depth <= 0:
            return self.readable(scope, t) or made()
        others = (4, lambda: self.readable(scope, t)), (2, made), (1, lambda: self.call(scope, t, depth))
        return self.formed(scope, MATRIX, depth, *others) or made()
