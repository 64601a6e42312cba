"""Call frame information: structure, instructions, rules and unwinding (A.6.4)."""

# ruff: noqa: E501  (one case, one line)
from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from rocdbg import dwarf
from rocdbg.dwarf.cfa_instructions import CFA_INSTRUCTIONS
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
from rocdbg.dwarf.operation_assembler import assemble, sleb128, uleb128
from rocdbg.dwarf.operation_table import DIALECTS

ILL, EVAL = dwarf.IllFormed, dwarf.EvaluationError
PC = 16


def codes(dialect: str) -> dict[str, int]:
    return {row.meaning: row.code for row in CFA_INSTRUCTIONS if dialect in row.dialects}


def cfa(*items: tuple[object, ...], dialect: str = "amd") -> bytes:
    """Instructions by meaning; blocks are bytes, and the table marks signed operands."""
    rows = {row.meaning: row for row in CFA_INSTRUCTIONS if dialect in row.dialects}
    out = b""
    for name, *operands in items:
        row = rows[str(name)]
        low = b""
        rest = b""
        for kind, operand in zip(row.operands, operands, strict=True):
            if isinstance(operand, bytes):
                rest += uleb128(len(operand)) + operand
                continue
            assert isinstance(operand, int)
            match kind.name:
                case "LOW6":
                    low = bytes([row.code | operand])
                case "ULEB":
                    rest += uleb128(operand)
                case "SLEB":
                    rest += sleb128(operand)
                case "ADDRESS":
                    rest += operand.to_bytes(8, "little")
                case sized:
                    rest += operand.to_bytes(int(sized[1]), "little")
        out += (low or bytes([row.code])) + rest
    return out


def entry(body: bytes, is_64: bool = False) -> bytes:
    body += bytes(-len(body) % 8)
    head = b"\xff\xff\xff\xff" + len(body).to_bytes(8, "little") if is_64 else len(body).to_bytes(4, "little")
    return head + body


def cie(
    initial: bytes = b"",
    version: int = 4,
    augmentation: bytes = b"[amd:v0.0]",
    is_64: bool = False,
    code_factor: int = 4,
    data_factor: int = 4,
) -> bytes:
    body = b"\xff" * (8 if is_64 else 4) + bytes([version]) + augmentation + b"\0"
    if version >= 4:
        body += bytes([8, 0])
    body += uleb128(code_factor) + sleb128(data_factor) + (bytes([PC]) if version == 1 else uleb128(PC))
    return entry(body + initial, is_64)


def fde(start: int, size: int, instructions: bytes, cie_offset: int = 0, is_64: bool = False) -> bytes:
    body = cie_offset.to_bytes(8 if is_64 else 4, "little")
    body += start.to_bytes(8, "little") + size.to_bytes(8, "little")
    return entry(body + instructions, is_64)


def frames(*items: tuple[object, ...], initial: tuple[tuple[object, ...], ...] = (), dialect: str = "amd") -> dwarf.FrameTable:
    section = cie(cfa(*initial, dialect=dialect)) + fde(0x1000, 0x100, cfa(*items, dialect=dialect))
    return dwarf.parse_frames(section, dialect=dialect)


def context(pc: int = 0x1010, **more: object) -> dwarf.SimpleContext:
    values: dict[int, bytes] = {
        16: pc.to_bytes(8, "little"),
        17: (0b101).to_bytes(8, "little"),
        62: (0x2468).to_bytes(4, "little"),
        63: (0).to_bytes(4, "little"),
        64: (0x40).to_bytes(4, "little"),
        40: (7).to_bytes(4, "little"),
        768: (0x3000).to_bytes(8, "little"),
        2560: bytes(256),
        2600: b"".join((lane + 1).to_bytes(4, "little") for lane in range(64)),
    }
    return dwarf.SimpleContext(
        pc=pc,
        lane=0,
        registers=values,
        memory={0: {0x3000: bytes(range(64))}, 6: {0: bytes(i & 0xFF for i in range(1024))}},
        **more,  # type: ignore[arg-type]
    )


# The CFA is s32 in private_wave memory: 0x40.
CFA_WAVE = ("def_aspace_cfa", 64, 0, 6)
RETURN = ("expression", PC, assemble(("regx", 62), ("piece", 4), ("regx", 63), ("piece", 4)))


# Structure


