"""What fields and ndarrays have in common: elements of one type in an array of the library."""

from __future__ import annotations

import math
import sys
import weakref
from typing import Any, Iterator

import numpy as np

from .._arrays import ADJOINT, TANGENT, Array
from . import dtypes
from .build import building
from .dtypes import DType
from .errors import AssertionError_, IndexError_, RuntimeError_, SyntaxError_
from .launching import launching
from .matrix import Matrix, MatrixType
from .runtime import runtime


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
    try:
        found = tuple(n.__index__() for n in shape) if isinstance(shape, (tuple, list)) else (shape.__index__(),)
    except AttributeError:
        raise RuntimeError_(f"a shape is an integer or a tuple of integers, not {shape!r}") from None
    if any(n <= 0 for n in found):
        raise RuntimeError_(f"the extents of a shape should be positive, not {found}")
    return found


def order_of(axes: Any, rank: int, what: str) -> tuple[int, ...]:
    """An order of axes in storage."""
    found = tuple(axes)
    if sorted(found) != list(range(rank)):
        raise ValueError(f"{what} is not a permutation of the {rank} axes")
    return found


def unwrap(value: Any) -> Any:
    """The field or ndarray in a tensor; other things as they are."""
    return value._unwrap() if hasattr(type(value), "_unwrap") else value


