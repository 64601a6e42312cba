"""Instructions of the program with their symbols and source lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress

from msgspec import Struct

from rocdbg import isa
from rocdbg.addresses import FileAddress, LoadedAddress
from rocdbg.debugger.base.errors import DebuggerError
from rocdbg.debugger.program.program import Program, code_name
from rocdbg.debugger.values.value_storage import Memory
from rocdbg.dwarf.info import SourceFile
from rocdbg.errors import Error

MAX_INSTRUCTION = 32
"""How many bytes are read for one instruction, if they are readable."""


class DisassemblyLine(Struct, frozen=True):
    """One instruction.

    ``function`` and ``offset`` identify the symbol that contains it; ``file`` and ``line`` its source line, if known.
    ``current`` marks the PC. ``text`` is in llvm-objdump's format, with branch targets by label, followed by their
    place in the function. ``labels`` are the labels at this address.
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
    labels: tuple[str, ...] = ()


def disassemble(
    program: Program, memory: Memory, low: int, high: int, pc: int | None = None, wave_size: int | None = None,
    mangled: bool = True,
) -> Iterator[DisassemblyLine]:
    """Yield the instructions that begin in [low, high), loaded addresses; ``mangled``: C++ symbols are not demangled.

    Raises `MemoryAccessError`.
    """
    target = program.code_object.target.name
    code = memory.read(0, low, high - low)
    with suppress(Error):  # the last instruction may extend past the end, where memory need not be readable
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
    """Return the last ``count`` instructions before an address (``x/-3i``), from as many functions as necessary.

    Raises `DebuggerError` if no function shows where instructions begin.
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
    """Yield ``count`` instructions from an address on (``x/i``)."""
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
    """Return the readable bytes at an address, at most those of the longest instruction. Raise the error if not even a
    dword is readable.
    """
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
        text = _with_target(program, instruction, LoadedAddress(instruction.branch_target), mangled)
    known = row is not None and row.line != 0
    return DisassemblyLine(
        instruction.address, instruction.size, data, text,
        found[0] if found else None, found[1] if found else 0,
        row.file if row is not None and known else None,
        row.line if row is not None and known else None,
        instruction.address == pc,
        _labels(program, LoadedAddress(instruction.address), found),
    )


def _labels(program: Program, address: LoadedAddress, function: tuple[str, int] | None) -> tuple[str, ...]:
    """Return the labels at an address, without the name of the enclosing function."""
    own = function[0] if function is not None and function[1] == 0 else ""
    return tuple(name for name in program.labels.heads(address) if name != own)


def _with_target(program: Program, instruction: isa.Instruction, target: LoadedAddress, mangled: bool) -> str:
    """Return a branch with its target by name: ``s_branch L_loop <k+20>``; without a label, ``s_branch 65532 <k+20>``.

    The brackets contain the place in the function, even if the label is itself a symbol by which addresses are named.
    """
    text = instruction.text
    name = program.symbolize(target, data=False, mangled=mangled)
    label = program.labels.target(target, LoadedAddress(instruction.address))
    head, blank, operand = text.rpartition(" ")
    if "<" in text:
        return text
    # in compiled code the label is the function's own beginning, which the brackets already show
    if label is not None and program.function_at(target) is None and operand.isdecimal() and blank:
        text = f"{head} {label}"
        if name == label:
            code = program.functions.at(program.to_file(target))
            start = program.to_loaded(FileAddress(code.start)) if code is not None else target
            around = program.symbol_and_offset(start, data=False, mangled=mangled) if start != target else None
            name = f"{around[0]}+{target - start}" if around is not None and around[1] == 0 else None
    return f"{text} <{name}>" if name is not None else text


def function_bounds(program: Program, address: int) -> tuple[str, int, int]:
    """Return the name, start and end (loaded) of the function around an address. Raises `DebuggerError`."""
    loaded = LoadedAddress(address)
    function, symbol = program.function_at(loaded), program.symbol_at(loaded)
    if symbol is not None and (symbol.size or function is None):
        extent = program.code_object.symbols.extent_at(program.to_file(loaded))
        assert extent is not None
        _, start, end = extent
        low = program.to_loaded(program.code_start(FileAddress(start)))
        name = program.symbol_and_offset(address, data=False)
        return (name[0] if name else symbol.name), low, program.to_loaded(FileAddress(end))
    if function is not None and function.low_pc is not None and function.high_pc is not None:
        name_text = program.function_title(function)
        return name_text, program.to_loaded(function.low_pc), program.to_loaded(function.high_pc)
    name, code = program.symbol_and_offset(address, data=False), program.functions.at(program.to_file(loaded))
    if name is not None and code is not None:  # a kernel that only its descriptor names
        return name[0], program.to_loaded(FileAddress(code.start)), program.to_loaded(FileAddress(code.end))
    raise DebuggerError("No function contains specified address.")
