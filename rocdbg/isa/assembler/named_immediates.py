"""Parses immediates that have a syntax of their own; ``rocdbg.isa.immediates`` has the corresponding writers."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache

from rocdbg.isa.assembler.errors import Mismatch
from rocdbg.isa.assembler.line_syntax import elements
from rocdbg.isa.immediates import DELAY_IDS, DELAY_SKIPS, DEPENDENCY_COUNTERS, STYLES

Evaluate = Callable[[str], int]
"""The value of an absolute expression."""

_CALL = re.compile(r"([a-zA-Z_0-9]+)\s*\(([^()]*)\)")
Ranges = tuple[tuple[int, int], ...]


@cache
def _counters_of(style: str) -> dict[str, Ranges]:
    """The bits of each counter, low ones first. For ``waitcnt`` they are determined with the help of the style's
    writer.
    """
    if style.startswith("depctr"):
        counters = DEPENDENCY_COUNTERS if style == "depctr" else DEPENDENCY_COUNTERS[1:]
        return {name: ((low, mask.bit_length()),) for name, low, mask in counters}
    missing: dict[str, list[tuple[int, int]]] = {}
    for bit in range(16):
        waiting = _CALL.findall(STYLES[style](0xFFFF & ~(1 << bit), 16))
        if len(waiting) == 1:
            missing.setdefault(waiting[0][0], []).append((int(waiting[0][1]), bit))
    # Clearing the highest bit of a counter gives its lowest value.
    return {name: tuple((bit, 1) for _, bit in sorted(bits, reverse=True)) for name, bits in missing.items()}


def _calls(text: str) -> list[tuple[str, str]]:
    """``a(1) b(2)``, separated by `&', `|' or commas; raises Mismatch for anything else."""
    rest = _CALL.sub("", text)
    if rest.strip(" \t,&|"):
        raise Mismatch(f"`{text}' cannot be read: `{rest.strip()}' is unexpected")
    return [(match[1], match[2].strip()) for match in _CALL.finditer(text)]


def _counters(style: str, text: str, evaluate: Evaluate) -> int:
    known = _counters_of(style)
    value = 0
    for ranges in known.values():
        for low, size in ranges:
            value |= (1 << size) - 1 << low
    seen = set()
    for name, argument in _calls(text):
        key, saturates = name.lower().removesuffix("_sat"), name.lower().endswith("_sat")
        if key not in known:
            raise Mismatch(f"there is no counter `{name}' (there are {', '.join(sorted(known))})")
        if key in seen:
            raise Mismatch(f"the counter `{name}' is given twice")
        seen.add(key)
        count = evaluate(argument)
        most = (1 << sum(size for _, size in known[key])) - 1
        if saturates:
            count = min(count, most)
        if not 0 <= count <= most:
            raise Mismatch(f"the counter `{name}' must be 0 to {most}")
        for low, size in known[key]:
            mask = (1 << size) - 1
            value = value & ~(mask << low) | (count & mask) << low
            count >>= size
    return value


def _delays(text: str) -> int:
    value = 0
    seen = set()
    for name, argument in _calls(text):
        names, low = {
            "instid0": (DELAY_IDS, 0), "instskip": (DELAY_SKIPS, 4), "instid1": (DELAY_IDS, 7),
        }.get(name, ((), 0))
        if argument not in names:
            raise Mismatch(f"`{name}({argument})' is not a delay")
        if name in seen:
            raise Mismatch(f"`{name}' is given twice")
        seen.add(name)
        value |= names.index(argument) << low
    return value


def _arguments(text: str, name: str) -> list[str]:
    if not re.fullmatch(rf"{name}\s*\(.*\)", text, re.DOTALL):
        raise Mismatch(f"`{text}' is neither a number nor `{name}(...)'")
    return elements(text)


def _field(text: str, evaluate: Evaluate, low: int, high: int, what: str) -> int:
    value = evaluate(text)
    if not low <= value <= high:
        raise Mismatch(f"the {what} must be {low} to {high}, not {value}")
    return value


def hwreg(text: str, names: Mapping[int, str], evaluate: Evaluate) -> int:
    """``hwreg(HW_REG_MODE, 0, 4)``: register, lowest bit, number of bits."""
    arguments = _arguments(text, "hwreg")
    if len(arguments) not in (1, 3):
        raise Mismatch("hwreg takes a register, and optionally the lowest bit and the number of bits")
    known = {name: number for number, name in names.items()}
    register = known.get(arguments[0])
    if register is None:
        if re.match(r"[A-Za-z_]", arguments[0]):
            raise Mismatch(f"there is no hardware register `{arguments[0]}'")
        register = _field(arguments[0], evaluate, 0, 63, "number of a hardware register")
    offset, size = 0, 32
    if len(arguments) == 3:
        offset = _field(arguments[1], evaluate, 0, 31, "lowest bit")
        size = _field(arguments[2], evaluate, 1, 32, "number of bits")
    return register | offset << 6 | size - 1 << 11


