"""Commands that run the program: run, start, continue, step, next, finish, until, kill, launch control."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocdbg.cli.arguments import Arguments, optional, required
from rocdbg.cli.commands.breakpoints import announce
from rocdbg.cli.kinds import FILE, INTEGER, LOCATION, TEXT, number_of, text_of
from rocdbg.cli.present import frame_parts, show_stop
from rocdbg.cli.registry import Category, CommandError, Completes, Repeat, command
from rocdbg.debugger.reports.listings import launch_lines
from rocdbg.debugger.running.stops import StopEvent

if TYPE_CHECKING:
    from rocdbg.cli.shell import Shell

RUNNING = Category.RUNNING


TIMES = Arguments(optional("count", INTEGER, 1))
SIZES = text_of("X [Y [Z]]")
NEEDS_VALUE = "Usage: set arg N VALUE, or set arg N TYPE[COUNT][:INIT]"


def finish_run(shell: Shell, event: StopEvent) -> None:
    """Show a stop, unless the breakpoint's `commands` say `silent`, and run these."""
    if not shell.is_silent(event):
        show_stop(shell, event)
    shell.after_stop(event)


def _announce(shell: Shell) -> None:
    spec = shell.session.launch.spec
    grid, workgroup, _ = spec.complete()
    name = shell.session.inferior.need_program().kernel_title(shell.session.launch.kernel)
    shell.line(f"Starting kernel {name}, grid [{_triple(grid)}], workgroup [{_triple(workgroup)}]")
    shell.out.flush()


def _triple(sizes: tuple[int, int, int]) -> str:
    return ",".join(map(str, sizes))


def _may_restart(shell: Shell) -> bool:
    target = shell.session.inferior.target
    if target is None or target.finished:
        return True
    question = "The program being debugged has been started already.\nStart it from the beginning?"
    return shell.confirm(question)


@command(
    "run", category=RUNNING, aliases=("r",), repeat=Repeat.NEVER,
    args=Arguments(junk='run takes no arguments: the kernel\'s are set with "set arg".'),
)
def run(shell: Shell) -> None:
    """Start debugged program: dispatch the kernel and go on to the first stop.

    What is launched comes from the launch file, or from "kernel", "set grid", "set workgroup" and "set arg".
    """
    if _may_restart(shell):
        _announce(shell)
        finish_run(shell, shell.session.run())


@command("start", category=RUNNING, repeat=Repeat.NEVER, args=Arguments())
def start(shell: Shell) -> None:
    """Start the debugged program stopping at the beginning of the kernel."""
    if _may_restart(shell):
        kernel_name = shell.session.launch.kernel.name
        shell.line(announce(shell.session.break_at(kernel_name, temporary=True)))
        _announce(shell)
        finish_run(shell, shell.session.run())


@command("continue", category=RUNNING, aliases=("c", "fg"), args=Arguments(optional("count", INTEGER)))
def continue_(shell: Shell, count: int | None) -> None:
    """Continue program being debugged, after signal or breakpoint.

    If proceeding from breakpoint, a number N may be given as an argument, which means to set the ignore count of
    that breakpoint to N - 1 (so that the breakpoint won't break until the Nth time it is reached).
    """
    shell.need_running()
    if count is not None:
        number = shell.state.last_hit
        if number is None:
            raise CommandError("Not stopped at any breakpoint; argument ignored.")
        shell.line(f"Will ignore next {count - 1} crossings of breakpoint {number}.  Continuing.")
    elif shell.typed:
        shell.line("Continuing.")
    shell.out.flush()
    finish_run(shell, shell.session.running.proceed(count))


@command("step", category=RUNNING, aliases=("s",), args=TIMES)
def step(shell: Shell, count: int) -> None:
    """Step the focused lane until it reaches a different source line.

    Argument N means step N times (or till program stops for another reason). Calls to functions with line
    information are entered.
    """
    finish_run(shell, shell.session.running.step(count))


@command("next", category=RUNNING, aliases=("n",), args=TIMES)
def next_(shell: Shell, count: int) -> None:
    """Step the focused lane, proceeding through subroutine calls.

    Unlike "step", if the current source line calls a subroutine, this command does not enter it.
    """
    finish_run(shell, shell.session.running.next(count))


@command("stepi", category=RUNNING, aliases=("si",), args=TIMES)
def stepi(shell: Shell, count: int) -> None:
    """Step one instruction of the focused wave exactly.

    Argument N means step N times (or till program stops for another reason).
    """
    finish_run(shell, shell.session.running.stepi(count))


@command("nexti", category=RUNNING, aliases=("ni",), args=TIMES)
def nexti(shell: Shell, count: int) -> None:
    """Step one instruction, but proceed through subroutine calls.

    Argument N means step N times (or till program stops for another reason).
    """
    finish_run(shell, shell.session.running.nexti(count))


