"""Format loads and stores from LLVM's intrinsics: buffers converted from one format to another."""

from __future__ import annotations

import subprocess
from pathlib import Path

import format_reference as reference
import numpy as np
import pytest

import rocdbg
from rocdbg.arch.targets import target_by_name
from rocdbg.sim.data.buffer_formats import BufferFormat, formats_of

pytestmark = pytest.mark.llvm
HERE = Path(__file__).parent
TARGETS = ("gfx900", "gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1201")
PAIRS = [
    ("32_32_32_32_FLOAT", "8_8_8_8_UNORM"),
    ("8_8_8_8_UNORM", "32_32_32_32_FLOAT"),
    ("16_16_16_16_SNORM", "16_16_16_16_FLOAT"),
    ("2_10_10_10_UNORM", "16_16_16_16_UNORM"),
    ("10_11_11_FLOAT", "8_8_SNORM"),
    ("16_FLOAT", "32_32_32_FLOAT"),
]


@pytest.fixture(scope="module", params=TARGETS)
def program(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> rocdbg.Program:
    output = tmp_path_factory.mktemp("formats") / f"{request.param}.co"
    command = [
        "clang-22",
        "-x",
        "ir",
        "-target",
        "amdgcn-amd-amdhsa",
        f"-mcpu={request.param}",
        "-nogpulib",
        "-O2",
    ]
    subprocess.run([*command, str(HERE / "formats.ll"), "-o", str(output)], check=True)
    return rocdbg.load(output)


def named(program: rocdbg.Program, name: str) -> tuple[np.uint32, BufferFormat]:
    """The last dword of a resource with a format, and the format."""
    generation = program.code_object.target.generation
    code, form = next((c, f) for c, f in formats_of(generation).items() if f.name == name)
    selectors = reference.IDENTITY
    if generation < 10:
        return np.uint32(selectors | (code & 15) << 15 | (code >> 4) << 12), form
    return np.uint32(selectors | code << 12 | 1 << 28), form


@pytest.mark.parametrize(("source", "target"), PAIRS)
@pytest.mark.parametrize("kernel", ["convert", "halves"])
def test_conversions(program: rocdbg.Program, kernel: str, source: str, target: str) -> None:
    """48 of 64 records are in range; the rest stays unchanged."""
    (from_flags, from_form), (to_flags, to_form) = named(program, source), named(program, target)
    rng = np.random.default_rng(4)
    data = rng.integers(0, 256, 1024, np.uint8)
    if source == "32_32_32_32_FLOAT":
        data = rng.uniform(-0.5, 1.5, 256).astype(np.float32).view(np.uint8)
    out = np.full(1024, 0x55, np.uint8)
    program.kernels[kernel].launch(64, 64, [data, out, np.int32(48), from_flags, to_flags]).run()
    want = np.full(1024, 0x55, np.uint8)
    for record in range(48):
        raw = data[16 * record :][: from_form.size].tobytes()
        if kernel == "convert":
            registers = [reference.loaded(raw, from_form, n) for n in range(4)]
        else:
            halves = [reference.loaded_half(raw, from_form, n) for n in range(4)]
            registers = [reference.f32_bits(reference.f16(half)) for half in halves]
        element = reference.stored_element(registers, to_form)
        want[16 * record :][: to_form.size] = np.frombuffer(element, np.uint8)
    if "FLOAT" in target and "FLOAT" in source:  # payloads of NaNs are not compared
        width = np.uint32 if target.startswith("32") else np.uint16
        quiet = {np.uint32: (0x7F800000, 0x7FFFFF), np.uint16: (0x7C00, 0x3FF)}[width]
        for array in (out, want):
            bits = array.view(width)
            bits[(bits & quiet[0] == quiet[0]) & (bits & quiet[1] != 0)] = quiet[0] + 1
    np.testing.assert_array_equal(out.reshape(64, 16), want.reshape(64, 16))


def test_targets_are_all_there() -> None:
    assert {target_by_name(name).generation for name in TARGETS} == {9, 10, 11, 12}
