"""The generated encoding tables: reading and writing. ``tables/README.md`` describes their grammar."""

from __future__ import annotations

import json
import re
from enum import StrEnum
from functools import cache, cached_property
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from rocdbg.arch.targets import TARGETS
from rocdbg.isa.encoding_layouts import Bits

Texts = tuple[str | None, ...]


class ItemTag(StrEnum):
    """The tag at the beginning of a signature's item."""

    OPERAND = "o"
    MODIFIER = "m"
    NUMBER = "n"
    NUMBER_MODIFIER = "N"
    REGISTERS = "w"
    OPEN = "open"
    CLOSE = "close"
    LITERAL = "l"
    FIXED = "f"
    FIXED_MODIFIER = "F"


_SUFFIX = re.compile(r"(?:_e32|_e64|_sdwa|_dpp8|_dpp)+$")
_REGISTER = re.compile(r"^(v|a|s|ttmp)(?:(\d+)|\[(\d+):(\d+)\])(\.[lh]|/\*.*\*/)?$")
_NUMBER = re.compile(r"^(-?)(\d+)$")

WHOLE_REGISTERS = "!"
"""A prefix of a modifier's text: with this value, 16-bit operands are printed without ``.l`` and ``.h``."""


def base_name(mnemonic: str) -> str:
    """The mnemonic without encoding suffixes (``v_add_f32_e64_dpp`` is ``v_add_f32``)."""
    return _SUFFIX.sub("", mnemonic)


def bits_text(bits: Bits) -> str:
    """``((0, 9), (11, 1))`` as ``0+9,11+1``."""
    return ",".join(f"{low}+{size}" for low, size in bits)


def parse_bits(text: str) -> Bits:
    """The inverse of :func:`bits_text`."""
    result = []
    for part in text.split(","):
        low, _, size = part.partition("+")
        result.append((int(low), int(size)))
    return tuple(result)


def pack(texts: Texts) -> list[Any]:
    """Pack a vector: ``[length, [code, count, step, prefix, first, number step, registers, suffix] |
    [code, text]...]``.

    Runs are registers (or decimal numbers, prefix ``#``) whose number increases with the code; codes without an entry
    are None.
    """
    entries: list[list[Any]] = []
    done: set[int] = set()
    parsed: dict[int, tuple[str, int, int, str]] = {}
    for code, text in enumerate(texts):
        if text is None:
            continue
        if match := _REGISTER.match(text):
            prefix, single, low, high, suffix = match.groups()
            first = int(single or low)
            count = 0 if single else int(high) - first + 1
            parsed[code] = (prefix, first, count, suffix or "")
        elif match := _NUMBER.match(text):
            parsed[code] = ("#", int(text), 0, "")
    for code, text in enumerate(texts):
        if text is None or code in done:
            continue
        if code in parsed:
            prefix, first, count, suffix = parsed[code]
            best: list[Any] | None = None
            for step, stride in ((1, 1), (1, 2), (1, 4), (1, -1), (2, 2), (4, 4), (2, 0), (1, 0)):
                n = 1
                while code + n * step not in done and parsed.get(code + n * step) == (
                    prefix, first + n * stride, count, suffix,
                ):
                    n += 1
                if best is None or n > best[1]:
                    best = [code, n, step, prefix, first, stride, count, suffix]
            assert best is not None
            if best[1] > 2:
                done.update(code + i * best[2] for i in range(best[1]))
                entries.append(best)
                continue
        done.add(code)
        entries.append([code, text])
    return [len(texts), *entries]


def unpack(packed: list[Any]) -> Texts:
    """The inverse of :func:`pack`."""
    texts: list[str | None] = [None] * packed[0]
    for entry in packed[1:]:
        if len(entry) == 2:
            texts[entry[0]] = entry[1]
            continue
        code, n, step, prefix, first, stride, count, suffix = entry
        for i in range(n):
            low = first + i * stride
            if prefix == "#":
                texts[code + i * step] = str(low)
            elif count:
                texts[code + i * step] = f"{prefix}[{low}:{low + count - 1}]{suffix}"
            else:
                texts[code + i * step] = f"{prefix}{low}{suffix}"
    return tuple(texts)


def table_name(target: str) -> str:
    """File name of a target's table, which targets may share (`Target.encodings`)."""
    row = TARGETS.get(target)
    return (row.encodings if row is not None and row.encodings else target) + ".json"


def _path(target: str) -> Traversable:
    return files("rocdbg.isa").joinpath("tables", table_name(target))


@cache
def load(target: str) -> dict[str, Any]:
    """The raw table of a target. Raises FileNotFoundError if there is none."""
    table: dict[str, Any] = json.loads(_path(target).read_text(encoding="utf-8"))
    return table


