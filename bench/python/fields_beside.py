"""Programs with fields beside Quadrants: python fields_beside.py [--quadrants PYTHON] [--device cpu|cuda] [--scale S] [--only NAME]...

PYTHON is an interpreter that has Quadrants (by default this one). Each system runs in a process of its own; the processes take turns, and the least
time of each counts. Quadrants refuses to differentiate `while` and `break`: there it gets the bounded text of the program, and Retrograd is timed with both.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import subprocess
import sys
import time
from typing import Any

import numpy as np

PROGRAMS = [("MPM, particles to grid", "mpm", "p2g"), ("MPM, grid", "mpm", "grid_op"), ("MPM, grid to particles", "mpm", "g2p"),
            ("n-body", "nbody", "make"), ("LSTM", "lstm", "make"), ("ragged recurrence", "ragged", "make"), ("billiards", "billiards", "make"),
            ("sphere tracing", "spheres", "make")]


def serve(system: str, device: str, scale: float) -> None:
    """Answers lines `module function` / `forward N` / `gradient N`."""
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what systems print
    ti: Any = importlib.import_module(system)
    program: Any = None
    for line in sys.stdin:
        words = line.split()
        answer: Any = None
        try:
            if words[0] == "version":
                answer = ".".join(map(str, ti.__version__)) if isinstance(ti.__version__, tuple) else str(ti.__version__)
            elif words[0] == "program":
                options = {"offline_cache": False}
                if system == "quadrants":
                    options.update(ad_stack_experimental_enabled=True)
                ti.init(arch=getattr(ti, device), **options)
                program = getattr(importlib.import_module(f"fields.{words[1]}"), words[2])(ti, scale)
                ti.sync()
                start = time.perf_counter()
                program.gradient()
                ti.sync()
                answer = {"first": time.perf_counter() - start, "gradient": [f.grad.to_numpy().astype(float).ravel().tolist() for f in program.inputs],
                          "value": float(program.seed[None])}
            else:
                run = getattr(program, words[0])
                times = []
                for _ in range(int(words[1])):
                    start = time.perf_counter()
                    run()
                    ti.sync()
                    times.append(time.perf_counter() - start)
                answer = min(times)
        except Exception as error:  # noqa: BLE001: what a system refuses is part of the table
            answer = {"error": f"{type(error).__name__}: {str(error).strip().splitlines()[-1] if str(error).strip() else ''}"}
        print(json.dumps(answer), file=out, flush=True)


class System:
    """A process that serves."""

    def __init__(self, python: str, system: str, device: str, scale: float) -> None:
        environment = dict(os.environ, QD_OFFLINE_CACHE="0", RG_CACHE="off")
        self.process = subprocess.Popen([python, os.path.abspath(__file__), "--serve", system, "--device", device, "--scale", str(scale)],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment)

    def ask(self, line: str) -> Any:
        """An answer."""
        assert self.process.stdin and self.process.stdout
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        return json.loads(answer) if answer else {"error": "the process has ended"}


def failed(answer: Any) -> bool:
    """Whether a system said why it cannot."""
    return isinstance(answer, dict) and "error" in answer


def distance(a: Any, b: Any) -> float:
    """Of two gradients, relative, by norm; the largest of all arrays."""
    return max(float(np.linalg.norm(np.subtract(x, y)) / max(np.linalg.norm(y), 1e-30)) for x, y in zip(a, b))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quadrants", default=sys.executable)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--only", action="append")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--serve", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.serve:
        serve(given.serve, given.device, given.scale)
        return
    ours, peer = System(sys.executable, "retrograd", given.device, given.scale), System(given.quadrants, "quadrants", given.device, given.scale)
    print(f"Retrograd {ours.ask('version')}, Quadrants {peer.ask('version')}, {given.device}")
    print("| program | forward, of Quadrants | gradient, of Quadrants | with `while` | first call, of Quadrants | difference |\n|---|---:|---:|---:|---:|---:|")
    ratios = []
    for name, module, function in PROGRAMS:
        if given.only and not any(o in name for o in given.only):
            continue
        text = importlib.import_module(f"fields.{module}")
        bounded = "bounded" if hasattr(text, "bounded") else function
        mine, theirs = ours.ask(f"program {module} {bounded}"), peer.ask(f"program {module} {bounded}")
        if failed(mine) or failed(theirs):
            print(f"| {name} | Retrograd: {mine.get('error', 'right')} | Quadrants: {theirs.get('error', 'right')} | | | |", flush=True)
            continue
        best: dict[str, list[float]] = {"forward": [], "gradient": []}
        for what in best:
            times = [[ours.ask(f"{what} 3"), peer.ask(f"{what} 3")] for _ in range(given.rounds)]
            best[what] = [min(t[k] for t in times) for k in range(2)]
        loops = ""
        if bounded != function:
            ours.ask(f"program {module} {function}")
            free = min(ours.ask("gradient 3") for _ in range(given.rounds))
            loops = f"{free / best['gradient'][1]:.2f}"
        ratios.append(best["gradient"][0] / best["gradient"][1])
        print(f"| {name} | {best['forward'][0] / best['forward'][1]:.2f} | {ratios[-1]:.2f} | {loops} | {mine['first'] / theirs['first']:.2f} | "
              f"{distance(mine['gradient'], theirs['gradient']):.0e} |", flush=True)
    if ratios:
        print(f"geometric mean of the gradients' ratios: {float(np.exp(np.mean(np.log(ratios)))):.2f}")


if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    main()
