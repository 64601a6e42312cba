"""Forwards the text that kernels print to the output.

When a part of the run is repeated, kernels print again. Each source of text is a stream of bytes, of which the first
``delivered`` have been passed on; the output of a repetition up to that position is suppressed.
"""

from __future__ import annotations

import codecs
from collections.abc import Callable
from enum import IntEnum

from msgspec import Struct, field


class Stream(IntEnum):
    """The two output streams of programs, by file descriptor."""

    STDOUT = 1
    STDERR = 2


Sink = Callable[[str, Stream], None]
"""Receives text. Bytes that are not UTF-8 are surrogates, as ``surrogateescape`` decodes them."""

Positions = tuple[tuple[tuple[str, int], int], ...]
"""How much each source has printed: (name of the source, descriptor), bytes."""


class ProgramOutput(Struct):
    """Passes the bytes of each source to ``sink``, every byte only once."""

    sink: Sink | None = None
    _printed: dict[tuple[str, int], int] = field(default_factory=dict)
    _delivered: dict[tuple[str, int], int] = field(default_factory=dict)
    _decoders: dict[int, codecs.IncrementalDecoder] = field(default_factory=dict)

    def write(self, source: str, stream: Stream, data: bytes) -> None:
        """Print bytes of a source."""
        key = (source, int(stream))
        before = self._printed.get(key, 0)
        self._printed[key] = before + len(data)
        delivered = self._delivered.get(key, 0)
        new = data[max(0, delivered - before) :]
        if not new:
            return
        self._delivered[key] = before + len(data)
        decoder = self._decoders.get(stream)
        if decoder is None:
            decoder = self._decoders[stream] = codecs.getincrementaldecoder("utf-8")("surrogateescape")
        self._pass_on(decoder.decode(new), stream)

    def flush(self) -> None:
        """Pass on the bytes of an incomplete character, because nothing more is expected."""
        for number, decoder in self._decoders.items():
            self._pass_on(decoder.decode(b"", True), Stream(number))
            decoder.reset()

    def _pass_on(self, text: str, stream: Stream) -> None:
        if text and self.sink is not None:
            self.sink(text, stream)

    # -- time

    def positions(self) -> Positions:
        """Current positions of the streams, for `restore`."""
        return tuple(self._printed.items())

    def restore(self, positions: Positions) -> None:
        """Set the positions of the streams after the run went back to that point."""
        self._printed = dict(positions)

    def branch(self) -> None:
        """Note that the run continues differently from here, so that new output is shown."""
        self._delivered = dict(self._printed)


__all__ = ["Positions", "ProgramOutput", "Sink", "Stream"]
