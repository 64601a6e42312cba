"""A.2.5.4.4.6 composite location description operations."""

# ruff: noqa: E501  (a case is a line)
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from rocdbg.dwarf.operation_table import DIALECTS

TWO = {"dies": {"two": [(0, 0x2000, "regx 33"), (0, 0x2000, "regx 33; lit0; offset")],
                "places": [(0, 0x2000, "addr 0x1000"), (0, 0x2000, "addr 0x1100")]}}

CASES: list[tuple[Any, ...]] = [
    # DW_OP_piece
    ("stack empty: one undefined part", "piece 4", "composite {1: error, 33: error}"),
    ("two empty pieces", "piece 4; piece 4; regx 33; piece 4", "composite {32+64: 0x1002, 1+63: error}"),
    ("top incomplete: an undefined part is appended", "regx 33; piece 4; piece 2; regx 34; piece 4", "composite {32: 0x1002, 1+32: error, 32+48: 0x2002}"),
    ("top a location: a new composite", "regx 33; piece 4", "composite {32: 0x1002, 33: error}"),
    ("top a generic value: memory", "const2u 0x1000; piece 4", "composite {32: 0x03020100}"),
    ("below an incomplete one: appended", "regx 33; piece 4; const2u 0x1000; piece 2", "composite {48: 0x10000001002}"),
    ("below something else: a new one", "regx 33; regx 34; piece 4", "composite {32: 0x2002}"),
    ("what is below stays", "lit9; regx 34; piece 4; piece_end; drop", "0x9"),
    ("only one composite grows", "regx 33; piece 4; piece_end; regx 34; piece 4", "composite {32: 0x2002, 33: error}"),
    ("a complete composite is a part", "regx 33; piece 4; regx 34; piece 4; piece_end; piece 6; regx 35; piece 4", "composite {48: 0x200200001002, 32+48: 0x3002}"),
    ("top a typed value: ill-formed", "lit4; convert u32; piece 4", "ill-formed"),
    ("a piece of no bytes", "regx 33; piece 0; regx 34; piece 4", "composite {32: 0x2002}"),
    ("more bits than the register: ill-formed", "regx 33; piece 5", "ill-formed"),
    ("more bits than the implicit value: ill-formed", "implicit_value x:0102; piece 4", "ill-formed"),
    ("more bits than a composite: ill-formed", "regx 33; piece 4; piece_end; piece 5", "ill-formed"),
    ("bits left behind an offset", "regx 33; lit2; offset; piece 2", "composite {16: 0}"),
    ("too few of them: ill-formed", "regx 33; lit2; offset; piece 3", "ill-formed"),
    ("undefined bits are as many as wanted", "undefined; piece 1000", "composite {1: error}"),
    ("memory past the address space: ill-formed", "const8u 0xffffffffffffffff; piece 2", "ill-formed"),
    ("as large as the largest address space", f"piece {1 << 64}", "composite {1: error}"),
    ("larger than the largest address space: ill-formed", f"piece {1 << 64}; piece 1", "ill-formed"),
    ("implicit parts", "lit1; stack_value; piece 4; lit2; stack_value; piece 4", "composite {64: 0x200000001}"),
    ("parts in several address spaces", "lit4; lit3; form_aspace_address; piece 2; lit8; lit5; form_aspace_address; piece 2", "composite {32: 0x05200504}"),
    ("a part in several places", "call4 $places; piece 4; regx 33; piece 4", "composite {64: 0x100203020100}", TWO),
    ("s[2:3]: a 64-bit value in two registers", "regx 34; piece 4; regx 35; piece 4; piece_end; deref", "0x300200002002"),
    ("a struct in registers, memory and nowhere", "regx 33; piece 4; piece 4; addr 0x1008; piece 8", "composite {32: 0x1002, 8+32: error, 64+64: 0xf0e0d0c0b0a0908}"),
    # DW_OP_bit_piece
    ("bit_piece of the stack's end: undefined", "bit_piece 3 0", "composite {1: error}"),
    ("bit_piece at an offset", "regx 33; bit_piece 8 8", "composite {8: 0x10}"),
    ("bits of two registers", "regx 33; bit_piece 4 12; regx 34; bit_piece 4 12", "composite {8: 0x21}"),
    ("bit_piece appends", "regx 33; bit_piece 4 12; bit_piece 4 0; regx 34; bit_piece 4 12", "composite {4: 1, 1+4: error, 4+8: 2}"),
    ("bit_piece behind the end: its offset is an error", "regx 33; bit_piece 8 32", "error"),
    ("bit_piece over the end: ill-formed", "regx 33; bit_piece 8 28", "ill-formed"),
    ("bit_piece of undefined at an offset", "undefined; bit_piece 8 1000", "composite {1: error}"),
    ("bit_piece of memory", "addr 0x1001; bit_piece 8 4", "composite {8: 0x20}"),
    ("bit_piece adds to the part's own offset", "regx 33; lit8; bit_offset; bit_piece 4 4", "composite {4: 1}"),
    ("a lane's dword of a vector register: spilled SGPRs", "regx 2560; bit_piece 32 96; regx 2560; bit_piece 32 128", "composite {64: 0x10400000103}"),
    # Incomplete composites
    *((f"{text!r} on an incomplete one", f"lit1; regx 33; piece 4; {text}", "ill-formed") for text in (
        "deref", "deref_size 1", "deref_type 4 u32", "lit0; offset", "lit0; bit_offset", "offset_uconst 0", "stack_value", "plus",
        "extend 32 2", "lit1; select_bit_piece 32 1", "bra 0", "xderef", "form_aspace_address", "lit0; lit4; overlay", "neg",
        "form_tls_address", "convert u32", "aspace_bregx 33 0")),
    ("at the end of an expression it becomes complete", "regx 33; piece 4", "composite {32: 0x1002}"),
    ("so does that of a location list entry", "call4 $l; dup; drop", "composite {32: 0x1002}", {"dies": {"l": [(0, 0x2000, "regx 33; piece 4")]}}),
    ("wanted as a value: ill-formed", "regx 33; piece 4", "ill-formed", {"kind": "value"}),
    # DW_OP_LLVM_piece_end
    ("piece_end completes", "regx 33; piece 4; piece_end; lit1; offset", "composite+8 {8: 0x10}"),
    ("piece_end on an empty stack", "piece_end", "ill-formed"),
    ("piece_end on a value", "lit1; piece_end", "ill-formed"),
    ("piece_end on a register", "regx 33; piece_end", "ill-formed"),
    ("piece_end twice", "regx 33; piece 4; piece_end; piece_end", "ill-formed"),
    ("several composites side by side", "regx 33; piece 4; piece_end; regx 34; piece 4; piece_end; swap", "composite {32: 0x1002}"),
    # DW_OP_LLVM_extend
    ("extend repeats", "regx 33; extend 32 3", "composite {32: 0x1002, 32+64: 0x1002, 1+96: error}"),
    ("extend with fewer bits", "regx 33; extend 8 4", "composite {32: 0x02020202}"),
    ("extend of a value's memory", "const2u 0x1001; extend 8 2", "composite {16: 0x101}"),
    ("extend is complete", "regx 33; extend 32 2; dup; drop", "composite {64: 0x100200001002}"),
    ("extend of undefined", "undefined; extend 64 64", "composite {64: error, 64+4032: error}"),
    ("extend with size 0", "regx 33; extend 0 4", "ill-formed"),
    ("extend with count 0", "regx 33; extend 32 0", "ill-formed"),
    ("extend of a typed value", "lit1; convert u32; extend 32 2", "ill-formed"),
    ("extend of too few bits", "regx 33; extend 33 2", "ill-formed"),
    ("extend of nothing", "extend 8 8", "ill-formed"),
    ("extend by one", "regx 33; extend 32 1", "composite {32: 0x1002}"),
    ("extend too large for any address space", f"undefined; extend {1 << 60} {1 << 10}", "ill-formed"),
    ("extend of several places", "call4 $two; extend 32 2", "composite {64: 0x100200001002}", TWO),
    ("extend of an implicit address", "addr 0x1000; stack_value; extend 64 2", "composite {64: 0x1000, 64+64: 0x1000}"),
    # DW_OP_LLVM_select_bit_piece: L0, L1, M (top)
    ("bits of the mask choose", "regx 2560; regx 2561; lit5; select_bit_piece 32 4", "composite {32: 0x200, 32+32: 0x101, 32+64: 0x202, 32+96: 0x103, 1+128: error}"),
    ("mask 0", "regx 2560; regx 2561; lit0; select_bit_piece 32 2", "composite {64: 0x10100000100}"),
    ("all ones", "regx 2560; regx 2561; lit3; select_bit_piece 32 2", "composite {64: 0x20100000200}"),
    ("64 lanes", "regx 2560; regx 2561; const8u 0x8000000000000001; select_bit_piece 32 64", "composite {32: 0x200, 32+32: 0x101, 32+2016: 0x23f}"),
    ("size 0", "regx 2560; regx 2561; lit1; select_bit_piece 0 4", "ill-formed"),
    ("count 0", "regx 2560; regx 2561; lit1; select_bit_piece 32 0", "ill-formed"),
    ("a mask of fewer bits than count", "regx 2560; regx 2561; lit1; convert u8; select_bit_piece 32 9", "ill-formed"),
    ("as many", "regx 2560; regx 2561; lit1; convert u8; select_bit_piece 32 8", "composite {32: 0x200}"),
    ("65 lanes and a generic mask", "undefined; undefined; lit1; select_bit_piece 8 65", "ill-formed"),
    ("a signed mask", "regx 2560; regx 2561; consts -1; convert s8; select_bit_piece 32 8", "composite {32+224: 0x207}"),
    ("a wide mask", "undefined; regx 2561; const_type u128 x:01000000000000000000000000000000; select_bit_piece 8 128", "composite {8: 0, 8+8: error}"),
    ("a float mask", "regx 2560; regx 2561; const_type f32 x:0000803f; select_bit_piece 32 4", "ill-formed"),
    ("a vector mask", "regx 2560; regx 2561; const_type u32x4 x:01000000020000000300000004000000; select_bit_piece 32 4", "ill-formed"),
    ("a mask in a register", "regx 2560; regx 2561; regx 17; select_bit_piece 32 4", "ill-formed"),
    ("a mask that is an address", "regx 2560; regx 2561; addr 0x2; select_bit_piece 32 2", "composite {64: 0x20100000100}"),
    ("undefined zero location", "undefined; regx 2561; lit2; select_bit_piece 32 2", "composite {32: error, 32+32: 0x201}"),
    ("undefined one location", "regx 2560; undefined; lit2; select_bit_piece 32 2", "composite {32: 0x100, 32+32: error}"),
    ("a location that is chosen and too small: its offset is an error", "regx 33; regx 2561; lit0; select_bit_piece 32 2", "error"),
    ("the first lane that does not fit says what is wrong: lane 2 ends, lane 3 begins too late", "regx 33; implicit_value x:0102030405; lit7; select_bit_piece 16 4", "ill-formed"),
    ("lane 2 begins, lane 3 ends too late", "regx 33; implicit_value x:01020304050607; lit11; select_bit_piece 16 4", "error"),
    ("over its end: ill-formed", "regx 33; regx 2561; lit0; select_bit_piece 24 2", "ill-formed"),
    ("one that is not chosen", "regx 33; regx 2561; lit3; select_bit_piece 32 2", "composite {64: 0x20100000200}"),
    ("only what is chosen must be there", "regx 33; regx 2561; lit2; select_bit_piece 32 2", "composite {32: 0x1002, 32+32: 0x201}"),
    ("generic values are memory", "const2u 0x1000; const2u 0x1100; lit2; select_bit_piece 8 2", "composite {16: 0x100}"),
    ("two entries only", "regx 2561; lit1; select_bit_piece 32 1", "ill-formed"),
    ("a VGPR spilled for the active lanes (AMDGPU, CFI)", "regx 2560; lit0; lit6; form_aspace_address; lit2; select_bit_piece 32 64", "composite {32: 0x100, 32+32: 0xaa550100, 32+64: 0x102}"),
    ("a whole vector register spilled", "constu 512; lit6; form_aspace_address; extend 2048 1", "composite {32: 0xaa550020, 32+2016: 0xaa553f20}"),
    ("__active_lane_pc of the AMDGPU document", "undefined; extend 64 64; regx 16; extend 64 64; regval_type 17 u64; select_bit_piece 64 64", "composite {64: 0x1000, 64+256: error, 64+512: 0x1000, 64+1024: error}"),
    # DW_OP_LLVM_overlay, DW_OP_LLVM_bit_overlay: BL, OL, offset, size (top)
    ("overlay in the middle", "addr 0x1000; regx 33; lit4; lit4; overlay", "composite {32: 0x03020100, 32+32: 0x1002, 32+64: 0x0b0a0908}"),
    ("overlay at 0", "addr 0x1000; regx 33; lit0; lit4; overlay", "composite {64: 0x706050400001002}"),
    ("overlay at the end", "regx 2560; regx 33; const1u 252; lit4; overlay", "composite {32+1984: 0x13e, 32+2016: 0x1002, 1+2048: error}"),
    ("overlay of no bytes is the base", "addr 0x1000; regx 33; lit4; lit0; overlay", "mem0 0x1000"),
    ("overlay of everything is the overlay", "regx 34; regx 33; lit0; lit4; overlay", "reg33"),
    ("... whatever its size", "regx 34; regx 2560; lit4; bit_offset; lit0; lit4; overlay", "reg2560+4"),
    ("overlay past the base: ill-formed", "regx 34; regx 33; lit2; lit3; overlay", "ill-formed"),
    ("a negative size: ill-formed", "addr 0x1000; regx 33; lit0; consts -1; overlay", "ill-formed"),
    ("a negative offset: ill-formed", "addr 0x1000; regx 33; consts -1; lit4; overlay", "ill-formed"),
    ("a negative typed offset: ill-formed", "addr 0x1000; regx 33; consts -1; convert s8; lit4; overlay", "ill-formed"),
    ("no bytes past the base: ill-formed", "regx 34; regx 33; lit5; lit0; overlay", "ill-formed"),
    ("no bytes at the end is the base", "regx 34; regx 33; lit4; lit0; overlay", "reg34"),
    ("an overlay too small: ill-formed", "addr 0x1000; regx 33; lit0; lit8; overlay", "ill-formed"),
    ("the base at an offset", "regx 2560; lit4; offset; regx 33; lit4; lit4; overlay", "composite {32: 0x101, 32+32: 0x1002, 32+64: 0x103, 32+1984: 0x13f, 1+2016: error}"),
    ("overlay is complete", "addr 0x1000; regx 33; lit4; lit4; overlay; lit4; offset; deref_size 4", "0x1002"),
    ("typed offset and size", "addr 0x1000; regx 33; lit4; convert u8; lit4; convert s32; overlay", "composite {32+32: 0x1002}"),
    ("bit_overlay", "regx 34; regx 33; lit4; lit8; bit_overlay", "composite {32: 0x2022, 33: error}"),
    ("bit_overlay of no bits", "regx 34; regx 33; lit4; lit0; bit_overlay", "reg34"),
    ("bit_overlay of everything", "regx 34; regx 33; lit0; const1u 32; bit_overlay", "reg33"),
    ("bit_overlay past the base", "regx 34; regx 33; lit25; lit8; bit_overlay", "ill-formed"),
    ("an undefined overlay", "regx 34; undefined; lit8; lit8; bit_overlay", "composite {8: 2, 1+8: error, 16+16: 0}"),
    ("overlay with three entries", "regx 33; lit0; lit4; overlay", "ill-formed"),
    ("a float size", "addr 0x1000; regx 33; lit0; const_type f32 x:0000803f; overlay", "ill-formed"),
    ("a base in several places: the least remains", "call4 $two; regx 34; lit0; lit4; overlay", "reg34", TWO),
    ("the element of an array in a register (section 2.20)", "breg16 0; regx 33; bregx 17 -0xff0d; lit4; mul; lit4; overlay", "composite {32: 0x03020100, 32+32: 0x07060504, 32+64: 0x1002, 32+96: 0x0f0e0d0c}"),
    ("a slice of a vector register by iteration", "addr 0x1000; regx 2560; push_iteration; lit16; mul; lit16; overlay", "composite {8+120: 0x0f, 32+128: 0x100, 32+224: 0x103, 8+256: 0x20}", {"iteration": 1, "iterations": 4}),
]


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("case", CASES, ids=[case[0] for case in CASES])
def test_the_text(case: tuple[Any, ...], dialect: str, check: Callable[..., None]) -> None:
    _, text, expected, *changes = case
    check(text, expected, dialect, *changes)

