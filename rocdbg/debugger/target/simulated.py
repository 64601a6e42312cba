"""The simulated device as a `Target`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rocdbg.addresses import LoadedAddress
from rocdbg.arch.address_spaces import AddressSpace, address_space
from rocdbg.arch.lanes import all_lanes
from rocdbg.arch.registers import RegisterClass, UnknownRegisterError, dwarf_register
from rocdbg.arch.targets import Generation
from rocdbg.arch.targets import Target as Architecture
from rocdbg.debugger.errors import FocusError, MemoryAccessError, RegisterAccessError
from rocdbg.debugger.target import ids
from rocdbg.debugger.target.ids import WaveId
from rocdbg.debugger.target.recording import Recording
from rocdbg.debugger.target.runnable import (
    ExitInfo,
    ExpectResult,
    Progress,
    Resume,
    ResumeMode,
    TargetStop,
)
from rocdbg.debugger.target.simulated_stops import target_stop
from rocdbg.debugger.target.state import AgentInfo, DispatchInfo, LoadedCodeObject, QueueInfo, WaveInfo
from rocdbg.launch.binding import BoundLaunch
from rocdbg.sim import layout
from rocdbg.sim.device.aql import QUEUE_SIZE
from rocdbg.sim.memory import MemoryAccessError as SimMemoryAccessError
from rocdbg.sim.options import RunOptions, RunRequestError
from rocdbg.sim.wave import Wave

_AGENT = _QUEUE = 1
_APERTURE_MASK = ~0xFFFF_FFFF
_APERTURES = {AddressSpace.LOCAL: layout.SHARED_APERTURE, AddressSpace.PRIVATE_LANE: layout.PRIVATE_APERTURE}
# Registers without a DWARF number, by name: operand code, or a field of the wave.
_FIELDS = {"scc": "scc", "mode": "mode", "status": "status", "trapsts": "trapsts"}
_GFX12_FIELDS = {name: name for name in ("state_priv", "excp_flag_priv", "excp_flag_user", "trap_ctrl")}
_READ_ONLY = frozenset(("state_priv", "excp_flag_priv"))


class SimTarget:
    """A `Target` and `Runnable` over one launch: a machine and the dispatch that runs on it.

    ``kernel_title`` is how threads are labelled, ``loaded`` what was loaded into the machine.
    """

    recording: Recording | None = None

    def __init__(self, bound: BoundLaunch, kernel_title: str, loaded: Sequence[LoadedCodeObject]) -> None:
        self.bound = bound
        self.machine = bound.machine
        self.dispatch = bound.dispatch
        self.kernel_title = kernel_title
        self._loaded = tuple(loaded)
        self._waves: dict[int, Wave] = {}
        """The resident waves that were asked for since it ran: to find one takes a walk over those before it."""
        self._scratch: dict[int, tuple[int, int]] = {}
        """Of these, where their scratch begins, and bytes of each lane's."""

    @property
    def runnable(self) -> SimTarget:
        return self

    def code_objects(self) -> Sequence[LoadedCodeObject]:
        return self._loaded

    @property
    def architecture(self) -> Architecture:
        return self.machine.target

    @property
    def finished(self) -> bool:
        return self.dispatch.finished

    # -- what there is

    def agents(self) -> Sequence[AgentInfo]:
        target = self.machine.target
        return [
            AgentInfo(
                _AGENT, f"simulated {target.name}", target.name, 1, self.machine.options.resident_waves,
                "-", ids.agent_target_id("GPUID 1"),
            )
        ]

    def queues(self) -> Sequence[QueueInfo]:
        number = self.dispatch.number
        address = int.from_bytes(self.machine.memory.read(self._queue_address + 8, 8), "little")
        return [
            QueueInfo(
                _AGENT, _QUEUE, "HSA (Multi)", number - 1, number, QUEUE_SIZE, address,
                ids.queue_target_id(_AGENT, _QUEUE),
            )
        ]

    @property
    def _queue_address(self) -> int:
        return self.dispatch.plan.state.queue_address

    def dispatches(self) -> Sequence[DispatchInfo]:
        if self.finished:
            return []
        plan = self.dispatch.plan
        return [
            DispatchInfo(
                _AGENT, _QUEUE, plan.number,
                ids.dispatch_target_id(_AGENT, _QUEUE, plan.number, plan.number - 1),
                plan.grid, plan.workgroup, self.kernel_title, "B|As|Rs",
                plan.state.lds_size, plan.state.lane_scratch_size,
                plan.descriptor_address, plan.kernarg.address, 0, self.dispatch.instructions,
            )
        ]

    def waves(self) -> Sequence[WaveInfo]:
        return [self._info(wave) for wave in self.dispatch.waves]

    def wave(self, thread: int) -> WaveInfo:
        return self._info(self._wave(thread))

    def _wave(self, thread: int | None) -> Wave:
        wave = self._waves.get(thread or 0)
        if wave is not None:
            return wave
        try:
            if thread:
                wave = self._waves[thread] = self.dispatch.wave(thread)
                return wave
        except RunRequestError:
            pass
        raise FocusError(f"Thread ID {thread} has terminated." if thread else "No thread selected")

    def _info(self, wave: Wave) -> WaveInfo:
        return WaveInfo(
            WaveId(_AGENT, _QUEUE, self.dispatch.number, wave.number),
            wave.workgroup, wave.index, wave.wave_size, wave.used_lanes, LoadedAddress(wave.pc),
            wave.exec & all_lanes(wave.wave_size), wave.workgroup_size, self.kernel_title,
            wave.sgpr_count, wave.vgpr_count, wave.agpr_count, self.dispatch.plan.grid,
            self.dispatch.plan.workgroup,
        )

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

    @property
    def _fields(self) -> dict[str, str]:
        return _FIELDS if self.machine.target.generation < Generation.GFX12 else {**_FIELDS, **_GFX12_FIELDS}

    def read_special(self, thread: int, name: str) -> int | None:
        wave, fields = self._wave(thread), self._fields
        if name in fields:
            return int(getattr(wave, fields[name]))
        if name == "m0":
            return wave.m0
        if name == "flat_scratch":
            return wave.flat_scratch
        if name.startswith("ttmp") and name[4:].isdecimal() and len(name) < 7 and int(name[4:]) < 16:
            return wave.ttmp(int(name[4:]))
        return None

    def write_special(self, thread: int, name: str, value: int) -> None:
        wave, fields = self._wave(thread), self._fields
        if name in fields and name not in _READ_ONLY:
            setattr(wave, fields[name], value & 0xFFFF_FFFF)
        elif name == "m0":
            wave.m0 = value
        elif name.startswith("ttmp") and name[4:].isdecimal() and len(name) < 7 and int(name[4:]) < 16:
            wave.set_sgpr(layout.TTMP0 + int(name[4:]), value)
        else:
            raise RegisterAccessError(f"Register ${name} cannot be written.")

    # -- memory

    def read_memory(
        self, space: int, address: int, size: int, thread: int | None = None, lane: int | None = None
    ) -> bytes:
        space, local, lane = self._route(space, address, lane)
        try:
            if space == AddressSpace.GLOBAL:
                return self.machine.memory.read(local, size)
            return self._wave_bytes(space, local, size, thread, lane).tobytes()
        except SimMemoryAccessError as error:
            raise MemoryAccessError("global", address, size, str(error)) from None

    def write_memory(
        self, space: int, address: int, data: bytes, thread: int | None = None, lane: int | None = None
    ) -> None:
        space, local, lane = self._route(space, address, lane)
        source = np.frombuffer(data, np.uint8)
        try:
            if space == AddressSpace.GLOBAL:
                self.machine.memory.write(local, data)
            elif space == AddressSpace.PRIVATE_LANE:
                wave = self._wave(thread)
                self._lane_bytes(wave, local, len(data), lane)  # checks the bounds before anything changes
                for index, byte in enumerate(data):
                    place = wave.scratch_address(lane or 0, local + index)
                    self.machine.memory.write(place, bytes((byte,)))
            else:
                self._wave_bytes(space, local, len(data), thread, lane)[:] = source
        except SimMemoryAccessError as error:
            raise MemoryAccessError("global", address, len(data), str(error)) from None

    def generic_address(self, space: int, address: int) -> int | None:
        if space in (AddressSpace.GLOBAL, AddressSpace.GENERIC):
            return address
        aperture = _APERTURES.get(AddressSpace(space))
        return None if aperture is None else aperture | address & ~_APERTURE_MASK

    def is_generic(self, address: int) -> bool:
        return address & _APERTURE_MASK in _APERTURES.values() or layout.is_scratch_address(address)

    @staticmethod
    def _route(space: int, address: int, lane: int | None) -> tuple[int, int, int | None]:
        """A generic address as the space, address and lane it stands for."""
        address &= (1 << 8 * address_space(space).address_size) - 1
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
        """Bytes of a wave's own memory: a view, except of private_lane memory, which is a copy."""
        if thread is None:
            raise MemoryAccessError(address_space(space).name, address, size, "no wave is selected")
        wave = self._wave(thread)
        if space == AddressSpace.LOCAL:
            if address + size > wave.lds.size:
                raise MemoryAccessError("local", address, size)
            return wave.lds[address : address + size]
        if space == AddressSpace.PRIVATE_WAVE:
            if address + size > wave.scratch_size:
                raise MemoryAccessError("private_wave", address, size)
            return self.machine.memory.view(wave.scratch_base + address, size)
        if space == AddressSpace.PRIVATE_LANE:
            return self._lane_bytes(wave, address, size, lane)
        raise MemoryAccessError(address_space(space).name, address, size, "the space does not exist here")

    def _lane_bytes(
        self, wave: Wave, address: int, size: int, lane: int | None
    ) -> np.ndarray[tuple[int, ...], np.dtype[np.uint8]]:
        known = self._scratch.get(wave.number)
        if known is None:
            known = self._scratch[wave.number] = wave.scratch_base, wave.lane_scratch_size
        base, lane_size = known
        if lane is None or not 0 <= lane < wave.wave_size or address + size > lane_size:
            raise MemoryAccessError("private_lane", address, size)
        if size == 0:
            return np.empty(0, np.uint8)
        first, last = address // 4, (address + size - 1) // 4 + 1
        area = self.machine.memory.view(
            base + first * 4 * wave.wave_size, (last - first) * 4 * wave.wave_size
        )
        dwords = area.reshape(last - first, wave.wave_size, 4)[:, lane, :]
        start = address - first * 4
        return np.ascontiguousarray(dwords).reshape(-1)[start : start + size]

    # -- running

    def resume(self, request: Resume) -> TargetStop:
        self._waves.clear()
        self._scratch.clear()
        stop = self.dispatch.run(
            RunOptions(
                stop_pcs=request.stop_addresses,
                wave=request.thread,
                step=request.mode is ResumeMode.STEP,
                range=(request.low, request.high) if request.mode is ResumeMode.RANGE else None,
                only=request.only and request.thread is not None,
                budget=request.budget,
            )
        )
        return target_stop(stop)

    def exit_info(self) -> ExitInfo:
        mismatches = {mismatch.name: mismatch.text for mismatch in self.bound.check()}
        names = (bound.buffer.name for bound in self.bound.buffers if bound.buffer.expect is not None)
        expectations = tuple(ExpectResult(name, name not in mismatches, mismatches.get(name, "")) for name in names)
        return ExitInfo(self.dispatch.number, self.kernel_title, self.dispatch.instructions, expectations)

    def progress(self) -> Progress:
        return Progress(*self.dispatch.progress())

    def interrupt(self) -> None:
        self.dispatch.interrupt()

    def forget_interrupt(self) -> None:
        self.dispatch.forget_interrupt()
