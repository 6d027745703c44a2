"""Classes whose methods are kernels and functions."""

from __future__ import annotations

from typing import Any


def data_oriented(cls: Any) -> Any:
    """A decorator of classes whose methods are kernels and functions.

    A kernel of an object is compiled for this object: it captures the fields and ndarrays that `self` has, and takes its numbers for
    constants, as they are at the first call. Static methods, properties and inheritance work as in Python. An object is a template
    argument of other kernels, also by the class as annotation.

    Examples
    --------
    >>> import retrograd as rg
    >>> rg.init()
    >>> @rg.data_oriented
    ... class Counter:
    ...     def __init__(self, step):
    ...         self.step, self.x = step, rg.field(int, 4)
    ...     @rg.kernel
    ...     def count(self):
    ...         for i in self.x:
    ...             self.x[i] += self.step
    >>> counter = Counter(3)
    >>> counter.count()
    >>> counter.x[2]
    3
    """
    cls._data_oriented = True
    return cls
