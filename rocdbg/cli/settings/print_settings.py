"""Settings of how values and frames are shown: `set print ...`, radixes; and the options of `print` and `backtrace`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from rocdbg.cli.command_options import Option, OptionGroup
from rocdbg.cli.command_registry import CommandError
from rocdbg.cli.settings.setting_declaration import Place, Setting, of_engine, of_front_end, of_print
from rocdbg.cli.settings.setting_value_kinds import BOOLEAN, COUNT, DEPTH, Enumeration, Radix
from rocdbg.debugger.base.engine_settings import PrintSettings

if TYPE_CHECKING:
    from rocdbg.cli.shell import Shell

SMALLEST_VALUE = 16
"""GDB's minimum for ``max-value-size``, in bytes."""
NESTED = of_print("type_nested")


def _radix_line(what: str, radix: int) -> str:
    return f"{what} radix now set to decimal {radix}, hex {radix:x}, octal {radix:o}."


def _write_largest(shell: Shell, value: object) -> None:
    size = int(str(value))
    low = size != -1 and size < SMALLEST_VALUE
    shell.session.settings.max_value_size = SMALLEST_VALUE if low else size
    if low:
        raise CommandError(f"max-value-size set too low, increasing to {SMALLEST_VALUE} bytes")


def _largest_line(shell: Shell) -> str:
    size = shell.session.settings.max_value_size
    return "Maximum value size is unlimited." if size == -1 else f"Maximum value size is {size} bytes."


def _nested_line(shell: Shell) -> str:
    limit = NESTED.read(shell)
    if limit == 0:
        return "Will not print nested types defined in a class"
    return f"Will print {'unlimited' if limit == -1 else limit} nested types defined in a class"


def _radices_line(shell: Shell) -> str:
    settings = shell.session.settings
    output, entered = settings.output_radix, settings.input_radix
    if output == entered:
        return f"Input and output radices set to decimal {output}, hex {output:x}, octal {output:o}."
    return "\n".join(
        f"{what} radix set to decimal {radix}, hex {radix:x}, octal {radix:o}."
        for what, radix in (("Input", entered), ("Output", output))
    )


class BothRadices(Radix, frozen=True):
    """A base for numbers that are both read and shown; 10 by default."""

    def evaluated(self, text: str, evaluate: Callable[[str], int] | None) -> object:
        return super().evaluated(text, evaluate) if text else 10


def _set_radices(shell: Shell, value: object) -> None:
    settings = shell.session.settings
    settings.output_radix = settings.input_radix = int(str(value))


def _radices_set(shell: Shell) -> str:
    radix = shell.session.settings.output_radix
    return f"Input and output radices now set to decimal {radix}, hex {radix:x}, octal {radix:o}."


