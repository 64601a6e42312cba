"""Palettes of common terminals as numbers: text, background, and the sixteen ANSI colours in their order."""

from __future__ import annotations

from msgspec import Struct


class Palette(Struct, frozen=True):
    """Colours as ``#rrggbb``."""

    name: str
    text: str
    background: str
    ansi: tuple[str, ...]


def _palette(name: str, text: str, background: str, ansi: str) -> Palette:
    return Palette(name, f"#{text}", f"#{background}", tuple(f"#{colour}" for colour in ansi.split()))


_XTERM = ("000000 cd0000 00cd00 cdcd00 0000ee cd00cd 00cdcd e5e5e5 "
          "7f7f7f ff0000 00ff00 ffff00 5c5cff ff00ff 00ffff ffffff")
_TANGO = ("2e3436 cc0000 4e9a06 c4a000 3465a4 75507b 06989a d3d7cf "
          "555753 ef2929 8ae234 fce94f 729fcf ad7fa8 34e2e2 eeeeec")
_SOLARIZED = ("073642 dc322f 859900 b58900 268bd2 d33682 2aa198 eee8d5 "
              "002b36 cb4b16 586e75 657b83 839496 6c71c4 93a1a1 fdf6e3")
_GNOME = ("171421 c01c28 26a269 a2734c 12488b a347ba 2aa1b3 d0cfcc "
          "5e5c64 f66151 33d17a e9ad0c 2a7bde c061cb 33c7de ffffff")

PALETTES = (
    _palette("xterm", "e5e5e5", "000000", _XTERM),
    _palette("xterm on white", "000000", "ffffff", _XTERM),
    _palette("VGA", "aaaaaa", "000000",
             "000000 aa0000 00aa00 aa5500 0000aa aa00aa 00aaaa aaaaaa "
             "555555 ff5555 55ff55 ffff55 5555ff ff55ff 55ffff ffffff"),
    _palette("Tango", "d3d7cf", "2e3436", _TANGO),
    _palette("Tango light", "2e3436", "eeeeec", _TANGO),
    _palette("Solarized dark", "839496", "002b36", _SOLARIZED),
    _palette("Solarized light", "657b83", "fdf6e3", _SOLARIZED),
    _palette("GNOME dark", "d0cfcc", "171421", _GNOME),
    _palette("GNOME light", "171421", "ffffff", _GNOME),
    _palette("Windows Campbell", "cccccc", "0c0c0c",
             "0c0c0c c50f1f 13a10e c19c00 0037da 881798 3a96dd cccccc "
             "767676 e74856 16c60c f9f1a5 3b78ff b4009e 61d6d6 f2f2f2"),
    _palette("iTerm2", "c7c7c7", "000000",
             "000000 c91b00 00c200 c7c400 0225c7 ca30c7 00c5c7 c7c7c7 "
             "686868 ff6e67 5ffa68 fffc67 6871ff ff77ff 60fdff ffffff"),
    _palette("Dracula", "f8f8f2", "282a36",
             "21222c ff5555 50fa7b f1fa8c bd93f9 ff79c6 8be9fd f8f8f2 "
             "6272a4 ff6e6e 69ff94 ffffa5 d6acff ff92df a4ffff ffffff"),
)


def luminance(colour: str) -> float:
    """The relative luminance of WCAG 2.2."""
    shares = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """The contrast ratio of WCAG 2.2, from 1 to 21."""
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)
