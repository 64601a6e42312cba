"""Commands that inspect the stack: backtrace, frame, up, down, info frame, info locals, info args."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

from msgspec import Struct

from rocdbg.cli.argument_kinds import INTEGER, NAME, REGEXP, text_of
from rocdbg.cli.arguments import Arguments, optional
from rocdbg.cli.command_options import Option
from rocdbg.cli.command_registry import Category, CommandError, Completes, command
from rocdbg.cli.frame_lines import argument_parts, show_frame
from rocdbg.cli.settings.print_settings import FRAME_OPTIONS
from rocdbg.cli.settings.setting_value_kinds import BOOLEAN, STRING
from rocdbg.debugger.base.engine_settings import PrintSettings
from rocdbg.debugger.base.errors import FocusError, NoRegistersError
from rocdbg.debugger.base.patterns import Pattern, compile_pattern
from rocdbg.debugger.frames.frames import Frame, FrameKind
from rocdbg.debugger.frames.selection import DIVERGENT
from rocdbg.debugger.reports.info_frame import describe_frame, frame_address
from rocdbg.debugger.values.value import Value
from rocdbg.errors import Error

if TYPE_CHECKING:
    from rocdbg.cli.shell import Shell

STACK = Category.STACK
STEPS = Arguments(optional("count", INTEGER))
VARIABLES = Arguments(
    Option("-q", "Do not print a message if there are none.", key="quiet"),
    Option("-t", "Only the variables whose type's name matches.", STRING, "type_pattern", gives="str", default=""),
    optional("pattern", REGEXP),
)


def need_stack(shell: Shell) -> None:
    """`Shell.need_stack`, as a precondition."""
    shell.need_stack()


def need_frame(shell: Shell) -> None:
    """`Shell.need_frame`, as a precondition."""
    shell.need_frame()


@contextmanager
def printing(shell: Shell, settings: PrintSettings) -> Iterator[None]:
    """Print values with temporarily changed settings."""
    kept = shell.session.settings.print
    shell.session.settings.print = settings
    try:
        yield
    finally:
        shell.session.settings.print = kept


PAST = "Backtraces end at the kernel, which has no caller."


@command(
    "backtrace", category=STACK, aliases=("bt", "where", "info stack", "info s"), needs=need_stack,
    args=Arguments(
        Option("-full", "Print values of local variables.", word="full"),
        Option("-no-filters", "Prohibit frame filters from executing on a backtrace.", key="no_filters",
               word="no-filters"),
        Option("-hide", "Causes Python frame filter elided frames to not be printed.", key="hide", word="hide"),
        Option("-past-main", PAST, BOOLEAN, "past_main"), Option("-past-entry", PAST, BOOLEAN, "past_entry"),
        FRAME_OPTIONS, optional("count", INTEGER, shown="COUNT"),
    ),
)
def backtrace(
    shell: Shell, full: bool, no_filters: bool, hide: bool, past_main: bool, past_entry: bool,
    settings: PrintSettings, count: int | None,
) -> None:
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
            show_frame(shell, frame, what="location", select=False)
            if full:
                _show_scopes(shell, frame, indent=8)
    if more:
        if shell.at_prompt:
            shell.line("(More stack frames follow...)")
    elif frames and frames[-1].stop_reason and (count is None or count < 0):
        shell.line(f"Backtrace stopped: {frames[-1].stop_reason}")


# -- the frames that words name


def _by_level(shell: Shell, text: str) -> int:
    if not text:
        raise CommandError("Argument required (expression to compute).")
    level = shell.session.data.integer(text)
    frames = islice(shell.session.focus.frames(), min(max(0, level + 1), sys.maxsize))
    if all(frame.level != level for frame in frames):
        raise FocusError(f"No frame at level {text}.")
    return level


def _by_function(shell: Shell, name: str) -> int:
    if not name:
        raise CommandError("Missing function name argument")
    session = shell.session
    ranges = session.places.code_around(name)
    for frame in session.focus.frames():
        if frame.kind is not FrameKind.DUMMY and any(low <= frame.pc < high for low, high in ranges):
            return frame.level
    raise FocusError(f'No frame for function "{name}".')


def _by_address(shell: Shell, text: str) -> int:
    if not text:
        raise CommandError("Argument required (expression to compute).")
    address = shell.session.data.integer(text)
    for frame in shell.session.focus.frames():
        if frame_address(frame) == address:
            return frame.level
    raise FocusError(f"No frame at address {text}.")


def _view(shell: Shell, text: str) -> int:
    if not text:
        raise CommandError("Missing address argument to view a frame")
    raise CommandError(
        "Frames cannot be viewed at arbitrary addresses: a wave's registers determine where its frames are."
    )


def _selected(shell: Shell, text: str) -> int:
    return _by_level(shell, text) if text else shell.session.focus.frame().level


class FrameWords(Struct, frozen=True):
    """A way to name a frame: the sub-command's word, its argument, and the function that finds the frame's level."""

    word: str
    shown: str
    what: str
    find: Callable[[Shell, str], int]


def _found(shell: Shell, words: FrameWords, text: str) -> int:
    """The level of the frame. If nothing runs, errors in the text come first, as in GDB."""
    if not text and words.word not in ("", "view"):
        return words.find(shell, text)  # which reports what is missing
    if not shell.session.inferior.running and text and words.find is not _view:
        if words.find is not _by_function:
            shell.session.data.integer(text)
        raise NoRegistersError
    shell.need_stack()
    return words.find(shell, text)


FRAME_WORDS = (
    FrameWords("", "LEVEL", "", _selected),
    FrameWords("level", "LEVEL", " by level", _by_level),
    FrameWords("function", "NAME", " by function name", _by_function),
    FrameWords("address", "STACK-ADDRESS", " by stack address", _by_address),
    FrameWords("view", "STACK-ADDRESS [PC-ADDRESS]", "", _view),
)


def _declare(
    lead: str, summary: str, category: Category, handler_of: Callable[[FrameWords], Callable[..., None]],
    aliases: tuple[str, ...] = (), options: tuple[Option, ...] = (), more: str = "", first: str = "", by: str = "",
    view: str = "",
) -> list[Callable[..., None]]:
    """The commands ``LEAD``, ``LEAD level``, ``LEAD function``..., each with its own handler.

    ``first``: the help of the first, if it differs from ``summary``; ``by``: a word before "by level"; ``view``: the
    help of the last.
    """
    handlers = []
    for words in FRAME_WORDS:
        handler = handler_of(words)
        what = summary + (by if words.what.startswith(" by ") else "") if words.word else first or summary
        what = view if words.word == "view" and view else what
        handler.__doc__ = f"{what}{words.what}." + (f"\n\n{more}" if more else "")
        declared = command(
            f"{lead} {words.word}".strip(), category=category,
            aliases=() if words.word else aliases,  # their sub-commands follow
            args=Arguments(*options, optional("text", text_of(words.shown, Completes.EXPRESSION), "")),
        )
        handlers.append(declared(handler))
    return handlers


def _handler(words: FrameWords, act: Callable[[Shell, int, bool], None]) -> Callable[..., None]:
    def handler(shell: Shell, text: str) -> None:
        act(shell, _found(shell, words, text), bool(text))

    return handler


def _describer(words: FrameWords) -> Callable[..., None]:
    def handler(shell: Shell, verbose: bool, text: str) -> None:
        _describe(shell, _found(shell, words, text), bool(text), verbose)

    return handler


def _select_and_show(shell: Shell, level: int, named: bool) -> None:
    if named:
        shell.session.focus.select_frame(level)
    show_frame(shell, shell.session.focus.frame())


def _select(shell: Shell, level: int, named: bool) -> None:
    shell.session.focus.select_frame(level)


def _describe(shell: Shell, level: int, named: bool, verbose: bool) -> None:
    session = shell.session
    frame = session.focus.frame(session.focus.current.with_frame(level))
    parts = "".join(text for _, text in argument_parts(shell, frame))
    for line in describe_frame(frame, session.inferior, parts, selected=not named, verbose=verbose):
        shell.line(line)


frame, frame_level, frame_function, frame_address_, frame_view = _declare(
    "frame", "Select and print a stack frame", STACK, partial(_handler, act=_select_and_show), ("f",),
    view="View a stack frame that might be outside the current backtrace",
)
select_frame, select_level, select_function, select_address, select_view = _declare(
    "select-frame", "Select a stack frame", STACK, partial(_handler, act=_select),
    first="Select a stack frame without printing anything",
    view="Select a stack frame that might be outside the current backtrace",
)
info_frame, info_level, info_function, info_address, info_view = _declare(
    "info frame", "Print information about a stack frame", Category.STATUS, _describer, ("info f",),
    (Option("-v", "Say why the position of a lane is unknown.", key="verbose"),),
    "For an inactive lane it says whether its position is synthesised from machine code, or unknown.",
    "All about the selected stack frame", " selected",
    "Print information about a stack frame outside the current backtrace",
)


def _move(shell: Shell, count: int | None, direction: int, show: bool = True) -> None:
    """Without a count the end of the stack is an error; with a count the move ends there."""
    shell.need_stack()
    with suppress(FocusError) if count is not None else nullcontext():
        shell.session.focus.up(direction * (1 if count is None else count))
    if show:
        show_frame(shell, shell.session.focus.frame())


@command("up", category=STACK, args=STEPS)
def up(shell: Shell, count: int | None) -> None:
    """Select and print stack frame that called this one."""
    _move(shell, count, 1)


@command("down", category=STACK, aliases=("dow",), args=STEPS)
def down(shell: Shell, count: int | None) -> None:
    """Select and print stack frame called by this one."""
    _move(shell, count, -1)


@command("up-silently", category=STACK, args=STEPS)
def up_silently(shell: Shell, count: int | None) -> None:
    """Same as the `up' command, but does not print anything."""
    _move(shell, count, 1, show=False)


@command("down-silently", category=STACK, args=STEPS)
def down_silently(shell: Shell, count: int | None) -> None:
    """Same as the `down' command, but does not print anything."""
    _move(shell, count, -1, show=False)


