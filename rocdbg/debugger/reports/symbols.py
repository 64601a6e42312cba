"""Questions about the program's symbols: what ``info symbol``, ``info line``, ``info scope`` and others show."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from msgspec import Struct

from rocdbg.addresses import FileAddress, LoadedAddress
from rocdbg.codeobject.demangle import demangle
from rocdbg.debugger.errors import DebuggerError, NoProgramError, NoSymbolError
from rocdbg.debugger.program.lds import place_variables
from rocdbg.debugger.program.program import Program
from rocdbg.debugger.reports.location_words import static_words
from rocdbg.debugger.reports.patterns import compile_pattern
from rocdbg.debugger.settings import Settings
from rocdbg.debugger.values.locations import has_fixed_address
from rocdbg.dwarf.info import (
    Function,
    LineRow,
    SourceFile,
    Type,
    Variable,
    describe,
)
from rocdbg.dwarf.info import Scope as CodeScope

T = TypeVar("T")


class SymbolPlace(Struct, frozen=True):
    """``info symbol``: ``name + offset in section ...``."""

    name: str
    offset: int
    section: str
    object: str


class LineInfo(Struct, frozen=True):
    """``info line``: the code of a line as loaded. ``low == high`` when the line has none."""

    file: SourceFile
    line: int
    low: int
    high: int
    low_name: str | None
    high_name: str | None
    has_code: bool = True


class FunctionRow(Struct, frozen=True):
    """``info functions``: a defined function, with its declaration's place."""

    file: SourceFile | None
    line: int | None
    text: str
    function: Function


class VariableRow(Struct, frozen=True):
    """``info variables``."""

    file: SourceFile | None
    line: int | None
    text: str
    variable: Variable


class TypeRow(Struct, frozen=True):
    """``info types``."""

    text: str
    type: Type


class PlainSymbol(Struct, frozen=True):
    """A symbol without debug information, as loaded."""

    address: int
    name: str


class ScopeSymbol(Struct, frozen=True):
    """``info scope``: a local variable, where it is in words, and its size."""

    name: str
    where: str
    length: int | None


