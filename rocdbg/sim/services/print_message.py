"""HIP's printf: converts a message of qwords to text.

The format string comes first, padded with zeros to whole qwords, then the arguments: a qword for each number or
pointer, strings like the format.
"""

from __future__ import annotations

import struct

from rocdbg.sim.services.c_format import Conversion, cut, pieces


def print_message(message: bytes) -> bytes:
    """The text that a message prints. As in the real runtime, printing ends where the arguments end; ``%n`` consumes an
    argument and does nothing.
    """
    template, at = _string(message, 0)
    return print_arguments(template, message[at:])


def print_arguments(template: bytes, arguments: bytes) -> bytes:
    """The text for arguments whose format string is given separately."""
    text, at = bytearray(), 0
    sent = len(template) + len(arguments)
    for piece in pieces(template):
        if cut(text, sent):
            break
        if isinstance(piece, bytes):
            text += piece
            continue
        if at + 8 * (piece.stars + 1) > len(arguments):
            break
        stars = [_qword(arguments, at + 8 * n) for n in range(piece.stars)]
        at += 8 * piece.stars
        printed, at = _argument(piece.given(stars), arguments, at)
        text += printed
    return bytes(text)


def _argument(conversion: Conversion, arguments: bytes, at: int) -> tuple[bytes, int]:
    """The text of an argument, and the offset of the next one."""
    if conversion.kind == "s":
        string, after = _string(arguments, at)
        return conversion.string(string), after
    bits = _qword(arguments, at)
    if conversion.kind in "fFeEgGaA":
        return conversion.floating(struct.unpack("<d", bits.to_bytes(8, "little"))[0]), at + 8
    return conversion.integer(bits), at + 8


def _qword(data: bytes, at: int) -> int:
    return int.from_bytes(data[at : at + 8], "little")


def _string(data: bytes, at: int) -> tuple[bytes, int]:
    """The string at an offset, and the offset of the first qword after it."""
    end = data.find(b"\0", at)
    end = len(data) if end < 0 else end
    return data[at:end], at + (end - at) // 8 * 8 + 8


__all__ = ["print_arguments", "print_message"]
