"""The Python API: load a code object, launch its kernels on the simulated device, get the results.

program = rocdbg.load("saxpy.gfx90a.co")
kernel = program.kernels["saxpy"]
dispatch = kernel.launch(grid=1024, workgroup=64, args=[np.float32(2), x, y, np.int32(1024)])
dispatch.run()
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rocdbg import codeobject
from rocdbg.dwarf.info import DebugInfo
from rocdbg.errors import Error
from rocdbg.launch.binding import BoundLaunch, Buffer, Local, arguments_from_specs, bind
from rocdbg.launch.debug_sections import DebugSections, has_debug_info
from rocdbg.launch.errors import LaunchError
from rocdbg.launch.expectation import Mismatch
from rocdbg.launch.kernel_names import KernelMap, holder_of, names_in, near_names
from rocdbg.launch.launch_file import read_launch_file
from rocdbg.launch.parameters import parameter_names, parameter_types
from rocdbg.launch.spec import check_dimensions
from rocdbg.sim.device.machine import LoadedCodeObject, Machine, MachineOptions
from rocdbg.sim.options import RunOptions
from rocdbg.sim.stops import Fault, Stop, StopKind

__all__ = [
    "BudgetExceeded",
    "Dispatch",
    "GpuFault",
    "Kernel",
    "KernelMapping",
    "Local",
    "Module",
    "Program",
    "launch_file",
    "load",
]


class GpuFault(Error):
    """A kernel stopped by an exception. ``stop`` says all; ``fault`` is the memory violation, if one."""

    def __init__(self, kernel: str, stop: Stop) -> None:
        self.kernel = kernel
        self.stop = stop
        wave = stop.wave
        where = f" in wave {wave.number} {wave.workgroup}/{wave.index}" if wave is not None else ""
        super().__init__(f"kernel {kernel}{where}: {stop.message}")

    @property
    def fault(self) -> Fault | None:
        return self.stop.fault

    @property
    def lanes(self) -> tuple[int, ...]:
        """The lanes concerned."""
        return self.stop.lanes


class BudgetExceeded(Error):
    """A kernel ran longer than the caller allows. ``kernel``, ``instructions`` (the allowance)."""

    def __init__(self, kernel: str, instructions: int) -> None:
        self.kernel = kernel
        self.instructions = instructions
        super().__init__(f"kernel {kernel} has not ended within {instructions} instructions")


def load(
    path: str | os.PathLike[str], arch: str | None = None, options: MachineOptions | None = None
) -> Program:
    """Open a code object, offload bundle or host executable and prepare a device for it.

    ``arch`` is a target id (``gfx90a``, ``gfx90a:xnack-``) that chooses among the entries of a fat binary. Where
    several translation units have an entry for it, all are loaded. Raises the errors of
    ``codeobject.open_modules``.
    """
    return Program(codeobject.open_modules(path, arch), arch, options)


def launch_file(
    path: str | os.PathLike[str], arch: str | None = None, options: MachineOptions | None = None
) -> Dispatch:
    """Start what a launch file describes; ``arch`` overrides its target. ``Dispatch.check`` compares the results.

    Raises LaunchError and what `load` raises.
    """
    spec = read_launch_file(os.fspath(path))
    file = spec.expand_file(arch)
    assert file is not None, "a launch file names its code object"
    program = load(file, arch or spec.arch, options)
    kernels = program.kernels
    kernel = kernels[spec.kernel] if spec.kernel is not None else kernels.only()
    grid, workgroup, arguments = spec.complete()
    return kernel.launch(
        grid, workgroup, arguments_from_specs(arguments, kernel.parameter_names), spec.dynamic_lds
    )


class Module:
    """One code object of a program."""

    def __init__(self, program: Program, code_object: codeobject.CodeObject) -> None:
        self.program = program
        self.code_object = code_object

    @cached_property
    def loaded(self) -> LoadedCodeObject:
        """The code object in the device's memory."""
        return self.program.machine.load(self.code_object)

    @cached_property
    def debug_info(self) -> DebugInfo | None:
        """Debug information, read lazily; None if the code object has none."""
        return debug_info_of(self.code_object)

    @cached_property
    def kernels(self) -> KernelMap:
        """The code object's kernels by name."""
        return KernelMap(self.code_object, self.debug_info)


