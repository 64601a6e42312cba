"""The document on operand syntax, section by section: each example and rule is a row with the typed text and the
result.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from rocdbg import isa
from rocdbg.isa.generate.llvm_assembler import Assembler

SYMBOLS = {"label": 0x1100, "table": 0x2000, "kernel": 0x1000}
ADDRESS = 0x1000
TAKEN, REFUSED = (
    Path(__file__).with_name(f"operand_syntax_{name}.txt").read_text(encoding="utf-8") for name in ("taken", "refused")
)


def rows(table: str) -> list[tuple[str, bool, list[str]]]:
    """Target, whether llvm-mc disagrees, columns."""
    found = []
    for line in table.splitlines():
        if line.startswith("  "):
            target, rest = line.split(None, 1)
            other = rest.startswith("! ")
            found.append((target, other, re.split(r"\s{2,}", rest.removeprefix("! ").strip())))
    return found


def test_taken() -> None:
    read = []
    for target, _, (text, _) in rows(TAKEN):
        code = isa.assemble(text, target, ADDRESS, symbols=SYMBOLS.get)
        read.append((target, text, isa.decode(code, target).text))
    assert read == [(target, text, printed) for target, _, (text, printed) in rows(TAKEN)]


def test_refused() -> None:
    read = []
    for target, _, (text, *_) in rows(REFUSED):
        with pytest.raises(isa.AssemblyError) as caught:
            isa.assemble(text, target, ADDRESS, symbols=SYMBOLS.get)
        read.append((target, text, str(caught.value.column), caught.value.reason))
    assert read == [(target, *columns) for target, _, columns in rows(REFUSED)]


@pytest.mark.llvm
def test_llvm_agrees() -> None:
    """LLVM's assembler gives the same bytes and the same rejections, except in marked rows."""
    asked: dict[str, list[str]] = {}
    for target, other, (text, *_) in rows(TAKEN) + rows(REFUSED):
        if not other:
            asked.setdefault(target, []).append(text)
    refused = {(target, columns[0]) for target, _, columns in rows(REFUSED)}
    for target, texts in asked.items():
        for text, answer in zip(texts, Assembler(target).ask(texts), strict=True):
            if (target, text) in refused:
                assert answer is None, (target, text)
            else:
                assert answer is not None, (target, text)
                assert isa.assemble(text, target) == answer[0].to_bytes(answer[1], "little"), (target, text)
