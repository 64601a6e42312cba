"""The table of call frame instructions, their decoding, and their execution, which produces a row (A.6.4.2, A.7.24)."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from functools import lru_cache

from msgspec import Struct

from rocdbg import work
from rocdbg.dwarf.cfi_rule_types import (
    CfaExpression,
    CfaRegister,
    CfaRule,
    ExpressionRule,
    OffsetRule,
    RegisterRule,
    Rule,
    SameValueRule,
    UndefinedRule,
    ValExpressionRule,
    ValOffsetRule,
)
from rocdbg.dwarf.cursor import Cursor
from rocdbg.dwarf.errors import DecodeError, DwarfError, EvaluationError, IllFormed
from rocdbg.dwarf.operation_table import DIALECTS, Dialect

__all__ = ["CFA_INSTRUCTIONS", "CfaOperand", "InstructionInfo", "Interpreter"]


class CfaOperand(Enum):
    """How an operand of a call frame instruction is encoded."""

    LOW6 = "low 6 bits of the code"
    U1 = "u1"
    U2 = "u2"
    U4 = "u4"
    U8 = "u8"
    ULEB = "uleb"
    SLEB = "sleb"
    ADDRESS = "address"
    BLOCK = "block"


class InstructionInfo(Struct, frozen=True):
    """One row: instruction `name` has `code` in `dialects`. Codes from 0x40 on carry an operand in their low 6 bits."""

    code: int
    name: str
    operands: tuple[CfaOperand, ...]
    dialects: tuple[Dialect, ...] = DIALECTS
    meaning: str = ""
    """The name without prefixes, the same in every dialect."""


def _rows() -> list[InstructionInfo]:
    low, u1, u2, u4, u8 = CfaOperand.LOW6, CfaOperand.U1, CfaOperand.U2, CfaOperand.U4, CfaOperand.U8
    uleb, sleb, address, block = CfaOperand.ULEB, CfaOperand.SLEB, CfaOperand.ADDRESS, CfaOperand.BLOCK
    newer: tuple[Dialect, ...] = ("amd", "llvm22")
    older: tuple[Dialect, ...] = ("proposal2020",)
    rows: list[tuple[int, str, tuple[CfaOperand, ...], tuple[Dialect, ...]]] = [
        (0x40, "advance_loc", (low,), DIALECTS),
        (0x80, "offset", (low, uleb), DIALECTS),
        (0xC0, "restore", (low,), DIALECTS),
        (0x00, "nop", (), DIALECTS),
        (0x01, "set_loc", (address,), DIALECTS),
        (0x02, "advance_loc1", (u1,), DIALECTS),
        (0x03, "advance_loc2", (u2,), DIALECTS),
        (0x04, "advance_loc4", (u4,), DIALECTS),
        (0x05, "offset_extended", (uleb, uleb), DIALECTS),
        (0x06, "restore_extended", (uleb,), DIALECTS),
        (0x07, "undefined", (uleb,), DIALECTS),
        (0x08, "same_value", (uleb,), DIALECTS),
        (0x09, "register", (uleb, uleb), DIALECTS),
        (0x0A, "remember_state", (), DIALECTS),
        (0x0B, "restore_state", (), DIALECTS),
        (0x0C, "def_cfa", (uleb, uleb), DIALECTS),
        (0x0D, "def_cfa_register", (uleb,), DIALECTS),
        (0x0E, "def_cfa_offset", (uleb,), DIALECTS),
        (0x0F, "def_cfa_expression", (block,), DIALECTS),
        (0x10, "expression", (uleb, block), DIALECTS),
        (0x11, "offset_extended_sf", (uleb, sleb), DIALECTS),
        (0x12, "def_cfa_sf", (uleb, sleb), DIALECTS),
        (0x13, "def_cfa_offset_sf", (sleb,), DIALECTS),
        (0x14, "val_offset", (uleb, uleb), DIALECTS),
        (0x15, "val_offset_sf", (uleb, sleb), DIALECTS),
        (0x16, "val_expression", (uleb, block), DIALECTS),
        (0x1D, "MIPS_advance_loc8", (u8,), DIALECTS),
        # Codes of other architectures: they can be decoded, but have no meaning here.
        (0x2C, "AARCH64_negate_ra_state_with_pc", (), DIALECTS),
        (0x2D, "GNU_window_save", (), DIALECTS),
        (0x2E, "GNU_args_size", (uleb,), DIALECTS),
        (0x2F, "GNU_negative_offset_extended", (uleb, uleb), newer),
        (0x30, "LLVM_def_aspace_cfa", (uleb, uleb, uleb), newer),
        (0x31, "LLVM_def_aspace_cfa_sf", (uleb, sleb, uleb), newer),
        (0x2F, "def_aspace_cfa", (uleb, uleb, uleb), older),
        (0x30, "def_aspace_cfa_sf", (uleb, sleb, uleb), older),
    ]
    return [
        InstructionInfo(code, f"DW_CFA_{name}", kinds, dialects, name.removeprefix("LLVM_"))
        for code, name, kinds, dialects in rows
    ]


CFA_INSTRUCTIONS: tuple[InstructionInfo, ...] = tuple(_rows())
"""Every call frame instruction of every dialect."""

_TABLES: dict[str, dict[int, InstructionInfo]] = {
    dialect: {row.code: row for row in CFA_INSTRUCTIONS if dialect in row.dialects} for dialect in DIALECTS
}

MAX_RULES = 8192
MAX_OPERAND_BITS = 4096
MAX_REMEMBERED = 256
MAX_COPIED = 4_000_000
"""Limit on the rules that remember_state and restore_state copy in a whole program, against hostile input."""


class _State(Struct):
    cfa: CfaRule | None
    rules: dict[int, Rule]


_offset_rule = lru_cache(maxsize=1024)(OffsetRule)


class Interpreter:
    """Runs call frame instructions; between calls of `run`, `cfa` and `rules` are the current row.

    `read_address` reads the operand of set_loc, in the encoding of the entry's own addresses; it returns None if the
    address cannot be known. `initial` holds the rules of the CIE, for restore.
    """

    def __init__(
        self,
        dialect: str,
        code_factor: int,
        data_factor: int,
        read_address: Callable[[Cursor], int | None],
        location: int,
        initial: Interpreter | None,
    ) -> None:
        self.table = _TABLES[dialect]
        self.code_factor = code_factor
        self.data_factor = data_factor
        self.read_address = read_address
        self.initial = initial
        self.location = location
        self.start = location
        self.cfa: CfaRule | None = initial.cfa if initial else None
        self.rules: dict[int, Rule] = initial.rules if initial else {}
        self.touched: bool = initial.touched if initial else False
        self._shared = True
        self._stack: list[_State] = []
        self.copied = 0

    def keep_rules(self) -> None:
        """Hand the current `rules` to the caller: they are copied before the next change."""
        self._shared = True

    def run(self, cursor: Cursor, pc: int | None) -> int | None:
        """Execute instructions up to the row that contains `pc` (None: to the end).

        Returns the address where the next row begins, or None if there is no next row.
        """
        data, end = cursor.data, cursor.end
        while cursor.position < end:
            work.unit()
            offset = cursor.position
            code = data[offset]
            # The most frequent instructions, in their usual forms.
            if code >= 0x40:
                if code < 0x80 and self.initial is not None:
                    cursor.position = offset + 1
                    target = self.location + (code & 0x3F) * self.code_factor
                    if pc is not None and target > pc:
                        return target
                    self.location = target
                    continue
                if 0x80 <= code < 0xC0 and offset + 1 < end and data[offset + 1] < 0x80:
                    if self._shared:
                        self.rules = self._copy(self.rules)
                        self._shared = False
                    self.rules[code & 0x3F] = _offset_rule(data[offset + 1] * self.data_factor)
                    self.touched = True
                    cursor.position = offset + 2
                    continue
            elif not code:
                cursor.position = offset + 1
                continue
            info: InstructionInfo | None = None
            try:
                cursor.position = offset + 1
                info = self.table.get(code & 0xC0 or code)
                if info is None:
                    raise DecodeError(f"unknown call frame instruction {code:#x}")
                operands = [self._operand(cursor, kind, code) for kind in info.operands]
                for operand in operands:
                    if isinstance(operand, int) and operand.bit_length() > MAX_OPERAND_BITS:
                        raise IllFormed(f"an operand has {operand.bit_length()} bits, more than {MAX_OPERAND_BITS}")
                new = self._execute(info.meaning, operands)
            except DwarfError as error:
                error.offset = None
                error.locate(info.name if info else None, offset)
                raise
            if new is not None:
                if pc is not None and new > pc:
                    return new
                self.location = new
        return None

    def _operand(self, cursor: Cursor, kind: CfaOperand, code: int) -> int | bytes:
        match kind:
            case CfaOperand.LOW6:
                return code & 0x3F
            case CfaOperand.ULEB:
                return cursor.uleb()
            case CfaOperand.SLEB:
                return cursor.sleb()
            case CfaOperand.BLOCK:
                return cursor.take(cursor.uleb())
            case CfaOperand.ADDRESS:
                address = self.read_address(cursor)
                if address is None:
                    raise EvaluationError("the address is indirect, or relative to a base that is not known")
                return address
            case CfaOperand.U1:
                return cursor.unsigned(1)
            case CfaOperand.U2:
                return cursor.unsigned(2)
            case CfaOperand.U4:
                return cursor.unsigned(4)
            case CfaOperand.U8:
                return cursor.unsigned(8)

    def _execute(self, meaning: str, operands: list[int | bytes]) -> int | None:
        """Execute one instruction; returns the new location if it creates a row."""
        if meaning == "nop":
            return None
        first = operands[0] if operands else 0
        if meaning.startswith(("advance_loc", "MIPS_advance_loc")):
            assert isinstance(first, int)
            return self._advance(self.location + first * self.code_factor)
        if meaning == "set_loc":
            assert isinstance(first, int)
            return self._advance(first)
        if meaning == "GNU_args_size":
            return None
        if meaning == "remember_state":
            self._remember()
        elif meaning == "restore_state":
            self._restore_state()
        elif "cfa" in meaning:
            self.cfa = self._new_cfa(meaning, operands)
            self.touched = True
        else:
            self._register_rule(meaning, operands)
            self.touched = True
        return None

    def _advance(self, target: int) -> int:
        if self.initial is None:
            raise IllFormed("the instructions of a CIE must not advance the location")
        if target < self.location:
            raise IllFormed(f"the instruction moves the location back from {self.location:#x} to {target:#x}")
        return target

    def _copy(self, rules: dict[int, Rule]) -> dict[int, Rule]:
        self.copied += len(rules)
        if self.copied > MAX_COPIED:
            raise IllFormed("the call frame instructions remember and restore too many rules")
        return dict(rules)

    def _remember(self) -> None:
        if len(self._stack) >= MAX_REMEMBERED:
            raise IllFormed(f"more than {MAX_REMEMBERED} states are remembered")
        self._stack.append(_State(self.cfa, self.rules))
        self._shared = True

    def _restore_state(self) -> None:
        if not self._stack:
            raise IllFormed("there is no remembered state to restore")
        state = self._stack.pop()
        # The CFA is remembered too, as all producers assume.
        self.cfa, self.rules = state.cfa, state.rules
        self._shared = True  # rows created since may share these rules

    def _new_cfa(self, meaning: str, operands: list[int | bytes]) -> CfaRule:
        if meaning == "def_cfa_expression":
            data = operands[0]
            assert isinstance(data, bytes)
            return CfaExpression(data)
        numbers = [operand for operand in operands if isinstance(operand, int)]
        match meaning:
            case "def_cfa":
                return CfaRegister(numbers[0], numbers[1], None)
            case "def_cfa_sf":
                return CfaRegister(numbers[0], numbers[1] * self.data_factor, None)
            case "def_aspace_cfa":
                return CfaRegister(numbers[0], numbers[1], numbers[2])
            case "def_aspace_cfa_sf":
                return CfaRegister(numbers[0], numbers[1] * self.data_factor, numbers[2])
        old = self.cfa
        if not isinstance(old, CfaRegister):
            what = "there is no CFA rule" if old is None else "the CFA is defined by an expression"
            raise IllFormed(f"the CFA rule cannot be changed: {what}")
        match meaning:
            case "def_cfa_register":
                return CfaRegister(numbers[0], old.displacement, old.address_space)
            case "def_cfa_offset":
                return CfaRegister(old.register, numbers[0], old.address_space)
            case _:  # def_cfa_offset_sf
                return CfaRegister(old.register, numbers[0] * self.data_factor, old.address_space)

    def _register_rule(self, meaning: str, operands: list[int | bytes]) -> None:
        if not operands:
            raise IllFormed("the instruction is defined only for another architecture")
        number = operands[0]
        assert isinstance(number, int)
        second = operands[1] if len(operands) > 1 else 0
        rule: Rule | None
        if isinstance(second, bytes):
            rule = ExpressionRule(second) if meaning == "expression" else ValExpressionRule(second)
        else:
            match meaning:
                case "undefined":
                    rule = UndefinedRule()
                case "same_value":
                    rule = SameValueRule()
                case "offset" | "offset_extended" | "offset_extended_sf":
                    rule = OffsetRule(second * self.data_factor)
                case "GNU_negative_offset_extended":
                    rule = OffsetRule(-second * self.data_factor)
                case "val_offset" | "val_offset_sf":
                    rule = ValOffsetRule(second * self.data_factor)
                case "register":
                    rule = RegisterRule(second)
                case _:  # restore, restore_extended
                    rule = self.initial.rules.get(number) if self.initial else None
        if self._shared:
            self.rules = self._copy(self.rules)
            self._shared = False
        if rule is None:
            self.rules.pop(number, None)
            return
        self.rules[number] = rule
        if len(self.rules) > MAX_RULES:
            raise IllFormed(f"more than {MAX_RULES} registers have a rule")
