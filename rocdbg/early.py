"""What has to happen before the ``rocdbg`` command imports anything else.

Only built-in modules are used here: with `python -m rocdbg` Python would look for others in the current folder first.
"""

import _signal  # type: ignore[import-not-found]
import gc
import posix
import sys

_THREADS = b"OPENBLAS_NUM_THREADS"
_set: list[bytes] = []
"""Variables that `prepare` set and `imported` takes back."""

interrupts: list[int] = []
"""Ctrl-C that came before there was a session to answer it."""


def is_command() -> bool:
    """Whether this process is the debugger's own: ``python -m rocdbg``, or the installed command."""
    name = sys.argv[0] if sys.argv else ""
    return (name == "-m" and "rocdbg" in sys.orig_argv) or name.rpartition("/")[2] == "rocdbg"


def prepare() -> None:
    """Take the current folder off the module path, where a numpy.py may lie that nobody asked for; keep Ctrl-C.

    Two things that would make the start slow are put off until `imported`. Garbage is not looked for: among modules
    there is none. NumPy's linear algebra, which the debugger does not use, starts no thread for each processor.
    """
    if sys.argv[:1] == ["-m"] and not sys.flags.safe_path:
        del sys.path[0]  # the package's own modules are found through the package
    _signal.signal(_signal.SIGINT, lambda number, frame: interrupts.append(number))
    gc.disable()
    if _THREADS not in posix.environ:
        posix.putenv(_THREADS, b"1")
        _set.append(_THREADS)


def imported() -> None:
    """End what `prepare` put off, if this is the command. Modules stay: garbage is looked for in what is new."""
    if is_command():
        gc.freeze()
        gc.enable()
    while _set:
        posix.unsetenv(_set.pop())  # programs that the user starts are not meant
