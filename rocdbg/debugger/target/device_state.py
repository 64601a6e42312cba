"""Waves, registers and memory of simulated devices, as a `Target` shows them, for launches and whole programs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from copy import copy
from typing import Self, cast

import numpy as np
from msgspec.structs import replace

from rocdbg.addresses import LoadedAddress
from rocdbg.arch.address_spaces import AddressSpace, address_space, null_address
from rocdbg.arch.dwarf_registers import RegisterClass, UnknownRegisterError, dwarf_register
from rocdbg.arch.lane_sets import all_lanes
from rocdbg.arch.targets import Generation
from rocdbg.debugger.base.errors import DebuggerError, FocusError, MemoryAccessError, RegisterAccessError
from rocdbg.debugger.target.capabilities.runnable import Resume, TargetStop, WatchedMemory
from rocdbg.debugger.target.capabilities.target_state import Target, WaveInfo
from rocdbg.debugger.target.rocgdb_ids import WaveId
from rocdbg.debugger.target.simulated_calls import Caller, CallStacks
from rocdbg.debugger.target.simulated_stops import on_host, run_options, target_stop
from rocdbg.isa.operands import SPECIAL_CODES, scalar_registers, special_code
from rocdbg.sim.core import layout
from rocdbg.sim.core.checks import Answers, Table
from rocdbg.sim.core.lane_expressions import LaneExpressionError
from rocdbg.sim.core.memory import Allocation, AllocationError, AllocationKind, GlobalMemory
from rocdbg.sim.core.memory import MemoryAccessError as SimMemoryAccessError
from rocdbg.sim.core.run_options import RunOptions, RunRequestError
from rocdbg.sim.core.stops import Stop
from rocdbg.sim.core.watched_words import WatchedBytes
from rocdbg.sim.core.wave import Wave
from rocdbg.sim.device.dispatch import Dispatch

_APERTURE_MASK = ~0xFFFF_FFFF
_APERTURES: dict[int, int] = {
    AddressSpace.LOCAL: layout.SHARED_APERTURE, AddressSpace.PRIVATE_LANE: layout.PRIVATE_APERTURE,
}
# Registers without a DWARF number by name: their operand code, or a field of the wave.
_FIELDS = {"scc": "scc", "mode": "mode", "status": "status", "trapsts": "trapsts"}
_GFX12_FIELDS = {name: name for name in ("state_priv", "excp_flag_priv", "excp_flag_user", "trap_ctrl")}
_READ_ONLY = frozenset(("state_priv", "excp_flag_priv"))
_HIGH_HALVES = {name: SPECIAL_CODES[name] for name in ("vcc_hi", "exec_hi")}
"""Upper halves: in wave32 they are not part of the 32-bit masks, but code can still read and write them."""


class DeviceState(ABC):
    """State of waves, for targets that run a launch or a process: registers, memory, places of watched bytes.

    ``memory`` is global memory, ``caller`` runs functions that the debugger calls.
    """

    def __init__(self, memory: GlobalMemory, caller: Caller) -> None:
        self.memory = memory
        self._waves: dict[int, Wave] = {}
        """The resident waves requested since the target last ran, cached because finding a wave means examining others
        first.
        """
        self._scratch: dict[int, tuple[int, int]] = {}
        """For each of these waves, where its scratch begins, and the bytes per lane."""
        self._own_memory = OwnMemory(memory)
        self._calls = CallStacks.of(self, caller, DeviceState._wave, DeviceState._view)

    # -- dispatches

    @abstractmethod
    def _find_wave(self, thread: int) -> Wave:
        """Return the resident wave with a number. Raises RunRequestError."""

    @abstractmethod
    def _dispatch_of(self, thread: int) -> Dispatch:
        """Return the dispatch that a resident wave belongs to."""

    @abstractmethod
    def _wave_id(self, wave: Wave) -> WaveId: ...

    @abstractmethod
    def _title(self, dispatch: Dispatch) -> str:
        """Return the label for the threads of a dispatch."""

    # -- waves

    def wave(self, thread: int) -> WaveInfo:
        return self._info(self._wave(thread))

    def kernarg_address(self, thread: int) -> int:
        return self._dispatch_of(self._wave(thread).number).plan.state.kernarg_address

    def _wave(self, thread: int | None) -> Wave:
        wave = self._calls.wave(thread) or self._waves.get(thread or 0)
        if wave is not None:
            return wave
        try:
            if thread:
                wave = self._waves[thread] = self._find_wave(thread)
                return wave
        except RunRequestError:
            pass
        raise FocusError(f"Thread ID {thread} has terminated." if thread else "No thread selected")

    def _info(self, wave: Wave) -> WaveInfo:
        dispatch = self._dispatch_of(wave.number)
        return WaveInfo(
            self._wave_id(wave),
            wave.workgroup, wave.index, wave.wave_size, wave.used_lanes, LoadedAddress(wave.pc),
            wave.exec & all_lanes(wave.wave_size), wave.workgroup_size, self._title(dispatch),
            min(wave.sgpr_count, scalar_registers(wave.target)), wave.vgpr_count, wave.agpr_count, dispatch.plan.grid,
            dispatch.plan.workgroup, wave.instructions, self._waves_of(dispatch),
        )

    def _waves_of(self, dispatch: Dispatch) -> tuple[int, int] | None:
        """Return `WaveInfo.dispatch_waves` of a dispatch."""
        return None

    def pass_over(self, thread: int) -> None:
        """Keep a wave from stopping at its position again: the reason for a stop there has already been reported."""
        if self._calls.wave(thread) is None:  # in a called function, only the function's own stops are reported
            self._dispatch_of(thread).pass_over(thread)

    def stop_again(self, thread: int) -> bool:
        """Let a wave stop at its position although a stop there was already reported; return whether it would otherwise
        have passed.
        """
        return self._calls.wave(thread) is None and self._dispatch_of(thread).stop_again(thread)

    def forget(self) -> None:
        """Discard cached state of the waves, because they are about to change."""
        self._waves.clear()
        self._scratch.clear()

    @property
    def calls(self) -> CallStacks:
        """The functions that the debugger has called."""
        return self._calls

    def _view(self, calls: CallStacks) -> Target:
        """Return the same target with other calls in progress."""
        return cast("Target", self._seen_with(calls))

    def _seen_with(self, calls: CallStacks) -> Self:
        view = copy(self)
        view._waves, view._calls = {}, calls
        return view

    # -- registers

    def read_register(self, thread: int, number: int) -> bytes:
        wave = self._wave(thread)
        register = dwarf_register(number)
        match register.register_class:
            case RegisterClass.PC:
                return wave.pc.to_bytes(8, "little")[: register.size]
            case RegisterClass.EXEC:
                return wave.exec.to_bytes(8, "little")[: register.size]
            case RegisterClass.VCC:
                return wave.vcc.to_bytes(8, "little")[: register.size]
            case RegisterClass.STATUS:
                return wave.status.to_bytes(4, "little")
            case RegisterClass.SGPR:
                return wave.sgpr(register.index).to_bytes(4, "little")
            case _:
                return self._vector(wave, number).tobytes()

    def write_register(self, thread: int, number: int, data: bytes, offset: int = 0) -> None:
        wave = self._wave(thread)
        register = dwarf_register(number)
        if register.is_vector:
            lanes = self._vector(wave, number).view(np.uint8)
            lanes[offset : offset + len(data)] = np.frombuffer(data, np.uint8)
            return
        whole = bytearray(self.read_register(thread, number))
        whole[offset : offset + len(data)] = data
        value = int.from_bytes(whole, "little")
        match register.register_class:
            case RegisterClass.PC:
                wave.pc = value
            case RegisterClass.EXEC:
                wave.exec = value
            case RegisterClass.VCC:
                wave.vcc = value
            case RegisterClass.STATUS:
                wave.status = value
            case _:
                wave.set_sgpr(register.index, value)

    @staticmethod
    def _vector(wave: Wave, number: int) -> np.ndarray[tuple[int, ...], np.dtype[np.uint32]]:
        register = dwarf_register(number)
        if register.wave_size != wave.wave_size or register.index >= wave.target.vgpr_file:
            raise UnknownRegisterError(number, wave.wave_size)
        if register.register_class is RegisterClass.AGPR:
            return wave.agpr(register.index)
        return wave.vgpr(register.index)

    def read_special(self, thread: int, name: str) -> int | None:
        wave = self._wave(thread)
        fields = _fields(wave)
        if name in fields:
            return int(getattr(wave, fields[name]))
        if name == "m0":
            return wave.m0
        if name == "flat_scratch":
            return wave.flat_scratch
        if name in _PAIRS:
            code = special_code(f"{name}_lo", wave.target)
            return None if code is None else wave.sgpr64(code)
        if name in _HIGH_HALVES:
            return wave.sgpr(_HIGH_HALVES[name])
        if name.startswith("ttmp") and name[4:].isdecimal() and len(name) < 7 and int(name[4:]) < 16:
            return wave.ttmp(int(name[4:]))
        return None

    def write_special(self, thread: int, name: str, value: int) -> None:
        wave = self._wave(thread)
        fields = _fields(wave)
        if name in fields and name not in _READ_ONLY:
            setattr(wave, fields[name], value & 0xFFFF_FFFF)
        elif name == "m0":
            wave.m0 = value
        elif name.startswith("ttmp") and name[4:].isdecimal() and len(name) < 7 and int(name[4:]) < 16:
            wave.set_sgpr(wave.target.first_ttmp + int(name[4:]), value)
        elif name in _PAIRS and (code := special_code(f"{name}_lo", wave.target)) is not None:
            wave.set_sgpr64(code, value)
        elif name in _HIGH_HALVES:
            wave.set_sgpr(_HIGH_HALVES[name], value)
        else:
            raise RegisterAccessError(f"Register ${name} cannot be written.")

    # -- memory

    def read_memory(
        self, space: int, address: int, size: int, thread: int | None = None, lane: int | None = None
    ) -> bytes:
        space, local, lane = self._route(space, address, lane)
        try:
            if space == AddressSpace.GLOBAL:
                return self.memory.read(local, size)
            return self._wave_bytes(space, local, size, thread, lane).tobytes()
        except SimMemoryAccessError as error:
            raise MemoryAccessError("global", address, size, str(error)) from None

    def keep(self, data: bytes) -> int:
        return self._own_memory.keep(data)

    def write_memory(
        self, space: int, address: int, data: bytes, thread: int | None = None, lane: int | None = None
    ) -> None:
        space, local, lane = self._route(space, address, lane)
        source = np.frombuffer(data, np.uint8)
        try:
            if space == AddressSpace.GLOBAL:
                self.memory.write(local, data)
            elif space == AddressSpace.PRIVATE_LANE:
                wave = self._calls.innermost(thread) or self._wave(thread)
                self._lane_bytes(wave, local, len(data), lane)  # checks the bounds before anything changes
                for index, byte in enumerate(data):
                    place = wave.scratch_address(lane or 0, local + index)
                    self.memory.write(place, bytes((byte,)))
            else:
                self._wave_bytes(space, local, len(data), thread, lane)[:] = source
        except SimMemoryAccessError as error:
            raise MemoryAccessError("global", address, len(data), str(error)) from None

    def generic_address(self, space: int, address: int) -> int | None:
        if space in (AddressSpace.GLOBAL, AddressSpace.GENERIC):
            return address
        if address == null_address(space):
            return 0
        aperture = _APERTURES.get(space)
        return None if aperture is None else aperture | address & ~_APERTURE_MASK

    def is_generic(self, address: int) -> bool:
        return address & _APERTURE_MASK in _APERTURES.values() or layout.is_scratch_address(address)

    @staticmethod
    def _route(space: int, address: int, lane: int | None) -> tuple[int, int, int | None]:
        """Return the space, address and lane that a generic address, or one in a lane's own space, refers to."""
        info = address_space(space)
        address &= info.address_mask
        if info.lane is not None:
            return info.space, address, info.lane
        if space != AddressSpace.GENERIC:
            return space, address, lane
        if layout.is_scratch_address(address):
            return AddressSpace.PRIVATE_LANE, address & ~_APERTURE_MASK, address >> 52 & 63
        aperture = address & _APERTURE_MASK
        if aperture == layout.SHARED_APERTURE:
            return AddressSpace.LOCAL, address - aperture, lane
        if aperture == layout.PRIVATE_APERTURE:
            return AddressSpace.PRIVATE_LANE, address - aperture, lane
        return AddressSpace.GLOBAL, address, lane

    def _wave_bytes(
        self, space: int, address: int, size: int, thread: int | None, lane: int | None
    ) -> np.ndarray[tuple[int, ...], np.dtype[np.uint8]]:
        """Return bytes of a wave's own memory, as a view; for private_lane memory, as a copy."""
        if thread is None:
            raise MemoryAccessError(address_space(space).name, address, size, "no wave is selected")
        wave = self._calls.innermost(thread) or self._wave(thread)
        if space == AddressSpace.LOCAL:
            if address + size > wave.lds.size:
                raise MemoryAccessError("local", address, size)
            return wave.lds[address : address + size]
        if space == AddressSpace.PRIVATE_WAVE:
            if address + size > wave.scratch_size:
                raise MemoryAccessError("private_wave", address, size)
            return self.memory.view(wave.scratch_base + address, size)
        if space == AddressSpace.PRIVATE_LANE:
            return self._lane_bytes(wave, address, size, lane)
        if space == AddressSpace.REGION:
            gds = self._dispatch_of(thread).global_data_share
            if address + size > gds.size:
                raise MemoryAccessError("region", address, size)
            return gds[address : address + size]
        raise MemoryAccessError(address_space(space).name, address, size, "the space does not exist here")

    def _lane_bytes(
        self, wave: Wave, address: int, size: int, lane: int | None
    ) -> np.ndarray[tuple[int, ...], np.dtype[np.uint8]]:
        called = self._calls.innermost(wave.number)
        known = self._scratch.get(wave.number)
        if called is not None:
            known = called.scratch_base, called.lane_scratch_size
        elif known is None:
            known = self._scratch[wave.number] = wave.scratch_base, wave.lane_scratch_size
        base, lane_size = known
        if lane is None or not 0 <= lane < wave.wave_size or address + size > lane_size:
            raise MemoryAccessError("private_lane", address, size)
        if size == 0:
            return np.empty(0, np.uint8)
        first, last = address // 4, (address + size - 1) // 4 + 1
        area = self.memory.view(
            base + first * 4 * wave.wave_size, (last - first) * 4 * wave.wave_size
        )
        dwords = area.reshape(last - first, wave.wave_size, 4)[:, lane, :]
        start = address - first * 4
        return np.ascontiguousarray(dwords).reshape(-1)[start : start + size]

    # -- running

    def _run(self, request: Resume, run: Callable[[RunOptions], Stop]) -> TargetStop:
        """Return the result of ``run`` for a request: translate watched ranges to host memory, and the stop back."""
        rows, watched = on_host(request.watches, self._host_bytes)
        return target_stop(run(replace(run_options(request), watches=rows)), watched)

    def decide(self, thread: int, tables: Sequence[Table], lanes: int) -> list[Answers] | None:
        """Implement `Deciding`. Return None if the debugger has called a function on the wave, because the function
        runs on a copy of the wave.
        """
        if self._calls.wave(thread) is not None:
            return None
        try:
            return self._dispatch_of(thread).answers(self._wave(thread), tables, lanes)
        except LaneExpressionError:
            return None

    def _host_bytes(self, watched: WatchedMemory) -> list[WatchedBytes]:
        """Return where watched memory is on the host; nothing if it does not exist or its wave has ended."""
        plain = AddressSpace.GENERIC if self.is_generic(watched.address) and not watched.space else watched.space
        space, local, lane = self._route(plain, watched.address, watched.lane)
        memory = self.memory
        try:
            if space == AddressSpace.GLOBAL:
                start = int(memory.view(local, watched.size).ctypes.data)
                return [WatchedBytes(start, watched.size, accesses=watched.accesses, address=local)]
            wave = self._wave(watched.thread)
            if space == AddressSpace.PRIVATE_LANE:
                self._lane_bytes(wave, local, watched.size, lane)  # checks the bounds
                return [
                    WatchedBytes(
                        int(memory.view(wave.scratch_address(lane or 0, byte), 1).ctypes.data), 1,
                        (wave.number, wave.number), watched.accesses,
                    )
                    for byte in range(local, local + watched.size)
                ]
            view = self._wave_bytes(space, local, watched.size, watched.thread, lane)
            first = last = wave.number
            if space == AddressSpace.REGION:  # shared by all waves
                return [WatchedBytes(int(view.ctypes.data), watched.size, accesses=watched.accesses)]
            if space == AddressSpace.LOCAL:  # shared by all waves of the workgroup
                first -= wave.index
                last = first + self._dispatch_of(wave.number).plan.waves_per_group - 1
            return [WatchedBytes(int(view.ctypes.data), watched.size, (first, last), watched.accesses)]
        except (SimMemoryAccessError, MemoryAccessError, FocusError):
            return []