@pytest.mark.parametrize("version", [1, 3, 4])
@pytest.mark.parametrize("is_64", [False, True])
def test_versions_and_formats(version: int, is_64: bool) -> None:
    head = cie(cfa(("def_cfa", 768, 8)), version, is_64=is_64)
    section = head + fde(0x1000, 0x100, cfa(("advance_loc", 4), ("undefined", PC)), is_64=is_64)
    table = dwarf.parse_frames(section)
    row = table.row(0x100F)
    assert row is not None
    assert (row.start, row.end, row.cfa, dict(row.rules)) == (0x1000, 0x1010, CfaRegister(768, 8), {})
    row = table.row(0x1010)
    assert row is not None
    assert (row.start, row.end, dict(row.rules)) == (0x1010, 0x1100, {PC: UndefinedRule()})
    assert row.return_address_register == PC
    assert table.row(0xFFF) is None
    assert table.row(0x1100) is None


def test_several_functions_and_cies() -> None:
    first = cie(cfa(("def_cfa", 768, 1)))
    second = cie(cfa(("def_cfa", 768, 2)))
    section = first + fde(0x3000, 0x10, b"") + second + fde(0x1000, 0x10, b"", len(first + fde(0x3000, 0x10, b"")))
    section += fde(0x2000, 0x10, b"")
    table = dwarf.parse_frames(section)
    found = [row.cfa if (row := table.row(pc)) else None for pc in (0x1008, 0x2008, 0x3008, 0x2010)]
    assert found == [CfaRegister(768, 2), CfaRegister(768, 1), CfaRegister(768, 1), None]


AUGMENTATIONS: list[tuple[bytes, bool]] = [
    (b"", True),
    (b"[amd:v0.0]", True),
    (b"[amd:v0.7:feature]", True),
    (b"[amd:v1.0]", False),
    (b"[xyz:v0.0]", False),
    (b"[amd:v0.0][xyz:v0.0]", False),
    (b"zR", False),
    (b"armcc+", False),
]


@pytest.mark.parametrize(("augmentation", "used"), AUGMENTATIONS)
def test_an_unknown_augmentation_is_not_used(augmentation: bytes, used: bool) -> None:
    section = cie(cfa(("def_cfa", 768, 8)), augmentation=augmentation) + fde(0x1000, 0x100, b"")
    assert (dwarf.parse_frames(section).row(0x1000) is not None) is used


def test_functions_without_any_rule_have_no_call_frame_information() -> None:
    # What upstream LLVM emits. A function whose rules begin later is another matter, and so is AMD's augmentation.
    nothing = cie(augmentation=b"") + fde(0x1000, 0x100, cfa(("advance_loc", 3)))
    assert dwarf.parse_frames(nothing).row(0x1000) is None
    later = cie(augmentation=b"") + fde(0x1000, 0x100, cfa(("advance_loc", 3), ("same_value", 40)))
    assert dwarf.parse_frames(later).row(0x1000) is not None
    amd = cie() + fde(0x1000, 0x100, b"")
    assert dwarf.parse_frames(amd).row(0x1000) is not None


def test_broken_structure_is_reported() -> None:
    good = cie(cfa(("def_cfa", 768, 8))) + fde(0x1000, 0x100, cfa(("advance_loc", 1), ("undefined", 40)))
    for end in range(1, len(good)):
        try:
            table = dwarf.parse_frames(good[:end])
            table.row(0x1008)
        except dwarf.DwarfError as error:
            assert error.offset is not None
    for bad in (b"\x10\0\0\0", b"\xf8\xff\xff\xff", fde(0, 8, b"", 0x999), fde(0x1000, 8, b"", 0)):
        with pytest.raises(dwarf.DecodeError):
            dwarf.parse_frames(bad)


# Instructions

