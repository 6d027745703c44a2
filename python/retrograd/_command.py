"""The command rgc, which is in the package's folder."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path
from typing import Any, Sequence

from . import _core


def program() -> Path:
    """Its file."""
    here = Path(__file__).parent
    for found in (here / "rgc", here.parent.parent / "rgc"):
        if found.exists():
            return found
    raise FileNotFoundError("the command rgc is not part of this installation of retrograd")


def explain(made_of: tuple[str, str, dict[str, Any]], kernel: str, words: Sequence[str]) -> str:
    """What `rgc explain` prints for a kernel of a module that was made of a file or a text, and options."""
    text, kind, options = made_of
    flags = [word for name, flag in (("include_paths", "-I"), ("defines", "-D"), ("files", "--with")) for value in options.get(name, ()) for word in (flag, value)]
    flags += [*options.get("options", ()), *(["--no-fma"] if options.get("no_contraction") else [])]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(text)
        if kind != "f":
            path = Path(folder) / ("kernels.c" if kind == "c" else "kernels.rg")
            path.write_text(text, encoding="utf-8")
        done = subprocess.run([program(), "explain", path, kernel, *words, *flags], capture_output=True, encoding="utf-8", errors="replace")
    said = (done.stderr if done.returncode else done.stdout).replace(str(path), text if kind == "f" else options.get("name") or "<string>")
    if done.returncode:
        raise _core.CompileError(said.strip().removeprefix("rgc: error: "))
    return said
