"""A.2.5.4.4.1 to .5: general, undefined, memory, register and implicit location description operations."""

# ruff: noqa: E501  (a case is a line)
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from rocdbg.dwarf import ConstValue
from rocdbg.dwarf.operation_table import DIALECTS

LANE = "regx 2560; push_lane; lit4; mul; offset"
TWO_PLACES = {"dies": {"two": [(0, 0x2000, "regx 33"), (0, 0x2000, "addr 0x1000")]}}
POINTEE = {"dies": {"x": "addr 0x1010", "c": ConstValue(b"\x0a\x0b\x0c\x0d"), "none": None, "r": "regx 33",
                    "p": "implicit_pointer $x 4", "o": "push_object_address", "l": [(0x1000, 0x1001, "regx 34")]},
           "object": "regx 35"}


def pointee(**changes: Any) -> dict[str, Any]:
    return POINTEE | changes


CASES: list[tuple[Any, ...]] = [
    # A.2.5.4.4.1 DW_OP_LLVM_offset
    ("offset scales by 8", "regx 33; lit2; offset", "reg33+16 {16: 0}"),
    ("offset of an address", "addr 0x1000; lit4; offset", "mem0 0x1004"),
    ("offset by a negative number", "addr 0x1000; consts -4; offset", "mem0 0xffc"),
    ("offsets add", "regx 33; lit3; offset; consts -2; offset", "reg33+8 {8: 0x10}"),
    ("offset of a generic value", "lit5; lit3; offset", "mem0 0x8"),
    ("offset by an address", "regx 2560; addr 0x4; offset", "reg2560+32"),
    ("offset by a typed value", "regx 33; const_type s8 x:01; offset", "reg33+8"),
    ("offset by u64 with the top bit set", "addr 0x1000; const_type u64 x:fcffffffffffffff; offset", "error"),
    ("offset to the last byte", "regx 33; lit3; offset", "reg33+24"),
    ("offset to the end is an error", "regx 33; lit4; offset", "error"),
    ("offset below 0 is an error", "regx 33; consts -1; offset", "error"),
    ("offset of memory below 0", "lit3; consts -4; offset", "error"),
    ("offset past the address space", "const8u 0xffffffffffffffff; lit1; offset", "error"),
    ("offset past a 32-bit address space", "const4u 0xffffffff; lit3; form_aspace_address; lit1; offset", "error"),
    ("an implicit value has an end", "implicit_value x:0102; lit2; offset", "error"),
    ("a composite has one", "regx 32; piece 4; piece_end; lit4; offset", "error"),
    ("an empty implicit value has no place at 0", "implicit_value x:; lit0; offset", "error"),
    ("offset of the undefined location changes nothing", "undefined; lit5; offset", "undefined"),
    ("so does a negative one", "undefined; consts -5; offset", "undefined"),
    ("every place is offset", "call4 $two; lit1; offset", "reg33+8 | mem0 0x1001", TWO_PLACES),
    ("one place too far is an error", "call4 $two; lit4; offset", "error", TWO_PLACES),
    ("offset of an incomplete composite", "regx 33; piece 4; lit0; offset", "ill-formed"),
    ("offset needs two entries", "lit1; offset", "ill-formed"),
    ("offset by a location that is not an address", "addr 0x1000; regx 33; offset", "ill-formed"),
    # DW_OP_LLVM_offset_uconst, DW_OP_LLVM_bit_offset
    ("offset_uconst", "regx 2560; offset_uconst 200", "reg2560+1600"),
    ("offset_uconst 0", "regx 33; offset_uconst 0", "reg33"),
    ("offset_uconst to the end", "regx 33; offset_uconst 4", "error"),
    ("offset_uconst is constu and offset: generic numbers are signed", "addr 0x1000; offset_uconst 0xffffffffffffffff", "mem0 0xfff"),
    ("bit_offset", "regx 33; lit5; bit_offset", "reg33+5 {8: 0x80}"),
    ("bit_offset of memory", "addr 0x1001; lit4; bit_offset", "mem0 0x1001.4 {8: 0x20}"),
    ("bit_offset backwards", "addr 0x1001; consts -1; bit_offset", "mem0 0x1000.7 {2: 2}"),
    ("bit_offset to the end", "regx 33; const1u 32; bit_offset", "error"),
    ("bit_offset below 0", "regx 33; consts -1; bit_offset", "error"),
    ("bit_offset of undefined", "undefined; lit3; bit_offset", "undefined"),
    ("bit_offset of every place", "call4 $two; lit1; bit_offset", "reg33+1 | mem0 0x1000.1", TWO_PLACES),
    # DW_OP_push_object_address
    ("push_object_address", "push_object_address; lit2; offset", "reg33+16", {"object": "regx 33"}),
    ("an object in several places", "push_object_address; lit1; offset", "reg33+8 | mem0 0x1001", TWO_PLACES | {"object": "call4 $two"}),
    ("Fortran's flag (figure D.4)", "push_object_address; lit8; offset; deref; lit1; and", "0x0", {"object": "addr 0x1000"}),
    ("Fortran's data (figure D.4)", "push_object_address; lit16; offset; deref", "0x1716151413121110", {"object": "addr 0x1000"}),
    ("assumed rank (figure D.13)", "lit24; mul; lit16; plus; push_object_address; swap; offset; lit8; offset; deref_size 1", "0x30", {"object": "addr 0x1000", "initial": (1,)}),
    # DW_OP_LLVM_call_frame_entry_reg
    ("a register that was saved", "call_frame_entry_reg 32; deref_size 4", "0x1234"),
    ("same value by default", "call_frame_entry_reg 33", "reg33"),
    ("a rule that gives memory", "call_frame_entry_reg 34", "mem5 0x8 lane5", {"entry_in_memory": 34}),
    ("no such register", "call_frame_entry_reg 5", "ill-formed"),
    # A.2.5.4.4.2
    ("undefined", "undefined", "undefined {1: error}"),
    ("undefined is one place", "lit1; undefined", "undefined"),
    # A.2.5.4.4.3 memory
    ("addr", "addr 0x1000", "mem0 0x1000 {16: 0x100}"),
    ("addr of the highest address", "addr 0xffffffffffffffff", "mem0 0xffffffffffffffff"),
    ("addrx", "addrx 0", "mem0 0x1010"),
    ("addrx beyond .debug_addr", "addrx 2", "ill-formed"),
    ("GNU_addr_index", "GNU_addr_index 0", "mem0 0x1010"),
    ("form_aspace_address: space on top, address below", "lit8; lit3; form_aspace_address", "mem3 0x8 {16: 0x908}"),
    *((f"address space {n}", f"lit8; lit{n}; form_aspace_address", f"mem{n} 0x8{' lane5' if n in (1, 5) else ''}") for n in (0, 1, 2, 3, 5, 6)),
    *((f"address space {n} does not exist", f"lit8; constu {n}; form_aspace_address", "ill-formed") for n in (4, 7, 0x1F, 0x60, 0x10000)),
    ("a negative address space does not exist", "lit8; consts -1; form_aspace_address", "ill-formed"),
    ("an address is cut to the space's size", "const8u 0x100000008; lit3; form_aspace_address", "mem3 0x8"),
    ("64 bits in the generic space", "const8u 0x100000008; lit1; form_aspace_address", "mem1 0x100000008 lane5"),
    ("a narrow address is zero-extended", "const_type s8 x:f0; lit3; form_aspace_address", "mem3 0xf0"),
    ("a wide one is cut", "const_type u128 x:08000000000000000100000000000000; lit0; form_aspace_address", "mem0 0x8"),
    ("a typed address space", "lit8; const_type u8 x:03; form_aspace_address", "mem3 0x8"),
    ("a default memory location is an address", "addr 0x8; lit3; form_aspace_address", "mem3 0x8"),
    ("memory of another space is none", "lit8; lit3; form_aspace_address; lit3; form_aspace_address", "ill-formed"),
    ("a float is not an address", "const_type f32 x:0000803f; lit3; form_aspace_address", "ill-formed"),
    ("form_aspace_address with one entry", "lit3; form_aspace_address", "ill-formed"),
    ("region memory", "lit4; lit2; form_aspace_address", "mem2 0x4 {8: 4}"),
    ("private memory of the focused lane", "lit8; lit5; form_aspace_address", "mem5 0x8 lane5 {32: 0xaa550520}"),
    ("unaligned in private memory", "lit6; lit5; form_aspace_address", "mem5 0x6 lane5 {32: 0x520aa55}"),
    ("the same seen by the wave: (A/4*64*4) + lane*4 + A%4", "constu 532; lit6; form_aspace_address", "mem6 0x214 {32: 0xaa550520}"),
    ("all lanes' dwords, dword 1", "constu 256; lit6; form_aspace_address", "mem6 0x100 {32: 0xaa550010, 32+32: 0xaa550110}"),
    ("another lane", "lit8; lit5; form_aspace_address", "mem5 0x8 lane9 {16: 0x920}", {"lane": 9}),
    ("generic: global", "const2u 0x1000; lit1; form_aspace_address", "mem1 0x1000 lane5 {16: 0x100}"),
    ("generic: local", "const8u 0x1000000000004; lit1; form_aspace_address", "mem1 0x1000000000004 lane5 {8: 4}"),
    ("generic: private", "const8u 0x2000000000004; lit1; form_aspace_address", "mem1 0x2000000000004 lane5 {16: 0x510}"),
    ("form_tls_address: there are no such blocks", "lit8; form_tls_address", "error"),
    ("form_tls_address of a register", "regx 33; form_tls_address", "ill-formed"),
    ("form_tls_address of nothing", "form_tls_address", "ill-formed"),
    ("call_frame_cfa", "call_frame_cfa", "mem6 0x40", {"cfa": "constu 64; lit6; form_aspace_address"}),
    ("call_frame_cfa is a location", "call_frame_cfa; offset_uconst 4", "mem5 0x14 lane5", {"cfa": "lit16; lit5; form_aspace_address"}),
    ("fbreg in memory", "fbreg 8", "mem0 0x1008", {"frame_base": "addr 0x1000"}),
    ("fbreg below", "fbreg -8", "mem0 0xff8", {"frame_base": "addr 0x1000"}),
    ("fbreg in another space", "fbreg 4", "mem5 0x14 lane5 {16: 0x550}", {"frame_base": "lit16; lit5; form_aspace_address"}),
    ("fbreg below address 0", "fbreg -1", "error", {"frame_base": "lit0; lit5; form_aspace_address"}),
    ("a frame base in a register is bregx", "fbreg 8", "mem0 0x1008", {"frame_base": "reg16"}),
    ("... of 64 bits at least", "fbreg 8", "error", {"frame_base": "regx 33"}),
    ("a frame base that is the CFA", "fbreg 4", "mem0 0x1014", {"frame_base": "call_frame_cfa", "cfa": "addr 0x1010"}),
    ("a frame base as a location list", "fbreg 4", "mem0 0x1024", {"frame_base": [(0xF00, 0x1000, "addr 0x1010"), (0x1000, 0x1100, "addr 0x1020")]}),
    ("a frame base in two places", "fbreg 0", "ill-formed", {"frame_base": [(0xF00, 0x1100, "addr 0x1010"), (0x1000, 0x1100, "addr 0x1020")]}),
    *((f"a frame base that is {what}", "fbreg 0", "ill-formed", {"frame_base": text}) for what, text in [
        ("undefined", "undefined"), ("empty", ""), ("implicit", "lit1; stack_value"), ("a composite", "addr 0x1000; piece 4"), ("made of fbreg", "fbreg 4"), ("a typed value", "lit1; convert u32")]),
    ("a frame base has no object", "fbreg 0", "error", {"frame_base": "push_object_address", "object": "addr 0x1000"}),
    ("breg0 to breg31", "breg16 4", "mem0 0x1004"),
    ("breg with a negative displacement", "breg16 -0x1000", "mem0 0x0"),
    ("breg wraps at the address size", "breg16 -0x1001", "mem0 0xffffffffffffffff"),
    ("bregx", "bregx 17 1", "mem0 0xff10"),
    ("bregx of a 32-bit register: too few bits", "bregx 33 0", "error"),
    ("bregx takes the low bits of a larger one", "bregx 2560 -0x10100000000", "mem0 0x100"),
    ("breg of no register", "breg5 0", "ill-formed"),
    ("breg is a location", "breg16 0; stack_value", "implicit {64: 0x1000}"),
    ("breg is an address in arithmetic", "breg16 0; lit4; plus", "0x1004"),
    ("aspace_bregx", "lit5; aspace_bregx 32 4", "mem5 0x6 lane5"),
    ("aspace_bregx of a larger register", "lit3; aspace_bregx 17 0", "mem3 0xff0f"),
    ("aspace_bregx in a 64-bit space from a 32-bit register", "lit1; aspace_bregx 33 0", "error"),
    ("aspace_bregx of no space", "lit4; aspace_bregx 33 0", "ill-formed"),
    ("aspace_bregx pops the space", "lit9; lit3; aspace_bregx 33 0; drop", "0x9"),
    ("aspace_bregx without a space", "aspace_bregx 33 0", "ill-formed"),
    ("aspace_bregx of a lane's space without lane", "lit5; aspace_bregx 33 0", "error", {"lane": None}),
    ("a memory location is not a space", "regx 33; aspace_bregx 33 0", "ill-formed"),
    # A.2.5.4.4.4 registers
    ("reg0 to reg31", "reg17", "reg17 {64: 0xff0f}"),
    ("regx", "regx 33", "reg33 {32: 0x1002}"),
    ("regx of a small number is reg", "regx 17", "reg17"),
    ("a scalar register has 32 bits", "regx 33", "reg33 {32: 0x1002, 33: error}"),
    ("a wave64 vector register has 64 dwords", "regx 2560", "reg2560 {32+2016: 0x13f, 1+2048: error}"),
    ("a wave32 one has 32", "regx 1536", "reg1536 {32+992: 0x41f, 1+1024: error}"),
    ("accumulation registers", "regx 3072", "reg3072 {32+32: 0x301}"),
    ("VCC of wave64", "regx 768", "reg768 {64: 0x8000000000000001}"),
    ("STATUS", "regx 128", "reg128 {32: 0x12345678}"),
    ("the lane's dword", LANE, "reg2560+160 {32: 0x105}"),
    *((f"register {n} is reserved", f"regx {n}", "ill-formed") for n in (2, 15, 18, 31, 96, 127, 129, 511, 513, 769, 1024, 1130, 1792, 2816, 3328, 99999)),
    ("regx of a frame that is not the top one", "regx 33", "mem5 0x8 lane5 {32: 0xaa550520}", {"elsewhere": 33}),
    # A.2.5.4.4.5 implicit values
    ("implicit_value", "implicit_value x:01020304", "implicit {32: 0x04030201, 8+8: 2, 33: error}"),
    ("implicit_value of no bytes", "implicit_value x:", "implicit {1: error}"),
    ("implicit_value and an offset", "implicit_value x:01020304; lit2; offset", "implicit+16 {16: 0x0403}"),
    ("stack_value has the size of its type", "lit1; convert u16; stack_value", "implicit {16: 1, 17: error}"),
    ("stack_value of the generic type has 64 bits", "consts -1; stack_value", "implicit {64: 0xffffffffffffffff, 65: error}"),
    ("stack_value of a float", "const_type f32 x:0000803f; stack_value", "implicit {32: 0x3f800000}"),
    ("stack_value of a vector", "const_type s16x2 x:0100ffff; stack_value", "implicit {32: 0xffff0001}"),
    ("stack_value of an address", "addr 0x1000; stack_value", "implicit {64: 0x1000}"),
    ("stack_value of a register", "regx 33; stack_value", "ill-formed"),
    ("stack_value of memory in another space", "lit8; lit3; form_aspace_address; stack_value", "ill-formed"),
    ("stack_value of nothing", "stack_value", "ill-formed"),
    ("stack_value does not end the expression", "lit4; stack_value; deref_size 1; lit1; plus", "0x5"),
    ("implicit storage cannot be written, but read", "lit4; stack_value; lit1; bit_offset", "implicit+1 {3: 2}"),
    # Implicit pointers
    ("implicit_pointer", "implicit_pointer $x 0", "pointer {64: error, 8: error}", POINTEE),
    ("in 64-bit DWARF", "implicit_pointer $x 0; deref; deref_size 1", "0x10", pointee(offset_size=8)),
    ("GNU_implicit_pointer", "GNU_implicit_pointer $x 0; deref; deref_size 1", "0x10", POINTEE),
    ("reading it gives an implicit pointer value", "implicit_pointer $x 0; deref", "implicit-pointer-value0", POINTEE),
    ("deref_type of its size too", "implicit_pointer $x 0; deref_type 8 u64", "implicit-pointer-value0", POINTEE),
    ("deref_size 8 too", "implicit_pointer $x 0; deref_size 8", "implicit-pointer-value0", POINTEE),
    ("part of it is an error", "implicit_pointer $x 0; deref_size 4", "error", POINTEE),
    ("from another offset too", "implicit_pointer $x 0; lit4; offset; deref_size 4", "error", POINTEE),
    ("beyond its size too", "implicit_pointer $x 0; deref_type 16 u128", "error", POINTEE),
    ("the value is a location where one is needed", "implicit_pointer $x 0; deref; lit1; offset", "mem0 0x1011", POINTEE),
    ("with its displacement", "implicit_pointer $x 4; deref; deref_size 1", "0x14", POINTEE),
    ("a negative displacement", "implicit_pointer $x -4; deref; deref_size 1", "0xc", POINTEE),
    ("wanted as a location", "implicit_pointer $x 4; deref", "mem0 0x1014 {8: 0x14}", pointee(kind="location")),
    ("to a register", "implicit_pointer $r 1; deref", "reg33+8", pointee(kind="location")),
    ("past the end of a register", "implicit_pointer $r 4; deref; deref_size 1", "error", POINTEE),
    ("to a constant", "implicit_pointer $c 1; deref", "implicit+8 {24: 0x0d0c0b}", pointee(kind="location")),
    ("past the end of a constant", "implicit_pointer $c 4; deref; deref_size 1", "error", POINTEE),
    ("to a location list", "implicit_pointer $l 0; deref; deref_size 4", "0x2002", POINTEE),
    ("to an entry that offers nothing", "implicit_pointer $none 0; deref; deref_size 1", "error", POINTEE),
    ("the pointee has no object", "implicit_pointer $o 0; deref; deref_size 1", "error", POINTEE),
    ("two levels", "implicit_pointer $p 0; deref; deref; deref_size 1", "0x14", POINTEE),
    ("form_aspace_address of the default space", "implicit_pointer $x 0; deref; lit0; form_aspace_address", "mem0 0x1010", POINTEE),
    ("form_aspace_address of another space", "implicit_pointer $x 0; deref; lit1; form_aspace_address", "error", POINTEE),
    ("stack_value gives the pointer back", "implicit_pointer $x 4; deref; stack_value; deref; deref_size 1", "0x14", POINTEE),
    *((f"{op} on the value is an error", f"implicit_pointer $x 0; deref; {op}", "error", POINTEE) for op in ("neg", "lit1; plus", "lit1; swap; and", "plus_uconst 4", "lit0; eq", "bra 0", "convert u64", "reinterpret u64")),
    ("stack operations take the value", "implicit_pointer $x 4; deref; dup; drop; deref_size 1", "0x14", POINTEE),
    ("in pieces, in order", "implicit_pointer $x 0; bit_piece 40 0; implicit_pointer $x 0; bit_piece 24 40; piece_end; deref; deref_size 1", "0x10", POINTEE),
    ("in pieces, out of order", "implicit_pointer $x 0; bit_piece 32 32; implicit_pointer $x 0; bit_piece 32 0; piece_end; deref", "error", POINTEE),
    ("in pieces with others", "implicit_pointer $x 0; piece 4; regx 33; piece 4; piece_end; deref", "error", POINTEE),
    ("in pieces of two pointers", "implicit_pointer $x 0; piece 4; implicit_pointer $r 0; bit_piece 32 32; piece_end; deref", "error", POINTEE),
    ("as a whole piece", "regx 33; piece 4; implicit_pointer $x 0; piece 8; piece_end; lit4; offset; deref; deref_size 1", "0x10", POINTEE),
    ("a piece of a value of it", "implicit_pointer $x 0; deref; piece 4", "composite {32: 0x13121110}", POINTEE),
    ("aspace_implicit_pointer has the size of the space", "lit5; aspace_implicit_pointer $x 0; deref_type 4 u32", "implicit-pointer-value5", POINTEE),
    ("more is an error", "lit5; aspace_implicit_pointer $x 0; deref", "error", POINTEE),
    ("formed in its space", "lit5; aspace_implicit_pointer $x 4; deref_type 4 u32; lit5; form_aspace_address", "mem0 0x1014", POINTEE),
    ("formed in another space", "lit5; aspace_implicit_pointer $x 4; deref_type 4 u32; lit3; form_aspace_address", "error", POINTEE),
    ("not converted to a location", "lit5; aspace_implicit_pointer $x 0; deref_type 4 u32; deref", "error", POINTEE),
    ("of the generic space: 64 bits", "lit1; aspace_implicit_pointer $x 0; deref; lit1; form_aspace_address", "mem0 0x1010", POINTEE),
    ("of the default space it is implicit_pointer", "lit0; aspace_implicit_pointer $x 4; deref; deref_size 1", "0x14", POINTEE),
    ("of no space", "lit4; aspace_implicit_pointer $x 0", "ill-formed", POINTEE),
    ("without a space", "aspace_implicit_pointer $x 0", "ill-formed", POINTEE),
    # xderef on implicit pointers goes through form_aspace_address
    ("xderef of an implicit pointer", "lit0; implicit_pointer $x 0; deref; xderef_size 1", "0x10", POINTEE),
]


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("case", CASES, ids=[case[0] for case in CASES])
def test_the_text(case: tuple[Any, ...], dialect: str, check: Callable[..., None]) -> None:
    _, text, expected, *changes = case
    check(text, expected, dialect, *changes)

