"""Kernels on NumPy arrays: arguments, derivatives, errors. SPDX-License-Identifier: Apache-2.0"""

import threading
import types
import unittest
from pathlib import Path

import numpy as np

import retrograd as rg

SOURCE = """
#include <math.h>
void relax(int n, const int steps[n], const float x[n], float loss[1])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        float v = x[i];
        for (int t = 0; t < steps[i]; t++) {
            if (v > 2.0f) break;
            v = sinf(v) + 0.1f;
        }
        #pragma omp atomic
        loss[0] += v;
    }
}
double energy(int n, double k, const double x[n]) { double e = 0; for (int i = 0; i < n; i++) e += k * x[i] * x[i] * x[i]; return e; }
void step(int n, int m, double a, double u[n][m]) { for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) u[i][j] = a * sin(u[i][j]); }
struct body { double mass; int kind; float at[2]; };
void weigh(int n, const struct body b[n], double w[n]) { for (int i = 0; i < n; i++) w[i] = b[i].mass * b[i].at[1] + b[i].kind; }
void types(int8_t a, uint64_t b, _Bool c, float d, double out[4]) { out[0] = a; out[1] = b; out[2] = c; out[3] = d; }
struct state { double a; struct { float x[2]; int k; } in; };
struct layer { int n, m; double *w, *b, rate, loss; struct { double *gain; } with; };
void through(struct layer *l, const double *x, double *y) {
    for (int i = 0; i < l->n; i++) {
        y[i] = l->b ? l->b[i] : 0;
        for (int j = 0; j < l->m; j++) y[i] += l->w[i * l->m + j] * x[j];
        y[i] *= l->rate * l->with.gain[i];
        l->loss += y[i];
    }
}
double inner(struct state s, double scale) { return scale * (s.a * s.in.x[1] * s.in.x[1] + s.in.k); }
void half(int n, const _Float16 x[n], float y[n]) { for (int i = 0; i < n; i++) y[i] = x[i]; }
void spin(long n, double x[1]) { for (long i = 0; i < n; i++) x[0] = x[0] * 0.5 + 1; }
void two(const double x[2], double y[3]) { y[0] = x[0] * x[1]; y[1] = sin(x[0]); y[2] = x[1] * x[1] * x[1]; }
""".replace("#include <math.h>", "#include <math.h>\n#include <stdint.h>")

kernels = rg.compile_c(SOURCE, name="kernels.c")


def relax_reference(steps, x):
    values, slopes = [], []
    for n, v in zip(steps, x.astype(np.float64)):
        slope = 1.0
        for _ in range(n):
            if v > 2:
                break
            slope *= np.cos(v)
            v = np.sin(v) + 0.1
        values.append(v)
        slopes.append(slope)
    return sum(values), np.array(slopes)


