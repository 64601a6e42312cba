"""Basic blocks of a function's machine code, with long-distance branches and known scalar values within a block.

Calls, and branches whose distance does not fit into 16 bits, load the PC, add a distance and jump to the sum. These
numbers are tracked within a block to find the target.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypeAlias

from msgspec import Struct

from rocdbg import isa
from rocdbg.isa import Flow, Instruction, Operand, OperandKind

_MOST_INSTRUCTIONS: Final = 200_000
_MASK: Final = 0xFFFFFFFF
_ADDITIONS: Final = frozenset({"s_add_u32", "s_add_i32", "s_addk_i32", "s_sub_u32", "s_sub_i32"})
_CONSTANT_KINDS: Final = (OperandKind.CONSTANT, OperandKind.LITERAL)


RETURN_ADDRESS: Final = 30
"""The first of the two scalar registers in which the calling convention passes the return address."""


class FunctionCode(Struct, frozen=True):
    """The addresses of a function, whether it is a kernel (which has no caller), and the first of the two scalar
    registers that hold its return address: assembly code may use other registers than compilers do.
    """

    start: int
    end: int
    is_kernel: bool = False
    link: int = RETURN_ADDRESS


class Block(Struct):
    """Instructions that execute one after the other; ``successors`` are addresses of blocks."""

    instructions: list[Instruction]
    successors: tuple[int, ...]


Known: TypeAlias = tuple[int | None, int]
"""What a scalar register holds: a register's contents at the beginning of the block (None: zero) plus a number."""


class LocalScalars:
    """What is known about scalar registers within a block, instruction by instruction: copies, sums and numbers."""

    __slots__ = ("_carry", "_known")

    def __init__(self) -> None:
        self._known: dict[int, Known | None] = {}
        self._carry: int | None = None

    def register(self, register: int) -> Known | None:
        """What a register holds; None if that cannot be expressed as `Known`."""
        return self._known.get(register, (register, 0))

    def address(self, register: int) -> int | None:
        """The address in two registers, if it is a known number."""
        low, high = self.register(register), self.register(register + 1)
        if low is None or high is None or low[0] is not None or high[0] is not None:
            return None
        return (high[1] & _MASK) << 32 | low[1] & _MASK

    def step(self, instruction: Instruction) -> None:
        """Process a scalar instruction (or a vector one that writes scalar registers)."""
        destination = instruction.operand("sdst")
        if destination is None:
            destination = instruction.operand("vdst") or instruction.operand("sdata")
        if destination is None or destination.kind not in (OperandKind.SGPR, OperandKind.SPECIAL):
            if instruction.encoding in ("SOPC", "SOPK"):
                self._carry = None
            return
        name = instruction.name.replace("_co_", "_")  # gfx12 has "co" in the names
        registers = range(destination.index, destination.index + destination.dwords)
        first = instruction.operand("ssrc0") or destination  # SOPK: the destination is the first source
        second = instruction.operand("ssrc1") or instruction.operand("simm16")
        values: list[Known | None] = [None] * len(registers)
        carry: int | None = None
        if name in ("s_mov_b32", "s_mov_b64"):
            values = [self._value(first, half) for half in range(len(registers))]
            carry = self._carry
        elif name == "s_movk_i32":
            values = [self._value(instruction.operand("simm16"), 0)]
            carry = self._carry
        elif name in ("s_getpc_b64", "s_get_pc_i64"):
            after = instruction.address + instruction.size
            values = [(None, after & _MASK), (None, after >> 32)]
            carry = self._carry
        elif name == "s_sext_i32_i16":  # gfx12 extends the PC it reads
            value = self._value(first, 0)
            if value is not None and value[0] is None:
                values = [(None, (value[1] & 0xFFFF ^ 0x8000) - 0x8000 & _MASK)]
        elif name in _ADDITIONS:
            sign = -1 if name.startswith("s_sub") else 1
            left, right = self._value(first, 0), self._value(second, 0)
            values = [_sum(left, right, sign)]
            if sign > 0 and name == "s_add_u32" and _is_number(left) and _is_number(right):
                assert left is not None and right is not None
                carry = (left[1] & _MASK) + (right[1] & _MASK) >> 32
        elif name in ("s_addc_u32", "s_add_ci_u32") and self._carry is not None:
            left, right = self._value(first, 0), self._value(second, 0)
            if _is_number(left) and _is_number(right):
                assert left is not None and right is not None
                values = [(None, (left[1] & _MASK) + (right[1] & _MASK) + self._carry & _MASK)]
        elif name == "s_add_nc_u64" and second is not None:
            total = self._wide(first, 1), self._wide(second, 1)
            if total[0] is not None and total[1] is not None:
                number = total[0] + total[1]
                values = [(None, number & _MASK), (None, number >> 32 & _MASK)]
        for register, value in zip(registers, values, strict=True):
            self._known[register] = value
        self._carry = carry

    def forget(self) -> None:
        """Forget everything, as after a call, which may change any register."""
        for register in range(128):
            self._known[register] = None
        self._carry = None

    def _value(self, operand: Operand | None, half: int) -> Known | None:
        if operand is None:
            return None
        if operand.kind is OperandKind.SGPR or operand.kind is OperandKind.SPECIAL:
            return self.register(operand.index + half)
        if operand.kind is OperandKind.IMMEDIATE:
            return (None, (operand.value ^ 0x8000) - 0x8000)
        if operand.kind in _CONSTANT_KINDS:
            number = operand.value >> 32 * half & _MASK
            return (None, number - (number >> 31 << 32))
        return None

    def _wide(self, operand: Operand, half: int) -> int | None:
        low, high = self._value(operand, 0), self._value(operand, half)
        if not _is_number(low) or not _is_number(high):
            return None
        assert low is not None and high is not None
        return (high[1] & _MASK) << 32 | low[1] & _MASK


