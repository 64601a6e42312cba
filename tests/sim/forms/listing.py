"""The forms of instructions: one example of each combination of kinds of operands and fields.

Two encodings are the same *form* if they have the same name and encoding, operands of the same kinds and widths (each
special register is a separate kind), the same signs and halves, and the same modifiers; small modifiers must also have
the same values.
"""

from __future__ import annotations

import functools
import random
from collections.abc import Callable, Hashable, Iterator

from rocdbg.isa.bit_layout import Bits, extractor
from rocdbg.isa.decoder import decoder_for
from rocdbg.isa.encoding_layouts import Layout, family_of, insert, layouts, width
from rocdbg.isa.encoding_table import Table
from rocdbg.isa.generate.sample_words import _bases, _fixed
from rocdbg.isa.instruction import Instruction, Operand, OperandKind
from rocdbg.sim.translator.blocks import obstacle

TARGETS = (
    "gfx600", "gfx700", "gfx803",
    "gfx900", "gfx906", "gfx908", "gfx90a", "gfx942", "gfx950", "gfx1010", "gfx1030", "gfx1100", "gfx1150", "gfx1200",
    "gfx1250",
)
"""One target for each instruction set with different semantics."""

CODES = (
    4, 5, 100, 101, 102, 104, 105, 106, 107, 108, 110, 122, 123, 124, 125, 126, 127, 128, 137, 193, 230, 235, 236, 240,
    248, 251, 252, 253, 254, 255, 256, 258, 259, 384, 385, 510, 511,
)
"""Operand codes: of each kind, and at the ends of each kind."""
LITERAL = 0x3F801234
_VALUES = (0, 1, 2, 3, 5, 7, 15, 0x1B, 0x80, 0x111, 0x130, 0x142, 0x15F, 0x16A, 0xE4E4E4, 0x8005, -1)
"""Values of modifiers and immediates, if they fit."""


def _operand_key(operand: Operand) -> Hashable:
    special = operand.index if operand.kind is OperandKind.SPECIAL else None
    return (
        operand.name, operand.kind, operand.dwords, operand.bits, operand.half, operand.neg, operand.abs, operand.sext,
        special,
    )


_VALUED = frozenset(("op_sel", "op_sel_hi", "dst_sel", "dst_unused", "src0_sel", "src1_sel", "omod", "opy"))
"""Modifiers each of whose values is a separate form."""


def _modifier_key(name: str, value: int | str) -> Hashable:
    if name == "dpp_ctrl":
        return int(value) >> 4
    return value if name in _VALUED else None


def form_key(instruction: Instruction) -> Hashable:
    """The properties that instructions of one form share."""
    modifiers = tuple((name, _modifier_key(name, value)) for name, value in sorted(instruction.modifiers.items()))
    return instruction.mnemonic, instruction.encoding, modifiers, tuple(map(_operand_key, instruction.operands))


_width = functools.cache(width)
_SCALAR, _VECTOR = range(0, 96, 8), range(264, 376, 8)


@functools.cache
def _mask(bits: Bits) -> int:
    """Ones in the place of a field."""
    return insert(bits, -1)


@functools.cache
def _placed(bits: Bits, code: int) -> int:
    """A register's code in a field's place, if it fits."""
    size = _width(bits)
    return insert(bits, code if size >= 9 else code & 0xFF if size == 8 else code >> 2)


def _plain(layout: Layout, generator: random.Random, kind: int, fixed: int) -> int:
    """Registers of one kind in all operands: vector (0) or scalar (1)."""
    word = 0
    for bits in layout.operands.values():
        word = word & ~_mask(bits) | _placed(bits, generator.choice(_SCALAR if kind else _VECTOR))
    return word & ~fixed


def words(layout: Layout, opcode: int, generator: random.Random, mixtures: int) -> Iterator[int]:
    """Encodings of one opcode: every operand field through `CODES`, every other field through its values, and mixtures.
    """
    fixed = _fixed(layout)
    after = LITERAL << 32 * layout.dwords
    others = {**layout.modifiers, **layout.immediates}
    for base in _bases(layout, opcode, generator):
        for kind in (0, 1):
            word = base | _plain(layout, generator, kind, fixed)
            yield word | after
            for field in layout.operands.values():
                for code in CODES:
                    if code >> width(field) == 0:
                        yield word & ~insert(field, -1) | insert(field, code) & ~fixed | base & fixed | after
            for field in others.values():
                for value in _VALUES:
                    if value >> width(field) <= 0:
                        yield word & ~insert(field, -1) | insert(field, value) & ~fixed | base & fixed | after
        for number in range(mixtures):
            word = base | _plain(layout, generator, number & 1, fixed)
            for field in layout.operands.values():
                if generator.random() < 0.5:
                    word = word & ~insert(field, -1) | insert(field, generator.choice(CODES))
            for field in others.values():
                if generator.random() < 0.4:
                    word = word & ~insert(field, -1) | insert(field, generator.getrandbits(width(field)))
            yield word & ~fixed | base & fixed | after


