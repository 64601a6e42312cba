"""Shows the output of kernels within the debugger's output."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rocdbg.cli.shell import Shell


def show_output(shell: Shell, text: str, is_error: bool) -> None:
    """Write a piece of a kernel's output; control characters and invalid UTF-8 bytes become octal escapes.

    It goes to the output of commands; a kernel's standard error goes to the error output.
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
