"""The kernel under construction."""

from __future__ import annotations

import threading
from typing import Any

from .. import _core
from .dtypes import DType
from .errors import RuntimeError_

OP = _core.op_codes
ADD, MIN, MAX, MUL, AND, OR, XOR, EXCHANGE, CAS = range(9)  # read-modify-write, as the library numbers them
IDENTITY_OF = {"add": ADD, "sub": ADD, "mul": MUL, "and": AND, "or": OR, "xor": XOR, "min": MIN, "max": MAX}


class Where:
    """Kernel level, or the parallel loop that is open."""

    def __init__(self, depth: int = 0, indices: Any = ()) -> None:
        self.depth, self.indices = depth, indices
        self.repeats = 0  # run-time loops that are open inside
        self.draws = False  # whether random numbers are drawn here
        self.counter: int | None = None  # the variable that counts them


class Build:
    """The builder of one kernel, and what the walk over its source has found so far."""

    def __init__(self, name: str, **options: Any) -> None:
        self.builder = _core.Builder(**options)
        self.name = name
        self.files: dict[str, int] = {}
        self.inputs: list[Any] = []  # what a launch gives, in the order of the parameters: see arguments.py
        self.captured: dict[int, Any] = {}  # by id of the array: its Buffer
        self.kept: list[Any] = []  # objects whose ids are keys
        self.names: dict[int, str] = {}  # by id of the array: what the source calls it
        self.walker: Any = None
        self.called: list[Any] = []  # functions whose code the walk has gone through, or has called
        self.reads: Any = None  # see reads.py
        self.serial = self.where = Where()
        self.draws: Any = None  # see random.py
        self.in_parallel = False
        self.control = 0  # open run-time constructs at kernel level
        self.extents: list[int] = []  # (buffer, axis, extent), flat
        self.constants: dict[Any, int] = {}
        self.stopped: set[int] = set()  # array parameters whose elements are constants to the derivative, where the walk stands
        self.marks: Any = None  # validation: of reads and writes

    def file(self, path: str, text: str) -> int:
        """The number of a source file."""
        if path not in self.files:
            self.files[path] = self.builder.file(path, text)
        return self.files[path]

    def unique(self, name: str) -> str:
        """A name for a further parameter."""
        taken = {n for n, _ in self.inputs}
        found, k = name, 1
        while found in taken:
            k += 1
            found = f"{name}_{k}"
        return found

    def var(self, name: str, dtype: DType, length: int = 0, depth: int = 0) -> int:
        """A variable."""
        return self.builder.var(name, dtype.code, length, depth)


class _Current(threading.local):
    build: Build | None = None


_current = _Current()


def current() -> Build:
    """The kernel that this thread builds."""
    if _current.build is None:
        raise RuntimeError_("this works on values of kernels, inside of a kernel only")
    return _current.build


def building() -> bool:
    """Whether this thread builds a kernel."""
    return _current.build is not None


class under:
    """A block in which a kernel is the one under construction."""

    def __init__(self, build: Build) -> None:
        self.build = build

    def __enter__(self) -> Build:
        self.before, _current.build = _current.build, self.build
        return self.build

    def __exit__(self, *failure: Any) -> None:
        _current.build = self.before
