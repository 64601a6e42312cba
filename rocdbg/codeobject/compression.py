"""Compressed data in files: zlib and Zstandard streams whose uncompressed size is known and bounded.

A stream of a few kilobytes can unpack to terabytes, so nothing is unpacked beyond the size in its header, which the
reader limits: see `Budget`.
"""

from __future__ import annotations

import zlib
from typing import IO, cast

import zstandard
from msgspec import Struct

from rocdbg import work
from rocdbg.codeobject.bounded_reader import Source
from rocdbg.codeobject.errors import CodeObjectError

ZLIB, ZSTD = "zlib", "zstd"

MAX_UNCOMPRESSED = 384 << 20
"""The most bytes that may be unpacked at once; even with a copy of a part, this takes less than a gigabyte."""

_RATIO = 1100
"""No zlib stream unpacks to more than 1032 times its size."""
_SMALL = 1 << 20

# The first read is small: streams may be small and numerous, and bytes read beyond the end of one are read again.
_FIRST_CHUNK = 1 << 10
_ZLIB_CHUNK = 1 << 20
_ZSTD_CHUNK = 1 << 10  # a kilobyte may unpack to megabytes, and the decompressor has no limit


class Budget(Struct):
    """Bytes that may still be unpacked from one file, over all its streams."""

    left: int = MAX_UNCOMPRESSED

    @classmethod
    def for_file(cls, size: int) -> Budget:
        """The budget for a file of ``size`` bytes; real files grow four to twenty times when unpacked."""
        return cls((128 << 20) + 64 * size)

    def take(self, source: Source, size: int, compressed: int, what: str, offset: int) -> None:
        """Account for a stream whose header says ``size`` bytes; raises `CodeObjectError` if that is too much."""
        limit = min(self.left, MAX_UNCOMPRESSED)
        if size > limit:
            reason = f"the data unpacks to {size} bytes; the limit is {limit}"
            raise source.error(reason, section=what, offset=offset)
        if size > _SMALL + _RATIO * compressed:
            reason = f"{compressed} compressed bytes cannot unpack to the {size} bytes that the header states"
            raise source.error(reason, section=what, offset=offset)
        self.left -= size


def inflate(source: Source, start: int, end: int, size: int, method: str, what: str) -> tuple[bytearray, int]:
    """Unpack the stream between two offsets, which must give ``size`` bytes; also returns the stream's length.

    Raises `CodeObjectError` naming ``what`` for a damaged stream.
    """
    data, at, ended = _unpack(source, start, end, size, method, what)
    if len(data) != size or not ended:
        more = "more than " if len(data) > size else ""
        reason = f"the data unpacks to {more}{min(len(data), size)} bytes, but the header states {size}"
        raise source.error(reason, section=what, offset=start)
    return data, at - start


def inflate_some(source: Source, start: int, end: int, size: int, method: str, what: str) -> bytearray:
    """The first ``size`` bytes of the stream between two offsets, or all if there are fewer: no more is unpacked.

    Raises `CodeObjectError` naming ``what`` for a damaged stream.
    """
    if method == ZLIB:
        return _unpack(source, start, end, size - 1, method, what)[0][:size]
    # A kilobyte of Zstandard may unpack to 32 megabytes, which `_unzstd` would produce for the beginning of each of
    # thousands of streams.
    try:
        engine = zstandard.ZstdDecompressor()
        compressed = cast(IO[bytes], _Reader(source, start, end))
        with engine.stream_reader(compressed, read_size=_FIRST_CHUNK) as stream:
            return bytearray(stream.read(size))
    except (zstandard.ZstdError, MemoryError) as error:
        raise _damaged(source, error, start, what) from None


class _Reader:
    """A stream of the bytes between two offsets, with the methods that Zstandard's reader needs."""

    def __init__(self, source: Source, at: int, end: int) -> None:
        self._source, self._at, self._end = source, at, end

    def read(self, size: int) -> bytes:
        work.unit()
        chunk = bytes(self._source.data[self._at : min(self._end, self._at + size)])
        self._at += len(chunk)
        return chunk


def _unpack(
    source: Source, start: int, end: int, size: int, method: str, what: str
) -> tuple[bytearray, int, bool]:
    """Unpack a little more than ``size`` bytes; also returns where reading ended, and whether the stream ended there.
    """
    data = bytearray()
    try:
        unpack = _unzlib if method == ZLIB else _unzstd
        at, ended = unpack(source, start, end, size, data)
    except (zlib.error, zstandard.ZstdError, MemoryError) as error:
        raise _damaged(source, error, start, what) from None
    return data, at, ended


def _damaged(source: Source, error: Exception, start: int, what: str) -> CodeObjectError:
    reason = f"the compressed data is damaged: {str(error) or type(error).__name__}"
    return source.error(reason, section=what, offset=start)


def _unzlib(source: Source, at: int, end: int, size: int, data: bytearray) -> tuple[int, bool]:
    """Unpack a little more than ``size`` bytes; also returns where reading ended and whether the stream ended there."""
    engine = zlib.decompressobj()
    step = _FIRST_CHUNK
    while at < end and not engine.eof and len(data) <= size:
        work.unit()
        chunk = source.data[at : min(end, at + step)]
        step = min(2 * step, _ZLIB_CHUNK)
        at += len(chunk)
        while chunk and len(data) <= size:
            data += engine.decompress(chunk, size + 1 - len(data))
            chunk = engine.unconsumed_tail
    return at - len(engine.unused_data), engine.eof


def _unzstd(source: Source, at: int, end: int, size: int, data: bytearray) -> tuple[int, bool]:
    """Like `_unzlib`; the decompressor has no limit, so it gets little input at a time."""
    engine = zstandard.ZstdDecompressor().decompressobj()
    while at < end and not engine.eof and len(data) <= size:
        work.unit()
        chunk = source.data[at : min(end, at + _ZSTD_CHUNK)]
        at += len(chunk)
        data += engine.decompress(chunk)
    return at - len(engine.unused_data), engine.eof
