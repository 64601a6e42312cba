"""Typed values, where they are stored, and their text."""
