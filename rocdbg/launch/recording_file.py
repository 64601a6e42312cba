"""Recordings in files: a launch with its buffers and code, and the journal of its run, which another machine repeats.

A file is `MAGIC`, the version of the format (u32), and blocks: sizes of the content and of what is in the file (u64
each), the CRC-32 of the latter, and that: zstd. Contents joined are a `SavedRun` in MessagePack. All numbers are little
endian. A damaged file is refused with the offset of the block that is.
"""

from __future__ import annotations

import contextlib
import os
import struct
import zlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import zstandard
from msgspec import Struct, field
from msgspec.structs import replace

from rocdbg.codeobject.compression import MAX_UNCOMPRESSED
from rocdbg.errors import Error
from rocdbg.launch.binding import MAX_BUFFERS_SIZE, Buffer, Local
from rocdbg.launch.elements import ArrayType
from rocdbg.launch.image_arguments import ImageSpec, SamplerSpec
from rocdbg.regular_file import read_regular
from rocdbg.sim.core.wave import Dim3
from rocdbg.sim.device.journal import Entry

MAGIC = b"rocdbg recording"
VERSION = 1
_BLOCK = struct.Struct("<QQI")
_VERSION = struct.Struct("<I")
_CONTENT = 4 << 20
"""Bytes of content in a block."""
_MOST = MAX_BUFFERS_SIZE + MAX_UNCOMPRESSED
"""Bytes of content."""


class RecordFileError(Error):
    """A file of a recording that cannot be read or written. ``offset``: of what is damaged, None where nothing is."""

    def __init__(self, path: Path, reason: str, offset: int | None = None) -> None:
        self.path, self.reason, self.offset = path, reason, offset
        at = f" at offset {offset}" if offset is not None else ""
        super().__init__(f"{path}{at}: {reason}")


class SavedBuffer(Struct, tag="buffer", frozen=True):
    """A `Buffer`."""

    name: str
    storage: bytes
    array: str | None
    expect: bytes | None
    rtol: float
    atol: float
    initialized: bool
    offset: int = 0
    same: int | None = None
    """The earlier argument whose storage this is; then ``storage`` is empty."""
    image: str | None = None
    sampler: str | None = None


class SavedSampler(Struct, tag="sampler", frozen=True):
    """A `SamplerSpec`."""

    text: str


class SavedLocal(Struct, tag="local", frozen=True):
    """A `Local`."""

    size: int


class SavedBytes(Struct, tag="bytes", frozen=True):
    """An argument by value."""

    data: bytes


class SavedNumber(Struct, tag="number", frozen=True):
    """A number (``float``: a floating-point one), or several; as text, since they may have any number of bits."""

    texts: list[str]
    floats: list[bool]
    several: bool


class SavedNothing(Struct, tag="nothing", frozen=True):
    """A null pointer."""


SavedArgument = SavedBuffer | SavedSampler | SavedLocal | SavedBytes | SavedNumber | SavedNothing


class SavedCode(Struct, frozen=True):
    """A code object's file, and the path it was opened from."""

    path: str
    data: bytes


class SavedRun(Struct, frozen=True):
    """All that repeats a run. ``rocdbg``: the version that made it. ``code``: the first is the kernel's.
    ``digest``: of the state at position ``end``. ``kernarg`` and ``offsets``: as in `RawKernarg`.
    ``user_data`` and ``registers``: of a shader, as in `LaunchSpec`."""

    rocdbg: str
    architecture: str
    kernel: str
    grid: Dim3
    workgroup: Dim3
    dynamic_lds: int
    arguments: list[SavedArgument]
    code: list[SavedCode]
    options: dict[str, int | str | bool]
    journal: list[Entry]
    end: int
    digest: bytes
    kernarg: bytes | None = None
    offsets: list[int] = field(default_factory=list)
    user_data: bytes | None = None
    registers: dict[str, int] = field(default_factory=dict)


