"""A map of metadata with typed access; every error names the path to the value."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from typing import Any, TypeVar

from rocdbg.codeobject.errors import CodeObjectError
from rocdbg.text import printable

_E = TypeVar("_E", bound=Enum)


class MetadataMap:
    """A map of metadata with typed access; every error names the path to the value."""

    def __init__(self, file: str, section: str, offset: int, path: str, values: Mapping[Any, Any]) -> None:
        self._where = (file, section, offset)
        self._path = path
        self._values = values

    @classmethod
    def empty(cls, file: str) -> MetadataMap:
        """An empty map, for a file without metadata."""
        return cls(file, "", 0, "", {})

    def is_flag(self, key: str) -> bool:
        """Whether the value is a boolean."""
        return isinstance(self._values.get(key), bool)

    def integer(self, key: str, default: int = 0) -> int:
        """A non-negative integer of at most 64 bits; text that contains one is accepted (YAML)."""
        value = self._values.get(key)
        if value is None:
            return default
        return self._integer(key, value)

    def flag(self, key: str) -> bool | None:
        value = self._values.get(key)
        if value is None:
            return None
        if isinstance(value, str) and value.lower() in ("true", "false"):
            return value.lower() == "true"
        if isinstance(value, (bool, int)):
            return bool(value)
        return bool(self._integer(key, value))

    def text(self, key: str) -> str | None:
        value = self._values.get(key)
        if value is not None and not isinstance(value, str):
            raise self._error(key, f"is {_kind(value)}, not text")
        return None if value is None else printable(value)

    def required_text(self, key: str) -> str:
        value = self.text(key)
        if value is None:
            raise self._error(key, "is missing")
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        values = self._list(key)
        for value in values:
            if not isinstance(value, str):
                raise self._error(key, f"contains {_kind(value)}, but only text is expected")
        return tuple(values)

    def integers(self, key: str, length: int | None = None) -> tuple[int, ...] | None:
        if self._values.get(key) is None:
            return None
        numbers = tuple(self._integer(key, value) for value in self._list(key))
        if length is not None and len(numbers) != length:
            raise self._error(key, f"has {len(numbers)} numbers, but {length} are expected")
        return numbers

    def choice(self, key: str, kind: Callable[[str], _E]) -> _E | None:
        text = self.text(key)
        if text is None or text == "default":
            return None
        try:
            return kind(text)
        except ValueError:
            raise self._error(key, f'has the unknown value "{text}"') from None

    def map(self, key: str) -> MetadataMap:
        """The map at a key; an empty one if there is none."""
        value = self._values.get(key)
        if value is not None and not isinstance(value, dict):
            raise self._error(key, f"is {_kind(value)}, not a map")
        return MetadataMap(*self._where, f"{self._path}{key}", value or {})

    def items(self) -> Iterator[tuple[str, MetadataMap]]:
        """All maps in it, by name."""
        for key in self._values:
            if not isinstance(key, str):
                raise self._error("", f"has {_kind(key)} as a key, but keys must be text")
            yield key, self.map(key)

    def numbers(self) -> dict[int, int]:
        """All values by number, as registers are stored. Only the lower 32 bits of each value are used."""
        for key in self._values:
            if not isinstance(key, int) or isinstance(key, bool):
                raise self._error("", f"has {_kind(key)} as a key, but keys must be numbers")
        return {key: self._integer(str(key), value) & 0xFFFF_FFFF for key, value in self._values.items()}

    def maps(self, key: str) -> Iterator[MetadataMap]:
        for index, value in enumerate(self._list(key)):
            if not isinstance(value, dict):
                raise self._error(key, f"[{index}] is {_kind(value)}, not a map")
            yield MetadataMap(*self._where, f"{self._path}{key}[{index}]", value)

    def _list(self, key: str) -> list[Any]:
        value = self._values.get(key)
        if value is None:
            return []
        if not isinstance(value, list):
            raise self._error(key, f"is {_kind(value)}, not a sequence")
        return value

    def _integer(self, key: str, value: object) -> int:
        if isinstance(value, str) and re.fullmatch("[0-9]{1,20}|0x[0-9a-fA-F]{1,16}", value, re.ASCII):
            value = int(value, 0 if value.startswith("0x") else 10)
        if not isinstance(value, int) or isinstance(value, bool):
            raise self._error(key, f"is {_kind(value)}, not a number")
        if not 0 <= value < 1 << 64:
            raise self._error(key, f"is out of range ({value})")
        return value

    def _error(self, key: str, problem: str) -> CodeObjectError:
        file, section, offset = self._where
        return CodeObjectError(file, f"metadata {self._path}{key} {problem}", section=section, offset=offset)


def _kind(value: object) -> str:
    names = {dict: "a map", list: "a sequence", str: "text", int: "a number", bool: "a truth value"}
    return names.get(type(value), f"a {type(value).__name__}")
