"""How running lines stands."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from msgspec import Struct, field

from rocdbg.cli.script import Statement

if TYPE_CHECKING:
    from rocdbg.cli.listing import Listing
    from rocdbg.cli.registry import CommandSpec
    from rocdbg.debugger.values.value import Value


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
    next_display: int = 1
    """The number of the next `display`."""
    next_examine: Value | None = None
    """Where `x` without an address goes on."""
    last_listed: Listing | None = None
    """What `list` showed last; ``None`` after a stop."""
    last_searched: re.Pattern[str] | None = None
    """What `search` looked for last."""
    last_hit: int | None = None
    """The breakpoint that the program stopped at."""
