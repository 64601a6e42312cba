"""Launch control: what the next ``run`` starts, and the dispatch that the last one started."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from rocdbg.codeobject import Kernel
from rocdbg.codeobject.metadata import KernelKind
from rocdbg.debugger.base.errors import LaunchError, NoProgramError
from rocdbg.debugger.base.warnings import Warnings
from rocdbg.debugger.program.program import Program
from rocdbg.debugger.target.capabilities.target_state import LoadedCodeObject, Target
from rocdbg.debugger.target.device_state import OwnMemory
from rocdbg.debugger.target.reversible_target import RecordedTarget
from rocdbg.debugger.values import c_types
from rocdbg.debugger.values.value import Value
from rocdbg.debugger.values.value_storage import MemoryStorage
from rocdbg.dwarf.info.types import Type
from rocdbg.errors import Error
from rocdbg.launch.argument_binding import BoundBuffer, BoundLaunch, arguments_from_specs, bind, undescribed
from rocdbg.launch.debug_files import DebugFiles
from rocdbg.launch.elements import ArrayType as BufferType
from rocdbg.launch.errors import LaunchError as UnknownKernelError
from rocdbg.launch.image_arguments import ImageSpec
from rocdbg.launch.init_kernels import InitKernelError, finalise, initialise, kernels_of_kind
from rocdbg.launch.kernel_names import KernelMap, holder_of, names_in, near_names, only_holder
from rocdbg.launch.launch_file import read_launch_file
from rocdbg.launch.parameters import parameter_names, parameter_types
from rocdbg.launch.shader_setup import configured, raw_arguments
from rocdbg.launch.spec import MAX_STACK, LaunchSpec
from rocdbg.sim.device.journal import Journal
from rocdbg.sim.device.machine import LdsOutOfRange, Machine, MachineOptions
from rocdbg.sim.device.machine import LoadedCodeObject as Placed
from rocdbg.sim.device.schedule import Schedule
from rocdbg.sim.engine.translation_cache import take_warnings
from rocdbg.sim.services.output import Stream

_ELEMENTS: dict[str, Type] = {
    "i8": c_types.SIGNED_CHAR, "i16": c_types.SHORT, "i32": c_types.INT, "i64": c_types.LONG,
    "u8": c_types.UNSIGNED_CHAR, "u16": c_types.UNSIGNED_SHORT, "u32": c_types.UNSIGNED_INT,
    "u64": c_types.UNSIGNED_LONG, "f16": c_types.HALF, "bf16": c_types.BFLOAT16, "f32": c_types.FLOAT,
    "f64": c_types.DOUBLE, "bytes": c_types.UNSIGNED_CHAR,
}


LDS_OUT_OF_RANGE = tuple(choice.value for choice in LdsOutOfRange)
"""Names of what an access beyond a workgroup's LDS may do."""


