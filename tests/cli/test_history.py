"""The history of typed lines: a file that cannot be used causes one warning."""

from __future__ import annotations

import io
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from prompt_toolkit.history import FileHistory, InMemoryHistory

from rocdbg.cli.command_history import MAX_HISTORY, make_history
from rocdbg.cli.shell import Shell

MakeShell = Callable[..., tuple[Shell, io.StringIO]]


def test_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make_shell: MakeShell) -> None:
    monkeypatch.setenv("ROCDBG_HISTFILE", str(tmp_path / "history"))
    shell, text = make_shell()
    history = make_history(shell)

    def full(self: FileHistory, string: str) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(FileHistory, "store_string", full)
    for line in ("one", "two", "three"):
        history.append_string(line)
    assert history.get_strings() == ["one", "two", "three"]
    shell.execute("echo")
    assert text.getvalue() == (
        f"warning: history file {tmp_path}/history: No space left on device; command lines are not saved.\n"
    )


def test_kept_for_the_user_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make_shell: MakeShell
) -> None:
    monkeypatch.setenv("ROCDBG_HISTFILE", str(tmp_path / "history"))
    history = make_history(make_shell()[0])
    history.append_string("print 1")
    history.append_string("\udcff")
    assert (tmp_path / "history").stat().st_mode & 0o777 == 0o600
    assert list(make_history(make_shell()[0]).load_history_strings()) == ["?", "print 1"]


UNUSABLE = ["/nosuch/history", "/", "/dev/null", "fifo", "x" * 300]


@pytest.mark.parametrize("name", UNUSABLE)
def test_what_is_no_file(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make_shell: MakeShell
) -> None:
    monkeypatch.chdir(tmp_path)
    os.mkfifo("fifo")
    monkeypatch.setenv("ROCDBG_HISTFILE", name)
    assert isinstance(make_history(make_shell()[0]), InMemoryHistory)


def test_a_huge_one_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make_shell: MakeShell
) -> None:
    path = tmp_path / "history"
    path.touch()
    os.truncate(path, MAX_HISTORY + 1)
    monkeypatch.setenv("ROCDBG_HISTFILE", str(path))
    shell, text = make_shell()
    assert list(make_history(shell).load_history_strings()) == []
    shell.execute("echo")
    assert "File too large; command lines are not saved." in text.getvalue()


@pytest.mark.parametrize("home", ["relative", "./x"])
def test_no_home(home: str, monkeypatch: pytest.MonkeyPatch, make_shell: MakeShell) -> None:
    monkeypatch.delenv("ROCDBG_HISTFILE", raising=False)
    monkeypatch.setenv("HOME", home)
    assert isinstance(make_history(make_shell()[0]), InMemoryHistory)


# (commands before the prompt appears, commands at the prompt, what is saved, what is known of one, two, three)
SETTINGS = [
    ([], [], ["typed"], ["three", "two", "one"]),
    (["set history save off"], [], [], ["three", "two", "one"]),
    ([], ["set history save off"], [], ["three", "two", "one"]),
    (["set history size 2"], [], ["typed"], ["three", "two"]),
    (["set history size 0"], [], ["typed"], []),
    (["set history filename other"], [], ["typed"], []),
    ([], ["set history filename other"], ["typed"], ["three", "two", "one"]),
]


@pytest.mark.parametrize(("before", "at_prompt", "saved", "known"), SETTINGS)
def test_settings(
    before: list[str], at_prompt: list[str], saved: list[str], known: list[str], tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch, make_shell: MakeShell,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ROCDBG_HISTFILE", str(tmp_path / "usual"))
    history = make_history(make_shell()[0])
    for line in ("one", "two", "three"):
        history.append_string(line)
    shell, _ = make_shell()
    for command in before:
        shell.execute(command)
    history = make_history(shell)
    assert list(history.load_history_strings()) == known
    for command in at_prompt:
        shell.execute(command)
    history.append_string("typed")
    files = [path for name in ("usual", "other") if (path := tmp_path / name).exists()]
    lines = [line[1:] for path in files for line in path.read_text().splitlines() if line.startswith("+")]
    assert lines == ["one", "two", "three", *saved]
    assert (tmp_path / "other").exists() == any("filename" in command for command in (*before, *at_prompt))


def test_what_show_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make_shell: MakeShell) -> None:
    monkeypatch.setenv("ROCDBG_HISTFILE", str(tmp_path / "usual"))
    shell, text = make_shell()
    make_history(shell)
    for name in ("save", "size", "filename"):
        shell.execute(f"show history {name}")
    assert text.getvalue() == (
        "Saving of the history record on exit is on.\n"
        "The size of the command history is unlimited.\n"
        f'The filename in which to record the command history is "{tmp_path}/usual".\n'
    )
