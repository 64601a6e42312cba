"""Arguments and locals of the selected lane next to those of two other lanes of its wave; differences are marked."""

from __future__ import annotations

import re

from rocdbg.cli.screen.fragments import Fragment, Line, columns, padded, shortened
from rocdbg.cli.screen.pane import Pane
from rocdbg.cli.screen.session_view import View
from rocdbg.debugger import lane_list
from rocdbg.debugger.base.focus import Focus
from rocdbg.debugger.frames.frames import Frame
from rocdbg.debugger.values.value import Value
from rocdbg.errors import Error

MOST_NAMES = 20
ELSEWHERE = "-"
NUMBER = re.compile(r"-?[0-9][0-9.e+-]*")
POINTER = re.compile(r"[a-z_0-9]+#0x[0-9a-f]+")


class LocalsPane(Pane):
    """Shows variables in several lanes. The others are the next active lanes of the wave, or those of ``tui compare``.
    """

    name = "locals"

    def __init__(self) -> None:
        super().__init__()
        self.chosen: tuple[int, ...] = ()

    def state(self) -> object:
        return self.top, self.left, self.chosen

    def compared(self, view: View) -> list[int]:
        """Return the lanes shown next to the selected one."""
        standing, lane = view.standing, view.focus.lane
        if standing is None or lane is None:
            return []
        chosen = [other for other in self.chosen if standing.used >> other & 1 and other != lane]
        if chosen:
            return chosen[:2]
        active = [other for other in lane_list(standing.active) if other != lane]
        rest = [other for other in lane_list(standing.used & ~standing.active) if other != lane]
        after = sorted(active, key=lambda other: (other < lane, other))
        return [*after, *sorted(rest, key=lambda other: (other < lane, other))][:2]

    def title(self, view: View) -> list[Fragment]:
        if view.frame is None:
            return [("", "locals")]
        return [("", f"locals of {view.frame.name or '??'}")]

    def lines(self, view: View, width: int, height: int) -> list[Line]:
        self.height = height
        frame, lane = view.frame, view.focus.lane
        if frame is None or lane is None or view.focus.thread is None:
            return [[("class:dim", "[ No Frame ]")]]
        others = self.compared(view)
        rows = _variables(view, frame)
        if not rows:
            return [[("class:dim", "No locals.")]]
        there = [_at_lane(view, frame, other) for other in others]
        names = min(MOST_NAMES, max(columns(name) for name, _ in rows), width // 3)
        shown = [
            (rows[index][0], [
                _text(view, frame, rows[index][1]),
                *(ELSEWHERE if index not in values else _text(view, there_frame, values[index])
                  for there_frame, values in there),
            ])
            for index in self.window(len(rows), height - 1)
        ]
        others = others[: fitting(shown, width - names - 1, len(others))]
        cell = max(6, (width - names - 1) // (1 + len(others)))
        head: Line = [("class:head", " " * (names + 1))]
        for index, number in enumerate((lane, *others)):
            state = "" if view.standing is not None and view.standing.active >> number & 1 else " (I)"
            label = f"lane {number}{state}"
            if len(label) >= cell:
                label = f"{number}{state}"
            head.append(("class:head" + (" class:selected" if not index else ""),
                         f"{shortened(label, cell - 1):<{cell}}"))
        found = [head]
        for name, (text, *texts) in shown:
            line: Line = [("class:variable", padded(shortened(name, names), names + 1)), ("", filled(text, cell))]
            for other in texts[: len(others)]:
                style = "class:dim" if other in (ELSEWHERE, text) else "class:differs"
                line.append((style, filled(other if other in (ELSEWHERE, text) else f"≠{other}" if view.unicode
                                            else f"!{other}", cell)))
            found.append(line)
        return found


def filled(text: str, width: int) -> str:
    """Return a value in a cell of ``width`` columns, the last of which is blank."""
    if len(text) >= width > 6 and POINTER.fullmatch(text):
        return "..." + text[4 - width :] + " "  # keep the end, since pointers differ in their last digits
    return padded(shortened(text, width - 1), width)


def fitting(rows: list[tuple[str, list[str]]], width: int, others: int) -> int:
    """Return how many other lanes can be shown without cutting off digits of a number; at least one, if there is
    another lane.
    """
    most = max((columns(text) for _, texts in rows for text in texts if NUMBER.fullmatch(text)), default=0)
    return next((count for count in range(others, 1, -1) if width // (1 + count) > most + 1), min(others, 1))


def _variables(view: View, frame: Frame) -> list[tuple[str, Value]]:
    """Return the locals, inner blocks first, then the arguments."""
    data = view.session.data
    return [*(row for block in data.locals(frame) for row in block.variables), *data.arguments(frame)]


def _at_lane(view: View, frame: Frame, lane: int) -> tuple[Frame, dict[int, Value]]:
    """Return the same variables in another lane's frame of the same function, by their index in the list; none if the
    lane is in another function.
    """
    focus = Focus(view.focus.thread, lane, view.focus.frame, view.focus.iteration)
    try:
        other = view.session.inferior.frame(focus)
        if other.function is not frame.function:
            return frame, {}
        mine = _names(frame)
        return other, {
            mine[key]: value
            for key, (_, value) in zip(_keys(other), _variables(view, other), strict=True)
            if key in mine
        }
    except Error:
        return frame, {}


def _keys(frame: Frame) -> list[tuple[int, str]]:
    """Return keys for a frame's variables, their block and name, in the order of `_variables`."""
    blocks = [
        (scope.die.offset, v.name or "")
        for scope in frame.scopes
        for v in scope.variables
        if not v.is_parameter and v.name
    ]
    last = frame.scopes[-1] if frame.scopes else None
    return blocks + [(-1, v.name) for v in (last.variables if last else ()) if v.is_parameter and v.name]


def _names(frame: Frame) -> dict[tuple[int, str], int]:
    return {key: index for index, key in enumerate(_keys(frame))}


def _text(view: View, frame: Frame, value: Value) -> str:
    try:
        return view.session.data.format_in(value, view.session.data.environment_of(frame))
    except Error as error:
        return f"<error: {error}>"
