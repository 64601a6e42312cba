"""Whether code may switch on the index mode of GFX8 and GFX9, in which M0 chooses registers."""

from __future__ import annotations

import numpy as np

from rocdbg.arch.targets import Generation, Target
from rocdbg.sim.core.layout import GPR_IDX_EN

_SET_GPR_IDX_ON = 0xBF11
"""The upper half of s_set_gpr_idx_on."""
_SETREGS = (0x172, 0x174)
"""The upper nine bits of s_setreg_b32 and s_setreg_imm32_b32."""
_MODE = 1


def may_index(code: bytes, target: Target) -> bool:
    """Whether there is an instruction that can set the mode, or a literal that looks like one."""
    if target.generation not in (Generation.GFX8, Generation.GFX9):
        return False
    words = np.frombuffer(code[: len(code) & ~3], "<u4")
    register, first, size = words & 63, words >> 6 & 31, (words >> 11 & 31) + 1
    sets = np.isin(words >> 23, _SETREGS) & (register == _MODE)
    sets &= (first <= GPR_IDX_EN) & (first + size > GPR_IDX_EN)
    return bool(np.any(sets | (words >> 16 == _SET_GPR_IDX_ON)))


__all__ = ["may_index"]
