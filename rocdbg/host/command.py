"""``rocdbg run``: a program on simulated GPUs, without a prompt."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from types import FrameType
from typing import NoReturn

from rocdbg.errors import Error
from rocdbg.host.program_api import Program
from rocdbg.text import printable

_NOT_RUN = 127
"""Status where the program could not be started, as shells have it."""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        super().error(printable(message))


def make_parser() -> argparse.ArgumentParser:
    """The command line behind ``rocdbg run``."""
    parser = _Parser(
        prog="rocdbg run",
        description="Run a HIP, OpenCL or OpenMP program, unchanged, on simulated AMD GPUs.",
        allow_abbrev=False,
    )
    parser.add_argument("--gpu", "-gpu", metavar="LIST", help="gfx90a or gfx90a,gfx1100; default: what its code is for")
    parser.add_argument("program", metavar="PROGRAM", help="what to run")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, metavar="ARGUMENT", help="what it is given")
    return parser


def main(argv: Sequence[str]) -> int:
    """Run what the command line names; returns the exit status: the program's, 128 and its number if a signal has ended
    it, 127 if it could not be started."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    options = make_parser().parse_args(argv)
    try:
        status = run_program([options.program, *options.arguments], options.gpu)
    except Error as error:
        sys.stderr.write(f"rocdbg: {printable(str(error))}\n")
        return _NOT_RUN
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    sys.stdout.flush()
    return status


def run_program(arguments: Sequence[str], gpu: str | None = None) -> int:
    """Run a program with this terminal. Ctrl-C reaches it by itself, and what it makes of that decides; what asks this
    process to end is passed on to it. Raises the errors of `Program`."""
    with Program(arguments, gpu) as program:
        program.start()

        def pass_on(number: int, frame: FrameType | None) -> None:
            with suppress(OSError):
                os.kill(program.pid, number)

        handlers = {}
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGQUIT):
                handlers[number] = signal.signal(number, signal.SIG_IGN)
            for number in (signal.SIGTERM, signal.SIGHUP):
                handlers[number] = signal.signal(number, pass_on)
        try:
            status = program.wait()
        finally:
            for number, handler in handlers.items():
                signal.signal(number, handler)
    return status if status >= 0 else 128 - status
