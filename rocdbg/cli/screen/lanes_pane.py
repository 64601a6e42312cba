"""The lane map: a cell for each lane of the wave, with a letter for its position; arrows and clicks select lanes."""

from __future__ import annotations

from rocdbg.cli.screen.fragments import Fragment, Line, shortened_name
from rocdbg.cli.screen.pane import Pane
from rocdbg.cli.screen.session_view import View
from rocdbg.debugger import lane_ranges

MOVES = {"up": -1, "down": 1, "left": -1, "right": 1}


class LanesPane(Pane):
    """Letters stand for the lanes' positions; capitals are active lanes, ``.`` is an inactive one at an unknown place.

    The selected lane is in brackets. Arrows move a cursor; Enter or a click selects its lane.
    """

    name = "lanes"

    def __init__(self) -> None:
        super().__init__()
        self.cursor: int | None = None
        self.has_focus = False
        self._across = 16
        self._selected: tuple[object, ...] = ()

    def state(self) -> object:
        return self.top, self.left, self.cursor, self.has_focus

    def title(self, view: View) -> list[Fragment]:
        standing = view.standing
        if standing is None or view.wave is None:
            return [("", "lanes")]
        group = ",".join(map(str, view.wave.workgroup))
        text = f"lanes of wave {standing.thread} ({group})/{view.wave.index}"
        return [("", text), ("", f": {standing.active.bit_count()}/{standing.used.bit_count()}"), ("", " active")]

    def _follow(self, view: View) -> None:
        """Move the cursor to the selection if the selection has changed."""
        selected = (view.life, view.focus.thread, view.focus.lane)
        if selected != self._selected:
            self._selected, self.cursor = selected, view.focus.lane

    def lines(self, view: View, width: int, height: int) -> list[Line]:
        self.height = height
        standing = view.standing
        if standing is None:
            return [[("class:dim", "[ No Wave ]")]]
        self._follow(view)
        self._across = across = 32 if width >= 69 and standing.lane_count > 32 else 16 if width >= 36 else 8
        found: list[Line] = []
        for first in range(0, standing.lane_count, across):
            line: Line = [("class:number", f"{first:>2} ")]
            for lane in range(first, min(first + across, standing.lane_count)):
                line += self._cell(view, lane)
            selected = view.focus.lane
            if selected is not None and selected == first + across - 1:
                line.append(("class:selected", "]"))
            found.append(line)
        legend = self._legend(view, width)
        # the lanes come first; the remaining rows explain the letters
        self.top = max(0, min(self.top, len(found) + len(legend) - height))
        return (found + legend)[self.top : self.top + height]

    def _cell(self, view: View, lane: int) -> Line:
        standing = view.standing
        assert standing is not None
        bit = 1 << lane
        selected = view.focus.lane
        edge = "[" if selected == lane else "]" if selected is not None and selected + 1 == lane and (
            lane % self._across) else " "
        style, letter = "class:dim", " "
        if standing.used & bit:
            index = standing.place_of(lane)
            if index is None:
                letter = "·" if view.unicode else "."
            else:
                active = bool(standing.active & bit)
                letter = view.place_letter(index, active)
                style = view.place_style(index) + (" class:active" if active else "")
        else:
            letter = "-"
        if self.has_focus and lane == self.cursor:
            style += " class:cursor"
        elif selected == lane:
            style += " class:selected"
        return [("class:selected" if edge != " " else "", edge), (style, letter)]

    def _legend(self, view: View, width: int) -> list[Line]:
        standing = view.standing
        assert standing is not None
        lines: list[Line] = []
        for index, place in enumerate(standing.places):
            where = f"{place.pc:#x}"
            if place.file is not None:
                where = f"{shortened_name(place.file.basename, width // 2)}:{place.line}"
            parts = []
            if active := place.lanes & standing.active:
                parts.append(f"{active.bit_count()} active")
            if waiting := place.lanes & ~standing.active:
                parts.append(f"{waiting.bit_count()} waiting")
            letter = view.place_letter(index, bool(active))
            lines.append([
                (f"{view.place_style(index)} class:active", f" {letter} "), ("class:file", where),
                ("", f" {', '.join(parts)}"), ("class:dim", f" [{lane_ranges(place.lanes)}]"),
            ])
        if standing.nowhere:
            mark = "·" if view.unicode else "."
            lines.append([("class:dim", f" {mark} {standing.nowhere.bit_count()} inactive")])
        return lines

    def key(self, view: View, name: str) -> str | None:
        standing = view.standing
        if standing is None or name not in (*MOVES, "enter"):
            return super().key(view, name)
        self._follow(view)
        if self.cursor is None:
            self.cursor = view.focus.lane or 0
        if name == "enter":
            return f"lane {self.cursor}" if self.cursor != view.focus.lane else None
        step = MOVES[name] * (self._across if name in ("up", "down") else 1)
        if 0 <= self.cursor + step < standing.lane_count:
            self.cursor += step
        return None

    def click(self, view: View, x: int, y: int) -> str | None:
        standing = view.standing
        column = (x - 3) // 2
        row = y + self.top
        if standing is None or x < 3 or column >= self._across:
            return None
        lane = row * self._across + column
        if lane >= standing.lane_count:
            return None
        self.cursor = lane
        return f"lane {lane}" if lane != view.focus.lane else None
