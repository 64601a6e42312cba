"""`rocdbg.Debugger`: the same session that the prompt controls, for Python programs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

from rocdbg.cli.leaving_commands import Quit
from rocdbg.cli.printf import PrintfError
from rocdbg.cli.shell import Shell
from rocdbg.cli.writer import Capture, Writer
from rocdbg.debugger.breakpoints.dynamic_printf import DynamicPrintf
from rocdbg.debugger.session import Session

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Debugger:
    """A debugging session controlled by command lines.

    ``Debugger("saxpy.toml")`` loads the same as ``rocdbg FILE``; without a file nothing is loaded yet. ``arch`` selects
    one of several code objects, as ``--arch`` does. Questions are answered with yes, as there is no user. Raises
    `rocdbg.Error` if the file cannot be loaded.

    Attributes:
        session: the engine, which returns values instead of text (see `rocdbg.debugger.session.Session`).
        shell: the command interpreter.
    """

    def __init__(self, file: str | Path | None = None, *, arch: str | None = None) -> None:
        self.session = Session()
        self.shell = Shell(self.session, Writer(sys.stdout), Writer(sys.stderr), interactive=False)
        if file is not None:
            self.session.load(file, arch)

    @overload
    def execute(self, text: str, to_string: Literal[False] = False) -> None: ...
    @overload
    def execute(self, text: str, to_string: Literal[True]) -> str: ...
    def execute(self, text: str, to_string: bool = False) -> str | None:
        """Run one or more command lines.

        With ``to_string`` their output is returned, otherwise it goes to standard output. Warnings always go to
        standard error. Raises `rocdbg.Error` if a command fails; earlier commands have already taken effect. `quit`
        ends the dispatch, not the Python program.
        """
        if not to_string:
            self._run(text)
            return None
        with Capture(self.shell.out) as captured:
            self._run(text)
        return captured.getvalue()

    def _run(self, text: str) -> None:
        try:
            self.shell.execute(text)
        except Quit:
            if self.session.inferior.target is not None:
                self.session.running.kill()

    def dprintf(self, text: str) -> DynamicPrintf:
        """Set a ``dprintf`` with these arguments, as the command does; the printed values are also kept.

        ``array()`` of the result returns them as a structured NumPy array, with one row for each line, and the fields
        ``$_thread``, ``$_lane`` and the arguments, named by their expressions. All arguments must be numbers. Raises
        `rocdbg.Error`.
        """
        self._run(f"dprintf {text}")
        table = self.session.breakpoints
        made = table.get(table.last_number)
        if not isinstance(made, DynamicPrintf) or made.arguments is None:
            if isinstance(made, DynamicPrintf):
                table.delete(made.number)
            raise PrintfError("Only numbers can be collected: the arguments cannot be strings.")
        made.kept = []
        return made

    def traced(self, number: int) -> NDArray[Any]:
        """Return the data that tracepoint ``number`` collected in the last trace experiment, as a structured array.

        There is one row for each lane of each arrival, in order. The fields are ``$_thread``, ``$_lane``,
        ``$_instructions`` (how many the wave had executed before) and the collected values, by name. If values are
        missing, it is a masked array.
        """
        return self.session.tracing.buffer.array(number)
