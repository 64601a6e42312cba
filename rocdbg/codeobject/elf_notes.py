"""ELF notes: iteration, and the ISA notes of code object V2."""

from __future__ import annotations

import struct
from collections.abc import Iterator

from msgspec import Struct

from rocdbg import work
from rocdbg.arch.target_id import Feature, TargetId
from rocdbg.arch.targets import Target, target_by_name, target_by_version
from rocdbg.codeobject.bounded_reader import Source
from rocdbg.codeobject.elf import PT_NOTE, SHT_NOTE, Elf
from rocdbg.text import decode_text

NT_AMD_HSA_CODE_OBJECT_VERSION = 1
NT_AMD_HSA_HSAIL = 2
NT_AMD_HSA_ISA_VERSION = 3
NT_AMD_HSA_METADATA = 10
NT_AMD_HSA_ISA_NAME = 11
NT_AMD_PAL_METADATA = 12
NT_AMDGPU_METADATA = 32

_NHDR = struct.Struct("<III")
_ISA = struct.Struct("<HHIII")
_XNACK_V2 = 0x01
_MOST = 1 << 16
"""Maximum number of notes; linkers keep two or three of each object."""

# Exceptions from the usage guide, "Code Object V2 Supported Processors and Fixed Target Feature Settings": ISA versions
# that do not mean the processor with that number, and feature settings other than "off".
_V2_PROCESSOR = {
    (8, 0, 0): "gfx802", (8, 0, 4): "gfx803", (9, 0, 1): "gfx900", (9, 0, 3): "gfx902", (9, 0, 5): "gfx904",
    (9, 0, 7): "gfx906",
}
_V2_XNACK_ON = {(8, 0, 1), (8, 1, 0), (9, 0, 1), (9, 0, 3), (9, 0, 5), (9, 0, 7)}


class Note(Struct, frozen=True):
    """One note record."""

    owner: str
    type: int
    description: bytes
    offset: int
    """Offset of the description in the file."""
    section: str


def iter_notes(elf: Elf) -> Iterator[Note]:
    """All notes, from the note segments or, if there are none, the note sections."""
    ranges = [
        (segment.offset, segment.file_size, "note segment")
        for segment in elf.segments
        if segment.type == PT_NOTE
    ]
    if not ranges:
        ranges = [
            (section.offset, section.size, f"section {section.name}")
            for section in elf.section_list
            if section.type == SHT_NOTE
        ]
    count = 0
    for offset, size, section in ranges:
        elf.source.bytes_at(offset, size, section)
        for note in _notes_in(elf.source, offset, offset + size, section):
            count += 1
            if count > _MOST:
                raise elf.source.error(f"the file has more than {_MOST} notes", section=section, offset=note.offset)
            yield note


def _notes_in(source: Source, at: int, end: int, section: str) -> Iterator[Note]:
    while end - at >= _NHDR.size:
        work.unit()
        name_size, size, kind = source.unpack(_NHDR, at, section)
        name_at = at + _NHDR.size
        data_at = name_at + _align4(name_size)
        if data_at + size > end:
            reason = f"a note with a name of {name_size} and contents of {size} bytes runs past the end at {end:#x}"
            raise source.error(reason, section=section, offset=at)
        owner = decode_text(source.data[name_at : name_at + name_size].rstrip(b"\0"))
        yield Note(owner, kind, source.bytes_at(data_at, size, section), data_at, section)
        at = data_at + _align4(size)


def v2_target_id(elf: Elf, notes: list[Note]) -> TargetId | None:
    """The target id of a code object V2 from its ISA version note; None if it has no such note."""
    for note in notes:
        if note.owner == "AMD" and note.type == NT_AMD_HSA_ISA_VERSION:
            if len(note.description) < _ISA.size:
                reason = "the ISA version note is shorter than 16 bytes"
                raise elf.source.error(reason, section=note.section, offset=note.offset)
            version = _ISA.unpack_from(note.description)[2:]
            target = _v2_target(version)
            xnack = Feature.ON if version in _V2_XNACK_ON else Feature.OFF
            # Only the HSAIL finalizer states xnack in e_flags; the compiler states it in the stepping.
            if any(n.owner == "AMD" and n.type == NT_AMD_HSA_HSAIL for n in notes):
                xnack = Feature.ON if elf.header.flags & _XNACK_V2 else Feature.OFF
            return TargetId.of(target, sramecc=Feature.OFF, xnack=xnack)
    return None


def _v2_target(version: tuple[int, int, int]) -> Target:
    name = _V2_PROCESSOR.get(version)
    return target_by_name(name) if name else target_by_version(*version)


def _align4(size: int) -> int:
    return (size + 3) & ~3
