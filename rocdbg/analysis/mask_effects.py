"""The effects of single instructions on the masks of a wave: registers that hold a bit per lane, and copies of them in
lanes of vector registers and in stack slots.

A mask of 64 lanes occupies two registers; both halves are treated alike, one after the other. Every place holds 32 bits
and is named as follows: scalar registers by operand code (vcc 106, exec 126, scc 253), a dword of one lane of a vector
register by `LaneOf`, and of a stack slot by `SlotOf`.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum, auto
from typing import Final, TypeAlias

from msgspec import Struct

from rocdbg.analysis.control_flow import Block, LocalScalars
from rocdbg.analysis.machine_state import EXEC_LO, vector_key, written_scalars
from rocdbg.isa import Flow, Instruction, Operand, OperandKind

SCC: Final = 253
_MASK: Final = 0xFFFFFFFF


class LaneOf(Struct, frozen=True):
    """The dword of one lane of a vector register (accumulation registers: `AGPR` plus number)."""

    register: int
    lane: int


class SlotOf(Struct, frozen=True):
    """The dword of one lane in a stack slot, ``offset`` bytes (of one lane) after the address in the scalar register
    ``base``.

    Without ``base``, ``offset`` is the address in the lane's private memory.
    """

    base: int | None
    offset: int
    lane: int


class OwnLane(Struct, frozen=True):
    """The lane's own dword of a vector register."""

    register: int


class OwnSlot(Struct, frozen=True):
    """The lane's own dword of a stack slot (see `SlotOf`)."""

    base: int | None
    offset: int


class Number(Struct, frozen=True):
    """A number of 32 bits, unsigned."""

    value: int


Term: TypeAlias = int | OwnLane | OwnSlot | Number
"""A term of a comparison: a scalar register by its operand code, the lane's own dword of a vector register or stack
slot, or a number.
"""


class Compare(Struct, frozen=True):
    """Whether a comparison is true for the lane: ``relation`` is named as in v_cmp_lt, and the terms have ``type`` i32,
    u32 or f32.
    """

    relation: str
    type: str
    left: Term
    right: Term


Place: TypeAlias = int | LaneOf | SlotOf | Compare
"""The place of a bit of the lane; for a comparison, the bit is its result."""


class Source(Struct, frozen=True):
    """A source of a mask operation: a register (a pair that begins with ``register``, if ``wide``) or a constant."""

    register: int | None = None
    wide: bool = False
    constant: int = 0

    def place(self, half: int) -> int | None:
        """The register that holds the lanes of a half; None for a constant."""
        return None if self.register is None else self.register + (half if self.wide else 0)

    def bit(self, half: int) -> bool | None:
        """The bit that all lanes of a half have in a constant; None if it is not the same for all."""
        value = self.constant >> (32 * half if self.wide else 0) & _MASK
        return {0: False, _MASK: True}.get(value)


class Kind(Enum):
    """The kind of an effect."""

    LOGIC = auto()
    """``destination = operation(first, second)``."""
    SAVE = auto()
    """As LOGIC with EXEC as the second source and the destination; ``saved`` gets the old EXEC."""
    WRITE = auto()
    """As SAVE, but ``saved`` gets the new EXEC."""
    SELECT = auto()
    """``destination = SCC ? first : second``."""
    COMPARE = auto()
    """In ``destination``, active lanes get an unknown bit and inactive lanes get 0."""
    NARROW = auto()
    """v_cmpx: as COMPARE, and EXEC may lose lanes."""
    QUADS = auto()
    """s_wqm: ``destination`` gets the bits of ``first``, and any other bits may be set too."""
    LOST = auto()
    """The scalar registers in ``lost`` get unknown values."""
    WRITE_LANE = auto()
    """``vector`` [``lane``] = ``first``; if the lane is not known, any lane of the vector may be lost."""
    READ_LANE = auto()
    """``destination`` = ``vector`` [``lane``]."""
    LOAD = auto()
    """``vector`` and the following vector registers are loaded from stack slots."""
    STORE = auto()
    """``vector`` and the following vector registers are stored in stack slots."""
    COPY = auto()
    """``vector`` = ``other``, in active lanes."""
    VECTOR = auto()
    """The effect has only ``results``."""
    STORE_ANYWHERE = auto()
    """Active lanes write to memory, possibly into their own stack slots."""
    CALL = auto()


