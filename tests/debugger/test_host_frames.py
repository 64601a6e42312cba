"""Frames of host code from return addresses: a C library in this process, whose frames addr2line names too."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from rocdbg.debugger.target.host_frames import HostFrame, HostModules

SOURCE = """#include <execinfo.h>
int collect(void **frames) { return backtrace(frames, 20); }
static inline __attribute__((always_inline)) int middle(void **frames, int more) {
  int count = collect(frames);
  return count + more;
}
int outer(void **frames) {
  int count = middle(frames, 0);
  return count + 0;
}
"""
pytestmark = pytest.mark.skipif(
    shutil.which("cc") is None or shutil.which("addr2line") is None, reason="needs a C compiler and addr2line"
)


def frames_in(library: Path) -> list[HostFrame]:
    """The frames of a call of ``outer`` that are in the library."""
    room = (ctypes.c_void_p * 20)()
    count = ctypes.CDLL(str(library)).outer(room)
    start, end, _ = code_of(library)  # Python's own frames take long to read
    return HostModules(os.getpid()).frames([each for each in room[:count] if each and start <= each < end])


def code_of(library: Path) -> tuple[int, int, int]:
    """The address at which the library's code is mapped, and the offset of that code in the file."""
    for line in Path("/proc/self/maps").read_text().splitlines():
        bounds, access, offset, _, _, *path = line.split(maxsplit=5)
        if path == [str(library)] and "x" in access:
            start, end = (int(word, 16) for word in bounds.split("-"))
            return start, end, int(offset, 16)
    raise AssertionError("the library is not loaded")


def build(folder: Path, *options: str) -> Path:
    library = folder / "frames.so"
    (folder / "frames.c").write_text(SOURCE)
    command = ["cc", "-O1", "-fno-optimize-sibling-calls", "-fPIC", "-shared", *options, "frames.c", "-o", library.name]
    subprocess.run(command, check=True, cwd=folder)
    return library


def test_inlined_calls_are_frames(tmp_path: Path) -> None:
    library = build(tmp_path, "-g")
    found = frames_in(library)
    assert [(frame.function, frame.parameters, frame.line) for frame in found] == [
        ("collect", True, 2), ("middle", True, 4), ("outer", True, 8),
    ]  # fmt: skip
    assert {frame.file for frame in found} == {"frames.c"}
    assert [frame.address is None for frame in found] == [False, False, True], "an inlined call's caller has none"
    start, _, offset = code_of(library)
    base = start - offset
    for frame in found[:2]:
        assert frame.address is not None
        place = f"{frame.address - base - 1:#x}"
        said = subprocess.run(["addr2line", "-f", "-e", library, place], capture_output=True, text=True, check=True)
        function, where = said.stdout.split("\n")[:2]
        assert (function, where.split()[0]) == (frame.function, f"{tmp_path}/frames.c:{frame.line}")


def test_symbols_are_used_where_there_is_no_more(tmp_path: Path) -> None:
    found = frames_in(build(tmp_path))
    assert [(frame.function, frame.line) for frame in found] == [("collect", None), ("outer", None)]
    stripped = tmp_path / "stripped"
    stripped.mkdir()
    found = frames_in(build(stripped, "-s"))
    assert [frame.function for frame in found] == ["collect", "outer"], "the dynamic symbols are left"


def test_addresses_of_nothing() -> None:
    modules = HostModules(os.getpid())
    for address in (0, 1, 1 << 63, (1 << 64) - 1):
        assert modules.frames([address]) == [HostFrame(address, None, False, None, None, "")]
    assert HostModules(1 << 30).frames([4096])[0].function is None


def test_damaged_files(tmp_path: Path) -> None:
    """A file that has changed since it was mapped: frames without names, and no errors."""
    library = build(tmp_path, "-g")
    room = (ctypes.c_void_p * 20)()
    count = ctypes.CDLL(str(library)).outer(room)
    data = library.read_bytes()
    start, end, _ = code_of(library)
    inside = [address for address in room[:count] if address and start <= address < end]
    library.unlink()  # the mapping keeps the old file
    maps = Path("/proc/self/maps").read_text()
    assert f"{library} (deleted)" in maps
    for size in (0, 40, 64, 1000, len(data) // 2):
        Path(f"{library} (deleted)").write_bytes(data[:size])
        assert len(HostModules(os.getpid()).frames(inside)) >= len(inside) == 2
