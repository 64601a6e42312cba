"""A.2.5 to A.2.5.4: result kinds, context elements, the initial stack, implicit conversions."""

# ruff: noqa: E501  (a case is a line)
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from rocdbg.dwarf.operation_table import DIALECTS

VALUE, LOCATION = {"kind": "value"}, {"kind": "location"}

CASES: list[tuple[Any, ...]] = [
    # Result kinds (A.2.5.4, "The result of the evaluation is")
    ("no kind, empty stack: one undefined location", "", "undefined {8: error}"),
    ("no kind, stack emptied: undefined", "lit1; drop", "undefined"),
    ("location wanted, empty stack: undefined", "", "undefined", LOCATION),
    ("value wanted, empty stack: ill-formed", "", "ill-formed", VALUE),
    ("no kind: the top entry, others discarded", "lit1; lit2", "0x2"),
    ("no kind: a location stays one", "addr 0x1000", "mem0 0x1000"),
    ("no kind: a generic value stays one", "lit5", "0x5"),
    ("location wanted, generic value: memory of the default space", "const2u 0x1010", "mem0 0x1010 {32: 0x13121110}", LOCATION),
    ("location wanted, typed value: ill-formed", "const_type u64 x:0010000000000000", "ill-formed", LOCATION),
    ("location wanted, typed value of generic size is not generic", "lit1; convert u64", "ill-formed", LOCATION),
    ("location wanted, converted back to the generic type", "const2u 0x1010; convert u64; convert 0", "mem0 0x1010", LOCATION),
    ("value wanted, memory of the default space", "addr 0x1000", "0x1000", VALUE),
    ("value wanted, typed value", "lit1; convert s32", "s32 1", VALUE),
    ("value wanted, breg", "breg16 8", "0x1008", VALUE),
    ("value wanted, register: ill-formed", "regx 32", "ill-formed", VALUE),
    ("value wanted, implicit: ill-formed", "lit1; stack_value", "ill-formed", VALUE),
    ("value wanted, undefined: ill-formed", "undefined", "ill-formed", VALUE),
    ("value wanted, composite: ill-formed", "addr 0x1000; piece 4", "ill-formed", VALUE),
    ("value wanted, bit field memory: ill-formed", "addr 0x1000; lit3; bit_offset", "ill-formed", VALUE),
    ("value wanted, whole byte by bit offset", "addr 0x1000; lit8; bit_offset", "0x1001", VALUE),
    ("value wanted, other address space: ill-formed", "lit8; lit3; form_aspace_address", "ill-formed", VALUE),
    ("value wanted, generic space is not the default one", "lit8; lit1; form_aspace_address", "ill-formed", VALUE),
    ("value wanted, space 0 formed explicitly", "lit8; lit0; form_aspace_address", "0x8", VALUE),
    ("others are discarded whatever they are", "regx 32; undefined; lit3", "0x3", VALUE),
    # Kinds of entries (A.2.5.4): neither the required kind nor convertible: ill-formed
    ("a register is not an address", "regx 32; lit1; plus", "ill-formed"),
    ("an implicit location is not a value", "lit1; stack_value; lit1; plus", "ill-formed"),
    ("default memory becomes an address in arithmetic", "addr 0x1000; lit8; plus", "0x1008"),
    ("memory of another space does not", "lit8; lit5; form_aspace_address; lit1; plus", "ill-formed"),
    ("a typed value is no location", "lit8; convert u32; deref", "ill-formed"),
    ("a vector value is not an integer", "lit8; const_type u32x4 x:01000000020000000300000004000000; offset", "ill-formed"),
    ("a float is no displacement", "addr 0x1000; const_type f32 x:0000803f; offset", "ill-formed"),
    ("DW_ATE_address is not among the integral encodings", "addr 0x1000; const_type ptr x:0100000000000000; offset", "ill-formed"),
    ("DW_ATE_UTF is not integral", "addr 0x1000; const_type utf x:01000000; offset", "ill-formed"),
    ("DW_ATE_boolean is integral", "addr 0x1000; const_type bool x:01; offset", "mem0 0x1001"),
    ("DW_ATE_signed_char is integral", "addr 0x1000; const_type char x:ff; offset", "mem0 0xfff"),
    ("DW_ATE_unsigned_char is integral", "addr 0x1000; const_type uchar x:ff; offset", "mem0 0x10ff"),
    ("too few entries", "plus", "ill-formed"),
    ("too few entries: one", "lit1; plus", "ill-formed"),
    # Initial stack (A.2.5.1)
    ("initial location on the stack", "offset_uconst 4", "mem0 0x1004", {"initial": ("addr 0x1000",)}),
    ("initial entries in order, the last on top", "minus", "0x3", {"initial": (8, 5)}),
    ("initial location of a register", "offset_uconst 2", "reg32+16", {"initial": ("regx 32",)}),
    ("initial stack alone is a result", "", "reg32", {"initial": ("regx 32",)}),
    # Context elements that are not specified (A.2.5.1, "then the result of the evaluation is an error")
    ("no lane", "push_lane", "error", {"lane": None}),
    ("no iteration", "push_iteration", "error"),
    ("no object", "push_object_address", "error"),
    ("no CFA", "call_frame_cfa", "error"),
    ("no frame base", "fbreg 0", "error"),
    ("no compilation unit: constx", "constx 0", "error", {"debug_addr": None}),
    ("no compilation unit: addrx", "addrx 0", "error", {"debug_addr": None}),
    ("no architecture: registers", "regx 32", "error", {"architecture": None, "registers": {}}),
    ("no architecture: literals", "lit7", "0x7", {"architecture": None}),
    ("a global needs neither lane nor pc", "addr 0x1000", "mem0 0x1000 {8: 0}", {"lane": None, "pc": None}),
    ("no lane: private memory of a lane", "lit0; lit5; form_aspace_address", "error", {"lane": None}),
    ("no lane: private memory of the wave", "lit0; lit6; form_aspace_address", "mem6 0x0 {16: 0}", {"lane": None}),
    ("no lane: local memory", "lit4; lit3; form_aspace_address", "mem3 0x4 {8: 4}", {"lane": None}),
    # Self consistency: the program counter of the top frame is the program location
    ("the program counter, where only the location is given", "regx 16", "reg16 {64: 0x1008}", {"registers": {}, "pc": 0x1008}),
    ("private memory as the lane sees it", "lit4; lit5; form_aspace_address", "mem5 0x4 lane5 {32: 0x04030201}", {"memory": {5: {4: b"\1\2\3\4"}}}),
    ("the same as the wave sees it: dword 1, lane 5", "const2u 276; lit6; form_aspace_address", "mem6 0x114 {32: 0x04030201}", {"memory": {5: {4: b"\1\2\3\4"}}}),
    ("... with 32 lanes", "const1u 148; lit6; form_aspace_address", "mem6 0x94 {32: 0x04030201}", {"memory": {5: {4: b"\1\2\3\4"}}, "wave_size": 32, "lanes": 32}),
    ("a lane's memory is not another's", "lit4; lit5; form_aspace_address", "error", {"memory": {5: {4: b"\1\2\3\4"}}, "lane": None}),
    ("memory given by generic addresses", "lit8; lit3; form_aspace_address", "mem3 0x8 {16: 0x0201}", {"memory": {1: {0x1_0000_0000_0008: b"\1\2"}}}),
    ("global memory given by generic addresses", "lit8", "mem0 0x8 {16: 0x0201}", {"memory": {1: {8: b"\1\2"}}, "kind": "location"}),
    # Consistency of lane and iteration
    ("lane 63 of 64", "push_lane", "0x3f", {"lane": 63}),
    ("lane not below lanes: ill-formed", "push_lane", "ill-formed", {"lane": 64}),
    ("lane below, but fewer lanes", "push_lane", "ill-formed", {"lane": 5, "lanes": 5}),
    ("lane negative: ill-formed", "push_lane", "ill-formed", {"lane": -1}),
    ("iteration 3 of 4", "push_iteration", "0x3", {"iteration": 3, "iterations": 4}),
    ("iteration not below iterations: ill-formed", "push_iteration", "ill-formed", {"iteration": 4, "iterations": 4}),
    ("one iteration by default", "push_iteration", "ill-formed", {"iteration": 1}),
    ("iteration 0 by default", "push_iteration", "0x0", {"iteration": 0}),
]


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("case", CASES, ids=[case[0] for case in CASES])
def test_the_text(case: tuple[Any, ...], dialect: str, check: Callable[..., None]) -> None:
    _, text, expected, *changes = case
    check(text, expected, dialect, *changes)

