"""Watched registers: native checks find the same changes as single steps, at the same instructions of the wave."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocdbg.debugger import Session
from rocdbg.debugger.base.errors import ExpressionError
from rocdbg.debugger.breakpoints.watch_triggers import Watcher
from rocdbg.debugger.running.stop_events import StopEvent, StopReason
from tests.breadth import EVERYTHING, some_of

DEMOS = Path(__file__).resolve().parents[2] / "demo_kernels"
PLACES = [
    ("calls/calls.O2.toml", "gfx90a", "fibonacci"),
    ("calls/calls.O2.toml", "gfx1100", "fibonacci"),
    ("divergence/divergence.O2.toml", "gfx90a", None),
    ("histogram/histogram.O2.toml", "gfx90a", None),
    ("scan/scan.O2.toml", "gfx1100", None),
]
VARIABLES = len(some_of(range(4), range(1)))
"""Watched variables of each place: an expression requires a run in single steps."""
MOST = 6 if EVERYTHING else 3
"""The maximum number of stops that are compared for one expression."""


def start(file: str, target: str, function: str | None) -> Session:
    session = Session()
    session.load(DEMOS / file, target)
    session.break_at(function or session.launch.kernel.name, temporary=True)
    session.run()
    session.running.stepi(6)
    return session


def told(session: Session, event: StopEvent) -> tuple[object, ...]:
    """The facts of a stop, regardless of other waves."""
    thread = event.scope.thread
    assert thread is not None
    data = [(t.old and t.old.data, t.new and t.new.data) for t in event.hits.triggers]
    wave = session.inferior.wave(thread)
    return event.reason, thread, wave.pc, session.time.need().count(thread), event.lanes, data


def stops(session: Session, text: str) -> list[tuple[object, ...]]:
    session.watch(text)
    found = []
    while len(found) < MOST:
        event = session.running.proceed()
        if event.reason is not StopReason.WATCHPOINT:
            return [*found, (event.reason,)]
        found.append(told(session, event))
    return found


@pytest.mark.truth
@pytest.mark.parametrize("file, target, function", some_of(PLACES, [PLACES[0], PLACES[4]]))
def test_checks_stop_where_steps_do(
    file: str, target: str, function: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = start(file, target, function)
    names = [variable.name for variable in session.data.environment().local_variables() if variable.name]
    compared = 0
    for text in [*names[:VARIABLES], "$v0", "$vcc"]:
        try:
            checked = stops(start(file, target, function), text)
        except ExpressionError as error:
            assert "constant" in str(error) or "context" in str(error)
            continue
        with monkeypatch.context() as patch:
            patch.setattr(Watcher, "checks", lambda self: None)
            stepped = stops(start(file, target, function), text)
        assert checked == stepped, text
        compared += 1
    assert compared > 1


@pytest.mark.parametrize("command", ["stepi", "step", "next"])
def test_steps_tell_of_registers(command: str) -> None:
    """Each change at which continuing would stop also ends a step, and no change does so twice."""
    place = PLACES[0]
    going = [one for one in stops(start(*place), "$v0") if len(one) > 1]
    session = start(*place)
    session.watch("$v0")
    found: list[tuple[object, ...]] = []
    for _ in range(200):
        event = getattr(session.running, command)()
        if event.reason is StopReason.WATCHPOINT:
            found.append(told(session, event))
        if len(found) == len(going):
            break
    assert found == going


@pytest.mark.parametrize("text", ["$v0", "$s4"])
@pytest.mark.parametrize("file, target, function", PLACES[:2])
def test_the_past_has_the_changes_of_registers(file: str, target: str, function: str | None, text: str) -> None:
    session = start(file, target, function)
    forwards = stops(session, text)
    back = []
    while (event := session.time.proceed()).reason is StopReason.WATCHPOINT:
        back.append(told(session, event))
    expected = [(one[3] - 1, one[5][0][::-1]) for one in forwards if len(one) > 1][::-1]  # type: ignore[index]
    assert [(one[3], one[5][0]) for one in back][: len(expected)] == expected  # type: ignore[index]
