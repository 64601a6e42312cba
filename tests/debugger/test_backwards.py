"""Going back and forth by commands: the state equals that of a fresh run after the same number of instructions."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from rocdbg.api import launch_file
from rocdbg.debugger.breakpoints.watchpoints import Watchpoint
from rocdbg.debugger.running.stop_events import StopReason
from rocdbg.debugger.session import Session
from rocdbg.debugger.target.reversible_target import RecordedTarget
from rocdbg.errors import Error
from rocdbg.sim.core.layout import VGPRS
from rocdbg.sim.core.run_options import RunOptions
from rocdbg.sim.device.dispatch import Dispatch
from tests.breadth import EVERYTHING

DEMOS = Path(__file__).resolve().parents[2] / "demo_kernels"
LAUNCHES = [
    ("calls/calls.toml", "gfx90a", "square"),
    ("calls/calls.O2.toml", "gfx1100", "fibonacci"),
    ("divergence/divergence.toml", "gfx90a", None),
    ("reduce/reduce.toml", "gfx1100", None),
    ("histogram/histogram.O2.toml", "gfx90a", None),
    ("matmul/matmul.toml", "gfx1100", None),
]


MOVES = 60 if EVERYTHING else 25


def state(dispatch: Dispatch) -> list[Any]:
    """The contents of all registers and memory."""
    waves = []
    for w in dispatch.waves:
        bytes_ = w.state.tobytes()[: VGPRS + w.vgpr_count * w.wave_size * 4]
        waves.append((w.number, w.waiting, w.instructions, bytes_, w.lds.tobytes()))
    return [waves, [(a.address, a.data.tobytes()) for a in dispatch.memory.allocations if a.name != "code"]]


def move(session: Session, rng: random.Random) -> str:
    """One command, backwards or forwards."""
    running, time = session.running, session.time
    begin, end = time.need().bounds
    commands: dict[str, Any] = {
        "rsi": lambda: time.stepi(rng.randrange(1, 4)), "rs": time.step, "rn": time.next, "rni": time.nexti,
        "rc": time.proceed, "rfin": time.finish, "goto": lambda: time.go_to(rng.randrange(begin, end)),
        "si": lambda: running.stepi(rng.randrange(1, 4)), "s": running.step, "n": running.next,
        "c": running.proceed, "ni": running.nexti, "fin": running.finish, "u": running.until,
        "watch": lambda: watch(session, rng), "last": lambda: last_write(session, rng),
        "keep": time.keep, "restart": lambda: time.restart(rng.choice(time.bookmarks).number if time.bookmarks else 0),
    }
    name = rng.choice(sorted(commands))
    try:
        commands[name]()
    except Error as error:
        expected = ("outermost", "Not found: checkpoint", "returning to", "without a live selected thread")
        assert any(text in str(error) for text in expected), (name, error)
    return name


def word(session: Session, rng: random.Random) -> str:
    """A place that may change: a word of a buffer, or a register."""
    recorded = session.inferior.target
    assert isinstance(recorded, RecordedTarget)
    buffers = [b.allocation for b in recorded.bound.buffers]
    register = rng.choice(("$s", "$v")) + str(rng.randrange(8))
    if not buffers or rng.random() < 0.3:
        return register
    allocation = rng.choice(buffers)
    return f"*(int *) {allocation.address + 4 * rng.randrange(allocation.data.size // 4):#x}"


def watch(session: Session, rng: random.Random) -> None:
    """Watch another place."""
    for made in [each for each in session.breakpoints if isinstance(each, Watchpoint)]:
        session.breakpoints.delete(made.number)
    session.watch(word(session, rng))


def last_write(session: Session, rng: random.Random) -> None:
    """The instruction that wrote a place; the program's position does not change."""
    text = word(session, rng)
    session.time.find_write(session.data.evaluate(text), False)


def same_states(
    file: str, target: str, function: str | None, moves: int, seed: str = "", positions: int = 1 << 30,
    session: Session | None = None,
) -> int:
    """Move ``moves`` times, or until ``positions`` positions are reached; compare each with a fresh run. Return their
    number.

    In a ``session`` that has run other things, or by default in a new one.
    """
    session = session or Session()
    session.breakpoints.clear()
    session.load(DEMOS / file, target)
    session.break_at(function or session.launch.kernel.name)
    rng = random.Random(file + seed)
    session.run()
    while session.inferior.target is not None and not session.running.runner.parts.state.pending_signal:
        session.running.proceed()
    found = {}
    for _ in range(moves):
        if len(found) == positions:
            break
        if session.inferior.target is None:
            session.time.go_to(rng.randrange(session.time.need().bounds[1]))
        name = move(session, rng)
        recorded = session.inferior.target
        if recorded is None:
            continue
        assert isinstance(recorded, RecordedTarget)
        now = state(recorded.dispatch)
        position = session.time.position
        assert found.setdefault(position, now) == now, name
    bound = launch_file(DEMOS / file, arch=target).launch
    for position in sorted(found):
        while bound.dispatch.instructions < position:
            bound.dispatch.run(RunOptions(budget=position - bound.dispatch.instructions))
        if position == max(found) and state(bound.dispatch) != found[position]:
            bound.dispatch.run(RunOptions(budget=1))  # a fault is no instruction, but there to be seen
            assert bound.dispatch.instructions == position
        assert state(bound.dispatch) == found[position], position
    return len(found)


