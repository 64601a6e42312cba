"""Finds, creates and checks folders that only the user can change, before anything in them is trusted.

A folder is used through a file descriptor that was checked after it was opened, so later changes of its path do not
matter.
"""

from __future__ import annotations

import contextlib
import os
import stat
from pathlib import Path

FILE_FLAGS = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
"""Flags for opening files: do not follow symbolic links, do not wait for a FIFO."""
_FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class UntrustedFolder(Exception):
    """Others could have modified a folder. The message says how, and begins with ``it``."""


def close(descriptor: int) -> None:
    """Close a descriptor, ignoring errors: readers detect writes that were lost."""
    with contextlib.suppress(OSError):
        os.close(descriptor)


def base_directory(variable: str, default: str) -> Path | None:
    """The folder that the environment variable names, as the XDG specification defines; ``default`` is relative to the
    home directory.

    Relative paths are ignored, as the specification requires. None if there is no home directory, or HOME is invalid.
    """
    named = Path(os.environ.get(variable, ""))
    if named.is_absolute():
        return named
    if os.environ.get("HOME") == "":
        return None
    try:
        home = Path.home()
    except RuntimeError:
        return None
    return home / default if home.is_absolute() else None


def open_private(path: Path) -> int:
    """A descriptor of a folder that belongs to the user and that only the user can write to; the folder is made if it
    does not exist.

    Raises UntrustedFolder, and OSError if it cannot be made or opened.
    """
    _check_way(path)
    real = Path(os.path.realpath(path))
    _check_way(real)
    missing = [folder for folder in (real, *real.parents) if not os.path.lexists(folder)]
    if missing:
        owner = missing[-1].parent.lstat().st_uid
        if os.geteuid() == 0 and owner != 0:
            # This is root, with another user's home: that user could not use a folder that belongs to root.
            raise UntrustedFolder("it is in a directory of another user")
        for folder in reversed(missing):
            with contextlib.suppress(FileExistsError):  # another process was faster
                folder.mkdir(0o700)
    return _checked(os.open(real, _FOLDER_FLAGS))


def open_private_below(parent: int, name: str, *, make: bool = True) -> int:
    """As `open_private`, for a subfolder of an open folder. Other users must not even be able to read it."""
    try:
        folder = os.open(name, _FOLDER_FLAGS, dir_fd=parent)
    except FileNotFoundError:
        if not make:
            raise
        with contextlib.suppress(FileExistsError):
            os.mkdir(name, 0o700, dir_fd=parent)
        folder = os.open(name, _FOLDER_FLAGS, dir_fd=parent)
    _checked(folder)
    if os.fstat(folder).st_mode & 0o077:
        os.fchmod(folder, 0o700)
    return folder


def read_file(folder: int, name: str, most: int) -> tuple[bytes, os.stat_result] | None:
    """Contents and status of a regular file of at most ``most`` bytes; None for anything else. Raises OSError."""
    file = os.open(name, os.O_RDONLY | FILE_FLAGS, dir_fd=folder)
    try:
        status = os.fstat(file)
        if not stat.S_ISREG(status.st_mode) or status.st_size > most:
            return None
        parts, left = [], status.st_size
        while left and (part := os.read(file, left)):
            parts.append(part)
            left -= len(part)
        return b"".join(parts), status
    finally:
        close(file)


def write_file(folder: int, name: str, data: bytes) -> int:
    """Create a file that only the user can read. Returns its descriptor, which the caller must close. Raises OSError,
    and then leaves no file."""
    file = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | FILE_FLAGS, 0o600, dir_fd=folder)
    try:
        view = memoryview(data)
        while view:
            view = view[os.write(file, view) :]
    except BaseException:
        close(file)
        os.unlink(name, dir_fd=folder)
        raise
    return file


def _check_way(path: Path) -> None:
    """Check that other users cannot replace any folder on the path to ``path`` and did not create one. Raises
    UntrustedFolder.
    """
    for folder in path.parents:
        try:
            status = folder.lstat()
        except FileNotFoundError:
            continue
        writable = status.st_mode & stat.S_IWOTH and not status.st_mode & stat.S_ISVTX
        if stat.S_ISDIR(status.st_mode) and writable:
            raise UntrustedFolder(f"other users can write to {folder}")
    for place in (path, *path.parents):
        if place.is_symlink() and place.lstat().st_uid not in (0, os.geteuid()):
            raise UntrustedFolder(f"{place} is a link that another user made")


def _checked(folder: int) -> int:
    """Return the descriptor if its folder can be trusted; otherwise close it and raise UntrustedFolder."""
    status = os.fstat(folder)
    problem = ""
    if status.st_uid != os.geteuid():
        problem = "it belongs to another user"
    elif status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        problem = "it is writable by others"
    if problem:
        close(folder)
        raise UntrustedFolder(problem)
    return folder
