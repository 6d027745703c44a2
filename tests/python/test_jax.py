"""Kernels as functions of JAX: values, derivatives, transformations. SPDX-License-Identifier: Apache-2.0

Oracles are the same computations in jax.numpy, and differences (`check_grads`).
"""

import contextlib
import copy
import gc
import io
import itertools
import os
import pickle
import re
import subprocess
import sys
import threading
import unittest
import weakref
from pathlib import Path

os.environ.setdefault("XLA_FLAGS", "--xla_backend_optimization_level=0")  # compiles faster; what XLA's own code takes is not measured

import jax
import jax.numpy as jnp
import numpy as np
from jax.test_util import check_grads

import retrograd as rg

import cases

jax.config.update("jax_enable_x64", True)

kernels = rg.compile_c("""
#include <math.h>
#include <stdio.h>
void relax(int n, const int steps[n], const double x[n], double loss[1])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double v = x[i];
        for (int t = 0; t < steps[i]; t++) {
            if (v > 2.0) break;
            v = sin(v) + 0.1 * v * v;
        }
        #pragma omp atomic
        loss[0] += v;
    }
}
double layer(int n, int m, double gain, const double w[n][m], const double x[m], double y[n])
{
    double energy = 0;
    for (int i = 0; i < n; i++) {
        double s = 0;
        for (int j = 0; j < m; j++)
            s += w[i][j] * x[j];
        y[i] = tanh(gain * s);
        energy += y[i] * y[i];
    }
    return energy;
}
void logistic(int n, int times, double a, double x[n])
{
    for (int t = 0; t < times; t++)
        for (int i = 0; i < n; i++)
            x[i] = a * x[i] * (1 - x[i]);
}
void scale(int n, double a, double x[n]) { for (int i = 0; i < n; i++) x[i] *= a; }
void count(int n, int least, const float x[n], int found[1], float kept[n])
{
    for (int i = 0; i < n; i++)
        if (x[i] > least) { kept[i] = x[i] * x[i]; found[0]++; }
}
void add(int n, const double x[n], double y[n]) { for (int i = 0; i < n; i++) y[i] += x[i] * x[i]; }
void square(int n, const double x[n], double y[n]) { for (int i = 0; i < n; i++) y[i] = x[i] * x[i]; }
void told(int n, const double x[n], double y[n]) { printf("told\\n"); for (int i = 0; i < n; i++) y[i] = x[i] * x[i]; }
void told_inside(int n, double x[n]) { printf("told\\n"); for (int i = 0; i < n; i++) x[i] = x[i] * x[i]; }
void halves(int n, const _Float16 x[n], _Float16 a, float y[n]) { for (int i = 0; i < n; i++) y[i] = x[i] * a; }
void kinds(signed char a, unsigned short b, long c, _Bool d, float e, double out[5]) { out[0] = a; out[1] = b; out[2] = c; out[3] = d; out[4] = e; }
void checked(int n, const double x[n], double y[n]) { for (int i = 0; i < n; i++) y[i] = sqrt(x[i]); }
void gamma_of(int n, const double x[n], double y[n]) { for (int i = 0; i < n; i++) y[i] = lgamma(x[i]); }
void sign_of(double a, double y[1]) { y[0] = copysign(1.0, a); }
struct layer { int n, m; double *w, rate; };
void through(const struct layer *l, const double *x, double *y)
{
    for (int i = 0; i < l->n; i++) {
        y[i] = 0;
        for (int j = 0; j < l->m; j++)
            y[i] += l->rate * l->w[i * l->m + j] * x[j] * x[j];
    }
}
struct spring { double stiffness; struct { double at[2]; int turns; } end; };
double pull(struct spring s, double scale, const double x[2])
{ return scale * s.stiffness * s.end.turns * ((x[0] - s.end.at[0]) * (x[0] - s.end.at[0]) + (x[1] - s.end.at[1]) * x[1]); }
void first(int n, int m, const float x[n], float y[m]) { for (int i = 0; i < m; i++) y[i] = x[0] * i; }
""", name="kernels.c")
relax = rg.jax.function(kernels.relax, "loss")
layer = rg.jax.function(kernels.layer, "y")
logistic = rg.jax.function(kernels.logistic)


def relax_reference(steps, x):
    def body(t, v):
        return jnp.where((t < steps) & (v <= 2.0), jnp.sin(v) + 0.1 * v * v, v)
    return jax.lax.fori_loop(0, 12, body, x).sum()[None]


