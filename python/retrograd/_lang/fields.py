"""Fields and ndarrays: arrays of scalars, vectors and matrices that kernels work on."""

from __future__ import annotations

import sys
import weakref
from typing import Any, Iterator

import numpy as np

from .._arrays import ADJOINT, TANGENT, Array
from . import dtypes
from .dtypes import DType
from .errors import AssertionError_, IndexError_, RuntimeError_
from .matrix import Matrix, MatrixType
from .runtime import need_init, runtime


def element_of(dtype: Any) -> tuple[DType, tuple[int, ...]]:
    """The scalar type, and the shape, of elements."""
    if isinstance(dtype, MatrixType):
        return dtype.scalar, dtype.shape
    found = dtypes.of(dtype)
    if found is None:
        raise RuntimeError_(f"{dtype!r} is not a type of elements: a scalar, vector or matrix type is wanted")
    return found, ()


def shape_of(shape: Any) -> tuple[int, ...]:
    """A shape from an integer or integers."""
    found = tuple(int(n) for n in shape) if isinstance(shape, (tuple, list)) else (int(shape),)
    if any(n <= 0 for n in found):
        raise RuntimeError_(f"the extents of a shape should be positive, not {found}")
    return found


class Data:
    """What fields and ndarrays have in common: elements of one type in an array of the library.

    The array's axes are those of the shape, in the order of storage, and then those of the element.
    """

    kind = "array"

    def __init__(self, dtype: DType, element_shape: tuple[int, ...], name: str = "") -> None:
        self.dtype, self.element_shape, self.name = dtype, element_shape, name
        self.shape: tuple[int, ...] = ()
        self.order: tuple[int, ...] = ()  # the axis of the shape that each axis of storage is
        self.offset: tuple[int, ...] | None = None
        self.generation = runtime.generation
        self.primal: Data | None = None  # whose derivative it is
        self.plane = 0
        self._array: Any = None

    # -- storage -------------------------------------------------------------------------------------------------------

    @property
    def array(self) -> Array:
        """The library's array."""
        if self._array is None or self.generation != runtime.generation:
            self._allocate()
        return self._array

    def _allocate(self) -> None:
        if self.generation != runtime.generation:
            raise RuntimeError_(f"the {self.kind} {self.name!r} was made before `reset()` or `init()`, which freed it")
        if self.primal is not None:
            self._array = self.primal.array._plane(self.plane)
            if self._array is None:
                self._array = self.primal.array.require(adjoint=self.plane == ADJOINT, tangent=self.plane == TANGENT)._plane(self.plane)
            return
        storage = tuple(self.shape[k] for k in self.order) + self.element_shape
        self._array = Array(storage, self.dtype.numpy.name, runtime.device, None, False, False, 0, False, self.name or None)

    def _derivative(self, plane: int, suffix: str) -> Any:
        made = type(self).__new__(type(self))
        Data.__init__(made, self.dtype, self.element_shape, self.name + suffix)
        made.shape, made.order, made.offset, made.primal, made.plane, made.generation = self.shape, self.order, self.offset, self, plane, self.generation
        return made

    def _view(self) -> np.ndarray[Any, Any]:
        """The elements in the order of the shape; the memory itself where the device shares the host's."""
        values = self.array.numpy()
        axes = list(np.argsort(self.order)) + list(range(len(self.order), values.ndim))
        return values.transpose(axes) if axes != sorted(axes) else values

    def _store(self, values: np.ndarray[Any, Any]) -> None:
        axes = list(self.order) + list(range(len(self.order), values.ndim))
        self.array._write(np.ascontiguousarray(values.transpose(axes)))

    # -- elements ------------------------------------------------------------------------------------------------------

    def _index(self, key: Any) -> tuple[int, ...]:
        if key is None:
            key = ()
        key = tuple(key.entries) if isinstance(key, Matrix) else tuple(key) if isinstance(key, (tuple, list)) else (key,)
        if len(key) != len(self.shape):
            raise IndexError_(f"{len(key)} indices for {self.kind} {self.name!r} of shape {self.shape}")
        at = tuple(int(i) - (self.offset[k] if self.offset else 0) for k, i in enumerate(key))
        for i, extent in zip(at, self.shape):
            if not 0 <= i < extent:
                raise AssertionError_(f"index {key} is out of the bounds of {self.kind} {self.name!r} of shape {self.shape}")
        return at

    def __getitem__(self, key: Any) -> Any:
        value = self._view()[self._index(key)]
        return ElementView(self, key, value) if self.element_shape else value.item()

    def __setitem__(self, key: Any, value: Any) -> None:
        at = self._index(key)
        if isinstance(value, Matrix):
            value = value.to_numpy()
        elif self.element_shape and isinstance(value, (list, tuple)):
            value = np.array([list(v.entries) if isinstance(v, Matrix) else v for v in value])
        at = tuple(at[k] for k in self.order)
        self.array._put(at, np.broadcast_to(np.asarray(value, self.dtype.numpy), self.element_shape))

    def __iter__(self) -> Iterator[Any]:
        raise TypeError(f"a {self.kind} is iterated in kernels only")

    # -- all elements --------------------------------------------------------------------------------------------------

    def fill(self, value: Any) -> None:
        """Set all elements."""
        if isinstance(value, (Matrix, list, tuple, np.ndarray)):
            entries = value.to_numpy() if isinstance(value, Matrix) else np.asarray(value)
            self._store(np.broadcast_to(entries.astype(self.dtype.numpy), self.shape + self.element_shape))
        else:
            self.array.fill(value)

    def to_numpy(self, dtype: Any = None, copy: bool | None = True) -> np.ndarray[Any, Any]:
        """The elements as a NumPy array of the shape, with the axes of the elements behind it.

        Parameters
        ----------
        dtype : optional
            Another type.
        copy : bool
            False: the memory itself.
        """
        values = self._view()
        if copy is False:
            wanted = None if dtype is None else dtypes.of(dtype)
            if self.array.device.own_memory or (wanted is not None and wanted is not self.dtype):
                raise ValueError("the elements cannot be lent without a copy: they are on another device, or of another type")
            return values
        wanted = dtypes.of(dtype) if dtype is not None else None
        return np.array(values, dtype=wanted.numpy if wanted is not None else dtype, copy=True, order="C")

    def from_numpy(self, values: Any) -> None:
        """Set all elements from an array of the same shape; other types are converted."""
        values = np.asarray(values)
        wanted = self.shape + self.element_shape
        if values.shape != wanted and not (values.shape == wanted + (1,) or values.shape + (1,) == wanted):
            raise ValueError(f"an array of shape {wanted} is wanted, not {values.shape}")
        self._store(values.reshape(wanted).astype(self.dtype.numpy, copy=False))

    def copy_from(self, other: Any) -> None:
        """Set all elements from another field or ndarray of the same shape."""
        if tuple(other.shape) != self.shape:
            raise ValueError(f"shapes {self.shape} and {other.shape} differ")
        self.from_numpy(other.to_numpy())

    def to_torch(self, device: Any = None, copy: bool = True) -> Any:
        """The elements as a tensor."""
        import torch

        return torch.from_numpy(self.to_numpy(copy=copy)).to(device) if device is not None else torch.from_numpy(self.to_numpy(copy=copy))

    def from_torch(self, tensor: Any) -> None:
        """Set all elements from a tensor of the same shape."""
        self.from_numpy(tensor.detach().cpu().numpy())

    def to_dlpack(self, *args: Any, **options: Any) -> Any:
        """The memory as a DLPack capsule."""
        return self.array.__dlpack__(*args, **options)

    def __str__(self) -> str:
        return str(self.to_numpy())

    @property
    def n(self) -> int:
        """Rows of an element."""
        return self.element_shape[0] if self.element_shape else 1

    @property
    def m(self) -> int:
        """Columns of an element."""
        return self.element_shape[1] if len(self.element_shape) == 2 else 1


