"""The compiler's own index of names: ``.debug_names`` (DWARF 5 section 6.1.1).

An index lists names by hash, and for each name the entries of ``.debug_info`` that have it. The section may hold
several indexes, one per unit or one for all units. The augmentation string states a producer's additions: an index with
an unknown augmentation may list something other than what the standard specifies, and is not used for lookups.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from functools import cached_property
from typing import Final

from msgspec import Struct

from rocdbg.dwarf.info.errors import DebugInfoError
from rocdbg.dwarf.info.forms import FORMS, IMPLICIT_CONST, INDIRECT, RawReader, raw_reader, uleb
from rocdbg.dwarf.info.sections import Sections
from rocdbg.text import decode_text, raw_text
from rocdbg.work import unit

__all__ = [
    "Idx", "IndexEntry", "IndexedName", "NameIndex", "is_known_augmentation", "name_hash", "names_of_entries",
    "read_name_indexes",
]

SECTION: Final = ".debug_names"
_VERSION: Final = 5
_VENDOR = re.compile(r"\[([^\]:]+):v(\d+)\.(\d+)(?::[^\]]*)?\]")


class Idx:
    """Index attribute codes, DW_IDX_* (table 6.1)."""

    COMPILE_UNIT: Final = 1
    TYPE_UNIT: Final = 2
    DIE_OFFSET: Final = 3
    PARENT: Final = 4
    TYPE_HASH: Final = 5


class IndexEntry(Struct, frozen=True):
    """An entry of the pool: it refers to an entry of ``.debug_info`` that has a name.

    ``offset`` is the entry's own position in the pool, by which ``parent`` of others refers to it; ``parent`` is
    None when the parent is not indexed or not stated (``attributes`` distinguishes the two). ``unit_offset`` and
    ``die_offset`` are positions in ``.debug_info``; both are None for a type unit of another file, whose
    ``signature`` is known. ``attributes`` holds raw values by DW_IDX_* code.
    """

    offset: int
    tag: int
    unit_offset: int | None
    die_offset: int | None
    signature: int | None
    parent: int | None
    type_hash: int | None
    attributes: dict[int, int]


class IndexedName(Struct, frozen=True):
    """A row of the name table: its number from 1, its text, its hash (None without a hash table)."""

    number: int
    text: str
    hash: int | None
    pool_offset: int


class _Abbreviation(Struct, frozen=True):
    tag: int
    attributes: tuple[tuple[int, int, RawReader], ...]


def name_hash(name: str) -> int:
    """The 32-bit hash of a name: DJB's, of the name with simple case folding (DWARF 5 section 7.33)."""
    value = 5381
    for byte in "".join(map(_fold, raw_text(name))).encode("utf-8", "surrogateescape"):
        value = (value * 33 + byte) & 0xFFFFFFFF
    return value


def _fold(char: str) -> str:
    if char in "\u0130\u0131":  # both Turkish variants of i count as i
        return "i"
    for folded in (char.casefold(), char.lower()):
        if len(folded) == 1:
            return folded
    return char


def is_known_augmentation(text: str) -> bool:
    """Whether an index with this augmentation lists what the standard specifies.

    True for the empty one, for LLVM's (``LLVM0700``) and for the recommended form (A.6.1.1.4.1) where every vendor is
    ``amdgpu`` with major version 0.
    """
    if text in ("", "LLVM0700"):
        return True
    vendors = list(_VENDOR.finditer(text))
    if "".join(vendor[0] for vendor in vendors) != text:
        return False
    return all(vendor[1] == "amdgpu" and int(vendor[2]) == 0 for vendor in vendors)


