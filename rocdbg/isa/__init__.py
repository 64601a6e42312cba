"""Decoder and disassembler for AMDGPU machine code.

``decode`` and ``disassemble`` turn bytes into :class:`Instruction` values; ``operands.parse_register`` reads register and
constant operands as users type them.
"""

from __future__ import annotations

from rocdbg.isa.instruction import Flow, Instruction, Operand, OperandKind

__all__ = ["Flow", "Instruction", "Operand", "OperandKind"]
