"""The package as a guest in a process: threads, signals, forks, prints, progress, leaks, the process's end. SPDX-License-Identifier: Apache-2.0"""

import contextlib
import copy
import ctypes
import gc
import importlib.util
import io
import multiprocessing
import os
import pickle
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
import tracemalloc
import unittest
import warnings
from pathlib import Path

import numpy as np

import retrograd as rg

SOURCE = """
#include <math.h>
#include <stdio.h>
void sines(int n, const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = sin(x[i]);
}
void square(int n, double x[n]) { for (int i = 0; i < n; i++) x[i] = x[i] * x[i]; }
double cubes(int n, const double x[n]) { double s = 0; for (int i = 0; i < n; i++) s += x[i] * x[i] * x[i]; return s; }
void say(int n) { printf("%d from the kernel\\n", n); }
"""

kernels = rg.compile_c(SOURCE, name="process.c")

# `never` says in x[1] that it runs, and ends only if somebody ends it, while x[0] is positive.
PREAMBLE = """
import os, signal, sys, threading, time
import numpy as np
import retrograd as rg

NEVER = "void never(double x[2]) { x[1] = 1; while (x[0] > 0) x[0] = x[0] * 0.5 + 1; }"
never = rg.compile_c(NEVER).never
square = rg.compile_c("void square(int n, double x[n]) { for (int i = 0; i < n; i++) x[i] = x[i] * x[i]; }").square

def when_it_runs(memory, then):
    def watch():
        while memory[1] == 0:
            time.sleep(0.001)
        then()
    thread = threading.Thread(target=watch)
    thread.start()
    return thread

def press():
    os.kill(os.getpid(), signal.SIGINT)

def goes_on():
    x = np.array([3.0])
    square(x)
    assert x[0] == 9
"""


