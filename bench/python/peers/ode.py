"""Van der Pol oscillators by an embedded Runge-Kutta pair. SPDX-License-Identifier: Apache-2.0"""

import numpy as np

from . import Data

TITLE, BLOCK, TOLERANCE = "adaptive ODE", 4, 2e-4
SIZES = {"cpu": dict(n=8192), "cuda": dict(n=65536)}


def data(scale, n):
    n = max(2, int(n * scale))
    random = np.random.default_rng(2)
    mu = np.exp(random.uniform(np.log(0.1), np.log(5), n)).astype(np.float32)
    return Data(dict(mu=mu, start=random.uniform(-2, 2, (2, n)).astype(np.float32)))


def force(mu, x, y):
    return mu * (1 - x * x) * y - x


def start(xp, d):
    t = xp.zeros_like(d.mu)
    return (*d.start, t, t + 0.05)


def alive(state, d):
    return state[2] < 10


def step(xp, state, d, item):
    x, y, t, following = state
    h = xp.minimum(following, 10 - t)
    k1, l1 = y, force(d.mu, x, y)
    k2 = y + 0.5 * h * l1
    l2 = force(d.mu, x + 0.5 * h * k1, k2)
    k3 = y + 0.75 * h * l2
    l3 = force(d.mu, x + 0.75 * h * k2, k3)
    x_new = x + h * (2 / 9 * k1 + 1 / 3 * k2 + 4 / 9 * k3)
    y_new = y + h * (2 / 9 * l1 + 1 / 3 * l2 + 4 / 9 * l3)
    l4 = force(d.mu, x_new, y_new)
    ex = h * (-5 / 72 * k1 + 1 / 12 * k2 + 1 / 9 * k3 - 0.125 * y_new)
    ey = h * (-5 / 72 * l1 + 1 / 12 * l2 + 1 / 9 * l3 - 0.125 * l4)
    sx, sy = ex / (1e-4 + 1e-4 * xp.abs(x)), ey / (1e-4 + 1e-4 * xp.abs(y))
    error = 0.5 * (sx * sx + sy * sy)
    accept = error <= 1
    following = xp.where(error > 1, 0.5 * h, xp.where(error < 0.01, 2 * h, h))
    return xp.where(accept, x_new, x), xp.where(accept, y_new, y), xp.where(accept, t + h, t), following


def finish(xp, state, d):
    x, y, _, _ = state
    return xp.mean(x * x + y * y)


def further():
    """Solvers of libraries, the same pair and tolerances. They size steps by rules of their own; torchdiffeq's are those of the element
    with the largest error."""
    found = []
    try:
        import diffrax
        import jax
        import jax.numpy as jnp

        def solve(mu, at):
            term = diffrax.ODETerm(lambda t, s, mu: jnp.stack([s[1], force(mu, s[0], s[1])]))
            control = diffrax.PIDController(rtol=1e-4, atol=1e-4)
            solution = diffrax.diffeqsolve(term, diffrax.Bosh3(), 0, 10, 0.05, at, args=mu, max_steps=1024, stepsize_controller=control)
            return jnp.sum(solution.ys[-1] ** 2)

        def mean(d):
            return jnp.mean(jax.vmap(solve, (0, 1))(d.mu, d.start))

        found.append(("diffrax", "jax", dict(function=mean), 0.1))
    except ImportError:
        pass
    try:
        import torch
        import torchdiffeq

        def worst(error):
            return error.square().mean(0).max().sqrt()

        def loss(d):
            def slope(t, s):
                return torch.stack([s[1], force(d.mu, s[0], s[1])])

            times = torch.tensor([0.0, 10.0], device=d.mu.device)
            ends = torchdiffeq.odeint(slope, d.start, times, method="bosh3", rtol=1e-4, atol=1e-4, options=dict(norm=worst))
            return (ends[-1] ** 2).sum(0).mean()

        found.append(("torchdiffeq", "torch", dict(function=loss), 0.1))
    except ImportError:
        pass
    return found
