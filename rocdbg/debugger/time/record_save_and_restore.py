"""`record save` and `record restore`: write a launch and its recording to a file, and restore a launch from one."""

from __future__ import annotations

from itertools import zip_longest
from pathlib import Path

from msgspec.structs import replace

import rocdbg
from rocdbg.codeobject import CodeObject
from rocdbg.debugger.base.errors import DebuggerError
from rocdbg.debugger.program.program import Program
from rocdbg.debugger.running.launch_control import LaunchControl
from rocdbg.debugger.target.reversible_target import RecordedTarget
from rocdbg.launch.argument_binding import Buffer
from rocdbg.launch.launch_in_recording_file import (
    check_launch,
    restored_arguments,
    restored_options,
    saved_arguments,
    saved_options,
)
from rocdbg.launch.recording_file_format import RecordFileError, SavedCode, SavedRun, load, save
from rocdbg.launch.spec import ArgumentSpec, LaunchSpec
from rocdbg.sim.device.journal import Journal, JournalError
from rocdbg.text import one_line


def save_run(launch: LaunchControl, target: RecordedTarget, path: Path) -> None:
    """Write the recording of a target that ``launch`` created. Raises a `rocdbg.Error`."""
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
    first = launch.program
    programs = [first, *(other for other in launch.programs if other is not first)]
    save(
        SavedRun(
            rocdbg.__version__, machine.target.name, launch.kernel.name, plan.grid, plan.workgroup,
            launch.spec.dynamic_lds, saved_arguments(launch.bound_arguments),
            [SavedCode(str(each.path.resolve()), bytes(each.code_object.source.data)) for each in programs],
            saved_options(machine.options), recorder.saved_journal().entries, end, digest, launch.spec.kernarg,
            [argument.offset for argument in launch.spec.arguments if argument and argument.offset is not None],
            launch.spec.user_data, launch.spec.registers,
        ),
        path,
    )


class RestoredRun:
    """A recording read from a file: its programs, and how to launch them again."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._saved = load(path)
        self.warning = ""
        """A warning about what may be wrong with the recording."""
        if self._saved.rocdbg != rocdbg.__version__:
            self.warning = one_line(
                f"{path} was recorded by rocdbg {self._saved.rocdbg}, but this is rocdbg {rocdbg.__version__}"
            )
        check_launch(self._saved, path)
        self._options = restored_options(self._saved.options, path)
        self._arguments = restored_arguments(self._saved.arguments, path)
        self.programs = [
            Program(CodeObject(code.data, name=code.path), Path(code.path)) for code in self._saved.code
        ]
        device = self.programs[0].code_object.target.device(self._saved.architecture)
        if device != self._saved.architecture:
            recorded = self._saved.architecture
            raise RecordFileError(path, f"its code is for {device}, but the recording says that it ran on {recorded}")

    def describe(self, launch: LaunchControl) -> None:
        """Make this the launch that `run` starts."""
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
        """Return a target at the beginning of the recording. Raises a `rocdbg.Error` if the recording is inconsistent.
        """
        kept = launch.machine_options
        launch.machine_options = replace(self._options, cache_dir=kept.cache_dir)
        try:
            target = launch.start(Journal(self._saved.journal))
        except JournalError as error:
            raise RecordFileError(self.path, str(error)) from None
        except MemoryError:
            raise RecordFileError(self.path, "there is not enough memory for its launch") from None
        finally:
            launch.machine_options = kept
        assert target.recording is not None
        target.recording.recorder.expect(self._saved.digest)
        return target
