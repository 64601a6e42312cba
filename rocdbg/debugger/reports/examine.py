"""Memory examination: ``x/FMT``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct
from msgspec.structs import replace

from rocdbg import work
from rocdbg.addresses import LoadedAddress
from rocdbg.debugger.base.errors import DebuggerError, ExpressionError, MemoryAccessError
from rocdbg.debugger.expr.names.convenience_variables import Convenience
from rocdbg.debugger.expr.program_data import Data
from rocdbg.debugger.expr.value_access import decay, follow, place_of
from rocdbg.debugger.frames.inferior import Inferior
from rocdbg.debugger.frames.selection import Selection
from rocdbg.debugger.program.program import Program
from rocdbg.debugger.reports.descriptors import described_address, described_kernel, descriptor_at
from rocdbg.debugger.reports.disassembly import DisassemblyLine, instructions_at, instructions_before
from rocdbg.debugger.values import c_types
from rocdbg.debugger.values.format_letters import SIZE_LETTERS, Format
from rocdbg.debugger.values.number_text import format_binary, format_integer, format_string
from rocdbg.debugger.values.scalar_text import format_letter
from rocdbg.debugger.values.value import Value
from rocdbg.debugger.values.value_storage import Memory, MemoryStorage
from rocdbg.debugger.values.value_text import Formatter
from rocdbg.dwarf.info.types import BaseType, Encoding, Type
from rocdbg.errors import Error


class ExamineLine(Struct, frozen=True):
    """A line: the address as text (with its symbol), and the columns after the colon.

    ``following`` is the address after the line, where an ``x`` without argument continues. For instructions,
    ``current`` says whether the line is at the PC; otherwise it is ``None``.
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
    """What was shown: the lines, where the next ``x`` continues, the type of the items, and the last value (``$__``).
    """

    lines: tuple[ExamineLine, ...]
    next_address: int
    type: Type
    last: Value | None
    last_address: int
    begun: str = ""
    """The incomplete line in which memory ended."""
    error: Error | None = None
    """The error at the place where memory ended."""

    def whole(self) -> tuple[ExamineLine, ...]:
        """Return the lines. If memory ended before the last of them, raise the error."""
        if self.error is not None:
            raise self.error
        return self.lines


_PER_LINE = {1: 8, 2: 8, 4: 4, 8: 2}


def item_type(fmt: Format) -> Type:
    """Return the type of an item of a format."""
    size = SIZE_LETTERS[fmt.size or "w"]
    if fmt.letter == "f":
        return {2: c_types.HALF, 4: c_types.FLOAT, 8: c_types.DOUBLE}.get(size, sized(size))
    return sized(size)


def sized(size: int) -> Type:
    """Return the integer type of this size under the name that ``x`` uses; one byte is not a character."""
    return BaseType(f"int{8 * size}_t", Encoding.SIGNED, size)


def effective(fmt: Format, last: Format) -> Format:
    """Complete a format: missing letters come from the last format, sizes from GDB's defaults."""
    letter = fmt.letter or last.letter or "x"
    size = fmt.size
    if letter == "a":
        size = size or "g"
    elif letter == "c" and not size:
        size = "b"
    elif letter == "f" and not size:
        size = last.size if last.size in ("w", "g") else "g"
    elif letter in ("s", "i") and not size:
        size = "b" if letter == "s" else last.size
    elif not size:
        size = last.size or "w"
    return replace(fmt, letter=letter, size=size)


