"""Commands about waves and lanes: thread, lane, their lists, `apply` and `find`."""

from __future__ import annotations

import enum
import re
from typing import TYPE_CHECKING

from msgspec import structs

from rocdbg.cli.apply_commands import APPLY_OPTIONS, Flags, run_for
from rocdbg.cli.argument_kinds import COMMAND, IDS, INTEGER, LANE, NAME, THREADS, text_of, words_while
from rocdbg.cli.arguments import Arguments, Kind, optional, required
from rocdbg.cli.command_options import Option, Unknown
from rocdbg.cli.command_registry import Category, CommandError, Completes, Repeat, command
from rocdbg.cli.folded_values import is_condition, write_groups
from rocdbg.cli.frame_lines import frame_text, frame_texts, lanes_phrase, show_frame, switching, wave_name
from rocdbg.cli.host_text import thread_text
from rocdbg.cli.number_ranges import ITEM, NumberList, ThreadList, ThreadSpec, is_thread_spec, parse_thread_spec
from rocdbg.cli.settings.setting_value_kinds import ValueKind, split_word
from rocdbg.cli.text_columns import render
from rocdbg.debugger.base.digits import decimal
from rocdbg.debugger.base.errors import FocusError
from rocdbg.debugger.base.patterns import Syntax, compile_pattern
from rocdbg.debugger.reports.across_lanes import Sample
from rocdbg.debugger.reports.session_tables import LaneRow, LaneState, ThreadRow
from rocdbg.debugger.values.value_storage import AbsentError
from rocdbg.errors import Error

if TYPE_CHECKING:
    from rocdbg.cli.shell import Shell

RUNNING = Category.RUNNING
STATUS = Category.STATUS
_NEGATIVE = re.compile(r"-\d+")
_ALL = re.compile(r"all(?!\S)")
NAMES = re.compile(r"(?<![\w.>$])[A-Za-z_]\w*(?!\w*\s*\()")
"""Names in an expression that may be variables: no members, no functions that are called."""


class Grouping(ValueKind, frozen=True):
    """``line``, or ``value`` and an expression: the rest of the line."""

    @property
    def metasyntax(self) -> str:
        return "line|value EXPRESSION"

    @property
    def words(self) -> tuple[str, ...]:
        return ("line", "value")

    def take(self, option: str, text: str, delimited: bool) -> tuple[str, str]:
        """Return ``line`` or the expression, and the text after it."""
        word, rest = split_word(text)
        if word == "line":
            return word, rest
        if word == "value" and rest:
            return rest, ""
        raise CommandError(f'{option} must be followed by "line", or by "value" and an expression.')


GROUPING = Grouping()


class Which(enum.Enum):
    """The lanes of a wave to which a command applies; a list of lanes is restricted to them."""

    USED = "active or inactive"
    ALL = "all"
    ACTIVE = "active"
    INACTIVE = "inactive"


def _which(name: str, help_: str, value: Which) -> Option:
    return Option(name, help_, key="which", value=value, default=Which.USED, gives="Which")


LANE_OPTIONS = (
    _which("-all", "Include the unused lanes of a partial wave.", Which.ALL),
    _which("-active", "Select only active lanes.", Which.ACTIVE),
    _which("-inactive", "Select only inactive lanes.", Which.INACTIVE),
)


def _one_thread(shell: Shell, text: str) -> ThreadSpec:
    if not is_thread_spec(text) or "*" in text or "-" in text:
        raise CommandError(f"Invalid thread ID: {text}")
    return parse_thread_spec(text)


def _threads_extent(text: str) -> int:
    """The leading items of a thread list, or ``all``."""
    if _ALL.match(text):
        return len("all")
    extent = words_while(is_thread_spec)(text)
    if not extent:
        raise CommandError(f"Invalid thread ID: {text}")
    return extent


def _lanes_extent(text: str) -> int:
    """The leading items of a list of lanes, or ``all``."""
    if _ALL.match(text):
        return len("all")
    if _NEGATIVE.fullmatch(text.split()[0]):
        raise CommandError("negative value")
    return words_while(ITEM.match)(text)


