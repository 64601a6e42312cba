"""Writes copies of code objects that include the debug information that rocdbg derives: `rocdbg annotate`."""
