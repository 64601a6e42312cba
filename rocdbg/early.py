"""Actions that must precede all other imports of the ``rocdbg`` command.

Only built-in modules are used here: with `python -m rocdbg`, Python would search for other modules in the current
directory first.
"""

import _signal  # type: ignore[import-not-found]
import gc
import posix
import sys

_prepared = False
"""Whether this process is the command. It is stored because `is_command` is only right until the main module runs,
which changes sys.argv.
"""
interrupts: list[int] = []
"""Each Ctrl-C that arrived before there was a session to handle it."""


def is_command() -> bool:
    """Whether this process belongs to the debugger: ``python -m rocdbg``, or the installed command."""
    name = sys.argv[0] if sys.argv else ""
    return (name == "-m" and "rocdbg" in sys.orig_argv) or name.rpartition("/")[2] == "rocdbg"


WITHOUT_SESSION = ("run", "annotate", "dwarf", "llvmdi")
"""First arguments that select a tool, or a program that runs without a prompt."""


def has_no_session() -> bool:
    """Whether the command line selects one of `WITHOUT_SESSION`."""
    arguments = sys.orig_argv if sys.argv[:1] == ["-m"] else sys.argv
    at = arguments.index("rocdbg") + 1 if arguments is sys.orig_argv else 1
    return len(arguments) > at and arguments[at] in WITHOUT_SESSION


def leave(number: int) -> None:
    """End the process with the status that a signal has in shells."""
    posix._exit(128 + number)


def prepare() -> None:
    """Remove the current directory, which may contain an unrelated numpy.py, from the module path; record Ctrl-C.

    Signals that terminate the process take effect at once, because there is nothing to clean up yet; so does Ctrl-C if
    there will be no session. Garbage collection is disabled until `imported` is called: importing modules creates no
    garbage, and the search for it takes a tenth of the start-up time.
    """
    global _prepared
    _prepared = True
    if sys.argv[:1] == ["-m"] and not sys.flags.safe_path:
        del sys.path[0]  # the package's own modules are found through the package
    if _signal.getsignal(_signal.SIGINT) != _signal.SIG_IGN:  # it is ignored if a shell runs this in the background
        later = interrupts.append
        _signal.signal(_signal.SIGINT, lambda number, frame: leave(number) if has_no_session() else later(number))
    for number in (_signal.SIGTERM, _signal.SIGHUP):
        if _signal.getsignal(number) != _signal.SIG_IGN:
            _signal.signal(number, lambda number, frame: leave(number))
    gc.disable()


def imported() -> None:
    """Enable garbage collection again, if this is the command. It then covers only objects created from now on, because
    modules stay loaded anyway.
    """
    if _prepared:
        gc.freeze()
        gc.enable()


def ended() -> None:
    """Ignore signals from now on, if this is the command: its exit status is decided, and Python removes its own signal
    handlers before the process has ended.
    """
    if _prepared:
        for number in (_signal.SIGINT, _signal.SIGTERM, _signal.SIGHUP):
            _signal.signal(number, _signal.SIG_IGN)
