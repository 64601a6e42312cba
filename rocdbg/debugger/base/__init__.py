"""The parts that all of the debugger shares: errors, the focus, settings, digits, patterns, warnings."""
