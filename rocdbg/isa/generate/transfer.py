"""Derives the tables of GFX6 and GFX7 from GFX8's, using LLVM's assembler to find the differences.

Each row of GFX8 is written as text, under its own name and the names of related instructions with the same operands.
The text is assembled for the older target, and the result determines the layout to which the row belongs. Fields that
have moved are found by their names; registers with other codes get other texts. Then every text of every field is
assembled again, and texts that do not assemble to the expected encoding are illegal.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from rocdbg.isa.encoding_layouts import Bits, Layout, extract, family_of, insert, layouts, width
from rocdbg.isa.encoding_row import CompiledRow
from rocdbg.isa.encoding_table import ItemTag, Texts, base_name, bits_text, load, parse_bits, unpack
from rocdbg.isa.generate.draft_table import Draft, DraftRow, field_bits
from rocdbg.isa.generate.llvm_assembler import Assembled, Assembler

MODEL = "gfx803"
_FLOAT_COMPARISONS = (
    "f", "lt", "eq", "le", "gt", "lg", "ge", "o", "u", "nge", "nlg", "ngt", "nle", "neq", "nlt", "tru",
)

_RELATIVES = {
    "v_add_u32": "v_add_i32", "v_sub_u32": "v_sub_i32", "v_subrev_u32": "v_subrev_i32",
    "v_lshlrev_b32": "v_lshl_b32", "v_lshrrev_b32": "v_lshr_b32", "v_ashrrev_i32": "v_ashr_i32",
    "v_lshlrev_b64": "v_lshl_b64", "v_lshrrev_b64": "v_lshr_b64", "v_ashrrev_i64": "v_ashr_i64",
    "v_min_f32": "v_min_legacy_f32 v_max_legacy_f32", "v_mac_f32": "v_mac_legacy_f32", "v_log_f32": "v_log_clamp_f32",
    "v_rcp_f32": "v_rcp_clamp_f32 v_rcp_legacy_f32", "v_rsq_f32": "v_rsq_clamp_f32 v_rsq_legacy_f32",
    "v_rcp_f64": "v_rcp_clamp_f64", "v_rsq_f64": "v_rsq_clamp_f64", "v_mul_lo_u32": "v_mul_lo_i32",
    "v_mad_f32": "v_mullit_f32", "v_max_f32": "v_cvt_pkaccum_u8_f32",
    "v_and_b32": "v_bcnt_u32_b32 v_bfm_b32 v_mbcnt_lo_u32_b32 v_mbcnt_hi_u32_b32 v_cvt_pk_u16_u32 v_cvt_pk_i16_i32",
    "v_mul_f32": "v_ldexp_f32 v_cvt_pknorm_i16_f32 v_cvt_pknorm_u16_f32 v_cvt_pkaccum_u8_f32",
    "buffer_wbinvl1": "buffer_wbinvl1_sc",
    **{f"v_cmp_{c}_{t}": f"v_cmps_{c}_{t}" for c in _FLOAT_COMPARISONS for t in ("f32", "f64")},
    **{f"v_cmpx_{c}_{t}": f"v_cmpsx_{c}_{t}" for c in _FLOAT_COMPARISONS for t in ("f32", "f64")},
    **{
        f"{space}_atomic_{old}{wide}": " ".join(f"{space}_atomic_{new}{wide}" for new in some.split())
        for space in ("buffer", "flat", "image")
        for old, some in (("smin", "fmin fmax rsub"), ("cmpswap", "fcmpswap"))
        for wide in ("", "_x2")
    },
}
"""Instructions of GFX6 and GFX7 that have the same operands as one that GFX8 has."""
_SWAPPED = ("v_lshl_b64", "v_lshr_b64", "v_ashr_i64")
"""Relatives whose first source is the value instead of the count."""

_SPECIALS = {
    "gfx6": ({108: "tba_lo", 109: "tba_hi", 110: "tma_lo", 111: "tma_hi"}, {108: "tba", 110: "tma"}),
    "gfx7": (
        {104: "flat_scratch_lo", 105: "flat_scratch_hi", 108: "tba_lo", 109: "tba_hi", 110: "tma_lo", 111: "tma_hi"},
        {104: "flat_scratch", 108: "tba", 110: "tma"},
    ),
}
"""The single registers and pairs with the codes 102 to 111, which mean other registers on GFX8 and include s102 and
s103.
"""


_LANE_SELECTS = ("v_readlane_b32", "v_writelane_b32")
_STATUS_BITS = {251: "src_vccz", 252: "src_execz", 253: "src_scc"}
_LITERALS = {"b32": "b32i", "f16": "f16i", "f64": "f64i"}
"""Styles of literals, by GFX8's style."""
_OTHER_NAMES = {"src1": "vsrc1", "SMEM": "SMRD"}
_SCALAR = re.compile(r"^s(?:(\d+)|\[(\d+):(\d+)\])")
_DIGITS = re.compile(r"\bv(\d+)\b")


