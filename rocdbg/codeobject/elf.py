"""The ELF container: file header, sections, segments.

The headers are read with plain ``struct`` because a code object may be damaged or large. For programs that use
pyelftools, `rocdbg.codeobject.CodeObject.elf` is its view of the same bytes; rocdbg itself does not use it.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from functools import cached_property
from types import MappingProxyType

from msgspec import Struct

from rocdbg import work
from rocdbg.addresses import FileAddress
from rocdbg.arch.targets import UnknownTargetError, target_by_mach
from rocdbg.codeobject.bounded_reader import Source
from rocdbg.codeobject.compression import ZLIB, ZSTD, Budget, inflate
from rocdbg.codeobject.file_bytes import FileBytes
from rocdbg.codeobject.string_table import StringTable
from rocdbg.errors import remembered

ELF_MAGIC = b"\x7fELF"
ELFCLASS32, ELFCLASS64 = 1, 2
ELFDATA2LSB = 1
EM_AMDGPU = 224
ET_REL, ET_DYN = 1, 3
PT_LOAD, PT_DYNAMIC, PT_NOTE, PT_GNU_RELRO = 1, 2, 4, 0x6474E552
PF_X, PF_W, PF_R = 1, 2, 4
SHT_SYMTAB, SHT_STRTAB, SHT_RELA, SHT_NOTE, SHT_NOBITS, SHT_REL, SHT_DYNSYM = 2, 3, 4, 7, 8, 9, 11
SHF_WRITE, SHF_ALLOC, SHF_EXECINSTR, SHF_COMPRESSED = 1, 2, 4, 0x800
SHN_UNDEF, SHN_LORESERVE, SHN_AMDGPU_LDS, SHN_ABS, SHN_COMMON, SHN_XINDEX = (
    0,
    0xFF00,
    0xFF00,
    0xFFF1,
    0xFFF2,
    0xFFFF,
)

MAX_SECTIONS = 1 << 17
MAX_SEGMENTS = 512
"""Limit on the program headers, each of which takes memory and time to read; no linker writes as many for a GPU."""

# e_ident is unpacked as magic, class, data, version, osabi, abiversion and seven bytes of padding.
_EHDR = struct.Struct("<4s5B7xHHIQQQIHHHHHH")
_SHDR = struct.Struct("<IIQQQQIIQQ")
_PHDR = struct.Struct("<IIQQQQQQ")
_DYN = struct.Struct("<qQ")
_CHDR = struct.Struct("<I4xQQ")  # ch_type, ch_size, ch_addralign
_METHODS = {1: ZLIB, 2: ZSTD}
_GNU_COMPRESSED = ".zdebug_"
_GNU_HEADER = struct.Struct(">4sQ")


class ElfHeader(Struct, frozen=True):
    """The ELF file header."""

    os_abi: int
    abi_version: int
    type: int
    machine: int
    entry: int
    flags: int
    program_headers: tuple[int, int, int]
    """File offset, bytes per entry, number of entries."""
    section_headers: tuple[int, int, int]
    name_section: int


class Section(Struct, frozen=True):
    """One section header; the bytes are read when requested."""

    index: int
    name: str
    type: int
    flags: int
    address: FileAddress
    offset: int
    """Offset of its bytes in the file."""
    size: int
    link: int
    info: int
    alignment: int
    entry_size: int
    source: Source

    @property
    def has_bytes(self) -> bool:
        return self.type not in (0, SHT_NOBITS)

    @property
    def is_writable(self) -> bool:
        return bool(self.flags & SHF_WRITE)

    @property
    def data(self) -> bytes:
        """The section's bytes in the file, empty for .bss and similar sections; raises `CodeObjectError` if the file is
        truncated.
        """
        if not self.has_bytes:
            return b""
        return self.source.bytes_at(self.offset, self.size, f"section {self.name}")

    def uncompressed(self, budget: Budget | None = None) -> bytes:
        """The section's bytes, unpacked if they are compressed (SHF_COMPRESSED, and GNU's ``.zdebug_*`` before that).

        The unpacked bytes are charged to the ``budget``. Raises `CodeObjectError`, also if they exceed the budget.
        """
        budget = budget or Budget()
        what = f"section {self.name}"
        if self.flags & SHF_COMPRESSED and self.has_bytes:
            self._check_header(_CHDR.size, what)
            kind, size, _ = self.source.unpack(_CHDR, self.offset, what)
            start = self.offset + _CHDR.size
            if kind not in _METHODS:
                reason = f"unknown compression type {kind}; expected 1 (zlib) or 2 (zstd)"
                raise self.source.error(reason, section=what, offset=self.offset)
            method = _METHODS[kind]
        elif self.name.startswith(_GNU_COMPRESSED) and self.has_bytes:
            self._check_header(_GNU_HEADER.size, what)
            magic, size = self.source.unpack(_GNU_HEADER, self.offset, what)
            start, method = self.offset + _GNU_HEADER.size, ZLIB
            if magic != b"ZLIB":
                raise self.source.error(
                    "the compressed data does not begin with ZLIB", section=what, offset=self.offset
                )
        else:
            budget.take(self.source, self.size if self.has_bytes else 0, self.size, what, self.offset)
            return self.data
        end = self.offset + self.size
        if not start <= end <= len(self.source):
            reason = f"{self.size} bytes are needed, but the file ends at {len(self.source):#x}"
            raise self.source.error(reason, section=what, offset=self.offset)
        budget.take(self.source, size, end - start, what, self.offset)
        return bytes(inflate(self.source, start, end, size, method, what)[0])

    def _check_header(self, size: int, what: str) -> None:
        if self.size < size:
            reason = f"the section is compressed, but has only {self.size} bytes, fewer than the {size} of the header"
            raise self.source.error(reason, section=what, offset=self.offset)

    def contains(self, address: int) -> bool:
        return bool(self.flags & SHF_ALLOC) and self.address <= address < self.address + self.size


class Segment(Struct, frozen=True):
    """One program header."""

    index: int
    type: int
    flags: int
    offset: int
    address: int
    file_size: int
    memory_size: int
    alignment: int


class Elf:
    """A 64-bit little-endian ELF file of any machine."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.header = _read_header(source)

    @remembered
    def section_list(self) -> tuple[Section, ...]:
        """All sections in the order of the header table, the null section included."""
        offset, entry_size, count = self.header.section_headers
        if offset == 0:
            return ()
        what = "section headers"
        if entry_size < _SHDR.size:
            raise self.source.error(
                f"each entry has {entry_size} bytes, but 64 are expected", section=what, offset=offset
            )
        first = self.source.unpack(_SHDR, offset, what)
        # Counts that do not fit the file header's 16 bits are stored in the null section's fields.
        count = count or first[5]
        name_index = first[6] if self.header.name_section == SHN_XINDEX else self.header.name_section
        if offset + count * entry_size > len(self.source):
            reason = f"{count} entries do not fit into the file, which has {len(self.source):#x} bytes"
            raise self.source.error(reason, section=what, offset=offset)
        if count > MAX_SECTIONS:
            reason = f"the file has {count} sections; the limit is {MAX_SECTIONS}"
            raise self.source.error(reason, section=what, offset=offset)
        rows = [self.source.unpack(_SHDR, offset + i * entry_size, what) for i in range(count)]
        if not name_index < count:
            raise self.source.error(
                f"the section names are in section {name_index}, which does not exist", section=what, offset=offset
            )
        self._check_overlap(what, [(row[4], row[5]) for row in rows if row[1] not in (0, SHT_NOBITS)])
        strings = self.source.bytes_at(rows[name_index][4], rows[name_index][5], ".shstrtab")
        names = StringTable(self.source, ".shstrtab", strings)
        names.check([row[0] for row in rows])
        return tuple(self._section(i, row, names) for i, row in enumerate(rows))

    def _section(self, index: int, row: tuple[int, ...], names: StringTable) -> Section:
        work.unit()
        name_offset, kind, flags, address, offset, size, link, info, alignment, entry_size = row
        name = names.get(name_offset) if name_offset or names.data[:1] == b"\0" else ""
        if name is None:
            reason = f"the name of section {index} lies outside the table of names"
            raise self.source.error(reason, section=".shstrtab", offset=name_offset)
        return Section(
            index, name, kind, flags, FileAddress(address), offset, size, link, info, alignment, entry_size, self.source
        )

    def _check_overlap(self, what: str, ranges: list[tuple[int, int]]) -> None:
        """Reject files whose parts overlap a lot: if many parts covered most of the file, it would take forever to read
        them all.
        """
        end = len(self.source)
        total = sum(min(size, max(0, end - offset)) for offset, size in ranges)
        if total > 4 * end + (1 << 20):
            raise self.source.error(
                f"too many overlap: together they have {total} bytes, but the file has {end}", section=what
            )

    @cached_property
    def sections(self) -> Mapping[str, Section]:
        """Sections by name; the first one if several sections have the same name."""
        found: dict[str, Section] = {}
        for section in self.section_list[1:]:
            found.setdefault(section.name, section)
        return MappingProxyType(found)

    @remembered
    def segments(self) -> tuple[Segment, ...]:
        """All program headers."""
        offset, entry_size, count = self.header.program_headers
        if count == 0:
            return ()
        what = "program headers"
        if entry_size < _PHDR.size:
            raise self.source.error(
                f"each entry has {entry_size} bytes, but 56 are expected", section=what, offset=offset
            )
        if offset + count * entry_size > len(self.source):
            reason = f"{count} entries do not fit into the file, which has {len(self.source):#x} bytes"
            raise self.source.error(reason, section=what, offset=offset)
        if count > MAX_SEGMENTS:
            reason = f"the file has {count} segments; the limit is {MAX_SEGMENTS}"
            raise self.source.error(reason, section=what, offset=offset)
        found = []
        for i in range(count):
            work.unit()
            kind, flags, at, address, _, file_size, memory_size, alignment = self.source.unpack(
                _PHDR, offset + i * entry_size, what
            )
            found.append(Segment(i, kind, flags, at, address, file_size, memory_size, alignment))
        self._check_overlap(what, [(segment.offset, segment.file_size) for segment in found])
        return tuple(found)

    def file_offset(self, address: int, size: int, what: str) -> int:
        """The file offset of the ``size`` bytes at a virtual address of a loadable segment.

        Raises `CodeObjectError` naming ``what`` if they are not all in the file.
        """
        for segment in self.segments:
            start = address - segment.address
            if segment.type == PT_LOAD and start >= 0 and start + size <= segment.file_size:
                return segment.offset + start
        reason = f"no {size} bytes of the file are loaded at address {address:#x}"
        raise self.source.error(reason, section=what)

    def read(self, address: int, size: int, what: str) -> bytes:
        """``size`` bytes at a virtual address, see `file_offset`."""
        return self.source.bytes_at(self.file_offset(address, size, what), size, what)

    def dynamic_tags(self) -> dict[int, int]:
        """The dynamic section, tag to value; empty if there is none."""
        for segment in self.segments:
            if segment.type == PT_DYNAMIC:
                return dict(self._iter_dynamic(segment))
        return {}

    def _iter_dynamic(self, segment: Segment) -> Iterator[tuple[int, int]]:
        data = self.source.bytes_at(segment.offset, segment.file_size, "dynamic section")
        for at in range(0, len(data) - _DYN.size + 1, _DYN.size):
            tag, value = _DYN.unpack_from(data, at)
            if tag == 0:
                return
            yield tag, value


