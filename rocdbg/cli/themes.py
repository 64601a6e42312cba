"""Themes: how each kind of text looks, on terminals with few or many colours.

A theme gives every role (``file``, ``here``, ``source.comment``) a style. On terminals with 256 colours or more, themes
use only colours whose values a terminal's colour scheme does not change. Each of these has a contrast of at least 4.5
(WCAG 2.2, 1.4.3) with the backgrounds of common colour schemes, and with the background that the theme itself puts
behind it. The values of the sixteen ANSI colours are not reliable: with these, nearly all differences are in bold,
underlined and reversed text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from msgspec import Struct

ANSI = ("black", "red", "green", "yellow", "blue", "magenta", "cyan", "white")
"""The colours in GDB's settings, in the order of their numbers."""
CUBE = (0, 95, 135, 175, 215, 255)
"""The intensities in the colour cube of terminals with 256 colours."""


class Style(Struct, frozen=True):
    """A style. Its colours are ``""`` (the terminal's own), a name in `ANSI`, ``bright`` and such a name, or
    ``#rrggbb``.
    """

    foreground: str = ""
    background: str = ""
    bold: bool = False
    dim: bool = False
    underline: bool = False
    reverse: bool = False

    def escape(self, colours: int) -> str:
        """Return the sequence that begins such text on a terminal with this many colours; ``""`` for plain text."""
        codes = [code for on, code in (
            (self.bold, "1"), (self.dim, "2"), (self.underline, "4"), (self.reverse, "7"),
        ) if on]
        codes += [_code(colour, shift, colours) for colour, shift in ((self.foreground, 0), (self.background, 10))
                  if colour and colours > 1]
        return f"\x1b[{';'.join(codes)}m" if codes else ""

    def words(self) -> str:
        """Return the style in prompt_toolkit's notation, in which ``none`` is the terminal's own colour."""
        found = []
        if self.foreground:
            found.append(f"fg:{_toolkit_name(self.foreground)}")
        if self.background:
            found.append(f"bg:{_toolkit_name(self.background)}")
        found += [name for on, name in (
            (self.bold, "bold"), (self.dim, "dim"), (self.underline, "underline"), (self.reverse, "reverse"),
        ) if on]
        return " ".join(found)


def _toolkit_name(colour: str) -> str:
    if colour.startswith("#"):
        return colour
    if colour.startswith("bright"):
        name = colour.removeprefix("bright")
        return {"black": "ansibrightblack", "white": "ansiwhite"}.get(name, f"ansibright{name}")
    return {"white": "ansigray"}.get(colour, f"ansi{colour}")


def _code(colour: str, shift: int, colours: int) -> str:
    if colour.startswith("#"):
        red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
        if colours > 256:
            return f"{38 + shift};2;{red};{green};{blue}"
        return f"{38 + shift};5;{_index(red, green, blue)}"
    bright = colour.startswith("bright")
    return str((90 if bright else 30) + shift + ANSI.index(colour.removeprefix("bright")))


def _index(red: int, green: int, blue: int) -> int:
    """Return the number, among 256 colours, of a colour of the cube or of a grey."""
    if red == green == blue and red not in CUBE:
        return 232 + (red - 8) // 10
    return 16 + 36 * CUBE.index(red) + 6 * CUBE.index(green) + CUBE.index(blue)


def style(text: str) -> Style:
    """Parse a style as written in the tables below: ``#ffd75f bold bg:#444444``."""
    foreground = background = ""
    attributes = set()
    for word in text.split():
        if word.startswith("bg:"):
            background = word.removeprefix("bg:")
        elif word in ("bold", "dim", "underline", "reverse"):
            attributes.add(word)
        else:
            foreground = word
    return Style(foreground, background, **dict.fromkeys(attributes, True))


class Theme(Struct, frozen=True):
    """A theme for a light or a dark background. A role that is not in a table looks like other text.

    Attributes:
        rich: the styles for 256 colours or more; ``text`` is for text without a role, coloured only by the full screen.
        basic: the styles for sixteen colours.
    """

    rich: Mapping[str, Style]
    basic: Mapping[str, Style]

    def roles(self, colours: int) -> Mapping[str, Style]:
        """Return the styles for a terminal with this many colours; with one colour, they consist of attributes only."""
        if colours >= 256:
            return self.rich
        return self.basic if colours > 2 else _PLAIN


