"""Functions of Python with a gradient of their own, and what tapes make of a call of one.

A call is a bracket on the tape. What is launched in it is recorded to be run again, and has no reverse; so the tape keeps nothing for it.
The bracket's end has the function's gradient for its reverse. The adjoints that this leaves are put aside while the tape passes by the
launches, which would end them, and are put back by the bracket's beginning.
"""

from __future__ import annotations

import functools
from types import MethodType
from typing import Any, Callable, Iterable

from .._arrays import ADJOINT, Array
from .._kernels import FORWARD
from .launching import Handler, Write, launching


class Replaced:
    """A function of Python with a gradient of its own. Made by `grad_replaced`, `no_grad` and `checkpoint`."""

    __name__: str
    __qualname__: str

    def __init__(self, function: Callable[..., Any], grad: Callable[..., Any] | None = None, again: bool = False, constant: bool = False) -> None:
        self.function, self.again, self.constant = function, again, constant
        self.grad: Callable[..., Any] | None = grad  # its gradient, called with the same arguments
        functools.update_wrapper(self, function)

    def __repr__(self) -> str:
        return f"<rg.ad function {self.__qualname__}>"

    def __get__(self, instance: Any, owner: Any = None) -> "Replaced":
        if instance is None:
            return self
        grad = None if self.grad is None else MethodType(self.grad, instance)
        return Replaced(MethodType(self.function, instance), grad, self.again, self.constant)

    def __call__(self, *args: Any, **named: Any) -> Any:
        if launching.handlers:
            return launching.handlers[-1].call(self, args, named)
        return self.function(*args, **named)


def grad_replaced(function: Callable[..., Any]) -> Replaced:
    """A decorator: a function of Python, or a method, whose gradient is the function that `grad_for` decorates.

    A tape calls that one in place of the gradients of the launches, with the same arguments, and with arrays as the function left them. It adds
    to the `grad` of what the function reads, and uses up those of what it overwrites, as `kernel.grad` does. It may call the function, or
    launch kernels, again: arrays that the function writes are put back afterwards.

    Examples
    --------
    >>> import retrograd as rg
    >>> rg.init()
    >>> x, y = rg.field(float, (), needs_grad=True), rg.field(float, (), needs_grad=True)
    >>> @rg.kernel
    ... def rounded():
    ...     y[None] = rg.round(x[None])
    >>> @rg.kernel
    ... def straight_through():
    ...     x.grad[None] += y.grad[None]
    ...     y.grad[None] = 0.0
    >>> @rg.ad.grad_replaced
    ... def quantize():
    ...     rounded()
    >>> @rg.ad.grad_for(quantize)
    ... def quantize_grad():
    ...     straight_through()
    >>> with rg.ad.Tape(y):
    ...     quantize()
    >>> x.grad[None]
    1.0
    """
    return Replaced(function)


