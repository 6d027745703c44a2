"""Random C loops that work in place, judged beside the C compiler.

    test_nests.py [FIRST COUNT]     the programs with these numbers (24 from 1 on), nests, rows and steps in turn

Nests: bounds and subscripts are sums of indices and small numbers, so that many loads and stores miss each other by one: what is proven of them
must be right. Rows: a parallel loop, each thread of which runs loops along rows of its own, in lanes. Steps: parallel loops and recurrences in a time
loop, on arrays with and without declared extents, which may change places. Values are those of `cc -O0`, gradients are central differences of it.
Exit status 1: one is wrong."""
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
        self.shapes, self.sizes = {"a": shape, "b": (6,)}, (SIZE, 5, 7 if self.form == "flat" else 1)
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
        self.shapes, self.sizes, self.names, self.lines = {"a": (AXIS, AXIS), "b": (AXIS, AXIS)}, (SIZE, 30, 1), 0, []
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


class Steps:
    """Tasks write the element of their thread, and read others of other arrays; serial loops go through all elements."""

    def __init__(self, seed):
        r = self.random = random.Random(seed)
        self.shapes, self.sizes, self.lines = dict.fromkeys("uvqsb", (14,)), (14, 5, 1), []
        for _ in range(r.randint(2, 5)):
            self.task() if r.random() < 0.6 else self.recurrence()
        if r.random() < 0.5:
            self.lines.append("        double *before = u;\n        u = v;\n        v = before;\n")
        form = r.choice(["double {}[n]", "double *{}"])
        self.text = ("#include <math.h>\n\nstatic double limited(double a, double b)\n{\n    if (a * b > 0.0)\n"
                     "        return a > b ? b : a * b / (fabs(a + b) + 0.1);\n    return a > b ? 0.5 * sqrt(a - b + 0.1) : 0.0;\n}\n\n"
                     f"void f(int n, int m, int w, {', '.join(form.format(x) for x in 'uvqs')}, const double *b)\n{{\n"
                     "    for (int t = 0; t < m; t++) {\n" + "".join(self.lines) + "    }\n}\n")

    def element(self, i, own):
        r, x = self.random, self.random.choice("uvqsuvqsb")
        if x == own:
            return f"{x}[{i}]"
        return f"{x}[{r.choice([f'{i} + {r.randint(-2, 2)}'] * 6 + [f'({i} * 5 + 3) % n', str(r.randint(0, 13))])}]"

    def value(self, i, own, depth=0):
        r, x = self.random, self.element(i, own)
        if depth > 2 or r.random() < 0.3:
            return x
        p, q = self.value(i, own, depth + 1), self.value(i, own, depth + 1)
        return r.choice([f"0.3 * {p} * ({q})", f"sin({p})", f"({p} - 0.5 * ({q}))", f"limited({p}, {q})", f"sqrt(1.0 + {x} * {x})",
                         f"({x} > {p} ? 0.7 * ({q}) : 0.2 * {x} * {x})"])

    def task(self):
        r, own = self.random, self.random.choice("uvqs")
        self.lines.append("        #pragma omp parallel for\n        for (int i = 2; i < n - 2; i++) {\n")
        for _ in range(r.randint(1, 2)):
            guard = f"if ({self.value('i', own, 2)} > {r.choice(['0.1', 'b[i]'])}) " if r.random() < 0.3 else ""
            self.lines.append(f"            {guard}{own}[i] {r.choice(['=', '=', '+=', '-='])} 0.5 * ({self.value('i', own)});\n")
        self.lines.append("        }\n")

    def recurrence(self):
        r, down = self.random, self.random.random() < 0.3
        self.lines.append(f"        for ({'int j = n - 3; j >= 2; j--' if down else 'int j = 2; j < n - 2; j++'}) {{\n")
        for _ in range(r.randint(1, 3)):
            x, before = r.choice("uvqs"), "j + 1" if down else "j - 1"
            to = f"{x}[{r.choice(['j', 'j', str(r.randint(0, 13))])}]"
            first = f"0.4 * {x}[{before}] + " if r.random() < 0.6 else ""
            guard = f"if ({self.value('j', '', 2)} > b[j]) " if r.random() < 0.3 else ""
            other = f" else {to} *= 0.9;" if guard and r.random() < 0.5 else ""
            self.lines.append(f"            {guard}{to} {r.choice(['=', '+=', '-='])} {first}0.3 * ({self.value('j', '', 1)});{other}\n")
        self.lines.append("        }\n")


def compiled(text, folder, number):
    source, library = os.path.join(folder, "f.c"), os.path.join(folder, f"{number}.so")
    with open(source, "w") as file:
        file.write(text)
    subprocess.run(["cc", "-O0", "-ffp-contract=off", "-shared", "-fPIC", "-o", library, source, "-lm"], check=True)
    f, array = ctypes.CDLL(library).f, ctypes.POINTER(ctypes.c_double)

    def run(sizes, arrays):
        arrays = [a.copy() for a in arrays]
        f(*sizes, *(a.ctypes.data_as(array) for a in arrays))
        return np.concatenate([a.ravel() for a in arrays])
    return run


def judge(seed, folder):
    """What is wrong with a program; None: nothing."""
    kind = (Rows, Nest, Steps)[seed % 3]
    program, numbers = kind(seed), np.random.default_rng(seed)
    os.environ["RG_LANES"] = "8" if kind is Rows else ""
    reference = compiled(program.text, folder, seed)
    kernel = rg.compile_c(program.text, name="nest.c").f

    def random_arrays():
        return [numbers.uniform(-1, 1, shape) for shape in program.shapes.values()]

    start, seeds = random_arrays(), random_arrays()
    seeds[-1] *= 0  # of what is only read
    sizes = program.sizes[0], int(numbers.integers(0, program.sizes[1])), program.sizes[2]
    want = reference(sizes, start)
    if not np.abs(want).max() < 1e6:
        return None  # differences of such numbers, or of such slopes, tell nothing
    if not np.allclose(reference(sizes, [a * (1 + 4e-16) for a in start]), want, rtol=1e-12, atol=1e-13):
        return None  # the last bit of an element decides
    forward, combined, gradient = ([a.copy() for a in arrays] for arrays in (start, start, seeds))
    kernel(*sizes, *forward)
    kernel.forward_vjp(*sizes, *combined, adjoints=dict(zip(program.shapes, gradient)))
    for name, arrays in ("values", forward), ("values of the combined launch", combined):
        if not np.allclose(np.concatenate([a.ravel() for a in arrays]), want, rtol=1e-11, atol=1e-12):
            return f"{name}:\n{program.text}"
    most = max(float(np.abs(g).max()) for g in gradient)
    if most > 1e6:
        return None
    weights = np.concatenate([a.ravel() for a in seeds])
    for h in 1e-6, 1e-7, 1e-8:  # a step may lead over a condition
        along = random_arrays()
        ends = [reference(sizes, [a + k * u for a, u in zip(start, along)]) for k in (h, -h)]
        slope, got = float((ends[0] - ends[1]) @ weights / (2 * h)), float(sum((g * u).sum() for g, u in zip(gradient, along)))
        if abs(slope - got) <= 3e-5 * max(1, abs(slope), most):
            return None
    return f"gradient, {got}, by differences {slope}:\n{program.text}"


def main():
    first, count = map(int, sys.argv[1:] or (1, 24))
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(first, first + count):
            wrong = judge(seed, folder)
            failed += wrong is not None
            if wrong:
                print(f"program {seed}: wrong {wrong}", flush=True)
    print(f"{count - failed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
