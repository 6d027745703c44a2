"""The scalar types, and which type an operation has."""

from __future__ import annotations

from typing import Any

import numpy as np


class DType:
    """A scalar type. In a kernel a call of it is a cast.

    Examples
    --------
    >>> import retrograd as rg
    >>> rg.f32, rg.i64.bits
    (f32, 64)
    """

    __slots__ = ("name", "code", "kind", "bits", "numpy")

    def __init__(self, name: str, code: int, kind: str, bits: int) -> None:
        self.name, self.code, self.kind, self.bits = name, code, kind, bits
        self.numpy = np.dtype(bool if kind == "b" else f"{kind}{bits // 8}")

    def __repr__(self) -> str:
        return self.name

    def __call__(self, value: Any) -> Any:
        from .functions import cast

        return cast(value, self)

    def __copy__(self) -> "DType":
        return self

    def __deepcopy__(self, memo: Any) -> "DType":
        return self

    def __reduce__(self) -> Any:
        return by_name, (self.name,)

    @property
    def is_float(self) -> bool:
        """Whether it has derivatives."""
        return self.kind == "f"

    def least(self) -> int:
        """The least integer."""
        return -(1 << self.bits - 1) if self.kind == "i" else 0

    def wrapped(self, x: int) -> int:
        """The integer of this type with the same low bits."""
        return (x - self.least() & (1 << self.bits) - 1) + self.least()

    def most(self) -> int:
        """The greatest integer."""
        return (1 << self.bits - (self.kind == "i")) - 1


u1 = DType("u1", 1, "b", 1)
i8, u8 = DType("i8", 2, "i", 8), DType("u8", 3, "u", 8)
i16, u16 = DType("i16", 4, "i", 16), DType("u16", 5, "u", 16)
i32, u32 = DType("i32", 6, "i", 32), DType("u32", 7, "u", 32)
i64, u64 = DType("i64", 8, "i", 64), DType("u64", 9, "u", 64)
f16, f32, f64 = DType("f16", 10, "f", 16), DType("f32", 11, "f", 32), DType("f64", 12, "f", 64)
ALL = (u1, i8, u8, i16, u16, i32, u32, i64, u64, f16, f32, f64)
int8, uint8, int16, uint16, int32, uint32, int64, uint64 = i8, u8, i16, u16, i32, u32, i64, u64
float16, float32, float64, uint1 = f16, f32, f64, u1

_by_name = {t.name: t for t in ALL}
_by_code = {t.code: t for t in ALL}
_by_numpy = {t.numpy: t for t in ALL}


def by_name(name: str) -> DType:
    """The type of that name."""
    return _by_name[name]


def by_code(code: int) -> DType:
    """The type of the library's number."""
    return _by_code[code]


def by_numpy(dtype: Any) -> DType | None:
    """The type of elements of a NumPy dtype; None: there is none."""
    return _by_numpy.get(np.dtype(dtype))


def of(given: Any) -> DType | None:
    """The type that an annotation or argument means; None: it is no scalar type."""
    from .runtime import cfg

    if isinstance(given, DType):
        return given
    if given is int:
        return cfg.default_ip
    if given is float:
        return cfg.default_fp
    if given is bool:
        return u1
    if isinstance(given, type) and issubclass(given, np.generic) or isinstance(given, np.dtype):
        return by_numpy(given)
    return None


def shown(given: Any) -> str:
    """An annotation or argument in messages."""
    return given.__name__ if isinstance(given, type) else repr(given)


def unsigned(t: DType) -> DType:
    """The type of integers without a sign, or of bits, of the same width."""
    return {8: u8, 16: u16, 32: u32, 64: u64}[t.bits]


def promote(a: DType, b: DType) -> DType:
    """The type of `x + y`: floats before integers, then the wider, then the unsigned one."""
    if a is b:
        return a
    if a.is_float != b.is_float:
        return a if a.is_float else b
    if a.bits != b.bits:
        return a if a.bits > b.bits else b
    return a if a.kind == "u" else b
