"""Taichi's names over Retrograd, for tests: `import taichi as ti`."""

import over_retrograd

over_retrograd.dress(__name__, "Taichi", "TI")
