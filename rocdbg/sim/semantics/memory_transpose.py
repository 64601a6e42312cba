"""Loads that transpose small blocks of a matrix between lanes: gfx950's ds_read_b*_tr_b*, GFX12's global_load_tr_b*.

Each lane loads a piece of a row. In a block of lanes whose pieces form ``rows`` rows of ``columns`` numbers, lane ``c``
gets column ``c``: its number ``r`` comes from row ``r``. Inactive lanes contribute what their destination registers
hold; the documents require all lanes to be active.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rocdbg.sim.core.builder import I64, Value
from rocdbg.sim.semantics.access import Access
from rocdbg.sim.semantics.memory_common import Addresses, Format, load, register, required
from rocdbg.sim.semantics.memory_flat import global_address
from rocdbg.sim.semantics.registry import Kind, semantic

_PASS = 7
"""How many numbers are moved at a time: each needs as many dwords of the transfer buffer as the destination has
registers.
"""
_KEPT, _RESULT = 24, 28
"""Where the transfer buffer keeps the loaded data, and the results."""


def _origin(lane: int, number: int, columns: int, each: int) -> tuple[int, int]:
    """The lane that loaded number ``number`` of this lane's column, and the number's index among that lane's numbers.
    Each lane loaded ``each`` numbers of a row of ``columns``.
    """
    block, column = lane // columns * columns, lane % columns
    return block + number * (columns // each) + column // each, column % each


def _transpose(i: Access, base: int, words: int, bits: int, columns: int) -> None:
    """Transpose rows into columns; registers ``base`` and following hold each lane's piece of a row."""
    b, each = i.b, words * 32 // bits
    for first in range(0, each, _PASS):
        b.scalar()
        numbers = range(first, min(first + _PASS, each))
        for number in numbers:
            sources = [_origin(lane, number, columns, each)[0] for lane in range(i.wave_size)]
            for word in range(words):
                b.shuffle(base + word, list(sources), (number - first) * words + word)
        b.lanes()
        position = (i.lane & each - 1) * bits
        for number in numbers:
            code = _field(
                i, [b.read_data((number - first) * words + w) for w in range(words)], position, bits
            )
            _merge(i, code, number * bits, bits)
    b.lanes()
    for word in range(words):
        b.write_vgpr(base + word, b.read_data(_RESULT + word))


def _field(i: Access, words: list[Value], position: Value, bits: int) -> Value:
    """``bits`` bits from bit ``position`` (I32, by lane) of a row of dwords."""
    word, shift = position.lshr(5), position & 31
    low, high = words[0], i.const(0)
    for n, value in enumerate(words):
        here = word.eq(n)
        low = here.select(value, low)
        high = here.select(words[n + 1] if n + 1 < len(words) else 0, high)
    return high.fshr(low, shift) & (1 << bits) - 1


def _merge(i: Access, code: Value, position: int, bits: int) -> None:
    """Put a number into the result."""
    word, shift = divmod(position, 32)
    parts = [(word, code.shl(shift) if shift else code)]
    if shift + bits > 32:
        parts.append((word + 1, code.lshr(32 - shift)))
    for n, part in parts:
        new = n * 32 >= position  # the first number that reaches this dword
        i.b.write_data(_RESULT + n, part if new else i.b.read_data(_RESULT + n) | part)


def _lds(i: Access) -> tuple[str, Value, Sequence[Value]]:
    return "lds", (i.raw_operand(required(i, "addr")) + i.modifier("offset")).zext(I64), ()


def _load(how: Addresses, bits: int, columns: int) -> Callable[[Access], None]:
    def run(i: Access) -> None:
        destination = required(i, "vdst")
        load(i, how, destination, Format(4 * destination.dwords))
        _transpose(i, register(destination), destination.dwords, bits, columns)

    return run


_NARROW = "taken over from the wider forms: the order of lanes is not public"
for _bits, _size in ((16, 8), (8, 8), (6, 12), (4, 8)):
    semantic(f"ds_read_b{_size * 8}_tr_b{_bits}", kind=Kind.WAVE, approximate=_NARROW if _bits < 8 else "")(
        _load(_lds, _bits, 16)
    )


def _half_wave(i: Access, bits: int) -> None:
    """GFX12's wave64: lanes 0 to 31 load rows of 8 numbers. Lane c of either half of the wave gets the four numbers of
    column c that lanes 0 to 3 (upper half: 4 to 7) of its block of 8 lanes have loaded."""
    b, destination = i.b, required(i, "vdst")
    base, words = register(destination), destination.dwords
    loaded = 2 * words
    b.lanes()
    space, address, _ = global_address(i)
    b.write_address(address)
    b.scalar()
    zero = i.const(0, I64)
    b.call(f"load_{space}", (i.exec & 0xFFFFFFFF, i.const(4 * loaded, I64), zero, zero))
    b.lanes()
    for word in range(loaded):
        b.write_data(_KEPT + word, b.read_data(word))
    for first in (0, words):  # the destination can only hold half of the loaded data
        b.lanes()
        for word in range(words):
            b.write_vgpr(base + word, b.read_data(_KEPT + first + word))
        b.scalar()
        for number in range(4):
            sources = [lane & 24 | lane >> 5 << 2 | number for lane in range(64)]
            for word in range(words):
                b.shuffle(base + word, list(sources), number * loaded + first + word)
    b.lanes()
    position = (i.lane & 7) * bits
    for number in range(4):
        row = [b.read_data(number * loaded + word) for word in range(loaded)]
        _merge(i, _field(i, row, position, bits), number * bits, bits)
    for word in range(words):
        b.write_vgpr(base + word, b.read_data(_RESULT + word))


def _global(bits: int) -> Callable[[Access], None]:
    def run(i: Access) -> None:
        if i.wave_size == 64:
            _half_wave(i, bits)
        else:
            _load(global_address, bits, 8)(i)

    return run


semantic("global_load_tr_b128", kind=Kind.WAVE)(_global(16))
semantic("global_load_tr_b64", kind=Kind.WAVE)(_global(8))

_SAME = "taken over from GFX12's loads from global memory"
for _bits, _size in ((16, 128), (8, 64)):  # gfx125x
    semantic(f"global_load_tr{_bits}_b{_size}", kind=Kind.WAVE, approximate=_SAME)(_global(_bits))
    semantic(f"ds_load_tr{_bits}_b{_size}", kind=Kind.WAVE, approximate=_SAME)(_load(_lds, _bits, 8))
