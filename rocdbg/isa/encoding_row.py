"""Rows of the encoding tables, prepared for decoding: one opcode in one layout each."""

from __future__ import annotations

import re
from typing import Any

from msgspec.structs import replace

from rocdbg.isa.encoding_layouts import GFX12, Layout, extract
from rocdbg.isa.encoding_table import ItemTag, Table, base_name
from rocdbg.isa.instruction import Operand
from rocdbg.isa.row_items import Item, OperandItem, Reading, items_of

_HALF = re.compile(r"(?<=\d)\.[lh]\b")
_NOT_MODIFIERS = frozenset({"saddr_off", "return", "sve", "imm", "soffset_en", "soffset_off"})
"""Selectors that are already visible in the operands."""

Parts = tuple[int, tuple[Operand, ...], dict[str, int | str], str]


class CompiledRow:
    """One opcode. ``read`` turns an instruction word into operands, modifiers and text, or None if it is illegal.

    Its items are made when an instruction first needs them.
    """

    __slots__ = (
        "_fixed", "_items", "_late_bars", "_layout", "_packed", "_silent_halves", "_size", "_split", "_table",
        "mnemonic", "must_mask", "must_value", "name",
    )

    def __init__(self, packed: list[Any], layout: Layout, number: int, table: Table) -> None:
        """``packed``: mnemonic and number of the signature; ``number``: the row's opcode and case."""
        self.mnemonic: str = packed[0]
        self.name = base_name(self.mnemonic.partition(" :: ")[0])
        size, mask, value, self._packed = table.signature(packed[1])
        self._size: int = size
        self.must_mask, self.must_value = int(mask, 16), int(value, 16)
        self._items: list[Item] | None = None
        self._table, self._layout = table, layout
        self._fixed = _selected(layout, number)
        self._split = 0
        # Where LLVM does not have halves of registers (GFX12 by default), it does not print all of the bits that select
        # halves.
        printed = any(item[:2] == [ItemTag.MODIFIER, "op_sel"] for item in self._packed)
        self._silent_halves = (
            table.family in GFX12 and layout.encoding == "VOP3" and "16" in self.name and not printed
            and "op_sel" in layout.modifiers
        )
        # LLVM closes the bars of the second source after vcc.
        self._late_bars = (
            self.name.startswith("v_cndmask") and layout.name == "VOP2_DPP" and table.family in GFX12
        )

    def _compile(self) -> list[Item]:
        items = self._items = items_of(self._packed, self.name, self._layout, self._table)
        if " :: " in self.mnemonic:
            self._split = next(n for n, i in enumerate(items) if isinstance(i, OperandItem) and i.name == "vdsty")
        return items

    def read(self, word: int, overflow: bool = False) -> Parts | None:
        """Decode; ``overflow``: image registers would extend past the last one, so their default counts are used."""
        out = Reading(self._size, self._fixed, overflow)
        for item in self._items or self._compile():
            if not item.read(word, out):
                return self.read(word, True) if out.overflow and not overflow else None
        operands, words, modifiers = out.operands, out.words, out.modifiers
        if self._layout.src0 == (249,):
            modifiers["sdwa"] = 1
        if self._silent_halves and (selected := extract(word, self._layout.modifiers["op_sel"])):
            modifiers["op_sel"] = selected
        if out.whole:
            operands = [replace(o, text=_HALF.sub("", o.text), half=None) for o in operands]
            words = [_HALF.sub("", word) for word in words]
        if self._late_bars and words[2].endswith("|"):
            words[2:] = [words[2][:-1], words[3] + "|"]
        text = self.mnemonic
        if self._split:
            first, _, second = text.partition(" :: ")
            modifiers["opy"] = second
            text = f"{first} {', '.join(words[: self._split])} :: {second} {', '.join(words[self._split :])}"
        elif self._layout.encoding == "EXP":
            text += f" {words[0]} {', '.join(words[1:])}"
        elif words:
            text += " " + ", ".join(words)
        if out.tail:
            text += " " + " ".join(out.tail)
        return out.size, tuple(operands), modifiers, text


def _selected(layout: Layout, number: int) -> dict[str, int]:
    """The modifiers that follow from a row's case."""
    fixed = {}
    for selector in reversed(layout.selectors):
        number, index = divmod(number, len(selector.codes) + 1)
        if index and selector.name not in _NOT_MODIFIERS:
            fixed[selector.name] = 1
    return fixed


__all__ = ["CompiledRow", "Parts"]
