"""Commands for many frames at once: frame apply, faas, tfaas."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rocdbg.cli.apply import APPLY_OPTIONS, Flags, run_for
from rocdbg.cli.arguments import Arguments, Kind, optional, required
from rocdbg.cli.breakpoint_numbers import numbers_of, read_number
from rocdbg.cli.commands.stack import STACK, need_stack, printing
from rocdbg.cli.kinds import COMMAND
from rocdbg.cli.present import frame_text
from rocdbg.cli.registry import Category, CommandError, Repeat, command
from rocdbg.cli.settings_declarations import FRAME_OPTIONS
from rocdbg.debugger.settings import PrintSettings

if TYPE_CHECKING:
    from rocdbg.cli.shell import Shell

WHICH = Kind(
    "all|COUNT|-COUNT|level LEVEL...", "str", lambda shell, text: text,
    lambda text: len(re.match(r"level(?:\s+[\d$]\S*)*|\S+", text)[0]), words=("all", "level"),  # type: ignore[index]
)


@command(
    "frame apply", category=STACK, repeat=Repeat.NEVER, needs=need_stack,
    args=Arguments(
        required("which", WHICH, "Missing COUNT argument."), APPLY_OPTIONS, FRAME_OPTIONS,
        optional("line", COMMAND, ""),
    ),
)
def frame_apply(shell: Shell, which: str, flags: Flags, settings: PrintSettings, line: str) -> None:
    """Apply a command to a number of frames.

    COUNT innermost ones, outermost ones if negative; all; or those of some levels (numbers and ranges). With -q no
    headings are shown; with -c errors are shown and the rest goes on; with -s errors and empty output are not shown.
    """
    frames = list(shell.session.focus.frames())
    if which.startswith("level"):
        levels = set(numbers_of(shell, which.removeprefix("level")))
        if not levels:
            raise CommandError("Missing or invalid LEVEL... argument")
        frames = [frame for frame in frames if frame.level in levels]
    elif which != "all":
        count = read_number(shell, which)[0]
        if count == 0:
            raise CommandError("Invalid COUNT argument.")
        frames = frames[:count] if count > 0 else frames[count:]
    if not line:
        raise CommandError("Please specify a command to apply on the selected frames")
    if flags.proceed and flags.silent:
        raise CommandError("frame apply all: -c and -s are mutually exclusive")
    for frame in frames:
        there = shell.at(shell.session.focus.current.with_frame(frame.level))
        with printing(there, settings):
            head = frame_text(there, frame, number=True)
        run_for(there, head, line, flags)


@command("faas", category=STACK, repeat=Repeat.NEVER, args=Arguments(optional("line", COMMAND, "")))
def faas(shell: Shell, line: str) -> None:
    """Apply a command to all frames (ignoring errors and empty output).

    Shortcut for "frame apply all -s COMMAND".
    """
    if not line:
        raise CommandError("Please specify a command to apply on all frames")
    shell.run_line(f"frame apply all -s {line}")


@command("tfaas", category=STACK, repeat=Repeat.NEVER, args=Arguments(optional("line", COMMAND, "")))
def tfaas(shell: Shell, line: str) -> None:
    """Apply a command to all frames of all threads (ignoring errors and empty output).

    Shortcut for "thread apply all -s -- frame apply all -s COMMAND".
    """
    if not line:
        raise CommandError("Please specify a command to apply on all frames of all threads")
    shell.run_line(f"thread apply all -s -- frame apply all -s {line}")


@command("taas", category=Category.RUNNING, repeat=Repeat.NEVER, args=Arguments(optional("line", COMMAND, "")))
def taas(shell: Shell, line: str) -> None:
    """Apply a command to all threads (ignoring errors and empty output).

    Shortcut for "thread apply all -s COMMAND".
    """
    if not line:
        raise CommandError("Please specify a command to apply on all threads")
    shell.run_line(f"thread apply all -s {line}")
