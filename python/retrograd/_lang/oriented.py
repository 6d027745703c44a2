"""Classes whose methods are kernels and functions."""

from __future__ import annotations

from typing import Any


def data_oriented(cls: Any = None, *, template_primitives: bool = True) -> Any:
    """A decorator of classes whose methods are kernels and functions.

    A kernel of an object uses the fields, ndarrays and numbers that `self` has at the launch. Static methods, properties and inheritance
    work as in Python. An object is a template argument of other kernels, also by the class as annotation.

    Parameters
    ----------
    template_primitives : bool
        A hint, which has no effect: numbers are constants of the kernel until they change, and its arguments from then on.

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
    if cls is None:
        return data_oriented
    cls._data_oriented = True
    return cls
