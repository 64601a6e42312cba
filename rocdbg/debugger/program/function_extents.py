"""Where functions begin and end in the machine code of a code object, even if symbols do not show it.

Compilers write the type and size of each symbol. Assembly often has neither; a function then extends to the next one or
to the end of its section. Symbols without a type do not distinguish functions from labels: such a symbol counts as a
function if it is the entry of a kernel descriptor, the target of a call, or global (callable from other files).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from rocdbg.codeobject import CodeObjectError
from rocdbg.codeobject.elf import SHF_EXECINSTR, Section
from rocdbg.codeobject.elf_symbols import Symbol, SymbolType
from rocdbg.errors import Error

if TYPE_CHECKING:
    from rocdbg.addresses import FileAddress, LoadedAddress
    from rocdbg.analysis.control_flow import FunctionCode
    from rocdbg.codeobject import CodeObject
    from rocdbg.debugger.program.program import Program
    from rocdbg.isa import Instruction

# The instruction reader is imported late, because many sessions do not need it.

_MOST_INSTRUCTIONS = 500_000
"""How many instructions are searched for calls; no assembly seen so far has a tenth of that."""


class FunctionExtents:
    """The functions of a code object by file address, found on first use."""

    def __init__(self, code_object: CodeObject) -> None:
        self._code_object = code_object
        self._own_links: dict[int, FunctionCode] = {}

    def at(self, address: int) -> FunctionCode | None:
        """Return the function whose code contains an address; if there are several, the one that starts last."""
        functions, reaches = self._functions
        position = bisect_right(functions, address, key=lambda each: each.start) - 1
        while position >= 0 and reaches[position] > address:
            if functions[position].end > address:
                return self._linked(functions[position])
            position -= 1
        return None

    def _linked(self, function: FunctionCode) -> FunctionCode:
        """Return the function with its return address.

        Calls are searched only if the function returns in a way that no compiler uses, because most code objects have
        thousands of functions and no assembly.
        """
        if function.is_kernel or self._has_links:
            return function
        known = self._own_links.get(function.start)
        if known is None:
            known = function
            if self._returns_elsewhere(function):
                known = self._function(function.start, function.end, set(), self._links)
            self._own_links[function.start] = known
        return known

    def _returns_elsewhere(self, function: FunctionCode) -> bool:
        """Whether a function jumps to an address in registers, but never in those in which compilers pass the return
        address.
        """
        from rocdbg.analysis.control_flow import RETURN_ADDRESS
        from rocdbg.isa import Flow

        jumps = {
            source.index for instruction in self._instructions(function.start, function.end - function.start)
            if instruction.flow is Flow.INDIRECT and (source := instruction.operand("ssrc0")) is not None
        }
        return bool(jumps) and RETURN_ADDRESS not in jumps

    @cached_property
    def _has_links(self) -> bool:
        """Whether `_functions` has to examine calls, because some symbol has no size, as in assembly."""
        return bool(self._declared()[1]) or any(not symbol.size for symbol in self._code_symbols)

    @cached_property
    def _links(self) -> dict[int, set[int]]:
        """The registers that hold the return address at the calls of each function."""
        links: dict[int, set[int]] = {}
        for target, link in self._calls():
            links.setdefault(target, set()).add(link)
        return links

    @cached_property
    def _functions(self) -> tuple[list[FunctionCode], list[int]]:
        """All functions by start, and for each of them the furthest end of the functions up to it."""
        sized, starts = self._declared()
        links = self._links if self._has_links else {}
        kernels = self._kernels
        found = {
            start: self._function(start, end, kernels, links) for start, end in sorted(sized)
        }
        reach = sorted(found.values(), key=lambda each: each.start)
        begins = [each.start for each in reach]
        ends = _prefix_ends(reach)
        loose: set[int] = set()
        for start in {*starts, *links, *kernels}:
            inside = bisect_right(begins, start) - 1
            if start not in found and not (inside >= 0 and ends[inside] > start):
                loose.add(start)
        borders = sorted({*begins, *loose})
        for start in loose:
            section = self._section_end(start)
            if section is None:
                continue
            after = bisect_right(borders, start)
            end = min(section, borders[after]) if after < len(borders) else section
            found[start] = self._function(start, end, kernels, links)
        functions = sorted(found.values(), key=lambda each: (each.start, -each.end))
        return functions, _prefix_ends(functions)

    @staticmethod
    def _function(start: int, end: int, kernels: set[int], links: dict[int, set[int]]) -> FunctionCode:
        from rocdbg.analysis.control_flow import RETURN_ADDRESS, FunctionCode

        called_with = links.get(start, {RETURN_ADDRESS})
        [link, *others] = called_with
        return FunctionCode(start, end, start in kernels, link if not others else RETURN_ADDRESS)

    @cached_property
    def _code_symbols(self) -> list[Symbol]:
        code_object = self._code_object
        return [
            symbol for symbol in code_object.symbols
            if symbol.is_defined and symbol.name and not symbol.name.startswith(".L")
            and symbol.type in (SymbolType.NOTYPE, SymbolType.FUNC, SymbolType.AMDGPU_HSA_KERNEL)
            and code_object.is_code(symbol)
        ]

    def _declared(self) -> tuple[set[tuple[int, int]], set[int]]:
        """The start and end of each symbol that has a size, and the starts of symbols without a size that are functions
        by their type or binding.
        """
        sized: dict[int, int] = {}
        starts = set()
        for symbol in self._code_symbols:
            try:
                address = int(self._code_object.address_of(symbol))
            except CodeObjectError:
                continue
            if symbol.size:
                sized[address] = max(sized.get(address, 0), address + symbol.size)
            elif symbol.type != SymbolType.NOTYPE or symbol.binding:
                starts.add(address)
        return set(sized.items()), starts

    @cached_property
    def _kernels(self) -> set[int]:
        """The addresses where kernels begin."""
        found = set()
        for kernel in self._code_object.kernels.values():
            try:
                entry = kernel.entry_address
                symbol = self._code_object.symbols.get(kernel.name)
                # in code objects of version 2, the descriptor is inside the kernel's symbol, before its code
                found.add(int(self._code_object.address_of(symbol)) if self._code_object.has_code_headers and symbol
                          else int(entry))
            except CodeObjectError:
                continue
        return found

    def _sections(self) -> Iterator[tuple[Section, int]]:
        for section in self._code_object.container.section_list:
            address = self._code_object.section_address(section)
            if section.flags & SHF_EXECINSTR and address is not None:
                yield section, int(address)

    def _section_end(self, address: int) -> int | None:
        """Return the end of the section that contains an address; without sections, that of the segment."""
        for section, start in self._sections():
            if start <= address < start + section.size:
                return start + section.size
        for segment in self._code_object.container.segments:
            if segment.address <= address < segment.address + segment.file_size and segment.flags & 1:
                return segment.address + segment.file_size
        return None

    def _calls(self) -> Iterator[tuple[int, int]]:
        """Yield the targets of calls that nearby code determines, and the register through which each call returns."""
        for section, start in self._sections():
            yield from self._calls_in(start, section.size)

    def called_by(self, function: FunctionCode) -> set[int]:
        """Return the starts of the functions that a function calls, where code near the calls determines them."""
        return {target for target, _ in self._calls_in(function.start, function.end - function.start)}

    def _calls_in(self, start: int, size: int) -> Iterator[tuple[int, int]]:
        from rocdbg.analysis.control_flow import jump_targets
        from rocdbg.isa import Flow

        instructions = self._instructions(start, size)
        targets = jump_targets(instructions)
        for instruction in instructions:
            if instruction.flow is Flow.CALL:
                target = instruction.branch_target or targets.get(instruction.address)
                link = instruction.operand("sdst")
                if target is not None and link is not None:
                    yield target, link.index

    def _instructions(self, start: int, size: int) -> list[Instruction]:
        from rocdbg import isa

        found: list[Instruction] = []
        try:
            code = self._code_object.read(start, size)
            for instruction in isa.disassemble(code, self._code_object.target.name, address=start):
                found.append(instruction)
                if len(found) >= _MOST_INSTRUCTIONS:
                    break
        except Error:
            pass  # truncated, or not in the file: decode what there is
        return found


def function_start(program: Program, address: LoadedAddress) -> FileAddress | None:
    """Return the start of the function (without debug information, of the symbol) that contains an address."""
    function, symbol = program.function_at(address), program.symbol_at(address)
    if function is not None:
        return function.low_pc
    return program.code_object.address_of(symbol) if symbol is not None else None


def _prefix_ends(functions: list[FunctionCode]) -> list[int]:
    found: list[int] = []
    for function in functions:
        found.append(max(function.end, found[-1]) if found else function.end)
    return found