class Effect(Struct):
    """One instruction's effect; its kind determines which fields are used. A register that is None is absent."""

    kind: Kind
    address: int
    after: int
    operation: int = 0
    """Truth table: bit 2 * first + second."""
    destination: Source | None = None
    first: Source = Source()
    second: Source = Source()
    saved: Source | None = None
    lost: range = range(0)
    sets_scc: bool = False
    vector: int = 0
    count: int = 1
    other: int = 0
    lane: int | None = None
    base: int | None = None
    offset: int = 0
    condition: Compare | None = None
    """The comparison of a COMPARE or NARROW, if it is simple enough; for an instruction that sets SCC, the comparison
    that SCC reports.
    """
    is_uniform: bool = False
    """Whether all lanes get the same bit (`rocdbg.analysis.uniform_masks`)."""
    decides: tuple[Source, bool] | None = None
    """A uniform mask, and whether it is inverted: the destination gets EXEC if the mask is 1, else 0; the other way
    round if inverted.
    """
    results: dict[int, Term | None] = {}
    """Vector registers that active lanes write besides those of COPY, LOAD and WRITE_LANE, each with the term that is
    written (None if unknown).
    """

    def writes_exec(self) -> bool:
        """Whether EXEC, or its lower half, may change."""
        if self.kind in (Kind.SAVE, Kind.WRITE, Kind.NARROW):
            return True
        if self.destination is not None and self.destination.register in (EXEC_LO, EXEC_LO + 1):
            return True
        return EXEC_LO in self.lost

    def writes_scalar(self, register: int) -> bool:
        """Whether a scalar register may change."""
        for written in (self.destination, self.saved):
            if written is not None and written.register is not None and (
                written.register <= register <= written.register + written.wide
            ):
                return True
        return register in self.lost


_TABLES: Final = {
    "and": 0b1000, "or": 0b1110, "xor": 0b0110, "nand": 0b0111, "nor": 0b0001, "xnor": 0b1001,
    "andn2": 0b0100, "and_not1": 0b0100, "andn1": 0b0010, "and_not0": 0b0010,
    "orn2": 0b1101, "or_not1": 0b1101, "orn1": 0b1011, "or_not0": 0b1011,
}
_MOVE: Final = 0b1100
_NOT: Final = 0b0011
_KEEPS_SCC: Final = (
    "s_mov", "s_cmov", "s_cselect", "s_mul", "s_getpc", "s_get_pc", "s_brev", "s_bitset", "s_bitreplicate", "s_pack",
    "s_bfm", "s_ff", "s_flbit", "s_cls", "s_clz", "s_ctz", "s_sext", "s_getreg", "s_setreg", "s_swappc", "s_call",
    "s_cvt", "s_add_f", "s_sub_f", "s_min_f", "s_max_f", "s_min_num", "s_max_num", "s_minimum", "s_maximum", "s_fma",
    "s_rndne", "s_trunc", "s_ceil", "s_floor", "s_add_nc", "s_sub_nc", "s_waitcnt", "s_get_barrier", "s_set_gpr_idx",
    "s_setvskip", "s_version", "s_sendmsg", "s_barrier_init", "s_barrier_join", "s_sleep",
)
_VECTOR_COPIES: Final = frozenset({"v_accvgpr_write_b32", "v_accvgpr_read_b32", "v_accvgpr_mov_b32", "v_mov_b32"})
_SCALAR_KINDS: Final = (OperandKind.SGPR, OperandKind.SPECIAL)
_WHOLE: Final = ("dword", "_b32", "_b64", "_b96", "_b128")


