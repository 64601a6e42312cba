"""The nested IF/THEN/ELSE lane PC example of the AMDGPU documents, in every dialect.

At `e` the documents name `__divergent_lane_pc`, but the prose and the program's behaviour require
`__divergent_lane_pc_1_then`. `DW_OP_deref_type 64` gives a number of bits where bytes are meant. Both are corrected
here.
"""

from __future__ import annotations

import time

import pytest

from rocdbg import dwarf
from rocdbg.dwarf.operation_assembler import assemble
from rocdbg.dwarf.operation_table import DIALECTS

PC, EXEC = 16, 17
UINT64 = 0x10
ACTIVE, DIVERGENT, THEN_1, THEN_1_1, ELSE_1_1, ELSE_1 = 0x20, 0x21, 0x22, 0x23, 0x24, 0x25
SAVE_1, SAVE_1_1 = 0x30, 0x31
# Addresses of the labels, by index into .debug_addr.
LABELS = {"lex_1_start": 0x110, "lex_1_1_start": 0x130, "lex_1_1_end": 0x170, "lex_1_end": 0x1B0}
INDEX = {name: i for i, name in enumerate(LABELS)}

ENTRY = 0x00FF_FFFF_FFFF_FF0F  # lanes 4..7 and 56..63 were not active on entry
C1 = 0x0000_FFFF_FFFF_0F0F & ENTRY
C2 = 0x0000_00FF_FF00_0303 & C1


def context(dialect: str, pc: int, mask: int) -> dwarf.SimpleContext:
    def code(*items: object) -> bytes:
        return assemble(*items, dialect=dialect)  # type: ignore[arg-type]

    def region(outer: int, label: str, saved: int) -> bytes:
        return code(
            ("call_ref", outer),
            ("addrx", INDEX[label]),
            "stack_value",
            ("extend", 64, 64),
            ("call_ref", saved),
            ("deref_type", 8, UINT64),
            ("select_bit_piece", 64, 64),
        )

    # The masks are saved in s[4:5], and in s[6:7] from lex_1_1_start on.
    dies = {
        UINT64: dwarf.BaseType("__uint64", "DW_ATE_unsigned", 64),
        ACTIVE: code(
            ("regx", PC), ("extend", 64, 64), ("regval_type", EXEC, UINT64), ("select_bit_piece", 64, 64)
        ),
        DIVERGENT: code("undefined", ("extend", 64, 64)),
        THEN_1: region(DIVERGENT, "lex_1_start", SAVE_1),
        THEN_1_1: region(THEN_1, "lex_1_1_start", SAVE_1_1),
        ELSE_1_1: region(THEN_1, "lex_1_1_end", SAVE_1_1),
        ELSE_1: region(DIVERGENT, "lex_1_end", SAVE_1),
        SAVE_1: dwarf.LocationList([(0x108, 0x1B8, code(("regx", 36), ("piece", 4), ("regx", 37), ("piece", 4)))]),
        SAVE_1_1: dwarf.LocationList([(0x128, 0x1B8, code(("regx", 38), ("piece", 4), ("regx", 39), ("piece", 4)))]),
    }
    registers = {PC: pc.to_bytes(8, "little"), EXEC: mask.to_bytes(8, "little")}
    for first, saved in ((36, ENTRY), (38, C1)):
        registers[first] = (saved & 0xFFFFFFFF).to_bytes(4, "little")
        registers[first + 1] = (saved >> 32).to_bytes(4, "little")
    return dwarf.SimpleContext(
        lane=0, pc=pc, registers=registers, debug_addr=list(LABELS.values()), dies=dies
    )


def lane_pc(dialect: str) -> dwarf.LocationList:
    def entry(low: int, high: int, procedure: int) -> tuple[int, int, bytes]:
        items = (("call_ref", procedure), ("call_ref", ACTIVE))
        return low, high, assemble(*items, dialect=dialect)

    return dwarf.LocationList(
        [
            entry(0x100, 0x114, DIVERGENT),
            entry(0x114, 0x134, THEN_1),
            entry(0x134, 0x150, THEN_1_1),
            entry(0x150, 0x170, ELSE_1_1),
            entry(0x170, 0x190, THEN_1),
            entry(0x190, 0x1B0, ELSE_1),
            entry(0x1B0, 0x1D0, DIVERGENT),
        ],
        dialect,
    )


# Where execution is, EXEC there, and where the lanes of each set of conditions logically are.
WHERE = [
    # name, pc, EXEC, c1 and c2, c1 and not c2, not c1
    ("a", 0x100, ENTRY, 0x100, 0x100, 0x100),
    ("b", 0x118, C1, 0x118, 0x118, LABELS["lex_1_start"]),
    ("c", 0x140, C2, 0x140, LABELS["lex_1_1_start"], LABELS["lex_1_start"]),
    ("d", 0x158, C1 & ~C2, LABELS["lex_1_1_end"], 0x158, LABELS["lex_1_start"]),
    ("e", 0x178, C1, 0x178, 0x178, LABELS["lex_1_start"]),
    ("f", 0x198, ENTRY & ~C1, LABELS["lex_1_end"], LABELS["lex_1_end"], 0x198),
    ("g", 0x1B8, ENTRY, 0x1B8, 0x1B8, 0x1B8),
]


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(("name", "pc", "mask", "both", "first", "neither"), WHERE, ids=[row[0] for row in WHERE])
def test_each_lane_is_where_it_logically_is(
    name: str, pc: int, mask: int, both: int, first: int, neither: int, dialect: str
) -> None:
    location = dwarf.evaluate_location_list(lane_pc(dialect), context(dialect, pc, mask))
    assert len(location.places) == 1
    expected = [
        None if not ENTRY >> lane & 1 else neither if not C1 >> lane & 1 else both if C2 >> lane & 1 else first
        for lane in range(64)
    ]
    assert location.read_elements(64, 64) == expected
    for lane in (0, 4, 9, 10, 17, 40, 50, 63):
        if expected[lane] is None:
            with pytest.raises(dwarf.UndefinedValue):
                location.read(64, 64 * lane)
        else:
            assert location.read(64, 64 * lane) == expected[lane]


def test_a_vector_is_evaluated_and_read_quickly() -> None:
    ctx = context("amd", 0x140, C2)
    entries = lane_pc("amd")
    times = []
    for _ in range(20):
        start = time.perf_counter()
        dwarf.evaluate_location_list(entries, ctx).read_elements(64, 64)
        times.append(time.perf_counter() - start)
    assert min(times) < 0.03  # a hundred times the goal, so that a slow machine does not fail
