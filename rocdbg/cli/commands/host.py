"""Commands about the host's side of a program that launches kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocdbg.cli.argument_kinds import INTEGER
from rocdbg.cli.arguments import Arguments, optional
from rocdbg.cli.command_options import Option
from rocdbg.cli.command_registry import Category, CommandError, command
from rocdbg.debugger.target.host_frames import runtime_frames
from rocdbg.debugger.target.process_target import ProcessTarget

if TYPE_CHECKING:
    from rocdbg.cli.shell import Shell
    from rocdbg.debugger.target.host_frames import HostFrame


@command(
    "info host-backtrace", category=Category.STATUS,
    args=Arguments(Option("-full", "Show the frames of the runtime too."), optional("number", INTEGER, 0, "DISPATCH")),
)
def info_host_backtrace(shell: Shell, full: bool, number: int) -> None:
    """Show where the host program launched a dispatch.

    Shows the frames that the launching thread had then, beginning with the innermost one in the program's own code;
    -full also shows those of the runtime. The default is the selected dispatch.
    """
    session = shell.session
    target = session.inferior.target
    if target is None or target.finished:
        raise CommandError("The program is not being run.")
    if not isinstance(target, ProcessTarget):
        raise CommandError("The kernel was launched by rocdbg: there is no host program.")
    rows = {row.number: row for row in target.dispatches()}
    if not rows:
        raise CommandError("No dispatches are currently active.")
    if not number:
        thread = session.focus.current.thread
        number = session.inferior.wave(thread).id.dispatch if thread is not None else min(rows)
    if number not in rows:
        raise CommandError(f"Dispatch {number} not known.")
    origin = target.origin(number)
    if origin is None:
        shell.line(f"It is not known where dispatch {number} was launched.")
        return
    shell.line(f"Dispatch {number}, kernel {rows[number].kernel}, was launched by thread {origin.thread}:")
    inside = 0 if full else runtime_frames(origin.frames)
    for level, frame in enumerate(origin.frames[inside:]):
        shell.line(f"#{level:<3}{_text(frame)}")
    if inside:
        frames = f"{inside} runtime frames are" if inside > 1 else "A runtime frame is"
        shell.line(f"({frames} not shown, the outermost {_call(origin.frames[inside - 1])}: "
                   'use "info host-backtrace -full".)')


def _call(frame: HostFrame) -> str:
    return f"in {frame.function or '??'} ()" + (f" from {frame.module}" if frame.module else "")


def _text(frame: HostFrame) -> str:
    """A frame as "backtrace" would show it, but without the values of parameters."""
    where = f"{frame.address:#018x} in " if frame.address is not None else ""
    name = f"{frame.function or '??'} ({'...' if frame.parameters else ''})"
    if frame.line:
        return f"{where}{name} at {frame.file}:{frame.line}"
    return f"{where}{name} from {frame.module}" if frame.module else f"{where}{name}"
