"""What is measured of each system on a problem. SPDX-License-Identifier: Apache-2.0"""

import functools
import math
import signal
import statistics
import time
from contextlib import contextmanager

import numpy as np

from . import systems

SYSTEMS = ["Retrograd", "torch eager", "torch.compile", "JAX scan", "JAX scan, remat", "JAX while_loop"]
TURNS, TURN, FIRST = 7, 0.1, 120.0  # at most so many turns, each of at least so many seconds; seconds for a first call


class TooLong(Exception):
    pass


@contextmanager
def limited(seconds):
    """Raises TooLong in the block after so many seconds, and again every five, as compilers catch what they can."""

    def late(number, frame):
        raise TooLong(f"more than {seconds:.0f} s")

    signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, max(seconds, 0.001), 5)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


class Row:
    """A system on a problem.

    Attributes
    ----------
    refused, why : str
        The kind of error that a call ended with, and its first line; empty if none did.
    compile, time, difference, memory : float
        Seconds of the first call and of a later one; the largest relative difference of a gradient or of the value; bytes.
    """

    def __init__(self, name, make, tolerance):
        self.name, self.make, self.tolerance = name, make, tolerance
        self.refused = self.why = ""
        self.compile = self.difference = self.memory = math.nan
        self.times = []

    @contextmanager
    def refusing(self):
        """A failure in the block takes the system out."""
        try:
            yield
        except Exception as failure:
            self.refused, self.why = type(failure).__name__, (str(failure).strip() or "no message").splitlines()[0]
            self.system = None

    def first(self, seconds):
        """The first call, which compiles, in at most so many seconds."""
        begin = time.perf_counter()
        with self.refusing(), limited(seconds):
            self.system = self.make()
            self.system.call()
        self.compile = time.perf_counter() - begin
        if self.refused and self.compile > seconds:
            self.refused = TooLong.__name__  # whatever the compiler made of it

    def turn(self):
        """Some calls, one after the other."""
        begin = now = time.perf_counter()
        calls = 0
        while now < begin + TURN:
            self.system.call()
            calls, now = calls + 1, time.perf_counter()
        self.times.append((now - begin) / calls)

    def say(self, problem, text):
        print(f"{problem.TITLE}, {self.name}: " + (f"refused, {self.refused}: {self.why}" if self.refused else text), flush=True)

    def measured(self):
        if not self.times:
            return ""
        return (f"{1e3 * self.time:.3f} ms ({1e3 * min(self.times):.3f} to {1e3 * max(self.times):.3f}), {self.memory / 1e6:.1f} MB, "
                f"difference {self.difference:.1e}")

    @property
    def time(self):
        return statistics.median(self.times)


def rows_of(problem, data, chosen):
    """A row for each system and for what else the problem lists."""
    device, steps, unroll = chosen.device, systems.bound(problem, data, chosen.device), chosen.unroll
    retrograd, torch, jax = (functools.partial(kind, problem, data, device) for kind in (systems.Retrograd, systems.Torch, systems.Jax))
    rows = [Row("Retrograd", retrograd, problem.TOLERANCE), Row("torch eager", torch, problem.TOLERANCE)]
    if not chosen.no_compile:
        rows.append(Row("torch.compile", functools.partial(torch, compiled=True), problem.TOLERANCE))
    rows += [Row("JAX scan", functools.partial(jax, "scan", steps, unroll), problem.TOLERANCE),
             Row("JAX scan, remat", functools.partial(jax, "remat", steps, unroll), problem.TOLERANCE)]
    if hasattr(problem, "alive"):
        rows.append(Row("JAX while_loop", functools.partial(jax, "while"), problem.TOLERANCE))
    kinds = {"retrograd": retrograd, "torch": torch, "jax": jax}
    return rows + [Row(name, functools.partial(kinds[system], **what), tolerance)
                   for name, system, what, tolerance in getattr(problem, "further", list)()]


def difference(mine, other):
    """The largest one of the values and of the norms of the gradients, relative."""
    pairs = [(mine[0], other[0])] + [(mine[1][name], other[1][name]) for name in other[1]]
    pairs = [(np.asarray(a, np.float64), np.asarray(b, np.float64)) for a, b in pairs]
    return max(float(np.linalg.norm((a - b).ravel()) / np.linalg.norm(b.ravel())) for a, b in pairs)


def measure(problem, chosen, seconds):
    """The rows of a problem, in about so many seconds, printed as they come."""
    end = time.perf_counter() + seconds
    rows = rows_of(problem, problem.data(chosen.scale, **problem.SIZES[chosen.device]), chosen)
    for row in sorted(rows, key=lambda row: row.name == "torch.compile"):  # it has most of what the others leave
        row.first(min(FIRST, 0.7 * (end - time.perf_counter())))
        row.say(problem, f"first call {row.compile:.2f} s")
    reference = next(row for row in rows if row.name == "torch eager")
    expected = None if reference.refused else reference.system.results()
    for row in rows:
        if expected and not row.refused:
            row.difference = difference(row.system.results(), expected)
    there = [row for row in rows if not row.refused]
    for turn in range(TURNS):
        begin = time.perf_counter()
        for row in there:
            if not row.refused:
                with row.refusing():
                    row.turn()
        if turn >= 2 and time.perf_counter() + 2 * (time.perf_counter() - begin) > end:
            break
    for row in there:
        if not row.refused:
            with row.refusing():
                row.memory = row.system.memory()
        row.say(problem, row.measured())
    for row in rows:
        row.system = row.make = None
    return rows
