"""Hostile files, made by number: what benchmarks/fuzz_files.py feeds to rocdbg.

`kinds.KINDS` lists the families; each makes an `Attack` from a random generator, always the same from the same.
"""
