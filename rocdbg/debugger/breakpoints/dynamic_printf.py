"""``dprintf``: breakpoints that print and let the program continue."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from rocdbg.arch.lane_sets import lane_list
from rocdbg.debugger.breakpoints.breakpoint_table import Breakpoint, Hit
from rocdbg.debugger.values.numpy_types import dtype_of
from rocdbg.dwarf.info.types import Type
from rocdbg.errors import Error


class DynamicPrintf(Breakpoint):
    """A request to print. ``format`` is the argument of ``printf``: ``"i=%d", i``.

    It prints one line for each arriving lane for which its condition is true; with ``once_per_wave``, only for the
    first of these lanes.
    """

    format: str = ""
    arguments: tuple[str, ...] | None = None
    """The arguments in ``format`` if all are printed as numbers, so that the target can collect them by itself."""
    once_per_wave: bool = False
    output: str = ""
    """The file to which the lines are written, instead of the front end's output."""
    kept: list[Printed] | None = None
    """What was printed, as numbers, if that was requested."""

    @property
    def kind(self) -> str:
        """The type that ``info breakpoints`` shows."""
        return "dprintf"

    @property
    def stops_program(self) -> bool:
        """Always False; it stops the program only if it fails."""
        return False

    @property
    def command(self) -> str:
        """The command that recreates it."""
        options = "-once-per-wave " if self.once_per_wave else ""
        if self.output:
            options += f"-output {shlex.quote(self.output)} "
        return f"dprintf {options}{self.text},{self.format}"

    def array(self) -> NDArray[Any]:
        """The printed values that were `kept`, with a row for each line: ``$_thread``, ``$_lane``, and the arguments
        under their texts.
        """
        names = list(dict.fromkeys(self.arguments or ()))
        places = [(self.arguments or ()).index(name) for name in names]
        kept = self.kept or []
        types = [dtype_of(type_) for type_ in kept[0].columns.types] if kept else [np.dtype("V1")] * len(names)
        fields = [("$_thread", np.dtype("u4")), ("$_lane", np.dtype("u1"))]
        fields += [(name, types[place]) for name, place in zip(names, places, strict=True) if name not in dict(fields)]
        rows = np.zeros(sum(len(one.lanes) for one in kept), np.dtype(fields))
        at = 0
        for one in kept:
            part = rows[at : at + len(one.lanes)]
            at += len(one.lanes)
            part["$_thread"], part["$_lane"] = one.thread, one.lanes
            for name, place in zip(names, places, strict=True):
                if name not in ("$_thread", "$_lane"):
                    data = np.ascontiguousarray(one.columns.bits[place]).view(np.uint8).reshape(len(one.lanes), 8)
                    kind = dtype_of(one.columns.types[place])
                    part[name] = np.ascontiguousarray(data[:, : kind.itemsize]).view(kind).reshape(-1)
        return rows


class Columns(Struct, frozen=True):
    """The values of the arguments in each lane when the lane passed, as bits (uint64[argument, lane]), and the types of
    the arguments.
    """

    bits: NDArray[np.uint64]
    types: tuple[Type, ...]


class Printed(Struct, frozen=True):
    """Lanes of a wave for which something was printed."""

    thread: int
    lanes: Sequence[int]
    columns: Columns


class Passed(Struct, frozen=True):
    """Lanes of a wave that the target has let pass."""

    made: DynamicPrintf
    thread: int
    lanes: Sequence[int]
    columns: Columns


Print = Callable[[DynamicPrintf, int, Sequence[int], Columns | None], None]
"""Prints the lines of a dprintf for some lanes of a wave: with the values that they had when they passed, or those at
the wave's current position.
"""


def print_hits(
    hits: Sequence[Hit], thread: int, show: Print | None, problem: Callable[[str], None]
) -> list[Hit]:
    """Print the dprintf hits; return the hits that stop the wave: those of all other breakpoints, and the dprintf hits
    that failed.
    """
    stopping = []
    for hit in hits:
        made = hit.breakpoint
        if not isinstance(made, DynamicPrintf):
            stopping.append(hit)
            continue
        lanes = lane_list(hit.lanes)
        try:
            if show is not None:
                show(made, thread, lanes[:1] if made.once_per_wave else lanes, None)
        except Error as error:
            problem(str(error))
            stopping.append(hit)
    return stopping