def effects_of(block: Block, wide: bool, vectors: frozenset[int]) -> list[Effect]:
    """The effects on masks within a block, in order. ``wide``: masks have 64 bits.

    ``vectors`` are the vector registers that may hold masks (`vectors_with_masks`).
    """
    found: list[Effect] = []
    scalars: LocalScalars | None = None
    position = 0
    for number, instruction in enumerate(block.instructions):
        encoding = instruction.encoding
        effect: Effect | None
        if encoding in ("SOP2", "SOP1", "SOPK", "SOPC"):
            effect = _scalar(instruction)
        elif encoding in ("MUBUF", "SCRATCH"):
            effect = None
            base = _stack_base(instruction)
            if base is not None:
                scalars = scalars or LocalScalars()
                while position < number:
                    earlier = block.instructions[position]
                    if earlier.flow is Flow.CALL:
                        scalars.forget()
                    elif earlier.encoding[:1] == "S" or earlier.encoding in ("VOP3", "VOP1"):
                        scalars.step(earlier)
                    position += 1
                effect = _stack(instruction, base, scalars, 64 if wide else 32)
            if effect is None:
                effect = _anywhere(instruction) or _vector(instruction, vectors)
        elif encoding == "FLAT":
            effect = _anywhere(instruction) or _vector(instruction, vectors)
        elif encoding[:1] == "S":
            effect = _load(instruction)
        else:
            effect = _vector(instruction, vectors)
        if effect is not None:
            found.append(effect)
    return found


def vectors_with_masks(blocks: dict[int, Block], is_silent: Callable[[Instruction], bool]) -> frozenset[int]:
    """The vector registers that may hold masks. These are registers of which single lanes are written and read,
    registers that code without a source line compares or saves on the stack, and registers to which any of these are
    copied.
    """
    found: set[int] = set()
    stored: set[int] = set()
    copies: list[tuple[int, int]] = []
    for block in blocks.values():
        for instruction in block.instructions:
            name = instruction.name
            if name == "v_readlane_b32" or name == "v_writelane_b32":
                vector = instruction.operand("src0" if name == "v_readlane_b32" else "vdst")
                key = None if vector is None else vector_key(vector)
                if key is not None:
                    found.add(key)
            elif name in _VECTOR_COPIES:
                copy = _copied(instruction)
                if copy is not None:
                    copies.append(copy)
            elif instruction.encoding == "VOPD":
                copies += [(key, term.register) for key, term in _dual_moves(instruction) if isinstance(term, OwnLane)]
            elif "_store_" in name and _stack_base(instruction) is not None and is_silent(instruction):
                stored |= set(_data_registers(instruction))
            elif name.startswith("v_cmp") and is_silent(instruction):
                condition = _condition(instruction)
                if condition is not None:
                    terms = (condition.left, condition.right)
                    found |= {term.register for term in terms if isinstance(term, OwnLane)}
    if found:
        found |= stored
    before = -1
    while before != len(found):
        before = len(found)
        for one, other in copies:
            if one in found or other in found:
                found |= {one, other}
    return frozenset(found)


_OF_INTEGERS: Final = frozenset({"lt", "eq", "le", "gt", "lg", "ne", "ge"})
_OF_FLOATS: Final = _OF_INTEGERS - {"ne"} | {"nlt", "neq", "nle", "ngt", "nlg", "nge", "o", "u"}


def _condition(instruction: Instruction) -> Compare | None:
    """The comparison that an instruction on 32-bit numbers makes."""
    name = instruction.name.replace("v_cmpx_", "v_cmp_", 1)
    relation, _, kind = name.removeprefix("v_cmp_").partition("_")
    first = instruction.operand("src0")
    second = instruction.operand("vsrc1") or instruction.operand("src1")
    if first is None or second is None or not (
        (kind in ("i32", "u32") and relation in _OF_INTEGERS) or (kind == "f32" and relation in _OF_FLOATS)
    ):
        return None
    if instruction.modifiers.keys() & {"sdwa", "dpp_ctrl", "dpp8", "clamp"}:
        return None
    left, right = term_of(first), term_of(second)
    return None if left is None or right is None else Compare(relation, kind, left, right)


