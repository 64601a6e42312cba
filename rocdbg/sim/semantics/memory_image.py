"""Image instructions: loads, stores and atomics with integer coordinates, samples and gathers with a sampler.

Lane code puts addresses and data into the transfer buffer; `rocdbg.sim.translator.image_access` and `image_samples`
read the descriptors and do the rest. GFX9's encoding does not give the number of address registers (the image's type
does), so there the routine reads them itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rocdbg.sim.core import image_request as request
from rocdbg.sim.core.builder import I64, Value
from rocdbg.sim.core.layout import VGPR_COUNT, sgpr_offset, vgpr_offset
from rocdbg.sim.images.chips import CHIPS, chip_of
from rocdbg.sim.images.fields import Rules
from rocdbg.sim.semantics.access import Access, Unsupported
from rocdbg.sim.semantics.memory_common import atomic, packs_halves, register, required
from rocdbg.sim.semantics.registry import Kind, semantic

_DIM_COORDINATES = (1, 2, 3, 3, 2, 3, 3, 4)
"""Coordinates by DIM: 1D, 2D, 3D, cube, arrays of 1D and 2D, 2D with samples, arrays of these."""
_WHOLE_TEXEL = -1


def _place(i: Access, name: str, dwords: int) -> int:
    code = i.scalar_code(required(i, name), dwords)
    if code == i.context.null:
        raise Unsupported(f"{i.insn.text}: no descriptor")
    return sgpr_offset(code)


def _components(i: Access) -> list[int]:
    """The components that the instruction's mask names; an empty mask counts as X."""
    mask = i.modifier("dmask") or 1
    return [n for n in range(4) if mask >> n & 1]


def _request(i: Access, flags: int, needed: int) -> tuple[Value, Value]:
    """Lane code: put the addresses into the transfer buffer; returns the routine's arguments a and b."""
    chip = chip_of(i.target)
    rules, known_by = chip.rules, CHIPS.index(chip) << request.CHIP
    short = bool(i.modifier("r128")) and rules is not Rules.GFX9
    a = flags | _place(i, "srsrc", 4 if short else 8) | int(rules) << request.RULES
    if i.insn.operand("ssamp") is not None:
        a |= _place(i, "ssamp", 4) << request.SAMPLER
    a |= i.modifier("dim") << request.DIM | (i.modifier("dmask") or 1) << request.DMASK
    for name, flag in (("da", request.DA), ("unorm", request.UNORM), ("a16", request.A16), ("d16", request.D16)):
        if i.modifier(name):
            a |= flag
    if short:
        a |= request.R128
    registers: list[int] = []
    for operand in i.insn.operands:
        if operand.name.startswith("vaddr"):
            first = register(operand)
            registers += range(first, first + max(1, operand.dwords))
    if not registers:
        raise Unsupported(f"{i.insn.text}: no address")
    if rules.shape_in_image:
        file = VGPR_COUNT * (1 + (registers[0] >= VGPR_COUNT))
        b = vgpr_offset(registers[0], i.wave_size) | file - registers[0] << request.COUNT
        return _i64(i, a), _i64(i, b | known_by)
    if len(registers) < needed:
        raise Unsupported(f"{i.insn.text}: {len(registers)} address registers, {needed} are needed")
    for n, number in enumerate(registers[:needed]):
        i.b.write_data(request.ADDRESSES + n, i.b.read_vgpr(number))
    return _i64(i, a), _i64(i, known_by)


def _i64(i: Access, value: int) -> Value:
    return i.const(value - (1 << 64) if value >> 63 else value, I64)


