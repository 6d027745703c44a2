"""Functions of kernels: each on the host and in kernels, of scalars and vectors, in f32 and f64, and its derivative beside differences."""

import itertools
import math
import unittest

import numpy as np

import retrograd as rg
from retrograd import types

tm = rg.math


def np_clamp(x, lo, hi):
    return np.minimum(hi, np.maximum(lo, x))


def np_smoothstep(a, b, x):
    t = np_clamp((x - a) / (b - a), 0, 1)
    return t * t * (3 - 2 * t)


erf, erfc = np.vectorize(math.erf), np.vectorize(math.erfc)
ROUND = [-2.5, -1.5, -0.7, 0.3, 0.5, 1.5, 2.5]  # values, of which those with .5 are no points for differences
# name, the function of NumPy, arguments, whether it is differentiable at them
ELEMENTWISE = [
    ("sin", np.sin, [-2.0, 0.3, 7.0]), ("cos", np.cos, [-2.0, 0.3, 7.0]), ("tan", np.tan, [-1.0, 0.3, 1.2]),
    ("asin", np.arcsin, [-0.9, 0.0, 0.5]), ("acos", np.arccos, [-0.9, 0.0, 0.5]), ("atan", np.arctan, [-3.0, 0.0, 0.5]),
    ("sinh", np.sinh, [-1.0, 0.0, 2.0]), ("cosh", np.cosh, [-1.0, 0.0, 2.0]), ("tanh", np.tanh, [-1.0, 0.0, 2.0]),
    ("asinh", np.arcsinh, [-1.0, 0.0, 2.0]), ("acosh", np.arccosh, [1.5, 2.0, 9.0]), ("atanh", np.arctanh, [-0.9, 0.0, 0.5]),
    ("exp", np.exp, [-3.0, 0.0, 2.0]), ("exp2", np.exp2, [-3.0, 0.0, 2.5]), ("expm1", np.expm1, [-3.0, 1e-3, 2.0]),
    ("log", np.log, [0.01, 1.0, 9.0]), ("log2", np.log2, [0.01, 1.0, 9.0]), ("log10", np.log10, [0.01, 1.0, 9.0]), ("log1p", np.log1p, [-0.5, 1e-3, 9.0]),
    ("sqrt", np.sqrt, [0.01, 1.0, 9.0]), ("rsqrt", lambda x: 1 / np.sqrt(x), [0.01, 1.0, 9.0]), ("cbrt", np.cbrt, [-8.0, 0.5, 27.0]),
    ("erf", erf, [-1.0, 0.2, 2.0]), ("erfc", erfc, [-1.0, 0.2, 2.0]), ("abs", np.abs, [-2.0, 0.5, 3.0]),
    ("floor", np.floor, ROUND), ("ceil", np.ceil, ROUND), ("trunc", np.trunc, ROUND), ("round", np.round, ROUND), ("fract", lambda x: x - np.floor(x), ROUND),
    ("sign", np.sign, [-2.0, 0.5, 3.0]), ("degrees", np.degrees, [-2.0, 0.5, 3.0]), ("radians", np.radians, [-90.0, 30.0, 400.0]),
]
TWO = [
    ("atan2", np.arctan2, [0.5, -1.0, 2.0], [1.0, -2.0, 0.3]), ("hypot", np.hypot, [3.0, -1.0, 2.0], [4.0, -2.0, 0.3]),
    ("pow", np.power, [0.5, 2.0, 3.0], [1.5, -2.0, 0.3]), ("min", np.minimum, [0.5, 2.0, 3.0], [1.5, -2.0, 0.3]),
    ("max", np.maximum, [0.5, 2.0, 3.0], [1.5, -2.0, 0.3]), ("mod", np.mod, [5.3, -2.2, 3.1], [1.7, 1.5, -0.9]),
    ("raw_mod", np.fmod, [5.3, -2.2, 3.1], [1.7, 1.5, -0.9]), ("raw_div", np.divide, [5.3, -2.2, 3.1], [1.7, 1.5, -0.9]),
    ("step", lambda e, x: np.where(x < e, 0.0, 1.0), [0.5, 2.0, 3.0], [1.5, -2.0, 0.3]),
]
THREE = [
    ("clamp", np_clamp, [-0.5, 0.4, 3.0], [0.0, 0.1, -1.0], [1.0, 2.0, 2.0]), ("mix", lambda x, y, a: x * (1 - a) + y * a, [1.0, -2.0, 3.0], [4.0, 0.0, 3.5], [0.3, 0.7, 2.0]),
    ("smoothstep", np_smoothstep, [0.0, -1.0, 0.5], [1.0, 2.0, 3.0], [0.4, 0.7, 4.0]),
    ("select", lambda c, x, y: np.where(c > 0, x, y), [1.0, -1.0, 1.0], [4.0, 0.0, 3.5], [0.3, 0.7, 2.0]),
]
TABLE = [(name, f, [a]) for name, f, a in ELEMENTWISE] + [(name, f, list(a)) for name, f, *a in TWO + THREE]


