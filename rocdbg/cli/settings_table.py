"""Every setting, declared once: `set`, `show`, completion, help, the manual and options of `print` are derived from it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from rocdbg.cli.command_options import Option, OptionGroup
from rocdbg.cli.command_registry import Category, CommandError, Completes
from rocdbg.cli.paths import expand, search_folder
from rocdbg.cli.register_groups import keep_registers
from rocdbg.cli.session_theme import restyle
from rocdbg.cli.settings.setting_declaration import (
    Place,
    Setting,
    of_engine,
    of_front_end,
    of_launch,
    of_print,
    of_program,
)
from rocdbg.cli.settings.setting_value_kinds import (
    AUTO_BOOLEAN,
    BOOLEAN,
    COUNT,
    DEPTH,
    FILE_NAME,
    LINES,
    STRING,
    Enumeration,
    Radix,
    String,
)
from rocdbg.debugger.base.engine_settings import PrintSettings
from rocdbg.debugger.running.launch_control import LDS_OUT_OF_RANGE

if TYPE_CHECKING:
    from rocdbg.cli.shell import Shell

LOG_FILE = of_front_end("logging file", "rocdbg.txt")
LOG_REDIRECT = of_front_end("logging redirect", False)
LOG_OVERWRITE = of_front_end("logging overwrite", False)
STYLE = of_front_end("style enabled", True)
STYLE_SOURCES = of_front_end("style sources", True)


class FileList(String, frozen=True):
    """Files and directories, separated by colons; may be empty."""

    @property
    def metasyntax(self) -> str:
        return "[DIRECTORIES]"

    @property
    def completes(self) -> Completes:
        return Completes.FILE


class ScheduleKind(String, frozen=True):
    """How waves are interleaved."""

    @property
    def metasyntax(self) -> str:
        return "round-robin|one-at-a-time|random SEED|lockstep N"

    @property
    def words(self) -> tuple[str, ...]:
        return ("round-robin", "one-at-a-time", "random", "lockstep")


def _radix_line(what: str, radix: int) -> str:
    return f"{what} radix now set to decimal {radix}, hex {radix:x}, octal {radix:o}."


def _log(shell: Shell, wanted: object) -> None:
    """Start or stop logging the session to a file."""
    name = LOG_FILE.read(shell)
    if wanted and shell.out.log is not None:
        raise CommandError(f"Already logging to {shell.out.log.name}.")
    if wanted:
        path = expand(str(name))
        try:
            shell.out.log = path.open("w" if LOG_OVERWRITE.read(shell) else "a", encoding="utf-8")
        except OSError as error:
            raise CommandError(f"set logging: {path}: {error.strerror}.") from None
        alone = bool(LOG_REDIRECT.read(shell))
        shell.line(f"{'Redirecting' if alone else 'Copying'} output to {path}.")
        debug = "Redirecting" if shell.settings.get("logging debugredirect") else "Copying"
        shell.line(f"{debug} debug output to {path}.")
        shell.out.log_alone = alone
    elif not wanted and shell.out.log is not None:
        name = shell.out.log.name
        shell.out.log.close()
        shell.out.log = None
        shell.out.log_alone = False
        shell.line(f"Done logging to {name}.")


def _log_line(shell: Shell) -> str:
    return "off: Logging is disabled." if shell.out.log is None else "on: Logging is enabled."


def _overwrite_line(shell: Shell) -> str:
    return "on: Logging overwrites the log file." if LOG_OVERWRITE.read(shell) else (
        "off: Logging appends to the log file."
    )


def _redirect_line(shell: Shell) -> str:
    return "on: Output will go only to the log file." if LOG_REDIRECT.read(shell) else (
        "off: Output will go to both the screen and the log file."
    )


def _colour(shell: Shell) -> None:
    shell.out.colour = bool(STYLE.read(shell)) and shell.can_colour
    restyle(shell)


def _set_direction(shell: Shell, word: object) -> None:
    session = shell.session
    if word == "reverse" and session.inferior.running and session.time.recording is None:
        raise CommandError("Target does not support this operation.")
    session.settings.exec_direction = str(word)


def _set_directories(shell: Shell, text: object) -> None:
    folders = [search_folder(shell, part) for part in str(text).split(":") if part]
    ends = [part for part in ("$cdir", "$cwd") if part not in folders]
    shell.session.settings.directories = list(dict.fromkeys([*folders, *ends]))


def _lane_pc_synthesis(shell: Shell) -> bool:
    return shell.session.inferior.lane_pc_synthesis


def _set_lane_pc_synthesis(shell: Shell, value: object) -> None:
    shell.session.inferior.lane_pc_synthesis = bool(value)
    shell.session.inferior.state_changed()


def _forget_sources(shell: Shell) -> None:
    shell.session.sources.forget()


def directories_line(shell: Shell) -> str:
    """Return the line of `show directories`."""
    return f"Source directories searched: {':'.join(shell.session.settings.directories)}"


def _safe_path_line(shell: Shell) -> str:
    path = shell.auto_load.safe_path
    if path and not path.strip("/:"):
        return "Auto-load files are safe to load from any directory."
    return f"List of directories from which it is safe to auto-load files is {path}."


def _evaluation_words(shell: Shell) -> str:
    mode = shell.session.settings.condition_evaluation
    return "auto (currently target)" if mode == "auto" else mode


CONDITION_EVALUATION_HELP = """\
Set mode of breakpoint condition evaluation.
auto and target: the target evaluates the conditions that it can, at the speed of its code; host: the debugger does.
Both give the same results. "info breakpoints" shows which of the two evaluates a condition."""
STEP_MODE_HELP = """\
Set mode of the step operation.

