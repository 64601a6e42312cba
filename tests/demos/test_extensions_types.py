"""A vector base type, dynamic arrays with descriptors, an overlaid nibble, pointers to members: compared with NumPy."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from rocdbg import dwarf
from rocdbg.debugger import Session
from rocdbg.debugger.base.focus import Focus
from rocdbg.debugger.values.value_storage import Absence
from rocdbg.dwarf.info import Exprloc, Loclist
from rocdbg.dwarf.info.attribute_expressions import as_written
from rocdbg.dwarf.info.types import MemberPointerType, VectorType

WAVES = {"gfx90a": 64, "gfx1100": 32}
Open = Callable[..., Session]
Inputs = Callable[[str], NDArray[np.int32]]
targets = pytest.mark.parametrize("target", WAVES)


@pytest.fixture
def stopped(extension: Open) -> Open:
    def open_(target: str) -> Session:
        session = extension("types", target)
        session.break_at("types.hip:24")
        session.run()
        return session

    return open_


@targets
def test_values_of_every_lane(stopped: Open, extension_input: Inputs, target: str) -> None:
    session = stopped(target)
    x = extension_input("types").reshape(100, 4)
    for lane in range(WAVES[target]):
        scope = Focus(1, lane)
        v = x[lane].tolist()
        count = 1 + (lane & 3)
        expected: dict[str, int] = {
            "scale": 3, "next": 7, "flags": 0x12345078 | (lane & 15) << 8,
            "pair.first": v[0], "pair.second": v[3], "sum": sum(v[:count]),
        }
        expected |= {f"v[{k}]": v[k] for k in range(4)} | {f"twice[{k}]": 2 * v[k] for k in range(4)}
        expected |= {f"row[{k}]": v[k] for k in range(count)} | {f"table[{k >> 1}][{k & 1}]": v[k] for k in range(4)}
        assert {name: session.data.evaluate(name, scope).as_int() for name in expected} == expected
        assert session.data.evaluate("sizeof(row)", scope).as_int() == 4 * count
        assert session.data.evaluate("quarter * 4", scope).as_float() == v[0]
        assert session.data.evaluate("spare", scope).absence is Absence.NOT_ALLOCATED
        assert session.data.evaluate("unset", scope).absence is Absence.NOT_ASSOCIATED


def test_a_vector_base_type_is_of_elements(stopped: Open) -> None:
    """A.5.1: N elements, each as the entry describes without the attribute."""
    type_ = stopped("gfx90a").data.evaluate("v", Focus(1, 0)).type
    assert isinstance(type_, VectorType)
    assert (type_.count, type_.element.size, type_.size) == (4, 4, 16)


@targets
def test_the_overlaid_bits_are_written_where_they_are(stopped: Open, target: str) -> None:
    session = stopped(target)
    session.data.evaluate("flags = 0xfedcba98", Focus(1, 5))
    assert session.data.evaluate("$s16", Focus(1, 0)).as_int() & 0xFFFFFFFF == 0xFEDCB098  # except for the nibble
    assert session.data.evaluate("$v9[5]", Focus(1, 0)).as_int() == 0xA
    for lane in range(WAVES[target]):
        nibble = 0xA if lane == 5 else lane & 15
        assert session.data.evaluate("flags", Focus(1, lane)).as_int() == 0xFEDCB098 | nibble << 8


@targets
def test_a_pointer_to_member_finds_the_member(stopped: Open, extension_input: Inputs, target: str) -> None:
    session = stopped(target)
    x = extension_input("types").reshape(100, 4)
    for lane in (0, 1, 6, 7):
        member, pair = (session.data.evaluate(name, Focus(1, lane)) for name in ("member", "pair"))
        type_ = member.type
        assert isinstance(type_, MemberPointerType) and isinstance(type_.use_location, Exprloc)
        context = session.focus.frame(Focus(1, lane)).context
        first, second = dwarf.Value(None, 4 * (lane & 1)), _location(session, "pair", lane)
        place = dwarf.evaluate_location(type_.use_location.data, context, initial=(first, second))
        assert place.read(32) == int(x[lane, 3 * (lane & 1)]) & 0xFFFFFFFF
        assert pair.type.size == 8


def _location(session: Session, name: str, lane: int) -> dwarf.LocationDescription:
    context = session.focus.frame(Focus(1, lane)).context
    assert context.function is not None
    variable = next(v for v in context.function.variables if v.name == name)
    assert isinstance(variable.location, Exprloc | Loclist)
    return dwarf.evaluate_location(as_written(variable.location, variable.unit), context)
