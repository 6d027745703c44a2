"""Forward mode: launches of a block compute tangents, too."""

from __future__ import annotations

from typing import Any, Sequence

import numpy as np

from .._arrays import TANGENT, Array
from .._kernels import FORWARD, JVP
from .ad import planes_of
from .data import Data, size_of, unwrap
from .errors import RuntimeError_
from .launching import Handler, Write, launching
from .layout import all_fields
from .matrix import Matrix
from .runtime import need_init


class FwdMode(Handler):
    """A block whose launches compute, beside their effects, the tangents (`dual`) of what they write.

    Parameters
    ----------
    loss : field, ndarray, or list of these
        Of which tangents are wanted.
    param : field, ndarray, or list of these
        Along which `seed` is a direction.
    seed : list of numbers, or array, optional
        As many numbers as `param` has; of several a list of lists. Without it, 1 for a param of one element.
    clear_gradients : bool
        Set the tangents of all fields, and of loss and param, to 0 when the block begins.

    Examples
    --------
    >>> import retrograd as rg
    >>> rg.init()
    >>> x, y = (rg.field(float, 3, needs_dual=True) for _ in range(2))
    >>> @rg.kernel
    ... def cubes():
    ...     for i in x:
    ...         y[i] = x[i] ** 3
    >>> x.from_numpy([1, 2, 3])
    >>> with rg.ad.FwdMode(loss=y, param=x, seed=[0, 1, 0]):
    ...     cubes()
    >>> y.dual.to_numpy()
    array([ 0., 12.,  0.], dtype=float32)
    """

    def __init__(self, loss: Any, param: Any, seed: Any = None, clear_gradients: bool = True) -> None:
        need_init()
        self.loss, self.params = _listed(loss), _listed(param)
        self.seeds = [seed] if not isinstance(param, (list, tuple)) else [None] * len(self.params) if seed is None else list(seed)
        self.clear_gradients = clear_gradients
        self.entered = False
        self.used: dict[int, Array] = {}
        self.carries: dict[int, Array] = {}  # arrays without a tangent that depend on some with one

    def __enter__(self) -> "FwdMode":
        assert not self.entered, "Forward mode manager can be entered only once."
        if launching.handlers:
            raise RuntimeError_("a tape or a forward mode is open already: leave its block first")
        self.entered = True
        for what, all_ in (("loss", self.loss), ("param", self.params)):
            for x in all_:
                if not isinstance(x, Data) or not x.has_dual():
                    raise RuntimeError_(f"{what} of `FwdMode` is a field or an ndarray with tangents (needs_dual=True, or root.lazy_dual()), not "
                                        f"{x.name or x.kind if isinstance(x, Data) else type(x).__name__}")
        if len(self.seeds) != len(self.params):
            raise RuntimeError_(f"{len(self.params)} params have as many seeds, not {len(self.seeds)}")
        values = [_seed(x, seed) for x, seed in zip(self.params, self.seeds)]
        if self.clear_gradients:
            for x in (*all_fields(), *self.loss, *self.params):
                if x.has_dual():
                    x.dual.fill(0)
        for x, value in zip(self.params, values):
            x.dual.from_numpy(value)
        launching.handlers.append(self)
        return self

    def __exit__(self, *failure: Any) -> None:
        launching.leave(self)
        for x in self.params:
            x.dual.fill(0)

    def launch(self, kernel: Any, args: tuple[Any, ...]) -> Any:
        compiled = kernel.compile(args)
        inputs = compiled.inputs(args)
        self._follow(kernel, compiled, inputs)
        result = compiled.launch(JVP if any(planes_of(inputs, TANGENT)) else FORWARD, inputs)
        compiled.give_back(args, inputs)
        return result

    def call(self, function: Any, args: tuple[Any, ...], named: dict[str, Any]) -> Any:
        with launching.under(*(() if function.constant else (self,))):
            return function.function(*args, **named)

    def _follow(self, kernel: Any, compiled: Any, inputs: tuple[Any, ...]) -> None:
        """Refuses a tangent that would be lost between two launches."""
        arrays = [(x, p) for x, p in zip(inputs, compiled.params) if isinstance(x, Array)]
        tangents = {id(x) for x, _ in arrays if x._plane(TANGENT) is not None}
        leads_on = any(p.written and id(x) in tangents for x, p in arrays)
        active = False
        for (x, p), name in zip(arrays, [n for n, x in zip(compiled.names, inputs) if isinstance(x, Array)]):
            active = active or p.read and (id(x) in tangents or id(x) in self.carries)
            if leads_on and p.read and id(x) in self.carries and id(x) not in tangents:
                raise RuntimeError_(f"kernel {kernel.__name__} reads `{name}`, which depends on an array with tangents and has none: give it tangents "
                                    "(needs_dual=True), or stop there with `rg.stop_grad`")
        for x, p in arrays:
            self.used[id(x)] = x
            if active and p.written and p.is_float and id(x) not in tangents:
                self.carries[id(x)] = x

    def write(self, write: Write) -> None:
        write.do()
        self.carries.pop(id(write.array), None) if not write.index else None
        tangent = write.array._plane(TANGENT)
        if tangent is not None and id(write.array) in self.used:  # before, it is what the program begins with
            if write.values is None:
                tangent.fill(0)
            else:
                tangent._put(write.index, np.zeros_like(write.values))

    def copy(self, to: Array, source: Array) -> None:
        to._copy_from(source)
        target, origin = to._plane(TANGENT), source._plane(TANGENT)
        if target is not None and origin is not None:
            target._copy_from(origin)
        elif target is not None:
            target.fill(0)
        self.used[id(to)] = to


def _listed(x: Any) -> list[Any]:
    return [unwrap(v) for v in x] if isinstance(x, (list, tuple)) else [unwrap(x)]


def _seed(param: Data, seed: Any) -> np.ndarray[Any, Any]:
    count = size_of(param)
    shape = param.shape + param.element_shape
    if seed is None or isinstance(seed, (list, tuple)) and not seed:
        if count != 1:
            raise RuntimeError_(f"`seed` is not set for a param of {count} numbers: it is a list of as many, the direction along which to differentiate "
                                "([0, 0, 1]: with respect to the third one)")
        return np.ones(shape)
    values = np.array([v.to_list() if isinstance(v, Matrix) else v for v in seed] if isinstance(seed, Sequence) else seed, np.float64)
    assert values.size == count, f"`seed` has {values.size} numbers, and its param {count}"
    return values.reshape(shape)


