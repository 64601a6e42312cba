"""``assembled``: kernels written in assembly, loaded on a machine and dispatched."""

from __future__ import annotations

import hashlib
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from rocdbg.codeobject import open_file
from rocdbg.sim.device.dispatch import Dispatch
from rocdbg.sim.device.machine import Machine


class Assembled:
    """A dispatch of a kernel given as assembly, and the machine it runs on."""

    def __init__(self, path: Path, target: str, groups: int, items: int) -> None:
        self.machine = Machine(target)
        self.loaded = self.machine.load(open_file(path))
        kernel = self.loaded.code_object.kernels["kernel"]
        self.dispatch: Dispatch = self.machine.dispatch(kernel, (groups * items, 1, 1), (items, 1, 1), b"")

    @property
    def wave(self):
        """The first wave."""
        return self.dispatch.waves[0]

    def at(self, label: str) -> int:
        """Address of a global label of the source."""
        return self.loaded.symbol_address(label)


def _source(target: str, code: str, wave_size: int, vgprs: int, directives: tuple[str, ...]) -> str:
    lines = [".globl kernel", ".p2align 8", ".type kernel,@function", "kernel:", code, "s_endpgm"]
    lines += ["s_nop 0"] * 64
    lines += [".rodata", ".p2align 6", ".amdhsa_kernel kernel"]
    if not any("next_free_sgpr" in d for d in directives):
        lines.append(".amdhsa_next_free_sgpr 96")
    lines += [f".amdhsa_next_free_vgpr {vgprs}", ".amdhsa_group_segment_fixed_size 4096"]
    if target in ("gfx90a", "gfx942", "gfx950") and not any("accum_offset" in d for d in directives):
        lines.append(f".amdhsa_accum_offset {min(-(-vgprs // 4) * 4, 256)}")
    if target.startswith(("gfx10", "gfx11", "gfx12")):
        lines.append(f".amdhsa_wavefront_size32 {int(wave_size == 32)}")
    return "\n".join([*lines, *directives, ".end_amdhsa_kernel", ""])


@pytest.fixture(scope="session")
def _object(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, str, int], Path]:
    folder = tmp_path_factory.mktemp("assembled")

    def build(target: str, source: str, wave_size: int) -> Path:
        name = hashlib.sha256(f"{target} {wave_size} {source}".encode()).hexdigest()[:16]
        path = folder / f"{name}.co"
        if not path.exists():
            text, made = path.with_suffix(".s"), path.with_suffix(".o")
            text.write_text(source)
            command = ["llvm-mc-22", "-triple=amdgcn-amd-amdhsa", f"-mcpu={target}", "-filetype=obj"]
            if target.startswith(("gfx10", "gfx11", "gfx12")):
                command.append(f"-mattr=+wavefrontsize{wave_size}")
            subprocess.run([*command, str(text), "-o", str(made)], check=True)
            subprocess.run(["ld.lld-22", "-shared", str(made), "-o", str(path)], check=True)
        return path

    return build


@pytest.fixture
def assembled(_object: Callable[[str, str, int], Path]) -> Iterator[Callable[..., Assembled]]:
    """``assembled(target, code, wave_size=..., items=..., groups=..., vgprs=..., directives=...)`` dispatches a kernel.

    ``directives`` are further lines of the kernel descriptor. Wave size and work-items default to the target's 64 (up
    to GFX9) or 32. Labels for `Assembled.at` must be ``.globl``.
    """
    made: list[Assembled] = []

    def run(
        target: str,
        code: str,
        *,
        wave_size: int | None = None,
        items: int | None = None,
        groups: int = 1,
        vgprs: int = 32,
        directives: tuple[str, ...] = (),
    ) -> Assembled:
        size = wave_size or (32 if target.startswith("gfx1") else 64)
        path = _object(target, _source(target, code, size, vgprs, directives), size)
        made.append(Assembled(path, target, groups, items or size))
        return made[-1]

    yield run
    for item in made:
        item.dispatch.release()
