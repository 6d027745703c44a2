"""Judges generated programs: what the package computes, beside the oracle.

The values after the program, the tangents after it along one direction, and the adjoints before it contracted with that direction, which
have to be the contraction of the tangents with the weights that the reverse began with.
"""

import ast
import linecache
import re
from types import SimpleNamespace

import numpy as np

import gen_numbers
import gen_oracle
from gen_numbers import Undefined
from gen_places import Array, direction_of, values_of

import retrograd
import retrograd.types

# What messages have in them: of what the specification lets be refused, and of what the package does not do yet.
SPLIT = "launch forward and gradient combined", "is differentiated, and the same element may be written here, after it"
ELSEWHERE = "in other memory than the device's"
NOT_YET = {"atomic min, max, mul beside other uses of the array": "that is differentiated, and the same element may be"}


class Verdict:
    """What came out: "passed", "undefined", "invalid", "refused" or "failed"; why; and counts of what was left out."""

    def __init__(self, kind, why="", notes=()):
        self.kind, self.why, self.notes = kind, why, list(notes)


class Wrong(Exception):
    """The package's numbers are not the oracle's."""


# -- what is expected ------------------------------------------------------------------------------------------------------


class Expected:
    """The oracle's numbers: values and derivatives of arrays and results, and how far disturbed runs went from them."""

    def __init__(self, text):
        self.text, self.single = text, "f32" in text
        self.noise = 1e-5 if self.single else 1e-9
        self.eps = 2.0**-23 if self.single else 2.0**-52
        first, *others = (self._run(text, noise, phase) for noise, phase in ((0.0, 0.0), (self.noise, 1.0), (self.noise, 3.0)))
        self.integers, self.values, self.slopes, self.results = first
        self.value_spread = {n: self._spread(n, v, [o[1] for o in others]) for n, v in self.values.items()}
        self.slope_spread = {n: self._spread(n, v, [o[2] for o in others]) for n, v in self.slopes.items()}
        if any(len(o[3]) != len(self.results) for o in others):
            raise Undefined("disturbed runs do not do the same")

    @staticmethod
    def _run(text, noise=0.0, phase=0.0, shift=0.0):
        gen_numbers.world.__init__(noise=noise, phase=phase, shift=shift)
        machine = gen_oracle.Machine(text)
        names = machine.run()
        arrays = {n: a for n, a in names.items() if isinstance(a, Array)}
        results = [np.array(flat(r), np.float64) for r in machine.results]
        values = {n: np.array([e.v for e in a.data], np.float64) for n, a in arrays.items()}
        values.update({f"result {k}": r for k, r in enumerate(results)})
        slopes = {n: np.array([e.d for e in a.data]) for n, a in arrays.items() if a.active}
        return {n for n, a in arrays.items() if a.t.kind != "f"}, values, slopes, results

    @staticmethod
    def _spread(name, values, others):
        if any(o[name].shape != values.shape for o in others):
            raise Undefined("disturbed runs do not do the same")
        return np.max([np.abs(o[name] - values) for o in others], axis=0)

    def curvature(self, weights):
        """The second derivative of the weighted outputs along the direction, from tangents beside the point, and its error; None: too large."""
        def slope(shift):
            slopes = self._run(self.text, shift=shift)[2]
            return sum(float(np.sum(w.reshape(-1) * slopes[n])) for n, w in weights.items())

        try:
            far, near = ((slope(h) - slope(-h)) / (2 * h) for h in (2e-3, 1e-3))
        except Undefined:
            return None
        error = abs(far - near) + 1e-7 * (1 + abs(near))
        return ((4 * near - far) / 3, error) if error < 1e-3 * (1 + abs(near)) else None

    def allowance(self, spread, scale):
        """How far a number may be from the expected one."""
        if np.any(spread > 1e4 * self.noise * (1 + scale)):
            raise Undefined("an ill-conditioned result")
        return 20 * self.eps / self.noise * spread + 64 * self.eps * (1 + scale)


def flat(result):
    """A kernel's result as a list of numbers."""
    if result is None:
        return []
    if isinstance(result, (tuple, list)):
        return [x for r in result for x in flat(r)]
    if hasattr(result, "entries"):
        return [x for r in result.entries for x in flat(r)]
    return [result.v if isinstance(result, gen_numbers.Scalar) else result]


# -- what the package does -----------------------------------------------------------------------------------------------------


class Recorded:
    """A kernel whose launches a Run takes."""

    def __init__(self, run, kernel):
        self.run, self.kernel = run, kernel

    def __get__(self, owner, kind=None):
        return self if owner is None else Recorded(self.run, self.kernel.__get__(owner, kind))

    def __call__(self, *args):
        return self.run.launch(self.kernel, args)


