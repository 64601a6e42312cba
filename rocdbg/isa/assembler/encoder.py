"""Assembles lines to bytes: finds the row of the encoding tables for a line."""

from __future__ import annotations

from functools import cache
from typing import Any

from rocdbg.arch.targets import target_by_name
from rocdbg.errors import Error
from rocdbg.isa.assembler.errors import AssemblyError, Mismatch
from rocdbg.isa.assembler.instruction_word import Place
from rocdbg.isa.assembler.line_syntax import Statement, column_of, parse
from rocdbg.isa.assembler.operand_fields import TextCodes
from rocdbg.isa.assembler.operand_rules import violation
from rocdbg.isa.assembler.row_encoder import RowEncoder
from rocdbg.isa.decoder import UnknownEncodingError, decoder_for
from rocdbg.isa.encoding_layouts import GFX12, Layout, layouts
from rocdbg.isa.encoding_table import Table, base_name
from rocdbg.isa.operand_expressions import Lookup

_FORMS = ("", "_e32", "_e64", "_sdwa", "_dpp", "_e64_dpp")
"""Suffixes, in the order in which the forms of an instruction typed without a suffix are tried."""


def _suffix_of(layout: Layout) -> str:
    """The suffix that identifies the form of a layout."""
    three = layout.encoding in ("VOP3", "VOP3P")
    if layout.src0:
        return "_sdwa" if layout.name.endswith("_SDWA") else "_e64_dpp" if three else "_dpp"
    return "_e64" if three else "_e32" if layout.encoding in ("VOP1", "VOP2", "VOPC") else ""


def _is_of_form(layout: Layout, suffix: str) -> bool:
    """Whether a layout matches the suffix of a mnemonic; instructions outside the vector ALU may have the suffix
    ``_e32``."""
    found = _suffix_of(layout)
    return found == suffix or (suffix == "_e32" and not found and layout.encoding != "VOPD")


