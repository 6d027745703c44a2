"""Derivatives of kernels in Python: of one launch, of tapes, in forward mode, and of functions with gradients of their own."""

import threading
import unittest
import warnings

import numpy as np

import retrograd as rg
from retrograd import types


def slopes(f, *at, h=1e-6):
    """Central differences of a function of arrays, which gives a number, with respect to each."""
    found = []
    for k, x in enumerate(at):
        g = np.zeros_like(x)
        for i in np.ndindex(x.shape):
            up, down = x.copy(), x.copy()
            up[i] += h
            down[i] -= h
            g[i] = (f(*at[:k], up, *at[k + 1 :]) - f(*at[:k], down, *at[k + 1 :])) / (2 * h)
        found.append(g)
    return found


class Case(unittest.TestCase):
    def setUp(self):
        rg.init(default_fp=rg.f64)

    def close(self, found, wanted, tolerance=1e-12):
        found = found.to_numpy() if hasattr(found, "to_numpy") else found
        np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=tolerance)

    def needs_host_memory(self):
        if rg.device(rg.cfg.arch.device).own_memory:
            self.skipTest("arrays of NumPy are not on the device")

    def fails(self, error, *words):
        return Fails(self, error, words)


class Fails:
    """A block that has to fail with an error whose text has all of the words."""

    def __init__(self, test, error, words):
        self.test, self.words, self.raises = test, words, test.assertRaises(error)

    def __enter__(self):
        self.raises.__enter__()

    def __exit__(self, *failure):
        seen = self.raises.__exit__(*failure)
        for word in self.words if seen else ():
            self.test.assertIn(word, str(self.raises.exception))
        return seen


def fields(n, *names, dual=False):
    return [rg.field(float, n, name=name, needs_grad=True, needs_dual=dual) for name in names]


