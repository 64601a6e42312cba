"""From arguments to a dispatch: buffers are allocated and filled, values converted, the kernel started."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from rocdbg.codeobject import Kernel, KernelArg, ValueKind
from rocdbg.errors import Error
from rocdbg.launch.elements import MAX_BUFFER_SIZE, ArrayType
from rocdbg.launch.errors import LaunchError
from rocdbg.launch.expectation import Mismatch, compare
from rocdbg.launch.spec import ArgumentSpec, Dim3
from rocdbg.launch.values import value_bytes
from rocdbg.sim.device.dispatch import Dispatch
from rocdbg.sim.device.kernarg import MAX_SEGMENT_SIZE
from rocdbg.sim.device.machine import Machine
from rocdbg.sim.memory import Allocation

MAX_BUFFERS_SIZE = 3 * MAX_BUFFER_SIZE
"""Bytes that all buffers of a described launch may take on the host."""

_POINTER_SIZE = 8
_DEFAULT_LOCAL_ALIGN = 16


class Local(Struct, frozen=True):
    """LDS for a ``local`` pointer argument of OpenCL: ``size`` bytes for each workgroup."""

    size: int


class Buffer(Struct, frozen=True):
    """A buffer argument: its storage on the host, its name, and what is expected in it at the end."""

    name: str
    storage: NDArray[np.uint8]
    """Initial contents, uint8[n]."""
    array: ArrayType | None = None
    expect: NDArray[Any] | None = None
    rtol: float = 0.0
    atol: float = 0.0
    initialized: bool = True
    """Whether the contents count as written (``MachineOptions.count_uninitialized``)."""


class BoundBuffer(Struct, frozen=True):
    """A buffer argument in simulated memory; ``index`` is the argument's."""

    index: int
    buffer: Buffer
    allocation: Allocation

    @property
    def contents(self) -> NDArray[np.uint8]:
        """What it holds now, a view of simulated memory, uint8[n]."""
        return self.allocation.data


