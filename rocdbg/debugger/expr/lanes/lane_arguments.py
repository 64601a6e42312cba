"""The arguments in the frames of many lanes at the same place, as text.

Each argument is located once, read for all lanes at once (`read_lanes`), and formatted once for each distinct value. An
argument whose text depends on more than its bytes (references, plug-in printers, recovered values, errors) is handled
lane by lane, as for a single frame.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from msgspec.structs import replace

from rocdbg.arch.address_spaces import AddressSpace
from rocdbg.debugger.expr.environments.program_environment import ProgramEnvironment, variable_here
from rocdbg.debugger.expr.program_data import Data, before_prologue
from rocdbg.debugger.frames.frames import Frame
from rocdbg.debugger.frames.kernel_arguments import entry_value
from rocdbg.debugger.frames.recovered_values import Recovery
from rocdbg.debugger.values.lane_memory import LaneMemory, WatchedMemory
from rocdbg.debugger.values.value import Value
from rocdbg.dwarf.any_lane import LANE_BITS, LaneDword, depends_on_lane
from rocdbg.dwarf.composite_storage import CompositeStorage
from rocdbg.dwarf.errors import DwarfError
from rocdbg.dwarf.info import Variable
from rocdbg.dwarf.info.types import (
    ArrayType,
    BaseType,
    ClassType,
    EnumType,
    MemberPointerType,
    PointerKind,
    PointerType,
    Type,
    VectorType,
)
from rocdbg.dwarf.location import LocationDescription
from rocdbg.dwarf.storage import MemoryStorage, StorageKind
from rocdbg.errors import Error

MOST_BYTES = 4096
"""The size in bytes of the largest argument that is read for all lanes at once."""
Row = tuple[str, str]
"""Name and text of an argument; the name is ``NAME@entry`` if only the entry value is known."""


class ArgumentText(Protocol):
    """Formats arguments."""

    def of_type(self, value: Value) -> str | None:
        """Return the text that all values of this value's type have; ``None`` if it depends on more than the type."""

    def of_value(self, environment: ProgramEnvironment, value: Value) -> str:
        """Return the text of an argument at its place."""

    @property
    def is_plain(self) -> bool:
        """Whether the text comes from the debugger alone, without plug-ins."""


def lane_arguments(data: Data, frames: Sequence[Frame], text: ArgumentText) -> list[list[Row]]:
    """Return `Data.arguments` of each of ``frames``, as text. The frames must have the same `Frame.origin`."""
    scope = frames[0].scopes[-1] if frames[0].scopes else None
    if scope is None:
        return [[] for _ in frames]
    place = _Place(data, frames, text)
    columns = [place.column(variable) for variable in scope.parameters if variable.name]
    return [list(rows) for rows in zip(*columns, strict=True)] if columns else [[] for _ in frames]


