"""The breakpoints that stop a wave, and for which lanes; changes of breakpoints. No program runs here."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from pathlib import Path

import pytest

from rocdbg.addresses import LoadedAddress
from rocdbg.debugger.base.errors import BreakpointError, ExpressionError, LocationSpecError, QuitError
from rocdbg.debugger.breakpoints.break_arguments import parse_tail, split_location
from rocdbg.debugger.breakpoints.breakpoint_table import (
    Arrival,
    Breakpoint,
    BreakpointLocation,
    BreakpointTable,
    parse_numbers,
)
from rocdbg.debugger.program.location_lookup import Location
from rocdbg.debugger.program.program import Program

SAXPY = Path(__file__).resolve().parents[2] / "demo_kernels" / "saxpy" / "saxpy.O2.gfx90a.co"


@pytest.fixture(scope="module")
def program() -> Program:
    """A program that only gives addresses a meaning; it is not loaded, so they are the addresses of the file."""
    return Program.open_all(SAXPY)[0]


class Table:
    """A table whose locations are addresses, written in hexadecimal with blanks between them."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.table = BreakpointTable(self.resolve)

    def resolve(self, text: str) -> Sequence[Location]:
        if text == "gone":
            raise LocationSpecError('Function "gone" not defined.')
        return [Location(self.program, int(word, 16)) for word in text.split()]

    def add(self, text: str, **options: object) -> None:
        self.table.add(text, self.resolve(text), **options)  # type: ignore[arg-type]

    def arrive(self, address: int = 0x100, active: int = 0b1111, thread: int = 1) -> dict[int, int]:
        """A wave at an address; returns the lanes by the breakpoints hit, of which the temporary ones are deleted."""
        found, problems = self.table.hits(Arrival(thread, address, active, holds))
        assert problems == []
        self.table.retire(found)
        return {hit.breakpoint.number: hit.lanes for hit in found}


def holds(condition: str, lanes: int) -> int:
    """The lanes for which the condition holds: ``even``, ``lane == N``."""
    return lanes & (0x5555_5555_5555_5555 if condition == "even" else 1 << int(condition.removeprefix("lane == ")))


@pytest.fixture
def table(program: Program) -> Table:
    return Table(program)


LANES = [
    # active, options, lanes that stop (0: none, the wave continues)
    (0b1111, {}, 0b1111),
    (0b0110, {}, 0b0110),
    (0b1111, {"condition": "even"}, 0b0101),
    (0b1010, {"condition": "even"}, 0),
    (0b1111, {"lane": 2}, 0b0100),
    (0b1011, {"lane": 2}, 0),
    (0b1111, {"lane": 2, "condition": "even"}, 0b0100),
    (0b1111, {"lane": 1, "condition": "even"}, 0),
    (0b1111, {"thread": 1}, 0b1111),
    (0b1111, {"thread": 2}, 0),
    (0b1111, {"thread": 1, "lane": 3, "condition": "lane == 3"}, 0b1000),
    (1 << 63, {"condition": "lane == 63"}, 1 << 63),
    (0, {}, 0),
]


@pytest.mark.parametrize(("active", "options", "expected"), LANES)
def test_lanes_of_a_hit(table: Table, active: int, options: dict[str, object], expected: int) -> None:
    table.add("100", **options)
    assert table.arrive(active=active) == ({1: expected} if expected else {})
    assert table.table.get(1).hit_count == (1 if expected else 0)


IGNORED = [
    # `ignore 1 N`, condition, whether each of five arrivals stops, `already hit` afterwards: as GDB counts
    (0, None, "SSSSS", 5),
    (2, None, "..SSS", 5),
    (9, None, ".....", 5),
    (-5, None, "SSSSS", 5),
    (2, "even", "..SSS", 5),
    (2, "lane == 9", ".....", 0),  # what the condition rules out counts for neither
]


@pytest.mark.parametrize(("count", "condition", "stops", "hits"), IGNORED)
def test_ignore_counts(table: Table, count: int, condition: str | None, stops: str, hits: int) -> None:
    table.add("100", condition=condition)
    table.table.set_ignore(1, count)
    assert "".join("S" if table.arrive() else "." for _ in range(5)) == stops
    assert table.table.get(1).hit_count == hits


@pytest.mark.parametrize(("lanes", "kept"), [(0b0011, None), (0b0110, 0b0110), (0, None)])
def test_an_event_counts_where_it_concerns_the_lane(table: Table, lanes: int, kept: int | None) -> None:
    """The event is that of a catchpoint or watchpoint for lane 2."""
    table.add("100", lane=2)
    made = table.table.get(1)
    assert table.table.counts(made, Arrival(1, 0x100, 0b1111, holds), lanes, pytest.fail) == kept
    assert made.hit_count == (kept is not None)