If on, "step" stops in functions without line information; if off, it steps over them."""
SCHEDULER_LOCKING_HELP = """\
Set mode for locking scheduler during execution.

off, replay: other waves run too; on: only the focused wave runs; step: like on for step commands,
otherwise like off."""
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
    # how values are shown
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
    # source and code
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
    # running
    Setting(
        "backtrace limit", COUNT, "an upper bound on the number of backtrace levels", of_engine("backtrace_limit"),
        show_help="Show the upper bound on the number of backtrace levels.",
    ),
    Setting(
        "exec-direction", Enumeration(("forward", "reverse")), "direction of execution",
        Place("exec_direction", lambda shell: shell.session.settings.exec_direction, _set_direction),
        show_help="Show direction of execution (forward/reverse).",
        line=lambda shell: f"{shell.session.settings.exec_direction.capitalize()}.",
    ),
    Setting(
        "schedule", ScheduleKind(), "interleaving of the waves of the next run", of_launch("schedule"),
    ),
    Setting(
        "args", STRING, "argument list to give program being debugged when it is started", of_program("arguments"),
        category=Category.RUNNING,
        set_help="Set argument list to give program being debugged when it is started.\n\n"
                 "A shell reads it, so that it may redirect input and output.",
        sentence='Argument list to give program being debugged when it is started is "{}".',
    ),
    Setting(
        "gpu", STRING, "GPUs of the program being debugged", of_program("gpu"), category=Category.RUNNING,
        set_help="Set GPUs of the program being debugged.\n\n"
                 "One or several, as in gfx90a or gfx90a,gfx1100. Without a value, the GPU for which its device code "
                 "was compiled.",
        sentence='GPUs of the program being debugged are "{}".',
    ),
    Setting(
        "host", Enumeration(("run", "stop")), "what host code of the program does while its GPUs are stopped",
        of_engine("host"), category=Category.RUNNING, after=lambda shell: shell.session.program_launch.hold(),
        set_help="Set what host code of the program does while its GPUs are stopped.\n\n"
                 "It continues until it waits for a kernel (run), or stops with them (stop).",
    ),
    Setting(
        "skip-runtime-kernels", BOOLEAN, "whether kernels that runtimes launch for their own purposes are hidden",
        of_engine("skip_runtime_kernels"), category=Category.RUNNING,
    ),
    Setting("record", BOOLEAN, "recording of runs, so that they can go back", of_launch("record")),
    Setting(
        "lane-pc-synthesis", BOOLEAN, "synthesis of lane positions from machine code",
        Place("lane_pc_synthesis", _lane_pc_synthesis, _set_lane_pc_synthesis),
    ),
    Setting(
        "unwindonsignal", BOOLEAN, "unwinding of stack if a signal is received while in a call dummy",
        of_engine("unwind_on_signal"),
    ),
    Setting(
        "unwind-on-terminating-exception", BOOLEAN,
        "unwind stack if a C++ exception is unhandled while in a call dummy",
        of_front_end("unwind-on-terminating-exception", True),
        set_help="Set unwinding of stack if std::terminate is called while in call dummy.",
        show_help="Show unwinding of stack if std::terminate() is called while in a call dummy.",
    ),
    Setting("step-mode", BOOLEAN, "mode of the step operation", of_engine("step_mode"), set_help=STEP_MODE_HELP),
    Setting(
        "scheduler-locking", Enumeration(("off", "on", "step", "replay")),
        "mode for locking scheduler during execution", of_engine("scheduler_locking"),
        set_help=SCHEDULER_LOCKING_HELP,
    ),
    Setting(
        "breakpoint pending", AUTO_BOOLEAN, "debugger's behavior regarding pending breakpoints",
        of_engine("pending_breakpoints"),
    ),
    Setting(
        "breakpoint condition-evaluation", Enumeration(("auto", "host", "target")),
        "breakpoint condition evaluation mode", of_engine("condition_evaluation"),
        set_help=CONDITION_EVALUATION_HELP, show_help="Show mode of breakpoint condition evaluation.",
        line=lambda shell: f"Breakpoint condition evaluation mode is {_evaluation_words(shell)}.",
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
    Setting(
        "width", COUNT, "number of characters where rocdbg should wrap lines of its output", of_front_end("width", 0),
        sentence="Number of characters rocdbg thinks are in a line is {}.",
    ),
    Setting(
        "height", COUNT, "number of lines in a page for rocdbg output pagination", of_front_end("height", 0),
        sentence="Number of lines rocdbg thinks are in a page is {}.",
    ),
    Setting(
        "confirm", BOOLEAN, "whether to confirm potentially dangerous operations", of_front_end("confirm", True),
    ),
    Setting(
        "exit-status", Enumeration(("gdb", "strict")), "the meaning of rocdbg's exit status",
        of_front_end("exit-status", "gdb"),
        set_help="Set the meaning of rocdbg's exit status.\n\n"
        "gdb: 1 with -batch if a command failed, else 0, or what -return-child-result says.\n"
        "strict: 1 as well if any launch ended badly: a buffer is not what \"expect\" says, an exception\n"
        "stopped a kernel, a program exited with another code than 0. \"quit STATUS\" decides before both.",
        sentence='The exit status of rocdbg is "{}".',
    ),
    Setting(
        "pagination", BOOLEAN, "state of rocdbg output pagination", of_front_end("pagination", True),
        sentence="State of pagination is {}.",
    ),
    Setting(
        "prompt", STRING, "rocdbg's prompt", of_front_end("prompt", "(rocdbg) "),
        sentence='rocdbg\'s prompt is "{}".',
    ),
    Setting(
        "style enabled", BOOLEAN, "whether CLI styling is enabled", STYLE, after=_colour,
        show_help="Show whether CLI is enabled.",
        line=lambda shell: f"CLI output styling is {'enabled' if STYLE.read(shell) else 'disabled'}.",
    ),
    Setting(
        "style sources", BOOLEAN, "whether source code styling is enabled", STYLE_SOURCES,
        set_help="Set whether source code styling is enabled.\nIf enabled, source code is styled.\nNote that source "
        "styling only works if styling in general is enabled,\nsee \"show style enabled\".",
        line=lambda shell: f"Source code styling is {'enabled' if STYLE_SOURCES.read(shell) else 'disabled'}.",
    ),
    Setting(
        "tui mouse-events", BOOLEAN, "whether the mouse works on the windows of the full-screen mode",
        of_front_end("tui mouse-events", True),
    ),
    Setting(
        "logging enabled", BOOLEAN, "whether the session is copied to the log file",
        Place("log", lambda shell: shell.out.log is not None, _log),
        set_help="Enable logging.\n\nThe session is copied to the log file.", line=_log_line,
        show_help="Show whether logging is enabled.",
    ),
    Setting(
        "logging file", FILE_NAME, "the current logfile", LOG_FILE,
        line=lambda shell: f'The current logfile is "{LOG_FILE.read(shell)}".',
    ),
    Setting(
        "logging overwrite", BOOLEAN, "whether logging overwrites or appends to the log file", LOG_OVERWRITE,
        line=_overwrite_line,
    ),
    Setting(
        "logging redirect", BOOLEAN, "the logging output mode", LOG_REDIRECT, line=_redirect_line,
        set_help="Set the logging output mode.\n\nIf on, output goes to the log file alone; else to the screen too.",
    ),
    # files that run automatically
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
    """Return the settings below a prefix (``logging``), by the rest of their names."""
    lead = prefix + " "
    return {setting.name.removeprefix(lead): setting for setting in SETTINGS if setting.name.startswith(lead)}


def _options(command: str) -> tuple[Option, ...]:
    """Return the options of a command that temporarily change settings of `print`."""
    return tuple(
        Option(f"-{name}", f"Set {setting.what}.", setting.kind, setting.place.field)
        for name, setting in sorted(below("print").items())
        if setting.option_of == command
    )


def _changed(shell: Shell, changes: Mapping[str, object]) -> PrintSettings:
    return shell.session.settings.print.with_changes(**changes)


PRINT_OPTIONS = OptionGroup("settings", "PrintSettings", _options("print"), _changed, "[OPTION...]")
FRAME_OPTIONS = OptionGroup("settings", "PrintSettings", _options("frame"), _changed, "[OPTION...]")
