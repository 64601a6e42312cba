"""The prompt's offers while the user types: candidates with descriptions, and no waiting for names."""

from __future__ import annotations

import io
from collections.abc import Callable

import pytest
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document

from rocdbg.cli.prompt_completer import PromptCompleter
from rocdbg.cli.shell import Shell

MakeShell = Callable[..., tuple[Shell, io.StringIO]]

TYPING = CompleteEvent(text_inserted=True)
TAB = CompleteEvent(completion_requested=True)

OFFERED = [
    # line, candidates with what stands next to them
    ("print sub", [("subtract", "static int subtract(int, int)")]),
    ("break sum", [("sum_of_squares", "static int sum_of_squares(Range)")]),
    ("info thre", [("threads", "Display currently known threads.")]),
    ("set print pret", [("pretty", "Set pretty formatting of structures.")]),
    ("break calls.", [("calls.hip", "")]),
    ("list calls.", [("calls.hip", ""), ("calls.kd", "")]),
    ("break calls.hip:30 if sum_o", [("sum_of_squares", "static int sum_of_squares(Range)")]),
]


def offered(shell: Shell, line: str, event: CompleteEvent) -> list[tuple[str, str]]:
    found = PromptCompleter(shell).get_completions(Document(line), event)
    return [(completion.text, completion.display_meta_text) for completion in found]


@pytest.mark.parametrize(("line", "expected"), OFFERED, ids=[line for line, _ in OFFERED])
def test_candidates_say_what_they_are(
    line: str, expected: list[tuple[str, str]], make_shell: MakeShell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rocdbg.cli.prompt_completer.PATIENCE", 60.0)  # however busy the machine is
    shell, _ = make_shell("calls/calls.toml")
    assert offered(shell, line, TYPING) == offered(shell, line, TAB) == expected


def test_no_popup_after_a_blank_or_a_whole_word(make_shell: MakeShell) -> None:
    shell, _ = make_shell("calls/calls.toml")
    assert offered(shell, "", TYPING) == offered(shell, "print ", TYPING) == offered(shell, "printf", TYPING) == []
    assert offered(shell, "kernel ", TAB) == [("calls", "")]


def test_typing_does_not_wait_for_names(make_shell: MakeShell) -> None:
    shell, _ = make_shell("calls/calls.toml")
    names = shell.session.inferior.need_program().names
    limits: list[float] = []
    names.advance = lambda seconds: bool(limits.append(seconds))  # type: ignore[method-assign]
    finished: list[bool] = []
    names.finish = lambda: finished.append(True)  # type: ignore[method-assign]
    offered(shell, "print su", TYPING)
    assert len(limits) == 1 and limits[0] < 0.03 and not finished
    offered(shell, "print su", TAB)
    assert finished
