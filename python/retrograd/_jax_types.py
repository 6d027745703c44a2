"""What the rules say to JAX of types of arrays. Names that other versions of JAX may change are used here only."""

from __future__ import annotations

from typing import Any, Sequence

import jax
import numpy as np
from jax.interpreters import ad
from jax.sharding import NamedSharding, PartitionSpec, get_abstract_mesh


def _varying(types: Sequence[Any]) -> frozenset[Any]:
    """The axes of a mesh, inside `shard_map`, along which any of the arrays differs."""
    return frozenset().union(*(t.manual_axis_type.varying for t in types))


def together(arrays: Sequence[Any]) -> list[Any]:
    """The arrays as ones that differ along the same axes of a mesh, as operands of one operation have to."""
    types = [jax.typeof(a) for a in arrays]
    axes = _varying(types)
    return [jax.lax.pcast(a, tuple(axes - t.manual_axis_type.varying), to="varying") if axes - t.manual_axis_type.varying else a
            for a, t in zip(arrays, types)]


def made_from(types: Sequence[Any], shape: Sequence[int], dtype: Any) -> jax.core.ShapedArray:
    """The type of an array that is computed from arrays of these types, on each device for itself."""
    mesh = get_abstract_mesh()
    sharding = None if mesh.empty else NamedSharding(mesh, PartitionSpec(*[None] * len(shape)))
    made = jax.core.ShapedArray(tuple(shape), np.dtype(dtype), sharding=sharding)
    axes = _varying(types)
    return made.update(manual_axis_type=made.manual_axis_type.update(varying=axes)) if axes else made


def is_split(array: Any) -> bool:
    """Whether its type says that it is split over the devices of a mesh (one with explicit axes)."""
    return any(axis is not None for axis in jax.typeof(array).sharding.spec)


def no_tangent(array: Any) -> ad.Zero:
    """A tangent that is known to be zero."""
    return ad.Zero(jax.typeof(array).to_tangent_aval())


def is_known_zero(value: Any) -> bool:
    return isinstance(value, ad.Zero)


def filled(value: Any) -> Any:
    """A tangent or cotangent as an array."""
    return ad.instantiate_zeros(value)


def added(one: Any, other: Any) -> Any:
    """The sum of two tangents."""
    return ad.add_tangents(one, other)


def is_wanted(operand: Any) -> bool:
    """In a transpose: an operand that the operation is linear in, and whose cotangent is asked for."""
    return bool(ad.is_undefined_primal(operand))
