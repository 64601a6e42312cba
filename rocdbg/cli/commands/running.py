"""Commands that run the program: run, start, continue, step, next, finish, until, kill, launch control."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from rocdbg.cli.argument_kinds import CODE, EXPRESSION, FILE, INTEGER, TEXT, number_of, text_of
from rocdbg.cli.arguments import Arguments, optional, required
from rocdbg.cli.command_options import Option, Unknown
from rocdbg.cli.command_registry import Category, CommandError, Completes, Repeat, command
from rocdbg.cli.commands.breakpoints import announce, ignore_words
from rocdbg.cli.frame_lines import frame_parts
from rocdbg.cli.settings.setting_value_kinds import UNSIGNED
from rocdbg.cli.stop_messages import forget_threads, show_reason, show_stop, stand_at
from rocdbg.cli.user_commands import BEFORE, STOP, run_hook
from rocdbg.debugger.breakpoints.catchpoints import BEGIN, Event
from rocdbg.debugger.reports.program_tables import launch_lines
from rocdbg.debugger.running.stop_events import StopEvent, StopReason

if TYPE_CHECKING:
    from rocdbg.cli.shell import Shell
    from rocdbg.debugger.running.run_control import RunControl
    from rocdbg.debugger.time.time_control import TimeControl

RUNNING = Category.RUNNING


TIMES = Arguments(optional("count", INTEGER, 1))
SIZES = text_of("X [Y [Z]]")
NEEDS_VALUE = "Usage: set arg N VALUE, or set arg N TYPE[COUNT][:INIT]"

NEEDS_BYTES = "Usage: set kernarg OFFSET VALUE, or set kernarg BYTES"


def mover(shell: Shell) -> RunControl | TimeControl:
    """The commands' implementation: forward, or according to `set exec-direction`."""
    session = shell.session
    return session.time if session.settings.exec_direction == "reverse" else session.running


def _say_without_lines(shell: Shell) -> None:
    """Report what `step` and `next` do in a function without lines, in GDB's words."""
    session = shell.session
    if session.focus.current.thread is None:
        return
    frame = session.focus.frame(replace(session.focus.current, frame=0))
    if frame.line is None and frame.name is not None:
        shell.line(f"Single stepping until exit from function {frame.name},\nwhich has no line number information.")


def _back_or_till(shell: Shell) -> str:
    return "back to call of" if shell.session.settings.exec_direction == "reverse" else "till exit from"


def _needs_motion(shell: Shell) -> None:
    """Check that the program runs, or can go backwards from its end."""
    if shell.session.settings.exec_direction == "reverse":
        shell.session.time.revive()
    shell.need_running()


def finish_run(shell: Shell, event: StopEvent) -> None:
    """Show a stop, unless the breakpoint's `commands` begin with `silent`, and run them.

    If `handle` says not to stop for a signal, the program continues. The hookpost of a typed command runs first: GDB
    runs it as soon as the program resumes.
    """
    if shell.at_prompt and shell.state.after_hooks:
        shell.run_after_hook()
    while shell.goes_on(event):
        assert event.signal is not None
        if shell.signal_table.rows[event.signal.name].prints:
            show_reason(shell, event)
        event = shell.session.running.proceed()
    ended = event.exit is not None
    if not ended:
        run_hook(shell, BEFORE, (STOP,))
    if shell.is_silent(event):
        stand_at(shell, event)
    else:
        show_stop(shell, event)
    if ended:  # the end is shown as it happens, before anything stops
        run_hook(shell, BEFORE, (STOP,))
    shell.after_stop(event)


def _announce(shell: Shell) -> None:
    if not shell.at_prompt:
        return
    if shell.state.after_hooks:
        shell.state.after_hooks[-1] = None  # GDB runs no hookpost after commands that start a program
    if shell.session.whole_program:
        shell.line(f"Starting program: {shell.session.program_launch.command}")
        shell.out.flush()
        return
    if not shell.session.launch.programs:
        raise CommandError('No executable file specified.\nUse the "file" or "exec-file" command.')
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
    if not shell.confirm(question):
        return False
    forget_threads(shell)
    return True


def _take_arguments(shell: Shell, text: str) -> None:
    """The arguments of ``run`` are passed to the program, and kept for the next time."""
    if text and not shell.session.whole_program:
        raise CommandError('run takes no arguments: use "set arg" to set those of the kernel.')
    if text:
        shell.session.program_launch.arguments = text


