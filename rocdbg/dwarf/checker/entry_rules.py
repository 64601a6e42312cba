"""Rules about the attributes that call site parameters (A.3.4.2) and base types (A.5.1) must have, and which
subprograms are nested (A.3.3.5).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rocdbg.dwarf.info.attribute_values import Reference
from rocdbg.dwarf.info.constants import At, Tag
from rocdbg.dwarf.info.die import Die
from rocdbg.dwarf.reader.numbers import tag_name

__all__ = ["entry_problems", "is_nested"]

_CALL_PARAMETERS = (Tag.CALL_SITE_PARAMETER, Tag.GNU_CALL_SITE_PARAMETER)
_CALL_SITES = (Tag.CALL_SITE, Tag.GNU_CALL_SITE)
_ENCODINGS = (range(0x01, 0x20), range(0x80, 0x100))
"""The encodings of DWARF 5, with some room for those of its successors, and the vendor range."""
_SIZES = (At.BYTE_SIZE, At.BIT_SIZE)


def entry_problems(die: Die, tags: Mapping[int, int]) -> Iterator[tuple[str, str]]:
    """Yield the rule and the message for every missing or wrong attribute of an entry; ``tags`` holds the tags of all
    entries by offset.
    """
    if die.tag in _CALL_PARAMETERS:
        yield from _call_parameter(die, tags)
    elif die.tag == Tag.BASE_TYPE:
        yield from _base_type(die)


def _call_parameter(die: Die, tags: Mapping[int, int]) -> Iterator[tuple[str, str]]:
    if die.parent is not None and die.parent.tag not in _CALL_SITES:
        yield "call-parameter", f"the call site parameter is in a {tag_name(die.parent.tag)}, not in a call site"
    if not die.has(At.LOCATION) and die.unit.dialect != "llvm22":
        # GCC leaves it out where the parameter is nowhere
        yield "call-parameter", "the call site parameter has no DW_AT_location"
    parameter = die.attribute(At.CALL_PARAMETER)
    if isinstance(parameter, Reference) and tags.get(parameter.offset, Tag.FORMAL_PARAMETER) != Tag.FORMAL_PARAMETER:
        words = f"DW_AT_call_parameter refers to the entry at {parameter.offset:#x}, which is not a formal parameter"
        yield "call-parameter", words


def _base_type(die: Die) -> Iterator[tuple[str, str]]:
    encoding = die.number(At.ENCODING)
    if encoding is not None and not any(encoding in known for known in _ENCODINGS):
        yield "base-type", f"unknown base type encoding {encoding:#x}"
    elif not any(die.has(size) for size in _SIZES):
        yield "base-type", "the base type has neither DW_AT_byte_size nor DW_AT_bit_size"


def is_nested(function: Die) -> bool:
    """Whether a subprogram, or the subprogram of an entry point, or the declaration of either, is lexically inside
    another subprogram.
    """
    for die in function.origins():
        around = [each.tag for each in _ancestors(die)]
        if around.count(Tag.SUBPROGRAM) > (die.tag == Tag.ENTRY_POINT):
            return True
    return False


def _ancestors(die: Die) -> Iterator[Die]:
    above = die.parent
    while above is not None:
        yield above
        above = above.parent
