"""The pieces of composite location descriptions, each as a location list of its own.

LLVM describes the members of a structure that it has split into registers by independent DBG_VALUEs, and composes each
entry of a list from those that are in force. Whether lanes have the value that an entry describes must therefore be
decided for each piece separately; several entries may contain the same piece.
"""

from __future__ import annotations

from itertools import accumulate

from msgspec import Struct

from rocdbg.dwarf.context import LocationList, LocationListEntry
from rocdbg.dwarf.decoding import decode
from rocdbg.errors import Error

_MOST_PIECES = 256


class Piece(Struct, frozen=True):
    """A piece of a composite: its offset in the object, in bits; what describes it (empty if nothing does); and the
    operation that ends it.
    """

    offset: int
    size: int
    data: bytes
    end: bytes


def pieces_of(data: bytes, dialect: str) -> list[Piece]:
    """Return the pieces that an expression is composed of; empty for any other expression."""
    operations = decode(data, dialect)
    ends = [index for index, operation in enumerate(operations) if operation.info.meaning in ("piece", "bit_piece")]
    if not ends or ends[-1] != len(operations) - 1 or len(ends) > _MOST_PIECES:
        return []
    sizes = [operations[index].piece_bits for index in ends]
    found: list[Piece] = []
    start = 0
    for index, size, offset in zip(ends, sizes, accumulate(sizes, initial=0), strict=False):
        last = operations[index]
        content = data[operations[start].offset : last.offset]
        found.append(Piece(offset, size, content, data[last.offset : last.offset + last.size]))
        start = index + 1
    return found


def composed(pieces: list[Piece]) -> bytes:
    """Return the expression that consists of some pieces."""
    return b"".join(piece.data + piece.end for piece in pieces)


def projected(what: LocationList, piece: Piece) -> LocationList:
    """Return a list that describes only one piece of the object.

    An entry that describes the piece together with others, or only part of it, is left unchanged, so that it differs
    from the other entries. Adjacent entries that differ only in other pieces are merged.
    """
    entries: list[LocationListEntry] = []
    for low, high, data in what:
        content = _content(data, what.dialect or "amd", piece)
        if not content:
            continue
        if entries and low is not None and entries[-1][1:] == (low, content):
            entries[-1] = entries[-1][0], high, content
        else:
            entries.append((low, high, content))
    return LocationList(entries, what.dialect)


def _content(data: bytes, dialect: str, piece: Piece) -> bytes:
    try:
        pieces = pieces_of(data, dialect)
    except Error:
        return data
    begin, end = piece.offset, piece.offset + piece.size
    meeting = [each for each in pieces if each.offset < end and begin < each.offset + each.size]
    if len(meeting) == 1 and (meeting[0].offset, meeting[0].size) == (piece.offset, piece.size):
        return meeting[0].data
    if pieces and not any(each.data for each in meeting):
        return b""
    return data
