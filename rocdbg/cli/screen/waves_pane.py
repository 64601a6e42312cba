"""The list of waves, with the position and the number of active lanes of each; a click or Enter selects a wave."""

from __future__ import annotations

from rocdbg.cli.screen.fragments import Fragment, Line, shortened_name
from rocdbg.cli.screen.pane import Pane
from rocdbg.cli.screen.session_view import View
from rocdbg.debugger.reports.lane_positions_report import line_at
from rocdbg.errors import Error


class WavesPane(Pane):
    """Shows the waves. Positions are computed only for visible ones, as there may be thousands."""

    name = "waves"

    def __init__(self) -> None:
        super().__init__()
        self.cursor: int | None = None
        self.has_focus = False
        self._selected: tuple[object, ...] = ()
        self._numbers: list[int] = []

    def state(self) -> object:
        return self.top, self.left, self.cursor, self.has_focus

    def title(self, view: View) -> list[Fragment]:
        target = view.session.inferior.target
        count = len(target.waves()) if target is not None and view.running else 0
        return [("", f"waves: {count}" if count else "waves")]

    def lines(self, view: View, width: int, height: int) -> list[Line]:
        target = view.session.inferior.target
        if target is None or not view.running:
            self.height = height
            return [[("class:dim", "[ No Waves ]")]]
        waves = target.waves()
        self._numbers = [wave.number for wave in waves]
        chosen = (view.life, view.stops, view.focus.thread)
        if chosen != self._selected and view.focus.thread in self._numbers:
            self._selected, self.cursor = chosen, self._numbers.index(view.focus.thread)
            self._show(self.cursor, height)
        found: list[Line] = []
        for index in self.window(len(waves), height):
            wave = waves[index]
            is_current = wave.number == view.focus.thread
            if is_current and view.standing is not None and view.standing.places:
                file, line = view.standing.places[0].file, view.standing.places[0].line
            else:
                file, line = line_at(view.session.inferior, wave.pc)
            try:
                active = (view.session.inferior.active_lanes(wave.number) & wave.used_lanes).bit_count()
            except Error:
                active = (wave.exec_mask & wave.used_lanes).bit_count()
            used = wave.used_lanes.bit_count()
            group = ",".join(map(str, wave.workgroup))
            style = "class:cursor" if self.has_focus and index == self.cursor else (
                "class:selected" if is_current else "")
            where = f"{shortened_name(file.basename, width // 2)}:{line}" if file is not None else f"{wave.pc:#x}"
            found.append([
                (style, f"{'*' if is_current else ' '}{wave.number:>3} ({group})/{wave.index}"),
                ("", f" {view.bar(active, used)}{active}/{used} "), ("class:file", where),
                ("class:function", f" {wave.kernel}"),
            ])
        return found

    def _show(self, index: int, height: int) -> None:
        if not self.top <= index < self.top + height:
            self.top = max(0, index - height // 2)

    def key(self, view: View, name: str) -> str | None:
        if name not in ("up", "down", "enter") or not self._numbers:
            return super().key(view, name)
        cursor = min(self.cursor or 0, len(self._numbers) - 1)
        if name == "enter":
            return self._select(view, cursor)
        self.cursor = max(0, min(len(self._numbers) - 1, cursor + (-1 if name == "up" else 1)))
        self._show(self.cursor, self.height)
        return None

    def click(self, view: View, x: int, y: int) -> str | None:
        index = self.top + y
        if not 0 <= index < len(self._numbers):
            return None
        self.cursor = index
        return self._select(view, index)

    def _select(self, view: View, index: int) -> str | None:
        number = self._numbers[index]
        return f"thread {number}" if number != view.focus.thread else None
