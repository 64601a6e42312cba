"""`python -m tests.gdb.report [-q] [WORD...]`: the table of areas, and every differing pair.

A WORD restricts the output to the sessions or areas with that name; ``-q`` omits the pairs.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from pathlib import Path

from tests.gdb.compare import Pair, compare
from tests.gdb.differences import read
from tests.gdb.scores import score, table
from tests.gdb.session_files import session_names


def shown(pair: Pair) -> str:
    """A differing pair: the command, then GDB's lines after ``-`` and rocdbg's after ``+``."""
    lines = [f"-{line}" for line in pair.gdb.splitlines()] + [f"+{line}" for line in pair.rocdbg.splitlines()]
    return "\n".join([f"[{pair.session}, {pair.area}] {pair.command}", *lines])


def main(words: list[str]) -> None:
    """Print the report."""
    quiet = "-q" in words
    wanted = {word for word in words if word != "-q"}
    pairs = []
    with tempfile.TemporaryDirectory() as folder:
        named = [name for name in session_names() if name in wanted]
        for name in named or session_names():
            pairs += compare(name, Path(folder))
    if wanted:
        pairs = [pair for pair in pairs if {pair.session, pair.area} & wanted]
    if not quiet:
        for pair in pairs:
            if not pair.equal:
                print(shown(pair) + "\n")
    print(table(score(pairs)), end="")
    print(f"all: {sum(pair.equal for pair in pairs)}/{len(pairs)}")
    reasons = Counter(why.partition(":")[0] for name in {pair.session for pair in pairs} for why in read(name).values())
    for kind, count in reasons.most_common():
        print(f"{count:5} differ, {kind}")


if __name__ == "__main__":
    main(sys.argv[1:])
