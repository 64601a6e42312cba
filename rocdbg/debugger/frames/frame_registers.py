"""Registers of a frame as values: by name, as ranges, and as the lists that ``info registers`` shows."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from msgspec import Struct

from rocdbg.arch.address_spaces import AddressSpace
from rocdbg.arch.dwarf_registers import UnknownRegisterError, dwarf_register, register_number
from rocdbg.debugger.base.errors import RegisterAccessError
from rocdbg.debugger.frames.frame_context import FrameContext
from rocdbg.debugger.target.capabilities.target_state import Target
from rocdbg.debugger.values import c_types
from rocdbg.debugger.values.flag_registers import flags_type
from rocdbg.debugger.values.located_values import LocationStorage
from rocdbg.debugger.values.value import Value
from rocdbg.debugger.values.value_storage import Absence, AbsentError, CallbackStorage
from rocdbg.dwarf.composite_storage import CompositeStorage
from rocdbg.dwarf.info.types import ArrayType, Type, VectorType
from rocdbg.dwarf.location import LocationDescription, Place
from rocdbg.isa import operands
from rocdbg.isa.instruction import OperandKind as K
from rocdbg.isa.operands import Register

_GFX12 = ("state_priv", "excp_flag_priv", "excp_flag_user", "trap_ctrl")
EARLY_PAIRS = ("xnack_mask", "tba", "tma")
"""64-bit registers that only older targets have: the first exists on GFX8 and GFX9, the others on GFX6 to GFX8."""
_WIDE = ("flat_scratch", *EARLY_PAIRS)
_SPECIAL = ("m0", "scc", "mode", "trapsts", "flat_scratch", *EARLY_PAIRS, *_GFX12)
"""Names of registers without a DWARF number, in the order in which they are shown. Not every target has all of them."""
_HIDDEN = ("flat_scratch_lo", "flat_scratch_hi")
"""Halves of registers that every target has, but that only few targets accept as operands."""
_NO_OPERANDS = ("pc", "pc_32", "status", "mode", "trapsts", "flat_scratch", *_HIDDEN, *_GFX12)
"""Registers that instructions cannot name, or can name only on some targets."""
_ALIASES = {"sp": "s32", "fp": "s33"}
_ZERO_FLAGS = {"src_vccz": "vcc", "src_execz": "exec"}
_APERTURES = {
    "src_shared_base": (AddressSpace.LOCAL, 0), "src_shared_limit": (AddressSpace.LOCAL, 0xFFFFFFFF),
    "src_private_base": (AddressSpace.PRIVATE_LANE, 0), "src_private_limit": (AddressSpace.PRIVATE_LANE, 0xFFFFFFFF),
}
"""Operands that hold constants of the hardware and are read like registers (GFX9 and later)."""
_SCRATCH_BASE = {"src_flat_scratch_base_lo": 0, "src_flat_scratch_base_hi": 4}
_ZEROS = ("null", "src_pops_exiting_wave_id")
"""Operands that read 0: null, and the exiting-wave id of ordered pixel shading, which no other kind of wave has."""
_HALVES = {name + half: (name, offset) for name in ("exec", "vcc", *_WIDE) for half, offset in (("_lo", 0), ("_hi", 4))}


def special_names(target: Target, thread: int) -> list[str]:
    """Return the names of the wave's registers that have no DWARF number, in the order in which they are shown."""
    return [name for name in _SPECIAL if target.read_special(thread, name) is not None]


@lru_cache(maxsize=4096)
def is_register_name(name: str) -> bool:
    """Whether some wave may have a register of this name."""
    return name in _ALIASES or name in _NO_OPERANDS or operands.is_register_name(name)


