"""The namespaces of an object: which ones exist, what other names they have, and what is visible in each."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property

from msgspec import Struct

from rocdbg.dwarf.info.constants import At, Tag
from rocdbg.dwarf.info.die import Die
from rocdbg.dwarf.info.entries import Entries
from rocdbg.dwarf.info.scopes import enclosing_names
from rocdbg.dwarf.info.types import EnumType

ANONYMOUS = "(anonymous namespace)"


class LocalImports(Struct, frozen=True):
    """What a function or block imports from elsewhere: ``declared`` maps the names that are visible there to qualified
    names; ``namespaces`` are visible as a whole.
    """

    declared: dict[str, str]
    namespaces: tuple[str, ...]


class Namespaces:
    """Namespaces and using-declarations, by qualified names; the global namespace has the empty name."""

    def __init__(self, entries: Entries) -> None:
        self._entries = entries
        self._within: dict[Die, LocalImports] = {}

    def _tagged(self, *tags: int) -> Iterator[Die]:
        for unit in self._entries.units:
            for offset in unit.index.tagged(*tags):
                yield Die(unit, offset)

    @cached_property
    def names(self) -> frozenset[str]:
        """The namespaces."""
        return frozenset(qualified(die) for die in self._tagged(Tag.NAMESPACE))

    @cached_property
    def declared(self) -> dict[str, str]:
        """The name to which a using-declaration (``using std::sort;``) or an alias (``namespace n = a::b;``) refers."""
        found = {}
        for die in self._tagged(Tag.IMPORTED_DECLARATION):
            target = die.reference(At.IMPORT)
            if target is not None and target.name is not None:
                name = die.name or target.name
                found["::".join((*enclosing_names(die), name))] = qualified(target)
        return found

    def entries(self) -> Iterator[tuple[Die, str, str]]:
        """Namespaces and namespace aliases: the entry, its name, and the name of the namespace to which it refers."""
        for die in self._tagged(Tag.NAMESPACE, Tag.IMPORTED_DECLARATION):
            target = die if die.tag == Tag.NAMESPACE else die.reference(At.IMPORT)
            if target is not None and target.tag == Tag.NAMESPACE:
                yield die, qualified(die), qualified(target)

    @cached_property
    def imports(self) -> dict[str, tuple[str, ...]]:
        """The namespaces whose names are visible in another: through using-directives, or because they are anonymous or
        inline.
        """
        found: dict[str, dict[str, None]] = defaultdict(dict)
        for die in self._tagged(Tag.IMPORTED_MODULE):
            target = die.reference(At.IMPORT)
            if target is not None and target.tag == Tag.NAMESPACE:
                found["::".join(enclosing_names(die))][qualified(target)] = None
        for die in self._tagged(Tag.NAMESPACE):
            if die.name is None or die.flag(At.EXPORT_SYMBOLS):
                found["::".join(enclosing_names(die))][qualified(die)] = None
        return {scope: tuple(namespaces) for scope, namespaces in found.items()}

    def within(self, scope: Die) -> LocalImports:
        """What aliases, using-declarations and using-directives directly in a function or block make visible in it.

        Cached, because each name of each expression is looked up here.
        """
        found = self._within.get(scope)
        if found is None:
            declared: dict[str, str] = {}
            namespaces: list[str] = []
            for child in scope.children:
                if child.tag not in (Tag.IMPORTED_DECLARATION, Tag.IMPORTED_MODULE):
                    continue
                target = child.reference(At.IMPORT)
                if target is None:
                    continue
                if child.tag == Tag.IMPORTED_MODULE:
                    if target.tag == Tag.NAMESPACE:
                        namespaces.append(qualified(target))
                elif (name := child.name or target.name) is not None:
                    declared.setdefault(name, qualified(target))
            found = self._within[scope] = LocalImports(declared, tuple(namespaces))
        return found

    @cached_property
    def _enumerators(self) -> dict[str, list[Die]]:
        """The enumerations by the names of their enumerators."""
        found: dict[str, list[Die]] = defaultdict(list)
        for die in self._tagged(Tag.ENUMERATOR):
            around = die.parent
            if die.name is not None and around is not None:
                found[die.name].append(around)
        return found

    def enumerations(self, enumerator: str) -> list[EnumType]:
        """The enumerations outside functions that have an enumerator of this name."""
        types = (self._entries.types.at(die.offset) for die in self._enumerators.get(enumerator, ()))
        return [type_ for type_ in types if isinstance(type_, EnumType)]


def qualified(die: Die) -> str:
    """The qualified name of an entry."""
    name = die.name
    if name is None and die.tag == Tag.NAMESPACE:
        name = ANONYMOUS
    return "::".join((*enclosing_names(die), name or ""))
