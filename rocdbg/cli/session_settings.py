"""GDB's settings that concern the session itself and whose `show` text is more than a sentence with a value."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from rocdbg.cli.command_registry import CommandError
from rocdbg.cli.settings.setting_declaration import Place, Setting, of_engine, of_front_end, of_print, of_program
from rocdbg.cli.settings.setting_value_kinds import (
    AUTO_BOOLEAN,
    BOOLEAN,
    COUNT,
    DEPTH,
    SIGNED,
    STRING,
    Enumeration,
    Radix,
    String,
    ValueKind,
)
from rocdbg.cli.standard_streams import edits_lines

if TYPE_CHECKING:
    from rocdbg.cli.shell import Shell

LANGUAGES = (
    "auto", "local", "unknown", "ada", "asm", "c", "c++", "d", "fortran", "go", "minimal", "modula-2", "objective-c",
    "opencl", "pascal", "rust",
)
CHARSETS = ("auto", "ASCII", "UTF-8", "UTF-16", "UTF-32", "ISO-8859-1", "ISO-8859-15", "CP1252")
ON_OFF_AUTO = Enumeration(("on", "off", "auto"))
SMALLEST_VALUE = 16
"""GDB's minimum for ``max-value-size``, in bytes."""

CASE_MISMATCH = "warning: the current case sensitivity setting does not match the language.\n"
MISMATCH = "Warning: the current language does not match this frame."

RANGE_MISMATCH = "warning: the current range check setting does not match the language.\n"

HISTORY_FILE = of_front_end("history filename", ".rocdbg_history")
LANGUAGE = of_engine("language")
CASE = of_front_end("case-sensitive", "auto")
RANGE = of_front_end("check range", "auto")
NESTED = of_print("type_nested")
CWD = of_program("directory")
CHARSET_NAMES = {
    "host-charset": ("host character set", "UTF-8"),
    "target-charset": ("target character set", "UTF-8"),
    "target-wide-charset": ("target wide character set", "UTF-32"),
}
CHARSET_PLACES = {name: of_front_end(name, "auto") for name in CHARSET_NAMES}


class PlainText(String, frozen=True):
    """Text up to the end of the line, without surrounding blanks."""


def _switched(name: str, off: str, on: str, kind: ValueKind, what: str) -> Setting:
    """Declare a setting with two states, each of which `show` describes with its own sentence."""
    place = of_front_end(name, False)
    return Setting(name, kind, what, place, line=lambda shell: on if place.read(shell) else off)


# -- the language

def language_name(shell: Shell) -> str:
    """Return the language of the selected frame, otherwise that of the program."""
    return shell.session.data.language_name


def _language_line(shell: Shell) -> str:
    value = str(LANGUAGE.read(shell))
    own = language_name(shell)
    if value in ("auto", "local"):
        return f'The current source language is "auto; currently {own}".'
    line = f'The current source language is "{value}".'
    is_same = value == own or {value, own} == {"c++", "hip"}  # HIP is C++ with kernels
    if shell.session.inferior.running and not is_same:
        line += f"\n{MISMATCH}"
    return line


def _language_changed(shell: Shell) -> None:
    """Warn, once in a session as GDB does, that the language is not the frame's."""
    text = _language_line(shell)
    if MISMATCH in text and not shell.state.language_warned:
        shell.state.language_warned = True
        shell.line(MISMATCH)


def _auto_line(what: str, place: Place, current: str, mismatch: str) -> Callable[[Shell], str]:
    def line(shell: Shell) -> str:
        value = place.read(shell)
        if value == "auto":
            return f'{what} is "auto; currently {current}".'
        return f'{what} is "{value}".' + (f"\n{mismatch}" if value != current else "")

    return line


# -- character sets

def _charset_line(name: str) -> Callable[[Shell], str]:
    what, default = CHARSET_NAMES[name]
    return lambda shell: f'The {what} is "{_charset(shell, name, default)}".'


def _charset(shell: Shell, name: str, default: str) -> object:
    value = CHARSET_PLACES[name].read(shell)
    return f"auto; currently {default}" if value == "auto" else value


