"""Tracepoints: what to collect where, and the syntax of their actions."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct

from rocdbg.addresses import LoadedAddress
from rocdbg.debugger.base.digits import decimal
from rocdbg.debugger.base.errors import BreakpointError
from rocdbg.debugger.breakpoints.breakpoint_table import Breakpoint
from rocdbg.debugger.expr.parsing.parser import split_arguments

EVERYTHING = frozenset({"$regs", "$args", "$locals"})
"""The words that `collect` accepts besides expressions."""
STEPPING = ("while-stepping", "stepping", "ws")
_ACTION = re.compile(r"(?P<word>[A-Za-z-]+)(?P<flags>/\w*)?(?:\s+(?P<rest>.*))?", re.DOTALL)


class Action(Struct, frozen=True):
    """An action for each lane: ``collect`` an expression (or ``$regs``, ``$args``, ``$locals``), or evaluate an
    expression (``teval``).
    """

    word: str
    text: str

    @property
    def collects(self) -> bool:
        """Whether the value is collected."""
        return self.word == "collect"


class Tracepoint(Breakpoint):
    """A place where values are collected while a trace experiment runs; ``commands`` are its actions.

    With ``pass_count`` the experiment ends after that many lane arrivals.
    """

    pass_count: int = 0
    installed: bool = False
    """Whether it is part of a running experiment: only then is it checked."""
    actions: tuple[Action, ...] = ()
    """The tracepoint's actions, one for each expression."""

    @property
    def kind(self) -> str:
        """The type that ``info breakpoints`` shows."""
        return "tracepoint"

    @property
    def stops_program(self) -> bool:
        """Always False: it never stops the program."""
        return False

    def addresses(self) -> frozenset[LoadedAddress]:
        """The tracepoint's addresses; none unless an experiment is running."""
        return super().addresses() if self.installed else frozenset()

    def set_actions(self, lines: Sequence[str]) -> None:
        """Replace its actions. Raises `BreakpointError` for an invalid action."""
        actions = tuple(action for line in lines for action in parse_actions(line))
        self.commands, self.actions = list(lines), actions


def parse_actions(line: str) -> list[Action]:
    """Parse ``collect a, b[i]`` into an action for each expression. Raises `BreakpointError` in GDB's words."""
    match = _ACTION.fullmatch(line.strip())
    word = match["word"] if match is not None else line.split()[0]
    known = [name for name in ("collect", "teval", *STEPPING) if name == word or (
        len(word) > 1 and name.startswith(word)
    )]
    if match is None or not known:
        raise BreakpointError(f"`{line.strip()}' is not a supported tracepoint action.")
    if known[0] in STEPPING:
        raise BreakpointError(
            "while-stepping is not supported: set tracepoints at the following instructions too, or go back to a trace "
            "frame with tfind and step from there."
        )
    if match["flags"]:
        raise BreakpointError(f"Undefined collection format \"{match['flags'][1:]}\".")
    items = split_arguments(match["rest"] or "")
    if not items or not all(items):
        raise BreakpointError(f"{known[0]} requires an argument (one or more expressions, separated by commas).")
    return [Action(known[0], item) for item in items]


def parse_pass_count(text: str) -> tuple[int, str]:
    """Parse ``COUNT [N]`` of ``passcount`` into the count and the rest. Raises `BreakpointError`."""
    words = text.split(None, 1)
    if not words:
        raise BreakpointError("passcount command requires an argument (count + optional TP num)")
    if not words[0].isdecimal():
        raise BreakpointError(f"Bad pass count: '{words[0]}'")
    return decimal(words[0]), words[1].strip() if len(words) > 1 else ""
