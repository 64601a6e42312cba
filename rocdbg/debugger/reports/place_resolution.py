"""Resolves places given as text: locations of breakpoints, source lines to list, ranges to disassemble."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial

from msgspec.structs import replace

from rocdbg import isa
from rocdbg.addresses import FileAddress, LoadedAddress
from rocdbg.debugger.base.engine_settings import Settings
from rocdbg.debugger.base.errors import (
    NO_SYMBOL_TABLE,
    DebuggerError,
    LocationSpecError,
    NoProgramError,
    NoRegistersError,
    NoSymbolError,
)
from rocdbg.debugger.expr.class_members import this_has
from rocdbg.debugger.expr.evaluator import evaluate
from rocdbg.debugger.expr.program_data import Data
from rocdbg.debugger.expr.value_access import decay, follow, place_of
from rocdbg.debugger.frames.frames import Frame
from rocdbg.debugger.frames.inferior import Inferior
from rocdbg.debugger.frames.selection import Selection
from rocdbg.debugger.program.location_lookup import Defaults, Location, LocationResolver, of_best_line
from rocdbg.debugger.program.location_syntax import (
    AddressSpec,
    FunctionSpec,
    LabelSpec,
    LineSpec,
    LocationSyntaxError,
    parse_spec,
    whole_words,
)
from rocdbg.debugger.program.program import Program
from rocdbg.debugger.reports.disassembly import DisassemblyLine, disassemble, function_bounds, instructions_at
from rocdbg.debugger.reports.dwarf_inspection import DwarfInspection
from rocdbg.debugger.reports.source_place import SourcePlace as SourcePlace
from rocdbg.debugger.reports.source_place import begins, declarations
from rocdbg.debugger.reports.symbol_queries import Symbols
from rocdbg.debugger.running.observer import Observer
from rocdbg.debugger.running.stop_events import StopEvent
from rocdbg.dwarf.info import Function, Variable
from rocdbg.dwarf.info import SourceFile as SourceFile
from rocdbg.errors import Error
from rocdbg.isa.assembler.encoder import Assembler, assembler_for
from rocdbg.isa.operand_expressions import Value


class UnknownLineError(LocationSpecError):
    """An address has no known line."""


def _without_line(place: Location) -> UnknownLineError:
    if not place.file_address:
        return UnknownLineError("No line number information available.")
    name = place.program.symbolize(place.address, data=False)
    at = f"{place.address:#x} <{name}>" if name else f"{place.address:#x}"
    return UnknownLineError(f"No line number information available for address {at}")


class Places:
    """Resolves locations at the focus. ``kernel_name`` returns the chosen kernel's name, or raises a `rocdbg.Error`."""

    def __init__(
        self,
        inferior: Inferior,
        focus: Selection,
        data: Data,
        symbols: Symbols,
        settings: Settings,
        position: ListPosition,
        kernel_name: Callable[[], str],
    ) -> None:
        self._inferior = inferior
        self._focus = focus
        self._data = data
        self._symbols = symbols
        self._settings = settings
        self._position = position
        self._kernel_name = kernel_name
        self._dwarf = DwarfInspection(inferior, focus, data, symbols)

    def resolver(self, defaults: Defaults | None = None) -> LocationResolver:
        """Return a resolver; locations without a file are relative to ``defaults``, or to the position of `list`."""
        make = self.default_place if defaults is None else lambda: defaults
        return LocationResolver(self._inferior.need_program(), make)

    def default_place(self) -> Defaults:
        """Return the default file and line: the position of `list`, of the selected frame, or of the kernel."""
        self._position.asked = True
        if self._position.place is not None:
            return self._position.place
        return self._frame_place() or self._kernel_place()

    @property
    def has_current_file(self) -> bool:
        """Whether there is a current file: stops, and most locations without a file, establish one."""
        return self._position.asked or self._position.place is not None or self._frame_place() is not None

    def _frame_place(self) -> Defaults | None:
        if self._inferior.target is not None and self._focus.current.thread is not None:
            frame = self._focus.frame()
            if frame.file is not None:
                return Defaults(frame.file, frame.line)
        return None

    def _shown_place(self) -> Defaults:
        """Return `default_place`, but if a frame was shown, ignore the position of `list`."""
        return self._position.shown or self._frame_place() or self.default_place()

    def _kernel_place(self) -> Defaults:
        """Return the line of the kernel, as GDB uses that of ``main``; without a kernel, the first file's first line.
        """
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
        """Return the places that a location string denotes; "" is the selected frame's position."""
        if not text.strip():
            running = self._inferior.target is not None and self._focus.current.thread is not None
            pc = self._focus.frame().pc if running else self._position.shown_pc
            if pc is None:
                raise LocationSyntaxError("No default breakpoint address now.")
            return [replace(self._at(pc), function=None)]
        spec = parse_spec(self._with_variable(text))
        if isinstance(spec, AddressSpec):
            return [self._at(LoadedAddress(self._address(spec.expression)))]
        if isinstance(spec, LabelSpec):
            return self._labels(spec)
        relative = isinstance(spec, LineSpec) and spec.relative
        place = self._shown_place if relative else self.default_place
        found: list[Location] = []
        failed: LocationSpecError | None = None
        self._inferior.need_program()
        for program in self._inferior.programs:
            try:
                found += LocationResolver(program, partial(self._default_in, program, place)).resolve(spec)
            except LocationSpecError as error:
                failed = failed or error
        if not found and failed is not None:
            if isinstance(spec, FunctionSpec) and spec.file is None and spec.label is None:
                with suppress(LocationSpecError):
                    return self._labels(LabelSpec(spec.name))
            raise failed
        if isinstance(spec, LineSpec) and len({one.program.uri for one in found}) > 1:
            return of_best_line(found, spec)
        return found

    def resolve_shown(self, text: str) -> Sequence[Location]:
        """Resolve as `resolve` does, for commands that continue from the last shown frame (`until`): its file is used.
        """
        kept = self._position.place
        self._position.place = self._shown_place()
        try:
            return self.resolve(text)
        finally:
            self._position.place = kept

    def canonical(self, text: str) -> str:
        """Return a location that does not depend on the program's position: ``+1`` and ``12`` get their file."""
        spec = parse_spec(self._with_variable(text)) if text else None
        if not isinstance(spec, LineSpec) or (spec.file is not None and not spec.relative):
            return whole_words(text)
        place = self._shown_place() if spec.relative else self.default_place()
        file = spec.file or (place.file.path if place.file is not None else None)
        return f"{file}:{(place.line or 0) + spec.line if spec.relative else spec.line}" if file else text

    def _with_variable(self, text: str) -> str:
        """Replace the variable in ``$line`` or ``file.c:$line`` by its number."""
        found = re.search(r"(?:^|(?<=:))\$\w+$", text.strip())
        if found is None or text.startswith("*"):
            return text
        try:
            value = self._data.evaluate(found[0])
        except NoRegistersError:
            value = None
        if self._data.environment().types.is_known(found[0]):
            return text
        if value is None or value.type.integer is None:
            raise LocationSpecError(f'Undefined convenience variable or function "{found[0]}" not defined.')
        return text.strip()[: found.start()] + str(value.as_int())

    def functions(self, name: str) -> list[Function]:
        """Return the functions that a name matches. Raises `LocationSpecError` if there are none."""
        self._inferior.need_program()
        spec = FunctionSpec(name)
        found = [
            function
            for program in self._inferior.programs
            for function in LocationResolver(program, self.default_place).functions(spec)
        ]
        if not found:
            raise LocationSpecError(f'Function "{name}" not defined.')
        return found

    def code_around(self, name: str) -> list[tuple[LoadedAddress, LoadedAddress]]:
        """Return the loaded addresses of functions with that name, and of all functions into which they are inlined.

        If there is no such function, return those that the symbol of that name covers. Raises `LocationSpecError`.
        """
        try:
            self.functions(name)
        except LocationSpecError:
            return self._symbol_extents(name)
        found = []
        for program in self._inferior.programs:
            for function in LocationResolver(program, self.default_place).functions(FunctionSpec(name)):
                copies = [one.entry_pc for one in program.info.inlined_instances(function)]
                around = [program.info.function_at(at) for at in copies if at is not None]
                for each in (function, *around):
                    if each is not None and each.low_pc is not None and each.high_pc is not None:
                        found.append((program.to_loaded(each.low_pc), program.to_loaded(each.high_pc)))
        return found

    def _symbol_extents(self, name: str) -> list[tuple[LoadedAddress, LoadedAddress]]:
        found: list[tuple[LoadedAddress, LoadedAddress]] = []
        failed: LocationSpecError | None = None
        for program in self._inferior.programs:
            try:
                places = LocationResolver(program, self.default_place).resolve(FunctionSpec(name))
            except LocationSpecError as error:
                failed = failed or error
                continue
            for place in places:
                extent = program.code_object.symbols.extent_at(place.file_address)
                if extent is not None:
                    low, high = (program.to_loaded(FileAddress(address)) for address in extent[1:])
                    found.append((low, high))
        if not found and failed is not None:
            raise failed
        return found

    def _labels(self, spec: LabelSpec) -> Sequence[Location]:
        frame = self._focus.frame() if self._inferior.running and self._focus.current.thread is not None else None
        function = frame.function if frame is not None else None
        found = self.resolver().labels(function, spec.label) if function is not None else []
        if not found:
            raise LocationSpecError(f'No label "{spec.label}" defined in current function.')
        return found

    def _at(self, address: LoadedAddress) -> Location:
        """Return the place at a loaded address."""
        self._inferior.need_program()
        program = self._inferior.programs.at(address)
        return LocationResolver(program, self.default_place).at(program.to_file(address))

    def _default_in(self, program: Program, make: Callable[[], Defaults]) -> Defaults:
        """Return the default place in a code object: the default line, in the code object's own file with the same
        path.
        """
        place = make()
        if place.file is None or program is self._inferior.program or not program.has_debug_info:
            return place
        path = place.file.path
        file = next((file for file in program.info.files_named(place.file.basename) if file.path == path), None)
        return Defaults(file, place.line)

    def disassemble(self, low: int, high: int) -> Sequence[DisassemblyLine]:
        """Return the instructions in [low, high)."""
        self._inferior.need_program()
        program = self._inferior.programs.at(LoadedAddress(low))
        pc = wave_size = None
        if self._inferior.target is not None and self._focus.current.thread is not None:
            pc, wave_size = self._focus.frame().pc, self._inferior.wave(self._focus.current.thread).lane_count
        mangled = not self._settings.print.asm_demangle
        return list(disassemble(program, self._data.environment().memory, low, high, pc, wave_size, mangled))

    def assemble(self, text: str) -> Sequence[DisassemblyLine]:
        """Assemble ``[ADDRESS] INSTRUCTION``; with an address, write the instruction there, and return what is there
        afterwards.

        Raises `rocdbg.isa.AssemblyError`, `DebuggerError` and `MemoryAccessError`.
        """

        program = self._inferior.need_program()
        wave_size = None
        if self._inferior.target is not None and self._focus.current.thread is not None:
            program = self._inferior.program_of(self._focus.current.thread)
            wave_size = self._inferior.wave(self._focus.current.thread).lane_count
        lines = assemble(self._data, program, wave_size or program.wave_size, text)
        if self._inferior.target is not None:
            self._inferior.state_changed()
        return lines

    @property
    def position(self) -> ListPosition:
        """The position of `list`."""
        return self._position

    def default_line(self) -> SourcePlace:
        """Return where `list` without arguments begins: at the selected frame's line, otherwise the kernel's first
        line.
        """
        place = self.default_place()
        if place.file is None:
            self._inferior.need_program()
            raise DebuggerError(NO_SYMBOL_TABLE)
        return SourcePlace(place.file, place.line or 1)

    def source_line(self, text: str) -> SourcePlace:
        """Return the first of `source_lines`."""
        return self.source_lines(text)[0]

    def source_lines(
        self, text: str, defaults: Defaults | None = None, each_copy: bool = False
    ) -> list[SourcePlace]:
        """Return the source lines that a location denotes. These are, depending on the location:

        * a line, with or without code, in each file of that name;
        * the start of a function's code;
        * the declaration of a variable or class.

        ``defaults`` replaces the position of `list`. ``each_copy``: for an inlined function, return one line for each
        place, with its address. Raises `LocationSpecError`.
        """
        spec = parse_spec(self._with_variable(text))
        if isinstance(spec, AddressSpec):
            found = self._at(LoadedAddress(self._address(spec.expression)))
            if found.file is None or found.line is None:
                raise _without_line(found)
            return [SourcePlace(found.file, found.line, found.code, found.address)]
        if isinstance(spec, LabelSpec):
            return [_source_place(place) for place in self._labels(spec)]
        if isinstance(spec, FunctionSpec):
            return self._function_lines(spec, each_copy)
        self._inferior.need_program()
        default = (defaults or self.default_place()).file if not spec.file else None
        infos = [program.info for program in self._inferior.programs if program.has_debug_info]
        name = spec.file or (default.name if default else "")
        files = [file for info in infos for file in info.files_named(name)]
        if default is not None and default not in files:
            files = [default]
        if not files:
            if not spec.file:
                raise LocationSpecError(NO_SYMBOL_TABLE)
            if any(info.functions_named(spec.file) for info in infos):
                return self._function_lines(FunctionSpec(spec.file))
            raise LocationSpecError(f"No source file named {spec.file}.")
        line = self.resolver(defaults).line_of(spec)
        return [SourcePlace(file, line) for file in self._last_unit_first(files)]

    def _last_unit_first(self, files: Sequence[SourceFile]) -> list[SourceFile]:
        """Return files in the order of GDB's list: GDB adds each unit that it reads at the front of the list."""
        if len(files) < 2:
            return list(files)
        units = [unit for program in self._inferior.programs if program.has_debug_info for unit in program.info.units]
        last = {file: index for index, unit in enumerate(units) for file in unit.files}
        return sorted(dict.fromkeys(files), key=lambda file: -last.get(file, 0))

    def last_shown(self) -> Defaults | None:
        """Return the file and line of the last shown frame, to which locations of some commands are relative."""
        return self._position.shown

    def _function_lines(self, spec: FunctionSpec, each_copy: bool = False) -> list[SourcePlace]:
        self._inferior.need_program()
        found: dict[tuple[SourceFile, int, int, int], SourcePlace] = {}
        failed: LocationSpecError | None = None
        bare: list[Location] = []
        for program in self._inferior.programs:
            resolver = LocationResolver(program, self.default_place)
            try:
                spec_here = resolver.without_function_as_file(spec)
                places = resolver.resolve(spec_here) if spec_here.label else [*begins(program, resolver, spec_here)]
            except LocationSpecError as error:
                failed = failed or error
                continue
            for place in places:
                if place.file is not None and place.line is not None:
                    copy = place.address if each_copy and place.file_address else None
                    key = place.file, place.line, place.code.offset if place.code is not None else 0, copy or 0
                    found.setdefault(key, replace(_source_place(place), address=copy))
                else:
                    bare.append(place)
        if spec.label is None:
            running = self._inferior.target is not None and self._focus.current.thread is not None
            frame = self._focus.frame() if running else None
            declared = [
                place
                for program in self._inferior.programs
                for place in declarations(program, spec, frame, of_class=bool(found))
            ]
            if declared:
                unlike = {(place.file.path, place.line): place for place in reversed(declared)}
                return [*found.values(), *[*unlike.values()][::-1]]
        if not found and spec.file is None and spec.label is None:
            with suppress(LocationSpecError):
                labels = map(_source_place, self._labels(LabelSpec(spec.name)))
                return [SourcePlace(label.file, label.line) for label in labels]
        if not found:
            if bare:
                raise _without_line(bare[0])
            where = f' in "{spec.file}"' if spec.file is not None else ""
            raise failed or LocationSpecError(f'Function "{spec.name}" not defined{where}.')
        return list(found.values())

    def disassembly_range(self, text: str) -> tuple[str | None, int, int]:
        """Return what `disassemble TEXT` shows: the function's name (None for a plain range), and loaded addresses."""
        program = self._inferior.program
        if program is None:
            raise NoProgramError
        text = text.removesuffix(",").strip()
        if "," in text and not text.startswith(","):
            first, last = (part.strip() for part in text.split(",", 1))
            low = self._data.integer(first)
            high = low + self._data.integer(last[1:]) if last.startswith("+") else self._data.integer(last)
            return None, low, high
        address = self._data.integer(text) if text else self._focus.frame().pc
        return function_bounds(self._inferior.programs.at(LoadedAddress(address)), address)

    def describe_address(self, name: str) -> str:
        """Return the sentence of `info address NAME`, for a variable of the selected scope or else a global symbol."""
        if self._inferior.program is None:
            raise NoSymbolError(name)
        lines = self._dwarf.describe_variable(name)
        if lines is not None:
            return "\n".join(lines)
        variable: Variable | None = None
        frame: Frame | None = None
        if self._inferior.target is not None and self._focus.current.thread is not None:
            frame = self._focus.frame()
            for scope in frame.scopes:
                variable = next((v for v in scope.variables if v.name == name), None)
                if variable is not None:
                    break
            if variable is None and this_has(name, self._data.environment()):
                return f"Symbol \"{name}\" is a field of the local class variable `this'"
        return self._symbols.address_of(name, variable, frame)


