"""Converts between a launch and its form in a recording's file: arguments and their places, and options of the device.

Data from a file are converted to the values that launch files give, by the same parsers, or rejected.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from msgspec.structs import replace

from rocdbg.codeobject.shader_registers import register_number
from rocdbg.errors import Error
from rocdbg.launch.argument_binding import MAX_BUFFERS_SIZE, Buffer, Local
from rocdbg.launch.elements import ArrayType
from rocdbg.launch.image_arguments import ImageSpec, SamplerSpec
from rocdbg.launch.recording_file_format import (
    RecordFileError,
    SavedArgument,
    SavedBuffer,
    SavedBytes,
    SavedLocal,
    SavedNothing,
    SavedNumber,
    SavedOptions,
    SavedRun,
    SavedSampler,
)
from rocdbg.launch.spec import Scalar, check_scalar
from rocdbg.sim.device.machine import LdsOutOfRange, MachineOptions
from rocdbg.sim.device.schedule import Schedule


def saved_options(options: MachineOptions) -> SavedOptions:
    """Convert options of a device for saving."""
    return SavedOptions(
        options.memory_limit, options.dynamic_stack_size, options.resident_waves, options.count_uninitialized,
        options.lds_out_of_range.value, str(options.schedule),
    )


def restored_options(saved: SavedOptions, path: Path) -> MachineOptions:
    """Convert the result of `saved_options` back. Raises RecordFileError."""
    schedule = Schedule.parse(saved.schedule)
    choices = {choice.value: choice for choice in LdsOutOfRange}
    if schedule is None or saved.lds_out_of_range not in choices:
        raise RecordFileError(path, "the recording does not say with which options the device was simulated")
    return MachineOptions(
        saved.memory_limit, saved.dynamic_stack_size, saved.resident_waves, choices[saved.lds_out_of_range], schedule,
        saved.count_uninitialized,
    )


def check_launch(run: SavedRun, path: Path) -> None:
    """Check that the parts of a launch other than arguments are consistent. Raises RecordFileError."""
    for code in run.code:
        if not code.path or "\0" in code.path:
            raise RecordFileError(path, "a code object in the recording has no path")
    if not run.architecture or "/" in run.architecture or "\0" in run.architecture:
        raise RecordFileError(path, "the recording does not name the target")
    raw = run.kernarg is not None or run.user_data is not None
    if len(run.offsets) != (len(run.arguments) if raw else 0):
        raise RecordFileError(path, "the recording does not have one offset for each argument")
    if len(run.user_data or b"") % 4:
        raise RecordFileError(path, "the user data in the recording does not consist of dwords")
    try:
        for name in run.registers:
            register_number(name)
    except Error as error:
        raise RecordFileError(path, str(error)) from None


def saved_arguments(arguments: Iterable[Any]) -> list[SavedArgument]:
    """Convert arguments, in the form that `binding.bind` takes, for saving."""
    saved: list[SavedArgument] = []
    places: dict[int, int] = {}
    for index, argument in enumerate(arguments):
        first = places.setdefault(id(argument.storage), index) if isinstance(argument, Buffer) else index
        one = _saved(argument)
        saved.append(replace(one, storage=b"", same=first) if first != index and isinstance(one, SavedBuffer) else one)
    return saved


def _saved(argument: Any) -> SavedArgument:
    match argument:
        case Buffer():
            expect = argument.expect.tobytes() if argument.expect is not None else None
            return SavedBuffer(
                argument.name, argument.storage.tobytes(), str(argument.array) if argument.array else None, expect,
                argument.rtol, argument.atol, argument.initialized, argument.offset,
                image=str(argument.image) if argument.image is not None else None,
                sampler=argument.sampler.text if argument.sampler is not None else None,
            )
        case SamplerSpec():
            return SavedSampler(argument.text)
        case Local():
            return SavedLocal(argument.size)
        case None:
            return SavedNothing()
        case bytes() | bytearray():
            return SavedBytes(bytes(argument))
        case np.generic() | np.ndarray():
            return SavedBytes(argument.tobytes())
    several = isinstance(argument, Sequence)
    numbers = list(argument) if several else [argument]
    return SavedNumber([repr(n) for n in numbers], [isinstance(n, float) for n in numbers], several)


def restored_arguments(arguments: Iterable[SavedArgument], path: Path) -> list[Any]:
    """Convert the result of `saved_arguments` back. Raises RecordFileError."""
    try:
        restored: list[Any] = []
        total = 0
        for argument in arguments:
            if isinstance(argument, SavedBuffer) and argument.same is not None:
                first = restored[argument.same] if 0 <= argument.same < len(restored) else None
                if not isinstance(first, Buffer):
                    raise ValueError(
                        f"it shares the buffer of argument {argument.same}, which is not an earlier buffer"
                    )
                restored.append(_checked(replace(first, name=argument.name, offset=argument.offset)))
            else:
                restored.append(_restored(argument))
                if isinstance(argument, SavedBuffer):  # counted as for launch files, with the device's copy
                    total += 2 * len(argument.storage) + len(argument.expect or b"")
        if total > MAX_BUFFERS_SIZE:
            raise ValueError(
                f"with the copies for the device, the buffers take {total} bytes; the limit is {MAX_BUFFERS_SIZE}"
            )
        return restored
    except (ValueError, Error) as error:
        raise RecordFileError(path, f"the recording has an impossible argument: {error}") from None


def _restored(saved: SavedArgument) -> Any:
    match saved:
        case SavedBuffer():
            array = ArrayType.parse(saved.array) if saved.array is not None else None
            storage = np.frombuffer(saved.storage, np.uint8)
            if array is not None and array.nbytes != storage.size:
                raise ValueError(f"{saved.array} has {array.nbytes} bytes, but the recording has {storage.size} for it")
            expect = None
            if saved.expect is not None:
                if array is None:
                    raise ValueError("a buffer has expected contents, but no type")
                if len(saved.expect) != array.nbytes:
                    raise ValueError(
                        f"the expected contents of {saved.array} have {len(saved.expect)} bytes, "
                        f"but the array has {array.nbytes}"
                    )
                expect = np.frombuffer(saved.expect, array.dtype)
            image = ImageSpec.parse(saved.image, saved.name) if saved.image is not None else None
            sampler = SamplerSpec.parse(saved.sampler, saved.name) if saved.sampler is not None else None
            if image is not None and image.array.nbytes != storage.size:
                raise ValueError(
                    f"{saved.image} has {image.array.nbytes} bytes, but the recording has {storage.size} for it"
                )
            return _checked(Buffer(
                saved.name, storage, array, expect, saved.rtol, saved.atol, saved.initialized, saved.offset, image,
                sampler,
            ))
        case SavedSampler():
            return SamplerSpec.parse(saved.text, "sampler")
        case SavedLocal():
            return Local(saved.size)
        case SavedBytes():
            return saved.data
        case SavedNothing():
            return None
    pairs = zip(saved.texts, saved.floats, strict=True)
    numbers = [float(text) if floating else _whole(text) for text, floating in pairs]
    if not saved.several and len(numbers) != 1:
        raise ValueError(f"{len(numbers)} numbers are given where one is expected")
    return tuple(numbers) if saved.several else numbers[0]


def _checked(buffer: Buffer) -> Buffer:
    if buffer.offset > buffer.storage.size:
        raise ValueError(f"a pointer is {buffer.offset} bytes into a buffer of {buffer.storage.size}")
    if buffer.sampler is not None and buffer.image is None:
        raise ValueError("a buffer that is not an image has a sampler")
    return buffer


def _whole(text: str) -> Scalar:
    return check_scalar(text == "True" if text in ("True", "False") else int(text), "a number")


__all__ = ["check_launch", "restored_arguments", "restored_options", "saved_arguments", "saved_options"]
