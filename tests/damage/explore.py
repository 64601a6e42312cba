"""Damage each attribute, list, table and frame of twenty objects, one at a time, and debug the rest.

    python -m tests.damage.explore [--count N] [--seed S]     (make damage)

For any damage, a session must stop at the kernel, show the stack and the lanes, print a register, and continue with
`next`. Variables that do not depend on the damaged entry must have the same values as in the sound object.
"""

from __future__ import annotations

import argparse
import gc
import random
import shutil
import sys
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import rocdbg
from rocdbg import dwarf
from rocdbg.dwarf.info import Die
from rocdbg.dwarf.info.attribute_values import Exprloc, Reference
from rocdbg.dwarf.info.constants import Tag
from rocdbg.dwarf.info.unit import Unit
from tests.damage.damages import Damage, damages

DEMOS = Path(__file__).resolve().parents[2] / "demo_kernels"
OBJECTS = (
    "extensions/nested/nested.toml", "extensions/unwinding/unwinding.toml", "divergence/divergence.toml",
    "extensions/wholewave/wholewave.toml", "extensions/types/types.toml", "calls/calls.O2.toml",
    "extensions/callsites/callsites.toml", "extensions/overlay/overlay.toml", "extensions/pieces/pieces.toml",
    "extensions/pointers/pointers.toml", "extensions/nested/nested.proposal2020.toml",
    "extensions/nested/nested.llvm22.toml", "divergence/divergence.O2.toml", "calls/calls.toml",
    "divergence/divergence.O0.wave64.toml", "divergence/divergence.O2.wave64.toml", "vectors/vectors.toml",
    "spaces/spaces.toml", "saxpy/saxpy.toml", "scan/scan.toml",
)
_TYPES = (Tag.STRUCTURE_TYPE, Tag.CLASS_TYPE, Tag.UNION_TYPE, Tag.ARRAY_TYPE, Tag.ENUMERATION_TYPE)
_MOST_VARIABLES = 3
_COMMANDS = ("bt", "info locals", "info lanes", "print $pc", "next", "bt", "info frame", "print $exec")


@cache
def _object(name: str) -> tuple[Path, str, bytes, str]:
    """The launch file, the object's name and bytes, and the kernel."""
    launch = DEMOS / name
    text = launch.read_text()
    values = {}
    for key in ("file", "kernel", "arch"):
        for line in text.splitlines():
            if line.startswith(f"{key} ="):
                values[key] = line.split('"')[1]
                break
    file = values["file"].replace("{arch}", values.get("arch", "gfx90a"))
    return launch, file, (launch.parent / file).read_bytes(), values["kernel"]


@cache
def _all(name: str) -> list[Damage]:
    return damages(_object(name)[2])


@cache
def _unrelated(name: str) -> dict[str, tuple[str, frozenset[int]]]:
    """Variables of the kernel with their values in the sound object, and the entries on which these depend."""
    launch, _, data, kernel = _object(name)
    file = dwarf.open(data)
    debugger = rocdbg.Debugger(launch)
    found = {}
    try:
        _stop(debugger, kernel)
        [*_, focus] = debugger.execute("print $pc", to_string=True).split("0x")
        pc = int(focus.split()[0], 16) - debugger.session.inferior.need_program().base
        for variable in file.variables_at(pc):
            try:
                value = debugger.execute(f"output {variable.name}", to_string=True)
            except rocdbg.Error:
                continue
            if variable.name and "<" not in value and len(found) < _MOST_VARIABLES:
                found[variable.name] = value, frozenset(_entries_of(variable.die))
    finally:
        debugger.session.running.kill()
    return found


def _entries_of(die: Die) -> set[int]:
    """Offsets of an entry, of the entries around it, and of all entries to which they refer or that their types
    contain.
    """
    found: set[int] = set()
    todo = [die]
    while todo:
        each = todo.pop()
        if each.offset in found:
            continue
        found.add(each.offset)
        if each.parent is not None:
            todo.append(each.parent)
        if each.tag in _TYPES:
            todo += each.children
        file = each.unit.entries
        for value in each.attributes.values():
            if isinstance(value, Reference) and value.offset:
                todo.append(file.die(value.offset))
            elif isinstance(value, Exprloc):
                todo += (file.die(offset) for offset in _called_by(value, each.unit))
    return found


def _called_by(value: Exprloc, unit: Unit) -> Iterator[int]:
    """The entries to which an expression transfers control."""
    for operation in dwarf.decode(value.data, unit.dialect, address_size=unit.address_size):
        if operation.info.meaning in ("call2", "call4"):
            [offset] = operation.operands
            assert isinstance(offset, int)
            yield unit.offset + offset


def _stop(debugger: rocdbg.Debugger, kernel: str) -> bool:
    debugger.execute(f"break {kernel}", to_string=True)
    return "hit Breakpoint" in debugger.execute("run", to_string=True)


def sample(name: str, count: int, seed: int) -> list[Damage]:
    """Some of the damages for an object."""
    found = _all(name)
    return random.Random(f"{seed} {name}").sample(found, min(count, len(found)))


def faults(name: str, damage: Damage, folder: Path) -> list[str]:
    """The operations that fail on a damaged object, as text; empty if all succeed."""
    launch, file, data, kernel = _object(name)
    for beside in launch.parent.iterdir():
        if beside.suffix in (".npy", ".toml"):
            shutil.copy(beside, folder / beside.name)
    (folder / file).write_bytes(damage.applied(data))
    found = []
    debugger = rocdbg.Debugger(folder / launch.name)
    try:
        if not _stop(debugger, kernel):
            found.append(f"{name}: {damage.what}: run does not stop")
        for variable, (value, entries) in _unrelated(name).items() if damage.entry is not None else ():
            if damage.entry not in entries:
                shown = debugger.execute(f"output {variable}", to_string=True)
                if shown != value:
                    found.append(f"{name}: {damage.what}: {variable} is {shown}, not {value}")
        for command in _COMMANDS:
            if not debugger.session.focus.current.running:
                break  # without lines `next` runs on to the end
            debugger.execute(command, to_string=True)
    except rocdbg.Error as error:
        found.append(f"{name}: {damage.what}: {error}")
    finally:
        if debugger.session.inferior.target is not None:
            debugger.session.running.kill()
    return found


def main() -> int:
    """Run all damages, or the requested number for each object; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1 << 30)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    total = 0
    _unrelated(OBJECTS[0])
    gc.collect()
    gc.freeze()  # modules and tables, which every collection would go through
    with tempfile.TemporaryDirectory() as folder:
        for name in OBJECTS:
            for damage in sample(name, options.count, options.seed):
                for words in faults(name, damage, Path(folder)):
                    total += 1
                    sys.stdout.write(f"{words}\n")
    sys.stdout.write(f"{total} faults\n")
    return int(bool(total))


if __name__ == "__main__":
    sys.exit(main())
