"""Attacks on the translation cache: only entries that this user stored are trusted; nothing crashes or hangs."""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import resource
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from rocdbg.sim.engine import private_folder, translation_cache
from rocdbg.sim.engine.translation_cache import (
    ObjectCache,
    default_cache_directory,
    open_cache,
    size_limit,
    take_warnings,
)

KEY, OTHER = (hashlib.sha256(name).hexdigest() for name in (b"key", b"other"))
NOTE, CODE = b'{"counts": [1]}', bytes(range(256)) * 4


class Place:
    """The folders of a user."""

    def __init__(self, root: Path) -> None:
        self.cache, self.state = root / "cache", root / "state"
        self.secret = self.state / "rocdbg" / "cache-key"
        self.objects, self.new = self.cache / "objects", self.cache / "objects" / "new"
        self.shard = self.objects / KEY[:2]
        self.entry = self.shard / KEY[2:]
        self.other = self.objects / OTHER[:2] / OTHER[2:]

    def change(self, change: Callable[[bytearray], object]) -> None:
        data = bytearray(self.entry.read_bytes())
        change(data)
        self.entry.write_bytes(data)

    def instead(self, path: Path, make: Callable[[Path], object]) -> None:
        """Another object in place of a file or folder."""
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()
        make(path)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    place = Place(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(place.state))
    monkeypatch.delenv("ROCDBG_CACHE_SIZE", raising=False)
    take_warnings()
    monkeypatch.setattr(translation_cache, "_said", {})
    cache = ObjectCache(place.cache)
    cache.write(KEY, NOTE, CODE)
    cache.write(OTHER, b"other note", b"other code")
    assert cache.read(KEY) == (NOTE, CODE)
    yield place
    for path in (place.cache, place.objects, place.shard):
        if path.is_dir():
            path.chmod(0o700)


def sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(1 << 40)


def unix_socket(path: Path) -> None:
    here = Path.cwd()
    os.chdir(path.parent)  # names of sockets are short
    try:
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind(path.name)
    finally:
        os.chdir(here)


def plain_digest(place: Place) -> None:
    """An entry of version 0.1.0, whose digest anyone can compute."""
    body = len(NOTE).to_bytes(4, "little") + NOTE + b"evil"
    place.entry.write_bytes(b"rocdbg-object-1\n" + hashlib.sha256(body).digest() + body)


def foreign_secret(place: Place) -> None:
    """Another user's entries, copied with everything else in the folder."""
    theirs = Place(place.cache.parent / "theirs")
    os.environ["XDG_STATE_HOME"] = str(theirs.state)
    ObjectCache(theirs.cache).write(KEY, NOTE, b"evil")
    os.environ["XDG_STATE_HOME"] = str(place.state)
    shutil.rmtree(place.cache)
    shutil.copytree(theirs.cache, place.cache)


def swapped(place: Place) -> None:
    mine, other = place.entry.read_bytes(), place.other.read_bytes()
    place.entry.write_bytes(other)
    place.other.write_bytes(mine)


def moved_boundary(place: Place) -> None:
    """The end of the note is counted as part of the code."""
    place.change(lambda d: d.__setitem__(slice(48, 52), (len(NOTE) - 1).to_bytes(4, "little")))


def resized_lengths(place: Place) -> None:
    place.change(lambda d: d.__setitem__(slice(48, 60), b"\xff" * 12))


@dataclass(frozen=True)
class Attack:
    """``read``: the entry is still read, with its stored contents. ``heals``: storing it again works."""

    id: str
    do: Callable[[Place], object]
    read: bool = False
    heals: bool = True
    warning: str = ""