def models(target: str) -> Iterator[tuple[Layout, DraftRow, str]]:
    """Rows of a table whose texts the assembler might accept: layout, row, and the text of a legal encoding.

    Each row occurs several times, because LLVM prints some kinds of operands that it does not assemble.
    """
    table = load(target)
    draft = Draft(table)
    by_name = {layout.name: layout for layout in layouts(table["family"])}
    for name, rows in table["rows"].items():
        layout = by_name[name]
        for key, packed in rows.items() if not layout.src0 else ():
            row = DraftRow(packed[0], *_inline(table, packed[1]))
            row.key = int(key)
            compiled = CompiledRow(packed, layout, int(key), draft)
            scalars = [n for n, item in enumerate(row.items) if item[0] == ItemTag.OPERAND and len(item[3]) == 512]
            examples = {_example(layout, row, compiled, scalar) for scalar in (-1, *scalars)} - {""}
            for text in sorted(examples):
                yield layout, row, text


def _inline(table: dict[str, Any], number: int) -> tuple[int, list[list[Any]]]:
    """Size and items of a signature, with vectors instead of their numbers."""
    size, _, _, items = table["signatures"][number]
    result = []
    for item in items:
        place = DraftRow.PLACES.get(item[0])
        if place is not None and item[place] >= 0:
            values = table["texts"][item[place]]
            item = [*item[:place], unpack(values) if item[0] in ("o", "m") else values, *item[place + 1 :]]
        result.append(list(item))
    return size, result


def _example(layout: Layout, row: DraftRow, compiled: CompiledRow, scalar: int) -> str:
    """The text of an encoding with plain registers: vector registers where possible, except for one operand."""
    word, key = layout.value, row.key
    for selector in reversed(layout.selectors):
        key, case = divmod(key, len(selector.codes) + 1)
        word |= insert(selector.bits, selector.codes[case - 1] if case else selector.other)
    word |= insert(layout.opcode, key)
    word |= compiled.must_value & compiled.must_mask
    for n, item in enumerate(row.items):
        if item[0] == ItemTag.OPERAND:
            word |= insert(parse_bits(item[2]), _plain_code(item[3], n, "sv" if n == scalar else "vs"))
        elif item[0] == ItemTag.REGISTERS:
            word |= insert(parse_bits(item[2]), 8 * n)
        elif item[0] == ItemTag.MODIFIER and item[3][0] is None:
            word |= insert(parse_bits(item[2]), next(c for c, text in enumerate(item[3]) if text is not None))
        elif item[1:2] == ["dmask"]:
            word |= insert(parse_bits(item[2]), 3 if "cmpswap" in row.mnemonic else 1)
    read = compiled.read(word)
    return "" if read is None else read[3]


def _plain_code(texts: Texts, n: int, prefixes: str) -> int:
    """A code whose text is a register, a different one for each operand."""
    for prefix in prefixes:
        codes = [c for c, t in enumerate(texts) if t and t[0] == prefix and t[1:2] in "0123456789[" and "/*" not in t]
        if codes:
            first = [c for c in codes if int(re.findall(r"\d+", texts[c] or "")[0]) % 16 == 0]
            # All operands use the same scalar register, because an instruction may only read few.
            return first[(n + 1 if prefix == "v" else 1) % len(first)]
    return next(c for c, text in enumerate(texts) if text is not None and "/*" not in text)


