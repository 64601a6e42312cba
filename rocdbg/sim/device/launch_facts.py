"""Keeps facts that launches of one kernel with the same sizes share, so that they are determined only once.

Programs repeatedly launch a few kernels with a few grids. Three facts do not change between such launches: whether the
launch is valid, what it needs, and how the memory of its waves is laid out.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from typing import Final

from msgspec import Struct

from rocdbg.codeobject.kernels import Kernel
from rocdbg.sim.core.wave import Dim3
from rocdbg.sim.device.limits import Sizes
from rocdbg.sim.device.workgroup_places import SparePlaces

_KNOWN: Final = 256


class Launch(Struct, eq=False):
    """A kernel with its sizes, already checked. Addresses are simulated ones."""

    kernel: Kernel
    grid: Dim3
    workgroup: Dim3
    needs: Sizes
    dynamic_lds: int
    entry: int
    descriptor_address: int
    exceptions: bool
    """Whether arithmetic exceptions trap."""
    preloads: bool
    """Whether arguments are in registers when a wave begins."""
    printf_formats: Callable[[], Sequence[str]]
    """The entries ``amdhsa.printf`` of the code object."""


class Launches:
    """A machine's recent launches by their parameters, and their ``spare`` places."""

    def __init__(self) -> None:
        self.spare = SparePlaces()
        self._known: OrderedDict[Hashable, Launch] = OrderedDict()

    def get(self, asked: Hashable) -> Launch | None:
        """The launch with this key, if known."""
        found = self._known.get(asked)
        if found is not None:
            self._known.move_to_end(asked)
        return found

    def add(self, asked: Hashable, launch: Launch) -> Launch:
        """Record a launch, and return it."""
        self._known[asked] = launch
        if len(self._known) > _KNOWN:
            self._known.popitem(last=False)
        return launch

    def clear(self) -> None:
        """Forget all launches, because code has been unloaded."""
        self._known.clear()
        self.spare.clear()


__all__ = ["Launch", "Launches"]
