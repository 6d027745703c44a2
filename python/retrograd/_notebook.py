"""`%%retrograd` makes a cell of C a module."""

from __future__ import annotations

from typing import Any

from . import _core
from ._modules import compile_c


def load_ipython_extension(ipython: Any) -> None:
    """Called by `%load_ext retrograd`: adds the cell magic `%%retrograd [NAME]`.

    The cell's kernels become variables of the notebook; with NAME the module does. All of them are compiled, so what is wrong with the C is
    said under its cell, in the compiler's words alone.
    """

    def cell(line: str, text: str) -> None:
        name = line.strip()
        try:
            if name and not name.isidentifier():
                raise ValueError(f"%%retrograd takes one name for the module, or none, not '{name}'")
            module = compile_c(text, name="<cell>")
            kernels = {kernel: module[kernel] for kernel in module.kernels}
        except (_core.CompileError, ValueError) as failure:
            _hide_traceback(failure)
            raise
        ipython.push({name: module} if name else kernels)

    ipython.register_magic_function(cell, magic_kind="cell", magic_name="retrograd")


def _hide_traceback(failure: Any) -> None:
    lines = str(failure).splitlines()
    failure._render_traceback_ = lambda: lines  # what IPython shows instead
