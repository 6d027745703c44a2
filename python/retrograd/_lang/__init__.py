"""Kernels in Python: the front end. What it offers is named in the package `retrograd`."""
