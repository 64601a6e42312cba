"""The decoder's results: instructions, operands and control-flow classes.

Operand names
-------------
``Operand.name`` is the field of the encoding the operand comes from. It is stable and does not depend on the
target. In text order:

=============  ===============================================================================
encoding       operands
=============  ===============================================================================
SOP1           ``sdst`` ``ssrc0``
SOP2           ``sdst`` ``ssrc0`` ``ssrc1``; s_fmaak/s_fmamk_f32: the constant is ``literal``
SOPC           ``ssrc0`` ``ssrc1``
SOPK           ``sdst`` ``simm16``; s_setreg: ``simm16`` (hwreg) first, then ``sdst`` (which is
               read) or ``literal``
SOPP           ``simm16``
SMEM           ``sdata`` ``sbase`` ``soffset`` (register) and/or ``offset`` (immediate)
VOP1           ``vdst`` (``sdst`` for v_readfirstlane) ``src0``
VOP2           ``vdst`` [``sdst`` = vcc] ``src0`` ``vsrc1`` [``src2`` = vcc]; fmaak, fmamk, madak
               and madmk: ``literal``
VOPC           ``sdst`` = vcc (absent for v_cmpx of gfx10+) ``src0`` ``vsrc1``
VOP3           ``vdst`` and/or ``sdst``, ``src0`` ``src1`` ``src2`` (also for the _e64 forms of
               VOP1, VOP2 and VOPC)
VOP3P          ``vdst`` ``src0`` ``src1`` ``src2`` (MFMA and WMMA too; SMFMAC: ``src2`` is the
               index register); v_mfma_scale_*: further ``scale_src0`` ``scale_src1``
VOPD           ``vdstx`` ``src0x`` ``vsrc1x`` ``vdsty`` ``src0y`` ``vsrc1y``; fmaak and fmamk have a
               ``literal`` in their place; three sources (gfx125x): ``vsrc2x``, ``vsrc2y``
VINTRP         ``vdst`` ``vsrc`` ``attr``
VINTERP        ``vdst`` ``src0`` ``src1`` ``src2``
LDSDIR         ``vdst`` ``attr``
DS             ``vdst`` ``addr`` ``data0`` ``data1``
FLAT           ``vdst`` ``vaddr`` ``vdata``; gfx12+ also ``saddr``
GLOBAL         ``vdst`` ``vaddr`` ``vdata`` ``saddr`` (kind OFF when there is none)
SCRATCH        ``vdst`` ``vaddr`` ``vdata`` ``saddr`` (kind OFF for either address that is absent)
MUBUF, MTBUF   ``vdata`` ``vaddr`` (kind OFF when there is none) ``srsrc`` ``soffset``
EXP            ``tgt`` ``vsrc0`` ``vsrc1`` ``vsrc2`` ``vsrc3``
MIMG, VIMAGE,  ``vdata`` ``vaddr0`` ... (one operand per separate register or contiguous range)
VSAMPLE        ``srsrc`` [``ssamp``]; tensor_load_to_lds and tensor_store_from_lds (gfx125x): ``vaddr0``
               ... ``vaddr3``, scalar registers
=============  ===============================================================================

An atomic that returns the old value returns it in ``vdst`` (FLAT, GLOBAL, DS) or in ``vdata`` itself (MUBUF). DPP and
SDWA forms have the operands of their base encoding (``src0`` is then always a VGPR for DPP).

Modifiers
---------
``Instruction.modifiers`` holds every control field that is not an operand and whose value is not the default, as
integers:

* memory: ``offset`` (signed, bytes; ds_swizzle_b32: the raw pattern), ``offset0``, ``offset1``, ``gds``, ``glc``,
  ``slc``, ``dlc``, ``scc``, ``sc0``, ``sc1``, ``nt``, ``lds``, ``tfe``, ``offen``, ``idxen``, ``format``;
  gfx12: ``th``, ``scope``; gfx125x: ``scale_offset``, ``nv``;
* VALU: ``clamp``, ``omod`` (1 is mul:2, 2 is mul:4, 3 is div:2), ``op_sel``, ``op_sel_hi``, ``neg_lo``, ``neg_hi`` (bit
  masks, bit i is source i; bit 3 of ``op_sel`` in VOP3 is the destination). ``op_sel_hi`` is always present where the
  instruction has it, since its default is not zero. neg, abs and sext are in the operands;
* SDWA: ``sdwa`` = 1 and the field values ``dst_sel``, ``dst_unused``, ``src0_sel``, ``src1_sel``, always
those that exist;
* DPP: ``dpp_ctrl``, ``row_mask``, ``bank_mask`` (always present), ``bound_ctrl``, ``fi``; DPP8: ``dpp8``
(three bits per
  lane, always present) and ``fi``;
* images: ``dmask``, ``dim``, ``unorm``, ``a16``, ``d16``, ``r128``, ``tfe``, ``lwe``, ``da``;
* MFMA: ``cbsz``, ``abid``, ``blgp``; v_bitop3: ``bitop3``, the truth table; others: ``wait_exp``, ``wait_vdst``,
  ``done``, ``vm``, ``compr``, ``row_en``, ``high``;
* VOPD: ``opy``, the second mnemonic, a string. ``mnemonic`` is then ``v_dual_x :: v_dual_y``, ``name`` the first half.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, auto

from msgspec import Struct
from msgspec.structs import replace


class OperandKind(Enum):
    """The kind of an operand."""

    __hash__ = object.__hash__  # in C: every instruction looks up some

    VGPR = auto()
    AGPR = auto()
    SGPR = auto()
    TTMP = auto()
    SPECIAL = auto()
    """A named hardware register (vcc, exec, m0, null, src_scc, ...); ``index`` is its operand code."""
    CONSTANT = auto()
    """An inline constant; ``value`` is already expanded to the operand's width."""
    LITERAL = auto()
    """A constant of 32 bits (gfx125x: or 64) after the instruction; ``value`` is expanded to the operand's width."""
    IMMEDIATE = auto()
    """A field of the instruction; ``value`` is the raw field (``offset`` of SMEM: sign-extended if signed)."""
    LABEL = auto()
    """A branch target; ``value`` is the absolute address."""
    OFF = auto()
    """An operand that is switched off (``off``)."""


