"""AMDGPU processors: the meaning of ``e_flags`` machine values, and the properties of each processor.

`TARGETS` is the only table; its rows agree with LLVM 22's assembler (``tests/arch/test_targets.py`` checks that).
`TargetId` (a processor with its xnack and sramecc settings) is in `rocdbg.arch.target_id`.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, IntEnum
from types import MappingProxyType

from msgspec import Struct
from msgspec.structs import replace

from rocdbg.errors import Error


class Generation(IntEnum):
    """The hardware generation.  `R600` is everything before GCN: such code is recognised, but never run."""

    R600 = 0
    GFX6 = 6
    GFX7 = 7
    GFX8 = 8
    GFX9 = 9
    GFX10 = 10
    GFX11 = 11
    GFX12 = 12
    GFX13 = 13


class ScratchKind(Enum):
    """How compiled code accesses the private segment when no option says otherwise."""

    NONE = "none"
    """No scratch in the sense of the amdgcn ABI (r600)."""
    BUFFER = "buffer"
    """MUBUF through the resource descriptor in s[0:3]; stack pointers hold unswizzled wave offsets."""
    FLAT = "flat"
    """Scratch instructions; the prologue writes FLAT_SCRATCH. Code has this kind only if it was built with the option
    for it.
    """
    ARCHITECTED = "architected"
    """Scratch instructions; hardware sets up the base; stack pointers hold per-lane offsets."""


class UnknownTargetError(Error):
    """A processor name or machine value that is not in `TARGETS`."""

    def __init__(self, what: str, hint: str = "") -> None:
        self.what = what
        super().__init__(f"unknown AMDGPU target {what}{hint}")


class Target(Struct, frozen=True):
    """One processor (or generic family of processors)."""

    name: str
    """The name for ``-mcpu``: ``gfx90a``, ``gfx11-generic``, ``cypress``."""
    mach: int
    """The ``EF_AMDGPU_MACH`` value, 0..255."""
    generation: Generation
    version: tuple[int, int, int] | None
    """(major, minor, stepping): ``gfx90a`` is (9, 0, 10); None for generic targets and r600."""
    aliases: tuple[str, ...] = ()
    wave_sizes: tuple[int, ...] = (64,)
    """Lanes per wave that the hardware can run, the compiler's default first."""
    scratch: ScratchKind = ScratchKind.BUFFER
    flat_scratch_is_offset: bool = False
    """Whether FLAT_SCRATCH is an offset and a size (gfx7, gfx8) instead of a 64-bit address."""
    packed_work_item_ids: bool = False
    """Whether v0 holds x | y << 10 | z << 20, instead of one id each in v0, v1 and v2."""
    architected_sgprs: bool = False
    """Whether TTMP registers, instead of system SGPRs, hold the workgroup ids."""
    supports_kernarg_preload: bool = False
    has_agprs: bool = False
    unified_vgprs: bool = False
    """Whether VGPRs and AGPRs share one file of 512 registers, which is split at the descriptor's accum_offset."""
    supports_xnack: bool = False
    supports_sramecc: bool = False
    supports_wgp_mode: bool = False
    supports_generic_address_space: bool = True
    lds_size: int = 65536
    """Bytes of LDS that one workgroup can address."""
    lds_granule: int = 512
    """Bytes per unit of LDS allocation."""
    max_sgprs: int = 102
    """SGPRs that a program can name (s0 .. s<max-1>), without VCC and the other special registers."""
    sgpr_granule: int = 16
    """SGPRs per unit of allocation; 0 if every wave gets the same fixed number."""
    max_vgprs: int = 256
    """The most vector registers that a program can be given (including AGPRs if they share the file)."""
    vgpr_granule_wave64: int = 4
    """VGPRs per unit of the descriptor's granulated count, wave64 code."""
    vgpr_granule_wave32: int = 0
    """VGPRs per unit of the descriptor's granulated count, wave32 code; 0 if there is no wave32."""
    waves_per_simd: int = 10
    """Maximum number of waves of a SIMD."""
    simd_vgprs: int = 256
    """Vector registers of a SIMD for each of 64 lanes; waves of 32 lanes have twice as many."""
    vgpr_block: int = 4
    """The unit in which a wave of 64 lanes is allocated vector registers, which may be larger than the descriptor's
    unit.
    """
    encodings: str = ""
    """Name of the encoding table. Targets share a table if LLVM decodes their compute instructions alike (gfx1251
    additionally has DPP forms of 64-bit instructions)."""
    family: str = ""
    """The family of its encoding layouts: ``gfx90a``, ``gfx10``; empty if nothing is decoded."""
    has_images: bool = True
    """Whether there are image instructions."""
    packs_d16: bool = True
    """Whether d16 loads put two components into a register."""
    gds_size: int = 65536
    """Bytes of the global data share, as the amdgpu driver reports it; 0 if there is none."""
    gb_addr_config: int | None = None
    """The value of the register GB_ADDR_CONFIG, which determines how tiled images are spread over memory channels; None
    if not known.
    """
    pci_device: int = 0
    """PCI device number of a card, for programs that read it."""
    members: tuple[str, ...] = ()
    """For a generic target: the processors that run its code."""

    @property
    def is_generic(self) -> bool:
        return bool(self.members)

    def device(self, wanted: str | None) -> str:
        """The processor on which code for this target runs: the target itself; for generic code, the processor that the
        target id ``wanted`` names if it is covered, otherwise the first covered one.
        """
        if not self.is_generic:
            return self.name
        name = (wanted or "").partition(":")[0]
        return name if name in self.members else self.members[0]

    @property
    def is_r600(self) -> bool:
        return self.generation is Generation.R600

    @property
    def is_gfx125(self) -> bool:
        """Whether this is gfx1250 or a relative: they changed fields of the kernel descriptor within GFX12."""
        return self.version is not None and self.version[:2] == (12, 5)

    @property
    def vgpr_file(self) -> int:
        """VGPRs that instructions can name, without AGPRs: 256, on gfx125x 1024 (see s_set_vgpr_msb)."""
        return 1024 if self.is_gfx125 else 256

    @property
    def first_ttmp(self) -> int:
        """Operand code of ttmp0. Before GFX9, tba and tma precede it, and there are twelve instead of sixteen."""
        return 112 if self.generation < Generation.GFX9 else 108

    @property
    def flat_scratch_code(self) -> int:
        """Operand code of flat_scratch_lo if it is a register that code can name; otherwise -1."""
        return {Generation.GFX7: 104, Generation.GFX8: 102, Generation.GFX9: 102}.get(self.generation, -1)

    @property
    def default_wave_size(self) -> int:
        return self.wave_sizes[0]

    def vgpr_granule(self, wave_size: int) -> int:
        """VGPRs per unit of the descriptor's granulated VGPR count for code of this wave size."""
        return (
            self.vgpr_granule_wave32
            if wave_size == 32 and self.vgpr_granule_wave32
            else self.vgpr_granule_wave64
        )

    def vgpr_allocation(self, wave_size: int) -> int:
        """The unit in which a wave of this size is allocated VGPRs. If AGPRs share the file, they may begin at any
        multiple of four (accum_offset), so the wave does not have VGPRs beyond that.
        """
        return 4 if self.unified_vgprs else self.vgpr_block * (2 if wave_size == 32 else 1)

    def covers(self, other: Target) -> bool:
        """Whether code built for this target runs on ``other`` as far as the processor is concerned."""
        return self.name == other.name or other.name in self.members

    def __str__(self) -> str:
        return self.name


