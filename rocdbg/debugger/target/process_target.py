"""A process that launches kernels on simulated devices, as a `Target`: agents, queues, dispatches and code objects.

Waves and dispatches are numbered in the order in which dispatches begin. Kernels that runtimes launch for their own
purposes (copies, fills, constructors) are hidden unless the user wants to see them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final, Protocol

from msgspec import Struct
from msgspec.structs import replace

from rocdbg.addresses import LoadedAddress
from rocdbg.arch.targets import Target as Architecture
from rocdbg.codeobject.demangle import demangle
from rocdbg.debugger.target import rocgdb_ids
from rocdbg.debugger.target.capabilities.recording import Recording
from rocdbg.debugger.target.capabilities.runnable import (
    ExitInfo,
    ProcessEnd,
    Progress,
    Resume,
    TargetStop,
    TargetStopKind,
)
from rocdbg.debugger.target.capabilities.target_state import (
    AgentInfo,
    DispatchInfo,
    LoadedCodeObject,
    QueueInfo,
    WaveInfo,
)
from rocdbg.debugger.target.device_state import DeviceState
from rocdbg.debugger.target.host_frames import HostFrame
from rocdbg.debugger.target.host_stop import HostStop
from rocdbg.debugger.target.rocgdb_ids import WaveId
from rocdbg.sim.core.memory import GlobalMemory
from rocdbg.sim.core.run_options import RunOptions
from rocdbg.sim.core.stops import Stop, StopKind
from rocdbg.sim.core.wave import Wave
from rocdbg.sim.device.dispatch import Dispatch
from rocdbg.sim.device.machine import Machine
from rocdbg.sim.device.queue_runner import PacketQueue, QueueRunner, QueueStop

RUNTIME_KERNELS: Final = re.compile(r"__amd_rocclr_|_init_array$|_fini_array$|amdgcn\.device\.(init|fini)$")
"""Matches the names of kernels that runtimes launch for their own purposes."""


class ProcessQueue(PacketQueue, Protocol):
    """Information about a queue. ``size`` is in packets, ``address`` is that of its structure."""

    @property
    def machine(self) -> Machine:
        """The device to which it belongs."""

    @property
    def kind(self) -> int:
        """0 if several threads may write packets, 1 if only one may."""

    @property
    def ring(self) -> int:
        """Address of the packets."""

    @property
    def size(self) -> int: ...

    @property
    def read_index(self) -> int: ...

    @property
    def write_index(self) -> int: ...

    @property
    def error(self) -> str:
        """The reason why the queue is in the error state, in which it accepts no more packets; empty if it is not in
        that state.
        """


class HostOrigin(Struct, frozen=True):
    """Where a process has launched a dispatch: the thread and its frames, innermost first."""

    thread: int
    frames: Sequence[HostFrame]


class GpuProcess(Protocol):
    """A process, as seen by the server that handles its requests.

    ``runner`` has its queues; ``memory`` is the memory that all its devices share.
    """

    runner: QueueRunner

    @property
    def memory(self) -> GlobalMemory: ...

    @property
    def machines(self) -> Sequence[Machine]:
        """The devices of the process: agents 1, 2, ..."""

    def code_objects(self) -> Sequence[LoadedCodeObject]:
        """Return the loaded code objects, in order; the same sequence object as long as nothing has changed."""

    @property
    def gone(self) -> bool:
        """Whether the process no longer uses a GPU: the contents of its queues are then invalid."""

    def wait(self) -> bool:
        """Wait briefly for something to do; return False if the process has ended."""

    def describe(self, queue: PacketQueue) -> ProcessQueue:
        """Return information about one of the runner's queues."""

    def failed(self, stop: QueueStop) -> None:
        """Report to the process the error that hardware would report, after the user has seen why a dispatch cannot
        continue.
        """

    def host_stop(self) -> HostStop | None:
        """Return the stop of the process's host code that was not taken yet, if there is one."""

    def interrupt_host(self) -> HostStop | None:
        """Stop the process itself because the user wants it; return the stop, None without a host debugger."""

    def hold(self, held: bool) -> None:
        """Stop the process itself, or let it continue. If it has a host debugger, it continues only by `go_on`."""

    def go_on(self) -> None:
        """Let the process continue, unless it has a stop of its host code that was not taken."""

    def origin(self, queue: PacketQueue, packet: int) -> HostOrigin | None:
        """Where in the process the queue's packet with this index was submitted, if known."""

    def end(self) -> ProcessEnd:
        """Return how the process ended, or its id while it is running."""