def save(run: SavedRun, path: Path) -> None:
    """Write a recording; what the file held before stays until the new one is complete. Raises RecordFileError."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    if path.exists() and not path.is_file():
        raise RecordFileError(path, "cannot be written: it is no regular file")
    try:
        with part.open("wb") as file:
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
    content = b"".join(_blocks(path, read_regular(path, 2 * _MOST)))
    try:
        return msgspec.msgpack.decode(content, type=SavedRun)
    except (msgspec.DecodeError, msgspec.ValidationError, UnicodeDecodeError, RecursionError) as error:
        start = len(MAGIC) + _VERSION.size
        raise RecordFileError(path, f"this is not the content of a recording: {error}", start) from None


def _encoded(run: SavedRun) -> Iterator[bytes]:
    content = msgspec.msgpack.encode(run)
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
        raise RecordFileError(path, "this is no recording of rocdbg", 0)
    if len(data) < at:
        raise RecordFileError(path, "the file ends here", len(data))
    (version,) = _VERSION.unpack_from(data, len(MAGIC))
    if version != VERSION:
        raise RecordFileError(path, f"its format is version {version}, this rocdbg reads version {VERSION}", len(MAGIC))
    unpack = zstandard.ZstdDecompressor()
    total = 0
    if at == len(data):
        raise RecordFileError(path, "the file ends here", at)
    while at < len(data):
        start = at
        if len(data) - at < _BLOCK.size:
            raise RecordFileError(path, "the file ends in the head of a block", start)
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
            content = unpack.decompress(body, max_output_size=size)
        except zstandard.ZstdError as error:
            raise RecordFileError(path, f"this block is damaged: {error}", start) from None
        if len(content) != size:
            raise RecordFileError(path, "this block is damaged: it has another size than it says", start)
        yield content


# -- arguments


def saved_arguments(arguments: Iterable[Any]) -> list[SavedArgument]:
    """Arguments as `binding.bind` takes them, to be saved."""
    saved: list[SavedArgument] = []
    places: dict[int, int] = {}
    for index, argument in enumerate(arguments):
        first = places.setdefault(id(argument.storage), index) if isinstance(argument, Buffer) else index
        one = _saved(argument)
        saved.append(replace(one, storage=b"", same=first) if first != index and isinstance(one, SavedBuffer) else one)
    return saved


def _saved(argument: Any) -> SavedArgument:
    match argument:
        case Buffer():
            expect = argument.expect.tobytes() if argument.expect is not None else None
            return SavedBuffer(
                argument.name, argument.storage.tobytes(), str(argument.array) if argument.array else None, expect,
                argument.rtol, argument.atol, argument.initialized, argument.offset,
                image=str(argument.image) if argument.image is not None else None,
                sampler=argument.sampler.text if argument.sampler is not None else None,
            )
        case SamplerSpec():
            return SavedSampler(argument.text)
        case Local():
            return SavedLocal(argument.size)
        case None:
            return SavedNothing()
        case bytes() | bytearray():
            return SavedBytes(bytes(argument))
    several = isinstance(argument, Sequence)
    numbers = list(argument) if several else [argument]
    return SavedNumber([repr(n) for n in numbers], [isinstance(n, float) for n in numbers], several)


def restored_arguments(arguments: Iterable[SavedArgument], path: Path) -> list[Any]:
    """What `saved_arguments` has saved. Raises RecordFileError."""
    try:
        restored: list[Any] = []
        for argument in arguments:
            if isinstance(argument, SavedBuffer) and argument.same is not None:
                first = restored[argument.same] if 0 <= argument.same < len(restored) else None
                if not isinstance(first, Buffer):
                    raise ValueError(f"argument {argument.same} is no buffer")
                restored.append(replace(first, name=argument.name, offset=argument.offset))
            else:
                restored.append(_restored(argument))
        return restored
    except (ValueError, Error) as error:
        raise RecordFileError(path, f"an argument of the launch makes no sense: {error}") from None


def _restored(saved: SavedArgument) -> Any:
    match saved:
        case SavedBuffer():
            array = ArrayType.parse(saved.array) if saved.array is not None else None
            storage = np.frombuffer(saved.storage, np.uint8)
            if array is not None and array.nbytes != storage.size:
                raise ValueError(f"{saved.array} has not {storage.size} bytes")
            expect = None
            if saved.expect is not None and array is not None:
                expect = np.frombuffer(saved.expect, array.dtype)
            image = ImageSpec.parse(saved.image, saved.name) if saved.image is not None else None
            sampler = SamplerSpec.parse(saved.sampler, saved.name) if saved.sampler is not None else None
            if image is not None and image.array.nbytes != storage.size:
                raise ValueError(f"{saved.image} has not {storage.size} bytes")
            return Buffer(
                saved.name, storage, array, expect, saved.rtol, saved.atol, saved.initialized, saved.offset, image,
                sampler,
            )
        case SavedSampler():
            return SamplerSpec.parse(saved.text, "sampler")
        case SavedLocal():
            return Local(saved.size)
        case SavedBytes():
            return saved.data
        case SavedNothing():
            return None
    pairs = zip(saved.texts, saved.floats, strict=True)
    numbers = [float(text) if floating else _whole(text) for text, floating in pairs]
    return tuple(numbers) if saved.several else numbers[0]


def _whole(text: str) -> int | bool:
    if len(text) > 400:
        raise ValueError("a number is too long")
    return text == "True" if text in ("True", "False") else int(text)


__all__ = [
    "RecordFileError", "SavedCode", "SavedRun", "load", "restored_arguments", "save", "saved_arguments",
]
