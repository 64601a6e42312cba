"""Every operator on every two arithmetic types: value and type equal those of a C compiler."""

from __future__ import annotations

import itertools
import random
import re
import struct
import subprocess
from collections.abc import Iterator

import pytest

from rocdbg.debugger import Session

VALUES = {
    "char": ("-5", "100"), "unsigned char": ("200", "3"), "short": ("-300", "7"), "unsigned short": ("65000", "2"),
    "int": ("-7", "1000000"), "unsigned int": ("4294967290", "9"), "long": ("-5000000000", "3"),
    "unsigned long": ("18446744073709551610", "5"), "float": ("-2.5", "3.25"), "double": ("1.5", "-7.125"),
}
FLOATS = ("float", "double")
WIDE = ("int", "unsigned int", "long", "unsigned long", *FLOATS)
"""The types that results can have."""


def operands(types: tuple[str, ...], first: int) -> Iterator[tuple[str, str]]:
    """Every pair of types: the first one's value with an index, and the second one's other value."""
    for one, other in itertools.product(types, repeat=2):
        yield f"({one}) {VALUES[one][first]}", f"({other}) {VALUES[other][1 - first]}"


def expressions() -> list[str]:
    whole = tuple(one for one in VALUES if one not in FLOATS)
    found = [f"{a} {op} {b}" for a, b in operands(tuple(VALUES), 0) for op in ("-", "*", "/", "<", "!=")]
    found += [f"{a} {op} {b}" for a, b in operands(tuple(VALUES), 1) for op in ("+", ">=")]
    found += [f"{a} {op} {b}" for a, b in operands(whole, 0) for op in ("%", "|", "^")]
    found += [f"{a} {op} {b}" for a, b in operands(whole, 1) for op in ("&", "<=", "==")]
    found += [f"({one}) {VALUES[one][0]} {op} ({other}) 3" for one in whole for other in whole for op in ("<<", ">>")]
    found += [f"{op}({one}) {value}" for one, both in VALUES.items() for value in both for op in ("-", "+", "!")]
    return found + [f"~({one}) {value}" for one in whole for value in VALUES[one]]


def compiled(texts: list[str]) -> list[tuple[str, float]]:
    """Type and value of each expression, from a C compiler that writes constants; nothing runs."""
    kind = "".join(f", {name}: {number}" for number, name in enumerate(WIDE))
    source = "".join(
        f"const char t{n} = _Generic({text}{kind});\nconst long i{n} = (long) ({text});\nconst double d{n} = {text};\n"
        for n, text in enumerate(texts)
    )
    command = ["clang-22", "-x", "c", "-S", "-emit-llvm", "-O0", "-w", "-Wno-parentheses", "-fwrapv", "-o", "-", "-"]
    text = subprocess.run(command, input=source, capture_output=True, text=True, check=True).stdout
    found = dict(re.findall(r"^@(\w+) = dso_local constant \w+ ([^,]+),", text, re.MULTILINE))
    made = []
    for n in range(len(texts)):
        type_ = WIDE[int(found[f"t{n}"])]
        whole = int(found[f"i{n}"]) % (1 << 64) if type_ == "unsigned long" else int(found[f"i{n}"])
        made.append((type_, _float(found[f"d{n}"]) if type_ in FLOATS else whole))
    return made


def _float(text: str) -> float:
    found: tuple[float] = struct.unpack(">d", bytes.fromhex(text[2:])) if text.startswith("0x") else (float(text),)
    return found[0]


def mixtures(choose: random.Random) -> Iterator[str]:
    """Operators of all precedences without brackets. Right operands of shifts stay small."""
    any_ = ("|", "^", "&", "==", "!=", "<", ">", "<=", ">=", "+", "-", "*", "/", "%", "&&", "||")
    shifts = ("<<", ">>", "+", "|", "^", "&", "==", "<")
    for n in range(300):
        operators = shifts if n % 3 == 0 else any_
        count = choose.randrange(3, 5 if operators is shifts else 7)
        words = [str(choose.randrange(1, 4 if operators is shifts else 20)) for _ in range(count)]
        text = words[0]
        for word in words[1:]:
            operator = choose.choice(operators)
            signs = ("", "", "-", "~") if operator in ("/", "%") else ("", "", "-", "~", "!")  # no division by !5
            text += f" {operator} {choose.choice(signs) if operators is any_ else ''}{word}"
        yield f"{text} ? {words[0]} : {text}" if n % 10 == 1 else text


@pytest.mark.llvm
def test_as_a_compiler_computes() -> None:
    session = Session()
    texts = expressions() + list(mixtures(random.Random(7)))
    wrong = []
    for text, (type_, value) in zip(texts, compiled(texts), strict=True):
        got = session.data.evaluate(text)
        number = got.as_float() if type_ in FLOATS else got.as_int()
        if (str(got.type), number) != (type_, value):
            wrong.append((text, str(got.type), number, type_, value))
    assert wrong == []
