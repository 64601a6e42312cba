"""Code object URIs."""

from __future__ import annotations

import ctypes
import mmap
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocdbg.codeobject import CodeObjectError, FileUri, MemoryUri, UriError, open_file, parse_uri
from rocdbg.debugger import Session

DEMO = Path(__file__).resolve().parents[2] / "demo_kernels" / "saxpy" / "saxpy.O0.gfx90a.co"


@pytest.mark.parametrize(
    ("text", "parsed", "canonical"),
    [
        ("file:///dir1/dir2/file1", FileUri("/dir1/dir2/file1"), None),
        (
            "file:///dir3/dir4/file2#offset=0x2000&size=3000",
            FileUri("/dir3/dir4/file2", 0x2000, 3000),
            "file:///dir3/dir4/file2#offset=8192&size=3000",
        ),
        ("file:///a?offset=010&size=0", FileUri("/a", 8, 0), "file:///a#offset=8&size=0"),
        ("memory://1234#offset=0x20000&size=3000", MemoryUri(1234, 0x20000, 3000), None),
        ("file:///a%20b%23%3F%25", FileUri("/a b#?%"), None),
        ("file:///%C3%A9t%C3%A9", FileUri("/été"), None),
        ("file:///a%2db~c", FileUri("/a-b~c"), "file:///a-b~c"),
    ],
)
def test_parse_and_format(text: str, parsed: FileUri | MemoryUri, canonical: str | None) -> None:
    assert parse_uri(text) == parsed
    assert str(parsed) == (canonical or text)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("http://x", "expected file://PATH or memory://PID"),
        ("file://", "the path is missing"),
        ("file:///a#offset=1", 'expected offset=N&size=M, not "offset=1"'),
        ("file:///a#size=1&offset=2", 'expected offset=N&size=M, not "size=1&offset=2"'),
        ("file:///a#offset=08&size=1", 'bad number "08"'),
        ("file:///a#offset=0x&size=1", 'bad number "0x"'),
        ("file:///a#offset=99999999999999999999&size=1", 'bad number "99999999999999999999"'),
        ("file:///a%2", 'bad escape "%"'),
        ("file:///a%zz", 'bad escape "%zz"'),
        ("memory://12", "a memory URI needs #offset=N&size=M"),
        ("memory://x#offset=1&size=1", 'the process id "x" is not a decimal number'),
    ],
)
def test_bad(text: str, reason: str) -> None:
    with pytest.raises(UriError) as caught:
        parse_uri(text)
    assert str(caught.value) == f'bad code object URI "{text}": {reason}'


@given(
    st.text(min_size=1).filter(lambda s: "\0" not in s), st.none() | st.tuples(*[st.integers(0, 2**63)] * 2)
)
def test_round_trip(path: str, part: tuple[int, int] | None) -> None:
    try:
        path.encode()
    except UnicodeEncodeError:
        return
    uri = FileUri("/" + path, *(part or ()))
    assert parse_uri(str(uri)) == uri


@given(st.text())
def test_any_text_parses_or_is_refused(text: str) -> None:
    for start in ("", "file://", "memory://", "file:///a#"):
        try:
            parse_uri(start + text)
        except UriError:
            continue


def test_a_code_object_in_the_memory_of_a_process() -> None:
    data = DEMO.read_bytes()
    memory = mmap.mmap(-1, len(data) + 64)
    memory[64:] = data
    address = ctypes.addressof(ctypes.c_char.from_buffer(memory)) + 64
    uri = f"memory://{os.getpid()}#offset={address:#x}&size={len(data)}"
    found = open_file(uri)
    assert (bytes(found.source.data), str(found.uri)) == (data, uri)
    assert list(found.kernels) == list(open_file(DEMO).kernels)


UNREADABLE = [
    ("{own}#offset=0x10&size=100", "has no readable memory at 0x10: "),
    ("{own}#offset=0xffffffffffffff00&size=5", "has no readable memory at 0xffffffffffffff00: "),
    ("{own}#offset=0x10&size=0", "the range of the URI has 0 bytes; it must have from 1 to "),
    ("{own}#offset=0x10&size=0xffffffffff", "the range of the URI has 1099511627775 bytes; it must have from 1 to "),
    ("4194999#offset=0x10&size=100", "the memory of process 4194999 cannot be read: No such file or directory"),
]


@pytest.mark.parametrize(("uri", "reason"), UNREADABLE)
def test_memory_that_cannot_be_read(uri: str, reason: str) -> None:
    with pytest.raises(CodeObjectError) as caught:
        open_file("memory://" + uri.format(own=os.getpid()))
    assert reason in str(caught.value)


@pytest.mark.parametrize("make", [Path.as_uri, lambda path: f"{path.as_uri()}#offset=0&size={path.stat().st_size}"])
def test_a_session_loads_what_a_uri_names(make: Callable[[Path], str]) -> None:
    session = Session()
    session.load(make(DEMO))
    program = session.symbols.program
    assert (program.path, session.sources.program_directory) == (DEMO, DEMO.parent)
    assert program.uri.startswith(DEMO.as_uri())
