"""Chains of parents end, regardless of the positions that damaged units give."""

from __future__ import annotations

from itertools import product

from rocdbg.dwarf.info import DebugInfo, DebugInfoError

SUBPROGRAM, BLOCK = 0x2E, 0x0B
ABBREVIATIONS = (
    b"\x01\x11\x01\0\0"  # unit
    b"\x02\x2e\x01\x01\x13\x03\x08\0\0"  # subprogram: sibling, name
    b"\x03\x0b\x01\x01\x13\0\0"  # lexical block: sibling
    b"\x04\x34\0\x03\x08\0\0"  # variable: name
    b"\x05\x11\0\0\0"  # unit without children
    b"\0"
)


def info(function_sibling: int, block_sibling: int, top: int = 1) -> DebugInfo:
    """A function ``f`` with a block with a variable ``v``, and a function ``g``; the siblings of two entries are given.
    """
    body = (
        bytes((top,)) + b"\x02" + function_sibling.to_bytes(4, "little") + b"f\0"
        b"\x03" + block_sibling.to_bytes(4, "little") + b"\x04v\0" + b"\0"
        b"\0"
        b"\x02" + (38).to_bytes(4, "little") + b"g\0" + b"\0"
        b"\0"
    )
    rest = b"\x05\0\x01\x08" + bytes(4) + body
    return DebugInfo({".debug_info": len(rest).to_bytes(4, "little") + rest, ".debug_abbrev": ABBREVIATIONS})


def parents(found: DebugInfo, offset: int) -> list[int]:
    die = found.die(offset)
    seen: list[int] = []
    while die.parent is not None:
        die = die.parent
        seen.append(die.offset)
        assert len(seen) < 10, seen
    return seen


def test_sound_siblings() -> None:
    found = info(30, 29)
    assert [parents(found, at) for at in (12, 13, 20, 25, 30)] == [[], [12], [13, 12], [20, 13, 12], [12]]


def test_any_siblings() -> None:
    """References lead forwards, backwards, to the entry itself, into the middle of an entry and out of the unit."""
    for function_sibling, block_sibling in product(range(45), repeat=2):
        found = info(function_sibling, block_sibling)
        for offset in range(12, 40):
            try:
                parents(found, offset)
            except DebugInfoError:
                continue
        try:
            found.functions_named("f")
            found.functions_named("g")
        except DebugInfoError:
            continue


def test_entries_behind_a_unit_without_children() -> None:
    """Such entries have no parent: neither the last entry of the table nor themselves."""
    found = info(30, 29, top=5)
    assert [parents(found, at) for at in (13, 20, 25, 30)] == [[], [13], [20, 13], []]
