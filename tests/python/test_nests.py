"""Random C loops that work in place, judged beside the C compiler.

    test_nests.py [FIRST COUNT]     the nests and rows with these numbers (24 from 1 on; each third one is rows)

Nests: bounds and subscripts are sums of indices and small numbers, so that many loads and stores miss each other by one: what is proven of them
must be right. Rows: a parallel loop, each thread of which runs loops along rows of its own, in lanes. Values are those of `cc -O0`, gradients are
central differences of it. Exit status 1: one is wrong."""
import ctypes
import os
import random
import subprocess
import sys
import tempfile

import numpy as np

import retrograd as rg

AXIS, SIZE, SHIFT = 40, 6, 12  # of arrays, of loops; what keeps subscripts inside


class Nest:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.form = self.random.choice(["rows", "rows", "flat", "line"])
        self.lines, self.names = [], 0
        self.body([], 1)
        shape = {"rows": (AXIS, AXIS), "flat": (AXIS * AXIS,), "line": (AXIS,)}[self.form]
        self.shape, self.others = shape, (6,)
        declared = "".join(f"[{n}]" for n in shape)
        self.text = ("#include <math.h>\n\nvoid f(int n, int m, int w, double a" + declared + ", const double b[6])\n{\n    int c = 1;\n" +
                     "".join(self.lines) + "}\n")

    def sum_of(self, indices):
        r = self.random
        names = r.sample(indices, min(len(indices), r.choice([1, 1, 1, 2])))
        text = f"n - 1 - {names[0]}" if names and r.random() < 0.15 else " + ".join(names or ["0"])
        return f"{text} + {SHIFT + r.randint(-2, 2)}"

    def element(self, indices):
        if self.form == "line":
            return f"a[{self.sum_of(indices)}]"
        if self.form == "rows":
            return f"a[{self.sum_of(indices)}][{self.sum_of(indices)}]"
        return f"a[({self.sum_of(indices)}) * w + {self.random.choice(indices or ['0'])} + {self.random.randint(0, 2)}]"

    def bound(self, indices, low):
        r = self.random
        if not indices or r.random() < 0.3:
            return r.choice(["0", "1", "2"] if low else ["n", "n - 1", "n - 2", "m"])
        near = f"{r.choice(indices)} + {r.randint(-1, 3)}"
        if r.random() < 0.6:
            return near
        limit = r.choice(["1", "2", "m"]) if low else "n"
        return f"({near} {'>' if low else '<'} {limit} ? {near} : {limit})"

    def loop(self, indices, depth, pad):
        r, index = self.random, f"i{self.names}"
        self.names += 1
        low, high = self.bound(indices, True), self.bound(indices, False)
        if r.random() < 0.15:
            head = f"int {index} = {high} - 1; {index} >= {low}; {index}--"
        else:
            head = f"int {index} = {low}; {index} < {high}; {index} += {r.choice([1, 1, 1, 1, 2, 3])}"
        self.lines.append(f"{pad}for ({head}) {{\n")
        self.body(indices + [index], depth + 1)
        self.lines.append(f"{pad}}}\n")

    def body(self, indices, depth):
        r, pad = self.random, "    " * depth
        for _ in range(r.randint(1, 2)):
            kind = r.random()
            if depth < 4 and (depth == 1 or kind < 0.55):
                self.loop(indices, depth, pad)
            elif kind < 0.7:
                self.lines.append(f"{pad}if ({self.element(indices)} > b[{r.randint(0, 5)}]) c = {r.choice(indices or ['2'])};\n")
                some = indices + ["c"]
                self.lines.append(f"{pad}{self.element(some)} {r.choice(['=', '+='])} 0.5 * {self.element(some)} + sin({self.element(indices)});\n")
            else:
                self.lines.append(f"{pad}{self.element(indices)} {r.choice(['=', '+=', '-='])} "
                                  f"0.3 * sin({self.element(indices)}) * {self.element(indices)} + 0.1 * {self.element(indices)};\n")


