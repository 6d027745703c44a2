"""Arrays of the library's own, which have derivatives."""

from __future__ import annotations

import sys
from typing import Any, Sequence

import numpy as np

from . import _core

ADJOINT, TANGENT = 1, 2
CUDA = 2  # as DLPack counts devices


class Array(_core.Array):
    """Elements on a device, with an adjoint and a tangent on request. Made by `array`, `zeros` and `empty`.

    NumPy and other libraries use its memory in place where it is the host's (`numpy.asarray`, `torch.from_dlpack`), libraries of CUDA also
    where it is a GPU's that CUDA reaches (`__dlpack_device__` says which). It is pickled, and
    copied, with its values and those of its derivatives, for a device of the same name.

    Examples
    --------
    >>> import retrograd as rg
    >>> x = rg.array([1.0, 2.0, 3.0], adjoint=True)
    >>> x.adjoint.fill(0.5)
    >>> x.adjoint.numpy()
    array([0.5, 0.5, 0.5])
    """

    __slots__ = ()

    def __reduce__(self) -> tuple[Any, ...]:
        derivatives = [(plane, directions, np.array(self._plane(plane))) for plane, directions in self._planes]
        return _restore, (np.array(self.numpy()), self.device.name, self._side_by_side, derivatives)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the elements."""
        return np.dtype(self._dtype)

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return int(np.prod(self.shape, dtype=np.int64))

    @property
    def nbytes(self) -> int:
        """Bytes of the elements."""
        return self.size * self.dtype.itemsize

    @property
    def adjoint(self) -> "Array | None":
        """The adjoints, an array of the same shape (with several directions: of one axis more); None: there are none."""
        return self._plane(ADJOINT)

    @property
    def tangent(self) -> "Array | None":
        """The tangents; None: there are none."""
        return self._plane(TANGENT)

    @property
    def adjoint_tangent(self) -> "Array | None":
        """The tangents of the adjoints, which second derivatives write; None: there are none."""
        return self._plane(ADJOINT | TANGENT)

    def require(self, *, adjoint: bool = False, tangent: bool = False, adjoint_tangent: bool = False, directions: int = 1) -> "Array":
        """Create derivatives that are not there yet, zeroed.

        Parameters
        ----------
        adjoint, tangent, adjoint_tangent : bool
            Which of them.
        directions : int
            How many adjoints or tangents one launch works on.

        Returns
        -------
        Array
            The array itself.
        """
        for wanted, plane in ((adjoint, ADJOINT), (tangent, TANGENT), (adjoint_tangent, ADJOINT | TANGENT)):
            if wanted:
                self._require(plane, directions)
        return self

    def numpy(self) -> np.ndarray[Any, Any]:
        """The elements as a NumPy array: the memory itself on devices that share the host's, else a copy.

        A tape or a graph does not know what NumPy writes: while one records, the array is read-only.
        """
        if not self.device.own_memory:
            return np.asarray(self)  # by __array_interface__
        out = np.empty(self.shape, self.dtype)
        self._read(out)
        return out

    def write(self, values: Any) -> None:
        """Set all elements.

        Parameters
        ----------
        values : array_like
            Converted to the array's type, and broadcast to its shape. A `retrograd.array`, and a tensor of PyTorch's on CUDA, has that
            type and shape, and may be on another device.
        """
        lent = _on_gpu(values, self.dtype, self.shape)
        values = values if lent is None else lent
        if isinstance(values, Array):
            if (values.shape, values.dtype) != (self.shape, self.dtype):
                raise _core.InvalidError(f"the values have shape {values.shape} and are {values.dtype}, the array has shape {self.shape} and is "
                                         f"{self.dtype}; write their numpy(), which is converted")
            self._copy_from(values)
            return
        dense = np.ascontiguousarray(np.broadcast_to(np.asarray(values, self.dtype), self.shape))
        self._write(dense)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        if copy is False and self.device.own_memory:
            raise ValueError("the array is in a device's memory: NumPy needs a copy")
        return np.asarray(self.numpy(), dtype)

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("an array without axes has no length")
        return self.shape[0]

    def __getitem__(self, index: Any) -> Any:
        return self.numpy()[index]

    def __setitem__(self, index: Any, values: Any) -> None:
        if self._recorded:
            raise _core.InvalidError("single elements cannot be set while a tape or a graph records: let a kernel do it, or write() all of them")
        whole = self.numpy()
        whole[index] = values
        self._write(np.ascontiguousarray(whole))

    def __repr__(self) -> str:
        return f"retrograd.array({np.array2string(self.numpy(), separator=', ', prefix='retrograd.array(')}, dtype={self.dtype}, device='{self.device.name}')"


def _restore(values: np.ndarray[Any, Any], device: str, side_by_side: bool, derivatives: list[tuple[int, int, np.ndarray[Any, Any]]]) -> Array:
    made = array(values, device=device, side_by_side=side_by_side)
    for plane, directions, contents in derivatives:
        made._require(plane, directions)
        derivative = made._plane(plane)
        assert derivative is not None
        derivative.write(contents)
    return made


def _is_memory(data: Any) -> bool:
    return hasattr(data, "__array_struct__") or hasattr(data, "__dlpack__")


def _on_gpu(data: Any, dtype: Any = None, shape: Any = None) -> Array | None:
    """An array in the memory of a tensor of PyTorch or JAX on a GPU of NVIDIA, when its contents are there; None: NumPy is to read it.

    JAX converts for NumPy what has another type or shape, or is on several GPUs.
    """
    if isinstance(data, Array) or not (hasattr(data, "is_cuda") or hasattr(data, "block_until_ready")):
        return None
    same = (dtype is None or dtype == data.dtype) and (shape is None or shape == data.shape)
    if not same and not hasattr(data, "is_cuda"):
        return None
    try:
        kind, number = data.__dlpack_device__()
    except (BufferError, ValueError):
        return None
    if int(kind) != CUDA:
        return None
    if hasattr(data, "is_cuda"):
        sys.modules["torch"].cuda.current_stream(number).synchronize()
    else:
        data.block_until_ready()
    return array(data, device=f"cuda:{number}", copy=False)


def array(data: Any, dtype: Any = None, *, device: Any = "cpu", copy: bool | None = None, adjoint: bool = False, tangent: bool = False,
          directions: int = 1, side_by_side: bool = False, name: str = "") -> Array:
    """An array with the given elements.

    Parameters
    ----------
    data : array_like
        The elements.
    dtype : optional
        Their type; by default that of `data`.
    device : str or Device
        Where the array is: "cpu", "cuda:1".
    copy : bool, optional
        False: the array uses the memory of `data`, an array of NumPy or of a library with DLPack, which has to be on the device and
        of the wanted type. By default the elements are copied.
    adjoint, tangent : bool
        Whether it has them.
    directions : int
        How many of them one launch works on.
    side_by_side : bool
        Layout of several directions: the last axis instead of the first.
    name : str
        For messages.

    Returns
    -------
    Array

    Examples
    --------
    >>> import numpy as np, retrograd as rg
    >>> values = np.arange(3.0)
    >>> x = rg.array(values, copy=False, adjoint=True)
    >>> values[0] = 7
    >>> x[0]
    np.float64(7.0)
    """
    options = dict(device=device, adjoint=adjoint, tangent=tangent, directions=directions, side_by_side=side_by_side, name=name)
    if copy is False:
        if not _is_memory(data):
            raise ValueError("only the memory of an array can be used without a copy")
        return _make((), "", data, options, dtype)
    lent = _on_gpu(data, dtype if dtype is None else np.dtype(dtype))
    if lent is not None and (dtype is None or np.dtype(dtype) == lent.dtype):
        made = _make(lent.shape, lent.dtype.name, None, options, None)
        made.write(lent)
        return made
    data = lent if lent is not None else data
    values = data.numpy() if isinstance(data, Array) else np.asarray(data, dtype)
    if dtype is not None:
        values = values.astype(dtype, copy=False)
    made = _make(values.shape, values.dtype.name, None, options, None)
    made._write(np.ascontiguousarray(values, made.dtype))  # in the machine's byte order
    return made


def _make(shape: Sequence[int], dtype: str, data: Any, options: dict[str, Any], wanted: Any) -> Array:
    made = Array(shape, dtype, options["device"], data, options["adjoint"], options["tangent"], options["directions"] if options["directions"] != 1 else 0,
                 options["side_by_side"], options["name"])
    if wanted is not None and made.dtype != np.dtype(wanted):
        raise ValueError(f"the elements are {made.dtype}: a copy is needed for {np.dtype(wanted)}")
    return made


def zeros(shape: int | Sequence[int], dtype: Any = np.float64, *, device: Any = "cpu", adjoint: bool = False, tangent: bool = False,
          directions: int = 1, side_by_side: bool = False, name: str = "") -> Array:
    """An array of zeros; parameters as in `array`.

    Examples
    --------
    >>> import retrograd as rg
    >>> rg.zeros((2, 3), "float32").shape
    (2, 3)
    """
    options = dict(device=device, adjoint=adjoint, tangent=tangent, directions=directions, side_by_side=side_by_side, name=name)
    return _make((shape,) if isinstance(shape, (int, np.integer)) else tuple(shape), np.dtype(dtype).name, None, options, None)


def empty(shape: int | Sequence[int], dtype: Any = np.float64, **options: Any) -> Array:
    """The same as `zeros`: memory of the library is always set."""
    return zeros(shape, dtype, **options)
