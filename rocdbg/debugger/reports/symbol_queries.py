"""Queries about the program's symbols, for ``info symbol``, ``info address``, ``info functions`` and others."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

from msgspec import Struct

from rocdbg import work
from rocdbg.addresses import LoadedAddress
from rocdbg.codeobject.demangle import demangle
from rocdbg.debugger.base.engine_settings import Settings
from rocdbg.debugger.base.errors import NoProgramError, NoSymbolError
from rocdbg.debugger.base.patterns import compile_pattern
from rocdbg.debugger.expr.names.known_variables import lds_offset
from rocdbg.debugger.expr.names.program_names import ProgramNames
from rocdbg.debugger.expr.names.type_lookup import TypeLookup
from rocdbg.debugger.frames.frames import Frame
from rocdbg.debugger.program.lds_variable_places import is_unplaced, place_variables
from rocdbg.debugger.program.program import Program
from rocdbg.debugger.reports.location_descriptions import static_words
from rocdbg.debugger.reports.symbol_lists import SymbolRow, function_rows, function_text, type_rows, variable_rows
from rocdbg.dwarf.info import Function, SourceFile, Variable
from rocdbg.dwarf.info import Scope as CodeScope
from rocdbg.dwarf.info.all_names import NameKind

CODE = (NameKind.FUNCTION, NameKind.SYMBOL)
"""The kinds of names that denote code."""
SYMBOLS = (*CODE, NameKind.VARIABLE, NameKind.DATA_SYMBOL)


def demangled(name: str) -> str:
    """Return the C++ declaration of a mangled name; other names are returned unchanged."""
    return demangle(name)


class SymbolPlace(Struct, frozen=True):
    """``info symbol``: ``name + offset in section ...``."""

    name: str
    offset: int
    section: str
    object: str


class PlainSymbol(Struct, frozen=True):
    """A symbol without debug information, as loaded."""

    address: int
    name: str


class Symbols:
    """Queries about the loaded program. They raise `NoProgramError` if there is none."""

    def __init__(
        self, program: Callable[[], Program | None], settings: Settings,
        programs: Callable[[], Iterable[Program]] = tuple,
    ) -> None:
        self._get = program
        self._all = programs
        self._settings = settings
        self.patience: float | None = None
        """How many seconds completion may spend on reading names; ``None``: no limit."""

    def signature(self, name: str) -> str | None:
        """Return the declaration of a function that `names_starting` has returned: ``int add(int, int)``."""
        program = self._get()
        offset = program.names.function_at(name) if program is not None and program.has_debug_info else None
        if program is None or offset is None:
            return None
        return function_text(Function(program.info.die(offset))).removesuffix(";")

    @property
    def any_debug_info(self) -> bool:
        """Whether any code object has debug information."""
        return any(program.has_debug_info for program in self._all())

    @property
    def program(self) -> Program:
        """The program."""
        program = self._get()
        if program is None:
            raise NoProgramError
        return program

    @property
    def mangled(self) -> bool:
        """Whether symbols at addresses are shown mangled (`set print asm-demangle off`)."""
        return not self._settings.print.asm_demangle

    def symbol_at(self, address: int) -> SymbolPlace | None:
        """Return the symbol that contains a loaded address."""
        program = self.program
        found = program.symbol_and_offset(address)
        if found is None:
            return None
        file_address = program.to_file(LoadedAddress(address))
        section = next(
            (
                name
                for name, s in program.code_object.sections.items()
                if (start := program.code_object.section_address(s)) is not None
                and start <= file_address < start + s.size
            ),
            "",
        )
        return SymbolPlace(found[0], found[1], section, program.uri)

    def data_name(self, address: LoadedAddress) -> str:
        """Return an address with its symbol: ``0x4034 <_ZL7counter>``."""
        name = self.program.symbolize(address, data=True, mangled=self.mangled)
        return f"{address:#x} <{name}>" if name else f"{address:#x}"

    def functions(self, pattern: str = "", of_type: str = "") -> list[SymbolRow]:
        """Return the functions with code whose name and type match the regular expressions, by file and name."""
        return function_rows(self.programs, compile_pattern(pattern), compile_pattern(of_type))

    def variables(self, pattern: str = "", of_type: str = "") -> list[SymbolRow]:
        """Return the global and static variables whose name and type match the expressions, by file and name."""
        return variable_rows(self.programs, compile_pattern(pattern), compile_pattern(of_type))

    def types(self, pattern: str = "") -> list[SymbolRow]:
        """Named types whose name matches the regular expression, by file and name."""
        return type_rows(self.programs, compile_pattern(pattern))

    @property
    def programs(self) -> Sequence[Program]:
        """All code objects of the program; empty if there is none."""
        first = self._get()
        return [*self._all()] or ([first] if first is not None else [])

    def plain_symbols(self, pattern: str = "", code: bool = True) -> list[PlainSymbol]:
        """Symbols without debug information, by address."""
        compiled = compile_pattern(pattern)
        program = self._get()
        if program is None:
            return []
        rows = []
        for symbol in program.code_object.symbols:
            work.unit()
            if not symbol.is_defined or symbol.is_absolute or symbol.is_lds or not symbol.name:
                continue
            is_code = program.code_object.is_code(symbol)
            if is_code is not code or symbol.type not in (0, 1, 2, 10) or symbol.name.startswith(".L"):
                continue
            if symbol.name == "_DYNAMIC":  # defined by the linker, not by the program
                continue
            if not compiled.search(demangle(symbol.name)):
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
        """All source files. Raises `NoProgramError`."""
        _ = self.program
        return [file for program in self.programs if program.has_debug_info for file in program.info.source_files]

    def where(self, variable: Variable, function: Function | None = None) -> str:
        """Return the location of a variable (of ``function``) as text, for ``info address`` and ``info scope``."""
        program = self.program
        unplaced = is_unplaced(variable)
        words = static_words(program, variable, function) if not unplaced or variable.location is None else None
        if words is not None:
            return words
        if variable.location is not None and not unplaced:
            return "constant"
        for name in (variable.linkage_name, variable.name):
            if name and program.lds_offset(name) is not None:
                return f"static storage at address local#{program.lds_offset(name):#x}"
        offset = place_variables(program, function).get(variable.offset) if function is not None else None
        if offset is not None:
            return f"static storage at address local#{offset:#x}"
        return "optimized out" if variable.location is None else "in LDS, at a place that is not known"

    def _where_from(self, variable: Variable, frame: Frame | None) -> str:
        """Return `where`; a variable in LDS may also be located by the layout of the frame's kernel."""
        offset = lds_offset(variable, self.program, frame) if is_unplaced(variable) else None
        if offset is not None:
            return f"static storage at address local#{offset:#x}"
        return self.where(variable, frame.context.function if frame is not None else None)

    def address_of(self, name: str, variable: Variable | None, frame: Frame | None = None) -> str:
        """Return the sentence of ``info address NAME``, for the name as seen from ``frame``. Raises `NoSymbolError`."""
        program = self.program
        if variable is not None:
            return f'Symbol "{name}" is {self._where_from(variable, frame)}.'
        names = ProgramNames(program, frame)
        functions: Sequence[Function] = ()
        if program.has_debug_info:
            functions = program.info.functions_named(name) if "(" in name else names.functions(name)
        # a method is also found by its unqualified name: a variable of this name takes precedence
        hidden = functions and any(found.qualified_name == name for found in program.info.variables_named(name))
        for named in () if hidden else functions:
            if named.low_pc is not None:
                address = program.to_loaded(named.low_pc)
                title = Program.function_title(named)
                return f'Symbol "{title}" is a function at address {address:#x}.'
        if TypeLookup(program, frame).find(name, "") is not None:
            return f'Symbol "{name}" is a typedef.'
        scope, _, last = name.rpartition("::")
        for owner in program.info.functions_named(scope) if scope and program.has_debug_info else []:
            for local in variables_in(owner):
                if local.name == last:
                    return f'Symbol "{last}" is {self.where(local, owner)}.'
        found = names.variable(name) if program.has_debug_info else None
        # a qualified name is looked up literally here; only expressions search unnamed namespaces
        if found is not None and ("::" not in name or (found.qualified_name or name).endswith(name.removeprefix("::"))):
            return f'Symbol "{found.qualified_name or name}" is {self._where_from(found, frame)}.'
        if program.has_debug_info and names.enumerator(name) is not None:
            return f'Symbol "{name}" is constant.'
        symbol = program.code_object.symbols.get(name)
        if symbol is not None and symbol.is_absolute:
            return f'Symbol "{name}" is constant.'
        loaded = program.symbol_address(name)
        if loaded is None:
            loaded = next((program.to_loaded(label.address) for label in program.labels.named(name)), None)
        if loaded is not None:
            return f'Symbol "{name}" is at {loaded:#x} in a file compiled without debugging.'
        raise NoSymbolError(name)

    def names_starting(self, prefix: str, kinds: Collection[NameKind] = SYMBOLS) -> Iterator[str]:
        """Yield names of some kinds for completion.

        All names are yielded, unless `patience` limits the time for reading them.
        """
        program = self._get()
        if program is None:
            return
        if self.patience is None:
            program.names.finish()
        else:
            program.names.advance(self.patience)
        yield from program.names.starting(prefix, kinds)


def variables_in(scope: CodeScope) -> Iterator[Variable]:
    """Yield the variables of a scope and of the blocks in it."""
    yield from scope.variables
    for child in scope.children:
        yield from variables_in(child)
