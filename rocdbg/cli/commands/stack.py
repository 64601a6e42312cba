"""Commands that look at the stack: backtrace, frame, up, down, info frame, info locals, info args."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING

from rocdbg.cli.apply import APPLY_OPTIONS, Flags, run_for
from rocdbg.cli.arguments import Arguments, Kind, optional, required
from rocdbg.cli.kinds import COMMAND, INTEGER, INTEGER_WORD, REGEXP, TEXT, word
from rocdbg.cli.options import Option
from rocdbg.cli.present import frame_text, show_frame
from rocdbg.cli.registry import Category, Repeat, command
from rocdbg.cli.settings_declarations import FRAME_OPTIONS
from rocdbg.debugger.errors import FocusError
from rocdbg.debugger.frames.frames import Frame
from rocdbg.debugger.frames.selection import DIVERGENT
from rocdbg.debugger.reports.frame import describe_frame
from rocdbg.debugger.settings import PrintSettings
from rocdbg.debugger.values.value import Value
from rocdbg.errors import Error

if TYPE_CHECKING:
    from rocdbg.cli.shell import Shell

STACK = Category.STACK
STEPS = Arguments(optional("count", INTEGER, 1))
VARIABLES = Arguments(
    Option("-q", "Do not say why there is nothing.", key="quiet"), optional("pattern", REGEXP)
)
FRAMES = Kind(
    "all|COUNT", "int | None", lambda shell, text: None if text == "all" else shell.session.data.integer(text), word,
    words=("all",),
)


def need_stack(shell: Shell) -> None:
    """`Shell.need_stack`, as a precondition."""
    shell.need_stack()


def need_frame(shell: Shell) -> None:
    """`Shell.need_frame`, as a precondition."""
    shell.need_frame()


@contextmanager
def printing(shell: Shell, settings: PrintSettings) -> Iterator[None]:
    """Values are printed with other settings for once."""
    kept = shell.session.settings.print
    shell.session.settings.print = settings
    try:
        yield
    finally:
        shell.session.settings.print = kept


@command(
    "backtrace", category=STACK, aliases=("bt", "where", "info stack", "info s"), needs=need_stack,
    usage="backtrace [full] [-full] [COUNT]",
    args=Arguments(
        Option("-full", "Print values of local variables.", word="full"), FRAME_OPTIONS,
        optional("count", INTEGER_WORD, shown="COUNT"),
    ),
)
def backtrace(shell: Shell, full: bool, settings: PrintSettings, count: int | None) -> None:
    """Print backtrace of all stack frames, or innermost COUNT frames.

    With a negative argument, print outermost -COUNT frames. With -full (or full), print the values of the local
    variables too.
    """
    session = shell.session
    limit = session.settings.backtrace_limit or None
    frames = list(islice(session.focus.frames(), limit))
    if count is not None and count < 0:
        frames = frames[count:]
    if frames and session.focus.is_divergent():
        shell.warn(DIVERGENT)
    more = count is not None and 0 <= count < len(frames)
    if more:
        frames = frames[:count]
    with printing(shell, settings):
        for frame in frames:
            show_frame(shell, frame, source=False)
            if full:
                _show_scopes(shell, frame, indent=8)
    if more:
        shell.line("(More stack frames follow...)")
    elif frames and frames[-1].stop_reason and (count is None or count < 0):
        shell.line(f"Backtrace stopped: {frames[-1].stop_reason}")


@command(
    "frame", category=STACK, aliases=("f",), needs=need_stack,
    args=Arguments(optional("level", INTEGER, shown="LEVEL")),
)
def frame_(shell: Shell, level: int | None) -> None:
    """Select and print a stack frame.

    With no argument, print the selected stack frame.
    """
    if level is not None:
        shell.session.focus.select_frame(level)
    show_frame(shell, shell.session.focus.frame())


@command(
    "frame level", category=STACK, needs=need_stack,
    args=Arguments(required("level", INTEGER, "Missing frame level argument", "LEVEL")),
)
def frame_level(shell: Shell, level: int) -> None:
    """Select and print a stack frame by level."""
    frame_(shell, level)


@command(
    "frame function", category=STACK, needs=need_stack,
    args=Arguments(required("name", TEXT, "Missing function name argument", "NAME")),
)
def frame_function(shell: Shell, name: str) -> None:
    """Select and print a stack frame by function name: the innermost frame of that function."""
    frame = next((f for f in shell.session.focus.frames() if f.name == name), None)
    if frame is None:
        raise FocusError(f'No frame for function "{name}".')
    frame_(shell, frame.level)


def _move(shell: Shell, count: int, show: bool = True) -> None:
    shell.session.focus.up(count)
    if show:
        show_frame(shell, shell.session.focus.frame())


@command("up", category=STACK, needs=need_stack, args=STEPS)
def up(shell: Shell, count: int) -> None:
    """Select and print stack frame that called this one."""
    _move(shell, count)


@command("down", category=STACK, aliases=("dow",), needs=need_stack, args=STEPS)
def down(shell: Shell, count: int) -> None:
    """Select and print stack frame called by this one."""
    _move(shell, -count)


@command("up-silently", category=STACK, needs=need_stack, args=STEPS)
def up_silently(shell: Shell, count: int) -> None:
    """Same as the `up' command, but does not print anything."""
    _move(shell, count, show=False)


@command("down-silently", category=STACK, needs=need_stack, args=STEPS)
def down_silently(shell: Shell, count: int) -> None:
    """Same as the `down' command, but does not print anything."""
    _move(shell, -count, show=False)


