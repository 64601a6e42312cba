"""DWARF equivalents of a target's LLVM types: address spaces by triple, base types of values."""

from __future__ import annotations

from rocdbg.dwarf.typed_values import BaseType
from rocdbg.llvmdi.datalayout import DataLayout
from rocdbg.llvmdi.errors import EvaluationError
from rocdbg.llvmdi.llvm_types import FloatType, IntType, PointerType, Type, VectorType

__all__ = ["architecture_name", "base_type", "bits_type", "dwarf_space"]

_AMDGCN_SPACES = {0: 1, 1: 0, 2: 2, 3: 3, 4: 0, 5: 5}
"""LLVM's address spaces of AMDGPU (generic, global, region, local, constant, private) as DWARF numbers them."""


def architecture_name(triple: str) -> str | None:
    """The name of the evaluator's architecture for a triple: amdgcn, also for a text without a triple; None for other
    targets.
    """
    return "amdgcn" if not triple or triple.startswith("amdgcn") else None


def dwarf_space(triple: str, space: int) -> int:
    """The DWARF address space of LLVM's address space; `EvaluationError` where there is none."""
    if architecture_name(triple) is None:
        if space == 0:
            return 0
    elif space in _AMDGCN_SPACES:
        return _AMDGCN_SPACES[space]
    raise EvaluationError(f"address space {space} of {triple or 'amdgcn'} has no number in DWARF")


def base_type(layout: DataLayout, type: Type, *, signed: bool = True) -> BaseType:
    """The DWARF base type with which arithmetic gives the same results as with an LLVM type.

    LLVM's integers have no sign; where an operation needs one, they are signed, unless `signed` is False. Pointers are
    unsigned numbers. Raises `EvaluationError` for types on which DWARF has no arithmetic.
    """
    resolved = layout.resolved(type)
    match resolved:
        case IntType(bits):
            return BaseType(f"{'i' if signed else 'u'}{bits}", "DW_ATE_signed" if signed else "DW_ATE_unsigned", bits)
        case FloatType(name) if name not in ("bfloat", "ppc_fp128"):
            return BaseType(name, "DW_ATE_float", layout.bits(resolved))
        case PointerType(space):
            return BaseType(f"p{space}", "DW_ATE_unsigned", layout.bits(resolved))
        case VectorType(count, element):
            one = base_type(layout, element, signed=signed)
            return BaseType(f"v{count}{one.name}", one.encoding, one.bit_size, count)
    raise EvaluationError(f"DWARF has no base type for {type}")


def bits_type(bits: int) -> BaseType:
    """The base type whose values are plain bits."""
    return BaseType(f"u{bits}", "DW_ATE_unsigned", bits)