THREAD = Kind("N|N:LANE", "ThreadSpec", _one_thread, completes=Completes.THREAD)
FOUND = text_of("REGEXP|EXPRESSION", Completes.EXPRESSION)
THREADS_OR_ALL = Kind(
    "ID...|all", "ThreadList", lambda shell, text: ThreadList.parse(text), _threads_extent, Completes.THREAD, ("all",)
)
LANES_OR_ALL = Kind(
    "ID...|all", "NumberList", lambda shell, text: None if text == "all" else NumberList.parse(text), _lanes_extent,
    words=("all",),
)


def need_threads(shell: Shell) -> None:
    """`Shell.need_threads`, as a precondition."""
    shell.need_threads()


# -- threads


@command("thread", category=RUNNING, aliases=("t",), args=Arguments(optional("spec", THREAD)))
def thread(shell: Shell, spec: ThreadSpec | None) -> None:
    """Use this command to switch between threads.

    Threads are waves. N:LANE selects a lane of thread N. Without an argument, the current thread is shown.
    """
    session = shell.session
    if spec is None:
        if session.host.focused:
            shell.write(thread_text(session.host, session.host.execute("thread")))
            return
        if session.focus.current.thread is None:
            raise FocusError("No thread selected")
        number = session.focus.current.thread
        shell.line(f"[Current thread is {number} ({session.inferior.wave(number).target_id})]")
        return
    lane = decimal(spec.lanes) if spec.lanes is not None else None
    if not decimal(spec.threads):
        raise FocusError(f"Invalid thread ID: {spec.threads}")
    said = session.host.select_thread(decimal(spec.threads)) if lane is None else None
    if said is not None:
        shell.write(thread_text(session.host, said))
        return
    session.focus.select_thread(decimal(spec.threads), lane)
    show_focus(shell)


def show_focus(shell: Shell) -> None:
    """The output of a switch: the new focus, its frame and line."""
    session = shell.session
    shell.line(switching(shell, session.focus.current))
    for warning in session.warnings.take():
        shell.warn(warning)
    if session.inferior.wave(session.focus.current.thread or 0).used_lanes >> (session.focus.current.lane or 0) & 1:
        show_frame(shell, session.focus.frame())


@command(
    "info threads", category=STATUS,
    args=Arguments(Option("-gid", "Show global thread IDs.", key="global_ids"), optional("ids", THREADS)),
)
def info_threads(shell: Shell, global_ids: bool, ids: ThreadList | None) -> None:
    """Display currently known threads.

    Threads are waves.

    With numbers or ranges, only these are shown.
    """
    rows = list(shell.session.tables.threads())
    of_host = shell.session.host.threads()
    if ids is not None:
        rows = [row for row in rows if ids.of_thread(row.number)]
        of_host = [row for row in of_host if ids.of_thread(row[0])]
        if not rows and not of_host:
            shell.line(f"No threads match '{ids.text}'.")
            return
    if not rows and not of_host:
        shell.line("No threads.")
        return
    ids_of = 2 if global_ids else 1  # with one inferior a thread's number is its global one too
    shown = [(row.number, row.current, _thread_id(row), frame_text(shell, row.frame)) for row in rows]
    shown += [(number, current, f'{row.title} "{row.name}"', row.frame) for number, current, row in of_host]
    shown.sort(key=lambda row: row[0])
    cells = [(*[str(number)] * ids_of, *texts) for number, _, *texts in shown]
    head = ("Id", *["GId "] * (ids_of - 1), "Target Id", "Frame ")
    shell.write(render(head, cells, [current for _, current, *_ in shown]))
    if shell.session.focus.current.thread is None and not shell.session.host.focused:
        shell.line("\nNo selected thread.  See `help thread'.")


def _thread_id(row: ThreadRow) -> str:
    return f'{row.target_id} "{row.name or wave_name(row.kernel)}"'


@command(
    "thread find", category=RUNNING, args=Arguments(required("text", FOUND, "Command requires an argument."))
)
def thread_find(shell: Shell, text: str) -> None:
    """Find threads that match a regular expression.

    Threads and lanes are found by their name or target ID.

    A text with a comparison or logical operator (== != < > <= >= && ||), or one that begins with ! or $, is treated as
    an expression instead: the lanes of all waves for which it is true are found.
    """
    session = shell.session
    found = False
    if is_condition(text):
        for row in session.tables.threads():
            found = _condition_holds(shell, row.number, text, f"Thread {row.number}, ") or found
        if not found:
            shell.line(f"No threads match '{text}'")
        return
    pattern = compile_pattern(text, syntax=Syntax.EMACS)
    for row in session.tables.threads():
        if row.name and pattern.search(row.name):
            shell.line(f"Thread {row.number} has name '{row.name}'")
            found = True
        if pattern.search(row.target_id):
            shell.line(f"Thread {row.number} has target id '{row.target_id}'")
            found = True
        for lane in session.tables.lanes(row.number):
            found = (
                _match_lane(shell, lane, pattern.search, f"Thread {row.number}, lane {lane.lane}") or found
            )
    if not found:
        shell.line(f"No threads match '{pattern.pattern}'")


