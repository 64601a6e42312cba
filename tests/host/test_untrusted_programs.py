"""Programs that interfere while rocdbg examines them: they remove queues, free memory, do not answer, and claim to be
another process.
"""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterator, Sequence

import pytest

from rocdbg.host.agents import parse_agents
from rocdbg.host.client_process import ProgramProcess
from rocdbg.host.connection import Requests, receive
from rocdbg.host.find_runtime_library import RuntimeLibrary
from rocdbg.host.gpu_side import load_gpu_side
from rocdbg.host.protocol import REPLY, REQUEST, VERSION, Event, Pool, Request, Status
from rocdbg.host.server import Server
from rocdbg.sim.core.watched_words import EVERY_ACCESS, ExistingWatches, WatchedBytes

YES = REPLY.pack(Status.SUCCESS, 0, *(0,) * 6)


@pytest.fixture
def process(library: RuntimeLibrary) -> Iterator[ProgramProcess]:
    made = ProgramProcess(os.getpid(), parse_agents("gfx90a"), load_gpu_side(library.gpu_side))
    yield made
    made.close()


def test_a_queue_that_was_removed_is_empty(process: ProgramProcess) -> None:
    """The queue's memory is inaccessible: reading it would end the process."""
    process.traced = True
    queue = process.create_queue(1, 64, 0, 0)
    assert queue.origin(0) is None
    process.destroy_queue(queue.address)
    assert not queue.has_packet
    assert (queue.read_index, queue.write_index) == (0, 0)
    assert queue.origin(0) is None


def test_nothing_is_freed_while_memory_is_steady(process: ProgramProcess) -> None:
    memory, buffer = process.memory.global_memory, process.allocate(4096, Pool.FINE)
    thread = threading.Thread(target=process.free, args=(buffer.address,))
    with memory.steady:
        thread.start()
        thread.join(0.05)
        assert memory.find(buffer.address) is buffer
        assert memory.read(buffer.address, 4096) == bytes(4096)
    thread.join()
    assert memory.find(buffer.address) is None


def test_what_is_freed_is_no_longer_watched(process: ProgramProcess) -> None:
    memory, buffer = process.memory.global_memory, process.allocate(4096, Pool.FINE)
    one = WatchedBytes(buffer.host_address + 8, 4, address=buffer.address + 8)
    lds = WatchedBytes(64, 4, (3, 4))
    applied: list[Sequence[WatchedBytes]] = []
    watches = ExistingWatches(memory, applied.append)
    watches.set([one, lds, EVERY_ACCESS], (4, 9))
    assert list(applied[-1]) == [one, lds, EVERY_ACCESS]
    watches.set([one, lds], (5, 9))
    assert [each.size for each in applied[-1]] == [4, 0]
    watches.set([one, lds], (1, 3))
    watches.forget_freed()
    assert len(applied) == 3 and [each.size for each in applied[-1]] == [4, 4]
    process.free(buffer.address)
    watches.forget_freed()
    assert [each.size for each in applied[-1]] == [0, 4]


def test_ctrl_c_ends_the_wait_for_an_answer(process: ProgramProcess) -> None:
    """The same event is not sent twice, and an answer may arrive in two parts."""
    ours, programs = socket.socketpair()
    with programs:
        process.take_events(ours)
        timer = threading.Timer(0.05, process.runner.interrupt)
        timer.start()
        assert process.tell(Event.SHARE, 0x1000) is None
        assert process.tell(Event.FAULT, 1, 0x1000, 1) is None
        process.runner.forget_interrupt()
        programs.sendall(YES[:7])
        timer = threading.Timer(0.05, programs.sendall, (YES[7:],))
        timer.start()
        assert process.tell(Event.SHARE, 0x1000) is True
        assert REQUEST.unpack(receive(programs, REQUEST.size))[0] == Event.SHARE
        programs.sendall(YES)
        assert process.tell(Event.FAULT, 1, 0x1000, 1) is True
        assert REQUEST.unpack(receive(programs, REQUEST.size))[0] == Event.FAULT
    assert process.tell(Event.SHARE, 0x1000) is False


def test_an_interrupted_share_is_tried_again(process: ProgramProcess) -> None:
    pinned = process.pin(4096)
    ours, programs = socket.socketpair()
    with programs:
        process.take_events(ours)
        process.runner.interrupt()
        assert process.share_pinned(pinned.address)
        assert pinned.address in process.pinned
        process.runner.forget_interrupt()
        programs.sendall(YES)
        assert process.share_pinned(pinned.address)
        assert pinned.address not in process.pinned
        assert not process.share_pinned(pinned.address)


def test_large_requests_are_not_kept(process: ProgramProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    """The program gets an answer, and its next request is read from the right position."""
    monkeypatch.setattr("rocdbg.host.protocol.MAX_PAYLOAD", 1000)
    kept: list[int] = []
    monkeypatch.setattr("rocdbg.host.connection._CHUNK", 512)
    ours, program = socket.socketpair()
    with program, ours:
        served = Requests(process, ours)
        answers = {Request.LOAD: lambda arguments, payload: kept.append(len(payload)) or ((), b"")}
        monkeypatch.setattr(served, "_answers", answers)
        for size in (1000, 1001, 3):
            program.sendall(REQUEST.pack(Request.LOAD, size, *(0,) * 6) + bytes(size))
            served._one()
            status, length = REPLY.unpack(receive(program, REPLY.size))[:2]
            words = receive(program, length).decode()
            assert status == (Status.OUT_OF_RESOURCES if size == 1001 else Status.SUCCESS)
            assert words == ("a request of 1001 bytes exceeds the limit of 1000" if size == 1001 else "")
    assert kept == [1000, 3]


def test_a_program_cannot_say_that_it_is_another_process(library: RuntimeLibrary) -> None:
    """The debugger stops the process, and reads the files that the process has mapped."""
    server = Server(parse_agents("gfx90a"), library, print)
    try:
        for pid in (1, 0, (1 << 64) - 1):
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as program:
                program.connect("\0" + server.name)
                program.sendall(REQUEST.pack(Request.HELLO, 0, VERSION, pid, 0, 0, 0, 0))
                assert REPLY.unpack(receive(program, REPLY.size))[0] == Status.SUCCESS
                assert server.processes[-1].pid == os.getpid()
    finally:
        server.close()