class ElementView(Matrix):
    """A vector or matrix in a field or ndarray: stores to entries go there."""

    __slots__ = ("_of",)

    def __init__(self, data: Data, key: Any, value: np.ndarray[Any, Any]) -> None:
        self._set([v.item() for v in value.reshape(-1)], value.shape)
        object.__setattr__(self, "_of", (data, key))

    def _put(self, position: int, value: Any) -> None:
        super()._put(position, value)
        data, key = self._of
        data[key] = np.array(self.entries).reshape(self.shape)


class Field(Data):
    """An array that kernels capture by name. Made by `field`."""

    kind = "field"

    def __init__(self, dtype: DType, element_shape: tuple[int, ...], name: str = "") -> None:
        super().__init__(dtype, element_shape, name)
        self.placed = False
        self.grad: Any = None
        self.dual: Any = None
        self.declared = ""
        self._fill: Any = None

    def _place(self, shape: tuple[int, ...], order: tuple[int, ...] | None = None, offset: tuple[int, ...] | None = None) -> None:
        if self.placed:
            raise RuntimeError_(f"field {self.name!r} has been placed already")
        self.shape, self.order, self.offset, self.placed = shape, order or tuple(range(len(shape))), offset, True
        for d in (self.grad, self.dual):
            if d is not None:
                d.shape, d.order, d.offset = self.shape, self.order, self.offset

    def _place_derivative(self) -> None:
        if self.primal is None or not self.primal.placed:
            raise RuntimeError_(f"place field {self.name!r} with or after its primal")
        self.shape, self.order, self.offset, self.placed = self.primal.shape, self.primal.order, self.primal.offset, True
        if self.primal._array is not None:
            self._allocate()

    def _allocate(self) -> None:
        if not self.placed:
            if self.primal is not None:
                which = "needs_grad=True" if self.plane == ADJOINT else "needs_dual=True"
                raise RuntimeError_(f"Gradient {self.name} has not been placed, check whether `{which}`, or place it with "
                                    f"root.lazy_{'grad' if self.plane == ADJOINT else 'dual'}()")
            raise RuntimeError_(f"field {self.name!r} declared at {self.declared} has not been placed: give it a shape, or place it under `root`")
        super()._allocate()
        if self.primal is None:
            for d in (self.grad, self.dual):
                if d is not None and d.placed:
                    d._allocate()
            if self._fill is not None:
                self.fill(self._fill)

    def has_grad(self) -> bool:
        """Whether it has adjoints."""
        return self.grad is not None and self.grad.placed

    def has_dual(self) -> bool:
        """Whether it has tangents."""
        return self.dual is not None and self.dual.placed

    def get_scalar_field(self, *index: int) -> Any:
        """One entry of all elements, as a NumPy view."""
        return self.to_numpy(copy=False)[(..., *index)]

    def parent(self, n: int = 1) -> Any:
        """The node that it is placed under."""
        return self.snode.parent(n)

    @property
    def snode(self) -> Any:
        """Its place in the layout."""
        from .layout import SNode

        return SNode(self)

    def __repr__(self) -> str:
        return "<rg.field>"


