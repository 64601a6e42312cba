"""Compare the decoder with LLVM's assembler, for targets that LLVM cannot disassemble (GFX6, GFX7).

Run by hand: ``python -m tests.isa.soak.assembled_soak gfx700 [--every N] [--show N]``. In one direction, generated
encodings are decoded and their texts assembled, which must give the same bytes. In the other, texts of GFX8, GFX9 and
GFX10 are assembled, and those that the target accepts must decode to the text that the assembler prints. Exit status 1
if fewer than 99.9 % agree.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
from collections.abc import Iterator, Sequence

from rocdbg.isa.decoder import Decoder, decoder_for
from rocdbg.isa.generate.llvm_assembler import Assembler
from rocdbg.isa.generate.llvm_disassembler import Oracle
from rocdbg.isa.generate.sample_words import encodings
from rocdbg.isa.generate.transfer import relatives_of

OTHERS = ("gfx803", "gfx900", "gfx1010")
_REFUSED = re.compile("constant bus|must be different|literal|invalid exp target|register index is out of range")
"""Errors about operands that are valid one by one, and about those that LLVM prints for later targets but never reads.
"""
_LOWEST_BITS = 1 << 32 | 1 << 41 | 1 << 50
"""The lowest bits of VOP3's three sources. Pairs of scalar registers have even numbers; an odd one is printed as the
even one.
"""
Difference = tuple[str, str, str]
"""Bytes (hexadecimal), the decoder's text, the assembler's text, or the reason why it rejects ours."""


def decoded(decoder: Decoder, words: Sequence[int]) -> list[tuple[bytes, str]]:
    """Bytes and text of the words that are legal."""
    found = []
    for word in words:
        data = word.to_bytes(24, "little")[:20]
        instruction = decoder.decode(data)
        if not instruction.illegal:
            found.append((data[: instruction.size], instruction.text))
    return found


def _untold(text: str, difference: int) -> bool:
    """Whether neither rocdbg's nor LLVM's text shows these bits: those of sources that an export has switched off,
    those of s_waitcnt that belong to no counter, those of the number of a scalar pair.
    """
    name = text.partition(" ")[0]
    if name == "exp":
        return "off" in text and not difference & (1 << 32) - 1
    if name == "s_waitcnt":
        return not difference & ~0xF080
    return name.endswith("64") and not difference & ~_LOWEST_BITS


def round_trips(decoder: Decoder, assembler: Assembler, words: Sequence[int]) -> tuple[int, list[Difference]]:
    """The number of legal words, and the words whose text is not assembled to their bytes."""
    ours = decoded(decoder, words)
    wrong = []
    for (data, text), answer in zip(ours, assembler.ask([text for _, text in ours]), strict=True):
        if answer is None:
            error = assembler.errors.get(text, "")
            if not _REFUSED.search(error):
                wrong.append((data.hex(), text, "- " + error))
        elif not (difference := answer[0] ^ int.from_bytes(data, "little")) or _untold(text, difference):
            continue
        else:
            wrong.append((data.hex(), text, answer[0].to_bytes(answer[1], "little").hex() + " " + answer[2]))
    return len(ours), wrong


def foreign_texts(every: int, generator: random.Random) -> Iterator[str]:
    """Texts of generated encodings of later targets, under all names that the older targets may have for them."""
    for target in OTHERS:
        oracle = Oracle(target)
        words = [word for _, word in encodings(target, every, 8, generator)]
        for size, text in oracle.ask(words):
            if size and "/*" not in text and "sdwa" not in text and "dpp" not in text:
                yield from relatives_of(text)
        oracle.close()


def texts_decoded(decoder: Decoder, assembler: Assembler, texts: Sequence[str]) -> tuple[int, list[Difference]]:
    """The number of texts that the assembler accepts, and those that are decoded to a text other than the printed one.
    """
    wrong, count = [], 0
    for answer in assembler.ask(texts):
        if answer is None:
            continue
        count += 1
        data = answer[0].to_bytes(answer[1], "little")
        instruction = decoder.decode(data.ljust(20, b"\0"))
        if (instruction.size, instruction.text) != (answer[1], answer[2]):
            wrong.append((data.hex(), instruction.text, answer[2]))
    return count, wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("targets", nargs="+")
    parser.add_argument("--every", type=int, default=40, metavar="N", help="take one of N encodings")
    parser.add_argument("--show", type=int, default=20, metavar="N", help="classes to show")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    worst = 1.0
    for target in arguments.targets:
        generator = random.Random(arguments.seed)
        decoder, assembler = decoder_for(target), Assembler(target)
        words = [word for _, word in encodings(target, arguments.every, 16, generator)]
        texts = list(foreign_texts(arguments.every, generator))
        for what, (count, wrong) in (
            ("encodings decoded and assembled", round_trips(decoder, assembler, words)),
            ("texts assembled and decoded", texts_decoded(decoder, assembler, texts)),
        ):
            share = 1 - len(wrong) / count
            worst = min(worst, share)
            sys.stdout.write(f"{target}: {count} {what}, {len(wrong)} differ, {100 * share:.3f} % agree\n")
            classes: dict[str, list[Difference]] = {}
            for entry in wrong:
                classes.setdefault(re.sub(r"\d+", "N", f"{entry[1]} / {entry[2].partition(' ')[2]}"), []).append(entry)
            for _, some in sorted(classes.items(), key=lambda item: -len(item[1]))[: arguments.show]:
                sys.stdout.write(f"  {len(some):5} {' | '.join(some[0])}\n")
    return worst < 0.999


if __name__ == "__main__":
    sys.exit(main())
