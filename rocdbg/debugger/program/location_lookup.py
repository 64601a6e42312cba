"""Resolves location specifications (`linespec`) in a code object.

A `Location` contains the address in the file, so it remains valid when the program is loaded elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from rocdbg.addresses import FileAddress, LoadedAddress
from rocdbg.codeobject import Symbol
from rocdbg.codeobject.demangle import matches_symbol
from rocdbg.debugger.base.errors import NO_SYMBOL_TABLE, LocationSpecError
from rocdbg.debugger.program.location_syntax import FunctionSpec, LineSpec
from rocdbg.debugger.program.opencl_kernels import is_kernel_wrapper
from rocdbg.debugger.program.program import Program, same_function
from rocdbg.dwarf.errors import IllFormed
from rocdbg.dwarf.info import CodeLocation, Function, Scope, SourceFile
from rocdbg.dwarf.info.scopes import Label
from rocdbg.dwarf.info.types import ClassType, Type
from rocdbg.dwarf.info.whereabouts import whose

if TYPE_CHECKING:
    from rocdbg.analysis.control_flow import FunctionCode

MOST_BASES = 32
"""How many generations of base classes are searched for a method."""
MOST_KNOWN = 1 << 14
"""The maximum number of locations that a program caches."""
_CODE_SYMBOLS = (0, 2, 10)  # STT_NOTYPE (labels), STT_FUNC and STT_AMDGPU_HSA_KERNEL

_EXECUTABLE = 4
"""SHF_EXECINSTR."""


class Location(Struct, frozen=True):
    """A place in the program. ``file`` and ``line`` are set if known; ``function`` is the name of the function as shown
    in tables.
    """

    program: Program
    file_address: FileAddress
    file: SourceFile | None = None
    line: int | None = None
    function: str | None = None
    code: Function | None = None
    label: str = ""
    """``FUNCTION:LABEL`` if the place was found by its label."""

    @property
    def address(self) -> LoadedAddress:
        """The address as loaded now."""
        return self.program.to_loaded(self.file_address)


class Defaults(Struct, frozen=True):
    """The default file and line of locations: those of the selected frame, or of the last listing."""

    file: SourceFile | None
    line: int | None


class LocationResolver:
    """Finds the places of names and lines in one code object."""

    def __init__(self, program: Program, defaults: Callable[[], Defaults]) -> None:
        self._program = program
        self._make_defaults = defaults

    @cached_property
    def _defaults(self) -> Defaults:
        return self._make_defaults()

    def resolve(self, spec: LineSpec | FunctionSpec) -> list[Location]:
        """Return the places for breakpoints, ordered by address. Raises `LocationSpecError` with GDB's wording."""
        if isinstance(spec, LineSpec) and (spec.relative or spec.file is None):
            return self._resolve(spec)  # not cached: it depends on where the program is stopped
        return list(self._known(spec, lambda: self._resolve(spec)))

    def _known(self, what: object, find: Callable[[], Sequence[Location]]) -> Sequence[Location]:
        """Return the cached locations, or find and cache them."""
        known = self._program.known_places
        found = known.get(what)
        if found is None:
            found = tuple(find())
            if len(known) >= MOST_KNOWN:
                known.clear()
            known[what] = found
        return found

    def _resolve(self, spec: LineSpec | FunctionSpec) -> list[Location]:
        if isinstance(spec, FunctionSpec):
            found = self._functions(self.without_function_as_file(spec))
        elif self._is_function(spec.file):
            found = self._functions(FunctionSpec(spec.file or ""))
        else:
            found = self._lines(spec)
        return list({place.file_address: place for place in reversed(found)}.values())[::-1]

    def without_function_as_file(self, spec: FunctionSpec) -> FunctionSpec:
        """Interpret ``f:label``, where ``f`` is a function and not a file, as the label in the function."""
        return FunctionSpec(spec.file or "", label=spec.name) if self._is_function(spec.file) else spec

    def _is_function(self, file: str | None) -> bool:
        """Whether an apparent file name is that of a function: GDB interprets ``f:12`` as the function itself."""
        if file is None or not self._program.has_debug_info:
            return False
        info = self._program.info
        return not info.files_named(file) and bool(
            info.functions_named(file) or _plain_functions(self._program, file, qualified=True)
        )

    def at(self, address: FileAddress) -> Location:
        """Return the place at a file address."""
        return self._known(address, lambda: [self._at(address)])[0]

    def _at(self, address: FileAddress) -> Location:
        program = self._program
        loaded = program.to_loaded(address)
        row = program.line_at(loaded)
        function = self._innermost_function(address)
        symbol = program.symbol_and_offset(loaded, data=False)
        file, line = (row.file, row.line) if row is not None and row.line else (None, None)
        name = program.function_title(function) if function is not None else (symbol[0] if symbol else None)
        return Location(program, address, file, line, name, function)

    def _innermost_function(self, address: FileAddress) -> Function | None:
        program = self._program
        if not program.has_debug_info:
            return None
        inlined = program.info.inline_frames_at(address)
        return inlined[0].function if inlined else program.info.function_at(address)

    # -- lines

    def _files(self, name: str | None) -> Sequence[SourceFile]:
        program = self._program
        if name is None:
            file = self._defaults.file
            if file is None:
                raise LocationSpecError(NO_SYMBOL_TABLE)
            return [file]
        files = program.info.files_named(name) if program.has_debug_info else []
        if not files:
            raise LocationSpecError(f"No source file named {name}.")
        return files

    def line_of(self, spec: LineSpec) -> int:
        """Return the absolute line number."""
        if not spec.relative:
            return spec.line
        if self._defaults.line is None:
            raise LocationSpecError("No default line number.")
        return self._defaults.line + spec.line

    def _lines(self, spec: LineSpec) -> list[Location]:
        file = self._files(spec.file)[0]
        line = self.line_of(spec)
        name = spec.file or like_named(self._program, file)
        info = self._program.info
        instead = self._program.expansions.lines_of(file, line)
        found = sorted((each for where in instead for each in info.addresses_of(*where)), key=lambda each: each.address)
        found = found or info.addresses_of(name, line)  # in any such file, the first line that has code
        if not found:
            where = f'file "{spec.file}"' if spec.file is not None else "the current file"
            raise LocationSpecError(f"No line {line} in {where}.")
        program = self._program
        bodies = [p for p in found if p.function is None or not is_kernel_wrapper(program, p.function)]
        return [self._location(place) for place in bodies or found]

    # -- functions

    def functions(self, spec: FunctionSpec) -> list[Function]:
        """Return the functions that a name matches."""
        program = self._program
        if not program.has_debug_info:
            return []
        found = program.info.functions_named(spec.name) or self._inherited(spec.name)
        if "(" in spec.name:  # only C++ names have parameters
            found = [f for f in found if f.unit.is_cxx]
        bodies = [f for f in found if not is_kernel_wrapper(program, f)]
        found = bodies or found
        if spec.qualified:
            found = [f for f in found if _is_whole_name(spec.name, f)]
        if spec.file is not None:
            files = self._files(spec.file)
            found = [f for f in found if f.decl_file in files]
        return found

    def _inherited(self, name: str) -> list[Function]:
        """Return the methods of the nearest base classes that have ``Derived::method``, if the class itself has none.
        """
        info = self._program.info
        scope, _, method = name.rpartition("::")
        classes: list[Type] = list(info.types_named(scope)) if scope and "(" not in name else []
        for _ in range(MOST_BASES):
            complete = map(info.complete_type, classes)
            derived = [each for each in complete if isinstance(each, ClassType)]
            bases = [info.complete_type(base.type.strip_typedefs()) for each in derived for base in each.bases]
            if not bases:
                return []
            names = dict.fromkeys(base.qualified_name for base in bases if isinstance(base, ClassType))
            found = [one for base in names if base for one in info.functions_named(f"{base}::{method}")]
            if found:
                return found
            classes = bases
        return []

    def labels(self, function: Function, name: str) -> list[Location]:
        """Return the places of a label in a function."""
        waiting: list[Scope] = [function]
        found = []
        while waiting:
            scope = waiting.pop()
            found += [
                replace(self.at(self._begin_of(label)), line=label.line, label=f"{function.name}:{name}")
                for label in scope.labels
                if label.name == name
            ]
            waiting += scope.children
        return found

    def _begin_of(self, label: Label) -> FileAddress:
        """Return the address of a label: where the row of the statement after it begins.

        That row includes the code that a compiler puts before a block to make lanes reconverge there.
        """
        row = self._program.info.line_at(label.address)
        return row.address if row is not None and row.is_stmt and row.line > (label.line or 0) else label.address

    def _labels(self, spec: FunctionSpec, label: str) -> list[Location]:
        functions = self.functions(spec)
        if not functions:
            return self._assembly_labels(spec, label)
        found = [place for function in functions for place in self.labels(function, label)]
        if not found:
            raise LocationSpecError(f'No label "{label}" defined in function "{spec.name}".')
        return found

    def _assembly_labels(self, spec: FunctionSpec, label: str) -> list[Location]:
        """Return the labels of a name in the code of a function that debug information does not describe."""
        program = self._program
        symbols = _plain_functions(program, spec.name, spec.qualified) if spec.file is None else []
        codes = {program.functions.at(program.code_object.entry_address_of(symbol)) for symbol in symbols}
        if not symbols:
            raise self._undefined(spec)
        places = self._functions(FunctionSpec(label))
        found = [place for place in places if program.functions.at(place.file_address) in codes]
        if not found:
            raise LocationSpecError(f'No label "{label}" defined in function "{spec.name}".')
        return [replace(place, label=f"{spec.name}:{label}") for place in found]

    @staticmethod
    def _undefined(spec: FunctionSpec) -> LocationSpecError:
        where = f' in "{spec.file}"' if spec.file is not None else ""
        return LocationSpecError(f'Function "{spec.name}" not defined{where}.')

    def _functions(self, spec: FunctionSpec) -> list[Location]:
        if spec.label is not None:
            return self._labels(spec, spec.label)
        program = self._program
        found: dict[int, Location] = {}
        for function in self.functions(spec):
            if self._is_elsewhere(function):
                continue
            for place in program.info.breakpoint_locations(function):
                found.setdefault(place.address, self._in_function(function, place))
        if found and spec.file is None:
            found |= self._kernels_without(spec, found)
        if not found and spec.file is None:
            for symbol in _plain_functions(program, spec.name, spec.qualified):
                address = program.code_object.address_of(symbol)
                described = program.info.function_at(address) if program.has_debug_info else None
                if described is not None and described.low_pc == address:  # found by its mangled name
                    for place in program.info.breakpoint_locations(described):
                        found.setdefault(place.address, self._in_function(described, place))
                else:
                    start = program.info.starts(program.code_object.entry_address_of(symbol))
                    found[start] = self.at(start)
        if not found:
            files = self._files(spec.file) if spec.file is not None else None
            for label in program.labels.named(spec.name):
                if files is None or label.file in files:
                    found[label.address] = self.at(label.address)
        if not found:
            raise self._undefined(spec)
        return [found[address] for address in sorted(found)]

    def _kernels_without(self, spec: FunctionSpec, places: Iterable[int]) -> dict[int, Location]:
        """Return the starts of the kernels of a name that contain none of the places.

        GDB, too, adds symbols without debug information, because the functions that debug information describes may be
        other functions of that name, or code that never runs. A kernel that calls the code of a place is left out:
        clang compiles an OpenCL kernel as a stub and a body. Kernels whose name matches only in C++ are searched only
        if debug information is known to be damaged, as that is slow.
        """
        program = self._program
        if program.complaints:
            symbols = _plain_functions(program, spec.name, spec.qualified)
        else:
            exact = program.code_object.symbols.get(spec.name)
            symbols = [exact] if exact is not None and exact.is_defined else []
        found: dict[int, Location] = {}
        for symbol in symbols:
            if not program.code_object.is_code(symbol) or program.code_object.kernels.find(symbol.name) is None:
                continue
            entry = program.code_object.entry_address_of(symbol)
            code = program.functions.at(entry)
            if code is not None and not self._is_reached_from(code, places):
                start = program.info.starts(entry)
                found[start] = self.at(start)
        return found

    def _is_reached_from(self, code: FunctionCode, places: Iterable[int]) -> bool:
        """Whether a place is in a function's own code, or in that of a function that it calls."""
        functions = self._program.functions
        if any(code.start <= place < code.end for place in places):
            return True
        around = [functions.at(place) for place in places]
        called = functions.called_by(code)
        return any(each is not None and each.start in called for each in around)

    def _is_elsewhere(self, function: Function) -> bool:
        """Whether debug information places a function where the file has no code. This is reported, and the function's
        symbol is used instead.
        """
        code, low = self._program.code_object, function.low_pc
        if low is None or code.is_relocatable or any(
            section.flags & _EXECUTABLE and section.address <= low < section.address + section.size
            for section in code.sections.values()
        ):
            return False
        fault = IllFormed(f"there is no code at {low:#x}")
        fault.concern("DW_AT_low_pc", whose(function.die))
        self._program.complaints.add(fault, "the symbol table is used")
        return True

    def _location(self, place: CodeLocation) -> Location:
        name = self._program.function_title(place.function) if place.function is not None else None
        return Location(self._program, place.address, place.file, place.line or None, name, place.function)

    def _in_function(self, function: Function, place: CodeLocation) -> Location:
        """Return a place from the point of view of a function that contains it; if inlined there, the line of the call.
        """
        file, line = place.file, place.line or None
        inner = None
        for instance in self._program.info.inline_frames_at(place.address):
            if same_function(instance.function, function):
                break
            inner = instance
        if inner is not None and inner.call_line is not None:
            file, line = inner.call_file, inner.call_line
        return Location(self._program, place.address, file, line, self._program.function_title(function), function)


