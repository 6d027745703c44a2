"""By what calls of a kernel are known again: the C part launches these without Python."""

from __future__ import annotations

from typing import Any, Sequence

import numpy as np

from .. import _core

REAL, INTEGER, TRUTH, OF_TYPE, SAME, EQUAL, SIGNATURE, MEMORY = range(8)  # as in core/dispatch.c

Guard = tuple[Any, ...]  # what Entry takes


class Path:
    """Where a launch finds a value: in an argument (or an object: index -1), or in attributes of one."""

    __slots__ = ("index", "names", "start")

    def __init__(self, index: int, names: tuple[str, ...] = (), start: Any = None) -> None:
        self.index, self.names, self.start = index, names, start

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, Path) and (self.index, self.names) == (other.index, other.names) and self.start is other.start

    def __hash__(self) -> int:
        return hash((self.index, self.names))

    def __call__(self, args: tuple[Any, ...]) -> Any:
        value = args[self.index] if self.index >= 0 else self.start
        for name in self.names:
            value = getattr(value, name)
        return value

    def member(self, name: str) -> "Path":
        """An attribute of the value."""
        return Path(self.index, (*self.names, name), self.start)


def guard(at: Path, check: int, wanted: Any = None, dtype: int = 0, rank: int = 0, tail: tuple[int, ...] = ()) -> Guard:
    """One check of a value."""
    return (at.index, at.start, at.names), check, wanted, dtype, rank, tail


def entry_of(parameters: Sequence[Any], args: tuple[Any, ...], compiled: Any) -> _core.Entry | None:
    """What launches a compiled kernel for arguments like these; None: only Python can."""
    guards: list[Guard] = []
    for k, (p, a) in enumerate(zip(parameters, args)):
        found = p.guards(Path(k), a)
        if found is None:
            return None
        guards += found
    read = compiled.reads.guards()
    if read is None:
        return None
    guards += read
    if compiled.in_place and any(g[1] == MEMORY and g[2] is not np.ndarray for g in guards):
        return None  # tensors have versions, which Python compares
    values = [id(Path(g[0][0], g[0][2], g[0][1])(args)) for g in guards]
    if any(g[1] >= SIGNATURE and values.count(v) > 1 for g, v in zip(guards, values)):
        return None  # an array for two arguments, which the kernel has one parameter for
    inputs = [getter.path() if hasattr(getter, "path") else None for getter in compiled.getters]
    if any(i is None or len(i[2]) > 4 for i in inputs) or any(len(g[0][2]) > 4 for g in guards):
        return None
    return _core.Entry(compiled.core, len(args), tuple(guards), tuple(inputs), compiled, tuple(compiled.in_place), compiled.result)
