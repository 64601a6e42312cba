"""Detects descriptions by registers that, where paths join, hold the result of folded arithmetic instead of the
variable.

Where LLVM folds arithmetic into a PHI of numbers, the description of the old PHI becomes one of the new PHI:

    steps = 2 on one way, 3 on another        steps is described by a register, which got 8 and 12 there:
    x = steps * 4                             it has x

A register therefore does not hold the variable if numbers are moved into it on the paths to the description and the
variable did not have any of these numbers before.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from rocdbg.analysis.mask_effects import Number, moves
from rocdbg.analysis.saved_registers import Analysis
from rocdbg.analysis.scheduled_code import Extent
from rocdbg.analysis.value_flow import VECTOR
from rocdbg.isa import Instruction


def has_other_numbers(
    analysis: Analysis, before: Mapping[int, Sequence[int]], written: Callable[[Instruction], frozenset[int]],
    extent: Extent, register: int, is_one: Callable[[int], bool],
) -> bool:
    """Whether a register gets numbers on paths that join before the first address of an extent, and none of these
    numbers is the variable's, according to ``is_one``. ``before`` has the predecessors of each block; ``register`` is
    numbered as in ``value_flow``.
    """
    place = analysis.place_of(extent[0])
    if place is None:
        return False
    blocks = analysis.blocks
    todo, seen, numbers = [place], set[int](), list[int]()
    while todo:
        start, index = todo.pop()
        for instruction in reversed(blocks[start].instructions[:index]):
            if register in written(instruction):
                if start == place[0] and index == place[1]:
                    return False  # the description does not begin where paths join
                numbers += _numbers(moves(instruction), register)
                break
        else:
            for source in before.get(start, ()):
                if source not in seen:
                    seen.add(source)
                    todo.append((source, len(blocks[source].instructions)))
    return bool(numbers) and not any(map(is_one, numbers))


def _numbers(moved: Sequence[tuple[int, object]], register: int) -> list[int]:
    return [term.value for to, term in moved if to == register - VECTOR and isinstance(term, Number)]
