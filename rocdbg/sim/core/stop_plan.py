"""Stop plans: what native code does where a followed wave leaves a range of PCs, instead of returning to Python.

When the wave leaves the range, it has arrived at some PC. If the plan has a row for that PC, the row gives the next
range; otherwise the run ends with RANGE. A plan therefore never changes the result of a step. It only avoids repeated
decisions in Python: without a plan, the run ends more often.

A row has two ranges, one that applies if the focused lane is active there and one that applies if it is not, and names
the mask of active lanes. `State` lists the states in which the wave is followed. A row at the entry of a function names
the registers that hold the return address. If this address lies in the plan's function, native code runs through the
call until the wave has returned to that address in the same frame.
"""

from __future__ import annotations

from collections.abc import Hashable
from enum import IntEnum, IntFlag
from typing import Final

import numpy as np
from msgspec import Struct, field
from numpy.typing import NDArray

from rocdbg.sim.core.layout import EXEC_LO, sgpr_offset

HEAD: Final = {
    name: 8 * index
    for index, name in enumerate((
        "state", "low", "size",  # `State`, and the range as it is now
        "half", "bit",  # bytes from a mask's first dword to the lane's dword, and the lane's bit in that dword
        "base", "count", "table", "rows",  # u32[count] of row numbers for the dwords from `base` on; 0: no row
        "function", "function_size",  # the function that the plan is about
        "caller_state", "caller_low", "caller_size",  # what to restore after a call
        "frame", "frame_value",  # offset in the state, and value, of the register that identifies the frame; 0: none
        "call_began", "in_calls",  # the wave's instructions when a call began; those of returned calls
        "comes_back",  # 1: return to Python where a lane that waited becomes active
        "waited",  # 1 if the lane has waited since the plan was armed
        "whole_blocks",  # 1: translate blocks where there are none
        "missed",  # after MISS: 1 if a block was missing, 0 an instruction
        "ends",  # host address of the ends of blocks, as page directories by MODE key
    ))
}
"""Byte offsets of the words (u64) of a plan's head."""
ROW: Final = {
    name: 8 * index
    for index, name in enumerate((
        "flags", "active_low", "active_size", "waiting_low", "waiting_size",
        "mask",  # offset in the state of the mask of active lanes
        "link_0", "link_1", "link_2",  # offsets in the state of registers that may hold the return address; 0: none
        "frame",  # offset in the state of the register that identifies the frame; 0: none is needed
        "leads_to",  # host address of the table that applies from here on if the lane is active; 0: the same table
    ))
}
"""Byte offsets of the words (u64) of a row."""
MOST_ROWS: Final = 4096
_MANY: Final = 200_000
"""Number of instructions after which blocks are translated again, this time cut where ranges begin or end. A wave
executes about this many instructions in the time that it takes to translate a block.
"""
_MASK64: Final = (1 << 64) - 1


class State(IntEnum):
    """How a wave is followed."""

    ACTIVE = 0
    """The lane was active where the range was entered."""
    WAITING = 1
    """The lane was not active where the range was entered."""
    CALL = 2
    """The wave runs through a call, regardless of the lane: the range is everything except the return address."""


class RowFlag(IntFlag):
    """What a row says."""

    ACTIVE = 1
    """The row has a range for an active lane."""
    WAITING = 2
    """The row has a range for an inactive lane."""
    KNOWN_WAIT = 4
    """An active lane may begin to wait here."""
    ENTRY = 8
    """A function begins here. If it was called from the plan's function, native code runs through the call, unless the
    lane waits."""
    WAITING_ENTRY = 32
    """As ENTRY, for a lane that waits."""
    FRAME = 16
    """The row names the register that identifies the frame. It names none if there is only one frame."""


class Row(Struct):
    """A row. Ranges are (low, high). ``mask`` is the operand code of the mask's first dword; ``links`` and ``frame``
    are those of scalar registers."""

    flags: RowFlag = RowFlag(0)
    active: tuple[int, int] = (0, 0)
    waiting: tuple[int, int] = (0, 0)
    mask: int = EXEC_LO
    links: tuple[int, ...] = ()
    frame: int | None = None
    leads_to: Hashable = None
    """The context that the wave enters here if the lane is active; None: the context does not change."""


class _Context(Struct):
    """The rows that apply in one context. A context represents the earlier events of the step on which the step's
    decisions depend.
    """

    table: NDArray[np.uint32]
    rows: dict[int, Row] = field(default_factory=dict)
    numbers: dict[int, int] = field(default_factory=dict)


