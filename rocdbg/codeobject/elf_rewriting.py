"""Rewrites an ELF file with new contents for sections that are not loaded.

Loaded parts are unchanged, byte for byte: sections outside segments are placed after the last byte of the others, and
the table of section headers after them.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping

from rocdbg.codeobject.elf import (
    SHF_ALLOC,
    SHF_COMPRESSED,
    SHN_LORESERVE,
    SHT_NOBITS,
    SHT_STRTAB,
    Elf,
    Section,
)

__all__ = ["with_sections"]

_SHDR = struct.Struct("<IIQQQQIIQQ")
_SECTION_HEADERS_AT = 0x28
_SECTION_COUNT_AT = 0x3C
_SHT_PROGBITS = 1


def with_sections(elf: Elf, contents: Mapping[str, bytes]) -> bytes:
    """The file with sections of the given names and contents; sections that do not exist are added.

    New contents are stored uncompressed. Raises `CodeObjectError` for a section that is loaded, and for a file that is
    damaged in the parts to be copied.
    """
    sections = elf.section_list
    if not sections or not elf.header.name_section:
        raise elf.source.error("sections cannot be added, because the file has no table of section names")
    for section in sections:
        if section.name in contents and _is_loaded(elf, section):
            reason = "the section is loaded, and cannot be replaced"
            raise elf.source.error(reason, section=f"section {section.name}")
    known = {section.name for section in sections}
    new = [name for name in contents if name not in known]
    if len(sections) + len(new) >= SHN_LORESERVE:
        reason = (
            f"{len(new)} sections cannot be added: the file has {len(sections)}, and {SHN_LORESERVE - 1} is the limit"
        )
        raise elf.source.error(reason)
    name_index = elf.header.name_section
    names, name_offsets = _names(elf, sections[name_index], new)
    end = _loaded_end(elf, sections)
    out = bytearray(elf.source.bytes_at(0, end, "loaded part"))
    headers: list[tuple[int, ...]] = []
    offset, entry_size, _ = elf.header.section_headers
    for section in sections:
        row = list(elf.source.unpack(_SHDR, offset + section.index * entry_size, "section headers"))
        if section.has_bytes and not _is_loaded(elf, section):
            data = contents.get(section.name)
            if section.index == name_index:
                data = names
            elif data is not None:
                row[2] &= ~SHF_COMPRESSED
            else:
                data = section.data
            row[4], row[5] = _append(out, data, section.alignment), len(data)
        elif section.index and not section.has_bytes and not _is_loaded(elf, section):
            row[4] = len(out)
        headers.append(tuple(row))
    for name in new:
        at = _append(out, contents[name], 1)
        headers.append((name_offsets[name], _SHT_PROGBITS, 0, 0, at, len(contents[name]), 0, 0, 1, 0))
    table = _append(out, b"".join(_SHDR.pack(*header) for header in headers), 8)
    struct.pack_into("<Q", out, _SECTION_HEADERS_AT, table)
    struct.pack_into("<HHH", out, _SECTION_COUNT_AT - 2, _SHDR.size, len(headers), name_index)
    return bytes(out)


def _is_loaded(elf: Elf, section: Section) -> bool:
    """Whether a section is loaded: it is marked as such, or a segment contains bytes of it."""
    if section.flags & SHF_ALLOC:
        return True
    return section.has_bytes and section.size > 0 and any(
        segment.offset < section.offset + section.size and section.offset < segment.offset + segment.file_size
        for segment in elf.segments
    )


def _loaded_end(elf: Elf, sections: tuple[Section, ...]) -> int:
    """The end of the bytes that must not move: headers, segments, loaded sections."""
    offset, entry_size, count = elf.header.program_headers
    ends = [64, offset + entry_size * count if count else 0]
    ends += [segment.offset + segment.file_size for segment in elf.segments]
    ends += [
        section.offset + section.size for section in sections
        if section.type != SHT_NOBITS and section.index and _is_loaded(elf, section)
    ]
    return max(ends)


def _append(out: bytearray, data: bytes, alignment: int) -> int:
    """Append bytes at the next multiple of an alignment; returns their offset."""
    if 1 < alignment <= 4096 and alignment & (alignment - 1) == 0:
        out.extend(bytes(-len(out) % alignment))
    at = len(out)
    out.extend(data)
    return at


def _names(elf: Elf, section: Section, new: list[str]) -> tuple[bytes, dict[str, int]]:
    """The section names with new ones appended, and the offsets of those."""
    if new and (section.type != SHT_STRTAB or _is_loaded(elf, section)):
        raise elf.source.error(
            "no name can be added: this is not a table of strings, or it is loaded", section=f"section {section.name}"
        )
    data = bytearray(section.data)
    offsets = {}
    for name in new:
        offsets[name] = len(data)
        data += name.encode() + b"\0"
    return bytes(data), offsets
