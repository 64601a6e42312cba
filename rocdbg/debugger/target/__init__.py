"""Targets, which run the code, and the capabilities that they may have."""
