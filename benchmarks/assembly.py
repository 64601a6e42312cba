"""Instructions to text and back: how many of some number of generated encodings the assembler gives the same bytes.

``python benchmarks/assembly.py [COUNT] [TARGET...]``: COUNT (1,000,000) different instructions, shared by the targets.
Prints for each target how many texts gave the bytes they came from, how many other bytes with the same text (bits that
the text does not tell; what LLVM makes of those is compared by the tests), how many the assembler refused, and its
speed. Exit status 1 if a text changed.
"""

from __future__ import annotations

import random
import sys
import time

from rocdbg.errors import Error
from rocdbg.isa.assembler.encoder import assembler_for
from rocdbg.isa.decoder import decoder_for
from rocdbg.isa.generate.soak import encodings

TARGETS = ("gfx900", "gfx908", "gfx90a", "gfx942", "gfx950", "gfx1010", "gfx1030", "gfx1100", "gfx1200", "gfx1250")


def round_trips(target: str, count: int) -> tuple[int, int, list[str], list[str], float]:
    """Instructions of the same and of other bytes, texts refused, texts that changed, seconds spent in assembling."""
    decoder, assembler = decoder_for(target), assembler_for(target)
    same = other = 0
    refused: list[str] = []
    changed: list[str] = []
    spent = 0.0
    seen: set[str] = set()
    # The stream is the same again with another seed, until there are enough.
    for seed in range(1000):
        for _, word in encodings(target, 40, 16, random.Random(seed)):
            instruction = decoder.decode(word.to_bytes(24, "little")[:20])
            if instruction.illegal or instruction.text in seen:
                continue
            if len(seen) == count:
                return same, other, refused, changed, spent
            seen.add(instruction.text)
            start = time.perf_counter()
            try:
                code = assembler.assemble(instruction.text)
            except Error:
                refused.append(instruction.text)
                continue
            finally:
                spent += time.perf_counter() - start
            if code == word.to_bytes(24, "little")[: instruction.size]:
                same += 1
            elif decoder.decode(code).text == instruction.text:
                other += 1
            else:
                changed.append(instruction.text)
    return same, other, refused, changed, spent


def main() -> int:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    targets = sys.argv[2:] or list(TARGETS)
    bad = 0
    for target in targets:
        same, other, refused, changed, spent = round_trips(target, count // len(targets))
        total = same + other + len(refused) + len(changed)
        sys.stdout.write(
            f"{target}: {total} texts: {same} the same bytes, {other} other bytes of the same text, "
            f"{len(refused)} refused, {len(changed)} changed; {total / max(spent, 1e-9):,.0f} a second\n"
        )
        for text in random.Random(1).sample(refused + changed, min(8, len(refused + changed))):
            sys.stdout.write(f"    {text}\n")
        bad += len(changed)
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
