"""Detects combinations of operands and modifiers that hardware cannot execute although each of them is valid alone.

The decoder prints such instructions, as LLVM's does; assemblers reject them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from rocdbg.arch.targets import Generation, ScratchKind, Target
from rocdbg.isa.encoding_layouts import Layout
from rocdbg.isa.instruction import Instruction, Operand, OperandKind
from rocdbg.isa.operands import scalar_registers, trap_registers

K = OperandKind
_VECTOR_ALU = ("VOP1", "VOP2", "VOPC", "VOP3", "VOP3P", "VOPD")
_MEMORY = ("MUBUF", "MTBUF", "MIMG", "FLAT", "GLOBAL", "SCRATCH", "DS")
_BUFFERS = ("MUBUF", "MTBUF")
_WIDE_SHIFTS = re.compile(r"^v_(lshl|lshr|ashr)(rev)?_[bi]64$")
_WIDE_SHIFTS_GFX125 = re.compile(r"^v_lshlrev_b64$")
_REVERSED = re.compile(r"^v_(?!bfrev).*rev_")
_READ_VCC = re.compile(r"^v_div_fmas_")
_MASKED = re.compile(r"^v_(cndmask|addc|subb|subbrev|addc_co|subb_co|subbrev_co|(add|sub|subrev)_co_ci)_")
_TRUE_SOURCES = re.compile(
    r"^(s_(rfe|setpc|swappc|set_pc)_[bi]64|s_cbranch_join|s_movrels_b(32|64)|v_readfirstlane_b32)$"
)
_NO_SCALARS = (
    ("src0", re.compile(r"^v_(permlanex?16_var|permlane64|permlane\d+_swap|movrels|swap|s?wmmac?_|accvgpr_read)")),
    ("src1", re.compile(r"^v_(permlanex?16_var|s?wmmac?_)")),
    ("src2", re.compile(r"^v_(mqsad_u32|smfmac)")),
)
"""Sources that can only be vector registers."""
_SCALED_CONVERSIONS = re.compile(r"^v_cvt_scale")
_ONE_LANE = re.compile(r"^v_(read|write)lane_b32$")
_FIRST_VALUE = 230
"""Codes from here on are values, not registers."""
_DESTINATIONS = ("vdst", "sdst", "vdstx", "vdsty")
_SIZED_IMAGES = (
    "image_load", "image_sample", "image_store", "image_gather4", "image_get_lod", "image_get_resinfo", "image_atomic",
)
"""Image instructions whose number of data registers is the number of components in ``dmask``."""
_SYSTEM = 3
_WHOLE = 6
"""The selection DWORD of SDWA."""
_NULL = "null"


def violation(found: Instruction, layout: Layout, target: Target) -> str | None:
    """The reason why hardware cannot execute an instruction whose operands are all valid; None if it can."""
    for rule in _RULES:
        if reason := rule(found, layout, target):
            return reason
    return None


def _scalar_name(operand: Operand) -> str | None:
    """A name for the value that an operand reads through the constant bus; None if it does not use the bus, or reads a
    literal.
    """
    if operand.kind in (K.SGPR, K.TTMP):
        return f"{operand.kind.name}{operand.index}:{operand.dwords}"
    if operand.kind is K.SPECIAL:
        text = re.sub(r"^(?:-|\||neg\(|abs\(|sext\()+|[|)]+$", "", operand.text)
        return None if text == _NULL or "lds_direct" in text else text
    return None


def _sources(found: Instruction) -> Iterator[Operand]:
    return (operand for operand in found.operands if operand.name not in _DESTINATIONS)


def _constant_bus(found: Instruction, layout: Layout, target: Target) -> str | None:
    """Check that scalar registers and literals fit the constant bus, which carries one value (GFX10 and later: two)."""
    if found.encoding not in _VECTOR_ALU:
        return None
    implicit = bool(_READ_VCC.match(found.mnemonic)) or (
        "v_dual_cndmask" in found.mnemonic and layout.name == "VOPD"
    )
    scalars: set[str] = set()
    literals: set[int] = set()
    for operand in _sources(found):
        if operand.kind is K.LITERAL or operand.name == "literal":
            literals.add(max(1, operand.dwords))
        elif name := _scalar_name(operand):
            if name == "m0" and operand.name != "src0" and found.name == "v_writelane_b32":
                continue  # a lane number in m0 does not use the bus
            scalars.add(name)
    if found.name.startswith("v_movrel"):
        scalars.add("m0")
    if implicit:
        scalars.add("vcc")  # counts in addition to vcc_lo
    one = _WIDE_SHIFTS_GFX125 if target.is_gfx125 else _WIDE_SHIFTS
    limit = 2 if target.generation >= Generation.GFX10 and not one.match(found.name) else 1
    count = len(scalars) + len(literals)
    if count <= limit:
        return None
    if limit == 1:
        return "it reads more than one scalar register or literal, but the constant bus can carry only one"
    return f"it reads {count} scalar registers and literals, but the constant bus can carry only two"


def _lds_direct(found: Instruction, layout: Layout, target: Target) -> str | None:
    for operand in _sources(found):
        if operand.kind is K.SPECIAL and "lds_direct" in operand.text:
            if operand.name != "src0":
                return f"lds_direct can be used only as src0, not as {operand.name}"
            if layout.src0 == (249,) or _REVERSED.match(found.name):
                return f"{found.mnemonic} cannot read lds_direct"
    return None


def _dual_sources(found: Instruction, half: str, mnemonic: str) -> dict[str, Operand | None]:
    """The operands that the three source ports read for one half of a dual instruction."""
    sources = {name: found.operand(name + half) for name in ("src0", "vsrc1", "vsrc2")}
    if "fmamk" in mnemonic:
        sources["vsrc1"], sources["vsrc2"] = None, sources["vsrc1"]
    elif "fmac" in mnemonic or "dot2acc" in mnemonic:
        sources["vsrc2"] = found.operand("vdst" + half)
    return sources


def _dual_banks(found: Instruction, layout: Layout, target: Target) -> str | None:
    """Check that both halves of a dual instruction, which read at the same time, use different banks of vector
    registers."""
    if found.encoding != "VOPD":
        return None
    three = layout.name == "VOPD3"
    first, _, second = found.mnemonic.partition(" :: ")
    of_x, of_y = _dual_sources(found, "x", first), _dual_sources(found, "y", second)
    to_x, to_y = found.operand("vdstx"), found.operand("vdsty")
    assert to_x is not None and to_y is not None
    if _numbers(to_x) & _numbers(to_y):
        return f"both halves write {to_x.text}"
    if first == second == "v_dual_mov_b32" and target.generation >= Generation.GFX12:
        return None
    for name, banks in (("src0", 4), ("vsrc1", 4), ("vsrc2", 4 if three else 2)):
        x, y = of_x[name], of_y[name]
        if x is None or y is None or x.kind is not K.VGPR or y.kind is not K.VGPR:
            continue
        if target.is_gfx125 and (x.index, x.dwords) == (y.index, y.dwords):
            continue
        if {number % banks for number in _numbers(x)} & {number % banks for number in _numbers(y)}:
            return (
                f"{x.text} and {y.text} are in the same bank of vector registers: "
                f"their numbers must differ modulo {banks}"
            )
    return None


def _numbers(operand: Operand) -> set[int]:
    return set(range(operand.index, operand.index + operand.dwords))


def _register_ranges(found: Instruction, layout: Layout, target: Target) -> str | None:
    for operand in found.operands:
        if operand.kind in (K.VGPR, K.AGPR):
            if operand.index + operand.dwords > target.vgpr_file:
                return f"`{operand.text}' goes beyond the last register"
            if operand.kind is K.AGPR and found.encoding in _MEMORY and not target.unified_vgprs:
                return f"{target.name} cannot load and store accumulation registers"
            if (target.unified_vgprs or target.is_gfx125) and operand.dwords > 1 and operand.index % 2:
                return f"`{operand.text}' must start at an even number"
        elif (operand.kind is K.SGPR and operand.index + operand.dwords > scalar_registers(target)) or (
            operand.kind is K.TTMP and operand.index + operand.dwords > trap_registers(target)
        ):
            return f"`{operand.text}' goes beyond the last register"
    return None


def _buffers(found: Instruction, layout: Layout, target: Target) -> str | None:
    if found.name.startswith("s_buffer_") and any(o.name == "sbase" and o.text == _NULL for o in found.operands):
        return f"sbase cannot be {_NULL}: it takes four scalar registers"
    if found.encoding in _BUFFERS:
        offset, resource = found.operand("soffset"), found.operand("srsrc")
        if offset is not None and offset.kind is K.LITERAL:
            return f"soffset cannot be the literal {offset.text}: it takes scalar registers or inline constants"
        if resource is not None and resource.kind is K.SPECIAL:
            return f"srsrc cannot be {resource.text}"
        if "tfe" in found.modifiers and "_store" in found.name:
            return "tfe cannot be used with a store"
    return None


def _images(found: Instruction, layout: Layout, target: Target) -> str | None:
    if not found.name.startswith("image_"):
        return None
    dmask = found.modifiers.get("dmask", 0)
    if found.name.startswith("image_gather4") and dmask not in (1, 2, 4, 8):
        return f"a gather returns one component, so dmask must be 0x1, 0x2, 0x4 or 0x8, not {dmask:#x}"
    if found.name.startswith("image_atomic") and dmask not in (1, 3, 15):
        return f"the dmask of an atomic must be 0x1, 0x3 or 0xf, not {dmask:#x}"
    dim = found.modifiers.get("dim", 0)
    if found.name == "image_msaa_load" and target.generation >= Generation.GFX10 and (
        not isinstance(dim, int) or dim < 6
    ):
        return "image_msaa_load must have dim:2D_MSAA or dim:2D_MSAA_ARRAY"
    for name in ("srsrc", "ssamp"):
        operand = found.operand(name)
        if operand is not None and operand.kind is K.SPECIAL:
            return f"{name} cannot be {operand.text}"
    return None


def _image_data(found: Instruction, layout: Layout, target: Target) -> str | None:
    """Check the number of data registers of an image instruction."""
    data, dmask = found.operand("vdata"), found.modifiers.get("dmask", 0)
    if data is None or not found.name.startswith(_SIZED_IMAGES):
        return None
    if "msaa" in found.name:
        return None  # always four components
    assert isinstance(dmask, int)
    count = 4 if "gather4" in found.name else max(1, dmask.bit_count())
    if "d16" in found.modifiers and target.generation >= Generation.GFX9:
        count = (count + 1) // 2
    count += "tfe" in found.modifiers
    if data.dwords == count:
        return None
    return f"with these modifiers, vdata must have {count} registers, not {data.dwords}"


def _matrices(found: Instruction, layout: Layout, target: Target) -> str | None:
    """Check matrix instructions: they read vector registers, and the addend is either the result itself or does not
    overlap it."""
    if match := re.search(r"matrix_[ab]_fmt:\d+", found.text):
        return f"the value of {match[0]} is not defined"
    if layout.name not in ("VOP3P_MAI", "VOP3PX") or not re.match(r"v_s?mfma", found.name):
        return None
    for name in ("src0", "src1"):
        operand = found.operand(name)
        if operand is not None and operand.kind not in (K.VGPR, K.AGPR):
            return f"{name} cannot be {operand.text}: it takes vector registers"
    result, addend = found.operand("vdst"), found.operand("src2")
    if found.name.startswith("v_smfmac"):
        return None  # src2 is not an addend here
    if addend is not None and addend.kind is K.CONSTANT and not target.unified_vgprs:
        return f"src2 cannot be {addend.text}: the hardware of {target.name} reads constants there incorrectly"
    if result is None or addend is None or result.kind is not addend.kind or result.dwords <= 4:
        return None
    if found.name.endswith("_f8f6f4"):
        return None  # LLVM permits overlap
    if result.index != addend.index and _numbers(result) & _numbers(addend):
        return f"{addend.text} must be the same registers as {result.text}, or must not overlap them"
    return None


def _accumulated(found: Instruction, layout: Layout, target: Target) -> str | None:
    """Check that SDWA forms of v_mac add to whole registers."""
    if found.name.startswith("v_mac_") and found.modifiers.get("dst_sel", _WHOLE) != _WHOLE:
        return f"{found.mnemonic} adds to a whole register: dst_sel must be DWORD"
    return None


def _interpolation(found: Instruction, layout: Layout, target: Target) -> str | None:
    if found.name.startswith("v_interp_") and layout.name == "VOP3":
        for operand in _sources(found):
            if operand.name.startswith("src") and operand.kind in (K.SGPR, K.TTMP, K.SPECIAL):
                return f"{operand.name} cannot be {operand.text}: it takes vector registers"
    return None


def _exports(found: Instruction, layout: Layout, target: Target) -> str | None:
    """Check the numbers of targets, parameters and attributes, because the decoder also prints invalid ones."""
    for operand in found.operands:
        if operand.text.startswith("invalid_"):
            return f"there is no {'export target' if found.encoding == 'EXP' else 'parameter'} `{operand.text}'"
        if (match := re.match(r"attr(\d+)", operand.text)) and int(match[1]) > 32:
            return f"the number of the attribute must be 0 to 32, not {match[1]}"
    return None


def _unsigned_offsets(found: Instruction, layout: Layout, target: Target) -> str | None:
    """Check that offsets of flat instructions and of scalar buffer instructions are not negative."""
    offset = found.modifiers.get("offset", 0)
    generation = target.generation
    if found.encoding == "FLAT" and isinstance(offset, int):
        if generation <= Generation.GFX8 and offset:
            return f"flat instructions of {target.name} cannot have an offset"
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
    if target.generation is Generation.GFX11 and re.match(r"s_waitcnt_(vs|vm|exp|lgkm)cnt$", found.name):
        operand = found.operand("sdst")
        if operand is not None and operand.text != _NULL:
            return f"`{operand.text}' must be null"
    return None


def _lane_sources(found: Instruction, layout: Layout, target: Target) -> str | None:
    """Check sources that can only be vector registers: the second source of GFX11.0's DPP forms of VOP3, and the source
    of SDWA forms of v_movrels.
    """
    first = found.operand("src0")
    if found.name.startswith("v_movrels") and layout.src0 == (249,) and first is not None and first.kind is not K.VGPR:
        return f"src0 cannot be {first.text}: here it takes vector registers"
    if target.generation is Generation.GFX11 and layout.src0_dword and (target.version or (11, 0, 0)) < (11, 5, 0):
        operand = found.operand("src1")
        if operand is not None and operand.kind is not K.VGPR:
            return f"src1 cannot be `{operand.text}': here it takes vector registers"
    return None


def _lane_literals(found: Instruction, layout: Layout, target: Target) -> str | None:
    """Check that DPP and SDWA forms, which have no space for a literal, have none, and that a lane's number is not a
    literal."""
    number = found.operand("src1")
    if _ONE_LANE.match(found.name) and number is not None and number.kind is K.LITERAL:
        return f"src1 cannot be the literal {number.text}: it takes scalar registers or inline constants"
    if layout.src0:
        for operand in found.operands:
            if operand.kind is K.LITERAL:
                return (
                    f"{operand.name} cannot be the literal {operand.text}: forms with DPP or SDWA have no room for one"
                )
    return None


def _long_literals(found: Instruction, layout: Layout, target: Target) -> str | None:
    """Check that long forms before GFX10 have no literals."""
    if found.encoding in ("VOP3", "VOP3P") and target.generation <= Generation.GFX9:
        for operand in found.operands:
            if operand.kind is K.LITERAL:
                return (
                    f"{operand.name} cannot be the literal {operand.text}: the 64-bit forms of {target.name} have no "
                    "room for one"
                )
    return None


def _vectors_only(found: Instruction, layout: Layout, target: Target) -> str | None:
    """Check that null and values are not used where only vector registers are possible."""
    scaled = (("src0", _SCALED_CONVERSIONS),) if target.is_gfx125 else ()
    for name, mnemonics in (*_NO_SCALARS, *scaled):
        operand = found.operand(name)
        if operand is not None and operand.kind is K.SPECIAL and mnemonics.match(found.name):
            return f"{name} cannot be {operand.text}: it takes vector registers"
    operand = found.operand("src0")
    if found.name == "v_readlane_b32" and operand is not None and operand.kind is K.SPECIAL and (
        "lds_direct" not in operand.text
    ):
        return f"src0 cannot be {operand.text}: it takes vector registers"
    return None


def _results(found: Instruction, layout: Layout, target: Target) -> str | None:
    for operand in found.operands:
        if operand.name in _DESTINATIONS and operand.kind is K.SPECIAL and operand.index >= _FIRST_VALUE:
            return f"{operand.text} cannot be the destination"
    return None


def _dot_halves(found: Instruction, layout: Layout, target: Target) -> str | None:
    """Check that GFX9's dot products, from gfx940 on, multiply whole registers."""
    if layout.name == "VOP3P" and found.name.startswith("v_dot") and target.generation is Generation.GFX9 and (
        target.scratch is ScratchKind.ARCHITECTED
    ) and (found.modifiers.get("op_sel", 0) or found.modifiers.get("op_sel_hi", 7) != 7):
        return f"{found.name} of {target.name} cannot select halves of registers (op_sel, op_sel_hi)"
    return None


