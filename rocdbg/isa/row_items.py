"""Items of a row. An item converts one field, or one word, of an instruction to operands, modifiers and text.

``tables/README.md`` describes their grammar in the tables.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from rocdbg.isa.encoding_layouts import GFX12, Layout, extractor, width
from rocdbg.isa.encoding_table import WHOLE_REGISTERS, ItemTag, Table, parse_bits
from rocdbg.isa.immediates import EXCEPTION_MASKS, LITERAL_STYLES, STYLES, hwreg, wide_constant, wide_literal
from rocdbg.isa.inline_constants import constant_bits, constant_type, inline_code, literal_value
from rocdbg.isa.instruction import Operand, OperandKind
from rocdbg.isa.operand_text import register_operand, with_modifiers

_SHORT_INTEGERS = re.compile(r"^v_(?!cmp|bitop3).*_[iub]16$")  # the bits of v_bitop3 are a truth table
_VALUE = re.compile(r"^([a-z_0-9]+):(.*)$")
_ALWAYS = frozenset({
    "op_sel_hi", "dst_sel", "dst_unused", "src0_sel", "src1_sel", "dpp_ctrl", "row_mask", "bank_mask", "dpp8", "format",
})
"""Modifiers that are recorded even if they are zero, because zero has a meaning."""
_IN_OPERANDS = frozenset(("abs", "neg", "src0_neg", "src0_abs", "src1_neg", "src1_abs", "src0_sext", "src1_sext"))
"""Modifiers that are already visible in the operands."""
_MASK32, _MASK64 = (1 << 32) - 1, (1 << 64) - 1


class Reading:
    """The result so far of applying the items of a row to an instruction word.

    ``words`` are the printed operands, ``tail`` the words after them; ``size`` is in bytes. ``whole``: 16-bit operands
    are printed without halves. ``overflow``: image registers would extend past the last one, so their default counts
    are used.
    """

    __slots__ = ("modifiers", "opened", "operands", "overflow", "size", "tail", "whole", "words")

    def __init__(self, size: int, fixed: dict[str, int], overflow: bool) -> None:
        self.size = size
        self.operands: list[Operand] = []
        self.words: list[str] = []
        self.tail: list[str] = []
        self.modifiers: dict[str, int | str] = dict(fixed)
        self.whole = False
        self.overflow = overflow
        self.opened = 0

    def add(self, operand: Operand) -> None:
        """Append an operand that is printed."""
        self.operands.append(operand)
        self.words.append(operand.text)

    def note(self, text: str) -> None:
        """Record modifiers given as words: ``gds``, ``offset:16``."""
        for word in text.split():
            if match := _VALUE.match(word):
                if match[1] not in ("th", "scope"):
                    self.modifiers[match[1]] = _number(match[2])
            elif word.isidentifier():
                self.modifiers[word] = 1


def _number(text: str) -> int | str:
    try:
        return int(text, 0)
    except ValueError:
        return text


class Row(Struct, frozen=True):
    """The row for which items are made: name of the instruction, layout, table, and the items before, in order.

    ``silent_signs``: hardware also applies the sign bits of VOP3 to 16-bit integers (measured for v_mad_i32_i16); LLVM
    accepts them there, but prints nothing.
    """

    name: str
    layout: Layout
    table: Table
    silent_signs: bool
    before: list[Item]


class Item(ABC):
    """One step of decoding an instruction."""

    __slots__ = ()

    @abstractmethod
    def __init__(self, row: Row, *fields: Any) -> None:
        """``fields``: what follows the tag."""

    @abstractmethod
    def read(self, word: int, out: Reading) -> bool:
        """Add what the instruction word encodes; returns False if it is illegal."""


class OperandItem(Item):
    """An operand whose text is selected by bits; operands are made when first used."""

    __slots__ = (
        "_abs", "_behind", "_code", "_dwords", "_family", "_literal", "_made", "_mnemonic", "_neg", "_printed", "_sext",
        "_signs", "_texts", "name", "type",
    )

    def __init__(
        self, row: Row, name: str, bits: str, texts: int, literal: str, neg: int, abs: int, sext: int
    ) -> None:
        table = row.table
        self.name = name
        self._code = extractor(parse_bits(bits))
        self._texts = table.texts(texts)
        if name == "vdst" and any(t is not None and t.startswith("s") for t in self._texts[:2]):
            self.name = "sdst"  # in VOP3, comparisons and v_readlane have a scalar result in the vdst field
        self._dwords = table.dwords(texts)
        self._literal = literal
        style = literal if literal not in ("", "invalid", "k", "word", "plain") else ""
        self.type = style.rstrip("il") or constant_type(row.name, self.name, self._dwords, table.literal_types)
        self._mnemonic, self._family = row.name, table.family
        self._behind = 4 * row.layout.dwords
        self._made: dict[int, Operand] = {}
        self._neg, self._abs, self._sext = (1 << bit if bit >= 0 else 0 for bit in (neg, abs, sext))
        self._signs = self._neg | self._abs | self._sext
        self._printed = self._signs != 0
        if not self._printed and row.silent_signs and name.startswith("src"):
            source = int(name[3])
            self._neg, self._abs = 1 << 61 + source, 1 << 8 + source
            self._signs = self._neg | self._abs

    def read(self, word: int, out: Reading) -> bool:
        code = self._code(word)
        operand = self._made.get(code)
        if operand is None:
            text = self._texts[code]
            if text is None:
                return False
            operand = self._made[code] = self._make(code, text)
        if operand.kind is OperandKind.LITERAL:
            operand = self._literal_behind(word, operand, out)
        if word & self._signs:
            neg, absolute = word & self._neg != 0, word & self._abs != 0
            if self._printed:
                operand = with_modifiers(operand, neg, absolute, word & self._sext != 0)
            else:
                operand = replace(operand, neg=neg, abs=absolute)
        out.operands.append(operand)
        out.words.append(operand.text)
        return True

    def _make(self, code: int, text: str) -> Operand:
        operand = register_operand(self.name, text, self._family)
        if operand is not None:
            if operand.kind is OperandKind.SPECIAL and operand.dwords < self._dwords and operand.index >= 230:
                operand = Operand(self.name, operand.kind, operand.index, self._dwords, text=text)
            return operand
        if text in ("LITERAL", "LITERAL64"):
            return Operand(self.name, OperandKind.LITERAL, text=text)
        code = inline_code(code, self._texts)
        bits = constant_bits(code, self.type, text)
        if bits is None:
            return Operand(self.name, OperandKind.IMMEDIATE, -1, 0, code, text=text)
        size = 64 if self.type.endswith("64") else 16 if self.type in ("f16", "bf16", "b16") else 32
        return Operand(
            self.name, OperandKind.CONSTANT, code, self._dwords, bits, bits=size, type=self.type, text=text
        )

    def _literal_behind(self, word: int, placeholder: Operand, out: Reading) -> Operand:
        """Read the literal after the instruction, of 32 or 64 bits. Narrower operands use the low bits of a 64-bit
        literal.
        """
        wide = placeholder.text == "LITERAL64"
        value = word >> 8 * self._behind & (_MASK64 if wide else _MASK32)
        out.size = self._behind + (8 if wide else 4)
        bits, size = value, 64
        if not wide:
            text = LITERAL_STYLES[self._literal](value)
            bits, size = literal_value(value, self.type, self._mnemonic)
        else:
            text = wide_literal(value, self._literal, self._dwords)
            if self._dwords == 1:
                bits, size = literal_value(value & _MASK32, self.type, "")
        return Operand(
            self.name, OperandKind.LITERAL, -1, self._dwords, bits, bits=size, type=self.type, text=text
        )


class ModifierItem(Item):
    """A modifier whose text is selected by bits."""

    __slots__ = ("_code", "_field", "_name", "_row", "_texts")

    def __init__(self, row: Row, name: str, bits: str, texts: int) -> None:
        where = parse_bits(bits)
        self._name, self._code, self._texts = name, extractor(where), row.table.texts(texts)
        self._row = row
        self._field = extractor(row.layout.modifiers.get(name, where))

    def read(self, word: int, out: Reading) -> bool:
        code = self._code(word)
        text = self._texts[code]
        if text is None:
            return False
        if text.startswith(WHOLE_REGISTERS):
            text = text.removeprefix(WHOLE_REGISTERS)
            out.whole = True
        if text:
            out.tail.append(text)
        self._note(code, text, word, out)
        return True

    def _note(self, code: int, text: str, word: int, out: Reading) -> None:
        name, layout = self._name, self._row.layout
        if name == "cpol":
            out.note(text)
            if self._row.table.family in GFX12:
                scalar = layout.encoding == "SMEM"
                out.modifiers["scope"] = word >> (21 if scalar else 50) & 3
                out.modifiers["th"] = word >> 23 & 3 if scalar else word >> 52 & 7
        elif name == "bitop3":
            out.note(text)
        elif name == "fi" and layout.name.endswith("DPP8"):
            if code == 2:
                out.modifiers["fi"] = 1
        elif name not in _IN_OPERANDS and (code or name in _ALWAYS):
            value = self._field(word)
            if value or name in _ALWAYS:
                out.modifiers[name] = value


class _Number(Item):
    """A field printed as a number in some style."""

    __slots__ = ("_code", "_exceptions", "_mask", "_name", "_prefix", "_signed", "_silent", "_width", "_write")

    def __init__(
        self, row: Row, name: str, bits: str, style: str, prefix: str, silent: int, exceptions: int
    ) -> None:
        where = parse_bits(bits)
        self._name, self._code, self._prefix, self._silent = name, extractor(where), prefix, silent
        self._width = width(where)
        self._signed = style.startswith("signed") and name != "simm16"
        texts: dict[int, str] = dict(row.table.values(exceptions)) if exceptions >= 0 else {}
        self._exceptions, self._mask = texts, EXCEPTION_MASKS.get(style, -1)
        self._write: Callable[[int, int], str]
        if style == "hwreg":  # names of hardware registers, which are printed with their bit ranges
            self._exceptions = {}
            self._write = lambda code, _: hwreg(code, texts)
        else:
            self._write = STYLES[style]

    def _value(self, word: int) -> tuple[int, str]:
        """Value and text."""
        code = self._code(word)
        if self._silent and code == 0:
            return 0, ""
        text = self._exceptions.get(code & self._mask)
        if text is None:
            text = self._prefix + self._write(code, self._width)
        negative = self._signed and code >> (self._width - 1)
        return code - (1 << self._width) if negative else code, text


class NumberItem(_Number):
    """An immediate operand."""

    __slots__ = ()

    def read(self, word: int, out: Reading) -> bool:
        value, text = self._value(word)
        out.operands.append(
            Operand(self._name, OperandKind.IMMEDIATE, -1, 0, value, bits=self._width, text=text)
        )
        if text:
            out.words.append(text)
        return True


class NumberModifierItem(_Number):
    """A modifier that is a number."""

    __slots__ = ()

    def read(self, word: int, out: Reading) -> bool:
        value, text = self._value(word)
        if text:
            out.tail.append(text)
        if value:
            out.modifiers[self._name] = value
        return True


UNUSED = -2
"""The count that means that the operand does not exist and its bits must be zero."""


class RegistersItem(Item):
    """Vector registers of an image instruction: other fields give their number."""

    __slots__ = ("_code", "_control", "_counts", "_default", "_name")

    def __init__(self, row: Row, name: str, bits: str, controls: str, counts: int, default: int) -> None:
        self._name, self._code, self._default = name, extractor(parse_bits(bits)), default
        self._control = extractor(parse_bits(controls or "0+0"))
        self._counts: tuple[int, ...] = tuple(c for c, n in row.table.values(counts) for _ in range(n))

    def read(self, word: int, out: Reading) -> bool:
        low, count, default = self._code(word), self._counts[self._control(word)], self._default
        if count == UNUSED and not low:
            count = 0
        if count < 0:
            return False
        if out.overflow:
            count = default if default >= 0 else count
        elif low + count > 256 and 0 <= default != count:
            out.overflow = True
            return False
        if count:
            text = f"v{low}" if count == 1 else f"v[{low}:{low + count - 1}]"
            out.add(Operand(self._name, OperandKind.VGPR, low, count, text=text))
        return True


class OpenItem(Item):
    """Marks where a list of operands begins."""

    __slots__ = ()

    def __init__(self, row: Row) -> None:
        pass

    def read(self, word: int, out: Reading) -> bool:
        out.opened = len(out.words)
        return True


class CloseItem(Item):
    """Marks where a list of operands ends; it is in brackets if there are several."""

    __slots__ = ()

    def __init__(self, row: Row) -> None:
        pass

    def read(self, word: int, out: Reading) -> bool:
        if len(out.words) > out.opened + 1:
            out.words[out.opened :] = [f"[{', '.join(out.words[out.opened :])}]"]
        return True


class LiteralItem(Item):
    """A literal that the instruction always has, after its other dwords: the K of v_madak and v_fmamk."""

    __slots__ = ("_behind", "_half", "_style")

    def __init__(self, row: Row, style: str) -> None:
        self._style = style
        self._behind = 4 * row.layout.dwords
        self._half = row.name.endswith("16") and not row.name.startswith("v_dual_")

    def read(self, word: int, out: Reading) -> bool:
        value = word >> 8 * self._behind
        if self._style == "k64":
            out.size = self._behind + 8
            value &= _MASK64
            dwords, bits, type, text = 2, 64, "f64", wide_constant(value)
        else:
            out.size = self._behind + 4
            value &= _MASK32
            text = LITERAL_STYLES[self._style](value)
            dwords, bits, type = (1, 16, "f16") if self._half else (1, 32, "b32")
        value &= (1 << bits) - 1
        out.add(Operand("literal", OperandKind.LITERAL, -1, dwords, value, bits=bits, type=type, text=text))
        return True


class FixedItem(Item):
    """An operand that does not depend on bits: vcc, off, m0, a zero."""

    __slots__ = ("operand",)

    def __init__(self, row: Row, text: str) -> None:
        name = "src2"
        if text == "off":
            named = any(
                (isinstance(item, OperandItem) and item.name == "vaddr")
                or (isinstance(item, FixedItem) and item.operand.text == "off")
                for item in row.before
            )
            name = "saddr" if named and row.layout.encoding in ("GLOBAL", "SCRATCH") else "vaddr"
        elif row.layout.encoding == "VOPC" or len(row.before) < 2:
            name = "sdst"
        operand = register_operand(name, text, row.table.family)
        self.operand: Operand = operand or Operand(name, OperandKind.IMMEDIATE, -1, 0, text=text)

    def read(self, word: int, out: Reading) -> bool:
        out.add(self.operand)
        return True


class FixedModifierItem(Item):
    """A word of the tail that does not depend on bits."""

    __slots__ = ("_text",)

    def __init__(self, row: Row, text: str) -> None:
        self._text = text

    def read(self, word: int, out: Reading) -> bool:
        out.tail.append(self._text)
        out.note(self._text)
        return True


_CLASSES: dict[str, type[Item]] = {
    ItemTag.OPERAND: OperandItem,
    ItemTag.MODIFIER: ModifierItem,
    ItemTag.NUMBER: NumberItem,
    ItemTag.NUMBER_MODIFIER: NumberModifierItem,
    ItemTag.REGISTERS: RegistersItem,
    ItemTag.OPEN: OpenItem,
    ItemTag.CLOSE: CloseItem,
    ItemTag.LITERAL: LiteralItem,
    ItemTag.FIXED: FixedItem,
    ItemTag.FIXED_MODIFIER: FixedModifierItem,
}


def items_of(packed: list[list[Any]], name: str, layout: Layout, table: Table) -> list[Item]:
    """The items of a signature, for an instruction with a name and layout."""
    items: list[Item] = []
    row = Row(name, layout, table, layout.encoding == "VOP3" and bool(_SHORT_INTEGERS.search(name)), items)
    for tag, *fields in packed:
        items.append(_CLASSES[tag](row, *fields))
    return items


__all__ = ["UNUSED", "FixedItem", "Item", "ModifierItem", "NumberItem", "OperandItem", "Reading", "items_of"]
