"""A.6.4 call frame information: structure, every instruction, every register rule, AMDGPU's defaults, unwinding.

Instructions are written as text, `;` between them: `def_cfa 16 8; advance 1; offset 33 2`. The function is
[0x1000, 0x1100); code and data alignment factors are 4 (AMDGPU), so `advance 1` is 4 bytes.
"""

# ruff: noqa: E501  (a case is a line)
from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from rocdbg import dwarf
from rocdbg.dwarf.operation_table import DIALECTS

# name: (opcode, operands): u/s LEB128, number = bytes, e = expression, a = address
INSTRUCTIONS: dict[str, tuple[int, str]] = {
    "nop": (0x00, ""), "set_loc": (0x01, "a"), "advance1": (0x02, "1"), "advance2": (0x03, "2"), "advance4": (0x04, "4"),
    "offset_extended": (0x05, "uu"), "restore_extended": (0x06, "u"), "undefined": (0x07, "u"), "same_value": (0x08, "u"),
    "register": (0x09, "uu"), "remember_state": (0x0A, ""), "restore_state": (0x0B, ""), "def_cfa": (0x0C, "uu"),
    "def_cfa_register": (0x0D, "u"), "def_cfa_offset": (0x0E, "u"), "def_cfa_expression": (0x0F, "e"),
    "expression": (0x10, "ue"), "offset_extended_sf": (0x11, "us"), "def_cfa_sf": (0x12, "us"), "def_cfa_offset_sf": (0x13, "s"),
    "val_offset": (0x14, "uu"), "val_offset_sf": (0x15, "us"), "val_expression": (0x16, "ue"), "GNU_args_size": (0x2E, "u"),
    "MIPS_advance8": (0x1D, "8"),
}


def uleb(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def sleb(value: int) -> bytes:
    out = bytearray()
    while not -64 <= value < 64:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value & 0x7F])


class Builder:
    """Sections made of one CIE and one FDE."""

    def __init__(self, dialect: str, world: Any) -> None:
        self.dialect = dialect
        self.world = world

    def instructions(self, text: str, address_size: int = 8) -> bytes:
        out = bytearray()
        for item in re.findall(r"(?:\[(?:[^\[\]]|\[[^\[\]]*\])*\]|[^;\[\]])+", text):
            words = re.findall(r"\[.*\]|\S+", item)
            if not words:
                continue
            name, *operands = words
            if name in ("advance", "offset", "restore"):
                high = {"advance": 0x40, "offset": 0x80, "restore": 0xC0}[name]
                out += bytes([high | int(operands[0], 0)])
                out += uleb(int(operands[1], 0)) if name == "offset" else b""
                continue
            if name.startswith("def_aspace_cfa"):
                old = self.dialect == "proposal2020"
                code, kinds = (0x2F if old else 0x30, "uuu") if name == "def_aspace_cfa" else (0x30 if old else 0x31, "usu")
            elif name == "byte":
                code, kinds, operands = int(operands[0], 0), "", []
            else:
                code, kinds = INSTRUCTIONS[name]
            assert len(kinds) == len(operands), item
            out.append(code)
            for kind, operand in zip(kinds, operands, strict=True):
                if kind == "e":
                    block = self.world.code(operand[1:-1])
                    out += uleb(len(block)) + block
                elif kind == "u":
                    out += uleb(int(operand, 0))
                elif kind == "s":
                    out += sleb(int(operand, 0))
                else:
                    out += int(operand, 0).to_bytes(address_size if kind == "a" else int(kind), "little")
        return bytes(out)

    def section(
        self, fde: str, cie: str = "", *, version: int = 4, wide: bool = False, augmentation: bytes = b"[amd:v0.0]",
        address_size: int = 8, code: int = 4, data: int = 4, column: int = 16, start: int = 0x1000, size: int = 0x100,
    ) -> bytes:
        word = 8 if wide else 4

        def entry(body: bytes) -> bytes:
            head = 12 if wide else 4
            body += bytes(-(head + len(body)) % address_size)
            return (b"\xff\xff\xff\xff" + len(body).to_bytes(8, "little") if wide else len(body).to_bytes(4, "little")) + body

        header = bytes([version]) + augmentation + b"\0" + (bytes([address_size, 0]) if version >= 4 else b"")
        header += uleb(code) + sleb(data) + (bytes([column]) if version == 1 else uleb(column))
        first = entry(b"\xff" * word + header + self.instructions(cie, address_size))
        pair = start.to_bytes(address_size, "little") + size.to_bytes(address_size, "little")
        return first + entry(bytes(word) + pair + self.instructions(fde, address_size))


