"""The protocol between the engine and whatever runs the code.

A target knows waves, registers by DWARF number, memory by DWARF address space, and how to go on.
It knows no symbols, breakpoints' conditions or lines.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Protocol

from rocdbg.addresses import LoadedAddress
from rocdbg.arch.targets import Target as Architecture
from rocdbg.debugger.target.ids import WaveId, lane_target_id, wave_target_id

Triple = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class AgentInfo:
    """A device. ``state`` is a letter as ROCgdb shows it (A: supported)."""

    number: int
    name: str
    architecture: str
    cores: int
    threads: int
    location: str
    target_id: str


@dataclass(frozen=True, slots=True)
class QueueInfo:
    """A queue of an agent: ``read`` and ``write`` are packet counts, ``size`` bytes at ``address``."""

    agent: int
    number: int
    type: str
    read: int
    write: int
    size: int
    address: int
    target_id: str


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a program is: wave-instructions executed, workgroups that have ended, workgroups in all."""

    instructions: int
    groups_ended: int
    groups: int


@dataclass(frozen=True, slots=True)
class DispatchInfo:
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


@dataclass(frozen=True, slots=True)
class WaveInfo:
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


class TargetStopKind(Enum):
    """Why the target came back."""

    BREAKPOINT = "breakpoint"
    STEP = "step"
    RANGE = "range"
    FAULT = "fault"
    TRAP = "trap"
    EXCEPTION = "exception"
    ILLEGAL = "illegal"
    UNSUPPORTED = "unsupported"
    INTERNAL = "internal error"
    INTERRUPTED = "interrupted"
    BUDGET = "budget"
    WAVE_DONE = "wave done"
    DONE = "done"


@dataclass(frozen=True, slots=True)
class TargetStop:
    """One return of the target: which wave (``None`` when all are done), where, and what about it.

    ``lanes`` is the mask of lanes concerned (faults), ``detail`` a sentence about the exception,
    ``trap_id`` the number of an ``s_trap``, ``trap_pc`` where it is if ``pc`` is behind it (a debug trap),
    ``report`` what developers of the target want to know of its internal errors.
    """

    kind: TargetStopKind
    thread: int | None = None
    pc: int = 0
    lanes: int = 0
    detail: str = ""
    signal: str = ""
    trap_id: int | None = None
    trap_pc: int | None = None
    address: int | None = None
    report: str = ""


class ResumeMode(Enum):
    """How the stepped wave goes on; all other waves run freely beside it."""

    RUN = "run"
    STEP = "step"
    RANGE = "range"


@dataclass(frozen=True, slots=True)
class Resume:
    """A request to go on.

    ``RUN`` runs all waves to the next stop address. ``STEP`` runs one instruction of ``thread``,
    ``RANGE`` runs it until its PC leaves [``low``, ``high``). ``stop_addresses`` stop any wave that
    reaches one, except the wave that stands on one when it goes on. ``only`` keeps the other waves
    still where that is possible (a wave waiting at a barrier needs the others).
    """

    mode: ResumeMode = ResumeMode.RUN
    thread: int | None = None
    low: int = 0
    high: int = 0
    stop_addresses: frozenset[int] = field(default_factory=frozenset)
    only: bool = False
    budget: int | None = None


class Target(Protocol):
    """Whatever runs the code; addresses of code are global addresses as loaded."""

    @property
    def architecture(self) -> Architecture:
        """The gfx target that runs the code."""

    @property
    def finished(self) -> bool:
        """Whether the dispatch is over."""

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

    def resume(self, request: Resume) -> TargetStop:
        """Go on until something happens."""

    def progress(self) -> Progress:
        """How far the program is; callable from another thread while `resume` runs, and then a little behind."""

    def interrupt(self) -> None:
        """Ask a running `resume` to come back soon; callable from a signal handler."""

    def forget_interrupt(self) -> None:
        """Take an `interrupt` back that no run has answered."""
