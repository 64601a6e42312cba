"""Sets the operands of an instruction word from the typed text: the inverse of what `rocdbg.isa.row_items` does with
each item of a row.
"""

from __future__ import annotations

import re

from rocdbg.isa.assembler.errors import Mismatch
from rocdbg.isa.assembler.instruction_word import Place, Word
from rocdbg.isa.assembler.line_syntax import elements
from rocdbg.isa.assembler.named_immediates import named
from rocdbg.isa.assembler.typed_numbers import (
    Number,
    absolute,
    constant_bits_of,
    literal_of,
    put_address,
    read,
    truncated,
)
from rocdbg.isa.encoding_layouts import Bits, extract, insert
from rocdbg.isa.encoding_table import Texts
from rocdbg.isa.inline_constants import constant_bits, inline_code
from rocdbg.isa.instruction import OperandKind
from rocdbg.isa.operand_text import register_operand
from rocdbg.isa.operands import OperandSyntaxError, Register, is_missing, parse_register
from rocdbg.isa.row_items import UNUSED

_HALF = re.compile(r"(?<=[\d\]])\.[lh]\b")
_VECTOR = re.compile(r"^[-|(\[]*(?:(?:neg|abs)\s*[(|]+)*\s*v[\d\[]", re.IGNORECASE)
_NUMBER = re.compile(r"-?\d|code \d")
_FIRST_CONSTANT = 128
_INVALID = "/*Invalid immediate*/"
"""The mark that is printed with a literal which the operand does not allow. A literal that is typed with this mark is
accepted.
"""


class TextCodes:
    """Maps a text, a register or a constant to its codes: the reverse of `Texts`, which gives the text of a code."""

    def __init__(self, texts: Texts, family: str) -> None:
        self.texts = texts
        self.codes: dict[str, list[int]] = {}
        for code, text in enumerate(texts):
            if text is not None:
                # LLVM prints the constants of v_fmac in DPP forms as operand codes, but parses them as numbers.
                inline = inline_code(code, texts)
                is_code = inline >= _FIRST_CONSTANT and text == f"{inline:#x}"
                self.codes.setdefault(f"code {code}" if is_code else text, []).append(code)
        self._family = family
        self.has_halves = "v0.l" in self.codes
        self._registers: dict[tuple[OperandKind, int, int, int | None], list[int]] | None = None
        self._whole: dict[str, list[int]] | None = None
        self._constants: dict[str, dict[int, list[int]]] = {}

    def whole(self, text: str) -> list[int]:
        """Codes of a text without halves."""
        if self._whole is None:
            self._whole = {}
            for known, codes in self.codes.items():
                self._whole.setdefault(_HALF.sub("", known), []).extend(codes)
        return sorted(self._whole.get(text, ()))

    def register(self, register: Register) -> list[int]:
        """Codes of a register, in any spelling."""
        if self._registers is None:
            self._registers = {}
            for text, codes in self.codes.items():
                operand = None if "/*" in text else register_operand("", text, self._family)
                if operand is not None:
                    key = operand.kind, operand.index, operand.dwords, operand.half
                    self._registers.setdefault(key, []).extend(codes)
        index, dwords, kind = register.index, register.dwords, register.kind
        found = self._registers.get((kind, index, dwords, register.half), ())
        if not found and register.half is None:
            found = self._registers.get((kind, index, dwords, 0), ())
        return sorted(found)

    def constant(self, bits: int, type: str) -> list[int]:
        """Codes of the inline constant that has these bits in an operand of this type."""
        if type not in self._constants:
            known = self._constants[type] = {}
            for text, codes in self.codes.items():
                if "/*" in text or not _NUMBER.match(text):
                    continue
                for code in codes:
                    inline = inline_code(code, self.texts)
                    if type == "b16" and inline >= 240 and not text.startswith("0x"):
                        continue
                    if (value := constant_bits(inline, type, text)) is not None:
                        known.setdefault(value, []).append(code)
        return self._constants[type].get(bits, [])


