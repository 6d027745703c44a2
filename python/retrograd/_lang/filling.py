"""What `x.fill(value)` is in a kernel."""

from __future__ import annotations

from typing import Any

from .func import func
from .iteration import grouped


@func
def fill_array(x: Any, value: Any) -> None:
    """Set all elements of a field or an ndarray."""
    for i in grouped(x):
        x[i] = value
