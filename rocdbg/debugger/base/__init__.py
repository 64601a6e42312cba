"""What every part of the debugger shares: errors, the focus, settings, digits, patterns, warnings."""
