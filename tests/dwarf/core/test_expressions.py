"""Operations and their rules, by section of "DWARF Extensions For Heterogeneous Debugging", in every dialect.

A case is: section, operations, expected result. The result is a number for a value of the generic type,
(type name, number) for a typed value, the location's words (`LocationDescription.describe`), or an error class.
"""

# ruff: noqa: E501  (one case, one line)
from __future__ import annotations

import pytest

from rocdbg import dwarf
from rocdbg.dwarf.operation_assembler import assemble
from rocdbg.dwarf.operation_table import DIALECTS

U64 = (1 << 64) - 1
ILL, EVAL = dwarf.IllFormed, dwarf.EvaluationError

TYPES = {
    0x10: dwarf.BaseType("u8", "DW_ATE_unsigned", 8),
    0x11: dwarf.BaseType("s8", "DW_ATE_signed", 8),
    0x12: dwarf.BaseType("u32", "DW_ATE_unsigned", 32),
    0x13: dwarf.BaseType("s32", "DW_ATE_signed", 32),
    0x14: dwarf.BaseType("u64", "DW_ATE_unsigned", 64),
    0x15: dwarf.BaseType("f32", "DW_ATE_float", 32),
    0x16: dwarf.BaseType("f64", "DW_ATE_float", 64),
    0x17: dwarf.BaseType("address", "DW_ATE_address", 64),
    0x18: dwarf.BaseType("u12", "DW_ATE_unsigned", 12),
    0x19: dwarf.BaseType("v4u32", "DW_ATE_unsigned", 32, vector_size=4),
    0x1A: dwarf.BaseType("bad", "DW_ATE_unsigned", 32, vector_size=0),
    0x1B: dwarf.BaseType("u128", "DW_ATE_unsigned", 128),
    0x1C: dwarf.BaseType("f16", "DW_ATE_float", 16),
    0x1D: dwarf.BaseType("vgpr32", "DW_ATE_unsigned", 32, vector_size=32),
    0x1E: dwarf.BaseType("bool", "DW_ATE_boolean", 8),
    0x1F: dwarf.BaseType("s64", "DW_ATE_signed", 64),
}


def context(dialect: str) -> dwarf.SimpleContext:
    def code(*items: object) -> bytes:
        return assemble(*items, dialect=dialect)  # type: ignore[arg-type]

    dies: dict[int, object] = dict(TYPES)
    dies |= {
        0x20: code("lit3", "plus"),  # works on the caller's stack
        0x21: dwarf.LocationList([(0x1000, 0x1010, code(("regx", 40))), (0x1008, 0x1010, code(("addr", 0x2000)))]),
        0x22: dwarf.ConstValue(b"\x2a\0\0\0"),
        0x23: None,
        0x24: code(("addr", 0x2000)),
        0x25: code(("implicit_pointer", 0x24, 4)),  # a pointer to the pointer to 0x2004
        0x26: code(("call4", 0x26)),  # calls itself
        0x27: code(("regx", 40), ("piece", 4)),
        0x28: dwarf.LocationList([(0, 0x1000, code("lit1")), (None, None, code(("addr", 0x2008)))]),
        0x29: code(("regx", 40)),
    }
    vgpr = b"".join((0x100 + lane).to_bytes(4, "little") for lane in range(64))
    return dwarf.SimpleContext(
        lane=5,
        pc=0x1008,
        iteration=1,
        iterations=4,
        registers={
            16: (0x1008).to_bytes(8, "little"),
            17: (0xF0F0).to_bytes(8, "little"),
            32: (0x40).to_bytes(4, "little"),
            40: (0xDEADBEEF).to_bytes(4, "little"),
            41: (0x10).to_bytes(4, "little"),
            2560: vgpr,
        },
        memory={
            0: {0x2000: bytes(range(0x30)), 0x40: bytes(16), 0xFFFFFFFFFFFFFFF8: b"abcdefgh"},
            3: {0: b"\x11\x22\x33\x44" * 16, 0x40: b"\xaa\xbb"},
            5: {0x10: b"\x01\x02\x03\x04\x05\x06\x07\x08"},
        },
        apertures={"local": 0x1_0000_0000_0000, "private": 0x2_0000_0000_0000},
        entry_registers={40: (0x77).to_bytes(4, "little"), 17: (0xFF).to_bytes(8, "little")},
        frame_base=code(("regx", 32), ("deref_size", 4), "lit5", "form_aspace_address"),
        debug_addr=[0x1234, 0x2000],
        dies=dies,  # type: ignore[arg-type]
    )


STACK = "A.2.5.4.1"
FLOW = "A.2.5.4.2"
LITERAL = "A.2.5.4.3.1"
ARITHMETIC = "A.2.5.4.3.2"
CONVERSION = "A.2.5.4.3.3"
SPECIAL = "A.2.5.4.3.4"
GENERAL = "A.2.5.4.4.1"
UNDEFINED = "A.2.5.4.4.2"
MEMORY = "A.2.5.4.4.3"
REGISTER = "A.2.5.4.4.4"
IMPLICIT = "A.2.5.4.4.5"
COMPOSITE = "A.2.5.4.4.6"

