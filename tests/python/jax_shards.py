"""Kernels under `shard_map`, on eight devices. SPDX-License-Identifier: Apache-2.0

Run by test_jax.py, in a process that has eight devices: XLA_FLAGS=--xla_force_host_platform_device_count=8.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec as P

import retrograd as rg

jax.config.update("jax_enable_x64", True)

cubes = rg.jax.function(rg.compile_c("""
double cubes(int n, double a, const double x[n], double y[n])
{ double s = 0; for (int i = 0; i < n; i++) { y[i] = a * x[i] * x[i]; s += y[i] * x[i]; } return s; }""").cubes, "y")
mesh = Mesh(np.array(jax.devices()), ("part",))
a, x = 2.0, np.arange(16.0) / 8


def same(found, wanted):
    jax.tree.map(lambda one, other: np.testing.assert_allclose(one, other, rtol=1e-10), found, wanted)


def reference(a, x):
    return (a * x**3).sum() + ((a * x * x)**2).sum()


def sharded(check):
    """The same, with parts of x on the devices and all of `a` on each."""
    def local(a, x):
        y, s = cubes(a, x)
        return y, jax.lax.psum(s, "part")

    def total(a, x):
        y, s = jax.shard_map(local, mesh=mesh, in_specs=(P(), P("part")), out_specs=(P("part"), P()), check_vma=check)(a, x)
        return s + (y**2).sum()
    return total


assert len(jax.devices()) == 8
for check in (True, False):
    f = sharded(check)
    transforms = [lambda f: f, lambda f: jax.grad(f, (0, 1)), lambda f: jax.hessian(f, (0, 1)), lambda f: jax.jacrev(jax.grad(f, 1)),
                  lambda f: jax.jacrev(jax.jacfwd(f, (0, 1)), 1)]
    same(jax.jit(lambda a, x: [t(f)(a, x) for t in transforms])(a, x), [t(reference)(a, x) for t in transforms])
same(sharded(True)(a, x), reference(a, x))  # without jit
inside = jax.shard_map(lambda x: jax.vmap(jax.grad(lambda a, x: cubes(a, x)[1], 1), (0, None))(jnp.array([1.0, a]), x), mesh=mesh,
                       in_specs=P("part"), out_specs=P(None, "part"))
same(jax.jit(inside)(x), np.stack([3 * x**2, 3 * a * x**2]))

# arrays that JAX splits as it likes, and arrays whose types say how they are split
same(jax.jit(jax.grad(lambda x: cubes(a, x)[1]))(jax.device_put(x, NamedSharding(mesh, P("part")))), 3 * a * x**2)
explicit = jax.make_mesh((8,), ("part",), axis_types=(AxisType.Explicit,))
with jax.set_mesh(explicit):
    parts = jax.device_put(x, NamedSharding(explicit, P("part")))
    try:
        jax.jit(cubes)(a, parts)
        raise AssertionError("not refused")
    except TypeError as refused:
        assert "argument 'x' is split" in str(refused), refused
    whole = jax.jit(jax.grad(lambda x: cubes(a, jax.sharding.reshard(x, P(None)))[1]))(parts)
    same(whole, 3 * a * x**2)
    same(jax.jit(jax.shard_map(lambda x: cubes(a, x)[0], in_specs=P("part"), out_specs=P("part")))(parts), a * x * x)
