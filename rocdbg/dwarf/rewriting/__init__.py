"""Rewriting debug information with changes: entries, location lists, call frames, indexes."""
