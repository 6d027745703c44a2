"""Where fields are placed: `root`, nodes of dense axes under it, and builders of further trees."""

from __future__ import annotations

import enum
import weakref
from typing import Any, Iterator

from .errors import RuntimeError_
from .runtime import need_init, runtime


class Layout(enum.Enum):
    """Of fields of vectors, matrices and structs. It is kept and has no effect: entries of a vector are always side by side, members
    of a struct always in arrays of their own."""

    AOS = 1
    SOA = 2


class Axes(tuple[int, ...]):
    """Axes of a field, by number. Made by `axes`; `i` is `axes(0)`, `ij` is `axes(0, 1)`."""

    def __repr__(self) -> str:
        return f"axes({', '.join(map(str, self))})"


def axes(*numbers: int) -> Axes:
    """Axes by number, for `dense`."""
    if len(set(numbers)) != len(numbers) or not all(0 <= n < 8 for n in numbers):
        raise RuntimeError_(f"axes are different numbers from 0 to 7, not {numbers}")
    return Axes(numbers)


i, j, k, l = axes(0), axes(1), axes(2), axes(3)  # noqa: E741
ij, ik, il, jk, jl, kl = axes(0, 1), axes(0, 2), axes(0, 3), axes(1, 2), axes(1, 3), axes(2, 3)
ijk, ijl, ikl, jkl, ijkl = axes(0, 1, 2), axes(0, 1, 3), axes(0, 2, 3), axes(1, 2, 3), axes(0, 1, 2, 3)


def _refused(what: str) -> Any:
    def refuse(self: "Node", *args: Any, **options: Any) -> None:
        raise RuntimeError_(f"`{what}` is not supported: fields are dense here; place them under `dense` nodes")

    refuse.__name__ = what
    refuse.__doc__ = f"Not supported: sparse and quantised structures ({what}) are refused."
    return refuse


class Node:
    """A node of the layout: dense axes under those of its parent.

    Each field has an array of its own. Its axes are in memory as they come first on the way from the root: `root.dense(j, 4).dense(i, 2)`
    is two rows and four columns, the columns one after the other. An axis that comes twice has the product of both extents, and is not
    blocked; fields that are placed together are not interleaved.
    """

    def __init__(self, parent: "Node | None", axes: Axes = Axes(), extents: tuple[int, ...] = ()) -> None:
        self._parent, self.axes, self.extents = parent, axes, extents

    def __repr__(self) -> str:
        return "root" if self._parent is None else f"{self._parent!r}.dense({self.axes!r}, {self.extents})" if self.axes else repr(self._parent)

    def _path(self) -> Iterator["Node"]:
        if self._parent is not None:
            yield from self._parent._path()
        yield self

    @property
    def tree(self) -> "Tree":
        """The tree that it belongs to."""
        found = next(self._path())
        assert isinstance(found, Tree)
        return found

    def parent(self, n: int = 1) -> "Node | None":
        """The node n levels above."""
        found: Node | None = self
        for _ in range(n):
            found = None if found is None else found._parent
        return found

    def _extent_of(self) -> dict[int, int]:
        found: dict[int, int] = {}
        for node in self._path():
            for axis, n in zip(node.axes, node.extents):
                found[axis] = found.get(axis, 1) * n
        return found

    @property
    def shape(self) -> tuple[int, ...]:
        """Extents of the fields under it, by axis."""
        found = self._extent_of()
        return tuple(found[axis] for axis in sorted(found))

    @property
    def order(self) -> tuple[int, ...]:
        """The axis of the shape that each axis in memory is."""
        found = self._extent_of()
        return tuple(sorted(found).index(axis) for axis in found)

    # -- building ------------------------------------------------------------------------------------------------------

    def dense(self, axes: Any, dimensions: Any) -> "Node":
        """A node of dense axes under this one.

        Parameters
        ----------
        axes : Axes
            `i`, `j`, `k`, `l`, `ij`, ..., `axes(0, 1)`.
        dimensions : int or tuple of int
            Their extents; one holds for all.
        """
        self.tree._open()
        if not isinstance(axes, Axes):
            raise RuntimeError_(f"the axes of dense are `i`, `j`, `ij`, ... or made by `axes`, not {axes!r}")
        given = tuple(dimensions) if isinstance(dimensions, (tuple, list)) else (dimensions,)
        extents = given * len(axes) if len(given) == 1 else given
        if len(extents) != len(axes):
            raise RuntimeError_(f"{len(axes)} axes and {len(extents)} extents")
        if not all(hasattr(n, "__index__") and n > 0 for n in extents):
            raise RuntimeError_(f"the extents of dense should be positive integers, not {dimensions!r}")
        return Node(self, axes, tuple(n.__index__() for n in extents))

    pointer, bitmasked, dynamic, hash, quant_array, bit_struct = map(_refused, ("pointer", "bitmasked", "dynamic", "hash", "quant_array", "bit_struct"))

    def place(self, *fields: Any, offset: Any = None) -> "Node":
        """Give fields, or adjoints and tangents of fields (`x.grad`, `x.dual`), the shape of this node.

        Parameters
        ----------
        *fields : Field
        offset : int or tuple of int, optional
            The index of the first element.
        """
        self.tree._open()
        start = None if offset is None else tuple(offset) if isinstance(offset, (tuple, list)) else (offset,)
        if start is not None and len(start) != len(self.shape):
            raise RuntimeError_(f"an offset of {len(self.shape)} entries is wanted, not {start}")
        for given in fields:
            parts = given._placeable() if hasattr(given, "_placeable") else None
            if parts is None:
                raise RuntimeError_(f"{type(given).__name__} cannot be placed: fields are, and their grad and dual")
            for field in parts:
                field._place(self, start)
                if field.primal is None:
                    _placed.add(field)
        return self

    def lazy_grad(self) -> None:
        """Place the adjoint of every field of floats under this node that has none and has no memory yet."""
        self._place_derivatives("grad")

    def lazy_dual(self) -> None:
        """Place the tangent of every field of floats under this node that has none and has no memory yet."""
        self._place_derivatives("dual")

    def _place_derivatives(self, which: str) -> None:
        for field in self._fields():
            derivative = getattr(field, which)
            if derivative is not None and not derivative.placed and field._array is None:
                field.parent().place(derivative, offset=field.offset)

    def _fields(self) -> list[Any]:
        return [f for f in all_fields() if self in f.node._path()]


