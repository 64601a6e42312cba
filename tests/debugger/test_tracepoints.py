"""Tracepoints in code that clang compiled: the collected data equals what the evaluator finds where a breakpoint stops.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import rocdbg
from rocdbg.arch.lane_sets import lane_list
from rocdbg.debugger import Session
from rocdbg.debugger.base.errors import BreakpointError, DebuggerError
from rocdbg.debugger.base.focus import Focus
from rocdbg.debugger.breakpoints.tracepoints.trace_experiments import TraceOptions
from rocdbg.debugger.breakpoints.tracepoints.tracepoint_table import Tracepoint, parse_actions
from rocdbg.debugger.running.stop_events import StopReason
from rocdbg.debugger.time.time_control import look_at

pytestmark = pytest.mark.llvm

BUILDS = (("gfx90a", "-O0"), ("gfx1100", "-O2"))
COLLECTED = {
    "-O0": ("watched.hip:8", ("i", "acc", "n", "2 * i + $_lane", "&acc", "1.5 * i", "threadIdx", "$v1", "$s4")),
    "-O2": ("watched.hip:22", ("r", "$exec", "$v1", "threadIdx")),
}
RECOVERED = ("id", "out[id]")
"""Variables at -O2 that may have to be computed from other values, which only the evaluator does."""


def made(path: Path, schedule: str = "round-robin") -> Session:
    session = Session()
    session.load(path)
    session.launch.schedule = schedule
    session.launch.set_grid("208")
    session.launch.set_workgroup("64")
    for index, text in enumerate(("i32[208]:zeros", "3")):
        session.launch.set_argument(index, text)
    return session


def tracing(session: Session, place: str, lines: Sequence[str], condition: str | None = None) -> Tracepoint:
    one = session.break_at(place, condition=condition, form=Tracepoint)
    assert isinstance(one, Tracepoint)
    session.set_actions(one, lines)
    return one


def stopped(session: Session, place: str, texts: Sequence[str], condition: str | None) -> list[tuple[Any, ...]]:
    """The evaluator's results for all lanes where a breakpoint stops: thread, lane, instructions, bytes by text."""
    session.break_at(place, condition=condition)
    rows: list[tuple[Any, ...]] = []
    event = session.run()
    while event.reason is not StopReason.EXITED:
        thread = event.scope.thread or 0
        count = session.inferior.wave(thread).instructions
        for lane in lane_list(event.lanes):
            values: list[bytes | None] = []
            for text in texts:
                one = f"{text}[$_lane]" if text.startswith("$v") else text
                try:
                    values.append(session.data.evaluate(one, Focus(thread, lane)).contents())
                except rocdbg.Error:
                    values.append(None)
            rows.append((thread, lane, count, *values))
        event = session.running.proceed()
    return rows


def as_rows(array: NDArray[Any], texts: Sequence[str]) -> list[tuple[Any, ...]]:
    masks = np.ma.getmaskarray(array)
    return [
        (
            int(row["$_thread"]), int(row["$_lane"]), int(row["$_instructions"]),
            *(None if np.any(np.array(mask[text].tolist())) else row[text].tobytes() for text in texts),
        )
        for row, mask in zip(np.ma.getdata(array), masks, strict=True)
    ]


@pytest.mark.parametrize("way", ("host", "target"))
@pytest.mark.parametrize(("target", "level"), BUILDS)
def test_what_is_collected_is_what_a_breakpoint_finds(
    compiled: Callable[..., Path], target: str, level: str, way: str
) -> None:
    place, texts = COLLECTED[level]
    if way == "host" and level == "-O2":
        texts += RECOVERED
    path, condition = compiled("watched.hip", target, level), "$_lane % 7 == 3"
    expected = stopped(made(path, "random 5"), place, texts, condition)
    session = made(path, "random 5")
    session.settings.condition_evaluation = way
    one = tracing(session, place, [f"collect {', '.join(texts)}"], condition)
    session.tracing.start(TraceOptions())
    assert session.run().reason is StopReason.EXITED
    array = session.tracing.buffer.array(one.number)
    assert as_rows(array, texts) == expected and expected
    frames = session.tracing.buffer
    assert one.hit_count == len(frames) == len({row[::2][:2] for row in expected})
    native = [frames.frame(number) for number in range(len(frames)) if not frames.frame(number).layout.by_host]
    assert bool(native) is (way == "target")