def forms(target: str, wave_size: int, mixtures: int = 4, seed: int = 1) -> Iterator[Instruction]:
    """One instruction of each form that can be translated."""
    generator = random.Random(seed)
    decoder = decoder_for(target, wave_size)
    seen: set[Hashable] = set()

    for layout in layouts(family_of(target)):
        for opcode in layout.opcodes or range(1 << width(layout.opcode)):
            for word in words(layout, opcode, generator, mixtures):
                instruction = decoder.decode(word.to_bytes(40, "little")[:20])
                key = form_key(instruction)
                if key not in seen:
                    seen.add(key)
                    if obstacle(instruction) is None:
                        yield instruction


_COVERING = (260, 8, 106, 126, 124, 125, 110, 129, 242, 255, 235, 253, 193)
"""A code of each kind: VGPR, SGPR, vcc, exec, m0, null, ttmp, integer, float, literal, aperture, scc, -1."""


def _rows(layout: Layout, table: Table, wave_size: int) -> Callable[[int], bool]:
    """Whether the table has an instruction with the opcode and the selectors of a word; for most opcodes it does not.
    """
    rows = table.rows(layout.name, wave_size)
    opcode = extractor(layout.opcode)
    selectors = [(extractor(s.bits), (None, *s.codes)) for s in layout.selectors]

    def has_row(word: int) -> bool:
        key = opcode(word)
        for selected, codes in selectors:
            code = selected(word)
            key = key * len(codes) + (codes.index(code) if code in codes else 0)
        return str(key) in rows

    return has_row


def _rotated(
    layout: Layout, opcode: int, generator: random.Random, has_row: Callable[[int], bool]
) -> Iterator[int]:
    """Encodings of one opcode in which all operand fields go through the kinds simultaneously; then a few mixtures."""
    fixed = _fixed(layout)
    after = LITERAL << 32 * layout.dwords
    others = {**layout.modifiers, **layout.immediates}
    for base in filter(has_row, _bases(layout, opcode, generator)):
        for kind in (0, 1):
            yield base | _plain(layout, generator, kind, fixed) | after
        for turn in range(len(_COVERING)):
            word = _plain(layout, generator, 0, fixed)
            for place, field in enumerate(layout.operands.values()):
                code = _COVERING[(turn + 5 * place) % len(_COVERING)]
                if code >> _width(field) == 0:
                    word = word & ~_mask(field) | insert(field, code)
            yield base | word & ~fixed | after
        for kind in (0, 0, 1, 1):
            word = _plain(layout, generator, kind, fixed)
            for field in others.values():
                if generator.random() < 0.5:
                    word = word & ~_mask(field) | insert(field, generator.getrandbits(_width(field)))
            yield base | word & ~fixed | after


_FAMILY = {"dpp_ctrl": "dpp", "dpp8": "dpp8", "sdwa": "sdwa", "tfe": "tfe", "gds": "gds", "lds": "lds"}
_FAMILY |= {"clamp": "clamp", "omod": "omod", "op_sel": "op_sel", "glc": "returns", "sc0": "returns", "th": "returns"}
"""Names of aspects for modifiers that change more than a detail; all other modifiers share one aspect."""


def _aspects(instruction: Instruction, fine: bool) -> Iterator[Hashable]:
    """The aspects of an instruction's semantic that a form covers; each special register separately if ``fine``."""
    for operand in instruction.operands:
        kind, special = operand.kind, operand.index if operand.kind is OperandKind.SPECIAL else None
        if fine:
            yield kind, special
        elif special is None:
            yield OperandKind.SGPR if kind is OperandKind.TTMP else kind
        else:
            yield "only read" if special >= 128 else "m0, null, exec" if special >= 124 else "vcc"
        if operand.neg or operand.abs or operand.sext:
            yield "signs"
        if operand.half is not None:
            yield operand.name, operand.half
    for name, value in instruction.modifiers.items():
        if fine:
            yield name, bool(value)
        else:
            yield _FAMILY.get(name, "modified")


def covering(
    target: str, wave_size: int, seen: set[Hashable], fine: bool = False, seed: int = 1
) -> Iterator[Instruction]:
    """A few forms that cover every operand kind and modifier of every instruction not yet in ``seen``, which is
    extended.
    """
    generator = random.Random(seed)
    decoder = decoder_for(target, wave_size)
    table = Table(target)
    names: set[Hashable] = set()
    for layout in layouts(family_of(target)):
        has_row = _rows(layout, table, wave_size)
        for opcode in layout.opcodes or range(1 << width(layout.opcode)):
            for word in _rotated(layout, opcode, generator, has_row):
                instruction = decoder.decode(word.to_bytes(40, "little")[:20])
                if instruction.illegal:
                    continue
                if (instruction.mnemonic, layout.name) in seen:
                    break
                names.add((instruction.mnemonic, layout.name))
                new = {(instruction.name, aspect) for aspect in _aspects(instruction, fine)} - seen
                if new and obstacle(instruction) is None:
                    seen |= new
                    yield instruction
    seen |= names
