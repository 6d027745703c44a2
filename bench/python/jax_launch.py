"""What a launch costs in a program of JAX, beside a handler that does nothing. SPDX-License-Identifier: Apache-2.0

    python bench/python/jax_launch.py           with the package on PYTHONPATH, and a C compiler

Each row is a kernel of a few operations on arrays of 8 elements: a call of a jitted function, and one of a thousand calls in a loop of one
program. The empty handler has the same operands and results.
"""

import ctypes
import os
import subprocess
import tempfile
import time
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

import retrograd as rg

HERE = Path(__file__).parent
N, LOOP = 8, 1000
jax.config.update("jax_cpu_enable_async_dispatch", False)  # a call returns when it is done

kernels = rg.compile_c("""
void one(const float x[8], float y[8]) { for (int i = 0; i < 8; i++) y[i] = 0.5f * x[i] * x[i]; }
void five(const float a[8], const float b[8], const float c[8], const float d[8], float y[8])
{ for (int i = 0; i < 8; i++) y[i] = a[i] * b[i] + c[i] * d[i]; }
void update(float x[8]) { for (int i = 0; i < 8; i++) x[i] = 0.5f * x[i] * x[i]; }
""")


def register_empty():
    with tempfile.TemporaryDirectory() as folder:
        library = os.path.join(folder, "empty.so")
        subprocess.run([os.environ.get("CC", "cc"), "-O2", "-shared", "-fPIC", HERE / "jax_empty.c", "-o", library], check=True)
        jax.ffi.register_ffi_target("bench_empty", jax.ffi.pycapsule(ctypes.CDLL(library).empty))


def empty(operands, in_place):
    call = jax.ffi.ffi_call("bench_empty", jax.ShapeDtypeStruct((N,), np.float32), input_output_aliases={0: 0} if in_place else None)
    return lambda *args: call(*args[:operands])


def best(run, repeats):
    run()
    times = []
    for _ in range(9):
        start = time.perf_counter()
        for _ in range(repeats):
            run()
        times.append((time.perf_counter() - start) / repeats)
    return min(times) * 1e6


def call_cost(f, args):
    jitted = jax.jit(f)
    return best(lambda: jitted(*args), 2000)


def loop_cost(f, args):
    looped = jax.jit(lambda *args: jax.lax.fori_loop(0, LOOP, lambda i, x: f(x, *args[1:]), args[0]))
    return best(lambda: looped(*args).block_until_ready(), 3) / LOOP


def main():
    register_empty()
    x = [jnp.full(N, 0.5 + i / 10, jnp.float32) for i in range(4)]
    rows = [("one array", rg.jax.function(kernels.one), x[:1], False), ("five arrays", rg.jax.function(kernels.five), x, False),
            ("in place", rg.jax.function(kernels.update), x[:1], True)]
    gradient = jax.grad(lambda x: rg.jax.function(kernels.one)(x).sum())
    rows.append(("gradient", gradient, x[:1], False))
    print(f"{'':12}{'call, µs':>10}{'empty':>8}{'more':>7}{'in a loop, µs':>16}{'empty':>8}{'more':>7}")
    for name, f, args, in_place in rows:
        nothing = empty(len(args), in_place)
        times = [call_cost(f, args), call_cost(nothing, args), loop_cost(f, args), loop_cost(nothing, args)]
        print(f"{name:12}{times[0]:10.1f}{times[1]:8.1f}{times[0] - times[1]:7.1f}{times[2]:16.2f}{times[3]:8.2f}{times[2] - times[3]:7.2f}")


if __name__ == "__main__":
    main()
