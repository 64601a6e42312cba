"""Format loads and stores, every format of every generation, against exact arithmetic."""

from __future__ import annotations

import subprocess

import format_reference as reference
import numpy as np
import pytest
from engine_bench import Bench

from rocdbg.arch.targets import target_by_name
from rocdbg.sim.core.layout import Status
from rocdbg.sim.data.buffer_formats import BufferFormat, formats_of

pytestmark = pytest.mark.llvm
TARGETS = ("gfx900", "gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1201")
IDENTITY = reference.IDENTITY
SPECIAL = (
    0, 0x80000000, 0x3F800000, 0xBF800000, 0x7F800000, 0xFF800000, 0x7FC00000, 0x3F000000, 0x3EFFFFFF, 0x3B008081,
    0x3B808080, 0x477FE000, 0x47800000, 0x477FF000, 0x38800000, 0x387FC000, 0x33800000, 0x33800001, 0x33000000,
    0x00000001, 0x437F0000, 0x43800000, 0xC3000000, 0xC3008000, 0x3F81, 255, 0x12345678, 0xFFFFFFFF,
)


def wave_of(target: str) -> int:
    return 64 if target.startswith("gfx9") else 32


def word3(target: str, code: int, selectors: int = IDENTITY) -> int:
    """The resource's last dword: format and selectors; bounds by record."""
    if target.startswith("gfx9"):
        return selectors | (code & 15) << 15 | (code >> 4) << 12
    return selectors | code << 12 | 1 << 28


def formats(target: str) -> dict[int, BufferFormat]:
    return formats_of(target_by_name(target).generation)


def name(target: str, operation: str, letters: str, d16: bool = False) -> str:
    new = target.startswith(("gfx11", "gfx12"))
    middle = ("_d16_format_" if new else "_format_d16_") if d16 else "_format_"
    return f"buffer_{operation}{middle}{letters}"


def zero(target: str) -> str:
    return "null" if target.startswith("gfx12") else "0"


class FormatBench(Bench):
    """A program over one buffer of 4096 bytes through s[0:3]; v0 holds the index."""

    def __init__(self, text: str, target: str) -> None:
        super().__init__(text + "\ns_endpgm", target, wave_of(target))
        self.name = target
        self.area = self.memory.allocate(4096, name="area")
        self.vgpr(0)[:] = np.arange(self.wave_size)

    def go(self, code: int, stride: int, selectors: int = IDENTITY) -> None:
        self.set64(0, self.area.address | stride << 48)
        self.set64(2, self.wave_size | word3(self.name, code, selectors) << 32)
        self.set("pc", self.text.address)
        assert self.run() is Status.END

    def fill(self, seed: int) -> np.ndarray:
        data = np.random.default_rng(seed).integers(0, 256, 4096, np.uint8)
        self.area.data[:] = data
        return data


@pytest.mark.parametrize("target", ["gfx900", "gfx1030", "gfx1100", "gfx1201"])
def test_names_are_the_assembler_s(target: str) -> None:
    text = "".join(
        f"tbuffer_load_format_x v1, off, s[4:7], {zero(target)} format:{code}\n" for code in range(128)
    )
    done = subprocess.run(
        ["llvm-mc-22", "-triple=amdgcn", f"-mcpu={target}"],
        input=text.encode(),
        capture_output=True,
        check=True,
    )
    lines = [line for line in done.stdout.decode().splitlines() if "tbuffer" in line]
    for code, line in enumerate(lines):
        form = formats(target).get(code)
        if target == "gfx900":
            data, _, number = (form.name if form else "").rpartition("_")
            for part, default, field in ((data, "8", "DATA"), (number, "UNORM", "NUM")):
                assert form is None or part == default or f"BUF_{field}_FORMAT_{part}" in line, line
        elif form is None:
            assert code == 0 or code >= len(formats(target)) + 1
        elif code != 1:  # the default is not printed
            assert line.endswith(f"format:[BUF_FMT_{form.name}]")


