"""Hostile files, made by number: the inputs of benchmarks/fuzz_files.py.

`kinds.KINDS` lists the families; each makes an `Attack` from a random generator; the same state gives the same attack.
"""
