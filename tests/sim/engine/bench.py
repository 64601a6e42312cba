"""A small machine for engine tests: assembled code, one wave, global memory."""

from __future__ import annotations

import functools
import io
import re
import subprocess

import numpy as np
from elftools.elf.elffile import ELFFile
from numpy.typing import NDArray

from rocdbg.arch.targets import target_by_name
from rocdbg.isa.decoder import decode
from rocdbg.sim.core import layout
from rocdbg.sim.core.guarded import guarded
from rocdbg.sim.core.layout import PageFlags, Status
from rocdbg.sim.core.memory import Allocation, GlobalMemory
from rocdbg.sim.core.wave import state_block
from rocdbg.sim.engine.native import Engine


@functools.cache
def assemble(text: str, target: str, wave_size: int) -> bytes:
    """Machine code of assembly text, by llvm-mc."""
    features = [] if re.match("gfx[6789]", target) else [f"-mattr=+wavefrontsize{wave_size}"]
    done = subprocess.run(
        ["llvm-mc-22", "-triple=amdgcn-amd-amdhsa", f"-mcpu={target}", *features, "-filetype=obj", "-o", "-"],
        input=text.encode(), capture_output=True, check=True,
    )
    return bytes(ELFFile(io.BytesIO(done.stdout)).get_section_by_name(".text").data())


class Bench:
    """One wave over ``text``. EXEC is all lanes, registers are 0, MODE keeps subnormals."""

    def __init__(self, text: str, target: str = "gfx90a", wave_size: int = 64, lds: int = 0) -> None:
        self.target, self.wave_size = target_by_name(target), wave_size
        self.memory = GlobalMemory()
        self.code = assemble(text, target, wave_size)
        self.text = self.memory.allocate(len(self.code) + 64, name="code", protection=PageFlags(7))
        self.memory.write(self.text.address, self.code)
        self.engine = Engine(self.target, wave_size, self.memory.page_table_address, self.fetch)
        self.block = state_block(self.target, wave_size)
        self.state = self.block.state
        self.lds = guarded(max(lds, 16))
        self.set("pc", self.text.address)
        self.set("mode", 0xF0 | 1 << 8 | 1 << 9)
        self.set("lds_pointer", self.lds.ctypes.data)
        self.set("lds_size", lds)
        self.exec = (1 << wave_size) - 1

    def fetch(self, address: int, size: int) -> bytes:
        left = self.text.address + len(self.code) - address
        return self.memory.read(address, min(size, left)) if 0 < left <= len(self.code) else b""

    # -- state --------------------

    def get(self, name: str) -> int:
        return int(self.block.cell(name)[0])

    def set(self, name: str, value: int) -> None:
        self.block.cell(name)[0] = value

    @property
    def sgprs(self) -> NDArray[np.uint32]:
        return self.state[layout.SGPRS : layout.SGPRS + 512].view(np.uint32)

    def vgpr(self, number: int) -> NDArray[np.uint32]:
        offset = layout.vgpr_offset(number, self.wave_size)
        return self.state[offset : offset + 4 * self.wave_size].view(np.uint32)

    def set64(self, code: int, value: int) -> None:
        self.sgprs[code : code + 2] = [value & 0xFFFFFFFF, value >> 32]

    def set_vgpr64(self, number: int, values: NDArray[np.uint64]) -> None:
        self.vgpr(number)[:] = values.astype(np.uint64) & 0xFFFFFFFF
        self.vgpr(number + 1)[:] = values.astype(np.uint64) >> np.uint64(32)

    @property
    def exec(self) -> int:
        low, high = (int(x) for x in self.sgprs[126:128])
        return low | (high << 32 if self.wave_size == 64 else 0)

    @exec.setter
    def exec(self, value: int) -> None:
        self.set64(126, value)

    @property
    def pc(self) -> int:
        """Offset in the code."""
        return self.get("pc") - self.text.address

    def buffer(self, data: NDArray[np.generic], name: str = "buffer") -> Allocation:
        allocation = self.memory.allocate(data.nbytes, name=name)
        self.memory.write(allocation.address, data.tobytes())
        return allocation

    # -- running --------------------

    def run(self, budget: int = 1_000_000, **options: object) -> Status:
        return self.engine.run(int(self.state.ctypes.data), budget=budget, **options)  # type: ignore[arg-type]

    def step(self) -> Status:
        return self.run(1, step=True)


__all__ = ["Bench", "assemble", "decode"]
