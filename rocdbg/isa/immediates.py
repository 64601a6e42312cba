"""How immediate fields are printed: one small function per style. The tables name the style of each field.

Both the decoder and the generator use them; the generator picks the style that reproduces LLVM's text for every value
that it tries, so a wrong style is always noticed.
"""

from __future__ import annotations

from collections.abc import Callable


def _signed(value: int, width: int) -> int:
    return value - (1 << width) if value >> (width - 1) & 1 else value


def unsigned(value: int, width: int) -> str:
    return str(value)


def signed(value: int, width: int) -> str:
    return str(_signed(value, width))


def hexadecimal(value: int, width: int) -> str:
    return hex(value)


def signed_hexadecimal(value: int, width: int) -> str:
    return hex(_signed(value, width))


def small_decimal(value: int, width: int) -> str:
    """Decimal where it would be an inline constant, otherwise hexadecimal."""
    return str(value) if value <= 64 else hex(value)


def signed16_mixed(value: int, width: int) -> str:
    value = _signed(value, width)
    return str(value) if -16 <= value <= 64 else hex(value & ((1 << width) - 1))


def optional_unsigned(value: int, width: int) -> str:
    return str(value) if value else ""


def _counters(value: int, counters: tuple[tuple[str, int, int], ...]) -> str:
    """The text of the counters for which the instruction waits, or of all counters if it does not wait for any."""
    parts = [(name, value & mask, mask) for name, value, mask in ((n, value >> s, m) for n, s, m in counters)]
    waiting = [f"{name}({count})" for name, count, mask in parts if count != mask]
    return " ".join(waiting or [f"{name}({count})" for name, count, _ in parts])


def waitcnt_gfx6(value: int, width: int) -> str:
    return _counters(value & 15 | (value >> 4 & 7) << 8 | (value >> 8 & 15) << 16,
                     (("vmcnt", 0, 15), ("expcnt", 8, 7), ("lgkmcnt", 16, 15)))


def waitcnt_gfx9(value: int, width: int) -> str:
    vm = (value & 15) | (value >> 10 & 0x30)
    return _counters(vm | (value >> 4 & 7) << 8 | (value >> 8 & 15) << 16,
                     (("vmcnt", 0, 63), ("expcnt", 8, 7), ("lgkmcnt", 16, 15)))


def waitcnt_gfx10(value: int, width: int) -> str:
    vm = (value & 15) | (value >> 10 & 0x30)
    return _counters(vm | (value >> 4 & 7) << 8 | (value >> 8 & 63) << 16,
                     (("vmcnt", 0, 63), ("expcnt", 8, 7), ("lgkmcnt", 16, 63)))


def waitcnt_gfx11(value: int, width: int) -> str:
    return _counters((value >> 10 & 63) | (value & 7) << 8 | (value >> 4 & 63) << 16,
                     (("vmcnt", 0, 63), ("expcnt", 8, 7), ("lgkmcnt", 16, 63)))


DEPENDENCY_COUNTERS = (
    ("depctr_hold_cnt", 7, 1), ("depctr_sa_sdst", 0, 1), ("depctr_va_vdst", 12, 15), ("depctr_va_sdst", 9, 7),
    ("depctr_va_ssrc", 8, 1), ("depctr_va_vcc", 1, 1), ("depctr_vm_vsrc", 2, 7),
)
"""Name, lowest bit and mask; gfx10.1 does not have the first."""


def depctr(value: int, width: int) -> str:
    if value & 0x60:
        return hex(value)
    return _counters(value, DEPENDENCY_COUNTERS)


def depctr_gfx10(value: int, width: int) -> str:
    """Before gfx10.3 there is no hold count."""
    if value & 0xE0:
        return hex(value)
    return _counters(value, DEPENDENCY_COUNTERS[1:])


DELAY_IDS = (
    "NO_DEP", "VALU_DEP_1", "VALU_DEP_2", "VALU_DEP_3", "VALU_DEP_4", "TRANS32_DEP_1", "TRANS32_DEP_2",
    "TRANS32_DEP_3", "FMA_ACCUM_CYCLE_1", "SALU_CYCLE_1", "SALU_CYCLE_2", "SALU_CYCLE_3",
)
DELAY_SKIPS = ("SAME", "NEXT", "SKIP_1", "SKIP_2", "SKIP_3", "SKIP_4")


