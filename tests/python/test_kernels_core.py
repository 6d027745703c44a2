"""Kernels in Python: order and races, launches, init and reset, profiles."""

import contextlib
import dataclasses
import gc
import io
import os
import runpy
import tempfile
import unittest
import weakref

import numpy as np

import retrograd as rg
from retrograd import types


class Races(unittest.TestCase):
    """A loop directly in a kernel runs in parallel where nobody sees it."""

    def setUp(self):
        rg.init(default_fp=rg.f64)

    def tearDown(self):
        rg.reset()

    def test_stores_to_one_element_happen_in_order(self):
        last, count = rg.field(float, (), needs_grad=True), rg.field(int, ())
        x = rg.field(float, 100, needs_grad=True)
        x.from_numpy(np.arange(100.0))

        @rg.kernel
        def run() -> float:
            s = 0.0
            for i in range(100):
                last[None] = last[None] * 0.5 + x[i]
                count[None] += 1
                s += x[i]
            return s

        def same(x):
            last = 0.0
            for v in x:
                last = last * 0.5 + v
            return last

        self.assertEqual(run(), 4950)
        self.assertAlmostEqual(last[None], same(np.arange(100.0)), places=12)
        self.assertEqual(count[None], 100)
        last[None] = 0
        last.grad[None] = 1
        run.forward_grad()
        np.testing.assert_allclose(x.grad.to_numpy(), 0.5 ** np.arange(99.0, -1, -1), rtol=1e-12)

    def test_loops_over_several_indices(self):
        seen, table = rg.field(int, 3), rg.field(int, (3, 4, 5))

        @rg.kernel
        def run():
            for i, j, k in table:
                table[i, j, k] = seen[0] + 1
                seen[0] = i * 20 + j * 5 + k
                seen[1] = i

        run()
        np.testing.assert_array_equal(table.to_numpy().ravel(), np.r_[1, np.arange(1, 60)])
        np.testing.assert_array_equal(seen.to_numpy(), [59, 2, 0])

    def test_flags(self):
        found, x = rg.field(int, ()), rg.field(float, 1000)

        @rg.kernel
        def look(limit: float):
            for i in x:
                if x[i] > limit:
                    found[None] = 1

        x[700] = 2
        look(3.0)
        self.assertEqual(found[None], 0)
        look(1.0)
        self.assertEqual(found[None], 1)

    def test_iterations_that_read_what_others_write(self):
        n = 16
        x, out = rg.field(float, (), needs_grad=True), rg.field(float, 2 * n, needs_grad=True)
        x[None] = 2

        @rg.func
        def body(i):
            out[i] = out[i - 1] + x[None]

        @rg.kernel
        def parallel():
            for i in range(1, n):
                body(i)

        @rg.kernel
        def conditional():
            for i in range(n):
                if i == 0:
                    out[i] = x[None]
                else:
                    out[i] = out[i - 1] + x[None]

        @rg.kernel
        def in_order():
            rg.loop_config(serialize=True)
            for i in range(1, n):
                body(i)

        @rg.kernel
        def in_one_thread():
            for _ in range(1):
                for i in range(1, n):
                    body(i)

        @rg.kernel
        def apart():
            for i in range(1, n):
                out[i] = out[n] + x[None]

        for kernel in (parallel, conditional):
            kernel()
            with self.assertRaisesRegex(rg.Error, "Cross-iteration read-after-write"):
                kernel.grad()
        for kernel in (in_order, in_one_thread, apart):
            out.fill(0)
            kernel()
            np.testing.assert_array_equal(out.to_numpy()[1:n], 2 * np.arange(1, n) if kernel is not apart else 2)
            x.grad[None] = 0
            out.grad.fill(0)
            out.grad[n - 1] = 1
            kernel.grad()
            self.assertEqual(x.grad[None], 1 if kernel is apart else n - 1)


