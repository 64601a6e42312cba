"""Frames of a lane: unwinding, registers, call sites, and where each lane stands."""
