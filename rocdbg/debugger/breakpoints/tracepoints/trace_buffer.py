"""Data collected by tracepoints: records in the order of arrivals, and columns built from them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from rocdbg.arch.lane_sets import lane_list
from rocdbg.debugger.breakpoints.tracepoints.trace_layout import Column, Layout
from rocdbg.debugger.values.numpy_types import dtype_of
from rocdbg.sim.core.checks import RECORD_HEAD

Words = NDArray[np.uint64]
_ALWAYS = {"$_thread": "u4", "$_lane": "u1", "$_instructions": "u8"}
"""Fields that all rows have."""


class TraceFrame(Struct, frozen=True):
    """An arrival: the number of the wave, the instructions that it had executed, and the mask of lanes."""

    number: int
    layout: Layout
    thread: int
    count: int
    lanes: int


class TraceBuffer:
    """Records of tracepoints. ``layout_of`` gives the layout of a record's tag."""

    def __init__(self, layout_of: Callable[[int], Layout]) -> None:
        self._layout_of = layout_of
        self._chunks: list[Words] = []
        self._joined: Words | None = None
        self._at: list[int] = []
        self._tags: list[int] = []
        self.words = 0
        """The number of records."""

    def __len__(self) -> int:
        return len(self._at)

    # -- filling it

    def add(self, words: Words) -> None:
        """Append records of tracepoints."""
        if not words.size:
            return
        start, at, view = self.words, 0, words.data
        sizes: dict[int, tuple[int, int]] = {}
        while at < words.size:
            tag = view[at]
            if tag not in sizes:
                layout = self._layout_of(tag)
                sizes[tag] = RECORD_HEAD + layout.shared_words, layout.lane_words
            self._at.append(start + at)
            self._tags.append(tag)
            fixed, each = sizes[tag]
            at += fixed + each * view[at + 3].bit_count()
        self._chunks.append(words)
        self._joined = None
        self.words += words.size

    def cut(self, frames: int) -> None:
        """Drop all records but the first ``frames``."""
        if frames >= len(self):
            return
        end = self._at[frames]
        kept = self._all[:end].copy()
        del self._at[frames:], self._tags[frames:]
        self._chunks, self._joined, self.words = [kept], kept, end

    def keep_newest(self, words: int) -> None:
        """Drop the oldest records until the others fit into this many words."""
        frames = int(np.searchsorted(np.array(self._at), self.words - words))
        if frames == 0 or self.words <= words:
            return
        begin = self._at[frames] if frames < len(self) else self.words
        kept = self._all[begin:].copy()
        self._at = [at - begin for at in self._at[frames:]]
        del self._tags[:frames]
        self._chunks, self._joined, self.words = [kept], kept, kept.size

    def fitting(self, words: int) -> int:
        """Return how many records, from the first on, fit into this many words."""
        return int(np.searchsorted(np.array([*self._at[1:], self.words]), words, side="right"))

    # -- reading it

    @property
    def _all(self) -> Words:
        if self._joined is None:
            self._joined = np.concatenate(self._chunks) if self._chunks else np.empty(0, np.uint64)
            self._chunks = [self._joined]
        return self._joined

    def numbers(self) -> NDArray[np.int64]:
        """Return the number of each frame's tracepoint."""
        known = {tag: self._layout_of(tag).tracepoint for tag in set(self._tags)}
        return np.array([known[tag] for tag in self._tags], np.int64)

    def pcs(self) -> NDArray[np.uint64]:
        """Return the pc of each frame."""
        known = {tag: self._layout_of(tag).pc for tag in set(self._tags)}
        return np.array([known[tag] for tag in self._tags], np.uint64)

    def usage(self, tracepoint: int) -> int:
        """Return the size in bytes of a tracepoint's records."""
        sizes = np.diff(np.array([*self._at, self.words]))
        return 8 * int(sizes[self.numbers() == tracepoint].sum()) if len(self) else 0

    def frame(self, number: int) -> TraceFrame:
        """One of the frames, numbered from 0."""
        _, thread, count, lanes = map(int, self._all[self._at[number] : self._at[number] + RECORD_HEAD])
        return TraceFrame(number, self._layout_of(self._tags[number]), thread, count, lanes)

    def contents(self, frame: TraceFrame, column: Column, lane: int) -> bytes | None:
        """Return the bytes of a value in a lane of a frame; ``None`` if the value was missing."""
        layout, lanes = frame.layout, lane_list(frame.lanes)
        begin, index = self._at[frame.number] + RECORD_HEAD, lanes.index(lane)
        if column.absent or (layout.by_host and self._mark(frame, column, index, begin, len(lanes))):
            return None
        if column.shared:
            words = self._all[begin + column.first : begin + column.first + column.words]
        else:
            at = begin + layout.shared_words + column.first * len(lanes) + index
            words = self._all[at : at + column.words * len(lanes) : len(lanes)]
        return words.tobytes()[: column.type.size or 0]

    def _mark(self, frame: TraceFrame, column: Column, index: int, begin: int, count: int) -> bool:
        layout = frame.layout
        number = layout.columns.index(column)
        word = layout.lane_words - layout.marks + number // 64
        return bool(int(self._all[begin + layout.shared_words + word * count + index]) >> number % 64 & 1)

    # -- as columns

    def array(self, tracepoint: int) -> NDArray[Any]:
        """Return what a tracepoint has collected, with a row for each lane of each arrival, in order.

        The fields are ``$_thread`` (the wave's number), ``$_lane``, ``$_instructions`` (how many the wave had executed
        before) and the collected values by name. If some are missing (optimized out or unavailable), the array is a
        masked array.
        """
        tags = np.array(self._tags, np.int64)
        wanted = [tag for tag in dict.fromkeys(self._tags) if self._layout_of(tag).tracepoint == tracepoint]
        layouts = {tag: self._layout_of(tag) for tag in wanted}
        fields = {name: np.dtype(kind) for name, kind in _ALWAYS.items()}
        for column in (column for layout in layouts.values() for column in layout.columns):
            kind = dtype_of(column.type)
            if column.name not in _ALWAYS and fields.setdefault(column.name, kind) != kind:
                fields[column.name] = np.dtype(("V", max(kind.itemsize, fields[column.name].itemsize)))
        rows_of = np.flatnonzero(np.isin(tags, wanted))
        at = np.array(self._at, np.int64)[rows_of]
        masks = self._all[at + 3] if at.size else np.empty(0, np.uint64)
        counts = np.unpackbits(masks.view(np.uint8)).reshape(-1, 64).sum(axis=1, dtype=np.int64)
        starts = np.concatenate(([0], np.cumsum(counts)))
        result = np.zeros(int(starts[-1]), np.dtype(list(fields.items())))
        missing = np.zeros(result.shape, np.dtype([(name, bool) for name in fields]))
        for tag, layout in layouts.items():
            for count in np.unique(counts[tags[rows_of] == tag]).tolist():
                chosen = np.flatnonzero((tags[rows_of] == tag) & (counts == count))
                places = (starts[chosen, None] + np.arange(count)).reshape(-1)
                self._fill(result, missing, layout, at[chosen], places, count)
        if any(missing[name].any() for name in fields):
            mask = np.zeros(result.shape, np.ma.make_mask_descr(result.dtype))
            for name in fields:
                _set_mask(mask, name, missing[name])
            return np.ma.MaskedArray(result, mask=mask)
        return result

    def _fill(
        self, result: NDArray[Any], missing: NDArray[Any], layout: Layout, at: NDArray[np.int64],
        places: NDArray[np.int64], count: int,
    ) -> None:
        """Write the rows for records that have the same number of lanes."""
        words = self._all
        heads = words[at[:, None] + np.arange(RECORD_HEAD)]
        lanes = _lanes_of(heads[:, 3], count)
        result["$_thread"][places], result["$_lane"][places] = np.repeat(heads[:, 1], count), lanes
        result["$_instructions"][places] = np.repeat(heads[:, 2], count)
        begin = at + RECORD_HEAD
        shared = words[begin[:, None] + np.arange(layout.shared_words)]
        own = words[(begin + layout.shared_words)[:, None] + np.arange(layout.lane_words * count)]
        own = own.reshape(len(at), layout.lane_words, count).transpose(0, 2, 1)
        own = own.reshape(len(at) * count, layout.lane_words)  # no words per lane if the lanes share all values
        for number, column in enumerate(layout.columns):
            name = column.name
            if name in _ALWAYS:
                continue
            if column.absent:
                missing[name][places] = True
                continue
            source = np.repeat(shared, count, axis=0) if column.shared else own
            part = np.ascontiguousarray(source[:, column.first : column.first + column.words])
            size = result.dtype[name].itemsize
            data = part.view(np.uint8).reshape(len(part), 8 * column.words)
            width = min(size, data.shape[1])
            kept = np.zeros((len(part), size), np.uint8)
            kept[:, :width] = data[:, :width]
            base = result.dtype[name].base
            values = np.ascontiguousarray(kept).view(base).reshape(len(part), *result.dtype[name].shape)
            result[name][places] = values
            if layout.by_host:
                word = own[:, layout.lane_words - layout.marks + number // 64]
                missing[name][places] = (word >> np.uint64(number % 64) & np.uint64(1)).astype(bool)


def _lanes_of(masks: Words, count: int) -> NDArray[np.int64]:
    """Return the lanes in masks that have the same number of lanes."""
    bits = (masks[:, None] >> np.arange(64, dtype=np.uint64) & np.uint64(1)).astype(bool)
    lanes: NDArray[np.int64] = np.nonzero(bits)[1]
    return lanes if count else lanes[:0]


def _set_mask(mask: NDArray[Any], name: str, missing: NDArray[np.bool_]) -> None:
    if mask.dtype[name].names is None:
        part = mask[name]
        part[...] = missing.reshape(missing.shape + (1,) * (part.ndim - 1))
        return
    for inner in mask.dtype[name].names or ():
        _set_mask(mask[name], inner, missing)


def record(tag: int, thread: int, count: int, lanes: Sequence[int], rows: Sequence[Sequence[int]]) -> Words:
    """Build a record of some lanes from the words of each lane."""
    mask = sum(1 << lane for lane in lanes)
    words = [tag, thread, count, mask, *(word for column in zip(*rows, strict=True) for word in column)]
    return np.array(words, np.uint64)


def frames_of(buffer: TraceBuffer, tracepoint: int) -> Iterator[TraceFrame]:
    """Yield the frames of a tracepoint."""
    for number in np.flatnonzero(buffer.numbers() == tracepoint).tolist():
        yield buffer.frame(number)


__all__ = ["TraceBuffer", "TraceFrame", "frames_of", "record"]
