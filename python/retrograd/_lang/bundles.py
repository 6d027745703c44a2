"""Python's dataclasses as arguments of kernels: each member that the kernel uses is an argument of its own."""

from __future__ import annotations

from typing import Any

from . import expr as e
from .build import Build
from .errors import RuntimeTypeError
from .guards import OF_TYPE, Guard, Path, guard
from .parameters import At, Parameter


class BundleParameter(Parameter):
    """An instance of a dataclass, or of one that inherits from it."""

    def __init__(self, name: str, type_: type, members: dict[str, Parameter]) -> None:
        super().__init__(name)
        self.type, self.members = type_, members

    def key(self, value: Any) -> Any:
        if not isinstance(value, self.type):
            raise RuntimeTypeError(f"argument '{self.name}' is a {self.type.__name__}, and cannot take {e.describe(value)}")
        return tuple([p.key(getattr(value, name)) for name, p in self.members.items()])

    def arrays(self, value: Any) -> list[Any]:
        return [a for name, p in self.members.items() for a in p.arrays(getattr(value, name))]

    def declare(self, build: Build, at: At, value: Any) -> Any:
        return Bundle(self, build, at, value)

    def describe(self, value: Any, description: Any) -> None:
        description.value(type(value))
        for name, p in self.members.items():
            p.describe(getattr(value, name), description)

    def guards(self, at: Path, value: Any) -> list[Guard] | None:
        found = [guard(at, OF_TYPE, type(value))]
        for name, p in self.members.items():
            more = p.guards(at.member(name), getattr(value, name))
            if more is None:
                return None
            found += more
        return found


class Bundle:
    """A dataclass in a kernel. Its members become arguments of the kernel where it uses them."""

    def __init__(self, of: BundleParameter, build: Build, at: At, value: Any) -> None:
        self.__dict__["_of"], self.__dict__["_build"], self.__dict__["_at"], self.__dict__["_value"] = of, build, at, value

    def __repr__(self) -> str:
        return f"<{self._of.type.__name__} in a kernel>"

    def __getattr__(self, name: str) -> Any:
        member = self._of.members.get(name)
        if member is None:
            return getattr(self._of.type, name).__get__(self)
        at = self._at
        made = self.__dict__[name] = member.declare(self._build, at.member(name), getattr(self._value, name))
        return made
