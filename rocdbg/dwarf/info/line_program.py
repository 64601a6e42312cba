"""Runs line number programs, which produce rows (DWARF 5 section 6.2.5)."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final, NamedTuple

from msgspec import Struct, field

from rocdbg import work
from rocdbg.dwarf.info.errors import DebugInfoError, reraise
from rocdbg.dwarf.info.forms import sleb, uleb
from rocdbg.dwarf.info.line_header import SECTION, LineHeader

IS_STMT: Final = 1
BASIC_BLOCK: Final = 2
PROLOGUE_END: Final = 4
EPILOGUE_BEGIN: Final = 8

_SLICE: Final = 1 << 14
"""Bytes of a program between two checks for an interrupt."""


class RawRow(NamedTuple):
    """A row before its file is looked up; ``flags`` are IS_STMT and so on."""

    address: int
    file: int
    line: int
    column: int
    flags: int
    isa: int
    discriminator: int


class Sequence(Struct):
    """The rows from one address to an end: contiguous code, in order of address.

    ``end`` is the address of the end_sequence row, which is not among ``rows``. ``set_address`` is the position in the
    section of the sequence's first DW_LNE_set_address; None if there is none, or if a row precedes it.
    """

    rows: list[RawRow] = field(default_factory=list)
    end: int = 0
    set_address: int | None = None

    @property
    def low(self) -> int:
        """Address of the first row."""
        return self.rows[0].address if self.rows else self.end


def run(
    data: bytes, pos: int, header: LineHeader, *, one: bool = False,
    pass_over: Callable[[DebugInfoError], None] = reraise,
) -> list[Sequence]:
    """Run a program from ``pos``, the start of a sequence, and return its sequences; with ``one``, only the first
    sequence.

    A sequence that the end of the program cuts off is left out. An operation that cannot be read raises a
    DebugInfoError; if ``pass_over`` suppresses it, the rows before it are kept.
    """
    sequences: list[Sequence] = []
    current: list[Sequence] = []
    try:
        try:
            with _without_collection():
                _run(data, pos, header, one, sequences, current)
        except IndexError:
            raise DebugInfoError(SECTION, header.program, "the line number program is truncated") from None
    except DebugInfoError as error:
        pass_over(error)
        if current and len(current[-1].rows) > 1:  # the last row's end is not known
            last = current[-1]
            last.end = last.rows.pop().address
            sequences.append(last)
    return sequences


@contextmanager
def _without_collection() -> Iterator[None]:
    """Disable garbage collection: to search hundreds of thousands of new rows for reference cycles, of which they have
    none, takes twice as long as to create them.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _run(
    data: bytes, pos: int, header: LineHeader, one: bool, sequences: list[Sequence], current: list[Sequence]
) -> None:
    """Run a program, appending to ``sequences``; the last element of ``current`` is the unfinished sequence."""
    end = header.end
    opcode_base, line_base, line_range = header.opcode_base, header.line_base, header.line_range
    min_instruction, max_operations = header.min_instruction, header.max_operations
    default_flags = IS_STMT if header.default_is_stmt else 0
    simple = max_operations == 1
    # Advances of address and line by special opcode, computed once.
    advances = [(op - opcode_base) // line_range for op in range(opcode_base, 256)]
    lines = [line_base + (op - opcode_base) % line_range for op in range(opcode_base, 256)]
    const_add = advances[255 - opcode_base] if opcode_base <= 255 else 0

    sequence = Sequence()
    current.append(sequence)
    rows = sequence.rows
    new = tuple.__new__
    address = op_index = column = isa = discriminator = 0
    file = line = 1
    flags = default_flags

    while pos < end:
        work.unit()
        stop = min(end, pos + _SLICE)
        while pos < stop:
            opcode = data[pos]
            pos += 1
            if opcode >= opcode_base:
                opcode -= opcode_base
                if simple:
                    address += advances[opcode] * min_instruction
                else:
                    op_index += advances[opcode]
                    address += op_index // max_operations * min_instruction
                    op_index %= max_operations
                line += lines[opcode]
                rows.append(new(RawRow, (address, file, line, column, flags, isa, discriminator)))
                flags &= IS_STMT
                discriminator = 0
                continue
            if opcode == 5:  # set_column
                column = data[pos]
                if column < 0x80:
                    pos += 1
                else:
                    column, pos = uleb(data, pos)
            elif opcode == 3:  # advance_line
                delta, pos = sleb(data, pos)
                line += delta
            elif opcode == 1:  # copy
                rows.append(new(RawRow, (address, file, line, column, flags, isa, discriminator)))
                flags &= IS_STMT
                discriminator = 0
            elif opcode == 6:  # negate_stmt
                flags ^= IS_STMT
            elif opcode in (2, 8):  # advance_pc, const_add_pc
                if opcode == 2:
                    advance, pos = uleb(data, pos)
                else:
                    advance = const_add
                if simple:
                    address += advance * min_instruction
                else:
                    op_index += advance
                    address += op_index // max_operations * min_instruction
                    op_index %= max_operations
            elif opcode == 4:  # set_file
                file, pos = uleb(data, pos)
            elif opcode == 10:  # set_prologue_end
                flags |= PROLOGUE_END
            elif opcode == 0:
                start = pos - 1
                size, pos = uleb(data, pos)
                after = pos + size
                if size == 0 or after > end:
                    raise DebugInfoError(SECTION, start, f"an extended operation cannot have {size} bytes here")
                extended = data[pos]
                if extended == 1:  # end_sequence
                    sequence.end = address
                    if rows:
                        sequences.append(sequence)
                    if one:
                        return
                    sequence = Sequence()
                    current[-1] = sequence
                    rows = sequence.rows
                    address = op_index = column = isa = discriminator = 0
                    file = line = 1
                    flags = default_flags
                elif extended == 2:  # set_address
                    address = int.from_bytes(data[pos + 1:after], "little")
                    op_index = 0
                    if sequence.set_address is None and not rows:
                        sequence.set_address = start
                elif extended == 4:  # set_discriminator
                    discriminator = uleb(data, pos + 1)[0]
                # define_file (3) is not used by any producer since DWARF 2; vendor operations are passed over
                pos = after
            elif opcode == 7:  # set_basic_block
                flags |= BASIC_BLOCK
            elif opcode == 9:  # fixed_advance_pc
                address += int.from_bytes(data[pos:pos + 2], "little")
                op_index = 0
                pos += 2
            elif opcode == 11:  # set_epilogue_begin
                flags |= EPILOGUE_BEGIN
            elif opcode == 12:  # set_isa
                isa, pos = uleb(data, pos)
            else:
                for _ in range(header.operand_counts[opcode - 1]):
                    pos = uleb(data, pos)[1]
