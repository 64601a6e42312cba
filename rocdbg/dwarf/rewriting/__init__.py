"""Writes changed debug information: entries, location lists, call frames, indexes."""
