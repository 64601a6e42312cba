"""Whether a line table puts the end of a function's prologue where an instruction begins, and where all calls pass."""

from __future__ import annotations

from rocdbg import isa
from rocdbg.addresses import FileAddress
from rocdbg.codeobject import CodeObject
from rocdbg.errors import Error

_FARTHEST = 1 << 16
"""Bytes behind a function's start that are decoded: prologues are short."""


def can_be_passed_by(code_object: CodeObject, start: FileAddress, address: FileAddress) -> bool:
    """Whether code from a function's start to an address leads past it: a prologue does not end there.

    What cannot be decoded, or is far away, is taken for code that does not.
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
    except Error:  # as above: nothing speaks against the table
        return False


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
