"""Finds the runtime library for programs, and rocdbg's own half of it, either in the package or built once into the
user's cache.

Packages may include the built libraries (setup.py). Otherwise they are built and cached under a key of the sources and
the compiler, in a directory that only the user can write to, because programs and rocdbg execute them.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from pathlib import Path
from typing import Final

from msgspec import Struct

from rocdbg.host import protocol
from rocdbg.host.compiling import (
    COMPILERS,
    GPU_SIDE,
    OPTIONS,
    RUNTIME,
    SOURCES,
    UNVERSIONED,
    RuntimeLibraryError,
    compile_into,
    compilers,
)
from rocdbg.sim.engine.private_folder import UntrustedFolder, close, open_private, open_private_below
from rocdbg.sim.engine.translation_cache import default_cache_directory

_PREBUILT: Final = Path(__file__).parent / "prebuilt"


class RuntimeLibrary(Struct, frozen=True):
    """A folder with the built libraries."""

    folder: Path

    @property
    def runtime(self) -> Path:
        """The library that programs load."""
        return self.folder / RUNTIME

    @property
    def gpu_side(self) -> Path:
        """The library that rocdbg itself loads, see runtime/gpu_side.c."""
        return self.folder / GPU_SIDE

    @property
    def complete(self) -> bool:
        return all((self.folder / name).is_file() for name in (RUNTIME, UNVERSIONED, GPU_SIDE))


def runtime_library() -> RuntimeLibrary:
    """The libraries, built if they do not exist yet. Raises RuntimeLibraryError."""
    prebuilt = RuntimeLibrary(_PREBUILT)
    if prebuilt.complete:
        return prebuilt
    found = compilers()
    if not found:
        named = ", ".join(COMPILERS[:5])
        raise RuntimeLibraryError(
            f"no C compiler was found ({named}); install one, or set the environment variable CC to yours"
        )
    folder = _cache_folder()
    reason = ""
    for compiler in found:
        library = RuntimeLibrary(folder / f"runtime-{_key(compiler)}")
        if library.complete:
            return library
        reason = _build(compiler, folder, library)
        if not reason:
            return library
    raise RuntimeLibraryError(reason)


def _build(compiler: list[str], folder: Path, library: RuntimeLibrary) -> str:
    """Build under another name and then rename, so that no process sees an incomplete library. Returns an error
    message, if any.
    """
    try:
        fresh = Path(tempfile.mkdtemp(prefix="building-", dir=folder))
    except OSError as error:
        return f"{folder}: {error.strerror}"
    try:
        compile_into(compiler, fresh)
        os.rename(fresh, library.folder)  # noqa: PTH104 (fails if another process was faster)
    except RuntimeLibraryError as error:
        return str(error).removeprefix("cannot build the runtime library for programs: ")
    except OSError as error:
        return "" if library.complete else f"{library.folder}: {error.strerror}"
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    return ""


def _key(compiler: list[str]) -> str:
    """A key of the sources and of the compiler that builds them."""
    digest = hashlib.sha256()
    for path in sorted(SOURCES.iterdir()):
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    digest.update(protocol.header().encode() + repr(OPTIONS).encode() + repr(compiler).encode())
    found = shutil.which(compiler[0])
    if found:
        real = Path(found).resolve()
        status = real.stat()
        digest.update(f"{real} {status.st_size} {status.st_mtime_ns}".encode())
    return digest.hexdigest()[:32]


def _cache_folder() -> Path:
    """A directory that belongs to the user."""
    base = default_cache_directory()
    if base is None:
        raise RuntimeLibraryError(
            "there is no home directory in which to store it; set ROCDBG_CACHE_DIR to a directory"
        )
    try:
        outer = open_private(base)
        try:
            close(open_private_below(outer, "host"))
        finally:
            close(outer)
    except UntrustedFolder as problem:
        raise RuntimeLibraryError(f"{base} cannot be trusted: {problem}") from None
    except (OSError, ValueError) as error:
        raise RuntimeLibraryError(f"{base}: {getattr(error, 'strerror', None) or error}") from None
    return base / "host"


__all__ = ["RUNTIME", "RuntimeLibrary", "RuntimeLibraryError", "runtime_library"]