@pytest.mark.parametrize("target", TARGETS)
def test_loads(target: str) -> None:
    text = f"{name(target, 'load', 'xyzw')} v[4:7], v0, s[0:3], {zero(target)} idxen\n"
    text += f"{name(target, 'load', 'xyzw', True)} v[8:9], v0, s[0:3], {zero(target)} idxen"
    bench = FormatBench(text, target)
    data = bench.fill(1)
    for code, form in formats(target).items():
        bench.go(code, 16)
        for lane in range(bench.wave_size):
            raw = data[16 * lane : 16 * lane + form.size].tobytes()
            where = f"{form.name}, lane {lane}, {raw.hex()}"
            want = [reference.loaded(raw, form, n) for n in range(4)]
            got = [int(bench.vgpr(4 + n)[lane]) for n in range(4)]
            assert list(map(same, got)) == list(map(same, want)), where
            halves = [reference.loaded_half(raw, form, n) for n in range(4)]
            pairs = [int(bench.vgpr(8 + n)[lane]) for n in range(2)]
            got = [pair >> 16 * n & 0xFFFF for pair in pairs for n in range(2)]
            assert list(map(same_half, got)) == list(map(same_half, halves)), where


def same(bits: int) -> int | str:
    """NaNs of floats compare equal regardless of their payloads."""
    return "nan" if bits & 0x7F800000 == 0x7F800000 and bits & 0x7FFFFF else bits


def same_half(bits: int) -> int | str:
    return "nan" if bits & 0x7C00 == 0x7C00 and bits & 0x3FF else bits


@pytest.mark.parametrize("target", TARGETS)
def test_stores(target: str) -> None:
    bench = FormatBench(f"{name(target, 'store', 'xyzw')} v[4:7], v0, s[0:3], {zero(target)} idxen", target)
    rng = np.random.default_rng(2)
    for n in range(4):
        scale = np.float32(rng.choice([1, 1, 300, 70000]))
        bench.vgpr(4 + n)[:] = (rng.normal(size=bench.wave_size).astype(np.float32) * scale).view(np.uint32)
        bench.vgpr(4 + n)[: len(SPECIAL)] = np.roll(np.array(SPECIAL, np.uint32), n)
    for code, form in formats(target).items():
        before = bench.fill(code)
        bench.go(code, 16)
        for lane in range(bench.wave_size):
            values = [int(bench.vgpr(4 + n)[lane]) for n in range(4)]
            want = (
                reference.stored_element(values, form)
                + before[16 * lane + form.size :][: 16 - form.size].tobytes()
            )
            got = bench.area.data[16 * lane : 16 * lane + 16].tobytes()
            assert got == want or nan_halves(got, want, form), (form.name, [hex(v) for v in values])


