"""The common part of `lane apply`, `thread apply` and `frame apply`: flags, headings, errors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rocdbg.cli.visible import visible
from rocdbg.cli.writer import Capture
from rocdbg.errors import Error

if TYPE_CHECKING:
    from rocdbg.cli.shell import Shell


@dataclass(slots=True)
class Flags:
    """``-q``: no heading; ``-c``: go on after an error, showing it; ``-s``: skip errors and empty output.

    ``which`` is ``-all``, ``-active``, ``-inactive`` or ``-ascending`` where the command knows those, else "".
    """

    quiet: bool = False
    proceed: bool = False
    silent: bool = False
    which: str = ""


def parse_flags(words: list[str], text: str, which: tuple[str, ...] = ()) -> tuple[Flags, str]:
    """Leading flags of ``words``, and what is left of ``text`` after them: the command with its own spacing."""
    flags = Flags()
    rest = text.lstrip()
    for word in words:
        if word == "-q":
            flags.quiet = True
        elif word == "-c":
            flags.proceed = True
        elif word == "-s":
            flags.silent = True
        elif word in which:
            flags.which = word
        else:
            break
        rest = rest[len(word) :].lstrip()
    return flags, rest


def run_for(shell: Shell, heading: str, line: str, flags: Flags) -> None:
    """Run a command for one lane, thread or frame that is selected already, under its heading."""
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
