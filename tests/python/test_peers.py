"""The programs of bench/python/peers.py: gradients of Retrograd beside those of PyTorch and JAX. SPDX-License-Identifier: Apache-2.0"""

import importlib
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "bench" / "python"))

from peers import rows, systems

SMALL = {"ragged": dict(n=100), "ode": dict(n=20), "spheres": dict(rows=16), "bodies": dict(n=20, steps=10),
         "lstm": dict(length=5, batch=3, inputs=7, hidden=9)}


class Peers(unittest.TestCase):
    def test_gradients(self):
        for name, sizes in SMALL.items():
            problem = importlib.import_module(f"peers.{name}")
            data = problem.data(1, **sizes)
            steps = systems.bound(problem, data, "cpu")
            results = {}
            for system, made in {"torch": systems.Torch(problem, data, "cpu"), "retrograd": systems.Retrograd(problem, data, "cpu"),
                                 "jax": systems.Jax(problem, data, "cpu", "scan", steps), "remat": systems.Jax(problem, data, "cpu", "remat", steps)}.items():
                made.call()
                made.call()  # adjoints do not add up
                results[system] = made.results()
            for system in results:
                with self.subTest(problem=name, system=system):
                    self.assertLess(rows.difference(results[system], results["torch"]), problem.TOLERANCE / 10)

    def test_loops_of_a_kernel(self):
        problem = importlib.import_module("peers.lstm")
        data = problem.data(1, **SMALL["lstm"])
        results = []
        for kernel in ("lstm", "lstm_units"):
            made = systems.Retrograd(problem, data, "cpu", kernel=kernel)
            made.call()
            results.append(made.results())
        self.assertLess(rows.difference(*results), 1e-5)

    def test_further(self):
        for name in ("ragged", "lstm"):
            problem = importlib.import_module(f"peers.{name}")
            data = problem.data(1, **SMALL[name])
            kinds = {"torch": systems.Torch, "jax": systems.Jax, "retrograd": systems.Retrograd}
            expected = systems.Torch(problem, data, "cpu")
            expected.call()
            for label, system, what, tolerance in problem.further():
                with self.subTest(problem=name, further=label):
                    made = kinds[system](problem, data, "cpu", **what)
                    made.call()
                    self.assertLess(rows.difference(made.results(), expected.results()), tolerance / 10)


if __name__ == "__main__":
    unittest.main()