class Symbols:
    """Queries over the loaded program. Raises `NoProgramError` without one."""

    def __init__(self, program: Callable[[], Program | None], settings: Settings) -> None:
        self._get = program
        self._settings = settings

    @property
    def program(self) -> Program:
        """The program."""
        program = self._get()
        if program is None:
            raise NoProgramError
        return program

    def symbol_at(self, address: int) -> SymbolPlace | None:
        """What symbol a loaded address is in."""
        program = self.program
        found = program.symbol_and_offset(address)
        if found is None:
            return None
        file_address = program.to_file(LoadedAddress(address))
        section = next(
            (
                name
                for name, s in program.code_object.sections.items()
                if s.address and s.address <= file_address < s.address + s.size
            ),
            "",
        )
        return SymbolPlace(found[0], found[1], section, program.uri)

    def lines(self, file: SourceFile, line: int) -> list[LineInfo]:
        """Every run of code of a line; one entry without code when the line is there but has none."""
        program = self.program
        found: list[LineInfo] = []
        end = -1
        for row in program.info.rows_of_line(file, line):
            if row.address < end:
                continue
            low, high = self._extent(row)
            end = high
            found.append(self._line_info(file, line, low, high))
        if found:
            return found
        following = [n for n in program.info.lines_with_code(file) if n > line]
        if not following:
            raise DebuggerError(f'Line number {line} is out of range for "{file.name}".')
        rows = program.info.rows_of_line(file, following[0])
        address = rows[0].address if rows else FileAddress(0)
        info = self._line_info(file, line, address, address)
        return [LineInfo(file, line, info.low, info.high, info.low_name, info.high_name, False)]

    def _extent(self, row: LineRow) -> tuple[FileAddress, FileAddress]:
        high = row.end_address
        while True:
            after = self.program.info.line_at(high)
            if after is None or after.line != row.line or after.file != row.file or after.end_address <= high:
                return row.address, high
            high = after.end_address

    def _line_info(self, file: SourceFile, line: int, start: FileAddress, end: FileAddress) -> LineInfo:
        program = self.program
        low, high = program.to_loaded(start), program.to_loaded(end)
        mangled = not self._settings.print.asm_demangle
        low_name = program.symbolize(low, data=False, mangled=mangled)
        return LineInfo(file, line, low, high, low_name, program.symbolize(high, data=False, mangled=mangled))

    def functions(self, pattern: str = "") -> list[FunctionRow]:
        """Functions with code whose name the regular expression is found in, by name."""
        found = [f for f in self._info_matching(self.program.info.functions_matching, pattern) if f.low_pc is not None]
        found.sort(key=Program.function_title)
        return [FunctionRow(f.decl_file, f.decl_line, _function_text(f), f) for f in found]

    def variables(self, pattern: str = "") -> list[VariableRow]:
        """Global and static variables whose name the regular expression is found in, by name."""
        found = self._info_matching(self.program.info.global_variables_matching, pattern)
        rows = [VariableRow(v.decl_file, v.decl_line, _variable_text(v), v) for v in found]
        return sorted(rows, key=lambda row: row.variable.qualified_name or "")

    def types(self, pattern: str = "") -> list[TypeRow]:
        """Named types whose name the regular expression is found in."""
        return [
            TypeRow(str(t), t) for t in self._info_matching(self.program.info.types_matching, pattern)
        ]

    def function_names(self, pattern: str = "") -> list[str]:
        """Names of functions with code that the regular expression is found in."""
        names = [f.function.qualified_name or "" for f in self.functions(pattern) if f.function.low_pc is not None]
        return list(dict.fromkeys(name for name in names if name))

    def _info_matching(self, query: Callable[[re.Pattern[str]], list[T]], pattern: str) -> list[T]:
        compiled = compile_pattern(pattern)
        return query(compiled) if self.program.has_debug_info else []

    def plain_symbols(self, pattern: str = "", code: bool = True) -> list[PlainSymbol]:
        """Symbols that no debug information describes, by address."""
        program = self.program
        compiled = compile_pattern(pattern)
        rows = []
        for symbol in program.code_object.symbols:
            if not symbol.is_defined or symbol.is_absolute or symbol.is_lds or not symbol.name:
                continue
            is_code = symbol.type in (2, 10)
            if is_code is not code or symbol.type not in (1, 2, 10) or not compiled.search(demangle(symbol.name)):
                continue
            if program.has_debug_info and (
                program.info.functions_named(symbol.name)
                if is_code
                else program.info.variables_named(symbol.name)
            ):
                continue
            address = program.to_loaded(program.code_object.address_of(symbol))
            rows.append(PlainSymbol(address, demangle(symbol.name)))
        return sorted(rows, key=lambda row: (row.address, row.name))

    def sources(self) -> Sequence[SourceFile]:
        """All source files."""
        return self.program.info.source_files if self.program.has_debug_info else []

    def scope_symbols(self, address: FileAddress) -> list[ScopeSymbol]:
        """``info scope``: the variables of the blocks around a file address, innermost first."""
        found = []
        scopes = self.program.info.scopes_at(address) if self.program.has_debug_info else ()
        function = scopes[-1] if scopes else None
        for scope in scopes:
            for variable in scope.variables:
                if variable.name:
                    where = self.where(variable, function if isinstance(function, Function) else None)
                    found.append(ScopeSymbol(variable.name, where, variable.type.size))
        return found

    def where(self, variable: Variable, function: Function | None = None) -> str:
        """Where a variable (of ``function``) lives, in words (``info address``, ``info scope``)."""
        program = self.program
        if has_fixed_address(variable):
            address = program.symbol_address(variable.linkage_name or variable.name or "")
            if address is not None:
                return f"static storage at address {address:#x}"
        words = static_words(program, variable, function)
        if words is not None:
            return words
        if variable.location is not None:
            return "constant"
        for name in (variable.linkage_name, variable.name):
            if name and program.lds_offset(name) is not None:
                return f"static storage at address local#{program.lds_offset(name):#x}"
        offset = place_variables(program, function).get(variable.offset) if function is not None else None
        if offset is not None:
            return f"static storage at address local#{offset:#x}"
        return "optimized out"

    def address_of(self, name: str, variable: Variable | None, function: Function | None = None) -> str:
        """The sentence of ``info address NAME``. Raises `NoSymbolError`."""
        program = self.program
        if variable is not None:
            return f'Symbol "{name}" is {self.where(variable, function)}.'
        for named in program.info.functions_named(name) if program.has_debug_info else []:
            if named.low_pc is not None:
                address = program.to_loaded(named.low_pc)
                return f'Symbol "{name}" is a function at address {address:#x}.'
        scope, _, last = name.rpartition("::")
        for owner in program.info.functions_named(scope) if scope and program.has_debug_info else []:
            for local in variables_in(owner):
                if local.name == last:
                    return f'Symbol "{name}" is {self.where(local, owner)}.'
        for found in program.info.variables_named(name) if program.has_debug_info else []:
            loaded = program.symbol_address(found.linkage_name or name)
            if loaded is not None:
                return f'Symbol "{name}" is static storage at address {loaded:#x}.'
            return f'Symbol "{name}" is {self.where(found)}.'
        loaded = program.symbol_address(name)
        if loaded is not None:
            return f'Symbol "{name}" is at {loaded:#x} in a file compiled without debugging.'
        raise NoSymbolError(name)

    def describe_type(self, type_: Type) -> list[str]:
        """The lines of ``ptype``."""
        return list(describe(self.program.complete_type(type_) if self._get() is not None else type_))

    def names_starting(self, prefix: str) -> Iterator[str]:
        """Function and variable names for completion."""
        program = self._get()
        if program is None:
            return
        if program.has_debug_info:
            pattern = re.compile("(^|::)" + re.escape(prefix))
            for function in program.info.functions_matching(pattern):
                if function.low_pc is not None or function.is_inline:
                    yield function.qualified_name or function.name or ""
            for variable in program.info.global_variables_matching(pattern):
                yield variable.qualified_name or variable.name or ""
        for symbol in program.code_object.symbols:
            if symbol.type in (1, 2, 10) and symbol.is_defined and symbol.name.startswith(prefix):
                yield symbol.name


