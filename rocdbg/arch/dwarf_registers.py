"""AMDGPU DWARF register numbers, and conversion in both directions.

One table of ranges (AMDGPU usage guide, "Register Identifier").  Vector registers, EXEC and VCC have one
number per wavefront size; names are the assembler's: ``s7``, ``v12``, ``a3``, ``exec``, ``vcc``, ``pc``.
"""

from __future__ import annotations

import re
from enum import Enum
from functools import lru_cache

from msgspec import Struct

from rocdbg.errors import Error

PC_32 = 0
EXEC_32 = 1
PC_64 = 16
PC = PC_64
"""The program counter of the 64-bit process address space, the only one of amdgcn."""
EXEC_64 = 17
SGPR0 = 32
STATUS = 128
FRAME_REGISTERS = (64, 65)
"""s32 and s33, the stack and frame pointers of functions, which do not change while a frame exists."""
VCC_32 = 512
VCC_64 = 768
SGPR64 = 1088
VGPR0_WAVE32 = 1536
VGPR512_WAVE32 = 3584
AGPR0_WAVE32 = 2048
VGPR0_WAVE64 = 2560
AGPR0_WAVE64 = 3072


class RegisterClass(Enum):
    """Which register file a DWARF register belongs to."""

    PC = "pc"
    EXEC = "exec"
    STATUS = "status"
    VCC = "vcc"
    SGPR = "s"
    VGPR = "v"
    AGPR = "a"


class UnknownRegisterError(Error):
    """A DWARF register number or a register name that AMDGPU does not define for the wave size."""

    def __init__(self, register: int | str, wave_size: int | None) -> None:
        self.register = register
        self.wave_size = wave_size
        mode = "" if wave_size is None else f" in wave{wave_size} code"
        if isinstance(register, int):
            super().__init__(f"AMDGPU has no DWARF register {register}{mode}")
        else:
            super().__init__(f'there is no DWARF register "{register}"{mode}')


class DwarfRegister(Struct, frozen=True):
    """One DWARF register."""

    number: int
    name: str
    register_class: RegisterClass
    index: int
    """Number within its register file (7 for s7); 0 for the single registers."""
    size: int
    """Bytes; a vector register has one dword per lane."""
    wave_size: int | None
    """The wave size for which it is defined, None if for both."""

    @property
    def is_vector(self) -> bool:
        return self.register_class in (RegisterClass.VGPR, RegisterClass.AGPR)


class _Range(Struct, frozen=True):
    first: int
    count: int
    register_class: RegisterClass
    first_index: int
    size: int
    wave_size: int | None


_RANGES: tuple[_Range, ...] = (
    _Range(PC_32, 1, RegisterClass.PC, 0, 4, None),
    _Range(EXEC_32, 1, RegisterClass.EXEC, 0, 4, 32),
    _Range(PC_64, 1, RegisterClass.PC, 0, 8, None),
    _Range(EXEC_64, 1, RegisterClass.EXEC, 0, 8, 64),
    _Range(SGPR0, 64, RegisterClass.SGPR, 0, 4, None),
    _Range(STATUS, 1, RegisterClass.STATUS, 0, 4, None),
    _Range(VCC_32, 1, RegisterClass.VCC, 0, 4, 32),
    _Range(VCC_64, 1, RegisterClass.VCC, 0, 8, 64),
    _Range(SGPR64, 42, RegisterClass.SGPR, 64, 4, None),
    _Range(VGPR0_WAVE32, 512, RegisterClass.VGPR, 0, 32 * 4, 32),
    _Range(VGPR512_WAVE32, 512, RegisterClass.VGPR, 512, 32 * 4, 32),
    _Range(AGPR0_WAVE32, 256, RegisterClass.AGPR, 0, 32 * 4, 32),
    _Range(VGPR0_WAVE64, 256, RegisterClass.VGPR, 0, 64 * 4, 64),
    _Range(AGPR0_WAVE64, 256, RegisterClass.AGPR, 0, 64 * 4, 64),
)

_NUMBERED = {RegisterClass.SGPR, RegisterClass.VGPR, RegisterClass.AGPR}
_NAME = re.compile(r"([a-z]+?)(0|[1-9][0-9]*)?", re.ASCII)


@lru_cache(maxsize=4096)
def dwarf_register(number: int) -> DwarfRegister:
    """Describe DWARF register ``number``, of either wave size; raises `UnknownRegisterError`."""
    for row in _RANGES:
        if row.first <= number < row.first + row.count:
            index = row.first_index + number - row.first
            name = row.register_class.value + (str(index) if row.register_class in _NUMBERED else "")
            if number == PC_32:
                name = "pc_32"
            return DwarfRegister(number, name, row.register_class, index, row.size, row.wave_size)
    raise UnknownRegisterError(number, None)


def register_name(number: int, wave_size: int) -> str:
    """The name of DWARF register ``number`` in code of this wave size; raises `UnknownRegisterError`."""
    return _of_wave(number, wave_size).name


def register_size(number: int, wave_size: int) -> int:
    """Bytes of DWARF register ``number`` in code of this wave size; raises `UnknownRegisterError`."""
    return _of_wave(number, wave_size).size


@lru_cache(maxsize=4096)
def register_number(name: str, wave_size: int) -> int:
    """The DWARF number of ``name`` (``s7``, ``v12``, ``exec``, ``pc``) for this wave size.

    Raises `UnknownRegisterError`, including for machine registers without a DWARF number (``m0``, ``ttmp4``).
    """
    if name == "pc_32":
        return PC_32
    match = _NAME.fullmatch(name)
    if match is not None:
        for row in _RANGES:
            numbered = row.register_class in _NUMBERED
            if (
                row.first == PC_32
                or row.register_class.value != match[1]
                or row.wave_size not in (None, wave_size)
                or numbered is (match[2] is None)
            ):
                continue
            index = int(match[2] or 0) - row.first_index
            if 0 <= index < row.count:
                return row.first + index
    raise UnknownRegisterError(name, wave_size)


def sgpr_number(index: int) -> int:
    """The DWARF number of s<index>; raises `UnknownRegisterError`."""
    return register_number(f"s{index}", 64)


def vgpr_number(index: int, wave_size: int) -> int:
    """The DWARF number of v<index>; raises `UnknownRegisterError`."""
    return register_number(f"v{index}", wave_size)


def exec_number(wave_size: int) -> int:
    """The DWARF number of EXEC."""
    return EXEC_32 if wave_size == 32 else EXEC_64


def _of_wave(number: int, wave_size: int) -> DwarfRegister:
    register = dwarf_register(number)
    if register.wave_size not in (None, wave_size):
        raise UnknownRegisterError(number, wave_size)
    return register
