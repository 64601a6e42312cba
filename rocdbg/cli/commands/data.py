"""Commands that show and change data: print, output, printf, x, display, ptype, whatis, set var."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocdbg.cli.printf import format_printf
from rocdbg.cli.ranges import parse_ranges
from rocdbg.cli.registry import Category, CommandError, Completes, Repeat, command
from rocdbg.debugger.digits import decimal
from rocdbg.debugger.settings import PrintSettings
from rocdbg.debugger.values import ctypes
from rocdbg.debugger.values.formatting import Format
from rocdbg.errors import Error

if TYPE_CHECKING:
    from rocdbg.cli.shell import Shell

DATA = Category.DATA


def split_slash(text: str) -> tuple[str, str]:
    """``/x foo`` -> (``x``, ``foo``); text without a slash has no format."""
    if not text.startswith("/"):
        return "", text
    fmt, _, rest = text[1:].partition(" ")
    return fmt, rest.strip()


EXAMINE_PART = 4096
"""Items that `x` reads before it shows them; and the fewest, whole lines in every format."""
EXAMINE_LEAST = 32
PRINT_FLAGS = {
    "-address": "address", "-array": "array", "-array-indexes": "array_indexes", "-elements": "elements",
    "-max-depth": "max_depth", "-null-stop": "null_stop", "-pretty": "pretty", "-raw-values": "raw_values",
    "-repeats": "repeats", "-static-members": "static_members", "-symbol": "symbol", "-union": "union",
}  # fmt: skip


def _limit(option: str, text: str) -> int:
    """A limit given to `print`; only the depth may be -1 for none."""
    number = -decimal(text[1:]) if text.startswith("-") else decimal(text)
    if not (-1 if option == "-max-depth" else 0) <= number < 1 << 31:
        raise CommandError(f"integer {text} out of range")
    return number


def split_print_options(shell: Shell, text: str) -> tuple[PrintSettings, str]:
    """Leading options of `print` (``-pretty on --``) applied to a copy of the settings, and the rest."""
    settings = shell.session.settings.print
    if not text.startswith("-"):
        return settings, text
    words = text.split()
    index = 0
    changes: dict[str, object] = {}
    while index < len(words) and words[index] in PRINT_FLAGS:
        name = PRINT_FLAGS[words[index]]
        is_switch = isinstance(getattr(settings, name), bool)
        value = words[index + 1] if index + 1 < len(words) else ""
        if is_switch:
            changes[name] = value not in ("off", "no", "0")
            index += 2 if value in ("on", "off", "yes", "no", "0", "1") else 1
        else:
            if value != "unlimited" and not value.removeprefix("-").isdecimal():
                raise CommandError(f"{words[index]} requires an argument")
            changes[name] = 0 if value == "unlimited" else _limit(words[index], value)
            index += 2
    if not index:
        return settings, text
    if words[index : index + 1] == ["--"]:
        index += 1
    rest = text
    for word in words[:index]:
        rest = rest.lstrip()[len(word) :]
    return settings.with_changes(**changes), rest.strip()


@command(
    "print", category=DATA, aliases=("p", "inspect"), usage="print [OPTION...] [/FMT] [EXPRESSION]",
    options=tuple(PRINT_FLAGS), completes=Completes.EXPRESSION,
)  # fmt: skip
def print_(shell: Shell, text: str) -> None:
    """Print value of expression EXP.

    Variables are those of the focused lane and frame; an assignment changes that lane's. FMT is a letter: x hex,
    d decimal, u unsigned, o octal, t binary, a address, c char, f float, s string, z zero-padded hex, r raw.
    The value goes into the history: $1, $2, ... ($ the last, $$ the one before).
    """
    session = shell.session
    settings, rest = split_print_options(shell, text)
    letters, expression = split_slash(rest)
    fmt = Format.parse(letters) if letters else Format()
    value = session.evaluate(expression) if expression else session.history.relative(0)
    shown = session.format(value, fmt, settings)
    shell.line(f"${session.history.record(value)} = {shown}")


@command("call", category=DATA, usage="call [/FMT] EXPRESSION", completes=Completes.EXPRESSION)
def call(shell: Shell, text: str) -> None:
    """Evaluate an expression: as "print", but a void result is not shown."""
    letters, expression = split_slash(text)
    if not expression:
        raise CommandError(
            "The history is empty." if not len(shell.session.history) else "Argument required."
        )
    value = shell.session.evaluate(expression)
    if not ctypes.is_void(value.type):
        shown = shell.session.format(value, Format.parse(letters) if letters else Format())
        shell.line(f"${shell.session.history.record(value)} = {shown}")


@command("output", category=DATA, usage="output [/FMT] EXPRESSION", completes=Completes.EXPRESSION)
def output(shell: Shell, text: str) -> None:
    """Like "print" but don't put in value history and don't print newline."""
    letters, expression = split_slash(text)
    if not expression:
        raise CommandError("Argument required (expression to compute).")
    fmt = Format.parse(letters) if letters else Format()
    shell.write(shell.session.format(shell.session.evaluate(expression), fmt))


@command("printf", category=DATA, usage='printf "FORMAT", ARG...', completes=Completes.EXPRESSION)
def printf(shell: Shell, text: str) -> None:
    """Formatted printing, like the C "printf" function."""
    shell.out.raw(format_printf(shell.session, text))


@command(
    "set variable", category=DATA, aliases=("set var",), usage="set variable EXPRESSION",
    completes=Completes.EXPRESSION,
)  # fmt: skip
def set_variable(shell: Shell, text: str) -> None:
    """Evaluate expression EXP and assign result to variable VAR (an assignment; nothing is printed)."""
    if not text:
        raise CommandError("Argument required (expression to compute).")
    shell.session.evaluate(text)


@command("x", category=DATA, usage="x [/FMT] [ADDRESS]", completes=Completes.EXPRESSION, repeat=Repeat.BARE)
def examine(shell: Shell, text: str) -> None:
    """Examine memory: x/FMT ADDRESS.

    FMT is a repeat count followed by a format letter (o, x, z, d, u, t, f, a, i instruction, c, s string) and a size
    letter (b byte, h halfword, w word, g giant). ADDRESS may be in any address space (local#0x10).
    Without ADDRESS, what follows the last one shown.
    """
    letters, expression = split_slash(text)
    fmt = Format.parse(letters, allow_count=True)
    session = shell.session
    if expression:
        value = session.evaluate(expression)
    elif shell.next_examine is not None:
        value = shell.next_examine
    else:
        raise CommandError("Argument required (starting display address).")
    left, size = fmt.count, EXAMINE_PART
    while True:
        # a part at a time: so a long listing can be interrupted, and shows what there is before memory ends
        part = min(left, size)
        try:
            lines = session.examine(value, fmt, part)
        except Error:
            if part <= EXAMINE_LEAST:
                raise
            size = max(EXAMINE_LEAST, part // 2 // EXAMINE_LEAST * EXAMINE_LEAST)
            continue
        for line in lines:
            shell.line(line.text)
        if lines:
            value = shell.next_examine = lines[-1].following
        left -= part
        if left <= 0 or not lines:
            return


@command("ptype", category=DATA, usage="ptype[/FLAGS] TYPE|EXPRESSION", completes=Completes.TYPE)
def ptype(shell: Shell, text: str) -> None:
    """Print definition of type TYPE.

    The argument is a type name or an expression; without one, the last value of the history. /o prints offsets and
    sizes of a struct's members, and the holes between them.
    """
    letters, expression = split_slash(text)
    if set(letters) - set("o"):
        raise CommandError(f"unrecognized flag '{sorted(set(letters) - set('o'))[0]}'")
    for line in shell.session.ptype(expression or "$", letters):
        shell.line(line)


@command("whatis", category=DATA, usage="whatis EXPRESSION", completes=Completes.TYPE)
def whatis(shell: Shell, text: str) -> None:
    """Print data type of expression EXP. Only one level of typedefs is unrolled."""
    _, expression = split_slash(text)
    shell.line(f"type = {shell.session.whatis(expression or '$')}")


@command("show values", category=DATA, usage="show values [N|+]")
def show_values(shell: Shell, text: str) -> None:
    """Elements of value history around item number IDX (or last ten)."""
    session = shell.session
    center = session.integer(text) if text and text != "+" else None
    for number, value in session.history.rows(center):
        try:
            shown = session.format(value)
        except Error as error:
            shown = f"<error: {error}>"
        shell.line(f"${number} = {shown}")


@command("show convenience", category=DATA, aliases=("show conv",))
def show_convenience(shell: Shell, text: str) -> None:
    """Debugger convenience ("$foo") variables and functions."""
    for name, value in shell.session.convenience.rows():
        try:
            shown = shell.session.format(value)
        except Error as error:
            shown = f"<error: {error}>"
        shell.line(f"${name} = {shown}")


@command("display", category=DATA, usage="display [/FMT] [EXPRESSION]", completes=Completes.EXPRESSION)
def display(shell: Shell, text: str) -> None:
    """Print value of expression EXP each time the program stops."""
    letters, expression = split_slash(text)
    if not expression:
        shell.show_displays()
        return
    shell.add_display(letters, expression)


@command("undisplay", category=DATA, aliases=("delete display",), usage="undisplay [N...]")
def undisplay(shell: Shell, text: str) -> None:
    """Cancel some expressions to be displayed when program stops; without arguments all."""
    if not text and not shell.confirm("Delete all auto-display expressions?"):
        return
    shell.remove_displays(parse_ranges(text.split()) if text else None)


@command("info display", category=Category.STATUS)
def info_display(shell: Shell, text: str) -> None:
    """Expressions to display when program stops, with code numbers."""
    if not shell.displays:
        shell.line("There are no auto-display expressions now.")
        return
    shell.line("Auto-display expressions now in effect:\nNum Enb Expression")
    for number, (letters, expression) in sorted(shell.displays.items()):
        shell.line(f"{number}:   y  {'/' + letters + ' ' if letters else ''}{expression}")