def delay_alu(value: int, width: int) -> str:
    def identifier(code: int) -> str:
        return DELAY_IDS[code] if code < len(DELAY_IDS) else "/* invalid instid value */"

    first, skip, second = value & 15, value >> 4 & 7, value >> 7 & 15
    parts = []
    if first:
        parts.append(f"instid0({identifier(first)})")
    if skip:
        name = DELAY_SKIPS[skip] if skip < len(DELAY_SKIPS) else "/* invalid instskip value */"
        parts.append(f"instskip({name})")
    if second:
        parts.append(f"instid1({identifier(second)})")
    return " | ".join(parts) or "0"


def dpp8(value: int, width: int) -> str:
    return "[" + ",".join(str(value >> 3 * lane & 7) for lane in range(8)) + "]"


def sendmsg_gfx9(value: int, width: int) -> str:
    """A message; one that the assembler cannot name is printed as numbers: identifier, operation, stream."""
    if value & ~0x37F:
        return str(value)
    return f"sendmsg({value & 15}, {value >> 4 & 7}, {value >> 8 & 3})"


def sendmsg_gfx11(value: int, width: int) -> str:
    return f"sendmsg({value}, 0, 0)" if value < 256 else str(value)


def swizzle(value: int, width: int) -> str:
    """ds_swizzle_b32: the offset encodes a permutation of lanes."""
    if value == 0:
        return "0"
    if value >> 13 == 7:
        return f"swizzle(FFT,{value & 31})"
    if value >> 13 == 6:
        return f"swizzle(ROTATE,{value >> 10 & 1},{value >> 5 & 31})"
    if value >> 8 == 0x80:
        return "swizzle(QUAD_PERM," + ",".join(str(value >> 2 * i & 3) for i in range(4)) + ")"
    if value >> 15:
        return str(value)
    keep, force, flip = value & 31, value >> 5 & 31, value >> 10 & 31
    if keep == 31 and force == 0 and flip.bit_count() == 1:
        return f"swizzle(SWAP,{flip})"
    if keep == 31 and force == 0 and flip and flip & (flip + 1) == 0:
        return f"swizzle(REVERSE,{flip + 1})"
    group = 32 - keep
    if keep < 31 and group & (group - 1) == 0 and flip == 0 and force < group and (group > 1):
        return f"swizzle(BROADCAST,{group},{force})"
    letters = []
    for bit in reversed(range(5)):
        kept, set_, flipped = keep >> bit & 1, force >> bit & 1, flip >> bit & 1
        if kept and not set_:
            letters.append("i" if flipped else "p")
        else:
            letters.append(str(set_ ^ flipped))
    return f'swizzle(BITMASK_PERM,"{"".join(letters)}")'


def swizzle_gfx8(value: int, width: int) -> str:
    """Before GFX9, only quads and masks exist."""
    return str(value) if value >> 15 and value >> 8 != 0x80 else swizzle(value, width)


Style = Callable[[int, int], str]
STYLES: dict[str, Style] = {
    f.__name__: f
    for f in (
        unsigned, signed, hexadecimal, signed_hexadecimal, small_decimal, signed16_mixed, optional_unsigned,
        waitcnt_gfx6, waitcnt_gfx9, waitcnt_gfx10, waitcnt_gfx11, depctr, depctr_gfx10, delay_alu, dpp8,
        sendmsg_gfx9, sendmsg_gfx11, swizzle, swizzle_gfx8,
    )
}


EXCEPTION_MASKS = {"sendmsg_gfx9": 0x37F, "sendmsg_gfx11": 0xFF}
"""By style with names for some values: the bits that select the name."""


def hwreg(value: int, names: dict[int, str]) -> str:
    """Text of an s_getreg/s_setreg operand; ``names`` are the registers that the target can name."""
    number, offset, size = value & 63, value >> 6 & 31, (value >> 11 & 31) + 1
    name = names.get(number, str(number))
    return f"hwreg({name})" if (offset, size) == (0, 32) else f"hwreg({name}, {offset}, {size})"


# Literal constants. A literal that could have been an inline constant is marked with lit(); whether it could depends on
# the type of the operand, so an operand's style of literals is also its type.
_FLOATS32 = {
    0x3F000000: "0.5", 0xBF000000: "-0.5", 0x3F800000: "1.0", 0xBF800000: "-1.0", 0x40000000: "2.0",
    0xC0000000: "-2.0", 0x40800000: "4.0", 0xC0800000: "-4.0", 0x3E22F983: "0.15915494",
}
_INTEGERS16 = frozenset(v & 0xFFFF for v in range(-16, 65))
_INTEGERS32 = frozenset(v & 0xFFFFFFFF for v in range(-16, 65))
_INLINE32 = _INTEGERS32 | frozenset(_FLOATS32)
_F16 = frozenset({0x3800, 0xB800, 0x3C00, 0xBC00, 0x4000, 0xC000, 0x4400, 0xC400, 0x3118})
_BF16 = frozenset(v >> 16 for v in _FLOATS32)
_F64_HIGH = {
    0x00000000: "0", 0x3FE00000: "0.5", 0xBFE00000: "-0.5", 0x3FF00000: "1.0", 0xBFF00000: "-1.0",
    0x40000000: "2.0", 0xC0000000: "-2.0", 0x40100000: "4.0", 0xC0100000: "-4.0",
}


