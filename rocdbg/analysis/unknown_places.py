"""Elements of a lane PC vector that are not addresses."""

from typing import Final

UNKNOWN: Final = 0xFFFF_FFFF_FFFF_0000
"""Elements of a lane PC vector from this number on mean that a place is not known."""
