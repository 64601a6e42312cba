"""Text files of records with addresses and bytes: Intel HEX and Motorola S-records."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct

from rocdbg import work
from rocdbg.debugger.base.errors import DebuggerError

IHEX_DATA, SREC_DATA = 16, 16
"""The number of data bytes in a record."""
VERILOG_LINE = 16
MAX_ADDRESS = (1 << 32) - 1
MAX_FILE = 1 << 28
"""The size in bytes of the largest file."""
MAX_CHUNKS = 1 << 14
"""The maximum number of contiguous parts in a file of records: each of them is written and reported separately."""


class Chunk(Struct, frozen=True):
    """Contiguous bytes, and the address of the first."""

    address: int
    data: bytes


class RecordFormatError(DebuggerError):
    """An address is too large for a format, or a file does not have the format."""


def to_ihex(chunk: Chunk, name: str) -> bytes:
    """Encode as Intel HEX: data records, and before each 64 KiB a record with the upper half of the address."""
    _check(chunk, name, "Intel Hex")
    lines = []
    upper = 0
    for address, data in _parts(chunk, IHEX_DATA):
        if address >> 16 != upper:
            upper = address >> 16
            lines.append(_ihex_line(0, 4, upper.to_bytes(2, "big")))
        lines.append(_ihex_line(address & 0xFFFF, 0, data))
    lines.append(_ihex_line(0, 1, b""))
    return b"".join(lines)


def to_srec(chunk: Chunk, name: str) -> bytes:
    """Encode as Motorola S-records, with addresses of two, three or four bytes, as the last address requires."""
    _check(chunk, name, "S-record")
    width = next(size for size in (2, 3, 4) if (chunk.address + max(len(chunk.data), 1) - 1) >> (8 * size) == 0)
    lines = [_srec_line(0, bytes(2) + name.encode("utf-8", "replace")[:40])]
    lines += [_srec_line(width - 1, a.to_bytes(width, "big") + data) for a, data in _parts(chunk, SREC_DATA)]
    lines.append(_srec_line(11 - width, bytes(width)))
    return b"".join(lines)


def to_verilog(chunk: Chunk) -> bytes:
    """Encode as Verilog's hexadecimal text, which ``$readmemh`` reads: the first address, then lines of bytes."""
    width = 8 if chunk.address <= MAX_ADDRESS else 16
    rows = [chunk.data[at : at + VERILOG_LINE] for at in range(0, len(chunk.data), VERILOG_LINE)]
    lines = [f"@{chunk.address:0{width}X}", *(row.hex(" ").upper() for row in rows)]
    return "".join(f"{line}\r\n" for line in lines).encode()


def read_records(text: bytes, name: str) -> list[Chunk]:
    """Return the bytes of a file in either format, with adjacent records merged. Raises `RecordFormatError`."""
    unknown = RecordFormatError(f"'{name}' is not a recognized file format.")
    try:
        if text.startswith(b":"):
            return _joined(_ihex_chunks(text), name)
        if text[:1] == b"S" and text[1:2].isdigit():
            return _joined(_srec_chunks(text), name)
    except ValueError:
        raise unknown from None
    raise unknown


def _check(chunk: Chunk, name: str, format_: str) -> None:
    last = chunk.address + len(chunk.data) - 1
    if last > MAX_ADDRESS:
        first = max(chunk.address, MAX_ADDRESS + 1)
        raise RecordFormatError(f"{name}: 64-bit address {first:#x} out of range for {format_} file")


def _parts(chunk: Chunk, most: int) -> Iterator[tuple[int, bytes]]:
    """Split bytes into records of at most ``most`` bytes; none crosses a multiple of 64 KiB."""
    done = 0
    while done < len(chunk.data):
        address = chunk.address + done
        size = min(most, 0x10000 - (address & 0xFFFF))
        yield address, chunk.data[done : done + size]
        done += size


def _ihex_line(address: int, kind: int, data: bytes) -> bytes:
    record = bytes([len(data), *address.to_bytes(2, "big"), kind]) + data
    return b":" + (record + bytes([-sum(record) & 0xFF])).hex().upper().encode() + b"\r\n"


def _srec_line(kind: int, data: bytes) -> bytes:
    record = bytes([len(data) + 1]) + data
    return b"S%d" % kind + (record + bytes([~sum(record) & 0xFF])).hex().upper().encode() + b"\r\n"


def _ihex_chunks(text: bytes) -> Iterator[Chunk]:
    base = 0
    for line in text.split():
        record = bytes.fromhex(line[1:].decode("ascii"))
        if line[:1] != b":" or len(record) < 5 or len(record) != record[0] + 5 or sum(record) & 0xFF:
            raise ValueError
        kind, data = record[3], record[4:-1]
        if kind == 1:
            return
        if kind in (2, 4):
            base = int.from_bytes(data, "big") << (4 if kind == 2 else 16)
        elif kind == 0:
            yield Chunk(base + int.from_bytes(record[1:3], "big"), data)
        elif kind not in (3, 5):
            raise ValueError


def _srec_chunks(text: bytes) -> Iterator[Chunk]:
    for line in text.split():
        record = bytes.fromhex(line[2:].decode("ascii"))
        if line[:1] != b"S" or len(record) < 3 or len(record) != record[0] + 1 or sum(record) & 0xFF != 0xFF:
            raise ValueError
        kind = int(line[1:2])
        if kind in (1, 2, 3):
            if len(record) < kind + 3:
                raise ValueError
            yield Chunk(int.from_bytes(record[1 : kind + 2], "big"), record[kind + 2 : -1])
        elif kind >= 7:
            return


def _joined(chunks: Iterable[Chunk], name: str) -> list[Chunk]:
    """Merge adjacent chunks."""
    found: list[tuple[int, bytearray]] = []
    for chunk in chunks:
        work.unit()
        if found and found[-1][0] + len(found[-1][1]) == chunk.address:
            found[-1][1].extend(chunk.data)
        elif len(found) == MAX_CHUNKS:
            raise RecordFormatError(f"'{name}' has more than {MAX_CHUNKS} separate address ranges.")
        else:
            found.append((chunk.address, bytearray(chunk.data)))
    return [Chunk(address, bytes(data)) for address, data in found]