def layer_reference(gain, w, x):
    y = jnp.tanh(gain * (w @ x))
    return y, (y * y).sum()


def logistic_reference(times, a, x):
    for _ in range(times):
        x = a * x * (1 - x)
    return x


steps, points = np.array([3, 5, 0, 10], np.int32), np.array([.1, 1.9, .3, .4])
rng = np.random.default_rng(7)
weights, inputs = rng.normal(size=(3, 4)), rng.normal(size=4)


def same(test, found, wanted, rtol=1e-11):
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=rtol, atol=1e-13), found, wanted)
    test.assertEqual(jax.tree.structure(found), jax.tree.structure(wanted))


def same_of(test, pair, transform, *args, rtol=1e-11):
    """The same of a kernel's function and of its reference, in one program."""
    same(test, *jax.jit(lambda *args: tuple(transform(f)(*args) for f in pair))(*args), rtol)


layers, logistics = (layer, layer_reference), (logistic, logistic_reference)
RELAX = ((lambda x: relax(steps, x)[0]), (lambda x: relax_reference(steps, x)[0]))


class Values(unittest.TestCase):
    def test_eager_and_jitted(self):
        for f in (relax, jax.jit(relax)):
            same(self, f(steps, points), relax_reference(steps, points))
        for f in (layer, jax.jit(layer)):
            same(self, f(0.5, weights, inputs), layer_reference(0.5, weights, inputs))

    def test_ways_to_call(self):
        wanted = relax_reference(steps, points)
        for args, named in [((4, steps, points), {}), ((steps,), dict(x=points)), ((), dict(x=points, steps=steps, n=4))]:
            same(self, relax(*args, **named), wanted)
        self.assertEqual(repr(layer), "<retrograd.jax function layer(gain, w, x) -> y, return>")
        self.assertIs(layer.kernel, kernels.layer)

    def test_arrays_in_place_are_new_values(self):
        x = jnp.array([0.2, 0.7])
        y = logistic(3, 3.5, x)
        same(self, y, logistic_reference(3, 3.5, x))
        self.assertEqual(x.tolist(), [0.2, 0.7])
        both = jax.jit(lambda x: (logistic(1, 3.5, x), x + 1))(x)
        same(self, both, (logistic_reference(1, 3.5, x), x + 1))
        given = jnp.array([0.2, 0.7])
        same(self, jax.jit(lambda x: logistic(3, 3.5, x), donate_argnums=0)(given), logistic_reference(3, 3.5, x))

    def test_two_arrays_in_place_that_are_one_value(self):
        step = rg.jax.function(rg.compile_c("""
void step(int n, double dt, double x[n], double v[n])
{
    for (int i = 0; i < n; i++) {
        v[i] -= dt * (x[i] + 1);
        x[i] += dt * v[i];
    }
}""").step)
        x = jnp.ones(3)
        for f in (lambda x: step(0.5, x, x), jax.jit(lambda x: step(0.5, x, x)), jax.jit(lambda x: step(0.5, 2 * x - 1, 3 * x - 2))):
            same(self, f(x), (jnp.ones(3), jnp.zeros(3)))
        same(self, jax.jit(jax.grad(lambda x: step(0.5, x, x)[0].sum()))(x), jnp.full(3, 1.25))

    def test_outputs(self):
        add = rg.jax.function(kernels.add)  # y is given
        same(self, add(jnp.array([1.0, 2.0]), jnp.array([10.0, 20.0])), jnp.array([11.0, 24.0]))
        add = rg.jax.function(kernels.add, ["y"])  # y is made, zero at first
        same(self, add(jnp.array([1.0, 2.0])), jnp.array([1.0, 4.0]))
        found, kept = rg.jax.function(kernels.count, ["found", "kept"])(1, np.array([1, 2, 3], np.float32))
        self.assertEqual((found.tolist(), kept.tolist(), found.dtype), ([2], [0, 4, 9], np.int32))
        first = rg.jax.function(kernels.first)
        self.assertEqual(first(m=3, x=np.ones(2, np.float32)).tolist(), [0, 1, 2])
        with self.assertRaisesRegex(rg.InvalidError, "`m` of kernel `first`: no array is set whose extents"):
            first(x=np.ones(2, np.float32))
        self.assertEqual(rg.jax.function(kernels.first, {"y": (2,)})(x=np.ones(2, np.float32)).tolist(), [0, 1])
        with self.assertRaisesRegex(ValueError, "axis 0 of argument 'y' has 2 elements; .* it needs 3"):
            rg.jax.function(kernels.first, {"y": (2,)})(m=3, x=np.ones(2, np.float32))

    def test_scalars(self):
        kinds = rg.jax.function(kernels.kinds, "out")
        wanted = [-7.0, 65535.0, 2.0**40, 1.0, 0.5]
        self.assertEqual(kinds(-7, 65535, 2**40, True, 0.5).tolist(), wanted)
        self.assertEqual(jax.jit(lambda: kinds(-7, 65535, 2**40, True, 0.5))().tolist(), wanted)
        self.assertEqual(jax.jit(kinds)(-7, 65535, 2**40, True, 0.5).tolist(), wanted)
        self.assertEqual(jax.jit(kinds)(jnp.int8(-7), jnp.uint16(65535), jnp.int64(2**40), jnp.bool_(True), jnp.float32(0.5)).tolist(), wanted)
        sign = rg.jax.function(kernels.sign_of, "y")
        self.assertEqual(jax.jit(lambda: (sign(0.0), sign(-0.0), sign(np.nan)))(), (1, -1, 1))
        for call in (kinds, lambda *args: jax.jit(lambda: kinds(*args))()):
            with self.assertRaisesRegex(OverflowError, "argument 'b' is uint16: -1 does not fit"):
                call(-7, -1, 0, True, 0.5)
        halves = rg.jax.function(kernels.halves)
        x, a = np.array([1, 2.5], np.float16), jnp.float16(-0.1)
        self.assertEqual(halves(x, a).tolist(), (x.astype(np.float32) * np.float32(a)).astype(np.float16).tolist())

    def test_structs_with_arrays(self):
        through = rg.jax.function(kernels.through, outputs={"y": (2,)})
        w, x = np.arange(6.0).reshape(2, 3), np.array([1.0, 2, 3])

        def compiled(rate, w, x):
            return through({"n": 2, "m": 3, "w": w, "rate": rate}, x).sum()

        def reference(rate, w, x):
            return (rate * w @ (x * x)).sum()

        same_of(self, (compiled, reference), lambda f: jax.grad(f, (0, 1, 2)), 2.0, w, x)

    def test_structs(self):
        pull = rg.jax.function(kernels.pull)

        def reference(s, scale, x):
            at = s["end"]["at"]
            return scale * s["stiffness"] * s["end"]["turns"] * ((x[0] - at[0]) ** 2 + (x[1] - at[1]) * x[1])

        spring, x = {"stiffness": 2.0, "end": {"at": [0.5, 0.25], "turns": 3}}, np.array([1.0, 2.0])
        same(self, pull(spring, 0.5, x), jnp.asarray(reference(spring, 0.5, x)))
        same(self, pull(x=x, s=spring, scale=0.5), jnp.asarray(reference(spring, 0.5, x)))

        def slope(f):
            return lambda k, at, x: f({"stiffness": k, "end": {"at": at, "turns": 3}}, 0.5, x)

        same_of(self, (pull, reference), lambda f: jax.grad(slope(f), (0, 1, 2)), 2.0, [0.5, 0.25], x)
        with self.assertRaisesRegex(TypeError, "argument 's' has no field end.at.0"):
            pull({"stiffness": 2.0}, 0.5, x)

    def test_without_elements(self):
        self.assertEqual(relax(np.zeros(0, np.int32), np.zeros(0)).tolist(), [0.0])
        self.assertEqual(logistic(2, 3.0, np.zeros(0)).shape, (0,))
        self.assertEqual(jax.grad(lambda x: relax(np.zeros(0, np.int32), x)[0])(np.zeros(0)).shape, (0,))
        self.assertEqual(jax.hessian(lambda x: logistic(2, 3.0, x).sum())(np.zeros(0)).shape, (0, 0))

    def test_import(self):
        """Only rg.jax imports jax."""
        done = subprocess.run([sys.executable, "-c", "import sys, retrograd as rg; print('jax' in sys.modules); rg.jax; print('jax' in sys.modules)"],
                              capture_output=True, text=True, check=True)
        self.assertEqual(done.stdout.split(), ["False", "True"])


