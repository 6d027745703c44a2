"""Sums, prefix sums, selections and sorts of whole arrays, in parallel.

Functions that kernels call at their top level, with fields or arrays of one axis and the number of elements; all of them stable, and none with a
limit. `scratch` is memory of the caller for intermediate results; the functions `..._scratch_slots` say how many elements of it they need.
Programs written for Quadrants give the logarithm of the greatest number of elements as the last argument, and which bits of keys count: these
decide nothing here.
"""

from __future__ import annotations

from math import isqrt
from typing import Any

from ._lang.calls import atomic_add, atomic_max, atomic_min
from ._lang.dtypes import DType, i32
from ._lang.func import Template, func
from ._lang.functions import bit_cast, cast, ceil, min, sqrt
from ._lang.iteration import loop_config, static
from ._lang.kernel import kernel
from ._lang.ndarrays import ndarray


def least(dtype: DType) -> Any:
    """The identity of max."""
    return -float("inf") if dtype.is_float else dtype.least()


def most(dtype: DType) -> Any:
    """The identity of min."""
    return float("inf") if dtype.is_float else dtype.most()


# -- all elements to one ---------------------------------------------------------------------------------------------------


def reduce_scratch_slots(N: Any, log256_max_n: Any = None) -> int:
    """Elements of scratch that a reduction needs."""
    return 1


@func
def reduce_add(arr: Any, out: Any, scratch: Any, n: Any, dtype: Any, log256_max_n: Any = None) -> None:
    """out[0] = the sum of arr[0:n]."""
    total = cast(0, dtype)
    for i in range(n):
        total += arr[i]
    out[0] = total


@func
def reduce_min(arr: Any, out: Any, scratch: Any, n: Any, dtype: Any, log256_max_n: Any = None) -> None:
    """out[0] = the least of arr[0:n]."""
    found = cast(most(dtype), dtype)
    for i in range(n):
        atomic_min(found, arr[i])
    out[0] = found


@func
def reduce_max(arr: Any, out: Any, scratch: Any, n: Any, dtype: Any, log256_max_n: Any = None) -> None:
    """out[0] = the greatest of arr[0:n]."""
    found = cast(least(dtype), dtype)
    for i in range(n):
        atomic_max(found, arr[i])
    out[0] = found


# -- prefixes: a thread for each of about sqrt(n) blocks --------------------------------------------------------------------------


def exclusive_scan_scratch_slots(N: int, log256_max_n: Any = None) -> int:
    """Elements of scratch, as wide as those of the array, that a scan of N elements needs."""
    return isqrt(N) + 2


select_scratch_slots = reduce_by_key_scratch_slots = exclusive_scan_scratch_slots


@func
def block_length(n: Any) -> Any:
    """Elements of a block."""
    return cast(ceil(sqrt(cast(n, float))), i32) + 1


@func
def exclusive_scan(arr: Any, out: Any, scratch: Any, n: Any, dtype: Any, combine: Any, identity: Any) -> None:
    """out[i] = arr[0:i] combined."""
    length = block_length(n)
    blocks = (n + length - 1) // length
    kept = static(scratch_type(scratch))
    for b in range(blocks):
        here = cast(identity, dtype)
        for i in range(b * length, min(n, (b + 1) * length)):
            here = combine(here, arr[i])
        scratch[b] = bit_cast(here, kept)
    before = cast(identity, dtype)
    loop_config(serialize=True)
    for b in range(blocks):
        here = bit_cast(scratch[b], dtype)
        scratch[b] = bit_cast(before, kept)
        before = combine(before, here)
    for b in range(blocks):
        here = bit_cast(scratch[b], dtype)
        for i in range(b * length, min(n, (b + 1) * length)):
            value = arr[i]
            out[i] = here
            here = combine(here, value)


def scratch_type(scratch: Any) -> DType:
    """The type of its elements."""
    found: DType = scratch.dtype
    return found


@func
def _add(x: Any, y: Any) -> Any:
    return x + y


@func
def _min(x: Any, y: Any) -> Any:
    return min(x, y)


