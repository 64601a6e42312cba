"""What `lane apply`, `thread apply` and `frame apply` have in common: flags, headings, errors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from rocdbg.cli.command_options import Option, OptionGroup
from rocdbg.cli.visible_text import visible
from rocdbg.cli.writer import Capture
from rocdbg.errors import Error

if TYPE_CHECKING:
    from rocdbg.cli.shell import Shell


class Flags(Struct):
    """``-q``: no heading; ``-c``: continue after an error, showing it; ``-s``: skip errors and empty output."""

    quiet: bool = False
    proceed: bool = False
    silent: bool = False


APPLY_OPTIONS = OptionGroup(
    "flags", "Flags",
    (
        Option("-q", "Do not show headings.", key="quiet"),
        Option("-c", "Print any error raised by COMMAND and continue.", key="proceed"),
        Option("-s", "Silently ignore any errors or empty output produced by COMMAND.", key="silent"),
    ),
    lambda shell, given: Flags(*(bool(given.get(key)) for key in ("quiet", "proceed", "silent"))),
    "[-q|-c|-s]",
)


def run_for(shell: Shell, heading: str, line: str, flags: Flags) -> None:
    """Run a command for one lane, thread or frame, which is already selected, under its heading."""
    head = "" if flags.quiet else heading + "\n"
    if not flags.silent and not flags.proceed:
        shell.write(head)
        shell.run_line(line)
        return
    text = ""
    try:
        with Capture(shell.out) as captured:
            shell.run_line(line)
        text = captured.getvalue()
    except Error as error:
        if flags.silent:
            return
        text = captured.getvalue() + visible(f"{error}\n")
    if text or not flags.silent:
        shell.write(head)
        shell.out.raw(text)
