"""Additional entry points of subprograms."""

from __future__ import annotations

from functools import cached_property

from rocdbg.addresses import FileAddress
from rocdbg.dwarf.info.attribute_values import Address
from rocdbg.dwarf.info.code_ranges import ranges_of
from rocdbg.dwarf.info.constants import At
from rocdbg.dwarf.info.model import AddressRange
from rocdbg.dwarf.info.scopes import Function


class EntryPoint(Function):
    """An additional entry point of a subprogram (DW_TAG_entry_point): its code is the rest of the subprogram's."""

    @cached_property
    def ranges(self) -> tuple[AddressRange, ...]:
        """From its address to the end of the subprogram's range that contains it."""
        low, parent = self.die.attribute(At.LOW_PC), self.die.parent
        if not isinstance(low, Address) or parent is None:
            return ()
        return tuple(
            AddressRange(FileAddress(low.value), part.high) for part in ranges_of(parent) if low.value in part
        )


__all__ = ["EntryPoint"]
