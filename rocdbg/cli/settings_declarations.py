"""Every setting, declared once: `set`, `show`, completion, help, the manual and options of `print` come from here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from rocdbg.cli.options import Option, OptionGroup
from rocdbg.cli.paths import expand
from rocdbg.cli.registry import Category, CommandError, Completes
from rocdbg.cli.setting import Place, Setting, of_engine, of_front_end, of_launch, of_print
from rocdbg.cli.value_kinds import (
    AUTO_BOOLEAN,
    BOOLEAN,
    COUNT,
    DEPTH,
    FILE_NAME,
    STRING,
    Enumeration,
    String,
    ValueKind,
)
from rocdbg.debugger.running.launch import LDS_OUT_OF_RANGE
from rocdbg.debugger.settings import PrintSettings

if TYPE_CHECKING:
    from rocdbg.cli.shell import Shell

LOG_FILE = of_front_end("logging file", "rocdbg.txt")
LOG_OVERWRITE = of_front_end("logging overwrite", False)
STYLE = of_front_end("style enabled", True)


class Radix(ValueKind, frozen=True):
    """A base that numbers can have."""

    @property
    def metasyntax(self) -> str:
        return "8|10|16"

    @property
    def words(self) -> tuple[str, ...]:
        return ("8", "10", "16")

    def parse(self, text: str) -> int:
        """The base."""
        if text not in self.words:
            raise CommandError(f"Unsupported radix ``{text}'': use 8, 10 or 16.")
        return int(text)


class FileList(String, frozen=True):
    """Files and folders, joined by colons; there may be none."""

    @property
    def metasyntax(self) -> str:
        return "[DIRECTORIES]"

    @property
    def completes(self) -> Completes:
        return Completes.FILE


def _radix_line(what: str, radix: int) -> str:
    return f"{what} radix now set to decimal {radix}, hex {radix:x}, octal {radix:o}."


def _log(shell: Shell, wanted: object) -> None:
    """Start or stop copying the session."""
    name = LOG_FILE.read(shell)
    if wanted and shell.out.log is None:
        path = expand(str(name))
        try:
            shell.out.log = path.open("w" if LOG_OVERWRITE.read(shell) else "a", encoding="utf-8")
        except OSError as error:
            raise CommandError(f"set logging: {path}: {error.strerror}.") from None
        shell.line(f"Copying output to {path}.")
    elif not wanted and shell.out.log is not None:
        shell.out.log.close()
        shell.out.log = None
        shell.line(f"Done logging to {name}.")


def _log_line(shell: Shell) -> str:
    return "off: Logging is disabled." if shell.out.log is None else "on: Logging is enabled."


def _overwrite_line(shell: Shell) -> str:
    return "on: Logging overwrites the log file." if LOG_OVERWRITE.read(shell) else (
        "off: Logging appends to the log file."
    )


def _colour(shell: Shell) -> None:
    shell.out.colour = bool(STYLE.read(shell)) and shell.can_colour


def _set_directories(shell: Shell, text: object) -> None:
    folders = [part for part in str(text).split(":") if part]
    ends = [part for part in ("$cdir", "$cwd") if part not in folders]
    shell.session.settings.directories = list(dict.fromkeys([*folders, *ends]))


def _forget_sources(shell: Shell) -> None:
    shell.session.sources.forget()


def directories_line(shell: Shell) -> str:
    """What `show directories` says."""
    return f"Source directories searched: {':'.join(shell.session.settings.directories)}"


def _safe_path_line(shell: Shell) -> str:
    path = shell.auto_load.safe_path
    if path and not path.strip("/:"):
        return "Auto-load files are safe to load from any directory."
    return f"List of directories from which it is safe to auto-load files is {path}."


SAFE_PATH_HELP = """\
Set the list of files and directories that are safe for auto-loading.

