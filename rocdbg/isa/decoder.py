"""Decodes machine code to instructions, driven by the generated tables."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from types import MappingProxyType
from typing import Any

from msgspec.structs import replace

from rocdbg import work
from rocdbg.arch.targets import Target, is_target, target_by_name
from rocdbg.errors import Error
from rocdbg.isa.control_flow_kinds import branch_distance, flow_of
from rocdbg.isa.encoding_layouts import GFX12, Layout, extractor, layouts
from rocdbg.isa.encoding_row import CompiledRow
from rocdbg.isa.encoding_table import Table
from rocdbg.isa.instruction import Flow, Instruction, Operand, OperandKind

_LONGEST = 20
"""Bytes of the longest instruction: 96 bits and a literal of up to 64 bits."""


class DecodeError(Error):
    """The bytes end within an instruction. ``address`` is the address of the instruction, ``needed`` its size, and
    ``available`` the number of bytes there are.
    """

    def __init__(self, address: int, available: int, needed: int) -> None:
        super().__init__(
            f"The instruction at {address:#x} has {needed} bytes, but the code ends after {available}."
        )
        self.address = address
        self.available = available
        self.needed = needed


class UnknownEncodingError(Error):
    """There is no encoding table for a target. ``target`` is its name."""

    def __init__(self, target: str) -> None:
        super().__init__(f"Cannot disassemble code for {target}: rocdbg has no encoding table for it.")
        self.target = target


class _LayoutRows:
    """A layout with its rows; ``select`` finds the row of an instruction word."""

    __slots__ = ("_compiled", "_packed", "_table", "_wave_size", "cases", "layout", "opcode", "src0", "src0_shift")

    def __init__(self, layout: Layout, table: Table, wave_size: int) -> None:
        self.layout = layout
        self.opcode = extractor(layout.opcode)
        self.cases = [
            (extractor(s.bits), {c: i + 1 for i, c in enumerate(s.codes)}, len(s.codes) + 1) for s in layout.selectors
        ]
        self.src0 = frozenset(layout.src0)
        self.src0_shift = 32 * layout.src0_dword
        self._table, self._wave_size = table, wave_size
        self._packed: dict[str, list[Any]] | None = None
        self._compiled: dict[int, CompiledRow | None] = {}

    def select(self, word: int) -> CompiledRow | None:
        layout = self.layout
        if (word ^ layout.value) & layout.mask:
            return None
        if self.src0 and word >> self.src0_shift & 0x1FF not in self.src0:
            return None
        key = self.opcode(word)
        for case, codes, cases in self.cases:
            key = key * cases + codes.get(case(word), 0)
        try:
            row = self._compiled[key]
        except KeyError:
            row = self._compiled[key] = self._compile(key)
        if row is None or (word ^ row.must_value) & row.must_mask:
            return None
        return row

    def may_hold(self, word: int, size: int) -> bool:
        """Whether more than the first ``size`` bytes are needed to decide that a word does not belong to this layout.
        """
        layout = self.layout
        known = (1 << 8 * size) - 1
        if 4 * layout.dwords <= size or (word ^ layout.value) & layout.mask & known:
            return False
        return not self.src0 or 8 * size <= self.src0_shift or word >> self.src0_shift & 0x1FF in self.src0

    def _compile(self, key: int) -> CompiledRow | None:
        if self._packed is None:
            self._packed = self._table.rows(self.layout.name, self._wave_size)
        packed = self._packed.get(str(key))
        return None if packed is None else CompiledRow(packed, self.layout, key, self._table)


class Decoder:
    """Decodes for one target and wave size. Results are memoised by the bytes of the instruction."""

    def __init__(self, target: str, wave_size: int) -> None:
        try:
            table = Table(target)
        except FileNotFoundError:
            raise UnknownEncodingError(target) from None
        self.target = target
        self.wave_size = wave_size
        self.family = table.family
        # Only src0 distinguishes DPP and SDWA forms from the plain form, so they are tried first.
        self._forms = [
            _LayoutRows(form, table, wave_size)
            for form in sorted(layouts(self.family), key=lambda form: not form.src0)
        ]
        self._by_prefix: dict[int, tuple[_LayoutRows, ...]] = {}
        self._memo: dict[bytes, Instruction] = {}

    def decode(self, code: bytes, address: int = 0, offset: int = 0) -> Instruction:
        """The instruction at ``code[offset:]``; raises DecodeError if it is incomplete."""
        memo = self._memo
        found = (
            memo.get(code[offset : offset + 4])
            or memo.get(code[offset : offset + 8])
            or memo.get(code[offset : offset + 12])
        )
        if found is None:
            found = self._decode(bytes(code[offset : offset + _LONGEST]), address)
        return self._place(found, address)

    def _place(self, found: Instruction, address: int) -> Instruction:
        operands, target = found.operands, None
        distance = branch_distance(found)
        if distance is not None:
            target = (address + found.size + 4 * distance) & 0xFFFFFFFFFFFFFFFF
            operands = tuple(
                Operand(o.name, OperandKind.LABEL, -1, 0, target, text=o.text) if o.name == "simm16" else o
                for o in operands
            )
        elif found.address == address:
            return found
        return Instruction(
            address, found.size, found.encoding, found.mnemonic, found.name, operands, found.modifiers,
            found.text, found.flow, target, found.illegal, found.opcode,
        )

    def _decode(self, chunk: bytes, address: int) -> Instruction:
        if len(chunk) < 4:
            raise DecodeError(address, len(chunk), 4)
        word = int.from_bytes(chunk, "little")
        prefix = word >> 23 & 511
        candidates = self._by_prefix.get(prefix)
        if candidates is None:
            candidates = self._by_prefix[prefix] = tuple(
                rows
                for rows in self._forms
                if not (prefix << 23 ^ rows.layout.value) & rows.layout.mask & 0xFF800000
            )
        refused: list[_LayoutRows] = []
        for candidate in candidates:
            row = candidate.select(word)
            parts = None if row is None else row.read(word)
            if row is None or parts is None:
                refused.append(candidate)
                continue
            size, operands, modifiers, text = parts
            if size > len(chunk):
                raise DecodeError(address, len(chunk), size)
            found = Instruction(
                0, size, candidate.layout.encoding, row.mnemonic, row.name, operands, MappingProxyType(modifiers), text,
                flow_of(row.name), None, False, candidate.opcode(word),
            )
            if not any(other.may_hold(word, size) for other in refused):
                if len(self._memo) > 1 << 16:  # about 2 KB each
                    self._memo.clear()
                self._memo[chunk[:size]] = found
            return found
        if self.family in GFX12:
            return (
                self._move_of_half(chunk, address)
                or self._into_high_half(chunk, address)
                or illegal(chunk[:4], 0)
            )
        return illegal(chunk[:4], 0)

    def _move_of_half(self, chunk: bytes, address: int) -> Instruction | None:
        """Decode v_mov_b16 and v_swap_b16, which are encoded as on GFX11. AMD's compiler emits them for GFX12; LLVM
        accepts them there only with the feature real-true16.
        """
        found = _decoder("gfx1150", self.wave_size)._decode(chunk, address)
        return found if found.mnemonic in ("v_mov_b16_e32", "v_mov_b16_e64", "v_swap_b16") else None

    def _into_high_half(self, chunk: bytes, address: int) -> Instruction | None:
        """Decode short forms of VOP1 and VOP2 whose result goes to the high half of a register, as the highest bit of
        vdst says. LLVM accepts them only with real-true16; otherwise it considers the encoding illegal.
        """
        word = int.from_bytes(chunk[:4], "little")
        if word >> 24 & 0x81 != 1 or word >> 25 == 0x3E:  # VOPC, which has no vdst
            return None
        found = self._decode((word ^ 1 << 24).to_bytes(4, "little") + chunk[4:], address)
        if found.illegal or not found.operands or found.operands[0].name != "vdst":
            return None
        low = found.operands[0]
        high = replace(low, half=1, bits=16, text=f"{low.text}.h")
        text = found.text.replace(low.text, high.text, 1)
        return replace(found, operands=(high, *found.operands[1:]), text=text)


_NO_MODIFIERS: MappingProxyType[str, int | str] = MappingProxyType({})


def illegal(data: bytes, address: int) -> Instruction:
    """Bytes that are not an instruction, printed as llvm-objdump prints them."""
    if len(data) == 4:
        text = f".long 0x{int.from_bytes(data, 'little'):08x}"
    else:
        text = ".byte " + ", ".join(f"0x{byte:02x}" for byte in data)
    mnemonic = text.split(" ", 1)[0]
    return Instruction(
        address, len(data), "", mnemonic, mnemonic, (), _NO_MODIFIERS, text, Flow.NEXT, None, True
    )


@cache
def _decoder(target: str, wave_size: int) -> Decoder:
    return Decoder(target, wave_size)


def decoder_for(target: str | Target, wave_size: int | None = None) -> Decoder:
    """The decoder of a target, cached. Without ``wave_size``: the compiler's default. Raises UnknownEncodingError for a
    target without a table."""
    if isinstance(target, str):
        if not is_target(target):
            raise UnknownEncodingError(target)
        target = target_by_name(target)
    return _decoder(target.name, wave_size or target.default_wave_size)


def decode(
    code: bytes, target: str | Target, address: int = 0, offset: int = 0, *, wave_size: int | None = None
) -> Instruction:
    """Decode the instruction at ``code[offset:]``, which is at ``address``.

    An illegal encoding is an Instruction with ``illegal`` set. Raises DecodeError if the code ends inside
    the instruction,
    UnknownEncodingError for a target without a table.
    """
    return decoder_for(target, wave_size).decode(code, address, offset)


def disassemble(
    code: bytes, target: str | Target, address: int = 0, *, wave_size: int | None = None
) -> Iterator[Instruction]:
    """Decode all of ``code``; an instruction that is incomplete at the end becomes illegal dwords and bytes."""
    decoder = decoder_for(target, wave_size)
    offset = 0
    while offset < len(code):
        work.unit()
        try:
            instruction = decoder.decode(code, address + offset, offset)
        except DecodeError:
            instruction = illegal(code[offset : offset + 4], address + offset)
        yield instruction
        offset += instruction.size
