"""Writing debug information that was read, with changes: entries, location lists, call frames, indexes."""
