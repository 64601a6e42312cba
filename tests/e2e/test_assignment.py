"""A value assigned to a variable of one lane reaches that lane's code, and no other lane's."""

from __future__ import annotations

import struct
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from rocdbg import isa
from rocdbg.debugger import Session, StopReason

pytestmark = pytest.mark.llvm
Start = Callable[..., Session]
Bits = NDArray[np.int64]

W64 = "-mwavefrontsize64"
LANE = 5


def bits(number: float) -> int:
    """A double, as the trace buffer holds it."""
    return int.from_bytes(struct.pack("<d", number), "little", signed=True)


# (assignment, slot that shows it, what the slot then holds)
ASSIGNMENTS = [
    ("i = -77", 0, -77),
    ("wide = 1LL << 40", 1, 1 << 40),
    ("d = 2.5", 2, bits(2.5)),
    ("f = -1.25", 3, bits(-1.25)),
    ("h = 3.5", 4, bits(3.5)),
    ("b = true", 5, 1),
    ("c = 'z'", 6, 122),
    ("p.x += 9", 7, 14),
    ("p.y = -300", 8, -300),
    ("p.bits = 17", 9, 17),
    ("p.rest = -1000", 10, -1000),
    ("a[1][2] = 55", 11, 55),
    ("v.z = 9.5", 12, bits(9.5)),
    ("*q = 42", 13, 42),
    ("ref = 66", 14, 66),
    ("tile[item] = 7", 15, 7),
    ("buffer[gid] = 8", 16, 8),
    ("uniform = 12", 18, 12),
]


def stop_at_marks(session: Session) -> None:
    program = session.inferior.need_program()
    text = program.code_object.sections[".text"]
    target = program.code_object.target.name
    for instruction in isa.disassemble(text.data, target, address=text.address):
        if instruction.text == "s_nop 6":
            session.break_at(f"*{instruction.address:#x}", thread=1, temporary=True)


def trace_at_exit(session: Session) -> Bits:
    """Run to the end; return the trace buffer, int64[slots, items]."""
    event = session.running.proceed()
    while event.reason is StopReason.BREAKPOINT:
        event = session.running.proceed()
    assert event.reason is StopReason.EXITED
    bound = session.launch.bound
    assert bound is not None
    return bound.buffers[0].contents.view(np.int64).reshape(64, 160).copy()


def changes(before: Bits, after: Bits) -> dict[tuple[int, int], int]:
    """The differences: (slot, item) and the new number."""
    return {(int(s), int(i)): int(after[s, i]) for s, i in zip(*np.nonzero(before != after), strict=True)}


@pytest.fixture
def session(start: Start) -> Callable[..., Session]:
    """A session stopped at the mark of a kernel of assign.hip, on `LANE` of wave 1."""

    def make(kernel: str, target: str, *options: str) -> Session:
        made = start("assign.hip", kernel, ["i32[160]:arange", "3"], target, *options)
        stop_at_marks(made)
        assert made.run().reason is StopReason.BREAKPOINT
        made.focus.select_lane(LANE)
        return made

    return make


@pytest.mark.parametrize("target", ["gfx90a", "gfx942", "gfx1030", "gfx1100"])
def test_assigned_values_reach_one_lane_only(session: Callable[..., Session], target: str) -> None:
    reference = trace_at_exit(session("assign", target))
    changed = session("assign", target)
    for text, _, _ in ASSIGNMENTS:
        changed.data.evaluate(text)
    after = trace_at_exit(changed)
    assert changes(reference, after) == {(slot, LANE): value for _, slot, value in ASSIGNMENTS}


def test_what_lanes_share_changes_for_all(session: Callable[..., Session]) -> None:
    reference = trace_at_exit(session("assign", "gfx90a"))
    changed = session("assign", "gfx90a")
    changed.data.evaluate("shared_by_all = 1")
    after = trace_at_exit(changed)
    assert changes(reference, after) == {(17, item): 1 for item in range(160) if item % 4 != 3}


def test_an_inactive_lane_has_variables_too(session: Callable[..., Session]) -> None:
    stopped = session("assign", "gfx1030")
    stopped.focus.select_lane(7)
    assert stopped.warnings.take() == []  # its place is known
    assert stopped.data.integer("i") == 7
    stopped.data.evaluate("i = 700")
    values = []
    for lane in (6, 7, 8):
        stopped.focus.select_lane(lane)
        values.append(stopped.data.integer("i"))
    assert values == [6, 700, 8]


IN_REGISTERS = [
    ("i = 1234", 0, 1234),
    ("f = 0.75", 1, bits(0.75)),
    ("wide = -5", 2, -5),
    ("d = -0.5", 3, bits(-0.5)),
]


@pytest.mark.parametrize(
    ("target", "options"),
    [("gfx90a", ["-O2"]), ("gfx1100", ["-O1"]), ("gfx1100", ["-O3", W64]), ("gfx1030", ["-O2"])],
)
def test_registers_of_optimised_code(
    session: Callable[..., Session], target: str, options: list[str]
) -> None:
    """``wide`` and ``d`` are in two registers each."""
    reference = trace_at_exit(session("registers", target, *options))
    changed = session("registers", target, *options)
    wave = changed.inferior.target.dispatch.waves[0]  # type: ignore[union-attr]
    before = [wave.vgpr(n).copy() for n in range(32)]
    for text, _, _ in IN_REGISTERS:
        changed.data.evaluate(text)
    for n, old in enumerate(before):
        assert set(np.nonzero(wave.vgpr(n) != old)[0]) <= {LANE}
    after = trace_at_exit(changed)
    assert changes(reference, after) == {(slot, LANE): value for _, slot, value in IN_REGISTERS}
