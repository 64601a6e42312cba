"""The instruction cache: the code that waves execute, which may differ from what is in memory.

Hardware does not notice stores to code until its instruction cache is invalidated. Here the cache has lines of 64 KiB
and unlimited size, so that what is executed does not depend on how a run is divided into blocks, steps and turns:

* a line is filled when the first wave is about to execute an instruction in it;
* a store by a kernel does not change any line;
* s_icache_inv, and the start of a dispatch, reload every line from memory;
* a write of the host changes the bytes that it wrote, at once.

Instructions are decoded from lines only, and translations are stored under the bytes that were decoded
(`InstructionCache.code_at`): reading memory again could give different bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from rocdbg.isa.decoder import DecodeError
from rocdbg.isa.instruction import Instruction

Fetch = Callable[[int, int], bytes]
"""Bytes of code memory at (address, size); short or empty where nothing executable is mapped."""

LINE_SIZE = 1 << 16
"""Bytes of a line. Blocks do not extend beyond filled lines."""
LONGEST = 24
"""The most bytes on which the decoding of an instruction may depend."""
_GAP = 256  # unchanged bytes that separate two changed ranges


class InstructionCache:
    """The lines that waves have executed in, and the instructions decoded from them."""

    def __init__(self, fetch: Fetch, decode: Callable[[bytes, int], Instruction]) -> None:
        self._fetch = fetch
        self._decode = decode
        self._lines: dict[int, bytes] = {}
        self._decoded: dict[int, tuple[Instruction, bytes]] = {}

    def fill(self, pc: int) -> None:
        """Make sure that the bytes of the instruction at ``pc``, which a wave is about to execute, are in the cache."""
        for line in {pc & -LINE_SIZE, (pc + LONGEST - 1) & -LINE_SIZE}:
            if not self._lines.get(line):
                self._lines[line] = self._fetch(line, LINE_SIZE)

    def decode(self, address: int) -> Instruction | None:
        """The instruction at an address; None if a line that it needs is not filled, or if the code ends there."""
        known = self._decoded.get(address)
        if known is None:
            code = self._bytes(address)
            if len(code) < 4:
                return None
            try:
                instruction = self._decode(code, address)
            except DecodeError:
                return None  # the code ends within the instruction
            known = self._decoded[address] = instruction, code[: instruction.size]
        return known[0]

    def code_at(self, address: int) -> bytes:
        """The bytes from which `decode` made the instruction at this address."""
        return self._decoded[address][1]

    def write(self, lo: int, hi: int) -> None:
        """Update the cache after the host has written to [lo, hi), or unmapped it."""
        for line in [line for line in self._lines if line < hi and lo < line + LINE_SIZE]:
            old = self._lines[line]
            if lo <= line and line + len(old) <= hi:
                del self._lines[line]  # the code may have been unmapped: fill the line again when a wave reaches it
                continue
            new = self._fetch(line, LINE_SIZE)
            first, end = max(lo - line, 0), hi - line
            self._lines[line] = old[:first] + new[first:end] + old[end:]
        self._drop(lo, hi)

    def refresh(self) -> Iterator[tuple[int, int]]:
        """Reload all lines from memory. Yields the ranges [lo, hi) that change, each before its line changes."""
        for line, old in list(self._lines.items()):
            new = self._fetch(line, LINE_SIZE)
            if new != old:
                for lo, hi in _differences(old, new):
                    yield line + lo, line + hi
                    self._drop(line + lo, line + hi)
                self._lines[line] = new

    @property
    def lines(self) -> dict[int, bytes]:
        """The contents of the filled lines, by address."""
        return dict(self._lines)

    def replace(self, lines: dict[int, bytes]) -> Iterator[tuple[int, int]]:
        """Hold exactly these lines. Yields the ranges [lo, hi) that change.

        A line that is not among them is kept if it equals memory, because it would be filled with the same bytes.
        """
        for line, old in list(self._lines.items()):
            new = lines.get(line)
            if new is None:
                new = self._fetch(line, LINE_SIZE)
            if new != old:
                yield line, line + max(len(old), len(new))
                self._drop(line, line + LINE_SIZE)
        self._lines = dict(lines)

    def _bytes(self, address: int) -> bytes:
        """Up to `LONGEST` bytes at an address, empty if they are not all in filled lines."""
        line = address & -LINE_SIZE
        data = self._lines.get(line, b"")
        code = data[address - line : address - line + LONGEST]
        if len(code) < LONGEST and len(data) == LINE_SIZE:
            following = self._lines.get(line + LINE_SIZE)
            if following is None:
                return b""
            code += following[: LONGEST - len(code)]
        return code

    def _drop(self, lo: int, hi: int) -> None:
        self._decoded = {a: known for a, known in self._decoded.items() if a + LONGEST <= lo or hi <= a}


def _differences(old: bytes, new: bytes) -> Iterator[tuple[int, int]]:
    """Ranges of offsets [lo, hi) that cover all differences; they are at least `_GAP` bytes apart."""
    size = min(len(old), len(new))
    if len(old) != len(new):
        yield size, max(len(old), len(new))
    places = np.flatnonzero(np.frombuffer(old, np.uint8, size) != np.frombuffer(new, np.uint8, size))
    if places.size:
        breaks = np.flatnonzero(np.diff(places) > _GAP)
        firsts = [places[0], *places[breaks + 1]]
        for first, last in zip(firsts, [*places[breaks], places[-1]], strict=True):
            yield int(first), int(last) + 1
