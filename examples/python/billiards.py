"""A player for a game of billiards: a network trained in PyTorch through a simulator with contacts.

    python examples/python/billiards.py [FOLDER]

The white disc is to push the red one to a place on the table; a grey disc may be in the way, and walls may be used. A network of
torch sees the table and proposes three shots. The simulator is a kernel: `while` something moves it goes on to the next contact,
wherever that is (billiards.c). `rg.torch.function` makes it a function of tensors, so the loss is the distance at which the red
disc stops, and its gradient comes through all contacts. FOLDER/billiards.png is an animation: the same tables before and after.
SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import torch

import pictures as pic
import retrograd as rg

kernels = rg.load(Path(__file__).with_suffix(".c"))
shoot = rg.torch.function(kernels.shoot, outputs=["end", "turns"])

PROPOSALS, RADIUS, CLOSE = 3, 0.07, 0.1  # a shot is a success if the red disc stops so close


def deal(count: int, dice: torch.Generator) -> tuple[torch.Tensor, torch.Tensor]:
    """Places of the white, the red and the grey disc [count][3][2], and where the red one is to stop [count][2]."""
    low = torch.tensor([[-0.8, -0.3], [-0.25, -0.28], [0.25, -0.38], [0.3, -0.38]])
    high = torch.tensor([[-0.6, 0.3], [0.15, 0.28], [0.65, 0.38], [0.88, 0.38]])
    places = low + (high - low) * torch.rand(2 * count, 4, 2, generator=dice)
    free = (places[:, 3] - places[:, 2]).norm(dim=1) > 0.24  # the grey disc does not stand there
    return places[free][:count, :3], places[free][:count, 3]


class Player(torch.nn.Module):
    """Proposes shots: where on the red disc each hits, and how hard."""

    def __init__(self, width: int = 128) -> None:
        super().__init__()
        linear, bend = torch.nn.Linear, torch.nn.SiLU
        self.layers = torch.nn.Sequential(linear(8, width), bend(), linear(width, width), bend(), linear(width, width), bend(),
                                          linear(width, 2 * PROPOSALS))
        self.sides = torch.linspace(-1, 1, PROPOSALS)  # proposals start on the left, in the middle and on the right

    def forward(self, start: torch.Tensor, goal: torch.Tensor) -> torch.Tensor:
        """Velocities of the white disc [count][PROPOSALS][2]."""
        side, force = self.layers(2 * torch.cat([start.flatten(1), goal], dim=1)).view(-1, PROPOSALS, 2).unbind(-1)
        way = start[:, 1] - start[:, 0]
        direction = torch.atan2(way[:, 1], way[:, 0])[:, None]
        angle = direction + torch.asin(0.95 * torch.tanh(side + self.sides) * 2 * RADIUS / way.norm(dim=1)[:, None])
        return (2 + 1.6 * torch.tanh(force))[..., None] * torch.stack([angle.cos(), angle.sin()], dim=-1)


def misses(start: torch.Tensor, goal: torch.Tensor, shots: torch.Tensor) -> torch.Tensor:
    """The squared distance from the goal at which the red disc stops [count][PROPOSALS]."""
    end, _ = shoot(start.repeat_interleave(PROPOSALS, dim=0), shots.flatten(0, 1))
    return (end[:, 1].view(-1, PROPOSALS, 2) - goal[:, None]).square().sum(dim=-1)


def loss_of(squares: torch.Tensor) -> torch.Tensor:
    """Far misses count alike, and the best proposal of a table counts most, so that each finds shots of its own kind."""
    loss = squares / (squares + 0.2**2)
    return (torch.softmax(-20 * loss.detach(), dim=1) * loss).sum(dim=1).mean()


def calm(gradient: torch.Tensor) -> torch.Tensor:
    """Each shot's part of the gradient, at most as long as 2 over their number: what a shot that meets much leads to depends on its
    direction enormously."""
    return gradient / (gradient.norm(dim=-1, keepdim=True) * gradient[..., 0].numel() / 2).clamp(min=1)


@torch.no_grad()
def plan(player: Player, start: torch.Tensor, goal: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The best of the proposed shots, which the simulator tells, and how close it comes."""
    shots = player(start, goal)
    best = misses(start, goal, shots).min(dim=1)
    return shots[torch.arange(len(shots)), best.indices], best.values.sqrt()


