"""Text from files: handling of invalid UTF-8 bytes."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import islice

_LONGEST = 2000
_LONGEST_COMPARED = 200
_MOST_COMPARED = 20_000

_ESCAPED = re.compile(r"\\x([89a-f][0-9a-f])")


def decode_text(data: bytes | bytearray) -> str:
    """A name or message from a file as text that can be shown anywhere: one line without control characters.

    Bytes that are not UTF-8, and characters that are not printable, become backslash escapes (``caf\\xe9``,
    ``\\x1b[2J``). Names of a damaged or hostile file end up in tables, on terminals and in files.
    """
    return printable(decode_lines(data))


def decode_lines(data: bytes | bytearray) -> str:
    """Lines of text from a file, unchanged except for invalid UTF-8 bytes."""
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
    """``text`` with control characters escaped, and cut to a moderate length: messages may contain names from a damaged
    file.
    """
    if len(text) > _LONGEST:
        text = f"{text[: _LONGEST // 2]} ... {text[-_LONGEST // 2 :]}"
    return printable(text)


def raw_text(text: str) -> str:
    """Undo `decode_text`: return the original text, with the bytes that were escaped in Python's "surrogateescape"
    form.

    It is for paths and for hashes of names, and must never be shown. Without escapes it is ``text`` itself.
    """
    return _ESCAPED.sub(lambda match: chr(0xDC00 + int(match[1], 16)), text)


def near_names(name: str, names: Iterable[str], count: int = 3) -> list[str]:
    """The names most similar to ``name``, best first, for messages about an unknown name.

    Comparing two names takes time proportional to the product of their lengths: long names and those far down a long
    list are left out.
    """
    if len(name) > _LONGEST_COMPARED:
        return []
    import difflib  # few sessions need it

    short = (other for other in islice(names, _MOST_COMPARED) if len(other) <= _LONGEST_COMPARED)
    return difflib.get_close_matches(name, short, n=count)