_PAIRS = ("xnack_mask", "tba", "tma")


def _fields(wave: Wave) -> dict[str, str]:
    return _FIELDS if wave.target.generation < Generation.GFX12 else {**_FIELDS, **_GFX12_FIELDS}


# The debugger's own memory on a device, for strings that expressions store there.
BLOCK = 1 << 16
"""Minimum number of bytes allocated at once."""
ALIGN = 16
"""Alignment of stored bytes, the same as that of `malloc`."""


class OwnMemory:
    """The debugger's data in global memory: blocks that are filled one after the other and never freed."""

    def __init__(self, memory: GlobalMemory) -> None:
        self._memory = memory
        self._block: Allocation | None = None
        self._used = 0

    def keep(self, data: bytes) -> int:
        """Store bytes, and return their address. Raises `DebuggerError` if the device has no room for them."""
        if self._block is None or self._used + len(data) > self._block.size:
            size = max(BLOCK, len(data))
            try:
                self._block = self._memory.allocate(size, name="the debugger's own", kind=AllocationKind.RUNTIME)
            except AllocationError as error:
                raise DebuggerError(f"no room for {len(data)} bytes in the device's memory: {error}") from None
            self._used = 0
        start = self._used
        # This is not a write of the program: watchpoints do not see it, and going back in time does not undo it.
        self._block.data[start : start + len(data)] = np.frombuffer(data, np.uint8)
        self._used += -(-max(1, len(data)) // ALIGN) * ALIGN
        return self._block.address + start
