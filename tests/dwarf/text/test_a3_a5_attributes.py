"""A.3 to A.5: requirements of attributes with expressions on the evaluator: result kind, object, initial stack."""

# ruff: noqa: E501  (a case is a line)
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from rocdbg import dwarf
from rocdbg.dwarf.operation_table import DIALECTS

STRUCT = "regx 33; piece 4; addr 0x1010; piece 4; regx 2560; piece 8"
LOCATION, VALUE = {"kind": "location"}, {"kind": "value"}
MEMBER = LOCATION | {"initial": (STRUCT,)}

CASES: list[tuple[str, str, str, dict[str, Any]]] = [
    # A.3.3.5 low-level information
    ("DW_AT_return_addr in private memory", "lit8; lit5; form_aspace_address", "mem5 0x8 lane5", LOCATION),
    ("DW_AT_LLVM_active_lane: EXEC", "regx 17", "reg17 {64: 0xff0f}", LOCATION),
    ("DW_AT_LLVM_active_lane: a saved mask in two registers", "regx 36; piece 4; regx 37; piece 4", "composite {64: 0x500200004002}", LOCATION),
    ("DW_AT_LLVM_iterations: an implicit location read as the generic type", "lit4; stack_value", "implicit {64: 4}", LOCATION),
    ("DW_AT_LLVM_iterations in a register", "regx 33", "reg33", LOCATION),
    ("DW_AT_static_link", "call_frame_cfa; offset_uconst 8", "mem6 0x48", LOCATION | {"cfa": "constu 64; lit6; form_aspace_address"}),
    # A.3.4.2 call site parameters
    ("DW_AT_call_value", "breg16 4", "0x1004", VALUE),
    ("DW_AT_call_value of the contents of a register", "regval_type 33 u32", "u32 4098", VALUE),
    ("DW_AT_call_data_location", "regx 33", "reg33", LOCATION),
    ("DW_AT_call_data_value", "addr 0x1010; deref_size 2", "0x1110", VALUE),
    # A.5.3: a pointer into address space AS, dereferenced as `push_object_address; deref_type; constu AS; form_aspace_address`
    ("a private pointer", "push_object_address; deref_type 4 u32; constu 5; form_aspace_address", "mem5 0x1002 lane5", LOCATION | {"object": "regx 33"}),
    ("a pointer in memory to global memory", "push_object_address; deref_type 8 u64; constu 0; form_aspace_address", "mem0 0x1716151413121110", LOCATION | {"object": "addr 0x1010"}),
    ("an implicit pointer", "push_object_address; deref_type 4 u32; constu 5; form_aspace_address", "mem0 0x1014", LOCATION | {"object": "lit5; aspace_implicit_pointer $x 4", "dies": {"x": "addr 0x1010"}}),
    # A.5.7.3 DW_AT_data_member_location: the containing entity is on the stack
    ("a member in a register part", "offset_uconst 0", "composite {32: 0x1002}", MEMBER),
    ("a member in memory", "lit4; offset", "composite+32 {32: 0x13121110}", MEMBER),
    ("a member in the last part", "offset_uconst 12", "composite+96 {32: 0x101}", MEMBER),
    ("a member behind the end", "offset_uconst 16", "error", MEMBER),
    ("a bit field", "const1u 37; bit_offset", "composite+37 {3: 0}", MEMBER),
    ("DWARF 5's way, of an object in memory", "plus_uconst 4", "mem0 0x1004", LOCATION | {"initial": ("addr 0x1000",)}),
    ("DWARF 5's way, of an object elsewhere", "plus_uconst 4", "ill-formed", LOCATION | {"initial": ("regx 33",)}),
    ("a containing entity that is not byte aligned", "offset_uconst 1", "reg33+11", LOCATION | {"initial": ("regx 33; lit3; bit_offset",)}),
    ("of an object in two places", "offset_uconst 1", "reg33+8 | mem0 0x1001", LOCATION | {"initial": ("call4 $two",), "dies": {"two": [(0, 0x2000, "regx 33"), (0, 0x2000, "addr 0x1000")]}}),
    ("no object is pushed", "push_object_address", "error", MEMBER),
    # A.5.7.8 DW_AT_vtable_elem_location
    ("a slot of the vtable", "deref; plus_uconst 16", "mem0 0x706050403020110", LOCATION | {"initial": ("addr 0x1000",)}),
    # A.5.14 DW_AT_use_location: the pointer to member, then the object on top
    ("a member by pointer", "swap; offset", "reg2560+64", LOCATION | {"initial": (8, "regx 2560")}),
    ("a member by pointer, DWARF 5's way", "plus", "mem0 0x1008", LOCATION | {"initial": (8, "addr 0x1000")}),
    # A.5.18.1 DW_AT_data_location: the descriptor is the object
    ("data behind a descriptor", "push_object_address; lit8; offset; deref", "mem0 0x706050403020100", LOCATION | {"object": "regx 33; piece 4; piece 4; addr 0x1000; piece 8"}),
]


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("case", CASES, ids=[case[0] for case in CASES])
def test_the_text(case: tuple[str, str, str, dict[str, Any]], dialect: str, check: Callable[..., None]) -> None:
    _, text, expected, changes = case
    check(text, expected, dialect, changes)


# A.5.1: a vector type is N contiguous elements of the type without the attribute.
@pytest.mark.parametrize("size", [1, 2, 64])
def test_vector_types(size: int, make_world: Callable[..., Any]) -> None:
    vector = dwarf.BaseType("v", "DW_ATE_unsigned", 32, size)
    world = make_world("amd", {"dies": {"v": vector}})
    value = world.evaluate("regval_type 2560 $v")
    assert value == dwarf.Value(vector, tuple(0x100 + n for n in range(size)))
    assert world.evaluate("regval_type 2560 $v; stack_value").places[0].remaining == 32 * size


@pytest.mark.parametrize("size", [0, -1])
def test_vector_sizes_that_are_not_greater_than_0(size: int, make_world: Callable[..., Any]) -> None:
    world = make_world("amd", {"dies": {"v": dwarf.BaseType("v", "DW_ATE_unsigned", 32, size)}})
    with pytest.raises(dwarf.IllFormed):
        world.evaluate("regval_type 2560 $v")