class Run:
    """One program in the package."""

    def __init__(self, text, name):
        linecache.cache[name] = (len(text), None, text.splitlines(True), name)
        tree = ast.parse(text)
        tree.body = [s for s in tree.body if not isinstance(s, (ast.Import, ast.ImportFrom))]
        rg = SimpleNamespace(**{**vars(retrograd), "kernel": lambda f: Recorded(self, retrograd.kernel(f)),
                                "init": lambda **options: retrograd.init(offline_cache=False, **options)})
        self.directions = {}
        self.launches = []
        self.results = []
        self.form = self.forward
        self.names = {"__name__": name, "rg": rg, "np": np, "fill": self.fill}
        exec(compile(tree, name, "exec"), self.names)
        self.arrays = {n: a for n, a in self.names.items() if isinstance(a, (np.ndarray, retrograd.Field, retrograd.Ndarray))}
        self.active = {n: a for n, a in self.arrays.items() if getattr(a, "grad", None) is not None and a.has_grad()}

    def fill(self, array, seed, lo, hi):
        """Set an array to random numbers; the direction of its elements."""
        shape = array.shape if isinstance(array, np.ndarray) else array.to_numpy().shape
        count = int(np.prod(shape))
        values = np.array(values_of(seed, count, lo, hi)).reshape(shape)
        if isinstance(array, np.ndarray):
            array[...] = values
        else:
            array.from_numpy(values)
            self.directions[id(array)] = np.array(direction_of(seed, count)).reshape(shape)

    def state(self):
        """Copies of all arrays."""
        return {n: np.array(a) if isinstance(a, np.ndarray) else a.to_numpy() for n, a in self.arrays.items()}

    def restore(self, state):
        for n, a in self.arrays.items():
            if isinstance(a, np.ndarray):
                a[...] = state[n]
            else:
                a.from_numpy(state[n])

    def launch(self, kernel, args):
        result = self.form(kernel, args)
        self.results.append(result)
        return result

    def forward(self, kernel, args):
        self.launches.append((kernel, args, self.state()))
        return kernel(*args)

    def main(self, form):
        """The program's launches, each in a form."""
        self.form, self.results = form, []
        self.names["main"]()

    def direction(self, name):
        array = self.active[name]
        return self.directions.get(id(array), np.zeros(array.to_numpy().shape))


def same(expected, name, what, actual, wanted, spread, exactly=False):
    """One array beside the oracle's."""
    actual = np.asarray(actual, np.float64).reshape(-1)
    if exactly:
        off = actual != wanted
    else:
        off = ~(np.abs(actual - wanted) <= expected.allowance(spread, np.abs(wanted)))
    if off.any():
        k = int(np.argmax(off))
        raise Wrong(f"{what} of {name}, element {k}: {actual[k]!r}, expected {wanted[k]!r}")


def values_are(expected, run, what):
    """Values of arrays and results after the program."""
    state = run.state()
    for name in run.arrays:
        same(expected, name, f"{what}: value", state[name], expected.values[name], expected.value_spread[name], name in expected.integers)
    for k, r in enumerate(run.results):
        key = f"result {k}"
        same(expected, key, f"{what}: value", np.array(flat(r), np.float64), expected.values[key], expected.value_spread[key])


def adjoints_are(expected, run, what, weights):
    """Adjoints along the direction beside tangents along the weights."""
    wanted = sum(float(np.sum(w.reshape(-1) * expected.slopes[n])) for n, w in weights.items())
    spread = sum(float(np.sum(np.abs(w.reshape(-1)) * expected.slope_spread[n])) for n, w in weights.items())
    scale = sum(float(np.sum(np.abs(w.reshape(-1) * expected.slopes[n]))) for n, w in weights.items())
    found = 0.0
    for n, a in run.active.items():
        terms = a.grad.to_numpy().astype(np.float64) * run.direction(n)
        found += float(np.sum(terms))
        scale += float(np.sum(np.abs(terms)))
    allowance = expected.allowance(np.array(spread), np.array(scale))
    if not abs(found - wanted) <= allowance:
        raise Wrong(f"{what}: adjoints along the direction {found!r}, expected {wanted!r}")


def unchanged(run, state, what):
    """A gradient has written no primal array."""
    now = run.state()
    for n, a in state.items():
        if not np.array_equal(now[n], a):
            raise Wrong(f"{what} changed the values of {n}")