ROWS: list[tuple[tuple[tuple[object, ...], ...], CfaRule | None, dict[int, Rule]]] = [
    ((("def_cfa", 64, 8),), CfaRegister(64, 8), {}),
    ((("def_cfa_sf", 64, -2),), CfaRegister(64, -8), {}),
    ((("def_aspace_cfa", 64, 8, 6),), CfaRegister(64, 8, 6), {}),
    ((("def_aspace_cfa_sf", 64, -2, 5),), CfaRegister(64, -8, 5), {}),
    ((("def_aspace_cfa", 64, 8, 6), ("def_cfa_register", 65)), CfaRegister(65, 8, 6), {}),
    ((("def_aspace_cfa", 64, 8, 6), ("def_cfa_offset", 12)), CfaRegister(64, 12, 6), {}),
    ((("def_aspace_cfa", 64, 8, 6), ("def_cfa_offset_sf", -3)), CfaRegister(64, -12, 6), {}),
    ((("def_cfa_expression", b"\x30"),), CfaExpression(b"\x30"), {}),
    ((("undefined", 40),), None, {40: UndefinedRule()}),
    ((("same_value", 40),), None, {40: SameValueRule()}),
    ((("offset", 40, 3),), None, {40: OffsetRule(12)}),
    ((("offset_extended", 2560, 3),), None, {2560: OffsetRule(12)}),
    ((("offset_extended_sf", 2560, -3),), None, {2560: OffsetRule(-12)}),
    ((("val_offset", 40, 3),), None, {40: ValOffsetRule(12)}),
    ((("val_offset_sf", 40, -3),), None, {40: ValOffsetRule(-12)}),
    ((("register", 40, 41),), None, {40: RegisterRule(41)}),
    ((("expression", 40, b"\x30"),), None, {40: ExpressionRule(b"\x30")}),
    ((("val_expression", 40, b"\x30"),), None, {40: ValExpressionRule(b"\x30")}),
    ((("undefined", 40), ("restore", 40), ("undefined", 50), ("restore_extended", 50)), None, {}),
    ((("undefined", 33), ("restore", 33)), None, {33: SameValueRule()}),
    ((("undefined", 40), ("remember_state",), ("offset", 40, 1), ("restore_state",)), None, {40: UndefinedRule()}),
    ((("def_cfa", 64, 8), ("remember_state",), ("def_cfa", 65, 4), ("restore_state",)), CfaRegister(64, 8), {}),
    ((("GNU_args_size", 16), ("nop",)), None, {}),
    # Locations: 4 bytes a unit; the row for 0x1010 includes what stands at 0x1010.
    ((("advance_loc", 4), ("undefined", 40)), None, {40: UndefinedRule()}),
    ((("advance_loc", 5), ("undefined", 40)), None, {}),
    ((("advance_loc1", 4), ("undefined", 40)), None, {40: UndefinedRule()}),
    ((("advance_loc2", 5), ("undefined", 40)), None, {}),
    ((("advance_loc4", 4), ("undefined", 40)), None, {40: UndefinedRule()}),
    ((("MIPS_advance_loc8", 4), ("undefined", 40)), None, {40: UndefinedRule()}),
    ((("set_loc", 0x1010), ("undefined", 40)), None, {40: UndefinedRule()}),
    ((("set_loc", 0x1014), ("undefined", 40)), None, {}),
]


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(("items", "rule", "rules"), ROWS)
def test_instructions(
    items: tuple[tuple[object, ...], ...], rule: CfaRule | None, rules: dict[int, Rule], dialect: str
) -> None:
    row = frames(*items, initial=(("same_value", 33),), dialect=dialect).row(0x1010)
    assert row is not None
    assert row.cfa == rule
    assert {number: value for number, value in row.rules.items() if (number, value) != (33, SameValueRule())} == {
        number: value for number, value in rules.items() if number != 33
    }
    assert row.rules[33] == SameValueRule()


def test_aspace_codes_differ_between_dialects() -> None:
    assert [codes(dialect)["def_aspace_cfa"] for dialect in DIALECTS] == [0x30, 0x2F, 0x30]
    assert [codes(dialect)["def_aspace_cfa_sf"] for dialect in DIALECTS] == [0x31, 0x30, 0x31]


@pytest.mark.parametrize(
    "items",
    [
        (("def_cfa_register", 64),),
        (("def_cfa_offset", 64),),
        (("def_cfa_offset_sf", 4),),
        (("def_cfa_expression", b"\x30"), ("def_cfa_register", 64)),
        (("def_cfa_expression", b"\x30"), ("def_cfa_offset", 64)),
        (("restore_state",),),
        (("set_loc", 0x500),),
        (("GNU_window_save",),),
    ],
)
def test_ill_formed_instructions(items: tuple[tuple[object, ...], ...]) -> None:
    with pytest.raises(ILL) as caught:
        frames(*items).row(0x1010)
    assert caught.value.offset is not None
    assert caught.value.operation is not None


