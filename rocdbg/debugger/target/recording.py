"""The capability to go to other positions in time: checkpoints, where in time the target is, and the way back."""

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
"""Where bytes are, as begins and ends that mean something to the target alone."""


class HostAccess(Protocol):
    """Where an access went: the mask of lanes, and bytes of each. Scalar accesses are lane 0's."""

    @property
    def lanes(self) -> int: ...

    @property
    def size(self) -> int: ...

    def spans(self, lane: int, first: int, size: int) -> Spans:
        """Where some bytes of a lane's access are; none if it went nowhere."""


class Recording(Protocol):
    """A target whose past is kept. Positions count executed wave-instructions from the beginning of the run.

    Where the target is in its past, `Runnable.resume` repeats what was, up to the end of the history.
    """

    @property
    def position(self) -> int:
        """Where in time the target is."""

    @property
    def bounds(self) -> tuple[int, int]:
        """The first and the last position that can be gone to."""

    @property
    def replaying(self) -> bool:
        """Whether the target is in its past, so that going on repeats it."""

    @property
    def size(self) -> int:
        """Bytes that the recording takes."""

    @property
    def checkpoints(self) -> list[int]:
        """Positions whose state is kept."""

    def go_to(self, position: int) -> None:
        """Make the state that of another position. Raises a `rocdbg.Error` out of `bounds`."""

    def go_before(self, thread: int, count: int, present: int) -> None:
        """To where a wave has executed ``count`` instructions and is about to execute the next, before ``present``.

        Raises a `rocdbg.Error` if it was not there.
        """

    def count(self, thread: int) -> int:
        """Instructions that a resident wave has executed."""

    def first_count(self, thread: int) -> int:
        """Instructions that a wave had executed when the history began."""

    def trace(self, thread: int, first: int, end: int, present: int) -> NDArray[np.uint64]:
        """PC and EXEC before each of a wave's instructions ``first`` to ``end`` - 1, which it executed before
        ``present``: uint64[n, 2]. The position is another afterwards."""

    def repeat(
        self, until: int, stops: AbstractSet[int], watches: Sequence[WatchedMemory] = (),
        checks: Mapping[int, Check] | None = None,
    ) -> TargetStop | None:
        """Go on in the past to a stop before position ``until``; None: that is reached. A change of what is watched
        stops behind the instruction, which may be at ``until``. ``checks`` as in `Resume`, at other addresses."""

    def first_of_group(self, thread: int, present: int) -> int:
        """The last position known at which the workgroup of a resident wave has not executed anything; ``present`` if
        the wave has not. The position is another afterwards."""

    def find_write(
        self, space: int, address: int, size: int, thread: int | None, lane: int | None, present: int, first: bool
    ) -> Write | None:
        """The last (``first``: the first) instruction before ``present`` that stored into memory; where one is found,
        the target stands before it. Memory of a wave or a workgroup: since that is there. Raises a `rocdbg.Error`."""

    def access(self, position: int) -> HostAccess | None:
        """Where the first memory access of the instruction executed at a position went, None if it has none. The
        target stands behind the instruction afterwards."""

    def spans(self, space: int, address: int, size: int, thread: int | None, lane: int | None) -> Spans:
        """Where bytes of an address space are. Raises a `rocdbg.Error`."""

    def find_store(self, spans: Spans, thread: int | None, present: int) -> Write | None:
        """As `find_write`, the last to bytes that are where `access` or `spans` reported; ``thread``: they are its
        own."""

    def is_own(self, spans: Spans, thread: int | None) -> bool:
        """Whether bytes are a wave's private memory, or its workgroup's."""

    def contents(self, spans: Spans) -> bytes:
        """What is there."""

    def home_of(self, spans: Spans, thread: int | None) -> str:
        """What bytes are of, for people: ``x[5]``."""

    def stand(self, thread: int | None) -> None:
        """Let a wave, and no other, pass over a stop address that it stands at, as if it had been reported there."""

    def next_wave(self) -> int | None:
        """The wave that executes the next instruction; ``None`` at the end."""

    def branch(self) -> None:
        """Forget what comes after the position: going on makes new history."""