@pytest.fixture
def builder(make_world: Callable[..., Any]) -> Callable[..., Builder]:
    return lambda dialect, changes=None: Builder(dialect, make_world(dialect, changes))


def locate(row: Any, what: str, context: Any) -> dwarf.LocationDescription:
    location = row.cfa_location(context) if what == "cfa" else row.register_location(int(what), context)
    assert isinstance(location, dwarf.LocationDescription)
    return location


CFA = "def_cfa 16 8; "  # memory 0x1008 in the default space
PRIVATE = "def_aspace_cfa 32 6 5; "  # private memory of the lane at 0x8
LATE = {"pc": 0x1004}

# id, instructions, (pc), what is requested, where it is
RULES: list[tuple[str, str, int, str, str]] = [
    # A.6.4.2.2 CFA definition
    ("def_cfa", "def_cfa 16 8", 0x1000, "cfa", "mem0 0x1008"),
    ("def_cfa is unsigned and not factored", "def_cfa 16 0x80", 0x1000, "cfa", "mem0 0x1080"),
    ("def_cfa of a 32-bit register", "def_cfa 33 8", 0x1000, "cfa", "error"),
    ("def_cfa_sf is signed and factored", "def_cfa_sf 16 -2", 0x1000, "cfa", "mem0 0xff8"),
    ("def_aspace_cfa", "def_aspace_cfa 32 6 5", 0x1000, "cfa", "mem5 0x8 lane5"),
    ("def_aspace_cfa in private_wave", "def_aspace_cfa 32 0 6", 0x1000, "cfa", "mem6 0x2"),
    ("def_aspace_cfa in local", "def_aspace_cfa 32 2 3", 0x1000, "cfa", "mem3 0x4"),
    ("def_aspace_cfa in no space", "def_aspace_cfa 32 0 4", 0x1000, "cfa", "ill-formed"),
    ("def_aspace_cfa_sf", "def_aspace_cfa_sf 33 -1 5", 0x1000, "cfa", "mem5 0xffe lane5"),
    ("def_aspace_cfa_sf in no space", "def_aspace_cfa_sf 33 -1 7", 0x1000, "cfa", "ill-formed"),
    ("def_cfa_register keeps displacement and space", "def_aspace_cfa 32 6 5; def_cfa_register 33", 0x1000, "cfa", "mem5 0x1008 lane5"),
    ("def_cfa_register without CFA", "def_cfa_register 33", 0x1000, "cfa", "ill-formed"),
    ("def_cfa_register after an expression", "def_cfa_expression [addr 0x1000]; def_cfa_register 33", 0x1000, "cfa", "ill-formed"),
    ("def_cfa_offset keeps register and space", "def_aspace_cfa 32 6 6; def_cfa_offset 10", 0x1000, "cfa", "mem6 0xc"),
    ("def_cfa_offset without CFA", "def_cfa_offset 4", 0x1000, "cfa", "ill-formed"),
    ("def_cfa_offset after an expression", "def_cfa_expression [addr 0x1000]; def_cfa_offset 8", 0x1000, "cfa", "ill-formed"),
    ("def_cfa_offset_sf", "def_cfa 16 8; def_cfa_offset_sf -1", 0x1000, "cfa", "mem0 0xffc"),
    ("def_cfa_offset_sf without CFA", "def_cfa_offset_sf 1", 0x1000, "cfa", "ill-formed"),
    ("def_cfa_offset_sf after an expression", "def_cfa_expression [addr 0x1000]; def_cfa_offset_sf 8", 0x1000, "cfa", "ill-formed"),
    ("def_cfa_expression", "def_cfa_expression [lit0; lit6; form_aspace_address]", 0x1000, "cfa", "mem6 0x0"),
    ("def_cfa_expression with a generic value", "def_cfa_expression [const2u 0x1000]", 0x1000, "cfa", "mem0 0x1000"),
    ("its initial stack is empty", "def_cfa_expression [lit1; drop; drop]", 0x1000, "cfa", "ill-formed"),
    ("def_cfa after an expression", "def_cfa_expression [addr 0x1000]; def_cfa 16 0", 0x1000, "cfa", "mem0 0x1000"),
    *((f"a CFA expression that gives {what}", f"def_cfa_expression [{text}]", 0x1000, "cfa", "ill-formed") for what, text in [
        ("a register", "regx 33"), ("undefined", "undefined"), ("nothing", ""), ("an implicit value", "lit1; stack_value"), ("a bit field", "addr 0x1000; lit1; bit_offset"), ("a composite", "addr 0x1000; piece 4")]),
    # A.6.4.1 rules, A.6.4.2.3 instructions
    ("undefined", CFA + "undefined 33", 0x1000, "33", "undefined"), ("same_value", CFA + "same_value 33", 0x1000, "33", "reg33"), ("no rule: same value on AMDGPU", CFA, 0x1000, "33", "reg33"), ("no rule for a vector register", CFA, 0x1000, "2560", "reg2560"),
    ("offset is factored and unsigned", CFA + "offset 33 2", 0x1000, "33", "mem0 0x1010 {32: 0x13121110}"), ("offset of the CFA's space", PRIVATE + "offset 33 1", 0x1000, "33", "mem5 0xc lane5 {32: 0xaa550530}"), ("offset_extended", CFA + "offset_extended 2560 1", 0x1000, "2560", "mem0 0x100c"),
    ("offset_extended_sf", CFA + "offset_extended_sf 33 -2", 0x1000, "33", "mem0 0x1000"),
    ("offset below the address space", "def_aspace_cfa 32 0 6; offset_extended_sf 33 -2", 0x1000, "33", "error"),
    ("offset needs the CFA", "offset 33 1", 0x1000, "33", "ill-formed"),
    ("val_offset", CFA + "val_offset 17 2", 0x1000, "17", "implicit {64: 0x1010}"), ("val_offset_sf", CFA + "val_offset_sf 17 -2", 0x1000, "17", "implicit {64: 0x1000}"),
    ("val_offset in another space", "def_aspace_cfa 32 6 5; val_offset 33 1", 0x1000, "33", "implicit {32: 0xc, 33: error}"),
    ("val_offset of a register that is not an address", CFA + "val_offset 33 1", 0x1000, "33", "ill-formed"),
    ("val_offset of a larger one", "def_aspace_cfa 32 6 5; val_offset 17 1", 0x1000, "17", "ill-formed"),
    ("register", CFA + "register 33 34", 0x1000, "33", "reg34"), ("register is another register now, whatever its own rule (DWARF 5's meaning)", CFA + "register 33 34; offset 34 1", 0x1000, "33", "reg34"), ("register of another size", CFA + "register 33 17", 0x1000, "33", "ill-formed"), ("register of itself", CFA + "register 33 33", 0x1000, "33", "ill-formed"),
    ("a cycle of registers", CFA + "register 33 34; register 34 33", 0x1000, "33", "ill-formed"), ("register of one that the caller cannot have", CFA + "register 33 34; undefined 34", 0x1000, "33", "reg34"),
    ("expression", CFA + "expression 33 [lit4; lit3; form_aspace_address]", 0x1000, "33", "mem3 0x4"), ("expression starts with the CFA", CFA + "expression 33 [offset_uconst 8]", 0x1000, "33", "mem0 0x1010"), ("expression with a register", CFA + "expression 33 [regx 35]", 0x1000, "33", "reg35"), ("expression that is empty is the CFA", CFA + "expression 33 []", 0x1000, "33", "mem0 0x1008"),
    ("the return address in s[30:31]", CFA + "expression 16 [regx 62; piece 4; regx 63; piece 4]", 0x1000, "16", "composite {64: 0x1f0020001e002}"), ("EXEC spilled into two lanes of a vector register", CFA + "expression 17 [regx 2560; bit_piece 32 64; regx 2560; bit_piece 32 96]", 0x1000, "17", "composite {64: 0x10300000102}"),
    ("a vector register spilled for some lanes", PRIVATE + "expression 2561 [drop; regx 2561; lit0; lit6; form_aspace_address; call_frame_entry_reg 17; deref_size 8; select_bit_piece 32 64]", 0x1000, "2561", "composite {32: 0xaa550000, 32+128: 0x204, 32+256: 0xaa550800}"),
    ("expression that gives a typed value", CFA + "expression 33 [lit1; stack_value]", 0x1000, "33", "implicit {32: 1}"),
    ("expression of a register without CFA", "expression 33 [regx 34]", 0x1000, "33", "reg34 or ill-formed"),
    ("val_expression", CFA + "val_expression 17 [lit5]", 0x1000, "17", "implicit {64: 5, 65: error}"), ("val_expression starts with the CFA", CFA + "val_expression 17 [lit8; plus]", 0x1000, "17", "implicit {64: 0x1010}"), ("val_expression that is empty is the CFA's address", CFA + "val_expression 17 []", 0x1000, "17", "implicit {64: 0x1008}"),
    ("val_expression of another size", CFA + "val_expression 33 [lit5]", 0x1000, "33", "ill-formed"), ("val_expression that gives a location", CFA + "val_expression 17 [regx 17]", 0x1000, "17", "ill-formed"), ("a CFA in another space is not a value", PRIVATE + "val_expression 17 []", 0x1000, "17", "ill-formed"),
    # restrictions of A.6.4.2
    *((f"{op.split()[0]} is not allowed in a register rule", CFA + f"expression 33 [{op}]", 0x1000, "33", "ill-formed") for op in (
        "addrx 0", "call2 0x100", "call4 0x100", "call_ref 0x100", "const_type u32 x:00000000", "constx 0", "lit1; convert u32", "deref_type 4 u32", "fbreg 0", "implicit_pointer 0x100 0", "regval_type 33 u32", "lit1; reinterpret u64",
        "lit0; lit0; xderef_type 4 u32", "push_object_address", "push_lane", "push_iteration", "call_frame_cfa", "entry_value [reg16]", "GNU_addr_index 0", "GNU_entry_value [reg16]", "lit0; aspace_implicit_pointer 0x100 0", "GNU_regval_type 33 u32")),
    *((f"{op.split()[0]} is not allowed in a CFA expression", f"def_cfa_expression [{op}]", 0x1000, "cfa", "ill-formed") for op in ("addrx 0", "push_lane", "call_frame_cfa", "fbreg 0", "regval_type 16 u64", "push_object_address", "call4 0x100")),
    ("not allowed even where it is not reached", CFA + "expression 33 [skip @end; push_lane; end: nop]", 0x1000, "33", "ill-formed"), ("not allowed in val_expression", CFA + "val_expression 17 [push_lane]", 0x1000, "17", "ill-formed"),
    ("call_frame_entry_reg is allowed", CFA + "expression 33 [call_frame_entry_reg 34]; offset 34 1", 0x1000, "33", "mem0 0x100c"), ("a cycle of call_frame_entry_reg", CFA + "expression 33 [call_frame_entry_reg 34]; expression 34 [call_frame_entry_reg 33]", 0x1000, "33", "ill-formed"), ("call_frame_entry_reg of itself", CFA + "expression 33 [call_frame_entry_reg 33]", 0x1000, "33", "ill-formed"),
    ("a cycle through the CFA", "def_cfa_expression [call_frame_entry_reg 33; deref]; offset 33 1", 0x1000, "33", "ill-formed"), ("breg in a CFI expression", CFA + "expression 33 [breg16 4]", 0x1000, "33", "mem0 0x1004"), ("deref_size in a CFI expression", CFA + "expression 33 [deref_size 2]", 0x1000, "33", "mem0 0x908"),
    # row creation (A.6.4.2.1) and state (A.6.4.2.4)
    ("before an advance", CFA + "advance 1; offset 33 1", 0x1003, "33", "reg33"), ("from it on", CFA + "advance 1; offset 33 1", 0x1004, "33", "mem0 0x100c"), ("advance1", CFA + "advance1 2; offset 33 1", 0x1007, "33", "reg33"), ("advance1 from it on", CFA + "advance1 2; offset 33 1", 0x1008, "33", "mem0 0x100c"),
    ("advance2", CFA + "advance2 2; offset 33 1", 0x1008, "33", "mem0 0x100c"), ("advance4", CFA + "advance4 2; offset 33 1", 0x1008, "33", "mem0 0x100c"), ("MIPS_advance8", CFA + "MIPS_advance8 2; offset 33 1", 0x1008, "33", "mem0 0x100c"), ("set_loc", CFA + "set_loc 0x1010; offset 33 1", 0x100F, "33", "reg33"), ("set_loc from it on", CFA + "set_loc 0x1010; offset 33 1", 0x1010, "33", "mem0 0x100c"),
    ("set_loc backwards", CFA + "set_loc 0x1010; set_loc 0x1008; offset 33 1", 0x1010, "33", "ill-formed"), ("the last row lasts to the end", CFA + "advance 1; offset 33 1", 0x10FF, "33", "mem0 0x100c"), ("a later rule replaces", CFA + "offset 33 1; advance 1; offset 33 2", 0x1004, "33", "mem0 0x1010"),
    ("remember and restore", CFA + "offset 33 1; remember_state; advance 1; offset 33 2; advance 1; restore_state", 0x1008, "33", "mem0 0x100c"), ("between them", CFA + "offset 33 1; remember_state; advance 1; offset 33 2; advance 1; restore_state", 0x1004, "33", "mem0 0x1010"), ("the CFA is restored as well", CFA + "remember_state; def_cfa_offset 16; advance 1; restore_state", 0x1004, "cfa", "mem0 0x1008"),
    ("states nest", CFA + "offset 33 1; remember_state; offset 33 2; remember_state; offset 33 3; restore_state; restore_state", 0x1000, "33", "mem0 0x100c"), ("a rule that was not there is gone", CFA + "remember_state; offset 33 1; restore_state", 0x1000, "33", "reg33"), ("restore_state without remember_state", CFA + "restore_state", 0x1000, "33", "ill-formed"),
    ("nop", CFA + "nop; nop; offset 33 1", 0x1000, "33", "mem0 0x100c"), ("GNU_args_size does nothing", CFA + "GNU_args_size 8; offset 33 1", 0x1000, "33", "mem0 0x100c"), ("an unknown instruction", CFA + "byte 0x3f", 0x1000, "33", "ill-formed"),
]


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("case", RULES, ids=[case[0] for case in RULES])
def test_rules(case: Any, dialect: str, builder: Callable[..., Builder], outcome_of: Callable[..., str]) -> None:
    _, instructions, pc, what, expected = case
    b = builder(dialect)
    frames = dwarf.parse_frames(b.section(instructions), dialect=dialect)
    result = outcome_of(lambda: locate(frames.row(pc), what, b.world.context))
    place, _, reads = expected.partition(" {")
    assert result in place.split(" or ")
    for item in reads[:-1].split(", ") if reads else ():
        extent, value = item.split(": ")
        bits, _, offset = extent.partition("+")

        def read(bits: str = bits, offset: str = offset) -> dwarf.Value:
            return dwarf.Value(None, locate(frames.row(pc), what, b.world.context).read(int(bits), int(offset or 0)))

        assert outcome_of(read) == (value if value == "error" else hex(int(value, 0))), extent


