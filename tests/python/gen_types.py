"""Types of expressions that the oracle of generated kernels does not evaluate: a choice has the common type of all that could be chosen."""

import ast

import gen_numbers as g
from gen_numbers import Scalar, Vector, cast, is_scalar, type_of
from gen_places import Array, scalar_type


class SpecialForm:
    """A function that the machine does itself."""

    def __init__(self, name):
        self.name = name


class Types:
    """What a machine knows of types without evaluating."""

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
        method = isinstance(e.func, ast.Attribute) and not (isinstance(e.func.value, ast.Name) and e.func.value.id == "rg")
        f = None if method else self.ref(e.func)
        if isinstance(scalar_type(f), g.Type):
            return scalar_type(f)
        if f is None:
            return self.type_in(e.func.value)
        if isinstance(f, SpecialForm) or hasattr(f, "tree"):
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
