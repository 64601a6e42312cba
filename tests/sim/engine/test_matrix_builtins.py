"""Every matrix builtin of clang, compiled for its targets, against NumPy: small integers and random numbers."""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from engine_matrices import (
    accumulator,
    choose,
    encode,
    index_words,
    inputs,
    lanes_of,
    outputs,
    result_places,
    result_type,
    spread,
    spread_wave,
)

import rocdbg
from rocdbg.sim.data.matrix_shapes import GFX950, SHAPES, Shape
from rocdbg.sim.data.wmma_shapes import GFX11, GFX12, WaveShape

pytestmark = pytest.mark.llvm
RNG = np.random.default_rng(3)
TYPES = {"f": "float", "d": "double", "i": "int", "l": "long", "h": "_Float16", "s": "short", "y": "__bf16"}


@dataclass(frozen=True)
class Builtin:
    """``types``: a letter of `TYPES` and a count for A, B and C; ``call``: the arguments, in terms of a, b, c and x."""

    name: str
    types: tuple[str, str, str]
    call: str
    shape: Shape | WaveShape
    wave: int = 64

    @property
    def sparse(self) -> bool:
        return self.shape.sparse

    @property
    def kernel(self) -> str:
        return f"k_{self.name}"


# -- builtins and their types --------------------------------------------------------------------------------------


def cdna(shape: Shape, name: str = "") -> Builtin:
    """``name``: the name of the builtin, if it is not the mnemonic."""
    new = shape.name in GFX950

    def factor(kind: str, count: int) -> str:
        size = {"f16": 2, "bf16": 2, "xf32": 4}.get(kind, 1) * count
        match kind:
            case "f64" | "f32":
                return kind[0] if kind == "f32" else "d"
            case "xf32":
                return f"f{count}"
            case "f16":
                return f"h{count}"
            case "bf16":
                return f"{'y' if new else 's'}{count}"
        if shape.sparse or size > 8:
            return f"i{size // 4}"
        return "i" if size == 4 else "l"

    letter = {"f64": "d", "f32": "f", "i32": "i"}[shape.d]
    c = letter + (str(shape.results_per_lane) if shape.results_per_lane > 1 else "")
    call = "a, b, c, x, 0, 0" if shape.sparse else "a, b, c, 0, 0, 0"
    types = factor(shape.a, shape.a_per_lane), factor(shape.b, shape.b_per_lane), c
    return Builtin(name or shape.name[2:], types, call, shape)


def wmma(shape: WaveShape, wave: int) -> Builtin:
    tail = f"_w{wave}_gfx12" if shape.gfx12 and not shape.sparse else f"_w{wave}"
    a_bits = (shape.k // (2 if shape.sparse else 1)) * 16 * shape.bits // (wave if shape.gfx12 else 16)
    b_bits = shape.k * 16 * shape.bits // (wave if shape.gfx12 else 16)

    def factor(bits: int) -> str:
        if shape.bits == 16:
            return f"{'h' if shape.a == 'f16' else 's'}{bits // 16}"
        return f"i{bits // 32}" if bits > 32 else "i"

    results = 256 // wave
    if shape.packed:
        count = results if shape.gfx12 else 2 * results
        c = f"{'h' if shape.d == 'f16' else 's'}{count}"
    else:
        c = f"{'i' if shape.integer else 'f'}{results}"
    index = ", x" if shape.sparse else ""
    call = f"a, b, c{index}"
    if shape.integer:
        call = f"true, a, true, b, c{index}, false"
    elif shape.packed and not shape.gfx12:
        call += ", false"
    return Builtin(f"{shape.name[2:]}{tail}", (factor(a_bits), factor(b_bits), c), call, shape, wave)


def _cdna2(shape: Shape) -> bool:
    return not re.search(r"\d_(\d+b_)?(f16|bf16|f32|f64|i8|xf32|[bf][fp]8)", shape.name)


GFX90A = [s for s in SHAPES.values() if _cdna2(s)]
GFX908 = [s for s in GFX90A if not s.name.endswith("_1k") and s.d != "f64"]
CDNA3 = [s for s in SHAPES.values() if not _cdna2(s)]
SINCE_CDNA3 = {f"v_mfma_i32_{s}_i8" for s in ("32x32x16", "16x16x32")}
"""Mnemonics that are not new forms of old ones."""


def _name(shape: Shape) -> str:
    """Builtins keep the old form: that of v_mfma_f32_32x32x4_2b_bf16 is mfma_f32_32x32x4bf16_1k."""
    if shape.sparse or shape.a in ("xf32", "fp8", "bf8") or shape.name in SINCE_CDNA3 | GFX950:
        return shape.name[2:]
    size, _, kind = shape.name[2:].rpartition("_")
    return f"{re.sub(r'_[0-9]+b$', '', size)}{kind}{'_1k' if kind == 'bf16' else ''}"


BUILDS = {
    "gfx908": [cdna(s) for s in GFX908],
    "gfx90a": [cdna(s) for s in GFX90A],
    "gfx942": [cdna(s, _name(s)) for s in CDNA3 if s.name not in GFX950],
    "gfx950": [cdna(s, _name(s)) for s in CDNA3 if s.a != "xf32"],
    "gfx1100": [wmma(s, 32) for s in GFX11.values()],
    "gfx1100/64": [wmma(s, 64) for s in GFX11.values()],
    "gfx1201": [wmma(s, 32) for s in GFX12.values()],
    "gfx1201/64": [wmma(s, 64) for s in GFX12.values()],
}


# -- kernels -------------------------------------------------------------------------------------------------------


def source(builtins: list[Builtin]) -> str:
    kinds = {kind for b in builtins for kind in b.types if len(kind) > 1}
    lines = [
        f"typedef {TYPES[kind[0]]} {kind} __attribute__((ext_vector_type({kind[1:]})));"
        for kind in sorted(kinds)
    ]
    for b in builtins:
        a, second, c = (kind if len(kind) > 1 else TYPES[kind] for kind in b.types)
        lines.append(
            f'extern "C" __attribute__((global)) void {b.kernel}(const {a} *pa, const {second} *pb, {c} *pc, '
            "const int *px) {\n"
            "  int t = __builtin_amdgcn_workitem_id_x(), x = px[t];\n"
            f"  {a} a = pa[t]; {second} b = pb[t]; {c} c = pc[t];\n"
            f"  pc[t] = __builtin_amdgcn_{b.name}({b.call});\n}}"
        )
    return "\n".join(lines) + "\n"


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, rocdbg.Program]:
    return {}


