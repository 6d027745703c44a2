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


class Differences:
    """Derivatives of programs whose kernels are in Python, in f64, beside finite differences."""

    def setUp(self):
        super().setUp()
        rg.init(arch=rg.cpu, default_fp=rg.f64, verbose=False)
        self.addCleanup(rg.reset)

    def compare(self, field, learn, loss, entries, h=1e-6, rtol=1e-5, atol=1e-9):
        """field: what is learned; learn: makes its gradient; loss: the loss alone, without a tape; entries: of the field as an array."""
        learn()
        gradient, values = field.grad.to_numpy(), field.to_numpy()
        for at in entries:
            found = []
            for way in (h, -h):
                changed = values.copy()
                changed[at] += way
                field.from_numpy(changed)
                found.append(loss())
            field.from_numpy(values)
            difference = (found[0] - found[1]) / (2 * h)
            self.assertNotEqual(gradient[at], 0)
            self.assertAlmostEqual(gradient[at], difference, delta=atol + rtol * abs(difference), msg=f"entry {at}")


def alone(owner, run):
    """The loss of what `run` launches."""
    def loss():
        owner.loss[None] = 0
        run()
        return owner.loss[None]

    return loss


class Optimizer(Differences, Example):
    def test_adam(self):
        """Beside the same in NumPy, for numbers and vectors."""
        adam = importlib.import_module("adam")
        rng = np.random.default_rng(0)
        for field in (rg.field(float, (3, 2), needs_grad=True), rg.Vector.field(2, float, 3, needs_grad=True)):
            values, mean, square = rng.normal(size=(3, 2)), np.zeros((3, 2)), np.zeros((3, 2))
            field.from_numpy(values)
            moves = adam.Adam(field, 0.9)
            for k in range(1, 4):
                slope = rng.normal(size=(3, 2))
                field.grad.from_numpy(slope)
                moves.step(0.1)
                mean, square = 0.9 * mean + 0.1 * slope, 0.9 * square + 0.1 * slope**2
                values -= 0.1 * mean / (1 - 0.9**k) / np.sqrt(square / (1 - 0.9**k))
                np.testing.assert_allclose(field.to_numpy(), values, rtol=1e-7)


class Mpm(Differences, Example):
    def test_learning(self):
        mpm = importlib.import_module("mpm")
        far, said = quietly(mpm.run, self.folder, tries=5, steps=250, frames=6, spacing=0.01)
        self.assertGreater(far[-1], far[0] + 0.005)
        self.assert_picture("mpm.png", said, frames=6)

    def test_gradient(self):
        mpm = importlib.import_module("mpm")
        jelly = mpm.Jelly(0.02)
        jelly.waves.from_numpy(np.random.default_rng(1).normal(size=jelly.waves.shape))

        def run():
            jelly.reset()
            for k in range(60):
                jelly.step(k)
            jelly.measure()

        self.compare(jelly.waves, lambda: jelly.learn(60), alone(jelly, run), [(0, 0), (3, 1), (5, 2)])

    def test_conservation(self):
        """Without a floor in reach the middle of the mass falls freely, and nothing spins."""
        mpm = importlib.import_module("mpm")
        jelly = mpm.Jelly(0.02)
        jelly.waves.from_numpy(np.random.default_rng(1).normal(size=jelly.waves.shape))
        jelly.start = jelly.start + [0.3, 0.15]
        jelly.reset()
        for k in range(40):
            jelly.step(k)
        x, v = jelly.x.to_numpy(), jelly.v.to_numpy()
        t = 40 * mpm.DT
        np.testing.assert_allclose(v.mean(axis=0), [0, -mpm.GRAVITY * t], atol=1e-12)
        fallen = -mpm.GRAVITY * mpm.DT**2 * 40 * 41 / 2
        np.testing.assert_allclose(x.mean(axis=0) - jelly.start.mean(axis=0), [0, fallen], atol=1e-12)


