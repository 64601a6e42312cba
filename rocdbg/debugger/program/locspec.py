"""Location strings: ``function``, ``file:line``, ``line``, ``+3``, ``*address``; parsed, then resolved.

A `Location` keeps the file's address, so it stays right when the program is loaded elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cached_property

from msgspec import Struct

from rocdbg.addresses import FileAddress, LoadedAddress
from rocdbg.codeobject import Symbol
from rocdbg.codeobject.demangle import stands_for
from rocdbg.debugger.digits import decimal
from rocdbg.debugger.errors import LocationSpecError
from rocdbg.debugger.program.opencl import is_kernel_wrapper
from rocdbg.debugger.program.program import Program, same_function
from rocdbg.dwarf.info import CodeLocation, Function, SourceFile

_FUNCTION_SYMBOLS = (2, 10)  # STT_FUNC and STT_AMDGPU_HSA_KERNEL


class LineSpec(Struct, frozen=True):
    """A line of a file (``None``: the default file); ``relative`` counts from the default line."""

    file: str | None
    line: int
    relative: bool = False


class FunctionSpec(Struct, frozen=True):
    """A function, maybe of a file, maybe with a line in it."""

    name: str
    file: str | None = None


class AddressSpec(Struct, frozen=True):
    """``*EXPRESSION``."""

    expression: str


Spec = LineSpec | FunctionSpec | AddressSpec


class Location(Struct, frozen=True):
    """A place in the program. ``file`` and ``line`` where known; ``function`` is its name as tables show it."""

    program: Program
    file_address: FileAddress
    file: SourceFile | None = None
    line: int | None = None
    function: str | None = None
    code: Function | None = None
    by_line: bool = True
    """Whether it was found as a line or an address, not as the function."""

    @property
    def address(self) -> LoadedAddress:
        """The address as loaded now."""
        return self.program.to_loaded(self.file_address)


class Defaults(Struct, frozen=True):
    """Where locations without a file are: the selected frame's place, or what was listed last."""

    file: SourceFile | None
    line: int | None


_NUMBER = re.compile(r"\d+")
_EXPLICIT = re.compile(r"-(source|function|line|qualified)\b\s*")


def parse_spec(text: str) -> Spec:
    """Parse a location. Raises `LocationSpecError`."""
    text = text.strip()
    if text.startswith("-") and _EXPLICIT.match(text):
        return _explicit(text)
    if text.startswith("*"):
        return AddressSpec(text[1:].strip())
    if text[:1] in "+-" and _NUMBER.fullmatch(text[1:].strip()):
        number = decimal(text[1:])
        return LineSpec(None, -number if text[0] == "-" else number, relative=True)
    if _NUMBER.fullmatch(text):
        return LineSpec(None, decimal(text))
    file, rest = _split_file(text)
    if file is None:
        file, rest = _split_file(_unquote(text))  # 'file.c:12': the quotes may be around it all
    if file is not None:
        rest = rest.strip()
        if _NUMBER.fullmatch(rest):
            return LineSpec(file, decimal(rest))
        if rest[:1] == "*":
            return AddressSpec(rest[1:].strip())
        if not rest:
            raise LocationSpecError(f'malformed linespec error: unexpected end of input after "{file}:".')
        return FunctionSpec(_unquote(rest), file)
    if not text:
        raise LocationSpecError("Empty line specification.")
    return FunctionSpec(rest)


def _split_file(text: str) -> tuple[str | None, str]:
    """The file before a single colon that is not part of ``::``, brackets or quotes."""
    if text[:1] in ('"', "'"):
        end = text.find(text[0], 1)
        if end > 0 and text[end + 1 :].lstrip()[:1] == ":" and text[end + 1 :].lstrip()[:2] != "::":
            return text[1:end], text[end + 1 :].lstrip()[1:]
        return None, text
    depth = 0
    index = 0
    while index < len(text):
        char = text[index]
        if char in "(<[":
            depth += 1
        elif char in ")>]":
            depth -= 1
        elif char == ":" and depth <= 0:
            if text[index : index + 2] == "::":
                index += 2
                continue
            return text[:index].strip(), text[index + 1 :]
        index += 1
    return None, text


def _unquote(text: str) -> str:
    return text[1:-1] if len(text) > 1 and text[0] in "\"'" and text[-1] == text[0] else text


