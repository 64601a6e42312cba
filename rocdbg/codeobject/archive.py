"""Reads archives of object files (``.a``) from ``ar`` and LLVM, with GNU's or BSD's names and 64-bit symbol tables."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from msgspec import Struct

from rocdbg import work
from rocdbg.codeobject.bounded_reader import Source
from rocdbg.codeobject.file_bytes import FileBytes
from rocdbg.text import decode_text

ARCHIVE_MAGIC: Final = b"!<arch>\n"
THIN_MAGIC: Final = b"!<thin>\n"

_HEADER_SIZE: Final = 60
_NAME, _SIZE, _END = slice(0, 16), slice(48, 58), slice(58, 60)
_LONGEST: Final = 4096
"""Maximum size of a member's name in bytes."""
_MOST: Final = 1 << 16
"""Maximum number of members of an archive."""
_WHAT: Final = "archive"


class Member(Struct, frozen=True):
    """A file in the archive; ``offset`` is the position of its bytes in the source."""

    name: str
    offset: int
    size: int


def is_archive(data: bytes | bytearray | FileBytes) -> bool:
    """Whether ``data`` begins with an archive, including a thin one (which contains only names of files)."""
    return data[: len(ARCHIVE_MAGIC)] in (ARCHIVE_MAGIC, THIN_MAGIC)


def iter_members(source: Source) -> Iterator[Member]:
    """Yield the files of an archive, in order, without the tables of symbols and names. Raises `CodeObjectError`."""
    if source.data[: len(THIN_MAGIC)] == THIN_MAGIC:
        raise source.error(
            "a thin archive contains only the names of its members; open one of these files instead", section=_WHAT
        )
    at, long_names, end = len(ARCHIVE_MAGIC), b"", len(source)
    for _ in range(_MOST):
        work.unit()
        if at >= end:
            return
        header = source.bytes_at(at, _HEADER_SIZE, _WHAT)
        if header[_END] != b"`\n":
            raise source.error("the archive is damaged: there is no member header", section=_WHAT, offset=at)
        size, name = _number(source, header[_SIZE], at), header[_NAME].rstrip(b" ")
        start = at + _HEADER_SIZE
        if start + size > end:
            reason = f"a member of {size} bytes runs past the end of the file"
            raise source.error(reason, section=_WHAT, offset=at)
        at = start + size + size % 2
        if name == b"//":
            long_names = source.bytes_at(start, size, _WHAT)
        elif name not in (b"/", b"/SYM64/"):
            text, skipped = _name(source, name, long_names, start, size)
            if not text.startswith("__.SYMDEF"):
                yield Member(text, start + skipped, size - skipped)
    raise source.error(f"the archive has more than {_MOST} members", section=_WHAT, offset=at)


def _name(source: Source, name: bytes, long_names: bytes, start: int, size: int) -> tuple[str, int]:
    """A member's name, and how many of its bytes the name occupies."""
    if name.startswith(b"#1/"):  # BSD: the name precedes the contents
        length = _number(source, name[3:], start - _HEADER_SIZE)
        if length > min(size, _LONGEST):
            reason = f"the name of a member has {length} bytes, which do not fit or exceed the limit of {_LONGEST}"
            raise source.error(reason, section=_WHAT, offset=start - _HEADER_SIZE)
        return decode_text(source.bytes_at(start, length, _WHAT).rstrip(b"\0")), length
    if re.fullmatch(rb"/\d{1,15}", name):  # GNU: the name is in the table of long names
        at = int(name[1:])
        if at >= len(long_names):
            reason = f"the name of a member is at offset {at} of the table of long names, beyond its end"
            raise source.error(reason, section=_WHAT, offset=start - _HEADER_SIZE)
        return decode_text(long_names[at : at + _LONGEST].partition(b"\n")[0].removesuffix(b"/")), 0
    return decode_text(name.removesuffix(b"/")), 0


def _number(source: Source, text: bytes, at: int) -> int:
    text = text.strip(b" ")
    if not re.fullmatch(rb"\d{1,15}", text):
        raise source.error("the size of a member is not a number", section=_WHAT, offset=at)
    return int(text)
