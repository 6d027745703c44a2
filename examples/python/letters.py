"""Letters as strokes, for `pictures`. SPDX-License-Identifier: Apache-2.0

A point is two digits: x, and y with the base line at 2, small letters up to 7 and tall ones up to 9. A stroke is a line through its
points; with ~ in front it is a smooth curve that the points pull at, with @ a smooth closed one.
"""

import numpy as np

STROKES = {
    "a": "@02525707 5752", "b": "0902 @02525707", "c": "~564707024253", "d": "@02525707 5952", "e": "0555 ~555707024253",
    "f": "~39191612 0737", "g": "@02525707 ~57501001", "h": "0902 ~04074742", "i": "0702 0909", "j": "~171000 1919",
    "k": "0902 4704 1542", "l": "0902", "m": "0702 ~04073732 ~34376762", "n": "0702 ~04074742", "o": "@02525707",
    "p": "0700 @02525707", "q": "@02525707 5750", "r": "0702 ~040737", "s": "~4647070544420203", "t": "~191232 0737",
    "u": "~07024245 4742", "v": "072247", "w": "0722364267", "x": "0742 0247", "y": "0722 4710", "z": "07470242",
    "A": "023962 1454", "B": "0902 ~09494606 ~06565202", "C": "~584909024253", "D": "0902 ~09595202", "E": "49090242 0636",
    "F": "490902 0636", "G": "~584909025255 5535", "H": "0902 5952 0656", "I": "0902", "J": "~39320204", "K": "0902 5905 1652",
    "L": "090242", "M": "0209356962", "N": "02095259", "O": "@02626909", "P": "0209 ~09595505", "Q": "@02626909 4462",
    "R": "0209 ~09595505 2552", "S": "~5859090655520203", "T": "0969 3932", "U": "~09025259", "V": "093269", "W": "0922486289",
    "X": "0952 0259", "Y": "093669 3632", "Z": "09590252",
    "0": "@02525909", "1": "072922", "2": "~0709494602 0242", "3": "~0809494626 ~2656520203", "4": "42490454",
    "5": "490906 ~0657520203", "6": "@02525606 ~490804", "7": "094912", "8": "@02525606 @06565909", "9": "@05555909 ~575312",
    ".": "0202", ",": "1201", ":": "0202 0606", "-": "0535", "+": "0545 2723", "=": "0646 0444", "/": "0149", "(": "~29070421",
    ")": "~09272401", "%": "0249 @06262909 @32525535", "'": "0907", "!": "0905 0202", "?": "~0709494525 2424 2222",
    "*": "1646 2237", "|": "0901", "<": "470543", ">": "074503", "~": "~0406364656", "_": "0151", "[": "29090121", "]": "09292101",
    "#": "0333 0636 1129 4159", " ": "",
}
TALL = 7.0


def _smooth(points: np.ndarray, closed: bool) -> np.ndarray:
    """Cut corners until the line is a quadratic B-spline."""
    for _ in range(3):
        a, b = (points, np.roll(points, -1, axis=0)) if closed else (points[:-1], points[1:])
        cut = np.stack([0.75 * a + 0.25 * b, 0.25 * a + 0.75 * b], axis=1).reshape(-1, 2)
        points = cut if closed else np.concatenate([points[:1], cut[1:-1], points[-1:]])
    return np.concatenate([points, points[:1]]) if closed else points


def _glyph(strokes: str) -> tuple[list[np.ndarray], float]:
    made = []
    for stroke in strokes.split():
        digits = stroke.lstrip("~@")
        points = np.array([[int(x), int(y) - 2] for x, y in zip(digits[::2], digits[1::2])], float)
        made.append(points if digits == stroke else _smooth(points, stroke[0] == "@"))
    return made, max((line[:, 0].max() for line in made), default=2.0)


GLYPHS = {letter: _glyph(strokes) for letter, strokes in STROKES.items()}


def strokes(words: str, size: float) -> tuple[list[np.ndarray], float]:
    """Lines that write the words, from (0, 0) on the base line with y downwards, `size` pixels tall; and their width."""
    unit, at, lines = size / TALL, 0.0, []
    for letter in words:
        glyph, width = GLYPHS[letter]
        lines += [(line + [at, 0]) * [unit, -unit] for line in glyph]
        at += width + 2.2
    return lines, max(at - 2.2, 0) * unit