def _is_number(value: Known | None) -> bool:
    return value is not None and value[0] is None


def _sum(left: Known | None, right: Known | None, sign: int) -> Known | None:
    if left is None or right is None:
        return None
    if right[0] is None:
        return (left[0], left[1] + sign * right[1])
    if left[0] is None and sign > 0:
        return (right[0], left[1] + right[1])
    return None


def decode(function: FunctionCode, code: bytes, target: str, wave_size: int) -> list[Instruction]:
    """The instructions of a function; truncated code is decoded as far as possible."""
    found: list[Instruction] = []
    try:
        for instruction in isa.disassemble(code, target, address=function.start, wave_size=wave_size):
            found.append(instruction)
            if len(found) >= _MOST_INSTRUCTIONS:
                break
    except isa.DecodeError:
        pass  # the last instruction is cut off
    return found


def jump_targets(instructions: list[Instruction]) -> dict[int, int]:
    """The targets of jumps and calls through registers, by the address of the instruction, where the instruction's own
    block determines the target.
    """
    targets: dict[int, int] = {}
    scalars: LocalScalars | None = None  # tracking begins at s_getpc: nothing before it matters
    for instruction in instructions:
        flow = instruction.flow
        if instruction.name in ("s_getpc_b64", "s_get_pc_i64"):
            scalars = scalars or LocalScalars()
        if scalars is None:
            continue
        if flow is Flow.INDIRECT or flow is Flow.CALL:
            source = instruction.operand("ssrc0")
            if source is not None and source.kind is OperandKind.SGPR:
                address = scalars.address(source.index)
                if address is not None:
                    targets[instruction.address] = address
        if flow is not Flow.NEXT:
            scalars = None
        elif instruction.encoding.startswith("S") or instruction.encoding in ("VOP3", "VOP1"):
            scalars.step(instruction)
    return targets


def blocks_of(function: FunctionCode, instructions: list[Instruction], targets: dict[int, int]) -> dict[int, Block]:
    """The blocks by their first addresses; ``targets`` is the result of `jump_targets`."""
    starts = {instructions[0].address} if instructions else set()
    for instruction in instructions:
        if instruction.flow is Flow.NEXT or instruction.flow is Flow.CALL or instruction.flow is Flow.TRAP:
            continue
        starts.add(instruction.address + instruction.size)
        if instruction.branch_target is not None:
            starts.add(instruction.branch_target)
        elif instruction.address in targets:
            starts.add(targets[instruction.address])
    blocks: dict[int, Block] = {}
    current: Block | None = None
    for instruction in instructions:
        after = instruction.address + instruction.size
        if instruction.address in starts or current is None:
            current = blocks[instruction.address] = Block([], ())
        current.instructions.append(instruction)
        match instruction.flow:
            case Flow.BRANCH | Flow.COND_BRANCH:
                target = (instruction.branch_target,) if instruction.branch_target is not None else ()
                current.successors = (*target, *((after,) if instruction.flow is Flow.COND_BRANCH else ()))
            case Flow.INDIRECT:
                there = targets.get(instruction.address)
                inside = there is not None and function.start < there < function.end
                current.successors = (there,) if there is not None and inside else ()
            case Flow.END:
                current.successors = ()
            case _:
                current.successors = (after,)
    return blocks


def predecessors(blocks: Mapping[int, Block]) -> dict[int, list[int]]:
    """The addresses of the blocks from which each block is entered, by the block's address; blocks without predecessors
    are left out.
    """
    found: dict[int, list[int]] = {}
    for start, block in blocks.items():
        for successor in dict.fromkeys(block.successors):
            found.setdefault(successor, []).append(start)
    return found
