"""Settings of sources, languages and disassembly."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from rocdbg.cli.command_registry import Category
from rocdbg.cli.paths import search_folder
from rocdbg.cli.register_groups import keep_registers
from rocdbg.cli.settings.setting_declaration import Place, Setting, of_engine, of_front_end
from rocdbg.cli.settings.setting_value_kinds import AUTO_BOOLEAN, BOOLEAN, LINES, STRING, Enumeration, FileList

if TYPE_CHECKING:
    from rocdbg.cli.shell import Shell

LANGUAGES = (
    "auto", "local", "unknown", "ada", "asm", "c", "c++", "d", "fortran", "go", "minimal", "modula-2", "objective-c",
    "opencl", "pascal", "rust",
)
CHARSETS = ("auto", "ASCII", "UTF-8", "UTF-16", "UTF-32", "ISO-8859-1", "ISO-8859-15", "CP1252")
ON_OFF_AUTO = Enumeration(("on", "off", "auto"))
CASE_MISMATCH = "warning: the current case sensitivity setting does not match the language.\n"
MISMATCH = "Warning: the current language does not match this frame."
RANGE_MISMATCH = "warning: the current range check setting does not match the language.\n"
LANGUAGE = of_engine("language")
CASE = of_front_end("case-sensitive", "auto")
RANGE = of_front_end("check range", "auto")
CHARSET_NAMES = {
    "host-charset": ("host character set", "UTF-8"),
    "target-charset": ("target character set", "UTF-8"),
    "target-wide-charset": ("target wide character set", "UTF-32"),
}
CHARSET_PLACES = {name: of_front_end(name, "auto") for name in CHARSET_NAMES}


def _set_directories(shell: Shell, text: object) -> None:
    folders = [search_folder(shell, part) for part in str(text).split(":") if part]
    ends = [part for part in ("$cdir", "$cwd") if part not in folders]
    shell.session.settings.directories = list(dict.fromkeys([*folders, *ends]))


def _forget_sources(shell: Shell) -> None:
    shell.session.sources.forget()


def directories_line(shell: Shell) -> str:
    """Return the line of `show directories`."""
    return f"Source directories searched: {':'.join(shell.session.settings.directories)}"


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


SOURCE_SETTINGS = (
    Setting("listsize", LINES, "number of source lines rocdbg will list by default", of_engine("list_size")),
    Setting(
        "directories", FileList(), "the search path for finding source files",
        Place("directories", lambda shell: ":".join(shell.session.settings.directories), _set_directories),
        Category.FILES, line=directories_line, after=_forget_sources,
    ),
    Setting(
        "disassemble-next-line", AUTO_BOOLEAN, "whether to disassemble next source line or insn when execution stops",
        of_engine("disassemble_next_line"),
        sentence="Debugger's willingness to use disassemble-next-line is {}.",
    ),
    Setting(
        "operands", BOOLEAN, "whether stops show what the next instruction reads and writes",
        of_engine("operands"), sentence="Whether stops show operands is {}.",
    ),
    Setting(
        "register-changes", BOOLEAN, "whether registers that have changed since the previous stop are marked",
        of_engine("register_changes"), sentence="Whether registers that changed are marked is {}.",
        after=keep_registers,
    ),
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
