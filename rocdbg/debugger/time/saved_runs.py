"""`record save` and `record restore`: the launch and the recording as a file, and a launch made of one."""

from __future__ import annotations

from itertools import zip_longest
from pathlib import Path

from msgspec.structs import replace

import rocdbg
from rocdbg.codeobject import CodeObject
from rocdbg.debugger.base.errors import DebuggerError
from rocdbg.debugger.program.program import Program
from rocdbg.debugger.running.launch_control import LaunchControl
from rocdbg.debugger.target.recorded_target import RecordedTarget
from rocdbg.launch.binding import Buffer
from rocdbg.launch.recording_file import (
    RecordFileError,
    SavedCode,
    SavedRun,
    load,
    restored_arguments,
    save,
    saved_arguments,
)
from rocdbg.launch.spec import ArgumentSpec, LaunchSpec
from rocdbg.sim.device.journal import Journal
from rocdbg.sim.device.machine import LdsOutOfRange, MachineOptions
from rocdbg.sim.device.schedule import Schedule

_OPTIONS = ("memory_limit", "dynamic_stack_size", "resident_waves", "count_uninitialized")


def save_run(launch: LaunchControl, target: RecordedTarget, path: Path) -> None:
    """Write the recording of a target that ``launch`` has made. Raises a `rocdbg.Error`."""
    recording, bound = target.recording, launch.bound
    if recording is None or bound is None or recording.recorder.begin:
        raise DebuggerError("Only a recording that begins with the launch can be saved.")
    recorder = recording.recorder
    present = recorder.position
    recorder.settle()
    recording.go_to(recorder.end)
    digest = recorder.digest()
    end = recorder.end
    recording.go_to(present)
    machine, plan = bound.machine, bound.dispatch.plan
    options = {name: getattr(machine.options, name) for name in _OPTIONS}
    first = launch.program
    programs = [first, *(other for other in launch.programs if other is not first)]
    save(
        SavedRun(
            rocdbg.__version__, machine.target.name, launch.kernel.name, plan.grid, plan.workgroup,
            launch.spec.dynamic_lds, saved_arguments(launch.bound_arguments),
            [SavedCode(str(each.path.resolve()), bytes(each.code_object.source.data)) for each in programs],
            {
                **options, "lds_out_of_range": machine.options.lds_out_of_range.value,
                "schedule": str(machine.options.schedule),
            },
            recorder.journal.entries, end, digest, launch.spec.kernarg,
            [argument.offset for argument in launch.spec.arguments if argument and argument.offset is not None],
            launch.spec.user_data, launch.spec.registers,
        ),
        path,
    )


def _schedule(text: object) -> Schedule:
    schedule = Schedule.parse(str(text))
    if schedule is None:
        raise ValueError(f"no schedule is called {text}")
    return schedule


class RestoredRun:
    """A recording read from a file: its programs, and how to launch them again."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._saved = load(path)
        self.warning = ""
        """What may be wrong with it."""
        if self._saved.rocdbg != rocdbg.__version__:
            self.warning = f"{path} was recorded by rocdbg {self._saved.rocdbg}; this is {rocdbg.__version__}"
        if not self._saved.code:
            raise RecordFileError(path, "it has no code")
        self.programs = [
            Program(CodeObject(code.data, name=code.path), Path(code.path)) for code in self._saved.code
        ]
        self._arguments = restored_arguments(self._saved.arguments, path)
        try:
            self._options = MachineOptions(
                **{name: self._saved.options[name] for name in _OPTIONS},  # type: ignore[arg-type]
                lds_out_of_range=LdsOutOfRange(self._saved.options["lds_out_of_range"]),
                schedule=_schedule(self._saved.options["schedule"]),
            )
        except (KeyError, ValueError):
            raise RecordFileError(path, "it does not say what the device was") from None
        ends = [entry.end for entry in self._saved.journal]
        if ends != sorted(ends) or (ends and (ends[0] < 0 or ends[-1] != self._saved.end)):
            raise RecordFileError(path, "its positions are not in order")
        offsets = self._saved.offsets
        raw = self._saved.kernarg is not None or self._saved.user_data is not None
        if len(offsets) != (len(self._arguments) if raw else 0) or min(offsets, default=0) < 0:
            raise RecordFileError(path, "its arguments have no places")

    def describe(self, launch: LaunchControl) -> None:
        """Make this the launch that `run` begins anew."""
        saved = self._saved
        launch.set_programs(self.programs)
        arguments = [
            ArgumentSpec(f"arg {index}", argument.name, argument.array, offset=offset, image=argument.image)
            if isinstance(argument, Buffer) else ArgumentSpec(f"arg {index}", value=b"", offset=offset)
            for index, (argument, offset) in enumerate(zip_longest(self._arguments, saved.offsets))  # all or none
        ]
        launch.spec = LaunchSpec(
            self.programs[0].path, saved.architecture, saved.kernel, saved.grid, saved.workgroup, saved.dynamic_lds,
            list(arguments), kernarg=saved.kernarg, user_data=saved.user_data, registers=saved.registers,
        )
        launch.given = self._arguments

    def start(self, launch: LaunchControl) -> RecordedTarget:
        """The target at the beginning of what was recorded."""
        kept = launch.machine_options
        launch.machine_options = replace(self._options, cache_dir=kept.cache_dir)
        try:
            target = launch.start(Journal(self._saved.journal))
        finally:
            launch.machine_options = kept
        assert target.recording is not None
        target.recording.recorder.expect(self._saved.digest)
        return target