class NameIndex:
    """One name index. All methods raise ``DebugInfoError`` for damage in what they read.

    ``offset`` and ``end`` delimit it in ``.debug_names``; ``offset_size`` is 4 or 8; ``augmentation`` its string.
    ``compile_units`` and ``local_type_units`` are offsets in ``.debug_info``, ``foreign_type_units`` signatures.
    """

    def __init__(self, sections: Sections, offset: int) -> None:
        self._sections = sections
        self._data = sections[SECTION]
        self.offset = offset
        self.end = len(self._data)
        pos = offset
        length, pos = self._number(pos, 4)
        self.offset_size = 4
        if length == 0xFFFFFFFF:
            length, pos = self._number(pos, 8)
            self.offset_size = 8
        elif length >= 0xFFFFFFF0:
            raise self._error(offset, f"the length {length:#x} is reserved")
        if pos + length > len(self._data):
            raise self._error(offset, f"the name index has {length:#x} bytes, which go beyond the section's end")
        self.end = pos + length
        self.version, pos = self._number(pos, 2)
        if self.version != _VERSION:
            raise self._error(offset, f"name index version {self.version} is not supported")
        _, pos = self._number(pos, 2)  # padding
        counts = []
        for _ in range(7):
            value, pos = self._number(pos, 4)
            counts.append(value)
        units, local, foreign, self.bucket_count, self.name_count, abbreviations, size = counts
        text, pos = self._take(pos, size)
        # LLVM pads the string with zero bytes and includes them in its size; by the standard the size may exclude them
        self.augmentation = decode_text(text.rstrip(b"\0"))
        pos += -size % 4
        self.compile_units, pos = self._numbers(pos, units, self.offset_size)
        self.local_type_units, pos = self._numbers(pos, local, self.offset_size)
        self.foreign_type_units, pos = self._numbers(pos, foreign, 8)
        self._buckets, pos = self._array(pos, self.bucket_count, 4)
        self._hashes, pos = self._array(pos, self.name_count if self.bucket_count else 0, 4)
        self._strings, pos = self._array(pos, self.name_count, self.offset_size)
        self._entry_offsets, pos = self._array(pos, self.name_count, self.offset_size)
        self._abbreviations_at = pos
        _, self.pool = self._take(pos, abbreviations)

    def __repr__(self) -> str:
        return f"<NameIndex {self.offset:#x} {self.augmentation!r} {self.name_count} names>"

    # Reading

    def _error(self, offset: int, reason: str) -> DebugInfoError:
        return DebugInfoError(SECTION, offset, reason)

    def _take(self, pos: int, size: int) -> tuple[bytes, int]:
        if pos + size > self.end:
            raise self._error(pos, f"the name index ends too early: {size} more bytes are needed")
        return self._data[pos:pos + size], pos + size

    def _number(self, pos: int, size: int) -> tuple[int, int]:
        data, pos = self._take(pos, size)
        return int.from_bytes(data, "little"), pos

    def _array(self, pos: int, count: int, size: int) -> tuple[int, int]:
        """The position of an array that is known to fit, and the position after it."""
        if pos + count * size > self.end:
            raise self._error(pos, f"a table of {count} rows goes beyond the name index's end")
        return pos, pos + count * size

    def _numbers(self, pos: int, count: int, size: int) -> tuple[tuple[int, ...], int]:
        start, pos = self._array(pos, count, size)
        return tuple(self._row(start, number, size) for number in range(count)), pos

    def _row(self, start: int, number: int, size: int) -> int:
        at = start + number * size
        return int.from_bytes(self._data[at:at + size], "little")

    @cached_property
    def _abbreviations(self) -> dict[int, _Abbreviation]:
        table: dict[int, _Abbreviation] = {}
        pos = self._abbreviations_at
        while pos < self.pool:
            start = pos
            code, pos = self._uleb(pos, self.pool)
            if code == 0:
                break
            tag, pos = self._uleb(pos, self.pool)
            attributes = []
            while True:
                attribute, pos = self._uleb(pos, self.pool)
                form, pos = self._uleb(pos, self.pool)
                if attribute == 0 and form == 0:
                    break
                if form not in FORMS or form in (INDIRECT, IMPLICIT_CONST):
                    raise self._error(
                        start, f"index attribute {attribute:#x} has form {form:#x}, which cannot be used there"
                    )
                attributes.append((attribute, form, raw_reader(form, _VERSION, 8, self.offset_size)))
            if code in table:
                raise self._error(start, f"abbreviation {code} is defined twice")
            table[code] = _Abbreviation(tag, tuple(attributes))
        return table

    def _uleb(self, pos: int, end: int) -> tuple[int, int]:
        try:
            value, after = uleb(self._data, pos)
        except IndexError:
            after = end + 1
        if after > end:
            raise self._error(pos, "a LEB128 number goes beyond the end of the name index")
        return value, after

    # Names

    @property
    def is_usable(self) -> bool:
        """Whether the augmentation is known, so that lookups may rely on the index."""
        return is_known_augmentation(self.augmentation)

    def name(self, number: int) -> IndexedName:
        """Row ``number``, from 1, of the name table."""
        if not 1 <= number <= self.name_count:
            raise self._error(self.offset, f"there is no name {number}: the index has {self.name_count} names")
        row = number - 1
        size = self.offset_size
        text = self._sections.string(".debug_str", self._row(self._strings, row, size))
        hashed = self._row(self._hashes, row, 4) if self.bucket_count else None
        return IndexedName(number, text, hashed, self._row(self._entry_offsets, row, size))

    @property
    def names(self) -> Iterator[IndexedName]:
        """All names, in the order of the table."""
        return map(self.name, range(1, self.name_count + 1))

    def find(self, name: str) -> IndexedName | None:
        """The row of a name exactly as written, found by its hash if there are hashes."""
        if not self.bucket_count:
            return next((row for row in self.names if row.text == name), None)
        wanted = name_hash(name)
        bucket = wanted % self.bucket_count
        number = self._row(self._buckets, bucket, 4)  # 0: the bucket is empty
        if number > self.name_count:
            reason = f"bucket {bucket} starts at name {number}, but the index has only {self.name_count} names"
            raise self._error(self._buckets + 4 * bucket, reason)
        while 0 < number <= self.name_count:
            hashed = self._row(self._hashes, number - 1, 4)
            if hashed % self.bucket_count != bucket:
                break
            if hashed == wanted:
                row = self.name(number)
                if row.text == name:
                    return row
            number += 1
        return None

    # Entries

    def entries_named(self, name: str) -> list[IndexEntry]:
        """The entries of a name exactly as written; empty when the index does not have it."""
        row = self.find(name)
        return [] if row is None else list(self.entries(row))

    def entries(self, name: IndexedName) -> Iterator[IndexEntry]:
        """The entries of a name."""
        pos = self.pool + name.pool_offset
        while True:
            entry, pos = self._entry(pos)
            if entry is None:
                return
            yield entry

    def entry_at(self, offset: int) -> IndexEntry:
        """The entry at a position in the pool, as ``parent`` gives it."""
        entry, _ = self._entry(self.pool + offset)
        if entry is None:
            raise self._error(self.pool + offset, "a list of entries ends at this offset, so no entry begins there")
        return entry

    def items(self) -> Iterator[tuple[IndexedName, IndexEntry]]:
        """All names with each of their entries."""
        left = self.end - self.pool  # there cannot be more entries than bytes, unless lists overlap
        for name in self.names:
            unit()
            for entry in self.entries(name):
                left -= 1
                if left < 0:
                    raise self._error(self.pool + entry.offset, "the lists of entries of different names overlap")
                yield name, entry

    def _entry(self, start: int) -> tuple[IndexEntry | None, int]:
        if not self.pool <= start < self.end:
            raise self._error(start, "a list of entries goes beyond the entry pool")
        code, pos = self._uleb(start, self.end)
        if code == 0:
            return None, pos
        abbreviation = self._abbreviations.get(code)
        if abbreviation is None:
            raise self._error(start, f"abbreviation {code} is not defined")
        values: dict[int, int] = {}
        parent = None
        for attribute, form, reader in abbreviation.attributes:
            try:
                raw, pos = reader(self._data, pos)
            except IndexError:
                pos = self.end + 1
            if pos > self.end:
                raise self._error(start, "the entry goes beyond the end of the name index")
            # only a vendor's own attribute may be a block; its meaning is not known
            value = raw if isinstance(raw, int) else int.from_bytes(raw, "little")
            values.setdefault(attribute, value)
            if attribute == Idx.PARENT and FORMS[form][0] != "flag_present":
                parent = value
        unit, signature = self._unit(start, values)
        die = values.get(Idx.DIE_OFFSET)
        return IndexEntry(
            start - self.pool, abbreviation.tag, unit, None if unit is None or die is None else unit + die,
            signature, parent, values.get(Idx.TYPE_HASH), values,
        ), pos

    def _unit(self, start: int, values: dict[int, int]) -> tuple[int | None, int | None]:
        """The offset of an entry's unit, or the signature of a type unit that is in another file; the other result is
        None.
        """
        number = values.get(Idx.TYPE_UNIT)
        if number is not None:
            local, foreign = self.local_type_units, self.foreign_type_units
            if 0 <= number < len(local):
                return local[number], None
            if len(local) <= number < len(local) + len(foreign):
                return None, foreign[number - len(local)]
            count = len(local) + len(foreign)
            raise self._error(start, f"there is no type unit {number}: the index has {count} type units")
        number = values.get(Idx.COMPILE_UNIT, 0 if len(self.compile_units) == 1 else None)
        if number is None:
            raise self._error(start, "the entry does not name the unit that contains it")
        if not 0 <= number < len(self.compile_units):
            count = len(self.compile_units)
            raise self._error(start, f"there is no compile unit {number}: the index has {count} compile units")
        return self.compile_units[number], None


def read_name_indexes(sections: Sections) -> list[NameIndex]:
    """The name indexes of ``.debug_names``, in order. Raises ``DebugInfoError`` for a damaged header."""
    found = []
    pos = 0
    while pos < len(sections[SECTION]):
        unit()
        index = NameIndex(sections, pos)
        found.append(index)
        pos = index.end
    return found


def names_of_entries(sections: Sections, units: Collection[int] | None = None) -> dict[int, list[str]]:
    """The names of entries of ``.debug_info`` by offset, according to the usable indexes.

    An index is optional, because the entries contain their names themselves. An index is ignored if its augmentation is
    not known. If ``units`` is given, an index is also ignored unless all its units begin at offsets in ``units``:
    otherwise it was made for other entries. If any index is damaged, none is used.
    """
    found: dict[int, list[str]] = {}
    try:
        for index in read_name_indexes(sections):
            known = units is None or {*index.compile_units, *index.local_type_units} <= set(units)
            if index.is_usable and known:
                for name, entry in index.items():
                    if entry.die_offset is not None:
                        found.setdefault(entry.die_offset, []).append(name.text)
    except DebugInfoError:
        return {}
    return found
