"""Text of structures, unions and classes."""

from __future__ import annotations

from abc import abstractmethod

from msgspec.structs import replace

from rocdbg.debugger.values.appearance import Appearance
from rocdbg.debugger.values.format_letters import Format
from rocdbg.debugger.values.value import PlacedBase, PlacedMember, Value
from rocdbg.debugger.values.value_storage import AbsentError, Address
from rocdbg.dwarf.info.types import BaseClass, ClassKind, ClassType, Member, StaticMember
from rocdbg.errors import Error


class ClassText:
    """Formats classes; ``value`` formats the parts."""

    def __init__(self, formatter: Appearance, fmt: Format) -> None:
        self.formatter = formatter
        self.settings = formatter.settings
        self.fmt = fmt
        self.letter = fmt.letter if fmt.letter != "s" else ""
        self.strings = not self.letter
        self.shown = 0
        self.unnamed = 0
        """Levels of enclosing anonymous members, which do not count towards `max_depth`."""
        self.virtual_bases: set[str] = set()
        """Virtual bases of the object that were already shown: each is shown once."""
        self.statics: set[Address] = set()
        """The places of static members that enclose this value in the output."""

    @abstractmethod
    def value(self, value: Value, depth: int) -> str:
        """Return the text of a value that is a part of another."""

    def _class(self, value: Value, depth: int) -> str:
        complete = self.formatter.complete(value.bare)
        if complete is not value.bare:
            value = replace(value, type=complete, data=None) if value.storage is not None else value
        type_ = value.bare
        assert isinstance(type_, ClassType)
        if type_.byte_size is None or type_.is_declaration:
            return "<incomplete type>"
        if depth and type_.kind is ClassKind.UNION and not self.settings.union:
            return "{...}"
        if 0 <= self.settings.max_depth <= depth - self.unnamed:
            return "{...}"
        value = try_fetch(value)
        parts = [f"<{base.type}> = {text}" for base, text in self._bases(value, type_, depth)]
        after = len(parts) if type_.bases and (type_.members or type_.static_members) else -1
        around, self.virtual_bases = self.virtual_bases, set()
        statics = type_.static_members if self.settings.static_members else ()
        own: list[Member | StaticMember] = [*type_.members, *statics]
        for member in sorted(own, key=lambda member: member.offset or 0):
            if isinstance(member, StaticMember):
                parts.append(f"static {member.name} = {self._static(type_, member, depth)}")
                continue
            parts.append(self._member(value, member, depth))
        self.virtual_bases = around
        if not parts:
            return "{<No data fields>}"
        return self._braced(parts, depth, members_after=after, name=str(type_))

    def _bases(self, value: Value, type_: ClassType, depth: int) -> list[tuple[BaseClass, str]]:
        """Return the base classes with their text; a virtual one is included only where it occurs first."""
        found = []
        for base in type_.bases:
            if base.byte_offset is None:
                continue
            if base.virtual:
                if str(base.type) in self.virtual_bases:
                    continue
                self.virtual_bases.add(str(base.type))
            part = value.base(base)
            complete = self.formatter.complete(part.bare)
            is_empty = isinstance(complete, ClassType) and not (
                complete.members or complete.bases or complete.static_members
            )
            text = "{<No data fields>}" if is_empty else self._part(part, isinstance(base, PlacedBase), depth)
            found.append((base, text))
        return found

    def _part(self, part: Value, elsewhere: bool, depth: int) -> str:
        """Return the text of a base or member. A part that is outside the object may be unreadable, which must not hide
        the other parts.
        """
        if not elsewhere:
            return self.value(part, depth + 1)
        try:
            return self.value(part, depth + 1)
        except Error as error:
            return f"<error: {error}>"

    def _member(self, value: Value, member: Member, depth: int) -> str:
        """Return ``name = text``; for an anonymous member, only its text."""
        part = value.field(member)
        if not member.name:
            self.unnamed += 1
            text = self._part(part, isinstance(member, PlacedMember), depth)
            self.unnamed -= 1
            return text
        if member.artificial and member.name.startswith("_vptr"):
            # shown as an address, regardless of the format
            return f"{member.name} = {self.formatter.pointer(0, part.as_int(), symbol=True)}"
        return f"{member.name} = {self._part(part, isinstance(member, PlacedMember), depth)}"

    def _static(self, type_: ClassType, member: StaticMember, depth: int) -> str:
        """Return the text of a static member; a class is expanded only once within itself."""
        found = self.formatter.static_member(type_, member.name)
        if found is None:
            return "<optimized out>"
        address = found.address
        if not isinstance(found.bare, ClassType) or address is None:
            return self.value(found, depth + 1)
        if address in self.statics:
            return "<same as static member of an already seen type>"
        self.statics.add(address)
        text = self.value(found, depth + 1)
        self.statics.discard(address)
        return text

    def _braced(self, parts: list[str], depth: int, members_after: int = -1, name: str = "") -> str:
        if not self.settings.pretty:
            return "{" + ", ".join(parts) + "}"
        inner = "  " * (depth + 1)
        lines = []
        for index, part in enumerate(parts):
            last = index == len(parts) - 1
            separator = "" if last else (", " if index < members_after else ",")
            if index == members_after:
                lines.append(f"{inner}members of {name}:")
            lines.append(f"{inner}{part}{separator}")
        return "{\n" + "\n".join(lines) + "\n" + "  " * depth + "}"


def try_fetch(value: Value) -> Value:
    """Return the value with its bytes read at once if all are available; otherwise its parts are read separately."""
    try:
        return value.fetched()
    except AbsentError:
        return value
