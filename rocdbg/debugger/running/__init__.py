"""Launching, continuing and stepping the program, and the stops that result."""
