"""Differences between the dialects: codes, names, an operand, address spaces, and attributes (A.7.5.4)."""

# ruff: noqa: E501  (a case is a line)
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from rocdbg import dwarf

# The bytes of one operation each, by dialect: "amd" and "llvm22" are encoded alike.
NEWER = {
    "DW_OP_LLVM_form_aspace_address": "e902", "DW_OP_LLVM_push_lane": "e903", "DW_OP_LLVM_offset": "e904",
    "DW_OP_LLVM_offset_uconst": "e90507", "DW_OP_LLVM_bit_offset": "e906", "DW_OP_LLVM_call_frame_entry_reg": "e90711",
    "DW_OP_LLVM_undefined": "e908", "DW_OP_LLVM_aspace_bregx": "e909407f", "DW_OP_LLVM_piece_end": "e90a",
    "DW_OP_LLVM_extend": "e90b4040", "DW_OP_LLVM_select_bit_piece": "e90c4040",
}
PROPOSAL = {
    "DW_OP_LLVM_form_aspace_address": "e1", "DW_OP_LLVM_push_lane": "e2", "DW_OP_LLVM_offset": "e3",
    "DW_OP_LLVM_offset_constu": "e407", "DW_OP_LLVM_bit_offset": "e5", "DW_OP_LLVM_call_frame_entry_reg": "e611",
    "DW_OP_LLVM_undefined": "e7", "DW_OP_LLVM_aspace_bregx": "e8407f", "DW_OP_LLVM_aspace_implicit_pointer": "e91000000004",
    "DW_OP_LLVM_piece_end": "ea", "DW_OP_LLVM_extend": "eb4040", "DW_OP_LLVM_select_bit_piece": "ec4040",
}
ENCODINGS = [
    *(("amd", name, code) for name, code in NEWER.items()), *(("llvm22", name, code) for name, code in NEWER.items()),
    *(("proposal2020", name, code) for name, code in PROPOSAL.items()),
]


@pytest.mark.parametrize(("dialect", "name", "code"), ENCODINGS, ids=[f"{d} {n}" for d, n, _ in ENCODINGS])
def test_codes(dialect: str, name: str, code: str) -> None:
    data = bytes.fromhex(code)
    (operation,) = dwarf.decode(data, dialect=dialect)
    assert (operation.name, operation.offset) == (name, 0)
    text = dwarf.format_expression(data, dialect=dialect)
    assert text.startswith(name if dialect == "proposal2020" else f"DW_OP_LLVM_user {name}")


def test_the_extension_code_0_is_reserved() -> None:
    with pytest.raises(dwarf.IllFormed):
        dwarf.decode(b"\xe9\x00")


def test_the_displacement_was_unsigned(make_world: Callable[..., Any]) -> None:
    for dialect, code, expected in (("amd", "3 e909 21 7f", 0x1001), ("proposal2020", "3 e8 21 7f", 0x1081)):
        world = make_world(dialect)
        result = dwarf.evaluate(bytes.fromhex("3" + code.replace(" ", "")), world.context, None, dialect)
        assert isinstance(result, dwarf.LocationDescription)
        assert (result.places[0].address_space, result.places[0].address) == (3, expected)


# private_lane<0> to private_lane<63>: 0x20 to 0x5f, in the proposal only
@pytest.mark.parametrize(("space", "lane"), [(0x20, 0), (0x25, 5), (0x29, 9), (0x5F, 63)])
def test_private_memory_of_one_lane(space: int, lane: int, check: Callable[..., None]) -> None:
    text = f"lit8; const1u {space}; form_aspace_address"
    check(text, f"mem{space} 0x8 lane{lane} {{16: {lane << 8 | 0x20}}}", "proposal2020")
    check(text, f"mem{space} 0x8 lane{lane} {{16: {lane << 8 | 0x20}}}", "proposal2020", {"lane": None})
    check(text, "ill-formed", "amd")
    check(text, "ill-formed", "llvm22")


SUBPROGRAM, UNIT, BASE, POINTER = "DW_TAG_subprogram", "DW_TAG_compile_unit", "DW_TAG_base_type", "DW_TAG_pointer_type"
# code, tag, class, then the name in amd, proposal2020, llvm22 (without DW_AT_LLVM_; None: no meaning)
ATTRIBUTES: list[tuple[int, str, str, str | None, str | None, str | None]] = [
    (0x3E08, SUBPROGRAM, "exprloc", "active_lane", "active_lane", None),
    (0x3E08, SUBPROGRAM, "loclist", "active_lane", "active_lane", None),
    (0x3E08, "DW_TAG_inlined_subroutine", "exprloc", "active_lane", "active_lane", None),
    (0x3E08, "DW_TAG_entry_point", "exprloc", "active_lane", "active_lane", None),
    (0x3E09, UNIT, "string", "augmentation", "augmentation", None),
    (0x3E0A, SUBPROGRAM, "constant", "lanes", "lanes", None),
    (0x3E0A, SUBPROGRAM, "exprloc", "iterations", None, None),
    (0x3E0A, SUBPROGRAM, "loclist", "iterations", None, None),
    (0x3E0B, SUBPROGRAM, "exprloc", "lane_pc", "lane_pc", None),
    (0x3E0B, SUBPROGRAM, "loclist", "lane_pc", "lane_pc", None),
    (0x3E0B, "DW_TAG_structure_type", "constant", "num_extra_inhabitants", "num_extra_inhabitants", "num_extra_inhabitants"),
    (0x3E0C, BASE, "constant", "vector_size", "vector_size", None),
    (0x3E0C, SUBPROGRAM, "sec_offset", "stmt_sequence", "stmt_sequence", "stmt_sequence"),
    (0x3E0F, POINTER, "constant", "memory_space", None, "memory_space"),
    (0x3E0F, "DW_TAG_variable", "constant", "memory_space", None, "memory_space"),
    (0x3E10, POINTER, "constant", "address_space", None, "address_space"),
    (0x3E11, SUBPROGRAM, "constant", None, None, "lanes"),
    (0x3E12, SUBPROGRAM, "exprloc", None, None, "lane_pc"),
    (0x3E13, BASE, "constant", None, None, "vector_size"),
    (0x3E08, "DW_TAG_LLVM_ptrauth_type", "flag", "ptrauth_isa_pointer", "ptrauth_isa_pointer", "ptrauth_isa_pointer"),
]


@pytest.mark.parametrize("case", ATTRIBUTES, ids=[f"{c[0]:#x} {c[1]} {c[2]}" for c in ATTRIBUTES])
def test_attributes(case: Any) -> None:
    code, tag, form_class, *names = case
    for dialect, name in zip(("amd", "proposal2020", "llvm22"), names, strict=True):
        found = dwarf.attribute_name(code, tag=tag, form_class=form_class, dialect=dialect)
        assert found == (None if name is None else f"DW_AT_LLVM_{name}"), dialect


def test_standard_attributes() -> None:
    assert dwarf.attribute_name(0x02, tag="DW_TAG_variable", form_class="exprloc") == "DW_AT_location"
    assert dwarf.attribute_name(0x40) == "DW_AT_frame_base"
    assert dwarf.attribute_name(0x7FFF) is None
