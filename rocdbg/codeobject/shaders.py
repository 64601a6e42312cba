"""The shaders of code objects for AMDPAL, Mesa or no operating system: symbols, and the registers set up for them.

PAL's metadata has pipelines with hardware stages, and registers by number (versions 1 and 2) or by field (version 3).
Mesa's objects, and those for no operating system, have a section with pairs of register and value, in one record per
function.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import replace

from rocdbg.arch.targets import Generation, Target
from rocdbg.codeobject.elf_flags import OsAbi
from rocdbg.codeobject.elf_notes import NT_AMD_PAL_METADATA
from rocdbg.codeobject.elf_symbols import SymbolType
from rocdbg.codeobject.kernel_descriptor import KernelDescriptor, shader_descriptor
from rocdbg.codeobject.metadata_map import MetadataMap
from rocdbg.codeobject.shader_registers import (
    COMPUTE_DISPATCH_INITIATOR,
    STAGES,
    UNUSED,
    USER_DATA_COUNT,
    WAVE32_INITIATOR,
    HardwareStage,
    UserData,
    register_pairs,
    user_data,
    user_data_text,
)

if TYPE_CHECKING:
    from rocdbg.codeobject.code_object import CodeObject

CONFIG: Final = ".AMDGPU.config"

_PS_IN_CONTROL, _STAGES_EN = 0xA1B6, 0xA2D5
_COMPUTE_TMPRING, _GRAPHICS_TMPRING = 0x2E18, 0xA1BA
_WAVE32: Final = {
    HardwareStage.CS: (COMPUTE_DISPATCH_INITIATOR, WAVE32_INITIATOR),
    HardwareStage.PS: (_PS_IN_CONTROL, 1 << 15),
    HardwareStage.HS: (_STAGES_EN, 1 << 21),
    HardwareStage.GS: (_STAGES_EN, 1 << 22),
    HardwareStage.VS: (_STAGES_EN, 1 << 23),
}
"""The bit and register that request waves of 32 lanes."""

_STAGE_FIELDS: Final = {
    ".float_mode": (0, 12), ".debug_mode": (0, 22), ".ieee_mode": (0, 23), ".fp16_overflow": (0, 26),
    ".wgp_mode": (0, 29), ".mem_ordered": (0, 30), ".forward_progress": (0, 31),
    ".scratch_en": (1, 0), ".user_sgprs": (1, 1), ".trap_present": (1, 6), ".excp_en": (1, 24),
}  # fmt: skip
_COMPUTE_FIELDS: Final = {
    ".tgid_x_en": (1, 7), ".tgid_y_en": (1, 8), ".tgid_z_en": (1, 9), ".tg_size_en": (1, 10),
    ".tidig_comp_cnt": (1, 11),
}  # fmt: skip
"""The positions of version 3's fields in PGM_RSRC1 (0) or PGM_RSRC2 (1)."""

_FIXED_MAPPING: Final = {
    0: UserData.GLOBAL_TABLE.code,
    1: UserData.SHADER_TABLE.code,
    **{2 + entry: entry for entry in range(10)},
    12: UserData.SPILL_TABLE.code,
    13: UserData.GROUP_COUNTS.code,
    15: UserData.GDS_RANGE.code,
}
"""PAL's compute user data registers if the metadata has no mapping."""


class ShaderProgram(Struct, frozen=True):
    """A shader, with the values that a driver would set up for it."""

    symbol: str
    stage: HardwareStage
    os_abi: int
    registers: Mapping[int, int]
    """By number in dwords, including those of other stages of its pipeline."""
    mapping: Mapping[int, int]
    """The contents of its user data registers, by their index: words as `user_data` reads them."""
    scratch: int = 0
    """Bytes per lane."""
    lds: int = 0
    """Bytes per workgroup according to the metadata; the registers may request more."""
    wave_size: int = 0
    """The wave size; 0 means that the registers, or the target's default, determine it."""

    def with_registers(self, registers: Mapping[int, int]) -> ShaderProgram:
        """The shader with other values in some registers; a value for a user data register is a mapping word."""
        first = self.stage.user_data
        mapped = {number - first: value for number, value in registers.items() if number >= first}
        return replace(self, registers={**self.registers, **registers}, mapping={**self.mapping, **mapped})

    def descriptor(self, target: Target) -> KernelDescriptor:
        """The registers as a kernel descriptor."""
        stage, registers = self.stage, self.registers
        word1, word2 = (registers.get(stage.rsrc1 + n, 0) for n in (0, 1))
        word3 = registers.get(0x2E28, 0) if stage is HardwareStage.CS else 0
        if stage is not HardwareStage.CS:
            word2 &= 0x3F  # the other fields differ from stage to stage
        return shader_descriptor(target, (word1, word2, word3), self.scratch, self.lds, self._is_wave32(target))

    def _is_wave32(self, target: Target) -> bool:
        if len(target.wave_sizes) == 1 or self.wave_size:
            return (self.wave_size or target.default_wave_size) == 32
        register, bit = _WAVE32.get(self.stage, (0, 0))
        if self.os_abi == OsAbi.AMDGPU_PAL or register in self.registers:
            return bool(self.registers.get(register, 0) & bit)
        return target.default_wave_size == 32


