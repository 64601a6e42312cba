"""LLVM on this host: one machine, one linker, and the cache of object code on disk.

The cache directory is ``$ROCDBG_CACHE_DIR``, else ``$XDG_CACHE_HOME/rocdbg``, else ``~/.cache/rocdbg``. An
entry is the object file behind a header with its digest; an entry that does not match is ignored and
written again.
"""

from __future__ import annotations

import functools
import hashlib
import os
import platform
import re
import tempfile
from collections.abc import Callable
from pathlib import Path

import llvmlite
import llvmlite.binding as llvm

_MAGIC = b"rocdbg-object-1\n"
_SOURCES = ("layout.py", "schedule.py", "builder.py", "native_jit.py", "native.py")
_PACKAGES = ("translator", "semantics")
_ISA = "isa"


def default_cache_directory() -> Path | None:
    """Where object code is kept, or None if there is no home directory."""
    if directory := os.environ.get("ROCDBG_CACHE_DIR"):
        return Path(directory)
    if base := os.environ.get("XDG_CACHE_HOME"):
        return Path(base) / "rocdbg"
    try:
        return Path.home() / ".cache" / "rocdbg"
    except RuntimeError:
        return None


@functools.cache
def engine_version() -> str:
    """Changes whenever a source file that shapes object code does (sizes and times: reading them all would be slow)."""
    here = Path(__file__).parent
    files = [here / name for name in _SOURCES]
    for package in (*(here / name for name in _PACKAGES), here.parent / _ISA):
        files += sorted(package.glob("*.py"))
    digest = hashlib.sha256()
    for file in files:
        info = file.stat()
        digest.update(f"{file.name}:{info.st_size}:{info.st_mtime_ns};".encode())
    return digest.hexdigest()


_TERNARY_LOGIC = re.compile(rb"\x62[\x00-\xff]{3}\x25[\x00-\xff]", re.DOTALL)


def _masked_ternary_logic(code: bytes) -> bool:
    """Whether x86 object code has a masked vpternlog (or bytes that look like one).

    LLVM 22 selects it wrongly at -O1: ``select(c, x, (x & C) | (y & ~C))`` with C folded as a broadcast from memory
    permutes the operands but not the truth table; in loops the load is then moved out, so that registers are left.
    """
    for match in _TERNARY_LOGIC.finditer(code):
        _, first, second, third, _, _ = match.group()
        # EVEX: map 0F3A, prefix 66, and a mask register other than k0.
        if first & 7 == 3 and second & 3 == 1 and third & 7:
            return True
    return False


class Jit:
    """Compiles modules and links them into the process. One per process is enough."""

    def __init__(self, cache: Path | None) -> None:
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        self.cpu = llvm.get_host_cpu_name()
        features = llvm.get_host_cpu_features()
        self.features: str = features.flatten()
        wide = all(features.get(name) for name in ("avx512f", "avx512bw", "avx512vl", "avx512dq"))
        self.width = 16 if wide else 8 if features.get("avx2") or platform.machine() == "aarch64" else 4
        self.masked_stores = wide
        # Quick code first, good code for what turns out to be hot: see `Engine`.
        self.machines = {
            optimised: llvm.Target.from_default_triple().create_target_machine(
                cpu=self.cpu, features=self.features, opt=int(optimised), jit=True
            )
            for optimised in (False, True)
        }
        self.linker = llvm.create_mcjit_compiler(llvm.parse_assembly(""), self.machines[True])
        self.cache = cache
        self.compiled = 0
        """Modules that had to be compiled (not found in the cache)."""
        self._linked: dict[str, bytes] = {}
        self._host = (
            f"{self.cpu};{self.features};{llvm.llvm_version_info};{llvmlite.__version__};{self.width}"
        )

    def key(self, *parts: object) -> str:
        """A cache key of what shapes a module, beside the host and the engine's version."""
        digest = hashlib.sha256(f"{self._host};{engine_version()}".encode())
        for part in parts:
            data = part if isinstance(part, bytes) else repr(part).encode()
            digest.update(len(data).to_bytes(8, "little") + data)
        return digest.hexdigest()

    def load(self, key: str, make: Callable[[], tuple[str, bytes]], optimised: bool = True) -> bytes:
        """Link the module with this key, once per process; returns the note that was stored with it.

        ``make()`` gives the module's IR and note if the cache does not have them. Symbol names must be unique in
        the process: derive them from the key.
        """
        if key in self._linked:
            return self._linked[key]
        entry = self._read(key)
        if entry is None:
            text, note = make()
            entry = note, self.compile(text, optimised)
            self._write(key, *entry)
        note, data = entry
        if data:
            self.linker.add_object_file(llvm.ObjectFileRef.from_data(data))
            self.linker.finalize_object()
        self._linked[key] = note
        return note

    def cached(self, key: str) -> bool:
        """Whether `load` would find the module compiled."""
        return key in self._linked or self._read(key) is not None

    def compile(self, text: str, optimised: bool) -> bytes:
        module = llvm.parse_assembly(text)
        if "define " not in text:
            return b""
        self.compiled += 1
        data = bytes(self.machines[optimised].emit_object(module))
        if optimised and _masked_ternary_logic(data):
            data = bytes(self.machines[False].emit_object(llvm.parse_assembly(text)))
        return data

    def address(self, name: str) -> int:
        """Address of a linked function."""
        address = int(self.linker.get_function_address(name))
        if not address:
            raise LookupError(f"native function {name} is not linked")
        return address

    # -- the cache on disk --------------------

    def _path(self, key: str) -> Path | None:
        return self.cache / "objects" / key[:2] / key[2:] if self.cache else None

    def _read(self, key: str) -> tuple[bytes, bytes] | None:
        path = self._path(key)
        if path is None:
            return None
        try:
            data = path.read_bytes()
        except OSError:
            return None
        head = len(_MAGIC) + 32
        body = data[head:]
        if data[: len(_MAGIC)] != _MAGIC or hashlib.sha256(body).digest() != data[len(_MAGIC) : head]:
            return None
        size = int.from_bytes(body[:4], "little")
        return body[4 : 4 + size], body[4 + size :]

    def _write(self, key: str, note: bytes, code: bytes) -> None:
        path = self._path(key)
        if path is None:
            return
        body = len(note).to_bytes(4, "little") + note + code
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
                file.write(_MAGIC + hashlib.sha256(body).digest() + body)
            Path(file.name).replace(path)  # readers never see half an entry
        except OSError:
            self.cache = None  # a cache that cannot be written costs time, nothing else


@functools.cache
def _shared(cache: str | None) -> Jit:
    return Jit(Path(cache) if cache else None)


def shared_jit(cache: Path | None) -> Jit:
    """The process's JIT for a cache directory."""
    return _shared(str(cache) if cache else None)
