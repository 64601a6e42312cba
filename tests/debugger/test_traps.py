"""Stops after a debug trap: they show the line of the trap, although the PC is after it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from rocdbg.debugger import Session, StopReason

pytestmark = pytest.mark.llvm
Compile = Callable[..., Path]
LINES = (Path(__file__).parent / "sources" / "traps.hip").read_text().splitlines()
IN_CALL = LINES.index("        __builtin_debugtrap(); // in a call inlined") + 1
IN_KERNEL = LINES.index("    __builtin_debugtrap(); // in the kernel") + 1


def start(path: Path) -> Session:
    session = Session()
    session.load(path)
    session.launch.set_kernel("kern")
    session.launch.set_grid("64")
    session.launch.set_workgroup("64")
    session.launch.set_argument(0, "i32[64]:zeros")
    session.launch.set_argument(1, "7")
    return session


def backtrace(session: Session) -> list[tuple[str | None, int | None]]:
    return [(frame.name, frame.line) for frame in session.focus.frames()]


@pytest.mark.parametrize("target", ["gfx90a", "gfx1030"])
@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_stop_behind_a_trap_is_at_the_trap(compiled: Compile, target: str, level: str) -> None:
    session = start(compiled("traps.hip", target, level))
    event = session.run()
    assert event.reason is StopReason.SIGNAL and event.lanes == 1 << 5
    assert backtrace(session) == [("check", IN_CALL), ("kern", IN_KERNEL - 1)]
    frame = session.focus.frame()
    assert frame.pc == session.inferior.wave(1).pc == frame.lookup_pc + 4
    event = session.running.proceed()
    assert event.reason is StopReason.SIGNAL
    assert backtrace(session) == [("kern", IN_KERNEL)]


def test_step_goes_on_to_the_next_line(compiled: Compile) -> None:
    session = start(compiled("traps.hip"))
    session.run()
    session.running.proceed()
    lines = []
    for _ in range(2):
        session.running.next()
        lines.append(session.focus.frame().line)
    assert lines == [IN_KERNEL + 1, IN_KERNEL + 2]


def test_a_step_of_an_instruction_leaves_the_trap(compiled: Compile) -> None:
    session = start(compiled("traps.hip"))
    session.run()
    session.running.stepi()
    frame = session.focus.frame()
    assert frame.pc == frame.lookup_pc == session.inferior.wave(1).pc


def test_traps_are_named(compiled: Compile) -> None:
    """The trap handler ABI names the traps whose signal does not indicate their purpose."""
    session = start(compiled("traps.hip"))
    session.break_at("kern")
    session.run()
    for number, meaning in (
        (0, ", which hardware reserves"), (1, ", HSA's debugtrap(arg)"), (3, ""), (7, ", the debugger's breakpoint"),
        (0xFF, ", which the trap handler ABI reserves"), (0x30, ""),
    ):
        session.places.assemble(f"$pc s_trap {number}")
        event = session.running.proceed()
        shown = number if number <= 64 else hex(number)
        assert (event.device.sentence or "").endswith(f" executed `s_trap {shown}`{meaning}."), number
