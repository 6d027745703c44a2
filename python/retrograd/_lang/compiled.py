"""Kernels that are compiled: their launches, and what they return."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._arrays import Array
from .._kernels import FORWARD, VJP
from .._kernels import Kernel as CompiledKernel
from . import expr as e
from .array_parameters import CopiedGetter, TensorGetter
from .errors import CompilationError, TypeError_
from .matrix import Matrix
from .places import entry_type
from .profiling import on, profile
from .random import LaunchNumber
from .reads import Reads
from .structs import Struct


class Result:
    """How the numbers that the library returns make a value of Python: `parts` are of its entries, or the one number's place."""

    def __init__(self, kind: Any, parts: Any) -> None:
        self.kind, self.parts = kind, parts

    def __call__(self, numbers: Any) -> Any:
        if self.kind is None:
            return numbers[self.parts]
        if isinstance(self.parts, dict):
            return Struct({name: p(numbers) for name, p in self.parts.items()}, self.kind[0])
        found = tuple([p(numbers) for p in self.parts])
        return Matrix.of(found, self.kind) if self.kind else found


def result_of(value: Any, numbers: list[int]) -> Result:
    """The result that a kernel's value is; its numbers, which the builder returns, are added to those before."""
    if isinstance(value, tuple):
        return Result((), [result_of(v, numbers) for v in value])
    if isinstance(value, Matrix):
        t = entry_type(value)
        return Result(value.shape, [result_of(e.typed(x, t), numbers) for x in value.entries])
    if isinstance(value, Struct):
        return Result((value.type,), {name: result_of(v, numbers) for name, v in value.members.items()})
    if not e.is_scalar(value):
        raise TypeError_(f"a kernel returns scalars, vectors, matrices, structs and tuples of these, not {e.describe(value)}")
    numbers.append(e.lift(value).value)
    return Result(None, len(numbers) - 1)


class Compiled:
    """A kernel for arguments of certain types."""

    def __init__(self, core: CompiledKernel, inputs: list[Any], kept: list[Any], reads: Reads, result: Result | None, marks: Any = None) -> None:
        self.core, self.kept, self.reads, self.result, self.marks = core, kept, reads, result, marks
        self.validated: Compiled | None = None  # the same with marks
        self.names = [name for name, _ in inputs]
        self.getters = [getter for _, getter in inputs]
        self.draws = next((g for g in self.getters if isinstance(g, LaunchNumber)), None)
        self.tensors = [(k, g) for k, g in enumerate(self.getters) if isinstance(g, TensorGetter)]
        params = core.params
        self.params, self.one = params[: len(inputs)], len(params) == len(inputs) + 1
        self.written = [p.written for p in self.params]
        self.copied = [(k, g, w) for k, (g, w) in enumerate(zip(self.getters, self.written)) if isinstance(g, CopiedGetter)]
        self.in_place = [k for k, p in enumerate(self.params) if p.written and p.read]
        self.left: Any = None  # what the last launch left in them
        self.entered = False  # the C part knows the arguments, or never will
        self.refused: dict[Any, CompilationError] = {}  # by which arrays have adjoints: why there is no reverse behind the launch

    def inputs(self, args: tuple[Any, ...], again: bool = False) -> tuple[Any, ...]:
        """What the library takes, by parameter. `again`: for the reverse of the last launch, which draws the same random numbers."""
        if self.draws is not None and not again:
            self.draws.advance()
        return tuple([getter(args) for getter in self.getters])

    def adjoints(self, args: tuple[Any, ...]) -> tuple[Any, ...] | None:
        """Gradients of tensors among the arguments, by parameter of the library."""
        if not self.tensors:
            return None
        found: list[Any] = [None] * len(self.core._params)
        for k, getter in self.tensors:
            found[k] = getter.adjoint(args)
        return tuple(found)

    def run(self, args: tuple[Any, ...]) -> Any:
        """A forward launch."""
        inputs = self.inputs(args)
        result = self.launch(FORWARD, inputs)
        self.give_back(args, inputs)
        return result

    def launch(self, form: int, inputs: tuple[Any, ...], adjoints: Any = None) -> Any:
        """A launch of any form."""
        numbers = self._timed(form, inputs, adjoints) if on() else self.core._run(form, inputs, adjoints, None, None, None, None)
        if self.in_place and form != VJP:
            self.left = [contents_of(inputs[k]) for k in self.in_place]
        if self.result is None or numbers is None:
            return None
        return self.result((numbers,) if self.one else numbers)

    def _timed(self, form: int, inputs: tuple[Any, ...], adjoints: Any) -> Any:
        return profile.launch(self.core.name, form, lambda: self.core._run(form, inputs, adjoints, None, None, None, None))

    def give_back(self, args: tuple[Any, ...], inputs: tuple[Any, ...], effects: bool = True) -> None:
        """After a launch: copies on the device to where they are from; values only of launches that have effects."""
        for k, getter, written in self.copied:
            getter.back(args, inputs[k], written and effects)
        if self.copied and effects:
            self.left = self._contents(args, inputs)

    def stands(self, args: tuple[Any, ...], inputs: tuple[Any, ...]) -> bool:
        """Whether the arrays hold what the last forward launch left there."""
        return self.left is not None and self.left == self._contents(args, inputs)

    def _contents(self, args: tuple[Any, ...], inputs: tuple[Any, ...]) -> list[Any]:
        copied = {k: g.at(args) for k, g, _ in self.copied}
        return [contents_of(copied.get(k, inputs[k])) for k in self.in_place]


def contents_of(x: Any) -> Any:
    """Changes when an array is written, as far as that can be known."""
    if isinstance(x, Array):
        return x.data_ptr, x.version
    return (x.ctypes.data, None) if isinstance(x, np.ndarray) else (x.data_ptr(), x._version)
