"""Kernels with faults: the fault's lanes, kind and place, what can still be examined, and continuing afterwards."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from rocdbg.arch.lane_sets import lane_list
from rocdbg.debugger import Session, StopEvent, StopReason
from rocdbg.debugger.base.errors import NotRunningError

pytestmark = pytest.mark.llvm
Launch = Callable[..., Session]
SOURCE = "faults.hip"
CULPRIT = 70
"""The work-item that causes the fault in most kernels, passed as their second argument."""


@pytest.fixture
def launch(compiled: Callable[..., Path]) -> Launch:
    """``launch("deep", "gfx90a", "-O0")``: 80 items in one workgroup; nothing has run."""

    def make(kernel: str, target: str = "gfx90a", *options: str) -> Session:
        session = Session()
        session.load(compiled(SOURCE, target, *options))
        session.launch.set_kernel(kernel)
        session.launch.set_grid("80")
        session.launch.set_workgroup("80")
        session.launch.set_argument(0, "i32[80]:zeros")
        session.launch.set_argument(1, str(CULPRIT))
        return session

    return make


def line_of(mark: str) -> int:
    text = (Path(__file__).parent / "sources" / SOURCE).read_text()
    return next(n for n, line in enumerate(text.splitlines(), 1) if line.endswith(f"// {mark}"))


@dataclass(frozen=True)
class Fault:
    """The required report of a kernel's stop; ``locals`` are values in the innermost frame at -O0."""

    kernel: str
    signal: str
    detail: str
    locals: dict[str, int]
    frames: tuple[str, ...] = ()


FAULTS = [
    Fault("null_read", "SIGSEGV", "Lane 6: read of 4 bytes at 0x0, the null pointer", {"i": 70, "p": 0}),
    Fault("lds_read", "SIGBUS", "Lane 6: read of 4 bytes at local#0x400000", {"i": 70, "j": 1 << 20, "tile[3]": 67}),
    Fault("private_write", "SIGSEGV", "Lane 6: write of 4 bytes at private_lane#0x40000", {"i": 70, "a[7]": 0}),
    Fault("deep", "SIGSEGV", "Lane 6: read of 4 bytes at 0x7f00", {"k": 1 << 27, "wanted": 1 << 28}, ("load", "deep")),
    Fault("abort_some", "SIGABRT", "Lane 6 executed `s_trap 2`.", {"i": 70, "n": 70}),
    Fault("odd_atomic", "SIGBUS", "Lane 6: misaligned atomic of 4 bytes at 0x7f00", {"i": 70}),
]


@pytest.mark.parametrize("level", ["-O0", "-O2"])
@pytest.mark.parametrize("target", ["gfx90a", "gfx1100"])
@pytest.mark.parametrize("fault", FAULTS, ids=[fault.kernel for fault in FAULTS])
def test_fault_of_one_lane(launch: Launch, fault: Fault, target: str, level: str) -> None:
    if (fault.kernel, level) == ("null_read", "-O2"):
        return  # reading a null pointer is undefined: the optimiser has removed it
    session = launch(fault.kernel, target, level)
    event = session.run()
    thread, lane = divmod(CULPRIT, 64 if target == "gfx90a" else 32)
    assert event.reason is StopReason.SIGNAL
    assert event.signal is not None and event.signal.name == fault.signal
    assert (event.scope.thread, event.scope.lane, event.lanes) == (thread + 1, lane, 1 << lane)
    assert event.device.sentence.startswith(fault.detail)
    assert session.focus.frame().line == line_of(f"here: {fault.kernel}")
    assert tuple(frame.name for frame in session.focus.frames()) == (fault.frames or (fault.kernel,))
    if level == "-O0":
        assert {name: session.data.integer(name) for name in fault.locals} == fault.locals
    if fault.frames:
        session.focus.up()
        assert session.focus.frame().line == line_of(f"call: {fault.kernel}")
        if level == "-O0":
            assert session.data.integer("i") == CULPRIT
    ended = session.running.proceed()
    assert ended.reason is StopReason.TERMINATED
    with pytest.raises(NotRunningError):
        session.running.step()
    again = session.run()
    assert (again.reason, again.device.sentence, again.scope) == (event.reason, event.device.sentence, event.scope)


def test_fault_of_several_lanes(launch: Launch) -> None:
    session = launch("global_write")
    event = session.run()
    assert lane_list(event.lanes) == [3, 19, 35, 51]
    assert event.device.sentence.startswith("Lanes [3 19 35 51]: write of 4 bytes at 0x7f0040")
    for lane in (3, 4, 51):
        session.focus.select_lane(lane)
        assert session.data.integer("i") == lane
        assert session.data.integer("p - out") == lane + (1 << 28 if lane % 16 == 3 else 0)
    assert session.data.integer("*out") == 0  # no lane has stored: memory is as before the instruction


def test_illegal_instruction(launch: Launch) -> None:
    session = launch("bad_code", "gfx1030")
    event = session.run()
    assert event.signal is not None and event.signal.name == "SIGILL"
    assert event.device.sentence == "Lanes [0-31] executed `.long 0xbf7fffff`."
    assert session.focus.frame().line == line_of("here: bad_code")


@pytest.mark.parametrize("target", ["gfx942", "gfx1030"])
def test_debug_trap_goes_on(launch: Launch, target: str) -> None:
    session = launch("stop_here", target)
    event = session.run()
    threads = 0
    while event.reason is StopReason.SIGNAL:
        threads += 1
        assert event.signal is not None and event.signal.name == "SIGTRAP"
        assert event.scope.thread == threads
        assert all(lane % 2 for lane in lane_list(event.lanes))
        assert event.device.sentence.endswith(" executed `s_trap 3`.")
        event = session.running.proceed()
    assert (event.reason, threads) == (StopReason.EXITED, 2 if target == "gfx942" else 3)
    bound = session.launch.bound
    assert bound is not None
    assert list(bound.buffers[0].contents.view("int32")) == list(range(1, 81))


def test_endless_loop_meets_the_budget(launch: Launch) -> None:
    session = launch("endless")
    session.settings.instruction_budget = 100_000
    event = session.run()
    assert event.reason is StopReason.BUDGET
    assert session.focus.frame().name == "endless"
    session.data.evaluate("*out = 123456")
    event = session.running.proceed()
    while event.reason is StopReason.BUDGET:
        event = session.running.proceed()
    assert event.reason is StopReason.EXITED


def faulty_step(session: Session) -> StopEvent:
    session.break_at("deep", temporary=True)
    session.run()
    session.focus.select_thread(2, 6)
    event = session.running.next()
    for _ in range(5):
        if event.reason is not StopReason.STEP:
            break
        event = session.running.next()
    return event


def test_a_fault_ends_a_step(launch: Launch) -> None:
    event = faulty_step(launch("deep"))
    assert (event.reason, event.scope.thread, event.scope.lane) == (StopReason.SIGNAL, 2, 6)