@func
def _max(x: Any, y: Any) -> Any:
    return max(x, y)


@func
def exclusive_scan_add(arr: Any, out: Any, scratch: Any, n: Any, dtype: Any, log256_max_n: Any = None) -> None:
    """out[i] = the sum of arr[0:i]; out may be arr."""
    exclusive_scan(arr, out, scratch, n, dtype, _add, 0)


@func
def exclusive_scan_min(arr: Any, out: Any, scratch: Any, n: Any, dtype: Any, log256_max_n: Any = None) -> None:
    """out[i] = the least of arr[0:i]; out may be arr."""
    exclusive_scan(arr, out, scratch, n, dtype, _min, most(dtype))


@func
def exclusive_scan_max(arr: Any, out: Any, scratch: Any, n: Any, dtype: Any, log256_max_n: Any = None) -> None:
    """out[i] = the greatest of arr[0:i]; out may be arr."""
    exclusive_scan(arr, out, scratch, n, dtype, _max, least(dtype))


# -- what is kept ------------------------------------------------------------------------------------------------------------


@func
def positions(starts: Any, values: Any, scratch: Any, n: Any) -> Any:
    """How many elements of values[0:n] start something; scratch[b] becomes the number of those before block b."""
    length = block_length(n)
    blocks = (n + length - 1) // length
    for b in range(blocks):
        count = 0
        for i in range(b * length, min(n, (b + 1) * length)):
            if starts(values, i):
                count += 1
        scratch[b] = count
    before = 0
    loop_config(serialize=True)
    for b in range(blocks):
        here = cast(scratch[b], i32)
        scratch[b] = before
        before += here
    return before


@func
def _is_set(flags: Any, i: Any) -> Any:
    return flags[i] != 0


@func
def _is_first(keys: Any, i: Any) -> Any:
    return i == 0 or keys[i] != keys[i - 1]


