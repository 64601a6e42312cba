"""What no device or kernel permits, at the last permitted number and the first that is not; and the needs of a launch.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from rocdbg.arch.targets import TARGETS
from rocdbg.sim.device import limits


def kernel(
    private: int = 0, version: int | None = 5, dynamic: bool = False, hip: bool = False, **metadata: Any
) -> Any:
    """The parts of a kernel that matter here."""
    known = {"max_flat_workgroup_size": 0, "reqd_workgroup_size": None, "uniform_work_group_size": False}
    return SimpleNamespace(
        name="k", wave_size=64, metadata=SimpleNamespace(**{**known, **metadata}, uses_dynamic_stack=dynamic),
        descriptor=SimpleNamespace(private_segment_fixed_size=private, uses_dynamic_stack=False),
        code_object=SimpleNamespace(version=version, is_hip=hip),
    )


@pytest.mark.parametrize(
    ("grid", "group", "lds", "refused"),
    [
        ((1, 1, 1), (1, 1, 1), 0, ""),
        ((0, 1, 1), (1, 1, 1), 0, "grid: each dimension must be from 1"),
        ((1, 1, 0), (1, 1, 1), 0, "grid: each dimension"),
        ((1, 1, 1), (1, 0, 1), 0, "workgroup: each dimension"),
        ((0xFFFFFFFF, 1, 1), (1024, 1, 1), 0, ""),
        ((1 << 32, 1, 1), (1024, 1, 1), 0, "grid: each dimension must be from 1 to 4294967295"),
        ((1, 1, 1), (1 << 16, 1, 1), 0, "workgroup: each dimension must be from 1 to 65535"),
        ((1, 1, 1), (65535, 1, 1), 0, "65535 work-items exceed the limit of the device, 1024"),
        ((64, 64, 64), (16, 8, 8), 0, ""),
        ((64, 64, 64), (41, 25, 1), 0, "1025 work-items"),
        # 2**64 - 1 workgroups are (2**32 - 1) * (2**32 + 1) = (2**32 - 1) * 641 * 6700417
        ((0xFFFFFFFF, 6700417, 641), (1, 1, 1), 0, ""),
        ((1 << 31, 1 << 31, 4), (1, 1, 1), 0, "has 18446744073709551616 workgroups"),
        ((1 << 31, 1 << 31, 5), (1, 1, 2), 0, ""),  # three layers, the last not full
        ((1, 1, 1), (1, 1, 1), 65536, ""),
        ((1, 1, 1), (1, 1, 1), 65537, "LDS: 65537 bytes .2 of them dynamic. exceed the 65536 bytes of gfx90a"),
    ],
)
def test_hardware(grid: Any, group: Any, lds: int, refused: str) -> None:
    dynamic = lds - 65535 if lds > 65535 else 0
    if not refused:
        limits.check_hardware("k", TARGETS["gfx90a"], grid, group, lds, dynamic)
        return
    with pytest.raises(limits.LaunchLimitError, match=refused):
        limits.check_hardware("k", TARGETS["gfx90a"], grid, group, lds, dynamic)


def test_processors_without_a_simulator() -> None:
    target = next(target for target in TARGETS.values() if target.is_r600)
    with pytest.raises(limits.LaunchLimitError, match=f"target: {target.name} is an r600 processor"):
        limits.check_hardware("k", target, (1, 1, 1), (1, 1, 1), 0)


@pytest.mark.parametrize(
    ("metadata", "grid", "group", "refused"),
    [
        ({"max_flat_workgroup_size": 64}, (64, 1, 1), (8, 8, 1), ""),
        ({"max_flat_workgroup_size": 64}, (65, 1, 1), (65, 1, 1), "65 work-items exceed the 64"),
        ({"max_flat_workgroup_size": 64}, (5, 13, 1), (5, 13, 1), "65 work-items exceed the 64"),
        ({"max_flat_workgroup_size": 0}, (65, 1, 1), (65, 1, 1), ""),
        ({"max_flat_workgroup_size": 1}, (2, 1, 1), (2, 1, 1), "2 work-items exceed the 1"),
        ({"reqd_workgroup_size": (8, 4, 1)}, (64, 64, 1), (8, 4, 1), ""),
        ({"reqd_workgroup_size": (8, 4, 1)}, (64, 64, 1), (4, 8, 1), r"requires \[8, 4, 1\], not \[4, 8, 1\]"),
        ({"uniform_work_group_size": True}, (64, 9, 2), (8, 3, 2), ""),
        ({"uniform_work_group_size": True}, (65, 9, 2), (8, 3, 2), "asks for uniform work-groups"),
        ({"uniform_work_group_size": True}, (64, 9, 3), (8, 3, 2), "is not a multiple of"),
        ({"uniform_work_group_size": True, "hip": True}, (65, 9, 2), (8, 3, 2), ""),
        ({"uniform_work_group_size": False}, (65, 9, 2), (8, 3, 2), ""),
    ],
)
def test_metadata(metadata: dict[str, Any], grid: Any, group: Any, refused: str) -> None:
    if not refused:
        limits.check_metadata(kernel(**metadata), grid, group)
        return
    with pytest.raises(limits.LaunchLimitError, match=refused):
        limits.check_metadata(kernel(**metadata), grid, group)


@pytest.mark.parametrize(
    ("private", "version", "dynamic", "stack", "expected"),
    [
        (0, 5, False, 1 << 16, 0),
        (24, 5, False, 1 << 16, 24),
        (24, None, False, 1 << 16, 24),
        (24, 5, True, 1 << 16, 24 + (1 << 16)),
        (24, 4, True, 100, 124),
        (0, 4, False, 1 << 16, 0),
        (24, 4, False, 1 << 16, 24 + (1 << 16) - (1 << 14)),
        (24, 4, False, (1 << 14) + 1, 25),
        (24, 4, False, 1 << 14, 24),
        (24, 4, False, 100, 24),
    ],
)
def test_private_memory(private: int, version: int | None, dynamic: bool, stack: int, expected: int) -> None:
    assert limits.lane_scratch(kernel(private, version=version, dynamic=dynamic), stack) == expected


@pytest.mark.parametrize(
    ("grid", "group", "lane", "waves", "expected"),
    [
        # groups, those resident, bytes of a lane, of a wave and of all
        ((256, 1, 1), (64, 1, 1), 0, 2, ((4, 1, 1), 2, 0, 0, 0)),
        ((257, 3, 1), (64, 2, 1), 0, 100, ((5, 2, 1), 10, 0, 0, 0)),
        ((256, 1, 1), (65, 1, 1), 0, 5, ((4, 1, 1), 2, 0, 0, 0)),
        ((1024, 1, 1), (256, 1, 1), 0, 3, ((4, 1, 1), 1, 0, 0, 0)),
        ((256, 1, 1), (64, 1, 1), 5, 3, ((4, 1, 1), 3, 8, None, None)),
        ((256, 1, 1), (64, 1, 1), 1 << 25, 4, ((4, 1, 1), 1, 1 << 25, 1 << 31, 1 << 31)),
    ],
)
def test_needs(grid: Any, group: Any, lane: int, waves: int, expected: tuple[Any, ...]) -> None:
    found = limits.sizes(kernel(), grid, group, 12, lane, waves)
    groups, resident, bytes_per_lane, wave, total = expected
    assert (found.groups, found.resident_groups, found.lds) == (groups, resident, 12)
    assert found.lane_scratch == bytes_per_lane
    assert found.wave_scratch >= 64 * bytes_per_lane
    assert found.scratch == found.wave_scratch * -(-group[0] * group[1] // 64) * resident
    assert wave is None or (found.wave_scratch, found.scratch) == (wave, total)


def test_scratch_of_a_workgroup() -> None:
    limits.sizes(kernel(), (64, 1, 1), (64, 1, 1), 0, (1 << 26) - 256, 1)
    with pytest.raises(limits.LaunchLimitError, match="one workgroup needs 4294967296 bytes; the limit is 4294967295"):
        limits.sizes(kernel(), (64, 1, 1), (64, 1, 1), 0, 1 << 26, 1)
