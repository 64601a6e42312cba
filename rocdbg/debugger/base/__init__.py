"""What all parts of the debugger share: errors, the focus, settings, digits, patterns, warnings."""