@command(
    "run", category=RUNNING, aliases=("r",), repeat=Repeat.NEVER,
    args=Arguments(
        Option(
            "-until-different", "Run up to N times with other schedules, until the contents of buffers differ.",
            kind=UNSIGNED, default=None, gives="int | None",
        ),
        optional("arguments", TEXT, "", "ARGUMENTS"),
        unknown=Unknown.OPERAND,
    ),
)
def run(shell: Shell, until_different: int | None, arguments: str) -> None:
    """Start debugged program.

    A kernel is dispatched, and runs to the first stop. The launch is described by the launch file, or by "kernel", "set
    grid", "set workgroup" and "set arg".

    A whole program (rocdbg --args PROGRAM) is started with ARGUMENTS, or those of "set args", as a shell reads them:
    they may include "*" and redirections. Its kernels run on simulated GPUs.

    With -until-different the kernel is run with the schedule of "set schedule", and then up to N times with waves
    interleaved at random, from "random 1" on, without any stop: the first run whose buffers differ is shown, with the
    first differing element, and its schedule remains set. This reveals races.
    """
    _take_arguments(shell, arguments)
    if until_different is not None:
        if until_different < 1:
            raise CommandError("The number of runs must be at least 1.")
        if shell.session.whole_program:
            raise CommandError("-until-different works only for a kernel that is launched alone.")
        if _may_restart(shell):
            _run_until_different(shell, until_different)
        return
    if _may_restart(shell):
        _announce(shell)
        finish_run(shell, shell.session.run())


def _run_until_different(shell: Shell, count: int) -> None:
    from rocdbg.debugger.running.differing_runs import DifferingRuns  # imported late: few sessions look for races

    session = shell.session
    before = session.launch.schedule
    _announce(shell)
    session.running.leave()
    session.name_buffers()
    found = DifferingRuns(session.running.runner, session.launch).find(count)
    if found is None:
        times = f"{count} other schedule{'s' if count > 1 else ''}"
        shell.line(f"All buffers are the same under {times} as under {before}.")
        return
    if found.stop:
        shell.line(f"Run {found.run}, under {found.schedule}, ends with {found.stop}")
        shell.line(f"Under {before}: {found.first}")
    else:
        shell.line(f"Run {found.run}, under {found.schedule}: {found.buffer}[{found.index}] is {found.got}.")
        shell.line(f"Under {before} it was {found.first}; {found.differing} of {found.count} elements differ.")
    shell.line(f'The schedule is {found.schedule} now: "run" repeats this run.')


@command(
    "start", category=RUNNING, repeat=Repeat.NEVER, args=Arguments(optional("arguments", TEXT, "", "ARGUMENTS"))
)
def start(shell: Shell, arguments: str) -> None:
    """Start the debugged program stopping at the beginning of the main procedure.

    This is the beginning of the kernel. For a whole program, it is `main`, or without a debugger for host code ("help
    set host-debugger") the beginning of the first kernel that the program launches.
    """
    _take_arguments(shell, arguments)
    if not _may_restart(shell):
        return
    if shell.session.whole_program and (main := shell.session.break_in_host("main", temporary=True)) is not None:
        shell.line(announce(shell, main))
    elif shell.session.whole_program:
        made = shell.session.catch(Event.DISPATCH, (BEGIN,), temporary=True)
        shell.line(f"Temporary catchpoint {made.number} ({made.title})")
    else:
        kernel_name = shell.session.launch.kernel.name
        shell.line(announce(shell, shell.session.break_at(kernel_name, temporary=True)))
    _announce(shell)
    finish_run(shell, shell.session.run())


@command("starti", category=RUNNING, repeat=Repeat.NEVER, args=Arguments())
def starti(shell: Shell) -> None:
    """Start the debugged program stopping at the first instruction."""
    if _may_restart(shell):
        _announce(shell)
        event = shell.session.start_at_entry()
        if event.reason is StopReason.LOCATION:
            shell.line("\nProgram stopped.")
        finish_run(shell, event)


