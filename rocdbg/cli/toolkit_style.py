"""A session's theme in the form that prompt_toolkit needs, for the prompt and the full screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prompt_toolkit.output import ColorDepth
from prompt_toolkit.styles import BaseStyle, DynamicStyle, Style

from rocdbg.cli.session_theme import TRUE_COLOUR, roles

if TYPE_CHECKING:
    from rocdbg.cli.shell import Shell

MOST_STYLES = 32
_MENU = ("completion-menu", "completion-menu.completion", "completion-menu.meta.completion",
         "completion-menu.multi-column-meta")
_MENU_CURRENT = ("completion-menu.completion.current", "completion-menu.meta.completion.current")
_PLAINLY = "noreverse noinherit"
"""Attributes that cancel the attributes of prompt_toolkit's default style."""


def theme_style(shell: Shell, full_screen: bool) -> BaseStyle:
    """Return the theme, which is looked up each time that something is drawn. Text without a style is coloured only on
    the ``full_screen``; at the prompt, the status has no background of its own.
    """
    made: dict[tuple[tuple[str, str], ...], Style] = {}

    def now() -> Style:
        rules = _rules(shell, full_screen)
        key = tuple(rules.items())
        if key not in made:
            if len(made) > MOST_STYLES:
                made.pop(next(iter(made)))
            made[key] = Style(list(key))  # kept alive, because prompt_toolkit distinguishes styles by their addresses
        return made[key]

    return DynamicStyle(now)


def _rules(shell: Shell, full_screen: bool) -> dict[str, str]:
    styles = {role: style.words() for role, style in roles(shell).items()}
    text = styles.pop("text", "")
    rules = {"": text} if full_screen and text else {}
    menu, current = styles.pop("menu", "reverse"), styles.pop("menu.current", "bold")
    for name in _MENU:
        rules[name] = f"{_PLAINLY} {menu}"
    for name in _MENU_CURRENT:
        rules[name] = f"{_PLAINLY} {current}"
    if not full_screen:
        rules["bottom-toolbar"] = "noreverse"
        styles["status"] = styles.get("dim", "")
    rules.update(styles)
    return rules


def colour_depth(shell: Shell) -> ColorDepth:
    """Return the terminal's number of colours; none with ``NO_COLOR`` or ``set style enabled off``."""
    colours = shell.look.colours if shell.out.colour else 2
    if colours >= TRUE_COLOUR:
        return ColorDepth.DEPTH_24_BIT
    if colours >= 256:
        return ColorDepth.DEPTH_8_BIT
    return ColorDepth.DEPTH_4_BIT if colours > 2 else ColorDepth.DEPTH_1_BIT
