"""Programs with fields as users of Quadrants write them: the same text for `quadrants` and `retrograd`.

Each module has `make(ti, scale)`, which declares fields and kernels with the module `ti` and gives a `Program`. `bounded` (where it is there)
is the text for systems that differentiate no `while` and no `break`: a loop to a bound that the user has to know, with a flag.
"""

from __future__ import annotations

from typing import Any, Callable, Sequence


class Program:
    """Launches, and what is compared.

    Attributes
    ----------
    launches : list of (kernel, arguments)
        The forward computation, in order; it does not change its inputs.
    clear : callable
        Sets what the launches add to.
    seed : field
        A scalar, whose adjoint is set to 1.
    inputs : list of fields
        Whose adjoints are compared.
    """

    def __init__(self, launches: Sequence[tuple[Any, tuple[Any, ...]]], clear: Callable[[], None], seed: Any, inputs: Sequence[Any]) -> None:
        self.launches, self.clear, self.seed, self.inputs = launches, clear, seed, inputs

    def forward(self) -> None:
        """The computation."""
        self.clear()
        for kernel, args in self.launches:
            kernel(*args)

    def gradient(self) -> None:
        """The computation and its reverse."""
        self.forward()
        self.seed.grad[None] = 1.0
        for kernel, args in reversed(self.launches):
            kernel.grad(*args)
