"""The one table of DWARF operations: code, name, operand kinds and dialect.

Decoder, printer, evaluator and tests all read `OPERATIONS`. The heterogeneous extensions exist in three encodings, the
*dialects* (`Dialect`); the dialect decides how an operation is encoded, never what it does. `proposal2020` gives the
extensions operation codes of their own; `amd` (the current text, A.7.7.1) and `llvm22` encode them as `DW_OP_LLVM_user`
followed by a ULEB128 extension code.

The specification leaves some codes "TBA"; rows with `own_code` have our own codes, above those in use.
"""

from __future__ import annotations

from enum import Enum
from typing import Literal

from msgspec import Struct

from rocdbg.dwarf.errors import DwarfError

__all__ = ["DIALECTS", "OPERATIONS", "Dialect", "Operand", "OperationInfo", "operation_table"]

Dialect = Literal["amd", "proposal2020", "llvm22"]
DIALECTS: tuple[Dialect, ...] = ("amd", "proposal2020", "llvm22")

LLVM_USER = 0xE9
"""`DW_OP_LLVM_user`, in the dialects that have it."""


class Operand(Enum):
    """How an operand is encoded and meant."""

    U1 = "u1"
    S1 = "s1"
    U2 = "u2"
    S2 = "s2"
    U4 = "u4"
    S4 = "s4"
    U8 = "u8"
    S8 = "s8"
    ULEB = "uleb"
    SLEB = "sleb"
    ADDRESS = "address"
    """An address of the default address space, of the unit's address size."""
    REGISTER = "register"
    """ULEB128 DWARF register number."""
    BRANCH = "branch"
    """Signed 2 bytes: distance from the end of the operation."""
    UNIT_DIE2 = "unit die, 2 bytes"
    UNIT_DIE4 = "unit die, 4 bytes"
    SECTION_DIE = "section die"
    """Offset into .debug_info, 4 or 8 bytes as the DWARF format says."""
    BASE_TYPE = "base type"
    """ULEB128 offset of a base type entry within the unit."""
    BLOCK = "block"
    """ULEB128 size and that many bytes."""
    BLOCK1 = "block, 1-byte size"
    EXPRESSION = "expression"
    """ULEB128 size and an operation expression of that size."""


class OperationInfo(Struct, frozen=True):
    """One row: in `dialects`, operation `name` has `code`, followed by `extension` (ULEB128) if that is not None."""

    code: int
    name: str
    operands: tuple[Operand, ...] = ()
    dialects: tuple[Dialect, ...] = DIALECTS
    extension: int | None = None
    meaning: str = ""
    """The operation with the same meaning, without prefix: evaluator and rewriters dispatch on it."""
    own_code: bool = False
    """The document leaves the code to be announced; this one is our own."""

    @property
    def encoding(self) -> bytes:
        """The bytes that select the operation, before its operands."""
        if self.extension is None:
            return bytes([self.code])
        return bytes([self.code, self.extension])


