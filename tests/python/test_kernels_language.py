"""The language of kernels: names, loops, functions, and what is refused, beside Python."""

import itertools
import math
import unittest

import numpy as np

import retrograd as rg
from refusals import Language
from retrograd import types


class Names(Language):
    """What a name means, how long, and of which type it is."""

    def test_arms_that_all_assign(self):
        @rg.kernel
        def run(x: int) -> float:
            if x > 0:
                y = 1.0
            elif x < -3:
                if x < -5:
                    y = 5.0
                else:
                    y = 4.0
            elif x == 0:
                return 9.0
            else:
                y = 2.0
            y += 1
            return y
        self.assertEqual([run(x) for x in (1, -1, -4, -6, 0)], [2, 3, 5, 6, 9])

    def test_what_an_if_leaves_behind(self):
        x = rg.field(rg.f64, 4)
        x.from_numpy(np.array([1.0, 2.0, 3.0, 4.0]))

        @rg.kernel
        def under_an_if(c: int, d: int) -> float:
            if c > 0:
                q = 1.0
            else:
                q = 2.0
            if d > 0:
                q = 3.0
            return q
        self.assertEqual([under_an_if(c, d) for c, d in ((0, 0), (1, 0), (1, 1))], [2, 1, 3])

        @rg.kernel
        def in_a_loop(c: int, n: int) -> float:
            if c > 0:
                q = 1.0
            else:
                q = 2.0
            rg.loop_config(serialize=True)
            for k in range(n):
                q = 3 + k
                if q > 4:
                    break
            return q
        self.assertEqual([in_a_loop(1, n) for n in (0, 1, 9)], [1, 3, 5])

        @rg.kernel
        def set_by_threads(c: int, least: float) -> float:
            if c > 0:
                q = 1.0
            else:
                q = 2.0
            for i in x:
                if x[i] > least:
                    q = 3.0
            return q
        self.assertEqual([set_by_threads(0, least) for least in (3.5, 5.0)], [3, 2])

        @rg.kernel
        def known_now(c: int, deep: rg.template()) -> float:
            if c > 0:
                q = 1.0
            else:
                q = 2.0
            if deep:
                q = 3.0
            return q
        self.assertEqual([known_now(1, deep) for deep in (True, False)], [3, 1])

        @rg.kernel
        def raced(c: int) -> float:
            if c > 0:
                q = 1.0
            else:
                q = 2.0
            for i in x:
                q = x[i]
                x[i] += q
            return q
        self.refused(raced, 1, error=rg.SyntaxError_, says="`q` is a variable of the kernel, which all iterations of the parallel loop share", line="q")

    def test_arms_known_now_beside_others(self):
        x, two = rg.field(rg.f64, 4), 2

        @rg.kernel
        def hidden(c: int) -> float:
            s = 0.0
            if c > 0:
                if two > 1:
                    q = rg.Vector([1.0, 2.0])
                    s += q.y
                q = 3.0
            else:
                q = 4.0
            return s + q
        self.assertEqual([hidden(1), hidden(0)], [5, 4])

        @rg.kernel
        def static_in_a_thread(c: int, more: rg.template()) -> float:
            if c > 0:
                q = 1
            else:
                q = 2
            for i in x:
                if rg.static(more > 0 and more != two):
                    q = 0.5 * i
                x[i] = q
            return x[3]
        self.assertEqual(static_in_a_thread(1, 1), 1.5)

    def test_what_is_not_read_behind_an_if_ends_with_it(self):
        x = rg.field(rg.f64, 4)

        @rg.kernel
        def run(c: int) -> float:
            s = 0.0
            if c > 0:
                q = 1
                s += q
            else:
                q = 2
            for i in x:
                q = 0.5 * i
                x[i] = q
            for i in x:
                if c > 0:
                    q = rg.Vector([1.5, 2.5])
                    x[i] += q.y
            for i in x:
                while (q := x[i]) > 3.0:
                    x[i] -= 0.5 * q
            q = 0.25
            while s < 3.0:
                if c > 1:
                    r = 1
                else:
                    r = 2
                r = 1.5
                s += r
            return s + q
        self.assertEqual([run(1), *x.to_numpy()], [4.25, 2.5, 3.0, 1.75, 2.0])

    def test_tuples_are_chosen(self):
        x, y = rg.field(float, (), needs_grad=True), rg.field(float, (), needs_grad=True)

        @rg.kernel
        def run():
            a = x[None]
            far, way = (a * a, rg.Vector([1, 2])) if a > 0 else (-3.0, rg.Vector([4.0, 5.0]))
            pair, other = (far, 1), (2, far)
            first, second = pair if a > 1 else other
            y[None] = far + 10 * way.y + 100 * first + 1000 * second

        for a, value, slope in ((2.0, 4 + 20 + 400 + 1000, 4 + 400), (0.5, 0.25 + 20 + 200 + 250, 1 + 1000), (-1.0, -3 + 50 + 200 - 3000, 0)):
            x[None], x.grad[None], y.grad[None] = a, 0, 1
            run()
            run.grad()
            self.assertEqual((y[None], x.grad[None]), (value, slope))

        @rg.kernel
        def lengths(a: float) -> float:
            p, q = (a, a) if a > 0 else (a, a, a)
            return p
        self.refused(lengths, 1.0, error=rg.TypeError_, says="cannot be chosen at run time", line="(a, a) if a > 0 else (a, a, a)")

    def test_names_end_with_their_block(self):
        @rg.kernel
        def one_arm(x: int) -> int:
            if x > 0:
                y = 1
            return y
        self.refused(one_arm, 1, error=rg.NameError_, says='Name "y" is not defined: it was assigned inside of a block that has ended', line="y")

        @rg.kernel
        def two_types(x: int) -> float:
            if x > 0:
                y = 1.0
            else:
                y = 2
            return y
        self.refused(two_types, 1, error=rg.NameError_, says='Name "y" is not defined: the arms of the `if`', line="y")

        @rg.kernel
        def loop(n: int) -> int:
            for _ in range(n):
                y = 1
            return y
        self.refused(loop, 1, error=rg.NameError_, says='Name "y" is not defined', line="y")

        @rg.kernel
        def siblings(x: int) -> float:
            r = 0.0
            if x > 0:
                y = 1.5
                r = y
            else:
                y = rg.Vector([1.0, 2.0])
                r = y.sum()
            while r < 2.0:
                y = 1
                r += y
            return r
        self.assertEqual([siblings(1), siblings(0)], [2.5, 3.0])

    def test_static_arms(self):
        @rg.kernel
        def run(which: rg.template()) -> float:
            if rg.static(which == 1):
                y = 1.0
            elif rg.static(which == 2):
                y = 2
            else:
                y = this_is(not_compiled, at_all)
            return y
        self.assertEqual([run(1), run(2)], [1.0, 2.0])
        self.refused(run, 3, error=rg.NameError_, says='Name "this_is" is not defined', line="this_is")

    def test_types_are_those_of_the_first_assignment(self):
        @rg.kernel
        def run() -> types.vector(6, float):
            a = 0
            a = 2.7
            a += 1.9
            b: rg.f32 = 3
            b = b / 2
            c = rg.u8(250)
            c += 10
            d = rg.Vector([1, 2])
            d = d * 1.5
            e, f = 1, 0.5
            e, f = f, e
            return rg.Vector([a, b, c, d.sum(), e, f], float)
        self.assertEqual(run().to_list(), [3.0, 1.5, 4.0, 4.0, 0.0, 1.0])

    def test_assignments(self):
        @rg.kernel
        def run(n: int) -> types.vector(6, int):
            a = b = n
            a += 1
            c = (d := n * 3) + 1
            v = rg.Vector([1, 2, 3])
            v[0], v[2] = v[2], v[0]
            w = v
            w[1] = 7
            (p, q), first = (4, 5), 6
            head, *rest = [8, 9, 10]
            return rg.Vector([a * 10 + b, c * 10 + d, v[0] * 100 + v[1] * 10 + v[2], w[1], p * 100 + q * 10 + first, head * 100 + rest[0] + rest[1]])
        self.assertEqual(run(2).to_list(), [32, 76, 321, 7, 456, 819])

        @rg.kernel
        def augmented(x: int, y: float) -> float:
            a, b = x, y
            a //= 2
            a **= 3
            a %= 5
            a <<= 3
            a >>= 1
            a |= 1
            a ^= 3
            a &= 15
            b /= 2
            b **= 2
            b //= 1.5
            b %= 3
            m = rg.Matrix([[1.0, 2.0], [3.0, 4.0]])
            m @= m
            return a + b + m.sum()
        a, b = 7, 7.0
        a //= 2
        a **= 3
        a %= 5
        a <<= 3
        a >>= 1
        a |= 1
        a ^= 3
        a &= 15
        b /= 2
        b **= 2
        b //= 1.5
        b %= 3
        self.assertEqual(augmented(7, 7.0), a + b + 54)

    def test_what_cannot_be_assigned(self):
        @rg.kernel
        def argument(x: int):
            x = 3
        self.refused(argument, 1, says='Kernel argument "x" is immutable', line="x = 3")

        @rg.kernel
        def argument_atomically(x: int):
            rg.atomic_add(x, 3)
        self.refused(argument_atomically, 1, says="atomic_add: the first operand cannot be assigned")

        @rg.kernel
        def index(n: int) -> int:
            i = 3
            for i in range(n):
                pass
            return i
        self.refused(index, 1, says="the loop's index `i` has the name of a variable around it")

        @rg.kernel
        def constant(n: int):
            names = "ab"
            if n > 1:
                names = "c"
        self.refused(constant, 1, error=rg.CompilationError, says="`names` is known when the kernel is compiled", line='names = "c"')

        @rg.kernel
        def function() -> float:
            x = 1.0
            x = rg.sin
            return x
        self.refused(function, error=rg.TypeError_, says="`x` is a variable of run time and cannot become", line="x = rg.sin")

    def test_undefined(self):
        @rg.kernel
        def run(x: int) -> int:
            return x + nowhere
        self.refused(run, 1, error=rg.NameError_, says='Name "nowhere" is not defined', line="nowhere")

    def test_captured_values_are_those_of_the_first_call(self):
        n, f = 3, lambda t: t * 2

        @rg.kernel
        def run(x: int) -> int:
            return f(x) + n
        self.assertEqual(run(1), 5)
        n, f = 4, lambda t: t
        self.assertEqual(run(1), 5)