def function(name):
    if name == "select":
        return lambda c, x, y: rg.select(c > 0, x, y)
    return getattr(rg, name) if hasattr(rg, name) else getattr(tm, name)


def differences(f, args, h):
    """Central differences of an elementwise function, by argument."""
    found = []
    for k in range(len(args)):
        up, down = list(args), list(args)
        up[k], down[k] = args[k] + h, args[k] - h
        found.append((f(*up) - f(*down)) / (2 * h))
    return found


class Functions(unittest.TestCase):
    def tearDown(self):
        rg.reset()

    def test_on_the_host(self):
        for name, f, args in TABLE:
            expected = f(*map(np.array, args))
            with self.subTest(name):
                for at, point in enumerate(zip(*args)):
                    self.assertAlmostEqual(function(name)(*point), expected[at], 12)
                np.testing.assert_allclose(function(name)(*map(rg.Vector, args)).to_numpy(), expected, rtol=1e-12, atol=1e-14)

    def of_type(self, t, close, close_slope, h):
        rg.init(default_fp=t)
        for few in itertools.batched(TABLE, 8) if hasattr(itertools, "batched") else [TABLE[k : k + 8] for k in range(0, len(TABLE), 8)]:
            self.some(t, few, close, close_slope, h)

    def some(self, t, rows, close, close_slope, h):
        """Values and derivatives of some of the functions, all in one kernel: element by element, and of vectors."""
        functions = [function(name) for name, _, _ in rows]
        counts = [len(args) for _, _, args in rows]
        n = max(len(args[0]) for _, _, args in rows)
        given = [[rg.field(t, n, needs_grad=True) for _ in args] for _, _, args in rows]
        scalars, vectors = [rg.field(t, n, needs_grad=True) for _ in rows], [rg.field(types.vector(2, t), n) for _ in rows]
        for fields, (_, _, args) in zip(given, rows):
            for field, values in zip(fields, args):
                field.from_numpy(np.resize(np.array(values), n))

        @rg.kernel
        def run():
            for i in scalars[0]:
                for k in rg.static(range(len(rows))):
                    scalars[k][i] = functions[k](*[given[k][j][i] for j in range(counts[k])])

        @rg.kernel
        def run_vectors():
            for i in scalars[0]:
                for k in rg.static(range(len(rows))):
                    vectors[k][i] = functions[k](*[rg.Vector([given[k][j][i], given[k][j][n - 1 - i]]) for j in range(counts[k])])
        run()
        run_vectors()
        for out in scalars:
            out.grad.fill(1)
        run.grad()
        for k, (name, f, args) in enumerate(rows):
            args = [np.resize(np.array(values), n) for values in args]
            with self.subTest(name, type=t):
                expected = f(*args)
                np.testing.assert_allclose(scalars[k].to_numpy(), expected, rtol=close, atol=close)
                np.testing.assert_allclose(vectors[k].to_numpy(), np.stack([expected, expected[::-1]], 1), rtol=close, atol=close)
                if args[0][0] == ROUND[0] and name != "fract":
                    slopes = [np.zeros(n)]
                elif name == "fract":
                    slopes = [np.ones(n)]
                else:
                    slopes = differences(f, args, h)
                for field, slope in zip(given[k], slopes):
                    np.testing.assert_allclose(field.grad.to_numpy(), slope, rtol=close_slope, atol=close_slope)

    def test_in_kernels_of_f64(self):
        self.of_type(rg.f64, 1e-13, 1e-6, 1e-6)

    def test_in_kernels_of_f32(self):
        self.of_type(rg.f32, 1e-5, 1e-3, 1e-4)

    def test_kinds_of_numbers(self):
        rg.init()
        rows = [0.0, -1.5, math.inf, -math.inf, math.nan]
        x = rg.field(float, 5)
        x.from_numpy(np.array(rows, np.float32))
        out = rg.field(types.vector(4, int), 5)

        @rg.kernel
        def run():
            for i in x:
                out[i] = rg.Vector([tm.isnan(x[i]), tm.isinf(x[i]), tm.sign(x[i]) > 0, tm.isnan(rg.Vector([x[i], 1.0])).any()])
        run()
        expected = [[math.isnan(v), math.isinf(v), v > 0, math.isnan(v)] for v in rows]
        self.assertEqual(out.to_numpy().tolist(), [[int(v) for v in row] for row in expected])
        self.assertEqual([(tm.isnan(v), tm.isinf(v)) for v in rows], [(math.isnan(v), math.isinf(v)) for v in rows])

    def test_rounding_with_a_type(self):
        rg.init()

        @rg.kernel
        def run(x: float) -> types.vector(3, int):
            return rg.Vector([rg.floor(x, int), rg.ceil(x, rg.i64), rg.round(x, dtype=rg.i8)], int)
        for x in (2.5, -2.5, 1.2):
            expected = [math.floor(x), math.ceil(x), round(x)]
            self.assertEqual(run(x).to_list(), expected)
            self.assertEqual([rg.floor(x, int), rg.ceil(x, rg.i64), rg.round(x, rg.i8)], expected)

    def test_bits(self):
        rg.init()
        for t, numbers in ((rg.i32, [0, 1, -1, 12, -(2**31), 2**31 - 1]), (rg.u64, [0, 1, 2**64 - 1, 3 << 40]), (rg.i8, [0, -1, 64]), (rg.u16, [0, 40, 65535])):
            width, n = int(t.name[1:]), len(numbers)
            x, out = rg.field(t, n), rg.field(types.vector(6, rg.i64), n)
            x.from_numpy(np.array(numbers, f"{'int' if t.name[0] == 'i' else 'uint'}{width}"))

            @rg.kernel
            def run():
                for i in x:
                    v = x[i]
                    out[i] = rg.Vector([rg.popcnt(v), rg.clz(v), rg.ffs(v), rg.bit_shr(v, 3), rg.bit_sar(v, 3), rg.bit_shl(v, 1)], rg.i64)
            run()
            for number, got in zip(numbers, out.to_numpy().tolist()):
                mask = (1 << width) - 1
                bits = number & mask

                def held(v, width=width):
                    v &= (1 << width) - 1
                    v -= (1 << width) if t.name[0] == "i" and v >> width - 1 else 0
                    return (v + 2**63) % 2**64 - 2**63
                self.assertEqual(got, [bits.bit_count(), width - bits.bit_length(), (bits & -bits).bit_length(), held(bits >> 3), held(number >> 3),
                                       held(number << 1, max(width, 32))], (t, number))
        self.assertEqual([(rg.popcnt(v), rg.clz(v), rg.ffs(v)) for v in (0, -1, 12)], [(0, 32, 0), (32, 0, 1), (2, 28, 3)])
        self.assertEqual((rg.bit_cast(1.5, rg.i32), rg.bit_cast(rg.Vector([0x3FC00000]), rg.f32)[0]), (0x3FC00000, 1.5))

    def test_frexp_and_raw_division(self):
        rg.init(default_fp=rg.f64)

        @rg.kernel
        def run(x: float, a: int, b: int) -> types.vector(4, float):
            f, n = rg.frexp(x)
            return rg.Vector([f, n, rg.raw_div(a, b), rg.raw_mod(a, b)], float)
        for x, a, b in ((12.5, -7, 2), (-0.3, 7, -2), (0.0, 7, 2)):
            expected = [*math.frexp(x), int(a / b), math.fmod(a, b)]
            self.assertEqual(run(x, a, b).to_list(), expected)
            self.assertEqual([*rg.frexp(x), rg.raw_div(a, b), rg.raw_mod(a, b)], expected)

    def test_zeros_ones_and_any_number_of_arguments(self):
        rg.init()

        @rg.kernel
        def run(x: rg.i64, v: types.vector(2, float)) -> types.vector(4, float):
            w = rg.zero(v) + rg.one(v) * 3
            return rg.Vector([rg.zero(x) + rg.one(x), w.sum(), rg.max(1, 2.5, x), min(v.x, v.y, 3, x)], float)
        self.assertEqual(run(7, [5, 4]).to_list(), [1.0, 6.0, 7.0, 3.0])

    def test_vectors(self):
        rg.init(default_fp=rg.f64)
        a, b, c = np.array([1.0, -2.0, 0.5]), np.array([0.3, 1.5, -1.0]), np.array([0.6, 0.0, 0.8])

        def through(v, w, n):
            d = tm.dot(v, n)
            return [tm.dot(v, w), tm.length(v), tm.distance(v, w), *tm.cross(v, w).to_list(), *tm.normalize(v).to_list(), *tm.reflect(v, n).to_list(),
                    *tm.refract(tm.normalize(v), n, 0.8).to_list(), *tm.refract(tm.normalize(v), n, 9.0).to_list(), d]

        unit = a / np.linalg.norm(a)
        k = 1 - 0.64 * (1 - (unit @ c) ** 2)
        expected = np.concatenate([[a @ b, np.linalg.norm(a), np.linalg.norm(a - b)], np.cross(a, b), unit, a - 2 * (a @ c) * c,
                                   0.8 * unit - (0.8 * (unit @ c) + np.sqrt(k)) * c, np.zeros(3), [a @ c]])
        np.testing.assert_allclose(through(*map(rg.Vector, (a, b, c))), expected, rtol=1e-12, atol=1e-14)
        out = rg.field(float, len(expected))

        @rg.kernel
        def run(v: tm.vec3, w: tm.vec3, n: tm.vec3):
            found = through(v, w, n)
            for i in rg.static(range(len(expected))):
                out[i] = found[i]
        run(a, b, c)
        np.testing.assert_allclose(out.to_numpy(), expected, rtol=1e-12, atol=1e-14)

    def test_matrices(self):
        rg.init(default_fp=rg.f64)
        axis, angles = np.array([1.0, 2.0, -2.0]) / 3, (0.3, 0.5, 0.7)

        def about(a, t):  # Rodrigues' formula, for row vectors
            k = np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])
            m = np.eye(4)
            m[:3, :3] = (np.eye(3) + np.sin(t) * k + (1 - np.cos(t)) * k @ k).T
            return m

        x, y, z = np.eye(3)
        moved = np.eye(4)
        moved[:3, 3] = (1, 2, 3)
        c, s = np.cos(0.4), np.sin(0.4)
        turned = about(z, 0.7) @ about(x, 0.5) @ about(y, 0.3)
        expected = {"eye": np.eye(3), "translate": moved, "scale": np.diag([1.0, 2, 3, 1]), "rotation2d": np.array([[c, -s], [s, c]]), "vdir": np.array([c, s]),
                    "rot_by_axis": about(axis, 0.4), "rot_yaw_pitch_roll": turned, "rotation3d": about(z, 0.5) @ about(x, 0.3) @ about(y, 0.7)}
        arguments = {"eye": (3,), "translate": (1, 2, 3), "scale": (1, 2, 3), "rotation2d": (0.4,), "vdir": (0.4,),
                     "rot_by_axis": (rg.Vector((axis * 5).tolist()), 0.4), "rot_yaw_pitch_roll": angles, "rotation3d": angles}
        for name, value in expected.items():
            made, given = getattr(tm, name), arguments[name]

            @rg.kernel
            def run() -> float:
                m = made(*given)
                s = 0.0
                for i in rg.static(range(m.n)):
                    for j in rg.static(range(m.m)):
                        s += (m[i, j] if m.m > 1 else m[i]) * (i * 4 + j + 1)
                return s
            with self.subTest(name):
                np.testing.assert_allclose(made(*given).to_numpy(), value, atol=1e-14)
                weights = np.array([[i * 4 + j + 1 for j in range(value.shape[1] if value.ndim > 1 else 1)] for i in range(len(value))])
                self.assertAlmostEqual(run(), (value.reshape(weights.shape) * weights).sum(), 10)

    def test_complex_numbers(self):
        rg.init(default_fp=rg.f64)
        cases = {"cconj": lambda z: z.conjugate(), "csqrt": np.sqrt, "cinv": lambda z: 1 / z, "cexp": np.exp, "clog": np.log}
        for z in (1 + 2j, -3 + 0.5j, -1 - 1e-3j):
            pair = rg.Vector([z.real, z.imag])
            for name, f in cases.items():
                part = getattr(tm, name)

                @rg.kernel
                def run(v: tm.vec2) -> tm.vec2:
                    return part(v)
                value = np.complex128(f(z))
                with self.subTest(name, z=z):
                    np.testing.assert_allclose(run(pair).to_list(), [value.real, value.imag], atol=1e-13)
                    np.testing.assert_allclose(part(pair).to_list(), [value.real, value.imag], atol=1e-13)
            w = z**2.5
            for got, value in ((tm.cpow(pair, 2.5), w), (tm.cmul(pair, pair), z * z), (tm.cdiv(pair, rg.Vector([1.0, -1.0])), z / (1 - 1j))):
                np.testing.assert_allclose(got.to_list(), [value.real, value.imag], atol=1e-12)
        self.assertEqual(tm.csqrt(rg.Vector([0.0, 0.0])).to_list(), [0.0, 0.0])

    def test_all_names_are_there(self):
        for name in """sin cos tan asin acos atan2 tanh exp log sqrt rsqrt pow abs floor ceil round min max select cast bit_cast random randn raw_div
                       raw_mod frexp zero one static_print static_assert atomic_add atomic_sub atomic_mul atomic_min atomic_max atomic_and atomic_or
                       atomic_xor atomic_exchange atomic_cas svd sym_eig eig polar_decompose solve""".split():
            self.assertTrue(callable(getattr(rg, name)), name)
        for name in """sin pow clamp mix step smoothstep fract sign mod degrees radians log2 isnan isinf popcnt clz ffs dot cross length distance
                       normalize reflect refract determinant inverse eye vec2 vec3 vec4 ivec2 ivec3 ivec4 uvec2 uvec3 uvec4 mat2 mat3 mat4
                       rotation2d rotation3d rot_by_axis rot_yaw_pitch_roll translate scale vdir cmul cconj cdiv csqrt cinv cpow cexp clog""".split():
            self.assertTrue(callable(getattr(tm, name)), name)
        self.assertEqual((tm.pi, tm.e, tm.inf), (math.pi, math.e, math.inf))
        self.assertTrue(math.isnan(tm.nan))

    def test_inner_products_are_of_vectors(self):
        self.assertEqual(rg.Vector([1.0, 2.0]).dot([3.0, 4.0]), 11)
        for other in (3.0, [1.0, 2.0, 3.0]):
            with self.assertRaises(rg.TypeError_):
                rg.Vector([1.0, 2.0]).dot(other)

    def test_types_of_small_vectors_follow_init(self):
        rg.init(default_fp=rg.f64, default_ip=rg.i64)
        self.assertEqual([t.scalar for t in (tm.vec2, tm.mat3, tm.ivec4, tm.uvec2)], [rg.f64, rg.f64, rg.i64, rg.u32])
        rg.reset()


