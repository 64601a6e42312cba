"""Symbol tables, indexed without visiting a Python object per symbol."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Collection, Iterator, Mapping
from enum import IntEnum
from typing import Any

import numpy as np
from msgspec import Struct

from rocdbg.codeobject.bounded_reader import Source
from rocdbg.codeobject.elf import SHN_ABS, SHN_AMDGPU_LDS, SHN_UNDEF
from rocdbg.codeobject.string_table import StringTable
from rocdbg.errors import remembered

SYMBOL_DTYPE = np.dtype(
    [("name", "<u4"), ("info", "u1"), ("other", "u1"), ("shndx", "<u2"), ("value", "<u8"), ("size", "<u8")]
)


class SymbolType(IntEnum):
    """``STT_*``, as far as code objects use them."""

    NOTYPE = 0
    OBJECT = 1
    FUNC = 2
    SECTION = 3
    FILE = 4
    COMMON = 5
    TLS = 6
    AMDGPU_HSA_KERNEL = 10
    """A kernel of code object V2."""


class Symbol(Struct, frozen=True):
    """One symbol."""

    index: int
    name: str
    value: int
    """Its virtual address; for LDS symbols the alignment, in unlinked objects the offset in its section."""
    size: int
    type: int
    """A `SymbolType` value, or another one."""
    binding: int
    """0 local, 1 global, 2 weak."""
    visibility: int
    section_index: int

    @property
    def is_defined(self) -> bool:
        return self.section_index != SHN_UNDEF

    @property
    def is_absolute(self) -> bool:
        return self.section_index == SHN_ABS

    @property
    def is_lds(self) -> bool:
        return self.section_index == SHN_AMDGPU_LDS

    @property
    def is_weak(self) -> bool:
        return self.binding == 2


class SymbolTable:
    """The symbols of one table; a sequence of `Symbol`, by name with `get`, by address with `at`.

    Made from the raw bytes of a symbol table and its strings; both indices are built when first asked for.
    ``section_starts`` tells, for an unlinked object, where its sections are placed: values are offsets in them.
    """

    def __init__(
        self, source: Source, name: str, data: bytes, strings: bytes,
        section_starts: Callable[[], Mapping[int, int]] | None = None,
    ) -> None:
        self.source = source
        self.name = name
        self.array: np.ndarray[Any, np.dtype[Any]] = np.frombuffer(
            data, SYMBOL_DTYPE, count=len(data) // SYMBOL_DTYPE.itemsize
        )
        self._raw_strings = strings
        self._section_starts = section_starts

    def __len__(self) -> int:
        return len(self.array)

    def __iter__(self) -> Iterator[Symbol]:
        for index in range(len(self.array)):
            yield self[index]

    def __getitem__(self, index: int) -> Symbol:
        if not 0 <= index < len(self.array):
            raise self.source.error(f"no symbol {index}, there are {len(self.array)}", section=self.name)
        name, info, other, shndx, value, size = self.array[index].tolist()
        return Symbol(index, self._name(name), value, size, info & 15, info >> 4, other & 3, shndx)

    def names(self) -> list[str]:
        """The names of all symbols, in order."""
        return list(self._names)

    @remembered
    def _names(self) -> list[str]:
        return [self._name(offset) for offset in self.array["name"].tolist()]

    def defined(self, types: Collection[int]) -> dict[int, str]:
        """The names, by index, of the defined symbols of some types."""
        array, names = self.array, self._names
        wanted = np.isin(array["info"] & 15, list(types)) & (array["shndx"] != SHN_UNDEF)
        return {index: names[index] for index in np.flatnonzero(wanted).tolist()}

    def get(self, name: str) -> Symbol | None:
        """The symbol of this name; a defined one if there is one."""
        index = self._by_name.get(name)
        return None if index is None else self[index]

    def at(self, address: int, labels: bool = True) -> Symbol | None:
        """The function, object or label whose bytes hold ``address``; without ``labels`` one that has a size.

        Of several the one that starts last and, starting together, a function first.
        """
        starts, indices, sized = self._by_address
        position = bisect_right(starts, address) - 1
        if position < 0:
            return None
        if starts[position] != address or not labels:
            position = sized[position]  # a label is at its own address only
            if position < 0:
                return None
        symbol = self[indices[position]]
        return symbol if starts[position] == address or address < starts[position] + symbol.size else None

    @remembered
    def _by_name(self) -> dict[str, int]:
        defined = self.array["shndx"] != SHN_UNDEF
        found: dict[str, int] = {}
        for index, name in enumerate(self._names):
            if name and (name not in found or (defined[index] and not defined[found[name]])):
                found[name] = index
        return found

    @remembered
    def _by_address(self) -> tuple[list[int], list[int], list[int]]:
        """Addresses in order, their symbols, and at each position that of the last symbol that has a size (or -1)."""
        array = self.array
        kinds = array["info"] & 15
        wanted = (kinds <= SymbolType.FUNC) | (kinds == SymbolType.AMDGPU_HSA_KERNEL)
        wanted &= (array["shndx"] != SHN_UNDEF) & (array["shndx"] < SHN_AMDGPU_LDS) & (array["name"] != 0)
        addresses = array["value"]
        if self._section_starts is not None:
            named = self._section_starts().items()
            section_starts = {index: start for index, start in named if index < SHN_AMDGPU_LDS}
            places = np.zeros(1 << 16, np.uint64)
            places[list(section_starts)] = list(section_starts.values())
            wanted &= np.isin(array["shndx"], list(section_starts))
            addresses = addresses + places[array["shndx"]]
        indices = np.flatnonzero(wanted)
        # Functions sort last among equals, so that the search from the right meets them first.
        order = np.lexsort((kinds[indices] == SymbolType.FUNC, array["size"][indices] > 0, addresses[indices]))
        indices = indices[order]
        positions = np.where(array["size"][indices] > 0, np.arange(len(indices)), -1)
        sized = np.maximum.accumulate(positions) if len(positions) else positions
        return addresses[indices].tolist(), indices.tolist(), sized.tolist()

    @remembered
    def _strings(self) -> StringTable:
        table = StringTable(self.source, self.name, self._raw_strings)
        table.check(self.array["name"])
        return table

    def _name(self, offset: int) -> str:
        name = self._strings.get(offset) if offset else ""
        if name is None:
            raise self.source.error(f"a name at {offset:#x} lies outside the string table", section=self.name)
        return name
