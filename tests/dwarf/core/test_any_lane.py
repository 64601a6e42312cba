"""Locations in all lanes at once equal the evaluator's results for each lane."""

from __future__ import annotations

from typing import Any

import pytest

from rocdbg import dwarf
from rocdbg.dwarf.any_lane import ANY_LANE, at_lane, depends_on_lane, location_for_any_lane
from rocdbg.dwarf.operation_assembler import assemble

LANES = 64
VECTOR, SCALAR = 2560, 32
LANE = ("push_lane", "lit4", "mul", "offset")
PRIVATE = ("lit8", "lit5", "form_aspace_address")


def context(lane: int) -> dwarf.SimpleContext:
    return dwarf.SimpleContext(
        lane=lane, wave_size=LANES, pc=0x40,
        registers={VECTOR: bytes(range(256)), VECTOR + 1: bytes(255 - n for n in range(256)), 40: b"\1\2\3\4",
                   SCALAR: (16).to_bytes(4, "little")},
        memory={0: {0x1000: bytes(range(64))}, 6: {0: bytes(n * 7 & 255 for n in range(64 * LANES))}},
        frame_base=dwarf.Expression(
            assemble(("regx", SCALAR), ("deref_size", 4), "lit5", "form_aspace_address"), "amd"
        ),
    )


CASES: list[tuple[str, bool | None, tuple[Any, ...]]] = [
    # what it is, whether lanes differ (None: each has to be asked), operations
    ("a scalar register", False, (("regx", 40),)),
    ("a number", False, ("lit7", "stack_value")),
    ("nothing", False, ()),
    ("global memory", False, (("addr", 0x1000),)),
    ("a lane's dword", True, (("regx", VECTOR), *LANE)),
    ("in bits", True, (("regx", VECTOR), "push_lane", ("constu", 32), "mul", "bit_offset")),
    ("the second byte of it", True, (("regx", VECTOR), *LANE, "lit1", "offset")),
    ("a lane's memory", True, PRIVATE),
    ("in the frame", True, (("fbreg", 4),)),
    ("two dwords", True, (("regx", VECTOR), *LANE, ("piece", 4), ("regx", VECTOR + 1), *LANE, ("piece", 4))),
    ("some of each", True, (("regx", 40), ("piece", 2), *PRIVATE, ("piece", 3), ("regx", VECTOR), *LANE, ("piece", 1))),
    ("the lane's number", None, ("push_lane", "stack_value")),
    ("what is in its memory", None, (*PRIVATE, ("deref_size", 4), "stack_value")),
    ("what is in its dword", None, (("regx", VECTOR), *LANE, ("deref_size", 4), "stack_value")),
    ("another stride", None, (("regx", VECTOR), "push_lane", "lit2", "mul", "offset")),
    ("a jump", None, (("skip", 0), ("regx", VECTOR), *LANE)),
    ("more than a dword", None, (("regx", VECTOR), *LANE, ("piece", 8))),
    ("a vector of dwords", None, (("regx", VECTOR), *LANE, ("extend", 32, 4))),
    ("damaged", None, ("drop",)),
]


@pytest.mark.parametrize(("differs", "operations"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_all_lanes_at_once(differs: bool | None, operations: tuple[Any, ...]) -> None:
    expression = dwarf.Expression(assemble(*operations), "amd")
    try:
        whole = location_for_any_lane(expression, context(ANY_LANE))
        if differs is not None:
            assert depends_on_lane(whole) == differs
        found = [at_lane(whole, lane) for lane in range(LANES)]
    except dwarf.DwarfError:
        assert differs is None
        return
    assert differs is not None, "each lane has to be asked"
    for lane in range(LANES):
        alone = dwarf.evaluate_location(expression, context(lane))
        assert found[lane].describe() == alone.describe()
        if not alone.is_undefined:
            bits = min(16, alone.remaining)
            there = context(lane)
            assert dwarf.evaluate_location(expression, there).read(bits) == alone.read(bits)
