"""Commands about waves and lanes: thread, lane, their lists, `apply` and `find`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rocdbg.cli.apply import parse_flags, run_for
from rocdbg.cli.present import frame_text, show_frame, switching
from rocdbg.cli.ranges import is_thread_spec, parse_ranges, parse_thread_spec, takes_ranges
from rocdbg.cli.registry import Category, CommandError, Completes, Repeat, command
from rocdbg.cli.table import render
from rocdbg.debugger.digits import decimal
from rocdbg.debugger.errors import FocusError
from rocdbg.debugger.reports.patterns import compile_pattern
from rocdbg.debugger.reports.rows import LaneRow, LaneState, ThreadRow

if TYPE_CHECKING:
    from rocdbg.cli.shell import Shell

RUNNING = Category.RUNNING
STATUS = Category.STATUS
LANE_OPTIONS = ("-all", "-active", "-inactive")
_NEGATIVE = re.compile(r"-\d+")


# -- threads


@command("thread", category=RUNNING, aliases=("t",), usage="thread [N|N:LANE]", completes=Completes.THREAD)
def thread(shell: Shell, text: str) -> None:
    """Use this command to switch between waves (threads), and with N:LANE to a lane of one.

    Without an argument, the current thread is shown.
    """
    session = shell.session
    if not text:
        if session.scope.thread is None:
            raise FocusError("No thread selected")
        number = session.scope.thread
        shell.line(f"[Current thread is {number} ({session.wave(number).target_id})]")
        return
    if not is_thread_spec(text) or "*" in text or "-" in text:
        raise CommandError(f"Invalid thread ID: {text}")
    spec = parse_thread_spec(text)
    lane = decimal(spec.lanes) if spec.lanes is not None else None
    shell.need_threads()
    session.select_thread(decimal(spec.threads), lane)
    show_focus(shell)


def show_focus(shell: Shell) -> None:
    """What a switch shows: where the focus is now, its frame and line."""
    session = shell.session
    shell.line(switching(shell, session.scope))
    for warning in session.take_warnings():
        shell.warn(warning)
    show_frame(shell, session.frame())


@command("info threads", category=STATUS, usage="info threads [ID...]", completes=Completes.THREAD)
def info_threads(shell: Shell, text: str) -> None:
    """Display currently known threads (waves).

    With a list of numbers or ranges, only those.
    """
    rows = list(shell.session.threads())
    if text:
        specs = [parse_thread_spec(word) for word in text.split()]
        rows = [row for row in rows if any(spec.picks_thread(row.number) for spec in specs)]
        if not rows:
            shell.line(f"No threads match '{text}'.")
            return
    if not rows:
        shell.line("No threads.")
        return
    cells = [(str(row.number), _thread_id(row), frame_text(shell, row.frame)) for row in rows]
    shell.write(render(("Id", "Target Id", "Frame "), cells, [row.current for row in rows]))


def _thread_id(row: ThreadRow) -> str:
    return f'{row.target_id} "{row.name or row.kernel}"'


@command("thread find", category=RUNNING, usage="thread find REGEXP")
def thread_find(shell: Shell, text: str) -> None:
    """Find threads and lanes that match a regular expression in their name or target ID."""
    if not text:
        raise CommandError("thread find: Argument required")
    pattern = compile_pattern(text)
    found = False
    for row in shell.session.threads():
        if row.name and pattern.search(row.name):
            shell.line(f"Thread {row.number} has name '{row.name}'")
            found = True
        if pattern.search(row.target_id):
            shell.line(f"Thread {row.number} has target id '{row.target_id}'")
            found = True
        for lane in shell.session.lanes(row.number):
            found = (
                _match_lane(shell, lane, pattern.search, f"Thread {row.number}, lane {lane.lane}") or found
            )
    if not found:
        shell.line(f"No threads match '{text}'")


def _match_lane(shell: Shell, lane: LaneRow, matches: object, title: str) -> bool:
    assert callable(matches)
    found = False
    if lane.name and matches(lane.name):
        shell.line(f"{title} has name '{lane.name}'")
        found = True
    if matches(lane.target_id):
        shell.line(f"{title} has target id '{lane.target_id}'")
        found = True
    return found


@command("thread name", category=RUNNING, usage="thread name [NAME]")
def thread_name(shell: Shell, text: str) -> None:
    """Set the current thread's name; without an argument, remove it."""
    shell.need_threads()
    shell.session.name_thread(text)


