"""Manages translations of a target's code for waves of one size: makes them when a wave first reaches the code, keeps
them, and frees them.

Native code finds a block's function by pc in page directories, one per MODE key (`code_table`). A stop is an entry
that points to a routine which only reports it, so stops cost nothing elsewhere.
"""

from __future__ import annotations

import ctypes
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from rocdbg.arch.targets import Generation, Target
from rocdbg.isa.decoder import decode
from rocdbg.isa.instruction import Instruction
from rocdbg.sim.core import layout
from rocdbg.sim.core.checks import Answers, Check, Table
from rocdbg.sim.core.guarded import guarded
from rocdbg.sim.core.layout import WINDOW_SIZE, Status
from rocdbg.sim.core.register_bounds import exists
from rocdbg.sim.core.vgpr_banks import in_banks
from rocdbg.sim.engine.check_table import CheckTable
from rocdbg.sim.engine.code_table import CodeTable
from rocdbg.sim.engine.instruction_cache import LONGEST, Fetch, InstructionCache
from rocdbg.sim.engine.kept_blocks import KeptBlocks
from rocdbg.sim.engine.native_jit import shared_jit
from rocdbg.sim.engine.translation_cache import default_cache_directory
from rocdbg.sim.semantics.access import Context
from rocdbg.sim.translator.blocks import Block, form_block, gather
from rocdbg.sim.translator.routine_names import helper_names, part_of, prefix, relied_on_by

if TYPE_CHECKING:
    from rocdbg.sim.translator.wave_builder import WaveBuilder

_STEP_AHEAD = 24  # instructions translated one by one when single-stepping reaches new code
_STUBS = (Status.BREAK, Status.UNSUPPORTED, Status.ILLEGAL)


