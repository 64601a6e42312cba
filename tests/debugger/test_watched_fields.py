"""Watchpoints on bit-fields: they stop when the field changes, not when its storage unit does."""

from __future__ import annotations

import itertools

import pytest

from rocdbg.debugger import Session
from rocdbg.debugger.running.stop_events import StopEvent, StopReason
from tests.debugger.conftest import SOURCES, Compile

pytestmark = pytest.mark.llvm

BEGIN = "fields.hip:32"
TARGETS = ("gfx90a", "gfx1100")


def session_at_the_beginning(compiled: Compile, target: str, lane: int = 5) -> Session:
    session = Session()
    session.load(compiled("fields.hip", target, "-O0"))
    session.sources.program_directory = SOURCES
    session.launch.set_grid("64")
    session.launch.set_workgroup("64")
    session.launch.set_argument(0, "i32[256]:zeros")
    session.launch.set_argument(1, "i32[128]:zeros")
    session.break_at(BEGIN, temporary=True)
    assert session.run().reason is StopReason.BREAKPOINT
    session.focus.select_lane(lane)
    return session


def changes(event: StopEvent) -> list[tuple[int | None, ...]]:
    assert event.hits is not None
    return [
        tuple(value.as_int() if value is not None else None for value in (trigger.old, trigger.new))
        for trigger in event.hits.triggers
    ]


# (field, the values that lane 5 gives it from the beginning on)
FIELDS = {
    "private": ("mine->low", [3, 4]),
    "private, above another": ("mine->high", [4, 9]),
    "private, by its name": ("own.high", [4, 9]),
    "LDS, by its name": ("shared[i].low", [3, 4, 8]),
    "signed": ("mine->small", [1, -2]),
    "LDS": ("local->low", [3, 4, 8]),
    "LDS, above another": ("local->high", [4, 6]),
    "global": ("global->high", [4, 5]),
    "in two units": ("other->split", [2, -3]),
    "behind one in two units": ("other->last", [0, 5]),
}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", FIELDS)
def test_only_the_field_counts(compiled: Compile, target: str, name: str) -> None:
    text, values = FIELDS[name]
    session = session_at_the_beginning(compiled, target)
    made = session.watch(text, location=True)
    wanted = list(itertools.pairwise(values))
    for old, new in wanted:
        event = session.running.proceed()
        assert (event.reason, changes(event), event.lanes) == (StopReason.WATCHPOINT, [(old, new)], 1 << 5)
    assert session.running.proceed().reason is StopReason.EXITED
    assert made.hit_count == len(wanted)


@pytest.mark.parametrize("target", TARGETS)
def test_backwards(compiled: Compile, target: str) -> None:
    session = session_at_the_beginning(compiled, target)
    session.watch("local->low", location=True)
    for _ in range(2):
        session.running.proceed()
    assert [changes(session.time.proceed()) for _ in range(2)] == [[(8, 4)], [(4, 3)]]


def test_each_lane(compiled: Compile) -> None:
    """In the first change, only odd lanes take part."""
    session = session_at_the_beginning(compiled, "gfx90a")
    session.watch("local->low", location=True, every_lane=True)
    found = changes(session.running.proceed())
    assert found == [(3, 4)] * len(found)