CASES: list[tuple[str, tuple[object, ...], object]] = [
    # Stack operations
    (STACK, ("lit1", "lit2", "dup", "minus", "plus"), 1),
    (STACK, ("lit1", "lit2", "drop"), 1),
    (STACK, ("lit1", "lit2", "over"), 1),
    (STACK, ("lit1", "lit2", "lit3", ("pick", 2)), 1),
    (STACK, ("lit7", "lit2", "swap", "minus"), U64 - 4),
    (STACK, ("lit1", "lit2", "lit3", "rot"), 2),
    (STACK, ("lit1", "lit2", "lit3", "rot", "drop"), 1),
    (STACK, ("lit1", "lit2", "lit3", "rot", "drop", "drop"), 3),
    (STACK, (("regx", 40), "dup"), "register s8"),
    (STACK, (("regx", 40), "lit1", "swap"), "register s8"),
    (STACK, ("dup",), ILL),
    (STACK, ("drop",), ILL),
    (STACK, ("lit1", "over"), ILL),
    (STACK, ("lit1", "swap"), ILL),
    (STACK, ("lit1", "lit2", "rot"), ILL),
    (STACK, ("lit1", ("pick", 1)), ILL),
    (STACK, (("piece", 4), "dup"), ILL),
    (STACK, (("piece", 4), "drop"), ILL),
    (STACK, (("piece", 4), "lit1", "swap"), ILL),
    (STACK, ("lit1", ("piece", 4), "lit1", "over"), ILL),
    (STACK, ("lit9", "lit1", "lit2", "lit3", "rot", ("pick", 3)), 9),
    # Control flow
    (FLOW, ("nop", "lit1"), 1),
    (FLOW, ("lit1", "lit2", "lt"), 1),
    (FLOW, ("lit2", "neg", "lit1", "lt"), 1),
    (FLOW, ("lit2", "neg", "lit1", "gt"), 0),
    (FLOW, ("lit2", "lit2", "ge"), 1),
    (FLOW, ("lit2", "lit2", "ne"), 0),
    (FLOW, ("lit2", "lit2", "eq"), 1),
    (FLOW, ("lit3", "lit2", "le"), 0),
    (FLOW, ("lit1", ("skip", 1), "lit2", "lit3"), 3),
    (FLOW, ("lit1", "lit1", ("bra", 1), "lit2"), 1),
    (FLOW, ("lit1", "lit0", ("bra", 1), "lit2"), 2),
    (FLOW, ("lit5", ("skip", 0)), 5),
    (FLOW, ("lit5", ("skip", 1)), ILL),
    (FLOW, ("lit5", ("skip", -10)), ILL),
    (FLOW, ("lit5", ("skip", 1), ("const2u", 0x3030)), ILL),
    (FLOW, ("lit0", ("bra", 100), "lit5"), 5),
    (FLOW, ("lit1", ("bra", 100), "lit5"), ILL),
    (FLOW, (("skip", -3),), EVAL),
    (FLOW, ("lit1", ("skip", -4)), EVAL),
    (FLOW, (("regx", 40), ("bra", 0)), ILL),
    # a loop: 5 + 4 + 3 + 2 + 1
    (FLOW, ("lit0", "lit5", "dup", "rot", "plus", "swap", "lit1", "minus", "dup", ("bra", -10), "drop"), 15),
    (FLOW, ("lit4", ("call2", 0x20)), 7),
    (FLOW, ("lit4", ("call4", 0x20), ("call_ref", 0x20)), 10),
    (FLOW, (("call4", 0x21),), "in 2 places: register s8; memory at 0x2000"),
    (FLOW, (("call4", 0x28),), "memory at 0x2008"),
    (FLOW, (("call4", 0x22),), "implicit value 0x2a of 4 bytes"),
    (FLOW, ("lit9", ("call4", 0x23)), 9),
    (FLOW, (("call4", 0x26),), EVAL),
    (FLOW, (("call4", 0x99),), ILL),
    (FLOW, (("call4", 0x20),), ILL),
    # an incomplete composite stays incomplete when the called expression ends
    (
        FLOW,
        (("call4", 0x27), ("regx", 41), ("piece", 4)),
        "composite of 64 bits: [bits 0..31 in register s8; bits 32..63 in register s9]",
    ),
    # Literals
    (LITERAL, ("lit31",), 31),
    (LITERAL, (("const1u", 0xFF),), 0xFF),
    (LITERAL, (("const1s", -1),), U64),
    (LITERAL, (("const2u", 0xFFFF),), 0xFFFF),
    (LITERAL, (("const2s", -2),), U64 - 1),
    (LITERAL, (("const4u", 0xFFFFFFFF),), 0xFFFFFFFF),
    (LITERAL, (("const4s", -3),), U64 - 2),
    (LITERAL, (("const8u", U64),), U64),
    (LITERAL, (("const8s", -4),), U64 - 3),
    (LITERAL, (("constu", (1 << 64) + 5),), 5),
    (LITERAL, (("consts", -(1 << 70) - 1),), U64),
    (LITERAL, (("constx", 0),), 0x1234),
    (LITERAL, (("constx", 2),), ILL),
    (LITERAL, (("const_type", 0x11, b"\xff"),), ("s8", -1)),
    (LITERAL, (("const_type", 0x10, b"\xff"),), ("u8", 255)),
    (LITERAL, (("const_type", 0x18, b"\xff\xff"),), ("u12", 0xFFF)),
    (LITERAL, (("const_type", 0x15, b"\0\0\x80\x3f"),), ("f32", 1.0)),
    (LITERAL, (("const_type", 0x19, b"".join(bytes([i, 0, 0, 0]) for i in range(4))),), ("v4u32", (0, 1, 2, 3))),
    (LITERAL, (("const_type", 0x12, b"\1\2"),), ILL),
    (LITERAL, (("const_type", 0x24, b"\1\2"),), ILL),
    (LITERAL, (("const_type", 0x1A, b"\1\2\3\4"),), ILL),
    (LITERAL, ("push_lane",), 5),
    (LITERAL, ("push_iteration",), 1),
    # Arithmetic: the generic type wraps; abs, div, neg and shra are signed
    (ARITHMETIC, (("const8u", U64), "lit2", "plus"), 1),
    (ARITHMETIC, ("lit1", "lit2", "minus"), U64),
    (ARITHMETIC, (("const8u", U64), "lit2", "mul"), U64 - 1),
    (ARITHMETIC, (("consts", -7), "lit2", "div"), U64 - 2),
    (ARITHMETIC, ("lit7", "lit0", "div"), EVAL),
    (ARITHMETIC, ("lit7", "lit0", "mod"), EVAL),
    (ARITHMETIC, (("const8u", U64), "lit10", "mod"), U64 % 10),
    (ARITHMETIC, (("consts", -7), "abs"), 7),
    (ARITHMETIC, ("lit7", "neg"), U64 - 6),
    (ARITHMETIC, ("lit0", "not"), U64),
    (ARITHMETIC, ("lit12", "lit10", "and"), 8),
    (ARITHMETIC, ("lit12", "lit10", "or"), 14),
    (ARITHMETIC, ("lit12", "lit10", "xor"), 6),
    (ARITHMETIC, ("lit1", "lit4", "shl"), 16),
    (ARITHMETIC, ("lit1", ("constu", 64), "shl"), 0),
    (ARITHMETIC, (("consts", -16), "lit4", "shr"), U64 >> 4),
    (ARITHMETIC, (("consts", -16), "lit2", "shra"), U64 - 3),
    (ARITHMETIC, (("consts", -16), ("constu", 200), "shra"), U64),
    (ARITHMETIC, (("const8u", U64), ("plus_uconst", 3)), 2),
    (ARITHMETIC, (("addr", 0x2000), ("plus_uconst", 8)), 0x2008),
    (ARITHMETIC, (("addr", 0x2000), "lit8", "plus"), 0x2008),
    (ARITHMETIC, ("lit1", "plus"), ILL),
    (ARITHMETIC, ("lit1", ("regx", 40), "plus"), ILL),
    (ARITHMETIC, ("lit1", "lit0", "lit5", "form_aspace_address", "plus"), ILL),
    (ARITHMETIC, ("lit1", ("const_type", 0x10, b"\1"), "plus"), ILL),
    (ARITHMETIC, (("const_type", 0x11, b"\1"), ("const_type", 0x10, b"\1"), "plus"), ILL),
    (ARITHMETIC, (("const_type", 0x10, b"\xff"), ("const_type", 0x10, b"\2"), "plus"), ("u8", 1)),
    (ARITHMETIC, (("const_type", 0x11, b"\x7f"), ("const_type", 0x11, b"\1"), "plus"), ("s8", -128)),
    (ARITHMETIC, (("const_type", 0x11, b"\xf9"), ("const_type", 0x11, b"\2"), "div"), ("s8", -3)),
    (ARITHMETIC, (("const_type", 0x10, b"\xf9"), ("const_type", 0x10, b"\2"), "div"), ("u8", 124)),
    (ARITHMETIC, (("const_type", 0x11, b"\xf9"), ("const_type", 0x11, b"\2"), "shr"), ("s8", 0x3E)),
    (ARITHMETIC, (("const_type", 0x10, b"\xf9"), ("const_type", 0x10, b"\2"), "shra"), ("u8", 0xFE)),
    (ARITHMETIC, (("const_type", 0x10, b"\xff"), ("const_type", 0x10, b"\1"), "gt"), 1),
    (ARITHMETIC, (("const_type", 0x11, b"\xff"), ("const_type", 0x11, b"\1"), "gt"), 0),
    (ARITHMETIC, (("const_type", 0x10, b"\xff"), ("plus_uconst", 258)), ("u8", 1)),
    (ARITHMETIC, (("const_type", 0x11, b"\x80"), "neg"), ("s8", -128)),
    (ARITHMETIC, (("const_type", 0x10, b"\x0f"), "not"), ("u8", 0xF0)),
    (ARITHMETIC, (("const_type", 0x15, b"\0\0\x80\x3f"), "dup", "plus"), ("f32", 2.0)),
    (ARITHMETIC, (("const_type", 0x15, b"\0\0\x80\x3f"), "not"), ILL),
    (ARITHMETIC, (("const_type", 0x15, b"\0\0\x80\x3f"), "dup", "and"), ILL),
    (ARITHMETIC, (("const_type", 0x15, b"\0\0\x80\x3f"), ("plus_uconst", 1)), ILL),
    (ARITHMETIC, (("const_type", 0x17, bytes(8)), "dup", "and"), ILL),
    (ARITHMETIC, (("const_type", 0x1B, b"\xff" * 16), ("plus_uconst", 2)), ("u128", 1)),
    # Conversions
    (CONVERSION, ("lit5", ("convert", 0x11)), ("s8", 5)),
    (CONVERSION, (("constu", 0x1FF), ("convert", 0x11)), ("s8", -1)),
    (CONVERSION, (("const_type", 0x11, b"\xff"), ("convert", 0x12)), ("u32", 0xFFFFFFFF)),
    (CONVERSION, (("const_type", 0x10, b"\xff"), ("convert", 0x12)), ("u32", 0xFF)),
    (CONVERSION, (("const_type", 0x11, b"\xff"), ("convert", 0)), U64),
    (CONVERSION, ("lit3", ("convert", 0x15)), ("f32", 3.0)),
    (CONVERSION, (("const_type", 0x15, b"\0\0\x20\xc0"), ("convert", 0x13)), ("s32", -2)),
    (CONVERSION, (("const_type", 0x15, b"\0\0\x20\x40"), ("convert", 0x1C)), ("f16", 2.5)),
    (CONVERSION, (("const8u", U64), ("convert", 0x1B)), ("u128", U64)),
    (CONVERSION, (("const_type", 0x1F, b"\xff" * 8), ("convert", 0x1B)), ("u128", (1 << 128) - 1)),
    (CONVERSION, ("lit3", ("convert", 0x24)), ILL),
    (CONVERSION, ("lit3", ("convert", 0x19)), ILL),
    (CONVERSION, (("const_type", 0x15, b"\0\0\x80\x3f"), ("reinterpret", 0x12)), ("u32", 0x3F800000)),
    (CONVERSION, (("const_type", 0x16, b"\0\0\0\0\0\0\xf0\x3f"), ("reinterpret", 0)), 0x3FF0000000000000),
    (CONVERSION, ("lit3", ("reinterpret", 0x14)), ("u64", 3)),
    (CONVERSION, ("lit3", ("reinterpret", 0x12)), ILL),
    (CONVERSION, (("const_type", 0x1B, bytes([1] + [0] * 15)), ("reinterpret", 0x19)), ("v4u32", (1, 0, 0, 0))),
    # Special values
    (SPECIAL, (("regval_type", 40, 0x12),), ("u32", 0xDEADBEEF)),
    (SPECIAL, (("regval_type", 40, 0x10),), ("u8", 0xEF)),
    (SPECIAL, (("regval_type", 40, 0x14),), EVAL),
    (SPECIAL, (("regval_type", 40, 0x24),), ILL),
    (SPECIAL, (("addr", 0x2000), "deref"), 0x0706050403020100),
    (SPECIAL, (("constu", 0x2000), "deref"), 0x0706050403020100),
    (SPECIAL, (("regx", 40), "deref"), EVAL),
    (SPECIAL, (("regx", 40), ("deref_size", 4)), 0xDEADBEEF),
    (SPECIAL, (("regx", 40), ("deref_size", 5)), EVAL),
    (SPECIAL, (("addr", 0x2000), ("deref_size", 2)), 0x0100),
    (SPECIAL, (("addr", 0x2000), ("deref_size", 200)), 0x0706050403020100),
    (SPECIAL, (("addr", 0x2000), ("deref_type", 4, 0x13)), ("s32", 0x03020100)),
    (SPECIAL, (("addr", 0x2000), ("deref_type", 2, 0x18)), ("u12", 0x100)),
    (SPECIAL, (("addr", 0x2000), ("deref_type", 8, 0x13)), ILL),
    (SPECIAL, (("addr", 0x2000), ("deref_type", 4, 0x24)), ILL),
    (SPECIAL, (("const_type", 0x14, bytes(8)), "deref"), ILL),
    (SPECIAL, ("undefined", "deref"), EVAL),
    (SPECIAL, (("addr", 0x9000), "deref"), EVAL),
    (SPECIAL, ("lit3", ("constu", 0x40), "xderef"), EVAL),
    (SPECIAL, ("lit3", ("constu", 4), "xderef"), 0x4433221144332211),
    (SPECIAL, ("lit3", ("constu", 4), ("xderef_size", 2)), 0x2211),
    (SPECIAL, ("lit3", ("constu", 4), ("xderef_type", 4, 0x12)), ("u32", 0x44332211)),
    (SPECIAL, ("lit4", ("constu", 4), "xderef"), ILL),
    (SPECIAL, (("entry_value", b"\x90\x28"),), ("s8", 0x77)),
    (SPECIAL, (("entry_value", b"\x90\x11"),), 0xFF),  # EXEC has the generic type's size
    (SPECIAL, (("entry_value", b"\x90\x11"), ("offset_uconst", 16)), "memory at 0x10f"),
    (SPECIAL, (("entry_value", b"\x90\x28\x94\x04"),), 0x77),
    (SPECIAL, (("entry_value", b"\x35"),), 5),
    (SPECIAL, (("entry_value", b"\x90\x28\x96"),), ILL),  # a nop was the last operation
    (SPECIAL, (("entry_value", b""),), ILL),
    (SPECIAL, (("entry_value", b"\x97"),), EVAL),
    # General locations
    (GENERAL, (("addr", 0x2000), "lit8", "offset"), "memory at 0x2008"),
    (GENERAL, (("addr", 0x2000), ("consts", -8), "offset"), "memory at 0x1ff8"),
    (GENERAL, (("addr", 0x2000), ("offset_uconst", 8)), "memory at 0x2008"),
    (GENERAL, (("addr", 0x2000), ("offset_uconst", U64 - 7)), "memory at 0x1ff8"),
    (GENERAL, (("addr", 0x2000), "lit9", "bit_offset"), "memory at 0x2001, bit 1"),
    (GENERAL, (("regx", 40), "lit3", "offset"), "register s8, bit 24"),
    (GENERAL, (("regx", 40), "lit4", "offset"), EVAL),
    (GENERAL, (("regx", 40), "lit31", "bit_offset"), "register s8, bit 31"),
    (GENERAL, (("regx", 40), ("constu", 32), "bit_offset"), EVAL),
    (GENERAL, (("regx", 40), "lit1", "neg", "offset"), EVAL),
    (GENERAL, (("regx", 40), ("const_type", 0x11, b"\xff"), "offset"), EVAL),
    (GENERAL, (("regx", 40), ("const_type", 0x10, b"\x01"), "offset"), "register s8, bit 8"),
    (GENERAL, (("regx", 40), ("const_type", 0x15, bytes(4)), "offset"), ILL),
    (GENERAL, (("addr", U64), "lit1", "offset"), EVAL),
    (GENERAL, (("call4", 0x21), ("offset_uconst", 1)), "in 2 places: register s8, bit 8; memory at 0x2001"),
    (GENERAL, (("regx", 2560), "push_lane", "lit4", "mul", "offset"), "register v0, bit 160"),
    (GENERAL, ("push_object_address",), EVAL),
    (GENERAL, (("call_frame_entry_reg", 40),), "implicit value 0x77 of 4 bytes"),
    (GENERAL, (("call_frame_entry_reg", 41),), "register s9"),
    # Undefined
    (UNDEFINED, ("undefined",), "undefined"),
    (UNDEFINED, (), "undefined"),
    (UNDEFINED, ("undefined", "lit8", "offset"), "undefined"),
    (UNDEFINED, ("undefined", ("consts", -8), "bit_offset"), "undefined"),
    # Memory
    (MEMORY, (("addr", 0x2000),), "memory at 0x2000"),
    (MEMORY, (("addrx", 1),), "memory at 0x2000"),
    (MEMORY, (("addrx", 7),), ILL),
    (MEMORY, (("constu", 0x10), "lit5", "form_aspace_address"), "memory at private_lane#0x10 of lane 5"),
    (MEMORY, (("constu", 0x10), "lit6", "form_aspace_address"), "memory at private_wave#0x10"),
    (MEMORY, (("constu", 0x10), "lit3", "form_aspace_address"), "memory at local#0x10"),
    (MEMORY, (("constu", 0x10), "lit0", "form_aspace_address"), "memory at 0x10"),
    (MEMORY, (("constu", 0x10), "lit1", "form_aspace_address"), "memory at generic#0x10"),
    (MEMORY, (("constu", 0x10), "lit4", "form_aspace_address"), ILL),
    (MEMORY, (("constu", 0x10), "lit7", "form_aspace_address"), ILL),
    (MEMORY, (("consts", -1), "lit3", "form_aspace_address"), "memory at local#0xffffffff"),
    (MEMORY, (("const_type", 0x11, b"\xff"), "lit0", "form_aspace_address"), "memory at 0xff"),
    (MEMORY, (("const_type", 0x15, bytes(4)), "lit0", "form_aspace_address"), ILL),
    (MEMORY, (("regx", 40), "lit0", "form_aspace_address"), ILL),
    (MEMORY, ("lit0", "form_tls_address"), EVAL),
    (MEMORY, ("call_frame_cfa",), EVAL),
    (MEMORY, (("fbreg", 8),), "memory at private_lane#0x48 of lane 5"),
    (MEMORY, (("fbreg", -8),), "memory at private_lane#0x38 of lane 5"),
    (MEMORY, (("fbreg", -0x48),), EVAL),
    (MEMORY, ("breg16 +8",), "memory at 0x1010"),
    (MEMORY, (("bregx", 16, -8),), "memory at 0x1000"),
    (MEMORY, (("bregx", 40, 0),), EVAL),  # 32 bits, and the default address space has 64
    (MEMORY, ("lit3", ("aspace_bregx", 41, 8)), "memory at local#0x18"),
    (MEMORY, ("lit4", ("aspace_bregx", 41, 8)), ILL),
    (MEMORY, (("aspace_bregx", 41, 8),), ILL),
    # Registers
    (REGISTER, (("regx", 2560),), "register v0"),
    (REGISTER, ("reg16",), "register pc"),
    (REGISTER, (("regx", 5),), ILL),
    # Implicit
    (IMPLICIT, (("implicit_value", b"\1\2\3"),), "implicit value 0x30201 of 3 bytes"),
    (IMPLICIT, (("implicit_value", b"\1\2\3"), ("deref_size", 2)), 0x201),
    (IMPLICIT, (("implicit_value", b"\1\2\3"), ("deref_size", 4)), EVAL),
    (IMPLICIT, ("lit5", "stack_value"), "implicit value 0x5 of 8 bytes"),
    (IMPLICIT, (("const_type", 0x11, b"\xff"), "stack_value"), "implicit value 0xff of 1 bytes"),
    (IMPLICIT, (("addr", 0x2000), "stack_value"), "implicit value 0x2000 of 8 bytes"),
    (IMPLICIT, (("regx", 40), "stack_value"), ILL),
    (IMPLICIT, ("lit5", "stack_value", "stack_value"), ILL),
    (IMPLICIT, ("lit5", "stack_value", "deref"), 5),
    (IMPLICIT, (("implicit_pointer", 0x24, 0),), "implicit pointer to the object of DIE 0x24"),
    # dereferenced implicitly, as a location of the default address space
    (IMPLICIT, (("implicit_pointer", 0x24, 4), "deref", ("deref_size", 1)), 4),
    (IMPLICIT, (("implicit_pointer", 0x24, -4), "deref", ("offset_uconst", 6)), "memory at 0x2002"),
    (IMPLICIT, (("implicit_pointer", 0x24, 0), "deref", "lit0", "form_aspace_address"), "memory at 0x2000"),
    (IMPLICIT, (("implicit_pointer", 0x24, 0), "deref", "lit3", "form_aspace_address"), EVAL),
    (IMPLICIT, (("implicit_pointer", 0x22, 1), "deref", ("deref_size", 1)), 0),
    (IMPLICIT, (("implicit_pointer", 0x23, 0), "deref", "deref"), EVAL),
    (IMPLICIT, (("implicit_pointer", 0x24, 0), ("deref_size", 4)), EVAL),
    (IMPLICIT, (("implicit_pointer", 0x24, 0), "lit1", "offset", ("deref_size", 7)), EVAL),
    (IMPLICIT, (("implicit_pointer", 0x24, 0), "deref", "lit1", "plus"), EVAL),
    (IMPLICIT, (("implicit_pointer", 0x24, 4), "deref", "stack_value"), "implicit pointer to the object of DIE 0x24+4"),
    (IMPLICIT, (("implicit_pointer", 0x24, 4), "deref", "dup", "drop", ("deref_size", 1)), 4),
    # a pointer to a pointer
    (IMPLICIT, (("implicit_pointer", 0x25, 0), "deref", "deref", ("deref_size", 1)), 4),
    # the whole of a pointer from two parts of it
    (
        IMPLICIT,
        (
            ("implicit_pointer", 0x24, 0),
            ("piece", 4),
            ("implicit_pointer", 0x24, 0),
            ("bit_piece", 32, 32),
            "piece_end",
            "deref",
            ("deref_size", 1),
        ),
        0,
    ),
    (IMPLICIT, (("implicit_pointer", 0x24, 0), ("piece", 4), "lit0", "stack_value", ("piece", 4), "piece_end", "deref"), EVAL),
    (IMPLICIT, ("lit3", ("aspace_implicit_pointer", 0x24, 0), ("deref_size", 4), "lit3", "form_aspace_address"), "memory at 0x2000"),
    (IMPLICIT, ("lit3", ("aspace_implicit_pointer", 0x24, 0), ("deref_size", 4), "deref"), EVAL),
    (IMPLICIT, ("lit3", ("aspace_implicit_pointer", 0x24, 0), "deref"), EVAL),
    (IMPLICIT, ("lit4", ("aspace_implicit_pointer", 0x24, 0)), ILL),
    # Composite
    (COMPOSITE, (("piece", 4),), "composite of 32 bits: [bits 0..31 in undefined]"),
    (COMPOSITE, (("regx", 40), ("piece", 4), ("piece", 2)), "composite of 48 bits: [bits 0..31 in register s8; bits 32..47 in undefined]"),
    (COMPOSITE, (("addr", 0x2000), ("piece", 2), ("constu", 0x2010), ("piece", 2), "piece_end", ("deref_size", 4)), 0x11100100),
    (COMPOSITE, (("regx", 40), ("piece", 5)), ILL),
    (COMPOSITE, (("regx", 40), ("bit_piece", 8, 28)), ILL),
    (COMPOSITE, (("regx", 40), ("bit_piece", 8, 32)), EVAL),
    (COMPOSITE, (("regx", 40), ("bit_piece", 8, 8), "piece_end", ("deref_size", 1)), 0xBE),
    (COMPOSITE, (("const_type", 0x10, b"\1"), ("piece", 1)), ILL),
    (COMPOSITE, ("piece_end",), ILL),
    (COMPOSITE, (("regx", 40), "piece_end"), ILL),
    (COMPOSITE, (("regx", 40), ("piece", 4), "piece_end", "piece_end"), ILL),
    (COMPOSITE, (("regx", 40), ("piece", 4), "deref"), ILL),
    (COMPOSITE, (("regx", 40), ("piece", 4), "lit0", "offset"), ILL),
    (COMPOSITE, (("regx", 40), ("piece", 4), ("extend", 32, 2)), ILL),
    (COMPOSITE, (("regx", 40), ("piece", 4), "stack_value"), ILL),
    (COMPOSITE, (("piece", 1 << 64),), "composite of 147573952589676412928 bits: [bits 0..147573952589676412927 in undefined]"),
    (COMPOSITE, (("piece", 1 << 64), ("piece", 1)), ILL),
    (COMPOSITE, (("regx", 40), ("piece", 4), "piece_end", ("regx", 41), ("piece", 4), "drop"), ILL),
    # a complete composite as a part of another
    (
        COMPOSITE,
        (("regx", 40), ("piece", 2), ("regx", 41), ("piece", 2), "piece_end", ("piece", 4), ("regx", 40), ("piece", 4), "piece_end", "deref"),
        0xDEADBEEF_0010_BEEF,
    ),
    (COMPOSITE, (("regx", 40), ("extend", 32, 2), "deref"), 0xDEADBEEF_DEADBEEF),
    (COMPOSITE, (("regx", 40), ("extend", 12, 3), ("deref_size", 4)), 0xEFEEFEEF),
    (COMPOSITE, (("regx", 40), ("extend", 0, 2)), ILL),
    (COMPOSITE, (("regx", 40), ("extend", 8, 0)), ILL),
    (COMPOSITE, (("regx", 40), ("extend", 33, 2)), ILL),
    (COMPOSITE, (("regx", 40), ("extend", 32, 1 << 63)), ILL),
    (COMPOSITE, (("extend", 32, 2),), ILL),
    (COMPOSITE, (("addr", 0x2000), ("addr", 0x2010), "lit5", ("select_bit_piece", 8, 4), ("deref_size", 4)), 0x03120110),
    (COMPOSITE, (("addr", 0x2000), ("addr", 0x2010), ("const_type", 0x10, b"\5"), ("select_bit_piece", 8, 9)), ILL),
    (COMPOSITE, (("addr", 0x2000), ("addr", 0x2010), "lit5", ("select_bit_piece", 8, 65)), ILL),
    (COMPOSITE, (("addr", 0x2000), ("addr", 0x2010), "lit5", ("select_bit_piece", 0, 4)), ILL),
    (COMPOSITE, (("addr", 0x2000), ("addr", 0x2010), "lit5", ("select_bit_piece", 8, 0)), ILL),
    (COMPOSITE, (("addr", 0x2000), ("addr", 0x2010), ("const_type", 0x15, bytes(4)), ("select_bit_piece", 8, 4)), ILL),
    # lane 4 is out of s8, but not selected there; then it is
    (COMPOSITE, (("regx", 40), ("addr", 0x2000), ("constu", 16), ("select_bit_piece", 8, 5), ("deref_size", 5)), 0x04_DEADBEEF),
    (COMPOSITE, (("regx", 40), ("addr", 0x2000), "lit0", ("select_bit_piece", 8, 5)), EVAL),
    (COMPOSITE, (("regx", 40), ("addr", 0x2000), "lit0", ("select_bit_piece", 24, 2)), ILL),
    (COMPOSITE, (("regx", 40), ("addr", 0x2000), "lit0", ("select_bit_piece", 24, 3)), ILL),
    (COMPOSITE, (("regx", 40), ("addr", 0x2000), "lit2", ("select_bit_piece", 24, 3)), EVAL),
    # overlays: base, overlay, offset, size
    (COMPOSITE, (("addr", 0x2000), ("regx", 40), "lit2", "lit4", "overlay", "deref"), 0x0706_DEADBEEF_0100),
    (COMPOSITE, (("addr", 0x2000), ("regx", 40), "lit0", "lit4", "overlay", "deref"), 0x07060504_DEADBEEF),
    (COMPOSITE, (("regx", 40), ("regx", 41), "lit2", "lit2", "overlay", ("deref_size", 4)), 0x0010BEEF),
    (COMPOSITE, (("regx", 40), ("regx", 41), "lit0", "lit4", "overlay"), "register s9"),
    (COMPOSITE, (("regx", 40), ("regx", 41), "lit2", "lit0", "overlay"), "register s8"),
    (COMPOSITE, (("regx", 40), ("regx", 41), "lit2", "lit3", "overlay"), ILL),
    (COMPOSITE, (("regx", 40), ("regx", 41), ("consts", -1), "lit3", "overlay"), ILL),
    (COMPOSITE, (("regx", 40), ("regx", 41), "lit1", ("consts", -1), "overlay"), ILL),
    (COMPOSITE, (("regx", 40), ("regx", 41), "lit4", "lit4", "bit_overlay", ("deref_size", 4)), 0xDEADBE0F),
    (COMPOSITE, (("addr", 0x2000), ("regx", 41), "lit0", "lit5", "overlay"), ILL),
    (COMPOSITE, ("undefined", ("regx", 41), "lit0", "lit4", "overlay", ("deref_size", 4)), 0x10),
]