@command(
    "thread apply", category=RUNNING, usage="thread apply ID...|all [-ascending] [-q|-c|-s] COMMAND",
    repeat=Repeat.NEVER,
)
def thread_apply(shell: Shell, text: str) -> None:
    """Apply a command to a list of threads, or with N:LANE to lanes of them (2:*, 1-3:0).

    "all" starts with the newest thread, with -ascending with the oldest. -q: no headings; -c: go on after an error;
    -s: as -c, but errors and empty results are not shown.
    """
    session = shell.session
    words = text.split()
    if not words:
        raise CommandError("Please specify a thread ID list")
    count = 1 if words[0] == "all" else 0
    while words[0] != "all" and count < len(words) and is_thread_spec(words[count]):
        count += 1
    if not count:
        raise CommandError(f"Invalid thread ID: {text}")
    rest = text
    for word in words[:count]:
        rest = rest.lstrip()[len(word) :]
    flags, inner = parse_flags(words[count:], rest, ("-ascending",) if words[0] == "all" else ())
    if not inner:
        raise CommandError("Please specify a command at the end of 'thread apply'")
    specs = [parse_thread_spec("*" if word == "all" else word) for word in words[:count]]
    kept = session.scope
    rows = list(session.threads())
    if words[0] == "all" and not flags.which:
        rows.reverse()  # as GDB: the newest first
    try:
        for row in rows:
            chosen = [spec for spec in specs if spec.picks_thread(row.number)]
            if not chosen:
                continue
            if all(spec.lanes is None for spec in chosen):
                session.select_thread(row.number)
                session.take_warnings()  # the command says it again where it matters
                run_for(shell, f"\nThread {row.number} ({row.target_id}):", inner, flags)
                continue
            for lane in session.lanes(row.number):
                if lane.state is LaneState.UNUSED or not any(spec.picks_lane(lane.lane) for spec in chosen):
                    continue
                session.select_thread(row.number, lane.lane)
                session.take_warnings()
                run_for(shell, f"\nThread {row.number}, lane {lane.lane} ({lane.target_id}):", inner, flags)
    finally:
        session.scope = kept


# -- lanes


@command("lane", category=RUNNING, usage="lane [N]")
def lane_(shell: Shell, text: str) -> None:
    """Use this command to switch between lanes of the current wave.

    Without an argument, the current lane is shown.
    """
    session = shell.session
    shell.need_threads()
    if text:
        session.select_lane(session.integer(text))
        show_focus(shell)
        return
    scope = session.scope
    if scope.thread is None or scope.lane is None:
        raise FocusError("No lane selected")
    shell.line(f"[Current lane is {scope.lane} ({session.wave(scope.thread).lane_target_id(scope.lane)})]")


@command("iteration", category=RUNNING, usage="iteration [N]")
def iteration(shell: Shell, text: str) -> None:
    """Use this command to switch between the iterations of a loop that run at once (vectorised or pipelined loops).

    Without an argument, the current iteration is shown.
    """
    session = shell.session
    shell.need_threads()
    if text:
        session.select_iteration(session.integer(text))
        shell.line(f"[Switching to iteration {session.scope.iteration} of {session.iteration_count()}]")
        show_frame(shell, session.frame())
        return
    shell.line(f"[Current iteration is {session.scope.iteration} of {session.iteration_count()}]")


def _pick(rows: list[LaneRow], which: str) -> list[LaneRow]:
    if which == "-active":
        return [row for row in rows if row.state is LaneState.ACTIVE]
    if which == "-inactive":
        return [row for row in rows if row.state is LaneState.INACTIVE]
    if which == "-all":
        return rows
    return [row for row in rows if row.state is not LaneState.UNUSED]