class Launches(unittest.TestCase):
    """Calls like an earlier one are launched without Python; what they do is the same."""

    def setUp(self):
        rg.init(default_fp=rg.f64)

    def tearDown(self):
        rg.reset()

    def test_each_kind_of_array_gets_its_kernel(self):
        @rg.kernel
        def double(x: types.ndarray(ndim=1), y: types.ndarray()):
            for i in x:
                y[i] = x[i] * 2

        def ndarray(dtype):
            made = rg.ndarray(dtype, 4)
            made.from_numpy(np.arange(4))
            return made

        kinds = [lambda: ndarray(rg.f64), lambda: ndarray(rg.f32), lambda: ndarray(rg.i32), lambda: np.arange(4.0), lambda: np.arange(4, dtype=np.float32),
                 lambda: np.arange(4, dtype=np.int64)]
        for _ in range(3):
            for make in kinds:
                x, y = make(), make()
                double(x, y)
                np.testing.assert_array_equal(np.asarray(y), 2 * np.arange(4))
                double(x, x)  # one array for two arguments
                np.testing.assert_array_equal(np.asarray(x), 2 * np.arange(4))
        with self.assertRaisesRegex(ValueError, "ndim"):
            double(np.zeros((2, 2)), np.zeros(4))
        with self.assertRaisesRegex(ValueError, "Non contiguous"):
            double(np.zeros(8)[::2], np.zeros(4))
        fixed = np.zeros(4)
        fixed.flags.writeable = False
        with self.assertRaisesRegex(ValueError, "read-only"):
            double(np.arange(4.0), fixed)
        with self.assertRaises(rg.RuntimeTypeError):
            double([1.0, 2.0], np.zeros(4))

    def test_elements_that_are_vectors(self):
        @rg.kernel
        def turn(x: types.ndarray(dtype=types.vector(2, rg.f64))):
            for i in x:
                x[i] = [x[i].y, -x[i].x]

        for n in (3, 5):
            x = np.arange(2.0 * n).reshape(n, 2)
            for _ in range(4):
                turn(x)
            np.testing.assert_array_equal(x, np.arange(2.0 * n).reshape(n, 2))
        with self.assertRaises(ValueError):
            turn(np.zeros((3, 3)))

    def test_numbers(self):
        @rg.kernel
        def sums(a: float, n: rg.i8, flag: rg.u1) -> float:
            return a + n + (0.5 if flag else 0.0)

        for a, n, flag in ((1.5, 2, True), (1, 127, False), (np.float32(2), np.int64(-3), True), (2.5, 130, 1), (0.0, -129, 0)):
            self.assertEqual(sums(a, n, flag), a + (n + 128) % 256 - 128 + (0.5 if flag else 0))
        self.assertEqual(sums(flag=True, n=1, a=2.0), 3.5)
        for wrong in ((1.5, 2.5, True), ("1", 2, True), (1.5, 2)):
            with self.assertRaises(TypeError):
                sums(*wrong)

    def test_templates(self):
        x, y = rg.field(int, 3), rg.field(int, 3)

        @rg.kernel
        def fill(f: rg.template(), by: rg.template(), value: int):
            for i in f:
                f[i] = value * by

        for _ in range(2):
            for f in (x, y):
                for by in (2, 3, True, 1):
                    fill(f, by, 5)
                    self.assertEqual(list(f.to_numpy()), [5 * by] * 3)

    def test_an_array_by_identity_and_as_an_argument(self):
        @rg.kernel
        def add(f: rg.template(), x: types.ndarray()):
            for i in range(2):
                x[i] = f[i] + 1
                f[i] = 10

        a, b = rg.ndarray(int, 2), rg.ndarray(int, 2)
        for x in (b, b, a, a, b):
            a.fill(0)
            add(a, x)
            self.assertEqual(x[0], 10 if x is a else 1)

    def test_bundles(self):
        @dataclasses.dataclass
        class State:
            x: types.ndarray()
            rate: float
            name: rg.template()

        @rg.kernel
        def step(s: State):
            for i in s.x:
                s.x[i] = s.x[i] + s.rate

        s = State(rg.ndarray(float, 2), 0.5, "a")
        for _ in range(3):
            step(s)
        s.rate = 1
        step(s)
        self.assertEqual(s.x[1], 2.5)
        s.x = np.zeros(3, np.float32)
        step(s)
        self.assertEqual(list(s.x), [1, 1, 1])

    def test_tapes_see_the_launches(self):
        x, loss = rg.field(float, 3, needs_grad=True), rg.field(float, (), needs_grad=True)

        @rg.kernel
        def add(by: float):
            for i in x:
                loss[None] += x[i] ** 2 * by

        x.from_numpy(np.arange(3.0))
        for _ in range(2):
            add(1.0)
        with rg.ad.Tape(loss):
            add(1.0)
            add(2.0)
        np.testing.assert_array_equal(x.grad.to_numpy(), 6 * np.arange(3))

    def test_reverse_of_what_stands_in_memory(self):
        """Like a kernel that was never launched from C: see semantics of the stand-alone reverse."""
        x = rg.field(float, 3, needs_grad=True)

        @rg.kernel
        def square():
            for i in x:
                x[i] = x[i] ** 2

        for _ in range(2):  # the second one without Python
            x.from_numpy([1, 2, 3])
            square()
            with self.assertRaises(rg.CompilationError):
                square.grad()
        x.from_numpy([1, 2, 3])
        x.grad.fill(1)
        square.grad()
        np.testing.assert_array_equal(x.grad.to_numpy(), [2, 4, 6])

    def test_after_reset(self):
        x = rg.ndarray(float, 2)

        @rg.kernel
        def of_array(a: types.ndarray()):
            a[0] = 1

        @rg.kernel
        def half(n: int) -> float:
            return n / 2

        for _ in range(2):
            of_array(x)
            self.assertEqual(half(3), 1.5)
        rg.init(default_fp=rg.f32, default_ip=rg.i64)
        with self.assertRaises(rg.RuntimeError_):
            of_array(x)
        self.assertEqual(half(2**40 + 2), 2**39)

    def test_kernels_go_with_what_they_hold(self):
        @rg.data_oriented
        class Sim:
            def __init__(self):
                self.x = rg.field(float, 1000)

            @rg.kernel
            def step(self, other: rg.template()):
                for i in self.x:
                    self.x[i] += 1

        sim = Sim()
        for _ in range(3):
            sim.step(sim)
        gone = weakref.ref(sim)
        del sim
        gc.collect()
        self.assertIsNone(gone())


