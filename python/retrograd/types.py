"""Types of elements and arguments: `vector`, `matrix`, `struct`, `ndarray`."""

from __future__ import annotations

from typing import Any

from ._lang.annotations import KINDS, ArrayParameter, Parameter
from ._lang.dtypes import (f16, f32, f64, float16, float32, float64, i8, i16, i32, i64, int8, int16, int32, int64, u1, u8, u16, u32, u64, uint1, uint8,
                           uint16, uint32, uint64)
from ._lang.func import Template, template
from ._lang.matrix import MatrixType


def vector(n: int, dtype: Any) -> MatrixType:
    """The type of vectors."""
    return MatrixType(n, None, dtype)


def matrix(n: int, m: int, dtype: Any) -> MatrixType:
    """The type of matrices."""
    return MatrixType(n, m, dtype)


class NdarrayType:
    """The annotation of an array argument: `types.ndarray(dtype=f32, ndim=2)`, `types.NDArray[f32, 2]`.

    Parameters
    ----------
    dtype : optional
        The type of the elements; of a vector or matrix type the last axes of arrays of NumPy are its entries.
    ndim : int, optional
        The number of axes.
    needs_grad : bool, optional
        True: the array has to have an adjoint. False: the kernel's derivatives take it for a constant.
    boundary : str
        "unsafe".
    """

    def __init__(self, dtype: Any = None, ndim: int | None = None, element_dim: int | None = None, element_shape: Any = None, needs_grad: bool | None = None,
                 boundary: str = "unsafe") -> None:
        self.dtype, self.ndim, self.needs_grad, self.boundary = dtype, ndim, needs_grad, boundary

    def __class_getitem__(cls, given: Any) -> "NdarrayType":
        return cls(*given) if isinstance(given, tuple) else cls(given)


ndarray = NDArray = NdarrayType


def _array(name: str, annotation: Any) -> Parameter | None:
    if annotation is NdarrayType:
        return ArrayParameter(name)
    if isinstance(annotation, NdarrayType):
        return ArrayParameter(name, annotation.dtype, annotation.ndim, annotation.needs_grad)
    return None


KINDS.append(_array)