def fixed(item: object) -> object:
    """"breg16 +8" for the operations whose names contain their register."""
    if isinstance(item, str) and " " in item:
        name, number = item.split()
        return (name, int(number))
    return item


def outcome(result: object) -> object:
    if isinstance(result, dwarf.LocationDescription):
        return result.describe()
    assert isinstance(result, dwarf.Value)
    return result.value if result.type is None else (result.type.name, result.value)


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(
    ("section", "items", "expected"), CASES, ids=[f"{section}-{n}" for n, (section, _, _) in enumerate(CASES)]
)
def test_operation(section: str, items: tuple[object, ...], expected: object, dialect: str) -> None:
    ctx = context(dialect)
    data = assemble(*map(fixed, items), dialect=dialect)  # type: ignore[arg-type]
    if isinstance(expected, type):
        with pytest.raises(expected) as caught:
            dwarf.evaluate(data, ctx, dialect=dialect)
        other = EVAL if expected is ILL else ILL
        assert not isinstance(caught.value, other), caught.value
    else:
        assert outcome(dwarf.evaluate(data, ctx, dialect=dialect)) == expected


KINDS: list[tuple[tuple[object, ...], object, object]] = [
    # operations, as a value, as a location
    ((), ILL, "undefined"),
    (("lit5",), 5, "memory at 0x5"),
    ((("addr", 0x2000),), 0x2000, "memory at 0x2000"),
    ((("regx", 40),), ILL, "register s8"),
    ((("addr", 0x2000), "lit1", "bit_offset"), ILL, "memory at 0x2000, bit 1"),
    (("lit0", "lit3", "form_aspace_address"), ILL, "memory at local#0x0"),
    ((("const_type", 0x10, b"\1"),), ("u8", 1), ILL),
    ((("call4", 0x21),), ILL, "in 2 places: register s8; memory at 0x2000"),
    (("lit1", "undefined"), ILL, "undefined"),
    ((("implicit_pointer", 0x24, 4), "deref"), EVAL, "memory at 0x2004"),
    ((("regx", 40), ("piece", 4)), ILL, "composite of 32 bits: [bits 0..31 in register s8]"),
]


