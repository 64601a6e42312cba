"""Register and constant operands: names, codes, and the parser for typed operands."""

from __future__ import annotations

import re
import struct
from collections.abc import Sequence

from msgspec import Struct

from rocdbg.arch.targets import Generation, Target, target_by_name
from rocdbg.errors import Error
from rocdbg.isa.instruction import OperandKind
from rocdbg.isa.operand_expressions import evaluate, floating

SPECIAL_CODES = {
    "flat_scratch_lo": 102, "flat_scratch_hi": 103, "xnack_mask_lo": 104, "xnack_mask_hi": 105,
    "vcc_lo": 106, "vcc_hi": 107, "tba_lo": 108, "tba_hi": 109, "tma_lo": 110, "tma_hi": 111,
    "exec_lo": 126, "exec_hi": 127,
    "src_flat_scratch_base_lo": 230, "src_flat_scratch_base_hi": 231,
    "src_shared_base": 235, "src_shared_limit": 236, "src_private_base": 237, "src_private_limit": 238,
    "src_pops_exiting_wave_id": 239, "src_vccz": 251, "src_execz": 252, "src_scc": 253, "src_lds_direct": 254,
}
"""Operand codes of the special registers; m0 and null depend on the generation."""

PAIRS = {
    "vcc": "vcc_lo", "exec": "exec_lo", "flat_scratch": "flat_scratch_lo", "xnack_mask": "xnack_mask_lo",
    "tba": "tba_lo", "tma": "tma_lo",
}
"""Names of 64-bit special registers, and their low halves."""

ALIASES = {
    "scc": "src_scc", "vccz": "src_vccz", "execz": "src_execz", "shared_base": "src_shared_base",
    "shared_limit": "src_shared_limit", "private_base": "src_private_base", "private_limit": "src_private_limit",
    "pops_exiting_wave_id": "src_pops_exiting_wave_id", "lds_direct": "src_lds_direct",
}
"""Names of special registers without ``src_``, and those that the encoding tables use."""

FLOAT_CONSTANTS = {
    240: 0.5, 241: -0.5, 242: 1.0, 243: -1.0, 244: 2.0, 245: -2.0, 246: 4.0, 247: -4.0,
}
"""Inline constants by operand code; 248 is 1/(2*pi), whose bits are in ``INV_2PI``."""
INV_2PI = {"f16": 0x3118, "bf16": 0x3E22, "f32": 0x3E22F983, "f64": 0x3FC45F306DC9C882}

FILES = {
    "v": OperandKind.VGPR, "a": OperandKind.AGPR, "acc": OperandKind.AGPR, "s": OperandKind.SGPR,
    "ttmp": OperandKind.TTMP,
}
"""Register files by the prefix before a register's number."""
_SINGLE = re.compile(r"^(ttmp|acc|[vas])(\d+)$", re.ASCII)
_HALF = re.compile(r"^(.*?)\.([lh])$")
_RANGE = re.compile(r"^(ttmp|acc|[vas])\s*\[([^][:]+)(?::([^][:]+))?\]$")

FILE_NAMES = {kind: prefix for prefix, kind in FILES.items() if prefix != "acc"}
"""The printed names of the register files."""
_MOST_DIGITS = 100
"""Limit on the digits of a register's number; a longer number is treated as a register that does not exist."""
_INFINITE = 0x7F800000
MAX_NESTED_LISTS = 8
"""Limit on nested lists: each of several image addresses may be in brackets of its own."""

_BEFORE_GFX9 = ("tba", "tma")
_SINCE_GFX9 = ("src_shared", "src_private", "src_pops")
_BEFORE_GFX10 = ("flat_scratch", "xnack_mask")
_BEFORE_GFX11 = ("src_vccz", "src_execz", "src_pops_exiting_wave_id", "src_lds_direct")


class OperandSyntaxError(Error):
    """A register or constant operand that is not understood; ``text`` is what was typed."""

    def __init__(self, text: str, reason: str) -> None:
        super().__init__(f"Invalid operand `{text}': {reason}.")
        self.text = text
        self.reason = reason


