"""Demo kernels that clang builds here, for GFX6 to GFX8 and for waves of 64 lanes on GFX12, give NumPy's results, in
both tiers.
"""

from __future__ import annotations

import dataclasses
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from rocdbg.api import launch_file
from tests.demos.test_results import DEMOS, EXPECTED, build, reference

VERSION_4 = ("-mcode-object-version=4",)
"""Apertures come from the queue. With later versions, clang 22 reads them at address 0xc0 in functions at -O0."""
WAVE_64 = ("-mwavefrontsize64",)
CASES = (
    ("matmul", "gfx600", "O2", ()),
    ("divergence", "gfx602", "O2", ()),
    ("histogram", "gfx700", "O2", ()),
    ("calls", "gfx704", "O0", VERSION_4),
    ("spaces", "gfx803", "O0", VERSION_4),
    ("reduce", "gfx801", "O2", ()),
    ("scan", "gfx810", "O2", ()),
    ("reduce", "gfx1201", "O0", WAVE_64),
    ("scan", "gfx1201", "O2", WAVE_64),
)


@pytest.mark.llvm
@pytest.mark.parametrize(("name", "target", "level", "flags"), CASES, ids=lambda v: v if isinstance(v, str) else "")
def test_buffers_equal_numpy(name: str, target: str, level: str, flags: tuple[str, ...], tmp_path: Path) -> None:
    demo = next(demo for demo in build.DEMOS if demo.name == name)
    folder = DEMOS / name
    single = dataclasses.replace(demo, targets=(target,), levels=(level,), wave64_too=False)
    ((relative, options),) = build.outputs(single)
    for file in folder.iterdir():
        if file.suffix in (".toml", ".npy"):
            shutil.copy(file, tmp_path)
    subprocess.run(
        ["clang-22", *options, *flags, Path(demo.source).name, "-o", str(tmp_path / relative.name)], check=True,
        cwd=folder,
    )
    launch = next(
        path for path in sorted(tmp_path.glob("*.toml"))
        if f'"{name}.{level}.' in path.read_text()
    )
    for optimised in (False, True):
        dispatch = launch_file(launch, arch=target)
        if optimised:
            dispatch.launch.dispatch._engine.optimise()
        dispatch.run()
        arrays = getattr(reference, name)()
        checked = 0
        for bound in dispatch.launch.buffers:
            wanted = EXPECTED.get((name, bound.buffer.name or ""))
            if wanted is not None:
                want = arrays[wanted]
                np.testing.assert_array_equal(bound.contents.view(want.dtype).reshape(want.shape), want)
                checked += 1
        assert checked
