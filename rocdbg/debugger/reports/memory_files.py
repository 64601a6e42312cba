"""Writes memory and values to files, and reads them back: ``dump``, ``append`` and ``restore``."""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from tokenize import TokenError

import numpy as np
from msgspec import Struct

from rocdbg.debugger.base.errors import DebuggerError
from rocdbg.debugger.expr.program_data import Data
from rocdbg.debugger.expr.value_access import place_of
from rocdbg.debugger.reports.hex_record_files import MAX_FILE, Chunk, read_records, to_ihex, to_srec, to_verilog
from rocdbg.debugger.values.value import Value
from rocdbg.debugger.values.value_storage import Address
from rocdbg.dwarf.info.types import ArrayType, BaseType, Encoding, PointerType, Type, VectorType
from rocdbg.errors import Error
from rocdbg.regular_file import FileAccessError, read_regular

PART = 1 << 20
"""How many bytes of memory are read at once."""
_NUMPY_KINDS: dict[int, str] = {
    Encoding.SIGNED: "i", Encoding.SIGNED_CHAR: "i", Encoding.UNSIGNED: "u", Encoding.UNSIGNED_CHAR: "u",
    Encoding.FLOAT: "f", Encoding.BOOLEAN: "b", Encoding.COMPLEX_FLOAT: "c", Encoding.UTF: "u",
}
_NPY_MAGIC = b"\x93NUMPY"
Warn = Callable[[str], None]


class Dumped(Struct, frozen=True):
    """Bytes to be written, their address, and their description for an array file."""

    chunk: Chunk
    dtype: str = "<u1"
    shape: tuple[int, ...] | None = None


class Restored(Struct, frozen=True):
    """A part of a file and its destination, which ``sentence`` describes. A part without ``data`` is skipped."""

    sentence: str
    address: int = 0
    data: bytes = b""


def dumped_value(data: Data, expression: str, warn: Warn) -> Dumped:
    """Return the bytes of an expression's value."""
    value = data.evaluate(expression)
    contents = value.contents()
    address = value.address
    if address is None:
        warn("value is not an lval: address assumed to be zero")
    dtype, shape = _array_type(value)
    return Dumped(Chunk(address.value if address is not None else 0, contents), dtype, shape)


def dumped_memory(data: Data, start: str, stop: str) -> Dumped:
    """Return the bytes of memory from one address up to, but not including, another."""
    first, last = address_operand(data, start), address_operand(data, stop)
    if first.value >= last.value:
        raise DebuggerError("Invalid memory address range (start >= end).")
    if last.value - first.value > MAX_FILE:
        raise DebuggerError(f"Invalid memory address range (more than {MAX_FILE} bytes).")
    memory = data.environment().memory
    parts = [
        memory.read(first.space, at, min(PART, last.value - at)) for at in range(first.value, last.value, PART)
    ]
    return Dumped(Chunk(first.value, b"".join(parts)))


def encoded(dumped: Dumped, format_: str, name: str) -> bytes:
    """Encode the contents of a file ``name`` in a format: ``binary``, ``ihex``, ``srec``, ``verilog`` or ``npy``."""
    if format_ == "ihex":
        return to_ihex(dumped.chunk, name)
    if format_ == "srec":
        return to_srec(dumped.chunk, name)
    if format_ == "verilog":
        return to_verilog(dumped.chunk)
    if format_ == "npy":
        file = io.BytesIO()
        array = np.frombuffer(dumped.chunk.data, dumped.dtype)
        np.lib.format.write_array(file, array if dumped.shape is None else array.reshape(dumped.shape))
        return file.getvalue()
    return dumped.chunk.data


def write_file(path: Path, contents: bytes, append: bool) -> None:
    """Write or append a file. Raises `DebuggerError`."""
    try:
        with path.open("ab" if append else "wb") as file:
            file.write(contents)
    except (OSError, ValueError) as error:
        raise DebuggerError(f"{path}: {_reason(error)}.") from None


def read_file(path: Path, end: str = ".") -> bytes:
    """Return a file's bytes. Raises `DebuggerError` if it cannot be read; the message ends with ``end``, after the
    reason.
    """
    try:
        if path.exists() and not path.is_file():
            raise DebuggerError(f"'{path}' is not a recognized file format.")
        return read_regular(path, MAX_FILE)
    except FileAccessError as error:
        reason = error.reason.removeprefix("cannot be read: ")
    except (OSError, ValueError) as error:
        reason = _reason(error)
    raise DebuggerError(f"Failed to open {path}: {reason}{end}")