class _Place:
    """Frames that differ only in the lane."""

    def __init__(self, data: Data, frames: Sequence[Frame], text: ArgumentText) -> None:
        self._data, self._frames, self._text = data, frames, text
        first = data.environment_of(frames[0])
        self._lanes = [frame.scope.lane or 0 for frame in frames]
        self._environments = [first.at_lane(lane, frame) for lane, frame in zip(self._lanes, frames, strict=True)]

    def column(self, variable: Variable) -> list[Row]:
        """Return the rows of an argument, one for each frame."""
        texts = _Texts(self._text)
        return self._together(variable, texts) or [
            self._alone(index, variable, texts) for index in range(len(self._frames))
        ]

    def _alone(self, index: int, variable: Variable, texts: _Texts) -> Row:
        environment = self._environments[index]
        name, value = self._data.argument(environment, self._frames[index], variable)
        return name, texts.of(environment, value)

    def _together(self, variable: Variable, texts: _Texts) -> list[Row] | None:
        """Return the column if it can be computed for all lanes at once, otherwise None."""
        data, environment, frame = self._data, self._environments[0], self._frames[0]
        try:
            known = variable_here(environment, variable)
        except DwarfError:  # the error is reported for each lane
            return None
        memory, context, shared = environment.memory, environment.context_of(variable), environment.here.locations
        if not isinstance(memory, LaneMemory) or shared is None or known.may_be_dynamic:
            return None
        lanes = self._lanes
        if max(lanes) >= context.lanes:
            return None
        if known.expression is None:
            return self._without_expression(variable, memory, texts)
        location = shared.whole(known, context)
        if location is None:
            return None
        if location.is_undefined:
            return self._passed(variable, memory, texts)
        if before_prologue(frame) and location.memory is not None:
            return None
        if not 0 <= known.size <= min(MOST_BYTES, data.largest_value):
            return None
        found = read_lanes(location, known.size, memory, lanes)
        if found is None:
            return None
        name = variable.name or ""
        if self._text.of_type(Value(known.type)) is None and not texts.are_of_bytes(known.type, environment):
            return None
        rows: dict[bytes, Row] = {}  # many lanes have the same value
        result = []
        for environment, content in zip(self._environments, found, strict=True):
            row = rows.get(content)
            if row is None:
                row = name, texts.of(environment, Value(known.type, data=content))
                if texts.is_of_all(known.type, content):
                    rows[content] = row
            result.append(row)
        return result

    def _without_expression(self, variable: Variable, memory: LaneMemory, texts: _Texts) -> list[Row] | None:
        """Return the column of an argument that is a constant or has no location."""
        try:
            described = self._environments[0].value_of(variable, recover=False)
        except Error:
            return None
        if described.absence is not None and described.absence.is_lost:
            return self._passed(variable, memory, texts)
        if described.storage is None and described.data is not None and self._text.is_plain:
            return [self._alone(0, variable, texts)] * len(self._frames)
        return None

    def _passed(self, variable: Variable, memory: LaneMemory, texts: _Texts) -> list[Row] | None:
        """Return the column of an argument without a location: all lanes have the passed value, or nothing. Return
        ``None`` if lanes may have different recovered values.
        """
        environment, frame = self._environments[0], self._frames[0]
        recovery = environment.recovery
        if not self._text.is_plain:
            return None
        if recovery is None or not recovery.follows(frame, variable):
            return [self._alone(0, variable, texts)] * len(self._frames)
        executing = memory.target.wave(memory.thread).exec_mask
        looked_at = [recovery.looks_at(other, executing) for other in self._frames]
        if entry_value(frame, variable, memory.target, memory) is None:
            return self._recovered(variable, recovery, looked_at, texts)
        rows = {looks: self._alone(looked_at.index(looks), variable, texts) for looks in set(looked_at)}
        return [rows[looks] for looks in looked_at]

    def _recovered(
        self, variable: Variable, recovery: Recovery, looked_at: list[bool], texts: _Texts
    ) -> list[Row] | None:
        """Return the column of an argument whose value may be recovered from machine code."""
        name, first = variable.name or "", self._environments[0]
        try:
            absent = name, texts.of(first, first.value_of(variable, recover=False))
            rows = []
            for looks, environment in zip(looked_at, self._environments, strict=True):
                value = environment.value_of(variable) if looks else None
                rows.append(absent if value is None or not value.recovered else (name, texts.of(environment, value)))
        except Error:
            return None
        return rows


class _Texts:
    """The texts of one argument; a text that depends only on the bytes is formatted only once."""

    def __init__(self, text: ArgumentText) -> None:
        self._text = text
        self._known: dict[tuple[int, bytes, bool], str] = {}
        self._of_bytes: dict[int, bool] = {}
        self._types: list[Type] = []

    def are_of_bytes(self, type_: Type, environment: ProgramEnvironment) -> bool:
        """Whether the text of a value depends only on its bytes and the targets of its pointers."""
        found = self._of_bytes.get(id(type_))
        if found is None:
            self._types.append(type_)  # keeps the type alive, so that no other type gets its id
            found = self._text.is_plain and _is_shown_by_bytes(type_, environment, 0)
            self._of_bytes[id(type_)] = found
        return found

    def is_of_all(self, type_: Type, content: bytes) -> bool:
        """Whether the text of a value was requested before and is the same in all lanes."""
        return (id(type_), content, False) in self._known

    def of(self, environment: ProgramEnvironment, value: Value) -> str:
        """Return the text of a value at its place."""
        content, memory = value.data, environment.memory
        if content is None or value.storage is not None or not isinstance(memory, LaneMemory) or not (
            self.are_of_bytes(value.type, environment)
        ):
            return self._text.of_value(environment, value)
        key = id(value.type), content, value.recovered
        text = self._known.get(key)
        if text is None:
            watched = WatchedMemory(memory)
            text = self._text.of_value(replace(environment, given_memory=watched), value)
            if not watched.by_lane:
                self._known[key] = text
        return text


