"""Recordings made to do harm: they are refused with one line, and the engine's state does not change."""

# ruff: noqa: E501  (tables)
from __future__ import annotations

import copy
import os
import random
import re
import struct
import sys
import time
import zlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
import pytest

from rocdbg.debugger.session import Session
from rocdbg.debugger.target.reversible_target import RecordedTarget
from rocdbg.errors import Error
from rocdbg.regular_file import read_regular
from rocdbg.sim.core import layout
from rocdbg.sim.core.guarded import Head, headed_rows

ROOT = Path(__file__).resolve().parents[2]
if str(ROOT / "benchmarks") not in sys.path:
    sys.path.insert(0, str(ROOT / "benchmarks"))

from file_attacks import recordings  # noqa: E402

Change = Callable[[Any], object]


@pytest.fixture(scope="module")
def sound() -> Any:
    """A sound recording, decoded."""
    return recordings.decoded(0)


def outcome(content: object, folder: Path) -> str:
    """The line that refuses a recording, when it is restored or before it reaches its end; "" if it is accepted."""
    path = folder / "a.rec"
    path.write_bytes(content if isinstance(content, bytes) else recordings.encoded(content))
    session = Session()
    try:
        session.restore_recording(path)
        session.time.go_to(session.time.need().bounds[1])
    except Error as error:
        return str(error)
    finally:
        session.launch.release()
    return ""


def test_a_sound_one_is_taken(sound: Any, tmp_path: Path) -> None:
    assert outcome(sound, tmp_path) == ""
    assert outcome(recordings.sound(0), tmp_path) == ""


def written(place: list[Any], data: bytes, end: int = 0) -> Change:
    return lambda run: run["journal"].insert(0, ["w", end, place, data])


def old_form(address: int, data: bytes, wave: int) -> Change:
    """The blocks in the first version of the format."""
    return lambda run: run["journal"].insert(0, ["p", 0, address, data, wave, False])


def put(*keys: Any, value: Any) -> Change:
    def change(run: Any) -> None:
        for key in keys[:-1]:
            run = run[key]
        run[keys[-1]] = value

    return change


POINTER = layout.ENGINE["lds_pointer"].offset
WRITES: tuple[tuple[str, Change, str], ...] = (
    ("lds_pointer by its offset", old_form(POINTER, b"\x42" * 8, 1), "Invalid value 'p'"),
    ("a function of the schedule", old_form(40, b"\x42" * 8, -4), "Invalid value 'p'"),
    ("lds_pointer as a register", written(["special", 1, "lds_pointer"], b"\x42" * 8), "gfx90a has no register lds_pointer"),
    ("lds_size", written(["special", 1, "lds_size"], b"\xff" * 4), "gfx90a has no register lds_size"),
    ("the count of instructions", written(["special", 1, "instructions"], bytes(8)), "has no register instructions"),
    ("a register before the first", written(["register", 1, "s-2080"], bytes(4)), "gfx90a has no register s-2080"),
    ("a register of the schedule", written(["register", 1, "clock"], bytes(4)), "gfx90a has no register clock"),
    ("a vector register past the last", written(["register", 1, "v256"], bytes(4)), "gfx90a has no register v256"),
    ("lanes past the last", written(["register", 1, "v255", 63], bytes(8)), "v255 does not have 8 bytes from lane 63 on"),
    ("a scalar register and what follows", written(["register", 1, "exec_hi"], bytes(8)), "scalar register exec_hi has 4"),
    ("another lane of a scalar", written(["register", 1, "s3", 4], bytes(4)), "scalar register s3 has 4 bytes"),
    ("a bit past a field", written(["special", 1, "scc"], b"\2"), "0x2 does not fit into scc"),
    ("a field and what follows", written(["special", 1, "pc"], bytes(16)), "register pc has 8 bytes, not 16"),
    ("a register of another target", written(["special", 1, "trap_ctrl"], bytes(4)), "gfx90a has no register trap_ctrl"),
    ("LDS past its end", written(["lds", 1, 0], bytes(70_000)), "LDS has 0 bytes"),
    ("LDS before its beginning", written(["lds", 1, -8], bytes(8)), "Expected `int` >= 0"),
    ("GDS where there is none", written(["gds", 0], bytes(4)), "GDS has 0 bytes"),
    ("a resource past the last", written(["gws", 64], bytes(16)), "there is no global wave sync resource 64"),
    ("a resource and what follows", written(["gws", 63], bytes(32)), "a global wave sync resource has 16 bytes, not 32"),
    ("an origin that there is not", written(["gws", 0], bytes(12) + b"\3\0\0\0"), "origin of a global wave sync resource"),
    ("memory of the host", written(["memory", 0x5555_5555_0000], bytes(8)), "there is no allocation with 8 bytes at 0x555555550000"),
    ("memory past an allocation", written(["memory", 0x7F00_0010_0000], bytes(1 << 20)), "there is no allocation with 1048576 bytes"),
    ("nothing", written(["memory", 0x7F00_0010_0000], b""), "there is no allocation with 0 bytes"),
    ("wave 0", written(["register", 0, "s3"], bytes(4)), "Expected `int` >= 1"),
    ("a negative wave", written(["register", -4, "s3"], bytes(4)), "Expected `int` >= 1"),
    ("a wave of no launch", written(["register", 100_000, "s3"], bytes(4)), "there is no wave 100000"),
    ("a place of no kind", written(["engine", 1, 0], bytes(4)), "Invalid value 'engine'"),
    ("a write in the middle of turns", written(["special", 1, "scc"], b"\1", end=3), "follows an entry for position 0, without instructions"),
)