def grad_for(primal: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A decorator: the gradient of a function that `grad_replaced` has decorated."""
    if not isinstance(primal, Replaced):
        raise RuntimeError(f"the gradient of `{getattr(primal, '__name__', primal)}` cannot be replaced: grad_for takes a function of Python that "
                           "`rg.ad.grad_replaced` decorates (and that may launch kernels)")
    if primal.grad is not None or primal.again:
        raise RuntimeError(f"`{primal.__name__}` has a gradient already")

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        primal.grad = function
        return function

    return decorate


def _nothing(*args: Any, **named: Any) -> None:
    return


def no_grad(function: Callable[..., Any]) -> Replaced:
    """A decorator: a function of Python whose gradient is nothing: what it adds, and what it stores, is constant, and derivatives of what it
    adds to or stores to stay as they are."""
    return Replaced(function, _nothing, constant=True)


def checkpoint(function: Callable[..., Any]) -> Replaced:
    """A decorator: a function of Python that tapes do not keep anything of but what the arrays that it writes held before.

    For its gradient it is called again, with the same arguments, and recorded then. It has to do the same each time.

    Examples
    --------
    >>> import retrograd as rg
    >>> rg.init()
    >>> x, loss = rg.field(float, (), needs_grad=True), rg.field(float, (), needs_grad=True)
    >>> @rg.kernel
    ... def step():
    ...     x[None] = x[None] * x[None]
    >>> @rg.kernel
    ... def read():
    ...     loss[None] = x[None]
    >>> @rg.ad.checkpoint
    ... def steps(n):
    ...     for _ in range(n):
    ...         step()
    >>> x[None] = 1.5
    >>> with rg.ad.Tape(loss):
    ...     steps(1)
    ...     steps(1)
    ...     read()
    >>> x.grad[None]
    13.5
    """
    return Replaced(function, again=True)


class Saved:
    """What arrays held."""

    def __init__(self) -> None:
        self.copies: dict[int, tuple[Array, Array]] = {}

    def save(self, array: Array) -> None:
        """What it holds now, if nothing is known of it yet."""
        if id(array) not in self.copies:
            copy = Array(array.shape, array.dtype.name, array.device, None, False, False, 0, False, None)
            copy._copy_from(array)
            self.copies[id(array)] = array, copy

    def put_back(self) -> None:
        """They hold that again."""
        for array, copy in self.copies.values():
            array._copy_from(copy)


class Bracket(Handler):
    """A call of a function with a gradient of its own, on a tape."""

    def __init__(self, tape: Any, function: Replaced, args: tuple[Any, ...], named: dict[str, Any]) -> None:
        self.tape, self.function, self.args, self.named = tape, function, args, named
        self.name = function.__name__
        self.known = dict(tape.used)
        self.read: dict[int, Array] = {}
        self.written: dict[int, Array] = {}
        self.before = Saved()  # checkpoints: what the function overwrites
        self.adjoints = Saved()

    def run(self) -> Any:
        """The call."""
        if self.function.grad is None and not self.function.again:
            raise RuntimeError(f"`{self.name}` has no gradient: decorate one with `rg.ad.grad_for({self.name})`")
        core = self.tape.core
        core._call(self.name, _nothing, self._begin_reversed, (), ())
        try:
            with launching.under(self):
                result = self.function.function(*self.args, **self.named)
        except BaseException:
            self.tape.broken = self.name
            raise
        read = tuple(a for k, a in self.read.items() if k not in self.written)
        core._call(self.name, _nothing, self._end_reversed, read, tuple(self.written.values()))
        if self.function.constant:
            self._stop(self.written.values())
        return result

    def _stop(self, arrays: Iterable[Array]) -> None:
        """Those without an adjoint are constants from now on: no derivative is lost in them."""
        for a in arrays:
            if a.dtype.kind == "f" and a._plane(ADJOINT) is None:
                self.tape.core.stop_gradient(a)

    # -- what it launches ----------------------------------------------------------------------------------------------

    def launch(self, kernel: Any, args: tuple[Any, ...]) -> Any:
        compiled = kernel.compile(args)
        inputs = self.tape.inputs(compiled, args)
        result: list[Any] = []
        self._operation(kernel.__name__, lambda: result.append(compiled.launch(FORWARD, inputs)),
                        [x for x, p in zip(inputs, compiled.params) if p.read and is_whole(x)],
                        [x for x, p in zip(inputs, compiled.params) if p.written and is_whole(x)])
        return result.pop()

    def write(self, write: Write) -> None:
        self._operation("write", write.do, [write.array] if write.index else [], [write.array])

    def copy(self, to: Array, source: Array) -> None:
        self._operation("copy", lambda: to._copy_from(source), [source], [to])

    def _operation(self, name: str, do: Callable[[], None], read: list[Array], written: list[Array]) -> None:
        if self.function.again:
            with self.tape.aside():
                for a in written:
                    self.before.save(a)
        self.tape.core._call(name, do, None, tuple(read), tuple(written))
        self._stop(written)  # within the function, what depends on them is up to its gradient
        self.read.update((id(a), a) for a in read)
        self.written.update((id(a), a) for a in written)
        self.tape.use((*read, *written))

    def aside(self) -> Any:
        return self.tape.aside()

    # -- the reverse ---------------------------------------------------------------------------------------------------

    def _end_reversed(self) -> None:
        left = Saved()
        for a in self.written.values():
            left.save(a)
        try:
            if self.function.again:
                self._again()
            else:
                assert self.function.grad is not None
                self.function.grad(*self.args, **self.named)
        finally:
            left.put_back()
        for a in self.written.values():
            adjoint = a._plane(ADJOINT)
            if adjoint is not None:
                self.adjoints.save(adjoint)

    def _again(self) -> None:
        from .ad_tape import Tape

        self.before.put_back()
        self.before = Saved()
        tape = Tape()
        tape.used = self.known
        with tape:
            self.function.function(*self.args, **self.named)
        tape.grad()

    def _begin_reversed(self) -> None:
        self.adjoints.put_back()
        self.adjoints = Saved()


def is_whole(x: Any) -> bool:
    """Whether it is an array of the library, and not the derivative of one."""
    return isinstance(x, Array) and not x._is_derivative
