"""The contents of windows without a terminal: every state and size gives lines of the terminal's width, and no error.
"""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from rocdbg.cli.screen.fragments import clean, columns, fitted, plain, shortened
from rocdbg.cli.screen.screen import Screen
from rocdbg.cli.screen.status import exec_picture
from rocdbg.cli.shell import Shell
from rocdbg.cli.writer import Writer
from rocdbg.debugger.session import Session

DEMOS = Path(__file__).resolve().parents[2] / "demo_kernels"


def make_screen(*lines: str, file: str | None = None) -> Screen:
    shell = Shell(Session(), Writer(io.StringIO()), Writer(io.StringIO()))
    if file is not None:
        shell.session.load(DEMOS / file)
    screen = Screen(shell)
    shell.out.stream = screen.command.stream
    for line in lines:
        shell.execute(line)
    return screen


def text(screen: Screen, width: int = 100, height: int = 30) -> str:
    screen.changed()
    return "\n".join(plain(line).rstrip() for line in screen.draw(width, height).lines)


DIVERGENCE = "divergence/divergence.toml"
STATES = {
    "no file": (None, []),
    "a file": (DIVERGENCE, []),
    "a stop": (DIVERGENCE, ["break divergence.hip:12", "run"]),
    "a frame further out": ("calls/calls.toml", ["break square", "run", "up"]),
    "the end": (DIVERGENCE, ["run"]),
    "a fault": ("wildaccess/wildaccess.toml", ["run"]),
    "lanes with places": ("extensions/nested/nested.toml", ["tbreak nested.hip:10", "run", "lane 2"]),
    "wave64 on gfx1100": ("divergence/divergence.O0.wave64.toml", ["start"]),
}


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("layout", ["src", "asm", "split", "regs", "lanes"])
def test_every_state_can_be_drawn(state: str, layout: str) -> None:
    file, commands = STATES[state]
    screen = make_screen(*commands, file=file)
    screen.set_layout(layout)
    for width, height in ((80, 24), (200, 60), (31, 9), (3, 2), (1, 1)):
        for keys in ([], ["down", "pagedown", "right"], ["pageup"]):
            for key in keys:
                screen.key(key)
            lines = screen.draw(width, height).lines
            assert [sum(columns(part) for _, part in line) for line in lines] == [width] * height
    assert "error" not in screen.shell.err.stream.getvalue()  # type: ignore[attr-defined]


def test_lanes_wait_at_places_of_their_own() -> None:
    screen = make_screen("tbreak nested.hip:10", "run", file="extensions/nested/nested.toml")
    screen.set_layout("lanes")
    shown = text(screen)
    assert " 0 [A]A b b b c c b b b A c b c b b" in shown
    assert "A nested.hip:10 20 active" in shown and "b nested.hip:7 30 waiting" in shown
    assert "c nested.hip:9 14 waiting" in shown
    for line in ("7 ▃30     │  if (x & 1) {", ">10 ▂20     │      r += 100;", " 9 ▁14     │    if (x & 2)"):
        assert line in shown, shown


def test_code_before_a_run() -> None:
    screen = make_screen(file=DIVERGENCE)
    screen.set_layout("asm")
    assert "divergence, machine code" in text(screen) and "<+0>" in text(screen)


def test_a_wave_of_32_lanes() -> None:
    screen = make_screen(file=None)
    screen.shell.session.load(DEMOS / DIVERGENCE, "gfx1100")
    screen.shell.execute("start")
    screen.set_layout("lanes")
    shown = text(screen)
    assert "16  A A A A" in shown and "\n32 " not in shown and "32/32" in shown and "waves: 4" in shown


def test_registers_mark_what_changed() -> None:
    screen = make_screen("break divergence.hip:12", "run", file=DIVERGENCE)
    screen.show_registers("vector")
    assert "*" not in text(screen).splitlines()[1]
    screen.shell.execute("next")
    shown = text(screen)
    assert "v2           *0x30        48" in shown and "v8            0x0         0" in shown  # v2 has the result


def test_listing_moves_the_source_and_a_stop_brings_it_back() -> None:
    screen = make_screen("break divergence.hip:12", "run", file=DIVERGENCE)
    assert ">12 " in text(screen, 80, 12)
    screen.shell.execute("list 40")
    assert ">12 " not in text(screen, 80, 12) and " 40 " in text(screen, 80, 12)
    screen.shell.execute("next")
    assert ">13 " in text(screen, 80, 12)


def test_a_lower_window_still_shows_the_line() -> None:
    screen = make_screen("break divergence.hip:12", "run", "next", file=DIVERGENCE)
    screen.set_layout("split")
    for height in (60, 24, 12, 9):
        shown = text(screen, 80, height).splitlines()
        assert [line[3:6] for line in shown if line[2:3] == ">"] == ["13 ", "0x7"], height


