"""The capability to go to other positions in time: checkpoints, the current position, and reverse execution."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Protocol

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from rocdbg.debugger.target.runnable import TargetStop, WatchedMemory
from rocdbg.sim.core.checks import Check


class Write(Struct, frozen=True):
    """An instruction that wrote: the position before it, its wave, the mask of lanes that wrote, its PC."""

    position: int
    thread: int
    lanes: int
    pc: int


Spans = Sequence[tuple[int, int]]
"""Where bytes are, as begins and ends that only the target can interpret."""


class HostAccess(Protocol):
    """The bytes that an access reached: the mask of lanes, and the bytes of each. Scalar accesses count as lane 0's."""

    @property
    def lanes(self) -> int: ...

    @property
    def size(self) -> int: ...

    def spans(self, lane: int, first: int, size: int) -> Spans:
        """Where some bytes of a lane's access are; None if it did not access memory."""


class Recording(Protocol):
    """A target whose past is kept. Positions count executed wave-instructions from the beginning of the run.

    If the target is in its past, `Runnable.resume` repeats the recorded execution, up to the end of the history.
    """

    @property
    def position(self) -> int:
        """Where in time the target is."""

    @property
    def bounds(self) -> tuple[int, int]:
        """The first and the last reachable position."""

    @property
    def replaying(self) -> bool:
        """Whether the target is in its past, so that resuming repeats it."""

    @property
    def size(self) -> int:
        """Size of the recording in bytes."""

    @property
    def checkpoints(self) -> list[int]:
        """Positions with a checkpoint."""

    def go_to(self, position: int) -> None:
        """Restore the state at another position. Raises a `rocdbg.Error` outside `bounds`."""

    def go_before(self, thread: int, count: int, present: int) -> None:
        """Go to where a wave has executed ``count`` instructions and is about to execute the next, before ``present``.

        Raises a `rocdbg.Error` if it was not there.
        """

    def count(self, thread: int) -> int:
        """Instructions that a resident wave has executed."""

    def first_count(self, thread: int) -> int:
        """Instructions that a wave had executed when the history began."""

    def trace(self, thread: int, first: int, end: int, present: int) -> NDArray[np.uint64]:
        """PC and EXEC before each of a wave's instructions ``first`` to ``end`` - 1, which it executed before
        ``present``: uint64[n, 2]. This changes the position."""

    def repeat(
        self, until: int, stops: AbstractSet[int], watches: Sequence[WatchedMemory] = (),
        checks: Mapping[int, Check] | None = None,
    ) -> TargetStop | None:
        """Continue in the past to a stop before position ``until``; None if that is reached. A change of watched memory
        stops after the instruction, which may be at ``until``. ``checks`` as in `Resume`, at other addresses.
        """

    def first_of_group(self, thread: int, present: int) -> int:
        """The last known position at which the workgroup of a resident wave has not executed anything; ``present`` if
        the wave has not. This changes the position.
        """

    def find_write(
        self, space: int, address: int, size: int, thread: int | None, lane: int | None, present: int, first: bool
    ) -> Write | None:
        """The last (``first``: the first) instruction before ``present`` that stored into memory; if one is found, the
        target is then before it. Memory of a wave or a workgroup is searched back to its start. Raises a
        `rocdbg.Error`.
        """

    def access(self, position: int) -> HostAccess | None:
        """The bytes that the first memory access of the instruction at a position reached, None without an access. The
        target is after the instruction then.
        """

    def spans(self, space: int, address: int, size: int, thread: int | None, lane: int | None) -> Spans:
        """Where bytes of an address space are. Raises a `rocdbg.Error`."""

    def find_store(self, spans: Spans, thread: int | None, present: int) -> Write | None:
        """As `find_write`, for the last store to bytes that `access` or `spans` reported; ``thread``: the wave that
        owns them.
        """

    def is_own(self, spans: Spans, thread: int | None) -> bool:
        """Whether bytes are a wave's private memory, or its workgroup's."""

    def contents(self, spans: Spans) -> bytes:
        """The contents of bytes."""

    def home_of(self, spans: Spans, thread: int | None) -> str:
        """A readable name of what bytes belong to: ``x[5]``."""

    def stand(self, thread: int | None) -> None:
        """Let only this wave pass over the stop address where it is, as if the stop had been reported."""

    def next_wave(self) -> int | None:
        """The wave that executes the next instruction; ``None`` at the end."""

    def branch(self) -> None:
        """Discard the history after the position: resuming then creates new history."""
