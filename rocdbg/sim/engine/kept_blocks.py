"""Finds translated blocks, each one individually, in the process or in the cache on disk.

Which blocks are translated into one module depends on where a wave came from, on stops, which cut blocks, and on what
was translated before. The code of a block, however, depends only on its own instructions. A block is therefore found
whichever module contains it: two sessions that differ in a breakpoint share all blocks except those that the breakpoint
cuts.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence

from rocdbg.sim.engine.native_jit import Generation, Jit, KeptBlock
from rocdbg.sim.translator.blocks import Block

Translate = Callable[[list[Block], list[str]], tuple[str, list[int], list[str]]]
"""Translates blocks into functions of these names: the module's text, how many instructions of each block it has, and
the routines that it calls."""


_ABSENT = KeptBlock("", 0, ())


class KeptBlocks:
    """The blocks that were translated under the same ``facts``. The facts are everything that affects the code of a
    block in addition to its instructions.

    With ``optimise``, only optimised code is used; otherwise unoptimised code is used as well.
    """

    def __init__(
        self, jit: Jit, generation: Generation, code_at: Callable[[int], bytes], facts: tuple[object, ...],
        optimise: bool,
    ) -> None:
        self._jit, self._generation, self._code_at = jit, generation, code_at
        self._optimise = optimise
        self._tiers = [jit.key(*facts, optimised) for optimised in ((True,) if optimise else (True, False))]
        """The keys under which blocks are searched for, the best first. Blocks that are translated here get the last
        key.
        """

    def functions(self, blocks: Sequence[Block], translate: Translate) -> list[KeptBlock]:
        """The functions of non-empty blocks, linked. Raises `work.Stopped` before anything of a module is linked."""
        names = [self._identity(block) for block in blocks]
        missing = {name: block for name, block in zip(names, blocks, strict=True) if self._known(name) is None}
        if missing and not any(self._linked(self._module(tier, missing)) for tier in self._tiers):
            for name in missing:
                if self._known(name) is None:
                    any(self._linked(self._noted_module(tier, name)) for tier in self._tiers)
            rest = {name: block for name, block in missing.items() if self._known(name) is None}
            if rest:
                self._translate(rest, translate)
        return [self._known(name) or _ABSENT for name in names]

    def _identity(self, block: Block) -> str:
        """A name for a block, made from its instructions. PCs in its code are relative to the block's own, so its
        address does not matter.
        """
        digest = hashlib.sha256(repr([i.size for i in block.instructions]).encode())
        for instruction in block.instructions:
            digest.update(self._code_at(instruction.address))
        return digest.hexdigest()

    def _known(self, name: str) -> KeptBlock | None:
        for tier in self._tiers:
            if (found := self._generation.blocks.get((tier, name))) is not None:
                return found
        return None

    def _module(self, tier: str, blocks: dict[str, Block]) -> str:
        return self._jit.key("module", tier, *blocks)

    def _noted_module(self, tier: str, name: str) -> str:
        """The module that contains a block, as the cache has noted; empty if the cache knows none."""
        entry = self._jit.cache.read(self._jit.key("block", tier, name)) if self._jit.cache is not None else None
        return entry[0].decode() if entry is not None else ""

    def _linked(self, module: str) -> bool:
        """Link a module if the cache has it."""
        if not module or not self._jit.cached(module, self._generation):
            return False

        def make() -> tuple[str, bytes]:
            raise AssertionError("the module was there a moment ago")

        self._add(module, self._jit.load(module, make, self._optimise, self._generation))
        return True

    def _translate(self, blocks: dict[str, Block], translate: Translate) -> None:
        tier = self._tiers[-1]
        module = self._module(tier, blocks)
        names = [f"b{module}_{n}" for n in range(len(blocks))]

        def make() -> tuple[str, bytes]:
            text, counts, calls = translate(list(blocks.values()), names)
            return text, json.dumps({"tier": tier, "blocks": list(blocks), "counts": counts, "calls": calls}).encode()

        added = self._add(module, self._jit.load(module, make, self._optimise, self._generation))
        if self._jit.cache is not None:
            for name in added:
                self._jit.cache.write(self._jit.key("block", tier, name), module.encode(), b"")

    def _add(self, module: str, note: bytes) -> list[str]:
        """Record which blocks a linked module has, and return them, without blocks that could not be translated."""
        said = json.loads(note)
        calls = tuple(said["calls"])
        added = []
        for n, (name, count) in enumerate(zip(said["blocks"], said["counts"], strict=True)):
            if count:
                self._generation.blocks.setdefault((said["tier"], name), KeptBlock(f"b{module}_{n}", count, calls))
                added.append(name)
        return added