def child(code, timeout=120, **environment):
    """What a Python program prints; its end by a signal or an exception fails the test, and so does no end at all."""
    done = subprocess.run([sys.executable, "-c", PREAMBLE + textwrap.dedent(code)], capture_output=True, text=True, timeout=timeout,
                          env={**os.environ, **environment})
    if done.returncode:
        raise AssertionError(f"exit status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


@contextlib.contextmanager
def cache(folder):
    kept = os.environ.get("RG_CACHE")
    os.environ["RG_CACHE"] = folder
    try:
        yield
    finally:
        del os.environ["RG_CACHE"]
        if kept is not None:
            os.environ["RG_CACHE"] = kept


class Lock(unittest.TestCase):
    """Without the interpreter lock another thread runs."""

    def test_launch(self):
        for launch in ("never(x)", "never.forward_vjp(x, adjoints={'x': np.ones(2)})"):
            with self.subTest(launch):
                self.assertEqual(child(f"""
                    x = np.array([1.0, 0.0])
                    queue = rg.current_queue()
                    thread = when_it_runs(x, queue.cancel)
                    try:
                        {launch}
                    except rg.CancelledError as error:
                        print("ended", "cancelled" in str(error))
                    thread.join()
                    goes_on()
                    """), "ended True\n")

    def test_compile(self):
        turns, stop = 0, threading.Event()

        def count():
            nonlocal turns
            while not stop.is_set():
                turns += 1
                time.sleep(0)

        thread = threading.Thread(target=count)
        lines = "".join(f"    y[{i}] = sin(x[{i}] * {i + 1}.5f) * cos(x[{i}]);\n" for i in range(100))
        thread.start()
        for attempt in range(10):  # on a busy machine the other thread may get no processor
            new = rg.compile_c(f"#include <math.h>\nvoid f{os.getpid()}_{attempt}(const float x[100], float y[100])\n{{\n{lines}}}\n")
            counts = [turns]
            for step in (lambda: new.kernels, lambda: new[new.kernels[0]], lambda: new[new.kernels[0]](np.zeros(100, np.float32), np.zeros(100, np.float32)),
                         lambda: new[new.kernels[0]]._compile(2, "cpu", 1), lambda: new[new.kernels[0]].check()):
                step()
                counts.append(turns)
            if min(np.diff(counts)) > 50:  # with the lock held it is a few
                break
        stop.set()
        thread.join()
        self.assertGreater(min(np.diff(counts)), 50, counts)


class Interrupts(unittest.TestCase):
    """Ctrl-C ends what would not end; then the process goes on."""

    def ended(self, code):
        self.assertEqual(child(code + "\ngoes_on()\nprint('goes on')\n").splitlines()[-1], "goes on")

    def test_launches(self):
        for form in ("never(x)", "never.forward_vjp(x, adjoints={'x': np.ones(2)})", "never.jvp(x, tangents={'x': np.ones(2)})"):
            for device in ("cpu", "interp"):
                with self.subTest(form, device=device):
                    self.ended(textwrap.dedent(f"""
                        x = np.array([1.0, 0.0])
                        when_it_runs(x, press)
                        try:
                            with rg.Queue("{device}"):
                                {form}
                        except KeyboardInterrupt:
                            pass
                        assert x[1] == 1
                        """))

    def test_graph(self):
        self.ended(textwrap.dedent("""
            x = rg.array([1.0, 0.0])
            with rg.graph() as g:
                never(x)
            when_it_runs(x.numpy(), press)
            try:
                g.launch()
            except KeyboardInterrupt:
                print("ended")
            """))

    def test_tape_that_calls_again(self):
        """The reverse of a host function launches what never ends, in the tape's queue and in another one."""
        for other in ("rg.current_queue()", "rg.Queue('interp')"):
            with self.subTest(other):
                self.ended(textwrap.dedent(f"""
                    x, y, queue = rg.array([2.0], adjoint=True), np.array([1.0, 0.0]), {other}
                    def reverse():
                        with queue:
                            never(y)
                    with rg.tape() as t:
                        t.call(lambda: None, reverse, [x], [])
                    when_it_runs(y, press)
                    try:
                        t.vjp()
                    except KeyboardInterrupt:
                        print("ended")
                    """))

    def test_tape_between_launches(self):
        """A handler that raises nothing, while nothing runs that the queue could end: the sweep is not gone on with."""
        self.ended(textwrap.dedent("""
            signal.signal(signal.SIGINT, lambda *_: print("handled"))
            x, called = rg.array([2.0], adjoint=True), []
            with rg.tape() as t:
                t.call(lambda: None, lambda: called.append("first"), [x], [])
                t.call(lambda: None, lambda: (called.append("last"), press()), [x], [])
            try:
                t.vjp()
            except rg.CancelledError:
                assert called == ["last"], called
            """))

    def test_own_handler(self):
        self.ended(textwrap.dedent("""
            handled = []
            signal.signal(signal.SIGINT, lambda *_: handled.append(1))
            x = np.array([1.0, 0.0])
            when_it_runs(x, press)
            try:
                never(x)
            except rg.CancelledError:
                assert handled == [1]
            """))

    def test_handlers_are_left_alone(self):
        """After a call SIGINT belongs to whom it belonged before; where it is ignored it stays so."""
        self.ended(textwrap.dedent("""
            import ctypes
            libc = ctypes.CDLL(None)
            def action():
                room = ctypes.create_string_buffer(256)  # handler, 128 bytes of mask (8 are used), flags
                assert libc.sigaction(signal.SIGINT, None, room) == 0
                return room.raw[:16], room.raw[136:140]
            for handler in (signal.default_int_handler, signal.SIG_IGN, signal.SIG_DFL, lambda *_: None):
                signal.signal(signal.SIGINT, handler)
                before = action()
                goes_on()
                assert action() == before
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            x, queue = np.array([1.0, 0.0]), rg.current_queue()
            def later():
                press()
                queue.cancel()
            when_it_runs(x, later)
            try:
                never(x)
            except rg.CancelledError:
                pass
            """))

    def test_imported_on_another_thread(self):
        self.ended(textwrap.dedent("""
            for name in [name for name in sys.modules if name.startswith("retrograd")]:
                del sys.modules[name]
            """))
        done = subprocess.run([sys.executable, "-c", textwrap.dedent("""
            import threading
            thread = threading.Thread(target=exec, args=("import retrograd",))
            thread.start()
            thread.join()
            """) + PREAMBLE + textwrap.dedent("""
            x = np.array([1.0, 0.0])
            when_it_runs(x, press)
            try:
                never(x)
            except KeyboardInterrupt:
                goes_on()
            """)], capture_output=True, text=True, timeout=120)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_before_the_call(self):
        """One that Python has noted and not handled yet."""
        self.ended(textwrap.dedent("""
            import ctypes, functools
            x, strike = np.array([1.0, 0.0]), ctypes.CDLL(None)["raise"]
            strike.restype = ctypes.c_double  # any number
            class Argument:
                __float__ = functools.partial(strike, signal.SIGINT)
            try:
                rg.compile_c(NEVER.replace("double x[2]", "double k, double x[2]")).never(Argument(), x)
            except KeyboardInterrupt:
                assert x[1] == 0
            """))


# -- forks -----------------------------------------------------------------------------------------------------------------------------------------


def sines_of(n):
    x, y = np.arange(n) * 0.001, np.zeros(n)
    kernels.sines(x, y)
    return float(np.abs(y - np.sin(x)).max())


def new_kernel(n):
    f = rg.compile_c(f"double scaled(int n, const double x[n]) {{ double s = 0; for (int i = 0; i < n; i++) s += {n} * x[i]; return s; }}").scaled
    return f(np.arange(4.0)) == 6 * n


def call_cubes(kernel, module, values):
    return kernel(values), module.cubes(values), values.adjoint.numpy().tolist() if isinstance(values, rg.Array) else None


def refused(kernel):
    kernel(np.zeros(3, np.float32))


class Forks(unittest.TestCase):
    def test_fork(self):
        """Of a process whose threads have worked."""
        self.assertLess(sines_of(100000), 1e-14)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # from 3.12 on: there are threads
            with multiprocessing.get_context("fork").Pool(2) as pool:
                self.assertLess(max(pool.map(sines_of, [100000, 1000, 200000, 10])), 1e-14)
                self.assertEqual(pool.map(new_kernel, range(4)), [True] * 4)
        self.assertLess(sines_of(100000), 1e-14)

    def test_new_interpreters(self):
        values, adjoints = np.array([1.0, 2.0]), rg.array([1.0, 2.0], adjoint=True)
        adjoints.adjoint.write([5.0, 6.0])
        for method in ("spawn", "forkserver"):
            with self.subTest(method), multiprocessing.get_context(method).Pool(1) as pool:
                self.assertEqual(pool.apply(call_cubes, (kernels.cubes, kernels, values)), (9.0, 9.0, None))
                self.assertEqual(pool.apply(call_cubes, (kernels.cubes, kernels, adjoints)), (9.0, 9.0, [5.0, 6.0]))
                with self.assertRaisesRegex(TypeError, "elements of float32"):
                    pool.apply(refused, (kernels.cubes,))

    def test_fork_while_threads_launch_and_compile(self):
        self.assertEqual(child("""
            source = "double scaled(int n, const double x[n]) { double s = 0; for (int i = 0; i < n; i++) s += %d * x[i]; return s; }"
            stop = False
            def work(seed):
                x = np.ones(5)
                while not stop:
                    seed += 1
                    assert rg.compile_c(source % seed).scaled(x) == 5 * seed
                    for _ in range(100):
                        square(x)
            threads = [threading.Thread(target=work, args=(1000000 * i,)) for i in range(2)]
            for t in threads:
                t.start()
            for i in range(20):
                process = os.fork()
                if process == 0:
                    signal.alarm(60)
                    goes_on()
                    os._exit(0 if rg.compile_c(source % -i).scaled(np.ones(3)) == -3 * i else 1)
                status = os.waitpid(process, 0)[1]
                if status:
                    break
            stop = True
            for t in threads:
                t.join()
            print(i + 1, "children, the last one's status", status)
            """), "20 children, the last one's status 0\n")

    def test_interrupts_in_children(self):
        """A fork by a thread, while the main thread is in a launch: the child has its own main thread, and Ctrl-C."""
        self.assertEqual(child("""
            x, queue = np.array([1.0, 0.0]), rg.current_queue()
            def fork():
                process = os.fork()
                if process == 0:
                    signal.alarm(60)
                    y = np.array([1.0, 0.0])
                    when_it_runs(y, press)
                    try:
                        never(y)
                    except KeyboardInterrupt:
                        goes_on()
                        os._exit(7)
                    os._exit(1)
                statuses.append(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]))
                queue.cancel()
            statuses = []
            thread = when_it_runs(x, fork)
            try:
                never(x)
            except rg.CancelledError:
                print(statuses)
            """), "[7]\n")

    @unittest.skipUnless(importlib.util.find_spec("torch"), "no torch")
    def test_workers_of_torch(self):
        from torch.utils.data import DataLoader

        self.assertLess(sines_of(100000), 1e-14)  # here, too
        for method in ("fork", "spawn"):
            loader = DataLoader(Errors(kernels.sines), batch_size=4, num_workers=2, multiprocessing_context=method)
            with self.subTest(method), warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)
                found = [float(n) for batch in loader for n in batch]
                self.assertEqual(len(found), 16)
                self.assertLess(max(found), 1e-14)


