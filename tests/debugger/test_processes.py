"""The debugger on a process with several agents, queues, dispatches and code objects, which appear and disappear."""

from __future__ import annotations

import io
import struct
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from rocdbg.cli.script import Line
from rocdbg.cli.shell import Shell
from rocdbg.cli.writer import Writer
from rocdbg.debugger.running.stop_events import StopReason
from tests.debugger.scripted_process import ScriptedProcess, Step, session_on

pytestmark = pytest.mark.llvm
Compile = Callable[..., Path]


class Program:
    """Two queues; `scale` runs three times on the first, and two kernels that wait for one another run on both."""

    def __init__(self, compiled: Compile, targets: tuple[str, ...] = ("gfx90a",)) -> None:
        self.paths = [compiled(f"process_{name}.hip", target) for name in "ab" for target in targets]
        self.targets = targets
        self.result: list[int] = []

    def begin(self, process: ScriptedProcess) -> None:
        self.queues = [process.queue(1), process.queue(len(self.targets))]
        self.a = process.load(self.paths[0])
        self.data = process.buffer(np.arange(128, dtype=np.int32))

    def scale(self, process: ScriptedProcess) -> None:
        arguments = struct.pack("<Qi", self.data.address, 3)
        process.submit(self.queues[0], self.a, "__amd_rocclr_fillBuffer", struct.pack("<Qi", self.data.address, 1), 128)
        for _ in range(3):
            process.submit(self.queues[0], self.a, "scale", arguments, 128)

    def read(self, process: ScriptedProcess) -> None:
        self.result = self.data.data.view(np.int32).tolist()

    def wait(self, process: ScriptedProcess) -> None:
        b = [process.load(path, agent) for agent, path in enumerate(self.paths[len(self.targets) :], 1)]
        self.flags = process.buffer(np.zeros(2, np.int32))
        here, there = self.flags.address, self.flags.address + 4
        process.submit(self.queues[0], b[0], "wait_for", struct.pack("<Qi4xQ", here, 1, there))
        process.submit(self.queues[1], b[-1], "wait_for", struct.pack("<Qi4xQ", there, 0, here))

    def unload(self, process: ScriptedProcess) -> None:
        process.unload(self.a)

    def wild(self, process: ScriptedProcess) -> None:
        process.submit(self.queues[0], self.a, "wild", struct.pack("<Q", self.data.address))


class Prompt:
    """Executes commands on a process."""

    def __init__(self, steps: Sequence[Step], targets: tuple[str, ...] = ("gfx90a",)) -> None:
        self.session, self.launcher = session_on(steps, targets)
        self.session.program_launch.path = "program"
        self.out = io.StringIO()
        self.shell = Shell(self.session, Writer(self.out, False), Writer(self.out), False)
        self.shell.settings["confirm"] = False
        self.shell.settings["width"] = 0

    def __call__(self, *commands: str) -> str:
        self.out.truncate(self.out.seek(0))
        for command in commands:
            self.shell.run_guarded(Line(command))
        self.shell.out.flush()
        return self.out.getvalue()


@pytest.fixture
def program(compiled: Compile) -> Program:
    return Program(compiled)


def test_a_breakpoint_that_is_pending_stops_each_launch(program: Program) -> None:
    session, _ = session_on([program.begin, program.scale, program.read])
    made = session.break_at("scale", pending=True)
    made.ignore_count = 0
    assert made.pending
    event = session.run()
    seen = []
    while event.reason is StopReason.BREAKPOINT:
        scope = event.scope
        assert scope.thread is not None
        wave = session.inferior.wave(scope.thread)
        value = session.data.format(session.data.evaluate("data[1]"))
        seen.append((wave.number, str(wave.id), wave.kernel, value))
        event = session.running.proceed()
    assert event.reason is StopReason.EXITED and event.exit is not None
    assert event.exit.process is not None and event.exit.process.pid == 4711
    # Two waves each; the runtime's own kernel is neither seen nor counted.
    assert seen == [
        (1, "1:1:1:1", "scale", "1"), (2, "1:1:1:2", "scale", "3"), (3, "1:1:2:3", "scale", "3"),
        (4, "1:1:2:4", "scale", "9"), (5, "1:1:3:5", "scale", "9"), (6, "1:1:3:6", "scale", "27"),
    ]
    assert program.result == [27] * 128
    assert made.pending is False


def test_memory_that_is_changed_at_the_third_launch_changes_the_result(program: Program) -> None:
    session, _ = session_on([program.begin, program.scale, program.read])
    session.break_at("process_a.hip:6", pending=True, condition="data[i] == 9 && i == 5")
    assert session.run().reason is StopReason.BREAKPOINT
    session.data.evaluate("data[5] = 1000")
    assert session.running.proceed().reason is StopReason.EXITED
    assert program.result == [27] * 5 + [3000] + [27] * 122