ATTACKS = [
    Attack("nothing", lambda p: None, read=True),
    # -- an entry
    Attack("empty", lambda p: p.entry.write_bytes(b"")),
    Attack("one byte", lambda p: p.entry.write_bytes(b"r")),
    Attack("half", lambda p: p.change(lambda d: d.__delitem__(slice(len(d) // 2, None)))),
    Attack("header only", lambda p: p.change(lambda d: d.__delitem__(slice(60, None)))),
    Attack("last byte cut", lambda p: p.change(lambda d: d.pop())),
    Attack("a byte more", lambda p: p.change(lambda d: d.append(0))),
    Attack("twice", lambda p: p.change(lambda d: d.extend(d))),
    Attack("zeros", lambda p: p.change(lambda d: d.__setitem__(slice(None), bytes(len(d))))),
    Attack("digest of zeros", lambda p: p.change(lambda d: d.__setitem__(slice(16, 48), bytes(32)))),
    Attack("code replaced", lambda p: p.change(lambda d: d.__setitem__(slice(-4, None), b"evil"))),
    Attack("note and code parted elsewhere", moved_boundary),
    Attack("endless lengths", resized_lengths),
    Attack("plain digest of 0.1.0", plain_digest),
    Attack("another key's entry", lambda p: p.entry.write_bytes(p.other.read_bytes())),
    Attack("two entries swapped", swapped),
    Attack("all files of another user's cache", foreign_secret),
    Attack("hard link to another entry", lambda p: p.instead(p.entry, lambda e: e.hardlink_to(p.other))),
    Attack("hard link from elsewhere", lambda p: (p.cache / "link").hardlink_to(p.entry), read=True),
    Attack("link to itself", lambda p: p.instead(p.entry, lambda e: e.symlink_to(e))),
    Attack("link to nothing", lambda p: p.instead(p.entry, lambda e: e.symlink_to("/nowhere"))),
    Attack("link to a copy", lambda p: (shutil.copy(p.entry, p.cache / "copy"),
                                        p.instead(p.entry, lambda e: e.symlink_to(p.cache / "copy")))),
    Attack("link to /dev/zero", lambda p: p.instead(p.entry, lambda e: e.symlink_to("/dev/zero"))),
    Attack("link to /dev/tty", lambda p: p.instead(p.entry, lambda e: e.symlink_to("/dev/tty"))),
    Attack("FIFO", lambda p: p.instead(p.entry, os.mkfifo)),
    Attack("socket", lambda p: p.instead(p.entry, unix_socket)),
    Attack("folder", lambda p: p.instead(p.entry, Path.mkdir), heals=False),
    Attack("a terabyte of holes", lambda p: p.instead(p.entry, sparse)),
    Attack("from the future", lambda p: os.utime(p.entry, (2**33, 2**33)), read=True),
    Attack("from 1970", lambda p: os.utime(p.entry, (0, 0)), read=True),
    # -- folders
    Attack("shard gone", lambda p: shutil.rmtree(p.shard)),
    Attack("shard is a file", lambda p: p.instead(p.shard, Path.touch), heals=False),
    Attack("shard is a link to a copy", lambda p: (shutil.copytree(p.shard, p.cache / "copy"),
                                   p.instead(p.shard, lambda s: s.symlink_to(p.cache / "copy"))), heals=False),
    Attack("shard for everybody", lambda p: p.shard.chmod(0o777), heals=False),
    Attack("shard readable by others", lambda p: p.shard.chmod(0o755), read=True),
    Attack("objects gone", lambda p: shutil.rmtree(p.objects)),
    Attack("objects is a link", lambda p: p.instead(p.objects, lambda o: o.symlink_to("/tmp")), heals=False),
    Attack("objects for everybody", lambda p: p.objects.chmod(0o777), heals=False, warning="it is writable by others"),
    Attack("cache gone", lambda p: shutil.rmtree(p.cache)),
    Attack("cache for everybody", lambda p: p.cache.chmod(0o777), heals=False, warning="it is writable by others"),
    Attack("cache for the group", lambda p: p.cache.chmod(0o770), heals=False, warning="it is writable by others"),
    Attack("cache in a folder for everybody", lambda p: p.cache.parent.chmod(0o777), heals=False,
           warning="other users can write to"),
    Attack("cache in a folder such as /tmp", lambda p: p.cache.parent.chmod(0o1777), read=True),
    Attack("cache is a link of mine", lambda p: (p.cache.rename(p.cache.parent / "there"),
                                                 p.cache.symlink_to(p.cache.parent / "there")), read=True),
    Attack("cache is a link to itself", lambda p: p.instead(p.cache, lambda c: c.symlink_to(c)), heals=False),
    Attack("cache is a file", lambda p: p.instead(p.cache, Path.touch), heals=False),
    Attack("cache is a FIFO", lambda p: p.instead(p.cache, os.mkfifo), heals=False),
    Attack("new is a file", lambda p: p.instead(p.new, Path.touch), read=True, heals=False),
    Attack("new is a link", lambda p: p.instead(p.new, lambda n: n.symlink_to("/tmp")), read=True, heals=False),
    # -- the key
    Attack("key gone", lambda p: p.secret.unlink()),
    Attack("key empty", lambda p: p.secret.write_bytes(b"")),
    Attack("key short", lambda p: p.secret.write_bytes(bytes(31))),
    Attack("key long", lambda p: p.secret.write_bytes(bytes(33))),
    Attack("key of zeros", lambda p: p.secret.write_bytes(bytes(32))),
    Attack("key that others can read", lambda p: p.secret.chmod(0o644)),
    Attack("key that others can write", lambda p: p.secret.chmod(0o602)),
    Attack("key is a FIFO", lambda p: p.instead(p.secret, os.mkfifo)),
    Attack("key is a link to it", lambda p: (p.secret.rename(p.state / "key"),
                                             p.secret.symlink_to(p.state / "key"))),
    Attack("key is a link to /dev/zero", lambda p: p.instead(p.secret, lambda k: k.symlink_to("/dev/zero"))),
    Attack("key is a folder", lambda p: p.instead(p.secret, Path.mkdir)),
    Attack("key is endless", lambda p: p.instead(p.secret, sparse)),
    Attack("folder of the key for everybody", lambda p: p.secret.parent.chmod(0o777)),
    Attack("folder of the key is a file", lambda p: p.instead(p.secret.parent, Path.touch)),
]


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.id)
def test_attack(attack: Attack, place: Place) -> None:
    attack.do(place)
    started = time.monotonic()
    cache = open_cache(place.cache)
    found = cache.read(KEY) if cache is not None else None
    assert found == ((NOTE, CODE) if attack.read else None)
    if cache is not None:
        cache.write(KEY, NOTE, b"again")
        found = cache.read(KEY)
    assert found == ((NOTE, b"again") if attack.heals else (NOTE, CODE) if attack.read else None)
    again = open_cache(place.cache)
    assert (again.read(KEY) if again is not None else None) == found
    assert time.monotonic() - started < 60
    warnings = take_warnings()
    assert [attack.warning in text for text in warnings] == [True] * bool(attack.warning)
    assert take_warnings() == []


def test_every_flipped_bit_is_noticed(place: Place) -> None:
    cache = ObjectCache(place.cache)
    cache.write(KEY, b"note", b"code")
    good = place.entry.read_bytes()
    for position in range(len(good)):
        place.change(lambda data, at=position: data.__setitem__(at, data[at] ^ 1 << at % 8))  # type: ignore[misc]
        assert cache.read(KEY) is None
        place.entry.write_bytes(good)
    assert cache.read(KEY) == (b"note", b"code")


def test_every_truncation_is_noticed(place: Place) -> None:
    cache = ObjectCache(place.cache)
    cache.write(KEY, b"note", b"code")
    good = place.entry.read_bytes()
    for size in range(len(good)):
        place.entry.write_bytes(good[:size])
        assert cache.read(KEY) is None


def test_folders_of_another_user_are_not_used(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    user = os.geteuid() + 1
    monkeypatch.setattr(os, "geteuid", lambda: user)
    assert open_cache(place.cache) is None
    assert take_warnings() == [f"not using the translation cache {place.cache}: it belongs to another user"]
    assert open_cache(place.cache) is None
    assert take_warnings() == []


def test_warnings_send_no_control_sequences(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(translation_cache, "_said", {})
    folder = tmp_path / "a\x1b[2Jb\nc\udcff"
    folder.mkdir()
    folder.chmod(0o777)
    assert open_cache(folder) is None
    (text,) = take_warnings()
    assert text.endswith(r"a\033[2Jb\012c\156377: it is writable by others")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
@pytest.mark.parametrize("what", ["cache", "home", "link", "objects", "shard", "secret"])
def test_what_another_user_has_made(what: str, place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """Root with another user's home creates nothing there either."""
    folder, readable, told = place.cache, False, ""
    if what in ("cache", "objects"):
        os.chown(getattr(place, what), 12345, 12345)
        told = "it belongs to another user"
    elif what == "home":
        home = place.cache.parent / "home"
        home.mkdir()
        os.chown(home, 12345, 12345)
        folder, told = home / ".cache" / "rocdbg", "it is in a directory of another user"
    elif what == "link":
        folder = place.cache.parent / "link"
        folder.symlink_to(place.cache)
        os.chown(folder, 12345, 12345, follow_symlinks=False)
        told = "is a link that another user made"
    elif what == "shard":
        os.chown(place.shard, 12345, 12345)
    else:
        os.chown(place.secret, 12345, 12345)  # a new key: nothing stored before is believed
    cache = open_cache(folder)
    assert (cache is None) is bool(told)
    assert cache is None or (cache.read(KEY) is not None) is readable
    assert [told in text for text in take_warnings()] == [True] * bool(told)
    assert not (place.cache.parent / "home" / ".cache").exists()


# -- while it runs --------------------


@pytest.mark.parametrize("gone", ["cache", "objects", "shard", "new", "secret", "state"])
def test_what_goes_while_it_runs(gone: str, place: Place) -> None:
    cache = ObjectCache(place.cache)
    cache.write(OTHER, NOTE, CODE)
    path: Path = getattr(place, gone)
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    assert cache.read(KEY) in (None, (NOTE, CODE))
    cache.write(KEY, NOTE, b"new")
    assert cache.read(KEY) in (None, (NOTE, CODE), (NOTE, b"new"))
    fresh = ObjectCache(place.cache)
    fresh.write(KEY, NOTE, b"newer")
    assert fresh.read(KEY) == (NOTE, b"newer")


def test_an_exchanged_key_ends_belief_in_what_was_stored(place: Place) -> None:
    cache = ObjectCache(place.cache)
    place.secret.unlink()
    fresh = ObjectCache(place.cache)
    assert fresh.read(KEY) is None
    fresh.write(KEY, NOTE, b"theirs")
    assert cache.read(KEY) is None


CALLS = ["open", "write", "replace", "mkdir", "fstat", "utime", "close", "unlink", "scandir", "read", "fchmod"]


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EROFS, errno.EACCES, errno.EIO, errno.ESTALE, errno.EMFILE])
@pytest.mark.parametrize("call", CALLS)
def test_a_call_that_fails(call: str, code: int, place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each call that storing makes fails in turn, and all later calls with it."""
    real: Any = getattr(os, call)
    for nth in range(12):
        calls = 0

        def failing(*arguments: Any, nth: int = nth, **options: Any) -> Any:
            nonlocal calls
            calls += 1
            result = real(*arguments, **options) if calls <= nth or call == "close" else None
            if calls > nth:
                raise OSError(code, os.strerror(code))
            return result

        with monkeypatch.context() as patch:
            patch.setattr(private_folder.os, call, failing)
            cache = open_cache(place.cache)
            if cache is not None:
                cache.write(KEY, NOTE, CODE)
                assert cache.read(KEY) in (None, (NOTE, CODE))
        del cache
    cache = ObjectCache(place.cache)
    cache.write(KEY, NOTE, CODE)
    assert cache.read(KEY) == (NOTE, CODE)
    if call != "unlink":
        assert list(place.new.iterdir()) == []


def test_no_room_for_a_file(place: Place) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    cache = ObjectCache(place.cache)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, hard))
    try:
        cache.write(KEY, NOTE, b"x" * 5000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert cache.read(KEY) == (NOTE, CODE)
    assert list(place.new.iterdir()) == []


KILLED = """
import os, sys
from pathlib import Path
from rocdbg.sim.engine import translation_cache
os.replace = lambda *arguments, **options: os.kill(os.getpid(), 9)
translation_cache.ObjectCache(Path(sys.argv[1])).write("ab" * 32, b"note", b"code")
"""
WRITER = """
import sys
from pathlib import Path
from rocdbg.sim.engine.translation_cache import ObjectCache
cache = ObjectCache(Path(sys.argv[1]))
for n in range(60):
    cache.write("ab" * 32, b"note", b"code" * 1000)
    found = cache.read("ab" * 32)
    assert found in (None, (b"note", b"code" * 1000)), found
"""


def test_what_a_killed_process_left_is_removed(place: Place) -> None:
    done = subprocess.run([sys.executable, "-c", KILLED, str(place.cache)], check=False)
    assert done.returncode == -9
    assert len(list(place.new.iterdir())) == 1
    os.mkfifo(place.new / "fifo")
    (place.new / "link").symlink_to("/nowhere")
    ObjectCache(place.cache).write(KEY, NOTE, CODE)
    assert list(place.new.iterdir()) == []


def test_what_another_process_writes_is_left_alone(place: Place) -> None:
    fresh, old = place.new / "fresh", place.new / "old"
    with fresh.open("wb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        old.touch()
        os.utime(fresh, (0, 0))
        ObjectCache(place.cache).write(KEY, NOTE, CODE)
        assert [path.name for path in place.new.iterdir()] == ["fresh"]


def test_without_locks_age_tells(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_locks(*arguments: object) -> None:
        raise OSError(errno.ENOLCK, "no locks")

    monkeypatch.setattr(fcntl, "flock", no_locks)
    for name in ("fresh", "old"):
        (place.new / name).touch()
    os.utime(place.new / "old", (0, 0))
    ObjectCache(place.cache).write(KEY, NOTE, b"without locks")
    assert ObjectCache(place.cache).read(KEY) == (NOTE, b"without locks")
    assert [path.name for path in place.new.iterdir()] == ["fresh"]


def test_processes_that_begin_at_once(place: Place) -> None:
    """All processes make the key and write the same entry."""
    shutil.rmtree(place.cache)
    shutil.rmtree(place.state)
    command = [sys.executable, "-c", WRITER, str(place.cache)]
    running = [subprocess.Popen(command) for _ in range(6)]
    assert [process.wait(60) for process in running] == [0] * 6
    cache = ObjectCache(place.cache)
    assert cache.read("ab" * 32) in (None, (b"note", b"code" * 1000))
    assert list(place.new.iterdir()) == []
    assert [path.name for path in place.secret.parent.iterdir()] == ["cache-key"]


def test_modes(place: Place) -> None:
    """No other user can read or write anything, regardless of the umask."""
    shutil.rmtree(place.cache)
    shutil.rmtree(place.state)
    before = os.umask(0)
    try:
        ObjectCache(place.cache).write(KEY, NOTE, CODE)
    finally:
        os.umask(before)
    made = [place.cache, place.state, *place.cache.rglob("*"), *place.state.rglob("*")]
    assert {(path.is_dir(), path.stat().st_mode & 0o777) for path in made} == {(True, 0o700), (False, 0o600)}


# -- the limit --------------------


def stored(cache: Path) -> int:
    return sum(path.stat().st_size for path in cache.rglob("*") if path.is_file())


def test_the_least_recently_used_entries_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    limit, now = 1 << 20, time.time()
    keys = [hashlib.sha256(b"%d" % n).hexdigest() for n in range(80)]
    cache = ObjectCache(tmp_path / "cache", limit)
    for n, key in enumerate(keys[:40]):
        cache.write(key, b"", bytes(20_000))
        path = tmp_path / "cache" / "objects" / key[:2] / key[2:]
        os.utime(path, (now - 9000 + n, now - 9000 + n))
    assert cache.read(keys[3]) is not None  # used again just now
    for n, key in enumerate(keys[40:]):
        (cache if n % 2 else ObjectCache(tmp_path / "cache", limit)).write(key, b"", bytes(20_000))
        assert stored(tmp_path / "cache") <= limit
    left = [n for n, key in enumerate(keys) if cache.read(key) is not None]
    assert left[0] == 3
    assert left[1:] == list(range(left[1], 80))
    assert len(left) > 30


def test_what_lies_behind_links_is_not_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    cache = ObjectCache(tmp_path / "cache", 1 << 20)
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / ("a" * 62)).write_bytes(bytes(1 << 20))
    os.utime(mine / ("a" * 62), (0, 0))
    (tmp_path / "cache" / "objects" / "00").symlink_to(mine)
    for n in range(80):
        cache.write(hashlib.sha256(b"%d" % n).hexdigest(), b"", bytes(20_000))
    assert (mine / ("a" * 62)).exists()


@pytest.mark.parametrize(
    ("size", "limit"),
    [("", 1 << 30), ("0", 0), ("500", 500), ("64k", 1 << 16), ("500M", 500 << 20), ("2G", 2 << 30), ("-1", None),
     ("1T", None), ("many", None), ("9" * 5000, None), ("٣", None)],
)
def test_size_limit(size: str, limit: int | None, place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROCDBG_CACHE_SIZE", size)
    assert size_limit() == limit
    assert (open_cache(place.cache) is None) == (not limit)
    assert len(take_warnings()) == (limit is None)


# -- where it is --------------------


@pytest.mark.parametrize(
    ("variables", "expected", "warned"),
    [
        ({"ROCDBG_CACHE_DIR": "/a/b"}, "/a/b", False),
        ({"ROCDBG_CACHE_DIR": "/a/b", "XDG_CACHE_HOME": "/c"}, "/a/b", False),
        ({"ROCDBG_CACHE_DIR": "a/b"}, None, True),
        ({"ROCDBG_CACHE_DIR": "~/b"}, None, True),
        ({"ROCDBG_CACHE_DIR": ""}, "/home/me/.cache/rocdbg", False),
        ({"XDG_CACHE_HOME": "/c"}, "/c/rocdbg", False),
        ({"XDG_CACHE_HOME": "c"}, "/home/me/.cache/rocdbg", False),
        ({"XDG_CACHE_HOME": "."}, "/home/me/.cache/rocdbg", False),
        ({"XDG_CACHE_HOME": ""}, "/home/me/.cache/rocdbg", False),
        ({"HOME": "me"}, None, False),
        ({"HOME": ""}, None, False),
    ],
)
def test_place(
    variables: dict[str, str], expected: str | None, warned: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(translation_cache, "_said", {})
    for name in ("ROCDBG_CACHE_DIR", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", "/home/me")
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert default_cache_directory() == (Path(expected) if expected else None)
    assert len(take_warnings()) == warned


def test_without_a_place_for_state_the_key_is_with_the_entries(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    ObjectCache(tmp_path / "cache").write(KEY, NOTE, CODE)
    assert ObjectCache(tmp_path / "cache").read(KEY) == (NOTE, CODE)
    assert (tmp_path / "cache" / "objects" / "cache-key").stat().st_mode & 0o777 == 0o600
