"""The disassembly window: the instructions around the selected frame's PC."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from rocdbg.addresses import FileAddress, LoadedAddress
from rocdbg.cli.operand_lines import operand_note
from rocdbg.cli.screen.fragments import Fragment, Line
from rocdbg.cli.screen.pane import Pane
from rocdbg.cli.screen.session_view import View
from rocdbg.cli.screen.source_pane import on_current
from rocdbg.cli.source_listing import shown_instruction
from rocdbg.debugger.reports.disassembly import DisassemblyLine, function_bounds
from rocdbg.debugger.reports.line_info import line_info
from rocdbg.errors import Error

NO_CODE = "[ No Assembly Available ]"
REACH = 2048
"""How many bytes on each side of the PC are disassembled if the function is longer."""


Row = DisassemblyLine | str
"""An instruction, or a label before one."""


class AssemblyPane(Pane):
    """Follows the selected frame. Of a long function, the part around the frame's PC is shown."""

    name = "asm"

    def __init__(self) -> None:
        super().__init__()
        self._key: tuple[object, ...] = ()
        self._lines: list[Row] = []
        self._pc: tuple[object, ...] = ()

    def title(self, view: View) -> list[Fragment]:
        lines = self._code(view)
        first = next((line for line in lines if isinstance(line, DisassemblyLine)), None)
        name = first.function.partition("(")[0] if first is not None and first.function else "code"  # no parameters
        return [("", f"{name}, machine code" if lines else "machine code")]

    def _code(self, view: View) -> list[Row]:
        """Return the instructions to scroll through, with their labels; they are read again when the code has changed.
        """
        session = view.session
        try:
            program = session.inferior.need_program()
            address = int(view.frame.pc) if view.frame is not None else None
            if address is None:
                place = view.listed
                address = line_info(session.symbols, place.file, place.line).low if place is not None else None
            if address is None:
                return []
            low, high = self._range(view, address)
            program = session.inferior.programs.at(LoadedAddress(low))
            code = session.data.environment().memory.read(0, low, high - low)
            key = (id(program), view.life, low, high, code, session.settings.print.asm_demangle)
            if key != self._key:
                self._key, self._lines = key, _rows(session.places.disassemble(low, high))
        except Error:
            return []
        return self._lines

    @staticmethod
    def _range(view: View, address: int) -> tuple[int, int]:
        program = view.session.inferior.programs.at(LoadedAddress(address))
        _, low, high = function_bounds(program, address)
        code = program.functions.at(program.to_file(LoadedAddress(address)))
        if code is not None and program.function_at(LoadedAddress(address)) is None:  # assembly: include all symbols
            low = min(low, program.to_loaded(program.code_start(FileAddress(code.start))))
            high = max(high, program.to_loaded(FileAddress(code.end)))
        if high - low > 4 * REACH:
            row = program.line_at(LoadedAddress(max(low, address - REACH)))
            start = int(program.to_loaded(row.address)) if row is not None else address
            low = start if low <= start <= address else address  # an address at which an instruction certainly begins
            high = min(high, address + REACH)
        return low, high

    def lines(self, view: View, width: int, height: int) -> list[Line]:
        code = self._code(view)
        if not code:
            self.height = height
            return [[("class:dim", NO_CODE)]]
        pc = int(view.frame.pc) if view.frame is not None else None
        here = next((n for n, line in enumerate(code) if isinstance(line, DisassemblyLine) and line.address == pc), 0)
        moved = (view.life, view.stops, view.focus, self._key[2:4])
        if moved != self._pc or self.loses(here, height):
            self._pc = moved
            self.top = max(0, here - height // 3)
        lanes = _lanes_at(view)
        note = operand_note(view.shell) if view.frame is not None else ""
        found: list[Line] = []
        for index in self.window(len(code), height):
            line = code[index]
            if isinstance(line, str):
                found.append([("class:function", f"   {line}:")])
                continue
            is_current = line.address == pc
            count = lanes.get(line.address, 0)
            text: Line = [
                (f"class:{role}" if role else "", part) for role, part in shown_instruction(view.shell, line.text)
            ]
            if is_current and note:
                text.append(("class:comment", f"  ; {note}"))
            found.append([
                ("class:breakpoint", view.breakpoint_addresses.get(line.address, "  ")),
                ("class:current", ">" if is_current else " "),
                ("class:address", f"{line.address:#x} "), ("class:dim", f"<+{line.offset}>".ljust(8)),
                ("class:others", f"{count or '':>3} " if lanes else ""),
                *([*on_current(view, text), ("class:here", " " * width)] if is_current else text),
            ])
        return found


def _rows(lines: Sequence[DisassemblyLine]) -> list[Row]:
    rows: list[Row] = []
    for line in lines:
        rows += [*line.labels, line]
    return rows


def _lanes_at(view: View) -> Counter[int]:
    """Count the lanes of the wave at each address."""
    counts: Counter[int] = Counter()
    if view.standing is not None:
        for place in view.standing.places:
            counts[place.pc] += place.lanes.bit_count()
    return counts
