"""Where the time goes: launches, with `init(kernel_profiler=True)`, and parts of a program.

>>> import retrograd as rg
>>> rg.init(kernel_profiler=True)
>>> x = rg.field(float, 1000)
>>> @rg.kernel
... def fill():
...     for i in x:
...         x[i] = i
>>> for _ in range(3):
...     fill()
>>> rg.profiler.query_kernel_profiler_info("fill").counter
2

The first launch of a kernel, which may compile it, stands apart. A launch is timed from an idle device until it is idle again.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass

from ._lang.errors import RuntimeError_
from ._lang.profiling import Times, on, profile, table


@dataclass(frozen=True)
class KernelProfilerQueryResult:
    """How often a kernel was launched, and milliseconds."""

    counter: int
    min: float
    max: float
    avg: float


def _need() -> None:
    if not on():
        raise RuntimeError_("launches are not timed: call init(kernel_profiler=True)")


def print_kernel_profiler_info() -> None:
    """Print the times of all launches, by kernel and form: `step.grad` is the reverse of `step`."""
    _need()
    print(table(profile.launches, "kernel", True))


def query_kernel_profiler_info(name: str) -> KernelProfilerQueryResult:
    """The times of a kernel's launches, without the first.

    Parameters
    ----------
    name : str
        Of the kernel; "step.grad": of its reverse.
    """
    _need()
    times = profile.launches.get(name, Times()).others
    return KernelProfilerQueryResult(len(times), min(times, default=0.0), max(times, default=0.0), sum(times) / max(1, len(times)))


def get_kernel_profiler_total_time() -> float:
    """Seconds of all launches, without the first ones."""
    _need()
    return sum(t.total for t in profile.launches.values()) / 1e3


def clear_kernel_profiler_info() -> None:
    """Forget the times so far."""
    _need()
    profile.clear()


def scoped(name: str) -> AbstractContextManager[None]:
    """A block whose time is taken, on the host and on the device.

    >>> import retrograd as rg
    >>> rg.init()
    >>> x = rg.field(float, 1000)
    >>> with rg.profiler.scoped("fill"):
    ...     x.fill(1)
    """
    return profile.part(name)


def print_scoped_profiler_info() -> None:
    """Print the times of all blocks."""
    print(table(profile.parts, "block", False))


def clear_scoped_profiler_info() -> None:
    """Forget the times of blocks."""
    profile.parts.clear()


__all__ = ["KernelProfilerQueryResult", "clear_kernel_profiler_info", "clear_scoped_profiler_info", "get_kernel_profiler_total_time",
           "print_kernel_profiler_info", "print_scoped_profiler_info", "query_kernel_profiler_info", "scoped"]
