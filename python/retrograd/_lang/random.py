"""Random numbers in kernels: a hash of the seed, the launch, the thread, the place in the source and the number of the draw.

Nothing is stored between draws, so that a reverse sweep draws what the forward sweep drew, whatever the order of the threads.
"""

from __future__ import annotations

import math
from typing import Any

from . import dtypes
from . import expr as e
from .build import Build, Where, building, current
from .dtypes import DType
from .errors import RuntimeError_, TypeError_
from .expr import Expr
from .functions import cos, log, sqrt
from .places import Variable
from .runtime import cfg, runtime

MANTISSA = {16: 11, 32: 24, 64: 53}
ODD = 0x9E3779B97F4A7C15
MIX = ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), (31, 1))  # SplitMix64


class LaunchNumber:
    """What a launch gives for the hidden argument `launch`: its number since `init`. The reverse of a launch has that of the launch."""

    def __init__(self) -> None:
        self.number = 0

    def advance(self) -> None:
        """A launch begins."""
        runtime.launches += 1
        self.number = runtime.launches

    def __call__(self, args: tuple[Any, ...]) -> int:
        return self.number


def seed_of(args: tuple[Any, ...]) -> int:
    """What it gives for the hidden argument `seed`."""
    return cfg.random_seed & 0xFFFFFFFFFFFFFFFF


class Draws:
    """The hidden arguments of a kernel that draws, and how many places of its source do."""

    def __init__(self, build: Build) -> None:
        self.sites = 0
        self.seed = self._hidden(build, "random_seed", seed_of)
        self.launch = self._hidden(build, "random_launch", LaunchNumber())

    @staticmethod
    def _hidden(build: Build, name: str, getter: Any) -> Expr:
        unique = build.unique(name)
        build.inputs.append((unique, getter))
        return Expr(build.builder.scalar(unique, dtypes.u64.code), dtypes.u64)


def mixed(x: Any) -> Any:
    """A number each of whose bits depends on all bits of x."""
    for shift, factor in MIX:
        x = e.apply("mul", dtypes.u64, x ^ shifted(x, shift), factor)
    return x


def shifted(x: Any, count: int) -> Any:
    """The bits of x, so many places to the right."""
    return x >> e.typed(count, dtypes.u64)


def joined(state: Any, part: Any) -> Any:
    """A hash of two numbers."""
    return mixed(e.apply("add", dtypes.u64, e.apply("add", dtypes.u64, state, e.apply("mul", dtypes.u64, part, ODD)), 1))


def draw() -> Any:
    """64 random bits."""
    build = current()
    if build.draws is None:
        build.draws = Draws(build)
    draws, kernel, here = build.draws, build.serial, build.where
    draws.sites += 1
    state = joined(joined(draws.seed, draws.launch), draws.sites)
    if here is not kernel:
        here.draws = True
        for index in here.indices:
            state = joined(state, index)
        if kernel.repeats:  # the loop is in a loop
            state = joined(state, counter(kernel).load())
    if here.repeats:
        state = joined(state, count(here))
    return state


def counter(where: Where) -> Variable:
    """Counts what is drawn in repetitions."""
    if where.counter is None:
        where.counter = current().var("draws", dtypes.u64, 0, where.depth)
    return Variable(where.counter, dtypes.u64)


def count(where: Where) -> Any:
    """The number of this draw."""
    number = counter(where).load()
    counter(where).store(number + e.typed(1, dtypes.u64))
    return number


def random(dtype: Any = float) -> Any:
    """A random number: a float from 0 to 1 (without 1), an integer of any bits. To derivatives it is a constant.

    Which numbers are drawn depends on `random_seed` of `init`, and on how many launches came before.

    Examples
    --------
    >>> import retrograd as rg
    >>> rg.init(random_seed=7)
    >>> x = rg.field(float, 1000)
    >>> @rg.kernel
    ... def noise():
    ...     for i in x:
    ...         x[i] = rg.random()
    >>> noise()
    """
    if not building():
        raise RuntimeError_("random() draws in kernels only; Python and NumPy have generators of their own")
    t = dtypes.of(dtype)
    if t is None:
        raise TypeError_(f"{dtype!r} is not a scalar type")
    return _number(draw(), t)


def _number(bits: Expr, t: DType) -> Any:
    if not t.is_float:
        return e.cast(shifted(bits, 64 - t.bits), t)
    digits = MANTISSA[t.bits]
    return e.cast(shifted(bits, 64 - digits), t) * e.typed(2.0**-digits, t)


def randn(dtype: Any = float) -> Any:
    """A random number of the standard normal distribution. To derivatives it is a constant."""
    t = dtypes.of(dtype)
    if t is None or not t.is_float:
        raise TypeError_(f"randn draws floats, not {dtype!r}")
    first, second = random(t), random(t)
    return sqrt(e.typed(-2, t) * log(e.typed(1, t) - first)) * cos(e.typed(2 * math.pi, t) * second)


__all__ = ["randn", "random"]
