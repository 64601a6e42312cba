"""The operation table, decoding and printing; llvm-dwarfdump is the reference for operations that it knows."""

# ruff: noqa: E501  (one case, one line)
from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from rocdbg import dwarf
from rocdbg.dwarf.decoding import decode_prefix
from rocdbg.dwarf.evaluator import HANDLERS
from rocdbg.dwarf.operation_assembler import assemble, encode_operation, sleb128, uleb128
from rocdbg.dwarf.operation_table import DIALECTS, Operand, OperationInfo, operation_table

SAMPLES: dict[Operand, tuple[int | bytes, ...]] = {
    Operand.U1: (0, 0xFF),
    Operand.S1: (-1, 0x7F),
    Operand.U2: (0x1234, 0xFFFF),
    Operand.S2: (-2, 0x7FFF),
    Operand.U4: (0x12345678, 0xFFFFFFFF),
    Operand.S4: (-3, 5),
    Operand.U8: (1, (1 << 64) - 1),
    Operand.S8: (-4, 1 << 62),
    Operand.ULEB: (0, 300),
    Operand.SLEB: (-300, 7),
    Operand.ADDRESS: (0, 0x123456789A),
    Operand.REGISTER: (40, 2560),
    Operand.BRANCH: (-3, 3),
    Operand.UNIT_DIE2: (0x20, 0xFFFF),
    Operand.UNIT_DIE4: (0x20, 0xFFFFFF),
    Operand.SECTION_DIE: (0x20, 0xFFFFFF),
    Operand.BASE_TYPE: (0x10, 0x1000),
    Operand.BLOCK: (b"", b"\1\2\3"),
    Operand.BLOCK1: (b"", b"\1\2\3"),
    # One operation: llvm-dwarfdump forgets the closing parenthesis after several.
    Operand.EXPRESSION: (b"\x50", assemble(("regx", 40))),
}


def samples(info: OperationInfo) -> list[tuple[int | bytes, ...]]:
    return [tuple(SAMPLES[kind][i] for kind in info.operands) for i in ((0, 1) if info.operands else (0,))]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_operation_decodes_to_what_was_encoded_and_truncations_are_errors(dialect: str) -> None:
    plain, extended = operation_table(dialect)
    for info in (*plain.values(), *extended.values()):
        for operands in samples(info):
            data = encode_operation(info, operands)
            (operation,) = dwarf.decode(b"\x96" + data, dialect=dialect)[1:]
            assert (operation.name, operation.operands, operation.offset, operation.size) == (
                info.name,
                operands,
                1,
                len(data),
            )
            for end in range(1, len(data)):
                with pytest.raises(dwarf.DecodeError) as caught:
                    dwarf.decode(b"\x96" + data[:end], dialect=dialect)
                assert caught.value.offset == 1


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_byte_is_an_operation_or_an_error(dialect: str) -> None:
    plain, extended = operation_table(dialect)
    for code in range(256):
        _, error = decode_prefix(bytes([code]) + bytes(32), dialect)
        known = code in plain or (extended and code == 0xE9)
        first_fails = error is not None and error.offset == 0
        # 0xe9 0x00: vendor extension 0 is reserved
        assert first_fails is (not known or (bool(extended) and code == 0xE9)), hex(code)
    for extension in range(300):
        data = b"\xe9" + uleb128(extension) + bytes(16)
        if extended:
            _, error = decode_prefix(data, dialect)
            assert (error is not None and error.offset == 0) is (extension not in extended)


def test_every_operation_has_a_handler() -> None:
    for row in dwarf.OPERATIONS:
        assert row.meaning in HANDLERS or re.fullmatch(r"(lit|reg|breg)([0-9]|[12][0-9]|3[01])", row.meaning)