KEPT = [
    "offset 33 1; remember_state; advance 1; advance 1; undefined 33; restore_state; offset_extended 33 72; advance 1",
    "remember_state; advance 1; remember_state; offset 33 1; advance 1; restore_state; offset 33 2; advance 1; restore_state; offset 33 3",
    *(case[1] for case in RULES if "advance" in case[1]),
]


@pytest.mark.parametrize("instructions", KEPT)
def test_rows_are_the_same_however_they_are_asked_for(instructions: str, builder: Callable[..., Builder]) -> None:
    """The first request is answered separately, later ones from all rows; no row changes when another is made."""
    section = builder("amd").section(CFA + instructions)
    pcs = range(0x1000, 0x1018, 4)
    alone = [dwarf.parse_frames(section).row(pc) for pc in pcs]
    frames = dwarf.parse_frames(section)
    assert [[frames.row(pc) for pc in pcs] for _ in range(2)] == [alone, alone]


# initial instructions, instructions, register, where: restore goes back to what the CIE says
RESTORE = [
    ("restore", "offset 33 1", "offset 33 2; restore 33", "33", "mem0 0x100c"),
    ("restore_extended", "offset_extended 2560 1", "undefined 2560; restore_extended 2560", "2560", "mem0 0x100c"),
    ("restore of no initial rule", "", "offset 33 2; restore 33", "33", "reg33"),
    ("the CIE's rules hold", "undefined 33", "", "33", "undefined"),
    ("a function's rule wins", "undefined 33", "same_value 33", "33", "reg33"),
    ("AMD's kernels: no caller", "undefined 16", "", "16", "undefined"),
]


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("case", RESTORE, ids=[case[0] for case in RESTORE])
def test_initial_instructions(
    case: Any, dialect: str, builder: Callable[..., Builder], outcome_of: Callable[..., str]
) -> None:
    _, initial, instructions, what, expected = case
    b = builder(dialect)
    frames = dwarf.parse_frames(b.section(instructions, CFA + initial), dialect=dialect)
    assert outcome_of(lambda: locate(frames.row(0x1000), what, b.world.context)) == expected