@pytest.mark.truth
@pytest.mark.parametrize("file, target, function", LAUNCHES)
def test_any_mixture_of_commands_gives_the_states_of_a_fresh_run(
    file: str, target: str, function: str | None
) -> None:
    """`benchmarks/truth.py` runs more mixtures."""
    assert same_states(file, target, function, MOVES) > MOVES // 6


def test_runs_that_follow_each_other_in_a_session_have_each_their_own_past() -> None:
    """The session runs the same code object again, and then another one."""
    session = Session()
    for seed, (file, target, function) in enumerate((LAUNCHES[3], LAUNCHES[3], LAUNCHES[2])):
        assert same_states(file, target, function, 30, str(seed), session=session) > 5


@pytest.mark.parametrize("file, target, function", LAUNCHES)
def test_steps_back_undo_steps_of_instructions(file: str, target: str, function: str | None) -> None:
    """Only the wave steps back: what other waves did while it waited is kept, because they did it before its step."""
    session = Session()
    session.load(DEMOS / file, target)
    session.break_at(function or session.launch.kernel.name, temporary=True)
    session.run()
    recorded = session.inferior.target
    assert isinstance(recorded, RecordedTarget)
    states = []
    for _ in range(25):
        thread = session.focus.current.thread
        assert thread is not None
        states.append([row[2:4] for row in state(recorded.dispatch)[0] if row[0] == thread])
        session.running.stepi()
    while states:
        session.time.stepi()
        assert [row[2:4] for row in state(recorded.dispatch)[0] if row[0] == thread] == states.pop()


def test_rows_that_are_no_statements_belong_to_the_line_before() -> None:
    """``reverse-next`` from such a row goes to the beginning of the statement, if the wave ran through from there."""
    session = Session()
    session.load(DEMOS / "matmul" / "matmul.toml", "gfx1100")
    session.break_at(session.launch.kernel.name, temporary=True)
    session.run()
    statement, end, tried = None, 0, 0
    for _ in range(110):
        session.running.stepi()
        frame = session.inferior.frame(session.focus.current)
        row = frame.row
        if row is None:
            statement = None
        elif row.is_stmt and frame.pc == frame.program.to_loaded(row.address):
            statement, end = row, row.end_address
        elif statement is not None and (row.line, row.file) == (statement.line, statement.file):
            if row.address > end:
                statement = None
                continue
            end = max(end, row.end_address)
            if not row.is_stmt:
                position, tried = session.time.position, tried + 1
                session.time.next()
                assert session.inferior.frame(session.focus.current).pc == frame.program.to_loaded(statement.address)
                session.time.go_to(position)
        else:
            statement = None
    assert tried > 3


def test_hits_in_the_past_are_ignored_by_whomever_they_are_counted() -> None:
    """The evaluator counts one by one, or the target counts in pieces of the past: the same stops and counts remain."""
    session = Session()
    session.load(DEMOS / "reduce/reduce.toml", "gfx1100")
    places = ((8, None), (14, "stride == 4"), (13, "thread < stride && thread > 2"), (13, None), (12, "$_lane == 3"))
    made = [session.break_at(f"reduce.hip:{line}", condition=condition) for line, condition in places]
    for one in made:
        one.ignore_count = 1 << 30
    assert session.run().reason is StopReason.EXITED
    counted = [one.hit_count for one in made]
    assert counted[3] > counted[2] > 10
    for ignored in ((0, 1, 3, 2, 5), (2, 0, counted[2] - 1, counted[3] - 2, 3), (counted[0], 9, counted[2], 9, 9)):
        found = []
        for by in ("host", "auto"):
            session.settings.condition_evaluation = by
            session.time.go_to(session.time.need().bounds[1])
            for one, count in zip(made, ignored, strict=True):
                one.hit_count, one.ignore_count = 0, count
            stops: list[tuple[object, ...]] = []
            for _ in range(9):
                event = session.time.proceed()
                left = [(one.hit_count, one.ignore_count) for one in made]
                stops.append((session.time.position, event.scope.thread, event.lanes, event.breakpoints, left))
            found.append(stops)
        assert found[0] == found[1]


def test_back_to_where_the_lane_was_and_not_to_where_only_others_were() -> None:
    """``advance LINE`` backwards, for lines of three branches, of which each lane runs one."""
    session = Session()
    session.load(DEMOS / "divergence" / "divergence.toml", "gfx90a")
    lines = (12, 14, 17)
    for line in (*lines, 20):
        session.break_at(f"divergence.hip:{line}", thread=1)
    event, last = session.run(), dict[tuple[int, int], int]()
    while True:
        row = session.inferior.frame(event.scope).row
        assert row is not None
        if row.line not in lines:
            break
        for lane in range(32):
            if event.lanes >> lane & 1:
                last[lane, row.line] = session.time.position
        event = session.running.proceed()
    assert {line for _, line in last} == {*lines}
    session.breakpoints.clear()
    end = session.time.position
    for lane in range(0, 32, 3):
        for line in lines:
            session.time.go_to(end, 1, lane)
            event = session.time.advance(f"divergence.hip:{line}")
            if (lane, line) in last:
                assert (event.reason, session.time.position) == (StopReason.STEP, last[lane, line])
            else:
                assert event.reason is StopReason.HISTORY, (lane, line)
