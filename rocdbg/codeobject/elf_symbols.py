"""Symbol tables, indexed without creating a Python object per symbol."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterator, Mapping
from enum import IntEnum
from typing import Any

import numpy as np
from msgspec import Struct

from rocdbg import work
from rocdbg.codeobject.bounded_reader import Source
from rocdbg.codeobject.elf import SHN_ABS, SHN_AMDGPU_LDS, SHN_UNDEF
from rocdbg.codeobject.string_table import StringTable
from rocdbg.errors import remembered

SYMBOL_DTYPE = np.dtype(
    [("name", "<u4"), ("info", "u1"), ("other", "u1"), ("shndx", "<u2"), ("value", "<u8"), ("size", "<u8")]
)


class SymbolType(IntEnum):
    """``STT_*``, those that occur in code objects."""

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
    """The virtual address; for LDS symbols the alignment; in unlinked objects the offset in its section."""
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


class _AddressIndex(Struct, frozen=True):
    """Symbols in the order of their addresses. All lists are indexed by position in that order."""

    starts: list[int]
    ends: list[int]
    """End addresses (exclusive); for a symbol without a size, the end of its extent."""
    symbols: list[int]
    """Indices in the table."""
    sized: list[bool]
    """Whether a symbol has a size."""
    highest_ends: list[list[int]]
    """A search tree: the first list has the ends of the symbols with a size (0 for others), and each further list has
    the maximum of each pair of the previous list, down to one for all. It is needed because symbols may be nested
    thousands deep.
    """

    def last_around(self, position: int, address: int) -> int:
        """The last symbol with a size, up to and including a position, that ends after an address; -1 if there is none.
        Takes time proportional to the logarithm of the number of symbols."""
        level, at = 0, position
        while self.highest_ends[level][at] <= address:
            if at == 0:
                return -1
            if at % 2:
                at -= 1
            else:  # the ends in this pair are all too low: continue with the pair before
                level, at = level + 1, at // 2 - 1
        while level:
            level, at = level - 1, 2 * at
            ends = self.highest_ends[level]
            if at + 1 < len(ends) and ends[at + 1] > address:
                at += 1
        return at


_SLICE = 1 << 14
"""Symbols between two checks for an interrupt."""
_GLOBAL = 16
"""The lowest value of ``info`` for a symbol that is not local."""
_LAST_ADDRESS = np.uint64((1 << 64) - 1)


class SymbolTable:
    """The symbols of one table; a sequence of `Symbol`, by name with `get`, by address with `at`.

    Made from the raw bytes of a symbol table and its strings; both indices are built when first needed. ``sections``
    gives the address ranges of the loaded sections, by index: a symbol without a size extends at most to the end of its
    section. In an ``unlinked`` object values are offsets in sections.
    """

    def __init__(
        self, source: Source, name: str, data: bytes, strings: bytes,
        sections: Callable[[], Mapping[int, tuple[int, int]]] = dict, unlinked: bool = False,
    ) -> None:
        self.source = source
        self.name = name
        self.array: np.ndarray[Any, np.dtype[Any]] = np.frombuffer(
            data, SYMBOL_DTYPE, count=len(data) // SYMBOL_DTYPE.itemsize
        )
        self._raw_strings = strings
        self._sections = sections
        self._unlinked = unlinked

    def __len__(self) -> int:
        return len(self.array)

    def __iter__(self) -> Iterator[Symbol]:
        for index in range(len(self.array)):
            work.unit()
            yield self[index]

    def __getitem__(self, index: int) -> Symbol:
        if not 0 <= index < len(self.array):
            raise self.source.error(f"there is no symbol {index}: the table has {len(self.array)}", section=self.name)
        name, info, other, shndx, value, size = self.array[index].tolist()
        return Symbol(index, self._name(name), value, size, info & 15, info >> 4, other & 3, shndx)

    def names(self) -> list[str]:
        """The names of all symbols, in order."""
        return list(self._names)

    @remembered
    def _names(self) -> list[str]:
        found: list[str] = []
        with work.doing("reading symbols"):
            for first in range(0, len(self.array), _SLICE):
                work.unit()
                found += [self._name(offset) for offset in self.array["name"][first : first + _SLICE].tolist()]
        return found

    def defined(self, types: Collection[int]) -> dict[int, str]:
        """The names, by index, of the defined symbols of some types."""
        array, names = self.array, self._names
        wanted = np.isin(array["info"] & 15, list(types)) & (array["shndx"] != SHN_UNDEF)
        return {index: names[index] for index in np.flatnonzero(wanted).tolist()}

    def get(self, name: str) -> Symbol | None:
        """The symbol with this name; a defined one if there is one."""
        index = self._by_name.get(name)
        return None if index is None else self[index]

    def at(self, address: int) -> Symbol | None:
        """The function, object or label that contains an address, as GDB names it; see `extent_at`."""
        found = self.extent_at(address)
        return None if found is None else found[0]

    def extent_at(self, address: int) -> tuple[Symbol, int, int] | None:
        """The symbol that contains an address, with its begin and end (exclusive).

        A symbol with a size is preferred to one without; if several contain the address, the one that starts last is
        preferred. A symbol without a size extends to the next address that has a symbol or to the end of its section,
        except for bytes that an earlier symbol with a size contains. If several have one address, global symbols are
        preferred to local ones, then the last one by name.
        """
        index = self._by_address
        position = bisect_right(index.starts, address) - 1
        if position < 0:
            return None
        last = index.last_around(position, address)
        if last >= 0:
            return self[index.symbols[last]], index.starts[last], index.ends[last]
        first = bisect_left(index.starts, index.starts[position])
        # at one address, symbols without a size precede those with one
        position = max(first, bisect_left(index.sized, True, first, position + 1) - 1)
        if index.sized[position] or index.ends[position] <= address:
            return None
        return self[index.symbols[position]], index.starts[position], index.ends[position]

    def starting_in(self, low: int, high: int) -> Iterator[Symbol]:
        """Functions, objects and labels that begin at an address in [low, high), by address; at one address, the one
        that `extent_at` prefers comes last."""
        index = self._by_address
        for position in range(bisect_left(index.starts, low), bisect_left(index.starts, high)):
            yield self[index.symbols[position]]

    @remembered
    def _by_name(self) -> dict[str, int]:
        defined = self.array["shndx"] != SHN_UNDEF
        found: dict[str, int] = {}
        for index, name in enumerate(self._names):
            if name and (name not in found or (defined[index] and not defined[found[name]])):
                found[name] = index
        return found

    @remembered
    def _by_address(self) -> _AddressIndex:
        array = self.array
        kinds = array["info"] & 15
        wanted = (kinds <= SymbolType.FUNC) | (kinds == SymbolType.AMDGPU_HSA_KERNEL)
        wanted &= (array["shndx"] != SHN_UNDEF) & (array["shndx"] < SHN_AMDGPU_LDS) & (array["name"] != 0)
        addresses = array["value"].copy()
        sections = {number: place for number, place in self._sections().items() if number < SHN_AMDGPU_LDS}
        # without section headers, only the next symbol limits an extent
        section_ends = np.full(1 << 16, 0 if sections else _LAST_ADDRESS, np.uint64)
        if sections:
            section_ends[list(sections)] = [end for _, end in sections.values()]
        if self._unlinked:
            places = np.zeros(1 << 16, np.uint64)
            if sections:
                places[list(sections)] = [start for start, _ in sections.values()]
            wanted &= np.isin(array["shndx"], list(sections))
            addresses += places[array["shndx"]]
        indices = np.flatnonzero(wanted)
        names = self._names
        temporary = [names[each].startswith(".L") for each in indices.tolist()]  # labels that GDB ignores, too
        indices = indices[~np.array(temporary, bool)]
        starts, sizes = addresses[indices], array["size"][indices]
        # The preferred one sorts last among equals, so that the search from the right finds it first.
        order = sorted(
            range(len(indices)),
            key=lambda n: (int(starts[n]), bool(sizes[n]), array["info"][indices[n]] >= _GLOBAL, names[indices[n]]),
        )
        indices, starts, sizes = indices[order], starts[order], sizes[order]
        # The next address that has a symbol, but not after the section's end.
        following = np.searchsorted(starts, starts, "right")
        next_starts = np.append(starts, [_LAST_ADDRESS])[following]
        of_section = section_ends[array["shndx"][indices]]
        ends = np.where(of_section > starts, np.minimum(next_starts, of_section), starts + np.uint64(1))
        with np.errstate(over="ignore"):
            sized_ends = starts + sizes
        ends = np.where(sizes > 0, np.where(sized_ends < starts, _LAST_ADDRESS, sized_ends), ends)
        level = np.where(sizes > 0, ends, np.uint64(0))
        highest_ends = [level.tolist()]
        while len(level) > 1:
            pairs = np.append(level, np.zeros(len(level) % 2, np.uint64)).reshape(-1, 2)
            level = pairs.max(axis=1)
            highest_ends.append(level.tolist())
        return _AddressIndex(
            starts.tolist(), ends.tolist(), indices.tolist(), (sizes > 0).tolist(), highest_ends
        )

    @remembered
    def _strings(self) -> StringTable:
        table = StringTable(self.source, self.name, self._raw_strings)
        table.check(self.array["name"])
        return table

    def _name(self, offset: int) -> str:
        name = self._strings.get(offset) if offset else ""
        if name is None:
            raise self.source.error(
                f"the name of a symbol is at {offset:#x}, outside the string table", section=self.name
            )
        return name
