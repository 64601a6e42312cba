"""How running lines stands."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import TYPE_CHECKING

from msgspec import Struct, field

from rocdbg.cli.script import Statement
from rocdbg.debugger.base.patterns import Pattern
from rocdbg.debugger.reports.register_changes import RegisterChanges

if TYPE_CHECKING:
    from rocdbg.cli.command_registry import CommandSpec
    from rocdbg.debugger.values.value import Value


MAX_TYPED = 10_000


class ShellState(Struct):
    """How running lines stands; one for a shell, from whatever focus its commands look."""

    interrupted: bool = False
    """Whether Ctrl-C stopped the program since the last typed line; loops end then."""
    arguments: list[list[str]] = field(default_factory=list)
    """``$arg0``... of the user-defined commands under way."""
    last: tuple[CommandSpec, str] | None = None
    """What an empty line repeats."""
    previous: tuple[CommandSpec, str] | None = None
    """The typed command before that."""
    source_depth: int = 0
    """Files of commands under way."""
    queue: Iterator[Statement] = field(default_factory=lambda: iter(()))
    """What is left of the `commands` of the last stop."""
    draining: bool = False
    """Whether those are under way."""
    loops: int = 0
    """`while` blocks under way, for `loop_break`."""
    depth: int = 0
    """Blocks and user-defined commands under way, for tracing."""
    verbose: bool = False
    """Whether a file is read with `source -v`."""
    hooks_running: list[tuple[str, ...]] = field(default_factory=list)
    """Commands whose hook is under way."""
    after_hooks: list[tuple[str, ...] | None] = field(default_factory=list)
    """The commands under way whose hook behind them is still to run, the innermost last."""
    batch: bool = False
    """Whether commands were given with `-batch`: what is said to a user at a prompt is not said."""
    typed: deque[str] = field(default_factory=lambda: deque(maxlen=MAX_TYPED))
    """The last lines typed at a prompt, for `show commands`."""
    typed_before: int = 0
    """How many lines were typed before those."""
    next_command: int = 1
    """The first line that `show commands +` shows."""
    next_shown: int = 1
    """The first value that `show values +` shows."""
    operands_shown: dict[str, tuple[Value, bool]] = field(default_factory=dict)
    """The registers that `info operands` showed last: their contents, and whether the instruction writes them."""
    register_changes: RegisterChanges = field(default_factory=RegisterChanges)
    """With `set register-changes on`: the registers of waves at their last two stops."""
    operands_of: tuple[int, int | None] | None = None
    """Of which target and wave."""
    next_examine: Value | None = None
    """Where `x` without an address goes on."""
    examine_count: int = 0
    """How many objects the last ``x`` showed."""
    last_searched: Pattern | None = None
    """What `search` looked for last."""
    language_warned: bool = False
    """Whether it was said that the language is not the frame's."""
    stopped_inside: bool = False
    """Whether a stop is being shown that a function called by an expression has made."""
    last_hits: tuple[int, ...] = ()
    """The breakpoints that the program stopped at."""

    def remember(self, line: str) -> None:
        """Count a line that was typed at a prompt; an empty one is none."""
        if line.strip():
            self.typed_before += len(self.typed) == MAX_TYPED
            self.typed.append(line)