def _variable_text(variable: Variable) -> str:
    """``static int hidden;``: as ``info variables`` lists it."""
    static = "" if variable.external else "static "
    return f"{static}{declaration(variable.type, variable.qualified_name or '')};"


def _function_text(function: Function) -> str:
    """``static float scale(float, int);``: as ``info functions`` lists it."""
    name = Program.function_title(function)
    static = "" if function.external else "static "
    if "(" in name:
        return f"{static}{function.return_type} {name};"
    parameters = ", ".join(str(p.type) for p in function.type.parameters) or "void"
    text = f"{function.return_type} {name}({parameters});"
    return static + text.replace("* ", "*", 1) if str(function.return_type).endswith("*") else static + text


def declaration(type_: Type, name: str) -> str:
    """A declaration of ``name``: ``float tile[64]``, ``int (*f)(int)``."""
    text = str(type_)
    for mark in ("(*)", "(&)"):
        if mark in text:
            return text.replace(mark, f"{mark[:-1]}{name})", 1)
    bracket = text.find("[")
    if bracket > 0:
        return f"{text[:bracket].rstrip()} {name}{text[bracket:]}"
    return f"{text}{name}" if text.endswith(("*", "&")) else f"{text} {name}"


def variables_in(scope: CodeScope) -> Iterator[Variable]:
    """The variables of a scope and of the blocks in it."""
    yield from scope.variables
    for child in scope.children:
        yield from variables_in(child)