HEADERS = [
    ("version 1", {"version": 1, "augmentation": b""}), ("version 3", {"version": 3}), ("version 4", {}),
    ("64-bit format", {"wide": True}), ("64-bit format, version 3", {"wide": True, "version": 3}),
    ("4-byte addresses", {"address_size": 4}), ("a large column", {"column": 2560}),
    ("the other vendor string", {"augmentation": b"[amdgpu:v0.0]"}), ("a later minor version", {"augmentation": b"[amd:v0.3]"}),
    ("options", {"augmentation": b"[amd:v0.0:x=1]"}), ("no augmentation", {"augmentation": b""}),
]


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("options", [case[1] for case in HEADERS], ids=[case[0] for case in HEADERS])
def test_headers(options: dict[str, Any], dialect: str, builder: Callable[..., Builder], show_result: Any) -> None:
    b = builder(dialect)
    section = b.section(CFA + "advance 1; offset 33 1", **options)
    frames = dwarf.parse_frames(section, address_size=options.get("address_size", 8), dialect=dialect)
    row = frames.row(0x1004)
    assert row is not None
    assert show_result(row.register_location(33, b.world.context)) == "mem0 0x100c"
    assert row.return_address_register == options.get("column", 16)
    assert (row.start, row.end) == (0x1004, 0x1100)
    assert [frames.row(pc) is None for pc in (0xFFF, 0x1000, 0x10FF, 0x1100)] == [True, False, False, True]


