"""User data of compute shaders: the contents that a driver gives SGPRs before a wave starts, and the tables to which
they point.

See "AMDPAL" in the AMDGPU usage guide. The pipeline's register mapping says which register holds which entry of the
application's data, and which register points to a table. Pointers to tables have 32 bits; the shader takes the upper
half from its program counter. Mesa's compiler reserves the first two registers for the driver, which puts the beginning
of the scratch descriptor there. In code without an operating system, all registers are entries.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Final

from rocdbg.codeobject.elf_flags import OsAbi
from rocdbg.codeobject.kernels import Shader
from rocdbg.codeobject.shader_registers import USER_DATA_COUNT, HardwareStage, UserData, user_data
from rocdbg.sim.core.wave import Dim3
from rocdbg.sim.device.kernarg import MAX_SEGMENT_SIZE, KernargError

_GLOBAL_TABLE_SIZE: Final = 256
_COMPUTE_SCRATCH: Final = 16
"""Offset of the descriptor of compute scratch in the global internal table."""
_COUNTS: Final = _GLOBAL_TABLE_SIZE
_SPILLED: Final = _COUNTS + 16
"""Offsets of the workgroup counts and of the spill table after them."""


class UserDataBlock:
    """The user data of one dispatch of a shader; ``data`` is the application's data, from entry 0 on. Raises
    `KernargError` if the shader does not take any, or belongs to a stage that cannot be dispatched.
    """

    def __init__(self, shader: Shader, data: bytes) -> None:
        if shader.program.stage is not HardwareStage.CS:
            stage = shader.program.stage
            reason = f"it is a shader for {stage.purpose} ({stage.word}); only compute shaders can be launched"
            raise KernargError(shader.name, reason)
        if len(data) > MAX_SEGMENT_SIZE:
            raise KernargError(shader.name, f"the user data has {len(data)} bytes; the limit is {MAX_SEGMENT_SIZE}")
        self._shader = shader
        self._entries: tuple[int, ...] = struct.unpack(f"<{-(-len(data) // 4)}I", data + bytes(-len(data) % 4))
        if data and not shader.descriptor.user_sgpr_count:
            reason = (
                "user data is given, but COMPUTE_PGM_RSRC2 of the shader asks for none; set it under `registers`, as a "
                "driver may"
            )
            raise KernargError(shader.name, reason)

    @property
    def size(self) -> int:
        """Size of the tables in bytes."""
        return _SPILLED + 4 * len(self._entries)

    def memory(self, groups: Dim3, scratch: Sequence[int]) -> bytes:
        """The tables; ``scratch`` is the descriptor of the dispatch's scratch."""
        table = bytearray(self.size)
        struct.pack_into("<4I", table, _COMPUTE_SCRATCH, *scratch)
        struct.pack_into("<3I", table, _COUNTS, *groups)
        struct.pack_into(f"<{len(self._entries)}I", table, _SPILLED, *self._entries)
        return bytes(table)

    def registers(self, address: int, entry: int, scratch: Sequence[int]) -> tuple[int, ...]:
        """The user data registers with the tables at ``address`` and the code at ``entry``. Raises `KernargError`."""
        if self._shader.program.os_abi == OsAbi.AMDGPU_MESA3D:
            return (*scratch[:2], *self._entries)[:USER_DATA_COUNT]
        if self._shader.program.os_abi == OsAbi.NONE:
            return self._entries[:USER_DATA_COUNT]
        if (address + self.size) >> 32 != entry >> 32:
            raise KernargError(
                self._shader.name, "the tables of its user data cannot be reached by the 32-bit pointers in its code"
            )
        values = [0] * (USER_DATA_COUNT + 1)
        for index, word in self._shader.program.mapping.items():
            if 0 <= index < USER_DATA_COUNT:
                values[index : index + 2] = self._value(word, address, values[index + 1])
        return tuple(values[:USER_DATA_COUNT])

    def _value(self, word: int, address: int, following: int) -> tuple[int, int]:
        """Return the value of the register to which a mapping word belongs, and the value of the next register, which
        was ``following`` so far.
        """
        found = user_data(word)
        if isinstance(found, int):
            return self._entries[found] if found < len(self._entries) else 0, following
        match found:
            case UserData.GLOBAL_TABLE:
                return address & 0xFFFF_FFFF, following
            case UserData.SPILL_TABLE:
                return address + _SPILLED & 0xFFFF_FFFF, following
            case UserData.GROUP_COUNTS:
                return address + _COUNTS & 0xFFFF_FFFF, address + _COUNTS >> 32
            case UserData.SHADER_TABLE | UserData.GDS_RANGE:
                return 0, following  # neither exists
        what = found.words if found is not None else f"{word:#x}"
        raise KernargError(self._shader.name, f"its user data asks for {what}, which no dispatch has")


__all__ = ["UserDataBlock"]
