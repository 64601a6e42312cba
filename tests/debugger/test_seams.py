"""Extensions in one file: a target without a simulator, one that only shows a state, a front end, a checker."""

from __future__ import annotations

import json
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rocdbg
from rocdbg.cli.shell import Shell
from rocdbg.cli.writer import Writer
from rocdbg.debugger import Session
from rocdbg.debugger.running.observer import Observer
from rocdbg.debugger.running.stop_events import StopEvent
from rocdbg.debugger.target.capabilities.runnable import TargetStopKind
from rocdbg.debugger.target.capabilities.target_state import LoadedCodeObject, Target
from tests.debugger.toy_target import DictionaryTarget, end, stop, wave

Start = Callable[..., Session]
DEMOS = Path(__file__).resolve().parents[2] / "demo_kernels"
SHOWN = (
    "bt", "info locals", "info lanes", "info threads", "info registers pc exec s4 v0", "print *p", "x/2i $pc", "up",
)


def text_of(session: Session, command: str) -> str:
    """The output of a command in a session."""
    out = StringIO()
    Shell(session, Writer(out), Writer(out)).execute(command)
    return out.getvalue()


class Copy(DictionaryTarget):
    """Fills its dictionaries with everything that is read of another target: the contents that a core file would need.
    """

    def __init__(self, live: Target) -> None:
        super().__init__(live.architecture, {each.number: each for each in live.waves()}, loaded=live.code_objects())
        self.live = live

    def read_register(self, thread: int, number: int) -> bytes:
        data = self.registers[thread, number] = self.live.read_register(thread, number)
        return data

    def read_memory(
        self, space: int, address: int, size: int, thread: int | None = None, lane: int | None = None
    ) -> bytes:
        data = self.live.read_memory(space, address, size, thread, lane)
        self.write_memory(*self.key(space, address, thread, lane), data)
        return data

    @staticmethod
    def key(space: int, address: int, thread: int | None, lane: int | None) -> tuple[int, int]:
        """Memory of which each lane has its own copy."""
        if space in (0, 1, 3) or lane is None:
            return space, address
        return space | lane << 8 | (thread or 0) << 16, address


class Core(DictionaryTarget):
    """A saved state: it can be examined, and does not continue."""

    def read_memory(
        self, space: int, address: int, size: int, thread: int | None = None, lane: int | None = None
    ) -> bytes:
        return super().read_memory(*Copy.key(space, address, thread, lane), size)


@pytest.mark.llvm
@pytest.mark.parametrize(("target", "level"), [("gfx90a", "-O0"), ("gfx1100", "-O0"), ("gfx942", "-O1")])
def test_a_state_that_was_written_down_is_shown_like_the_live_one(lanes: Start, target: str, level: str) -> None:
    live = lanes(target, level)
    live.break_at("scale")
    live.run()
    alive = live.inferior.target
    assert alive is not None
    written = Copy(alive)
    live.inferior.target = written
    live.inferior.state_changed()
    expected = {command: text_of(live, command) for command in SHOWN}
    assert "scale" in expected["bt"]

    session = lanes(target, level)
    program = session.inferior.need_program()
    base = alive.code_objects()[0].base
    core = Core(
        written.architecture, written.resident, written.registers, written.memory,
        [LoadedCodeObject(program.code_object, base)],
    )
    session.running.attach(core)
    assert {command: text_of(session, command) for command in SHOWN} == expected
    text_of(session, "down")
    for command in ("continue", "step", "finish", "until", "stepi"):
        with pytest.raises(rocdbg.Error, match=r"The program is not being run\."):
            text_of(session, command)


class JsonFrontEnd:
    """Shows events as lines of JSON; commands are methods of the session's parts."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.lines: list[str] = []

    def command(self, name: str, *arguments: Any) -> None:
        """Run one, and show what happened."""
        part, _, method = name.rpartition(".")
        try:
            result = getattr(getattr(self.session, part) if part else self.session, method)(*arguments)
        except rocdbg.Error as error:
            self.show("error", message=str(error))
            return
        if isinstance(result, StopEvent):
            line = None
            if result.exit is None:
                frame = self.session.focus.frame()
                line = f"{frame.file.basename}:{frame.line}" if frame.file is not None else None
            self.show("stopped", reason=result.reason.value, thread=result.scope.thread, line=line)

    def show(self, kind: str, **fields: object) -> None:
        """One line."""
        self.lines.append(json.dumps({"event": kind, **{k: v for k, v in fields.items() if v is not None}}))


@pytest.mark.llvm
def test_a_front_end_is_a_file(lanes: Start) -> None:
    front_end = JsonFrontEnd(lanes())
    front_end.command("running.step")
    front_end.command("break_at", "scale")
    front_end.command("run")
    front_end.command("running.finish")
    front_end.command("breakpoints.clear")
    front_end.command("running.proceed")
    assert front_end.lines == [
        '{"event": "error", "message": "The program is not being run."}',
        '{"event": "stopped", "reason": "breakpoint-hit", "thread": 1, "line": "lanes.hip:15"}',
        '{"event": "stopped", "reason": "function-finished", "thread": 1, "line": "lanes.hip:32"}',
        '{"event": "stopped", "reason": "exited-normally"}',
    ]


class FiniteChecker(Observer):
    """Reports which buffers contain numbers that are not finite when a kernel ends."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.report: list[str] = []

    def stopped(self, event: StopEvent) -> None:
        if event.exit is None:
            return
        for name in self.session.launch.buffer_names():
            value = self.session.data.evaluate(f"${name}")
            numbers = np.frombuffer(value.contents(), np.float32)
            bad = np.flatnonzero(~np.isfinite(numbers))
            if len(bad):
                self.report.append(f"{name}[{bad[0]}] is {numbers[bad[0]]} ({len(bad)} of {len(numbers)})")


def test_a_checker_is_a_file() -> None:
    session = Session()
    session.load(DEMOS / "saxpy" / "saxpy.O2.toml")
    session.launch.set_argument(0, "inf")
    checker = FiniteChecker(session)
    session.observers.append(checker)
    assert session.run().exit is not None
    assert checker.report == ["y[0] is nan (1000 of 1000)"]


def test_observers_are_told_in_order(lanes: Start) -> None:
    told: list[str] = []

    class Teller(Observer):
        def launched(self, target: Target) -> None:
            told.append(f"launched {len(target.waves())}")

        def stopped(self, event: StopEvent) -> None:
            told.append(event.reason.value)

        def left(self) -> None:
            told.append("left")

    session = Session()
    session.observers.append(Teller())
    target = DictionaryTarget(resident={1: wave(1, 0x100)})
    session.running.attach(target.script(stop(TargetStopKind.INTERRUPTED, 1, 0x104), end))
    with pytest.raises(rocdbg.Error):
        session.running.proceed()
    session.running.leave()
    assert told == ["launched 1", "left"]
