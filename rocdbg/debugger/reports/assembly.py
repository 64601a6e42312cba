"""Instructions that a user types: their bytes, and code overwritten with them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from rocdbg import isa
from rocdbg.addresses import LoadedAddress
from rocdbg.debugger.base.errors import DebuggerError
from rocdbg.debugger.expr.program_data import Data
from rocdbg.debugger.expr.value_access import place_of
from rocdbg.debugger.program.program import Program
from rocdbg.debugger.reports.disassembly import DisassemblyLine, disassemble, instructions_at
from rocdbg.isa.assembler.encoder import Assembler, assembler_for
from rocdbg.isa.operand_expressions import Value


def split(text: str, knows: Callable[[str], bool], target: str) -> tuple[str, str]:
    """The address expression in front of an instruction, "" if there is none, and the instruction.

    Raises `DebuggerError` if no word is an instruction of the target.
    """
    words = text.split()
    if not words:
        raise DebuggerError("Argument required (an instruction, maybe behind the address where it shall be).")
    place = 0
    for word in words:
        place = text.index(word, place)
        if knows(word):
            return text[:place].strip(), text[place:]
        place += len(word)
    raise DebuggerError(f"No word of `{text}' is an instruction of {target}.")


def assemble(data: Data, program: Program, wave_size: int | None, text: str) -> Sequence[DisassemblyLine]:
    """Assemble ``[ADDRESS] INSTRUCTION``; with an address, write the instruction there.

    Returns the instruction; where it was written, further those behind it up to the end of what it overwrote. Raises
    `isa.AssemblyError`, `DebuggerError` and `MemoryAccessError`.
    """
    target = program.code_object.target.name
    assembler = assembler_for(target, wave_size)
    where, instruction = split(text, assembler.knows, target)
    if not where:
        code = _bytes(assembler, program, instruction, 0)
        found = isa.decode(code, target, wave_size=assembler.wave_size)
        return [DisassemblyLine(0, found.size, code, found.text, None, 0, None, None, False)]
    place = place_of(data.evaluate(where), data.environment())
    address = place.value
    if place.space:
        raise DebuggerError("Code is in global memory only.")
    if address % 4:
        raise DebuggerError(f"Instructions begin at multiples of 4 bytes, which {address:#x} is not.")
    code = _bytes(assembler, program, instruction, address)
    memory = data.environment().memory
    end = address
    for old in instructions_at(program, memory, address, len(code) // 4, wave_size=wave_size):
        end += old.size
        if end >= address + len(code):
            break
    memory.write(0, address, code)
    return [replace(line, current=False) for line in disassemble(program, memory, address, end, None, wave_size)]


def _bytes(assembler: Assembler, program: Program, text: str, address: int) -> bytes:
    def symbol(name: str) -> int | Value | None:
        known = program.code_object.symbols.get(name)
        if known is not None and known.is_absolute:
            return Value(known.value)
        found: LoadedAddress | None = program.symbol_address(name)
        return found

    return assembler.assemble(text, address, symbol)
