"""Commands that show and change data: print, output, printf, x, display, ptype, whatis, set var."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from rocdbg.cli.argument_kinds import COUNTED_FORMAT, EXPRESSION, OUTPUT_FORMAT, PRINT_FORMAT, SLASH, text_of
from rocdbg.cli.arguments import Arguments, Kind, optional, required
from rocdbg.cli.breakpoint_numbers import numbers_at
from rocdbg.cli.command_options import Option, Unknown
from rocdbg.cli.command_registry import Category, CommandError, Completes, Repeat, command
from rocdbg.cli.displays import is_within
from rocdbg.cli.folded_values import Places, write_samples
from rocdbg.cli.operand_lines import operand_note
from rocdbg.cli.printf import printf_pieces
from rocdbg.cli.settings.print_settings import PRINT_OPTIONS
from rocdbg.debugger.base.engine_settings import PrintSettings
from rocdbg.debugger.base.errors import DebuggerError
from rocdbg.debugger.values import c_types
from rocdbg.debugger.values.format_letters import DESCRIPTORS, PLAIN, Format
from rocdbg.debugger.values.value import Value
from rocdbg.errors import Error

if TYPE_CHECKING:
    from rocdbg.cli.shell import Shell
    from rocdbg.debugger.expr.environments.program_environment import ProgramEnvironment

DATA = Category.DATA


EXAMINE_PART = 4096
"""How many items `x` reads before it shows them: a multiple of the line length in every format."""
TYPE = text_of("TYPE|EXPRESSION", Completes.TYPE)
def _first_shown(shell: Shell, text: str) -> int:
    """The first number that `show values TEXT` shows."""
    return shell.state.next_shown if text == "+" else shell.session.data.integer(text) - 5


SHOWN_VALUES = 10
HISTORY_NUMBER = Kind("N|+", "int", _first_shown)
NEEDS_EXPRESSION = "Argument required (expression to compute)."


def _places(name: str, help_: str, value: Places) -> Option:
    return Option(name, help_, key="across", value=value, default=None, gives="Places | None", bare=True)


PLACES = (
    _places("-lanes", "Evaluate EXPRESSION in every lane of the wave.", Places.LANES),
    _places("-waves", "Evaluate EXPRESSION in every resident wave.", Places.WAVES),
    _places("-groups", "Evaluate EXPRESSION in every resident workgroup.", Places.GROUPS),
)


@command(
    "print", category=DATA, aliases=("p", "inspect"),
    args=Arguments(
        *PLACES, PRINT_OPTIONS, optional("fmt", PRINT_FORMAT), optional("expression", EXPRESSION, ""),
        unknown=Unknown.EXPRESSION,
    ),
)
def print_(shell: Shell, across: Places | None, settings: PrintSettings, fmt: Format | None, expression: str) -> None:
    """Print value of expression EXP.

    Variables are those of the focused lane and frame; an assignment changes the value in that lane. FMT is a letter: x
    hex, d decimal, u unsigned, o octal, t binary, a address, c char, f float, s string, z zero-padded hex, r raw. The
    value goes into the history: $1, $2, ... ($ the last, $$ the one before). With -lanes the value in every lane of the
    wave is shown, with equal neighbours folded, and with the minimum, the maximum and the outliers; -waves evaluates
    EXP in the first active lane of every resident wave, -groups only in the first wave of every workgroup. The history
    then remains unchanged.
    """
    session = shell.session
    shown = fmt or PLAIN
    if across is not None:
        if not expression:
            raise CommandError(NEEDS_EXPRESSION)

        def show(value: Value, place: ProgramEnvironment | None) -> str:
            return session.data.format_nested(value, shown, settings, place)

        if across is Places.LANES:
            write_samples(shell, across.value, session.across.lanes(expression, show))
        else:
            per_group = across is Places.GROUPS
            write_samples(shell, across.value, session.across.waves(expression, show, per_group))
        return
    _print(shell, settings, fmt, expression)


def _print(shell: Shell, settings: PrintSettings, fmt: Format | None, expression: str, void: bool = True) -> None:
    """Show a value and add it to the history. ``void``: also show void values."""
    session = shell.session
    fmt = session.examiner.continued(fmt) if fmt is not None else None
    value = session.data.evaluate(expression) if expression else session.history.latest()
    for warning in session.warnings.take():
        shell.warn(warning)
    if void or not c_types.is_void(value.type):
        _show(shell, settings, fmt, value)


def _show(shell: Shell, settings: PrintSettings, fmt: Format | None, value: Value) -> None:
    """Put a value into the history and show it."""
    session = shell.session
    fmt = fmt if fmt is not None else PLAIN
    session.data.need_size(value)
    head = f"${session.history.record(value)} = "
    try:
        shown = session.data.format(value, fmt, settings)
    except Error:
        shell.write(head)  # the value is in the history even if its text fails
        raise
    shell.line(head + shown)


@command(
    "call", category=DATA,
    args=Arguments(
        Option("-all", "Evaluate EXPRESSION on all active lanes of the wave at once.", bare=True), PRINT_OPTIONS,
        optional("fmt", PRINT_FORMAT), optional("expression", EXPRESSION, ""), unknown=Unknown.EXPRESSION,
    ),
    usage="call [-all] [OPTION...] [/FMT] EXPRESSION",
)
def call(shell: Shell, all: bool, settings: PrintSettings, fmt: Format | None, expression: str) -> None:
    """Call a function in the program.

    The function runs in the focused lane of its wave, with the other lanes inactive, and the wave's state is restored
    afterwards. With -all it runs on all active lanes at once, with the arguments of each, and the result is a vector
    over lanes. The argument is any expression; the value is shown as with "print", unless it is void.
    """
    if all and expression:
        fmt = shell.session.examiner.continued(fmt) if fmt is not None else None
        value = shell.session.running.value_of_lanes(expression)
        if not c_types.is_void(value.type):
            _show(shell, settings, fmt, value)
        return
    _print(shell, settings, fmt, expression, void=False)


@command(
    "output", category=DATA,
    args=Arguments(optional("fmt", OUTPUT_FORMAT, PLAIN), required("expression", EXPRESSION, NEEDS_EXPRESSION)),
)
def output(shell: Shell, fmt: Format, expression: str) -> None:
    """Like "print" but don't put in value history and don't print newline."""
    shell.write(shell.session.data.format(shell.session.data.evaluate(expression), fmt))


@command(
    "printf", category=DATA,
    args=Arguments(optional("text", text_of('"FORMAT", ARG...', Completes.EXPRESSION), "")),
    usage='printf "format string", ARG1, ARG2, ARG3, ..., ARGN',
)
def printf(shell: Shell, text: str) -> None:
    """Formatted printing, like the C "printf" function."""
    for piece in printf_pieces(shell.session, text):
        shell.out.raw(piece)


@command(
    "set variable", category=DATA, aliases=("set var",),
    args=Arguments(required("expression", EXPRESSION, NEEDS_EXPRESSION)),
)
def set_variable(shell: Shell, expression: str) -> None:
    """Evaluate expression EXP and assign result to variable VAR.

    Nothing is printed.
    """
    assign(shell, expression)


def assign(shell: Shell, expression: str) -> None:
    """Evaluate an expression for its side effect; reports if it cannot have any."""
    if not shell.session.data.has_effect(expression):
        shell.session.data.expression_type(expression)  # an unknown name is reported before the remark
        shell.warn("Expression is not an assignment (and might have no effect)")
    shell.session.data.evaluate(expression)


@command(
    "x", category=DATA, repeat=Repeat.BARE,
    args=Arguments(optional("fmt", COUNTED_FORMAT, PLAIN), optional("address", EXPRESSION, "", "ADDRESS")),
)
def examine(shell: Shell, fmt: Format, address: str) -> None:
    """Examine memory: x/FMT ADDRESS.

    FMT is a repeat count followed by a format letter (o, x, z, d, u, t, f, a, i instruction, c, s string) and a size
    letter (b byte, h halfword, w word, g giant). ADDRESS may be in any address space (local#0x10).
    Without ADDRESS, shows the memory after the place shown last.

    x/kd shows kernel descriptors as the assembler's directives; ADDRESS may be the name of a kernel.
    """
    session = shell.session
    if fmt.letter == DESCRIPTORS and address:
        for place, lines in session.examiner.descriptors(address, max(1, fmt.count)):
            shell.line(f"{place}:")
            for directive in lines:
                shell.line(directive)
        return
    if address:
        value = session.data.evaluate(address)
    elif shell.state.next_examine is not None:
        value = shell.state.next_examine
    else:
        raise CommandError("Argument required (starting display address).")
    left = fmt.count
    if not address and fmt is PLAIN and shell.state.examine_count:
        left = shell.state.examine_count  # a bare `x` continues with as many items as the last one
    shell.state.examine_count = left
    while True:
        # a part at a time: so a long listing can be interrupted
        part = min(left, EXAMINE_PART)
        shown = session.examiner.examine(value, fmt, part)
        for line in shown.lines:
            note = operand_note(shell) if line.current else ""
            shell.line(f"{line.text}\t; {note}" if note else line.text)
        value = shell.state.next_examine = session.examiner.following(shown, value)
        if shown.error is not None:
            shell.write(shown.begun)
            raise shown.error
        left -= part
        if left <= 0 or not shown.lines:
            return


@command(
    "ptype", category=DATA, usage="ptype[/FLAGS] TYPE|EXPRESSION",
    args=Arguments(optional("flags", SLASH, "", "/FLAGS"), optional("expression", TYPE, "")),
)
def ptype(shell: Shell, flags: str, expression: str) -> None:
    """Print definition of type TYPE.

    The argument is a type name or an expression; without one, the type of the last value in the history is printed.
    FLAGS are letters. o prints the offsets and sizes of a struct's members, and the holes between them; with x these
    numbers are hexadecimal, with d decimal. m omits methods, M includes them; t omits typedefs, T includes them. r
    shows template arguments unabbreviated.
    """
    for line in shell.session.types.ptype(expression, flags):
        shell.line(line)


@command(
    "whatis", category=DATA, usage="whatis EXPRESSION",
    args=Arguments(optional("flags", SLASH, "", "/FLAGS"), optional("expression", TYPE, "")),
)
def whatis(shell: Shell, flags: str, expression: str) -> None:
    """Print data type of expression EXP.

    Only one level of typedefs is unrolled.
    """
    shell.line(f"type = {shell.session.types.whatis(expression, flags)}")


@command("show values", category=DATA, args=Arguments(optional("first", HISTORY_NUMBER)))
def show_values(shell: Shell, first: int | None) -> None:
    """Elements of value history around item number IDX (or last ten)."""
    session = shell.session
    first = max(1, first if first is not None else len(session.history) - SHOWN_VALUES + 1)
    shell.state.next_shown = first + SHOWN_VALUES
    for number, value in session.history.rows(first, SHOWN_VALUES):
        try:
            shown = session.data.format(value)
        except Error as error:
            shown = f"<error: {error}>"
        shell.line(f"${number} = {shown}")


@command("show convenience", category=DATA, aliases=("show conv",), args=Arguments())
def show_convenience(shell: Shell) -> None:
    """Debugger convenience ("$foo") variables and functions."""
    for name, value in shell.session.convenience.rows():
        try:
            shown = shell.session.data.format(value)
        except Error as error:
            shown = f"<error: {error}>"
        shell.line(f"${name} = {shown}")


@command(
    "display", category=DATA,
    args=Arguments(optional("letters", SLASH, ""), optional("expression", EXPRESSION, "")),
)
def display(shell: Shell, letters: str, expression: str) -> None:
    """Print value of expression EXP each time the program stops."""
    if letters and not expression:
        raise CommandError("Argument required (expression to compute).")
    if not expression:
        shell.show_displays()
        return
    shell.displays.add(shell, letters, expression)


DISPLAYS = Arguments(optional("numbers", text_of("N..."), ""))


def _each_display(shell: Shell, numbers: str, action: Callable[[int], object]) -> None:
    """The named ones, or all; reports those that do not exist."""
    every = [(display.number, "") for display in shell.displays.all()]
    for number, at in numbers_at(shell, numbers) if numbers else every:
        if number == 0:
            shell.warn(f"bad display number at or near '{at}'")
            continue
        try:
            action(number)
        except DebuggerError as error:
            shell.line(str(error))


@command("undisplay", category=DATA, aliases=("delete display",), args=DISPLAYS)
def undisplay(shell: Shell, numbers: str) -> None:
    """Cancel some expressions to be displayed when program stops.

    Without arguments, all expressions.
    """
    if numbers:
        _each_display(shell, numbers, shell.displays.remove)
    elif shell.confirm("Delete all auto-display expressions?"):
        shell.displays.clear()


@command("enable display", category=DATA, args=DISPLAYS)
def enable_display(shell: Shell, numbers: str) -> None:
    """Enable some expressions to be displayed when program stops.

    Without arguments, all expressions.
    """
    _each_display(shell, numbers, lambda number: _switch_display(shell, number, True))


@command("disable display", category=DATA, args=DISPLAYS)
def disable_display(shell: Shell, numbers: str) -> None:
    """Disable some expressions to be displayed when program stops.

    Without arguments, all expressions.
    """
    _each_display(shell, numbers, lambda number: _switch_display(shell, number, False))


def _switch_display(shell: Shell, number: int, enabled: bool) -> None:
    shell.displays.get(number).enabled = enabled


@command("info display", category=Category.STATUS, args=Arguments())
def info_display(shell: Shell) -> None:
    """Expressions to display when program stops, with code numbers."""
    displays = shell.displays.all()
    if not displays:
        shell.line("There are no auto-display expressions now.")
        return
    shell.line("Auto-display expressions now in effect:\nNum Enb Expression")
    for display in displays:
        outside = "" if is_within(shell, display) else " (cannot be evaluated in the current context)"
        enabled = "y" if display.enabled else "n"
        shell.line(f"{display.number}:   {enabled}  {display.format_words}{display.expression}{outside}")
