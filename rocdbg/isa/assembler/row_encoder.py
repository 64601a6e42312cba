"""Uses rows of the encoding tables in reverse: makes an instruction word from operands and modifiers."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from rocdbg.isa.assembler.errors import Mismatch
from rocdbg.isa.assembler.image_addresses import address_counts
from rocdbg.isa.assembler.instruction_word import Place, Word
from rocdbg.isa.assembler.line_syntax import Statement, separate, words_of
from rocdbg.isa.assembler.modifier_words import ModifierField, NumberField
from rocdbg.isa.assembler.operand_fields import (
    FixedField,
    LiteralField,
    OperandField,
    RegistersField,
    TextCodes,
    split_list,
    typed_register,
)
from rocdbg.isa.control_flow_kinds import flow_of
from rocdbg.isa.encoding_layouts import GFX12, Layout, extract, insert
from rocdbg.isa.encoding_table import ItemTag, Table, base_name, parse_bits
from rocdbg.isa.instruction import Flow
from rocdbg.isa.row_items import FixedItem, OperandItem, items_of

_EXEC = 126
_SUMS = ("VOP2", "VOP2_DPP", "VOP2_DPP8", "VOP2_SDWA")
_UNSIZED = ("gfx6", "gfx7", "gfx8", "gfx9", "gfx90a", "gfx940")
"""Families whose image instructions do not encode their number of address registers."""
_HIGH_HALVES = ("v_accvgpr_read", "v_accvgpr_write", "v_dot4_", "v_dot8_")
_OP_SEL_HI = 1 << 14 | 3 << 59
"""The op_sel_hi that assemblers set in VOP3P instructions that do not print it: high halves for all sources."""
_UNTYPED = 1 << 55
"""The format that assemblers set in GFX12's buffer instructions that do not have one."""
_VECTOR_SOURCES = 1 << 40 | 1 << 49 | 1 << 58
"""The bits that distinguish vector registers from others in three sources."""
_MODIFIER = re.compile(r"[a-z_0-9]+:")
_WORD = re.compile(r"[a-z_0-9.]", re.IGNORECASE)
_ENDS_OPERAND = re.compile(r"[\w\]).|]$")
_BRANCHES = (Flow.BRANCH, Flow.COND_BRANCH, Flow.CALL)

_Operand = OperandField | NumberField | RegistersField | FixedField | LiteralField


class _Brackets:
    """Marks where a list of operands begins or ends."""

    def __init__(self, opens: bool) -> None:
        self.opens = opens


