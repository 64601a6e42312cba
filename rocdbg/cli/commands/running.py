"""Commands that run the program: run, start, continue, step, next, finish, until, kill, launch control."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocdbg.cli.commands.breakpoints import announce
from rocdbg.cli.present import frame_parts, show_stop
from rocdbg.cli.registry import Category, CommandError, Completes, Repeat, command
from rocdbg.debugger.digits import decimal
from rocdbg.debugger.reports.places import launch_lines
from rocdbg.debugger.running.stops import StopEvent

if TYPE_CHECKING:
    from rocdbg.cli.shell import Shell

RUNNING = Category.RUNNING


def _count(shell: Shell, text: str) -> int:
    return shell.session.integer(text) if text else 1


def finish_run(shell: Shell, event: StopEvent) -> None:
    """Show a stop, unless the breakpoint's `commands` say `silent`, and run these."""
    if not shell.is_silent(event):
        show_stop(shell, event)
    shell.after_stop(event)


def _announce(shell: Shell) -> None:
    spec = shell.session.launch.spec
    grid, workgroup, _ = spec.complete()
    name = shell.session.need_program().kernel_title(shell.session.launch.kernel)
    shell.line(f"Starting kernel {name}, grid [{_triple(grid)}], workgroup [{_triple(workgroup)}]")
    shell.out.flush()


def _triple(sizes: tuple[int, int, int]) -> str:
    return ",".join(map(str, sizes))


def _may_restart(shell: Shell) -> bool:
    target = shell.session.target
    if target is None or target.finished:
        return True
    question = "The program being debugged has been started already.\nStart it from the beginning?"
    return shell.confirm(question)


@command("run", category=RUNNING, aliases=("r",), repeat=Repeat.NEVER)
def run(shell: Shell, text: str) -> None:
    """Start debugged program: dispatch the kernel and go on to the first stop.

    What is launched comes from the launch file, or from "kernel", "set grid", "set workgroup" and "set arg".
    """
    if text:
        raise CommandError('run takes no arguments: the kernel\'s are set with "set arg".')
    if _may_restart(shell):
        _announce(shell)
        finish_run(shell, shell.session.run())


@command("start", category=RUNNING, repeat=Repeat.NEVER)
def start(shell: Shell, text: str) -> None:
    """Start the debugged program stopping at the beginning of the kernel."""
    if _may_restart(shell):
        kernel_name = shell.session.launch.kernel.name
        shell.line(announce(shell.session.break_at(kernel_name, temporary=True)))
        _announce(shell)
        finish_run(shell, shell.session.run())


@command("continue", category=RUNNING, aliases=("c", "fg"), usage="continue [N]")
def continue_(shell: Shell, text: str) -> None:
    """Continue program being debugged, after signal or breakpoint.

    If proceeding from breakpoint, a number N may be given as an argument, which means to set the ignore count of
    that breakpoint to N - 1 (so that the breakpoint won't break until the Nth time it is reached).
    """
    count = shell.session.integer(text) if text else None
    shell.need_running()
    if count is not None:
        number = shell.last_hit
        if number is None:
            raise CommandError("Not stopped at any breakpoint; argument ignored.")
        shell.line(f"Will ignore next {count - 1} crossings of breakpoint {number}.  Continuing.")
    elif shell.typed:
        shell.line("Continuing.")
    shell.out.flush()
    finish_run(shell, shell.session.proceed(count))


@command("step", category=RUNNING, aliases=("s",), usage="step [N]")
def step(shell: Shell, text: str) -> None:
    """Step the focused lane until it reaches a different source line.

    Argument N means step N times (or till program stops for another reason). Calls to functions with line
    information are entered.
    """
    finish_run(shell, shell.session.step(_count(shell, text)))


@command("next", category=RUNNING, aliases=("n",), usage="next [N]")
def next_(shell: Shell, text: str) -> None:
    """Step the focused lane, proceeding through subroutine calls.

    Unlike "step", if the current source line calls a subroutine, this command does not enter it.
    """
    finish_run(shell, shell.session.next(_count(shell, text)))


@command("stepi", category=RUNNING, aliases=("si",), usage="stepi [N]")
def stepi(shell: Shell, text: str) -> None:
    """Step one instruction of the focused wave exactly.

    Argument N means step N times (or till program stops for another reason).
    """
    finish_run(shell, shell.session.stepi(_count(shell, text)))


@command("nexti", category=RUNNING, aliases=("ni",), usage="nexti [N]")
def nexti(shell: Shell, text: str) -> None:
    """Step one instruction, but proceed through subroutine calls.

    Argument N means step N times (or till program stops for another reason).
    """
    finish_run(shell, shell.session.nexti(_count(shell, text)))


