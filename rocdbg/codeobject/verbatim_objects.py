"""Code objects embedded verbatim in the data of a host executable.

OpenMP programs contain them: LLVM's in the offload binaries of ``.llvm.offloading``, GCC's in a table in ``.data``. In
both cases they are whole ELF files, recognised by their headers.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from contextlib import suppress
from typing import Final

from msgspec import Struct

from rocdbg import work
from rocdbg.arch.target_id import TargetId
from rocdbg.codeobject.bounded_reader import Source
from rocdbg.codeobject.elf import EM_AMDGPU, MAX_SEGMENTS
from rocdbg.codeobject.elf_flags import OsAbi, code_object_version, decode_flags
from rocdbg.errors import Error

_MAGIC: Final = b"\x7fELF\x02\x01\x01" + bytes([OsAbi.AMDGPU_HSA])
# ABI version, type, machine; places of the program and section headers, flags, their sizes and counts.
_HEADER: Final = struct.Struct("<8xB7xHH12xQQIH4H2x")
_SEGMENT: Final = struct.Struct("<8xQ16xQ16x")  # place and size in the file
_MOST: Final = 4096
"""Maximum number of code objects in one file."""
_SEARCHED: Final = 1 << 30
"""Maximum number of bytes of a file that are searched."""


class EmbeddedCode(Struct, frozen=True):
    """One code object: its place in the file, and its target."""

    offset: int
    size: int
    target_id: TargetId


def find_embedded(source: Source) -> Iterator[EmbeddedCode]:
    """The code objects in a host ELF file, in order, without those that are truncated or for unknown processors."""
    data, end = source.data, min(len(source), _SEARCHED)
    at = data.find(_MAGIC, 1, end)
    for _ in range(_MOST):
        if at < 0:
            return
        work.unit()
        found = code_at(source, at)
        if found is not None:
            yield found
        at = data.find(_MAGIC, at + (found.size if found is not None else 1), end)


def code_at(source: Source, at: int) -> EmbeddedCode | None:
    """The code object whose header is at an offset; None if there is none, or it is truncated or of an unknown target.
    """
    if at + 64 > len(source):
        return None
    version, _, machine, segments, sections, flags, head, *counts = source.unpack(_HEADER, at, "ELF header")
    segment_size, segment_count, section_size, section_count = counts
    if machine != EM_AMDGPU or segment_count > MAX_SEGMENTS:
        return None
    size = max(head, sections + section_size * section_count, segments + segment_size * segment_count)
    if segment_size == _SEGMENT.size and at + size <= len(source):
        table = source.bytes_at(at + segments, segment_count * segment_size, "ELF header")
        size = max([size, *(place + length for place, length in _SEGMENT.iter_unpack(table))])
    if at + size > len(source):
        return None
    with suppress(Error):
        target_id = decode_flags(flags, code_object_version(OsAbi.AMDGPU_HSA, version)).target_id
        return EmbeddedCode(at, size, target_id)
    return None