class RegisterFile(Struct, frozen=True):
    """The registers of one frame of one wave. Those of callers are recovered with unwind rules."""

    target: Target
    thread: int
    context: FrameContext

    @property
    def wave_size(self) -> int:
        """Lanes of the wave."""
        return self.target.wave(self.thread).lane_count

    def value(self, name: str) -> Value | None:
        """Return a register as an lvalue; ``None`` if the wave has no register of this name.

        Vector registers are vectors over lanes, the PC is a code pointer, all others integers.
        """
        if not is_register_name(name):  # fast path for most names, which are convenience variables
            return None
        name = _ALIASES.get(name, name)
        if name in _NO_OPERANDS:
            return self._named(name)
        try:
            register = operands.named_register(name, self.target.architecture, self.wave_size, name)
        except operands.OperandSyntaxError:
            return None
        return None if register is None else self._special(name) if register.kind is K.SPECIAL else self.of(register)

    def of(self, register: Register) -> Value:
        """Return the register or registers that an operand names: one register, consecutive ones, or half of one.

        Two scalar registers form a 64-bit number, more than two an array of dwords; consecutive vector registers form a
        vector over lanes of such values. Raises `RegisterAccessError` for registers that the wave does not have.
        """
        if register.half is not None:
            return self._half(f"{operands.FILE_NAMES[register.kind]}{register.index}", register.half)
        values = []
        for name in self._names_of(register):
            value = self._special(name) if register.kind is K.SPECIAL else self._named(name)
            if value is None:
                raise RegisterAccessError(f"There is no register ${name}.")
            values.append(value)
        count = len(values)
        if count == 1:
            return values[0]
        type_: Type = c_types.UNSIGNED_LONG if count == 2 else ArrayType(c_types.INT, count)
        if register.kind in (K.VGPR, K.AGPR):
            type_ = VectorType(type_, self.wave_size, 4 * count * self.wave_size)
        text = operands.register_text(register, self.target.architecture)
        return Value(type_, CallbackStorage(text, *_interleave(values), tuple(values)))

    def _names_of(self, register: Register) -> list[str]:
        """Return the names of the single registers."""
        if register.kind is not K.SPECIAL:
            file = operands.FILE_NAMES[register.kind]
            return [f"{file}{register.index + number}" for number in range(register.dwords)]
        name = operands.special_name(register, self.target.architecture)
        return [f"{name}_lo", f"{name}_hi"] if register.dwords == 2 else [name]

    def _half(self, name: str, half: int) -> Value:
        """``$v1.l``, ``$v1.h``: 16 bits of each lane's dword."""
        lanes = self.wave_size
        location = self.context.register_location(register_number(name, lanes))
        type_ = VectorType(c_types.SHORT, lanes, 2 * lanes)
        if location.is_undefined:
            return Value.absent(type_, Absence.NOT_SAVED)
        parts = [(location.offset_by(32 * lane + 16 * half), 16) for lane in range(lanes)]
        return Value(type_, LocationStorage(LocationDescription(Place(CompositeStorage(parts))), Absence.NOT_SAVED))

    def _named(self, name: str) -> Value | None:
        """Return the register of the wave that has this name in DWARF or on the target."""
        if name in _HIDDEN:
            return self._part(name)
        try:
            number = register_number(name, self.wave_size)
        except UnknownRegisterError:
            return self._undescribed(name)
        if name == "pc" and self.context.callee is not None:
            return self._caller_pc()
        register = dwarf_register(number)
        location = self.context.register_location(number)
        if location.is_undefined:
            return Value.absent(self._type(name, register.size, self.wave_size), Absence.NOT_SAVED)
        storage = LocationStorage(location, Absence.NOT_SAVED)
        type_ = self._code_pointer if name == "pc" else self._type(name, register.size, self.wave_size)
        return Value(type_, storage)

    def _part(self, name: str) -> Value | None:
        """Return ``vcc_lo``, ``vcc_hi`` or another half of a register. In wave32, the high halves of the masks are
        separate registers.
        """
        whole, offset = _HALVES[name]
        value = self._named(whole)
        if value is None:
            return None
        return value.part(c_types.INT, offset) if value.size > offset else self._undescribed(name)

    @property
    def _code_pointer(self) -> Type:
        function = self.context.function
        return c_types.CXX_CODE_POINTER if function is not None and function.unit.is_cxx else c_types.CODE_POINTER

    def _special(self, name: str) -> Value | None:
        """Return a special register, including mask-is-zero flags, aperture bases and null."""
        name = operands.ALIASES.get(name, name)
        if name in _HALVES:
            return self._part(name)
        if name in _ZERO_FLAGS:
            mask = self._named(_ZERO_FLAGS[name])
            return None if mask is None else Value.of_int(c_types.INT, int(mask.as_int() == 0))
        if name in _ZEROS:
            return Value.of_int(c_types.INT, 0)
        if (at := _SCRATCH_BASE.get(name)) is not None:
            whole = self._named("flat_scratch")
            return None if whole is None else Value.of_int(c_types.INT, whole.part(c_types.INT, at).as_int())
        if name in _APERTURES:
            space, low = _APERTURES[name]
            base = self.target.generic_address(space, 0)
            return None if base is None else Value.of_int(c_types.UNSIGNED_LONG, base | low)
        return self._lds_direct() if name == "src_lds_direct" else self._named(name.removeprefix("src_"))

    def _lds_direct(self) -> Value | None:
        """Return the LDS data that M0 selects: its low half gives the address, bits 16 to 18 the type."""
        m0 = self.target.read_special(self.thread, "m0")
        if m0 is None:
            return None
        kind = m0 >> 16 & 7
        size = {0: 1, 1: 2}.get(kind & 3, 4)
        data = self.target.read_memory(AddressSpace.LOCAL, m0 & 0xFFFF, size, self.thread)
        return Value.of_int(c_types.INT, int.from_bytes(data, "little", signed=bool(kind & 4) or size == 4))

    def _caller_pc(self) -> Value:
        assert self.context.wave_pc is not None
        return Value.of_int(self._code_pointer, self.context.wave_pc + 1)

    def _type(self, name: str, size: int, lanes: int) -> Type:
        flags = flags_type(name, self.target.architecture)
        if flags is not None:
            return flags
        if name[0] in "va" and name[1:].isdecimal():
            return VectorType(c_types.INT, lanes, 4 * lanes)
        return {4: c_types.INT, 8: c_types.UNSIGNED_LONG}.get(size, c_types.unsigned_of(size))

    def _undescribed(self, name: str) -> Value | None:
        """Return the value of a register that has no DWARF number; ``None`` if the wave does not have it."""
        thread, target = self.thread, self.target
        number = target.read_special(thread, name)
        if number is None:
            return None
        size = 8 if name in _WIDE else 4
        type_ = self._type(name, size, self.wave_size)
        if self.context.callee is not None:
            return Value.absent(type_, Absence.NOT_SAVED)

        def read(offset: int, count: int) -> bytes:
            current = target.read_special(thread, name) or 0
            return current.to_bytes(size, "little")[offset : offset + count]

        def write(offset: int, data: bytes) -> None:
            whole = bytearray((target.read_special(thread, name) or 0).to_bytes(size, "little"))
            whole[offset : offset + len(data)] = data
            target.write_special(thread, name, int.from_bytes(whole, "little"))

        return Value(type_, CallbackStorage(name, read, write))


def _interleave(
    values: list[Value],
) -> tuple[Callable[[int, int], bytes], Callable[[int, bytes], None]]:
    """Return a reader and a writer that treat consecutive registers as one: each lane's dwords are adjacent."""
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