def _source_place(place: Location) -> SourcePlace:
    assert place.file is not None and place.line is not None
    return SourcePlace(place.file, place.line, place.code)


# Instructions typed by the user: assembled bytes, and the code that they overwrite.


def split(text: str, knows: Callable[[str], bool], target: str) -> tuple[str, str]:
    """Return the address expression before an instruction ("" if there is none), and the instruction.

    Raises `DebuggerError` if no word is an instruction of the target.
    """
    words = text.split()
    if not words:
        raise DebuggerError(
            "Argument required (an instruction, optionally preceded by the address at which to write it)."
        )
    place = 0
    for word in words:
        place = text.index(word, place)
        if knows(word):
            return text[:place].strip(), text[place:]
        place += len(word)
    raise DebuggerError(f"No word of `{text}' is an instruction of {target}.")


def assemble(data: Data, program: Program, wave_size: int | None, text: str) -> Sequence[DisassemblyLine]:
    """Assemble ``[ADDRESS] INSTRUCTION``; with an address, write the instruction there.

    Return the instruction; if it was written, also those after it, up to the end of the overwritten code. Raises
    `isa.AssemblyError`, `DebuggerError` and `MemoryAccessError`.
    """
    target = program.code_object.target.name
    assembler = assembler_for(target, wave_size)
    where, instruction = split(text, assembler.knows, target)
    if not where:
        code = _bytes(assembler, program, instruction, 0)
        found = isa.decode(code, target, wave_size=assembler.wave_size)
        return [DisassemblyLine(0, found.size, code, found.text, None, 0, None, None, False)]
    place = place_of(data.evaluate(where), data.environment())
    address = place.value
    if place.space:
        raise DebuggerError("Instructions can be written only to global memory.")
    if address % 4:
        raise DebuggerError(f"The address of an instruction must be a multiple of 4, which {address:#x} is not.")
    code = _bytes(assembler, program, instruction, address)
    memory = data.environment().memory
    end = address
    for old in instructions_at(program, memory, address, len(code) // 4, wave_size=wave_size):
        end += old.size
        if end >= address + len(code):
            break
    memory.write(0, address, code)
    return [replace(line, current=False) for line in disassemble(program, memory, address, end, None, wave_size)]


def _bytes(assembler: Assembler, program: Program, text: str, address: int) -> bytes:
    def symbol(name: str) -> int | Value | None:
        known = program.code_object.symbols.get(name)
        if known is not None and known.is_absolute:
            return Value(known.value)
        found: LoadedAddress | None = program.symbol_address(name)
        return found

    return assembler.assemble(text, address, symbol)


# The position of `list`: a file and line. Locations without a file, and `list` without arguments, are relative to it.


class ListPosition(Observer):
    """GDB's notion of a current source line; there is one in a session.

    Attributes:
        place: the current line, at which the next `list` begins; ``None`` if it is the selected frame's line.
        shown: the line of the last shown frame, from which ``break +1`` counts.
        shown_pc: the PC of that frame, used by `break` without arguments even after the program has ended.
        first, last: the lines that `list` last showed, as in GDB 13: if a frame was shown since, ``first`` is 0 and
            ``last`` is also the first line.
        asked: whether a location was relative to a current file: before that, and before the first stop, there is no
            current file.
    """

    def __init__(self) -> None:
        self.place: Defaults | None = None
        self.shown: Defaults | None = None
        self.shown_pc: LoadedAddress | None = None
        self.first = 0
        self.last = 0
        self.asked = False

    def stopped(self, event: StopEvent) -> None:
        """Make locations relative to the program's current position or, after its end, to its last position."""
        if event.scope.thread is not None:
            self.reset()

    def reset(self) -> None:
        """Forget what was listed, and use the program's position."""
        self.place = self.shown = None
        self.shown_pc = None
        self.first = self.last = 0

    def show_frame(self, file: SourceFile, line: int, pc: LoadedAddress) -> None:
        """Record that a frame was shown with its source line: the next `list` shows the lines around it."""
        self.place = self.shown = Defaults(file, line)
        self.shown_pc = pc
        self.first = self.last = 0

    def show_lines(self, file: SourceFile, first: int, then: int) -> None:
        """Record that lines were listed from ``first``; the next `list` begins at ``then``."""
        self.place = Defaults(file, then)
        self.first = self.last = first