def _candidates(layout: Layout, row: DraftRow, text: str) -> Iterator[tuple[str, str]]:
    """Yield texts under the names that the older targets may use for an instruction, each with its kind: "swapped"
    operands, a 64-bit address ("addr64"), or "".
    """
    mnemonic, _, rest = text.partition(" ")
    base = base_name(mnemonic)
    for name in (base, *_RELATIVES.get(base, "").split()):
        operands = rest
        if name in _SWAPPED:
            operands = "v[16:17], v[32:33], v48"
        spelled = [name + mnemonic.removeprefix(base)]
        if layout.encoding == "VOP3":
            spelled = [name + "_e64", name, name + "_e32"]
        for spelling in spelled:
            yield f"{spelling} {operands}".strip(), "swapped" if name in _SWAPPED else ""
    if " offen" in rest and layout.encoding in ("MUBUF", "MTBUF"):
        first, second, others = rest.split(", ", 2) if rest.count(", ") > 2 else (rest, "", "")
        wide = _DIGITS.sub(lambda m: f"v[{m[1]}:{int(m[1]) + 1}]", second)
        for name in (base, *_RELATIVES.get(base, "").split()):
            yield f"{name} {first}, {wide}, {others.replace(' offen', ' addr64')}", "addr64"


def relatives_of(text: str) -> list[str]:
    """A text under all names that GFX6 and GFX7 may use for the instruction."""
    mnemonic, _, rest = text.partition(" ")
    base = base_name(mnemonic)
    names = (base, *_RELATIVES.get(base, "").split())
    return [f"{name}{mnemonic.removeprefix(base)} {rest}" for name in names if name not in _SWAPPED]


