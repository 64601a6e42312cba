"""Learns the image instructions (MIMG, VIMAGE, VSAMPLE).

The number of their data and address registers depends not only on the opcode, but also on control fields (dmask, dim,
a16, d16, tfe), so their register operands are items of a separate kind: a vector of register counts, indexed by the
control bits that matter.
"""

from __future__ import annotations

import itertools
import re

from rocdbg.isa.encoding_layouts import Bits, insert, width
from rocdbg.isa.generate.disassembly_text import split
from rocdbg.isa.generate.learn import Item, Learner, LearnError, Row
from rocdbg.isa.row_items import UNUSED

CONTROLS = ("dmask", "tfe", "d16", "dim", "a16")
"""Fields that may determine how many registers an operand has."""
_TUPLE = re.compile(r"^([va])(?:(\d+)|\[(\d+):(\d+)\])(?:/\*.*\*/)?$")
Shape = tuple[int, ...]
"""Number of data registers (0: no such operand), then of registers of each address."""


def _count(token: str) -> int:
    match = _TUPLE.match(token)
    if match is None:
        raise LearnError(f"no vector registers: {token}")
    return 1 if match[2] else int(match[4]) - int(match[3]) + 1


class ImageLearner(Learner):
    """Learns rows of one image layout."""

    _no_data = False
    """Whether the opcode does not have a data operand."""

    def _addresses(self) -> list[str]:
        return [name for name in self.layout.operands if name.startswith("vaddr")]

    def _shape(self, answer: tuple[int, str]) -> Shape | None:
        if not answer[1].startswith("image_"):  # illegal, or an instruction with a similar encoding
            return None
        operands = [
            o for o in split(answer[1])[1] if not o.startswith(("s", "ttmp", "vcc", "null", "m0", "exec"))
        ]
        data = [] if operands[0].startswith("[") or (len(operands) == 1 and self._no_data) else operands[:1]
        if len(operands) == len(data):
            raise LearnError(f"no addresses: {answer[1]}")
        addresses = operands[len(data)]
        each = addresses[1:-1].split(", ") if addresses.startswith("[") else [addresses]
        return (_count(data[0]) if data else 0, *map(_count, each))

    def learn(self, opcode: int, case: tuple[int, ...]) -> Row | None:
        layout = self.layout
        word0 = self.base_word(opcode, case)
        controls: Bits = tuple(
            (low + i, 1)
            for name in CONTROLS
            if name in layout.modifiers
            for low, size in layout.modifiers[name]
            for i in range(size)
        )
        vectors = [name for name in layout.operands if name.startswith("v")]
        registers = {name: insert(layout.operands[name], 16 + 16 * i) for i, name in enumerate(vectors)}
        scalars = {
            n: insert(b, 16 if width(b) == 9 else 4) for n, b in layout.operands.items() if n.startswith("s")
        }
        # Ray intersection instructions have a descriptor of four dwords and no coordinates to scale, and set these bits
        # accordingly.
        rays = word0 | sum(insert(layout.modifiers[name], 1) for name in ("unorm", "r128") if name in layout.modifiers)
        counts_of = itertools.product((word0, rays), range(len(vectors), 0, -1), range(len(scalars), -1, -1))
        for begin, addresses, count in counts_of:
            base = begin | sum(registers[n] for n in vectors[:addresses])
            base |= sum(list(scalars.values())[:count])
            answers = self.ask([base | insert(controls, c) for c in (0xF, 1, 3, 0, 0x1F, 0x2F, 0xF | 1 << 9)])
            legal = [i for i, a in enumerate(answers) if a[1].startswith("image_")]
            if legal:
                break
        else:
            return None
        if begin == rays:
            base &= ~insert(layout.operands[vectors[-1]], -1)  # must be zero if a16 omits the operand
        size = answers[legal[0]][0]
        mnemonic = split(answers[legal[0]][1])[0]
        notes: list[str] = []
        all_answers = self.ask([base | insert(controls, c) for c in range(1 << width(controls))])
        first = next(a for a in all_answers if a[1].startswith("image_"))
        self._no_data = len([t for t in split(first[1])[1] if t.startswith(("v", "a", "["))]) == 1
        shapes = [self._shape(a) for a in all_answers]
        default = None if self._aligned or begin == rays else self._default(base, controls, shapes)
        wider = max((len(s) for s in shapes if s), default=1)
        base |= insert(controls, all_answers.index(first))
        operands = split(self.ask([base])[0][1])[1]
        items: list[Item] = []
        covered = self._fixed_mask(case) | insert(controls, -1)
        names = ["vdata", *self._addresses()]
        listed = wider > 2
        for i in range(wider):
            counts = tuple(-1 if s is None else s[i] if i < len(s) else 0 for s in shapes)
            if begin == rays:
                counts = self._unused(base, controls, counts, layout.operands[names[i]])
            if i == 0 and not any(c > 0 for c in counts):
                continue
            if i == 1 and listed:
                items.append(Item("open", ""))
            bits, short = _shorten(controls, counts)
            field = layout.operands[names[i]]
            covered |= insert(field, -1)
            if self._aligned:
                items.append(self._explained(base, names[i], (*field, *bits), i))
                continue
            item = Item("registers", names[i], field)
            item.controls, item.counts = bits, short
            item.default = (default[i] if i < len(default) else 0) if default else -1
            items.append(item)
        if listed:
            items.append(Item("close", ""))
        for name, field in layout.operands.items():
            if name.startswith("s"):
                found, _ = self._operand(base, name, field, operands, mnemonic, size, notes)
                if found is not None:
                    found.name = name
                    items.append(found)
                    covered |= insert(found.bits, -1)
        modifiers = []
        for name, field in layout.modifiers.items():
            modifier = self._modifier(base, name, field, operands, {}, mnemonic, [])
            covered |= insert(field, -1)
            if modifier is not None:
                if name in CONTROLS and begin != rays:  # the counts tell which encodings are illegal
                    modifier.texts = self._control_texts(base, field, modifier.texts)
                modifiers.append(modifier)
        text = self.ask([base])[0][1]
        items += self._order(base, modifiers, text, notes)
        must_mask, must_value = self._must(base, covered, text, size, notes)
        return Row(mnemonic, items, size, must_mask, must_value, notes)

    def _unused(self, base: int, controls: Bits, counts: tuple[int, ...], field: Bits) -> tuple[int, ...]:
        """Counts with `UNUSED` for an operand that does not exist and whose bits must be zero."""
        clear = base & ~insert(controls, -1) | insert(field, 1)
        answers = self.ask([clear | insert(controls, code) for code in range(len(counts))])
        legal = [text.startswith("image_") for _, text in answers]
        return tuple(UNUSED if not count and not fine else count for count, fine in zip(counts, legal, strict=True))

    @property
    def _aligned(self) -> bool:
        """Whether registers must be aligned, which LLVM reports if they are not."""
        return self.layout.name == "MIMG" and self.oracle.cpu in ("gfx90a", "gfx942", "gfx950")

    def _explained(self, base: int, name: str, bits: Bits, index: int) -> Item:
        """An operand with a text for every register and every value of the controls."""
        clear = base & ~insert(bits, -1)
        answers = self.ask([clear | insert(bits, v) for v in range(1 << width(bits))])
        texts = tuple(split(text)[1][index - self._no_data] if size else None for size, text in answers)
        return Item("operand", name, bits, texts)

    def _control_texts(self, base: int, field: Bits, texts: tuple[str | None, ...]) -> tuple[str | None, ...]:
        """Texts of a control field that were illegal with the current values of other fields, learnt with other values.
        """
        known = list(texts)
        if None not in known:
            return texts
        others = [b for n, b in self.layout.modifiers.items() if n in CONTROLS and b != field]
        tails: dict[int, list[str]] = {}
        for value in range(len(known)):
            for combination in itertools.product(*[range(1 << min(width(b), 4)) for b in others]):
                word = base & ~insert(field, -1) | insert(field, value)
                for b, v in zip(others, combination, strict=True):
                    word = word & ~insert(b, -1) | insert(b, v)
                got = self.ask([word])[0]
                if got[0]:
                    tails[value] = split(got[1])[2]
                    break
        name = next((w.partition(":")[0] for t in texts if t for w in [t]), "")
        for value, tail in tails.items():
            if known[value] is None:
                known[value] = next((w for w in tail if w.partition(":")[0] == name), "")
        return tuple("" if t is None else t for t in known)

    def _default(self, base: int, controls: Bits, shapes: list[Shape | None]) -> Shape | None:
        """The counts that LLVM uses if registers would extend past the last one; None if unknown."""
        names = ["vdata", *self._addresses()]
        for i, name in enumerate(names):
            code = next((c for c, s in enumerate(shapes) if s and i < len(s) and s[i] > 1), None)
            if code is None:
                continue
            field = self.layout.operands[name]
            word = base & ~insert(field, -1) | insert(controls, code) | insert(field, 255)
            shape = self._shape(self.ask([word])[0])
            if shape is not None:
                return shape
        return None


def _shorten(controls: Bits, counts: tuple[int, ...]) -> tuple[Bits, tuple[int, ...]]:
    """Remove the control bits that do not matter."""
    bits = list(controls)
    for i in reversed(range(len(bits))):
        low = tuple(c for n, c in enumerate(counts) if not n >> i & 1)
        if low == tuple(c for n, c in enumerate(counts) if n >> i & 1):
            counts = low
            del bits[i]
    return tuple(bits), counts
