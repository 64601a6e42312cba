"""Instructions to text and back: the share of generated encodings whose text is assembled to their bytes.

``python benchmarks/assembly.py [--seed N] [COUNT] [TARGET...]``: COUNT (1,000,000) different instructions, shared by
the targets. A text is right if it is assembled to its bytes, or (because a text does not show all bits) to llvm-mc's
bytes, or if llvm-mc rejects it too (some instructions can be printed but not written). Prints for each target the
number of texts of each kind, the number and classes of wrong texts, and the speed. Texts with LLVM's marks for operands
that an instruction cannot have (``/*Invalid register...*/``), and faults of llvm-mc (``tests.isa.soak.typed_soak``
lists them), are omitted. The exit status is 1 if a text was wrong.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
import time
from pathlib import Path

from rocdbg.errors import Error
from rocdbg.isa.assembler.encoder import assembler_for
from rocdbg.isa.decoder import decoder_for
from rocdbg.isa.generate.sample_words import encodings

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.isa.soak.typed_soak import differences, is_slip

TARGETS = (
    "gfx600", "gfx700", "gfx803", "gfx900", "gfx908", "gfx90a", "gfx942", "gfx950", "gfx1010", "gfx1030", "gfx1100",
    "gfx1150", "gfx1200", "gfx1250",
)


def instructions(target: str, count: int, first: int) -> dict[str, bytes]:
    """Texts of generated encodings, with the bytes they came from."""
    decoder = decoder_for(target)
    found: dict[str, bytes] = {}
    # The stream is the same again with another seed, until there are enough.
    for seed in range(first, first + 1000):
        for _, word in encodings(target, 40, 16, random.Random(seed)):
            data = word.to_bytes(24, "little")[:20]
            instruction = decoder.decode(data)
            if not instruction.illegal and "/*" not in instruction.text:
                found.setdefault(instruction.text, data[: instruction.size])
                if len(found) == count:
                    return found
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("count", nargs="?", type=int, default=1_000_000)
    parser.add_argument("targets", nargs="*", default=list(TARGETS))
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of the first stream of encodings")
    arguments = parser.parse_args()
    count, targets = arguments.count, arguments.targets
    bad = 0
    for target in targets:
        texts, assembler = instructions(target, count // len(targets), arguments.seed), assembler_for(target)
        open_: list[str] = []
        start, refused = time.perf_counter(), 0
        for text, data in texts.items():
            try:
                code: bytes | None = assembler.assemble(text)
            except Error:
                code = None
            if code != data:
                open_.append(text)
                refused += code is None
        speed = len(texts) / (time.perf_counter() - start)
        found = differences(target, open_)
        wrong = [one.text for one in found if not is_slip(target, one)]
        slips = len(found) - len(wrong)
        also = len(open_) - len(found)
        refused -= sum(one.who == "we refuse" for one in found)
        sys.stdout.write(
            f"{target}: {len(texts)} texts: {len(texts) - len(open_)} the same bytes, {also - refused} other bytes, "
            f"which are llvm-mc's, {refused} refused, as by llvm-mc, {slips} slips of llvm-mc's, "
            f"{len(wrong)} wrong; {speed:,.0f} a second\n"
        )
        classes: dict[str, list[str]] = {}
        for text in wrong:
            classes.setdefault(re.sub(r"\d+", "N", text), []).append(text)
        for some in sorted(classes.values(), key=len, reverse=True)[:12]:
            sys.stdout.write(f"    {len(some)}: {some[0]}\n")
        bad += len(wrong)
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
