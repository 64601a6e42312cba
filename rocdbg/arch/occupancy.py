"""Occupancy: how many waves of a kernel a SIMD can hold at once, and which resource limits it.

The estimate is the same as the compiler's: if a workgroup does not fill its SIMDs evenly, the remainder counts as a
wave.
"""

from __future__ import annotations

from msgspec import Struct

from rocdbg.arch.targets import Generation, Target

_SIMDS = 4
"""SIMDs of a compute unit of GFX6 to GFX9, and of a work-group processor."""
_WORKGROUPS = 16
"""The most workgroups per compute unit that have more than one wave and therefore need barriers; a work-group processor
can have twice as many.
"""
_SGPR_STEPS = {
    Generation.GFX6: ((48, 10), (56, 9), (64, 8), (72, 7), (80, 6)),
    Generation.GFX8: ((80, 10), (88, 9), (100, 8)),
}
_SGPR_LEAST = {Generation.GFX6: 5, Generation.GFX8: 7}


class Occupancy(Struct, frozen=True):
    """Waves per SIMD that each resource allows; `waves` is the minimum."""

    limits: dict[str, int]
    """The limits of ``waves``, ``VGPRs``, ``SGPRs``, ``LDS`` and ``workgroups``, in this order."""

    @property
    def waves(self) -> int:
        return min(self.limits.values())

    @property
    def limited_by(self) -> str:
        """The resource that allows the fewest waves; if there are several, the first."""
        return min(self.limits, key=self.limits.__getitem__)


def occupancy(
    target: Target, wave_size: int, *, vgprs: int, sgprs: int, lds: int, workgroup: int, wgp_mode: bool = False
) -> Occupancy:
    """The occupancy of a kernel with these registers per lane and wave, bytes of LDS and work-items per workgroup."""
    most = target.waves_per_simd
    per_group = -(-workgroup // wave_size)
    pairs = target.supports_wgp_mode and wgp_mode
    simds = _SIMDS if pairs or not target.supports_wgp_mode else _SIMDS // 2
    groups = most * simds // per_group
    if per_group > 1:
        groups = min(groups, 2 * _WORKGROUPS if pairs else _WORKGROUPS)
    limits = {"waves": most, "VGPRs": _of_vgprs(target, wave_size, vgprs), "SGPRs": _of_sgprs(target, sgprs)}
    if lds:
        space = 2 * target.lds_size if pairs else target.lds_size
        limits["LDS"] = -(-(space // lds) * per_group // simds)
    limits["workgroups"] = -(-groups * per_group // simds)
    return Occupancy({name: max(1, min(most, waves)) for name, waves in limits.items()})


def _of_vgprs(target: Target, wave_size: int, vgprs: int) -> int:
    factor = 2 if wave_size == 32 else 1
    block = target.vgpr_block * factor
    given = -(-max(vgprs, 1) // block) * block
    return target.simd_vgprs * factor // given


def _of_sgprs(target: Target, sgprs: int) -> int:
    if target.sgpr_granule == 0:
        return target.waves_per_simd  # every wave has all SGPRs that instructions can name
    generation = Generation.GFX8 if target.generation >= Generation.GFX8 else Generation.GFX6
    return next((waves for most, waves in _SGPR_STEPS[generation] if sgprs <= most), _SGPR_LEAST[generation])
