"""Texts of operands as people may write them: numbers of every notation and size, expressions, floating-point numbers
at the limits of their formats, registers by range, list and expression, source modifiers.
"""

from __future__ import annotations

import random
import struct
from collections.abc import Iterator

from rocdbg.isa.decoder import decoder_for
from rocdbg.isa.generate.sample_words import encodings
from tests.isa.soak.mistyped import joined, split

_BINARY = ("+", "-", "*", "/", "%", "<<", ">>", "&", "|", "^", "!", "==", "!=", "<>", "<", "<=", ">", ">=", "&&", "||")
_SPECIAL = (
    "vcc", "vcc_lo", "vcc_hi", "exec", "exec_lo", "exec_hi", "m0", "null", "scc", "src_scc", "vccz", "src_execz",
    "flat_scratch", "flat_scratch_lo", "flat_scratch_hi", "xnack_mask", "xnack_mask_lo", "tba", "tba_hi", "tma",
    "tma_lo", "shared_base", "src_shared_limit", "private_base", "src_private_limit", "pops_exiting_wave_id",
    "src_lds_direct", "lds_direct", "off",
)
_LIMITS = (
    0.0, 0.1592, 0.15915494, 0.15915494309189532, 0.5, 1.0, 2.0, 4.0, 1.5, 3.0, 8.0,
    65504.0, 65519.0, 65519.999, 65520.0, 65536.0, 6.103515625e-05, 5.960464477539063e-08, 2.98e-08, 2.9e-08,
    3.3895313892515355e38, 3.394e38, 3.4e38, 3.4028234663852886e38, 3.4028235677973366e38, 3.5e38, 1.17549435e-38,
    9.183549615799121e-41, 4.591774807899561e-41, 4.6e-41, 1.401298464324817e-45, 7.0e-46, 7.1e-46, 1e-46,
    1.7976931348623157e308, 1.7976922776554302e308, 2.2250738585072014e-308, 5e-324, 0.1, 1 / 3, 3.14159265358979,
)
"""Inline constants, and the largest and smallest numbers of f16, bf16, f32 and f64 with what is beyond."""


_FIRST = (0, 0, 1, 2, 3, 4, 8, 12, 14, 16, 40, 100, 101, 102, 103, 104, 105, 106, 127, 128, 254, 255)


def integer(generator: random.Random) -> str:
    """A number in any notation."""
    if generator.random() < 0.5:
        value = (1 << generator.choice((0, 1, 4, 5, 6, 8, 12, 15, 16, 20, 24, 31, 32, 33, 48, 63, 64))) + (
            generator.choice((-2, -1, 0, 1))
        )
    else:
        value = generator.choice((
            generator.randrange(-20, 70), generator.getrandbits(16), generator.getrandbits(32),
            generator.getrandbits(64), 0xFFFFFFFF00000000 | generator.getrandbits(32), generator.getrandbits(8) << 56,
        ))
    sign = "-" if value < 0 or generator.random() < 0.3 else ""
    value = abs(value)
    return sign + generator.choice((f"{value}", f"{value:#x}", f"{value:#X}".replace("X", "x"), f"{value:#b}",
                                    f"0{value:o}" if value else "0"))


def expression(generator: random.Random, depth: int = 0) -> str:
    """An integer expression."""
    if depth > 3 or generator.random() < 0.3:
        return generator.choice((str(generator.randrange(70)), integer(generator), f"{generator.randrange(64)}"))
    choice = generator.random()
    if choice < 0.2:
        return generator.choice("-+~!") + expression(generator, depth + 1)
    if choice < 0.4:
        return f"({expression(generator, depth + 1)})"
    operator = generator.choice(_BINARY)
    right = str(generator.randrange(64)) if operator in ("<<", ">>") else expression(generator, depth + 1)
    if operator in ("<<", ">>"):
        return f"({expression(generator, depth + 1)}){operator}{right}"
    space = generator.choice(("", "", " "))
    return f"{expression(generator, depth + 1)}{space}{operator}{space}{right}"


def floating(generator: random.Random) -> str:
    """A floating-point number."""
    value = generator.choice(_LIMITS) if generator.random() < 0.7 else struct.unpack(
        "<f", struct.pack("<I", generator.getrandbits(31) & 0x7F7FFFFF)
    )[0]
    if generator.random() < 0.1:
        value = float(generator.randrange(1, 200)) / generator.choice((1, 2, 4, 8, 64, 3))
    sign = generator.choice(("", "", "-", "- "))
    text = generator.choice((repr(value), repr(value), f"{value:.5e}", value.hex(), f"{value:.3f}"))
    return sign + (text if "." in text or "e" in text or "p" in text else text + ".0")


def register(generator: random.Random) -> str:
    """A register, a range or a list, which the target may not have."""
    file = generator.choice(("v", "v", "s", "s", "a", "acc", "ttmp"))
    count = generator.choice((1, 1, 1, 2, 2, 3, 4, 5, 6, 8, 12, 13, 16, 32))
    first = generator.choice(_FIRST)
    last = first + count - 1
    choice = generator.random()
    if choice < 0.15:
        names = [f"{file}{n}" if generator.random() < 0.8 else f"{file}[{n}]" for n in range(first, min(last + 1, 20))]
        if generator.random() < 0.1:
            generator.shuffle(names)
        return f"[{generator.choice((', ', ',')).join(names)}]" if names else f"[{file}{first}]"
    if choice < 0.3:
        shift = generator.randrange(4)
        return f"{file}[{first}+{shift}-{shift}:{last * 2}/2]" if count > 1 else f"{file}[{first}*1]"
    if choice < 0.35:
        low = generator.choice(("vcc", "exec", "flat_scratch", "xnack_mask", "tba", "tma"))
        return generator.choice((f"[{low}_lo,{low}_hi]", f"[{low}]", f"[{low}_hi]", f"[{low}_hi,{low}_lo]"))
    if count > 1:
        return f"{file}[{first}:{last}]"
    half = generator.choice((".l", ".h")) if file == "v" and generator.random() < 0.15 else ""
    return generator.choice((f"{file}{first}{half}", f"{file}[{first}]{half}", f"{file}[{first}:{first}]"))


def operand(generator: random.Random) -> str:
    """A random operand, possibly with modifiers."""
    text = generator.choices(
        (integer, expression, floating, register, lambda chosen: chosen.choice(_SPECIAL)), (4, 4, 5, 4, 1)
    )[0](generator)
    choice = generator.random()
    if choice < 0.08:
        return f"lit({text})"
    if choice < 0.1:
        return f"lit64({text})"
    if choice < 0.16:
        return generator.choice(("-{}", "|{}|", "-|{}|", "abs({})", "neg({})", "neg(abs({}))", "sext({})")).format(text)
    if choice < 0.17:
        return generator.choice((f"/*c*/{text}", f"{text} /* c */", f"[{text}]", f"({text})"))
    return text


def texts(target: str, every: int, each: int, generator: random.Random) -> Iterator[str]:
    """Printed instructions of a target, each of them ``each`` times with one operand replaced."""
    decoder = decoder_for(target)
    for _, word in encodings(target, every, 16, generator):
        instruction = decoder.decode(word.to_bytes(24, "little")[:20])
        if instruction.illegal or "/*" in instruction.text or " :: " in instruction.text:
            continue
        for _ in range(each):
            mnemonic, operands, modifiers = split(instruction.text)
            if operands:
                operands[generator.randrange(len(operands))] = operand(generator)
                yield joined(mnemonic, operands, modifiers)
