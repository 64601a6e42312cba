"""A golden session with every command: given by -batch and -ex, and typed at a terminal that cannot redraw.

`walk/every_command.txt` has the commands after prompts, each with its output for typed input. ROCDBG_UPDATE_GOLDEN=1
updates the output from -batch, which lacks the lines that are printed only at a terminal. Commands of the full screen's
windows are in `test_full_screen.py`.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from rocdbg.cli.command_registry import Category, Registry
from rocdbg.cli.commands import add_all
from rocdbg.errors import Error
from tests.screen.terminal import Terminal

ROOT = Path(__file__).resolve().parents[2]
WALK = Path(__file__).parent / "walk" / "every_command.txt"
PROMPT = "(rocdbg) "
MARK = "--next--"
DIFFERENT = {
    "help our command", "show commands", "show version", "show convenience",
}
"""Commands whose output depends on the terminal or on the machine."""

TYPED: dict[str, str | tuple[str, ...]] = {
    "cd": "Working directory ", "ignore": "Will stop next time ", "starti": "Starting kernel ",
    "start": "Starting kernel ", "run": "Starting kernel ", "continue": "Continuing.", "jump": "Continuing at ",
    "finish": "Run till exit from ", "clear": "Deleted breakpoint ", "display": "1: range.low = 3",
    "handle": ("Signal ", "SIG"), "reverse-continue": "Continuing.", "reverse-finish": "Run back to call of ",
    "signal": "Continuing with ", "directory": "Source directories ",
    "set": ("Copying ", "Done logging "),
}
"""The beginnings of lines that these commands print for typed input but not in a script, as in GDB."""


def of_script(command: str, answer: str) -> str:
    """An answer without the lines that are printed only for typed input."""
    lead = TYPED.get(command.split()[0], "")
    return "".join(line for line in answer.splitlines(keepends=True) if not lead or not line.startswith(lead))


def statements() -> list[list[str]]:
    """The lines of each command; a block has several."""
    found: list[list[str]] = []
    for line in WALK.read_text(encoding="utf-8").splitlines():
        if line.startswith(PROMPT):
            found.append([line.removeprefix(PROMPT)])
        elif line.startswith(">"):
            found[-1].append(line[1:])
    return found


def expected() -> list[str]:
    """The expected output of each command."""
    answers: list[str] = []
    for line in WALK.read_text(encoding="utf-8").splitlines():
        if line.startswith(PROMPT):
            answers.append("")
        elif not line.startswith(">"):
            answers[-1] += line + "\n"
    return answers


@pytest.fixture(name="folder")
def folder_fixture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty current folder, with a link ``demo`` to the demo kernels."""
    (tmp_path / "demo").symlink_to(ROOT / "demo_kernels")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("EDITOR", "true")
    return tmp_path


def seen(text: str, folder: Path) -> str:
    """An answer without the parts that differ each time."""
    text = text.replace(str(folder), "<folder>").replace(str(ROOT), "<root>")
    text = re.sub(r"^block\d+:\d+: Error in sourced command file:\n", "", text)
    return re.sub(r"(?<=started at )[0-9.]+", "<time>", text)


def in_batch(folder: Path) -> list[str]:
    """The output of each command on the command line; blocks come from files."""
    arguments = []
    for number, lines in enumerate(statements()):
        command = lines[0]
        if len(lines) > 1:
            command = f"source block{number}"
            (folder / f"block{number}").write_text("\n".join(lines) + "\n")
        arguments += ["-ex", command, "-ex", f"echo {MARK}\\n"]
    above = {name: text for name, text in os.environ.items() if name not in ("MAKELEVEL", "MAKEFLAGS")}  # "make[1]:"
    done = subprocess.run(
        [sys.executable, "-m", "rocdbg", "-nx", "-q", "-batch", *arguments], cwd=folder, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300, check=False,
        env={**above, "PYTHONPATH": str(ROOT), "HOME": str(folder)},
    )
    return [seen(text, folder) for text in done.stdout.split(f"{MARK}\n")[:-1]]


def test_every_command_in_batch(folder: Path) -> None:
    answers = in_batch(folder)
    if os.environ.get("ROCDBG_UPDATE_GOLDEN"):
        parts = []
        for lines, given, old in zip(statements(), answers, expected(), strict=True):
            answer = old if given.rstrip() == of_script(lines[0], old).rstrip() else given
            typed = PROMPT + "\n>".join(lines) + "\n"
            parts.append(typed + answer + ("" if not answer or answer.endswith("\n") else "\n"))
        WALK.write_text("".join(parts), encoding="utf-8")
    wanted = [of_script(lines[0], answer) for lines, answer in zip(statements(), expected(), strict=True)]
    assert [f"{answer.rstrip()}\n" for answer in answers] == [f"{answer.rstrip()}\n" for answer in wanted]


def test_every_command_at_a_terminal(folder: Path) -> None:
    with Terminal([], 200, 24, folder, where=folder, TERM="dumb", EDITOR="true") as terminal:
        terminal.wait_for_prompt(PROMPT)
        wrong = []
        for lines, answer in zip(statements(), expected(), strict=True):
            got = ""
            for line, lead in zip(lines, [*["\n>"] * (len(lines) - 1), PROMPT], strict=True):
                got = terminal.say(line, lead)
            if lines[0] not in DIFFERENT and seen(got, folder).rstrip() != answer.rstrip():
                wrong.append((lines[0], answer, got))
        assert not wrong, "\n".join(map(repr, wrong))


def declared() -> Iterator[str]:
    """The commands, except those that only report that they do not apply."""
    registry = Registry()
    add_all(registry)
    for spec in registry.specs():
        if not spec.hidden and not spec.is_setting and spec.category is not Category.TUI:
            yield spec.name


def test_every_command_is_there() -> None:
    registry = Registry()
    add_all(registry)
    met = {"define", "document", "if", "while", "quit"}
    met |= {"info", "show"}  # `golden/help.txt` has their lists
    for lines in statements():
        for line in lines:
            line = line.removeprefix("help ") if line.startswith("help function ") else line
            try:
                met.add(registry.find(line).spec.name)
            except Error:
                continue  # a command of the walk's own
    assert sorted(set(declared()) - met) == []