def curve(f):
    return lambda gain, w, x: (lambda y, e: (y[1] * e + y).sum())(*f(gain, w, x))


ORDERS = list(itertools.product((jax.jacfwd, jax.jacrev), repeat=2))


class Derivatives(unittest.TestCase):
    def test_first_order(self):
        for transform in (jax.grad, jax.value_and_grad):
            same(self, transform(RELAX[0])(points), transform(RELAX[1])(points))
        for transform in (jax.jacrev, jax.jacfwd):
            same_of(self, RELAX, transform, points)
            same_of(self, layers, lambda f: lambda *args: [transform(curve(f), argnums)(*args) for argnums in (0, 1, 2, (0, 1, 2))], 0.5, weights, inputs)

    def test_second_order(self):
        for outer, inner in ORDERS:
            same_of(self, layers, lambda f: outer(inner(curve(f), (0, 2)), (0, 2)), 0.5, weights, inputs, rtol=1e-9)
            # what only one of the two differentiations takes part in
            same_of(self, layers, lambda f: outer(inner(curve(f), 1), 0), 0.5, weights, inputs, rtol=1e-9)

    def test_in_place(self):
        x = np.array([0.2, 0.7])
        for outer, inner in ORDERS:
            for first, second in ((0, 1), (1, 0), ((0, 1), (0, 1))):
                same_of(self, logistics, lambda f: outer(inner(lambda a, x: f(3, a, x), first), second), 3.5, x, rtol=1e-9)
        scale = rg.jax.function(kernels.scale)
        same(self, jax.grad(lambda x: (scale(3.0, x) ** 2).sum())(x), 18 * x)  # a split launch

    def test_products_of_hessians_are_linear(self):
        def loss(f):
            return lambda x: (lambda y, e: (y ** 3).sum() * e)(*f(0.5, weights, x))

        def forward_over_reverse(f):
            return lambda v: jax.jvp(jax.grad(loss(f)), (inputs,), (v,))[1]

        def reverse_over_reverse(f):
            return lambda v: jax.grad(lambda x: jnp.vdot(jax.grad(loss(f))(x), v))(inputs)

        def reverse_over_forward(f):
            return lambda v: jax.grad(lambda x: jax.jvp(loss(f), (x,), (v,))[1])(inputs)

        def forward_over_forward(f):
            return lambda v: jax.jvp(lambda x: jax.jvp(f, (0.5, weights, x), (0.0, 0 * weights, v))[1][0], (inputs,), (v,))[1]

        v = np.cos(inputs)
        for product in (forward_over_reverse, reverse_over_reverse, reverse_over_forward):
            same_of(self, layers, product, v, rtol=1e-9)
            for transform in (jax.jacfwd, jax.jacrev):
                same_of(self, layers, lambda f: transform(product(f)), v, rtol=1e-9)
            same_of(self, layers, lambda f: jax.vmap(jax.jacfwd(product(f))), np.stack([v, 2 * v]), rtol=1e-9)
        same_of(self, layers, lambda f: jax.jacfwd(forward_over_forward(f)), v, rtol=1e-9)

    def test_second_order_is_linear_in_cotangents(self):
        def pulled(f, w):
            return lambda x: jax.vjp(lambda x: f(0.5, weights, x)[0], x)[1](w)[0]

        def forward(f):
            return lambda c, u: jax.jvp(pulled(f, jnp.sin(c)), (inputs,), (u,))[1]

        def reverse(f):
            return lambda c, u: jax.vjp(lambda x, c: pulled(f, jnp.sin(c))(x), inputs, c)[1](u)

        for product in (forward, reverse):
            same_of(self, layers, lambda f: jax.jacfwd(product(f), (0, 1)), np.arange(3.0), inputs, rtol=1e-9)
            same_of(self, layers, lambda f: jax.jacrev(jax.vmap(product(f), (0, None)), 1), np.arange(6.0).reshape(2, 3), inputs, rtol=1e-9)

    def test_what_is_constant(self):
        counted = rg.jax.function(kernels.count, ["found", "kept"])
        x = np.array([1, 2, 3], np.float32)
        self.assertEqual(jax.grad(lambda x: counted(1, x)[1].sum())(x).tolist(), [0, 4, 6])
        gradient = jax.grad(lambda x: layer(0.5, jax.lax.stop_gradient(x * weights), inputs)[1])(2.0)
        self.assertEqual(gradient, 0)
        _, tangent = jax.jvp(relax, (steps, points), (np.zeros(4, jax.dtypes.float0), points))
        same(self, tangent, jax.jvp(lambda x: relax_reference(steps, x), (points,), (points,))[1])

    def test_many_directions(self):
        x, square = rng.normal(size=37), rg.jax.function(kernels.square)
        for transform in (jax.jacrev, jax.jacfwd):
            same_of(self, logistics, lambda f: transform(lambda x: f(2, 1.5, x)), x)
            same(self, jax.jit(transform(square))(x), np.diag(2 * x))
        same_of(self, logistics, lambda f: jax.hessian(lambda x: f(2, 1.5, x).sum()), x, rtol=1e-9)

    def test_third_order_is_refused(self):
        for transform in (jax.jacfwd, jax.jacrev):
            with self.assertRaisesRegex(rg.UnsupportedError, "kernel layer: .*no third derivatives"):
                jax.make_jaxpr(transform(jax.hessian(lambda x: layer(0.5, weights, x)[1])))(inputs)
        with self.assertRaisesRegex(rg.UnsupportedError, "as many directions as there are outputs, here 2000"):
            jax.jvp(lambda x: jax.jvp(lambda x: logistic(1, 3.0, x), (x,), (x,))[1], (np.ones(2000),), (np.ones(2000),))


