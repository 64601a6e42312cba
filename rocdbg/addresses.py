"""Addresses of code and data: in a file, and in memory after loading.

Both are numbers that differ by a load bias (`rocdbg.dwarf.context.Loaded`): separate types prevent code from confusing
them. A sum is a plain number until it is converted to one of the types.
"""

from __future__ import annotations

from typing import NewType

FileAddress = NewType("FileAddress", int)
"""An address in debug information and symbol tables."""
LoadedAddress = NewType("LoadedAddress", int)
"""An address in the running program, as the user sees it."""

NOWHERE = LoadedAddress(0)
"""An address without code, used as the PC of a program that is not running."""
