"""Encoding tables under construction: rows whose items contain vectors instead of their numbers, and a table of such
rows in memory.
"""

from __future__ import annotations

from typing import Any, ClassVar

from rocdbg.isa.encoding_layouts import Layout, insert
from rocdbg.isa.encoding_table import ItemTag, Table, pack, parse_bits
from rocdbg.isa.generate.value_pools import Pool


class DraftRow:
    """A row: its items are those of a table, but with vectors instead of their numbers."""

    PLACES: ClassVar = {"o": 3, "m": 3, "n": 6, "N": 6, "w": 4}

    def __init__(self, mnemonic: str, size: int, items: list[list[Any]]) -> None:
        self.mnemonic, self.size, self.items = mnemonic, size, items
        self.base = 0
        """A legal encoding of the row."""
        self.asked = mnemonic
        """The mnemonic under which the row was passed to the assembler."""
        self.key = 0

    def signature(self, layout: Layout, texts: Pool) -> list[Any]:
        """The table's data for the row; bits outside fields must be as in the base."""
        covered = layout.mask | insert(layout.opcode, -1)
        for selector in layout.selectors:
            covered |= insert(selector.bits, -1)
        items = []
        for item in self.items:
            for place in field_bits(item):
                covered |= insert(parse_bits(item[place]), -1)
            if item[0] == ItemTag.OPERAND:
                covered |= sum(1 << bit for bit in item[5:8] if bit >= 0)
            pooled = self.PLACES.get(item[0])
            if pooled is not None and not isinstance(item[pooled], int):
                values = pack(item[pooled]) if item[0] in ("o", "m") else item[pooled]
                item = [*item[:pooled], texts.number(values), *item[pooled + 1 :]]
            items.append(item)
        mask = ~covered & (1 << 32 * layout.dwords) - 1
        literal = any(item[0] == ItemTag.LITERAL for item in items)
        size = 4 * layout.dwords + (4 if literal else 0)
        return [size, hex(mask), hex(self.base & mask), items]


def field_bits(item: list[Any]) -> tuple[int, ...]:
    """The positions in an item that name bits of the encoding."""
    if item[0] == ItemTag.REGISTERS:
        return (2, 3) if item[3] else (2,)
    return (2,) if item[0] in DraftRow.PLACES else ()


class Draft(Table):
    """A table in memory."""

    def __init__(self, raw: dict[str, Any]) -> None:
        self.target, self.family, self.raw = raw["target"], raw["family"], raw
        self._texts, self._dwords = {}, {}

    @classmethod
    def of(
        cls, target: str, family: str, rows: dict[tuple[str, int], DraftRow], forms: dict[str, Layout]
    ) -> Draft:
        """The table that holds some rows."""
        texts, signatures = Pool(), Pool()
        sections: dict[str, dict[str, list[Any]]] = {}
        for (name, key), row in rows.items():
            number = signatures.number(row.signature(forms[name], texts))
            sections.setdefault(name, {})[str(key)] = [row.mnemonic, number]
        count = sum(map(len, sections.values()))
        return cls({
            "target": target, "family": family, "from": "LLVM 22", "count": count, "rows": sections,
            "signatures": signatures.values, "texts": texts.values,
        })

    def rows(self, layout: str, wave_size: int) -> dict[str, list[Any]]:
        found: dict[str, list[Any]] = self.raw["rows"].get(layout, {})
        return found

    def signature(self, number: int) -> Any:
        return self.raw["signatures"][number]

    def values(self, number: int) -> list[Any]:
        found: list[Any] = self.raw["texts"][number]
        return found