def program(build: str, programs: dict[str, rocdbg.Program], folder: Path) -> rocdbg.Program:
    if build not in programs:
        target, _, wave = build.partition("/")
        path = folder / "kernels.hip"
        path.write_text(source(BUILDS[build]))
        command = ["clang-22", "-x", "hip", "--offload-device-only", "-nogpuinc", "-nogpulib", "-O1", "-w"]
        command += ["--no-gpu-bundle-output", f"--offload-arch={target}"]
        command += ["-mwavefrontsize64"] if wave == "64" else []
        output = folder / "kernels.co"
        subprocess.run([*command, str(path), "-o", str(output)], check=True)
        programs[build] = rocdbg.load(output)
    return programs[build]


CASES = [(build, b) for build, builtins in BUILDS.items() for b in builtins]


# -- numbers -------------------------------------------------------------------------------------------------------

EPSILON = {"f64": 2.0**-50, "f32": 2.0**-20, "xf32": 2.0**-8, "f16": 2.0**-8, "bf16": 2.0**-5, "i32": 0.0}
"""In proportion to the sum of the terms' magnitudes."""


def numbers(kind: str, size: tuple[int, ...], *, whole: bool) -> np.ndarray:
    """Small integers, or random numbers that the type can represent."""
    if whole:
        return RNG.integers(-3, 4, size).astype("f8")
    match kind:
        case "i8" | "iu8":
            return RNG.integers(-128, 128, size).astype("f8")
        case "iu4":
            return RNG.integers(-8, 8, size).astype("f8")
        case "i32":
            return RNG.integers(-(1 << 20), 1 << 20, size).astype("f8")
        case "fp8" | "bf8":
            return RNG.choice([-1.75, -1.25, -1, 1, 1.25, 1.5], size) * 2.0 ** RNG.integers(-3, 4, size)
        case "bf16":
            return (RNG.standard_normal(size).astype("f4").view("u4") & 0xFFFF0000).view("f4").astype("f8")
        case "f16":
            return RNG.standard_normal(size).astype("f2").astype("f8")
        case "f32" | "xf32":
            return RNG.standard_normal(size).astype("f4").astype("f8")
    return RNG.standard_normal(size)


def coded(values: np.ndarray, kind: str, *, ocp: bool) -> np.ndarray:
    """[lane, element] as bytes of each lane."""
    if kind == "iu4":
        nibbles = values.astype(int).astype(np.uint8) & 0xF
        return nibbles[:, ::2] | nibbles[:, 1::2] << 4
    if kind == "i32":
        return values.astype("i4")
    return np.ascontiguousarray(encode(values, {"iu8": "i8"}.get(kind, kind), ocp=ocp))


