"""How the simulated target supports each instruction: the data of ``maint isa coverage``."""

from __future__ import annotations

import re
from collections import Counter
from enum import Enum

from msgspec import Struct

from rocdbg.arch.targets import Target, target_by_name
from rocdbg.isa.encoding_table import base_name, load
from rocdbg.sim.semantics.registry import lookup


class Coverage(Enum):
    """How far an instruction is modelled; the value is the word for it."""

    EXACT = "exact"
    APPROXIMATE = "approximate"
    DECODED = "decoded only"


class InstructionCoverage(Struct, frozen=True):
    """One instruction of a target. ``reason``: why it is not exact (empty if it is)."""

    name: str
    encodings: tuple[str, ...]
    coverage: Coverage
    reason: str


_MISSING = (
    (r"image_bvh|ds_bvh", "ray intersection is not simulated"),
    (r"image_msaa", "images with several samples per pixel are not simulated"),
    (r"image_gather4h", "it is not public which four texels the instruction reads"),
    (r"image_|exp$|export|v_interp|lds_(param|direct)|ds_(param|direct)|v_screen_partition|ds_(add|sub)_gs_reg",
     "graphics is not simulated"),
)


def missing(name: str) -> str | None:
    """Why an instruction for graphics has no semantics; None for others."""
    return next((reason for pattern, reason in _MISSING if re.match(pattern, name)), None)


def instruction_coverage(target: Target | str) -> list[InstructionCoverage]:
    """Every instruction of a target's encoding table, by name. Raises UnknownTargetError for an unknown target."""
    known = target_by_name(target) if isinstance(target, str) else target
    encodings: dict[str, set[str]] = {}
    for layout, opcodes in load(known.name)["rows"].items():
        for row in opcodes.values():
            for part in row[0].split(" :: "):
                encodings.setdefault(base_name(part), set()).add(layout)
    return [_coverage(known, name, tuple(sorted(found))) for name, found in sorted(encodings.items())]


def _coverage(target: Target, name: str, encodings: tuple[str, ...]) -> InstructionCoverage:
    semantic = lookup(name)
    if semantic is None:
        reason = missing(name) or "no semantics yet"
        return InstructionCoverage(name, encodings, Coverage.DECODED, reason)
    if not semantic.approximate or (target.generation in semantic.exact_on and not target.is_gfx125):
        return InstructionCoverage(name, encodings, Coverage.EXACT, "")
    return InstructionCoverage(name, encodings, Coverage.APPROXIMATE, semantic.approximate)


def summary(rows: list[InstructionCoverage]) -> dict[Coverage, int]:
    """The number of instructions of each kind of coverage."""
    counts = Counter(row.coverage for row in rows)
    return {kind: counts[kind] for kind in Coverage}


__all__ = ["Coverage", "InstructionCoverage", "instruction_coverage", "missing", "summary"]
