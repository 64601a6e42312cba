"""Stores the contents of memory at several times, each as its difference from the next.

Memory is a list of *pages*: arrays of bytes of any size that do not move. A *version* is the contents of all pages at a
call of `PageHistory.keep`. One version at a time is stored in full, in *shadows* of the pages. Between two neighbouring
versions, a `_Delta` stores the chunks that differ. A delta has the contents of that one of its two versions which is
farther from the full version. To make a neighbouring version the full one, the chunks of the delta and the shadows are
exchanged.

A shadow may be borrowed: it is then memory that belongs to another owner and does not change (the initial contents of a
buffer, or zeros). It is copied when the page is found to have changed. The contents of such pages in version 0 are read
from the borrowed memory, so no delta stores them.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]

CHUNK = 4096
"""Bytes that are compared and stored together."""
PAGE = 1 << 20
"""Larger memory is divided into pages of this many bytes."""

_memcmp = ctypes.CDLL(None).memcmp
_memcmp.argtypes, _memcmp.restype = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t), ctypes.c_int
_ZEROS: Bytes = np.zeros(PAGE, np.uint8)
_SMALL = 1 << 15
"""Pages of up to this many bytes are copied rather than compared with zeros."""


class _Part(Struct):
    """The chunks of one page that differ: their numbers, and their contents, uint8[n, CHUNK], where bytes beyond the
    end of the page are ignored. If ``data`` is None, the contents are those in version 0, in borrowed memory."""

    chunks: NDArray[np.intp]
    data: Bytes | None

    @property
    def size(self) -> int:
        return self.data.size if self.data is not None else 0


_Delta = dict[int, _Part]


def cut(memory: Bytes) -> list[Bytes]:
    """Divide memory into pages of at most `PAGE` bytes."""
    return [memory[at : at + PAGE] for at in range(0, memory.size, PAGE)]


class PageHistory:
    """Versions of the contents of pages, numbered from 0.

    ``begin`` has the contents of each page in version 0, in memory that will not change. Where it is None, the shadow
    is zeros if the page is all zeros, and otherwise a copy.
    """

    def __init__(self, pages: Sequence[Bytes], begin: Sequence[Bytes | None]) -> None:
        self.pages: list[Bytes] = []
        self._shadows: list[Bytes] = []
        self._begin: list[Bytes | None] = []
        """For each page, the borrowed memory with its contents in version 0."""
        self._own: list[bool] = []
        self._deltas: list[_Delta] = []
        self.current = 0
        """The number of the current version, which the shadows store in full."""
        self.copied = 0
        """Size in bytes of the shadows that are not borrowed: one copy of what was written."""
        self.kept = 0
        """Size in bytes of the deltas."""
        self.add(pages, begin)

    @property
    def size(self) -> int:
        """Size in bytes of the deltas and the shadows."""
        return self.copied + self.kept

    @property
    def versions(self) -> int:
        """Number of versions."""
        return len(self._deltas) + 1

    def add(self, pages: Sequence[Bytes], begin: Sequence[Bytes | None]) -> None:
        """Add pages that did not exist before; in all versions they have their initial contents."""
        for page, initial in zip(pages, begin, strict=True):
            shadow, own = initial, False
            if shadow is None and _SMALL < page.size <= PAGE and _same(page, _ZEROS):
                shadow = _ZEROS
            elif shadow is None:
                shadow, own = _padded(page), True
                self.copied += shadow.size
            self.pages.append(page)
            self._shadows.append(shadow)
            self._begin.append(None if own else shadow)
            self._own.append(own)

    def keep(self) -> None:
        """Store the pages' contents as a new version after the current one, and make it the current one.

        Later versions, if any, follow the new one.
        """
        delta: _Delta = {}
        for number, (page, shadow) in enumerate(zip(self.pages, self._shadows, strict=True)):
            if _same(page, shadow):
                continue
            shadow = self._owned(number)
            chunks = _differing(page, shadow)
            part = _Part(chunks, None)
            if self.current or self._begin[number] is None or self._deltas:
                part.data = shadow.reshape(-1, CHUNK)[chunks]
            delta[number] = part
            self.kept += part.size
            _copy_chunks(page, shadow, chunks)
        if self.current < len(self._deltas):
            # chunks that changed before the new version, but not between it and the next, keep their contents there
            self._add_missing(self._deltas[self.current], dict(delta))
        self._deltas.insert(self.current, delta)
        self.current += 1
        if self.current == 1:
            self._borrow(delta)

    def differences(self) -> dict[tuple[int, int], bytes]:
        """The chunks that differ from the current version: their contents now, by page and offset."""
        found = {}
        for number, (page, shadow) in enumerate(zip(self.pages, self._shadows, strict=True)):
            if not _same(page, shadow):
                for at in range(0, page.size, CHUNK):
                    if not np.array_equal(page[at : at + CHUNK], shadow[at : min(at + CHUNK, page.size)]):
                        found[number, at] = page[at : at + CHUNK].tobytes()
        return found

    def chunk(self, number: int, at: int) -> bytes:
        """Contents of a page's chunk at an offset."""
        return self.pages[number][at : at + CHUNK].tobytes()

    def restore(self, version: int) -> None:
        """Restore the pages' contents in a version, which becomes the current one."""
        self.lay_out(version)
        for page, shadow in zip(self.pages, self._shadows, strict=True):
            if not _same(page, shadow):
                page[:] = shadow[: page.size]

    def forget(self, version: int) -> None:
        """Remove a version that is neither the first nor the current one; later versions are renumbered."""
        if not 0 < version < self.versions or version == self.current:
            raise ValueError(f"version {version} cannot be forgotten")
        if version == self.versions - 1:
            self._drop(self._deltas.pop())
            return
        near, far = (version - 1, version) if version > self.current else (version, version - 1)
        # Keep the contents of the version that is farther from the current one: if both deltas have a chunk, keep that
        # of the farther delta.
        kept, other = self._deltas[far], self._deltas[near]
        self._drop(other)
        self._add_missing(kept, other)
        if not far:
            self._borrow(kept)
        del self._deltas[near]
        if version < self.current:
            self.current -= 1

    def cut_off(self, version: int) -> None:
        """Remove all versions after one; the current version must not be after it."""
        if self.current > version:
            raise ValueError("the current version would be forgotten")
        while len(self._deltas) > version:
            self._drop(self._deltas.pop())

    def _drop(self, delta: _Delta) -> None:
        self.kept -= sum(part.size for part in delta.values())

    def lay_out(self, version: int) -> None:
        """Make a version the current one, regardless of the contents of the pages."""
        step = 1 if version > self.current else -1
        while self.current != version:
            delta = self._deltas[self.current if step > 0 else self.current - 1]
            ends = self.current + step == 0, self.current == 0
            for number, part in delta.items():
                begin, at_begin = self._begin[number], any(ends)
                if begin is None or not at_begin:
                    assert part.data is not None
                    rows = self._owned(number).reshape(-1, CHUNK)
                    now = rows[part.chunks]
                    rows[part.chunks] = part.data
                    part.data = now
                elif step > 0:
                    assert part.data is not None
                    self._owned(number).reshape(-1, CHUNK)[part.chunks] = part.data
                    self._set(part, None)
                else:
                    shadow = self._shadows[number]
                    self._set(part, shadow.reshape(-1, CHUNK)[part.chunks])
                    self._shadows[number], self._own[number] = begin, False
                    self.copied -= shadow.size
            self.current += step

    def _owned(self, number: int) -> Bytes:
        """The shadow of a page, as a copy that may be written to."""
        shadow = self._shadows[number]
        if not self._own[number]:
            shadow = self._shadows[number] = _padded(shadow[: self.pages[number].size])
            self._own[number] = True
            self.copied += shadow.size
        return shadow

    def _borrow(self, delta: _Delta) -> None:
        """Remove from a delta the contents that borrowed memory has for version 0."""
        for number, part in delta.items():
            if self._begin[number] is not None:
                self._set(part, None)

    def _set(self, part: _Part, data: Bytes | None) -> None:
        self.kept -= part.size
        part.data = data
        self.kept += part.size

    def _add_missing(self, delta: _Delta, other: _Delta) -> None:
        """Add to a delta the chunks that only the other delta has; the other delta's parts are reused."""
        for number, part in other.items():
            have = delta.get(number)
            if have is None:
                delta[number] = _Part(part.chunks, part.data)
                self.kept += part.size
                continue
            missing = ~np.isin(part.chunks, have.chunks)
            if missing.any():
                have.chunks = np.concatenate([have.chunks, part.chunks[missing]])
                if have.data is not None and part.data is not None:
                    self._set(have, np.concatenate([have.data, part.data[missing]]))