class Cases(unittest.TestCase):
    """Second order, in both modes, of kernels of tests/cases."""

    names = ["accumulate_loss", "adaptive_step", "bounce", "bounds_from_array", "branch_sine", "carried_array", "chain_through_array", "exclusive_scan",
             "explicit_stack", "forwarded_store", "gather", "gauss_seidel", "in_place", "in_place_linear", "in_place_scale", "indirect_add",
             "linked_walk", "matmul", "pow_half", "private_pointers", "reduction_sum", "scalar_params", "scalar_result", "scatter_add",
             "serial_and_tasks"]

    def test_check_grads(self):
        for name in self.names:
            with self.subTest(name):
                case = cases.load(name, double=True)
                f = rg.jax.function(case.kernel)
                made = {p.name for p in case.kernel.params if p.written and not p.read}
                given = {n: v for n, v in case.arguments.items() if n not in made}
                kinds = {p.name: p for p in case.kernel.params}
                floats = {n: jnp.asarray(v, np.float64) for n, v in given.items() if kinds[n].is_float}
                rest = {n: v for n, v in given.items() if not kinds[n].is_float}
                check_grads(lambda x: f(**rest, **x), (floats,), order=2, modes=("fwd", "rev"), atol=2e-4, rtol=2e-4)


class Batches(unittest.TestCase):
    def test_every_combination(self):
        single, batch = (0.5, weights, inputs), (np.array([0.5, -1.0]), np.stack([weights, 2 * weights]), np.stack([inputs, -inputs]))
        for axes in [*itertools.product((None, 0), repeat=3), (0, -1, 1), (None, 1, -1)]:
            if not any(a is not None for a in axes):
                continue
            args = [one if a is None else np.moveaxis(many, 0, a) for one, many, a in zip(single, batch, axes)]
            same_of(self, layers, lambda f: jax.vmap(lambda *a: (f(*a), jax.grad(curve(f), (0, 1, 2))(*a)), axes), *args, rtol=1e-9)

    def test_derivatives(self):
        """Tangents and cotangents batched, or not, beside inputs that are batched, or not."""
        x2, u2, w2 = np.stack([inputs, np.sin(inputs)]), rng.normal(size=(2, 4)), rng.normal(size=(2, 3))

        def all_of_them(f):
            def jvp(x, u, w):
                return jax.jvp(lambda x: f(0.5, weights, x), (x,), (u,))[1]

            def vjp(x, u, w):
                return jax.vjp(lambda x: f(0.5, weights, x)[0], x)[1](w)

            def jvp_of_vjp(x, u, w):
                return jax.jvp(lambda x, w: vjp(x, u, w), (x, w), (u, 2 * w))[1]

            def vjp_of_vjp(x, u, w):
                return jax.vjp(lambda x, w: vjp(x, u, w), x, w)[1]((u,))

            def jvp_of_jvp(x, u, w):
                return jax.jvp(lambda x: jvp(x, jnp.cos(u), w), (x,), (u,))[1]

            def vjp_of_jvp(x, u, w):
                return jax.vjp(lambda x, u: jvp(x, u, w)[0], x, u)[1](w)

            return lambda *args: [d(*args) for d in (jvp, vjp, jvp_of_vjp, vjp_of_vjp, jvp_of_jvp, vjp_of_jvp)]

        for axes in itertools.product((None, 0), repeat=3):
            if any(a is not None for a in axes):
                args = [b if a == 0 else b[0] for a, b in zip(axes, (x2, u2, w2))]
                same_of(self, layers, lambda f: jax.vmap(all_of_them(f), axes), *args, rtol=1e-9)

    def test_batches_of_batches(self):
        def pull(f):
            return lambda u, w: jax.jvp(lambda x, w: jax.vjp(lambda x: f(0.5, weights, x)[0], x)[1](w), (inputs, w), (u, w))[1]

        for outer, inner in [((0, None), (None, 0)), ((None, 0), (0, None)), ((0, 0), (None, 0)), ((0, None), (0, 0))]:
            u, w = (rng.normal(size=(2,) * (o == 0) + (3,) * (i == 0) + (n,)) for o, i, n in zip(outer, inner, (4, 3)))
            same_of(self, layers, lambda f: jax.vmap(jax.vmap(pull(f), inner), outer), u, w, rtol=1e-9)

    def test_linear_transpose(self):
        def pushed(f):
            def push(x, u):
                return jax.jvp(lambda x: f(0.5, weights, x)[0], (x,), (u,))[1]
            return lambda w: jax.linear_transpose(lambda u: jax.vmap(push)(np.stack([inputs, -inputs]), u), np.zeros((2, 4)))(w)
        same_of(self, layers, pushed, np.ones((2, 3)))


