"""The debug information of one code object."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import PurePosixPath

from rocdbg.addresses import FileAddress
from rocdbg.dwarf.info.all_names import DeclaredName, all_names
from rocdbg.dwarf.info.code_locations import function_locations, line_locations, location_at
from rocdbg.dwarf.info.die import Die
from rocdbg.dwarf.info.entries import Entries
from rocdbg.dwarf.info.function_index import FunctionIndex
from rocdbg.dwarf.info.lines import LineTable
from rocdbg.dwarf.info.model import AddressRange, CodeLocation, LineRow, SourceFile
from rocdbg.dwarf.info.namespaces import Namespaces
from rocdbg.dwarf.info.prologue_end import prologue_end
from rocdbg.dwarf.info.scopes import Entity, Function, InlinedSubroutine, Scope, Variable
from rocdbg.dwarf.info.sections import Sections
from rocdbg.dwarf.info.split_units import SplitFiles
from rocdbg.dwarf.info.symbol_index import TypeIndex, VariableIndex
from rocdbg.dwarf.info.types import Type
from rocdbg.dwarf.info.unit import Unit
from rocdbg.errors import Error, remembered

_MOST_PLACES = 1024


class DebugInfo:
    """Debug information of one code object, read lazily.

    ``sections`` maps section names (``".debug_info"``) to their bytes, relocated and uncompressed; missing
    sections are empty. Opening reads nothing; the first question about a name or an address makes a quick pass over the
    entries of the units concerned. Addresses are those of the file: subtract the load bias first.

    ``address_sizes`` gives the size in bytes of pointers into those DWARF address spaces in which it differs from the
    unit's address size, because compilers do not write it down. By default the sizes are those of ``architecture``, a
    name in the registry of ``rocdbg.dwarf.architecture``; for an unknown name, all pointers have the unit's address
    size. ``code`` lists the address ranges of the object's code; with it, code that the linker dropped (and left at
    address 0) is recognised. ``split_files`` finds the objects and packages to which skeleton units refer (DWARF 5
    section 7.3.2), ``supplement`` gives the sections of the supplementary file (section 7.3.6).

    All methods raise ``DebugInfoError`` if the debug information that they have to read is damaged. With ``report``,
    damage is reported to it instead and the rest is used: an attribute that cannot be read counts as absent, and a list
    or table ends where the damage begins.

    Names are matched as in GDB. A name may be plain (``add``), partly or wholly qualified (``S<float,
    3>::get``, ``ns::add``; ``::add`` only at global scope), a linkage name, and may leave out template
    arguments (``kern`` finds ``kern<2>`` and ``kern<3>``) or give parameter types (``add(int, int)``).
    White space does not matter.

    ``starts`` maps the entry address of a function to the address where its execution begins, which differs if the code
    at the entry is for other machines. Breakpoints are placed after the start. ``target`` names the processor of the
    code ("gfx90a"), which determines what producers mean by some of their expressions.
    """

    def __init__(
        self, sections: Mapping[str, bytes], *, address_sizes: Mapping[int, int] | None = None,
        architecture: str = "amdgcn", code: Iterable[AddressRange] | None = None,
        split_files: SplitFiles | None = None, supplement: Callable[[], Mapping[str, bytes] | None] | None = None,
        starts: Callable[[FileAddress], FileAddress] = lambda entry: entry, target: str = "",
        report: Callable[[Error], None] | None = None,
    ) -> None:
        live = None if code is None else tuple(code)
        self._entries = Entries(
            Sections(sections, supplement), address_sizes, architecture, live, split_files, target, report
        )
        self._functions = FunctionIndex(self._entries)
        self._variables = VariableIndex(self._entries)
        self._types = TypeIndex(self._entries)
        self.namespaces = Namespaces(self._entries)
        self.starts = starts
        self.is_code: Callable[[FileAddress, FileAddress], bool] = lambda start, address: True
        """Whether execution of the function that begins at the first address can reach the second address; it cannot if
        no instruction begins there.
        """
        self.can_be_passed_by: Callable[[FileAddress, FileAddress], bool] = lambda start, address: False
        """Whether a branch between a function's start (the first address) and the second address leads to code beyond
        the second address.
        """
        self._breakpoint_addresses: dict[Function, FileAddress | None] = {}
        self._scopes_at: dict[FileAddress, tuple[Scope, ...]] = {}
        """A cache of the latest results: lanes are at few addresses, and functions may have thousands of blocks."""

    # Units and entries

    @property
    def units(self) -> tuple[Unit, ...]:
        """All units, in order; type units among them."""
        return tuple(self._entries.units)

    def unit_at(self, pc: FileAddress) -> Unit | None:
        """The unit with code at ``pc``."""
        function = self.function_at(pc)
        if function is not None:
            return function.unit
        return next(iter(self._functions.units_stated_at(pc)), None)

    @property
    def entries(self) -> Entries:
        """The underlying entries, for code that rewrites them."""
        return self._entries

    def die(self, offset: int) -> Die:
        """The entry at ``offset`` of ``.debug_info``."""
        return self._entries.die(offset)

    # Functions

    def functions_named(self, name: str) -> list[Function]:
        """All functions that ``name`` matches, including those that were only inlined; empty when there are none."""
        return self._functions.named(name)

    def functions_matching(self, pattern: str | re.Pattern[str] = "") -> list[Function]:
        """Functions whose ``qualified_name`` contains a match of the regular expression, sorted by that name."""
        return self._functions.matching(pattern)

    def function_at(self, pc: FileAddress) -> Function | None:
        """The (not inlined) function with code at ``pc``."""
        return self._functions.at(pc)

    def inlined_instances(self, function: Function) -> list[InlinedSubroutine]:
        """Every place where ``function`` was inlined, in order of address."""
        return self._functions.inlined(function)

    # Scopes

    def scopes_at(self, pc: FileAddress) -> tuple[Scope, ...]:
        """The scopes around ``pc``, innermost first; the last is the ``Function``. Empty outside all
        functions."""
        found = self._scopes_at.get(pc)
        if found is None:
            function = self.function_at(pc)
            found = () if function is None else tuple(reversed(function.chain_at(pc)))
            if len(self._scopes_at) >= _MOST_PLACES:
                self._scopes_at.clear()
            self._scopes_at[pc] = found
        return found

    def inline_frames_at(self, pc: FileAddress) -> tuple[InlinedSubroutine, ...]:
        """The inlined calls around ``pc``, innermost first.

        The innermost virtual frame is at ``line_at(pc)``; the frame that called element k is at its
        ``call_file``:``call_line``.
        """
        return tuple(scope for scope in self.scopes_at(pc) if isinstance(scope, InlinedSubroutine))

    # Variables

    def variables_named(self, name: str) -> list[Variable]:
        """Global variables and static class members called ``name``, definitions before declarations."""
        return self._variables.named(name)

    def global_variables_matching(self, pattern: str | re.Pattern[str] = "") -> list[Variable]:
        """Global variables whose qualified name contains a match of the regular expression, sorted by that name."""
        return self._variables.matching(pattern)

    # Types

    def types_named(self, name: str) -> list[Type]:
        """The types called ``name``, definitions first. A name is given without a keyword: ``S``, ``ns::S<float, 3>``,
        ``unsigned int``.

        Types declared inside functions are found through ``Scope.types``.
        """
        return self._types.named(name)

    def types_matching(self, pattern: str | re.Pattern[str] = "", by_unit: bool = False) -> list[Type]:
        """Named types whose qualified name contains a match of the regular expression, sorted by that name. With
        ``by_unit``, a type is listed once for each unit that has it, otherwise only once.
        """
        return self._types.matching(pattern, by_unit)

    def is_of_unit(self, type: Type, unit: Unit) -> bool:
        """Whether a type was read from the entries of a unit."""
        return type.offset is not None and self._entries.die(type.offset).unit is unit

    def declared_at(self, type: Type) -> tuple[SourceFile | None, int | None, bool]:
        """The file and line of a named type's declaration, and whether its unit is C++.

        A type without a declaration, such as a built-in type of the language, belongs to its unit's primary file.
        """
        if type.offset is None:
            return None, None, False
        entity = Entity(self._entries.die(type.offset))
        files = entity.unit.files
        return entity.decl_file or (files[0] if files else None), entity.decl_line, entity.unit.is_cxx

    def type_at(self, offset: int) -> Type:
        """The type whose entry is at ``offset`` of ``.debug_info``."""
        return self._entries.types.at(offset)

    def complete_type(self, type: Type) -> Type:
        """The definition of a class or enumeration that was only declared; ``type`` itself when there is
        none."""
        return self._types.definition(type)

    def declared_names(self) -> Iterator[DeclaredName | None]:
        """Yields the names of all functions, variables, types and enumerators, and ``None`` after each entry."""
        return all_names(self._entries)

    # Lines

    @remembered
    def line_tables(self) -> tuple[LineTable, ...]:
        """The line tables of all units, each once."""
        tables = {unit.line_table: None for unit in self._entries.units}
        return tuple(table for table in tables if table is not None)

    @remembered
    def source_files(self) -> list[SourceFile]:
        """All files of all line tables, each once, sorted by path."""
        files: dict[SourceFile, SourceFile] = {}
        for table in self.line_tables:
            for file in table.files:
                known = files.get(file)
                if known is None or known.source is None:
                    files[file] = file
        return sorted(files.values(), key=lambda file: (file.path, file.name))

    def files_named(self, name: str) -> list[SourceFile]:
        """The files that ``name`` matches (see ``SourceFile.matches``)."""
        last = PurePosixPath(name).name
        found = {*self._files_by_word.get(last, ()), *self._files_by_word.get(name, ())}
        files = self.source_files
        return [files[index] for index in sorted(found) if files[index].matches(name)]

    @remembered
    def _files_by_word(self) -> dict[str, list[int]]:
        """Indices of the source files by the last component of their path, and by their name."""
        found: dict[str, list[int]] = {}
        for index, file in enumerate(self.source_files):
            for word in {file.basename, file.name}:
                found.setdefault(word, []).append(index)
        return found

    def _files(self, file: str | SourceFile) -> set[SourceFile]:
        if isinstance(file, str):
            return set(self.files_named(file))
        return {other for other in self.source_files if other.path == file.path}

    def line_at(self, pc: FileAddress) -> LineRow | None:
        """The row whose addresses contain ``pc``; its ``line`` may be 0."""
        for table in self._functions.line_tables_at(pc):
            row = table.row_at(pc)
            if row is not None:
                return row
        return None

    def lines_of(self, scope: Scope) -> list[LineRow]:
        """The rows of a function's (or any scope's) code, in order of address, clipped to its ranges."""
        table = scope.unit.line_table
        if table is None:
            return []
        return [row for part in sorted(scope.ranges) for row in table.rows_between(part.low, part.high)]

    def rows_of_line(self, file: str | SourceFile, line: int) -> list[LineRow]:
        """All rows of exactly that line, statement starts or not, by address (``info line``)."""
        files = self._files(file)
        found = []
        for table in self.line_tables:
            numbers = table.numbers_of(files)
            if numbers:
                found += table.rows_of_line(numbers, line)
        return sorted(found, key=lambda row: row.address)

    def lines_with_code(self, file: str | SourceFile) -> list[int]:
        """The lines of a file that have code, ascending."""
        files = self._files(file)
        lines: set[int] = set()
        for table in self.line_tables:
            numbers = table.numbers_of(files)
            if numbers:
                lines |= table.lines_of_files(numbers)
        return sorted(lines - {0})

    # Breakpoints

    def addresses_of(self, file: str | SourceFile, line: int) -> list[CodeLocation]:
        """Where GDB puts the breakpoints for ``file:line``, by address; empty when neither this line nor a later one
        has code.

        They are the starts of statements of that line. If the line has no statements, the next line of the file with
        statements is used (``CodeLocation.line`` is its number). Each function or inlined instance has one location, at
        the lowest address; if that is the start of a function, the location is moved to the end of the prologue.
        """
        return line_locations(self, self._files(file), line)

    def breakpoint_address(self, function: Function) -> FileAddress | None:
        """The address at which GDB puts a breakpoint on a function: the end of its prologue. This is the first row
        marked ``prologue_end``, else the address of the function's second line, else its entry. None for a function
        without code.
        """
        if function not in self._breakpoint_addresses:
            self._breakpoint_addresses[function] = prologue_end(self, function)
        return self._breakpoint_addresses[function]

    def breakpoint_locations(self, function: Function) -> list[CodeLocation]:
        """The ``breakpoint_address`` of the function, and the entry of each of its inlined instances."""
        return function_locations(self, function)

    def location_at(self, pc: FileAddress) -> CodeLocation:
        """The line and innermost function at an address."""
        return location_at(self, pc)
