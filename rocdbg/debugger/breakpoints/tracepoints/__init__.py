"""Tracepoints: what they collect while the program runs, and trace experiments."""
