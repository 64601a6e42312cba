"""Reads NumPy's .npy files without evaluating anything in them.

The header of such a file is a Python literal. Only headers that NumPy itself writes for arrays of numbers are accepted.
Pickled objects and records are rejected, and sizes are compared with that of the file before memory is allocated.
"""

from __future__ import annotations

import math
import os
import re
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rocdbg.errors import Error
from rocdbg.regular_file import open_regular

MAX_SIZE = 1 << 30
"""Limit on the bytes of data in a file."""

_MAGIC = b"\x93NUMPY"
_MAX_HEADER = 4096
_HEADER = re.compile(
    r"\{'descr': '([<>|=]?[biufcV][0-9]{1,9})', 'fortran_order': (True|False), "
    r"'shape': \(((?:[0-9]{1,19}(?:, ?|(?=\))))*)\),? ?\}\s*",
    re.ASCII,
)


class NpyError(Error):
    """The file is not a .npy file of numbers; the message says why, without the file's name."""


class NpyTooLargeError(NpyError):
    """The file has more data than requested: ``count`` elements, ``size`` bytes."""

    def __init__(self, count: int, size: int) -> None:
        self.count = count
        self.size = size
        super().__init__(f"holds {count} elements, {size} bytes")


def read_npy(path: str | Path, largest: int) -> NDArray[Any]:
    """The array in a file of at most ``largest`` bytes of data, in C order and one-dimensional.

    Raises `NpyError`, and `FileAccessError` for what is not a readable regular file.
    """
    with open_regular(path, MAX_SIZE + _MAX_HEADER + 16) as file:
        try:
            start = file.read(8)
            if start[:6] != _MAGIC:
                raise NpyError("is not a NumPy .npy file")
            width = 2 if start[6:7] == b"\1" else 4
            length = int.from_bytes(file.read(width), "little")
            if length > _MAX_HEADER:
                raise NpyError(f"is a damaged .npy file (its header would have {length} bytes)")
            header = file.read(length).decode("latin-1")
            offset = 8 + width + length
            dtype, fortran, shape = _parse(header)
            count = math.prod(shape)
            size = count * dtype.itemsize
            held = os.fstat(file.fileno()).st_size - offset
            if size != held:
                raise NpyError(
                    f"is a damaged .npy file (by its header it has {size} bytes of numbers, but there are "
                    f"{max(held, 0)})"
                )
            if size > largest:
                raise NpyTooLargeError(count, size)
            array = np.fromfile(file, dtype, count)
        except OSError as error:
            raise NpyError(f"cannot be read: {error.strerror or error}") from None
    if len(array) != count:
        raise NpyError("became shorter while it was read")
    # If there are no elements, an extent may be larger than NumPy permits.
    return array.reshape(shape[::-1]).T.reshape(-1) if fortran and count else array


def _parse(header: str) -> tuple[np.dtype[Any], bool, tuple[int, ...]]:
    match = _HEADER.fullmatch(header)
    if match is None:
        if "'O" in header or "|O" in header:
            raise NpyError("holds Python objects, which are not supported")
        raise NpyError("is not a .npy file of plain numbers")
    try:
        dtype = np.dtype(match[1])
    except TypeError:
        raise NpyError(f"is a damaged .npy file (its type {match[1]} is unknown)") from None
    if dtype.itemsize == 0:
        raise NpyError("is not a .npy file of plain numbers")
    shape = tuple(int(number) for number in re.findall("[0-9]+", match[3]))
    if len(shape) > 32:
        raise NpyError(f"has {len(shape)} dimensions; the limit is 32")
    return dtype, match[2] == "True", shape