def term_of(operand: Operand) -> Term | None:
    """The term that represents a 32-bit operand without modifiers; None for any other operand."""
    if operand.neg or operand.abs or operand.sext or operand.half is not None:
        return None
    key = vector_key(operand)
    if key is not None:
        return OwnLane(key)
    if operand.kind is OperandKind.SGPR:
        return operand.index
    if operand.kind in (OperandKind.CONSTANT, OperandKind.LITERAL) and operand.bits == 32:
        return Number(operand.value & _MASK)
    return None


def _copied(instruction: Instruction) -> tuple[int, int] | None:
    """The destination and the source of a copy of a whole vector register."""
    name = instruction.name
    # in v_accvgpr, the modifier fields are unused
    if name not in _VECTOR_COPIES or (instruction.modifiers and not name.startswith("v_accvgpr")):
        return None
    to, origin = instruction.operand("vdst"), instruction.operand("src0")
    keys = None if to is None else vector_key(to), None if origin is None else vector_key(origin)
    return None if keys[0] is None or keys[1] is None else (keys[0], keys[1])


def _source(operand: Operand | None) -> Source | None:
    if operand is None:
        return None
    if operand.kind in _SCALAR_KINDS:
        return Source(operand.index, operand.dwords == 2)
    if operand.kind is OperandKind.IMMEDIATE:
        return Source(None, False, (operand.value ^ 0x8000) - 0x8000 & _MASK)
    if operand.kind in (OperandKind.CONSTANT, OperandKind.LITERAL):
        return Source(None, operand.dwords == 2, operand.value)
    return None


def _scalar(instruction: Instruction) -> Effect | None:
    name = instruction.name
    address, after = instruction.address, instruction.address + instruction.size
    if instruction.flow is Flow.CALL:
        return Effect(Kind.CALL, address, after)
    if instruction.flow is not Flow.NEXT:
        return None
    sets_scc = not name.startswith(_KEEPS_SCC) and name != "s_barrier_signal"  # s_barrier_signal_isfirst does
    operand = instruction.operand("sdst")
    destination = _source(operand)
    if operand is None or destination is None or name.startswith(("s_cmpk", "s_setreg")):
        if not sets_scc:
            return None
        return Effect(Kind.LOST, address, after, sets_scc=True, condition=_scalar_condition(instruction))
    first = _source(instruction.operand("ssrc0") or instruction.operand("simm16"))
    second = _source(instruction.operand("ssrc1"))
    mask, _, kind = name[2:].rpartition("_")
    if kind in ("b32", "b64") and first is not None:
        if mask.endswith(("_saveexec", "_wrexec")):
            base = mask.removesuffix("_saveexec").removesuffix("_wrexec")
            if base in _TABLES:
                return Effect(
                    Kind.SAVE if mask.endswith("_saveexec") else Kind.WRITE, address, after, _TABLES[base],
                    destination=Source(EXEC_LO, kind == "b64"), first=first, second=Source(EXEC_LO, kind == "b64"),
                    saved=destination, sets_scc=True,
                )
        elif mask in _TABLES and second is not None:
            return Effect(
                Kind.LOGIC, address, after, _TABLES[mask], destination=destination, first=first, second=second,
                sets_scc=True,
            )
        elif mask == "mov":
            return Effect(Kind.LOGIC, address, after, _MOVE, destination=destination, first=first, second=first)
        elif mask == "not":
            return Effect(
                Kind.LOGIC, address, after, _NOT, destination=destination, first=first, second=first, sets_scc=True
            )
        elif mask == "cselect" and second is not None:
            return Effect(Kind.SELECT, address, after, destination=destination, first=first, second=second)
        elif mask == "cmov":
            return Effect(Kind.SELECT, address, after, destination=destination, first=first, second=destination)
        elif mask == "wqm":
            return Effect(Kind.QUADS, address, after, destination=destination, first=first, sets_scc=True)
    if name == "s_movk_i32" and first is not None:
        return Effect(Kind.LOGIC, address, after, _MOVE, destination=destination, first=first, second=first)
    return Effect(
        Kind.LOST, address, after, lost=written_scalars(instruction, operand), sets_scc=sets_scc
    )


