"""The runtime of kernels in Python: options, resets, what is compiled when, and errors."""

import contextlib
import copy
import gc
import io
import os
import pickle
import re
import subprocess
import sys
import tempfile
import textwrap
import traceback
import unittest
import warnings
from unittest import mock

import numpy as np

import retrograd as rg
import retrograd.types as types


def resident():
    """Bytes of memory that the process has."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class Options(unittest.TestCase):
    def tearDown(self):
        rg.reset()

    def test_defaults(self):
        rg.init()
        self.assertIs(rg.cfg.arch, rg.cpu)
        self.assertEqual(rg.cpu.name, "arm64" if os.uname().machine == "aarch64" else "x64")
        self.assertEqual((rg.cfg.default_fp, rg.cfg.default_ip, rg.cfg.default_up), (rg.f32, rg.i32, rg.u32))
        self.assertEqual((rg.cfg.debug, rg.cfg.fast_math, rg.cfg.offline_cache, rg.cfg.unrolling_limit), (False, False, True, 32))

    def test_options_last_until_the_next_init(self):
        rg.init(debug=True, random_seed=7, default_ip=rg.i64)
        self.assertEqual((rg.cfg.debug, rg.cfg.random_seed, rg.cfg.default_up), (True, 7, rg.u64))
        rg.init()
        self.assertEqual((rg.cfg.debug, rg.cfg.random_seed, rg.cfg.default_up), (False, 0, rg.u32))

    def test_unknown_options_are_named_and_change_nothing(self):
        rg.init(random_seed=3)
        x = rg.field(float, 2)
        for name in ("debgu", "ad_stack_size", "arch_name", "checked"):
            with self.assertRaisesRegex(KeyError, name):
                rg.init(debug=True, **{name: 1})
        self.assertEqual((rg.cfg.random_seed, rg.cfg.debug, x[1]), (3, False, 0.0))

    def test_values_of_options_are_checked(self):
        for options in ({"debug": 1}, {"random_seed": "7"}, {"cpu_max_num_threads": -1}, {"offline_cache_file_path": 3}, {"log_level": None}):
            with self.assertRaisesRegex(TypeError, next(iter(options))):
                rg.init(**options)
        for options in ({"default_fp": rg.i32}, {"default_ip": rg.f32}, {"default_fp": "f64"}):
            with self.assertRaisesRegex(TypeError, next(iter(options))):
                rg.init(**options)

    def test_default_types(self):
        for fp, ip in ((rg.f32, rg.i32), (rg.f64, rg.i64)):
            rg.init(default_fp=fp, default_ip=ip)

            @rg.kernel
            def third(a: int) -> float:
                return (a + 1) / 3

            big = 2**31 - 1
            expected = (np.int64(big) + 1) / 3 if ip is rg.i64 else np.float32(-(2**31)) / np.float32(3)
            self.assertEqual(third(big), expected)
            self.assertEqual((rg.field(float, 1).dtype, rg.field(int, 1).dtype), (fp, ip))

    def test_one_line_says_what_runs(self):
        for options, lines in (({"log_level": "info"}, 1), ({"log_level": "info", "verbose": False}, 0), ({}, 0)):
            with contextlib.redirect_stdout(io.StringIO()) as out:
                rg.init(**options)
            self.assertEqual(out.getvalue().count("\n"), lines)
            self.assertEqual(f"arch={rg.cpu.name}" in out.getvalue(), lines == 1)

    def test_short_circuit_operators(self):
        for options, calls in (({}, 2), ({"short_circuit_operators": False}, 4)):
            rg.init(**options)
            x = rg.field(int, ())

            @rg.func
            def count(result: int) -> int:
                x[None] += 1
                return result

            @rg.kernel
            def run(a: int) -> int:
                return (a > 0 and count(1) > 0) + 10 * (a + 3 or count(7)) + 100 * (a < 0 and count(0)) + 1000 * (a == 0 or count(1) > 0)

            self.assertEqual(run(2), 1 + 50 + 0 + 1000)
            self.assertEqual(x[None], calls)

    def test_long_static_loops_are_warned_of(self):
        @rg.kernel
        def run(n: rg.template()) -> int:
            s = 0
            for i in rg.static(range(n)):
                s += i
            return s

        for options, n, warned in (({}, 32, 0), ({}, 33, 1), ({"unrolling_limit": 0}, 50, 0), ({"unrolling_limit": 3}, 4, 1)):
            rg.init(offline_cache=False, **options)
            with warnings.catch_warnings(record=True) as seen:
                warnings.simplefilter("always")
                self.assertEqual(run(n), n * (n - 1) // 2)
            self.assertEqual(len(seen), warned, (options, n))
            if warned:
                self.assertRegex(str(seen[0].message), rf"(?s)test_kernels_runtime.py.*for i in rg.static.*{n} copies.*unrolling_limit=0")

    def test_print_ir(self):
        rg.init(print_ir=True)

        @rg.kernel
        def halves(a: float) -> float:
            return a / 2

        with contextlib.redirect_stdout(io.StringIO()) as out:
            self.assertEqual(halves(3.0), 1.5)
            halves(4.0)
        self.assertEqual(len(re.findall("halves", out.getvalue())), 1)

    def test_tracebacks_of_errors_in_kernels(self):
        def frames(**options):
            rg.init(**options)

            @rg.kernel
            def run():
                undefined()  # noqa: F821

            try:
                run()
            except rg.NameError_ as error:
                return len(traceback.extract_tb(error.__traceback__)), error.__cause__, str(error)

        short, cause, text = frames()
        self.assertEqual((short < 6, cause), (True, None))
        self.assertRegex(text, r'(?s)test_kernels_runtime.py.*undefined\(\).*\^+\n.*"undefined" is not defined')
        long, _, again = frames(print_full_traceback=True)
        self.assertGreater(long, short)
        self.assertEqual(again, text)

    def test_values_survive_copies(self):
        values = [rg.cpu, rg.cuda, rg.gpu, rg.f32, rg.u1, rg.i64, rg.extension.adstack]
        for again in (copy.deepcopy(values), pickle.loads(pickle.dumps(values))):
            self.assertEqual(again, values)
            self.assertEqual([hash(v) for v in again if not isinstance(v, list)], [hash(v) for v in values if not isinstance(v, list)])
        self.assertEqual(len({rg.f32, rg.float32, copy.copy(rg.f32), rg.f64}), 2)
        self.assertTrue(all(bool(a) for a in (rg.cpu, rg.cuda, rg.vulkan)))


class Devices(unittest.TestCase):
    def tearDown(self):
        rg.reset()

    def test_a_device_that_is_missing(self):
        self.assertFalse(rg.is_arch_supported(rg.metal))
        self.assertTrue(rg.is_arch_supported(rg.cpu))
        with self.assertRaisesRegex(RuntimeError, "metal"):
            rg.init(rg.metal, enable_fallback=False)
        rg.init(rg.metal)
        self.assertIs(rg.cfg.arch, rg.cpu)

    def test_the_first_of_a_list_that_is_there(self):
        rg.init([rg.metal, rg.simt, rg.cpu], enable_fallback=False)
        self.assertIs(rg.cfg.arch, rg.simt)
        x = rg.field(float, 5)

        @rg.kernel
        def run():
            for i in x:
                x[i] = i + 0.5

        run()
        np.testing.assert_array_equal(x.to_numpy(), np.arange(5) + 0.5)
        rg.init([rg.metal])
        self.assertIs(rg.cfg.arch, rg.cpu)

    def test_names_and_the_environment(self):
        rg.init("cpu")
        self.assertIs(rg.cfg.arch, rg.cpu)
        with mock.patch.dict(os.environ, RG_ARCH="simt"):
            rg.init(rg.cpu)
            self.assertIs(rg.cfg.arch, rg.simt)
        with mock.patch.dict(os.environ, RG_ARCH="cdua"), self.assertRaisesRegex(ValueError, "RG_ARCH.*cuda.*'?cdua"):
            rg.init()
        for wrong in (5, "cdua", [], [rg.cpu, None], rg.f32):
            with self.assertRaisesRegex(ValueError, "arch is one"):
                rg.init(wrong)

    def test_extensions(self):
        for arch in (rg.cpu, rg.cuda):
            self.assertTrue(all(rg.is_extension_supported(arch, e) for e in (rg.extension.adstack, rg.extension.data64, rg.extension.assertion)))
            self.assertFalse(any(rg.is_extension_supported(arch, e) for e in (rg.extension.sparse, rg.extension.quant, rg.extension.mesh)))
        self.assertTrue(rg.is_extension_supported(rg.vulkan, rg.extension.data64))
        self.assertFalse(rg.is_extension_supported(rg.vulkan, rg.extension.assertion))


class Missing(unittest.TestCase):
    """What is not supported says so, and what takes its place."""

    def test_names(self):
        for where, name, text in ((rg, "linalg", "SciPy"), (rg, "sparse", "dense"), (rg, "GUI", "matplotlib"), (rg.types, "quant", "quantised"),
                                  (rg.simt, "block", "threads of a block"), (rg, "TetMesh", "fields of indices"), (rg, "create_stream", "in their order"),
                                  (rg, "graph_do_while", "`while` in the kernel"), (rg, "nonsense", "'nonsense'$")):
            self.assertFalse(hasattr(where, name))
            with self.assertRaisesRegex(AttributeError, f"has no attribute '{name}'" if text.endswith("$") else text):
                getattr(where, name)

    def test_in_kernels(self):
        rg.init()

        @rg.kernel
        def run():
            for i in range(3):
                rg.simt.block.sync()

        with self.assertRaisesRegex(rg.CompilationError, r"(?s)rg.simt.block.sync\(\)\n +\^+\n.*operations of the threads of a block are not supported"):
            run()
        with self.assertRaisesRegex(RuntimeError, "`pointer` is not supported"):
            rg.root.pointer(rg.i, 4)
        rg.reset()


class Resets(unittest.TestCase):
    def tearDown(self):
        rg.reset()

    def test_nothing_works_before_init(self):
        rg.reset()
        for make in (lambda: rg.field(float, 3), lambda: rg.ndarray(float, 3)):
            with self.assertRaisesRegex(RuntimeError, r"init\(\)"):
                make()

        @rg.kernel
        def run() -> int:
            return 1

        with self.assertRaisesRegex(RuntimeError, r"init\(\)"):
            run()
        rg.init()
        self.assertEqual(run(), 1)

    def test_arrays_of_before_are_refused(self):
        rg.init()
        x, y, later = rg.field(float, 3, needs_grad=True), rg.ndarray(float, 3), rg.field(float, 3)
        x.fill(1)

        @rg.kernel
        def total(a: types.ndarray()) -> float:
            s = 0.0
            for i in x:
                s += x[i] + a[i]
            return s

        self.assertEqual(total(y), 3)
        rg.init()
        for use in (lambda: x[0], lambda: y[0], lambda: later[0], x.to_numpy, lambda: x.grad[1], lambda: x.fill(2), lambda: total(y),
                    lambda: total(rg.ndarray(float, 3))):
            with self.assertRaisesRegex(RuntimeError, "before `reset\\(\\)` or `init\\(\\)`"):
                use()
        del x, y, later, total
        gc.collect()
        rg.sync()

    def test_kernels_are_compiled_anew(self):
        @rg.kernel
        def half(a: int) -> float:
            return a / 2

        rg.init()
        self.assertEqual(half(16777217), np.float32(16777217) / 2)
        rg.init(default_fp=rg.f64)
        self.assertEqual(half(16777217), 16777217 / 2)

    def test_memory_is_freed(self):
        kept, before = [], resident()
        for _ in range(20):
            rg.init()
            kept.append((rg.field(float, 1 << 22, needs_grad=True), rg.ndarray(float, 1 << 22)))
            for x in kept[-1]:
                x.fill(1)
        self.assertLess(resident() - before, 200 << 20)  # one cycle has 48 MB

    def test_cycles_leak_nothing(self):
        def cycles(n):
            for _ in range(n):
                rg.init(cpu_max_num_threads=2)
                rg.field(float, 10, needs_grad=True)[3] = 1
                rg.reset()

        cycles(100)
        before = resident()
        cycles(1000)
        self.assertLess(resident() - before, 4 << 20)


class Times(unittest.TestCase):
    """What happens when."""

    def setUp(self):
        rg.init(offline_cache=False)

    def tearDown(self):
        rg.reset()

    def test_a_field_without_a_place_fails_only_where_it_is_used(self):
        x, lost = rg.field(float, 3), rg.field(float, name="lost")

        @rg.kernel
        def good():
            for i in x:
                x[i] += 1

        @rg.kernel
        def bad():
            lost[None] = 1

        good()
        for use in (bad, lambda: lost[None], lost.to_numpy):
            with self.assertRaisesRegex(Exception, r"'lost' declared at .*test_kernels_runtime.py:\d+ has not been placed"):
                use()
        good()
        np.testing.assert_array_equal(x.to_numpy(), [2, 2, 2])

    def test_fields_are_declared_at_any_time(self):
        @rg.kernel
        def copy_of(a: rg.template(), b: rg.template()):
            for i in a:
                b[i] = a[i] * 2

        x, y = rg.field(float, 3), rg.field(float, 3)
        x.from_numpy(np.float32([1, 2, 3]))
        copy_of(x, y)
        z = rg.field(float, 3)
        copy_of(y, z)
        np.testing.assert_array_equal(z.to_numpy(), [4, 8, 12])

    def test_captured_numbers_are_those_of_the_first_call(self):
        factor = 3

        @rg.kernel
        def run() -> int:
            return factor

        self.assertEqual(run(), 3)
        factor = 5
        self.assertEqual(run(), 3)
        rg.init()
        self.assertEqual(run(), 5)

    def test_numbers_of_objects_are_those_of_the_launch(self):
        for decorate in (rg.data_oriented, rg.data_oriented(), rg.data_oriented(template_primitives=False)):
            @decorate
            class Rows:
                def __init__(self, n):
                    self.n, self.x = n, rg.field(int, 5)

                @rg.kernel
                def count(self):
                    for i in range(self.n):
                        self.x[i] += 1

            rows = Rows(2)
            for n in (2, 5, 3):
                rows.n = n
                rows.count()
            np.testing.assert_array_equal(rows.x.to_numpy(), [3, 3, 2, 1, 1])

    def test_what_the_compiled_kernel_depends_on(self):
        built = []

        @rg.kernel
        def run(a: types.ndarray(), n: int):
            rg.static(built.append(1))
            for i in range(n):
                a[i] = i

        for dtype, size in ((np.float32, 3), (np.float32, 30), (np.float64, 3), (np.float32, 5)):
            a = np.zeros(size, dtype)
            run(a, size)
            np.testing.assert_array_equal(a, np.arange(size))
        self.assertEqual(len(built), 2)  # one for each dtype; sizes and scalars do not count


class Errors(unittest.TestCase):
    def tearDown(self):
        rg.reset()

    def test_classes(self):
        for error, *bases in ((rg.CompilationError, Exception), (rg.SyntaxError_, rg.CompilationError, SyntaxError),
                              (rg.NameError_, rg.CompilationError, NameError), (rg.IndexError_, rg.CompilationError, IndexError),
                              (rg.TypeError_, rg.CompilationError, TypeError), (rg.RuntimeError_, RuntimeError),
                              (rg.RuntimeTypeError, rg.RuntimeError_, TypeError), (rg.AssertionError_, rg.RuntimeError_, AssertionError),
                              (rg.DeviceError, rg.RuntimeError_)):
            for base in bases:
                self.assertTrue(issubclass(error, base), (error, base))

    def test_arguments_of_the_wrong_type(self):
        rg.init()

        @rg.kernel
        def run(n: int, a: float) -> float:
            return n + a

        self.assertEqual(run(1, 2), 3)
        self.assertEqual(run(np.int64(1), np.float32(2)), 3)
        for n, a in ((1.5, 1.0), (np.float64(1), 1.0), ("1", 1.0), (1, None), (1, [1.0])):
            with self.assertRaisesRegex(rg.RuntimeTypeError, "argument '[na]'"):
                run(n, a)
        with self.assertRaisesRegex(TypeError, "takes 2 arguments"):
            run(1)

    def test_the_runtime_goes_on_after_a_failed_assertion(self):
        rg.init(debug=True)
        x = rg.field(float, 4, name="heights")

        @rg.kernel
        def check(limit: float):
            for i in x:
                assert x[i] < limit, "too high"

        @rg.kernel
        def beyond(n: int):
            for i in range(n):
                x[i] = 2

        with self.assertRaisesRegex(AssertionError, "too high"):
            check(-1.0)
            rg.sync()
        with self.assertRaisesRegex(rg.RuntimeError_, "heights.*4"):
            beyond(9)
            rg.sync()
        with self.assertRaisesRegex(AssertionError, "heights"):
            x[4]
        rg.sync()
        beyond(4)
        check(3.0)
        np.testing.assert_array_equal(x.to_numpy(), [2, 2, 2, 2])

    def test_arrays_have_the_names_that_the_source_gives_them(self):
        rg.init(debug=True)
        heights, other = rg.field(float, 3, needs_grad=True), rg.field(float, 3)

        class Body:
            def __init__(self):
                self.mass = rg.field(float, 3)

            @rg.kernel
            def fill(self, n: int):
                for i in range(n):
                    self.mass[i] = 1

        @rg.kernel
        def fill(n: int):
            for i in range(n):
                heights[i] = 1

        @rg.kernel
        def fill_grad(n: int):
            for i in range(n):
                heights.grad[i] = 1

        @rg.kernel
        def through():
            for i in heights:
                other[i] = heights[i] * 2
                heights[i] = other[i]

        for kernel, name in ((fill, "heights"), (fill_grad, "heights_grad"), (Body().fill, "mass")):
            with self.assertRaisesRegex(AssertionError, f"array `{name}`, extent 3"):
                kernel(4)
                rg.sync()
        with self.assertRaisesRegex(rg.CompilationError, "`other` carries a value that is being differentiated"):
            through.grad()

    def test_assertions_are_for_debugging(self):
        rg.init()

        @rg.kernel
        def run(a: int):
            assert a > 0

        run(-1)
        rg.sync()

    def test_conditions_of_assertions_are_evaluated(self):
        for debug in (False, True):
            rg.init(debug=debug)
            x = rg.field(int, ())

            @rg.func
            def count() -> int:
                x[None] += 1
                return x[None]

            @rg.kernel
            def run():
                assert count() > 0

            run()
            self.assertEqual(x[None], 1)

    def test_a_process_ends_well_after_a_caught_error(self):
        program = """
            import retrograd as rg

            rg.init(debug=True)
            x = rg.field(float, 3)

            @rg.kernel
            def run():
                for i in range(5):
                    x[i] = 1

            try:
                run()
                rg.sync()
            except AssertionError as error:
                print("caught")
        """
        path = os.path.join(self.enterContext(tempfile.TemporaryDirectory()), "program.py")
        with open(path, "w") as file:
            file.write(textwrap.dedent(program))
        done = subprocess.run([sys.executable, path], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout), (0, "caught\n"), done.stderr)


if __name__ == "__main__":
    unittest.main()
