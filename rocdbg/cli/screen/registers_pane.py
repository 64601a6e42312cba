"""The register window: registers of the selected frame, with vector registers in the focused lane, and changes marked.
"""

from __future__ import annotations

from rocdbg.cli.screen.fragments import Fragment, Line, padded, shortened
from rocdbg.cli.screen.pane import Pane
from rocdbg.cli.screen.session_view import View
from rocdbg.debugger.reports.session_tables import RegisterRow
from rocdbg.debugger.values import c_types
from rocdbg.debugger.values.format_letters import Format
from rocdbg.errors import Error

GROUPS = ("general", "vector", "system", "all")
"""``general``: PC, EXEC, VCC and scalar registers; ``vector``: vector registers; ``system``: the others."""
COLUMN = 38
NAME = 13
RAW = 11
GENERAL = ("pc", "exec", "vcc")


class RegistersPane(Pane):
    """Shows registers. ``*`` marks a change since the previous stop, ``~`` a vector register changed only in other
    lanes.
    """

    name = "regs"

    def __init__(self) -> None:
        super().__init__()
        self.group = "general"

    def state(self) -> object:
        return self.top, self.left, self.group

    def title(self, view: View) -> list[Fragment]:
        if view.wave is None:
            return [("", f"registers: {self.group}")]
        title: list[Fragment] = [("", f"registers: {self.group}, wave {view.focus.thread}, lane {view.focus.lane}")]
        standing = view.standing
        if standing is not None and not view.exec_is_of_source:
            title.append(("", f"; lanes of the source: {standing.active:#x}"))
        return title

    def names(self, view: View) -> list[str]:
        """Return the registers of the group."""
        return [name for name in view.register_names if self.group in ("all", _group(name))]

    def lines(self, view: View, width: int, height: int) -> list[Line]:
        names = self.names(view)
        if view.frame is None:
            self.height = height
            return [[("class:dim", "[ Register Values Unavailable ]")]]
        across = max(1, width // COLUMN)
        rows = -(-len(names) // across)
        shown = self.window(rows, height)
        found: list[Line] = []
        for row in shown:
            line: Line = []
            for column in range(across):
                index = column * rows + row  # first down, then across, as in GDB
                if index < len(names):
                    line += self._cell(view, names[index], width // across)
            found.append(line)
        return found

    def _cell(self, view: View, name: str, width: int) -> Line:
        try:
            [row] = view.session.tables.registers([name])
        except Error as error:
            text, mark = f"<{error}>", " "
        else:
            raw, natural = self._texts(view, row)
            text, mark = f"{raw:<{RAW}} {natural}".rstrip(), self._mark(view, row)
            if len(text) > width - NAME - 2:
                text = raw  # all digits of one form are better than parts of two
        style = "class:changed" if mark != " " else ""
        return [
            ("class:register", f"{name:<{NAME}}"), ("class:changed", mark),
            (style, padded(shortened(text, width - NAME - 2), width - NAME - 1)),
        ]

    @staticmethod
    def _texts(view: View, row: RegisterRow) -> tuple[str, str]:
        """Return a register as bits and as a value; the value is empty if it is the same text."""
        value = row.value
        if value.absence is not None or not c_types.is_vector_like(value.type):
            return row.raw, row.natural if row.raw != row.natural else ""
        lane = view.focus.lane or 0
        element = next((each for index, each in enumerate(value.each_element()) if index == lane), None)
        if element is None:
            return row.raw, ""
        formatter = view.session.data.formatter()
        return formatter.format(element, Format("x")), formatter.format_nested(element)

    @staticmethod
    def _mark(view: View, row: RegisterRow) -> str:
        now = view.registers.get(row.name)
        before = (view.baseline or {}).get(row.name)
        if now is None or before is None or now == before:
            return " "
        if not c_types.is_vector_like(row.value.type):
            return "*"
        lane = 4 * (view.focus.lane or 0)
        return "*" if now[lane : lane + 4] != before[lane : lane + 4] else "~"


def _group(name: str) -> str:
    if name in GENERAL or (name[0] == "s" and name[1:].isdecimal()):
        return "general"
    return "vector" if name[0] in "va" and name[1:].isdecimal() else "system"