def _is_shown_by_bytes(type_: Type, environment: ProgramEnvironment, depth: int) -> bool:
    """Whether the text of a value depends only on its bytes and on what its pointers lead to."""
    bare = type_.bare
    if isinstance(bare, PointerType):
        return bare.kind is PointerKind.POINTER or depth > 0
    if isinstance(bare, BaseType | EnumType | MemberPointerType):
        return True
    if depth > _DEEPEST:
        return False
    if isinstance(bare, VectorType):
        return _is_shown_by_bytes(bare.element, environment, depth + 1)
    if isinstance(bare, ArrayType):
        return isinstance(bare.count, int) and not isinstance(bare.byte_stride, bytes) and _is_shown_by_bytes(
            bare.element, environment, depth + 1
        )
    if isinstance(bare, ClassType):
        if bare.is_declaration or bare.bases or bare.static_members or environment.complete_type(bare) is not bare:
            return False
        return all(
            member.bit_offset is not None and _is_shown_by_bytes(member.type, environment, depth + 1)
            for member in bare.members
        )
    return False


_DEEPEST = 8


# The bytes of an object in many lanes of a wave, read at once: lanes' own memory is read as the swizzled dwords that
# contain the object, and vector registers are read whole.
_DWORD = 4


def read_lanes(
    location: LocationDescription, size: int, memory: LaneMemory, lanes: Sequence[int]
) -> list[bytes] | None:
    """Return ``size`` bytes at a location of all lanes (`rocdbg.dwarf.any_lane`), for each of ``lanes``.

    Return ``None`` if they have to be read lane by lane, because some are missing or unreadable or the object has
    another layout.
    """
    try:
        return _read(location, 0, 8 * size, memory, lanes)
    except Error:
        return None


def _read(
    location: LocationDescription, first: int, bits: int, memory: LaneMemory, lanes: Sequence[int]
) -> list[bytes] | None:
    """Read bits of a location, from bit ``first`` on."""
    if len(location.places) != 1 or bits % 8:
        return None
    place = location.places[0]
    storage, start = place.storage, place.offset + first
    if isinstance(storage, MemoryStorage):
        if start % 8:
            return None
        return _memory(storage.space.number, start // 8, bits // 8, memory, lanes)
    if storage.has_implicit_pointer or start + bits > storage.size or storage.kind is StorageKind.UNDEFINED:
        return None
    if isinstance(storage, LaneDword):
        return None if start % 8 else _dwords(storage, start // 8, bits // 8, lanes)
    if not depends_on_lane(location):
        return [location.read_bytes(bits // 8, first)] * len(lanes)
    if not isinstance(storage, CompositeStorage):
        return None
    found = [b""] * len(lanes)
    for (part, count), begin in zip(storage.parts, storage.starts, strict=True):
        low, high = max(start, begin), min(start + bits, begin + count)
        if low >= high:
            continue
        read = _read(part, low - begin, high - low, memory, lanes)
        if read is None:
            return None
        found = [before + more for before, more in zip(found, read, strict=True)]
    return found


def _memory(space: int, address: int, size: int, memory: LaneMemory, lanes: Sequence[int]) -> list[bytes] | None:
    if memory.is_of_all_lanes(space, address):
        return [memory.read(space, address, size)] * len(lanes)
    if space != AddressSpace.PRIVATE_LANE or not size:
        return None
    count = memory.target.wave(memory.thread).lane_count
    if not all(0 <= lane < count for lane in lanes):
        return None
    first, end = address // _DWORD, (address + size - 1) // _DWORD + 1
    row = _DWORD * count  # one dword for each lane
    rows = memory.target.read_memory(AddressSpace.PRIVATE_WAVE, first * row, (end - first) * row, memory.thread)
    start = address - first * _DWORD
    if end - first == 1:
        return [rows[_DWORD * lane + start : _DWORD * lane + start + size] for lane in lanes]
    starts = range(0, len(rows), row)
    return [
        b"".join([rows[at + _DWORD * lane : at + _DWORD * lane + _DWORD] for at in starts])[start : start + size]
        for lane in lanes
    ]


def _dwords(storage: LaneDword, start: int, size: int, lanes: Sequence[int]) -> list[bytes] | None:
    count = max(lanes) + 1
    data = storage.whole.read_bytes(_DWORD * count) if not depends_on_lane(storage.whole) else None
    if data is None:
        return None
    begin = [LANE_BITS // 8 * lane + start for lane in lanes]
    return [data[at : at + size] for at in begin]
