"""Values of kernels: operators on all types, casts, vectors and matrices, texts, beside Python and NumPy."""

import contextlib
import io
import itertools
import math
import operator
import unittest

import numpy as np

import retrograd as rg
from refusals import Language
from retrograd import types

INTEGERS = [rg.i8, rg.u8, rg.i16, rg.u16, rg.i32, rg.u32, rg.i64, rg.u64]
FLOATS = [rg.f16, rg.f32, rg.f64]
OPERATORS = {"+": operator.add, "-": operator.sub, "*": operator.mul, "//": operator.floordiv, "%": operator.mod, "/": operator.truediv,
             "&": operator.and_, "|": operator.or_, "^": operator.xor, "<<": operator.lshift, ">>": operator.rshift,
             "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq, "!=": operator.ne}
COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")


def bits(t):
    return int(t.name[1:])


def wrapped(value, t):
    """An integer as a type holds it."""
    if t is rg.u1:
        return int(value != 0)
    value &= (1 << bits(t)) - 1
    return value - (1 << bits(t)) if t.name[0] == "i" and value >> bits(t) - 1 else value


def sum_type(a, b, default=rg.i32):
    """The type of x + y by the rules: bools as the default integer, floats first, then the wider, then the unsigned one."""
    a, b = (default if t is rg.u1 else t for t in (a, b))
    if (a in FLOATS) != (b in FLOATS):
        return a if a in FLOATS else b
    if bits(a) != bits(b):
        return max(a, b, key=bits)
    return a if a.name[0] == "u" else b


def numbers(t):
    """Numbers that are interesting in a type."""
    if t is rg.u1:
        return [0, 1]
    if t in FLOATS:
        return [0.0, 1.0, -1.5, 2.5, 7.0, -7.5]
    top = 1 << bits(t) - (t.name[0] == "i")
    return [0, 1, 3, 7, top - 1, -7, -top] if t.name[0] == "i" else [0, 1, 3, 7, top - 1]


def filled(t, values):
    made = rg.field(t, len(values))
    made.from_numpy(np.array(values, np.dtype(bool) if t is rg.u1 else np.dtype({"f": "float", "i": "int", "u": "uint"}[t.name[0]] + t.name[1:])))
    return made


def types_of(*values):
    """The types of values of a kernel; called while it is compiled."""
    return [v.dtype for v in values]


class Operators(Language):
    """Each operator on each pair of types: its type, and its values beside Python's integers or NumPy."""

    def types_of(self, a, b, names):
        """The types that operators have."""
        found = {}

        def note(name, value):
            found[name] = value.dtype

        @rg.kernel
        def ask(x: a, y: b):
            for name in rg.static(names):
                note(name, OPERATORS[name](x, y))
        ask(1, 1)
        return found

    def run_pair(self, a, b, names, how):
        pairs = list(itertools.product(numbers(a), numbers(b)))
        xs, ys = filled(a, [p for p, _ in pairs]), filled(b, [q for _, q in pairs])
        kinds = self.types_of(a, b, names)
        outs = [rg.field(kinds[name], len(pairs)) for name in names]
        functions = [OPERATORS[name] for name in names]

        @rg.kernel
        def run():
            for i in xs:
                for k in rg.static(range(len(names))):
                    outs[k][i] = functions[k](xs[i], ys[i])
        run()
        for name, out in zip(names, outs):
            values = out.to_numpy()
            for k, (p, q) in enumerate(pairs):
                expected = how(name, p, q)
                if expected is None:
                    continue
                kind, number = expected
                with self.subTest(f"{p} ({a}) {name} {q} ({b})"):
                    self.assertIs(kinds[name], kind)
                    np.testing.assert_equal(values[k].item(), number)

    def test_integers(self):
        def expected(name, p, q):
            kind = sum_type(a, b)
            x, y = wrapped(p, kind), wrapped(q, kind)
            if name in COMPARISONS:
                return rg.u1, OPERATORS[name](x, y)
            if name in "&|^":
                kind = a if a is b else kind
            if name in ("<<", ">>"):
                return kind, wrapped(OPERATORS[name](x, y & bits(kind) - 1), kind)
            if name in ("//", "%") and y == 0:
                return kind, 0 if name == "//" else x
            return kind, wrapped(OPERATORS[name](x, y), kind)

        names = ["+", "-", "*", "//", "%", "&", "|", "^", "<<", ">>", *COMPARISONS]
        pairs = [(t, t) for t in (rg.u1, *INTEGERS)]
        pairs += [(rg.i8, rg.u8), (rg.i32, rg.u32), (rg.i32, rg.i64), (rg.u32, rg.i64), (rg.i64, rg.u64), (rg.u1, rg.i32), (rg.u8, rg.i16), (rg.u64, rg.i8)]
        for a, b in pairs:
            self.run_pair(a, b, names, expected)

    def test_floats(self):
        def expected(name, p, q):
            kind = sum_type(a, b)
            if name == "/" and kind is rg.f16 and a is not b:
                kind = rg.f32
            as_numpy = {rg.f16: np.float16, rg.f32: np.float32, rg.f64: np.float64}[kind]
            with np.errstate(over="ignore"):
                x, y = as_numpy(p), as_numpy(q)
            if name in COMPARISONS:
                return rg.u1, bool(OPERATORS[name](x, y))
            if y == 0 and name in ("/", "//", "%"):
                return None
            with np.errstate(over="ignore", invalid="ignore"):
                floor = np.floor(x / y) if y else x
                return kind, (floor if name == "//" else x - floor * y if name == "%" else OPERATORS[name](x, y)).item()

        for a, b in [(t, t) for t in FLOATS] + [(rg.f16, rg.f32), (rg.f32, rg.f64), (rg.i32, rg.f16), (rg.u64, rg.f32), (rg.i8, rg.f64), (rg.u1, rg.f32)]:
            self.run_pair(a, b, ["+", "-", "*", "/", "//", "%", *COMPARISONS], expected)

    def test_true_division_of_integers(self):
        def expected(name, p, q):
            return (rg.f32, (np.float32(p) / np.float32(q)).item()) if q else None

        for a, b in ((rg.i32, rg.i32), (rg.u8, rg.i64), (rg.u1, rg.i16)):
            self.run_pair(a, b, ["/"], expected)

    def test_literals_have_the_default_types(self):
        found = []

        @rg.kernel
        def run(h: rg.f16, d: rg.f64, b: rg.i8, i: rg.i32, w: rg.i64):
            found.extend(types_of(h * 2.0, d * 2.0, b + 1, i * 2.0, w * 2.0, w + 1, h + 1, h / i, b / b, b ** 2, d ** 2, i ** b, h ** 2.5))
        run(1, 1, 1, 1, 1)
        self.assertEqual(found, [rg.f32, rg.f64, rg.i32, rg.f32, rg.f32, rg.i64, rg.f16, rg.f32, rg.f32, rg.i8, rg.f64, rg.i32, rg.f32])

    def test_defaults_of_64_bits(self):
        rg.init(default_fp=rg.f64, default_ip=rg.i64)
        found = []

        @rg.kernel
        def run(f: float, i: int) -> float:
            x = 1.0 / 3
            n = 2**40
            found.extend(types_of(x, n, f + i, int(f), float(i), i / i, rg.sqrt(i)))
            return x * n + f + i
        self.assertEqual(run(0.5, 2**35), 1 / 3 * 2**40 + 0.5 + 2**35)
        self.assertEqual(found, [rg.f64, rg.i64, rg.f64, rg.i64, rg.f64, rg.f64, rg.f64])

    def test_integer_literals_out_of_range(self):
        @rg.kernel
        def wide() -> rg.u64:
            return rg.u64(2**63 + 5) + rg.u64(0xFFFFFFFF)
        self.assertEqual(wide(), 2**63 + 5 + 0xFFFFFFFF)

        @rg.kernel
        def run(n: int) -> int:
            return n + 4294967296
        self.refused(run, 1, error=rg.TypeError_, says=r"exceeded the range of default_ip.*rg\.u64\(4294967296\)", line="n + 4294967296")

    def test_powers(self):
        x = rg.field(float, 4)
        x.from_numpy(np.array([0.0, 1.5, -2.0, 3.0], np.float32))
        out = rg.field(types.vector(8, float), 4)

        @rg.kernel
        def floats(n: int, e: float):
            for i in x:
                v = x[i]
                out[i] = rg.Vector([v**0, v**1, v**3, v**7, abs(v) ** 2.5, v**n, v**2.0, abs(v) ** e])
        floats(2, 0.5)
        v = x.to_numpy().astype(np.float64)
        expected = np.stack([v**0, v, v**3, v**7, np.abs(v) ** 2.5, v**2, v**2, np.abs(v) ** 0.5], axis=1)
        np.testing.assert_allclose(out.to_numpy(), expected, rtol=1e-6)

        @rg.kernel
        def inverse(x: float, n: int) -> types.vector(3, float):
            return rg.Vector([x**-1, x**-3, x**n])
        np.testing.assert_allclose(inverse(2.0, -2).to_list(), [0.5, 0.125, 0.25])

        @rg.kernel
        def integers(b: int, n: int) -> types.vector(6, int):
            return rg.Vector([b**n, b**0, b**3, b**-1, 2**n, b**True])
        for b, n in itertools.product((0, 1, -1, 2, -3), (0, 1, 2, 5)):
            self.assertEqual(integers(b, n).to_list(), [b**n, 1, b**3, {1: 1, -1: -1}.get(b, 0), 2**n, b])
        self.assertEqual(integers(-1, -3)[0], -1)
        self.assertEqual(integers(-1, -2)[0], 1)
        self.assertEqual(integers(7, -2)[0], 0)

        @rg.kernel
        def wide(b: rg.i64, n: int) -> rg.i64:
            return b**n
        self.assertEqual(wide(-3, 31), (-3) ** 31)
        self.assertEqual(wide(3, 50), wrapped(3**50, rg.i64))

    def test_derivatives_of_powers(self):
        rg.init(default_fp=rg.f64)
        x, y, n = rg.field(float, 5, needs_grad=True), rg.field(float, 5, needs_grad=True), rg.field(int, 5)
        at, of = np.array([0.0, -1.5, 2.0, -3.0, 0.5]), np.array([2, 3, -2, 0, 5])
        x.from_numpy(at)
        n.from_numpy(of.astype(np.int32))

        @rg.kernel
        def run():
            for i in x:
                y[i] = x[i] ** 2 + x[i] ** n[i] + abs(x[i]) ** 2.5
        y.grad.fill(1)
        run.grad()
        with np.errstate(divide="ignore", invalid="ignore"):
            expected = 2 * at + np.where(of == 0, 0, of * at ** (of - 1.0)) + 2.5 * np.abs(at) ** 1.5 * np.sign(at)
        np.testing.assert_allclose(x.grad.to_numpy(), expected, rtol=1e-12)

    def test_casts(self):
        given = [0.0, 0.9, -0.9, 3.7, -3.7, 300.5, -300.5, 1e10, -1e10, 1e30, -1e30, math.inf, -math.inf, math.nan]
        x = filled(rg.f64, given)
        outs = {t: rg.field(t, len(given)) for t in (rg.u1, *INTEGERS)}
        kinds = tuple(outs)
        fields = tuple(outs.values())

        @rg.kernel
        def run():
            for i in x:
                for k in rg.static(range(len(kinds))):
                    fields[k][i] = kinds[k](x[i])
        run()
        for t, out in outs.items():
            top, low = (1 << bits(t) - (t.name[0] == "i")) - 1, -(1 << bits(t) - 1) if t.name[0] == "i" else 0
            for value, got in zip(given, out.to_numpy()):
                expected = value != 0 if t is rg.u1 else 0 if math.isnan(value) else top if value > top else low if value < low else int(value)
                self.assertEqual(got, expected, (value, t))

        @rg.kernel
        def others(i: rg.i32, w: rg.i64, f: float) -> types.vector(8, rg.i64):
            return rg.Vector([rg.i8(i), rg.u16(i), rg.i32(w), rg.cast(w, rg.u8), rg.bit_cast(f, rg.i32), int(f), bool(i), rg.i64(rg.f32(3))], rg.i64)
        got = others(-200, 2**40 + 511, -1.75)
        self.assertEqual(got.to_list(), [56, 65336, 511, 255, np.float32(-1.75).view(np.int32).item(), -1, 1, 3])

    def test_truth(self):
        @rg.kernel
        def run(a: int, b: float, c: int) -> types.vector(10, float):
            p = a > 1
            q = b > 1.0
            return rg.Vector([p + q, p * 3, p - q, (not a) + 0, a or b, a and b, 1 if b else 2, a < b < c, a != b == c, -p], float)
        for a, b, c in itertools.product((0, 2), (0.0, 1.5), (1, 3)):
            p, q = a > 1, b > 1.0
            expected = [p + q, p * 3, p - q, (not a) + 0, a or b, a and b, 1 if b else 2, a < b < c, a != b == c, -p]
            self.assertEqual(run(a, b, c).to_list(), [float(v) for v in expected])

    def test_what_is_not_evaluated(self):
        rg.init(debug=True)
        x = rg.field(int, 4)
        x.from_numpy(np.array([1, 2, 3, 4], np.int32))

        @rg.kernel
        def run(i: int) -> int:
            a = 0
            if 0 <= i < x.shape[0] and x[i] > 2 or i == 7:
                a = 1
            b = x[i] if i < 4 else -1
            c = 0 if i >= 4 or x[i] == 1 else 5
            d = 1 if i < 4 < x[i] * 3 else 0
            return a + 10 * b + 100 * c + 1000 * d
        values = [1, 2, 3, 4]
        for i in (0, 1, 3, 4, 7, 100):
            a = int(0 <= i < 4 and values[i] > 2 or i == 7)
            b = values[i] if i < 4 else -1
            c = 0 if i >= 4 or values[i] == 1 else 5
            d = 1 if i < 4 < (values[i] * 3 if i < 4 else 0) else 0
            self.assertEqual(run(i), a + 10 * b + 100 * c + 1000 * d)

    def test_operands_that_do_not_fit(self):
        @rg.kernel
        def float_bits(x: float) -> int:
            return x & 1
        self.refused(float_bits, 1.0, error=rg.TypeError_, says="`&` takes integers", line="x & 1")

        @rg.kernel
        def inverted(x: float) -> int:
            return ~x
        self.refused(inverted, 1.0, error=rg.TypeError_, says="`~` takes integers", line="~x")

        @rg.kernel
        def text(x: float) -> float:
            return x + "a"
        self.refused(text, 1.0, error=rg.TypeError_, says=r"`\+` cannot be applied to", line='x + "a"')

        @rg.kernel
        def shapes(x: types.vector(2, float), y: types.vector(3, float)) -> float:
            return (x + y).sum()
        self.refused(shapes, [1, 2], [1, 2, 3], error=rg.TypeError_, says=r"shapes \(2,\) and \(3,\)", line="x + y")

        @rg.kernel
        def integer(n: int) -> float:
            return rg.sin(n)
        self.refused(integer, 1, error=rg.TypeError_, says="`sin` takes a float, not i32", line="rg.sin(n)")
        with self.assertRaises(rg.RuntimeTypeError):
            integer(1.5)


class Vectors(Language):
    def test_making(self):
        v3, m22 = types.vector(3, float), types.matrix(2, 2, float)

        @rg.kernel
        def run(x: float) -> types.vector(4, float):
            a = v3(x)
            b = v3(1, x, 3)
            c = v3([1, 2, x])
            pair = rg.Vector([x, 2.0])
            d = types.vector(4, float)(pair, 5, pair.y)
            m = m22(1, 2, 3, x)
            n = rg.Matrix([pair, [3.0, 4.0]])
            o = rg.Matrix.rows([pair, pair]) @ rg.Matrix.cols([pair, pair])
            p = rg.Matrix.identity(float, 2) + rg.Matrix.diag(2, x) + rg.Matrix.zero(float, 2, 2) + rg.Matrix.one(float, 2, 2)
            q = rg.Vector.unit(4, 2, float) + rg.Vector.zero(float, 4) + rg.Vector.one(float, 4)
            return d + q + rg.Vector([a.sum(), b.sum() + c.sum(), m.sum() + n.sum(), o.sum() + p.sum()])
        x = 1.5
        expected = np.array([x, 2, 5, 2]) + [1, 1, 2, 1] + [3 * x, 4 + x + 3 + x, 6 + x + x + 9, 4 * (x * x + 4) + 2 + 2 * x + 4]
        np.testing.assert_allclose(run(x).to_list(), expected)

        @rg.kernel
        def wrong():
            v3(1, 2)
        self.refused(wrong, error=rg.TypeError_, says="takes 3 entries, not 2", line="v3(1, 2)")

    def test_parts(self):
        @rg.kernel
        def run(i: int, j: int) -> types.vector(3, float):
            m = types.matrix(3, 3, float)([[1, 2, 3], [4, 5, 6], [7, 8, 9]])
            m[i, j] += 100
            m[0, :] = rg.Vector([10.0, 20.0, 30.0])
            r = m[i, :]
            m[:, 1] += 1.0
            r += m[:, j]
            r += m[1:3, 0].sum()
            r += m[i][j]
            m[i][j] = 0.0
            r += m[i, j]
            a, b, c = r
            r[1:3] *= 2
            r.x = a + b + c
            r.zy = r.yz
            r.rg += r.xy.dot(r.st)
            return r

        def python(i, j):
            m = np.arange(1.0, 10).reshape(3, 3)
            m[i, j] += 100
            m[0] = [10, 20, 30]
            r = m[i].copy()
            m[:, 1] += 1
            r += m[:, j]
            r += m[1:3, 0].sum()
            r += m[i, j]
            total = r.sum()
            r[1:] *= 2
            r[0] = total
            r[[2, 1]] = r[[1, 2]]
            r[:2] += r[:2] @ r[:2]
            return r
        for i, j in itertools.product(range(3), range(3)):
            np.testing.assert_allclose(run(i, j).to_list(), python(i, j))

    def test_methods(self):
        a, b = np.array([1.0, -2.0, 0.5]), np.array([0.3, 1.5, -1.0])
        m = np.array([[2.0, 1, 0, 1], [0.5, 3, 1, 0], [1, 0, -2, 1], [0, 1, 1, 4]])

        def through(v, w, m, f):
            found = [v.norm(), v.norm(f), v.norm_sqr(), v.norm_inv(), v.sum(), v.min(), v.max(), v.dot(w), (v > 0).any(), (v > 0).all(),
                     m.trace(), m.determinant(), len(v), m.n + m.m, v.get_shape()[0]]
            for part in (v.normalized(), v.cross(w), v.outer_product(w), m.transpose(), m.inverse(), m @ m, m.cast(int), abs(v), -v, v == w, v < w, v * w, 2 / v,
                         v**2, v - 1, rg.max(v, w), v[0:2].cross(w[0:2]) * v):
                found += part.entries
            return found
        expected = [np.linalg.norm(a), np.sqrt(a @ a + 0.25), a @ a, 1 / np.linalg.norm(a), a.sum(), -2, 1, a @ b, 1, 0, np.trace(m), np.linalg.det(m), 3, 8, 3]
        for part in (a / np.linalg.norm(a), np.cross(a, b), np.outer(a, b), m.T, np.linalg.inv(m), m @ m, np.trunc(m), np.abs(a), -a, a == b, a < b, a * b, 2 / a, a**2,
                     a - 1, np.maximum(a, b), (a[0] * b[1] - a[1] * b[0]) * a):
            expected += part.ravel().tolist()
        np.testing.assert_allclose([float(x) for x in through(rg.Vector(a.tolist()), rg.Vector(b.tolist()), rg.Matrix(m.tolist()), 0.25)], expected, atol=1e-12)
        out = rg.field(float, len(expected))

        @rg.kernel
        def run(v: types.vector(3, float), w: types.vector(3, float), m: types.matrix(4, 4, float)):
            found = through(v, w, m, 0.25)
            for k in rg.static(range(len(expected))):
                out[k] = found[k]
        run(a, b.tolist(), m)
        np.testing.assert_allclose(out.to_numpy(), expected, rtol=2e-5, atol=1e-5)

    def test_shapes_that_do_not_fit(self):
        @rg.kernel
        def run(m: types.matrix(2, 3, float), v: types.vector(2, float)):
            m @ v
        self.refused(run, np.ones((2, 3)), [1, 2], error=rg.TypeError_, says=r"`@` cannot be applied to shapes \(2, 3\) and \(2,\)", line="m @ v")

        @rg.kernel
        def condition(v: types.vector(2, float)) -> int:
            r = 0
            if v > 1:
                r = 1
            return r
        self.refused(condition, [1, 2], error=rg.TypeError_, says="the condition of an if is a scalar: use `.any\\(\\)`")

    def test_values_on_the_host(self):
        v = rg.Vector([1.0, 2.0, 3.0])
        v[1] = 5
        v.x = 7
        v.yz += 1
        w = v
        self.assertEqual(v.to_list(), [7, 6, 4])
        self.assertEqual(([1, 2, 3] + v).to_list(), [8, 8, 7])
        self.assertEqual((np.float32(2) * v).to_list(), [14, 12, 8])
        self.assertEqual((2 - v).to_list(), [-5, -4, -2])
        self.assertEqual((v.n, v.m, len(v), v.get_shape(), list(v), f"{w}"), (3, 1, 3, (3,), [7, 6, 4], "[7, 6, 4.0]"))
        m = rg.Matrix([[1, 2], [3, 4]])
        self.assertEqual((m[1, 0], m[0, :].to_list(), m[:, 1].to_list(), m.transpose().to_list(), m.determinant()), (3, [1, 2], [2, 4], [[1, 3], [2, 4]], -2))
        self.assertEqual(types.vector(2, int)(1.7, 2).to_list(), [1, 2])
        self.assertEqual(rg.Vector([1, 2], dt=float).to_list(), [1.0, 2.0])
        with self.assertRaises(rg.TypeError_):
            v + m

    def test_big_matrices(self):
        x, y = rg.field(types.matrix(12, 12, float), 3), rg.field(types.vector(12, float), 3)
        a, b = np.random.default_rng(3).random((3, 12, 12), np.float32), np.random.default_rng(4).random((3, 12), np.float32)
        x.from_numpy(a)
        y.from_numpy(b)

        @rg.kernel
        def run(k: int):
            for i in x:
                m = x[i]
                m += m.transpose()
                m[k, k + 1] = 1.0
                y[i] = m @ y[i] + m[k, :]
        run(5)
        m = a + a.transpose(0, 2, 1)
        m[:, 5, 6] = 1
        np.testing.assert_allclose(y.to_numpy(), np.einsum("ijk,ik->ij", m, b) + m[:, 5], rtol=1e-5)


class Messages(Language):
    """print, assert, and debug mode."""

    def printed(self, kernel, *args):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            kernel(*args)
            rg.sync()
        return out.getvalue()

    def test_print(self):
        @rg.kernel
        def run(x: float, d: rg.f64, n: int, w: rg.u64):
            v = rg.Vector([x, 2.0])
            print("hi", x, d, n, n > 2, w)
            print(v, rg.Matrix([[n, 1], [2, 3]]), (n, x), [1, 2], sep="|", end="!\n")
            print(f"{x:.3f}|{n:4d}|{n:<4}|{n:x}|{d:e}|{v}|100%")
            print("a {} b {:.2f} {0}".format(n, x) if False else "a {} b {:.2f} {c}".format(n, x, c="c"))
            print("%d and %5.1f%% %s" % (n, x, "s"))
            print(True, 1.5, "plain")
        expected = ["hi 1.500000 0.250000000000 3 1 18446744073709551615", "[1.500000, 2.000000]|[[3, 1], [2, 3]]|[3, 1.500000]|[1, 2]!",
                    "1.500|   3|3   |3|2.500000e-01|[1.500000, 2.000000]|100%", "a 3 b 1.50 c", "3 and   1.5% s", "1 1.5 plain"]
        self.assertEqual(self.printed(run, 1.5, 0.25, 3, 2**64 - 1).splitlines(), expected)

        @rg.kernel
        def threads():
            for i in range(4):
                print(i, end=";")
        self.assertEqual(sorted(self.printed(threads).split(";")), ["", "0", "1", "2", "3"])

    def test_integers_that_no_type_at_hand_holds(self):
        x, small, long = rg.field(int, ()), rg.field(rg.u8, 2), rg.field(rg.i64, ())

        @rg.kernel
        def fits():
            small[0], small[1], long[None] = -1, 300, 1 << 40
            x[None] = -(2**31)
        fits()
        self.assertEqual((small[0], small[1], long[None], x[None]), (255, 44, 1 << 40, -(2**31)))

        @rg.kernel
        def store():
            x[None] = 3000000000
        self.refused(store, error=rg.TypeError_, says="Integer literal 3000000000 exceeded the range of default_ip", line="x[None] = 3000000000")

        @rg.kernel
        def add():
            long[None] += 1 << 70
        self.refused(add, error=rg.TypeError_, says="exceeded the range")

    def test_formats(self):
        @rg.kernel
        def run(n: int, x: float):
            print("{:i} {:.1} {:.10d} {:.2} {:u}|{:<5d}|{:-5d}|{:,} {:>3}|".format(1, 2, 3, 4.0, 5, 6, 7, 1000000, "ab"))  # known when it is compiled
            print("{:i} {:.2} {:.10d} {:.2} {:u}|{:<5d}|{:-5d}|".format(n, n, n, x, rg.u8(n), n, n))
            print(f"{rg.Vector([n, 2]):.3d} {5:i}", "%.3d" % 7)
        expected = ["1 2 0000000003 4.00 5|6    |7    |1,000,000  ab|", "6 06 0000000006 2.50 6|6    |6    |", "[006, 002] 5 007"]
        self.assertEqual(self.printed(run, 6, 2.5).splitlines(), expected)

        @rg.kernel
        def signed(n: int):
            print(f"{n:u}")
        self.refused(signed, 1, error=rg.TypeError_, says="'u' is not one of integers")

    def test_overflow(self):
        """In debug mode a line for each operation on integers whose result the type does not hold."""
        rg.init(debug=True)
        symbols = {"Addition": lambda a, b: a + b, "Subtraction": lambda a, b: a - b, "Multiplication": lambda a, b: a * b, "Shift left": lambda a, b: a << b}
        for t in (rg.i8, rg.u16, rg.i32, rg.u32, rg.i64, rg.u64):
            x = rg.field(t, 24)
            y = rg.field(t, 24)
            some = [t.least(), t.most(), t.most() // 2 + 1, 2, 1, t.wrapped(-1)]
            for name, f in symbols.items():
                shifts = name == "Shift left"
                pairs = [(a, b) for a in some for b in ([0, 1, t.bits - 2, t.bits - 1] if shifts else some[::2] + [1])]
                x.from_numpy(np.array([a for a, _ in pairs], t.numpy))
                y.from_numpy(np.array([b for _, b in pairs], t.numpy))

                @rg.kernel
                def run():
                    for i in x:
                        x[i] = f(x[i], y[i])
                exact = [f(a, b) for a, b in pairs]
                found = self.printed(run)
                self.assertEqual(found.count(f"{name} overflow detected in File"), sum(t.wrapped(v) != v for v in exact), (t, name))
                self.assertEqual(found.count("x[i] = f(x[i], y[i])"), found.count("overflow"))
                self.assertEqual(x.to_numpy().tolist(), [t.wrapped(v) for v in exact])

        @rg.kernel
        def fine(n: int) -> int:  # hashes and powers do not say a thing of what they do inside
            total = 0
            for i in range(n):
                total += i + rg.random(int) * 0
            return total + 10**n
        self.assertEqual(self.printed(fine, 9), "")

    def test_texts_are_for_print_and_assert(self):
        @rg.kernel
        def known(n: rg.template()) -> int:
            return len(f"{n:03d}" + "ab")
        self.assertEqual(known(7), 5)

        @rg.kernel
        def unknown(n: int) -> float:
            s = "%d" % n
            return rg.sin(s)
        with self.assertRaises(rg.CompilationError):
            unknown(1)

        @rg.kernel
        def wrong(x: float):
            print(f"{x:d}")
        self.refused(wrong, 1.0, error=rg.TypeError_, says="'d' is not one of floats")

        @rg.kernel
        def whole(x: rg.types.ndarray()):
            print(x)
        self.refused(whole, np.zeros(2), error=rg.TypeError_, says="a kernel prints elements of arrays", line="print(x)")

    def failure(self, kernel, *args):
        with self.assertRaises(AssertionError) as caught:
            kernel(*args)
            rg.sync()  # GPUs go on while the host does
        return str(caught.exception)

    def test_assert(self):
        rg.init(debug=True)
        x = rg.field(float, 8)
        x[5] = 7.5

        @rg.kernel
        def values(n: int):
            for i in x:
                assert x[i] < 3.0, f"x[{i}] is {x[i]}, n = {n:03d}, 100%"

        @rg.kernel
        def condition(n: int):
            assert n > 3 and n != 7

        @rg.kernel
        def message(n: int):
            assert n > 3, "too small: %d" % n

        @rg.kernel
        def plain(n: int):
            assert n > 3, "too small"
        self.assertTrue(self.failure(values, 2).endswith("assertion failed: x[5] is 7.500000, n = 002, 100%"))
        self.assertTrue(self.failure(condition, 2).endswith("assertion failed: n > 3 and n != 7"))
        self.assertTrue(self.failure(message, 2).endswith("assertion failed: too small: 2"))
        self.assertTrue(self.failure(plain, 2).endswith("assertion failed: too small"))
        self.assertRegex(self.failure(plain, 2), r"kernel `plain`.*test_kernels_values\.py:\d+")
        for kernel in (condition, message, plain):
            kernel(5)
        self.assertEqual(self.printed(lambda: self.failure(values, 2)), "")
        rg.init()

        @rg.kernel
        def not_compiled(n: int):
            assert n > 3
        not_compiled(1)

    def test_bounds(self):
        rg.init(debug=True)
        x = rg.field(types.vector(3, float), (4, 5), name="grid")

        @rg.func
        def read(i):
            return x[i, 2]

        @rg.kernel
        def arrays(n: int):
            for i in range(n):
                x[i, 1] = read(i)

        @rg.kernel
        def negative(n: int) -> float:
            return x[n, -1][0]

        @rg.kernel
        def entry(k: int) -> float:
            return x[1, 2][k]

        @rg.kernel
        def local_value(i: int, k: int) -> float:
            m = rg.Matrix([[1.0, 2.0], [3.0, 4.0]])
            m[i, k] += 1.0
            return m[i, k]

        @rg.kernel
        def local_array(k: int) -> float:
            v = rg.Vector([0.0 for _ in range(30)])
            v[k] = 1.0
            return v.sum()
        arrays(4)
        self.assertEqual((negative.__name__, entry(2), local_value(1, 0), local_array(29)), ("negative", 0, 4, 1))
        self.assertRegex(self.failure(arrays, 5), r"test_kernels_values\.py:\d+: index 4 leaves axis 0 of array `grid`, extent 4")
        self.assertRegex(self.failure(negative, 2), "index -1 leaves axis 1 of array `grid`, extent 5")
        self.assertRegex(self.failure(entry, 3), "index 3 leaves axis 2 of array `grid`, extent 3")
        self.assertRegex(self.failure(local_value, 1, 2), r"index 2 leaves axis 1 of a local value of shape \(2, 2\)")
        self.assertRegex(self.failure(local_array, 30), r"index 30 leaves axis 0 of a local value of shape \(30,\)")

    def test_subscripts_that_do_not_fit(self):
        x = rg.field(float, (3, 4))

        @rg.kernel
        def few(i: int) -> float:
            return x[i]
        self.refused(few, 1, error=rg.IndexError_, says="has 2 axes: 1 indices are given", line="x[i]")

        @rg.kernel
        def of_floats(i: float) -> float:
            return x[i, 0]
        self.refused(of_floats, 1.0, error=rg.TypeError_, says="an index of array `.*` is an integer, not f32", line="x[i, 0]")

        @rg.kernel
        def known() -> float:
            v = rg.Vector([1.0, 2.0])
            return v[2]
        self.refused(known, error=rg.IndexError_, says="index 2 is out of the range of axis 0, which has 2 entries", line="v[2]")

        @rg.kernel
        def component() -> float:
            v = rg.Vector([1.0, 2.0])
            return v.z
        self.refused(component, error=rg.CompilationError, says="has no attribute 'z'", line="v.z")


if __name__ == "__main__":
    unittest.main()
