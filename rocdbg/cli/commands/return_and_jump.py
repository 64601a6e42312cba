"""Commands that move the program elsewhere: return from a frame, jump to a place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocdbg.cli.argument_kinds import CODE, EXPRESSION
from rocdbg.cli.arguments import Arguments, optional, required
from rocdbg.cli.command_registry import Category, CommandError, Repeat, command
from rocdbg.cli.commands.running import finish_run
from rocdbg.cli.frame_lines import show_frame
from rocdbg.debugger.base.errors import FocusError

if TYPE_CHECKING:
    from rocdbg.cli.shell import Shell

RUNNING = Category.RUNNING


@command(
    "return", category=RUNNING, repeat=Repeat.NEVER,
    args=Arguments(optional("expression", EXPRESSION, "")),
)
def return_(shell: Shell, expression: str) -> None:
    """Make selected stack frame return to its caller.

    All lanes that are in the frame return; the rest of its code is not run. With an expression, each lane returns its
    own value. Control remains in the debugger; returning from a function that the debugger called ends the call.
    """
    session = shell.session
    if session.inferior.target is None or session.focus.current.thread is None:
        raise FocusError("No selected frame.")
    if expression:
        session.data.expression_type(expression)  # errors in it are reported first
    leaving = session.running.leave_frame(expression)
    frame = leaving.frame
    what = "selected stack frame"
    if leaving.function is not None:
        what = frame.program.function_title(leaving.function)
    question = f"Make {what} return now?"
    if not leaving.stores_value:
        question = (
            "The location at which to store the function's return value is unknown.\n"
            f"If you continue, the return value that you specified will be ignored.\n{question}"
        )
    if not shell.confirm(question):
        raise CommandError("Not confirmed")
    event = session.running.carry_out(leaving)
    if event is not None:
        finish_run(shell, event)
    elif shell.at_prompt:
        show_frame(shell, session.focus.frame())


@command(
    "jump", category=RUNNING, aliases=("j",), repeat=Repeat.NEVER, needs=lambda shell: shell.need_running(),
    args=Arguments(required("location", CODE, "Argument required (starting address).")),
)
def jump(shell: Shell, location: str) -> None:
    """Continue program being debugged at specified line or address.

    The focused wave continues there with its currently active lanes; registers and stack are unchanged.
    """
    session = shell.session
    places = session.places.resolve(location)
    if len({place.address for place in places}) != 1:
        raise CommandError("Unreasonable jump request")
    place = places[0]
    program = session.inferior.programs.at(place.address)
    frame = session.focus.frame()
    there = program.function_at(place.address)
    if frame.function is not None and there != frame.context.function:
        name = frame.program.function_title(frame.function)
        line = f"Line {place.line}" if place.line else f"{place.address:#x}"
        if not shell.confirm(f"{line} is not in `{name}'.  Jump anyway?"):
            raise CommandError("Not confirmed.")
    if shell.at_prompt:
        shell.line(f"Continuing at {place.address:#x}.")
    shell.out.flush()
    finish_run(shell, session.running.jump(place.address))