class Flow(Enum):
    """The effect of an instruction on the program counter."""

    NEXT = auto()
    BRANCH = auto()
    COND_BRANCH = auto()
    CALL = auto()
    """s_swappc_b64 and s_call_b64; ``branch_target`` is known for the latter."""
    INDIRECT = auto()
    """s_setpc_b64, s_rfe_b64, s_cbranch_join and s_cbranch_*_fork: the target is in registers."""
    END = auto()
    """s_endpgm and its variants."""
    TRAP = auto()
    """s_trap."""


class Operand(Struct, frozen=True):
    """One operand of an instruction.

    ``index``: register number in its file, as encoded: without the two bits that gfx125x has in MODE (SPECIAL: operand
    code, 106 vcc_lo, 124 m0 or null, 126 exec_lo, 253 scc, ...; CONSTANT: operand code), -1 for others. ``dwords``:
    number of 32-bit registers covered; for constants, the operand's width in dwords. ``half``: for a real 16-bit
    register operand of gfx11+ 0 (``.l``) or 1 (``.h``); else None. ``value``: bits of a constant in the operand's own
    width (unsigned), 0 for registers. ``bits``: width in bits of ``value``: 16, 32 or 64; packed 16-bit operands have
    32. ``type``: how constants of this operand are expanded: ``b16 f16 bf16 v2f16 v2bf16 b32 f64 b64`` (b32 covers f32,
    b64 all 64-bit integers), or "" for registers. 16-bit floats in packed operands are in the low half.
    """

    name: str
    kind: OperandKind
    index: int = -1
    dwords: int = 1
    value: int = 0
    neg: bool = False
    abs: bool = False
    sext: bool = False
    half: int | None = None
    bits: int = 32
    type: str = ""
    text: str = ""
    """The operand as printed, with its source modifiers."""


class Instruction(Struct, frozen=True):
    """One decoded instruction.

    ``address`` and ``size`` are in bytes. ``mnemonic`` is what is printed (``v_add_f32_e32``), ``name`` lacks the
    encoding suffix (``v_add_f32``). ``text`` is mnemonic, operands and modifiers as llvm-objdump prints
    them, with single
    spaces. ``branch_target`` is an absolute address, or None. An illegal encoding has ``illegal`` set, encoding ``""``,
    and ``.long 0x...`` as its text.
    """

    address: int
    size: int
    encoding: str
    mnemonic: str
    name: str
    operands: tuple[Operand, ...]
    modifiers: Mapping[str, int | str]
    text: str
    flow: Flow = Flow.NEXT
    branch_target: int | None = None
    illegal: bool = False
    opcode: int = -1
    """Value of the encoding's opcode field; -1 if illegal."""

    def operand(self, name: str) -> Operand | None:
        """The operand that comes from field ``name``, or None."""
        for operand in self.operands:
            if operand.name == name:
                return operand
        return None

    def at(self, address: int) -> Instruction:
        """The same instruction at another address (not for PC-relative branches)."""
        return self if address == self.address else replace(self, address=address)
