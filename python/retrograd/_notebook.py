"""`%%retrograd` makes a cell of C a module."""

from __future__ import annotations

from typing import Any


def load_ipython_extension(ipython: Any) -> None:
    """Called by `%load_ext retrograd`: adds the cell magic `%%retrograd [NAME]`.

    The cell's kernels become variables of the notebook; with NAME the module does.
    """
    from . import _kernels

    def cell(line: str, text: str) -> None:
        module = _kernels.compile_c(text, name="<cell>")
        name = line.strip()
        ipython.push({name: module} if name else {kernel: getattr(module, kernel) for kernel in module.kernels})

    ipython.register_magic_function(cell, magic_kind="cell", magic_name="retrograd")