@pytest.mark.parametrize(("items", "value", "location"), KINDS)
def test_result_kind(items: tuple[object, ...], value: object, location: object) -> None:
    data = assemble(*items)  # type: ignore[arg-type]
    for kind, expected in (("value", value), ("location", location)):
        if isinstance(expected, type):
            with pytest.raises(expected):
                outcome(dwarf.evaluate(data, context("amd"), kind))  # type: ignore[arg-type]
        else:
            assert outcome(dwarf.evaluate(data, context("amd"), kind)) == expected  # type: ignore[arg-type]


def test_initial_stack_is_pushed_in_order() -> None:
    ctx = context("amd")
    location = dwarf.evaluate(assemble(("regx", 40)), ctx)
    result = dwarf.evaluate(assemble("offset"), ctx, initial=[location, 2])
    assert outcome(result) == "register s8, bit 16"


def test_object_is_the_current_object_only_for_the_outer_expression() -> None:
    ctx = context("amd")
    ctx.object = dwarf.evaluate(assemble(("addr", 0x2000)), ctx)  # type: ignore[assignment]
    assert outcome(dwarf.evaluate(assemble("push_object_address", ("offset_uconst", 4)), ctx)) == "memory at 0x2004"
    with pytest.raises(EVAL, match="no current object"):
        dwarf.evaluate(assemble(("entry_value", assemble("push_object_address"))), ctx)