def test_a_place_whose_values_cannot_all_be_read(compiled: Callable[..., Path]) -> None:
    path = compiled("watched.hip", "gfx90a", "-O0")
    out = np.zeros(208, np.int32)
    dispatch = rocdbg.load(path).kernels["kern"].launch(208, 64, [out, np.int32(3)])
    array = dispatch.trace("watched.hip:22", ["id", "*(int *) ($_lane == 3 ? 16 : out)"], "$_lane < 5")
    assert isinstance(array, np.ma.MaskedArray)
    assert array.mask["*(int *) ($_lane == 3 ? 16 : out)"].tolist() == (array["$_lane"] == 3).tolist()
    assert not array.mask["id"].any()


def test_a_launch_is_traced_to_an_array(compiled: Callable[..., Path]) -> None:
    program = rocdbg.load(compiled("watched.hip", "gfx90a", "-O0"))
    plain, out = np.zeros(208, np.int32), np.zeros(208, np.int32)
    program.kernels["kern"].launch(208, 64, [plain, np.int32(3)]).run()
    dispatch = program.kernels["kern"].launch(208, 64, [out, np.int32(3)])
    array = dispatch.trace("watched.hip:8", ["i", "acc", "i / 2.0"])
    assert (out == plain).all() and dispatch.finished
    assert array.dtype.names == ("$_thread", "$_lane", "$_instructions", "i", "acc", "i / 2.0")
    assert len(array) == 3 * 208
    for wave in range(1, 5):
        for lane in range(16 if wave == 4 else 64):
            mine = array[(array["$_thread"] == wave) & (array["$_lane"] == lane)]
            assert mine[["i", "acc", "i / 2.0"]].tolist() == [(0, 0, 0.0), (1, 0, 0.5), (2, 1, 1.0)]
            assert (np.diff(mine["$_instructions"].astype(np.int64)) > 0).all()
    fresh = program.kernels["kern"].launch(208, 64, [out, np.int32(3)])
    with pytest.raises(rocdbg.Error, match='No symbol "nosuch" in current context'):
        fresh.trace("watched.hip:8", ["nosuch"])
    with pytest.raises(rocdbg.Error, match="has not ended within 300 instructions"):
        fresh.trace("watched.hip:8", ["i"], max_instructions=300)
    assert len(fresh.trace("watched.hip:8", ["i"])) <= 3 * 208 and fresh.finished


def test_frames_are_gone_back_to(compiled: Callable[..., Path]) -> None:
    session = made(compiled("watched.hip", "gfx90a", "-O0"), "random 3")
    one = tracing(session, "watched.hip:8", ["collect i, acc"], "$_lane % 2 == 1")
    trace = session.tracing
    trace.start(TraceOptions())
    session.break_at("watched.hip:21")
    session.run()
    home = session.time.position
    with pytest.raises(DebuggerError, match="May not look at trace frames while trace is running"):
        trace.need_stopped()
    trace.stop()
    assert len(trace.buffer) > 3
    for number in (len(trace.buffer) - 1, 0, 2):
        frame = trace.buffer.frame(number)
        assert look_at(trace, session.time, frame, session.focus.current)
        for column in frame.layout.columns:
            for lane in lane_list(frame.lanes):
                found = session.data.evaluate(column.text, Focus(frame.thread, lane)).contents()
                assert found == trace.buffer.contents(frame, column, lane)
        assert session.focus.current.lane in lane_list(frame.lanes)
        with pytest.raises(DebuggerError, match="Cannot execute this command while looking at trace frames"):
            session.running.proceed()
    assert look_at(trace, session.time, None, session.focus.current)
    assert session.time.position == home and one.hit_count == len(trace.buffer)
    assert not session.time.need().replaying
    assert session.running.proceed().reason is StopReason.BREAKPOINT