def write(table: dict[str, Any], path: Path) -> int:
    """Write a table, one layout, signature or vector per line, as ``Table`` reads it; returns the size in bytes."""

    def compact(value: Any) -> str:
        return json.dumps(value, separators=(",", ":"))

    parts = []
    for key, value in table.items():
        if isinstance(value, dict):
            inner = ",\n".join(f"{compact(k)}:{compact(v)}" for k, v in value.items())
            parts.append(f"{compact(key)}:{{\n{inner}\n}}")
        elif isinstance(value, list):
            inner = ",\n".join(compact(v) for v in value)
            parts.append(f"{compact(key)}:[\n{inner}\n]")
        else:
            parts.append(f"{compact(key)}:{compact(value)}")
    text = "{" + ",\n".join(parts) + "}\n"
    path.write_text(text, encoding="utf-8")
    return len(text)


class Table:
    """A target's table, of which only the requested lines are parsed, because a session needs few of them."""

    def __init__(self, target: str) -> None:
        """Raises FileNotFoundError if the target has no table."""
        self.target = target
        self.family = ""
        self._sections: dict[str, list[str]] = {}
        lines: list[str] = []
        for line in _path(target).read_text(encoding="utf-8").splitlines():
            key = line[: line.find(":")]
            if line.endswith((":{", ":[")):
                lines = self._sections[key.strip('"')] = []
            elif key == '"family"':
                self.family = json.loads(line.partition(":")[2].rstrip(","))
            else:
                lines.append(line)
        self._rows = {name: _by_key(self._sections.get(name, [])) for name in ("rows", "wave64")}
        self._signatures: dict[int, Any] = {}
        self._texts: dict[int, Texts] = {}
        self._values: dict[int, list[Any]] = {}
        self._dwords: dict[int, int] = {}

    @property
    def aliases(self) -> dict[str, str]:
        """Further names of instructions, from earlier generations."""
        return _aliases().get(table_name(self.target).removesuffix(".json"), {})

    def rows(self, layout: str, wave_size: int) -> dict[str, list[Any]]:
        """Mnemonic and signature number by opcode and case, for the rows that exist in a wave size."""
        rows = self._layout("rows", layout)
        if wave_size == 64 and layout in self._rows["wave64"]:
            rows = rows | self._layout("wave64", layout)
        return {key: row for key, row in rows.items() if row is not None}

    def _layout(self, section: str, layout: str) -> dict[str, Any]:
        line = self._rows[section].get(layout)
        rows: dict[str, Any] = json.loads(line) if line else {}
        return rows

    def signature(self, number: int) -> Any:
        """Size, the mask and value of fixed bits, and the items."""
        if number not in self._signatures:
            self._signatures[number] = json.loads(self._sections["signatures"][number].rstrip(","))
        return self._signatures[number]

    def values(self, number: int) -> list[Any]:
        """A pooled list, not unpacked."""
        if number not in self._values:
            self._values[number] = json.loads(self._sections["texts"][number].rstrip(","))
        return self._values[number]

    def texts(self, number: int) -> Texts:
        """An unpacked vector."""
        if number not in self._texts:
            self._texts[number] = unpack(self.values(number))
        return self._texts[number]

    def dwords(self, number: int) -> int:
        """Number of registers that an operand covers, from the first vector or scalar register of its vector."""
        if number not in self._dwords:
            widest = 1
            for entry in self.values(number)[1:]:
                if len(entry) > 2 and entry[3] in ("v", "a", "s", "ttmp"):
                    widest = entry[6] or 1
                    if entry[3] in ("v", "a"):
                        break
            self._dwords[number] = widest
        return self._dwords[number]

    @cached_property
    def literal_types(self) -> dict[tuple[str, str], str]:
        """The type of the constants of (instruction, operand) in the 32-bit encodings, for forms that do not allow a
        literal.
        """
        types: dict[tuple[str, str], str] = {}
        for layout in ("VOP1", "VOP2", "VOPC"):
            for mnemonic, signature in self.rows(layout, 32).values():
                for tag, *fields in self.signature(signature)[3]:
                    if tag == ItemTag.OPERAND:
                        name, literal = fields[0], fields[3]
                        if literal not in ("", "invalid"):
                            types[base_name(mnemonic), name] = literal.rstrip("il")
        return types


@cache
def _aliases() -> dict[str, dict[str, str]]:
    text = files("rocdbg.isa").joinpath("tables", "aliases.json").read_text(encoding="utf-8")
    names: dict[str, dict[str, str]] = json.loads(text)
    return names


def _by_key(lines: list[str]) -> dict[str, str]:
    parts = (line.rstrip(",").partition(":") for line in lines if line[0] == '"')
    return {key.strip('"'): value for key, _, value in parts}