_fields: list["weakref.ref[Field]"] = []


def all_fields() -> list[Field]:
    """The fields of now that are alive."""
    return [f for r in _fields if (f := r()) is not None and f.generation == runtime.generation]


runtime.at_reset.append(_fields.clear)


def _caller() -> str:
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("retrograd"):
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}"


def field(dtype: Any, shape: Any = None, order: str | None = None, name: str = "", offset: Any = None, needs_grad: bool = False,
          needs_dual: bool = False, layout: Any = None, fill: Any = None) -> Field:
    """An array that kernels capture by name.

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
    fill : optional
        The value of all elements at first.
    """
    need_init()
    scalar, element = element_of(dtype)
    if (needs_grad or needs_dual) and not scalar.is_float:
        raise RuntimeError_(f"{scalar} is not supported for field with `needs_grad=True` or `needs_dual=True`: only floats have derivatives")
    made = Field(scalar, element, name)
    made.declared, made._fill = _caller(), fill
    if scalar.is_float:
        made.grad, made.dual = made._derivative(ADJOINT, ".grad"), made._derivative(TANGENT, ".dual")
        for d in (made.grad, made.dual):
            d.placed, d.grad, d.dual, d.declared, d._fill = False, None, None, made.declared, None
    if shape is not None:
        extents = shape_of(shape)
        start = None if offset is None else tuple(offset) if isinstance(offset, (tuple, list)) else (int(offset),)
        if start is not None and len(start) != len(extents):
            raise RuntimeError_(f"an offset of {len(extents)} entries is wanted, not {start}")
        axes = None if order is None else tuple(sorted("ijklmnpq".index(c) for c in order))
        if order is not None and axes != tuple(range(len(extents))):
            raise RuntimeError_(f"order {order!r} does not name each of the {len(extents)} axes once")
        made._place(extents, tuple("ijklmnpq".index(c) for c in order) if order else None, start)
        for d, wanted in ((made.grad, needs_grad), (made.dual, needs_dual)):
            if wanted:
                d._place_derivative()
    elif offset is not None or order is not None:
        raise RuntimeError_("offset and order need a shape")
    made._wants = (needs_grad, needs_dual)  # type: ignore[attr-defined]
    _fields.append(weakref.ref(made))
    return made


