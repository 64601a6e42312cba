"""The settings of how text looks: ``set style ...`` and the borders of the full screen as in GDB, and themes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from rocdbg.cli.session_theme import restyle, theme_name
from rocdbg.cli.settings.setting_declaration import Setting, of_front_end
from rocdbg.cli.settings.setting_value_kinds import BOOLEAN, Enumeration
from rocdbg.cli.themes import ANSI, NAMES

if TYPE_CHECKING:
    from rocdbg.cli.shell import Shell

STYLE = of_front_end("style enabled", True)
STYLE_SOURCES = of_front_end("style sources", True)
COLOURS = Enumeration(("none", *ANSI))
INTENSITIES = Enumeration(("normal", "bold", "dim"))
MODES = Enumeration(("normal", "standout", "reverse", "half", "half-standout", "bold", "bold-standout"))
STYLES = (
    ("address", "address", "blue", "normal"),
    ("disassembler comment", "comment", "white", "dim"),
    ("disassembler immediate", "immediate", "blue", "normal"),
    ("disassembler mnemonic", "mnemonic", "green", "normal"),
    ("disassembler register", "register", "red", "normal"),
    ("filename", "filename", "green", "normal"),
    ("function", "function", "yellow", "normal"),
    ("highlight", "highlight", "red", "normal"),
    ("metadata", "metadata", "none", "dim"),
    ("title", "title", "none", "bold"),
    ("tui-active-border", "tui-active-border", "cyan", ""),
    ("tui-border", "tui-border", "cyan", ""),
    ("variable", "variable", "cyan", "normal"),
    ("version", "version", "magenta", "bold"),
)
"""A style's name, GDB's name for it, and its colour and intensity in GDB; borders have neither."""
OVER_THEME = "By default the theme determines it (see \"help set style theme\")."
THEME_HELP = """\
Set the theme of the output and of the full screen.

auto     dark or light, according to the terminal's background. rocdbg asks the terminal for it when the
         session begins (OSC 11), or reads the environment variable COLORFGBG; otherwise it assumes dark
dark, light
         colours for a dark or a light background, with a contrast of at least 4.5 on common palettes
high-contrast
         colours with a contrast of at least 7; the full screen gets its own background
plain    no colours, only bold, underlined and reversed text

"set style NAME foreground" and the like change the styles of any theme."""


def _theme_line(shell: Shell) -> str:
    chosen = shell.settings.get("style theme", "auto")
    current = f' (currently "{theme_name(shell)}")' if chosen == "auto" else ""
    return f'The style theme is "{chosen}"{current}.'


def _parts(name: str, style: str, colour: str, intensity: str) -> Iterator[Setting]:
    def setting(part: str, kind: Enumeration, default: str, what: str, said: str) -> Setting:
        return Setting(
            f"style {name} {part}", kind, what, of_front_end(f"style {name} {part}", default), after=restyle,
            sentence=f'The "{style}" style {said} is: {{}}', set_help=f"Set {what}.\n\n{OVER_THEME}",
        )

    yield setting("background", COLOURS, "none", "the background color for this property", "background color")
    yield setting("foreground", COLOURS, colour, "the foreground color for this property", "foreground color")
    if intensity:
        yield setting("intensity", INTENSITIES, intensity, "the display intensity for this property",
                      "display intensity")


def _colour(shell: Shell) -> None:
    shell.out.colour = bool(STYLE.read(shell)) and shell.can_colour
    restyle(shell)


def _sentence(name: str, default: bool, on: str, off: str) -> Callable[[Shell], str]:
    return lambda shell: on if shell.settings.get(name, default) else off


def style_settings() -> Iterator[Setting]:
    """Yield these settings."""
    yield Setting(
        "style enabled", BOOLEAN, "whether CLI styling is enabled", STYLE, after=_colour,
        show_help="Show whether CLI is enabled.",
        line=lambda shell: f"CLI output styling is {'enabled' if STYLE.read(shell) else 'disabled'}.",
    )
    yield Setting(
        "style sources", BOOLEAN, "whether source code styling is enabled", STYLE_SOURCES,
        set_help="Set whether source code styling is enabled.\nIf enabled, source code is styled.\nNote that source "
        "styling only works if styling in general is enabled,\nsee \"show style enabled\".",
        line=lambda shell: f"Source code styling is {'enabled' if STYLE_SOURCES.read(shell) else 'disabled'}.",
    )
    yield Setting(
        "tui mouse-events", BOOLEAN, "whether the mouse works on the windows of the full-screen mode",
        of_front_end("tui mouse-events", True),
    )
    yield Setting(
        "style theme", Enumeration(("auto", *NAMES)), "the theme of the output and of the full screen",
        of_front_end("style theme", "auto"), set_help=THEME_HELP, line=_theme_line, after=restyle,
    )
    for row in STYLES:
        yield from _parts(*row)
    yield Setting(
        "style disassembler enabled", BOOLEAN, "whether disassembler output styling is enabled",
        of_front_end("style disassembler enabled", True),
        line=_sentence("style disassembler enabled", True, "Disassembler output styling is enabled.",
                       "Disassembler output styling is disabled."),
    )
    yield Setting(
        "style tui-current-position", BOOLEAN,
        "whether to style text highlighted by the TUI's current position indicator",
        of_front_end("style tui-current-position", False),
        set_help="Set whether to style text highlighted by the TUI's current position indicator.\n\nIf on, the current "
        "line keeps the colours of its source or instruction in front of the indicator's background.",
        line=_sentence(
            "style tui-current-position", False,
            "Styling the text highlighted by the TUI's current position indicator is on.",
            "Styling the text highlighted by the TUI's current position indicator is off.",
        ),
    )
    yield Setting(
        "tui border-kind", Enumeration(("space", "ascii", "acs")), "the kind of border for TUI windows",
        of_front_end("tui border-kind", "acs"),
        set_help="Set the kind of border for TUI windows.\n\nThis variable controls the border of TUI windows:\n"
        "   space           use a white space\n   ascii           use ascii characters + - | for the border\n"
        "   acs             use the Alternate Character Set",
    )
    yield Setting(
        "tui border-mode", MODES, "the attribute mode to use for the TUI window borders",
        of_front_end("tui border-mode", "normal"), after=restyle,
    )
    yield Setting(
        "tui active-border-mode", MODES, "the attribute mode to use for the active TUI window border",
        of_front_end("tui active-border-mode", "bold-standout"), after=restyle,
    )