@command(
    "continue", category=RUNNING, aliases=("c", "fg"), needs=_needs_motion,
    args=Arguments(optional("count", EXPRESSION)),
)
def continue_(shell: Shell, count: str | None) -> None:
    """Continue program being debugged, after signal or breakpoint.

    If proceeding from breakpoint, a number N may be given as an argument, which means to set the ignore count of
    that breakpoint to N - 1 (so that the breakpoint won't break until the Nth time it is reached).
    """
    if count is not None:
        numbers = [number for number in shell.state.last_hits if number in shell.session.breakpoints]
        for number in numbers:
            ignored = max(0, shell.session.data.integer(count) - 1)
            shell.session.breakpoints.set_ignore(number, ignored)
            if shell.at_prompt:
                shell.write(f"{ignore_words(number, ignored)}  ")
        if not numbers and shell.at_prompt:
            shell.line("Not stopped at any breakpoint; argument ignored.")
    if shell.at_prompt:
        shell.line("Continuing.")
    shell.out.flush()
    finish_run(shell, mover(shell).proceed())


@command(
    "step", category=RUNNING, aliases=("s",), args=TIMES, needs=_needs_motion,
)
def step(shell: Shell, count: int) -> None:
    """Step program until it reaches a different source line.

    The focused lane is stepped.

    Argument N means step N times (or till program stops for another reason). Calls to functions with line
    information are entered.
    """
    if not shell.session.settings.step_mode:
        _say_without_lines(shell)
    finish_run(shell, mover(shell).step(count))


@command(
    "next", category=RUNNING, aliases=("n",), args=TIMES, needs=_needs_motion,
)
def next_(shell: Shell, count: int) -> None:
    """Step program, proceeding through subroutine calls.

    The focused lane is stepped.

    Unlike "step", if the current source line calls a subroutine, this command does not enter it.
    """
    _say_without_lines(shell)
    finish_run(shell, mover(shell).next(count))


@command(
    "stepi", category=RUNNING, aliases=("si",), args=TIMES, needs=_needs_motion,
)
def stepi(shell: Shell, count: int) -> None:
    """Step one instruction exactly.

    The focused wave is stepped.

    Argument N means step N times (or till program stops for another reason).
    """
    finish_run(shell, mover(shell).stepi(count))


@command(
    "nexti", category=RUNNING, aliases=("ni",), args=TIMES, needs=_needs_motion,
)
def nexti(shell: Shell, count: int) -> None:
    """Step one instruction, but proceed through subroutine calls.

    Argument N means step N times (or till program stops for another reason).
    """
    finish_run(shell, mover(shell).nexti(count))


@command(
    "finish", category=RUNNING, aliases=("fin",), needs=_needs_motion,
    args=Arguments(junk='The "finish" command does not take any arguments.'),
)
def finish(shell: Shell) -> None:
    """Execute until selected stack frame returns.

    Upon return, the value returned is printed and put in the value history.
    """
    frame = shell.session.focus.frame()
    if frame.is_outermost:
        raise CommandError('"finish" not meaningful in the outermost frame.')
    if shell.at_prompt:
        shell.out.styled([("", f"Run {_back_or_till(shell)} "), *frame_parts(shell, frame, number=True), ("", "\n")])
    shell.out.flush()
    finish_run(shell, mover(shell).finish())


@command("until", category=RUNNING, aliases=("u",), args=Arguments(optional("location", CODE)))
def until(shell: Shell, location: str | None) -> None:
    """Execute until past the current line or past a LOCATION.

    Without an argument: as "next", but never backwards, so that loops are run to their end.
    """
    finish_run(shell, mover(shell).until(location))


@command(
    "advance", category=RUNNING, needs=_needs_motion,
    args=Arguments(required("location", CODE, "Argument required (a location).")),
)
def advance(shell: Shell, location: str) -> None:
    """Continue the program up to the given location (same form as args for break command).

    Execution will also stop upon exit from the current stack frame.
    """
    finish_run(shell, mover(shell).advance(location))


@command(
    "kill", category=RUNNING, aliases=("k",), repeat=Repeat.NEVER,
    args=Arguments(junk='Undefined kill command: "{}".  Try "help kill".'),
    needs=lambda shell: shell.need_running(),
)
def kill(shell: Shell) -> None:
    """Kill execution of program being debugged."""
    if shell.confirm("Kill the program being debugged?"):
        target = shell.session.inferior.need_target()
        rows = target.dispatches()
        forget_threads(shell)
        what = f"dispatch {rows[-1].number}, kernel {rows[-1].kernel}" if rows else "dispatch"
        if shell.session.whole_program:
            what = f"process {shell.session.program_launch.pid}"
        shell.session.running.kill()
        if shell.settings.get("print inferior-events", True):
            shell.line(f"[Inferior 1 ({what}) killed]")