class OperandField:
    """An operand whose text is selected by bits."""

    def __init__(
        self, name: str, bits: Bits, texts: TextCodes, literal: str, neg: int, abs: int, sext: int, type: str,
        wide: bool, vectors: bool, counts: frozenset[int] = frozenset(), shared: bool = False,
    ) -> None:
        """``wide``: the encoding may have 64-bit literals that are not typed as such. ``vectors``: bits outside the
        operand's own field that turn all codes into vector registers. ``counts``: the numbers of registers that may be
        written, from the printed number on. ``shared``: a literal is the 64-bit one that the instruction always has.
        """
        self._wide, self._vectors, self._counts, self._shared = wide, vectors, counts, shared
        self.name, self._bits, self._mask = name, bits, insert(bits, -1)
        self._texts, self._literal, self._type = texts, literal, type
        self._neg, self._abs, self._sext = (1 << bit if bit >= 0 else 0 for bit in (neg, abs, sext))
        self._null = texts.codes.get("0x0") if name == "soffset" and "null" not in texts.codes else None
        """The codes of null if null is printed as the number 0."""
        self._messages = {code: text for text, codes in texts.codes.items() if _is_message(text) for code in codes}

    def read(self, typed: str, word: Word) -> None:
        """Set the bits from the typed text; raises Mismatch if it is not possible here."""
        if is_missing(typed, word.place.target) and self.name != "tgt":  # `null' is a valid target of exports
            raise Mismatch(f"{word.place.target.name} has no register `{typed}'")
        if self._texts.has_halves:
            bare = typed.strip("-|()abnegsxt")
            if bare.endswith((".l", ".h")):
                word.half = word.half or typed
            elif re.match(r"v[\d\[]", bare):
                word.plain = word.plain or typed
        if self._vectors and not _VECTOR.match(typed):
            raise Mismatch(f"{self.name} cannot be `{typed}': it takes vector registers")
        codes = self._exact(typed)
        if codes is None:
            typed, neg, absolute_, sext = _signs(typed)
            if is_missing(typed, word.place.target):
                raise Mismatch(f"{word.place.target.name} has no register `{typed}'")
            for sign, bit, what in ((neg, self._neg, "neg"), (absolute_, self._abs, "abs"), (sext, self._sext, "sext")):
                if sign and not bit:
                    raise Mismatch(f"{self.name} cannot have the modifier {what}")
                word.put(bit, bit if sign else 0)
            codes = self._exact(typed) or self._codes(typed, word)
        else:
            for bit in (self._neg, self._abs, self._sext):
                word.put(bit, 0)
        if codes is None:
            return
        agreeing = [code for code in codes if word.agrees(self._mask, insert(self._bits, code))]
        if not agreeing:
            raise Mismatch(f"`{typed}' contradicts a modifier")
        # Bits without a meaning are left to other operands: halves of exports share registers.
        same = agreeing[0]
        differ = 0
        for code in agreeing[1:]:
            differ |= code ^ same
        if agreeing[0] & differ:
            differ = 0
        word.put(insert(self._bits, ~differ), insert(self._bits, agreeing[0]))

    def _is_literal(self, typed: str) -> bool:
        """Whether a number is a literal although its text is that of an inline constant: inline constants of short
        integers are printed as the bits that the instruction receives, but such bits, when typed, are literals.
        """
        return typed.startswith("0x") and (bool(self._literal) or self._type == "b16")

    def _exact(self, typed: str) -> list[int] | None:
        """Codes that are printed exactly like this."""
        return None if self._is_literal(typed) or self._null else self._texts.codes.get(typed)

    def _codes(self, typed: str, word: Word) -> list[int] | None:
        """Codes of a register or number; None if a literal was set."""
        if self._messages:
            return [self._message(typed, word)]
        if self._null and typed == "null":
            return self._null
        if not self._is_literal(typed) and not self._null and (codes := self._texts.whole(typed)):
            return codes
        register = typed_register(typed, word.place)
        if register is not None:
            if codes := self._texts.register(register):
                return codes
            if register.kind is OperandKind.VGPR and register.dwords in self._counts:
                for fewer in range(register.dwords - 1, 0, -1):
                    if codes := self._texts.register(Register(OperandKind.VGPR, register.index, fewer)):
                        return codes
            raise Mismatch(f"{self.name} cannot be `{typed}': it takes {self.takes()}")
        if self._null:
            raise Mismatch(f"{self.name} cannot be `{typed}': it takes scalar registers")
        marked = self._literal == "invalid" and typed.endswith(_INVALID)
        number = read(typed.removesuffix(_INVALID) if marked else typed, word.place.lookup)
        if number is None:
            raise Mismatch(f"`{typed}' is neither a register nor a number")
        if number.wide and not word.place.target.is_gfx125:
            raise Mismatch(f"{word.place.target.name} has no 64-bit literals")
        if marked:
            word.put_literal(*literal_of(number, "b32", False))
            return self._texts.codes["LITERAL"]
        return self._number(number, typed, word)

    def _message(self, typed: str, word: Word) -> int:
        """A message by name or as a number, which is not an inline constant here."""
        def evaluate(text: str) -> int:
            return absolute(text, word.place.lookup)

        code = named("sendmsg_gfx11", typed, self._messages, evaluate)
        code = evaluate(typed) if code is None else code
        if not 0 <= code < len(self._messages):
            raise Mismatch(f"the message must be 0 to {len(self._messages) - 1}, not {typed}")
        return code

    def _number(self, number: Number, typed: str, word: Word) -> list[int] | None:
        if "gpr_idx()" in self._texts.codes:  # the operand is a mask of operands, not a register
            if number.floating is None and not number.addresses and 0 <= number.integer < 16:
                return [number.integer]
            raise Mismatch(f"{self.name} must be 0 to 15 or gpr_idx(...), not {typed}")
        plain = number.floating is None and not number.literal and not number.addresses
        if plain and (codes := self._texts.codes.get(str(number.integer))):
            return codes
        is_code = plain and not self._literal and self._type != "b16"
        if is_code and (codes := self._texts.codes.get(hex(number.integer))):
            return codes
        bits = constant_bits_of(number, self._type)
        if bits is not None and (codes := self._texts.constant(bits, self._type)):
            return codes
        wide = "LITERAL64" in self._texts.codes
        if ("LITERAL" not in self._texts.codes and not wide) or self._literal in ("", "invalid"):
            if not self._texts.constant(0, self._type):
                raise Mismatch(f"{self.name} cannot be `{typed}': it takes {self.takes()}")
            raise Mismatch(f"{self.name} cannot be `{typed}', which is not an inline constant: it takes {self.takes()}")
        if number.addresses:
            size = put_address(number, self._type, wide, self.name, word)
            return self._texts.codes["LITERAL64" if size == 8 else "LITERAL"]
        if self.name == "soffset" and (number.floating is not None or number.integer < 0):
            raise Mismatch(f"{self.name} cannot be `{typed}': literals are unsigned numbers here")
        long = word.place.target.is_gfx125
        value, size = literal_of(number, self._type, wide and (self._wide or number.wide), long)
        if self._shared and size == 4:
            value, size = value << 32, 8
        word.put_literal(value, size)
        return self._texts.codes["LITERAL64" if size == 8 else "LITERAL"]

    def takes(self) -> str:
        """A description of the permitted operands."""
        return describe(self._texts, bool(self._literal) and self._literal != "invalid")