def _condition_holds(shell: Shell, thread: int, text: str, lead: str) -> bool:
    """Print for which active lanes of a wave an expression is true; returns whether there are any.

    Raises `rocdbg.Error` if no lane of the current wave can evaluate it. For other waves, this is no error, because
    they may be elsewhere in the code.
    """
    session = shell.session
    try:
        mask = session.across.lanes_where(text, thread)
    except AbsentError as error:
        if thread == session.focus.current.thread:
            raise CommandError(_with_names(shell, text, error)) from None
        return False
    except Error:
        if thread == session.focus.current.thread:
            raise
        return False
    if mask:
        total = session.inferior.active_lanes(thread).bit_count()
        who = lanes_phrase(mask).removeprefix("with ")
        who = who if lead else who.capitalize()
        shell.line(f"{lead}{who}: {text} ({mask.bit_count()} of {total} active)")
    return bool(mask)


def _with_names(shell: Shell, text: str, error: AbsentError) -> str:
    """Return the reason why an expression has no value, with the names of its variables that have none."""
    names: list[str] = []
    for name in dict.fromkeys(NAMES.findall(text)):
        try:
            absence = shell.session.data.evaluate(name).absence
        except Error:
            continue
        if absence is error.absence:
            names.append(name)
    return f"{', '.join(names)}: {error}" if names else str(error)


def _match_lane(shell: Shell, lane: LaneRow, matches: object, title: str) -> bool:
    assert callable(matches)
    found = False
    if lane.state is LaneState.UNUSED:
        return False
    if lane.name and matches(lane.name):
        shell.line(f"{title} has name '{lane.name}'")
        found = True
    if matches(lane.target_id):
        shell.line(f"{title} has target id '{lane.target_id}'")
        found = True
    return found


@command("thread name", category=RUNNING, needs=need_threads, args=Arguments(optional("name", NAME, "")))
def thread_name(shell: Shell, name: str) -> None:
    """Set the current thread's name.

    Without an argument, the name is removed.
    """
    shell.session.focus.name_thread(name)


@command(
    "thread apply", category=RUNNING, repeat=Repeat.NEVER,
    args=Arguments(
        required("ids", THREADS_OR_ALL, "Please specify a thread ID list"), Option("-ascending"), APPLY_OPTIONS,
        optional("line", COMMAND, ""), has_table=False,
    ),
)
def thread_apply(shell: Shell, ids: ThreadList, ascending: bool, flags: Flags, line: str) -> None:
    """Apply a command to a list of threads.

    N:LANE applies it to lanes of threads (2:*, 1-3:0).

    "all" starts with the newest thread, with -ascending with the oldest. -q: no headings; -c: continue after an error;
    -s: as -c, but errors and empty results are not shown.
    """
    if not line and ids.text == "all":
        raise CommandError("Please specify a command at the end of 'thread apply all'")
    if not line:
        raise CommandError("Please specify a command following the thread ID list")
    session = shell.session
    rows = list(session.tables.threads())
    if ids.text == "all" and not ascending:
        rows.reverse()  # as GDB: the newest first
    for spec in ids.specs:
        if spec.threads.isdigit() and not any(spec.picks_thread(row.number) for row in rows):
            shell.warn(f"Unknown thread {spec.threads}")
    for row in rows:
        chosen = ids.of_thread(row.number)
        if not chosen:
            continue
        if all(spec.lanes is None for spec in chosen):
            there = shell.at(session.focus.current)
            there.session.focus.select_thread(row.number)
            session.warnings.take()  # the command reports it again if it matters
            run_for(there, f"\nThread {row.number} ({row.target_id}):", line, flags)
            continue
        for lane in session.tables.lanes(row.number):
            if lane.state is LaneState.UNUSED or not any(spec.picks_lane(lane.lane) for spec in chosen):
                continue
            there = shell.at(session.focus.current)
            there.session.focus.select_thread(row.number, lane.lane)
            session.warnings.take()
            run_for(there, f"\nThread {row.number}, lane {lane.lane} ({lane.target_id}):", line, flags)