class Programs(unittest.TestCase):
    def test_scan_and_loop_inside(self):
        """A scan over a step in place is the kernel with the loop in it, and so are its derivatives."""
        x = np.array([0.2, 0.7, 0.4])

        def scanned(a, x):
            return jax.lax.scan(lambda x, _: (logistic(1, a, x), x[0]), x, length=12)[0]

        for transform in (lambda f: f, lambda f: jax.jacrev(f, (0, 1)), lambda f: jax.jacfwd(f, (0, 1)), lambda f: jax.jacfwd(jax.jacrev(f)),
                          lambda f: jax.jacrev(jax.jacrev(f, 1)), lambda f: jax.jacrev(jax.checkpoint(f), (0, 1))):
            same_of(self, (scanned, lambda a, x: logistic(12, a, x)), transform, 3.5, x, rtol=1e-8)

    def test_control_flow(self):
        def program(f):
            def run(x):
                x = jax.lax.cond(x[0] > 0.1, lambda x: f(2, 3.0, x), lambda x: x, x)
                return jax.lax.fori_loop(0, 3, lambda i, x: f(1, 3.0 + 0.1 * i, x), x)
            return run
        x = np.array([0.2, 0.7])
        same_of(self, logistics, lambda f: jax.jacrev(program(f)), x)
        end = jax.lax.while_loop(lambda c: c[0] < 4, lambda c: (c[0] + 1, logistic(1, 3.0, c[1])), (0, x))[1]
        same(self, end, logistic_reference(4, 3.0, x))

    def test_remat(self):
        def program(f):
            inner = jax.checkpoint(lambda x: jnp.sin(f(0.5, weights, x)[0]).sum())
            return lambda x: inner(x) ** 2
        for transform in (jax.grad, jax.hessian, lambda f: jax.jacrev(jax.grad(f))):
            same_of(self, layers, lambda f: transform(program(f)), inputs, rtol=1e-9)

    def test_linearize(self):
        value, push = jax.linearize(lambda x: layer(0.5, weights, x), inputs)
        same(self, push(inputs), jax.jvp(lambda x: layer_reference(0.5, weights, x), (inputs,), (inputs,))[1])
        self.assertIn("retrograd_forward", str(jax.make_jaxpr(layer)(0.5, weights, inputs)))

    def told(self, f, *args):
        """How often the kernel ran forward: what it printed, through sys.stdout."""
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            jax.block_until_ready(f(*args))
        return said.getvalue().count("told\n")

    def test_number_of_launches(self):
        x = np.array([0.2, 0.7])
        split, combined = rg.jax.function(kernels.told), rg.jax.function(kernels.told_inside)
        for f, wanted in ((split, (1, 1, 2)), (combined, (1, 2, 2))):
            loss = lambda x: (f(x) ** 2).sum()
            self.assertEqual((self.told(jax.jit(loss), x), self.told(jax.jit(jax.value_and_grad(loss)), x),
                              self.told(jax.jit(lambda x: jax.jvp(loss, (x,), (x,))), x)), wanted)
        self.assertEqual(self.told(jax.jit(jax.grad(lambda x: combined(x).sum())), x), 1)  # its value is not needed

    def test_shards(self):
        """Over eight devices, in a process that has them."""
        root = Path(__file__).parents[2]
        for script in ("examples/python/wave_shard.py", "tests/python/jax_shards.py"):
            done = subprocess.run([sys.executable, root / script], capture_output=True, text=True,
                                  env={**os.environ, "XLA_FLAGS": os.environ["XLA_FLAGS"] + " --xla_force_host_platform_device_count=8"})
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_threads(self):
        gradient = jax.jit(jax.grad(lambda x: layer(0.5, weights, x)[1]))
        wanted = jax.grad(lambda x: layer_reference(0.5, weights, x)[1])
        failures = []

        def work(seed):
            for k in range(100):
                x = inputs * (seed + k / 100)
                if not np.allclose(gradient(x), expected[seed][k], rtol=1e-10):
                    failures.append((seed, k))

        expected = [jax.vmap(wanted)(inputs * (seed + np.arange(100) / 100)[:, None]) for seed in range(6)]
        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(failures, [])


