"""The source window: lines and breakpoints, with the number of lanes at each line in the margin."""

from __future__ import annotations

from rocdbg.cli.highlight import shown_lines, styled_lines
from rocdbg.cli.screen.fragments import Fragment, Line, expanded
from rocdbg.cli.screen.pane import Pane
from rocdbg.cli.screen.session_view import View
from rocdbg.debugger import lane_ranges
from rocdbg.debugger.program.source_files import SourceText
from rocdbg.debugger.reports.place_resolution import SourcePlace
from rocdbg.errors import Error

NO_SOURCE = "[ No Source Available ]"


class SourcePane(Pane):
    """Follows the selected frame, or what `list` showed after the frame was selected."""

    name = "src"

    def __init__(self) -> None:
        super().__init__()
        self._seen: tuple[object, ...] = ()
        self._shown: SourcePlace | None = None
        self._coloured: tuple[SourceText, tuple[bool, int], list[Line]] | None = None

    def place(self, view: View) -> SourcePlace | None:
        """Return the line that has to be visible: that of the selection or of the listing, whichever changed last."""
        key = (view.life, view.stops, view.focus)
        if self._seen[:3] != key:
            self._shown = view.frame_place or (None if view.frame is not None else view.listed)
            self._seen = (*key, view.listed)
            self.top = -1
        elif self._seen[3] != view.listed:
            self._shown = view.listed
            self._seen = (*key, view.listed)
            self.top = -1
        return self._shown

    def follow(self) -> None:
        """Show the selected frame's position, even if the window was scrolled elsewhere."""
        self._seen = ()
        self.top = -1

    def title(self, view: View) -> list[Fragment]:
        place = self.place(view)
        if place is None:
            return [("", "source")]
        parts: list[Fragment] = [("", place.file.name)]
        current = view.frame_place
        is_current = current is not None and (current.file, current.line) == (place.file, place.line)
        if view.standing is not None and is_current:
            here = view.standing.at_line(place.file.path, place.line)
            if here:
                used = view.standing.used.bit_count()
                parts.append(("", f"  {here.bit_count()} of {used} lanes at line {place.line}"))
                parts.append(("", f": {lane_ranges(here)}"))
        return parts

    def lines(self, view: View, width: int, height: int) -> list[Line]:
        place = self.place(view)
        if place is None:
            self.height = height
            return [[("class:dim", NO_SOURCE)]]
        try:
            text = view.session.sources.text(place.file)
        except Error:
            return [[("class:dim", NO_SOURCE)], [("class:dim", f"{place.file.name}:{place.line}")]]
        if self.top < 0 or self.loses(place.line - 1, height):
            self.left = 0
            self.top = max(0, min(place.line - 1 - height // 2, len(text.lines) - height))
        rows = self.window(len(text.lines), height)
        digits = len(str(len(text.lines)))
        body = self._body(view, text, rows)
        standing, current = view.standing, view.frame_place
        mine = {row: standing.at_line(place.file.path, row + 1) for row in rows} if standing is not None else {}
        others = {row: view.others.get((place.file.path, row + 1), 0) for row in rows}
        other_width = max(len(f"+{count}") for count in (*others.values(), 0)) if any(others.values()) else 0
        found: list[Line] = []
        for row, source in zip(rows, body, strict=True):
            number = row + 1
            is_current = current is not None and current.line == number and current.file.path == place.file.path
            mark = view.breakpoints.get((place.file.path, number), "  ")
            line: Line = [("class:breakpoint", mark), ("class:current", ">" if is_current else " ")]
            line.append(("class:number", f"{number:>{digits}} "))
            line += self._margin(view, mine.get(row, 0), others[row], other_width)
            if is_current:
                line += [*on_current(view, source), ("class:here", " " * width)]
            else:
                line += source
            found.append(line)
        return found

    def _margin(self, view: View, mine: int, others: int, other_width: int) -> Line:
        """Return ``▂ 9 +5``: the lanes of this wave at the line, and the number of lanes of other waves."""
        line: Line = []
        standing = view.standing
        if standing is not None:
            count = mine.bit_count()
            index = standing.place_of((mine & -mine).bit_length() - 1) if mine else None
            style = view.place_style(index) if index is not None else ""
            whole = standing.used.bit_count()
            line.append((style, f"{view.bar(count, whole)}{count or '':>{len(str(whole))}}"))
        if other_width:
            line.append(("class:others", f" {f'+{others}' if others else '':>{other_width}}"))
        if line:
            line.append(("class:rule", " │" if view.unicode else " |"))
        return line

    def _body(self, view: View, text: SourceText, rows: range) -> list[Line]:
        colour = view.shell.out.colour and view.shell.settings.get("style sources", True) is not False
        width = view.shell.settings.get("tui tab-width", 8)
        how = (colour, min(max(width, 1), 64) if isinstance(width, int) else 8)
        if self._coloured is None or self._coloured[0] is not text or self._coloured[1] != how:
            lines = [expanded(line, how[1]) for line in text.lines]
            if colour:
                parts = styled_lines(lines, text.file.name)
                shown = [[(f"class:{role}" if role else "", part) for role, part in line] for line in parts]
            else:
                shown = [[("", line)] for line in shown_lines(lines, text.file.name, 0, len(lines), False)]
            self._coloured = (text, how, shown)
        kept = self._coloured[2]
        return [_shifted(kept[row], self.left) for row in rows]

    def click(self, view: View, x: int, y: int) -> str | None:
        """Handle a click on the margin: set a breakpoint, or delete the breakpoints of the line."""
        place = self.place(view)
        if place is None or x > 8:
            return None
        where = f"{place.file.name}:{self.top + y + 1}"
        return f"clear {where}" if (place.file.path, self.top + y + 1) in view.breakpoints else f"break {where}"


def on_current(view: View, line: Line) -> Line:
    """Highlight the text at the current position; with `set style tui-current-position` it keeps its own styles."""
    if view.shell.settings.get("style tui-current-position"):
        return [(f"class:here.styled {style}", text) for style, text in line]
    return [("class:here", text) for _, text in line]


def _shifted(line: Line, left: int) -> Line:
    """Return a line without its first columns, counting each character as one column."""
    if not left:
        return line
    found: Line = []
    for style, text in line:
        found.append((style, text[left:]))
        left = max(0, left - len(text))
    return found
