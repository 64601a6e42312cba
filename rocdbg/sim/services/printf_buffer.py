"""The printf buffer: lanes append to it while a kernel runs, and the runtime prints its contents.

Dword 0 counts the bytes appended, dword 1 is the capacity in bytes; frames follow. An OpenCL frame consists of the
number of a format and the arguments, whose sizes are in the metadata (``amdhsa.printf``: ``ID:COUNT:SIZE...:FORMAT``).
A HIP frame (``-mprintf-kind=buffered``) consists of a control dword (bit 0: stderr; bit 1: the format is given by its
hash; the rest: bytes of the frame), the hash or the format, and arguments as in HIP's messages; the metadata has
``0:0:HASH,FORMAT``.

A runtime prints when the kernel has ended. rocdbg prints complete frames whenever the kernel stops. A lane first
increments the count and then writes, so unwritten dwords are filled with a pattern: a frame that contains the pattern
may be incomplete. If a kernel really wrote the pattern, its text is printed at the kernel's end.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator, Sequence
from itertools import islice

import numpy as np
from msgspec import Struct

from rocdbg.sim.core.memory import Allocation
from rocdbg.sim.services.c_format import Conversion, cut, pieces
from rocdbg.sim.services.output import ProgramOutput, Stream
from rocdbg.sim.services.print_message import print_arguments, print_message

SIZE = 4 << 20
"""Bytes of the buffer, as the runtime makes it; output that does not fit is lost, and printf returns -1."""

_SOURCE = "printf buffer"
_HEAD = 8
_UNWRITTEN = 0xA5C3_3C5A
_PATTERN = _UNWRITTEN.to_bytes(4, "little")
_DWORD = struct.Struct("<I")
_HASHED, _STDERR = 2, 1
_ESCAPE = re.compile(r"\\(?:([abfnrv])|72)")
_ESCAPED = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "v": "\v"}
_HALF, _FLOAT, _DOUBLE = struct.Struct("<e"), struct.Struct("<f"), struct.Struct("<d")


class Format(Struct, frozen=True):
    """A format string, the size in bytes of each of its arguments in a frame, and which of them are strings."""

    text: bytes
    sizes: tuple[int, ...]
    strings: tuple[int, ...]

    @property
    def size(self) -> int:
        """Bytes of a frame, in whole dwords."""
        return 4 + sum(map(_whole, self.sizes))

    def places(self, data: bytes, unwritten: int | None) -> list[tuple[int, int]]:
        """The position and size of each argument in the bytes of a frame that follow the format's number.

        If the NUL of a string would be alone in a dword, LLVM 22 omits that dword, and everything after it is a dword
        earlier than the sizes say. Such a string is recognised by the dword after it, which cannot end a string, and
        by the number of ``unwritten`` dwords at the frame's end, if that is known.
        """
        for only in (None, *([()] if unwritten == 0 else [self.strings] if unwritten == len(self.strings) else [])):
            places, at, left_out = [], 0, 0
            for index, size in enumerate(map(_whole, self.sizes)):
                short = index in self.strings and (
                    not _ends(data[at + size - 4 : at + size]) if only is None else index in only
                )
                left_out += short
                places.append((at, size - 4 * short))
                at += size - 4 * short
            if left_out == unwritten:
                break
        return places


def _whole(size: int) -> int:
    """Round up to whole dwords."""
    return -(-size // 4) * 4


def _unwritten(frame: bytes) -> int:
    """The number of dwords at the end of a frame that hold the pattern."""
    count = 0
    while frame.endswith(_PATTERN, 0, len(frame) - 4 * count):
        count += 1
    return count


def _ends(dword: bytes) -> bool:
    """Whether a dword can be the last of a string: a NUL, and zeros after it."""
    return b"\0" in dword and not dword.partition(b"\0")[2].strip(b"\0")


class Formats(Struct, frozen=True):
    """The formats of a code object: OpenCL's by number, HIP's by hash."""

    by_number: dict[int, Format]
    by_hash: dict[int, bytes]


def read_formats(entries: Sequence[str]) -> Formats:
    """Read the formats from the metadata. Entries that are not understood are skipped; frames that need them are
    reported when they occur.
    """
    by_number: dict[int, Format] = {}
    by_hash: dict[int, bytes] = {}
    for entry in entries:
        parts = entry.split(":", 2)
        try:
            number, count = int(parts[0]), int(parts[1])
            fields = parts[2].split(":", count)
            sizes = tuple(int(size) for size in fields[:count])
            text = _unescaped(fields[count])
            if number:
                if not all(0 <= size <= SIZE for size in sizes):
                    raise ValueError
                by_number[number] = Format(text, sizes, tuple(_strings(text)))
            else:
                hash_, _, text = text.partition(b",")
                by_hash[int(hash_, 16)] = text
        except (ValueError, IndexError):
            continue
    return Formats(by_number, by_hash)


def _strings(template: bytes) -> Iterator[int]:
    """Which arguments of a format are strings."""
    index = 0
    for piece in pieces(template):
        if isinstance(piece, Conversion):
            index += piece.stars
            if piece.kind == "s":
                yield index
            index += 1


def _unescaped(text: str) -> bytes:
    """Undo the metadata's escapes of control characters and colons, which gives the format as in the kernel's source.
    """
    plain = _ESCAPE.sub(lambda found: _ESCAPED[found[1]] if found[1] else ":", text)
    return plain.encode("utf-8", "surrogateescape")


class PrintfBuffer:
    """The printf buffer in ``allocation`` (`SIZE` bytes). It belongs to one dispatch at a time."""

    def __init__(self, allocation: Allocation, output: ProgramOutput) -> None:
        self.address = allocation.address
        """The value of ``hidden_printf_buffer``."""
        self.printed = 0
        """Bytes of the frames printed so far."""
        self._touched = 0
        self._data = allocation.data
        self._output = output
        self._formats = Formats({}, {})
        self._clear(len(self._data) - _HEAD)

    def begin(self, formats: Formats) -> None:
        """Note that a kernel of a code object starts."""
        self._clear(self._touched)
        self._formats = formats

    def _clear(self, used: int) -> None:
        self._data[_HEAD : _HEAD + used].view(np.uint32)[:] = _UNWRITTEN
        struct.pack_into("<II", self._data.data, 0, 0, len(self._data) - _HEAD)
        self.printed = self._touched = 0

    def print(self, ended: bool) -> None:
        """Print the new frames; ``ended``: the kernel has ended, so all are complete."""
        used: int = struct.unpack_from("<I", self._data.data, 0)[0]
        used = min(used, len(self._data) - _HEAD) & ~3  # a kernel may have set it to anything
        rest = self._data[_HEAD + self.printed : _HEAD + used].tobytes()
        self._touched = max(self._touched, used)
        at = 0
        while at < len(rest):
            size = self._frame(rest, at, ended)
            if not size:
                if ended:
                    self._damaged(len(rest) - at)
                return
            at += size
            self.printed += size

    def _frame(self, rest: bytes, at: int, ended: bool) -> int:
        """Print the frame at an offset; returns its size, or 0 if it is incomplete or not a frame."""
        (head,) = _DWORD.unpack_from(rest, at)
        known = self._formats.by_number.get(head)
        size = known.size if known is not None else 0 if self._formats.by_number else head >> 2 & ~3
        if not 4 <= size <= len(rest) - at:
            return 0
        frame = rest[at : at + size]
        if known is not None:
            places = known.places(frame[4:], _unwritten(frame) if ended else None)
            if not ended and _PATTERN in frame[: 4 + sum(places[-1]) if places else 4]:
                return 0
            self._output.write(_SOURCE, Stream.STDOUT, print_frame(known, places, frame[4:]))
            return size
        if not ended and _PATTERN in frame:
            return 0
        if not head & _HASHED:
            text = print_message(frame[4:])
        elif (template := self._formats.by_hash.get(int.from_bytes(frame[4:12], "little"))) is not None:
            text = print_arguments(template, frame[12:])
        else:
            return 0
        self._output.write(_SOURCE, Stream.STDERR if head & _STDERR else Stream.STDOUT, text)
        return size

    def _damaged(self, rest: int) -> None:
        note = f"rocdbg: {rest} bytes of the printf buffer are not frames of this code object's formats.\n"
        self.printed += rest
        self._output.write(_SOURCE, Stream.STDERR, note.encode())


def print_frame(known: Format, places: Sequence[tuple[int, int]], data: bytes) -> bytes:
    """The text that OpenCL's printf prints for the arguments in a frame; as in the real runtime, it ends where the
    arguments end.
    """
    text = bytearray()
    rest = iter(places)
    sent = len(known.text) + len(data)
    for piece in pieces(known.text):
        if cut(text, sent):
            break
        if isinstance(piece, bytes):
            text += piece
            continue
        arguments = [data[at : at + size] for at, size in islice(rest, piece.stars + 1)]
        if len(arguments) <= piece.stars:
            break
        stars = [int.from_bytes(argument, "little") for argument in arguments[:-1]]
        text += _argument(piece.given(stars), arguments[-1])
    return bytes(text)


def _argument(conversion: Conversion, data: bytes) -> bytes:
    """One argument: a string, a scalar of its size, or the components of a vector with commas between them."""
    if conversion.kind == "s":
        return conversion.string(data.partition(b"\0")[0])
    count = conversion.vector
    if not count:
        return _scalar(conversion, data)
    size = len(data) // (4 if count == 3 else count)  # three components take the space of four
    return b",".join(_scalar(conversion, data[n * size : (n + 1) * size]) for n in range(count))


def _scalar(conversion: Conversion, data: bytes) -> bytes:
    if conversion.kind not in "fFeEgGaA":
        if len(data) > 4 and not conversion.length:
            conversion = Conversion(
                conversion.flags, conversion.width, conversion.precision, 0, "l", conversion.kind
            )
        return conversion.integer(int.from_bytes(data, "little"))
    form = {2: _HALF, 4: _FLOAT, 8: _DOUBLE}.get(len(data))
    if form is None:
        return b""
    return conversion.floating(form.unpack(data)[0])


__all__ = ["SIZE", "Format", "Formats", "PrintfBuffer", "print_frame", "read_formats"]