def _r600(name: str, mach: int, wave_size: int) -> Target:
    return Target(
        name, mach, Generation.R600, None, wave_sizes=(wave_size,), scratch=ScratchKind.NONE,
        supports_generic_address_space=False, lds_size=32768, max_sgprs=0, sgpr_granule=0, max_vgprs=128,
        has_images=False,
    )


def _numbered(base: Target, name: str, mach: int, *aliases: str, **changes: object) -> Target:
    """A row derived from its family's ``base``; (major, minor, stepping) follow from the name."""
    digits = name.removeprefix("gfx")
    version = (int(digits[:-2]), int(digits[-2]), int(digits[-1], 16))
    return replace(base, name=name, mach=mach, version=version, aliases=aliases, **changes)


def _generic(base: Target, name: str, mach: int, members: str, **changes: object) -> Target:
    return replace(base, name=name, mach=mach, version=None, members=tuple(members.split()), **changes)


_GFX6 = Target(
    "", 0, Generation.GFX6, None, supports_generic_address_space=False, lds_size=32768, lds_granule=256,
    max_sgprs=104, sgpr_granule=8, encodings="gfx600", family="gfx6", packs_d16=False,
)
_GFX7 = Target(
    "", 0, Generation.GFX7, None, flat_scratch_is_offset=True, max_sgprs=104, sgpr_granule=8, encodings="gfx700",
    family="gfx7", packs_d16=False,
)
_GFX8 = Target(
    "", 0, Generation.GFX8, None, flat_scratch_is_offset=True, encodings="gfx803", family="gfx8", packs_d16=False,
)
_GFX9 = Target("", 0, Generation.GFX9, None, supports_xnack=True, encodings="gfx900", family="gfx9")
_GFX90A = replace(
    _GFX9, supports_sramecc=True, packed_work_item_ids=True, supports_kernarg_preload=True, has_agprs=True,
    unified_vgprs=True, max_vgprs=512, vgpr_granule_wave64=8, waves_per_simd=8, simd_vgprs=512, vgpr_block=8,
    encodings="gfx90a", family="gfx90a", gds_size=0,
)
_GFX940 = replace(
    _GFX90A, scratch=ScratchKind.ARCHITECTED, encodings="gfx942", family="gfx940", has_images=False,
)
_GFX103 = Target(
    "", 0, Generation.GFX10, None, wave_sizes=(32, 64), supports_wgp_mode=True, max_sgprs=106, sgpr_granule=0,
    vgpr_granule_wave32=8, waves_per_simd=16, simd_vgprs=512, vgpr_block=8, encodings="gfx1030", family="gfx10",
)
_GFX101 = replace(_GFX103, supports_xnack=True, waves_per_simd=20, vgpr_block=4, encodings="gfx1010")
_GFX11 = replace(
    _GFX103, generation=Generation.GFX11, scratch=ScratchKind.ARCHITECTED, packed_work_item_ids=True,
    encodings="gfx1100", family="gfx11", gds_size=4096,
)
_MORE_VGPRS = {"simd_vgprs": 768, "vgpr_block": 12}
_GFX12 = replace(
    _GFX11, generation=Generation.GFX12, architected_sgprs=True, encodings="gfx1200", family="gfx12", gds_size=0,
    **_MORE_VGPRS,
)
_GFX125 = replace(
    _GFX12, wave_sizes=(32,), supports_xnack=True, supports_sramecc=True, supports_kernarg_preload=True,
    supports_wgp_mode=False, lds_size=327680, lds_granule=2048, max_vgprs=1024, vgpr_granule_wave32=16, simd_vgprs=512,
    vgpr_block=8, encodings="gfx1250", family="gfx125", has_images=False,
)