class Register(Struct, frozen=True):
    """A register, a range of registers or an inline constant as a user names it.

    ``index`` is the register number in its file, for SPECIAL the operand code; ``dwords`` the number of registers;
    ``half`` 0 or 1 for ``.l`` and ``.h``. For CONSTANT, ``value`` has 32 bits (64 for integers that need them) and
    ``index`` is the operand code, or -1 if it is not an inline constant.
    """

    kind: OperandKind
    index: int
    dwords: int = 1
    value: int = 0
    half: int | None = None


def special_code(name: str, target: Target) -> int | None:
    """Operand code of a special register of a target, or None if it has none with that name."""
    generation = target.generation
    if generation >= Generation.GFX10 and name.startswith(_BEFORE_GFX10):
        return None
    if name.startswith(_BEFORE_GFX9 if generation >= Generation.GFX9 else _SINCE_GFX9):
        return None
    if name.startswith("src_flat_scratch_base") and not target.is_gfx125:
        return None
    if name.startswith("xnack_mask") and generation <= Generation.GFX8 and not target.supports_xnack:
        return None
    if name == "src_lds_direct" and target.unified_vgprs:
        return None
    if generation <= Generation.GFX7 and name in ("flat_scratch_lo", "flat_scratch_hi"):
        return None if generation is Generation.GFX6 else SPECIAL_CODES[name] + 2
    if generation >= Generation.GFX11 and name in _BEFORE_GFX11:
        return None
    if name in ("m0", "null"):
        swapped = generation >= Generation.GFX11
        if name == "null" and generation < Generation.GFX10:
            return None
        return 124 if (name == "null") == swapped else 125
    return SPECIAL_CODES.get(name)


def is_missing(name: str, target: Target) -> bool:
    """Whether a word names a special register that other targets have, but this one does not."""
    return _is_special(name) and special_code(_low_name(name), target) is None


def _low_name(name: str) -> str:
    """The name in the encoding tables of a special register, or of the low half of a pair."""
    plain = ALIASES.get(name, name)
    return PAIRS.get(plain, plain)


def _is_special(name: str) -> bool:
    low = _low_name(name)
    return low in SPECIAL_CODES or low in ("m0", "null")


def is_register_name(name: str) -> bool:
    """Whether a word (``s7``, ``vcc_lo``, ``src_scc``) names a register of any target."""
    return _SINGLE.match(name) is not None or _is_special(name)


def special_register_names(target: Target) -> list[str]:
    """All names of special registers that instructions of a target can have."""
    names = ("m0", "null", *PAIRS, *SPECIAL_CODES, *ALIASES)
    return [name for name in names if special_code(_low_name(name), target) is not None]


def special_name(register: Register, target: Target) -> str:
    """The name of a special register by its code; with two registers, the name of the pair."""
    for name, low in PAIRS.items() if register.dwords == 2 else ():
        if special_code(low, target) == register.index:
            return name
    return next(name for name in ("m0", "null", *SPECIAL_CODES) if special_code(name, target) == register.index)


def register_text(register: Register, target: Target) -> str:
    """A register as it is printed: ``v5``, ``s[4:5]``, ``v1.h``, ``vcc``."""
    if register.kind is OperandKind.SPECIAL:
        return special_name(register, target)
    file, first = FILE_NAMES[register.kind], register.index
    half = "" if register.half is None else (".l", ".h")[register.half]
    return f"{file}{first}{half}" if register.dwords == 1 else f"{file}[{first}:{first + register.dwords - 1}]"


def float_bits(value: float, kind: str) -> int:
    """Bits of a float as ``f16``, ``bf16``, ``f32`` or ``f64``; exact for the inline constants."""
    if kind == "f16":
        return int(struct.unpack("<H", struct.pack("<e", value))[0])
    if kind == "f64":
        return int(struct.unpack("<Q", struct.pack("<d", value))[0])
    bits = int(struct.unpack("<I", struct.pack("<f", value))[0])
    return bits >> 16 if kind == "bf16" else bits


def _number(text: str, whole: str) -> int:
    value = _integer(text, whole)
    if value is None:
        raise OperandSyntaxError(whole, f"`{text}' is not an integer")
    return value


def _integer(text: str, whole: str) -> int | None:
    """The value of an absolute expression, or None if the text is not one."""
    try:
        return evaluate(text)
    except OverflowError:
        raise OperandSyntaxError(whole, "the constant does not fit into 64 bits") from None
    except ZeroDivisionError:
        raise OperandSyntaxError(whole, "the expression divides by zero") from None


