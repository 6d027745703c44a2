"""Quadrants' names over Retrograd, for tests: `import quadrants as qd`."""

import over_retrograd

over_retrograd.dress(__name__, "Quadrants", "QD")
