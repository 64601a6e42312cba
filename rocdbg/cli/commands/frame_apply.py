"""Commands for many frames at once: frame apply, faas, tfaas."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rocdbg.cli.apply_commands import APPLY_OPTIONS, Flags, run_for
from rocdbg.cli.argument_kinds import COMMAND, text_of
from rocdbg.cli.arguments import Arguments, Kind, optional, required
from rocdbg.cli.breakpoint_numbers import numbers_of, read_number
from rocdbg.cli.command_registry import Category, CommandError, Completes, Repeat, command
from rocdbg.cli.commands.stack import STACK, need_stack, printing
from rocdbg.cli.frame_lines import frame_text
from rocdbg.cli.settings.print_settings import FRAME_OPTIONS
from rocdbg.debugger.base.engine_settings import PrintSettings

if TYPE_CHECKING:
    from rocdbg.cli.shell import Shell

FLAGGED = text_of("COMMAND", Completes.COMMAND, ("-c", "-q", "-s"))
"""A command after flags, which are passed on with it."""
WHICH = Kind(
    "all|COUNT|-COUNT|level LEVEL...", "str", lambda shell, text: text,
    lambda text: len(re.match(r"level(?:\s+[\d$]\S*)*|\S+", text)[0]), words=("all", "level"),  # type: ignore[index]
)
LEVELS = Kind(
    "LEVEL...", "str", lambda shell, text: text,
    lambda text: len(re.match(r"(?:[\d$]\S*\s*)*", text)[0].rstrip()),  # type: ignore[index]
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

    COUNT selects the COUNT innermost frames, -COUNT the COUNT outermost ones, "all" every frame, and LEVEL the frames
    with these levels (numbers and ranges). With -q, no headings are shown. With -c, errors are shown and the remaining
    frames are processed. With -s, errors and empty output are not shown.
    """
    _apply(shell, which, flags, settings, line)


def _apply(shell: Shell, which: str, flags: Flags, settings: PrintSettings, line: str) -> None:
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


@command(
    "frame apply all", category=STACK, repeat=Repeat.NEVER, needs=need_stack,
    args=Arguments(APPLY_OPTIONS, FRAME_OPTIONS, optional("line", COMMAND, "")),
)
def frame_apply_all(shell: Shell, flags: Flags, settings: PrintSettings, line: str) -> None:
    """Apply a command to all frames."""
    _apply(shell, "all", flags, settings, line)


@command(
    "frame apply level", category=STACK, repeat=Repeat.NEVER, needs=need_stack,
    args=Arguments(
        required("levels", LEVELS, "Missing or invalid LEVEL... argument"), APPLY_OPTIONS, FRAME_OPTIONS,
        optional("line", COMMAND, ""),
    ),
)
def frame_apply_level(shell: Shell, levels: str, flags: Flags, settings: PrintSettings, line: str) -> None:
    """Apply a command to a list of frames.

    The levels are numbers and ranges.
    """
    _apply(shell, f"level {levels}", flags, settings, line)


@command("faas", category=STACK, repeat=Repeat.NEVER, args=Arguments(optional("line", FLAGGED, "")))
def faas(shell: Shell, line: str) -> None:
    """Apply a command to all frames (ignoring errors and empty output).

    Shortcut for "frame apply all -s COMMAND".
    """
    if not line:
        raise CommandError("Please specify a command to apply on all frames")
    shell.run_line(f"frame apply all -s {line}")


@command("tfaas", category=Category.RUNNING, repeat=Repeat.NEVER, args=Arguments(optional("line", FLAGGED, "")))
def tfaas(shell: Shell, line: str) -> None:
    """Apply a command to all frames of all threads (ignoring errors and empty output).

    Shortcut for "thread apply all -s -- frame apply all -s COMMAND".
    """
    if not line:
        raise CommandError("Please specify a command to apply on all frames of all threads")
    shell.run_line(f"thread apply all -s -- frame apply all -s {line}")


@command("taas", category=Category.RUNNING, repeat=Repeat.NEVER, args=Arguments(optional("line", FLAGGED, "")))
def taas(shell: Shell, line: str) -> None:
    """Apply a command to all threads (ignoring errors and empty output).

    Shortcut for "thread apply all -s COMMAND".
    """
    if not line:
        raise CommandError("Please specify a command to apply on all threads")
    shell.run_line(f"thread apply all -s {line}")