@command("info locals", category=Category.STATUS, needs=need_frame, args=VARIABLES)
def info_locals(shell: Shell, quiet: bool, type_pattern: str, pattern: Pattern | None) -> None:
    """All local variables of current stack frame or those matching REGEXPs.

    Inner blocks come first; hidden variables are shown too.
    """
    session = shell.session
    frame = session.focus.frame()
    rows = [row for block in session.data.locals(frame) for row in block.variables]
    _show_rows(shell, rows, pattern, type_pattern, quiet, "locals", frame)


@command("info common", category=Category.STATUS, needs=need_frame, args=Arguments(optional("name", NAME)))
def info_common(shell: Shell, name: str | None) -> None:
    """Print out the values contained in a Fortran COMMON block.

    Without a name, those of all common blocks that the current frame's function uses.
    """
    frame = shell.session.focus.frame()
    shown = False
    for block, contents in shell.session.data.common_blocks(frame):
        if name is not None and block != name:
            continue
        if shown:
            shell.line("")
        shown = True
        shell.line(f"Contents of F77 COMMON block '{block}':")
        for variable, value in contents.variables:
            _show_variable(shell, variable, value, 0)
    if not shown:
        shell.line("No common blocks." if name is None else f"No common block '{name}'.")


@command("info args", category=Category.STATUS, needs=need_frame, args=VARIABLES)
def info_args(shell: Shell, quiet: bool, type_pattern: str, pattern: Pattern | None) -> None:
    """All argument variables of current stack frame or those matching REGEXPs."""
    session = shell.session
    frame = session.focus.frame()
    _show_rows(shell, list(session.data.arguments(frame)), pattern, type_pattern, quiet, "arguments", frame)