def uncompressed_name(name: str) -> str:
    """A section's name when it is not compressed: ``.debug_info`` for ``.zdebug_info``."""
    return ".debug_" + name.removeprefix(_GNU_COMPRESSED) if name.startswith(_GNU_COMPRESSED) else name


def is_elf(data: bytes | bytearray | FileBytes) -> bool:
    return data[:4] == ELF_MAGIC


def _narrow(source: Source) -> str:
    """The message for a 32-bit file. Code for r600 processors is in such files, and their flags identify it."""
    data = source.bytes_at(0, min(len(source.data), 40), "ELF header")
    if len(data) == 40 and int.from_bytes(data[18:20], "little") == EM_AMDGPU:
        try:
            target = target_by_mach(data[36])
        except UnknownTargetError:
            target = None
        if target is not None and target.is_r600:
            return f"code for the r600 processor {target.name} is not supported; rocdbg supports gfx600 and later"
    return "32-bit ELF files are not supported, only 64-bit ones"


def _read_header(source: Source) -> ElfHeader:
    what = "ELF header"
    ident = source.bytes_at(0, 6, what)
    if ident[:4] != ELF_MAGIC:
        raise source.error("not an ELF file", section=what, offset=0)
    if ident[4] != ELFCLASS64:
        reason = _narrow(source) if ident[4] == ELFCLASS32 else "unknown ELF class"
        raise source.error(f"{reason} (EI_CLASS {ident[4]})", section=what, offset=4)
    if ident[5] != ELFDATA2LSB:
        raise source.error(f"only little-endian ELF files are supported (EI_DATA {ident[5]})", section=what, offset=5)
    (_, _, _, _, os_abi, abi_version, kind, machine, _, entry, phoff, shoff, flags, _, phentsize, phnum,
     shentsize, shnum, shstrndx) = source.unpack(_EHDR, 0, what)
    return ElfHeader(
        os_abi,
        abi_version,
        kind,
        machine,
        entry,
        flags,
        (phoff, phentsize, phnum),
        (shoff, shentsize, shnum),
        shstrndx,
    )
