"""The simulated device as a `Target`."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rocdbg.addresses import LoadedAddress
from rocdbg.arch.targets import Target as Architecture
from rocdbg.debugger.target import rocgdb_ids
from rocdbg.debugger.target.capabilities.recording import Recording
from rocdbg.debugger.target.capabilities.runnable import ExitInfo, ExpectResult, Progress, Resume, TargetStop
from rocdbg.debugger.target.capabilities.target_state import (
    AgentInfo,
    DispatchInfo,
    LoadedCodeObject,
    QueueInfo,
    WaveInfo,
)
from rocdbg.debugger.target.device_state import DeviceState
from rocdbg.debugger.target.rocgdb_ids import WaveId
from rocdbg.launch.argument_binding import BoundLaunch
from rocdbg.sim.core.wave import Wave
from rocdbg.sim.device.dispatch import Dispatch
from rocdbg.sim.device.queue_structures import QUEUE_SIZE

_AGENT = _QUEUE = 1


class SimTarget(DeviceState):
    """A `Target` and `Runnable` for one launch: a machine and the dispatch that runs on it.

    ``kernel_title`` labels threads; ``loaded`` lists what was loaded into the machine.
    """

    def __init__(self, bound: BoundLaunch, kernel_title: str, loaded: Sequence[LoadedCodeObject]) -> None:
        super().__init__(bound.machine.memory, bound.dispatch)
        self.bound = bound
        self.machine = bound.machine
        self.dispatch = bound.dispatch
        self.kernel_title = kernel_title
        self._loaded = tuple(loaded)
        self.at_exit: Callable[[], None] | None = None
        """Runs destructors before the code objects are unloaded; cleared when the program ends."""

    @property
    def runnable(self) -> SimTarget:
        return self

    @property
    def recording(self) -> Recording | None:
        return None

    def code_objects(self) -> Sequence[LoadedCodeObject]:
        return self._loaded

    @property
    def architecture(self) -> Architecture:
        return self.machine.target

    @property
    def finished(self) -> bool:
        return self.dispatch.finished

    # -- contents

    def agents(self) -> Sequence[AgentInfo]:
        target = self.machine.target
        return [
            AgentInfo(
                _AGENT, f"simulated {target.name}", target.name, 1, self.machine.options.resident_waves,
                "-", rocgdb_ids.agent_target_id("GPUID 1"),
            )
        ]

    def queues(self) -> Sequence[QueueInfo]:
        number = self.dispatch.number
        address = int.from_bytes(self.memory.read(self._queue_address + 8, 8), "little")
        return [
            QueueInfo(
                _AGENT, _QUEUE, "HSA (Multi)", number - 1, number, QUEUE_SIZE, address,
                rocgdb_ids.queue_target_id(_AGENT, _QUEUE),
            )
        ]

    @property
    def _queue_address(self) -> int:
        return self.dispatch.plan.state.queue_address

    def dispatches(self) -> Sequence[DispatchInfo]:
        if self.finished:
            return []
        plan = self.dispatch.plan
        _, ended, groups = self.dispatch.progress()
        return [
            DispatchInfo(
                _AGENT, _QUEUE, plan.number,
                rocgdb_ids.dispatch_target_id(_AGENT, _QUEUE, plan.number, plan.number - 1),
                plan.grid, plan.workgroup, self.kernel_title, "B|As|Rs",
                plan.state.lds_size, plan.state.lane_scratch_size,
                plan.descriptor_address, plan.state.kernarg_address, 0, self.dispatch.instructions,
                LoadedAddress(plan.state.first_pc), groups - ended,
            )
        ]

    def waves(self) -> Sequence[WaveInfo]:
        waves = self.dispatch.waves
        self._waves.update((wave.number, wave) for wave in waves)  # they are usually requested one by one afterwards
        return [self._info(self._calls.wave(wave.number) or wave) for wave in waves]

    def _find_wave(self, thread: int) -> Wave:
        return self.dispatch.wave(thread)

    def _dispatch_of(self, thread: int) -> Dispatch:
        return self.dispatch

    def _wave_id(self, wave: Wave) -> WaveId:
        return WaveId(_AGENT, _QUEUE, self.dispatch.number, wave.number)

    def _title(self, dispatch: Dispatch) -> str:
        return self.kernel_title

    # -- running

    def resume(self, request: Resume) -> TargetStop:
        self.forget()
        return self._run(request, lambda options: self._calls.run(options) or self.dispatch.run(options))

    def exit_info(self) -> ExitInfo:
        self._leave()
        mismatches = {mismatch.name: mismatch.text for mismatch in self.bound.check()}
        names = (bound.buffer.name for bound in self.bound.buffers if bound.buffer.expect is not None)
        expectations = tuple(ExpectResult(name, name not in mismatches, mismatches.get(name, "")) for name in names)
        return ExitInfo(self.dispatch.number, self.kernel_title, self.dispatch.instructions, expectations)

    def _leave(self) -> None:
        """Run the destructors, once."""
        at_exit, self.at_exit = self.at_exit, None
        if at_exit is not None:
            at_exit()

    def progress(self) -> Progress:
        return Progress(*self.dispatch.progress())

    def interrupt(self) -> None:
        self.dispatch.interrupt()

    def forget_interrupt(self) -> None:
        self.dispatch.forget_interrupt()
