"""Commands whose answers differ from GDB's, with the reasons: one file per session in ``differences/``.

A row is one command of the session (its second occurrence has ``[2]`` after ``(gdb)``), with GDB's answer in lines
after ``-`` and rocdbg's after ``+``, both normalised, under a heading ``# KIND: WHY``. It permits only these two
answers to this command: `test_against_gdb.py` requires exactly these rows.

    python -m tests.gdb.differences [-n] [SESSION...]

writes the files of the named sessions (by default all) again, and prints which answers have changed; with ``-n`` it
only prints them. Reasons stay with their commands. A difference without a reason is listed under ``# ?``, which fails
until the reason is found or the difference is fixed. Read the changes before committing them.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from tests.gdb.build import HERE
from tests.gdb.compare import Pair, compare
from tests.gdb.session_files import session_names

FOLDER = HERE / "differences"
UNKNOWN = "?"
KINDS = ("GDB", "host", "device", "not offered", "ours")
"""The first words of reasons: a fault or limit of GDB; a property of the host's program that differs on a device;
something that a device cannot do; something that rocdbg could do but does not; a deliberate difference of rocdbg.
"""


class Row(NamedTuple):
    """A command, the number of its occurrence in the session (from 1), and both answers."""

    command: str
    occurrence: int
    gdb: str
    rocdbg: str


def rows_of(pairs: Iterable[Pair]) -> list[Row]:
    """The differing pairs of a session."""
    seen: Counter[str] = Counter()
    found = []
    for pair in pairs:
        seen[pair.command] += 1
        if not pair.equal:
            found.append(Row(pair.command, seen[pair.command], pair.gdb, pair.rocdbg))
    return found


def read(name: str) -> dict[Row, str]:
    """A session's rows, in its order, with their reasons."""
    path = FOLDER / f"{name}.txt"
    if not path.exists():
        return {}
    reasons: dict[Row, str] = {}
    why, head = "", None
    answers: dict[str, list[str]] = {}

    def end() -> None:
        if head is not None:
            reasons[Row(*head, *("\n".join(answers[sign]) for sign in "-+"))] = why

    for line in path.read_text(encoding="utf-8").split("\n"):
        if line.startswith("# "):
            end()
            why, head = line[2:], None
        elif line.startswith("(gdb"):
            end()
            place, _, command = line.partition(") ")
            head, answers = (command, int(place.partition(" ")[2] or 1)), {"-": [], "+": []}
        elif line[:1] in answers:
            answers[line[0]].append(line[1:])
    end()
    return reasons


def write(name: str, rows: dict[Row, str]) -> None:
    """Write a session's rows in their order, with a heading wherever the reason changes."""
    path = FOLDER / f"{name}.txt"
    if not rows:
        path.unlink(missing_ok=True)
        return
    lines, before = [], ""
    for row, why in rows.items():
        if why != before:
            lines.append(f"# {why}")
            before = why
        lines.append(f"(gdb{f' {row.occurrence}' if row.occurrence > 1 else ''}) {row.command}")
        for sign, answer in (("-", row.gdb), ("+", row.rocdbg)):
            lines += [sign + line for line in answer.split("\n")]
    FOLDER.mkdir(exist_ok=True)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def main(words: list[str]) -> None:
    """Write the rows again."""
    only_say = "-n" in words
    names = [word for word in words if word != "-n"] or session_names()
    count = unknown = 0
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            before = read(name)
            reasons = {row[:2]: why for row, why in before.items()}
            after = {row: reasons.get(row[:2], UNKNOWN) for row in rows_of(compare(name, Path(folder)))}
            for row in after.keys() - before.keys():
                print(f"{name}: {'changed' if row[:2] in reasons else 'new'}: {row.command}", flush=True)
            for row in before.keys() - after.keys():
                if row[:2] not in {one[:2] for one in after}:
                    print(f"{name}: gone: {row.command}", flush=True)
            if not only_say:
                write(name, after)
            count += len(after)
            unknown += list(after.values()).count(UNKNOWN)
    print(f"{count} pairs differ, {unknown} without a reason")


if __name__ == "__main__":
    main(sys.argv[1:])
