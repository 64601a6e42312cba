"""Opens files with debug information, and evaluates the attributes of entries, each by its own rules."""
