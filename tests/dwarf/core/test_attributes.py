"""Attribute codes by dialect, tag and form class (A.7.5.4)."""

from __future__ import annotations

import pytest

from rocdbg import dwarf

SUBPROGRAM, BASE, POINTER, UNIT = "DW_TAG_subprogram", "DW_TAG_base_type", "DW_TAG_pointer_type", "DW_TAG_compile_unit"
PTRAUTH, STRUCTURE = "DW_TAG_LLVM_ptrauth_type", "DW_TAG_structure_type"

CASES: list[tuple[int, str | None, str | None, str | None, str | None, str | None]] = [
    # code, tag, class, name in amd, proposal2020 and llvm22, without DW_AT_LLVM_
    (0x3E08, SUBPROGRAM, "exprloc", "active_lane", "active_lane", None),
    (0x3E08, SUBPROGRAM, "loclist", "active_lane", "active_lane", None),
    (0x3E08, PTRAUTH, "flag", "ptrauth_isa_pointer", "ptrauth_isa_pointer", "ptrauth_isa_pointer"),
    (0x3E09, UNIT, "string", "augmentation", "augmentation", None),
    (0x3E0A, SUBPROGRAM, "constant", "lanes", "lanes", None),
    (0x3E0A, SUBPROGRAM, "loclist", "iterations", None, None),
    (0x3E0B, SUBPROGRAM, "exprloc", "lane_pc", "lane_pc", None),
    (0x3E0B, "DW_TAG_inlined_subroutine", "loclist", "lane_pc", "lane_pc", None),
    (0x3E0B, SUBPROGRAM, "constant", None, None, None),
    (0x3E0B, STRUCTURE, "constant", "num_extra_inhabitants", "num_extra_inhabitants", "num_extra_inhabitants"),
    (0x3E0C, BASE, "constant", "vector_size", "vector_size", None),
    (0x3E0C, SUBPROGRAM, "sec_offset", "stmt_sequence", "stmt_sequence", "stmt_sequence"),
    (0x3E0F, POINTER, "constant", "memory_space", None, "memory_space"),
    (0x3E10, POINTER, "constant", "address_space", None, "address_space"),
    (0x3E11, SUBPROGRAM, "constant", None, None, "lanes"),
    (0x3E12, SUBPROGRAM, "loclist", None, None, "lane_pc"),
    (0x3E13, BASE, "constant", None, None, "vector_size"),
    (0x3E0B, None, None, "lane_pc", "lane_pc", "num_extra_inhabitants"),
]


@pytest.mark.parametrize(("code", "tag", "form_class", "amd", "proposal", "llvm"), CASES)
def test_vendor_attributes(
    code: int,
    tag: str | None,
    form_class: str | None,
    amd: str | None,
    proposal: str | None,
    llvm: str | None,
) -> None:
    for dialect, name in (("amd", amd), ("proposal2020", proposal), ("llvm22", llvm)):
        expected = None if name is None else f"DW_AT_LLVM_{name}"
        assert dwarf.attribute_name(code, tag, form_class, dialect) == expected


def test_standard_and_unknown_codes() -> None:
    assert dwarf.attribute_name(0x03) == "DW_AT_name"
    assert dwarf.attribute_name(0x02, tag=SUBPROGRAM, form_class="exprloc", dialect="llvm22") == "DW_AT_location"
    assert dwarf.attribute_name(0x3FF0) is None
