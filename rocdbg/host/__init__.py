"""Whole programs: the HSA runtime library that they are given, and the simulated GPUs behind it."""
