"""Learns how one opcode of a layout is printed, from LLVM's text for selected encodings.

The result is a list of items in text order. Items of operands and of modifiers say which bits select their text. A
vector of texts, one per value of the field, is learned exhaustively (None: that value is illegal).
"""

from __future__ import annotations

import itertools
import re
from typing import Any

from msgspec import Struct, field

from rocdbg.isa.encoding_layouts import Bits, Layout, extract, insert, width
from rocdbg.isa.encoding_table import WHOLE_REGISTERS
from rocdbg.isa.generate.disassembly_text import split
from rocdbg.isa.generate.llvm_disassembler import Oracle
from rocdbg.isa.immediates import EXCEPTION_MASKS, LITERAL_STYLES, STYLES

LITERAL = 0xDEADBEEF
_LITERALS = (
    0xDEADBEEF, 0x3F800000, 0x3C00, 0x3F80, 5, 0xFFFF, 0xFFFFFFF5, 0x3E22F983, 0x3118, 0x3E22,
    0xFFFF3C00, 0x10005, 0x3FF00000, 0x40100000, 0, 0xBFE00000, 0x10000,
)
_WIDE_LITERAL = 254
_LITERAL_TEXT = re.compile(r"^(?:lit(?:64)?\()?0x(?:deadbeef|beef)\)?$")


_SOURCES = (
    0,
    272,
    272 | 272 << 9,
    272 | 272 << 9 | 272 << 18,
    272 | 272 << 9 | 16 << 18,
    272 << 9,
)
"""The values to try for the three source fields of VOP3: no VGPR; one, two or three VGPRs; a scalar third source."""


_SAMPLES = frozenset({
    *range(8), 16, 17, 33, 34, 64, 65, *range(90, 130), 191, 192, 193, 207, 208, 209, *range(228, 262), 272, 273,
    320, 321, 383, 384, 385, 386, 387, 400, 448, 500, *range(506, 512),
})
"""Operand codes at which the kind of operand changes: special registers, constants, alignment, 128 (the high halves),
ends."""


_FIXED_CODES = {"VOP3": (("vdst", 126),), "FLAT": (("saddr", 124), ("saddr", 125), ("saddr", 127))}
"""Codes that unused fields must have in some opcodes: exec in v_cmpx, null in flat instructions without a scalar
address.
"""
_FORMATS = {"src0": ("cbsz", "op_sel"), "src1": ("blgp", "op_sel_hi")}
"""Fields with the number formats of the sources of v_mfma_*_f8f6f4 and v_wmma_*_f8f6f4."""
_FIXED_MODIFIERS = {
    "VOP3P": ("op_sel_hi", 7), "VOP3P_DPP": ("op_sel_hi", 7), "VOP3P_DPP8": ("op_sel_hi", 7), "DS": ("gds", 1),
    "VOP1_SDWA": ("dst_sel", 6),
}
"""Modifiers without which some opcodes of a layout are illegal."""


class LearnError(Exception):
    """The results contradict the layout."""


class Item(Struct):
    """One piece of the text."""

    sort: str
    """``operand``, ``fixed`` (an operand without bits), ``number`` (an immediate operand), ``modifier``,
    ``nummod``, ``fixmod``; ``registers``, ``open`` and ``close`` (a list of operands) of image instructions."""
    name: str
    bits: Bits = ()
    texts: tuple[str | None, ...] = ()
    style: str = ""
    prefix: str = ""
    silent: bool = False
    """Whether nothing is printed for zero."""
    exceptions: dict[int, str] = field(default_factory=dict)
    text: str = ""
    literal: str = ""
    neg: int = -1
    abs: int = -1
    sext: int = -1
    constant: str = ""
    controls: Bits = ()
    """``registers``: the bits that select from ``counts``."""
    counts: tuple[int, ...] = ()
    """Numbers of registers; 0: no such operand, -1: illegal."""
    default: int = -1
    """Number of registers if those of ``counts`` would extend past the last one; -1: that is illegal."""


class Row(Struct):
    """One opcode (and case of its selectors)."""

    mnemonic: str
    items: list[Item]
    size: int
    must_mask: int
    must_value: int
    notes: list[str]


