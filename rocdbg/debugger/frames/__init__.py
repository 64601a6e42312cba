"""Frames of a lane: unwinding, registers, call sites, and the position of each lane."""
