"""Commands that look at the stack: backtrace, frame, up, down, info frame, info locals, info args."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from rocdbg.cli.present import frame_parts, show_frame
from rocdbg.cli.registry import Category, CommandError, Repeat, command
from rocdbg.debugger.errors import FocusError
from rocdbg.debugger.frames.frames import Frame
from rocdbg.debugger.session_focus import DIVERGENT
from rocdbg.debugger.values.value import Value
from rocdbg.errors import Error

if TYPE_CHECKING:
    from rocdbg.cli.shell import Shell

STACK = Category.STACK


@command(
    "backtrace", category=STACK, aliases=("bt", "where", "info stack", "info s"),
    usage="backtrace [full] [-full] [COUNT]", options=("-full",),
)  # fmt: skip
def backtrace(shell: Shell, text: str) -> None:
    """Print backtrace of all stack frames, or innermost COUNT frames.

    With a negative argument, print outermost -COUNT frames. With -full (or full), print the values of the local
    variables too.
    """
    session = shell.session
    shell.need_stack()
    full = False
    count: int | None = None
    for word in text.split():
        if word in ("-full", "full"):
            full = True
        else:
            count = session.integer(word)
    limit = session.settings.backtrace_limit or None
    frames = list(islice(session.frames(), limit))
    if count is not None and count < 0:
        frames = frames[count:]
    if frames and session.is_divergent():
        shell.warn(DIVERGENT)
    more = count is not None and 0 <= count < len(frames)
    if more:
        frames = frames[:count]
    for frame in frames:
        show_frame(shell, frame, source=False)
        if full:
            _show_scopes(shell, frame, indent=8)
    if more:
        shell.line("(More stack frames follow...)")
    elif frames and frames[-1].stop_reason and (count is None or count < 0):
        shell.line(f"Backtrace stopped: {frames[-1].stop_reason}")


@command("frame", category=STACK, aliases=("f",), usage="frame [LEVEL]")
def frame_(shell: Shell, text: str) -> None:
    """Select and print a stack frame.

    With no argument, print the selected stack frame.
    """
    shell.need_stack()
    words = text.split()
    if words[:1] == ["level"]:
        words = words[1:]
    if words[:1] == ["function"]:
        if len(words) != 2:
            raise CommandError("Missing function name argument")
        frame = next((f for f in shell.session.frames() if f.name == words[1]), None)
        if frame is None:
            raise FocusError(f'No frame for function "{words[1]}".')
        shell.session.select_frame(frame.level)
    elif words:
        shell.session.select_frame(shell.session.integer(" ".join(words)))
    show_frame(shell, shell.session.frame())


def _move(shell: Shell, text: str, sign: int, show: bool = True) -> None:
    shell.need_stack()
    shell.session.up(sign * (shell.session.integer(text) if text else 1))
    if show:
        show_frame(shell, shell.session.frame())


@command("up", category=STACK, usage="up [N]")
def up(shell: Shell, text: str) -> None:
    """Select and print stack frame that called this one."""
    _move(shell, text, 1)


@command("down", category=STACK, aliases=("dow",), usage="down [N]")
def down(shell: Shell, text: str) -> None:
    """Select and print stack frame called by this one."""
    _move(shell, text, -1)


@command("up-silently", category=STACK, usage="up-silently [N]")
def up_silently(shell: Shell, text: str) -> None:
    """Same as the `up' command, but does not print anything."""
    _move(shell, text, 1, show=False)


@command("down-silently", category=STACK, usage="down-silently [N]")
def down_silently(shell: Shell, text: str) -> None:
    """Same as the `down' command, but does not print anything."""
    _move(shell, text, -1, show=False)


@command("info frame", category=Category.STATUS, aliases=("info f",))
def info_frame(shell: Shell, text: str) -> None:
    """All about the selected stack frame: its place, its caller, where its registers are saved."""
    shell.need_stack()
    for line in shell.session.describe_frame(shell.session.frame()):
        shell.line(line)


@command("info locals", category=Category.STATUS, usage="info locals [-q] [REGEXP]", options=("-q",))
def info_locals(shell: Shell, text: str) -> None:
    """All local variables of current stack frame or those matching REGEXPs.

    Inner blocks come first; a variable that another hides is shown too.
    """
    session = shell.session
    shell.need_frame()
    words = [word for word in text.split() if word != "-q"]
    frame = session.frame()
    rows = [row for block in session.locals(frame) for row in block.variables]
    _show_rows(shell, rows, words, "locals", frame)


@command("info args", category=Category.STATUS, usage="info args [-q] [REGEXP]", options=("-q",))
def info_args(shell: Shell, text: str) -> None:
    """All argument variables of current stack frame or those matching REGEXPs."""
    session = shell.session
    shell.need_frame()
    words = [word for word in text.split() if word != "-q"]
    frame = session.frame()
    _show_rows(shell, list(session.arguments(frame)), words, "arguments", frame)


def _show_rows(
    shell: Shell, rows: list[tuple[str, Value]], words: list[str], what: str, frame: Frame
) -> None:
    from rocdbg.debugger.reports.patterns import compile_pattern

    if not frame.has_debug_info:
        shell.line("No symbol table info available.")
        return
    if words:
        pattern = compile_pattern(" ".join(words))
        rows = [row for row in rows if pattern.search(row[0])]
        if not rows:
            shell.line(f"No matching {what}.")
            return
    if not rows:
        shell.line(f"No {what}.")
        return
    for name, value in rows:
        _show_variable(shell, name, value, 0)


def _show_scopes(shell: Shell, frame: Frame, indent: int) -> None:
    rows = [row for block in shell.session.locals(frame) for row in block.variables]
    if not rows:
        shell.line(f"{' ' * indent}No locals.")
    for name, value in rows:
        _show_variable(shell, name, value, indent)


def _show_variable(shell: Shell, name: str, value: Value, indent: int) -> None:
    try:
        text = shell.session.format_nested(value)  # no "(type *)" here, unlike `print`
    except Error as error:
        text = f"<error reading variable {name} ({error})>"
    shell.out.styled([("", " " * indent), ("variable", name), ("", f" = {text}\n")])


@command("frame apply", category=STACK, usage="frame apply all|COUNT [-q|-c|-s] COMMAND", repeat=Repeat.NEVER)
def frame_apply(shell: Shell, text: str) -> None:
    """Apply a command to a number of frames; COUNT innermost ones, outermost ones if negative, or all."""
    from rocdbg.cli.apply import parse_flags, run_for

    shell.need_stack()
    first, _, rest = text.partition(" ")
    flags, inner = parse_flags(rest.split(None), rest)
    if not inner:
        raise CommandError("Please specify a command to apply on the selected frames")
    frames = list(shell.session.frames())
    if first != "all":
        count = shell.session.integer(first)
        frames = frames[:count] if count >= 0 else frames[count:]
    kept = shell.session.scope
    try:
        for frame in frames:
            shell.session.select_frame(frame.level)
            head = "".join(part for _, part in frame_parts(shell, frame, number=True))
            run_for(shell, head, inner, flags)
    finally:
        shell.session.scope = kept