class Random(unittest.TestCase):
    def setUp(self):
        rg.init(random_seed=11)

    def tearDown(self):
        rg.reset()

    def test_distributions(self):
        n = 50000
        kinds = [rg.f64, rg.f32, rg.f16, rg.i32, rg.u8, rg.u1]
        fields = [rg.field(t, n) for t in kinds]
        normal = rg.field(rg.f64, n)

        @rg.kernel
        def draw():
            for i in normal:
                for k in rg.static(range(len(kinds))):
                    fields[k][i] = rg.random(kinds[k])
                normal[i] = rg.randn(rg.f64)
        draw()
        for t, field in zip(kinds, fields):
            got = field.to_numpy().astype(float)
            unit = got if t.name[0] == "f" else got if t is rg.u1 else (got - got.min()) / (got.max() - got.min())
            self.assertTrue((unit >= 0).all() and (unit <= 1).all())
            counts = np.histogram(unit, 2 if t is rg.u1 else 16)[0]
            chi = ((counts - n / len(counts)) ** 2 / (n / len(counts))).sum()
            self.assertLess(chi, 45, t)  # of 15 degrees of freedom: 1 in 10,000
        self.assertTrue((fields[1].to_numpy() < 1).all())
        values = normal.to_numpy()
        self.assertLess(abs(values.mean()), 5 / np.sqrt(n))
        self.assertLess(abs(values.std() - 1), 0.02)
        self.assertLess(abs((values**4).mean() - 3), 0.2)
        uniform = fields[0].to_numpy()
        self.assertEqual(len(np.unique(uniform)), n)
        for other in (uniform[1:], values[:-1], fields[1].to_numpy()[:-1]):
            self.assertLess(abs(np.corrcoef(uniform[:-1], other)[0, 1]), 0.03)

    def test_draws_are_all_different(self):
        x, y = rg.field(rg.f64, (6, 5, 4)), rg.field(rg.f64, 5)

        @rg.kernel
        def draw():
            t = 0
            while t < 5:
                rg.loop_config(parallelize=4)
                for i in range(6):
                    k = 0
                    while k < 4:
                        x[i, t, k] = rg.random(rg.f64)
                        k += 1
                t += 1
            rg.loop_config(serialize=True)
            for i in range(5):
                y[i] = rg.random(rg.f64)
        draw()
        first = np.concatenate([x.to_numpy().ravel(), y.to_numpy()])
        draw()
        both = np.concatenate([first, x.to_numpy().ravel(), y.to_numpy()])
        self.assertEqual(len(np.unique(both)), 250)

    def test_the_seed_decides(self):
        def drawn(seed):
            rg.init(random_seed=seed)
            x = rg.field(rg.f64, 100)

            @rg.kernel
            def draw():
                for i in x:
                    x[i] = rg.random(rg.f64)
            draw()
            draw()
            return x.to_numpy()
        np.testing.assert_array_equal(drawn(5), drawn(5))
        self.assertFalse((drawn(5) == drawn(6)).any())

    def test_reverse_sweeps_draw_the_same(self):
        x, y = rg.field(rg.f64, 50, needs_grad=True), rg.field(rg.f64, 50, needs_grad=True)

        @rg.kernel
        def run():
            for i in x:
                a, s = rg.random(rg.f64), rg.zero(x[i])
                for _ in range(3):
                    if rg.random(rg.f64) < 0.5:
                        s += rg.random(rg.f64) * x[i]
                y[i] = a * x[i] ** 2 + s
        for _ in range(2):  # what is read is the last launch's
            x.fill(1)
            x.grad.fill(0)
            run()
            ones = y.to_numpy()  # a + s
            y.grad.fill(1)
            run.grad()
            slope = x.grad.to_numpy()  # 2 a + s
            self.assertTrue(((slope >= ones - 1e-12) & (slope <= ones + 1)).all())
            x.fill(3)
            x.grad.fill(0)
            y.grad.fill(1)
            run.grad()
            np.testing.assert_allclose(x.grad.to_numpy() - slope, 4 * (slope - ones), rtol=1e-9)


