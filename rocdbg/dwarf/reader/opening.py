"""Opens files by means of the layers that know file formats, which register a loader here; this layer does not know any
format.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from rocdbg.dwarf.errors import DwarfError

if TYPE_CHECKING:
    from rocdbg.dwarf.info.debug_info import DebugInfo


class OpenedObject(Struct, frozen=True):
    """The contents of a file: its debug information, the sections that contain it, and its target.

    ``target`` is the processor ("gfx90a") and ``architecture`` the name of a registered architecture; for other objects
    they are empty and None. ``eh_frame`` is that section and its address.
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
    """Register the opener that `loader` returns; `loader` is called when the first file is opened."""
    _openers[:] = [loader]


def open_object(source: str | Path | bytes, target_id: str | None) -> OpenedObject:
    """Open a file, or the bytes of one. Raises `rocdbg.Error`."""
    if not _openers:
        raise DwarfError("no function that opens files is registered: add `import rocdbg`")
    return _openers[0]()(source, target_id)
