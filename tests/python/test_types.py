"""Type hints: of the package, of the stubs of its C part, and as programs see them. SPDX-License-Identifier: Apache-2.0"""

import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import retrograd

HERE = Path(__file__).parent
PACKAGE = Path(retrograd.__file__).parent

# torch and jax are nothing that is known, installed or not
SETTINGS = f"""
[mypy]
strict = True
[mypy-torch.*,jax.*,jaxlib.*]
follow_imports = skip
ignore_missing_imports = True
[mypy-{",".join("retrograd." + file.stem for file in PACKAGE.glob("*.py") if "torch" in file.stem or "jax" in file.stem)}]
disallow_subclassing_any = False
disallow_untyped_decorators = False
"""


class Types(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.settings = Path(cls.folder.name, "mypy.ini")
        cls.settings.write_text(SETTINGS)

    def run_module(self, module, *words):
        return subprocess.run([sys.executable, "-m", module, *map(str, words)], cwd=self.folder.name, capture_output=True, text=True,
                              env={**os.environ, "MYPYPATH": str(PACKAGE.parent)})

    def check(self, *files):
        return self.run_module("mypy", "--config-file", self.settings, "--cache-dir", self.folder.name, *files)

    def test_the_package(self):
        done = self.check("--package", "retrograd")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertTrue((PACKAGE / "py.typed").exists())

    def test_the_stubs(self):
        done = self.run_module("mypy.stubtest", "--ignore-disjoint-bases", "--mypy-config-file", self.settings, "retrograd._core")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_a_program(self):
        done = self.check(HERE / "typed_use.py")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        done = subprocess.run([sys.executable, HERE / "typed_use.py"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_mistakes(self):
        wrong = ["rg.array([1.0], devise='cpu')", "rg.array([1.0]).adjoint.fill(1)", "rg.Queue(threads=2)", "rg.compile_c(b'text')", "rg.tape(progress=3)",
                 "rg.current_queue().synch()", "rg.load('f.c', checked='yes')", "rg.compile_c('').f.value_and_grad(wrt=3)", "rg.nothing()",
                 "rg.array([1.0]).fill('1')"]
        program = Path(self.folder.name, "wrong.py")
        program.write_text("import retrograd as rg\n" + "\n".join(wrong) + "\n")
        done = self.check(program)
        found = {int(line) for line in re.findall(r"wrong\.py:(\d+): error", done.stdout)}
        self.assertEqual(found, set(range(2, len(wrong) + 2)), done.stdout)


if __name__ == "__main__":
    unittest.main()
