"""Adam, as a class whose methods are kernels, for fields of numbers or vectors.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import retrograd as rg


@rg.data_oriented
class Adam:
    """Kingma and Ba (2015), for a field with adjoints."""

    def __init__(self, values: rg.Field, second: float = 0.99) -> None:
        element = rg.types.vector(values.n, values.dtype) if values.element_shape else values.dtype
        self.values, self.second, self.steps = values, second, 0
        self.mean, self.square = rg.field(element, values.shape), rg.field(element, values.shape)

    def step(self, rate: float) -> None:
        self.steps += 1
        self.move(rate / (1 - 0.9**self.steps), 1 / (1 - self.second**self.steps))

    @rg.kernel
    def move(self, rate: float, scale: float):
        for I in rg.grouped(self.values):
            slope = self.values.grad[I]
            self.mean[I] = 0.9 * self.mean[I] + 0.1 * slope
            self.square[I] = self.second * self.square[I] + (1 - self.second) * slope * slope
            self.values[I] -= rate * self.mean[I] / (rg.sqrt(scale * self.square[I]) + 1e-9)
