"""The `rocdbg` command: it processes options as GDB does, then scripts, then the prompt."""

from __future__ import annotations

import argparse
import importlib
import os
import shlex
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from functools import partial

import rocdbg
from rocdbg.argument_parser import ArgumentParser
from rocdbg.cli import internal_errors
from rocdbg.cli.command_registry import CommandError
from rocdbg.cli.exit_status import Outcomes
from rocdbg.cli.interrupts import Signals, Terminated
from rocdbg.cli.leaving_commands import Quit
from rocdbg.cli.outermost_level import attempt
from rocdbg.cli.script import Line
from rocdbg.cli.session_theme import meet_terminal
from rocdbg.cli.shell import Shell
from rocdbg.cli.standard_streams import TerminalState
from rocdbg.cli.writer import OutputLost, Writer
from rocdbg.streams import LOST, complain, leave_at_once, with_streams

EPILOG = """\
FILE is an AMDGPU code object, an offload bundle, a host executable or library that carries one, or a launch
file (.toml). Options may be written with one dash or two, as in GDB.

  rocdbg run PROGRAM ...       run a whole program on simulated GPUs (rocdbg run --help)
  rocdbg annotate IN -o OUT    write a code object with debug information derived from its machine code
  rocdbg dwarf ...             check, print and explain DWARF (rocdbg dwarf --help)
  rocdbg llvmdi ...            check, print and lower LLVM's debug information (rocdbg llvmdi --help)
"""


class _Ordered(argparse.Action):
    """Collects -x and -ex (or -ix and -iex) in one list, in the order in which they are given."""

    def __call__(self, parser: object, namespace: object, values: object, option: str | None = None) -> None:
        kind = "file" if (option or "").lstrip("-") in ("x", "command", "ix", "init-command") else "command"
        getattr(namespace, self.dest).append((kind, values))


def make_parser() -> argparse.ArgumentParser:
    """Create the parser of the command line. Long options may have one dash or two."""
    parser = ArgumentParser(
        prog="rocdbg",
        description="Debug AMD GPU kernels without an AMD GPU.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
        add_help=False,
    )
    add = parser.add_argument
    add("file", nargs="?", metavar="FILE", help="the file to debug")
    add("-x", "--x", "-command", "--command", dest="script", action=_Ordered, default=[], metavar="FILE",
        help="run the commands of FILE")
    add("-ex", "--ex", "-eval-command", "--eval-command", dest="script", action=_Ordered, metavar="COMMAND",
        help="run one command")
    add("-ix", "--ix", "-init-command", "--init-command", dest="init", action=_Ordered, default=[],
        metavar="FILE", help="like -x, but before FILE is loaded")
    add("-iex", "--iex", "-init-eval-command", "--init-eval-command", dest="init", action=_Ordered,
        metavar="COMMAND", help="like -ex, but before FILE is loaded")
    add("-batch", "--batch", action="store_true", help="exit after the commands, with status 1 if one of them failed")
    add("-batch-silent", "--batch-silent", action="store_true", help="like -batch, but without normal output")
    add("-return-child-result", "--return-child-result", action="store_true",
        help="exit with the program's status; for a kernel, 1 if it faulted or a buffer is not as expected")
    add("-tui", "--tui", action="store_true", help="start in the full-screen mode")
    add("-nw", "--nw", "-nowindows", "--nowindows", "-w", "--w", "-windows", "--windows", dest="no_windows",
        action="store_true", help="do not use windows; accepted for scripts written for GDB")
    add("-cd", "--cd", metavar="DIR", help="change the working directory first")
    add("-d", "--d", "-directory", "--directory", dest="directories", action="append", default=[], metavar="DIR",
        help="search for source files in DIR")
    add("-p", "--p", "-pid", "--pid", dest="process", metavar="PID", help="run the command \"attach PID\"")
    add("-l", "--l", dest="timeout", metavar="SECONDS", help="run the command \"set remotetimeout SECONDS\"")
    add("-q", "-quiet", "--quiet", "-silent", "--silent", dest="quiet", action="store_true",
        help="do not print the version at the start")
    add("-nx", "--nx", "-n", dest="no_init", action="store_true", help="do not run ~/.rocdbginit")
    add("-nh", "--nh", dest="no_init", action="store_true", help=argparse.SUPPRESS)
    add(
        "-arch",
        "--arch",
        metavar="TARGET-ID",
        help="which code object to use if FILE contains several: gfx90a, gfx90a:xnack+, ...",
    )
    add("-args", "--args", nargs=argparse.REMAINDER, metavar="PROGRAM",
        help="debug a whole program, with the arguments that follow it")
    add("-gpu", "--gpu", metavar="LIST",
        help="the GPUs to simulate, such as gfx90a or gfx90a,gfx1100; by default those for which PROGRAM was compiled")
    add("-version", "--version", action="version", version=f"rocdbg {rocdbg.__version__}")
    add("-h", "-help", "--help", action="help", help="show this help")
    return parser


