"""The layout of a code object's parts in memory, before a load address is chosen."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import TYPE_CHECKING

from msgspec import Struct

from rocdbg.codeobject.bounded_reader import Source
from rocdbg.codeobject.elf import (
    PF_R,
    PF_W,
    PF_X,
    PT_LOAD,
    SHF_ALLOC,
    SHF_EXECINSTR,
    SHF_WRITE,
    SHN_AMDGPU_LDS,
    SHN_COMMON,
    SHT_NOBITS,
)
from rocdbg.codeobject.elf_symbols import Symbol, SymbolTable
from rocdbg.codeobject.relocation import got_symbols

if TYPE_CHECKING:
    from rocdbg.codeobject.code_object import CodeObject

PAGE = 4096
MAX_IMAGE_SIZE = 256 << 20
"""Largest image in bytes: a damaged segment size must not exhaust the machine's memory."""


class Part(Struct, frozen=True):
    """One stretch of the image, at load bias 0."""

    name: str
    address: int
    size: int
    file_offset: int
    file_size: int
    """Bytes in the file; the rest of ``size`` is zeros."""
    flags: int
    """``PF_R | PF_W | PF_X``."""


class LdsVariable(Struct, frozen=True):
    """A variable in LDS that a symbol declares (``SHN_AMDGPU_LDS``)."""

    name: str
    offset: int
    """Offset in the workgroup's LDS, which rocdbg assigns in the order of the symbols."""
    size: int
    alignment: int


class Layout(Struct):
    """The addresses of everything at load bias 0."""

    source: Source
    parts: tuple[Part, ...]
    size: int
    """End of the image, including room for the global offset table."""
    alignment: int
    section_addresses: Mapping[int, int] | None
    """For an unlinked object: the address of each loaded section."""
    lds: Mapping[str, LdsVariable]
    lds_size: int
    common: Mapping[int, int]
    """Addresses of common symbols, by symbol index."""
    got_address: int
    got: Mapping[tuple[bool, int], int]
    """Addresses of slots in the global offset table, by (whether the symbol is in the dynamic table, symbol index)."""

    def address_of(self, symbol: Symbol) -> int:
        """See `CodeObject.address_of`."""
        if symbol.is_lds:
            if symbol.name in self.lds:
                return self.lds[symbol.name].offset
        elif symbol.is_absolute:
            return symbol.value
        elif symbol.section_index == SHN_COMMON and symbol.index in self.common:
            return self.common[symbol.index]
        elif symbol.is_defined:
            if self.section_addresses is None:
                return symbol.value
            start = self.section_addresses.get(symbol.section_index)
            if start is not None:
                return start + symbol.value
        reason = f"symbol {symbol.name or symbol.index} is not defined in a loaded section"
        raise self.source.error(reason, section="symbol table")

    def place(self, base: int, symbol: Symbol) -> int:
        """The address of a symbol in an image at ``base``; LDS offsets and absolute values do not move."""
        address = self.address_of(symbol)
        return address if symbol.is_lds or symbol.is_absolute else base + address


def lay_out(code_object: CodeObject) -> Layout:
    """Lay out the parts of a code object; raises `CodeObjectError` if they cannot be placed."""
    symbols = code_object.symbols
    if code_object.is_relocatable:
        parts, addresses, common = _place_sections(code_object)
    else:
        parts, addresses, common = _segment_parts(code_object), None, {}
    end = max((part.address + part.size for part in parts), default=0)
    end = max((end, *(address + symbols[index].size for index, address in common.items())))
    if end > MAX_IMAGE_SIZE:
        reason = f"the loaded code object would take {end:#x} bytes; the limit is {MAX_IMAGE_SIZE:#x}"
        raise code_object.source.error(reason, section="program headers")
    lds, lds_size = _lay_out_lds(symbols)
    got_address = _align(end, 8)
    got = {key: got_address + 8 * slot for slot, key in enumerate(got_symbols(code_object))}
    alignment = max([PAGE, *(s.alignment for s in code_object.container.segments if s.type == PT_LOAD)])
    if alignment & (alignment - 1) or alignment > MAX_IMAGE_SIZE:
        reason = f"the alignment {alignment:#x} is not a power of two up to {MAX_IMAGE_SIZE:#x}"
        raise code_object.source.error(reason, section="program headers")
    size = got_address + 8 * len(got) if got else end
    return Layout(
        code_object.source, parts, size, alignment, addresses, lds, lds_size, common, got_address, got
    )


