"""Unwind rules and lane PCs derived from machine code, for code whose debug information lacks them.

Positions of lanes are computed for each function on demand, and cached on disk.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from rocdbg import analysis, isa
from rocdbg.addresses import FileAddress
from rocdbg.analysis.control_flow import FunctionCode
from rocdbg.analysis.prologue import PrologueRows
from rocdbg.analysis.unknown_places import UNKNOWN
from rocdbg.arch import targets
from rocdbg.arch.targets import ScratchKind
from rocdbg.codeobject.elf import SHF_EXECINSTR
from rocdbg.debugger.program.exec_map import ExecMap
from rocdbg.debugger.program.program import Program
from rocdbg.dwarf.context import Expression, LocationListEntry
from rocdbg.dwarf.info import SourceFile
from rocdbg.dwarf.operation_assembler import Item
from rocdbg.errors import Error
from rocdbg.sim.engine.translation_cache import default_cache_directory, open_cache

if TYPE_CHECKING:
    from rocdbg.analysis.lane_table import LaneTable
    from rocdbg.debugger.program.compiler_bookkeeping import Bookkeeping

_DIALECT = "amd"
_WAVE_SIZES = (32, 64)
_WORTH_KEEPING = 2000
"""Code size in bytes above which a function's table is cached on disk: for a smaller function, loading the table takes
as long as computing it.
"""


class MachineCode:
    """Facts derived from a program's machine code: unwind rules, positions of lanes, bookkeeping code.

    The first two are computed for a function on demand, and separately for each wave size, since both may run it.
    """

    def __init__(self, program: Program) -> None:
        self._program = program
        self._find = program.functions.at
        self._tables: dict[tuple[int, int], LaneTable] = {}
        self._rows: dict[int, PrologueRows] = {}
        self.source_line: Callable[[SourceFile, int], str | None] = lambda file, line: None

    @cached_property
    def bookkeeping(self) -> Bookkeeping:
        """Finds code that is the compiler's bookkeeping and not a statement."""
        from rocdbg.debugger.program.compiler_bookkeeping import Bookkeeping  # imported late: only stepping needs it

        return Bookkeeping(self._program, ExecMap(self._program), self.source_line)

    def rows(self, wave_size: int) -> PrologueRows:
        """Unwind rows by file address for the functions of the program, for a wave size."""
        found = self._rows.get(wave_size)
        if found is None:
            code_object = self._program.code_object

            def entered(pc: int) -> tuple[Item, ...] | None:
                table = self._table(FileAddress(pc), wave_size)
                return None if table is None else table.entered(pc)

            found = self._rows[wave_size] = PrologueRows(
                code_object.target, wave_size, self._find, code_object.read, entered, self._pointers.get
            )
        return found

    def lane_pc(self, pc: FileAddress, wave_size: int) -> Expression | None:
        """Return the DW_AT_LLVM_lane_pc expression for an address; ``None`` outside functions that could be analysed.
        """
        table = self._table(pc, wave_size)
        found = table.lane_pc(pc) if table is not None else None
        return None if found is None else Expression(found, _DIALECT)

    def lane_pc_list(self, start: FileAddress, wave_size: int) -> Sequence[LocationListEntry]:
        """Return DW_AT_LLVM_lane_pc of the function at an address, for all its code; empty if `lane_pc` has no
        expression there. If several addresses are the same place in the source, the first is used.
        """
        table = self._table(start, wave_size)
        if table is None:
            return []
        first = {
            number: place for number in range(len(table.leaves))
            if (place := self.place(UNKNOWN + number, start, wave_size)) is not None
        }
        return table.with_places(first).lane_pc_list()

    def active_lanes(self, pc: FileAddress, wave_size: int) -> Expression | None:
        """Return the DW_AT_LLVM_active_lane expression; ``None`` where EXEC itself is the mask of active lanes."""
        table = self._table(pc, wave_size)
        found = table.active_lanes(pc) if table is not None else None
        return None if found is None else Expression(found, _DIALECT)

    def tells_all(self, pc: FileAddress, wave_size: int) -> bool:
        """Whether exactly one place is known for each lane that waits while the wave is at an address."""
        table = self._table(pc, wave_size)
        return table is not None and not table.leaves and table.lane_pc(pc) is not None

    def place(self, element: int, pc: FileAddress, wave_size: int) -> FileAddress | None:
        """If an element represents several addresses that are the same place in the source, return one of these
        addresses.
        """
        places = self.candidates(element, pc, wave_size)
        if not places:
            return None
        first = self._source_place(places[0])
        if first is not None and all(self._source_place(other) == first for other in places[1:]):
            return places[0]
        return None

    def candidates(self, element: int, pc: FileAddress, wave_size: int) -> list[FileAddress]:
        """Return the possible places of a lane whose place is not known."""
        table = self._table(pc, wave_size)
        if table is None:
            return []
        return [FileAddress(place) for place in table.candidates(element)]

    def reason(self, pc: FileAddress, wave_size: int) -> str:
        """The reason why nothing is known about the function's lanes; empty if something is known."""
        table = self._table(pc, wave_size)
        return table.reason if table is not None else "the code belongs to no known function"

    def _source_place(self, address: FileAddress) -> tuple[object, ...] | None:
        program = self._program
        if not program.has_debug_info:
            return None
        row = program.info.line_at(address)
        if row is None or not row.line:
            return None
        inlined = tuple(call.offset for call in program.info.inline_frames_at(address))
        return row.file.path, row.line, inlined

    def _table(self, pc: FileAddress, wave_size: int) -> LaneTable | None:
        function = self._find(pc) if wave_size in _WAVE_SIZES else None
        if function is None:
            return None
        key = function.start, wave_size
        if key not in self._tables:
            self._tables[key] = self._make(function, wave_size)
        return self._tables[key]

    def _make(self, function: FunctionCode, wave_size: int) -> LaneTable:
        # Imported late: most sessions never examine a waiting lane.
        from rocdbg.analysis.diagrams import TooLargeError
        from rocdbg.analysis.lane_positions import LanePositions
        from rocdbg.analysis.lane_table import from_bytes, no_table, table_of, to_bytes

        code_object = self._program.code_object
        try:
            code = code_object.read(function.start, function.end - function.start)
        except Error as error:
            return no_table(function.start, function.end, wave_size, str(error))
        target = code_object.target
        cache = open_cache(default_cache_directory()) if len(code) > _WORTH_KEEPING else None
        # Code does not show what its calls change: for a function with calls, the key covers the whole file.
        digest = hashlib.sha256(_analysis_identity())
        digest.update(f"{target.name} {wave_size} {function}".encode())
        digest.update(code)
        digest.update(self._calls_identity)
        silent = self._silent(function)
        digest.update(repr(silent).encode())
        key = digest.hexdigest()
        entry = cache.read(key) if cache is not None else None
        table = from_bytes(entry[1]) if entry is not None else None
        if table is not None and (table.start, table.end, table.wave_size) == (
            function.start, function.end, wave_size
        ):
            return table
        unswizzled = target.scratch is ScratchKind.BUFFER
        try:
            # the effects of calls are determined only if there are calls
            positions = LanePositions(
                function, code, target.name, wave_size,
                lambda call, target: self.rows(wave_size).clobbers(call, target), silent,
            )
            table = table_of(positions, unswizzled)
        except TooLargeError as error:  # cached as well: the failed attempt took time
            table = no_table(function.start, function.end, wave_size, str(error))
        except RecursionError:
            return no_table(function.start, function.end, wave_size, "the control flow is too deep")
        if cache is not None:
            cache.write(key, b"lanes", to_bytes(table))
        return table

    def _silent(self, function: FunctionCode) -> list[tuple[int, int]]:
        """Return the parts of a function's code that have no line in the line table; none if no part has a line."""
        program = self._program
        unit = program.info.unit_at(FileAddress(function.start)) if program.has_debug_info else None
        table = unit.line_table if unit is not None else None
        found: list[tuple[int, int]] = []
        lines = 0
        for row in table.rows_between(function.start, function.end) if table is not None else ():
            if row.line:
                lines += 1
            elif row.end_address == row.address:
                continue
            elif found and found[-1][1] == row.address:
                found[-1] = found[-1][0], row.end_address
            else:
                found.append((row.address, row.end_address))
        return found if lines else []

    @cached_property
    def _pointers(self) -> dict[int, int]:
        """The contents of the global offset table; empty if relocations are damaged."""
        try:
            return self._program.code_object.fixed_pointers
        except Error:
            return {}

    @cached_property
    def _calls_identity(self) -> bytes:
        digest = hashlib.sha256()
        for section in self._program.code_object.container.section_list:
            if section.flags & SHF_EXECINSTR:  # usually one; an unlinked object has one for each function
                digest.update(section.data)
        digest.update(repr(sorted(self._pointers.items())).encode())
        return digest.digest()


@lru_cache(maxsize=1)
def _analysis_identity() -> bytes:
    """Identify the version of the analysis by its source: another version may give other results."""
    digest = hashlib.sha256()
    for folder in (Path(module.__file__ or "").parent for module in (analysis, isa, targets)):
        for file in sorted([*folder.glob("*.py"), *folder.glob("*/*.json")]):
            info = file.stat()
            digest.update(f"{file} {info.st_size} {info.st_mtime_ns} {info.st_ctime_ns} {info.st_ino}\n".encode())
    return digest.digest()
