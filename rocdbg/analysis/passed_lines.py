"""Finds how far all paths to an instruction have advanced in the source text, by forward data flow over a function's
blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from heapq import heappop, heappush

from rocdbg.analysis.control_flow import Block
from rocdbg.work import unit


class PassedLines:
    """For each instruction, a line that every path to it has already reached.

    ``line_of`` gives the line of an instruction by its address, 0 for those outside the source text.
    """

    def __init__(self, blocks: Mapping[int, Block], first: int, line_of: Callable[[int], int]) -> None:
        self._lines: dict[int, int] = {}
        own = {
            start: [line_of(instruction.address) for instruction in block.instructions]
            for start, block in blocks.items()
        }
        highest = {start: max(lines, default=0) for start, lines in own.items()}
        reached = {first: 0} if first in blocks else {}
        pending = [(0, start) for start in reached]
        while pending:
            unit()
            line, start = heappop(pending)
            if line > reached[start]:
                continue  # a path that was found since has not advanced as far
            after = max(line, highest[start])
            for successor in blocks[start].successors:
                if successor in blocks and after < reached.get(successor, after + 1):
                    reached[successor] = after
                    heappush(pending, (after, successor))
        for start, line in reached.items():
            for instruction, own_line in zip(blocks[start].instructions, own[start], strict=True):
                self._lines[instruction.address] = line
                line = max(line, own_line)

    def before(self, pc: int) -> int:
        """The highest line that all paths to an instruction have passed; 0 where nothing is known."""
        return self._lines.get(pc & ~3, 0)
