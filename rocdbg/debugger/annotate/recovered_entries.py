"""Facts that rocdbg derives about a program, written as debug information (see `annotated_file`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

from msgspec import Struct

from rocdbg import isa, work
from rocdbg.addresses import FileAddress
from rocdbg.arch.dwarf_registers import EXEC_32, EXEC_64, PC
from rocdbg.codeobject.elf_symbols import SymbolType
from rocdbg.debugger.annotate.clean_locations import LdsPlaces, clean_location
from rocdbg.debugger.frames.described_lanes import DescribedLanes
from rocdbg.debugger.frames.machine_code import MachineCode
from rocdbg.debugger.frames.physical_frame import PRIVATE_BASE
from rocdbg.debugger.program.exec_map import ExecMap
from rocdbg.debugger.program.program import Program
from rocdbg.dwarf.cfi_unwinding import Row
from rocdbg.dwarf.context import LocationList, LocationListEntry
from rocdbg.dwarf.conventions import UpstreamClang
from rocdbg.dwarf.errors import DwarfError
from rocdbg.dwarf.info import Function, Variable
from rocdbg.dwarf.info.attribute_values import Constant, Exprloc
from rocdbg.dwarf.info.constants import At, Tag, UnitType
from rocdbg.dwarf.info.die import Die
from rocdbg.dwarf.info.unit import Unit
from rocdbg.dwarf.operation_assembler import assemble
from rocdbg.dwarf.rewriting.entry_writer import NewValue
from rocdbg.dwarf.rewriting.location_list_writer import LONGEST_OF_PAIRS

AUGMENTATION = "[amdgpu:v0.0]"
"""DW_AT_LLVM_augmentation for units that use the extensions."""

_NEWER_CODES = {
    At.LLVM22_LANES: At.LLVM_LANES, At.LLVM22_LANE_PC: At.LLVM_LANE_PC, At.LLVM22_VECTOR_SIZE: At.LLVM_VECTOR_SIZE,
}
"""The codes of the extensions' attributes in upstream LLVM: those of dialect "amd"."""
_VARIABLES = (Tag.VARIABLE, Tag.FORMAL_PARAMETER)
_MOST_BYTES = 64 << 20
"""The maximum size of all lane location lists together: functions whose lists would exceed it get no lists."""


class CodeRange(Struct, frozen=True):
    """A function in the symbol table, and the size of the waves that run it; ``None`` if waves of both sizes may run
    it.
    """

    start: FileAddress
    end: FileAddress
    wave_size: int | None


