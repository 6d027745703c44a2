"""Value and gradient of five programs by Retrograd, PyTorch and JAX, side by side in one process. SPDX-License-Identifier: Apache-2.0

    PYTHONPATH=build/python python bench/python/peers.py [--device cuda] [--only ragged,lstm] [--scale 0.1]

Compares what all systems compute, measures them in turns, and prints the tables of docs/results.md. Needs torch and jax; diffrax and
torchdiffeq are measured where they are installed. The status is 1 if a gradient differs from that of PyTorch.
"""

import argparse
import importlib
import logging
import math
import os
import sys
import tempfile
import time

PROBLEMS = ["ragged", "ode", "spheres", "bodies", "lstm"]


def options():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0].replace(" SPDX-License-Identifier: Apache-2.0", ""))
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--scale", type=float, default=1.0, help="multiplies the sizes of the problems")
    parser.add_argument("--only", type=lambda text: text.split(","), default=PROBLEMS, help=",".join(PROBLEMS))
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)), help="processors of the host that are used")
    parser.add_argument("--unroll", type=int, default=1, help="of JAX's scan")
    parser.add_argument("--seconds", type=float, help="of the whole run: what does not fit is left out (cuda: 220)")
    parser.add_argument("--no-compile", action="store_true", help="without torch.compile")
    chosen = parser.parse_args()
    chosen.seconds = chosen.seconds or (220 if chosen.device == "cuda" else math.inf)
    for name in chosen.only:
        if name not in PROBLEMS:
            parser.error(f"there is no problem '{name}' (there are {', '.join(PROBLEMS)})")
    return chosen


def settle(chosen, folder):
    """What has to be set before the systems are imported: the same processors for all, no caches of earlier runs."""
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:chosen.threads])
    logging.disable()  # a compiler's account of why it failed; the first line of its error is printed
    os.environ.update(RG_CACHE="off", CUDA_CACHE_DISABLE="1", TORCHINDUCTOR_CACHE_DIR=folder, TRITON_CACHE_DIR=folder,
                      JAX_PLATFORMS="cpu" if chosen.device == "cpu" else "cuda,cpu", XLA_PYTHON_CLIENT_PREALLOCATE="false")


def warm(chosen):
    """Loads what the systems load once, and says where they run."""
    import jax
    import numpy as np
    import torch

    import retrograd as rg
    torch.backends.cudnn.allow_tf32 = False  # f32 means f32 everywhere
    jax.config.update("jax_default_matmul_precision", "highest")
    torch.set_num_threads(chosen.threads)
    x = torch.ones(4, 4, device=chosen.device, requires_grad=True)
    (x @ x).sum().backward()
    if not chosen.no_compile:
        torch.compile(lambda x: torch.sin(x) + 1)(x).sum().backward()
    try:
        one = jax.device_put(np.ones((4, 4), np.float32), jax.devices(chosen.device)[0])
        jax.block_until_ready(jax.jit(jax.grad(lambda x: (x @ x).sum()))(one))
    except RuntimeError as failure:
        print(f"JAX has no device {chosen.device}: {failure}", flush=True)
    square = rg.compile_c("void square(float x[1]) { x[0] = x[0] * x[0]; }").square
    square.forward_vjp(rg.zeros(1, np.float32, device=chosen.device, adjoint=True))
    rg.current_queue(chosen.device).sync()
    print(f"{rg.device(chosen.device).info()['model']}; {chosen.threads} processors: Retrograd {rg.device('cpu').info()['threads']} threads, "
          f"torch {torch.get_num_threads()}, JAX as many as processors; torch {torch.__version__}, jax {jax.__version__}, "
          f"Python {sys.version.split()[0]}", flush=True)


def short(x):
    """Three digits."""
    return f"{x:.0f}" if x >= 100 else f"{x:.3g}"


def table(title, own, cell, found, systems):
    """In Markdown. Rows are problems, columns systems, `own` Retrograd's; what only some problems have is in the last column."""
    print(f"\n| {title} | {own} | {' | '.join(systems[1:])} | further |\n|---" + "|---" * (len(systems) + 1) + "|")
    for problem, rows in found:
        cells = {row.name: cell(row, rows[0]) for row in rows}
        further = ", ".join(f"{name} {text}" for name, text in cells.items() if name not in systems and text)
        print(f"| {problem.TITLE} | {' | '.join(cells.get(name, '') for name in systems)} | {further} |")


def tables(found, systems):
    def time_of(row, own):
        return f"refused: {row.refused}" if row.refused else short(1e3 * row.time) if row is own else short(row.time / own.time)

    table("time / Retrograd's", "Retrograd, ms", time_of, found, systems)
    table("memory, MB", "Retrograd", lambda row, own: "" if row.refused else short(row.memory / 1e6), found, systems)
    table("first call, s", "Retrograd", lambda row, own: "" if row.refused else short(row.compile), found, systems)
    table("difference", "Retrograd", lambda row, own: "" if row.refused else f"{row.difference:.0e}", found, systems)


def main():
    chosen = options()
    end = time.perf_counter() + chosen.seconds
    with tempfile.TemporaryDirectory(prefix="peers-", ignore_cleanup_errors=True) as folder:
        settle(chosen, folder)
        warm(chosen)
        from peers import rows
        found = []
        for i, name in enumerate(chosen.only):
            problem = importlib.import_module(f"peers.{name}")
            found.append((problem, rows.measure(problem, chosen, (end - time.perf_counter()) / (len(chosen.only) - i))))
    lost = [f"{problem.TITLE}: {own.refused}: {own.why}" for problem, (own, *_) in found if own.refused]
    if lost:
        sys.exit("Retrograd failed: " + "; ".join(lost))
    tables(found, rows.SYSTEMS)
    wrong = [f"{problem.TITLE}, {row.name}" for problem, measured in found for row in measured
             if not row.refused and not row.difference <= row.tolerance]
    if wrong:
        sys.exit("gradients that differ: " + "; ".join(wrong))


if __name__ == "__main__":
    main()