@command("info frame", category=Category.STATUS, aliases=("info f",), needs=need_stack, args=Arguments())
def info_frame(shell: Shell) -> None:
    """All about the selected stack frame: its place, its caller, where its registers are saved."""
    for line in describe_frame(shell.session.focus.frame(), shell.session.inferior):
        shell.line(line)


@command("info locals", category=Category.STATUS, needs=need_frame, args=VARIABLES)
def info_locals(shell: Shell, quiet: bool, pattern: re.Pattern[str] | None) -> None:
    """All local variables of current stack frame or those matching REGEXPs.

    Inner blocks come first; a variable that another hides is shown too.
    """
    session = shell.session
    frame = session.focus.frame()
    rows = [row for block in session.data.locals(frame) for row in block.variables]
    _show_rows(shell, rows, pattern, quiet, "locals", frame)


@command("info args", category=Category.STATUS, needs=need_frame, args=VARIABLES)
def info_args(shell: Shell, quiet: bool, pattern: re.Pattern[str] | None) -> None:
    """All argument variables of current stack frame or those matching REGEXPs."""
    session = shell.session
    frame = session.focus.frame()
    _show_rows(shell, list(session.data.arguments(frame)), pattern, quiet, "arguments", frame)


def _show_rows(
    shell: Shell, rows: list[tuple[str, Value]], pattern: re.Pattern[str] | None, quiet: bool, what: str, frame: Frame
) -> None:
    if not frame.has_debug_info:
        if not quiet:
            shell.line("No symbol table info available.")
        return
    if pattern is not None:
        rows = [row for row in rows if pattern.search(row[0])]
    if not rows and not quiet:
        shell.line(f"No matching {what}." if pattern is not None else f"No {what}.")
    for name, value in rows:
        _show_variable(shell, name, value, 0)


def _show_scopes(shell: Shell, frame: Frame, indent: int) -> None:
    rows = [row for block in shell.session.data.locals(frame) for row in block.variables]
    if not rows:
        shell.line(f"{' ' * indent}No locals.")
    for name, value in rows:
        _show_variable(shell, name, value, indent)


def _show_variable(shell: Shell, name: str, value: Value, indent: int) -> None:
    try:
        text = shell.session.data.format_nested(value)  # no "(type *)" here, unlike `print`
    except Error as error:
        text = f"<error reading variable {name} ({error})>"
    shell.out.styled([("", " " * indent), ("variable", name), ("", f" = {text}\n")])


@command(
    "frame apply", category=STACK, repeat=Repeat.NEVER, needs=need_stack,
    usage="frame apply all|COUNT [-q|-c|-s] COMMAND",
    args=Arguments(
        required("count", FRAMES, "Missing COUNT argument."), APPLY_OPTIONS, FRAME_OPTIONS,
        required("line", COMMAND, "Please specify a command to apply on the selected frames"),
    ),
)
def frame_apply(shell: Shell, count: int | None, flags: Flags, settings: PrintSettings, line: str) -> None:
    """Apply a command to a number of frames; COUNT innermost ones, outermost ones if negative, or all."""
    frames = list(shell.session.focus.frames())
    if count is not None:
        frames = frames[:count] if count >= 0 else frames[count:]
    for frame in frames:
        there = shell.at(shell.session.focus.current.with_frame(frame.level))
        with printing(there, settings):
            head = frame_text(there, frame, number=True)
        run_for(there, head, line, flags)