class Sources(unittest.TestCase):
    def setUp(self):
        rg.init(default_fp=rg.f64)

    def tearDown(self):
        rg.reset()

    def test_lines_that_are_indented_less(self):
        @rg.kernel
        def most() -> float:
            return rg.max(
                1.0, 2.0,
        )

        self.assertEqual(most(), 2)

    def test_annotations_decide(self):
        """Two files with the same code but for a type, and one that changes."""
        text = "import retrograd as rg\n@rg.kernel\ndef tenth() -> rg.f64:\n    x: rg.TYPE = 0.1\n    return x\n"
        with tempfile.TemporaryDirectory() as folder:
            for name, t in (("first", "f32"), ("second", "f64"), ("first", "f16")):
                path = os.path.join(folder, f"{name}.py")
                with open(path, "w") as f:
                    f.write(text.replace("TYPE", t))
                os.utime(path, (int(t[1:]), int(t[1:])))
                self.assertEqual(runpy.run_path(path)["tenth"](), float(np.dtype(t.replace("f", "float")).type(0.1)))


def resident():
    """Bytes of memory that the process has."""
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class Cycles(unittest.TestCase):
    """`reset` frees all."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()  # so that one cycle compiles for all

    def tearDown(self):
        rg.reset()
        self.folder.cleanup()

    def cycle(self):
        rg.init(default_fp=rg.f64, offline_cache_file_path=self.folder.name)
        x, y = rg.field(float, 100_000, needs_grad=True), rg.field(float, (), needs_grad=True)
        z = rg.ndarray(float, 100_000)

        @rg.kernel
        def run(a: types.ndarray()):
            for i in x:
                y[None] += x[i] * a[i]

        for _ in range(2):
            run(z)
        y.grad[None] = 1
        run.grad(z)
        rg.reset()
        return x, y, z, run

    def test_memory(self):
        for _ in range(3):
            self.cycle()
        gc.collect()
        before, count = resident(), len(gc.get_objects())
        for _ in range(30):
            self.cycle()
        gc.collect()
        self.assertLess(resident() - before, 12e6)  # the arrays of 30 cycles are 72 MB
        self.assertLess(len(gc.get_objects()) - count, 100)

    def test_what_outlives_a_reset_holds_no_memory(self):
        self.cycle()
        gc.collect()
        before = resident()
        alive = [self.cycle() for _ in range(30)]
        self.assertLess(resident() - before, 12e6)
        x, y, z, run = alive[-1]
        for use in (lambda: x[0], lambda: z.to_numpy(), lambda: run(z), lambda: x.grad.fill(0)):
            with self.assertRaises(rg.RuntimeError_):
                use()

    def test_kernels_of_before(self):
        """Kernels that survive are compiled anew."""
        @rg.kernel
        def half(n: int) -> float:
            return n / 2

        for _ in range(50):
            for dtype, n in ((rg.i64, 2**40), (rg.i32, 7)):
                rg.init(default_ip=dtype)
                self.assertEqual(half(n), n / 2)
        rg.reset()
        with self.assertRaises(rg.RuntimeError_):
            half(1)


class Profiles(unittest.TestCase):
    def tearDown(self):
        rg.reset()

    def printed(self, function):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            function()
        return out.getvalue()

    def test_launches(self):
        rg.init(kernel_profiler=True)
        x, y = rg.field(float, 100, needs_grad=True), rg.field(float, (), needs_grad=True)

        @rg.kernel
        def square():
            for i in x:
                y[None] += x[i] ** 2

        for _ in range(4):
            square()
        for _ in range(3):
            square.grad()
        asked = rg.profiler.query_kernel_profiler_info("square")
        self.assertEqual(asked.counter, 3)
        self.assertTrue(0 < asked.min <= asked.avg <= asked.max)
        self.assertEqual(rg.profiler.query_kernel_profiler_info("square.grad").counter, 2)
        self.assertGreater(rg.profiler.get_kernel_profiler_total_time(), 0)
        text = self.printed(rg.profiler.print_kernel_profiler_info)
        self.assertIn("square\n", text)
        self.assertIn("square.grad", text)
        rg.profiler.clear_kernel_profiler_info()
        square()
        self.assertEqual(rg.profiler.query_kernel_profiler_info("square").counter, 1)
        with rg.profiler.scoped("all"):
            square()
        self.assertIn("all", self.printed(rg.profiler.print_scoped_profiler_info))
        rg.init()
        with self.assertRaisesRegex(rg.RuntimeError_, "kernel_profiler=True"):
            rg.profiler.print_kernel_profiler_info()

    def test_explanations(self):
        rg.init()
        x, y, w = rg.field(float, 8, needs_grad=True), rg.field(float, (), needs_grad=True), rg.ndarray(float, 8)

        @rg.kernel(graph=True)
        def scale(a: types.ndarray(), by: float):
            for i in x:
                y[None] += x[i] * a[i] * by

        text = rg.explain(scale, w, 2.0)
        self.assertIn("y[None] += x[i] * a[i] * by", text)
        self.assertIn("adjoint of x", text)
        self.assertNotIn("adjoint of a", text)
        self.assertNotIn("adjoint of by", text)
        self.assertIn("warp", rg.explain(scale, w, 2.0, device="cuda"))
        self.assertEqual(y[None], 0)
        with self.assertRaises(TypeError):
            rg.explain(len)
        with self.assertRaisesRegex(TypeError, "no option 'grahp'"):
            rg.kernel(grahp=True)


if __name__ == "__main__":
    unittest.main()