def _is_message(text: str) -> bool:
    return text.startswith("sendmsg(")


def describe(texts: TextCodes, literal: bool) -> str:
    """A description of the kinds of operand that a vector of texts contains."""
    kinds: dict[str, int] = {}
    for text in texts.codes:
        operand = None if "/*" in text else register_operand("", text, texts._family)
        if operand is None:
            if text.lstrip("-").isdigit():
                kinds["inline constants"] = 0
            elif text in ("LITERAL", "LITERAL64") and literal:
                kinds["literals"] = 0
            continue
        file = {
            OperandKind.VGPR: "vector", OperandKind.AGPR: "accumulation", OperandKind.SGPR: "scalar",
        }.get(operand.kind)
        if file:
            kinds.setdefault(f"{file} registers", operand.dwords)
        elif operand.kind is OperandKind.OFF:
            kinds["off"] = 0
    words = [f"{kind} in groups of {count}" if count > 1 else kind for kind, count in kinds.items()]
    if not words:
        words = [f"`{text}'" for text in list(texts.codes)[:8]]
    return " or ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def typed_register(typed: str, place: Place) -> Register | None:
    """The register that a text names; None if it is not a register. Raises Mismatch for one that the target does not
    have."""
    if not re.match(r"^\[|^(?:v|a|acc|s|ttmp)\s*\[|^(?:v|a|acc|s|ttmp)\d+(\.[lh])?$|^[a-z]", typed, re.IGNORECASE):
        return None
    if re.match(r"^lit(64)?\s*\(", typed, re.IGNORECASE):
        return None
    if not typed.islower() and typed.isidentifier() and place.lookup(typed) is not None:
        return None  # names of symbols are case-sensitive
    try:
        register = parse_register(typed, place.target, 64)
    except OperandSyntaxError as error:
        if error.reason.startswith("it is neither"):
            return None
        raise Mismatch(f"`{typed}': {error.reason}") from None
    return None if register.kind is OperandKind.CONSTANT else register


