"""Write the encoding tables: ``python -m rocdbg.isa.generate [-o DIRECTORY] [--layouts REGEX] [TARGET...]``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from rocdbg.isa.encoding_table import load, write
from rocdbg.isa.generate.build_table import TARGETS, build


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", type=Path, default=Path(__file__).parent.parent / "tables", metavar="DIRECTORY")
    parser.add_argument("targets", nargs="*", default=TARGETS)
    parser.add_argument("--layouts", default="", metavar="REGEX", help="keep the rows of all other layouts")
    arguments = parser.parse_args()
    for target in arguments.targets:
        table, notes = build(target, load(target) if arguments.layouts else None, arguments.layouts)
        size = write(table, arguments.o / f"{target}.json")
        sys.stderr.write(f"{target}: {table['count']} rows, {size} bytes, {len(notes)} notes\n")
        for note in notes:
            sys.stderr.write(f"  {note}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
