"""Recordings in files: repeated elsewhere, they give the same state; damaged ones are refused."""

from __future__ import annotations

import errno
import os
import random
import resource
from pathlib import Path

import pytest

from rocdbg.debugger.session import Session
from rocdbg.debugger.target.reversible_target import RecordedTarget
from rocdbg.launch import recording_file_format
from rocdbg.launch.recording_file_format import RecordFileError

DEMOS = Path(__file__).resolve().parents[2] / "demo_kernels"
LAUNCHES = [
    ("calls/calls.toml", "gfx90a"), ("reduce/reduce.toml", "gfx1100"), ("histogram/histogram.toml", "gfx90a"),
]


def recorded(file: str, target: str) -> Session:
    """A run to which its user did several things."""
    session = Session()
    session.load(DEMOS / file, target)
    session.break_at(session.launch.kernel.name)
    session.run()
    for _ in range(7):
        session.running.stepi()
    thread = session.focus.current.thread
    assert thread is not None and session.inferior.target is not None
    session.inferior.target.write_register(thread, 35, b"\x07\0\0\0")  # s3
    session.running.step()
    session.running.next()
    return session


def digest(session: Session) -> bytes:
    target = session.inferior.target
    assert isinstance(target, RecordedTarget) and target.recording is not None
    return target.recording.recorder.digest()


@pytest.mark.parametrize("file, target", LAUNCHES)
def test_a_recording_is_repeated_from_its_file(file: str, target: str, tmp_path: Path) -> None:
    session = recorded(file, target)
    end = session.time.position
    expected = {end: digest(session)}
    session.save_recording(tmp_path / "a.rec")
    assert session.time.position == end
    for position in (0, end // 3, end // 2):
        session.time.go_to(position)
        expected[position] = digest(session)
    other = Session()
    other.restore_recording(tmp_path / "a.rec")
    assert (other.time.position, other.time.need().bounds) == (0, (0, end))
    for position in (end // 2, end, 0, end // 3):
        other.time.go_to(position)
        assert digest(other) == expected[position]
    other.save_recording(tmp_path / "b.rec")
    assert (tmp_path / "b.rec").read_bytes() == (tmp_path / "a.rec").read_bytes()


def test_a_damaged_file_is_refused_with_the_offset(tmp_path: Path) -> None:
    path = tmp_path / "a.rec"
    recorded(*LAUNCHES[0]).save_recording(path)
    good = path.read_bytes()
    rng = random.Random(3)
    for _ in range(60):
        bad = bytearray(good)
        at = rng.randrange(len(bad))
        bad[at] ^= 1 << rng.randrange(8)
        path.write_bytes(bad if rng.randrange(2) else good[:at])
        with pytest.raises(RecordFileError, match=r"a\.rec at offset \d+: "):
            Session().restore_recording(path)
    path.write_bytes(good)
    Session().restore_recording(path)


@pytest.mark.parametrize("good, bad", (
    (b"architecture", b"architectura"), (b"gfx90a", b"gfx9\xe7a"), (b"calls", b"cal\xffs"),
    (b"\xa8schedule", b"\xc1schedule"),
))
def test_a_content_with_the_right_checksum_is_refused_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, good: bytes, bad: bytes
) -> None:
    path = tmp_path / "a.rec"
    encode = recording_file_format.msgspec.msgpack.encode
    monkeypatch.setattr(recording_file_format.msgspec.msgpack, "encode", lambda run: encode(run).replace(good, bad))
    recorded(*LAUNCHES[0]).save_recording(path)
    with pytest.raises(RecordFileError, match=r"a\.rec at offset 20: the content is not that of a recording: "):
        Session().restore_recording(path)


def test_another_end_than_was_recorded_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "a.rec"
    recorded(*LAUNCHES[0]).save_recording(path)
    run = recording_file_format.load(path)
    other = recording_file_format.msgspec.structs.replace(run, digest=bytes(32))
    recording_file_format.save(other, path)
    session = Session()
    session.restore_recording(path)
    with pytest.raises(Exception, match="not what it was"):
        session.time.go_to(run.end)


@pytest.mark.parametrize("way", ("while it is written", "at the end"))
def test_a_full_disk_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str) -> None:
    session = recorded(*LAUNCHES[0])
    path = tmp_path / "a.rec"
    session.save_recording(path)
    before, position = path.read_bytes(), session.time.position

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    if way == "at the end":
        monkeypatch.setattr(os, "fsync", full)
    else:  # the system takes a part of it
        resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) // 2, limits[1]))
    try:
        with pytest.raises(RecordFileError, match=r"a\.rec: cannot be written: (No space left|File too large)"):
            session.save_recording(path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["a.rec"]
    session.time.stepi()
    assert session.time.position < position
