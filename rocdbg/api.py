"""The Python API: load a code object, launch its kernels on the simulated device, get the results.

program = rocdbg.load("saxpy.gfx90a.co")
kernel = program.kernels["saxpy"]
dispatch = kernel.launch(grid=1024, workgroup=64, args=[np.float32(2), x, y, np.int32(1024)])
dispatch.run()
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, TextIO

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from rocdbg import codeobject
from rocdbg.dwarf.info import DebugInfo
from rocdbg.errors import Error
from rocdbg.launch.argument_binding import BoundLaunch, Buffer, Local, arguments_from_specs, bind
from rocdbg.launch.debug_files import DebugFiles
from rocdbg.launch.debug_sections import has_debug_info
from rocdbg.launch.errors import LaunchError
from rocdbg.launch.expectation import Mismatch
from rocdbg.launch.image_arguments import IMAGE_TYPES, SamplerSpec, image_of_array
from rocdbg.launch.init_kernels import finalise, initialise
from rocdbg.launch.kernel_names import KernelMap, holder_of, names_in, near_names
from rocdbg.launch.launch_file import read_launch_file
from rocdbg.launch.parameters import parameter_names, parameter_types
from rocdbg.launch.raw_kernarg import RawKernarg
from rocdbg.launch.shader_setup import configured, raw_arguments
from rocdbg.launch.spec import check_dimensions
from rocdbg.launch.value_arguments import swapped
from rocdbg.sim.core.run_options import RunOptions
from rocdbg.sim.core.stops import Fault, Stop, StopKind
from rocdbg.sim.device.machine import LoadedCodeObject, Machine, MachineOptions
from rocdbg.sim.services.output import Stream

__all__ = [
    "BudgetExceeded",
    "Dispatch",
    "GpuFault",
    "Image",
    "Kernel",
    "KernelMapping",
    "Local",
    "Module",
    "Program",
    "Sampler",
    "launch_file",
    "load",
]


class GpuFault(Error):
    """An exception has stopped a kernel. ``stop`` has all details; ``fault`` is the memory violation, if any."""

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


class Image:
    """A NumPy array as an image argument.

    ``array`` has the axes [layers or planes,] [rows,] texels[, channels]; it is copied in, and back when the dispatch
    ends. ``format`` is as in launch files (``rgba8``, ``r32f``). By default, the array's type determines it: float
    types mean floats, 8-bit and 16-bit unsigned types mean numbers from 0 to 1, all others mean integers. It may also
    be a whole description, ``"rgba8[64,32] levels 3"``; then the array has that many elements, in any shape. ``kind``:
    ``1d``, ``2d``, ``3d``, ``1d_array``, ``2d_array`` or ``cube``; by default, the axes determine it. With ``sampler``
    (``"linear wrap"``) it is a HIP texture. Raises LaunchError if it is not a valid image.
    """

    def __init__(
        self, array: NDArray[Any], format: str | None = None, kind: str | None = None, sampler: str | None = None, *,
        where: str = "image",
    ) -> None:
        """``where`` is its name in messages."""
        if not isinstance(array, np.ndarray):
            raise LaunchError(where, f"its contents must be a NumPy array, not {type(array).__name__}")
        for text in (format, kind):
            if text is not None and not isinstance(text, str):
                raise LaunchError(where, f"format and kind must be text such as \"rgba8\" and \"2d\", not {text!r}")
        self.array = array
        self.spec = image_of_array(array, format, kind, where)
        self.sampler = Sampler(sampler).spec if sampler is not None else None


class Sampler:
    """A sampler argument, in the syntax of launch files: ``Sampler("linear clamp")``. Raises LaunchError."""

    def __init__(self, text: str) -> None:
        if not isinstance(text, str):
            raise LaunchError("sampler", f"write it as text, for example \"linear clamp\", not {text!r}")
        self.spec = SamplerSpec.parse(text, "sampler")


class BudgetExceeded(Error):
    """A kernel has executed more instructions than the caller allows. Attributes: ``kernel``, ``instructions`` (the
    limit).
    """

    def __init__(self, kernel: str, instructions: int) -> None:
        self.kernel = kernel
        self.instructions = instructions
        super().__init__(f"kernel {kernel} has not ended within {instructions} instructions")


def load(
    path: str | os.PathLike[str],
    arch: str | None = None,
    options: MachineOptions | None = None,
    output: TextIO | None = None,
) -> Program:
    """Open a code object, offload bundle or host executable and prepare a device for it.

    ``arch`` is a target id (``gfx90a``, ``gfx90a:xnack-``) that selects an entry of a fat binary. Where
    several translation units have an entry for it, all are loaded. Output of kernels goes to ``output``, or to the
    current ``sys.stdout`` (``assert`` and similar: ``sys.stderr``). Raises the errors of ``codeobject.open_modules``.
    """
    return Program(codeobject.open_modules(path, arch), arch, options, output)


def launch_file(
    path: str | os.PathLike[str], arch: str | None = None, options: MachineOptions | None = None
) -> Dispatch:
    """Start the launch that a launch file describes; ``arch`` overrides its target. ``Dispatch.check`` compares the
    results.

    Raises LaunchError and what `load` raises.
    """
    spec = read_launch_file(os.fspath(path))
    file = spec.expand_file(arch)
    assert file is not None, "a launch file names its code object"
    if spec.stack_size is not None:
        options = replace(options or MachineOptions(), dynamic_stack_size=spec.stack_size)
    program = load(file, arch or spec.arch, options)
    for other in spec.expand_also(arch or str(program.code_object.target_id)):
        program.add(other)
    kernels = program.kernels
    kernel = kernels[spec.kernel] if spec.kernel is not None else kernels.only()
    kernel = Kernel(kernel.module, configured(kernel.kernel, spec))
    grid, workgroup, arguments = spec.complete()
    raw = raw_arguments(kernel.kernel, spec, arguments)
    names = kernel.parameter_names if raw is None and kernel.kernel.metadata is not None else []
    return kernel._launch(grid, workgroup, arguments_from_specs(arguments, names), spec.dynamic_lds, raw)


class Module:
    """One code object of a program."""

    def __init__(self, program: Program, code_object: codeobject.CodeObject) -> None:
        self.program = program
        self.code_object = code_object

    @property
    def loaded(self) -> LoadedCodeObject:
        """The code object in the device's memory, its globals constructed. Raises what loading raises."""
        return self.program._loaded(self)

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

    There is one code object, or one for each translation unit of a fat binary; `code_object`, `loaded` and `debug_info`
    refer to the first one.
    """

    def __init__(
        self,
        code_objects: Sequence[codeobject.CodeObject],
        arch: str | None = None,
        options: MachineOptions | None = None,
        output: TextIO | None = None,
    ) -> None:
        self._output = output
        self._places: dict[Module, LoadedCodeObject] = {}
        self.modules: tuple[Module, ...] = tuple(Module(self, code_object) for code_object in code_objects)
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
        """The simulated device, created on first use. Code objects are loaded when first needed."""
        machine = Machine(self.code_object.target.device(self._arch), self._options)
        machine.services.output.sink = self._show
        return machine

    def add(self, path: str | os.PathLike[str]) -> None:
        """Add the code objects of another file for the same target. Their kernels can then be launched too, and code
        objects can use each other's symbols. Raises the errors of ``codeobject.open_modules``.
        """
        added = codeobject.open_modules(path, self._arch or str(self.code_object.target_id))
        self.modules += tuple(Module(self, code_object) for code_object in added)

    def close(self) -> None:
        """Destroy the globals of the loaded code objects (kernels of kind ``fini``) and unload them; launches load them
        again.

        Raises a `rocdbg.Error` if such a kernel fails.
        """
        places, self._places = self._places, {}
        try:
            finalise(list(places.values()))
        finally:
            for place in places.values():
                self.machine.unload(place)

    def __enter__(self) -> Program:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _loaded(self, module: Module) -> LoadedCodeObject:
        """Return a module in memory. If some modules define symbols for others, all are loaded at once; otherwise each
        is loaded on first use.
        """
        if module not in self._places:
            wanted = [each for each in self.modules if each not in self._places]
            if not any(each.code_object.undefined_symbols for each in wanted):
                wanted = [module]
            places = self.machine.load_all([each.code_object for each in wanted])
            self._places.update(zip(wanted, places, strict=True))
            initialise(places)
        return self._places[module]

    def _show(self, text: str, stream: Stream) -> None:
        """Write the output of a kernel. Invalid UTF-8 bytes become escapes, because most streams reject them."""
        to = self._output or (sys.stderr if stream is Stream.STDERR else sys.stdout)
        to.write(text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace"))

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
        self._program = program

    @property
    def _modules(self) -> tuple[Module, ...]:
        return self._program.modules

    def __getitem__(self, name: str) -> Kernel:
        index = holder_of(name, [module.kernels for module in self._modules])
        holder = self._modules[index] if index is not None else None
        if holder is None and len(self._modules) > 1:
            file = self._modules[0].code_object.path
            raise LaunchError(f"kernel {name}", f"there is no such kernel in {file}{near_names(name, list(self))}")
        module = holder or self._modules[0]
        return Kernel(module, module.kernels[name])

    def only(self) -> Kernel:
        """The kernel of a program that has just one; otherwise raises a LaunchError that names the kernels."""
        holders = [module for module in self._modules if module.kernels.normal()] or list(self._modules[:1])
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
        """The kernel as the code object describes it: descriptor, metadata, addresses."""

    def __repr__(self) -> str:
        return f"<Kernel {self.name}>"

    @property
    def name(self) -> str:
        """The kernel's symbol: mangled for HIP."""
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
        """Name of each explicit parameter, if metadata or debug information has it."""
        return parameter_names(self.kernel, self.module.debug_info)

    def launch(
        self,
        grid: int | Sequence[int],
        workgroup: int | Sequence[int] = 64,
        args: Sequence[Any] = (),
        dynamic_lds: int = 0,
    ) -> Dispatch:
        """Start the kernel. It does not run until ``Dispatch.run`` is called.

        ``grid`` counts work-items, as in an AQL packet. ``args`` are the explicit arguments: a NumPy array
        for a pointer (copied in now and back when the dispatch ends), NumPy scalars or Python numbers by
        value, bytes for structs, `Local` for LDS, None for a null pointer, an int for a device address,
        `Image` (or, for an image of OpenCL, an array) and `Sampler`. The same array given twice is one buffer.
        Raises LaunchError, and LaunchLimitError for sizes beyond the kernel's or the device's.
        """
        return self._launch(grid, workgroup, args, dynamic_lds, None)

    def _launch(
        self, grid: int | Sequence[int], workgroup: int | Sequence[int], args: Sequence[Any], dynamic_lds: int,
        raw: RawKernarg | None,
    ) -> Dispatch:
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
                names=self.parameter_names if self.kernel.metadata is not None else (),
                dynamic_lds=dynamic_lds,
                raw=raw,
            ),
            arrays,
            self,
        )

    def _argument(self, index: int, argument: Any, arrays: list[tuple[NDArray[Any], Buffer]]) -> Any:
        """Arrays for pointer parameters become buffers, images their contents; everything else is passed on."""
        metadata = self.kernel.metadata
        parameters = metadata.explicit_args if metadata is not None else ()
        if isinstance(argument, Sampler):
            return argument.spec
        kind = parameters[index].value_kind if index < len(parameters) else None
        if isinstance(argument, np.ndarray) and kind is codeobject.ValueKind.IMAGE:
            argument = Image(
                argument, kind=IMAGE_TYPES.get(parameters[index].type_name or ""), where=f"arg {index}"
            )
        if isinstance(argument, Image):
            return self._image(index, argument, arrays)
        if not isinstance(argument, np.ndarray):
            return argument
        if index < len(parameters):
            parameter = parameters[index]
            by_value = parameter.value_kind is codeobject.ValueKind.BY_VALUE
            if by_value and parameter.size == argument.nbytes:
                return argument
        if argument.dtype.hasobject:
            raise LaunchError(f"arg {index}", "an array of Python objects cannot be a buffer")
        if not argument.dtype.isnative:
            raise LaunchError(f"arg {index}", swapped(argument.dtype))
        for array, buffer in arrays:
            if array is argument and buffer.image is None:
                return buffer
        buffer = self._buffer(index, argument)
        arrays.append((argument, buffer))
        return buffer

    def _image(self, index: int, image: Image, arrays: list[tuple[NDArray[Any], Buffer]]) -> Buffer:
        for array, buffer in arrays:
            if array is image.array and buffer.image is not None:  # one in memory
                return replace(buffer, image=image.spec, sampler=image.sampler)
        plain = self._buffer(index, image.array)
        buffer = replace(plain, array=image.spec.array, image=image.spec, sampler=image.sampler)
        arrays.append((image.array, buffer))
        return buffer

    def _buffer(self, index: int, array: NDArray[Any]) -> Buffer:
        names = self.parameter_names
        # Binding copies the contents to the device at once, so they need not be copied here.
        storage = np.ascontiguousarray(array).reshape(-1).view(np.uint8) if array.nbytes else np.zeros(0, np.uint8)
        return Buffer((names[index] if index < len(names) else None) or f"arg{index}", storage)


