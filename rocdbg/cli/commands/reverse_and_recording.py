"""Commands about time: backwards, positions, checkpoints, the recording."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocdbg.cli.argument_kinds import EXPRESSION, FILE, INTEGER
from rocdbg.cli.arguments import Arguments, optional, required
from rocdbg.cli.command_registry import Category, CommandError, Repeat, command
from rocdbg.cli.commands.running import TIMES, finish_run
from rocdbg.cli.frame_lines import frame_parts, lanes_phrase, show_frame
from rocdbg.cli.paths import expand
from rocdbg.cli.text_columns import render
from rocdbg.debugger.base.errors import DebuggerError

if TYPE_CHECKING:
    from rocdbg.cli.shell import Shell
    from rocdbg.debugger.time.time_control import TimeControl

RUNNING = Category.RUNNING


def _needs_past(shell: Shell) -> None:
    session = shell.session
    if session.time.recording is None:
        program = "None" if session.inferior.program is None else "exec"
        name = "simulator" if session.inferior.running else program
        raise DebuggerError(f"Target {name} does not support this command.")


def _needs_running(shell: Shell) -> None:
    shell.need_running()


def _needs_recording(shell: Shell) -> None:
    shell.session.time.need()


# -- backwards


@command("reverse-step", category=RUNNING, aliases=("rs",), args=TIMES, needs=_needs_past)
def reverse_step(shell: Shell, count: int) -> None:
    """Step program backward until it reaches the beginning of another source line.

    The focused lane is stepped. Argument N means do this N times (or till program stops for another reason). Functions
    that had been called are entered from their end. All other waves go back too: positions in time are those of the
    whole program.
    """
    finish_run(shell, shell.session.time.step(count))


@command("reverse-next", category=RUNNING, aliases=("rn",), args=TIMES, needs=_needs_past)
def reverse_next(shell: Shell, count: int) -> None:
    """Step program backward, proceeding through subroutine calls.

    Like the "reverse-step" command as long as subroutine calls do not happen; when they do, the call is treated as
    one instruction. Argument N means do this N times (or till program stops for another reason). The focused lane is
    stepped.
    """
    finish_run(shell, shell.session.time.next(count))


@command("reverse-stepi", category=RUNNING, aliases=("rsi",), args=TIMES, needs=_needs_past)
def reverse_stepi(shell: Shell, count: int) -> None:
    """Step backward exactly one instruction.

    The focused wave is stepped. Argument N means do this N times (or till program stops for another reason).
    """
    finish_run(shell, shell.session.time.stepi(count))


@command("reverse-nexti", category=RUNNING, aliases=("rni",), args=TIMES, needs=_needs_past)
def reverse_nexti(shell: Shell, count: int) -> None:
    """Step backward one instruction, but proceed through called subroutines.

    Argument N means do this N times (or till program stops for another reason).
    """
    finish_run(shell, shell.session.time.nexti(count))


@command(
    "reverse-continue", category=RUNNING, aliases=("rc",), args=Arguments(optional("count", INTEGER)),
    needs=_needs_past,
)
def reverse_continue(shell: Shell, count: int | None) -> None:
    """Continue program being debugged but run it in reverse.

    It stops where a wave last reached a breakpoint, or at the beginning of the recording. If proceeding
    from breakpoint, a number N may be used as an argument, which means to set the ignore count of that breakpoint to
    N - 1 (so that the breakpoint won't break until the Nth time it is reached). Works after the end of a run too.
    """
    if shell.at_prompt:
        shell.line("Continuing.")
    shell.out.flush()
    finish_run(shell, shell.session.time.proceed(count))


@command(
    "reverse-finish", category=RUNNING, needs=_needs_past,
    args=Arguments(junk='The "reverse-finish" command does not take any arguments.'),
)
def reverse_finish(shell: Shell) -> None:
    """Execute backward until just before selected stack frame is called."""
    shell.session.time.revive()
    frame = shell.session.focus.frame()
    if frame.is_outermost:
        raise CommandError('"finish" not meaningful in the outermost frame.')
    if shell.at_prompt:
        shell.out.styled([("", "Run back to call of "), *frame_parts(shell, frame, number=True), ("", "\n")])
    shell.out.flush()
    finish_run(shell, shell.session.time.finish())


# -- positions


def _go(shell: Shell, position: int) -> None:
    control = shell.session.time
    here, (begin, end) = control.position, control.need().bounds
    if not begin <= position <= end:
        raise CommandError(f"Target insn not found: the history is from {begin} to {end}.")
    if position == here and shell.session.inferior.running:
        raise CommandError("Already at target insn.")
    control.go_to(position)
    if position != here:
        direction = "forward" if position > here else "backward"
        shell.line(f"Go {direction} to insn number {position}")
    _show_place(shell)


def _show_place(shell: Shell) -> None:
    """Show the focus as GDB does after a change of position."""
    if shell.session.inferior.running and shell.session.focus.current.thread is not None:
        show_frame(shell, shell.session.focus.frame())


@command(
    "record goto", category=RUNNING, repeat=Repeat.NEVER, needs=_needs_recording,
    args=Arguments(required("position", INTEGER, "Command requires an argument (insn number to go to).")),
)
def record_goto(shell: Shell, position: int) -> None:
    """Restore the program to its state at instruction number N.

    Argument is instruction number, as shown by "info record": the total number of instructions that all waves have
    executed since the beginning.
    """
    _go(shell, position)


@command(
    "record goto begin", category=RUNNING, aliases=("record goto start",), repeat=Repeat.NEVER, args=Arguments(),
    needs=_needs_recording,
)
def record_goto_begin(shell: Shell) -> None:
    """Go to the beginning of the execution log."""
    _go(shell, shell.session.time.need().bounds[0])


@command(
    "record goto end", category=RUNNING, repeat=Repeat.NEVER, args=Arguments(),
    needs=_needs_recording,
)
def record_goto_end(shell: Shell) -> None:
    """Go to the end of the execution log."""
    _go(shell, shell.session.time.need().bounds[1])


@command("when", category=RUNNING, repeat=Repeat.NEVER, args=Arguments(), needs=_needs_recording)
def when(shell: Shell) -> None:
    """Show the current position in time: wave-instructions executed since the beginning.

    "seek-ticks N" and "record goto N" go to a position.
    """
    shell.line(f"Current tick: {shell.session.time.position}")


@command(
    "seek-ticks", category=RUNNING, repeat=Repeat.NEVER, needs=_needs_recording,
    args=Arguments(required("position", INTEGER, "Argument required (a position, as \"when\" shows it).", "TICKS")),
)
def seek_ticks(shell: Shell, position: int) -> None:
    """Go to a position in time, as "when" shows it."""
    shell.session.time.go_to(position)
    _show_place(shell)


# -- checkpoints


@command("checkpoint", category=RUNNING, repeat=Repeat.NEVER, args=Arguments(), needs=_needs_running)
def checkpoint(shell: Shell) -> None:
    """Remember the current position in time; "restart N" returns to it.

    After "restart", the run continues as recorded, until something is changed.
    """
    _needs_past(shell)
    made = shell.session.time.keep()
    shell.line(f"Checkpoint {made.number}: position {made.position}.")


@command("info checkpoints", category=RUNNING, args=Arguments())
def info_checkpoints(shell: Shell) -> None:
    """IDs of currently known checkpoints."""
    control = shell.session.time
    if not control.bookmarks:
        shell.line("No checkpoints.")
        return
    here = control.position
    for each in control.bookmarks:
        mark = "*" if each.position == here else " "
        program = shell.session.inferior.programs.at(each.pc)
        row = program.line_at(each.pc)
        place = f", file {row.file.name}, line {row.line}" if row is not None and row.line else ""
        shell.line(f"{mark} {each.number} position {each.position}, thread {each.thread} at {each.pc:#x}{place}")


@command(
    "restart", category=RUNNING, repeat=Repeat.NEVER,
    args=Arguments(required("number", INTEGER, "Requires argument (checkpoint id to restart)")),
)
def restart(shell: Shell, number: int) -> None:
    """Restore program context from a checkpoint.

    Argument N is checkpoint ID, as displayed by 'info checkpoints'.
    """
    shell.session.time.restart(number)
    _show_place(shell)


@command(
    "delete checkpoint", category=RUNNING, repeat=Repeat.NEVER,
    args=Arguments(required("number", INTEGER, "Requires argument (checkpoint id to delete)")),
)
def delete_checkpoint(shell: Shell, number: int) -> None:
    """Delete a checkpoint.

    Argument N is checkpoint ID, as displayed by 'info checkpoints'.
    """
    shell.session.time.discard(number)


# -- who wrote it


def _show_write(shell: Shell, expression: str, first: bool) -> None:
    value = shell.session.data.evaluate(expression)
    found = shell.session.time.find_write(value, first)
    if found is None:
        shell.line(f"No instruction has written {expression}.")
        return
    lanes = f", {lanes_phrase(found.lanes).removeprefix('with ')}" if found.lanes else ""
    place = f", {found.file}:{found.line}" if found.file is not None else ""
    which = "First" if first else "Last"
    shell.line(f"{which} written at position {found.position} by thread {found.thread}{lanes}{place}:")
    shell.line(f"   {found.pc:#018x}:\t{found.instruction}")


@command(
    "last-write", category=Category.DATA, needs=_needs_recording,
    args=Arguments(required("expression", EXPRESSION, "Argument required (an expression that names a place).")),
)
def last_write(shell: Shell, expression: str) -> None:
    """Show which instruction last wrote a place, when, and in which wave and lanes.

    EXPRESSION names memory of any kind or a register ($v3, $s5). "record goto" with the position shown goes to just
    before the instruction. Writes by the debugger itself do not count.
    """
    _show_write(shell, expression, False)


@command(
    "first-write", category=Category.DATA, needs=_needs_recording,
    args=Arguments(required("expression", EXPRESSION, "Argument required (an expression that names a place).")),
)
def first_write(shell: Shell, expression: str) -> None:
    """Show which instruction first wrote a place, when, and in which wave and lanes.

    Like "last-write", but from the beginning of the recording.
    """
    _show_write(shell, expression, True)


@command(
    "origin", category=Category.DATA, needs=_needs_recording,
    args=Arguments(required("expression", EXPRESSION, "Argument required (an expression that names a place).")),
)
def origin(shell: Shell, expression: str) -> None:
    """Show where the value of a place comes from.

    Shows the last write of EXPRESSION (memory of any kind, or a register), the last write of that write's source, and
    so on through moves, loads and stores of any waves and lanes, back to the arithmetic that computed the value or to
    the launch that initialised it. Each row is an instruction: its position in time (for "record goto"), thread and
    lane, source line, and what it wrote.
    """
    value = shell.session.data.evaluate(expression)
    found = shell.session.time.find_origin(value)
    rows = []
    for step in found.steps:
        write = step.write
        place = f"{write.file}:{write.line}" if write.file is not None else f"{write.pc:#x}"
        lane = f"{write.thread}:{step.lane}" if step.lane is not None else str(write.thread)
        rows.append((str(write.position), lane, place, shell.session.data.format(step.value), write.instruction))
    if rows:
        shell.write(render(("Position", "Thread", "Line", "Value", "Instruction"), rows))
    if found.cut:
        shell.line(
            f'There are more than {len(rows)} writes: use "record goto" to go to the last one shown, and repeat the '
            "command there."
        )
        return
    operands = ", ".join(f"{name} = {shell.session.data.format(value)}" for name, value in found.operands)
    shell.line(f"The value comes from {found.end}{f' on {operands}' if operands else ''}.")


# -- the recording


@command(
    "record", category=RUNNING, aliases=("rec", "record full"), repeat=Repeat.NEVER,
    args=Arguments(junk='Undefined record command: "{}".  Try "help record".'),
)
def record(shell: Shell) -> None:
    """Start recording.

    Runs are recorded from their beginning unless "set record off" was given; "record stop" ends the recording.
    """
    shell.session.time.record()


@command(
    "record stop", category=RUNNING, aliases=("record s",), repeat=Repeat.NEVER, args=Arguments(),
    needs=_needs_recording,
)
def record_stop(shell: Shell) -> None:
    """Stop the record/replay target."""
    shell.session.time.stop()
    shell.line("Process record is stopped and all execution logs are deleted.")


@command(
    "record delete", category=RUNNING, aliases=("record del", "record d"), repeat=Repeat.NEVER, args=Arguments(),
    needs=_needs_recording,
)
def record_delete(shell: Shell) -> None:
    """Delete the rest of execution log and start recording it anew."""
    recording = shell.session.time.need()
    if not recording.replaying:
        shell.line("Already at end of record list.")
        return
    if shell.confirm("Delete the log from this point forward and begin to record the running message at current PC?"):
        recording.branch()


@command(
    "record save", category=RUNNING, repeat=Repeat.NEVER, needs=_needs_recording,
    args=Arguments(optional("file", FILE, "")),
)
def record_save(shell: Shell, file: str) -> None:
    """Save the execution log to a file.

    The file contains the launch, its code and buffers, and all changes that were made to the run: "record restore"
    repeats it on any machine. Default filename is 'rocdbg_record.DISPATCH'.
    """
    target = shell.session.inferior.target
    rows = target.dispatches() if target is not None else []
    path = expand(file or f"rocdbg_record.{rows[-1].number if rows else 1}")
    shell.session.save_recording(path)
    shell.line(f"Saved recording file {path} with execution log.")


@command(
    "record restore", category=RUNNING, aliases=("record full restore",), repeat=Repeat.NEVER,
    args=Arguments(required("file", FILE, "Argument for the file to restore from is required.")),
)
def record_restore(shell: Shell, file: str) -> None:
    """Restore the execution log from a file.

    The program is then at the beginning of the recording; "continue" and similar commands repeat it.
    """
    path = expand(file)
    shell.session.restore_recording(path)
    shell.line(f"Restored records from file {path}.")
    _show_place(shell)


@command("info record", category=RUNNING, aliases=("info rec",), args=Arguments())
def info_record(shell: Shell) -> None:
    """Info record options.

    Shows the size of the recording, and the program's position in it.
    """
    control: TimeControl = shell.session.time
    recording = control.recording
    if recording is None:
        shell.line("No recording is currently active.")
        return
    begin, end = recording.bounds
    shell.line("Active record target: record-full")
    shell.line("Replay mode:" if recording.replaying else "Record mode:")
    if end == begin:
        shell.line("No instructions have been logged.")
        return
    shell.line(f"Lowest recorded instruction number is {begin + 1}.")
    if recording.replaying:
        shell.line(f"Current instruction number is {recording.position}.")
    shell.line(f"Highest recorded instruction number is {end}.")
    shell.line(f"Log contains {end - begin} instructions.")
