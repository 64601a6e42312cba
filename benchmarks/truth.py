"""Going back and forth by any mixture of commands gives the states of a fresh run, at many random positions.

    python benchmarks/truth.py [--positions N] [--moves N] [--seed S] [--one-session] [--targets NAMES] [NAME...]

For every demo kernel (or those named) and every target, bit for bit: registers and memory. The test
`tests/debugger/test_backwards.py` does 60 moves on some of them; here moves continue until there are 200 positions, or
until ``--moves`` moves if a kernel has few positions. With ``--one-session``, all kernels run in one session, each
twice.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

TARGETS = ("gfx90a", "gfx942", "gfx1030", "gfx1100")
ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))


def main() -> None:
    from rocdbg.debugger.session import Session
    from rocdbg.launch.launch_file import read_launch_file
    from tests.debugger.test_backwards import DEMOS, same_states

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--positions", type=int, default=200)
    parser.add_argument("--moves", type=int, default=1000)
    parser.add_argument("--seed", default="")
    parser.add_argument("--one-session", action="store_true")
    parser.add_argument("--targets", default=",".join(TARGETS))
    options = parser.parse_args()
    session = Session() if options.one_session else None
    rows = 0
    for path in sorted(DEMOS.glob("*/*.toml")):
        file = str(path.relative_to(DEMOS))
        if options.names and path.parent.name not in options.names:
            continue
        spec = read_launch_file(path)
        for target in options.targets.split(","):
            file_of = spec.expand_file(target)
            if file_of is None or not file_of.exists() or (target not in file_of.name and target != spec.arch):
                continue
            for seed in ("a", "b") if session is not None else ("",):
                began = time.perf_counter()
                positions = same_states(
                    file, target, None, options.moves, options.seed + seed, options.positions, session
                )
                rows += positions
                seconds = time.perf_counter() - began
                print(f"{file:40} {target:8} {positions:4} positions the same, {seconds:6.1f} s", flush=True)
    print(f"{rows} positions")


if __name__ == "__main__":
    main()