def test_two_dispatches_of_two_code_objects(program: Program) -> None:
    prompt = Prompt([program.begin, program.wait, program.read])
    prompt("set breakpoint pending on", "break process_b.hip:6")
    text = prompt("run")
    assert 'Thread 2 "wait_for" hit Breakpoint 1' in text
    assert prompt("info dispatches").splitlines()[1:] == [
        "  1    AMDGPU Dispatch 1:1:1 (PKID 0) [64,1,1] [64,1,1]  B|As|Rs wait_for",
        "* 2    AMDGPU Dispatch 1:2:2 (PKID 0) [64,1,1] [64,1,1]  B|As|Rs wait_for",
    ]


def test_code_objects_come_and_go(program: Program) -> None:
    prompt = Prompt([program.begin, program.unload])
    prompt("set breakpoint pending on", "break scale", "catch load process_a", "catch unload")
    loaded = prompt("run")
    assert "hit Catchpoint 2\n  Inferior loaded file://" in loaded, loaded
    assert "process_a.hip.gfx90a" in prompt("info sharedlibrary")
    assert "<PENDING>" not in prompt("info breakpoints")
    assert "hit Catchpoint 3\n  Inferior unloaded file://" in prompt("continue")
    assert "process_a" not in prompt("info sharedlibrary")
    assert "<PENDING>" in prompt("info breakpoints")
    assert "[Inferior 1 (process 4711) exited normally]" in prompt("continue")


def test_faults_stop_first_and_then_are_the_programs(program: Program) -> None:
    session, launcher = session_on([program.begin, program.wild, program.scale, program.read])
    event = session.run()
    assert event.reason is StopReason.SIGNAL and event.signal is not None and event.signal.name == "SIGSEGV"
    process = launcher.process
    assert process is not None and not process.errors
    assert session.running.proceed().reason is StopReason.EXITED
    assert (len(process.errors) == 1 and "memory violation" in process.errors[0]) or process.errors


def test_runtime_kernels_can_be_seen(program: Program) -> None:
    session, launcher = session_on([program.begin, program.scale])
    launcher.skips = False
    session.break_at("__amd_rocclr_fillBuffer", pending=True)
    event = session.run()
    assert event.reason is StopReason.BREAKPOINT and session.inferior.wave(1).kernel == "__amd_rocclr_fillBuffer"


def test_a_dispatch_is_caught_as_it_begins(program: Program) -> None:
    prompt = Prompt([program.begin, program.scale, program.wait])
    prompt("catch dispatch begin wait")
    text = prompt("run")
    assert 'Thread 7 "wait_for" hit Catchpoint 1 (dispatch begin)' in text, text
    assert 'Thread 8 "wait_for" hit Catchpoint 1 (dispatch begin)' in prompt("continue")
    # The fourth, on the other queue, has ended.
    assert prompt("dispatch find 1:1:") == "Dispatch 5 has target id 'AMDGPU Dispatch 1:1:5 (PKID 4)'\n"


def test_several_agents_each_have_their_waves(compiled: Compile) -> None:
    program = Program(compiled, ("gfx90a", "gfx1100"))
    prompt = Prompt([program.begin, program.wait], program.targets)
    prompt("set breakpoint pending on", "break process_b.hip:6")
    first = prompt("run")
    assert 'Thread 2 "wait_for" hit Breakpoint 1.2, with lanes [0-31]' in first, first
    rows = [line.split()[:-7] for line in prompt("info agents").splitlines()[1:]]
    assert rows == [["1", "A", "AMDGPU", "Agent", "(GPUID"], ["*", "2", "A", "AMDGPU", "Agent", "(GPUID"]]
    threads = prompt("info threads")
    assert "AMDGPU Wave 1:1:1:1 (0,0,0)/0" in threads and "AMDGPU Wave 2:2:2:2 (0,0,0)/0" in threads
    assert "wanted = 1" in prompt("thread 1", "up 0", "info args") or "wanted" in prompt("info args")
    assert prompt("print $_agent", "thread 2", "print $_agent").count("= 1") == 1


def test_an_interrupt_where_nothing_runs(program: Program) -> None:
    session, _ = session_on([program.begin, lambda process: session.running.interrupt(), program.scale])
    event = session.run()
    assert event.reason is StopReason.INTERRUPTED and event.scope.thread is None
    assert session.running.proceed().reason is StopReason.EXITED


def test_steps_end_in_the_same_dispatch(program: Program) -> None:
    prompt = Prompt([program.begin, program.wait, program.scale, program.read])
    prompt("set breakpoint pending on", "break process_b.hip:4 if wanted == 1")
    assert 'Thread 1 "wait_for" hit Breakpoint 1' in prompt("run")
    prompt("delete")
    assert "int next = wanted + 1" in prompt("next", "next", "next")
    assert "[Inferior 1 (process 4711) exited normally]" in prompt("continue")
    assert program.result == [27] * 128