class Errors(unittest.TestCase):
    def test_arguments(self):
        for args, message in [((steps, points.astype(np.float32)), "argument 'x' has elements of float32, the parameter of float64"),
                              ((steps, points[None]), "argument 'x' has 2 axes, the parameter 1"),
                              ((steps, points[:3]), "axis 0 of argument '(x|steps)' has [34] elements; .* it needs [34]"),
                              ((steps, points.astype(complex)), "argument 'x' has elements of complex128"),
                              ((steps, jnp.asarray(points, jnp.bfloat16)), "argument 'x' has elements of bfloat16"),
                              ((steps, [0.1, 0.2]), "argument 'x' has to be an array, not list"),
                              ((steps,), "takes 2 or 3 further arguments"), ((steps, points, 1, 2, 3), "takes 2 or 3")]:
            with self.subTest(message), self.assertRaisesRegex((TypeError, ValueError), "kernel relax.*" + message):
                relax(*args)
            with self.subTest(message, traced=True), self.assertRaisesRegex((TypeError, ValueError), "kernel relax.*" + message):
                jax.make_jaxpr(lambda: relax(*args))()
        with self.assertRaisesRegex(TypeError, "argument 'n' is an extent"):
            jax.jit(lambda n: relax(n, steps, points))(4)
        with self.assertRaisesRegex(TypeError, "argument 'gain' is a number; it has 1 axes"):
            layer(points, weights, inputs)
        with self.assertRaisesRegex(TypeError, "argument 'times' has to be an integer"):
            logistic(1.5, 3.0, points)
        with self.assertRaisesRegex(TypeError, "argument 'times' has to be an integer, not float64"):
            jax.jit(logistic)(1.5, 3.0, points)
        with self.assertRaisesRegex(TypeError, "no argument 'loss' .the function makes it"):
            relax(steps, points, loss=points)

    def test_functions(self):
        nothing = rg.compile_c("void nothing(int n, const float x[n]) { }").nothing
        with self.assertRaisesRegex(ValueError, "writes no array and returns nothing"):
            rg.jax.function(nothing)
        with self.assertRaisesRegex(ValueError, "has no array 'x' that it writes"):
            rg.jax.function(kernels.relax, "x")

    def test_numbers(self):
        with self.assertRaisesRegex(TypeError, "argument '\\w+' has to be a real number, not .*1j"):
            logistic(3, np.complex64(1j), points)

    def test_launches(self):
        guarded = rg.compile_c("#include <assert.h>\nvoid guarded(int n, const double x[n], double y[n]) { for (int i = 0; i < n; i++) { assert(x[i] > 0); y[i] = x[i]; } }").guarded
        f = rg.jax.function(guarded)
        self.assertEqual(f(np.ones(2)).tolist(), [1, 1])
        for call in (f, jax.jit(f), jax.jit(jax.grad(lambda x: f(x).sum()))):
            with self.assertRaisesRegex((jax.errors.JaxRuntimeError, ValueError), "guarded.*assert"):  # jaxlib raises either
                jax.block_until_ready(call(np.array([1.0, -1.0])))
        kinds = rg.jax.function(kernels.kinds, "out")
        with self.assertRaisesRegex((jax.errors.JaxRuntimeError, ValueError), "parameter `a` of kernel `kinds` is i8: 300 does not fit"):
            jax.block_until_ready(kinds(jnp.int32(300), 1, 1, True, 0.5))

    def test_no_derivative(self):
        f = rg.jax.function(kernels.gamma_of)
        self.assertAlmostEqual(float(f(np.array([5.0]))[0]), np.log(24))
        for transform in (jax.grad, jax.jacfwd, jax.hessian):
            with self.assertRaisesRegex(rg.CompileError, "lgamma"):
                transform(lambda x: f(x).sum())(np.array([5.0]))

    def test_without_64_bits(self):
        script = ("import jax, numpy as np, retrograd as rg\n"
                  "k = rg.compile_c('void f(int n, double a, const float x[n], float y[n]) { y[0] = a * x[0]; } double g(const float x[1]) { return x[0]; }"
                  " void h(const double x[1], float y[1]) { y[0] = x[0]; }')\n"
                  "print(rg.jax.function(k.f)(0.5, np.ones(1, np.float32)))\n"
                  "for call in (lambda: rg.jax.function(k.g)(np.ones(1, np.float32)), lambda: rg.jax.function(k.h)(np.ones(1)),\n"
                  "             lambda: jax.jit(rg.jax.function(k.f))(0.5, np.ones(1, np.float32))):\n"
                  "    try: call()\n"
                  "    except TypeError as e: print(e)\n")
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, env={**os.environ, "JAX_ENABLE_X64": "0"})
        lines = done.stdout.splitlines()
        self.assertEqual(lines[0], "[0.5]")
        for line, name in zip(lines[1:], ("return", "x", "a"), strict=True):
            self.assertRegex(line, f"argument '{name}'.* is float64 .*jax_enable_x64")