@pytest.mark.parametrize(
    ("missing", "items"),
    [
        ({"lane": None}, ("push_lane",)),
        ({"lane": None}, ("lit0", "lit5", "form_aspace_address")),
        ({"iteration": None}, ("push_iteration",)),
        ({"pc": None}, (("call4", 0x21),)),
        ({"dies": None}, (("call4", 0x21),)),
        ({"debug_addr": None}, (("addrx", 0),)),
        ({"frame_base": None}, (("fbreg", 0),)),
    ],
)
def test_a_missing_context_element_is_an_evaluation_error(missing: dict[str, None], items: tuple[object, ...]) -> None:
    ctx = context("amd")
    for name, value in missing.items():
        setattr(ctx, name, value)
    with pytest.raises(EVAL):
        dwarf.evaluate(assemble(*items), ctx)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("attribute", "value", "operation"), [("lane", 64, "push_lane"), ("lane", -1, "push_lane"), ("iteration", 4, "push_iteration")]
)
def test_lane_and_iteration_out_of_range_are_ill_formed(attribute: str, value: int, operation: str) -> None:
    ctx = context("amd")
    setattr(ctx, attribute, value)
    with pytest.raises(ILL):
        dwarf.evaluate(assemble(operation), ctx)


FRAME_BASES: list[tuple[tuple[object, ...], object]] = [
    ((("addr", 0x2000),), "memory at 0x2008"),
    ((("regx", 16),), "memory at 0x1010"),  # a register represents breg 0
    ((("bregx", 16, 4),), "memory at 0x1014"),
    ((("call4", 0x21),), ILL),
    ((("regx", 40), ("piece", 4)), ILL),
    (("lit0", "stack_value"), ILL),
    (("undefined",), ILL),
    ((("fbreg", 0),), ILL),
    ((("regx", 40),), EVAL),
]


