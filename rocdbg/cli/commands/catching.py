"""Commands that set catchpoints: catch and tcatch, with the events they catch."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from msgspec import Struct

from rocdbg.cli.arguments import Arguments, Kind, optional
from rocdbg.cli.command_registry import Category, CommandError, command
from rocdbg.debugger.base.patterns import compile_pattern
from rocdbg.debugger.breakpoints.catcher import check_trap
from rocdbg.debugger.breakpoints.catchpoints import Event
from rocdbg.debugger.target.capabilities.runnable import EXCEPTIONS

if TYPE_CHECKING:
    from rocdbg.cli.shell import Shell

BREAKPOINTS = Category.BREAKPOINTS


class Wanted(Struct, frozen=True):
    """The arguments of `catch`: whether it catches beginnings or ends, the event's argument, and the condition."""

    when: tuple[str, ...] = ()
    argument: str = ""
    condition: str | None = None


_IF = re.compile(r"\bif(?=[\s(]|$)")
_WHEN = re.compile(r"(begin|end)(?=\s|$)\s*")


def _arguments(event: Event) -> Arguments:
    def read(shell: Shell, text: str) -> Wanted:
        condition: str | None = None
        when: tuple[str, ...] = ()
        found = _IF.search(text)
        if found is not None:
            text, condition = text[: found.start()].rstrip(), text[found.end() :].strip()
            if not condition:
                raise CommandError("Argument required (expression to compute).")
        if event.has_ends and (match := _WHEN.match(text)) is not None:
            when, text = (match[1],), text[match.end() :]
        return Wanted(when, _checked(event, text), condition)

    which = {
        Event.DISPATCH: "[begin|end] [REGEXP]", Event.EXCEPTION: "[KIND]", Event.TRAP: "[ID]", Event.LOAD: "[REGEXP]",
        Event.UNLOAD: "[REGEXP]", Event.SENDMSG: "",
    }.get(event, "[begin|end]")
    return Arguments(optional("wanted", Kind(f"{which} [if CONDITION]".strip(), "Wanted", read), Wanted()))


def _checked(event: Event, text: str) -> str:
    """The validated argument of an event."""
    if not text:
        return ""
    if event in (Event.DISPATCH, Event.LOAD, Event.UNLOAD):
        compile_pattern(text)
        return text
    if event is Event.TRAP:
        return check_trap(text)
    if event is Event.EXCEPTION:
        if text not in EXCEPTIONS:
            raise CommandError(f"Unknown exception '{text}': it is one of {', '.join(EXCEPTIONS)}.")
        return text
    raise CommandError("Junk at end of arguments.")


def _set(shell: Shell, event: Event, wanted: Wanted, temporary: bool = False) -> None:
    made = shell.session.catch(
        event, wanted.when, wanted.argument, temporary=temporary, condition=wanted.condition
    )
    shell.line(f"Catchpoint {made.number} ({made.title})")


@command("catch dispatch", category=BREAKPOINTS, args=_arguments(Event.DISPATCH))
def catch_dispatch(shell: Shell, wanted: Wanted) -> None:
    """Catch the beginning and the end of dispatches.

    "begin" stops before the first instruction of the first wave, "end" before the s_endpgm of the last wave, when all
    other waves have ended. With REGEXP, only dispatches of kernels whose names match are caught.
    """
    _set(shell, Event.DISPATCH, wanted)


@command("catch workgroup", category=BREAKPOINTS, args=_arguments(Event.WORKGROUP))
def catch_workgroup(shell: Shell, wanted: Wanted) -> None:
    """Catch the beginning and the end of workgroups.

    "begin" stops before the first instruction of the first wave that runs, "end" before the s_endpgm of the last wave.
    """
    _set(shell, Event.WORKGROUP, wanted)


@command("catch wave", category=BREAKPOINTS, args=_arguments(Event.WAVE))
def catch_wave(shell: Shell, wanted: Wanted) -> None:
    """Catch the beginning and the end of waves: before their first instruction, and before their s_endpgm.

    A condition is evaluated for each active lane, or for all lanes of a wave that ends without an active lane.
    """
    _set(shell, Event.WAVE, wanted)


@command("catch exception", category=BREAKPOINTS, args=_arguments(Event.EXCEPTION))
def catch_exception(shell: Shell, wanted: Wanted) -> None:
    """Catch exceptions.

    KIND is memory-violation, aperture-violation, illegal-instruction, unsupported-instruction, internal-error, abort,
    or an arithmetic exception that the kernel has enabled: invalid, denormal, divide-by-zero, overflow, underflow,
    inexact, integer-divide-by-zero. An exception without a catchpoint stops the program with a signal.
    """
    _set(shell, Event.EXCEPTION, wanted)


@command("catch sendmsg", category=BREAKPOINTS, args=_arguments(Event.SENDMSG))
def catch_sendmsg(shell: Shell, wanted: Wanted) -> None:
    """Catch messages: waves that are about to execute s_sendmsg or one of its variants."""
    _set(shell, Event.SENDMSG, wanted)


@command("catch trap", category=BREAKPOINTS, args=_arguments(Event.TRAP))
def catch_trap(shell: Shell, wanted: Wanted) -> None:
    """Catch traps: waves that have executed s_trap; with ID, only traps of that number."""
    _set(shell, Event.TRAP, wanted)


@command("catch load", category=BREAKPOINTS, args=_arguments(Event.LOAD))
def catch_load(shell: Shell, wanted: Wanted) -> None:
    """Catch loads of code objects.

    The code objects of a kernel are loaded when it is started, before its first instruction; a whole program may load
    its own at any time. With REGEXP, only code objects whose URI (see "info sharedlibrary") matches are caught.
    """
    _set(shell, Event.LOAD, wanted)


@command("catch unload", category=BREAKPOINTS, args=_arguments(Event.UNLOAD))
def catch_unload(shell: Shell, wanted: Wanted) -> None:
    """Catch unloads of code objects.

    A kernel keeps its code objects until it ends; a whole program may unload them at any time.
    """
    _set(shell, Event.UNLOAD, wanted)


def _temporary(event: Event, like: Callable[[Shell, Wanted], None]) -> Callable[[Shell, Wanted], None]:
    """``tcatch`` for an event, with the text of ``catch``."""

    def tcatch(shell: Shell, wanted: Wanted) -> None:
        _set(shell, event, wanted, temporary=True)

    summary, _, details = inspect.cleandoc(like.__doc__ or "").partition("\n")
    tcatch.__doc__ = f"{summary}\n\nThe catchpoint is deleted when it stops the program.\n{details}"
    return command(f"tcatch {event.value}", category=BREAKPOINTS, args=_arguments(event))(tcatch)


tcatch_dispatch = _temporary(Event.DISPATCH, catch_dispatch)
tcatch_workgroup = _temporary(Event.WORKGROUP, catch_workgroup)
tcatch_wave = _temporary(Event.WAVE, catch_wave)
tcatch_exception = _temporary(Event.EXCEPTION, catch_exception)
tcatch_sendmsg = _temporary(Event.SENDMSG, catch_sendmsg)
tcatch_trap = _temporary(Event.TRAP, catch_trap)
tcatch_load = _temporary(Event.LOAD, catch_load)
tcatch_unload = _temporary(Event.UNLOAD, catch_unload)