def scalar_registers(target: Target) -> int:
    """Number of scalar registers that instructions can name."""
    if target.generation >= Generation.GFX10:
        return 106
    return 104 if target.generation <= Generation.GFX7 else 102


def trap_registers(target: Target) -> int:
    """Number of trap handler registers that instructions can name."""
    return 16 if target.generation >= Generation.GFX9 else 12


def register_count(prefix: str, target: Target) -> int:
    """Number of registers in a file (``s``, ``v``, ``a``, ``acc``, ``ttmp``) that instructions can name; 0 if it does
    not exist."""
    if prefix == "s":
        return scalar_registers(target)
    if prefix in ("a", "acc") and not target.has_agprs:
        return 0
    return trap_registers(target) if prefix == "ttmp" else target.vgpr_file


def register_range(
    prefix: str, low: int, high: int, target: Target, text: str, of_operand: bool = True
) -> Register:
    """Registers ``low`` to ``high`` of a file; ``text`` is what was typed. Raises OperandSyntaxError.

    For an operand, size and alignment must be possible in encodings; otherwise any run of registers is accepted.
    """
    kind = FILES[prefix]
    if kind is OperandKind.AGPR and not target.has_agprs:
        raise OperandSyntaxError(text, f"{target.name} has no accumulation registers")
    if high < low:
        raise OperandSyntaxError(text, "the range is empty")
    limit = register_count(prefix, target)
    if low < 0 or high >= limit:
        raise OperandSyntaxError(text, f"{target.name} has registers {prefix}0 to {prefix}{limit - 1}")
    count = high - low + 1
    if not of_operand:
        return Register(kind, low, count)
    if count > 12 and count not in ((16,) if prefix == "ttmp" else (16, 32)):
        raise OperandSyntaxError(
            text, f"a range must have 1 to 12{', 16 or 32' if prefix != 'ttmp' else ' or 16'} registers"
        )
    alignment = 1
    if kind in (OperandKind.SGPR, OperandKind.TTMP):
        alignment = min(count if count < 3 else 4, 4)
    elif target.unified_vgprs and count > 1:
        alignment = 2
    if low % alignment:
        raise OperandSyntaxError(text, f"the range must start at a multiple of {alignment}")
    return Register(kind, low, count)


def register_half(register: Register, half: str, target: Target, text: str) -> Register:
    """``v1.l`` and ``v1.h``: a half of a vector register. Raises OperandSyntaxError."""
    if register.kind is not OperandKind.VGPR or target.generation < Generation.GFX11:
        raise OperandSyntaxError(text, "only vector registers of gfx11 and later have halves")
    if register.dwords != 1 or register.half is not None:
        raise OperandSyntaxError(text, "only single registers have halves")
    return Register(register.kind, register.index, 1, half=int(half == "h"))


def register_list(parts: Sequence[Register], target: Target, text: str) -> Register:
    """``[v1,v2,v3]``: consecutive registers of one file, or both halves of a special one. Raises OperandSyntaxError."""
    if not parts:
        raise OperandSyntaxError(text, "the list is empty")
    first = parts[0]
    if len(parts) == 1 and first.kind is not OperandKind.CONSTANT:
        if first.dwords > 1 and first.kind is not OperandKind.SPECIAL:
            raise OperandSyntaxError(text, "the elements of a list must be single registers")
        return first
    if first.kind in (OperandKind.CONSTANT, OperandKind.OFF) or any(
        p.kind is not first.kind or p.index != first.index + i or p.dwords != 1 for i, p in enumerate(parts)
    ):
        raise OperandSyntaxError(text, "the registers of a list must be of one kind and consecutive")
    if first.kind is OperandKind.SPECIAL:
        if len(parts) != 2 or first.index not in {special_code(low, target) for low in PAIRS.values()}:
            raise OperandSyntaxError(text, "the registers of a list must be of one kind and consecutive")
        return Register(first.kind, first.index, 2)
    return register_range(FILE_NAMES[first.kind], first.index, first.index + len(parts) - 1, target, text)


