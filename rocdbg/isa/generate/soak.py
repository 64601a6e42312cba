"""Compare the decoder with LLVM's disassembler on systematically generated encodings, legal and illegal.

Run by hand: ``python -m rocdbg.isa.generate.soak gfx90a [--wave64] [--every N] [--show N]``. For every layout, opcode
and case of its selectors it tries each operand field over the codes at which kinds of operands differ, each modifier
and immediate field over its values, and random mixtures; further, random words behind every prefix. Every
disagreement is counted under its class: layout, mnemonic and what differs. Exit status 1 if fewer than 99.9 % agree.
"""

from __future__ import annotations

import argparse
import itertools
import math
import random
import re
import sys
import time
from collections import Counter
from collections.abc import Iterator

from rocdbg.isa.decoder import Decoder, decoder_for
from rocdbg.isa.encoding_layouts import Layout, family_of, insert, layouts, width
from rocdbg.isa.generate.llvm_disassembler import Oracle

CODES = (
    0, 1, 2, 5, 33, 64, 100, 101, 102, 103, 104, 105, 106, 107, 108, 110, 122, 123, 124, 125, 126, 127, 128, 129, 192,
    193, 208, 209, 229, 230, 232, 233, 234, 235, 238, 239, 240, 242, 248, 249, 250, 251, 252, 253, 254, 255, 256, 257,
    300, 383, 384, 385, 500, 510, 511,
)
"""Operand codes at which the kinds of operands differ, and their neighbours."""
LITERALS = (0xDEADBEEF, 0x3F800000, 0x3C00, 5, 0xFFFFFFFF, 0x12345678, 0, 0x3FF00000, 0x40000000)
_DIGITS = re.compile(r"0x[0-9a-f]+|\d+")


def _field_values(size: int, generator: random.Random) -> list[int]:
    if size <= 4:
        return list(range(1 << size))
    values = {0, 1, (1 << size) - 1, 1 << (size - 1), *(1 << i for i in range(size))}
    return sorted(values | {generator.getrandbits(size) for _ in range(6)})


def _bases(layout: Layout, opcode: int, generator: random.Random) -> Iterator[int]:
    """Words of one opcode, one per case of its selectors and form of src0."""
    cases = [(s.other, *s.codes) for s in layout.selectors]
    for codes in itertools.product(*cases):
        word = layout.value | insert(layout.opcode, opcode)
        for selector, code in zip(layout.selectors, codes, strict=True):
            word |= insert(selector.bits, code)
        if layout.src0:
            word |= generator.choice(layout.src0) << (32 * layout.src0_dword)
        yield word


def _fixed(layout: Layout) -> int:
    mask = layout.mask | insert(layout.opcode, -1)
    for selector in layout.selectors:
        mask |= insert(selector.bits, -1)
    if layout.src0:
        mask |= 0x1FF << (32 * layout.src0_dword)
    return mask


def _operands(layout: Layout, generator: random.Random, kind: int, fixed: int) -> int:
    """Likely operands: vector registers (0), scalar registers (1), all zero (2), any of the codes (3)."""
    word = 0
    for bits in layout.operands.values():
        size = width(bits)
        code = {
            0: generator.randrange(0, 120, 2) | (256 if size >= 9 else 0),
            1: generator.randrange(0, 100, 4) >> (2 if size < 7 else 0),
            2: 0,
            3: generator.choice(CODES),
        }[kind]
        word = (word & ~insert(bits, -1)) | insert(bits, code)
    return word & ~fixed


def words_of(layout: Layout, opcode: int, generator: random.Random, mixtures: int) -> Iterator[int]:
    """Encodings of one opcode of a layout."""
    fixed = _fixed(layout)
    bits = 32 * layout.dwords
    others = {**layout.modifiers, **layout.immediates}
    for base in _bases(layout, opcode, generator):
        for kind in (0, 1, 2):
            word = base | _operands(layout, generator, kind, fixed)
            yield word | generator.choice(LITERALS) << bits
            if kind == 2:
                continue
            for field in layout.operands.values():
                for code in CODES:
                    if code >> width(field) == 0:
                        changed = word & ~insert(field, -1) | insert(field, code) & ~fixed | base & fixed
                        yield changed | generator.choice(LITERALS) << bits
        word = base | _operands(layout, generator, generator.choice((0, 0, 1, 2)), fixed)
        for field in others.values():
            for code in _field_values(width(field), generator):
                yield (word & ~insert(field, -1) | insert(field, code)) | generator.choice(LITERALS) << bits
        for i in range(mixtures):
            word = base | _operands(layout, generator, i % 4, fixed)
            for field in others.values():
                if generator.random() < 0.4:
                    word = word & ~insert(field, -1) | insert(field, generator.getrandbits(width(field)))
            if i % 8 == 7:
                word |= generator.getrandbits(bits) & ~fixed
            yield word | generator.choice(LITERALS) << bits


