"""Blocks are translated once, regardless of the blocks requested with them: in the process and in the cache on disk."""

from __future__ import annotations

import ctypes
from pathlib import Path

from rocdbg.isa.decoder import decode
from rocdbg.sim.engine.kept_blocks import KeptBlocks
from rocdbg.sim.engine.native_jit import Jit
from rocdbg.sim.translator.blocks import Block

FACTS = ("blocks of this test",)


def block(number: int, start: int = 0, count: int = 2) -> Block:
    """A block of instructions ``s_nop number``."""
    code = bytes([number, 0, 0x80, 0xBF])
    return Block(start, tuple(decode(code, "gfx90a", start + 4 * n) for n in range(count)))


class Process:
    """A process with a cache: it translates block ``number`` into a function that returns the number, ``room`` per
    module.
    """

    def __init__(self, folder: Path | None, room: int = 100) -> None:
        self.jit, self.room = Jit(folder), room
        self.translated: list[int] = []

    def ask(self, *blocks: Block, optimise: bool = False) -> list[int | None]:
        """The results of the blocks' functions."""
        numbers = {i.address: i.operands[0].value for one in blocks for i in one.instructions}

        def code_at(address: int) -> bytes:
            return int(numbers[address]).to_bytes(4, "little")

        def translate(missing: list[Block], names: list[str]) -> tuple[str, list[int], list[str]]:
            self.translated += (numbers[one.start] for one in missing[: self.room])
            text = "\n".join(
                f"define i32 @{name}() {{ ret i32 {numbers[one.start]} }}"
                for one, name in zip(missing[: self.room], names, strict=False)
            )
            return text, [len(one.instructions) if n < self.room else 0 for n, one in enumerate(missing)], []

        generation = self.jit.generation()
        found = KeptBlocks(self.jit, generation, code_at, FACTS, optimise).functions(blocks, translate)
        return [ctypes.CFUNCTYPE(ctypes.c_int)(generation.address(f.name))() if f.count else None for f in found]

    def new(self) -> list[int]:
        """The blocks translated since the last call."""
        found, self.translated = self.translated, []
        return found


def test_process_translates_a_block_once() -> None:
    process = Process(None)
    assert process.ask(block(1), block(2, 100), block(3, 200)) == [1, 2, 3]
    assert process.new() == [1, 2, 3]
    # elsewhere, in another order, twice, next to a new one
    assert process.ask(block(3, 40), block(4, 80), block(1, 120), block(3, 160)) == [3, 4, 1, 3]
    assert process.new() == [4]
    assert process.ask(block(1, count=1)) == [1]  # another block: a stop cuts it
    assert process.new() == [1]


def test_other_processes_find_blocks_in_the_cache(tmp_path: Path) -> None:
    assert Process(tmp_path).ask(block(1), block(2, 100)) == [1, 2]
    second = Process(tmp_path)
    assert second.ask(block(2), block(5, 100)) == [2, 5]
    assert second.new() == [5]
    third = Process(tmp_path)
    assert third.ask(block(5), block(1, 40), block(2, 80)) == [5, 1, 2]
    assert third.new() == []
    assert third.jit.compiled == 0


def test_optimised_code_serves_both_and_other_code_does_not(tmp_path: Path) -> None:
    process = Process(tmp_path)
    process.ask(block(1))
    assert process.ask(block(1), block(2, 40), optimise=True) == [1, 2]
    assert process.new() == [1, 1, 2]
    other = Process(tmp_path)
    assert other.ask(block(2), block(1, 40)) == [2, 1]
    assert other.new() == []


def test_block_that_found_no_room_is_translated_when_asked_for(tmp_path: Path) -> None:
    process = Process(tmp_path, room=1)
    assert process.ask(block(1), block(2, 40)) == [1, None]
    assert process.ask(block(2), block(1, 40)) == [2, 1]
    assert process.new() == [1, 2]
    other = Process(tmp_path, room=1)
    assert other.ask(block(2), block(1, 40)) == [2, 1]
    assert other.new() == []


def test_entry_that_is_gone_is_made_again(tmp_path: Path) -> None:
    Process(tmp_path).ask(block(1), block(2, 40))
    for path in tmp_path.rglob("*"):
        if path.is_file() and path.stat().st_size > 500:  # a module, not a note of which module has a block
            path.unlink()
    process = Process(tmp_path)
    assert process.ask(block(2)) == [2]
    assert process.new() == [2]