PRINT_SETTINGS = (
    Setting("print address", BOOLEAN, "printing of addresses", of_print("address"), option_of="print"),
    Setting("print array", BOOLEAN, "pretty formatting of arrays", of_print("array"), option_of="print"),
    Setting("print array-indexes", BOOLEAN, "printing of array indexes", of_print("array_indexes"), option_of="print"),
    Setting(
        "print elements", COUNT, "limit on string chars or array elements to print", of_print("elements"),
        option_of="print",
    ),
    Setting("print repeats", COUNT, "threshold for repeated print elements", of_print("repeats"), option_of="print"),
    Setting(
        "print max-depth", DEPTH, "maximum print depth for nested structures, unions and arrays", of_print("max_depth"),
        sentence="Maximum print depth is {}.", option_of="print",
        show_help="Show maximum print depth for nested structures, unions, and arrays.",
    ),
    Setting(
        "print null-stop", BOOLEAN, "printing of char arrays to stop at first null char", of_print("null_stop"),
        option_of="print",
    ),
    Setting("print pretty", BOOLEAN, "pretty formatting of structures", of_print("pretty"), option_of="print"),
    Setting(
        "print union", BOOLEAN, "printing of unions interior to structures", of_print("union"), option_of="print",
    ),
    Setting(
        "print static-members", BOOLEAN, "printing of C++ static members", of_print("static_members"),
        option_of="print",
    ),
    Setting(
        "print symbol", BOOLEAN, "printing of symbol names when printing pointers", of_print("symbol"),
        sentence="Printing of symbols when printing pointers is {}.", option_of="print",
    ),
    Setting(
        "print object", BOOLEAN, "printing of C++ virtual function tables", of_print("object"),
        sentence="Printing of object's derived type based on vtable info is {}.", option_of="print",
    ),
    Setting("print vtbl", BOOLEAN, "printing of C++ virtual function tables", of_print("vtbl"), option_of="print"),
    Setting(
        "print raw-values", BOOLEAN, "whether to print values in raw form", of_print("raw_values"), option_of="print",
    ),
    Setting(
        "print symbol-filename", BOOLEAN, "printing of source filename and line number with <SYMBOL>",
        of_print("symbol_filename"),
        sentence="Printing of source filename and line number with <symbol> is {}.",
    ),
    Setting(
        "print max-symbolic-offset", COUNT, "the largest offset that will be printed in <SYMBOL+1234> form",
        of_print("max_symbolic_offset"),
        sentence="The largest offset that will be printed in <symbol+1234> form is {}.",
    ),
    Setting(
        "print sevenbit-strings", BOOLEAN, "printing of 8-bit characters in strings as \\nnn",
        of_print("sevenbit_strings"),
    ),
    Setting(
        "print nibbles", BOOLEAN, "whether to print binary values in groups of four bits", of_print("nibbles"),
        sentence="Printing binary values in groups is {}.", option_of="print",
    ),
    Setting(
        "print asm-demangle", BOOLEAN, "demangling of C++/ObjC names in disassembly listings",
        of_print("asm_demangle"),
    ),
    Setting(
        "print asm-operands", BOOLEAN, "printing of operands' values after the instruction at $pc in disassembly",
        of_print("asm_operands"),
    ),
    Setting(
        "print frame-arguments", Enumeration(("all", "scalars", "none", "presence")),
        "printing of non-scalar frame arguments", of_print("frame_arguments"), option_of="frame",
    ),
    Setting(
        "print finish", BOOLEAN, "whether `finish' prints the return value", of_front_end("print finish", True),
        sentence="Printing of return value after `finish' is {}.",
    ),
    Setting(
        "print frame-info", Enumeration(
            ("auto", "source-line", "location", "source-and-location", "location-and-address", "short-location")
        ),
        "printing of frame information", of_print("frame_info"), option_of="frame",
    ),
    Setting(
        "print entry-values", Enumeration(("no", "only", "preferred", "if-needed", "both", "compact", "default")),
        "printing of function arguments at function entry", of_print("entry_values"), option_of="frame",
    ),
    Setting(
        "print recovered", BOOLEAN, "printing of values that are recovered from machine code",
        of_print("recovered"),
    ),
    Setting(
        "print type hex", BOOLEAN, "printing of struct members sizes and offsets using hex notation",
        of_print("type_hex"), sentence="Display of struct members offsets and sizes in hexadecimal is {}",
        show_help="Show whether sizes and offsets of struct members are printed using hex notation.",
    ),
    Setting(
        "print type methods", BOOLEAN, "printing of methods defined in classes", of_print("type_methods"),
        sentence="Printing of methods defined in a class in {}",
    ),
    Setting(
        "print type typedefs", BOOLEAN, "printing of typedefs defined in classes", of_print("type_typedefs"),
        sentence="Printing of typedefs defined in a class in {}",
    ),
    Setting(
        "print raw-frame-arguments", BOOLEAN, "whether to print frame arguments in raw form",
        of_print("raw_frame_arguments"), option_of="frame",
    ),
    Setting(
        "output-radix", Radix(), "default output radix for printing of values", of_engine("output_radix"),
        announcement=lambda shell: _radix_line("Output", shell.session.settings.output_radix),
    ),
    Setting(
        "input-radix", Radix(is_output=False), "default input radix for entering numbers", of_engine("input_radix"),
        announcement=lambda shell: _radix_line("Input", shell.session.settings.input_radix),
    ),
    Setting(
        "max-value-size", DEPTH, "maximum sized value rocdbg will load from the inferior",
        Place("max_value_size", lambda shell: shell.session.settings.max_value_size, _write_largest),
        line=_largest_line,
    ),
    Setting(
        "print type nested-type-limit", DEPTH,
        'the number of recursive nested type definitions to print ("unlimited" or -1 to show all)', NESTED,
        show_help="Show the number of recursive nested type definitions to print.", line=_nested_line,
    ),
    Setting(
        "radix", BothRadices(), "default input and output number radices",
        Place("radix", lambda shell: shell.session.settings.output_radix, _set_radices),
        line=_radices_line, announcement=_radices_set,
        set_help="Set default input and output number radices.\n\nWithout a value, both are 10 again.",
        show_help="Show the default input and output number radices.",
    ),
)


def _options(command: str) -> tuple[Option, ...]:
    """Return the options of a command that temporarily change settings of `print`."""
    return tuple(
        Option(f"-{setting.name.removeprefix('print ')}", f"Set {setting.what}.", setting.kind, setting.place.field)
        for setting in sorted(PRINT_SETTINGS, key=lambda setting: setting.name)
        if setting.option_of == command
    )


def _changed(shell: Shell, changes: Mapping[str, object]) -> PrintSettings:
    return shell.session.settings.print.with_changes(**changes)


PRINT_OPTIONS = OptionGroup("settings", "PrintSettings", _options("print"), _changed, "[OPTION...]")
FRAME_OPTIONS = OptionGroup("settings", "PrintSettings", _options("frame"), _changed, "[OPTION...]")