class Calls(unittest.TestCase):
    def test_positional_named_and_inferred(self):
        steps, x = np.array([3, 5, 0, 10], np.int32), np.array([.1, .2, .3, .4], np.float32)
        expected = relax_reference(steps, x)[0]
        for args, named in [((4, steps, x), {}), ((steps, x), {}), ((), dict(steps=steps, x=x)), ((x,), dict(n=4, steps=steps)), ((steps,), dict(x=x))]:
            loss = np.zeros(1, np.float32)
            if named:
                kernels.relax(*args, loss=loss, **named)
            else:
                kernels.relax(*args, loss)
            self.assertAlmostEqual(loss[0], expected, places=5)

    def test_result(self):
        self.assertEqual(kernels.energy(2.0, np.array([1.0, 2.0])), 18.0)

    def test_scalars_of_every_kind(self):
        out = np.zeros(4)
        kernels.types(-7, 2**64 - 1, True, np.float32(0.5), out)
        self.assertEqual(out.tolist(), [-7.0, float(2**64), 1.0, 0.5])
        with self.assertRaises(TypeError):
            kernels.types(1.5, 0, True, 0.5, out)
        with self.assertRaises(rg.InvalidError):
            kernels.types(300, 0, True, 0.5, out)
        with self.assertRaisesRegex(OverflowError, "argument 'b' is uint64: 18446744073709551616 does not fit"):
            kernels.types(0, 2**64, True, 0.5, out)
        with self.assertRaisesRegex(OverflowError, "argument 'd' is float32"):
            kernels.types(0, 0, True, 10**400, out)
        with self.assertRaisesRegex(TypeError, "kernel types: argument 'd' has to be a number, not str"):
            kernels.types(0, 0, True, "1", out)

        class Number:
            def __index__(self):
                raise KeyError("of the program")

        with self.assertRaisesRegex(KeyError, "of the program"):
            kernels.types(Number(), 0, True, 0.5, out)

    def test_half(self):
        y = np.zeros(3, np.float32)
        kernels.half(np.array([1, 2, 3], np.float16), y)
        self.assertEqual(y.tolist(), [1, 2, 3])

    def test_views(self):
        whole = np.arange(48.0).reshape(6, 8)
        expected = whole.copy()
        expected[::-2, 1::3] = 0.5 * np.sin(expected[::-2, 1::3])
        kernels.step(0.5, whole[::-2, 1::3])
        np.testing.assert_allclose(whole, expected, rtol=1e-14)
        transposed = np.arange(6.0).reshape(2, 3)
        kernels.step(2.0, transposed.T)
        np.testing.assert_allclose(transposed, 2 * np.sin(np.arange(6.0).reshape(2, 3)), rtol=1e-14)

    def test_memory_that_changes_between_calls(self):
        for n in (3, 5, 3, 1, 0, 4):
            u = np.ones((n, 2))
            kernels.step(1.0, u)
            np.testing.assert_allclose(u, np.sin(np.ones((n, 2))), rtol=1e-14)

    def test_structs_that_are_written(self):
        m = rg.compile_c("struct body { double mass; int kind; };\n"
                         "void grow(int n, struct body b[n]) { for (int i = 0; i < n; i++) { b[i].mass *= 2; b[i].kind += i; } }")
        b = np.zeros(4, np.dtype([("mass", "f8"), ("kind", "i4")], align=True))
        b["mass"] = 1.5
        m.grow(b)
        m.grow(b[::-2])
        self.assertEqual(b.tolist(), [(3.0, 0), (6.0, 2), (3.0, 2), (6.0, 3)])
        b.flags.writeable = False
        with self.assertRaisesRegex(rg.InvalidError, "read-only"):
            m.grow(b)
        self.assertEqual(b["kind"].tolist(), [0, 2, 2, 3])

    def test_structs(self):
        body = np.dtype([("mass", "f8"), ("kind", "i4"), ("at", "f4", 2)], align=True)
        b = np.zeros(3, body)
        b["mass"], b["kind"], b["at"][:, 1] = [1, 2, 3], [10, 20, 30], 0.5
        w = np.zeros(3)
        kernels.weigh(b, w)
        self.assertEqual(w.tolist(), [10.5, 21, 31.5])
        kernels.weigh(b[::2], w[:2])
        self.assertEqual(w.tolist(), [10.5, 31.5, 31.5])
        with self.assertRaisesRegex(TypeError, "bytes"):
            kernels.weigh(np.zeros(3, [("mass", "f8")]), w)
        with self.assertRaisesRegex(TypeError, "no field kind"):
            kernels.weigh(np.zeros(3, np.dtype([("mass", "f8"), ("sort", "i4"), ("at", "f4", 2)], align=True)), w)

    def test_struct_with_arrays(self):
        w, b, x, y = np.array([[1.0, 2, 3], [4, 5, 6]]), np.array([0.5, -0.5]), np.array([1.0, 0, 2]), np.zeros(2)
        layer = {"n": 2, "m": 3, "w": w, "b": b, "rate": 0.5, "loss": np.zeros(()), "with": {"gain": np.array([2.0, 4])}}
        kernels.through(layer, x, y)
        self.assertEqual((y.tolist(), float(layer["loss"])), ([7.5, 31], 38.5))
        objects = types.SimpleNamespace(**{**layer, "b": np.zeros(0), "loss": np.zeros(1), "with": types.SimpleNamespace(gain=np.ones(2))})
        with self.assertRaisesRegex(rg.InvalidError, "l.loss"):
            kernels.through(objects, x, y)
        objects.loss = rg.zeros((), np.float64)
        kernels.through(y=y, l=objects, x=x)  # without elements: null
        self.assertEqual((y.tolist(), float(objects.loss.numpy())), ([3.5, 8], 11.5))
        layer["loss"][...] = 0
        value, gradient = kernels.through.value_and_grad(layer, x, y, of="l.loss")
        self.assertEqual((value, gradient["l.w"].tolist(), gradient["l.rate"]), (38.5, [[1, 0, 2], [2, 0, 4]], 77))
        self.assertEqual(kernels.through.jacobian(layer, x, y, of="y", wrt="l.with.gain").tolist(), [[3.75, 0], [0, 7.75]])
        self.assertEqual(str(kernels.through.signature), "(l: struct, x: float64[:], y: float64[:])")
        for wrong, message in (({**layer, "w": None}, "argument 'l.w' has to be an array"), ({"n": 2}, "argument 'l' has no field")):
            with self.assertRaisesRegex(TypeError, message):
                kernels.through(wrong, x, y)
        with self.assertRaisesRegex(TypeError, r"takes 3 further arguments \(l, x, y\), not 2"):
            kernels.through(x, y)

    def test_struct_by_value(self):
        state = np.zeros((), [("a", "f8"), ("in", [("x", "f4", 2), ("k", "i4")])])
        state["a"], state["in"]["x"][1], state["in"]["k"] = 2, 3, 4
        for s in (state, state[()], {"a": 2, "in": {"x": [0, 3], "k": 4}}, types.SimpleNamespace(a=2, **{"in": types.SimpleNamespace(x=(0, 3), k=4)})):
            self.assertEqual(kernels.inner(s, 0.5), 11)
        value, gradient = kernels.inner.value_and_grad(state, 0.5)
        self.assertEqual((value, gradient), (11.0, {"s.a": 4.5, "s.in.x.0": 0.0, "s.in.x.1": 6.0, "scale": 22.0}))
        self.assertEqual(str(kernels.inner.signature), "(s: struct, scale: float64)")
        with self.assertRaisesRegex(TypeError, "argument 's' has no field in.x.0"):
            kernels.inner({"a": 2, "in": {"x": []}}, 1.0)

    def test_parameters_named_like_words_of_python(self):
        copy = rg.compile_c("void f(int n, const double in[n], double is[n]) { for (int i = 0; i < n; i++) is[i] = in[i]; }").f
        self.assertEqual(str(copy.signature), "(n: int32 = Ellipsis, in: float64[:], is: float64[:], /)")
        y = np.zeros(2)
        copy(**{"in": np.array([1.0, 2.0]), "is": y})
        self.assertEqual(y.tolist(), [1.0, 2.0])

    def test_signature_and_params(self):
        self.assertEqual(str(kernels.step.signature), "(n: int32 = Ellipsis, m: int32 = Ellipsis, a: float64, u: float64[:, :])")
        u = kernels.step.params[3]
        self.assertTrue(u.read and u.written and u.ndim == 2 and u.dtype == np.float64)
        self.assertIn("relax", kernels.kernels)
        self.assertIn("relax", dir(kernels))

    def test_explain(self):
        text = kernels.relax.explain()
        self.assertIn("kernels.c: gradient of `relax`", text)
        self.assertRegex(text, "trip count found as it runs: records 4 bytes per iteration")
        self.assertIn("no derivative passes", kernels.relax.explain(device="cuda", constant="x", split=True))
        defined = rg.compile_c("void f(double x[N]) { x[0] *= FACTOR; }", defines=["N=3", "FACTOR=x[1]"])
        self.assertIn("gradient of `f`", defined.f.explain())
        with self.assertRaisesRegex(rg.CompileError, "nothing"):
            kernels.relax.explain(constant="nothing")

    def test_threads(self):
        def work(seed):
            for _ in range(200):
                x = np.full(50, float(seed))
                results.append(kernels.energy(1.0, x) == 50.0 * seed**3)
        results = []
        threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(results, [True] * 800)


