"""Names the owner of an attribute in messages."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rocdbg.dwarf.errors import DwarfError, EvaluationError, IllFormed
from rocdbg.dwarf.info.constants import Tag
from rocdbg.dwarf.info.errors import DebugInfoError
from rocdbg.errors import Error

if TYPE_CHECKING:
    from rocdbg.dwarf.info.die import Die

_FUNCTIONS = (Tag.SUBPROGRAM, Tag.INLINED_SUBROUTINE, Tag.ENTRY_POINT)
_MOST_LEVELS = 64


def whose(entry: Die) -> str:
    """Text that identifies the owner of an attribute: its name, its function, section and offset: ``x in k at
    .debug_info+0x59``.
    """
    names = [_name(entry)]
    function = function_around(entry)
    if function is not None and function != entry:
        names.append(_name(function))
    section, offset = entry.unit.entries.where(entry.offset)
    known = " in ".join(name for name in names if name)
    place = f"{section}+{offset:#x}"
    return f"{known} at {place}" if known else f"the entry at {place}"


def function_around(entry: Die) -> Die | None:
    """The function, inlined call or entry point that an entry describes or belongs to; None if it is not known."""
    die: Die | None = entry
    try:
        for _ in range(_MOST_LEVELS):
            if die is None or die.tag in _FUNCTIONS:
                return die
            die = die.parent
    except Error:
        pass
    return None


def _name(entry: Die) -> str:
    try:
        return entry.name or ""
    except Error:  # a damaged name
        return ""


@contextmanager
def concerning(attribute: str, entry: Die) -> Iterator[None]:
    """Add the names of the attribute and the entry to any error raised inside the block, which becomes a `DwarfError`.
    """
    try:
        yield
    except DwarfError as error:
        error.concern(attribute, whose(entry))
        raise
    except DebugInfoError as error:
        damage = IllFormed(str(error))
        damage.concern(attribute, whose(entry))
        raise damage from error
    except Error as error:
        failure = EvaluationError(str(error))
        failure.concern(attribute, whose(entry))
        raise failure from error
