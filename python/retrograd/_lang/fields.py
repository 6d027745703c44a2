"""Fields: arrays that kernels capture by name."""

from __future__ import annotations

import sys
from typing import Any

from .._arrays import ADJOINT, TANGENT
from .data import Component, Data, check_derivatives, element_of, order_of, shape_of
from .dtypes import DType
from .errors import RuntimeError_
from .layout import Layout, Node, all_fields, dense_path
from .ndarrays import Ndarray, ndarray
from .runtime import need_init

LETTERS = "ijklmnpq"  # of `order`


class Field(Data):
    """An array that kernels capture by name. Made by `field`.

    A field of floats has an adjoint `grad` and a tangent `dual`, which are fields themselves and have memory once they are placed: by
    `needs_grad=True`, `needs_dual=True`, by `root.lazy_grad()`, `root.lazy_dual()`, or by `place`.
    """

    kind = "field"

    def __init__(self, dtype: DType, element_shape: tuple[int, ...], name: str = "") -> None:
        super().__init__(dtype, element_shape, name)
        self.placed = False
        self.node: Any = None
        self.layout = Layout.AOS
        self.declared = ""
        self.wanted: tuple[bool, bool] = (False, False)
        self.initial: Any = None
        if dtype.is_float:
            self.grad, self.dual = self._derivative(ADJOINT, ".grad"), self._derivative(TANGENT, ".dual")

    def _derivative(self, plane: int, suffix: str) -> "Field":
        made: Field = super()._derivative(plane, suffix)
        made.placed, made.node = self.placed, self.node
        return made

    def _placeable(self) -> list["Field"]:
        return [self]

    def _place(self, node: Node, offset: tuple[int, ...] | None) -> None:
        if self.placed and not (isinstance(self.primal, Field) and self.parent() is self.primal.parent()):
            raise RuntimeError_(f"{self.called} has been placed already")
        if isinstance(self.primal, Field):
            if self.primal.placed and node.shape != self.primal.shape:
                raise RuntimeError_(f"{self.called} has the shape of its field, {self.primal.shape}, and cannot be placed with {node.shape}")
            self.placed, self.node = True, Node(node)
            if self.primal._array is not None:
                self._allocate()
            return
        self.shape, self.order, self.offset, self.placed, self.node = node.shape, node.order, offset, True, Node(node)
        for d, wanted in zip((self.grad, self.dual), self.wanted):
            if d is not None:
                d.shape, d.order, d.offset = self.shape, self.order, self.offset
                if d.placed and d.node.shape != self.shape:
                    raise RuntimeError_(f"{d.called} has been placed with shape {d.node.shape}, and its field with {self.shape}")
                if wanted and not d.placed:
                    d._place(node, offset)

    def _allocate(self) -> None:
        if not self.placed:
            if self.primal is not None:
                which, called = ("grad", "Gradient") if self.plane == ADJOINT else ("dual", "Tangent")
                raise RuntimeError_(f"{called} {self.primal.name or self.primal.kind}.{which} has not been placed, check whether `needs_{which}=True`, or place it "
                                    f"with `root.lazy_{which}()`")
            raise RuntimeError_(f"{self.called} declared at {self.declared} has not been placed: give it a shape, or place it under `root`")
        super()._allocate()
        if self.primal is None:
            for d in (self.grad, self.dual):
                if d is not None and d.placed:
                    d._allocate()
            if self.initial is not None:
                self._fill(self.initial)

    def has_grad(self) -> bool:
        """Whether it has adjoints."""
        return self.grad is not None and self.grad.placed

    def has_dual(self) -> bool:
        """Whether it has tangents."""
        return self.dual is not None and self.dual.placed

    def get_scalar_field(self, *entry: int) -> Component:
        """The field of one entry of all elements."""
        if len(entry) != len(self.element_shape) or not all(0 <= i < n for i, n in zip(entry, self.element_shape)):
            raise IndexError(f"entry {entry} of elements of shape {self.element_shape}")
        return Component(self, entry)

    @property
    def snode(self) -> Any:
        """Its own node, under the one that it is placed under."""
        return self.node

    def parent(self, n: int = 1) -> Any:
        """The node n levels above its own; None: there is none."""
        return None if self.node is None else self.node.parent(n)

    @classmethod
    def _make(cls, scalar: DType, element: tuple[int, ...], shape: tuple[int, ...], order: tuple[int, ...], offset: tuple[int, ...] | None, name: str,
              needs_grad: bool, needs_dual: bool) -> "Field":
        need_init()
        made = Field(scalar, element, name)
        made.wanted = (needs_grad, needs_dual)
        made.declared = _caller()
        dense_path(shape, order).place(made, offset=offset)
        return made


def _caller() -> str:
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("retrograd"):
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}"


def field(dtype: Any, shape: Any = None, order: str | None = None, name: str = "", offset: Any = None, needs_grad: bool = False,
          needs_dual: bool = False, layout: Layout = Layout.AOS, fill: Any = None) -> Field:
    """An array that kernels capture by name; zeros at first.

    Parameters
    ----------
    dtype
        A scalar type, or a vector or matrix type.
    shape : int or tuple of int, optional
        Without it the field has to be placed under `root`.
    order : str, optional
        The order of the axes in memory, "ji" for columns one after the other.
    name : str
        For messages.
    offset : int or tuple of int, optional
        The index of the first element.
    needs_grad, needs_dual : bool
        Whether it has adjoints, and tangents.
    layout : Layout
        Kept, without effect: the entries of an element are side by side.
    fill : optional
        The value of all elements at first.

    Examples
    --------
    >>> import retrograd as rg
    >>> rg.init()
    >>> x = rg.field(float, (2, 3), needs_grad=True)
    >>> x[1, 2] = 5
    >>> x[1, 2], x.grad[1, 2]
    (5.0, 0.0)
    """
    need_init()
    scalar, element = element_of(dtype)
    check_derivatives(scalar, "field", needs_grad, needs_dual)
    made = Field(scalar, element, name)
    made.declared, made.initial, made.wanted, made.layout = _caller(), fill, (needs_grad, needs_dual), layout
    if shape is None:
        if offset is not None or order is not None:
            raise RuntimeError_("offset and order need a shape")
        return made
    extents = shape_of(shape)
    try:
        axes = order_of(range(len(extents)) if order is None else [LETTERS.index(c) for c in order], len(extents), f"order={order!r}")
    except ValueError:
        raise RuntimeError_(f"order={order!r} does not name each of the {len(extents)} axes ({LETTERS[: len(extents)]}) once") from None
    dense_path(extents, axes).place(made, offset=offset)
    return made


def is_data(x: Any) -> bool:
    """Whether it is a field or an ndarray."""
    return isinstance(x, Data)


__all__ = ["Data", "Field", "Ndarray", "all_fields", "element_of", "field", "is_data", "ndarray", "shape_of"]