class Loops(Language):
    def test_variables_that_functions_change_by_reference(self):
        x, y = rg.field(float, 6, needs_grad=True), rg.field(float, (), needs_grad=True)

        @rg.func
        def put(v: rg.template(), i, a):
            v[i] = a

        @rg.func
        def add(s: rg.template(), a):
            s += a

        @rg.func
        def add_square(a, into: rg.template()):
            add(into, a * a)

        @rg.func
        def double(s: rg.template(), a):
            s = s * 2 + a

        @rg.func
        def times(s: rg.template(), a):
            return s * a

        @rg.kernel
        def run():
            v, w, s = rg.Vector([0.0] * 6), rg.Vector([0.0, 0.0]), 0.0
            for i in x:
                put(v, i, x[i] * 2)
            for i in x:
                add_square(v[i], into=s)
                add(w.y, x[i])
                add(w[0], x[i] * x[i])
            for i in x:
                y[None] += times(s, x[i]) + w.dot(w)
        values = np.arange(1, 7)
        x.from_numpy(values)
        y.grad[None] = 1
        run()
        run.grad()
        total, squares = values.sum(), (values**2).sum()
        self.assertEqual(y[None], 4 * squares * total + 6 * (squares**2 + total**2))
        np.testing.assert_array_equal(x.grad.to_numpy(), 4 * (2 * values * total + squares) + 12 * (2 * squares * values + total))

        @rg.kernel
        def shared():
            s = 0.0
            for i in x:
                double(s, x[i])
            y[None] = s
        self.refused(shared, says="`s` is a variable of the kernel", line="double(s, x[i])")

        @rg.kernel
        def read():
            s = 0.0
            for i in x:
                add(s, x[i])
                y[None] += times(s, 1.0)
        self.refused(read, says="`s` is a variable of the kernel", line="s")

    def test_indices_have_a_sign(self):
        x = rg.field(int, 9)

        @rg.kernel
        def run(n: rg.u32, m: rg.u64) -> int:
            s = 0
            rg.loop_config(serialize=True)
            for i in range(n - 1, -1, -1):
                s = s * 10 + i
            for i in range(n):
                x[i] = i - 1
            for i, j in rg.ndrange(m, 2):
                x[5 + j] += i - 1 < 0
            return s
        self.assertEqual((run(4, 3), x.to_numpy().tolist()), (3210, [-1, 0, 1, 2, 0, 1, 1, 0, 0]))

    def test_ndrange_without_axes_is_one_index(self):
        x = rg.field(int, ())

        @rg.kernel
        def run():
            for i in rg.grouped(rg.ndrange()):
                x[i] += 1
            for i in rg.static(rg.grouped(rg.ndrange())):
                x[i] += 10
        run()
        self.assertEqual((x[None], list(rg.ndrange())), (11, [()]))

    def test_entries_of_a_vector_of_the_kernel(self):
        """A loop that sets them runs in order, as Python runs it; one that adds to them is a reduction."""
        rg.init(default_fp=rg.f64)
        x, y = rg.field(float, 30, needs_grad=True), rg.field(float, (), needs_grad=True)

        @rg.kernel
        def run():
            v = rg.Vector([0.0] * 5)
            for i in range(5):
                v[i] = x[i] * x[i + 1]
            for i in range(1, 5):
                v[i] = v[i - 1] * v[i] + v.x
            m = rg.Matrix([[0.0] * 5] * 5)
            for i, j in rg.ndrange(5, 5):
                m[i, j] += v[i] * x[j]
                m[j, i] += x[i]
            w = rg.Vector([0.0] * 20)
            for i in x:
                w[i % 20] += x[i]
            for i in x:
                v[i % 3] += x[i] * w[i % 20]
            y[None] = (m @ v).norm() + w.norm()

        def python(x):
            v, m, w = [x[i] * x[i + 1] for i in range(5)], np.zeros((5, 5)), np.zeros(20)
            for i in range(1, 5):
                v[i] = v[i - 1] * v[i] + v[0]
            for i, j in itertools.product(range(5), range(5)):
                m[i, j] += v[i] * x[j]
                m[j, i] += x[i]
            for i in range(30):
                w[i % 20] += x[i]
            for i in range(30):
                v[i % 3] += x[i] * w[i % 20]
            return np.linalg.norm(m @ v) + np.linalg.norm(w)
        values = np.linspace(-1, 1, 30)
        x.from_numpy(values)
        y.grad[None] = 1
        run()
        run.grad()
        self.assertAlmostEqual(y[None], python(values), places=12)
        steps = np.eye(30) * 1e-6
        np.testing.assert_allclose(x.grad.to_numpy(), [(python(values + d) - python(values - d)) / 2e-6 for d in steps], atol=1e-7)

        S = rg.types.struct(a=float, v=rg.math.vec3)

        @rg.func
        def put(s: rg.template(), i, a):
            s.v[i] = a

        @rg.kernel
        def members() -> float:
            s = S(a=0.5, v=[1, 2, 3])
            for i in range(3):
                s.v[i] = i * i
            for i in range(3):
                put(s, i, s.v[i] + s.v.x + 1)
            return s.v.x * 100 + s.v.y * 10 + s.v.z
        self.assertEqual(members(), 100 + 30 + 6)

        @rg.kernel
        def mixed():
            v, s = rg.Vector([0.0] * 5), 0.0
            for i in range(5):
                v[i] = x[i]
                s = s * 2 + x[i]
            y[None] = s + v.x
        self.refused(mixed, says="`s` is a variable of the kernel", line="s")

    def test_ranges(self):
        @rg.kernel
        def serial(a: int, b: int, s: int) -> int:
            r = 1
            rg.loop_config(serialize=True)
            for i in range(a, b, s):
                r = (r * 31 + i) % 100003
            return r

        @rg.kernel
        def parallel(a: int, b: int, s: int) -> int:
            r = 0
            for i in range(a, b, s):
                r += i * i + 1
            return r

        def python(a, b, s):
            r = 1
            for i in range(a, b, s):
                r = (r * 31 + i) % 100003
            return r
        for bounds in itertools.product((0, -3, 7), (5, -8, 7), (1, 2, -1, -3)):
            self.assertEqual(serial(*bounds), python(*bounds), bounds)
            self.assertEqual(parallel(*bounds), sum(i * i + 1 for i in range(*bounds)), bounds)
        self.assertEqual((serial(0, 5, 0), parallel(0, 5, 0)), (1, 0))

        @rg.kernel
        def constant_steps(n: int) -> int:
            r = 0
            for i in range(n, 0, -2):
                r += i
            for i in range(0, n, 3):
                r += i * 1000
            return r
        self.assertEqual(constant_steps(9), sum(range(9, 0, -2)) + 1000 * sum(range(0, 9, 3)))

        @rg.kernel
        def no_step():
            for i in range(0, 3, 0):
                pass
        self.refused(no_step, error=rg.TypeError_, says="the step of a range must not be 0")

    def test_types_of_bounds(self):
        @rg.kernel
        def wide(a: rg.i64, b: rg.i64) -> rg.i64:
            r = rg.i64(0)
            for i in range(a, b):
                r += i
            return r
        self.assertEqual(wide(2**40, 2**40 + 3), 3 * 2**40 + 3)

        @rg.kernel
        def floats(a: float) -> int:
            r = 0
            for i in range(a):
                r += 1
            return r
        self.assertEqual(floats(3.7), 3)

        @rg.kernel
        def huge(n: rg.u8) -> int:
            r = 0
            for i in range(n):
                r += i
            return r
        self.assertEqual(huge(255), 255 * 127)

    def test_while_break_continue_else(self):
        @rg.kernel
        def run(n: int, m: int) -> int:
            r, i = 0, 0
            while i < 10:
                i += 1
                if i % 3 == 0:
                    continue
                if i > n:
                    break
                for j in range(i):
                    if j == m:
                        break
                    r += j
                else:
                    r += 100
            else:
                r += 10000
            return r

        def python(n, m):
            r, i = 0, 0
            while i < 10:
                i += 1
                if i % 3 == 0:
                    continue
                if i > n:
                    break
                for j in range(i):
                    if j == m:
                        break
                    r += j
                else:
                    r += 100
            else:
                r += 10000
            return r
        for n, m in itertools.product((0, 4, 20), (0, 3, 50)):
            self.assertEqual(run(n, m), python(n, m), (n, m))

    def test_several_axes(self):
        @rg.kernel
        def run(n: int, m: int) -> int:
            r = 0
            for _ in range(1):
                for i, j in rg.ndrange(n, (2, m)):
                    if i * j == 12:
                        break
                    if j == 3:
                        continue
                    r += i * 10 + j
            rg.loop_config(serialize=True)
            for j, i in rg.ndrange(2, 3, axes=(1, 0)):
                r = r * 3 + j * 5 + i
            return r % 100003

        def python(n, m):
            r = 0
            for i, j in itertools.product(range(n), range(2, m)):
                if i * j == 12:
                    break
                if j == 3:
                    continue
                r += i * 10 + j
            for i, j in itertools.product(range(3), range(2)):
                r = r * 3 + j * 5 + i
            return r % 100003
        for n, m in ((0, 5), (3, 2), (4, 5), (5, 5)):
            self.assertEqual(run(n, m), python(n, m))

        @rg.kernel
        def names():
            for i, j, k in rg.ndrange(2, 3):
                pass
        self.refused(names, says="3 names for an index of 2 entries")

    def test_static_loops(self):
        functions = [lambda t: t + 1, lambda t: t * 2]

        @rg.kernel
        def run(n: int) -> int:
            r = 0
            for i in rg.static(range(6)):
                if rg.static(i == 4):
                    break
                if rg.static(i == 1):
                    continue
                if n == i:
                    continue
                r += 10**i
            for f in rg.static(functions):
                r = f(r)
            for i, (a, b) in rg.static(enumerate(zip((1, 2, 3), [4, 5, 6]))):
                r += i * a * b
            for i, j in rg.static(rg.ndrange(2, 2)):
                r += i + j
            for v in [1, n, 3]:
                r += v
            for x in rg.Vector([n, 5]):
                r += x
            return r
        for n in (0, 2, 9):
            r = 1 + 100 + 1000 - (10**n if n < 4 else 0)
            self.assertEqual(run(n), (r + 1) * 2 + 10 + 36 + 4 + 4 + n + n + 5)

        @rg.kernel
        def bound(n: int):
            for i in rg.static(range(n)):
                pass
        self.refused(bound, 3, error=rg.TypeError_, says="the bounds of a static range are known when the kernel is compiled")

    def test_static_or_not(self):
        @rg.kernel
        def run(unrolled: rg.template(), n: int) -> int:
            r = 0
            for i in (rg.static(range(4)) if rg.static(unrolled) else range(n)):
                r += i
            return r
        self.assertEqual([run(True, 2), run(False, 2)], [6, 1])

    def test_loops_over_arrays(self):
        x, y = rg.field(float, (2, 3)), rg.field(float, 3)

        @rg.kernel
        def run(n: int):
            for index in rg.grouped(x):
                x[index] += 10 * index[0] + index.y
            if n > 1:
                for i in y:
                    for a, b in x:
                        y[i] += x[a, b]
                    for index in rg.grouped(rg.ndrange(2, 3)):
                        y[i] += index.sum()
        run(2)
        np.testing.assert_array_equal(x.to_numpy(), [[0, 1, 2], [10, 11, 12]])
        np.testing.assert_array_equal(y.to_numpy(), [36 + 9] * 3)

        @rg.kernel
        def names():
            for i in x:
                pass
        self.refused(names, says="1 name for an index of 2 entries: name each, or use `grouped`")

        @rg.kernel
        def nothing(z: float):
            for i in z:
                pass
        self.refused(nothing, 1.0, error=rg.TypeError_, says="a loop runs over range, ndrange, grouped, static, a field")

    def test_no_break_in_parallel_loops(self):
        @rg.kernel
        def run():
            for i in range(10):
                if i == 3:
                    break
        self.refused(run, says="Cannot break in the outermost loop", line="break")

        @rg.kernel
        def serial() -> int:
            r = 0
            rg.loop_config(serialize=True)
            for i in range(10):
                if i == 3:
                    break
                r += 1
            return r
        self.assertEqual(serial(), 3)

    def test_returns_in_loops(self):
        x = rg.field(int, 6)

        @rg.kernel
        def ends_the_thread():
            for i in x:
                if i % 2:
                    return
                x[i] = i
        ends_the_thread()
        self.assertEqual(x.to_numpy().tolist(), [0, 0, 2, 0, 4, 0])

        @rg.kernel
        def first(n: int) -> int:
            for i in x:
                if x[i] > n:
                    return i
            return -1
        self.assertEqual([first(0), first(3), first(9)], [2, 4, -1])

    def test_hints(self):
        x = rg.field(float, 6)

        @rg.kernel
        def run():
            rg.loop_config(block_dim=64, parallelize=8, block_dim_adaptive=False, name="a")
            rg.block_local(x)
            rg.cache_read_only(x)
            for i in x:
                x[rg.assume_in_range(i, i, 0, 1)] = i
        run()
        self.assertEqual(x.to_numpy().tolist(), list(range(6)))

        @rg.kernel
        def unknown():
            rg.loop_config(threads=3)
        self.refused(unknown, error=rg.TypeError_, says="threads", line="rg.loop_config(threads=3)")

    def test_variables_around_parallel_loops(self):
        x = rg.field(float, 10)
        x.from_numpy(np.arange(10, dtype=np.float32) - 4)
        ball = types.struct(mass=float, at=types.vector(2, float))

        @rg.kernel
        def run(n: int) -> types.vector(10, float):
            s, least, most, product, found, which = 0.0, 1e9, -1e9, 1.0, 0, 7
            count = rg.Vector([0, 0, 0])
            b = ball(mass=1.0, at=[0.0, 0.0])
            for i in x:
                s += x[i]
                s -= 0.5
                rg.atomic_min(least, x[i])
                rg.atomic_max(most, x[i])
                if x[i] > 2:
                    product *= x[i]
                if x[i] > n:
                    found = 1
                which = n + 1
                count[i % 3] += 1
                b.mass += 1
                b.at.y += x[i]
            return rg.Vector([s, least, most, product, found, which, count[0], count[1] * 10 + count[2], b.mass, b.at.y], float)
        v = np.arange(10.0) - 4
        for n, found in ((2, 1), (9, 0)):
            self.assertEqual(run(n).to_list(), [v.sum() - 5, -4, 5, 3 * 4 * 5, found, n + 1, 4, 33, 11, 5])

        @rg.kernel
        def nobody(n: int) -> int:
            s = 5
            for i in range(n):
                s = 1
            return s
        self.assertEqual([nobody(0), nobody(3)], [5, 1])

        @rg.kernel
        def store(n: int) -> int:
            s = 0
            for i in range(n):
                s = i
            return s
        self.refused(store, 3, says="`s` is a variable of the kernel, which all iterations of the parallel loop share", line="s = i")

        @rg.kernel
        def read(n: int) -> int:
            s = 0
            for i in range(n):
                x[i] = s
                s += 1
            return s
        self.refused(read, 3, says="`s` is a variable of the kernel", line="s")

        @rg.kernel
        def in_order(n: int) -> int:
            a, b = 0, 1
            rg.loop_config(serialize=True)
            for _ in range(n):
                a, b = b, a + b
            return a
        self.assertEqual(in_order(10), 55)