def _scalar_condition(instruction: Instruction) -> Compare | None:
    """The comparison that a scalar instruction on 32-bit numbers makes."""
    name = instruction.name
    relation, _, kind = name.removeprefix("s_cmpk_").removeprefix("s_cmp_").partition("_")
    if kind not in ("i32", "u32") or relation not in _OF_INTEGERS:
        return None
    if name.startswith("s_cmpk_"):
        first, second = instruction.operand("sdst"), instruction.operand("simm16")
        if first is None or second is None or first.kind is not OperandKind.SGPR:
            return None
        value = second.value & 0xFFFF
        return Compare(
            relation, kind, first.index, Number(((value ^ 0x8000) - 0x8000 if kind == "i32" else value) & _MASK)
        )
    first, second = instruction.operand("ssrc0"), instruction.operand("ssrc1")
    left, right = (None if operand is None else term_of(operand) for operand in (first, second))
    return None if left is None or right is None else Compare(relation, kind, left, right)


def _load(instruction: Instruction) -> Effect | None:
    """The effect of scalar loads and of other instructions of the scalar unit that have results: these are lost."""
    operand = instruction.operand("sdata") or instruction.operand("sdst")
    if operand is None or operand.kind not in _SCALAR_KINDS or "store" in instruction.name:
        return None
    return Effect(
        Kind.LOST, instruction.address, instruction.address + instruction.size,
        lost=range(operand.index, operand.index + operand.dwords),
    )


def _vector(instruction: Instruction, vectors: frozenset[int]) -> Effect | None:
    name = instruction.name
    address, after = instruction.address, instruction.address + instruction.size
    if name.startswith(("v_cmpx", "v_cmpsx")):
        mask = instruction.operand("sdst")
        return Effect(Kind.NARROW, address, after, destination=_source(mask), condition=_condition(instruction))
    if name == "v_writelane_b32":
        to = instruction.operand("vdst")
        key = None if to is None else vector_key(to)
        if key is None:
            return None
        lane, first = _source(instruction.operand("src1")), _source(instruction.operand("src0"))
        known = lane is not None and lane.register is None and first is not None
        return Effect(
            Kind.WRITE_LANE, address, after, first=first or Source(), vector=key,
            lane=lane.constant & 63 if known and lane is not None else None,
        )
    if name.startswith(("v_readlane", "v_readfirstlane")):
        operand = instruction.operand("sdst") or instruction.operand("vdst")
        destination = None if operand is None else _source(operand)
        vector, lane = instruction.operand("src0"), _source(instruction.operand("src1"))
        key = None if vector is None else vector_key(vector)
        if destination is None or operand is None:
            return None
        if name == "v_readlane_b32" and key is not None and lane is not None and lane.register is None:
            return Effect(
                Kind.READ_LANE, address, after, destination=destination, vector=key, lane=lane.constant & 63
            )
        return Effect(Kind.LOST, address, after, lost=range(operand.index, operand.index + operand.dwords))
    mask = instruction.operand("sdst")
    if mask is not None and mask.kind in _SCALAR_KINDS:
        return Effect(
            Kind.COMPARE, address, after, destination=_source(mask), condition=_condition(instruction),
            results=_results(instruction, vectors),
        )
    if not vectors:
        return None
    copy = _copied(instruction)
    if copy is not None and copy[0] in vectors:
        return Effect(Kind.COPY, address, after, vector=copy[0], other=copy[1])
    results = _results(instruction, vectors)
    return Effect(Kind.VECTOR, address, after, results=results) if results else None


