"""Decides which instructions form a block.

A block is a straight run of instructions. It ends after a branch or another instruction that leaves native
code, before an instruction that cannot be translated, before a stop, or at a length limit.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from rocdbg.isa.instruction import Flow, Instruction, OperandKind
from rocdbg.sim.core.layout import SGPR_COUNT, Status
from rocdbg.sim.semantics.access import DESTINATIONS
from rocdbg.sim.semantics.registry import Ends, Semantic, lookup

MAX_BLOCK = 128
"""Instructions in one block."""
MAX_BATCH = 320
"""Instructions translated together."""


class Block(Struct, frozen=True):
    """Instructions to translate as one function; ``[start, end)`` in bytes. Empty if nothing at ``start`` can be
    executed."""

    start: int
    instructions: tuple[Instruction, ...]
    blocked: Status | None = None
    """If empty: ILLEGAL, UNSUPPORTED or FETCH."""

    @property
    def end(self) -> int:
        if not self.instructions:
            return self.start + 4
        last = self.instructions[-1]
        return last.address + last.size


_CHANGE_MODE = frozenset((
    "s_set_gpr_idx_on", "s_set_gpr_idx_off", "s_set_gpr_idx_mode", "s_set_gpr_idx_idx", "s_round_mode", "s_denorm_mode",
    "s_setreg_b32", "s_setreg_imm32_b32", "s_setvskip", "s_set_vgpr_msb",
))
"""Instructions after which the code that follows may have to be translated under another MODE."""

Decode = Callable[[int], Instruction | None]
"""The instruction at an address, or None if there is no executable memory."""


def is_illegal(instruction: Instruction) -> bool:
    """Whether hardware does not have the instruction. LLVM prints some encodings whose destination is invalid: a
    constant, or a read-only register.
    """
    return instruction.illegal or any(
        operand.name in DESTINATIONS
        and (
            "/*Invalid immediate" in operand.text
            or (operand.kind is OperandKind.SPECIAL and operand.index >= SGPR_COUNT)
        )
        for operand in instruction.operands
    )


def obstacle(instruction: Instruction) -> Status | None:
    """Why an instruction cannot be translated, or None."""
    if is_illegal(instruction):
        return Status.ILLEGAL
    return None if lookup(instruction.name) is not None else Status.UNSUPPORTED


def ends_block(instruction: Instruction, semantic: Semantic) -> bool:
    return instruction.flow is not Flow.NEXT or semantic.ends is Ends.ALWAYS


def form_block(start: int, decode: Decode, is_stop: Callable[[int], bool], limit: int = MAX_BLOCK) -> Block:
    """The block that begins at ``start``."""
    found: list[Instruction] = []
    address = start
    while len(found) < limit:
        instruction = decode(address)
        if instruction is None:
            return Block(start, tuple(found), None if found else Status.FETCH)
        semantic = lookup(instruction.name)
        if semantic is None or is_illegal(instruction):
            return Block(start, tuple(found), None if found else obstacle(instruction))
        if found and is_stop(address):
            break
        found.append(instruction)
        address += instruction.size
        if ends_block(instruction, semantic):
            break
    return Block(start, tuple(found))


def successors(block: Block) -> list[int]:
    """Known addresses that control may reach from the block."""
    if not block.instructions:
        return []
    last = block.instructions[-1]
    after = [last.address + last.size]
    if last.flow is Flow.END or last.flow is Flow.INDIRECT or last.name in _CHANGE_MODE:
        return []
    target = [last.branch_target] if last.branch_target is not None else []
    if last.flow is Flow.BRANCH:
        return target
    return target + after


def gather(
    start: int, decode: Decode, is_stop: Callable[[int], bool], known: Callable[[int], bool],
    is_cut: Callable[[int], bool] = lambda address: False,
) -> list[Block]:
    """The block at ``start`` and those reached from it that are not ``known`` yet, up to `MAX_BATCH` instructions.

    A block ends before a cut, and before a stop. No block begins at a stop.
    """
    blocks: list[Block] = []
    seen: set[int] = set()
    pending = [start]
    total = 0
    while pending and total < MAX_BATCH:
        address = pending.pop(0)
        if address in seen or (address != start and (known(address) or is_stop(address))):
            continue
        seen.add(address)
        block = form_block(address, decode, lambda a: is_stop(a) or is_cut(a))
        blocks.append(block)
        total += len(block.instructions)
        pending += successors(block)
    return blocks
