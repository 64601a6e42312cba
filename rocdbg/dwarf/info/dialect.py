"""Which encoding of the heterogeneous extensions a unit uses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocdbg.dwarf.info.attribute_values import Exprloc
from rocdbg.dwarf.info.constants import At
from rocdbg.errors import Error

if TYPE_CHECKING:
    from rocdbg.dwarf.info.die import Die
    from rocdbg.dwarf.info.unit import Unit

_ENTRIES_LOOKED_AT = 5000
_LOCATION_FORMS = (0x17, 0x18, 0x22)
"""DW_FORM_sec_offset, exprloc, loclistx."""


def unit_dialect(unit: Unit) -> str:
    """Return ``"llvm22"`` for a unit without an augmentation string, else ``"amd"`` or ``"proposal2020"``.

    Units in either of the latter two dialects have the augmentation ``[amdgpu:v0.0]``; AMD's compilers also write
    ``[llvm:v0.0]``. The 2020 proposal has one-byte operations (0xe1 to 0xec) where the later text has a prefix, so the
    unit's expressions distinguish them: the first expression that can be decoded in only one of the two dialects
    determines it; if there is none, the dialect is ``"amd"``. A unit that has the proposal's lane attributes but no
    augmentation is examined in the same way.
    """
    announced = any(vendor in unit.augmentation for vendor in ("[amd", "[llvm:"))
    if not announced and not _has_lane_attributes(unit):
        return "llvm22"
    usual = "amd" if announced else "llvm22"
    budget = _ENTRIES_LOOKED_AT
    todo: list[Die] = [unit.top]
    while todo and budget:
        die = todo.pop()
        budget -= 1
        for value in die.attributes.values():
            if isinstance(value, Exprloc) and any(0xE1 <= byte <= 0xEC for byte in value.data):
                amd = _decodes(value.data, "amd", unit)
                if amd != _decodes(value.data, "proposal2020", unit):
                    return usual if amd else "proposal2020"
        todo.extend(die.children)
    return usual


def _has_lane_attributes(unit: Unit) -> bool:
    """Whether entries may have a DW_AT_LLVM_lane_pc or DW_AT_LLVM_active_lane, which upstream compilers do not write.
    """
    return any(
        spec.code in (At.LLVM_LANE_PC, At.LLVM_ACTIVE_LANE) and spec.form in _LOCATION_FORMS
        for abbreviation in unit.abbreviations.values()
        for spec in abbreviation.attributes
    )


def _decodes(data: bytes, dialect: str, unit: Unit) -> bool:
    from rocdbg.dwarf import decode

    try:
        decode(data, dialect=dialect, address_size=unit.address_size)
    except Error:
        return False
    return True
