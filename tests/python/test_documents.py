"""The examples of docstrings, and of documents that have Python in them. SPDX-License-Identifier: Apache-2.0"""

import doctest
import importlib
import pkgutil
import unittest
from pathlib import Path

import retrograd

DOCUMENTS = Path(__file__).parents[2] / "docs"


def load_tests(loader, tests, pattern):
    for found in pkgutil.iter_modules(retrograd.__path__):
        if found.name not in ("_core", "__main__", "torch", "jax"):
            tests.addTests(doctest.DocTestSuite(importlib.import_module("retrograd." + found.name)))
    tests.addTests(doctest.DocTestSuite(retrograd))
    for page in DOCUMENTS.glob("python*.md"):
        tests.addTests(doctest.DocFileSuite(str(page), module_relative=False, encoding="utf-8"))
    return tests


if __name__ == "__main__":
    unittest.main()