UNUSED = [
    ("an unknown vendor", {"augmentation": b"[abc:v0.0]"}), ("several vendors, one unknown", {"augmentation": b"[amd:v0.0][abc:v0.0]"}),
    ("GNU's eh", {"augmentation": b"eh"}), ("a later major version", {"augmentation": b"[amd:v7.0]"}), ("an unknown CIE version", {"version": 9}),
]


@pytest.mark.parametrize("options", [case[1] for case in UNUSED], ids=[case[0] for case in UNUSED])
def test_entries_that_are_not_used(options: dict[str, Any], builder: Callable[..., Builder]) -> None:
    assert dwarf.parse_frames(builder("amd").section(CFA + "offset 33 1", **options)).row(0x1000) is None


def test_upstream_clang_has_no_rules_at_all(builder: Callable[..., Builder]) -> None:
    b = builder("llvm22")
    assert dwarf.parse_frames(b.section("", augmentation=b""), dialect="llvm22").row(0x1000) is None
    assert dwarf.parse_frames(b.section(CFA, augmentation=b""), dialect="llvm22").row(0x1000) is not None


def test_an_empty_section_has_no_rows() -> None:
    assert dwarf.parse_frames(b"").row(0) is None


# .eh_frame: pointer encodings (low nibble: format; 0x10: relative to the field)
POINTERS = [
    ("absptr", 0x00, (0x1000).to_bytes(8, "little"), 8), ("udata2", 0x02, (0x1000).to_bytes(2, "little"), 2),
    ("udata4", 0x03, (0x1000).to_bytes(4, "little"), 4), ("udata8", 0x04, (0x1000).to_bytes(8, "little"), 8),
    ("sdata4", 0x0B, (0x1000).to_bytes(4, "little"), 4), ("pcrel sdata4", 0x1B, None, 4), ("pcrel sdata8", 0x1C, None, 8),
    ("pcrel absptr", 0x10, None, 8), ("uleb128", 0x01, uleb(0x1000), 0), ("sleb128", 0x09, sleb(0x1000), 0),
]
EH_FRAME = 0x8000  # where the section is


