"""Compare rocdbg's assembler with LLVM's: both must reject the same texts, and give the same bytes for all others.

Run by hand: ``python -m tests.isa.soak.typed_soak gfx90a [--operands] [--every N] [--show N] [--seed N]``. Texts are
printed instructions and mutations of them, or, with ``--operands``, printed ones with an operand of `typed_operands`.
Every disagreement that is not a row of `tests/isa/differences.py` is counted under its class: the assembler that
rejects it, and the reason. LLVM has faults too, so each class has to be examined. Exit status 1 if fewer than 98 %
agree.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Iterable, Sequence

from rocdbg.isa.decoder import decoder_for
from rocdbg.isa.generate import llvm_assembler as llvm
from tests.isa.differences import Difference, differences, read, row
from tests.isa.soak import typed_operands
from tests.isa.soak.mistyped import texts


def spelled_freely(target: str, found: Sequence[Difference]) -> list[Difference]:
    """Texts that rocdbg accepts, and that LLVM accepts in the form that the decoder prints: modifiers in another order,
    lists with superfluous brackets.
    """
    oracle, decoder = llvm.Assembler(target), decoder_for(target)
    taken = [one for one in found if one.ours and not one.theirs]
    printed = [decoder.decode(bytes.fromhex(one.ours)).text for one in taken]
    return [
        one for one, answer in zip(taken, oracle.ask(printed), strict=True)
        if answer is not None and answer[0].to_bytes(answer[1], "little").hex() == one.ours
    ]


def show(found: Iterable[Difference], most: int, examples: int) -> None:
    """Print the classes."""
    classes: dict[str, list[Difference]] = {}
    for difference in found:
        classes.setdefault(difference.kind, []).append(difference)
    for kind, members in sorted(classes.items(), key=lambda item: -len(item[1]))[:most]:
        sys.stdout.write(f"  {len(members):6} {kind}\n")
        for one in members[:examples]:
            sys.stdout.write(f"         {one.text}\n             we {one.ours or '-'}  LLVM {one.theirs or '-'}\n")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("targets", nargs="+")
    parser.add_argument("--operands", action="store_true", help="operands in all notations")
    parser.add_argument("--every", type=int, default=40, metavar="N", help="take one of N encodings")
    parser.add_argument("--show", type=int, default=30, metavar="N", help="classes to show")
    parser.add_argument("--examples", type=int, default=3, metavar="N", help="examples of each class")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    accepted = read()
    worst = 1.0
    for target in arguments.targets:
        start = time.monotonic()
        generator = random.Random(arguments.seed)
        made = typed_operands.texts(target, arguments.every, 3, generator) if arguments.operands else (
            texts(target, arguments.every, generator)
        )
        lines = sorted(set(made))
        found = differences(target, lines)
        free = spelled_freely(target, found)
        known = [one for one in found if row(target, one) in accepted]
        found = [one for one in found if one not in free and one not in known]
        share = 1 - len(found) / len(lines)
        worst = min(worst, share)
        sys.stdout.write(
            f"{target}: {len(found)} of {len(lines)} texts differ, {100 * share:.3f} % agree, "
            f"{len(free)} more are spelled freely, {len(known)} are rows, {time.monotonic() - start:.0f} s\n"
        )
        if free:
            show([Difference(one.text, "", "", "spelled freely") for one in free], 1, 2 * arguments.examples)
        show(found, arguments.show, arguments.examples)
    return worst < 0.98


if __name__ == "__main__":
    sys.exit(main())
