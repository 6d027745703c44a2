"""Kernels as functions of tensors: autograd, torch.func, torch.compile, modules. The oracles are the same computation in torch's
own operations, and torch's gradcheck. SPDX-License-Identifier: Apache-2.0"""

import copy
import gc
import io
import os
import pickle
import subprocess
import sys
import tempfile
import threading
import unittest
import warnings
import weakref
from pathlib import Path

import numpy as np
import torch
from torch.autograd import forward_ad, grad, gradcheck, gradgradcheck
from torch.func import functional_call, hessian, jacfwd, jacrev, jvp, vjp, vmap

import cases
import retrograd as rg

ROOT = Path(__file__).parents[2]
SOURCE = """
#include <assert.h>
#include <math.h>
void relax(int n, const int steps[n], const double x[n], double loss[1])
{
    for (int i = 0; i < n; i++) {
        double v = x[i];
        for (int t = 0; t < steps[i]; t++) {
            if (v > 2) break;
            v = sin(v) + 0.5;
        }
        loss[0] += v * v;
    }
}
double energy(int n, double k, const double x[n]) { double e = 0; for (int i = 0; i < n; i++) e += k * x[i] * x[i] * sin(k * x[i]);
return e; } void outer(int n, int m, const double a[n], const double b[m], double c[n][m], double s[n]) {
    for (int i = 0; i < n; i++) {
        s[i] = 0;
        for (int j = 0; j < m; j++) {
            c[i][j] = exp(a[i]) * b[j] * b[j];
            s[i] += sin(c[i][j]);
        }
    }
}
void chain(int n, double a, const double start[1], double x[n]) { x[0] = start[0]; for (int i = 1; i < n; i++) x[i] = a * sin(x[i -
1]); } void swing(int n, double dt, const double pull[n], double angle[n], double speed[n]) {
    for (int i = 0; i < n; i++) {
        speed[i] -= dt * pull[i] * sin(angle[i]);
        angle[i] += dt * speed[i];
    }
}
void add(int n, const double w[n], double x[n]) { for (int i = 0; i < n; i++) x[i] += w[i]; }
void every_other(int n, const double x[n], double y[n]) { for (int i = 0; i < n; i += 2) y[i] = x[i] * x[i]; }
void squares(int n, double y[n], double a, const double x[n], double z[n])
{
    for (int i = 0; i < n; i++) {
        y[i] = a * x[i] * x[i];
        z[i] = a * a * sin(x[i]);
    }
}
void fill(int n, double a, double y[n]) { for (int i = 0; i < n; i++) y[i] = a * a; }
void sorted(int n, const double x[n], int bin[n], double y[n], int count[1])
{
    for (int i = 0; i < n; i++) {
        bin[i] = (int)(3 * x[i]);
        y[i] = x[i] * bin[i];
        count[0] += bin[i];
    }
}
struct layer { int n, m; double *w, *b, rate; };
void through(const struct layer *l, const double *x, double *y) { for (int i = 0; i < l->n; i++) { double s = l->b[i]; for (int j = 0;
j < l->m; j++) s += l->w[i * l->m + j] * x[j]; y[i] = tanh(s) * l->rate; } }
struct spring { double k; struct { double rest, push[2]; } at; };
double pull(struct spring s, int n, const double x[n]) { double e = 0; for (int i = 0; i < n; i++) e += s.k * (x[i] - s.at.rest) *
(x[i] - s.at.push[1]); return e; } void types(int n, const float a[n], const _Float16 h[n], double d, float b[n]) { for (int i = 0;
i < n; i++) b[i] = a[i] * (float)h[i] * (float)d; } void positive(int n, const double x[n], double y[n]) { for (int i = 0; i < n;
i++) { assert(x[i] > 0); y[i] = sqrt(x[i]); } }
"""
kernels = rg.compile_c(SOURCE, name="kernels.c")
function = rg.torch.function
relax, energy, outer, swing, add = (function(kernels[name], outputs) for name, outputs in
                                    (("relax", ["loss"]), ("energy", None), ("outer", ["c", "s"]), ("swing", None), ("add", None)))


def rand(*shape, low=0.2, high=1.2, seed=0):
    values = low + (high - low) * torch.rand(shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))
    return values.requires_grad_()


def relax_in_torch(steps, x):
    values = []
    for n, v in zip(steps.tolist(), x):
        for _ in range(n):
            if v > 2:
                break
            v = v.sin() + 0.5
        values.append(v * v)
    return torch.stack(values).sum().reshape(1)


