"""Files that the user has not named run only from the safe path; messages are GDB's."""

# ruff: noqa: E501  (messages)
from __future__ import annotations

import io
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from rocdbg.cli.autoloaded_files import AutoLoad
from rocdbg.cli.repl import run_statement
from rocdbg.cli.shell import Shell

MakeShell = Callable[..., tuple[Shell, io.StringIO]]
SAXPY = Path(__file__).resolve().parents[2] / "demo_kernels" / "saxpy" / "saxpy.O0.gfx90a.co"

SAFE = [
    # safe path, file, whether it is safe; /L is a link to /F
    ("", "F/a", False), ("/", "F/a", True), (":/", "F/a", True), ("F", "F/a", True), ("F/", "F/a", True),
    ("F/a", "F/a", True), ("F", "FF/a", False), ("F/b", "F/a", False), ("F/*", "F/a", True),
    ("*/a", "F/a", True), ("*/c", "F/b/c", False), ("F/*", "F/b/c", True), ("F/?", "F/a", True),
    ("F/[a]", "F/a", False), ("L", "F/a", True), ("F", "L/a", True), ("L/b", "F/a", False),
    ("FF", "L/a", False), ("F/../F", "F/a", True), ("FF:F", "F/a", True), ("F/b/../..", "F/a", True),
    ("F/a/", "F/a", True), ("F*", "FF/a", True),
]


@pytest.mark.parametrize(("safe_path", "file", "safe"), SAFE)
def test_the_safe_path(safe_path: str, file: str, safe: bool, tmp_path: Path, make_shell: MakeShell) -> None:
    for name in ("F/b/c", "F/a", "FF/a"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / "L").symlink_to(tmp_path / "F")
    auto_load = AutoLoad(make_shell()[0])
    entries = [entry if entry in ("", "/") else str(tmp_path / entry) for entry in safe_path.split(":")]
    auto_load.safe_path = ":".join(entries)
    assert auto_load.is_safe(tmp_path / file) is safe


def run(shell: Shell, *lines: str) -> None:
    for line in lines:
        run_statement(shell, line, lambda prompt: "end")


@pytest.fixture(name="folder")
def folder_fixture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home, and a current folder with a program and with scripts that print when they run."""
    home, folder = tmp_path / "home", tmp_path / "here"
    home.mkdir()
    folder.mkdir()
    shutil.copy(SAXPY, folder / "k.co")
    (folder / ".rocdbginit").write_text("echo LOCAL\\n\n")
    (folder / "k.co-rocdbg.rocdbg").write_text("echo SCRIPT\\n\n")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.chdir(folder)
    return folder


DECLINED = """\
warning: File "FILE" auto-loading has been declined by your `auto-load safe-path' set to "HOME/.config/rocdbg/auto-load".
To enable execution of this file add
\tadd-auto-load-safe-path FILE
line to your configuration file "HOME/.rocdbginit".
To completely disable this security protection add
\tset auto-load safe-path /
line to your configuration file "HOME/.rocdbginit".
"""


def test_declined(folder: Path, make_shell: MakeShell) -> None:
    shell, text = make_shell()
    shell.auto_load.local_init()
    run(shell, "file k.co")
    home = str(folder.parent / "home")
    local = DECLINED.replace("FILE", str(folder / ".rocdbginit")).replace("HOME", home)
    script = DECLINED.replace("FILE", str(folder / "k.co-rocdbg.rocdbg")).replace("HOME", home)
    assert text.getvalue() == local + "Reading symbols from k.co...\n" + script
    run(shell, "info auto-load")
    assert text.getvalue().endswith(
        f'local-rocdbginit:  Local .rocdbginit file "{folder}/.rocdbginit" has not been loaded.\n'
        f"rocdbg-scripts:\nLoaded  Script\nNo      {folder}/k.co-rocdbg.rocdbg\n"
    )


ALLOWING = ["add-auto-load-safe-path .", "set auto-load safe-path /", "add-auto-load-safe-path ~/../here"]


@pytest.mark.parametrize("line", ALLOWING)
def test_allowed(line: str, folder: Path, make_shell: MakeShell) -> None:
    shell, text = make_shell()
    run(shell, line)
    shell.auto_load.local_init()
    run(shell, "file k.co")
    assert text.getvalue() == "LOCAL\nReading symbols from k.co...\nSCRIPT\n"


def test_switched_off(folder: Path, make_shell: MakeShell) -> None:
    shell, text = make_shell()
    run(shell, "set auto-load local-rocdbginit off", "set auto-load rocdbg-scripts off", "show auto-load")
    shell.auto_load.local_init()
    run(shell, "file k.co")
    own = [line + "\n" for line in text.getvalue().splitlines() if "rocdbg" in line or "k.co" in line]
    assert "".join(own) == (
        "auto-load local-rocdbginit:  Auto-loading of .rocdbginit script from current directory is off.\n"
        "auto-load rocdbg-scripts:  Auto-loading of canned sequences of commands scripts is off.\n"
        f"auto-load safe-path:  List of directories from which it is safe to auto-load files is {folder.parent}/home/.config/rocdbg/auto-load.\n"
        "Reading symbols from k.co...\n"
    )


def test_settings(folder: Path, make_shell: MakeShell) -> None:
    shell, text = make_shell()
    run(shell, "add-auto-load-safe-path", "set auto-load safe-path x:/y", "show auto-load safe-path",
        "set auto-load safe-path", "show auto-load safe-path", "set auto-load safe-path /", "show auto-load safe-path")
    assert text.getvalue() == (
        "Directory argument required.\n"
        "Use 'set auto-load safe-path /' for disabling the auto-load safe-path security.\n"
        f"List of directories from which it is safe to auto-load files is {folder}/x:/y.\n"
        f"List of directories from which it is safe to auto-load files is {folder.parent}/home/.config/rocdbg/auto-load.\n"
        "Auto-load files are safe to load from any directory.\n"
    )


def test_the_file_that_was_checked_is_the_one_that_runs(
    folder: Path, make_shell: MakeShell, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A link to a safe file may lead to another file after the check."""
    safe, other = folder.parent / "safe", folder.parent / "other"
    safe.write_text("echo SAFE\\n\n")
    other.write_text("echo OTHER\\n\n")
    init = folder / ".rocdbginit"
    init.unlink()
    init.symlink_to(safe)
    shell, out = make_shell()
    shell.auto_load.safe_path = str(safe)
    check = AutoLoad.is_safe

    def check_and_change(self: AutoLoad, file: Path) -> bool:
        found = check(self, file)
        init.unlink()
        init.symlink_to(other)
        return found

    monkeypatch.setattr(AutoLoad, "is_safe", check_and_change)
    shell.auto_load.local_init()
    assert out.getvalue() == "SAFE\n"
