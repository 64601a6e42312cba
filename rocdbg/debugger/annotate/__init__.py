"""Code objects written again with what rocdbg works out as debug information: `rocdbg annotate`."""
