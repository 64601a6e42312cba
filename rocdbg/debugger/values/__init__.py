"""Typed values, where they live, and their text."""
