"""Metadata as YAML, in the layout of LLVM's tools."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from rocdbg.text import printable

_PLAIN = re.compile(r"[A-Za-z_.^](?:[\w^., -]*[\w^.,-])?", re.ASCII)
_OTHER = re.compile(r"(?i)null|true|false|[.]nan|[.]inf|[.][0-9].*")
"""Plain text that would be read as something else than text."""
_VALUE_COLUMN = 16


def metadata_lines(value: Any) -> Iterator[str]:
    """The lines of a document: maps sorted by key, texts in quotes where YAML needs them, bytes in hexadecimal."""
    yield "---"
    if isinstance(value, Mapping | list) and value:
        yield from _block(value, "")
    else:
        yield _scalar(value)
    yield "..."


def _block(value: Mapping[Any, Any] | list[Any], indent: str) -> Iterator[str]:
    if isinstance(value, Mapping):
        for key in sorted(value, key=_rank):
            name = _scalar(key)
            inner = value[key]
            if isinstance(inner, Mapping | list) and inner:
                yield f"{indent}{name}:"
                # a sequence in a map is indented, as maps in maps are
                yield from _block(inner, indent + "  ")
            else:
                yield f"{indent}{name}:{' ' * max(1, _VALUE_COLUMN - len(name))}{_scalar(inner)}"
        return
    for item in value:
        if isinstance(item, Mapping | list) and item:
            first, *rest = _block(item, indent + "  ")
            yield f"{indent}- {first[len(indent) + 2 :]}"
            yield from rest
        else:
            yield f"{indent}- {_scalar(item)}"


def _rank(key: object) -> tuple[bool, int, str]:
    """Numbers first, in order, then text."""
    return (False, key, "") if isinstance(key, int) else (True, 0, str(key))


def _scalar(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if value is None:
        return "null"
    if isinstance(value, bytes):
        return f"0x{value.hex()}"
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, Mapping | list):
        return "{}" if isinstance(value, Mapping) else "[]"
    return str(value)


def _text(text: str) -> str:
    if not text.isprintable():
        escaped = printable(text.replace("\\", "\\\\").replace('"', '\\"'))
        return f'"{escaped}"'
    if _PLAIN.fullmatch(text) and not _OTHER.fullmatch(text):
        return text
    doubled = text.replace("'", "''")
    return f"'{doubled}'"