def _masks(found: Instruction, layout: Layout, target: Target) -> str | None:
    """Check that carries and conditions are masks in scalar registers."""
    if _MASKED.match(found.name) and layout.encoding == "VOP3":
        operand = found.operand("src2")
        if operand is not None and operand.kind in (K.VGPR, K.CONSTANT, K.LITERAL):
            return f"src2 cannot be `{operand.text}': it takes scalar registers"
    return None


def _plain_registers(found: Instruction, layout: Layout, target: Target) -> str | None:
    """Check that operands which are code addresses, or indices into registers, are true registers."""
    if found.name == "s_cbranch_g_fork" and any(operand.kind is K.LITERAL for operand in found.operands):
        return "the operands of this instruction cannot be literals"
    if _TRUE_SOURCES.match(found.name):
        for operand in _sources(found):
            if operand.kind is K.SPECIAL and operand.index >= _FIRST_VALUE and "lds_direct" not in operand.text:
                return f"{operand.name} cannot be {operand.text}: it takes registers"
    return None


def _barriers(found: Instruction, layout: Layout, target: Target) -> str | None:
    """Check named barriers of GFX12: their number is constant, or in m0."""
    if found.name.startswith(("s_barrier_", "s_wakeup_barrier", "s_get_barrier_state")):
        operand = found.operand("ssrc0")
        if operand is not None and (operand.kind in (K.SGPR, K.TTMP) or (
            operand.kind is K.SPECIAL and operand.text != "m0"
        )):
            return f"ssrc0 cannot be {operand.text}: it takes m0 or inline constants"
    return None