def test_a_temporary_one_stops_once_beside_another(table: Table) -> None:
    table.add("100", lane=1)
    table.add("100", temporary=True)
    assert [table.arrive(), table.arrive()] == [{1: 0b0010, 2: 0b1111}, {1: 0b0010}]
    assert [each.number for each in table.table] == [1]


def test_a_temporary_one_waits_for_its_condition(table: Table) -> None:
    table.add("100", temporary=True, condition="lane == 3")
    assert [table.arrive(active=0b0111), table.arrive(), table.arrive()] == [{}, {1: 0b1000}, {}]


def test_places_that_are_enabled(table: Table) -> None:
    table.add("100 200 300")
    table.add("200")
    stops = [set(table.table.addresses())]
    for number, enabled, place in ((1, False, 2), (2, False, None), (1, False, None), (2, True, None), (1, True, None)):
        table.table.enable(number, enabled, place)
        stops.append(set(table.table.addresses()))
    assert stops == [
        {0x100, 0x200, 0x300},  # disable 1.2: 2 is there, too
        {0x100, 0x200, 0x300},
        {0x100, 0x300},
        set(),
        {0x200},
        {0x100, 0x200, 0x300},
    ]
    assert table.arrive(0x200) == {2: 0b1111}  # 1.2 is still disabled


def test_a_condition_that_fails_stops_and_is_told(table: Table) -> None:
    def broken(condition: str, lanes: int) -> int:
        raise ExpressionError("Division by zero")

    table.add("100", condition="1 / 0")
    found, problems = table.table.hits(Arrival(1, 0x100, 0b0110, broken))
    assert [(hit.breakpoint.number, hit.lanes) for hit in found] == [(1, 0b0110)]
    assert problems == ["Error in testing breakpoint condition:\nDivision by zero"]


def test_found_again_in_another_program(table: Table) -> None:
    for text in ("100 200", "gone", "*400"):
        table.table.add(text, table.resolve("300"))
    table.table.enable(1, False, 1)
    assert [(each.number, why) for each, why in table.table.resolve_again()] == [(2, 'Function "gone" not defined.')]
    places = {each.number: [(p.address, p.enabled) for p in each.locations] for each in table.table}
    assert places == {1: [(0x100, False), (0x200, True)], 2: [], 3: [(0x300, True)]}
    assert [each.number for each in table.table if each.pending] == [2]


def test_clear_takes_all_at_a_place_and_numbers_are_not_used_again(table: Table) -> None:
    for text in ("100", "100 200", "300"):
        table.add(text)
    assert table.table.clear_at([0x100]) == [1, 2]
    table.add("400")
    assert [each.number for each in table.table] == [3, 4]


def test_sharing_a_place(table: Table) -> None:
    """By number, including disabled ones; not deleted breakpoints, nor those that have moved elsewhere."""

    def shared(place: BreakpointLocation, most: int = 10) -> tuple[list[int], int]:
        rows, others = table.table.sharing(place, most)
        return [each.number for each in rows], others

    for text in ("100", "200", "100 200", "200", "100"):
        table.add(text)
    table.table.enable(1, False)
    table.table.delete(4)
    at_100, at_200 = table.table.get(3).locations
    assert shared(at_100) == ([1, 3, 5], 0)
    assert shared(at_100, 2) == ([1, 3], 1)
    assert shared(at_200) == ([2, 3], 0)
    table.table.get(1).text = "200"
    table.table.resolve_again()
    assert shared(table.table.get(3).locations[0]) == ([3, 5], 0)
    assert shared(table.table.get(3).locations[1]) == ([1, 2, 3], 0)
    table.table.clear()
    assert shared(at_100) == ([], 0)


def test_commands_are_of_the_last_one_unless_numbers_are_given(table: Table) -> None:
    table.add("100")
    table.add("200")
    table.table.set_commands("", ["print 1"])
    table.table.set_commands("1-2", ["print 2"])
    table.table.set_commands("1", ["print 3"])
    assert [each.commands for each in table.table] == [["print 3"], ["print 2"]]


NUMBERS: list[tuple[str, list[int] | str]] = [
    ("1", [1]),
    ("1 3", [1, 3]),
    ("1-3", [1, 2, 3]),
    ("2 4-5 1", [2, 4, 5, 1]),
    ("3-3", [3]),
    ("", []),
    ("3-2", "inverted range"),
    ("1x", "Bad breakpoint number '1x'"),
    ("3-", "Bad breakpoint number '3-'"),
    ("1-9999999", "range 1-9999999 is too long"),
]