@dataclass(eq=False)
class BoundLaunch:
    """A launch with everything in simulated memory; ``dispatch.run`` executes it, `release` frees it all."""

    machine: Machine
    dispatch: Dispatch
    buffers: tuple[BoundBuffer, ...]
    _released: bool = field(default=False, init=False)

    def check(self) -> list[Mismatch]:
        """Compare buffers with what is expected in them; the mismatches in order of arguments."""
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
        """End the dispatch and free its buffers; may be called again."""
        if self._released:
            return
        self._released = True
        self.dispatch.release()
        for bound in self.buffers:
            self.machine.memory.free(bound.allocation)


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
) -> BoundLaunch:
    """Start ``kernel`` with ``arguments``, one per explicit parameter.

    An argument is a `Buffer`, a `Local`, None (a null pointer), or a value as `value_bytes` takes it.
    ``types`` are the parameters' element types (`parameters.parameter_types`), ``names`` what messages call
    them (`parameters.parameter_names`). Raises LaunchError, and what ``Machine.dispatch`` raises.
    """
    metadata = kernel.metadata
    if metadata is None:
        raise LaunchError(
            f"kernel {kernel.name}", "the code object has no metadata, so its arguments are unknown"
        )
    parameters = metadata.explicit_args
    if len(arguments) != len(parameters):
        raise LaunchError(
            f"kernel {kernel.name}",
            f"it takes {len(parameters)} arguments ({_listed(parameters, names)}), {len(arguments)} are given",
        )
    bound: list[BoundBuffer] = []
    allocated: dict[int, Allocation] = {}
    lds_end = kernel.descriptor.group_segment_fixed_size
    data: list[bytes] = []
    try:
        for index, (argument, parameter) in enumerate(zip(arguments, parameters, strict=True)):
            what = _what(index, parameter, names)
            if not 0 <= parameter.size <= MAX_SEGMENT_SIZE:
                raise LaunchError(
                    what, f"the metadata gives it the impossible size of {parameter.size} bytes"
                )
            if isinstance(argument, Buffer):
                _check_pointer(parameter, what, f"buffer '{argument.name}'")
                allocation = allocated.get(id(argument))
                if allocation is None:
                    purpose = f"{kernel.name}, argument {index}"
                    allocation = machine.memory.allocate(
                        argument.storage.size, name=argument.name, purpose=purpose
                    )
                    allocation.data[:] = argument.storage
                    if argument.initialized:
                        allocation.mark_written()
                    allocated[id(argument)] = allocation
                    bound.append(BoundBuffer(index, argument, allocation))
                data.append(allocation.address.to_bytes(_POINTER_SIZE, "little"))
            elif isinstance(argument, Local):
                if parameter.value_kind is not ValueKind.DYNAMIC_SHARED_POINTER:
                    raise LaunchError(what, "LDS is given for a parameter that is no local pointer")
                align = parameter.pointee_align or _DEFAULT_LOCAL_ALIGN
                lds_end = -(-lds_end // align) * align
                if lds_end >> 8 * min(parameter.size, 4):
                    raise LaunchError(what, f"its LDS would start at {lds_end}, out of range")
                data.append(lds_end.to_bytes(parameter.size, "little"))
                lds_end += argument.size
            elif parameter.value_kind is ValueKind.DYNAMIC_SHARED_POINTER:
                raise LaunchError(what, "a local pointer needs its size in LDS: Local(BYTES), `local[BYTES]`")
            elif argument is None:
                _check_pointer(parameter, what, "a null pointer")
                data.append(bytes(_POINTER_SIZE))
            else:
                element = types[index] if index < len(types) else None
                if parameter.value_kind is ValueKind.GLOBAL_BUFFER:
                    element = "u64"  # an address
                data.append(value_bytes(argument, parameter.size, element, what))
        lds = lds_end - kernel.descriptor.group_segment_fixed_size + dynamic_lds
        dispatch = machine.dispatch(kernel, grid, workgroup, data, lds)
    except Error:
        for allocation in allocated.values():
            machine.memory.free(allocation)
        raise
    return BoundLaunch(machine, dispatch, tuple(bound))


def arguments_from_specs(specs: Sequence[ArgumentSpec], names: Sequence[str | None] = ()) -> list[Any]:
    """The arguments `bind` takes, made from descriptions: contents are generated and files read. Raises LaunchError.

    A buffer without a name of its own takes the parameter's from ``names``.
    """
    known = [*names, *[None] * len(specs)]
    total = sum(
        spec.buffer.nbytes * (2 if spec.expect is None else 3) for spec in specs if spec.buffer is not None
    )
    if total > MAX_BUFFERS_SIZE:
        reason = f"with copies for the device and what is expected, they take {total} bytes"
        raise LaunchError("buffers", f"{reason}, the limit is {MAX_BUFFERS_SIZE}")
    return [_from_spec(spec, spec.name or known[index] or f"arg{index}") for index, spec in enumerate(specs)]


def _from_spec(spec: ArgumentSpec, name: str) -> Any:
    if spec.local_size is not None:
        return Local(spec.local_size)
    if spec.buffer is not None:
        assert spec.init is not None
        storage = np.ascontiguousarray(spec.init.make(spec.buffer)).view(np.uint8)
        expect = spec.expect.make(spec.buffer) if spec.expect is not None else None
        return Buffer(name, storage, spec.buffer, expect, spec.rtol, spec.atol, spec.init.given)
    if spec.type is not None and isinstance(spec.value, (int, float)):
        size = ArrayType(spec.type, 1).nbytes
        return value_bytes(spec.value, size, spec.type, spec.where)
    return spec.value


def _check_pointer(parameter: KernelArg, what: str, given: str) -> None:
    if parameter.value_kind is ValueKind.DYNAMIC_SHARED_POINTER:
        raise LaunchError(what, f"{given} is given, the parameter is a local pointer")
    if parameter.size != _POINTER_SIZE:
        raise LaunchError(what, f"{given} is given, the parameter is {parameter.size} bytes by value")


def _what(index: int, parameter: KernelArg, names: Sequence[str | None]) -> str:
    name = parameter.name or (names[index] if index < len(names) else None)
    return f"arg {index} ({name})" if name else f"arg {index}"


def _listed(parameters: Sequence[KernelArg], names: Sequence[str | None]) -> str:
    known = [*names, *[None] * len(parameters)]
    return ", ".join(p.name or known[n] or f"{p.size} bytes" for n, p in enumerate(parameters)) or "none"
