"""What takes the launches of this thread, and what the host writes: tapes and forward modes, while they are open."""

from __future__ import annotations

import threading
from contextlib import ExitStack, contextmanager, nullcontext
from typing import Any, Callable, Iterator

from .. import _core
from .._arrays import Array
from .runtime import runtime


NOTHING = nullcontext()


class Write:
    """The host sets the elements of an array behind an index of its first axes; without an index all of them."""

    __slots__ = ("array", "do", "index", "values")

    def __init__(self, array: Array, do: Callable[[], None], index: tuple[int, ...] = (), values: Any = None) -> None:
        self.array, self.do, self.index, self.values = array, do, index, values


class Handler:
    """Takes launches and writes in place of the device. Both are done when these return."""

    def launch(self, kernel: Any, args: tuple[Any, ...]) -> Any:
        """A kernel is called."""
        raise NotImplementedError

    def call(self, function: Any, args: tuple[Any, ...], named: dict[str, Any]) -> Any:
        """A function with a gradient of its own is called."""
        return function.function(*args, **named)

    def write(self, write: Write) -> None:
        """The host writes values."""
        write.do()

    def copy(self, to: Array, source: Array) -> None:
        """The host copies values."""
        to._copy_from(source)

    @contextmanager
    def aside(self) -> Iterator[None]:
        """A block in which launches are not for it."""
        yield


class Launching(threading.local):
    """The handlers that are open in this thread, the innermost last."""

    def __init__(self) -> None:
        self.handlers: list[Handler] = []

    def write(self, data: Any, do: Callable[[], None], index: tuple[int, ...] = (), values: Any = None) -> None:
        """The host writes a field or an ndarray. Derivatives are not the handlers' affair."""
        if self.handlers and data.primal is None:
            self.handlers[-1].write(Write(data.array, do, index, values))
        else:
            do()

    def copy(self, to: Any, source: Any) -> None:
        """The host copies a field or an ndarray to another one."""
        if self.handlers and to.primal is None and source.primal is None:
            self.handlers[-1].copy(to.array, source.array)
        else:
            self.write(to, lambda: to.array._copy_from(source.array))

    def leave(self, handler: Handler) -> None:
        """Its block ends. After a reset there is no handler."""
        if handler in self.handlers:
            self.handlers.remove(handler)

    @contextmanager
    def under(self, *handlers: Handler) -> Iterator[None]:
        """A block in which these are the handlers, and no others."""
        before, self.handlers = self.handlers, list(handlers)
        try:
            yield
        finally:
            self.handlers = before

    def aside(self) -> Any:
        """A block whose launches are done, and nothing more."""
        return self._aside() if self.handlers else NOTHING

    @contextmanager
    def _aside(self) -> Iterator[None]:
        with ExitStack() as stack:
            for handler in self.handlers:
                stack.enter_context(handler.aside())
            stack.enter_context(self.under())
            yield


launching = Launching()
runtime.at_reset.append(lambda: launching.handlers.clear())
_core.launches_under(launching)
