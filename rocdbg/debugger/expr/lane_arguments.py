"""The arguments in the frames of many lanes that stand at the same place, as text.

Each is located once, read of all lanes at once (`rocdbg.debugger.values.lane_bytes`), and made text once for each value
that lanes have. What depends on more than that (references, what plug-ins print, recovered values, whatever gives an
error) is done lane by lane, as for a single frame.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from rocdbg.debugger.expr.program_environment import ProgramEnvironment, variable_here
from rocdbg.debugger.frames.frames import Frame
from rocdbg.debugger.values.lane_bytes import read_lanes
from rocdbg.debugger.values.memory import LaneMemory, WatchedMemory
from rocdbg.debugger.values.value import Value
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

if TYPE_CHECKING:
    from rocdbg.debugger.expr.data import Data

MOST_BYTES = 4096
"""Of an argument that is read of all lanes at once."""
Row = tuple[str, str]
"""Name and text of an argument; the name is ``NAME@entry`` where that is what is known."""


class ArgumentText(Protocol):
    """How arguments are shown."""

    def of_type(self, type_: Type) -> str | None:
        """The text of all arguments of a type that are there, ``None`` where it depends on their values."""

    def of_value(self, environment: ProgramEnvironment, value: Value) -> str:
        """The text of an argument at its place."""

    @property
    def is_plain(self) -> bool:
        """Whether nobody outside of the debugger makes the text."""


def lane_arguments(data: Data, frames: Sequence[Frame], text: ArgumentText) -> list[list[Row]]:
    """What `Data.arguments` gives for each of ``frames``, as text. They have the same `Frame.origin`."""
    scope = frames[0].scopes[-1] if frames[0].scopes else None
    if scope is None:
        return [[] for _ in frames]
    place = _Place(data, frames, text)
    columns = [place.column(variable) for variable in scope.parameters if variable.name]
    return [list(rows) for rows in zip(*columns, strict=True)] if columns else [[] for _ in frames]


class _Place:
    """Frames that are the same but for the lane."""

    def __init__(self, data: Data, frames: Sequence[Frame], text: ArgumentText) -> None:
        self._data, self._frames, self._text = data, frames, text
        first = data.environment_of(frames[0])
        self._environments = [first.in_frame(frame) for frame in frames]
        self._lanes = [frame.scope.lane for frame in frames]

    def column(self, variable: Variable) -> list[Row]:
        """An argument in each frame."""
        return self._together(variable) or [self._alone(index, variable) for index in range(len(self._frames))]

    def _alone(self, index: int, variable: Variable) -> Row:
        environment = self._environments[index]
        name, value = self._data.argument(environment, self._frames[index], variable)
        return name, self._text.of_value(environment, value)

    def _together(self, variable: Variable) -> list[Row] | None:
        """The column where one look tells of all lanes."""
        data, environment, frame = self._data, self._environments[0], self._frames[0]
        known = variable_here(environment, variable)
        memory, context, shared = environment.memory, environment.context_of(variable), environment.shared
        lanes = [lane for lane in self._lanes if lane is not None and 0 <= lane < context.lanes]
        if not isinstance(memory, LaneMemory) or shared is None or known.may_be_dynamic:
            return None
        if len(lanes) < len(self._lanes):
            return None
        location = shared.whole(known, context)
        if location is None or location.is_undefined:
            recovery = environment.recovery
            if location is None or not self._text.is_plain or (
                recovery is not None and recovery.follows(frame, variable)
            ):
                return None
            return [self._alone(0, variable)] * len(lanes)  # nothing of it is there: what was passed is all there is
        if data.before_prologue(frame) and location.memory is not None:
            return None
        if not 0 <= known.size <= min(MOST_BYTES, data.largest_value):
            return None
        found = read_lanes(location, known.size, memory, lanes)
        if found is None:
            return None
        name, fixed = variable.name or "", self._text.of_type(known.type)
        if fixed is not None:
            return [(name, fixed)] * len(lanes)
        if not self._text.is_plain or not _is_shown_by_bytes(known.type, environment, 0):
            return None
        texts: dict[bytes, str] = {}
        rows = []
        for index, content in enumerate(found):
            shown = texts.get(content)
            if shown is None:
                shown, of_all = self._shown(index, Value(known.type, data=content))
                if of_all:
                    texts[content] = shown
            rows.append((name, shown))
        return rows

    def _shown(self, index: int, value: Value) -> tuple[str, bool]:
        """The text of a value in a frame, and whether it is the same in all lanes."""
        environment = self._environments[index]
        memory = environment.memory
        assert isinstance(memory, LaneMemory)
        watched = WatchedMemory(memory)
        environment.__dict__["memory"] = watched
        try:
            return self._text.of_value(environment, value), not watched.by_lane
        finally:
            environment.__dict__["memory"] = memory


def _is_shown_by_bytes(type_: Type, environment: ProgramEnvironment, depth: int) -> bool:
    """Whether the text of a value needs no more than its bytes, and what its pointers lead to."""
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
