"""LLVM on this host: one machine, one linker, and the linked entries of the cache on disk (`translation_cache`)."""

from __future__ import annotations

import functools
import hashlib
import os
import platform
import re
import threading
from collections.abc import Callable
from pathlib import Path

import llvmlite
from msgspec import Struct

from rocdbg import work
from rocdbg.errors import Error
from rocdbg.sim.engine.translation_cache import Entry, open_cache

try:
    import llvmlite.binding as llvm
except OSError as error:  # importing it maps a library of 120 MB
    raise Error(
        f"LLVM cannot be loaded, perhaps because there is not enough memory: {str(error).partition('. ')[0]}."
    ) from None

_SHAPING = (
    "sim", "sim/core", "sim/data", "sim/engine", "sim/translator", "sim/semantics", "sim/images", "sim/device",
    "isa", "isa/tables", "arch",
)  # fmt: skip


def shaping_folders() -> tuple[Path, ...]:
    """The folders of all files that determine object code."""
    package = Path(__file__).parents[2]
    return tuple(package / name for name in _SHAPING)


@functools.cache
def engine_version() -> str:
    """A version that changes whenever a file that determines object code does.

    It is made of sizes, times and inode numbers, because reading 8 MB of sources and encoding tables would take longer
    than a warm start saves. The time used is the inode's (ctime), which, unlike the file's modification time, cannot be
    set.
    """
    digest = hashlib.sha256(llvmlite.__version__.encode())
    for folder in shaping_folders():
        with os.scandir(folder) as files:
            for file in sorted(files, key=lambda item: item.name):
                if file.name.endswith((".py", ".json")):
                    info = file.stat()
                    times = f"{info.st_mtime_ns};{info.st_ctime_ns};{info.st_ino}"
                    digest.update(f"{folder.name}/{file.name}:{info.st_size};{times};".encode())
    return digest.hexdigest()


_TERNARY_LOGIC = re.compile(rb"\x62[\x00-\xff]{3}\x25[\x00-\xff]", re.DOTALL)


def _masked_ternary_logic(code: bytes) -> bool:
    """Whether x86 object code has a masked vpternlog (or bytes that look like one).

    LLVM 22 selects this instruction wrongly at -O1: for ``select(c, x, (x & C) | (y & ~C))`` with C folded as a
    broadcast from memory, it permutes the operands but not the truth table. In loops the load is then hoisted, so that
    only register operands are left.
    """
    for match in _TERNARY_LOGIC.finditer(code):
        _, first, second, third, _, _ = match.group()
        # EVEX: map 0F3A, prefix 66, and a mask register other than k0.
        if first & 7 == 3 and second & 3 == 1 and third & 7:
            return True
    return False


_LARGE = 100_000
"""Characters of IR above which a module is compiled in a thread of its own: LLVM cannot be interrupted, but the waiting
caller can. Smaller modules take less than 0.1 s.
"""
_LOOK = 0.02  # seconds between two checks whether the waiting caller must stop


class _Compilation:
    """The compilation of a module in a thread. It continues if its requester is stopped, and its result is available
    when it is requested again.
    """

    def __init__(self, compile: Callable[[], bytes]) -> None:
        self._compile = compile
        self._done = threading.Event()
        self._code = b""
        self._error: BaseException | None = None
        if work.start(self._run, "rocdbg-compiler") is None:
            self._run()

    def _run(self) -> None:
        try:
            self._code = self._compile()
        except BaseException as error:
            self._error = error  # raised where the code is awaited
        finally:
            self._done.set()

    def wait(self) -> bytes:
        """The object code. Raises LLVM's error, or `work.Stopped`."""
        while not self._done.wait(_LOOK):
            work.unit(0)
        if self._error is not None:
            raise self._error
        return self._code


_GENERATION = 128 << 20  # bytes of object code after which a new generation begins
_MODULE = 16 << 10  # what a module needs besides its object code: each section has pages of its own


class KeptBlock(Struct, frozen=True):
    """The function of a block: its name, how many of the block's instructions it executes (0: none could be
    translated), and the routines that its module calls.
    """

    name: str
    count: int
    calls: tuple[str, ...]