@pytest.mark.parametrize(("items", "expected"), FRAME_BASES)
def test_frame_base(items: tuple[object, ...], expected: object) -> None:
    ctx = context("amd")
    ctx.frame_base = assemble(*items)  # type: ignore[arg-type]
    if isinstance(expected, type):
        with pytest.raises(expected):
            dwarf.evaluate(assemble(("fbreg", 8)), ctx)
    else:
        assert outcome(dwarf.evaluate(assemble(("fbreg", 8)), ctx)) == expected


@pytest.mark.parametrize("listed", [False, True])
def test_a_frame_base_in_a_register_that_a_callee_has_saved(listed: bool) -> None:
    """In an outer frame, the register's location is where the register was saved; the saved value gives the frame base.
    """
    frame_base = assemble(("regx", 768))
    outer = dwarf.SimpleContext(
        pc=0x1000,
        memory={0: {0x3000: (0x5000).to_bytes(8, "little")}},
        frame_base=dwarf.LocationList([(0x1000, 0x2000, frame_base)]) if listed else frame_base,
    )
    outer.registers[768] = dwarf.evaluate_location(assemble(("addr", 0x3000)), outer)
    assert outcome(dwarf.evaluate(assemble(("fbreg", 8)), outer)) == "memory at 0x5008"