class Cloth(Differences, Example):
    def test_learning(self):
        cloth = importlib.import_module("cloth")
        losses, said = quietly(cloth.run, self.folder, tries=8, nodes=11, steps=300, frames=4)
        self.assertLess(min(losses), 0.8 * losses[0])
        self.assert_picture("cloth.png", said, frames=4)

    def test_gradient(self):
        """Through the contact with the ball."""
        cloth = importlib.import_module("cloth")
        net = cloth.Cloth(8)
        net.throw.from_numpy(np.tile([2.4, 2.0, 0.1], (2, 2, 1)))

        def run():
            net.fall(300)
            net.measure()

        self.compare(net.throw, lambda: net.learn(300), alone(net, run), [(0, 0, 0), (1, 0, 1), (0, 1, 2)])
        away = np.linalg.norm(net.x.to_numpy() - cloth.BALL, axis=-1)
        self.assertGreater((away < cloth.RADIUS + cloth.SKIN).sum(), 3)  # it has met it


class Carom(Differences, Example):
    def test_learning(self):
        carom = importlib.import_module("carom")
        losses, said = quietly(carom.run, self.folder, tries=120, tables=4, discs=14, frames=5)
        self.assertLess(losses[-1], 0.2 * losses[0])
        self.assert_picture("carom.png", said, frames=5)

    def test_gradient(self):
        carom = importlib.import_module("carom")
        tables = carom.Tables(3, 9, 0)

        def run():
            tables.x.from_numpy(tables.start)
            tables.play(1.0)
            tables.measure()

        self.compare(tables.push, tables.learn, alone(tables, run), [(0, 1, 0), (1, 5, 1), (2, 8, 0), (2, 0, 1)], h=1e-8, rtol=1e-4)
        self.assertGreater(tables.contacts.to_numpy().min(), 3)

    def test_contacts(self):
        """Straight shots, by the laws of contacts; and the ways until some time."""
        carom = importlib.import_module("carom")
        tables = carom.Tables(1, 2, 0)
        tables.start = np.array([[[-0.5, 0], [0, 0]]])
        tables.push.from_numpy(np.array([[[0.8, 0], [0, 0]]]))
        run = 0.5 - 2 * carom.RADIUS
        for until in (0.25, 1.0):  # before the contact, and at the end
            tables.x.from_numpy(tables.start)
            tables.play(until)
            left = max(0, until * 0.8 - run)
            ends = [min(until * 0.8, run) + 0.05 * left - 0.5, 0.95 * left]
            np.testing.assert_allclose(tables.x.to_numpy()[0], [[ends[0], 0], [ends[1], 0]], atol=1e-12)
        tables.push.from_numpy(np.array([[[0, -1.2], [0, 0]]]))  # against a wall
        tables.x.from_numpy(tables.start)
        tables.play(1.0)
        wall = carom.HIGH - carom.RADIUS
        np.testing.assert_allclose(tables.x.to_numpy()[0, 0], [-0.5, -wall + carom.BOUNCE * (1.2 - wall)], atol=1e-12)


class Smoke(Differences, Example):
    def test_learning(self):
        smoke = importlib.import_module("smoke")
        losses, said = quietly(smoke.run, self.folder, tries=15, size=64, steps=24)
        self.assertLess(losses[-1], 0.6 * losses[0])
        self.assert_picture("smoke.png", said, frames=17)

    def test_gradient(self):
        smoke = importlib.import_module("smoke")
        box = smoke.Box(12, sweeps=4)
        box.first.from_numpy(np.random.default_rng(2).normal(size=(12, 12, 2)) * 0.3)
        run = alone(box, lambda: box.measure(box.blow(5)))
        self.compare(box.first, lambda: box.learn(5), run, [(5, 5, 0), (6, 5, 1), (7, 2, 0)])

    def test_pressure(self):
        """It takes away what a wave's divergence is, and leaves what has none, but for what the sweeps leave."""
        smoke = importlib.import_module("smoke")
        box = smoke.Box(16, sweeps=400)
        i, j = np.meshgrid(np.arange(16), np.arange(16), indexing="ij")
        wave = np.sin(2 * np.pi * i / 16)
        swirl = np.cos(2 * np.pi * j / 16)
        box.carried.from_numpy(np.stack([wave + swirl, np.zeros((16, 16))], axis=-1))
        box.press()
        left = box.v.to_numpy()[..., 0] - swirl
        gone = 1 - (1 + np.cos(2 * np.pi / 16)) / 2  # differences over two cells, of a pressure whose Laplacian is over one
        np.testing.assert_allclose(left, gone * wave, atol=1e-3)


