"""Derivatives of the primitives in _jax_primitives.py.

What is linear, and in what:

    jvp(p, t)               in t; its transpose is vjp
    vjp(p, w)               in w; its transpose is jvp
    hvp(p, w, u, dw)        in u and dw, and in w; its transpose in u and dw is products
    products(p, w, t)       in t; its transpose is hvp
    jvp_jvp(p, t, u, dt)    in u and dt; its transpose is products

The second derivative is symmetric, so no reverse sweep is ever reversed. Outputs among the operands (`split`) are functions of p: their
tangents do not count. There are no third derivatives.
"""

from __future__ import annotations

from functools import reduce
from typing import Any, Callable

import jax.numpy as jnp
from jax.extend.core import Primitive
from jax.interpreters import ad

from . import _core
from ._jax_launch import Site
from ._jax_primitives import Names, bind, forward, groups, hvp, jvp, jvp_jvp, products, vjp
from ._jax_types import added, filled, is_known_zero, is_wanted, no_tangent
from ._kernels import VJP

Arrays = list[Any]


def _active(site: Site, tangents: Arrays) -> tuple[Names, Arrays]:
    """Inputs that have a tangent, and these."""
    found = [(s.name, t) for s, t in zip(site.operands, tangents) if s.param.is_float and not is_known_zero(t)]
    return tuple(name for name, _ in found), [t for _, t in found]


def _any(*tangents: Arrays) -> bool:
    return any(not is_known_zero(t) for group in tangents for t in group)


def _filled(tangents: Arrays) -> Arrays:
    return [filled(t) for t in tangents]


def _sum(*terms: Arrays) -> Arrays:
    return [reduce(added, each) for each in zip(*terms)]


def _refuse_third(site: Site, tangents: Arrays) -> None:
    if _active(site, tangents)[0]:
        raise _core.UnsupportedError(f"kernel {site.program.kernel.name}: JAX's functions have no third derivatives of kernels; inside kernels "
                                     "there are derivatives of any order (docs/derivatives.md)")


# -- tangents ------------------------------------------------------------------------------------------------------------

def _of_forward(primals: Arrays, dots: Arrays, *, site: Site) -> tuple[Arrays, Arrays]:
    after = bind(forward, primals, site=site)
    along, t = _active(site, dots)
    if not along:
        return after, [no_tangent(a) for a in after]
    split = site.program.refusal(VJP, along, ()) is None
    computed = iter(bind(jvp, primals, after if split else [], t, site=site, along=along, split=split, tangents=0))
    return after, [next(computed) if s.param.is_float else no_tangent(a) for s, a in zip(site.results, after)]


def _of_jvp(primals: Arrays, dots: Arrays, *, site: Site, along: Names, split: bool, tangents: int) -> tuple[Arrays, Arrays]:
    sizes = len(site.operands), len(site.results) * split
    p, _, t = groups(primals, *sizes)
    dp, _, dt = groups(dots, *sizes)
    out = bind(jvp, primals, site=site, along=along, split=split, tangents=tangents)
    second, u = _active(site, dp)
    if second:
        return out, bind(jvp_jvp, p, t, u, _filled(dt), site=site, along=along, second=second, tangents=tangents)
    if not _any(dt):
        return out, [no_tangent(a) for a in out]
    return out, bind(jvp, primals[:sum(sizes)], _filled(dt), site=site, along=along, split=split, tangents=tangents)


def _of_vjp(primals: Arrays, dots: Arrays, *, site: Site, of: Names, split: bool, adjoints: int) -> tuple[Arrays, Arrays]:
    sizes = len(site.operands), len(site.results) * split
    p, _, w = groups(primals, *sizes)
    dp, _, dw = groups(dots, *sizes)
    out = bind(vjp, primals, site=site, of=of, split=split, adjoints=adjoints)
    along, u = _active(site, dp)
    if along:
        return out, bind(hvp, p, w, u, _filled(dw), site=site, of=of, along=along, adjoints=adjoints, tangents=0)
    if not _any(dw):
        return out, [no_tangent(a) for a in out]
    return out, bind(vjp, primals[:sum(sizes)], _filled(dw), site=site, of=of, split=split, adjoints=adjoints)


