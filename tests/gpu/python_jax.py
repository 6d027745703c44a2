"""Kernels as functions of JAX on an NVIDIA GPU: what only a machine that has one can show. SPDX-License-Identifier: Apache-2.0

    python tests/gpu/python_jax.py          with retrograd, and JAX for CUDA

One line for each check, figures included; the last line is "N passed, N failed".
"""

import itertools
import sys
import threading
import time
import traceback

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, PartitionSpec as P
from jax.test_util import check_grads

import retrograd as rg

jax.config.update("jax_enable_x64", True)

kernels = rg.compile_c("""
#include <assert.h>
#include <math.h>
#include <stdio.h>
void relax(int n, const int steps[n], const double x[n], double loss[1])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double v = x[i];
        for (int t = 0; t < steps[i]; t++) {
            if (v > 2.0) break;
            v = sin(v) + 0.1 * v * v;
        }
        #pragma omp atomic
        loss[0] += v;
    }
}
double layer(int n, int m, double gain, const double w[n][m], const double x[m], double y[n])
{
    double energy = 0;
    #pragma omp parallel for reduction(+: energy)
    for (int i = 0; i < n; i++) {
        double s = 0;
        for (int j = 0; j < m; j++)
            s += w[i][j] * x[j];
        y[i] = tanh(gain * s);
        energy += y[i] * y[i];
    }
    return energy;
}
void logistic(int n, int times, double a, double x[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        for (int t = 0; t < times; t++)
            x[i] = a * x[i] * (1 - x[i]);
}
void count(int n, int least, const float x[n], int found[1], float kept[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        if (x[i] > least) {
            kept[i] = x[i] * x[i];
            #pragma omp atomic
            found[0]++;
        }
}
void guarded(int n, const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        assert(x[i] > 0);
        y[i] = x[i];
    }
}
void told(int n, const double x[n], double y[n]) { printf("told %d\\n", n); for (int i = 0; i < n; i++) y[i] = x[i]; }
void longer(int n, int times, const float x[n], float y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        float v = x[i];
        for (int t = 0; t < times; t++)
            v = sinf(v) + 0.1f;
        y[i] = v;
    }
}
""", name="kernels.c")
relax, layer, logistic = rg.jax.function(kernels.relax, "loss"), rg.jax.function(kernels.layer, "y"), rg.jax.function(kernels.logistic)
count, longer = rg.jax.function(kernels.count, ["found", "kept"]), rg.jax.function(kernels.longer)
GPU, CPU = jax.devices("cuda")[0], jax.devices("cpu")[0]
rng = np.random.default_rng(3)
results = []


def check(f):
    try:
        said = f()
        print(f"{f.__name__}: {said or 'good'}", flush=True)
        results.append(True)
    except Exception as failure:
        print(f"{f.__name__}: FAILED {type(failure).__name__}: {str(failure)[:500]}", flush=True)
        traceback.print_exc(file=sys.stdout)
        results.append(False)


def on_both(f, *args, rtol=1e-9):
    """On the GPU as on the CPU; the largest relative difference."""
    gpu, cpu = (jax.jit(f)(*jax.device_put(args, device)) for device in (GPU, CPU))
    assert all(GPU in a.devices() for a in jax.tree.leaves(gpu))
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=rtol, atol=1e-12), gpu, cpu)


n = 1000
steps, points = rng.integers(0, 12, n).astype(np.int32), rng.random(n) * 2
weights, inputs = rng.normal(size=(30, 20)) / 5, rng.normal(size=20)


@check
def values():
    on_both(relax, steps, points)
    on_both(lambda w, x: layer(0.5, w, x), weights, inputs)
    on_both(lambda x: logistic(5, 3.5, x), rng.random(n))
    on_both(lambda x: count(1, x), np.arange(n, dtype=np.float32))
    on_both(lambda x: layer(0.5, weights, x)[1] + jnp.sin(layer(0.7, weights, x)[0]).sum(), inputs)


@check
def scalars_that_are_computed():
    on_both(lambda a, w, x: jax.value_and_grad(lambda a: layer(jnp.sin(a), w, x)[1])(a), 0.3, weights, inputs)
    on_both(lambda k, x: logistic(k + 2, 3.5, x), np.int32(3), rng.random(n))


@check
def gradients():
    on_both(lambda x: jax.value_and_grad(lambda x: relax(steps, x)[0])(x), points)
    on_both(jax.grad(lambda a, w, x: layer(a, w, x)[1], (0, 1, 2)), 0.5, weights, inputs)
    on_both(jax.grad(lambda a, x: (logistic(5, a, x) ** 2).sum(), (0, 1)), 3.5, rng.random(n), rtol=1e-7)


@check
def second_order():
    for outer, inner in itertools.product((jax.jacfwd, jax.jacrev), repeat=2):
        on_both(outer(inner(lambda x: layer(0.5, weights, x)[1])), inputs)
        on_both(outer(inner(lambda a, x: logistic(3, a, x), 1), 0), 3.5, rng.random(6))


@check
def differences():
    for f, args in ((lambda x: relax(steps[:5], x), (points[:5],)), (layer, (0.5, weights[:3, :4], inputs[:4])),
                    (lambda a, x: logistic(3, a, x), (3.0, rng.random(4)))):
        check_grads(f, jax.device_put(args, GPU), order=2, modes=("fwd", "rev"), atol=2e-4, rtol=2e-4)


