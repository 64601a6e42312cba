"""Draws docs/full_screen.svg: the full screen of a real run, cell for cell as a terminal shows it.

    python docs/picture.py            # needs pyte (the extra "test")

The program runs on a terminal that only exists in memory (tests/screen/terminal.py); its cells become text in SVG.
"""

from __future__ import annotations

import sys
import tempfile
from html import escape
from itertools import groupby
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.screen.terminal import Terminal  # noqa: E402

TARGET = ROOT / "docs" / "full_screen.svg"
COLUMNS, LINES = 118, 34
WIDTH, HEIGHT, EDGE = 8.4, 18, 12
BACKGROUND, FOREGROUND = "#1b1e25", "#d5d8de"
COLOURS = {
    "black": "#3a3f4b", "red": "#e06c75", "green": "#98c379", "brown": "#e5c07b", "blue": "#61afef",
    "magenta": "#c678dd", "cyan": "#56b6c2", "white": "#d5d8de", "brightblack": "#7b8394", "brightred": "#ff7a85",
    "brightgreen": "#b5e890", "brightbrown": "#ffd787", "brightyellow": "#ffd787", "brightblue": "#82c4ff",
    "brightmagenta": "#d89bf0", "brightcyan": "#7fdbe6", "brightwhite": "#ffffff", "bfightmagenta": "#d89bf0",
}
COMMANDS = ("break divergence.hip:24 if steps == 3", "run", "delete 1", "layout lanes", "winheight cmd 9")
TYPED = ("lane 36", "lane find walker > 40")


def colour(name: str, default: str) -> str:
    if name == "default":
        return default
    return COLOURS.get(name, f"#{name}" if len(name) == 6 else default)


def svg(terminal: Terminal) -> str:
    """The terminal's cells, runs of the same look together."""
    width, height = COLUMNS * WIDTH + 2 * EDGE, LINES * HEIGHT + 2 * EDGE
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height}" '
        f'viewBox="0 0 {width:.0f} {height}">',
        "<title>rocdbg, full screen: lanes of a wave part ways</title>",
        f'<rect width="100%" height="100%" rx="8" fill="{BACKGROUND}"/>',
        '<g font-family="DejaVu Sans Mono, Menlo, Consolas, monospace" font-size="14" xml:space="preserve">',
    ]
    for row in range(LINES):
        cells = [(column, terminal.screen.buffer[row][column]) for column in range(COLUMNS)]
        for look, run in groupby(cells, lambda item: item[1]._replace(data="")):
            group = list(run)
            text = "".join(cell.data for _, cell in group)
            front, back = colour(look.fg, FOREGROUND), colour(look.bg, BACKGROUND)
            if look.reverse:
                front, back = back, front
            x, y = EDGE + group[0][0] * WIDTH, EDGE + row * HEIGHT
            if back != BACKGROUND:
                parts.append(f'<rect x="{x:.1f}" y="{y}" width="{len(group) * WIDTH:.1f}" height="{HEIGHT}" '
                             f'fill="{back}"/>')
            if text.strip():
                bold = ' font-weight="bold"' if look.bold else ""
                line = ' text-decoration="underline"' if look.underscore else ""
                parts.append(f'<text x="{x:.1f}" y="{y + 14}" textLength="{len(group) * WIDTH:.1f}" '
                             f'fill="{front}"{bold}{line}>{escape(text)}</text>')
    return "\n".join([*parts, "</g>", "</svg>", ""])


def main() -> None:
    arguments = ["demo_kernels/divergence/divergence.toml"]
    for command in COMMANDS:
        arguments += ["-ex", command]
    with tempfile.TemporaryDirectory() as folder, Terminal(arguments, COLUMNS, LINES, Path(folder)) as terminal:
        terminal.wait_for("lanes of wave 1")
        for line in TYPED:
            terminal.command(line)
        TARGET.write_text(svg(terminal), encoding="utf-8")


if __name__ == "__main__":
    main()