_ROWS: tuple[Target, ...] = (
    _r600("r600", 0x01, 64),
    _r600("r630", 0x02, 32),
    _r600("rs880", 0x03, 16),
    _r600("rv670", 0x04, 64),
    _r600("rv710", 0x05, 32),
    _r600("rv730", 0x06, 32),
    _r600("rv770", 0x07, 64),
    _r600("cedar", 0x08, 32),
    _r600("cypress", 0x09, 64),
    _r600("juniper", 0x0A, 64),
    _r600("redwood", 0x0B, 64),
    _r600("sumo", 0x0C, 64),
    _r600("barts", 0x0D, 64),
    _r600("caicos", 0x0E, 32),
    _r600("cayman", 0x0F, 64),
    _r600("turks", 0x10, 64),
    _numbered(_GFX6, "gfx600", 0x20, "tahiti"),
    _numbered(_GFX6, "gfx601", 0x21, "pitcairn", "verde"),
    _numbered(_GFX6, "gfx602", 0x3A, "hainan", "oland"),
    _numbered(_GFX7, "gfx700", 0x22, "kaveri"),
    _numbered(_GFX7, "gfx701", 0x23, "hawaii"),
    _numbered(_GFX7, "gfx702", 0x24),
    _numbered(_GFX7, "gfx703", 0x25, "kabini", "mullins"),
    _numbered(_GFX7, "gfx704", 0x26, "bonaire"),
    _numbered(_GFX7, "gfx705", 0x3B),
    _numbered(_GFX8, "gfx801", 0x28, "carrizo", supports_xnack=True),
    # A hardware bug: gfx802 and gfx805 must always be given 96 SGPRs, regardless of the descriptor.
    _numbered(_GFX8, "gfx802", 0x29, "iceland", "tonga", max_sgprs=96),
    _numbered(_GFX8, "gfx803", 0x2A, "fiji", "polaris10", "polaris11"),
    _numbered(_GFX8, "gfx805", 0x3C, "tongapro", max_sgprs=96),
    _numbered(_GFX8, "gfx810", 0x2B, "stoney", supports_xnack=True, encodings="gfx810", packs_d16=True),
    _numbered(_GFX9, "gfx900", 0x2C, gb_addr_config=0x2A114042, pci_device=0x6860),
    _numbered(_GFX9, "gfx902", 0x2D, gb_addr_config=0x24000042),
    _numbered(_GFX9, "gfx904", 0x2E, encodings="gfx904"),
    _numbered(
        _GFX9, "gfx906", 0x2F, supports_sramecc=True,
        encodings="gfx906", gb_addr_config=0x2A114042, pci_device=0x66A1,
    ),
    _numbered(
        _GFX9, "gfx908", 0x30, supports_sramecc=True, has_agprs=True,
        encodings="gfx908", gds_size=4096, pci_device=0x738C,
    ),
    _numbered(_GFX9, "gfx909", 0x31, gb_addr_config=0x26013041),
    _numbered(_GFX90A, "gfx90a", 0x3F, pci_device=0x740F),
    _numbered(_GFX9, "gfx90c", 0x32),
    # Early steppings of gfx942: LLVM 22 no longer knows them, but older code objects still use them.
    _numbered(_GFX940, "gfx940", 0x40),
    _numbered(_GFX940, "gfx941", 0x4B),
    _numbered(_GFX940, "gfx942", 0x4C, pci_device=0x74A1),
    _numbered(_GFX940, "gfx950", 0x4F, lds_size=163840, lds_granule=1280, encodings="gfx950", pci_device=0x75A0),
    _generic(_GFX9, "gfx9-generic", 0x51, "gfx900 gfx902 gfx904 gfx906 gfx909 gfx90c"),
    _generic(_GFX940, "gfx9-4-generic", 0x5F, "gfx940 gfx941 gfx942 gfx950"),
    _numbered(_GFX101, "gfx1010", 0x33, gb_addr_config=0x00100044, pci_device=0x731F),
    _numbered(_GFX101, "gfx1011", 0x34, encodings="gfx1011"),
    _numbered(_GFX101, "gfx1012", 0x35, encodings="gfx1011", gb_addr_config=0x00000043),
    _numbered(_GFX101, "gfx1013", 0x42, encodings="gfx1013"),
    _numbered(_GFX103, "gfx1030", 0x36, gb_addr_config=0x00000444, pci_device=0x73BF),
    _numbered(_GFX103, "gfx1031", 0x37),
    _numbered(_GFX103, "gfx1032", 0x38),
    _numbered(_GFX103, "gfx1033", 0x39, gb_addr_config=0x00000142),
    _numbered(_GFX103, "gfx1034", 0x3E),
    _numbered(_GFX103, "gfx1035", 0x3D, gb_addr_config=0x00000242),
    _numbered(_GFX103, "gfx1036", 0x45, gb_addr_config=0x00000042),
    _generic(_GFX101, "gfx10-1-generic", 0x52, "gfx1010 gfx1011 gfx1012 gfx1013"),
    _generic(_GFX103, "gfx10-3-generic", 0x53, "gfx1030 gfx1031 gfx1032 gfx1033 gfx1034 gfx1035 gfx1036"),
    _numbered(_GFX11, "gfx1100", 0x41, **_MORE_VGPRS, gb_addr_config=0x00000545, pci_device=0x744C),
    _numbered(_GFX11, "gfx1101", 0x46, **_MORE_VGPRS, pci_device=0x747E),
    _numbered(_GFX11, "gfx1102", 0x47, gb_addr_config=0x00000343, pci_device=0x7480),
    _numbered(_GFX11, "gfx1103", 0x44, gb_addr_config=0x00000242),
    _numbered(_GFX11, "gfx1150", 0x43, encodings="gfx1150", gb_addr_config=0x00000242),
    _numbered(_GFX11, "gfx1151", 0x4A, **_MORE_VGPRS, encodings="gfx1150"),
    _numbered(_GFX11, "gfx1152", 0x55, encodings="gfx1150"),
    _numbered(_GFX11, "gfx1153", 0x58, encodings="gfx1150"),
    _generic(
        _GFX11, "gfx11-generic", 0x54, "gfx1100 gfx1101 gfx1102 gfx1103 gfx1150 gfx1151 gfx1152 gfx1153"
    ),
    _numbered(_GFX12, "gfx1200", 0x48, pci_device=0x7590),
    _numbered(_GFX12, "gfx1201", 0x4E, pci_device=0x7550),
    _numbered(_GFX125, "gfx1250", 0x49),
    _numbered(_GFX125, "gfx1251", 0x5A),
    _generic(_GFX12, "gfx12-generic", 0x59, "gfx1200 gfx1201"),
)