def _all_charsets(shell: Shell) -> str:
    return "\n".join(_charset_line(name)(shell) for name in CHARSET_NAMES)


def _set_charsets(shell: Shell, value: object) -> None:
    for name in ("host-charset", "target-charset"):
        CHARSET_PLACES[name].write(shell, value)


# -- values, history, the target

def _write_largest(shell: Shell, value: object) -> None:
    size = int(str(value))
    low = size != -1 and size < SMALLEST_VALUE
    shell.session.settings.max_value_size = SMALLEST_VALUE if low else size
    if low:
        raise CommandError(f"max-value-size set too low, increasing to {SMALLEST_VALUE} bytes")


def _largest_line(shell: Shell) -> str:
    size = shell.session.settings.max_value_size
    return "Maximum value size is unlimited." if size == -1 else f"Maximum value size is {size} bytes."


def _history_file_line(shell: Shell) -> str:
    name = str(HISTORY_FILE.read(shell))
    if not name:
        return "There is no filename currently set for recording the command history in."
    return f'The filename in which to record the command history is "{Path.cwd() / name}".'


def _write_non_stop(shell: Shell, value: object) -> None:
    if shell.session.inferior.running:
        raise CommandError("Cannot change this setting while the inferior is running.")
    shell.settings["non-stop"] = value


def _cwd_line(shell: Shell) -> str:
    if CWD.read(shell):
        return f'Current working directory that will be used when starting the inferior is "{CWD.read(shell)}".'
    return (
        "You have not set the inferior's current working directory.\n"
        "Kernels have none, because they do not open files."
    )


def _nested_line(shell: Shell) -> str:
    limit = NESTED.read(shell)
    if limit == 0:
        return "Will not print nested types defined in a class"
    return f"Will print {'unlimited' if limit == -1 else limit} nested types defined in a class"


def _architecture_line(shell: Shell) -> str:
    place = of_front_end("architecture", "auto")
    program = shell.session.inferior.program
    current = f"amdgcn:{program.code_object.target.name}" if program is not None else "amdgcn"
    value = place.read(shell)
    if value == "auto":
        return f'The target architecture is set to "auto" (currently "{current}").'
    return f'The target architecture is set to "{value}".'


def _endian_line(shell: Shell) -> str:
    value = of_front_end("endian", "auto").read(shell)
    if value == "auto":
        return "The target endianness is set automatically (currently little endian)."
    return f"The target is set to {value} endian."


def _interactive_line(shell: Shell) -> str:
    value = of_front_end("interactive-mode", "auto").read(shell)
    if value == "auto":
        return f"Debugger's interactive mode is auto (currently {'on' if shell.interactive else 'off'})."
    return f"Debugger's interactive mode is {value}."


def _osabi_line(shell: Shell) -> str:
    value = of_front_end("osabi", "auto").read(shell)
    current = ' (currently "AMDGPU-HSA")' if value == "auto" else ""
    return f'The current OS ABI is "{value}"{current}.\nThe default OS ABI is "AMDGPU-HSA".'


def _radix_line(shell: Shell) -> str:
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