def shaders_of(code_object: CodeObject) -> dict[str, ShaderProgram]:
    """The shaders by symbol, in the order of the file. Raises `CodeObjectError`."""
    match code_object.os_abi:
        case OsAbi.AMDGPU_PAL:
            found = list(_pal_shaders(code_object))
        case OsAbi.AMDGPU_MESA3D | OsAbi.NONE:
            found = list(_recorded_shaders(code_object))
        case _:
            return {}
    return {shader.symbol: shader for shader in found}


def _pal_shaders(code_object: CodeObject) -> Iterator[ShaderProgram]:
    metadata = code_object.metadata
    if metadata is None:
        yield from _early_pal_shaders(code_object)
        return
    for pipeline in metadata.pipelines:
        registers = pipeline.map(".registers").numbers()
        for word, entry in pipeline.map(".hardware_stages").items():
            stage = STAGES.get(word)
            symbol = _entry(code_object, entry)
            if stage is not None and symbol is not None:
                yield _pal_shader(code_object.target, symbol, stage, registers, entry, pipeline)


def _entry(code_object: CodeObject, entry: MetadataMap) -> str | None:
    """The symbol where a stage begins."""
    for key in (".entry_point_symbol", ".entry_point"):
        name = entry.text(key)
        symbol = code_object.symbols.get(name) if name else None
        if symbol is not None and symbol.is_defined:
            return symbol.name
    return None