def test_errors_say_which_operation_where_and_why() -> None:
    with pytest.raises(EVAL) as caught:
        dwarf.evaluate(assemble("nop", ("regx", 40), "deref"), context("amd"))
    assert (caught.value.operation, caught.value.offset) == ("DW_OP_deref", 3)
    assert str(caught.value) == (
        "DW_OP_deref at offset 0x3: 64 bits from bit 0 reach beyond the 32 bits of register s8"
    )


def test_private_lane_n_address_spaces_belong_to_the_2020_proposal() -> None:
    items = ("lit0", ("constu", 0x20 + 9), "form_aspace_address")
    ctx = context("proposal2020")
    location = dwarf.evaluate(assemble(*items, dialect="proposal2020"), ctx, dialect="proposal2020")
    assert outcome(location) == "memory at private_lane9#0x0 of lane 9"
    with pytest.raises(ILL):
        dwarf.evaluate(assemble(*items), context("amd"))


def test_generic_addresses_reach_local_and_private_memory() -> None:
    ctx = context("amd")
    for address, expected in ((0x2001, 1), (0x1_0000_0000_0040, 0xAA), (0x2_0000_0000_0012, 3)):
        data = assemble(("constu", address), "lit1", "form_aspace_address", ("deref_size", 1))
        assert outcome(dwarf.evaluate(data, ctx)) == expected