class ProcessTarget(DeviceState):
    """A `Target` and `Runnable` for a process. ``titles`` returns the names of kernels, ``skips`` whether kernels of
    runtimes are hidden, ``holds`` whether the process stops when its GPUs do.
    """

    def __init__(
        self, process: GpuProcess, titles: Callable[[Dispatch], str] | None = None,
        skips: Callable[[], bool] = lambda: True, holds: Callable[[], bool] = lambda: False,
    ) -> None:
        super().__init__(process.memory, process.runner)
        self.process = process
        self._runner = process.runner
        self._runner.begun = self._begun
        self._titles, self._skips = titles or (lambda dispatch: demangle(dispatch.kernel.name)), skips
        self._holds = holds
        self._numbers: dict[Dispatch, int] = {}
        self._last_number = 0
        self._known: Sequence[LoadedCodeObject] = process.code_objects()
        self._begins = False
        self._asked = False
        """Whether the user has interrupted the program; other code may also interrupt it, to get its attention."""
        self._over = False
        self._failed: QueueStop | None = None
        self._architecture: Architecture | None = None
        self._host_stop: HostStop | None = None
        """The stop of host code that ended the last resumption."""

    @property
    def runnable(self) -> ProcessTarget:
        return self

    @property
    def recording(self) -> Recording | None:
        return None

    def code_objects(self) -> Sequence[LoadedCodeObject]:
        return self._known

    @property
    def architecture(self) -> Architecture:
        """The architecture of the device of the wave that stopped last."""
        return self._architecture or self.process.machines[0].target

    @property
    def finished(self) -> bool:
        return self._over

    # -- contents

    def agents(self) -> Sequence[AgentInfo]:
        return [
            AgentInfo(
                number, f"simulated {machine.target.name}", machine.target.name, 1, machine.options.resident_waves,
                "-", rocgdb_ids.agent_target_id(f"GPUID {number}"),
            )
            for number, machine in enumerate(self.process.machines, 1)
        ]

    def _agent(self, machine: Machine) -> int:
        return next(number for number, other in enumerate(self.process.machines, 1) if other is machine)

    def queues(self) -> Sequence[QueueInfo]:
        rows = []
        for number, queue in enumerate(self._runner.queues, 1):
            known = self.process.describe(queue)
            agent = self._agent(known.machine)
            kind = "HSA (Single)" if known.kind else "HSA (Multi)"
            rows.append(
                QueueInfo(
                    agent, number, kind, known.read_index, known.write_index, known.size * 64, known.ring,
                    rocgdb_ids.queue_target_id(agent, number), known.error,
                )
            )
        return rows

    def _shown(self) -> list[tuple[int, PacketQueue, Dispatch]]:
        """Return the dispatches that are shown to the user, each with the number of its queue."""
        queues = self._runner.queues
        return [
            (queues.index(queue) + 1, queue, dispatch)
            for queue, dispatch in self._runner.active
            if dispatch not in self._runner.quiet
        ]

    def _number(self, dispatch: Dispatch) -> int:
        number = self._numbers.get(dispatch)
        if number is None:
            self._last_number += 1
            under_way = {other for _, other in self._runner.active}
            self._numbers = {other: known for other, known in self._numbers.items() if other in under_way}
            number = self._numbers[dispatch] = self._last_number
        return number

    def dispatches(self) -> Sequence[DispatchInfo]:
        rows = []
        for queue_number, queue, dispatch in self._shown():
            plan, number = dispatch.plan, self._number(dispatch)
            agent = self._agent(self.process.describe(queue).machine)
            packet = plan.packet
            _, ended, groups = dispatch.progress()
            rows.append(
                DispatchInfo(
                    agent, queue_number, number,
                    rocgdb_ids.dispatch_target_id(agent, queue_number, number, plan.state.dispatch_id),
                    plan.grid, plan.workgroup, self._title(dispatch), packet.fence if packet is not None else "",
                    plan.state.lds_size, plan.state.lane_scratch_size, plan.descriptor_address,
                    plan.state.kernarg_address, packet.completion_signal if packet is not None else 0,
                    dispatch.instructions, LoadedAddress(plan.state.first_pc), groups - ended,
                )
            )
        return sorted(rows, key=lambda row: row.number)

    def origin(self, number: int) -> HostOrigin | None:
        """Where in the process the dispatch with this number was launched, if known."""
        for _, queue, dispatch in self._shown():
            if self._number(dispatch) == number:
                return self.process.origin(queue, dispatch.plan.state.dispatch_id)
        return None

    def waves(self) -> Sequence[WaveInfo]:
        found = []
        for _, _, dispatch in self._shown():
            waves = dispatch.waves
            self._waves.update((wave.number, wave) for wave in waves)
            found += [self._info(self._calls.wave(wave.number) or wave) for wave in waves]
        return sorted(found, key=lambda wave: wave.number)

    def _find_wave(self, thread: int) -> Wave:
        return self._runner.holder(thread)[1].wave(thread)

    def _dispatch_of(self, thread: int) -> Dispatch:
        return self._runner.holder(thread)[1]

    def _wave_id(self, wave: Wave) -> WaveId:
        queue, dispatch = self._runner.holder(wave.number)
        agent = self._agent(self.process.describe(queue).machine)
        return WaveId(agent, self._runner.queues.index(queue) + 1, self._number(dispatch), wave.number)

    def _title(self, dispatch: Dispatch) -> str:
        return self._titles(dispatch)

    def _waves_of(self, dispatch: Dispatch) -> tuple[int, int] | None:
        return dispatch.plan.first_wave, dispatch.plan.waves

    def reserve_thread(self) -> int:
        """Return a thread number for a CPU thread; threads of both kinds are numbered in one sequence."""
        return self._runner.reserve()

    # -- running

    def _begun(self, queue: PacketQueue, dispatch: Dispatch) -> bool:
        """Called when a dispatch is about to run; return whether the debugger must be notified first."""
        if self._skips() and RUNTIME_KERNELS.match(dispatch.kernel.name):
            self._runner.quiet.add(dispatch)
            return False
        self._number(dispatch)
        return self._begins or self.process.code_objects() is not self._known

    def resume(self, request: Resume) -> TargetStop:
        self.forget()
        self._begins = request.begins
        if self._news():
            return TargetStop(TargetStopKind.CHANGED)
        changed: list[bool] = []
        self.process.go_on()
        stop = self._run(request, lambda options: self._calls.run(options) or self._go(options, changed))
        self.hold()
        if self._host_stop is not None:
            self._asked = False
            return TargetStop(TargetStopKind.HOST, host=self._host_stop)
        return replace(stop, kind=TargetStopKind.CHANGED) if changed else stop

    def hold(self) -> None:
        """Stop the process too, if that is set, because the GPUs have stopped."""
        self.process.hold(self._holds() and not self._over)

    def _news(self) -> bool:
        """Whether code objects were loaded or unloaded."""
        before, self._known = self._known, self.process.code_objects()
        return self._known is not before

    def _go(self, options: RunOptions, changed: list[bool]) -> Stop:
        while True:
            self._host_stop = self.process.host_stop()
            if self._host_stop is not None:
                return Stop(StopKind.BUDGET)
            stopped = self._runner.run(options)
            if self.process.gone:
                for queue in self._runner.queues:
                    self._runner.remove(queue)
                stopped = None
            if stopped is not None and (stopped.stop.kind is not StopKind.INTERRUPTED or self._asked):
                if stopped.stop.kind is StopKind.INTERRUPTED and stopped.stop.wave is None:
                    self._host_stop = self.process.interrupt_host()
                break
            if stopped is not None:
                if stopped.dispatch is not None:
                    stopped.dispatch.take_back_interrupt()
                continue
            if options.wave is not None:
                stopped = QueueStop(Stop(StopKind.WAVE_DONE))
                break
            if not self.process.wait():
                stopped, self._over = QueueStop(Stop(StopKind.DONE)), True
                break
            if self._news():
                changed.append(True)
                return Stop(StopKind.BUDGET)
        if stopped.begins:
            self._news()
            changed.append(True)
        stop = stopped.stop
        self._asked = self._asked and stop.kind is not StopKind.INTERRUPTED
        self._failed = stopped if stop.wave is not None else None
        if stopped.dispatch is not None:
            self._architecture = stopped.dispatch.plan.state.target
        return stop

    def deliver(self) -> None:
        """Give the process the error of the dispatch that stopped last, which cannot continue."""
        if self._failed is not None:
            self.process.go_on()
            self.process.failed(self._failed)
            self._failed = None
        self.forget()

    def exit_info(self) -> ExitInfo:
        return ExitInfo(0, "", self._runner.executed, process=self.process.end())

    def progress(self) -> Progress:
        ended = groups = 0
        for _, _, dispatch in self._shown():
            _, some, all_ = dispatch.progress()
            ended, groups = ended + some, groups + all_
        return Progress(self._runner.executed, ended, groups)

    def interrupt(self) -> None:
        self._asked = True
        self._runner.interrupt()

    def forget_interrupt(self) -> None:
        self._asked = False
        self._runner.forget_interrupt()


__all__ = ["RUNTIME_KERNELS", "GpuProcess", "HostOrigin", "ProcessQueue", "ProcessTarget"]
