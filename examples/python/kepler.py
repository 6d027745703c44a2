"""Orbits from directions alone: asteroids, comets and the mass of a star, fitted through an adaptive integrator.

    python examples/python/kepler.py [FOLDER]

An observer on a planet measures in which directions seven bodies are seen, 60 times in six years, with noise. Unknown are the
bodies' places and velocities, and the mass of the star. The kernel integrates each orbit with steps whose number and lengths the
orbit decides (`while` in kepler.c), and Gauss-Newton steps go through its derivatives. FOLDER/kepler.png shows the first guess
and what was found.
SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import pictures as pic
import retrograd as rg

kernels = rg.load(Path(__file__).with_suffix(".c"))

SUN = 4 * np.pi**2  # mass times the constant of gravity, for lengths in units of the planet's distance and times in years
NOISE = 1e-3  # of a direction, in radians
YEARS, TIMES = 6.0, 60
TINTS = [pic.ROSE, pic.TEAL, pic.AMBER, pic.LILAC, pic.BLUE, pic.LEAF, pic.PINK]


def state(axis: float, eccentricity: float, turn: float, anomaly: float) -> np.ndarray:
    """Place and velocity of a body on an ellipse."""
    width = axis * (1 - eccentricity**2)
    radius, speed = width / (1 + eccentricity * np.cos(anomaly)), np.sqrt(SUN / width)
    to = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    c, s = np.cos(anomaly), np.sin(anomaly)
    return np.concatenate([to @ [radius * c, radius * s], to @ [-speed * s, speed * (eccentricity + c)]])


TRUE = np.array([state(1.52, 0.09, 0.5, 0.0), state(2.2, 0.25, 2.0, 1.5), state(2.77, 0.08, 4.0, 3.0), state(2.5, 0.88, 1.0, 3.6),
                 state(3.1, 0.45, 5.2, 4.0), state(1.9, 0.55, 3.3, 2.2), state(3.3, 0.15, 0.3, 5.0)])


class Sky:
    """What was measured: moments, the observer's places, and the directions in which the bodies were seen."""

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self.when = (np.arange(TIMES) + rng.uniform(0, 1, TIMES)) * (YEARS / TIMES)
        self.observer = np.stack([np.cos(2 * np.pi * self.when), np.sin(2 * np.pi * self.when)], axis=1)
        away = _paths(SUN, TRUE, self.when) - self.observer
        angle = np.arctan2(away[..., 1], away[..., 0]) + NOISE * rng.standard_normal(away.shape[:2])
        self.seen = np.stack([np.cos(angle), np.sin(angle)], axis=-1)
        self.steps = np.zeros((len(TRUE), 2), np.int32)

    def arguments(self, mass: float, start: np.ndarray, times: int) -> tuple:
        """Of the kernel `compare`, for the first observations."""
        difference = np.zeros((len(start), times))
        return mass, NOISE, start, self.when[:times], self.observer[:times], self.seen[:, :times], difference, self.steps

    def differences(self, mass: float, start: np.ndarray, times: int) -> np.ndarray:
        arguments = self.arguments(mass, start, times)
        kernels.compare(*arguments)
        return arguments[-2]

    def jacobian(self, mass: float, start: np.ndarray, times: int) -> np.ndarray:
        """Of the differences with respect to the mass and all starts. A body's differences depend on its own start alone, so that
        five columns hold all of it: one for the mass, and one for each component of the starts, of all bodies at once."""
        bodies = len(start)
        tangents = {"mass": np.eye(5)[0], "start": np.repeat(np.eye(5)[:, 1:, None], bodies, axis=2).transpose(0, 2, 1).copy()}
        columns = kernels.compare.jvp(*self.arguments(mass, start, times), tangents=tangents)["difference"]
        dense = np.zeros((bodies, times, 1 + 4 * bodies))
        dense[:, :, 0] = columns[0]
        for b in range(bodies):
            dense[b, :, 1 + 4 * b:5 + 4 * b] = columns[1:, b].T
        return dense.reshape(bodies * times, -1)


def guess(sky: Sky, mass: float) -> np.ndarray:
    """Circular orbits: each body in the direction in which it was first seen, 2.5 from the star."""
    place, seen = sky.observer[0], sky.seen[:, 0]
    behind = seen @ place
    away = np.sqrt(behind**2 - 1 + 2.5**2) - behind
    at = place + away[:, None] * seen
    return np.concatenate([at, np.sqrt(mass / 2.5**3) * np.stack([-at[:, 1], at[:, 0]], axis=1)], axis=1)


def fit(sky: Sky, mass: float, start: np.ndarray, times: int, most: int = 12) -> tuple[float, np.ndarray, int]:
    """Gauss-Newton steps, damped as Levenberg and Marquardt do, on the first observations. Returns how many steps were taken."""
    damping, left = 1e-3, sky.differences(mass, start, times)
    for taken in range(most):
        rows = sky.jacobian(mass, start, times)
        square, slope, before = rows.T @ rows, rows.T @ left.ravel(), (left**2).mean()
        while damping < 1e9:
            change = np.linalg.solve(square + damping * np.diag(square.diagonal()), -slope)
            new = mass + change[0], start + change[1:].reshape(start.shape)
            if new[0] > 0:
                left = sky.differences(*new, times)
                if (left**2).mean() < before:
                    break
            damping *= 8
        else:
            return mass, start, taken
        (mass, start), damping = new, damping / 6
        if (left**2).mean() > 0.999 * before:
            break
    return mass, start, taken + 1


