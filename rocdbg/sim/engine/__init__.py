"""The execution engine: native code, translations, and their cache on disk."""
