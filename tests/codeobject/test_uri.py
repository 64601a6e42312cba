"""Code object URIs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocdbg.codeobject import FileUri, MemoryUri, UriError, parse_uri


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
