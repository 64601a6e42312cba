"""The layout of the memory that generated code and Python share.

Four blocks exist:

* the *wave state*: one flat block per wave, with everything that a program can name. It can be copied, compared and
restored;
* the *engine words* of a wave: what the engine relies on, in separate pages before the wave state;
* the *environment*: one per engine: page table, apertures, entry points of helpers, scratch space of instructions
  (per-lane addresses, transferred data). Only the fault record in it outlives one instruction;
* the *page table* of simulated global memory.

All offsets are in bytes; all integers are little-endian, unsigned.

Wave state ---------- ``HEADER`` fields, then the scalar file (``SGPRS``: 128 dwords indexed by the hardware's operand
code, so that vcc = 106/107, ttmp0 = 108, m0 = 124 (gfx9, gfx10) or 125 (gfx11+), exec = 126/127 live in it), then the
vector registers: VGPR n of lane L is the dword at ``VGPRS + (n * wave_size + L) * 4``; the AGPRs are laid out in the
same way after ``VGPR_COUNT`` VGPRs. The layout does not depend on how many registers a kernel requests.
"""

from __future__ import annotations

import mmap
from enum import IntEnum, IntFlag
from typing import Final

from msgspec import Struct


class Field:
    """One field of a block: offset and size in bytes."""

    __slots__ = ("name", "offset", "size")

    def __init__(self, name: str, offset: int, size: int) -> None:
        self.name, self.offset, self.size = name, offset, size

    @property
    def dtype(self) -> str:
        """The NumPy type of the field."""
        return f"<u{self.size}"


