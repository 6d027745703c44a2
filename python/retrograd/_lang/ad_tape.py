"""Tapes: the gradient through all launches of a block."""

from __future__ import annotations

import inspect
import warnings
from contextlib import contextmanager
from typing import Any, Iterator

import numpy as np

from .. import _core
from .._arrays import ADJOINT, Array
from .._kernels import FORWARD, Kernel
from . import ad_check, ad_validation
from .ad import copy_of
from .ad_replaced import Bracket
from .array_parameters import CopiedGetter, TensorGetter, is_tensor, tensor_adjoint
from .data import Data, size_of, unwrap
from .errors import RuntimeError_
from .fields import Field
from .launching import Handler, Write, launching
from .layout import all_fields
from .runtime import cfg, need_init, runtime

NOT_DEBUGGING = "Debug mode is disabled, autodiff valid check will not work. Please specify `rg.init(debug=True)` to enable the check."
NOT_ALLOCATED = "Gradients of loss are not allocated, please "


class Tape(Handler):
    """A block whose launches are recorded; when it ends, the gradient of `loss` has been added to the `grad` of all arrays.

    Kernels may work in place, and loops and branches of Python may stand between them: the tape keeps what a launch overwrites and the
    reverse needs. Launches of other threads are not recorded.

    Parameters
    ----------
    loss : field of shape (), ndarray or tensor of one element, optional
        Set to 0 when the block begins. Without it nothing is done at the end: set the `grad` of what the gradient comes from, then call `grad`.
    clear_gradients : bool
        Set the `grad` of all fields to 0 when the block begins (not those of ndarrays and tensors).
    validation : bool
        With `init(debug=True)`: an element that is read, and written later, is an `AssertionError` that names the array. Tapes that keep what is
        overwritten do not need this rule; those of other systems do.
    grad_check : list of fields, optional
        Compare their gradients with differences when the block ends; the loss is f64.
    budget : int
        Bytes for copies of arrays; beyond it launches are done again to have what they overwrote. 0: no bound.

    Attributes
    ----------
    calls : list
        What was recorded: functions and arguments.

    Examples
    --------
    >>> import retrograd as rg
    >>> rg.init()
    >>> x, loss = rg.field(float, 3, needs_grad=True), rg.field(float, (), needs_grad=True)
    >>> @rg.kernel
    ... def step():
    ...     for i in x:
    ...         x[i] = x[i] * x[i]
    >>> @rg.kernel
    ... def total():
    ...     for i in x:
    ...         loss[None] += x[i]
    >>> x.fill(1.5)
    >>> with rg.ad.Tape(loss):
    ...     for _ in range(2):
    ...         step()
    ...     total()
    >>> x.grad.to_numpy()
    array([13.5, 13.5, 13.5], dtype=float32)
    """

    def __init__(self, loss: Any = None, clear_gradients: bool = True, validation: bool = False, grad_check: list[Any] | None = None, *,
                 budget: int = 0) -> None:
        need_init()
        self.loss, self.clear_gradients, self.validation, self.budget = unwrap(loss), clear_gradients, validation and cfg.debug, budget
        if validation and not cfg.debug:
            warnings.warn(NOT_DEBUGGING, Warning, stacklevel=2)
        self.checker = None if grad_check is None else ad_check.Checker(self.loss, grad_check)
        self.calls: list[tuple[Any, tuple[Any, ...]]] = []
        self.entered = self.evaluated = False
        self.recording = self.paused = False
        self.broken = ""
        self.core: Any = None
        self.marks: dict[Any, tuple[Any, Array]] = {}  # validation: what has been read
        self.used: dict[int, Array] = {}  # by id: arrays of recorded operations
        self.lent: dict[Any, tuple[Array, Any, Any]] = {}  # by place in memory: arrays of the library there, tensors with gradients, whose it is

    # -- the block -----------------------------------------------------------------------------------------------------

    def __enter__(self) -> "Tape":
        assert not self.entered, "Tape can be entered only once."
        if launching.handlers:
            raise RuntimeError_("a tape or a forward mode is open already: leave its block first")
        if self.loss is not None:
            self._begin_loss()
        if self.checker is not None:
            self.checker.begin()
        self.core = _core.Tape(_core.current_queue(runtime.device), self.budget, not _core.device(runtime.device).own_memory, None)
        self.entered = self.recording = True
        launching.handlers.append(self)
        return self

    def __exit__(self, failure: Any, *rest: Any) -> None:
        self._end()
        if failure is None and self.loss is not None and not self.evaluated:
            self.grad()

    def _end(self) -> None:
        if self.recording:
            self.recording = False
            launching.leave(self)
            self.core._end()

    def _begin_loss(self) -> None:
        loss = self.loss
        if isinstance(loss, Field):
            if loss.shape or loss.element_shape:
                raise RuntimeError_(f"The loss of `Tape` must be a 0-D field, i.e. scalar, not one of shape {loss.shape + loss.element_shape}")
            if not loss.has_grad():
                raise RuntimeError_(NOT_ALLOCATED + "use rg.field(..., needs_grad=True) for all fields that are required by autodiff.")
            if self.clear_gradients:
                clear_all_gradients()
            loss.fill(0)
        elif isinstance(loss, Data):
            if size_of(loss) != 1:
                raise RuntimeError_("The loss of `Tape` must be an ndarray with only one element")
            if not loss.has_grad():
                raise RuntimeError_(NOT_ALLOCATED + "set needs_grad=True for all ndarrays that are required by autodiff.")
            loss.fill(0)
        elif is_tensor(loss):
            if loss.numel() != 1:
                raise RuntimeError_("The loss of `Tape` must be a tensor only contains one element")
            if not loss.requires_grad:
                raise RuntimeError_(NOT_ALLOCATED + "set requires_grad=True for all tensors that are required by autodiff.")
            loss.detach().zero_()
        else:
            raise RuntimeError_(f"The loss of `Tape` is a field, an ndarray or a tensor of torch, not {type(loss).__name__}")

    def grad(self) -> None:
        """The reverse of all that was recorded; called at the end of the block where there is a loss, whose `grad` it sets to 1."""
        assert self.entered, "Before evaluating gradients tape must be entered."
        assert not self.evaluated, "Gradients of a tape can be evaluated only once."
        self._end()
        if self.broken:
            raise RuntimeError_(f"the tape cannot be reversed: `{self.broken}`, which has a gradient of its own, was left by an exception")
        self.evaluated = True
        if self.loss is not None:
            if is_tensor(self.loss):
                tensor_adjoint(self.loss).fill_(1)
            else:
                self.loss.grad.fill(1)
        for array, tensor, _ in self.lent.values():
            if tensor is not None:
                array._attach(ADJOINT, tensor_adjoint(tensor))  # it may be another one now
        with launching.under():
            self.core.vjp()
            if self.checker is not None:
                self.checker.end(self.calls)

    # -- recording -----------------------------------------------------------------------------------------------------

    def launch(self, kernel: Any, args: tuple[Any, ...]) -> Any:
        compiled = kernel.compile(args)
        if self.checker is not None:
            self.checker.note(args)
        if self.validation:
            ad_validation.validate(kernel, args, self.marks)
        inputs = self.inputs(compiled, args)
        try:
            result = compiled.launch(FORWARD, inputs)
        except _core.InvalidError as error:
            if "depends on an array with an adjoint" not in str(error):
                raise
            raise _core.InvalidError(f"kernel {kernel.__name__}: {str(error).partition(': ')[0]}: make it with `needs_grad=True`; or, as a constant, "
                                     "write it in a function that `rg.ad.no_grad` decorates") from None
        self.use(inputs)
        self.calls.append((kernel, args))
        return result

    def call(self, function: Any, args: tuple[Any, ...], named: dict[str, Any]) -> Any:
        bracket = Bracket(self, function, args, named)
        result = bracket.run()
        self.calls.append((function, inspect.signature(function.function).bind(*args, **named).args if named else args))
        return result

    def write(self, write: Write) -> None:
        if id(write.array) not in self.used:  # what the program begins with: the gradient is that of what is written
            with self.aside():
                write.do()
        elif write.index or write.values is not None:
            put(write)
        else:
            write.do()

    def copy(self, to: Array, source: Array) -> None:
        to._copy_from(source)
        self.use((to, source))

    @contextmanager
    def aside(self) -> Iterator[None]:
        if not self.recording or self.paused:
            yield
            return
        self.paused = True
        self.core._pause()
        try:
            yield
        finally:
            self.core._resume()
            self.paused = False

    def use(self, inputs: tuple[Any, ...]) -> None:
        """Arrays are on the tape from now on."""
        for x in inputs:
            if isinstance(x, Array):
                self.used[id(x)] = x

    def inputs(self, compiled: Any, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """What a launch takes, all of it the library's arrays."""
        found = []
        for k, (x, getter) in enumerate(zip(compiled.inputs(args), compiled.getters)):
            if isinstance(getter, CopiedGetter):
                raise RuntimeError_(f"argument '{compiled.names[k]}' is in other memory than the device's: on a tape arrays have to be on its device")
            if isinstance(x, Array) and x._is_derivative and not compiled.written[k]:
                with self.aside():
                    x = copy_of(x)  # a constant; the reverse adds to what is in its memory
            foreign = isinstance(x, np.ndarray) or is_tensor(x)
            tensor = getter.at(args) if isinstance(getter, TensorGetter) else None
            found.append(self.lend(x, tensor, compiled.names[k], compiled.written[k]) if foreign else x)
        return tuple(found)

    def lend(self, memory: Any, tensor: Any, name: str, written: bool) -> Array:
        """Others' memory as an array of the library, the same one for the whole tape."""
        at, strides = (memory.ctypes.data, memory.strides) if isinstance(memory, np.ndarray) else (memory.data_ptr(), memory.stride())
        key = at, memory.dtype, tuple(memory.shape), strides, tensor is not None
        if key not in self.lent:
            fixed = not written and isinstance(memory, np.ndarray) and not memory.flags.writeable
            made = Array((), "", runtime.device, memory.copy() if fixed else memory, False, False, 0, False, name)
            if tensor is not None:
                made._attach(ADJOINT, tensor_adjoint(tensor))
            self.lent[key] = made, tensor, memory
        return self.lent[key][0]


_put_kernels: dict[tuple[str, int], Kernel] = {}


def put(write: Write) -> None:
    """Sets elements by launches, which tapes record."""
    array = write.array
    values = np.reshape(write.values, array.shape[len(write.index) :])
    dtype, rank = array.dtype, array.ndim
    kernel = _put_kernels.get((dtype.name, rank))
    if kernel is None:
        t = "bool" if dtype.kind == "b" else f"{dtype.kind}{8 * dtype.itemsize}"
        names = [f"%i{k}" for k in range(rank)]
        text = (f"kernel @put(%x: buf<{t},{rank}>, {''.join(f'{n}: i64, ' for n in names)}%v: {t}) {{\n"
                f"  store %x[{', '.join(names)}], %v\n  yield\n}}\n")
        kernel = _put_kernels[dtype.name, rank] = Kernel(_core.Module(text, "ir"), "put")
    for at in np.ndindex(values.shape):
        kernel(array, *write.index, *at, values[at].item())


def clear_all_gradients() -> None:
    """Set the adjoints of all fields to 0 (not their tangents, nor those of ndarrays)."""
    for f in all_fields():
        if f.has_grad():
            f.grad.fill(0)