class OneLaunch(Case):
    def test_it_adds_to_what_is_read_and_uses_up_what_is_stored(self):
        x, y, s = *fields(3, "x", "y"), rg.field(float, (), needs_grad=True)

        @rg.kernel
        def run():
            for i in x:
                y[i] = rg.sin(x[i])
                s[None] += x[i] * x[i]

        x.from_numpy(np.arange(3.0))
        for k in (1, 2):  # no launch before it, and twice is double
            y.grad.fill(2)
            s.grad[None] = 3
            run.grad()
            self.close(x.grad, k * (2 * np.cos(np.arange(3.0)) + 6 * np.arange(3.0)))
            self.close(y.grad, np.zeros(3))
            self.assertEqual(s.grad[None], 3)
        self.close(y, np.zeros(3))  # no value is written
        self.assertEqual(s[None], 0)

    def test_kernels_with_results(self):
        x, y = fields(4, "x", "y")

        @rg.kernel
        def run(a: float) -> float:
            s = 0.0
            for i in x:
                s += x[i]
                y[i] = a * x[i] ** 2
            return s

        at = np.array([1.0, -2.0, 3.0, 0.5])
        x.from_numpy(at)
        self.assertEqual(run(3.0), 2.5)
        y.grad.fill(1)
        run.grad(3.0)
        self.close(x.grad, 6 * at)

    def test_without_adjoints_it_does_nothing(self):
        n, x, y = rg.field(int, 3), rg.field(float, 3), rg.field(float, 3)

        @rg.kernel
        def integers():
            for i in n:
                n[i] = n[i] + 1

        @rg.kernel
        def plain():
            for i in x:
                y[i] = x[i] * 2

        integers.grad()
        plain.grad()
        plain.forward_grad()
        integers.jvp()
        self.assertEqual(list(n.to_numpy()), [1, 1, 1])

    def test_arrays_without_adjoint(self):
        x, y = fields(3, "x", "y")
        w, between = rg.field(float, 3, name="w"), rg.field(float, 3, name="between")

        @rg.kernel
        def weighted():
            for i in x:
                y[i] = w[i] * x[i]

        @rg.kernel
        def carried():
            for i in x:
                between[i] = 2 * x[i]
            for i in x:
                y[i] = between[i] ** 2

        @rg.kernel
        def ended():
            for i in x:
                between[i] = 2 * x[i]
                y[i] = 3 * x[i]

        w.from_numpy(np.array([1.0, 2.0, 3.0]))
        y.grad.fill(1)
        weighted.grad()
        self.close(x.grad, [1, 2, 3])
        y.grad.fill(1)
        ended.grad()
        self.close(x.grad, [4, 5, 6])
        for call in (carried.grad, carried.forward_grad):
            with self.fails(rg.CompilationError, "`between`", "has no adjoint", __file__):
                call()

    def test_what_is_overwritten(self):
        x, y = fields(3, "x", "y")
        at = np.array([1.0, 2.0, 3.0])

        @rg.kernel
        def run():
            for i in x:
                y[i] = x[i] ** 3
                x[i] = 5.0

        x.from_numpy(at)
        y.grad.fill(1)
        run.grad()  # nothing was launched: what stands in memory is where it begins
        self.close(x.grad, 3 * at**2)
        self.close(x, at)
        self.close(y, np.zeros(3))
        run()
        with self.fails(rg.CompilationError, "E0530", "`x`", "is overwritten here", "run.forward_grad()", "Tape"):
            run.grad()
        x.from_numpy(at)  # written since
        x.grad.fill(0)
        y.grad.fill(1)
        run.grad()
        self.close(x.grad, 3 * at**2)
        x.grad.fill(0)
        y.grad.fill(1)
        run.forward_grad()
        self.close(x.grad, 3 * at**2)
        self.close(x, np.full(3, 5.0))

    def test_overwritten_between_two_loops(self):
        f, out = rg.field(float, 4, needs_grad=True), rg.field(float, (), needs_grad=True)

        @rg.kernel
        def run():
            for i in f:
                f[i] = f[i] / f[i]
            for i in f:
                out[None] += f[i] * i

        f.from_numpy(np.array([2.0, 3.0, 4.0, 5.0]))
        out.grad[None] = 1
        run.grad()
        self.close(f.grad, np.zeros(4))
        self.close(f, [2, 3, 4, 5])

    def test_numpy_arrays_are_constants_and_ndarrays_are_not(self):
        a, b = rg.ndarray(float, 3, needs_grad=True), rg.ndarray(float, 3, needs_grad=True)
        w = np.array([1.0, 2.0, 3.0])

        @rg.kernel
        def run(a: types.ndarray(), w: types.ndarray(), b: types.ndarray()):
            for i in a:
                b[i] = a[i] * w[i] * a[i]

        a.from_numpy(np.array([1.0, 5.0, 7.0]))
        run(a, w, b)
        b.grad.fill(1)
        run.grad(a, w, b)
        self.close(a.grad, 2 * w * a.to_numpy())

    def test_arguments_that_are_constants(self):
        a, b = rg.ndarray(float, 3, needs_grad=True), rg.ndarray(float, 3, needs_grad=True)

        @rg.kernel
        def run(a: types.ndarray(needs_grad=False), c: types.ndarray(), b: types.ndarray()):
            for i in a:
                b[i] = a[i] * c[i]

        c = rg.ndarray(float, 3, needs_grad=True)
        a.fill(2)
        c.fill(3)
        run(a, c, b)
        b.grad.fill(1)
        run.grad(a, c, b)
        self.close(a.grad, np.zeros(3))
        self.close(c.grad, np.full(3, 2.0))
        loss = rg.ndarray(float, (), needs_grad=True)

        @rg.kernel
        def total(b: types.ndarray(), loss: types.ndarray()):
            for i in b:
                loss[None] += b[i]

        c.grad.fill(0)
        with rg.ad.Tape(loss):
            run(a, c, b)
            total(b, loss)
        self.close(a.grad, np.zeros(3))
        self.close(c.grad, np.full(3, 2.0))

    def test_tape_of_updates_under_conditions(self):
        x, c, turns, loss = rg.field(rg.f64, 4, needs_grad=True), rg.field(rg.f64, (), needs_grad=True), rg.field(int, 4), rg.field(rg.f64, (), needs_grad=True)

        @rg.kernel
        def run():
            for p in range(4):
                for _ in range(turns[p]):
                    x[p] += c[None]
                    if x[p] >= 1.0 and p % 2 == 0:
                        x[p] %= 1.5

        @rg.kernel
        def total():
            for p in range(4):
                loss[None] += x[p] ** 2

        turns.from_numpy(np.array([3, 3, 2, 1], np.int32))
        c[None] = 0.7
        with rg.ad.Tape(loss):
            run()
            total()
        self.close(c.grad[None], 2 * float((x.to_numpy() * turns.to_numpy()).sum()))

    def test_constants_that_are_written(self):
        a, b = rg.ndarray(float, 3, needs_grad=True), rg.ndarray(float, 3, needs_grad=True)

        @rg.kernel
        def run(a: types.ndarray(), b: types.ndarray(needs_grad=False)):
            for i in a:
                b[i] = a[i] * 2
                b[i] += a[i]

        b.grad.fill(1)
        run.grad(a, b)
        self.close(a.grad, np.zeros(3))

    def test_scalar_arguments(self):
        x, y = fields(3, "x", "y")
        at = np.array([1.0, 2.0, 4.0])

        @rg.kernel
        def run(a: float, v: types.vector(2, float), n: int, m: types.matrix(2, 2, float)):
            for i in x:
                y[i] = a * a * x[i] + v.x * v.y * n + m[1, 0] * x[i]

        def plain(x, a, v, m):
            return np.sum(a[0] ** 2 * x + v[0] * v[1] * 5 + m[1, 0] * x)

        x.from_numpy(at)
        y.grad.fill(1)
        a, v, m = np.array([3.0]), np.array([1.5, -2.0]), np.array([[1.0, 2.0], [3.0, 4.0]])
        found = run.grad_scalars(3.0, v, 5, m)
        wanted = slopes(plain, at, a, v, m)
        self.assertEqual(set(found), {"a", "v", "m"})
        self.close(x.grad, wanted[0], 1e-8)
        self.close(found["a"], wanted[1][0], 1e-7)
        self.close(np.array(found["v"].to_list()), wanted[2], 1e-7)
        self.close(np.array(found["m"].to_list()), wanted[3], 1e-7)

    def test_tangents(self):
        x, y = fields(3, "x", "y", dual=True)
        at, along = np.array([1.0, 2.0, 3.0]), np.array([1.0, -1.0, 0.5])

        @rg.kernel
        def run() -> float:
            for i in x:
                y[i] = rg.exp(x[i]) * x[0]
            return x[1]

        x.from_numpy(at)
        x.dual.from_numpy(along)
        y.dual.fill(7)  # a store replaces it
        self.assertEqual(run.jvp(), 2.0)
        self.close(y, np.exp(at))
        self.close(y.dual, np.exp(at) * along + np.exp(at) * along[0])

    def test_products_with_a_hessian(self):
        x, loss = rg.field(float, 4, needs_grad=True, needs_dual=True), rg.field(float, (), needs_grad=True)
        at, along = np.array([1.0, 2.0, -1.0, 0.5]), np.array([0.3, -1.0, 2.0, 1.0])

        @rg.kernel
        def run():
            for i in x:
                loss[None] += x[i] ** 2 * x[(i + 1) % 4] + rg.sin(x[i])

        def gradient(x):
            return 2 * x * np.roll(x, -1) + np.roll(x, 1) ** 2 + np.cos(x)

        x.from_numpy(at)
        x.dual.from_numpy(along)
        loss.grad[None] = 1
        run.hvp()
        h = 1e-6
        self.close(x.grad, gradient(at))
        self.close(x.grad.dual, (gradient(at + h * along) - gradient(at - h * along)) / (2 * h), 1e-8)
        a = rg.ndarray(float, 2, needs_grad=True)

        @rg.kernel
        def cube(a: types.ndarray()):
            loss[None] = a[0] ** 3 * a[1]

        a.from_numpy(np.array([2.0, 3.0]))
        v = rg.ndarray(float, 2, needs_grad=True, needs_dual=True)
        v.from_numpy(np.array([2.0, 3.0]))
        v.dual.from_numpy(np.array([1.0, 0.0]))
        loss.grad[None] = 1
        cube.hvp(v)
        self.close(v.grad, [36, 8])
        self.close(v.grad.dual, [36, 12])

    def test_all_float_types(self):
        for t, tolerance in ((rg.f16, 2e-3), (rg.f32, 1e-6), (rg.f64, 1e-14)):
            x, y = rg.field(t, 3, needs_grad=True), rg.field(t, 3, needs_grad=True)

            @rg.kernel
            def run():
                for i in x:
                    y[i] = x[i] * x[i] * x[i]

            x.from_numpy(np.array([1.0, 0.5, -2.0]))
            run()
            y.grad.fill(1)
            run.grad()
            self.close(x.grad.to_numpy().astype(float), 3 * np.array([1.0, 0.25, 4.0]), tolerance)

    def test_methods_and_names(self):
        class Body:
            def __init__(self):
                self.x, self.y = fields(3, "x", "y")

            @rg.kernel
            def run(self, a: float):
                for i in self.x:
                    self.y[i] = a * self.x[i]

        body = Body()
        body.y.grad.fill(1)
        body.run.grad(a=2.5)
        self.close(body.x.grad, np.full(3, 2.5))


