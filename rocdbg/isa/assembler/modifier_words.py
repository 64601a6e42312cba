"""Sets the modifiers and numbers of an instruction word from the typed text."""

from __future__ import annotations

import re
from collections.abc import Mapping

from rocdbg.arch.targets import Generation
from rocdbg.isa.assembler import named_immediates
from rocdbg.isa.assembler.errors import Mismatch
from rocdbg.isa.assembler.instruction_word import Place, Word
from rocdbg.isa.assembler.line_syntax import words_of
from rocdbg.isa.assembler.typed_numbers import absolute, fits, integer
from rocdbg.isa.encoding_layouts import Bits, insert, width
from rocdbg.isa.encoding_table import WHOLE_REGISTERS, Texts

_LIST = re.compile(r"^([a-z_0-9]+):\[([01](?:,[01])*)\]$")
_NUMBERED = re.compile(r"format:[-+~!(0-9]")
_MOST_SOURCES = 4
"""The most elements in a list of bits: three sources and the result. Elements for sources that do not exist have no
meaning.
"""
_DEFAULTS = {
    "row_mask": "row_mask:0xf", "bank_mask": "bank_mask:0xf",
    "dst_sel": "dst_sel:DWORD", "src0_sel": "src0_sel:DWORD", "src1_sel": "src1_sel:DWORD",
    "dst_unused": "dst_unused:UNUSED_PRESERVE", "wait_vdst": "wait_vdst:0",
    "wait_exp": "wait_exp:0",
}
"""The values of modifiers that are always printed, for when they are not typed."""


class ModifierField:
    """A modifier whose text is selected by bits."""

    def __init__(self, name: str, bits: Bits, texts: Texts, unused_set: bool) -> None:
        """``unused_set`` means that of several codes with the same meaning, the highest is used, not the lowest."""
        self.name, self._bits, self._mask = name, bits, insert(bits, -1)
        self._codes: dict[frozenset[str], list[int]] = {}
        self._whole: set[int] = set()
        self.words: set[str] = set()
        for code, text in enumerate(texts):
            if text is None:
                continue
            if text.startswith(WHOLE_REGISTERS):
                text = text.removeprefix(WHOLE_REGISTERS)
                self._whole.add(code)
            words = words_of(text)
            self.words.update(words)
            self._codes.setdefault(frozenset(words), []).append(code)
        self.heads = {_head(word) for word in self.words}
        self._places = self._list_places()
        default = _DEFAULTS.get(name)
        if default is None and not self._places and frozenset() not in self._codes:
            default = next((word for word in sorted(self.words) if word.endswith(":DWORD")), None)
        self._default = frozenset({default} if default in self.words else ())
        if unused_set:
            for codes in self._codes.values():
                codes.reverse()

    def _list_places(self) -> list[int]:
        """For lists of bits such as ``op_sel:[0,1]``, the code of each place, in which only that place's bit is set; 0
        for places whose bit is never printed.
        """
        places: dict[int, int] = {}
        lists: list[tuple[list[str], list[int]]] = []
        for words, codes in self._codes.items():
            if len(words) == 1 and (match := _LIST.match(next(iter(words)))):
                bits = match[2].split(",")
                lists.append((bits, codes))
                if bits.count("1") == 1:
                    places[bits.index("1")] = codes[0]
        if not places:
            return []
        found = [places.get(i, 0) for i in range(max(len(bits) for bits, _ in lists))]
        for bits, codes in lists:
            code = 0
            for place, bit in zip(found, bits, strict=False):
                code |= place if bit == "1" else 0
            if code not in codes:
                return []  # some combinations of bits have a meaning of their own
        return found

    def take(self, typed: list[str], place: Place) -> list[int] | None:
        """Remove the words that belong to this modifier from those typed; returns its codes, or None if there are none.
        """
        mine = []
        for word in list(typed):
            try:
                code, known = self._format(word, place), self._normal(word, place)
            except Mismatch as error:
                raise Mismatch(error.reason, 0, word) from None
            if code is not None:
                typed.remove(word)
                return [code]
            if known is not None:
                mine.append(known)
                typed.remove(word)
        if not mine:
            return None
        if len(mine) == 1 and (codes := self._list_codes(mine[0])):
            return codes
        found = self._codes.get(frozenset(filter(None, mine)))
        if found is None or len(set(mine)) != len(mine):
            words = " ".join(mine)
            raise Mismatch(f"`{words}' cannot be combined" if len(mine) > 1 else f"`{words}' cannot be used here")
        return found

    def _list_codes(self, word: str) -> list[int]:
        match = _LIST.match(word)
        if match is None or not self._places:
            return []
        bits = match[2].split(",")
        if len(bits) > _MOST_SOURCES:
            raise Mismatch(f"`{word}' must have {len(self._places)} elements")
        code = 0
        for place, bit in zip(self._places, bits, strict=False):
            code |= place if bit == "1" else 0
        for codes in self._codes.values():
            if code in codes:
                return codes if not self._whole.intersection(codes) else [code]
        return []

    def _format(self, word: str, place: Place) -> int | None:
        """A format by its number, ``format:22``; None if the word is not one."""
        if self.name != "format" or not _NUMBERED.match(word):
            return None
        number = absolute(word.partition(":")[2], place.lookup)
        if not 0 <= number < 1 << width(self._bits):
            raise Mismatch(f"`{word}': the format must be 0 to {(1 << width(self._bits)) - 1}, or a name in brackets")
        return number

    def _normal(self, word: str, place: Place) -> str | None:
        """A word of this modifier as the table spells it; None if it is not one. Raises Mismatch for a bad value."""
        if word in self.words:
            return word
        if self.name == "format" and _NUMBERED.match(word):
            return None
        head = _head(word)
        if head not in self.heads:
            return None
        if ":" not in word:
            return None
        name, _, value = word.partition(":")
        name, value = name.lower(), value.strip()
        if value.startswith("["):
            text = f"{name}:[{','.join(value[1:-1].replace(' ', '').split(','))}]"
            if text in self.words or (_LIST.match(text) and self._places):
                return text
        for spelled in (f"{name}:{value}", f"{name}:SQ_RSRC_IMG_{value}"):
            if spelled in self.words:
                return spelled
        if re.match(r"[-+~!(0-9]", value):
            number = absolute(value, place.lookup)
            if name == "bound_ctrl" and number == 0 and place.target.generation < Generation.GFX11:
                number = 1  # an older spelling
            for text in (f"{name}:{number}", f"{name}:{number:#x}"):
                if text in self.words:
                    return text
            if number == 0 and frozenset() in self._codes:
                return ""
        values = sorted(w.partition(":")[2] for w in self.words if _head(w) == head)
        shown = ", ".join(values[:8]) + (", ..." if len(values) > 8 else "")
        raise Mismatch(f"`{word}': {name} must be one of {shown}")

    def defaults(self) -> list[int]:
        """Codes that apply if nothing is typed: the one that assemblers prefer first."""
        codes = self._codes.get(frozenset()) or self._codes.get(self._default) or []
        return [code for code in codes if code not in self._whole] or codes

    def any_code(self, word: Word) -> int | None:
        """A code that agrees with the known bits."""
        for codes in self._codes.values():
            for code in codes:
                if code not in self._whole and word.agrees(self._mask, insert(self._bits, code)):
                    return code
        return None

    def put(self, codes: list[int], word: Word) -> bool:
        """Set the first code that agrees with the known bits; returns whether there is one."""
        for code in codes:
            value = insert(self._bits, code)
            if word.agrees(self._mask, value):
                word.put(self._mask, value)
                word.whole |= code in self._whole
                return True
        return False


