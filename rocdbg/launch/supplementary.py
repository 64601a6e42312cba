"""The supplementary file of debug information, in which several objects share strings and entries.

DWARF 5 section 7.3.6 (``.debug_sup``), and before it GNU's ``.gnu_debugaltlink``. Both name a file and say how to
recognise it: by a checksum in its own ``.debug_sup``, or by its build id.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from rocdbg.codeobject import CodeObject
from rocdbg.codeobject.elf import Elf
from rocdbg.codeobject.elf_notes import iter_notes
from rocdbg.errors import Error
from rocdbg.launch.debug_sections import DebugSections
from rocdbg.text import decode_text

if TYPE_CHECKING:
    from rocdbg.launch.debug_files import DebugFiles

_SUP: Final = ".debug_sup"
_ALT_LINK: Final = ".gnu_debugaltlink"
_GNU_BUILD_ID: Final = 3


class _Link(Struct, frozen=True):
    """The reference of an object to its supplementary file."""

    section: str
    name: str
    identity: bytes
    """The checksum, or the build id."""


class SupplementaryFile:
    """Finds the supplementary file of a code object (or of its separate debug file)."""

    def __init__(self, files: DebugFiles, code_object: CodeObject) -> None:
        self._files = files
        self._code_object = code_object

    def find(self) -> Mapping[str, bytes] | None:
        """The sections of the file; None if there is none. Warns if a file is named but not found."""
        link = self._link()
        if link is None:
            return None
        for place in self._places(link):
            elf = self._files.elf(place)
            if elf is not None and self._is_meant(elf, link):
                return DebugSections(elf)
        self._files.warn(f"could not find supplementary DWARF file ({link.name}) for {self._code_object.name}")
        return None

    def _link(self) -> _Link | None:
        sections = self._code_object.sections
        if _SUP in sections:
            parsed = _parse_sup(DebugSections(self._code_object)[_SUP])
            section = _SUP
        elif _ALT_LINK in sections:
            name, end, build_id = sections[_ALT_LINK].data.partition(b"\0")
            parsed = (0, name, build_id) if end else None
            section = _ALT_LINK
        else:
            return None
        if parsed is None or (not parsed[1] and not parsed[0]):
            self._files.warn(
                f"section {section} of {self._code_object.name} is damaged, so the supplementary file cannot be found"
            )
            return None
        is_supplement, name, identity = parsed
        return None if is_supplement else _Link(section, decode_text(name), identity)

    def _places(self, link: _Link) -> Iterator[Path]:
        path = self._code_object.path
        yield path.absolute().parent / link.name if path is not None else Path(link.name)
        if path is not None:  # both were moved together
            yield path.absolute().parent / Path(link.name).name
        text = link.identity.hex()
        if link.section == _ALT_LINK and len(text) > 2:
            for folder in self._files.directories:
                yield folder / ".build-id" / text[:2] / f"{text[2:]}.debug"

    def _is_meant(self, elf: Elf, link: _Link) -> bool:
        try:
            if link.section == _SUP:
                parsed = _parse_sup(DebugSections(elf).get(_SUP, b""))
                found = parsed is not None and parsed[0] == 1 and parsed[2] == link.identity
            else:
                notes = iter_notes(elf)
                ids = {note.description for note in notes if note.owner == "GNU" and note.type == _GNU_BUILD_ID}
                found = link.identity in ids
        except Error as error:
            self._files.warn(str(error))
            return False
        if not found:
            self._files.warn(
                f"{elf.source.name} is not the supplementary file of {self._code_object.name}: its identity is "
                "different"
            )
        return found


def _parse_sup(data: bytes) -> tuple[int, bytes, bytes] | None:
    """The contents of a ``.debug_sup``: whether it belongs to a supplementary file itself, the name, and the checksum.
    None if it is damaged.
    """
    if len(data) < 4 or int.from_bytes(data[:2], "little") != 5 or data[2] > 1:
        return None
    name, end, rest = data[3:].partition(b"\0")
    size, shift, at = 0, 0, 0
    while end and at < len(rest) and at < 4:
        size |= (rest[at] & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if not rest[at - 1] & 0x80:
            return (data[2], name, rest[at : at + size]) if at + size <= len(rest) else None
    return None


__all__ = ["SupplementaryFile"]
