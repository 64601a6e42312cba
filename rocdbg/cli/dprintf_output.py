"""Output of ``dprintf`` while the program runs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from rocdbg.cli.command_registry import CommandError
from rocdbg.debugger.base.focus import Focus
from rocdbg.debugger.breakpoints.dynamic_printf import Columns, DynamicPrintf, Printed

if TYPE_CHECKING:
    from rocdbg.cli.shell import Shell


def print_dynamically(
    shell: Shell, made: DynamicPrintf, thread: int, lanes: Sequence[int], columns: Columns | None
) -> None:
    """Print the lines of a dprintf for some lanes of a wave.

    Raises a `rocdbg.Error` if the format or an argument is invalid, or if the output file cannot be written.
    """
    from rocdbg.cli.printf import format_columns, format_printf  # imported late: few sessions print

    if columns is None and made.kept is not None:
        columns = _evaluated(shell, made, thread, lanes)
    if columns is not None:
        text = format_columns(shell.session, made.format, columns, len(lanes))
        if made.kept is not None:
            made.kept.append(Printed(thread, tuple(lanes), columns))
    else:
        text = "".join(format_printf(shell.session.at(Focus(thread, lane)), made.format) for lane in lanes)
    if not made.output:
        shell.out.raw(text)
        return
    try:
        with Path(made.output).open("a", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise CommandError(f"{made.output}: {error.strerror}.") from None


def _evaluated(shell: Shell, made: DynamicPrintf, thread: int, lanes: Sequence[int]) -> Columns:
    """Evaluate the arguments in some lanes, at the current position of their wave."""
    values = [
        [shell.session.data.evaluate(text, Focus(thread, lane)) for lane in lanes] for text in made.arguments or ()
    ]
    bits = [[int.from_bytes(value.contents()[:8], "little") for value in row] for row in values]
    shape = np.array(bits, np.uint64).reshape(len(bits), len(lanes))
    return Columns(shape, tuple(row[0].type for row in values))
