"""A.2.5.4.3 value operations: literals, arithmetic, conversions, special values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from rocdbg.dwarf.operations import DIALECTS

TOP = 0xFFFF_FFFF_FFFF_FFFF

CASES: list[tuple[Any, ...]] = [
    # A.2.5.4.3.1 literals
    *((f"lit{n}", f"lit{n}", hex(n)) for n in (0, 1, 15, 31)),
    ("const1u", "const1u 255", "0xff"), ("const2u", "const2u 0xffff", "0xffff"), ("const4u", "const4u 0xffffffff", "0xffffffff"),
    ("const8u", f"const8u {TOP}", hex(TOP)), ("const1s", "const1s -1", hex(TOP)), ("const2s", "const2s -2", hex(TOP - 1)),
    ("const4s", "const4s -2147483648", "0xffffffff80000000"), ("const8s", "const8s -1", hex(TOP)),
    ("constu", "constu 300", "0x12c"), ("consts", "consts -300", hex(TOP - 299)),
    ("constu of more bits is truncated", "constu 0x1ffffffffffffffff", hex(TOP)),
    ("constu of 2**64 is 0", "constu 0x10000000000000000", "0x0"),
    ("consts of more bits is truncated", "consts -0x10000000000000001", hex(TOP)),
    ("constx", "constx 1", "0xfffffffffffffff0"), ("constx beyond .debug_addr", "constx 2", "ill-formed"),
    ("constx pushes a value", "constx 0; lit0; form_aspace_address", "mem0 0x1010"),
    ("GNU_const_index", "GNU_const_index 0", "0x1010"),
    ("const_type", "const_type s32 x:feffffff", "s32 -2"), ("const_type u128", "const_type u128 x:01000000000000000000000000000080", f"u128 {1 + (1 << 127)}"),
    ("const_type f32", "const_type f32 x:0000c03f", "f32 1.5"), ("const_type f64", "const_type f64 x:00000000000004c0", "f64 -2.5"),
    ("const_type f16", "const_type f16 x:003c", "f16 1.0"),
    ("const_type of 12 bits uses the low bits", "const_type u12 x:bcfa", "u12 2748"),
    ("const_type of 5 bits, signed", "const_type s5 x:1f", "s5 -1"),
    ("const_type of a vector", "const_type u32x4 x:01000000020000000300000004000000", "u32x4 (1, 2, 3, 4)"),
    ("const_type of a float vector", "const_type f32x2 x:0000803f00000040", "f32x2 (1.0, 2.0)"),
    ("const_type too small", "const_type u32 x:010203", "ill-formed"), ("const_type too large", "const_type u8 x:0102", "ill-formed"),
    ("const_type with no such entry", "const_type $nowhere x:01", "ill-formed"),
    ("const_type of an entry that is no base type", "const_type $proc x:01", "ill-formed", {"dies": {"proc": "lit1"}}),
    ("const_type of entry 0 is not the generic type", "const_type 0 x:0100000000000000", "ill-formed"),
    ("GNU_const_type", "GNU_const_type u8 x:80", "u8 128"),
    ("push_lane is generic", "push_lane; lit4; mul", "0x14"),
    # A.2.5.4.3.2 arithmetic (DWARF 5, 2.5.1.4), generic type
    ("abs", "consts -5; abs", "0x5"), ("abs of the least", "const8u 0x8000000000000000; abs", "0x8000000000000000"),
    ("and", "const1u 0xfc; const1u 0x3f; and", "0x3c"), ("or", "lit12; lit3; or", "0xf"), ("xor", "lit12; lit10; xor", "0x6"),
    ("div", "lit7; lit2; div", "0x3"), ("div is signed", "consts -7; lit2; div", hex(TOP - 2)),
    ("div by 0", "lit7; lit0; div", "error"), ("mod", "lit7; lit4; mod", "0x3"), ("mod is unsigned", "consts -1; lit16; mod", "0xf"),
    ("mod by 0", "lit7; lit0; mod", "error"), ("minus", "lit7; lit2; minus", "0x5"), ("minus wraps", "lit0; lit1; minus", hex(TOP)),
    ("mul", "lit7; lit6; mul", "0x2a"), ("mul wraps", "const8u 0x8000000000000001; lit2; mul", "0x2"),
    ("neg", "lit1; neg", hex(TOP)), ("not", "lit0; not", hex(TOP)), ("plus", "lit1; lit2; plus", "0x3"),
    ("plus wraps", f"const8u {TOP}; lit2; plus", "0x1"), ("plus_uconst", "lit1; plus_uconst 300", "0x12d"),
    ("plus_uconst wraps", f"lit2; plus_uconst {TOP}", "0x1"),
    ("shl", "lit1; lit4; shl", "0x10"), ("shl out", "lit1; const1u 64; shl", "0x0"), ("shr", "consts -1; const1u 60; shr", "0xf"),
    ("shr by 64", "consts -1; const1u 64; shr", "0x0"), ("shra", "consts -16; lit2; shra", hex(TOP - 3)),
    ("shra by 64", "consts -16; const1u 64; shra", hex(TOP)),
    ("an address and a number", "addr 0x1000; plus_uconst 16", "0x1010"),
    # arithmetic on typed values: both of one type, the result of it
    *((f"{op} on {t}", f"consts {a}; convert s64; convert {t}; consts {b}; convert s64; convert {t}; {op}", f"{t} {r}") for op, t, a, b, r in [
        ("plus", "u8", 200, 100, 44), ("plus", "s8", 100, 100, -56), ("minus", "u8", 1, 2, 255), ("mul", "s16", -3, 5, -15),
        ("div", "s32", -7, 2, -3), ("div", "u32", -7, 2, 2147483644), ("mod", "u16", -1, 16, 15), ("and", "u8", 12, 10, 8),
        ("or", "u8", 12, 10, 14), ("xor", "u8", 12, 10, 6), ("shl", "u8", 1, 7, 128), ("shr", "u8", 128, 7, 1),
        ("shra", "s8", -128, 7, -1), ("plus", "f32", 1, 2, 3.0), ("div", "f64", 1, 4, 0.25), ("minus", "f32", 1, 2, -1.0),
        ("mul", "f64", 3, 2, 6.0), ("plus", "u128", -1, 1, 0), ("plus", "bool", 0, 1, 1), ("plus", "f16", 1, 1, 2.0),
        ("plus", "u12", 4095, 1, 0)]),
    *((f"{op} on {t}", f"consts {a}; convert s64; convert {t}; {op}", f"{t} {r}") for op, t, a, r in [
        ("abs", "s32", -3, 3), ("neg", "s32", 3, -3), ("neg", "u8", 1, 255), ("not", "u8", 1, 254), ("neg", "f64", 3, -3.0),
        ("abs", "f32", -3, 3.0)]),
    ("plus_uconst on a typed value", "lit5; convert u8; plus_uconst 255", "u8 4"),
    ("operands of different types", "lit1; convert u32; lit1; convert s32; plus", "ill-formed"),
    ("typed and generic", "lit1; convert u64; lit1; plus", "ill-formed"),
    ("and on floats", "lit1; convert f32; lit1; convert f32; and", "ill-formed"),
    ("not on a float", "lit1; convert f32; not", "ill-formed"),
    ("mod on floats", "lit1; convert f32; lit1; convert f32; mod", "ill-formed"),
    ("arithmetic on UTF is none", "const_type utf x:01000000; dup; plus", "ill-formed"),
    ("vectors element by element", "const_type u32x4 x:01000000020000000300000004000000; dup; plus", "u32x4 (2, 4, 6, 8)"),
    ("float vectors", "const_type f32x2 x:0000803f00000040; dup; mul", "f32x2 (1.0, 4.0)"),
    ("typed division by zero", "lit1; convert u8; lit0; convert u8; div", "error"),
    # complex numbers and the wide floating-point formats
    ("complex plus", "const_type cf32 x:0000803f00000040; const_type cf32 x:0000404000008040; plus", "cf32 (4+6j)"),
    ("complex mul", "const_type cf32 x:0000803f00000040; const_type cf32 x:0000404000008040; mul", "cf32 (-5+10j)"),
    ("complex values have no order", "const_type cf32 x:0000803f00000040; dup; lt", "ill-formed"),
    ("complex values compare equal", "const_type cf32 x:0000803f00000040; dup; eq", "0x1"),
    ("double complex", "const_type cf64 x:000000000000f03f0000000000000040; neg", "cf64 (-1-2j)"),
    ("x87 extended", "const_type f80 x:0000000000000080ff3f; dup; plus", "f80 2.0"),
    ("quadruple", "const_type f128 x:0000000000000000000000000000ff3f; dup; plus", "f128 2.0"),
    ("quadruple to integer", "const_type f128 x:00000000000000000000000000800040; convert s32", "s32 3"),
    ("integer to x87", "consts -3; convert s32; convert f80; stack_value", "implicit {64: 0xc000000000000000, 16+64: 0xc000}"),
    # A.2.5.4.3.3 conversions (DWARF 5, 2.5.1.6)
    ("convert 0 is the generic type", "lit5; convert s8; convert 0", "0x5"),
    ("convert narrows", "const2u 0x1234; convert u8", "u8 52"), ("convert keeps the number: to float", "consts -2; convert s64; convert f32", "f32 -2.0"),
    ("float to integer towards zero", "const_type f32 x:0000f0bf; convert s32", "s32 -1"),
    ("signed to wider extends the sign", "consts -1; convert s8; convert s64", "s64 -1"),
    ("unsigned to wider", "consts -1; convert u8; convert s64", "s64 255"), ("signed to generic extends the sign", "consts -1; convert s8; convert 0", hex(TOP)),
    ("float to wider float", "const_type f32 x:0000c03f; convert f64", "f64 1.5"),
    ("convert to an entry that is no base type", "lit5; convert $proc", "ill-formed", {"dies": {"proc": "lit1"}}),
    ("convert of a register", "regx 32; convert u32", "ill-formed"),
    ("GNU_convert", "lit5; GNU_convert s8", "s8 5"),
    ("reinterpret", "const_type f32 x:0000803f; reinterpret u32", f"u32 {0x3F800000}"),
    ("reinterpret generic", "consts -1; reinterpret s64", "s64 -1"), ("reinterpret to generic", "const_type f64 x:000000000000f03f; reinterpret 0", "0x3ff0000000000000"),
    ("reinterpret to a vector", "const8u 0x200000001; reinterpret s16x2", "ill-formed"),
    ("reinterpret a vector", "const_type s16x2 x:0100ffff; reinterpret u32", f"u32 {0xFFFF0001}"),
    ("reinterpret of another size", "lit1; reinterpret u32", "ill-formed"), ("GNU_reinterpret", "lit1; GNU_reinterpret u64", "u64 1"),
    # A.2.5.4.3.4 special values
    ("deref", "const2u 0x1010; deref", "0x1716151413121110"), ("deref of a location", "addr 0x1008; deref", "0xf0e0d0c0b0a0908"),
    ("deref of a 64-bit register", "regx 17; deref", "0xff0f"), ("deref beyond a 32-bit register", "regx 32; deref", "error"),
    ("deref of 64 bits of a vector register", "regx 2560; push_lane; lit4; mul; offset; deref", "0x10600000105"),
    ("deref of an implicit value", "const2u 0x1234; stack_value; deref", "0x1234"), ("deref of a short implicit value", "implicit_value x:0102; deref", "error"),
    ("deref of undefined bits", "undefined; deref", "error"), ("deref of a composite", "regx 33; piece 4; regx 34; piece 4; piece_end; deref", "0x200200001002"),
    ("deref of a composite with undefined bits", "regx 33; piece 4; piece 4; piece_end; deref", "error"),
    ("deref of a composite too small", "regx 33; piece 4; piece_end; deref", "error"),
    ("deref of an incomplete composite", "regx 33; piece 4; regx 34; piece 4; deref", "ill-formed"),
    ("deref at a bit offset", "addr 0x1010; lit4; bit_offset; deref", "0x8171615141312111"),
    ("deref of nothing", "deref", "ill-formed"), ("deref of unmapped memory", "lit0; deref", "error"),
    ("deref of the last bytes of the address space", "const8u 0xfffffffffffffffc; deref", "error"),
    ("deref of several places", "call4 $two; deref_size 4", "0x5002", {"dies": {"two": [(0, 0x2000, "regx 37"), (0, 0x2000, "regx 37")]}}),
    ("deref_size 1", "addr 0x10ff; deref_size 1", "0xff"), ("deref_size 4 of a register", "regx 33; deref_size 4", "0x1002"),
    ("deref_size 3", "addr 0x1001; deref_size 3", "0x30201"), ("deref_size 8 is deref", "addr 0x1000; deref_size 8", "0x706050403020100"),
    ("deref_size is zero-extended", "addr 0x10f0; deref_size 2; lit0; plus", "0xf1f0"),
    ("deref_size beyond a register", "regx 33; deref_size 8", "error"),
    ("deref_type u32", "addr 0x1000; deref_type 4 u32", f"u32 {0x03020100}"), ("deref_type s8", "addr 0x10ff; deref_type 1 s8", "s8 -1"),
    ("deref_type u128", "addr 0x1000; deref_type 16 u128", f"u128 {0x0F0E0D0C0B0A09080706050403020100}"),
    ("deref_type of 12 bits", "addr 0x1011; lit4; bit_offset; deref_type 2 u12", f"u12 {0x121}"),
    ("deref_type of a vector register", "regx 2560; deref_type 16 u32x4", "u32x4 (256, 257, 258, 259)"),
    ("deref_type with the wrong size", "addr 0x1000; deref_type 8 u32", "ill-formed"), ("deref_type with bits for bytes", "regx 17; deref_type 64 u64", "ill-formed"),
    ("deref_type with no base type", "addr 0x1000; deref_type 8 $proc", "ill-formed", {"dies": {"proc": "lit1"}}),
    ("deref_type with no such entry", "addr 0x1000; deref_type 8 $nowhere", "ill-formed"),
    ("GNU_deref_type", "addr 0x1000; GNU_deref_type 1 u8", "u8 0"),
    ("regval_type", "regval_type 33 u32", "u32 4098"), ("regval_type of fewer bits", "regval_type 33 s8", "s8 2"),
    ("regval_type of more bits than the register", "regval_type 33 u64", "error"), ("regval_type of a whole vector", "regval_type 2560 u32x4", "u32x4 (256, 257, 258, 259)"),
    ("regval_type of EXEC", "regval_type 17 u64", "u64 65295"), ("regval_type of no register", "regval_type 5 u32", "ill-formed"), ("GNU_regval_type", "GNU_regval_type 33 u32", "u32 4098"),
    ("xderef: address on top, space below", "lit3; lit8; xderef", "0xf0e0d0c0b0a0908"), ("xderef of the default space", "lit0; addr 0x1000; xderef", "0x706050403020100"),
    ("xderef of a lane's memory", "lit5; lit4; xderef_size 4", "0xaa550510"), ("xderef of no address space", "lit4; lit8; xderef", "ill-formed"),
    ("xderef_size", "lit3; lit8; xderef_size 2", "0x908"), ("xderef_type", "lit3; lit8; xderef_type 2 s16", f"s16 {0x0908}"),
    ("xderef_type with the wrong size", "lit3; lit8; xderef_type 4 s16", "ill-formed"), ("xderef with one entry", "lit3; xderef", "ill-formed"),
    # DW_OP_entry_value
    ("entry_value of a register", "entry_value [reg16]", "0x3004"), ("entry_value of regx", "entry_value [regx 16]", "0x3004"),
    ("entry_value of a value", "entry_value [lit5]", "0x5"), ("entry_value of typed contents", "entry_value [regval_type 32 u32]", "u32 4660"),
    ("entry_value of a memory location", "entry_value [undefined]", "ill-formed"), ("entry_value of an implicit location", "entry_value [lit1; stack_value]", "ill-formed"),
    ("entry_value of a register with an offset", "entry_value [regx 16; lit1; offset]", "ill-formed"),
    ("entry_value of nothing", "entry_value []", "ill-formed"),
    ("entry_value starts with an empty stack", "lit1; entry_value [lit0; drop; drop]", "ill-formed"),
    ("entry_value has no object", "entry_value [push_object_address; deref]", "error", {"object": "addr 0x1000"}),
    ("entry_value reads in the caller", "entry_value [breg16 0; lit0; plus]", "0x3004"),
    ("entry_value of dereferenced memory", "entry_value [addr 0x1000; deref]", "0x706050403020100"),
    ("entry_value at the call site's location list", "entry_value [call4 $list; deref_size 4]", "0x1234",
     {"dies": {"list": [(0x3000, 0x3004, "regx 32"), (0x1000, 0x1004, "regx 33")]}}),
    ("GNU_entry_value", "GNU_entry_value [reg16]", "0x3004"),
    ("D.1.3: 16 added to what a register held on entry", "entry_value [reg16]; offset_uconst 16", "mem0 0x3014"),
    ("D.1.3: a member four bytes from the start", "offset_uconst 4", "composite+32 {32: 0x1002}",
     {"initial": ("regx 32; piece 4; regx 33; piece 4",)}),
]


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("case", CASES, ids=[case[0] for case in CASES])
def test_the_text(case: tuple[Any, ...], dialect: str, check: Callable[..., None]) -> None:
    _, text, expected, *changes = case
    check(text, expected, dialect, *changes)