def session_settings() -> tuple[Setting, ...]:
    """Return these settings."""
    return (
        Setting(
            "debug-file-directory", STRING, "the directories where separate debug symbols are searched for",
            of_engine("debug_file_directory"),
            sentence='The directory where separate debug symbols are searched for is "{}".',
        ),
        Setting(
            "language", Enumeration(LANGUAGES, ("hip",)), "the current source language", LANGUAGE, line=_language_line,
            after=_language_changed,
        ),
        Setting(
            "case-sensitive", ON_OFF_AUTO, "case sensitivity in name search (on/off/auto)", CASE,
            line=_auto_line(
                "Case sensitivity in name search", CASE, "on", CASE_MISMATCH,
            ),
            after=lambda shell: shell.line(CASE_MISMATCH) if CASE.read(shell) == "off" else None,
        ),
        Setting(
            "check range", Enumeration(("on", "off", "warn", "auto")), "range checking (on/warn/off/auto)", RANGE,
            line=_auto_line("Range checking", RANGE, "off", RANGE_MISMATCH),
            after=lambda shell: shell.line(RANGE_MISMATCH) if RANGE.read(shell) in ("on", "warn") else None,
        ),
        Setting(
            "charset", Enumeration(CHARSETS), "the host and target character sets",
            Place("charset", CHARSET_PLACES["host-charset"].read, _set_charsets), line=_all_charsets,
        ),
        *(
            Setting(
                name, Enumeration(CHARSETS), f"the {CHARSET_NAMES[name][0]}", place, line=_charset_line(name),
            )
            for name, place in CHARSET_PLACES.items()
        ),
        Setting(
            "max-value-size", DEPTH, "maximum sized value rocdbg will load from the inferior",
            Place("max_value_size", lambda shell: shell.session.settings.max_value_size, _write_largest),
            line=_largest_line,
        ),
        Setting(
            "non-stop", BOOLEAN, "whether rocdbg controls the inferior in non-stop mode",
            Place("non-stop", lambda shell: shell.settings.get("non-stop", False), _write_non_stop),
            sentence="Controlling the inferior in non-stop mode is {}.",
        ),
        Setting(
            "editing", BOOLEAN, "editing of command lines as they are typed",
            Place(
                "editing", lambda shell: bool(shell.settings.get("editing", edits_lines(shell))),
                lambda shell, value: shell.settings.__setitem__("editing", value),
            ),
            set_help="Set editing of command lines as they are typed.\n\nIf off, the terminal itself edits and shows "
            "the lines, without completion. Off is the default if TERM is \"dumb\", or if the terminal does not answer "
            "queries because a program drives it.",
        ),
        Setting(
            "history size", DEPTH, "the size of the command history", of_front_end("history size", 256),
            sentence="The size of the command history is {}.",
        ),
        Setting(
            "history save", BOOLEAN, "saving of the history record on exit", of_front_end("history save", False),
        ),
        Setting(
            "history filename", STRING, "the filename in which to record the command history", HISTORY_FILE,
            line=_history_file_line,
        ),
        *(
            Setting(
                f"amdgpu {name}", BOOLEAN, f"{name} mode", of_front_end(f"amdgpu {name}", False),
                set_help=f"Set {name} mode.\n\nExceptions are always reported at the instruction that caused them; "
                "this setting exists for scripts written for ROCgdb.",
                sentence=f"AMDGPU {what} reporting is {{}} (currently enabled).",
            )
            for name, what in (
                ("precise-memory", "precise memory access"), ("precise-alu-exceptions", "precise ALU exceptions"),
            )
        ),
        Setting(
            "cwd", PlainText(), "the current working directory to be used when the inferior is started", CWD,
            show_help="Show the current working directory that is used when the inferior is started.",
            line=_cwd_line,
        ),
        Setting(
            "print type nested-type-limit", DEPTH,
            'the number of recursive nested type definitions to print ("unlimited" or -1 to show all)', NESTED,
            show_help="Show the number of recursive nested type definitions to print.", line=_nested_line,
        ),
        Setting(
            "architecture", STRING, "architecture of target", of_front_end("architecture", "auto"),
            line=_architecture_line,
        ),
        Setting(
            "endian", Enumeration(("big", "little", "auto")), "endianness of target", of_front_end("endian", "auto"),
            line=_endian_line,
        ),
        Setting(
            "osabi", Enumeration(("auto", "default", "none", "AMDGPU-HSA")), "OS ABI of target",
            of_front_end("osabi", "auto"), line=_osabi_line,
        ),
        Setting(
            "can-use-hw-watchpoints", SIGNED, "debugger's willingness to use watchpoint hardware",
            of_engine("hardware_watchpoints"),
            set_help="Set debugger's willingness to use watchpoint hardware.\n\nIf zero, watchpoints that are set "
            "then are called software watchpoints, and read and access watchpoints are refused, as in GDB. They work "
            "in the same way.",
        ),
        Setting(
            "interactive-mode", AUTO_BOOLEAN, "whether rocdbg's standard input is a terminal",
            of_front_end("interactive-mode", "auto"), line=_interactive_line,
        ),
        Setting(
            "radix", BothRadices(), "default input and output number radices",
            Place("radix", lambda shell: shell.session.settings.output_radix, _set_radices),
            line=_radix_line, announcement=_radices_set,
            set_help="Set default input and output number radices.\n\nWithout a value, both are 10 again.",
            show_help="Show the default input and output number radices.",
        ),
        Setting(
            "trace-commands", BOOLEAN, "tracing of rocdbg CLI commands", of_front_end("trace-commands", False),
            sentence="State of rocdbg CLI command tracing is {}.",
            show_help="Show state of rocdbg CLI command tracing.",
        ),
        Setting(
            "trace-buffer-size", DEPTH, "requested size of trace buffer", of_front_end("trace-buffer-size", -1),
        ),
        Setting(
            "circular-trace-buffer", BOOLEAN, "target's use of circular trace buffer",
            of_front_end("circular-trace-buffer", False),
        ),
        Setting(
            "default-collect", STRING, "the list of expressions to collect by default",
            of_front_end("default-collect", ""),
        ),
        Setting(
            "trace-notes", STRING, "notes string to use for current and future trace runs",
            of_front_end("trace-notes", ""),
            sentence="The notes string to use for current and future trace runs is \"{}\".",
            show_help="Show the notes string to use for current and future trace runs.",
        ),
        Setting(
            "trace-stop-notes", STRING, "notes string to use for future tstop commands",
            of_front_end("trace-stop-notes", ""),
            sentence="The notes string to use for future tstop commands is \"{}\".",
            show_help="Show the notes string to use for future tstop commands.",
        ),
        Setting(
            "max-completions", DEPTH, "maximum number of completion candidates",
            of_front_end("max-completions", 200),
        ),
        Setting(
            "max-user-call-depth", COUNT, "the max call depth for user-defined commands",
            of_front_end("max-user-call-depth", 1024),
            set_help="Set the max call depth for non-python/scheme user-defined commands.",
            show_help="Show the max call depth for non-python/scheme user-defined commands.",
        ),
        _switched(
            "verbose", "Verbosity is off.", "Verbose printing of informational messages is on.", BOOLEAN, "verbosity",
        ),
        _switched(
            "logging debugredirect", "off: Debug output will go to both the screen and the log file.",
            "on: Debug output will go only to the log file.", BOOLEAN, "the logging debug output mode",
        ),
        Setting(
            "mem inaccessible-by-default", BOOLEAN, "handling of unknown memory regions",
            of_front_end("mem inaccessible-by-default", True),
            line=lambda shell: (
                "Unknown memory addresses will be treated as "
                f"{'inaccessible' if shell.settings.get('mem inaccessible-by-default', True) else 'RAM'}."
            ),
        ),
        Setting(
            "extended-prompt", STRING, "the extended prompt", of_front_end("extended-prompt", ""),
            line=lambda shell: (
                f"The extended prompt is: {shell.settings['extended-prompt']}"
                if shell.settings.get("extended-prompt") else "The extended prompt is not set."
            ),
        ),
        Setting(
            "tdesc filename", STRING, "the file to read for an XML target description",
            of_front_end("tdesc filename", ""),
            line=lambda shell: "The target description will be read from the target.",
        ),
        Setting(
            "debuginfod urls", STRING, "the list of debuginfod server URLs", of_front_end("debuginfod urls", ""),
            line=lambda shell: (
                f"Debuginfod URLs are currently set to:\n{shell.settings['debuginfod urls']}"
                if shell.settings.get("debuginfod urls") else "Debuginfod URLs have not been set."
            ),
        ),
        Setting(
            "disassembler-options", STRING, "the disassembler options", of_front_end("disassembler-options", ""),
            line=lambda shell: (
                f"The current disassembler options are '{shell.settings.get('disassembler-options', '')}'\n\n"
                "There are no disassembler options available for this architecture."
            ),
        ),
    )