def test_the_codes_the_document_gives() -> None:
    given = {
        "form_aspace_address": (0x02, 0xE1),
        "push_lane": (0x03, 0xE2),
        "offset": (0x04, 0xE3),
        "offset_uconst": (0x05, 0xE4),
        "bit_offset": (0x06, 0xE5),
        "call_frame_entry_reg": (0x07, 0xE6),
        "undefined": (0x08, 0xE7),
        "aspace_bregx": (0x09, 0xE8),
        "piece_end": (0x0A, 0xEA),
        "extend": (0x0B, 0xEB),
        "select_bit_piece": (0x0C, 0xEC),
    }
    rows = {(row.meaning, dialect): row for row in dwarf.OPERATIONS for dialect in row.dialects if "LLVM" in row.name}
    for meaning, (extension, code) in given.items():
        assert rows[meaning, "amd"].encoding == rows[meaning, "llvm22"].encoding == bytes([0xE9, extension])
        assert rows[meaning, "proposal2020"].encoding == bytes([code])
    assert rows["aspace_implicit_pointer", "proposal2020"].encoding == b"\xe9"
    assert rows["offset_uconst", "proposal2020"].name == "DW_OP_LLVM_offset_constu"
    own = {row.name for row in dwarf.OPERATIONS if row.own_code and "amd" in row.dialects}
    assert own == {
        f"DW_OP_LLVM_{name}" for name in ("aspace_implicit_pointer", "push_iteration", "overlay", "bit_overlay")
    }


def test_the_displacement_of_aspace_bregx_was_unsigned_in_2020() -> None:
    assert dwarf.decode(b"\xe9\x09\x40\x7f")[0].operands == (64, -1)
    assert dwarf.decode(b"\xe8\x40\x7f", dialect="proposal2020")[0].operands == (64, 127)


@pytest.mark.parametrize("value", [0, 1, 63, 64, 127, 128, -1, -64, -65, 1 << 63, -(1 << 63), 1 << 64, -(1 << 200), (1 << 777) + 5])
def test_leb128_of_any_length(value: int) -> None:
    assert dwarf.decode(b"\x11" + sleb128(value))[0].operands == (value,)
    if value >= 0:
        assert dwarf.decode(b"\x10" + uleb128(value))[0].operands == (value,)
        padded = bytes([*uleb128(value)[:-1], uleb128(value)[-1] | 0x80]) + b"\x80" * 50 + b"\x00"
        assert dwarf.decode(b"\x10" + padded)[0].operands == (value,)


def test_sizes_of_addresses_and_offsets() -> None:
    assert dwarf.decode(b"\x03\1\2\3\4", address_size=4)[0].operands == (0x04030201,)
    assert dwarf.decode(b"\x9a" + bytes([1] + [0] * 7), offset_size=8)[0].operands == (1,)
    with pytest.raises(dwarf.DwarfError):
        dwarf.decode(b"", dialect="nonsense")


TEXTS: list[tuple[bytes, str, str]] = [
    (
        assemble(("regx", 2560), "push_lane", "lit4", "mul", "offset"),
        "amd",
        "DW_OP_regx 0xa00, DW_OP_LLVM_user DW_OP_LLVM_push_lane, DW_OP_lit4, DW_OP_mul, DW_OP_LLVM_user DW_OP_LLVM_offset",
    ),
    (
        assemble(("regx", 2560), "push_lane", ("offset_uconst", 4), dialect="proposal2020"),
        "proposal2020",
        "DW_OP_regx 0xa00, DW_OP_LLVM_push_lane, DW_OP_LLVM_offset_constu 0x4",
    ),
    (assemble(("aspace_bregx", 64, -1)), "amd", "DW_OP_LLVM_user DW_OP_LLVM_aspace_bregx 0x40 -1"),
    (assemble(("const_type", 0x10, b"\1\2")), "amd", "DW_OP_const_type <base_type ref: 0x10> 0x2 0x01 0x02"),
    (assemble(("deref_type", 4, 0x10)), "amd", "DW_OP_deref_type 0x4 <base_type ref: 0x10>"),
    (assemble(("reinterpret", 0)), "amd", "DW_OP_reinterpret 0x0"),
    (b"", "amd", "<empty>"),
    (b"\x30\x02\x30", "amd", "DW_OP_lit0, <decoding error> 02 30"),
]


