"""Structs of C and structured arrays of NumPy."""

from __future__ import annotations

import re
from typing import Any, Mapping

import numpy as np


def _field(dtype: np.dtype[Any], path: str) -> tuple[np.dtype[Any], int] | None:
    """The type and the offset of a field, which may be one of a struct or array inside: "pos.x", "pos[2]"."""
    offset = 0
    for name, index in re.findall(r"(\w+)|\[(\d+)\]", path):
        if name:
            if dtype.fields is None or name not in dtype.fields:
                return None
            dtype, at = dtype.fields[name][:2]
            offset += at
        else:
            if dtype.subdtype is None or int(index) >= dtype.subdtype[1][0]:
                return None
            base, shape = dtype.subdtype
            inner = np.dtype((base, shape[1:]))
            offset += int(index) * inner.itemsize
            dtype = inner
    return dtype, offset


def check(dtype: np.dtype[Any], kernel: str, name: str, fields: list[tuple[str, str, int]], size: int) -> None:
    """Raises TypeError unless a structured array of that type has the layout of the kernel's struct."""
    if dtype.itemsize != size:
        raise TypeError(f"kernel {kernel}: elements of '{name}' have {dtype.itemsize} bytes, the struct has {size} "
                        f"(numpy.dtype(..., align=True) places fields as C does)")
    for path, kind, offset in fields:
        found = _field(dtype, path.removeprefix(name + "."))
        if found is None:
            raise TypeError(f"kernel {kernel}: argument '{name}' has no field {path.removeprefix(name + '.')}")
        # an array inside the struct is one parameter; its length shows in the offsets and the size
        if (found[0].base, found[1]) != (np.dtype(kind), offset):
            raise TypeError(f"kernel {kernel}: field {path} is {found[0]} at byte {found[1]}, in the struct {kind} at byte {offset}")


def part(struct: Any, kernel: str, name: str) -> Any:
    """The field of a struct that a parameter is called after: "p.at.x", "p.w.0". Structs are NumPy's, dicts, or objects with attributes."""
    for field in name.split(".")[1:]:
        try:
            if isinstance(struct, (np.void, Mapping)):
                struct = struct[field]
            elif isinstance(struct, np.ndarray) and struct.ndim == 0 and struct.dtype.fields:
                struct = struct[field]
            elif field.isdigit():
                struct = struct[int(field)]
            else:
                struct = getattr(struct, field)
        except (KeyError, ValueError, IndexError, TypeError, AttributeError):
            raise TypeError(f"kernel {kernel}: argument '{name.split('.')[0]}' has no field {name.partition('.')[2]}") from None
    return struct


def half(bits: int) -> float:
    """The number that is so written in float16."""
    return float(np.uint16(bits).view(np.float16))
