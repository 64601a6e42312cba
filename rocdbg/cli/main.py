"""The `rocdbg` command: options as GDB has them, then scripts, then the prompt."""

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
from rocdbg.cli.interrupts import Signals, Terminated
from rocdbg.cli.leaving_commands import Quit
from rocdbg.cli.outermost_level import attempt
from rocdbg.cli.script import Line
from rocdbg.cli.shell import Shell
from rocdbg.cli.standard_streams import TerminalState
from rocdbg.cli.writer import OutputLost, Writer
from rocdbg.streams import LOST, complain, with_streams

EPILOG = """\
FILE is an AMDGPU code object, an offload bundle, a host executable or library that carries one, or a launch
file (.toml). Options may be written with one dash or two, as in GDB.

  rocdbg run PROGRAM ...       run a whole program on simulated GPUs (rocdbg run --help)
  rocdbg annotate IN -o OUT    write a code object with debug information of what its machine code tells
  rocdbg dwarf ...             check, print and explain DWARF (rocdbg dwarf --help)
  rocdbg llvmdi ...            check, print and lower LLVM's debug information (rocdbg llvmdi --help)
"""


class _Ordered(argparse.Action):
    """Collects -x and -ex (-ix and -iex) in one list, in the order given."""

    def __call__(self, parser: object, namespace: object, values: object, option: str | None = None) -> None:
        kind = "file" if (option or "").lstrip("-") in ("x", "command", "ix", "init-command") else "command"
        getattr(namespace, self.dest).append((kind, values))


def make_parser() -> argparse.ArgumentParser:
    """The command line. Long options take one dash or two."""
    parser = ArgumentParser(
        prog="rocdbg",
        description="Debug AMD GPU kernels without an AMD GPU.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
        add_help=False,
    )
    add = parser.add_argument
    add("file", nargs="?", metavar="FILE", help="what to debug")
    add("-x", "--x", "-command", "--command", dest="script", action=_Ordered, default=[], metavar="FILE",
        help="run the commands of FILE")
    add("-ex", "--ex", "-eval-command", "--eval-command", dest="script", action=_Ordered, metavar="COMMAND",
        help="run one command")
    add("-ix", "--ix", "-init-command", "--init-command", dest="init", action=_Ordered, default=[],
        metavar="FILE", help="as -x, before FILE is loaded")
    add("-iex", "--iex", "-init-eval-command", "--init-eval-command", dest="init", action=_Ordered,
        metavar="COMMAND", help="as -ex, before FILE is loaded")
    add("-batch", "--batch", action="store_true", help="leave after the commands; status 1 if one failed")
    add("-q", "-quiet", "--quiet", "-silent", "--silent", dest="quiet", action="store_true",
        help="no version at the start")
    add("-nx", "--nx", "-n", dest="no_init", action="store_true", help="do not run ~/.rocdbginit")
    add("-nh", "--nh", dest="no_init", action="store_true", help=argparse.SUPPRESS)
    add(
        "-arch",
        "--arch",
        metavar="TARGET-ID",
        help="which code object of several: gfx90a, gfx90a:xnack+, ...",
    )
    add("-args", "--args", nargs=argparse.REMAINDER, metavar="PROGRAM",
        help="debug a whole program, with the arguments that follow it")
    add("-gpu", "--gpu", metavar="LIST",
        help="the program's GPUs: gfx90a or gfx90a,gfx1100; default: what its code is for")
    add("-version", "--version", action="version", version=f"rocdbg {rocdbg.__version__}")
    add("-h", "-help", "--help", action="help", help="this text")
    return parser


def run_scripts(shell: Shell, scripts: Sequence[tuple[str, str]]) -> bool:
    """Run -x files and -ex commands in order; whether all went well. A failure does not stop the rest."""
    good = True
    for kind, text in scripts:
        if kind == "command":
            good = attempt(shell, partial(shell.run_guarded, Line(text))) and good
        else:
            good = attempt(shell, partial(shell.guard, partial(shell.source, text), f"source {text}")) and good
    return good


