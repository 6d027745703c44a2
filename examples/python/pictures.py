"""Pictures for the examples: drawing with smooth edges, PNG files and animations. NumPy and zlib are enough.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import struct
import zlib
from pathlib import Path
from typing import Any, Sequence

import numpy as np

from letters import strokes

NIGHT, PANEL, DIM, GREY, WHITE = (15, 19, 28), (24, 30, 43), (62, 72, 94), (140, 151, 173), (226, 231, 240)
AMBER, TEAL, ROSE, BLUE = (255, 190, 92), (84, 214, 200), (255, 110, 134), (104, 164, 255)
LILAC, LEAF, PINK = (190, 150, 255), (160, 214, 104), (255, 150, 200)
Colour = Sequence[float]


class Picture:
    """Pixels that shapes are drawn on, in order. Coordinates are pixels, from the upper left corner."""

    def __init__(self, width: int, height: int, colour: Colour = NIGHT) -> None:
        self.pixels = np.empty((height, width, 3), np.float32)
        self.pixels[:] = colour

    def copy(self) -> "Picture":
        made = Picture.__new__(Picture)
        made.pixels = self.pixels.copy()
        return made

    def bytes(self) -> np.ndarray:
        return np.clip(self.pixels + 0.5, 0, 255).astype(np.uint8)

    def box(self, x: float, y: float, width: float, height: float, colour: Colour = PANEL, alpha: float = 1) -> None:
        """A filled rectangle."""
        part = self.pixels[int(y):int(y + height), int(x):int(x + width)]
        part += alpha * (np.asarray(colour, np.float32) - part)

    def image(self, x: int, y: int, pixels: np.ndarray) -> None:
        """Pixels, of colours between 0 and 255."""
        self.pixels[y:y + pixels.shape[0], x:x + pixels.shape[1]] = pixels

    def lines(self, many: Sequence[Any], colour: Colour = WHITE, width: float = 1.5, alpha: float = 1) -> None:
        """Lines through points, as one shape: where they cross they are not thicker."""
        paths = [np.asarray(points, float) for points in many]
        ends = np.concatenate([np.empty((0, 2, 2)), *(np.stack([path[:-1], path[1:]], axis=1) for path in paths)])
        size = np.array(self.pixels.shape[1::-1])
        low, high = (np.clip(v, 0, size).astype(int) for v in (ends.min(axis=1) - width / 2 - 1, ends.max(axis=1) + width / 2 + 2))
        left, top = low.min(axis=0, initial=size.max())
        right, bottom = high.max(axis=0, initial=0)
        if left >= right or top >= bottom:
            return
        cover = np.zeros((bottom - top, right - left), np.float32)
        for (a, b), (x0, y0), (x1, y1) in zip(ends, low, high):
            x, y, along = np.arange(x0, x1) + 0.5 - a[0], (np.arange(y0, y1) + 0.5 - a[1])[:, None], b - a
            t = np.clip((x * along[0] + y * along[1]) / max(along @ along, 1e-12), 0, 1)
            away = np.hypot(x - t * along[0], y - t * along[1])
            part = cover[y0 - top:y1 - top, x0 - left:x1 - left]
            np.maximum(part, np.clip(width / 2 + 0.5 - away, 0, min(width, 1)), out=part)
        self._blend(cover, colour, alpha, self.pixels[top:bottom, left:right])

    def line(self, points: Any, colour: Colour = WHITE, width: float = 1.5, alpha: float = 1) -> None:
        self.lines([points], colour, width, alpha)

    def dashes(self, points: Any, colour: Colour = GREY, width: float = 1.5, alpha: float = 1, on: float = 5,
               off: float = 5) -> None:
        """A dashed line."""
        points = np.asarray(points, float)
        length = np.concatenate([[0], np.cumsum(np.hypot(*np.diff(points, axis=0).T))])
        at = np.arange(0, length[-1], on + off)[:, None] + np.linspace(0, on, 4)
        self.lines(np.stack([np.interp(at, length, points[:, k]) for k in (0, 1)], axis=-1), colour, width, alpha)

    def disc(self, x: float, y: float, radius: float, colour: Colour = WHITE, alpha: float = 1) -> None:
        self._round(x, y, radius, lambda away: radius + 0.5 - away, colour, alpha)

    def ring(self, x: float, y: float, radius: float, colour: Colour = WHITE, width: float = 1.5, alpha: float = 1) -> None:
        self._round(x, y, radius + width, lambda away: width / 2 + 0.5 - np.abs(away - radius), colour, alpha)

    def glow(self, x: float, y: float, radius: float, colour: Colour = AMBER, alpha: float = 0.6) -> None:
        """A disc that fades."""
        self._round(x, y, radius, lambda away: np.clip(1 - away / radius, 0, 1) ** 2, colour, alpha)

    def text(self, x: float, y: float, words: str, colour: Colour = WHITE, size: float = 11, align: float = 0,
             bold: bool = False) -> None:
        """Words on a base line at y; x is their left end, or with align=1 the right one, with 0.5 the middle."""
        lines, width = strokes(words, size)
        self.lines([line + [x - align * width, y] for line in lines], colour, size * (0.2 if bold else 0.13))

    def _round(self, x: float, y: float, radius: float, cover: Any, colour: Colour, alpha: float) -> None:
        height, across = self.pixels.shape[:2]
        x0, x1 = np.clip([x - radius - 1, x + radius + 2], 0, across).astype(int)
        y0, y1 = np.clip([y - radius - 1, y + radius + 2], 0, height).astype(int)
        away = np.hypot(np.arange(x0, x1) + 0.5 - x, (np.arange(y0, y1) + 0.5 - y)[:, None])
        self._blend(np.clip(cover(away), 0, 1), colour, alpha, self.pixels[y0:y1, x0:x1])

    @staticmethod
    def _blend(cover: np.ndarray, colour: Colour, alpha: float, part: np.ndarray) -> None:
        part += (alpha * cover)[..., None].astype(np.float32) * (np.asarray(colour, np.float32) - part)


def curve(picture: Picture, box: Sequence[float], values: Sequence[float], title: str, colour: Colour = AMBER) -> None:
    """A graph of positive values over their number, on a logarithmic scale: x, y, width and height of the box it fills."""
    x, y, width, height = box
    values = np.maximum(np.asarray(values, float), 1e-300)
    low, high = np.floor(np.log10(values.min())), np.ceil(np.log10(values.max()) + 1e-9)
    picture.box(x, y, width, height)
    picture.text(x + 10, y + 20, title, WHITE, 10)
    top, bottom = y + 34, y + height - 12
    for power in range(int(low), int(high) + 1, max(1, round((high - low) / 4))):
        level = bottom - (bottom - top) * (power - low) / max(high - low, 1)
        picture.line([(x + 46, level), (x + width - 10, level)], DIM, 1, 0.6)
        picture.text(x + 40, level + 3.5, f"{10.0 ** power:g}", GREY, 7.5, align=1)
    at = np.linspace(x + 46, x + width - 12, len(values))
    picture.line(np.stack([at, bottom - (bottom - top) * (np.log10(values) - low) / max(high - low, 1)], axis=1), colour, 2)
    picture.disc(at[-1], bottom - (bottom - top) * (np.log10(values[-1]) - low) / max(high - low, 1), 3.5, colour)


def colours(values: np.ndarray, stops: Sequence[Colour]) -> np.ndarray:
    """Colours for values between 0 and 1: from the first stop to the last."""
    at = np.clip(values, 0, 1) * (len(stops) - 1)
    return np.stack([np.interp(at, range(len(stops)), [stop[k] for stop in stops]) for k in range(3)], axis=-1)


def enlarge(pixels: np.ndarray, times: int) -> np.ndarray:
    """Each pixel as a square of several."""
    return pixels.repeat(times, axis=0).repeat(times, axis=1)


# -- files: https://www.w3.org/TR/png-3 ---------------------------------------------------------------------------------------


def save_png(path: str | Path, pixels: np.ndarray | Picture) -> Path:
    """A picture, as bytes [height][width][3] or as a Picture."""
    pixels = pixels.bytes() if isinstance(pixels, Picture) else pixels
    height, width, _ = pixels.shape
    rows = pixels.astype(np.int16)
    left, up = np.pad(rows, ((0, 0), (1, 0), (0, 0)))[:, :-1], np.pad(rows, ((1, 0), (0, 0), (0, 0)))[:-1]
    filters = np.stack([rows, rows - left, rows - up, rows - (left + up) // 2]).astype(np.uint8)
    cost = np.abs(filters.astype(np.int8).astype(np.int16)).sum(axis=(2, 3))  # of each row the filter that leaves the least
    best = cost.argmin(axis=0)
    chosen = filters[best, np.arange(height)].reshape(height, -1)
    data = zlib.compress(np.concatenate([best[:, None].astype(np.uint8), chosen], axis=1).tobytes(), 9)
    return _write(path, [(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)), (b"IDAT", data)])


def save_animation(path: str | Path, frames: Sequence[Any], seconds: float, rest: float = 2) -> Path:
    """An animated PNG of at most 255 colours, repeated for ever; its last frame rests. A frame holds what has changed."""
    pictures = [frame.bytes() if isinstance(frame, Picture) else frame for frame in frames]
    height, width, _ = pictures[0].shape
    palette, lookup = _palette(sum(np.bincount(_bucket(picture).ravel(), minlength=1 << 18) for picture in pictures))
    chunks = [(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)), (b"acTL", struct.pack(">II", len(pictures), 0)),
              (b"PLTE", palette.tobytes()), (b"tRNS", b"\xff" * (len(palette) - 1) + b"\0")]
    shown, number = None, 0
    for k, picture in enumerate(pictures):
        index = lookup[_bucket(picture)]
        differs = np.ones_like(index, bool) if shown is None else index != shown
        y, x = (np.flatnonzero(differs.any(axis=axis)) for axis in (1, 0))
        y0, y1, x0, x1 = (y[0], y[-1] + 1, x[0], x[-1] + 1) if len(y) else (0, 1, 0, 1)
        part = np.where(differs, index, len(palette) - 1)[y0:y1, x0:x1].astype(np.uint8)
        data = zlib.compress(np.pad(part, ((0, 0), (1, 0))).tobytes(), 9)
        delay = int(1000 * (rest if k == len(pictures) - 1 else seconds))
        chunks.append((b"fcTL", struct.pack(">IIIIIHHBB", number, x1 - x0, y1 - y0, x0, y0, delay, 1000, 0, k > 0)))
        chunks.append((b"IDAT", data) if k == 0 else (b"fdAT", struct.pack(">I", number + 1) + data))
        number += 1 + (k > 0)
        shown = index
    return _write(path, chunks)


def _write(path: str | Path, chunks: Sequence[tuple[bytes, bytes]]) -> Path:
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n")
        for kind, data in [*chunks, (b"IEND", b"")]:
            file.write(struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)))
    return path


def _bucket(pixels: np.ndarray) -> np.ndarray:
    """The number of a colour, six bits of each component."""
    p = pixels.astype(np.int32) >> 2
    return p[..., 0] << 12 | p[..., 1] << 6 | p[..., 2]


def _palette(count: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For the pixels in each bucket at most 255 colours, by median cut, and a last one for "as before"; each bucket's colour."""
    used = np.flatnonzero(count)
    values = np.stack([used >> 12, used >> 6 & 63, used & 63], axis=1) * 4.0 + 2
    weight = np.sqrt(count[used])
    boxes = [np.arange(len(used))]

    def spread(box: np.ndarray) -> float:
        return float((np.ptp(values[box], axis=0) ** 2).max() * weight[box].sum()) if len(box) > 1 else 0.0

    spreads = [spread(boxes[0])]
    while len(boxes) < 255 and max(spreads) > 0:
        k = int(np.argmax(spreads))
        box = boxes[k]
        order = box[np.argsort(values[box][:, np.ptp(values[box], axis=0).argmax()], kind="stable")]
        middle = int(np.clip(np.searchsorted(np.cumsum(weight[order]), weight[order].sum() / 2), 1, len(order) - 1))
        boxes[k:k + 1] = [order[:middle], order[middle:]]
        spreads[k:k + 1] = [spread(order[:middle]), spread(order[middle:])]
    palette = np.array([np.average(values[box], axis=0, weights=weight[box]) for box in boxes])
    lookup = np.zeros(len(count), np.int32)
    lookup[used] = ((values[:, None] - palette) ** 2).sum(axis=2).argmin(axis=1)
    return np.concatenate([np.round(palette), [[0, 0, 0]]]).astype(np.uint8), lookup
