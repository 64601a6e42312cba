"""Which operands and modifiers go together: what hardware cannot do although each of them alone may stand there.

The decoder prints such instructions, as LLVM's does; assemblers refuse to write them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from rocdbg.arch.targets import Generation, Target
from rocdbg.isa.formats import Layout
from rocdbg.isa.instruction import Instruction, Operand, OperandKind

K = OperandKind
_VECTOR_ALU = ("VOP1", "VOP2", "VOPC", "VOP3", "VOP3P", "VOPD")
_MEMORY = ("MUBUF", "MTBUF", "MIMG", "FLAT", "GLOBAL", "SCRATCH", "DS")
_BUFFERS = ("MUBUF", "MTBUF")
_WIDE_SHIFTS = re.compile(r"^v_(lshl|lshr|ashr)(rev)?_[bi]64$")
_REVERSED = re.compile(r"^v_(?!bfrev).*rev_")
_READ_VCC = re.compile(r"^v_div_fmas_")
_DESTINATIONS = ("vdst", "sdst", "vdstx", "vdsty")
_M0, _NULL = "m0", "null"


def violation(found: Instruction, layout: Layout, target: Target) -> str | None:
    """Why hardware cannot do an instruction whose operands are each right; None if it can."""
    for rule in _RULES:
        if reason := rule(found, layout, target):
            return reason
    return None


def _scalar_name(operand: Operand) -> str | None:
    """Whose value an operand brings over the constant bus; None if it brings none, or a literal."""
    if operand.kind in (K.SGPR, K.TTMP):
        return f"{operand.kind.name}{operand.index}:{operand.dwords}"
    if operand.kind is K.SPECIAL:
        text = re.sub(r"^(?:-|\||neg\(|abs\(|sext\()+|[|)]+$", "", operand.text)
        return None if text == _NULL else text
    return None


def _sources(found: Instruction) -> Iterator[Operand]:
    return (operand for operand in found.operands if operand.name not in _DESTINATIONS)


def _constant_bus(found: Instruction, layout: Layout, target: Target) -> str | None:
    """Scalar registers and literals share a bus, which brings one value (GFX10 and later: two)."""
    if found.encoding not in _VECTOR_ALU:
        return None
    scalars: set[str] = set()
    literals: set[int] = set()
    for operand in _sources(found):
        if operand.kind is K.LITERAL or operand.name == "literal":
            literals.add(max(1, operand.dwords))
        elif name := _scalar_name(operand):
            scalars.add(name)
    if _READ_VCC.match(found.name):
        scalars.add("vcc_lo" if target.generation >= Generation.GFX10 and found.mnemonic else "vcc")
    limit = 2 if target.generation >= Generation.GFX10 and not _WIDE_SHIFTS.match(found.name) else 1
    count = len(scalars) + len(literals)
    if count <= limit:
        return None
    if limit == 1:
        return "it reads more than one scalar register or literal, which the constant bus cannot bring"
    return f"it reads {count} scalar registers and literals, of which the constant bus brings two"


def _lds_direct(found: Instruction, layout: Layout, target: Target) -> str | None:
    for operand in _sources(found):
        if operand.kind is K.SPECIAL and "lds_direct" in operand.text:
            if operand.name != "src0":
                return f"lds_direct can be src0 only, not {operand.name}"
            if layout.src0 == (249,) or _REVERSED.match(found.name):
                return f"{found.mnemonic} cannot read lds_direct"
    return None


def _dual_banks(found: Instruction, layout: Layout, target: Target) -> str | None:
    """Both halves of a dual instruction read at the same time: from different banks of vector registers."""
    if found.encoding != "VOPD":
        return None
    three = layout.name == "VOPD3"
    moves = found.mnemonic == "v_dual_mov_b32 :: v_dual_mov_b32" and target.generation >= Generation.GFX12
    for name, banks in (("vdst", 2), ("src0", 4), ("vsrc1", 4), ("vsrc2", 4 if three else 2)):
        x, y = found.operand(name + "x"), found.operand(name + "y")
        if x is None or y is None or x.kind is not K.VGPR or y.kind is not K.VGPR:
            continue
        of_x, of_y = (range(operand.index, operand.index + operand.dwords) for operand in (x, y))
        if name == "vdst":
            if set(of_x) & set(of_y):
                return f"both halves write {x.text}"
            if three:
                continue
        if moves or (target.is_gfx125 and x.index == y.index and x.dwords == y.dwords):
            continue
        if {number % banks for number in of_x} & {number % banks for number in of_y}:
            return (
                f"{x.text} and {y.text} are in the same bank of vector registers: the numbers of {name} "
                f"must differ modulo {banks}"
            )
    return None


def _register_ranges(found: Instruction, layout: Layout, target: Target) -> str | None:
    for operand in found.operands:
        if operand.kind in (K.VGPR, K.AGPR):
            if operand.index + operand.dwords > target.vgpr_file:
                return f"`{operand.text}' goes beyond the last register"
            if operand.kind is K.AGPR and found.encoding in _MEMORY and not target.unified_vgprs:
                return f"{target.name} cannot load and store accumulation registers"
            if target.unified_vgprs and operand.dwords > 1 and operand.index % 2:
                return f"`{operand.text}' must start at an even number"
    return None


def _buffers(found: Instruction, layout: Layout, target: Target) -> str | None:
    if found.encoding in _BUFFERS:
        offset, resource = found.operand("soffset"), found.operand("srsrc")
        if offset is not None and offset.kind is K.LITERAL:
            return f"soffset cannot be the literal {offset.text}: it takes scalar registers or inline constants"
        if resource is not None and resource.kind is K.SPECIAL:
            return f"srsrc cannot be {resource.text}"
        if "tfe" in found.modifiers and "_store" in found.name and target.generation >= Generation.GFX10:
            return "tfe says nothing about a store"
    return None


def _images(found: Instruction, layout: Layout, target: Target) -> str | None:
    if not found.name.startswith("image_"):
        return None
    dmask = found.modifiers.get("dmask", 0)
    if found.name.startswith("image_gather4") and dmask not in (1, 2, 4, 8):
        return f"dmask:{dmask:#x} chooses not one component, which is what a gather returns"
    if found.name.startswith("image_atomic") and dmask not in (1, 3, 15):
        return f"dmask:{dmask:#x} is not the one of an atomic: 0x1, 0x3 or 0xf"
    for name in ("srsrc", "ssamp"):
        operand = found.operand(name)
        if operand is not None and operand.kind is K.SPECIAL:
            return f"{name} cannot be {operand.text}"
    return None


def _exports(found: Instruction, layout: Layout, target: Target) -> str | None:
    """Numbers of targets, parameters and attributes that the decoder prints but that there are not."""
    for operand in found.operands:
        if operand.text.startswith("invalid_"):
            return f"there is no {'export target' if found.encoding == 'EXP' else 'parameter'} `{operand.text}'"
        if operand.name == "attr" and (match := re.match(r"attr(\d+)", operand.text)) and int(match[1]) > 32:
            return f"there are attributes 0 to 32, not {match[1]}"
    return None


def _unsigned_offsets(found: Instruction, layout: Layout, target: Target) -> str | None:
    """Offsets of flat instructions and of scalar buffer instructions cannot be negative."""
    offset = found.modifiers.get("offset", 0)
    generation = target.generation
    if found.encoding == "FLAT" and isinstance(offset, int):
        if generation <= Generation.GFX8 and offset:
            return f"flat instructions of {target.name} have no offset"
        if generation < Generation.GFX12:
            most = (1 << (11 if generation is Generation.GFX10 else 12)) - 1
            raw = offset & (1 << (12 if generation is Generation.GFX10 else 13)) - 1
            if raw > most:
                return f"the offset of a flat instruction must be 0 to {most}"
    if found.encoding == "SMEM" and found.name.startswith(("s_buffer_", "s_atc_probe_buffer")):
        operand = found.operand("offset")
        value = operand.value if operand is not None else offset
        if isinstance(value, int) and value < 0:
            return "the offset of a scalar buffer instruction cannot be negative"
    return None


def _counters(found: Instruction, layout: Layout, target: Target) -> str | None:
    if re.match(r"s_waitcnt_(vs|vm|exp|lgkm)cnt$", found.name):
        operand = found.operand("sdst")
        if operand is not None and operand.text != _NULL:
            return f"`{operand.text}' must be null"
    return None


def _lane_sources(found: Instruction, layout: Layout, target: Target) -> str | None:
    """GFX11.0 has DPP forms of VOP3 whose second source is a vector register only."""
    if target.generation is Generation.GFX11 and layout.src0_dword and (target.version or (11, 0, 0)) < (11, 5, 0):
        operand = found.operand("src1")
        if operand is not None and operand.kind is not K.VGPR:
            return f"src1 cannot be `{operand.text}': here it takes vector registers"
    return None


_RULES: tuple[Callable[[Instruction, Layout, Target], str | None], ...] = (
    _register_ranges, _lds_direct, _constant_bus, _dual_banks, _buffers, _images, _exports, _unsigned_offsets,
    _counters, _lane_sources,
)
