"""The full screen without a terminal: its windows, their layout and focus, and the current view of the session."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct

from rocdbg.cli.command_registry import CommandError
from rocdbg.cli.screen.assembly_pane import AssemblyPane
from rocdbg.cli.screen.command_pane import CommandPane
from rocdbg.cli.screen.fragments import Line, columns, fitted, title_of
from rocdbg.cli.screen.lanes_pane import LanesPane
from rocdbg.cli.screen.locals_pane import LocalsPane
from rocdbg.cli.screen.pane import Pane
from rocdbg.cli.screen.registers_pane import GROUPS, RegistersPane
from rocdbg.cli.screen.session_view import View
from rocdbg.cli.screen.source_pane import SourcePane
from rocdbg.cli.screen.status import status_line
from rocdbg.cli.screen.waves_pane import WavesPane
from rocdbg.cli.screen.window_layout import (
    COMMAND,
    LEAST,
    LEAST_WIDTH,
    PREDEFINED,
    STATUS,
    Rect,
    Split,
    arrange,
    parse_layout,
    windows,
)
from rocdbg.debugger.reports.register_changes import Snapshot
from rocdbg.debugger.running.observer import Observer
from rocdbg.debugger.running.stop_events import StopEvent
from rocdbg.errors import Error

if TYPE_CHECKING:
    from rocdbg.cli.shell import Shell

ONE = ("src", "asm")
TWO = ("split", "regs", "lanes")
"""The layouts through which Ctrl-X 1 and Ctrl-X 2 cycle."""


class Picture(Struct, frozen=True):
    """The whole terminal: its lines, the rectangles of the windows, and the row of the prompt."""

    lines: list[Line]
    rects: dict[str, Rect]
    prompt_row: int


class Lendable(Protocol):
    """A terminal that shows the screen, and that can be given to another program."""

    def redraw(self) -> None:
        """Draw everything again."""

    def pause(self) -> None:
        """Give the terminal to another program temporarily."""

    def resume(self) -> None:
        """Take the terminal back after the other program has ended."""


class _Stops(Observer):
    """Counts the stops."""

    def __init__(self) -> None:
        self.count = 0

    def stopped(self, event: StopEvent) -> None:
        self.count += 1


class Screen:
    """The full-screen mode of a shell, without a terminal.

    Attributes:
        enabled: whether the next line is read on the full screen.
        unicode: whether the terminal shows more than ASCII.
        layouts: all layouts by name, the predefined ones first.
        layout: the name of the layout that is shown.
        focus: the name of the window that receives arrow and page keys.
        terminal: the terminal that shows it, once it has been shown.
        frozen: whether a command is running: meanwhile windows keep their earlier contents.
        wanted: what to type into an open block, shown instead of the status.
        progress: the progress of a running program, shown in the same place.
    """

    def __init__(self, shell: Shell) -> None:
        self.shell = shell
        self.enabled = False
        self.unicode = True
        self.layouts: dict[str, Split] = {name: parse_layout(text) for name, text in PREDEFINED.items()}
        self.layout = "src"
        self.focus = "src"
        self.frozen = False
        self.wanted = ""
        self.progress = ""
        self.terminal: Lendable | None = None
        self.source = SourcePane()
        self.registers = RegistersPane()
        self.lanes = LanesPane()
        self.locals = LocalsPane()
        self.waves = WavesPane()
        self.command = CommandPane()
        panes = (self.source, AssemblyPane(), self.registers, self.lanes, self.locals, self.waves, self.command)
        self.panes: dict[str, Pane] = {pane.name: pane for pane in panes}
        self.size = (80, 24)
        self._wanted: dict[str, dict[tuple[str, bool], int]] = {}
        self._stops = _Stops()
        shell.session.observers.append(self._stops)
        self._view: View | None = None
        self._moment = 0  # counts the views, because the id of an object may be reused
        self._before: dict[tuple[int, int | None], Snapshot] = {}
        self._cache: dict[str, tuple[object, list[Line], Line]] = {}

    @property
    def mouse(self) -> bool:
        """Whether the screen handles the mouse; otherwise the terminal does, which can then select text."""
        return bool(self.shell.settings.get("tui mouse-events", True))

    @property
    def border_kind(self) -> str:
        """``space``, ``ascii`` or ``acs`` (lines, if the terminal shows more than ASCII)."""
        kind = str(self.shell.settings.get("tui border-kind", "acs"))
        return kind if kind != "acs" or self.unicode else "ascii"

    # -- the current view

    @property
    def view(self) -> View:
        """The current view."""
        if self._view is None:
            self._view = View(self.shell, self.unicode, self._stops.count, {})
            self._view.baseline = self._before.get((self._view.life, self._view.focus.thread))
        return self._view

    def changed(self) -> None:
        """Refresh the view after a command. At a stop, the previous view becomes the one with which changes are
        compared.
        """
        old = self._view
        if old is not None and old.stops != self._stops.count and old.seen_registers is not None:
            self._before = {key: seen for key, seen in self._before.items() if key[0] == old.life}
            self._before[old.life, old.focus.thread] = old.seen_registers
        self._view = None
        self._moment += 1

    # -- layout and focus

    def shown(self) -> list[str]:
        """Return the windows of the layout for which there is room."""
        return list(self.rects())

    def rects(self) -> dict[str, Rect]:
        """Return the positions of the windows."""
        return arrange(self.layouts[self.layout], *self.size, self._wanted.get(self.layout, {}))

    def set_layout(self, name: str) -> None:
        """Show a layout. The focus stays on its window if that is visible."""
        self.layout = name
        names = list(windows(self.layouts[name]))
        if self.focus not in names:
            self.set_focus(next((each for each in names if each not in (STATUS,)), COMMAND))

    def cycle_layout(self, step: int) -> None:
        """``layout next`` and ``layout prev``: show another layout."""
        names = list(self.layouts)
        self.set_layout(names[(names.index(self.layout) + step) % len(names)])

    def cycle_among(self, names: tuple[str, ...]) -> None:
        """Show the layout after the current one in a list, or the first if the current one is not in it."""
        index = names.index(self.layout) + 1 if self.layout in names else 0
        self.set_layout(names[index % len(names)])

    def show_registers(self, group: str) -> None:
        """``tui reg GROUP``: show a group of registers, in a layout that has the register window."""
        self.registers.group, self.registers.top = group, 0
        if "regs" not in windows(self.layouts[self.layout]):
            self.set_layout("regs")

    def cycle_registers(self, step: int) -> None:
        """``tui reg next`` and ``tui reg prev``: show another group of registers."""
        index = GROUPS.index(self.registers.group)
        self.show_registers(GROUPS[(index + step) % len(GROUPS)])

    def focusable(self) -> list[str]:
        """Return the visible windows other than the status line."""
        return [name for name in self.shown() if name != STATUS]

    def set_focus(self, name: str) -> None:
        """Direct arrow and page keys to this window."""
        self.focus = name
        self.lanes.has_focus = name == "lanes"
        self.waves.has_focus = name == "waves"

    def cycle_focus(self, step: int) -> None:
        """``focus next`` and ``focus prev``: focus another window."""
        names = self.focusable()
        if names:
            index = names.index(self.focus) if self.focus in names else 0
            self.set_focus(names[(index + step) % len(names)])

    def resize(self, name: str, horizontal: bool, amount: int, relative: int) -> None:
        """``winheight`` and ``winwidth``: set a size to ``amount``, or change it by that if ``relative`` is 1 or -1.

        Raises `CommandError`.
        """
        rect = self.rects()[name]
        now = rect.width if horizontal else rect.height
        size = now + relative * amount if relative else amount
        whole = self.size[0] if horizontal else self.size[1]
        if not (LEAST_WIDTH if horizontal else LEAST) <= size <= whole:
            raise CommandError(f"Invalid window {'width' if horizontal else 'height'} specified")
        wanted = self._wanted.setdefault(self.layout, {})
        wanted[name, horizontal] = size

    # -- drawing

    def draw(self, width: int, height: int, prompt_rows: int = 1) -> Picture:
        """Return the terminal's lines. ``prompt_rows`` of the command window are reserved for the prompt."""
        self.size = (width, height)
        rects = self.rects()
        segments: list[list[tuple[int, Line]]] = [[] for _ in range(height)]
        prompt_row = height - prompt_rows
        for name, rect in rects.items():
            if name == COMMAND:
                rows = self._rows(name, rect.width, max(0, rect.height - prompt_rows))
                prompt_row = min(rect.y + len(rows), rect.y + max(0, rect.height - prompt_rows))
            elif name == STATUS:
                rows = [self._status(rect.width)] * rect.height
            else:
                rows = self._framed(name, rect)
            for index in range(rect.height):
                line = fitted(rows[index], rect.width) if index < len(rows) else [("", " " * rect.width)]
                segments[rect.y + index].append((rect.x, line))
        return Picture([_joined(row, width, {"space": " ", "ascii": "|"}.get(self.border_kind, "│"))
                        for row in segments], rects, prompt_row)

    def _framed(self, name: str, rect: Rect) -> list[Line]:
        """Return a window's lines below its title."""
        body = self._rows(name, rect.width, rect.height - 1)
        title = title_of(self._cache[name][2], rect.width - 2) if name in self._cache else []
        has_focus = name == self.focus
        kind = self.border_kind
        rule = " " if kind == "space" else ("━" if has_focus else "─") if kind == "acs" else "=" if has_focus else "-"
        style = "class:tui-active-border" if has_focus else "class:tui-border"
        size = sum(columns(text) for _, text in title)
        head: Line = [(style, rule + " "), *((f"{style} {own}", text) for own, text in title), (style, " ")]
        return [fitted([*head, (style, rule * max(0, rect.width - size - 2))], rect.width), *body]

    def _rows(self, name: str, width: int, height: int) -> list[Line]:
        """Return the contents of a window, cached while nothing in it changes."""
        pane = self.panes[name]
        kept = self._cache.get(name)
        if self.frozen and name != COMMAND:
            return kept[1] if kept is not None else []
        key = (self._moment, width, height, pane.state())
        if kept is not None and kept[0] == key:
            return kept[1]
        title: Line = []
        rows: list[Line] = []
        trouble: list[Line] = []

        def look() -> None:
            nonlocal title, rows
            try:
                rows = pane.lines(self.view, width, height) if height > 0 else []
                title = pane.title(self.view)
            except Error as error:
                trouble.append([("class:dim", f"[ {error} ]")])

        if not self.shell.guard(look, f"drawing the {name} window"):
            trouble.append([("class:dim", "[ error ]")])
        rows = trouble or rows
        # the window may have adjusted its scroll position to its contents
        self._cache[name] = ((*key[:3], pane.state()), rows, title)
        return rows

    def _status(self, width: int) -> Line:
        if self.wanted or self.progress:
            return fitted([("", f" {self.progress or self.wanted}")], width, "class:status")
        if self.frozen:
            kept = self._cache.get(STATUS)
            busy = fitted([("", " running ")], width, "class:status")
            return kept[1][0] if kept is not None else busy
        line = status_line(self.view, width)
        self._cache[STATUS] = ((), [line], [])
        return line

    # -- keys and mouse

    def key(self, name: str) -> str | None:
        """Handle a key for the window that has the focus; return its command."""
        return self.panes[self.focus].key(self.view, name)

    def click(self, x: int, y: int) -> str | None:
        """Handle a click, which gives the window the focus; return its command."""
        for name, rect in self.rects().items():
            if rect.holds(x, y) and name != STATUS:
                self.set_focus(name)
                if name != COMMAND and y > rect.y:
                    return self.panes[name].click(self.view, x - rect.x, y - rect.y - 1)
        return None

    def wheel(self, x: int, y: int, rows: int) -> None:
        """Handle the mouse wheel, which scrolls the window under the pointer."""
        for name, rect in self.rects().items():
            if rect.holds(x, y) and name != STATUS:
                self.panes[name].scroll(rows)


def _joined(segments: Iterable[tuple[int, Line]], width: int, rule: str) -> Line:
    """Join the parts of a row side by side, separated by lines."""
    found: Line = []
    at = 0
    for x, line in sorted(segments, key=lambda segment: segment[0]):
        if x > at:
            found.append(("class:rule", rule * (x - at)))
        found += line
        at = x + sum(columns(text) for _, text in line)
    if at < width:
        found.append(("", " " * (width - at)))
    return found

