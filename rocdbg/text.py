"""Text out of files: what becomes of bytes that are not UTF-8."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import islice

_LONGEST = 2000
_LONGEST_COMPARED = 200
_MOST_COMPARED = 20_000

_ESCAPED = re.compile(r"\\x([89a-f][0-9a-f])")


def decode_text(data: bytes | bytearray) -> str:
    """A name or message of a file as text that can be shown anywhere: one line without control characters.

    Bytes that are not UTF-8, and characters that are not printable, become backslash escapes (``caf\\xe9``,
    ``\\x1b[2J``). Names of a damaged or hostile file end up in tables, on terminals and in files.
    """
    return printable(decode_lines(data))


def decode_lines(data: bytes | bytearray) -> str:
    """Lines of text out of a file, as they are but for bytes that are not UTF-8."""
    return data.decode("utf-8", "backslashreplace")


def printable(text: str) -> str:
    """``text`` with characters that are not printable as backslash escapes."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else _escaped(char) for char in text)


def count_given(count: int) -> str:
    """``0 are given``, ``1 is given``."""
    return f"{count} {'is' if count == 1 else 'are'} given"


def _escaped(char: str) -> str:
    code = ord(char)
    if code < 0x80:
        return {"\n": "\\n", "\t": "\\t", "\r": "\\r"}.get(char, f"\\x{code:02x}")
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def one_line(text: str) -> str:
    """``text`` with control characters escaped and not too long: names from a damaged file end up in messages."""
    if len(text) > _LONGEST:
        text = f"{text[: _LONGEST // 2]} ... {text[-_LONGEST // 2 :]}"
    return printable(text)


def raw_text(text: str) -> str:
    """What `decode_text` made ``text`` of, with the bytes it escaped as Python's "surrogateescape" has them.

    For paths, and for hashes of names; never to be shown. Without escapes it is ``text`` itself.
    """
    return _ESCAPED.sub(lambda match: chr(0xDC00 + int(match[1], 16)), text)


def near_names(name: str, names: Iterable[str], count: int = 3) -> list[str]:
    """The names most like ``name``, best first, for messages about a name there is not.

    Comparing takes the product of two lengths: long names and those far down a long list are left out.
    """
    if len(name) > _LONGEST_COMPARED:
        return []
    import difflib  # few sessions need it

    short = (other for other in islice(names, _MOST_COMPARED) if len(other) <= _LONGEST_COMPARED)
    return difflib.get_close_matches(name, short, n=count)
