"""Decoder and disassembler for AMDGPU machine code.

``decode`` and ``disassemble`` turn bytes into :class:`Instruction` values; ``operands.parse_register`` reads register
and constant operands as users type them.
"""

from __future__ import annotations

from rocdbg.isa.decoder import DecodeError, Decoder, UnknownEncodingError, decode, decoder_for, disassemble
from rocdbg.isa.instruction import Flow, Instruction, Operand, OperandKind
from rocdbg.isa.operands import OperandSyntaxError, Register, parse_register

__all__ = [
    "DecodeError",
    "Decoder",
    "Flow",
    "Instruction",
    "Operand",
    "OperandKind",
    "OperandSyntaxError",
    "Register",
    "UnknownEncodingError",
    "decode",
    "decoder_for",
    "disassemble",
    "parse_register",
]