class Stopped(Case):
    def test_a_value(self):
        for t, tolerance in ((rg.f16, 1e-3), (rg.f32, 1e-6), (rg.f64, 1e-14)):
            x, y = (rg.field(t, 3, needs_grad=True, needs_dual=True) for _ in range(2))

            @rg.kernel
            def run():
                for i in x:
                    y[i] = x[i] * rg.stop_grad(x[i]) + rg.stop_grad(rg.exp(x[i]))

            at = np.array([1.0, 2.0, -0.5])
            x.from_numpy(at)
            x.dual.fill(1)
            run.jvp()
            self.close(y.to_numpy().astype(float), at * at + np.exp(at), tolerance)
            self.close(y.dual.to_numpy().astype(float), at, tolerance)
            y.grad.fill(1)
            run.grad()
            self.close(x.grad.to_numpy().astype(float), at, tolerance)

    def test_a_vector(self):
        v, y = rg.field(types.vector(2, float), 2, needs_grad=True), rg.field(float, 2, needs_grad=True)

        @rg.kernel
        def run():
            for i in v:
                y[i] = v[i].dot(rg.stop_grad(v[i]))

        at = np.array([[1.0, 2.0], [3.0, 4.0]])
        v.from_numpy(at)
        y.grad.fill(1)
        run.grad()
        self.close(v.grad, at)

    def test_an_array_in_a_block(self):
        x, y = fields(4, "x", "y")

        @rg.func
        def square(i):
            return x[i] ** 2

        @rg.kernel
        def run():
            for i in x:
                y[i] += square(i)  # before the statement, and in the function: constant
                rg.stop_grad(x)
                if i > 1:
                    y[i] += x[i]
            for i in x:
                y[i] += 3 * x[i]

        @rg.kernel
        def one_arm(n: int):
            for i in x:
                if i < n:
                    rg.stop_grad(x)
                    y[i] = 2 * x[i]
                else:
                    y[i] = 5 * x[i]

        x.from_numpy(np.arange(4.0))
        y.grad.fill(1)
        run.grad()
        self.close(x.grad, np.full(4, 3.0))
        x.grad.fill(0)
        y.grad.fill(1)
        one_arm.grad(2)
        self.close(x.grad, [0, 0, 5, 5])
        run()
        self.close(y, np.arange(4.0) ** 2 + np.where(np.arange(4) > 1, np.arange(4.0), 0) + 3 * np.arange(4.0))

    def test_an_ndarray(self):
        a, b = rg.ndarray(float, 3, needs_grad=True), rg.ndarray(float, 3, needs_grad=True)

        @rg.kernel
        def run(a: types.ndarray(), b: types.ndarray()):
            for i in a:
                rg.stop_grad(a)
                b[i] = a[i] * b[i]

        a.fill(2)
        b.fill(3)
        b.grad.fill(1)
        run.grad(a, b)
        self.close(a.grad, np.zeros(3))
        self.close(b.grad, np.full(3, 2.0))

    def test_what_cannot_be_stopped(self):
        x, y = fields(3, "x", "y")

        @rg.kernel
        def value_of_array():
            for i in y:
                z = rg.stop_grad(x)
                y[i] = z

        @rg.kernel
        def two():
            for i in y:
                rg.stop_grad(x, y)

        for k in (value_of_array, two):
            with self.fails(rg.SyntaxError_, "stop_grad", __file__):
                k()
        self.assertEqual(rg.stop_grad(2.5), 2.5)