def eh_cie(b: Builder, augmentation: bytes, data: bytes, instructions: str) -> bytes:
    body = bytes(4) + b"\x01" + augmentation + b"\0" + uleb(4) + sleb(4) + bytes([16]) + uleb(len(data)) + data
    body += b.instructions(instructions)
    return len(body).to_bytes(4, "little") + body


@pytest.mark.parametrize("later", ["advance", "set_loc"])
@pytest.mark.parametrize("case", POINTERS, ids=[case[0] for case in POINTERS])
def test_eh_frame_pointers(case: Any, later: str, builder: Callable[..., Builder], show_result: Any) -> None:
    _, encoding, start, size = case
    b = builder("amd")

    def pointer(address: int, field: int) -> bytes:
        if start is None:
            return (address - (EH_FRAME + field)).to_bytes(size, "little", signed=True)
        return address.to_bytes(size, "little") if size else sleb(address) if encoding == 0x09 else uleb(address)

    cie = eh_cie(b, b"zR", bytes([encoding]), CFA)
    body = (len(cie) + 4).to_bytes(4, "little") + pointer(0x1000, len(cie) + 8)
    body += (uleb(0x100) if not size else (0x100).to_bytes(size, "little")) + uleb(0)
    if later == "advance":
        body += b.instructions("advance 1")
    else:  # its operand is encoded as the initial location is
        body += b"\x01" + pointer(0x1004, len(cie) + 4 + len(body) + 1)
    body += b.instructions("offset 33 1")
    section = cie + len(body).to_bytes(4, "little") + body + bytes(4)
    frames = dwarf.parse_frames(section, eh_frame=True, section_address=EH_FRAME)
    row = frames.row(0x1004)
    assert row is not None
    assert show_result(row.register_location(33, b.world.context)) == "mem0 0x100c"
    assert (row.start, row.end) == (0x1004, 0x1100)


