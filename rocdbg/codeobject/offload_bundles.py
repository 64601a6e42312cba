"""Clang offload bundles, plain (``__CLANG_OFFLOAD_BUNDLE__``) and compressed (``CCOB``)."""

from __future__ import annotations

import struct
from collections.abc import Iterator

from msgspec import Struct

from rocdbg import work
from rocdbg.arch.target_id import TargetId
from rocdbg.arch.targets import is_target
from rocdbg.codeobject.bounded_reader import Source
from rocdbg.codeobject.compression import ZLIB, ZSTD, Budget, inflate, inflate_some
from rocdbg.codeobject.errors import CodeObjectError
from rocdbg.codeobject.file_bytes import FileBytes
from rocdbg.errors import Error
from rocdbg.text import decode_text

BUNDLE_MAGIC = b"__CLANG_OFFLOAD_BUNDLE__"
COMPRESSED_MAGIC = b"CCOB"

_COUNT = struct.Struct("<Q")
_ENTRY = struct.Struct("<QQQ")
_CCOB_START = struct.Struct("<4sHH")
# File size (absent in version 1), uncompressed size, hash.
_CCOB_SIZES = {1: struct.Struct("<IQ"), 2: struct.Struct("<IIQ"), 3: struct.Struct("<QQQ")}
_METHODS = {0: ZLIB, 1: ZSTD}
_MAX_ID = 4096
_WINDOW = 16 << 20
_MAX_GAP = 64 << 20
"""Maximum number of bytes between bundles that are searched for the next one."""
_FIRST_PART = 1 << 14
_COMPRESSED = "compressed bundle"


class BundleEntry(Struct, frozen=True):
    """One entry of a bundle."""

    id: str
    """``hipv4-amdgcn-amd-amdhsa--gfx90a:xnack+``, ``host-x86_64-unknown-linux--``."""
    offset: int
    """Offset of its bytes from the start of the bundle's source."""
    size: int

    @property
    def kind(self) -> str:
        """The offload kind: ``hip``, ``hipv4``, ``openmp``, ``host``."""
        return self.id.split("-", 1)[0]

    @property
    def target_id(self) -> TargetId | None:
        """The target id for which it was built; None for the host, other vendors and processors that rocdbg does not
        know."""
        _, _, rest = self.id.partition("-")
        if not rest.startswith("amdgcn-"):
            return None
        _, separator, target = rest.rpartition("--")
        if separator and not is_target(target.partition(":")[0]):
            return None  # checked first, because the error of an unknown name searches for similar ones
        try:
            return TargetId.parse(rest)
        except Error:
            return None


class Bundle(Struct, frozen=True):
    """A bundle that was found in a file."""

    source: Source
    """The bytes to which the entries' offsets refer: the file, or the uncompressed data."""
    offset: int
    """Offset of the bundle in the file that contains it, and its size there."""
    size: int
    compressed: bool
    entries: tuple[BundleEntry, ...]


def is_bundle(data: bytes | bytearray | FileBytes, offset: int = 0) -> bool:
    """Whether a plain or compressed bundle starts at ``offset``."""
    return data[offset : offset + 24] == BUNDLE_MAGIC or data[offset : offset + 4] == COMPRESSED_MAGIC


def read_bundle(source: Source, offset: int, budget: Budget | None = None) -> Bundle:
    """Read the bundle at ``offset``; a compressed one is uncompressed, up to what is left in the ``budget``.

    Raises `CodeObjectError` for a damaged one.
    """
    if source.data[offset : offset + 4] == COMPRESSED_MAGIC:
        stream = _read_ccob(source, offset)
        (budget or Budget()).take(source, stream.size, stream.end - stream.start, _COMPRESSED, offset)
        data, used = inflate(source, stream.start, stream.end, stream.size, stream.method, _COMPRESSED)
        # Version 1 does not give the length: the bundle ends where the stream does.
        end = stream.end if stream.says_end else stream.start + used
        inner = Source(f"{source.name} (uncompressed)", data)
        return Bundle(inner, offset, end - offset, True, _entries_of(inner, len(data)))
    entries, end = _read_entries(source, offset, len(source))
    return Bundle(source, offset, end - offset, False, entries)


def list_bundle(source: Source, offset: int, budget: Budget) -> Bundle:
    """Like `read_bundle`, but a compressed bundle is unpacked only as far as needed: its ``source`` is incomplete."""
    if source.data[offset : offset + 4] != COMPRESSED_MAGIC:
        return read_bundle(source, offset)
    stream = _read_ccob(source, offset)
    if not stream.says_end:
        return read_bundle(source, offset, budget)
    Budget().take(source, stream.size, stream.end - stream.start, _COMPRESSED, offset)
    wanted = _FIRST_PART
    while True:
        wanted = min(wanted, stream.size)
        budget.take(source, wanted, stream.end - stream.start, _COMPRESSED, offset)
        place = source, stream.start, stream.end, wanted, stream.method, _COMPRESSED
        data = inflate(*place)[0] if wanted == stream.size else inflate_some(*place)
        inner = Source(f"{source.name} (uncompressed)", data)
        try:
            entries = _entries_of(inner, stream.size)
        except CodeObjectError:
            if wanted == stream.size:
                raise
            wanted *= 16
        else:
            return Bundle(inner, offset, stream.end - offset, True, entries)


