"""Control flow of a function, and ranges of instructions.

Instructions are numbered through the function in the order of the text, debug records included. A range is
half open.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from functools import cached_property

from msgspec import Struct

from rocdbg.llvmdi.errors import NotWellFormed
from rocdbg.llvmdi.module import Function, Instruction

__all__ = ["ControlFlow", "Range", "Reach"]

Range = tuple[int, int]
MAX_STEPS = 500_000
"""Limit on the blocks of one function that are entered while control flow is followed up to ends."""
_RUN = re.compile("1+")


class Reach(Struct, frozen=True):
    """The result of following control flow from an instruction to a set of ends."""

    ranges: tuple[Range, ...]
    """The instructions passed, without the ends."""
    ends: frozenset[int]
    """The ends that are reached first on some path."""


class ControlFlow:
    """Blocks of a function by number, and the successors of each. A block without a terminator continues at the next
    block.
    """

    def __init__(self, function: Function) -> None:
        self.function = function
        self.instructions: list[Instruction] = []
        self.starts: list[int] = []
        self.labels: dict[str, int] = {}
        for number, block in enumerate(function.blocks):
            self.labels.setdefault(block.label, number)
            self.starts.append(len(self.instructions))
            self.instructions += block.instructions
        self.ends = [*self.starts[1:], len(self.instructions)]
        self.successors: list[tuple[int, ...]] = []
        self.unknown: list[tuple[int, str]] = []
        """(instruction, label) of branches to labels that do not exist."""
        for number, block in enumerate(function.blocks):
            self.successors.append(self._successors(number, block.instructions))
        self.predecessors: list[list[int]] = [[] for _ in self.starts]
        for number, following in enumerate(self.successors):
            for successor in following:
                self.predecessors[successor].append(number)
        self.steps = 0

    def _successors(self, number: int, instructions: Sequence[Instruction]) -> tuple[int, ...]:
        if not instructions or not instructions[-1].terminator:
            return (number + 1,) if number + 1 < len(self.starts) else ()
        found = []
        for target in instructions[-1].targets:
            if target in self.labels:
                found.append(self.labels[target])
            else:
                self.unknown.append((self.ends[number] - 1, target))
        return tuple(found)

    def block_of(self, index: int) -> int:
        """The number of the block that contains an instruction."""
        number = bisect_right(self.starts, index) - 1
        # Empty blocks begin where the next block begins.
        while number > 0 and self.ends[number] <= index:
            number -= 1
        return number

    def reach(self, start: int, ends: Iterable[int]) -> Reach:
        """The instructions passed from after instruction `start` up to each of `ends`, along all paths including back
        edges.
        """
        block = self.block_of(start)
        ends = sorted(ends)
        if not ends:
            own = ((start + 1, self.ends[block]),) if start + 1 < self.ends[block] else ()
            return Reach(joined((*own, *self._extents(self._behind[block]))), frozenset())
        stops: dict[int, list[int]] = {}
        for end in ends:
            stops.setdefault(self.block_of(end), []).append(end)
        ranges: set[Range] = set()
        found: set[int] = set()
        entered: set[int] = set()
        pending: list[tuple[int, int]] = [(block, start + 1)]
        while pending:
            self.steps += 1
            if self.steps > MAX_STEPS:
                raise NotWellFormed(f"the control flow of {self.function.name} takes more than {MAX_STEPS} steps")
            number, first = pending.pop()
            stop = next((end for end in stops.get(number, ()) if end >= first), None)
            last = self.ends[number] if stop is None else stop
            if first < last:
                ranges.add((first, last))
            if stop is not None:
                found.add(stop)
                continue
            for successor in self.successors[number]:
                if successor not in entered:
                    entered.add(successor)
                    pending.append((successor, self.starts[successor]))
        return Reach(joined(ranges), frozenset(found))

    def _extents(self, blocks: int) -> list[Range]:
        """The ranges of instructions of a set of blocks, given with one bit for each block."""
        digits = f"{blocks:b}"[::-1]
        runs = [run.span() for run in _RUN.finditer(digits)]
        return [(self.starts[a], self.ends[b - 1]) for a, b in runs if self.starts[a] < self.ends[b - 1]]

    @cached_property
    def _behind(self) -> list[int]:
        """For each block, the blocks reachable from it, one bit each; in a cycle, all blocks of the cycle.

        Blocks of a strongly connected component (Tarjan) share the same set, computed after those of their successors.
        """
        count = len(self.starts)
        behind = [0] * count
        order: list[int] = [-1] * count
        low = [0] * count
        on_stack = [False] * count
        stack: list[int] = []
        number = 0
        for root in range(count):
            if order[root] >= 0:
                continue
            path = [(root, iter(self.successors[root]))]
            order[root] = low[root] = number
            number += 1
            stack.append(root)
            on_stack[root] = True
            while path:
                node, following = path[-1]
                step = next(following, None)
                if step is not None:
                    if order[step] < 0:
                        order[step] = low[step] = number
                        number += 1
                        stack.append(step)
                        on_stack[step] = True
                        path.append((step, iter(self.successors[step])))
                    elif on_stack[step]:
                        low[node] = min(low[node], order[step])
                    continue
                path.pop()
                if path:
                    low[path[-1][0]] = min(low[path[-1][0]], low[node])
                if low[node] == order[node]:
                    component = []
                    while True:
                        member = stack.pop()
                        on_stack[member] = False
                        component.append(member)
                        if member == node:
                            break
                    reached = 0
                    for member in component:
                        for successor in self.successors[member]:
                            reached |= behind[successor] | 1 << successor
                    for member in component:
                        behind[member] = reached
        return behind


def joined(ranges: Iterable[Range]) -> tuple[Range, ...]:
    """The same instructions in as few ranges as possible, in order."""
    result: list[Range] = []
    for first, last in sorted(ranges):
        if result and first <= result[-1][1]:
            result[-1] = result[-1][0], max(last, result[-1][1])
        else:
            result.append((first, last))
    return tuple(result)


def contains(ranges: Sequence[Range], index: int) -> bool:
    """Whether an instruction is in one of the ranges, which are in order."""
    number = bisect_right(ranges, index, key=_first) - 1
    return number >= 0 and index < ranges[number][1]


def _first(item: Range) -> int:
    return item[0]
