"""Memory of the oracle of generated kernels: arrays, local names, and parts of both that can be assigned; plain Python alone."""

import random

import gen_numbers as g
from gen_numbers import Invalid, Scalar, Vector, cast, is_scalar, type_of


class VectorType:
    """The type of vectors and matrices; a call makes one."""

    def __init__(self, *given):
        *self.shape, self.dtype = given

    def __call__(self, *args):
        entries = [e for a in args for e in (a.entries if isinstance(a, Vector) else a if isinstance(a, (list, tuple)) else [a])]
        count = 1
        for n in self.shape:
            count *= n
        entries = entries * count if len(entries) == 1 else entries
        if len(entries) != count:
            raise Invalid("the wrong number of entries")
        return Vector.of([cast(e, scalar_type(self.dtype)) for e in entries], tuple(self.shape))


def scalar_type(t):
    """The type that Python's own types stand for, too."""
    return {int: g.world.default_ip, float: g.world.default_fp, bool: g.u1}.get(t, t)


class Array:
    """A field, an ndarray, or an array of NumPy."""

    def __init__(self, dtype, shape, active=False):
        self.element = tuple(dtype.shape) if isinstance(dtype, VectorType) else ()
        self.t = scalar_type(dtype.dtype if isinstance(dtype, VectorType) else dtype)
        self.active = active
        self.width = 1
        for n in self.element:
            self.width *= n
        self.grad = self.dual = Derivative(self)
        if shape is not None:
            self.place(tuple(shape) if isinstance(shape, (tuple, list)) else (shape,))

    def place(self, shape):
        """The shape becomes known."""
        count = self.width
        for n in shape:
            count *= n
        self.shape, self.data = shape, [cast(0, self.t)] * count

    @property
    def n(self):
        return self.element[0]

    @property
    def m(self):
        return self.element[1]

    def at(self, index):
        """The position of an element's first entry."""
        given = []
        for part in index if isinstance(index, tuple) else () if index is None else (index,):
            given += part.entries if isinstance(part, Vector) else list(part) if isinstance(part, tuple) else [part]
        if len(given) != len(self.shape):
            raise Invalid("the wrong number of indices")
        at = 0
        for i, extent in zip(given, self.shape):
            i = i.v if isinstance(i, Scalar) else i
            if not isinstance(i, int) or not 0 <= i < extent:
                raise Invalid(f"index {i} of {extent}")
            at = at * extent + i
        return at * self.width


class Derivative:
    """The adjoint or tangent of an array, which is active if it has one."""

    def __init__(self, of):
        self.of = of

    def place(self, shape):
        self.of.active = True


class Node:
    """A node of the layout: where fields are placed."""

    def __init__(self, shape=()):
        self.shape = shape

    def dense(self, axes, sizes):
        return Node(self.shape + (tuple(sizes) if isinstance(sizes, tuple) else (sizes,)))

    def place(self, *arrays):
        for a in arrays:
            a.place(self.shape)


# -- what can be assigned ------------------------------------------------------------------------------------------------


class Slot:
    """A local name: a variable of run time, which keeps its type, or something else. A place, too. `tentative`: an `if` has left it behind, and
    nothing has read it since: a value of another type makes a new variable, and this one is `lost`: it cannot be read any more."""

    def __init__(self, value, tentative=False):
        self.value, self.tentative, self.lost = value, tentative, False

    def load(self):
        return self.value

    def store(self, value):
        self.value = fitted(value, self.value)


class Element:
    """A scalar of an array, or some of a vector there."""

    tentative = lost = False

    def __init__(self, array, at, shape):
        self.array, self.at, self.shape = array, at, shape

    def load(self):
        return Vector.of([self.array.data[k] for k in self.at], self.shape) if self.shape else self.array.data[self.at[0]]

    def store(self, value):
        for k, e in zip(self.at, entries_for(value, self.shape)):
            self.array.data[k] = cast(e, self.array.t)


