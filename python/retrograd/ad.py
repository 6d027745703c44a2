"""Gradients through many launches, forward mode, and functions with gradients of their own.

`Tape` records the launches of a block and reverses them; `FwdMode` has the launches of a block compute tangents. The derivatives of one launch
are methods of the kernel: `grad`, `forward_grad`, `jvp`, `hvp`, `grad_scalars`.
"""

from ._lang.ad_forward import FwdMode
from ._lang.ad_replaced import checkpoint, grad_for, grad_replaced, no_grad
from ._lang.ad_tape import Tape, clear_all_gradients

__all__ = ["FwdMode", "Tape", "checkpoint", "clear_all_gradients", "grad_for", "grad_replaced", "no_grad"]