@command("detach", category=RUNNING, repeat=Repeat.NEVER, args=Arguments())
def detach(shell: Shell) -> None:
    """Detach a process or file previously attached.

    A whole program continues without stops, and rocdbg keeps running until it ends, to run its kernels. You cannot
    detach from a kernel that was launched alone.
    """
    if shell.session.inferior.target is None:
        raise CommandError("The program is not being run.")
    if not shell.session.whole_program:
        raise CommandError("A kernel runs in rocdbg itself: there is nothing to detach from.")
    program = shell.session.program_launch
    pid = program.pid
    shell.line(f"Detaching from program: {program.path}, process {pid}")
    program.detach()
    shell.session.running.leave()
    shell.line(f"[Inferior 1 (process {pid}) detached]")


@command(
    "launch", category=RUNNING,
    args=Arguments(required("file", FILE, "Argument required (a launch file).", "FILE.toml")),
)
def launch(shell: Shell, file: str) -> None:
    """Read a launch file, which says which kernel of which file to launch, on which grid and with which arguments."""
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
    """Set how many bytes of LDS each workgroup of the next launch gets beyond those that the kernel declares."""
    shell.session.launch.set_dynamic_lds(size)


@command(
    "set stack-size", category=RUNNING,
    args=Arguments(required("size", INTEGER, "Argument required (a number of bytes).", "BYTES")),
)
def set_stack_size(shell: Shell, size: int) -> None:
    """Set how many bytes of stack each lane of the next launch gets if the compiler could not determine the need.

    This applies to kernels with recursion or calls through pointers; the default is 16384. The same setting in a launch
    file is `stack_size`.
    """
    shell.session.launch.stack_size = size


@command("show stack-size", category=RUNNING, args=Arguments())
def show_stack_size(shell: Shell) -> None:
    """Show how many bytes of stack each lane gets if the compiler could not determine the need."""
    shell.line(
        f"Each lane gets {shell.session.launch.stack_size} bytes of stack if the compiler could not determine the need."
    )


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
    file:data.npy. These set a vector or structure by value, and bytes of LDS for a "local" pointer of OpenCL:
      set arg 3 value f32[4]:[1, 2, 3, 4]
      set arg 4 local[256]
    These set an image, a sampler, and a texture of HIP, which is both:
      set arg 5 image rgba8[64,32]:random:1
      set arg 6 sampler linear clamp
      set arg 7 texture nearest wrap, r32f[16]
    If the kernel's arguments are not described, they follow each other, each aligned to its size, and a number needs a
    type (u32:7); "set kernarg" places them elsewhere.
    """
    launch_ = shell.session.launch
    count = launch_.parameter_count
    if count is not None and index >= count:
        raise CommandError(f"Kernel {launch_.kernel.name} takes {count} arguments; there is no argument {index}.")
    launch_.set_argument(index, value)


@command(
    "set kernarg", category=RUNNING,
    args=Arguments(required("text", TEXT, NEEDS_BYTES, "[OFFSET] VALUE")),
)
def set_kernarg(shell: Shell, text: str) -> None:
    """Set bytes of the kernarg segment of the next launch, regardless of metadata about arguments.

    With an OFFSET in bytes, a value is placed there; VALUE is as for "set arg", or bytes or a file of bytes:
      set kernarg 16 f32[64]:arange
      set kernarg 24 u32:7
      set kernarg 28 hex:00ff00ff
      set kernarg 32 file:tail.bin
    A buffer at offset 16 becomes $kernarg16. Without an OFFSET, VALUE gives all bytes of the segment:
      set kernarg 0000803f00000040
      set kernarg file:segment.bin
    Hidden arguments are filled in according to metadata; bytes that are not set are 0.
    """
    shell.session.launch.set_kernarg(text)


@command("show launch", category=RUNNING, args=Arguments())
def show_launch(shell: Shell) -> None:
    """Show what the next "run" launches."""
    for line in launch_lines(shell.session.launch):
        shell.line(line)
