"""Fields of structs."""

from __future__ import annotations

from typing import Any, Callable, Iterator

from .data import Data
from .errors import RuntimeError_
from .fields import Field, field
from .layout import Layout
from .structs import Struct, StructType, as_type


class StructField:
    """A field of structs: a field for each member, which `p.mass` is, and `p[i].mass` an element of. Made by `StructType.field`."""

    def __init__(self, type_: StructType, shape: Any = None, *, name: str = "", layout: Layout = Layout.AOS, needs_grad: bool = False,
                 needs_dual: bool = False, order: str | None = None, offset: Any = None) -> None:
        self.type, self.name, self.layout = type_, name, layout
        self.members: dict[str, Any] = {}
        for member, t in type_.members.items():
            options: dict[str, Any] = dict(name=f"{name}.{member}" if name else member, layout=layout, order=order, offset=offset)
            if isinstance(t, StructType):
                self.members[member] = StructField(t, shape, needs_grad=needs_grad, needs_dual=needs_dual, **options)
            else:
                made = field(t, shape, **options)
                made.wanted = (needs_grad and made.grad is not None, needs_dual and made.dual is not None)
                self.members[member] = made
                if shape is not None:
                    for derivative, wanted in zip((made.grad, made.dual), made.wanted):
                        if wanted:
                            made.parent().place(derivative, offset=made.offset)

    @classmethod
    def _of(cls, type_: StructType, members: dict[str, Any], name: str, layout: Layout) -> "StructField":
        made = cls.__new__(cls)
        made.type, made.members, made.name, made.layout = type_, members, name, layout
        return made

    def __getattr__(self, name: str) -> Any:
        members = self.__dict__.get("members", {})
        if name in members:
            return members[name]
        raise AttributeError(f"a field of {self.__dict__.get('type')} has no member '{name}'")

    def __repr__(self) -> str:
        return "<rg.struct field>"

    def __str__(self) -> str:
        return str(self.to_numpy())

    # -- what it is ----------------------------------------------------------------------------------------------------

    def _leaves(self) -> Iterator[Field]:
        for m in self.members.values():
            if isinstance(m, StructField):
                yield from m._leaves()
            else:
                yield m

    def _placeable(self) -> list[Field]:
        return list(self._leaves())

    @property
    def loop_domain(self) -> Data:
        """What loops over it run over."""
        return next(self._leaves())

    @property
    def keys(self) -> list[str]:
        """The names of the members."""
        return list(self.members)

    @property
    def shape(self) -> tuple[int, ...]:
        """Extents."""
        return self.loop_domain.shape

    @property
    def dtype(self) -> StructType:
        """The type of its elements."""
        return self.type

    @property
    def snode(self) -> Any:
        """The node of its first member."""
        return next(self._leaves()).snode

    def parent(self, n: int = 1) -> Any:
        """The node n levels above."""
        return next(self._leaves()).parent(n)

    def get_member_field(self, name: str) -> Any:
        """The field of a member."""
        return self.members[name]

    def _derivative(self, which: str) -> "StructField | None":
        found = {k: d for k, m in self.members.items() if (d := getattr(m, which)) is not None}
        type_ = StructType({k: self.type.members[k] for k in found}, name=self.type.name) if found else None
        return None if type_ is None else StructField._of(type_, found, f"{self.name}.{which}", self.layout)

    @property
    def grad(self) -> "StructField | None":
        """The adjoints of the members that are floats; None: no member is."""
        return self._derivative("grad")

    @property
    def dual(self) -> "StructField | None":
        """Their tangents."""
        return self._derivative("dual")

    # -- elements ------------------------------------------------------------------------------------------------------

    def element_place(self, index: Any) -> Any:
        """An element, in a kernel."""
        from .arguments import element
        from .places import StructPlace

        return StructPlace({k: m.element_place(index) if isinstance(m, StructField) else element(m, index) for k, m in self.members.items()}, self.type)

    def __getitem__(self, key: Any) -> "StructView":
        return StructView(self, key)

    def __setitem__(self, key: Any, value: Any) -> None:
        for name, v in as_type(self.type, value).members.items():
            self.members[name][key] = v

    def __iter__(self) -> Iterator[Any]:
        raise TypeError("a field is iterated in kernels only")

    # -- all elements --------------------------------------------------------------------------------------------------

    def _each(self, give: Callable[[Any], Any]) -> dict[str, Any]:
        return {name: give(m) for name, m in self.members.items()}

    def _take(self, values: dict[str, Any], method: str) -> None:
        if set(values) != set(self.members):
            raise RuntimeError_(f"a dict with {', '.join(self.members)} is wanted, not with {', '.join(values)}")
        for name, v in values.items():
            getattr(self.members[name], method)(v)

    def fill(self, value: Any) -> None:
        """Set all elements: all members to a number, or to those of a struct or dict."""
        if isinstance(value, (Struct, dict)):
            self._take(value.members if isinstance(value, Struct) else value, "fill")
        else:
            self._each(lambda m: m.fill(value))

    def copy_from(self, other: "StructField") -> None:
        """Set all elements from another field of the same type and shape."""
        self._take(other.members, "copy_from")

    def to_numpy(self) -> dict[str, Any]:
        """A dict of NumPy arrays."""
        return self._each(lambda m: m.to_numpy())

    def from_numpy(self, values: dict[str, Any]) -> None:
        """Set all elements from a dict of arrays."""
        self._take(values, "from_numpy")

    def to_torch(self, device: Any = None) -> dict[str, Any]:
        """A dict of tensors of torch."""
        return self._each(lambda m: m.to_torch(device=device))

    def from_torch(self, values: dict[str, Any]) -> None:
        """Set all elements from a dict of tensors."""
        self._take(values, "from_torch")


class StructView(Struct):
    """A struct in a field: stores to members go there."""

    __slots__ = ("of", "at")

    def __init__(self, of: StructField, key: Any) -> None:
        for name, value in (("of", of), ("at", key)):
            object.__setattr__(self, name, value)
        super().__init__({k: m[key] for k, m in of.members.items()}, of.type)

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        self.of.members[name][self.at] = self.members[name]

    def __reduce__(self) -> Any:
        return Struct, (self.members, self.type)  # those that are views are copied as values, too