def restored(
    contents: bytes, name: str, binary: bool, offset: int, start: int | None, stop: int | None
) -> Iterator[Restored]:
    """Yield the parts of a file that ``restore`` writes.

    Raw bytes go to ``offset``; ``start`` and ``stop`` are positions in the file. Records go to their addresses plus
    ``offset``; ``start`` and ``stop`` are addresses.
    """
    if binary or contents.startswith(_NPY_MAGIC):
        kind = "binary file" if binary else "array"
        raw = contents if binary else _npy_bytes(contents, name)
        yield _raw(raw, f"{kind} {name}", offset, start or 0, stop)
        return
    for number, chunk in enumerate(read_records(contents, name), 1):
        end = chunk.address + len(chunk.data)
        first = max(chunk.address, start or 0)
        last = min(end, stop) if stop else end
        section = f"section .sec{number}"
        if first >= last:
            yield Restored(f"skipping {section}...")
            continue
        sentence = f"Restoring {section} ({chunk.address:#x} to {end:#x})"
        if offset or start or stop:
            sentence += f" into memory ({first + offset:#x} to {last + offset:#x})"
        yield Restored(sentence, first + offset, chunk.data[first - chunk.address : last - chunk.address])


def write_memory(data: Data, space: int, part: Restored, warn: Warn) -> None:
    """Write a part to memory; if that fails, call ``warn`` and write nothing."""
    try:
        data.environment().memory.write(space, part.address & ((1 << 64) - 1), part.data)
    except Error as error:
        warn(f"restore: memory write failed ({error}).")


def address_operand(data: Data, expression: str) -> Address:
    """Return the address to which an address expression points."""
    return place_of(data.evaluate(expression), data.environment())


def _raw(raw: bytes, what: str, offset: int, start: int, stop: int | None) -> Restored:
    if not 0 <= start < max(len(raw), 1):
        raise DebuggerError(f"Start address is greater than length of {what}.")
    last = min(len(raw), stop) if stop else len(raw)
    if last <= start:
        raise DebuggerError("Start must be less than end.")
    sentence = f"Restoring {what} into memory ({offset + start:#x} to {offset + last:#x})"
    return Restored(sentence, offset + start, raw[start:last])


def _npy_bytes(contents: bytes, name: str) -> bytes:
    """Return the elements of a NumPy array file, in C order."""
    file = io.BytesIO(contents)
    try:
        version = np.lib.format.read_magic(file)
        read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, fortran, dtype = read(file)
    except (ValueError, TypeError, IndexError, KeyError, SyntaxError, TokenError, RecursionError, MemoryError):
        # NumPy's own reader evaluates the header as code, even that of a file that only resembles an array file.
        raise DebuggerError(f"'{name}' is not a NumPy array file that can be read.") from None
    if dtype.hasobject:
        raise DebuggerError(f"'{name}' contains Python objects, which cannot be written to memory.")
    if any(extent < 0 for extent in shape):
        raise DebuggerError(f"'{name}' has an array with a negative extent.")
    if not dtype.itemsize:
        raise DebuggerError(f"'{name}' has array elements of size 0.")
    size = dtype.itemsize * math.prod(shape)
    if not size:  # the other extents may exceed what NumPy supports
        return b""
    body = contents[file.tell() :]
    if len(body) < size:
        raise DebuggerError(f"'{name}' ends before its array does ({len(body)} of {size} bytes).")
    if fortran and len(shape) > 1:
        return np.frombuffer(body[:size], dtype).reshape(shape, order="F").tobytes()
    return body[:size]


def _array_type(value: Value) -> tuple[str, tuple[int, ...] | None]:
    """Return NumPy's type for the elements, and the extents; plain bytes if NumPy has no such type."""
    shape: list[int] = []
    current = value
    while isinstance(current.bare, (ArrayType, VectorType)):
        element, count, stride = current.elements()
        if stride != (element.size or 0) or not count:
            return "<u1", None
        shape.append(count)
        current = Value(element, data=b"")
    kind = _kind(current.bare)
    size = current.size
    sizes = {"f": (2, 4, 8), "c": (8, 16), "b": (1,)}.get(kind, (1, 2, 4, 8))
    if not kind or size not in sizes:
        return "<u1", None
    return f"<{kind}{size}", tuple(shape)


def _kind(type_: Type) -> str:
    if isinstance(type_, PointerType):
        return "u"
    return _NUMPY_KINDS.get(type_.encoding, "") if isinstance(type_, BaseType) else ""


def _reason(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