def polar(a):
    """R and S in NumPy; R is a rotation."""
    u, _, v = np.linalg.svd(a)
    d = np.eye(len(a))
    d[-1, -1] = np.sign(np.linalg.det(u @ v))
    r = u @ d @ v
    return np.concatenate([r.ravel(), (r.T @ a).ravel()])


def entries(*parts):
    found = []
    for p in parts:
        found += p.entries
    return found


def only_diagonal(values, f, like):
    return rg.Matrix([[f(values[i]) if i == j else rg.zero(like) for j in range(len(values))] for i in range(len(values))])


class LinearAlgebra(unittest.TestCase):
    def setUp(self):
        rg.init(default_fp=rg.f64)
        self.random = np.random.default_rng(5)

    def tearDown(self):
        rg.reset()

    def run_on(self, f, a, weights, t=rg.f64):
        """Values of f for each matrix, and the gradient of their weighted sum."""
        count, n = len(a), a.shape[1]
        x, y = rg.field(types.matrix(n, n, t), count, needs_grad=True), rg.field(t, (), needs_grad=True)
        w, outs = rg.field(t, weights.shape), rg.field(t, weights.shape)
        x.from_numpy(a.astype(outs.to_numpy().dtype))
        w.from_numpy(weights.astype(outs.to_numpy().dtype))

        @rg.kernel
        def run():
            for i in x:
                found = f(x[i])
                for k in rg.static(range(weights.shape[1])):
                    outs[i, k] = found[k]
                    y[None] += found[k] * w[i, k]
        run()
        y.grad[None] = 1
        run.grad()
        return outs.to_numpy(), x.grad.to_numpy()

    def check(self, f, like, a, count, close=1e-12, slope=1e-6):
        """f in a kernel beside `like` in NumPy: values, and gradients by differences."""
        weights = self.random.normal(size=(len(a), count))
        values, gradient = self.run_on(f, a, weights)
        np.testing.assert_allclose(values, np.array([like(m) for m in a]), atol=close)
        for m, g, w in zip(a, gradient, weights):
            expected = np.zeros_like(m)
            for at in np.ndindex(m.shape):
                step = np.zeros_like(m)
                step[at] = 1e-6
                expected[at] = ((like(m + step) - like(m - step)) / 2e-6) @ w
            np.testing.assert_allclose(g, expected, atol=slope * max(1, np.abs(expected).max()))

    def matrices(self, n):
        """Some at random, and those with equal and nearly equal singular values."""
        a = self.random.normal(size=(5, n, n))
        a[0], a[1] = np.eye(n), 2 * np.eye(n) + 1e-10 * a[1]
        return a

    def test_polar_decomposition(self):
        for n in (2, 3):
            self.check(lambda a: entries(*rg.polar_decompose(a)), polar, self.matrices(n), 2 * n * n)

    def test_singular_values(self):
        def like(a):
            s = np.linalg.svd(a)[1]
            s[-1] *= np.sign(np.linalg.det(a)) if len(a) == 3 else 1
            return s

        def rotation(a):
            u, _, v = rg.svd(a)
            return entries(u @ v.transpose())

        for n in (2, 3):
            a = self.random.normal(size=(4, n, n))
            self.check(lambda m: [rg.svd(m)[1][k, k] for k in range(n)], like, a, n)
            equal = self.matrices(n)
            equal = equal[np.linalg.det(equal) > 0]
            self.check(rotation, lambda m: polar(m)[: n * n], equal, n * n, slope=1e-5)
            again = np.concatenate([equal, np.zeros((1, n, n)), np.ones((1, n, n))])
            values, gradient = self.run_on(lambda m: entries(*rg.svd(m)), again, np.ones((len(again), 3 * n * n)))
            self.assertTrue(np.isfinite(gradient).all())
            u, s, v = (values[:, k * n * n : (k + 1) * n * n].reshape(-1, n, n) for k in range(3))
            np.testing.assert_allclose(u @ s @ v.transpose(0, 2, 1), again, atol=1e-13)
            for q in (u, v):
                np.testing.assert_allclose(q @ q.transpose(0, 2, 1), np.broadcast_to(np.eye(n), q.shape), atol=1e-13)

    def test_products_of_the_factors_have_the_derivative_of_the_matrix(self):
        def product(a):
            u, s, v = rg.svd(a)
            return entries(u @ s @ v.transpose())

        for n in (2, 3):
            a = np.concatenate([self.matrices(n), np.ones((1, n, n))])
            weights = self.random.normal(size=(len(a), n * n))
            _, gradient = self.run_on(product, a, weights)
            np.testing.assert_allclose(gradient, weights.reshape(a.shape), atol=1e-5)

    def test_functions_of_singular_values(self):
        def stretched(a):
            u, s, v = rg.svd(a)
            return entries(u @ only_diagonal([s[k, k] for k in range(a.n)], rg.exp, s[0, 0]) @ v.transpose())

        def like(a):
            u, s, v = np.linalg.svd(a)
            d = np.ones(len(a))
            d[-1] = np.sign(np.linalg.det(u @ v)) if len(a) == 3 else 1
            return ((u * d * np.exp(s * d)) @ v).ravel()

        for n in (2, 3):
            a = self.random.normal(size=(4, n, n))
            a[0] = np.diag([1.0, 1.001, 0.998][:n])
            self.check(stretched, like, a[np.linalg.det(a) > 0], n * n, slope=1e-5)

    def test_symmetric_eigenvalues(self):
        def powers(a):
            values, vectors = rg.sym_eig(a)
            return values.entries + entries(vectors @ only_diagonal(values, rg.exp, values[0]) @ vectors.transpose())

        def like(a):
            values, vectors = np.linalg.eigh((a + a.T) / 2)
            return np.concatenate([values, ((vectors * np.exp(values)) @ vectors.T).ravel()])

        for n in (2, 3, 4):
            a = self.random.normal(size=(3, n, n))
            self.check(powers, like, (a + a.transpose(0, 2, 1)) / 2, n + n * n, slope=1e-5)
            values, gradient = self.run_on(lambda m: rg.sym_eig(m)[0].entries, np.stack([np.eye(n), np.zeros((n, n))]), np.ones((2, n)))
            np.testing.assert_allclose(values, [[1] * n, [0] * n], atol=1e-15)
            np.testing.assert_allclose(gradient, [np.eye(n)] * 2, atol=1e-15)

    def test_semi_definite(self):
        a = self.random.normal(size=(3, 3, 3))
        a += a.transpose(0, 2, 1)

        def like(m):
            values, vectors = np.linalg.eigh((m + m.T) / 2)
            return ((vectors * np.maximum(values, 0)) @ vectors.T).ravel()
        self.check(lambda m: entries(rg.make_spd(m)), like, a, 9, slope=1e-5)

    def test_eigenvalues_of_two_rows(self):
        a = self.random.normal(size=(8, 2, 2))
        a[0], a[1], a[2] = np.diag([1.0, 2]), np.diag([3.0, 3]), [[0, 1], [-1, 0]]
        values, gradient = self.run_on(lambda m: entries(*rg.eig(m)), a, np.ones((8, 12)))
        self.assertTrue(np.isfinite(np.delete(gradient, 1, 0)).all())
        for m, row in zip(a, values):
            numbers, vectors = row[:4].reshape(2, 2), row[4:].reshape(4, 2)
            found = numbers[:, 0] + 1j * numbers[:, 1]
            np.testing.assert_allclose(np.sort_complex(found), np.sort_complex(np.linalg.eigvals(m)), atol=1e-12)
            for k in range(2):
                vector = vectors[0::2, k] + 1j * vectors[1::2, k]
                np.testing.assert_allclose(m @ vector, found[k] * vector, atol=1e-12)
                self.assertAlmostEqual(np.linalg.norm(vector), 1)
        self.check(lambda m: rg.eig(m)[0].entries, lambda m: np.sort(np.linalg.eigvals(m))[::-1].repeat(2) * [1, 0, 1, 0], a[3:4] @ a[3:4].transpose(0, 2, 1), 4)

    def test_equations(self):
        b = self.random.normal(size=6)
        for n in (1, 2, 3, 5):
            a = self.random.normal(size=(4, n, n))
            a[0] = np.eye(n)[::-1]  # pivots
            self.check(lambda m: rg.solve(m, rg.Vector(b[:n].tolist())).entries, lambda m: np.linalg.solve(m, b[:n]), a, n, slope=1e-5)
        rg.init(debug=True)

        @rg.kernel
        def singular(a: types.matrix(2, 2, float)) -> float:
            return rg.solve(a, rg.Vector([1.0, 2.0])).x
        with self.assertRaisesRegex(AssertionError, "Matrix is singular in linear solve"):
            singular([[1, 2], [2, 4]])

    def test_in_f32(self):
        a = self.random.normal(size=(20, 3, 3))
        a[0], a[1], a[2], a[3] = np.eye(3), np.diag([1, 1, 1 + 1e-7]), 0, 1e-20 * a[3]
        for f, count in ((lambda m: entries(*rg.svd(m, rg.f32)), 27), (lambda m: entries(*rg.polar_decompose(m, rg.f32)), 18)):
            values, gradient = self.run_on(f, a, np.ones((20, count)), rg.f32)
            self.assertEqual(values.dtype, np.float32)
            self.assertTrue(np.isfinite(values).all() and np.isfinite(gradient[:3]).all() and np.isfinite(gradient[4:]).all())
        u, s, v = (values[:, k * 9 : (k + 1) * 9].reshape(-1, 3, 3) for k in range(3)) if count == 27 else (None, None, None)
        np.testing.assert_allclose(values[4:], np.array([polar(m) for m in a[4:]]), atol=2e-5)

    def test_second_order(self):
        """Hessian-vector products of a function of the factors, beside differences of its gradient."""
        a = self.random.normal(size=(3, 3))
        along = self.random.normal(size=(3, 3))
        x, y = rg.field(tm.mat3, (), needs_grad=True, needs_dual=True), rg.field(float, (), needs_grad=True)
        which = [lambda m: rg.svd(m)[0][0, 1] + rg.svd(m)[2][2, 0], lambda m: rg.polar_decompose(m)[0][0, 2] + rg.polar_decompose(m)[1][1, 2],
                 lambda m: rg.sym_eig(m + m.transpose())[1][1, 0] ** 2]
        for f in which:
            @rg.kernel
            def run():
                y[None] = f(x[None])

            def gradient(at):
                x.from_numpy(at)
                x.grad.fill(0)
                y.grad[None] = 1
                run.grad()
                return x.grad.to_numpy()
            expected = (gradient(a + 1e-6 * along) - gradient(a - 1e-6 * along)) / 2e-6
            x.from_numpy(a)
            x.dual.from_numpy(along)
            x.grad.fill(0)
            y.grad[None] = 1
            run.hvp()
            np.testing.assert_allclose(x.grad.dual.to_numpy(), expected, atol=1e-6 * max(1, np.abs(expected).max()))
            x.grad.dual.fill(0)

    def test_refusals(self):
        @rg.kernel
        def run(m: types.matrix(4, 4, float)) -> float:
            return rg.svd(m)[1][0, 0]
        with self.assertRaisesRegex(rg.TypeError_, "svd takes a square matrix of 2 to 3 rows, not Matrix of shape \\(4, 4\\)"):
            run(np.eye(4))
        with self.assertRaisesRegex(rg.RuntimeError_, "works in kernels only"):
            rg.svd(rg.Matrix([[1.0, 0], [0, 1]]))


if __name__ == "__main__":
    unittest.main()
