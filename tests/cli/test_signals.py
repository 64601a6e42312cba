"""Ctrl-C at moments that a test cannot bring about in a real process."""

from __future__ import annotations

import io
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator

import pytest
from msgspec.structs import replace

from rocdbg import early, work
from rocdbg.cli import frame_lines, stop_messages
from rocdbg.cli.interrupts import Signals, Terminated
from rocdbg.cli.main import TOOLS
from rocdbg.cli.repl import run_statement
from rocdbg.cli.shell import Shell

MakeShell = Callable[..., tuple[Shell, io.StringIO]]


@pytest.fixture(name="shell")
def shell_fixture(make_shell: MakeShell) -> Iterator[tuple[Shell, io.StringIO]]:
    shell, text = make_shell()
    shell.reports_internal_errors = True
    shell.signals = Signals(shell)
    shell.signals.install()
    yield shell, text
    shell.signals.restore()


def replaced(shell: Shell, action: Callable[[Shell, str], None]) -> None:
    """Replace the handler of `output`."""
    shell.registry.add(replace(shell.registry.find("output").spec, handler=action))


def run(shell: Shell, *lines: str) -> None:
    for line in lines:
        run_statement(shell, line, lambda prompt: "end")


def test_before_a_command(shell: tuple[Shell, io.StringIO]) -> None:
    signal.raise_signal(signal.SIGINT)
    run(shell[0], "print 1", "print 2")
    assert shell[1].getvalue() == "Quit\n$1 = 2\n"


def test_a_library_that_makes_another_exception_of_it(shell: tuple[Shell, io.StringIO]) -> None:
    def load(inner: Shell, text: str) -> None:
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            raise TypeError("expected str, not BufferedReader") from None

    replaced(shell[0], load)
    run(shell[0], "output", "print 2")
    assert shell[1].getvalue() == "Quit\n$1 = 2\n"


def test_in_a_user_defined_command(shell: tuple[Shell, io.StringIO]) -> None:
    """Afterwards its arguments are gone, and so is the state of the commands that it was running."""
    replaced(shell[0], lambda inner, text: signal.raise_signal(signal.SIGINT))
    shell[0].execute("define a\nwhile 1\noutput\nend\nend")
    run(shell[0], "a 1 2 3", "print $argc", "loop_break")
    assert shell[1].getvalue() == 'Quit\n$1 = void\nUndefined command: "loop_break".  Try "help".\n'


def test_on_the_way_out_of_one(shell: tuple[Shell, io.StringIO]) -> None:
    """The cleanup of a command is not interrupted; the second Ctrl-C applies to the next command."""
    cleaned = []

    def command(inner: Shell, text: str) -> None:
        try:
            signal.raise_signal(signal.SIGINT)
        finally:
            signal.raise_signal(signal.SIGINT)
            cleaned.append(True)

    replaced(shell[0], command)
    run(shell[0], "output", "print 1", "print 2")
    assert (cleaned, shell[1].getvalue()) == ([True], "Quit\nQuit\n$1 = 2\n")


@pytest.mark.parametrize(("number", "status"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_told_to_end(number: signal.Signals, status: int, shell: tuple[Shell, io.StringIO]) -> None:
    replaced(shell[0], lambda inner, text: signal.raise_signal(number))
    with pytest.raises(Terminated) as leaving:
        run(shell[0], "output")
    assert leaving.value.status == status


def test_a_stop_that_it_made_is_shown_without_arguments_that_take_long(
    shell: tuple[Shell, io.StringIO], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The Ctrl-C has been handled by then: the report limits its own time."""
    run(shell[0], "file demo_kernels/saxpy/saxpy.toml", "break saxpy.hip:10", "run")
    stop = shell[0].session.running.last_stop
    assert stop is not None
    arguments = frame_lines._arguments

    def endless(*whatever: object) -> Iterator[tuple[str, str]]:
        while True:
            work.unit()

    monkeypatch.setattr(frame_lines, "_arguments", endless)
    monkeypatch.setattr(stop_messages, "SOON", 0.01)
    shell[0].state.interrupted = True
    shell[1].seek(0)
    shell[1].truncate()
    stop_messages.show_stop(shell[0], stop)
    assert "saxpy (...) at saxpy.hip:10" in shell[1].getvalue()
    monkeypatch.setattr(frame_lines, "_arguments", arguments)
    run(shell[0], "frame")
    assert ", n=1000) at saxpy.hip:10" in shell[1].getvalue()


@pytest.mark.parametrize(("orig", "expected"), [
    (["python", "-m", "rocdbg", "llvmdi", "check", "a.ll"], True), (["python", "-m", "rocdbg", "run", "true"], True),
    (["python", "-X", "dev", "-m", "rocdbg", "dwarf"], True), (["python", "-m", "rocdbg", "-ex", "run"], False),
    (["python", "-m", "rocdbg"], False), (["python", "-m", "rocdbg", "./annotate"], False),
])
def test_which_command_lines_have_a_session(orig: list[str], expected: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.orig_argv", orig)
    monkeypatch.setattr("sys.argv", ["-m"])  # as while the package is imported
    assert early.has_no_session() is expected
    at = orig.index("rocdbg")
    monkeypatch.setattr("sys.argv", ["/usr/bin/rocdbg", *orig[at + 1 :]])
    assert early.has_no_session() is expected


def test_every_tool_ends_at_once() -> None:
    """The list exists twice, because one copy is needed before anything can be imported."""
    assert set(early.WITHOUT_SESSION) == {"run", *TOOLS}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_after_the_end_does_not_change_the_status(number: signal.Signals) -> None:
    """Python releases its modules after it has removed the signal handlers."""
    program = f"""
import os, sys
class Last:
    def __init__(self): self.kill, self.own = os.kill, os.getpid()
    def __del__(self): self.kill(self.own, {int(number)})
sys.last = Last()
sys.orig_argv = sys.argv = ["rocdbg", "-nx", "-batch", "-ex", "print 6 * 7"]
from rocdbg.__main__ import run
sys.exit(run())
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout) == (0, "$1 = 42\n")
