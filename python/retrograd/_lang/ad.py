"""Derivatives of kernels: what a launch does under tapes and in forward mode, and the reverse of one launch."""

from __future__ import annotations

import threading
from typing import Any

from .._kernels import VJP


class Launching(threading.local):
    """What takes the launches of this thread instead of the device: tapes, forward modes; the innermost last."""

    def __init__(self) -> None:
        self.handlers: list[Any] = []

    def launch(self, kernel: Any, args: tuple[Any, ...]) -> Any:
        """A launch is asked for."""
        return self.handlers[-1].launch(kernel, args)


launching = Launching()


def has_adjoint(inputs: tuple[Any, ...], adjoints: Any) -> bool:
    """Whether an array of a launch has an adjoint."""
    return adjoints is not None or any(getattr(x, "_planes", None) and any(p == 1 for p, _ in x._planes) for x in inputs)


def reverse(kernel: Any, args: tuple[Any, ...]) -> None:
    """The reverse of one launch, from the arrays as they stand."""
    compiled = kernel.compile(args)
    adjoints = kernel.adjoints(args)
    if has_adjoint(compiled.inputs(args), adjoints):
        compiled.run(VJP, args, adjoints=adjoints)