def _lane_frame(shell: Shell, row: LaneRow) -> str:
    if row.frame is None:
        return "(unused)"
    return frame_text(shell, row.frame) if row.is_located else "(inactive)"


@command(
    "info lanes", category=STATUS, usage="info lanes [ID...] [-all|-active|-inactive]", options=LANE_OPTIONS
)
def info_lanes(shell: Shell, text: str) -> None:
    """Display the lanes of the current wave.

    Without options, active (A) and inactive (I) ones; -all shows unused lanes (U) of a partial wave too. An inactive
    lane has a frame where debug information says where it waits (DW_AT_LLVM_lane_pc).
    """
    session = shell.session
    shell.need_threads()
    which = ""
    words = []
    for word in text.split():
        if word in LANE_OPTIONS:
            which = word
        elif word.startswith("-"):
            raise CommandError(f"Unrecognized option at: {word}")
        else:
            words.append(word)
    rows = _pick(list(session.lanes()), which)
    if words:
        wanted = set(parse_ranges(words))
        rows = [row for row in rows if row.lane in wanted]
    if not rows:
        shell.line(f"No lanes match '{' '.join(words)}'." if words else "No lanes.")
        return
    cells = [
        (
            str(row.lane),
            row.state.value,
            row.target_id + (f' "{row.name}"' if row.name else ""),
            _lane_frame(shell, row),
        )
        for row in rows
    ]
    shell.write(render(("Id", "State", "Target Id", "Frame "), cells, [row.current for row in rows]))


@command(
    "lane apply", category=RUNNING, usage="lane apply [ID...|all] [-all|-active|-inactive] [-q|-c|-s] COMMAND",
    options=LANE_OPTIONS, repeat=Repeat.NEVER,
)  # fmt: skip
def lane_apply(shell: Shell, text: str) -> None:
    """Apply a command to lanes of the current wave.

    -active, -inactive: only those; -all: unused lanes too. -q: no headings; -c: go on after an error;
    -s: as -c, but errors and empty results are not shown.
    """
    session = shell.session
    shell.need_threads()
    words = text.split()
    if words and _NEGATIVE.fullmatch(words[0]):
        raise CommandError("negative value")
    items, after = takes_ranges(words)
    rest = text
    for word in items:
        rest = rest.lstrip()[len(word) :]
    if not items and words[:1] == ["all"]:
        rest = rest.lstrip()[len("all") :]
        after = words[1:]
    flags, inner = parse_flags(after, rest, LANE_OPTIONS)
    if not inner:
        raise CommandError("Please specify a command at the end of 'lane apply'")
    every = list(session.lanes())
    rows = _pick(every, flags.which)
    if items:
        wanted = parse_ranges(items)
        for lane in wanted:
            if lane >= len(every):
                shell.warn(f"Lane {lane} does not exist on this thread.")
        by_number = {row.lane: row for row in rows}
        rows = [by_number[lane] for lane in wanted if lane in by_number]
    kept = session.scope
    try:
        for row in rows:
            session.select_lane(row.lane)
            session.take_warnings()  # an inactive lane among many is no surprise
            run_for(shell, f"\nLane {row.lane} ({row.target_id}):", inner, flags)
    finally:
        session.scope = kept


@command("lane find", category=RUNNING, usage="lane find REGEXP")
def lane_find(shell: Shell, text: str) -> None:
    """Find lanes of the current wave that match a regular expression in their name or target ID."""
    session = shell.session
    shell.need_threads()
    if not text:
        raise CommandError("lane find: Argument required")
    pattern = compile_pattern(text)
    found = False
    for row in session.lanes():
        found = _match_lane(shell, row, pattern.search, f"Lane {row.lane}") or found
    if not found:
        shell.line(f"No lanes match '{text}'")


@command("lane name", category=RUNNING, usage="lane name [NAME]")
def lane_name(shell: Shell, text: str) -> None:
    """Set the current lane's name; without an argument, remove it."""
    shell.need_threads()
    shell.session.name_lane(text)
