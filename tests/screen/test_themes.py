"""Themes: every text of every theme is legible on common palettes, and settings have their effect."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping

import pytest

from rocdbg.cli.commands.full_screen import screen_of
from rocdbg.cli.session_theme import (
    TRUE_COLOUR,
    Look,
    colours_of,
    is_light,
    light_by_environment,
    restyle,
    roles,
    theme_name,
)
from rocdbg.cli.shell import Shell
from rocdbg.cli.themes import ANSI, NAMES, Style, instruction_parts, theme
from rocdbg.cli.toolkit_style import theme_style
from rocdbg.cli.writer import Writer
from rocdbg.debugger.session import Session
from rocdbg.errors import Error
from tests.screen.palettes import PALETTES, Palette, contrast, luminance

LEAST = 4.5
ON_CURRENT = ("source.", "mnemonic", "register", "immediate", "comment", "function")
"""Roles of text on the current line."""
ON_STATUS = ("status.",)


def is_dark(palette: Palette) -> bool:
    return luminance(palette.background) < 0.18


def value(colour: str, palette: Palette, default: str) -> str:
    if not colour or colour.startswith("#"):
        return colour or default
    name = colour.removeprefix("bright")
    return palette.ansi[ANSI.index(name) + 8 * colour.startswith("bright")]


def ratio(style: Style, palette: Palette, text: str, background: str) -> float:
    assert not style.dim, "half as bright is half as legible"
    return contrast(value(style.foreground, palette, text), value(style.background, palette, background))


def shown(styles: Mapping[str, Style], palette: Palette, is_screen: bool) -> Iterator[tuple[str, float]]:
    """Each text of a theme with its contrast, on the terminal's background and on the theme's own backgrounds."""
    base = styles.get("text", Style()) if is_screen else Style()
    text, ground = value(base.foreground, palette, palette.text), value(base.background, palette, palette.background)
    for role, style in styles.items():
        if role == "text" and not is_screen:
            continue
        yield role, ratio(style, palette, text, ground)
        for backgrounds, there in ((("here.styled",), ON_CURRENT), (("status",), ON_STATUS)):
            for name in backgrounds:
                if role.startswith(there) and is_screen:
                    behind = styles[name]
                    yield f"{role} on {name}", ratio(
                        style, palette, value(behind.foreground, palette, text),
                        value(behind.background, palette, ground))


@pytest.mark.parametrize("palette", PALETTES, ids=lambda palette: palette.name)
@pytest.mark.parametrize("colours", [2, 16, 256, TRUE_COLOUR])
@pytest.mark.parametrize("name", NAMES)
def test_every_text_is_legible(name: str, colours: int, palette: Palette) -> None:
    if name in ("dark", "light") and is_dark(palette) != (name == "dark"):
        return  # made for other backgrounds
    styles = theme(name, not is_dark(palette)).roles(colours)
    own = contrast(palette.text, palette.background)
    for is_screen in (False, True):
        for role, found in shown(styles, palette, is_screen):
            # what has the terminal's own colours is as legible as all that it shows
            assert found >= min(LEAST, own), (role, found)
            if colours >= 256 and styles[role.partition(" ")[0]].foreground:
                assert found >= (7 if name == "high-contrast" and is_screen and " on " not in role else LEAST), role


@pytest.mark.parametrize("palette", PALETTES, ids=lambda palette: palette.name)
def test_the_current_line_is_seen(palette: Palette) -> None:
    here = theme("light" if not is_dark(palette) else "dark", False).roles(256)["here"]
    assert contrast(here.background, palette.background) >= 1.25
    assert all(theme(name, light).roles(16)["here"].reverse for name in NAMES for light in (False, True))


def test_256_colours_and_all_of_them_are_the_same() -> None:
    for name in NAMES:
        for light in (False, True):
            for style in theme(name, light).roles(256).values():
                for colour in (style.foreground, style.background):
                    if colour:
                        code = Style(colour).escape(256).removeprefix("\x1b[38;5;").removesuffix("m")
                        assert value_of_256(int(code)) == colour


def value_of_256(number: int) -> str:
    """A colour of xterm's table."""
    if number >= 232:
        return "#" + f"{8 + 10 * (number - 232):02x}" * 3
    steps = (0, 95, 135, 175, 215, 255)
    red, rest = divmod(number - 16, 36)
    return "#" + "".join(f"{steps[step]:02x}" for step in (red, *divmod(rest, 6)))


def a_shell(colours: int = 256, on_light: bool | None = None) -> Shell:
    shell = Shell(Session(), Writer(io.StringIO(), True))
    shell.look = Look(colours, on_light)
    restyle(shell)
    return shell


