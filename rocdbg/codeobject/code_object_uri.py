"""Loaded code object URIs: ``file:///path#offset=N&size=M`` and ``memory://PID#offset=N&size=M``."""

from __future__ import annotations

import re
from urllib.parse import quote

from msgspec import Struct

from rocdbg.codeobject.errors import UriError

_URI = re.compile(r"(file|memory)://([^#?]*)(?:[#?](.*))?", re.DOTALL)
_RANGE = re.compile(r"offset=([0-9a-zA-Z]+)&size=([0-9a-zA-Z]+)")
_NUMBER = re.compile(r"0[xX][0-9a-fA-F]+|[0-9]+", re.ASCII)
_PERCENT = re.compile(rb"%(..)?", re.DOTALL)


class FileUri(Struct, frozen=True):
    """A code object in a file; without a range the file is the code object."""

    path: str
    offset: int | None = None
    size: int | None = None

    def __str__(self) -> str:
        text = "file://" + quote(self.path.encode("utf-8", "surrogateescape"), safe="/_.~-")
        return text if self.offset is None else f"{text}#offset={self.offset}&size={self.size}"


class MemoryUri(Struct, frozen=True):
    """A code object in the memory of a process."""

    process: int
    offset: int
    """The address."""
    size: int

    def __str__(self) -> str:
        return f"memory://{self.process}#offset={self.offset:#x}&size={self.size}"


def is_uri(text: str) -> bool:
    """Whether ``text`` is a code object URI rather than a path."""
    return text.startswith(("file://", "memory://"))


def parse_uri(text: str) -> FileUri | MemoryUri:
    """Read a code object URI; raises `UriError`.

    The range follows ``#`` or ``?``; numbers are C literals (decimal, 0x hexadecimal, 0 octal).
    """
    match = _URI.fullmatch(text)
    if match is None:
        raise UriError(text, "expected file://PATH or memory://PID")
    scheme, body, tail = match.groups()
    offset = size = None
    if tail is not None:
        numbers = _RANGE.fullmatch(tail)
        if numbers is None:
            raise UriError(text, f'expected offset=N&size=M, not "{tail}"')
        offset, size = (_number(text, number) for number in numbers.groups())
    if scheme == "file":
        if not body:
            raise UriError(text, "the path is missing")
        return FileUri(_unquote(text, body), offset, size)
    if offset is None or size is None:
        raise UriError(text, "a memory URI needs #offset=N&size=M")
    if not re.fullmatch("[0-9]+", body, re.ASCII):
        raise UriError(text, f'the process id "{body}" is not a decimal number')
    return MemoryUri(_number(text, str(int(body[:20]))), offset, size)


def _number(uri: str, text: str) -> int:
    if _NUMBER.fullmatch(text):
        octal = len(text) > 1 and text[0] == "0" and text[1] not in "xX"
        try:
            value = int(text, 8 if octal else 0)
        except ValueError:
            value = -1  # a digit 8 or 9 in an octal number, or far too many digits
        if 0 <= value < 1 << 64:
            return value
    raise UriError(uri, f'bad number "{text}"')


def _unquote(uri: str, text: str) -> str:
    def decode(match: re.Match[bytes]) -> bytes:
        digits = match[1] or b""
        if not re.fullmatch(b"[0-9a-fA-F]{2}", digits):
            raise UriError(uri, f'bad escape "%{digits.decode("utf-8", "replace")}"')
        return bytes([int(digits, 16)])

    return _PERCENT.sub(decode, text.encode("utf-8", "surrogateescape")).decode("utf-8", "surrogateescape")
