"""What every target can tell: agents, queues, dispatches, waves, registers by DWARF number, memory by address space.

A target knows no symbols, breakpoints' conditions or lines. What it can do beyond that it has as a capability:
`Target.runnable` goes on, `Target.recording` goes back in time. One without shows a state that stays as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct

from rocdbg.addresses import NOWHERE, LoadedAddress
from rocdbg.arch.targets import Target as Architecture
from rocdbg.codeobject import CodeObject
from rocdbg.debugger.target.recording import Recording
from rocdbg.debugger.target.rocgdb_ids import WaveId, lane_target_id, wave_target_id
from rocdbg.debugger.target.runnable import Runnable

Triple = tuple[int, int, int]


class LoadedCodeObject(Struct, frozen=True):
    """A code object and what was added to its file's addresses when it was loaded."""

    code_object: CodeObject
    base: int


class AgentInfo(Struct, frozen=True):
    """A device. ``state`` is a letter as ROCgdb shows it (A: supported)."""

    number: int
    name: str
    architecture: str
    cores: int
    threads: int
    location: str
    target_id: str


class QueueInfo(Struct, frozen=True):
    """A queue of an agent: ``read`` and ``write`` are packet counts, ``size`` bytes at ``address``. ``error`` is the
    word of `rocdbg.debugger.target.runnable.EXCEPTIONS`, or another, for what has put it into the error state."""

    agent: int
    number: int
    type: str
    read: int
    write: int
    size: int
    address: int
    target_id: str
    error: str = ""


class DispatchInfo(Struct, frozen=True):
    """A kernel under way. Sizes are in work-items and bytes, addresses in the global space."""

    agent: int
    queue: int
    number: int
    target_id: str
    grid: Triple
    workgroup: Triple
    kernel: str
    fence: str
    shared_size: int
    private_size: int
    descriptor_address: int
    kernarg_address: int
    completion_signal: int
    instructions: int
    entry: LoadedAddress = NOWHERE
    """Where its waves begin."""
    groups_left: int = 0
    """Workgroups that have not ended, those to come too."""


class WaveInfo(Struct, frozen=True):
    """A resident wave as it stands.

    ``used_lanes`` and ``exec_mask`` have one bit per lane; ``sgprs``, ``vgprs`` and ``agprs`` are how
    many registers it has. ``workgroup_size`` is its own group's, smaller than ``full_workgroup`` at the
    edge of the grid.
    """

    id: WaveId
    workgroup: Triple
    index: int
    lane_count: int
    used_lanes: int
    pc: LoadedAddress
    exec_mask: int
    workgroup_size: Triple
    kernel: str
    sgprs: int = 0
    vgprs: int = 0
    agprs: int = 0
    grid: Triple = (0, 0, 0)
    full_workgroup: Triple = (0, 0, 0)
    instructions: int = 0
    """How many it has executed."""
    dispatch_waves: tuple[int, int] | None = None
    """The first thread number of its dispatch and how many waves that has; ``None`` where there is one dispatch."""

    @property
    def number(self) -> int:
        """The thread number."""
        return self.id.wave

    @property
    def target_id(self) -> str:
        """``AMDGPU Wave ...``."""
        return wave_target_id(self.id, self.workgroup, self.index)

    def work_item(self, lane: int) -> Triple:
        """The work-item's position in its group, x varying fastest."""
        flat = self.index * self.lane_count + lane
        x, y, _ = self.workgroup_size
        return flat % x, flat // x % y, flat // (x * y)

    def lane_target_id(self, lane: int) -> str:
        """``AMDGPU Lane ...``."""
        return lane_target_id(self.id, lane, self.workgroup, self.work_item(lane))


class Target(Protocol):
    """Whatever runs the code, or holds what it left; addresses of code are global addresses as loaded."""

    @property
    def architecture(self) -> Architecture:
        """The gfx target that runs the code."""

    @property
    def runnable(self) -> Runnable | None:
        """The capability to go on; ``None``: the state stays as it is."""

    @property
    def recording(self) -> Recording | None:
        """The capability to go to other positions in time; ``None``: there is only now."""

    @property
    def finished(self) -> bool:
        """Whether no waves are there any more and none will come."""

    def code_objects(self) -> Sequence[LoadedCodeObject]:
        """The code objects that are loaded now, in order of loading."""

    def agents(self) -> Sequence[AgentInfo]:
        """The devices."""

    def queues(self) -> Sequence[QueueInfo]:
        """The queues, in order of creation."""

    def dispatches(self) -> Sequence[DispatchInfo]:
        """The dispatches under way."""

    def waves(self) -> Sequence[WaveInfo]:
        """The resident waves, in order of creation."""

    def wave(self, thread: int) -> WaveInfo:
        """The resident wave with this number. Raises `FocusError` when there is none."""

    def kernarg_address(self, thread: int) -> int:
        """Where the arguments of a wave's dispatch are; 0: not known. Raises as `wave`."""

    def read_register(self, thread: int, number: int) -> bytes:
        """The whole register with this DWARF number, little-endian; a VGPR has one dword per lane."""

    def write_register(self, thread: int, number: int, data: bytes, offset: int = 0) -> None:
        """Write ``data`` at byte ``offset`` of a register."""

    def read_special(self, thread: int, name: str) -> int | None:
        """A register without a DWARF number (``m0``, ``scc``, ``ttmp6``); ``None`` when there is none."""

    def write_special(self, thread: int, name: str, value: int) -> None:
        """Write such a register; raises `RegisterAccessError`."""

    def read_memory(
        self, space: int, address: int, size: int, thread: int | None = None, lane: int | None = None
    ) -> bytes:
        """Bytes of a DWARF address space; raises `MemoryAccessError`.

        Local, private and generic addresses need the wave, private_lane ones the lane too.
        """

    def write_memory(
        self, space: int, address: int, data: bytes, thread: int | None = None, lane: int | None = None
    ) -> None:
        """As `read_memory`, the other way."""

    def keep(self, data: bytes) -> int:
        """Put bytes of the debugger's own into global memory, where functions find them until the program ends.

        Gives the address. Raises `DebuggerError` where there is no room.
        """

    def generic_address(self, space: int, address: int) -> int | None:
        """A place's address in the generic space; ``None`` for spaces that have no part of it."""

    def is_generic(self, address: int) -> bool:
        """Whether a plain number lies in an aperture: an address of the generic space that is none of the global."""
