"""The examples of docstrings, and of the pages that have Python in them. SPDX-License-Identifier: Apache-2.0

A page is a session of Python, from its first line to its last, in a folder that holds its blocks with <!-- file: NAME --> before
them. Pages and modules that are called after a package (python-torch.md, retrograd.torch) are skipped where it is not installed.
"""

import doctest
import importlib
import importlib.util
import os
import pkgutil
import re
import tempfile
import unittest
from pathlib import Path

import retrograd

ROOT = Path(__file__).parents[2]
os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=8")  # for python-jax.md

PACKAGES = ("torch", "jax")
FLAGS = doctest.ELLIPSIS
BLOCK = re.compile(r"^<!-- file: (\S+) -->\n```\w*\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Fenced(doctest.DocTestParser):
    """Lines that begin or end a block are not what an example prints."""

    def parse(self, string, name="<page>"):
        return super().parse(re.sub(r"^```.*$", "", string, flags=re.MULTILINE), name)


def page_tests(page):
    folder, before = tempfile.TemporaryDirectory(), os.getcwd()

    def begin(test):
        os.chdir(folder.name)
        for name, text in BLOCK.findall(page.read_text(encoding="utf-8")):
            Path(name).write_text(text)

    def end(test):
        os.chdir(before)
        folder.cleanup()

    return doctest.DocFileSuite(str(page), module_relative=False, encoding="utf-8", parser=Fenced(), optionflags=FLAGS, setUp=begin,
                                tearDown=end)


def missing(name, package):
    def skip():
        raise unittest.SkipTest(f"no {package}")

    return unittest.FunctionTestCase(skip, description=name)


def load_tests(loader, tests, pattern):
    for found in pkgutil.walk_packages(retrograd.__path__, "retrograd."):
        name = found.name.removeprefix("retrograd.")
        package = name.removeprefix("_").partition("_")[0]
        if name in ("_core", "__main__"):
            continue
        if package in PACKAGES and not importlib.util.find_spec(package):
            tests.addTest(missing(found.name, package))
        else:
            tests.addTests(doctest.DocTestSuite(importlib.import_module(found.name), optionflags=FLAGS))
    tests.addTests(doctest.DocTestSuite(retrograd, optionflags=FLAGS))
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").glob("python*.md"))]:
        package = page.stem.partition("-")[2]
        if package in PACKAGES and not importlib.util.find_spec(package):
            tests.addTest(missing(page.name, package))
        else:
            tests.addTests(page_tests(page))
    return tests


if __name__ == "__main__":
    unittest.main()