@pytest.mark.parametrize("change, message", [row[1:] for row in WRITES], ids=[row[0] for row in WRITES])
def test_no_write_reaches_the_engine(sound: Any, tmp_path: Path, change: Change, message: str) -> None:
    run = copy.deepcopy(sound)
    change(run)
    said = outcome(run, tmp_path)
    assert message in said
    assert "\n" not in said


FORMS: tuple[tuple[str, Change], ...] = (
    ("a list for a number", put("options", "memory_limit", value=[1])),
    ("a negative limit", put("options", "memory_limit", value=-1)),
    ("no memory", put("options", "memory_limit", value=0)),
    ("text for a number", put("options", "resident_waves", value="128")),
    ("no waves", put("options", "resident_waves", value=0)),
    ("waves beyond all memory", put("options", "resident_waves", value=1 << 62)),
    ("a stack beyond all memory", put("options", "dynamic_stack_size", value=1 << 62)),
    ("no options", put("options", value={})),
    ("options of another form", put("options", value=[1, 2, 3])),
    ("a schedule of no kind", put("options", "schedule", value="lockstep 0")),
    ("LDS of no kind", put("options", "lds_out_of_range", value="explode")),
    ("an empty grid", put("grid", value=[0, 1, 1])),
    ("a negative grid", put("grid", 0, value=-64)),
    ("a grid of two sizes", put("grid", value=[64, 1])),
    ("a workgroup past the limit", put("workgroup", value=[1 << 20, 1, 1])),
    ("LDS past the limit", put("dynamic_lds", value=(1 << 32) - 1)),
    ("a number of no digits", put("arguments", 0, value={"type": "number", "texts": [], "floats": [], "several": False})),
    ("numbers without types", put("arguments", 0, value={"type": "number", "texts": ["1", "2"], "floats": [], "several": True})),
    ("a number of many digits", put("arguments", 0, value={"type": "number", "texts": ["9" * 399], "floats": [False], "several": False})),
    ("a number that is none", put("arguments", 0, value={"type": "number", "texts": ["np.x"], "floats": [False], "several": False})),
    ("LDS of a negative size", put("arguments", 0, value={"type": "local", "size": -1})),
    ("a buffer that is another's", put("arguments", 0, "same", value=7)),
    ("a pointer past a buffer", put("arguments", 0, "offset", value=1 << 20)),
    ("a pointer before a buffer", put("arguments", 0, "offset", value=-8)),
    ("an expectation of another size", put("arguments", 0, "expect", value=b"123")),
    ("an array of another size", put("arguments", 0, "array", value="f32[1]")),
    ("an array of no type", put("arguments", 0, "array", value="f31[64]")),
    ("no arguments", put("arguments", value=[])),
    ("no code", put("code", value=[])),
    ("code that is none", put("code", 0, "data", value=b"\x7fELF")),
    ("code of no path", put("code", 0, "path", value="a\0b")),
    ("a kernel that there is not", put("kernel", value="other")),
    ("a target that there is not", put("architecture", value="gfx000")),
    ("a target that is a path", put("architecture", value="../gfx90a")),
    ("places without arguments", put("offsets", value=[0])),
    ("registers without a shader", put("registers", value={"COMPUTE_PGM_RSRC1": 0})),
    ("registers of no name", put("registers", value={"x": 0})),
    ("a digest that is cut", put("digest", value=b"1")),
    ("an end that the journal has not", put("end", value=1)),
    ("an end beyond all runs", put("end", value=1 << 63)),
    ("a journal that is none", put("journal", value=b"journal")),
    ("no journal", put("journal", value=[])),
    ("an entry that is none", put("journal", 0, value=["f"])),
    ("a turn of no wave", put("journal", 0, value=["g", 1, 0, 0, 0, 0, 0])),
    ("turns that go back", lambda run: run["journal"].reverse()),
    ("turns of nothing", lambda run: run["journal"].insert(0, ["f", 0])),
    ("a schedule of no run", lambda run: run["journal"].insert(0, ["g", 0, 1, 1 << 40, 0, 0, 0])),
    ("a turn that is not over, of nobody", lambda run: run["journal"].insert(0, ["g", 0, 1, 0, 1 << 40, 0, 0])),
    ("a turn of all time", lambda run: run["journal"].insert(0, ["g", 0, 1, 0, 0, (1 << 64) - 1, 0])),
)


