"""Relocates sections that are not loaded: the debug information of an unlinked object."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rocdbg.codeobject.elf import SHF_ALLOC, SHN_LORESERVE, SHT_REL, SHT_RELA, Section
from rocdbg.codeobject.errors import CodeObjectError
from rocdbg.codeobject.relocation import RelocationType

if TYPE_CHECKING:
    from rocdbg.codeobject.code_object import CodeObject

_T = RelocationType
_RECORD = np.dtype([("offset", "<u8"), ("info", "<u8"), ("addend", "<i8")])
_SHORT_RECORD = np.dtype([("offset", "<u8"), ("info", "<u8")])
_SIZES = {_T.ABS32: 4, _T.ABS32_LO: 4, _T.ABS64: 8, _T.REL32: 4, _T.REL32_LO: 4, _T.REL64: 8}
_MOST_TABLES = 256
"""Maximum number of tables for one section; compilers write one."""
_RELATIVE = (_T.REL32, _T.REL32_LO, _T.REL64)


class DebugRelocations:
    """The relocations of an unlinked object's debug sections, for its code at the addresses of `CodeObject.layout`."""

    def __init__(self, code_object: CodeObject) -> None:
        self._code_object = code_object
        self._tables: dict[int, list[Section]] = {}
        for section in code_object.container.section_list if code_object.is_relocatable else ():
            if section.type in (SHT_RELA, SHT_REL):
                self._tables.setdefault(section.info, []).append(section)

    def apply(self, section: Section, data: bytes) -> bytes:
        """The bytes of a section, uncompressed, with its relocations applied; the same bytes if it has none.

        Raises `CodeObjectError` for damaged tables, and for types that debug information does not use.
        """
        tables = self._tables.get(section.index)
        if not tables or section.flags & SHF_ALLOC:
            return data
        if len(tables) > _MOST_TABLES:
            raise self._error(section, f"the section has {len(tables)} relocation tables; the limit is {_MOST_TABLES}")
        made = bytearray(data)
        for table in tables:
            self._apply_table(table, made)
        return bytes(made)

    def _apply_table(self, table: Section, data: bytearray) -> None:
        raw, layout = table.data, _SHORT_RECORD if table.type == SHT_REL else _RECORD
        records = np.frombuffer(raw, layout, len(raw) // layout.itemsize)
        types, symbols = records["info"] & 0xFFFF_FFFF, records["info"] >> np.uint64(32)
        values = self._symbol_values(table, symbols)
        target = np.frombuffer(data, np.uint8)  # a view, so writes go to ``data``
        for kind in np.unique(types).tolist():
            if kind == _T.NONE:
                continue
            size = _SIZES.get(kind)
            if size is None:
                raise self._error(table, f"relocation type {kind} cannot be used in debug information")
            chosen = types == kind
            offsets = records["offset"][chosen]
            if len(data) < size or int(offsets.max()) > len(data) - size:
                raise self._error(table, f"a relocation lies beyond the section's {len(data)} bytes")
            places = offsets.astype(np.int64)
            if table.type == SHT_REL:  # the fields contain the addend
                addends = sum(target[places + byte].astype(np.uint64) << np.uint64(8 * byte) for byte in range(size))
            else:
                addends = records["addend"][chosen].astype(np.uint64)
            results = values[chosen] + addends
            if kind in _RELATIVE:
                results = results - offsets
            for byte in range(size):
                target[places + byte] = (results >> np.uint64(8 * byte)) & np.uint64(0xFF)

    def _symbol_values(self, table: Section, symbols: Any) -> Any:
        """The value of each record's symbol: an address at load bias 0, or an offset in a section that is not loaded.
        """
        code_object = self._code_object
        rows = code_object.symbols.array
        if len(symbols) and int(symbols.max()) >= len(rows):
            raise self._error(table, f"there is no symbol {int(symbols.max())}: the symbol table has {len(rows)}")
        used, where = np.unique(symbols, return_inverse=True)
        sections = code_object.container.section_list
        starts = code_object.layout.section_addresses or {}
        found = np.zeros(len(used), np.uint64)
        for position, index in enumerate(used.tolist()):
            section, value = int(rows["shndx"][index]), int(rows["value"][index])
            if section >= SHN_LORESERVE:
                value = code_object.address_of(code_object.symbols[index])
            elif section >= len(sections):
                raise self._error(table, f"symbol {index} is in section {section}, which does not exist")
            found[position] = (starts.get(section, 0) + value) & 0xFFFF_FFFF_FFFF_FFFF
        return found[where]

    def _error(self, table: Section, reason: str) -> CodeObjectError:
        return self._code_object.source.error(reason, section=f"section {table.name}")
