"""The input of lowering: the registers, stack slots and addresses in which code generation has placed LLVM's entities.

    Placement({"%x": Register(34), "%x.addr": FrameAddress(16), "@g": 0x1000}, labels={"entry": 0x200})

The same as a file of TOML:

    wave_size = 64
    step = 4                        # bytes of an instruction, unless `labels` are more precise
    [places]
    "%x" = "v3"                     # a register; of a vector register the lane's dword
    "%p" = "s[4:5]"                 # registers in a row
    "%x.addr" = "frame+16"          # its value is the address of byte 16 of the frame
    "%frame.index.0" = "slot+16"    # it is kept there
    "@g" = 0x1000                   # an address
    "%y" = [[0x100, 0x110, "s4"], [0x110, 0x120, "v40.0"]]      # at these addresses; lane 0 of v40
    [labels]
    "entry" = 0x200                 # addresses of blocks
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from msgspec import Struct

from rocdbg.dwarf.architecture import Architecture, architecture_by_name
from rocdbg.llvmdi.errors import LoweringError, ReadError
from rocdbg.llvmdi.function_flow import ControlFlow
from rocdbg.regular_file import FileAccessError, read_regular
from rocdbg.text import one_line
from rocdbg.toml_text import TomlError, parse_toml

__all__ = [
    "CodeAddresses", "Constant", "FrameAddress", "Moving", "Pieces", "Placement", "Register", "Slot", "Where",
    "read_placement",
]  # fmt: skip


class Register(Struct, frozen=True):
    """A DWARF register from bit `offset` on; `per_lane` means the lane's dword of a vector register."""

    number: int
    offset: int = 0
    per_lane: bool = False


class Slot(Struct, frozen=True):
    """Memory of the frame, `offset` bytes from its base, in which the value is kept."""

    offset: int


class FrameAddress(Struct, frozen=True):
    """The address of byte `offset` of the frame, which is the value of an alloca."""

    offset: int


class Constant(Struct, frozen=True):
    """A known number, such as the address of a global variable; `relocated` says that it moves with the code."""

    value: int
    relocated: bool = False


class Pieces(Struct, frozen=True):
    """Places one after the other, each with its number of bits."""

    parts: tuple[tuple[Where, int], ...]


class Moving(Struct, frozen=True):
    """Places by range of addresses: (low, high, where)."""

    parts: tuple[tuple[int, int, Where], ...]


Where = Register | Slot | FrameAddress | Constant | Pieces | Moving


class Placement(Struct, frozen=True):
    """Places of entities by name, or by "@function:%name"; addresses of blocks by label, or "@function:label".

    `frame_shift` is by how many bits the frame pointer `frame_register` must be shifted right to give a lane's address:
    6 if it counts the bytes of 64 lanes. It is needed if the address of a slot is a variable's value.
    """

    places: Mapping[str, Where]
    labels: Mapping[str, int] = {}
    step: int = 4
    start: int = 0
    wave_size: int = 64
    architecture: str = "amdgcn"
    frame_register: int = 65
    frame_shift: int = 0

    def where(self, function: str, name: str, address: int | None = None) -> Where | None:
        """Where an entity is; if it moves, where it is at a code address. None if that is not known."""
        found = self.places.get(f"{function}:{name}")
        if found is None:
            found = self.places.get(name)
        if not isinstance(found, Moving):
            return found
        return next((where for low, high, where in found.parts if address is not None and low <= address < high), None)

    def borders(self, function: str, name: str) -> list[int]:
        """The addresses at which an entity moves."""
        found = self.places.get(f"{function}:{name}", self.places.get(name))
        return sorted({end for part in found.parts for end in part[:2]}) if isinstance(found, Moving) else []


class CodeAddresses:
    """The address of every instruction of a function; a debug instruction has that of the next real one."""

    def __init__(self, flow: ControlFlow, placement: Placement) -> None:
        name = flow.function.name
        self.addresses: list[int] = []
        self.blocks: dict[str, int] = {}
        at = placement.start
        for block in flow.function.blocks:
            at = placement.labels.get(f"{name}:{block.label}", placement.labels.get(block.label, at))
            self.blocks.setdefault(block.label, at)
            for instruction in block.instructions:
                self.addresses.append(at)
                at += 0 if instruction.is_debug else placement.step
        self.addresses.append(at)

    def range(self, first: int, last: int) -> tuple[int, int]:
        """The addresses of the instructions from `first` up to `last`."""
        return self.addresses[first], self.addresses[last]


# Reading

_MAX_SIZE = 1 << 24
"""Bytes of a placement file."""
_REGISTERS = re.compile(r"([a-z_]+)\[([0-9]{1,9}):([0-9]{1,9})\]")
_LANE = re.compile(r"([a-z]+[0-9]+)\.([0-9]{1,9})")
_OFFSET = re.compile(r"(frame|slot)([+-][0-9]{1,18})?")
MAX_PIECES = 64


