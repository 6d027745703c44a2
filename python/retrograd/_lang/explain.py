"""How a kernel's gradient works, as text."""

from __future__ import annotations

from typing import Any

from .. import _command
from .._arrays import Array
from .._kernels import Kernel
from .kernel import PythonKernel
from .runtime import runtime


def explain(kernel: Any, *args: Any, split: bool = False, device: str | None = None, **named: Any) -> str:
    """A kernel's source, annotated with how its gradient works, and advice.

    It says for each loop what is recorded and what is computed again, how adjoints are added, and how many iterations run side by side in the
    lanes of vectors. Nothing is launched.

    Parameters
    ----------
    kernel
        In Python, or of a C module (then without arguments).
    *args, **named
        As in a call. Numbers, and arrays without an adjoint, are constants.
    split : bool
        Of the reverse alone, after an earlier launch, as `kernel.grad` does it; False: of `forward_grad`.
    device : str, optional
        "cpu", or "cuda" or "amd" for the code of GPUs, which need not be there. By default the device in use.

    Examples
    --------
    >>> import retrograd as rg
    >>> rg.init()
    >>> x = rg.field(float, 8, needs_grad=True)
    >>> @rg.kernel
    ... def square():
    ...     for i in x:
    ...         x[i] = x[i] ** 2
    >>> "parallel loop" in rg.explain(square)
    True
    """
    device = device or runtime.device.partition(":")[0]
    if isinstance(kernel, Kernel):
        if args or named:
            raise TypeError("a kernel of C is explained without arguments")
        return kernel.explain(split=split, device=device)
    if not isinstance(kernel, PythonKernel):
        raise TypeError(f"a kernel is explained, not {type(kernel).__name__}")
    values = kernel.arguments(args, named)
    compiled = kernel.compile(values)
    adjoints = compiled.adjoints(values) or [None] * len(compiled.names)
    words = ["--mode", "split" if split else "combined", "--device", device]
    for name, param, x, adjoint in zip(compiled.names, compiled.params, compiled.inputs(values, again=True), adjoints):
        if param.is_float and adjoint is None and not (isinstance(x, Array) and x.adjoint is not None):
            words += ["--constant", name]
    return _command.explain((compiled.core._text, "i", {"name": kernel.__name__}), kernel.__name__, words)