@pytest.mark.parametrize(
    ("on_light", "command", "theme", "file"),
    [
        (None, "show style theme", "dark", "\x1b[38;5;114m"),
        (False, "show style theme", "dark", "\x1b[38;5;114m"),
        (True, "show style theme", "light", "\x1b[38;5;22m"),
        (True, "set style theme dark", "dark", "\x1b[38;5;114m"),
        (None, "set style theme light", "light", "\x1b[38;5;22m"),
        (None, "set style theme high-contrast", "high-contrast", "\x1b[38;5;83m"),
        (True, "set style theme high-contrast", "high-contrast", "\x1b[38;5;22m"),
        (None, "set style theme plain", "plain", ""),
        (None, "set style filename foreground red", "dark", "\x1b[31m"),
        (None, "set style filename foreground none", "dark", ""),
        (None, "set style filename background blue", "dark", "\x1b[38;5;114;44m"),
        (None, "set style filename intensity bold", "dark", "\x1b[1;38;5;114m"),
        (None, "set style filename intensity dim", "dark", "\x1b[2;38;5;114m"),
    ],
)
def test_settings(on_light: bool | None, command: str, theme: str, file: str) -> None:
    shell = a_shell(on_light=on_light)
    shell.execute(command)
    assert theme_name(shell) == theme
    written = shell.out.render([("file", "k.hip")])
    assert written == (f"{file}k.hip\x1b[m" if file else "k.hip")


def test_both_screens_follow_a_setting() -> None:
    shell = a_shell()
    style = theme_style(shell, full_screen=True)
    before = style.get_attrs_for_style_str("class:tui-border")
    shell.execute("set style tui-border foreground red\nset tui border-mode bold\nset tui active-border-mode reverse")
    after = style.get_attrs_for_style_str("class:tui-border")
    assert (before.color, before.bold, after.color, after.bold) == ("5fd7d7", False, "ansired", True)
    assert style.get_attrs_for_style_str("class:tui-active-border").reverse
    assert style.get_attrs_for_style_str("").color == "d0d0d0", "text without a style"
    at_prompt = theme_style(shell, full_screen=False)
    assert not at_prompt.get_attrs_for_style_str("").color, "the terminal's own colour"
    shell.execute("set style enabled off")
    assert not style.get_attrs_for_style_str("class:file").color
    assert not shell.out.colour


def test_what_was_written_before_follows_too() -> None:
    shell = a_shell()
    screen = screen_of(shell)
    screen.command.write(shell.out.render([("file", "k.hip"), ("", ":"), ("function", "f")]) + "\n")
    shell.execute("set style theme light")
    [line] = screen.command.lines(screen.view, 20, 1)
    assert line == [*[("#005f00", letter) for letter in "k.hip"], ("", ":"), ("#5f00af", "f")]
    shell.execute("set style theme plain")
    [line] = screen.command.lines(screen.view, 20, 1)
    assert {style for style, _ in line} == {""} and "".join(text for _, text in line) == "k.hip:f"


def test_few_colours_are_not_exceeded() -> None:
    shell = a_shell(colours=8)
    assert all(not each.foreground.startswith("#") for each in roles(shell).values())
    shell.look = Look(TRUE_COLOUR)
    restyle(shell)
    assert shell.out.palette["file"] == "\x1b[38;2;135;215;135m"


def test_a_theme_that_is_none() -> None:
    with pytest.raises(Error, match='Undefined item: "dracula"'):
        a_shell().execute("set style theme dracula")


@pytest.mark.parametrize(
    ("environment", "colours", "light"),
    [
        ({"TERM": "xterm-256color"}, 256, None),
        ({"TERM": "xterm", "COLORTERM": "truecolor"}, TRUE_COLOUR, None),
        ({"TERM": "xterm-direct"}, TRUE_COLOUR, None),
        ({"TERM": "linux"}, 16, False),
        ({"TERM": "vt100", "COLORFGBG": "15;0"}, 2, False),
        ({"TERM": "xterm-256color", "COLORFGBG": "0;default;15"}, 256, True),
        ({"TERM": "xterm-256color", "COLORFGBG": "0;7"}, 256, True),
        ({"TERM": "xterm-256color", "COLORFGBG": "0;default"}, 256, None),
        ({"TERM": "no such terminal"}, 16, None),
    ],
)
def test_what_the_environment_tells(environment: Mapping[str, str], colours: int, light: bool | None) -> None:
    assert colours_of(environment) == colours
    assert light_by_environment(environment) is light


def test_every_palette_is_taken_for_what_it_is() -> None:
    for palette in PALETTES:
        shares = [int(palette.background[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        assert is_light(*shares) is not is_dark(palette)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("s_endpgm", "mnemonic:s_endpgm"),
        ("v_add_u32_e32 v1, 0x40, v[2:3]", "mnemonic:v_add_u32_e32 register:v1 immediate:0x40 register:v[2:3]"),
        ("s_cbranch_scc1 L <k+20>", "mnemonic:s_cbranch_scc1 function:<k+20>"),
        ("v_mul v0, -1.0, vcc_lo ; x", "mnemonic:v_mul register:v0 immediate:-1.0 register:vcc_lo comment:; x"),
        ("s_load s[0:1], s[4:5], 0x10", "mnemonic:s_load register:s[0:1] register:s[4:5] immediate:0x10"),
    ],
)
def test_instructions_have_parts(text: str, parts: str) -> None:
    found = instruction_parts(text)
    assert "".join(part for _, part in found) == text
    assert " ".join(f"{role}:{part}" for role, part in found if role) == parts
