"""Validation: elements that one launch reads and later writes.

A kernel is built a second time with marks, an array beside each array with an adjoint. A read leaves its number in the element's mark; a write
that finds one there notes both.
"""

from __future__ import annotations

from typing import Any

from .._arrays import Array
from .._kernels import FORWARD
from . import dtypes
from . import expr as e
from .ad import on_copies
from .arguments import Buffer, parameter
from .build import MAX, Build
from .errors import AssertionError_
from .expr import Expr
from .launching import launching
from .runtime import runtime


class Marks:
    """The marks of a kernel under construction."""

    def __init__(self, build: Build) -> None:
        self.build = build
        self.sites: list[tuple[str, str]] = [("", "")]  # of reads and writes: the array, and the place in the source
        self.marks: dict[int, Buffer] = {}
        self.found = parameter(build, "overwritten", dtypes.i64, 0, (), lambda args: _zeros((), "int64"), (), ())

    def _site(self, of: Buffer) -> int:
        walker = self.build.walker
        self.sites.append((of.name, walker.frame.source.place(walker.node)))
        return len(self.sites) - 1

    def _of(self, of: Buffer) -> Buffer | None:
        if "grad" not in of.derivatives:
            return None
        if of.value not in self.marks:
            own = dict(self.build.inputs)[of.name]
            self.marks[of.value] = parameter(self.build, f"{of.name}_marks", dtypes.i32, of.rank, of.element_shape,
                                             lambda args: _zeros(tuple(own(args).shape), "int32"), of.order, of.extents)
        return self.marks[of.value]

    def read(self, of: Buffer, index: Any) -> None:
        """An element is loaded."""
        marks = self._of(of)
        if marks is not None:
            self.build.builder.rmw(MAX, 1, e.typed(self._site(of), dtypes.i32).value, None, marks.value, *index)

    def write(self, of: Buffer, index: Any) -> None:
        """An element is about to be written."""
        marks = self._of(of)
        if marks is None:
            return
        b = self.build.builder
        mark = Expr(b.load(marks.value, *index), dtypes.i32)
        b.if_((mark != 0).value)
        both = e.cast(mark, dtypes.i64) + e.typed(self._site(of) << 32, dtypes.i64)
        b.rmw(MAX, 1, both.value, None, self.found.value)
        b.end()


def _zeros(shape: tuple[int, ...], dtype: str) -> Array:
    return Array(shape, dtype, runtime.device, None, False, False, 0, False, None)


def validate(kernel: Any, args: tuple[Any, ...]) -> None:
    """Runs a kernel with marks, on copies of what it writes; raises if an element is read and later written."""
    compiled = kernel.compile(args)
    if compiled.validated is None:
        compiled.validated = kernel._compile(args, Marks)
    validated = compiled.validated
    with launching.aside():
        inputs = on_copies(validated, validated.inputs(args))
        validated.launch(FORWARD, inputs)
        both = int(inputs[validated.names.index("overwritten")].numpy())
    if both:
        (name, read), (_, written) = validated.marks.sites[both & 0xFFFFFFFF], validated.marks.sites[both >> 32]
        raise AssertionError_(f"kernel {kernel.__name__}: an element of `{name}` is read, and later written in the same launch, so its gradient "
                              f"needs a value that is gone\nread here:\n{read}\nwritten here:\n{written}")
