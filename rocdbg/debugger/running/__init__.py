"""Launching, going on, stepping, breakpoints, and the stops they end with."""