def _same(page: Bytes, shadow: Bytes) -> bool:
    return not _memcmp(page.ctypes.data, shadow.ctypes.data, page.size)


def _padded(page: Bytes) -> Bytes:
    """A copy, padded to whole chunks."""
    copy = np.zeros(-(-page.size // CHUNK) * CHUNK, np.uint8)
    copy[: page.size] = page
    return copy


def _differing(page: Bytes, shadow: Bytes) -> NDArray[np.intp]:
    """Numbers of the chunks in which a page and its padded shadow differ."""
    whole = page.size // CHUNK
    now, before = (array[: whole * CHUNK].reshape(whole, CHUNK) for array in (page, shadow))
    word = np.uint64 if not page.ctypes.data % 8 else np.uint8
    found = np.flatnonzero((now.view(word) != before.view(word)).any(axis=1)) if whole else np.empty(0, np.intp)
    if page.size % CHUNK and not np.array_equal(page[whole * CHUNK :], shadow[whole * CHUNK : page.size]):
        found = np.append(found, whole)
    return found


def _copy_chunks(page: Bytes, shadow: Bytes, chunks: NDArray[np.intp]) -> None:
    """Copy chunks of a page to its padded shadow."""
    whole = page.size // CHUNK
    full = chunks[chunks < whole]
    if full.size == whole:
        shadow[: whole * CHUNK] = page[: whole * CHUNK]
    else:
        shadow.reshape(-1, CHUNK)[full] = page[: whole * CHUNK].reshape(whole, CHUNK)[full]
    if full.size < chunks.size:
        shadow[whole * CHUNK : page.size] = page[whole * CHUNK :]


__all__ = ["CHUNK", "PAGE", "Bytes", "PageHistory", "cut"]