def _signs(typed: str) -> tuple[str, bool, bool, bool]:
    """The operand without its source modifiers: neg, abs, sext."""
    neg = absolute_ = sext = False
    if match := re.match(r"^neg\s*\((.*)\)$", typed, re.IGNORECASE | re.DOTALL):
        typed, neg = match[1].strip(), True
    elif re.match(r"^-\s*(?![\d.(~!+\-\s])", typed):
        typed, neg = typed[1:].strip(), True
    if typed.startswith("|") and typed.endswith("|") and len(typed) > 2:
        typed, absolute_ = typed[1:-1].strip(), True
    elif match := re.match(r"^abs\s*\((.*)\)$", typed, re.IGNORECASE | re.DOTALL):
        typed, absolute_ = match[1].strip(), True
    if match := re.match(r"^sext\s*\((.*)\)$", typed, re.IGNORECASE | re.DOTALL):
        typed, sext = match[1].strip(), True
    return typed, neg, absolute_, sext


class RegistersField:
    """Vector registers of an image instruction: other fields give their number."""

    def __init__(
        self, name: str, bits: Bits, controls: Bits, counts: tuple[int, ...], default: int, more: frozenset[int]
    ) -> None:
        """``more``: the numbers of registers that may be written instead of a smaller number."""
        self._more = more
        self.name, self._bits, self._mask = name, bits, insert(bits, -1)
        self._controls, self._counts, self._default = controls, counts, default

    def fixed(self) -> tuple[int, int]:
        """The control bits that have the same value in all cases in which the operand exists, and this value."""
        legal = [code for code, count in enumerate(self._counts) if count >= 0] if self._controls else []
        always = never = insert(self._controls, -1) if legal else 0
        for code in legal:
            always &= insert(self._controls, code)
            never &= ~insert(self._controls, code)
        return always | never, always

    def count(self, word: Word) -> int:
        """The number of registers; raises Mismatch if the modifiers allow none."""
        count = self._counts[extract(word.value, self._controls)] if self._controls else self._counts[0]
        if count == UNUSED:
            return 0
        if count < 0:
            raise Mismatch("its modifiers cannot be combined")
        return count

    def read(self, typed: str, word: Word) -> None:
        """Set the first register."""
        count = self.count(word)
        register = typed_register(typed, word.place)
        if register is None or register.kind is not OperandKind.VGPR or register.half is not None:
            raise Mismatch(f"{self.name} cannot be `{typed}': it takes vector registers")
        # groups of more than eight registers did not exist
        more = (8,) if self.name == "vaddr0" and 5 <= count <= 7 else self._more
        if register.dwords != count and not (register.dwords > count and register.dwords in more):
            raise Mismatch(f"with these modifiers, {self.name} must have {count} registers, not {register.dwords}")
        word.put(self._mask, insert(self._bits, register.index))


class FixedField:
    """An operand that does not depend on bits."""

    def __init__(self, text: str, family: str) -> None:
        self.name = self.text = text
        self._operand = register_operand("", text, family)

    def read(self, typed: str, word: Word) -> None:
        """Check that the text is the only possible one."""
        if typed == self.text:
            return
        register = typed_register(typed, word.place)
        operand = self._operand
        if register is None or operand is None or (register.kind, register.index, register.dwords) != (
            operand.kind, operand.index, operand.dwords,
        ):
            number = None if register or operand else read(typed, word.place.lookup)
            if number is None or str(number.integer) != self.text or number.floating is not None:
                raise Mismatch(f"`{typed}' must be `{self.text}'")


class LiteralField:
    """A literal that the instruction always has."""

    def __init__(self, style: str, short: bool) -> None:
        self.name = "literal"
        self._wide = style == "k64"
        self._type = "f64" if self._wide else "f16" if short else "b32"

    def read(self, typed: str, word: Word) -> None:
        """Set the literal."""
        number = read(typed, word.place.lookup)
        if number is None:
            raise Mismatch(f"`{typed}' must be a number")
        if number.addresses:
            put_address(number, self._type, False, "the literal", word)
            return
        if self._type == "f16" and number.floating is None:  # the upper bits are kept
            truncated(number.integer, 16)
            word.put_literal(number.integer & 0xFFFFFFFF, 4)
            return
        value, size = literal_of(number, self._type, self._wide, self._wide)
        if self._wide and size == 4:
            value, size = value << 32, 8
        word.put_literal(value, size)


def split_list(typed: str) -> list[str]:
    """The elements of a bracketed list of operands; a single operand is a list of one."""
    return elements(typed) if typed.startswith("[") and typed.endswith("]") else [typed]
