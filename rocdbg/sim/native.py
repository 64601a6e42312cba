"""The execution engine: runs waves in native code, translating what is not translated yet.

One `Engine` serves one machine's waves of one size. Native code finds a block's function by pc in page
directories, one per MODE key; a stop is an entry that points to a routine which only reports it, so that
code without stops pays nothing for them.
"""

from __future__ import annotations

import ctypes
import hashlib
import json
import mmap
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from rocdbg.arch.targets import Generation, Target
from rocdbg.isa.decoder import decode
from rocdbg.isa.instruction import Instruction
from rocdbg.sim import layout
from rocdbg.sim.global_share import GlobalShare
from rocdbg.sim.guarded import guarded
from rocdbg.sim.instruction_cache import LONGEST, Fetch, InstructionCache
from rocdbg.sim.layout import ENV, HEADER, PAGE_COUNT, PAGE_SHIFT, PAGE_SIZE, WINDOW_BASE, Status
from rocdbg.sim.native_guard import Crash, guard
from rocdbg.sim.native_jit import shared_jit
from rocdbg.sim.object_cache import default_cache_directory
from rocdbg.sim.register_bounds import exists
from rocdbg.sim.semantics.access import Context
from rocdbg.sim.translator.blocks import Block, form_block, gather
from rocdbg.sim.translator.helpers import helper_names, part_of, prefix, relied_on_by
from rocdbg.sim.vgpr_banks import in_banks

if TYPE_CHECKING:
    from rocdbg.sim.device.residency import Residency

_STEP_AHEAD = 24  # instructions translated one by one when single-stepping reaches new code
_UNLIMITED = (1 << 64) - 1
_HOT = 20_000_000  # instructions after which blocks are compiled again, optimised
_SLICE = 20_000_000  # nanoseconds native code runs before Python looks for signals
_MOST_KEYS = 32  # MODE keys with translations at a time
_STUBS = (Status.BREAK, Status.UNSUPPORTED, Status.ILLEGAL)


class Fault(Struct, frozen=True):
    """A memory access that was not done. ``addresses`` maps each faulting lane to its address (see `layout.Space`);
    for a scalar access ``lanes`` is 0 and the address is under lane 0."""

    kind: layout.FaultKind
    access: layout.Access
    space: layout.Space
    size: int
    lanes: int
    addresses: dict[int, int]


class _CodeTable:
    """Functions by pc, per MODE key, in the form native code reads."""

    def __init__(self) -> None:
        self.roots: NDArray[np.uint64] = guarded(layout.MODE_KEYS * 8).view(np.uint64)
        self._directories: dict[int, NDArray[np.uint64]] = {}
        self._pages: dict[tuple[int, int], NDArray[np.uint64]] = {}

    @property
    def crowded(self) -> bool:
        """Whether there are so many MODE keys, 8 MiB of addresses each, that it is time to begin again."""
        return len(self._directories) > _MOST_KEYS

    def reset(self) -> None:
        self.roots[:] = 0
        self._directories.clear()
        self._pages.clear()

    def mode_keys(self) -> Iterable[int]:
        return list(self._directories)

    def get(self, key: int, pc: int) -> int:
        page = self._pages.get((key, (pc - WINDOW_BASE) >> PAGE_SHIFT))
        return 0 if page is None else int(page[(pc & PAGE_SIZE - 1) >> 2])

    def set(self, key: int, pc: int, function: int) -> None:
        number = (pc - WINDOW_BASE) >> PAGE_SHIFT
        page = self._pages.get((key, number))
        if page is None:
            directory = self._directories.get(key)
            if directory is None:
                directory = self._directories[key] = guarded(PAGE_COUNT * 8).view(np.uint64)
                self.roots[key] = directory.ctypes.data
            page = self._pages[key, number] = guarded((PAGE_SIZE >> 2) * 8).view(np.uint64)
            directory[number] = page.ctypes.data
        page[(pc & PAGE_SIZE - 1) >> 2] = function

    def clear(self, lo: int, hi: int, functions: Iterable[int]) -> None:
        """Forget entries of pcs in [lo, hi) that are among ``functions``."""
        unwanted = np.fromiter(functions, np.uint64)
        for (_, number), page in self._pages.items():
            start = WINDOW_BASE + (number << PAGE_SHIFT)
            first, end = max(lo - start, 0) >> 2, max(hi - start + 3, 0) >> 2
            part = page[first:end]
            part[np.isin(part, unwanted)] = 0