Various files loaded automatically for the 'set auto-load ...' options must be located in one of the directories
listed by this option. Warning will be printed and file will not be used otherwise. You can mix both directory and
filename entries. Setting this parameter to an empty list resets it to its default value. Setting this parameter to
'/' (without the quotes) allows any file for the 'set auto-load ...' options. Each path entry can be also shell
wildcard pattern; '*' does not match directory separator."""


def _auto_load(kind: str, what: str) -> Setting:
    place = Place(
        kind, lambda shell: shell.auto_load.enabled[kind],
        lambda shell, value: shell.auto_load.enabled.__setitem__(kind, bool(value)),
    )
    return Setting(
        f"auto-load {kind}", BOOLEAN, what, place, set_help=f"Enable or disable {what}.",
        show_help=f"Show whether {what} is enabled.",
    )


SETTINGS = (
    # how values are printed
    Setting("print address", BOOLEAN, "printing of addresses", of_print("address"), option_of="print"),
    Setting("print array", BOOLEAN, "pretty formatting of arrays", of_print("array"), option_of="print"),
    Setting("print array-indexes", BOOLEAN, "printing of array indexes", of_print("array_indexes"), option_of="print"),
    Setting(
        "print elements", COUNT, "limit on string chars or array elements to print", of_print("elements"),
        option_of="print",
    ),
    Setting("print repeats", COUNT, "threshold for repeated print elements", of_print("repeats"), option_of="print"),
    Setting(
        "print max-depth", DEPTH, "maximum print depth of nested structures", of_print("max_depth"), option_of="print",
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
        option_of="print",
    ),
    Setting(
        "print raw-values", BOOLEAN, "whether to print values in raw form, without pretty-printers",
        of_print("raw_values"), option_of="print",
    ),
    Setting(
        "print symbol-filename", BOOLEAN, "printing of source file and line with <SYMBOL>",
        of_print("symbol_filename"),
    ),
    Setting(
        "print max-symbolic-offset", COUNT, "largest offset printed in <SYMBOL+1234>", of_print("max_symbolic_offset"),
    ),
    Setting(
        "print sevenbit-strings", BOOLEAN, "printing of 8-bit characters in strings as \\nnn",
        of_print("sevenbit_strings"),
    ),
    Setting(
        "print asm-demangle", BOOLEAN, "demangling of C++ names in disassembly listings", of_print("asm_demangle"),
    ),
    Setting(
        "print frame-arguments", Enumeration(("all", "scalars", "none", "presence")),
        "printing of non-scalar frame arguments", of_print("frame_arguments"), option_of="frame",
    ),
    Setting(
        "output-radix", Radix(), "default output radix for printing of values", of_engine("output_radix"),
        announcement=lambda shell: _radix_line("Output", shell.session.settings.output_radix),
    ),
    Setting(
        "input-radix", Radix(), "default input radix for entering numbers", of_engine("input_radix"),
        announcement=lambda shell: _radix_line("Input", shell.session.settings.input_radix),
    ),
    # source and code
    Setting("listsize", COUNT, "number of source lines rocdbg will list by default", of_engine("list_size")),
    Setting(
        "directories", FileList(), "the search path for finding source files",
        Place("directories", lambda shell: ":".join(shell.session.settings.directories), _set_directories),
        Category.FILES, line=directories_line, after=_forget_sources,
    ),
    Setting(
        "disassemble-next-line", AUTO_BOOLEAN, "whether to disassemble next source line or insn when execution stops",
        of_engine("disassemble_next_line"),
    ),
    # running
    Setting("backtrace limit", COUNT, "upper bound on the number of stack frames", of_engine("backtrace_limit")),
    Setting("step-mode", BOOLEAN, "whether step stops in functions without line information", of_engine("step_mode")),
    Setting(
        "scheduler-locking", Enumeration(("off", "on", "step", "replay")),
        "which other waves run while one is stepped", of_engine("scheduler_locking"),
    ),
    Setting(
        "breakpoint pending", AUTO_BOOLEAN, "debugger's behaviour regarding pending breakpoints",
        of_engine("pending_breakpoints"),
    ),
    Setting(
        "instruction-budget", COUNT, "wave-instructions after which a run stops", of_engine("instruction_budget"),
    ),
    Setting(
        "lds-out-of-range", Enumeration(LDS_OUT_OF_RANGE), "outcome of accesses beyond a workgroup's LDS",
        of_launch("lds_out_of_range"),
    ),
    Setting(
        "count-uninitialized", BOOLEAN, "counting of reads of buffer bytes that were never written",
        of_launch("count_uninitialized"),
    ),
    # the front end
    Setting("width", COUNT, "number of characters in a line (lines are never folded)", of_front_end("width", 0)),
    Setting("height", COUNT, "number of lines in a page (output is never paused)", of_front_end("height", 0)),
    Setting(
        "confirm", BOOLEAN, "whether to confirm potentially dangerous operations", of_front_end("confirm", True),
    ),
    Setting("pagination", BOOLEAN, "state of pagination (output is never paused)", of_front_end("pagination", False)),
    Setting("prompt", STRING, "the prompt", of_front_end("prompt", "(rocdbg) ")),
    Setting("style enabled", BOOLEAN, "whether output is coloured on a terminal", STYLE, after=_colour),
    Setting(
        "logging enabled", BOOLEAN, "whether the session is copied to the log file",
        Place("log", lambda shell: shell.out.log is not None, _log),
        set_help="Start or stop copying the session to the log file.", line=_log_line,
    ),
    Setting(
        "logging file", FILE_NAME, "the current log file", LOG_FILE,
        line=lambda shell: f'The current logfile is "{LOG_FILE.read(shell)}".',
    ),
    Setting(
        "logging overwrite", BOOLEAN, "whether logging overwrites or appends to the log file", LOG_OVERWRITE,
        line=_overwrite_line,
    ),
    # files that run by themselves
    _auto_load("local-rocdbginit", "auto-loading of .rocdbginit script from current directory"),
    _auto_load("rocdbg-scripts", "auto-loading of canned sequences of commands scripts"),
    Setting(
        "auto-load safe-path", FileList(), "the list of files and directories that are safe for auto-loading",
        Place(
            "safe_path", lambda shell: shell.auto_load.safe_path,
            lambda shell, value: shell.auto_load.set_safe_path(str(value)),
        ),
        set_help=SAFE_PATH_HELP, line=_safe_path_line,
    ),
)


def below(prefix: str) -> dict[str, Setting]:
    """The settings of a prefix (``logging``), by the rest of their names."""
    lead = prefix + " "
    return {setting.name.removeprefix(lead): setting for setting in SETTINGS if setting.name.startswith(lead)}


def _options(command: str) -> tuple[Option, ...]:
    """The options of a command that change a setting of `print` for once."""
    return tuple(
        Option(f"-{name}", f"Set {setting.what}.", setting.kind, setting.place.field)
        for name, setting in sorted(below("print").items())
        if setting.option_of == command
    )


def _changed(shell: Shell, changes: Mapping[str, object]) -> PrintSettings:
    return shell.session.settings.print.with_changes(**changes)


PRINT_OPTIONS = OptionGroup("settings", "PrintSettings", _options("print"), _changed, "[OPTION...]")
FRAME_OPTIONS = OptionGroup("settings", "PrintSettings", _options("frame"), _changed, "[OPTION...]")
