"""The pass over a unit's entries, done in parts and abandoned midway; and names that are gathered in this way."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from rocdbg.debugger.program.program import CHUNK, MOST, NameList
from rocdbg.dwarf.info import DebugInfo, DebugInfoError
from rocdbg.dwarf.info.all_names import DeclaredName, NameKind
from rocdbg.dwarf.info.unit import Unit
from rocdbg.dwarf.info.unit_index import SLICE

ABBREVIATIONS = (
    b"\x01\x11\x01\0\0"  # unit
    b"\x02\x34\0\x03\x08\0\0"  # variable: name
    b"\0"
)
COUNT = 3 * SLICE // 10


def info(end: bytes = b"\0") -> DebugInfo:
    """Variables ``v00000``, ``v00001`` and so on."""
    body = b"\x01" + b"".join(b"\x02v%05d\0" % number for number in range(COUNT)) + end
    rest = b"\x05\0\x01\x08" + bytes(4) + body
    return DebugInfo({".debug_info": len(rest).to_bytes(4, "little") + rest, ".debug_abbrev": ABBREVIATIONS})


def unit_of(found: DebugInfo) -> Unit:
    return found.die(12).unit


def test_a_pass_that_was_begun_is_gone_on_with() -> None:
    index = unit_of(info()).index
    steps = index.reading()
    next(steps)
    begun = index._found
    assert 1 < len(begun.offsets) < COUNT
    assert index.records is begun
    assert len(begun.offsets) == COUNT + 1
    assert list(steps) == []


def test_one_that_was_interrupted_begins_anew() -> None:
    index = unit_of(info()).index
    steps = index.reading()
    next(steps)
    with pytest.raises(KeyboardInterrupt):
        steps.throw(KeyboardInterrupt)
    assert len(index.records.offsets) == COUNT + 1


def test_damage_is_told_however_it_is_read() -> None:
    index = unit_of(info(end=b"\x09")).index
    with pytest.raises(DebugInfoError, match="abbreviation 9 is not defined"):
        list(index.reading())
    with pytest.raises(DebugInfoError, match="abbreviation 9 is not defined"):
        assert index.records


def gathered(count: int) -> NameList:
    def source() -> Iterator[DeclaredName | None]:
        for number in range(count):
            yield DeclaredName(f"f{number * 7919 % count:05}", NameKind.FUNCTION, number)
            yield None

    return NameList(source)


def test_names_are_the_first_ones_of_all_chunks() -> None:
    count = 3 * CHUNK + 5
    names = gathered(count)
    assert names.starting("f", [NameKind.FUNCTION]) == []
    names.finish()
    assert names.starting("f", [NameKind.FUNCTION]) == [f"f{number:05}" for number in range(MOST)]
    assert names.starting("f001", [NameKind.FUNCTION]) == [f"f{number:05}" for number in range(100, 200)]
    assert names.starting("f99999", [NameKind.FUNCTION]) == []
