"""Hostile ELF files: headers, sections, symbols, relocations, notes.

`Elf` takes a real code object apart into sections and puts it together again with some of them replaced, so that
one part can be hostile while the rest is sound.
"""

# ruff: noqa: E501  (tables)
from __future__ import annotations

import random
import struct
import zlib
from dataclasses import dataclass, field
from pathlib import Path

import zstandard

from .numbers import damaged, name, number

DEMOS = Path(__file__).resolve().parent.parent.parent / "demo_kernels"
BASE = DEMOS / "saxpy" / "saxpy.O0.gfx90a.co"
OBJECTS = sorted(path for path in DEMOS.glob("*/*.co") if path.stat().st_size < 40_000)

EHDR = struct.Struct("<16sHHIQQQIHHHHHH")
SHDR = struct.Struct("<IIQQQQIIQQ")
SYMBOL = struct.Struct("<IBBHQQ")
SHT_NOTE, SHT_NOBITS, SHT_RELA = 7, 8, 4
SHF_COMPRESSED = 0x800


@dataclass
class Section:
    """One section; ``offset`` is kept for loaded ones, whose bytes stay where they are."""

    name: bytes
    kind: int = 1
    flags: int = 0
    address: int = 0
    offset: int | None = None
    data: bytes = b""
    size: int | None = None
    link: int = 0
    info: int = 0
    alignment: int = 1
    entry_size: int = 0


@dataclass
class Elf:
    """A code object as its bytes and its sections."""

    body: bytearray
    sections: list[Section] = field(default_factory=list)

    @classmethod
    def read(cls, path: Path = BASE) -> Elf:
        data = bytearray(path.read_bytes())
        header = EHDR.unpack_from(data)
        shoff, count, names_at = header[6], header[12], header[13]
        rows = [SHDR.unpack_from(data, shoff + 64 * i) for i in range(count)]
        strings = data[rows[names_at][4] :]
        found = cls(data)
        for row in rows[1:]:
            text = bytes(strings[row[0] : strings.index(0, row[0])])
            content = b"" if row[1] == SHT_NOBITS else bytes(data[row[4] : row[4] + row[5]])
            offset = row[4] if row[2] & 2 else None
            found.sections.append(
                Section(text, row[1], row[2], row[3], offset, content, row[5], row[6], row[7], row[8], row[9])
            )
        return found

    def get(self, text: bytes) -> Section | None:
        return next((section for section in self.sections if section.name == text), None)

    def put(self, text: bytes, data: bytes, **fields: int) -> Section:
        """Replace a section's bytes, or add one."""
        section = self.get(text)
        if section is None:
            section = Section(text)
            self.sections.append(section)
        section.data, section.size = data, None
        for key, value in fields.items():
            setattr(section, key, value)
        return section

    def drop_debug(self) -> None:
        """Rename the existing debug sections, so that indices stay."""
        for section in self.sections:
            if section.name.startswith(b".debug_"):
                section.name, section.data, section.size = b".gone", b"", None

    def build(self) -> bytes:
        out = bytearray(self.body)
        names = bytearray(b"\0")
        rows = [bytes(64)]
        names_index = len(self.sections)
        for index, section in enumerate(self.sections, 1):
            if section.name == b".shstrtab":
                names_index = index
        for section in self.sections:
            at = len(names)
            names += section.name + b"\0"
            size = len(section.data) if section.size is None else section.size
            offset = section.offset
            if section.name == b".shstrtab":
                rows.append(b"")
                continue
            if offset is None:
                offset = len(out)
                out += section.data
            rows.append(
                SHDR.pack(
                    at, section.kind, section.flags, section.address, offset, size, section.link, section.info,
                    section.alignment, section.entry_size,
                )
            )
        shstrtab = SHDR.pack(names.index(b".shstrtab"), 3, 0, 0, len(out), len(names), 0, 0, 1, 0)
        rows = [row or shstrtab for row in rows]
        out += names
        out += bytes(-len(out) % 8)
        out[40:48] = len(out).to_bytes(8, "little")
        out[60:64] = struct.pack("<HH", len(rows), names_index)
        return bytes(out) + b"".join(rows)