class Errors(unittest.TestCase):
    def test_wrong_arguments(self):
        x, loss = np.zeros(3, np.float32), np.zeros(1, np.float32)
        steps = np.zeros(3, np.int32)
        with self.assertRaisesRegex(TypeError, "x' has elements of float64, the parameter of float32"):
            kernels.relax(steps, np.zeros(3), loss)
        with self.assertRaisesRegex(TypeError, r"further arguments \(n, steps, x, loss\), not 1"):
            kernels.relax(steps)
        with self.assertRaisesRegex(TypeError, "no parameter 'y'"):
            kernels.relax(steps, x, y=loss)
        with self.assertRaisesRegex(rg.InvalidError, "steps|x"):
            kernels.relax(steps, np.zeros(4, np.float32), loss)
        with self.assertRaisesRegex(TypeError, "has to be an array"):
            kernels.relax(steps, [1.0, 2.0], loss)
        frozen = np.zeros(1, np.float32)
        frozen.flags.writeable = False
        with self.assertRaisesRegex(rg.InvalidError, "read-only"):
            kernels.relax(steps, x, frozen)
        with self.assertRaisesRegex(rg.InvalidError, "overlap"):
            kernels.relax(steps, x, x[:1])
        with self.assertRaisesRegex(rg.InvalidError, "complex"):
            kernels.relax(steps, x.astype(np.complex64), loss)
        kernels.relax(steps, x, loss)  # and it still works

    def test_makers_of_arrays_with_faults(self):
        class Maker:
            def __init__(self, device, tensor):
                self.device, self.tensor = device, tensor

            def __dlpack_device__(self):
                return self.device

            def __dlpack__(self, **_):
                if isinstance(self.tensor, Exception):
                    raise self.tensor
                return self.tensor

        for device, tensor, error, message in (("cpu", None, rg.InvalidError, r"x: its __dlpack_device__\(\) is not a pair"),
                                               ((1, 0), 5, rg.InvalidError, r"x: its __dlpack__\(\) gives no tensor"),
                                               ((1, 0), BufferError("not now"), BufferError, "x: not now"),
                                               ((1, 0), KeyError("fault"), KeyError, "^'fault'$")):
            with self.subTest(message), self.assertRaisesRegex(error, message):
                kernels.energy(1.0, Maker(device, tensor))

    def test_counts(self):
        for call in (lambda n: kernels.two.check(samples=n), lambda n: kernels.two.check(starts=n), lambda n: kernels.two.check(seed=n),
                     lambda n: kernels.two.compile("vjp", directions=n), lambda n: rg.zeros(2, adjoint=True, directions=n)):
            with self.assertRaisesRegex(OverflowError, "from 0 to .*not -1"):
                call(-1)
        with self.assertRaisesRegex(rg.InvalidError, "directions in one launch are too many"):
            kernels.two.compile("forward_vjp", directions=2**32 + 1)

    def test_refused_source(self):
        with self.assertRaisesRegex(rg.CompileError, "bad.c:1:.*goto") as met:
            rg.compile_c("void f(int n) { again: n++; goto again; }", name="bad.c").f
        self.assertNotEqual(str(met.exception)[-1], "\n")
        with self.assertRaises(AttributeError):
            kernels.nothing
        with self.assertRaises(rg.FileError if False else rg.Error):
            rg.load("/nonexistent/kernels.c")

    def test_remedies_are_those_of_python(self):
        """Texts that stand in the library say what to call, in C; exceptions say it in Python."""
        x = rg.array([1.0, 2.0], adjoint=True)
        one = np.ones((1, 1))
        with rg.tape() as t, self.assertRaisesRegex(rg.InvalidError, "leave its `with` block"):
            rg.tape()
        with rg.tape() as t, self.assertRaisesRegex(rg.InvalidError, "leave its `with` block"):
            t.vjp()
        with rg.tape(), self.assertRaisesRegex(rg.InvalidError, r"a derivative of a kernel: .*takes calls of kernels, and fill\(\)"):
            kernels.energy.forward_vjp(1.0, x)
        with rg.graph(), self.assertRaisesRegex(rg.InvalidError, r"^write\(\) cannot be recorded: .*the graph's `with` block"):
            x.write([1.0, 2.0])
        for call, remedy in (
            (lambda: kernels.step.vjp(1.0, one, adjoints={"u": one.copy()}), r"combined \(forward_vjp\), or\s+write to another array"),
            (lambda: kernels.step.forward_vjp(1.0, one), "adjoints={name: array} gives it one"),
            (lambda: kernels.step.launch("jvp", 1.0, one), "tangents={name: array} gives it one"),
            (lambda: rg.compile_c("double g(double); void f(double x[1]) { x[0] = g(x[0]); }").f, r"files=\[FILE\]"),
        ):
            with self.subTest(remedy), self.assertRaisesRegex(rg.Error, remedy) as met:
                call()
            self.assertNotRegex(str(met.exception), r"\b(rg|RG)_|--with")

    def test_lists_of_options(self):
        for name, wrong, message in (("include_paths", "/usr", "include_paths is a list, not one str"), ("files", Path("/usr"), "not one PosixPath"),
                                     ("defines", "N=3", "defines is a list"), ("options", [3], "options is a list of str, and 3 is none")):
            with self.subTest(name), self.assertRaisesRegex(TypeError, message):
                rg.compile_c("void f(void) {}", **{name: wrong})
        once = rg.compile_c("void f(double x[N]) { x[0] *= x[1]; }", defines=(word for word in ["N=3"]))
        self.assertIn("gradient of `f`", once.f.explain())

    def test_asserts_and_bounds(self):
        m = rg.compile_c("#include <assert.h>\nvoid f(int n, float x[n]) { assert(n > 2); x[n] = 1; }", checked=True)
        with self.assertRaises(AssertionError):
            m.f(np.zeros(2, np.float32))
        with self.assertRaises(rg.KernelAssertionError):
            m.f(np.zeros(3, np.float32))

    def test_a_queue_of_another_thread(self):
        with self.assertRaises(rg.Error):
            rg.device("nothing")


