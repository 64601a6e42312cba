"""`rocdbg.Debugger`: the session for Python programs."""

from __future__ import annotations

import contextlib
import gc
import weakref
from pathlib import Path

import pytest

import rocdbg

DEMOS = Path(__file__).resolve().parents[2] / "demo_kernels"


def test_a_session(capsys: pytest.CaptureFixture[str]) -> None:
    debugger = rocdbg.Debugger(DEMOS / "saxpy" / "saxpy.toml")
    assert debugger.execute("tbreak 8", to_string=True) == (
        "Temporary breakpoint 1 at 0x1c50: file saxpy.hip, line 8.\n"
    )
    text = debugger.execute("run\nprint i\nlane 5\nprint i", to_string=True)
    assert text.splitlines()[-1] == "$2 = 5"
    assert debugger.execute("print i + 1") is None
    assert capsys.readouterr().out == "$3 = 6\n"
    assert debugger.session.focus.current.lane == 5


def test_errors_raise_and_keep_what_went_before() -> None:
    debugger = rocdbg.Debugger()
    with pytest.raises(rocdbg.Error, match="No symbol table is loaded"):
        debugger.execute("set $x = 3\nprint nosuch\nset $x = 4", to_string=True)
    assert debugger.execute("print $x", to_string=True) == "$1 = 3\n"


def test_another_target() -> None:
    debugger = rocdbg.Debugger(str(DEMOS / "saxpy" / "saxpy.toml"), arch="gfx1100")
    assert "gfx1100" in debugger.execute("info files", to_string=True)


def test_what_cannot_be_loaded_raises() -> None:
    with pytest.raises(rocdbg.Error, match="/nosuch"):
        rocdbg.Debugger("/nosuch")


def test_quit_ends_the_dispatch_only() -> None:
    debugger = rocdbg.Debugger(DEMOS / "saxpy" / "saxpy.toml")
    assert debugger.execute("start\necho bye\\n\nquit", to_string=True).endswith("bye\n")
    assert debugger.session.inferior.target is None
    assert debugger.execute("info threads", to_string=True) == "No threads.\n"


def test_two_sessions_do_not_know_of_each_other() -> None:
    one, other = (rocdbg.Debugger(DEMOS / "saxpy" / "saxpy.toml") for _ in range(2))
    one.execute("tbreak 8\nrun", to_string=True)
    assert other.execute("info threads\ninfo breakpoints", to_string=True) == (
        "No threads.\nNo breakpoints or watchpoints.\n"
    )


@pytest.mark.parametrize(
    ("demo", "commands"),
    [
        ("saxpy", "start\nnext\ninfo locals\nptype product\nbreak 10 if product > 3\ncontinue\nreverse-next"),
        ("reduce", "start\nnext\ninfo locals\nwatch total\nbt\ninfo lanes\nfinish"),
        ("spaces", "start\nnext 3\ninfo locals\ndisassemble\nx/4i $pc\nrecord goto begin\ncontinue"),
    ],
)
def test_a_dropped_session_goes(demo: str, commands: str) -> None:
    """The session's machine and program are freed with the session."""
    debugger = rocdbg.Debugger(DEMOS / demo / f"{demo}.toml")
    for command in commands.splitlines():
        with contextlib.suppress(rocdbg.Error):
            debugger.execute(command, to_string=True)
    gone = weakref.ref(debugger.session), weakref.ref(debugger.session.symbols.program)
    del debugger
    gc.collect()
    assert [each() for each in gone] == [None, None]
