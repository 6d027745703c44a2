"""Looking into a body by sound: the map of its speeds, from what a ring of receivers heard. JAX on eight devices.

    python examples/python/waves.py [FOLDER]

Twelve pulses go through a body, one after the other, and 64 receivers around it hear them. Sound is faster in some parts of the
body than in others: the program finds out where. The step of the wave equation is a kernel in C (waves.c); each of eight devices
has some rows of the grid, and `ppermute` sends the outermost of them to the neighbours in every step. `jax.grad` goes back
through all steps and all devices. The devices are parts of this machine's CPU; on eight GPUs the program is the same.
FOLDER/waves.png shows the map.
SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import os
import sys
from functools import partial
from pathlib import Path
from typing import Any

os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=8")

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, PartitionSpec as P

import pictures as pic
import retrograd as rg

kernels = rg.load(Path(__file__).with_suffix(".c"))
step = rg.jax.function(kernels.step)

N, STEPS, WATER = 96, 200, 0.45  # cells in a row, steps, the speed around the body in cells for a step
RING, BODY = 37.0, 31.0  # radii
WAVES, RECEIVERS = 12, 64
NOISE = 0.02  # of what is heard

y, x = np.mgrid[:N, :N] - (N - 1) / 2


def ring(count: int) -> np.ndarray:
    """Cells on the ring [count][2]: rows, columns."""
    angle = 2 * np.pi * np.arange(count) / count
    return np.round(np.stack([np.sin(angle), np.cos(angle)], axis=1) * RING + (N - 1) / 2).astype(int)


def blob(row: float, column: float, high: float, wide: float, turn: float = 0) -> np.ndarray:
    """1 inside an ellipse, 0 outside, with a soft edge."""
    u, v = np.cos(turn) * (x - column) + np.sin(turn) * (y - row), np.cos(turn) * (y - row) - np.sin(turn) * (x - column)
    return 1 / (1 + np.exp(np.minimum(12 * (np.hypot(u / wide, v / high) - 1) * min(high, wide) / 8, 50)))


def body() -> np.ndarray:
    """By how much the speed differs from that of water."""
    made = 0.05 * blob(0, 0, 26, 22)
    made += -0.12 * blob(-3, -9, 11, 5.5, 0.25) - 0.12 * blob(-3, 9, 11, 5.5, -0.25)
    return made + 0.09 * blob(15, 0, 5, 6) + 0.10 * blob(-17, 0, 3.5, 3.5) - 0.10 * blob(8, -2, 2.6, 2.6)


def pulses() -> np.ndarray:
    """The waves at the start [wave][row][column]: bumps on the ring."""
    rows, columns = ring(WAVES).T - (N - 1) / 2
    square = (x - columns[:, None, None]) ** 2 + (y - rows[:, None, None]) ** 2
    return (np.exp(-square / 8) * (1 - square / 16)).astype(np.float32)


PULSES = pulses()
CALM = (0.15 * np.clip((np.maximum(np.abs(x), np.abs(y)) - (N / 2 - 8)) / 8, 0, 1) ** 2).astype(np.float32)
INSIDE = (1 / (1 + np.exp(np.hypot(x, y) - BODY))).astype(np.float32)


def sound(devices: list[Any]) -> Any:
    """A function from the map of speeds to what the receivers hear [step][wave][receiver], with rows split over the devices."""
    count = len(devices)
    down, up = [(i, i + 1) for i in range(count - 1)], [(i + 1, i) for i in range(count - 1)]
    places = ring(RECEIVERS)

    mesh = Mesh(np.array(devices), ("rows",))

    @partial(jax.shard_map, mesh=mesh, in_specs=(P("rows"), P("rows"), P(None, "rows")), out_specs=P())
    def run(speed: Any, calm: Any, pulses: Any) -> Any:
        row = places[:, 0] - jax.lax.axis_index("rows") * speed.shape[0]
        here = (row >= 0) & (row < speed.shape[0])

        def advance(state: Any, _: Any) -> Any:
            before, now = state
            above = jax.lax.ppermute(now[:, -1], "rows", down)  # zeros where there is no neighbour
            below = jax.lax.ppermute(now[:, 0], "rows", up)
            after = step(speed, calm, above, below, now, before)
            return (now, after), jnp.where(here, after[:, row, places[:, 1]], 0)

        _, heard = jax.lax.scan(advance, (pulses, pulses), length=STEPS)
        return jax.lax.psum(heard, "rows")

    return lambda speed: run(speed, CALM, PULSES)


def smooth(values: Any) -> Any:
    """The mean with neighbours, four times: details that the waves are too long for are left out."""
    for _ in range(4):
        for axis in (0, 1):
            values = 0.25 * jnp.roll(values, 1, axis) + 0.5 * values + 0.25 * jnp.roll(values, -1, axis)
    return values


def difference(values: Any) -> Any:
    """By how much the speed differs from that of water, for the values that are learned."""
    return INSIDE * smooth(values)


def draw(truth: np.ndarray, maps: list[tuple[int, np.ndarray]], losses: list[float], path: Path) -> None:
    """A pulse on its way, the map of the body, maps that were found, and the loss."""
    times, cut, top = 2, 7, 42
    side = times * (N - 2 * cut)
    picture = pic.Picture(5 * (side + 12) + 12, side + top + 40)
    scale = [pic.TEAL, (34, 84, 110), pic.PANEL, (128, 62, 66), pic.AMBER]

    def show(k: int, title: str, pixels: np.ndarray) -> tuple[int, int]:
        left = 12 + k * (side + 12)
        picture.text(left, 28, title, pic.WHITE, 10.5)
        picture.image(left, top, pic.enlarge(pixels[cut:-cut, cut:-cut], times))
        return left, top

    def on(corner: tuple[int, int], cell: np.ndarray) -> tuple[float, float]:
        return corner[0] + times * (cell[1] - cut + 0.5), corner[1] + times * (cell[0] - cut + 0.5)

    state, edge = (PULSES[:1].copy(), PULSES[:1].copy()), np.zeros((1, N), np.float32)
    for _ in range(105):
        kernels.step((WATER * (1 + truth)).astype(np.float32), CALM, edge, edge, state[1], state[0])
        state = state[::-1]
    wave = np.clip(3.5 * state[1][0, ..., None], -1, 1)
    body = pic.colours(0.5 + truth / 0.5, scale)
    at = show(0, "one of the pulses", body + np.abs(wave) * (np.where(wave > 0, pic.WHITE, pic.BLUE) - body))
    for cell in ring(RECEIVERS):
        picture.disc(*on(at, cell), 1.6, pic.GREY)
    for cell in ring(WAVES):
        picture.disc(*on(at, cell), 3.2, pic.LEAF)
    show(1, "the body", pic.colours(0.5 + truth / 0.26, scale))
    for k, (steps, found) in enumerate(maps):
        show(2 + k, f"found in {steps} steps", pic.colours(0.5 + found / 0.26, scale))
    pic.curve(picture, (12 + 4 * (side + 12), top, side, side), losses, "loss")
    y = top + side + 26
    picture.disc(18, y - 4, 3.2, pic.LEAF), picture.text(28, y, "pulse", pic.GREY, 9)
    picture.disc(92, y - 4, 1.6, pic.GREY), picture.text(100, y, "receiver", pic.GREY, 9)
    left = 12 + side + 12
    picture.text(left, y, "speed  -13%", pic.GREY, 9)
    picture.image(left + 92, y - 9, np.tile(pic.colours(np.linspace(0, 1, 120), scale), (10, 1, 1)))
    picture.text(left + 220, y, "+13% of that in water", pic.GREY, 9)
    pic.save_png(path, picture)


def run(folder: str | Path = "out", steps: int = 36, seed: int = 0) -> tuple[list[float], float]:
    """Returns the loss of each step (1: of a map without a body), and how far the map is from the truth, relative to it."""
    devices = jax.devices()
    truth = body()
    hear = jax.jit(sound(devices))
    heard = np.asarray(hear((WATER * (1 + truth)).astype(np.float32)))
    scale = ((heard - hear(np.full((N, N), WATER, np.float32))) ** 2).mean()
    heard = heard + NOISE * heard.std() * np.random.default_rng(seed).standard_normal(heard.shape, np.float32)
    print(f"{len(devices)} devices with {N // len(devices)} rows each; {heard.size} values heard, {NOISE:.0%} noise", flush=True)

    @jax.jit
    @jax.value_and_grad
    def loss_and_gradient(values: Any) -> Any:
        return ((hear(WATER * (1 + difference(values))) - heard) ** 2).mean() / scale

    values, mean, size = np.zeros((N, N), np.float32), 0.0, 0.0
    losses, maps = [], []
    for k in range(steps):
        loss, gradient = loss_and_gradient(values)
        losses.append(float(loss))
        mean, size = 0.8 * mean + 0.2 * np.asarray(gradient), 0.95 * size + 0.05 * float((gradient**2).mean())
        # as Adam, with one size for all
        values = values - 0.02 * (mean / (1 - 0.8 ** (k + 1))) / np.sqrt(size / (1 - 0.95 ** (k + 1)))
        if k + 1 in (min(4, steps - 1), steps):
            maps.append((k + 1, np.asarray(difference(values))))
        if k % 4 == 0 or k == steps - 1:
            print(f"step {k + 1:2}: loss {losses[-1]:.4f}", flush=True)
    error = float(np.abs(maps[-1][1] - truth).mean() / np.abs(truth).mean())
    print(f"the map is right to {error:.1%}")
    path = Path(folder) / "waves.png"
    draw(truth, maps, losses, path)
    print(path)
    return losses, error


if __name__ == "__main__":
    run(*sys.argv[1:2])