ALL_THREADS = Arguments(Option("-ascending"), APPLY_OPTIONS, optional("line", COMMAND, ""), has_table=False)


@command("thread apply all", category=RUNNING, repeat=Repeat.NEVER, args=ALL_THREADS)
def thread_apply_all(shell: Shell, ascending: bool, flags: Flags, line: str) -> None:
    """Apply a command to all threads.

    The newest thread comes first, with -ascending the oldest. -q: no headings; -c: continue after an error; -s: as -c,
    but errors and empty results are not shown.
    """
    thread_apply(shell, ThreadList.parse("all"), ascending, flags, line)


# -- lanes


def _lane_number(shell: Shell, text: str) -> int:
    """Return a lane's number. A position such as ``1,0,0`` is refused: as an expression, it would have the value of its
    last part.
    """
    inside = text.strip().strip("()[] ")
    if text.strip()[:1] in "([" and "," in inside and not any(mark in inside for mark in "()[]{}\"'"):
        raise CommandError(
            f'A lane is selected by its number. Use "workitem {inside}" to select a work-item by its position.'
        )
    return shell.session.data.integer(text)


LANE_NUMBER = structs.replace(LANE, read=_lane_number)


@command("lane", category=RUNNING, needs=need_threads, args=Arguments(optional("number", LANE_NUMBER)))
def lane_(shell: Shell, number: int | None) -> None:
    """Use this command to switch between lanes of the current wave.

    Without an argument, the current lane is shown.
    """
    session = shell.session
    if number is not None:
        session.focus.select_lane(number)
        show_focus(shell)
        return
    scope = session.focus.current
    if scope.thread is None or scope.lane is None:
        raise FocusError("No lane selected")
    shell.line(f"[Current lane is {scope.lane} ({session.inferior.wave(scope.thread).lane_target_id(scope.lane)})]")


@command("iteration", category=RUNNING, needs=need_threads, args=Arguments(optional("number", INTEGER)))
def iteration(shell: Shell, number: int | None) -> None:
    """Use this command to switch between the loop iterations that execute together (vectorised or pipelined loops).

    Without an argument, the current iteration is shown.
    """
    session = shell.session
    if number is not None:
        session.focus.select_iteration(number)
        shell.line(f"[Switching to iteration {session.focus.current.iteration} of {session.focus.iteration_count()}]")
        show_frame(shell, session.focus.frame())
        return
    shell.line(f"[Current iteration is {session.focus.current.iteration} of {session.focus.iteration_count()}]")


def _pick(rows: list[LaneRow], which: Which) -> list[LaneRow]:
    if which is Which.ACTIVE:
        return [row for row in rows if row.state is LaneState.ACTIVE]
    if which is Which.INACTIVE:
        return [row for row in rows if row.state is LaneState.INACTIVE]
    if which is Which.ALL:
        return rows
    return [row for row in rows if row.state is not LaneState.UNUSED]


def _lane_frames(shell: Shell, rows: list[LaneRow]) -> list[str]:
    """The last column."""
    located = [row.frame for row in rows if row.frame is not None and row.is_located]
    texts = iter(frame_texts(shell, located))
    return [
        "(unused)" if row.frame is None else next(texts) if row.is_located
        else "(lane position unknown)" if row.is_unknown else "(inactive)"
        for row in rows
    ]