def _pal_shader(
    target: Target, symbol: str, stage: HardwareStage, registers: dict[int, int], entry: MetadataMap,
    pipeline: MetadataMap,
) -> ShaderProgram:
    size = entry.integer(".wavefront_size")
    found = ShaderProgram(
        symbol, stage, OsAbi.AMDGPU_PAL, registers, _mapping(stage, registers, entry),
        entry.integer(".scratch_memory_size"), entry.integer(".lds_size"), size if size in target.wave_sizes else 0,
    )  # fmt: skip
    if stage.rsrc1 in registers:
        return found
    words = [0, 0]
    fields = [(entry, _STAGE_FIELDS)]
    if stage is HardwareStage.CS:
        fields.append((pipeline.map(".compute_registers"), _COMPUTE_FIELDS))
    for source, places in fields:
        for key, (word, shift) in places.items():
            words[word] |= _number(source, key) << shift & 0xFFFF_FFFF
    granule = target.vgpr_granule(found.wave_size or target.default_wave_size)
    words[0] |= max(0, -(-min(entry.integer(".vgpr_count"), target.max_vgprs) // granule) - 1) & 63
    # units of 8 registers; GFX9 allocates two at a time, GFX10 all
    blocks = -(-min(entry.integer(".sgpr_count"), 128) // 8) - 1
    words[0] |= max(0, blocks) << 6
    return replace(
        found, registers={**registers, stage.rsrc1: words[0], stage.rsrc1 + 1: words[1]},
        wave_size=found.wave_size or target.default_wave_size,  # version 3's fields give no other part of it
    )  # fmt: skip


def _number(source: MetadataMap, key: str) -> int:
    return int(source.flag(key) or 0) if source.is_flag(key) else source.integer(key)


def _mapping(stage: HardwareStage, registers: Mapping[int, int], entry: MetadataMap) -> dict[int, int]:
    listed = entry.integers(".user_data_reg_map")
    if listed is not None:
        return {n: value & 0xFFFF_FFFF for n, value in enumerate(listed[:32]) if value & 0xFFFF_FFFF != UNUSED}
    count = USER_DATA_COUNT if stage is HardwareStage.CS else 32
    found = {n: registers[stage.user_data + n] for n in range(count) if stage.user_data + n in registers}
    return dict(_FIXED_MAPPING) if not found and stage is HardwareStage.CS else found


def _early_pal_shaders(code_object: CodeObject) -> Iterator[ShaderProgram]:
    """Shaders from the first form of PAL's metadata: pairs of register and value, and entry points with fixed names."""
    registers: dict[int, int] = {}
    for note in code_object.notes:
        if note.owner == "AMD" and note.type == NT_AMD_PAL_METADATA:
            registers |= dict(register_pairs(note.description))
    for stage in HardwareStage:
        symbol = code_object.symbols.get(f"_amdgpu_{stage.word}_main")
        if registers and symbol is not None and symbol.is_defined:
            mapping = _mapping(stage, registers, MetadataMap.empty(code_object.name))
            scratch = registers.get(_SCRATCH + list(HardwareStage).index(stage), 0)
            yield ShaderProgram(symbol.name, stage, OsAbi.AMDGPU_PAL, registers, mapping, scratch)


_SCRATCH: Final = 0x1000_0044
"""The pseudo register, in the first form, for the bytes of scratch of stage LS; those of the other stages follow in
order.
"""


def _recorded_shaders(code_object: CodeObject) -> Iterator[ShaderProgram]:
    records = list(_records(code_object))
    if not records:
        return
    symbols = code_object.symbols
    kinds = (SymbolType.FUNC, SymbolType.AMDGPU_HSA_KERNEL)
    functions = sorted(
        (symbols[index] for index in symbols.defined(kinds)), key=lambda symbol: (symbol.section_index, symbol.value)
    )
    if len(functions) != len(records):
        reason = f"the section has {len(records)} records, but there are {len(functions)} functions"
        raise code_object.source.error(reason, section=CONFIG)
    stages = {stage.rsrc1: stage for stage in HardwareStage}
    for symbol, (stage, registers) in zip(functions, records, strict=True):
        # called functions also have records, with 0 in COMPUTE_PGM_RSRC1
        if symbol.type == SymbolType.FUNC and (registers[stage] or stage != HardwareStage.CS.rsrc1):
            shader = ShaderProgram(symbol.name, stages[stage], code_object.os_abi, registers, {})
            yield replace(shader, scratch=_scratch(shader, code_object.target))


def _records(code_object: CodeObject) -> Iterator[tuple[int, dict[int, int]]]:
    """The number of PGM_RSRC1 that begins a record, and its registers."""
    section = code_object.sections.get(CONFIG)
    begins = {stage.rsrc1 for stage in HardwareStage}
    record: dict[int, int] = {}
    stage = 0
    for address, value in register_pairs(section.data if section is not None else b""):
        if address >> 2 in begins and record:
            yield stage, record
            record = {}
        if not record:
            if address >> 2 not in begins:
                reason = f"a record begins with register {address:#x}, which belongs to no shader stage"
                raise code_object.source.error(reason, section=CONFIG)
            stage = address >> 2
        record[address >> 2] = value
    if record:
        yield stage, record


def _scratch(shader: ShaderProgram, target: Target) -> int:
    """Bytes per lane, from those per wave in TMPRING_SIZE (WAVESIZE, from bit 12)."""
    register = _COMPUTE_TMPRING if shader.stage is HardwareStage.CS else _GRAPHICS_TMPRING
    size = shader.registers.get(register, 0) >> 12
    late = target.generation >= Generation.GFX11
    wave = (size & 0x3FFFF) * 256 if late else (size & 0x1FFF) * 1024
    return wave // shader.descriptor(target).wave_size


def mapping_text(shader: ShaderProgram, count: int) -> str:
    """The contents of the first ``count`` user data registers as text: ``s0 spill table, s1-s3 entries 0-2``."""
    mapping, parts, index = shader.mapping, [], 0
    if shader.os_abi == OsAbi.AMDGPU_MESA3D:
        parts, index = ["s0-s1 scratch"] if count else [], 2
    if shader.os_abi != OsAbi.AMDGPU_PAL:
        mapping = {index + entry: entry for entry in range(count - index)}
    while index < count:
        word, begin = mapping.get(index), index
        index += 1
        if word is None:
            continue
        while isinstance(user_data(word), int) and index < count and mapping.get(index) == word + index - begin:
            index += 1
        if index - begin > 1:
            parts.append(f"s{begin}-s{index - 1} entries {word}-{word + index - begin - 1}")
        else:
            parts.append(f"s{begin} {user_data_text(word)}")
    return ", ".join(parts)


__all__ = ["CONFIG", "ShaderProgram", "mapping_text", "shaders_of"]