class Errors:
    """A data set whose elements a kernel computes: how far off it is."""

    def __init__(self, kernel):
        self.kernel = kernel

    def __len__(self):
        return 16

    def __getitem__(self, i):
        x, y = np.arange(1000.0) + i, np.zeros(1000)
        self.kernel(x, y)
        return float(np.abs(y - np.sin(x)).max())


class Pickles(unittest.TestCase):
    def test_kernels_share_their_module(self):
        one, other, module = pickle.loads(pickle.dumps((kernels.cubes, kernels.square, kernels)))
        self.assertIs(one._module, other._module)
        self.assertIs(one._module, module._core)
        self.assertEqual(one(np.array([2.0])), 8.0)
        self.assertEqual(copy.deepcopy(kernels.cubes)(np.array([2.0])), 8.0)

    def test_files_and_options(self):
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "value.h").write_text("#define VALUE 3\n")
            Path(folder, "f.c").write_text('#include "value.h"\ndouble f(const double x[1]) { return x[1] + VALUE * FACTOR; }\n')
            here = os.getcwd()
            try:
                os.chdir(folder)
                kernel = rg.load("f.c", include_paths=["."], defines=["FACTOR=2"], checked=True).f
            finally:
                os.chdir(here)
            again = pickle.loads(pickle.dumps(kernel))
            with self.assertRaises(rg.KernelAssertionError):  # `checked` is still on
                again(np.zeros(1))

    def test_arrays(self):
        x = rg.array(np.arange(6, dtype=np.float32).reshape(2, 3), side_by_side=True).require(adjoint=True).require(tangent=True, directions=4)
        x.adjoint.fill(2)
        x.tangent.write(np.arange(24).reshape(2, 3, 4))
        for y in (pickle.loads(pickle.dumps(x)), copy.deepcopy(x)):
            for given, made in ((x, y), (x.adjoint, y.adjoint), (x.tangent, y.tangent), (x.tangent, copy.copy(x.tangent))):
                np.testing.assert_array_equal(made.numpy(), given.numpy())
                self.assertEqual(made.dtype, np.float32)
            self.assertIsNone(y.adjoint_tangent)
            y.fill(0)
            self.assertEqual(x[1, 2], 5)
        self.assertEqual(pickle.loads(pickle.dumps(rg.array([1.0], device="simt"))).device.name, "simt:0")

    def test_what_has_no_pickle(self):
        with rg.tape() as t:
            pass
        for live in (t, rg.Queue(), rg.device("cpu")):
            with self.assertRaisesRegex(TypeError, "cannot pickle"):
                pickle.dumps(live)


