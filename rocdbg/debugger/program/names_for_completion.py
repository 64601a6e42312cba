"""The names of a program for completion, gathered bit by bit."""

from __future__ import annotations

import time
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator

from rocdbg.dwarf.info.all_names import DeclaredName, NameKind

MOST = 200
"""Names that are given at once."""
CHUNK = 4096
"""Names that are sorted at once."""


class NameList:
    """The names that ``source`` gives, with ``None`` now and then, after so much work as may be done between two looks
    at the clock.

    `advance` gathers for a while, `finish` all of them; until then `starting` knows those that were gathered.
    """

    def __init__(self, source: Callable[[], Iterator[DeclaredName | None]]) -> None:
        self._source: Iterator[DeclaredName | None] | None = _started(source)
        self._sorted: dict[NameKind, list[list[str]]] = {kind: [] for kind in NameKind}
        """Names in chunks, each of which is sorted: no key waits until all of them are."""
        self._latest: dict[NameKind, list[str]] = {kind: [] for kind in NameKind}
        """Those that are in no chunk yet."""
        self._offsets: dict[str, int] = {}

    @property
    def complete(self) -> bool:
        """Whether all names are known."""
        return self._source is None

    def advance(self, seconds: float) -> bool:
        """Gather for about that long; whether all names are known."""
        end = time.monotonic() + seconds
        while self._source is not None and time.monotonic() < end:
            self._gather()
        return self.complete

    def finish(self) -> None:
        """Gather the rest."""
        while self._source is not None:
            self._gather()

    def _gather(self) -> None:
        """What the source gives up to its next pause."""
        source = self._source
        assert source is not None
        for item in source:
            if item is None:
                return
            latest = self._latest[item.kind]
            latest.append(item.name)
            if len(latest) == CHUNK:
                self._sort(item.kind)
            if item.kind is NameKind.FUNCTION:
                self._offsets.setdefault(item.name, item.offset)
        self._source = None
        for kind in NameKind:
            self._sort(kind)

    def _sort(self, kind: NameKind) -> None:
        latest = self._latest[kind]
        if latest:
            self._sorted[kind].append(sorted(set(latest)))
            self._latest[kind] = []

    def starting(self, prefix: str, kinds: Iterable[NameKind]) -> list[str]:
        """The first names of some kinds that start so, at most `MOST` of each kind, sorted; of those gathered."""
        found: list[str] = []
        for kind in kinds:
            fit = {name for name in self._latest[kind] if name.startswith(prefix)}
            for names in self._sorted[kind]:
                first = bisect_left(names, prefix)
                fit.update(name for name in names[first : first + MOST] if name.startswith(prefix))
            found += sorted(fit)[:MOST]
        return found

    def function_at(self, name: str) -> int | None:
        """The offset of the entry of a function, by its qualified name."""
        return self._offsets.get(name)


def _started(source: Callable[[], Iterator[DeclaredName | None]]) -> Iterator[DeclaredName | None]:
    """What a source gives, which is asked when the first name is wanted."""
    yield from source()
