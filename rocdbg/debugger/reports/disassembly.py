"""Instructions of the program with their symbols and source lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress

from msgspec import Struct

from rocdbg import isa
from rocdbg.addresses import LoadedAddress
from rocdbg.debugger.base.errors import DebuggerError
from rocdbg.debugger.program.program import Program, code_name
from rocdbg.debugger.values.value_storage import Memory
from rocdbg.dwarf.info import SourceFile
from rocdbg.errors import Error

MAX_INSTRUCTION = 32
"""Bytes that are read at least where one instruction is wanted."""


class DisassemblyLine(Struct, frozen=True):
    """One instruction.

    ``function`` and ``offset`` are the symbol it is in; ``file`` and ``line`` its source line, where
    known; ``current`` marks the PC. ``text`` is as llvm-objdump writes it, with a symbol behind branch
    targets.
    """

    address: int
    size: int
    data: bytes
    text: str
    function: str | None
    offset: int
    file: SourceFile | None
    line: int | None
    current: bool


def disassemble(
    program: Program, memory: Memory, low: int, high: int, pc: int | None = None, wave_size: int | None = None,
    mangled: bool = True,
) -> Iterator[DisassemblyLine]:
    """The instructions that begin in [low, high), loaded addresses; C++ symbols ``mangled`` or as in the source.

    Raises `MemoryAccessError`.
    """
    target = program.code_object.target.name
    code = memory.read(0, low, high - low)
    with suppress(Error):  # the last one may reach past the end, if anything is mapped there
        code += memory.read(0, high, MAX_INSTRUCTION)
    for instruction in isa.disassemble(code, target, address=low, **_wave(wave_size)):
        if instruction.address >= high:
            return
        data = code[instruction.address - low : instruction.address - low + instruction.size]
        yield _line(program, instruction, data, pc, mangled)


def instructions_before(
    program: Program, memory: Memory, end: int, count: int, pc: int | None = None,
    wave_size: int | None = None, mangled: bool = True,
) -> Sequence[DisassemblyLine]:
    """The last ``count`` instructions in front of an address (``x/-3i``), of as many functions as it takes.

    Raises `DebuggerError` where no function says where instructions begin.
    """
    found: list[DisassemblyLine] = []
    while len(found) < count:
        _, low, _ = function_bounds(program, end - 1)
        found[:0] = disassemble(program, memory, low, end, pc, wave_size, mangled)
        end = low
    return found[-count:]


def instructions_at(
    program: Program, memory: Memory, start: int, count: int, pc: int | None = None,
    wave_size: int | None = None, mangled: bool = True,
) -> Iterator[DisassemblyLine]:
    """``count`` instructions from an address on (``x/i``)."""
    target = program.code_object.target.name
    address = start
    for _ in range(count):
        code = _readable(memory, address)
        instruction = isa.decode(code, target, address=address, **_wave(wave_size))
        yield _line(program, instruction, code[: instruction.size], pc, mangled)
        address += instruction.size


def _wave(wave_size: int | None) -> dict[str, int]:
    return {} if wave_size is None else {"wave_size": wave_size}


def _readable(memory: Memory, address: int) -> bytes:
    """Up to the longest instruction's bytes, as many as can be read; at least one dword or the error."""
    for size in (MAX_INSTRUCTION, 20, 12, 8):
        try:
            return memory.read(0, address, size)
        except Error:
            continue
    return memory.read(0, address, 4)


def _line(
    program: Program, instruction: isa.Instruction, data: bytes, pc: int | None, mangled: bool
) -> DisassemblyLine:
    found = code_name(program, instruction.address, mangled)
    row = program.line_at(LoadedAddress(instruction.address))
    text = instruction.text
    if instruction.branch_target is not None:
        name = program.symbolize(instruction.branch_target, data=False, mangled=mangled)
        if name is not None and "<" not in text:
            text = f"{text} <{name}>"
    known = row is not None and row.line != 0
    return DisassemblyLine(
        instruction.address, instruction.size, data, text,
        found[0] if found else None, found[1] if found else 0,
        row.file if row is not None and known else None,
        row.line if row is not None and known else None,
        instruction.address == pc,
    )


def function_bounds(program: Program, address: int) -> tuple[str, int, int]:
    """Name, start and end (loaded) of the function around an address. Raises `DebuggerError`."""
    loaded = LoadedAddress(address)
    function, symbol = program.function_at(loaded), program.symbol_at(loaded)
    if symbol is not None and symbol.size:
        start = program.code_object.address_of(symbol)
        low = program.to_loaded(program.code_start(start))
        name = program.symbol_and_offset(address, data=False)
        return (name[0] if name else symbol.name), low, program.to_loaded(start) + symbol.size
    if function is not None and function.low_pc is not None and function.high_pc is not None:
        name_text = program.function_title(function)
        return name_text, program.to_loaded(function.low_pc), program.to_loaded(function.high_pc)
    raise DebuggerError("No function contains specified address.")