def test_an_unknown_instruction_is_reported_with_its_offset() -> None:
    section = cie() + fde(0x1000, 0x100, b"\x00\x3f")
    with pytest.raises(dwarf.DecodeError, match="0x3f") as caught:
        dwarf.parse_frames(section).row(0x1000)
    assert section[caught.value.offset or 0] == 0x3F


def test_rows_before_a_broken_instruction_are_good() -> None:
    section = cie() + fde(0x1000, 0x100, cfa(("undefined", 40), ("advance_loc", 4)) + b"\x3f")
    table = dwarf.parse_frames(section)
    for _ in range(2):
        row = table.row(0x100F)
        assert row is not None
        assert (row.start, row.end, dict(row.rules)) == (0x1000, 0x1010, {40: UndefinedRule()})
        with pytest.raises(dwarf.DecodeError):
            table.row(0x1010)


def test_rows_of_a_long_function() -> None:
    items = [item for n in range(5000) for item in (("advance_loc", 1), ("offset", n % 60, n))]
    section = cie(cfa(("def_cfa", 768, 0))) + fde(0x1000, 20004, cfa(*items))
    table = dwarf.parse_frames(section)
    for n in (4999, 0, 1, 2500, 4998):
        row = table.row(0x1004 + 4 * n + 3)
        assert row is not None
        assert (row.start, row.end) == (0x1004 + 4 * n, 0x1008 + 4 * n)
        assert row.rules[n % 60] == OffsetRule(4 * n)
        assert len(row.rules) == min(n + 1, 60)


# The CFA

CFAS: list[tuple[tuple[object, ...], object]] = [
    (("def_cfa", 768, 8), "memory at 0x3008"),
    (("def_cfa_sf", 768, -2), "memory at 0x2ff8"),
    (("def_cfa", 64, 8), EVAL),  # s32 is smaller than a default address space address
    (("def_aspace_cfa", 64, 8, 6), "memory at private_wave#0x48"),
    (("def_aspace_cfa_sf", 64, -2, 5), "memory at private_lane#0x38 of lane 0"),
    (("def_aspace_cfa", 64, 8, 4), ILL),
    (("def_cfa_expression", assemble("lit0", "lit6", "form_aspace_address")), "memory at private_wave#0x0"),
    (("def_cfa_expression", assemble(("bregx", 768, 4))), "memory at 0x3004"),
    (("def_cfa_expression", assemble(("regx", 40))), ILL),
    (("def_cfa_expression", assemble(("addr", 8), "lit1", "bit_offset")), ILL),
    (("def_cfa_expression", b""), ILL),
    (("def_cfa_expression", assemble("dup")), ILL),  # the initial stack is empty
    (("nop",), EVAL),
]


@pytest.mark.parametrize(("item", "expected"), CFAS)
def test_cfa(item: tuple[object, ...], expected: object) -> None:
    row = frames(item).row(0x1010)
    assert row is not None
    if isinstance(expected, type):
        with pytest.raises(expected):
            row.cfa_location(context())
    else:
        assert row.cfa_location(context()).describe() == expected


# Register rules; the CFA is 0x3000 in the default address space, or 0x40 in private_wave

