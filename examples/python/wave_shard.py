"""A wave equation that is split over eight devices, and the gradient of what receivers hear with respect to the speed everywhere.

    python examples/python/wave_shard.py

The step is a kernel in C. Each device has some rows of the membrane; in every step `ppermute` sends the outermost of them to the neighbours, and
the gradient sends what belongs to them back. The devices are eight parts of this machine's CPU: on a machine with eight GPUs the program is
the same. The gradient is compared with that of one device, which has all rows.
"""

import os
import time

os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=8")

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, PartitionSpec as P

import retrograd as rg

jax.config.update("jax_enable_x64", True)

step = rg.jax.function(rg.compile_c("""
/* The membrane after the next step replaces the one before the last; above and below are the rows of the neighbours. */
void step(int rows, int n, const double speed[rows][n], const double above[1][n], const double below[1][n],
          const double now[rows][n], double before[rows][n])
{
    #pragma omp parallel for
    for (int i = 0; i < rows; i++)
        for (int j = 1; j < n - 1; j++) {
            double up = i > 0 ? now[i - 1][j] : above[0][j], down = i < rows - 1 ? now[i + 1][j] : below[0][j];
            double bend = up + down + now[i][j - 1] + now[i][j + 1] - 4 * now[i][j];
            before[i][j] = 2 * now[i][j] - before[i][j] + speed[i][j] * speed[i][j] * bend;
        }
}
""").step)

ROWS, COLUMNS, STEPS = 64, 64, 150


def loss_on(devices):
    """What receivers in one column heard, compared with a recording; for rows that are split over the devices."""
    count = len(devices)
    down = [(i, i + 1) for i in range(count - 1)]
    up = [(i + 1, i) for i in range(count - 1)]

    def run(speed, start, heard):
        def advance(state, wanted):
            before, now = state
            above = jax.lax.ppermute(now[-1:], "rows", down)  # zeros at the edges
            below = jax.lax.ppermute(now[:1], "rows", up)
            after = step(speed, above, below, now, before)
            return (now, after), jnp.sum((after[:, COLUMNS - 8] - wanted) ** 2)

        _, misfits = jax.lax.scan(advance, (start, start), heard)
        return jax.lax.psum(misfits.sum(), "rows")

    return jax.shard_map(run, mesh=Mesh(np.array(devices), ("rows",)), in_specs=(P("rows"), P("rows"), P(None, "rows")), out_specs=P())


def main():
    y, x = np.mgrid[:ROWS, :COLUMNS]
    start = np.exp(-((x - 12) ** 2 + (y - 20) ** 2) / 12)
    start[:, 0] = start[:, -1] = 0
    speed = 0.5 + 0.1 * np.exp(-((x - 40) ** 2 + (y - 36) ** 2) / 60)
    heard = np.zeros((STEPS, ROWS))
    found = {}
    for devices in (jax.devices()[:1], jax.devices()):
        gradient = jax.jit(jax.value_and_grad(loss_on(devices)))
        gradient(speed, start, heard)
        begin = time.perf_counter()
        value, slope = jax.block_until_ready(gradient(speed, start, heard))
        found[len(devices)] = np.asarray(slope)
        print(f"{len(devices)} device{'s' * (len(devices) > 1)}: loss {value:.12f}, largest slope {np.abs(slope).max():.6f}, {time.perf_counter() - begin:.3f} s")
    one, all_of_them = found.values()
    error = np.abs(all_of_them - one).max() / np.abs(one).max()
    print(f"the gradients differ by {error:.1e} of the largest slope")
    assert len(jax.devices()) == 8 and error < 1e-12


if __name__ == "__main__":
    main()
