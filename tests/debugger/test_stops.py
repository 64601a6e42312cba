"""The events for a target's stops, on a target of dictionaries: reason, signal, lanes, and the new focus."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocdbg.codeobject import open_file
from rocdbg.debugger import Focus, Session, StopReason
from rocdbg.debugger.target.capabilities.runnable import Resume, ResumeMode, TargetStop, TargetStopKind
from rocdbg.debugger.target.capabilities.target_state import LoadedCodeObject
from tests.debugger.toy_target import DictionaryTarget, end, stop, wave

SAXPY = Path(__file__).resolve().parents[2] / "demo_kernels" / "saxpy" / "saxpy.O0.gfx90a.co"
REDUCE = SAXPY.parents[1] / "reduce" / "reduce.O0.gfx90a.co"
NOWHERE = 0x10
"""An address that is in no code object."""
ODD = 0xAAAA_AAAA_AAAA_AAAA
KIND = TargetStopKind
REASON = StopReason


def attached(*moves: object, waves: int = 2, exec_mask: int = ~0) -> tuple[Session, DictionaryTarget]:
    """A session about waves without positions; the focus is on lane 0 of the first."""
    session = Session()
    session.load(SAXPY)
    resident = {number: wave(number, NOWHERE, exec_mask) for number in range(1, waves + 1)}
    target = DictionaryTarget(resident=resident).script(*moves)  # type: ignore[arg-type]
    session.running.attach(target)
    return session, target


# what the target says -> reason, signal, focus afterwards, whether thread and lane are new
STOPS: list[tuple[TargetStopKind, int, dict[str, object], StopReason, str, Focus, bool, bool]] = [
    (KIND.INTERRUPTED, 1, {}, REASON.INTERRUPTED, "SIGINT", Focus(1, 0), False, False),
    (KIND.INTERRUPTED, 2, {}, REASON.INTERRUPTED, "SIGINT", Focus(2, 0), True, False),
    (KIND.BUDGET, 1, {}, REASON.BUDGET, "", Focus(1, 0), False, False),
    (KIND.FAULT, 1, {"signal": "SIGSEGV", "lanes": 1 << 7}, REASON.SIGNAL, "SIGSEGV", Focus(1, 7), False, True),
    (KIND.FAULT, 2, {"signal": "SIGBUS", "lanes": 0b1100}, REASON.SIGNAL, "SIGBUS", Focus(2, 2), True, False),
    (KIND.TRAP, 1, {"signal": "SIGTRAP", "lanes": 1}, REASON.SIGNAL, "SIGTRAP", Focus(1, 0), False, False),
    (KIND.TRAP, 2, {"signal": "SIGABRT"}, REASON.SIGNAL, "SIGABRT", Focus(2, 0), True, False),
    (KIND.EXCEPTION, 1, {"signal": "SIGFPE", "lanes": 1 << 63}, REASON.SIGNAL, "SIGFPE", Focus(1, 63), False, True),
    (KIND.ILLEGAL, 1, {"signal": "SIGILL"}, REASON.SIGNAL, "SIGILL", Focus(1, 0), False, False),
]


@pytest.mark.parametrize(("kind", "thread", "fields", "reason", "signal", "focus", "new_thread", "new_lane"), STOPS)
def test_stops(
    kind: TargetStopKind, thread: int, fields: dict[str, object], reason: StopReason, signal: str, focus: Focus,
    new_thread: bool, new_lane: bool,
) -> None:
    session, _ = attached(stop(kind, thread, NOWHERE + 4, **fields))
    event = session.running.proceed()
    assert (event.reason, event.signal.name if event.signal else "") == (reason, signal)
    assert event.scope == session.focus.current == focus
    assert (event.new_thread, event.new_lane) == (new_thread, new_lane)


def test_the_focus_is_on_an_active_lane() -> None:
    session, _ = attached(stop(KIND.ILLEGAL, 2, NOWHERE, signal="SIGILL"), exec_mask=ODD)
    assert session.focus.current == Focus(1, 1)
    assert session.running.proceed().scope == Focus(2, 1)


@pytest.mark.parametrize("signal", ["SIGSEGV", "SIGILL", "SIGABRT", "SIGBUS", "SIGFPE"])
def test_after_a_fatal_signal_the_program_ends(signal: str) -> None:
    session, target = attached(stop(KIND.FAULT, 1, NOWHERE, signal=signal))
    session.running.proceed()
    event = session.running.proceed()
    assert (event.reason, event.scope) == (REASON.TERMINATED, Focus())
    assert session.inferior.target is None
    assert target.runnable is not None and len(target.runnable.requests) == 1


def test_after_a_trap_it_goes_on() -> None:
    session, _ = attached(stop(KIND.TRAP, 1, NOWHERE, signal="SIGTRAP"), end)
    session.running.proceed()
    event = session.running.proceed()
    assert event.reason is REASON.EXITED
    assert event.exit is not None and event.exit.instructions == 2
    assert session.focus.current == Focus()


# scheduler-locking -> what `continue` and `stepi` ask for: (thread, only)
LOCKING = [
    ("off", (None, False), (1, False)), ("replay", (None, False), (1, False)),
    ("step", (None, False), (1, True)), ("on", (1, True), (1, True)),
]


@pytest.mark.parametrize(("setting", "proceeding", "stepping"), LOCKING)
def test_scheduler_locking(setting: str, proceeding: tuple[int | None, bool], stepping: tuple[int, bool]) -> None:
    session, target = attached(
        stop(KIND.INTERRUPTED, 1, NOWHERE), stop(KIND.STEP, 1, NOWHERE + 4), end
    )
    session.settings.scheduler_locking = setting
    session.running.proceed()
    session.running.stepi()
    asked: list[Resume] = target.runnable.requests if target.runnable is not None else []
    assert [request.mode for request in asked] == [ResumeMode.RUN, ResumeMode.STEP]
    assert [(request.thread, request.only) for request in asked] == [proceeding, stepping]


def test_a_focus_ends_with_its_target() -> None:
    session, _ = attached(end)
    before = session.focus.current
    assert before == Focus(1, 0)
    session.running.proceed()
    assert session.focus.current == Focus()
    session.running.attach(DictionaryTarget(resident={5: wave(5, NOWHERE)}))
    assert session.focus.current == Focus(5, 0)


def test_a_session_looked_at_from_elsewhere_moves_alone() -> None:
    session, _ = attached()
    there = session.at(Focus(2, 3))
    assert there.focus.current == Focus(2, 3)
    there.focus.select_lane(9)
    assert (there.focus.current, session.focus.current) == (Focus(2, 9), Focus(1, 0))
    assert there.data.integer("$_thread * 100 + $_lane") == 209
    assert session.data.integer("$_thread * 100 + $_lane") == 100


def test_a_code_object_that_is_loaded_later_has_its_breakpoints() -> None:
    def load(target: DictionaryTarget, request: Resume) -> TargetStop:
        target.loaded = [LoadedCodeObject(open_file(REDUCE), 0x7F00_0000_0000)]
        return stop(KIND.INTERRUPTED, 1, NOWHERE)(target, request)

    session, _ = attached(load)
    made = session.break_at("reduce", pending=True)
    assert made.pending
    session.running.proceed()
    assert [place.address >= 0x7F00_0000_0000 for place in made.locations] == [True]
    assert len(session.tables.shared_libraries()) == 1


def test_a_target_that_cannot_go_on_says_so() -> None:
    session = Session()
    session.load(SAXPY)
    session.running.attach(DictionaryTarget(resident={1: wave(1, NOWHERE)}))
    for command in (session.running.proceed, session.running.step, session.running.stepi):
        with pytest.raises(Exception, match=r"The program is not being run\."):
            command()
