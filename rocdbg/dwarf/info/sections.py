"""The sections that hold debug information, and the lookups that entries need in them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property

from rocdbg.dwarf.info.errors import DebugInfoError
from rocdbg.dwarf.info.read_limits import ReadLimit
from rocdbg.text import decode_lines, decode_text

_LONG = 128
_STRING_SLACK = 1 << 20


class Sections:
    """Bytes of the debug sections by name; missing ones are empty. Sections are fetched on demand. ``find_supplement``
    gives the sections of the supplementary file, if there is one (DWARF 5 section 7.3.6).
    """

    def __init__(
        self, source: Mapping[str, bytes], find_supplement: Callable[[], Mapping[str, bytes] | None] | None = None
    ) -> None:
        self._source = source
        self._find_supplement = find_supplement
        self._bytes: dict[str, bytes] = {}
        self.tables = ReadLimit(4, "tables overlap: they are several times as long as the section")
        """Bytes of tables."""
        self.lists = ReadLimit(1, "lists are shared by more entries than in the output of any compiler")
        """Elements that lists give to entries, for each entry: an element takes several bytes."""
        self._long: dict[tuple[str, int], str] = {}
        self._strings = ReadLimit(
            4, "strings overlap: they are several times as long as the section", _STRING_SLACK
        )

    def __getitem__(self, name: str) -> bytes:
        data = self._bytes.get(name)
        if data is None:
            data = self._bytes[name] = bytes(self._source[name]) if name in self._source else b""
        return data

    @cached_property
    def supplement(self) -> Sections | None:
        """The sections of the supplementary file, in which several objects share strings and entries."""
        found = self._find_supplement() if self._find_supplement is not None else None
        return None if found is None else Sections(found)

    def string(self, name: str, offset: int) -> str:
        """The null-terminated string at ``offset`` of a string section, decoded by `rocdbg.text.decode_text`."""
        return self._string(name, offset, decode_text)

    def lines(self, name: str, offset: int) -> str:
        """The null-terminated string at ``offset``, as for `string`, but for text of several lines."""
        return self._string(name, offset, decode_lines)

    def _string(self, name: str, offset: int, decode: Callable[[bytes], str]) -> str:
        data = self[name]
        end = data.find(b"\0", offset) if offset < len(data) else -1
        if end < 0:
            raise DebugInfoError(name, offset, f"there is no string at this offset (the section has {len(data)} bytes)")
        if end - offset <= _LONG:
            return decode(data[offset:end])
        # Strings may share their ends: keeping a string for every byte of a long one would take quadratic memory.
        text = self._long.get((name, offset))
        if text is None:
            self._strings.count(name, offset, end - offset, len(data))
            text = self._long[name, offset] = decode(data[offset:end])
        return text

    def number(self, name: str, offset: int, size: int) -> int:
        """The unsigned number of ``size`` bytes at ``offset``."""
        data = self[name]
        if offset + size > len(data):
            raise DebugInfoError(name, offset, f"a value reaches beyond the section's {len(data)} bytes")
        return int.from_bytes(data[offset:offset + size], "little")