def _segment_parts(code_object: CodeObject) -> tuple[Part, ...]:
    """The loadable segments of a linked object, in order of address; they must not overlap."""
    parts = []
    for segment in code_object.container.segments:
        if segment.type != PT_LOAD or segment.memory_size == 0:
            continue
        if segment.file_size > segment.memory_size:
            reason = f"segment {segment.index} has more bytes in the file than in memory"
            raise code_object.source.error(reason, section="program headers")
        name = f"segment {segment.index}"
        parts.append(
            Part(name, segment.address, segment.memory_size, segment.offset, segment.file_size, segment.flags)
        )
    parts.sort(key=lambda part: part.address)
    for before, after in pairwise(parts):
        if before.address + before.size > after.address:
            reason = f"{before.name} and {after.name} overlap"
            raise code_object.source.error(reason, section="program headers")
    return tuple(parts)


def _place_sections(code_object: CodeObject) -> tuple[tuple[Part, ...], dict[int, int], dict[int, int]]:
    """Place an unlinked object's sections: in file order, on separate pages, common symbols last."""
    parts, addresses, common = [], {}, {}
    at = 0
    for section in code_object.container.section_list:
        if not section.flags & SHF_ALLOC:
            continue
        alignment = max(PAGE, section.alignment)
        if alignment & (alignment - 1) or max(alignment, section.size) > MAX_IMAGE_SIZE:
            reason = (
                f"section {section.name} ({section.size:#x} bytes, aligned to {alignment:#x}) cannot be placed in "
                "memory"
            )
            raise code_object.source.error(reason, section="section headers")
        at = _align(at, alignment)
        addresses[section.index] = at
        flags = PF_R
        flags |= PF_W if section.flags & SHF_WRITE else 0
        flags |= PF_X if section.flags & SHF_EXECINSTR else 0
        file_size = 0 if section.type == SHT_NOBITS else section.size
        if section.size:
            parts.append(Part(section.name, at, section.size, section.offset, file_size, flags))
        at += section.size
    at = _align(at, PAGE)
    for index in (code_object.symbols.array["shndx"] == SHN_COMMON).nonzero()[0].tolist():
        symbol = code_object.symbols[index]
        if symbol.size > MAX_IMAGE_SIZE:
            reason = f"common symbol {symbol.name} has {symbol.size:#x} bytes; the limit is {MAX_IMAGE_SIZE:#x}"
            raise code_object.source.error(reason, section="symbol table")
        at = _align(at, max(1, symbol.value))
        common[index] = at
        at += symbol.size
    return tuple(parts), addresses, common


def _lay_out_lds(symbols: SymbolTable) -> tuple[dict[str, LdsVariable], int]:
    """Place LDS symbols one after the other; as for common symbols, a symbol's value is its alignment."""
    found: dict[str, LdsVariable] = {}
    end = 0
    for index in (symbols.array["shndx"] == SHN_AMDGPU_LDS).nonzero()[0].tolist():
        symbol = symbols[index]
        alignment = max(1, symbol.value)
        if alignment & (alignment - 1) or alignment > 1 << 16:
            reason = f"LDS symbol {symbol.name} has the impossible alignment {alignment:#x}"
            raise symbols.source.error(reason, section=symbols.name)
        offset = _align(end, alignment)
        found[symbol.name] = LdsVariable(symbol.name, offset, symbol.size, alignment)
        end = offset + symbol.size
    return found, end


def _align(value: int, alignment: int) -> int:
    return (value + alignment - 1) // alignment * alignment