# -- prints and progress ---------------------------------------------------------------------------------------------------------------------------


class Prints(unittest.TestCase):
    def test_redirected_and_in_order(self):
        for device in ("cpu", "interp", "simt"):
            out = io.StringIO()
            with self.subTest(device), contextlib.redirect_stdout(out), rg.Queue(device):
                print("before")
                kernels.say(1)
                print("between")
                kernels.say(2)
                rg.current_queue(device).sync()
            self.assertEqual(out.getvalue(), "before\n1 from the kernel\nbetween\n2 from the kernel\n")

    def test_graphs_and_tapes(self):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            with rg.graph() as g:
                kernels.say(3)
            g.launch()
            with rg.tape():
                kernels.say(4)
        self.assertEqual(out.getvalue(), "3 from the kernel\n4 from the kernel\n")

    def test_of_checks(self):
        """A check launches a kernel many times: it says nothing."""
        self.assertEqual(child("""
            say = rg.compile_c('#include <stdio.h>\\ndouble say(double x) { printf("%g\\\\n", x); return x * x; }').say
            assert say.check(x=3.0)
            say(2.0)
            """), "2\n")

    def test_before_a_failure(self):
        m = rg.compile_c('#include <assert.h>\n#include <stdio.h>\nvoid f(int n) { printf("last words %d\\n", n); assert(n > 2); }')
        out = io.StringIO()
        with contextlib.redirect_stdout(out), self.assertRaises(rg.KernelAssertionError):
            m.f(1)
        self.assertEqual(out.getvalue(), "last words 1\n")

    def test_text_that_is_no_text(self):
        m = rg.compile_c('#include <stdio.h>\nvoid f(int n) { printf("%c%c|\\n", n, n); }')
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            m.f(0xe9)
        self.assertEqual(out.getvalue(), "\ufffd\ufffd|\n")

    def test_without_a_standard_output(self):
        for nothing in ("sys.stdout = None", "del sys.stdout"):
            self.assertEqual(child(f"""
                say = rg.compile_c('#include <stdio.h>\\nvoid say(int n) {{ printf("%d", n); }}').say
                kept = sys.stdout
                {nothing}
                say(5)
                sys.stdout = kept
                say(6)
                """), "6")

    def test_a_standard_output_that_fails(self):
        class Broken(io.StringIO):
            def write(self, text):
                sys.stdout = kept
                raise OSError("no space")

        kept, sys.stdout = sys.stdout, Broken()
        try:
            with self.assertRaisesRegex(OSError, "no space"):
                kernels.say(5)
        finally:
            sys.stdout = kept

    def test_of_threads(self):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            threads = [threading.Thread(target=kernels.say, args=(i,)) for i in range(8)]
            for t in threads:
                t.start()
            for t in threads:
                t.join()
        self.assertEqual(sorted(out.getvalue().splitlines()), [f"{i} from the kernel" for i in range(8)])


class Warnings(unittest.TestCase):
    def test_a_cache_that_cannot_be_written(self):
        with cache("/dev/null/below"):
            with warnings.catch_warnings(record=True) as met:
                warnings.simplefilter("always")
                module = rg.compile_c("double one(int n) { return n; }")
                kernel = module.one
                self.assertEqual(len(met), 1)
                self.assertEqual(kernel(1), 1.0)
                self.assertEqual(len(met), 2)
            for warning in met:
                self.assertIs(warning.category, rg.RetrogradWarning)
                self.assertRegex(str(warning.message), "cannot be written.*RG_CACHE.*/dev/null/below.*Not a directory")
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                with self.assertRaises(rg.RetrogradWarning):
                    rg.compile_c("double two(int n) { return 2 * n; }").two
                with self.assertRaises(rg.RetrogradWarning):
                    kernel.value_and_grad(1)
        self.assertEqual(kernel(2), 2.0)

    def test_what_is_as_usual(self):
        with tempfile.TemporaryDirectory() as folder, cache(folder), warnings.catch_warnings():
            warnings.simplefilter("error")
            for _ in range(2):
                self.assertEqual(rg.compile_c(SOURCE).cubes(np.array([2.0])), 8.0)