def energy_in_torch(k, x):
    return (k * x * x * (k * x).sin()).sum()


def outer_in_torch(a, b):
    c = a.exp()[:, None] * b * b
    return c, c.sin().sum(1)


def swing_in_torch(dt, pull, angle, speed):
    speed = speed - dt * pull * angle.sin()
    return angle + dt * speed, speed


class Suite(unittest.TestCase):
    def close(self, found, expected, tolerance=1e-10):
        torch.testing.assert_close(found, expected, rtol=tolerance, atol=tolerance)

    def same_derivatives(self, ours, theirs, *inputs):
        """Values, gradients along random adjoints, and the gradients of these."""
        ours, theirs = (f if isinstance(f := g(*inputs), tuple) else (f,) for g in (ours, theirs))
        self.close(ours, theirs)
        seeds = [rand(*t.shape, seed=5 + i).detach() for i, t in enumerate(ours)]
        first = [grad(f, inputs, seeds, create_graph=True) for f in (ours, theirs)]
        self.close(*first)
        along = [rand(*t.shape, seed=9 + i).detach() for i, t in enumerate(inputs)]
        self.close(*(grad(g, inputs, along) for g in first))


# those of tests/cases that are smooth where they are
SMOOTH = """
adaptive_step add_after_use bounce branch_sine carried_array carried_types chain_through_array chosen_states dense_layer
derive_buffers derive_curvature derive_own derive_vjp do_once early_return_kernel explicit_stack float_kernel float_math
forwarded_store gather gauss_seidel half_kernel helper_calls in_place in_place_linear in_place_scale int_state kernel_if linked_walk
local_2d local_cholesky local_runtime_index loop_in_helper many_parameters matmul nest_break_outer nest_ragged op_atan2 op_div
op_hypot op_pow op_tanh pair_do_break pair_switch_while pair_while_while pointer_walk rank3 reduction_sum scalar_params
scalar_result scatter_add sphere_trace stencil store_consumes switch_in_loop time_loop time_loop_until two_tasks used_after_loop
while_newton
""".split()


class Cases(Suite):
    def inputs(self, name):
        """A function of the case's floats, in double, and these."""
        case = cases.load(name, double=True)
        f = function(case.kernel)
        given = {name: torch.from_numpy(v) if isinstance(v, np.ndarray) else v for name, v in case.arguments.items()}
        params = {p.name: p for p in case.kernel.params}
        in_place = [n for n in given if params[n].ndim is not None and params[n].written and params[n].read]
        made = [n for n in given if params[n].ndim is not None and params[n].written and not params[n].read]
        floats = [n for n in given if params[n].is_float and n not in made]
        values = [torch.as_tensor(given[n], dtype=torch.float64).clone().requires_grad_() for n in floats]

        def of(*values):
            named = {**{n: v for n, v in given.items() if n not in made}, **dict(zip(floats, values))}
            named.update({n: named[n].clone() for n in in_place})
            done = f(**named)
            return tuple(t for t in (done if isinstance(done, tuple) else (done,)) if t.is_floating_point())

        return of, values

    def test_gradients_of_first_and_second_order_in_both_modes(self):
        for name in SMOOTH:
            with self.subTest(name):
                of, values = self.inputs(name)
                # sums over threads are not always added in the same order
                self.assertTrue(gradcheck(of, values, check_forward_ad=True, nondet_tol=1e-12))
                self.assertTrue(gradgradcheck(of, values, check_fwd_over_rev=True, nondet_tol=1e-12))


