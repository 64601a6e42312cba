"""All functions of an object, by name and by address."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property
from itertools import chain

from rocdbg.dwarf.conventions import Gcc
from rocdbg.dwarf.info.constants import At, Tag
from rocdbg.dwarf.info.die import Die
from rocdbg.dwarf.info.entries import Entries
from rocdbg.dwarf.info.lines import LineTable
from rocdbg.dwarf.info.model import AddressRange
from rocdbg.dwarf.info.name_matching import component, parameter_list, parse_name
from rocdbg.dwarf.info.named_entries import NamedEntries, Offsets
from rocdbg.dwarf.info.scopes import Function, InlinedSubroutine
from rocdbg.dwarf.info.subprogram_entries import EntryPoint
from rocdbg.dwarf.info.types import PointerType, QualifiedType, Qualifier
from rocdbg.dwarf.info.unit import Unit


class FunctionIndex:
    """The functions of an object. For an address, only the units that may contain it are indexed; for a name, all units
    are.
    """

    def __init__(self, entries: Entries) -> None:
        self._entries = entries
        self._named = NamedEntries(entries, (Tag.SUBPROGRAM,), _names)
        self._made: dict[int, Function] = {}
        self._by_unit: dict[int, list[Function]] = {}
        self._inlined: dict[int, dict[int, list[InlinedSubroutine]]] = {}

    def of_unit(self, unit: Unit) -> list[Function]:
        """The functions a unit defines: those with code, then those that were only inlined."""
        functions = self._by_unit.get(unit.offset)
        if functions is None:
            functions = self._select(unit, unit.index.tagged(Tag.SUBPROGRAM))
            functions += (each for each in self._select(unit, unit.index.records.nested) if each.ranges)
            self._by_unit[unit.offset] = functions
        return functions

    def _function(self, die: Die) -> Function:
        return self._made.setdefault(die.offset, Function(die))

    def _select(self, unit: Unit, offsets: list[int]) -> list[Function]:
        """Select the functions among entries of a unit, without declarations and without abstract functions that have
        code.
        """
        concrete: list[Function] = []
        abstract: dict[int, Function] = {}
        for offset in offsets:
            die = Die(unit, offset)
            if die.has(At.LOW_PC) or die.has(At.RANGES):
                function = self._function(die)
                if function.ranges:
                    concrete.append(function)
            elif die.has(At.INLINE) or self._is_inlined(die):
                abstract[offset] = self._function(die)
        if abstract:
            for function in concrete:
                abstract.pop(function.abstract.offset, None)
        return concrete + list(abstract.values())

    @cached_property
    def all(self) -> list[Function]:
        """The functions of all units."""
        return [function for unit in self._entries.units for function in self.of_unit(unit)]

    def _is_inlined(self, die: Die) -> bool:
        """Whether an entry without code has inlined instances although it does not say so: with GCC's link-time
        optimisation, the entry was written before the decision to inline the function.
        """
        return isinstance(die.unit.conventions, Gcc) and die.offset in self._origins

    @cached_property
    def _origins(self) -> frozenset[int]:
        """The entries that have inlined instances."""
        units = [unit for unit in self._entries.units if not unit.is_type_unit]
        return frozenset(offset for unit in units for offset in self._inlined_in(unit))

    # By name

    @cached_property
    def _by_base(self) -> dict[str, list[Function]]:
        """By the last component of the name, without template arguments."""
        table: dict[str, list[Function]] = defaultdict(list)
        for function in self.all:
            if function.name is not None:
                table[component(function.name).base].append(function)
        return table

    @cached_property
    def _by_linkage_name(self) -> dict[str, list[Function]]:
        table: dict[str, list[Function]] = defaultdict(list)
        for function in self.all:
            if function.linkage_name is not None:
                table[function.linkage_name].append(function)
        return table

    def named(self, name: str) -> list[Function]:
        """The functions that a name as typed matches, in order of address; those without code come last."""
        query = parse_name(name)
        base = query.components[-1].base
        listed = self._named.is_usable
        candidates = self._among(self._named.by_base(base)) if listed else self._by_base.get(base, [])
        found = [
            function for function in candidates
            if function.name is not None
            and query.accepts(tuple(map(component, (*function.scope_names, function.name))))
            and (query.parameters is None or _parameters(function) == query.parameters)
            and (not query.constant or _is_constant(function))
        ]
        linkage_name = name.strip()
        if not found and listed:
            candidates = self._among(self._named.by_text(linkage_name))
            found = [function for function in candidates if function.linkage_name == linkage_name]
        elif not found:
            found = list(self._by_linkage_name.get(linkage_name, ()))
        if not found:
            found = [entry for entry in self._entry_points if entry.name == linkage_name and entry.ranges]
        return sorted(found, key=lambda function: (function.low_pc is None, function.low_pc or 0))

    @cached_property
    def _entry_points(self) -> list[EntryPoint]:
        """Additional entry points of the subprograms of all units, which are found by name, not by address."""
        return [
            EntryPoint(Die(unit, offset))
            for unit in self._entries.units
            for offset in unit.index.records.entry_points
        ]

    def _among(self, candidates: Offsets) -> list[Function]:
        """The functions among entries."""
        by_unit: dict[Unit, list[int]] = {}
        for unit, offset in candidates:
            by_unit.setdefault(unit, []).append(offset)
        return [function for unit, offsets in by_unit.items() for function in self._select(unit, offsets)]

    def matching(self, pattern: str | re.Pattern[str]) -> list[Function]:
        """The functions whose qualified name contains a match of the pattern, by name."""
        search = re.compile(pattern).search
        found = [
            (function.qualified_name, function.low_pc or 0, number, function)
            for number, function in enumerate(self.all)
            if function.qualified_name is not None and search(function.qualified_name)
        ]
        return [entry[-1] for entry in sorted(found, key=lambda entry: entry[:3])]

    # By address

    @cached_property
    def _unit_ranges(self) -> tuple[list[tuple[AddressRange, Unit]], list[Unit]]:
        """The ranges, by address, of the units that state ranges; and the compile units that do not."""
        ranges: list[tuple[AddressRange, Unit]] = []
        others: list[Unit] = []
        for unit in self._entries.units:
            if unit.is_type_unit:
                continue
            if unit.ranges:
                ranges += ((part, unit) for part in unit.ranges)
            else:
                others.append(unit)
        return sorted(ranges, key=lambda entry: entry[0]), others

    def units_stated_at(self, pc: int) -> list[Unit]:
        """The units whose ranges contain ``pc``. There may be several: if one unit has only line tables, another may
        describe the functions.
        """
        ranges, _ = self._unit_ranges
        index = bisect_right(ranges, pc, key=lambda entry: entry[0].low)
        found = [unit for part, unit in ranges[max(0, index - 8):index] if pc in part]
        return found[::-1]

    @cached_property
    def _others_with_functions(self) -> list[Unit]:
        """The units that do not state ranges but have functions with code. There may be thousands of units that have
        none.
        """
        return [unit for unit in self._unit_ranges[1] if self._addresses(unit)[0]]

    @cached_property
    def _other_line_tables(self) -> list[LineTable]:
        """The line tables of the units that do not state ranges, each once, without empty ones."""
        tables = {unit.line_table: None for unit in self._unit_ranges[1]}
        return [table for table in tables if table is not None and table.has_program]

    def line_tables_at(self, pc: int) -> Iterator[LineTable]:
        """The line tables of the units whose ranges contain ``pc``, then those of units that do not state ranges."""
        for unit in self.units_stated_at(pc):
            if unit.line_table is not None:
                yield unit.line_table
        yield from self._other_line_tables

    def at(self, pc: int) -> Function | None:
        """The function with code at ``pc``."""
        for unit in chain(self.units_stated_at(pc), self._others_with_functions):
            lows, parts = self._addresses(unit)
            index = bisect_right(lows, pc) - 1
            if index >= 0 and pc in parts[index][0]:
                return parts[index][1]
        return None

    @cached_property
    def _address_tables(self) -> dict[int, tuple[list[int], list[tuple[AddressRange, Function]]]]:
        return {}

    def _addresses(self, unit: Unit) -> tuple[list[int], list[tuple[AddressRange, Function]]]:
        table = self._address_tables.get(unit.offset)
        if table is None:
            parts = [(part, function) for function in self.of_unit(unit) for part in function.ranges]
            parts.sort(key=lambda entry: entry[0])
            table = self._address_tables[unit.offset] = ([part.low for part, _ in parts], parts)
        return table

    # Inlined instances

    def inlined(self, function: Function) -> list[InlinedSubroutine]:
        """The places where a function was inlined, by address."""
        abstract = function.abstract
        if not function.is_inline and abstract == function.die and not self._is_inlined(abstract):
            return []
        found: list[InlinedSubroutine] = []
        for unit in self._entries.units:
            if unit is abstract.unit or not unit.is_type_unit:
                found += self._inlined_in(unit).get(abstract.offset, ())
        return sorted(
            (instance for instance in found if instance.ranges), key=lambda instance: instance.entry_pc or 0
        )

    def _inlined_in(self, unit: Unit) -> dict[int, list[InlinedSubroutine]]:
        """Inlined instances in a unit, by the entry of their function."""
        table = self._inlined.get(unit.offset)
        if table is None:
            table = defaultdict(list)
            for offset in unit.index.inlined:
                die = Die(unit, offset)
                origin = die.reference(At.ABSTRACT_ORIGIN)
                if origin is not None:
                    table[origin.offset].append(InlinedSubroutine(die))
            self._inlined[unit.offset] = table
        return table


def _names(die: Die) -> list[str]:
    """The names by which a subprogram is indexed; empty for a declaration."""
    if not any(die.has(code) for code in (At.LOW_PC, At.RANGES, At.INLINE)):
        return []
    function = Function(die)
    return [name for name in (function.name, function.linkage_name) if name is not None]


def _is_constant(function: Function) -> bool:
    """Whether a function is a method that can be called on constant objects."""
    this = next((one.type.strip_typedefs() for one in function.type.parameters if one.artificial), None)
    pointer = this.strip_qualifiers() if this is not None else None
    target = pointer.target if isinstance(pointer, PointerType) else None
    while isinstance(target, QualifiedType) and target.qualifier is not Qualifier.CONST:
        target = target.target
    return isinstance(target, QualifiedType)


def _parameters(function: Function) -> str:
    shown = [str(parameter.type) for parameter in function.type.parameters if not parameter.artificial]
    if function.type.variadic:
        shown.append("...")
    return parameter_list(f"({', '.join(shown)})")
