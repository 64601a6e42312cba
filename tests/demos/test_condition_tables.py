"""Conditions in tables compared with the evaluator, lane by lane: each condition's lanes, and the stops of all
conditions.

On all demo kernels, at places in their code, with conditions on the variables in scope there, each with several
numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from rocdbg.debugger import Session
from rocdbg.debugger.breakpoints import compiled_conditions
from rocdbg.debugger.running.stop_events import StopReason
from rocdbg.errors import Error
from tests.breadth import some_of
from tests.demos.test_conditions import ALWAYS, BUDGET, EACH_DEMO, EVERY, LAUNCHES, TARGETS, _open, _places, _texts

MOST_STOPS = 2
NUMBERS = re.compile(r"(?<![\w$.])\d+(?![\w.])")


@pytest.fixture(autouse=True)
def always_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled_conditions, "FEW", 0)


def _alike(texts: Sequence[str]) -> Iterator[str]:
    """Each condition, and other conditions with the same shape: with larger numbers, and with zeros."""
    for text in texts:
        yield text
        yield NUMBERS.sub(lambda found: str(int(found[0]) + 1), text)
        yield NUMBERS.sub("0", text)


def _evaluated(session: Session, text: str, thread: int, lanes: int) -> int | None:
    try:
        return session.data.lanes_where(text, thread, lanes)
    except Error:
        return None


def _compare_answers(session: Session, place: str, texts: Sequence[str]) -> int:
    """Compare the results of tables where a wave has stopped with the evaluator's; return the number of comparisons."""
    thread = session.focus.current.thread
    assert thread is not None
    active, pc = session.inferior.active_lanes(thread), session.inferior.wave(thread).pc
    native = session.running.native
    native.arrived([session.break_at(place, condition=text) for text in texts], thread, pc)
    some = active & 0x0A50_000A_0000_50A5 or active
    every = [(text, some if number % 4 else active) for number, text in enumerate(texts)]
    found = native.answers(every, thread, pc)
    for text, lanes in every:
        expected = _evaluated(session, text, thread, lanes)
        if (text, lanes) in found:
            assert found[text, lanes] == expected, f"{place} if {text}"
    return len(found)


def _stops(session: Session, place: str, texts: Sequence[str]) -> list[tuple[Any, ...]]:
    """The stops of the program with all conditions at a place: some for a lane or thread, some that ignore hits."""
    made = [session.break_at(place, condition=text) for text in texts]
    for number, one in enumerate(made):
        one.lane = number % 7 if number % 5 == 1 else None
        one.thread = 2 if number % 6 == 2 else None
        one.ignore_count = number % 4 if number % 3 == 1 else 0
    event = session.run()
    rows: list[tuple[Any, ...]] = []
    while len(rows) < MOST_STOPS:
        rows.append((
            event.reason, event.scope.thread, event.scope.lane, hex(event.lanes), event.problems,
            [(one.number - made[0].number, one.hit_count, one.ignore_count) for one in made],
        ))
        if event.reason is not StopReason.BREAKPOINT:
            break
        for one in made:  # those that have stopped it must not keep it from continuing
            if one.hit_count > len(rows):
                one.enabled = False
        event = session.running.proceed()
    session.breakpoints.clear()
    return rows


@pytest.mark.truth
@pytest.mark.parametrize(
    ("launch", "target"), some_of(EVERY, EACH_DEMO[1::5]), ids=lambda one: one.stem if isinstance(one, Path) else one
)
def test_tables_agree_with_the_evaluator(launch: Path, target: str) -> None:
    session = _open(launch, target, "auto")
    ways = [_open(launch, target, mode) for mode in ("host", "auto")]
    answered = reached = 0
    for number, place in enumerate(_places(session)[:1]):
        session.settings.instruction_budget = BUDGET
        session.breakpoints.clear()
        session.break_at(place)
        if session.run().reason is not StopReason.BREAKPOINT:
            continue
        turn = number + TARGETS.index(target) + LAUNCHES.index(launch)
        own = list(_texts(session))[turn % 2 :: 2][:2]
        texts = list(dict.fromkeys(_alike([*own, *ALWAYS[turn % 8 :: 8]])))
        texts = [text for text in texts if _is_valid(session, place, text)]
        answered += _compare_answers(session, place, texts)
        host, auto = (_stops(way, place, texts) for way in ways)
        assert host == auto, place
        reached += 1
    assert not reached or answered, "tables have answered nothing"


def _is_valid(session: Session, place: str, text: str) -> bool:
    try:
        session.breakpoints.delete(session.break_at(place, condition=text).number)
    except Error:
        return False
    return True
