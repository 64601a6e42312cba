"""AMDGPU relocations."""

from __future__ import annotations

import struct
from bisect import bisect_right
from collections.abc import Callable, Iterator
from enum import IntEnum
from typing import TYPE_CHECKING

from msgspec import Struct

from rocdbg import work
from rocdbg.codeobject.elf import PT_DYNAMIC, PT_GNU_RELRO, SHF_ALLOC, SHT_REL, SHT_RELA
from rocdbg.codeobject.elf_symbols import Symbol, SymbolTable
from rocdbg.codeobject.errors import UnresolvedSymbolError

if TYPE_CHECKING:
    from rocdbg.codeobject.code_object import CodeObject
    from rocdbg.codeobject.load_image import LoadedSegment
    from rocdbg.codeobject.load_layout import Layout

Resolver = Callable[[str], int | None]
"""Gives the address of a symbol that the code object does not define, or None."""

_RELA, _REL = struct.Struct("<QQq"), struct.Struct("<QQ")
_DT_PLTRELSZ, _DT_RELA, _DT_RELASZ, _DT_JMPREL = 2, 7, 8, 23
_MASK32 = 0xFFFF_FFFF
_MASK64 = 0xFFFF_FFFF_FFFF_FFFF


class RelocationType(IntEnum):
    """``R_AMDGPU_*``."""

    NONE = 0
    ABS32_LO = 1
    ABS32_HI = 2
    ABS64 = 3
    REL32 = 4
    REL64 = 5
    ABS32 = 6
    GOTPCREL = 7
    GOTPCREL32_LO = 8
    GOTPCREL32_HI = 9
    REL32_LO = 10
    REL32_HI = 11
    RELATIVE64 = 13
    REL16 = 14


_T = RelocationType
_USES_GOT = frozenset({_T.GOTPCREL, _T.GOTPCREL32_LO, _T.GOTPCREL32_HI})
_PC_RELATIVE = _USES_GOT | {_T.REL32, _T.REL64, _T.REL32_LO, _T.REL32_HI, _T.REL16}
_HIGH_HALF = frozenset({_T.ABS32_HI, _T.REL32_HI, _T.GOTPCREL32_HI})
_SIZES = {_T.NONE: 0, _T.ABS64: 8, _T.REL64: 8, _T.RELATIVE64: 8, _T.REL16: 2}


class Relocation(Struct, frozen=True):
    """One relocation record."""

    address: int
    """Address of the field, at load bias 0."""
    type: RelocationType
    symbol: int
    """Index in the symbol table."""
    addend: int
    dynamic: bool
    """Whether the symbol is one of the dynamic table."""


def iter_relocations(code_object: CodeObject) -> Iterator[Relocation]:
    """The relocations to apply on load: the dynamic ones or, unlinked, those of the loaded sections.

    Raises `CodeObjectError` for a damaged table or an unknown type.
    """
    if code_object.is_relocatable:
        yield from _section_relocations(code_object)
        return
    elf = code_object.container
    if any(segment.type == PT_DYNAMIC for segment in elf.segments):
        tags = elf.dynamic_tags()
        for start, size in ((_DT_RELA, _DT_RELASZ), (_DT_JMPREL, _DT_PLTRELSZ)):
            if tags.get(size, 0):
                data = elf.read(tags.get(start, 0), tags[size], "dynamic relocations")
                yield from _records(code_object, data, 0, "dynamic relocations", True)


def _section_relocations(code_object: CodeObject) -> Iterator[Relocation]:
    sections = code_object.container.section_list
    contents: dict[int, bytes] = {}  # many tables may name the same section, whose bytes are read only once
    for section in sections:
        if section.type not in (SHT_RELA, SHT_REL) or not 0 < section.info < len(sections):
            continue
        target = sections[section.info]
        if not target.flags & SHF_ALLOC:
            continue  # debug information: see `rocdbg.codeobject.debug_relocation`
        start = code_object.layout.section_addresses
        base = start[target.index] if start is not None else 0
        if section.type == SHT_REL and target.index not in contents:
            contents[target.index] = target.data
        fields = contents[target.index] if section.type == SHT_REL else None
        yield from _records(code_object, section.data, base, f"section {section.name}", False, fields)


def _records(
    code_object: CodeObject, data: bytes, base: int, section: str, dynamic: bool, fields: bytes | None = None
) -> Iterator[Relocation]:
    """The records in ``data``. Records of systems other than HSA may have no addend; it is then in ``fields``, the
    contents of the section.
    """
    layout = _RELA if fields is None else _REL
    usable = len(data) - len(data) % layout.size
    for index, (offset, info, *addends) in enumerate(layout.iter_unpack(data[:usable])):
        work.unit()
        try:
            kind = RelocationType(info & _MASK32)
        except ValueError:
            reason = f"relocation {index} has the unknown type {info & _MASK32}"
            raise code_object.source.error(reason, section=section) from None
        addend = addends[0] if fields is None else _addend(fields, offset, kind)
        yield Relocation(base + offset, kind, info >> 32, addend, dynamic)


def _addend(fields: bytes, offset: int, kind: RelocationType) -> int:
    """The contents of a field before relocation; a field beyond the section is reported when it is written."""
    size = _SIZES.get(kind, 4)
    value = int.from_bytes(fields[offset : offset + size], "little", signed=True)
    return value * 4 + 4 if kind is _T.REL16 else value  # a branch counts dwords from the instruction after it