class Rows:
    """Each thread has two rows of a and one of b; to row 38 of a all add, and row 39 of both all read."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.form, self.shape, self.others, self.names, self.lines = "rows", (AXIS, AXIS), (AXIS, AXIS), 0, []
        for _ in range(self.random.randint(2, 3)):
            self.loop([])
        self.text = ("#include <math.h>\n\nvoid f(int n, int m, int w, double a[40][40], const double b[40][40])\n{\n"
                     "    #pragma omp parallel for\n    for (int i = 0; i < 19; i++) {\n        double s = 0.0, t = 1.0;\n" +
                     "".join(self.lines) + "        a[2 * i + 1][0] += s + t;\n    }\n}\n")

    def line(self, indices, text):
        self.lines.append("    " * (2 + len(indices)) + text + "\n")

    def loop(self, indices):
        r, k = self.random, f"k{self.names}"
        self.names += 1
        low, high = r.choice(["0", "0", "1", "i % 3"]), r.choice(["m", "m", "m - 1", "m - i % 4"] + indices[-1:])
        head = f"int {k} = {low}; {k} < {high}; {k} += {r.choice([1, 1, 1, 1, 2])}"
        self.line(indices, f"for ({f'int {k} = {high} - 1; {k} >= {low}; {k}--' if r.random() < 0.2 else head}) {{")
        inside = indices + [k]
        if r.random() < 0.1:
            self.line(inside, f"if ({self.element(inside)} > 0.9) {r.choice(['break', 'continue'])};")
        row = r.randint(0, 1)  # the one that this loop writes
        for _ in range(r.randint(1, 3)):
            if len(inside) < 2 and r.random() < 0.35:
                self.loop(inside)
            else:
                self.statement(inside, row)
        self.line(indices, "}")

    def element(self, indices):
        r = self.random
        k, row, shift = r.choice(indices[-1:] * 4 + indices), r.choice(["2 * i", "2 * i + 1"]), r.choice([0, 0, 0, 0, 1, -1])
        return r.choice([f"a[{row}][{k} + {4 + shift}]", f"b[i][{k}]", f"b[i][{k} + {4 + shift}]", f"{r.choice('ab')}[39][{k}]"])

    def statement(self, indices, row):
        r, x, y = self.random, self.element(indices), self.element(indices)
        own = f"a[2 * i + {row}][{indices[-1]} + 4]"
        text = r.choice([
            f"s += 0.3 * {x} * {y};", f"s += 0.3 * {x} * {y};", f"s = 0.5 * s + {x} * {y};", f"t *= 0.9 + 0.1 * {x};",
            f"if ({x} > s) s = {y};", f"if (w) s += {x}; else s += sin({y});", f"{own} += 0.4 * {own} * b[i][{indices[-1]}];",
            f"{own} {r.choice(['=', '+=', '-='])} 0.4 * {x} + 0.3 * sin({y}) * s;"])
        if r.random() < 0.1:
            self.lines.append("    #pragma omp atomic\n")
            text = f"a[38][{indices[-1]}] += {x};"
        self.line(indices, text)


def compiled(text, folder, number):
    source, library = os.path.join(folder, "f.c"), os.path.join(folder, f"{number}.so")
    with open(source, "w") as file:
        file.write(text)
    subprocess.run(["cc", "-O0", "-ffp-contract=off", "-shared", "-fPIC", "-o", library, source, "-lm"], check=True)
    f, array = ctypes.CDLL(library).f, ctypes.POINTER(ctypes.c_double)

    def run(n, m, w, a, b):
        a = a.copy()
        f(n, m, w, a.ctypes.data_as(array), b.ctypes.data_as(array))
        return a
    return run


def judge(seed, folder):
    """What is wrong with a nest; None: nothing."""
    rows = seed % 3 == 0
    nest, numbers = (Rows if rows else Nest)(seed), np.random.default_rng(seed)
    os.environ["RG_LANES"] = "8" if rows else ""
    reference = compiled(nest.text, folder, seed)
    kernel = rg.compile_c(nest.text, name="nest.c").f
    a, b, adjoint = (numbers.uniform(-1, 1, shape) for shape in (nest.shape, nest.others, nest.shape))
    sizes = SIZE, int(numbers.integers(0, 30 if rows else 5)), 7 if nest.form == "flat" else 1
    want = reference(*sizes, a, b)
    if not np.abs(want).max() < 1e6:
        return None  # differences of such numbers, or of such slopes, tell nothing
    if not np.allclose(reference(*sizes, a * (1 + 4e-16), b), want, rtol=1e-12, atol=1e-13):
        return None  # the last bit of an element decides
    forward, combined, gradient, other = a.copy(), a.copy(), adjoint.copy(), np.zeros_like(b)
    kernel(*sizes, forward, b)
    kernel.forward_vjp(*sizes, combined, b, adjoints={"a": gradient, "b": other})
    for name, got in ("values", forward), ("values of the combined launch", combined):
        if not np.allclose(got, want, rtol=1e-11, atol=1e-12):
            return f"{name}:\n{nest.text}"
    most = max(np.abs(gradient).max(), np.abs(other).max())
    if most > 1e6:
        return None
    for h in 1e-6, 1e-7, 1e-8:  # a step may lead over a condition
        u, v = numbers.uniform(-1, 1, nest.shape), numbers.uniform(-1, 1, nest.others)
        ends = [reference(*sizes, a + k * u, b + k * v) for k in (h, -h)]
        slope, got = float(((ends[0] - ends[1]) * adjoint).sum() / (2 * h)), float((gradient * u).sum() + (other * v).sum())
        if abs(slope - got) <= 3e-5 * max(1, abs(slope), float(most)):
            return None
    return f"gradient, {got}, by differences {slope}:\n{nest.text}"


def main():
    first, count = map(int, sys.argv[1:] or (1, 24))
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(first, first + count):
            wrong = judge(seed, folder)
            failed += wrong is not None
            if wrong:
                print(f"nest {seed}: wrong {wrong}", flush=True)
    print(f"{count - failed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