class NumberField:
    """A field that is a number in some style: an immediate operand or a modifier."""

    def __init__(
        self, name: str, bits: Bits, style: str, prefix: str, silent: bool, names: Mapping[int, str], branch: bool
    ) -> None:
        self.name, self._bits, self._mask, self._style = name, bits, insert(bits, -1), style
        self.prefix, self._names, self._branch = prefix, names, branch
        self.narrow = False
        """Whether the highest bit of the field must be zero."""
        self.unsigned = style == "hwreg" or style.startswith("sendmsg")
        """Whether a 16-bit number must be unsigned, although the field could hold a signed one."""
        self.silent = silent or style == "optional_unsigned"
        self.head = _head(prefix) if prefix else ""
        self.counts = style.startswith(("waitcnt", "depctr"))
        self._values: dict[str, int] = {}
        for code, text in names.items() if style != "hwreg" else ():
            self._values.setdefault(text.replace(" ", ""), code)

    def read(self, typed: str, word: Word) -> None:
        """Set the number; raises Mismatch if it is not a number, or too large."""
        size = width(self._bits)
        text = typed
        if self.prefix and text.lower().startswith(self.prefix):
            text = text[len(self.prefix) :].strip()
        try:
            value = self._number(text, word)
        except Mismatch:
            known = self._values.get(typed.replace(" ", ""))
            if known is None:
                raise
            value = known
        word.put(self._mask, insert(self._bits, value & (1 << size) - 1))

    def _number(self, text: str, word: Word) -> int:
        size, place = width(self._bits) - self.narrow, word.place
        value = named_immediates.named(self._style, text, self._names, lambda part: absolute(part, place.lookup))
        if value is not None:
            return value
        value = self._distance(text, word) if self._branch else absolute(text, place.lookup)
        if self._style.startswith("signed") and self.name != "simm16":
            if not -(1 << size - 1) <= value < 1 << size - 1:
                raise _out_of_range(self.name, str(-(1 << size - 1)), str((1 << size - 1) - 1), value)
        elif not (fits(value, size) if self.name == "simm16" and not self.unsigned else 0 <= value < 1 << size):
            raise _out_of_range(self.name, "0", f"{(1 << size) - 1:#x}", value)
        return value

    def _distance(self, text: str, word: Word) -> int:
        """Dwords to a branch target, given as a label or as the number itself."""
        place = word.place
        value = integer(text, place.lookup)
        if value is None:
            raise Mismatch(f"`{text}' is not a branch target")
        if not value.addresses:
            return value.value
        if value.addresses != 1 or value.part:
            raise Mismatch(f"`{text}' is not an address")
        distance, rest = divmod(value.value - place.address - 4, 4)
        if rest:
            raise Mismatch(f"the distance to the branch target {value.value:#x} is not a multiple of 4 bytes")
        if not -0x8000 <= distance < 0x8000:
            raise Mismatch(f"the branch target {value.value:#x} is too far away from {place.address:#x}")
        return distance

    def absent(self, word: Word) -> None:
        """Handle a number that was not typed."""
        if not self.silent:
            raise Mismatch(f"{self.head or self.name} is missing")
        self.zero(word)

    def zero(self, word: Word) -> None:
        """Set the field to zero."""
        word.put(self._mask, 0)


def _out_of_range(name: str, low: str, high: str, value: int) -> Mismatch:
    return Mismatch(f"{name} must be {low} to {high}, not {value}", near=True)


def _head(word: str) -> str:
    """The text that identifies a modifier: its name up to the colon."""
    name, colon, _ = word.partition(":")
    return name.lower() + colon