class Bar:
    """What tqdm's bars have that programs use."""

    def __init__(self, total=None):
        self.total, self.n, self.shown = total, 0, []

    def update(self, n=1):
        self.n += n
        self.shown.append(self.n)
        return True if len(self.shown) % 10 == 0 else None


class Progress(unittest.TestCase):
    def swept(self, progress, **options):
        x = rg.array(np.full(16, 1.001), adjoint=True)
        with rg.tape(progress=progress, **options) as t:
            for _ in range(50):
                kernels.square(x)
        x.adjoint.fill(1)
        t.vjp()

    def test_a_bar(self):
        for options in ({}, {"budget": 16 * 8 * 8}):
            bar = Bar(total=50)
            self.swept(lambda done, operations, again: bar.update(done - bar.n), **options)
            self.assertEqual((bar.n, bar.total), (50, 50))
            self.assertEqual(bar.shown, sorted(bar.shown))
            self.assertGreaterEqual(len(bar.shown), 50)

    def test_the_end(self):
        for no in (False, np.False_):
            with self.assertRaises(rg.CancelledError):
                self.swept(lambda done, operations, again: done < 10 if no is False else np.bool_(done < 10))
        self.swept(lambda *_: None)

    def test_exceptions(self):
        def fail(done, operations, again):
            if done == 20:
                raise KeyError("in progress")

        with self.assertRaisesRegex(KeyError, "in progress"):
            self.swept(fail)
        with self.assertRaisesRegex(TypeError, "progress has to be a function"):
            rg.tape(progress=3)

    def test_calls_of_the_same_tape(self):
        met = []

        def meddle(*_):
            for call in (t.vjp, t.__exit__, lambda: t.stop_gradient(x), lambda: t.call(print, None, [x], [])):
                with self.assertRaisesRegex(rg.InvalidError, "being reversed"):
                    call()
            met.append(t.info()["operations"])

        x = rg.array([1.0], adjoint=True)
        with rg.tape(progress=meddle) as t:
            kernels.square(x)
        t.vjp()
        self.assertEqual(met, [1])


# -- leaks -----------------------------------------------------------------------------------------------------------------------------------------


class Allocated(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in ("arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks",
                                                     "keepcost")]


def held():
    """Bytes that C holds, bytes that Python holds, resident bytes, descriptors, threads."""
    gc.collect()
    libc = ctypes.CDLL(None)
    libc.mallinfo2.restype = Allocated
    c = libc.mallinfo2()
    resident = int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")
    return c.uordblks + c.hblkhd, tracemalloc.get_traced_memory()[0], resident, len(os.listdir("/proc/self/fd")), len(os.listdir("/proc/self/task"))