# Unwinding. A.6.4.4: the caller's location is at the call, one byte before the return address.
@pytest.mark.parametrize("dialect", DIALECTS)
def test_unwinding(dialect: str, builder: Callable[..., Builder], show_result: Any) -> None:
    b = builder(dialect, {"registers": {
        62: (0x1064).to_bytes(4, "little"), 63: bytes(4), 33: b"\1\0\0\0", 64: b"\2\0\0\0", 16: (0x1000).to_bytes(8, "little")}})
    frames = dwarf.parse_frames(b.section(
        "def_aspace_cfa 64 4 6; expression 16 [regx 62; piece 4; regx 63; piece 4]; register 33 64; undefined 34"), dialect=dialect)
    caller = frames.unwind(b.world.context)
    assert caller is not None
    assert caller.pc == 0x1063
    assert caller.register_location(33).read(32) == 2
    assert caller.register_location(34).is_undefined
    assert show_result(caller.register_location(2560)) == "reg2560"
    assert caller.register_location(16).read(64) == 0x1064
    # Registers of the caller are found through the row: "same value" is what the callee says.
    assert dwarf.evaluate(b.world.code("regx 33"), caller, None, dialect) == caller.register_location(33)
    entry = dwarf.evaluate(b.world.code("entry_value [regval_type 33 u32]"), caller, None, dialect)
    assert isinstance(entry, dwarf.Value)
    # The caller's caller: s30 and s31 were not saved, so its PC is the same again.
    outer = frames.unwind(caller)
    assert outer is not None
    assert outer.register_location(33).read(32) == 2


# A signal frame was not called: its "return address" is the instruction that was interrupted, which is executed next.
@pytest.mark.parametrize(("augmentation", "pc"), [(b"zR", 0x1063), (b"zRS", 0x1064)], ids=["a call", "a signal"])
def test_unwinding_a_signal_frame(augmentation: bytes, pc: int, builder: Callable[..., Builder]) -> None:
    b = builder("amd")
    cie = eh_cie(b, augmentation, b"\0", CFA + "val_expression 16 [const2u 0x1064]")
    body = (len(cie) + 4).to_bytes(4, "little") + (0x1000).to_bytes(8, "little") + (0x100).to_bytes(8, "little") + uleb(0)
    frames = dwarf.parse_frames(cie + len(body).to_bytes(4, "little") + body, eh_frame=True)
    caller = frames.unwind(b.world.context)
    assert caller is not None
    assert caller.pc == pc


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_kernel_has_no_caller(dialect: str, builder: Callable[..., Builder]) -> None:
    b = builder(dialect)
    section = b.section("def_cfa_expression [lit0; lit6; form_aspace_address]; undefined 16")
    assert dwarf.parse_frames(section, dialect=dialect).unwind(b.world.context) is None
