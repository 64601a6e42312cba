"""The registry of instruction semantics.

A semantic is a function of one `Access`::

    @semantic("v_add_f32")
    def _(i: Access) -> None:
        i.dst(0, i.src(0, F32) + i.src(1, F32))

    @semantic("s_add_u32")
    def _(i: Access) -> None:
        a, b = i.src(0), i.src(1)
        total = a + b
        i.dst(0, total)
        i.set_scc(total.ult(a))

The function runs once per translated instruction. What it does to the builder is the instruction's meaning;
it has no other effect, may run any number of times, and may branch on static facts only (``i.insn``,
``i.generation``, ``i.mode``).
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Collection
from enum import Enum, auto
from functools import lru_cache
from typing import TYPE_CHECKING

from msgspec import Struct

from rocdbg.arch.targets import Generation
from rocdbg.sim.semantics.index import MODULES

if TYPE_CHECKING:
    from rocdbg.sim.semantics.access import Access

_PACKAGE = __name__.rpartition(".")[0]
SemanticFunction = Callable[["Access"], None]


class Kind(Enum):
    """The unit for which a semantic is written."""

    LANE = auto()
    """One lane of a vector instruction: the builder is always in lane code."""
    SCALAR = auto()
    """The scalar unit."""
    WAVE = auto()
    """The whole wave: the function itself enters and leaves lane code (memory, lane permutations)."""


class Ends(Enum):
    """Whether an instruction ends its block."""

    NO = auto()
    ALWAYS = auto()
    """Branches, barriers, traps, MODE changes: the function calls ``i.jump`` or ``i.stop``."""


class Semantic(Struct, frozen=True):
    """A registered semantic. ``approximate`` says why results may differ from hardware's; empty means exact."""

    name: str
    function: SemanticFunction
    kind: Kind
    ends: Ends
    approximate: str
    any_rounding: bool
    """Whether the result does not depend on MODE's rounding. Otherwise the instruction is unsupported under non-default
    rounding if it uses primitives that can only round to nearest.
    """
    exact_on: frozenset[Generation] = frozenset()
    """Generations on which the semantic is exact because it follows measurements on hardware, although it is
    ``approximate`` on others; gfx125x is never included.
    """


_SEMANTICS: dict[str, Semantic] = {}
_loaded = False


def semantic(
    *names: str,
    kind: Kind | None = None,
    ends: Ends = Ends.NO,
    approximate: str = "",
    any_rounding: bool = False,
    exact_on: Collection[Generation] = (),
) -> Callable[[SemanticFunction], SemanticFunction]:
    """Register a function as the semantic of the instructions ``names`` (without encoding suffix, as
    `Instruction.name`).

    ``kind`` defaults to SCALAR for names that begin with ``s_``, else LANE.
    """

    def register(function: SemanticFunction) -> SemanticFunction:
        for name in names:
            if name in _SEMANTICS:
                raise ValueError(f"two semantics for {name}")
            chosen = kind or (Kind.SCALAR if name.startswith("s_") else Kind.LANE)
            _SEMANTICS[name] = Semantic(
                name, function, chosen, ends, approximate, any_rounding, frozenset(exact_on)
            )
        return function

    return register


def lookup(name: str) -> Semantic | None:
    """The semantic of an instruction, or None if there is none."""
    found = _SEMANTICS.get(name)
    if found is None and not _loaded:  # a kernel needs only a few of the modules
        module = _modules().get(name)
        if module is not None:
            importlib.import_module(f"{_PACKAGE}.{module}")
            found = _SEMANTICS.get(name)
    return found


def names() -> list[str]:
    """All instructions that have a semantic."""
    load()
    return sorted(_SEMANTICS)


def registered() -> set[str]:
    """The instructions whose semantics have been registered so far."""
    return set(_SEMANTICS)


def load() -> None:
    """Import every module that registers semantics, once."""
    global _loaded
    if _loaded:
        return
    _loaded = True
    for module in MODULES:
        importlib.import_module(f"{_PACKAGE}.{module}")


@lru_cache(maxsize=1)
def _modules() -> dict[str, str]:
    """The module that registers each instruction."""
    return {name: module for module, names_ in MODULES.items() for name in names_.split()}
