"""Texts on which rocdbg's assembler and LLVM's are allowed to disagree: `assembler_differences.txt`.

A row is one text for one target, rocdbg's result and LLVM's (hexadecimal bytes, or ``-`` if the text is rejected),
under a heading that states the reason. It permits only these two results for this text.

    python -m tests.isa.differences

writes the file again: rows keep their places under their headings, rows that no longer differ are removed, and
differences without a reason are listed under ``# ?``, which fails until the reason is found. Read the changes before
committing them.
"""

from __future__ import annotations

import itertools
import random
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from rocdbg import isa
from rocdbg.errors import Error
from rocdbg.isa.assembler.encoder import assembler_for
from rocdbg.isa.assembler.errors import AssemblyError
from rocdbg.isa.decoder import decoder_for
from rocdbg.isa.generate import llvm_assembler as llvm
from rocdbg.isa.generate.sample_words import encodings
from tests.isa.soak import typed_operands
from tests.isa.soak.mistyped import texts

FILE = Path(__file__).with_name("assembler_differences.txt")
TARGETS = ["gfx600", "gfx803", "gfx900", "gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1150", "gfx1200", "gfx1250"]
UNKNOWN = "?"

Row = tuple[str, str, str, str]
"""Target, text, rocdbg's bytes, LLVM's."""


_VARIABLE = re.compile(r"`[^']*'|-?0x[0-9a-f]+|-?\d+")


class Difference(Struct, frozen=True):
    """A text on which the assemblers disagree: the bytes of each; "" and a reason if it rejects the text."""

    text: str
    ours: str
    theirs: str
    reason: str

    @property
    def who(self) -> str:
        """The assembler that rejects the text."""
        return "we take" if not self.theirs else "we refuse" if not self.ours else "bytes differ"

    @property
    def kind(self) -> str:
        """The class of a difference."""
        what = self.reason or self.text.partition(" ")[0]
        return f"{self.who}: {_VARIABLE.sub('N', what)}"


def differences(target: str, lines: Sequence[str]) -> list[Difference]:
    """The lines that the two assemblers do not assemble to the same bytes."""
    oracle = llvm.Assembler(target)
    ours = assembler_for(target)
    found = []
    for line, answer in zip(lines, oracle.ask(lines), strict=True):
        theirs = "" if answer is None else answer[0].to_bytes(answer[1], "little").hex()
        reason = oracle.errors.get(line, "") if answer is None else ""
        try:
            mine = ours.assemble(line).hex()
        except AssemblyError as error:
            mine, reason = "", reason or error.reason
        except Error as error:
            mine, reason = "", reason or str(error)
        if mine != theirs:
            found.append(Difference(line, mine, theirs, reason))
    return found


def row(target: str, found: Difference) -> Row:
    """A difference as a row."""
    return target, found.text, found.ours or "-", found.theirs or "-"


def read() -> dict[Row, str]:
    """Why each row is accepted."""
    found: dict[Row, str] = {}
    why = ""
    for line in FILE.read_text(encoding="utf-8").splitlines():
        if line.startswith("# "):
            why = line[2:]
        elif line:
            target, text, ours, theirs = line.split("\t")
            assert (target, text, ours, theirs) not in found, f"twice: {line}"
            found[target, text, ours, theirs] = why
    return found


def write(rows: dict[Row, str]) -> None:
    """Write all rows, headings and texts in order."""
    lines: list[str] = []
    for why in sorted(set(rows.values())):
        lines.append(f"# {why}")
        lines += sorted("\t".join(one) for one, reason in rows.items() if reason == why)
        lines.append("")
    FILE.write_text("\n".join(lines), encoding="utf-8")


def generated(target: str) -> tuple[list[str], int]:
    """Printed encodings whose text is not assembled to their bytes, and the number of all encodings."""
    decoder = decoder_for(target)
    different, same = [], 0
    for _, word in encodings(target, 4000, 16, random.Random(5)):
        instruction = decoder.decode(word.to_bytes(24, "little")[:20])
        if instruction.illegal or "/*" in instruction.text:
            continue
        try:
            code: bytes | None = isa.assemble(instruction.text, target)
        except isa.AssemblyError:
            code = None
        if code == word.to_bytes(24, "little")[: instruction.size]:
            same += 1
        else:
            different.append(instruction.text)
    return different, same


def mistyped(target: str) -> list[str]:
    """Printed instructions with other registers, numbers and modifiers."""
    return list(itertools.islice(texts(target, 20000, random.Random(7)), 300))


def in_all_notations(target: str) -> list[str]:
    """Printed instructions with operands as numbers of any notation and size, expressions, floating-point numbers at
    their limits, registers by list and expression."""
    return list(itertools.islice(typed_operands.texts(target, 20000, 3, random.Random(11)), 300))


def found_of(target: str) -> Iterator[Difference]:
    """The differences that the tests find, and those in the rows."""
    lines = [*generated(target)[0], *mistyped(target), *in_all_notations(target)]
    lines += [text for of, text, _, _ in read() if of == target] if FILE.exists() else []
    yield from differences(target, list(dict.fromkeys(lines)))


def main() -> None:
    before = read() if FILE.exists() else {}
    reasons = {(target, text): why for (target, text, _, _), why in before.items()}
    after = {}
    for target in TARGETS:
        for found in found_of(target):
            one = row(target, found)
            why = before.get(one, UNKNOWN)
            if why == UNKNOWN and (target, found.text) in reasons:
                sys.stdout.write(f"answers have changed: {one}\n")
            after[one] = why
    write(after)
    sys.stdout.write(f"{len(after)} rows, {sum(why == UNKNOWN for why in after.values())} without a reason\n")


if __name__ == "__main__":
    main()
