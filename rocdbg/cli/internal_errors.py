"""Internal errors: how a session reports a bug in rocdbg, and where it keeps the traceback.

A command that encounters a bug ends with one message, as in GDB, and the session continues.
``ROCDBG_INTERNAL_ERRORS=raise`` lets exceptions pass unchanged, for debugging rocdbg itself; shells in Python programs
and tests do so by default.
"""

from __future__ import annotations

import os
import platform
import sys
import threading
import time
import traceback
import warnings
from pathlib import Path

import rocdbg
from rocdbg.errors import Error

MAX_REPORTS = 20
"""The maximum number of reports that are kept; the oldest are deleted first."""
VARIABLE = "ROCDBG_INTERNAL_ERRORS"
_PREFIX = "internal-error-"


class InternalError(Error):
    """A command encountered a bug in rocdbg; ``report`` is the file with the traceback, if one could be written."""

    def __init__(self, message: str, report: Path | None = None) -> None:
        self.report = report
        super().__init__(message)


class ResourceError(Error):
    """A command needs more memory or stack than is available."""


def are_reported() -> bool:
    """Whether the user wants internal errors reported, rather than raised."""
    return os.environ.get(VARIABLE) != "raise"


def as_error(error: BaseException, command: str) -> Error:
    """Return the message for the user about an exception that should not leave a command."""
    if isinstance(error, MemoryError):
        return ResourceError("virtual memory exhausted.")
    if isinstance(error, RecursionError):
        return ResourceError("The command ran out of stack: its input is nested too deeply.")
    head = f"{_place(error)}: internal-error: {_described(error)}"
    report = write_report(error, command)
    kept = f"; its traceback is in {report}" if report is not None else ""
    return InternalError(
        f"{head}\nA problem internal to rocdbg has been detected, further debugging may prove unreliable{kept}.",
        report,
    )


def keep_stray_reports() -> None:
    """Write errors that cannot be caught (in finalisers, in the progress bar's thread) to a report, and drop warnings.

    This is only for a process that belongs to the debugger.
    """
    sys.unraisablehook = lambda found: _keep_stray(found.exc_value)
    threading.excepthook = lambda found: _keep_stray(found.exc_value)
    if not sys.warnoptions:
        warnings.simplefilter("ignore")


def _keep_stray(error: BaseException | None) -> None:
    if error is not None and not isinstance(error, MemoryError | KeyboardInterrupt):
        write_report(error, "")


def _described(error: BaseException) -> str:
    """Describe an exception in one line, even if its own methods fail."""
    try:
        text = str(error).strip().partition("\n")[0][:200]
    except Exception:  # a bug in the exception itself: use only its name
        text = ""
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _place(error: BaseException) -> str:
    """Return where an exception was raised, as the innermost place in rocdbg: ``rocdbg/cli/shell.py:12``."""
    package = Path(__file__).resolve().parents[1]
    place = "?"
    for frame, line in traceback.walk_tb(error.__traceback__):
        path = Path(frame.f_code.co_filename)
        if path.is_relative_to(package):
            place = f"{path.relative_to(package.parent)}:{line}"
    return place


def state_directory() -> Path | None:
    """Return ``$XDG_STATE_HOME/rocdbg``, else ``~/.local/state/rocdbg``; ``None`` for a user without a home directory.
    """
    named = os.environ.get("XDG_STATE_HOME", "")
    if Path(named).is_absolute():
        return Path(named) / "rocdbg"
    home = home_directory()
    return home / ".local" / "state" / "rocdbg" if home is not None else None


def home_directory() -> Path | None:
    """Return the user's home directory; ``None`` if there is none or it is not absolute."""
    try:
        home = Path.home()
    except (RuntimeError, KeyError, OSError):
        return None
    return home if home.is_absolute() else None


def write_report(error: BaseException, command: str) -> Path | None:
    """Write the traceback to a file that only the user can read; return ``None`` if that is not possible."""
    try:
        text = f"Command: {command[:1000]!r}\n\n{''.join(traceback.format_exception(error, limit=-50))}"
    except Exception:  # a failing report must not hide its cause
        return None
    return write_report_text(text)


def write_report_text(text: str) -> Path | None:
    """Write a text, preceded by versions, to a file that only the user can read; ``None`` if that is not possible."""
    folder = state_directory()
    if folder is None:
        return None
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        _drop_oldest(folder)
        stamp = time.strftime("%Y%m%d-%H%M%S")
        path = folder / f"{_PREFIX}{stamp}-{os.getpid()}-{time.monotonic_ns() % 1_000_000}.txt"
        head = f"rocdbg {rocdbg.__version__}, Python {platform.python_version()}, {platform.platform()}\n"
        # O_EXCL: never write to an existing file or link
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(f"{head}{text}")
    except Exception:  # a failing report must not hide its cause
        return None
    return path


def _drop_oldest(folder: Path) -> None:
    reports = sorted(folder.glob(f"{_PREFIX}*.txt"), key=lambda path: path.lstat().st_mtime)
    for path in reports[: max(0, len(reports) - MAX_REPORTS + 1)]:
        path.unlink(missing_ok=True)
