"""Debugging information entries as the library presents them: names instead of numbers, and results of attributes."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from rocdbg.dwarf.attribute_names import attribute_name
from rocdbg.dwarf.context import Context
from rocdbg.dwarf.info.attribute_values import AttributeValue, Constant
from rocdbg.dwarf.info.constants import At, Tag
from rocdbg.dwarf.info.die import Die
from rocdbg.dwarf.info.model import AddressRange
from rocdbg.dwarf.info.scopes import Entity, Scope
from rocdbg.dwarf.info.types import Type
from rocdbg.dwarf.location import LocationDescription
from rocdbg.dwarf.reader import results
from rocdbg.dwarf.reader.numbers import tag_name
from rocdbg.dwarf.typed_values import Value

if TYPE_CHECKING:
    from rocdbg.dwarf.reader.file import DebugFile, DebugUnit

_SCOPES = (Tag.SUBPROGRAM, Tag.INLINED_SUBROUTINE, Tag.LEXICAL_BLOCK, Tag.ENTRY_POINT)


class Entry:
    """An entry: its tag, its ``offset`` (in all entries of the file), attributes, children, and the values of its
    attributes in a context (A.3 to A.5).

    Results of attributes are methods with their names. Each raises `IllFormed` where the attribute breaks a rule of the
    specification, `EvaluationError` where the context does not suffice; both name the attribute and the entry. A
    context need not have a unit, a frame base or a CFA: those of the entry are used. Entries are equal if they are the
    same entry of a file.
    """

    def __init__(self, file: DebugFile, die: Die) -> None:
        self.file = file
        self.die = die
        self.offset: int = die.offset

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Entry) and self.file is other.file and self.die == other.die

    def __hash__(self) -> int:
        return hash(self.offset)

    def __repr__(self) -> str:
        return f"<Entry {self.tag} {self.name or ''} at {self.offset:#x}>"

    # What it is

    @property
    def tag(self) -> str:
        """DW_TAG_* (A.3 to A.5); "DW_TAG_0x4321" for one without a name."""
        return tag_name(self.die.tag)

    @property
    def unit(self) -> DebugUnit:
        """The unit that contains it (A.3.1)."""
        return self.file.unit_of(self.die.unit)

    @property
    def name(self) -> str | None:
        """DW_AT_name (A.3), of the entry or of the entry whose instance it is; None without one."""
        return self.die.name

    @property
    def qualified_name(self) -> str | None:
        """The name with namespaces and classes (A.3): ``ns::S::f``."""
        return Entity(self.die).qualified_name

    @property
    def line(self) -> int | None:
        """The line of the declaration (A.3); None if it is not stated."""
        return Entity(self.die).decl_line

    @property
    def place(self) -> str:
        """Section and offset (A.7.5): ``.debug_info+0x40``."""
        section, offset = self.die.unit.entries.where(self.offset)
        return f"{section}+{offset:#x}"

    @cached_property
    def attributes(self) -> dict[str, AttributeValue]:
        """The values of its own attributes by name; codes without a name appear as "DW_AT_0x3fff"."""
        dialect = self.die.unit.dialect
        return {
            attribute_name(code, self.tag, type(value).__name__.lower(), dialect)
            or attribute_name(code, self.tag, None, dialect) or f"DW_AT_{code:#x}": value
            for code, value in self.die.attributes.items()
        }

    @property
    def children(self) -> Iterator[Entry]:
        """The entries directly below (A.3), in order."""
        return (Entry(self.file, die) for die in self.die.children)

    @property
    def parent(self) -> Entry | None:
        """The entry above (A.3); None for a unit's own."""
        above = self.die.parent
        return None if above is None else Entry(self.file, above)

    @property
    def type(self) -> Type:
        """The type it refers to (DW_AT_type, A.5); ``void`` without one."""
        return self.die.unit.entries.types.type_of(self.die)

    @property
    def size(self) -> int:
        """Size in bytes of an object, from its type, or of a type (A.5); 0 if not known."""
        own = self.die.attribute(At.BYTE_SIZE)
        return own.value if isinstance(own, Constant) else self.type.size or 0

    # Code and variables

    @property
    def ranges(self) -> tuple[AddressRange, ...]:
        """The code of a function, block or inlined call (A.3.3): parts ``low`` to ``high``; empty without any."""
        return Scope(self.die).ranges

    @property
    def variables(self) -> list[Entry]:
        """Variables and parameters (A.4.1) declared directly in a function, block or inlined call, or of a unit."""
        if self.die.tag in _SCOPES:
            return [Entry(self.file, variable.die) for variable in Scope(self.die).variables]
        return [child for child in self.children if child.die.tag in (Tag.VARIABLE, Tag.FORMAL_PARAMETER, Tag.CONSTANT)]

    # Lanes (A.3.3.5 (4) to (7))

    def lanes(self, default: int = 1) -> int:
        """DW_AT_LLVM_lanes: a positive number (A.3.3.5 (4)); `default` without it."""
        return results.lanes(self.die, default)

    def lane_pc(self, context: Context) -> list[int | None] | None:
        """DW_AT_LLVM_lane_pc: where each lane is (A.3.3.5 (5)), None for lanes not active on entry; None without it.

        The result must be exactly one location, large enough for all lanes.
        """
        return results.lane_pc(self.die, context, self.file.frames)

    def active_lane(self, context: Context) -> int | None:
        """DW_AT_LLVM_active_lane: the mask of active lanes (A.3.3.5 (6)); None without it. Its result must be exactly
        one location.
        """
        return results.active_lane(self.die, context, self.file.frames)

    def iterations(self, context: Context) -> int:
        """DW_AT_LLVM_iterations: a positive number (A.3.3.5 (7)), 1 without it. Its result must be exactly one implicit
        location.
        """
        return results.iterations(self.die, context, self.file.frames)

    # Frames (A.3.3.5 (1) to (3))

    def frame_base(self, context: Context) -> LocationDescription | None:
        """DW_AT_frame_base: exactly one location, in memory (A.3.3.5 (2)); None without it."""
        return results.frame_base(self.die, context, self.file.frames)

    def static_link(self, context: Context) -> LocationDescription | None:
        """DW_AT_static_link: exactly one location, in memory (A.3.3.5 (3)); None without it."""
        return results.static_link(self.die, context, self.file.frames)

    def return_addr(self, context: Context, strict: bool = True) -> LocationDescription | None:
        """DW_AT_return_addr: exactly one location, in memory (A.3.3.5 (1)); None without it. Without `strict`, any
        location is accepted.
        """
        return results.return_addr(self.die, context, self.file.frames, strict)

    # Objects (A.4)

    def location(self, context: Context) -> LocationDescription:
        """DW_AT_location, else DW_AT_const_value (A.4.1, A.4.2): any location; undefined without both."""
        return results.location(self.die, context, self.file.frames)

    def location_ranges(self, context: Context) -> list[tuple[int | None, int | None, str]]:
        """The addresses for which DW_AT_location states a place (A.2.5.5), each with the expression that states it.

        Each element is the first address, the end, and the expression as `format_expression` prints it, in the form of
        the specification. Both addresses are None for the default entry, which applies where no other does. Addresses
        are the file's.
        """
        return results.location_ranges(self.die, context)

    def memory_space(self) -> int:
        """DW_AT_LLVM_memory_space of an object, pointer or reference (A.4.1, A.5.3); 0 without it."""
        return results.memory_space(self.die)

    def address_space(self) -> int:
        """DW_AT_LLVM_address_space or DW_AT_address_class of a pointer, reference or address (A.5.1, A.5.3); else 0."""
        return results.address_space(self.die)

    # Types (A.5)

    def vector_size(self) -> int | None:
        """DW_AT_LLVM_vector_size: a positive number of elements (A.5.1); None without it."""
        return results.vector_size(self.die)

    def member_location(self, context: Context, containing: LocationDescription) -> LocationDescription:
        """The location of a member or base class of the object at `containing` (A.5.7.3), in any kind of storage."""
        return results.member_location(self.die, context, containing, self.file.frames)

    def vtable_elem_location(
        self, context: Context, containing: LocationDescription
    ) -> LocationDescription | None:
        """DW_AT_vtable_elem_location: where a virtual function's slot is (A.5.7.8); None without it."""
        return results.vtable_elem_location(self.die, context, containing, self.file.frames)

    def use_location(
        self, context: Context, pointer: Value | int, containing: LocationDescription
    ) -> LocationDescription | None:
        """DW_AT_use_location: the member that `pointer` leads to in the object at `containing` (A.5.14)."""
        return results.use_location(self.die, context, pointer, containing, self.file.frames)

    def data_location(self, context: Context, about: LocationDescription) -> LocationDescription:
        """DW_AT_data_location: where the data of the object at `about` is (A.5.18.1); `about` without it."""
        return results.data_location(self.die, context, about, self.file.frames)

    def pointee(self, context: Context, pointer: LocationDescription) -> LocationDescription:
        """The target of the pointer or reference of this type at `pointer` (A.5.3)."""
        return results.pointee(self.die, context, pointer, self.file.frames)

    # Calls (A.3.4.2)

    def call_value(self, context: Context) -> Value | None:
        """DW_AT_call_value of a call site parameter, a value in the caller's context (A.3.4.2); None without it."""
        return results.call_value(self.die, context, self.file.frames)

    def call_data_location(self, context: Context) -> LocationDescription | None:
        """DW_AT_call_data_location: any location in the caller's context (A.3.4.2); None without it."""
        return results.call_data_location(self.die, context, self.file.frames)

    def call_data_value(self, context: Context) -> Value | None:
        """DW_AT_call_data_value: a value in the caller's context (A.3.4.2); None without it."""
        return results.call_data_value(self.die, context, self.file.frames)

    def call_target(self, context: Context) -> int | None:
        """DW_AT_call_target of a call site: the address called (A.3.4, DWARF 5 3.4.1); None without it."""
        return results.call_target(self.die, context, self.file.frames)