class LaunchControl:
    """The kernel, grid, workgroup and arguments of the next run; each run gets a new device.

    ``spec`` is the description, which ``set grid`` and similar commands change. ``bound`` is the launch that is
    running, or the last one; its buffers stay readable until the next run.
    """

    needs_program = True

    def __init__(self, warnings: Warnings) -> None:
        self._warnings = warnings
        self.spec = LaunchSpec()
        self.bound: BoundLaunch | None = None
        self.machine_options = MachineOptions()
        self.record = True
        """Whether runs are recorded, which makes reverse execution possible."""
        self.ask: Callable[[str], bool] = lambda question: True
        """Asks the user whether a change in the past of a run may discard its future."""
        self.output: Callable[[str, bool], None] | None = None
        """Shows text that kernels print, and whether it goes to standard error."""
        self.described: Callable[[], None] = lambda: None
        """Called when the user describes the launch."""
        self.extended: Callable[[], None] = lambda: None
        """Called when code objects are added to the launch."""
        self.given: list[Any] | None = None
        """Arguments used instead of those of ``spec``: the arguments of a restored recording."""
        self.bound_arguments: list[Any] = []
        """The arguments of ``bound``."""
        self._programs: list[Program] = []
        self._target: RecordedTarget | None = None

    # -- the device of the next run

    @property
    def count_uninitialized(self) -> bool:
        """Whether reads of uninitialized buffer bytes are counted."""
        return self.machine_options.count_uninitialized

    @count_uninitialized.setter
    def count_uninitialized(self, on: bool) -> None:
        self.machine_options = replace(self.machine_options, count_uninitialized=on)

    @property
    def schedule(self) -> str:
        """How waves are interleaved: ``round-robin``, ``one-at-a-time``, ``random SEED`` or ``lockstep N``."""
        return str(self.machine_options.schedule)

    @schedule.setter
    def schedule(self, text: str) -> None:
        schedule = Schedule.parse(text)
        if schedule is None:
            raise LaunchError(f'Unknown schedule "{text}": use round-robin, one-at-a-time, random SEED or lockstep N.')
        self.machine_options = replace(self.machine_options, schedule=schedule)

    @property
    def lds_out_of_range(self) -> str:
        """What an access beyond a workgroup's LDS does, one of `LDS_OUT_OF_RANGE`: fault, or read 0 and write nothing.
        """
        return self.machine_options.lds_out_of_range.value

    @lds_out_of_range.setter
    def lds_out_of_range(self, word: str) -> None:
        self.machine_options = replace(self.machine_options, lds_out_of_range=LdsOutOfRange(word))

    @property
    def stack_size(self) -> int:
        """Bytes of stack per lane for code whose need the compiler could not determine: the launch's value, otherwise
        the default.
        """
        return self.machine_options.dynamic_stack_size if self.spec.stack_size is None else self.spec.stack_size

    @stack_size.setter
    def stack_size(self, size: int) -> None:
        if not 0 <= size <= MAX_STACK:
            raise LaunchError(f"The size of the stack must be from 0 to {MAX_STACK} bytes.")
        self.spec.stack_size = None
        self.machine_options = replace(self.machine_options, dynamic_stack_size=size)

    # -- the description

    def read_file(self, path: Path, target_id: str | None = None) -> tuple[Path, str | None]:
        """Use a launch file; returns the code object's path and target id, which the caller opens."""
        spec = read_launch_file(path)
        if target_id is not None:
            spec.arch = target_id
        file = spec.expand_file(target_id)
        if file is None:
            raise LaunchError(f'{path}: the launch file does not name a code object; add a line such as file = "k.co".')
        self.spec = spec
        return file, spec.arch

    def set_programs(self, programs: list[Program], keep_spec: bool = False) -> None:
        """Use the programs of a new file: the description starts empty unless it came with a launch file."""
        self.release()
        self._programs, self.given = programs, None
        if not keep_spec:
            self.spec = LaunchSpec(file=programs[0].path if programs else None)

    @property
    def programs(self) -> list[Program]:
        """All code objects of the file."""
        return self._programs

    @property
    def program(self) -> Program:
        """The program with the chosen kernel; the first one if no kernel is chosen or no program has it."""
        if not self._programs:
            raise NoProgramError
        if len(self._programs) > 1:
            name, maps = self.spec.kernel, [self._kernels(program) for program in self._programs]
            return self._programs[(holder_of(name, maps) if name is not None else only_holder(maps)) or 0]
        return self._programs[0]

    def kernel_names(self) -> list[str]:
        """Return what ``kernel`` lists: the kernels of all programs, by source name where that is unique."""
        if not self._programs:
            raise NoProgramError
        return names_in(self._kernels(program) for program in self._programs)

    def kernels(self) -> Iterator[tuple[Program, Kernel]]:
        """All kernels with the programs they are in."""
        for program in self._programs:
            for kernel in program.code_object.kernels.values():
                yield program, kernel

    def set_kernel(self, name: str) -> Kernel:
        """``kernel NAME``. Raises a `rocdbg.Error` that lists similar names."""
        before, self.spec.kernel = self.spec.kernel, name
        self.described()
        try:
            return self.kernel
        except Error:
            self.spec.kernel = before
            raise

    def set_grid(self, text: str) -> None:
        """``set grid 1024`` or ``set grid 64 32 1``, in work-items."""
        self.spec.set_grid(text)
        self.described()

    def set_workgroup(self, text: str) -> None:
        """``set workgroup 64``."""
        self.spec.set_workgroup(text)
        self.described()

    def set_argument(self, index: int, text: str) -> None:
        """``set arg 1 f32[1024]:arange``."""
        if self.given is not None:
            raise LaunchError('The arguments come from the recording: load the program with "file" to set others.')
        self.spec.set_argument(index, text)
        self.described()

    def set_kernarg(self, text: str) -> None:
        """``set kernarg 16 f32[64]:arange``, ``set kernarg 000102ff``: see `LaunchSpec.set_kernarg`."""
        if self.given is not None:
            raise LaunchError('The arguments come from the recording: load the program with "file" to set others.')
        self.spec.set_kernarg(text, Path())
        self.described()

    def add_file(self, name: str) -> list[Program]:
        """``load FILE``: load these code objects too at the next run; they define symbols that the others lack."""
        program = self.program
        target_id = str(program.code_object.target_id)
        added = Program.open_all(name, target_id, program.debug_files)
        self._programs.extend(added)
        self.spec.also.append(Path(name))
        self.extended()
        return added

    def open_all(self, name: str, target_id: str | None, files: DebugFiles, with_others: bool) -> list[Program]:
        """Return the programs of a file; with ``with_others``, those of the launch file's other code objects too."""
        programs = Program.open_all(name, target_id, files)
        if with_others:
            chosen = target_id or str(programs[0].code_object.target_id)
            programs += [p for other in self.spec.expand_also(chosen) for p in Program.open_all(other, chosen, files)]
        return programs

    def set_dynamic_lds(self, size: int) -> None:
        """Bytes of dynamic LDS."""
        if size < 0:
            raise LaunchError("The size of dynamic LDS cannot be negative.")
        self.spec.dynamic_lds = size
        self.described()

    @staticmethod
    def _kernels(program: Program) -> KernelMap:
        return KernelMap(program.code_object, program.info if program.has_debug_info else None)

    @property
    def kernel(self) -> Kernel:
        """The kernel that the next run starts: the chosen one, otherwise the only one."""
        kernels, name = self._kernels(self.program), self.spec.kernel
        several = name is None and only_holder([self._kernels(program) for program in self._programs]) is None
        if len(self._programs) > 1 and (several or (name is not None and not kernels.candidates(name))):
            what, names = ("kernel", "name the kernel") if name is None else (f"kernel {name}", "no such kernel")
            raise UnknownKernelError(what, names + near_names(name or "", self.kernel_names()))
        return configured(kernels[name] if name is not None else kernels.only(), self.spec)

    @property
    def parameter_count(self) -> int | None:
        """How many arguments the kernel takes; ``None`` if not known."""
        kernel = self.kernel
        return None if kernel.metadata is None or undescribed(kernel) else len(kernel.metadata.explicit_args)

    # -- running

    def start(self, journal: Journal | None = None) -> RecordedTarget:
        """Make a device, load the code objects and start the kernel; return before anything has run.

        ``journal`` is that of a run to be repeated.
        """
        program = self.program
        kernel = self.kernel
        grid, workgroup, arguments = self.spec.complete()
        self.release()
        options = self.machine_options
        if self.spec.stack_size is not None:
            options = replace(options, dynamic_stack_size=self.spec.stack_size)
        machine = Machine(program.code_object.target.device(self.spec.arch), options)
        machine.services.output.sink = self._show
        first_of_all = [program, *(other for other in self._programs if other is not program)]
        placed = machine.load_all([each.code_object for each in first_of_all])
        loaded = [LoadedCodeObject(each.code_object, each.base) for each in placed]
        initialise(placed, besides=kernel)
        info = program.info if program.has_debug_info else None
        raw = raw_arguments(kernel, self.spec, arguments)
        unknown = raw is None and not arguments and self.given is None and undescribed(kernel)
        if unknown and kernel.descriptor.enable_sgpr_kernarg_segment_ptr:
            reason = f"the arguments of kernel {kernel.name} are not described"
            self._warnings.add(f'{reason}, so its kernarg segment is all zeros; use "set kernarg" to set it')
        names = parameter_names(kernel, info) if raw is None and kernel.metadata is not None else []
        self.bound_arguments = self.given if self.given is not None else arguments_from_specs(arguments, names)
        self.bound = bind(
            machine,
            kernel,
            grid,
            workgroup,
            self.bound_arguments,
            types=parameter_types(kernel, info),
            names=names,
            dynamic_lds=self.spec.dynamic_lds,
            raw=raw,
        )
        for problem in take_warnings():
            self._warnings.add(problem)
        target = RecordedTarget(
            self.bound, program.kernel_title(kernel), loaded, lambda question: self.ask(question)
        )
        if any(kernels_of_kind(each, KernelKind.FINI) for each in placed):
            target.at_exit = partial(self._finalise, placed, kernel)
        if self.record or journal is not None:
            target.record(journal)
        self._target = target
        return target

    def _finalise(self, placed: Sequence[Placed], kernel: Kernel) -> None:
        try:
            finalise(placed, besides=kernel)
        except InitKernelError as error:  # the program has ended all the same
            self._warnings.add(str(error))

    def _show(self, text: str, stream: Stream) -> None:
        if self.output is not None:
            self.output(text, stream is Stream.STDERR)

    def remains(self) -> Target | None:
        """Return the last launch's target; its memory stays readable until the next launch."""
        return self._target

    def release(self) -> None:
        """Free the last launch's memory."""
        if self._target is not None:
            self._target.stop_recording()  # otherwise target, memory and recorder reference one another and stay alive
        if self.bound is not None:
            self.bound.release()
            self.bound = self._target = None

    # -- buffers as values

    def buffer_names(self) -> list[str]:
        """Names of the buffers that are convenience variables."""
        return [a.name for a in self.spec.arguments if a is not None and a.name and a.buffer is not None]

    def buffer_value(self, name: str) -> Value:
        """Return a named buffer: its memory once the kernel has been started, before that its initial contents."""
        if self.bound is not None:
            for bound in self.bound.buffers:
                if bound.buffer.name == name:
                    return self._bound_value(self.bound.machine, bound)
        for argument in self.spec.arguments:
            if argument is not None and argument.name == name and argument.buffer is not None:
                data = b""
                if argument.init is not None:
                    data = argument.init.make(argument.buffer).tobytes()
                return Value(_array(argument.buffer, argument.image), data=data)
        return Value(c_types.VOID)

    @staticmethod
    def _bound_value(machine: Machine, bound: BoundBuffer) -> Value:
        size = bound.allocation.size
        array, image = bound.buffer.array, bound.buffer.image
        if bound.layout is not None and array is not None:  # a buffer with padding is not an array
            return Value(_array(array, image), data=bound.contents.tobytes())
        type_ = _array(array) if array is not None else c_types.array_of(c_types.UNSIGNED_CHAR, size)
        return Value(type_, MemoryStorage(_MachineMemory(machine), 0, bound.allocation.address))


class _MachineMemory:
    """Global memory of a device, without any wave."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine

    def generic_address(self, space: int, address: int) -> int | None:
        """Return the address itself: buffers are in global memory."""
        return address

    def read(self, space: int, address: int, size: int) -> bytes:
        """Read bytes. Raises the device's memory error."""
        return self._machine.memory.read(address, size)

    def write(self, space: int, address: int, data: bytes) -> None:
        """Write bytes. Raises the device's memory error."""
        self._machine.memory.write(address, data)

    def keep(self, data: bytes) -> int:
        """Store data in memory of the debugger, and return its address. Raises `DebuggerError`."""
        return OwnMemory(self._machine.memory).keep(data)


def _array(array: BufferType, image: ImageSpec | None = None) -> Type:
    """Return the type of a buffer, an array; that of an image is an array of layers of rows of texels."""
    element = _ELEMENTS[array.element]
    for count in reversed(image.dimensions if image is not None else (array.count,)):
        element = c_types.array_of(element, count)
    return element