class Dispatch:
    """A launched kernel, which ``run`` executes."""

    def __init__(
        self, kernel: str, launch: BoundLaunch, arrays: Sequence[tuple[NDArray[Any], Buffer]], launched: Kernel
    ) -> None:
        self.kernel = kernel
        self.launch = launch
        self._arrays = arrays
        self._launched = launched

    @property
    def finished(self) -> bool:
        """Whether all its waves have ended."""
        return self.launch.dispatch.finished

    @property
    def instructions(self) -> int:
        """Wave-instructions executed so far."""
        return self.launch.dispatch.instructions

    def check(self) -> list[Mismatch]:
        """Differences between buffers and the contents that a launch file expects, in order of arguments."""
        return self.launch.check()

    def run(self, max_instructions: int | None = None) -> None:
        """Run to the end, then copy buffers back into their arrays and free the device's copies.

        Debug traps have no effect, as on a device without a debugger. Raises GpuFault on an exception (arrays then
        contain what the kernel has written so far), and BudgetExceeded after ``max_instructions`` wave-instructions,
        after which `run` can be called again to continue.
        """
        dispatch = self.launch.dispatch
        while not dispatch.finished:
            left = None if max_instructions is None else max_instructions - dispatch.instructions
            stop = dispatch.run(RunOptions(budget=left))
            self._stopped(stop, max_instructions)
        self._finish()

    def trace(
        self, location: str, expressions: Sequence[str], condition: str | None = None,
        max_instructions: int | None = None,
    ) -> NDArray[Any]:
        """Run as `run` does, and collect values whenever lanes reach a place. Returns a structured array with a row for
        each lane.

        ``location`` is as for the debugger's ``break`` (``saxpy.hip:9``, a function, ``*ADDRESS``), ``expressions``
        are C expressions there, or ``$args``, ``$locals``, ``$regs``; ``condition`` selects lanes. The fields are
        ``$_thread`` (the wave's number from 1), ``$_lane``, ``$_instructions`` (how many the wave had executed before)
        and the values by their expressions. The rows are in the order of arrivals. If values are missing (optimized out
        or unavailable), it is a masked array. Raises what `run` does, and a `rocdbg.Error` for an invalid location or
        expression.
        """
        from rocdbg.debugger.traced_launch import trace_launch  # imported late: launches do not need the debugger

        module = self._launched.module
        others = [other for other in module.program.modules if other is not module and other in module.program._places]
        loaded = [(each.code_object, each.loaded.base) for each in (module, *others)]
        left = None if max_instructions is None else max_instructions - self.instructions
        if max_instructions is not None and left is not None and left <= 0:
            raise BudgetExceeded(self.kernel, max_instructions)
        array, stop = trace_launch(
            self.launch, loaded, self._launched.kernel, location, expressions, condition, left
        )
        if stop is not None:
            self._stopped(stop, max_instructions)
        self._finish()
        return array

    def _stopped(self, stop: Stop, max_instructions: int | None) -> None:
        """Raise for a stop after which the kernel does not continue."""
        if stop.is_exception:
            self._finish()
            raise GpuFault(self.kernel, stop)
        if stop.kind is StopKind.BUDGET:
            assert max_instructions is not None
            raise BudgetExceeded(self.kernel, max_instructions)
        if stop.kind is StopKind.INTERRUPTED:
            raise KeyboardInterrupt

    def _finish(self) -> None:
        """Copy buffers back into writable arrays, and free the resources of the launch."""
        contents = {id(bound.buffer): bound.contents for bound in self.launch.buffers}
        for array, buffer in self._arrays:
            if array.flags.writeable and id(buffer) in contents:
                array[...] = contents[id(buffer)].view(array.dtype).reshape(array.shape)
        self._arrays = ()
        self.launch.release()


def debug_info_of(code_object: codeobject.CodeObject) -> DebugInfo | None:
    """The debug information of a code object, read lazily; None if it has none."""
    files = DebugFiles()
    contents = files.contents(code_object)
    if not has_debug_info(contents.file):
        return None
    return files.info(contents, code_object)
