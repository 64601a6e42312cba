"""Names of stops: `info signals` of GDB 13, and the reasons of its machine interface."""

from __future__ import annotations

from rocdbg.debugger.running.runner import FATAL
from rocdbg.debugger.running.stop_events import SIGNALS, StopReason

NAMES = {
    "SIGINT": "Interrupt",
    "SIGILL": "Illegal instruction",
    "SIGTRAP": "Trace/breakpoint trap",
    "SIGABRT": "Aborted",
    "SIGFPE": "Arithmetic exception",
    "SIGBUS": "Bus error",
    "SIGSEGV": "Segmentation fault",
}


def test_signals_are_called_as_gdb_calls_them() -> None:
    assert {name: signal.description for name, signal in SIGNALS.items()} == NAMES
    assert all(signal.name == name for name, signal in SIGNALS.items())


def test_what_a_program_survives() -> None:
    assert set(NAMES) - FATAL == {"SIGINT", "SIGTRAP"}


def test_reasons_that_gdb_has_too_have_its_names() -> None:
    machine_interface = {
        "breakpoint-hit", "watchpoint-trigger", "end-stepping-range", "function-finished", "location-reached",
        "signal-received", "exited-normally", "exited-signalled", "watchpoint-scope", "no-history",
    }
    assert {reason.value for reason in StopReason} - machine_interface == {
        "interrupted", "instruction-budget", "called-function-finished", "catchpoint-hit", "thread-exited",
        "host-stopped",
    }