@pytest.mark.parametrize(("data", "dialect", "text"), TEXTS)
def test_printing(data: bytes, dialect: str, text: str) -> None:
    assert dwarf.format_expression(data, dialect=dialect) == text


def test_printing_with_names() -> None:
    names = {16: "PC", 2560: "VGPR0"}
    types = {0x10: "unsigned int"}
    data = assemble(("regx", 2560), ("bregx", 2560, -4), ("regval_type", 2560, 0x10), ("aspace_bregx", 16, 8))
    data += bytes([0x50 + 16, 0x70 + 16, 5])
    assert dwarf.format_expression(data, register_name=names.get, type_name=types.get) == (
        "DW_OP_regx VGPR0, DW_OP_bregx VGPR0-4, DW_OP_regval_type VGPR0 (0x00000010) \"unsigned int\", "
        "DW_OP_LLVM_user DW_OP_LLVM_aspace_bregx PC+8, DW_OP_reg16 PC, DW_OP_breg16 PC+5"
    )


def dumped(expressions: list[bytes], directory: Path) -> list[str]:
    """llvm-dwarfdump's output for the expressions, each of which is the location of a variable."""
    lines = [
        '.section .debug_abbrev,"",@progbits',
        ".byte 1,0x11,1, 0x13,5, 0,0, 2,0x34,0, 2,0x18, 0,0, 0",
        '.section .debug_info,"",@progbits',
        ".long end-start",
        "start: .short 5",
        ".byte 1,8",
        ".long 0",
        ".byte 1",
        ".short 0x8100",
    ]
    lines += [".byte 2," + ",".join(map(str, uleb128(len(data)) + data)) for data in expressions]
    lines += [".byte 0", "end:", ""]
    source, object_file = directory / "e.s", directory / "e.o"
    source.write_text("\n".join(lines))
    tool = ["llvm-mc-22", "-triple", "amdgcn-amd-amdhsa", "-mcpu=gfx90a", "-filetype=obj"]
    subprocess.run([*tool, source, "-o", object_file], check=True)
    text = subprocess.run(
        ["llvm-dwarfdump-22", "--debug-info", object_file], check=True, capture_output=True, text=True
    ).stdout
    return re.findall(r"DW_AT_location\t\((.*)\)\n", text)


# What llvm-dwarfdump 22 cannot decode, or prints wrongly.
UNKNOWN_TO_LLVM = {"const_type", "deref_type", "xderef_type", "reinterpret"}
UNKNOWN_GNU = {"uninit", "const_type", "regval_type", "deref_type", "convert", "reinterpret", "parameter_ref", "variable_value"}


@pytest.mark.llvm
def test_decoding_and_printing_agree_with_llvm_dwarfdump(tmp_path: Path) -> None:
    expressions = []
    for row in dwarf.OPERATIONS:
        gnu = row.name.startswith("DW_OP_GNU_")
        if (
            "llvm22" not in row.dialects
            or row.own_code
            or row.meaning in UNKNOWN_TO_LLVM
            or (gnu and row.name.removeprefix("DW_OP_GNU_") in UNKNOWN_GNU)
        ):
            continue
        for operands in samples(row):
            # Register numbers without a name, and no base types: the text depends on nothing else.
            operands = tuple(
                5 if kind is Operand.REGISTER else value for kind, value in zip(row.operands, operands, strict=True)
            )
            if row.meaning == "aspace_bregx":
                operands = (5, 7)  # it prints a signed displacement as unsigned
            expressions.append(encode_operation(row, operands))
    names = {1: "EXEC_LO", 16: "PC_REG", 17: "EXEC", 40: "SGPR8"}
    ours = [dwarf.format_expression(data, dialect="llvm22", register_name=names.get) for data in expressions]
    theirs = [text.replace("<invalid base_type", "<base_type") for text in dumped(expressions, tmp_path)]
    assert len(theirs) == len(ours)
    differences = [(a, b) for a, b in zip(ours, theirs, strict=True) if a != re.sub(r"aspace_bregx 0x5 0x7", "aspace_bregx 0x5 +7", b)]
    assert differences == []