class Engine:
    """Runs waves of one size on one target's code.

    ``page_table`` is the host address of simulated memory's page table, ``fetch`` reads code (`instruction_cache`).
    ``share`` is GDS and GWS (default: of this engine alone).
    ``reads_table``: host address of `UninitializedReads`' table if reads of what was never written are to be counted.
    """

    def __init__(
        self,
        target: Target,
        wave_size: int,
        page_table: int,
        fetch: Fetch,
        cache_dir: Path | None = None,
        reads_table: int = 0,
        share: GlobalShare | None = None,
    ) -> None:
        self.target, self.wave_size = target, wave_size
        self.jit = shared_jit(cache_dir or default_cache_directory())
        self._code = InstructionCache(fetch, self._isa_decode)
        self._watched = bool(reads_table)
        self.share = share or GlobalShare(target)
        """GDS and GWS."""
        self._exceptions = False
        self._indexed = target.generation is Generation.GFX9
        self._banked = target.is_gfx125
        self._helpers = {name: slot for slot, name in enumerate(helper_names())}
        self._storage = guarded(layout.ENV_SIZE)
        self._env: int = self._storage.ctypes.data
        self._blocks, self._steps = _CodeTable(), _CodeTable()
        self._installed: dict[tuple[int, int], int] = {}  # (mode key, start) -> end of the block
        self._compiled: dict[tuple[int, int, int], int] = {}  # (mode key, start, end) -> function
        self._single: dict[tuple[int, int], int] = {}  # (mode key, pc) -> function of one instruction
        self._stops: frozenset[int] = frozenset()
        self._optimise = False
        self._executed = 0
        self._stubs: dict[Status, int] = {}
        self._schedule = 0
        self._guard = guard(self.jit)
        self._clock = self._madvise = 0
        self._generation = self.jit.generation()  # where all translations are linked
        self._link_runtime()
        self._set_env("page_table", page_table)
        self._set_env("reads_table", reads_table)
        self._set_env("gds_pointer", int(self.share.gds.ctypes.data))
        self._set_env("gds_size", self.share.gds.size)
        self._set_env("gws_pointer", int(self.share.gws.ctypes.data))
        self._set_env("mode_tables", int(self._blocks.roots.ctypes.data))
        self._set_env("step_tables", int(self._steps.roots.ctypes.data))
        self.set_apertures(layout.SHARED_APERTURE, layout.PRIVATE_APERTURE)

    # -- running --------------------

    def run(
        self,
        state: int,
        *,
        budget: int,
        step: bool = False,
        range: tuple[int, int] | None = None,
        ignore_stop: bool = False,
    ) -> Status:
        """Run the wave whose state block is at host address ``state``.

        At most ``budget`` instructions are executed, exactly that many when BUDGET is returned. ``step``: one
        instruction, even if a
        stop is set on it (BUDGET when it was executed). ``range``: stop with RANGE when pc leaves [lo, hi).
        ``ignore_stop``: a stop at the current pc is passed over.
        """
        if budget <= 0:
            return Status.BUDGET
        count, limit = _u64(state, "instructions"), _u64(state, "limit")
        before, end = count.value, min(count.value + (1 if step else budget), _UNLIMITED)
        if step or ignore_stop:
            limit.value = before + 1
            status = self._one(state)
            if status is Status.CONTINUE or (status is Status.BUDGET and count.value > before):
                status = Status.BUDGET if step or count.value >= end else Status.CONTINUE
            if (
                status is Status.CONTINUE
                and range is not None
                and not _inside(range, _u64(state, "pc").value)
            ):
                status = Status.RANGE
        else:
            status = Status.CONTINUE
        if status is Status.CONTINUE:
            limit.value = end
            status = self._run(state, count, end, range)
            self._executed += count.value - before
            if self._executed > _HOT and not self._optimise:
                self.optimise()
        limit.value = 0  # not part of what the wave is: states are compared
        return status

    def schedule(self, places: Residency, budget: int) -> Status:
        """Give the resident waves their turns natively, for at most ``budget`` instructions.

        Returns CONTINUE or MISS when the next turn needs Python (see `rocdbg.sim.translator.scheduler`), after about
        20 ms at the latest; else what ended the turn of the wave in slot ``current``. Field ``executed`` says how
        many instructions were.
        """
        if not self._schedule:
            self._link_part("schedule")
            self._schedule = self.jit.address(f"{prefix(self.wave_size)}schedule")
            library = ctypes.CDLL(None)
            self._clock = ctypes.cast(library.clock_gettime, ctypes.c_void_p).value or 0
            if sys.platform == "linux":
                self._madvise = ctypes.cast(library.madvise, ctypes.c_void_p).value or 0
        if self._madvise and not places.get("madvise"):
            # Scratch is given back group by group: in huge pages, each first touch would clear far more than is used.
            first, end = -(-places.get("scratch") // mmap.PAGESIZE), places.get("scratch") + places.scratch_bytes
            if end // mmap.PAGESIZE > first:
                size = (end // mmap.PAGESIZE - first) * mmap.PAGESIZE
                _MADVISE(self._madvise)(first * mmap.PAGESIZE, size, _NO_HUGE_PAGES)
        places.set("clock", self._clock)
        places.set("madvise", self._madvise)
        places.set("page_size", mmap.PAGESIZE)
        places.set("clock_id", time.CLOCK_MONOTONIC)
        places.set("deadline", time.clock_gettime_ns(time.CLOCK_MONOTONIC) + _SLICE)
        places.set("look_at", 0)
        places.set("budget", budget)
        places.set("executed", 0)
        blocks, steps = (table.roots.ctypes.data for table in (self._blocks, self._steps))
        status = self._guard(self._schedule, places.address, self._env, self._run_native, blocks, steps)
        if status is Status.REFETCH:
            self.refresh()
            status = Status.CONTINUE
        self._executed += places.get("executed")
        if self._executed > _HOT and not self._optimise:
            self.optimise()
        return status

    def _run(self, state: int, count: ctypes.c_uint64, end: int, range: tuple[int, int] | None) -> Status:
        """Run until something other than untranslated code comes up."""
        native, table = self._run_native, self._blocks
        if range is not None:
            native, table = self._run_range, self._steps
            self._set_env("range_lo", range[0])
            self._set_env("range_size", range[1] - range[0])
        while True:
            status = self._guard(native, state, self._env, table.roots.ctypes.data)
            if status is Status.MISS:
                blocked = self._translate(state, table)
                if blocked is not None:
                    return blocked
            elif status is Status.REFETCH:
                self.refresh()
                if range is not None and not _inside(range, _u64(state, "pc").value):
                    return Status.RANGE
            elif status is Status.BUDGET and count.value < end and table is self._blocks:
                native, table = self._run_native, self._steps  # the rest does not fill the next block
            elif status is Status.REGISTERS:
                if table is self._steps:
                    return Status.ILLEGAL
                native, table = self._run_native, self._steps  # up to the instruction that names too much
            else:
                return status

    def _one(self, state: int) -> Status:
        """Execute the instruction at pc."""
        pc, key = _u64(state, "pc").value, self._key(state)
        function = self._single.get((key, pc))
        if pc & 3:
            return Status.FETCH
        if function is None:
            blocked = self._translate_steps(pc, key)
            if blocked is not None:
                return blocked
            function = self._single[key, pc]
        status = self._guard(function, state, self._env)
        if status is Status.REFETCH:
            self.refresh()
            return Status.CONTINUE
        return Status.ILLEGAL if status is Status.REGISTERS else status

    def _key(self, state: int) -> int:
        """What blocks at the wave's pc depend on beside the code."""
        mode = _u32(state, "mode").value
        if not self._indexed:
            return layout.mode_key(mode, banked=self._banked)
        return layout.mode_key(mode, ctypes.c_uint32.from_address(state + layout.sgpr_offset(124)).value)

    def optimise(self) -> None:
        """From now on translate blocks into better code, at several times the cost; those there are are forgotten.

        Happens by itself after a million instructions, so that stepping through a kernel once is not slowed by
        optimising it.
        """
        self._optimise = True
        for key, start in self._installed:
            if start not in self._stops:
                self._blocks.set(key, start, 0)
        self._installed.clear()
        self._compiled.clear()

    def watch_exceptions(self) -> None:
        """From now on instructions note the arithmetic exceptions they raise; older translations are forgotten."""
        if self._exceptions:
            return
        self._exceptions = True
        for key, start in self._installed:
            if start not in self._stops:
                self._blocks.set(key, start, 0)
        for key, pc in self._single:
            if pc not in self._stops:
                self._steps.set(key, pc, 0)
        self._installed.clear()
        self._compiled.clear()
        self._single.clear()

    def crash(self) -> Crash:
        """What the host said of the last CRASH."""
        return self._guard.crash()

    def fault(self) -> Fault:
        """The record of the last FAULT."""
        lanes = self._get_env("fault_lanes")
        addresses = (ctypes.c_uint64 * 64).from_address(self._env + layout.ENV_ADDRESS)
        return Fault(
            layout.FaultKind(self._get_env("fault_kind")),
            layout.Access(self._get_env("fault_access")),
            layout.Space(self._get_env("fault_space")),
            self._get_env("fault_size"),
            lanes,
            {lane: addresses[lane] for lane in _bits(lanes or 1)},
        )

    def set_apertures(self, shared: int, private: int) -> None:
        """Base addresses of the LDS and private apertures (multiples of 4 GiB)."""
        self._set_env("shared_aperture", shared)
        self._set_env("private_aperture", private)

    def set_lds_drops(self, drops: bool) -> None:
        """Whether accesses beyond a workgroup's LDS read 0 and write nothing, as hardware does by default, or fault."""
        self._set_env("lds_drops", int(drops))

    # -- stops and changed code --------------------

    def set_stops(self, stops: frozenset[int]) -> None:
        """The pcs before which waves stop with BREAK; what lies outside simulated memory is never reached."""
        stops = frozenset(pc for pc in stops if 0 <= pc - WINDOW_BASE < PAGE_COUNT << PAGE_SHIFT)
        if stops == self._stops:
            return
        added, removed = stops - self._stops, self._stops - stops
        self._stops = stops
        for table in (self._blocks, self._steps):
            for key in table.mode_keys():
                for pc in removed:
                    table.set(key, pc, self._single.get((key, pc), 0) if table is self._steps else 0)
                for pc in added:
                    table.set(key, pc, self._stubs[Status.BREAK])
        for (key, start), end in list(self._installed.items()):
            if any(start < pc < end for pc in added):
                del self._installed[key, start]
                if start not in stops:
                    self._blocks.set(key, start, 0)

    def invalidate(self, lo: int, hi: int) -> None:
        """The host has changed the bytes of code in [lo, hi), which takes effect at once."""
        self._code.write(lo, hi)
        self._forget(lo, hi)

    def refresh(self) -> None:
        """Let what kernels have stored into code take effect: s_icache_inv, or the start of a dispatch."""
        for lo, hi in self._code.refresh():
            self._forget(lo, hi)

    def _forget(self, lo: int, hi: int) -> None:
        for (key, start), end in list(self._installed.items()):
            if start < hi and lo < end:
                del self._installed[key, start]
                if start not in self._stops:
                    self._blocks.set(key, start, 0)
        for known in [k for k in self._compiled if k[1] < hi and lo < k[2]]:
            del self._compiled[known]
        for key, pc in [k for k in self._single if lo - LONGEST < k[1] < hi]:
            del self._single[key, pc]
            if pc not in self._stops:
                self._steps.set(key, pc, 0)
        self._blocked_again(lo, hi)

    def _blocked_again(self, lo: int, hi: int) -> None:
        """Entries that say "cannot be executed" are looked at again."""
        blocked = {self._stubs[Status.UNSUPPORTED], self._stubs[Status.ILLEGAL]}
        for table in (self._blocks, self._steps):
            table.clear(lo - LONGEST, hi, blocked)

    # -- translation --------------------

    def _isa_decode(self, code: bytes, address: int) -> Instruction:
        return decode(code, self.target, address, wave_size=self.wave_size)

    def _decode(self, address: int) -> Instruction | None:
        """The instruction that a wave executes at an address; None where no code is."""
        self._code.fill(address)
        return self._code.decode(address)

    def _decoding(self, key: int) -> Callable[[int], Instruction | None]:
        """Decodes what is in the instruction cache, with the registers that a MODE key makes of operands. What names
        registers that the target does not have is illegal."""
        banks = key >> layout.BANKS if self._banked else 0

        def decode(address: int) -> Instruction | None:
            found = self._code.decode(address)
            if found is None:
                return None
            if banks:
                found = in_banks(found, banks)
            return found if exists(found, self.target) else replace(found, illegal=True)

        return decode

    def _begin_again_if_full(self) -> None:
        """Let all translations go when they have become too many, as those of code that keeps changing do."""
        current = self.jit.generation()
        if current is self._generation and not self._blocks.crowded and not self._steps.crowded:
            return
        for known in (self._installed, self._compiled, self._single):
            known.clear()
        self._blocks.reset()
        self._steps.reset()
        self._generation = current

    def _translate(self, state: int, table: _CodeTable) -> Status | None:
        """Translate what is at the wave's pc. Returns a status if nothing can be executed there."""
        pc, key = _u64(state, "pc").value, self._key(state)
        if pc in self._stops:
            self._new_key(key)
            return Status.BREAK
        if table is self._steps:
            return self._translate_steps(pc, key)
        self._code.fill(pc)
        self._begin_again_if_full()
        blocks = gather(pc, self._decoding(key), self._stops.__contains__, lambda a: self._blocks.get(key, a) != 0)
        if blocks[0].blocked is not None:
            return self._block_entry(self._blocks, key, blocks[0])
        fresh = [b for b in blocks if b.instructions]
        missing = [b for b in fresh if (key, b.start, b.end) not in self._compiled]
        functions = self._compile(missing, key, self._optimise)
        translated = dict(zip((b.start for b in missing), functions, strict=True))
        for block in fresh:
            done, function = translated.get(
                block.start, (block, self._compiled.get((key, block.start, block.end), 0))
            )
            if done.instructions:
                self._compiled[key, block.start, done.end] = function
                self._installed[key, block.start] = done.end
                self._blocks.set(key, block.start, function)
            elif block.start == pc:
                return self._block_entry(self._blocks, key, done)
        self._new_key(key)
        return None

    def _translate_steps(self, pc: int, key: int) -> Status | None:
        self._code.fill(pc)
        self._begin_again_if_full()
        row = form_block(pc, self._decoding(key), lambda _: False, _STEP_AHEAD)
        if row.blocked is not None:
            return self._block_entry(self._steps, key, row)
        singles = [Block(i.address, (i,)) for i in row.instructions if (key, i.address) not in self._single]
        for block, (done, function) in zip(singles, self._compile(singles, key, False), strict=True):
            if done.instructions:
                self._single[key, block.start] = function
                if block.start not in self._stops:
                    self._steps.set(key, block.start, function)
            elif block.start == pc:
                return self._block_entry(self._steps, key, done)
        self._new_key(key)
        return None

    def _block_entry(self, table: _CodeTable, key: int, block: Block) -> Status:
        assert block.blocked is not None
        if block.blocked in self._stubs:
            table.set(key, block.start, self._stubs[block.blocked])
            self._new_key(key)
        return block.blocked

    def _new_key(self, key: int) -> None:
        """Make sure the stops are in the tables of this MODE key."""
        for table in (self._blocks, self._steps):
            for pc in self._stops:
                if table.get(key, pc) != self._stubs[Status.BREAK]:
                    table.set(key, pc, self._stubs[Status.BREAK])

    def _compile(self, blocks: list[Block], key: int, optimise: bool) -> list[tuple[Block, int]]:
        """Compile non-empty blocks as one module, or take it from the cache; (block as translated, function) each."""
        if not blocks:
            return []
        base = blocks[0].start
        shape = [(b.start - base, [i.size for i in b.instructions]) for b in blocks]
        code = hashlib.sha256()
        for block in blocks:
            for instruction in block.instructions:
                code.update(self._code.code_at(instruction.address))
        parts = ("blocks", self.target.name, self.wave_size, key, shape, code.digest(), self._watched, self._exceptions)
        module = self.jit.key(*parts, True)
        if not optimise and not self.jit.cached(module, self._generation):
            module = self.jit.key(*parts, False)
        names = [f"b{module}_{n}" for n in range(len(blocks))]

        def make() -> tuple[str, bytes]:
            # Imported late: a warm cache needs no translator.
            from rocdbg.sim.translator.translate import translate
            from rocdbg.sim.translator.wave_builder import WaveBuilder

            builder = WaveBuilder(
                self.wave_size, self.jit.width, self.jit.masked_stores, self._helpers,
                self.target.vgpr_file, self.target.has_agprs,
            )
            builder.watched = self._watched
            mode = layout.Mode(key & (1 << layout.BANKS) - 1 if self._banked else key)
            context = Context(self.target, self.wave_size, mode, self._exceptions)
            result = translate(builder, blocks, names, context)
            note = {"counts": [len(b.instructions) for b in result.blocks], "calls": sorted(builder.called)}
            return result.text, json.dumps(note).encode()

        note = json.loads(self.jit.load(module, make, optimise, self._generation))
        self._link_helpers(note["calls"])
        out: list[tuple[Block, int]] = []
        for block, name, count in zip(blocks, names, note["counts"], strict=True):
            done = block
            if count < len(block.instructions):
                done = Block(block.start, block.instructions[:count], None if count else Status.UNSUPPORTED)
            out.append((done, self._generation.address(name) if count else 0))
        return out

    # -- environment --------------------

    def _link_runtime(self) -> None:
        suffix = "_indexed" if self._indexed else "_banked" if self._banked else ""
        self._link_part(f"dispatch{suffix}")
        start = prefix(self.wave_size)
        self._stubs = {s: self.jit.address(f"{start}stub_{s.name.lower()}{suffix}") for s in _STUBS}
        self._run_native = self.jit.address(f"{start}run{suffix}")
        self._run_range = self.jit.address(f"{start}run_range{suffix}")

    def _link_part(self, part: str) -> None:
        key = self.jit.key("runtime", self.wave_size, part)

        def make() -> tuple[str, bytes]:
            from rocdbg.sim.translator.runtime import Runtime

            return Runtime(self.wave_size, self.jit.width).text(part), b""

        self.jit.load(key, make)

    def _link_helpers(self, names: Iterable[str]) -> None:
        """Fill the environment's slots of routines that blocks call."""
        slots = (ctypes.c_uint64 * layout.MAX_HELPERS).from_address(self._env + layout.ENV_HELPERS)
        for name in names:
            if not slots[self._helpers[name]]:
                self._link_part(part_of(name))
                slots[self._helpers[name]] = self.jit.address(prefix(self.wave_size) + name)
                self._link_helpers(relied_on_by(name))

    def _set_env(self, name: str, value: int) -> None:
        field = ENV[name]
        cut = value & (1 << 8 * field.size) - 1  # line tables may name addresses beyond 64 bits
        ctypes.memmove(self._env + field.offset, cut.to_bytes(field.size, "little"), field.size)

    def _get_env(self, name: str) -> int:
        field = ENV[name]
        return int.from_bytes(ctypes.string_at(self._env + field.offset, field.size), "little")


_MADVISE = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int32)
_NO_HUGE_PAGES = 15  # MADV_NOHUGEPAGE of Linux; a host without huge pages may refuse it


def _u64(state: int, name: str) -> ctypes.c_uint64:
    return ctypes.c_uint64.from_address(state + HEADER[name].offset)


def _u32(state: int, name: str) -> ctypes.c_uint32:
    return ctypes.c_uint32.from_address(state + HEADER[name].offset)


def _inside(bounds: tuple[int, int], pc: int) -> bool:
    return bounds[0] <= pc < bounds[1]


def _bits(mask: int) -> Iterable[int]:
    return [n for n in range(64) if mask >> n & 1]