class StopPlan:
    """A plan for one lane of a wave, for code in [base, base + size). ``function`` is the range (low, high) of the
    plan's function; if it is None, native code does not run through calls.
    """

    def __init__(self, base: int, size: int, lane: int, function: tuple[int, int] | None) -> None:
        self._head = np.zeros(len(HEAD), np.uint64)
        self._base, self._count = base, size // 4
        self._contexts: dict[Hashable, _Context] = {}
        self._keys: dict[int, Hashable] = {}
        self._last = 0
        self._rows = np.zeros((MOST_ROWS + 1, len(ROW)), np.uint64)
        self._spent = 0
        low, high = function or (0, 0)
        for name, value in {
            "half": 4 * (lane // 32), "bit": lane % 32, "base": base, "count": self._count,
            "rows": self._rows.ctypes.data,
            "function": low, "function_size": high - low,
        }.items():
            self.set(name, value)
        self.enter(None)

    @classmethod
    def of_range(cls, low: int, high: int) -> StopPlan:
        """A plan for one range, without rows."""
        plan = cls(0, 0, 0, None)
        plan.arm(State.ACTIVE, low, high, comes_back=True)
        return plan

    @property
    def address(self) -> int:
        """Host address of the head."""
        return int(self._head.ctypes.data)

    def get(self, name: str) -> int:
        """A word of the head."""
        return int(self._head[HEAD[name] >> 3])

    def set(self, name: str, value: int) -> None:
        """Set a word of the head."""
        self._head[HEAD[name] >> 3] = value & _MASK64

    # -- its position

    @property
    def state(self) -> State:
        """How the wave is followed now."""
        return State(self.get("state"))

    @property
    def range(self) -> tuple[int, int]:
        """The current range (low, high); within a call, that of its caller."""
        prefix = "caller_" if self.state is State.CALL else ""
        low, size = self.get(f"{prefix}low"), self.get(f"{prefix}size")
        return low, low + size

    @property
    def waited(self) -> bool:
        """Whether the lane has waited since the plan was armed."""
        return bool(self.get("waited"))

    def in_calls(self, instructions: int) -> int:
        """The number of instructions that the wave has executed in calls since the plan was armed. ``instructions``:
        what it has executed in all."""
        inside = self.get("in_calls")
        return inside + instructions - self.get("call_began") if self.state is State.CALL else inside

    @property
    def returns_to(self) -> int:
        """The return address of the call that the wave is in."""
        return self.get("low") - 1

    def arm(self, state: State, low: int, high: int, comes_back: bool) -> None:
        """Begin in a range. ``comes_back`` means to return to Python when a lane that waited becomes active, regardless
        of the rows.
        """
        self.set("state", state)
        self.set("low", low)
        self.set("size", high - low)
        self.set("comes_back", int(comes_back))
        self.set("waited", 0)
        self.set("in_calls", 0)

    # -- rows

    @property
    def context(self) -> Hashable:
        """The context that the wave is in now."""
        return self._keys[self.get("table")]

    def enter(self, context: Hashable) -> None:
        """Make the rows of a context apply from here on."""
        self.set("table", self._table_of(context))

    def _table_of(self, context: Hashable) -> int:
        found = self._contexts.get(context)
        if found is None:
            found = self._contexts[context] = _Context(np.zeros(self._count, np.uint32))
            self._keys[int(found.table.ctypes.data)] = context
        return int(found.table.ctypes.data)

    def row(self, pc: int) -> Row:
        """The row for a PC; to change it, pass the changed row to `put`."""
        return self._contexts[self.context].rows.get(pc) or Row()

    def put(self, pc: int, row: Row) -> None:
        """Set the row for a PC. This has no effect outside the plan's code, or if there are too many rows."""
        index, unaligned = divmod(pc - self._base, 4)
        context = self._contexts[self.context]
        number = context.numbers.get(pc, self._last + 1)
        if unaligned or not 0 <= index < self._count or number > MOST_ROWS:
            return
        self._last = max(self._last, number)
        context.numbers[pc], context.rows[pc] = number, row
        links = [sgpr_offset(link) for link in row.links][:3]
        self._rows[number] = (
            row.flags, row.active[0], row.active[1] - row.active[0], row.waiting[0], row.waiting[1] - row.waiting[0],
            sgpr_offset(row.mask), *links, *[0] * (3 - len(links)),
            sgpr_offset(row.frame) if row.frame is not None else 0,
            self._table_of(row.leads_to) if row.leads_to is not None else 0,
        )
        context.table[index] = number

    def spent(self, count: int) -> bool:
        """Add to the count of executed instructions. Returns whether the count has just become so large that blocks
        should be translated again, so that they end where ranges begin or end.
        """
        before, self._spent = self._spent, self._spent + count
        if before <= _MANY < self._spent:
            self.set("whole_blocks", 1)
            return True
        return False

    @property
    def cuts(self) -> frozenset[int]:
        """PCs at which ranges begin or end; empty until so many instructions were executed that blocks should end
        there.
        """
        if self._spent <= _MANY:
            return frozenset()
        found = set(self.range)
        for pc, row in (pair for context in self._contexts.values() for pair in context.rows.items()):
            found.add(pc)
            if row.flags & RowFlag.ACTIVE:
                found.update(row.active)
            if row.flags & RowFlag.WAITING:
                found.update(row.waiting)
        return frozenset(found)


__all__ = ["HEAD", "ROW", "Row", "RowFlag", "State", "StopPlan"]
