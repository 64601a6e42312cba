"""What the operands of an instruction hold in a wave that stands before it."""

from __future__ import annotations

from rocdbg.arch.dwarf_registers import register_number
from rocdbg.arch.targets import Generation
from rocdbg.debugger.frames.inferior import Inferior
from rocdbg.isa.instruction import Operand, OperandKind
from rocdbg.isa.operands import FILE_NAMES

VECTORS = (OperandKind.VGPR, OperandKind.AGPR)


class WaveRegisters:
    """What a wave holds where the target stands."""

    def __init__(self, inferior: Inferior, thread: int) -> None:
        self._target, self._thread = inferior.need_target(), thread
        self.wave_size = inferior.wave(thread).lane_count

    def dword(self, operand: Operand, offset: int, lane: int) -> int:
        """A dword of an operand; 0 of what cannot be read."""
        if operand.kind in (OperandKind.CONSTANT, OperandKind.LITERAL, OperandKind.IMMEDIATE):
            return operand.value >> 32 * offset & 0xFFFF_FFFF
        if operand.kind is OperandKind.SPECIAL:
            name, at = {106: ("vcc", 0), 107: ("vcc", 1), 126: ("exec", 0), 127: ("exec", 1)}.get(
                operand.index, ("", 0)
            )
            if not name:
                return (self._target.read_special(self._thread, "m0") or 0) if operand.text == "m0" else 0
            offset += at
            if offset and self.wave_size == 32:  # a register of its own, no part of the mask
                return self.special(f"{name}_hi")
        else:
            name = f"{FILE_NAMES[operand.kind]}{operand.index + offset}"
            offset = lane if operand.kind in VECTORS else 0
        if name.startswith("ttmp"):
            return self._target.read_special(self._thread, name) or 0
        data = self._target.read_register(self._thread, register_number(name, self.wave_size))
        return int.from_bytes(data[4 * offset : 4 * offset + 4], "little")

    def special(self, name: str) -> int:
        """A register that only the target's own numbers name; 0 where there is none."""
        return self._target.read_special(self._thread, name) or 0

    def scc(self) -> bool:
        """SCC."""
        return bool(self._target.read_special(self._thread, "scc"))

    def active(self) -> int:
        """EXEC."""
        data = self._target.read_register(self._thread, register_number("exec", self.wave_size))
        return int.from_bytes(data, "little")

    def permuted(self) -> int:
        """Lanes among which ds_bpermute_b32 exchanges: on GFX10 and GFX11 those of a half."""
        halves = self._target.architecture.generation in (Generation.GFX10, Generation.GFX11)
        return 32 if halves else self.wave_size


__all__ = ["VECTORS", "WaveRegisters"]
