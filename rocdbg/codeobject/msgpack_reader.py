"""Reads the MsgPack of code object V3 and later. Sizes in it are checked before they are used."""

from __future__ import annotations

import re
from typing import Any

import msgpack

MAX_SIZE = 16 << 20
"""Maximum number of bytes that are read. A kernel takes one to five kilobytes, and up to twenty times as much memory
while it is read.
"""
_MAX_CHECKED = 4 << 20
_MAX_CONTAINERS = 1 << 20
"""Maximum number of maps and arrays: an empty one takes a byte here and 64 in memory."""
_OPENING = bytes((*range(0x80, 0xA0), *range(0xDC, 0xE0)))
_DEEPEST = 32
_LONG = re.compile(rb"(?=\xdc(..)|\xdd(....))", re.DOTALL)  # look-ahead: matches may overlap


class MsgPackDamage(Exception):
    """Bytes that are not the MsgPack of metadata; the message says why."""


def read_msgpack(data: bytes) -> Any:
    """The value in ``data``: maps with text, bytes or numbers (PAL: registers) for keys, lists, text, bytes, numbers.

    Raises `MsgPackDamage`.
    """
    if len(data) > MAX_SIZE:
        raise MsgPackDamage(f"it has {len(data)} bytes; the limit is {MAX_SIZE}")
    if len(data) - len(data.translate(None, _OPENING)) > _MAX_CONTAINERS:
        raise MsgPackDamage(f"it has more than {_MAX_CONTAINERS} maps and arrays")
    # The library allocates an array before reading it, and arrays may be nested, so their total length must fit the
    # data. Bytes that look like an array may be part of something else, so each candidate is checked.
    claimed = sum(int.from_bytes(match[1] or match[2], "big") for match in _LONG.finditer(data))
    if claimed > len(data):
        if len(data) > _MAX_CHECKED:
            raise MsgPackDamage(f"its arrays would have {claimed} values, but it has only {len(data)} bytes")
        _check(data)
    try:
        return msgpack.unpackb(
            data, strict_map_key=False, unicode_errors="backslashreplace", max_array_len=len(data),
            max_map_len=len(data),
        )
    except (ValueError, TypeError, msgpack.UnpackException, OverflowError, RecursionError, MemoryError) as error:
        # ValueError is the base class of msgpack's errors for damaged data; TypeError means that a map or an array is a
        # key.
        raise MsgPackDamage(str(error) or type(error).__name__) from None


# Sizes by first byte, from 0xc0 on: for values of fixed size that of the value, for others that of their length field.
_FIXED = {
    0xC0: 0, 0xC2: 0, 0xC3: 0, 0xCA: 4, 0xCB: 8, 0xCC: 1, 0xCD: 2, 0xCE: 4, 0xCF: 8, 0xD0: 1, 0xD1: 2, 0xD2: 4,
    0xD3: 8, 0xD4: 2, 0xD5: 3, 0xD6: 5, 0xD7: 9, 0xD8: 17,
}
_SIZED = {0xC4: 1, 0xC5: 2, 0xC6: 4, 0xD9: 1, 0xDA: 2, 0xDB: 4}
_EXTENSION = {0xC7: 1, 0xC8: 2, 0xC9: 4}
_ARRAY, _MAP = {0xDC: 2, 0xDD: 4}, {0xDE: 2, 0xDF: 4}


def _check(data: bytes) -> None:
    """Raise `MsgPackDamage` unless there are as many values as arrays and maps announce, with reasonable nesting."""
    at, size = 0, len(data)
    waiting = [1]  # number of values still expected at each level
    while True:
        while waiting and waiting[-1] == 0:
            waiting.pop()
        if not waiting:
            return
        if at >= size:
            raise MsgPackDamage("it ends too early")
        waiting[-1] -= 1
        code = data[at]
        at += 1
        count = 0
        if code < 0x80 or code >= 0xE0:
            continue
        if code < 0x90:
            count = 2 * (code & 15)
        elif code < 0xA0:
            count = code & 15
        elif code < 0xC0:
            at += code & 31
        elif code in _FIXED:
            at += _FIXED[code]
        elif code in _SIZED or code in _EXTENSION:
            width = _SIZED.get(code) or _EXTENSION[code]
            at += width + int.from_bytes(data[at : at + width], "big") + (code in _EXTENSION)
        elif code in _ARRAY or code in _MAP:
            width = _ARRAY.get(code) or _MAP[code]
            count = int.from_bytes(data[at : at + width], "big") * (1 if code in _ARRAY else 2)
            at += width
        else:
            raise MsgPackDamage(f"it has the unknown type code {code:#x}")
        if count:
            waiting.append(count)
            if len(waiting) > _DEEPEST:
                raise MsgPackDamage(f"it is nested more than {_DEEPEST} deep")
            if sum(waiting) > size - at:
                raise MsgPackDamage(f"an array or map would have {count} values, which do not fit into the data")
