"""Structs: values with named members, and their types."""

from __future__ import annotations

import sys
from typing import Any, Callable, Mapping

from . import dtypes
from .errors import SyntaxError_, TypeError_
from .matrix import Matrix, MatrixType


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

    def __init__(self, members: dict[str, Any] | None = None, type_: Any = None, **named: Any) -> None:
        object.__setattr__(self, "members", {**(members or {}), **named})
        object.__setattr__(self, "type", type_)

    @staticmethod
    def field(members: dict[str, Any], shape: Any = None, *, methods: Any = None, **options: Any) -> Any:
        """A field of structs with members of these types; options as in `field`."""
        return StructType(members, methods).field(shape, **options)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # asked by copy and pickle before there are members
            raise AttributeError(name)
        if name in self.members:
            return self.members[name]
        method = None if self.type is None else self.type.methods.get(name)
        if method is None:
            raise AttributeError(f"a struct of {', '.join(self.members)} has no member '{name}'")
        return method.__get__(self, Struct)

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in self.members:
            raise AttributeError(f"a struct of {', '.join(self.members)} has no member '{name}'")
        self.members[name] = value if self.type is None else self.type.convert(name, value)

    def __repr__(self) -> str:
        return "{" + ", ".join(f"{k}: {v!r}" for k, v in self.members.items()) + "}"

    @property
    def keys(self) -> list[str]:
        """The names of the members."""
        return list(self.members)

    def to_dict(self) -> dict[str, Any]:
        """The members by name."""
        return {k: v.to_dict() if isinstance(v, Struct) else v for k, v in self.members.items()}

    def __reduce__(self) -> Any:
        return Struct, (self.members, self.type)


class StructType:
    """The type of structs with these members; a call makes one. Made by `types.struct` and `dataclass`.

    Members that a call leaves out are zero.
    """

    def __init__(self, members: Mapping[str, Any], methods: Mapping[str, Any] | None = None, name: str = "struct") -> None:
        for member, type_ in members.items():
            if not isinstance(type_, (MatrixType, StructType)) and dtypes.of(type_) is None:
                raise TypeError_(f"member `{member}` of {name} has no type: a scalar, vector, matrix or struct type is wanted, not {type_!r}")
        self.members, self.methods, self.name = dict(members), dict(methods or {}), name

    def __repr__(self) -> str:
        return f"{self.name}({', '.join(f'{k}={dtypes.shown(v)}' for k, v in self.members.items())})"

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, StructType) and (list(self.members.items()), self.methods) == (list(other.members.items()), other.methods)

    def __hash__(self) -> int:
        return hash(tuple(self.members.items()))

    def __deepcopy__(self, memo: Any) -> "StructType":
        return self

    def convert(self, name: str, value: Any) -> Any:
        """A value as the member of that name."""
        return as_type(self.members[name], value)

    def __call__(self, *args: Any, **named: Any) -> Struct:
        whole = args[0].members if len(args) == 1 and isinstance(args[0], Struct) else args[0] if len(args) == 1 else None
        if isinstance(whole, Mapping) and not named and set(whole) <= set(self.members):
            named, args = dict(whole), ()
        if len(args) > len(self.members):
            raise TypeError_(f"{self.name} has {len(self.members)} members: {len(args)} values are given")
        named = {**dict(zip(self.members, args)), **named}
        unknown = [k for k in named if k not in self.members]
        if unknown:
            raise TypeError_(f"{self.name} has no member '{unknown[0]}': its members are {', '.join(self.members)}")
        return Struct({k: as_type(t, named[k] if k in named else 0) for k, t in self.members.items()}, self)

    def field(self, shape: Any = None, **options: Any) -> Any:
        """A field of such structs; options as in `field`."""
        from .struct_fields import StructField

        return StructField(self, shape, **options)


def as_type(type_: Any, value: Any) -> Any:
    """A value converted to a scalar, vector, matrix or struct type."""
    if isinstance(type_, StructType):
        if isinstance(value, (Struct, Mapping)):
            return type_(value)
        if isinstance(value, int) and value == 0:
            return type_()
        raise TypeError_(f"a struct of {', '.join(type_.members)} is wanted, not {value!r}")
    if isinstance(type_, MatrixType):
        return type_(value)
    from .functions import cast

    if isinstance(value, (Matrix, Struct, list, tuple, dict)):
        raise TypeError_(f"a scalar ({type_}) cannot hold {value!r}")
    return cast(value, dtypes.of(type_))


def struct_type(**members: Any) -> StructType:
    """The type of structs: `types.struct(mass=f32, velocity=types.vector(3, f32))`.

    A `__struct_methods` member, a dict of functions, gives methods.
    """
    methods = members.pop("__struct_methods", None)
    return StructType(members, methods)


def dataclass(cls: Any) -> StructType:
    """A decorator: a class whose annotated members make a struct type, and whose functions (`@func`) are its methods.

    Examples
    --------
    >>> import retrograd as rg
    >>> @rg.dataclass
    ... class Ball:
    ...     center: rg.math.vec3
    ...     radius: float
    ...     @rg.func
    ...     def volume(self):
    ...         return 4.1888 * self.radius ** 3
    >>> Ball(radius=2.0).radius
    2.0
    """
    from .func import resolve_in

    frame = sys._getframe(1)
    names = {**frame.f_globals, **frame.f_locals}
    members: dict[str, Any] = {}
    methods: dict[str, Callable[..., Any]] = {}
    for base in reversed(cls.__mro__[:-1]):
        for name, annotation in base.__dict__.get("__annotations__", {}).items():
            members[name] = resolve_in(base, annotation, names)
        methods.update({k: v for k, v in vars(base).items() if callable(v) and not k.startswith("__")})
    defaults = [name for name in members if hasattr(cls, name)]
    if defaults:
        raise SyntaxError_(f"Default value in @dataclass is not supported: member `{defaults[0]}` of {cls.__name__}")
    return StructType(members, methods, cls.__name__)
