"""Tensors: one object for fields and ndarrays."""

from __future__ import annotations

import enum
from typing import Any

from .data import Data, check_derivatives, element_of, order_of, shape_of
from .fields import Field
from .ndarrays import Ndarray
from .runtime import need_init


class Backend(enum.IntEnum):
    """What a tensor is made of: a field, which kernels capture by name, or an ndarray, which may also be an argument."""

    FIELD = 0
    NDARRAY = 1


class Tensor:
    """A field or an ndarray, and used like it on the host and in kernels. Made by `tensor` and `wrap`; as an annotation it takes both."""

    __slots__ = ("_impl", "_grad", "_dual", "__weakref__")

    def __init__(self, impl: Any) -> None:
        if not isinstance(impl, Data):
            raise TypeError(f"a tensor wraps a field or an ndarray, not {type(impl).__name__}")
        self._impl, self._grad, self._dual = impl, None, None

    _grad: "Tensor | None"
    _dual: "Tensor | None"

    def _unwrap(self) -> Any:
        return self._impl

    def _placeable(self) -> Any:
        return [self._impl]

    def __getattr__(self, name: str) -> Any:
        if name in Tensor.__slots__ or name.startswith("__"):  # asked by copy and pickle before there is one
            raise AttributeError(name)
        return getattr(self._impl, name)

    @property
    def grad(self) -> "Tensor | None":
        """Its adjoints, which of a field may be without a place; None: there are none."""
        if self._grad is None and self._impl.grad is not None:
            self._grad = Tensor(self._impl.grad)
        return self._grad

    @property
    def dual(self) -> "Tensor | None":
        """Its tangents."""
        if self._dual is None and self._impl.dual is not None:
            self._dual = Tensor(self._impl.dual)
        return self._dual

    @property
    def backend(self) -> Backend:
        """What it is made of."""
        return Backend.FIELD if isinstance(self._impl, Field) else Backend.NDARRAY

    @property
    def layout(self) -> tuple[int, ...] | None:
        """The order of the axes in memory, the slowest first; None: that of the shape."""
        return None if self._impl._is_plain() else self._impl.order

    def __getitem__(self, key: Any) -> Any:
        return self._impl[key]

    def __setitem__(self, key: Any, value: Any) -> None:
        self._impl[key] = value

    def __iter__(self) -> Any:
        return iter(self._impl)

    def __repr__(self) -> str:
        return f"<rg.Tensor {self.backend.name} shape={self._impl.shape}" + (f" layout={self.layout}>" if self.layout else ">")

    def __str__(self) -> str:
        return str(self._impl)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return self._impl.__array__(dtype, copy)

    def __dlpack__(self, *args: Any, **options: Any) -> Any:
        return self._impl.__dlpack__(*args, **options)

    def __dlpack_device__(self) -> Any:
        return self._impl.__dlpack_device__()

    def __reduce__(self) -> Any:
        return Tensor, (self._impl,)


def wrap(impl: Any) -> Tensor:
    """A field or an ndarray as a tensor; a tensor stays what it is."""
    return impl if isinstance(impl, Tensor) else Tensor(impl)


def tensor(dtype: Any, shape: Any, *, backend: Backend = Backend.NDARRAY, layout: Any = None, needs_grad: bool = False, needs_dual: bool = False,
           fill: Any = None, name: str = "") -> Tensor:
    """A field or an ndarray, whose axes are in memory in a chosen order; zeros at first.

    Parameters
    ----------
    dtype
        A scalar type, or a vector or matrix type.
    shape : int or tuple of int
    backend : Backend
        What it is made of.
    layout : tuple of int, optional
        The order of the axes in memory, the slowest first. Shape and indices do not change with it.
    needs_grad, needs_dual : bool
        Whether it has adjoints, and tangents.
    fill : optional
        The value of all elements at first.
    name : str
        For messages.

    Examples
    --------
    >>> import retrograd as rg
    >>> rg.init()
    >>> x = rg.tensor(float, (2, 3), layout=(1, 0))
    >>> x.shape, x.to_numpy(copy=False).strides
    ((2, 3), (4, 8))
    """
    need_init()
    scalar, element = element_of(dtype)
    extents = shape_of(shape)
    order = tuple(range(len(extents))) if layout is None else order_of(layout, len(extents), f"layout={layout!r}")
    check_derivatives(scalar, "tensor", needs_grad, needs_dual)
    made = (Field if Backend(backend) is Backend.FIELD else Ndarray)._make(scalar, element, extents, order, None, name, needs_grad, needs_dual)
    if fill is not None:
        made.fill(fill)
    return Tensor(made)