def decoded(bits: np.ndarray, kind: str) -> np.ndarray:
    match kind:
        case "bf16":
            return (bits.view("u2").astype("u4") << 16).view("f4").astype("f8")
        case "i32":
            return bits.view("i4").astype("f8")
    return bits.view(f"f{int(kind[1:]) // 8}").astype("f8")


def launch(
    loaded: rocdbg.Program, builtin: Builtin, a: np.ndarray, b: np.ndarray, c: np.ndarray, x: np.ndarray
) -> None:
    arguments = [np.ascontiguousarray(array).view(np.uint8).reshape(-1) for array in (a, b, c, x)]
    kernel = loaded.kernels[builtin.kernel]
    kernel.launch(grid=builtin.wave, workgroup=builtin.wave, args=arguments).run()
    c.view(np.uint8).reshape(-1)[:] = arguments[2]


def multiply_cdna(
    loaded: rocdbg.Program, builtin: Builtin, target: str, *, whole: bool
) -> tuple[np.ndarray, ...]:
    """The result, the expected result, and the sum of magnitudes: [block, row, column]."""
    shape = builtin.shape
    assert isinstance(shape, Shape)
    ocp = target == "gfx950"
    b = numbers(shape.b, (shape.blocks, shape.m, shape.k), whole=whole)
    c = numbers(shape.d, (shape.blocks, shape.m, shape.m), whole=whole)
    index = np.zeros(64, np.int32)
    if shape.sparse:
        kept, chosen = numbers(shape.a, (shape.m, shape.k // 2), whole=whole), choose(RNG, shape.m, shape.k)
        index, a = index_words(inputs(chosen[None])), spread(shape, kept, chosen)[None]
        lanes = inputs(kept[None])
    else:
        a = numbers(shape.a, (shape.blocks, shape.m, shape.k), whole=whole)
        lanes = inputs(a)
    out = accumulator(shape, c)
    launch(loaded, builtin, coded(lanes, shape.a, ocp=ocp), coded(inputs(b), shape.b, ocp=ocp), out, index)
    columns = b.transpose(0, 2, 1)
    got = outputs(out.view(result_type(shape)), shape).astype("f8")
    return got, a @ columns + c, np.abs(a) @ np.abs(columns) + np.abs(c)


def multiply_wave(loaded: rocdbg.Program, builtin: Builtin, *, whole: bool) -> tuple[np.ndarray, ...]:
    shape, wave = builtin.shape, builtin.wave
    assert isinstance(shape, WaveShape)
    b, c = numbers(shape.b, (16, shape.k), whole=whole), numbers(shape.d, (16, 16), whole=whole)
    index = np.zeros(wave, np.int32)
    if shape.sparse:
        kept, chosen = numbers(shape.a, (16, shape.k // 2), whole=whole), choose(RNG, 16, shape.k)
        index, a = index_words(lanes_of(chosen, shape, wave)), spread_wave(shape, wave, kept, chosen)
        lanes = lanes_of(kept, shape, wave)
    else:
        a = numbers(shape.a, (16, shape.k), whole=whole)
        lanes = lanes_of(a, shape, wave)
    places = np.array(result_places(shape, wave)).T
    given = np.zeros((wave, places[3].max() + (2 if shape.packed and not shape.gfx12 else 1)))
    given[places[2], places[3]] = c[places[0], places[1]]
    out = coded(given, shape.d, ocp=True)
    factors = coded(lanes, shape.a, ocp=True), coded(lanes_of(b, shape, wave), shape.b, ocp=True)
    launch(loaded, builtin, *factors, out, index)
    got = np.empty((16, 16))
    got[places[0], places[1]] = decoded(out, shape.d)[places[2], places[3]]
    return got, a @ b.T + c, np.abs(a) @ np.abs(b.T) + np.abs(c)


@pytest.mark.parametrize("build, builtin", CASES, ids=lambda v: v.name if isinstance(v, Builtin) else v)
def test_builtin(build, builtin, programs, tmp_path):
    loaded = program(build, programs, tmp_path)
    target = build.partition("/")[0]
    shape = builtin.shape
    for whole in (True, False):
        if isinstance(shape, Shape):
            got, want, size = multiply_cdna(loaded, builtin, target, whole=whole)
        else:
            got, want, size = multiply_wave(loaded, builtin, whole=whole)
        exact = whole and target != "gfx1100"  # where sums of both signs are not exact
        epsilon = 0.0 if exact else EPSILON["xf32" if shape.a == "xf32" else shape.d]
        assert (np.abs(got - want) <= epsilon * size).all(), np.abs(got - want).max()
