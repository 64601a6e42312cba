"""Whether the line table's end of a prologue is at the beginning of an instruction, and on the path of every call."""

from __future__ import annotations

from rocdbg import isa
from rocdbg.addresses import FileAddress
from rocdbg.codeobject import CodeObject
from rocdbg.errors import Error

_FARTHEST = 1 << 16
"""How many bytes after a function's start are decoded: prologues are short."""


def can_be_passed_by(code_object: CodeObject, start: FileAddress, address: FileAddress) -> bool:
    """Whether execution from a function's start can bypass an address, so that the prologue cannot end there.

    Code that cannot be decoded, or is far away, is assumed not to bypass it.
    """
    if not start <= address <= start + _FARTHEST:
        return False
    try:
        code = code_object.read(start, address - start)
        return any(
            instruction.flow in (isa.Flow.END, isa.Flow.INDIRECT, isa.Flow.BRANCH)
            or (instruction.flow is isa.Flow.COND_BRANCH and (instruction.branch_target or 0) > address)
            for instruction in isa.disassemble(code, code_object.target.name, address=start)
        )
    except Error:  # nothing contradicts the line table
        return False


def begins_instruction(code_object: CodeObject, start: FileAddress, address: FileAddress) -> bool:
    """Whether an instruction begins at an address after a function's start.

    A breakpoint elsewhere would never be reached. An address is assumed to be the beginning of one if the code cannot
    be decoded, or if it is far away.
    """
    if not start <= address <= start + _FARTHEST:
        return True
    try:
        code = code_object.read(start, address - start + 8)
        for instruction in isa.disassemble(code, code_object.target.name, address=start):
            if instruction.address >= address:
                return instruction.address == address
    except Error:  # the code is not known, so nothing contradicts the line table
        pass
    return True