@pytest.mark.parametrize("change", [row[1] for row in FORMS], ids=[row[0] for row in FORMS])
def test_what_is_not_of_the_form_is_refused(sound: Any, tmp_path: Path, change: Change) -> None:
    run = copy.deepcopy(sound)
    change(run)
    said = outcome(run, tmp_path)
    assert said
    assert said.isprintable()
    assert len(said) < 1000


@pytest.mark.parametrize("seed", range(4))
def test_damaged_bytes_are_refused(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    good = recordings.sound(0)
    for _ in range(10):
        bad = bytearray(good)
        if rng.randrange(2):
            bad[rng.randrange(len(bad))] ^= 1 << rng.randrange(8)
        else:
            del bad[rng.randrange(len(bad)) :]
        assert "a.rec at offset" in outcome(bytes(bad), tmp_path)


@pytest.mark.parametrize("size", [1 << 40, (1 << 63) - 1])
def test_a_frame_cannot_ask_for_more_than_its_block(tmp_path: Path, size: int) -> None:
    body = b"\x28\xb5\x2f\xfd\xe0" + size.to_bytes(8, "little") + b"\x01\0\0"
    head = recordings.recording_file_format.MAGIC + struct.pack("<IQQI", 2, 4096, len(body), zlib.crc32(body))
    assert "not have the size that it declares" in outcome(head + body, tmp_path)


@pytest.mark.parametrize("keys", [
    ("journal",), ("offsets",), ("registers",), ("code",), ("arguments",), ("arguments", 0, "texts"), ("arguments", 0, "floats"),
])
def test_lists_are_limited_before_their_elements_are_made(sound: Any, tmp_path: Path, keys: tuple[Any, ...]) -> None:
    """A few bytes that unpack to a list of 4 billion elements would otherwise take all of the host's memory."""
    run = copy.deepcopy(sound)
    if len(keys) > 1:
        run["arguments"][0] = {"type": "number", "texts": [], "floats": [], "several": True}
    head = b"\xdf" if keys[-1] == "registers" else b"\xdd"
    put(*keys, value=msgspec.Raw(head + b"\xff" * 4))(run)
    assert re.search(r"Expected `(array|object)` of length <= \d+", outcome(run, tmp_path))


def test_a_journal_that_cannot_be_read_again_is_not_written(tmp_path: Path) -> None:
    path = tmp_path / "a.rec"
    path.write_bytes(recordings.sound(0))
    run = recordings.recording_file_format.load(path)
    many = msgspec.structs.replace(run, journal=run.journal[:1] * (recordings.recording_file_format.MAX_ENTRIES + 1))
    with pytest.raises(Error, match="the journal has 1048577 entries, more than the 1048576"):
        recordings.recording_file_format.save(many, path)
    assert recordings.recording_file_format.load(path) == run


def test_an_old_version_is_refused_with_one_line(tmp_path: Path) -> None:
    data = bytearray(recordings.sound(0))
    data[16] = 1
    assert outcome(bytes(data), tmp_path).endswith("the recording has format version 1, but this rocdbg reads version 2")


LATER: tuple[tuple[str, Change, str], ...] = (
    ("a turn that was not", lambda run: run.update(journal=[*run["journal"], ["g", run["end"] + 1, 1, 0, 0, 0, 0]], end=run["end"] + 1), "cannot be repeated|not what it was"),
    ("a write that was not", lambda run: run["journal"].append(["w", run["end"], ["register", 1, "s5"], b"\xde\xad\xbe\xef"]), "not what it was"),
    ("another end", put("digest", value=bytes(32)), "not what it was"),
)


@pytest.mark.parametrize("change, message", [row[1:] for row in LATER], ids=[row[0] for row in LATER])
def test_what_shows_later_ends_the_repetition(sound: Any, tmp_path: Path, change: Change, message: str) -> None:
    run = copy.deepcopy(sound)
    change(run)
    said = outcome(run, tmp_path)
    assert re.search(message, said)
    assert said.isprintable()


@pytest.mark.parametrize("keys, text", [
    (("kernel",), "\x1b[2J"), (("rocdbg",), "\x1b]0;x\x07\n\n"), (("code", 0, "path"), "/tmp/\x1b[2J\n"),
    (("journal", 0), ["w", 0, ["special", 1, "\x1b[2Jx"], b"\1"]),
])
def test_no_text_of_a_recording_reaches_the_terminal_raw(sound: Any, tmp_path: Path, keys: tuple[Any, ...], text: Any) -> None:
    run = copy.deepcopy(sound)
    put(*keys, value=text)(run)
    path = tmp_path / "a.rec"
    path.write_bytes(recordings.encoded(run))
    session = Session()
    warnings: list[str] = []
    with suppress(Error):
        session.restore_recording(path)
    warnings = session.warnings.take()
    said = outcome(run, tmp_path)
    assert all(text.isprintable() for text in (said, *warnings))
    session.launch.release()


def test_a_link_in_the_place_of_the_new_file_is_not_followed(sound: Any, tmp_path: Path) -> None:
    victim, path = tmp_path / "victim", tmp_path / "a.rec"
    victim.write_text("mine")
    (tmp_path / f".a.rec.{os.getpid()}.part").symlink_to(victim)
    with pytest.raises(Error, match="cannot be written"):
        recordings.recording_file_format.save(sound, path)
    assert victim.read_text() == "mine"


def test_nothing_of_a_refused_recording_stays(sound: Any, tmp_path: Path) -> None:
    run = copy.deepcopy(sound)
    run["journal"].insert(0, ["w", 0, ["special", 1, "limit"], bytes(8)])
    path = tmp_path / "a.rec"
    path.write_bytes(recordings.encoded(run))
    session = Session()
    with pytest.raises(Error, match="has no register limit"):
        session.restore_recording(path)
    assert session.launch.programs == []
    assert session.inferior.target is None
    path.write_bytes(recordings.sound(0))
    session.restore_recording(path)
    session.time.go_to(session.time.need().bounds[1])
    session.launch.release()


def test_a_refused_recording_leaves_the_program_that_was_loaded(sound: Any, tmp_path: Path) -> None:
    run = copy.deepcopy(sound)
    run["journal"].insert(0, ["w", 0, ["special", 1, "limit"], bytes(8)])
    path = tmp_path / "a.rec"
    path.write_bytes(recordings.encoded(run))
    session = Session()
    session.load(ROOT / "demo_kernels" / "saxpy" / "saxpy.toml")
    spec, folder = session.launch.spec, session.sources.program_directory
    with pytest.raises(Error, match="has no register limit"):
        session.restore_recording(path)
    assert session.launch.spec is spec
    assert session.sources.program_directory == folder
    session.break_at("saxpy.hip:10")
    session.run()
    assert session.focus.frame().name == "saxpy"
    session.launch.release()


def test_the_engines_words_are_apart_from_the_state(sound: Any, tmp_path: Path) -> None:
    """An inaccessible page separates a wave's registers from the engine's own data, which no write of a journal
    changes.
    """
    path = tmp_path / "a.rec"
    path.write_bytes(recordings.sound(0))
    session = Session()
    session.restore_recording(path)
    target = session.inferior.target
    assert isinstance(target, RecordedTarget)
    wave = target.dispatch.waves[0]
    state, engine = int(wave.state.ctypes.data), int(wave.engine.ctypes.data)
    assert engine + layout.ENGINE_SIZE <= state // 4096 * 4096 - 4096
    assert not any(field.offset >= 0 for field in layout.ENGINE.values())
    assert not set(layout.ENGINE) & set(layout.HEADER)
    before = wave.engine.tobytes()
    assert target.recording is not None
    recorder = target.recording.recorder
    for entry in recorder.journal.entries:
        if isinstance(entry, recordings.Written):
            recorder._write(entry)
    assert wave.engine.tobytes() == before
    session.launch.release()


def test_the_readers_of_the_table_are_there() -> None:
    """For each reader, docs/security.md names the module that checks and the test that attacks it."""
    text = (ROOT / "docs" / "security.md").read_text()
    table = text[text.index("## Every reader") : text.index("## Nothing outside")]
    named = re.findall(r"`([a-z_/]+(?:\.py)?)(?:::\w+)?`", table)
    paths = [name for name in named if "/" in name or name.endswith(".py")]
    assert len(paths) > 50
    assert [name for name in paths if not (ROOT / name).exists() and not (ROOT / "rocdbg" / name.removeprefix("rocdbg/")).exists()] == []


def test_room_is_made_for_what_a_file_has(tmp_path: Path) -> None:
    """Memory is allocated for the actual contents, not for the maximum: otherwise, limited memory would refuse a
    recording.
    """
    path = tmp_path / "file"
    path.write_bytes(b"12345")
    assert read_regular(path, 1 << 60) == b"12345"
    with pytest.raises(Error, match="larger than can be read"):
        read_regular(path, 4)


def test_heads_need_a_page_between() -> None:
    with pytest.raises(ValueError, match="no whole page"):
        headed_rows(1, 64, Head(128, 4096 + 128))


@pytest.mark.parametrize("first", [0, 90_000])
def test_random_recordings_are_refused_or_repeated(first: int) -> None:
    """A short run of `make fuzz-recordings`."""
    import fuzz_files

    assert fuzz_files.fuzz(first, 1, 45, 120, recordings, "fuzz_recordings") == 0


def test_numbers_give_the_same_recording_always() -> None:
    for number in range(len(recordings.NAMES)):
        assert recordings.attack_of(number) == recordings.attack_of(number)




def test_an_interrupt_that_a_callback_swallows_comes_again() -> None:
    """Python prints exceptions of callbacks and continues: without this, a case would run without limit."""
    ticks: list[float] = []

    class Swallowing:
        def __del__(self) -> None:
            begun = time.process_time()
            while time.process_time() - begun < 0.05:  # the first interrupt comes here
                ticks.append(begun)

    names: dict[str, Any] = {}
    exec(compile("def forever():\n  while True: pass\n", f"{recordings.CODE}/forever.py", "exec"), names)
    with pytest.raises(KeyboardInterrupt), recordings.interrupted_after(0.01):
        Swallowing()
        names["forever"]()
    assert ticks