class RowEncoder:
    """One opcode in one layout."""

    def __init__(self, packed: list[Any], layout: Layout, key: int, table: Table, texts: Callable[[int], TextCodes]):
        self.mnemonic: str = packed[0]
        first, _, self.second = self.mnemonic.partition(" :: ")
        name = base_name(first)
        size, mask, value, items = table.signature(packed[1])
        self._size: int = size
        self.layout = layout
        self._first_half = 0
        self._printed = {item[1] for item in items if item[0] in (ItemTag.OPERAND, ItemTag.MODIFIER)}
        self._value = self._known = 0
        self._start(layout, key, int(mask, 16), int(value, 16), table.family)
        self._operands: list[_Operand | _Brackets] = []
        self._modifiers: list[ModifierField] = []
        self._numbers: list[NumberField] = []
        self._fixed: list[list[str]] = []
        branch = flow_of(name) in _BRANCHES
        for (tag, *fields), item in zip(items, items_of(items, name, layout, table), strict=True):
            match tag:
                case ItemTag.OPERAND:
                    assert isinstance(item, OperandItem)
                    _, bits, vector, literal, neg, absolute, sext = fields
                    # Numbers of this type are printed as if the operand held two of them.
                    short = literal == "v2bf16l" and ("dot2" not in self.mnemonic or item.name == "src2")
                    self._operands.append(OperandField(
                        item.name, parse_bits(bits), texts(vector), literal, neg, absolute, sext,
                        "bf16" if short else item.type,
                        not layout.encoding.startswith("VOP3"),
                        layout.name == "VINTERP" and item.name.startswith("src"),
                        self._address_counts(name, item.name, table.family),
                        any(one[:2] == [ItemTag.LITERAL, "k64"] for one in items),
                    ))
                case ItemTag.MODIFIER:
                    # Assemblers set the bits that select the high halves of sources that do not exist.
                    unused_set = fields[0] == "op_sel_hi" and layout.name != "VOP3PX"
                    self._modifiers.append(ModifierField(
                        fields[0], parse_bits(fields[1]), table.texts(fields[2]), unused_set
                    ))
                case ItemTag.NUMBER | ItemTag.NUMBER_MODIFIER:
                    name_, bits, style, prefix, silent, exceptions = fields
                    names: dict[int, str] = dict(table.values(exceptions)) if exceptions >= 0 else {}
                    label = branch and name_ == "simm16"
                    number = NumberField(name_, parse_bits(bits), style, prefix, bool(silent), names, label)
                    number.narrow = layout.encoding == "FLAT" and table.family not in GFX12
                    number.unsigned |= name == "s_set_gpr_idx_mode" or (
                        name.startswith("s_cmpk_") and name.endswith("_u32")
                    )
                    if tag == ItemTag.NUMBER:
                        self._operands.append(number)
                    else:
                        self._numbers.append(number)
                case ItemTag.REGISTERS:
                    name_, bits, controls, counts, default = fields
                    many = tuple(c for c, n in table.values(counts) for _ in range(n))
                    self._operands.append(RegistersField(
                        name_, parse_bits(bits), parse_bits(controls) if controls else (), many, default,
                        self._address_counts(name, name_, table.family),
                    ))
                case ItemTag.OPEN | ItemTag.CLOSE:
                    self._operands.append(_Brackets(tag == ItemTag.OPEN))
                case ItemTag.LITERAL:
                    self._operands.append(LiteralField(fields[0], name.endswith("16") and not self.second))
                case ItemTag.FIXED:
                    assert isinstance(item, FixedItem)
                    self._operands.append(FixedField(fields[0], table.family))
                case ItemTag.FIXED_MODIFIER:
                    self._fixed.append(words_of(fields[0]))
        for field in self._operands:
            if isinstance(field, RegistersField):
                must, bits = field.fixed()  # ray tracing: dmask, dim and others are not printed
                self._value, self._known = self._value | bits, self._known | must
        self.has_list = any(isinstance(field, _Brackets) for field in self._operands)
        """Whether operands are in brackets."""
        # vcc may be omitted in short forms of comparisons and of v_cndmask, and from GFX9 on in sums, too.
        self._may_omit = layout.name in ("VOPC", "VOPC_DPP", "VOPC_DPP8") or (layout.name == "VOP2" and (
            table.family not in ("gfx6", "gfx7", "gfx8") or name.startswith("v_cndmask")
        ))
        self._may_omit_both = table.family not in _UNSIZED  # GFX10 and later: in all short forms
        self._may_omit |= self._may_omit_both and layout.name in _SUMS
        self._offset_may_miss = layout.encoding in ("SMEM", "SMRD")
        self._heads = {head for field in self._modifiers for head in field.heads}
        self._heads.update(number.head for number in self._numbers if number.head)
        self._words = {word for words in self._fixed for word in words}

    @staticmethod
    def _address_counts(name: str, operand: str, family: str) -> frozenset[int]:
        """The additional numbers of address registers that `OperandField` and `RegistersField` accept besides the
        printed one."""
        return address_counts(name) if operand == "vaddr0" and family in _UNSIZED else frozenset()

    def _start(self, layout: Layout, key: int, mask: int, value: int, family: str) -> None:
        """The bits that the row itself fixes."""
        word, known = layout.value | value, layout.mask | mask
        for selector in reversed(layout.selectors):
            key, case = divmod(key, len(selector.codes) + 1)
            if case:
                word |= insert(selector.bits, selector.codes[case - 1])
                known |= insert(selector.bits, -1)
            elif len(selector.bits) == 1 and selector.bits[0][1] == 1:
                known |= insert(selector.bits, -1)
        word |= insert(layout.opcode, key)
        known |= insert(layout.opcode, -1)
        if layout.src0:
            same = ~(layout.src0[0] ^ layout.src0[-1]) & 0x1FF
            word |= layout.src0[0] << 32 * layout.src0_dword
            known |= same << 32 * layout.src0_dword
        if self.mnemonic.startswith("v_cmpx") and layout.encoding == "VOP3" and "vdst" not in self._printed:
            word |= _EXEC  # the result, if it is not printed
        if layout.name == "MUBUF" and family in GFX12:
            word |= _UNTYPED
        sets_halves = self.mnemonic.startswith(_HIGH_HALVES) or (
            family == "gfx11" and self.mnemonic.startswith("v_wmma")
        )
        self._preset = _OP_SEL_HI if sets_halves and "op_sel_hi" not in self._printed else 0
        if layout.name == "VINTERP":
            self._preset |= _VECTOR_SOURCES
        self._value, self._known = word, known
        self.later = layout.name == "SMRD" and not _selected(layout, "imm", word)
        """Whether this row should be tried after another one that accepts the same text, in which the number is in the
        instruction rather than after it.
        """

    def _is_modifier(self, word: str) -> bool:
        name, colon, _ = word.partition(":")
        return name.lower() + colon in self._heads or word in self._words

    def encode(self, statement: Statement, place: Place) -> bytes:
        """The instruction's bytes; raises Mismatch if the statement does not match this row."""
        operands, words = separate(statement, self._is_modifier)
        word = Word(self._value, self._known, place)
        open_modifiers = self._typed_modifiers(words, word)
        if words:
            raise Mismatch(f"`{words[0]}' is not a modifier of this instruction", len(operands), words[0])
        self._read_operands(_closed_bars(self.mnemonic, operands), word)
        if word.plain and word.half:
            reason = f"`{word.plain}' must be followed by .l or .h, because `{word.half}' is"
            raise Mismatch(reason, len(operands), word.plain)
        for field, codes in open_modifiers:
            if not field.put(codes, word):
                # The operands, if they are halves of registers, have determined op_sel.
                code = field.any_code(word) if field.name == "op_sel" else None
                if code is None:
                    raise Mismatch("its operands contradict each other")
                field.put([code], word)
        return self._bytes(word)

    def _typed_modifiers(self, words: list[str], word: Word) -> list[tuple[ModifierField, list[int]]]:
        """Set the modifiers that were typed, or have a single default; returns the others with their codes."""
        later = []
        for fixed in self._fixed:
            for text in fixed:
                if text not in words:
                    raise Mismatch(f"the modifier {text} is missing")
                words.remove(text)
        for number in self._numbers:
            mine = [text for text in words if number.head and text.lower().startswith(number.head)]
            if len(mine) > 1:
                raise Mismatch(f"`{mine[1]}' is given twice")
            if mine:
                words.remove(mine[0])
                try:
                    number.read(mine[0], word)
                except Mismatch as error:
                    raise Mismatch(error.reason, 0, mine[0], error.near) from None
            elif self._offset_may_miss:
                number.zero(word)
            else:
                number.absent(word)
        for field in self._modifiers:
            codes = field.take(words, word.place)
            if codes is None:
                codes = field.defaults()
                if not codes:
                    raise Mismatch(f"the modifier {field.name} is missing")
                if len(codes) > 1 or field.name == "op_sel":
                    later.append((field, codes))
                    continue
            if not field.put(codes, word):
                raise Mismatch(f"the modifier {field.name} contradicts the other modifiers")
        return later

    def _skips(self, number: int, left: int) -> bool:
        """Whether the operand is an offset that may be omitted, as in prefetches."""
        return "_prefetch_" in self.mnemonic and left < len(self._operands) - number

    def _implied(self, typed: list[str]) -> list[int]:
        """Indices of the vcc operands that may be omitted and are."""
        fields = self._operands
        implied = [n for n, field in enumerate(fields) if isinstance(field, FixedField) and field.text[:3] == "vcc"]
        may = self._may_omit and (self._may_omit_both or len(implied) == 1)
        return implied if may and len(typed) == len(fields) - len(implied) else []

    def _read_operands(self, typed: list[str], word: Word) -> None:
        matched = 0
        implied = self._implied(typed)
        waiting = list(typed)
        try:
            for number, field in enumerate(self._operands):
                if isinstance(field, _Brackets):
                    if field.opens and waiting:
                        waiting[:1] = self._listed(number, waiting[0], word)
                    continue
                if isinstance(field, RegistersField) and not field.count(word):
                    continue
                if number in implied:
                    continue
                if not waiting:
                    if isinstance(field, NumberField) and (field.silent or self._offset_may_miss):
                        field.zero(word)
                        continue
                    raise Mismatch(f"there are too few operands: {field.name} is missing")
                if isinstance(field, NumberField) and self._skips(number, len(waiting)):
                    field.zero(word)
                    continue
                if isinstance(field, NumberField) and field.counts:
                    waiting[:] = [" ".join(waiting)]  # commas may separate the counters
                if not isinstance(field, NumberField):
                    _check_single(waiting[0], word.place)
                field.read(waiting[0], word)
                del waiting[0]
                matched += 1
            if waiting:
                raise Mismatch(f"`{waiting[0]}' is one operand too many")
        except Mismatch as error:
            word_ = error.word or (waiting[0] if waiting else "")
            raise Mismatch(error.reason, matched, word_, error.near) from None

    def _listed(self, number: int, typed: str, word: Word) -> list[str]:
        """The elements of a list whose length follows from the operands between the brackets."""
        inner = []
        for field in self._operands[number + 1 :]:
            if isinstance(field, _Brackets):
                break
            if not isinstance(field, RegistersField) or field.count(word):
                inner.append(field)
        if len(inner) < 2:
            return [typed]
        elements = split_list(typed)
        if len(elements) > len(inner) and isinstance(inner[-1], RegistersField):
            # From gfx11 on, the last addresses are in consecutive registers, but may also be written separately.
            last = f"[{', '.join(elements[len(inner) - 1 :])}]"
            try:
                typed_register(last, word.place)
            except Mismatch as error:
                raise Mismatch(error.reason, 0, typed) from None
            elements[len(inner) - 1 :] = [last]
        if len(elements) != len(inner):
            raise Mismatch(f"`{typed}' must be a list of {len(inner)} operands in brackets")
        return elements

    def _bytes(self, word: Word) -> bytes:
        code = (word.value | self._preset).to_bytes(self._size, "little")
        if word.literal is None:
            return code
        value = word.literal
        if word.relative is not None:  # the distance is measured from the literal itself
            distance = value - (word.place.address + self._size)
            value = distance >> word.relative.low & (1 << word.relative.bits) - 1
        return code[: 4 * self.layout.dwords] + value.to_bytes(word.literal_size, "little")


def _selected(layout: Layout, selector: str, word: int) -> int:
    """The bits of a selector in a word."""
    return next(extract(word, found.bits) for found in layout.selectors if found.name == selector)


def _check_single(typed: str, place: Place) -> None:
    """Reject an operand that is followed by another word: an unknown modifier, or a missing comma."""
    first, second, *_ = (*words_of(typed), "", "")
    if _MODIFIER.match(second) or (_WORD.match(second) and _ENDS_OPERAND.search(first)):
        if _WORD.match(second) and (second[0].isdigit() or typed_register(second, place) is not None):
            raise Mismatch(f"a comma is missing in front of `{second}'", 0, second)
        raise Mismatch(f"`{second}' is not a modifier of this instruction", 0, second)


def _closed_bars(mnemonic: str, operands: list[str]) -> list[str]:
    """Move the closing bar of v_cndmask's second source, which LLVM writes after vcc, to that source."""
    bars = [text.count("|") for text in operands[2:]]
    if mnemonic.startswith("v_cndmask") and bars == [1, 1] and operands[3].endswith("|"):
        return [*operands[:2], operands[2] + "|", operands[3][:-1]]
    return operands