class Robot(Differences, Example):
    def test_learning(self):
        robot = importlib.import_module("robot")
        far, said = quietly(robot.run, self.folder, tries=18, steps=300, frames=6)
        self.assertGreater(max(far), far[0] + 0.03)
        self.assert_picture("robot.png", said, frames=6)

    def test_gradient(self):
        robot = importlib.import_module("robot")
        robots = robot.Robots(hidden=8)
        robots.begin(3)

        def run():
            robots.reset()
            for k in range(100):
                robots.step(k)
            robots.centre()
            robots.measure()

        muscles = np.flatnonzero(robots.muscle.to_numpy())
        within = [(0, 0), (3, 20), (7, robots.inputs - 1)]
        for field, entries in ((robots.within, within), (robots.bias, [2]), (robots.out, [(muscles[1], 4)])):
            self.compare(field, lambda: robots.learn(100), alone(robots, run), entries)

    def test_mirror(self):
        """The two robots are each other's mirror image where the network sees nothing of left and right."""
        robot = importlib.import_module("robot")
        robots = robot.Robots()
        robots.begin(3)
        robots.out.fill(0)
        robots.reset()
        for k in range(200):
            robots.step(k)
        x = robots.x.to_numpy()
        np.testing.assert_allclose(x[0], x[1], atol=1e-12)
        self.assertLess(np.abs(robots.v.to_numpy()).max(), 0.2)  # it stands
        self.assertGreater(x[..., 1].min(), -0.02)


class Marcher(Differences, Example):
    def test_learning(self):
        marcher = importlib.import_module("marcher")
        losses, said = quietly(marcher.run, self.folder, tries=30, large=60)
        self.assertLess(losses[9], 0.7 * losses[0])
        self.assertLess(losses[-1], 0.2 * losses[0])
        self.assert_picture("marcher.png", said)

    def test_gradient(self):
        marcher = importlib.import_module("marcher")
        scene = marcher.Scene(4, 14)
        scene.put(marcher.TRUE)
        scene.wanted.from_numpy(np.random.default_rng(3).uniform(size=(14, 14, 3)))

        def run():
            scene.render(0.1)
            scene.measure()

        learned = {"middle": [(0, 0), (1, 2), (3, 1)], "radius": [0, 2], "colour": [(2, 1)], "light": [0, 1]}
        for field, entries in ((getattr(scene, name), entries) for name, entries in learned.items()):
            self.compare(field, lambda: scene.learn(0.1), alone(scene, run), entries, h=1e-9, rtol=1e-3)

    def test_rays(self):
        """Where rays meet a ball, and its colour in a picture."""
        marcher = importlib.import_module("marcher")
        scene = marcher.Scene(1, 41)
        scene.put({"middle": np.array([[0, 0.6, 0]]), "radius": np.array([0.5]), "colour": np.array([[1.0, 0, 0]]),
                   "light": np.array([-1.5, 1.0])})
        scene.render(1e-3)
        pixels = scene.pixel.to_numpy()
        red = pixels[..., 0] - pixels[..., 1] > 0.1
        row, column = np.indices((41, 41))
        way = np.stack([0.5 * (2 * (column + 0.5) / 41 - 1), 0.5 * (1 - 2 * (row + 0.5) / 41) - 0.24, np.ones((41, 41))], axis=-1)
        way /= np.linalg.norm(way, axis=-1, keepdims=True)
        away = np.array([0, 0.6, 0]) - [0, 1.5, -4.4]
        past = np.linalg.norm(away - (way @ away)[..., None] * way, axis=-1)
        self.assertTrue((red == (past < 0.5))[np.abs(past - 0.5) > 0.02].all())
        self.assertGreater(red.sum(), 50)


if __name__ == "__main__":
    unittest.main()