class Learner:
    """Learns rows of one layout for one processor."""

    def __init__(self, oracle: Oracle, layout: Layout, known: dict[Any, Any] | None = None) -> None:
        self.oracle = oracle
        self.layout = layout
        self.known: dict[tuple[int, int, tuple[str | None, ...]], tuple[str | None, ...]] = (
            known if known is not None else {}
        )
        self.tail_word = LITERAL << (32 * layout.dwords)

    def base_word(self, opcode: int, case: tuple[int, ...]) -> int:
        layout = self.layout
        word = layout.value | insert(layout.opcode, opcode)
        for selector, index in zip(layout.selectors, case, strict=True):
            word |= insert(selector.bits, selector.codes[index - 1] if index else selector.other)
        if layout.src0:
            word |= layout.src0[0] << (32 * layout.src0_dword)
        return word

    def ask(self, words: list[int]) -> list[tuple[int, str]]:
        return self.oracle.ask([w | self.tail_word for w in words])

    # -- one opcode

    def learn(self, opcode: int, case: tuple[int, ...]) -> Row | None:
        layout = self.layout
        word0 = self.base_word(opcode, case)
        fixed = self._fixed_mask(case)
        fields = {
            n: b
            for n, b in layout.operands.items()
            if insert(b, -1) & ~fixed and layout.operand_cases.get(n, case) == case
        }
        found = self._find_base(word0, fields)
        for name, value in _FIXED_CODES.get(layout.encoding, ()):
            if found is None and name in fields:
                others = {n: b for n, b in fields.items() if n != name}
                found = self._find_base(word0 | insert(fields[name], value), others)
        if found is None and layout.name in _FIXED_MODIFIERS:
            name, value = _FIXED_MODIFIERS[layout.name]
            if name in layout.modifiers:
                found = self._find_base(word0 | insert(layout.modifiers[name], value), fields)
        if found is None:
            return None
        base, (size, text) = found
        mnemonic, operands, _ = split(text)
        notes: list[str] = []
        covered = fixed
        placed: dict[int, Item] = {}
        literal_always = size - 4 * layout.dwords
        if literal_always not in (0, 4, 8):
            return None
        for name, bits in fields.items():
            if insert(bits[:1], -1) & fixed or layout.operand_cases.get(name, case) != case:
                continue
            if mnemonic.endswith("_f8f6f4") and name in _FORMATS:
                matrix, wave = _FORMATS[name]  # the width of the matrix depends on its format
                bits = (*bits, *layout.modifiers[matrix if matrix in layout.modifiers else wave])
            taken = frozenset(placed) if layout.name == "EXP_COMPR" else frozenset()
            item, index = self._operand(base, name, bits, operands, mnemonic, size, notes, taken)
            if item is None:
                continue
            if index in placed:
                notes.append(f"{name} and {placed[index].name} share operand {index}")
                continue
            item.name = name.removesuffix("_lo")
            placed[index] = item
            covered |= insert(item.bits, -1)
        if layout.name == "VOP3P_GFX9":  # gfx12 interprets some values as an image instruction
            sources = [item for item in placed.values() if item.name.startswith("src")]
            best = min(sources, key=lambda item: item.texts.count(None))
            for item in sources:
                item.texts = best.texts
        modifiers: list[tuple[Item, int]] = []
        for name, bits in layout.immediates.items():
            if insert(bits, -1) & covered:
                continue
            number = self._number(base, name, bits, text, notes)
            if number is None:
                continue
            item, index = number
            covered |= insert(item.bits, -1)
            if index >= 0:
                placed[index] = item
            else:
                modifiers.append((item, 0))
        for name, bits in layout.modifiers.items():
            if name == "high" and not mnemonic.startswith("v_interp"):
                continue
            bits = tuple((lo + i, 1) for lo, w in bits for i in range(w) if not fixed >> (lo + i) & 1)
            if not bits:
                continue
            item = self._modifier(base, name, bits, operands, placed, mnemonic, notes)
            covered |= insert(bits, -1)
            if item is not None:
                modifiers.append((item, 0))
        modifiers = [(item, 0) for item in self._joined(base, [m for m, _ in modifiers], operands, mnemonic)]
        items: list[Item] = []
        for index in range(max([len(operands) - 1, *placed]) + 1):
            token = operands[index] if index < len(operands) else ""
            if index in placed:
                items.append(placed[index])
            elif literal_always and _LITERAL_TEXT.match(token):
                items.append(Item("literal", "literal", style=self._literal_style(base, index, notes)))
            else:
                items.append(Item("fixed", "", text=token))
        items += self._order(base, [m for m, _ in modifiers], text, notes)
        must_mask, must_value = self._must(base, covered, text, size, notes)
        if layout.encoding == "VOP3" and mnemonic.startswith("v_cmpx") and must_mask & 0xFF:
            # "Potentially undefined" for LLVM, whose C interface rejects it. llvm-objdump prints it.
            must_mask, must_value = must_mask & ~0xFF, must_value & ~0xFF
        return Row(mnemonic, items, size, must_mask, must_value, notes)

    def _fixed_mask(self, case: tuple[int, ...]) -> int:
        layout = self.layout
        mask = layout.mask | insert(layout.opcode, -1)
        for selector, index in zip(layout.selectors, case, strict=True):
            if index or width(selector.bits) == 1:
                mask |= insert(selector.bits, -1)
        if layout.src0 and len(layout.src0) == 1:
            mask |= 0x1FF << (32 * layout.src0_dword) if layout.src0_dword or layout.mask != 0 else 0x1FF
        elif layout.src0:
            mask |= 0x1FC << (32 * layout.src0_dword)
        return mask

    def has_scalar_destination(self, opcode: int) -> bool:
        """Whether a VOP3 opcode has a scalar destination in bits 8..14 (which are abs and op_sel otherwise)."""
        word = self.base_word(opcode, ()) | insert(((8, 7),), 40)
        sources = [word | insert(((0, 8),), 16) | insert(((32, 9), (41, 9), (50, 9)), s) for s in _SOURCES]
        return any(
            size and any(t in ("s40", "s[40:41]") for t in split(text)[1]) for size, text in self.ask(sources)
        )

    def _probe_value(self, bits: Bits, index: int) -> int:
        size = bits[0][1]
        if self.layout.encoding == "EXP" and size == 8:
            return 256 + 16 + 16 * index  # with the enable bit
        if size >= 9:
            return 256 + 16 + 16 * index
        if size == 8:
            return 16 + 16 * index
        if size == 7:
            return 16 + 16 * (index % 5)
        if size == 6:
            return 4 + 4 * index
        return min(2 + index, (1 << size) - 1)

    def _find_base(self, word0: int, fields: dict[str, Bits]) -> tuple[int, tuple[int, str]] | None:
        """A legal encoding of the opcode, with as many distinct non-zero operand fields as possible."""
        case_mask = 0
        for selector in self.layout.selectors:
            case_mask |= insert(selector.bits, -1)
        special = any(word0 & insert(s.bits, -1) == insert(s.bits, s.codes[0]) for s in self.layout.selectors)
        names = [
            n
            for n, b in fields.items()
            if not (insert(b[:1], -1) & case_mask and special and self._selected(word0, b))
        ]
        values = {n: self._probe_value(fields[n], i) for i, n in enumerate(names)}
        scalars = {n: 16 + 16 * (i % 5) for i, n in enumerate(names)}
        candidates: dict[int, None] = {}
        for count in range(len(names), -1, -1):
            for chosen in itertools.combinations(names, count):
                for kinds in itertools.product((values, scalars), repeat=min(count, 3)):
                    word = word0
                    for i, n in enumerate(chosen):
                        word |= insert(fields[n], (kinds[i] if i < len(kinds) else values)[n])
                    candidates[word] = None
        words = list(candidates)
        for start in range(0, len(words), 16):
            some = words[start : start + 16]
            for word, answer in zip(some, self.ask(some), strict=True):
                if answer[0] and "/*INV" not in answer[1]:
                    return word, answer
        return None

    def _selected(self, word0: int, bits: Bits) -> bool:
        for selector in self.layout.selectors:
            if (
                insert(selector.bits, -1) & insert(bits, -1)
                and extract(word0, selector.bits) in selector.codes
            ):
                return True
        return False

    def _operand(
        self,
        base: int,
        name: str,
        bits: Bits,
        operands: list[str],
        mnemonic: str,
        size: int,
        notes: list[str],
        taken: frozenset[int] = frozenset(),
    ) -> tuple[Item | None, int]:
        if self._selected(base, bits):
            return None, -1
        clear = base & ~insert(bits, -1)
        main = 1 << bits[0][1]
        count = 1 << width(bits)
        high = extract(base, bits) & ~(main - 1)
        samples = [v for v in range(count) if v % 512 in _SAMPLES] if count > 128 else list(range(count))
        parsed: dict[int, tuple[int, list[str]] | None] = {}

        def probe(values: list[int]) -> None:
            for v, answer in zip(values, self.ask([clear | insert(bits, v) for v in values]), strict=True):
                m, ops, _ = split(answer[1]) if answer[0] else ("", [], [])
                parsed[v] = (answer[0], ops) if m == mnemonic and len(ops) == len(operands) else None

        probe(samples)
        changes = [0] * len(operands)
        for v in samples:
            entry = parsed[v]
            if entry and v & ~(main - 1) == high:
                for i, token in enumerate(entry[1]):
                    changes[i] += token != operands[i] and i not in taken
        best = max(changes, default=0)
        if best == 0:
            return None, -1
        index = changes.index(best)
        literal = ""
        for v in samples:
            entry = parsed[v]
            if entry and (
                entry[0] == size + 4 or (_LITERAL_TEXT.match(entry[1][index]) and v & 511 == 255 % main)
            ):
                literal = self._literal_style(clear | insert(bits, v), index, notes)
                break

        def text_of(v: int) -> str | None:
            entry = parsed[v]
            if entry is None or (
                name == "saddr"
                and v & ~(main - 1) == high
                and any(i != index and t != operands[i] for i, t in enumerate(entry[1]))
            ):
                return None  # illegal, or another case of the opcode
            if entry[0] == size + 8:
                return "LITERAL64"
            if entry[0] == size + 4 or (_LITERAL_TEXT.match(entry[1][index]) and v & 511 == 255 % main):
                return "LITERAL"
            if v & 511 == _WIDE_LITERAL and re.match(r"0x|lit", entry[1][index]):
                # Either there is no space for a 64-bit literal, and LLVM prints bits of the instruction itself, or this
                # is the literal that the instruction always has.
                return "LITERAL64" if size == 12 and self.layout.dwords == 1 else None
            return entry[1][index]

        # There are few kinds of operands: an operand that agrees with an earlier one at all codes where kinds are known
        # to differ is of the same kind.
        key = (bits[0][1], count, tuple(text_of(v) for v in samples))
        texts = self.known.get(key)
        if texts is None:
            probe([v for v in range(count) if v not in parsed])
            texts = self.known[key] = tuple(text_of(v) for v in range(count))
        while (
            len(bits) > 1 and width(bits[-1:]) == 1 and texts[len(texts) // 2 :] == texts[: len(texts) // 2]
        ):
            texts = texts[: len(texts) // 2]
            bits = bits[:-1]
        return Item("operand", name, bits, texts, literal=literal), index

    def _literal_style(self, word: int, index: int, notes: list[str]) -> str:
        shift = 32 * self.layout.dwords
        answers = self.oracle.ask([word | value << shift for value in _LITERALS])
        got = [split(text)[1][index] if size else "" for size, text in answers]
        for style, show in LITERAL_STYLES.items():
            if [show(v) for v in _LITERALS] == got:
                return style
        notes.append(f"no literal style gives {dict(zip(map(hex, _LITERALS), got, strict=True))}")
        return "?"

    def _number(
        self, base: int, name: str, bits: Bits, text: str, notes: list[str], exhaustive: bool = False
    ) -> tuple[Item, int] | None:
        size = width(bits)
        clear = base & ~insert(bits, -1)
        top = 1 << size
        if exhaustive:
            values = list(range(top))
        else:
            samples = {
                0,
                1,
                2,
                5,
                63,
                64,
                65,
                255,
                4660,
                99999,
                -1,
                -2,
                -16,
                -17,
                top // 2,
                top // 2 - 1,
                top // 2 + 77,
            }
            values = sorted({v % top for v in samples} | {v * 2654435761 % top for v in range(300)})
            if name == "dpp8":  # in some opcodes LLVM interprets small values as operand codes
                values = sorted({*values, *range(256)})
            elif name == "offset" and size > 21:
                half = self.ask([clear | insert(bits, v) for v in values if v >= top // 2])
                if not any(a[0] for a in half):  # must be positive
                    bits = (*bits[:-1], (bits[-1][0], bits[-1][1] - 1))
                    size, top = size - 1, top // 2
                    values = sorted({v % top for v in values})
        quick = self.ask([clear | insert(bits, v) for v in (0, 1, 5, (1 << size) - 2)])
        if len({t for _, t in quick}) == 1:
            return None
        legal = [v for v, a in zip((0, 1, 5, (1 << size) - 2), quick, strict=True) if a[0]]
        if legal == [0]:
            return None
        answers = self.ask([clear | insert(bits, v) for v in values])
        _mnemonic, _ops0, _tail0 = split(text)
        got: dict[int, str] = {}
        index = -2
        pairs = {v: split(t) for v, (s, t) in zip(values, answers, strict=True) if s}
        widest = max((len(p[1]) for p in pairs.values()), default=0)
        short = next((p for v, p in pairs.items() if v == 0), None)
        if short is None:
            notes.append(f"{name}: zero is illegal")
            return None
        for i in range(widest):
            if len({p[1][i] if i < len(p[1]) else "" for p in pairs.values()}) > 1:
                index = i
                break
        if index >= 0:
            got = {v: (p[1][index] if index < len(p[1]) else "") for v, p in pairs.items()}
        else:
            everything = [set(p[2]) for p in pairs.values()]
            common = set.intersection(*everything)
            got = {v: " ".join(w for w in p[2] if w not in common) for v, p in pairs.items()}
        prefix = ""
        if index < 0:
            sample = next((t for t in got.values() if ":" in t), "")
            prefix = sample[: sample.index(":") + 1] if sample else ""
            if "offset0:" in "".join(got.values()) + "".join(got.values()) and name == "offset":
                return None
            if "offset1:" in "".join(got.values()) and name == "offset":
                return None
        silent = got.get(0) == "" and index < 0
        best: tuple[int, str, dict[int, str]] | None = None
        for style, show in STYLES.items():
            wrong = {
                v: t for v, t in got.items() if t != ("" if silent and v == 0 else prefix + show(v, size))
            }
            mask = EXCEPTION_MASKS.get(style, -1)
            if wrong and mask != -1 and any("sendmsg(" in t for t in got.values()):
                if not exhaustive:
                    return self._number(base, name, bits, text, notes, exhaustive=True)
                names = {v & mask: t for v, t in wrong.items()}
                if all(names.get(v & mask, show(v, size)) == t for v, t in got.items()):
                    return Item("number", name, bits, style=style, exceptions=names), index
            if best is None or len(wrong) < best[0]:
                best = (len(wrong), style, wrong)
            if not wrong:
                break
        assert best is not None
        if best[0] and not exhaustive and size <= 16:
            return self._number(base, name, bits, text, notes, exhaustive=True)
        item = Item(
            "number" if index >= 0 else "nummod", name, bits, style=best[1], prefix=prefix, silent=silent
        )
        if best[0]:
            if any(t.startswith("hwreg(") for t in best[2].values()):
                names = {}
                for v, t in got.items():
                    if v >> 6 == (31 << 5) and t != f"hwreg({v & 63})":
                        names[v & 63] = t[6:-1]
                item.style, item.exceptions = "hwreg", names
            elif best[0] <= 2000:
                item.exceptions = best[2]
            else:
                notes.append(
                    f"{name}: no style for {best[0]} like {dict(list(best[2].items())[:6])}, best {best[1]}"
                )
        if len(pairs) != len(values):
            notes.append(f"{name}: {len(values) - len(pairs)} of {len(values)} values are illegal")
        return item, index

    def _modifier(
        self,
        base: int,
        name: str,
        bits: Bits,
        operands: list[str],
        placed: dict[int, Item],
        mnemonic: str,
        notes: list[str],
    ) -> Item | None:
        clear = base & ~insert(bits, -1)
        count = 1 << width(bits)
        answers = self.ask([clear | insert(bits, v) for v in range(count)])
        tails: list[list[str] | None] = []
        expected = self.ask([base])[0][0]
        for size, text in answers:
            if size != expected:
                tails.append(None)
                continue
            m, _, tail = split(text)
            tails.append(tail if m == mnemonic else None)
            if m != mnemonic and not self.layout.src0:
                notes.append(f"{name} turns {mnemonic} into {m}")
        if tails[0] is None and not self.layout.src0:
            notes.append(f"{name}: zero is illegal")
        origin = split(answers[next(i for i, t in enumerate(tails) if t is not None)][1])[1] if any(
            t is not None for t in tails
        ) else operands
        position = [low + i for low, size in bits for i in range(size)]
        for i in range(width(bits)):
            if tails[0] is None or tails[1 << i] is None:
                continue
            for index, token in enumerate(split(answers[1 << i][1])[1]):
                item = placed.get(index)
                old = origin[index] if index < len(origin) else ""
                if item is None or old == token:
                    continue
                if token in (f"-{old}", f"neg({old})"):
                    item.neg = position[i]
                elif token in (f"|{old}|", f"|{old}"):  # for v_cndmask, LLVM closes the bars after vcc
                    item.abs = position[i]
                elif token == f"sext({old})":
                    item.sext = position[i]
                elif not re.match(r"^v\d+\.[lh]$", token) and (
                    token != old.partition(".")[0]
                ):  # LLVM falls back to whole registers if a bit has no source
                    notes.append(f"{name} bit {i}: {old} -> {token}")
        legal = [t for t in tails if t is not None]
        prefix = len(_common(list(legal)))
        suffix = len(_common([t[prefix:][::-1] for t in legal]))
        texts = tuple(None if t is None else " ".join(t[prefix : len(t) - suffix]) for t in tails)
        if "op_sel" in name:
            texts = tuple(self._whole(t, a[1], origin) for t, a in zip(texts, answers, strict=True))
        if all(t == "" for t in texts):
            return None
        return Item("modifier", name, bits, texts)

    def _joined(self, base: int, items: list[Item], operands: list[str], mnemonic: str) -> list[Item]:
        """Merge modifiers whose bits form one number, and modifiers of which one makes others illegal."""
        numbers = [i for i in items if any(t and t.startswith("bitop3:") for t in i.texts)]
        wholes = [i for i in items if any(t and t.startswith(WHOLE_REGISTERS) for t in i.texts)]
        if len(numbers) > 1:
            chosen = numbers
            name = "bitop3"
            names = [i.name for i in chosen]
        elif wholes and self._whole_restricts(base, wholes[0]):
            names = ["op_sel", "abs", "neg"]
            chosen = [i for i in items if i.name in names]
            name = "op_sel"
        else:
            return items
        fields = self.layout.modifiers
        bits = tuple(b for n in names for b in fields[n])
        bits = tuple((low + i, 1) for low, size in bits for i in range(size))
        joint = self._modifier(base, name, bits, operands, {}, mnemonic, [])
        rest = [i for i in items if i not in chosen]
        return rest if joint is None else [*rest, joint]

    def _whole_restricts(self, base: int, whole: Item) -> bool:
        """Whether printing operands as whole registers makes some source modifiers illegal that would otherwise be
        ignored.
        """
        others = [self.layout.modifiers[n] for n in ("abs", "neg") if n in self.layout.modifiers]
        code = next(v for v, t in enumerate(whole.texts) if t and t.startswith(WHOLE_REGISTERS))
        for bits in others:
            plain, both = self.ask(
                [
                    base & ~insert(whole.bits, -1) | insert(bits, 1),
                    base & ~insert(whole.bits, -1) | insert(whole.bits, code) | insert(bits, 1),
                ]
            )
            if plain[0] and not both[0]:
                return True
        return False

    @staticmethod
    def _whole(text: str | None, answer: str, origin: list[str]) -> str | None:
        """Mark the text if LLVM falls back to whole registers, as it does when a bit of op_sel does not belong to an
        operand.
        """
        if text is None:
            return None
        found = split(answer)[1]
        whole = any(
            "." in old and old.partition(".")[0] == new for old, new in zip(origin, found, strict=False)
        )
        return WHOLE_REGISTERS + text if whole else text

    def _order(self, base: int, items: list[Item], text: str, notes: list[str]) -> list[Item]:
        """Order the independent items and words of the tail as in the text."""
        tail = split(text)[2]

        def value_with_text(item: Item) -> int | None:
            if item.sort == "nummod":
                return 5
            for v, t in reversed(list(enumerate(item.texts))):
                if t and not t.startswith(WHOLE_REGISTERS):
                    return v
            return None

        own: dict[int, str] = {}
        for i, item in enumerate(items):
            v = value_with_text(item)
            if v is not None:
                own[i] = self._text_of(item, v)
        shown = {self._text_of(i, extract(base, i.bits)) for i in items}
        constant = [w for w in tail if w and w not in " ".join(shown).split(" ") and w not in shown]
        everything: list[tuple[Item, str, int | None]] = [
            (items[i], t, value_with_text(items[i])) for i, t in own.items()
        ]
        everything += [(Item("fixmod", "", text=w), w, None) for w in constant]
        before: dict[int, set[int]] = {i: set() for i in range(len(everything))}
        queries = []
        pairs = []
        for i, j in itertools.combinations(range(len(everything)), 2):
            word = base
            for k in (i, j):
                item, _, v = everything[k]
                if v is not None:
                    word = (word & ~insert(item.bits, -1)) | insert(item.bits, v)
            pairs.append((i, j))
            queries.append(word)
        for (i, j), (size, answer) in zip(pairs, self.ask(queries) if queries else [], strict=True):
            if not size:
                continue
            padded = f" {answer} "
            a, b = padded.find(f" {everything[i][1]} "), padded.find(f" {everything[j][1]} ")
            if a < 0 or b < 0:
                if not (set(everything[i][0].bits) & set(everything[j][0].bits)):
                    notes.append(f"{everything[i][0].name} and {everything[j][0].name} interact: {answer}")
                continue
            if a < b:
                before[j].add(i)
            else:
                before[i].add(j)
        ordered: list[int] = []
        while len(ordered) < len(everything):
            ready = [i for i in before if i not in ordered and before[i] <= set(ordered)]
            if not ready:
                raise LearnError(f"the order of modifiers is cyclic: {text}")
            ordered.append(ready[0])
        shown_items = [everything[i][0] for i in ordered]
        return shown_items + [item for i, item in enumerate(items) if i not in own]

    def _text_of(self, item: Item, value: int) -> str:
        if item.sort == "nummod":
            if item.silent and value == 0:
                return ""
            return item.exceptions.get(value, item.prefix + STYLES[item.style](value, width(item.bits)))
        return (item.texts[value] or "").removeprefix(WHOLE_REGISTERS)

    def _must(self, base: int, covered: int, text: str, size: int, notes: list[str]) -> tuple[int, int]:
        """Find bits that have no meaning, but must have a fixed value."""
        free = [i for i in range(32 * self.layout.dwords) if not covered >> i & 1]
        mask = 0
        for bit, (got_size, got) in zip(free, self.ask([base ^ (1 << b) for b in free]), strict=True):
            if got_size != size or split(got)[0] != split(text)[0]:
                mask |= 1 << bit
            elif got != text:
                notes.append(f"bit {bit} is in no field but matters: {text} / {got}")
        return mask, base & mask


def _common(lists: list[list[str]]) -> list[str]:
    """The longest common prefix."""
    result: list[str] = []
    for column in zip(*lists, strict=False):
        if len(set(column)) != 1:
            break
        result.append(column[0])
    return result