_BY_NAME: dict[str, Target] = {}
_BY_MACH: dict[int, Target] = {}
_BY_ALIAS: dict[str, Target] = {}
_BY_VERSION: dict[tuple[int, int, int], Target] = {}

TARGETS: Mapping[str, Target] = MappingProxyType(_BY_NAME)
"""Every known processor by its name."""


def add_target(row: Target) -> None:
    """Register a processor. The row holds all that rocdbg must know about it, except its encoding table."""
    _BY_NAME[row.name] = _BY_MACH[row.mach] = row
    _BY_ALIAS.update(dict.fromkeys(row.aliases, row))
    if row.version is not None:
        _BY_VERSION[row.version] = row


for _row in _ROWS:
    add_target(_row)


def is_target(name: str) -> bool:
    """Whether there is a processor with this name or alias."""
    return name in TARGETS or name in _BY_ALIAS


def target_by_name(name: str) -> Target:
    """The processor with this name or alias (``gfx90a``, ``tahiti``); raises `UnknownTargetError`."""
    target = TARGETS.get(name) or _BY_ALIAS.get(name)
    if target is None:
        import difflib  # few sessions need it

        near = difflib.get_close_matches(name, [*TARGETS, *_BY_ALIAS], n=3)
        raise UnknownTargetError(f'"{name}"', f" (did you mean {', '.join(near)}?)" if near else "")
    return target


def target_by_mach(mach: int) -> Target:
    """The processor of an ``EF_AMDGPU_MACH`` value (0..255); raises `UnknownTargetError`."""
    target = _BY_MACH.get(mach)
    if target is None:
        raise UnknownTargetError(f"with EF_AMDGPU_MACH value {mach:#x}")
    return target


def target_by_version(major: int, minor: int, stepping: int) -> Target:
    """The processor with an ISA version as given by code object V2 notes; raises `UnknownTargetError`."""
    target = _BY_VERSION.get((major, minor, stepping))
    if target is None:
        raise UnknownTargetError(f"with ISA version {major}.{minor}.{stepping}")
    return target
