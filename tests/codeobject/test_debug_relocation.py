"""Relocations of sections that are not loaded: one of each kind, and damaged ones."""

from __future__ import annotations

import struct
from typing import Any

import pytest

from rocdbg.codeobject import CodeObject, CodeObjectError
from rocdbg.codeobject.debug_relocation import DebugRelocations

ABS32, ABS64, REL32, NONE = 6, 3, 4, 0
TEXT, DATA, DEBUG, STRINGS = 1, 2, 3, 4


REL, RELA = 9, 4


def relocated(elf_builder: Any, *records: tuple[int, int, int, int], kind: int = RELA) -> bytes:
    """16 bytes of debug information with these records (offset, type, symbol, addend) applied."""
    builder = elf_builder(type=1)
    assert builder.section(".text", bytes(64), flags=6, align=64) == TEXT
    assert builder.section(".data", bytes(64), flags=3, align=64) == DATA
    content = bytearray(b"\xee" * 16)
    for at, type_, _, addend in records if kind == REL else ():
        size = 8 if type_ == ABS64 else 4
        content[at : at + size] = (addend & ((1 << 8 * size) - 1)).to_bytes(size, "little")
    assert builder.section(".debug_info", bytes(content), flags=0) == DEBUG
    assert builder.section(".debug_str", b"abc\0", flags=0) == STRINGS
    table = builder.symbols(
        ("code", 8, 4, 2, TEXT), ("value", 16, 4, 1, DATA), ("", 0, 0, 3, STRINGS), ("fixed", 0x77, 0, 0, 0xFFF1),
        ("elsewhere", 0, 0, 0x10, 0), ("wild", 0, 0, 0, 99),
    )
    packed = [struct.pack("<QQq", at, symbol << 32 | type_, addend) for at, type_, symbol, addend in records]
    data = b"".join(record[:16] if kind == REL else record for record in packed)
    builder.section(".rela.debug_info", data, kind=kind, flags=0, link=table, info=DEBUG)
    code_object = CodeObject(builder.build())
    section = code_object.sections[".debug_info"]
    return DebugRelocations(code_object).apply(section, section.data)


@pytest.mark.parametrize(
    ("record", "at", "value"),
    [
        ((0, ABS64, 1, 2), 0, struct.pack("<Q", 10)),  # .text is placed at 0
        ((3, ABS64, 2, -1), 3, struct.pack("<Q", 4096 + 15)),  # .data has a page of its own
        ((12, ABS32, 3, 2), 12, struct.pack("<I", 2)),  # an offset in .debug_str
        ((4, ABS32, 4, 0), 4, struct.pack("<I", 0x77)),
        ((4, ABS32, 5, 9), 4, struct.pack("<I", 9)),  # not defined here
        ((4, ABS32, 0, -1), 4, b"\xff" * 4),
        ((8, REL32, 1, 0), 8, struct.pack("<i", 0)),
        ((8, REL32, 1, -1), 8, struct.pack("<i", -1)),
        ((99, NONE, 1, 0), 0, b""),
    ],
)
def test_kinds(record: tuple[int, int, int, int], at: int, value: bytes, elf_builder: Any) -> None:
    expected = bytearray(b"\xee" * 16)
    expected[at : at + len(value)] = value
    assert relocated(elf_builder, record) == bytes(expected)
    if value:  # addends may stand in the fields, as objects for other systems than HSA have them
        assert relocated(elf_builder, record, kind=REL) == bytes(expected)


def test_several(elf_builder: Any) -> None:
    found = relocated(elf_builder, (0, ABS32, 3, 1), (8, ABS64, 1, 0), (4, ABS32, 3, 2))
    assert struct.unpack("<IIQ", found) == (1, 2, 8)


@pytest.mark.parametrize(
    ("record", "kind", "reason"),
    [
        ((13, ABS32, 1, 0), 4, "a relocation lies beyond the section's 16 bytes"),
        ((1 << 63, ABS64, 1, 0), 4, "a relocation lies beyond the section's 16 bytes"),
        ((0, 99, 1, 0), 4, "relocation type 99 cannot be used in debug information"),
        ((0, ABS32, 1000, 0), 4, "there is no symbol 1000: the symbol table has 7"),
        ((0, ABS32, 6, 0), 4, "symbol 6 is in section 99, which does not exist"),
    ],
)
def test_damage(record: tuple[int, int, int, int], kind: int, reason: str, elf_builder: Any) -> None:
    with pytest.raises(CodeObjectError, match=reason):
        relocated(elf_builder, record, kind=kind)