@pytest.mark.parametrize("way", ("host", "target"))
def test_experiments_end(compiled: Callable[..., Path], way: str) -> None:
    session = made(compiled("watched.hip", "gfx90a", "-O0"), "lockstep 7")
    session.settings.condition_evaluation = way
    first = tracing(session, "watched.hip:8", ["collect i"])
    second = tracing(session, "watched.hip:22", ["collect id"])
    trace = session.tracing
    trace.start(TraceOptions())
    session.run()
    everything, numbers = as_rows(trace.buffer.array(first.number), ["i"]), trace.buffer.numbers().tolist()
    assert numbers.count(1) == 12 and numbers.count(2) == 4

    first.pass_count = 5
    trace.start(TraceOptions())
    session.run()
    assert trace.status.why == "by tracepoint 1" and not trace.status.running
    end = [n for n, number in enumerate(numbers) if number == 1][4] + 1
    assert trace.buffer.numbers().tolist() == numbers[:end]
    assert (first.hit_count, second.hit_count) == (5, numbers[:end].count(2))
    got = as_rows(trace.buffer.array(first.number), ["i"])
    assert got == everything[: len(got)] and len(got) > 4 * 32

    first.pass_count = 0
    size = 8 * (4 + 64) * 3 + 100
    trace.start(TraceOptions(size=size))
    session.run()
    assert trace.status.why == "because the buffer was full"
    assert trace.buffer.numbers().tolist() == numbers[: len(trace.buffer)] and len(trace.buffer) in (1, 2, 3)

    trace.start(TraceOptions(size=size, circular=True))
    session.run()
    trace.stop()
    assert trace.status.created == 16 and 1 <= len(trace.buffer) <= 6
    assert trace.buffer.numbers().tolist() == numbers[-len(trace.buffer) :]
    assert trace.buffer.words * 8 <= size


def test_evaluated_variables_and_errors(compiled: Callable[..., Path]) -> None:
    session = made(compiled("watched.hip", "gfx90a", "-O0"))
    session.data.evaluate("$n = 10")
    one = tracing(session, "watched.hip:22", ["collect $n", "teval $n = $n + 1", "collect id, $_lane"])
    trace = session.tracing
    trace.start(TraceOptions())
    session.run()
    array = trace.buffer.array(one.number)
    assert array["$n"].tolist() == list(range(10, 218)) and session.data.integer("$n") == 218
    session.set_actions(one, ["teval *(int *) 16 = 1"])
    trace.start(TraceOptions())
    session.run()
    assert trace.status.why == "by an error (Cannot access memory at address 0x10, tracepoint 1)"


@pytest.mark.parametrize(("line", "message"), [
    ("foo", "`foo' is not a supported tracepoint action."),
    ("collect", "collect requires an argument (one or more expressions, separated by commas)."),
    ("collect a,, b", "collect requires an argument (one or more expressions, separated by commas)."),
    ("collect/s a", 'Undefined collection format "s".'),
    ("while-stepping 3", "while-stepping is not supported: set tracepoints at the following instructions too, "
                         "or go back to a trace frame with tfind and step from there."),
])
def test_actions_that_are_none(line: str, message: str) -> None:
    with pytest.raises(BreakpointError) as caught:
        parse_actions(line)
    assert str(caught.value) == message


@pytest.mark.parametrize("target", ("gfx90a", "gfx1100"))
def test_registers_that_are_collected_are_there(compiled: Callable[..., Path], target: str) -> None:
    """The size of the register file that a target allocates does not matter."""
    session = made(compiled("watched.hip", target, "-O0"))
    one = tracing(session, "watched.hip:8", ["collect $regs"])
    session.tracing.start(TraceOptions())
    assert session.run().reason is StopReason.EXITED
    array = session.tracing.buffer.array(one.number)
    names = [name for name in array.dtype.names or () if name.startswith("$")]
    assert {"$pc", "$exec", "$s0", "$v0"} < set(names) and "$s106" not in names
    masks = np.ma.getmaskarray(array)
    assert not any(masks[name].any() for name in names)
