"""The names of the arithmetic exceptions, and whether code could notice that they occur."""

from __future__ import annotations

from enum import IntEnum

import numpy as np

from rocdbg.arch.targets import Generation, Target


class Cause(IntEnum):
    """Bit of TRAPSTS (GFX12: EXCP_FLAG_USER), and of MODE[18:12] (GFX12: TRAP_CTRL[6:0]) that enables the trap."""

    INVALID = 0
    DENORMAL = 1
    DIVIDE_BY_ZERO = 2
    OVERFLOW = 3
    UNDERFLOW = 4
    INEXACT = 5
    INTEGER_DIVIDE_BY_ZERO = 6

    @property
    def description(self) -> str:
        """``invalid operation`` and so on."""
        return _DESCRIPTIONS[self]


_DESCRIPTIONS = {
    Cause.INVALID: "invalid operation",
    Cause.DENORMAL: "subnormal source",
    Cause.DIVIDE_BY_ZERO: "division by zero",
    Cause.OVERFLOW: "overflow",
    Cause.UNDERFLOW: "underflow",
    Cause.INEXACT: "inexact result",
    Cause.INTEGER_DIVIDE_BY_ZERO: "integer division by zero",
}

ENABLED_SHIFT = 12
"""Shift of the bits in MODE that enable traps, before GFX12."""
CAUSES = (1 << len(Cause)) - 1
MEMORY_VIOLATION, ILLEGAL_INSTRUCTION = 1 << 8, 1 << 11
"""Further bits of TRAPSTS. GFX12 has them at other bits, in EXCP_FLAG_PRIV."""


def causes(flags: int) -> tuple[Cause, ...]:
    """The causes whose bits are set."""
    return tuple(cause for cause in Cause if flags >> cause & 1)


def excp_flag_priv(trapsts: int) -> int:
    """The violation bits of TRAPSTS at GFX12's positions: bits 4 and 6 of EXCP_FLAG_PRIV."""
    return bool(trapsts & MEMORY_VIOLATION) << 4 | bool(trapsts & ILLEGAL_INSTRUCTION) << 6


def enabled(target: Target, mode: int, trap_ctrl: int) -> int:
    """The causes for which traps are enabled, as bits."""
    return (trap_ctrl if target.generation >= Generation.GFX12 else mode >> ENABLED_SHIFT) & CAUSES


def could_notice(code: bytes | bytearray, target: Target) -> bool:
    """Whether dwords of ``code`` could be instructions that read the sticky bits or enable traps.

    False positives, such as literals and data that look like such instructions, only cost time.
    """
    words = np.frombuffer(code, "<u4", len(code) // 4)
    words = words[words >> 28 == 0xB]
    register, offset = words & 63, words >> 6 & 31
    end = offset + (words >> 11 & 31) + 1
    getreg, setreg, setreg_imm = _OPCODES.get(target.generation, (17, 18, 19))
    opcode = words >> 23
    get = opcode == (0xB << 5 | getreg)
    put = (opcode == (0xB << 5 | setreg)) | (opcode == (0xB << 5 | setreg_imm))
    if target.generation >= Generation.GFX12:
        return bool((get & (register == 18)).any())
    reads = get & (register == 3) & (offset < len(Cause))
    enables = put & (register == 1) & (offset < ENABLED_SHIFT + len(Cause)) & (end > ENABLED_SHIFT)
    return bool((reads | enables).any())


_OPCODES = {
    Generation.GFX6: (18, 19, 21), Generation.GFX7: (18, 19, 21), Generation.GFX8: (17, 18, 20),
    Generation.GFX9: (17, 18, 20), Generation.GFX10: (18, 19, 21),
}
"""s_getreg_b32, s_setreg_b32, s_setreg_imm32_b32 in SOPK, where their opcodes differ from GFX11's."""

__all__ = [
    "CAUSES",
    "ENABLED_SHIFT",
    "ILLEGAL_INSTRUCTION",
    "MEMORY_VIOLATION",
    "Cause",
    "causes",
    "could_notice",
    "enabled",
    "excp_flag_priv",
]
