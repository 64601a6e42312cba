"""Names of the native routines that blocks call, and their slots. This module imports little: with a warm cache, the
rest of the translator is not needed.
"""

from __future__ import annotations

from rocdbg.sim.core.layout import MAX_HELPERS
from rocdbg.sim.data import matrix_shapes, wmma_shapes
from rocdbg.sim.data.atomics import ATOMICS

SEEN_SPACES = ("global", "flat", "buffer")
"""Spaces in which uninitialized reads are counted."""
SPACES = ("global", "flat", "lds", "scratch", "buffer", "gds")

LDS_SIZES = (4, 8, 12, 16)
"""Bytes of the elements that LDS instructions move between registers and LDS in one routine."""

PLACE_BITS = 20


_INTEGERS = ("swap", "cmpswap", "add", "sub", "smin", "umin", "smax", "umax", "and", "or", "xor", "inc", "dec")
IMAGE_ATOMICS = (
    *(f"{name}_{bits}" for bits in (32, 64) for name in (*_INTEGERS, "fcmpswap", "fmin", "fmax")), "fadd_32",
    "pk_add_f16", "pk_add_bf16",
)
"""The atomics of image instructions."""


def lds_helpers() -> list[str]:
    """The routines of `lds_access`: one element of any size, or two of up to 8 bytes; 12-byte elements are not written.
    """
    return [
        *(f"lds_read_{size}" for size in LDS_SIZES),
        *(f"lds_write_{size}" for size in LDS_SIZES if size != 12),
        *(f"lds_{access}2_{size}" for access in ("read", "write") for size in (4, 8)),
    ]


def prefix(wave_size: int) -> str:
    """The prefix of the names of the runtime's exported functions."""
    return f"rocdbg_w{wave_size}_"


def helper_names() -> list[str]:
    """The routines blocks may call, in the order of their slots in the environment."""
    names = [f"{access}_{space}" for space in SPACES for access in ("load", "store", "check")]
    names += ["load_format_buffer", "store_format_buffer", "sload", "bpermute", "permute", "gws"]
    names += lds_helpers()
    names += [f"atomic_{a.name}_{space}" for a in ATOMICS for space in SPACES if space != "scratch"]
    names += [f"seen_{access}_{space}" for space in SEEN_SPACES for access in ("load", "store", "atomic")]
    names += ["seen_sload", "watch_changed", "watch_touched", "noted"]
    names += ["load_image", "store_image", "check_image", "info_image", "sample_texture"]
    names += [f"atomic_{name}_image" for name in IMAGE_ATOMICS]
    names += [*matrix_shapes.BY_HELPER, *matrix_shapes.SCALED, *wmma_shapes.BY_HELPER]
    if len(names) > MAX_HELPERS:
        raise ValueError("more helpers than slots")
    return names


def pack_places(*places: int) -> int:
    """Argument a of the routines of `lds_access`: offsets in the state, `PLACE_BITS` each."""
    return sum(place << n * PLACE_BITS for n, place in enumerate(places))


def relied_on_by(helper: str) -> tuple[str, ...]:
    """Other routines that a routine calls through the environment."""
    if not helper.startswith("lds_"):
        return ()
    return ("load_lds",) if helper.startswith("lds_read") else ("check_lds", "store_lds")


def part_of(helper: str) -> str:
    """The module of the runtime that contains a routine. Parts are compiled when first needed."""
    if helper in ("bpermute", "permute"):
        return "lanes"
    if helper.startswith("seen_"):
        return "seen"
    if helper == "sload":
        return "scalar"
    if helper.startswith("watch_"):
        return "watch"
    if helper == "gws":
        return "sync"
    return helper if helper.startswith(("atomic_", "matrix_", "lds_")) else helper.rpartition("_")[2]


def writes_memory(helper: str) -> bool:
    """Whether a routine may change memory, LDS or private memory."""
    return helper.startswith(("store_", "atomic_", "lds_write"))


def space_of(helper: str) -> str | None:
    """The space of a routine that accesses memory lane by lane; ``None`` for other routines, and if its size is not
    given."""
    if helper == "sload":
        return "global"
    access, _, _ = helper.partition("_")
    space = helper.rpartition("_")[2]
    return space if access in ("load", "store", "atomic") and space in SPACES and "format" not in helper else None


def noted_by(helper: str) -> str | None:
    """The routine that finds the places where ``helper`` has stored, or None if it stores nothing."""
    access, _, _ = helper.partition("_")
    space = helper.rpartition("_")[2]
    return f"check_{space}" if access in ("store", "atomic") and space in (*SPACES, "image") else None


def seen_by(helper: str) -> str | None:
    """The routine that observes the accesses of ``helper`` to memory; None if its accesses are not tracked."""
    if helper == "sload":
        return "seen_sload"
    access, _, _ = helper.partition("_")
    space = helper.rpartition("_")[2]
    return (
        f"seen_{access}_{space}" if access in ("load", "store", "atomic") and space in SEEN_SPACES else None
    )


__all__ = [
    "IMAGE_ATOMICS", "LDS_SIZES", "PLACE_BITS", "SEEN_SPACES", "SPACES", "helper_names", "lds_helpers", "noted_by",
    "pack_places", "part_of", "prefix", "relied_on_by", "seen_by", "space_of", "writes_memory",
]