def examine(
    memory: Memory, formatter: Formatter, program: Program | None, space: int, address: int, fmt: Format,
    pc: int | None = None, wave_size: int | None = None,
) -> Examination:
    """Show ``fmt.count`` items from an address on; a negative count shows the items before the address."""
    if fmt.letter == "i":
        return _instructions(memory, program, address, fmt, pc, wave_size, not formatter.settings.asm_demangle)
    if fmt.letter == "s":
        return _strings(memory, formatter, space, address, fmt)
    size = SIZE_LETTERS[fmt.size]
    count = abs(fmt.count)
    if fmt.count < 0:
        address -= count * size
    per_line = _PER_LINE[size]
    lines: list[ExamineLine] = []
    last: Value | None = None
    type_, kind = item_type(fmt), sized(size)
    done = 0
    while done < count:
        work.unit()
        line_address = address + done * size
        label = formatter.place(space, line_address)
        cells: list[str] = []
        for index in range(min(per_line, count - done)):
            place = line_address + index * size
            try:
                data = memory.read(space, place, size)
                last = Value(kind, MemoryStorage(memory, space, place), data=data)
                cells.append(_cell(last.with_type(type_), data, fmt, formatter))
            except Error as error:
                begun = "\t".join([f"{label}:", *cells, ""])
                return Examination(tuple(lines), place + size, kind, last, place, begun, error)
        done += len(cells)
        lines.append(ExamineLine(label, tuple(cells), _pointer(type_, space, address + done * size)))
    end = address + count * size
    # after items before an address were shown, the next ``x`` begins where this one did
    return Examination(tuple(lines), end if fmt.count >= 0 else address, kind, last, end - size)


def _cell(value: Value, data: bytes, fmt: Format, formatter: Formatter) -> str:
    letter = fmt.letter
    number = int.from_bytes(data, "little")
    if letter == "x":
        return format_integer(number, len(data), "z")
    if letter == "t":
        return format_binary(number, len(data), True, formatter.settings.nibbles)
    return format_letter(value, letter, "", formatter.place)


def _strings(memory: Memory, formatter: Formatter, space: int, address: int, fmt: Format) -> Examination:
    width = SIZE_LETTERS[fmt.size or "b"]
    names = {2: "char16_t", 4: "char32_t"}
    element: Type = BaseType(names[width], Encoding.UTF, width) if width in names else c_types.CHAR
    limit = formatter.settings.elements or 1 << 16
    lines = []
    start = address
    for _ in range(abs(fmt.count)):
        work.unit()
        data = bytearray()
        cut = True
        failure: Error | None = None
        while len(data) < limit * width:
            try:
                code = memory.read(space, start + len(data), width)
            except Error as error:
                failure, cut = error, False
                break
            if not any(code):
                cut = False
                break
            data += code
        text = format_string(bytes(data), element, formatter.settings, truncated=False)
        label = formatter.place(space, start)
        if failure is not None:
            text = f"{text}<error: {failure}>" if data else f"<error: {failure}>"
            lines.append(ExamineLine(label, (text,), _pointer(element, space, start + len(data))))
            start += len(data)
            continue
        after = _pointer(element, space, start + len(data) + (0 if cut else width))
        lines.append(ExamineLine(label, (text + ("..." if cut else ""),), after))
        address = start
        start += len(data) + (0 if cut else width)
    return Examination(tuple(lines), start, element if width in names else sized(1), None, address)


def _instructions(
    memory: Memory, program: Program | None, address: int, fmt: Format, pc: int | None, wave_size: int | None,
    mangled: bool,
) -> Examination:
    if program is None:
        raise DebuggerError(f"Cannot access memory at address {address:#x}")
    lines = []
    end = last = address
    found: Iterable[DisassemblyLine]
    if fmt.count < 0:
        found = instructions_before(program, memory, address, -fmt.count, pc, wave_size, mangled)
    else:
        found = instructions_at(program, memory, address, fmt.count, pc, wave_size, mangled)
    try:
        for line in found:
            offset = f"+{line.offset}" if line.offset else ""
            name = f" <{line.function}{offset}>" if line.function else ""
            last = line.address
            end = line.address + line.size
            after = _pointer(c_types.INT, 0, end)
            lines.append(ExamineLine(f"{line.address:#x}{name}", (line.text,), after, line.current))
    except MemoryAccessError as error:
        return Examination(tuple(lines), end, sized(1), None, last, f"   {end:#x}:\t", error)
    return Examination(tuple(lines), end, sized(1), None, last)


