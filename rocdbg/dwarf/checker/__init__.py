"""Which rules of the extensions, and of DWARF 5 where they touch it, debug information breaks."""