@command(
    "info lanes", category=STATUS, needs=need_threads,
    args=Arguments(
        optional("ids", IDS), *LANE_OPTIONS, Option(
            "-group-by", "Group the lanes that are at the same line, or for which an expression has the same value.",
            kind=GROUPING, key="grouping", default="", gives="str",
        ), unknown=Unknown.ERROR,
    ),
    usage="info lanes [ID...] [-all|-active|-inactive] [-group-by line] [-group-by value EXPRESSION]",
)
def info_lanes(shell: Shell, ids: NumberList | None, which: Which, grouping: str) -> None:
    """Display the lanes of the current wave.

    Without options, active (A) and inactive (I) lanes are shown; -all also shows the unused lanes (U) of a partial
    wave. The position of an inactive lane comes from debug information (DW_AT_LLVM_lane_pc), otherwise from analysis of
    the machine code (see `set lane-pc-synthesis').
    """
    rows = _pick(list(shell.session.tables.lanes()), which)
    if ids is not None:
        rows = [row for row in rows if row.lane in ids.numbers]
    if not rows:
        shell.line(f"No lanes match '{ids.text}'." if ids is not None else "No lanes.")
        return
    if grouping:
        _grouped(shell, rows, grouping)
        return
    cells = [
        (
            str(row.lane),
            row.state.value,
            row.target_id + (f' "{row.name}"' if row.name else ""),
            frame,
        )
        for row, frame in zip(rows, _lane_frames(shell, rows), strict=True)
    ]
    shell.write(render(("Id", "State", "Target Id", "Frame "), cells, [row.current for row in rows]))
    if any(row.synthesised for row in rows):
        shell.line("Positions of inactive lanes are synthesised from machine code.")


def _grouped(shell: Shell, rows: list[LaneRow], grouping: str) -> None:
    """The lanes of the rows by line, or by the value of an expression."""
    session = shell.session
    if grouping == "line":
        samples = [
            Sample(row.lane, str(row.lane), _line_text(shell, row), None, row.state is LaneState.ACTIVE) for row in rows
        ]
        write_groups(shell, "Line", samples)
        return
    wanted = {row.lane for row in rows}
    values = session.across.lanes(grouping, session.data.format_in)
    write_groups(shell, "Value", [sample for sample in values if sample.number in wanted])


def _line_text(shell: Shell, row: LaneRow) -> str:
    """The position of a lane: function, file and line."""
    frame = row.frame
    if frame is None or not row.is_located:
        return "(unused)" if frame is None else "(inactive)"
    where = f" at {frame.file.name}:{frame.line}" if frame.file is not None and frame.line is not None else ""
    return f"{frame.name or '??'}{where}"


@command(
    "lane apply", category=RUNNING, repeat=Repeat.NEVER, needs=need_threads,
    args=Arguments(
        optional("ids", LANES_OR_ALL), *LANE_OPTIONS, APPLY_OPTIONS,
        required("line", COMMAND, "Please specify a command at the end of 'lane apply'"), has_table=False,
    ),
)
def lane_apply(shell: Shell, ids: NumberList | None, which: Which, flags: Flags, line: str) -> None:
    """Apply a command to lanes of the current wave.

    -active, -inactive: only those; -all: unused lanes too. -q: no headings; -c: continue after an error;
    -s: as -c, but errors and empty results are not shown.
    """
    session = shell.session
    every = list(session.tables.lanes())
    rows = _pick(every, which)
    if ids is not None:
        for lane in ids.numbers:
            if lane >= len(every):
                shell.warn(f"Lane {lane} does not exist on this thread.")
        by_number = {row.lane: row for row in rows}
        rows = [by_number[lane] for lane in ids.numbers if lane in by_number]
    for row in rows:
        there = shell.at(session.focus.current)
        there.session.focus.select_lane(row.lane)
        session.warnings.take()  # an inactive lane among many is expected
        run_for(there, f"\nLane {row.lane} ({row.target_id}):", line, flags)


@command(
    "lane find", category=RUNNING, needs=need_threads,
    args=Arguments(required("text", FOUND, "lane find: Argument required")),
)
def lane_find(shell: Shell, text: str) -> None:
    """Find lanes of the current wave that match a regular expression in their name or target ID.

    A text with a comparison or logical operator (== != < > <= >= && ||), or one that begins with ! or $, is treated as
    an expression instead: the active lanes for which it is true are found.
    """
    if is_condition(text):
        thread = shell.session.focus.need_running().thread
        assert thread is not None
        if not _condition_holds(shell, thread, text, ""):
            shell.line(f"No lanes match '{text}'")
        return
    pattern = compile_pattern(text, syntax=Syntax.EMACS)
    found = False
    for row in shell.session.tables.lanes():
        found = _match_lane(shell, row, pattern.search, f"Lane {row.lane}") or found
    if not found:
        shell.line(f"No lanes match '{pattern.pattern}'")


@command("lane name", category=RUNNING, needs=need_threads, args=Arguments(optional("name", NAME, "")))
def lane_name(shell: Shell, name: str) -> None:
    """Set the current lane's name; without an argument, remove it."""
    shell.session.focus.name_lane(name)
