"""State that every target provides: agents, queues, dispatches, waves, registers by DWARF number, memory by address
space.

A target knows nothing about symbols, breakpoint conditions or lines. Everything else that it can do is a capability:
`Target.runnable` resumes, `Target.recording` goes back in time. A target without capabilities has a fixed state.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct

from rocdbg.addresses import NOWHERE, LoadedAddress
from rocdbg.arch.targets import Target as Architecture
from rocdbg.codeobject import CodeObject
from rocdbg.debugger.target.capabilities.recording import Recording
from rocdbg.debugger.target.capabilities.runnable import Runnable
from rocdbg.debugger.target.rocgdb_ids import WaveId, lane_target_id, wave_target_id

Triple = tuple[int, int, int]


class LoadedCodeObject(Struct, frozen=True):
    """A code object and its load bias, which loading added to the addresses in the file."""

    code_object: CodeObject
    base: int


class AgentInfo(Struct, frozen=True):
    """A device. ``state`` is a letter that ROCgdb shows (A: supported)."""

    number: int
    name: str
    architecture: str
    cores: int
    threads: int
    location: str
    target_id: str


class QueueInfo(Struct, frozen=True):
    """A queue of an agent. ``read`` and ``write`` are packet counts; ``size`` is in bytes, at ``address``. ``error``
    names what put the queue into the error state: a word of
    `rocdbg.debugger.target.capabilities.runnable.EXCEPTIONS`, or another word.
    """

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
    """A kernel in progress. Sizes are in work-items and bytes, addresses in the global space."""

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
    """Workgroups that have not ended, including those that have not begun."""


class WaveInfo(Struct, frozen=True):
    """The state of a resident wave.

    ``used_lanes`` and ``exec_mask`` have one bit per lane; ``sgprs``, ``vgprs`` and ``agprs`` count its registers.
    ``workgroup_size`` is that of its own workgroup, which is smaller than ``full_workgroup`` at the edge of the grid.
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
    """How many instructions it has executed."""
    dispatch_waves: tuple[int, int] | None = None
    """The first thread number of its dispatch, and the number of its waves; ``None`` if there is only one dispatch."""

    @property
    def number(self) -> int:
        """The thread number."""
        return self.id.wave

    @property
    def target_id(self) -> str:
        """``AMDGPU Wave ...``."""
        return wave_target_id(self.id, self.workgroup, self.index)

    def work_item(self, lane: int) -> Triple:
        """Return the work-item's position in its workgroup; x varies fastest."""
        flat = self.index * self.lane_count + lane
        x, y, _ = self.workgroup_size
        return flat % x, flat // x % y, flat // (x * y)

    def lane_target_id(self, lane: int) -> str:
        """``AMDGPU Lane ...``."""
        return lane_target_id(self.id, lane, self.workgroup, self.work_item(lane))


class Target(Protocol):
    """Runs the code, or holds its final state; code addresses are loaded addresses in the global space."""

    @property
    def architecture(self) -> Architecture:
        """The gfx target that runs the code."""

    @property
    def runnable(self) -> Runnable | None:
        """The capability to run; ``None`` if the state is fixed."""

    @property
    def recording(self) -> Recording | None:
        """The capability to go to other positions in time; ``None`` if the target lacks it."""

    @property
    def finished(self) -> bool:
        """Whether there are no more waves, and none will begin."""

    def code_objects(self) -> Sequence[LoadedCodeObject]:
        """Return the currently loaded code objects, in order of loading."""

    def agents(self) -> Sequence[AgentInfo]:
        """Return the devices."""

    def queues(self) -> Sequence[QueueInfo]:
        """Return the queues, in order of creation."""

    def dispatches(self) -> Sequence[DispatchInfo]:
        """Return the dispatches in progress."""

    def waves(self) -> Sequence[WaveInfo]:
        """Return the resident waves, in order of creation."""

    def wave(self, thread: int) -> WaveInfo:
        """Return the resident wave with this number. Raises `FocusError` if there is none."""

    def kernarg_address(self, thread: int) -> int:
        """Return the address of the arguments of a wave's dispatch; 0 if not known. Raises the same errors as `wave`.
        """

    def read_register(self, thread: int, number: int) -> bytes:
        """Return the whole register with this DWARF number, little-endian; a VGPR has one dword per lane."""

    def write_register(self, thread: int, number: int, data: bytes, offset: int = 0) -> None:
        """Write ``data`` at byte ``offset`` of a register."""

    def read_special(self, thread: int, name: str) -> int | None:
        """Return the value of a register that has no DWARF number (``m0``, ``scc``, ``ttmp6``); ``None`` if the wave
        does not have the register.
        """

    def write_special(self, thread: int, name: str, value: int) -> None:
        """Write a register that has no DWARF number; raises `RegisterAccessError`."""

    def read_memory(
        self, space: int, address: int, size: int, thread: int | None = None, lane: int | None = None
    ) -> bytes:
        """Return bytes of a DWARF address space; raises `MemoryAccessError`.

        Local, private and generic addresses need the wave, private_lane ones the lane too.
        """

    def write_memory(
        self, space: int, address: int, data: bytes, thread: int | None = None, lane: int | None = None
    ) -> None:
        """Write bytes; the parameters and errors are those of `read_memory`."""

    def keep(self, data: bytes) -> int:
        """Store the debugger's own bytes in global memory, where functions can access them until the program ends.

        Returns the address. Raises `DebuggerError` if there is no room.
        """

    def generic_address(self, space: int, address: int) -> int | None:
        """Return a place's address in the generic space; ``None`` if its space is not part of the generic one."""

    def is_generic(self, address: int) -> bool:
        """Whether a plain number lies in an aperture: it is then a generic address and not a global one."""
