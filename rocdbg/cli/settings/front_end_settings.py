"""Settings of the prompt and of output: width, pages, history, logging, and files that run automatically."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rocdbg.cli.command_registry import CommandError
from rocdbg.cli.paths import expand
from rocdbg.cli.settings.setting_declaration import Place, Setting, of_front_end
from rocdbg.cli.settings.setting_value_kinds import (
    AUTO_BOOLEAN,
    BOOLEAN,
    COUNT,
    DEPTH,
    FILE_NAME,
    STRING,
    Enumeration,
    FileList,
    ValueKind,
)
from rocdbg.cli.standard_streams import edits_lines

if TYPE_CHECKING:
    from rocdbg.cli.shell import Shell

LOG_FILE = of_front_end("logging file", "rocdbg.txt")
LOG_REDIRECT = of_front_end("logging redirect", False)
LOG_OVERWRITE = of_front_end("logging overwrite", False)
SAFE_PATH_HELP = """\
Set the list of files and directories that are safe for auto-loading.

Various files loaded automatically for the 'set auto-load ...' options must be located in one of the directories
listed by this option. Warning will be printed and file will not be used otherwise. You can mix both directory and
filename entries. Setting this parameter to an empty list resets it to its default value. Setting this parameter to
'/' (without the quotes) allows any file for the 'set auto-load ...' options. Each path entry can be also shell
wildcard pattern; '*' does not match directory separator."""
HISTORY_FILE = of_front_end("history filename", ".rocdbg_history")
HISTORY_SAVE = of_front_end("history save", False)
HISTORY_SIZE = of_front_end("history size", 256)
"""GDB's default for input that is not typed. The prompt has other defaults: `rocdbg.cli.command_history`."""


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
        if shell.at_prompt:
            shell.line(f"{'Redirecting' if alone else 'Copying'} output to {path}.")
            debug = "Redirecting" if shell.settings.get("logging debugredirect") else "Copying"
            shell.line(f"{debug} debug output to {path}.")
        shell.out.log_alone = alone
    elif not wanted and shell.out.log is not None:
        name = shell.out.log.name
        shell.out.log.close()
        shell.out.log = None
        shell.out.log_alone = False
        if shell.at_prompt:
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


def _safe_path_line(shell: Shell) -> str:
    path = shell.auto_load.safe_path
    if path and not path.strip("/:"):
        return "Auto-load files are safe to load from any directory."
    return f"List of directories from which it is safe to auto-load files is {path}."


def _auto_load(kind: str, what: str) -> Setting:
    place = Place(
        kind, lambda shell: shell.auto_load.enabled[kind],
        lambda shell, value: shell.auto_load.enabled.__setitem__(kind, bool(value)),
    )
    return Setting(
        f"auto-load {kind}", BOOLEAN, what, place, set_help=f"Enable or disable {what}.",
        show_help=f"Show whether {what} is enabled.",
    )


def _switched(name: str, off: str, on: str, kind: ValueKind, what: str) -> Setting:
    """Declare a setting with two states, each of which `show` describes with its own sentence."""
    place = of_front_end(name, False)
    return Setting(name, kind, what, place, line=lambda shell: on if place.read(shell) else off)


def _history_file_line(shell: Shell) -> str:
    name = str(HISTORY_FILE.read(shell))
    if not name:
        return "There is no filename currently set for recording the command history in."
    return f'The filename in which to record the command history is "{Path.cwd() / name}".'


def _interactive_line(shell: Shell) -> str:
    value = of_front_end("interactive-mode", "auto").read(shell)
    if value == "auto":
        return f"Debugger's interactive mode is auto (currently {'on' if shell.interactive else 'off'})."
    return f"Debugger's interactive mode is {value}."


FRONT_END_SETTINGS = (
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
        "history size", DEPTH, "the size of the command history", HISTORY_SIZE,
        sentence="The size of the command history is {}.",
    ),
    Setting(
        "history save", BOOLEAN, "saving of the history record on exit", HISTORY_SAVE,
    ),
    Setting(
        "history filename", STRING, "the filename in which to record the command history", HISTORY_FILE,
        line=_history_file_line,
    ),
    Setting(
        "interactive-mode", AUTO_BOOLEAN, "whether rocdbg's standard input is a terminal",
        of_front_end("interactive-mode", "auto"), line=_interactive_line,
    ),
    Setting(
        "trace-commands", BOOLEAN, "tracing of rocdbg CLI commands", of_front_end("trace-commands", False),
        sentence="State of rocdbg CLI command tracing is {}.",
        show_help="Show state of rocdbg CLI command tracing.",
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
        "extended-prompt", STRING, "the extended prompt", of_front_end("extended-prompt", ""),
        line=lambda shell: (
            f"The extended prompt is: {shell.settings['extended-prompt']}"
            if shell.settings.get("extended-prompt") else "The extended prompt is not set."
        ),
    ),
)