def _standard() -> list[OperationInfo]:
    u1, s1, u2, s2 = Operand.U1, Operand.S1, Operand.U2, Operand.S2
    u4, s4, u8, s8 = Operand.U4, Operand.S4, Operand.U8, Operand.S8
    uleb, sleb, reg, base = Operand.ULEB, Operand.SLEB, Operand.REGISTER, Operand.BASE_TYPE
    rows: list[tuple[int, str, tuple[Operand, ...]]] = [
        (0x03, "addr", (Operand.ADDRESS,)),
        (0x06, "deref", ()),
        (0x08, "const1u", (u1,)),
        (0x09, "const1s", (s1,)),
        (0x0A, "const2u", (u2,)),
        (0x0B, "const2s", (s2,)),
        (0x0C, "const4u", (u4,)),
        (0x0D, "const4s", (s4,)),
        (0x0E, "const8u", (u8,)),
        (0x0F, "const8s", (s8,)),
        (0x10, "constu", (uleb,)),
        (0x11, "consts", (sleb,)),
        (0x12, "dup", ()),
        (0x13, "drop", ()),
        (0x14, "over", ()),
        (0x15, "pick", (u1,)),
        (0x16, "swap", ()),
        (0x17, "rot", ()),
        (0x18, "xderef", ()),
        (0x19, "abs", ()),
        (0x1A, "and", ()),
        (0x1B, "div", ()),
        (0x1C, "minus", ()),
        (0x1D, "mod", ()),
        (0x1E, "mul", ()),
        (0x1F, "neg", ()),
        (0x20, "not", ()),
        (0x21, "or", ()),
        (0x22, "plus", ()),
        (0x23, "plus_uconst", (uleb,)),
        (0x24, "shl", ()),
        (0x25, "shr", ()),
        (0x26, "shra", ()),
        (0x27, "xor", ()),
        (0x28, "bra", (Operand.BRANCH,)),
        (0x29, "eq", ()),
        (0x2A, "ge", ()),
        (0x2B, "gt", ()),
        (0x2C, "le", ()),
        (0x2D, "lt", ()),
        (0x2E, "ne", ()),
        (0x2F, "skip", (Operand.BRANCH,)),
        *((0x30 + n, f"lit{n}", ()) for n in range(32)),
        *((0x50 + n, f"reg{n}", ()) for n in range(32)),
        *((0x70 + n, f"breg{n}", (sleb,)) for n in range(32)),
        (0x90, "regx", (reg,)),
        (0x91, "fbreg", (sleb,)),
        (0x92, "bregx", (reg, sleb)),
        (0x93, "piece", (uleb,)),
        (0x94, "deref_size", (u1,)),
        (0x95, "xderef_size", (u1,)),
        (0x96, "nop", ()),
        (0x97, "push_object_address", ()),
        (0x98, "call2", (Operand.UNIT_DIE2,)),
        (0x99, "call4", (Operand.UNIT_DIE4,)),
        (0x9A, "call_ref", (Operand.SECTION_DIE,)),
        (0x9B, "form_tls_address", ()),
        (0x9C, "call_frame_cfa", ()),
        (0x9D, "bit_piece", (uleb, uleb)),
        (0x9E, "implicit_value", (Operand.BLOCK,)),
        (0x9F, "stack_value", ()),
        (0xA0, "implicit_pointer", (Operand.SECTION_DIE, sleb)),
        (0xA1, "addrx", (uleb,)),
        (0xA2, "constx", (uleb,)),
        (0xA3, "entry_value", (Operand.EXPRESSION,)),
        (0xA4, "const_type", (base, Operand.BLOCK1)),
        (0xA5, "regval_type", (reg, base)),
        (0xA6, "deref_type", (u1, base)),
        (0xA7, "xderef_type", (u1, base)),
        (0xA8, "convert", (base,)),
        (0xA9, "reinterpret", (base,)),
    ]
    return [OperationInfo(code, f"DW_OP_{name}", kinds, meaning=name) for code, name, kinds in rows]


def _gnu() -> list[OperationInfo]:
    """GNU operations; most became DWARF 5 operations with the same meaning."""
    uleb, base = Operand.ULEB, Operand.BASE_TYPE
    rows: list[tuple[int, str, tuple[Operand, ...], str]] = [
        (0xE0, "push_tls_address", (), "form_tls_address"),
        (0xF0, "uninit", (), "nop"),
        (0xF2, "implicit_pointer", (Operand.SECTION_DIE, Operand.SLEB), "implicit_pointer"),
        (0xF3, "entry_value", (Operand.EXPRESSION,), "entry_value"),
        (0xF4, "const_type", (base, Operand.BLOCK1), "const_type"),
        (0xF5, "regval_type", (Operand.REGISTER, base), "regval_type"),
        (0xF6, "deref_type", (Operand.U1, base), "deref_type"),
        (0xF7, "convert", (base,), "convert"),
        (0xF9, "reinterpret", (base,), "reinterpret"),
        (0xFA, "parameter_ref", (Operand.UNIT_DIE4,), "parameter_ref"),
        (0xFB, "addr_index", (uleb,), "addrx"),
        (0xFC, "const_index", (uleb,), "constx"),
        (0xFD, "variable_value", (Operand.SECTION_DIE,), "variable_value"),
    ]
    return [
        OperationInfo(code, f"DW_OP_GNU_{name}", kinds, meaning=means) for code, name, kinds, means in rows
    ]


