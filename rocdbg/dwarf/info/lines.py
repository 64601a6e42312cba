"""Line tables: rows by address and by line, decoded no further than a query needs.

A program holds a sequence per contiguous piece of code, and code objects often have thousands of them. To answer a
query about an address, the reader searches the bytes for operations that set addresses, and runs only the sequence that
can contain the address. While the sequence runs, the reader checks that the bytes that it found really were such an
operation. If they were not, it runs the whole program as the standard specifies.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from itertools import accumulate
from typing import Final

from rocdbg import work
from rocdbg.addresses import FileAddress
from rocdbg.dwarf.info import line_program
from rocdbg.dwarf.info.errors import DebugInfoError, reraise
from rocdbg.dwarf.info.line_header import NO_LINES, SECTION, LineHeader, read_line_header
from rocdbg.dwarf.info.line_program import RawRow, Sequence
from rocdbg.dwarf.info.model import AddressRange, LineRow, SourceFile
from rocdbg.dwarf.info.sections import Sections
from rocdbg.errors import remembered

_END_SEQUENCE: Final = b"\x00\x01\x01"


class LineTable:
    """The line table at ``offset`` of ``.debug_line``. ``code``, if given, limits it to ranges known to contain code.
    Damage is passed to ``pass_over``; if that does not raise it, the table ends before the damage.
    """

    def __init__(
        self, sections: Sections, offset: int, *, address_size: int, comp_dir: str,
        code: tuple[AddressRange, ...] | None = None, pass_over: Callable[[DebugInfoError], None] = reraise,
    ) -> None:
        self._pass_over = pass_over
        self._sections = sections
        self.offset = offset
        self._address_size = address_size
        self._comp_dir = comp_dir
        self._code = code
        self._quick: dict[int, Sequence | None] = {}

    @remembered
    def header(self) -> LineHeader:
        """The header."""
        tables, size = self._sections.tables, len(self._sections[SECTION])
        try:
            tables.check(SECTION, self.offset)
            return read_line_header(
                self._sections, self.offset, self._address_size, self._comp_dir,
                lambda read: tables.count(SECTION, self.offset, read, size),
            )
        except DebugInfoError as error:
            self._pass_over(error)
            return NO_LINES

    @property
    def has_program(self) -> bool:
        """Whether the table has a program, which may produce rows."""
        return self.header.program < self.header.end

    @property
    def files(self) -> tuple[SourceFile, ...]:
        """All files; see ``file`` for their numbers."""
        return self.header.files

    def file(self, number: int) -> SourceFile | None:
        """The file with a number, as rows and DW_AT_decl_file use it; None when there is none."""
        index = number - self.header.first_file
        return self.header.files[index] if 0 <= index < len(self.header.files) else None

    @remembered
    def sequences(self) -> list[Sequence]:
        """All sequences of live code, by address."""
        header = self.header
        found = line_program.run(self._sections[SECTION], header.program, header, pass_over=self._pass_over)
        sequences = [sequence for sequence in found if self._is_live(sequence)]
        sequences.sort(key=lambda sequence: sequence.low)
        return sequences

    @remembered
    def _lows(self) -> list[int]:
        return [sequence.low for sequence in self.sequences]

    @remembered
    def _reach(self) -> list[int]:
        """For each sequence, the highest end address of it and the sequences before it."""
        return list(accumulate((sequence.end for sequence in self.sequences), max))

    def _is_live(self, sequence: Sequence) -> bool:
        """Whether the code of a sequence exists: code that the linker dropped has the address -1, 0 or -2."""
        low = sequence.low
        if low >= (1 << 8 * self.header.address_size) - 2:
            return False
        return self._code is None or any(low in part for part in self._code)

    @remembered
    def _candidates(self) -> tuple[list[int], list[int]]:
        """Addresses set by bytes that look like DW_LNE_set_address, sorted, and the positions of those bytes."""
        header = self.header
        size = header.address_size
        pattern = re.compile(b"(?=\x00" + bytes((size + 1,)) + b"\x02(" + b"." * size + b"))", re.DOTALL)
        found = sorted(
            (int.from_bytes(match[1], "little"), match.start())
            for match in pattern.finditer(self._sections[SECTION], header.program, header.end)
        )
        return [address for address, _ in found], [pos for _, pos in found]

    def sequence_at(self, pc: int) -> Sequence | None:
        """The sequence whose code contains ``pc``."""
        if "sequences" not in self.__dict__:
            sequence = self._quick_sequence_at(pc)
            if sequence is not None:
                return sequence
        for index in range(bisect_right(self._lows, pc) - 1, -1, -1):
            if pc < self.sequences[index].end:
                return self.sequences[index]
            if pc >= self._reach[index]:
                break
        return None

    def _quick_sequence_at(self, pc: int) -> Sequence | None:
        addresses, positions = self._candidates
        index = bisect_right(addresses, pc) - 1
        if index < 0:
            return None
        at = positions[index]
        if at not in self._quick:
            header = self.header
            data = self._sections[SECTION]
            before = data.rfind(_END_SEQUENCE, header.program, at)
            start = header.program if before < 0 else before + len(_END_SEQUENCE)
            try:
                sequences = line_program.run(data, start, header, one=True)
            except DebugInfoError:
                sequences = []  # the bytes were not an operation, or running the whole program will give the same error
            good = bool(sequences) and sequences[0].set_address == at and self._is_live(sequences[0])
            self._quick[at] = sequences[0] if good else None
        sequence = self._quick[at]
        return sequence if sequence is not None and sequence.low <= pc < sequence.end else None

    def row_at(self, pc: int) -> LineRow | None:
        """The row whose addresses contain ``pc``."""
        sequence = self.sequence_at(pc)
        if sequence is None:
            return None
        index = bisect_right(sequence.rows, pc, key=lambda row: row.address) - 1
        return self._row(sequence, index) if index >= 0 else None

    def rows_between(self, low: int, high: int) -> Iterator[LineRow]:
        """Rows with code in ``[low, high)``, by address, clipped to that range."""
        sequence = self.sequence_at(low)
        if sequence is None:
            return
        first = max(0, bisect_right(sequence.rows, low, key=lambda row: row.address) - 1)
        while first > 0 and sequence.rows[first - 1].address == low:
            first -= 1
        for index in range(first, len(sequence.rows)):
            if sequence.rows[index].address >= high:
                return
            yield self._row(sequence, index, low, high)

    def rows(self) -> Iterator[tuple[Sequence, int, RawRow]]:
        """All rows of live code: their sequence, their index in it, the row."""
        for sequence in self.sequences:
            work.unit()
            for index, row in enumerate(sequence.rows):
                yield sequence, index, row

    @remembered
    def _statements(self) -> dict[int, dict[int, list[int]]]:
        """Addresses where statements begin, by file number and line."""
        found: dict[int, dict[int, list[int]]] = {}
        for sequence, _, row in self.rows():
            if row.flags & line_program.IS_STMT and row.address < sequence.end:
                found.setdefault(row.file, {}).setdefault(row.line, []).append(row.address)
        return found

    @remembered
    def _statement_lines(self) -> dict[int, list[int]]:
        return {file: sorted(lines) for file, lines in self._statements.items()}

    def first_statement_line(self, files: set[int], line: int) -> int | None:
        """The first line, from a given line on, at which a statement begins in the files with these numbers."""
        found = []
        for file in files:
            lines = self._statement_lines.get(file, [])
            index = bisect_left(lines, line)
            found += lines[index : index + 1]
        return min(found, default=None)

    def statements(self, files: set[int], line: int) -> list[int]:
        """Addresses where statements of a line of the files with these numbers begin."""
        return [address for file in files for address in self._statements.get(file, {}).get(line, ())]

    def rows_of_line(self, files: set[int], line: int) -> list[LineRow]:
        """The rows of exactly this line of the files with these numbers."""
        return [
            self._row(sequence, index) for sequence in self.sequences for index, row in enumerate(sequence.rows)
            if row.line == line and row.file in files
        ]

    def lines_of_files(self, files: set[int]) -> set[int]:
        """The line numbers that occur in rows of the files with these numbers."""
        return {row.line for sequence in self.sequences for row in sequence.rows if row.file in files}

    def numbers_of(self, files: set[SourceFile]) -> set[int]:
        """The numbers of some files in this table."""
        first = self.header.first_file
        return {index + first for index, file in enumerate(self.header.files) if file in files}

    def _row(self, sequence: Sequence, index: int, low: int = 0, high: int | None = None) -> LineRow:
        row = sequence.rows[index]
        end = sequence.rows[index + 1].address if index + 1 < len(sequence.rows) else sequence.end
        file = self.file(row.file) or SourceFile("", "", "")
        flags = row.flags
        start, end = max(row.address, low), end if high is None else min(end, high)
        return LineRow(
            FileAddress(start), FileAddress(end), file, row.line, row.column,
            flags & line_program.IS_STMT != 0, flags & line_program.BASIC_BLOCK != 0,
            flags & line_program.PROLOGUE_END != 0, flags & line_program.EPILOGUE_BEGIN != 0,
            row.isa, row.discriminator,
        )

    def line_row(self, sequence: Sequence, index: int) -> LineRow:
        """The row at ``index`` of a sequence of this table."""
        return self._row(sequence, index)