class Leaks(unittest.TestCase):
    def check(self, work, times=1000, warm=200):
        """Each time may leave less than 16 bytes; all of it in pages less than a megabyte and a half."""
        tracemalloc.start()
        self.addCleanup(tracemalloc.stop)
        for i in range(warm):
            work(i)
        before = held()
        for i in range(times):
            work(warm + i)
        c, python, resident, files, threads = (after - first for after, first in zip(held(), before))
        self.assertLess(c, 16 * times + 20000)
        self.assertLess(python, 16 * times + 5000)
        self.assertLess(resident, 1500000)
        self.assertEqual((files, threads), (0, 0))

    def test_loads(self):
        def load(_):
            f = rg.compile_c(SOURCE).cubes
            self.assertEqual(f(np.array([2.0])), 8)
            f.value_and_grad(np.array([2.0]))

        with tempfile.TemporaryDirectory() as folder, cache(folder), self.subTest("with a cache"):
            self.check(load)
        with cache("off"), self.subTest("without a cache"):
            self.check(load, 50, 20)

    def test_loads_that_fail(self):
        def load(_):
            with self.assertRaises(rg.CompileError):
                rg.compile_c("void f(int n) { again: n++; goto again; }").f
            with self.assertRaises(rg.NotFoundError):
                rg.compile_c("void f(int n) {}")["g"]
            with self.assertRaises(rg.Error):
                rg.load("/nonexistent/kernels.c")

        self.check(load, 200, 50)

    def test_pickles(self):
        text = pickle.dumps((kernels, rg.array([1.0], adjoint=True)))
        self.check(lambda _: pickle.loads(text))

    def test_arrays(self):
        def work(_):
            x = rg.zeros(10, adjoint=True, tangent=True)
            lent = rg.array(np.ones(4), copy=False)
            np.from_dlpack(lent), np.asarray(lent), x.adjoint.numpy(), lent.__dlpack__(max_version=(1, 0)), lent.__dlpack__()
            kernels.cubes(x)

        self.check(work)

    def test_tapes_in_circles(self):
        """A callback that knows its tape: the garbage collector ends both."""
        def work(_):
            x = rg.array([1.0, 0.5], adjoint=True)
            with rg.tape(progress=lambda *_: t.info() and None) as t:
                kernels.square(x)
                t.call(lambda: t and None, lambda: t and None, [x], [])
            t.vjp()

        self.check(work)

    def test_graphs(self):
        def work(_):
            x = rg.array([1.0, 0.5], adjoint=True)
            with rg.graph() as g:
                kernels.square(x)
            g.launch()
            rg.graph()  # given up
            rg.tape()

        self.check(work)

    def test_queues_and_threads(self):
        def work(_):
            with rg.Queue(num_threads=2):
                kernels.sines(np.ones(3), np.ones(3))
            thread = threading.Thread(target=kernels.cubes, args=(np.ones(2),))
            thread.start()
            thread.join()

        self.check(work)

    def test_calls(self):
        def work(i):
            kernels.cubes(np.ones(i % 7))
            kernels.square(np.ones((i % 5 + 1, 2))[:, 0])
            kernels.cubes.value_and_grad(np.ones(3))
            kernels.cubes.hvp(np.ones(3), vector={"x": np.ones(3)})
            with self.assertRaises(TypeError):
                kernels.cubes(np.ones(3, np.float32))
            with self.assertRaises(rg.InvalidError):
                kernels.sines(np.ones(3), np.ones(4))

        self.check(work)