@check
def batches_and_scans():
    on_both(jax.vmap(lambda x: layer(0.5, weights, x)), rng.normal(size=(3, 20)))
    on_both(jax.jacrev(lambda x: layer(0.5, weights, x)[0]), inputs)
    on_both(jax.grad(lambda x: jax.lax.scan(lambda x, _: (logistic(1, 3.0, x), None), x, length=20)[0].sum()), rng.random(n), rtol=1e-6)
    on_both(jax.grad(jax.checkpoint(lambda x: jnp.sin(layer(0.5, weights, x)[0]).sum())), inputs)


@check
def memory_in_place():
    x = jax.device_put(rng.random(1 << 20), GPU)
    wanted, before = np.asarray(x), x.unsafe_buffer_pointer()
    for _ in range(2):
        wanted = 3.5 * wanted * (1 - wanted)
    y = jax.jit(lambda x: logistic(2, 3.5, x), donate_argnums=0)(x)
    np.testing.assert_allclose(y, wanted, rtol=1e-12)
    assert y.unsafe_buffer_pointer() == before, "a donated argument was copied"
    kept = jax.device_put(rng.random(n), GPU)
    old = np.asarray(kept)
    jax.block_until_ready(jax.jit(lambda x: logistic(2, 3.5, x))(kept))
    assert (np.asarray(kept) == old).all(), "an argument that is not donated was overwritten"


def best(run, repeats=9):
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times)


@check
def nothing_waits():
    """A call returns while its kernel runs, and so do calls behind it, of kernels and of XLA."""
    x = jax.device_put(np.full(1 << 18, 0.5, np.float32), GPU)

    def chain(x):
        return longer(20000, jnp.cos(longer(20000, longer(20000, x) + 1)))

    compiled = jax.jit(chain)
    whole = best(lambda: jax.block_until_ready(compiled(x)))

    def dispatch():
        nonlocal last
        last = compiled(x)

    last = compiled(x)
    times = []
    for _ in range(9):
        jax.block_until_ready(last)
        times.append(best(dispatch, 1))
    jax.block_until_ready(last)
    assert min(times) < whole / 5, f"a call returns after {min(times) * 1e3:.2f} ms of {whole * 1e3:.2f} ms"
    return f"three kernels take {whole * 1e3:.2f} ms, their call returns after {min(times) * 1e3:.3f} ms"


@check
def cost_of_a_launch():
    x = jax.device_put(np.full(256, 0.5, np.float32), GPU)
    launches = 200
    many = jax.jit(lambda x: jax.lax.fori_loop(0, launches, lambda i, x: longer(1, x), x))
    same = jax.jit(lambda x: jax.lax.fori_loop(0, launches, lambda i, x: jnp.sin(x) + 0.1, x))
    return (f"{best(lambda: jax.block_until_ready(many(x))) / launches * 1e6:.2f} us in a loop of one program; a step of XLA's own "
            f"{best(lambda: jax.block_until_ready(same(x))) / launches * 1e6:.2f} us")


@check
def threads():
    gradient = jax.jit(jax.grad(lambda x: layer(0.5, weights, x)[1]))
    wanted = [np.asarray(jax.device_put(gradient(jax.device_put(inputs * k, CPU)), CPU)) for k in range(4)]
    failures = []

    def work(k):
        x = jax.device_put(inputs * k, GPU)
        failures.extend(k for _ in range(100) if not np.allclose(gradient(x), wanted[k], rtol=1e-9))

    all_of_them = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for t in all_of_them:
        t.start()
    for t in all_of_them:
        t.join()
    assert not failures, failures


@check
def failures():
    guarded = rg.jax.function(kernels.guarded)
    bad, good = (jax.device_put(a, GPU) for a in (np.array([1.0, -1.0]), np.array([1.0, 2.0])))
    message = None
    for x in (bad, good, good):
        try:
            jax.block_until_ready(guarded(x))
        except Exception as failure:
            message = message or str(failure)
    assert message and "guarded" in message and "assert" in message, message
    assert guarded(good).tolist() == [1, 2]


@check
def without_elements():
    on_both(lambda s, x: jax.value_and_grad(lambda x: relax(s, x)[0])(x), np.zeros(0, np.int32), np.zeros(0))


@check
def what_kernels_print():
    jax.block_until_ready(rg.jax.function(kernels.told)(jax.device_put(np.ones(3), GPU)))
    jax.block_until_ready(rg.jax.function(kernels.told)(jax.device_put(np.ones(4), GPU)))


@check
def several_gpus():
    devices = jax.devices("cuda")
    if len(devices) < 2:
        return "one GPU: not run"
    mesh = Mesh(np.array(devices), ("part",))
    x = rng.random(64 * len(devices))
    f = jax.shard_map(lambda x: jax.lax.psum(logistic(3, 3.5, x).sum(), "part"), mesh=mesh, in_specs=P("part"), out_specs=P())
    one = jax.jit(jax.grad(lambda x: logistic(3, 3.5, x).sum()))(jax.device_put(x, GPU))
    np.testing.assert_allclose(jax.jit(jax.grad(f))(x), one, rtol=1e-12)
    return f"{len(devices)} GPUs"


print(f"{GPU.device_kind}, jax {jax.__version__}, Python {sys.version.split()[0]}")
print(f"{sum(results)} passed, {len(results) - sum(results)} failed")
sys.exit(not all(results))