def _plain_addresses(i: Access, level: bool) -> int:
    """Address registers of an instruction with integer coordinates."""
    count = _DIM_COORDINATES[i.modifier("dim") & 7] + level
    return -(-count // 2) if i.modifier("a16") else count


# -- integer coordinates --------------------


def _write_results(i: Access, words: Sequence[Value]) -> None:
    """Lane code: write the components, one per dword, or two per dword with d16. With texture fail enable, also write
    the dword that says that nothing has failed.
    """
    halves = bool(i.modifier("d16")) and packs_halves(i)
    count = -(-len(words) // 2) if halves else len(words)
    failing = bool(i.modifier("tfe"))
    base = register(required(i, "vdata"), count + failing)
    for n in range(count):
        word = words[2 * n if halves else n]
        if halves:
            last = 2 * n + 1 == len(words)
            high = i.b.read_vgpr(base + n) & 0xFFFF0000 if last else words[2 * n + 1].shl(16)
            word = word & 0xFFFF | high
        i.b.write_vgpr(base + n, word)
    if failing:
        i.b.write_vgpr(base + count, i.const(0))


def _load(flags: int) -> Callable[[Access], None]:
    def function(i: Access) -> None:
        i.b.lanes()
        a, b = _request(i, flags, _plain_addresses(i, bool(flags & request.LEVEL)))
        i.b.scalar()
        i.b.call("load_image", (i.exec, i.const(_WHOLE_TEXEL, I64), a, b))
        i.b.lanes()
        _write_results(i, [i.b.read_data(n) for n in _components(i)])

    return function


def _store(flags: int) -> Callable[[Access], None]:
    def function(i: Access) -> None:
        i.b.lanes()
        given = _components(i)
        halves = bool(i.modifier("d16")) and packs_halves(i)
        base = register(required(i, "vdata"), -(-len(given) // 2) if halves else len(given))
        words: dict[int, Value] = {}
        for place, n in enumerate(given):
            word = i.b.read_vgpr(base + (place // 2 if halves else place))
            words[n] = (word.lshr(16) if place & 1 else word & 0xFFFF) if halves else word
        missing = words[given[0]] if i.generation >= 12 and not flags & request.RAW else i.const(0)
        a, b = _request(i, flags, _plain_addresses(i, bool(flags & request.LEVEL)))
        for n in range(4):
            i.b.write_data(n, words.get(n, missing))
        i.b.scalar()
        i.b.call("store_image", (i.exec, i.const(_WHOLE_TEXEL, I64), a, b))

    return function


def _atomic(name: str) -> Callable[[Access], None]:
    two = name in ("cmpswap", "fcmpswap")
    sized = not name.startswith("pk_add")

    def function(i: Access) -> None:
        mask = i.modifier("dmask")
        wide = 0xF if two else 3
        if mask not in (3, 0xF) if two else mask not in (1, 3):
            raise Unsupported(f"{i.insn.text}: dmask of an atomic")
        if (mask == wide and (name == "fadd" or not sized)) or i.modifier("tfe"):
            raise Unsupported(i.insn.text)
        helper = f"{name}_{64 if mask == wide else 32}" if sized else name

        def how(i: Access) -> tuple[str, Value, Sequence[Value]]:
            a, b = _request(i, 0, _plain_addresses(i, False))
            return "image", i.lane.zext(I64), (a, b)

        returns = i.modifier("glc") or i.modifier("th") & 1
        data = required(i, "vdata")
        atomic(i, how, helper, (data,), data if returns else None)

    return function


def _info(i: Access) -> None:
    i.b.lanes()
    a, b = _request(i, request.QUERY, 1)
    i.b.scalar()
    i.b.call("info_image", (i.exec, i.const(0, I64), a, b))
    i.b.lanes()
    words = [i.b.read_data(n) for n in _components(i)]
    if i.modifier("d16"):
        raise Unsupported(i.insn.text)
    _write_results(i, words)


_SIGN = "whether texels of several channels are extended channel by channel is not public"
for _middle, _flags in (("", 0), ("_mip", request.LEVEL)):
    semantic(f"image_load{_middle}", kind=Kind.WAVE)(_load(_flags))
    semantic(f"image_store{_middle}", kind=Kind.WAVE)(_store(_flags))
    semantic(f"image_load{_middle}_pck", kind=Kind.WAVE)(_load(_flags | request.RAW))
    semantic(f"image_store{_middle}_pck", kind=Kind.WAVE)(_store(_flags | request.RAW))
    semantic(f"image_load{_middle}_pck_sgn", kind=Kind.WAVE, approximate=_SIGN)(
        _load(_flags | request.RAW | request.SIGNED)
    )
semantic("image_get_resinfo", kind=Kind.WAVE)(_info)

_ATOMICS = {
    **{name: name for name in (
        "swap", "cmpswap", "add", "sub", "smin", "umin", "smax", "umax", "and", "or", "xor", "inc", "dec", "fcmpswap",
        "fmin", "fmax", "pk_add_f16", "pk_add_bf16",
    )},
    "add_uint": "add", "sub_uint": "sub", "min_int": "smin", "min_uint": "umin", "max_int": "smax",
    "max_uint": "umax", "inc_uint": "inc", "dec_uint": "dec", "add_flt": "fadd", "min_flt": "fmin", "max_flt": "fmax",
}
for _name, _helper in _ATOMICS.items():
    semantic(f"image_atomic_{_name}", kind=Kind.WAVE)(_atomic(_helper))


# -- with a sampler --------------------

_TOKENS = {
    "b": request.BIAS, "c": request.COMPARE, "d": request.DERIVATIVES, "cd": request.DERIVATIVES, "l": request.LOD,
    "lz": request.ZERO, "cl": request.CLAMP, "o": request.OFFSET, "g16": request.G16,
}
"""What the parts of a name mean: bias, comparison, derivatives (also coarse ones), level, level 0, minimum level,
offset, 16-bit derivatives."""
_AXES = (1, 2, 3, 2, 1, 2, 2, 2)
_LAYERED = (3, 4, 5)
"""DIMs with a layer or a face."""


def _sampled_addresses(i: Access, flags: int) -> int:
    """Address registers of an instruction with a sampler, gfx10 and later."""
    dim, narrow = i.modifier("dim") & 7, bool(i.modifier("a16"))
    count = sum(bool(flags & flag) for flag in (request.OFFSET, request.BIAS, request.COMPARE))
    if flags & request.DERIVATIVES:
        count += 2 * (-(-_AXES[dim] // 2) if flags & request.G16 else _AXES[dim])
    last = _AXES[dim] + (dim in _LAYERED) + bool(flags & (request.LOD | request.CLAMP))
    return count + (-(-last // 2) if narrow else last)


def _sample(flags: int) -> Callable[[Access], None]:
    def function(i: Access) -> None:
        if i.modifier("dim") >= 6:
            raise Unsupported(f"{i.insn.text}: samples of an image with several samples per pixel")
        i.b.lanes()
        a, b = _request(i, flags, _sampled_addresses(i, flags))
        i.b.scalar()
        i.b.call("sample_texture", (i.exec, i.const(_WHOLE_TEXEL, I64), a, b))
        i.b.lanes()
        wanted = range(4) if flags & request.GATHER else _components(i)
        _write_results(i, [i.b.read_data(n) for n in wanted])

    return function


def _names() -> dict[str, int]:
    """The names of all instructions with a sampler, and what each requests."""
    found = {"image_get_lod": request.QUERY}
    for base, family in (("image_sample", 0), ("image_gather4", request.GATHER)):
        levels: tuple[tuple[str, ...], ...] = ((), ("b",), ("l",), ("lz",))
        if not family:
            levels += (("d",), ("cd",))
        for compare in ((), ("c",)):
            for how in levels:
                for least in ((), ("cl",)) if how not in (("l",), ("lz",)) else ((),):
                    for offset in ((), ("o",)):
                        for narrow in ((), ("g16",)) if how in (("d",), ("cd",)) else ((),):
                            tokens = (*compare, *how, *least, *offset, *narrow)
                            flags = family
                            for token in tokens:
                                flags |= _TOKENS[token]
                            found["_".join((base, *tokens))] = flags
    return found


_FILTER = "how hardware rounds while it filters, and what it takes at corners of cubes, is not public; no anisotropy"
for _name, _flags in _names().items():
    semantic(_name, kind=Kind.WAVE, approximate=_FILTER)(_sample(_flags))