@command(
    "finish", category=RUNNING, aliases=("fin",), needs=lambda shell: shell.need_running(),
    args=Arguments(junk='The "finish" command does not take any arguments.'),
)
def finish(shell: Shell) -> None:
    """Execute until selected stack frame returns.

    Upon return, the value returned is printed and put in the value history.
    """
    frame = shell.session.focus.frame()
    if frame.is_outermost:
        raise CommandError('"finish" not meaningful in the outermost frame.')
    if shell.typed:
        shell.out.styled([("", "Run till exit from "), *frame_parts(shell, frame, number=True), ("", "\n")])
    shell.out.flush()
    finish_run(shell, shell.session.running.finish())


@command("until", category=RUNNING, aliases=("u",), args=Arguments(optional("location", LOCATION)))
def until(shell: Shell, location: str | None) -> None:
    """Execute until past the current line or past a LOCATION.

    Without an argument: as "next", but never backwards, so that loops are run to their end.
    """
    finish_run(shell, shell.session.running.until(location))


@command(
    "advance", category=RUNNING, args=Arguments(required("location", LOCATION, "Argument required (a location)."))
)
def advance(shell: Shell, location: str) -> None:
    """Continue the program up to the given location (same form as args for break command).

    Execution will also stop upon exit from the current stack frame.
    """
    finish_run(shell, shell.session.running.advance(location))


@command(
    "kill", category=RUNNING, aliases=("k",), repeat=Repeat.NEVER, args=Arguments(),
    needs=lambda shell: shell.need_running(),
)
def kill(shell: Shell) -> None:
    """Kill execution of program being debugged."""
    if shell.confirm("Kill the program being debugged?"):
        target = shell.session.inferior.need_target()
        rows = target.dispatches()
        what = f"dispatch {rows[-1].number}, kernel {rows[-1].kernel}" if rows else "dispatch"
        shell.session.running.kill()
        shell.line(f"[Inferior 1 ({what}) killed]")


@command(
    "launch", category=RUNNING,
    args=Arguments(required("file", FILE, "Argument required (a launch file).", "FILE.toml")),
)
def launch(shell: Shell, file: str) -> None:
    """Read a launch file: which kernel of which file, on which grid, with which arguments."""
    shell.session.load(file)
    shell.auto_load.program_script()


@command("kernel", category=RUNNING, args=Arguments(optional("name", text_of("NAME", Completes.KERNEL), "")))
def kernel(shell: Shell, name: str) -> None:
    """Choose the kernel that "run" dispatches; without an argument, list the kernels."""
    if name:
        shell.session.choose_kernel(name)
        return
    chosen = shell.session.launch.spec.kernel
    for row in shell.session.launch.kernel_names():
        shell.line(f"{'*' if row == chosen else ' '} {row}")


@command("set grid", category=RUNNING, usage="set grid X [Y [Z]]", args=Arguments(optional("sizes", SIZES, "")))
def set_grid(shell: Shell, sizes: str) -> None:
    """Set the grid of the next launch, in work-items."""
    shell.session.launch.set_grid(sizes)


@command(
    "set workgroup", category=RUNNING, usage="set workgroup X [Y [Z]]", args=Arguments(optional("sizes", SIZES, ""))
)
def set_workgroup(shell: Shell, sizes: str) -> None:
    """Set the workgroup size of the next launch, in work-items."""
    shell.session.launch.set_workgroup(sizes)


@command(
    "set dynamic-lds", category=RUNNING,
    args=Arguments(required("size", INTEGER, "Argument required (a number of bytes).", "BYTES")),
)
def set_dynamic_lds(shell: Shell, size: int) -> None:
    """Set the bytes of LDS that each workgroup of the next launch gets beyond what the kernel declares."""
    shell.session.launch.set_dynamic_lds(size)


@command(
    "set arg", category=RUNNING,
    args=Arguments(
        required("index", number_of("N", NEEDS_VALUE), NEEDS_VALUE),
        required("value", TEXT, NEEDS_VALUE, "VALUE|TYPE[COUNT][:INIT]"),
    ),
)
def set_arg(shell: Shell, index: int, value: str) -> None:
    """Set an argument of the next launch.

    N counts from 0. A scalar is a number; a buffer is a type and a count, with its contents after a colon:
      set arg 0 2.0
      set arg 1 f32[1024]:arange
      set arg 2 i32[4]:[1, 2, 3, 4]
    Types are i8..i64, u8..u64, f16, bf16, f32, f64 and bytes; contents are zeros, ones, arange, random:SEED or
    file:data.npy.
    """
    launch_ = shell.session.launch
    metadata = launch_.kernel.metadata
    if metadata is not None and index >= len(metadata.explicit_args):
        count = len(metadata.explicit_args)
        raise CommandError(f"Kernel {launch_.kernel.name} takes {count} arguments; there is no argument {index}.")
    launch_.set_argument(index, value)


@command("show launch", category=RUNNING, args=Arguments())
def show_launch(shell: Shell) -> None:
    """Show what the next "run" launches."""
    for line in launch_lines(shell.session.launch):
        shell.line(line)
