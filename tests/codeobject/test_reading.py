"""Reading bytes from other producers: text, string tables, YAML, MsgPack, regular files."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import msgpack
import pytest
import yaml

from rocdbg.codeobject import CodeObjectError
from rocdbg.codeobject.bounded_reader import Source
from rocdbg.codeobject.msgpack_reader import MsgPackDamage, read_msgpack
from rocdbg.codeobject.string_table import StringTable
from rocdbg.codeobject.yaml_reader import YamlDamage, read_yaml
from rocdbg.errors import Error, remembered
from rocdbg.regular_file import FileAccessError, open_regular, read_regular
from rocdbg.text import decode_lines, decode_text, near_names, raw_text

TEXTS = [
    (b"plain", "plain"),
    ("caf\u00e9".encode(), "caf\u00e9"),
    (b"caf\xe9", r"caf\xe9"),
    (b"\x1b[2J", r"\x1b[2J"),
    (b"a\nb\tc\rd\0", r"a\nb\tc\rd\x00"),
    ("\u2028\u202e\x85".encode(), r"\u2028\u202e\u0085"),
    ("\U000e0001".encode(), r"\U000e0001"),
    (b"\xed\xa0\x80", r"\xed\xa0\x80"),
]


@pytest.mark.parametrize(("data", "text"), TEXTS)
def test_text_is_printable(data: bytes, text: str) -> None:
    assert decode_text(data) == text
    assert text.isprintable() and text.encode()


def test_lines_keep_their_ends() -> None:
    assert decode_lines(b"a\n\tb\xe9\n") == "a\n\tb\\xe9\n"


def test_a_path_with_other_bytes_is_found_again(tmp_path: Path) -> None:
    path = os.fsencode(tmp_path) + b"/caf\xe9"
    with open(path, "w", encoding="utf-8"):  # noqa: PTH123  (a path of bytes)
        pass
    assert Path(raw_text(decode_text(path))).exists()
    assert raw_text("plain") == "plain"


def test_near_names_leaves_out_what_takes_long() -> None:
    assert near_names("saxpi", ["x", "saxpy"]) == ["saxpy"]
    assert near_names("s" * 10_000, ["s" * 10_000]) == []
    assert near_names("saxpi", ["saxpy" * 1000]) == []


@pytest.mark.parametrize(
    "text",
    ["a: 1\nb: [x, {c: d}]\n", "- - a\n  - b\n- {}\n",
     "'it''s': \"x\\n\"\n", "", "plain", "a:\nb: ~\n", "a: |\n  x\n  y\n"],
)
def test_yaml_is_as_the_library_reads_it(text: str) -> None:
    assert read_yaml(text) == yaml.load(text, Loader=yaml.BaseLoader)


@pytest.mark.parametrize(
    ("text", "reason"),
    [("[" * 100, "is nested more than"), ("&a [*a]", "an alias"), ("{a", "while parsing"),
     ("a\n---\nb", "more than one"), ("? {}\n", "key")],
)
def test_yaml_that_is_refused(text: str, reason: str) -> None:
    with pytest.raises(YamlDamage, match=reason):
        read_yaml(text)


VALUES = [
    None, True, 5, -5, 1 << 40, 1.5, "text", "t" * 70_000, b"bytes", [1] * 20, [1] * 70_000, {"a": [{"b": []}]},
    {str(n): n for n in range(70_000)}, [0xDCFF, 0xDDFFFFFFFF], ["\u0700" * 100],
]


@pytest.mark.parametrize("value", VALUES, ids=range(len(VALUES)))
def test_msgpack_is_as_the_library_reads_it(value: object) -> None:
    assert read_msgpack(msgpack.packb(value)) == value


@pytest.mark.parametrize(
    "data",
    [b"", b"\x91", b"\xdd\xff\xff\xff\xff", b"\xdc\xff\xff" * 500, b"\xc1", b"\x91" * 5000,
     b"\x81\x80\x01", b"\xdc\xff\xff\xc1",
     b"\xdc\xff\xff\xc7\xff\x00", b"\xdc\xff\xff\xd8"],
)
def test_msgpack_that_is_refused(data: bytes) -> None:
    with pytest.raises(MsgPackDamage):
        read_msgpack(data)


def test_names_may_share_their_ends_but_not_without_end() -> None:
    table = StringTable(Source("x", b""), ".strtab", b"\0my_kernel\0")
    table.check([1, 4])
    assert (table.get(1), table.get(4), table.get(99)) == ("my_kernel", "kernel", None)
    long = StringTable(Source("x", b""), ".strtab", b"n" * 100_000 + b"\0")
    with pytest.raises(CodeObjectError, match="overlap"):
        long.check(range(100_000))


def test_only_regular_files_are_opened(tmp_path: Path) -> None:
    file, pipe, place = tmp_path / "file", tmp_path / "pipe", tmp_path / "socket"
    file.write_bytes(b"12345")
    os.mkfifo(pipe)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(place))
        for path in (pipe, place, tmp_path, Path("/dev/zero")):
            with pytest.raises(FileAccessError, match="is not a regular file"):
                open_regular(path, 100)
    assert read_regular(file, 5) == b"12345"
    with pytest.raises(FileAccessError, match="5 bytes, the limit is 4"):
        read_regular(file, 4)
    for bad in ("a\0b", "x" * 100_000, str(tmp_path / "missing"), "\ud800"):
        with pytest.raises(FileAccessError):
            open_regular(bad, 100)


def test_a_file_of_ten_gigabytes_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "large"
    with path.open("wb") as file:
        file.truncate(10 << 30)
    with pytest.raises(FileAccessError, match="10737418240 bytes"):
        read_regular(path, 1 << 20)


def test_errors_are_remembered() -> None:
    class Reader:
        calls = 0

        @remembered
        def fails(self) -> int:
            self.calls += 1
            raise Error("damaged")

        @remembered
        def works(self) -> int:
            self.calls += 1
            return 5

    reader = Reader()
    for _ in range(3):
        with pytest.raises(Error, match="damaged"):
            _ = reader.fails
    assert (reader.works, reader.works, reader.calls) == (5, 5, 2)