class References(unittest.TestCase):
    """Calls that fail leave their arguments' counts of references as they were."""

    def test_failing_calls(self):
        class Odd:
            """An array whose description fails."""

            @property
            def __array_struct__(self):
                raise KeyError("odd")

        class Dlpack:
            def __dlpack_device__(self):
                return 77, 0

            def __dlpack__(self, **_):
                return np.ones(2).__dlpack__()

        x, y, single, frozen, bar, whole = np.ones(3), np.ones(3), np.ones(3, np.float32), np.ones(3), np.ones(4), np.ones(3, np.int32)
        frozen.flags.writeable = False
        own, remote, name, odd = rg.array(x), rg.array(x, device="simt"), "x", Odd()
        f, g = kernels.sines, kernels.cubes
        t = rg.tape()
        t.__exit__()
        calls = [(lambda: f(x)), (lambda: f(x, y, x, y)), (lambda: f(x, z=y)), (lambda: f(x, frozen)), (lambda: f(single, y)), (lambda: f(x, x)),
                 (lambda: f(x, bar)), (lambda: f(own, remote)), (lambda: f(remote, y)), (lambda: f(odd, y)), (lambda: f(x, 3)), (lambda: f(x, name)),
                 (lambda: f(x, Dlpack(), n=[])), (lambda: f(own, own)), (lambda: f(x, y, n=x)), (lambda: f(x, y, n=2**70)),
                 (lambda: f(x, y, n=-1)), (lambda: g.forward_vjp(x, adjoints={name: bar})), (lambda: g.forward_vjp(x, adjoints={name: single})),
                 (lambda: g.forward_vjp(x, adjoints={name: frozen})), (lambda: g.forward_vjp(x, adjoints={name: odd})),
                 (lambda: g.forward_vjp(x, adjoints={"z": y})), (lambda: g.forward_vjp(x, adjoints={3: y})),
                 (lambda: g.forward_vjp(own, adjoints={name: y})), (lambda: g.forward_vjp(x, adjoints={name: remote})),
                 (lambda: g.vjp(x, adjoints={})), (lambda: kernels.square.vjp(x, adjoints={name: y})),
                 (lambda: rg.array(frozen, copy=False)), (lambda: rg.array(odd, copy=False)), (lambda: rg.array(x, copy=False, device="simt")),
                 (lambda: rg.array(whole, copy=False, adjoint=True)),
                 (lambda: own._read(bar)), (lambda: own._write(single)), (lambda: own._write(name)), (lambda: own._copy_from(x)),
                 (lambda: own.fill(name)), (lambda: own.__dlpack__(copy=True)), (lambda: own.__dlpack__(dl_device=(2, 0))),
                 (lambda: own.__dlpack__(max_version=3)), (lambda: remote.__dlpack__()), (lambda: remote.__array_interface__),
                 (lambda: t.call(f, g, [own, x], [own])), (lambda: t.call(f, g, [own], [own])), (lambda: t.stop_gradient(x)),
                 (lambda: t.stop_gradient(own)), (lambda: rg.tape(budget=-1, progress=f)), (lambda: rg.Queue(device=name)),
                 (lambda: rg.Queue(num_threads=2**20)), (lambda: rg.Kernel(kernels._core, name)), (lambda: rg.compile_c("", defines=[x])),
                 (lambda: rg.compile_c("", defines=name)), (lambda: rg.current_queue().wait(x))]
        watched = (x, y, single, frozen, bar, whole, own, remote, name, odd, f, g, kernels._core, rg.current_queue(), rg.device("cpu"))

        def failing():
            for call in calls:
                try:
                    call()
                except (rg.Error, TypeError, ValueError, OverflowError, KeyError, BufferError, AttributeError):
                    pass
                else:
                    self.fail(f"call {calls.index(call)} did not fail")

        failing()  # classes that the first call of each kind imports, frames
        counts = [sys.getrefcount(one) for one in watched]
        for _ in range(10):
            failing()
        gc.collect()
        after = [sys.getrefcount(one) for one in watched]
        for one, before, now in zip(watched, counts, after):
            self.assertLess(abs(now - before), 10, repr(one))  # ten times each

    def test_memory_outlives_the_number_of_directions(self):
        x = rg.zeros(3, adjoint=True)
        for use in (lambda: x.adjoint.numpy(), lambda: np.from_dlpack(x.adjoint)):
            view = use()
            with self.assertRaisesRegex(BufferError, "directions"):
                x.require(adjoint=True, directions=len(x.adjoint.shape) + 1)
            view[:] = 1
            del view
            x.require(adjoint=True, directions=len(x.adjoint.shape) + 1)
        x.require(tangent=True, directions=4)

    def test_tapes_that_end_on_another_thread(self):
        """The thread whose queue it is goes on, in its calls and between them."""
        left, failures, stop = [], [], threading.Event()

        def work():
            x = rg.array(np.ones(1000000), adjoint=True)
            try:
                for _ in range(60):
                    with rg.tape() as t:
                        for _ in range(5):
                            kernels.square(x)  # the tape copies x
                    with rg.graph() as g:
                        kernels.square(x)
                    left.extend((t, g))
                    t = g = None
                    for _ in range(2000):  # they end now, and the next call comes
                        pass
                    x.fill(1)
            except Exception as failure:
                failures.append(failure)

        def drop():
            while not stop.is_set():
                while left:
                    left.pop()

        threads = [threading.Thread(target=work) for _ in range(2)]
        dropping = threading.Thread(target=drop)
        self.addCleanup(sys.setswitchinterval, sys.getswitchinterval())
        sys.setswitchinterval(1e-6)  # threads change between any two steps
        for t in (*threads, dropping):
            t.start()
        for t in threads:
            t.join()
        stop.set()
        dropping.join()
        self.assertEqual(failures, [])

    def test_memory_that_is_refused(self):
        """Not aligned: neither the first call with it nor the next one works on the memory of the call before."""
        class Tensor:
            def __init__(self, array):
                self.array = array

            def __dlpack_device__(self):
                return self.array.__dlpack_device__()

            def __dlpack__(self, **how):
                return self.array.__dlpack__(**how)

        good, odd = np.full(4, 3.0), np.zeros(33, np.uint8)[1:].view(np.float64)
        kernels.square(Tensor(good))
        for _ in range(2):
            with self.assertRaisesRegex(rg.InvalidError, "not aligned"):
                kernels.square(Tensor(odd))
        self.assertEqual(good.tolist(), [9] * 4)

    def test_lists_that_change_during_the_call(self):
        reads = [rg.array(np.ones(1000), adjoint=True)]
        writes = [rg.array(np.ones(1000), adjoint=True)]
        with rg.tape() as t:
            t.call(lambda: (reads.clear(), writes.clear(), gc.collect()), None, reads, writes)
        t.vjp()


# -- the end ---------------------------------------------------------------------------------------------------------------------------------------