def got_symbols(code_object: CodeObject) -> dict[tuple[bool, int], None]:
    """The symbols that need a slot of the global offset table, in order of first use.

    Only unlinked objects need a table to be made; in linked ones, the linker has resolved these relocations.
    """
    if not code_object.is_relocatable:
        return {}
    found: dict[tuple[bool, int], None] = {}
    sections = code_object.container.section_list
    for section in sections:
        if section.type not in (SHT_RELA, SHT_REL) or not 0 < section.info < len(sections):
            continue
        if sections[section.info].flags & SHF_ALLOC:
            fields = b"" if section.type == SHT_REL else None  # addends are not needed here
            for record in _records(code_object, section.data, 0, f"section {section.name}", False, fields):
                if record.type in _USES_GOT:
                    found.setdefault((False, record.symbol))
    return found


def fixed_pointers(code_object: CodeObject) -> dict[int, int]:
    """The addresses within the object that relocation stores in memory which is read-only afterwards: in the global
    offset table that is made for an unlinked object, or in PT_GNU_RELRO. They are given by the address of the field,
    all at load bias 0.

    Raises `CodeObjectError` for damaged relocations.
    """
    layout = code_object.layout
    linker = _Linker(code_object, layout, 0, None)
    found = {slot: linker.symbol_value(symbol, dynamic) for (dynamic, symbol), slot in layout.got.items()}
    segments = code_object.container.segments
    relro = next((segment for segment in segments if segment.type == PT_GNU_RELRO), None)
    if relro is not None and not code_object.is_relocatable:
        fixed = range(relro.address, relro.address + relro.memory_size - 7)
        for record in iter_relocations(code_object):
            if record.type in (_T.ABS64, _T.RELATIVE64) and record.address in fixed:
                found[record.address] = linker.value(record, record.address)
    return {address: value for address, value in found.items() if value}


def relocate(
    code_object: CodeObject, base: int, segments: list[LoadedSegment], resolve: Resolver | None
) -> None:
    """Apply all relocations of ``code_object`` to its ``segments`` loaded at ``base``."""
    layout = code_object.layout
    memory = _Memory(code_object, segments)
    linker = _Linker(code_object, layout, base, resolve)
    for (dynamic, symbol), slot in layout.got.items():
        memory.write(base + slot, linker.symbol_value(symbol, dynamic) & _MASK64, 8)
    for record in iter_relocations(code_object):
        if record.type is _T.NONE:
            continue
        place_address = base + record.address
        value = linker.value(record, place_address)
        if record.type is _T.REL16:
            value = _rel16(code_object, record, value)
        elif record.type in _HIGH_HALF:
            value >>= 32
        size = _SIZES.get(record.type, 4)
        memory.write(place_address, value & ((1 << 8 * size) - 1), size)
    linker.raise_undefined()


def _rel16(code_object: CodeObject, record: Relocation, value: int) -> int:
    """A branch distance: in dwords, from the instruction after the branch."""
    distance = (value - 4) // 4
    if (value - 4) % 4 or not -0x8000 <= distance <= 0x7FFF:
        reason = f"the distance {value} from {record.address:#x} cannot be expressed by R_AMDGPU_REL16"
        raise code_object.source.error(reason, section="relocations")
    return distance


class _Linker:
    """Values of symbols for one load; collects the undefined ones, so that an error can name all of them."""

    def __init__(self, code_object: CodeObject, layout: Layout, base: int, resolve: Resolver | None) -> None:
        self._code_object = code_object
        self._layout = layout
        self._base = base
        self._resolve = resolve
        self._undefined: dict[str, None] = {}

    def value(self, record: Relocation, place_address: int) -> int:
        if record.type is _T.RELATIVE64:
            return self._base + record.addend
        if record.type in _USES_GOT:
            value = self._base + self._layout.got.get((record.dynamic, record.symbol), 0)
            if (record.dynamic, record.symbol) not in self._layout.got:
                reason = f"{record.type.name} at {record.address:#x} is not a dynamic relocation"
                raise self._code_object.source.error(reason, section="relocations")
        else:
            value = self.symbol_value(record.symbol, record.dynamic)
        value += record.addend
        return value - place_address if record.type in _PC_RELATIVE else value

    def symbol_value(self, index: int, dynamic: bool) -> int:
        if index == 0:
            return 0
        table: SymbolTable = self._code_object.dynamic_symbols if dynamic else self._code_object.symbols
        symbol: Symbol = table[index]
        if symbol.is_defined:
            return self._layout.place(self._base, symbol)
        address = self._resolve(symbol.name) if self._resolve is not None else None
        if address is not None:
            return address
        if not symbol.is_weak:
            self._undefined.setdefault(symbol.name)
        return 0

    def raise_undefined(self) -> None:
        if self._undefined:
            raise UnresolvedSymbolError(self._code_object.name, list(self._undefined))


class _Memory:
    """Bounds-checked writes into the segments."""

    def __init__(self, code_object: CodeObject, segments: list[LoadedSegment]) -> None:
        self._source = code_object.source
        self._segments = sorted(segments, key=lambda segment: segment.address)
        self._starts = [segment.address for segment in self._segments]

    def write(self, address: int, value: int, size: int) -> None:
        position = bisect_right(self._starts, address) - 1
        if position >= 0:
            segment = self._segments[position]
            at = address - segment.address
            if at + size <= len(segment.data):
                segment.data[at : at + size] = value.to_bytes(size, "little")
                return
        reason = f"a relocation at {address:#x} lies outside the loaded segments"
        raise self._source.error(reason, section="relocations")
