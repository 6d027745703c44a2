"""What a launch from Python costs beside one from C: a kernel with five arrays of one element, in one run.

    PYTHONPATH=build/python python bench/python/launch.py

From C: rg_launch alone, called through ctypes in a loop of C (rg_bench is not needed: the kernel's own loop of launches is a graph of one
launch, repeated); from Python: the call with NumPy arrays that change every time, with the same ones, and with own arrays.
"""