class Autograd(Suite):
    def test_beside_torch(self):
        steps = torch.tensor([3, 0, 20, 5], dtype=torch.int32)
        self.same_derivatives(lambda x: relax(steps, x), lambda x: relax_in_torch(steps, x), rand(4))
        self.same_derivatives(energy, energy_in_torch, rand(), rand(5))
        self.same_derivatives(outer, outer_in_torch, rand(3), rand(2))

    def test_in_place(self):
        def ours(pull, angle, speed):
            angle, speed = angle.clone(), speed.clone()
            for _ in range(5):
                self.assertIs(swing(0.1, pull, angle, speed)[0], angle)
            return angle, speed

        def theirs(pull, angle, speed):
            for _ in range(5):
                angle, speed = swing_in_torch(0.1, pull, angle, speed)
            return angle, speed

        self.same_derivatives(ours, theirs, rand(3), rand(3), rand(3))

    def test_in_place_on_views(self):
        def ours(pull, state):
            state = state.clone()
            for _ in range(3):
                self.assertTrue(swing(0.1, pull, state[0], state[1])[1]._is_view())
            return state

        def theirs(pull, state):
            for _ in range(3):
                state = torch.stack(swing_in_torch(0.1, pull, *state))
            return state

        self.same_derivatives(ours, theirs, rand(3), rand(2, 3))
        w, x = rand(3), torch.zeros(2, 3, dtype=torch.float64)
        for _ in range(3):
            add(w, x[1])
        self.close(grad(x.sum(), w)[0], torch.full((3,), 3.0, dtype=torch.float64))

    def test_arrays_that_are_only_written(self):
        f, g = function(kernels.every_other), function(kernels.every_other, outputs=[])
        x, y = rand(4), rand(4)
        self.close(f(x), torch.where(torch.arange(4) % 2 == 0, x * x, 0))
        kept = y * 1
        self.assertIs(g(x, kept), kept)
        of_x, of_y = grad(kept.sum(), (x, y))
        self.close(of_x, torch.tensor([2, 0, 2, 0]) * x.detach())
        self.close(of_y, torch.tensor([0, 1, 0, 1.0], dtype=torch.float64))
        h, a = function(kernels.squares, outputs=["z"]), rand()  # the first array is changed in place, and has no adjoint

        def ours(a, x, y):
            y = y * a
            return h(y, a, x)

        def theirs(a, x, y):
            return a * x * x + 0 * y, a * a * x.sin()

        self.same_derivatives(lambda a, x: ours(a, x, y), lambda a, x: theirs(a, x, y), a, x)
        for i in range(2):
            first = [grad(f(a, x, y)[i].sum(), (a, x, y), create_graph=True, allow_unused=True)[:2] for f in (ours, theirs)]
            self.close(*(grad(g[0] + g[1].sum(), (a, x)) for g in first))
        fill = function(kernels.fill, outputs=[])
        self.same_derivatives(lambda a: fill(a, y.clone()), lambda a: (a * a).expand(4), a)

    def test_an_output_without_axes(self):
        both = rg.compile_c("double both(double a, double b, double *product) { *product = a * b; return a + b; }").both
        product, total = function(both, outputs={"product": ()})(rand(), 2.0)
        self.assertEqual((product.shape, total.shape), ((), ()))
        self.close((product, total), (2 * rand(), rand() + 2))

    def test_a_file_that_was_removed(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "f.c"
            path.write_text("void f(int n, const double x[n], double y[n]) { for (int i = 0; i < n; i++) y[i] = 2 * x[i]; }")
            kernel = rg.load(path).f
        self.close(function(kernel)(rand(3)), 2 * rand(3))

    def test_outputs_that_the_kernel_reads(self):
        f = function(kernels.chain, outputs={"x": 5})
        self.assertTrue(gradcheck(f, (rand(), rand(1))))
        a, start = rand(), rand(1)
        x = f(a, start)
        expected = start
        for _ in range(4):
            expected = a * expected.sin()
        self.close(grad(x[4], (a, start)), grad(expected, (a, start)))

    def test_what_requires_no_gradient_is_constant(self):
        k, x = rand(), rand(4)
        for needs_k in (False, True):
            for needs_x in (False, True):
                inputs = k.detach().requires_grad_(needs_k), x.detach().requires_grad_(needs_x)
                ours, theirs = (f(*inputs) for f in (energy, energy_in_torch))
                self.assertEqual(ours.requires_grad, theirs.requires_grad)
        g, = grad(energy(k, x), x)
        self.close(g, grad(energy_in_torch(k, x), x)[0])
        self.close(energy(0.5, x), energy_in_torch(0.5, x))

    def test_adjoints_that_are_not_there(self):
        a, b = rand(3), rand(2)
        for i in range(2):
            ours, theirs = outer(a, b)[i], outer_in_torch(a, b)[i]
            first = [grad(t.sum(), (a, b), create_graph=True) for t in (ours, theirs)]
            self.close(*first)
            self.close(*(grad(g[0].sum(), (a, b)) for g in first))

    def test_seeds_stay_as_they_are_and_gradients_add_up(self):
        a, b = rand(3), rand(2)
        c, s = outer(a, b)
        seeds = [torch.ones_like(c), torch.ones_like(s)]
        first = grad((c, s), (a, b), seeds, retain_graph=True)
        self.close(first, grad((c, s), (a, b), seeds))
        self.assertTrue(all(bool((t == 1).all()) for t in seeds))
        for _ in range(2):
            outer(a, b)[1].sum().backward()
        self.close(a.grad, 2 * grad(outer_in_torch(a, b)[1].sum(), a)[0])

    def test_integers(self):
        f, x = function(kernels.sorted, outputs=["bin", "y", "count"]), rand(5)
        bins, y, count = f(x)
        self.assertEqual([t.requires_grad for t in (bins, y, count)], [False, True, False])
        self.close(grad(y.sum(), x)[0], bins.double())
        bins, count = torch.zeros(5, dtype=torch.int32), torch.ones(1, dtype=torch.int32)
        done = function(kernels.sorted, outputs=["y"])(x, bins, count)
        self.assertIs(done[1], count)
        grad(done[2].sum(), x)
        self.assertEqual(count.item(), 1 + bins.sum().item())

    def test_scalars(self):
        x = rand(3)
        for k in (2, 2.0, np.float32(2), torch.tensor(2.0), torch.tensor(2), torch.tensor(2.0, dtype=torch.float64)):
            self.close(energy(k, x), energy_in_torch(2.0, x))
        k = torch.tensor(0.5, requires_grad=True)  # float32, where the kernel has a double
        self.close(grad(energy(k, x), k)[0], grad(energy_in_torch(k, x), k)[0], 1e-6)
        for n in (3, torch.tensor(3)):
            self.close(energy(n, 0.5, x), energy_in_torch(0.5, x))

    def test_structs(self):
        k, rest, push, x = rand(), rand(), rand(2), rand(3)
        f = function(kernels.pull)
        expected = (k * (x - rest) * (x - push[1])).sum()
        value = f({"k": k, "at": {"rest": rest, "push": push}}, x)
        self.close(value, expected)
        self.close(grad(value, (k, rest, push, x)), grad(expected, (k, rest, push, x)))

    def test_structs_with_arrays(self):
        w, b, rate, x = rand(2, 3), rand(2, seed=1), rand(), rand(3, seed=2)
        value = function(kernels.through, {"y": (2,)})({"n": 2, "m": 3, "w": w, "b": b, "rate": rate}, x)
        expected = torch.tanh(w @ x + b) * rate
        self.close(value, expected)
        self.close(grad(value.sum(), (w, b, rate, x)), grad(expected.sum(), (w, b, rate, x)))

    def test_types(self):
        a, h = torch.rand(4, requires_grad=True), torch.rand(4).half().requires_grad_()
        b = function(kernels.types)(a, h, 2.0)
        self.close(b, 2 * a * h, 1e-6)
        self.close(grad(b.sum(), (a, h)), grad((2 * a * h).sum(), (a, h)), 1e-3)

    def test_memory_of_all_kinds(self):
        whole = rand(4, 6)
        for view in (lambda t: t[::2, 1], lambda t: t[1].flip(0), lambda t: t[0, :1].expand(3), lambda t: t.T[2],
                     lambda t: t[:0, 0]):
            self.close(*(grad(f(0.5, view(whole)), whole) for f in (energy, energy_in_torch)))
        x = rand(3)
        self.close(*(grad(t[0].sum(), x) for t in (outer(x, x), outer_in_torch(x, x))))  # twice the same
        c, _ = outer(x, x)
        for seed in (torch.ones(()).double().expand(3, 3), rand(3, 3).detach().T):
            self.close(*(grad(t, x, seed) for t in (outer(x, x)[0], outer_in_torch(x, x)[0])))

    def test_a_changed_argument_is_noticed(self):
        a, b = rand(3), rand(2)
        for change in (lambda q: q.add_(1), lambda q: add(b, q)):
            q = b * 1
            c, _ = outer(a, q)
            change(q)
            with self.assertRaisesRegex(RuntimeError, "modified by an inplace operation"):
                grad(c.sum(), a)
        q = b * 1
        squares = (q * q).sum()
        with torch.no_grad():
            add(b, q)
        with self.assertRaisesRegex(RuntimeError, "modified by an inplace operation"):
            grad(squares, b)
        y = function(kernels.every_other)(a)
        y.mul_(2)  # the reverse does not read it
        self.close(grad(y.sum(), a)[0], torch.tensor([4, 0, 4]) * a.detach())

    def test_without_gradients(self):
        with torch.no_grad():
            x = rand(3)
            before = x._version
            add(torch.ones(3, dtype=torch.float64), x)
            self.assertEqual(x._version, before + 1)
            self.assertFalse(energy(0.5, x).requires_grad)
        with torch.inference_mode():
            y = torch.zeros(3, dtype=torch.float64)
            self.assertIs(add(torch.ones(3, dtype=torch.float64), y), y)
        self.assertFalse(energy(0.5, x.detach()).requires_grad)

    def test_third_order_is_refused(self):
        x = rand(3)
        first, = grad(energy(0.5, x), x, create_graph=True)
        second, = grad(first.sum(), x, create_graph=True)
        with self.assertRaisesRegex(NotImplementedError, "kernel energy: derivatives of third order"):
            grad(second.sum(), x)

    def test_errors_in_a_reverse(self):
        steps = function(rg.compile_c("""void steps(int n, double x[n]) {
            for (int t = 0; t < 9; t++) for (int i = 1; i < n; i++) x[i] = sin(x[i]) * x[i - 1]; }""").steps)
        with rg.Queue(tape_budget=1000):
            x = torch.ones(10000, dtype=torch.float64, requires_grad=True)
            y = x.clone()
            with self.assertRaises(rg.BudgetError):
                steps(y)
                y.sum().backward()
        with self.assertRaisesRegex(rg.KernelAssertionError, "kernels.c.*assertion failed"):
            function(kernels.positive)(-rand(3))

    def test_threads(self):
        def work(seed):
            for _ in range(50):
                x = rand(4, seed=seed)
                results.append(torch.equal(grad(energy(0.5, x), x)[0], expected[seed]))
        results, expected = [], {seed: grad(energy(0.5, x := rand(4, seed=seed)), x)[0] for seed in range(4)}
        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(results, [True] * 200)

    def test_functions_end(self):
        f = function(rg.compile_c("double f(int n, const double x[n]) { return x[n - 1] * x[n - 1]; }").f)
        x = rand(3)
        grad(f(x), x)
        gone = weakref.ref(f._plan)
        del f
        gc.collect()
        self.assertIsNone(gone())


class Functional(Suite):
    """torch.func, and forward mode."""

    def test_jacobians(self):
        a, b = rand(3).detach(), rand(20).detach()  # more rows than a launch has directions
        for transform in (jacrev, jacfwd):
            self.close(transform(outer, argnums=(0, 1))(a, b), transform(outer_in_torch, argnums=(0, 1))(a, b))

    def test_hessians(self):
        k, x = rand().detach(), rand(18).detach()
        expected = hessian(energy_in_torch, argnums=(0, 1))(k, x)
        for outer_, inner in ((jacfwd, jacrev), (jacrev, jacrev), (jacrev, jacfwd)):
            self.close(outer_(inner(energy, argnums=(0, 1)), argnums=(0, 1))(k, x), expected)
        with self.assertRaisesRegex(NotImplementedError, "kernel energy: the tangent of a tangent"):
            jacfwd(jacfwd(energy, argnums=1), argnums=1)(k, x)

    def test_products(self):
        a, b = rand(3).detach(), rand(2).detach()
        u = rand(3, seed=3).detach(), rand(2, seed=4).detach()
        self.close(jvp(outer, (a, b), u), jvp(outer_in_torch, (a, b), u))
        value, pull = vjp(outer, a, b)
        expected, pull_in_torch = vjp(outer_in_torch, a, b)
        self.close(pull(value), pull_in_torch(expected))

    def test_batches(self):
        a, b = rand(4, 3).detach(), rand(4, 2).detach()
        self.close(vmap(outer)(a, b), vmap(outer_in_torch)(a, b))
        self.close(vmap(outer, (0, None))(a, b[0]), vmap(outer_in_torch, (0, None))(a, b[0]))
        self.close(vmap(outer, (1, 0), 1)(a, b[:3]), vmap(outer_in_torch, (1, 0), 1)(a, b[:3]))
        self.close(*(vmap(vmap(f, (0, None)), (0, 0))(a[:, None], b) for f in (outer, outer_in_torch)))
        of_one = lambda f: torch.func.grad(lambda a, b: f(a, b)[1].sum(), argnums=(0, 1))
        self.close(vmap(of_one(outer))(a, b), vmap(of_one(outer_in_torch))(a, b))
        self.close(vmap(hessian(energy, argnums=1))(a[:, 0], b), vmap(hessian(energy_in_torch, argnums=1))(a[:, 0], b))
        with self.assertRaisesRegex(ValueError, "no elements"):
            vmap(outer)(a[:0], b[:0])

    def test_in_place(self):
        pull, angle = rand(3).detach(), rand(3).detach()

        def ours(pull, angle):
            angle, speed = angle.clone(), torch.zeros_like(angle)
            swing(0.1, pull, angle, speed)
            return angle * speed

        def theirs(pull, angle):
            angle, speed = swing_in_torch(0.1, pull, angle, torch.zeros_like(angle))
            return angle * speed

        for transform in (jacrev, jacfwd, hessian):
            self.close(transform(ours, argnums=(0, 1))(pull, angle), transform(theirs, argnums=(0, 1))(pull, angle))
        batch = torch.stack([angle, 2 * angle])
        self.close(vmap(ours, (None, 0))(pull, batch), vmap(theirs, (None, 0))(pull, batch))
        self.close(vmap(jacrev(ours, argnums=1), (None, 0))(pull, batch), vmap(jacrev(theirs, argnums=1), (None, 0))(pull, batch))
        self.close(jacrev(vmap(ours, (None, 0)))(pull, batch), jacrev(vmap(theirs, (None, 0)))(pull, batch))
        with self.assertRaisesRegex(RuntimeError, "'x', which is not batched"):
            vmap(lambda w: add(w, angle))(batch)

    def test_forward_mode(self):
        pull, angle, speed = (rand(3, seed=s).detach() for s in range(3))
        tangents = [rand(3, seed=s).detach() for s in range(3, 6)]
        with forward_ad.dual_level():
            p, a, v = (forward_ad.make_dual(x, t) for x, t in zip((pull, angle, speed), tangents))
            a, v = a.clone(), v.clone()
            swing(0.1, p, a, v)
            found = [forward_ad.unpack_dual(t).tangent for t in (a, v)]
        self.close(tuple(found), jvp(lambda *x: swing_in_torch(0.1, *x), (pull, angle, speed), tuple(tangents))[1])


class Traced(Suite):
    """torch.compile and its relatives."""

    def setUp(self):
        torch._dynamo.reset()

    def program(self, k, a, b):
        c, s = outer(a, b)
        y = s * 2
        add(w=a, x=y)
        return energy(k, y) + energy(0.5, c.flatten()) + y.sum()

    def test_compiled_whole_with_gradients(self):
        inputs = rand(), rand(3), rand(2)
        expected = self.program(*inputs)
        for backend in ("eager", "aot_eager"):
            found = torch.compile(self.program, fullgraph=True, backend=backend)(*inputs)
            self.close(found, expected)
            self.close(grad(found, inputs), grad(expected, inputs, retain_graph=True))

    def test_many_sizes(self):
        compiled = torch.compile(lambda a, b: outer(a, b)[1].sum(), fullgraph=True, backend="aot_eager")
        for n in range(2, 16):  # more than torch compiles of one function
            a, b = rand(n), rand(n + 1)
            self.close(grad(compiled(a, b), a), grad(outer_in_torch(a, b)[1].sum(), a))
        dynamic = torch.compile(energy, fullgraph=True, backend="aot_eager", dynamic=True)
        with self.assertRaises(Exception):
            torch.compile(add, fullgraph=True, backend="aot_eager", dynamic=True)(rand(3), rand(4).detach())
        self.close(dynamic(rand(), rand(7)), energy_in_torch(rand(), rand(7)))

    def test_in_place_and_batched(self):
        def program(w, x):
            x = x.clone()
            add(w, x)
            return x

        w, x = rand(2, 3), rand(2, 3)
        compiled = torch.compile(lambda w, x: vmap(program)(w, x), fullgraph=True, backend="aot_eager")
        self.close(compiled(w, x), w + x)
        y = torch.zeros(3, dtype=torch.float64)
        torch.compile(lambda w, x: add(w, x), fullgraph=True, backend="aot_eager")(w[0].detach(), y)
        self.close(y, w[0].detach())

    def test_exported_and_traced(self):
        class Model(torch.nn.Module):
            def forward(self, k, x):
                return energy(k, x) * 2

        k, x = rand().detach(), rand(3).detach()
        for strict in (False, True):
            self.close(torch.export.export(Model(), (k, x), strict=strict).module()(k, x), 2 * energy_in_torch(k, x))
        from torch._subclasses import FakeTensorMode
        from torch.fx.experimental.proxy_tensor import make_fx
        for mode in ("real", "fake", "symbolic"):
            self.close(make_fx(lambda k, x: energy(k, x), tracing_mode=mode)(k, x)(k, x), energy_in_torch(k, x))
        with FakeTensorMode():
            c, _ = outer(torch.rand(3, dtype=torch.float64), torch.rand(2, dtype=torch.float64))
            self.assertEqual(tuple(c.shape), (3, 2))
            with self.assertRaisesRegex(TypeError, "float32"):
                outer(torch.rand(3), torch.rand(2))

    def test_transforms_that_tracers_would_lose(self):
        """Torch drops the tangents of operators' arguments and says nothing."""
        from torch.fx.experimental.proxy_tensor import make_fx
        x, u = rand(3).detach(), torch.ones(3, dtype=torch.float64)

        def f(x):
            return energy(0.5, x)

        whole = torch.compile(f, fullgraph=True, backend="aot_eager")
        for call in (lambda: torch.func.linearize(f, x), lambda: make_fx(lambda x: jvp(f, (x,), (u,))[1])(x),
                     lambda: make_fx(torch.func.grad(f))(x)):
            with self.assertRaisesRegex(NotImplementedError, "kernel energy: .* what torch.compile or another tracer makes"):
                call()
        with forward_ad.dual_level(), self.assertRaisesRegex(Exception, "kernel energy: forward mode"):
            whole(forward_ad.make_dual(x, u))
        with self.assertRaisesRegex(Exception, "kernel energy: forward mode"):
            torch.compile(lambda x: jvp(f, (x,), (u,)), fullgraph=True, backend="aot_eager")(x)
        self.close(jvp(f, (x,), (u,))[1], grad(energy_in_torch(0.5, x.requires_grad_()), x)[0].sum())

    def test_selective_checkpoints(self):
        from torch.utils.checkpoint import CheckpointPolicy, checkpoint, create_selective_checkpoint_contexts
        x = rand(3)

        def contexts():
            return create_selective_checkpoint_contexts(lambda *_, **__: CheckpointPolicy.PREFER_RECOMPUTE)

        found = checkpoint(lambda x: energy(0.5, x), x, use_reentrant=False, context_fn=contexts)
        self.close(grad(found, x), grad(energy_in_torch(0.5, x), x))

    def test_a_function_that_is_no_more(self):
        from torch.fx.experimental.proxy_tensor import make_fx
        f = function(rg.compile_c("void f(int n, const double x[n], double y[n]) { for (int i = 0; i < n; i++) y[i] = x[i]; }").f)
        graph = make_fx(lambda x: f(x))(rand(3).detach())
        self.close(graph(rand(3).detach()), rand(3).detach())
        del f
        gc.collect()
        with self.assertRaisesRegex(RuntimeError, "the function of kernel f-.* is no more"):
            graph(rand(3).detach())


class Modules(Suite):
    def module(self):
        return rg.torch.Module(kernels.energy, parameters={"k": rand().detach()}, buffers={"x": rand(3).detach()})

    def test_parameters(self):
        module = self.module()
        self.assertEqual(list(module.state_dict()), ["k", "x"])
        self.assertEqual([name for name, _ in module.named_parameters()], ["k"])
        module().backward()
        k = module.k.detach().requires_grad_()
        self.close(module.k.grad, grad(energy_in_torch(k, module.x), k)[0])
        other = self.module()
        with torch.no_grad():
            other.k.fill_(7)
        other.load_state_dict(module.state_dict())
        self.close(other(), module())
        self.close(functional_call(module, {"k": torch.tensor(2.0, dtype=torch.float64)}, ()), energy_in_torch(2.0, module.x))
        self.assertEqual(repr(module), "Module(energy(k, x) -> return)")
        with self.assertRaisesRegex(ValueError, "no argument 'y'"):
            rg.torch.Module(kernels.energy, parameters={"y": rand()})

    def test_copies_and_pickles(self):
        module, saved = self.module(), io.BytesIO()
        torch.save(module, saved)
        saved.seek(0)
        for other in (copy.deepcopy(module), pickle.loads(pickle.dumps(module)), torch.load(saved, weights_only=False)):
            self.close(other(), module())
        f = pickle.loads(pickle.dumps(function(kernels.chain, outputs={"x": (5,)})))
        self.assertEqual(tuple(f(0.5, rand(1)).shape), (5,))

    def test_distributed(self):
        env = {**os.environ, "PYTHONWARNINGS": "ignore"}
        program = [sys.executable, str(ROOT / "examples/python/ddp.py")]
        said = subprocess.run(program, env=env, capture_output=True, text=True, timeout=300)
        self.assertEqual(said.returncode, 0, said.stderr)  # it compares two processes with one
        self.assertRegex(said.stdout, "first gradient: .* of 2 processes, .* of one")


class Errors(Suite):
    def test_arguments(self):
        a, b = rand(3), rand(2)
        e, negated = energy, torch.ones(3, dtype=torch.complex128).conj().imag
        for call, error, message in (
            (lambda: outer(a.float(), b), TypeError, "argument 'a' has elements of float32, the parameter of float64"),
            (lambda: outer(a.bfloat16(), b), TypeError, "C has no bfloat16"),
            (lambda: outer(a.to(torch.complex128), b), TypeError, "complex128"),
            (lambda: outer(a.detach().numpy(), b), TypeError, "argument 'a' has to be a tensor, not ndarray"),
            (lambda: outer([1.0], b), TypeError, "has to be a tensor, not list"),
            (lambda: outer(2.0, b), TypeError, "has to be a tensor, not float"),
            (lambda: outer(a.detach().to_sparse(), b), TypeError, "layout torch.sparse_coo"),
            (lambda: outer(a.detach().to("meta"), b), TypeError, "on device meta"),
            (lambda: outer(negated, b), ValueError, "argument 'a': its elements stand negated"),
            (lambda: outer(a[None], b), ValueError, "rank 1, the array rank 2"),
            (lambda: outer(4, 2, a, b), ValueError, "axis 0 of argument 'a' has 3 elements; with the other arguments it needs 4"),
            (lambda: outer(a), TypeError, r"takes 2 or 4 further arguments \(n, m, a, b\), not 1"),
            (lambda: outer(a, q=b), TypeError, "no argument 'q'"),
            (lambda: outer(a, b, c=a), TypeError, r"no argument 'c' \(the function makes it\)"),
            (lambda: e(a[:1], a), TypeError, r"'k' is a scalar, .* shape \(1,\)"),
            (lambda: e("1", a), TypeError, "'k' is a scalar, .* not str"),
            (lambda: e(None, a), TypeError, "'k' is a scalar, .* not NoneType"),
            (lambda: e(2.5, 1.0, a), TypeError, "'n' has to be an integer"),
            (lambda: add(a, a), RuntimeError, "argument 'x' is written by the kernel, and is a leaf"),
            (lambda: add(a[:1], a[:1]), RuntimeError, "a leaf that requires a gradient, or a view of one"),
            (lambda: add(b, b.detach()), ValueError, "overlap in memory, and `x` is written"),
            (lambda: add(a, torch.zeros(1, dtype=torch.float64).expand(3)), RuntimeError, "single memory location"),
            (lambda: add(a.detach(), torch.zeros(1, dtype=torch.float64).expand(3)), ValueError, "share memory"),
            (lambda: grad(outer(a, b)[1], a, rand(3, 3), is_grads_batched=True), NotImplementedError, "torch.func.jacrev"),
            (lambda: function(kernels.outer, outputs=["q"]), ValueError, "no array 'q' that it writes"),
            (lambda: function(kernels.outer, outputs=["c", "c"]), ValueError, "outputs name 'c' twice"),
            (lambda: function(kernels.outer, outputs={"c": (3, -2)}), ValueError, r"shape \(3, -2\) of 'c' has a negative extent"),
            (lambda: function(kernels.outer, outputs=2), TypeError, "outputs are names, or a dict of shapes"),
            (lambda: function(kernels), TypeError, "a function is made of a kernel, .* not of a Module"),
            (lambda: function(rg.compile_c("void f(int n, const double x[n]) {}").f), ValueError, "would have no value"),
            (lambda: function(kernels.chain, outputs=["x"])(0.5, a[:1]), ValueError, "no array is set whose extents give"),
        ):
            with self.subTest(message):
                kept = a.detach().clone(), b.detach().clone()
                with self.assertRaisesRegex(error, message):
                    call()
                self.close((a.detach(), b.detach()), kept)
        self.close(outer(a, b), outer_in_torch(a, b))  # and it still works

    def test_the_kernel_itself_takes_no_tensors_that_require_gradients(self):
        with self.assertRaises(BufferError):
            kernels.energy(0.5, rand(3))
        with self.assertRaisesRegex(ValueError, "resolve_neg"):
            kernels.energy(0.5, torch.ones(3, dtype=torch.complex128).conj().imag)
        self.assertEqual(kernels.energy(0.5, rand(3).detach()), energy_in_torch(0.5, rand(3)).item())

    def test_import(self):
        code = "import sys, retrograd as rg; assert 'torch' not in sys.modules; rg.torch.function; assert 'torch' in sys.modules"
        subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


if __name__ == "__main__":
    warnings.simplefilter("ignore", DeprecationWarning)
    unittest.main()