def draw(sky: Sky, orbits: list[tuple[float, np.ndarray]], errors: list[float], path: Path) -> None:
    """The guess and the result side by side."""
    side, scale, years = 420, 47.0, np.linspace(0, 9, 1500)
    picture = pic.Picture(2 * side + 72, side + 88)
    true = [_turn(p) for p in _paths(SUN, TRUE, years)]
    for k, (mass, start) in enumerate(orbits):
        x0, y0 = 20 + k * (side + 32), 48
        picture.box(x0, y0, side, side)

        def place(at: np.ndarray) -> np.ndarray:
            return np.stack([x0 + side / 2 - 8 + scale * at[..., 0], y0 + side / 2 + 6 - scale * at[..., 1]], axis=-1)

        star = place(np.zeros(2))
        picture.ring(*star, scale, pic.DIM, 1)
        ends, count = np.zeros((len(TRUE), 2000, 2)), np.zeros(len(TRUE), np.int32)
        kernels.footprints(mass, years[-1], start, ends, count)
        found = [_turn(p) for p in _paths(mass, start, years)]
        for b, tint in enumerate(TINTS):
            picture.lines(place(np.stack([sky.observer, sky.observer + 0.28 * sky.seen[b]], axis=1)), tint, 1, 0.55)
            picture.dashes(place(true[b]), pic.GREY, 1, 0.9 if k == 0 else 0.3, 4, 6)
        for b, tint in enumerate(TINTS):
            picture.line(place(found[b]), tint, 1.2, 0.7)
            for x, y in place(_turn(ends[b, :count[b]])[:-1]):
                picture.disc(x, y, 2, tint)
            picture.disc(*place(start[b, :2]), 5, tint)
        picture.glow(*star, 26)
        picture.disc(*star, 6, pic.AMBER)
        picture.text(x0, 34, ["First guess", "Found"][k], pic.WHITE, 13, bold=True)
        picture.text(x0 + side, 34, f"star {mass / SUN:.4f}   error {errors[k]:.2g}", pic.GREY, 9.5, align=1)
    y = side + 73
    picture.dashes([(20, y - 4), (50, y - 4)], pic.GREY, 1, 1, 4, 6)
    picture.text(56, y, "true orbits", pic.GREY, 9)
    for x in (156, 165, 177):
        picture.disc(x, y - 4, 2, pic.ROSE)
    picture.text(186, y, "ends of the integrator's steps", pic.GREY, 9)
    picture.line([(420, y), (431, y - 8)], pic.TEAL, 1)
    picture.text(438, y, "directions seen from the planet", pic.GREY, 9)
    picture.text(2 * side + 52, y, "error 1 is the noise", pic.GREY, 9, align=1)
    pic.save_png(path, picture)


def _paths(mass: float, start: np.ndarray, when: np.ndarray) -> np.ndarray:
    path = np.zeros((len(start), len(when), 2))
    kernels.follow(mass, start, when, path)
    return path


def _turn(path: np.ndarray) -> np.ndarray:
    """The first turn around the star."""
    angle = np.unwrap(np.arctan2(path[:, 1], path[:, 0]))
    return path[:np.searchsorted(np.abs(angle - angle[0]), 2 * np.pi) + 1]


def run(folder: str | Path = "out", seed: int = 3) -> list[float]:
    """Returns the errors at the start and after each round: mean squares, in units of the noise."""
    sky = Sky(seed)
    mass = 1.3 * SUN
    start = guess(sky, mass)
    orbits = [(mass, start)]
    errors = [float((sky.differences(mass, start, TIMES)**2).mean())]
    print(f"guess: star {mass / SUN:.2f}, error {errors[0]:.3g}")
    for times in (6, 8, 10, 14, 20, 30, 40, TIMES):  # as astronomers do: a short arc first, then longer ones
        mass, start, taken = fit(sky, mass, start, times)
        errors.append(float((sky.differences(mass, start, TIMES)**2).mean()))
        print(f"{times:3} observations of each: {taken:2} Gauss-Newton steps, star {mass / SUN:.4f}, error of all {errors[-1]:.3g}")
    print(f"integrator: {sky.steps[:, 0].sum()} steps, {sky.steps[:, 1].sum()} of them tried again; "
          f"places at the start are right to {np.abs(start - TRUE)[:, :2].max():.1e}")
    path = Path(folder) / "kepler.png"
    draw(sky, [*orbits, (mass, start)], [errors[0], errors[-1]], path)
    print(path)
    return errors


if __name__ == "__main__":
    run(*sys.argv[1:2])