def _table(text: str) -> dict[str, Style]:
    found = {}
    for line in text.strip().splitlines():
        roles, _, words = line.partition("=")
        for role in roles.split():
            found[role] = style(words)
    return found


_PLAIN = _table("""
title command title.focus current breakpoint changed active selected mnemonic status.strong version = bold
differs head = underline
highlight = bold underline
here here.styled cursor status = reverse
""")
_DARK = _table("""
text = #d0d0d0
file source.string status.file place0 = #87d787
function source.label place1 = #ffd75f
variable source.type register place3 = #5fd7d7
address immediate source.number source.builtin place4 = #afafff
source.keyword mnemonic = #87d7ff
source.preprocessor source.name place2 = #d7afff
highlight changed breakpoint = #ffafaf bold
place5 = #ffaf87
differs = #ffd75f underline
metadata comment source.comment dim number others rule = #b2b2b2
title command active selected = bold
head = underline
version = #d7afff bold
tui-border = #5fd7d7
tui-active-border = #5fd7d7 bold
current = #87d787 bold
here here.styled = #d0d0d0 bg:#444444
cursor = #1c1c1c bg:#d0d0d0
status = #d0d0d0 bg:#444444
status.strong = bold
status.function = #ffd75f
status.exec = #5fd7d7
menu = #d0d0d0 bg:#444444
menu.current = #1c1c1c bg:#d0d0d0
""")
_LIGHT = _table("""
text = #1c1c1c
file source.string status.file place0 = #005f00
function source.label = #5f00af
place1 = #875f00
variable source.type register place3 = #005f5f
address immediate source.number source.builtin place4 = #0000af
source.keyword mnemonic = #00005f
source.preprocessor source.name place2 = #870087
highlight changed breakpoint = #af0000 bold
place5 = #af0000
differs = #875f00 underline
metadata comment source.comment dim number others rule = #4e4e4e
title command active selected = bold
head = underline
version = #870087 bold
tui-border = #005f5f
tui-active-border = #005f5f bold
current = #005f00 bold
here here.styled = #1c1c1c bg:#d0d0d0
cursor = #ffffff bg:#4e4e4e
status = #1c1c1c bg:#d0d0d0
status.strong = bold
status.function = #5f00af
status.exec = #005f5f
menu = #1c1c1c bg:#d0d0d0
menu.current = #ffffff bg:#4e4e4e
""")
_CONTRAST_DARK = _table("""
text = #ffffff bg:#000000
file source.string place0 = #5fff5f
function source.label place1 differs = #ffff00 bold
variable source.type register place3 tui-border = #5fffff
tui-active-border = #5fffff bold
address immediate source.number place4 = #afd7ff
source.keyword mnemonic = #ffffff bold
source.preprocessor source.name source.builtin version place2 = #ffafff
highlight changed breakpoint place5 = #ffaf87 bold
metadata comment source.comment dim number others rule = #d7d7d7
title command active selected = bold
head = underline
current = #ffff00 bold
here cursor = #000000 bg:#ffff00
here.styled = #ffffff bg:#00005f
status menu = #000000 bg:#ffffff
status.strong = bold
menu.current = #000000 bg:#ffff00
""")
_CONTRAST_LIGHT = _table("""
text = #000000 bg:#ffffff
file source.string place0 = #005f00
function source.label place1 differs = #5f00af bold
variable source.type register place3 tui-border = #00005f
tui-active-border = #00005f bold
address immediate source.number place4 = #0000af
source.keyword mnemonic = #000000 bold
source.preprocessor source.name source.builtin version place2 = #5f005f
highlight changed breakpoint place5 = #870000 bold
metadata comment source.comment dim number others rule = #303030
title command active selected = bold
head = underline
current = #00005f bold
here cursor = #ffffff bg:#00005f
here.styled = #000000 bg:#d7d7ff
status menu = #ffffff bg:#000000
status.strong = bold
menu.current = #ffffff bg:#00005f
""")
_BASIC_DARK = _PLAIN | _table("""
variable register status.exec tui-border place3 = brightcyan
tui-active-border = brightcyan bold
function = bold
file = underline
""")
_BASIC_LIGHT = _PLAIN | _table("""
function = bold
file = underline
""")