class Entries:
    """Some entries of a place that holds a vector."""

    tentative = lost = False

    def __init__(self, of, at, shape):
        self.of, self.at, self.shape = of, at, shape

    def load(self):
        whole = self.of.load()
        return Vector.of([whole.entries[k] for k in self.at], self.shape) if self.shape else whole.entries[self.at[0]]

    def store(self, value):
        whole = self.of.load()
        entries = list(whole.entries)
        for k, e in zip(self.at, entries_for(value, self.shape)):
            entries[k] = e if not isinstance(entries[k], Scalar) else cast(e, entries[k].t)
        self.of.store(Vector.of(entries, whole.shape))


PLACES = (Slot, Element, Entries)


def entries_for(value, shape):
    """The scalars that a place of a shape takes from a value."""
    if not shape:
        if not is_scalar(value):
            raise Invalid("a vector where a scalar is wanted")
        return [value]
    count = 1
    for n in shape:
        count *= n
    if is_scalar(value):
        return [value] * count
    value = Vector(value) if isinstance(value, (list, tuple)) else value
    if not isinstance(value, Vector) or value.shape != tuple(shape):
        raise Invalid("shapes that do not fit")
    return value.entries


def fitted(value, like):
    """A value in the type of the one that a variable holds."""
    if isinstance(like, Scalar):
        if not is_scalar(value):
            raise Invalid("a vector for a scalar variable")
        return cast(value, like.t)
    if isinstance(like, Vector):
        return Vector.of([cast(e, k.t) for e, k in zip(entries_for(value, like.shape), like.entries)], like.shape)
    return value


def settled(value):
    """A value as a variable holds it: Python's own numbers get their types."""
    if is_scalar(value):
        return cast(value, type_of(value))
    if isinstance(value, Vector):
        return Vector.of([cast(e, type_of(e)) for e in value.entries], value.shape)
    return value


def same_type(x, y):
    """Whether two values of run time have one type."""
    if isinstance(x, Scalar) and isinstance(y, Scalar):
        return x.t is y.t
    return isinstance(x, Vector) and isinstance(y, Vector) and x.shape == y.shape and [e.t for e in x.entries] == [e.t for e in y.entries]


def positions(shape, index):
    """The entries of a value of a shape that an index means, and the shape that they make."""
    index = tuple(index.entries) if isinstance(index, Vector) else index if isinstance(index, tuple) else (index,)
    index = tuple(i.v if isinstance(i, Scalar) else i for i in index) + (slice(None),) * (len(shape) - len(index))
    axes, left = [], []
    for i, extent in zip(index, shape):
        if isinstance(i, slice):
            axes.append(list(range(extent))[i])
            left.append(len(axes[-1]))
        else:
            if not isinstance(i, int) or not 0 <= i < extent:
                raise Invalid(f"entry {i} of {extent}")
            axes.append([i])
    if len(axes) == 1:
        return axes[0], tuple(left)
    return [i * shape[1] + j for i in axes[0] for j in axes[1]], tuple(left)


SWIZZLES = ("xyzw", "rgba", "stpq")


def swizzle(name, shape):
    """The entries that a name like `xy` means; None: it is no such name."""
    letters = next((s for s in SWIZZLES if all(c in s for c in name)), None)
    return [letters.index(c) for c in name] if letters and len(shape) == 1 and len(name) <= 4 else None


# -- what arrays hold at first ---------------------------------------------------------------------------------------------


def values_of(seed, count, lo, hi):
    """The numbers that `fill` gives: integers if the bounds are."""
    r = random.Random(seed)
    return [r.randint(lo, hi) if isinstance(lo, int) else r.uniform(lo, hi) for _ in range(count)]


def direction_of(seed, count):
    """A direction, or weights, for as many elements."""
    r = random.Random(seed * 7919 + 5)
    return [r.uniform(0.25, 1) * r.choice((-1, 1)) for _ in range(count)]


def fill(array, seed, lo, hi):
    """Set an array to random numbers; along a direction where it is active."""
    values = values_of(seed, len(array.data), lo, hi)
    along = direction_of(seed, len(array.data)) if array.active else [0.0] * len(array.data)
    array.data = [Scalar(array.t, g.cast(v + g.world.shift * d if d else v, array.t).v, d) for v, d in zip(values, along)]
