"""Settings of running: launches, breakpoints, tracepoints, stepping, and the target."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocdbg.cli.command_registry import Category, CommandError
from rocdbg.cli.settings.setting_declaration import Place, Setting, of_engine, of_front_end, of_launch, of_program
from rocdbg.cli.settings.setting_value_kinds import (
    AUTO_BOOLEAN,
    BOOLEAN,
    COUNT,
    DEPTH,
    SIGNED,
    STRING,
    Enumeration,
    String,
)
from rocdbg.debugger.running.launch_control import LDS_OUT_OF_RANGE

if TYPE_CHECKING:
    from rocdbg.cli.shell import Shell

CONDITION_EVALUATION_HELP = """\
Set mode of breakpoint condition evaluation.
auto and target: the target evaluates the conditions that it can, at the speed of its code; host: the debugger does.
Both give the same results. "info breakpoints" shows which of the two evaluates a condition."""
STEP_MODE_HELP = """\
Set mode of the step operation.

If on, "step" stops in functions without line information; if off, it steps over them."""
SCHEDULER_LOCKING_HELP = """\
Set mode for locking scheduler during execution.

off, replay: other waves run too; on: only the focused wave runs; step: like on for step commands,
otherwise like off."""
CWD = of_program("directory")


class ScheduleKind(String, frozen=True):
    """How waves are interleaved."""

    @property
    def metasyntax(self) -> str:
        return "round-robin|one-at-a-time|random SEED|lockstep N"

    @property
    def words(self) -> tuple[str, ...]:
        return ("round-robin", "one-at-a-time", "random", "lockstep")


def _set_direction(shell: Shell, word: object) -> None:
    session = shell.session
    if word == "reverse" and session.inferior.running and session.time.recording is None:
        raise CommandError("Target does not support this operation.")
    session.settings.exec_direction = str(word)


def _lane_pc_synthesis(shell: Shell) -> bool:
    return shell.session.inferior.lane_pc_synthesis


def _set_lane_pc_synthesis(shell: Shell, value: object) -> None:
    shell.session.inferior.lane_pc_synthesis = bool(value)
    shell.session.inferior.state_changed()


def _evaluation_words(shell: Shell) -> str:
    mode = shell.session.settings.condition_evaluation
    return "auto (currently target)" if mode == "auto" else mode


class PlainText(String, frozen=True):
    """Text up to the end of the line, without surrounding blanks."""


def _write_non_stop(shell: Shell, value: object) -> None:
    if shell.session.inferior.running:
        raise CommandError("Cannot change this setting while the inferior is running.")
    shell.settings["non-stop"] = value


def _cwd_line(shell: Shell) -> str:
    if CWD.read(shell):
        return f'Current working directory that will be used when starting the inferior is "{CWD.read(shell)}".'
    return (
        "You have not set the inferior's current working directory.\n"
        "Kernels have none, because they do not open files."
    )


def _architecture_line(shell: Shell) -> str:
    place = of_front_end("architecture", "auto")
    program = shell.session.inferior.program
    current = f"amdgcn:{program.code_object.target.name}" if program is not None else "amdgcn"
    value = place.read(shell)
    if value == "auto":
        return f'The target architecture is set to "auto" (currently "{current}").'
    return f'The target architecture is set to "{value}".'


def _endian_line(shell: Shell) -> str:
    value = of_front_end("endian", "auto").read(shell)
    if value == "auto":
        return "The target endianness is set automatically (currently little endian)."
    return f"The target is set to {value} endian."


def _osabi_line(shell: Shell) -> str:
    value = of_front_end("osabi", "auto").read(shell)
    current = ' (currently "AMDGPU-HSA")' if value == "auto" else ""
    return f'The current OS ABI is "{value}"{current}.\nThe default OS ABI is "AMDGPU-HSA".'


RUNNING_SETTINGS = (
    Setting(
        "backtrace limit", COUNT, "an upper bound on the number of backtrace levels", of_engine("backtrace_limit"),
        show_help="Show the upper bound on the number of backtrace levels.",
    ),
    Setting(
        "exec-direction", Enumeration(("forward", "reverse")), "direction of execution",
        Place("exec_direction", lambda shell: shell.session.settings.exec_direction, _set_direction),
        show_help="Show direction of execution (forward/reverse).",
        line=lambda shell: f"{shell.session.settings.exec_direction.capitalize()}.",
    ),
    Setting(
        "schedule", ScheduleKind(), "interleaving of the waves of the next run", of_launch("schedule"),
    ),
    Setting(
        "args", STRING, "argument list to give program being debugged when it is started", of_program("arguments"),
        category=Category.RUNNING,
        set_help="Set argument list to give program being debugged when it is started.\n\n"
                 "A shell reads it, so that it may redirect input and output.",
        sentence='Argument list to give program being debugged when it is started is "{}".',
    ),
    Setting(
        "gpu", STRING, "the GPUs of the program being debugged", of_program("gpu"), category=Category.RUNNING,
        set_help="Set the GPUs of the program being debugged.\n\n"
                 "One or several, as in gfx90a or gfx90a,gfx1100. Without a value, the GPU for which its device code "
                 "was compiled.",
        sentence='GPUs of the program being debugged are "{}".',
    ),
    Setting(
        "host", Enumeration(("run", "stop")), "what host code of the program does while its GPUs are stopped",
        of_engine("host"), category=Category.RUNNING, after=lambda shell: shell.session.program_launch.hold(),
        set_help="Set what host code of the program does while its GPUs are stopped.\n\n"
                 "It continues until it waits for a kernel (run), or stops with them (stop).",
    ),
    Setting(
        "host-debugger", STRING, "the debugger of the program's host code", of_engine("host_debugger"),
        category=Category.RUNNING, sentence='The debugger of the program\'s host code is "{}".',
        set_help="Set the debugger of the program's host code.\n\n"
                 "It is the name or path of a GDB, or \"off\". rocdbg starts it when a breakpoint is set "
                 "in host code.",
    ),
    Setting(
        "skip-runtime-kernels", BOOLEAN, "whether kernels that runtimes launch for their own purposes are hidden",
        of_engine("skip_runtime_kernels"), category=Category.RUNNING,
    ),
    Setting("record", BOOLEAN, "recording of runs, which makes reverse execution possible", of_launch("record")),
    Setting(
        "lane-pc-synthesis", BOOLEAN, "synthesis of lane positions from machine code",
        Place("lane_pc_synthesis", _lane_pc_synthesis, _set_lane_pc_synthesis),
    ),
    Setting(
        "unwindonsignal", BOOLEAN, "unwinding of stack if a signal is received while in a call dummy",
        of_engine("unwind_on_signal"),
    ),
    Setting(
        "unwind-on-terminating-exception", BOOLEAN,
        "unwind stack if a C++ exception is unhandled while in a call dummy",
        of_front_end("unwind-on-terminating-exception", True),
        set_help="Set unwinding of stack if std::terminate is called while in call dummy.",
        show_help="Show unwinding of stack if std::terminate() is called while in a call dummy.",
    ),
    Setting("step-mode", BOOLEAN, "mode of the step operation", of_engine("step_mode"), set_help=STEP_MODE_HELP),
    Setting(
        "scheduler-locking", Enumeration(("off", "on", "step", "replay")),
        "mode for locking scheduler during execution", of_engine("scheduler_locking"),
        set_help=SCHEDULER_LOCKING_HELP,
    ),
    Setting(
        "breakpoint pending", AUTO_BOOLEAN, "debugger's behavior regarding pending breakpoints",
        of_engine("pending_breakpoints"),
    ),
    Setting(
        "breakpoint condition-evaluation", Enumeration(("auto", "host", "target")),
        "breakpoint condition evaluation mode", of_engine("condition_evaluation"),
        set_help=CONDITION_EVALUATION_HELP, show_help="Show mode of breakpoint condition evaluation.",
        line=lambda shell: f"Breakpoint condition evaluation mode is {_evaluation_words(shell)}.",
    ),
    Setting(
        "instruction-budget", COUNT, "wave-instructions after which a run stops", of_engine("instruction_budget"),
    ),
    Setting(
        "lds-out-of-range", Enumeration(LDS_OUT_OF_RANGE), "outcome of accesses beyond a workgroup's LDS",
        of_launch("lds_out_of_range"),
    ),
    Setting(
        "count-uninitialized", BOOLEAN, "counting of reads of buffer bytes that were never written",
        of_launch("count_uninitialized"),
    ),
    Setting(
        "non-stop", BOOLEAN, "whether rocdbg controls the inferior in non-stop mode",
        Place("non-stop", lambda shell: shell.settings.get("non-stop", False), _write_non_stop),
        sentence="Controlling the inferior in non-stop mode is {}.",
    ),
    *(
        Setting(
            f"amdgpu {name}", BOOLEAN, f"{name} mode", of_front_end(f"amdgpu {name}", False),
            set_help=f"Set {name} mode.\n\nExceptions are always reported at the instruction that caused them; "
            "this setting exists for scripts written for ROCgdb.",
            sentence=f"AMDGPU {what} reporting is {{}} (currently enabled).",
        )
        for name, what in (
            ("precise-memory", "precise memory access"), ("precise-alu-exceptions", "precise ALU exceptions"),
        )
    ),
    Setting(
        "cwd", PlainText(), "the current working directory to be used when the inferior is started", CWD,
        show_help="Show the current working directory that is used when the inferior is started.",
        line=_cwd_line,
    ),
    Setting(
        "architecture", STRING, "architecture of target", of_front_end("architecture", "auto"),
        line=_architecture_line,
    ),
    Setting(
        "endian", Enumeration(("big", "little", "auto")), "endianness of target", of_front_end("endian", "auto"),
        line=_endian_line,
    ),
    Setting(
        "osabi", Enumeration(("auto", "default", "none", "AMDGPU-HSA")), "OS ABI of target",
        of_front_end("osabi", "auto"), line=_osabi_line,
    ),
    Setting(
        "can-use-hw-watchpoints", SIGNED, "debugger's willingness to use watchpoint hardware",
        of_engine("hardware_watchpoints"),
        set_help="Set debugger's willingness to use watchpoint hardware.\n\nIf zero, watchpoints that are set "
        "then are called software watchpoints, and read and access watchpoints are refused, as in GDB. They work "
        "in the same way.",
    ),
    Setting(
        "trace-buffer-size", DEPTH, "requested size of trace buffer", of_front_end("trace-buffer-size", -1),
    ),
    Setting(
        "circular-trace-buffer", BOOLEAN, "target's use of circular trace buffer",
        of_front_end("circular-trace-buffer", False),
    ),
    Setting(
        "default-collect", STRING, "the list of expressions to collect by default",
        of_front_end("default-collect", ""),
    ),
    Setting(
        "trace-notes", STRING, "notes string to use for current and future trace runs",
        of_front_end("trace-notes", ""),
        sentence="The notes string to use for current and future trace runs is \"{}\".",
        show_help="Show the notes string to use for current and future trace runs.",
    ),
    Setting(
        "trace-stop-notes", STRING, "notes string to use for future tstop commands",
        of_front_end("trace-stop-notes", ""),
        sentence="The notes string to use for future tstop commands is \"{}\".",
        show_help="Show the notes string to use for future tstop commands.",
    ),
    Setting(
        "mem inaccessible-by-default", BOOLEAN, "handling of unknown memory regions",
        of_front_end("mem inaccessible-by-default", True),
        line=lambda shell: (
            "Unknown memory addresses will be treated as "
            f"{'inaccessible' if shell.settings.get('mem inaccessible-by-default', True) else 'RAM'}."
        ),
    ),
    Setting(
        "tdesc filename", STRING, "the file to read for an XML target description",
        of_front_end("tdesc filename", ""),
        line=lambda shell: "The target description will be read from the target.",
    ),
)
