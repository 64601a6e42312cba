"""Finds the number of dynamic symbols, which only the hash tables of the dynamic segment state."""

from __future__ import annotations

import struct
from collections.abc import Mapping

import numpy as np

from rocdbg.codeobject.elf import Elf

DT_HASH, DT_GNU_HASH = 4, 0x6FFFFEF5

_GNU = struct.Struct("<4I")
"""Number of buckets, index of the first hashed symbol, words of the Bloom filter, its shift."""


def dynamic_symbol_count(elf: Elf, tags: Mapping[int, int]) -> int:
    """The number of dynamic symbols, from the table of DT_HASH or that of DT_GNU_HASH; 0 if there is neither.

    Raises `CodeObjectError` for a table that is not entirely in the file.
    """
    if DT_HASH in tags:
        # The second word is the number of chains, one for each symbol.
        return int.from_bytes(elf.read(tags[DT_HASH] + 4, 4, "DT_HASH"), "little")
    return _of_gnu_hash(elf, tags[DT_GNU_HASH]) if DT_GNU_HASH in tags else 0


def _of_gnu_hash(elf: Elf, address: int) -> int:
    """The number from a GNU hash table. Symbols are sorted by bucket: the last one ends the chain of the bucket that
    begins last."""
    what = "DT_GNU_HASH"
    buckets: int
    first_hashed: int
    buckets, first_hashed, bloom_words, _ = _GNU.unpack(elf.read(address, _GNU.size, what))
    at = address + _GNU.size + 8 * bloom_words
    starts = np.frombuffer(elf.read(at, 4 * buckets, what), "<u4")
    last: int = int(starts.max(initial=0))
    if last < first_hashed:
        return first_hashed
    chain = at + 4 * buckets + 4 * (last - first_hashed)
    offset = elf.file_offset(chain, 4, what)
    count = (len(elf.source) - offset) // 4
    # the lowest bit marks the end of a chain
    for at in range(0, count, _WORDS):
        words = np.frombuffer(elf.source.bytes_at(offset + 4 * at, 4 * min(_WORDS, count - at), what), "<u4")
        ends = np.flatnonzero(words & 1)
        if len(ends):
            return last + at + int(ends[0]) + 1
    raise elf.source.error("the last chain of the hash table does not end", section=what, offset=offset)


_WORDS = 4096
"""Words of a chain that are examined at once."""
