"""A wavefront: named access to its flat block of state."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rocdbg.arch.lane_sets import all_lanes, lane_list
from rocdbg.arch.targets import Generation, ScratchKind, Target
from rocdbg.sim.core import layout
from rocdbg.sim.core.arithmetic_exceptions import CAUSES, causes, enabled, excp_flag_priv
from rocdbg.sim.core.guarded import Head, headed_rows
from rocdbg.sim.device.schedule import WaveFlag

Dim3 = tuple[int, int, int]
"""x, y, z."""


class StateBlock(NamedTuple):
    """The memory of one wave: its state, uint8[bytes], and the engine's words before that,
    uint8[`layout.ENGINE_SIZE`]."""

    state: NDArray[np.uint8]
    engine: NDArray[np.uint8]

    def cell(self, name: str) -> NDArray[np.unsignedinteger]:
        """A view of a field of `layout.WORDS` as an array of one number."""
        field = layout.WORDS[name]
        block, at = (self.state, field.offset) if name in layout.HEADER else (
            self.engine, field.offset - layout.ENGINE_OFFSET
        )
        return block[at : at + field.size].view(field.dtype)


_FIRST_SGPR = layout.SGPRS // 4


class Wave:
    """One resident wave: named access to ``state`` (layout: `rocdbg.sim.core.layout`), which holds all architectural
    state, and to ``engine``, the engine's own words at `layout.ENGINE_OFFSET`.

    ``flags`` is the `WaveFlag` of the wave's slot, uint8[1]. ``address`` is the host address of the state block.
    """

    __slots__ = (
        "_dwords",
        "_engine_dwords",
        "_engine_qwords",
        "_qwords",
        "address",
        "agpr_count",
        "engine",
        "flags",
        "index",
        "lds",
        "number",
        "sgpr_count",
        "state",
        "target",
        "vgpr_count",
        "wave_size",
        "workgroup",
        "workgroup_size",
    )

    def __init__(
        self,
        block: StateBlock,
        target: Target,
        wave_size: int,
        number: int,
        workgroup: Dim3,
        index: int,
        workgroup_size: Dim3,
        lds: NDArray[np.uint8],
        flags: NDArray[np.uint8] | None = None,
    ) -> None:
        self.state, self.engine = block
        self.address = int(self.state.ctypes.data)
        self._dwords: NDArray[np.uint32] = self.state.view(np.uint32)
        self._qwords: NDArray[np.uint64] = self.state.view(np.uint64)
        self._engine_dwords: NDArray[np.uint32] = self.engine.view(np.uint32)
        self._engine_qwords: NDArray[np.uint64] = self.engine.view(np.uint64)
        self.target = target
        self.wave_size = wave_size
        self.number = number
        self.workgroup = workgroup
        self.index = index
        self.workgroup_size = workgroup_size
        self.lds = lds
        self.sgpr_count = 0
        self.vgpr_count = 0
        self.agpr_count = 0
        self.flags = flags if flags is not None else np.full(1, WaveFlag.RESIDENT, np.uint8)

    @property
    def waiting(self) -> bool:
        """Whether the wave is at a barrier that others of its group have not reached."""
        return bool(self.flags[0] & WaveFlag.WAITING)

    @property
    def ended(self) -> bool:
        """Whether the wave has executed ``s_endpgm``. Its block may already belong to another wave."""
        return not self.flags[0] & WaveFlag.RESIDENT

    def retire(self) -> None:
        """Record that the wave has ended and no longer owns its slot."""
        self.flags = np.zeros(1, np.uint8)

    # -- fields of the header, words of the engine ---------------------------------------------------------------

    def field(self, name: str) -> int:
        """A field of `layout.HEADER` by name."""
        entry = layout.HEADER[name]
        if entry.size == 8:
            return int(self._qwords[entry.offset // 8])
        return int(self._dwords[entry.offset // 4])

    def set_field(self, name: str, value: int) -> None:
        """Set a field of `layout.HEADER`; ``value`` is truncated to the field's size."""
        entry = layout.HEADER[name]
        if entry.size == 8:
            self._qwords[entry.offset // 8] = value & (1 << 64) - 1
        else:
            self._dwords[entry.offset // 4] = value & (1 << 32) - 1

    def word(self, name: str) -> int:
        """A word of `layout.ENGINE` by name."""
        entry = layout.ENGINE[name]
        at = entry.offset - layout.ENGINE_OFFSET
        return int(self._engine_qwords[at // 8] if entry.size == 8 else self._engine_dwords[at // 4])

    def set_word(self, name: str, value: int) -> None:
        """Set a word of `layout.ENGINE`; ``value`` is truncated to its size. Only for the engine."""
        entry = layout.ENGINE[name]
        at = entry.offset - layout.ENGINE_OFFSET
        if entry.size == 8:
            self._engine_qwords[at // 8] = value & (1 << 64) - 1
        else:
            self._engine_dwords[at // 4] = value & (1 << 32) - 1

    def take(self, name: str) -> int:
        """Read and clear a word of the engine that says why the wave stopped."""
        value = self.word(name)
        self.set_word(name, 0)
        return value

    @property
    def pc(self) -> int:
        """Simulated address of the next instruction."""
        return self.field("pc")

    @pc.setter
    def pc(self, value: int) -> None:
        self.set_field("pc", value)

    @property
    def instructions(self) -> int:
        """Wave-instructions executed so far."""
        return self.word("instructions")

    @property
    def used_lanes(self) -> int:
        """Mask of the lanes that have a work-item."""
        return self.word("used_lanes")

    @property
    def scc(self) -> int:
        """The scalar condition code, 0 or 1."""
        return self.field("scc")

    @scc.setter
    def scc(self, value: int) -> None:
        self.set_field("scc", 1 if value else 0)

    @property
    def mode(self) -> int:
        """The hardware register MODE."""
        return self.field("mode")

    @mode.setter
    def mode(self, value: int) -> None:
        self.set_field("mode", value)

    @property
    def status(self) -> int:
        """The hardware register STATUS, with the current SCC, EXECZ and VCCZ."""
        mask = all_lanes(self.wave_size)
        zeros = (self.exec & mask == 0) << 9 | (self.vcc & mask == 0) << 10
        return self.field("status") & ~0x601 | self.scc | zeros

    @status.setter
    def status(self, value: int) -> None:
        self.set_field("status", value & ~0x601)
        self.scc = value & 1

    @property
    def enabled_exceptions(self) -> int:
        """The arithmetic exceptions that trap, as bits of `arithmetic_exceptions.Cause`."""
        return enabled(self.target, self.mode, self.field("trap_ctrl"))

    @property
    def trapsts(self) -> int:
        """The hardware register TRAPSTS."""
        return self.field("trapsts")

    @trapsts.setter
    def trapsts(self, value: int) -> None:
        self.set_field("trapsts", value)

    @property
    def trap_ctrl(self) -> int:
        """GFX12's hardware register TRAP_CTRL: bits 6:0 say which arithmetic exceptions trap."""
        return self.field("trap_ctrl")

    @trap_ctrl.setter
    def trap_ctrl(self, value: int) -> None:
        self.set_field("trap_ctrl", value)

    @property
    def excp_flag_user(self) -> int:
        """GFX12's hardware register EXCP_FLAG_USER: the arithmetic exceptions that have occurred."""
        return self.trapsts & CAUSES

    @excp_flag_user.setter
    def excp_flag_user(self, value: int) -> None:
        self.trapsts = self.trapsts & ~CAUSES | value & CAUSES

    @property
    def excp_flag_priv(self) -> int:
        """GFX12's hardware register EXCP_FLAG_PRIV: memory violation (bit 4) and illegal instruction (bit 6)."""
        return excp_flag_priv(self.trapsts)

    @property
    def state_priv(self) -> int:
        """GFX12's hardware register STATE_PRIV: SCC (bit 9), and whether the wave has scratch (bit 18)."""
        return self.scc << 9 | (self.scratch_size != 0) << 18

    @property
    def scratch_base(self) -> int:
        """Simulated address of this wave's scratch area; its dwords are interleaved by lane."""
        return self.word("scratch_base")

    @property
    def scratch_size(self) -> int:
        """Size in bytes of the wave's scratch area, for all lanes together."""
        return self.word("scratch_size")

    @property
    def lane_scratch_size(self) -> int:
        """Bytes of private memory of one lane."""
        return self.scratch_size // self.wave_size

    @property
    def flat_scratch(self) -> int:
        """FLAT_SCRATCH: the hardware's register where it is architected, otherwise the SGPR pair of gfx9 and gfx10."""
        if self.target.flat_scratch_code >= 0 and self.target.scratch is not ScratchKind.ARCHITECTED:
            return self.sgpr64(self.target.flat_scratch_code)
        return self.field("flat_scratch")

    # -- scalar registers ------------------------------------------------------------------------------------

    @property
    def sgprs(self) -> NDArray[np.uint32]:
        """The scalar file by hardware operand code, uint32[128], writable."""
        return self._dwords[layout.SGPRS // 4 : layout.SGPRS // 4 + layout.SGPR_COUNT]

    def sgpr(self, number: int) -> int:
        """The scalar register with operand code ``number`` (s0 = 0, vcc_lo = 106, ttmp0 = 108, ...)."""
        if not 0 <= number < layout.SGPR_COUNT:
            raise IndexError(f"there is no scalar operand {number}")
        return int(self._dwords[_FIRST_SGPR + number])

    def set_sgpr(self, number: int, value: int) -> None:
        """Write a scalar register by operand code; ``value`` is truncated to 32 bits."""
        self.sgprs[number] = value & 0xFFFF_FFFF

    def sgpr64(self, number: int) -> int:
        """A register pair as one number, ``number`` naming the low half."""
        return self.sgpr(number) | self.sgpr(number + 1) << 32

    def set_sgpr64(self, number: int, value: int) -> None:
        """Write a register pair."""
        self.set_sgpr(number, value)
        self.set_sgpr(number + 1, value >> 32)

    @property
    def exec(self) -> int:
        """The EXEC mask; its upper half is ignored in wave32."""
        return self._mask(layout.EXEC_LO)

    @exec.setter
    def exec(self, value: int) -> None:
        self._set_mask(layout.EXEC_LO, value)

    @property
    def vcc(self) -> int:
        """VCC, one bit per lane."""
        return self._mask(layout.VCC_LO)

    @vcc.setter
    def vcc(self, value: int) -> None:
        self._set_mask(layout.VCC_LO, value)

    @property
    def m0(self) -> int:
        """M0."""
        return self.sgpr(m0_code(self.target))

    @m0.setter
    def m0(self, value: int) -> None:
        self.set_sgpr(m0_code(self.target), value)

    def ttmp(self, number: int) -> int:
        """Trap temporary ``number``, 0..15."""
        return self.sgpr(self.target.first_ttmp + number)

    def _mask(self, code: int) -> int:
        return self.sgpr64(code) if self.wave_size == 64 else self.sgpr(code)

    def _set_mask(self, code: int, value: int) -> None:
        if self.wave_size == 64:
            self.set_sgpr64(code, value)
        else:
            self.set_sgpr(code, value)

    # -- vector registers ------------------------------------------------------------------------------------

    def vgpr(self, number: int) -> NDArray[np.uint32]:
        """VGPR ``number``: one dword per lane, uint32[wave_size], a writable view of the state."""
        start = layout.vgpr_offset(number, self.wave_size) // 4
        return self._dwords[start : start + self.wave_size]

    def agpr(self, number: int) -> NDArray[np.uint32]:
        """AGPR ``number``, as `vgpr`; only on targets that have them."""
        start = layout.agpr_offset(number, self.wave_size) // 4
        return self._dwords[start : start + self.wave_size]

    def clear_vectors(self) -> None:
        """Clear the vector registers that are allocated to the wave."""
        width = self.wave_size * 4
        self.state[layout.VGPRS : layout.VGPRS + self.vgpr_count * width] = 0
        if self.agpr_count:
            start = layout.agpr_offset(0, self.wave_size)
            self.state[start : start + self.agpr_count * width] = 0

    # -- position and memory ---------------------------------------------------------------------------------

    def work_item(self, lane: int) -> Dim3:
        """Position of a lane's work-item in its group, x varying fastest."""
        flat = self.index * self.wave_size + lane
        width, height, _ = self.workgroup_size
        return flat % width, flat // width % height, flat // (width * height)

    def exception_lanes(self, flags: int) -> tuple[int, ...]:
        """The lanes in which the last watched instruction raised any of the arithmetic exceptions ``flags``."""
        mask = 0
        for cause in causes(flags):
            start = layout.sgpr_offset(layout.EXCEPTION_MASKS + 2 * cause)
            mask |= int.from_bytes(self.state[start : start + self.wave_size // 8].tobytes(), "little")
        return tuple(lane_list(mask))

    def active_lanes(self) -> tuple[int, ...]:
        """The lanes whose EXEC bit is set, ascending."""
        return tuple(lane_list(self.exec))

    def scratch_address(self, lane: int, offset: int) -> int:
        """Simulated global address of the byte at ``offset`` of a lane's private memory.

        Consecutive bytes are contiguous only within an aligned dword.
        """
        return self.scratch_base + (offset // 4) * 4 * self.wave_size + lane * 4 + offset % 4

    def __repr__(self) -> str:
        return f"<Wave {self.number} {self.workgroup}/{self.index} pc={self.pc:#x}>"


def m0_code(target: Target) -> int:
    """Operand code of M0: 125 from gfx11 on, where 124 became null; 124 before."""
    return 125 if target.generation >= Generation.GFX11 else 124


HEAD: Final = Head(layout.ENGINE_SIZE, -layout.ENGINE_OFFSET)
"""Where a wave's engine words lie, for `guarded.headed_rows`."""


def state_block(target: Target, wave_size: int) -> StateBlock:
    """Zeroed memory for one wave, between guard pages."""
    return block_of_size(layout.state_size(wave_size, target.has_agprs, target.vgpr_file))


def block_of_size(size: int) -> StateBlock:
    """As `state_block`, for a state of ``size`` bytes."""
    engine, state = headed_rows(1, size, HEAD)
    return StateBlock(state[0], engine[0])
