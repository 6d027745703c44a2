"""What a kernel reads of Python's objects: of `self`, and of objects that are template arguments.

Numbers are constants of the compiled kernel, and of its key: with other ones it is compiled again, and those that have changed become arguments
where the kernel can do with values of run time. Ndarrays are arguments, looked up at each launch. Fields and other objects are known by identity.
"""

from __future__ import annotations

import types
from typing import Any

from .data import Data, unwrap
from .expr import Expr
from .guards import EQUAL, INTEGER, REAL, SAME, SIGNATURE, Guard, Path, guard
from .matrix import Matrix
from .ndarrays import Ndarray
from .parameters import CONSTANTS, ScalarParameter


class Reads:
    """Those of one compiled kernel. `lifted`: the numbers that are arguments of it."""

    def __init__(self, lifted: frozenset[Path] = frozenset()) -> None:
        self.lifted = lifted
        self.objects: dict[int, Path] = {}  # by id: those whose attributes are watched
        self.arrays: dict[int, Path] = {}  # by id: ndarrays that a launch looks up
        self.same: list[tuple[Path, Path]] = []  # where one array was found twice
        self.checks: dict[Path, tuple[int, Any, int]] = {}  # check, what is wanted, code of the type
        self.arguments: dict[Path, Expr] = {}

    def __getstate__(self) -> Any:
        return self.lifted, self.same, self.checks

    def __setstate__(self, state: Any) -> None:
        self.__init__(state[0])  # type: ignore[misc]
        self.same, self.checks = state[1:]

    # -- while the kernel is built -------------------------------------------------------------------------------------

    def watch(self, value: Any, at: Any) -> None:
        """An object, or an array, that a launch finds there."""
        if isinstance(at, Path):
            if isinstance(unwrap(value), Ndarray):
                self.arrays[id(unwrap(value))] = at
            elif is_object(value):
                self.objects[id(value)] = at

    def read(self, build: Any, base: Any, name: str, value: Any) -> Any:
        """An attribute has been read; what it is in the kernel."""
        inside = self.arrays.get(id(base)) if name in ("grad", "dual") else None
        if inside is not None and value is not None:
            self.arrays[id(value)] = inside.member(name)
        at = self.objects.get(id(base))
        if at is not None:
            at = at.member(name)
            if at in self.arguments:
                return self.arguments[at]
            if at not in self.checks:
                return self._first(build, base, name, value, at)
        return value

    def _first(self, build: Any, base: Any, name: str, value: Any, at: Path) -> Any:
        inner = unwrap(value)
        if isinstance(inner, Data):
            self._array(inner, at if inner is value else at.member("_impl"))
        elif type(value) in (int, float) and at in self.lifted:
            parameter = ScalarParameter("_".join(at.names), type(value))
            self.checks[at] = REAL if type(value) is float else INTEGER, type(value), parameter.dtype.code
            self.arguments[at] = parameter.declare(build, at, value)
            return self.arguments[at]
        elif is_constant(value):
            self.checks[at] = EQUAL, value.like(value.entries) if isinstance(value, Matrix) else value, 0
        elif is_own(base, name):
            self.checks[at] = SAME, value, 0
            self.watch(value, at)
        return value

    def _array(self, value: Data, at: Path) -> None:
        known = self.arrays.get(id(value))
        if not isinstance(value, Ndarray):
            self.checks[at] = SAME, value, 0
        elif known is None:
            self.checks[at] = SIGNATURE, value.signature, 0
            self.arrays[id(value)] = at
        elif known != at:
            self.same.append((at, known))

    # -- at a launch ---------------------------------------------------------------------------------------------------

    def hold(self, args: tuple[Any, ...]) -> bool:
        """Whether all is as it was."""
        return not any(True for _ in self._differing(args)) and all(at(args) is other(args) for at, other in self.same)

    def changed(self, args: tuple[Any, ...]) -> set[Path]:
        """The numbers that differ."""
        return {at for at in self._differing(args) if type(self.checks[at][1]) in (int, float) and type(at(args)) is type(self.checks[at][1])}

    def _differing(self, args: tuple[Any, ...]) -> Any:
        for at, (check, wanted, _) in self.checks.items():
            try:
                if not CHECKS[check](at(args), wanted):
                    yield at
            except AttributeError:
                yield at

    def guards(self) -> list[Guard] | None:
        """The same for the C part; None: Python compares."""
        return None if self.same else [guard(at, check, wanted if check in (EQUAL, SAME, SIGNATURE) else None, code)
                                       for at, (check, wanted, code) in self.checks.items()]


CHECKS: dict[int, Any] = {
    EQUAL: lambda v, wanted: v is wanted or type(v) is type(wanted) and bool(v == wanted),
    SAME: lambda v, wanted: v is wanted,
    SIGNATURE: lambda v, wanted: getattr(v, "signature", None) is wanted,
    REAL: lambda v, wanted: type(v) in (float, int),
    INTEGER: lambda v, wanted: type(v) is int,
}


def is_constant(value: Any) -> bool:
    """Whether it is known again by its contents."""
    if isinstance(value, tuple):
        return all(map(is_constant, value))
    return isinstance(value, CONSTANTS) or type(value) in Matrix.__subclasses__() + [Matrix] and not any(isinstance(x, Expr) for x in value.entries)


def is_object(value: Any) -> bool:
    """Whether it is an object of the program's, whose attributes are watched."""
    return not (isinstance(value, (type, types.ModuleType)) or callable(value) or hasattr(type(value), "__array__") or is_constant(value)) and \
        not type(value).__module__.startswith("retrograd.")


def is_own(base: Any, name: str) -> bool:
    """Whether the object itself has the attribute, not only its class."""
    return name in getattr(base, "__dict__", ()) or isinstance(getattr(type(base), name, None), types.MemberDescriptorType)
