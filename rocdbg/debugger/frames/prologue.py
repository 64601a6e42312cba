"""Unwind rows for code without call frame information, read from its prologues."""

from __future__ import annotations

from rocdbg.analysis.prologue import FunctionCode, PrologueRows
from rocdbg.codeobject.symbols import SymbolType
from rocdbg.debugger.frames.unwind import RowSource
from rocdbg.debugger.program.program import Program


def prologue_rows(program: Program, wave_size: int) -> RowSource:
    """Rows by file address for the functions that the symbol table names, run by waves of a size."""
    code_object = program.code_object

    def find(address: int) -> FunctionCode | None:
        symbol = code_object.symbols.at(address)
        if symbol is None or not symbol.is_defined or symbol.type not in (
            SymbolType.FUNC, SymbolType.AMDGPU_HSA_KERNEL,
        ):
            return None
        start = code_object.address_of(symbol)
        is_kernel = code_object.kernels.find(symbol.name) is not None
        return FunctionCode(start, start + symbol.size, is_kernel)

    return PrologueRows(code_object.target, wave_size, find, code_object.read)
