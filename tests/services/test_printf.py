"""printf in kernels: by hostcalls, through HIP's buffer and through OpenCL's."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rocdbg
from rocdbg.sim.core.layout import PageFlags
from rocdbg.sim.core.memory import Allocation, AllocationKind
from rocdbg.sim.services import messages
from rocdbg.sim.services.messages import MessageError, Messages
from rocdbg.sim.services.output import ProgramOutput
from rocdbg.sim.services.print_message import print_message
from rocdbg.sim.services.printf_buffer import PrintfBuffer, read_formats
from tests.screen.terminal import Terminal

pytestmark = pytest.mark.llvm

Build = Callable[[str, str], Path]
SOURCE = (Path(__file__).parent / "printing.cl").read_text().splitlines()
NEXT = (Path(__file__).parent / "services.hip").read_text().splitlines().index("    if (i & 1)") + 1
LOOP = SOURCE.index('        out[i] = printf("%d\\n", i);') + 1
NAME = np.frombuffer(b"a name\0", np.uint8)
TEXT = "a literal string of more than fifty-six bytes, in two parts or more"


def lines(lanes: int, address: int) -> list[str]:
    """The output of the kernel `formats`, in order of lanes."""
    first = [f"a name|{-i:5}|{i:<5}|{i + 16:#x}|{chr(97 + i)}|%\n" for i in range(lanes)]
    return first + [f"{i / 3:8.2f} {TEXT[:3]} {address:#x} {1 << 40 + i}\n" for i in range(1, lanes, 2)]


@pytest.mark.parametrize(
    ("arch", "options"),
    [("gfx90a", "O0"), ("gfx1100", "O2"), ("gfx90a", "O2 -mprintf-kind=buffered")],
)
def test_hip(hip: Build, arch: str, options: str, capsys: pytest.CaptureFixture[str]) -> None:
    lanes = 5
    program = rocdbg.load(hip(arch, options))
    out = np.zeros(lanes, np.int32)
    dispatch = program.kernels["formats"].launch(lanes, lanes, [out, NAME])
    address = dispatch.launch.buffers[0].allocation.address
    dispatch.run()
    expected = lines(lanes, address)
    assert capsys.readouterr() == ("".join(expected), "")
    # A runtime that prints later knows no count.
    counts = [0] * lanes if "buffered" in options else [len(line) for line in expected[:lanes]]
    assert out.tolist() == counts or "buffered" in options


@pytest.mark.parametrize("level", ["O0", "O2"])
@pytest.mark.parametrize("arch", ["gfx90a", "gfx1100"])
def test_opencl(opencl: Build, arch: str, level: str) -> None:
    lanes, text = 4, io.StringIO()
    program = rocdbg.load(opencl(arch, level), output=text)
    out = np.ones(lanes, np.int32)
    dispatch = program.kernels["vectors"].launch(lanes, lanes, [out, np.float32(0.5)])
    address = dispatch.launch.buffers[0].allocation.address
    dispatch.run()
    odd = "".join(f"{-i} 1,2,{i} ffffffff,{i:x}|" for i in range(1, lanes, 2))
    assert text.getvalue() == (
        "".join(f"lane {i}: {i:f},0.500000,-1.000000,inf|text|3.33e-01|x%\n" for i in range(lanes)) + odd
        + "".join(f"{i << 40} 18446744073709551615 {address:#x} a:b\n" for i in range(lanes))
    )
    assert out.tolist() == [0] * lanes


def test_what_the_buffer_has_no_room_for_is_lost(opencl: Build) -> None:
    count, text = 300, io.StringIO()
    program = rocdbg.load(opencl("gfx1100", "O2"), output=text)
    out = np.ones(count, np.int32)
    program.kernels["wide"].launch(32, 32, [out, np.int32(count)]).run()
    fits = ((4 << 20) - 16) // (4 + 4 + 504)
    assert text.getvalue().splitlines() == [f"{n // 32}:{'0123456789' * 50}" for n in range(fits)]
    assert out[fits // 32 - 1] == 0 and out[fits // 32 + 1] == -1 and fits // 32 + 1 < count


def test_launches_print_one_after_the_other(opencl: Build) -> None:
    text = io.StringIO()
    program = rocdbg.load(opencl("gfx1100", "O2"), output=text)
    for _ in range(2):
        program.kernels["many"].launch(1, 1, [np.zeros(2, np.int32), np.int32(2)]).run()
    assert text.getvalue() == "0\n1\n0\n1\n"


def test_a_debugger_shows_what_is_printed_before_it_stops_again(
    opencl: Build, debugger: Callable[..., rocdbg.Debugger]
) -> None:
    session = debugger(opencl("gfx90a", "O0"), "many", 2, ['buffer = "i32[3]"', "value = 3"])
    session.execute(f"break {LOOP}")
    shown = [session.execute(command, to_string=True) for command in ("run", *["continue"] * 3)]
    numbers = [[line for line in text.splitlines() if line.isdecimal()] for text in shown]
    assert numbers == [[], ["0", "0"], ["1", "1"], ["2", "2"]]


def test_printf_backwards_and_forwards(hip: Build, debugger: Callable[..., rocdbg.Debugger]) -> None:
    arguments = ['buffer = "i32[8]"', 'buffer = "bytes[4]"\ninit = [65, 66, 67, 0]']
    session = debugger(hip("gfx90a", "O0"), "formats", 2, arguments)
    first = "ABC|    0|0    |0x10|a|%\nABC|   -1|1    |0x11|b|%\n"
    session.execute("break formats")
    session.execute("run")
    session.execute("next")
    assert session.execute("next", to_string=True) == f"{first}{NEXT}\t    if (i & 1)\n"
    assert first not in session.execute("reverse-next", to_string=True)
    assert session.execute("next", to_string=True).endswith(f"{NEXT}\t    if (i & 1)\n")
    session.execute("delete")
    session.execute("record goto begin")
    session.execute(f"tbreak {NEXT - 1}")
    session.execute("continue")
    session.execute("print i = 5")
    changed = session.execute("next", to_string=True)
    assert changed == f"{first}{NEXT}\t    if (i & 1)\n".replace("    0|0    |0x10|a", "   -5|5    |0x15|f")


def test_functions_that_are_called_print(hip: Build, debugger: Callable[..., rocdbg.Debugger]) -> None:
    arguments = ['buffer = "i32[8]"', 'buffer = "bytes[4]"\ninit = [65, 66, 67, 0]']
    session = debugger(hip("gfx90a", "O0"), "formats", 2, arguments)
    session.execute("break formats")
    session.execute("run")
    assert session.execute("call says(5)", to_string=True) == "says 5\n$1 = 7\n"


def test_the_full_screen_shows_it_with_the_commands(
    opencl: Build, debugger: Callable[..., rocdbg.Debugger], tmp_path: Path
) -> None:
    debugger(opencl("gfx90a", "O0"), "many", 1, ['buffer = "i32[3]"', "value = 3"])  # writes the launch file
    arguments = [str(tmp_path / "launch.toml"), "-ex", f"break {LOOP}", "-ex", "run", "-ex", "layout src"]
    with Terminal(arguments, 80, 24, tmp_path) as terminal:
        terminal.wait_for("(rocdbg)")
        shown = terminal.command("continue", "\n0\n").splitlines()
    above = shown[shown.index("0") - 1]
    assert above.endswith(("(rocdbg) continue", "Continuing.")) and any("printing.cl" in line for line in shown)


@given(st.lists(st.binary(max_size=40), max_size=6), st.binary(max_size=300))
def test_whatever_a_kernel_leaves_in_the_buffer(entries: list[bytes], data: bytes) -> None:
    """Bytes that are not frames, and entries that are not formats: the result is some text, and no other error."""
    texts = [entry.decode("latin-1") for entry in entries] + ["1:2:4:8:%d %s|%*.*f%n", "2:1:4:%v4hlf %p", "3:0:"]
    memory = np.zeros(1024, np.uint8)
    allocation = Allocation(0, memory.size, "", AllocationKind.RUNTIME, PageFlags.READ, memory)
    buffer = PrintfBuffer(allocation, ProgramOutput())
    buffer.begin(read_formats(texts))
    allocation.data[8 : 8 + len(data)] = np.frombuffer(data, np.uint8)
    allocation.data[:4] = np.frombuffer(len(data).to_bytes(4, "little"), np.uint8)
    buffer.print(False)
    buffer.print(True)
    assert buffer.printed <= len(data)


@given(st.lists(st.tuples(st.integers(0, 2**64 - 1), st.binary(min_size=56, max_size=56)), max_size=20))
def test_whatever_a_kernel_sends_as_a_message(parts: list[tuple[int, bytes]]) -> None:
    sent = Messages()
    for descriptor, payload in parts:
        before = sent.snapshot()
        try:
            _, message = sent.part(descriptor, payload)
        except MessageError:
            assert sent.snapshot() == before
            continue
        if message is not None:
            assert isinstance(print_message(message), bytes)


def test_messages_of_no_bytes_are_limited_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(messages, "MAX_PENDING", 6400)
    sent = Messages()
    for _ in range(200):  # begun and ended: they come to nothing
        sent.part(3, bytes(56))
    for _ in range(100):
        sent.part(1, bytes(56))
    again = Messages()
    again.restore(sent.snapshot())
    for each in (sent, again):
        with pytest.raises(MessageError, match="unfinished messages have more than"):
            each.part(1, bytes(56))


@pytest.mark.parametrize(
    ("entries", "words"),
    [
        ([], [12 << 2, 0x41]), ([], [0xFFFF_FFFC]), ([], [16 << 2 | 2, 1, 0]), ([], [3 << 2, 0]), ([], [0]),
        (["1:1:8:%d"], [1, 7]), (["1:1:4194304:%d"], [1, 7]), (["1:2:4:4:%d %s"], [1, 7]), (["1:0:x"], [2]),
    ],
)
def test_frames_that_the_buffer_does_not_have(entries: list[str], words: list[int]) -> None:
    """The sizes of frames exceed the written bytes; the kernel's own count of written bytes may exceed them too."""
    memory, shown = np.zeros(64, np.uint8), io.StringIO()
    allocation = Allocation(0, memory.size, "", AllocationKind.RUNTIME, PageFlags.READ, memory)
    buffer = PrintfBuffer(allocation, ProgramOutput(lambda text, _: shown.write(text) and None))
    for count in (4 * len(words), 0xFFFF_FFFF):
        buffer.begin(read_formats(entries))
        memory[8:].view(np.uint32)[: len(words)] = words
        memory[:4].view(np.uint32)[0] = count
        buffer.print(False)
        if count == 4 * len(words):
            assert buffer.printed == 0 and shown.getvalue() == ""
        buffer.print(True)
        assert buffer.printed == min(count, 56)
        assert shown.getvalue().endswith("bytes of the printf buffer are not frames of this code object's formats.\n")
