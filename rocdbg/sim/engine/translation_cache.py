"""The cache of translations on disk: object code under a key that identifies what was translated.

Object code is executed, so an entry must be authentic. It is used only if its digest, made with a secret key of the
user, matches the entry and the key under which it was requested. `docs/cache.md` says what is stored where, and who is
trusted.
"""

from __future__ import annotations

import contextlib
import fcntl
import hmac
import os
import re
import stat
import time
from collections.abc import Callable
from pathlib import Path

from rocdbg.sim.engine.private_folder import (
    FILE_FLAGS,
    UntrustedFolder,
    base_directory,
    close,
    open_private,
    open_private_below,
    read_file,
    write_file,
)

DEFAULT_LIMIT = 1 << 30
"""Bytes that all entries may take together."""

_MAGIC = b"rocdbg-object-2\n"
_DIGEST = 32
_LENGTHS = 12  # of note (4 bytes) and code (8)
_HEAD = len(_MAGIC) + _DIGEST + _LENGTHS
_KEY_SIZE = 32
_KEY_ATTEMPTS = 6
_OBJECTS, _NEW, _KEY = "objects", "new", "cache-key"
_SHARDS = 256
_LARGEST = 16 << 20  # bytes of the largest entry that is read
_GROUP_BYTES = 32 << 20  # shards are cleaned in groups of this size: see `ObjectCache._make_room`
_TOUCH = 3600  # seconds after which another use of an entry is recorded
_OLD = 86400  # seconds after which an unknown file is removed
_SWEEP = 1000  # abandoned files that one process examines
_ENTRY_NAME = re.compile(r"[0-9a-f]{62}")
_SIZE = re.compile(r"([0-9]{1,15})([KMG]?)", re.IGNORECASE)

Entry = tuple[bytes, bytes]
"""A note and object code."""


_said: dict[str, bool] = {}
"""Messages for the user, and whether each was shown. Each is shown once per process, because there is one JIT per
process.
"""


def take_warnings() -> list[str]:
    """Messages about why a cache is not used, if the user can do something about it. Each message is returned only
    once.
    """
    fresh = [text for text, said in _said.items() if not said]
    _said.update(dict.fromkeys(fresh, True))
    return fresh


def default_cache_directory() -> Path | None:
    """Where object code is kept, or None if there is no home directory."""
    if named := os.environ.get("ROCDBG_CACHE_DIR"):
        if Path(named).is_absolute():
            return Path(named)
        _not_using(named, "ROCDBG_CACHE_DIR must be an absolute path")
        return None
    base = base_directory("XDG_CACHE_HOME", ".cache")
    return base / "rocdbg" if base else None


def open_cache(folder: Path | None) -> ObjectCache | None:
    """The cache below a folder, or None if it cannot be used or others could write to it."""
    if folder is None:
        return None
    limit = size_limit()
    if limit is None:
        _not_using(folder, "ROCDBG_CACHE_SIZE must be a size such as 500M or 2G, or 0")
        return None
    if not limit:
        return None
    try:
        return ObjectCache(folder, limit)
    except UntrustedFolder as problem:
        _not_using(folder, str(problem))
    except (OSError, ValueError):  # ValueError: a null byte in the path
        pass
    return None


def size_limit() -> int | None:
    """Bytes that entries may take: ``$ROCDBG_CACHE_SIZE``, a number with an optional K, M or G. None if it is invalid.
    """
    text = os.environ.get("ROCDBG_CACHE_SIZE", "").strip()
    if not text:
        return DEFAULT_LIMIT
    match = _SIZE.fullmatch(text)
    return int(match[1]) << {"": 0, "K": 10, "M": 20, "G": 30}[match[2].upper()] if match else None


def _not_using(folder: Path | str, reason: str) -> None:
    text = f"not using the translation cache {folder}: {reason}"
    _said.setdefault("".join(c if c.isprintable() else f"\\{ord(c):03o}" for c in text), False)