def _show_rows(
    shell: Shell, rows: list[tuple[str, Value]], pattern: Pattern | None, type_pattern: str, quiet: bool,
    what: str, frame: Frame,
) -> None:
    if not frame.has_debug_info:
        if not quiet:
            shell.line("No symbol table info available.")
        return
    if pattern is not None:
        rows = [row for row in rows if pattern.search(row[0])]
    if type_pattern:
        of_type = compile_pattern(type_pattern)
        rows = [row for row in rows if of_type.search(str(row[1].type))]
    if not rows and not quiet:
        shell.line(f"No matching {what}." if pattern is not None or type_pattern else f"No {what}.")
    for name, value in rows:
        _show_variable(shell, name, value, 0)


def _show_scopes(shell: Shell, frame: Frame, indent: int) -> None:
    rows = [row for block in shell.session.data.locals(frame) for row in block.variables]
    if not rows:
        shell.line("No locals." if frame.has_debug_info else "No symbol table info available.")
    for name, value in rows:
        _show_variable(shell, name, value, indent)


def _show_variable(shell: Shell, name: str, value: Value, indent: int) -> None:
    try:
        text = shell.session.data.format_nested(value)  # no "(type *)" here, unlike `print`
    except Error as error:
        text = f"<error reading variable {name} ({error})>"
    shell.out.styled([("", " " * indent), ("variable", name), ("", f" = {text}\n")])
