"""Global variables and named types of an object, by name."""

from __future__ import annotations

import re
from collections import defaultdict
from functools import cached_property

from rocdbg.dwarf.info.constants import Tag
from rocdbg.dwarf.info.die import Die
from rocdbg.dwarf.info.entries import Entries
from rocdbg.dwarf.info.name_matching import component, parse_name
from rocdbg.dwarf.info.named_entries import NamedEntries, Offsets
from rocdbg.dwarf.info.scopes import Variable, enclosing_names
from rocdbg.dwarf.info.types import ClassType, EnumType, Type
from rocdbg.dwarf.info.unit_index import NAMED_TYPE_TAGS


class VariableIndex:
    """Variables outside functions: globals, and static members of classes."""

    def __init__(self, entries: Entries) -> None:
        self._entries = entries
        self._named = NamedEntries(entries, (Tag.VARIABLE, Tag.CONSTANT), _names)

    @cached_property
    def all(self) -> list[Variable]:
        """All variables; a declaration only if there is no definition."""
        tags = Tag.VARIABLE, Tag.CONSTANT
        return self._select([(unit, offset) for unit in self._entries.units for offset in unit.index.tagged(*tags)])

    def _select(self, candidates: Offsets) -> list[Variable]:
        """Select the variables among entries: definitions first, then declarations that have no definition among the
        entries.
        """
        definitions: list[Variable] = []
        declarations: list[Variable] = []
        specified: set[int] = set()
        for unit, offset in candidates:
            variable = Variable(Die(unit, offset))
            if variable.declaration:
                declarations.append(variable)
            else:
                definitions.append(variable)
                specified.update(die.offset for die in variable.die.origins())
        return definitions + [variable for variable in declarations if variable.offset not in specified]

    @cached_property
    def _by_base(self) -> dict[str, list[Variable]]:
        table: dict[str, list[Variable]] = defaultdict(list)
        for variable in self.all:
            if variable.name is not None:
                table[component(variable.name).base].append(variable)
        return table

    def named(self, name: str) -> list[Variable]:
        """The variables that a name as typed matches; it may also be a linkage name."""
        query = parse_name(name)
        base = query.components[-1].base
        listed = self._named.is_usable
        candidates = self._select(self._named.by_base(base)) if listed else self._by_base.get(base, [])
        found = [
            variable for variable in candidates
            if variable.name is not None
            and query.accepts(tuple(map(component, (*variable.scope_names, variable.name))))
        ]
        return found or [variable for variable in self.all if variable.linkage_name == name.strip()]

    def matching(self, pattern: str | re.Pattern[str]) -> list[Variable]:
        """Defined variables whose qualified name contains a match of the pattern, by name."""
        search = re.compile(pattern).search
        found = [
            variable for variable in self.all
            if not variable.declaration and variable.qualified_name and search(variable.qualified_name)
        ]
        return sorted(found, key=lambda variable: variable.qualified_name or "")


class TypeIndex:
    """Named types outside functions."""

    def __init__(self, entries: Entries) -> None:
        self._entries = entries
        self._named = NamedEntries(entries, tuple(NAMED_TYPE_TAGS), _names)

    @cached_property
    def _all(self) -> list[tuple[str, Die]]:
        """Name and entry of all named types."""
        found = []
        for unit in self._entries.units:
            for offset in unit.index.tagged(*NAMED_TYPE_TAGS):
                die = Die(unit, offset)
                if die.name is not None:
                    found.append((die.name, die))
        return found

    @cached_property
    def _by_base(self) -> dict[str, list[tuple[str, Die]]]:
        table: dict[str, list[tuple[str, Die]]] = defaultdict(list)
        for name, die in self._all:
            table[component(name).base].append((name, die))
        return table

    def named(self, name: str) -> list[Type]:
        """The types that a name as typed matches, definitions first."""
        query = parse_name(name)
        base = query.components[-1].base
        candidates = self._by_base.get(base, []) if not self._named.is_usable else [
            (die.name, die) for die in (Die(unit, offset) for unit, offset in self._named.by_base(base))
            if die.name is not None
        ]
        found = [
            die for own, die in candidates
            if query.accepts(tuple(map(component, (*enclosing_names(die), own))))
        ]
        types = [self._entries.types.read(die) for die in found]
        return sorted(types, key=is_declaration)

    def matching(self, pattern: str | re.Pattern[str], by_unit: bool = False) -> list[Type]:
        """Types whose qualified name contains a match of the pattern, by name; one for each name and kind of type.

        With ``by_unit``, one for each unit that has the type.
        """
        search = re.compile(pattern).search
        found: dict[tuple[str, str, int], Type] = {}
        for name, die in self._all:
            qualified = "::".join((*enclosing_names(die), name))
            if search(qualified):
                type = self._entries.types.read(die)
                key = qualified, str(type), die.unit.offset if by_unit else 0
                known = found.get(key)
                if known is None or (is_declaration(known) and not is_declaration(type)):
                    found[key] = type
        return [type for _, type in sorted(found.items(), key=lambda entry: entry[0])]

    def definition(self, type: Type) -> Type:
        """The definition of a class or enumeration that is only declared; ``type`` itself when there is
        none."""
        if not is_declaration(type) or not isinstance(type, ClassType | EnumType) or not type.qualified_name:
            return type
        kind = ClassType if isinstance(type, ClassType) else EnumType
        for other in self.named(f"::{type.qualified_name}"):
            if isinstance(other, kind) and not is_declaration(other):
                return other
        return type


def _names(die: Die) -> list[str]:
    return [] if die.name is None else [die.name]


def is_declaration(type: Type) -> bool:
    """True for a class or enumeration that is only declared."""
    return isinstance(type, ClassType | EnumType) and type.is_declaration