class ObjectCache:
    """The entries below a folder. Errors on disk only cost time.

    Raises UntrustedFolder if others can write to the folder or a folder on its path, OSError if it cannot be used.
    """

    def __init__(self, folder: Path, limit: int = DEFAULT_LIMIT) -> None:
        base = open_private(folder)
        try:
            self._objects = open_private_below(base, _OBJECTS)
        finally:
            close(base)
        self._secret = _secret(self._objects)
        self._groups = max(1, min(_SHARDS, limit // _GROUP_BYTES))
        self._budget = limit // self._groups
        self._used: dict[int, int] = {}
        """What this process knows about the bytes in the groups of shards to which it has written."""
        self._new: int | None = None

    def __del__(self, close: Callable[[int], None] = os.close) -> None:  # when Python exits, globals disappear first
        for folder in (getattr(self, "_objects", None), getattr(self, "_new", None)):
            if folder is not None:
                try:  # noqa: SIM105
                    close(folder)
                except OSError:
                    pass  # lost writes do no harm: readers detect them

    def read(self, key: str) -> Entry | None:
        """The entry of a key (64 hexadecimal digits), None if there is none that can be trusted."""
        try:
            shard = open_private_below(self._objects, key[:2], make=False)
        except (OSError, UntrustedFolder):
            return None
        try:
            found = read_file(shard, key[2:], _LARGEST)
            entry = self._parse(key, found[0]) if found is not None else None
            if found is not None and entry is not None and abs(time.time() - found[1].st_mtime) > _TOUCH:
                # Record the use: the least recently used entries are removed first.
                with contextlib.suppress(OSError):
                    os.utime(key[2:], dir_fd=shard, follow_symlinks=False)
            return entry
        except OSError:
            return None
        finally:
            close(shard)

    def write(self, key: str, note: bytes, code: bytes) -> None:
        """Store an entry, if that is possible."""
        lengths = len(note).to_bytes(4, "little") + len(code).to_bytes(8, "little")
        body = lengths + note + code
        data = _MAGIC + self._digest(key, body) + body
        if len(data) > min(_LARGEST, self._budget // 2):
            return
        try:
            shard = open_private_below(self._objects, key[:2])
            try:
                self._make_room(key, len(data))
                self._store(shard, key[2:], data)
            finally:
                close(shard)
        except (OSError, UntrustedFolder):
            return

    def _digest(self, key: str, body: bytes) -> bytes:
        return hmac.digest(self._secret, b"%s%s\n%s" % (_MAGIC, key.encode(), body), "sha256")

    def _parse(self, key: str, data: bytes) -> Entry | None:
        if len(data) < _HEAD or not data.startswith(_MAGIC):
            return None
        body = data[len(_MAGIC) + _DIGEST :]
        if not hmac.compare_digest(self._digest(key, body), data[len(_MAGIC) : len(_MAGIC) + _DIGEST]):
            return None
        end = _LENGTHS + int.from_bytes(body[:4], "little")
        return body[_LENGTHS:end], body[end:]

    def _store(self, shard: int, name: str, data: bytes) -> None:
        """Write a file under a temporary name and then rename it: readers never see a partial entry."""
        if self._new is None:
            self._new = open_private_below(self._objects, _NEW)
            _sweep(self._new)
        temporary = f"{os.getpid()}-{os.urandom(8).hex()}"
        file = write_file(self._new, temporary, data)
        try:
            # The lock is held while this process writes, because a file without a lock counts as abandoned.
            with contextlib.suppress(OSError):
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.replace(temporary, name, src_dir_fd=self._new, dst_dir_fd=shard)
        except BaseException:
            os.unlink(temporary, dir_fd=self._new)
            raise
        finally:
            close(file)

    # -- the limit --------------------

    def _make_room(self, key: str, size: int) -> None:
        """Make room for a new entry. The limit is divided among groups of shards, which have about equally many entries
        because keys are digests: only a small part of the cache has to be examined."""
        group = int(key[:2], 16) * self._groups // _SHARDS
        used = self._used.get(group)
        if used is None or used + size > self._budget:
            used = self._clean(group, self._budget - size)
        self._used[group] = used + _on_disk(size)

    def _clean(self, group: int, most: int) -> int:
        """Remove entries of a group, least recently used first, if they take more than ``most`` bytes. Returns the
        number of bytes left."""
        now, total = time.time(), 0
        entries: list[tuple[float, int, int, str]] = []
        shards = [n for n in range(_SHARDS) if n * self._groups // _SHARDS == group]
        for shard in shards:
            for name, status in self._files(shard):
                known = _ENTRY_NAME.fullmatch(name) is not None
                age = now - status.st_mtime
                if not known and abs(age) > _OLD:
                    self._remove(shard, name)
                elif known:
                    total += _on_disk(status.st_size)
                    # It is not known when an entry with a time in the future was used: treat it as old.
                    entries.append((age if age > -_TOUCH else _OLD, _on_disk(status.st_size), shard, name))
        if total > most:
            for _, size, shard, name in sorted(entries, reverse=True):
                if total <= most - most // 8:
                    break
                if self._remove(shard, name):
                    total -= size
        return total

    def _files(self, shard: int) -> list[tuple[str, os.stat_result]]:
        """Names and status of the entries of a shard, except folders."""
        try:
            folder = open_private_below(self._objects, f"{shard:02x}", make=False)
        except (OSError, UntrustedFolder):
            return []
        out: list[tuple[str, os.stat_result]] = []
        try:
            with os.scandir(folder) as found:
                for item in found:
                    try:
                        status = item.stat(follow_symlinks=False)
                    except OSError:
                        continue  # removed by another process
                    if not stat.S_ISDIR(status.st_mode):
                        out.append((item.name, status))
        finally:
            close(folder)
        return out

    def _remove(self, shard: int, name: str) -> bool:
        """Remove a file from a shard; returns whether that was possible."""
        try:
            folder = open_private_below(self._objects, f"{shard:02x}", make=False)
        except (OSError, UntrustedFolder):
            return False
        try:
            os.unlink(name, dir_fd=folder)
        except OSError:
            return False
        finally:
            close(folder)
        return True


def _on_disk(size: int) -> int:
    return -(-size // 4096) * 4096


def _sweep(folder: int) -> None:
    """Remove files left behind by processes that died while writing."""
    with os.scandir(folder) as found:
        names = [item.name for _, item in zip(range(_SWEEP), found, strict=False)]
    for name in names:
        with contextlib.suppress(OSError):  # a folder, or removed by another process
            if _abandoned(folder, name):
                os.unlink(name, dir_fd=folder)


def _abandoned(folder: int, name: str) -> bool:
    """Whether no process is writing a file: none holds the lock, or, without locks, the file is old."""
    try:
        file = os.open(name, os.O_RDWR | FILE_FLAGS, dir_fd=folder)
    except OSError:
        return True  # a symbolic link, a socket
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return abs(time.time() - os.fstat(file).st_mtime) > _OLD
    finally:
        close(file)
    return True


# -- the secret key --------------------


def _secret(objects: int) -> bytes:
    """The user's key. It is kept apart from the entries, so that a copied folder of entries brings no key. It is stored
    among them only if there is no place for the user's state. Raises OSError.
    """
    base = base_directory("XDG_STATE_HOME", ".local/state")
    if base is not None:
        try:
            folder = open_private(base / "rocdbg")
        except (OSError, UntrustedFolder):
            pass
        else:
            try:
                return _key_in(folder)
            except OSError:
                pass
            finally:
                close(folder)
    return _key_in(objects)


def _key_in(folder: int) -> bytes:
    """The key in a folder; made if there is no key that only the user can read. Raises OSError."""
    for attempt in range(_KEY_ATTEMPTS):
        try:
            found = read_file(folder, _KEY, _KEY_SIZE)
        except FileNotFoundError:
            with contextlib.suppress(FileExistsError):
                close(write_file(folder, _KEY, os.urandom(_KEY_SIZE)))
            continue
        except OSError:  # a symbolic link, a socket
            found = None
        if found is not None:
            data, status = found
            private = status.st_uid == os.geteuid() and not status.st_mode & 0o077
            if private and len(data) == _KEY_SIZE:
                return data
            if private and attempt < _KEY_ATTEMPTS // 2:
                time.sleep(0.01)  # another process may be about to write it
                continue
        # Others could know the key or have made it. With a new key, nothing that was stored before is trusted.
        with contextlib.suppress(FileNotFoundError):
            os.unlink(_KEY, dir_fd=folder)
    raise OSError("the key of the translation cache cannot be made")


__all__ = [
    "DEFAULT_LIMIT",
    "Entry",
    "ObjectCache",
    "UntrustedFolder",
    "default_cache_directory",
    "open_cache",
    "size_limit",
    "take_warnings",
]
