"""Finds where debug information breaks the rules of the extensions, and those of DWARF 5 that the extensions affect."""