class Program:
    """Code objects and the device they run on. Launches share the device's memory: globals keep their values.

    There is one code object, or one of each translation unit of a fat binary; `code_object`, `loaded` and
    `debug_info` are the first's.
    """

    def __init__(
        self,
        code_objects: Sequence[codeobject.CodeObject],
        arch: str | None = None,
        options: MachineOptions | None = None,
    ) -> None:
        self.modules = tuple(Module(self, code_object) for code_object in code_objects)
        self._arch = arch
        self._options = options

    def __repr__(self) -> str:
        return f"<Program {self.code_object.name} {self.code_object.target_id}>"

    @property
    def code_object(self) -> codeobject.CodeObject:
        """The first (mostly the only) code object."""
        return self.modules[0].code_object

    @cached_property
    def machine(self) -> Machine:
        """The simulated device, made when first needed. Code objects are loaded when first needed."""
        return Machine(self.code_object.target.device(self._arch), self._options)

    @property
    def loaded(self) -> LoadedCodeObject:
        """The first code object in the device's memory."""
        return self.modules[0].loaded

    @property
    def debug_info(self) -> DebugInfo | None:
        """The first code object's debug information, read lazily; None if it has none."""
        return self.modules[0].debug_info

    @cached_property
    def kernels(self) -> KernelMapping:
        """The kernels, by source name, metadata name and mangled name."""
        return KernelMapping(self)

    def symbol(self, name: str) -> int:
        """Device address of a global symbol. Raises CodeObjectError if there is none of that name."""
        for module in self.modules[1:]:
            if self.code_object.symbols.get(name) is None and module.code_object.symbols.get(name) is not None:
                return module.loaded.symbol_address(name)
        return self.loaded.symbol_address(name)

    def read(self, address: int, size: int) -> bytes:
        """``size`` bytes of device memory. Raises MemoryAccessError."""
        return self.machine.memory.read(address, size)

    def write(self, address: int, data: bytes) -> None:
        """Write device memory. Raises MemoryAccessError."""
        self.machine.memory.write(address, data)


class KernelMapping(Mapping[str, "Kernel"]):
    """The kernels of a program. A name that is unknown or ambiguous raises LaunchError."""

    def __init__(self, program: Program) -> None:
        self._modules = program.modules

    def __getitem__(self, name: str) -> Kernel:
        index = holder_of(name, [module.kernels for module in self._modules])
        holder = self._modules[index] if index is not None else None
        if holder is None and len(self._modules) > 1:
            file = self._modules[0].code_object.path
            raise LaunchError(f"kernel {name}", f"not in {file}{near_names(name, list(self))}")
        module = holder or self._modules[0]
        return Kernel(module, module.kernels[name])

    def only(self) -> Kernel:
        """The kernel of a program that has just one. Raises LaunchError naming them otherwise."""
        holders = [module for module in self._modules if len(module.kernels)] or list(self._modules[:1])
        if len(holders) > 1:
            listed = ", ".join(list(self)[:8])
            raise LaunchError("kernel", f"name the kernel; {len(holders)} code objects have some: {listed}")
        return Kernel(holders[0], holders[0].kernels.only())

    def __contains__(self, name: object) -> bool:
        return any(name in module.kernels for module in self._modules)

    def __iter__(self) -> Iterator[str]:
        return iter(names_in(module.kernels for module in self._modules))

    def __len__(self) -> int:
        return len(list(iter(self)))