class Annotation:
    """Determines the new debug information of a program, entry by entry, in order (an `Editor`)."""

    def __init__(self, program: Program, machine_code: MachineCode) -> None:
        self._program = program
        self._machine_code = machine_code
        self._exec_map = ExecMap(program)
        self._target = program.code_object.target.name
        self._lds = LdsPlaces(program)
        self._described = DescribedLanes(lambda _, wave_size: machine_code.rows(wave_size))
        self._wave_size = program.wave_size
        self._left = _MOST_BYTES
        self.with_lanes = 0
        """How many functions have been given lane PCs so far."""

    # -- functions

    @cached_property
    def functions(self) -> dict[FileAddress, CodeRange]:
        """The functions of the symbol table by address."""
        code_object = self._program.code_object
        sizes = {kernel.wave_size for kernel in code_object.kernels.values()}
        common = self._program.wave_size if len(sizes) < 2 else None
        found: dict[FileAddress, CodeRange] = {}
        for symbol in code_object.symbols:
            if not symbol.is_defined or not symbol.size or symbol.type not in (
                SymbolType.FUNC, SymbolType.AMDGPU_HSA_KERNEL,
            ):
                continue
            kernel = code_object.kernels.find(symbol.name)
            start = code_object.address_of(symbol)
            found[start] = CodeRange(
                start, FileAddress(start + symbol.size), common if kernel is None else kernel.wave_size
            )
        return found

    def rows(self, function: CodeRange) -> list[Row]:
        """Return the unwind rules derived from a function's machine code; there are gaps where none can be derived."""
        if function.wave_size is None:
            return []
        source = self._machine_code.rows(function.wave_size)
        rows: list[Row] = []
        for instruction in self._instructions(function, function.wave_size):
            work.unit()
            low, high = instruction.address, instruction.address + instruction.size
            row = source.row(low)
            if row is None:
                continue
            inside = source.row(low + 1) if instruction.flow is not isa.Flow.NEXT else row
            # the rules inside a call instruction apply while the called function runs
            bounds = [(low, high, row)]
            if inside is not None and (inside.cfa, inside.rules) != (row.cfa, row.rules):
                bounds = [(low, low + 1, row), (low + 1, high, inside)]
            for start, end, what in bounds:
                before = rows[-1] if rows else None
                if before is not None and before.end == start and (before.cfa, before.rules) == (what.cfa, what.rules):
                    rows[-1] = Row(before.start, end, before.cfa, before.rules, PC, before.dialect)
                else:
                    rows.append(Row(start, end, what.cfa, what.rules, PC, what.dialect))
        return rows

    def _instructions(self, function: CodeRange, wave_size: int) -> Iterator[isa.Instruction]:
        code = self._program.code_object.read(function.start, function.end - function.start)
        return iter(isa.disassemble(code, self._target, address=function.start, wave_size=wave_size))

    def _lanes(self, die: Die) -> Iterator[tuple[int, NewValue]]:
        """Yield the attributes about lanes that a function lacks."""
        low = Function(die).low_pc
        function = self.functions.get(low) if low is not None else None
        if function is None or function.wave_size is None:
            return
        if not any(die.has(code) for code in (At.LLVM_LANE_PC, At.LLVM22_LANE_PC)):
            entries = self._machine_code.lane_pc_list(function.start, function.wave_size)
            if self._fit(entries, die.unit):
                if not any(die.has(code) for code in (At.LLVM_LANES, At.LLVM22_LANES)):
                    yield At.LLVM_LANES, function.wave_size
                yield At.LLVM_LANE_PC, entries
                self.with_lanes += 1
        if not die.has(At.LLVM_ACTIVE_LANE):
            entries = self._active_lanes(function, function.wave_size)
            if self._fit(entries, die.unit):
                yield At.LLVM_ACTIVE_LANE, entries

    def _fit(self, entries: Sequence[LocationListEntry], unit: Unit) -> bool:
        size = sum(len(data) for _, _, data in entries)
        if not entries or size > self._left:
            return False
        if unit.version < 5 and any(len(data) > LONGEST_OF_PAIRS for _, _, data in entries):
            return False
        self._left -= size
        return True

    def _active_lanes(self, function: CodeRange, wave_size: int) -> list[LocationListEntry]:
        """Return DW_AT_LLVM_active_lane of a function; empty if EXEC is the mask of active lanes throughout."""
        exec_mask = assemble(("regx", EXEC_32 if wave_size == 32 else EXEC_64))
        found: list[LocationListEntry] = []
        differs = False
        for instruction in self._instructions(function, wave_size):
            low, high = instruction.address, instruction.address + instruction.size
            data = exec_mask
            if self._exec_map.wakes_lanes(low, wave_size):
                expression = self._machine_code.active_lanes(FileAddress(low), wave_size)
                if expression is not None:
                    data, differs = expression.data, True
            if found and found[-1][1:] == (low, data):
                found[-1] = found[-1][0], high, data
            else:
                found.append((low, high, data))
        return found if differs else []

    # -- the editor

    @staticmethod
    def _is_renewed(unit: Unit) -> bool:
        """Whether a unit has upstream's dialect; units in other dialects are kept as their compilers wrote them."""
        return unit.dialect == "llvm22" and unit.unit_type not in (UnitType.SKELETON, UnitType.SPLIT_COMPILE)

    def dialect(self, unit: Unit) -> str:
        """See `Editor`."""
        return "amd" if self._is_renewed(unit) else unit.dialect

    def code(self, unit: Unit, code: int) -> int:
        """See `Editor`."""
        return _NEWER_CODES.get(code, code) if self._is_renewed(unit) else code

    def changed(
        self, die: Die, code: int, value: Constant | Exprloc | Sequence[LocationListEntry]
    ) -> NewValue | None:
        """See `Editor`."""
        unit = die.unit
        if die.tag == Tag.SUBPROGRAM:
            self._enter(die)
        if not self._is_renewed(unit):
            return None
        if isinstance(value, Constant):
            space = unit.conventions.address_space(value.value) if code == At.ADDRESS_CLASS else value.value
            return space if space != value.value else None
        if isinstance(value, Exprloc):
            data = self._clean(die, code, value.data)
            return None if data == value.data else Exprloc(data)
        entries = [(low, high, self._clean(die, code, data)) for low, high, data in value]
        if code == At.LOCATION and die.tag in _VARIABLES and isinstance(unit.conventions, UpstreamClang):
            listed = LocationList(entries, self.dialect(unit))
            return self._described.without_gaps(self._program, self._wave_size, Variable(die), listed)
        return entries

    def _clean(self, die: Die, code: int, data: bytes) -> bytes:
        """Return an expression in the form that the specification defines."""
        conventions = die.unit.conventions
        try:
            if code == At.FRAME_BASE:
                return conventions.frame_base(data, self._target, self._wave_size)
            if code == At.DATA_MEMBER_LOCATION:
                return conventions.member(data)
            if code == At.LOCATION and die.tag in _VARIABLES:
                placed = self._lds.location(die)
                return placed or clean_location(self._program, die, data, self._target, self._wave_size)
        except DwarfError:
            return data  # the expression cannot be read
        return data

    def added(self, die: Die) -> Sequence[tuple[int, NewValue]]:
        """See `Editor`."""
        unit = die.unit
        found: list[tuple[int, NewValue]] = []
        if self._is_renewed(unit):
            if die.offset == unit.first:
                found.append((At.LLVM_AUGMENTATION, AUGMENTATION))
            elif die.tag == Tag.VARIABLE and not die.has(At.LOCATION):
                placed = self._lds.location(die)
                if placed is not None:
                    found.append((At.LOCATION, Exprloc(placed)))
        if die.tag == Tag.SUBPROGRAM:
            self._enter(die)
            function = Function(die)
            if self._is_renewed(unit) and function.low_pc is not None and function.frame_base is None and (
                self._program.is_kernel(function)
            ):
                found.append((At.FRAME_BASE, Exprloc(PRIVATE_BASE.data)))
            if self.dialect(unit) == "amd":
                found += self._lanes(die)
        return found

    def _enter(self, die: Die) -> None:
        """Note that the following entries belong to a function: use the size of the waves that run it."""
        low = Function(die).low_pc
        function = self.functions.get(low) if low is not None else None
        if function is not None:
            self._wave_size = function.wave_size or self._program.wave_size
