"""Damaged input causes no exception other than rocdbg.Error."""

from __future__ import annotations

import random
import resource
from collections.abc import Callable
from pathlib import Path

import pytest

from rocdbg.codeobject import CodeObjectError, list_entries, open_file, open_modules
from rocdbg.errors import Error

pytestmark = pytest.mark.llvm
COPIES = 120
DEMO_KERNELS = Path(__file__).resolve().parent.parent.parent / "demo_kernels"


def exercise(path: Path) -> int:
    """Use everything that a file contains, item by item; return how many items worked."""
    worked = 0

    def attempt(action: Callable[[], object]) -> object:
        nonlocal worked
        try:
            result = action()
        except Error as error:
            message = str(error)
            assert message and "\n" not in message
            return None
        worked += 1
        return result

    attempt(lambda: list_entries(path))
    for code_object in attempt(lambda: open_modules(path)) or []:  # type: ignore[attr-defined]
        attempt(lambda c=code_object: c.metadata)
        attempt(lambda c=code_object: [s.data for s in c.sections.values()])
        attempt(lambda c=code_object: c.load(0x100000))
        attempt(lambda c=code_object: c.elf)
        attempt(lambda c=code_object: [c.symbols.at(s.value) for s in c.symbols])
        attempt(lambda c=code_object: c.dynamic_symbols.names())
        for name in attempt(lambda c=code_object: list(c.kernels)) or []:  # type: ignore[attr-defined]
            attempt(lambda c=code_object, n=name: c.kernels[n].metadata)
            attempt(lambda c=code_object, n=name: c.kernels[n].descriptor.user_sgprs())
            attempt(lambda c=code_object, n=name: c.kernels[n].entry_address)
    return worked


def flip(data: bytes, rng: random.Random) -> bytes:
    """A few bytes replaced; half of the time near the start, where the headers are."""
    out = bytearray(data)
    for _ in range(rng.choice((1, 2, 4, 16))):
        end = min(len(out), rng.choice((0x1000, len(out))))
        out[rng.randrange(end)] = rng.choice((0, 0xFF, 0x7F, 0x80, rng.randrange(256)))
    return bytes(out)


def cut(data: bytes, rng: random.Random) -> bytes:
    """The file with its end cut off, or with a part in the middle removed or blanked."""
    start = rng.randrange(len(data))
    size = rng.choice((1, 8, 64, 1000, len(data)))
    how = rng.randrange(3)
    if how == 0:
        return data[: start + 1]
    return data[:start] + (b"" if how == 1 else bytes(min(size, len(data) - start))) + data[start + size :]


CASES = [
    ("kernels.hip", "gfx90a", 4), ("kernels.hip", "gfx1100", 5), ("kernels.hip", "gfx11-generic", 6),
    ("kernels.cl", "gfx942", 5), ("kernels.cl", "gfx906", 4),
]


@pytest.mark.parametrize(("source", "processor", "version"), CASES)
def test_object(
    source: str, processor: str, version: int, compiled: Callable[..., Path], tmp_path: Path
) -> None:
    data = compiled(source, processor, version).read_bytes()
    damaged_somewhere(data, tmp_path / "damaged.co", f"{source} {processor}")


@pytest.mark.parametrize("form", ["plain", "zlib", "zstd"])
def test_bundle(
    form: str,
    compiled: Callable[..., Path],
    make_bundle: Callable[..., bytes],
    make_ccob: Callable[[bytes, int, int], bytes],
    tmp_path: Path,
) -> None:
    first = compiled("kernels.hip", "gfx90a", 5).read_bytes()
    second = compiled("kernels.cl", "gfx942", 5).read_bytes()
    data = make_bundle(
        ("host-x86_64-unknown-linux--", b""), ("hipv4-amdgcn-amd-amdhsa--gfx90a", first),
        ("hipv4-amdgcn-amd-amdhsa--gfx942", second),
    )
    if form != "plain":
        data = make_ccob(data, 3, 0 if form == "zlib" else 1)
    damaged_somewhere(data, tmp_path / "damaged.hipfb", form)


def damaged_somewhere(data: bytes, path: Path, seed: str) -> None:
    path.write_bytes(data)
    whole = exercise(path)
    rng = random.Random(seed)
    hurt = 0
    for _ in range(COPIES):
        path.write_bytes(rng.choice((flip, cut))(data, rng))
        hurt += exercise(path) < whole
    assert hurt > COPIES // 10  # else the damage is too mild to show anything
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < 1 << 20  # in KiB


@pytest.mark.parametrize("source", ["kernels.hip", "kernels.cl"])
def test_every_short_prefix_is_refused(source: str, compiled: Callable[..., Path], tmp_path: Path) -> None:
    data = compiled(source, "gfx90a", 5).read_bytes()
    path = tmp_path / "cut.co"
    for size in range(64):
        path.write_bytes(data[:size])
        with pytest.raises(CodeObjectError) as caught:
            open_modules(path)
        assert str(path) in str(caught.value)


def test_a_machine_without_kernel_descriptors(tmp_path: Path) -> None:
    """e_flags damaged so that they name an R600 processor, in a 64-bit ELF file."""
    data = bytearray((DEMO_KERNELS / "saxpy" / "saxpy.O0.gfx1100.co").read_bytes())
    data[48] = 0x01
    path = tmp_path / "r600.co"
    path.write_bytes(data)
    with pytest.raises(CodeObjectError, match="has no kernel descriptors") as caught:
        _ = open_file(path).kernels["saxpy"].descriptor
    assert (caught.value.section, caught.value.offset) == ("ELF header", 48)
