"""Ndarrays: arrays that kernels take as arguments."""

from __future__ import annotations

from typing import Any

from .._arrays import ADJOINT, TANGENT
from .data import Data, check_derivatives, element_of, order_of, shape_of
from .dtypes import DType
from .runtime import need_init


_signatures: dict[Any, Any] = {}  # equal ones are one object


def signature_of(made: Any) -> Any:
    """The object for all equal ones."""
    return _signatures.setdefault(made, made)


def is_signature(x: Any) -> bool:
    """Whether it is such an object."""
    try:
        return _signatures.get(x) is x
    except TypeError:  # not hashable
        return False


class Ndarray(Data):
    """An array that kernels take as an argument. Made by `ndarray`."""

    kind = "ndarray"
    signature: tuple[Any, ...]  # what of it kernels depend on

    @classmethod
    def _make(cls, scalar: DType, element: tuple[int, ...], shape: tuple[int, ...], order: tuple[int, ...], offset: tuple[int, ...] | None, name: str,
              needs_grad: bool, needs_dual: bool) -> "Ndarray":
        need_init()
        check_derivatives(scalar, "ndarray", needs_grad, needs_dual)
        made = Ndarray(scalar, element, name)
        made.shape, made.order = shape, order
        made._allocate()
        for wanted, plane, which in ((needs_grad, ADJOINT, "grad"), (needs_dual, TANGENT, "dual")):
            if wanted:
                setattr(made, which, made._derivative(plane, f".{which}"))
                getattr(made, which)._allocate()
        made._sign()
        return made

    def _derivative(self, plane: int, suffix: str) -> Any:
        made = super()._derivative(plane, suffix)
        made._sign()
        return made

    def _sign(self) -> None:
        made = self.dtype.name, self.element_shape, self.order, self.grad is not None, self.dual is not None
        self.signature = signature_of(made)


def ndarray(dtype: Any, shape: Any, needs_grad: bool = False, needs_dual: bool = False, fill: Any = None, name: str = "", layout: Any = None) -> Ndarray:
    """An array that kernels take as an argument; zeros at first.

    Parameters
    ----------
    dtype
        A scalar type, or a vector or matrix type.
    shape : int or tuple of int
    needs_grad, needs_dual : bool
        Whether it has adjoints, and tangents.
    fill : optional
        The value of all elements at first.
    name : str
        For messages.
    layout : tuple of int, optional
        The order of the axes in memory, the slowest first.

    Examples
    --------
    >>> import retrograd as rg
    >>> rg.init()
    >>> x = rg.ndarray(rg.types.vector(2, float), 3)
    >>> x[1] = [4, 5]
    >>> x[1].y
    5.0
    """
    scalar, element = element_of(dtype)
    extents = shape_of(shape)
    order = tuple(range(len(extents))) if layout is None else order_of(layout, len(extents), f"layout={layout!r}")
    made = Ndarray._make(scalar, element, extents, order, None, name, needs_grad, needs_dual)
    if fill is not None:
        made.fill(fill)
    return made
