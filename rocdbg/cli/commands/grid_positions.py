"""Commands that select lanes by their position in the grid, and that compare lanes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocdbg.cli.arguments import Arguments, Kind, optional, required
from rocdbg.cli.command_options import Option
from rocdbg.cli.command_registry import Category, CommandError, Repeat, command
from rocdbg.cli.commands.lanes import need_threads, show_focus
from rocdbg.cli.text_columns import render
from rocdbg.debugger.base.errors import FocusError
from rocdbg.debugger.target.capabilities.target_state import Triple
from rocdbg.debugger.target.rocgdb_ids import bracketed, position

if TYPE_CHECKING:
    from rocdbg.cli.shell import Shell

RUNNING = Category.RUNNING


def _position(shell: Shell, text: str) -> Triple:
    """``X,Y,Z`` or ``X Y Z``, in any brackets: integer expressions; those left out are 0."""
    inside = text.strip("()[] ")
    parts = [part for part in (inside.split(",") if "," in inside else inside.split()) if part.strip()]
    if not 1 <= len(parts) <= 3:
        raise CommandError(f"Invalid position (one to three numbers, as in 3,0,0, expected): {text}")
    numbers = [shell.session.data.integer(part) for part in parts]
    if any(number < 0 for number in numbers):
        raise CommandError("negative value")
    x, y, z = (*numbers, 0, 0)[:3]
    return x, y, z


POSITION = Kind("X[,Y[,Z]]", "Triple", _position)


@command(
    "workgroup", category=RUNNING, needs=need_threads, repeat=Repeat.NEVER,
    args=Arguments(optional("group", POSITION)),
)
def workgroup(shell: Shell, group: Triple | None) -> None:
    """Use this command to switch to the first wave of the workgroup at a position in the grid.

    Without an argument, the current workgroup is shown.
    """
    session = shell.session
    if group is None:
        thread = session.focus.need_running().thread or 0
        wave = session.inferior.wave(thread)
        shell.line(f"[Current workgroup is {position(wave.workgroup)}, of {bracketed(wave.workgroup_size)} work-items]")
        return
    found = session.across.wave_of_group(group)
    if found is None:
        raise FocusError(
            f"Workgroup {position(group)} is not resident (it has ended, has not begun, or is outside the grid)."
        )
    session.focus.select_thread(found.number)
    show_focus(shell)


@command(
    "workitem", category=RUNNING, needs=need_threads, repeat=Repeat.NEVER,
    args=Arguments(
        Option("-global", "The position is one in the grid, not in the current workgroup.", key="whole"),
        optional("item", POSITION),
    ),
)
def workitem(shell: Shell, whole: bool, item: Triple | None) -> None:
    """Use this command to switch to the work-item at a position in the current workgroup.

    With -global, the position is one in the whole grid. Without an argument, the current work-item is shown.
    """
    session = shell.session
    focus = session.focus.need_running()
    wave = session.inferior.wave(focus.thread or 0)
    sizes = wave.full_workgroup if all(wave.full_workgroup) else wave.workgroup_size
    if item is None:
        local = wave.work_item(focus.lane or 0)
        x, y, z = (group * size + at for group, size, at in zip(wave.workgroup, sizes, local, strict=True))
        shell.line(
            f"[Current work-item is {bracketed(local)} of workgroup {position(wave.workgroup)}, "
            f"{bracketed((x, y, z))} of the grid]"
        )
        return
    group = wave.workgroup
    inside = item
    if whole:
        (gx, lx), (gy, ly), (gz, lz) = (divmod(at, size) for at, size in zip(item, sizes, strict=True))
        group, inside = (gx, gy, gz), (lx, ly, lz)
    found = session.across.place_of_item(group, inside)
    if found is None or found.thread is None:
        where = "the grid" if whole else f"workgroup {position(group)}"
        raise FocusError(f"Work-item {bracketed(item)} of {where} is not resident.")
    session.focus.select_thread(found.thread, found.lane)
    show_focus(shell)


@command("diff", category=Category.STATUS, repeat=Repeat.NEVER, args=Arguments())
def diff(shell: Shell) -> None:
    """Generic command for showing what differs between lanes."""
    raise CommandError('"diff" must be followed by the name of a subcommand: diff lanes A B.')


def _two_lanes(shell: Shell, text: str) -> tuple[int, int]:
    words = text.replace(",", " ").split()
    if len(words) != 2:
        raise CommandError("Argument required (two lanes, as in diff lanes 0 5).")
    return shell.session.data.integer(words[0]), shell.session.data.integer(words[1])


@command(
    "diff lanes", category=Category.STATUS, needs=need_threads,
    args=Arguments(
        required(
            "lanes", Kind("A B", "tuple[int, int]", _two_lanes), "Argument required (two lanes, as in diff lanes 0 5)."
        )
    ),
)
def diff_lanes(shell: Shell, lanes: tuple[int, int]) -> None:
    """Show the arguments and locals of the selected frame that differ between two lanes of the wave."""
    session = shell.session
    focus = session.focus.need_running()
    for lane in lanes:
        if not 0 <= lane < session.inferior.lane_count(focus.thread or 0):
            raise FocusError(f"Lane {lane} does not exist on this thread.")
    one, other = lanes
    rows = session.across.differing(one, other, session.data.format_in)
    if not rows:
        shell.line(f"No arguments or locals differ between lanes {one} and {other}.")
        return
    shell.write(render(("Name", f"Lane {one}", f"Lane {other}"), rows))