def test_chosen_lanes_are_compared() -> None:
    screen = make_screen("break divergence.hip:12", "run", "lane 6", file=DIVERGENCE)
    screen.set_layout("lanes")
    assert "lane 6         lane 11        lane 12" in text(screen, 120)
    screen.locals.chosen = (3, 35)
    shown = text(screen, 120)
    assert "lane 6         lane 3 (I)     lane 35" in shown and "value  66             ≠79            ≠58" in shown


def test_variables_of_the_compiler_do_not_shift_those_of_other_lanes() -> None:
    screen = make_screen("tbreak nested.hip:10", "run", file="extensions/nested/nested.toml")
    screen.set_layout("lanes")
    screen.locals.chosen = (1, 2)
    rows = [line.rpartition("│")[2].split() for line in text(screen, 200, 60).splitlines()]
    compared = {row[0]: row[1:] for row in rows if row and row[0] in ("x", "out", "in")}
    assert compared["x"] == ["59", "≠3", "≠38"]
    for name in ("out", "in"):
        assert compared[name][0].startswith("0x7f") and compared[name] == [compared[name][0]] * 3, compared


CLEANED = [
    ("a\tb", "a b"), ("a\nb", r"a\nb"), ("\x1b[2J", r"\033[2J"), ("\x9b1m", r"\302\2331m"),
    ("a\u202eb", r"a\342\200\256b"),
]


@pytest.mark.parametrize(("given", "shown"), CLEANED)
def test_nothing_steers_the_terminal(given: str, shown: str) -> None:
    assert clean(given) == shown
    assert plain(fitted([("", given)], 40)).rstrip() == shown


FITTED = [
    # text, width, columns left out, the text shown
    ("abc", 5, 0, "abc  "), ("abcdef", 4, 0, "abcd"), ("abcdef", 4, 3, "def "), ("中文字", 5, 0, "中文 "),
    ("中文字", 4, 2, "文字"), ("", 2, 0, "  "), ("abc", 0, 0, ""),
]


@pytest.mark.parametrize(("given", "width", "skip", "shown"), FITTED)
def test_lines_fill_their_width(given: str, width: int, skip: int, shown: str) -> None:
    assert plain(fitted([("", given)], width, skip=skip)) == shown


def test_long_texts_say_so() -> None:
    assert (shortened("abcdefghij", 8), shortened("abcdefghij", 5), shortened("abc", 3)) == ("abcde...", "abcde", "abc")


PICTURES = [
    # mask, lanes, picture: lanes 0-3 are the left column of the first character, downwards
    (0, 64, "⠀" * 8), ((1 << 64) - 1, 64, "⣿" * 8), (0x1, 8, "⠁"), (0x8, 8, "⡀"), (0x10, 8, "⠈"), (0x80, 8, "⢀"),
    (0x100, 32, "⠀⠁⠀⠀"),
]


@pytest.mark.parametrize(("mask", "lanes", "picture"), PICTURES)
def test_pictures_of_exec(mask: int, lanes: int, picture: str) -> None:
    assert exec_picture(mask, lanes, True) == picture
    assert exec_picture(mask, lanes, False) == f"{mask:0{lanes // 4}x}"


@pytest.mark.parametrize(("kind", "marks"), [("acs", "━─│"), ("ascii", "=-|"), ("space", "   ")])
def test_borders_are_of_a_kind(kind: str, marks: str) -> None:
    screen = make_screen("break divergence.hip:12", "run", f"set tui border-kind {kind}", file=DIVERGENCE)
    screen.set_layout("lanes")
    active, other, between = marks
    first = text(screen).splitlines()[0]
    assert first.startswith(f"{active} divergence.hip") and f"{between}{other} lanes of wave 1" in first


def test_the_current_line_keeps_its_colours_if_that_is_wanted() -> None:
    def styles(*lines: str) -> set[str]:
        screen = make_screen("break divergence.hip:12", "run", *lines, file=DIVERGENCE)
        screen.shell.out.colour = True
        screen.set_layout("split")
        drawn = screen.draw(100, 30).lines
        return {style.strip() for line in drawn for style, _ in line if "here" in style}

    assert styles() == {"class:here"}
    on = styles("set style tui-current-position on")
    assert {"class:here.styled class:source.number", "class:here.styled class:mnemonic"} <= on


def test_whose_exec_it_is() -> None:
    """Unoptimised code spills with all lanes on: a different mask then holds the lanes that are active in the source.
    """
    screen = make_screen("break divergence.hip:12", "run", file=DIVERGENCE)
    screen.set_layout("regs")
    assert " EXEC " in text(screen) and "of the source" not in text(screen)
    for _ in range(8):
        screen.shell.execute("stepi")
        shown = text(screen, 120)
        if "s_mov_b64 exec" in shown or " source lanes " in shown:
            break
    assert " source lanes " in shown and "9/64, EXEC 64" in shown
    assert "lanes of the source: 0x110000804009841" in shown