class Ndarray(Data):
    """An array that kernels take as an argument. Made by `ndarray`."""

    kind = "ndarray"
    grad: Any
    dual: Any

    def __init__(self, dtype: DType, element_shape: tuple[int, ...], shape: tuple[int, ...], name: str = "") -> None:
        super().__init__(dtype, element_shape, name)
        self.shape, self.order = shape, tuple(range(len(shape)))
        self.grad = self.dual = None

    def __repr__(self) -> str:
        return "<rg.ndarray>"

    def has_grad(self) -> bool:
        """Whether it has adjoints."""
        return self.grad is not None

    def has_dual(self) -> bool:
        """Whether it has tangents."""
        return self.dual is not None

    def __deepcopy__(self, memo: Any) -> "Ndarray":
        return _restore(self.dtype, self.element_shape, self.shape, self.order, self.to_numpy(), self.grad.to_numpy() if self.grad is not None else None)

    def __reduce__(self) -> Any:
        return _restore, (self.dtype, self.element_shape, self.shape, self.order, self.to_numpy(),
                          self.grad.to_numpy() if self.grad is not None else None)


def _restore(dtype: DType, element: tuple[int, ...], shape: tuple[int, ...], order: tuple[int, ...], values: Any, grad: Any) -> Ndarray:
    made = _ndarray(dtype, element, shape, order, grad is not None, False)
    made.from_numpy(values)
    if grad is not None:
        made.grad.from_numpy(grad)
    return made


def _ndarray(scalar: DType, element: tuple[int, ...], shape: tuple[int, ...], order: tuple[int, ...] | None, needs_grad: bool, needs_dual: bool,
             name: str = "") -> Ndarray:
    made = Ndarray(scalar, element, shape, name)
    made.order = order or made.order
    for wanted, plane, suffix in ((needs_grad, ADJOINT, "grad"), (needs_dual, TANGENT, "dual")):
        if wanted:
            derivative = made._derivative(plane, f".{suffix}")
            derivative.grad = derivative.dual = None
            setattr(made, suffix, derivative)
            derivative._allocate()
    return made


def ndarray(dtype: Any, shape: Any, needs_grad: bool = False, needs_dual: bool = False, fill: Any = None, name: str = "") -> Ndarray:
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
    """
    need_init()
    scalar, element = element_of(dtype)
    if (needs_grad or needs_dual) and not scalar.is_float:
        raise RuntimeError_(f"{scalar} is not supported for ndarray with `needs_grad=True` or `needs_dual=True`: only floats have derivatives")
    made = _ndarray(scalar, element, shape_of(shape), None, needs_grad, needs_dual, name)
    if fill is not None:
        made.fill(fill)
    return made


def is_data(x: Any) -> bool:
    """Whether it is a field or an ndarray."""
    return isinstance(x, Data)


__all__ = ["Data", "Field", "Ndarray", "all_fields", "element_of", "field", "is_data", "ndarray", "shape_of"]