@lru_cache(maxsize=8)
def _numbers(architecture: str, wave_size: int) -> Mapping[str, int]:
    """DWARF registers by name; vector registers have two numbers, of which the one for the wave size is used."""
    known = architecture_by_name(architecture)
    found: dict[str, int] = {}
    for number in range(4096):
        size = known.register_size(number)
        elements = known.register_elements(number) if size is not None else 1
        if size is not None and (elements == 1 or elements == wave_size):
            found[known.register_name(number)] = number
    return found


def register_number(architecture: str, wave_size: int, name: str) -> int:
    """The DWARF number of a register; `LoweringError` if there is none of that name."""
    number = _numbers(architecture, wave_size).get(name)
    if number is None:
        raise LoweringError(f"{architecture} has no register '{name[:40]}'")
    return number


def _place(text: object, architecture: str, wave_size: int) -> Where:
    if isinstance(text, int) and not isinstance(text, bool):
        if not -(1 << 63) <= text < 1 << 64:
            raise LoweringError("a constant in a placement must fit into 64 bits")
        return Constant(text, relocated=True)
    if isinstance(text, list):
        parts = []
        for part in text:
            if not isinstance(part, list) or len(part) != 3 or not all(_is_address(end) for end in part[:2]):
                raise LoweringError("each element of a list of places must have the form [low, high, place]")
            parts.append((part[0], part[1], _place(part[2], architecture, wave_size)))
        return Moving(tuple(parts))
    if not isinstance(text, str):
        raise LoweringError(f"{text!r:.40} is not a place")
    offset = _OFFSET.fullmatch(text)
    if offset is not None:
        number = int(offset[2] or 0)
        return FrameAddress(number) if offset[1] == "frame" else Slot(number)
    lane = _LANE.fullmatch(text)
    if lane is not None:
        return Register(register_number(architecture, wave_size, lane[1]), 32 * int(lane[2]))
    row = _REGISTERS.fullmatch(text)
    if row is not None:
        first, last = int(row[2]), int(row[3])
        if not first <= last < first + MAX_PIECES:
            raise LoweringError(f"'{text[:40]}' is not a range of registers")
        return Pieces(tuple((register(architecture, wave_size, f"{row[1]}{n}"), 32) for n in range(first, last + 1)))
    return register(architecture, wave_size, text)


def register(architecture: str, wave_size: int, name: str) -> Register:
    """A register by name; for a vector register the lane's dword."""
    number = register_number(architecture, wave_size, name)
    known: Architecture = architecture_by_name(architecture)
    return Register(number, 0, known.register_elements(number) > 1)


def parse_places(
    places: Mapping[str, object], architecture: str = "amdgcn", wave_size: int = 64
) -> dict[str, Where]:
    """Places as a placement file writes them; `LoweringError` for an invalid place."""
    return {name: _place(text, architecture, wave_size) for name, text in places.items()}


def read_placement(path: str | Path) -> Placement:
    """The placement in a file of TOML; `ReadError` if it cannot be read, `LoweringError` for an invalid place."""
    try:
        data = parse_toml(read_regular(path, _MAX_SIZE).decode("utf-8"))
    except FileAccessError as error:
        raise ReadError(str(error)) from None
    except (UnicodeDecodeError, TomlError) as error:
        raise ReadError(one_line(f"{path}: {error}")) from None
    wave_size = _integer(data, "wave_size", 64)
    architecture = data.get("architecture", "amdgcn")
    if not isinstance(architecture, str) or wave_size not in (32, 64):
        raise ReadError(f"{path}: 'architecture' must be a name, and 'wave_size' must be 32 or 64")
    places, labels = data.get("places", {}), data.get("labels", {})
    if not isinstance(places, dict) or not isinstance(labels, dict):
        raise ReadError(f"{path}: 'places' and 'labels' must be tables")
    unknown = set(data) - {
        "architecture", "wave_size", "step", "start", "places", "labels", "frame_register", "frame_shift",
    }  # fmt: skip
    if unknown:
        raise ReadError(f"{path}: there is no key '{min(unknown)}'")
    if not all(_is_address(address) for address in labels.values()):
        raise ReadError(f"{path}: the values in 'labels' must be addresses")
    frame = data.get("frame_register", "s33")
    return Placement(
        parse_places(places, architecture, wave_size), labels, _integer(data, "step", 4), _integer(data, "start", 0),
        wave_size, architecture, register_number(architecture, wave_size, str(frame)),
        _integer(data, "frame_shift", 0),
    )


def _is_address(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 64


def _integer(data: Mapping[str, object], key: str, default: int) -> int:
    value = data.get(key, default)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 1 << 63:
        raise ReadError(f"'{key}' must be a number that is not negative")
    return value
