"""Primitives of JAX for kernels, under `jit` and `vmap`. Their derivatives are in _jax_rules.py.

With p for the inputs, w for cotangents of outputs and t, u for tangents of inputs:

    forward(p)              K(p)
    jvp(p, t)               K'(p) t
    vjp(p, w)               K'(p)* w
    hvp(p, w, u, dw)        the tangent of vjp(p, w) along u and dw
    products(p, w, t)       vjp(p, w), hvp(p, w, t, 0) and jvp(p, t), in one launch
    jvp_jvp(p, t, u, dt)    the tangent of jvp(p, t) along u and dt

Outputs that a reverse needs where they are left are operands of jvp and vjp, too (`split`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, Callable, Sequence

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import Primitive
from jax.interpreters import batching, mlir

from . import _core
from ._jax_launch import ADJOINT, BOTH, TANGENT, VALUES, Key, Launch, Site
from ._jax_types import made_from, together
from ._kernels import FORWARD, FORWARD_VJP, JVP, JVP_FORWARD_VJP, VJP

MOST_OUTPUTS = 1024  # of a kernel whose jvp is differentiated forward: each is a direction of a launch

Names = tuple[str, ...]
UNUSED: Key = -1, ""  # an operand that a launch has no use for


# -- primitives ----------------------------------------------------------------------------------------------------------

def _primitive(name: str, run: Callable[..., Any], types: Callable[..., Any], batch: Callable[..., Any]) -> Primitive:
    p = Primitive(f"retrograd_{name}")
    p.multiple_results = True

    def at_once(*arrays: Any, site: Site, **params: Any) -> Any:
        jitted, key = site.program.jitted, (name, site, *sorted(params.items()))
        if key not in jitted:
            jitted[key] = jax.jit(partial(run, site=site, **params))
        return jitted[key](*arrays)

    def lower(context: Any, *arrays: Any, site: Site, **params: Any) -> Any:
        lowered = mlir.lower_fun(run, multiple_results=True)(context, *arrays, site=site, **params)
        context.module_context.add_keepalive(site.program)  # until the program is compiled
        return lowered

    p.def_impl(at_once)
    p.def_abstract_eval(types)
    mlir.register_lowering(p, lower)
    batching.primitive_batchers[p] = batch
    return p


def bind(p: Primitive, *operands: Sequence[Any], **params: Any) -> list[Any]:
    return list(p.bind(*together([a for group in operands for a in group]), **params))


@dataclass(frozen=True)
class Operation:
    """A primitive that is one launch.

    Attributes
    ----------
    launch, inputs, outputs : callables of the primitive's parameters
        The launch, and what its operands and results are.
    """

    launch: Callable[..., Launch]
    inputs: Callable[..., list[Key]]
    outputs: Callable[..., list[Key]]

    def primitive(self, name: str) -> Primitive:
        def run(*arrays: Any, **params: Any) -> list[Any]:
            launch = self.launch(**params)
            launch.site.program.require(launch.form, launch.of, launch.along)
            return launch({key: a for key, a in zip(self.inputs(**params), arrays) if key != UNUSED}, self.outputs(**params))

        def types(*operands: Any, **params: Any) -> list[Any]:
            launch = self.launch(**params)
            return [made_from(operands, launch.shape(key), launch.site.dtype[key[1]]) for key in self.outputs(**params)]

        def batch(arrays: Sequence[Any], dims: Sequence[int | None], **params: Any) -> Any:
            keys = self.inputs(**params)
            if any(d is not None for (plane, _), d in zip(keys, dims) if plane <= VALUES):
                return _one_by_one(p, keys, arrays, dims, params)
            return self._in_directions(p, arrays, dims, params)

        p = _primitive(name, run, types, batch)
        return p

    def _in_directions(self, p: Primitive, arrays: Sequence[Any], dims: Sequence[int | None], params: dict[str, Any]) -> Any:
        """Only tangents or cotangents are batched: they are directions of one launch, of which there may be some already."""
        keys, before = self.inputs(**params), self.launch(**params)
        batched = {plane for (plane, _), d in zip(keys, dims) if d is not None}
        n = next(a.shape[d] for a, d in zip(arrays, dims) if d is not None)
        k = before.directions(BOTH) or 1
        if batched == {BOTH}:
            batched = {ADJOINT if before.adjoints else TANGENT}
        counts = {}
        for plane, name in ((ADJOINT, "adjoints"), (TANGENT, "tangents")):
            if name in params:
                counts[name] = n * k if params[name] or plane in batched else 0
        after = self.launch(**{**params, **counts})
        outputs = self.outputs(**params)
        if n == 0:
            return [jnp.zeros((0, *before.shape(key)), before.site.dtype[key[1]]) for key in outputs], [0] * len(outputs)

        def spread(key: Key, a: Any, d: int | None) -> Any:
            if key == UNUSED or not after.directions(key[0]):
                return a
            a = jnp.broadcast_to(a, (n, *a.shape)) if d is None else _first(a, d)
            if not before.directions(key[0]):
                a = jnp.broadcast_to(a[:, None], (n, k, *a.shape[1:]))
            return a.reshape(n * k, *before.site.shape[key[1]])

        def gather(key: Key, a: Any) -> Any:
            if not after.directions(key[0]):
                return a
            a = a.reshape(n, k, *a.shape[1:])
            return a if before.directions(key[0]) else a[:, 0]

        done = bind(p, [spread(*each) for each in zip(keys, arrays, dims)], **{**params, **counts})
        return [gather(key, a) for key, a in zip(outputs, done)], [0 if after.directions(key[0]) else None for key in outputs]


def _first(a: Any, axis: Any) -> Any:
    """With the batch as its first axis."""
    return jnp.moveaxis(a, axis, 0)


def _one_by_one(p: Primitive, keys: Sequence[Key], arrays: Sequence[Any], dims: Sequence[int | None], params: dict[str, Any]) -> Any:
    """One launch after the other. Derivatives come first, as the transpose of a scan wants what it is linear in."""
    order = sorted((i for i, d in enumerate(dims) if d is not None), key=lambda i: keys[i][0] <= VALUES)

    def one(batched: Sequence[Any]) -> list[Any]:
        mine = dict(zip(order, batched))
        return bind(p, [mine.get(i, a) for i, a in enumerate(arrays)], **params)

    done = jax.lax.map(one, [_first(arrays[i], dims[i]) for i in order])
    return done, [0] * len(done)


def groups(arrays: Sequence[Any], *sizes: int) -> list[list[Any]]:
    """Lists of these sizes, and the rest."""
    found, at = [], 0
    for n in (*sizes, len(arrays) - sum(sizes)):
        found.append(list(arrays[at:at + n]))
        at += n
    return found


# -- operands and results ------------------------------------------------------------------------------------------------

def _values(site: Site) -> list[Key]:
    return [(VALUES, s.name) for s in site.operands]


def _results(plane: int, site: Site) -> list[Key]:
    return [(plane, s.name) for s in (site.results if plane == VALUES else site.float_results)]


def _planes(plane: int, names: Names) -> list[Key]:
    return [(plane, name) for name in names]


def _second_launch(site: Site, of: Names, along: Names, adjoints: int, tangents: int) -> Launch:
    """What takes part in one differentiation only has zeros for the other one."""
    both = tuple(dict.fromkeys(of + along))
    return Launch(site, JVP_FORWARD_VJP, of=both, along=both, adjoints=adjoints, tangents=tangents)


forward = Operation(
    launch=lambda site: Launch(site, FORWARD),
    inputs=_values,
    outputs=lambda site: _results(VALUES, site)).primitive("forward")

jvp = Operation(
    launch=lambda site, along, split, tangents: Launch(site, JVP, along=along, tangents=tangents),
    inputs=lambda site, along, split, tangents: _values(site) + [UNUSED] * len(site.results) * split + _planes(TANGENT, along),
    outputs=lambda site, along, split, tangents: _results(TANGENT, site)).primitive("jvp")

vjp = Operation(
    launch=lambda site, of, split, adjoints: Launch(site, VJP if split else FORWARD_VJP, of=of, adjoints=adjoints),
    inputs=lambda site, of, split, adjoints: _values(site) + _results(VALUES, site) * split + _results(ADJOINT, site),
    outputs=lambda site, of, split, adjoints: _planes(ADJOINT, of)).primitive("vjp")

hvp = Operation(
    launch=_second_launch,
    inputs=lambda site, of, along, adjoints, tangents: _values(site) + _results(ADJOINT, site) + _planes(TANGENT, along) + _results(BOTH, site),
    outputs=lambda site, of, along, adjoints, tangents: _planes(BOTH, of)).primitive("hvp")

products = Operation(
    launch=_second_launch,
    inputs=lambda site, of, along, adjoints, tangents: _values(site) + _results(ADJOINT, site) + _planes(TANGENT, along),
    outputs=lambda site, of, along, adjoints, tangents: (_planes(ADJOINT, of) + _planes(BOTH, of) + _results(TANGENT, site))).primitive("products")


# -- the tangent of a jvp ------------------------------------------------------------------------------------------------
# No launch computes it: it is put together from the rows of its transpose, one direction for each output.

def _jvp_jvp(*arrays: Any, site: Site, along: Names, second: Names, tangents: int) -> list[Any]:
    p, t, u, dt = groups(arrays, len(site.operands), len(along), len(second))
    count = sum(int(np.prod(site.shape[s.name], dtype=np.int64)) for s in site.float_results)
    if count > MOST_OUTPUTS:
        raise _core.UnsupportedError(f"kernel {site.program.kernel.name}: the jvp of a jvp takes as many directions as there are outputs, here {count} "
                                     f"(at most {MOST_OUTPUTS}); differentiate a vjp instead (jax.jvp of jax.grad, jax.jacfwd of jax.jacrev)")
    rows, at = [], 0
    for s in site.float_results:
        shape = site.shape[s.name]
        size = int(np.prod(shape, dtype=np.int64))
        rows.append(jnp.eye(count, size, -at, dtype=s.param.dtype).reshape(count, *shape))
        at += size

    def one(t: Sequence[Any], dt: Sequence[Any]) -> list[Any]:
        first = bind(jvp, p, dt, site=site, along=along, split=False, tangents=0)
        found = bind(products, p, rows, t, site=site, of=second, along=along, adjoints=count, tangents=0)[len(second):2 * len(second)]
        bent = sum(jnp.tensordot(row, v, v.ndim) for row, v in zip(found, u))
        ends = np.cumsum([f.size for f in first])
        return [f + part.reshape(f.shape) for f, part in zip(first, jnp.split(bent, ends[:-1]))]

    return jax.vmap(one)(t, dt) if tangents else one(t, dt)


def _jvp_jvp_types(*types: Any, site: Site, along: Names, second: Names, tangents: int) -> list[Any]:
    launch = Launch(site, JVP, along=along, tangents=tangents)
    return [made_from(types, launch.shape(key), site.dtype[key[1]]) for key in _results(TANGENT, site)]


def _jvp_jvp_batch(arrays: Sequence[Any], dims: Sequence[int | None], **params: Any) -> Any:
    done = jax.vmap(partial(_jvp_jvp, **params), in_axes=tuple(dims))(*arrays)
    return done, [0] * len(done)


jvp_jvp = _primitive("jvp_jvp", _jvp_jvp, _jvp_jvp_types, _jvp_jvp_batch)
