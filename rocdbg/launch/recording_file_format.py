"""Recordings in files: a launch with its buffers and code, and the journal of its run, so that another machine can
repeat it.

A file consists of `MAGIC`, the version of the format (u32), and blocks. A block has the size of its content and the
size of its compressed data (u64 each), the CRC-32 of the compressed data, and this data (zstd). The joined contents are
a `SavedRun` in MessagePack. All numbers are little endian. A damaged file is rejected with the offset of the damaged
block.

A file refers to state by name only (`rocdbg.sim.architecture`). The whole contents are first converted to the types
that this module defines, within the bounds that it states, or rejected. `launch_in_recording_file` then makes a launch
from them, and the journal is checked against this launch before anything runs (`Journal.check`).
"""

from __future__ import annotations

import contextlib
import errno
import os
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import msgspec
import zstandard
from msgspec import Meta, Struct, field

from rocdbg.codeobject.compression import MAX_UNCOMPRESSED
from rocdbg.errors import Error
from rocdbg.launch.argument_binding import MAX_BUFFERS_SIZE
from rocdbg.launch.elements import MAX_BUFFER_SIZE
from rocdbg.launch.spec import MAX_DIMENSION
from rocdbg.regular_file import read_regular
from rocdbg.sim.core.layout import WINDOW_SIZE
from rocdbg.sim.device.journal import MOST_INSTRUCTIONS, Entry
from rocdbg.sim.device.kernarg import MAX_SEGMENT_SIZE
from rocdbg.text import one_line

MAGIC = b"rocdbg recording"
VERSION = 2
_BLOCK = struct.Struct("<QQI")
_VERSION = struct.Struct("<I")
_CONTENT = 4 << 20
"""The most bytes of content in a block."""
_MOST = MAX_BUFFERS_SIZE + MAX_UNCOMPRESSED
"""The most bytes of content in a file."""

MAX_ARGUMENTS = 1024
MAX_CODE_OBJECTS = 4096
MAX_ENTRIES = 1 << 20
"""The most entries of a journal. A few kilobytes may unpack to hundreds of megabytes, and an entry takes many times its
size in the file. Every list therefore has a limit, which is checked before its first element is created.
"""
MAX_REGISTERS = 1024

Size = Annotated[int, Meta(ge=0, le=MAX_BUFFER_SIZE)]
Dimension = Annotated[int, Meta(ge=1, le=MAX_DIMENSION)]
Word = Annotated[int, Meta(ge=0, le=0xFFFF_FFFF)]
Name = Annotated[str, Meta(max_length=1 << 16)]
Text = Annotated[str, Meta(max_length=400)]
Offset = Annotated[int, Meta(ge=0, le=MAX_SEGMENT_SIZE)]
RegisterName = Annotated[str, Meta(max_length=100)]
Digest = Annotated[bytes, Meta(min_length=32, max_length=32)]
Tolerance = Annotated[float, Meta(ge=0)]


class RecordFileError(Error):
    """A recording's file cannot be read or written. ``offset`` is the position of the damage, None if there is none."""

    def __init__(self, path: Path, reason: str, offset: int | None = None) -> None:
        self.path, self.reason, self.offset = path, reason, offset
        at = f" at offset {offset}" if offset is not None else ""
        super().__init__(one_line(f"{path}{at}: {reason}"))


class SavedBuffer(Struct, tag="buffer", frozen=True):
    """A `Buffer`."""

    name: Name
    storage: bytes
    array: Text | None
    expect: bytes | None
    rtol: Tolerance
    atol: Tolerance
    initialized: bool
    offset: Size = 0
    same: Size | None = None
    """The index of an earlier argument that has the same storage; ``storage`` is then empty."""
    image: Text | None = None
    sampler: Text | None = None


class SavedSampler(Struct, tag="sampler", frozen=True):
    """A `SamplerSpec`."""

    text: Text


class SavedLocal(Struct, tag="local", frozen=True):
    """A `Local`."""

    size: Word


class SavedBytes(Struct, tag="bytes", frozen=True):
    """An argument by value."""

    data: bytes


class SavedNumber(Struct, tag="number", frozen=True):
    """One or several numbers, as text because they may have any number of bits; ``float`` says that they are
    floating-point numbers.
    """

    texts: Annotated[list[Text], Meta(max_length=MAX_SEGMENT_SIZE)]
    floats: Annotated[list[bool], Meta(max_length=MAX_SEGMENT_SIZE)]
    several: bool


class SavedNothing(Struct, tag="nothing", frozen=True):
    """A null pointer."""


SavedArgument = SavedBuffer | SavedSampler | SavedLocal | SavedBytes | SavedNumber | SavedNothing


class SavedCode(Struct, frozen=True):
    """The contents of a code object's file, and the path from which it was opened."""

    path: Annotated[str, Meta(max_length=4096)]
    data: bytes


class SavedOptions(Struct, frozen=True):
    """The options of the device (`MachineOptions`)."""

    memory_limit: Annotated[int, Meta(ge=0, le=WINDOW_SIZE)]
    dynamic_stack_size: Annotated[int, Meta(ge=0, le=1 << 24)]
    resident_waves: Annotated[int, Meta(ge=1, le=4096)]
    count_uninitialized: bool
    lds_out_of_range: Text
    schedule: Text