class Tapes(Case):
    def chain(self, n, steps, **options):
        """A chain of masses that moves in place, and its gradient by a tape."""
        x, v, k, loss = *fields(n, "x", "v"), rg.field(float, n + 1, needs_grad=True), rg.field(float, (), needs_grad=True)

        @rg.kernel
        def step(dt: float):
            for i in v:
                left = 0.0 if i == 0 else x[rg.max(i - 1, 0)]
                right = 0.0 if i == n - 1 else x[rg.min(i + 1, n - 1)]
                v[i] += dt * (k[i] * (left - x[i]) + k[i + 1] * (right - x[i]) - 0.1 * v[i] ** 3)
            for i in x:
                x[i] += dt * v[i]

        @rg.kernel
        def energy():
            for i in v:
                loss[None] += 0.5 * v[i] ** 2

        start, stiff = np.sin(np.arange(n) + 1.0), 1 + 0.1 * np.arange(n + 1.0)
        x.from_numpy(start)
        v.fill(0)
        k.from_numpy(stiff)
        with rg.ad.Tape(loss, **options) as tape:
            for _ in range(steps):
                step(0.05)
            energy()

        def plain(x, k):
            x, v = x.copy(), np.zeros(n)
            for _ in range(steps):
                padded = np.concatenate([[0.0], x, [0.0]])
                v = v + 0.05 * (k[:-1] * (padded[:-2] - x) + k[1:] * (padded[2:] - x) - 0.1 * v**3)
                x = x + 0.05 * v
            return 0.5 * np.sum(v**2)

        return tape, x.grad.to_numpy(), k.grad.to_numpy(), slopes(plain, start, stiff), loss[None], plain(start, stiff)

    def test_in_place_within_a_budget_and_without(self):
        for budget in (0, 500):
            tape, dx, dk, wanted, value, plain = self.chain(4, 40, budget=budget)
            self.close(value, plain)
            self.close(dx, wanted[0], 1e-7)
            self.close(dk, wanted[1], 1e-7)
            self.assertEqual(len(tape.calls), 41)
            self.assertEqual(tape.core.info()["recomputed"] > 0, budget > 0)

    def test_losses(self):
        x = rg.field(float, 3, needs_grad=True)
        x.from_numpy(np.arange(3.0))

        @rg.kernel
        def into(loss: types.ndarray()):
            for i in x:
                loss[0] += x[i] ** 2

        loss = rg.ndarray(float, 1, needs_grad=True)
        loss.fill(17)
        with rg.ad.Tape(loss):
            into(loss)
        self.assertEqual(loss[0], 5)
        self.close(x.grad, 2 * np.arange(3.0))
        with rg.ad.Tape(loss):  # the adjoints of ndarrays are the caller's
            into(loss)
        self.close(x.grad, 4 * np.arange(3.0))

        y, parts = rg.field(float, (), needs_grad=True), rg.field(float, 3, needs_grad=True)

        @rg.kernel
        def store():
            for i in x:
                parts[i] = x[i] ** 3

        @rg.kernel
        def sum_up():
            for i in x:
                y[None] += parts[i]

        x.grad.fill(9)
        with rg.ad.Tape(y):
            store()
            sum_up()
        self.close(x.grad, 3 * np.arange(3.0) ** 2)
        with rg.ad.Tape(y, clear_gradients=False):
            store()
            sum_up()
        self.close(x.grad, 6 * np.arange(3.0) ** 2)
        tape = rg.ad.Tape()
        with tape:
            store()
        x.grad.fill(0)
        parts.grad.from_numpy(np.array([0.0, 1.0, 2.0]))
        tape.grad()
        self.close(x.grad, [0, 3, 24])

    def test_losses_that_are_none(self):
        vector, plain, whole = rg.field(float, 3, needs_grad=True), rg.field(float, ()), rg.field(types.vector(2, float), (), needs_grad=True)
        for loss, text in ((vector, "must be a 0-D field, i.e. scalar"), (whole, "must be a 0-D field, i.e. scalar"),
                           (plain, "Gradients of loss are not allocated"), (rg.ndarray(float, 2, needs_grad=True), "only one element"),
                           (rg.ndarray(float, 1), "Gradients of loss are not allocated"), (3.0, "is a field")):
            with self.fails(RuntimeError, text), rg.ad.Tape(loss):
                pass

    def test_once(self):
        y = rg.field(float, (), needs_grad=True)
        tape = rg.ad.Tape(y)
        with tape:
            with self.fails(RuntimeError, "open already"), rg.ad.Tape(y):
                pass
        with self.assertRaises(AssertionError):
            tape.grad()
        with self.assertRaises(AssertionError), tape:
            pass

    def test_an_exception_skips_the_reverse(self):
        x, y = (rg.field(float, (), needs_grad=True) for _ in range(2))

        @rg.kernel
        def run():
            y[None] += x[None]

        with self.assertRaises(ZeroDivisionError), rg.ad.Tape(y):
            run()
            1 / 0
        self.assertEqual((x.grad[None], y.grad[None]), (0, 0))
        with rg.ad.Tape(y):  # the thread can record again
            run()
        self.assertEqual(x.grad[None], 1)

    def test_results_are_returned(self):
        x, y = (rg.field(float, (), needs_grad=True) for _ in range(2))

        @rg.kernel
        def run(a: float) -> float:
            y[None] += a * x[None]
            return 2 * x[None]

        x[None] = 3
        with rg.ad.Tape(y):
            first = run(1.0)
            second = run(first)
        self.assertEqual((first, second), (6, 6))
        self.assertEqual(x.grad[None], 7)

    def test_other_threads_are_not_recorded(self):
        x, y = (rg.field(float, (), needs_grad=True) for _ in range(2))
        z = rg.field(float, (), needs_grad=True)

        @rg.kernel
        def run():
            y[None] += x[None]

        @rg.kernel
        def beside():
            z[None] += 1

        with rg.ad.Tape(y) as tape:
            run()
            thread = threading.Thread(target=beside)
            thread.start()
            thread.join()
        self.assertEqual(len(tape.calls), 1)
        self.assertEqual((x.grad[None], z[None]), (1, 1))

    def test_a_gradient_of_one_launch_inside(self):
        x, y, z = (rg.field(float, (), needs_grad=True) for _ in range(3))

        @rg.kernel
        def run():
            y[None] += x[None] ** 2

        @rg.kernel
        def aside():
            z[None] = z[None] * z[None]

        x[None], z[None] = 3, 5
        with rg.ad.Tape(y) as tape:
            run()
            z.grad[None] = 1
            aside.grad()
        self.assertEqual((x.grad[None], z.grad[None], z[None], len(tape.calls)), (6, 10, 5, 1))

    def test_what_the_host_writes(self):
        x, y, n = rg.field(float, 3, needs_grad=True), rg.field(float, (), needs_grad=True), rg.field(int, ())

        @rg.kernel
        def add():
            for i in x:
                y[None] += x[i] * n[None]

        @rg.kernel
        def square():
            for i in x:
                x[i] = x[i] ** 2

        with rg.ad.Tape(y):
            x.from_numpy(np.array([1.0, 2.0, 3.0]))  # before it is used: with respect to this
            n[None] = 2
            add()  # 2 x
            n[None] = 5
            add()  # 5 x
            square()
            x[1] = 7.0  # what depended on the element ends here
            add()  # 5 x**2 but for [1]
        self.close(x.grad, 7 + 10 * np.array([1.0, 0.0, 3.0]))
        self.assertEqual(y[None], 7 * 6 + 5 * (1 + 7 + 9))
        with rg.ad.Tape(y):
            add()
            x.fill(4)
            add()
        self.close(x.grad, np.full(3, 5.0))
        self.assertEqual(y[None], 5 * 17 + 5 * 12)

    def test_vectors_that_the_host_writes(self):
        v, y = rg.field(types.vector(2, float), 2, needs_grad=True), rg.field(float, (), needs_grad=True)

        @rg.kernel
        def add():
            for i in v:
                y[None] += v[i].x * v[i].y

        at = np.array([[1.0, 2.0], [3.0, 4.0]])
        v.from_numpy(at)
        with rg.ad.Tape(y):
            add()
            v[1] = [5, 6]
            v[0].y = 9
            add()
        self.close(v.grad, [[2 + 9, 1], [4, 3]])

    def test_copies(self):
        x, y, s = *fields(3, "x", "y"), rg.field(float, (), needs_grad=True)

        @rg.kernel
        def add():
            for i in y:
                s[None] += y[i] ** 2

        x.from_numpy(np.array([1.0, 2.0, 3.0]))
        with rg.ad.Tape(s):
            y.copy_from(x)
            add()
        self.close(x.grad, [2, 4, 6])
        self.close(y.grad, np.zeros(3))

    def test_bounds_that_change_are_reported(self):
        n, x, y = rg.field(int, (), name="count"), rg.field(float, (), needs_grad=True), rg.field(float, (), needs_grad=True)

        @rg.kernel
        def power():
            p = 1.0
            for _ in range(n[None]):
                p *= x[None]
            y[None] = p

        n[None], x[None] = 3, 2
        with rg.ad.Tape(y):
            power()
            n[None] = 5  # recorded: the tape keeps what it was
        self.assertEqual(x.grad[None], 12)
        n[None] = 3
        tape = rg.ad.Tape(y)
        with self.fails(rg.InvalidError, "count", "power"), tape:
            power()
            with tape.aside():
                n[None] = 5

    def test_what_others_write_is_noticed(self):
        self.needs_host_memory()
        n, x, y = rg.field(int, (), name="count"), rg.field(float, (), needs_grad=True), rg.field(float, (), needs_grad=True)

        @rg.kernel
        def power():
            p = 1.0
            for _ in range(n[None]):
                p *= x[None]
            y[None] = p

        alias = n.to_numpy(copy=False)
        alias[...], x[None] = 3, 2
        with rg.ad.Tape(y):
            power()
        self.assertEqual(x.grad[None], 12)
        with self.fails(rg.InvalidError, "count", "power"), rg.ad.Tape(y):
            power()
            alias[...] = 5
        y.grad[None], x.grad[None] = 1, 0
        power.grad()  # of one launch: with what stands there
        self.assertEqual(x.grad[None], 5 * 2**4)

    def test_elements_of_all_types(self):
        y = rg.field(float, (), needs_grad=True)
        for t, value in ((rg.u1, True), (rg.i8, -5), (rg.u16, 60000), (rg.u64, 2**64 - 1), (rg.f16, 0.5), (rg.f32, 0.25)):
            x = rg.field(t, (2, 3))

            @rg.kernel
            def read():
                y[None] += rg.cast(x[1, 2], float)

            with rg.ad.Tape(y):
                read()
                x[1, 2] = value
                read()
            self.assertEqual(x[1, 2], value)
            self.assertEqual(y[None], float(value))

    def test_memory_of_numpy(self):
        self.needs_host_memory()
        x, y = np.arange(6.0).reshape(2, 3).T, rg.field(float, (), needs_grad=True)
        w, fixed = rg.ndarray(float, (3, 2), needs_grad=True), np.arange(6.0).reshape(3, 2)
        fixed.flags.writeable = False

        @rg.kernel
        def run(w: types.ndarray(), x: types.ndarray(), fixed: types.ndarray()):
            for i, j in w:
                y[None] += w[i, j] * x[i, j] * fixed[i, j]

        @rg.kernel
        def double(x: types.ndarray()):
            for i, j in x:
                x[i, j] = 2 * x[i, j]

        first = x.copy()
        w.fill(1)
        with rg.ad.Tape(y):
            for _ in range(2):
                run(w, x, fixed)
                double(x)
        self.close(x, 4 * first)
        self.close(w.grad, 3 * first * fixed)

    def test_reset_within_a_block(self):
        x = rg.field(float, (), needs_grad=True)
        with self.assertRaises(RuntimeError), rg.ad.Tape(x):
            rg.init(default_fp=rg.f64)
        y = rg.field(float, (), needs_grad=True)

        @rg.kernel
        def run():
            y[None] += 1

        with rg.ad.Tape(y) as tape:
            run()
        self.assertEqual(len(tape.calls), 1)

    def test_lost_derivatives_are_reported(self):
        x, y, between = rg.field(float, (), needs_grad=True), rg.field(float, (), needs_grad=True), rg.field(float, (), name="between")

        @rg.kernel
        def first():
            between[None] = x[None] ** 2

        @rg.kernel
        def second():
            y[None] += between[None]

        with self.fails(rg.Error, "between", "needs_grad=True"), rg.ad.Tape(y):
            first()
            second()

        @rg.ad.no_grad
        def constant():
            first()

        x[None] = 3
        with rg.ad.Tape(y):
            constant()
            second()
        self.assertEqual((y[None], x.grad[None]), (9, 0))

    def test_derivatives_as_arguments(self):
        x, y, z = (rg.field(float, (), needs_grad=True, name=n) for n in "xyz")

        @rg.kernel
        def descend():
            x[None] -= 0.1 * x.grad[None]
            y[None] += x[None]

        @rg.kernel
        def changes():
            y.grad[None] = x[None]

        x[None] = 3
        with rg.ad.Tape(y):
            x.grad[None] = 5
            descend()  # x.grad is a constant
            x.grad[None] = 0
            descend()
        self.assertEqual((x[None], y[None], x.grad[None]), (2.5, 5, 2))
        with self.fails(rg.Error, "y_grad", "outside"), rg.ad.Tape(z):
            changes()

    def test_random_numbers_are_replayed(self):
        x, y, seen = rg.field(float, 4, needs_grad=True), rg.field(float, 4, needs_grad=True), rg.field(float, 4)
        loss = rg.field(float, (), needs_grad=True)

        @rg.kernel
        def noise():
            for i in x:
                r = rg.random(float)
                seen[i] = r
                y[i] = r * x[i] * x[i]

        @rg.kernel
        def total():
            for i in y:
                loss[None] += y[i]

        x.fill(1)
        noise()
        y.grad.fill(1)
        noise.grad()
        self.close(x.grad, 2 * seen.to_numpy())
        wanted = 0
        with rg.ad.Tape(loss):
            for _ in range(2):
                noise()
                wanted = wanted + 2 * seen.to_numpy()
                total()
        self.close(x.grad, wanted)

    def test_validation(self):
        x, b, loss = rg.field(float, 3, needs_grad=True, name="x"), rg.field(float, (), needs_grad=True, name="b"), rg.field(float, (), needs_grad=True)

        @rg.kernel
        def overwrites():
            loss[None] = x[1] * b[None]
            b[None] += 100

        @rg.kernel
        def parallel():
            for i in x:
                y = x[i] * x[i]
                x[i] = y

        @rg.kernel
        def right():
            for i in x:
                loss[None] += x[i] * b[None]

        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            with rg.ad.Tape(loss, validation=True):
                overwrites()
        self.assertIn("Debug mode is disabled, autodiff valid check will not work.", str(seen[0].message))
        rg.init(default_fp=rg.f64, debug=True)
        x, b, loss = rg.field(float, 3, needs_grad=True, name="x"), rg.field(float, (), needs_grad=True, name="b"), rg.field(float, (), needs_grad=True)
        x.from_numpy(np.arange(3.0))
        b[None] = 10
        line = overwrites.function.__code__.co_firstlineno
        with self.fails(AssertionError, "`b`", f"line {line + 2}", f"line {line + 3}"), rg.ad.Tape(loss, validation=True):
            overwrites()
        self.assertEqual(b[None], 10)  # found before it is launched
        with self.fails(AssertionError, "`x`"), rg.ad.Tape(loss, validation=True):
            parallel()
        with rg.ad.Tape(loss, validation=True):
            right()
            right()
        self.close(x.grad, np.full(3, 20.0))

        @rg.kernel
        def later():
            x[2] = 0.0

        with self.fails(AssertionError, "`x`", "kernel later", f"line {right.function.__code__.co_firstlineno + 3}"), rg.ad.Tape(loss, validation=True):
            later()
            right()
            later()

        @rg.ad.grad_replaced
        def exempt():
            overwrites()

        @rg.ad.grad_for(exempt)
        def exempt_grad():
            pass

        with rg.ad.Tape(loss, validation=True):
            exempt()
        self.assertEqual(b[None], 110)

    def test_gradients_are_checked(self):
        x, v, loss = rg.field(float, (2, 2), needs_grad=True), rg.field(types.vector(3, float), 2, needs_grad=True), rg.field(float, (), needs_grad=True)

        @rg.kernel
        def run():
            for i, j in x:
                loss[None] += rg.cos(x[i, j]) * v[i][j]

        @rg.kernel
        def step():
            for i, j in x:
                x[i, j] = x[i, j] * x[i, j]

        @rg.ad.grad_replaced
        def wrong():
            run()

        @rg.ad.grad_for(wrong)
        def wrong_grad():
            run.grad()
            run.grad()

        x.from_numpy(np.array([[1.0, 2.0], [3.0, 4.0]]))
        v.from_numpy(np.arange(6.0).reshape(2, 3))
        with rg.ad.Tape(loss, grad_check=[x, v]):
            step()
            run()
        self.close(x, [[1, 4], [9, 16]])
        with self.fails(AssertionError, "Grad check failed", "variable 0"), rg.ad.Tape(loss, grad_check=[x]):
            wrong()
        small = rg.field(rg.f32, (), needs_grad=True)
        with self.assertRaises(AssertionError):
            rg.ad.Tape(small, grad_check=[x])
        with self.assertRaises(AssertionError):
            rg.ad.Tape(loss, grad_check=x)

    def test_clearing(self):
        x, v, a = rg.field(float, 3, needs_grad=True, needs_dual=True), rg.field(types.vector(2, float), 2, needs_grad=True), rg.ndarray(float, 2, needs_grad=True)
        for d in (x.grad, x.dual, v.grad, a.grad):
            d.fill(3)
        rg.ad.clear_all_gradients()
        self.close(x.grad, np.zeros(3))
        self.close(v.grad, np.zeros((2, 2)))
        self.close(x.dual, np.full(3, 3.0))
        self.close(a.grad, np.full(2, 3.0))


