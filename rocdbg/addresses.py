"""Addresses of code and data: as a file has them, and as they are where the file was loaded.

Both are numbers, and a load bias apart (`rocdbg.dwarf.context.Loaded`): the types are there so that no code takes one
for the other. A sum is a plain number again, until it is said which of them it is.
"""

from __future__ import annotations

from typing import NewType

FileAddress = NewType("FileAddress", int)
"""As debug information and symbol tables have it."""
LoadedAddress = NewType("LoadedAddress", int)
"""As the running program and its user see it."""

NOWHERE = LoadedAddress(0)
"""Where no code is loaded: stands in for the PC of a program that is not running."""
