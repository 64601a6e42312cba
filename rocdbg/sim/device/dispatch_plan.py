"""The properties of a dispatch that are fixed when it starts: its sizes, its kernel, and the memory that it owns."""

from __future__ import annotations

from msgspec import Struct

from rocdbg.codeobject.kernels import Kernel
from rocdbg.sim.core.initial_state import DispatchState
from rocdbg.sim.core.memory import Allocation
from rocdbg.sim.core.wave import Dim3
from rocdbg.sim.device.aql_packets import KernelPacket


class DispatchPlan(Struct, frozen=True):
    """Everything that is fixed when a dispatch starts. ``owned`` is memory that is freed with it, in addition to
    ``scratch``.
    """

    kernel: Kernel
    number: int
    """The dispatch's number: 1, 2, ... in order of launch on the machine."""
    state: DispatchState
    grid: Dim3
    workgroup: Dim3
    dynamic_lds: int
    resident_groups: int
    scratch: Allocation | None
    descriptor_address: int
    owned: tuple[Allocation, ...] = ()
    first_wave: int = 1
    """The number of the first wave."""

    packet: KernelPacket | None = None
    """The packet that started the dispatch, if any."""

    @property
    def waves(self) -> int:
        """Number of waves in the whole grid; groups at its edges may have fewer waves than others."""
        sizes = [(total // size, size, total % size) for total, size in zip(self.grid, self.workgroup, strict=True)]
        kinds = [[(whole, size)] + ([(1, rest)] if rest else []) for whole, size, rest in sizes]
        return sum(
            nx * ny * nz * -(-x * y * z // self.state.wave_size)
            for nx, x in kinds[0] for ny, y in kinds[1] for nz, z in kinds[2]
        )  # fmt: skip

    @property
    def waves_per_group(self) -> int:
        """Number of waves of a complete workgroup."""
        return -(-(self.workgroup[0] * self.workgroup[1] * self.workgroup[2]) // self.state.wave_size)
