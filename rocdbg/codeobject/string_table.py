"""String tables: names by offset."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rocdbg.codeobject.bounded_reader import Source
from rocdbg.text import decode_text

_SLACK = 1 << 16


class StringTable:
    """The NUL-terminated strings of one section.

    Names may share bytes (``kernel`` is the end of ``my_kernel``), but only within limits: a name for every byte of a
    long string would take memory proportional to the square of its size. `check` is called before many names are read.
    """

    def __init__(self, source: Source, name: str, data: bytes) -> None:
        self._source = source
        self._name = name
        self.data = data
        self._known: dict[int, str] = {}

    def get(self, offset: int) -> str | None:
        """The string at ``offset``; None if it does not end within the section."""
        known = self._known.get(offset)
        if known is not None:
            return known
        end = self.data.find(b"\0", offset) if 0 <= offset < len(self.data) else -1
        if end < 0:
            return None
        text = self._known[offset] = decode_text(self.data[offset:end])
        return text

    def check(self, offsets: Sequence[int] | np.ndarray[Any, np.dtype[Any]]) -> None:
        """Raise `CodeObjectError` if the strings at these offsets together are several times as long as the table."""
        starts = np.sort(np.asarray(offsets, np.int64))
        starts = starts[np.flatnonzero(np.diff(starts, prepend=-1))]  # np.unique imports numpy.ma
        ends = np.flatnonzero(np.frombuffer(self.data, np.uint8) == 0)
        if not len(ends):
            return
        starts = starts[starts <= ends[-1]]
        total = int((ends[np.searchsorted(ends, starts)] - starts).sum())
        if total > 8 * len(self.data) + _SLACK:
            reason = f"too many names overlap: together they have {total} bytes, but the table has {len(self.data)}"
            raise self._source.error(reason, section=self._name)
