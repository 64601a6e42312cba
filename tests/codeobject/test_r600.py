"""Code for r600 processors: recognised by the name of the processor, and refused."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from rocdbg.codeobject import open_file
from rocdbg.errors import Error


def elf32(machine: int, flags: int) -> bytes:
    """The header of a 32-bit object."""
    ident = b"\x7fELF" + bytes((1, 1, 1, 0)) + bytes(8)
    return ident + struct.pack("<HHIIIIIHHHHHH", 1, machine, 1, 0, 0, 52, flags, 52, 0, 0, 40, 0, 0)


@pytest.mark.parametrize(
    ("machine", "flags", "words"),
    [
        (224, 0x09, "code for the r600 processor cypress is not supported; rocdbg supports gfx600 and later"),
        (224, 0x01, "code for the r600 processor r600 is not supported; rocdbg"),
        (224, 0x2C, "32-bit ELF files are not supported, only 64-bit ones"),  # gfx900 is none of them
        (224, 0xFF, "32-bit ELF files"),
        (3, 0x09, "32-bit ELF files"),
    ],
)
def test_objects_are_named(machine: int, flags: int, words: str, tmp_path: Path) -> None:
    path = tmp_path / "old.o"
    path.write_bytes(elf32(machine, flags))
    with pytest.raises(Error, match=words):
        open_file(path)


@pytest.mark.parametrize("length", [6, 18, 36, 39, 51])
def test_cut_headers(length: int, tmp_path: Path) -> None:
    path = tmp_path / "old.o"
    path.write_bytes(elf32(224, 0x09)[:length])
    with pytest.raises(Error):
        open_file(path)
