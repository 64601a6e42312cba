"""Detects descriptions of variables that scheduling has moved past the end of what they describe.

LLVM's schedulers do not move a DBG_VALUE instruction together with the value that it describes, but with the
instruction before it. If that instruction is delayed, a description may begin where its register already has another
value:

    v_bfe_i32  v13, v13, 5, 8        reads what DBG_VALUE v13 describes
    v_lshl     v13, 2, v0            overwrites it
    v_ldexp    ...                   stood before DBG_VALUE, and took it along
    DBG_VALUE  v13

Code is reordered only within a basic block, and not across changes of EXEC and calls. A description can be about the
value before the register's last write only if it was originally before an instruction that reads this value (LLVM drops
descriptions of registers that are not live). A description is therefore doubtful if such a reader, the write, and the
instruction before the description may originally have been in another order. Code is reordered after registers are
allocated, so an instruction always stays after those that compute what it reads and those that read or write what it
overwrites.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Final, TypeAlias

from rocdbg.analysis.machine_state import AGPR, EXEC_HI, EXEC_LO
from rocdbg.analysis.saved_registers import Analysis
from rocdbg.analysis.value_flow import VECTOR
from rocdbg.isa import Flow, Instruction, OperandKind
from rocdbg.isa.result_operands import sources

_EXEC: Final = frozenset({EXEC_LO, EXEC_HI})

Extent: TypeAlias = tuple[int, int]
"""Addresses [low, high)."""


class ScheduledCode:
    """What is certain about the order of a function's code before it was scheduled. ``before`` has the predecessors of
    each block; ``written`` returns the registers that an instruction writes.
    """

    def __init__(
        self, analysis: Analysis, before: Mapping[int, Sequence[int]],
        written: Callable[[Instruction], frozenset[int]],
    ) -> None:
        self._analysis = analysis
        self._before = before
        self._written = written

    def misplaced(
        self, extents: Sequence[Extent], registers: Collection[int], scope: Sequence[Extent], is_whole: bool = False
    ) -> frozenset[Extent]:
        """Of the extents of equal descriptions, those in which registers may have other values than the one described.

        ``scope`` holds the addresses of the block that declares the variable, outside of which LLVM omits descriptions.
        With ``is_whole``, one description covers the whole scope, and the extents are these addresses.
        """
        blocks = self._analysis.blocks
        found: set[Extent] = set()
        carried: list[tuple[Extent, list[Extent | None]]] = []
        for extent in sorted(set(extents)):
            place = self._analysis.place_of(extent[0])
            if place is None:
                continue
            start, index = place
            if index:
                anchors = _anchors(blocks[start].instructions, index, scope) if is_whole else (index - 1,)
                if self._are_doubtful(blocks[start].instructions, anchors, registers, extents):
                    found.add(extent)
                continue
            sources_of = [blocks[source] for source in self._before.get(start, ())]
            ends = [_extent_of(extents, block.instructions[-1].address) for block in sources_of]
            carried.append((extent, ends))
            if None in ends and any(
                self._are_doubtful(
                    block.instructions, _anchors(block.instructions, len(block.instructions), scope), registers, extents
                ) for block, end in zip(sources_of, ends, strict=True) if end is None
            ):
                found.add(extent)
        more = True
        while more:  # extents that LLVM carried from block to block
            more = False
            for extent, ends in carried:
                if extent not in found and any(end in found for end in ends if end is not None):
                    found.add(extent)
                    more = True
        return frozenset(found)

    def early(self, extents: Sequence[Extent], registers: Collection[int]) -> frozenset[int]:
        """Addresses in extents of equal descriptions at which a register may not have been written yet.

        An extent that ends after a write of its register describes the previous value. But if the instruction before
        the extent is not the one that wrote this value, that one may have been moved past the description.
        """
        blocks, found = self._analysis.blocks, set[int]()
        for low, high in extents:
            place = self._analysis.place_of(low)
            if place is None or not place[1]:
                continue
            instructions, index = blocks[place[0]].instructions, place[1]
            anchor = instructions[index - 1]
            if anchor.flow is not Flow.NEXT or not _EXEC.isdisjoint(self._written(anchor)):
                continue
            end = next((each for each in range(index, len(instructions)) if instructions[each].address >= high), None)
            last = (len(instructions) if end is None else end) - 1
            if instructions[last].address + instructions[last].size != high:
                continue
            for register in registers:
                write = instructions[last]
                if register not in self._written(write) or register not in registers_read(write):
                    continue
                if register in self._written(anchor) or self._region(instructions, last) > index - 1:
                    continue
                if not any(register in self._written(each) for each in instructions[: index - 1]):
                    continue  # not computed before the anchor in this block
                if index - 1 not in self._needed(instructions, index - 1, last):
                    found.update(each.address for each in instructions[index : last + 1])
        return frozenset(found)

    def pending(self, registers: Collection[int], scope: Sequence[Extent]) -> frozenset[int]:
        """Addresses in a scope at which a register that is described for the whole scope has yet to be written.

        LLVM describes a whole scope by one register only if nothing overwrites the register after the description.
        """
        wanted, found = frozenset(registers), set[int]()
        for block in self._analysis.blocks.values():
            waiting: list[int] = []
            for instruction in block.instructions:
                if _extent_of(scope, instruction.address) is None:
                    continue
                waiting.append(instruction.address)
                if instruction.flow is Flow.NEXT and wanted & self._written(instruction):
                    found.update(waiting)
        return frozenset(found)

    def overwritten(self, extents: Sequence[Extent], registers: Collection[int]) -> frozenset[int]:
        """Addresses that follow a write of a register, in the extents of equal descriptions of a variable that has only
        one value.

        LLVM joins equal descriptions from before and after a write of the register, and repeats descriptions after
        writes that are not assignments to the variable.
        """
        wanted, blocks = frozenset(registers), self._analysis.blocks
        begun = {low for low, _ in extents if low not in blocks}
        found: set[int] = set()
        todo = [
            (start, index + 1)
            for start, block in blocks.items() for index, instruction in enumerate(block.instructions)
            if instruction.flow is Flow.NEXT and _extent_of(extents, instruction.address) is not None
            and wanted & self._written(instruction)
        ]
        while todo:
            start, index = todo.pop()
            for instruction in blocks[start].instructions[index:]:
                address = instruction.address
                if address in found or address in begun or _extent_of(extents, address) is None:
                    break
                found.add(address)
            else:
                todo += ((successor, 0) for successor in blocks[start].successors if successor in blocks)
        return frozenset(found)

    def _are_doubtful(
        self, instructions: Sequence[Instruction], anchors: Iterable[int], registers: Collection[int],
        extents: Sequence[Extent],
    ) -> bool:
        """Whether a register may have had another value where a description was originally: after one of ``anchors``,
        which are examined from the last one back to the one that writes the register.

        ``extents`` are those of the description: an extent that contains the write began with the value before it.
        """
        for register in registers:
            for anchor in anchors:
                instruction = instructions[anchor]
                if register in self._written(instruction):
                    break
                if self._is_movable(instruction) and self._may_be_late(instructions, anchor, register, extents):
                    return True
        return False

    def _is_movable(self, instruction: Instruction) -> bool:
        return instruction.flow is Flow.NEXT and not _EXEC & self._written(instruction)

    def _may_be_late(
        self, instructions: Sequence[Instruction], anchor: int, register: int, extents: Sequence[Extent]
    ) -> bool:
        first = self._region(instructions, anchor)
        write = next(
            (each for each in range(anchor, first - 1, -1) if register in self._written(instructions[each])), None
        )
        if write is None or any(low <= instructions[write].address < high for low, high in extents):
            return False
        needed = self._needed(instructions, first, anchor)
        if write in needed:
            return False
        for reader in range(write, first - 1, -1):
            if reader != write and register in self._written(instructions[reader]):
                return False
            if reader not in needed and register in registers_read(instructions[reader]):
                return True
        return False

    def _region(self, instructions: Sequence[Instruction], index: int) -> int:
        """The index of the first instruction with which the one at ``index`` may have been exchanged."""
        while index > 0:
            if not self._is_movable(instructions[index - 1]):
                break
            index -= 1
        return index

    def _needed(self, instructions: Sequence[Instruction], first: int, last: int) -> frozenset[int]:
        """The indices, from ``first`` on, of the instructions that must precede the instruction at ``last`` in every
        possible order. An instruction must precede another if the other computes with its results, or overwrites what
        it reads or writes; this also holds through instructions in between.
        """
        read, written, found = set(registers_read(instructions[last])), set(self._written(instructions[last])), {last}
        for index in range(last - 1, first - 1, -1):
            reads, writes = registers_read(instructions[index]), self._written(instructions[index])
            if read & writes or written & (reads | writes):
                read |= reads
                written |= writes
                found.add(index)
        return frozenset(found)


def _anchors(instructions: Sequence[Instruction], end: int, scope: Sequence[Extent]) -> list[int]:
    """A description that LLVM lists only from ``end`` on may have followed any of several earlier instructions. Return
    their indices, from the last one backwards to the last one in the scope.
    """
    found = []
    for index in range(end - 1, -1, -1):
        found.append(index)
        address = instructions[index].address
        if any(low <= address < high for low, high in scope):
            break
    return found


def _extent_of(extents: Sequence[Extent], address: int) -> Extent | None:
    return next((extent for extent in extents if extent[0] <= address < extent[1]), None)


def registers_read(instruction: Instruction) -> frozenset[int]:
    """The registers that an instruction names as its sources, numbered as in ``value_flow``."""
    found: set[int] = set()
    for operand in sources(instruction):
        if operand.kind in (OperandKind.SGPR, OperandKind.SPECIAL):
            found.update(range(operand.index, operand.index + operand.dwords))
        elif operand.kind in (OperandKind.VGPR, OperandKind.AGPR):
            base = VECTOR + operand.index + (AGPR if operand.kind is OperandKind.AGPR else 0)
            found.update(range(base, base + operand.dwords))
    return frozenset(found)
