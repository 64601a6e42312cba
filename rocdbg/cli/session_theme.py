"""How a session's text looks: the theme that suits the terminal, with the changes that the user has made to it."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from msgspec import Struct

from rocdbg.cli.standard_streams import is_dumb
from rocdbg.cli.terminal_query import ask_terminal
from rocdbg.cli.themes import Style, theme, with_settings

if TYPE_CHECKING:
    from rocdbg.cli.shell import Shell

TRUE_COLOUR = 1 << 24
LIGHT = 0.18
"""The relative luminance above which a background counts as light; black and white text have equal contrast at this
value.
"""


class Look(Struct):
    """What is known about a terminal.

    Attributes:
        colours: how many colours it shows; 2 for none.
        on_light: whether its background is light; ``None`` if that is not known.
    """

    colours: int = 16
    on_light: bool | None = None


def theme_name(shell: Shell) -> str:
    """Return the name of the theme in use: the one that `set style theme` selected, or one for the terminal's
    background.

    An unknown background is assumed to be dark, as most are, and as GDB's own colours assume.
    """
    chosen = str(shell.settings.get("style theme", "auto"))
    if chosen != "auto":
        return chosen
    return "light" if shell.look.on_light else "dark"


def roles(shell: Shell) -> Mapping[str, Style]:
    """Return the style of each role."""
    colours = shell.look.colours if shell.out.colour else 2
    found = with_settings(theme(theme_name(shell), bool(shell.look.on_light)).roles(colours), shell.settings)
    if colours > 2:
        return found
    return {role: Style("", "", each.bold, each.dim, each.underline, each.reverse) for role, each in found.items()}


def restyle(shell: Shell) -> None:
    """Use the styles of the theme for all further output."""
    styles, before = roles(shell), shell.out.palette
    shell.out.palette = {role: each.escape(shell.look.colours) for role, each in styles.items()}
    if shell.screen is not None:
        shell.screen.command.restyle(before, shell.out.palette)
        if shell.screen.terminal is not None:
            shell.screen.terminal.redraw()


def colours_of(environment: Mapping[str, str]) -> int:
    """Return how many colours a terminal shows, judging by its environment (``COLORTERM``, ``TERM``)."""
    name = environment.get("TERM", "")
    if environment.get("COLORTERM") in ("truecolor", "24bit") or name.endswith("-direct"):
        return TRUE_COLOUR
    if "256color" in name:
        return 256
    if re.match(r"vt\d|.*-mono$|.*-m$", name):
        return 2
    return 16


def meet_terminal(shell: Shell) -> None:
    """Find out what the terminal can show, and whether it answers queries; if it does not, nothing is coloured."""
    environment = os.environ
    if is_dumb():
        return
    known = light_by_environment(environment)
    answer = ask_terminal(0, 1, asks_background=known is None)
    shell.typed_ahead, shell.answers = answer.typed, answer.answers
    if not answer.answers:
        shell.can_colour = shell.out.colour = False
    on_light = is_light(*answer.background) if answer.background is not None else known
    shell.look = Look(colours_of(environment), on_light)
    restyle(shell)


def is_light(red: float, green: float, blue: float) -> bool:
    """Whether a background is light; the components are numbers from 0 to 1 (sRGB)."""
    linear = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in (red, green, blue))
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True)) > LIGHT


def light_by_environment(environment: Mapping[str, str]) -> bool | None:
    """Return what ``COLORFGBG`` (``0;15``: black on white) or the terminal's name shows; ``None`` if they show nothing.
    """
    last = environment.get("COLORFGBG", "").rpartition(";")[2]
    if re.fullmatch(r"\d{1,2}", last) and int(last) < 16:
        return int(last) in (7, 15)
    return False if environment.get("TERM", "").partition("-")[0] == "linux" else None
