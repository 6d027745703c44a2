"""The packages `quadrants` and `taichi` of tests/python/shim: their names over Retrograd."""

import copy
import os
import sys
import unittest
from unittest import mock

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "shim"))
import quadrants as qd
import quadrants.lang.impl
import taichi as ti
from quadrants._lib import core
from quadrants.lang import cpu, cuda, gpu, impl
from quadrants.lang.exception import QuadrantsRuntimeTypeError, QuadrantsSyntaxError
from quadrants.lang.misc import get_host_arch_list, is_arch_supported, is_extension_supported
from quadrants.lang.util import has_pytorch
from quadrants.types.enums import AutodiffMode, SNodeGradType

import retrograd as rg


class Names(unittest.TestCase):
    def tearDown(self):
        qd.reset()

    def test_names_are_the_same_objects(self):
        for package in (qd, ti):
            for name in ("kernel", "func", "field", "Vector", "f32", "sin", "static", "ndrange", "cpu", "gpu", "extension", "template"):
                self.assertIs(getattr(package, name), getattr(rg, name))
            self.assertIs(package.types.ndarray, rg.types.ndarray)
            with self.assertRaisesRegex(AttributeError, "nonsense"):
                package.nonsense
            with self.assertRaises(ModuleNotFoundError):
                __import__(f"{package.__name__}.lang.nonsense")
        self.assertEqual((cpu, cuda, gpu), (rg.cpu, rg.cuda, rg.gpu))

    def test_errors_have_prefixes(self):
        for package, prefix in ((qd, "Quadrants"), (ti, "Taichi")):
            for name, ours in (("SyntaxError", rg.SyntaxError_), ("CompilationError", rg.CompilationError), ("NameError", rg.NameError_),
                               ("IndexError", rg.IndexError_), ("TypeError", rg.TypeError_), ("RuntimeError", rg.RuntimeError_),
                               ("RuntimeTypeError", rg.RuntimeTypeError), ("AssertionError", rg.AssertionError_)):
                self.assertIs(getattr(package, prefix + name), ours)
                self.assertIs(getattr(package.lang.exception, prefix + name), ours)
        self.assertIs(QuadrantsSyntaxError, rg.SyntaxError_)
        self.assertIs(QuadrantsRuntimeTypeError, rg.RuntimeTypeError)

    def test_what_a_harness_asks_for(self):
        self.assertIs(core.arch_from_name("cuda"), rg.cuda)
        self.assertTrue(core.is_extension_supported(rg.cpu, qd.extension.adstack))
        self.assertFalse(is_extension_supported(rg.cpu, qd.extension.sparse))
        self.assertTrue(is_arch_supported(cpu))
        self.assertIn(cpu, get_host_arch_list())
        self.assertIsInstance(has_pytorch(), bool)
        self.assertIs(copy.deepcopy(AutodiffMode.REVERSE), AutodiffMode.REVERSE)
        self.assertNotEqual(SNodeGradType.ADJOINT, SNodeGradType.DUAL)
        self.assertIs(quadrants.lang.impl, impl)

    def test_a_program(self):
        ti.init(arch=ti.cpu)
        x, loss = ti.field(ti.f32, shape=4, needs_grad=True), ti.field(ti.f32, shape=(), needs_grad=True)

        @ti.kernel
        def energy():
            for i in x:
                loss[None] += x[i] ** 2

        x.fill(3)
        energy()
        loss.grad[None] = 1
        energy.grad()
        self.assertEqual((loss[None], list(x.grad.to_numpy())), (36, [6, 6, 6, 6]))


class Refusals(unittest.TestCase):
    """Off by default: what Quadrants refuses has a gradient."""

    def tearDown(self):
        qd.init()
        qd.reset()

    def gradients(self, **options):
        """Of kernels that Quadrants refuses: the gradient, or the class of the refusal."""
        found = []
        for number in range(5):
            qd.init(default_fp=qd.f64, **options)
            x, y = qd.field(float, shape=(), needs_grad=True), qd.field(float, shape=(), needs_grad=True)
            z = qd.field(float, shape=4, needs_grad=True)

            @qd.func
            def power(a):
                v = 1.0
                for _ in range(3):
                    v *= a
                return v

            @qd.kernel
            def chain():
                for i in range(3):
                    z[i + 1] = z[i] * x[None]
                y[None] = z[3]

            @qd.kernel
            def run():
                for _ in range(2) if qd.static(number != 0) else qd.static(range(2)):
                    if qd.static(number < 2):
                        y[None] += power(x[None])
                    elif qd.static(number == 2):
                        v = x[None]
                        while v < 10.0:
                            v *= 2.0
                        y[None] += v
                    else:
                        y[None] += x[None] * qd.random()

            x[None], z[0] = 3.0, 1.0
            try:
                with qd.ad.Tape(loss=y):
                    (run if number < 4 else chain)()
                found.append(x.grad[None])
            except (RuntimeError, qd.QuadrantsCompilationError) as error:
                found.append(str(error))
        return found

    def test_without_the_option(self):
        loop, nested, endless, random, _ = self.gradients()
        self.assertEqual((loop, nested, endless), (54.0, 54.0, 8.0))
        self.assertTrue(0 <= random < 2)

    def test_with_it(self):
        loop, nested, endless, random, chain = self.gradients(refuse_like_quadrants=True)
        self.assertEqual(loop, 54.0)
        self.assertIn("non static range", nested)
        self.assertIn("while", endless)
        self.assertIn("Rand", random)
        self.assertIn("Cross-iteration", chain)
        _, nested, endless, _, _ = self.gradients(refuse_like_quadrants=True, ad_stack_experimental_enabled=True)
        self.assertEqual(nested, 54.0)
        self.assertIn("while", endless)


class Options(unittest.TestCase):
    def tearDown(self):
        qd.reset()

    def test_options_without_a_meaning_are_dropped(self):
        qd.init(arch=qd.cpu, debug=True, ad_stack_size=32, ad_stack_experimental_enabled=True, default_fp=qd.f64)
        self.assertEqual((rg.cfg.debug, rg.cfg.default_fp), (True, rg.f64))
        options = impl.current_cfg()
        self.assertEqual((options.arch, options.default_fp, options.ad_stack_size, options.ad_stack_experimental_enabled), (rg.cpu, rg.f64, 32, True))
        self.assertIs(impl.get_runtime().prog.config().arch, rg.cpu)
        with self.assertRaisesRegex(KeyError, "ad_stack_size"):
            rg.init(ad_stack_size=32)
        qd.init()
        self.assertEqual((options.ad_stack_size, options.debug), (0, False))

    def test_unknown_options_are_refused(self):
        with self.assertRaisesRegex(KeyError, "foo_bar"):
            qd.init(debug=True, foo_bar=233)

    def test_the_environment(self):
        with mock.patch.dict(os.environ, QD_OFFLINE_CACHE="0", QD_DEBUG="1", QD_OFFLINE_CACHE_CLEANING_POLICY="never"):
            qd.init()
            self.assertEqual((rg.cfg.offline_cache, rg.cfg.debug), (False, True))
            qd.init(debug=False)
            self.assertFalse(rg.cfg.debug)
            ti.init()
            self.assertEqual((rg.cfg.offline_cache, rg.cfg.debug), (True, False))


if __name__ == "__main__":
    unittest.main()
