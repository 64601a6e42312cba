"""Tracepoints: what they collect while the program runs, and the experiments made of them."""
