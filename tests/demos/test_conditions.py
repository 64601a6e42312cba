"""Conditions that the target evaluates, compared with the evaluator, lane by lane: the same stops, lanes and counts.

On all demo kernels, at places in their code, with conditions on the variables in scope there.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from rocdbg.debugger import Session
from rocdbg.debugger.running.stop_events import StopEvent, StopReason
from rocdbg.debugger.values import c_types
from rocdbg.debugger.values.value import Value
from rocdbg.dwarf.info.types import ArrayType, ClassType
from rocdbg.errors import Error
from tests.breadth import some_of

DEMOS = Path(__file__).resolve().parents[2] / "demo_kernels"
LAUNCHES = sorted([*DEMOS.glob("*/*.toml"), *DEMOS.glob("extensions/*/*.toml")])
TARGETS = ("gfx90a", "gfx1100")
BUDGET = 1_500
MOST_STOPS = 3
ALWAYS = (
    "$_lane % 7 == 3 && $_thread > 1", "$v0[3] == $v1[$_lane] || $s4 == 77", "$exec != -1", "$pc == 0 || $vcc > 5",
    "$m0 == $scc", '$_streq($_dispatch_pos, "(1,0,0)/0")', "1 / ($_lane - 5) == 0", "$factor * $_lane == 12",
    "sizeof(int) == 4 && (unsigned char) ($_lane * 5) > 250", "*(int *) $_lane == 3", "-7 / 2 == -3 && -7 % 3 == -1",
    "1 << $_lane == 16 || $_lane >> 40 == 1", "(float) $_lane / 3 > 12.34f", "($_lane ? $_lane : 2.5) == 9",
    "threadIdx.x % 8 == 5 && blockIdx.x == gridDim.x - 1", "$_lane == 3 ? *(int *) 0 : 0",
)


def _open(launch: Path, target: str, mode: str) -> Session:
    session = Session()
    session.settings.condition_evaluation = mode
    session.settings.instruction_budget = BUDGET
    session.load(launch, target)
    session.convenience.set("factor", Value.of_int(c_types.UNSIGNED_LONG, 4))
    return session


def _places(session: Session) -> list[str]:
    """A few lines that the first wave reaches."""
    found: list[str] = []
    session.settings.instruction_budget = 0
    session.start()
    for _ in range(12):
        focus = session.focus.current
        if focus.thread is None:
            break
        frame = session.inferior.chain(focus).get(0)
        row = frame.row if frame is not None else None
        if row is not None and row.line and (place := f"{Path(row.file.path).name}:{row.line}") not in found:
            found.append(place)
        if session.running.next().reason is not StopReason.STEP:
            break
    return found[1 :: max(1, len(found) // 2)]


def _texts(session: Session) -> Iterator[str]:
    """Conditions on the variables in scope."""
    frame = session.inferior.chain(session.focus.current).get(0)
    assert frame is not None
    rows = [*session.data.arguments(frame)]
    for scope in session.data.locals(frame):
        rows += scope.variables
    for name, value in rows:
        if "@" not in name:
            yield from _about(name, value)


def _about(name: str, value: Value) -> Iterator[str]:
    bare = value.bare
    if c_types.is_float(value.type):
        yield f"{name} * 2 > {name} + 1"
        yield f"{name} != {name} || (int) {name} % 3 == 1"
    elif c_types.is_pointer(value.type):
        yield f"*{name} > 3 && &{name}[1] != 0"
        yield f"{name}[$_lane] == {name}[0] || {name} + 1 - {name} != 1"
    elif c_types.is_scalar(value.type):
        yield f"{name} % 5 == 2 || {name} > 100 && {name} < 120"
        yield f"~{name} >> 1 < -{name} ^ 3"
    elif isinstance(bare, ArrayType):
        yield f"{name}[1] == {name}[$_lane & 1]"
    elif isinstance(bare, ClassType):
        for member in bare.members[:2]:
            yield f"{name}.{member.name} == 3"


def _stops(session: Session, place: str, text: str) -> list[tuple[object, ...]]:
    breakpoint_ = session.break_at(place, condition=text)
    rows: list[tuple[object, ...]] = []
    event: StopEvent = session.run()
    while len(rows) < MOST_STOPS:
        wave = session.inferior.wave(event.scope.thread) if event.scope.thread is not None else None
        rows.append((
            event.reason, event.scope.thread, event.scope.lane, hex(event.lanes), wave.pc if wave is not None else None,
            breakpoint_.hit_count, breakpoint_.ignore_count, tuple(session.warnings.take()),
        ))
        if event.reason is not StopReason.BREAKPOINT:
            break
        if len(rows) == 2:
            breakpoint_.ignore_count = 2
        event = session.running.proceed()
    session.breakpoints.clear()
    return rows


def _targets(launch: Path) -> list[str]:
    """The targets for which a demo is built."""
    file = tomllib.loads(launch.read_text())["launch"]["file"]
    return [target for target in TARGETS if (launch.parent / file.replace("{arch}", target)).exists()]


BUILT = [(launch, _targets(launch)) for launch in LAUNCHES]
EVERY = [(launch, target) for launch, targets in BUILT for target in targets]
EACH_ON_ONE = [(launch, targets[(place + place // 2) % len(targets)]) for place, (launch, targets) in enumerate(BUILT)]
"""Each launch, on one of its targets."""
FOLDERS = list(dict.fromkeys(launch.parent for launch in LAUNCHES))
OF_EACH_DEMO = [[row for row in EACH_ON_ONE if row[0].parent == folder] for folder in FOLDERS]
EACH_DEMO = [rows[place % len(rows)] for place, rows in enumerate(OF_EACH_DEMO)]
"""Each demo, at one of its optimisation levels."""


@pytest.mark.truth
@pytest.mark.parametrize(
    ("launch", "target"), some_of(EVERY, EACH_DEMO), ids=lambda one: one.stem if isinstance(one, Path) else one
)
def test_both_ways_agree(launch: Path, target: str) -> None:
    session = _open(launch, target, "host")
    translated = reached = 0
    ways = {mode: _open(launch, target, mode) for mode in ("host", "auto")}
    for number, place in enumerate(_places(session)):
        session.breakpoints.clear()
        session.break_at(place)
        stopped = session.run().reason is StopReason.BREAKPOINT
        # each target takes its half, and each of ALWAYS is asked at a quarter of the places
        turn = number + LAUNCHES.index(launch) + TARGETS.index(target)
        texts = [*list(_texts(session))[turn % 2 :: 2], *ALWAYS[turn % 4 :: 4]] if stopped else []
        session.breakpoints.clear()
        for text in texts:
            answers: list[object] = []
            for way in ways.values():
                try:
                    answers.append(_stops(way, place, text))
                except Error as error:
                    answers.append(str(error))
                translated += way.running.native.translated
            assert answers[0] == answers[1], f"{place} if {text}"
            reached += 1
    assert not reached or translated, "nothing of this was evaluated by the target"
