"""Inputs of a kernel launch: typed buffers and values, their initial contents, and expected results."""
