"""The capability to go to other positions in time: checkpoints, the current position, and reverse execution."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Protocol

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from rocdbg.debugger.target.capabilities.runnable import TargetStop, WatchedMemory
from rocdbg.sim.core.checks import Check


class Write(Struct, frozen=True):
    """An instruction that wrote to a place: the position before it, its wave, the lanes that wrote (a mask), its PC."""

    position: int
    thread: int
    lanes: int
    pc: int


Spans = Sequence[tuple[int, int]]
"""Where bytes are, as begins and ends that only the target can interpret."""


class HostAccess(Protocol):
    """The bytes that an access reached: a mask of lanes, and the bytes for each lane. Scalar accesses count as lane
    0's.
    """

    @property
    def lanes(self) -> int: ...

    @property
    def size(self) -> int: ...

    def spans(self, lane: int, first: int, size: int) -> Spans:
        """Return where some bytes of a lane's access are; None if the lane did not access memory."""


class Recording(Protocol):
    """A target whose past is recorded. A position is the number of wave-instructions executed since the run began.

    While the target is in its past, `Runnable.resume` repeats the recorded execution, up to the end of the history.
    """

    @property
    def position(self) -> int:
        """The target's position in time."""

    @property
    def bounds(self) -> tuple[int, int]:
        """The first and the last reachable position."""

    @property
    def replaying(self) -> bool:
        """Whether the target is in its past, so that resuming repeats recorded execution."""

    @property
    def size(self) -> int:
        """Size of the recording in bytes."""

    @property
    def checkpoints(self) -> list[int]:
        """Positions with a checkpoint."""

    def go_to(self, position: int) -> None:
        """Restore the state at another position. Raises a `rocdbg.Error` outside `bounds`."""

    def go_before(self, thread: int, count: int, present: int) -> None:
        """Go to the time, before ``present``, when a wave had executed ``count`` instructions and was about to execute
        the next.

        Raises a `rocdbg.Error` if there is no such time.
        """

    def count(self, thread: int) -> int:
        """Return how many instructions a resident wave has executed."""

    def first_count(self, thread: int) -> int:
        """Return how many instructions a wave had executed when the history began."""

    def trace(self, thread: int, first: int, end: int, present: int) -> NDArray[np.uint64]:
        """PC and EXEC before each of a wave's instructions ``first`` to ``end`` - 1, which it executed before
        ``present``: uint64[n, 2]. This changes the position."""

    def repeat(
        self, until: int, stops: AbstractSet[int], watches: Sequence[WatchedMemory] = (),
        checks: Mapping[int, Check] | None = None,
    ) -> TargetStop | None:
        """Continue in the past until a stop before position ``until``; return None if that position is reached.

        A change of watched memory stops after the instruction, which may be at ``until``. ``checks`` are as in
        `Resume`, at addresses that are not in ``stops``.
        """

    def first_of_group(self, thread: int, present: int) -> int:
        """Return the last known position at which the workgroup of a resident wave had not executed anything;
        ``present`` if the wave has not executed anything either. This changes the position.
        """

    def find_write(
        self, space: int, address: int, size: int, thread: int | None, lane: int | None, present: int, first: bool
    ) -> Write | None:
        """Find the last (``first``: the first) instruction before ``present`` that stored into memory. If one is found,
        the target is then before it. Memory of a wave or a workgroup is searched back to its start. Raises a
        `rocdbg.Error`.
        """

    def access(self, position: int) -> HostAccess | None:
        """Return the bytes that the first memory access of the instruction at a position reached, None if it accesses
        no memory. The target is then after the instruction.
        """

    def spans(self, space: int, address: int, size: int, thread: int | None, lane: int | None) -> Spans:
        """Return where bytes of an address space are. Raises a `rocdbg.Error`."""

    def find_store(self, spans: Spans, thread: int | None, present: int) -> Write | None:
        """Find, as `find_write` does, the last store to bytes that `access` or `spans` returned; ``thread``: the wave
        that owns them.
        """

    def is_own(self, spans: Spans, thread: int | None) -> bool:
        """Whether bytes are the private memory of a wave, or the LDS of its workgroup."""

    def contents(self, spans: Spans) -> bytes:
        """Return the contents of bytes."""

    def home_of(self, spans: Spans, thread: int | None) -> str:
        """Return a readable name of the object that contains some bytes, such as ``x[5]``."""

    def stand(self, thread: int | None) -> None:
        """Let only this wave pass the stop address at which it is, as if its stop there had been reported."""

    def next_wave(self) -> int | None:
        """Return the wave that executes the next instruction; ``None`` at the end."""

    def branch(self) -> None:
        """Discard the history after the position: resuming then creates a new history."""
