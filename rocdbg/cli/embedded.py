"""`rocdbg.Debugger`: the session that the prompt drives, for Python programs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Literal, overload

from rocdbg.cli.leaving import Quit
from rocdbg.cli.shell import Shell
from rocdbg.cli.writer import Capture, Writer
from rocdbg.debugger.session import Session


class Debugger:
    """A debugging session driven by command lines.

    ``Debugger("saxpy.toml")`` loads what ``rocdbg FILE`` loads; without a file nothing is loaded yet. ``arch`` chooses
    the code object where there are several, as ``--arch`` does. Questions are answered with yes, as nobody can be
    asked. Raises `rocdbg.Error` when the file cannot be loaded.

    Attributes:
        session: the engine, for values instead of text (see `rocdbg.debugger.session.Session`).
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

        With ``to_string`` what they write is returned, else it goes to the standard output. Warnings go to the
        standard error output either way. Raises `rocdbg.Error` when a command fails; those before it have had
        their effect. `quit` ends the dispatch, not the Python program.
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
