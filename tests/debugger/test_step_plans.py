"""Steps by plans stop at the same places, with the same answers, as steps that decide at each place again.

Two sessions get the same random commands; one of them never lets the target continue by itself.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from rocdbg.debugger import Session
from rocdbg.debugger.running.runner import Runner
from rocdbg.debugger.running.stop_events import StopEvent, StopReason
from rocdbg.debugger.target.capabilities.runnable import Resume, TargetStop
from rocdbg.errors import Error
from tests.breadth import EVERYTHING, some_of
from tests.debugger.conftest import SOURCES, Compile

DEMOS = Path(__file__).parents[2] / "demo_kernels"
LAUNCHES = sorted(str(path.relative_to(DEMOS)) for path in DEMOS.glob("*/*.toml") if path.parent.name != "programs")
DEMO_RUNS = [
    (launch, arch) for launch in LAUNCHES for arch in ("gfx90a", "gfx942", "gfx1030", "gfx1100")
    if "wave64" not in launch or arch in ("gfx1030", "gfx1100")
]
USUAL = [("calls/calls.toml", "gfx1030"), ("divergence/divergence.O2.toml", "gfx1030")]
COMMANDS = {
    "next": 6, "step": 6, "until": 1, "finish": 1, "stepi": 1, "nexti": 2, "lane": 2, "wave": 1, "break": 1,
    "back": 1, "locked": 0.3,
}
AT_BARRIERS = {"stepis": 4, "nextis": 4, "stepi": 1, "wave": 2, "break": 0.5, "locked": 0.3}
CONDITIONS = (None, "$_lane == 3", "1 == 0", "$_lane > 70")


def state(session: Session, event: StopEvent) -> list[object]:
    """The report of a stop, and its place."""
    said: list[object] = [event.reason, event.lanes, event.scope, event.new_thread, event.new_lane, event.breakpoints]
    said += [event.problems, event.cause if event.reason is StopReason.STEP else None]
    if session.inferior.running:
        frame = session.focus.frame()
        said += [frame.pc, frame.name, frame.line, session.time.position]
    if event.returned is not None and event.returned.value is not None:
        said.append(event.returned.value.data)
    return said


def act(session: Session, command: str, chance: float) -> list[object]:
    """Perform a command; return its output."""
    running, focus, some = session.running, session.focus, 1 + int(chance * 40)
    line = session.focus.frame().line or 1
    try:
        match command:
            case "next" | "step" | "until" | "finish":
                return state(session, getattr(running, command)())
            case "stepi" | "stepis":
                return state(session, running.stepi(some * (4 if command == "stepis" else 1)))
            case "nexti" | "nextis":
                some *= 4 if command == "nextis" else 1
                locking = session.settings.scheduler_locking
                if some > 1:  # otherwise other waves run in calls only if these are decided on one by one
                    session.settings.scheduler_locking = "step"
                try:
                    return state(session, running.nexti(some))
                finally:
                    session.settings.scheduler_locking = locking
            case "back":
                words = ("step", "next", "stepi", "nexti")
                word = words[some % 4]
                return state(session, getattr(session.time, word)(some if word.endswith("i") else 1))
            case "lane":
                assert focus.current.thread is not None
                focus.select_lane(int(chance * session.inferior.wave(focus.current.thread).lane_count))
            case "wave":
                assert session.inferior.target is not None
                waves = session.inferior.target.waves()
                focus.select_thread(waves[int(chance * len(waves))].number)
            case "break":
                made = list(session.breakpoints)
                if len(made) > 3:
                    session.breakpoints.delete(made[0].number)
                session.break_at(str(line + int(chance * 8)), condition=CONDITIONS[some % 4])
            case "locked":
                session.settings.scheduler_locking = ("off", "step")[some % 2]
    except Error as error:
        return [str(error)]
    return [(each.number, each.hit_count) for each in session.breakpoints]


def compare(
    sessions: tuple[Session, Session], seed: int, count: int, commands: Mapping[str, float] = COMMANDS
) -> int:
    """Give the same commands to both; return how many of them were steps."""
    planned, plain = sessions
    plain.running.runner.parts.state.plans = False
    for session in sessions:
        session.start_at_entry()
    chances, steps = random.Random(seed), 0
    done: list[tuple[str, float]] = []
    for _ in range(count):
        if not planned.inferior.running or planned.focus.current.thread is None:
            break
        command = chances.choices(list(commands), list(commands.values()))[0]
        done.append((command, chances.random()))
        steps += command in ("next", "step")
        assert act(planned, *done[-1]) == act(plain, *done[-1]), done
    return steps


def loaded(path: Path, arch: str | None = None) -> Session:
    session = Session()
    session.load(path, arch)
    return session


@pytest.mark.truth
@pytest.mark.parametrize(("launch", "arch"), some_of(DEMO_RUNS, USUAL))
def test_plans_change_no_answer_in_demos(launch: str, arch: str) -> None:
    for seed in range(10 if EVERYTHING else 1):
        compare((loaded(DEMOS / launch, arch), loaded(DEMOS / launch, arch)), seed, 200 if EVERYTHING else 25)


@pytest.mark.truth
@pytest.mark.parametrize("launch", some_of(["reduce/reduce.toml", "reduce/reduce.O2.toml"], ["reduce/reduce.toml"]))
@pytest.mark.parametrize("arch", some_of(["gfx90a", "gfx1030"], ["gfx90a"]))
def test_plans_change_no_answer_at_barriers(launch: str, arch: str) -> None:
    """Other waves run as long, and in the same order, whether the waiting wave was stepped at once or singly."""
    for seed in range(20 if EVERYTHING else 1):
        sessions = (loaded(DEMOS / launch, arch), loaded(DEMOS / launch, arch))
        compare(sessions, seed, 60 if EVERYTHING else 12, AT_BARRIERS)


@pytest.mark.llvm
@pytest.mark.truth
@pytest.mark.parametrize("target", some_of(["gfx90a", "gfx942", "gfx1030", "gfx1100"], ["gfx90a"]))
@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_plans_change_no_answer_where_lanes_wait(compiled: Compile, target: str, level: str) -> None:
    for seed in range(20 if EVERYTHING else 1):
        sessions = (waiting(compiled, target, level, 2), waiting(compiled, target, level, 2))
        assert compare(sessions, seed, 200 if EVERYTHING else 15)


def waiting(compiled: Compile, target: str, level: str, count: int) -> Session:
    """A session about waits.hip: loops of ``count`` passes."""
    session = loaded(compiled("waits.hip", target, level))
    session.sources.program_directory = SOURCES
    session.launch.set_grid("64")
    session.launch.set_workgroup("64")
    session.launch.set_argument(0, "i32[64]:arange")
    session.launch.set_argument(1, str(count))
    return session


LOOPS = [
    # where a lane waits for another's loop, a loop in one line, calls in which lanes are at different depths
    (16, 1, 22, 60), (21, 5, 22, 40), (22, 5, 23, 40),
]


@pytest.mark.llvm
@pytest.mark.parametrize(("line", "lane", "after", "most"), LOOPS)
def test_the_target_is_resumed_as_often_for_long_loops_as_for_short_ones(
    compiled: Compile, monkeypatch: pytest.MonkeyPatch, line: int, lane: int, after: int, most: int
) -> None:
    counts = []
    for passes in (200, 2000):
        session = waiting(compiled, "gfx90a", "-O0", passes)
        made = session.break_at(str(line))
        session.run()
        session.breakpoints.delete(made.number)
        session.focus.select_lane(lane)
        runner = session.running.runner
        resume, requests = type(runner).resume, list[Resume]()

        def counted(
            runner: Runner, request: Resume, follows: int | None = None,
            resume: Callable[[Runner, Resume, int | None], TargetStop] = resume,
            requests: list[Resume] = requests,
        ) -> TargetStop:
            requests.append(request)
            return resume(runner, request, follows)

        with monkeypatch.context() as patch:
            patch.setattr(Runner, "resume", counted)
            session.running.next()
        assert session.focus.frame().line == after
        counts.append(len(requests))
    assert counts[0] == counts[1] < most
