"""Makes a dispatch from arguments: allocates and fills buffers, converts values, and starts the kernel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from rocdbg.codeobject import Kernel, KernelArg, Shader, ValueKind
from rocdbg.errors import Error
from rocdbg.launch.elements import MAX_BUFFER_SIZE, ArrayType
from rocdbg.launch.errors import LaunchError
from rocdbg.launch.expectation import Mismatch, compare
from rocdbg.launch.image_arguments import IMAGE_TYPES, ImageSpec, SamplerSpec, chip_for, gathered, spread
from rocdbg.launch.raw_kernarg import RawKernarg
from rocdbg.launch.spec import ArgumentSpec, Dim3
from rocdbg.launch.value_arguments import value_bytes
from rocdbg.sim.core.memory import Allocation
from rocdbg.sim.device.dispatch import Dispatch
from rocdbg.sim.device.kernarg import MAX_SEGMENT_SIZE
from rocdbg.sim.device.machine import Machine
from rocdbg.sim.images.texel_layout import ImageLayout
from rocdbg.text import count_given

MAX_BUFFERS_SIZE = 3 * MAX_BUFFER_SIZE
"""Limit on the host memory of all buffers of a described launch, in bytes."""

_POINTER_SIZE = 8
_DEFAULT_LOCAL_ALIGN = 16


class Local(Struct, frozen=True):
    """LDS for a ``local`` pointer argument of OpenCL: ``size`` bytes for each workgroup."""

    size: int


class Buffer(Struct, frozen=True):
    """A buffer argument: its storage on the host, its name, and its expected contents at the end."""

    name: str
    storage: NDArray[np.uint8]
    """Initial contents, uint8[n]."""
    array: ArrayType | None = None
    expect: NDArray[Any] | None = None
    rtol: float = 0.0
    atol: float = 0.0
    initialized: bool = True
    """Whether the contents count as written (``MachineOptions.count_uninitialized``)."""
    offset: int = 0
    """Byte offset of the pointer that the kernel gets. Buffers with the same storage share one allocation."""
    image: ImageSpec | None = None
    """The image whose contents are in the storage, if any; the kernel then gets the image's object."""
    sampler: SamplerSpec | None = None
    """With ``image``: the sampler; both together form a texture."""


class BoundBuffer(Struct, frozen=True):
    """A buffer argument in simulated memory. ``index`` is the argument's index; ``layout`` is an image's layout on the
    device.
    """

    index: int
    buffer: Buffer
    allocation: Allocation
    layout: ImageLayout | None = None

    @property
    def contents(self) -> NDArray[np.uint8]:
        """The buffer's current contents, uint8[n]: a view of simulated memory; for an image a copy without padding."""
        if self.layout is not None and self.buffer.image is not None:
            return gathered(self.buffer.image, self.layout, self.allocation.data)
        return self.allocation.data


@dataclass(eq=False)
class BoundLaunch:
    """A launch with everything in simulated memory; ``dispatch.run`` executes it, `release` frees it all."""

    machine: Machine
    dispatch: Dispatch
    buffers: tuple[BoundBuffer, ...]
    objects: tuple[Allocation, ...] = ()
    """The objects of images and samplers."""
    _released: bool = field(default=False, init=False)

    def check(self) -> list[Mismatch]:
        """Compare buffers with their expected contents; returns the mismatches in order of arguments."""
        found = []
        for bound in self.buffers:
            buffer = bound.buffer
            if buffer.expect is None or buffer.array is None:
                continue
            got = bound.contents.view(buffer.array.dtype)
            mismatch = compare(
                buffer.name, got, buffer.expect, buffer.array.element, buffer.rtol, buffer.atol
            )
            if mismatch is not None:
                found.append(mismatch)
        return found

    def release(self) -> None:
        """End the dispatch and free its buffers; further calls have no effect."""
        if self._released:
            return
        self._released = True
        self.dispatch.release()
        for allocation in (*(bound.allocation for bound in self.buffers), *self.objects):
            self.machine.memory.free(allocation)