NAMES = ("dark", "light", "high-contrast", "plain")
_THEMES = {
    ("dark", False): Theme(_DARK, _BASIC_DARK),
    ("dark", True): Theme(_DARK, _BASIC_DARK),
    ("light", False): Theme(_LIGHT, _BASIC_LIGHT),
    ("light", True): Theme(_LIGHT, _BASIC_LIGHT),
    ("high-contrast", False): Theme(_CONTRAST_DARK, _PLAIN),
    ("high-contrast", True): Theme(_CONTRAST_LIGHT, _PLAIN),
    ("plain", False): Theme(_PLAIN, _PLAIN),
    ("plain", True): Theme(_PLAIN, _PLAIN),
}


def theme(name: str, on_light: bool) -> Theme:
    """Return a theme of `NAMES`; the high-contrast theme is a different one on a light background."""
    return _THEMES[name, on_light]


OF_GDB = {
    "address": ("address",), "disassembler comment": ("comment",), "disassembler immediate": ("immediate",),
    "disassembler mnemonic": ("mnemonic",), "disassembler register": ("register",), "filename": ("file", "status.file"),
    "function": ("function", "status.function"), "highlight": ("highlight",), "metadata": ("metadata",),
    "title": ("title",), "tui-active-border": ("tui-active-border",), "tui-border": ("tui-border", "rule"),
    "variable": ("variable",), "version": ("version",),
}
"""The roles to which the settings ``set style NAME`` apply."""
MODES = {
    "normal": Style(), "standout": Style(reverse=True), "reverse": Style(reverse=True), "half": Style(dim=True),
    "half-standout": Style(dim=True, reverse=True), "bold": Style(bold=True),
    "bold-standout": Style(bold=True, reverse=True),
}
"""The attributes for the values of ``set tui border-mode``."""


def with_settings(roles: Mapping[str, Style], settings: Mapping[str, object]) -> dict[str, Style]:
    """Return a theme's styles with the changes from the user's settings (``style filename foreground`` and the like).
    """
    found = dict(roles)
    for name, changed in OF_GDB.items():
        foreground, background, intensity = (
            settings.get(f"style {name} {part}") for part in ("foreground", "background", "intensity")
        )
        for role in changed:
            old = found.get(role, Style())
            found[role] = Style(
                old.foreground if foreground is None else _own(foreground),
                old.background if background is None else _own(background),
                old.bold if intensity is None else intensity == "bold",
                old.dim if intensity is None else intensity == "dim",
                old.underline and foreground is None, old.reverse,
            )
    for role, setting in (("tui-border", "tui border-mode"), ("tui-active-border", "tui active-border-mode")):
        mode = MODES.get(str(settings.get(setting)))
        if mode is not None:
            old = found.get(role, Style())
            found[role] = Style(old.foreground, old.background, mode.bold, mode.dim, False, mode.reverse)
    return found


def _own(colour: object) -> str:
    return "" if colour == "none" else str(colour)


_INSTRUCTION = re.compile(
    r"(?P<comment>//.*|;.*)|(?P<function><[^<>]*>)|"
    r"(?P<immediate>(?<![\w.])-?(?:0x[0-9a-fA-F]+|\d+(?:\.\d+(?:[eE][-+]?\d+)?)?)(?![\w.]))|"
    r"(?P<register>\b(?:[sva]|acc|ttmp)(?:\d+\b|\[\d+(?::\d+)?\])|"
    r"\b(?:exec|vcc|m0|scc|null|flat_scratch|xnack_mask|ttmp|src_\w+)(?:_lo|_hi|z)?\b)"
)


def instruction_parts(text: str) -> list[tuple[str, str]]:
    """Split the text of an instruction by roles: mnemonic, registers, immediates, symbols, comments."""
    name, blank, operands = text.partition(" ")
    parts = [("mnemonic", name), ("", blank)]
    at = 0
    for match in _INSTRUCTION.finditer(operands):
        parts += [("", operands[at : match.start()]), (match.lastgroup or "", match[0])]
        at = match.end()
    return [part for part in (*parts, ("", operands[at:])) if part[1]]