DEFAULT = ("def_cfa", 768, 0)
RULES: list[tuple[tuple[object, ...], tuple[object, ...], int, object]] = [
    (DEFAULT, ("nop",), 40, "register s8"),  # the default rule of AMDGPU is "same value"
    (DEFAULT, ("undefined", 40), 40, "undefined"),
    (DEFAULT, ("same_value", 40), 40, "register s8"),
    (DEFAULT, ("offset", 40, 2), 40, "memory at 0x3008"),
    (DEFAULT, ("offset_extended_sf", 40, -2), 40, "memory at 0x2ff8"),
    (CFA_WAVE, ("offset", 40, 2), 40, "memory at private_wave#0x48"),
    (CFA_WAVE, ("offset_extended_sf", 40, -17), 40, EVAL),
    (DEFAULT, ("val_offset", 768, 2), 768, "implicit value 0x3008 of 8 bytes"),
    (DEFAULT, ("val_offset", 40, 2), 40, ILL),
    (CFA_WAVE, ("val_offset", 40, 2), 40, "implicit value 0x48 of 4 bytes"),
    (CFA_WAVE, ("val_offset", 768, 2), 768, ILL),
    (DEFAULT, ("register", 40, 62), 40, "register s30"),
    (DEFAULT, ("register", 40, 768), 40, ILL),
    (DEFAULT, ("register", 40, 40), 40, ILL),
    (DEFAULT, ("expression", 40, assemble(("offset_uconst", 4))), 40, "memory at 0x3004"),
    (DEFAULT, ("expression", 40, assemble(("regx", 2600), "lit7", "lit4", "mul", "offset")), 40, "register v40, bit 224"),
    (DEFAULT, ("expression", 40, assemble("undefined")), 40, "undefined"),
    (DEFAULT, ("expression", 40, assemble("lit5", "stack_value")), 40, "implicit value 0x5 of 8 bytes"),
    (DEFAULT, ("val_expression", 768, assemble("lit8", "plus")), 768, "implicit value 0x3008 of 8 bytes"),
    (DEFAULT, ("val_expression", 40, assemble("lit8")), 40, ILL),
    (CFA_WAVE, ("val_expression", 768, assemble("lit8", "plus")), 768, ILL),
    (("nop",), ("offset", 40, 2), 40, ILL),
    (DEFAULT, ("expression", 40, assemble(("call_frame_entry_reg", 62))), 40, "register s30"),
    (DEFAULT, ("expression", 40, assemble(("call_frame_entry_reg", 40))), 40, ILL),
]


@pytest.mark.parametrize(("cfa_item", "item", "number", "expected"), RULES)
def test_register_rules(
    cfa_item: tuple[object, ...], item: tuple[object, ...], number: int, expected: object
) -> None:
    row = frames(cfa_item, item).row(0x1010)
    assert row is not None
    if isinstance(expected, type):
        with pytest.raises(expected):
            row.register_location(number, context())
    else:
        assert row.register_location(number, context()).describe() == expected


CIRCLES: list[tuple[tuple[object, ...], ...]] = [
    (("register", 40, 41), ("register", 41, 40)),
    (("register", 40, 41), ("register", 41, 42), ("register", 42, 40)),
    (
        ("expression", 40, assemble(("call_frame_entry_reg", 41))),
        ("expression", 41, assemble(("call_frame_entry_reg", 40))),
    ),
    (
        ("def_cfa_expression", assemble(("call_frame_entry_reg", 40), ("deref_size", 4), "lit6", "form_aspace_address")),
        ("offset", 40, 0),
    ),
]


@pytest.mark.parametrize("items", CIRCLES)
def test_circles_are_ill_formed(items: tuple[tuple[object, ...], ...]) -> None:
    row = frames(*items).row(0x1010)
    assert row is not None
    with pytest.raises(ILL, match="depend"):
        row.register_location(40, context())


FORBIDDEN: list[tuple[object, ...]] = [
    ("addrx", 0),
    ("call2", 0),
    ("call4", 0),
    ("call_ref", 0),
    ("const_type", 0, b""),
    ("constx", 0),
    ("convert", 0),
    ("deref_type", 0, 0),
    ("fbreg", 0),
    ("implicit_pointer", 0, 0),
    ("regval_type", 0, 0),
    ("reinterpret", 0),
    ("xderef_type", 0, 0),
    ("push_object_address",),
    ("push_lane",),
    ("push_iteration",),
    ("call_frame_cfa",),
    ("entry_value", b""),
]


@pytest.mark.parametrize("item", FORBIDDEN)
@pytest.mark.parametrize("dialect", DIALECTS)
def test_operations_that_cfi_expressions_must_not_have(item: tuple[object, ...], dialect: str) -> None:
    # Even where it would not be reached.
    data = assemble(("skip", 0), item, dialect=dialect)  # type: ignore[arg-type]
    for instruction, ask in (
        (("expression", 40, data), "register"),
        (("val_expression", 40, data), "register"),
        (("def_cfa_expression", data), "cfa"),
    ):
        row = frames(instruction, dialect=dialect).row(0x1010)
        assert row is not None
        with pytest.raises(ILL, match="not allowed in call frame information"):
            if ask == "cfa":
                row.cfa_location(context())
            else:
                row.register_location(40, context())


# Unwinding


