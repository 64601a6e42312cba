"""Terminals that programs drive, as DejaGnu drives GDB: pexpect sends lines; the output is compared in bytes."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import pexpect
import pytest

from rocdbg.cli.terminal_query import Answer, understood, without_answers
from tests.screen.terminal import PATIENCE, ROOT

DEMO = "demo_kernels/divergence/divergence.toml"
PROMPT = "(rocdbg) "


def spawn(folder: Path, *arguments: str, **environment: str) -> pexpect.spawn:
    return pexpect.spawn(
        sys.executable, ["-m", "rocdbg", "-nx", "-q", *arguments], cwd=str(ROOT), timeout=PATIENCE,
        env={**os.environ, "HOME": str(folder), "PYTHONPATH": str(ROOT), "LANG": "C.UTF-8", **environment},
    )


def answer(child: pexpect.spawn, line: str, prompt: str = PROMPT) -> bytes:
    """The output between a line and the next prompt."""
    child.sendline(line)
    child.expect_exact(prompt)
    assert child.before is not None
    return child.before


def test_a_dumb_terminal_is_driven_as_gdb_is(tmp_path: Path) -> None:
    child = spawn(tmp_path, DEMO, TERM="dumb")
    child.expect_exact(PROMPT)
    assert child.before == b"Reading symbols from " + DEMO.encode() + b"...\r\n" or child.before == b""
    assert answer(child, "print 1") == b"print 1\r\n$1 = 1\r\n"
    assert answer(child, "show editing") == b"show editing\r\nEditing of command lines as they are typed is off.\r\n"
    assert re.fullmatch(rb"break 12\r\nBreakpoint 1 at 0x[0-9a-f]+: file divergence\.hip, line 12\.\r\n",
                        answer(child, "break 12"))
    assert answer(child, "define twice", ">") == (
        b'define twice\r\nType commands for definition of "twice".\r\nEnd with a line saying just "end".\r\n')
    assert answer(child, "print 2 * $arg0", ">") == b"print 2 * $arg0\r\n"
    assert answer(child, "end") == b"end\r\n"
    assert answer(child, "twice 21") == b"twice 21\r\n$2 = 42\r\n"
    stopped = answer(child, "run")
    assert stopped.startswith(b"run\r\nStarting ") and stopped.count(b"run\r\n") == 1
    child.send("start\nn\n")  # ahead of the question
    child.expect_exact("(y or n) ")
    child.expect_exact(PROMPT)
    assert answer(child, "set prompt (gpu) ", "\r\n(gpu) ") == b"set prompt (gpu) "
    child.sendintr()
    child.expect_exact("Quit\r\n(gpu) ")
    child.sendline("quit")
    child.expect_exact("Quit anyway? (y or n) ")
    child.sendline("y")
    child.expect(pexpect.EOF)
    assert child.before == b"y\r\n"


def test_a_terminal_that_does_not_answer_gets_no_escapes(tmp_path: Path) -> None:
    child = spawn(tmp_path, DEMO, TERM="xterm-256color")
    child.sendline("print 1")  # while the terminal is asked, or before
    child.expect_exact("$1 = 1\r\n" + PROMPT)
    assert answer(child, "list 12,12") == b"list 12,12\r\n12\t            result = value - 40;\r\n"
    assert answer(child, "info line 12").count(b"\x1b") == 0
    child.sendeof()
    child.expect(pexpect.EOF)
    assert child.before == b"quit\r\n"


@pytest.mark.parametrize(("background", "theme"), [(b"ffff/ffff/dddd", b"light"), (b"0000/2b2b/3636", b"dark")])
def test_the_theme_is_that_of_the_background(background: bytes, theme: bytes, tmp_path: Path) -> None:
    child = spawn(tmp_path, "-ex", "show style theme", TERM="xterm-256color", COLORFGBG="", NO_COLOR="1")
    child.expect_exact(b"\x1b]11;?\x1b\\\x1b[6n")
    child.send(b"\x1b]11;rgb:" + background + b"\x1b\\\x1b[1;1R")
    child.expect_exact(b'The style theme is "auto" (currently "' + theme + b'").\r\n')
    child.close(force=True)


@pytest.mark.parametrize(
    ("data", "answer"),
    [
        (b"", Answer(False)),
        (b"\x1b[24;1R", Answer(True)),
        (b"\x1b]11;rgb:ffff/ffff/ffff\x1b\\\x1b[1;1R", Answer(True, (1.0, 1.0, 1.0))),
        (b"\x1b]11;rgb:00/00/00\x07\x1b[1;1R", Answer(True, (0.0, 0.0, 0.0))),
        (b"\x1b]11;rgba:0000/0000/0000/ffff\x07\x1b[1;1R", Answer(True, (0.0, 0.0, 0.0))),
        (b"\x1b]11;#ff0000\x1b\\\x1b[1;1R", Answer(True, (1.0, 0.0, 0.0))),
        (b"run\n\x1b]11;rgb:f/f/0\x1b\\li\x1b[10;2Rst\n", Answer(True, (1.0, 1.0, 0.0), b"run\nlist\n")),
        (b"\x1b]11;what?\x1b\\\x1b[1;1R", Answer(True)),
        (b"\x1b]11;rgb:ffff/ffff", Answer(False, None, b"\x1b]11;rgb:ffff/ffff")),
        (b"\x1b[A", Answer(False, None, b"\x1b[A")),
    ],
)
def test_answers_are_understood(data: bytes, answer: Answer) -> None:
    assert understood(data) == answer


def test_an_answer_that_comes_late_is_no_command() -> None:
    assert without_answers("\x1b]11;rgb:0000/0000/0000\x1b\\\x1b[24;1Rprint 1") == "print 1"
    assert without_answers("print \udcff") == "print \udcff"