def named_register(name: str, target: Target, wave_size: int, text: str) -> Register | None:
    """The register named by one word (``v5``, ``acc7``, ``ttmp3``, ``vcc``, ``vcc_lo``, ``m0``, ``null``, ``scc``);
    None if it is not a register of any target. Raises OperandSyntaxError if only this target does not have it; ``text``
    is what was typed.
    """
    if match := _SINGLE.match(name):
        number = int(match[2]) if len(match[2]) <= _MOST_DIGITS else 10**_MOST_DIGITS
        return register_range(match[1], number, number, target, text)
    if not _is_special(name):
        return None
    code = special_code(_low_name(name), target)
    if code is None:
        raise OperandSyntaxError(text, f"{target.name} has no such register")
    narrow = wave_size == 32 and name in ("vcc", "exec")
    return Register(OperandKind.SPECIAL, code, 2 if name in PAIRS and not narrow else 1)


def parse_register(text: str, target: str | Target, wave_size: int | None = None) -> Register:
    """Read a register or constant operand in assembler syntax, with or without a leading ``$``.

    ``v5``, ``v[0:3]``, ``[s4,s5]``, ``a7``, ``acc7``, ``ttmp[4:5]``, ``s[2*2]``, ``v3.h``, ``vcc``, ``vcc_lo``,
    ``exec``, ``m0``, ``null``, ``src_scc``/``scc``, ``off``; ``64``, ``-16``, ``0.5``, ``0x1p-3``, ``0ffh``,
    ``(1<<4)+1``, ``lit(5)`` (never an inline constant). ``vcc`` and ``exec`` have two registers in wave64 and one in
    wave32. Raises OperandSyntaxError.
    """
    target = target_by_name(target) if isinstance(target, str) else target
    if wave_size is None:
        wave_size = 32 if target.generation >= Generation.GFX10 else 64
    return _parse(text.strip().removeprefix("$").lower(), target, wave_size, text, 0)


def _parse(name: str, target: Target, wave_size: int, text: str, depth: int) -> Register:
    if name.startswith("[") and name.endswith("]"):
        if depth > MAX_NESTED_LISTS:
            raise OperandSyntaxError(text, "the lists are nested too deeply")
        inner = name[1:-1].split(",") if name[1:-1].strip() else []
        parts = [_parse(part.strip(), target, wave_size, text, depth + 1) for part in inner]
        return register_list(parts, target, text)
    if match := _HALF.match(name):
        if (whole := _plain(match[1], target, wave_size, text)) is not None:
            return register_half(whole, match[2], target, text)
    elif (register := _plain(name, target, wave_size, text)) is not None:
        return register
    if name == "off":
        return Register(OperandKind.OFF, -1, 0)
    return _constant(name, text)


def _plain(name: str, target: Target, wave_size: int, text: str) -> Register | None:
    """A register or a range, without a suffix for a half; None if it is neither."""
    if match := _RANGE.match(name):
        low = _number(match[2], text)
        return register_range(match[1], low, _number(match[3], text) if match[3] else low, target, text)
    return named_register(name, target, wave_size, text)


def _constant(name: str, text: str) -> Register:
    literal = name.startswith("lit(") and name.endswith(")")
    number = name[4:-1].strip() if literal else name
    try:
        value = floating(number)
    except OverflowError:
        raise OperandSyntaxError(text, "the constant is not a 64-bit floating-point number") from None
    if value is not None:
        return _float_constant(value, text, literal)
    integer = _integer(number, text)
    if integer is None:
        raise OperandSyntaxError(text, "it is neither a register nor a constant")
    short = integer - (1 << 32) if 0xFFFFFFF0 <= integer < 1 << 32 else integer
    code = 128 + short if 0 <= short <= 64 else 192 - short if -16 <= short < 0 else -1
    width = 32 if -(1 << 31) <= integer < 1 << 32 else 64
    return Register(OperandKind.CONSTANT, -1 if literal else code, width // 32, integer & ((1 << width) - 1))


def _float_constant(value: float, text: str, literal: bool) -> Register:
    """A floating-point number, as a 32-bit float."""
    if value in (0.1592, 0.15915494, 0.15915494309189532):
        bits, code = INV_2PI["f32"], 248
    else:
        try:
            bits = float_bits(value, "f32")
        except OverflowError:
            bits = _INFINITE
        if bits & _INFINITE == _INFINITE:
            raise OperandSyntaxError(text, "the constant does not fit into a 32-bit float")
        code = 128 if bits == 0 else next((c for c, v in FLOAT_CONSTANTS.items() if v == value), -1)
    return Register(OperandKind.CONSTANT, -1 if literal else code, 1, bits)
