"""Where machine code may have written a register: after each instruction that names it.

An instruction that only reads a register counts too, so that the analysis does not depend on a correct list of writes.
Instructions that may write a register without naming it (through M0 or an index mode) count for all registers.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from msgspec import Struct, field

from rocdbg import isa
from rocdbg.addresses import FileAddress, LoadedAddress
from rocdbg.arch.targets import Generation, Target
from rocdbg.codeobject.elf_symbols import SymbolType
from rocdbg.debugger.program.program import Program
from rocdbg.isa.instruction import Flow, Instruction, Operand, OperandKind
from rocdbg.sim.core.layout import GPR_IDX_EN

Named = tuple[OperandKind, int]
"""A register; the number of a vector register lacks the bits that some targets have in MODE."""
_FILES = frozenset((OperandKind.VGPR, OperandKind.AGPR, OperandKind.SGPR))
_BANK = 256


class RegisterUses(Struct, frozen=True):
    """Loaded addresses in the code of one program.

    ``behind``: for each register, the addresses that may come next after an instruction that names it. ``anyhow``:
    those after instructions that may write any register. ``every``: all instructions.
    """

    behind: dict[Named, set[int]] = field(default_factory=dict)
    anyhow: set[int] = field(default_factory=set)
    every: set[int] = field(default_factory=set)

    @classmethod
    def of(cls, program: Program) -> RegisterUses:
        """Read the whole text of a program."""
        section = program.code_object.sections.get(".text")
        uses = cls()
        if section is None:
            return uses
        code = program.code_object.read(section.address, section.size)
        base = program.to_loaded(FileAddress(section.address)) - section.address
        instructions = list(
            isa.disassemble(code, program.code_object.target.name, section.address, wave_size=program.wave_size)
        )
        indexed = may_index(code, program.code_object.target)
        entries = [
            LoadedAddress(program.code_object.address_of(symbol) + base) for symbol in program.code_object.symbols
            if symbol.type == SymbolType.FUNC and symbol.is_defined
        ]
        for one in instructions:
            uses.every.add(one.address + base)
            following = {one.address + one.size + base}
            if one.flow is not Flow.NEXT:
                following.update(entries if one.flow in (Flow.CALL, Flow.INDIRECT) else ())
                if one.branch_target is not None:
                    following.add(one.branch_target + base)
            if _may_write_any(one, indexed):
                uses.anyhow.update(following)
            for named in _named(one):
                uses.behind.setdefault(named, set()).update(following)
        return uses

    def after(self, registers: Iterable[Named]) -> set[int]:
        """Return the addresses at which one of the registers may just have been written."""
        found = set(self.anyhow)
        for kind, index in registers:
            found |= self.behind.get((kind, index if kind is OperandKind.SGPR else index % _BANK), set())
        return found


def _named(instruction: Instruction) -> Iterable[Named]:
    extra = 1 if instruction.modifiers.get("tfe") else 0  # a status dword after the data
    for operand in instruction.operands:
        if operand.kind in _FILES:
            for index in range(operand.index, operand.index + operand.dwords + extra):
                yield operand.kind, index if operand.kind is OperandKind.SGPR else index % _BANK


def _may_write_any(instruction: Instruction, indexed: bool) -> bool:
    if "movrel" in instruction.mnemonic or "swaprel" in instruction.mnemonic:
        return True
    return indexed and any(_is_vector_result(operand) for operand in instruction.operands)


def _is_vector_result(operand: Operand) -> bool:
    return operand.kind is OperandKind.VGPR and operand.name == "vdst"


# Whether code may switch on the index mode of GFX8 and GFX9, in which M0 selects registers.
_SET_GPR_IDX_ON = 0xBF11
"""The upper half of s_set_gpr_idx_on."""
_SETREGS = (0x172, 0x174)
"""The upper nine bits of s_setreg_b32 and s_setreg_imm32_b32."""
_MODE = 1


def may_index(code: bytes, target: Target) -> bool:
    """Whether the code has an instruction that can set the index mode, or a literal that looks like one."""
    if target.generation not in (Generation.GFX8, Generation.GFX9):
        return False
    words = np.frombuffer(code[: len(code) & ~3], "<u4")
    register, first, size = words & 63, words >> 6 & 31, (words >> 11 & 31) + 1
    sets = np.isin(words >> 23, _SETREGS) & (register == _MODE)
    sets &= (first <= GPR_IDX_EN) & (first + size > GPR_IDX_EN)
    return bool(np.any(sets | (words >> 16 == _SET_GPR_IDX_ON)))


__all__ = ["Named", "RegisterUses", "may_index"]