def test_unwinding_through_frames_of_amd_compilers() -> None:
    """A kernel (0x2000) calls f (0x1000): the return address is in s[30:31], EXEC and v40 are saved."""
    kernel = (
        ("def_cfa_expression", assemble("lit0", "lit6", "form_aspace_address")),
        ("undefined", PC),
    )
    callee = (
        CFA_WAVE,
        RETURN,
        ("expression", 17, assemble(("regx", 2560), ("bit_piece", 32, 0), ("regx", 2560), ("bit_piece", 32, 32))),
        # v0 was spilled for the lanes that were active on entry: 256 bytes from the CFA on.
        (
            "expression",
            2600,
            assemble(("regx", 2600), "swap", ("offset_uconst", 256), ("regx", 17), ("deref_size", 8), ("select_bit_piece", 32, 64)),
        ),
    )
    section = cie()
    section += fde(0x1000, 0x100, cfa(*callee)) + fde(0x2400, 0x100, cfa(*kernel))
    table = dwarf.parse_frames(section)
    ctx = context()
    caller = table.unwind(ctx)
    assert caller is not None
    assert caller.pc == 0x2467
    assert caller.register_location(PC).read(64) == 0x2468
    assert caller.register_location(40).describe() == "register s8"
    assert caller.register_location(17).read(64) == 0
    v40 = caller.register_location(2600)
    base = 0x40 + 256
    assert v40.read_elements(32, 4) == [
        int.from_bytes(bytes((base + i) & 0xFF for i in range(4)), "little"),
        2,
        int.from_bytes(bytes((base + 8 + i) & 0xFF for i in range(4)), "little"),
        4,
    ]
    v40.write(0x99, 32, 32)  # an inactive lane: still in the register
    assert ctx.registers[2600][4:8] == b"\x99\0\0\0"
    assert caller.cfa is not None
    assert caller.cfa.describe() == "memory at private_wave#0x0"
    assert table.unwind(caller) is None
    # Registers of the outer frame, through an expression evaluated there.
    assert dwarf.evaluate(assemble(("regx", 62)), caller).describe() == "register s30"  # type: ignore[union-attr]


def test_entry_values_come_from_call_frame_information() -> None:
    section = cie() + fde(0x1000, 0x100, cfa(CFA_WAVE, RETURN, ("undefined", 40), ("offset", 41, 4)))
    table = dwarf.parse_frames(section)
    inner = dwarf.CallerContext(context(), context().register_location, 0x1010, table)
    assert dwarf.evaluate(assemble(("call_frame_entry_reg", 40)), inner).describe() == "undefined"  # type: ignore[union-attr]
    result = dwarf.evaluate(assemble(("entry_value", assemble(("regx", 41)))), inner)
    assert isinstance(result, dwarf.Value)
    assert result.value == 0x53525150


def test_a_deep_stack_is_unwound() -> None:
    # f calls itself: the return address is saved at the CFA, which is s32 of each frame, 16 bytes apart.
    count = 3000
    stack = b"".join((0x1020 if i + 1 < count else 0).to_bytes(8, "little") + bytes(8) for i in range(count))
    pointer = assemble(("regx", 64), ("deref_size", 4), ("plus_uconst", 16), "stack_value", ("piece", 4))
    table = frames(("def_aspace_cfa", 64, 0, 6), ("offset", PC, 0), ("expression", 64, pointer))
    ctx = dwarf.SimpleContext(
        pc=0x1010, registers={64: bytes(4), 40: b"\1\2\3\4", 16: bytes(8)}, memory={6: {0: stack}}
    )
    depth = 0
    frame = outermost = table.unwind(ctx)
    while frame is not None:
        depth += 1
        outermost = frame
        frame = table.unwind(frame)
    assert depth == count - 1
    assert outermost is not None
    assert outermost.register_location(40).describe() == "register s8"
    assert outermost.register_location(64).read(32) == 16 * depth


def test_unwinding_needs_a_program_location_and_rules() -> None:
    table = frames(CFA_WAVE, RETURN)
    ctx = context()
    ctx.pc = None
    with pytest.raises(EVAL):
        table.unwind(ctx)
    assert table.unwind(context(0x9000)) is None
    assert frames(CFA_WAVE).unwind(context()) is None  # the return address would be the pc itself


def test_hostile_programs_end() -> None:
    grow = b"".join(cfa(("undefined", number)) for number in range(2000))
    section = cie() + fde(0x1000, 0x100, grow + cfa(("remember_state",), ("undefined", 1), ("restore_state",)) * 20000)
    with pytest.raises(ILL, match="too many rules"):
        dwarf.parse_frames(section).row(0x1000)
    section = cie() + fde(0x1000, 0x100, cfa(("remember_state",)) * 1000)
    with pytest.raises(ILL, match="remembered"):
        dwarf.parse_frames(section).row(0x1000)