def _explicit(text: str) -> Spec:
    parts = re.split(r"\s*-(source|function|line|qualified)\b\s*", text)[1:]
    options = {parts[i]: parts[i + 1].strip() for i in range(0, len(parts) - 1, 2)}
    if set(options) == {"qualified"}:  # before a location of another kind: names are looked up as they are anyway
        return parse_spec(options["qualified"])
    file = options.get("source")
    if "function" in options:
        return FunctionSpec(_unquote(options["function"]), file)
    line = options.get("line", "")
    if _NUMBER.fullmatch(line):
        return LineSpec(file, decimal(line))
    raise LocationSpecError("Source filename requires function, label, or line offset.")


class LocationResolver:
    """Finds the places that names and lines stand for in one code object."""

    def __init__(self, program: Program, defaults: Callable[[], Defaults]) -> None:
        self._program = program
        self._make_defaults = defaults

    @cached_property
    def _defaults(self) -> Defaults:
        return self._make_defaults()

    def resolve(self, spec: LineSpec | FunctionSpec) -> list[Location]:
        """Where breakpoints go, ordered by address. Raises `LocationSpecError` worded as GDB's."""
        if isinstance(spec, LineSpec):
            return self._lines(spec)
        return self._functions(spec)

    def at(self, address: FileAddress) -> Location:
        """The place at a file address."""
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
                raise LocationSpecError("No symbol table is loaded.  Use the \"file\" command.")
            return [file]
        files = program.info.files_named(name) if program.has_debug_info else []
        if not files:
            raise LocationSpecError(f"No source file named {name}.")
        return files

    def line_of(self, spec: LineSpec) -> int:
        """The absolute line number."""
        if not spec.relative:
            return spec.line
        if self._defaults.line is None:
            raise LocationSpecError("No default line number.")
        return self._defaults.line + spec.line

    def _lines(self, spec: LineSpec) -> list[Location]:
        files = self._files(spec.file)
        line = self.line_of(spec)
        found: list[CodeLocation] = []
        for file in files:
            found += self._program.info.addresses_of(file, line)
        if not found:
            where = f'file "{spec.file}"' if spec.file is not None else "the current file"
            raise LocationSpecError(f"No line {line} in {where}.")
        program = self._program
        bodies = [p for p in found if p.function is None or not is_kernel_wrapper(program, p.function)]
        return [self._location(place) for place in bodies or found]

    # -- functions

    def functions(self, spec: FunctionSpec) -> list[Function]:
        """The functions a name stands for."""
        program = self._program
        if not program.has_debug_info:
            return []
        found = program.info.functions_named(spec.name)
        bodies = [f for f in found if not is_kernel_wrapper(program, f)]
        found = bodies or found
        if spec.file is not None:
            files = self._files(spec.file)
            found = [f for f in found if f.decl_file in files]
        return found

    def _functions(self, spec: FunctionSpec) -> list[Location]:
        program = self._program
        found: dict[int, Location] = {}
        for function in self.functions(spec):
            for place in program.info.breakpoint_locations(function):
                found.setdefault(place.address, self._in_function(function, place))
        if not found and spec.file is None:
            for symbol in _plain_functions(program, spec.name):
                location = self.at(program.code_object.address_of(symbol))
                found[location.file_address] = location
        if not found:
            where = f' in "{spec.file}"' if spec.file is not None else ""
            raise LocationSpecError(f'Function "{spec.name}" not defined{where}.')
        return [found[address] for address in sorted(found)]

    def _location(self, place: CodeLocation) -> Location:
        name = self._program.function_title(place.function) if place.function is not None else None
        return Location(self._program, place.address, place.file, place.line or None, name, place.function)

    def _in_function(self, function: Function, place: CodeLocation) -> Location:
        """A place in a function, seen from it: where other functions are inlined, their call's line."""
        file, line = place.file, place.line or None
        inner = None
        for instance in self._program.info.inline_frames_at(place.address):
            if same_function(instance.function, function):
                break
            inner = instance
        if inner is not None and inner.call_line is not None:
            file, line = inner.call_file, inner.call_line
        return Location(
            self._program, place.address, file, line, self._program.function_title(function), function, by_line=False
        )


def _plain_functions(program: Program, name: str) -> list[Symbol]:
    """The symbols of functions that ``name`` stands for: a symbol itself, or the C++ names it is mangled from."""
    symbols = program.code_object.symbols
    functions = symbols.defined(_FUNCTION_SYMBOLS)
    exact = [index for index, symbol in functions.items() if symbol == name]
    return [symbols[i] for i in exact or [i for i, symbol in functions.items() if stands_for(name, symbol)]]