class Ends(unittest.TestCase):
    def test_live_objects(self):
        self.assertEqual(child("""
            queue = rg.Queue(num_threads=2)
            x = rg.array(np.ones(100), adjoint=True)
            lent = rg.array(np.ones(100), copy=False)
            views = np.asarray(x), np.from_dlpack(x), np.asarray(x.adjoint), np.from_dlpack(lent), x.__dlpack__()
            with rg.tape() as t:
                square(x)
            graph, tape = rg.graph(), None
            queue.__enter__()
            sys.kept = x, lent, views, t, graph, queue, square
            import atexit
            atexit.register(lambda: print(len(sys.kept)))
            """), "7\n")

    def test_memory_lent_to_what_outlives_python(self):
        """As a library in C++ does, whose tensors end after the interpreter."""
        self.assertEqual(child("""
            import ctypes
            x = rg.array(np.ones(100))
            capsule = x.__dlpack__()
            api = ctypes.pythonapi
            api.PyCapsule_GetPointer.restype, api.PyCapsule_GetPointer.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
            api.PyCapsule_SetName.argtypes = ctypes.py_object, ctypes.c_char_p
            tensor = api.PyCapsule_GetPointer(capsule, b"dltensor")
            used = ctypes.create_string_buffer(b"used_dltensor")
            api.PyCapsule_SetName(capsule, used)
            # DLManagedTensor: 48 bytes of tensor, its owner, its deleter; called by the C library as the process ends
            deleter = ctypes.c_void_p.from_address(tensor + 56).value
            libc = ctypes.CDLL(None)
            libc.on_exit.argtypes = ctypes.c_void_p, ctypes.c_void_p
            shim = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_void_p)
            libc.__cxa_atexit.argtypes = ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p
            assert libc.__cxa_atexit(deleter, tensor, None) == 0
            sys.kept = x, used
            print("lent")
            """), "lent\n")

    def test_threads_that_launch_to_the_end(self):
        for launches in ("square(np.ones(10))", "never(np.array([1.0, 0.0]))", "rg.compile_c(NEVER.replace('0.5', str(time.time()))).never"):
            with self.subTest(launches):
                self.assertEqual(child(f"""
                    def work():
                        while True:
                            {launches}
                    for _ in range(3):
                        threading.Thread(target=work, daemon=True).start()
                    time.sleep(0.2)
                    print("main ends")
                    """), "main ends\n")

    def test_other_interpreters(self):
        code = textwrap.dedent("""
            try:
                import _interpreters as interpreters
            except ImportError:
                import _xxsubinterpreters as interpreters
            inner = "import sys, warnings\\nwarnings.simplefilter('ignore')\\ntry:\\n import retrograd\\nexcept ImportError as e: print(str(e).split()[0])\\nelse: print('!')\\n"
            import retrograd
            for _ in range(2):
                other = interpreters.create()
                interpreters.run_string(other, inner)
                interpreters.destroy(other)
            """)
        done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertNotIn("!", done.stdout)
        self.assertEqual(len(done.stdout.splitlines()), 2)  # NumPy may refuse before we do

    def test_imported_again(self):
        self.assertEqual(child("""
            x = rg.array([3.0])
            for name in [name for name in sys.modules if name.startswith("retrograd")]:
                del sys.modules[name]
            import retrograd
            square(x)
            retrograd.compile_c(NEVER.replace("never", "f")).f(retrograd.array([-1.0, 0.0]))
            try:
                retrograd.device("nothing")
            except rg.Error:
                print(x[0])
            """), "9.0\n")


# -- notebooks -------------------------------------------------------------------------------------------------------------------------------------


class Shell:
    """What IPython's shell has that an extension uses."""

    def __init__(self):
        self.names, self.magics = {}, {}

    def push(self, names):
        self.names.update(names)

    def register_magic_function(self, function, magic_kind="line", magic_name=None):
        self.magics[magic_kind, magic_name] = function


class Notebooks(unittest.TestCase):
    GOOD = "void twice(int n, double x[n]) { for (int i = 0; i < n; i++) x[i] *= 2; }\n"
    BAD = "void twice(int n, double x[n])\n{\n    x[0] = nothing;\n}\n"

    def test_a_cell(self):
        shell = Shell()
        rg.load_ipython_extension(shell)
        cell = shell.magics["cell", "retrograd"]
        cell("", self.GOOD)
        x = np.ones(2)
        shell.names["twice"](x)
        self.assertEqual(x.tolist(), [2, 2])
        cell(" mine ", self.GOOD)
        self.assertIsInstance(shell.names["mine"], rg.Module)
        for line in ("", "mine"):  # said at once, in the compiler's words
            with self.assertRaises(rg.CompileError) as met:
                cell(line, self.BAD)
            self.assertRegex(met.exception._render_traceback_()[0], "<cell>:3:12: error.*nothing")
        with self.assertRaisesRegex(ValueError, "one name"):
            cell("a b", self.GOOD)

    @unittest.skipUnless(importlib.util.find_spec("IPython"), "no IPython")
    def test_in_ipython(self):
        from IPython.core.interactiveshell import InteractiveShell

        shell, out = InteractiveShell.instance(), io.StringIO()
        with contextlib.redirect_stdout(out):
            shell.run_line_magic("load_ext", "retrograd")
            good = shell.run_cell("%%retrograd\n" + self.GOOD)
            called = shell.run_cell("import numpy\nx = numpy.ones(2)\ntwice(x)")
            bad = shell.run_cell("%%retrograd\n" + self.BAD)
        self.assertTrue(good.success and called.success)
        self.assertEqual(shell.user_ns["x"].tolist(), [2, 2])
        self.assertIsInstance(bad.error_in_exec, rg.CompileError)
        self.assertIn("<cell>:3:12", out.getvalue())
        self.assertNotIn("Traceback", out.getvalue())


if __name__ == "__main__":
    unittest.main()