def run_scripts(shell: Shell, scripts: Sequence[tuple[str, str]]) -> bool:
    """Run -x files and -ex commands in order; return whether all succeeded. A failure does not stop the rest."""
    good = True
    for kind, text in scripts:
        if kind == "command":
            good = attempt(shell, partial(shell.run_guarded, Line(text))) and good
        else:
            good = attempt(shell, partial(shell.guard, partial(shell.source, text), f"source {text}")) and good
    return good


TOOLS = {"annotate": "annotate", "dwarf": "dwarf_tool", "llvmdi": "llvmdi_tool"}
"""First arguments that select a tool other than the debugger, and the module of `rocdbg.cli` with its ``run``."""


def _run_tool(arguments: list[str], owns_process: bool) -> int:
    module = importlib.import_module(f"rocdbg.cli.{TOOLS[arguments[0]]}")
    from rocdbg.cli.progress import work_shown  # imported late: other ways to start do not need it yet

    try:
        with work_shown(sys.stderr):
            status: int = module.run(arguments[1:])
    except KeyboardInterrupt:
        if owns_process:
            leave_at_once(128 + signal.SIGINT)  # before the frames of the exception release what they hold
        raise
    return status


def main(argv: Sequence[str] | None = None, interrupts: Sequence[int] = (), owns_process: bool = False) -> int:
    """Run the debugger; return the exit status. ``interrupts``: how often Ctrl-C was pressed before this was called.
    ``owns_process``: the process does nothing else afterwards, so Ctrl-C may end it here.
    """
    return with_streams(lambda: _main(sys.argv[1:] if argv is None else list(argv), interrupts, owns_process))


def _main(arguments: list[str], interrupts: Sequence[int], owns_process: bool) -> int:
    terminal = TerminalState()
    try:
        if arguments and arguments[0] in TOOLS:  # to debug a file with such a name, write ./llvmdi
            signal.signal(signal.SIGINT, signal.default_int_handler)
            if interrupts:
                raise KeyboardInterrupt
            return _run_tool(arguments, owns_process)
        options = make_parser().parse_args(arguments)
        shell = _make_shell(options)
        if options.tui and not shell.interactive:
            complain("Cannot enable the TUI when output is not a terminal")
            return 1
        shell.signals = signals = Signals(shell)
        signals.install(len(interrupts))
        try:
            status = _session(shell, options)
            _wait_for_detached(shell)
            return status
        finally:
            signals.restore()
            terminal.restore()
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    except OutputLost:
        return LOST


def _make_shell(options: argparse.Namespace) -> Shell:
    from rocdbg.debugger.session import Session

    options.batch = options.batch or options.batch_silent
    interactive = sys.stdin.isatty() and sys.stdout.isatty() and not options.batch
    colour = interactive and os.environ.get("TERM", "dumb") != "dumb" and "NO_COLOR" not in os.environ
    shell = Shell(Session(), Writer(sys.stdout, colour), Writer(sys.stderr), interactive)
    if interactive:
        meet_terminal(shell)
        from rocdbg.cli.pager import Pager

        shell.out.pager = Pager(shell, sys.stdout)
    if internal_errors.are_reported():
        shell.reports_internal_errors = True
        internal_errors.keep_stray_reports()
    if options.batch_silent:
        shell.program_out = Writer(sys.stdout)
        shell.out.redirect(open(os.devnull, "w", encoding="utf-8"), False)  # noqa: SIM115, PTH123
    if options.batch:
        shell.settings["confirm"] = False
        shell.state.batch = True
    return shell


