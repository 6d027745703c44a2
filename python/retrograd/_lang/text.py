"""What kernels print."""

from __future__ import annotations

from typing import Any

from .expr import Expr
from .matrix import Matrix
from .structs import Struct


class Text:
    """Pieces: texts, and values with a format."""

    def __init__(self, parts: list[Any]) -> None:
        self.parts = parts

    def plain(self) -> str:
        """As text, without values of run time."""
        return "".join(p if isinstance(p, str) else "?" if isinstance(p[0], Expr) else format(p[0], p[1]) for p in self.parts)

    @staticmethod
    def joined(args: list[Any], sep: str, end: str) -> "Text":
        """The arguments of a print."""
        parts: list[Any] = []
        for k, a in enumerate(args):
            parts += [sep] if k else []
            parts += a.parts if isinstance(a, Text) else [a] if isinstance(a, str) else [(a, "")]
        return Text([*parts, end])

    def emit(self, builder: Any) -> None:
        """Print it."""
        pieces: list[str] = []
        values: list[int] = []
        for p in self.parts:
            if isinstance(p, str):
                pieces.append(p.replace("%", "%%"))
            else:
                pieces.append(_format(p[0], p[1], values))
        builder.print_("".join(pieces), *values)


def _format(value: Any, spec: str, values: list[int]) -> str:
    if isinstance(value, Matrix):
        rows = value.to_list()
        return "[" + ", ".join(_format(Matrix(r) if isinstance(r, list) else r, spec, values) for r in rows) + "]"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_format(v, spec, values) for v in value) + "]"
    if isinstance(value, Struct):
        return "{" + ", ".join(f"{k}: " + _format(v, spec, values) for k, v in value.members.items()) + "}"
    if not isinstance(value, Expr):
        return format(value, spec).replace("%", "%%") if spec or not isinstance(value, bool) else str(int(value))
    values.append(value.value)
    if value.dtype.is_float:
        return f"%{spec}" if spec else "%.12f" if value.dtype.bits == 64 else "%f"
    return f"%{spec.rstrip('dx')}ll{'x' if spec.endswith('x') else 'u' if value.dtype.kind in 'ub' else 'd'}"
