"""Stops between statements: after a call, only the compiler's own code may remain of the call's line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from rocdbg.debugger import Session
from rocdbg.debugger.running.stop_events import StopReason

pytestmark = pytest.mark.llvm


@pytest.fixture(params=("gfx90a", "gfx1100"))
def session(request: pytest.FixtureRequest, compiled: Callable[..., Path]) -> Session:
    """At the kernel's first line; of the 64 work-items, all odd ones take one branch, the even ones the other."""
    session = Session()
    session.load(compiled("settled.hip", request.param))
    session.launch.set_grid("64")
    session.launch.set_workgroup("64")
    session.launch.set_argument(0, "i32[64]:zeros")
    session.start()
    return session


def place(session: Session) -> tuple[int | None, bool]:
    """The line of the focused lane, which is in the kernel, and whether the lane is in the middle of that line."""
    frame = session.focus.frame()
    assert frame.name == "kern"
    return frame.line, frame.shows_address


EVEN = [(18, False), (18, False), (21, False), (28, False), (29, False)]
ODD = [(14, False), (18, False), (21, False), (28, False), (29, False)]


@pytest.mark.parametrize(("lane", "places"), [(0, EVEN), (1, ODD)])
def test_finish_goes_to_the_next_statement(session: Session, lane: int, places: list[tuple[int, bool]]) -> None:
    """If a host's compiler has a jump after the call, the stop is in the middle of its line."""
    session.focus.move(session.focus.current.with_lane(lane))
    session.break_at("store").condition = f"$_lane == {lane}"
    found = []
    for _ in places:
        assert session.running.proceed().reason is StopReason.BREAKPOINT
        assert session.focus.current.lane == lane
        session.running.finish()
        found.append(place(session))
    assert found == places
