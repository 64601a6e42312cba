"""`search` and `reverse-search` in the twelve lines of saxpy.hip: the output equals GDB 13's."""

from __future__ import annotations

import io
from collections.abc import Callable

import pytest

from rocdbg.cli.script import Line
from rocdbg.cli.shell import Shell

MakeShell = Callable[..., tuple[Shell, io.StringIO]]
LINE_7 = "7\t    int i = global_x();\n"
LINE_8 = "8\t    if (i < n) {\n"
LINE_9 = "9\t        float product = a * x[i];\n"
LINE_11 = "11\t    }\n"
LINE_12 = "12\t}\n"

CASES: list[tuple[list[str], str]] = [
    # commands, what the last one shows
    (["search global_x"], LINE_7),
    (["search if ("], LINE_8),
    (["search if \\("], "Unmatched ( or \\(\n"),
    (["list 7,9", "search ."], LINE_8),
    (["list 7,9", "reverse-search ^$"], "4\t\n"),
    (["search }", "search"], LINE_12),
    (["fo }", "fo }", "rev }"], LINE_11),
    (["search }", "search", "search"], "Expression not found\n"),
    (["list 12,12", "search ."], "Expression not found\n"),
    (["list 1,1", "reverse-search ."], "Expression not found\n"),
    (["reverse-search ."], "Expression not found\n"),
    (["search"], "No previous regular expression\n"),
    (["reverse-search"], "No previous regular expression\n"),
    (["list 8,8", "search nosuch", "search i <"], "Expression not found\n"),  # that listing is still the last one
    (["search product =", "print $_"], "$1 = 9\n"),
    (["set listsize 2", "search product =", "list"], LINE_8 + LINE_9),
    (["set listsize 2", "search product =", "list -"], LINE_7 + LINE_8),
]


@pytest.mark.parametrize(("lines", "wanted"), CASES, ids=["; ".join(lines) for lines, _ in CASES])
def test_search(lines: list[str], wanted: str, make_shell: MakeShell) -> None:
    shell, text = make_shell("saxpy/saxpy.toml")
    for line in lines:
        text.seek(0)
        text.truncate()
        shell.run_guarded(Line(line))
    assert text.getvalue() == wanted
