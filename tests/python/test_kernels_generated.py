"""Generated kernels beside an oracle in plain Python, and whether the oracle sees faults. SPDX-License-Identifier: Apache-2.0"""

import math
import os
import unittest

import gen_judge
import gen_kernels
import gen_numbers
import gen_text
from gen_numbers import Scalar, f64
from gen_oracle import Machine

PROGRAM = """
import retrograd as rg
rg.init(default_fp=rg.f64)
N = 4
x = rg.field(rg.f64, N, needs_grad=True, needs_dual=True)
y = rg.ndarray(rg.types.vector(2, rg.f64), N, needs_grad=True, needs_dual=True)
n = rg.field(rg.i32, N)
fill(x, 1, 0.5, 1.5)
fill(y, 2, -1.0, 1.0)
fill(n, 3, 0, 3)

@rg.func
def damped(v, k):
    if v > 1.2:
        return v * 0.5
    return rg.sin(v) + k

@rg.kernel
def run(y: rg.types.ndarray(), a: float) -> float:
    s = 0.0
    for i in x:
        v = x[i]
        for _ in range(n[i]):
            v = damped(v, 0.1) * a
        y[i].x += v ** 2
        s += v
    for i in range(N):
        y[i] *= 0.5
    return s

def main():
    run(y, 1.1)
"""


class Generated(unittest.TestCase):
    def judged(self, text):
        verdict = gen_judge.judge(text)
        self.assertNotIn(verdict.kind, ("failed", "invalid"), f"{verdict.why}\n{text}")
        return verdict

    def test_programs(self):
        passed = 0
        for seed in range(1, 31):
            with self.subTest(seed=seed):
                passed += self.judged(gen_text.program(seed)).kind == "passed"
        self.assertGreater(passed, 18)

    @unittest.skipUnless("RG_FRESH" in os.environ, "RG_FRESH is not set")
    def test_programs_of_today(self):
        first = gen_kernels.first_of_today()
        counts = gen_kernels.Session(range(first, first + 10**7), 2, float(os.environ["RG_FRESH"])).run()
        self.assertEqual(counts["failed"] + counts["invalid"], 0, f"see above; programs from seed {first} on: {dict(counts)}")

    def test_a_name_of_a_comprehension_leaves_no_trace(self):
        text = PROGRAM.replace("s = 0.0\n", "s = rg.Vector([0.5 * n for n in range(2)]).sum() + rg.Vector([v + 0.5 for v in range(3)])[1]\n    k = 2.0\n"
                               "    s += k * rg.Vector([1.5 * k for k in range(2)])[1]\n"
                               "    for i in x:\n        k += x[i] * rg.Vector([1.5 * k for k in range(2)])[1]\n", 1)
        self.assertNotEqual(text, PROGRAM)
        self.assertEqual(self.judged(text).kind, "passed")

    def test_a_loop_under_a_known_condition_may_be_left(self):
        loop = "        for i in range(9):\n            if i > 2:\n                break\n            s = s * 0.5 + x[i]\n"
        text = PROGRAM.replace("    return s\n\n", f"    if N > 3:\n{loop}    return s\n\n", 1)
        self.assertNotEqual(text, PROGRAM)
        self.assertEqual(self.judged(text).kind, "passed")

    def test_unsigned_numbers_are_subtracted(self):
        text = PROGRAM.replace("    return s\n\n", "    for i in n:\n        n[i] -= rg.u8(1)\n    return s\n\n", 1)
        self.assertNotEqual(text, PROGRAM)
        self.assertEqual(self.judged(text).kind, "passed")

    def test_what_programs_print_is_no_verdict(self):
        bench = gen_kernels.Bench()
        self.addCleanup(bench.stop)
        self.assertEqual(bench.judge(PROGRAM.replace("    run(y, 1.1)", "    print('[')\n    run(y, 1.1)", 1))[:2], ["passed", ""])

    def test_equal_products_need_not_cancel(self):
        text = PROGRAM.replace("f64", "f32").replace("y[i].x += v ** 2", "y[i].x += (30.0 * v) * (31.1 * a) - (31.1 * a) * (30.0 * v)", 1)
        self.assertEqual(self.judged(text).kind, "passed")
        expected = gen_judge.Expected(text)
        self.assertGreater(expected.value_spread["y"].min(), 0)

    def test_what_an_if_leaves_behind(self):
        between = "    if s > 0.1:\n        q = 0.5\n    else:\n        q = 0.7\n    if s > 0.2:\n        q = s\n"
        text = PROGRAM.replace("    return s\n\n", f"{between}    return s + q\n\n", 1)
        self.assertNotEqual(text, PROGRAM)
        self.assertEqual(self.judged(text).kind, "passed")
        self.assertEqual(gen_judge.judge(text.replace("q = s", "q = 2")).kind, "invalid")  # what that means, the oracle leaves open

    def test_names_under_a_known_condition_end_with_its_block(self):
        text = PROGRAM.replace("    for i in range(N):\n", "    if N > 3:\n        q = 2\n    q = 2.5\n    s += q\n    for i in range(N):\n", 1)
        self.assertEqual(self.judged(text).kind, "passed")


