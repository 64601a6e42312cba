"""Commands about watchpoints: watch, rwatch, awatch, info watchpoints."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec import Struct

from rocdbg.cli.argument_kinds import NUMBERS
from rocdbg.cli.arguments import Arguments, Kind, optional
from rocdbg.cli.command_registry import Category, CommandError, Completes, command
from rocdbg.cli.commands.breakpoint_tables import show_breakpoints
from rocdbg.cli.number_ranges import NumberList
from rocdbg.debugger.base.digits import decimal
from rocdbg.debugger.breakpoints.watchpoints import Watchpoint

if TYPE_CHECKING:
    from rocdbg.cli.shell import Shell


class Wanted(Struct, frozen=True):
    """The arguments of `watch`."""

    expression: str = ""
    location: bool = False
    every_lane: bool = False
    condition: str | None = None
    thread: int | None = None
    lane: int | None = None
    mask: str | None = None


_OPTION = re.compile(r"\s*(-location|-l|-lanes)(?=\s|$)")
_IF = re.compile(r"\bif(?=[\s(]|$)")
_THREAD = re.compile(r"\s+thread\s+(\S+)\s*$")
_TASK = re.compile(r"\s+task\s+(\S+)\s*$")
_MASK = re.compile(r"\s+mask\s+(\S+)\s*$")


def _wanted(shell: Shell, text: str) -> Wanted:
    """``-l x thread 1:5 if x > 3``; a mask and a thread follow the expression, the condition is last."""
    location = every_lane = False
    while (option := _OPTION.match(text)) is not None:
        text = text[option.end() :]
        every_lane |= option[1] == "-lanes"
        location |= option[1] != "-lanes"
    condition = thread = lane = mask = None
    found = _IF.search(text)
    if found is not None:
        text, condition = text[: found.start()], text[found.end() :].strip()
        if not condition:
            raise CommandError("Argument required (expression to compute).")
    while True:
        if (match := _THREAD.search(text)) is not None:
            number, _, part = match[1].partition(":")
            if not number.isdecimal() or (part and not part.isdecimal()):
                raise CommandError(f"Invalid thread ID: {match[1]}")
            thread, lane = decimal(number), decimal(part) if part else None
        elif (match := _TASK.search(text)) is not None:
            running = shell.session.inferior.running
            raise CommandError(
                f"Unknown task {match[1]}." if running else "Cannot inspect Ada tasks when program is not running"
            )
        elif (match := _MASK.search(text)) is not None:
            mask = match[1]
        else:
            break
        text = text[: match.start()]
    return Wanted(text.strip(), location, every_lane, condition, thread, lane, mask)


WATCHED = Arguments(
    optional(
        "wanted",
        Kind("[-location|-l] [-lanes] EXPRESSION [mask M] [thread N[:LANE]] [if CONDITION]", "Wanted", _wanted,
             completes=Completes.EXPRESSION, words=("-lanes", "-location")),
        Wanted(),
    ),
)


@command("watch", category=Category.BREAKPOINTS, args=WATCHED)
def watch(shell: Shell, wanted: Wanted) -> None:
    """Set a watchpoint for EXPRESSION.

    The program stops when its value changes.

    The engine watches memory of any kind (global, LDS, private) that EXPRESSION reads: it detects stores and atomics of
    all waves, and runs at nearly full speed. Registers that EXPRESSION reads are compared by native code. A watchpoint
    on variables of a frame is deleted when the frame is left. "-location" watches the memory where EXPRESSION is now,
    "-lanes" watches EXPRESSION in each lane of the wave, and "mask M" watches all memory whose address agrees with that
    of EXPRESSION in the bits set in M.
    """
    _set(shell, wanted, "write")


@command("rwatch", category=Category.BREAKPOINTS, args=WATCHED)
def rwatch(shell: Shell, wanted: Wanted) -> None:
    """Set a read watchpoint for EXPRESSION.

    The program stops when its memory is read. See "watch".
    """
    _set(shell, wanted, "read")


@command("awatch", category=Category.BREAKPOINTS, args=WATCHED)
def awatch(shell: Shell, wanted: Wanted) -> None:
    """Set an access watchpoint for EXPRESSION.

    The program stops when its memory is read or written. See "watch".
    """
    _set(shell, wanted, "access")


def _set(shell: Shell, wanted: Wanted, access: str) -> None:
    if not wanted.expression:
        raise CommandError("Argument required (expression to compute).")
    shell.session.focus.check_exists(wanted.thread, wanted.lane)
    made = shell.session.watch(
        wanted.expression, location=wanted.location, every_lane=wanted.every_lane, mask=wanted.mask,
        condition=wanted.condition, thread=wanted.thread, lane=wanted.lane, access=access,
    )
    shell.line(f"{made.title} {made.number}: {made.text}")


@command(
    "info watchpoints", category=Category.STATUS, aliases=("info wat",), args=Arguments(optional("numbers", NUMBERS))
)
def info_watchpoints(shell: Shell, numbers: NumberList | None) -> None:
    """Status of specified watchpoints (all watchpoints if no argument)."""
    rows = [row for row in shell.session.breakpoints if isinstance(row, Watchpoint)]
    if numbers is not None:
        rows = [row for row in rows if row.number in numbers.numbers]
    if not rows:
        shell.line(f"No watchpoint matching '{numbers.text}'." if numbers is not None else "No watchpoints.")
        return
    show_breakpoints(shell, rows)
