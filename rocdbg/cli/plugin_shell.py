"""The shell as commands of plug-ins see it: a small, stable interface."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocdbg.cli.writer import Writer
from rocdbg.debugger.plugin_session import PluginSession

if TYPE_CHECKING:
    from rocdbg.cli.shell import Shell


class PluginShell:
    """The output of a command, and the session that the command uses.

    Attributes:
        session: the session at the focus of the command.
        out: for styled text: ``out.styled([("function", "f"), ("", "()")])``.
    """

    def __init__(self, shell: Shell) -> None:
        self._shell = shell
        self.session = PluginSession(shell.session)
        self.out: Writer = shell.out

    def write(self, text: str) -> None:
        """Write text to the command's output."""
        self._shell.write(text)

    def line(self, text: str = "") -> None:
        """Write a line to the command's output."""
        self._shell.line(text)

    def warn(self, message: str) -> None:
        """Write ``warning: MESSAGE`` to the error output."""
        self._shell.warn(message)

    def confirm(self, question: str) -> bool:
        """Ask a yes/no question; the answer is yes if there is no user."""
        return self._shell.confirm(question)

    def execute(self, text: str) -> None:
        """Run command lines. Raises `rocdbg.Error` if one fails."""
        self._shell.execute(text)

    def need_threads(self) -> None:
        """Raise a `rocdbg.Error` unless a kernel runs."""
        self._shell.need_threads()