def entries_of(value: Any, dtype: DType, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    """What is stored to an element: a scalar for all its entries, or a value of its shape."""
    if isinstance(value, (Matrix, list, tuple)):
        value = Matrix(value).to_list()
    try:
        found = np.asarray(value, dtype.numpy)
    except OverflowError:  # integers wrap
        found = np.asarray(value).astype(dtype.numpy)
    if found.shape not in ((), shape):
        raise ValueError(f"a scalar{f' or a value of shape {shape}' if shape else ''} is wanted, not one of shape {found.shape}")
    return np.ascontiguousarray(np.broadcast_to(found, shape))


class Data:
    """Elements of one type in an array of the library.

    The array's axes are those of the shape, in the order of storage, and then those of the element.
    """

    kind = "array"
    grad: Any = None
    dual: Any = None

    def __init__(self, dtype: DType, element_shape: tuple[int, ...], name: str = "") -> None:
        self.dtype, self.element_shape, self.name = dtype, element_shape, name
        self.shape: tuple[int, ...] = ()
        self.order: tuple[int, ...] = ()  # the axis of the shape that each axis of storage is
        self.offset: tuple[int, ...] | None = None
        self.generation = runtime.generation
        self.primal: Data | None = None  # whose derivative it is
        self.plane = 0
        self._array: Any = None
        self._memory: Any = None  # the host's view of it, where there is one
        self._exposed = False

    def __repr__(self) -> str:
        return f"<rg.{self.kind}>"

    def __str__(self) -> str:
        return str(self.to_numpy())

    @property
    def called(self) -> str:
        """What messages call it."""
        return f"{self.kind} {self.name!r}" if self.name else self.kind

    # -- storage -------------------------------------------------------------------------------------------------------

    @property
    def array(self) -> Array:
        """The library's array."""
        if self._array is None:
            self._allocate()
        found: Array = self._array
        return found

    def _allocate(self) -> None:
        if self.generation != runtime.generation:
            raise RuntimeError_(f"the {self.called} was made before `reset()` or `init()`, or its tree was destroyed: it has no memory any more")
        if self.primal is not None:
            whole, plane = self.primal, self.plane
            while whole.primal is not None:
                whole, plane = whole.primal, plane | whole.plane
            whole.array._require(plane, 1)
            self._array = whole.array._plane(plane)
            if self.plane == ADJOINT and self.dual is None:
                self.dual = self._derivative(TANGENT, ".dual")  # has memory once it is used
        else:
            storage = tuple(self.shape[k] for k in self.order) + self.element_shape
            self._array = Array(storage, self.dtype.numpy.name, runtime.device, None, False, False, 0, False, self.name or None)
        _allocated.add(self)

    def _free(self) -> None:
        self._array = self._memory = None

    def _derivative(self, plane: int, suffix: str) -> Any:
        made = type(self).__new__(type(self))
        Data.__init__(made, self.dtype, self.element_shape, self.name + suffix)
        made.shape, made.order, made.offset, made.primal, made.plane = self.shape, self.order, self.offset, self, plane
        return made

    def _by_shape(self, values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """An array of storage with its axes in the order of the shape."""
        axes = [self.order.index(k) for k in range(len(self.order))] + list(range(len(self.order), values.ndim))
        return values if self._is_plain() else values.transpose(axes)

    def _is_plain(self) -> bool:
        return all(k == axis for k, axis in enumerate(self.order))

    def _view(self) -> np.ndarray[Any, Any]:
        """The elements in the order of the shape; the memory itself where the device shares the host's."""
        if self._memory is not None:
            found: np.ndarray[Any, Any] = self._memory
            return found
        values = self._by_shape(self.array.numpy())
        if not self.array.device.own_memory:
            self._memory = values
        return values

    def _store(self, values: np.ndarray[Any, Any]) -> None:
        axes = list(self.order) + list(range(len(self.order), values.ndim))
        dense = np.ascontiguousarray(values.transpose(axes))
        launching.write(self, lambda: self.array._write(dense))

    # -- elements ------------------------------------------------------------------------------------------------------

    def _index(self, key: Any) -> tuple[int, ...]:
        key = () if key is None else tuple(key.entries) if isinstance(key, Matrix) else tuple(key) if isinstance(key, (tuple, list)) else (key,)
        if len(key) != len(self.shape):
            self.array  # noqa: B018 -- says if it has no place
            raise IndexError_(f"{len(key)} indices for {self.called} of shape {self.shape}")
        try:
            at = tuple([i.__index__() for i in key])
        except AttributeError:
            raise TypeError(f"an index of {self.called} is an integer for each axis, not {key!r}") from None
        if self.offset:
            at = tuple([i - o for i, o in zip(at, self.offset)])
        for i, extent in zip(at, self.shape):
            if not 0 <= i < extent:
                raise AssertionError_(f"index {key} is out of the bounds of {self.called} of shape {self.shape}"
                                      + (f" with offset {self.offset}" if self.offset else ""))
        return at

    def _put(self, at: tuple[int, ...], entry: tuple[int, ...], values: np.ndarray[Any, Any]) -> None:
        index = (at if self._is_plain() else tuple([at[k] for k in self.order])) + entry
        launching.write(self, lambda: self.array._put(index, values), index, values)

    def __getitem__(self, key: Any) -> Any:
        if building():  # in a function of Python that a kernel calls
            from .arguments import element

            return element(self, key).load()
        at = self._index(key)
        value = self._view()[at]
        return ElementView(self, at, value) if self.element_shape else value.item()

    def __setitem__(self, key: Any, value: Any) -> None:
        self._outside("a store to an element")
        self._put(self._index(key), (), entries_of(value, self.dtype, self.element_shape))

    def __iter__(self) -> Iterator[Any]:
        raise TypeError(f"a {self.kind} is iterated in kernels only")

    def _outside(self, what: str) -> None:
        if building():
            raise SyntaxError_(f"{what} of {self.called} by Python would be done once, when the kernel is compiled: call it outside of kernels, "
                               "or make a @func of what the kernel calls")

    # -- all elements --------------------------------------------------------------------------------------------------

    def fill(self, value: Any) -> None:
        """Set all elements: to a number, or to a vector or matrix of the elements' shape. Kernels can do it, too."""
        self._outside("fill()")
        self._fill(value)

    def _fill(self, value: Any) -> None:
        if isinstance(value, (int, float)) and abs(value) <= 2**53:
            launching.write(self, lambda: self.array.fill(value))
        else:
            self._store(np.broadcast_to(entries_of(value, self.dtype, self.element_shape), self.shape + self.element_shape))

    def to_numpy(self, dtype: Any = None, copy: bool | None = True, keep_dims: bool = False) -> Any:
        """The elements as a NumPy array of the shape, with the axes of the elements behind it.

        Parameters
        ----------
        dtype : optional
            Another type.
        copy : bool, optional
            False: the memory itself; a ValueError where that is not possible. None: a copy only there.
        keep_dims : bool
            Vectors have two axes, like matrices with one column.
        """
        self._outside("to_numpy()")
        wanted = dtypes.of(dtype) if dtype is not None else None
        target = wanted.numpy if wanted is not None else dtype
        shared = not self.array.device.own_memory and (target is None or np.dtype(target) == self.dtype.numpy)
        if copy or copy is None and not shared:
            return self._columns(np.array(self._view(), dtype=target, copy=True, order="C"), keep_dims)
        if not shared:
            raise ValueError(f"{self.called} cannot be lent without a copy: it is "
                             + ("in a device's memory" if self.array.device.own_memory else f"of {self.dtype}, not {dtype}"))
        return self._columns(self._by_shape(self._shared().numpy()), keep_dims)

    def _columns(self, values: Any, keep_dims: bool) -> Any:
        return values[..., None] if keep_dims and len(self.element_shape) == 1 else values

    def _shared(self) -> Array:
        """The array, whose memory others will use: they may write it, and nobody is told."""
        array = self.array
        if self.primal is None and not self._exposed and not array.device.own_memory and not array._recorded:
            array._expose()
            self._exposed = True
        return array

    def from_numpy(self, values: Any) -> None:
        """Set all elements from an array of the same shape; other types are converted."""
        self._outside("from_numpy()")
        values = np.asarray(values)
        wanted = self.shape + self.element_shape
        kept = [n for n in values.shape[len(self.shape) :] if n != 1] == [n for n in self.element_shape if n != 1]  # columns and rows are vectors
        if values.shape != wanted and (not self.element_shape or values.shape[: len(self.shape)] != self.shape or not kept):
            raise ValueError(f"{self.called}: an array of shape {wanted} is wanted, not {values.shape}")
        self._store(values.reshape(wanted).astype(self.dtype.numpy, copy=False))

    def copy_from(self, other: Any) -> None:
        """Set all elements from another field, ndarray or tensor of the same shape; other types are converted."""
        self._outside("copy_from()")
        other = unwrap(other)
        if not isinstance(other, Data):
            raise TypeError(f"copy_from takes a field or an ndarray, not {type(other).__name__}")
        if other.shape + other.element_shape != self.shape + self.element_shape:
            raise ValueError(f"copy_from: shapes {self.shape + self.element_shape} and {other.shape + other.element_shape} differ")
        if other.order == self.order and other.dtype is self.dtype:
            launching.copy(self, other)
        else:
            self.from_numpy(other._view())

    def to_torch(self, device: Any = None, copy: bool | None = True, keep_dims: bool = False) -> Any:
        """The elements as a tensor of torch.

        Parameters
        ----------
        device : optional
            Where the tensor is; by default the device of the memory where torch knows it, else the CPU.
        copy : bool
            False: the memory itself; a ValueError where that is not possible.
        keep_dims : bool
            Vectors have two axes, like matrices with one column.
        """
        import torch

        self._outside("to_torch()")
        if runtime.device.startswith("cuda"):
            found = self._by_shape_torch(sys.modules["torch"].from_dlpack(self.array))
            found = found.clone() if copy is not False else found
        else:
            found = torch.from_numpy(self.to_numpy(copy=copy))
        found = self._columns(found, keep_dims)
        if device is None or torch.device(device).type == found.device.type:
            return found
        if copy is False:
            raise ValueError(f"{self.called} cannot be lent without a copy: it is on {found.device}, not {device}")
        return found.to(device)

    def _by_shape_torch(self, values: Any) -> Any:
        return values.permute([self.order.index(k) for k in range(len(self.order))] + list(range(len(self.order), values.ndim)))

    def from_torch(self, tensor: Any) -> None:
        """Set all elements from a tensor of the same shape; other types are converted."""
        self._outside("from_torch()")
        if tensor.is_cuda and runtime.device.startswith("cuda") and tuple(tensor.shape) == self.shape + self.element_shape:
            target = self._by_shape_torch(sys.modules["torch"].from_dlpack(self.array))
            values = target.new_empty(self.array.shape)
            self._by_shape_torch(values).copy_(tensor.detach())
            self.array._copy_from(Array((), "", self.array.device, values, False, False, 0, False, None))
        else:
            self.from_numpy(tensor.detach().cpu().numpy())

    def to_dlpack(self, *args: Any, **options: Any) -> Any:
        """The memory as a DLPack capsule."""
        return self.__dlpack__(*args, **options)

    def __dlpack__(self, *args: Any, **options: Any) -> Any:
        if self._is_plain():
            return self._shared().__dlpack__(*args, **options)
        if self.array.device.own_memory:
            raise BufferError(f"{self.called} has its axes in another order in memory: copy it, or use to_torch()")
        return self.to_numpy(copy=False).__dlpack__(*args, **options)

    def __dlpack_device__(self) -> Any:
        return self.array.__dlpack_device__()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return self.to_numpy(dtype, copy is not False)

    # -- what it is ----------------------------------------------------------------------------------------------------

    @property
    def n(self) -> int:
        """Rows of an element."""
        return self.element_shape[0] if self.element_shape else 1

    @property
    def m(self) -> int:
        """Columns of an element."""
        return self.element_shape[1] if len(self.element_shape) == 2 else 1

    def has_grad(self) -> bool:
        """Whether it has adjoints."""
        return self.grad is not None

    def has_dual(self) -> bool:
        """Whether it has tangents."""
        return self.dual is not None

    # -- copies --------------------------------------------------------------------------------------------------------

    def _state(self) -> tuple[Any, ...]:
        """What `_rebuild` makes a copy of."""
        derivatives = tuple(getattr(self, w).to_numpy() if has else None for w, has in (("grad", self.has_grad()), ("dual", self.has_dual())))
        return type(self), self.dtype, self.element_shape, self.shape, self.order, self.offset, self.name, (self.to_numpy(), *derivatives)

    def __reduce__(self) -> Any:
        return _rebuild, self._state()

    def __deepcopy__(self, memo: Any) -> Any:
        return _rebuild(*self._state())

    @classmethod
    def _make(cls, scalar: DType, element: tuple[int, ...], shape: tuple[int, ...], order: tuple[int, ...], offset: tuple[int, ...] | None, name: str,
              needs_grad: bool, needs_dual: bool) -> Any:
        raise NotImplementedError


def _rebuild(cls: Any, dtype: DType, element: tuple[int, ...], shape: tuple[int, ...], order: tuple[int, ...], offset: Any, name: str,
             contents: tuple[Any, ...]) -> Any:
    values, grad, dual = contents
    made = cls._make(dtype, element, shape, order, offset, name, grad is not None, dual is not None)
    made.from_numpy(values)
    for derivative, given in ((made.grad, grad), (made.dual, dual)):
        if given is not None:
            derivative.from_numpy(given)
    return made


def check_derivatives(dtype: DType, kind: str, *wanted: bool) -> None:
    """Only floats have derivatives."""
    if any(wanted) and not dtype.is_float:
        raise RuntimeError_(f"{dtype} is not supported for {kind} with `needs_grad=True` or `needs_dual=True`: only floats have derivatives")


class ElementView(Matrix):
    """A vector or matrix in a field or ndarray: stores to entries go there."""

    __slots__ = ("_of",)

    def __init__(self, data: Data, at: tuple[int, ...], value: np.ndarray[Any, Any]) -> None:
        self._set(value.reshape(-1).tolist(), value.shape)
        object.__setattr__(self, "_of", (data, at))

    def _put(self, position: int, value: Any) -> None:
        super()._put(position, value)
        data, at = self._of
        data._put(at, (position,) if len(self.shape) == 1 else divmod(position, self.shape[1]), np.asarray(value, data.dtype.numpy))


class Component:
    """One entry of all elements of a field: a field of scalars. Made by `get_scalar_field`."""

    def __init__(self, of: Data, entry: tuple[int, ...]) -> None:
        self.of, self.entry = of, entry
        self.shape, self.dtype = of.shape, of.dtype

    def __getitem__(self, key: Any) -> Any:
        return self.of[key][self.entry]

    def __setitem__(self, key: Any, value: Any) -> None:
        self.of[key][self.entry] = value

    def element_place(self, index: Any) -> Any:
        """An element, in a kernel."""
        from .arguments import element

        return element(self.of, index).item(self.entry)

    @property
    def loop_domain(self) -> Data:
        """What loops over it run over."""
        return self.of

    @property
    def grad(self) -> Any:
        """The same entry of the adjoints."""
        return None if self.of.grad is None else Component(self.of.grad, self.entry)

    def to_numpy(self, dtype: Any = None) -> np.ndarray[Any, Any]:
        """The entries as a NumPy array of the shape."""
        return np.array(self._of_entry(self.of._view()), dtype)

    def fill(self, value: Any) -> None:
        """Set all of them."""
        self.from_numpy(np.full(self.shape, value))

    def from_numpy(self, values: Any) -> None:
        """Set all of them from an array of the shape."""
        whole = self.of.to_numpy()
        self._of_entry(whole)[...] = values
        self.of.from_numpy(whole)

    def _of_entry(self, values: Any) -> Any:
        return values[(..., *self.entry)]


_allocated: "weakref.WeakSet[Data]" = weakref.WeakSet()


def _free_all() -> None:
    for data in list(_allocated):
        data._free()
    _allocated.clear()


runtime.at_reset.append(_free_all)


def size_of(data: Data) -> int:
    """How many scalars it has."""
    return math.prod(data.shape + data.element_shape)
