"""Debugging information entries."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rocdbg.dwarf.info.attributes import AttributeValue

if TYPE_CHECKING:
    from rocdbg.dwarf.info.unit import Unit


class Die:
    """An entry: tag, attributes, children. ``offset`` in ``.debug_info``; ``tag`` a DW_TAG_* number."""

    offset: int
    tag: int
    unit: Unit

    def attribute(self, code: int) -> AttributeValue | None:
        """The attribute with that code, of this very entry; None when absent."""
        raise NotImplementedError

    @property
    def attributes(self) -> dict[int, AttributeValue]:
        """All attributes by code."""
        raise NotImplementedError

    @property
    def children(self) -> Iterator[Die]:
        """The entries directly below."""
        raise NotImplementedError

    @property
    def parent(self) -> Die | None:
        """The entry above; None for the top entry of a unit."""
        raise NotImplementedError
