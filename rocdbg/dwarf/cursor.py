"""Reading little-endian binary data with bounds checks; every error says where."""

from __future__ import annotations

from rocdbg.dwarf.errors import DecodeError

__all__ = ["Cursor"]


class Cursor:
    """A position in `data`, never read beyond `end`; missing data raises a `DecodeError` with its offset."""

    __slots__ = ("data", "end", "position", "what")

    def __init__(self, data: bytes, position: int = 0, end: int | None = None, what: str = "data") -> None:
        self.data = data
        self.position = position
        self.end = len(data) if end is None else end
        self.what = what

    @property
    def at_end(self) -> bool:
        """Whether no data is left."""
        return self.position >= self.end

    def take(self, size: int) -> bytes:
        """The next `size` bytes."""
        start = self.position
        stop = start + size
        if size < 0 or stop > self.end:
            needed = size if abs(size) < 1 << 64 else f"{size:#x}"
            raise DecodeError(f"{self.what} ends too early: {needed} more bytes are needed", offset=start)
        self.position = stop
        return self.data[start:stop]

    def unsigned(self, size: int) -> int:
        """An unsigned integer of `size` bytes."""
        return int.from_bytes(self.take(size), "little")

    def signed(self, size: int) -> int:
        """A two's complement integer of `size` bytes."""
        return int.from_bytes(self.take(size), "little", signed=True)

    def uleb(self) -> int:
        """An unsigned LEB128 number of any length."""
        position = self.position
        if position < self.end and self.data[position] < 0x80:  # most have one byte
            self.position = position + 1
            return self.data[position]
        value, _ = self._leb()
        return value

    def sleb(self) -> int:
        """A signed LEB128 number of any length."""
        value, bits = self._leb()
        return value - (1 << bits) if value >> (bits - 1) else value

    def string(self) -> bytes:
        """The bytes up to a zero byte, which is skipped."""
        stop = self.data.find(b"\0", self.position, self.end)
        if stop < 0:
            raise DecodeError(f"{self.what} ends within a string", offset=self.position)
        text = self.data[self.position : stop]
        self.position = stop + 1
        return text

    def _leb(self) -> tuple[int, int]:
        """Read a LEB128 number: its bits, and how many there are."""
        data = self.data
        start = position = self.position
        end = self.end
        while position < end and data[position] & 0x80:
            position += 1
        if position >= end:
            raise DecodeError(f"{self.what} ends within a LEB128 number", offset=start)
        position += 1
        self.position = position
        count = position - start
        if count <= 32:
            value = 0
            for byte in reversed(data[start:position]):
                value = value << 7 | byte & 0x7F
            return value, 7 * count
        # Every eight groups of 7 bits make 7 bytes, so the time is linear however long the number is.
        groups = bytes(byte & 0x7F for byte in data[start:position])
        chunks = []
        for i in range(0, count, 8):
            word = 0
            for byte in reversed(groups[i : i + 8]):
                word = word << 7 | byte
            chunks.append(word.to_bytes(7, "little"))
        return int.from_bytes(b"".join(chunks), "little"), 7 * count