class Film:
    """The same tables played by two players: a row for each."""

    WIDE, HIGH, GAP, LEFT, TINTS = 200, 100, 12, 132, (pic.WHITE, pic.ROSE, pic.GREY)

    def __init__(self, names: list[str], rates: list[float], goals: np.ndarray) -> None:
        self.scene = pic.Picture(self.LEFT + len(goals) * (self.WIDE + self.GAP), len(names) * (self.HIGH + self.GAP) + self.GAP)
        for row, (name, rate) in enumerate(zip(names, rates)):
            _, y = self.corner(row, 0)
            self.scene.text(16, y + 42, name, pic.WHITE, 12, bold=True)
            self.scene.text(16, y + 66, f"{rate:.0%} succeed", pic.GREY, 10)
            for k, goal in enumerate(goals):
                x, y = self.corner(row, k)
                self.scene.box(x, y, self.WIDE, self.HIGH, (22, 62, 60))
                right, low = x + self.WIDE, y + self.HIGH
                self.scene.line([(x, y), (right, y), (right, low), (x, low), (x, y)], (104, 82, 62), 4)
                self.scene.ring(*self.place(row, k, goal), CLOSE * self.WIDE / 2, pic.AMBER, 1.5)
                self.scene.disc(*self.place(row, k, goal), 2, pic.AMBER)

    def corner(self, row: int, table: int) -> tuple[int, int]:
        return self.LEFT + table * (self.WIDE + self.GAP), self.GAP + row * (self.HIGH + self.GAP)

    def place(self, row: int, table: int, at: np.ndarray) -> np.ndarray:
        return np.array(self.corner(row, table)) + (at * [1, -1] + [1, 0.5]) * self.WIDE / 2

    def frame(self, paths: list[np.ndarray], successes: list[np.ndarray]) -> pic.Picture:
        """paths: of each player the places until now [table][frame][disc][2]; successes: what is known of each table."""
        picture = self.scene.copy()
        for row, (places, success) in enumerate(zip(paths, successes)):
            for k in range(len(places)):
                path = self.place(row, k, places[k])
                for disc in (0, 1):
                    picture.line(path[:, disc], self.TINTS[disc], 1.2, 0.55)
                for disc, tint in enumerate(self.TINTS):
                    picture.disc(*path[-1, disc], RADIUS * self.WIDE / 2, tint)
                if success[k]:
                    picture.ring(*path[-1, 1], 1.7 * RADIUS * self.WIDE / 2, pic.LEAF, 3)
        return picture


def draw(players: list[Player], rates: list[float], start: torch.Tensor, goal: torch.Tensor, path: Path, frames: int = 48) -> None:
    when = (1 - (1 - np.linspace(0, 1, frames)) ** 2).astype(np.float32)  # discs slow down
    places, successes = np.zeros((2, len(start), frames, 3, 2), np.float32), []
    for player, place in zip(players, places):
        shots, away = plan(player, start, goal)
        kernels.film(when, start, shots, place)
        successes.append((away < CLOSE).numpy())
    film = Film(["untrained", "trained"], rates, goal.numpy())
    shown = [film.frame(list(places[:, :, :f + 1]), [s & (f == frames - 1) for s in successes]) for f in range(frames)]
    pic.save_animation(path, shown, 0.05, rest=3)


def run(folder: str | Path = "out", steps: int = 1000, batch: int = 384, seed: int = 0) -> tuple[list[float], list[float]]:
    """Returns the loss of each step, and the rates of success before and after."""
    torch.manual_seed(seed)
    torch.set_num_threads(1)  # the layers are small
    dice = torch.Generator().manual_seed(seed)
    exam = deal(2000, torch.Generator().manual_seed(seed + 1))
    player, untrained = Player(), Player()
    untrained.load_state_dict(player.state_dict())
    adam = torch.optim.Adam(player.parameters(), 2e-3)
    slower = torch.optim.lr_scheduler.CosineAnnealingLR(adam, steps)
    losses = []

    def rate() -> float:
        return float((plan(player, *exam)[1] < CLOSE).double().mean())

    rates = [rate()]
    print(f"untrained: {rates[0]:.1%} of {len(exam[0])} tables succeed", flush=True)
    for step in range(steps):
        start, goal = deal(batch, dice)
        shots = player(start, goal)
        shots.register_hook(calm)
        loss = loss_of(misses(start, goal, shots))
        adam.zero_grad()
        loss.backward()
        adam.step()
        slower.step()
        losses.append(loss.item())
        if step % 100 == 99 or step == steps - 1:
            print(f"step {step + 1:3}: loss {np.mean(losses[-100:]):.4f}, {rate():.1%} succeed", flush=True)
    rates.append(rate())
    path = Path(folder) / "billiards.png"
    draw([untrained, player], rates, exam[0][4:8], exam[1][4:8], path)
    print(path)
    return losses, rates


if __name__ == "__main__":
    run(*sys.argv[1:2])
