"""A window: its contents for a `View`, and its keys and clicks. It does not depend on a terminal."""

from __future__ import annotations

from abc import ABC, abstractmethod

from rocdbg.cli.screen.fragments import Fragment, Line
from rocdbg.cli.screen.session_view import View


class Pane(ABC):
    """A window of the full screen.

    ``key`` and ``click`` return the command line for a key or a click, if it has one: it is run as if it had been
    typed.
    """

    name: str

    def __init__(self) -> None:
        self.top = 0
        """The first row that is shown."""
        self.left = 0
        """The first column that is shown."""
        self.height = 1
        """The number of rows when the window was last drawn."""

    @abstractmethod
    def title(self, view: View) -> list[Fragment]:
        """Return the text of the title line."""

    @abstractmethod
    def lines(self, view: View, width: int, height: int) -> list[Line]:
        """Return at most ``height`` lines; the caller cuts them to ``width`` columns. May raise `rocdbg.Error`."""

    def state(self) -> object:
        """Return the part of the window's own state that determines its lines."""
        return self.top, self.left

    def scroll(self, rows: int) -> None:
        """Show later rows, or earlier ones if negative."""
        self.top = max(0, self.top + rows)

    def shift(self, columns: int) -> None:
        """Scroll to the right, or to the left if negative."""
        self.left = max(0, self.left + columns)

    def key(self, view: View, name: str) -> str | None:
        """Handle ``up``, ``down``, ``left``, ``right``, ``pageup``, ``pagedown`` or ``enter``, when it has the focus.
        """
        if name in ("up", "down"):
            self.scroll(-1 if name == "up" else 1)
        elif name in ("pageup", "pagedown"):
            page = max(1, self.height - 1)
            self.scroll(-page if name == "pageup" else page)
        elif name in ("left", "right"):
            self.shift(-4 if name == "left" else 4)
        return None

    def click(self, view: View, x: int, y: int) -> str | None:
        """Handle a click at a column and row below the title."""
        return None

    def loses(self, row: int, height: int) -> bool:
        """Whether a row that was visible when the window was last drawn would be hidden with ``height`` rows."""
        return self.top <= row < self.top + self.height and row >= self.top + height

    def window(self, count: int, height: int) -> range:
        """Return which of ``count`` rows to show; `top` is adjusted to a valid value."""
        self.height = height
        self.top = max(0, min(self.top, count - height))
        return range(self.top, min(count, self.top + height))
