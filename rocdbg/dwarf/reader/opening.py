"""How files are opened: by whoever knows their formats, registered here. This layer knows none."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from rocdbg.dwarf.errors import DwarfError

if TYPE_CHECKING:
    from rocdbg.dwarf.info.debug_info import DebugInfo


class OpenedObject(Struct, frozen=True):
    """What was found in a file: its debug information, the sections that it is in, and what it was made for.

    ``target`` is the processor ("gfx90a"), ``architecture`` the name of a registered architecture; empty and None for
    others. ``eh_frame`` is that section and its address.
    """

    name: str
    info: DebugInfo
    sections: Mapping[str, bytes]
    target: str
    architecture: str | None
    eh_frame: tuple[bytes, int] | None


Opener = Callable[[str | Path | bytes, str | None], OpenedObject]
_openers: list[Callable[[], Opener]] = []


def register_opener(loader: Callable[[], Opener]) -> None:
    """Have files opened by what `loader` gives, which is called when the first is."""
    _openers[:] = [loader]


def open_object(source: str | Path | bytes, target_id: str | None) -> OpenedObject:
    """Open a file, or the bytes of one. Raises `rocdbg.Error`."""
    if not _openers:
        raise DwarfError("nothing is registered that opens files: import rocdbg")
    return _openers[0]()(source, target_id)