def encodings(target: str, every: int, mixtures: int, generator: random.Random) -> Iterator[tuple[str, int]]:
    """Name of the layout and instruction word with what follows it; about one of ``every`` words is taken."""
    opcodes_skipped = math.isqrt(every)
    for layout in layouts(family_of(target)):
        for opcode in layout.opcodes or range(1 << width(layout.opcode)):
            if generator.randrange(opcodes_skipped):
                continue
            for word in words_of(layout, opcode, generator, mixtures):
                if not generator.randrange(every // opcodes_skipped):
                    yield layout.name, word
    for prefix in range(512):
        for _ in range(400 // every + 1):
            noise = generator.getrandbits(160)
            if generator.random() < 0.5:
                noise &= generator.getrandbits(160)
            yield "any", noise & ~0xFF800000 | prefix << 23


def classify(got: tuple[int, str], expected: tuple[int, str]) -> str:
    """What kind of difference it is."""
    if not expected[0]:
        return "LLVM: illegal"
    if not got[0]:
        return "we: illegal"
    if got[0] != expected[0]:
        return f"size {got[0]} instead of {expected[0]}"
    mine, theirs = got[1].split(), expected[1].split()
    if mine[0] != theirs[0]:
        return f"mnemonic {mine[0]}"
    removed = [w for w in mine if w not in theirs]
    added = [w for w in theirs if w not in mine]
    return _DIGITS.sub("N", f"-{' '.join(removed)} +{' '.join(added)}")


def compare(
    decoder: Decoder, oracle: Oracle, words: list[tuple[str, int]]
) -> Iterator[tuple[str, int, tuple[int, str], tuple[int, str]]]:
    """The disagreements: layout, word, what the decoder says, what LLVM says."""
    answers = oracle.ask([word for _, word in words])
    for (layout, word), expected in zip(words, answers, strict=True):
        instruction = decoder.decode(word.to_bytes(24, "little")[:20])
        if not expected[0] and instruction.name.startswith("v_cmpx") and instruction.encoding == "VOP3":
            # llvm-objdump prints v_cmpx whatever its destination; the C interface insists on exec.
            expected = oracle.one(word & ~0xFF | 126)
        got = (0, "") if instruction.illegal else (instruction.size, instruction.text)
        if got != expected:
            yield layout, word, got, expected


def soak(target: str, features: str, arguments: argparse.Namespace) -> float:
    """Print the classes of disagreement; returns the share that agrees."""
    out = sys.stdout.write
    oracle = Oracle(target, features)
    decoder = decoder_for(target, 64 if "wavefrontsize64" in features else None)
    start = time.monotonic()
    total, wrong = 0, 0
    classes: Counter[tuple[str, str]] = Counter()
    layouts_wrong: Counter[str] = Counter()
    layouts_all: Counter[str] = Counter()
    examples: dict[tuple[str, str], tuple[int, tuple[int, str], tuple[int, str]]] = {}
    stream = encodings(target, arguments.every, arguments.mixtures, random.Random(arguments.seed))
    while chunk := list(itertools.islice(stream, 4096)):
        if arguments.layout:
            chunk = [item for item in chunk if re.fullmatch(arguments.layout, item[0])]
        total += len(chunk)
        layouts_all.update(name for name, _ in chunk)
        for layout, word, got, expected in compare(decoder, oracle, chunk):
            wrong += 1
            layouts_wrong[layout] += 1
            key = (layout, classify(got, expected))
            classes[key] += 1
            examples.setdefault(key, (word, got, expected))
    oracle.close()
    share = 1 - wrong / total
    out(f"{target}{features}: {wrong} of {total} differ, {100 * share:.4f} % agree, ")
    out(f"{time.monotonic() - start:.0f} s, {oracle.crashes} crashes of LLVM\n")
    for layout, count in layouts_wrong.most_common():
        out(f"  {layout}: {count} of {layouts_all[layout]}\n")
    for key, count in classes.most_common(arguments.show):
        word, got, expected = examples[key]
        size = max(got[0], expected[0], 4)
        code = (word & ((1 << 8 * size) - 1)).to_bytes(size, "little").hex(" ", 4)
        out(
            f"  {count:6} {key[0]}: {key[1]}\n         {code}\n         we:   {got[1]}\n         LLVM: {expected[1]}\n"
        )
    return share


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("targets", nargs="+")
    parser.add_argument("--wave64", action="store_true", help="wave64 on targets whose default is wave32")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="take one of N encodings")
    parser.add_argument(
        "--mixtures", type=int, default=16, metavar="N", help="random mixtures per opcode and case"
    )
    parser.add_argument("--show", type=int, default=30, metavar="N", help="classes to show")
    parser.add_argument("--layout", metavar="REGEX", help="only these layouts")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    features = "+wavefrontsize64" if arguments.wave64 else ""
    return min(soak(target, features, arguments) for target in arguments.targets) < 0.999


if __name__ == "__main__":
    sys.exit(main())