def _marked(value: int, inline: bool, otherwise: int) -> str:
    return f"lit({value:#x})" if inline else hex(otherwise)


def _b64(value: int) -> str:
    return _marked(value, value <= 64, value)


def _word(value: int) -> str:
    if value in _FLOATS32:
        text = _FLOATS32[value]
    elif value in _INTEGERS32:
        text = signed(value, 32)
    else:
        text = hex(value)
    return text


def _invalid(value: int) -> str:
    """A literal that LLVM decodes although the operand does not allow one."""
    return _word(value) + "/*Invalid immediate*/"


LITERAL_STYLES: dict[str, Callable[[int], str]] = {
    "b32": lambda v: _marked(v, v in _INLINE32, v),
    "b32i": lambda v: _marked(v, v in _INLINE32 and v != 0x3E22F983, v),
    "f16i": lambda v: _marked(v, v & 0xFFFF in (_F16 - {0x3118}) | _INTEGERS16, v & 0xFFFF),
    "f64i": lambda v: _marked(v, v <= 64 or v in _F64_HIGH, v),
    "f16": lambda v: _marked(v, v & 0xFFFF in _F16 | _INTEGERS16, v & 0xFFFF),
    "bf16": lambda v: _marked(v, v & 0xFFFF in _BF16 | _INTEGERS16, v & 0xFFFF),
    "b16": lambda v: _marked(v, v in _INLINE32, v & 0xFFFF),
    "v2f16": lambda v: _marked(v, v in _F16 | _INTEGERS32, v),
    "v2bf16": lambda v: _marked(v, v in _BF16 | _INTEGERS32, v),
    "b64": _b64,
    "f64": lambda v: _F64_HIGH.get(v, hex(v)),
    "v2f16l": lambda v: _marked(v, v & 0xFFFF in _F16 | _INTEGERS16, v),
    "v2bf16l": lambda v: _marked(v, v & 0xFFFF in _BF16 | _INTEGERS16, v),
    "v2f16i": lambda v: _marked(v, v in _INTEGERS32, v),
    "k": hex,
    "k64": lambda v: f"lit64({v:#x})",
    "word": _word,
    "plain": lambda v: signed(v, 32) if v in _INTEGERS32 else hex(v),
    "invalid": _invalid,
}
"""By operand type. ``k`` is the constant of fmaak and its like, ``k64`` one of 64 bits, ``word`` that of
s_setreg_imm32_b32, ``plain`` never marks inline constants; a final ``l`` or ``i`` is not part of the type, but means
that the operand uses only the low half, or only integers. Before GFX8, 1/(2*pi) does not exist: ``b32i``, ``f16i``;
``f64i`` is marked as assemblers for these targets require.
"""

_WIDE_FLOATS = {
    0x3FE0000000000000: "0.5", 0xBFE0000000000000: "-0.5", 0x3FF0000000000000: "1.0", 0xBFF0000000000000: "-1.0",
    0x4000000000000000: "2.0", 0xC000000000000000: "-2.0", 0x4010000000000000: "4.0", 0xC010000000000000: "-4.0",
    0x3FC45F306DC9C882: "0.15915494309189532",
}


def wide_literal(value: int, style: str, dwords: int = 2) -> str:
    """A 64-bit literal (GFX1250) of an operand of ``dwords`` registers whose 32-bit literals have this style.

    Small numbers are marked, because an assembler would encode them as an inline constant or a 32-bit literal. Narrow
    operands have the low half.
    """
    if value < 1 << 32:
        return f"lit64({value:#x})"
    if dwords == 1:
        return _word(value & 0xFFFFFFFF)
    if value in _WIDE_FLOATS:
        return _WIDE_FLOATS[value]
    if value >= (1 << 64) - 16:
        return str(value - (1 << 64))
    return hex(value >> 32) if style == "f64" and not value & 0xFFFFFFFF else hex(value)


def wide_constant(value: int) -> str:
    """The 64-bit constant of v_fmaak_f64 and v_fmamk_f64."""
    return f"lit64({value:#x})" if value < 1 << 32 else hex(value if value & 0xFFFFFFFF else value >> 32)