class Derivatives(unittest.TestCase):
    def test_value_and_grad(self):
        rng = np.random.default_rng(1)
        steps, x = rng.integers(0, 20, 100).astype(np.int32), rng.uniform(0, 1.5, 100).astype(np.float32)
        value, slopes = relax_reference(steps, x)
        got, gradient = kernels.relax.value_and_grad(steps, x, np.zeros(1, np.float32), wrt="x")
        self.assertAlmostEqual(got, value, delta=1e-4 * abs(value))
        np.testing.assert_allclose(gradient, slopes, rtol=1e-4, atol=1e-6)

    def test_scalars_and_results(self):
        x = np.array([1.0, 2.0])
        value, gradient = kernels.energy.value_and_grad(2.0, x)
        self.assertEqual(value, 18.0)
        np.testing.assert_allclose(gradient["x"], 6 * x**2)
        np.testing.assert_allclose(gradient["k"], 9.0)
        np.testing.assert_allclose(kernels.energy.hvp(2.0, x, vector={"x": np.array([0.0, 1.0])}, wrt="x"), [0, 24.0])
        for one in (np.array(1.0), 1.0, 1, np.float64(1)):
            tangents = kernels.energy.jvp(2.0, x, tangents={"x": np.ones(2), "k": one})
            np.testing.assert_allclose(tangents["return"], 30 + 9)
        np.testing.assert_allclose(kernels.energy.hvp(2.0, x, vector={"k": 1.0}, wrt="x"), 3 * x**2)

    def test_scalar_without_tangent(self):
        x = np.array([1.0, 2.0])
        adjoints, second = {"k": np.zeros(()), "return": np.ones(())}, {"k": np.zeros(()), "return": np.zeros(())}
        with self.assertRaisesRegex(rg.InvalidError, "scalar `k`.*no tangent"):
            kernels.energy.launch("hvp", 2.0, x, adjoints=adjoints, tangents={"x": np.ones(2), "return": np.zeros(())}, adjoint_tangents=second)
        kernels.energy.launch("hvp", 2.0, x, adjoints=adjoints, tangents={"x": np.ones(2), "k": np.zeros(()), "return": np.zeros(())},
                              adjoint_tangents=second)
        self.assertEqual(second["k"], 15.0)

    def test_split(self):
        x = np.array([1.0, 2.0])
        k = kernels.energy(2.0, x)
        g = np.zeros(2)
        kernels.energy.vjp(2.0, x, adjoints={"x": g, "return": np.array(1.0)})
        self.assertEqual(k, 18.0)
        np.testing.assert_allclose(g, 6 * x**2)
        with self.assertRaises(rg.CompileError):
            kernels.step.vjp(1.0, np.ones((1, 1)), adjoints={"u": np.ones((1, 1))})

    def test_in_place(self):
        u = np.full((2, 2), 0.3)
        bar = np.ones((2, 2))
        kernels.step.forward_vjp(1.5, u, adjoints={"u": bar})
        np.testing.assert_allclose(u, 1.5 * np.sin(0.3))
        np.testing.assert_allclose(bar, 1.5 * np.cos(0.3))

    def test_jacobian(self):
        x = np.array([0.7, 2.0])
        rows = kernels.two.jacobian(x, np.zeros(3), wrt="x")
        np.testing.assert_allclose(rows, [[2.0, 0.7], [np.cos(0.7), 0], [0, 12.0]])

    def test_jacobians_of_many_and_of_no_elements(self):
        for n in (0, 1, 16, 17, 100):
            with self.subTest(n):
                u = np.linspace(0.1, 1.4, n).reshape(n, 1)
                after = u.copy()
                rows = kernels.step.jacobian(1.5, after, wrt="u")
                np.testing.assert_allclose(after, 1.5 * np.sin(u))  # once, although there are several launches
                self.assertEqual(rows.shape, (n, 1, n, 1))
                np.testing.assert_allclose(rows.reshape(n, n), np.diag(1.5 * np.cos(u.ravel())))

    def test_own_arrays_have_their_derivatives(self):
        x, y = rg.array([0.7, 2.0], tangent=True), rg.zeros(3, tangent=True)
        for call in (lambda: kernels.energy.value_and_grad(1.0, x), lambda: kernels.energy.hvp(1.0, x, vector={"k": 1.0}),
                     lambda: kernels.two.jacobian(x.numpy(), y)):
            with self.assertRaisesRegex(TypeError, "argument '[xy]' is a retrograd.array.*forward_vjp"):
                call()
        x.tangent.write([1, 0])
        np.testing.assert_allclose(kernels.two.jvp(x, y)["y"].numpy(), [2, np.cos(0.7), 0])

    def test_constants_cost_nothing(self):
        """What `wrt` does not name has no adjoint: its derivative is not even asked for."""
        blend = rg.compile_c("double f(double x, double y) { return x * x + y; }").f
        met = []
        real = rg.Kernel._launch
        try:
            rg.Kernel._launch = lambda self, form, args, named, adjoints, *rest: met.append(set(adjoints)) or real(self, form, args, named, adjoints, *rest)
            self.assertEqual(blend.value_and_grad(3.0, 1.0, wrt="x"), (10.0, 6.0))
        finally:
            del rg.Kernel._launch
        self.assertEqual(met, [{"x", "return"}])

    def test_directions(self):
        x = np.array([0.7, 2.0])
        columns = kernels.two.jvp(x, np.zeros(3), tangents={"x": np.eye(2)})["y"]
        np.testing.assert_allclose(columns, [[2.0, np.cos(0.7), 0], [0.7, 0, 12.0]])

    def test_derivatives_of_wrong_shape_or_type(self):
        x = np.array([1.0, 2.0])
        for bar in (np.zeros(3), np.zeros(2, np.float32), np.zeros((1, 1, 2)), np.zeros((2, 2))[:, 0]):
            with self.assertRaises(rg.InvalidError):
                kernels.energy.forward_vjp(2.0, x, adjoints={"x": bar, "return": np.array(1.0)})
        with self.assertRaisesRegex(rg.NotFoundError, "no parameter `z`"):
            kernels.energy.forward_vjp(2.0, x, adjoints={"z": x})
        with self.assertRaisesRegex(TypeError, "in a dict by the parameter's name, not in a list"):
            kernels.energy.forward_vjp(2.0, x, adjoints=[x])

    def test_check(self):
        report = kernels.two.check()
        self.assertTrue(report, str(report))
        self.assertTrue(kernels.energy.check(x=np.array([1.0, 2.0, 3.0])))