class Ends(unittest.TestCase):
    def test_copies_and_pickles(self):
        f = rg.jax.function(kernels.layer, outputs=["y"])
        weights, inputs = np.ones((2, 3)), np.linspace(0, 1, 3)
        for again in (copy.deepcopy(f), pickle.loads(pickle.dumps(f))):
            for one, other in zip(again(0.5, weights, inputs), f(0.5, weights, inputs)):
                np.testing.assert_array_equal(one, other)

    def test_functions_end(self):
        """A thousand functions, in programs or not: nothing of them stays. JAX's caches of traced programs are bounded, but they are large."""
        ends = []
        for k in range(1000):
            if k % 100 == 0:
                kernel = rg.compile_c(f"void f(const double x[2], double y[2]) {{ y[0] = {k} * x[0]; y[1] = x[1]; }}").f
            f = rg.jax.function(kernel)
            jax.eval_shape(f, np.ones(2))
            if k % 100 == 0:
                self.assertEqual(jax.jit(jax.grad(lambda x: f(x).sum()))(np.ones(2)).tolist(), [k, 1])
                self.assertEqual(f(np.ones(2)).tolist(), [k, 1])
            ends.append(weakref.ref(f._program))
        del kernel, f
        jax.clear_caches()
        gc.collect()
        self.assertEqual(sum(end() is not None for end in ends), 0)

    def test_program_outlives_its_function(self):
        def compiled():
            kernel = rg.compile_c("void f(int n, const double x[n], double y[n]) { for (int i = 0; i < n; i++) y[i] = 3 * x[i]; }").f
            f = rg.jax.function(kernel)
            lowered = jax.jit(lambda x: f(x) + f(2 * x)).lower(np.ones(3))
            return lowered

        lowered = compiled()
        program = lowered.compile()
        del lowered
        jax.clear_caches()
        gc.collect()
        self.assertEqual(program(np.ones(3)).tolist(), [9, 9, 9])

    def test_program_of_another_process(self):
        f = rg.jax.function(kernels.scale)
        text = jax.jit(f).lower(2.0, np.ones(2)).as_text()
        self.assertRegex(text, r"custom_call @retrograd")
        other = jax.ffi.ffi_call("retrograd", jax.ShapeDtypeStruct((2,), np.float64))
        with self.assertRaisesRegex(jax.errors.JaxRuntimeError, "another process compiled it"):
            jax.block_until_ready(jax.jit(lambda x: other(x, call=np.int64(1 << 40), sign=np.int64(7)))(np.ones(2)))


if __name__ == "__main__":
    unittest.main()