def _entries_of(inner: Source, size: int) -> tuple[BundleEntry, ...]:
    """The entries of a compressed bundle that unpacks to ``size`` bytes; ``inner`` has all of these bytes or only the
    first ones.
    """
    if inner.data[: len(BUNDLE_MAGIC)] != BUNDLE_MAGIC:
        raise inner.error("the uncompressed data is not an offload bundle", section="bundle", offset=0)
    return _read_entries(inner, 0, size)[0]


def find_bundles(source: Source, start: int, end: int, budget: Budget | None = None) -> Iterator[Bundle]:
    """All bundles between two offsets, without padding; no more is unpacked than the ``budget`` permits.

    Raises `CodeObjectError` for a damaged one.
    """
    budget = budget or Budget()
    at = _find(source, start, end)
    while at is not None:
        work.unit()
        bundle = list_bundle(source, at, budget)
        size = bundle.size
        yield bundle
        del bundle  # the unpacked bytes must not exist at the same time as the next ones
        at = _find(source, at + max(size, len(COMPRESSED_MAGIC)), end)


def _find(source: Source, start: int, end: int) -> int | None:
    """Return the offset of the next bundle; None if there is none."""
    # Begin with a small step, because bundles are mostly adjacent. Padding is never as large as the permitted gap.
    step = 1 << 12
    last = min(end, start + _MAX_GAP)
    while start < last:
        work.unit()
        stop = min(start + step, end)
        chunk = source.data[start : min(stop + len(BUNDLE_MAGIC) - 1, end)]
        found = [place for magic in (BUNDLE_MAGIC, COMPRESSED_MAGIC) if (place := chunk.find(magic)) >= 0]
        if found:
            return start + min(found)
        start = stop
        step = min(4 * step, _WINDOW)
    return None


def _read_entries(source: Source, start: int, size_in_all: int) -> tuple[tuple[BundleEntry, ...], int]:
    """The entries of the plain bundle at ``start``, and where it ends.

    ``size_in_all`` is the size of the complete source, of which only the first bytes may be present.
    """
    what = "bundle"
    at = start + len(BUNDLE_MAGIC)
    (count,) = source.unpack(_COUNT, at, what)
    at += _COUNT.size
    if count * _ENTRY.size > size_in_all - at:
        raise source.error(f"{count} entries do not fit into the file", section=what, offset=start)
    entries = []
    end = at
    total = 0
    for index in range(count):
        work.unit()
        offset, size, id_size = source.unpack(_ENTRY, at, what)
        if id_size > _MAX_ID:
            raise source.error(
                f"the id of entry {index} has {id_size} bytes; the limit is {_MAX_ID}", section=what, offset=at
            )
        text = decode_text(source.bytes_at(at + _ENTRY.size, id_size, what))
        if start + offset + size > size_in_all:
            reason = f"entry {index} ({text}; {size} bytes at {offset:#x}) runs past the end of the file"
            raise source.error(reason, section=what, offset=at)
        # Each of the entries that share bytes would copy them.
        total += size
        if total > size_in_all:
            reason = f"entry {index} ({text}; {size} bytes) overlaps other entries"
            raise source.error(reason, section=what, offset=at)
        at += _ENTRY.size + id_size
        end = max(end, at, start + offset + size if size else 0)
        entries.append(BundleEntry(text, start + offset, size))
    return tuple(entries), end


class _Stream(Struct, frozen=True):
    """The contents of a compressed bundle's header."""

    start: int
    end: int
    says_end: bool
    size: int
    """Bytes it unpacks to."""
    method: str


def _read_ccob(source: Source, start: int) -> _Stream:
    """The header of the compressed bundle at ``start``."""
    what = _COMPRESSED
    _, version, method = source.unpack(_CCOB_START, start, what)
    if version not in _CCOB_SIZES:
        raise source.error(f"unknown version {version}; expected 1 to 3", section=what, offset=start + 4)
    if method not in _METHODS:
        reason = f"unknown compression method {method}; expected 0 (zlib) or 1 (zstd)"
        raise source.error(reason, section=what, offset=start + 6)
    sizes = source.unpack(_CCOB_SIZES[version], start + _CCOB_START.size, what)
    at = start + _CCOB_START.size + _CCOB_SIZES[version].size
    end = len(source)
    if version > 1:
        end = start + sizes[0]
        if not at <= end <= len(source):
            reason = f"its size is stated as {sizes[0]} bytes, which do not fit into the file of {len(source):#x} bytes"
            raise source.error(reason, section=what, offset=start)
    return _Stream(at, end, version > 1, sizes[-2], _METHODS[method])
