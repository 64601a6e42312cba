"""The full-screen mode: whole screens of the real program, at two sizes.

The screens are in golden/; ROCDBG_UPDATE_GOLDEN=1 writes them again. Each line of a file is a line of the terminal.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.breadth import in_turn
from tests.screen.terminal import ROOT, Terminal

GOLDEN = Path(__file__).parent / "golden"
DEMO = "demo_kernels/divergence/divergence.toml"
SIZES = [(80, 24), (200, 60)]


@pytest.fixture(name="open_demo")
def open_demo_fixture(tmp_path: Path) -> Iterator[Callable[..., Terminal]]:
    """Starts the program with the divergence demo, stopped at a place that only a few lanes reach."""
    opened: list[Terminal] = []

    def start(columns: int, lines: int, *commands: str, **environment: str) -> Terminal:
        arguments = [DEMO]
        for command in ("break divergence.hip:12", "run", *commands):
            arguments += ["-ex", command]
        terminal = Terminal(arguments, columns, lines, tmp_path, **environment)
        opened.append(terminal)
        return terminal

    yield start
    for terminal in opened:
        terminal.__exit__()


def check(name: str, shown: str) -> None:
    path = GOLDEN / f"{name}.txt"
    if os.environ.get("ROCDBG_UPDATE_GOLDEN"):
        path.write_text(shown, encoding="utf-8")
    assert shown == path.read_text(encoding="utf-8")


@pytest.mark.truth
@pytest.mark.parametrize(("layout", "size"), in_turn(["src", "asm", "split", "regs", "lanes"], SIZES))
def test_layouts(open_demo: Callable[..., Terminal], layout: str, size: tuple[int, int]) -> None:
    columns, lines = size
    with_window = {"src": "9 of 64 lanes", "asm": "machine code", "split": "machine code", "regs": "registers: general",
                   "lanes": "[A]"}
    terminal = open_demo(columns, lines, f"layout {layout}")
    terminal.wait_for(with_window[layout])
    terminal.wait_for("(rocdbg)")
    terminal.command("lane 11", "lane 11 ")
    check(f"{layout}_{columns}x{lines}", terminal.command("next", "13 "))


def test_a_resize(open_demo: Callable[..., Terminal]) -> None:
    terminal = open_demo(80, 24, "layout lanes")
    terminal.wait_for("[A]")
    terminal.command("info win", "status         1      80")
    terminal.resize(100, 34)
    terminal.wait(lambda shown: len(max(shown.splitlines(), key=len)) > 90 and "2 (1,0,0)/0" in shown)
    check("resized_to_100x34", terminal.command("p value", "$1 = 88"))
    terminal.resize(40, 12)
    terminal.wait(lambda shown: len(shown.splitlines()) == 12 and "lane 0" in shown)
    check("resized_to_40x12", terminal.command("p value", "$2 = 88"))
    terminal.resize(7, 3)  # nothing fits, nothing breaks
    terminal.wait(lambda shown: max(map(len, shown.splitlines())) <= 7)
    terminal.resize(80, 24)
    terminal.wait_for("[A]")
    terminal.command("p value + 1", "$3 = 89")


def test_the_lane_map_is_walked_and_clicked(open_demo: Callable[..., Terminal]) -> None:
    terminal = open_demo(80, 24, "layout lanes", "focus lanes")
    terminal.wait_for("(rocdbg)")
    terminal.type("\x1b[C" * 6)  # right, to lane 6
    terminal.type("\r")
    terminal.wait_for("wave 1 lane 6 ")
    terminal.type("\x1b[B\r")  # down, to the lane below it
    terminal.wait_for("wave 1 lane 22 ")
    row, line = next((row, line) for row, line in enumerate(terminal.text().splitlines()) if "│48  " in line)
    terminal.click(line.index("48  ") + 3 + 2 * 4, row)  # lane 52
    terminal.wait_for("wave 1 lane 52 ")
    row = next(row for row, line in enumerate(terminal.text().splitlines()) if "2 (1,0,0)/0" in line)
    terminal.click(60, row)
    check("clicked_80x24", terminal.wait_for("group (1,0,0) wave 2 lane 0"))


def test_keys_change_layout_and_focus_and_leave(open_demo: Callable[..., Terminal]) -> None:
    terminal = open_demo(80, 24)
    terminal.wait_for("(rocdbg)")
    terminal.type("print val\x18a")  # Ctrl-X A: what was typed stays
    terminal.wait_for("━ divergence.hip")
    terminal.wait_for("(rocdbg) print val")
    terminal.type("\x182")
    terminal.wait_for("machine code")
    terminal.type("\x18o")
    terminal.wait_for("━ divergence, machine code")
    terminal.type("\x181")
    terminal.wait(lambda shown: "divergence.hip  9 of" in shown and "machine code" not in shown)
    terminal.type("ue\r")
    terminal.wait_for("$1 = 88")
    terminal.type("\x1b[5~" * 3)  # page up: to the file's beginning
    terminal.wait_for("// Lanes part ways")
    terminal.command("update")
    terminal.wait_for("B+>12")
    terminal.type("\x18a")
    terminal.wait(lambda shown: "━" not in shown and "(rocdbg)" in shown)
    assert b"\x1b[?1049l" in terminal.raw  # what was on the terminal before is back


def test_commands_of_the_windows(open_demo: Callable[..., Terminal]) -> None:
    """Each command about windows has its effect on the screen."""
    terminal = open_demo(100, 30)
    terminal.wait_for("(rocdbg)")
    terminal.type("tui enable\r")
    terminal.wait_for("━ divergence.hip")
    terminal.command("- 9 src", "    1 ")
    terminal.command("+ 2", "    3 ")
    terminal.command("+ nosuch", "Unrecognized window `nosuch'")
    terminal.command("- asm", "Window is not visible")
    assert "extern" not in terminal.command("< 4", 'rn "C" __global__')
    terminal.command("> 4", 'extern "C" __global__')
    terminal.command("update", "B+>12")
    for command, seen in (
        ("tui layout asm", "machine code"), ("tui layout split", "divergence.hip"),
        ("tui layout regs", "registers: general"), ("tui reg vector", "registers: vector"),
        ("tui layout lanes", "lanes of wave"), ("tui compare 3 7", "lane 7"),
        ("tui window width src 40", "lanes of wave"), ("tui layout next", "divergence.hip"),
        ("tui layout prev", "lanes of wave"), ("tui layout src", "divergence.hip"),
        ("tui layout", "Command name abbreviations"), ("tui new-layout mine src 1 status 1 cmd 1", ""),
        ("layout mine", "divergence.hip"), ("tui focus cmd", "Focus set to cmd window."),
        ("tui window height src 9", ""), ("tui refresh", ""), ("info win", "src            9     100"),
    ):
        terminal.command(command, seen)
    terminal.type("tui disable\r")
    terminal.wait(lambda shown: "━" not in shown and "(rocdbg)" in shown)
    left = terminal.raw.rindex(b"\x1b[?1049l")
    assert terminal.raw.rindex(b"\x1b[?7h", 0, left) > terminal.raw.rindex(b"\x1b[?7l", 0, left)  # lines wrap again


def test_a_question_is_no_command_line(open_demo: Callable[..., Terminal]) -> None:
    """Answers to a question open no block and are not in the history, which the question does not offer either."""
    for commands in ((), ("layout src",)):
        terminal = open_demo(80, 24, *commands)
        terminal.wait_for("(rocdbg)")
        terminal.type("start\r")
        terminal.wait_for("(y or n)")
        terminal.type("define x\r")
        terminal.wait_for("Please answer y or n.")
        terminal.type("\x1b[A")
        terminal.type("n\r")
        terminal.wait_for("(y or n) n\n(rocdbg)")
        terminal.type("\x1b[A")  # the command before the question
        terminal.wait_for("\n(rocdbg) start")


def test_a_long_run_tells_how_far_it_is(tmp_path: Path) -> None:
    """The progress is in the status line; a new terminal size takes effect during the run."""
    folder = ROOT / "demo_kernels" / "mandelbrot"
    text = (folder / "mandelbrot.toml").read_text().replace("value = 100\n", "value = 2000000000\n")
    text = text.replace('file = "', f'file = "{folder}/').replace("file:", f"file:{folder}/")
    (tmp_path / "long.toml").write_text(text)
    with Terminal([str(tmp_path / "long.toml"), "-ex", "layout src"], 100, 24, tmp_path) as terminal:
        terminal.wait_for("(rocdbg)")
        terminal.type("run\r")
        terminal.wait_while_running("running (Ctrl-C stops it): ")
        terminal.resize(80, 20)
        terminal.wait_while_running("running (Ctrl-C stops it): ")
        terminal.type("\x03")
        terminal.wait_for("received signal SIGINT")
        # Wherever the wave is: with EXEC of the source, or at an instruction where EXEC is another mask.
        terminal.wait(lambda shown: " EXEC ▕" in shown or " source lanes ▕" in shown, "the lanes of the stop")


def test_the_mouse_sets_breakpoints_and_scrolls(open_demo: Callable[..., Terminal]) -> None:
    terminal = open_demo(80, 24, "layout src")
    terminal.wait_for("B+>12")
    row = next(row for row, line in enumerate(terminal.text().splitlines()) if line.startswith("   17 "))
    terminal.click(3, row)
    terminal.wait_for("b+ 17")
    terminal.wait_for("Breakpoint 2 at")
    terminal.click(3, row)
    terminal.wait_for("Deleted breakpoint 2")
    terminal.wait(lambda shown: "b+ 17" not in shown)
    terminal.type("\x1b[<65;20;5M")  # the wheel, downwards
    terminal.wait(lambda shown: "    5 " not in shown and "   22 " in shown)


def test_questions_blocks_and_errors_are_below_the_windows(open_demo: Callable[..., Terminal]) -> None:
    terminal = open_demo(80, 24, "layout src")
    terminal.wait_for("(rocdbg)")
    terminal.command("frobnicate", 'Undefined command: "frobnicate".  Try "help".')
    terminal.command("focus nosuch", 'Unrecognized window name "nosuch"')
    terminal.type("start\r")
    terminal.wait_for("Start it from the beginning? (y or n)")
    terminal.type("n\r")
    terminal.wait_for("(y or n) n\n(rocdbg)")
    terminal.type("define twice\r")
    terminal.type("print value * 2\r")
    terminal.type("end\r")
    terminal.wait_for(">end\n(rocdbg)")
    check("block_80x24", terminal.command("twice", "$1 = 176"))


def test_names_of_files_do_not_steer_the_terminal(tmp_path: Path) -> None:
    script = tmp_path / "x.rocdbg"
    script.write_text("echo \\033[2Jhidden\\n\ntui enable\n")
    with Terminal(["-x", str(script), DEMO], 80, 24, tmp_path) as terminal:
        terminal.wait_for("not running")
        shown = terminal.command("echo \\033]0;title\\007end\\n", "end")
        assert "\\033]0;title" in shown and b"\x1b]0;title" not in terminal.raw


@pytest.mark.parametrize("term", ["dumb", "unknown"])
def test_a_dumb_terminal_has_lines_only(tmp_path: Path, term: str) -> None:
    with Terminal([DEMO], 80, 24, tmp_path, TERM=term) as terminal:
        terminal.wait_for("(rocdbg)")
        shown = terminal.command("tui enable", "Cannot enable the TUI: terminal doesn't support cursor addressing")
        terminal.command("break 12", "Breakpoint 1 at")
        assert b"\x1b[" not in terminal.raw and "not running" not in shown


def test_without_colours_and_without_unicode(open_demo: Callable[..., Terminal]) -> None:
    terminal = open_demo(80, 24, "layout lanes", NO_COLOR="1", LANG="C", LC_ALL="C", PYTHONUTF8="0",
                         PYTHONCOERCECLOCALE="0")
    terminal.wait_for("[A]")
    shown = terminal.wait_for("(rocdbg)")
    assert shown.isascii()
    colours = {cell.fg for row in terminal.screen.buffer.values() for cell in row.values()}
    assert colours == {"default"}
    check("ascii_80x24", shown)