def _results(instruction: Instruction, vectors: frozenset[int]) -> dict[int, Term | None]:
    """The values that active lanes get in the vector registers that an instruction writes."""
    name = instruction.name
    found: dict[int, Term | None] = {}
    for operand in instruction.operands:
        if operand.name in ("vdst", "vdstx", "vdsty") or (operand.name == "vdata" and "store" not in name) or (
            operand.name == "src0" and "swap" in name
        ):
            key = vector_key(operand)
            if key is not None:
                found |= {register: None for register in range(key, key + operand.dwords) if register in vectors}
    if found:
        found |= {key: term for key, term in moves(instruction) if key in found}
    return found


def moves(instruction: Instruction) -> list[tuple[int, Term | None]]:
    """The vector registers into which an instruction moves something, and what it moves."""
    if instruction.encoding == "VOPD":
        return _dual_moves(instruction)
    if instruction.name != "v_mov_b32" or instruction.modifiers:
        return []
    to, origin = instruction.operand("vdst"), instruction.operand("src0")
    key = None if to is None else vector_key(to)
    return [] if key is None or origin is None else [(key, term_of(origin))]


def _dual_moves(instruction: Instruction) -> list[tuple[int, Term | None]]:
    found: list[tuple[int, Term | None]] = []
    for half, name in (("x", instruction.name), ("y", instruction.modifiers.get("opy"))):
        to, origin = instruction.operand(f"vdst{half}"), instruction.operand(f"src0{half}")
        key = None if to is None else vector_key(to)
        if name == "v_dual_mov_b32" and key is not None and origin is not None:
            found.append((key, term_of(origin)))
    return found


def _anywhere(instruction: Instruction) -> Effect | None:
    if "_store_" not in instruction.name:
        return None
    return Effect(Kind.STORE_ANYWHERE, instruction.address, instruction.address + instruction.size)


def _stack_base(instruction: Instruction) -> Operand | None:
    """The operand that gives the stack address of a load or store at a fixed place."""
    address = instruction.operand("vaddr")
    if address is None or address.kind is not OperandKind.OFF:
        return None
    return instruction.operand("soffset" if instruction.encoding == "MUBUF" else "saddr")


def _data_registers(instruction: Instruction) -> range:
    """The vector registers of a load or store."""
    data = instruction.operand("vdata") or instruction.operand("vdst")
    key = None if data is None else vector_key(data)
    return range(0) if data is None or key is None else range(key, key + data.dwords)


def _stack(instruction: Instruction, base: Operand, scalars: LocalScalars, wave_size: int) -> Effect | None:
    data = instruction.operand("vdata") or instruction.operand("vdst")
    key = None if data is None else vector_key(data)
    if data is None or key is None:
        return None
    extra = instruction.modifiers.get("offset", 0)
    offset = extra if isinstance(extra, int) else 0
    register: int | None = None
    if base.kind is OperandKind.SGPR:
        known = scalars.register(base.index)
        register, distance = base.index, 0
        if known is not None and (known[0] is None or scalars.register(known[0]) == (known[0], 0)):
            register, distance = known
        offset += distance // (wave_size if instruction.encoding == "MUBUF" else 1)
    elif base.kind in (OperandKind.CONSTANT, OperandKind.LITERAL):
        offset += base.value // (wave_size if instruction.encoding == "MUBUF" else 1)
    elif base.kind is not OperandKind.OFF:
        return None
    is_store = "_store_" in instruction.name
    if not any(size in instruction.name for size in _WHOLE):
        if not is_store:
            return None
        key = -1  # a partial store: the slot then has no known dword
    return Effect(
        Kind.STORE if is_store else Kind.LOAD, instruction.address, instruction.address + instruction.size,
        vector=key, count=data.dwords, base=register, offset=offset & ~3,
    )
