"""Times of launches, and of parts of a program: what `init(kernel_profiler=True)` turns on."""

from __future__ import annotations

import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Callable, Iterator

from .. import _core
from .runtime import cfg, runtime

FORMS = ("", ".grad", ".forward_grad", ".jvp", ".jvp_grad", ".hvp")  # by the number of a launch's form


@dataclass
class Times:
    """Milliseconds of launches of one kernel in one form, whose first one may compile and stands apart, or of one part of the program."""

    first: float = 0.0
    others: list[float] = field(default_factory=list)
    started: bool = False

    def add(self, milliseconds: float) -> None:
        """One more."""
        if self.started:
            self.others.append(milliseconds)
        else:
            self.first, self.started = milliseconds, True

    @property
    def total(self) -> float:
        """Of all but the first."""
        return sum(self.others)


class Profile:
    """All times since `init`, by name."""

    def __init__(self) -> None:
        self.launches: dict[str, Times] = {}
        self.parts: dict[str, Times] = {}

    def launch(self, name: str, form: int, run: Callable[[], Any]) -> Any:
        """A launch, with the device idle before and after it."""
        queue = _core.current_queue(runtime.device)
        queue.sync()
        start = time.perf_counter()
        result = run()
        queue.sync()
        self.launches.setdefault(name + FORMS[form], Times()).add((time.perf_counter() - start) * 1e3)
        return result

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        """A part of the program."""
        _core.current_queue(runtime.device).sync()
        start = time.perf_counter()
        try:
            yield
            _core.current_queue(runtime.device).sync()
        finally:
            self.parts.setdefault(name, Times(started=True)).add((time.perf_counter() - start) * 1e3)

    def clear(self) -> None:
        """Forget the times of launches; the next ones are no first ones."""
        for times in self.launches.values():
            times.others.clear()


profile = Profile()


def _restart() -> None:
    profile.launches.clear()
    profile.parts.clear()


runtime.at_reset.append(_restart)


def on() -> bool:
    """Whether launches are timed."""
    return cfg.kernel_profiler


def table(of: dict[str, Times], what: str, apart: bool) -> str:
    """Times as text, the longest in all first. `apart`: the first of each, which may compile, is one of its own."""
    whole = sum(t.total for t in of.values()) or 1.0
    rows = [f"{'share':>7} {'total':>10} {'times':>7} {'least':>9} {'mean':>9} {'most':>9}" + f" {'first':>9}" * apart + f"   {what} (milliseconds)"]
    for name, t in sorted(of.items(), key=lambda item: -item[1].total):
        n = len(t.others)
        numbers = [min(t.others), t.total / n, max(t.others)] if n else [0.0] * 3
        rows.append(f"{100 * t.total / whole:6.1f}% {t.total:10.3f} {n:7} {numbers[0]:9.3f} {numbers[1]:9.3f} {numbers[2]:9.3f}" + f" {t.first:9.3f}" * apart + f"   {name}")
    return "\n".join(rows)
