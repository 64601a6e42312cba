"""Whether a line table puts the end of a function's prologue where an instruction begins."""

from __future__ import annotations

from rocdbg import isa
from rocdbg.addresses import FileAddress
from rocdbg.codeobject import CodeObject
from rocdbg.errors import Error

_FARTHEST = 1 << 16
"""Bytes behind a function's start that are decoded: prologues are short."""


def begins_instruction(code_object: CodeObject, start: FileAddress, address: FileAddress) -> bool:
    """Whether an instruction begins at an address behind a function's start.

    A breakpoint elsewhere would never be reached. What cannot be decoded, or is far away, is taken for one.
    """
    if not start <= address <= start + _FARTHEST:
        return True
    try:
        code = code_object.read(start, address - start + 8)
        for instruction in isa.disassemble(code, code_object.target.name, address=start):
            if instruction.address >= address:
                return instruction.address == address
    except Error:  # the code is not known: nothing speaks against the table
        pass
    return True