def of_best_line(found: Sequence[Location], spec: LineSpec) -> Sequence[Location]:
    """If one program has code for exactly this line, drop the places in others, which are on later lines."""
    files = [spec.file or place.file for place in found]
    exact = [
        place for place, file in zip(found, files, strict=True)
        if file is not None and _has_code(place.program, file, spec.line)
    ]
    return exact or found


def _has_code(program: Program, file: str | SourceFile, line: int) -> bool:
    return any(row.is_stmt for row in program.info.rows_of_line(file, line))


def like_named(program: Program, file: SourceFile) -> str | SourceFile:
    """Return the key for the current file: its name, as in GDB, although the names of other files may end with this
    name.
    """
    known = program.has_debug_info and file in program.info.files_named(file.name)
    return file.name if known else file


def _is_whole_name(name: str, function: Function) -> bool:
    """Whether a name, as typed, is a function's complete name with its scopes. Parameters and template arguments are
    optional.
    """
    typed = name.strip().removeprefix("::")
    whole = function.qualified_name or ""
    return typed.count("::") >= len(function.scope_names) and (
        whole == typed or typed.startswith(whole.partition("<")[0]) or function.linkage_name == typed
    )


def _plain_functions(program: Program, name: str, qualified: bool) -> list[Symbol]:
    """Return the symbols of functions that ``name`` matches, as a symbol or as the C++ name of a mangled symbol.

    ``qualified``: only those whose scopes are all in ``name``.
    """
    symbols = program.code_object.symbols
    named = symbols.defined(_CODE_SYMBOLS)
    exact = [index for index, symbol in named.items() if symbol == name]
    found = [symbols[i] for i in exact or [i for i, symbol in named.items() if matches_symbol(name, symbol, qualified)]]
    return [symbol for symbol in found if program.code_object.is_code(symbol)]