def bind(
    machine: Machine,
    kernel: Kernel,
    grid: Dim3,
    workgroup: Dim3,
    arguments: Sequence[Any],
    *,
    types: Sequence[str | None] = (),
    names: Sequence[str | None] = (),
    dynamic_lds: int = 0,
    raw: RawKernarg | None = None,
) -> BoundLaunch:
    """Start ``kernel`` with ``arguments``, one per explicit parameter.

    An argument is a `Buffer`, a `SamplerSpec`, a `Local`, None (a null pointer), or a value that `value_bytes` accepts.
    ``types`` are the parameters' element types (`parameters.parameter_types`), ``names`` their names in messages
    (`parameters.parameter_names`). ``raw`` says where arguments are placed, regardless of metadata; without either,
    they follow one another. Raises LaunchError, and what ``Machine.dispatch`` raises.
    """
    metadata = kernel.metadata
    if isinstance(kernel, Shader) and raw is None:
        if arguments:
            raise LaunchError(
                f"shader {kernel.name}", "arguments of a shader need an `offset` into `user_data`, which only a launch "
                "file can give"
            )
        raw = RawKernarg(b"")
    if raw is None and undescribed(kernel):
        raw = RawKernarg.in_order(arguments, [isinstance(argument, Local) for argument in arguments])
    if raw is not None:
        parameters = raw.parameters(arguments, [isinstance(argument, Local) for argument in arguments])
    else:
        assert metadata is not None
        parameters = metadata.explicit_args
    if len(arguments) != len(parameters):
        raise LaunchError(
            f"kernel {kernel.name}",
            f"it takes {len(parameters)} arguments ({_listed(parameters, names)}), {count_given(len(arguments))}",
        )
    bound: list[BoundBuffer] = []
    allocated: dict[int, Allocation] = {}
    objects: list[Allocation] = []
    lds_end = kernel.descriptor.group_segment_fixed_size
    data: list[bytes] = []
    try:
        for index, (argument, parameter) in enumerate(zip(arguments, parameters, strict=True)):
            what = _what(index, parameter, names)
            if not 0 <= parameter.size <= MAX_SEGMENT_SIZE:
                raise LaunchError(
                    what, f"the metadata gives this argument the impossible size of {parameter.size} bytes"
                )
            if isinstance(argument, SamplerSpec) or (isinstance(argument, Buffer) and argument.image is not None):
                _check_pointer(parameter, what, "an image or a sampler")
                _check_object(parameter, what, argument)
                made = _bind_image(machine, kernel.name, index, argument, objects, bound, what)
                data.append(made.address.to_bytes(_POINTER_SIZE, "little"))
            elif isinstance(argument, Buffer):
                _check_pointer(parameter, what, f"buffer '{argument.name}'")
                allocation = allocated.get(id(argument.storage))
                if allocation is None:
                    purpose = f"{kernel.name}, argument {index}"
                    allocation = machine.memory.allocate(
                        argument.storage.size, name=argument.name, purpose=purpose
                    )
                    allocation.data[:] = argument.storage
                    if argument.initialized:
                        allocation.mark_written()
                    allocated[id(argument.storage)] = allocation
                    bound.append(BoundBuffer(index, argument, allocation))
                data.append((allocation.address + argument.offset).to_bytes(_POINTER_SIZE, "little"))
            elif isinstance(argument, Local):
                if parameter.value_kind is not ValueKind.DYNAMIC_SHARED_POINTER:
                    raise LaunchError(what, "LDS is given, but the parameter is not a local pointer")
                align = parameter.pointee_align or _DEFAULT_LOCAL_ALIGN
                lds_end = -(-lds_end // align) * align
                if lds_end >> 8 * min(parameter.size, 4):
                    raise LaunchError(what, f"the LDS of this argument would start at {lds_end}, which is out of range")
                data.append(lds_end.to_bytes(parameter.size, "little"))
                lds_end += argument.size
            elif parameter.value_kind is ValueKind.DYNAMIC_SHARED_POINTER:
                raise LaunchError(
                    what, "for a local pointer, give the size in LDS: `local[BYTES]`, or Local(BYTES) in Python"
                )
            elif argument is None:
                _check_pointer(parameter, what, "a null pointer")
                data.append(bytes(_POINTER_SIZE))
            else:
                element = types[index] if index < len(types) else None
                if parameter.value_kind is ValueKind.GLOBAL_BUFFER:
                    element = "u64"  # an integer for a pointer parameter is an address
                data.append(value_bytes(argument, parameter.size, element, what))
        lds = lds_end - kernel.descriptor.group_segment_fixed_size + dynamic_lds
        dispatch = machine.dispatch(kernel, grid, workgroup, raw.segment(data) if raw is not None else data, lds)
    except Error:
        for allocation in {id(a): a for a in (*allocated.values(), *objects, *(b.allocation for b in bound))}.values():
            machine.memory.free(allocation)
        raise
    return BoundLaunch(machine, dispatch, tuple(bound), tuple(objects))


def undescribed(kernel: Kernel) -> bool:
    """Whether a kernel's arguments are not described: there is no metadata, or it lists none although the segment is
    not empty.
    """
    metadata = kernel.metadata
    return metadata is None or (not metadata.args and kernel.kernarg_size > 0)


def _bind_image(
    machine: Machine, kernel: str, index: int, argument: Buffer | SamplerSpec, objects: list[Allocation],
    bound: list[BoundBuffer], what: str,
) -> Allocation:
    """The object of an image, a sampler or both; the image's memory is added to ``bound``, new objects to ``objects``.
    """
    chip, purpose, words = chip_for(machine.target, what), f"{kernel}, argument {index}", []
    sampler, name = argument if isinstance(argument, SamplerSpec) else argument.sampler, "sampler"
    if isinstance(argument, Buffer):
        assert argument.image is not None
        name, spec = argument.name, argument.image
        layout = spec.layout(chip, what)
        # If the same image is given twice, both arguments share it.
        known = next((b.allocation for b in bound if b.buffer.storage is argument.storage and b.layout == layout), None)
        memory = known or machine.memory.allocate(layout.size, layout.align, name, purpose=purpose)
        if known is None:
            bound.append(BoundBuffer(index, argument, memory, layout))
            spread(spec, layout, argument.storage, memory.data)
            memory.mark_written()
        words = spec.object_words(chip, memory.address, what)
    if sampler is not None:
        words += sampler.object_words(chip.rules)
    made = machine.memory.allocate(4 * len(words), name=f"{name}.object", purpose=f"{purpose}, object")
    made.data[:] = np.array(words, "<u4").view(np.uint8)
    made.mark_written()
    objects.append(made)
    return made


def arguments_from_specs(specs: Sequence[ArgumentSpec], names: Sequence[str | None] = ()) -> list[Any]:
    """The arguments for `bind`, created from descriptions: contents are generated and files read. Raises LaunchError.

    A buffer without a name takes that of the parameter from ``names``.
    """
    known = [*names, *[None] * len(specs)]
    total = 0
    for spec in specs:
        if spec.buffer is not None:
            total += spec.buffer.nbytes * (1 if spec.expect is None else 2)
            total += spec.image.padded_size if spec.image is not None else spec.buffer.nbytes
    if total > MAX_BUFFERS_SIZE:
        reason = f"with the copies for the device and the expected contents, the buffers take {total} bytes"
        raise LaunchError("buffers", f"{reason}; the limit is {MAX_BUFFERS_SIZE}")
    return [_from_spec(spec, spec.name or known[index] or f"arg{index}") for index, spec in enumerate(specs)]


def _from_spec(spec: ArgumentSpec, name: str) -> Any:
    if spec.local_size is not None:
        return Local(spec.local_size)
    if spec.buffer is None and spec.sampler is not None:
        return spec.sampler
    if spec.buffer is not None:
        assert spec.init is not None
        storage = np.ascontiguousarray(spec.init.make(spec.buffer)).view(np.uint8)
        expect = spec.expect.make(spec.buffer) if spec.expect is not None else None
        return Buffer(
            name, storage, spec.buffer, expect, spec.rtol, spec.atol, spec.init.given, image=spec.image,
            sampler=spec.sampler,
        )
    if spec.type is not None and isinstance(spec.value, (int, float)):
        size = ArrayType(spec.type, 1).nbytes
        return value_bytes(spec.value, size, spec.type, spec.where)
    return spec.value


def _check_pointer(parameter: KernelArg, what: str, given: str) -> None:
    if parameter.value_kind is ValueKind.DYNAMIC_SHARED_POINTER:
        raise LaunchError(what, f"{given} is given, but the parameter is a local pointer")
    if parameter.size != _POINTER_SIZE:
        raise LaunchError(what, f"{given} is given, but the parameter takes {parameter.size} bytes by value")


def _check_object(parameter: KernelArg, what: str, argument: Buffer | SamplerSpec) -> None:
    """Reject an image if metadata says that the kernel takes a sampler or a different kind of image, and a sampler if
    the kernel takes an image.
    """
    image = None if isinstance(argument, SamplerSpec) else argument.image
    if isinstance(argument, SamplerSpec) or image is None:
        if parameter.value_kind is ValueKind.IMAGE:
            wanted = f"an {parameter.type_name}" if parameter.type_name else "an image"
            raise LaunchError(what, f"a sampler is given, but the parameter is {wanted}")
        return
    if parameter.value_kind is ValueKind.SAMPLER and argument.sampler is None:
        raise LaunchError(what, "an image is given, but the parameter is a sampler")
    kind = IMAGE_TYPES.get(parameter.type_name or "")
    if kind is not None and kind != image.kind:
        raise LaunchError(
            what, f"a {image.kind} image ({image}) is given, but the parameter is an {parameter.type_name}"
        )


def _what(index: int, parameter: KernelArg, names: Sequence[str | None]) -> str:
    name = parameter.name or (names[index] if index < len(names) else None)
    return f"arg {index} ({name})" if name else f"arg {index}"


def _listed(parameters: Sequence[KernelArg], names: Sequence[str | None]) -> str:
    known = [*names, *[None] * len(parameters)]
    return ", ".join(p.name or known[n] or f"{p.size} bytes" for n, p in enumerate(parameters)) or "none"
