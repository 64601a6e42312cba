"""The capability to call functions: they run on a wave beside what it does, which then is as if nothing had been."""

from __future__ import annotations

from typing import Protocol

from msgspec import Struct

from rocdbg.debugger.target.state import Target


class CallPlace(Struct, frozen=True):
    """Where a function called on a wave finds room.

    ``stack`` is the offset in each lane's private memory from which on ``room`` bytes are free.
    """

    stack: int
    room: int


class Calls(Protocol):
    """Calls on waves, which nest.

    From `begin` to `end` the wave's registers are those of the called function, and going on runs nothing but it. What
    it stores into memory stays.
    """

    @property
    def return_address(self) -> int:
        """Where called functions return to: an address at which there is nothing."""

    def begin(self, thread: int, room: int) -> CallPlace:
        """Give a wave the registers that functions expect, with ``room`` bytes of private memory in each lane.

        PC, EXEC and arguments are the caller's to write. Raises a `rocdbg.Error` where there is no memory for it.
        """

    def place_stack(self, thread: int, offset: int) -> None:
        """Have the called function's stack begin at an offset of each lane's private memory."""

    def end(self, thread: int) -> None:
        """Give the wave back what it had before the innermost call."""

    def depth(self, thread: int) -> int:
        """How many calls are under way on a wave."""

    def before(self, thread: int) -> Target:
        """The target as it was before the wave's innermost call: its registers, to be read and written.

        Memory is as it is now.
        """


def calls_of(target: object) -> Calls | None:
    """The capability of a target to call functions: its ``calls``; most kinds of targets have none."""
    found: Calls | None = getattr(target, "calls", None)  # asked for every chain of frames: isinstance takes 70 us
    return found