def make_fields(*rows: tuple[str, int], start: int = 0) -> dict[str, Field]:
    """Lay out consecutive fields with these names and sizes, from ``start`` on, each aligned to its size (at most 8).
    """
    fields: dict[str, Field] = {}
    offset = start
    for name, size in rows:
        unit = min(size, 8)
        offset = -(-offset // unit) * unit
        fields[name] = Field(name, offset, size)
        offset += size
    return fields


# -- wave state --------------------

HEADER: Final = make_fields(
    ("pc", 8),  # simulated address of the next instruction
    ("flat_scratch", 8),  # base of flat scratch where the hardware holds it (ScratchKind.ARCHITECTED)
    ("scc", 4),  # 0 or 1
    ("mode", 4),  # hardware register MODE
    ("status", 4),  # hardware register STATUS (without SCC, EXECZ, VCCZ: those are computed when read)
    ("trapsts", 4),
    ("hw_id", 4),
    ("gpr_alloc", 4),
    ("lds_alloc", 4),
    ("trap_ctrl", 4),  # GFX12's TRAP_CTRL: bits 6:0 say which arithmetic exceptions trap
    ("sched_mode", 4),  # GFX12's SCHED_MODE
)
"""The part of a wave's state besides its general registers: hardware registers that a program, a debugger or a file may
name."""
SGPRS: Final = 256
SGPR_COUNT: Final = 128
SCALARS_END: Final = SGPRS + 4 * SGPR_COUNT
"""Header and scalar file lie before this offset. The space from here to ``VGPRS`` holds only temporary data: see
EXCEPTION_MASKS."""
EXCEPTION_MASKS: Final = SGPR_COUNT
"""Where the lanes of each arithmetic exception of one instruction are collected: seven masks, two dwords each, which
follow the scalar file as if they were SGPRs. They are valid only during the instruction, or after it if it ended a run.
"""
VGPRS: Final = 1024
VGPR_COUNT: Final = 256

VCC_LO: Final = 106
TTMP0: Final = 108
EXEC_LO: Final = 126


def state_size(wave_size: int, has_agprs: bool, vgprs: int = VGPR_COUNT) -> int:
    """Bytes of a wave's state block. ``vgprs`` is how many VGPRs instructions can name, which is 256 on targets that
    have AGPRs.
    """
    return VGPRS + vgprs * wave_size * 4 * (2 if has_agprs else 1)


def vgpr_offset(number: int, wave_size: int) -> int:
    """Offset of VGPR ``number`` in the state (``wave_size`` dwords)."""
    return VGPRS + number * wave_size * 4


def agpr_offset(number: int, wave_size: int) -> int:
    """Offset of AGPR ``number`` in the state (``wave_size`` dwords)."""
    return vgpr_offset(VGPR_COUNT + number, wave_size)


def sgpr_offset(code: int) -> int:
    """Offset of the scalar register with hardware operand code ``code`` (0..127)."""
    return SGPRS + code * 4


# -- engine words of a wave --------------------

ENGINE_SIZE: Final = 128
ENGINE_OFFSET: Final = -(2 * mmap.PAGESIZE + ENGINE_SIZE)
"""Offset of a wave's engine words from its state block. It is negative and so large that a whole inaccessible page lies
between the two, wherever in a page the block begins."""

ENGINE: Final = make_fields(
    ("instructions", 8),  # wave-instructions executed
    ("limit", 8),  # `instructions` must not exceed this (written by Engine.run)
    ("lds_pointer", 8),  # host address of the workgroup's LDS
    ("scratch_base", 8),  # simulated address of this wave's scratch area (dword-interleaved by lane)
    ("scratch_size", 8),  # its size in bytes
    ("used_lanes", 8),  # mask of lanes that have a work-item
    ("number", 8),  # wave number, from 1
    ("workgroup_x", 4),
    ("workgroup_y", 4),
    ("workgroup_z", 4),
    ("wave_in_group", 4),
    ("register_bounds", 8),  # packed numbers of the wave's registers: see register_bounds.py
    ("exception_pc", 8),  # the last instruction that could raise an arithmetic exception, if these are watched
    ("lds_size", 4),  # bytes of LDS the workgroup may touch
    ("vgpr_limit", 4),  # VGPRs the wave has: register numbers made with M0 must stay below
    ("exception", 4),  # enabled arithmetic exceptions of the instruction at exception_pc
    ("requested", 4),  # SGPR that receives the state of the workgroup's barrier (Status.BARRIER_STATE)
    ("trap_id", 4),  # operand of the s_trap that stopped the wave
    ("sleep", 4),  # operand of the last s_sleep
    ("gws", 4),  # what the wave waits for at a resource of global wave sync: see `translator.sync`
    start=ENGINE_OFFSET,
)
"""The engine's own data of a wave, as offsets from the state block: limits, bounds, a host address, the wave's
identity. There are no registers among them, and code outside the simulator, which uses `rocdbg.sim.architecture`,
cannot name these fields.
"""

WORDS: Final = {**HEADER, **ENGINE}
"""The fields of both blocks, for generated code and for the engine itself."""


# -- MODE --------------------

GPR_IDX_EN: Final = 27
"""Bit of MODE on GFX9: VGPR numbers of the operands chosen by M0[15:12] are relative to M0[7:0]."""

VSKIP: Final = 28
"""Bit of MODE on GFX9: vector instructions are skipped."""

VGPR_MSB: Final = 12
"""Lowest of eight bits of MODE on gfx125x: bits 9:8 of the VGPR numbers of four operands (`vgpr_banks`)."""

BANKS: Final = 11
"""Lowest bit, in a MODE key, of the bits that MODE has from VGPR_MSB on, on gfx125x."""

MODE_KEYS: Final = 1 << 19


def mode_key(mode: int, m0: int | None = None, banked: bool = False) -> int:
    """The parts of MODE (and, with GFX9's register indexing, of M0) on which blocks depend, packed into 19 bits.

    Pass ``m0`` on GFX9 only and ``banked`` on gfx125x only: on other targets these bits of MODE mean something else.
    """
    key = mode & 0x3FF | (mode >> 23 & 1) << 10
    if banked:
        return key | (mode >> VGPR_MSB & 0xFF) << BANKS
    if m0 is None:
        return key
    if mode >> VSKIP & 1:
        return key | 1 << 11
    indexed = m0 & 0xF000 if mode >> GPR_IDX_EN & 1 else 0
    return key | (indexed and 1 << 11 | indexed)


class Mode(Struct, frozen=True):
    """What a block may assume about MODE. Rounding modes: 0 nearest even, 1 +inf, 2 -inf, 3 zero."""

    key: int

    @property
    def round32(self) -> int:
        return self.key & 3

    @property
    def round16_64(self) -> int:
        return self.key >> 2 & 3

    @property
    def flush_inputs32(self) -> bool:
        return not self.key >> 4 & 1

    @property
    def flush_outputs32(self) -> bool:
        return not self.key >> 5 & 1

    @property
    def flush_inputs16_64(self) -> bool:
        return not self.key >> 6 & 1

    @property
    def flush_outputs16_64(self) -> bool:
        return not self.key >> 7 & 1

    @property
    def dx10_clamp(self) -> bool:
        return bool(self.key >> 8 & 1)

    @property
    def ieee(self) -> bool:
        return bool(self.key >> 9 & 1)

    @property
    def fp16_overflow(self) -> bool:
        """FP16_OVFL: f16 results that overflow are clamped to the largest number instead of infinity."""
        return bool(self.key >> 10 & 1)

    @property
    def skips_vectors(self) -> bool:
        """VSKIP: vector instructions are skipped."""
        return self.key >> 11 == 1

    @property
    def indexed(self) -> int:
        """The operands of vector instructions whose register numbers are relative to M0[7:0], as bits: 0 to 2 for the
        sources, 3 for the destination.
        """
        return self.key >> 12 & 15


# -- page table --------------------

WINDOW_BASE: Final = 0x7F00_0000_0000
"""Where simulated global memory begins unless it is shared with a program (`shared_window`). Generated code takes the
base from the environment."""
WINDOW_SIZE: Final = 1 << 40
PAGE_SHIFT: Final = 20
PAGE_SIZE: Final = 1 << PAGE_SHIFT
PAGE_COUNT: Final = WINDOW_SIZE >> PAGE_SHIFT
PAGE_ENTRY_SIZE: Final = 32
"""Entry: u64 host pointer of the page's start, u64 lo, u64 hi, u64 flags. An access is legal if lo <= offset and offset
+ size <= hi.

The flags are `PageFlags` in the low ``PAGE_FLAG_BITS`` bits; the bits above are the signed distance on the host from a
byte to its shadow, 0 if it has none (`uninitialized`)."""
PAGE_FLAG_BITS: Final = 8


class PageFlags(IntFlag):
    READ = 1
    WRITE = 2
    EXECUTE = 4
    SCRATCH = 8
    """Private memory of a dispatch's waves."""


SHARED_APERTURE: Final = 0x0001_0000_0000_0000
"""Default base of the LDS aperture of generic addresses; 4 GiB long."""
PRIVATE_APERTURE: Final = 0x0002_0000_0000_0000
"""Default base of the private aperture of generic addresses; 4 GiB long."""

SCRATCH_ADDRESSES: Final = 0x0800_0000_0000_0000
"""Where gfx125x places the private memory of all lanes (src_flat_scratch_base): bits 57:52 of an address are the lane,
bits 31:0 the offset. Code treats an address as private if it agrees with the base from bit 58 on."""


def is_scratch_address(address: int) -> bool:
    """Whether a generic address lies in `SCRATCH_ADDRESSES`."""
    return address >> 58 == SCRATCH_ADDRESSES >> 58


# -- environment --------------------

MAX_HELPERS: Final = 512
MAX_CHECK_ENTRIES: Final = 1 << 16  # the most checks at a time, counted for each MODE key
MAX_DATA: Final = 32  # dwords per lane that one instruction may transfer or permute

ENV: Final = make_fields(
    ("page_table", 8),
    ("mode_tables", 8),  # host address of u64[MODE_KEYS]: page directory of code for each mode key, 0 if none
    ("step_tables", 8),  # the same for one-instruction blocks
    ("shared_aperture", 8),
    ("private_aperture", 8),
    ("range_lo", 8),  # range stepping: stop when pc - range_lo >= range_size (range_size 0: no range)
    ("range_size", 8),
    ("fault_lanes", 8),  # mask of the lanes that faulted
    ("fault_kind", 4),  # FaultKind
    ("fault_access", 4),  # Access
    ("fault_size", 4),  # bytes per lane
    ("fault_space", 4),  # Space
    ("lds_drops", 4),  # 1: accesses beyond LDS read 0 and write nothing; 0: they fault
    ("gds_pointer", 8),  # host address of the global data share
    ("gds_size", 8),  # its bytes
    ("gws_pointer", 8),  # host address of the global wave sync resources (`global_share`)
    ("checks", 8),  # host address of the entries of checks at stops (`checks`)
    ("watches", 8),  # host address of the watched words (`watched_words`)
    ("touches", 8),  # host address of the bytes whose reads are watched too
    ("watch_pc", 8),  # after Status.WATCH: the instruction that changed a watched word
    ("watch_lanes", 8),  # after Status.WATCH: the lanes that took part in its last access
    ("watch_reads", 8),  # after Status.WATCH: 1 if that access reads
    ("watch_size", 8),  # bytes per lane of that access; if not 0, ENV_POINTER and ENV_KIND say where it went
    ("reads_table", 8),  # host address of the counts of uninitialized reads (`uninitialized`), 0 if none are kept
    ("noted_ranges", 8),  # host address of u64[n][2]: begin and end of host memory whose stores are recorded
    ("noted_count", 8),  # n
    ("noted_hits", 8),  # number of stores to any of these ranges, counted per lane
    ("noted_lanes", 8),  # lanes that stored to them
    ("noted_pc", 8),  # the last instruction that stored to them
    ("trace", 8),  # host address of u64[n][2]: pc and EXEC before each instruction of a traced wave
    ("trace_first", 8),  # the wave's count of `instructions` for row 0
    ("window_base", 8),  # simulated address at which the page table begins
    ("texel_size", 8),  # bytes of a texel of the image that was last accessed
    ("plan", 8),  # host address of the plan by which the followed wave runs (`stop_plan`)
)
ENV_HELPERS: Final = 256  # u64[MAX_HELPERS]: addresses of the runtime's routines
ENV_ADDRESS: Final = ENV_HELPERS + MAX_HELPERS * 8  # u64[64]: per-lane address or offset of the access
ENV_POINTER: Final = ENV_ADDRESS + 64 * 8  # u64[64]: per-lane host pointer
ENV_KIND: Final = ENV_POINTER + 64 * 8  # u64[64]: per-lane 0 linear, 1 swizzled, 2 dropped (reads 0)
ENV_DATA: Final = ENV_KIND + 64 * 8  # u32[MAX_DATA][64]: transferred dwords, [dword][lane]
ENV_SIZE: Final = ENV_DATA + MAX_DATA * 64 * 4


class Status(IntEnum):
    """Why generated code returned. The wave's pc is at the instruction concerned unless noted otherwise."""

    CONTINUE = 0
    MISS = 1
    """No block is translated for this pc (never leaves ``Engine.run``)."""
    BREAK = 2
    """A stop is set at pc; the instruction was not executed."""
    BUDGET = 3
    """The instruction limit is reached."""
    RANGE = 4
    """pc left the stepping range."""
    BARRIER = 5
    """An s_barrier was executed; pc is after it."""
    END = 6
    """An s_endpgm was executed; pc stays at it."""
    FAULT = 7
    """A memory access faulted; the instruction had no effect. See the environment's fault record."""
    TRAP = 8
    """pc is at an s_trap, which is not counted; ``trap_id`` in the state is its operand."""
    ILLEGAL = 9
    """pc is at an illegal encoding."""
    UNSUPPORTED = 10
    """pc is at an instruction without semantics (or one that cannot be exact under this MODE)."""
    SLEEP = 11
    """s_sleep and the like: another wave may run; pc is after it."""
    FETCH = 12
    """pc is not in executable memory."""
    SIGNAL = 13
    """The workgroup barrier was signalled (GFX12); pc is after it. The wave continues."""
    SIGNAL_FIRST = 14
    """As SIGNAL; in addition, the scheduler sets SCC to whether no wave of the group had signalled before."""
    WAIT = 15
    """The wave waits until the workgroup barrier that it signalled is complete (GFX12); pc is after the wait."""
    EXCEPTION = 16
    """An arithmetic exception that is enabled occurred: ``exception`` in the state says which. The instruction was
    executed; pc is after it."""
    BARRIER_STATE = 17
    """The state of the workgroup's barrier goes to the SGPR ``requested``; pc is after the instruction. The wave
    continues.
    """
    REGISTERS = 18
    """The block at pc names registers that the wave does not have; none of it was executed (never leaves
    ``Engine.run``)."""
    HALT = 19
    """The wave halted itself; pc is after the instruction."""
    CRASH = 20
    """Generated code was abandoned midway (`native_guard`): pc is at the beginning of the block concerned; the other
    state is as the block left it."""
    REFETCH = 21
    """s_icache_inv was executed; pc is after it. The wave continues (never leaves ``Engine``)."""
    WATCH = 22
    """A watched word was changed. The instruction was executed; pc is after it. See the environment's watch record."""
    INTERRUPT = 23
    """The wave has sent an interrupt to the host; pc is after the s_sendmsg. The wave continues."""


class FaultKind(IntEnum):
    NONE = 0
    UNMAPPED = 1
    """No allocation holds the address, or the access goes past its end."""
    PERMISSION = 2
    MISALIGNED = 3
    LDS_RANGE = 4
    SCRATCH_RANGE = 5
    # The following are not violations: the instruction uses an image feature that is not simulated.
    TILED = 6
    """A tiling that is not simulated, or not for the image's type and format."""
    COMPRESSED = 7
    FORMAT = 8
    SAMPLES = 9
    BORDER_PALETTE = 10
    READ_ONLY_FORMAT = 11
    """A store in a read-only format."""
    LEVELS = 12
    """Levels of detail of an image whose tiling stores them in a way that is not simulated."""
    CHANNELS = 13
    """A tiling that interleaves memory channels, on a target whose number of channels is not known."""

    @property
    def is_unsupported(self) -> bool:
        """Whether the access failed because of the simulator, not of the program."""
        return self >= FaultKind.TILED


FLUSH_INPUTS: Final = 1 << 62
FLUSH_RESULTS: Final = 1 << 63
"""Bits of argument b of atomic routines: flush subnormal results (FLUSH_RESULTS) or inputs (FLUSH_INPUTS) of float
operations to zero.
"""


class Access(IntEnum):
    LOAD = 0
    STORE = 1
    ATOMIC = 2


class Space(IntEnum):
    """Address space of an access, for the fault record; the comments say what the address array holds for it."""

    GLOBAL = 0
    """Simulated address."""
    FLAT = 1
    """Generic address (may lie in an aperture)."""
    LDS = 2
    """Byte offset in the workgroup's LDS."""
    SCRATCH = 3
    """Byte offset in the lane's own private memory."""
    BUFFER = 4
    """Simulated address computed from a buffer resource."""
    SCALAR = 5
    """Simulated address of a scalar load; lane 0 of the address array."""
    GDS = 6
    """Byte offset in the global data share, without M0's base."""
    IMAGE = 7
    """Simulated address of a texel."""
