"""Memory that ``watch -location`` watches: an expression for it, and access to it as seen by the wave and lane in which
the watchpoint was set.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct
from msgspec.structs import replace

from rocdbg.arch.address_spaces import AddressSpace, address_space
from rocdbg.debugger.base.errors import ExpressionError
from rocdbg.debugger.base.focus import Focus
from rocdbg.debugger.expr.evaluator import Evaluator
from rocdbg.debugger.expr.program_data import Data
from rocdbg.debugger.expr.value_access import address_of, follow
from rocdbg.debugger.target.capabilities.runnable import WatchedMemory
from rocdbg.debugger.target.capabilities.target_state import Target
from rocdbg.debugger.values.value import Value

MAX_WATCHED = 1 << 16
"""The size in bytes of the largest value that can be watched."""


class WatchedPlace(Struct, frozen=True):
    """What to watch: the value, or the memory, of the expression ``text``.

    For a bit-field, this is the storage unit that contains it: the field has ``bit_size`` bits from ``bit_offset`` on,
    and may continue past the unit.
    """

    text: str
    bit_offset: int = 0
    bit_size: int | None = None

    def value(self, unit: Value) -> Value:
        """Return the watched value, given the value of the expression."""
        if self.bit_size is None:
            return unit
        return replace(unit, bit_offset=self.bit_offset, bit_size=self.bit_size)


def watched_place(text: str, data: Data, focus: Focus, mask: int | None) -> WatchedPlace:
    """Return the memory that an expression denotes now. Raises a `rocdbg.Error` if the expression is not in memory."""
    environment = data.environment(focus)
    value = follow(Evaluator(environment).text(text), environment)
    try:
        address = address_of(value)
    except ExpressionError:
        if value.storage is None or (value.storage.address is None and value.storage.register is None):
            raise ExpressionError(f"Cannot watch constant value `{text}'.") from None
        raise
    shown = data.format(address)  # a pointer to characters is shown without its type
    pointer = shown.partition(") ")[0] + ")" if shown.startswith("(") else f"({address.type})"
    number = address.as_int()
    place = value.address  # a bit-field has none, but its storage has
    if place is None and value.storage is not None:
        place = value.storage.address
    known = place.space if place is not None else 0
    space = f"{address_space(known).name}#" if known else ""
    if mask is None:
        unit = f"*{pointer} {space}{number:#x}"
        if value.bit_size is None or value.storage is None or value.storage.address is None:
            return WatchedPlace(unit)
        start = value.storage.address.value + value.offset
        return WatchedPlace(unit, value.bit_offset - 8 * (number - start), value.bit_size)
    region = ~mask & (1 << 64) - 1
    if region & region + 1 or region >= MAX_WATCHED:
        raise ExpressionError("Invalid mask or memory region.")
    return WatchedPlace(f"*(unsigned char (*)[{region + 1}]) {space}{number & mask:#x}")


def is_lane_memory(target: Target | None, memory: WatchedMemory) -> bool:
    """Whether memory is LDS or scratch, which differ between waves, or a flat address in one of their apertures."""
    if memory.space in (AddressSpace.GLOBAL, AddressSpace.GENERIC):
        return target is not None and target.is_generic(memory.address)
    return True


def read_watched(target: Target, memory: WatchedMemory) -> bytes:
    """Return the current contents of the memory. Raises `MemoryAccessError`."""
    is_number = memory.space == AddressSpace.GLOBAL and target.is_generic(memory.address)
    space = AddressSpace.GENERIC if is_number else memory.space
    return target.read_memory(space, memory.address, memory.size, memory.thread, memory.lane)


def need_lane_memory(target: Target | None, memory: Iterable[WatchedMemory]) -> None:
    """Raise `MemoryAccessError` for LDS or scratch that the wave or lane does not have: it could never change."""
    for one in memory:
        if target is not None and is_lane_memory(target, one):
            read_watched(target, one)


__all__ = ["MAX_WATCHED", "WatchedPlace", "is_lane_memory", "need_lane_memory", "read_watched", "watched_place"]