def _heterogeneous() -> list[OperationInfo]:
    uleb, sleb, reg = Operand.ULEB, Operand.SLEB, Operand.REGISTER
    die = Operand.SECTION_DIE
    # name, extension code, code of the 2020 proposal, operands
    rows: list[tuple[str, int, int, tuple[Operand, ...]]] = [
        ("form_aspace_address", 0x02, 0xE1, ()),
        ("push_lane", 0x03, 0xE2, ()),
        ("offset", 0x04, 0xE3, ()),
        ("offset_uconst", 0x05, 0xE4, (uleb,)),
        ("bit_offset", 0x06, 0xE5, ()),
        ("call_frame_entry_reg", 0x07, 0xE6, (reg,)),
        ("undefined", 0x08, 0xE7, ()),
        ("aspace_bregx", 0x09, 0xE8, (reg, sleb)),
        ("piece_end", 0x0A, 0xEA, ()),
        ("extend", 0x0B, 0xEB, (uleb, uleb)),
        ("select_bit_piece", 0x0C, 0xEC, (uleb, uleb)),
        # The specification has not announced codes for these; the 2020 proposal had one of the four. Our codes are far
        # above the first free one, which upstream may assign: in LLVM after 22, 0x0d already means something else.
        ("aspace_implicit_pointer", 0x70, 0xE9, (die, sleb)),
        ("push_iteration", 0x71, 0xED, ()),
        ("overlay", 0x72, 0xEE, ()),
        ("bit_overlay", 0x73, 0xEF, ()),
    ]
    # The 2020 proposal differs in one name and in its encoding: the displacement is unsigned.
    names_2020 = {"offset_uconst": "offset_constu"}
    operands_2020 = {"aspace_bregx": (reg, uleb)}
    result = [OperationInfo(LLVM_USER, "DW_OP_LLVM_nop", (), ("amd", "llvm22"), 0x01, meaning="nop")]
    for name, extension, code, kinds in rows:
        own = extension >= 0x70
        result.append(
            OperationInfo(
                LLVM_USER, f"DW_OP_LLVM_{name}", kinds, ("amd", "llvm22"), extension, name, own_code=own
            )
        )
        result.append(
            OperationInfo(
                code,
                f"DW_OP_LLVM_{names_2020.get(name, name)}",
                operands_2020.get(name, kinds),
                ("proposal2020",),
                meaning=name,
                own_code=own and name != "aspace_implicit_pointer",
            )
        )
    return result


OPERATIONS: tuple[OperationInfo, ...] = (*_standard(), *_gnu(), *_heterogeneous())
"""Every operation of every dialect."""


def operation_table(dialect: str) -> tuple[dict[int, OperationInfo], dict[int, OperationInfo]]:
    """The rows of a dialect: by code, and by the extension code that follows `DW_OP_LLVM_user`.

    Raises `DwarfError` for a dialect that does not exist.
    """
    tables = _TABLES.get(dialect)
    if tables is None:
        raise DwarfError(f"there is no dialect '{dialect}'; there are {', '.join(DIALECTS)}")
    return tables


def _tables() -> dict[str, tuple[dict[int, OperationInfo], dict[int, OperationInfo]]]:
    tables: dict[str, tuple[dict[int, OperationInfo], dict[int, OperationInfo]]] = {}
    for dialect in DIALECTS:
        plain: dict[int, OperationInfo] = {}
        extended: dict[int, OperationInfo] = {}
        for row in OPERATIONS:
            if dialect in row.dialects:
                table, code = (plain, row.code) if row.extension is None else (extended, row.extension)
                if code in table:
                    raise AssertionError(f"{row.name} and {table[code].name} share a code in {dialect}")
                table[code] = row
        tables[dialect] = (plain, extended)
    return tables


_TABLES = _tables()
