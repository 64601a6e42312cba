"""Locates an object in every lane at once: its expression is evaluated once, and the lane is filled in afterwards.

The evaluator runs the expression with a placeholder instead of a lane number. A memory location that has the
placeholder as its lane represents the memory of each lane, and the operations that producers emit to select a lane's
dword of a vector register (`DW_OP_LLVM_push_lane, DW_OP_lit4, DW_OP_mul, DW_OP_LLVM_offset`) are treated as one step.
Everything else that depends on the lane fails, because the evaluator and its storages reject the placeholder: such an
expression has to be evaluated lane by lane. An expression whose evaluation with the placeholder raises an error for any
other reason also has to be evaluated lane by lane.
"""

from __future__ import annotations

from functools import lru_cache

from rocdbg.dwarf import (  # noqa: F401  (they register the handlers)
    composite_operations,
    location_operations,
    value_operations,
)
from rocdbg.dwarf.composite_storage import CompositeStorage
from rocdbg.dwarf.context import Context, Expression
from rocdbg.dwarf.errors import EvaluationError
from rocdbg.dwarf.location import LocationDescription, Place
from rocdbg.dwarf.stack_machine import Budget, Machine, Operands, Program, decoded_program
from rocdbg.dwarf.storage import (
    ANY_LANE,
    ImplicitPointerStorage,
    ImplicitStorage,
    MemoryStorage,
    RegisterStorage,
    Storage,
    StorageKind,
    UndefinedStorage,
)

__all__ = ["ANY_LANE", "LaneDword", "at_lane", "depends_on_lane", "location_for_any_lane"]

LANE_BITS = 32
"""Bits of a vector register per lane."""
_STRIDES = {"offset": LANE_BITS // 8, "bit_offset": LANE_BITS}
"""The factor, by operation, that turns a lane number into the offset of the lane's dword."""
_SAME = (RegisterStorage, ImplicitStorage, ImplicitPointerStorage, UndefinedStorage)


class LaneDword(Storage):
    """The dword of an unspecified lane in a vector that begins at ``whole``. It can be neither read nor written.

    It has only 32 bits: what lies beyond them differs from lane to lane.
    """

    __slots__ = ("kind", "whole")
    size = LANE_BITS

    def __init__(self, whole: LocationDescription) -> None:
        self.whole = whole
        self.kind = whole.places[0].storage.kind

    def read_known(self, offset: int, bits: int) -> tuple[int, int]:
        raise EvaluationError("the value differs from lane to lane, and no lane is selected")

    def words(self, offset: int = 0) -> str:
        return f"a lane's dword of {self.whole.describe()}"


def location_for_any_lane(expression: Expression, context: Context) -> LocationDescription:
    """Evaluate a location for all lanes at once (A.2.5.4); `at_lane` then gives the location in one lane.

    ``context`` must have the lane `ANY_LANE`; otherwise it may be the context of any of the lanes. Raises an error if
    the location does not have the same form in all lanes; do not rely on the class of that error.
    """
    machine = Machine(context, expression.dialect, context.object, Budget())
    machine.run(_fused(expression.data, expression.dialect, (machine.bits + 7) >> 3, context.offset_size))
    location = machine.result("location")
    assert isinstance(location, LocationDescription)
    return location


@lru_cache(maxsize=1024)
def _fused(data: bytes, dialect: str, address_size: int, offset_size: int) -> Program:
    """The program of an expression, in which the operations that select a lane's dword are one step."""
    program = decoded_program(data, dialect, address_size, offset_size)
    if "push_lane" not in program.meanings or not program.meanings.isdisjoint(("bra", "skip")):
        return program
    fused = Program(program.operations)
    meanings = [operation.info.meaning for operation in program.operations]
    steps = fused.steps
    fused.steps = []
    index = 0
    while index < len(steps):
        lane, _, times, move = (*meanings[index : index + 4], "", "", "")[:4]
        if (lane, times) == ("push_lane", "mul") and program.operations[index + 1].literal == _STRIDES.get(move, -1):
            fused.steps.append((_lane_dword, ()))
            index += 4
        else:
            fused.steps.append(steps[index])
            index += 1
    return fused


def _lane_dword(m: Machine, operands: Operands) -> None:
    whole = m.pop_location()
    place = whole.places[0] if len(whole.places) == 1 else None
    if place is None or place.storage.has_implicit_pointer:
        raise EvaluationError("the vector is in more than one place, so its location in a lane cannot be derived")
    kind = place.storage.kind
    if kind is StorageKind.UNDEFINED:
        m.stack.append(whole)
        return
    if place.offset % LANE_BITS or place.storage.size - place.offset < LANE_BITS * m.context.lanes:
        raise EvaluationError("the vector does not have an element for each lane")
    m.stack.append(LocationDescription(Place(LaneDword(whole))))


def at_lane(location: LocationDescription, lane: int) -> LocationDescription:
    """The location in one lane (A.2.5.3), given a result of `location_for_any_lane` or a part of one.

    Raises an error where only the evaluator can give the location.
    """
    if len(location.places) == 1:
        place = location.places[0]
        storage = place.storage
        if isinstance(storage, MemoryStorage) and storage.lane == ANY_LANE:
            return LocationDescription(Place(MemoryStorage(storage.access, storage.space, lane), place.offset))
    return LocationDescription(*[_place_at(place, lane) for place in location.places])


def _place_at(place: Place, lane: int) -> Place:
    storage = place.storage
    if isinstance(storage, _SAME):
        return place
    if isinstance(storage, MemoryStorage):
        if storage.lane == ANY_LANE:
            return Place(MemoryStorage(storage.access, storage.space, lane), place.offset)
        return place
    if isinstance(storage, LaneDword):
        [whole] = at_lane(storage.whole, lane).places
        if whole.storage.kind is StorageKind.UNDEFINED:
            return whole
        return Place(whole.storage, whole.offset + LANE_BITS * lane + place.offset)
    if isinstance(storage, CompositeStorage):
        if not depends_on_lane(LocationDescription(place)):
            return place
        return Place(CompositeStorage([(at_lane(part, lane), bits) for part, bits in storage.parts]), place.offset)
    raise EvaluationError(f"the location in one lane cannot be derived from the one for all lanes: {storage.words()}")


def depends_on_lane(location: LocationDescription) -> bool:
    """Whether a result of `location_for_any_lane` may be a different place (A.2.5.3) in each lane."""
    for place in location.places:
        storage = place.storage
        if isinstance(storage, MemoryStorage):
            if storage.lane == ANY_LANE:
                return True
        elif isinstance(storage, CompositeStorage):
            if any(depends_on_lane(part) for part, _ in storage.parts):
                return True
        elif not isinstance(storage, _SAME):
            return True
    return False