class Calls(Language):
    def test_functions(self):
        @rg.func
        def value(v, n=2):
            v[0] += n
            return v.sum()

        @rg.func
        def reference(v: rg.template(), n):
            v[0] += n
            n += 1

        @rg.func
        def many(first, *rest, scale=1.0):
            s = first
            for r in rg.static(rest):
                s += r
            return s * scale, rg.Vector([first, scale])

        @rg.real_func
        def annotated(x: rg.i32, y: float) -> rg.i32:
            return x + y

        @rg.kernel
        def run() -> types.vector(6, float):
            v = rg.Vector([1.0, 2.0])
            a = value(v) + value(v, n=5)
            k = 3
            reference(v, k)
            parts = (1.0, 2.0)
            b, w = many(*parts, 3.0, scale=2.0)
            options = {"scale": 4.0}
            c = many(1.0, **options)[0]
            return rg.Vector([a, v[0], k, b + w.y, c, annotated(2.9, 0.9)])
        self.assertEqual(run().to_list(), [5 + 8, 4, 3, 14, 4, 2])

    def test_early_returns(self):
        @rg.func
        def kind(n):
            if n > 10:
                return 1
            for i in range(5):
                if i * i == n:
                    return i * 0.5
            while True:
                n += 3
                if n > 7:
                    return n

        @rg.func
        def unrolled(n):
            for i in rg.static(range(4)):
                if n > i * 10:
                    continue
                return i
            return 99

        @rg.func
        def nothing(n):
            if n > 3:
                return
            rg.static_assert(True)

        @rg.kernel
        def run(n: int) -> types.vector(2, float):
            nothing(n)
            return rg.Vector([kind(n), unrolled(n)], float)

        def python(n):
            if n > 10:
                return 1
            if n in (0, 1, 4, 9):
                return math.isqrt(n) * 0.5
            while n <= 7:
                n += 3
            return n if n > 7 else n
        for n in (0, 1, 4, 9, 11, 35):
            self.assertEqual(run(n)[0], python(n), n)
        self.assertEqual([run(n)[1] for n in (0, 5, 15, 25, 35)], [0, 1, 2, 3, 99])

        @rg.func
        def forgotten(n):
            if n > 3:
                return n

        @rg.kernel
        def calls(n: int) -> int:
            return forgotten(n)
        self.refused(calls, 1, error=rg.CompilationError, says="`forgotten` returns a value on some ways through it, and none on others")

        @rg.kernel
        def forgets(n: int) -> int:
            if n > 3:
                return n
        self.refused(forgets, 1, error=rg.CompilationError, says="`forgets` returns a value on some ways")

    def test_python_functions(self):
        @rg.pyfunc
        def both(x):
            return x * 2 + 1
        self.assertEqual(both(4), 9)

        def plain(x, f):
            return f(x) + both(x)
        operation = getattr(rg, "abs")

        @rg.kernel
        def run(x: float) -> float:
            return plain(x, operation) + (lambda_ := square(x))
        square = lambda t: t * t  # noqa: E731
        self.assertEqual(run(-3.0), 3 - 5 + 9)

    def test_functions_of_python_and_numpy(self):
        a = np.array([[1.0, 2.0], [3.0, 4.0]])
        step = np.float64(0.01)

        @rg.kernel
        def run(x: float, i: int) -> types.vector(8, float):
            v = rg.Vector([x, 2.0])
            w = a @ v
            s = 0.0
            for p, q in zip(v, w):
                s += p * q
            for k, p in enumerate([x, 1.0]):
                s += k * p
            for p in reversed((x, 1.0)):
                s += p
            q, r = divmod(x, 0.4)
            return rg.Vector([math.sin(x) + np.sqrt(x) + math.pi, math.floor(x) / 2, max([x, 3.0]) + min(v) + max(v), s, any([i > 3, x > 1]), all(v > 1),
                              a[i, 1] + np.float32(i), q + 10 * r + step * x + abs(-x)])
        x, i = 1.5, 1
        v = np.array([x, 2.0])
        expected = [np.sin(x) + np.sqrt(x) + np.pi, 0.5, 5 + x, v @ a @ v + 1 + x + 1, 1, 1, 5, x // 0.4 + 10 * (x % 0.4) + 0.01 * x + x]
        np.testing.assert_allclose(run(x, i).to_list(), expected, rtol=1e-6)

        @rg.kernel
        def numbers(x: float) -> float:
            found.extend(types_of(x * step, x * np.int64(3), i * np.float32(2)))
            return x
        found = []

        def types_of(*values):
            return [getattr(v, "dtype", type(v)) for v in values]
        numbers(1.0)
        self.assertEqual(found[:2], [rg.f32, rg.f32])

    def test_recursion_that_ends_at_compile_time(self):
        x, y = rg.field(float, 9, needs_grad=True), rg.field(float, (), needs_grad=True)

        @rg.real_func
        def tree(f: rg.template(), first: rg.template(), last: rg.template()) -> float:
            if rg.static(first == last):
                return f[first] * f[first]
            return tree(f, first, (first + last) // 2) + tree(f, (first + last) // 2 + 1, last)

        @rg.func
        def determinant(m):  # a shape is known, too
            if rg.static(m.n == 1):
                return m[0, 0]
            total = 0.0
            for j in rg.static(range(m.n)):
                total += (-1) ** j * m[0, j] * determinant(rg.Matrix([[m[r, c] for c in range(m.n) if c != j] for r in range(1, m.n)]))
            return total

        @rg.kernel
        def run():
            y[None] = tree(x, 0, 8) + determinant(rg.Matrix([[x[3 * i + j] for j in range(3)] for i in range(3)]))
        values = np.array([2.0, 1, 0, 3, 1, 2, 1, 0, 4], np.float32)
        m = values.reshape(3, 3).astype(float)
        x.from_numpy(values)
        y.grad[None] = 1
        run()
        run.grad()
        self.assertAlmostEqual(y[None], (m * m).sum() + np.linalg.det(m), places=4)
        np.testing.assert_allclose(x.grad.to_numpy(), (2 * m + np.linalg.det(m) * np.linalg.inv(m).T).reshape(-1), rtol=1e-5)

    def test_recursion_without_an_end(self):
        @rg.func
        def first(x):
            return second(x)

        @rg.func
        def second(x):
            result = 1
            if x > 0:
                result = first(x - 1)
            return result

        @rg.kernel
        def run(x: int) -> int:
            return first(x)
        self.refused(run, 3, says="`second` in itself come to no end", line="second(x)")

    def test_errors_show_the_calls(self):
        @rg.func
        def inner(a):
            return a + rg.Vector([1.0, 2.0, 3.0])

        @rg.func
        def outer(a):
            return inner(a * 2)

        @rg.kernel
        def run():
            v = rg.Vector([1.0, 2.0])
            outer(v)
        with self.assertRaises(rg.TypeError_) as caught:
            run()
        text = str(caught.exception)
        places = [text.index(f"in {name}:") for name in ("run", "outer", "inner")]
        self.assertEqual(places, sorted(places))
        self.assertEqual(text.splitlines()[-1], "shapes (2,) and (3,) do not fit")

    def test_calls_that_are_refused(self):
        @rg.func
        def two(a, b):
            return a + b

        @rg.kernel
        def missing() -> int:
            return two(1)
        self.refused(missing, error=rg.TypeError_, says=r"two\(\): missing a required argument: 'b'", line="two(1)")

        @rg.kernel
        def kernel_in_kernel():
            missing()
        self.refused(kernel_in_kernel, says="a kernel cannot call another kernel: make `missing` a @func", line="missing()")

        @rg.kernel
        def value(x: float) -> float:
            y = x
            return y(3)
        self.refused(value, 1.0, error=rg.TypeError_, says="a value of run time cannot be called", line="y(3)")
        with self.assertRaisesRegex(rg.SyntaxError_, "is a @func: kernels and other functions call it"):
            two(1, 2)

        @rg.kernel
        def no_annotation(x):
            pass
        self.refused(no_annotation, 1, says="argument `x` needs a type annotation")

        @rg.kernel
        def default(x: int = 3):
            pass
        self.refused(default, says="argument `x` has a default value")

        @rg.kernel
        def not_annotated(x: int):
            return x
        self.refused(not_annotated, 1, says="returns a value: annotate its type")

    def test_containers(self):
        @rg.kernel
        def run(n: int) -> int:
            found = []
            for i in rg.static(range(4)):
                found.append(i * n)
            table = {"a": 1, "b": found[2]}
            squares = [v * v for v in found if rg.static(True)]
            names = {k: k + "x" for k in ("p", "q")}
            total = sum(squares) + table["b"] + len(found) + len(names["q"])
            numbers = [0] * 4
            numbers[n] = 5
            for i in range(4):
                total += numbers[i]
            pairs = [(i, j) for i in range(3) for j in range(i)]
            return total + len(pairs)
        for n in (1, 3):
            self.assertEqual(run(n), 14 * n * n + 2 * n + 4 + 2 + 5 + 3)

    def test_membership_and_identity(self):
        @rg.kernel
        def run(a: rg.template()) -> int:
            r = 0
            if rg.static(a in (1, 2)):
                r = 1
            if rg.static(a is None):
                r = 2
            if rg.static(a not in (1, None)):
                r += 10
            return r
        self.assertEqual([run(1), run(5), run(None)], [1, 10, 2])

        @rg.kernel
        def at_run_time(n: int) -> int:
            return 1 if n in (1, 2) else 0
        self.refused(at_run_time, 1, says="`in` and `not in` take what is known", line="n in (1, 2)")

        @rg.kernel
        def not_static(n: int) -> int:
            return rg.static(n)
        self.refused(not_static, 1, error=rg.TypeError_, says="not known when the kernel is compiled", line="rg.static(n)")

    def test_what_kernels_do_not_have(self):
        def cases():
            @rg.kernel
            def tries():
                try:
                    pass
                finally:
                    pass
            yield tries, '"Try".*use `assert` or a flag'

            @rg.kernel
            def withs():
                with open("x"):
                    pass
            yield withs, '"With"'

            @rg.kernel
            def raises():
                raise ValueError
            yield raises, '"Raise".*use `assert`'

            @rg.kernel
            def lambdas() -> int:
                f = lambda x: x  # noqa: E731
                return f(1)
            yield lambdas, '"Lambda".*outside of the kernel'

            @rg.kernel
            def defines():
                def f():
                    pass
            yield defines, '"FunctionDef".*define a @func outside'

            @rg.kernel
            def defines_a_class():
                class A:
                    pass
            yield defines_a_class, '"ClassDef"'

            @rg.kernel
            def imports():
                import os  # noqa: F401
            yield imports, '"Import".*import outside'

            @rg.kernel
            def globals_():
                global somewhere
                somewhere = 1
            yield globals_, '"Global".*use a field'

            @rg.kernel
            def deletes():
                x = 1
                del x
            yield deletes, '"Delete"'

            @rg.kernel
            def sets() -> int:
                s = {1, 2}
                return len(s)
            yield sets, '"Set".*use a tuple'

            @rg.kernel
            def matches(n: int):
                match n:
                    case 1:
                        pass
            yield matches, '"Match".*use `if` and `elif`'

        for kernel, says in cases():
            with self.subTest(kernel.__name__):
                self.refused(kernel, *([1] if kernel.__name__ == "matches" else []), says="Unsupported node " + says)


if __name__ == "__main__":
    unittest.main()