def _pointer(target: Type, space: int, address: int) -> Value:
    return Value.of_int(c_types.pointer_to(target, space), address)


class LastFormat(Struct):
    """The last format of ``x`` or ``print``, from which omitted letters are taken."""

    format: Format


class Examiner:
    """Executes ``x`` at the focus."""

    def __init__(
        self, inferior: Inferior, focus: Selection, data: Data, convenience: Convenience, last: LastFormat
    ) -> None:
        self._inferior = inferior
        self._focus = focus
        self._data = data
        self._convenience = convenience
        self._last = last

    def continued(self, fmt: Format) -> Format:
        """Return a format after the slash of ``print``; without a letter, the letter of the last format is used.

        Raises `ExpressionError` for the instruction format.
        """
        fmt = replace(fmt, letter=fmt.letter or self._last.format.letter)
        if fmt.letter == "i":
            raise ExpressionError('Format letter "i" is meaningless in "print" command.')
        self._last.format = replace(self._last.format, letter=fmt.letter)
        return fmt

    def examine(self, address: Value, fmt: Format, count: int | None = None) -> Examination:
        """``x/FMT``: show memory; set ``$_`` and ``$__`` to the last address and value.

        If memory ends, the result has the part before the end, and the error; the variables are then not set.
        """
        shown = self.shown(address, fmt if count is None else replace(fmt, count=count))
        if shown.error is not None:
            return shown
        space = place_of(address, self._data.environment()).space
        self._convenience.set("_", Value.of_int(c_types.pointer_to(shown.type, space), shown.last_address))
        self._convenience.set("__", shown.last if shown.last is not None else Value(c_types.VOID))
        fmt = effective(fmt, self._last.format)
        self._last.format = replace(fmt, count=1, size="b" if fmt.letter == "s" else fmt.size)
        return shown

    def shown(self, address: Value, fmt: Format) -> Examination:
        """Show memory as `examine` does, without setting variables; used for displays of memory."""
        environment = self._data.environment()
        fmt = effective(fmt, self._last.format)
        place = place_of(address, environment)
        space, start = place.space, place.value
        pc = wave_size = None
        if self._inferior.target is not None and self._focus.current.thread is not None:
            wave = self._inferior.wave(self._focus.current.thread)
            pc, wave_size = self._focus.frame().pc, wave.lane_count
        program = self._inferior.programs.at(LoadedAddress(start)) if self._inferior.program is not None else None
        return examine(environment.memory, self._data.formatter(), program, space, start, fmt, pc, wave_size)

    def descriptors(self, text: str, count: int) -> Iterator[tuple[str, list[str]]]:
        """``x/kd``: yield kernel descriptors, each with its place and its directives.

        ``text`` is the name of a kernel, with or without ``.kd``, or an expression: the address of a descriptor or of a
        kernel's first instruction.
        """
        programs = list(self._inferior.programs)
        environment = self._data.environment()
        kernel = described_kernel(programs, text, bare=True)
        if kernel is not None:
            address = described_address(programs, kernel)
        else:
            address = place_of(self._data.evaluate(text), environment).value
        for _ in range(count):
            place, lines, address = descriptor_at(programs, environment.memory, address)
            yield place, lines

    def go_to(self, address: int) -> Value:
        """Let ``$_``, and an ``x`` without an argument, begin at an address; return a pointer to it."""
        self._convenience.set("_", _pointer(c_types.VOID, 0, address))
        return _pointer(c_types.INT, 0, address)

    def following(self, shown: Examination, address: Value) -> Value:
        """Return where an ``x`` without an argument continues."""
        space = c_types.pointer_space(decay(follow(address, self._data.environment())).type)
        return _pointer(c_types.INT, space, shown.next_address)