def nan_halves(got: bytes, want: bytes, form: BufferFormat) -> bool:
    """Whether two elements differ in payloads of f16 NaNs only."""
    if form.number.name != "FLOAT" or 16 not in form.widths:
        return False
    a, b = (np.frombuffer(x, np.uint16).tolist() for x in (got, want))
    return all(same_half(x) == same_half(y) for x, y in zip(a, b, strict=True))


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("selectors", [0o7654, 0o4567, 0o1004, 0o0155, 0o7777, 0o1111])
def test_selectors_apply_to_loads_and_stores(target: str, selectors: int) -> None:
    """Each digit of DST_SEL, X in the lowest one, selects 0, 1, or (4 to 7) a component from X to W."""
    text = f"{name(target, 'load', 'xyzw')} v[4:7], v0, s[0:3], {zero(target)} idxen\n"
    text += f"{name(target, 'load', 'xyzw', True)} v[8:9], v0, s[0:3], {zero(target)} idxen\n"
    text += f"{name(target, 'store', 'xyz')} v[10:12], v0, s[0:3], {zero(target)} idxen"
    bench = FormatBench(text, target)
    for n in range(3):
        bench.vgpr(10 + n)[:] = 0x3F000000 - 0x100000 * n
    for wanted in ("8_8_8_8_UNORM", "16_16_SINT", "32_32_32_32_UINT", "2_10_10_10_UNORM", "8_UINT"):
        code, form = next((c, f) for c, f in formats(target).items() if f.name == wanted)
        data = bench.fill(code)
        bench.go(code, 16, selectors)
        integer = form.number.is_integer
        for lane in (0, 3, bench.wave_size - 1):
            raw = data[16 * lane : 16 * lane + form.size].tobytes()
            channels = [reference.loaded(raw, form, n) for n in range(4)]
            want = reference.selected(channels, form, selectors, 1 if integer else 0x3F800000)
            assert [int(bench.vgpr(4 + n)[lane]) for n in range(4)] == want
            halves = [reference.loaded_half(raw, form, n) for n in range(4)]
            want = reference.selected(halves, form, selectors, 1 if integer else 0x3C00)
            assert [int(bench.vgpr(8 + n // 2)[lane]) >> n % 2 * 16 & 0xFFFF for n in range(4)] == want
            stored = reference.stored_element(
                [int(bench.vgpr(10 + n)[lane]) for n in range(3)], form, selectors
            )
            assert bench.area.data[16 * lane : 16 * lane + form.size].tobytes() == stored


@pytest.mark.parametrize(("target", "packed"), [("gfx803", False), ("gfx810", True)])
def test_halves_of_gfx8(target: str, packed: bool) -> None:
    """Before gfx810, each component has a separate register."""
    registers = "v[4:5]" if packed else "v[4:7]"
    text = f"buffer_load_format_d16_xyzw {registers}, v0, s[0:3], 0 idxen\n"
    text += f"buffer_store_format_d16_xyzw {registers}, v0, s[0:3], 0 idxen offset:512"
    bench = FormatBench(text, target)
    bench.area.data.view(np.uint16)[:] = np.arange(2048)
    code = next(c for c, f in formats("gfx900").items() if f.name == "16_16_16_16_UINT")
    word = IDENTITY | (code & 15) << 15 | code >> 4 << 12
    bench.set64(0, bench.area.address | 8 << 48)
    bench.set64(2, 4096 | word << 32)
    assert bench.run() is Status.END
    lane = 5
    want = [0x150014, 0x170016] if packed else [20, 21, 22, 23]
    assert [int(bench.vgpr(4 + n)[lane]) for n in range(len(want))] == want
    stored = bench.area.data.view(np.uint16)[256 : 256 + 4 * bench.wave_size]
    assert stored.tolist() == list(range(4 * bench.wave_size))


COUNTS = [("x", 1), ("xy", 2), ("xyz", 3), ("xyzw", 4)]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(("letters", "count"), COUNTS, ids=[row[0] for row in COUNTS])
def test_how_many_registers_are_written(target: str, letters: str, count: int) -> None:
    """Halves come in pairs; if their number is odd, the remaining half keeps its contents."""
    last, half = 4 + count - 1, 8 + (count - 1) // 2
    span = f"v[4:{last}]" if count > 1 else "v4"
    halves = f"v[8:{half}]" if count > 2 else "v8"
    text = f"{name(target, 'load', letters)} {span}, v0, s[0:3], {zero(target)} idxen\n"
    text += f"{name(target, 'load', letters, True)} {halves}, v0, s[0:3], {zero(target)} idxen"
    bench = FormatBench(text, target)
    code = next(c for c, f in formats(target).items() if f.name == "16_16_16_16_UINT")
    bench.area.data.view(np.uint16)[:] = np.arange(2048)
    for register in range(4, 12):
        bench.vgpr(register)[:] = 0xDEAD0000 + register
    bench.go(code, 8)
    lane = 5
    want = [20 + n if n < count else 0xDEAD0004 + n for n in range(4)]
    assert [int(bench.vgpr(4 + n)[lane]) for n in range(4)] == want
    first = 0xDEAD0014 if count == 1 else 0x00150014
    second = [0xDEAD0009, 0xDEAD0009, 0xDEAD0016, 0x00170016][count - 1]
    assert [int(bench.vgpr(8 + n)[lane]) for n in range(2)] == [first, second]


@pytest.mark.parametrize("target", TARGETS)
def test_high_half(target: str) -> None:
    new = target.startswith(("gfx11", "gfx12"))
    middle = "d16_hi_format_x" if new else "format_d16_hi_x"
    text = f"buffer_load_{middle} v4, v0, s[0:3], {zero(target)} idxen\n"
    text += f"buffer_store_{middle} v5, v0, s[0:3], {zero(target)} idxen"
    bench = FormatBench(text, target)
    code = next(c for c, f in formats(target).items() if f.name == "16_UINT")
    bench.area.data.view(np.uint16)[:] = np.arange(2048) + 0x100
    bench.vgpr(4)[:], bench.vgpr(5)[:] = 0xAAAABBBB, 0x12345678
    bench.go(code, 2)
    assert [hex(bench.vgpr(4)[lane]) for lane in (0, 7)] == ["0x100bbbb", "0x107bbbb"]
    assert (bench.area.data.view(np.uint16)[: bench.wave_size] == 0x1234).all()


@pytest.mark.parametrize("target", TARGETS)
def test_typed_instructions_carry_their_format_and_ignore_selectors(target: str) -> None:
    """Every format, as an instruction; the resource's own format and DST_SEL have no effect."""
    new = target.startswith("gfx1")
    codes = formats(target)
    text = ""
    for n, code in enumerate(codes):
        text += (
            f"tbuffer_load_format_xyzw v[4:7], off, s[0:3], {zero(target)} format:{code} offset:{n % 4 * 4}\n"
        )
        store = "b128" if target.startswith(("gfx11", "gfx12")) else "dwordx4"
        text += f"global_store_{store} v0, v[4:7], s[4:5] offset:{16 * n % 2048}\n"
        if n == 127:
            text += f"v_add_{'nc_' if new else ''}u32 v0, 0x800, v0\n"
    bench = FormatBench(text, target)
    data = bench.fill(3)
    output = bench.memory.allocate(4096)
    bench.set64(4, output.address)
    bench.vgpr(0)[:] = 0
    bench.exec = 1
    other = next(c for c, f in codes.items() if f.name == "16_UINT")
    bench.set64(0, bench.area.address)
    bench.set64(2, 4096 | (word3(target, other, 0o1111) & ~(3 << 28) | (3 << 28 if new else 0)) << 32)
    assert bench.run() is Status.END
    for n, form in enumerate(codes.values()):
        raw = data[n % 4 * 4 :][: form.size].tobytes()
        want = [reference.loaded(raw, form, channel) for channel in range(4)]
        got = output.data[16 * n : 16 * n + 16].view(np.uint32).tolist()
        assert list(map(same, got)) == list(map(same, want)), form.name


@pytest.mark.parametrize("target", TARGETS)
def test_out_of_range_and_unbound(target: str) -> None:
    """Beyond the range, a load gives 0, and 1 where DST_SEL says so; a resource without format gives only 0."""
    text = f"{name(target, 'load', 'xyzw')} v[4:7], v0, s[0:3], {zero(target)} idxen\n"
    text += f"{name(target, 'store', 'xyzw')} v[8:11], v0, s[0:3], {zero(target)} idxen"
    bench = FormatBench(text, target)
    code = next(c for c, f in formats(target).items() if f.name == "8_8_8_8_UINT")
    bench.area.data[:] = 7
    bench.vgpr(0)[:] += 1  # the last lane's record is one too far
    bench.vgpr(8)[:] = 9
    last = bench.wave_size - 1
    bench.go(code, 4, 0o1654)
    assert [int(bench.vgpr(4 + n)[last]) for n in range(4)] == [0, 0, 0, 1]
    assert [int(bench.vgpr(4 + n)[0]) for n in range(4)] == [7, 7, 7, 1]
    assert bench.area.data[4 * bench.wave_size] == 7 and bench.area.data[4 * bench.wave_size - 4] == 9
    for register in range(4, 8):
        bench.vgpr(register)[:] = 5
    bench.area.data[:] = 7
    bench.go(0, 4, 0o1654)
    assert not any(bench.vgpr(4 + n).any() for n in range(4))
    assert (bench.area.data == 7).all()
