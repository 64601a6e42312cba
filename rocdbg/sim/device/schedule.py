"""The scheduler's data in memory, for native code and Python alike.

The *schedule* is one block per dispatch: which waves are resident, which one has the turn, which workgroup comes next.
A resident wave occupies a *wave slot*; the wave slots of a workgroup are consecutive: slot ``g * group_waves + i`` is
wave i of the workgroup in place g. The waves are chained by slot in order of creation, -1 at the ends.
"""

from __future__ import annotations

from enum import IntEnum, IntFlag
from typing import Final

from msgspec import Struct

from rocdbg.sim.core.layout import Field, make_fields

QUANTUM: Final = 10_000
"""Wave-instructions that a wave may execute before the next wave has its turn, unless a `Schedule` says otherwise."""
_WHOLE_RUN: Final = 1 << 62
_RANDOM_MOST: Final = 256
RANDOM_FACTOR: Final = 6364136223846793005  # constants of Knuth's MMIX generator
RANDOM_INCREMENT: Final = 1442695040888963407

MAX_PATCHES: Final = 8
SHAPES: Final = 8
"""How many shapes workgroups can have: they differ in size only at the grid's far edges, so a shape is one bit per
dimension.
"""


class Schedule(Struct, frozen=True):
    """How long the turns of waves are. All schedules give turns in order of creation and skip waves that wait.

    ``quantum`` is the number of wave-instructions in a turn. With a ``seed``, each turn has a random length from 1 to
    ``quantum``, from a generator initialised with the seed.
    """

    quantum: int = QUANTUM
    seed: int | None = None

    @classmethod
    def parse(cls, text: str) -> Schedule | None:
        """``round-robin``, ``one-at-a-time``, ``random SEED``, ``lockstep N``; None for anything else."""
        name, *rest = text.split() or [""]
        if not rest:
            return {"round-robin": cls(), "one-at-a-time": cls(_WHOLE_RUN)}.get(name)
        if len(rest) != 1 or not (rest[0].isascii() and rest[0].isdecimal()) or len(rest[0]) > 19:
            return None
        number = int(rest[0])
        if name == "random":
            return cls(_RANDOM_MOST, number)
        return cls(number) if name == "lockstep" and 0 < number < _WHOLE_RUN else None

    def __str__(self) -> str:
        if self.seed is not None:
            return f"random {self.seed}"
        return {QUANTUM: "round-robin", _WHOLE_RUN: "one-at-a-time"}.get(self.quantum, f"lockstep {self.quantum}")


def next_random(state: int) -> int:
    """The generator's next state, whose upper half is the random number."""
    return (state * RANDOM_FACTOR + RANDOM_INCREMENT) & (1 << 64) - 1


class WaveFlag(IntFlag):
    """State of a wave slot; 0 if no wave is there."""

    RESIDENT = 1
    WAITING = 2
    """The wave waits at a barrier."""
    SIGNALLED = 4
    """The wave has arrived at its workgroup's current barrier."""
    PASSED = 8
    """A barrier that the wave signalled is complete; its next wait returns at once."""
    REPORTED = 16
    """The wave was reported to the caller at its current place, and does not stop there again."""


class Varying(IntEnum):
    """Contents of new waves' scalar registers that differ between waves; index into ``varying``."""

    GROUP_X = 0
    GROUP_Y = 1
    GROUP_Z = 2
    GROUP_YZ = 3
    """Both ids, 16 bits each."""
    SCRATCH_OFFSET = 4


SCHEDULE: Final[dict[str, Field]] = make_fields(
    # Host addresses.
    ("states", 8),  # state block of wave slot 0
    ("state_stride", 8),
    ("flags", 8),  # u8[wave slots]: WaveFlag
    ("next", 8),  # i32[wave slots]
    ("previous", 8),  # i32[wave slots]
    ("clock", 8),  # int clock_gettime(int, u64 *)
    ("madvise", 8),  # int madvise(void *, size_t, int) if it provides zeroed pages, otherwise 0
    ("page_size", 8),  # page size of the host
    # Turns.
    ("first", 4),  # oldest resident wave
    ("last", 4),  # youngest
    ("following", 4),  # slot at which to begin looking for the next runnable wave; -1: use ``cursor``
    ("current", 4),  # wave slot of the last turn
    ("cursor", 8),  # the next turn is that of the first runnable wave with this number or a higher one
    ("turn_of", 8),  # number of the wave whose turn is not over; 0 if none
    ("turn_left", 8),  # instructions left of that turn
    ("quantum", 8),
    ("is_random", 8),  # 1: turns have random lengths up to ``quantum``
    ("random", 8),  # state of the generator
    # A wave that is followed through its turns (`Followed`); 0 if none.
    ("followed", 8),  # its number
    ("followed_end", 8),  # instructions that it may have executed before returning to Python
    ("followed_run", 8),  # host address of the routine for its turns; 0: the same as for all others
    ("budget", 8),  # instructions that may be executed before returning to Python
    ("executed", 8),  # instructions of all waves since Python set it to 0
    ("retired", 8),  # instructions of waves that have ended
    ("look_at", 8),  # when ``executed`` passes this, check the clock
    ("deadline", 8),  # in nanoseconds: when to return to Python
    ("now", 16),  # written by clock_gettime: seconds, nanoseconds
    ("clock_id", 4),
    ("interrupted", 4),
    ("group_waves", 4),  # wave slots per workgroup
    # Workgroups still to be created.
    ("positions_left", 8),
    ("groups_x", 4),
    ("groups_y", 4),
    ("groups_z", 4),
    ("group_x", 4),  # position of the next workgroup
    ("group_y", 4),
    ("group_z", 4),
    ("created", 8),  # number of the wave created last
    ("numbered_before", 8),  # number before that of the first wave
    ("images", 8 * SHAPES),  # by shape, host address: see `wave_images`
    ("waves", 4 * SHAPES),  # by shape: number of waves in the group
    ("image_stride", 8),
    ("id_bytes", 8),  # bytes at the end of an image
    ("vgpr_bytes", 8),  # bytes to clear after the ids
    ("agpr_offset", 8),
    ("agpr_bytes", 8),
    ("lds", 8),  # host address of the LDS of place 0
    ("lds_stride", 8),
    ("lds_bytes", 8),  # bytes to clear
    ("scratch", 8),  # host address of the scratch of place 0
    ("group_scratch_bytes", 8),
    ("scratch_address", 8),  # simulated address of the same place
    ("wave_scratch_size", 8),
    ("flat_scratch", 8),  # 1: also store the wave's scratch address in the state's flat_scratch
    ("patch_count", 8),
    ("patches", 8 * MAX_PATCHES),  # u32 offset in the state, u32 Varying
    ("varying", 32),  # u32 by Varying, for the wave being created
)
SCHEDULE_SIZE: Final = max(field.offset + field.size for field in SCHEDULE.values())
