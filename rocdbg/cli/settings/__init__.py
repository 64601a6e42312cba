"""Settings: their declarations by topic, the types of their values, and those of GDB that rocdbg does not have."""
