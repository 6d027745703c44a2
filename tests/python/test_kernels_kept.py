"""Kernels in Python that the cache on disk keeps from run to run."""

import json
import os
import subprocess
import sys
import tempfile
import unittest

import numpy as np

PROGRAM = """
import ast, dataclasses, json, os
parsed = 0
def counted(*args, parse=ast.parse, **options):
    global parsed
    parsed += 1
    return parse(*args, **options)
ast.parse = counted

import numpy as np
import retrograd as rg
import helper
from retrograd import types

OPTIONS
N = int(os.environ.get("N", 3))
pair = rg.types.struct(a=float, b=rg.types.vector(2, float))
x, y = rg.field(float, 8, needs_grad=True), rg.field(float, (), needs_grad=True)
x.from_numpy(np.arange(8.0))

@rg.kernel
def powers(by: float, f: rg.template()) -> pair:
    for i in f:
        v = f[i]
        for _ in range(N):
            v = helper.step(v, by)
        y[None] += v
    return pair(a=by, b=[helper.SCALE, N])

@rg.data_oriented
class Sim:
    def __init__(self):
        self.rate, self.x, self.unused = float(os.environ.get("RATE", 2)), rg.field(float, 2), object()

    @rg.kernel
    def run(self, a: types.ndarray(), v: types.vector(2, float)):
        for i in self.x:
            self.x[i] += self.rate * a[i] + v[i] * self.half()

    @rg.func
    def half(self):
        return rg.static(helper.plain(1.0))

result = powers(0.5, x)
y.grad[None] = 1
powers.grad(0.5, x)
sim = Sim()
for _ in range(2):
    sim.run(np.ones(2, np.float32), [1, 2])
with open("/proc/self/maps") as maps:
    compiled = "retrograd-compiler" in maps.read()
print(json.dumps([[y[None], x.grad.to_numpy().tolist(), result.a, result.b.to_list(), sim.x.to_numpy().tolist()], parsed, compiled]))
"""
HELPER = """
import random
import retrograd as rg
SCALE = 1.5

@rg.func
def step(v, by):
    return v * by + SCALE

def plain(x):
    return x / 2
"""


def values(n=3, scale=1.5, rate=2.0, half=0.5):
    """What the program computes, in plain Python."""
    total = 0.0
    for v in range(8):
        for _ in range(n):
            v = v * 0.5 + scale
        total += v
    return [total, [0.5**n] * 8, 0.5, [scale, n], [2 * (rate + k * half) for k in (1, 2)]]


class Kept(unittest.TestCase):
    """A second run of a program neither walks its kernels nor compiles them."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.cache = os.path.join(self.folder.name, "cache")
        self.write()

    def tearDown(self):
        self.folder.cleanup()

    def write(self, options="rg.init()", helper=HELPER):
        for name, text in (("program.py", PROGRAM.replace("OPTIONS", options)), ("helper.py", helper)):
            with open(os.path.join(self.folder.name, name), "w") as f:
                f.write(text)

    def start(self, **variables):
        environment = {**os.environ, "RG_CACHE": self.cache, "PYTHONDONTWRITEBYTECODE": "1", **variables}
        return subprocess.Popen([sys.executable, os.path.join(self.folder.name, "program.py")], env=environment, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True)

    def end(self, process, expected, anew=None):
        out, errors = process.communicate()
        self.assertEqual(process.returncode, 0, errors)
        found, parsed, compiled = json.loads(out)
        for a, b in zip(found, expected):
            np.testing.assert_allclose(a, b, rtol=1e-6)
        if anew is not None:
            self.assertEqual((parsed > 0, compiled), (anew, anew), f"{parsed} parsed")
        return errors

    def run_program(self, expected, anew=None, **variables):
        return self.end(self.start(**variables), expected, anew)

    def files(self):
        return [os.path.join(where, f) for where, _, files in os.walk(self.cache) for f in files]

    def test_what_has_changed_is_made_anew(self):
        self.run_program(values(), True)
        self.run_program(values(), False)
        self.run_program(values(n=5), True, N="5")
        self.run_program(values(), False)
        self.run_program(values(rate=4.0), None, RATE="4")
        self.write(helper=HELPER.replace("SCALE = 1.5", "SCALE = 2.5"))
        self.run_program(values(scale=2.5), True)
        self.write(helper=HELPER.replace("x / 2", "x / 4"))
        self.run_program(values(half=0.25), True)
        self.write()
        self.run_program(values(), False)

    def test_what_differs_in_each_run_is_not_kept(self):
        for body in ("return x / 2 + 0 * random.random()", "SEEN.append(x)\n    return x / 2"):
            self.write(helper="SEEN = []\n" + HELPER.replace("return x / 2", body))
            for _ in range(2):
                self.assertGreater(json.loads(self.start().communicate()[0])[1], 0)

    def test_switched_off(self):
        self.write(options="rg.init(offline_cache=False)")
        for _ in range(2):
            self.run_program(values(), True)
        self.assertEqual(self.files(), [])
        elsewhere = os.path.join(self.folder.name, "elsewhere")
        self.write(options=f"rg.init(offline_cache_file_path={elsewhere!r})")
        self.run_program(values(), True, RG_CACHE="off")
        self.run_program(values(), False, RG_CACHE="off")
        self.assertTrue(os.listdir(elsewhere))
        self.assertEqual(self.files(), [])

    def test_lambdas_of_one_line(self):
        import retrograd as rg

        rg.init(offline_cache_file_path=self.cache)
        found = []
        for f in (lambda v: v + 4, lambda v: v * 4, lambda v: v + 5):
            @rg.kernel
            def run(v: int) -> int:
                return f(v)

            @rg.kernel
            def given(f: rg.template(), v: int) -> int:
                return f(v)
            found.append((run(3), given(f, 3)))
        rg.reset()
        self.assertEqual(found, [(7, 7), (12, 12), (8, 8)])

    def test_damage_and_several_at_a_time(self):
        several = [self.start() for _ in range(3)]
        for process in several:
            self.end(process, values())
        self.run_program(values(), False)
        for path in self.files():
            with open(path, "r+b") as f:
                content = bytearray(f.read())
                content[len(content) // 2] ^= 255
                f.seek(0)
                f.write(content)
        self.run_program(values(), True)
        for path in self.files():
            with open(path, "r+b") as f:
                f.truncate(100)
        self.run_program(values(), True)
        self.run_program(values(), False)
        self.run_program(values(), True, RG_CACHE="/dev/null/below")


if __name__ == "__main__":
    unittest.main()