def _of_hvp(primals: Arrays, dots: Arrays, *, site: Site, of: Names, along: Names, **counts: int) -> tuple[Arrays, Arrays]:
    sizes = len(site.operands), len(site.float_results), len(along)
    p, w, u, dw = groups(primals, *sizes)
    dot_p, dot_w, dot_u, dot_dw = groups(dots, *sizes)
    params = dict(site=site, of=of, along=along, **counts)
    _refuse_third(site, dot_p)
    out, terms = bind(hvp, primals, **params), []
    if _any(dot_u, dot_dw):
        terms.append(bind(hvp, p, w, _filled(dot_u), _filled(dot_dw), **params))
    if _any(dot_w):
        none = [jnp.zeros_like(d) for d in dw]
        terms.append(bind(hvp, p, _filled(dot_w), u, none, **params))
    return out, _sum(*terms) if terms else [no_tangent(a) for a in out]


def _of_products(primals: Arrays, dots: Arrays, *, site: Site, of: Names, **params: Any) -> tuple[Arrays, Arrays]:
    sizes = len(site.operands), len(site.float_results)
    p, w, t = groups(primals, *sizes)
    dot_p, dot_w, dot_t = groups(dots, *sizes)
    _refuse_third(site, dot_p)
    out = bind(products, primals, site=site, of=of, **params)
    tangents = [no_tangent(a) for a in out]
    n = len(of)
    if _any(dot_w):
        moved = bind(products, p, _filled(dot_w), t, site=site, of=of, **params)
        tangents[:2 * n] = moved[:2 * n]
    if _any(dot_t):
        moved = bind(products, p, w, _filled(dot_t), site=site, of=of, **params)
        tangents[n:2 * n] = _sum(tangents[n:2 * n], moved[n:2 * n])
        tangents[2 * n:] = moved[2 * n:]
    return out, tangents


def _of_jvp_jvp(primals: Arrays, dots: Arrays, *, site: Site, along: Names, second: Names, tangents: int) -> tuple[Arrays, Arrays]:
    sizes = len(site.operands), len(along), len(second)
    p, t, u, dt = groups(primals, *sizes)
    dot_p, dot_t, dot_u, dot_dt = groups(dots, *sizes)
    params = dict(site=site, along=along, second=second, tangents=tangents)
    _refuse_third(site, dot_p)
    out, terms = bind(jvp_jvp, primals, **params), []
    if _any(dot_u, dot_dt):
        terms.append(bind(jvp_jvp, p, t, _filled(dot_u), _filled(dot_dt), **params))
    if _any(dot_t):
        none = [jnp.zeros_like(d) for d in dt]
        terms.append(bind(jvp_jvp, p, _filled(dot_t), u, none, **params))
    return out, _sum(*terms) if terms else [no_tangent(a) for a in out]


# -- transposes ----------------------------------------------------------------------------------------------------------

def _chosen(names: Names, operands: Arrays) -> Names:
    return tuple(name for name, a in zip(names, operands) if is_wanted(a))


def _placed(operands: Arrays, cotangents: Arrays) -> Arrays:
    """The cotangents of what is wanted, in order, and None for the others."""
    left = iter(cotangents)
    return [next(left) if is_wanted(a) else None for a in operands]


def _needs(site: Site, operands: Arrays) -> None:
    if any(is_wanted(a) for a in operands):
        raise _core.UnsupportedError(f"kernel {site.program.kernel.name}: a second derivative cannot be transposed in its cotangents")


def _nothing(operands: Arrays) -> Arrays:
    return [None] * len(operands)


