"""Targets, which run the code, and what creates them; `capabilities/` has the protocols that they provide."""