class Generation:
    """Linked modules that are freed together, because LLVM cannot free a single one.

    The caller of their functions must keep a reference.
    """

    def __init__(self, cpu: str, features: str) -> None:
        machine = llvm.Target.from_default_triple().create_target_machine(
            cpu=cpu, features=features, opt=1, jit=True
        )
        self._linker = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)
        self.linked: dict[str, bytes] = {}
        """The note stored with each module, by the module's key."""
        self.blocks: dict[tuple[str, str], KeptBlock] = {}
        """Functions of the modules by what they translate (`kept_blocks`)."""
        self._size = 0

    @property
    def full(self) -> bool:
        return self._size > _GENERATION

    def link(self, key: str, note: bytes, code: bytes) -> None:
        if code:
            self._linker.add_object_file(llvm.ObjectFileRef.from_data(code))
            self._linker.finalize_object()
        self._size += len(code) + _MODULE
        self.linked[key] = note

    def address(self, name: str) -> int:
        """Address of a linked function."""
        address = int(self._linker.get_function_address(name))
        if not address:
            raise LookupError(f"native function {name} is not linked")
        return address


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
        # Compile code quickly first, and optimise the code that turns out to be hot: see `Engine`.
        self.machines = {
            optimised: llvm.Target.from_default_triple().create_target_machine(
                cpu=self.cpu, features=self.features, opt=int(optimised), jit=True
            )
            for optimised in (False, True)
        }
        self._permanent = Generation(self.cpu, self.features)
        self._current = Generation(self.cpu, self.features)
        self.cache = open_cache(cache)
        self.compiled = 0
        """Modules that had to be compiled (not found in the cache)."""
        self._found: tuple[str, Entry | None] = ("", None)  # the entry that `cached` has read last
        self._under_way: dict[str, _Compilation] = {}
        self._notes: dict[str, bytes] = {}  # the notes of compilations in progress, by key
        triple = llvm.get_default_triple()
        self._host = (
            f"{triple};{self.cpu};{self.features};{llvm.llvm_version_info};{llvmlite.__version__};{self.width}"
        )

    def key(self, *parts: object) -> str:
        """A cache key made of everything that determines a module, besides the host and the engine's version."""
        digest = hashlib.sha256(f"{self._host};{engine_version()}".encode())
        for part in parts:
            data = part if isinstance(part, bytes) else repr(part).encode()
            digest.update(len(data).to_bytes(8, "little") + data)
        return digest.hexdigest()

    def generation(self) -> Generation:
        """The generation for modules that may be freed later."""
        if self._current.full:
            self._current = Generation(self.cpu, self.features)
        return self._current

    def load(
        self,
        key: str,
        make: Callable[[], tuple[str, bytes]],
        optimised: bool = True,
        generation: Generation | None = None,
    ) -> bytes:
        """Link the module with this key, once per generation (default: for ever); returns the note stored with it.

        ``make()`` returns the module's IR and note; it is called if the cache does not have the module. Symbol names
        must be unique in the process: derive them from the key. Raises `work.Stopped` before anything is linked.
        """
        generation = generation or self._permanent
        if key in generation.linked:
            return generation.linked[key]
        work.unit()
        entry = self._read(key)
        if entry is None:
            entry = self._made(key, make, optimised)
            if self.cache is not None:
                self.cache.write(key, *entry)
        generation.link(key, *entry)
        return entry[0]

    def _made(self, key: str, make: Callable[[], tuple[str, bytes]], optimised: bool) -> Entry:
        """Compile a module that the cache does not have."""
        with work.doing("translating code"):
            under_way = self._under_way.get(key)
            if under_way is None:
                text, note = make()
                if len(text) < _LARGE:
                    return note, self.compile(text, optimised)
                under_way = _Compilation(lambda: self.compile(text, optimised))
                self._under_way[key], self._notes[key] = under_way, note
            code = under_way.wait()
            del self._under_way[key]
            return self._notes.pop(key), code

    def cached(self, key: str, generation: Generation) -> bool:
        """Whether `load` would find the module compiled."""
        if key in generation.linked:
            return True
        self._found = key, self._read(key)
        return self._found[1] is not None

    def compile(self, text: str, optimised: bool) -> bytes:
        """The object code of a module."""
        module = llvm.parse_assembly(text)
        if "define " not in text:
            return b""
        module.verify()  # raises an error where the code generator would end the process
        self.compiled += 1
        data = bytes(self.machines[optimised].emit_object(module))
        if optimised and _masked_ternary_logic(data):
            data = bytes(self.machines[False].emit_object(llvm.parse_assembly(text)))
        return data

    def address(self, name: str) -> int:
        """Address of a function that is linked permanently."""
        return self._permanent.address(name)

    def _read(self, key: str) -> Entry | None:
        (known, entry), self._found = self._found, ("", None)
        if known == key:
            return entry
        return self.cache.read(key) if self.cache is not None else None


@functools.cache
def _shared(cache: str | None) -> Jit:
    return Jit(Path(cache) if cache else None)


def shared_jit(cache: Path | None) -> Jit:
    """The process's JIT for a cache directory."""
    return _shared(str(cache) if cache else None)
