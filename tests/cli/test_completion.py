"""The candidates of TAB: commands, sub-commands, options, symbols, members, files."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import pytest

from rocdbg.cli.line_completion import complete_line
from rocdbg.cli.shell import Shell

MakeShell = Callable[..., tuple[Shell, io.StringIO]]

STATIC = [
    # line up to the cursor, lines it completes to
    ("disas", ["disassemble"]),
    ("info dis", ["info dispatches", "info display"]),
    ("inf", ["inferior", "info"]),
    ("lane app", ["lane apply"]),
    ("info lanes -in", ["info lanes -inactive"]),
    ("lane apply -a", ["lane apply -active", "lane apply -all"]),
    ("help lane f", ["help lane find"]),
    ("set print pre", ["set print pretty"]),
    ("break through", ["break through_generic"]),
    ("break spaces.h", ["break spaces.hip"]),
    ("list weig", ["list weights"]),
    ("print weig", ["print weights"]),
    ("print 1 + weig", ["print 1 + weights"]),
    ("print $_lane_", ["print $_lane_active", "print $_lane_count", "print $_lane_workgroup_pos"]),
    ("print 1", []),
    ("print 0x1", []),
    ("up 1", []),
    ("up weig", ["up weights"]),
    ("print -pr", ["print -pretty"]),
    ("print -array -el", ["print -array -elements"]),
    ("print -pretty o", ["print -pretty off", "print -pretty on"]),
    ("print -pretty -- weig", ["print -pretty -- weights"]),
    ("print /x weig", ["print /x weights"]),
    ("print /x -pr", []),
    ("print 3 - weig", ["print 3 - weights"]),
    ("set print elements u", ["set print elements unlimited"]),
    ("set breakpoint pending ", [f"set breakpoint pending {word}" for word in ("auto", "off", "on")]),
    ("set scheduler-locking re", ["set scheduler-locking replay"]),
    ("backtrace fu", ["backtrace full"]),
    ("backtrace -frame-arguments s", ["backtrace -frame-arguments scalars"]),
    ("frame apply al", ["frame apply all"]),
    ("frame apply all -q backtr", ["frame apply all -q backtrace"]),
    ("lane apply 0-3 -active print weig", ["lane apply 0-3 -active print weights"]),
    ("maint dwarf eval -dialect p", ["maint dwarf eval -dialect proposal2020"]),
    ("ptype Nod", ["ptype Node"]),
    ("ptype struct No", ["ptype struct Node"]),
    ("ptype enum ", ["ptype enum Shade"]),
    ("print sizeof(struct Pi", ["print sizeof(struct Pixel"]),
    ("print DA", ["print DARK"]),
    ("print loca", ["print local#"]),
    ("x/4xw private_lane3", ["x/4xw private_lane3#", *(f"x/4xw private_lane3{digit}#" for digit in range(10))]),
    ("print *(int *) private_w", ["print *(int *) private_wave#"]),
    ("lane 1", []),
    ("layout la", ["layout lanes"]),
    ("focus lo", ["focus locals"]),
    ("tui reg v", ["tui reg vector"]),
    ("set tui mouse-events o", ["set tui mouse-events off", "set tui mouse-events on"]),
    ("kernel s", ["kernel spaces"]),
    ("frobnicate x", []),
    ("print )", []),
]


@pytest.mark.parametrize(("line", "lines"), STATIC, ids=[case[0] for case in STATIC])
def test_without_a_process(line: str, lines: list[str], make_shell: MakeShell) -> None:
    shell, _ = make_shell("spaces/spaces.toml")
    start, words = complete_line(shell, line)
    assert [line[:start] + word for word in words] == lines


def test_locals_and_members(make_shell: MakeShell) -> None:
    shell, _ = make_shell("spaces/spaces.toml")
    shell.execute("tbreak 44\nrun")
    for line, lines in [
        ("print from_", ["print from_constant", "print from_lds", "print from_private"]),
        ("print nodes[0].pi", ["print nodes[0].pixel"]),
        ("print nodes->m", ["print nodes->marked", "print nodes->middle"]),
        ("print nodes[0].pixel.", [f"print nodes[0].pixel.{m}" for m in ("blue", "green", "red", "shade")]),
        ("info registers exe", [f"info registers exec{part}" for part in ("", "_hi", "_lo", "z")]),
        ("print $ttmp1", [f"print $ttmp1{digit}" for digit in ("", *"012345")]),
        ("print $v1.", []),
        ("set var hop", ["set var hops"]),
        ("lane 62", ["lane 62"]),
        ("thread 1:62", ["thread 1:62"]),
    ]:
        start, words = complete_line(shell, line)
        found = [line[:start] + word for word in words]
        assert found == lines


def test_halves_of_registers(make_shell: MakeShell) -> None:
    shell, _ = make_shell("saxpy/saxpy.toml", "gfx1100")
    shell.execute("tbreak saxpy\nrun")
    line = "print $v1."
    start, words = complete_line(shell, line)
    assert [line[:start] + word for word in words] == ["print $v1.h", "print $v1.l"]


def test_files(tmp_path: Path, make_shell: MakeShell, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "kernel.co").touch()
    (tmp_path / "kernels").mkdir()
    (tmp_path / ".hidden").touch()
    monkeypatch.chdir(tmp_path)
    shell, _ = make_shell()
    assert complete_line(shell, "file ker") == (5, ["kernel.co", "kernels/"])
    assert complete_line(shell, "source ") == (7, ["kernel.co", "kernels/"])
    assert complete_line(shell, f"file {tmp_path}/kernel.") == (5, [f"{tmp_path}/kernel.co"])


def test_nothing_is_loaded(make_shell: MakeShell) -> None:
    shell, _ = make_shell()
    for line in ("print fo", "break fo", "ptype fo", "info registers e", "kernel "):
        complete_line(shell, line)
