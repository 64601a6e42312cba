"""The state of running lines."""

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
    """The state of running lines; there is one for each shell, regardless of the focus of its commands."""

    interrupted: bool = False
    """Whether Ctrl-C has stopped the program since the last typed line; if so, loops end."""
    arguments: list[list[str]] = field(default_factory=list)
    """The arguments (``$arg0``...) of the running user-defined commands."""
    last: tuple[CommandSpec, str] | None = None
    """The command that an empty line repeats."""
    previous: tuple[CommandSpec, str] | None = None
    """The command that was typed before ``last``."""
    source_depth: int = 0
    """How many command files are being read."""
    queue: Iterator[Statement] = field(default_factory=lambda: iter(()))
    """The remaining `commands` of the last stop."""
    draining: bool = False
    """Whether the `commands` in ``queue`` are running."""
    loops: int = 0
    """How many `while` blocks are running, for `loop_break`."""
    depth: int = 0
    """How many blocks and user-defined commands are running, for tracing."""
    verbose: bool = False
    """Whether a file is read with `source -v`."""
    hooks_running: list[tuple[str, ...]] = field(default_factory=list)
    """The commands whose hooks are running."""
    after_hooks: list[tuple[str, ...] | None] = field(default_factory=list)
    """The running commands whose hookposts still have to run, the innermost last."""
    batch: bool = False
    """Whether commands were given with `-batch`: messages for a user at a prompt are omitted."""
    typed: deque[str] = field(default_factory=lambda: deque(maxlen=MAX_TYPED))
    """The latest lines typed at a prompt, for `show commands`."""
    typed_before: int = 0
    """How many lines were typed before those in ``typed``."""
    next_command: int = 1
    """The number of the first line that `show commands +` shows."""
    next_shown: int = 1
    """The number of the first value that `show values +` shows."""
    operands_shown: dict[str, tuple[Value, bool]] = field(default_factory=dict)
    """The registers that `info operands` last showed: their contents, and whether the instruction writes them."""
    register_changes: RegisterChanges = field(default_factory=RegisterChanges)
    """With `set register-changes on`: the registers of waves at their last two stops."""
    operands_of: tuple[int, int | None] | None = None
    """The target and wave of the registers in ``operands_shown``."""
    next_examine: Value | None = None
    """Where `x` without an address continues."""
    examine_count: int = 0
    """How many objects the last ``x`` showed."""
    last_searched: Pattern | None = None
    """The last pattern of `search`."""
    language_warned: bool = False
    """Whether the user was warned that the language is not the frame's."""
    stopped_inside: bool = False
    """Whether a stop in a function called by an expression is being shown."""
    last_hits: tuple[int, ...] = ()
    """The breakpoints at which the program stopped."""

    def remember(self, line: str) -> None:
        """Count a line that was typed at a prompt, unless it is empty."""
        if line.strip():
            self.typed_before += len(self.typed) == MAX_TYPED
            self.typed.append(line)
