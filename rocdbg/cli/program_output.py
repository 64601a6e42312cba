"""What kernels print, among what the debugger writes."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rocdbg.cli.shell import Shell


def show_output(shell: Shell, text: str, is_error: bool) -> None:
    """Write a piece of it, while the program runs: control characters and bytes that are not UTF-8 as octal escapes.

    It goes where commands write, what kernels write to their standard error output where errors go.
    """
    with shell.session.running.aside():
        if is_error:
            shell.out.flush()
            shell.err.write(text)
            shell.err.flush()
        else:
            out = shell.program_out or shell.out
            out.write(text)
            out.flush()
