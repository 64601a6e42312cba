"""Memory examination: ``x/FMT``."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct
from msgspec.structs import replace

from rocdbg.addresses import LoadedAddress
from rocdbg.debugger.errors import DebuggerError
from rocdbg.debugger.expr.access import decay, follow
from rocdbg.debugger.expr.convenience import Convenience
from rocdbg.debugger.expr.data import Data
from rocdbg.debugger.frames.inferior import Inferior
from rocdbg.debugger.frames.selection import Selection
from rocdbg.debugger.program.program import Program
from rocdbg.debugger.reports.disassembly import DisassemblyLine, instructions_at, instructions_before
from rocdbg.debugger.values import ctypes
from rocdbg.debugger.values.format import SIZE_LETTERS, Format
from rocdbg.debugger.values.formatting import Formatter
from rocdbg.debugger.values.numbers import format_integer, format_string
from rocdbg.debugger.values.scalars import format_letter
from rocdbg.debugger.values.storage import Memory, MemoryStorage
from rocdbg.debugger.values.value import Value
from rocdbg.dwarf.info.types import Type


class ExamineLine(Struct, frozen=True):
    """A line: the address as text (with its symbol), and what stands after the colon, by column.

    ``following`` is the address behind the line, for an ``x`` without argument. ``current`` is ``None``
    but for instructions, where it marks the PC.
    """

    label: str
    cells: tuple[str, ...]
    following: Value
    current: bool | None = None

    @property
    def text(self) -> str:
        """The whole line."""
        mark = "" if self.current is None else ("=> " if self.current else "   ")
        return f"{mark}{self.label}:\t" + "\t".join(self.cells)


class Examination(Struct, frozen=True):
    """What was shown: the lines, where the next ``x`` goes on, and the last value (``$__``)."""

    lines: tuple[ExamineLine, ...]
    next_address: int
    last: Value | None
    last_address: int


_PER_LINE = {1: 8, 2: 8, 4: 4, 8: 2}


def item_type(fmt: Format) -> Type:
    """The type of an item of a format."""
    size = SIZE_LETTERS[fmt.size or "w"]
    if fmt.letter == "f":
        return {2: ctypes.HALF, 4: ctypes.FLOAT, 8: ctypes.DOUBLE}.get(size, ctypes.signed_of(size))
    if fmt.letter == "c":
        return ctypes.CHAR if size == 1 else ctypes.signed_of(size)
    if fmt.letter in ("u",):
        return ctypes.unsigned_of(size)
    return ctypes.signed_of(size)


def effective(fmt: Format, last: Format) -> Format:
    """A format with letters left out taken from the last one, sizes as GDB defaults them."""
    letter = fmt.letter or last.letter or "x"
    size = fmt.size
    if letter == "a":
        size = "g"
    elif letter == "c" and not size:
        size = "b"
    elif letter == "f" and not size:
        size = last.size if last.size in ("w", "g", "h") and last.letter == "f" else "w"
    elif letter in ("s", "i") and not size:
        size = "b" if letter == "s" else last.size
    elif not size:
        size = last.size or "w"
    return replace(fmt, letter=letter, size=size)


def examine(
    memory: Memory, formatter: Formatter, program: Program | None, space: int, address: int, fmt: Format,
    pc: int | None = None, wave_size: int | None = None,
) -> Examination:
    """Show ``fmt.count`` items from an address on; a negative count shows the ones before it."""
    if fmt.letter == "i":
        return _instructions(memory, program, address, fmt, pc, wave_size, not formatter.settings.asm_demangle)
    if fmt.letter == "s":
        return _strings(memory, formatter, space, address, fmt)
    size = SIZE_LETTERS[fmt.size]
    count = fmt.count
    if count < 0:
        address += count * size
        count = -count
    per_line = 1 if fmt.letter == "t" and size > 2 else _PER_LINE[size]
    if fmt.letter == "t":
        per_line = {1: 8, 2: 8, 4: 2, 8: 1}[size]
    elif (fmt.letter in ("a", "f") and size == 8) or fmt.letter == "a":
        per_line = 2
    lines: list[ExamineLine] = []
    last: Value | None = None
    type_ = item_type(fmt)
    done = 0
    while done < count:
        line_address = address + done * size
        cells = []
        for index in range(min(per_line, count - done)):
            place = line_address + index * size
            data = memory.read(space, place, size)
            last = Value(type_, MemoryStorage(memory, space, place), data=data)
            cells.append(_cell(last, data, fmt, formatter))
        done += len(cells)
        label = formatter.address(space, line_address, symbol=True)
        lines.append(ExamineLine(label, tuple(cells), _pointer(type_, space, address + done * size)))
    end = address + count * size
    return Examination(tuple(lines), end, last, end - size)


def _cell(value: Value, data: bytes, fmt: Format, formatter: Formatter) -> str:
    letter = fmt.letter
    number = int.from_bytes(data, "little")
    if letter == "x":
        return format_integer(number, len(data), "z")
    if letter == "t":
        return f"{number:0{8 * len(data)}b}"
    return format_letter(value, letter, "", formatter.address)


def _strings(memory: Memory, formatter: Formatter, space: int, address: int, fmt: Format) -> Examination:
    width = SIZE_LETTERS[fmt.size or "b"]
    element = {1: ctypes.CHAR, 2: ctypes.unsigned_of(2), 4: ctypes.unsigned_of(4)}.get(width, ctypes.CHAR)
    limit = formatter.settings.elements or 1 << 16
    lines = []
    last: Value | None = None
    start = address
    for _ in range(abs(fmt.count)):
        data = bytearray()
        cut = True
        while len(data) < limit * width:
            code = memory.read(space, start + len(data), width)
            if not any(code):
                cut = False
                break
            data += code
        text = format_string(bytes(data), element, formatter.settings, truncated=False)
        label = formatter.address(space, start, symbol=True)
        after = _pointer(element, space, start + len(data) + (0 if cut else width))
        lines.append(ExamineLine(label, (text + ("..." if cut else ""),), after))
        type_ = ctypes.array_of(element, len(data) // width + (0 if cut else 1))
        last = Value(type_, MemoryStorage(memory, space, start))
        address = start
        start += len(data) + (0 if cut else width)
    return Examination(tuple(lines), start, last, address)


def _instructions(
    memory: Memory, program: Program | None, address: int, fmt: Format, pc: int | None, wave_size: int | None,
    mangled: bool,
) -> Examination:
    if program is None:
        raise DebuggerError("There is no code to show.")
    lines = []
    end = last = address
    found: Iterable[DisassemblyLine]
    if fmt.count < 0:
        found = instructions_before(program, memory, address, -fmt.count, pc, wave_size, mangled)
    else:
        found = instructions_at(program, memory, address, fmt.count, pc, wave_size, mangled)
    for line in found:
        offset = f"+{line.offset}" if line.offset else ""
        name = f" <{line.function}{offset}>" if line.function else ""
        last = line.address
        end = line.address + line.size
        after = _pointer(ctypes.INT, 0, end)
        lines.append(ExamineLine(f"{line.address:#x}{name}", (line.text,), after, line.current))
    return Examination(tuple(lines), end, None, last)


def _pointer(target: Type, space: int, address: int) -> Value:
    return Value.of_int(ctypes.pointer_to(target, space), address)


class LastFormat(Struct):
    """The format that ``x`` was given last: what is left out the next time is taken from it."""

    format: Format


class Examiner:
    """``x`` at the focus."""

    def __init__(
        self, inferior: Inferior, focus: Selection, data: Data, convenience: Convenience, last: LastFormat
    ) -> None:
        self._inferior = inferior
        self._focus = focus
        self._data = data
        self._convenience = convenience
        self._last = last

    def examine(self, address: Value, fmt: Format, count: int | None = None) -> list[ExamineLine]:
        """``x/FMT``; ``$_`` and ``$__`` are set to the last address and value."""
        environment = self._data.environment()
        fmt = effective(fmt if count is None else replace(fmt, count=count), self._last.format)
        self._last.format = replace(fmt, count=1)
        followed = follow(address, environment)
        place = followed.address
        if fmt.letter in ("s", "i") or place is None or ctypes.is_pointer(followed.type):
            place = None
        pointer = decay(followed)
        if ctypes.is_aggregate(pointer.type) and followed.address is not None:
            space, start = followed.address.space, followed.address.value
        else:
            space, start = ctypes.pointer_space(pointer.type), pointer.as_int()
        pc = wave_size = None
        if self._inferior.target is not None and self._focus.current.thread is not None:
            wave = self._inferior.wave(self._focus.current.thread)
            pc, wave_size = self._focus.frame().pc, wave.lane_count
        program = self._inferior.programs.at(LoadedAddress(start)) if self._inferior.program is not None else None
        shown = examine(environment.memory, self._data.formatter(), program, space, start, fmt, pc, wave_size)
        last_type = shown.last.type if shown.last is not None else ctypes.INT
        self._convenience.set("_", Value.of_int(ctypes.pointer_to(last_type, space), shown.last_address))
        if shown.last is not None:
            self._convenience.set("__", shown.last)
        return list(shown.lines)
