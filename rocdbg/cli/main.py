"""The `rocdbg` command: options as GDB has them, then scripts, then the prompt."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import rocdbg
from rocdbg.cli.script import Line
from rocdbg.cli.shell import Quit, Shell
from rocdbg.cli.writer import Writer
from rocdbg.errors import Error

EPILOG = """\
FILE is an AMDGPU code object, an offload bundle, a host executable or library that carries one, or a launch
file (.toml). Options may be written with one dash or two, as in GDB.
"""


class _Ordered(argparse.Action):
    """Collects -x and -ex (-ix and -iex) in one list, in the order given."""

    def __call__(self, parser: object, namespace: object, values: object, option: str | None = None) -> None:
        kind = "file" if (option or "").lstrip("-") in ("x", "command", "ix", "init-command") else "command"
        getattr(namespace, self.dest).append((kind, values))


def make_parser() -> argparse.ArgumentParser:
    """The command line. Long options take one dash or two."""
    parser = argparse.ArgumentParser(
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
        help="run the commands of FILE")  # fmt: skip
    add("-ex", "--ex", "-eval-command", "--eval-command", dest="script", action=_Ordered, metavar="COMMAND",
        help="run one command")  # fmt: skip
    add("-ix", "--ix", "-init-command", "--init-command", dest="init", action=_Ordered, default=[],
        metavar="FILE", help="as -x, before FILE is loaded")  # fmt: skip
    add("-iex", "--iex", "-init-eval-command", "--init-eval-command", dest="init", action=_Ordered,
        metavar="COMMAND", help="as -ex, before FILE is loaded")  # fmt: skip
    add("-batch", "--batch", action="store_true", help="leave after the commands; status 1 if one failed")
    add("-q", "-quiet", "--quiet", "-silent", "--silent", dest="quiet", action="store_true",
        help="no version at the start")  # fmt: skip
    add("-nx", "--nx", "-n", dest="no_init", action="store_true", help="do not run ~/.rocdbginit")
    add("-nh", "--nh", dest="no_init", action="store_true", help=argparse.SUPPRESS)
    add(
        "-arch",
        "--arch",
        metavar="TARGET-ID",
        help="which code object of several: gfx90a, gfx90a:xnack+, ...",
    )
    add("-version", "--version", action="version", version=f"rocdbg {rocdbg.__version__}")
    add("-h", "-help", "--help", action="help", help="this text")
    return parser


def run_scripts(shell: Shell, scripts: Sequence[tuple[str, str]]) -> bool:
    """Run -x files and -ex commands in order; whether all went well. A failure does not stop the rest."""
    good = True
    for kind, text in scripts:
        if kind == "command":
            good = shell.run_guarded(Line(text)) and good
            continue
        try:
            shell.source(text)
        except Error as error:
            shell.report(error)
            good = False
        shell.out.flush()
    return good


def main(argv: Sequence[str] | None = None) -> int:
    """Run the debugger; returns the exit status."""
    options = make_parser().parse_args(argv)
    from rocdbg.debugger.session import Session

    interactive = sys.stdin.isatty() and sys.stdout.isatty() and not options.batch
    colour = interactive and os.environ.get("TERM", "dumb") != "dumb" and "NO_COLOR" not in os.environ
    shell = Shell(Session(), Writer(sys.stdout, colour), Writer(sys.stderr), interactive)
    if options.batch:
        shell.settings["confirm"] = False
    try:
        good = _start(shell, options)
        if options.batch:
            return 0 if good else 1
        from rocdbg.cli.repl import run_prompt

        return run_prompt(shell, quiet=options.quiet)
    except Quit as quit_request:
        return quit_request.status
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # the reader left; nothing more to say
        return 1


def _start(shell: Shell, options: argparse.Namespace) -> bool:
    if not options.quiet and not options.batch:
        shell.line(f"rocdbg {rocdbg.__version__}: debugging AMD GPU kernels without an AMD GPU.")
        shell.line('For help, type "help".')
    init = Path.home() / ".rocdbginit"
    good = True
    if not options.no_init and init.exists():
        good = run_scripts(shell, [("file", str(init))])
    good = run_scripts(shell, options.init) and good
    if options.file is not None:
        try:
            shell.session.load(options.file, options.arch)
            if not options.quiet and not options.batch:
                shell.line(f"Reading symbols from {options.file}...")
        except Error as error:
            shell.report(error)
            good = False
    return run_scripts(shell, options.script) and good
