"""Draws a `Picture` with prompt_toolkit; the cells of lines that were drawn before are reused."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable

from prompt_toolkit.key_binding import KeyBindingsBase
from prompt_toolkit.layout import Container, Dimension
from prompt_toolkit.layout.mouse_handlers import MouseHandlers
from prompt_toolkit.layout.screen import Char, Screen, WritePosition
from prompt_toolkit.mouse_events import MouseEvent
from prompt_toolkit.utils import get_cwidth

from rocdbg.cli.screen.fragments import Line
from rocdbg.cli.screen.screen import Picture

Row = defaultdict[int, Char]
MOST_ROWS = 1024
MOST_CELLS = 8192


class Canvas(Container):
    """Fills the terminal. A window of prompt_toolkit would create every cell again at every key press."""

    def __init__(self, draw: Callable[[int, int], Picture], mouse: Callable[[MouseEvent], None]) -> None:
        self._draw = draw
        self._mouse = mouse
        self._rows: dict[tuple[tuple[str, str], ...], Row] = {}
        self._cells: dict[tuple[str, str], Char] = {}

    def reset(self) -> None:
        """Do nothing, since it has no state."""

    def preferred_width(self, max_available_width: int) -> Dimension:
        """Request all the available width."""
        return Dimension(preferred=max_available_width)

    def preferred_height(self, width: int, max_available_height: int) -> Dimension:
        """Request all the available height."""
        return Dimension(preferred=max_available_height)

    def get_children(self) -> list[Container]:
        """Return no children."""
        return []

    def get_key_bindings(self) -> KeyBindingsBase | None:
        """Return no key bindings."""
        return None

    def write_to_screen(
        self, screen: Screen, mouse_handlers: MouseHandlers, write_position: WritePosition, parent_style: str,
        erase_bg: bool, z_index: int | None,
    ) -> None:
        """Draw the picture, which begins at the terminal's first cell."""
        lines = self._draw(write_position.width, write_position.height).lines
        for number, line in enumerate(lines):
            screen.data_buffer[number] = self._row(line).copy()  # a copy, since floats above it are written into it
            mouse_handlers.mouse_handlers[number] = defaultdict(lambda: self._handle)
        screen.width = max(screen.width, write_position.width)
        screen.height = max(screen.height, len(lines))

    def _handle(self, event: MouseEvent) -> None:
        self._mouse(event)

    def _row(self, line: Line) -> Row:
        key = tuple(line)
        row = self._rows.get(key)
        if row is None:
            if len(self._rows) >= MOST_ROWS:
                self._rows.clear()
            row = self._rows[key] = self._made(line)
        return row

    def _made(self, line: Line) -> Row:
        blank = self._cell(" ", "")
        row: Row = defaultdict(lambda: blank)
        at = 0
        for style, text in line:
            for character in text:
                width = 1 if " " <= character <= "~" else get_cwidth(character)
                if not width:  # it combines with the previous character
                    if at:
                        before = row[at - 1]
                        row[at - 1] = self._cell(before.char + character, before.style)
                    continue
                row[at] = self._cell(character, style)
                for further in range(1, width):
                    row[at + further] = self._cell("", style)
                at += width
        while at and row[at - 1] is blank:
            at -= 1
            del row[at]
        return row

    def _cell(self, text: str, style: str) -> Char:
        key = (text, style)
        cell = self._cells.get(key)
        if cell is None:
            if len(self._cells) >= MOST_CELLS:
                self._cells.clear()
            cell = self._cells[key] = Char(text, style)
        return cell
