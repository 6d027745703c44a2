"""Tapes record calls of kernels and reverse them; graphs record and repeat them."""

from __future__ import annotations

from contextlib import contextmanager
from typing import Any, Callable, Iterator, Sequence

from . import _core
from ._arrays import Array


class Tape(_core.Tape):
    """A record of calls, for the gradient through all of them. Made by `tape`; a context manager.

    Inside the `with` block calls of kernels, and `fill` and `write` of arrays, are done and recorded. All arrays are `retrograd.array`s.
    What they overwrite is saved where the reverse needs it. Kernels' results are returned, and are constants. Calls that would not
    be recorded, on another device or in another queue, are refused; `pause` and functions of `call` may do anything.
    """

    def __enter__(self) -> "Tape":
        return self

    def __exit__(self, *failure: Any) -> None:
        self._end()

    @contextmanager
    def pause(self) -> Iterator[None]:
        """Calls in this block are done and not recorded; gradients take what they write for constants."""
        self._pause()
        try:
            yield
        finally:
            self._resume()

    def call(self, forward: Callable[[], Any], reverse: Callable[[], Any] | None, reads: Sequence[Array], writes: Sequence[Array],
             name: str = "") -> None:
        """Call a Python function as one operation with a reverse of its own.

        Parameters
        ----------
        forward : callable
            Called at once, and again when states are recomputed.
        reverse : callable or None
            Adds to the adjoints of `reads`, and uses up those of `writes`. None: the adjoints of `writes` become zero.
        reads, writes : sequences of Array
            All arrays that `forward` reads, and writes.
        name : str
            For messages.
        """
        self._call(name or getattr(forward, "__name__", ""), forward, reverse, tuple(reads), tuple(writes))


class Graph(_core.Graph):
    """A recorded sequence of calls, launched again as a whole. Made by `graph`; a context manager."""

    def __enter__(self) -> "Graph":
        return self

    def __exit__(self, *failure: Any) -> None:
        self._end()


def tape(*, device: Any = "cpu", budget: int = 0, validate: bool = False,
         progress: Callable[[int, int, int], bool | None] | None = None) -> Tape:
    """Record calls on a device.

    Parameters
    ----------
    device : str or Device
        Whose queue of this thread is recorded.
    budget : int
        Bytes for copies of arrays; beyond it states are recomputed. 0: no bound.
    validate : bool
        Compare checksums of memory that others own.
    progress : callable, optional
        Called by `vjp` with the numbers of operations reversed, of all, and of those run again; False ends it (`CancelledError`).
        A bar of tqdm:

            bar = tqdm.tqdm(total=steps)
            progress = lambda done, operations, again: bar.update(done - bar.n)

    Examples
    --------
    >>> import retrograd as rg
    >>> step = rg.compile_c("void step(int n, double x[n]) { for (int i = 0; i < n; i++) x[i] = x[i] * x[i]; }").step
    >>> x = rg.array([1.1], adjoint=True)
    >>> with rg.tape() as t:
    ...     for _ in range(3):
    ...         step(x)
    >>> x.adjoint.fill(1)
    >>> t.vjp()
    >>> round(x.adjoint[0].item(), 6) == round(8 * 1.1**7, 6)
    True
    """
    return Tape(_core.current_queue(device), budget, validate, progress)


def graph(*, device: Any = "cpu") -> Graph:
    """Record calls without doing them, to launch all of them at once.

    Examples
    --------
    >>> import retrograd as rg
    >>> step = rg.compile_c("void step(int n, double x[n]) { for (int i = 0; i < n; i++) x[i] += 1; }").step
    >>> x = rg.zeros(2)
    >>> with rg.graph() as g:
    ...     step(x)
    ...     step(x)
    >>> g.launch()
    >>> x.numpy()
    array([2., 2.])
    """
    return Graph(_core.current_queue(device))
