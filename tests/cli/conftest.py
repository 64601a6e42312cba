"""Golden sessions: text files of commands and their output, as they appear at the prompt.

A file begins with comment lines (``# ...``) and directives: ``%file PATH`` (relative to ``demo_kernels/``), ``%arch
TARGET``, ``%plugin NAME``. Commands follow the prompt ``(rocdbg) ``, and further lines of a block follow ``>``. Below
each command is its output, including errors and warnings, ended by a newline. ``ROCDBG_UPDATE_GOLDEN=1 pytest tests/cli
tests/plugins`` writes the files again; read the difference before committing it.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from rocdbg.cli.leaving_commands import Quit
from rocdbg.cli.repl import run_statement
from rocdbg.cli.shell import Shell
from rocdbg.cli.writer import Writer
from rocdbg.debugger.session import Session

ROOT = Path(__file__).resolve().parents[2]
DEMOS = ROOT / "demo_kernels"
PROMPT = "(rocdbg) "


@dataclass
class Script:
    """The part of a golden file that is written by hand."""

    head: list[str] = field(default_factory=list)
    file: str | None = None
    arch: str | None = None
    plugins: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)  # with their prompts


def read_script(text: str) -> Script:
    """The directives and input lines of a golden file."""
    script = Script()
    for line in text.splitlines():
        if not script.lines and line.startswith(("#", "%")):
            script.head.append(line)
            word, _, rest = line.partition(" ")
            if word == "%file":
                script.file = rest
            elif word == "%arch":
                script.arch = rest
            elif word == "%plugin":
                script.plugins.append(rest)
        elif line.startswith((PROMPT, ">")):
            script.lines.append(line)
    return script


def make_shell(file: str | None = None, arch: str | None = None) -> tuple[Shell, io.StringIO]:
    """A shell that writes output and errors to one text, with a demo loaded."""
    text = io.StringIO()
    shell = Shell(Session(), Writer(text), Writer(text))
    if file is not None:
        shell.session.load(DEMOS / file, arch)
    return shell, text


def normalise(text: str) -> str:
    """Text without paths of the machine."""
    return text.replace(str(ROOT), "<root>")


def run(script: Script) -> str:
    """The current output of a golden file's commands, in the form of the file."""
    shell, text = make_shell(script.file, script.arch)
    for plugin in script.plugins:
        shell.session.plugins.load(plugin)
    lines: Iterator[str] = iter(script.lines)

    def more(prompt: str) -> str:
        line = next(lines)
        text.write(line + "\n")
        return line.removeprefix(">").lstrip()

    for line in lines:
        text.write(("" if shell.out.at_line_start else "\n") + line + "\n")
        shell.out.at_line_start = True
        try:
            run_statement(shell, line.removeprefix(PROMPT.rstrip()).strip(), more)
        except Quit:
            break
    head = "".join(line + "\n" for line in script.head)
    return head + normalise(text.getvalue())


@pytest.fixture(name="run_golden")
def run_golden_fixture() -> Callable[[str], str]:
    """The current output of a golden file's commands, in the form of the file."""
    return lambda text: run(read_script(text))


@pytest.fixture(name="make_shell")
def make_shell_fixture() -> Callable[..., tuple[Shell, io.StringIO]]:
    """`make_shell`: a shell with a demo loaded, and the text it writes."""
    return make_shell
