"""Places that are asked for by text: where breakpoints go, a source line to list, a range to disassemble."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from msgspec import Struct

from rocdbg.addresses import LoadedAddress
from rocdbg.debugger.errors import DebuggerError, LocationSpecError, NoProgramError
from rocdbg.debugger.expr.access import decay, follow
from rocdbg.debugger.expr.data import Data
from rocdbg.debugger.expr.evaluator import evaluate
from rocdbg.debugger.frames.inferior import Inferior
from rocdbg.debugger.frames.selection import Selection
from rocdbg.debugger.program.locspec import (
    AddressSpec,
    Defaults,
    FunctionSpec,
    Location,
    LocationResolver,
    parse_spec,
)
from rocdbg.debugger.program.program import Program
from rocdbg.debugger.reports.disassembly import DisassemblyLine, disassemble, function_bounds
from rocdbg.debugger.reports.dwarf_inspection import DwarfInspection
from rocdbg.debugger.reports.symbols import Symbols
from rocdbg.debugger.running.observer import Observer
from rocdbg.debugger.running.stops import StopEvent
from rocdbg.debugger.settings import Settings
from rocdbg.dwarf.info import Function, Variable
from rocdbg.dwarf.info import SourceFile as SourceFile
from rocdbg.errors import Error


class Listed(Observer):
    """What ``list`` showed last: the default file and line of locations until the program goes on."""

    def __init__(self) -> None:
        self.place: Defaults | None = None

    def stopped(self, event: StopEvent) -> None:
        """Locations are relative to where it stands now."""
        self.place = None


class SourcePlace(Struct, frozen=True):
    """A line of a source file."""

    file: SourceFile
    line: int


class Places:
    """Resolves locations at the focus. ``kernel_name`` names the chosen kernel, or raises a `rocdbg.Error`."""

    def __init__(
        self,
        inferior: Inferior,
        focus: Selection,
        data: Data,
        symbols: Symbols,
        settings: Settings,
        listed: Listed,
        kernel_name: Callable[[], str],
    ) -> None:
        self._inferior = inferior
        self._focus = focus
        self._data = data
        self._symbols = symbols
        self._settings = settings
        self._listed = listed
        self._kernel_name = kernel_name
        self._dwarf = DwarfInspection(inferior, focus, data, symbols)

    def resolver(self) -> LocationResolver:
        """Finds places; locations without a file are relative to the selected frame or what was listed last."""
        return LocationResolver(self._inferior.need_program(), self.default_place)

    def default_place(self) -> Defaults:
        """The default file and line: what was listed last, the selected frame's, the kernel's."""
        if self._listed.place is not None:
            return self._listed.place
        if self._inferior.target is not None and self._focus.current.thread is not None:
            frame = self._focus.frame()
            if frame.file is not None:
                return Defaults(frame.file, frame.line)
        return self._kernel_place()

    def _kernel_place(self) -> Defaults:
        program = self._inferior.program
        if program is None or not program.has_debug_info:
            return Defaults(None, None)
        function: Function | None = None
        try:
            function = next(iter(program.info.functions_named(self._kernel_name())), None)
        except Error:
            function = None
        if function is not None and function.decl_file is not None:
            return Defaults(function.decl_file, function.decl_line)
        for unit in program.info.units:
            if unit.files:
                return Defaults(unit.files[0], 1)
        return Defaults(None, None)

    def _address(self, text: str) -> int:
        environment = self._data.environment()
        return decay(follow(evaluate(text, environment), environment)).as_int()

    def resolve(self, text: str) -> Sequence[Location]:
        """The places a location string names; "" is where the selected frame stands."""
        if not text.strip():
            if self._inferior.target is None or self._focus.current.thread is None:
                raise LocationSpecError("No default breakpoint location.")
            return [self._at(self._focus.frame().pc)]
        spec = parse_spec(text)
        if isinstance(spec, AddressSpec):
            return [self._at(LoadedAddress(self._address(spec.expression)))]
        found: list[Location] = []
        failed: LocationSpecError | None = None
        self._inferior.need_program()
        for program in self._inferior.programs:
            try:
                found += LocationResolver(program, partial(self._default_in, program)).resolve(spec)
            except LocationSpecError as error:
                failed = failed or error
        if not found and failed is not None:
            raise failed
        return found

    def _at(self, address: LoadedAddress) -> Location:
        """The place at a loaded address."""
        self._inferior.need_program()
        program = self._inferior.programs.at(address)
        return LocationResolver(program, self.default_place).at(program.to_file(address))

    def _default_in(self, program: Program) -> Defaults:
        """The default place as a code object knows it: in its own file of that path."""
        place = self.default_place()
        if place.file is None or program is self._inferior.program or not program.has_debug_info:
            return place
        path = place.file.path
        file = next((file for file in program.info.files_named(place.file.basename) if file.path == path), None)
        return Defaults(file, place.line)

    def disassemble(self, low: int, high: int) -> Sequence[DisassemblyLine]:
        """The instructions in [low, high)."""
        self._inferior.need_program()
        program = self._inferior.programs.at(LoadedAddress(low))
        pc = wave_size = None
        if self._inferior.target is not None and self._focus.current.thread is not None:
            pc, wave_size = self._focus.frame().pc, self._inferior.wave(self._focus.current.thread).lane_count
        mangled = not self._settings.print.asm_demangle
        return list(disassemble(program, self._data.environment().memory, low, high, pc, wave_size, mangled))

    def listed(self, file: SourceFile, line: int) -> None:
        """``list`` has shown this line: locations without a file are relative to it until the program goes on."""
        self._listed.place = Defaults(file, line)

    def default_line(self) -> SourcePlace:
        """Where `list` without arguments begins: the selected frame's line, else the kernel's first."""
        place = self.default_place()
        if place.file is None:
            self._inferior.need_program()
            raise DebuggerError('No symbol table is loaded.  Use the "file" command.')
        return SourcePlace(place.file, place.line or 1)

    def source_line(self, text: str) -> SourcePlace:
        """The source line a location stands for: a line as it is, code or not; the line where a function's code begins.

        Raises `LocationSpecError`.
        """
        spec = parse_spec(text)
        resolver = self.resolver()
        if isinstance(spec, FunctionSpec):
            for function in resolver.functions(spec):
                if function.low_pc is not None:
                    row = self._inferior.need_program().info.line_at(function.low_pc)
                    if row is not None and row.line:
                        return SourcePlace(row.file, row.line)  # as GDB: where the code begins
                if function.decl_file is not None and function.decl_line:
                    return SourcePlace(function.decl_file, function.decl_line)
            raise LocationSpecError(f'Function "{spec.name}" not defined.')
        program = self._inferior.need_program()
        file_name = getattr(spec, "file", None)
        if not isinstance(spec, AddressSpec):
            files = program.info.files_named(file_name) if file_name else [self.default_line().file]
            if not files:
                raise LocationSpecError(f"No source file named {file_name}.")
            return SourcePlace(files[0], resolver.line_of(spec))
        found = self.resolve(text)[0]
        if found.file is None or found.line is None:
            raise LocationSpecError(f"No line number known for {text.removeprefix('*')}.")
        return SourcePlace(found.file, found.line)

    def disassembly_range(self, text: str) -> tuple[str | None, int, int]:
        """What `disassemble TEXT` shows: the function's name, or None for a plain range; loaded addresses."""
        program = self._inferior.program
        if program is None:
            raise NoProgramError
        if "," in text:
            first, last = (part.strip() for part in text.split(",", 1))
            low = self._data.integer(first)
            high = low + self._data.integer(last[1:]) if last.startswith("+") else self._data.integer(last)
            return None, low, high
        address = self._data.integer(text) if text else self._focus.frame().pc
        return function_bounds(self._inferior.programs.at(LoadedAddress(address)), address)

    def describe_address(self, name: str) -> str:
        """The sentence of `info address NAME`: a variable of the selected scope, else a global symbol."""
        lines = self._dwarf.describe_variable(name)
        if lines is not None:
            return "\n".join(lines)
        variable: Variable | None = None
        function: Function | None = None
        if self._inferior.target is not None and self._focus.current.thread is not None:
            frame = self._focus.frame()
            function = frame.context.function
            for scope in frame.scopes:
                variable = next((v for v in scope.variables if v.name == name), None)
                if variable is not None:
                    break
        return self._symbols.address_of(name, variable, function)
