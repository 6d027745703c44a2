"""What kernels print, and the messages of their asserts."""

from __future__ import annotations

import re
import string
from typing import Any

from .errors import TypeError_
from .expr import Expr, unary
from .matrix import Matrix
from .structs import Struct

_CONVERSION = re.compile(r"%(?:\((?P<name>\w*)\))?(?P<spec>[-+ #0]*\d*(?:\.\d+)?)(?P<letter>[a-zA-Z%])")


class Text:
    """Pieces: texts, and values with a format."""

    def __init__(self, parts: list[Any]) -> None:
        self.parts = parts

    @staticmethod
    def joined(args: list[Any], sep: str, end: str) -> "Text":
        """The arguments of a print."""
        parts: list[Any] = []
        for k, a in enumerate(args):
            parts += [sep] if k else []
            parts += a.parts if isinstance(a, Text) else [a] if isinstance(a, str) else [(a, "")]
        return Text([*parts, end])

    @staticmethod
    def formatted(pattern: str, args: list[Any], named: dict[str, Any]) -> "Text":
        """pattern.format(*args, **named)."""
        parts: list[Any] = []
        formatter = string.Formatter()
        count = 0
        for literal, field, spec, _ in formatter.parse(pattern):
            parts.append(literal)
            if field is not None:
                if not field:
                    field, count = str(count), count + 1
                parts.append((formatter.get_field(field, args, named)[0], spec or ""))
        return Text(parts)

    @staticmethod
    def percent(pattern: str, args: Any) -> "Text":
        """pattern % args."""
        values = list(args) if isinstance(args, tuple) else [args]
        parts: list[Any] = []
        end = 0
        for c in _CONVERSION.finditer(pattern):
            parts.append(pattern[end : c.start()])
            end = c.end()
            if c["letter"] == "%":
                parts.append("%")
                continue
            if c["name"] is None and not values:
                raise TypeError_("not enough arguments for format string")
            value = args[c["name"]] if c["name"] is not None else values.pop(0)
            parts.append(value if isinstance(value, str) else (value, c["spec"] + ("" if c["letter"] in "srdiu" else c["letter"])))
        return Text([*parts, pattern[end:]])

    def format(self) -> tuple[str, list[int]]:
        """printf's format, and the values of run time that it prints."""
        values: list[int] = []
        return "".join(p.replace("%", "%%") if isinstance(p, str) else _format(p[0], p[1], values) for p in self.parts), values

    def emit(self, builder: Any) -> None:
        """Print it."""
        pattern, values = self.format()
        builder.print_(pattern, *values)

    def emit_assert(self, builder: Any, condition: Expr) -> None:
        """Where the condition does not hold, end the thread with this message."""
        pattern, values = self.format()
        text = re.sub("%[^%a-zA-Z]*(?:ll)?[a-zA-Z]|%%", lambda c: "%" if c[0] == "%%" else "?", pattern)
        if values:  # the queue puts what is printed so in place of the text
            builder.if_(unary("not", condition).value)
            builder.print_(f"\x02{text.replace('%', '%%')}\x03{pattern}\x04", *values)
            builder.end()
        builder.assert_(condition.value, text)

    def known(self) -> Any:
        """Itself; a text without values of run time as a string."""
        pattern, values = self.format()
        return self if values else pattern.replace("%%", "%")

    def __str__(self) -> str:
        raise TypeError_("a text with values of run time can be printed, or be the message of an assert, and nothing else")


def _format(value: Any, spec: str, values: list[int]) -> str:
    if isinstance(value, Text):
        pattern, inner = value.format()
        values += inner
        return pattern
    if isinstance(value, Matrix):
        return _format(value.to_list(), spec, values)
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_format(v, spec, values) for v in value) + "]"
    if isinstance(value, Struct):
        return "{" + ", ".join(f"{k}: " + _format(v, spec, values) for k, v in value.members.items()) + "}"
    match = re.fullmatch(r"(?P<align>[<>=]?)(?P<flags>[-+ #0]*)(?P<width>\d*)(?P<precision>(?:\.\d+)?)(?P<letter>[a-zA-Z]?)", spec)
    if not isinstance(value, Expr):
        return _known(value, spec, match).replace("%", "%%")
    if match is None:
        raise TypeError_(f"the format {spec!r} is not supported in kernels")
    letter, flags = match["letter"], ("-" if match["align"] == "<" else "") + match["flags"]
    values.append(value.value)
    if not value.dtype.is_float:
        decimal = "u" if value.dtype.kind in "ub" else "d"
        if letter not in ("", "d", "i", decimal, "x", "X", "o", "c"):
            raise TypeError_(f"the format {spec!r} is not one of integers ({value.dtype})")
        return f"%{flags}{match['width']}{match['precision']}ll{letter if letter in ('x', 'X', 'o', 'c') else decimal}"
    if letter not in ("", "e", "E", "f", "F", "g", "G"):
        raise TypeError_(f"the format {spec!r} is not one of floats ({value.dtype})")
    precision = match["precision"] or (".12" if not letter and value.dtype.bits == 64 else "")
    return f"%{flags}{match['width']}{precision}{letter or 'f'}"


def _known(value: Any, spec: str, match: re.Match[str] | None) -> str:
    """A value that is known when the kernel is compiled, in Python's formats; what only C has means the same as for values of run time."""
    from .arguments import Buffer
    from .data import Data

    if isinstance(value, (Buffer, Data)):
        raise TypeError_("a kernel prints elements of arrays: Python prints whole ones")
    if isinstance(value, bool) and not spec:
        return str(int(value))
    if match is not None and isinstance(value, int) and match["letter"] in ("", "d", "i", "u") and (match["letter"] in ("i", "u") or match["precision"]):
        return f"%{'-' if match['align'] == '<' else ''}{match['flags']}{match['width']}{match['precision']}d" % value
    if match is not None and isinstance(value, float) and match["precision"] and not match["letter"]:
        spec += "f"
    return format(value, "<" + spec[1:] if spec[:1] == "-" else spec)