def compare(expected, text, name):
    """All forms of launches beside the oracle; notes about what was refused as the specification says."""
    notes = []
    run = Run(text, name)
    initial = run.state()
    run.main(run.forward)
    values_are(expected, run, "forward")
    launches, final = run.launches, run.state()

    tangents = []

    def tangent(kernel, args):
        tangents.append({n: a.dual.to_numpy() for n, a in run.active.items()})
        return kernel.jvp(*args)

    run.restore(initial)
    for n, a in run.active.items():
        a.dual.from_numpy(run.direction(n))
    run.main(tangent)
    values_are(expected, run, "jvp")
    for n, a in run.active.items():
        same(expected, n, "jvp: tangent", a.dual.to_numpy(), expected.slopes[n], expected.slope_spread[n])

    weights = {}
    for k, (n, a) in enumerate(run.active.items()):
        shape = a.to_numpy().shape
        weights[n] = np.array(direction_of(1000 + k, int(np.prod(shape)))).reshape(shape)

    def seed():
        for n, a in run.active.items():
            a.grad.from_numpy(weights[n])

    seed()
    after = final
    for kernel, args, before in reversed(launches):
        run.restore(before)
        kernel.forward_grad(*args)
        for n, v in run.state().items():
            same(expected, n, "combined: value", v, after[n].reshape(-1), np.zeros(v.size), n in expected.integers)
        after = before
    adjoints_are(expected, run, "combined", weights)

    seed()
    try:
        for kernel, args, before in reversed(launches):
            run.restore(before)
            kernel(*args)
            after = run.state()
            kernel.grad(*args)
            unchanged(run, after, "grad")
        adjoints_are(expected, run, "split", weights)
    except retrograd.CompileError as error:
        if not any(part in str(error) for part in SPLIT):
            raise
        notes.append("split refused")

    if not expected.single and len(text) % 4 == 0:
        notes += second_order(expected, run, weights, launches, tangents)

    if "loss" in run.active:
        notes += under_tape(expected, run, initial)
    return notes


def under_tape(expected, run, initial):
    """The gradient of the loss that a tape gives."""
    run.restore(initial)
    for a in run.active.values():
        a.grad.fill(0)
    try:
        with retrograd.ad.Tape(run.active["loss"]):
            run.main(lambda kernel, args: kernel(*args))
    except retrograd.RuntimeError_ as error:
        if ELSEWHERE not in str(error):
            raise
        return ["arrays of NumPy refused on a device's tape"]
    values_are(expected, run, "tape")
    adjoints_are(expected, run, "tape", {"loss": np.ones(1)})
    return ["tape"]


def second_order(expected, run, weights, launches, tangents):
    """Products with the Hessian along the direction beside differences of the oracle's tangents."""
    curvature = expected.curvature(weights)
    if curvature is None:
        return ["no second derivative"]
    for n, a in run.active.items():
        a.grad.from_numpy(weights[n])
    for (kernel, args, before), duals in zip(reversed(launches), reversed(tangents)):
        run.restore(before)
        for n, a in run.active.items():
            a.dual.from_numpy(duals[n])
        kernel.hvp(*args)
    found = sum(float(np.sum(a.grad.dual.to_numpy() * run.direction(n))) for n, a in run.active.items() if a.grad.dual is not None)
    wanted, error = curvature
    if not abs(found - wanted) <= 2 * error:
        raise Wrong(f"hvp: second derivative {found!r}, expected {wanted!r}")
    return ["second derivative"]


def judge(text, name="<program>"):
    """The verdict on a program."""
    try:
        expected = Expected(text)
    except Undefined as why:
        return Verdict("undefined", str(why))
    except Exception as why:
        return Verdict("invalid", f"{type(why).__name__}: {why}")
    try:
        return Verdict("passed", notes=compare(expected, text, name))
    except Undefined as why:
        return Verdict("undefined", str(why))
    except Wrong as why:
        return Verdict("failed", str(why))
    except Exception as error:
        reason = next((r for r, part in NOT_YET.items() if part in str(error)), None)
        return Verdict("refused", reason) if reason else Verdict("failed", f"{type(error).__name__}: {error}")
    finally:
        retrograd.reset()
        linecache.cache.pop(name, None)


def sort_of(verdict):
    """What a reduced program has to have in common with the one that failed."""
    names_and_numbers = r"[-+]?\d[\w.+-]*|nan|inf|'[^']*'|\"[^\"]*\"|`[^`]*`|File .*\n.*\n *\^+"
    return verdict.kind, re.sub(names_and_numbers, "#", verdict.why.split("element")[0])
