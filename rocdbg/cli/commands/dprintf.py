"""Commands that print values of lanes without stopping them: dprintf."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocdbg.cli.argument_kinds import text_of
from rocdbg.cli.arguments import Arguments, optional
from rocdbg.cli.command_options import Option
from rocdbg.cli.command_registry import Category, CommandError, Completes, command
from rocdbg.cli.commands.breakpoints import Wanted, note_others, set_breakpoint
from rocdbg.cli.number_words import lane_as_number
from rocdbg.cli.paths import expand
from rocdbg.cli.settings.setting_value_kinds import STRING
from rocdbg.debugger.breakpoints.break_arguments import split_location
from rocdbg.debugger.breakpoints.breakpoint_table import BreakpointLocation
from rocdbg.debugger.breakpoints.dynamic_printf import DynamicPrintf
from rocdbg.debugger.expr.parsing.brackets import at_comma

if TYPE_CHECKING:
    from rocdbg.cli.shell import Shell


@command(
    "dprintf", category=Category.BREAKPOINTS,
    usage='dprintf [-once-per-wave] [-output FILE] LOCATION,"FORMAT",ARG...',
    args=Arguments(
        Option("-once-per-wave", "Print only for the first of the lanes that arrive in a wave."),
        Option("-output", "Write the lines to a file, which is created or replaced.", STRING, default="", gives="str"),
        optional("text", text_of('LOCATION,"FORMAT",ARG...', Completes.CODE), ""),
    ),
)
def dprintf(shell: Shell, text: str, once_per_wave: bool, output: str) -> None:
    """Set a dynamic printf at specified location.

    Whenever lanes arrive at LOCATION, the text is printed for each of them as by "printf", and the program continues.
    LOCATION may be followed by "if CONDITION" and similar, as for "break". Conditions and ignore counts work as for
    breakpoints. If the format or an argument is invalid, the program stops with an error.
    """
    location, _, form = at_comma(text)
    if not form:
        if not text:  # GDB resolves the location first
            note_others(shell, [BreakpointLocation(1, place) for place in shell.session.places.resolve("")])
        raise CommandError("Format string required")
    wanted = Wanted(*split_location(lane_as_number(shell, location)))
    path = expand(output) if output else None
    if path is not None:
        try:
            path.write_text("", encoding="utf-8")
        except OSError as error:
            raise CommandError(f"{path}: {error.strerror}.") from None
    if set_breakpoint(shell, wanted, temporary=False, form=form, once_per_wave=once_per_wave):
        made = shell.session.breakpoints.get(shell.session.breakpoints.last_number)
        assert isinstance(made, DynamicPrintf)
        made.output = str(path) if path is not None else ""
