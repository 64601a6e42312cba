"""The parts that write debug information: each is compared with the part that reads it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocdbg import dwarf
from rocdbg.dwarf.cfi_rule_types import (
    CfaExpression,
    CfaRegister,
    ExpressionRule,
    OffsetRule,
    RegisterRule,
    Rule,
    UndefinedRule,
    ValExpressionRule,
    ValOffsetRule,
)
from rocdbg.dwarf.cfi_unwinding import Row
from rocdbg.dwarf.errors import DwarfError
from rocdbg.dwarf.location_list_reader import parse_location_list
from rocdbg.dwarf.operation_assembler import assemble, uleb128
from rocdbg.dwarf.rewriting.entry_references import ExpressionReference, padded_uleb, with_movable_references
from rocdbg.dwarf.rewriting.frame_writer import debug_frame
from rocdbg.dwarf.rewriting.location_list_writer import encode_list, loclists_header

RULES = st.one_of(
    st.just(UndefinedRule()), st.builds(RegisterRule, st.integers(0, 3000)),
    st.builds(OffsetRule, st.integers(-500, 500).map(lambda n: 4 * n)),
    st.builds(ValOffsetRule, st.integers(-500, 500).map(lambda n: 4 * n)),
    st.builds(ExpressionRule, st.binary(max_size=200)), st.builds(ValExpressionRule, st.binary(max_size=9)),
)
CFAS = st.one_of(
    st.builds(CfaRegister, st.integers(0, 100), st.integers(0, 1 << 20), st.sampled_from([None, 5, 6])),
    st.builds(CfaRegister, st.integers(0, 100), st.integers(-300, -1).map(lambda n: 4 * n), st.just(6)),
    st.builds(CfaExpression, st.binary(max_size=20)),
)


@st.composite
def functions(draw: st.DrawFn) -> list[Row]:
    """Rows of a function, one after the other."""
    start = draw(st.integers(0, 1 << 40))
    rows = []
    for _ in range(draw(st.integers(1, 8))):
        end = start + draw(st.sampled_from([1, 3, 4, 8, 63, 64, 255, 256, 65536, 70000]))
        rules: dict[int, Rule] = draw(st.dictionaries(st.integers(0, 3000), RULES, max_size=5))
        rows.append(Row(start, end, draw(CFAS), rules, 16))
        start = end
    return rows


@given(functions())
def test_call_frames_are_read_as_they_were_written(rows: list[Row]) -> None:
    table = dwarf.parse_frames(debug_frame([rows], 16))
    for row in rows:
        for pc in (row.start, row.end - 1):
            found = table.row(pc)
            assert found is not None
            assert found.cfa == row.cfa
            # what has no rule any more is written as the same value, which is the default
            same = dwarf.cfi_rule_types.SameValueRule
            rules = {n: rule for n, rule in found.rules.items() if not isinstance(rule, same)}
            assert rules == row.rules
    assert table.row(rows[-1].end) is None


def test_rows_that_do_not_follow_are_refused() -> None:
    cfa = CfaRegister(64, 0, 6)
    with pytest.raises(DwarfError, match="does not begin where"):
        debug_frame([[Row(0, 4, cfa, {}, 16), Row(8, 12, cfa, {}, 16)]], 16)
    with pytest.raises(DwarfError, match="has no rule for the canonical frame address"):
        debug_frame([[Row(0, 4, cfa, {}, 16), Row(4, 8, None, {}, 16)]], 16)
    with pytest.raises(DwarfError, match="not a multiple"):
        debug_frame([[Row(0, 4, CfaRegister(64, -2, 6), {}, 16)]], 16)


@given(
    st.lists(st.tuples(st.integers(1, 1 << 30), st.integers(1, 500), st.binary(max_size=300)), max_size=5),
    st.sampled_from([(2, 4), (4, 8), (5, 4), (5, 8)]),
)
def test_location_lists_are_read_as_they_were_written(
    parts: list[tuple[int, int, bytes]], form: tuple[int, int]
) -> None:
    version, address_size = form
    entries = [(low, low + size, data) for low, size, data in parts]
    header = loclists_header(0, address_size, 4) if version == 5 else b""
    encoded, positions = encode_list(entries, version, address_size)
    found = parse_location_list(header + encoded, len(header), version=version, address_size=address_size)
    assert list(found) == entries
    assert [encoded[at:at + len(data)] for at, (_, _, data) in zip(positions, entries, strict=True)] == [
        data for _, _, data in entries
    ]


def test_what_a_list_of_dwarf_4_cannot_say() -> None:
    with pytest.raises(DwarfError, match="default location"):
        encode_list([(None, None, b"")], 4, 8)
    with pytest.raises(DwarfError, match="too long for"):
        encode_list([(1, 2, bytes(70000))], 4, 8)
    assert list(parse_location_list(encode_list([(None, None, b"Q")], 5, 8)[0], 0)) == [(None, None, b"Q")]


@pytest.mark.parametrize(("before", "after", "references"), [
    # nothing refers to an entry: as it was
    (assemble("lit1", ("bra", 1), "lit2"), assemble("lit1", ("bra", 1), "lit2"), []),
    # a base type, whose offset grows by a branch over it
    (
        assemble(("bra", 3), "lit1", ("convert", 0x2A), "stack_value"),
        assemble(("bra", 7), "lit1") + b"\xa8" + padded_uleb(0, 5) + assemble("stack_value"),
        [ExpressionReference(5, 5, True, 0x2A, True)],
    ),
    # back over it, and the generic type, which is none
    (
        assemble(("convert", 0x2A), ("convert", 0), ("skip", -7)),
        b"\xa8" + padded_uleb(0, 5) + assemble(("convert", 0), ("skip", -11)),
        [ExpressionReference(1, 5, True, 0x2A, True)],
    ),
    # entries of the unit and of the section
    (
        assemble(("call4", 0x30), ("call2", 0x31), ("call_ref", 0x32)),
        assemble(("call4", 0x30), ("call2", 0x31), ("call_ref", 0x32)),
        [
            ExpressionReference(1, 4, False, 0x30, True), ExpressionReference(6, 2, False, 0x31, True),
            ExpressionReference(9, 4, False, 0x32, False),
        ],
    ),
    # within another expression
    (
        assemble("lit0", ("entry_value", assemble(("regval_type", 33, 0x2A)))),
        assemble("lit0") + b"\xa3" + uleb128(7) + b"\xa5\x21" + padded_uleb(0, 5),
        [ExpressionReference(5, 5, True, 0x2A, True)],
    ),
    # what cannot be decoded is left alone
    (b"\xa8\x2a\x01", b"\xa8\x2a\x01", []),
])
def test_references_have_room(before: bytes, after: bytes, references: list[ExpressionReference]) -> None:
    assert with_movable_references(before, "amd", 8, 4) == (after, references)


@given(st.binary(max_size=60))
def test_any_bytes_have_a_result(data: bytes) -> None:
    moved, references = with_movable_references(data, "amd", 8, 4)
    assert moved == data or references