class SavedRun(Struct, frozen=True):
    """Everything that is needed to repeat a run. ``rocdbg`` is the version that recorded it; the first element of
    ``code`` has the kernel; ``digest`` is that of the state at position ``end``. ``kernarg`` and ``offsets`` are as in
    `RawKernarg`, ``user_data`` and ``registers`` (of a shader) as in `LaunchSpec`.
    """

    rocdbg: Annotated[str, Meta(max_length=100)]
    architecture: Annotated[str, Meta(max_length=100)]
    kernel: Name
    grid: tuple[Dimension, Dimension, Dimension]
    workgroup: tuple[Dimension, Dimension, Dimension]
    dynamic_lds: Word
    arguments: Annotated[list[SavedArgument], Meta(max_length=MAX_ARGUMENTS)]
    code: Annotated[list[SavedCode], Meta(min_length=1, max_length=MAX_CODE_OBJECTS)]
    options: SavedOptions
    journal: Annotated[list[Entry], Meta(max_length=MAX_ENTRIES)]
    end: Annotated[int, Meta(ge=0, lt=MOST_INSTRUCTIONS)]
    digest: Digest
    kernarg: bytes | None = None
    offsets: Annotated[list[Offset], Meta(max_length=MAX_ARGUMENTS)] = field(default_factory=list)
    user_data: bytes | None = None
    registers: Annotated[dict[RegisterName, Word], Meta(max_length=MAX_REGISTERS)] = field(default_factory=dict)


def save(run: SavedRun, path: Path) -> None:
    """Write a recording. An existing file is kept until the new one is complete. Raises RecordFileError."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    if path.exists() and not path.is_file():
        raise RecordFileError(path, "cannot be written: it is not a regular file")
    try:
        with part.open("xb") as file:  # "x", because another user with write access may have put a link there
            file.writelines(_encoded(run))
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            part.unlink()
        raise RecordFileError(path, f"cannot be written: {error.strerror or error}") from None
    except BaseException:
        with contextlib.suppress(OSError):
            part.unlink()
        raise


def load(path: Path) -> SavedRun:
    """Read a recording. Raises RecordFileError, and what `read_regular` raises."""
    start = len(MAGIC) + _VERSION.size
    try:
        content = bytearray()  # grows in place, because joining blocks would take their memory twice
        for block in _blocks(path, read_regular(path, 2 * _MOST)):
            content += block
        run = msgspec.msgpack.decode(content, type=SavedRun)
    except (msgspec.DecodeError, msgspec.ValidationError, UnicodeDecodeError, RecursionError) as error:
        raise RecordFileError(path, f"the content is not that of a recording: {error}", start) from None
    except MemoryError:
        raise RecordFileError(path, "there is not enough memory for the content of the recording", start) from None
    last = run.journal[-1].end if run.journal else 0
    if last != run.end:
        raise RecordFileError(path, f"the journal ends at position {last}, but the recording at {run.end}")
    return run


def _encoded(run: SavedRun) -> Iterator[bytes]:
    if len(run.journal) > MAX_ENTRIES:
        many = f"the journal has {len(run.journal)} entries, more than the {MAX_ENTRIES} that can be read again"
        raise OSError(errno.EFBIG, many)
    content = msgspec.msgpack.encode(run)
    if len(content) > _MOST:
        raise OSError(
            errno.EFBIG, f"the recording has {len(content)} bytes, more than the {_MOST} that can be read again"
        )
    yield MAGIC + _VERSION.pack(VERSION)
    pack = zstandard.ZstdCompressor(level=3)
    for at in range(0, len(content), _CONTENT):
        piece = memoryview(content)[at : at + _CONTENT]
        packed = pack.compress(piece)
        yield _BLOCK.pack(len(piece), len(packed), zlib.crc32(packed))
        yield packed


def _blocks(path: Path, data: bytes) -> Iterator[bytes]:
    """The contents of the blocks of a file."""
    at = len(MAGIC) + _VERSION.size
    if data[: len(MAGIC)] != MAGIC:
        raise RecordFileError(path, "the file is not a recording by rocdbg", 0)
    if len(data) < at:
        raise RecordFileError(path, "the file ends too early", len(data))
    (version,) = _VERSION.unpack_from(data, len(MAGIC))
    if version != VERSION:
        raise RecordFileError(
            path, f"the recording has format version {version}, but this rocdbg reads version {VERSION}", len(MAGIC)
        )
    unpack = zstandard.ZstdDecompressor()
    total = 0
    if at == len(data):
        raise RecordFileError(path, "the file ends too early", at)
    while at < len(data):
        start = at
        if len(data) - at < _BLOCK.size:
            raise RecordFileError(path, "the file ends in the header of this block", start)
        size, packed, crc = _BLOCK.unpack_from(data, at)
        at += _BLOCK.size
        if packed > len(data) - at:
            raise RecordFileError(path, "the file ends in this block", start)
        body = data[at : at + packed]
        at += packed
        total += size
        if zlib.crc32(body) != crc or not 0 < size <= _CONTENT or total > _MOST:
            raise RecordFileError(path, "this block is damaged", start)
        try:
            # The decompressor allocates the size that the frame states, which may be terabytes.
            if zstandard.frame_content_size(body) not in (size, -1):
                raise RecordFileError(path, "this block is damaged: it does not have the size that it declares", start)
            content = unpack.decompress(body, max_output_size=size)
        except zstandard.ZstdError as error:
            raise RecordFileError(path, f"this block is damaged: {error}", start) from None
        if len(content) != size:
            raise RecordFileError(path, "this block is damaged: it does not have the size that it declares", start)
        yield content


__all__ = [
    "RecordFileError", "SavedArgument", "SavedBuffer", "SavedBytes", "SavedCode", "SavedLocal", "SavedNothing",
    "SavedNumber", "SavedOptions", "SavedRun", "SavedSampler", "load", "save",
]
