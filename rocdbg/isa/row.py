"""Rows of the encoding tables, made ready for decoding.

A row is compiled when an instruction first needs it; the vectors of operand texts are unpacked and parsed
once per table.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cached_property
from typing import Any

from rocdbg.isa.constants import constant_bits, constant_type, literal_value
from rocdbg.isa.formats import GFX12, Bits, Layout, extract, width
from rocdbg.isa.immediates import EXCEPTION_MASKS, LITERAL_STYLES, STYLES, hwreg, wide_constant, wide_literal
from rocdbg.isa.instruction import Operand, OperandKind
from rocdbg.isa.operands import PAIRS, SPECIAL_CODES
from rocdbg.isa.table import WHOLE_REGISTERS, Table, Texts, parse_bits

_SUFFIX = re.compile(r"(?:_e32|_e64|_sdwa|_dpp8|_dpp)+$")
_REGISTER = re.compile(r"^(v|a|s|ttmp)(?:(\d+)|\[(\d+):(\d+)\])(?:\.([lh]))?(?:/\*.*\*/)?$")
_LOW_REGISTERS = "32_Lo128' register class*/"
_HALF = re.compile(r"(?<=\d)\.[lh]\b")
_SHORT_INTEGERS = re.compile(r"^v_(?!cmp|bitop3).*_[iub]16$")  # v_bitop3's bits are its truth table
_KINDS = {"v": OperandKind.VGPR, "a": OperandKind.AGPR, "s": OperandKind.SGPR, "ttmp": OperandKind.TTMP}
_VALUE = re.compile(r"^([a-z_0-9]+):(.*)$")
_ALWAYS = frozenset({
    "op_sel_hi", "dst_sel", "dst_unused", "src0_sel", "src1_sel", "dpp_ctrl", "row_mask", "bank_mask", "dpp8", "format",
})  # fmt: skip
"""Modifiers whose zero means something."""
_NULL_FIRST = ("gfx11", *GFX12)
"""Families in which NULL has code 124 and M0 125, else it is the other way round."""
_NOT_MODIFIERS = frozenset({"saddr_off", "return", "sve", "imm", "soffset_en", "soffset_off"})
"""Selectors that the operands show already."""

Parts = tuple[int, tuple[Operand, ...], dict[str, int | str], str]


def base_name(mnemonic: str) -> str:
    """The mnemonic without encoding suffixes (``v_add_f32_e64_dpp`` is ``v_add_f32``)."""
    return _SUFFIX.sub("", mnemonic)


def register_operand(name: str, text: str, family: str) -> Operand | None:
    """An operand from its text if that is a register or ``off``."""
    if match := _REGISTER.match(text):
        prefix, single, low, high, half = match.groups()
        first = int(single or low)
        if _LOW_REGISTERS in text:
            # A 16-bit operand where LLVM has 32-bit registers only (GFX12 by default). To hardware, and to
            # compilers that know better, the field's highest bit is the half.
            return Operand(name, _KINDS[prefix], first - 128, half=1, bits=16, text=text)
        dwords = 1 if single else int(high) - first + 1
        return Operand(
            name, _KINDS[prefix], first, dwords, half=None if half is None else int(half == "h"),
            bits=16 if half else 32, text=text,
        )  # fmt: skip
    if text == "off":
        return Operand(name, OperandKind.OFF, dwords=0, text=text)
    plain = text.partition("/*")[0]
    if plain in PAIRS:
        return Operand(name, OperandKind.SPECIAL, SPECIAL_CODES[PAIRS[plain]], 2, text=text)
    if plain in SPECIAL_CODES:
        return Operand(name, OperandKind.SPECIAL, SPECIAL_CODES[plain], text=text)
    if plain in ("m0", "null"):
        swapped = family in _NULL_FIRST
        return Operand(name, OperandKind.SPECIAL, 124 if (plain == "null") == swapped else 125, text=text)
    return None


class _OperandItem:
    """An operand whose text is chosen by bits; operands are made when first met."""

    __slots__ = ("_made", "abs", "bits", "dwords", "family", "literal", "name", "neg", "sext", "texts", "type")

    def __init__(self, item: list[Any], texts: Texts, mnemonic: str, table: RowTable) -> None:
        _, self.name, bits, number, self.literal, self.neg, self.abs, self.sext = item
        self.bits: Bits = parse_bits(bits)
        self.texts = texts
        if self.name == "vdst" and any(t is not None and t.startswith("s") for t in texts[:2]):
            self.name = "sdst"  # comparisons and v_readlane in VOP3 have a scalar result in the field of vdst
        self.dwords = table.dwords(number)
        style = self.literal if self.literal not in ("", "invalid", "k", "word", "plain") else ""
        self.type: str = style.rstrip("il") or constant_type(
            mnemonic, self.name, self.dwords, table.literal_types
        )
        self.family = table.family
        self._made: dict[int, Operand] = {}

    def plain(self, code: int) -> Operand | None:
        made = self._made.get(code)
        if made is None:
            text = self.texts[code]
            if text is None:
                return None
            made = self._made[code] = self._make(code, text)
        return made

    def _make(self, code: int, text: str) -> Operand:
        operand = register_operand(self.name, text, self.family)
        if operand is not None:
            if operand.kind is OperandKind.SPECIAL and operand.dwords < self.dwords and operand.index >= 230:
                operand = Operand(self.name, operand.kind, operand.index, self.dwords, text=text)
            return operand
        bits = constant_bits(code & 0x1FF, self.type, text)
        if bits is None:
            return Operand(self.name, OperandKind.IMMEDIATE, -1, 0, code, text=text)
        size = 64 if self.type.endswith("64") else 16 if self.type in ("f16", "bf16", "b16") else 32
        return Operand(
            self.name,
            OperandKind.CONSTANT,
            code & 0x1FF,
            self.dwords,
            bits,
            bits=size,
            type=self.type,
            text=text,
        )


class CompiledRow:
    """One opcode. ``read`` turns an instruction word into operands, modifiers and text, or None if it is illegal."""

    __slots__ = (
        "_fixed",
        "_items",
        "_late_bars",
        "_layout",
        "_raw",
        "_silent_halves",
        "_silent_signs",
        "_size",
        "_split",
        "_table",
        "mnemonic",
        "must_mask",
        "must_value",
        "name",
    )  # fmt: skip

    def __init__(
        self, mnemonic: str, signature: list[Any], layout: Layout, fixed: dict[str, int], table: RowTable
    ) -> None:
        self.mnemonic = mnemonic
        self.name = base_name(mnemonic.partition(" :: ")[0])
        self._size: int = signature[0]
        self.must_mask = int(signature[1], 16)
        self.must_value = int(signature[2], 16)
        self._raw = signature[3]
        self._items: list[tuple[str, Any]] | None = None
        self._table = table
        self._layout = layout
        self._fixed = fixed
        self._split = 0
        # Hardware applies the sign bits of VOP3 to 16-bit integers too (measured for v_mad_i32_i16); LLVM accepts
        # them there, but prints nothing.
        self._silent_signs = layout.encoding == "VOP3" and bool(_SHORT_INTEGERS.search(self.name))
        # Where LLVM has no halves of registers (GFX12 by default), it does not print all of the bits that select them.
        printed = any(raw[0] == "m" and raw[1] == "op_sel" for raw in self._raw)
        self._silent_halves = (
            table.family in GFX12 and layout.encoding == "VOP3" and "16" in self.name and not printed
            and "op_sel" in layout.modifiers
        )  # fmt: skip
        # LLVM closes the bars of the second source after vcc.
        self._late_bars = (
            self.name.startswith("v_cndmask") and layout.name == "VOP2_DPP" and table.family in GFX12
        )

    def _compile(self) -> list[tuple[str, Any]]:
        items: list[tuple[str, Any]] = []
        for position, raw in enumerate(self._raw):
            kind = raw[0]
            if kind == "o":
                items.append((kind, _OperandItem(raw, self._table.texts(raw[3]), self.name, self._table)))
                if raw[1] == "vdsty":
                    self._split = len(items) - 1
            elif kind == "m":
                items.append((kind, (raw[1], parse_bits(raw[2]), self._table.texts(raw[3]))))
            elif kind in "nN":
                bits = parse_bits(raw[2])
                exceptions = dict(self._table.values(raw[6])) if raw[6] >= 0 else {}
                items.append((kind, (raw[1], bits, width(bits), raw[3], raw[4], raw[5], exceptions)))
            elif kind == "w":
                counts = tuple(c for c, n in self._table.values(raw[4]) for _ in range(n))
                items.append(
                    (kind, (raw[1], parse_bits(raw[2]), parse_bits(raw[3] or "0+0"), counts, raw[5]))
                )
            elif kind == "f":
                items.append((kind, self._fixed_operand(position)))
            else:
                items.append((kind, raw[1] if len(raw) > 1 else None))
        self._items = items
        return items

    def _fixed_operand(self, position: int) -> Operand:
        """An operand that no bits choose: vcc, off, m0, a zero; ``position`` is its place among the items."""
        text: str = self._raw[position][1]
        name = "src2"
        if text == "off":
            before = [raw[:2] for raw in self._raw[:position]]
            named = any(raw in (["o", "vaddr"], ["f", "off"]) for raw in before)
            name = "saddr" if named and self._layout.encoding in ("GLOBAL", "SCRATCH") else "vaddr"
        elif self._layout.encoding == "VOPC" or position < 2:
            name = "sdst"
        operand = register_operand(name, text, self._table.family)
        return operand or Operand(name, OperandKind.IMMEDIATE, -1, 0, text=text)

    def read(self, word: int, overflow: bool = False) -> Parts | None:
        """Decode; ``overflow``: image registers would run over the last one, so use their default counts."""
        items = self._items
        if items is None:
            items = self._compile()
        operands: list[Operand] = []
        words: list[str] = []
        tail: list[str] = []
        modifiers: dict[str, int | str] = dict(self._fixed)
        size = self._size
        whole = False
        opened = 0
        text: str | None
        for kind, item in items:
            if kind == "o":
                operand = item.plain(extract(word, item.bits))
                if operand is None:
                    return None
                if operand.text == "LITERAL":
                    size = 4 * self._layout.dwords + 4
                    value = word >> (32 * self._layout.dwords) & 0xFFFFFFFF
                    operand = self._literal(item, value)
                elif operand.text == "LITERAL64":
                    size = 4 * self._layout.dwords + 8
                    operand = _wide_literal(item, word >> (32 * self._layout.dwords) & 0xFFFFFFFFFFFFFFFF)
                if item.neg >= 0 or item.abs >= 0 or item.sext >= 0:
                    operand = _modified(operand, word, item)
                elif self._silent_signs and item.name.startswith("src"):
                    operand = _signed(operand, word, int(item.name[3]))
                operands.append(operand)
                words.append(operand.text)
            elif kind == "m":
                name, bits, texts = item
                code = extract(word, bits)
                text = texts[code]
                if text is None:
                    return None
                if text.startswith(WHOLE_REGISTERS):
                    text = text.removeprefix(WHOLE_REGISTERS)
                    whole = True
                if text:
                    tail.append(text)
                self._note(modifiers, name, bits, code, text, word)
            elif kind == "n" or kind == "N":
                name, bits, size_bits, style, prefix, silent, exceptions = item
                code = extract(word, bits)
                if silent and code == 0:
                    text = ""
                elif style == "hwreg":
                    text = hwreg(code, exceptions)
                else:
                    text = exceptions.get(code & EXCEPTION_MASKS.get(style, -1))
                    if text is None:
                        text = prefix + STYLES[style](code, size_bits)
                signed = style.startswith("signed") and name != "simm16" and code >> (size_bits - 1)
                value = code - (1 << size_bits) if signed else code
                if kind == "N":
                    if text:
                        tail.append(text)
                    if value:
                        modifiers[name] = value
                    continue
                operands.append(Operand(name, OperandKind.IMMEDIATE, -1, 0, value, bits=size_bits, text=text))
                if text:
                    words.append(text)
            elif kind == "f":
                operands.append(item)
                words.append(item.text)
            elif kind == "w":
                name, bits, controls, counts, default = item
                low = extract(word, bits)
                count = counts[extract(word, controls)]
                if count < 0:
                    return None
                if overflow:
                    count = default if default >= 0 else count
                elif low + count > 256 and 0 <= default != count:
                    return self.read(word, True)
                if count:
                    text = f"v{low}" if count == 1 else f"v[{low}:{low + count - 1}]"
                    operands.append(Operand(name, OperandKind.VGPR, low, count, text=text))
                    words.append(text)
            elif kind == "open":
                opened = len(words)
            elif kind == "close" and len(words) > opened + 1:
                words[opened:] = [f"[{', '.join(words[opened:])}]"]
            elif kind == "l" and item == "k64":
                size = 4 * self._layout.dwords + 8
                value = word >> (32 * self._layout.dwords) & 0xFFFFFFFFFFFFFFFF
                operands.append(
                    Operand("literal", OperandKind.LITERAL, -1, 2, value, bits=64, type="f64",
                            text=wide_constant(value))
                )  # fmt: skip
                words.append(operands[-1].text)
            elif kind == "l":
                size = 4 * self._layout.dwords + 4
                value = word >> (32 * self._layout.dwords) & 0xFFFFFFFF
                kind16 = "f16" if self.name.endswith("16") else "f32"
                operands.append(
                    Operand(
                        "literal",
                        OperandKind.LITERAL,
                        -1,
                        1,
                        value & 0xFFFF if kind16 == "f16" else value,
                        bits=16 if kind16 == "f16" else 32,
                        type="f16" if kind16 == "f16" else "b32",
                        text=LITERAL_STYLES[item](value),
                    )
                )
                words.append(operands[-1].text)
            elif kind == "F":
                tail.append(item)
                self._flags(modifiers, item)
        if self._layout.src0 == (249,):
            modifiers["sdwa"] = 1
        if self._silent_halves and (selected := extract(word, self._layout.modifiers["op_sel"])):
            modifiers["op_sel"] = selected
        if whole:
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
        if tail:
            text += " " + " ".join(tail)
        return size, tuple(operands), modifiers, text

    def _literal(self, item: _OperandItem, value: int) -> Operand:
        bits, size = literal_value(value, item.type, self.name)
        return Operand(
            item.name, OperandKind.LITERAL, -1, item.dwords, bits, bits=size, type=item.type,
            text=LITERAL_STYLES[item.literal](value),
        )  # fmt: skip

    def _note(
        self, modifiers: dict[str, int | str], name: str, bits: Bits, code: int, text: str, word: int
    ) -> None:
        if name == "cpol":
            self._flags(modifiers, text)
            if self._table.family in GFX12:
                scalar = self._layout.encoding == "SMEM"
                modifiers["scope"] = word >> (21 if scalar else 50) & 3
                modifiers["th"] = word >> 23 & 3 if scalar else word >> 52 & 7
        elif name == "bitop3":
            self._flags(modifiers, text)
        elif name == "fi" and self._layout.name.endswith("DPP8"):
            if code == 2:
                modifiers["fi"] = 1
        elif name not in (
            "abs",
            "neg",
            "src0_neg",
            "src0_abs",
            "src1_neg",
            "src1_abs",
            "src0_sext",
            "src1_sext",
        ) and (code or name in _ALWAYS):
            value = extract(word, self._layout.modifiers[name]) if name in self._layout.modifiers else code
            if value or name in _ALWAYS:
                modifiers[name] = value

    @staticmethod
    def _flags(modifiers: dict[str, int | str], text: str) -> None:
        for word in text.split():
            if match := _VALUE.match(word):
                if match[1] not in ("th", "scope"):
                    modifiers[match[1]] = _number(match[2])
            elif word.isidentifier():
                modifiers[word] = 1


def _wide_literal(item: _OperandItem, value: int) -> Operand:
    """A 64-bit literal; narrower operands have its low bits."""
    text = wide_literal(value, item.literal, item.dwords)
    size = 64
    if item.dwords == 1:
        value, size = literal_value(value & 0xFFFFFFFF, item.type, "")
    return Operand(item.name, OperandKind.LITERAL, -1, item.dwords, value, bits=size, type=item.type, text=text)


def _number(text: str) -> int | str:
    try:
        return int(text, 0)
    except ValueError:
        return text


def _signed(operand: Operand, word: int, source: int) -> Operand:
    """Apply the neg and abs bits of VOP3 that LLVM does not print."""
    neg, absolute = bool(word >> 61 + source & 1), bool(word >> 8 + source & 1)
    return replace(operand, neg=neg, abs=absolute) if neg or absolute else operand


def _modified(operand: Operand, word: int, item: _OperandItem) -> Operand:
    """Apply neg, abs and sext as LLVM prints them."""
    neg = item.neg >= 0 and bool(word >> item.neg & 1)
    absolute = item.abs >= 0 and bool(word >> item.abs & 1)
    sext = item.sext >= 0 and bool(word >> item.sext & 1)
    if not (neg or absolute or sext):
        return operand
    text = operand.text
    immediate = operand.kind in (OperandKind.CONSTANT, OperandKind.IMMEDIATE) or (
        operand.kind is OperandKind.LITERAL and not text.startswith("lit(")
    )
    if sext:
        text = f"sext({text})"
    if absolute:
        text = f"|{text}|"
    if neg:
        text = f"neg({text})" if immediate and not absolute else f"-{text}"
    return Operand(
        operand.name, operand.kind, operand.index, operand.dwords, operand.value, neg, absolute, sext,
        operand.half, operand.bits, operand.type, text,
    )  # fmt: skip


class RowTable:
    """The rows of one table for one wave size, compiled when asked for."""

    def __init__(self, table: Table, wave_size: int) -> None:
        self.family = table.family
        self.texts, self.values = table.texts, table.values
        self._table = table
        self._wave_size = wave_size
        self._dwords: dict[int, int] = {}

    def raw(self, layout: Layout) -> dict[str, list[Any]]:
        """The rows of a layout by opcode and case, for ``compiled``."""
        return self._table.rows(layout.name, self._wave_size)

    def compiled(self, row: list[Any], layout: Layout, number: int) -> CompiledRow:
        """One row of a layout; ``number`` is its opcode and case."""
        fixed = {}
        for selector in reversed(layout.selectors):
            number, index = divmod(number, len(selector.codes) + 1)
            if index and selector.name not in _NOT_MODIFIERS:
                fixed[selector.name] = 1
        return CompiledRow(row[0], self._table.signature(row[1]), layout, fixed, self)

    def dwords(self, number: int) -> int:
        """Registers an operand covers, from the first vector or scalar register of its vector."""
        if number not in self._dwords:
            widest = 1
            for entry in self.values(number)[1:]:
                if len(entry) > 2 and entry[3] in ("v", "a", "s", "ttmp"):
                    widest = entry[6] or 1
                    if entry[3] in ("v", "a"):
                        break
            self._dwords[number] = widest
        return self._dwords[number]

    @cached_property
    def literal_types(self) -> dict[tuple[str, str], str]:
        """Type of the constants of (instruction, operand) in the 32-bit encodings, for forms that allow no literal."""
        types: dict[tuple[str, str], str] = {}
        for layout in ("VOP1", "VOP2", "VOPC"):
            for row in self._table.rows(layout, 32).values():
                for item in self._table.signature(row[1])[3]:
                    if item[0] == "o" and item[4] not in ("", "invalid"):
                        types[base_name(row[0]), item[1]] = item[4].rstrip("il")
        return types