@command("finish", category=RUNNING, aliases=("fin",))
def finish(shell: Shell, text: str) -> None:
    """Execute until selected stack frame returns.

    Upon return, the value returned is printed and put in the value history.
    """
    shell.need_running()
    frame = shell.session.frame()
    if frame.is_outermost:
        raise CommandError('"finish" not meaningful in the outermost frame.')
    if shell.typed:
        shell.out.styled([("", "Run till exit from "), *frame_parts(shell, frame, number=True), ("", "\n")])
    shell.out.flush()
    finish_run(shell, shell.session.finish())


@command("until", category=RUNNING, aliases=("u",), usage="until [LOCATION]", completes=Completes.LOCATION)
def until(shell: Shell, text: str) -> None:
    """Execute until past the current line or past a LOCATION.

    Without an argument: as "next", but never backwards, so that loops are run to their end.
    """
    finish_run(shell, shell.session.until(text or None))


@command("advance", category=RUNNING, usage="advance LOCATION", completes=Completes.LOCATION)
def advance(shell: Shell, text: str) -> None:
    """Continue the program up to the given location (same form as args for break command).

    Execution will also stop upon exit from the current stack frame.
    """
    if not text:
        raise CommandError("Argument required (a location).")
    finish_run(shell, shell.session.advance(text))


@command("kill", category=RUNNING, aliases=("k",), repeat=Repeat.NEVER)
def kill(shell: Shell, text: str) -> None:
    """Kill execution of program being debugged."""
    shell.need_running()
    if shell.confirm("Kill the program being debugged?"):
        target = shell.session.need_target()
        rows = target.dispatches()
        what = f"dispatch {rows[-1].number}, kernel {rows[-1].kernel}" if rows else "dispatch"
        shell.session.kill()
        shell.line(f"[Inferior 1 ({what}) killed]")


@command("launch", category=RUNNING, usage="launch FILE.toml", completes=Completes.FILE)
def launch(shell: Shell, text: str) -> None:
    """Read a launch file: which kernel of which file, on which grid, with which arguments."""
    if not text:
        raise CommandError("Argument required (a launch file).")
    shell.session.load(text)
    shell.auto_load.program_script()


@command("kernel", category=RUNNING, usage="kernel [NAME]", completes=Completes.KERNEL)
def kernel(shell: Shell, text: str) -> None:
    """Choose the kernel that "run" dispatches; without an argument, list the kernels."""
    if text:
        shell.session.choose_kernel(text)
        return
    chosen = shell.session.launch.spec.kernel
    for name in shell.session.launch.kernel_names():
        shell.line(f"{'*' if name == chosen else ' '} {name}")


@command("set grid", category=RUNNING, usage="set grid X [Y [Z]]")
def set_grid(shell: Shell, text: str) -> None:
    """Set the grid of the next launch, in work-items."""
    shell.session.launch.set_grid(text)


@command("set workgroup", category=RUNNING, usage="set workgroup X [Y [Z]]")
def set_workgroup(shell: Shell, text: str) -> None:
    """Set the workgroup size of the next launch, in work-items."""
    shell.session.launch.set_workgroup(text)


@command("set dynamic-lds", category=RUNNING, usage="set dynamic-lds BYTES")
def set_dynamic_lds(shell: Shell, text: str) -> None:
    """Set the bytes of LDS that each workgroup of the next launch gets beyond what the kernel declares."""
    shell.session.launch.set_dynamic_lds(shell.session.integer(text))


@command("set arg", category=RUNNING, usage="set arg N VALUE|TYPE[COUNT][:INIT]")
def set_arg(shell: Shell, text: str) -> None:
    """Set an argument of the next launch.

    N counts from 0. A scalar is a number; a buffer is a type and a count, with its contents after a colon:
      set arg 0 2.0
      set arg 1 f32[1024]:arange
      set arg 2 i32[4]:[1, 2, 3, 4]
    Types are i8..i64, u8..u64, f16, bf16, f32, f64 and bytes; contents are zeros, ones, arange, random:SEED or
    file:data.npy.
    """
    index, _, value = text.partition(" ")
    if not index.isdecimal() or not value.strip():
        raise CommandError("Usage: set arg N VALUE, or set arg N TYPE[COUNT][:INIT]")
    launch_ = shell.session.launch
    metadata = launch_.kernel.metadata
    if metadata is not None and decimal(index) >= len(metadata.explicit_args):
        count = len(metadata.explicit_args)
        raise CommandError(f"Kernel {launch_.kernel.name} takes {count} arguments; there is no argument {index}.")
    launch_.set_argument(decimal(index), value.strip())


@command("show launch", category=RUNNING)
def show_launch(shell: Shell, text: str) -> None:
    """Show what the next "run" launches."""
    for line in launch_lines(shell.session):
        shell.line(line)