TOOLS = {"annotate": "annotate", "dwarf": "dwarf_tool", "llvmdi": "llvmdi_tool"}
"""First arguments that choose another tool than the debugger, and the module of `rocdbg.cli` with its ``run``."""


def _run_tool(arguments: list[str]) -> int:
    module = importlib.import_module(f"rocdbg.cli.{TOOLS[arguments[0]]}")
    from rocdbg.cli.progress import work_shown  # late: no other start needs it yet

    with work_shown(sys.stderr):
        status: int = module.run(arguments[1:])
    return status


def main(argv: Sequence[str] | None = None, interrupts: Sequence[int] = ()) -> int:
    """Run the debugger; returns the exit status. ``interrupts``: Ctrl-C that came before this was called."""
    return with_streams(lambda: _main(sys.argv[1:] if argv is None else list(argv), interrupts))


def _main(arguments: list[str], interrupts: Sequence[int]) -> int:
    terminal = TerminalState()
    try:
        if arguments and arguments[0] in TOOLS:  # a file of such a name is ./llvmdi
            signal.signal(signal.SIGINT, signal.default_int_handler)
            if interrupts:
                raise KeyboardInterrupt
            return _run_tool(arguments)
        options = make_parser().parse_args(arguments)
        shell = _make_shell(options)
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

    interactive = sys.stdin.isatty() and sys.stdout.isatty() and not options.batch
    colour = interactive and os.environ.get("TERM", "dumb") != "dumb" and "NO_COLOR" not in os.environ
    shell = Shell(Session(), Writer(sys.stdout, colour), Writer(sys.stderr), interactive)
    if interactive:
        from rocdbg.cli.pager import Pager

        shell.out.pager = Pager(shell, sys.stdout)
    if internal_errors.are_reported():
        shell.reports_internal_errors = True
        internal_errors.keep_stray_reports()
    if options.batch:
        shell.settings["confirm"] = False
        shell.state.batch = True
    return shell


def _session(shell: Shell, options: argparse.Namespace) -> int:
    """From the first script to the last line."""
    try:
        good = _start(shell, options)
        if options.batch:
            status = 0 if good else 1
        else:
            from rocdbg.cli.repl import run_prompt

            status = run_prompt(shell, quiet=options.quiet)
        shell.out.flush()
    except (Quit, Terminated) as leaving:
        status = leaving.status
        with suppress(OutputLost):
            shell.out.flush()
    except OutputLost:
        return LOST  # the reader left; nothing more to say
    finally:
        if shell.out.log is not None:
            with suppress(OSError):
                shell.out.log.close()
    return status or int(shell.out.failure is not None)


def _wait_for_detached(shell: Shell) -> None:
    """Programs that were detached from go on to their ends: rocdbg is their GPU. Ctrl-C ends them."""
    program = shell.session.program_launch
    for pid in program.detached:
        complain(f"rocdbg: waiting for process {pid}, as its kernels run here (Ctrl-C ends it)")
    if program.detached:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        program.wait_for_detached()


def _start(shell: Shell, options: argparse.Namespace) -> bool:
    if not options.quiet and not options.batch:
        shell.line(f"rocdbg {rocdbg.__version__}: debugging AMD GPU kernels without an AMD GPU.")
        shell.line('For help, type "help".')
    good = True
    home = internal_errors.home_directory()
    init = home / ".rocdbginit" if home is not None else None
    if not options.no_init and init is not None and os.path.exists(init):  # noqa: PTH110 - never raises
        good = run_scripts(shell, [("file", str(init))])
    good = run_scripts(shell, options.init) and good
    if not options.no_init:
        attempt(shell, partial(shell.guard, shell.auto_load.local_init, "auto-load"))
    if options.gpu is not None:
        shell.session.program_launch.gpu = options.gpu
    if options.args is not None:

        def program() -> None:
            if not options.args:
                raise CommandError("--args: no program is named.")
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
    return run_scripts(shell, options.script) and good