class Replaced(Case):
    def setUp(self):
        super().setUp()
        self.x, self.total = rg.field(float, 8, needs_grad=True), rg.field(float, (), needs_grad=True)
        x, total = self.x, self.total

        @rg.kernel
        def func(mul: float):
            for i in x:
                total[None] += x[i] * mul

        self.func = func

    def test_the_gradient_that_is_given(self):
        func = self.func

        @rg.ad.grad_replaced
        def forward(mul):
            func(mul)
            func(mul)
            return 2 * mul

        @rg.ad.grad_for(forward)
        def backward(mul):
            func.grad(10 * mul)

        with rg.ad.Tape(self.total) as tape:
            self.assertEqual(forward(4), 8)
            func(1.0)
        self.close(self.x.grad, np.full(8, 41.0))
        self.assertEqual([c[0] for c in tape.calls], [forward, func])
        self.x.grad.fill(0)
        self.total.grad[None] = 1
        forward(4)  # outside of a tape both are functions
        forward.grad(4)
        self.close(self.x.grad, np.full(8, 40.0))

    def test_methods(self):
        class Model:
            def __init__(self):
                self.x, self.total = rg.field(float, 4, needs_grad=True), rg.field(float, (), needs_grad=True)

            @rg.kernel
            def func(self, mul: float):
                for i in self.x:
                    self.total[None] += self.x[i] * mul

            def twice(self, mul):
                self.func(mul)
                self.func(mul)

            @rg.ad.grad_replaced
            def forward(self, mul):
                self.twice(mul)

            @rg.ad.grad_for(forward)
            def backward(self, mul):
                self.func.grad(mul)

        model, other = Model(), Model()
        with rg.ad.Tape(model.total):
            model.forward(mul=4)
        self.close(model.x.grad, np.full(4, 4.0))
        self.close(other.x.grad, np.zeros(4))

    def test_no_gradient(self):
        func = self.func

        @rg.ad.no_grad
        def forward(mul):
            func(mul)

        with rg.ad.Tape(self.total):
            func(2.0)
            forward(4)
            func(5)
        self.close(self.x.grad, np.full(8, 7.0))
        self.total.grad[None] = 1
        forward.grad(4)
        self.close(self.x.grad, np.full(8, 7.0))

    def test_what_cannot_be_replaced(self):
        def plain():
            pass

        for f in (self.func, plain):
            with self.fails(RuntimeError, "grad_replaced"):
                rg.ad.grad_for(f)
        lonely = rg.ad.grad_replaced(plain)
        with self.fails(RuntimeError, "grad_for"), rg.ad.Tape(self.total):
            lonely()
        rg.ad.grad_for(lonely)(plain)
        with self.fails(RuntimeError, "already"):
            rg.ad.grad_for(lonely)

    def test_left_by_an_exception(self):
        func = self.func

        @rg.ad.no_grad
        def fails():
            func(1.0)
            raise KeyError

        with self.fails(RuntimeError, "fails", "exception"), rg.ad.Tape(self.total):
            func(1.0)
            with self.assertRaises(KeyError):
                fails()

    def test_what_it_overwrites_is_kept_for_others(self):
        x, y = fields(3, "x", "y")
        held = rg.field(float, 3)
        total = rg.field(float, (), needs_grad=True)
        at = np.array([1.0, 2.0, 3.0])

        @rg.kernel
        def square():
            for i in x:
                x[i] = x[i] ** 2

        @rg.kernel
        def sum_up():
            for i in x:
                total[None] += x[i] ** 2

        @rg.kernel
        def keep():
            for i in x:
                held[i] = x[i]

        @rg.kernel
        def overwrite():
            for i in x:
                x[i] = 2 * x[i]
                held[i] = 0.0

        @rg.kernel
        def overwrite_grad():
            for i in x:
                x.grad[i] = 2 * x.grad[i]

        @rg.ad.grad_replaced
        def double():
            overwrite()

        @rg.ad.grad_for(double)
        def double_grad():
            overwrite()  # the reverse may run it again
            overwrite_grad()

        for budget in (0, 200):
            x.from_numpy(at)
            with rg.ad.Tape(total, budget=budget):
                for _ in range(2):
                    sum_up()
                    square()
                    double()
                sum_up()
            first, second = 2 * at**2, 2 * (2 * at**2) ** 2
            self.close(x, second)
            self.close(total[None], np.sum(at**2 + first**2 + second**2))
            self.close(x.grad, 2 * at + 2 * first * 4 * at + 2 * second * 4 * first * 4 * at)

    def test_nested(self):
        func = self.func

        @rg.ad.no_grad
        def inner():
            func(100.0)

        @rg.ad.grad_replaced
        def outer():
            func(1.0)
            inner()

        @rg.ad.grad_for(outer)
        def outer_grad():
            func.grad(7.0)

        with rg.ad.Tape(self.total):
            outer()
            inner()
        self.close(self.x.grad, np.full(8, 7.0))
        self.assertEqual(self.total[None], 0)  # x is 0

    def test_checkpoints(self):
        x, total = rg.field(float, 3, needs_grad=True), rg.field(float, (), needs_grad=True)
        k, count = rg.field(float, (), needs_grad=True), []
        at = np.array([0.5, 1.0, 1.5])

        @rg.kernel
        def step():
            for i in x:
                x[i] = x[i] + 0.1 * rg.sin(k[None] * x[i])

        @rg.kernel
        def sum_up():
            for i in x:
                total[None] += x[i] ** 2

        @rg.ad.checkpoint
        def steps(n):
            count.append(n)
            for _ in range(n):
                step()

        @rg.ad.checkpoint
        def more(n):
            steps(n)
            x[1] = 2.0
            steps(n)

        def plain(x, k):
            x = x.copy()
            for n in range(5):
                for _ in range(10):
                    x = x + 0.1 * np.sin(k[0] * x)
                if n == 3:
                    x[1] = 2.0
            return np.sum(x**2)

        x.from_numpy(at)
        k[None] = 1.3
        with rg.ad.Tape(total) as tape:
            for _ in range(3):
                steps(10)
            more(10)
            sum_up()
        wanted = slopes(plain, at, np.array([1.3]))
        self.close(total[None], plain(at, [1.3]))
        self.close(x.grad, wanted[0], 1e-8)
        self.close(k.grad[None], wanted[1][0], 1e-7)
        self.assertEqual(len(count), 3 + 2 + 2 + 3 + 2)
        self.assertEqual(len(tape.calls), 5)

        whole = tape.core.info()["peak"]
        x.from_numpy(at)
        with rg.ad.Tape(total) as tape:
            for _ in range(50):
                step()
            sum_up()
        self.assertLess(4 * whole, tape.core.info()["peak"])