class Judge(unittest.TestCase):
    """Faults that are put in are seen: the package runs another program than the oracle."""

    def found(self, old, new):
        text = PROGRAM.replace(old, new, 1)
        self.assertNotEqual(text, PROGRAM)
        try:
            gen_judge.compare(gen_judge.Expected(PROGRAM), text, "<program>")
        except gen_judge.Wrong as wrong:
            return str(wrong)
        finally:
            gen_judge.retrograd.reset()
        return ""

    def test_the_program_passes(self):
        self.assertEqual(gen_judge.judge(PROGRAM).kind, "passed")

    def test_values(self):
        self.assertRegex(self.found("rg.sin(v) + k", "rg.sin(v) + 1.0000001 * k"), "forward: value of")
        self.assertRegex(self.found("return s", "return s + 1e-9"), "forward: value of result 0")

    def test_tangents(self):
        self.assertRegex(self.found("v ** 2", "rg.stop_grad(v) ** 2"), "jvp: tangent of y")

    def test_adjoints(self):
        expected = gen_judge.Expected(PROGRAM)
        expected.slopes["y"][3] += 1e-6
        run = gen_judge.Run(PROGRAM, "<program>")
        self.addCleanup(gen_judge.retrograd.reset)
        run.main(run.forward)
        weights = {n: gen_judge.np.ones(a.to_numpy().shape) for n, a in run.active.items()}
        for n, a in run.active.items():
            a.grad.from_numpy(weights[n])
        kernel, args, before = run.launches[0]
        run.restore(before)
        kernel.forward_grad(*args)
        with self.assertRaisesRegex(gen_judge.Wrong, "combined: adjoints"):
            gen_judge.adjoints_are(expected, run, "combined", weights)
        expected.slopes["y"][3] -= 1e-6
        gen_judge.adjoints_are(expected, run, "combined", weights)

    def test_what_jumps_is_left_out(self):
        for line in ("x[i] > x[i] * (1.0 + 1e-8)", "int(x[i] * 0.0 + 3.0 + 1e-9 * x[i]) == 3"):
            text = PROGRAM.replace("y[i].x += v ** 2", f"y[i].x += v ** 2 if {line} else 0.0", 1)
            self.assertEqual(gen_judge.judge(text).kind, "undefined", line)


class Numbers(unittest.TestCase):
    """The oracle's derivatives beside differences of its own values."""

    def test_derivatives(self):
        n = gen_numbers
        cases = [(f, x) for f in (n.sin, n.cos, n.tan, n.asin, n.acos, n.atan, n.tanh, n.exp, n.log, n.sqrt, n.rsqrt, abs) for x in (0.3, 0.7)]
        cases += [(lambda v: v * v / (v + 2.0), 0.4), (lambda v: v**3, -0.7), (lambda v: v**-2, 0.7), (lambda v: (v + 1.0) ** v, 0.6), (lambda v: v % 0.4, 0.7),
                  (lambda v: v // 0.4, 0.7), (lambda v: n.atan2(v, v * v + 0.3), 0.5), (lambda v: n.minimum(v, v * v), 0.5), (lambda v: n.maximum(v, v * v, 0.1), 0.5),
                  (lambda v: n.select(v > 0.2, v * v, v), 0.5), (lambda v: n.Vector([v, v * v, 1.0]).norm(0.5), 0.5), (n.floor, 0.3),
                  (lambda v: n.Vector([[v, 1.0], [v * v, 2.0]]).determinant(), 0.5), (lambda v: (n.Vector([[v, 1.0], [v * v, 2.0]]) @ n.Vector([v, v])).sum(), 0.5)]
        gen_numbers.world.__init__()
        for k, (f, x) in enumerate(cases):
            h = 1e-6
            slope = (f(Scalar(f64, x + h)).v - f(Scalar(f64, x - h)).v) / (2 * h)
            self.assertAlmostEqual(f(Scalar(f64, x, 1.0)).d, slope, delta=1e-7 * (1 + abs(slope)), msg=f"case {k}")

    def test_integers(self):
        i, u = gen_numbers.i32, gen_numbers.u8
        self.assertEqual((Scalar(i, -7) // 2).v, -4)
        self.assertEqual((Scalar(i, -7) % 2).v, 1)
        self.assertEqual((Scalar(i, 2**31 - 1) + 1).v, -(2**31))
        self.assertEqual((Scalar(u, 200) + Scalar(u, 100)).v, 44)
        self.assertEqual((Scalar(u, 200) + 100).v, 300)

    def test_the_machine_is_python_where_python_is_the_same(self):
        names = Machine(PROGRAM).run()
        given, counts, s = [], [e.v for e in names["n"].data], 0.0
        fresh = Machine(PROGRAM.replace("run(y, 1.1)", "pass")).run()
        for k, v in enumerate(e.v for e in fresh["x"].data):
            for _ in range(counts[k]):
                v = (v * 0.5 if v > 1.2 else math.sin(v) + 0.1) * 1.1
            given.append((fresh["y"].data[2 * k].v + v**2) * 0.5)
            s += v
        self.assertEqual([e.v for e in names["y"].data[::2]], given)


if __name__ == "__main__":
    unittest.main()
