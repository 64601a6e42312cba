"""Commands that show and change data: print, output, printf, x, display, ptype, whatis, set var."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocdbg.cli.arguments import Arguments, Kind, optional, required
from rocdbg.cli.kinds import COUNTED_FORMAT, EXPRESSION, FORMAT, NUMBERS, SLASH, text_of
from rocdbg.cli.options import Unknown
from rocdbg.cli.printf import format_printf
from rocdbg.cli.ranges import NumberList
from rocdbg.cli.registry import Category, CommandError, Completes, Repeat, command
from rocdbg.cli.settings_declarations import PRINT_OPTIONS
from rocdbg.debugger.settings import PrintSettings
from rocdbg.debugger.values import ctypes
from rocdbg.debugger.values.format import PLAIN, Format
from rocdbg.errors import Error

if TYPE_CHECKING:
    from rocdbg.cli.shell import Shell

DATA = Category.DATA


EXAMINE_PART = 4096
"""Items that `x` reads before it shows them; and the fewest, whole lines in every format."""
EXAMINE_LEAST = 32
TYPE = text_of("TYPE|EXPRESSION", Completes.TYPE)
HISTORY_NUMBER = Kind("N|+", "int", lambda shell, text: None if text == "+" else shell.session.data.integer(text))
NEEDS_EXPRESSION = "Argument required (expression to compute)."


@command(
    "print", category=DATA, aliases=("p", "inspect"),
    args=Arguments(
        PRINT_OPTIONS, optional("fmt", FORMAT, PLAIN), optional("expression", EXPRESSION, ""),
        unknown=Unknown.EXPRESSION,
    ),
)
def print_(shell: Shell, settings: PrintSettings, fmt: Format, expression: str) -> None:
    """Print value of expression EXP.

    Variables are those of the focused lane and frame; an assignment changes that lane's. FMT is a letter: x hex,
    d decimal, u unsigned, o octal, t binary, a address, c char, f float, s string, z zero-padded hex, r raw.
    The value goes into the history: $1, $2, ... ($ the last, $$ the one before).
    """
    session = shell.session
    value = session.data.evaluate(expression) if expression else session.history.relative(0)
    shown = session.data.format(value, fmt, settings)
    shell.line(f"${session.history.record(value)} = {shown}")


@command(
    "call", category=DATA,
    args=Arguments(
        PRINT_OPTIONS, optional("fmt", FORMAT, PLAIN), optional("expression", EXPRESSION, ""),
        unknown=Unknown.EXPRESSION,
    ),
    usage="call [OPTION...] [/FMT] EXPRESSION",
)
def call(shell: Shell, settings: PrintSettings, fmt: Format, expression: str) -> None:
    """Evaluate an expression: as "print", but a void result is not shown."""
    if not expression:
        raise CommandError(
            "The history is empty." if not len(shell.session.history) else "Argument required."
        )
    value = shell.session.data.evaluate(expression)
    if not ctypes.is_void(value.type):
        shown = shell.session.data.format(value, fmt, settings)
        shell.line(f"${shell.session.history.record(value)} = {shown}")


@command(
    "output", category=DATA,
    args=Arguments(optional("fmt", FORMAT, PLAIN), required("expression", EXPRESSION, NEEDS_EXPRESSION)),
)
def output(shell: Shell, fmt: Format, expression: str) -> None:
    """Like "print" but don't put in value history and don't print newline."""
    shell.write(shell.session.data.format(shell.session.data.evaluate(expression), fmt))


@command(
    "printf", category=DATA,
    args=Arguments(optional("text", text_of('"FORMAT", ARG...', Completes.EXPRESSION), "")),
    usage='printf "FORMAT", ARG...',
)
def printf(shell: Shell, text: str) -> None:
    """Formatted printing, like the C "printf" function."""
    shell.out.raw(format_printf(shell.session, text))


@command(
    "set variable", category=DATA, aliases=("set var",),
    args=Arguments(required("expression", EXPRESSION, NEEDS_EXPRESSION)),
)
def set_variable(shell: Shell, expression: str) -> None:
    """Evaluate expression EXP and assign result to variable VAR (an assignment; nothing is printed)."""
    shell.session.data.evaluate(expression)


@command(
    "x", category=DATA, repeat=Repeat.BARE,
    args=Arguments(optional("fmt", COUNTED_FORMAT, PLAIN), optional("address", EXPRESSION, "", "ADDRESS")),
)
def examine(shell: Shell, fmt: Format, address: str) -> None:
    """Examine memory: x/FMT ADDRESS.

    FMT is a repeat count followed by a format letter (o, x, z, d, u, t, f, a, i instruction, c, s string) and a size
    letter (b byte, h halfword, w word, g giant). ADDRESS may be in any address space (local#0x10).
    Without ADDRESS, what follows the last one shown.
    """
    session = shell.session
    if address:
        value = session.data.evaluate(address)
    elif shell.state.next_examine is not None:
        value = shell.state.next_examine
    else:
        raise CommandError("Argument required (starting display address).")
    left, size = fmt.count, EXAMINE_PART
    while True:
        # a part at a time: so a long listing can be interrupted, and shows what there is before memory ends
        part = min(left, size)
        try:
            lines = session.examiner.examine(value, fmt, part)
        except Error:
            if part <= EXAMINE_LEAST:
                raise
            size = max(EXAMINE_LEAST, part // 2 // EXAMINE_LEAST * EXAMINE_LEAST)
            continue
        for line in lines:
            shell.line(line.text)
        if lines:
            value = shell.state.next_examine = lines[-1].following
        left -= part
        if left <= 0 or not lines:
            return


@command(
    "ptype", category=DATA, usage="ptype[/FLAGS] TYPE|EXPRESSION",
    args=Arguments(optional("flags", SLASH, "", "/FLAGS"), optional("expression", TYPE, "$")),
)
def ptype(shell: Shell, flags: str, expression: str) -> None:
    """Print definition of type TYPE.

    The argument is a type name or an expression; without one, the last value of the history. /o prints offsets and
    sizes of a struct's members, and the holes between them.
    """
    if set(flags) - set("o"):
        raise CommandError(f"unrecognized flag '{sorted(set(flags) - set('o'))[0]}'")
    for line in shell.session.types.ptype(expression, flags):
        shell.line(line)


@command(
    "whatis", category=DATA, usage="whatis EXPRESSION",
    args=Arguments(optional("flags", SLASH, "", "/FLAGS"), optional("expression", TYPE, "$")),
)
def whatis(shell: Shell, flags: str, expression: str) -> None:
    """Print data type of expression EXP. Only one level of typedefs is unrolled."""
    shell.line(f"type = {shell.session.types.whatis(expression)}")


@command("show values", category=DATA, args=Arguments(optional("center", HISTORY_NUMBER)))
def show_values(shell: Shell, center: int | None) -> None:
    """Elements of value history around item number IDX (or last ten)."""
    session = shell.session
    for number, value in session.history.rows(center):
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
    if not expression:
        shell.show_displays()
        return
    shell.add_display(letters, expression)


@command("undisplay", category=DATA, aliases=("delete display",), args=Arguments(optional("numbers", NUMBERS)))
def undisplay(shell: Shell, numbers: NumberList | None) -> None:
    """Cancel some expressions to be displayed when program stops; without arguments all."""
    if numbers is None and not shell.confirm("Delete all auto-display expressions?"):
        return
    shell.remove_displays(list(numbers.numbers) if numbers is not None else None)


@command("info display", category=Category.STATUS, args=Arguments())
def info_display(shell: Shell) -> None:
    """Expressions to display when program stops, with code numbers."""
    if not shell.displays:
        shell.line("There are no auto-display expressions now.")
        return
    shell.line("Auto-display expressions now in effect:\nNum Enb Expression")
    for number, (letters, expression) in sorted(shell.displays.items()):
        shell.line(f"{number}:   y  {'/' + letters + ' ' if letters else ''}{expression}")
