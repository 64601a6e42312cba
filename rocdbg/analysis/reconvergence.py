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
from rocdbg.analysis.machine_state import EXEC_LO, VCC_LO
from rocdbg.analysis.mask_effects import Effect, Kind, effects_of
from rocdbg.analysis.register_effects import BY_CONVENTION
from rocdbg.isa import Flow
from rocdbg.work import unit

_AND: Final = 0b1000
_OR: Final = 0b1110
_MOVE: Final = 0b1100
_TURNS: Final = (_OR, 0b0100)
"""The operations of ``s_or_saveexec`` and ``s_andn2_saveexec``, with which the other branch of a region begins."""
_LOST_IN_CALLS: Final = frozenset({*BY_CONVENTION.scalars, VCC_LO})


def rejoining(blocks: Mapping[int, Block], entry: int, wide: bool) -> frozenset[int]:
    """The addresses of the instructions after which EXEC has its value at ``entry`` again; ``wide``: masks of 64 bits.
    """
    if entry not in blocks:
        return frozenset()
    found = {start: last for start, block in blocks.items() if (last := _last_rejoin(block, wide)) is not None}
    if not found:
        return frozenset()
    once = _passed_once(blocks, entry)
    return frozenset(last for start, last in found.items() if start in once)


def _last_rejoin(block: Block, wide: bool) -> int | None:
    """Find the last instruction of a block that ends a region which began before the block. It counts only if EXEC is
    narrowed before it only by regions that begin and end in the block.
    """
    last: int | None = None
    copies: set[int] = set()  # registers with a value that EXEC had in the block
    parts: set[int] = set()  # registers with a part of such a value
    turned: set[int] = set()  # masks of regions whose other branch begins in the block
    depth = 0  # of the block's own regions
    for effect in effects_of(block, wide, frozenset()):
        sources = [one.register for one in (effect.first, effect.second) if one.register is not None]
        masks = {register for register in sources if register != EXEC_LO}
        saved = None if effect.saved is None else effect.saved.register
        target = None if effect.destination is None else effect.destination.register
        is_move = effect.kind is Kind.LOGIC and effect.operation == _MOVE
        own = copies | parts
        rewritten = {register for register in (saved, target, *effect.lost) if register is not None} - {EXEC_LO}
        if effect.kind is Kind.CALL:
            rewritten |= _LOST_IN_CALLS
        for registers in (copies, parts, turned):
            registers -= rewritten
        if effect.kind is Kind.SAVE and effect.operation == _AND and saved is not None:
            copies.add(saved)
            depth += 1
        elif effect.kind is Kind.SAVE and effect.operation in _TURNS and saved is not None:
            turned.add(saved)
            if sources[:1] != [EXEC_LO] and own.issuperset(sources[:1]) and sources:
                parts.add(saved)
            else:  # the region began before the block
                last = None
        elif effect.writes_exec():
            is_union = effect.kind is Kind.LOGIC and effect.operation == _OR and EXEC_LO in sources and len(masks) == 1
            if (is_union and masks <= own) or (is_move and masks and masks <= copies):
                depth = max(0, depth - 1)
            elif is_union:
                last = last if depth else effect.address
            elif not masks & turned:
                if not copies:  # nothing in the block can undo this
                    return last
                depth += 1
        else:
            within = own | {EXEC_LO}
            if target is not None and is_move and set(sources) == {EXEC_LO}:
                copies.add(target)
            elif target is not None and (effect.kind is Kind.COMPARE or _is_within(effect, sources, within)):
                parts.add(target)
    return last


def _is_within(effect: Effect, sources: list[int], within: set[int]) -> bool:
    """Whether the result of an effect that reads the registers ``sources`` certainly contains no lanes other than those
    in the masks in the registers ``within``.
    """
    if effect.kind is not Kind.LOGIC or not sources or effect.operation & 1:  # 1 where both sources are 0
        return False
    return within.issuperset(sources) or (effect.operation == _AND and not within.isdisjoint(sources))


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
