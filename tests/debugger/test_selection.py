"""The effect of selecting a wave, a lane or a frame, and the rows of `info threads` and `info lanes`.

The target is a fixed state: wave 1 has lanes 1 to 3 of 4 active, wave 2 none, wave 3 lanes 0 and 1 of 64; only the
first 60 lanes of wave 3 are used. Only the innermost frame is known.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from rocdbg import Error
from rocdbg.debugger import Session
from rocdbg.debugger.base.focus import STATIC, Focus
from rocdbg.debugger.reports.session_tables import LaneState
from rocdbg.debugger.target.capabilities.target_state import LoadedCodeObject
from tests.debugger.toy_target import DictionaryTarget, wave

SAXPY = Path(__file__).resolve().parents[2] / "demo_kernels" / "saxpy" / "saxpy.O2.gfx90a.co"
BASE = 0x10000
INACTIVE = ["Current lane is inactive."]


@pytest.fixture
def session() -> Session:
    """The focus is on wave 1, lane 1, as after attaching."""
    made = Session()
    made.load(SAXPY)
    program = made.inferior.need_program()
    pc = BASE + program.info.functions_named("saxpy")[0].low_pc
    waves = [
        wave(1, pc, 0b1110, lanes=4),
        wave(2, pc, 0, lanes=4),
        replace(wave(3, pc, 0b11), used_lanes=(1 << 60) - 1),
    ]
    loaded = [LoadedCodeObject(program.code_object, BASE)]
    made.running.attach(DictionaryTarget(resident={each.number: each for each in waves}, loaded=loaded))
    made.warnings.take()
    return made


SELECTIONS: list[tuple[str, Callable[[Session], object], Focus | str, list[str]]] = [
    # as typed, what it does, the focus afterwards or what is wrong, warnings
    ("thread 1", lambda s: s.focus.select_thread(1), Focus(1, 1), []),
    ("thread 3", lambda s: s.focus.select_thread(3), Focus(3, 0), []),
    ("thread 2", lambda s: s.focus.select_thread(2), Focus(2, 0), INACTIVE),
    ("thread 1:3", lambda s: s.focus.select_thread(1, 3), Focus(1, 3), []),
    ("thread 1:0", lambda s: s.focus.select_thread(1, 0), Focus(1, 0), INACTIVE),
    ("thread 3:63", lambda s: s.focus.select_thread(3, 63), Focus(3, 63), ["Current lane is unused."]),
    ("thread 1:4", lambda s: s.focus.select_thread(1, 4), "Lane 4 does not exist on this thread.", []),
    ("thread 3:64", lambda s: s.focus.select_thread(3, 64), "Lane 64 does not exist on this thread.", []),
    ("thread 4", lambda s: s.focus.select_thread(4), "Unknown thread 4.", []),
    ("thread 0", lambda s: s.focus.select_thread(0), "Unknown thread 0.", []),
    ("lane 2", lambda s: s.focus.select_lane(2), Focus(1, 2), []),
    ("lane 0", lambda s: s.focus.select_lane(0), Focus(1, 0), INACTIVE),
    ("lane 64", lambda s: s.focus.select_lane(64), "Lane 64 does not exist on this thread.", []),
    ("lane -1", lambda s: s.focus.select_lane(-1), "Lane -1 does not exist on this thread.", []),
    ("frame 0", lambda s: s.focus.select_frame(0), Focus(1, 1), []),
    ("frame 9", lambda s: s.focus.select_frame(9), "No frame at level 9.", []),
    ("frame -1", lambda s: s.focus.select_frame(-1), "No frame at level -1.", []),
    ("up", lambda s: s.focus.up(), "Initial frame selected; you cannot go up.", []),
    ("down", lambda s: s.focus.up(-1), "Bottom (innermost) frame selected; you cannot go down.", []),
]


@pytest.mark.parametrize(
    ("select", "expected", "warnings"), [row[1:] for row in SELECTIONS], ids=[row[0] for row in SELECTIONS]
)
def test_selecting(
    session: Session, select: Callable[[Session], object], expected: Focus | str, warnings: list[str]
) -> None:
    try:
        assert select(session) == session.focus.current == expected
    except Error as error:
        assert str(error) == expected
        assert session.focus.current == Focus(1, 1)
    assert session.warnings.take() == warnings


def test_the_lane_stays_with_its_wave(session: Session) -> None:
    session.focus.select_lane(3)
    assert [session.focus.select_thread(thread) for thread in (1, 3, 1)] == [Focus(1, 3), Focus(3, 0), Focus(1, 1)]


def test_another_view_moves_alone(session: Session) -> None:
    other = session.at(Focus(3, 1))
    other.focus.select_lane(0)
    assert (session.focus.current, other.focus.current) == (Focus(1, 1), Focus(3, 0))


def test_a_focus_ends_with_its_program(session: Session) -> None:
    other = session.at(Focus(3, 1))
    session.running.leave()
    assert (session.focus.current, other.focus.current) == (STATIC, STATIC)
    for select in (lambda: session.focus.select_lane(0), lambda: session.focus.up()):
        with pytest.raises(Error):
            select()


def test_a_focus_on_a_wave_that_has_ended_goes_to_the_first(session: Session) -> None:
    session.focus.select_thread(3)
    target = session.inferior.target
    assert isinstance(target, DictionaryTarget)
    del target.resident[3]
    session.focus.settle()
    assert session.focus.current == Focus(1, 1)
    session.focus.settle()
    assert session.focus.current == Focus(1, 1)


def test_rows_of_threads(session: Session) -> None:
    session.focus.select_thread(3)
    session.focus.name_thread("tail")
    rows = [(row.number, row.target_id, row.kernel, row.current, row.name) for row in session.tables.threads()]
    assert rows == [
        (1, "AMDGPU Wave 1:1:1:1 (0,0,0)/0", "kern", False, ""),
        (2, "AMDGPU Wave 1:1:1:2 (0,0,0)/1", "kern", False, ""),
        (3, "AMDGPU Wave 1:1:1:3 (0,0,0)/2", "kern", True, "tail"),
    ]
    assert {row.frame.name for row in session.tables.threads()} == {"saxpy"}


def test_rows_of_lanes(session: Session) -> None:
    session.focus.select_lane(2)
    session.focus.name_lane("mine")
    rows = [(row.lane, row.state.value, row.target_id, row.current, row.name) for row in session.tables.lanes()]
    assert rows == [
        (0, "I", "AMDGPU Lane 1:1:1:1/0 (0,0,0)[0,0,0]", False, ""),
        (1, "A", "AMDGPU Lane 1:1:1:1/1 (0,0,0)[1,0,0]", False, ""),
        (2, "A", "AMDGPU Lane 1:1:1:1/2 (0,0,0)[2,0,0]", True, "mine"),
        (3, "A", "AMDGPU Lane 1:1:1:1/3 (0,0,0)[3,0,0]", False, ""),
    ]
    assert [row.is_located for row in session.tables.lanes()] == [False, True, True, True]


def test_rows_of_a_wave_that_is_not_full(session: Session) -> None:
    rows = session.tables.lanes(3)
    assert "".join(row.state.value for row in rows) == "AA" + 58 * "I" + 4 * "U"
    assert [row.lane for row in rows if row.frame is None] == [60, 61, 62, 63]
    assert not any(row.current for row in rows)
    assert {state.value for state in LaneState} == set("AIUR")


def test_rows_of_registers(session: Session) -> None:
    target = session.inferior.target
    assert isinstance(target, DictionaryTarget)
    target.write_register(1, 32 + 5, (0x2A).to_bytes(4, "little"))  # s5
    rows = [(row.name, row.raw, row.natural) for row in session.tables.registers(["$s5", "s4", "s[4:5]"])]
    assert rows == [("s5", "0x2a", "42"), ("s4", "0x0", "0"), ("s[4:5]", "0x2a00000000", "180388626432")]
