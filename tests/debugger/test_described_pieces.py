"""Descriptions that consist of pieces, and descriptions in lanes whose positions are not known."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from rocdbg import isa
from rocdbg.debugger import Session
from rocdbg.debugger.base.focus import Focus
from rocdbg.debugger.frames.described_pieces import composed, pieces_of, projected
from rocdbg.debugger.running.stop_events import StopReason
from rocdbg.debugger.values.value_storage import AbsentError
from rocdbg.dwarf.context import LocationList
from rocdbg.dwarf.operation_assembler import assemble
from rocdbg.errors import Error

Compile = Callable[..., Path]
V3, V4 = ("regx", 2563), ("regx", 2564)
INPUT = [(i * 7919 + 4093) % 70001 for i in range(128)]


def composite(*operations: str | tuple[str | int | bytes, ...]) -> bytes:
    return assemble(*operations, dialect="amd")


def test_a_composite_is_taken_apart() -> None:
    data = composite(V3, ("piece", 4), ("piece", 8), ("lit7"), "stack_value", ("bit_piece", 3, 0))
    pieces = pieces_of(data, "amd")
    assert [(piece.offset, piece.size, piece.data) for piece in pieces] == [
        (0, 32, composite(V3)), (32, 64, b""), (96, 3, composite("lit7", "stack_value")),
    ]
    assert composed(pieces) == data
    assert pieces_of(composite(V3), "amd") == []
    assert pieces_of(composite(V3, ("piece", 4), V4), "amd") == []


def test_a_piece_has_a_list_of_its_own() -> None:
    one, other = composite(V3, ("piece", 4), V4, ("piece", 4)), composite(("piece", 4), V4, ("piece", 4))
    wide = composite(V3, ("piece", 8))
    what = LocationList([(0, 8, one), (8, 12, other), (12, 16, one), (16, 20, wide), (24, 28, other)], "amd")
    first, second = pieces_of(one, "amd")
    assert projected(what, first).entries == (
        (0, 8, composite(V3)), (12, 16, composite(V3)), (16, 20, wide),
    )
    # where only the other piece changes, one entry continues another
    assert projected(what, second).entries == (
        (0, 16, composite(V4)), (16, 20, wide), (24, 28, composite(V4)),
    )


@pytest.mark.llvm
def test_lanes_that_are_not_known_to_be_here_have_no_values_from_here(compiled: Compile) -> None:
    session = Session()
    session.load(compiled("hops.hip", "gfx90a", "-O1"))
    session.launch.set_kernel("hops")
    session.launch.set_grid("64")
    session.launch.set_workgroup("64")
    session.launch.set_argument(0, "i32[64]:zeros")
    session.launch.set_argument(1, f"i32[128]:[{', '.join(map(str, INPUT))}]")
    code = session.inferior.need_program().code_object
    symbol = next(each for each in code.symbols if each.name == "hops")
    data = code.sections[".text"].data[symbol.value - code.sections[".text"].address:][: symbol.size]
    for instruction in isa.disassemble(data, code.target.name, address=symbol.value):
        session.break_at(f"*{instruction.address:#x}")
    event, visits, unknown, right, wrong = session.run(), dict[int, int](), 0, 0, list[str]()
    while event.reason is StopReason.BREAKPOINT:
        pc = session.inferior.wave(1).pc
        visits[pc] = visits.get(pc, 0) + 1
        for lane in range(0, 64, 3) if visits[pc] <= 2 else ():
            entered = session.inferior.entered(1, lane)
            unknown += entered is not None and entered.candidates is not None
            try:
                value = session.data.evaluate("next", Focus(1, lane)).as_int()
            except (AbsentError, Error):
                continue
            right += 0 <= value <= 64
            if not 0 <= value <= 64:
                wrong.append(f"{pc:#x}, lane {lane}: {value}")
        event = session.running.proceed()
    assert event.reason is StopReason.EXITED
    assert not wrong
    assert unknown > 50 and right > 20
