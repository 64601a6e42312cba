"""The nested if/then/else: at every instruction and in each dialect, each lane is where the source says."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from rocdbg.debugger import Session
from rocdbg.debugger.base.focus import Focus
from rocdbg.debugger.frames.frames import Frame
from rocdbg.debugger.running.stop_events import StopReason

DIALECTS = ("amd", "proposal2020", "llvm22")
WAVES = {"gfx90a": 64, "gfx1100": 32}
Inputs = Callable[[str], NDArray[np.int32]]


def waiting_line(line: int, x: int) -> int:
    """The line at which a lane with the value `x` waits while the wave is at `line`; None if it does not wait.

    7 and 9 are the two conditions, 13 follows the inner if/else, 16 the outer one.
    """
    if line in (14, 15):
        return 16
    if not x & 1:
        return 7
    return {9: 9, 10: 9, 11: 13, 12: 13}[line]


def line_of(session: Session, pc: int) -> int:
    assert session.inferior.program is not None
    row = session.inferior.program.line_at(pc)
    assert row is not None and row.line is not None
    return row.line


@pytest.mark.parametrize("target", WAVES)
@pytest.mark.parametrize("dialect", DIALECTS)
def test_lane_pc_at_every_instruction(
    extension: Callable[..., Session], extension_input: Inputs, dialect: str, target: str
) -> None:
    session = extension("nested", target, dialect)
    x = extension_input("nested")
    assert session.inferior.program is not None
    assert session.inferior.program.info.units[0].dialect == dialect
    session.start()
    # the last wave is a partial one: 120 work-items
    thread = 2 if target == "gfx90a" else 4
    first = WAVES[target] * (thread - 1)
    session.focus.select_thread(thread)
    waited = set()
    while True:
        wave = session.inferior.wave(thread)
        pcs = session.inferior.lane_pcs(thread)
        assert pcs is not None and len(pcs) == WAVES[target]
        line = line_of(session, wave.pc)
        for lane, pc in enumerate(pcs):
            if first + lane >= len(x):
                assert pc is None  # never entered the kernel
            elif wave.exec_mask >> lane & 1:
                assert pc == wave.pc
            else:
                assert pc is not None
                assert line_of(session, pc) == waiting_line(line, int(x[first + lane])), (line, lane)
                waited.add((line, line_of(session, pc)))
        event = session.running.stepi()
        if event.reason is StopReason.EXITED or thread not in [row.number for row in session.tables.threads()]:
            break
    assert waited == {
        (7, 7), (8, 7), (9, 7), (9, 9), (10, 7), (10, 9), (11, 7), (11, 13), (12, 7), (12, 13), (13, 7),
        (14, 16), (15, 16),
    }


R_AT = {
    # line: r of a lane with this x, while the wave is about to execute that line
    8: lambda x: 0,
    10: lambda x: 3 * x if x & 1 else 0,
    12: lambda x: 3 * x + (100 if x & 2 else 0) if x & 1 else 0,
    13: lambda x: 3 * x + (100 if x & 2 else -1) if x & 1 else 0,
    15: lambda x: (3 * x + (100 if x & 2 else -1)) ^ 5 if x & 1 else 0,
    16: lambda x: (3 * x + (100 if x & 2 else -1)) ^ 5 if x & 1 else x + 7,
}


@pytest.mark.parametrize("target", WAVES)
@pytest.mark.parametrize("dialect", DIALECTS)
def test_variables_of_each_lane(
    extension: Callable[..., Session], extension_input: Inputs, dialect: str, target: str
) -> None:
    session = extension("nested", target, dialect)
    x = extension_input("nested")
    for line in R_AT:
        session.break_at(f"nested.hip:{line}")
    session.run()
    for line, r in R_AT.items():
        frame = session.focus.frame()
        assert frame.line == line and frame.name == "nested"
        for lane in range(0, WAVES[target], 7):
            scope = Focus(1, lane)
            assert session.data.evaluate("i", scope).as_int() == lane
            assert session.data.evaluate("x", scope).as_int() == x[lane]
            assert session.data.evaluate("r", scope).as_int() == r(int(x[lane]))
            assert session.data.evaluate("in[i]", scope).as_int() == x[lane]
        session.running.proceed()


def mask_at(session: Session, name: str) -> int:
    """The value of an artificial variable of the frame."""
    return session.data.evaluate(name, Focus(1, 0)).as_int()


@pytest.mark.parametrize("target", WAVES)
def test_saved_masks_move_between_registers(
    extension: Callable[..., Session], extension_input: Inputs, target: str
) -> None:
    session = extension("nested", target)
    x = extension_input("nested")[: WAVES[target]]
    all_lanes = (1 << WAVES[target]) - 1
    odd = sum(1 << lane for lane in range(len(x)) if x[lane] & 1)
    session.break_at("nested.hip:8")  # in SGPRs
    session.break_at("nested.hip:13")  # in two lanes of a VGPR, while the SGPRs hold something else
    session.break_at("nested.hip:15")  # back in SGPRs
    session.run()
    # focus a lane that is active there, whose PC is the wave's
    lane = next(lane for lane in range(len(x)) if x[lane] & 1)
    assert session.data.evaluate("__lex_1_save_exec", Focus(1, lane)).as_int() == all_lanes
    session.running.proceed()
    assert session.data.evaluate("$s10", Focus(1, lane)).as_int() == 0x5CA1AB1E
    assert session.data.evaluate("__lex_1_save_exec", Focus(1, lane)).as_int() == all_lanes
    assert session.data.evaluate("__lex_1_1_save_exec", Focus(1, lane)).as_int() == odd
    session.running.proceed()
    lane = next(lane for lane in range(len(x)) if not x[lane] & 1)
    assert session.data.evaluate("__lex_1_save_exec", Focus(1, lane)).as_int() == all_lanes


def test_assignment_changes_one_lane(extension: Callable[..., Session], extension_input: Inputs) -> None:
    session = extension("nested")
    x = extension_input("nested")
    session.break_at("nested.hip:16")
    session.run()
    before = [session.data.evaluate("x", Focus(1, lane)).as_int() for lane in range(64)]
    session.data.evaluate("x = 1234", Focus(1, 9))
    after = [session.data.evaluate("x", Focus(1, lane)).as_int() for lane in range(64)]
    assert before == x[:64].tolist()
    assert after == [*before[:9], 1234, *before[10:]]


@pytest.mark.parametrize("dialect", ["amd", "llvm22"])
def test_kernel_frame_is_the_outermost(extension: Callable[..., Session], dialect: str) -> None:
    session = extension("nested", "gfx90a", dialect)
    session.break_at("nested.hip:10")
    session.run()
    frames: list[Frame] = list(session.focus.frames())
    assert [frame.name for frame in frames] == ["nested"]
    row = frames[0].context.found_row
    assert row is not None and "CFI" in row.source
    place = frames[0].context.cfa
    assert place is not None and place.describe() == "memory at private_wave#0x0"
