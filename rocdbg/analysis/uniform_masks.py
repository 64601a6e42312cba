"""Finds masks in which all lanes of a wave have the same bit, because they hold a condition of the whole wave.

Compilers put such a condition (`s_cmp` and `s_cselect_b64 -1, 0`, or a constant on each path to a place) into a mask
and branch on it with `s_and_b64 vcc, exec, MASK`. One lane's bit of the mask then shows where the wave goes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from rocdbg.analysis.control_flow import Block
from rocdbg.analysis.machine_state import EXEC_LO
from rocdbg.analysis.mask_effects import Effect, Kind, Source
from rocdbg.analysis.register_effects import Clobbers
from rocdbg.work import unit

_ALL: Final = {False: 0xFFFFFFFF, True: 0xFFFFFFFFFFFFFFFF}
_AND: Final = 0b1000
_AND_NOT: Final = 0b0100

Uniform = frozenset[int]
"""Registers whose masks are uniform; in wave64, the lower registers of pairs."""


def mark_uniform(
    blocks: Mapping[int, Block], effects: Mapping[int, Sequence[Effect]], start: int, wide: bool,
    clobbers: Callable[[int], Clobbers],
) -> dict[int, Uniform]:
    """Set ``is_uniform`` and ``decides`` of the effects; return what is uniform at the end of each block.

    At the beginning of a block without known predecessors, and at the function's ``start``, nothing is uniform.
    """
    entries: dict[int, Uniform] = {start: frozenset()}
    led_to = {successor for block in blocks.values() for successor in block.successors}
    entries |= {block: frozenset() for block in blocks if block not in led_to}
    ends: dict[int, Uniform] = {}
    todo = list(entries)
    while todo:
        unit()
        block = todo.pop()
        found = entries[block]
        for effect in effects[block]:
            found = _after(effect, found, wide, clobbers)
        if ends.get(block) == found:
            continue
        ends[block] = found
        for successor in blocks[block].successors:
            if successor not in blocks:
                continue
            before = entries.get(successor)
            entries[successor] = found if before is None else before & found
            if entries[successor] != before:
                todo.append(successor)
    for block in blocks:
        found = entries.get(block, frozenset())
        for effect in effects[block]:
            after = _after(effect, found, wide, clobbers)
            _mark(effect, found, after, wide)
            found = after
        ends[block] = found
    return ends


def _mark(effect: Effect, before: Uniform, after: Uniform, wide: bool) -> None:
    destination = effect.destination
    if destination is None or destination.register is None or effect.kind not in (Kind.LOGIC, Kind.SELECT):
        return
    effect.is_uniform = destination.register in after
    if effect.kind is Kind.LOGIC and effect.operation in (_AND, _AND_NOT):
        pairs = [(effect.first, effect.second, effect.operation == _AND_NOT)]
        if effect.operation == _AND:
            pairs.append((effect.second, effect.first, False))
        for of_exec, other, is_inverted in pairs:
            if of_exec == Source(EXEC_LO, wide) and other.register != EXEC_LO and _is_uniform(other, before, wide):
                effect.decides = other, is_inverted


def _after(effect: Effect, before: Uniform, wide: bool, clobbers: Callable[[int], Clobbers]) -> Uniform:
    """What is uniform after an effect."""
    if effect.kind is Kind.CALL:
        lost = clobbers(effect.address).scalars
        return frozenset(
            register for register in before if register not in lost and not (wide and register + 1 in lost)
        )
    destination = effect.destination
    is_uniform = destination is not None and destination.register is not None and destination.wide == wide and (
        destination.register != EXEC_LO and effect.kind in (Kind.LOGIC, Kind.SELECT)
        and _is_uniform(effect.first, before, wide) and _is_uniform(effect.second, before, wide)
    )
    written = {
        register + half for source in (destination, effect.saved) if source is not None
        for register in (() if source.register is None else (source.register,)) for half in range(1 + source.wide)
    }
    written |= set(effect.lost)
    if not written:
        return before
    kept = frozenset(
        register for register in before if register not in written and not (wide and register + 1 in written)
    )
    if is_uniform:
        assert destination is not None
        assert destination.register is not None
        return kept | {destination.register}
    return kept


def _is_uniform(source: Source, known: Uniform, wide: bool) -> bool:
    if source.register is not None:
        return source.wide == wide and source.register in known
    return source.constant & _ALL[wide] in (0, _ALL[wide])
