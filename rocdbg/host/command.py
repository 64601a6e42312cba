"""``rocdbg run``: runs a program on simulated GPUs, without a prompt."""

from __future__ import annotations

import argparse
import os
import select
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FrameType

from rocdbg.argument_parser import ArgumentParser
from rocdbg.errors import Error
from rocdbg.host.program_api import Program
from rocdbg.streams import complain
from rocdbg.text import printable

_NOT_RUN = 127
"""Exit status if the program could not be started, as in shells."""


def make_parser() -> argparse.ArgumentParser:
    """The command line after ``rocdbg run``."""
    parser = ArgumentParser(
        prog="rocdbg run",
        description="Run a HIP, OpenCL or OpenMP program, unchanged, on simulated AMD GPUs.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "--gpu", "-gpu", metavar="LIST", help="the GPUs to simulate, such as gfx90a or gfx90a,gfx1100; by default "
        "those for which PROGRAM was compiled"
    )
    parser.add_argument("program", metavar="PROGRAM", help="the program to run")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, metavar="ARGUMENT", help="an argument of the program")
    return parser


class _Asked(BaseException):
    """A signal must end this process, because there is no program yet to which it could be passed on."""

    def __init__(self, number: int) -> None:
        self.number = number
        super().__init__(number)


def main(argv: Sequence[str], interrupts: Sequence[int] = ()) -> int:
    """Run what the command line names; returns the exit status: the program's, 128 and its number if a signal has ended
    it, 127 if it could not be started. ``interrupts``: Ctrl-C that came before this was called."""
    passing = _Passing()
    try:
        passing.install()
        if interrupts:
            raise _Asked(signal.SIGINT)
        options = make_parser().parse_args(argv)
        status = _run([options.program, *options.arguments], options.gpu, passing)
    except Error as error:
        complain(f"rocdbg: {printable(str(error))}")
        return _NOT_RUN
    except _Asked as asked:
        return 128 + asked.number
    finally:
        passing.over()
    return status if status >= 0 else 128 - status


def _run(arguments: Sequence[str], gpu: str | None, passing: _Passing) -> int:
    """Run a program with this terminal. Raises the errors of `Program`."""
    with Program(arguments, gpu) as program, _woken_by_signals() as wake:
        passing.program = program
        program.start()
        passing.started()
        waiting = select.poll()
        waiting.register(wake, select.POLLIN)
        while program.returncode is None:
            waiting.poll()
            os.read(wake, select.PIPE_BUF)
        return program.wait()


@contextmanager
def _woken_by_signals() -> Iterator[int]:
    """A pipe to which every signal writes, including the one for a child's end. In contrast to a call that waits for
    the child, one that waits for this pipe also returns if the signal arrived just before the call, or in another
    thread.
    """
    wake, written = os.pipe()
    os.set_blocking(written, False)
    before = signal.set_wakeup_fd(written, warn_on_full_buffer=False)
    child_ended = signal.signal(signal.SIGCHLD, lambda number, frame: None)
    try:
        yield wake
    finally:
        signal.signal(signal.SIGCHLD, child_ended or signal.SIG_DFL)
        signal.set_wakeup_fd(before)
        os.close(wake)
        os.close(written)


class _Passing:
    """Handling of signals. Ctrl-C reaches the program directly, and the program decides what to do; signals that
    terminate this process are passed on to the program. While there is no program, both kinds end this process; after
    the program's end, they are ignored and its status is used.
    """

    def __init__(self) -> None:
        self.program: Program | None = None
        self._before: list[int] = []
        """Signals that arrived while the program was started."""
        self._over = False

    def install(self) -> None:
        """Install the handlers."""
        for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) != signal.SIG_IGN:  # if this process ignores it, so does the program
                signal.signal(number, self._came)

    def started(self) -> None:
        """The program has started: pass on the signals that arrived meanwhile."""
        assert self.program is not None
        while self._before:
            self.program.send_signal(self._before.pop(0))

    def over(self) -> None:
        """Ignore further signals: the exit status is known."""
        self._over = True

    def _came(self, number: int, frame: FrameType | None) -> None:
        if self._over:
            return
        if self.program is None or (not self.program.starting and not self.program.has_started):
            self._over = True  # the first signal only: the exit must not be interrupted
            raise _Asked(number)
        if self.program.starting:
            self._before.append(number)
        elif number in (signal.SIGTERM, signal.SIGHUP):
            self.program.send_signal(number)