class Assembler:
    """Assembles for one target and wave size."""

    def __init__(self, target: str, wave_size: int) -> None:
        try:
            self._table = Table(target)
        except FileNotFoundError:
            raise UnknownEncodingError(target) from None
        self.target = target_by_name(target)
        self.wave_size = wave_size
        self._decoder = decoder_for(target, wave_size)
        self._aliases = self._table.aliases
        self._texts: dict[int, TextCodes] = {}
        self._rows: dict[str, list[tuple[list[Any], Layout, int]]] = {}
        self._encoders: dict[tuple[str, int], RowEncoder] = {}
        for layout in layouts(self._table.family):
            for key, packed in self._table.rows(layout.name, wave_size).items():
                self._rows.setdefault(packed[0], []).append((packed, layout, int(key)))

    def knows(self, mnemonic: str) -> bool:
        """Whether the target has an instruction with that name, with or without an encoding suffix."""
        name = mnemonic.lower()
        if any(base_name(name) + form in self._rows for form in _FORMS) or base_name(name) in self._aliases:
            return True
        return any(row.startswith(f"{name} :: ") for row in self._rows)

    def assemble(self, text: str, address: int = 0, symbols: Lookup | None = None) -> bytes:
        """The bytes of one instruction at ``address``. Raises AssemblyError."""
        statement = parse(text)
        if statement.mnemonic in (".long", ".byte"):
            return self._data(statement, text)
        place = Place(self.target, self.wave_size, address, symbols or (lambda name: None))
        best: Mismatch | None = None
        candidates = self._candidates(statement)
        if any(part[0].startswith("[") and "," in part[0] for part in statement.parts):
            # If the instruction can have a list of image addresses, a typed list is one, so rows with a list come
            # first. (The sort is stable, so the order is otherwise unchanged.)
            candidates.sort(key=lambda encoder: not encoder.has_list)
        for encoder in candidates:
            try:
                code = encoder.encode(statement, place)
                found = self._decoder.decode(code, address)
                if found.mnemonic != encoder.mnemonic or found.size != len(code):
                    raise Mismatch("its encoding would be that of another instruction")
                if reason := violation(found, encoder.layout, self.target):
                    raise Mismatch(reason, len(found.operands), statement.mnemonic)
                return code
            except Mismatch as error:
                if best is None or (error.matched, error.near) > (best.matched, best.near):
                    best = error
        if (code_ := self._high_half(statement, text, address, symbols)) is not None:
            return code_
        if best is None:
            best = Mismatch(f"{self.target.name} has no instruction `{statement.mnemonic}'", 0, statement.mnemonic)
        column = column_of(text, statement, best.matched, best.word)
        raise AssemblyError(text, self.target.name, best.reason, column)

    def _candidates(self, statement: Statement) -> list[RowEncoder]:
        name = statement.mnemonic
        if statement.second:
            return self._encoders_of(f"{name.removesuffix('_e32')} :: {statement.second.removesuffix('_e32')}")
        suffix = next((form for form in reversed(_FORMS) if form and name.endswith(form)), "")
        if (base := name.removesuffix(suffix)) in self._aliases:
            name = self._aliases[base] + suffix
        if suffix and name not in self._rows:
            # Printed without the suffix: there is only one form, or the modifiers identify it.
            name = name.removesuffix(suffix)
            found = [encoder for encoder in self._encoders_of(name) if _is_of_form(encoder.layout, suffix)]
            return sorted(found, key=lambda encoder: encoder.later)
        forms = ("",) if suffix else _FORMS
        found = [encoder for form in forms for encoder in self._encoders_of(name + form)]
        # Forms with DPP and SDWA may be printed without a suffix.
        return sorted(found, key=lambda encoder: (_FORMS.index(_suffix_of(encoder.layout)), encoder.later))

    def _encoders_of(self, name: str) -> list[RowEncoder]:
        found = []
        for number, (packed, layout, key) in enumerate(self._rows.get(name, ())):
            encoder = self._encoders.get((name, number))
            if encoder is None:
                encoder = RowEncoder(packed, layout, key, self._table, self._text_codes)
                self._encoders[name, number] = encoder
            found.append(encoder)
        return found

    def _text_codes(self, number: int) -> TextCodes:
        if number not in self._texts:
            self._texts[number] = TextCodes(self._table.texts(number), self._table.family)
        return self._texts[number]

    def _data(self, statement: Statement, text: str) -> bytes:
        size = 4 if statement.mnemonic == ".long" else 1
        try:
            values = [int("".join(part), 0) for part in statement.parts]
            return b"".join(value.to_bytes(size, "little") for value in values)
        except (ValueError, OverflowError):
            reason = f"{statement.mnemonic} takes {8 * size}-bit numbers, separated by commas"
            raise AssemblyError(text, self.target.name, reason, 1) from None

    def _high_half(
        self, statement: Statement, text: str, address: int, symbols: Lookup | None
    ) -> bytes | None:
        """Assemble what GFX12's decoder accepts in addition to LLVM's table: v_mov_b16, v_swap_b16, and short forms
        whose result goes to a high half.
        """
        if self._table.family not in GFX12 or not statement.parts:
            return None
        name, first = statement.mnemonic, "".join(statement.parts[0])
        try:
            if name.startswith(("v_mov_b16", "v_swap_b16")) and self.target.name != "gfx1150":
                code = assembler_for("gfx1150", self.wave_size).assemble(text, address, symbols)
            elif first.endswith(".h") and name.startswith("v_"):
                low = [[first.removesuffix(".h")], *statement.parts[1:]]
                line = f"{name} {', '.join(' '.join(part) for part in low)}"
                short = self.assemble(line, address, symbols)
                code = bytes((*short[:3], short[3] | 1, *short[4:]))
                if all(operand.half != 1 for operand in self._decoder.decode(code, address).operands[:1]):
                    return None  # the result is not a half of a register
            else:
                return None
        except Error:
            return None
        found = self._decoder.decode(code, address)
        return code if found.size == len(code) and base_name(found.mnemonic) == base_name(name) else None


@cache
def _assembler(target: str, wave_size: int) -> Assembler:
    return Assembler(target, wave_size)


def assembler_for(target: str, wave_size: int | None = None) -> Assembler:
    """The assembler of a target, cached. Without ``wave_size``: the compiler's default."""
    if wave_size is None:
        wave_size = decoder_for(target).wave_size
    return _assembler(target, wave_size)