class Arrays(unittest.TestCase):
    def test_own_arrays(self):
        for device in ("cpu", "interp", "simt"):
            x = rg.array([1.0, 2.0], device=device, adjoint=True)
            out = rg.zeros(3, device=device, adjoint=True)
            with self.subTest(device=device):
                out.adjoint.write([1.0, 0.0, 1.0])
                kernels.two.forward_vjp(x, out)
                np.testing.assert_allclose(out.numpy(), [2.0, np.sin(1.0), 8.0])
                np.testing.assert_allclose(x.adjoint.numpy(), [2.0, 13.0])

    def test_memory_is_shared(self):
        values = np.arange(4.0)
        x = rg.array(values, copy=False)
        values[1] = 9
        self.assertEqual(x[1], 9)
        x[2] = -1
        self.assertEqual(values[2], -1)
        again = np.from_dlpack(x)
        again[3] = 5
        self.assertEqual(values[3], 5)
        del x
        self.assertEqual(again.tolist(), [0, 9, -1, 5])

    def test_writing_one_to_another(self):
        x = rg.zeros((2, 3), adjoint=True)
        x.write(rg.array(np.arange(6.0).reshape(2, 3), device="simt"))
        x.adjoint.write(x)
        self.assertEqual(x.adjoint.numpy().tolist(), [[0, 1, 2], [3, 4, 5]])
        for other in (rg.zeros((3, 2)), rg.zeros(3), rg.zeros((2, 3), "float32")):
            with self.assertRaisesRegex(rg.InvalidError, r"the array has shape \(2, 3\) and is float64; write their numpy"):
                x.write(other)
        x.write(rg.array([7, 8, 9]).numpy())
        self.assertEqual(x.numpy().tolist(), [[7, 8, 9]] * 2)
        with rg.graph() as g:
            kernels.step(1.0, x)
        x.require(tangent=True)
        with self.assertRaisesRegex(rg.InvalidError, "derivatives were made since"):
            g.launch()

    def test_other_byte_orders(self):
        swapped = np.array([1.0, 2.0]).astype(">f8")
        self.assertEqual(rg.array(swapped).numpy().tolist(), [1, 2])
        self.assertEqual(rg.array([1, 2], ">i4").numpy().tolist(), [1, 2])

    def test_arrays_end(self):
        x = rg.array(np.arange(4.0))
        kernels.energy(1.0, x)
        view = np.asarray(x)
        del x
        self.assertEqual(view.tolist(), [0, 1, 2, 3])

    def test_devices_are_not_mixed(self):
        with self.assertRaisesRegex(ValueError, "device"):
            kernels.two(rg.array([1.0, 2.0], device="simt"), np.zeros(3))

    def test_tape_with_a_budget(self):
        n = 200
        x = rg.array(np.full(64, 0.5).reshape(8, 8), adjoint=True)
        seen = []
        with rg.tape(budget=20 * 8 * 64, progress=lambda *numbers: seen.append(numbers)) as t:
            for _ in range(n):
                kernels.step(1.01, x)
        x.adjoint.fill(1)
        t.vjp()
        v, slope = 0.5, 1.0
        for _ in range(n):
            slope *= 1.01 * np.cos(v)
            v = 1.01 * np.sin(v)
        np.testing.assert_allclose(x.adjoint.numpy(), slope, rtol=1e-10)
        self.assertEqual(t.info()["operations"], n)
        self.assertGreater(t.info()["recomputed"], 0)
        self.assertEqual(seen[-1][:2], (n, n))

    def test_tape_refuses_arrays_of_others(self):
        with rg.tape():
            with self.assertRaisesRegex(rg.InvalidError, "retrograd.array"):
                kernels.step(1.0, np.ones((1, 1)))

    def test_nothing_is_missing_on_a_tape(self):
        x, other = rg.array([2.0, 3.0], adjoint=True), rg.array([2.0], device="interp")
        for recording in (rg.tape, rg.graph):
            with self.subTest(recording.__name__), recording():
                with self.assertRaisesRegex(rg.InvalidError, "would miss this call on device interp; begin it with device='interp'"):
                    kernels.energy(1.0, other)
                with rg.Queue("cpu"), self.assertRaisesRegex(rg.InvalidError, "another queue"):
                    kernels.energy(1.0, x)
                with self.assertRaisesRegex(rg.InvalidError, "single elements"):
                    x[0] = 5
                with self.assertRaisesRegex(ValueError, "read-only"):
                    x.numpy()[0] = 5
        self.assertEqual(x.numpy().tolist(), [2, 3])
        with rg.tape(device="interp") as t, rg.Queue("interp"), t.pause():
            self.assertEqual(kernels.energy(1.0, other), 8)
        x[0] = 4
        self.assertEqual(kernels.energy(1.0, x), 4**3 + 3**3)
        del x, other

    def test_a_paused_tape_takes_everything(self):
        cube = rg.compile_c("void cube(int n, double x[n]) { for (int i = 0; i < n; i++) x[i] = x[i] * x[i] * x[i]; }").cube
        x, seen = rg.array([2.0], adjoint=True), []

        def forward():
            seen.append(kernels.energy(1.0, np.array([3.0])))
            seen.append(kernels.energy(1.0, rg.array([2.0], device="simt")))

        with rg.tape() as t:
            with t.pause():
                self.assertEqual(kernels.energy(1.0, np.array([3.0])), 27)
                x.numpy()[0] = 2
            cube(x)
            t.call(forward, None, [x], [])
            with self.assertRaisesRegex(rg.InvalidError, "retrograd.array"):
                cube(np.ones(1))
        self.assertEqual(seen, [27, 8])
        x.adjoint.fill(1)
        t.vjp()
        self.assertEqual(x.adjoint[0], 12)
        with rg.tape() as t, self.assertRaisesRegex(TypeError, "reverse a function or None"):
            t.call(forward, 7, [x], [])
        with rg.tape() as t, self.assertRaisesRegex(rg.InvalidError, "is doing a call"):
            t.call(lambda: t.__exit__(), None, [x], [])
        self.assertEqual(kernels.energy(1.0, np.array([3.0])), 27)  # and nothing records any more

    def test_host_function_on_a_tape(self):
        x, y = rg.array([3.0], adjoint=True), rg.zeros(1, adjoint=True)

        def forward():
            y.write(x.numpy() ** 2)

        def reverse():
            x.adjoint.write(x.adjoint.numpy() + 2 * x.numpy() * y.adjoint.numpy())
            y.adjoint.fill(0)

        with rg.tape() as t:
            t.call(forward, reverse, [x], [y])
        y.adjoint.fill(1)
        t.vjp()
        self.assertEqual(x.adjoint[0], 6)

        def fail():
            raise KeyError("inside")

        with self.assertRaisesRegex(KeyError, "inside"):
            with rg.tape() as t:
                t.call(fail, None, [x], [y])

    def test_queue_in_a_with_statement(self):
        usual = rg.current_queue()
        with rg.Queue("cpu", num_threads=1) as q:
            self.assertIs(rg.current_queue(), q)
            self.assertEqual(kernels.energy(1.0, np.ones(3)), 3.0)
            with rg.Queue("interp"):
                self.assertEqual(kernels.energy(1.0, np.ones(3)), 3.0)
            self.assertIs(rg.current_queue(), q)
        self.assertIs(rg.current_queue(), usual)


if __name__ == "__main__":
    unittest.main()