def note(owner: bytes, kind: int, description: bytes) -> bytes:
    out = struct.pack("<III", len(owner) + 1, len(description), kind)
    out += (owner + b"\0").ljust(-(-(len(owner) + 1) // 4) * 4, b"\0")
    return out + description.ljust(-(-len(description) // 4) * 4, b"\0")


def with_note(data: bytes, *, v2: bool = False) -> bytes:
    """The base object with another metadata note: MsgPack, or YAML in a code object V2."""
    elf = Elf.read()
    content = note(b"AMD", 10, data) if v2 else note(b"AMDGPU", 32, data)
    if v2:
        content = note(b"AMD", 3, struct.pack("<HHIII", 4, 7, 9, 0, 10) + b"AMD\0AMDGPU\0") + content
        elf.body[8] = 0  # EI_ABIVERSION
    elf.put(b".note", content, offset=None, kind=SHT_NOTE)
    for at in range(64, 64 + 56 * elf.body[56], 56):  # the note segment is preferred to the section
        if elf.body[at] == 4:
            elf.body[at] = 0
    return elf.build()


def compress(rng: random.Random, section: Section) -> None:
    """Compress a section's bytes, soundly or with a false header."""
    data = section.data
    method = rng.choice((1, 1, 2, 2, number(rng, 32)))
    stream = zstandard.ZstdCompressor().compress(data) if method == 2 else zlib.compress(data)
    size = len(data) if rng.random() < 0.6 else number(rng)
    if rng.random() < 0.2:
        stream = damaged(rng, stream)
    if rng.random() < 0.1:
        count = rng.choice((1 << 16, 1 << 22, 1 << 25))
        stream = zlib.compress(bytes(count)) if method != 2 else zstandard.ZstdCompressor().compress(bytes(count))
        size = rng.choice((count, count - 1, 1 << 40))
    if rng.random() < 0.3:
        section.name = section.name.replace(b".debug_", b".zdebug_")
        section.data = b"ZLIB" + size.to_bytes(8, "big") + zlib.compress(data)
    else:
        section.flags |= SHF_COMPRESSED
        section.data = struct.pack("<IIQQ", method, 0, size, number(rng)) + stream
    section.size = None


def headers(rng: random.Random) -> bytes:
    """Hostile fields in the file, program and section headers."""
    data = bytearray(rng.choice(OBJECTS).read_bytes())
    header = EHDR.unpack_from(data)
    phoff, shoff, phnum, shnum = header[5], header[6], header[10], header[12]
    for _ in range(rng.choice((1, 1, 2, 4))):
        match rng.randrange(4):
            case 0:
                at, width = rng.choice(
                    ((7, 1), (8, 1), (16, 2), (18, 2), (32, 8), (40, 8), (48, 4), (54, 2), (56, 2), (58, 2), (60, 2), (62, 2))
                )
            case 1:
                field_at, width = rng.choice(((0, 4), (4, 4), (8, 8), (16, 8), (32, 8), (40, 8), (48, 8)))
                at = phoff + 56 * rng.randrange(phnum) + field_at
            case _:
                field_at, width = rng.choice(
                    ((0, 4), (4, 4), (8, 8), (16, 8), (24, 8), (32, 8), (40, 4), (44, 4), (48, 8), (56, 8))
                )
                at = shoff + 64 * rng.randrange(shnum) + field_at
        value = number(rng, 8 * width) if rng.random() < 0.7 else rng.randrange(min(1 << 8 * width, len(data)))
        data[at : at + width] = value.to_bytes(width, "little")
    return bytes(data)


def symbols(rng: random.Random) -> bytes:
    """Hostile symbol and string tables, kernel descriptors without sense, relocations."""
    elf = Elf.read(rng.choice(OBJECTS))
    strings = bytearray(b"\0saxpy\0saxpy.kd\0")
    rows = [bytes(24)]
    shared = rng.random() < 0.2
    if shared:
        strings += b"N" * rng.choice((100, 5000, 60_000)) + b"\0"
    for _ in range(rng.choice((1, 5, 50, 500))):
        at = rng.randrange(len(strings)) if shared or rng.random() < 0.1 else len(strings)
        if at == len(strings):
            text = name(rng)
            strings += text + rng.choice((b"", b".kd")) + b"\0"
        kind = rng.choice((0, 1, 2, 2, 3, 10, rng.randrange(16))) | rng.choice((0, 16, 32, 240))
        index = rng.choice((0, 6, 7, 7, 0xFF00, 0xFFF1, 0xFFF2, number(rng, 16)))
        value = rng.choice((0x1A00, 0x940, number(rng)))
        rows.append(SYMBOL.pack(at if rng.random() < 0.97 else number(rng, 32), kind, 0, index, value, number(rng)))
    table = b"".join(rows)
    for section in elf.sections:
        if section.name == b".symtab":
            section.data, section.size, section.offset = table, None, None
        if section.name == b".strtab":
            section.data, section.size, section.offset = bytes(strings), None, None
    for segment in range(rng.choice((0, 0, 1))):
        descriptor = elf.get(b".rodata")
        if descriptor is not None and descriptor.offset is not None:
            start = descriptor.offset + 64 * segment
            elf.body[start : start + 64] = damaged(rng, bytes(elf.body[start : start + 64]), 3).ljust(64, b"\0")[:64]
    if rng.random() < 0.3:
        relocate(rng, elf)
    return elf.build()


def relocate(rng: random.Random, elf: Elf) -> None:
    """Make it unlinked, with relocations of everything."""
    elf.body[16:18] = (1).to_bytes(2, "little")
    count = rng.choice((1, 10, 1000))
    rows = b"".join(
        struct.pack("<QQq", number(rng, 12), number(rng, 5) << 32 | rng.randrange(16), number(rng, 62)) for _ in range(count)
    )
    for index in range(rng.choice((1, 3))):
        elf.put(b".rela%d" % index, rows, kind=SHT_RELA, info=rng.choice((6, 7, number(rng, 5))), link=rng.randrange(30))


def notes(rng: random.Random) -> bytes:
    """Hostile note sections around the real metadata."""
    elf = Elf.read(rng.choice(OBJECTS))
    content = elf.sections[0].data
    parts = [content]
    for _ in range(rng.choice((1, 3, 100))):
        parts.append(note(rng.choice((b"AMD", b"AMDGPU", name(rng))), rng.choice((1, 3, 10, 32, number(rng, 32))), rng.randbytes(number(rng, 7))))
    rng.shuffle(parts)
    data = b"".join(parts)
    if rng.random() < 0.6:
        data = damaged(rng, data)
    elf.put(b".note", data, offset=None, kind=SHT_NOTE)
    for at in range(64, 64 + 56 * elf.body[56], 56):
        if elf.body[at] == 4 and rng.random() < 0.8:
            elf.body[at] = 0
    return elf.build()


def sections(rng: random.Random) -> bytes:
    """A real object with one or two of its sections damaged, compressed or swapped."""
    elf = Elf.read(rng.choice(OBJECTS))
    for _ in range(rng.choice((1, 1, 2))):
        section = rng.choice([s for s in elf.sections if s.data])
        match rng.randrange(5):
            case 0 if section.name.startswith(b".debug"):
                compress(rng, section)
            case 1:
                other = rng.choice(elf.sections)
                section.data, other.data = other.data, section.data
                section.size = other.size = None
            case _:
                section.data = damaged(rng, section.data)
                section.size = None
        if section.flags & 2 and section.offset is not None:
            end = section.offset + len(section.data)
            elf.body[section.offset : end] = section.data
    return elf.build()