class Kernel:
    """A kernel that can be launched."""

    def __init__(self, module: Module, kernel: codeobject.Kernel) -> None:
        self.module = module
        self.kernel = kernel
        """The code object's view of it: descriptor, metadata, addresses."""

    def __repr__(self) -> str:
        return f"<Kernel {self.name}>"

    @property
    def name(self) -> str:
        """Its symbol: mangled for HIP."""
        return self.kernel.name

    @property
    def wave_size(self) -> int:
        """Lanes per wave, 32 or 64."""
        return self.kernel.wave_size

    @cached_property
    def parameter_types(self) -> list[str | None]:
        """Element type (``f32``, ...) of each explicit parameter; None for pointers and aggregates."""
        return parameter_types(self.kernel, self.module.debug_info)

    @cached_property
    def parameter_names(self) -> list[str | None]:
        """Name of each explicit parameter where metadata or debug information has it."""
        return parameter_names(self.kernel, self.module.debug_info)

    def launch(
        self,
        grid: int | Sequence[int],
        workgroup: int | Sequence[int] = 64,
        args: Sequence[Any] = (),
        dynamic_lds: int = 0,
    ) -> Dispatch:
        """Start the kernel; nothing runs before ``Dispatch.run``.

        ``grid`` counts work-items, as in an AQL packet. ``args`` are the explicit arguments: a NumPy array
        for a pointer (copied in now and back when the dispatch ends), NumPy scalars or Python numbers by
        value, bytes for structs, `Local` for LDS, None for a null pointer, an int for a device address. The
        same array given twice is one buffer. Raises LaunchError, and LaunchLimitError for sizes beyond the
        kernel's or the device's.
        """
        arrays: list[tuple[NDArray[Any], Buffer]] = []
        return Dispatch(
            self.kernel.name,
            bind(
                self.module.loaded.machine,
                self.kernel,
                check_dimensions(grid, "grid"),
                check_dimensions(workgroup, "workgroup"),
                [self._argument(index, argument, arrays) for index, argument in enumerate(args)],
                types=self.parameter_types,
                names=self.parameter_names,
                dynamic_lds=dynamic_lds,
            ),
            arrays,
        )

    def _argument(self, index: int, argument: Any, arrays: list[tuple[NDArray[Any], Buffer]]) -> Any:
        """Arrays for pointer parameters become buffers; everything else goes through."""
        if not isinstance(argument, np.ndarray):
            return argument
        metadata = self.kernel.metadata
        parameters = metadata.explicit_args if metadata is not None else ()
        if index < len(parameters):
            parameter = parameters[index]
            by_value = parameter.value_kind is codeobject.ValueKind.BY_VALUE
            if by_value and parameter.size == argument.nbytes:
                return argument
        if argument.dtype.hasobject:
            raise LaunchError(f"arg {index}", "an array of Python objects cannot be a buffer")
        for array, buffer in arrays:
            if array is argument:
                return buffer
        storage = np.frombuffer(argument.tobytes(), np.uint8)
        name = self.parameter_names[index] if index < len(parameters) else None
        buffer = Buffer(name or f"arg{index}", storage)
        arrays.append((argument, buffer))
        return buffer


class Dispatch:
    """A launched kernel. ``run`` takes it to its end."""

    def __init__(
        self, kernel: str, launch: BoundLaunch, arrays: Sequence[tuple[NDArray[Any], Buffer]]
    ) -> None:
        self.kernel = kernel
        self.launch = launch
        self._arrays = arrays

    @property
    def finished(self) -> bool:
        """Whether all its waves have ended."""
        return self.launch.dispatch.finished

    @property
    def instructions(self) -> int:
        """Wave-instructions executed so far."""
        return self.launch.dispatch.instructions

    def check(self) -> list[Mismatch]:
        """Where buffers differ from what a launch file expects in them, in order of arguments."""
        return self.launch.check()

    def run(self, max_instructions: int | None = None) -> None:
        """Run to the end, then copy buffers back into their arrays and free the device's copies.

        Debug traps are passed over, as on a device without a debugger. Raises GpuFault on an exception
        (arrays then hold what the kernel had written), and BudgetExceeded after ``max_instructions``
        wave-instructions; the dispatch can then be run on.
        """
        dispatch = self.launch.dispatch
        while not dispatch.finished:
            left = None if max_instructions is None else max_instructions - dispatch.instructions
            stop = dispatch.run(RunOptions(budget=left))
            if stop.is_exception:
                self._finish()
                raise GpuFault(self.kernel, stop)
            if stop.kind is StopKind.BUDGET:
                assert max_instructions is not None
                raise BudgetExceeded(self.kernel, max_instructions)
            if stop.kind is StopKind.INTERRUPTED:
                raise KeyboardInterrupt
        self._finish()

    def _finish(self) -> None:
        """Copy writable arrays back and free what the launch holds."""
        contents = {id(bound.buffer): bound.contents for bound in self.launch.buffers}
        for array, buffer in self._arrays:
            if array.flags.writeable and id(buffer) in contents:
                array[...] = contents[id(buffer)].view(array.dtype).reshape(array.shape)
        self._arrays = ()
        self.launch.release()


def debug_info_of(code_object: codeobject.CodeObject) -> DebugInfo | None:
    """The debug information of a code object, read lazily; None if it has none."""
    if not has_debug_info(code_object):
        return None
    return DebugInfo(DebugSections(code_object))