def sendmsg(style: str, text: str, names: Mapping[int, str], evaluate: Evaluate) -> int:
    """``sendmsg(MSG_INTERRUPT)``, ``sendmsg(MSG_GS, GS_OP_EMIT, 0)``, or the same in numbers."""
    wanted = text.replace(" ", "")
    for code, name in names.items():
        if name.replace(" ", "") == wanted:
            return code
    arguments = _arguments(text, "sendmsg")
    if not 1 <= len(arguments) <= 3:
        raise Mismatch("sendmsg takes a message, an operation and a stream")
    wide = style == "sendmsg_gfx11"
    messages: dict[str, int] = {}
    operations: dict[str, int] = {}
    for code, name in names.items():
        known = elements(name)
        messages.setdefault(known[0], code if wide else code & 15)
        if len(known) > 1 and not known[1].isdigit():
            operations.setdefault(known[1], code >> 4 & 7)
    message = messages.get(arguments[0])
    if message is None:
        if re.match(r"[A-Za-z_]", arguments[0]):
            raise Mismatch(f"there is no message `{arguments[0]}'")
        message = _field(arguments[0], evaluate, 0, 255 if wide else 15, "message")
    rest = [
        operations[argument] if argument in operations
        else _field(argument, evaluate, 0, 7 if place == 0 else 3, "operation" if place == 0 else "stream")
        for place, argument in enumerate(arguments[1:])
    ]
    if wide:
        if any(rest):
            raise Mismatch("messages of this target take neither an operation nor a stream")
        return message
    operation, stream = (*rest, 0, 0)[:2]
    return message | operation << 4 | stream << 8


def _swizzle_masks(mode: str, arguments: list[str], evaluate: Evaluate) -> int | None:
    """The value for the mask modes, in which all lanes of a group do the same."""
    if mode == "BITMASK_PERM" and len(arguments) == 1:
        letters = arguments[0].strip('"')
        if not re.fullmatch(r"[01pi]{5}", letters):
            raise Mismatch("the mask of BITMASK_PERM must have five characters, each of them 0, 1, p or i")
        keep = force = flip = 0
        for bit, letter in zip((4, 3, 2, 1, 0), letters, strict=True):
            keep |= (letter in "pi") << bit
            force |= (letter == "1") << bit
            flip |= (letter == "i") << bit
        return keep | force << 5 | flip << 10
    if mode in ("SWAP", "REVERSE", "BROADCAST"):
        most = 16 if mode == "SWAP" else 32
        size = _field(arguments[0], evaluate, 1 if mode == "SWAP" else 2, most, "group size")
        if size & size - 1:
            raise Mismatch("the group size must be a power of two")
        if mode == "BROADCAST" and len(arguments) == 2:
            return 32 - size | _field(arguments[1], evaluate, 0, size - 1, "lane") << 5
        if mode != "BROADCAST" and len(arguments) == 1:
            return 31 | (size if mode == "SWAP" else size - 1) << 10
    return None


def swizzle(text: str, evaluate: Evaluate) -> int:
    """``swizzle(QUAD_PERM, 0, 1, 2, 3)`` and the other modes of ds_swizzle_b32."""
    mode, *arguments = _arguments(text, "swizzle") or [""]
    if mode == "QUAD_PERM" and len(arguments) == 4:
        lanes = [_field(lane, evaluate, 0, 3, "lane") for lane in arguments]
        return 0x8000 | sum(lane << 2 * place for place, lane in enumerate(lanes))
    if mode == "FFT" and len(arguments) == 1:
        return 0xE000 | _field(arguments[0], evaluate, 0, 31, "FFT mode")
    if mode == "ROTATE" and len(arguments) == 2:
        direction = _field(arguments[0], evaluate, 0, 1, "direction")
        return 0xC000 | direction << 10 | _field(arguments[1], evaluate, 0, 31, "distance") << 5
    value = _swizzle_masks(mode, arguments, evaluate) if arguments else None
    if value is None:
        raise Mismatch(f"`{text}' is not a swizzle mode with the right arguments")
    return value


def dpp8(text: str, evaluate: Evaluate) -> int:
    """``[0,1,2,3,4,5,6,7]``: the lane that each of eight lanes reads."""
    lanes = elements(text) if text.startswith("[") and text.endswith("]") else []
    if len(lanes) != 8:
        raise Mismatch("dpp8 takes eight lanes in brackets")
    return sum(_field(lane, evaluate, 0, 7, "lane") << 3 * place for place, lane in enumerate(lanes))


def named(style: str, text: str, names: Mapping[int, str], evaluate: Evaluate) -> int | None:
    """The value of an immediate of a style that has words; None if it is written as a number."""
    if style == "dpp8":
        return dpp8(text, evaluate)
    if "(" not in text or not re.match(r"[A-Za-z_]", text):
        return None
    if style.startswith(("waitcnt", "depctr")):
        return _counters(style, text, evaluate)
    if style == "delay_alu":
        return _delays(text)
    if style == "hwreg":
        return hwreg(text, names, evaluate)
    if style.startswith("sendmsg"):
        return sendmsg(style, text, names, evaluate)
    return swizzle(text, evaluate) if style in ("swizzle", "swizzle_gfx8") else None
