"""Catchpoints in code that clang compiled for two targets and wave sizes: how often events happen, and where they stop.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from rocdbg import isa
from rocdbg.arch.address_spaces import AddressSpace
from rocdbg.debugger import Session
from rocdbg.debugger.base.focus import Focus
from rocdbg.debugger.breakpoints.catchpoints import BEGIN, END, Catchpoint, Event
from rocdbg.debugger.breakpoints.dynamic_printf import DynamicPrintf
from rocdbg.debugger.running.stop_events import CatchpointHit, StopEvent, StopReason
from tests.breadth import in_turn

pytestmark = pytest.mark.llvm

GROUPS, GROUP, LAST = 5, 96, 20
"""Workgroups of 96 work-items, and a last one of 20."""
WAVES = {"gfx90a": [2] * GROUPS + [1], "gfx1100": [3] * GROUPS + [1]}
"""The number of waves in each workgroup."""
ARCHS = tuple(WAVES)
SCHEDULES = ("round-robin", "one-at-a-time", "random 7", "lockstep 3")
EACH = [(event, when) for event in (Event.DISPATCH, Event.WORKGROUP, Event.WAVE) for when in (BEGIN, END)]
Make = Callable[..., Session]


def caught(event: StopEvent) -> str:
    """The event that a stop has caught; nothing if the stop has another cause."""
    return event.cause.event if isinstance(event.cause, CatchpointHit) else ""


@pytest.fixture(params=WAVES)
def arch(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def make(compiled: Callable[..., Path], arch: str) -> Make:
    """A session in which nothing has run."""

    def made(n: int = 0, level: str = "-O2", schedule: str = "round-robin") -> Session:
        session = Session()
        session.load(compiled("caught.hip", arch, level))
        session.launch.schedule = schedule
        session.launch.set_grid(str(GROUPS * GROUP + LAST))
        session.launch.set_workgroup(str(GROUP))
        for index, text in enumerate(("i32[512]:zeros", str(n))):
            session.launch.set_argument(index, text)
        return session

    return made


def stops(session: Session) -> list[StopEvent]:
    """All stops of a run until its end."""
    found = [session.run()]
    while found[-1].reason is not StopReason.EXITED:
        found.append(session.running.proceed())
        assert len(found) < 1000
    return found[:-1]


def stops_of(session: Session) -> Iterator[StopEvent]:
    """Yield the stops, while the program is at each of them."""
    event = session.run()
    while event.reason is not StopReason.EXITED:
        yield event
        event = session.running.proceed()


@pytest.mark.truth
@pytest.mark.parametrize(("arch", "schedule", "level"), in_turn(ARCHS, SCHEDULES, ("-O0", "-O2")), indirect=["arch"])
def test_events_happen_as_often_as_there_are_things(make: Make, arch: str, level: str, schedule: str) -> None:
    waves = WAVES[arch]
    expected = {Event.DISPATCH: 1, Event.WORKGROUP: len(waves), Event.WAVE: sum(waves)}
    session = make(0, level, schedule)
    made = {event: session.catch(event) for event in expected}
    got = stops(session)
    assert {event: each.hit_count for event, each in made.items()} == {e: 2 * n for e, n in expected.items()}
    assert len(got) == 2 * sum(waves)  # where a wave begins or ends, and with it perhaps more
    assert set(got[0].breakpoints) == {1, 2, 3} == set(got[-1].breakpoints)
    assert caught(got[0]) == "dispatch begin" and caught(got[-1]) == "dispatch end"


@pytest.mark.truth
@pytest.mark.parametrize(("arch", "which", "schedule"), in_turn(ARCHS, EACH, SCHEDULES), indirect=["arch"])
def test_each_alone(make: Make, arch: str, which: tuple[Event, str], schedule: str) -> None:
    """Each catchpoint alone, so that the target can skip waves by itself."""
    event, when = which
    session = make(0, schedule=schedule)
    made = session.catch(event, (when,))
    expected = {Event.DISPATCH: 1, Event.WORKGROUP: len(WAVES[arch]), Event.WAVE: sum(WAVES[arch])}[event]
    got = stops(session)
    assert [caught(each) for each in got] == [f"{event.value} {when}"] * expected
    assert made.hit_count == expected
    if event is Event.WAVE:
        assert sorted(each.scope.thread or 0 for each in got) == list(range(1, expected + 1))


@pytest.mark.parametrize("when", (BEGIN, END))
def test_waves_are_where_they_begin_and_end(make: Make, arch: str, when: str) -> None:
    session = make()
    session.catch(Event.WAVE, (when,))
    for event in stops_of(session):
        wave = session.inferior.wave(event.scope.thread or 0)
        if when == BEGIN:
            assert wave.instructions == 0 and wave.exec_mask == wave.used_lanes
        else:
            code = session.inferior.need_target().read_memory(AddressSpace.GLOBAL, wave.pc, 4)
            assert isa.decode(code, arch).name == "s_endpgm"


@pytest.mark.parametrize("way", ("host", "target"))
@pytest.mark.parametrize("event, when, condition, expected", (
    (Event.WAVE, BEGIN, "$_thread == 4 || $_thread == 6", 2),
    (Event.WAVE, END, "$_lane == 0 && $_thread < 4", 3),
    (Event.WORKGROUP, END, "$_dispatch_pos != 0", 6),
    (Event.WORKGROUP, BEGIN, "$_thread > 4", None),
    (Event.WAVE, END, "0", 0),
))
def test_conditions(
    make: Make, event: Event, when: str, condition: str, expected: int | None, way: str
) -> None:
    session = make(0, "-O0")
    session.settings.condition_evaluation = way
    made = session.catch(event, (when,), condition=condition)
    got = len(stops(session))
    other = make(0, "-O0")
    other.settings.condition_evaluation = "host" if way == "target" else "target"
    other.catch(event, (when,), condition=condition)
    assert got == made.hit_count == len(stops(other))
    assert expected is None or got == expected


def test_ignored_temporary_disabled_and_once(make: Make, arch: str) -> None:
    session = make()
    made = session.catch(Event.WAVE, (BEGIN,))
    made.ignore_count = 3
    temporary = session.catch(Event.WORKGROUP, (END,), temporary=True)
    session.catch(Event.WAVE, (END,)).enabled = False
    session.catch(Event.WAVE, (END,))
    session.breakpoints.enable_until(4, made.disposition.DISABLE, 2)
    got = stops(session)
    assert [number for event in got for number in event.breakpoints if number == 4] == [4] * 2
    assert sum(1 in event.breakpoints for event in got) == sum(WAVES[arch]) - 3
    assert sum(2 in event.breakpoints for event in got) == 1
    assert temporary.number not in session.breakpoints
    assert made.hit_count == sum(WAVES[arch])


def test_kernels_and_code_objects_by_name(make: Make) -> None:
    session = make()
    session.catch(Event.DISPATCH, (BEGIN,), "^ker")
    session.catch(Event.DISPATCH, (BEGIN,), "other")
    session.catch(Event.LOAD, argument=r"caught\.hip")
    session.catch(Event.LOAD, argument="other")
    session.catch(Event.UNLOAD)
    assert [event.breakpoints for event in stops(session)] == [(3,), (1,)]


def test_messages(make: Make, arch: str) -> None:
    session = make(1, "-O0")
    made = session.catch(Event.SENDMSG)
    got = stops(session)
    assert [caught(event) for event in got] == ["s_sendmsg sendmsg(MSG_INTERRUPT)"] * sum(WAVES[arch])
    assert made.hit_count == len(got)


def test_traps(make: Make, arch: str) -> None:
    session = make(2)
    session.catch(Event.TRAP, argument="4")
    made = session.catch(Event.TRAP, argument="3", condition="$_thread != 2")
    session.catch(Event.EXCEPTION)
    got = stops(session)
    assert len(got) == sum(WAVES[arch])
    assert {caught(event) for event in got} == {"trap 3", ""}
    assert [event.reason for event in got if event.scope.thread == 2] == [StopReason.SIGNAL]
    assert made.hit_count == len(got) - 1


@pytest.mark.parametrize("n, kind, other, lanes", (
    (3, "abort", "memory-violation", None), (4, "memory-violation", "abort", 1 << 5),
))
def test_exceptions(make: Make, n: int, kind: str, other: str, lanes: int | None) -> None:
    session = make(n)
    session.catch(Event.EXCEPTION, argument=other)
    session.catch(Event.EXCEPTION, argument=kind)
    session.catch(Event.EXCEPTION)
    event = session.run()
    assert event.reason is StopReason.CATCHPOINT and event.breakpoints == (2, 3)
    assert caught(event) == f"exception {kind}" and event.device.sentence
    assert lanes is None or event.lanes == lanes
    assert session.running.proceed().reason is StopReason.TERMINATED


def test_going_back_and_forth(make: Make, arch: str) -> None:
    """In the past, the same events are found as in the original run."""
    session = make()
    session.catch(Event.WAVE)
    there = [(event.scope.thread, caught(event)) for event in stops(session)]
    again = make()
    again.catch(Event.WAVE)
    again.run()
    for _ in range(len(there) - 1):
        again.running.proceed()
    back = []
    event = again.time.proceed()
    while event.reason is StopReason.CATCHPOINT:
        back.append((event.scope.thread, caught(event)))
        event = again.time.proceed()
    assert back == there[-2::-1] or back == there[-2:0:-1]


@pytest.mark.parametrize("caught", (None, "0", "$_thread == 3"))
@pytest.mark.parametrize("schedule", ("round-robin", "lockstep 3"))
def test_what_only_prints_at_an_end_is_counted_once_for_each_wave(
    make: Make, arch: str, schedule: str, caught: str | None
) -> None:
    """Waves that stop there twice are counted once too: first for a breakpoint, then because they may be the last of
    their group.
    """
    session, printed = make(schedule=schedule), list[int]()
    session.running.watch_inside(lambda one, thread, lanes, columns: printed.append(thread))
    probe = Catchpoint(0, "", event=Event.WAVE, when=(END,))
    session.start_at_entry()
    (place,) = session.running.catcher.make(Event.WAVE, (END,)).places(probe)
    one = session.break_at(f"*{place:#x}", form=DynamicPrintf)
    assert isinstance(one, DynamicPrintf)
    one.format, one.arguments = '"%d\\n", $_thread', ("$_thread",)
    for event in (Event.WAVE, Event.WORKGROUP):
        session.catch(event, (END,), condition=caught)
    breaks = session.break_at(f"*{place:#x}", condition="$_thread > 2")
    while session.inferior.target is not None:
        event = session.running.proceed()
        if breaks.number in event.breakpoints:
            session.breakpoints.delete(breaks.number)
    assert sorted(printed) == list(range(1, sum(WAVES[arch]) + 1))
    assert one.hit_count == len(printed)


@pytest.mark.parametrize("schedule", ("round-robin", "lockstep 3"))
def test_an_end_that_was_told_is_told_again_only_where_a_wave_comes_to_it_again(
    make: Make, arch: str, schedule: str
) -> None:
    """From any position forwards: later known ends, the end of the history, and ends that were not reported before."""
    session = make(schedule=schedule)
    ends = session.catch(Event.WAVE, (END,))
    told, event = [], session.run()
    for _ in range(7):
        told.append((session.time.position, event.scope.thread))
        event = session.running.proceed()
    told.append((session.time.position, event.scope.thread))
    last = told[-1][0]
    for position in (0, told[2][0], told[2][0] + 1, told[5][0] - 1, last):
        session.time.go_to(position)
        later = []
        while (event := session.running.proceed()).reason is StopReason.CATCHPOINT and session.time.position < last:
            later.append((session.time.position, event.scope.thread))
        assert later == [row for row in told if position < row[0] < last]
        assert event.reason is (StopReason.CATCHPOINT if position == last else StopReason.HISTORY)
    before = ends.hit_count
    while session.inferior.target is not None:
        session.running.proceed()
    assert ends.hit_count == before + sum(WAVES[arch]) - len(told) - 1


def test_an_end_in_the_past_is_told_where_nobody_heard_of_it(make: Make) -> None:
    """The catchpoint is newer than the position, or the report belongs to a future that no longer exists."""
    session = make()
    probe = session.catch(Event.WAVE, (END,))
    session.run()
    end = session.time.position
    session.breakpoints.delete(probe.number)
    session.catch(Event.WAVE, (END,))
    session.time.go_to(end - 1)
    assert session.running.proceed().reason is StopReason.HISTORY and session.time.position == end
    event = session.running.proceed()
    assert (caught(event), session.time.position) == ("wave end", end)
    session.time.go_to(end - 1)
    session.time.need().branch()
    event = session.running.proceed()
    assert (caught(event), session.time.position) == ("wave end", end)


def test_steps_end_at_events(make: Make) -> None:
    session = make(0, "-O0")
    session.start()
    session.catch(Event.WAVE, (END,))
    event = session.running.stepi(100_000)
    assert event.reason is StopReason.CATCHPOINT and caught(event) == "wave end"


@pytest.mark.parametrize("event", (Event.WORKGROUP, Event.DISPATCH))
def test_an_end_is_not_missed_when_the_other_was_stepped_over_its(make: Make, arch: str, event: Event) -> None:
    """A wave that stopped at its end was not the last one then; when the other wave is stepped, it becomes the last
    one.
    """
    session = make()
    for size in (session.launch.set_grid, session.launch.set_workgroup):  # one workgroup of two waves
        size("128" if arch == "gfx90a" else "64")
    ends = session.catch(event, (END,))
    session.start_at_entry()
    wave = Catchpoint(0, "", event=Event.WAVE, when=(END,))
    (place,) = session.running.catcher.make(Event.WAVE, (END,)).places(wave)
    session.break_at(f"*{place:#x}")
    session.settings.scheduler_locking = "on"
    waves = [wave.number for wave in session.inferior.need_target().waves()]
    for number in waves:  # each to its s_endpgm, one after the other
        session.focus.move(Focus(number, 0))
        assert session.running.proceed().reason is StopReason.BREAKPOINT
    session.breakpoints.delete(2)
    for number in waves[1:]:  # past it: the rest may continue then
        session.focus.move(Focus(number, 0))
        assert session.running.stepi().reason is StopReason.THREAD_EXITED
    assert [wave.number for wave in session.inferior.need_target().waves()] == waves[:1]
    found = session.running.proceed()
    assert found.reason is StopReason.CATCHPOINT and found.scope.thread == waves[0] and END in caught(found)
    assert ends.hit_count == 1
    assert session.running.proceed().reason is StopReason.EXITED


THERE = [(first, stepped) for first in (True, False) for stepped in (0, 1, 6)]
"""Whether the catchpoint exists before the waves do, and how many waves are stepped."""


@pytest.mark.truth
@pytest.mark.parametrize(
    ("arch", "counted", "how"), in_turn(ARCHS, ((Event.DISPATCH, 1), (Event.WORKGROUP, 2), (Event.WAVE, 6)), THERE),
    indirect=["arch"],
)
def test_ends_of_many_waves_that_stand_there_at_once(
    make: Make, arch: str, counted: tuple[Event, int], how: tuple[bool, int]
) -> None:
    """Two workgroups of three waves, each taken to its s_endpgm; then the last waves of each are stepped over it."""
    (event, expected), (first, stepped) = counted, how
    session = make()
    size = 3 * (64 if arch == "gfx90a" else 32)
    session.launch.set_grid(str(2 * size))
    session.launch.set_workgroup(str(size))
    made = session.catch(event, (END,)) if first else None
    session.start_at_entry()
    probe = Catchpoint(0, "", event=Event.WAVE, when=(END,))
    (place,) = session.running.catcher.make(Event.WAVE, (END,)).places(probe)
    other = session.break_at(f"*{place:#x}")
    session.settings.scheduler_locking = "on"
    waves = [wave.number for wave in session.inferior.need_target().waves()]
    for number in waves:
        session.focus.move(Focus(number, 0))
        session.running.proceed()
    made = made or session.catch(event, (END,))
    for number in waves[len(waves) - stepped :]:
        session.focus.move(Focus(number, 0))
        while session.inferior.target is not None and session.running.runner.alive(number):
            session.running.stepi()
    session.settings.scheduler_locking = "off"
    while session.inferior.target is not None:
        session.running.proceed()
    assert (made.hit_count, other.hit_count) == (expected, 6)
