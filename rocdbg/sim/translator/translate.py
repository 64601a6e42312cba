"""Translation of blocks: runs each instruction's semantic with a `WaveBuilder`."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from rocdbg import work
from rocdbg.isa.instruction import Instruction, OperandKind
from rocdbg.sim.core.builder import InexactError
from rocdbg.sim.core.layout import EXEC_LO, Status
from rocdbg.sim.core.register_bounds import needs
from rocdbg.sim.instruction_coverage import missing
from rocdbg.sim.semantics.access import DESTINATIONS, Access, Context, Unsupported
from rocdbg.sim.semantics.exceptions import Watch
from rocdbg.sim.semantics.lanes_dpp import dpp_prepare
from rocdbg.sim.semantics.memory_lds_direct import lds_direct_prepare
from rocdbg.sim.semantics.registry import Ends, Kind, Semantic, lookup
from rocdbg.sim.translator.block_registers import LaneCodeError, RunConflict
from rocdbg.sim.translator.blocks import Block
from rocdbg.sim.translator.wave_builder import WaveBuilder

MAX_BLOCK_LINES, MAX_MODULE_LINES = 8_000, 16_000
"""Lines of IR after which a block or a module is ended. A line costs up to 20 microseconds at -O0 and 50 at -O1, and
LLVM cannot be interrupted. The code of compilers stays far below this, except for long instructions that record
arithmetic exceptions.
"""


class Translated(Struct, frozen=True):
    """A module of blocks. The ``blocks`` may be shorter than requested: a block ends before an instruction whose form
    turns out to be unsupported, and when it has too much IR. When the module is full, blocks other than the first are
    omitted, which makes them empty.
    """

    text: str
    names: tuple[str, ...]
    blocks: tuple[Block, ...]


def translate(
    builder: WaveBuilder, blocks: Sequence[Block], names: Sequence[str], context: Context
) -> Translated:
    """Translate non-empty blocks into one module; block k becomes function ``names[k]``. Raises `work.Stopped` between
    two instructions."""
    done: list[Block] = []
    lines = 0
    for block, name in zip(blocks, names, strict=True):
        current = block if lines < MAX_MODULE_LINES else Block(block.start, ())
        while current.instructions:
            count = _record(builder, current, name, context)
            if count == len(current.instructions):
                break
            current = Block(block.start, block.instructions[:count], None if count else Status.UNSUPPORTED)
        done.append(current)
        lines += _size(builder) if current.instructions else 0
    return Translated(builder.module(), tuple(names), tuple(done))


def _record(builder: WaveBuilder, block: Block, name: str, context: Context) -> int:
    """Record a block; returns how many instructions could be recorded. The function is kept only if all could be."""
    builder.begin(name, block.start, len(block.instructions), needs(block.instructions))
    for number, instruction in enumerate(block.instructions):
        work.unit(0)  # a module of instructions like divisions takes most of a second to record
        semantic = lookup(instruction.name)
        assert semantic is not None
        builder.instruction(instruction.address, instruction.size)
        try:
            execute(builder, instruction, semantic, context)
            if context.watching and not builder.ended:
                builder.leave_if_watched(context.touching)
        except Unsupported:
            return number
        builder.done()
        more = number + 1 < len(block.instructions)
        if more and context.mode.indexed and _writes_m0(instruction, context):
            return number + 1  # M0[15:12] is part of the key under which the next instruction is translated
        if more and _size(builder) > MAX_BLOCK_LINES:
            return number + 1
    builder.finish()
    return len(block.instructions)


def refusal(builder: WaveBuilder, context: Context, instruction: Instruction) -> str | None:
    """Why an instruction cannot be recorded, without the instruction's text; None if it can be, or if no reason is
    known."""
    semantic = lookup(instruction.name)
    if semantic is None:
        return missing(instruction.name)
    builder.begin("refused", instruction.address, 1, needs((instruction,)))
    builder.instruction(instruction.address, instruction.size)
    try:
        execute(builder, instruction, semantic, context)
    except Unsupported as error:
        return str(error).removeprefix(instruction.text).removeprefix(": ") or None
    return None


def _size(builder: WaveBuilder) -> int:
    """Lines of IR of the block being recorded."""
    try:
        return len(builder.lines) + len(builder.lane_lines())
    except TypeError:  # no lane code is open
        return len(builder.lines)


def _writes_m0(instruction: Instruction, context: Context) -> bool:
    return any(
        o.name in DESTINATIONS and o.kind is OperandKind.SPECIAL and o.index == context.m0
        for o in instruction.operands
    )


def execute(builder: WaveBuilder, instruction: Instruction, semantic: Semantic, context: Context) -> None:
    """Record one instruction. Closes the open run of lane code first if the instruction cannot join it."""
    # For approximate results only a bound of the error is promised, so they are rounded to nearest in every MODE.
    fixed = semantic.any_rounding or semantic.approximate or semantic.kind is Kind.WAVE
    builder.rounding = (0, 0) if fixed else (context.mode.round32, context.mode.round16_64)
    try:
        _execute(builder, instruction, semantic, context)
    except InexactError as error:
        raise Unsupported(f"{instruction.text}: rounding mode {context.mode.key & 15}: {error}") from None
    except LaneCodeError:
        # The instruction is malformed: it has a vector register in the field of a scalar one, which LLVM prints as
        # invalid.
        if any("/*Invalid" in operand.text for operand in instruction.operands):
            raise Unsupported(f"{instruction.text}: the instruction cannot use these registers") from None
        raise
    except RunConflict:
        raise Unsupported(f"{instruction.text}: its two results overlap") from None
    finally:
        builder.rounding = (0, 0)


def _execute(builder: WaveBuilder, instruction: Instruction, semantic: Semantic, context: Context) -> None:
    if context.mode.skips_vectors and not instruction.name.startswith("s_"):
        return
    if semantic.kind is Kind.SCALAR:
        builder.soft_scalar()
        _run(builder, Access(builder, instruction, context), semantic)
        return
    if context.mode.indexed and semantic.kind is Kind.LANE:
        # Registers selected at run time must not be held in SSA values.
        builder.scalar()
        _record_vector(builder, instruction, semantic, context)
        builder.scalar()
        return
    snapshot = builder.snapshot()
    try:
        _record_vector(builder, instruction, semantic, context)
    except RunConflict:
        builder.rollback(snapshot)
        builder.scalar()
        _record_vector(builder, instruction, semantic, context)


def _record_vector(
    builder: WaveBuilder, instruction: Instruction, semantic: Semantic, context: Context
) -> None:
    access = Access(builder, instruction, context)
    lds_direct_prepare(access, semantic.kind)
    if semantic.kind is Kind.LANE:
        if "dpp_ctrl" in instruction.modifiers or "dpp8" in instruction.modifiers:
            dpp_prepare(access)
        builder.lanes()
    _run(builder, access, semantic)
    if builder.collects(EXEC_LO):
        builder.scalar()


def _run(builder: WaveBuilder, access: Access, semantic: Semantic) -> None:
    """Record the instruction's operations and, if requested, the arithmetic exceptions that it raises."""
    if not access.context.exceptions or semantic.kind is Kind.WAVE or semantic.ends is Ends.ALWAYS:
        semantic.function(access)
        return
    watch = access.watch = Watch(access)
    builder.on_rounding = watch.rounding
    try:
        semantic.function(access)
    finally:
        builder.on_rounding = None
    watch.finish()
