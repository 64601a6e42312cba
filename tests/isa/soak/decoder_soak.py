"""Compare the decoder with LLVM's disassembler on systematically generated encodings, legal and illegal.

Run by hand: ``python -m tests.isa.soak.decoder_soak gfx90a [--wave64] [--every N] [--show N]``. Every disagreement on
the words of `rocdbg.isa.generate.sample_words` is counted under its class: layout, mnemonic and kind of difference.
Exit status 1 if fewer than 99.9 % agree.
"""

from __future__ import annotations

import argparse
import itertools
import random
import re
import sys
import time
from collections import Counter
from collections.abc import Iterator

from rocdbg.isa.decoder import Decoder, decoder_for
from rocdbg.isa.generate.llvm_disassembler import Oracle
from rocdbg.isa.generate.sample_words import encodings

_DIGITS = re.compile(r"0x[0-9a-f]+|\d+")


def classify(got: tuple[int, str], expected: tuple[int, str]) -> str:
    """The kind of a difference."""
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
    """The disagreements: layout, word, the decoder's text, LLVM's text."""
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