@func
def select(arr: Any, flags: Any, out: Any, num_out: Any, scratch: Any, n: Any, log256_max_n: Any = None) -> None:
    """The elements of arr[0:n] whose flag is not 0, one after the other in out; num_out[0] says how many."""
    num_out[0] = positions(_is_set, flags, scratch, n)
    length = block_length(n)
    for b in range((n + length - 1) // length):
        at = cast(scratch[b], i32)
        for i in range(b * length, min(n, (b + 1) * length)):
            if flags[i] != 0:
                out[at] = arr[i]
                at += 1


@func
def reduce_by_key_add(keys_in: Any, values_in: Any, keys_out: Any, values_out: Any, num_runs: Any, scratch: Any, n: Any,
                      value_dtype: Any, log256_max_n: Any = None) -> None:
    """Of each run of equal keys in keys_in[0:n] the key, and the sum of its values; num_runs[0] says how many."""
    num_runs[0] = positions(_is_first, keys_in, scratch, n)
    for i in range(n):
        values_out[i] = cast(0, value_dtype)
    length = block_length(n)
    for b in range((n + length - 1) // length):
        at = cast(scratch[b], i32) - 1
        for i in range(b * length, min(n, (b + 1) * length)):
            if _is_first(keys_in, i):
                at += 1
                keys_out[at] = keys_in[i]
            atomic_add(values_out[at], values_in[i])


# -- order: runs of twice the length out of two, whose elements look for their places in each other -------------------------------


def sort_scratch_slots(N: int, log256_max_n: Any = None) -> int:
    """Elements of scratch that a sort needs."""
    return 1


@func
def rank(keys: Any, key: Any, first: Any, end: Any, equal: Template) -> Any:
    """How many keys in a sorted run are less than a key, or (equal) not greater."""
    low, high = first, end
    while low < high:
        middle = (low + high) // 2
        below = keys[middle] <= key if static(equal) else keys[middle] < key
        if below:
            low = middle + 1
        else:
            high = middle
    return low - first


@func
def sort(keys: Any, tmp_keys: Any, values: Any, tmp_values: Any, scratch: Any, n: Any, key_dtype: Any, has_values: Template,
         end_bit: Any = None, log256_max_n: Any = None) -> None:
    """keys[0:n] in ascending order, and (has_values) values in the same; tmp_keys and tmp_values are as long."""
    width = 1
    while width < n:
        loop_config(parallelize=n_threads)
        for i in range(n):
            start = i // (2 * width) * (2 * width)
            middle, end = min(start + width, n), min(start + 2 * width, n)
            key = keys[i]
            at = i + rank(keys, key, middle, end, False) if i < middle else start + i - middle + rank(keys, key, start, middle, True)
            tmp_keys[at] = key
            if static(has_values):
                tmp_values[at] = values[i]
        loop_config(parallelize=n_threads)
        for i in range(n):
            keys[i] = tmp_keys[i]
            if static(has_values):
                values[i] = tmp_values[i]
        width *= 2


n_threads = 64  # a hint: parallel although they are in a loop


@kernel
def _sort(keys: Template, tmp_keys: Template, values: Template, tmp_values: Template, has_values: Template, n: int) -> None:
    sort(keys, tmp_keys, values, tmp_values, tmp_keys, n, None, has_values)


def parallel_sort(keys: Any, values: Any = None) -> None:
    """Sort a field or ndarray of one axis in place, and the elements of another one with it; called by Python.

    Examples
    --------
    >>> import retrograd as rg
    >>> rg.init()
    >>> x = rg.field(int, 4)
    >>> x.from_numpy([3, 1, 2, 0])
    >>> rg.algorithms.parallel_sort(x)
    >>> x.to_numpy()
    array([0, 1, 2, 3], dtype=int32)
    """
    _sort(keys, ndarray(keys.dtype, keys.shape), values, None if values is None else ndarray(values.dtype, values.shape), values is not None,
          keys.shape[0])


class PrefixSumExecutor:
    """Prefix sums of arrays of a length; called by Python.

    Parameters
    ----------
    length : int

    Examples
    --------
    >>> import retrograd as rg
    >>> rg.init()
    >>> x = rg.field(int, 4)
    >>> x.fill(2)
    >>> rg.algorithms.PrefixSumExecutor(4).run(x)
    >>> x.to_numpy()
    array([2, 4, 6, 8], dtype=int32)
    """

    def __init__(self, length: int) -> None:
        self.length = length
        self.scratch: dict[DType, Any] = {}

    def run(self, array: Any) -> None:
        """array[i] becomes the sum of array[0] to array[i]."""
        if tuple(array.shape) != (self.length,):
            raise ValueError(f"an array of {self.length} elements is wanted, not one of shape {tuple(array.shape)}")
        if array.dtype not in self.scratch:
            self.scratch[array.dtype] = ndarray(array.dtype, exclusive_scan_scratch_slots(self.length))
        _scan(array, self.scratch[array.dtype], array.dtype, self.length)


@func
def inclusive_scan_add(arr: Any, scratch: Any, n: Any, dtype: Any) -> None:
    """arr[i] = the sum of arr[0:i + 1]."""
    length = block_length(n)
    blocks = (n + length - 1) // length
    for b in range(blocks):
        total = cast(0, dtype)
        for i in range(b * length, min(n, (b + 1) * length)):
            total += arr[i]
            arr[i] = total
        scratch[b] = total
    before = cast(0, dtype)
    loop_config(serialize=True)
    for b in range(blocks):
        before += scratch[b]
        scratch[b] = before
    for b in range(1, blocks):
        for i in range(b * length, min(n, (b + 1) * length)):
            arr[i] += scratch[b - 1]


@kernel
def _scan(arr: Template, scratch: Template, dtype: Template, n: int) -> None:
    inclusive_scan_add(arr, scratch, n, dtype)


__all__ = ["PrefixSumExecutor", "exclusive_scan_add", "exclusive_scan_max", "exclusive_scan_min", "exclusive_scan_scratch_slots", "inclusive_scan_add",
           "parallel_sort", "reduce_add", "reduce_by_key_add", "reduce_by_key_scratch_slots", "reduce_max", "reduce_min", "reduce_scratch_slots",
           "select", "select_scratch_slots", "sort", "sort_scratch_slots"]
