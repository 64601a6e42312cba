"""Opens files whose names come from input: only regular files, without blocking, and without reading more than
requested.

A pipe, a terminal or a device may block for ever when it is opened or read, or have side effects when opened;
a launch file, a debug section or a command line can name any of them.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import BinaryIO

from rocdbg.errors import Error
from rocdbg.text import one_line

_MORE = 1 << 16
"""Chunk size for reading bytes by which a file has grown."""
_MOST_GROWTH = 16 << 20
"""How many bytes a file may have beyond its stated size. A file may grow while it is read, and files in /proc have size
0, even those that never end.
"""


class FileAccessError(Error):
    """A file that cannot be read. ``path`` is as given, ``reason`` does not contain it."""

    def __init__(self, path: str, reason: str) -> None:
        self.path = path
        self.reason = reason
        super().__init__(one_line(f"{path}: {reason}"))


def open_regular(path: str | Path, limit: int) -> BinaryIO:
    """Open a regular file of at most ``limit`` bytes for reading.

    Raises `FileAccessError`, also for anything that is not a regular file.
    """
    name = str(path)
    if "\0" in name:
        raise FileAccessError(name, "a path cannot hold a NUL character")
    try:
        # Checked before opening, which can have side effects, and again afterwards, because the name may refer to
        # another file.
        _check(name, os.stat(name), limit)  # noqa: PTH116
        descriptor = os.open(name, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
        file = os.fdopen(descriptor, "rb")
        try:
            _check(name, os.fstat(descriptor), limit)
        except BaseException:
            file.close()
            raise
    except OSError as error:
        raise FileAccessError(name, f"cannot be read: {error.strerror or error}") from None
    except ValueError as error:  # the name has characters that are not possible in paths
        raise FileAccessError(name, f"cannot be read: {error}") from None
    return file


def read_regular(path: str | Path, limit: int) -> bytes:
    """The content of a regular file of at most ``limit`` bytes. Raises `FileAccessError`."""
    with open_regular(path, limit) as file:
        try:
            # `read` allocates memory for the size requested, so request no more than the file has, unless it grows
            # meanwhile.
            stated = os.fstat(file.fileno()).st_size
            most = min(limit, stated + _MOST_GROWTH)
            more: bytes | None = file.read(min(stated, limit) + 1)
            parts, size = list[bytes](), 0
            while more:
                parts.append(more)
                size += len(more)
                more = file.read(_MORE) if size <= most else b""
            if more is None:  # as for the kernel's messages
                raise FileAccessError(str(path), "cannot be read without waiting for more of it")
        except OSError as error:
            raise FileAccessError(str(path), f"cannot be read: {error.strerror or error}") from None
    if size > limit:  # it has grown
        raise _too_large(str(path), size, limit)
    if size > most:
        raise FileAccessError(str(path), f"has more bytes than its size of {stated} says")
    return parts[0] if len(parts) == 1 else b"".join(parts)


def _check(name: str, status: os.stat_result, limit: int) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise FileAccessError(name, "is not a regular file")
    if status.st_size > limit:
        raise _too_large(name, status.st_size, limit)


def _too_large(name: str, size: int, limit: int) -> FileAccessError:
    return FileAccessError(name, f"is larger than can be read: {size} bytes, the limit is {limit}")
