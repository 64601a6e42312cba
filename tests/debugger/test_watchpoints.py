"""Watchpoints in code that clang compiled for two targets: which lanes change what, and when watchpoints end."""

from __future__ import annotations

import pytest

from rocdbg.debugger import Session
from rocdbg.debugger.breakpoints.breakpoint_table import Disposition
from rocdbg.debugger.running.stop_events import StopEvent, StopReason

pytestmark = pytest.mark.llvm

TARGETS = ("gfx90a", "gfx1100")


def _values(event: StopEvent) -> list[tuple[int | None, int | None]]:
    return [
        tuple(value.as_int() if value is not None else None for value in (trigger.old, trigger.new))  # type: ignore[misc]
        for trigger in event.hits.triggers
    ]


def test_lds_is_changed_by_whichever_wave(watched: Session) -> None:
    """Work-item 40 is in another wave of the group if waves have 32 lanes."""
    wave_size = watched.inferior.wave(1).lane_count
    watched.watch("tile[40]")
    event = watched.running.proceed()
    assert event.reason is StopReason.WATCHPOINT
    assert (event.scope.thread, event.lanes) == (1 + 40 // wave_size, 1 << 40 % wave_size)
    assert _values(event) == [(0, 43)]


@pytest.mark.parametrize("access", ["write", "read", "access"])
def test_what_an_access_counts_for(watched: Session, access: str) -> None:
    """Work-item 40 writes the word, work-item 23 reads it."""
    size = watched.inferior.wave(1).lane_count
    watched.watch("tile[40]", access=access)
    found = []
    while (event := watched.running.proceed()).reason is StopReason.WATCHPOINT:
        (lane,) = (n for n in range(size) if event.lanes >> n & 1)
        found.append((((event.scope.thread or 1) - 1) * size + lane, *_values(event)[0]))
    write, read = (40, 0, 43), (23, 43, 43)
    assert found == {"write": [write], "read": [read], "access": [write, read]}[access]


def test_a_lanes_own_memory_and_the_end_of_its_frame(watched: Session) -> None:
    watched.focus.move(watched.focus.current.with_lane(5))
    made = watched.watch("r")
    found = []
    while (event := watched.running.proceed()).reason is StopReason.WATCHPOINT:
        assert event.lanes == 1 << 5
        found += _values(event)
    assert found == [(0, 3), (3, 3 + 3 + 58)]
    assert (event.reason, event.breakpoints) == (StopReason.WATCHPOINT_SCOPE, (made.number,))
    assert watched.running.proceed().reason is StopReason.EXITED
    assert not list(watched.breakpoints)


def test_a_condition_counts_and_a_value_that_stays_does_not_stop(watched: Session) -> None:
    made = watched.watch("g", condition="g > 5", location=True)
    assert watched.running.proceed().reason is StopReason.EXITED
    assert made.hit_count == 0
    watched.running.run()
    assert list(watched.breakpoints) == [made]


def test_registers_are_watched_by_stepping(watched: Session) -> None:
    made = watched.watch("$s4")
    assert made.in_registers
    before = watched.data.evaluate("$s4").as_int()
    event = watched.running.proceed()
    assert event.reason is StopReason.WATCHPOINT
    assert watched.data.evaluate("$s4").as_int() != before


def test_a_breakpoint_where_a_change_is_told_is_hit_by_the_same_stop(watched: Session) -> None:
    """The stop names the breakpoint with the lanes that arrived there, and the watchpoint with the lanes that stored.
    """
    watched.focus.move(watched.focus.current.with_lane(5))
    begin = watched.time.position
    made = watched.watch("r")
    behind = watched.inferior.wave(watched.running.proceed().scope.thread or 0).pc
    watched.time.go_to(begin)
    made.hit_count = 0
    other = watched.break_at(f"*{behind:#x}")
    event = watched.running.proceed()
    assert (event.reason, event.breakpoints) == (StopReason.WATCHPOINT, (made.number, other.number))
    assert (event.lanes, event.hits.lanes) == (1 << 5, watched.inferior.active_lanes(event.scope.thread or 0))
    assert (made.hit_count, other.hit_count) == (1, 1)
    assert watched.running.proceed().scope.thread != event.scope.thread  # it is reported once


def test_a_watchpoint_that_is_to_be_deleted_goes_with_its_stop(watched: Session) -> None:
    made = watched.watch("tile[40]")
    watched.breakpoints.enable_until(made.number, Disposition.DELETE)
    assert watched.running.proceed().reason is StopReason.WATCHPOINT
    assert not list(watched.breakpoints)