class Transfer:
    """Makes the rows of one target."""

    def __init__(self, target: str) -> None:
        self.target, self.family = target, family_of(target)
        self.assembler = Assembler(target)
        self.layouts = layouts(self.family)
        self.notes: list[str] = []

    def rows(self) -> dict[tuple[str, int], DraftRow]:
        """All rows by layout and key, unverified."""
        proposals = [
            (layout, row, text, special)
            for layout, row, example in models(MODEL)
            for text, special in _candidates(layout, row, example)
        ]
        found: dict[tuple[str, int], DraftRow] = {}
        answers = self.assembler.ask([text for _, _, text, _ in proposals])
        placed = [
            (*proposal, answer, self._place(proposal[0], answer))
            for proposal, answer in zip(proposals, answers, strict=True) if answer is not None
        ]
        # Rows of the same encoding come first: others are used only if GFX8 has just a longer encoding.
        placed.sort(key=lambda entry: entry[5] is None or entry[5][0].encoding != _renamed(entry[0].encoding))
        for layout, row, text, special, answer, place in placed:
            if place is not None and (place[0].name, place[1]) not in found:
                made = self._moved(layout, place[0], row, answer, special)
                made.key, made.asked = place[1], text.partition(" ")[0]
                found[place[0].name, place[1]] = made
        order = [layout.name for layout in self.layouts]
        return dict(sorted(found.items(), key=lambda entry: (order.index(entry[0][0]), entry[0][1])))

    def _place(self, old: Layout, answer: Assembled) -> tuple[Layout, int] | None:
        """The layout and key of an encoding."""
        word, size, _ = answer
        wanted = _renamed(old.name)
        fitting = [
            form for form in self.layouts
            if not (word ^ form.value) & form.mask and 4 * form.dwords <= size
            and (form.opcodes is None or extract(word, form.opcode) in form.opcodes)
        ]
        fitting = [form for form in fitting if form.name == wanted] or [f for f in fitting if f.name != "VOP3SD"]
        if not fitting:
            self.notes.append(f"no layout for {answer[2]}")
            return None
        layout = fitting[0]
        key = extract(word, layout.opcode)
        for selector in layout.selectors:
            value = extract(word, selector.bits)
            case = selector.codes.index(value) + 1 if value in selector.codes else 0
            key = key * (len(selector.codes) + 1) + case
        return layout, key

    def _moved(self, old: Layout, new: Layout, row: DraftRow, answer: Assembled, special: str) -> DraftRow:
        """A row with its fields at their positions in the new layout."""
        word, size, text = answer
        items = []
        for item in row.items:
            moved = self._item(old, new, row, list(item), special)
            if moved is not None:
                items.append(moved)
        if special == "swapped":
            first, second = (i for i in items if i[0] == ItemTag.OPERAND and i[1] in ("src0", "src1"))
            first[3], second[3] = second[3], first[3]
        made = DraftRow(text.partition(" ")[0], size, items)
        made.base = word
        return made

    def _item(self, old: Layout, new: Layout, row: DraftRow, item: list[Any], special: str) -> list[Any] | None:
        tag = item[0]
        if tag == ItemTag.FIXED_MODIFIER and special == "addr64" and item[1] == "offen":
            return [tag, "addr64"]
        if tag in (ItemTag.OPERAND, ItemTag.REGISTERS):
            name = item[1] if item[1] in new.operands else _renamed(item[1])
            if name not in new.operands:
                return None
            bits = new.operands[name]
            if tag == ItemTag.REGISTERS:
                return [*item[:2], bits_text(bits), *item[3:]]
            signs = item[5:] if new.encoding == old.encoding else [-1, -1, -1]
            texts = item[3]
            if len(texts) == 512 and width(bits) == 8 and (texts[256] or "") == "v0":
                texts = texts[256:]  # the shorter encoding has only vector registers
            texts = self._registers(texts, 1 << width(bits))
            if special == "addr64" and name == "vaddr":
                texts = tuple(f"v[{n}:{n + 1}]" if n < 255 else None for n in range(256))
            if new.name == "SMRD" and name == "soffset" and self.family == "gfx7":
                return [tag, name, bits_text(bits), (*texts[:255], "LITERAL"), "k", *signs]
            style = _LITERALS.get(item[4], item[4])
            if new.encoding == "VOP2" and name == "src0" and texts[128]:
                texts, style = (*texts[:255], "LITERAL", *texts[256:]), style or "b32i"
            if row.mnemonic.startswith(_LANE_SELECTS):
                name = item[1]  # the usual name, because it is not a vector register
            return [tag, name, bits_text(bits), texts, style, *signs]
        if tag == ItemTag.MODIFIER:
            if item[1] not in new.modifiers:
                return None
            before, after = (_single(form.modifiers[item[1]]) for form in (old, new))
            chosen = [after[before.index(bit)] for bit in _single(parse_bits(item[2]))]
            return [tag, item[1], bits_text(tuple((bit, 1) for bit in chosen)), item[3]]
        if tag in (ItemTag.NUMBER, ItemTag.NUMBER_MODIFIER):
            return [tag, item[1], bits_text(new.immediates[item[1]]), *item[3:]] if item[1] in new.immediates else None
        return item

    def _registers(self, texts: Texts, count: int) -> Texts:
        """The texts of an operand's codes, with the target's registers instead of GFX8's."""
        result = list((*texts, *[None] * count)[:count])
        lowest = _SCALAR.match(texts[0] or "")
        if lowest:
            dwords = int(lowest[3]) + 1 if lowest[3] else 1
            numbers = ((c, _SCALAR.match(text or "")) for c, text in enumerate(texts))
            second = next((c, int(m[1] or m[2])) for c, m in numbers if m and int(m[1] or m[2]))
            step = second[1] // second[0] or 1
            single, pairs = _SPECIALS[self.family]
            for code in range(-(-96 // step), min(-(-112 // step), count)):
                low = code * step
                if low + dwords <= 104:
                    result[code] = f"s{low}" if dwords == 1 else f"s[{low}:{low + dwords - 1}]"
                elif low < 106 or low > 107:
                    result[code] = (single if dwords == 1 else pairs if dwords == 2 else {}).get(low)
        if count == 512 and lowest:
            result[248] = None  # 1/(2*pi) was introduced with GFX8
            for code, text in _STATUS_BITS.items():
                result[code] = result[code] or text
        return tuple(None if text is not None and "/*" in text else text for text in result)


def _single(bits: Bits) -> list[int]:
    """The number of each bit of a field, in order."""
    return [low + i for low, size in bits for i in range(size)]


def _renamed(name: str) -> str:
    return _OTHER_NAMES.get(name, name)


def transfer(target: str) -> tuple[Draft, list[str]]:
    """The verified table of GFX6 or GFX7, and a list of the oddities found."""
    maker = Transfer(target)
    rows = maker.rows()
    verify(maker, rows)
    draft = Draft.of(target, maker.family, rows, {layout.name: layout for layout in maker.layouts})
    return draft, maker.notes


def verify(maker: Transfer, rows: dict[tuple[str, int], DraftRow]) -> None:
    """Assemble the text of every code of every field, and mark as illegal what does not give the same encoding."""
    forms = {layout.name: layout for layout in maker.layouts}
    draft = Draft.of(maker.target, maker.family, rows, forms)
    answers = maker.assembler.ask([_base_text(draft, forms[name], key, row) for (name, key), row in rows.items()])
    for row, answer in zip(rows.values(), answers, strict=True):
        if answer is None or answer[0] != row.base:  # it is printed like the short form, and assembled as that
            row.mnemonic = row.asked
    draft = Draft.of(maker.target, maker.family, rows, forms)
    asked: list[tuple[DraftRow, int, int, int, str]] = []
    for (name, key), row in rows.items():
        layout = forms[name]
        compiled = CompiledRow(draft.rows(name, 64)[str(key)], layout, key, draft)
        asked.append((row, -1, 0, row.base, _read(compiled, row.base)))
        for place, item in enumerate(row.items):
            if item[0] not in (ItemTag.OPERAND, ItemTag.MODIFIER) or name == "EXP_COMPR":  # pairs share a field
                continue
            bits = parse_bits(item[2])
            for code, text in enumerate(item[3]):
                if text is None or text == "LITERAL" or (code > 264 and code % 16 not in (0, 15)):
                    continue
                word = row.base & ~insert(bits, -1) | insert(bits, code)
                asked.append((row, place, code, word, _read(compiled, word)))
    answers = maker.assembler.ask([text for *_, text in asked])
    refused: dict[tuple[int, int], set[int]] = {}
    formats: list[tuple[DraftRow, int, int, int, str]] = []
    for (row, place, code, word, text), answer in zip(asked, answers, strict=True):
        if answer is not None and answer[0] == word:
            if answer[2] != text:
                maker.notes.append(f"other text: {text} / {answer[2]}")
        elif "constant bus" in maker.assembler.errors.get(text, ""):
            continue  # it is legal with other operands
        elif place < 0:
            maker.notes.append(f"{row.mnemonic}: does not assemble: {text}")
        else:
            refused.setdefault((id(row), place), set()).add(code)
            if row.items[place][1] == "format":  # formats have other names
                formats.append((row, place, code, word, re.sub(r"format:\[.*\]", f"format:{code}", text)))
    answers = maker.assembler.ask([text for *_, text in formats])
    for (row, place, code, word, _), answer in zip(formats, answers, strict=True):
        if answer is not None and answer[0] == word and (named := re.search(r"format:\[.*\]", answer[2])):
            refused[id(row), place].discard(code)
            item = row.items[place]
            item[3] = (*item[3][:code], named[0], *item[3][code + 1 :])
    for row in rows.values():
        for place, item in enumerate(row.items):
            bad = refused.get((id(row), place), set())
            if len([code for code in bad if code > 264]) > 16:  # only scalar registers
                bad |= set(range(256, 512))
            if bad:
                item[3] = tuple(None if code in bad else text for code, text in enumerate(item[3]))


def _base_text(draft: Draft, layout: Layout, key: int, row: DraftRow) -> str:
    return _read(CompiledRow(draft.rows(layout.name, 64)[str(key)], layout, key, draft), row.base)


def _read(compiled: CompiledRow, word: int) -> str:
    read = compiled.read(word)
    return ".illegal" if read is None else read[3]


__all__ = ["MODEL", "Transfer", "field_bits", "models", "transfer", "verify"]
