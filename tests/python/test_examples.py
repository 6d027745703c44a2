"""The programs of examples/python, with fewer steps: what they learn, their derivatives, their pictures.

SPDX-License-Identifier: Apache-2.0
"""

import contextlib
import importlib
import importlib.util
import io
import re
import string
import struct
import sys
import tempfile
import unittest
import zlib
from pathlib import Path

import numpy as np

import retrograd as rg

PROGRAMS = Path(__file__).parents[2] / "examples" / "python"
sys.path.insert(0, str(PROGRAMS))


def installed(*names):
    return all(importlib.util.find_spec(name) for name in names)


def in_double(file):
    """The module of a program's kernels with doubles for floats: for finite differences."""
    source = re.sub(r"\bfloat\b", "double", (PROGRAMS / file).read_text())
    source = re.sub(r"(\d)f\b", r"\1", source)
    return rg.compile_c(re.sub(r"\b(sqrt|exp|log|fmax|fmin|fabs)f\b", r"\1", source), name=file)


def quietly(run, *args, **named):
    with contextlib.redirect_stdout(io.StringIO()) as said:
        result = run(*args, **named)
    return result, said.getvalue()


class Png:
    """The frames of a PNG file, as a viewer shows them."""

    def __init__(self, path):
        data = Path(path).read_bytes()
        assert data[:8] == b"\x89PNG\r\n\x1a\n"
        at, self.frames, self.numbers, self.palette, self.counted = 8, [], [], None, 1
        part, ended = None, False
        while at < len(data):
            size, kind = struct.unpack(">I4s", data[at:at + 8])
            body = data[at + 8:at + 8 + size]
            assert struct.unpack(">I", data[at + 8 + size:at + 12 + size])[0] == zlib.crc32(kind + body)
            assert not ended
            at += 12 + size
            if kind == b"IHDR":
                self.width, self.height, depth, self.colours, *rest = struct.unpack(">IIBBBBB", body)
                assert (depth, rest) == (8, [0, 0, 0]) and self.colours in (2, 3)
                self.canvas = np.zeros((self.height, self.width, 3), np.uint8)
                part = (self.width, self.height, 0, 0)
            elif kind == b"acTL":
                self.counted = struct.unpack(">II", body)[0]
            elif kind == b"PLTE":
                self.palette = np.frombuffer(body, np.uint8).reshape(-1, 3)
            elif kind == b"tRNS":
                self.opaque = np.frombuffer(body, np.uint8) > 0
            elif kind == b"fcTL":
                number, *part, delay, per, dispose, blend = struct.unpack(">IIIIIHHBB", body)
                assert delay > 0 and per > 0 and dispose == 0 and blend == (number > 0)
                self.numbers.append(number)
            elif kind == b"IDAT":
                self.show(body, *part)
            elif kind == b"fdAT":
                self.numbers.append(struct.unpack(">I", body[:4])[0])
                self.show(body[4:], *part)
            elif kind == b"IEND":
                ended = True
        assert ended and len(self.frames) == self.counted and self.numbers == list(range(len(self.numbers)))

    def show(self, data, width, height, x, y):
        """Decode a frame's part, and draw it over the one before."""
        depth = 3 if self.colours == 2 else 1
        rows = np.frombuffer(zlib.decompress(data), np.uint8).reshape(height, 1 + depth * width)
        out = np.zeros((height + 1, width + 1, depth), np.uint8)
        for i in range(height):
            row = rows[i, 1:].reshape(width, depth)
            if rows[i, 0] == 0:
                out[i + 1, 1:] = row
            elif rows[i, 0] == 1:
                out[i + 1, 1:] = np.cumsum(row, axis=0, dtype=np.uint8)
            elif rows[i, 0] == 2:
                out[i + 1, 1:] = row + out[i, 1:]
            else:
                assert rows[i, 0] == 3
                for j in range(width):
                    out[i + 1, j + 1] = row[j] + ((out[i + 1, j].astype(int) + out[i, j + 1]) // 2).astype(np.uint8)
        pixels = out[1:, 1:]
        part = self.canvas[y:y + height, x:x + width]
        if self.palette is None:
            part[:] = pixels
        else:
            new = self.opaque[pixels[..., 0]]
            part[new] = self.palette[pixels[..., 0]][new]
        self.frames.append(self.canvas.copy())


class Pictures(unittest.TestCase):
    def test_files_hold_the_pixels(self):
        pictures = importlib.import_module("pictures")
        rng = np.random.default_rng(0)
        noise = rng.integers(0, 256, (13, 17, 3)).astype(np.uint8)
        smooth = (np.add.outer(np.arange(40), 2 * np.arange(50))[..., None] * [1, 2, 3] % 256).astype(np.uint8)
        with tempfile.TemporaryDirectory() as folder:
            for pixels in (noise, smooth):
                np.testing.assert_array_equal(Png(pictures.save_png(Path(folder) / "a.png", pixels)).frames, [pixels])
            frames = [np.zeros((20, 30, 3), np.uint8) for _ in range(4)]
            frames[1][3:5, 6:9] = [250, 2, 6]
            frames[3][:] = [2, 2, 254]
            shown = Png(pictures.save_animation(Path(folder) / "new" / "b.png", frames, 0.1)).frames
            self.assertEqual(len(shown), 4)
            self.assertLessEqual(np.abs(np.array(shown).astype(int) - frames).max(), 3)  # six bits of each colour

    def test_shapes_stay_inside(self):
        pictures = importlib.import_module("pictures")
        picture = pictures.Picture(20, 10, (0, 0, 0))
        picture.line([(-5, 4.5), (40, 4.5)], (255, 255, 255), 3)
        np.testing.assert_array_equal(picture.bytes()[:, 7, 0] > 128, [False] * 3 + [True] * 3 + [False] * 4)
        before = picture.bytes()
        picture.line([(30, 30), (40, 50)]), picture.lines([]), picture.text(-300, 5, "far")
        picture.disc(-50, 3, 9), picture.ring(5, 99, 4)
        np.testing.assert_array_equal(picture.bytes(), before)
        picture.disc(10, 5, 2, (0, 255, 0))
        self.assertEqual(picture.bytes()[5, 10].tolist(), [0, 255, 0])

    def test_letters(self):
        letters = importlib.import_module("letters")
        lines, width = letters.strokes(string.ascii_letters + string.digits + " .,:+-/()%='!?<>[]", 7)
        self.assertGreater(width, 60 * 4)
        for line in lines:
            self.assertTrue(((line >= [0, -7]) & (line <= [width, 2])).all())


class Example(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def assert_picture(self, name, said, frames=1):
        self.assertIn(str(self.folder / name), said)
        png = Png(self.folder / name)
        self.assertEqual(len(png.frames), frames)
        self.assertGreater(png.width, 300)
        self.assertGreater(png.frames[-1].std(), 10)  # something is drawn
        return png


class Kepler(Example):
    def test_fit(self):
        kepler = importlib.import_module("kepler")
        errors, said = quietly(kepler.run, self.folder)
        self.assertGreater(errors[0], 1e5)
        self.assertLess(errors[-1], 1.2)  # the noise is left
        self.assert_picture("kepler.png", said)

    def test_derivatives(self):
        kepler = importlib.import_module("kepler")
        sky = kepler.Sky(1)
        start, times = kepler.TRUE * 1.01, 20
        rows = sky.jacobian(kepler.SUN, start, times)
        h = 1e-4
        by_mass = (sky.differences(kepler.SUN + h, start, times) - sky.differences(kepler.SUN - h, start, times)) / (2 * h)
        np.testing.assert_allclose(rows[:, 0], by_mass.ravel(), atol=1e-4 * np.abs(by_mass).max())
        for body, component in ((0, 1), (3, 2)):
            step = np.zeros_like(start)
            step[body, component] = h
            change = (sky.differences(kepler.SUN, start + step, times) - sky.differences(kepler.SUN, start - step, times)) / (2 * h)
            np.testing.assert_allclose(rows[:, 1 + 4 * body + component], change.ravel(), atol=1e-4 * np.abs(change).max())

    def test_steps_follow_the_orbit(self):
        kepler = importlib.import_module("kepler")
        path, count = np.zeros((7, 2000, 2)), np.zeros(7, np.int32)
        kepler.kernels.footprints(kepler.SUN, 9.0, kepler.TRUE, path, count)
        comet = path[3, :count[3]]
        radius, length = np.hypot(*comet[1:].T), np.hypot(*np.diff(comet, axis=0).T)
        self.assertGreater(length[radius > 3].mean(), 5 * length[radius < 0.5].mean())
        where = np.zeros((7, 1, 2))  # by Kepler's equation
        kepler.kernels.follow(kepler.SUN, kepler.TRUE, np.array([2.5**1.5]), where)
        np.testing.assert_allclose(where[3, 0], kepler.TRUE[3, :2], atol=1e-5)  # after a period, where it was


class Shape(Example):
    def test_fit(self):
        shape = importlib.import_module("shape")
        losses, said = quietly(shape.run, self.folder, steps=30, blobs=40)
        self.assertLess(np.mean(losses[-3:]), 0.25 * losses[0])
        self.assert_picture("shape.png", said)

    def test_gradient(self):
        shape = importlib.import_module("shape")
        render = in_double("shape.c").render
        rng = np.random.default_rng(2)
        blobs = np.concatenate([rng.normal(size=(12, 3)) * 0.25, np.full((12, 1), 0.25), rng.uniform(0.2, 1, (12, 3))], axis=1)
        cameras = np.stack([shape.camera(0.4, 0.3), shape.camera(2.5, -0.2)]).astype(float)
        size = 24
        pixels, weights = np.zeros((2, size, size, 4)), rng.normal(size=(2, size, size, 4))
        gradient = np.zeros_like(blobs)
        render.forward_vjp(0.05, blobs, cameras, pixels, adjoints={"blob": gradient, "pixel": weights.copy()})

        def look(blobs):
            out = np.zeros_like(pixels)
            render(0.05, blobs, cameras, out)
            return out

        for i, k in ((0, 0), (3, 1), (5, 3), (7, 5)):
            h = np.zeros_like(blobs)
            h[i, k] = 1e-6
            change = (look(blobs + h) - look(blobs - h)) / 2e-6
            still = np.abs(change) < 30  # not the few pixels where another surface comes to the front
            self.assertGreater(still.mean(), 0.99)
            bar = np.where(still, weights, 0)
            gradient = np.zeros_like(blobs)
            render.forward_vjp(0.05, blobs, cameras, np.zeros_like(pixels), adjoints={"blob": gradient, "pixel": bar.copy()})
            self.assertAlmostEqual(gradient[i, k], (bar * change).sum(), delta=1e-3 * np.abs(bar * change).sum())


@unittest.skipUnless(installed("torch"), "no torch")
class Billiards(Example):
    def test_training(self):
        billiards = importlib.import_module("billiards")
        (losses, rates), said = quietly(billiards.run, self.folder, steps=150)
        self.assertLess(np.mean(losses[-10:]), 0.7 * np.mean(losses[:5]))
        self.assertGreater(rates[1], 2.5 * rates[0])
        self.assert_picture("billiards.png", said, frames=48)

    def test_gradient(self):
        shoot = in_double("billiards.c").shoot
        rng = np.random.default_rng(3)
        start = np.array([[-0.7, 0], [0, 0.05], [0.45, -0.1]]) + rng.uniform(-0.05, 0.05, (200, 3, 2))
        shot = np.stack([rng.uniform(1, 3, 200), rng.uniform(-0.3, 0.3, 200)], axis=1)
        weights, gradient, h = rng.normal(size=(200, 3, 2)), np.zeros((200, 2)), 1e-7

        def play(shot):
            end, turns = np.zeros_like(start), np.zeros(200, np.int32)
            shoot(start, shot, end, turns)
            return end, turns

        end, turns = play(shot)
        self.assertGreater(len(set(turns)), 4)
        shoot.vjp(start, shot, end, turns, adjoints={"shot": gradient, "end": weights.copy()})
        for k in (0, 1):
            (more, more_turns), (less, less_turns) = play(shot + h * np.eye(2)[k]), play(shot - h * np.eye(2)[k])
            same = (turns == more_turns) & (turns == less_turns)
            self.assertGreater(same.mean(), 0.95)
            change = ((more - less) / (2 * h) * weights).sum(axis=(1, 2))
            np.testing.assert_allclose(gradient[same, k], change[same], rtol=1e-4, atol=1e-4)

    def test_contacts(self):
        """A straight shot, by the laws of contacts."""
        billiards = importlib.import_module("billiards")
        start = np.array([[[-0.5, 0], [0, 0], [0.9, 0.4]]], np.float32)
        end, turns = np.zeros_like(start), np.zeros(1, np.int32)
        billiards.kernels.shoot(start, np.array([[0.8, 0]], np.float32), end, turns)
        run, keep = 0.5 - 0.14, 0.96  # then both go on, with 0.04 and 0.96 of the speed
        left = 0.8 - run
        np.testing.assert_allclose(end[0, :2, 0], [-0.5 + run + (1 - keep) * left, keep * left], atol=1e-6)
        self.assertEqual(turns[0], 2)


@unittest.skipUnless(installed("jax"), "no jax")
class Waves(Example):
    def test_map(self):
        waves = importlib.import_module("waves")
        (losses, error), said = quietly(waves.run, self.folder, steps=8)
        self.assertLess(losses[-1], 0.25 * losses[0])
        self.assertLess(error, 0.5)
        self.assertIn("8 devices with 12 rows each", said)
        self.assert_picture("waves.png", said)

    def test_devices(self):
        """What is heard through eight devices is what is heard through one."""
        waves = importlib.import_module("waves")
        speed = (waves.WATER * (1 + waves.body())).astype(np.float32)
        devices = waves.jax.devices()
        many, one = (np.asarray(waves.jax.jit(waves.sound(some))(speed)) for some in (devices, devices[:1]))
        np.testing.assert_allclose(many, one, atol=1e-6)
        self.assertGreater(np.abs(one).max(), 0.1)

    def test_gradient(self):
        step = in_double("waves.c").step
        rng = np.random.default_rng(4)
        speed, calm = rng.uniform(0.3, 0.6, (5, 7)), rng.uniform(0, 0.1, (5, 7))
        edge, now, before = rng.normal(size=(2, 2, 7)), rng.normal(size=(2, 5, 7)), rng.normal(size=(2, 5, 7))
        weights, gradient, h = rng.normal(size=(2, 5, 7)), np.zeros((5, 7)), 1e-6

        def heard(speed):
            after = before.copy()
            step(speed, calm, edge[0], edge[1], now, after)
            return (weights * after).sum()

        step.forward_vjp(speed, calm, edge[0], edge[1], now, before.copy(), adjoints={"speed": gradient, "before": weights.copy()})
        for at in ((0, 3), (2, 1), (4, 5)):
            change = np.zeros_like(speed)
            change[at] = h
            self.assertAlmostEqual(gradient[at], (heard(speed + change) - heard(speed - change)) / (2 * h), delta=1e-7)


if __name__ == "__main__":
    unittest.main()
