"""A kernel under DistributedDataParallel: two processes on the CPU, each with half of the data, learn what one would learn alone.

    python examples/python/ddp.py

Leaves of a plant grow by a rule with a `while`: the light that each leaf gets decides how often it grows. `rg.torch.Module` makes
the kernel a layer, whose parameters are the rule's. DDP sums gradients over processes with gloo. The program prints the gradient of
the first step of two processes and of one, and what is learned. SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import os
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.nn.parallel import DistributedDataParallel

import retrograd as rg

SOURCE = """
#include <math.h>
void grow(int n, const double rule[2], const double light[n], double size[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double s = 0.1, left = light[i];
        while (left > 0) { /* each growth takes light, a large leaf more of it */
            s += rule[0] * s * exp(-rule[1] * s);
            left -= 0.1 + 0.2 * s;
        }
        size[i] = s;
    }
}
"""
LEAVES, PROCESSES, STEPS = 64, 2, 200


def plant() -> rg.torch.Module:
    return rg.torch.Module(rg.compile_c(SOURCE).grow, parameters={"rule": torch.tensor([0.3, 0.3], dtype=torch.float64)})


def data() -> tuple[torch.Tensor, torch.Tensor]:
    """Light, and the sizes that leaves have by the rule that is to be found."""
    light = torch.linspace(0.2, 2.0, LEAVES, dtype=torch.float64)
    return light, rg.torch.function(rg.compile_c(SOURCE).grow)(torch.tensor([0.5, 0.8], dtype=torch.float64), light)


def learn(model: torch.nn.Module, light: torch.Tensor, size: torch.Tensor) -> list[torch.Tensor]:
    """The gradient of the first step, and the rule after all steps."""
    (rule,) = model.parameters()
    adam, first = torch.optim.Adam([rule], lr=0.03), None
    for _ in range(STEPS):
        adam.zero_grad()
        (model(light=light) - size).square().mean().backward()
        first = rule.grad.clone() if first is None else first
        adam.step()
    return [first, rule.detach()]


def process(rank: int, meeting: str, found: str) -> None:
    """One of several: it has every second leaf."""
    dist.init_process_group("gloo", init_method=f"file://{meeting}", rank=rank, world_size=PROCESSES)
    torch.set_num_threads(1)
    result = learn(DistributedDataParallel(plant()), *(t[rank::PROCESSES] for t in data()))
    if rank == 0:
        torch.save(result, found)
    dist.destroy_process_group()


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        found = os.path.join(folder, "found")
        mp.spawn(process, (os.path.join(folder, "meeting"), found), PROCESSES)
        shared = torch.load(found)
    alone = learn(plant(), *data())
    for name, a, b in zip(("first gradient", "rule"), shared, alone):
        print(f"{name}: {a.tolist()} of {PROCESSES} processes, {b.tolist()} of one")
        torch.testing.assert_close(a, b, rtol=1e-9, atol=1e-12)


if __name__ == "__main__":
    main()