def _wide_lanes(found: Instruction, layout: Layout, target: Target) -> str | None:
    """Check that DPP before gfx90a moves 32 bits."""
    if "_DPP" in layout.name and target.generation <= Generation.GFX10 and not target.unified_vgprs:
        operand = found.operand("src0")
        if operand is not None and operand.dwords > 1:
            return f"src0 cannot be {operand.text}: DPP moves single registers here"
    return None


def _cache_policy(found: Instruction, layout: Layout, target: Target) -> str | None:
    """Check temporal hints of GFX12."""
    if match := re.search(r"\bth:\w*0x\w+", found.text):
        return f"the value of {match[0]} is not defined"
    if "NT_RETURN" in found.text and found.modifiers.get("scope") == _SYSTEM:
        return "th:TH_ATOMIC_NT_RETURN cannot have scope:SCOPE_SYS"
    if (
        target.generation >= Generation.GFX12 and "_atomic_" in found.name and found.operand("vdst") is not None
        and found.encoding in ("FLAT", "GLOBAL", "SCRATCH") and "RETURN" not in found.text
    ):
        return "an atomic that returns its old value must have th:TH_ATOMIC_RETURN"
    return None


def _tensors(found: Instruction, layout: Layout, target: Target) -> str | None:
    """Check that descriptors of tensors are scalar registers of the right size."""
    if found.name.startswith("tensor_"):
        for operand in found.operands:
            if operand.text == _NULL:
                return "the descriptor cannot be null: it takes scalar registers"
        if found.modifiers.get("r128"):
            return "tensor instructions cannot have r128"
    return None


_RULES: tuple[Callable[[Instruction, Layout, Target], str | None], ...] = (
    _register_ranges, _lds_direct, _constant_bus, _dual_banks, _buffers, _images, _image_data, _matrices, _accumulated,
    _interpolation, _exports, _unsigned_offsets, _counters, _lane_sources, _lane_literals, _long_literals,
    _vectors_only, _results, _dot_halves, _masks, _plain_registers, _barriers, _wide_lanes, _cache_policy,
    _tensors,
)
