"""The engine on kernels that clang compiled: stops, lanes, variables, steps."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from rocdbg.debugger import Session, StopReason
from rocdbg.debugger.base.errors import DebuggerError, FocusError, LocationSpecError, NotRunningError
from rocdbg.debugger.running.stop_events import ThreadExited

Start = Callable[..., Session]

pytestmark = pytest.mark.llvm
TARGETS = ["gfx90a", "gfx942", "gfx1030", "gfx1100"]


def show(session: Session, text: str) -> str:
    return session.data.format(session.data.evaluate(text))


def line(session: Session) -> int | None:
    return session.focus.frame().line


@pytest.mark.parametrize("target", TARGETS)
def test_each_lane_has_its_own_variables(lanes: Start, target: str) -> None:
    session = lanes(target)
    session.break_at("lanes.hip:31")
    event = session.run()
    assert event.reason is StopReason.BREAKPOINT
    wave = session.inferior.wave(1)
    assert event.lanes == (1 << wave.lane_count) - 1
    for lane in (0, 7, wave.lane_count - 1):
        session.focus.select_lane(lane)
        assert show(session, "i") == str(lane)
        assert show(session, "p") == (
            f"{{a = 1.5, b = {{{lane}, 2, 3}}, in = {{s = -4, f = 5, g = 9}}}}"
        )
        assert show(session, "odd") == ("true" if lane & 1 else "false")
        assert show(session, "tile[i]") == str(lane)
        assert show(session, "threadIdx.x + blockIdx.x * blockDim.x") == str(lane)
    assert show(session, "c") == "GREEN"
    assert show(session, "n") == "100"
    assert show(session, "*x@3") == "{0, 1, 2}"
    assert show(session, "lone") == "3"
    assert show(session, "gcount") == "7"


@pytest.mark.parametrize("target", TARGETS)
def test_assignment_changes_one_lane(lanes: Start, target: str) -> None:
    session = lanes(target)
    session.break_at("lanes.hip:31")
    session.run()
    session.focus.select_lane(5)
    assert show(session, "i = 77") == "77"
    assert show(session, "p.in.g = 30") == "30"
    assert show(session, "p.b[1] += 10") == "12"
    assert show(session, "p") == "{a = 1.5, b = {5, 12, 3}, in = {s = -4, f = 5, g = 30}}"
    session.focus.select_lane(6)
    assert show(session, "i") == "6"
    assert show(session, "p") == "{a = 1.5, b = {6, 2, 3}, in = {s = -4, f = 5, g = 9}}"


def test_condition_is_evaluated_for_each_lane(lanes: Start) -> None:
    session = lanes()
    made = session.break_at("lanes.hip:31", condition="i % 20 == 3")
    event = session.run()
    assert event.lanes == 1 << 3 | 1 << 23 | 1 << 43 | 1 << 63
    assert (event.scope.thread, event.scope.lane) == (1, 3)
    event = session.running.proceed()
    assert (event.scope.thread, event.lanes) == (2, 1 << 19 | 1 << 39 | 1 << 59)
    assert made.hit_count == 2


def test_thread_and_lane_restriction(lanes: Start) -> None:
    session = lanes()
    session.break_at("lanes.hip:31", thread=2, lane=9)
    event = session.run()
    assert (event.scope.thread, event.scope.lane, event.lanes) == (2, 9, 1 << 9)


def test_ignore_count_and_temporary(lanes: Start) -> None:
    session = lanes()
    made = session.break_at("lanes.hip:31")
    session.breakpoints.set_ignore(made.number, 1)
    session.break_at("lanes.hip:40", temporary=True)
    event = session.run()
    assert (event.scope.thread, event.hits.temporary, event.breakpoints) == (1, True, (2,))
    event = session.running.proceed()
    assert (event.scope.thread, event.breakpoints) == (2, (1,))
    assert [b.number for b in session.breakpoints] == [1]


@pytest.mark.parametrize("target", TARGETS)
def test_next_follows_the_lane(lanes: Start, target: str) -> None:
    session = lanes(target)
    session.break_at("lanes.hip:31", temporary=True, condition="i == 7")
    session.run()
    seen = []
    for _ in range(5):
        event = session.running.next()
        assert event.reason is StopReason.STEP
        assert event.scope.lane == 7
        seen.append(line(session))
    assert seen == [32, 33, 34, 37, 38]
    assert show(session, "acc") == str(7 * 7 + 2 + 1)


@pytest.mark.parametrize("target", TARGETS)
def test_even_lane_takes_the_other_arm(lanes: Start, target: str) -> None:
    session = lanes(target)
    session.break_at("lanes.hip:31", temporary=True, condition="i == 6")
    session.run()
    session.running.next()
    assert line(session) == 35
    session.running.next()
    assert line(session) == 37
    assert show(session, "acc") == "4"


def test_step_enters_a_function_behind_its_prologue(lanes: Start) -> None:
    session = lanes()
    session.break_at("lanes.hip:32", temporary=True)
    session.run()
    event = session.running.step()
    assert event.cause.new_frame
    frame = session.focus.frame()
    assert (frame.name, frame.line) == ("scale", 15)
    lane = event.scope.lane
    assert [(n, session.data.format_nested(v)) for n, v in session.data.arguments(frame)][:2] == [
        ("v", str(lane)), ("k", str(lane)),
    ]
    assert show(session, "p->b[0]") == str(lane)


def test_exit_with_results(lanes: Start) -> None:
    session = lanes()
    session.break_at("lanes.hip:40", temporary=True)
    session.run()
    event = session.running.proceed()
    assert event.reason is StopReason.EXITED
    assert event.exit is not None and event.exit.kernel == "kern"
    assert event.exit.instructions > 100
    with pytest.raises(NotRunningError):
        session.running.proceed()


def test_fault_is_a_signal_and_ends_the_program(lanes: Start) -> None:
    session = lanes()
    session.launch.set_kernel("wild")
    session.launch.spec.arguments = []
    session.launch.set_argument(0, "f32[64]")
    event = session.run()
    assert event.reason is StopReason.SIGNAL
    assert event.signal is not None and event.signal.name == "SIGSEGV"
    assert line(session) == 46
    assert event.lanes & 1 == 0 and event.scope.lane == 1
    assert "write of 4 bytes" in event.device.sentence and "buffer 'x'" in event.device.sentence
    assert session.running.proceed().reason is StopReason.TERMINATED


def test_registers_are_vectors_over_lanes(lanes: Start) -> None:
    session = lanes()
    session.break_at("lanes.hip:31")
    session.run()
    assert show(session, "$exec") == str((1 << 64) - 1)
    session.data.evaluate("$v1[3] = 1234")
    session.data.evaluate("$v1[4] = 0")
    assert show(session, "$v1[3]") == "1234"
    assert show(session, "$v1[4]") == "0"
    session.data.evaluate("$s40 = 0x89abcdef")
    session.data.evaluate("$s41 = 1")
    assert show(session, "$s[40:41]") == str(0x1_89AB_CDEF)
    assert session.data.format(session.data.evaluate("$pc")).startswith("(void (*)(void)) 0x7f")


def test_where_the_focus_is(lanes: Start) -> None:
    session = lanes()
    session.break_at("lanes.hip:31")
    session.run()
    session.focus.select_lane(5)
    for text, expected in [
        ("$_thread", "1"), ("$_lane", "5"), ("$_lane_count", "64"), ("$_lane_active", "1"),
        ("$_dispatch_pos", '"(0,0,0)/0"'), ("$_lane_workgroup_pos", '"[5,0,0]"'), ("$_wave_id", '"1:1:1:1"'),
    ]:
        assert show(session, text) == expected
    assert session.inferior.wave(1).lane_target_id(5) == "AMDGPU Lane 1:1:1:1/5 (0,0,0)[5,0,0]"
    assert session.inferior.wave(2).target_id == "AMDGPU Wave 1:1:1:2 (1,0,0)/0"
    with pytest.raises(FocusError, match=r"Lane 64 does not exist on this thread\."):
        session.focus.select_lane(64)


ADDRESSES = [
    ("&i", "(int *) private_lane#"),
    ("&tile", "(float (*)[64]) local#0x0"),
    ("&gcount", "(int *) 0x7f"),
    ("x", "(float *) generic#0x7f"),
    ("scale", "{float (float, int, Pair *)} 0x7f"),
]


@pytest.mark.parametrize(("text", "start"), ADDRESSES)
def test_addresses_name_their_space(lanes: Start, text: str, start: str) -> None:
    session = lanes()
    session.break_at("lanes.hip:31")
    session.run()
    assert show(session, text).startswith(start)


@pytest.mark.parametrize("target", ["gfx90a", "gfx1100"])
def test_private_wave_memory_interleaves_the_lanes(lanes: Start, target: str) -> None:
    """For each dword, private_wave memory has the values of all lanes, one after the other."""
    session = lanes(target)
    session.break_at("lanes.hip:31")
    session.run()
    for lane in (0, 5, 31):
        session.focus.select_lane(lane)
        place = int(show(session, "&i").partition("#")[2], 16)
        wave = place // 4 * session.inferior.wave(1).lane_count * 4 + lane * 4
        assert show(session, f"*(int *) private_wave#{wave:#x}") == show(session, "i") == str(lane)
    assert show(session, f"*(int *) private_wave#{wave:#x} = 70, i") == "70"


LOCATIONS = [
    ("kern", [24]),
    ("scale", [15]),
    ("lanes.hip:31", [31]),
    ("lanes.hip:25", [26]),
    ("40", [40]),
    ("lanes.hip:scale", [15]),
]


@pytest.mark.parametrize(("text", "expected"), LOCATIONS)
def test_locations(lanes: Start, text: str, expected: list[int]) -> None:
    assert [place.line for place in lanes().places.resolve(text)] == expected


LOCATION_ERRORS = [
    ("nosuch", 'Function "nosuch" not defined.'),
    ("lanes.hip:999", 'No line 999 in file "lanes.hip".'),
    ("999", "No line 999 in the current file."),
    ("foo.c:3", "No source file named foo.c."),
]


@pytest.mark.parametrize(("text", "message"), LOCATION_ERRORS)
def test_unknown_locations(lanes: Start, text: str, message: str) -> None:
    with pytest.raises(LocationSpecError) as caught:
        lanes().places.resolve(text)
    assert str(caught.value) == message


def test_optimised_code_keeps_variables_in_registers(lanes: Start) -> None:
    session = lanes(level="-O2")
    session.break_at("lanes.hip:46", temporary=True)
    session.launch.set_kernel("wild")
    session.launch.spec.arguments = []
    session.launch.set_argument(0, "f32[64]")
    session.run()
    session.focus.select_lane(9)
    assert show(session, "i") == "9"
    assert show(session, "i = 3") == "3"
    assert show(session, "i") == "3"
    assert show(session, "$v0[9]") == "3"
    session.focus.select_lane(10)
    assert show(session, "i") == "10"
    assert show(session, "x").endswith(" <recovered>")
    session.settings.print = replace(session.settings.print, recovered=False)
    assert show(session, "x") == "<optimized out>"


def test_examine(lanes: Start) -> None:
    from rocdbg.debugger.values.format_letters import Format

    session = lanes()
    session.break_at("lanes.hip:31")
    session.run()
    shown = session.examiner.examine(session.data.evaluate("x"), Format.parse("4fw"))
    address = session.data.evaluate("x").as_int()
    assert [row.text for row in shown.whole()] == [f"generic#{address:#x}:\t0\t1\t2\t3"]
    shown = session.examiner.examine(session.data.evaluate("&tile"), Format.parse("2xw"))
    assert [row.text for row in shown.whole()] == ["local#0x0:\t0x00000000\t0x3f800000"]
    code = list(session.examiner.examine(session.data.evaluate("$pc"), Format.parse("2i")).whole())
    assert code[0].text.startswith("=> 0x7f") and code[1].text.startswith("   0x7f")


@pytest.mark.parametrize("level", ["-O0", "-O2"])
@pytest.mark.parametrize("target", TARGETS)
def test_backtrace_and_finish(lanes: Start, target: str, level: str) -> None:
    session = lanes(target, level)
    session.break_at("scale", temporary=True)
    event = session.run()
    lane = event.scope.lane
    assert lane == 1
    assert [(frame.level, frame.name) for frame in session.focus.frames()] == [(0, "scale"), (1, "kern")]
    caller = session.focus.frame(session.focus.current.with_frame(1))
    assert caller.line in (32, 33)
    assert caller.is_outermost and caller.stop_reason == ""
    event = session.running.finish()
    assert event.reason is StopReason.FINISHED
    assert event.returned is not None
    assert session.data.format(event.returned.value) == "3"
    assert event.scope.lane == lane
    assert session.focus.frame().name == "kern"
    with pytest.raises(DebuggerError, match="not meaningful in the outermost frame"):
        session.running.finish()


@pytest.mark.parametrize("target", TARGETS)
def test_variables_of_an_outer_frame(lanes: Start, target: str) -> None:
    session = lanes(target)
    session.break_at("scale", temporary=True, condition="k == 5")
    session.run()
    session.focus.up()
    assert show(session, "i") == "5"
    assert show(session, "p.b") == "{5, 2, 3}"
    assert show(session, "p.b[0] = 55") == "55"
    session.focus.select_frame(0)
    assert show(session, "p->b[0]") == "55"


@pytest.mark.parametrize("target", TARGETS)
def test_next_goes_over_a_call_and_out_of_one(lanes: Start, target: str) -> None:
    session = lanes(target)
    session.break_at("scale", temporary=True, condition="k == 5")
    session.run()
    seen = []
    for _ in range(4):
        session.running.next()
        seen.append((session.focus.frame().name, line(session)))
    # what is left of line 32 after the call is part of the step that returns
    assert seen == [("scale", 16), ("scale", 17), ("kern", 33), ("kern", 34)]


@pytest.mark.parametrize("command", ["next", "stepi", "until", "advance"])
def test_a_command_ends_with_its_wave(lanes: Start, command: str) -> None:
    """As in ROCgdb: "Command aborted, thread exited."; other waves stay where they are."""
    session = lanes()
    session.break_at("lanes.hip:40", temporary=True)
    thread = session.run().scope.thread
    event = session.running.advance("lanes.hip:45") if command == "advance" else None
    for _ in range(40):
        if event is not None and event.reason is not StopReason.STEP:
            break
        event = getattr(session.running, command)()
    assert event is not None and event.reason is StopReason.THREAD_EXITED
    assert event.cause == ThreadExited(thread or 0)
    assert session.focus.current.thread is None
    assert [wave.number for wave in session.inferior.need_target().waves()] == [2]
    with pytest.raises(NotRunningError, match="without a live selected thread"):
        session.running.next()
    session.focus.select_thread(2)
    session.break_at("lanes.hip:40", temporary=True)
    assert session.running.proceed().reason is StopReason.BREAKPOINT
    event = session.running.advance("lanes.hip:45")
    assert event.reason is StopReason.EXITED  # with the last wave the program ends


def test_advance_and_until(lanes: Start) -> None:
    session = lanes()
    session.break_at("lanes.hip:31", temporary=True, condition="i == 7")
    session.run()
    event = session.running.advance("lanes.hip:38")
    assert (event.reason, line(session), event.scope.lane) == (StopReason.LOCATION, 38, 7)
    session.running.next()
    assert line(session) == 37
    session.running.until()
    assert line(session) == 39
    assert show(session, "acc") == str(7 * 7 + 2 + 1 + sum(range(3)) + 3 * 7)
