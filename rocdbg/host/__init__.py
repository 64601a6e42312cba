"""Whole programs: the HSA runtime library that rocdbg gives them, and the simulated GPUs behind it."""