def _transpose_jvp(cotangents: Arrays, *operands: Any, site: Site, along: Names, split: bool, tangents: int) -> Arrays:
    known, t = groups(operands, len(operands) - len(along))
    of = _chosen(along, t)
    found = bind(vjp, known, _filled(cotangents), site=site, of=of, split=split, adjoints=tangents)
    return _nothing(known) + _placed(t, found)


def _transpose_vjp(cotangents: Arrays, *operands: Any, site: Site, of: Names, split: bool, adjoints: int) -> Arrays:
    known, w = groups(operands, len(operands) - len(site.float_results))
    found = bind(jvp, known, _filled(cotangents), site=site, along=of, split=split, tangents=adjoints)
    return _nothing(known) + [ct if is_wanted(a) else None for a, ct in zip(w, found)]


def _transpose_hvp(cotangents: Arrays, *operands: Any, site: Site, of: Names, along: Names, adjoints: int, tangents: int) -> Arrays:
    p, w, u, dw = groups(operands, len(site.operands), len(site.float_results), len(along))
    _needs(site, w)
    back = _chosen(along, u)
    n = max(adjoints, tangents)
    known = dict(site=site, of=back, along=of, adjoints=adjoints, tangents=n)
    found = bind(products, p, w, _filled(cotangents), **known)[len(back):]
    second, first = groups(found, len(back))
    if adjoints and not tangents:
        second = [a.sum(0) for a in second]
    return _nothing(p) + _nothing(w) + _placed(u, second) + [ct if is_wanted(a) else None for a, ct in zip(dw, first)]


def _transpose_products(cotangents: Arrays, *operands: Any, site: Site, of: Names, along: Names, adjoints: int, tangents: int) -> Arrays:
    p, w, t = groups(operands, len(site.operands), len(site.float_results))
    _needs(site, w)
    back = _chosen(along, t)
    _, second, first = groups(_filled(cotangents), len(of), len(of))  # the vjp does not depend on t
    known = dict(site=site, of=back, along=of, adjoints=adjoints, tangents=max(adjoints, tangents))
    if adjoints and not tangents:
        found = bind(hvp, p, w, second, [jnp.zeros_like(a) for a in w], **known)
        rest = bind(vjp, p, first, site=site, of=back, split=False, adjoints=0)
        found = [a.sum(0) + b for a, b in zip(found, rest)]
    else:
        found = bind(hvp, p, w, second, first, **known)
    return _nothing(p) + _nothing(w) + _placed(t, found)


def _transpose_jvp_jvp(cotangents: Arrays, *operands: Any, site: Site, along: Names, second: Names, tangents: int) -> Arrays:
    p, t, u, dt = groups(operands, len(site.operands), len(along), len(second))
    _needs(site, t)
    of = tuple(dict.fromkeys(_chosen(along, dt) + _chosen(second, u)))
    found = bind(products, p, _filled(cotangents), t, site=site, of=of, along=along, adjoints=tangents, tangents=tangents)
    first = dict(zip(of, found))
    bent = {name: a.sum(0) if tangents else a for name, a in zip(of, found[len(of):])}
    return (_nothing(p) + _nothing(t) + [bent[name] if is_wanted(a) else None for name, a in zip(second, u)] +
            [first[name] if is_wanted(a) else None for name, a in zip(along, dt)])


_RULES: list[tuple[Primitive, Callable[..., Any], Callable[..., Any] | None]] = [
    (forward, _of_forward, None),
    (jvp, _of_jvp, _transpose_jvp),
    (vjp, _of_vjp, _transpose_vjp),
    (hvp, _of_hvp, _transpose_hvp),
    (products, _of_products, _transpose_products),
    (jvp_jvp, _of_jvp_jvp, _transpose_jvp_jvp),
]
for _p, _tangent, _transpose in _RULES:
    ad.primitive_jvps[_p] = _tangent
    if _transpose:
        ad.primitive_transposes[_p] = _transpose
