"""Structs: values with named members."""

from __future__ import annotations

from typing import Any


class Struct:
    """A value with named members: scalars, vectors, matrices, structs.

    Examples
    --------
    >>> import retrograd as rg
    >>> ball = rg.types.struct(radius=float, center=rg.types.vector(2, float))
    >>> ball(radius=1.0, center=[0.0, 2.0]).center
    [0.0, 2.0]
    """

    __slots__ = ("members", "type")
    members: dict[str, Any]

    def __init__(self, members: dict[str, Any], type_: Any = None) -> None:
        object.__setattr__(self, "members", members)
        object.__setattr__(self, "type", type_)

    def __getattr__(self, name: str) -> Any:
        if name in self.members:
            return self.members[name]
        method = None if self.type is None else self.type.methods.get(name)
        if method is None:
            raise AttributeError(f"a struct of {', '.join(self.members)} has no member '{name}'")
        return method.__get__(self)

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in self.members:
            raise AttributeError(f"a struct of {', '.join(self.members)} has no member '{name}'")
        self.members[name] = value

    def __repr__(self) -> str:
        return "{" + ", ".join(f"{k}: {v!r}" for k, v in self.members.items()) + "}"

    def to_dict(self) -> dict[str, Any]:
        """The members by name."""
        return {k: v.to_dict() if isinstance(v, Struct) else v for k, v in self.members.items()}

    def __reduce__(self) -> Any:
        return Struct, (self.members, self.type)
