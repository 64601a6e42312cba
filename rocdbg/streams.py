"""The process's standard streams. If one is closed, full or broken, commands do not end with a traceback, nor with
status 0.

Each front end runs inside `with_streams`; it writes to the error output with `complain`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Final, NoReturn

from rocdbg import work

LOST: Final = 1
"""The exit status if output could not be written."""


class StreamLost(Exception):
    """The standard output cannot be written; ``error`` is the reason."""

    def __init__(self, error: OSError | ValueError) -> None:
        self.error = error
        super().__init__(error)


def with_streams(body: Callable[[], int], inherited: bool = False) -> int:
    """Run a front end with usable standard streams. Returns its exit status, or `LOST` if that is 0 but not all of its
    output could be written. ``inherited``: streams that were closed when rocdbg started are also closed for the
    programs that rocdbg starts.
    """
    _open_missing(inherited)
    status = LOST
    lost: OSError | ValueError | None = None
    try:
        status = body()
    except StreamLost as problem:
        status, lost = 0, problem.error
    except SystemExit as leaving:  # argparse: help, the version, a wrong command line
        if isinstance(leaving.code, str):
            complain(leaving.code)
        status = leaving.code if isinstance(leaving.code, int) else int(leaving.code is not None)
    except BrokenPipeError:  # the reader has gone; nothing more to write
        status = LOST
    finally:
        lost = _finish() or lost
    if lost is None or status:
        return status
    if not isinstance(lost, BrokenPipeError):
        complain(f"rocdbg: output: {getattr(lost, 'strerror', None) or lost}.")
        _finish()
    return LOST


def leave_at_once(status: int) -> NoReturn:
    """End the process now, after ending other threads and writing all output, but without freeing memory: with large
    inputs, freeing it would take too long for a response to Ctrl-C.
    """
    work.leave()
    _finish()
    os._exit(status)


def complain(text: str) -> None:
    """Write a line to the error output, if that can be written. Text from elsewhere must already be printable."""
    with suppress(OSError, ValueError, AttributeError):  # AttributeError: there is no error output
        sys.stderr.write(f"{text}\n")
        sys.stderr.flush()


def _open_missing(inherited: bool) -> None:
    """Open the null device for closed standard streams (``<&- >&-``), so that no other file gets their descriptors. The
    output streams reject what is written, as closed ones do.
    """
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        try:
            os.fstat(number)
        except OSError:
            found = os.open(os.devnull, os.O_RDONLY)
            if found != number:
                os.dup2(found, number)
                os.close(found)
            os.set_inheritable(number, not inherited)
        if getattr(sys, name) is None:
            setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115
    reconfigure = getattr(sys.stdin, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="surrogateescape")  # an invalid byte is its command's error, not the session's


def _finish() -> OSError | ValueError | None:
    """Flush the streams; a failure must not disturb the exit. Returns the reason why output was lost."""
    lost: OSError | ValueError | None = None
    for number, stream in ((2, sys.stderr), (1, sys.stdout)):
        try:
            stream.flush()
        except (OSError, ValueError) as error:
            lost = error if number == 1 else None
            with suppress(OSError):
                null = os.open(os.devnull, os.O_WRONLY)
                os.dup2(null, number)
                os.close(null)
            with suppress(OSError, ValueError):
                stream.flush()
    return lost


__all__ = ["LOST", "StreamLost", "complain", "leave_at_once", "with_streams"]
