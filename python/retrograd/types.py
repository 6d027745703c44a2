"""Types of elements and arguments: `vector`, `matrix`, `struct`, `ndarray`."""

from __future__ import annotations

from typing import Any

from ._lang.array_parameters import NdarrayType
from ._lang.dtypes import (f16, f32, f64, float16, float32, float64, i8, i16, i32, i64, int8, int16, int32, int64, u1, u8, u16, u32, u64, uint1, uint8,
                           uint16, uint32, uint64)
from ._lang.func import Template, template
from ._lang.matrix import MatrixType
from ._lang.missing import missing
from ._lang.structs import StructType, struct_type


def vector(n: int, dtype: Any) -> MatrixType:
    """The type of vectors."""
    return MatrixType(n, None, dtype)


def matrix(n: int, m: int, dtype: Any) -> MatrixType:
    """The type of matrices."""
    return MatrixType(n, m, dtype)


def __getattr__(name: str) -> Any:
    raise missing(f"module {__name__!r}", name)


struct = struct_type
ndarray = NDArray = NdarrayType
