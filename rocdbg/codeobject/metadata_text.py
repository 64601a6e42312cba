"""Metadata as YAML, in the layout of LLVM's tools."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from rocdbg.codeobject.shader_registers import register_text, user_data_text
from rocdbg.text import printable

_PLAIN = re.compile(r"[A-Za-z_.^](?:[\w^., -]*[\w^.,-])?", re.ASCII)
_OTHER = re.compile(r"(?i)null|true|false|[.]nan|[.]inf|[.][0-9].*")
"""Plain text that YAML would read as something other than text."""
_VALUE_COLUMN = 16

_EXPLAINED = {
    ".registers": register_text,
    ".user_data_reg_map": lambda index, value: f"s{index}: {user_data_text(value)}",
}
"""Functions that give a comment for one entry and its value, by the key of a register map or of a list of register
contents.
"""


def metadata_lines(value: Any) -> Iterator[str]:
    """The lines of a document: maps sorted by key, texts in quotes where YAML needs them, bytes in hexadecimal."""
    yield "---"
    if isinstance(value, Mapping | list) and value:
        yield from _block(value, "")
    else:
        yield _scalar(value)
    yield "..."


def _block(value: Mapping[Any, Any] | list[Any], indent: str, parent: object = None) -> Iterator[str]:
    explain = _EXPLAINED.get(parent) if isinstance(parent, str) else None
    if isinstance(value, Mapping):
        for key in sorted(value, key=_rank):
            name = _scalar(key)
            inner = value[key]
            if isinstance(inner, Mapping | list) and inner:
                yield f"{indent}{name}:"
                # a sequence in a map is indented, like maps in maps
                yield from _block(inner, indent + "  ", key)
            else:
                line = f"{indent}{name}:{' ' * max(1, _VALUE_COLUMN - len(name))}{_scalar(inner)}"
                yield line + _comment(explain, key, inner)
        return
    for index, item in enumerate(value):
        if isinstance(item, Mapping | list) and item:
            first, *rest = _block(item, indent + "  ")
            yield f"{indent}- {first[len(indent) + 2 :]}"
            yield from rest
        else:
            yield f"{indent}- {_scalar(item)}" + _comment(explain, index, item)


def _comment(explain: Callable[[int, int], str] | None, key: object, value: object) -> str:
    if explain is None or not isinstance(key, int) or not isinstance(value, int) or isinstance(value, bool):
        return ""
    text = explain(key, value & 0xFFFF_FFFF)
    return f"  # {text}" if text else ""


def _rank(key: object) -> tuple[bool, int, str]:
    """Sort key: numbers first, in order, then text."""
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
