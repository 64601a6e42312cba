"""Decoder and disassembler for AMDGPU machine code.

``decode`` and ``disassemble`` turn bytes into :class:`Instruction` values; ``operands.parse_register`` reads register
and constant operands as users type them. ``assemble`` turns the text of an instruction into its bytes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rocdbg.arch.targets import Target
from rocdbg.isa.decoder import DecodeError, Decoder, UnknownEncodingError, decode, decoder_for, disassemble
from rocdbg.isa.instruction import Flow, Instruction, Operand, OperandKind
from rocdbg.isa.operand_expressions import Lookup
from rocdbg.isa.operands import OperandSyntaxError, Register, parse_register

if TYPE_CHECKING:
    from rocdbg.isa.assembler.errors import AssemblyError

__all__ = [
    "AssemblyError",
    "DecodeError",
    "Decoder",
    "Flow",
    "Instruction",
    "Operand",
    "OperandKind",
    "OperandSyntaxError",
    "Register",
    "UnknownEncodingError",
    "assemble",
    "decode",
    "decoder_for",
    "disassemble",
    "parse_register",
]


def assemble(
    text: str, target: str | Target, address: int = 0, *, symbols: Lookup | None = None, wave_size: int | None = None,
) -> bytes:
    """The bytes of one instruction in LLVM's syntax, which will be at ``address``.

    Without an encoding suffix, the shortest encoding that fits the operands is used. ``symbols`` maps a name in an
    expression to its address, to an `expressions.Value` if it names a number, or to None if it is unknown; ``.`` is
    ``address``. ``wave_size`` as for :func:`decode`. Raises AssemblyError, and UnknownEncodingError for a target
    without a table.
    """
    from rocdbg.isa.assembler.encoder import assembler_for

    name = target if isinstance(target, str) else target.name
    return assembler_for(name, wave_size).assemble(text, address, symbols)


def __getattr__(name: str) -> Any:
    if name == "AssemblyError":  # imported late: few sessions assemble instructions
        from rocdbg.isa.assembler.errors import AssemblyError

        return AssemblyError
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
