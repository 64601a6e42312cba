"""Registers of a frame as values: by name, in ranges, and the lists ``info registers`` shows."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

from msgspec import Struct

from rocdbg.arch.address_spaces import AddressSpace
from rocdbg.arch.registers import UnknownRegisterError, dwarf_register, register_number
from rocdbg.debugger.errors import ExpressionError, RegisterAccessError
from rocdbg.debugger.frames.context import FrameContext
from rocdbg.debugger.target.state import Target
from rocdbg.debugger.values import ctypes
from rocdbg.debugger.values.locations import LocationStorage
from rocdbg.debugger.values.storage import Absence, AbsentError, CallbackStorage
from rocdbg.debugger.values.value import Value
from rocdbg.dwarf.info.types import ArrayType, Type, VectorType
from rocdbg.isa.operands import register_count, special_code

_NUMBERED = re.compile(r"(s|v|a|acc|ttmp)(0|[1-9]\d*)")
_GFX12 = ("state_priv", "excp_flag_priv", "excp_flag_user", "trap_ctrl")
EARLY_PAIRS = ("xnack_mask", "tba", "tma")
"""Registers of 64 bits that only GFX8 and GFX9, and GFX6 to GFX8, have."""
_WIDE = ("flat_scratch", *EARLY_PAIRS)
_PLAIN = ("pc", "pc_32", "exec", "vcc", "status", "m0", "scc", "mode", "trapsts", "flat_scratch", *EARLY_PAIRS, *_GFX12)
_ALIASES = {"sp": "s32", "fp": "s33", "src_scc": "scc"}
_ZERO_FLAGS = {"vccz": "vcc", "src_vccz": "vcc", "execz": "exec", "src_execz": "exec"}
_APERTURES = {
    prefix + name: (space, low)
    for prefix in ("", "src_")
    for name, space, low in (
        ("shared_base", AddressSpace.LOCAL, 0), ("shared_limit", AddressSpace.LOCAL, 0xFFFFFFFF),
        ("private_base", AddressSpace.PRIVATE_LANE, 0), ("private_limit", AddressSpace.PRIVATE_LANE, 0xFFFFFFFF),
    )
}
"""Operands that are read like registers (GFX9 and later)."""
_NULL = "null"
_POPS = ("pops_exiting_wave_id", "src_pops_exiting_wave_id")
"""The wave of pixels in order that is to leave next: 0 for all others."""
_LDS_DIRECT = ("lds_direct", "src_lds_direct")
_CONSTANTS = (_NULL, *_POPS)
_OPERANDS = frozenset((*_ZERO_FLAGS, *_APERTURES, *_CONSTANTS, *_LDS_DIRECT))
_HALVES = {name + half: (name, offset) for name in ("exec", "vcc", *_WIDE) for half, offset in (("_lo", 0), ("_hi", 4))}
_SPECIAL = ("m0", "scc", "mode", "trapsts", "flat_scratch", *EARLY_PAIRS, *_GFX12)
"""Names of registers without a DWARF number, in the order they are shown. Not every target has all of them."""


def special_names(target: Target, thread: int) -> list[str]:
    """The registers without a DWARF number that a wave has, in the order they are shown."""
    return [name for name in _SPECIAL if target.read_special(thread, name) is not None]


@lru_cache(maxsize=4096)
def is_register_name(name: str) -> bool:
    """Whether any wave has a register of this name."""
    return (
        name in _PLAIN or name in _ALIASES or name in _HALVES or name in _OPERANDS
        or _NUMBERED.fullmatch(name) is not None
    )


class RegisterFile(Struct, frozen=True):
    """The registers of one frame of one wave. Those of callers come through unwind rules."""

    target: Target
    thread: int
    context: FrameContext

    def value(self, name: str) -> Value | None:
        """A register as an lvalue; ``None`` when the wave has none of this name.

        Vector registers are vectors over lanes, the PC is a code pointer, all others integers.
        """
        if not is_register_name(name):  # most names: convenience variables
            return None
        name = _ALIASES.get(name, name)
        if name.startswith("acc"):
            name = "a" + name[3:]
        if name in _OPERANDS:
            return self._operand(name)
        if (match := _NUMBERED.fullmatch(name)) and int(match[2]) >= register_count(
            match[1], self.target.architecture
        ):
            return None
        if name in _HALVES:
            whole, offset = _HALVES[name]
            value = self.value(whole)
            if value is None:
                return None
            if value.size <= offset:  # of a mask of wave32: a register of its own, that code may keep things in
                return self._special(name)
            return value.part(ctypes.INT, offset)
        wave = self.target.wave(self.thread)
        try:
            number = register_number(name, wave.lane_count)
        except UnknownRegisterError:
            return self._special(name)
        if name == "pc" and self.context.callee is not None:
            return self._caller_pc()
        register = dwarf_register(number)
        location = self.context.register_location(number)
        if location.is_undefined:
            return Value.absent(self._type(name, register.size, wave.lane_count), Absence.NOT_SAVED)
        storage = LocationStorage(location, Absence.NOT_SAVED)
        type_ = self._code_pointer if name == "pc" else self._type(name, register.size, wave.lane_count)
        return Value(type_, storage)

    @property
    def _code_pointer(self) -> Type:
        function = self.context.function
        return ctypes.CXX_CODE_POINTER if function is not None and function.unit.is_cxx else ctypes.CODE_POINTER

    def _operand(self, name: str) -> Value | None:
        """What instructions can read besides registers: whether a mask is zero, where apertures are, nothing."""
        if name in _ZERO_FLAGS:
            mask = self.value(_ZERO_FLAGS[name])
            return None if mask is None else Value.of_int(ctypes.INT, int(mask.as_int() == 0))
        if name in _CONSTANTS or name in _LDS_DIRECT:
            own = name if name == _NULL else f"src_{name.removeprefix('src_')}"
            if special_code(own, self.target.architecture) is None:
                return None
            return self._lds_direct() if name in _LDS_DIRECT else Value.of_int(ctypes.INT, 0)
        space, low = _APERTURES[name]
        base = self.target.generic_address(space, 0)
        return None if base is None else Value.of_int(ctypes.UNSIGNED_LONG, base | low)

    def _lds_direct(self) -> Value | None:
        """What M0 selects in LDS: its low half is the address, bits 16 to 18 say of which type."""
        if self.target.architecture.unified_vgprs:
            return None  # gone with gfx90a
        m0 = self.target.read_special(self.thread, "m0")
        if m0 is None:
            return None
        kind = m0 >> 16 & 7
        size = {0: 1, 1: 2}.get(kind & 3, 4)
        data = self.target.read_memory(AddressSpace.LOCAL, m0 & 0xFFFF, size, self.thread)
        return Value.of_int(ctypes.INT, int.from_bytes(data, "little", signed=bool(kind & 4) or size == 4))

    def _caller_pc(self) -> Value:
        assert self.context.wave_pc is not None
        return Value.of_int(self._code_pointer, self.context.wave_pc + 1)

    @staticmethod
    def _type(name: str, size: int, lanes: int) -> Type:
        if name[0] in "va" and name[1:].isdecimal():
            return VectorType(ctypes.INT, lanes, 4 * lanes)
        return {4: ctypes.INT, 8: ctypes.UNSIGNED_LONG}.get(size, ctypes.unsigned_of(size))

    def _special(self, name: str) -> Value | None:
        thread, target = self.thread, self.target
        number = target.read_special(thread, name)
        if number is None:
            return None
        if self.context.callee is not None:
            return Value.absent(ctypes.INT, Absence.NOT_SAVED)
        size = 8 if name in _WIDE else 4

        def read(offset: int, count: int) -> bytes:
            current = target.read_special(thread, name) or 0
            return current.to_bytes(size, "little")[offset : offset + count]

        def write(offset: int, data: bytes) -> None:
            whole = bytearray((target.read_special(thread, name) or 0).to_bytes(size, "little"))
            whole[offset : offset + len(data)] = data
            target.write_special(thread, name, int.from_bytes(whole, "little"))

        type_ = ctypes.UNSIGNED_LONG if size == 8 else ctypes.INT
        return Value(type_, CallbackStorage(name, read, write))

    def range(self, file: str, first: int, last: int) -> Value:
        """``$s[4:5]`` (one 64-bit number, wider ones an array of dwords), ``$v[0:1]`` (a vector of those)."""
        file = {"acc": "a"}.get(file, file)
        text = f"{file}[{first}:{last}]" if last != first else f"{file}[{first}]"
        if file not in ("s", "v", "a", "ttmp") or not 0 <= first <= last:
            raise ExpressionError(f"Register range ${text} is not valid.")
        architecture = self.target.architecture
        if last >= (limit := register_count(file, architecture)):
            has = f"{file}0 to {file}{limit - 1}" if limit else "no such registers"
            raise RegisterAccessError(f"There is no register ${file}{last}: {architecture.name} has {has}.")
        values = []
        for index in range(first, last + 1):
            value = self.value(f"{file}{index}")
            if value is None:
                raise RegisterAccessError(f"There is no register ${file}{index}.")
            values.append(value)
        count = len(values)
        if count == 1:
            return values[0]
        element: Type = ctypes.UNSIGNED_LONG if count == 2 else ArrayType(ctypes.INT, count)
        name = f"{file}[{first}:{last}]"
        lanes = self.target.wave(self.thread).lane_count if file in "va" else 1
        type_ = element
        if file in "va":
            type_ = VectorType(element, lanes, 4 * count * lanes)
        return Value(type_, CallbackStorage(name, *_interleave(values), tuple(values)))


def _interleave(
    values: list[Value],
) -> tuple[Callable[[int, int], bytes], Callable[[int, bytes], None]]:
    """Reader and writer of registers seen as one: per lane the dwords follow each other."""
    count = len(values)

    def read(offset: int, size: int) -> bytes:
        columns = [value.contents() for value in values]
        lanes = len(columns[0]) // 4
        whole = b"".join(column[4 * lane : 4 * lane + 4] for lane in range(lanes) for column in columns)
        return whole[offset : offset + size]

    def write(offset: int, data: bytes) -> None:
        for position in range(len(data)):
            dword, byte = divmod(offset + position, 4)
            lane, column = divmod(dword, count)
            value = values[column]
            if value.storage is None:
                raise AbsentError(Absence.NOT_SAVED)
            value.storage.write(value.offset + 4 * lane + byte, data[position : position + 1])

    return read, write
