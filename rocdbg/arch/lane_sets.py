"""Sets of lanes: as masks with a bit per lane (EXEC), as lists of numbers, and as text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def all_lanes(count: int) -> int:
    """The mask of lanes 0 to ``count`` - 1."""
    return (1 << count) - 1


def lane_mask(lanes: Iterable[int]) -> int:
    """The mask of some lanes."""
    mask = 0
    for lane in lanes:
        mask |= 1 << lane
    return mask


def lane_list(mask: int) -> list[int]:
    """The lanes whose bit is set in ``mask``, ascending."""
    lanes = []
    while mask:
        low = mask & -mask
        lanes.append(low.bit_length() - 1)
        mask ^= low
    return lanes


def lane_ranges(mask: int) -> str:
    """The lanes of ``mask`` in the form that stops print: ``0-31 40``."""
    runs: list[list[int]] = []
    for lane in lane_list(mask):
        if runs and lane == runs[-1][1] + 1:
            runs[-1][1] = lane
        else:
            runs.append([lane, lane])
    return " ".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)


def format_lanes(lanes: Sequence[int]) -> str:
    """``lane 5`` or ``lanes [0-31 40]``: lanes in the form that stop messages use."""
    return f"lane {lanes[0]}" if len(lanes) == 1 else f"lanes [{lane_ranges(lane_mask(lanes))}]"
