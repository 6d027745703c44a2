"""Gradients of a tape beside differences of its loss."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import dtypes
from .data import Data, unwrap
from .errors import AssertionError_, RuntimeError_
from .layout import all_fields
from .launching import launching

STEPS = [2.0**-k for k in range(3, 30, 2)]


class Checker:
    """Compares the gradients of some arrays with central differences along a random direction.

    It does all calls of the tape again, from what the arrays held when the block began.
    """

    def __init__(self, loss: Any, arrays: Any) -> None:
        assert isinstance(arrays, (list, tuple)), "grad_check should be a list of fields that need to check gradients."
        self.loss, self.arrays = loss, [unwrap(x) for x in arrays]
        self.held: dict[int, tuple[Data, Any]] = {}
        if not isinstance(loss, Data):
            raise RuntimeError_("grad_check needs a loss that is a field or an ndarray")
        for x in self.arrays:
            if not isinstance(x, Data) or not x.has_grad():
                raise RuntimeError_(f"grad_check takes fields and ndarrays with gradients, and {getattr(x, 'name', '') or type(x).__name__} is none")
        assert loss.dtype is dtypes.f64, f"grad_check needs a loss of f64, not {loss.dtype}: smaller steps would drown in rounding."

    def begin(self) -> None:
        """The block begins."""
        self.note((*(f for f in all_fields() if f.placed), self.loss, *self.arrays))

    def note(self, args: tuple[Any, ...]) -> None:
        """Keeps what the arrays among some arguments hold."""
        for x in map(unwrap, args):
            if isinstance(x, Data) and id(x) not in self.held:
                self.held[id(x)] = x, x.to_numpy()

    def end(self, calls: list[Any]) -> None:
        """The gradients are there."""
        self.calls = calls
        draw = np.random.default_rng(0)
        wrong = []
        for k, x in enumerate(self.arrays):
            if x is not self.loss:
                wrong += self._compare(k, x, draw.random(x.shape + x.element_shape))
        self._again()
        if wrong:
            raise AssertionError_("Grad check failed: " + "; ".join(wrong))

    def _compare(self, k: int, x: Data, direction: np.ndarray[Any, Any]) -> list[str]:
        slope = float(np.sum(x.grad.to_numpy() * direction))
        found = []
        for step in STEPS:
            found.append((self._loss_at(x, step * direction) - self._loss_at(x, -step * direction)) / (2 * step))
            if abs(slope - found[-1]) * 100 <= abs(slope):
                return []
        nearest = min(found, key=lambda d: abs(d - slope))
        return [f"variable {k} ({x.name or x.kind}): the derivative along a random direction is {slope:.9g}, and by differences {nearest:.9g}"]

    def _loss_at(self, x: Data, change: np.ndarray[Any, Any]) -> float:
        self._again(x, change)
        return float(self.loss.to_numpy().reshape(()))

    def _again(self, x: Data | None = None, change: Any = 0) -> None:
        for data, values in self.held.values():
            data.from_numpy(values + change if data is x else values)
        with launching.under():
            for function, args in self.calls:
                function(*args)
