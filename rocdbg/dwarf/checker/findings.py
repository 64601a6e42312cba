"""Findings: rules that are broken, each recorded once for each place."""

from __future__ import annotations

from msgspec import Struct

from rocdbg.dwarf.checker.rule_table import RULES, Rule
from rocdbg.dwarf.info.errors import DebugInfoError
from rocdbg.dwarf.info.scopes import Entity
from rocdbg.dwarf.info.whereabouts import function_around
from rocdbg.dwarf.reader.entry import Entry
from rocdbg.dwarf.reader.file import DebugFile
from rocdbg.errors import Error

__all__ = ["Finding", "Findings"]


class Finding(Struct, frozen=True):
    """A rule (A.2 to A.7) that is broken, and where it is broken: section and offset of the entry, list, table or
    frame; the function, source file and line if they are known; the dialect of the unit.
    """

    rule: Rule
    message: str
    section: str
    offset: int
    function: str = ""
    file: str = ""
    line: int = 0
    dialect: str = ""

    @property
    def place(self) -> str:
        """Section and offset (A.7.5): ``.debug_info+0x40``."""
        return f"{self.section}+{self.offset:#x}"


class Findings:
    """What a check of a file has found; ``found`` is in the order of discovery."""

    def __init__(self, file: DebugFile) -> None:
        self.found: list[Finding] = []
        self._file = file
        self._known: set[tuple[str, str, int]] = set()

    def has(self, rule: str, section: str, offset: int) -> bool:
        """Whether a rule is known to be broken at a place."""
        return (rule, section, offset) in self._known

    def add(self, rule: str, message: str, section: str, offset: int, entry: Entry | None = None, pc: int = -1) -> None:
        """Record a finding, once for each rule and place."""
        key = rule, section, offset
        if key in self._known:
            return
        self._known.add(key)
        function, path, line, dialect = "", "", 0, ""
        try:
            if entry is not None:
                dialect = entry.die.unit.dialect
                around = function_around(entry.die)
                function = (Entity(around).qualified_name or "") if around is not None else ""
                for die in (entry.die, around):
                    own = Entity(die) if die is not None else None
                    if own is not None and own.decl_line:
                        line, path = own.decl_line, own.decl_file.path if own.decl_file is not None else ""
                        break
                path = path or entry.die.unit.name
            elif pc >= 0:
                scopes = self._file.at(pc)
                function = (scopes[-1].qualified_name or "") if scopes else ""
                dialect = scopes[-1].die.unit.dialect if scopes else ""
                path, line = self._file.line_at(pc) or ("", 0)
        except Error:  # reported as a finding of its own
            pass
        self.found.append(Finding(RULES[rule], message, section, offset, function, path, line, dialect))

    def at_entry(self, rule: str, message: str, entry: Entry) -> None:
        """A finding about an attribute of an entry."""
        section, offset = entry.die.unit.entries.where(entry.offset)
        self.add(rule, message, section, offset, entry)

    def damage(self, error: Error, entry: Entry | None = None, rule: str = "readable") -> None:
        """A finding about an unreadable part."""
        if isinstance(error, DebugInfoError):
            if error.section == ".debug_info":
                rule = "readable"
            self.add(rule, error.reason, error.section, error.offset or 0, entry)
        elif entry is not None:
            self.at_entry(rule, str(error), entry)
        else:
            self.add(rule, str(error), ".debug_info", 0)
