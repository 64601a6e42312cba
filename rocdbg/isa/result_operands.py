"""The operands of an instruction that are results."""

from __future__ import annotations

from collections.abc import Iterator

from rocdbg.isa.instruction import Instruction, Operand

_ALWAYS = frozenset({"vdst", "vdstx", "vdsty"})
_SWAPS = ("v_swap_", "v_permlane16_swap", "v_permlane32_swap")
_READS_SDST = ("s_setreg", "s_cmpk_", "s_cbranch_", "s_waitcnt_")
"""SOPK instructions whose only register field is a source."""
ACCUMULATES = (
    "v_mac_", "v_fmac_", "v_dot2c_", "v_dot4c_", "v_dot8c_", "v_pk_fmac_", "s_fmac_", "s_addk_", "s_mulk_", "s_cmov",
    "v_writelane",
)
"""Prefixes of the names of instructions that also read their destination."""
_MATRIX = ("v_mfma", "v_smfmac", "v_wmma", "v_swmmac")


def results(instruction: Instruction) -> Iterator[Operand]:
    """The operands that the instruction writes. Registers that it writes without naming them (EXEC, SCC) are not
    included."""
    name, modifiers = instruction.name, instruction.modifiers
    returns = bool(modifiers.get("glc") or modifiers.get("sc0") or int(modifiers.get("th", 0)) & 1)
    atomic, stores = "_atomic" in name, "_store" in name
    for operand in instruction.operands:
        match operand.name:
            case word if word in _ALWAYS:
                if not (atomic and instruction.encoding in ("FLAT", "GLOBAL", "SCRATCH") and not returns):
                    yield operand
            case "sdst":
                if not name.startswith(_READS_SDST):
                    yield operand
            case "sdata" if not stores and (not atomic or returns):
                yield operand
            case "vdata" if instruction.encoding.startswith(("MUBUF", "MTBUF", "MIMG", "VIMAGE", "VSAMPLE", "VBUFFER")):
                if not stores and (not atomic or returns) and not modifiers.get("lds"):
                    yield operand
            case "src0" if name.startswith(_SWAPS):
                yield operand


def ignores_exec(instruction: Instruction) -> bool:
    """Whether lanes that EXEC disables also get results."""
    return instruction.name == "v_writelane_b32" or instruction.name.startswith(_MATRIX)


def sources(instruction: Instruction) -> Iterator[Operand]:
    """The operands that the instruction reads, including those that it also writes. Registers that it reads without
    naming them (EXEC, SCC) are not included.
    """
    written = list(results(instruction))
    keeps = instruction.name.startswith(ACCUMULATES)
    for operand in instruction.operands:
        if keeps or operand not in written:
            yield operand


__all__ = ["ACCUMULATES", "ignores_exec", "results", "sources"]