class Translations:
    """The native code for the code that `fetch` reads, in the directories and helper slots to which an engine's
    environment points.

    ``watched``: whether memory accesses are reported to the routines that count uninitialized reads.
    """

    def __init__(
        self, target: Target, wave_size: int, fetch: Fetch, cache_dir: Path | None, watched: bool, window_base: int
    ) -> None:
        self.target, self.wave_size = target, wave_size
        self.jit = shared_jit(cache_dir or default_cache_directory())
        self._code = InstructionCache(fetch, self._isa_decode)
        self._watched = watched
        self._exceptions = self._noted = self._watching = self._touching = False
        self._indexed = target.generation <= Generation.GFX9
        self._banked = target.is_gfx125
        self._helpers = {name: slot for slot, name in enumerate(helper_names())}
        self._storage = guarded(layout.ENV_SIZE)
        self._env: int = self._storage.ctypes.data
        self._base = window_base
        self._blocks, self._steps = CodeTable(window_base), CodeTable(window_base)
        self._ends = CodeTable(window_base)  # where each block ends, instead of its function
        self._cuts: frozenset[int] = frozenset()  # pcs that no block runs past
        self._installed: dict[tuple[int, int], int] = {}  # (mode key, start) -> end of the block
        self._compiled: dict[tuple[int, int, int], int] = {}  # (mode key, start, end) -> function
        self._single: dict[tuple[int, int], int] = {}  # (mode key, pc) -> function of one instruction
        self._stops: frozenset[int] = frozenset()
        self._keyed: set[int] = set()  # the mode keys whose tables contain the stops
        self._torn = False  # whether setting stops was interrupted midway
        self._checks = CheckTable(target, wave_size, self.jit)
        self._optimise = False
        self._stubs: dict[Status, int] = {}
        self._generation = self.jit.generation()  # where all translations are linked
        self._link_runtime()

    # -- what translations include --------------------

    def optimise(self) -> None:
        """Translate blocks with optimisation from now on, at several times the cost; existing translations are
        discarded.

        Engines call this after many instructions, so that optimisation does not slow down a single pass through a
        kernel.
        """
        self._optimise = True
        for key, start in self._installed:
            if start not in self._stops:
                self._blocks.set(key, start, 0)
        self._installed.clear()
        self._compiled.clear()

    def watch_exceptions(self) -> None:
        """Make instructions record the arithmetic exceptions that they raise from now on; older translations are
        discarded."""
        if not self._exceptions:
            self._exceptions = True
            self._forget_translations()

    def _forget_translations(self) -> None:
        """Discard blocks, because new ones must record more, or less, than these."""
        for key, start in self._installed:
            if start not in self._stops:
                self._blocks.set(key, start, 0)
        for key, pc in self._single:
            if pc not in self._stops:
                self._steps.set(key, pc, 0)
        self._installed.clear()
        self._compiled.clear()
        self._single.clear()
        self._checks.forget_instructions()

    # -- stops and changed code --------------------

    def set_stops(self, stops: frozenset[int], checks: Mapping[int, Check] | None = None) -> None:
        """Set the pcs before which waves stop with BREAK; pcs outside simulated memory are never reached.

        At pcs in ``checks`` that are not also stops, native code decides whether a wave stops. Counters begin at their
        current values; `collect` updates them.
        """
        inside = frozenset(pc for pc in stops.union(checks or ()) if 0 <= pc - self._base < WINDOW_SIZE)
        wanted = {pc: check for pc, check in (checks or {}).items() if pc in inside and pc not in stops}
        if inside == self._stops and not wanted and not self._checks.pcs and not self._torn:
            return
        self._begin_again_if_full()
        before = self._checks.pcs
        torn, self._torn = self._torn, True
        self._checks.set(wanted, self._generation)
        added, removed = inside if torn else inside - self._stops, self._stops - inside
        changed = added | (before ^ self._checks.pcs) & inside
        self._stops |= inside
        for table in (self._blocks, self._steps):
            for key in self._keyed.union(table.mode_keys()):
                for pc in removed:
                    table.set(key, pc, self._single.get((key, pc), 0) if table is self._steps else 0)
                for pc in changed:
                    table.set(key, pc, self._stop_entry(key, pc))
        self._cut_blocks(added)
        self._stops, self._torn = inside, False

    def set_cuts(self, cuts: frozenset[int]) -> None:
        """Set the addresses at which every block ends although waves do not stop there."""
        if cuts == self._cuts:
            return
        added, removed = cuts - self._cuts, self._cuts - cuts
        self._cuts = cuts
        self._cut_blocks(added)
        for (key, start), end in list(self._installed.items()):
            if end in removed:  # the block may now extend further
                del self._installed[key, start]
                if start not in self._stops:
                    self._blocks.set(key, start, 0)

    def _cut_blocks(self, added: frozenset[int]) -> None:
        """Discard the blocks that extend past a new stop."""
        if not added:
            return
        sought = sorted(added)
        for (key, start), end in list(self._installed.items()):
            after = bisect_right(sought, start)
            if after < len(sought) and sought[after] < end:
                del self._installed[key, start]
                if start not in self._stops:
                    self._blocks.set(key, start, 0)

    def collect(self) -> None:
        """Update the counters of the checks."""
        self._checks.collect()

    def decide(
        self, tables: Sequence[Table], lanes: int, call: Callable[[int, int], bool]
    ) -> list[Answers] | None:
        """As `CheckTable.decide`."""
        return self._checks.decide(tables, lanes, call, self._generation)

    def _stop_entry(self, key: int, pc: int) -> int:
        """The function that the table has for a stop."""
        if pc in self._checks.pcs:
            return self._checks.entry(key, pc, self._generation) or self._stubs[Status.BREAK]
        return self._stubs[Status.BREAK]

    def invalidate(self, lo: int, hi: int) -> None:
        """Make changes that the host made to the bytes of code in [lo, hi) take effect at once."""
        self._code.write(lo, hi)
        self._forget(lo, hi)

    def refresh(self) -> None:
        """Make stores of kernels to code take effect: at s_icache_inv, or at the start of a dispatch."""
        for lo, hi in self._code.refresh():
            self._forget(lo, hi)

    @property
    def code_lines(self) -> dict[int, bytes]:
        """The lines of the instruction cache, by address."""
        return self._code.lines

    def set_code_lines(self, lines: dict[int, bytes]) -> None:
        """Let the instruction cache hold exactly these lines."""
        for lo, hi in self._code.replace(lines):
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
        self._checks.forget_instructions(lambda pc: lo - LONGEST < pc < hi)
        self._blocked_again(lo, hi)

    def _blocked_again(self, lo: int, hi: int) -> None:
        """Discard table entries for code that could not be executed, so that it is examined again."""
        blocked = {self._stubs[Status.UNSUPPORTED], self._stubs[Status.ILLEGAL]}
        for table in (self._blocks, self._steps):
            table.clear(lo - LONGEST, hi, blocked)

    # -- translation --------------------

    def _isa_decode(self, code: bytes, address: int) -> Instruction:
        return decode(code, self.target, address, wave_size=self.wave_size)

    def _decode(self, address: int) -> Instruction | None:
        """The instruction that a wave executes at an address; None if there is no code."""
        self._code.fill(address)
        return self._code.decode(address)

    def _decoding(self, key: int) -> Callable[[int], Instruction | None]:
        """A decoder for the contents of the instruction cache, which gives operands the register numbers that a MODE
        key implies. Instructions that name registers which the target does not have are illegal.
        """
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
        """Discard all translations if there are too many, which happens with code that keeps changing."""
        current = self.jit.generation()
        if current is self._generation and not self._blocks.crowded and not self._steps.crowded:
            return
        for known in (self._installed, self._compiled, self._single):
            known.clear()
        self._checks.forget_instructions()
        for table in (self._blocks, self._steps, self._ends):
            table.reset()
        self._keyed.clear()
        self._generation = current
        self._checks.link_again(current)

    def _translate(self, pc: int, key: int, table: CodeTable) -> Status | None:
        """Translate the code at a wave's pc. Returns a status if nothing can be executed there."""
        if pc in self._stops:
            self._begin_again_if_full()
            self._new_key(key)
            return self._checked_instruction(pc, key) if pc in self._checks.pcs else Status.BREAK
        if table is self._steps:
            return self._translate_steps(pc, key)
        self._code.fill(pc)
        self._begin_again_if_full()
        blocks = gather(
            pc, self._decoding(key), self._stops.__contains__, lambda a: self._blocks.get(key, a) != 0,
            self._cuts.__contains__,
        )
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
                self._ends.set(key, block.start, done.end)
                self._blocks.set(key, block.start, function)
            elif block.start == pc:
                return self._block_entry(self._blocks, key, done)
        self._new_key(key)
        return None

    def _checked_instruction(self, pc: int, key: int) -> Status | None:
        """Set the function that the entry of a check calls to execute its instruction. Returns a status if the
        instruction cannot be executed.
        """
        if self._checks.has_instruction(key, pc):
            return None
        if (key, pc) not in self._single:
            blocked = self._translate_steps(pc, key)
            if blocked is not None:
                return Status.BREAK  # first, the check must decide whether the wave stops here
        if not self._checks.set_instruction(key, pc, self._single[key, pc]):
            return Status.BREAK  # too many checks
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

    def _block_entry(self, table: CodeTable, key: int, block: Block) -> Status:
        assert block.blocked is not None
        if block.blocked in self._stubs and block.start not in self._stops:
            table.set(key, block.start, self._stubs[block.blocked])
            self._new_key(key)
        return block.blocked

    def _new_key(self, key: int) -> None:
        """Make sure that the tables of this MODE key contain the stops."""
        if key in self._keyed:
            return
        for pc in self._stops:
            entry = self._stop_entry(key, pc)
            for table in (self._blocks, self._steps):
                if table.get(key, pc) != entry:
                    table.set(key, pc, entry)
        self._keyed.add(key)

    def _compile(self, blocks: list[Block], key: int, optimise: bool) -> list[tuple[Block, int]]:
        """Return the block as translated and its function, for each of the given blocks, which must not be empty.
        Blocks that neither the process nor the cache has are compiled as one module.
        """
        if not blocks:
            return []
        observed = self._watched, self._exceptions, self._watching, self._touching
        facts: tuple[object, ...] = ("blocks", self.target.name, self.wave_size, key, *observed)
        facts = (*facts, "noted") if self._noted else facts

        def translate(missing: list[Block], names: list[str]) -> tuple[str, list[int], list[str]]:
            # Imported late: with a warm cache no translator is needed.
            from rocdbg.sim.translator.translate import translate

            builder, context = self._recorder(key)
            result = translate(builder, missing, names, context)
            return result.text, [len(b.instructions) for b in result.blocks], sorted(builder.called)

        kept = KeptBlocks(self.jit, self._generation, self._code.code_at, facts, optimise)
        functions = kept.functions(blocks, translate)
        for calls in {found.calls for found in functions}:
            self._link_helpers(calls)
        out: list[tuple[Block, int]] = []
        for block, found in zip(blocks, functions, strict=True):
            done, count = block, found.count
            if count < len(block.instructions):
                done = Block(block.start, block.instructions[:count], None if count else Status.UNSUPPORTED)
            out.append((done, self._generation.address(found.name) if count else 0))
        return out

    def _recorder(self, key: int) -> tuple[WaveBuilder, Context]:
        """The builder that records blocks under a MODE key."""
        from rocdbg.sim.translator.wave_builder import WaveBuilder

        builder = WaveBuilder(
            self.wave_size, self.jit.width, self.jit.masked_stores, self._helpers,
            self.target.vgpr_file, self.target.has_agprs,
        )
        builder.watched, builder.noted = self._watched, self._noted
        mode = layout.Mode(key & (1 << layout.BANKS) - 1 if self._banked else key)
        context = Context(
            self.target, self.wave_size, mode, self._exceptions, self._watching, self._touching, self._noted
        )
        return builder, context

    # -- linking --------------------

    def _link_runtime(self) -> None:
        suffix = "_indexed" if self._indexed else "_banked" if self._banked else ""
        self._link_part(f"dispatch{suffix}")
        start = prefix(self.wave_size)
        self._stubs = {s: self.jit.address(f"{start}stub_{s.name.lower()}{suffix}") for s in _STUBS}
        self._run_native = self.jit.address(f"{start}run{suffix}")
        self._run_range = self.jit.address(f"{start}run_range{suffix}")
        self._run_traced = self.jit.address(f"{start}run_traced{suffix}")

    def _link_part(self, part: str) -> None:
        key = self.jit.key("runtime", self.wave_size, part)

        def make() -> tuple[str, bytes]:
            from rocdbg.sim.translator.runtime import Runtime

            return Runtime(self.wave_size, self.jit.width).text(part), b""

        self.jit.load(key, make)

    def _link_helpers(self, names: Iterable[str]) -> None:
        """Fill the environment's slots with the routines that blocks call."""
        slots = (ctypes.c_uint64 * layout.MAX_HELPERS).from_address(self._env + layout.ENV_HELPERS)
        for name in names:
            if not slots[self._helpers[name]]:
                self._link_helpers(relied_on_by(name))  # linked first, in case this is interrupted
                self._link_part(part_of(name))
                slots[self._helpers[name]] = self.jit.address(prefix(self.wave_size) + name)