class Tree(Node):
    """The root of a tree."""

    def __init__(self) -> None:
        super().__init__(None)

    def _open(self) -> None:
        need_init()


root = Tree()
_placed: "weakref.WeakSet[Any]" = weakref.WeakSet()
runtime.at_reset.append(_placed.clear)


def all_fields() -> list[Any]:
    """The fields of now that are alive and placed, without their derivatives."""
    return [f for f in _placed if f.generation == runtime.generation]


class FieldsBuilder(Tree):
    """A tree of fields of its own, whose memory can be given back before `reset`.

    Examples
    --------
    >>> import retrograd as rg
    >>> rg.init()
    >>> builder, x = rg.FieldsBuilder(), rg.field(float)
    >>> builder.dense(rg.i, 5).place(x)
    root.dense(axes(0), (5,))
    >>> tree = builder.finalize()
    >>> x[4] = 1.0
    >>> tree.destroy()
    """

    def __init__(self) -> None:
        need_init()
        super().__init__()
        self.generation, self.finalized = runtime.generation, False

    def _open(self) -> None:
        if self.generation != runtime.generation:
            raise RuntimeError_("this FieldsBuilder was made before `reset()` or `init()`")
        if self.finalized:
            raise RuntimeError_("this FieldsBuilder is finalized: make another one for further fields")

    def finalize(self, raise_warning: bool = True) -> "FinalizedTree":
        """End the tree, and allocate its fields."""
        self._open()
        for field in self._fields():
            field._allocate()
        self.finalized = True
        return FinalizedTree(self)


class FinalizedTree:
    """A tree that is in memory. Made by `FieldsBuilder.finalize`."""

    def __init__(self, tree: FieldsBuilder) -> None:
        self._tree = tree

    def destroy(self) -> None:
        """Give the memory back: its fields cannot be used any more."""
        if self._tree.generation != runtime.generation:
            raise RuntimeError_("this tree was made before `reset()` or `init()`, which freed it")
        for field in self._tree._fields():
            for data in (field, field.grad, field.dual):
                if data is not None:
                    data._free()
                    data.generation = -1


def dense_path(shape: tuple[int, ...], order: tuple[int, ...]) -> Node:
    """The node under the root for a field of that shape."""
    node: Node = root.dense(axes(*order), shape) if order and order == tuple(range(len(order))) else root
    for axis in order if node is root else ():
        node = node.dense(axes(axis), shape[axis])
    return node