@pytest.mark.parametrize(("text", "expected"), NUMBERS)
def test_numbers(text: str, expected: list[int] | str) -> None:
    try:
        assert parse_numbers(text) == expected
    except BreakpointError as error:
        assert str(error) == expected


BREAKS: list[tuple[str, tuple[str, str | None, int | None, int | None] | str]] = [
    # typed, location, condition, thread, lane
    ("twice", ("twice", None, None, None)),
    ("", ("", None, None, None)),
    ("if x > 3", ("", "x > 3", None, None)),
    ("twice if x > 3", ("twice", "x > 3", None, None)),
    ("twice if(x>3)", ("twice", "(x>3)", None, None)),
    ("twice thread 2", ("twice", None, 2, None)),
    ("twice lane 5", ("twice", None, None, 5)),
    ("twice thread 2:5", ("twice", None, 2, 5)),
    ("twice thread 2 lane 5 if x", ("twice", "x", 2, 5)),
    ("thread 2 if thread == 1", ("", "thread == 1", 2, None)),
    ("notify.c:3 if if_ready", ("notify.c:3", "if_ready", None, None)),
    ("twice if x > 3 thread 2", ("twice", "x > 3", 2, None)),
    ("twice if f(1, thread 2)", ("twice", "f(1, thread 2)", None, None)),
    ("twice if", ("twice if", None, None, None)),  # GDB: Function "twice if" not defined.
    ("twice lane", ("twice lane", None, None, None)),
    ("twice thread x", "Invalid thread ID: x"),
    ("twice lane x", "Invalid lane ID: x"),
    ("twice thread 1 junk", "Junk at end of arguments."),
]


@pytest.mark.parametrize(("text", "expected"), BREAKS)
def test_arguments_of_break(text: str, expected: tuple[str, str | None, int | None, int | None] | str) -> None:
    try:
        location, words = split_location(text)
        tail = parse_tail(words)
        assert (location, tail.condition, tail.thread, tail.lane) == expected
    except BreakpointError as error:
        assert str(error) == expected


CLAUSES = [
    # clauses that may come in any order; condition, thread, lane
    (("thread 2", "lane 5"), (None, 2, 5)),
    (("if x > 3", "lane 5"), ("x > 3", None, 5)),
    (("if x > 3", "thread 2", "lane 5"), ("x > 3", 2, 5)),
    (("if x > 3", "thread 2:7"), ("x > 3", 2, 7)),
]


@pytest.mark.parametrize(("clauses", "expected"), CLAUSES, ids=[" ".join(clauses) for clauses, _ in CLAUSES])
def test_clauses_of_break_in_any_order(
    clauses: tuple[str, ...], expected: tuple[str | None, int | None, int | None]
) -> None:
    for order in permutations(clauses):
        tail = parse_tail(" ".join(order))
        assert (tail.condition, tail.thread, tail.lane) == expected, order


UNKNOWN = [
    (lambda table: table.get(7), "No breakpoint number 7."),
    (lambda table: table.delete(7), "No breakpoint number 7."),
    (lambda table: table.enable(7), "No breakpoint number 7."),
    (lambda table: table.set_condition(7, "x"), "No breakpoint number 7."),
    (lambda table: table.set_ignore(7, 1), "No breakpoint number 7."),
    (lambda table: table.set_commands("7", []), "No breakpoint number 7."),
    (lambda table: table.set_commands("", []), "No breakpoints specified."),
    (lambda table: table.enable(1, False, 5), "Bad breakpoint location number '5'"),
]


@pytest.mark.parametrize(("action", "message"), UNKNOWN)
def test_what_there_is_not(table: Table, action: object, message: str) -> None:
    table.add("100")
    if message == "No breakpoints specified.":
        table.table.clear()
    with pytest.raises(BreakpointError) as caught:
        action(table.table)  # type: ignore[operator]
    assert str(caught.value) == message


def test_an_interrupt_of_many_conditions_is_one_message() -> None:
    def interrupted(text: str, lanes: int) -> int:
        raise ExpressionError("No symbol.") if text == "bad" else QuitError

    table = BreakpointTable(lambda text: [])
    for text in ("a", "b", "bad", "bad", "c"):
        table.adopt(_Everywhere(0, "", condition=text))
    hits, problems = table.hits(Arrival(1, 0x100, 3, interrupted))
    assert [hit.lanes for hit in hits] == [3] * 5
    assert [problem.split("\n")[1] for problem in problems] == ["Quit", "No symbol.", "No symbol.", "Quit"]


class _Everywhere(Breakpoint):
    """A breakpoint at every address."""

    @property
    def at_places(self) -> bool:
        return False

    def addresses(self) -> frozenset[LoadedAddress]:
        return frozenset({LoadedAddress(0x100)})
