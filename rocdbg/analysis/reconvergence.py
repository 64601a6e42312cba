"""Finds where all lanes that entered a function are active again.

Compilers for SIMT machines structure the control flow: a region that only some lanes enter ends with ``s_or_b64 exec,
exec, SAVED`` where the paths meet. Take a block that is not in a loop and through which every path from the function's
entry to its end leads: after the last such instruction in it, no lane of the entry can be missing. After a loop, whose
masks accumulate over iterations, there is no other way to know this.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from rocdbg.analysis.control_flow import Block, predecessors
from rocdbg.analysis.machine_state import EXEC_LO
from rocdbg.isa import Flow, OperandKind
from rocdbg.work import unit

_TURNS: Final = ("s_or_saveexec", "s_andn2_saveexec", "s_and_not1_saveexec")


def rejoining(blocks: Mapping[int, Block], entry: int) -> frozenset[int]:
    """Addresses of the instructions after which EXEC is again what it was at ``entry``."""
    if entry not in blocks:
        return frozenset()
    found = {start: last for start, block in blocks.items() if (last := _last_rejoin(block)) is not None}
    if not found:
        return frozenset()
    once = _passed_once(blocks, entry)
    return frozenset(last for start, last in found.items() if start in once)


def _last_rejoin(block: Block) -> int | None:
    """The last instruction of the block that widens EXEC by lanes which it had before the block, if nothing but the
    block's own regions narrows it first.
    """
    last: int | None = None
    own: set[int] = set()  # registers with masks of regions that begin in the block
    for instruction in block.instructions:
        destination = instruction.operand("sdst")
        if destination is None or destination.kind not in (OperandKind.SGPR, OperandKind.SPECIAL):
            continue
        source = next((one for one in reversed(instruction.operands) if one.kind is OperandKind.SGPR), None)
        if "saveexec" in instruction.name:
            if source is not None and instruction.name.startswith(_TURNS) and source.index not in own:
                last = None  # to the other branch of an earlier region
            else:
                own.add(destination.index)
        elif destination.index != EXEC_LO or not destination.text.startswith("exec"):
            own.add(destination.index)
        elif instruction.name in ("s_or_b64", "s_or_b32"):
            if source is None or source.index not in own:
                last = instruction.address
        elif last is not None:
            return last
    return last


def _passed_once(blocks: Mapping[int, Block], entry: int) -> set[int]:
    """The blocks outside loops through which every path from the entry to an end leads."""
    before = predecessors(blocks)
    ends = {
        start for start, block in blocks.items()
        if block.instructions[-1].flow in (Flow.INDIRECT, Flow.END) and not block.successors
    }
    numbers, alone = _loops(blocks)
    reached = _reached((entry,), lambda start: blocks[start].successors, blocks)
    if not ends & reached:
        return alone  # no path leads to an end
    on_paths = reached & _reached(ends & reached, lambda start: before.get(start, ()), blocks)
    # Every path descends from the entry, which has the highest number, to an end, and the numbers of loops and single
    # blocks decrease along it. A block is on all paths if no path skips its number.
    once: set[int] = set()
    lowest = numbers[entry]  # the lowest number that a step from a higher number reaches
    for start in sorted(on_paths, key=lambda start: -numbers[start]):
        if numbers[start] <= lowest and start in alone:
            once.add(start)
        steps = [numbers[successor] for successor in blocks[start].successors if successor in on_paths]
        lowest = min(lowest, *steps, -1 if start in ends else lowest)
    return once


def _reached(starts: Iterable[int], following: Callable[[int], Iterable[int]], blocks: Mapping[int, Block]) -> set[int]:
    seen: set[int] = set()
    todo = list(starts)
    while todo:
        unit()
        start = todo.pop()
        if start not in seen:
            seen.add(start)
            todo += (other for other in following(start) if other in blocks)
    return seen


def _loops(blocks: Mapping[int, Block]) -> tuple[dict[int, int], set[int]]:
    """Return a number for each block, which is equal within a loop and lower for later blocks, and the set of blocks
    outside loops.

    Loops are strongly connected components (Tarjan).
    """
    numbers: dict[int, int] = {}
    alone: set[int] = set()
    order: dict[int, int] = {}
    earliest: dict[int, int] = {}
    open_: list[int] = []
    count = 0
    for root in blocks:
        stack = [(root, iter(blocks[root].successors))] if root not in order else []
        while stack:
            unit()
            start, successors = stack[-1]
            if start not in order:
                order[start] = earliest[start] = len(order)
                open_.append(start)
            inner: int | None = None
            for other in successors:
                if other not in blocks:
                    continue
                if other not in order:
                    inner = other
                    break
                if other not in numbers:
                    earliest[start] = min(earliest[start], order[other])
            if inner is not None:
                stack.append((inner, iter(blocks[inner].successors)))
                continue
            stack.pop()
            if stack:
                earliest[stack[-1][0]] = min(earliest[stack[-1][0]], earliest[start])
            if earliest[start] == order[start]:
                if open_[-1] == start and start not in blocks[start].successors:
                    alone.add(start)
                while True:
                    member = open_.pop()
                    numbers[member] = count
                    if member == start:
                        break
                count += 1
    return numbers, alone