class ForwardMode(Case):
    def test_directions(self):
        x, y = fields(3, "x", "y", dual=True)
        at, along = np.array([1.0, 2.0, 3.0]), [0.5, 0.0, -1.0]

        @rg.kernel
        def first():
            for i in x:
                y[i] = x[i] * x[0]

        @rg.kernel
        def second():
            for i in y:
                y[i] = y[i] ** 2

        x.from_numpy(at)
        y.grad.fill(5)
        with rg.ad.FwdMode(loss=y, param=x, seed=along):
            first()
            second()
        u = np.array(along)
        self.close(y, (at * at[0]) ** 2)
        self.close(y.dual, 2 * at * at[0] * (u * at[0] + at * u[0]))
        self.close(x.dual, np.zeros(3))  # the seed is gone
        self.close(y.grad, np.full(3, 5.0))
        with rg.ad.FwdMode(y, x, along):  # all tangents begin at 0
            first()
        self.close(y.dual, u * at[0] + at * u[0])
        with rg.ad.FwdMode(y, x, along, clear_gradients=False):
            second()
        self.close(y.dual, 2 * at * at[0] * (u * at[0] + at * u[0]))

    def test_one_number_needs_no_seed(self):
        for shape in ((), 1):
            x, y = (rg.field(float, shape, needs_dual=True) for _ in range(2))

            @rg.kernel
            def run():
                for i in rg.grouped(x):
                    y[i] = x[i] ** 3

            x.fill(2)
            with rg.ad.FwdMode(y, x):
                run()
            self.close(y.dual, np.full(x.shape, 12.0))

    def test_vectors_ndarrays_and_lists(self):
        v, a = rg.field(types.vector(2, float), 2, needs_dual=True), rg.ndarray(float, 2, needs_dual=True)
        y, z = rg.field(float, 2, needs_dual=True), rg.field(float, (), needs_dual=True)

        @rg.kernel
        def run(a: types.ndarray()):
            for i in v:
                y[i] = v[i].x * v[i].y * a[i]
            z[None] = a[0] * a[1]

        at, b = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([5.0, 6.0])
        v.from_numpy(at)
        a.from_numpy(b)
        with rg.ad.FwdMode(loss=[y, z], param=[v, a], seed=[[1, 0, 0, 1], [0, 2]]):
            run(a)
        self.close(y.dual, [2 * 5, 3 * 6 + 12 * 2])
        self.close(z.dual, 10)
        with rg.ad.FwdMode(z, a, np.array([1.0, 1.0])):
            run(a)
        self.close(z.dual, 11)

    def test_what_does_not_fit(self):
        x, plain = rg.field(float, 3, needs_dual=True, name="x"), rg.field(float, 3, name="plain")
        for loss, param, seed, error, text in ((x, x, None, RuntimeError, "`seed` is not set"), (x, x, [1.0], AssertionError, "3"),
                                               (x, plain, [1, 1, 1], RuntimeError, "plain"), (plain, x, [1, 1, 1], RuntimeError, "plain"),
                                               (x, [x, x], [[1, 1, 1]], RuntimeError, "2 params")):
            with self.fails(error, text), rg.ad.FwdMode(loss, param, seed):
                pass
        y = rg.field(float, (), needs_grad=True, needs_dual=True)
        with rg.ad.FwdMode(y, y):
            with self.fails(RuntimeError, "open already"), rg.ad.Tape(y):
                pass
        with rg.ad.Tape(y), self.fails(RuntimeError, "open already"), rg.ad.FwdMode(y, y):
            pass

    def test_lost_tangents_are_reported(self):
        x, y, between = (rg.field(float, (), needs_dual=d, name=n) for n, d in (("x", True), ("y", True), ("between", False)))

        @rg.kernel
        def first():
            between[None] = x[None] ** 2

        @rg.kernel
        def second():
            y[None] = between[None]

        with self.fails(RuntimeError, "`between`", "needs_dual"), rg.ad.FwdMode(y, x):
            first()
            second()
        with rg.ad.FwdMode(y, x):
            first()
            between[None] = 3.0
            second()
        self.assertEqual((y[None], y.dual[None]), (3, 0))

    def test_what_the_host_writes(self):
        x, y = (rg.field(float, 2, needs_dual=True) for _ in range(2))

        @rg.kernel
        def run():
            for i in x:
                y[i] += x[i] ** 2

        with rg.ad.FwdMode(y, x, [1, 1]):
            x.from_numpy(np.array([1.0, 2.0]))
            run()
            y[0] = 3.0
            run()
        self.close(y, [4, 8])
        self.close(y.dual, [2, 8])
        with rg.ad.FwdMode(y, x, [1, 1]):
            run()
            y.fill(0)
            run()
        self.close(y.dual, [2, 4])

    def test_functions_without_gradient(self):
        x, y = (rg.field(float, (), needs_dual=True) for _ in range(2))

        @rg.kernel
        def add():
            y[None] += x[None] ** 2

        @rg.ad.no_grad
        def constant():
            add()

        @rg.ad.grad_replaced
        def other():
            add()

        x[None] = 3
        with rg.ad.FwdMode(y, x):
            add()
            constant()
            other()
        self.assertEqual((y[None], y.dual[None]), (27, 12))

    def test_kernels_without_anything(self):
        x, y = (rg.field(float, (), needs_dual=True) for _ in range(2))
        n = rg.field(int, ())

        @rg.kernel
        def nothing():
            pass

        @rg.kernel
        def count():
            n[None] += 1

        with rg.ad.FwdMode(y, x):
            nothing()
            count()
        self.assertEqual(n[None], 1)


