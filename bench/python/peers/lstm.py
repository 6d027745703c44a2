"""An LSTM over a batch of sequences. SPDX-License-Identifier: Apache-2.0"""

import jax
import numpy as np
import torch

from . import Data

TITLE, BLOCK, TOLERANCE = "LSTM", 8, 1e-3
SIZES = {"cpu": dict(length=64, batch=32, inputs=128, hidden=128), "cuda": dict(length=128, batch=32, inputs=128, hidden=128)}


def data(scale, length, batch, inputs, hidden):
    length = max(2, int(length * scale))
    random = np.random.default_rng(5)

    def normal(*shape):
        return random.normal(size=shape).astype(np.float32)

    return Data(dict(w=normal(inputs, 4, hidden) / inputs**0.5, u=normal(hidden, 4, hidden) / hidden**0.5, bias=normal(4, hidden)),
                dict(x=normal(length, batch, inputs), target=normal(batch, hidden)), dict(length=length))


def items(xp, d):
    """What the inputs add to the gates, of all steps in one product."""
    return d.x @ d.w.reshape(d.w.shape[0], -1) + d.bias.reshape(-1)


def start(xp, d):
    zeros = xp.zeros_like(d.target)
    return zeros, zeros


def step(xp, state, d, item):
    h, c = state
    hidden = h.shape[1]
    sigmoid = torch.sigmoid if xp is torch else jax.nn.sigmoid
    gates = item + h @ d.u.reshape(hidden, -1)
    i, f, g, o = (gates[:, k * hidden:(k + 1) * hidden] for k in range(4))
    c = sigmoid(f) * c + sigmoid(i) * xp.tanh(g)
    return sigmoid(o) * xp.tanh(c), c


def finish(xp, state, d):
    return xp.mean((state[0] - d.target) ** 2)


def further():
    """PyTorch's own LSTM (cuDNN's on a GPU), which has gates in the same order and weights transposed; the same kernel in other loops."""
    def loss(d):
        def rows(a):
            return a.reshape(-1, a.shape[-1] * 4).T

        zeros = torch.zeros_like(d.target)[None]
        bias = d.bias.reshape(-1)
        weights = [rows(d.w).contiguous(), rows(d.u).contiguous(), bias, torch.zeros_like(bias)]
        _, h, _ = torch.lstm(d.x, (zeros, zeros), weights, True, 1, 0.0, True, False, False)
        return ((h[0] - d.target) ** 2).mean()

    return [("torch.lstm", "torch", dict(function=loss), TOLERANCE),
            ("Retrograd, unit by unit", "retrograd", dict(kernel="lstm_units"), TOLERANCE)]
