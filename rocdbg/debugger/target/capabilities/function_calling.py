"""The capability to call functions: they run on a wave, whose own state is restored afterwards."""

from __future__ import annotations

from typing import Protocol

from msgspec import Struct

from rocdbg.debugger.target.capabilities.target_state import Target


class CallPlace(Struct, frozen=True):
    """Stack space for a function called on a wave.

    ``stack`` is an offset in each lane's private memory, from which on ``room`` bytes are free.
    """

    stack: int
    room: int


class Calls(Protocol):
    """Calls on waves, which nest.

    From `begin` to `end` the wave's registers are those of the called function, and resuming runs only that function.
    Its stores to memory remain.
    """

    @property
    def return_address(self) -> int:
        """The return address of called functions: an address without code."""

    def begin(self, thread: int, room: int) -> CallPlace:
        """Give a wave the registers that functions expect, and ``room`` bytes of private memory in each lane.

        The caller of this method then writes PC, EXEC and arguments. Raises a `rocdbg.Error` if memory does not
        suffice.
        """

    def place_stack(self, thread: int, offset: int) -> None:
        """Make the called function's stack begin at an offset of each lane's private memory."""

    def end(self, thread: int) -> None:
        """Restore the wave's state from before the innermost call."""

    def depth(self, thread: int) -> int:
        """How many calls are in progress on a wave."""

    def before(self, thread: int) -> Target:
        """Return the target as it was before the wave's innermost call: its registers can be read and written.

        Its memory has the present contents.
        """


def calls_of(target: object) -> Calls | None:
    """Return the capability of a target to call functions: its ``calls``; most kinds of targets have none."""
    # not isinstance, which would take 70 us: this is called for every chain of frames
    found: Calls | None = getattr(target, "calls", None)
    return found
