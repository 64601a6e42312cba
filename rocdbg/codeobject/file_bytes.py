"""The bytes of an open file, read on demand.

Files that rocdbg opens may have gigabytes, of which it needs a few kilobytes. They are not mapped into memory, because
a process that accesses a mapped page of a file that was truncated is killed by SIGBUS.
"""

from __future__ import annotations

import os
from typing import BinaryIO, Final, Self, overload

from rocdbg import work
from rocdbg.codeobject.errors import CodeObjectError

_WINDOW: Final = 1 << 16
"""How many of the bytes that were read last are cached: headers and tables are read in small pieces."""
_SEARCHED: Final = 1 << 20
"""Bytes that are searched at a time."""


class FileBytes:
    """A sequence of bytes like `bytes`. If the file is truncated later, reading the missing part raises
    `CodeObjectError`.

    ``file`` is closed when this object is closed or no longer used.
    """

    def __init__(self, name: str, file: BinaryIO) -> None:
        self._name, self._file = name, file
        self._size = os.fstat(file.fileno()).st_size
        self._window, self._window_start = b"", 0

    def __len__(self) -> int:
        return self._size

    @overload
    def __getitem__(self, where: int) -> int: ...
    @overload
    def __getitem__(self, where: slice) -> bytes: ...
    def __getitem__(self, where: int | slice) -> int | bytes:
        if isinstance(where, int):
            if not -self._size <= where < self._size:
                raise IndexError(where)
            return self._part(where % self._size, 1)[0]
        start, stop, step = where.indices(self._size)
        return self._part(start, max(0, stop - start)) if step == 1 else self._part(0, self._size)[where]

    def __bytes__(self) -> bytes:
        return self._part(0, self._size)

    def find(self, wanted: bytes, start: int = 0, end: int | None = None) -> int:
        """As `bytes.find`, but only for positions that are not negative."""
        end = self._size if end is None else min(end, self._size)
        while start + len(wanted) <= end:
            work.unit()
            found = self[start : min(end, start + _SEARCHED + len(wanted) - 1)].find(wanted)
            if found >= 0:
                return start + found
            start += _SEARCHED
        return -1

    def _part(self, start: int, size: int) -> bytes:
        at = start - self._window_start
        if at >= 0 and at + size <= len(self._window):
            return self._window[at : at + size]
        if size > _WINDOW // 2:
            return self._read(start, size, size)
        self._window, self._window_start = self._read(start, min(_WINDOW, self._size - start), size), start
        return self._window[:size]

    def _read(self, start: int, size: int, needed: int) -> bytes:
        """Read ``size`` bytes, or fewer, but at least ``needed``."""
        parts, needed = [], start + needed
        while size:
            try:
                part = os.pread(self._file.fileno(), size, start)
            except OSError as error:
                raise CodeObjectError(self._name, f"cannot be read: {error.strerror or error}", offset=start) from None
            if not part and start >= needed:
                break
            if not part:
                raise CodeObjectError(self._name, "the file became shorter while it was read", offset=start)
            parts.append(part)
            start += len(part)
            size -= len(part)
        return b"".join(parts)

    def close(self) -> None:
        """Close the file; nothing can be read any more."""
        self._file.close()

    def __del__(self) -> None:
        if hasattr(self, "_file"):  # a signal may have ended the constructor before
            self.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


__all__ = ["FileBytes"]
