"""A window: what it shows of a `View`, and what its keys and clicks do. Nothing here knows of a terminal."""

from __future__ import annotations

from abc import ABC, abstractmethod

from rocdbg.cli.screen.fragments import Fragment, Line
from rocdbg.cli.screen.session_view import View


class Pane(ABC):
    """A window of the full screen.

    ``key`` and ``click`` give the command line that a key or a click stands for, if any: it is run as if typed.
    """

    name: str

    def __init__(self) -> None:
        self.top = 0
        """The first row that is shown."""
        self.left = 0
        """The first column that is shown."""
        self.height = 1
        """Rows there were when it was drawn last."""

    @abstractmethod
    def title(self, view: View) -> list[Fragment]:
        """What its title line says."""

    @abstractmethod
    def lines(self, view: View, width: int, height: int) -> list[Line]:
        """At most ``height`` lines, that the caller cuts to ``width`` columns. May raise `rocdbg.Error`."""

    def state(self) -> object:
        """What of the window itself decides on its lines."""
        return self.top, self.left

    def scroll(self, rows: int) -> None:
        """Show later (negative: earlier) rows."""
        self.top = max(0, self.top + rows)

    def shift(self, columns: int) -> None:
        """Show what is further to the right (negative: left)."""
        self.left = max(0, self.left + columns)

    def key(self, view: View, name: str) -> str | None:
        """``up``, ``down``, ``left``, ``right``, ``pageup``, ``pagedown`` or ``enter`` while it has the focus."""
        if name in ("up", "down"):
            self.scroll(-1 if name == "up" else 1)
        elif name in ("pageup", "pagedown"):
            page = max(1, self.height - 1)
            self.scroll(-page if name == "pageup" else page)
        elif name in ("left", "right"):
            self.shift(-4 if name == "left" else 4)
        return None

    def click(self, view: View, x: int, y: int) -> str | None:
        """A click at a column and row below the title."""
        return None

    def loses(self, row: int, height: int) -> bool:
        """Whether a row that was in sight when the window was drawn last is not with another height."""
        return self.top <= row < self.top + self.height and row >= self.top + height

    def window(self, count: int, height: int) -> range:
        """The rows to show of ``count``; `top` is moved to where there are some."""
        self.height = height
        self.top = max(0, min(self.top, count - height))
        return range(self.top, min(count, self.top + height))
