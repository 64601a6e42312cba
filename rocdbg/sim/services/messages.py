"""Messages that lanes send in parts: each is a stream of qwords, one part per hostcall.

The first qword of a part is its descriptor: bit 0 begins a message, bit 1 ends it, bits 7:5 count the qwords that
follow, bits 63:8 are the message's number, which the answer to the first part assigns.
"""

from __future__ import annotations

from msgspec import Struct, field

MAX_PENDING = 64 << 20
"""Bytes of messages that have not ended; a kernel that sends more is stopped."""
_OVERHEAD = 64
"""Bytes by which each unfinished message counts in addition to its contents, which may be empty."""

_BEGIN, _END = 1, 2
_LENGTH_SHIFT, _LENGTH_MASK = 5, 7
_NUMBER_SHIFT = 8

Pending = tuple[dict[int, bytes], tuple[int, ...], int]
"""Unfinished messages by number, numbers that are free again, the next new number."""


class MessageError(Exception):
    """A part belongs to a message that does not exist, or a message is too long; the text says which."""


class Messages(Struct):
    """Messages that have begun but not ended."""

    _parts: dict[int, bytearray] = field(default_factory=dict)
    _free: list[int] = field(default_factory=list)
    _next: int = 0
    _pending: int = 0

    def part(self, descriptor: int, payload: bytes) -> tuple[int, bytes | None]:
        """Process a part; ``payload`` is the 56 bytes after the descriptor.

        Returns the descriptor for the following parts, and the whole message if this was its end. Raises MessageError.
        """
        begins = bool(descriptor & _BEGIN)
        if begins:
            number = self._free.pop() if self._free else self._next
            self._next = max(self._next, number + 1)
            self._parts[number] = bytearray()
            descriptor = (descriptor & ((1 << _NUMBER_SHIFT) - 1) & ~_BEGIN) | number << _NUMBER_SHIFT
        else:
            number = descriptor >> _NUMBER_SHIFT
            if number not in self._parts:
                raise MessageError(f"a part of message {number} arrives, but this message has not begun")
        count = descriptor >> _LENGTH_SHIFT & _LENGTH_MASK
        self._pending += count * 8 + (_OVERHEAD if begins else 0)
        if self._pending > MAX_PENDING:
            raise MessageError(f"unfinished messages have more than {MAX_PENDING} bytes")
        self._parts[number] += payload[: count * 8]
        if not descriptor & _END:
            return descriptor, None
        whole = bytes(self._parts.pop(number))
        self._pending -= len(whole) + _OVERHEAD
        self._free.append(number)
        return descriptor, whole

    def snapshot(self) -> Pending:
        """The argument for `restore`."""
        return {number: bytes(part) for number, part in self._parts.items()}, tuple(self._free), self._next

    def restore(self, pending: Pending) -> None:
        """Restore the state at the time of `snapshot`."""
        parts, free, self._next = pending
        self._parts, self._free = {number: bytearray(part) for number, part in parts.items()}, list(free)
        self._pending = sum(len(part) + _OVERHEAD for part in parts.values())


__all__ = ["MAX_PENDING", "MessageError", "Messages", "Pending"]
