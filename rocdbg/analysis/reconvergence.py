"""Where all lanes that entered a function are together again.

Compilers for SIMT machines structure the control flow: a region that only some lanes enter ends with
``s_or_b64 exec, exec, SAVED`` where the paths meet. In a block that every path from the function's entry to its end
goes through, and that is in no loop, no lane of the entry can be missing after the last of these. That is the only
way to tell after loops, whose masks are gathered over iterations.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from rocdbg.analysis.control_flow import Block
from rocdbg.analysis.machine_state import EXEC_LO
from rocdbg.isa import Flow

_MOST_BLOCKS: Final = 4000
"""Beyond these, which would take long, nothing is claimed."""


def rejoining(blocks: Mapping[int, Block], entry: int) -> frozenset[int]:
    """Addresses of the instructions after which EXEC is again what it was at ``entry``."""
    if entry not in blocks or len(blocks) > _MOST_BLOCKS:
        return frozenset()
    found = set()
    for start, block in blocks.items():
        last = _last_rejoin(block)
        if last is not None and _is_passed_once(blocks, entry, start):
            found.add(last)
    return frozenset(found)


def _last_rejoin(block: Block) -> int | None:
    """The last instruction of the block that widens EXEC, if nothing narrows it again first."""
    last: int | None = None
    for instruction in block.instructions:
        destination = instruction.operand("sdst")
        if instruction.name.startswith("v_cmpx") or "saveexec" in instruction.name:
            if last is not None:
                return last
        elif destination is not None and destination.index == EXEC_LO and destination.text.startswith("exec"):
            if instruction.name in ("s_or_b64", "s_or_b32"):
                last = instruction.address
            elif last is not None:
                return last
    return last


def _is_passed_once(blocks: Mapping[int, Block], entry: int, start: int) -> bool:
    """True when every path from the entry to an end goes through the block, and it is in no loop."""
    if start in _reachable(blocks, blocks[start].successors, without=None):
        return False
    if start == entry:
        return True
    around = _reachable(blocks, (entry,), without=start)
    return not any(
        blocks[other].instructions[-1].flow in (Flow.INDIRECT, Flow.END) and not blocks[other].successors
        for other in around
    )


def _reachable(blocks: Mapping[int, Block], starts: Iterable[int], without: int | None) -> set[int]:
    seen: set[int] = set()
    todo = [start for start in starts if start in blocks and start != without]
    while todo:
        start = todo.pop()
        if start in seen:
            continue
        seen.add(start)
        todo += (other for other in blocks[start].successors if other in blocks and other != without)
    return seen
