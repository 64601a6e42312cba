"""LLVM's offload binaries, which clang's new driver and ``clang-offload-packager`` write to ``.llvm.offloading``.

A binary has a header and images (in the first version one), each with strings that name the triple and the processor.
Several binaries follow each other, aligned to 8 bytes.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Final

from msgspec import Struct

from rocdbg import work
from rocdbg.arch.target_id import TargetId
from rocdbg.codeobject.bounded_reader import Source
from rocdbg.codeobject.file_bytes import FileBytes
from rocdbg.errors import Error
from rocdbg.text import decode_text

OFFLOAD_MAGIC: Final = b"\x10\xff\x10\xad"
OFFLOADING_SECTION: Final = ".llvm.offloading"

_HEADER: Final = struct.Struct("<4sIQQQ")  # magic, version, size, place of the entries, their size or (2) their count
_ENTRY: Final = struct.Struct("<HHIQQQQ")  # kinds of image and offloading, flags, strings and count, image and size
_STRINGS: Final = {1: struct.Struct("<QQ"), 2: struct.Struct("<QQQ")}  # key, value and (version 2) the value's size
_KINDS: Final = {1: "openmp", 2: "cuda", 3: "hip", 4: "hip", 8: "sycl"}
_IMAGES: Final = {2: "LLVM bitcode", 3: "cubin", 4: "fatbinary", 5: "PTX", 6: "SPIR-V"}
_ALIGNMENT: Final = 8
_CHUNK: Final = 1 << 16
"""Bytes that are searched at a time."""
_MOST: Final = 4096
"""Limit for consecutive binaries, for images of one, and for strings of an image."""
_LONGEST: Final = 4096
"""Maximum size of a string in bytes."""
_WHAT: Final = "offload binary"


class OffloadImage(Struct, frozen=True):
    """One image: its place in the source, and its target."""

    offset: int
    size: int
    kind: str
    """The offload kind, with which ids of bundles begin: ``openmp``, ``hip``; ``none`` for others."""
    triple: str
    arch: str
    form: str | None
    """The form of the image if it is not object code: ``LLVM bitcode``."""

    @property
    def id(self) -> str:
        """The id that a bundle entry would have: ``hip-amdgcn-amd-amdhsa--gfx90a``."""
        return f"{self.kind}-{self.triple or 'unknown'}--{self.arch}"

    @property
    def target_id(self) -> TargetId | None:
        """The target id for which it was built; None for other vendors' triples and processors that rocdbg does not
        know."""
        if not self.triple.startswith("amdgcn"):
            return None
        try:
            return TargetId.parse(self.arch)
        except Error:
            return None


def is_offload_binary(data: bytes | bytearray | FileBytes, offset: int = 0) -> bool:
    """Whether an offload binary starts at ``offset``."""
    return data[offset : offset + len(OFFLOAD_MAGIC)] == OFFLOAD_MAGIC


def find_images(source: Source, start: int, end: int) -> Iterator[OffloadImage]:
    """The images of all offload binaries between two offsets, in order.

    Raises `CodeObjectError` for one that is damaged or has an unknown version.
    """
    for _ in range(_MOST):
        start = _after_padding(source, start, end)
        if start + _HEADER.size > end:
            return
        size, images = _read(source, start, end)
        yield from images
        start += -(-size // _ALIGNMENT) * _ALIGNMENT
    raise source.error(f"there are more than {_MOST} offload binaries", section=_WHAT, offset=start)


def _after_padding(source: Source, start: int, end: int) -> int:
    """Where the next binary can begin: skips zeros in units of the alignment."""
    while start < end:
        work.unit()
        chunk = source.data[start : min(end, start + _CHUNK)]
        zeros = len(chunk) - len(chunk.lstrip(b"\0"))
        start += zeros if zeros == len(chunk) else zeros // _ALIGNMENT * _ALIGNMENT
        if zeros < len(chunk):
            break
    return start


def _read(source: Source, start: int, end: int) -> tuple[int, list[OffloadImage]]:
    """The binary that starts at ``start``: its size, and its images."""
    magic, version, size, entries, count = source.unpack(_HEADER, start, _WHAT)
    if magic != OFFLOAD_MAGIC:
        raise source.error("there is no offload binary at this offset", section=_WHAT, offset=start)
    if version not in _STRINGS:
        raise source.error(f"unknown version {version}; expected 1 or 2", section=_WHAT, offset=start + 4)
    if not _HEADER.size <= size <= end - start:
        reason = f"its size is stated as {size} bytes, but there are only {end - start}"
        raise source.error(reason, section=_WHAT, offset=start)
    count = 1 if version == 1 else count
    if count > _MOST:
        raise source.error(f"it has {count} images; the limit is {_MOST}", section=_WHAT, offset=start)
    part = _Part(source, start, size)
    images, total, strings = [], 0, 0
    for index in range(count):
        work.unit()
        image, form, place, length, own_strings = part.image(version, entries + index * _ENTRY.size)
        strings += own_strings
        if strings * _STRINGS[version].size > size:  # a check, because images that share strings would each read them
            reason = f"{strings} strings do not fit into its {size} bytes"
            raise source.error(reason, section=_WHAT, offset=start)
        total += length
        if place + length > size or total > size:  # each image that shares bytes would copy them
            reason = f"image {index} ({length} bytes at {place:#x}) does not fit into its {size} bytes"
            raise source.error(reason, section=_WHAT, offset=start)
        kind, triple, arch = image
        images.append(OffloadImage(start + place, length, kind, triple, arch, form))
    return size, images


class _Part(Struct, frozen=True):
    """The bytes of one binary. Offsets in it are relative to its start."""

    source: Source
    start: int
    size: int

    def _at(self, offset: int, length: int) -> int:
        if offset + length > self.size:
            reason = f"{length} bytes are needed at {offset:#x}, but it has only {self.size}"
            raise self.source.error(reason, section=_WHAT, offset=self.start)
        return self.start + offset

    def image(self, version: int, offset: int) -> tuple[tuple[str, str, str], str | None, int, int, int]:
        """Offload kind, triple and processor of the entry at an offset; its form; offset and size of its bytes; the
        number of its strings."""
        at = self._at(offset, _ENTRY.size)
        form, kind, _, strings, count, place, length = self.source.unpack(_ENTRY, at, _WHAT)
        if count > _MOST:
            raise self.source.error(f"an image has {count} strings; the limit is {_MOST}", section=_WHAT, offset=at)
        layout, texts = _STRINGS[version], {}
        for index in range(count):
            fields = self.source.unpack(layout, self._at(strings + index * layout.size, layout.size), _WHAT)
            key = self._text(fields[0])
            if key in ("triple", "arch"):
                texts[key] = self._text(fields[1])
        named = _KINDS.get(kind, "none"), texts.get("triple", ""), texts.get("arch", "")
        return named, _IMAGES.get(form), place, length, count

    def _text(self, offset: int) -> str:
        at = self._at(offset, 1)
        data = self.source.bytes_at(at, min(_LONGEST, self.size - offset), _WHAT)
        return decode_text(data.partition(b"\0")[0])
