"""Kernels in Python: statements, arrays, vectors and functions, beside NumPy and differences."""

import unittest

import numpy as np

import retrograd as rg
from retrograd import types


def slope(f, x, h=1e-6):
    """Central differences of f at every element of x."""
    found = np.zeros_like(x)
    for at in np.ndindex(x.shape):
        step = np.zeros_like(x)
        step[at] = h
        found[at] = (f(x + step) - f(x - step)) / (2 * h)
    return found


class Kernels(unittest.TestCase):
    def setUp(self):
        rg.init(default_fp=rg.f64)

    def tearDown(self):
        rg.reset()

    def test_loops_that_only_the_data_ends(self):
        x, y, n = rg.field(float, 8, needs_grad=True), rg.field(float, (), needs_grad=True), rg.field(int, 8)

        @rg.func
        def step(v, k):
            if v > 3.0:
                return v * 0.5
            return rg.sin(v) + k

        @rg.kernel
        def run(a: float):
            for i in x:
                v = x[i]
                for _ in range(n[i]):
                    if v > 4.0:
                        break
                    v = step(v, 0.1) * a
                y[None] += v**2

        def same(xs):
            total = 0.0
            for i, v in enumerate(xs):
                for _ in range(i):
                    if v > 4.0:
                        break
                    v = (v * 0.5 if v > 3.0 else np.sin(v) + 0.1) * 1.1
                total += v**2
            return total

        at = np.linspace(0, 5, 8)
        x.from_numpy(at)
        n.from_numpy(np.arange(8))
        run(1.1)
        self.assertAlmostEqual(y[None], same(at))
        y.grad[None] = 1
        run.grad(1.1)
        np.testing.assert_allclose(x.grad.to_numpy(), slope(same, at), atol=1e-7)

    def test_results_and_reductions(self):
        x = rg.field(float, 100)
        x.from_numpy(np.arange(100.0) - 3)

        @rg.kernel
        def total() -> float:
            s, least = 0.0, 1e30
            for i in x:
                s += x[i]
                rg.atomic_min(least, x[i])
            return s + least

        self.assertEqual(total(), 4950 - 300 - 3)

    def test_ndarrays(self):
        @rg.kernel
        def product(a: types.ndarray(), b: types.NDArray[rg.f64, 2], c: types.ndarray(dtype=rg.f64, ndim=2)):
            for i, j in c:
                s = 0.0
                for k in range(a.shape[1]):
                    s += a[i, k] * b[k, j]
                c[i, j] = s

        generator = np.random.default_rng(1)
        at, bt, result = generator.random((3, 4)), generator.random((4, 5)), np.zeros((3, 5))
        product(at, bt, result)
        np.testing.assert_allclose(result, at @ bt)
        a, b, c = (rg.ndarray(float, shape, needs_grad=True) for shape in ((3, 4), (4, 5), (3, 5)))
        a.from_numpy(at)
        b.from_numpy(bt)
        product(a, b, c)
        c.grad.fill(1)
        product.grad(a, b, c)
        np.testing.assert_allclose(a.grad.to_numpy(), np.ones((3, 5)) @ bt.T)
        np.testing.assert_allclose(b.grad.to_numpy(), at.T @ np.ones((3, 5)))

    def test_vectors(self):
        v, w = rg.field(types.vector(3, float), 4, needs_grad=True), rg.field(float, (), needs_grad=True)

        @rg.kernel
        def run():
            for i in v:
                p = v[i]
                p.x += 1.0
                k = i % 3
                w[None] += p.norm() + p[k] + p.xy.dot(p.yz) + v[i][1] * 2

        def same(at):
            p = at.copy()
            p[:, 0] += 1
            return sum(np.linalg.norm(p[i]) + p[i][i % 3] + p[i, :2] @ p[i, 1:] + at[i, 1] * 2 for i in range(4))

        at = np.random.default_rng(2).random((4, 3))
        v.from_numpy(at)
        run()
        self.assertAlmostEqual(w[None], same(at))
        w.grad[None] = 1
        run.grad()
        np.testing.assert_allclose(v.grad.to_numpy(), slope(same, at), atol=1e-7)

    def test_what_is_known_at_compile_time(self):
        z = rg.field(float, (4, 5))
        functions = [lambda t: t**2, lambda t: rg.sin(t) * 2]

        @rg.kernel
        def run():
            for i, j in rg.ndrange(4, (1, 5)):
                q = z[i, j]
                for k in rg.static(range(2)):
                    q += functions[k](q)
                if i > 2 and j < 4 or q > 3:
                    r = q * 2
                elif i == 1:
                    r = 1.0
                else:
                    r = -q
                z[i, j] = r
            for at in rg.grouped(z):
                z[at] += at[0] + (1.0 if at.sum() > 4 else 2.0)

        expected = np.full((4, 5), 0.3)
        for i in range(4):
            for j in range(1, 5):
                q = expected[i, j]
                q += q**2
                q += np.sin(q) * 2
                expected[i, j] = q * 2 if i > 2 and j < 4 or q > 3 else 1.0 if i == 1 else -q
            for j in range(5):
                expected[i, j] += i + (1.0 if i + j > 4 else 2.0)
        z.fill(0.3)
        run()
        np.testing.assert_allclose(z.to_numpy(), expected)

    def test_vectors_from_the_left(self):
        @rg.kernel
        def run(a: float) -> rg.types.vector(2, float):
            v, m = rg.Vector([a, 2.0]), rg.Matrix([[1.0, 2.0], [3.0, 4.0]])
            return v @ m * (v @ v) + int(v)

        v, m = np.array([1.5, 2.0]), np.array([[1.0, 2.0], [3.0, 4.0]])
        np.testing.assert_allclose(run(1.5).to_numpy(), v @ m * (v @ v) + [1, 2])
        np.testing.assert_allclose((rg.Vector([1.5, 2.0]) @ rg.Matrix(m)).to_numpy(), v @ m)

    def test_ndranges_that_are_none(self):
        for wrong in (lambda: rg.ndrange((1, 2, 3)), lambda: rg.ndrange(2, 3, axes=(0, "a")), lambda: rg.ndrange(2, axes=(True,)), lambda: rg.ndrange("3")):
            with self.assertRaises(rg.TypeError_):
                wrong()

    def test_containers_of_compile_time(self):
        @rg.kernel
        def run(a: int) -> int:
            rows = rg.Matrix([[a, 2], [3, 4]])
            table = {"first": 2, **{"second": a + 6}}
            return sum([r[0] * table["second"] for r in rows]) + sum([x for x in rows[1, :]])

        self.assertEqual(run(5), (5 + 3) * 11 + 7)

    def test_reductions_by_functions_of_other_names(self):
        x = rg.field(int, 1000)
        x.from_numpy(np.random.default_rng(3).integers(-50, 50, 1000))
        ways = {rg.atomic_add: np.sum, rg.atomic_min: np.min, rg.atomic_max: np.max, rg.atomic_xor: np.bitwise_xor.reduce}
        for way, expected in ways.items():
            @rg.kernel
            def run() -> int:
                s = 0
                for i in x:
                    way(s, x[i])
                return s

            self.assertEqual(run(), expected(np.append(x.to_numpy(), 0)))

    def test_old_values_of_what_all_iterations_share(self):
        x = rg.field(int, 5)

        @rg.kernel
        def run():
            count = 0
            for i in x:
                x[i] = rg.atomic_add(count, 1)

        with self.assertRaisesRegex(rg.SyntaxError_, "`count` is a variable of the kernel, which all iterations"):
            run()

    def test_methods(self):
        class Simulation:
            def __init__(self):
                self.f, self.n = rg.field(float, 5), 5

            @rg.kernel
            def run(self, a: float):
                for i in range(self.n):
                    self.f[i] = self.square(a) * i

            @rg.func
            def square(self, a):
                return a * a

        s = Simulation()
        s.run(3.0)
        np.testing.assert_allclose(s.f.to_numpy(), 9.0 * np.arange(5))

    def test_return_out_of_a_loop(self):
        @rg.kernel
        def root(n: int) -> int:
            r = 0
            while True:
                r += 1
                if r * r > n:
                    return r - 1
            return -1

        self.assertEqual([root(n) for n in (0, 1, 50, 64)], [0, 1, 7, 8])

    def test_errors_name_the_place_and_the_calls(self):
        x = rg.field(float, 3)

        @rg.func
        def length(a):
            return a.norm()

        @rg.kernel
        def run():
            for i in x:
                x[i] = length(x[i])

        with self.assertRaises(rg.CompileError) as caught:
            run()
        text = str(caught.exception)
        self.assertRegex(text, r"test_kernels.py\", line \d+, in run:\n +x\[i\] = length\(x\[i\]\)\n +\^+\n")
        self.assertRegex(text, r"in length:\n +return a.norm\(\)\n +\^+\na scalar \(f64\) has no attribute 'norm'$")


if __name__ == "__main__":
    unittest.main()
