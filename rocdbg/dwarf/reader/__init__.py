"""Evaluates attributes of entries, each by its own rules; and opens files that have entries."""
