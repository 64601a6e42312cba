"""Why execution stopped: the values ``Dispatch.run`` returns."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING

from msgspec import Struct, field

from rocdbg.arch.lane_sets import format_lanes
from rocdbg.sim.core.arithmetic_exceptions import Cause
from rocdbg.sim.core.memory import Allocation

if TYPE_CHECKING:
    from rocdbg.sim.core.watched_words import Change
    from rocdbg.sim.core.wave import Wave


class StopKind(enum.Enum):
    """The reason for a stop."""

    BREAKPOINT = "breakpoint"
    """A wave is about to execute an instruction at one of the stop PCs."""
    STEP = "step"
    """The stepped wave has executed its one instruction."""
    RANGE = "range"
    """The PC of the stepped wave has left the stepping range."""
    FAULT = "fault"
    """A forbidden memory access; the instruction had no effect and PC still points at it."""
    TRAP = "trap"
    """``s_trap N``. For the abort trap (N = 2) PC is at it; for others PC is after it and the wave can continue."""
    EXCEPTION = "arithmetic exception"
    """An arithmetic exception that MODE (GFX12: TRAP_CTRL) enables. The instruction was executed, PC is after it."""
    ILLEGAL = "illegal instruction"
    """The bytes at PC are not an instruction of this target."""
    UNSUPPORTED = "unsupported instruction"
    """The instruction at PC is valid, but the simulator has no semantics for it."""
    HANG = "hang"
    """No wave can continue, for the given reason: all wait at barriers that no wave completes, or a wave halted itself
    (it continues when run again)."""
    INTERNAL = "internal error"
    """The simulator failed within the block at PC, for the given reason; how much of the block the wave executed is not
    known. It cannot continue."""
    ABORT = "abort"
    """A wave requested something from the host that makes a runtime end the program; the reason says what."""
    WATCH = "watch"
    """An instruction has changed watched memory. It was executed, PC is after it."""
    INTERRUPTED = "interrupted"
    """``Dispatch.interrupt`` was called."""
    BUDGET = "budget"
    """The instruction budget of the call is used up."""
    RETURNED = "returned"
    """The function of an excursion has returned (`rocdbg.sim.device.called_function_run`)."""
    WAVE_DONE = "wave done"
    """The stepped wave has ended; others may remain."""
    DONE = "done"
    """All waves of the grid have ended."""


class Access(enum.Enum):
    """What a faulting instruction tried to do; the value is the word used in messages."""

    READ = "read"
    WRITE = "write"
    ATOMIC = "atomic"
    EXECUTE = "execute"


class Space(enum.Enum):
    """The memory a faulting address lies in; the value is the DWARF address-space name of CONVENTIONS."""

    GLOBAL = "global"
    LOCAL = "local"
    PRIVATE = "private_lane"
    REGION = "region"


class Fault(Struct, frozen=True):
    """A memory violation. ``addresses`` maps each faulting lane to its address, in lane order.

    A scalar instruction (or an instruction fetch) has no lanes: ``addresses`` is empty and only ``address`` has a
    meaning. Otherwise ``address`` is the first lane's. ``size`` is the bytes accessed per lane. ``nearest`` is the
    allocation closest to ``address`` (global memory only) and ``where`` text that relates the two; None if no
    allocation is near.
    """

    access: Access
    space: Space
    address: int
    size: int
    addresses: dict[int, int] = field(default_factory=dict)
    nearest: Allocation | None = None
    where: str | None = None
    misaligned: bool = False
    forbidden: bool = False
    """Whether the memory exists, but the access is not permitted."""

    @property
    def lanes(self) -> tuple[int, ...]:
        """The lanes that faulted, ascending."""
        return tuple(self.addresses)

    @property
    def text(self) -> str:
        """One readable line: ``write of 4 bytes at 0x7f0000101000, 0 bytes past ...``."""
        prefix = "" if self.space is Space.GLOBAL else f"{self.space.value}#"
        kind = "misaligned " if self.misaligned else ""
        unit = "byte" if self.size == 1 else "bytes"
        where = f", {self.where}" if self.where else ""
        return f"{kind}{self.access.value} of {self.size} {unit} at {prefix}{self.address:#x}{where}"


class Stop(Struct, frozen=True):
    """Why and where execution stopped. ``wave`` is None for stops of the whole dispatch (DONE, INTERRUPTED,
    BUDGET).

    ``instruction`` is the text of the instruction for FAULT, TRAP, EXCEPTION, ILLEGAL and UNSUPPORTED. ``lanes`` are
    the lanes concerned: the faulting ones, those that raised an exception (none for a scalar instruction), or the
    active ones for other kinds. ``causes`` are the arithmetic exceptions, ``instruction_pc`` is the address of the
    instruction that raised them. ``reason`` says why an instruction is illegal only for this wave (the registers it
    names), or what caused a hang. ``report`` describes an internal error for developers.
    """

    kind: StopKind
    wave: Wave | None = None
    pc: int | None = None
    lanes: tuple[int, ...] = ()
    fault: Fault | None = None
    trap: int | None = None
    instruction: str | None = None
    causes: tuple[Cause, ...] = ()
    instruction_pc: int | None = None
    reason: str | None = None
    touched: frozenset[int] = frozenset()
    """For WATCH: indices of the watched bytes that the access reached."""
    reads: bool = False
    """For WATCH: whether the access also reads, rather than only stores."""
    report: str = ""

    @property
    def is_exception(self) -> bool:
        """Whether the wave cannot continue normally: fault, abort trap, arithmetic exception, illegal or unsupported
        instruction, hang."""
        return self.kind in _EXCEPTIONS or (self.kind is StopKind.TRAP and self.trap != DEBUG_TRAP)

    @property
    def is_aperture_violation(self) -> bool:
        """Whether the fault concerns the address itself (LDS out of range, misaligned), not the memory at it."""
        return self.fault is not None and (self.fault.misaligned or self.fault.space is Space.LOCAL)

    @property
    def cause_text(self) -> str:
        """The arithmetic exceptions, such as ``division by zero, inexact result``."""
        return ", ".join(cause.description for cause in self.causes)

    @property
    def message(self) -> str:
        """One line that says what happened."""
        at = f" at {self.pc:#x}" if self.pc is not None else ""
        code = f"`{self.instruction}`" if self.instruction else "the instruction"
        if self.kind is StopKind.FAULT and self.fault is not None:
            who = f"{format_lanes(self.lanes)}: " if self.lanes else ""
            return f"memory violation by {code}{at}: {who}{self.fault.text}"
        if self.kind is StopKind.EXCEPTION:
            who = f"{format_lanes(self.lanes)}: " if self.lanes else ""
            place = f" at {self.instruction_pc:#x}" if self.instruction_pc is not None else ""
            return f"arithmetic exception by {code}{place}: {who}{self.cause_text}"
        if self.kind is StopKind.TRAP:
            named = {ABORT_TRAP: "abort trap", DEBUG_TRAP: "debug trap"}
            what = named.get(self.trap or 0, f"trap {self.trap}")
            return f"{what} ({code}){at}"
        if self.kind in (StopKind.ILLEGAL, StopKind.UNSUPPORTED):
            why = f": {self.reason}" if self.reason else ""
            return f"{self.kind.value} {code}{at}{why}"
        return f"{self.kind.value}{at}" + (f": {self.reason}" if self.reason else "")


ABORT_TRAP = 2
"""``s_trap 2``: ``llvm.trap``."""
DEBUG_TRAP = 3
"""``s_trap 3``: ``llvm.debugtrap``."""

_EXCEPTIONS = frozenset(
    {StopKind.FAULT, StopKind.EXCEPTION, StopKind.ILLEGAL, StopKind.UNSUPPORTED, StopKind.HANG,
     StopKind.INTERNAL, StopKind.ABORT}
)


def watch_stop(wave: Wave, change: Change, instruction: str | None) -> Stop:
    """The stop of a wave after an instruction that changed or accessed watched memory."""
    lanes = tuple(lane for lane in range(wave.wave_size) if change.lanes >> lane & 1)
    return Stop(
        StopKind.WATCH, wave, wave.pc, lanes, instruction=instruction, instruction_pc=change.pc,
        touched=change.touched, reads=change.reads,
    )