try:
    import torch
except ImportError:
    torch = None


@unittest.skipIf(torch is None, "needs torch")
class Tensors(Case):
    def test_gradients_are_there_from_the_launch_on(self):
        x = torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64, requires_grad=True)
        y = torch.zeros(3, dtype=torch.float64, requires_grad=True)

        @rg.kernel
        def run(x: types.ndarray(), y: types.ndarray()):
            for i in x:
                y[i] = x[i] ** 3

        run(x, y)
        self.close(x.grad.numpy(), np.zeros(3))
        for k in (1, 2):
            y.grad.fill_(1)
            run.grad(x, y)
            self.close(x.grad.numpy(), 3 * k * x.detach().numpy() ** 2)
            self.close(y.grad.numpy(), np.zeros(3))

    def test_what_is_overwritten(self):
        x = torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64, requires_grad=True)

        @rg.kernel
        def square(x: types.ndarray()):
            for i in x:
                x[i] = x[i] ** 2

        x.grad = torch.ones_like(x)
        square.grad(x)
        self.close(x.grad.numpy(), [2, 4, 6])
        self.close(x.detach().numpy(), [1, 2, 3])
        square(x)
        with self.fails(rg.CompilationError, "E0530"):
            square.grad(x)
        with torch.no_grad():
            x.copy_(torch.tensor([1.0, 2.0, 3.0]))
        x.grad.fill_(1)
        square.grad(x)
        self.close(x.grad.numpy(), [2, 4, 6])

    def test_a_constant_on_a_tape(self):
        self.needs_host_memory()
        x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
        loss = torch.zeros(1, dtype=torch.float64, requires_grad=True)

        @rg.kernel
        def run(c: types.ndarray(needs_grad=False), x: types.ndarray(), loss: types.ndarray()):
            for i in x:
                loss[0] += c[i] * x[i]

        @rg.kernel
        def more(x: types.ndarray(), loss: types.ndarray()):
            for i in x:
                loss[0] += x[i]

        c = torch.tensor([3.0, 4.0], dtype=torch.float64, requires_grad=True)
        with rg.ad.Tape(loss):
            run(c, x, loss)
            more(c, loss)
        self.close(x.grad.numpy(), [3, 4])
        self.close(c.grad.numpy(), [1, 1])

    def test_a_loss(self):
        self.needs_host_memory()
        x = torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64, requires_grad=True)
        w = np.array([2.0, 3.0, 4.0])
        loss = torch.ones(1, dtype=torch.float64, requires_grad=True)

        @rg.kernel
        def square(x: types.ndarray()):
            for i in x:
                x[i] = x[i] ** 2

        @rg.kernel
        def total(x: types.ndarray(), w: types.ndarray(), loss: types.ndarray()):
            for i in x:
                loss[0] += w[i] * x[i]

        with rg.ad.Tape(loss):
            square(x)
            square(x)
            total(x, w, loss)
        self.close(loss.item(), np.sum(w * np.arange(1.0, 4) ** 4))
        self.close(x.grad.numpy(), 4 * w * np.arange(1.0, 4) ** 3)
        for bad, text in ((torch.zeros(2, requires_grad=True), "only contains one element"), (torch.zeros(1), "requires_grad=True")):
            with self.fails(RuntimeError, text), rg.ad.Tape(bad):
                pass

    def test_what_torch_writes_is_noticed(self):
        self.needs_host_memory()
        n, x = torch.tensor([3], dtype=torch.int32), torch.tensor([2.0], dtype=torch.float64, requires_grad=True)
        loss = torch.zeros(1, dtype=torch.float64, requires_grad=True)

        @rg.kernel
        def power(n: types.ndarray(), x: types.ndarray(), loss: types.ndarray()):
            p = 1.0
            for _ in range(n[0]):
                p *= x[0]
            loss[0] = p

        with self.fails(rg.InvalidError, "power"), rg.ad.Tape(loss):
            power(n, x, loss)
            n[0] = 5

    def test_functions_of_torch(self):
        @rg.kernel
        def run(x: types.ndarray(), y: types.ndarray()):
            for i in x:
                y[i] = rg.sin(x[i]) * x[i]

        class Op(torch.autograd.Function):
            @staticmethod
            def forward(context, x):
                y = torch.zeros_like(x, requires_grad=True)
                run(x, y)
                context.save_for_backward(x, y)
                return y

            @staticmethod
            def backward(context, grad):
                x, y = context.saved_tensors
                x.grad = torch.zeros_like(x)
                y.grad = grad.contiguous()
                run.grad(x, y)
                found, x.grad = x.grad, None
                return found

        torch.autograd.gradcheck(Op.apply, torch.rand(4, dtype=torch.float64, requires_grad=True))


if __name__ == "__main__":
    unittest.main()
