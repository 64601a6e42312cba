"""`set` and `show`: the engine's settings and the text front end's, from one table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rocdbg.cli.commands.support import parse_switch
from rocdbg.cli.registry import Category, CommandError, CommandSpec, Completes, Registry, command
from rocdbg.debugger.running.launch import LDS_OUT_OF_RANGE

if TYPE_CHECKING:
    from rocdbg.cli.shell import Shell

SUPPORT = Category.SUPPORT
MAX_SETTING = 1 << 31
MAX_NUMBER = 40
"""Characters of a number; longer ones are out of range."""


@dataclass(frozen=True, slots=True)
class Option:
    """One setting: its name at the prompt, what it is for, and how it is read and written.

    ``kind`` is ``switch``, ``count`` (0 or ``unlimited`` for no limit), ``integer``, ``text`` or ``choice``.
    """

    name: str
    kind: str
    help: str
    read: Callable[[Shell], object]
    write: Callable[[Shell, object], None]
    choices: tuple[str, ...] = ()


def _print_option(name: str, field: str, kind: str, text: str, choices: tuple[str, ...] = ()) -> Option:
    def read(shell: Shell) -> object:
        return getattr(shell.session.settings.print, field)

    def write(shell: Shell, value: object) -> None:
        settings = shell.session.settings
        settings.print = settings.print.with_changes(**{field: value})

    return Option(f"print {name}", kind, text, read, write, choices)


def _engine_option(name: str, field: str, kind: str, text: str, choices: tuple[str, ...] = ()) -> Option:
    def read(shell: Shell) -> object:
        return getattr(shell.session.settings, field)

    def write(shell: Shell, value: object) -> None:
        setattr(shell.session.settings, field, value)

    return Option(name, kind, text, read, write, choices)


def _shell_option(name: str, kind: str, default: object, text: str) -> Option:
    return Option(
        name, kind, text, lambda shell: shell.settings.get(name, default),
        lambda shell, value: shell.settings.__setitem__(name, value),
    )  # fmt: skip


def _set_style(shell: Shell, value: object) -> None:
    shell.settings["style enabled"] = value
    shell.out.colour = bool(value) and shell.can_colour


def _launch_option(name: str, field: str, kind: str, text: str, choices: tuple[str, ...] = ()) -> Option:
    return Option(
        name, kind, text, lambda shell: getattr(shell.session.launch, field),
        lambda shell, value: setattr(shell.session.launch, field, value), choices,
    )  # fmt: skip


OPTIONS = (
    _print_option("address", "address", "switch", "printing of addresses"),
    _print_option("array", "array", "switch", "pretty formatting of arrays"),
    _print_option("array-indexes", "array_indexes", "switch", "printing of array indexes"),
    _print_option("elements", "elements", "count", "limit on string chars or array elements to print"),
    _print_option("repeats", "repeats", "count", "threshold for repeated print elements"),
    _print_option("max-depth", "max_depth", "integer", "maximum print depth of nested structures"),
    _print_option("null-stop", "null_stop", "switch", "printing of char arrays to stop at first null char"),
    _print_option("pretty", "pretty", "switch", "pretty formatting of structures"),
    _print_option("union", "union", "switch", "printing of unions interior to structures"),
    _print_option("static-members", "static_members", "switch", "printing of C++ static members"),
    _print_option("symbol", "symbol", "switch", "printing of symbol names when printing pointers"),
    _print_option("symbol-filename", "symbol_filename", "switch", "printing of source file and line with <SYMBOL>"),
    _print_option("max-symbolic-offset", "max_symbolic_offset", "count", "largest offset printed in <SYMBOL+1234>"),
    _print_option("sevenbit-strings", "sevenbit_strings", "switch", "printing of 8-bit characters in strings as \\nnn"),
    _print_option("asm-demangle", "asm_demangle", "switch", "demangling of C++ names in disassembly listings"),
    _print_option("raw-values", "raw_values", "switch", "whether to print values in raw form, without pretty-printers"),
    _print_option(
        "frame-arguments", "frame_arguments", "choice", "printing of non-scalar frame arguments",
        ("all", "scalars", "none", "presence"),
    ),
    _engine_option("listsize", "list_size", "count", "number of source lines rocdbg will list by default"),
    _engine_option("backtrace limit", "backtrace_limit", "count", "upper bound on the number of stack frames"),
    _engine_option("step-mode", "step_mode", "switch", "whether step stops in functions without line information"),
    _engine_option(
        "scheduler-locking", "scheduler_locking", "choice", "which other waves run while one is stepped",
        ("off", "on", "step", "replay"),
    ),
    _engine_option(
        "breakpoint pending", "pending_breakpoints", "choice", "debugger's behaviour regarding pending breakpoints",
        ("auto", "on", "off"),
    ),
    _engine_option("instruction-budget", "instruction_budget", "count", "wave-instructions after which a run stops"),
    _launch_option(
        "lds-out-of-range", "lds_out_of_range", "choice", "outcome of accesses beyond a workgroup's LDS",
        LDS_OUT_OF_RANGE,
    ),
    _launch_option(
        "count-uninitialized", "count_uninitialized", "switch",
        "counting of reads of buffer bytes that were never written",
    ),
    _engine_option(
        "disassemble-next-line", "disassemble_next_line", "choice",
        "whether to disassemble next source line or insn when execution stops", ("auto", "on", "off"),
    ),
    _shell_option("width", "count", 0, "number of characters in a line (lines are never folded)"),
    _shell_option("height", "count", 0, "number of lines in a page (output is never paused)"),
    _shell_option("confirm", "switch", True, "whether to confirm potentially dangerous operations"),
    _shell_option("pagination", "switch", False, "state of pagination (output is never paused)"),
    _shell_option("prompt", "text", "(rocdbg) ", "the prompt"),
    Option(
        "style enabled", "switch", "whether output is coloured on a terminal",
        lambda shell: shell.settings.get("style enabled", True), _set_style,
    ),
)  # fmt: skip


def parse_value(option: Option, text: str) -> object:
    """The value that a `set` line gives. Raises `CommandError`."""
    if option.kind == "switch":
        return parse_switch(text)
    if option.kind == "text":
        return text
    if option.kind == "choice":
        matches = [choice for choice in option.choices if choice.startswith(text)] if text else []
        exact = [choice for choice in matches if choice == text] or matches
        if len(exact) == 1:
            return exact[0]
        listed = ", ".join(option.choices)
        if not text:
            raise CommandError(f"Requires an argument. Valid arguments are {listed}.")
        raise CommandError(f'Undefined item: "{text}".' if not exact else f'Ambiguous item "{text}".')
    if text == "unlimited":
        return -1 if option.kind == "integer" else 0
    try:
        number = int(text, 0) if len(text) < MAX_NUMBER else MAX_SETTING
    except ValueError:
        what = (
            'Argument required (integer to set it to, or "unlimited".).'
            if not text
            else f'Invalid number "{text}".'
        )
        raise CommandError(what) from None
    if not (-1 if option.kind == "integer" else 0) <= number < MAX_SETTING:
        raise CommandError(f"integer {text[:MAX_NUMBER]} out of range")
    return number


def show_value(option: Option, value: object) -> str:
    """A value as `show` writes it."""
    if option.kind == "switch":
        return "on" if value else "off"
    if (option.kind == "count" and value == 0) or (option.kind == "integer" and value == -1):
        return "unlimited"
    return str(value)


def add_options(registry: Registry) -> None:
    """Declare `set NAME` and `show NAME` for every option of the table."""
    for option in OPTIONS:
        registry.add(_set_command(option))
        registry.add(_show_command(option))
    for word in ("set", "show"):
        for short in ("p", "pr"):
            registry.add_alias((word, short), registry.node([word, "print"])[1])


def _set_command(option: Option) -> CommandSpec:
    def handler(shell: Shell, text: str) -> None:
        option.write(shell, parse_value(option, text))

    values = {"switch": "on|off", "choice": "|".join(option.choices), "text": "TEXT"}.get(
        option.kind, "N|unlimited"
    )
    words = ("set", *option.name.split())
    return CommandSpec(words, handler, SUPPORT, f"Set {option.help}.", usage=f"set {option.name} {values}")


def _show_command(option: Option) -> CommandSpec:
    def handler(shell: Shell, text: str) -> None:
        name = option.help[0].upper() + option.help[1:]
        shell.line(f"{name} is {show_value(option, option.read(shell))}.")

    words = ("show", *option.name.split())
    return CommandSpec(words, handler, SUPPORT, f"Show {option.help}.", usage=f"show {option.name}")


@command("set", category=Category.DATA, usage="set EXPRESSION", completes=Completes.EXPRESSION)
def set_(shell: Shell, text: str) -> None:
    """Evaluate expression EXP and assign result to variable VAR, or change a setting.

    With a word that is a setting's name, that is set; otherwise the line is an assignment, as with "set var".
    """
    if not text:
        raise CommandError("Argument required (expression to compute).")
    shell.session.evaluate(text)


@command("set output-radix", category=SUPPORT, usage="set output-radix 8|10|16")
def set_output_radix(shell: Shell, text: str) -> None:
    """Set default output radix for printing of values."""
    shell.session.settings.output_radix = _radix(text)
    shell.line(f"Output radix now set to {_all_bases(shell.session.settings.output_radix)}.")


@command("set input-radix", category=SUPPORT, usage="set input-radix 8|10|16")
def set_input_radix(shell: Shell, text: str) -> None:
    """Set default input radix for entering numbers."""
    shell.session.settings.input_radix = _radix(text)
    shell.line(f"Input radix now set to {_all_bases(shell.session.settings.input_radix)}.")


def _radix(text: str) -> int:
    if text not in ("8", "10", "16"):
        raise CommandError(f"Unsupported radix ``{text}'': use 8, 10 or 16.")
    return int(text)


def _all_bases(radix: int) -> str:
    return f"decimal {radix}, hex {radix:x}, octal {radix:o}"


@command(
    "directory",
    category=Category.FILES,
    aliases=("dir",),
    usage="directory [DIR...]",
    completes=Completes.FILE,
)
def directory(shell: Shell, text: str) -> None:
    """Add directory DIR to beginning of search path for source files.

    $cdir is the directory of the compilation, $cwd the current one. With no argument, reset the search path.
    """
    settings = shell.session.settings
    if text:
        new = [part for word in text.split() for part in word.split(":")]
        settings.directories = [*new, *(old for old in settings.directories if old not in new)]
    elif shell.confirm("Reinitialize source path to $cdir:$cwd?"):
        settings.directories = ["$cdir", "$cwd"]
    shell.session.sources.forget()
    shell.line(f"Source directories searched: {':'.join(settings.directories)}")


@command("show directories", category=Category.FILES)
def show_directories(shell: Shell, text: str) -> None:
    """Show the search path for finding source files."""
    shell.line(f"Source directories searched: {':'.join(shell.session.settings.directories)}")


@command("set substitute-path", category=Category.FILES, usage="set substitute-path FROM TO")
def set_substitute_path(shell: Shell, text: str) -> None:
    """Use a substitution rule to rewrite the source directories.

    A source file whose name starts with directory FROM is looked for below directory TO instead.
    """
    words = text.split()
    if len(words) != 2:
        raise CommandError("Incorrect usage, too many arguments in command" if len(words) > 2 else
                           "Incorrect usage, too few arguments in command")  # fmt: skip
    rules = shell.session.settings.substitute_path
    rules[:] = [rule for rule in rules if rule[0] != words[0]]
    rules.append((words[0], words[1]))
    shell.session.sources.forget()


@command("unset substitute-path", category=Category.FILES, usage="unset substitute-path [FROM]")
def unset_substitute_path(shell: Shell, text: str) -> None:
    """Delete one or all substitution rules rewriting the source directories."""
    rules = shell.session.settings.substitute_path
    if text and not any(rule[0] == text for rule in rules):
        raise CommandError(f'No substitution rule defined for "{text}"')
    rules[:] = [rule for rule in rules if text and rule[0] != text]
    shell.session.sources.forget()


@command("show substitute-path", category=Category.FILES)
def show_substitute_path(shell: Shell, text: str) -> None:
    """Show all substitution rules rewriting the source directories."""
    shell.line("List of all source path substitution rules:")
    for old, new in shell.session.settings.substitute_path:
        shell.line(f"  `{old}' -> `{new}'.")
