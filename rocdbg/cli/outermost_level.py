"""Runs one command at the outermost level, where Ctrl-C ends only this command."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rocdbg.cli.shell import Shell


def attempt(shell: Shell, action: Callable[[], bool]) -> bool:
    """Perform an action that reports its own errors; return its result, or False after "Quit"."""
    signals = shell.signals
    try:
        try:
            if signals is not None:
                signals.open()
            if shell.out.pager is not None:
                shell.out.pager.begin()
            return action()
        finally:
            if signals is not None:
                signals.close()
    except KeyboardInterrupt:
        shell.quit_command()
        return False
