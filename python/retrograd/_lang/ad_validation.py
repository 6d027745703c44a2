"""Validation: elements that launches of a tape read, and later ones or the same one write.

A kernel is built a second time with marks, an array beside each array with an adjoint. A read leaves its number in the element's mark; a write
that finds one there notes both. The marks last as long as the tape.
"""

from __future__ import annotations

import threading
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

SITES: list[tuple[str, str]] = [("", "")]  # of all reads and writes: the array, and the place in the source


class Seen(threading.local):
    """The marks of the tape that validates a launch of this thread."""

    marks: dict[Any, tuple[Any, Array]] = {}

    def of(self, array: Any) -> Array:
        """The marks of an array."""
        at = array.data_ptr if isinstance(array, Array) else array.__array_interface__["data"][0] if hasattr(array, "ctypes") else array.data_ptr()
        key = at, tuple(array.shape)
        if key not in self.marks:
            self.marks[key] = array, _zeros(tuple(array.shape), "int32")
        return self.marks[key][1]


seen = Seen()


class Marks:
    """The marks of a kernel under construction."""

    def __init__(self, build: Build) -> None:
        self.build = build
        self.marks: dict[int, Buffer] = {}
        self.found = parameter(build, "overwritten", dtypes.i64, 0, (), lambda args: _zeros((), "int64"), (), ())

    def _site(self, of: Buffer) -> int:
        walker = self.build.walker
        SITES.append((of.name, walker.frame.source.place(walker.node)))
        return len(SITES) - 1

    def _of(self, of: Buffer) -> Buffer | None:
        if "grad" not in of.derivatives:
            return None
        if of.value not in self.marks:
            own = dict(self.build.inputs)[of.name]
            self.marks[of.value] = parameter(self.build, f"{of.name}_marks", dtypes.i32, of.rank, of.element_shape,
                                             lambda args: seen.of(own(args)), of.order, of.extents)
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


def validate(kernel: Any, args: tuple[Any, ...], marks: dict[Any, tuple[Any, Array]]) -> None:
    """Runs a kernel with marks, on copies of what it writes; raises if it writes an element that has been read."""
    compiled = kernel.compile(args)
    if compiled.validated is None:
        compiled.validated = kernel._compile(args, Marks)
    validated = compiled.validated
    seen.marks = marks
    with launching.aside():
        inputs = validated.inputs(args)
        own = {id(m) for _, m in marks.values()}
        given = tuple(x if id(x) in own else c for x, c in zip(inputs, on_copies(validated, inputs)))
        validated.launch(FORWARD, given)
        both = int(given[validated.names.index("overwritten")].numpy())
    if both:
        (name, read), (_, written) = SITES[both & 0xFFFFFFFF], SITES[both >> 32]
        raise AssertionError_(f"kernel {kernel.__name__}: an element of `{name}` is read, and written later, so the reverse of the read needs a value "
                              f"that is gone\nread here:\n{read}\nwritten here:\n{written}")