@pytest.mark.llvm
def test_eh_frame_of_a_host_object(tmp_path: Path) -> None:
    source = tmp_path / "f.s"
    source.write_text(
        ".text\nf:\n.cfi_startproc\npush %rbp\n.cfi_def_cfa_offset 16\n.cfi_offset %rbp, -16\n"
        "mov %rsp, %rbp\n.cfi_def_cfa_register %rbp\nnop\npop %rbp\n.cfi_def_cfa %rsp, 8\nret\n.cfi_endproc\n"
    )
    object_file = tmp_path / "f.o"
    linked = tmp_path / "f.so"
    subprocess.run(["clang-22", "-target", "x86_64-linux-gnu", "-c", source, "-o", object_file], check=True)
    subprocess.run(["ld.lld-22", "-shared", object_file, "-o", linked], check=True)
    from elftools.elf.elffile import ELFFile

    with linked.open("rb") as file:
        elf = ELFFile(file)
        section = elf.get_section_by_name(".eh_frame")
        text = elf.get_section_by_name(".text")["sh_addr"]
        table = dwarf.parse_frames(section.data(), eh_frame=True, section_address=section["sh_addr"])
    offsets = (0, 1, 4, 5, 6)
    found = [row.cfa if (row := table.row(text + offset)) else None for offset in offsets]
    assert found == [CfaRegister(7, 8), CfaRegister(7, 16), CfaRegister(6, 16), CfaRegister(6, 16), CfaRegister(7, 8)]
    row = table.row(text + 5)
    assert row is not None
    assert dict(row.rules) == {16: OffsetRule(-8), 6: OffsetRule(-16)}


@pytest.mark.llvm
def test_debug_frame_of_the_amdgpu_assembler(tmp_path: Path) -> None:
    source = tmp_path / "f.s"
    source.write_text(
        ".text\n.cfi_sections .debug_frame\nf:\n.cfi_startproc\n.cfi_llvm_def_aspace_cfa 64, 0, 6\n"
        ".cfi_escape 0x10, 16, 8, 0x90, 62, 0x93, 4, 0x90, 63, 0x93, 4\ns_nop 0\ns_nop 0\n"
        ".cfi_def_cfa_register 65\n.cfi_undefined 40\ns_nop 0\n.cfi_endproc\n"
    )
    object_file = tmp_path / "f.o"
    subprocess.run(
        ["llvm-mc-22", "-triple", "amdgcn-amd-amdhsa", "-mcpu=gfx90a", "-filetype=obj", source, "-o", object_file],
        check=True,
    )
    from elftools.elf.elffile import ELFFile

    with object_file.open("rb") as file:
        data = ELFFile(file).get_section_by_name(".debug_frame").data()
    table = dwarf.parse_frames(data)
    first, second = table.row(0), table.row(8)
    assert first is not None
    assert second is not None
    assert (first.start, first.end, first.cfa) == (0, 8, CfaRegister(64, 0, 6))
    assert (second.start, second.end, second.cfa) == (8, 12, CfaRegister(65, 0, 6))
    assert second.rules[40] == UndefinedRule()


@pytest.mark.parametrize("ranges", [
    [(0, 100), (10, 20), (30, 40)], [(0, 100), (0, 50), (0, 100)], [(0, 10), (5, 15), (10, 30), (12, 13)], [(5, 5), (0, 9)],
])
def test_of_overlapping_entries_the_one_that_begins_last_counts(ranges: list[tuple[int, int]]) -> None:
    from rocdbg.dwarf.cfi import Fde, _segments

    cie: Any = None
    fdes = [Fde(0, start, end, cie, (0, 0)) for start, end in sorted(ranges)]
    starts, owners = _segments(fdes)
    for pc in range(-1, 101):
        expected = max((i for i, fde in enumerate(fdes) if fde.start <= pc < fde.end), default=None)
        found = [owner for start, owner in zip(starts, owners, strict=True) if start <= pc][-1:]
        owner = found[0] if found and found[0] >= 0 and pc < fdes[found[0]].end else None
        assert owner == expected, pc
