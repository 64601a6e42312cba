"""`$argc`, `$argN` and `$arg*` in user-defined commands: the call prints the same as in GDB 13 (which has no `$arg*`).
"""

from __future__ import annotations

import io
from collections.abc import Callable

import pytest

from rocdbg.cli.script import Line
from rocdbg.cli.shell import Shell

MakeShell = Callable[..., tuple[Shell, io.StringIO]]

CASES = [
    # body, arguments, the text shown
    ("echo $arg0-$arg1", "a b", "a-b"),
    ("echo $argc", "a b", "2"),
    ("echo $arg*", "a b", "a b"),
    ("echo $argx", "a b", "$argx"),
    ("echo $arg10", "a b", "Missing argument 10 in user function.\n"),
    ("echo $arg10", "a b c d e f g h i j k", "k"),
    ("echo $arg0", "$arg1 b", "$arg1"),  # what represents an argument is not examined again
    ("echo $arg0", "", "Missing argument 0 in user function.\n"),
    ("if $argc > 1\necho $arg1\nelse\necho none\nend", "a", "none"),
    ('eval "echo $arg%d", $argc - 1', "a b", "b"),
]


@pytest.mark.parametrize(("body", "arguments", "wanted"), CASES, ids=[f"{case[0]} of {case[1]}" for case in CASES])
def test_arguments_of_a_user_command(body: str, arguments: str, wanted: str, make_shell: MakeShell) -> None:
    shell, text = make_shell()
    shell.execute(f"define show_it\n{body}\nend")
    shell.run_guarded(Line(f"show_it {arguments}"))
    assert text.getvalue() == wanted
