"""Contents of memory at several times, each kept as its difference from the next.

Memory is a list of *pages*: arrays of bytes that stay where they are, of any size. A *version* is what all of them held
when `PageHistory.keep` was called. One version at a time is laid out in full, in *shadows* of the pages; between two
neighbouring versions there is a `_Delta`: the chunks that differ. Seen from the version that is laid out, deltas hold
the contents farther away, so that the layout moves to a neighbour by exchanging chunks.

A shadow may be borrowed: memory of somebody else's that does not change (the initial contents of a buffer, zeros). It
is copied when the page is found to have changed.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]

CHUNK = 4096
"""Bytes that are compared and kept together."""
PAGE = 1 << 20
"""Bytes that larger memory is cut into."""

_memcmp = ctypes.CDLL(None).memcmp
_memcmp.argtypes, _memcmp.restype = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t), ctypes.c_int
_ZEROS: Bytes = np.zeros(PAGE, np.uint8)
_SMALL = 1 << 15
"""Bytes of a page that are copied sooner than compared with zeros."""


class _Part(Struct):
    """The chunks of one page that differ: their numbers, and what they hold, uint8[n, CHUNK]; what lies beyond the end
    of the page is of no account."""

    chunks: NDArray[np.intp]
    data: Bytes


_Delta = dict[int, _Part]


def cut(memory: Bytes) -> list[Bytes]:
    """Memory as pages of at most `PAGE` bytes."""
    return [memory[at : at + PAGE] for at in range(0, memory.size, PAGE)]


class PageHistory:
    """Versions of the contents of pages, numbered from 0.

    ``begin``: for each page what it holds in version 0, which is not going to change; None: zeros, if the page has
    nothing but zeros, else a copy is made.
    """

    def __init__(self, pages: Sequence[Bytes], begin: Sequence[Bytes | None]) -> None:
        self.pages: list[Bytes] = []
        self._shadows: list[Bytes] = []
        self._own: list[bool] = []
        self._deltas: list[_Delta] = []
        self.current = 0
        """The version that is laid out."""
        self.size = 0
        """Bytes that the deltas and the shadows take, but those borrowed."""
        self.add(pages, begin)

    @property
    def versions(self) -> int:
        """How many there are."""
        return len(self._deltas) + 1

    def add(self, pages: Sequence[Bytes], begin: Sequence[Bytes | None]) -> None:
        """Pages that had not been there before; in all versions they hold what they begin with."""
        for page, initial in zip(pages, begin, strict=True):
            shadow, own = initial, False
            if shadow is None and _SMALL < page.size <= PAGE and _same(page, _ZEROS):
                shadow = _ZEROS
            elif shadow is None:
                shadow, own = _padded(page), True
                self.size += shadow.size
            self.pages.append(page)
            self._shadows.append(shadow)
            self._own.append(own)

    def keep(self) -> None:
        """What the pages hold now becomes the version after the current one, and the current one.

        If there are later versions, they follow the new one.
        """
        delta: _Delta = {}
        for number, (page, shadow) in enumerate(zip(self.pages, self._shadows, strict=True)):
            if _same(page, shadow):
                continue
            if not self._own[number]:
                shadow = self._shadows[number] = _padded(shadow[: page.size])
                self._own[number] = True
                self.size += shadow.size
            chunks = _differing(page, shadow)
            rows = shadow.reshape(-1, CHUNK)
            delta[number] = _Part(chunks, rows[chunks])
            self.size += delta[number].data.size
            _copy_chunks(page, shadow, chunks)
        if self.current < len(self._deltas):
            self._widen(self._deltas[self.current], delta)
        self._deltas.insert(self.current, delta)
        self.current += 1

    def differences(self) -> dict[tuple[int, int], bytes]:
        """What the pages hold other than in the current version: by page and offset in it."""
        found = {}
        for number, (page, shadow) in enumerate(zip(self.pages, self._shadows, strict=True)):
            if not _same(page, shadow):
                for at in range(0, page.size, CHUNK):
                    if not np.array_equal(page[at : at + CHUNK], shadow[at : min(at + CHUNK, page.size)]):
                        found[number, at] = page[at : at + CHUNK].tobytes()
        return found

    def chunk(self, number: int, at: int) -> bytes:
        """What a page holds at an offset."""
        return self.pages[number][at : at + CHUNK].tobytes()

    def restore(self, version: int) -> None:
        """Let the pages hold what they held in a version; that becomes the current one."""
        self.lay_out(version)
        for page, shadow in zip(self.pages, self._shadows, strict=True):
            if not _same(page, shadow):
                page[:] = shadow[: page.size]

    def forget(self, version: int) -> None:
        """Remove a version that is neither the first nor the current one; those after it are numbered anew."""
        if not 0 < version < self.versions or version == self.current:
            raise ValueError(f"version {version} cannot be forgotten")
        if version == self.versions - 1:
            self._drop(self._deltas.pop())
            return
        near, far = (version - 1, version) if version > self.current else (version, version - 1)
        # The side that is away from the current version is kept: where both have a chunk, that of the farther one.
        kept, other = self._deltas[far], self._deltas[near]
        self._drop(other)
        self._add_missing(kept, other)
        del self._deltas[near]
        if version < self.current:
            self.current -= 1

    def cut_off(self, version: int) -> None:
        """Forget all versions after one, which the current one must not lie behind."""
        if self.current > version:
            raise ValueError("the current version would be forgotten")
        while len(self._deltas) > version:
            self._drop(self._deltas.pop())

    def _drop(self, delta: _Delta) -> None:
        self.size -= sum(part.data.size for part in delta.values())

    def lay_out(self, version: int) -> None:
        """Make a version the current one, whatever the pages hold."""
        step = 1 if version > self.current else -1
        while self.current != version:
            delta = self._deltas[self.current if step > 0 else self.current - 1]
            for number, part in delta.items():
                rows = self._shadows[number].reshape(-1, CHUNK)
                now = rows[part.chunks]
                rows[part.chunks] = part.data
                part.data = now
            self.current += step

    def _widen(self, later: _Delta, new: _Delta) -> None:
        """A version was put in front of ``later``: chunks that changed before it, and not up to the one behind, hold
        there what they held before."""
        self._add_missing(later, {number: _Part(part.chunks, part.data) for number, part in new.items()})

    def _add_missing(self, delta: _Delta, other: _Delta) -> None:
        """Let a delta have what another one has beyond it, whose parts become its own."""
        for number, part in other.items():
            have = delta.get(number)
            if have is None:
                delta[number] = part
                self.size += part.data.size
                continue
            missing = ~np.isin(part.chunks, have.chunks)
            if missing.any():
                have.chunks = np.concatenate([have.chunks, part.chunks[missing]])
                have.data = np.concatenate([have.data, part.data[missing]])
                self.size += int(missing.sum()) * CHUNK


def _same(page: Bytes, shadow: Bytes) -> bool:
    return not _memcmp(page.ctypes.data, shadow.ctypes.data, page.size)


def _padded(page: Bytes) -> Bytes:
    """A copy, up to whole chunks."""
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
    """Bring a page's padded shadow up to it."""
    whole = page.size // CHUNK
    full = chunks[chunks < whole]
    if full.size == whole:
        shadow[: whole * CHUNK] = page[: whole * CHUNK]
    else:
        shadow.reshape(-1, CHUNK)[full] = page[: whole * CHUNK].reshape(whole, CHUNK)[full]
    if full.size < chunks.size:
        shadow[whole * CHUNK : page.size] = page[whole * CHUNK :]


__all__ = ["CHUNK", "PAGE", "Bytes", "PageHistory", "cut"]
