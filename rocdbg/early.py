"""What has to happen before the ``rocdbg`` command imports anything else.

Only built-in modules are used here: with `python -m rocdbg` Python would look for others in the current folder first.
"""

import _signal  # type: ignore[import-not-found]
import gc
import posix
import sys

interrupts: list[int] = []
"""Ctrl-C that came before there was a session to answer it."""


def is_command() -> bool:
    """Whether this process is the debugger's own: ``python -m rocdbg``, or the installed command."""
    name = sys.argv[0] if sys.argv else ""
    return (name == "-m" and "rocdbg" in sys.orig_argv) or name.rpartition("/")[2] == "rocdbg"


def prepare() -> None:
    """Take the current folder off the module path, where an unwanted numpy.py may lie; keep Ctrl-C.

    Who asks this process to end now is obeyed at once: there is nothing yet that would have to be put in order.
    Garbage is not looked for until `imported`: among modules there is none, and looking is a tenth of the start.
    """
    if sys.argv[:1] == ["-m"] and not sys.flags.safe_path:
        del sys.path[0]  # the package's own modules are found through the package
    if _signal.getsignal(_signal.SIGINT) != _signal.SIG_IGN:  # as for what a shell runs in the background
        _signal.signal(_signal.SIGINT, lambda number, frame: interrupts.append(number))
    for number in (_signal.SIGTERM, _signal.SIGHUP):
        if _signal.getsignal(number) != _signal.SIG_IGN:
            _signal.signal(number, lambda number, frame: posix._exit(128 + number))
    gc.disable()


def imported() -> None:
    """Look for garbage again, if this is the command: in what is made from now on, as modules stay."""
    if is_command():
        gc.freeze()
        gc.enable()
