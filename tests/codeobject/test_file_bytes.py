"""Files that are read in parts: the same bytes as in memory, and no crash if a file becomes shorter meanwhile."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from rocdbg.codeobject import file_bytes as module
from rocdbg.codeobject import open_file
from rocdbg.codeobject.errors import CodeObjectError
from rocdbg.codeobject.file_bytes import FileBytes
from rocdbg.debugger.target.host_frames import HostModules


@pytest.mark.parametrize("window", [1, 7, 64, 1 << 16])
def test_parts_are_those_of_the_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, window: int) -> None:
    monkeypatch.setattr(module, "_WINDOW", window)
    monkeypatch.setattr(module, "_SEARCHED", 5)
    chance = random.Random(window)
    data = bytes(chance.choices(b"ab", k=300))
    path = tmp_path / "file"
    path.write_bytes(data)
    with FileBytes("file", path.open("rb")) as read:
        assert len(read) == len(data)
        assert bytes(read) == data
        for _ in range(300):
            start, stop = chance.randrange(-320, 320), chance.randrange(-320, 320)
            step = chance.choice((1, 1, 1, 2, -1))
            assert read[start:stop:step] == data[start:stop:step]
            index = chance.randrange(-300, 300)
            assert read[index] == data[index]
            wanted = bytes(chance.choices(b"ab", k=chance.randrange(1, 12)))
            low, high = sorted((chance.randrange(320), chance.randrange(320)))
            assert read.find(wanted, low, high) == data.find(wanted, low, high)
        with pytest.raises(IndexError):
            read[300]


def test_what_is_cut_off_cannot_be_read(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(bytes(1 << 18))
    with FileBytes("file", path.open("rb")) as read:
        os.truncate(path, 10)
        assert read[:10] == bytes(10)
        with pytest.raises(CodeObjectError, match="became shorter while it was read"):
            read[: 1 << 17]


def test_a_host_module_that_is_cut_has_no_frames(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When a frame in the module is requested, the module's debug information no longer exists."""
    path = tmp_path / "module.so"
    path.write_bytes(Path("/proc/self/exe").read_bytes())
    modules = HostModules(os.getpid())
    line = f"400000-{0x400000 + path.stat().st_size:x} r-xp 00000000 00:00 0 {path}\n"
    with monkeypatch.context() as patch:
        patch.setattr(Path, "read_text", lambda self, errors=None: line)
        modules.frames([0x400100])
        os.truncate(path, 64)
        found = modules.frames([0x400101, 0x400000 + (1 << 14)])
    assert [frame.module for frame in found] == [str(path)] * 2


def test_an_empty_file_is_said_to_be_one(tmp_path: Path) -> None:
    path = tmp_path / "empty.co"
    path.touch()
    with pytest.raises(CodeObjectError, match="the file is empty"):
        open_file(path)
