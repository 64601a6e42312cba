"""The cache of object code on disk."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocdbg.sim.engine.native_jit import Jit


def module(number: int) -> tuple[str, bytes]:
    return f"define i32 @answer{number}() {{ ret i32 42 }}", b"note"


def entry(cache: Path) -> Path:
    (only,) = (path for path in cache.rglob("*") if path.is_file())
    return only


def test_second_process_finds_what_the_first_compiled(tmp_path: Path) -> None:
    first, second = Jit(tmp_path), Jit(tmp_path)
    key = first.key("answer", 1)
    assert second.key("answer", 1) == key
    assert first.load(key, lambda: module(1)) == second.load(key, lambda: module(1)) == b"note"
    assert (first.compiled, second.compiled) == (1, 0)
    assert second.address("answer1")


@pytest.mark.parametrize("damage", ["empty", "cut", "flipped", "not ours"])
def test_damaged_entry_is_ignored_and_replaced(tmp_path: Path, damage: str) -> None:
    jit = Jit(tmp_path)
    key = jit.key("answer", damage)
    jit.load(key, lambda: module(2))
    path = entry(tmp_path)
    good = path.read_bytes()
    flipped = bytearray(good)
    flipped[-1] ^= 1
    path.write_bytes(
        {"empty": b"", "cut": good[:-9], "flipped": bytes(flipped), "not ours": b"x" * 200}[damage]
    )
    again = Jit(tmp_path)
    assert again.load(key, lambda: module(2)) == b"note"
    assert again.compiled == 1
    assert path.read_bytes() == good


def test_cache_that_cannot_be_written_does_no_harm(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    jit = Jit(tmp_path / "file")
    assert jit.load(jit.key("answer", 3), lambda: module(3)) == b"note"
    assert jit.address("answer3")