def _session(shell: Shell, options: argparse.Namespace) -> int:
    """Run the session, from the first script to the last line."""
    outcomes = Outcomes()
    shell.session.observers.append(outcomes)
    status: int | None = None
    try:
        good = _start(shell, options)
        if options.batch:
            status = None if good else 1
        else:
            from rocdbg.cli.repl import run_prompt

            run_prompt(shell)
        shell.out.flush()
    except (Quit, Terminated) as leaving:
        status = leaving.status
        with suppress(OutputLost):
            shell.out.flush()
    except OutputLost:
        return LOST  # the output has no reader any more
    finally:
        if shell.out.log is not None:
            with suppress(OSError):
                shell.out.log.close()
    if status is None:
        status = outcomes.status(options.return_child_result, shell.settings.get("exit-status") == "strict")
    return status or int(shell.out.failure is not None)


def _wait_for_detached(shell: Shell) -> None:
    """Wait until detached programs end, because rocdbg acts as their GPU. Ctrl-C ends them."""
    program = shell.session.program_launch
    for pid in program.detached:
        complain(f"rocdbg: waiting for process {pid}, whose kernels run in rocdbg (Ctrl-C ends the process)")
    if program.detached:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        program.wait_for_detached()


def _start(shell: Shell, options: argparse.Namespace) -> bool:
    if not options.quiet and not options.batch:
        shell.out.styled([("version", f"rocdbg {rocdbg.__version__}"),
                          ("", ": debugging AMD GPU kernels without an AMD GPU.\n")])
        shell.line('For help, type "help".')
    good = True
    home = internal_errors.home_directory()
    init = home / ".rocdbginit" if home is not None else None
    if not options.no_init and init is not None and os.path.exists(init):  # noqa: PTH110 - never raises
        good = run_scripts(shell, [("file", str(init))])
    good = run_scripts(shell, options.init) and good
    good = run_scripts(shell, _settings_of(options)) and good
    if not options.no_init:
        attempt(shell, partial(shell.guard, shell.auto_load.local_init, "auto-load"))
    if options.gpu is not None:
        shell.session.program_launch.gpu = options.gpu
    if options.args is not None:

        def program() -> None:
            if not options.args:
                raise CommandError("`--args' specified but no program specified")
            shell.session.debug_program(options.args[0], shlex.join(options.args[1:]))
            if not options.quiet and not options.batch:
                shell.line(f"Reading symbols from {options.args[0]}...")

        good = attempt(shell, partial(shell.guard, program, "--args")) and good
    elif options.file is not None:

        def load() -> None:
            shell.session.load(options.file, options.arch)
            if not options.quiet and not options.batch:
                shell.line(f"Reading symbols from {options.file}...")

        loaded = attempt(shell, partial(shell.guard, load, f"file {options.file}"))
        if loaded:
            attempt(shell, partial(shell.guard, shell.auto_load.program_script, "auto-load"))
        good = loaded and good
    if options.process is not None:
        good = run_scripts(shell, [("command", f"attach {options.process}")]) and good
    return run_scripts(shell, options.script) and good


def _settings_of(options: argparse.Namespace) -> list[tuple[str, str]]:
    """Return the settings that further options stand for, as commands."""
    lines = [f"cd {options.cd}"] if options.cd is not None else []
    if options.directories:
        lines.append(f"set directories {':'.join(reversed(options.directories))}")
    if options.timeout is not None:
        lines.append(f"set remotetimeout {options.timeout}")
    if options.tui:
        lines.append("tui enable")
    return [("command", line) for line in lines]
