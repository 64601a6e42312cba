"""The instruction's view of an image descriptor in translated code: an array of numbers on the stack.

`rocdbg.sim.images.fields` says where the fields are; its tables are constants of the module, so that one routine serves
every generation.
"""

from __future__ import annotations

from enum import IntEnum, auto
from typing import TYPE_CHECKING

from rocdbg.sim.core import image_request as request
from rocdbg.sim.core.builder import F64, I32, I64, Value
from rocdbg.sim.core.layout import FaultKind
from rocdbg.sim.images.fields import IMAGE_FIELDS, SAMPLER_FIELDS, Field, Layout, Rules
from rocdbg.sim.images.image_descriptor import ImageType
from rocdbg.sim.images.texel_formats import CODES, formats_of
from rocdbg.sim.translator import image_tiles

if TYPE_CHECKING:
    from rocdbg.sim.translator.routine import Routine

PARAMETERS = "ptr %state, i64 %a, i64 %b, ptr %view"


class Slot(IntEnum):
    """The numbers of a view, all I64."""

    TYPE = 0
    """`ImageType`, 0 if nothing is bound."""
    BASE = auto()
    WIDTH = auto()
    HEIGHT = auto()
    DEPTH = auto()
    """Planes of a 3D image, otherwise 1."""
    FIRST_LAYER = auto()
    LAYERS = auto()
    FIRST_LEVEL = auto()
    LAST_LEVEL = auto()
    MOST_LEVEL = auto()
    PITCH = auto()
    """In texels; 0 if it follows from the width."""
    STORED = auto()
    """GFX6 to GFX8: number of layers in memory."""
    PADDED = auto()
    """GFX6 to GFX8: whether sizes are rounded up to powers of two in memory."""
    TILE = auto()
    """0 in a linear image, otherwise the number of an order of texels in `image_tiles`."""
    ROW = auto()
    """The row of the format: see `ImageFormat.row`."""
    SELECT = auto()
    BORDER_SWIZZLE = auto()
    MIN_LOD = auto()
    DIM = auto()
    """The `ImageType` for which the instruction's addresses are."""
    RULES = auto()
    # Slots of the sampler.
    CLAMP_X = auto()
    CLAMP_Y = auto()
    CLAMP_Z = auto()
    MAG = auto()
    MIN = auto()
    MIP = auto()
    ZFILTER = auto()
    UNNORMALIZED = auto()
    TRUNCATE = auto()
    BORDER = auto()
    FUNCTION = auto()
    REDUCTION = auto()
    SAMPLER_MIN = auto()
    SAMPLER_MAX = auto()
    LOD_BIAS = auto()
    NO_SEAMS = auto()
    """Whether filters stay on a cube's face."""
    # Slots of one lane's sample, for the functions that share the work.
    REFERENCE = auto()
    """Bits of the F64 with which texels are compared."""
    OFFSETS = auto()
    ADDRESS = auto()
    """Address of a texel that could not be accessed."""


SLOTS = len(Slot)
_IMAGE = {
    Slot.BASE: "base", Slot.WIDTH: "width", Slot.HEIGHT: "height", Slot.DEPTH: "depth", Slot.FIRST_LAYER: "base_array",
    Slot.FIRST_LEVEL: "base_level", Slot.LAST_LEVEL: "last_level", Slot.MOST_LEVEL: "max_mip", Slot.PITCH: "pitch",
    Slot.ROW: "format", Slot.SELECT: "dst_sel", Slot.BORDER_SWIZZLE: "bc_swizzle", Slot.MIN_LOD: "min_lod",
    Slot.TYPE: "type", Slot.TILE: "tiling", Slot.DIM: "compressed",
    Slot.LAYERS: "last_array", Slot.PADDED: "padded",
}
_SAMPLER = {
    Slot.CLAMP_X: "clamp_x", Slot.CLAMP_Y: "clamp_y", Slot.CLAMP_Z: "clamp_z", Slot.MAG: "mag_filter",
    Slot.MIN: "min_filter", Slot.MIP: "mip_filter", Slot.ZFILTER: "z_filter", Slot.UNNORMALIZED: "unnormalized",
    Slot.TRUNCATE: "truncate", Slot.BORDER: "border", Slot.FUNCTION: "compare", Slot.REDUCTION: "reduction",
    Slot.SAMPLER_MIN: "min_lod", Slot.SAMPLER_MAX: "max_lod", Slot.LOD_BIAS: "lod_bias",
    Slot.NO_SEAMS: "no_cube_wrap",
}
_PIECES = 2
_RULES = len(Rules)


def _packed(field: Field) -> list[int]:
    """A field's pieces as numbers: dword, first bit, number of bits and destination bit, eight bits each; 0 if there is
    no piece."""
    numbers, at = [], 0
    for word, first, bits in field:
        numbers.append(word | first << 8 | bits << 16 | at << 24)
        at += bits
    return numbers + [0] * (_PIECES - len(numbers))


def constants() -> set[str]:
    """The tables, as LLVM constants."""

    def table(name: str, numbers: list[int]) -> str:
        return f"@{name} = private constant [{len(numbers)} x i64] [{', '.join(f'i64 {n}' for n in numbers)}]"

    def places(rows: dict[Slot, str], layouts: dict[Rules, Layout]) -> list[int]:
        return [
            n for rules in Rules for name in rows.values() for n in _packed(layouts[rules].get(name, ()))
        ]

    formats: list[int] = []
    for rules in Rules:
        known = formats_of(rules)
        formats += [known[code].row if code in known else 0 for code in range(CODES[rules])]
    return {
        table("image_fields", places(_IMAGE, dict(IMAGE_FIELDS))),
        table("sampler_fields", places(_SAMPLER, dict(SAMPLER_FIELDS))),
        table("image_formats", formats),
        table("image_format_rows", [sum(CODES[r] for r in Rules if r < rules) for rules in Rules]),
    }


class View:
    """A view in a routine: ``name`` is its pointer."""

    def __init__(self, r: Routine, name: str) -> None:
        self.r, self.name = r, name

    def __getitem__(self, slot: Slot) -> Value:
        return self.r.load(self.at(slot), I64)

    def __setitem__(self, slot: Slot, value: Value) -> None:
        self.r.store(self.at(slot), value)

    def at(self, slot: int) -> str:
        """A pointer to a number."""
        return self.r.gep(self.name, slot * 8)

    def real(self, slot: Slot) -> Value:
        """A number that is stored as the bits of an F64."""
        return self[slot].bitcast(F64)

    def is_one_of(self, slot: Slot, *types: ImageType) -> Value:
        """Whether a slot holds one of these types, I1."""
        value, found = self[slot], self.r.const(0, I64).ne(0)
        for kind in types:
            found = found | value.eq(int(kind))
        return found


def room(r: Routine, count: int) -> str:
    """``count`` 64-bit numbers on the stack, allocated at the routine's beginning."""
    name = r.fresh("row")
    r.lines.insert(0, f"{name} = alloca [{count} x i64]")
    return name


def new_view(r: Routine) -> View:
    """A view on the stack."""
    return View(r, room(r, SLOTS))


def bit(a: Value, flag: int) -> Value:
    """Whether a flag of a request is set."""
    return (a & flag).ne(0)


def read(r: Routine) -> None:
    """Body of ``image_view``: fill %view from the descriptors that %a names; returns a `FaultKind` if instructions
    cannot use them."""
    a, view = r.value("%a"), View(r, "%view")
    rules = a.lshr(request.RULES) & 7
    view[Slot.RULES] = rules
    image = r.gep("%state", a & 0xFFFF)
    short = bit(a, request.R128)
    words = room(r, 8)
    for n in range(8):
        word = r.load(r.gep(image, n * 4), I32).zext(I64) if n < 4 else None
        if word is None:
            # If there are only four dwords, the others are not read: the four may be the last of the scalar file.
            place = short.select(r.const(0, I64), n * 4)
            word = short.select(0, r.load(r.gep(image, place), I32).zext(I64))
        r.store(r.gep(words, n * 8), word)
    _fields(r, view, "@image_fields", list(_IMAGE), rules, words)
    _image(r, view, rules, a, r.value("%b").lshr(request.CHIP) & 0xFF)
    sampler = a.lshr(request.SAMPLER) & 0xFFFF
    given = sampler.ne(0)
    at = r.gep("%state", given.select(sampler, a & 0xFFFF))
    for n in range(4):
        r.store(r.gep(words, n * 8), given.select(r.load(r.gep(at, n * 4), I32).zext(I64), 0))
    _fields(r, view, "@sampler_fields", list(_SAMPLER), rules, words)
    bias = view[Slot.LOD_BIAS]
    view[Slot.LOD_BIAS] = (bias ^ 1 << 13) - (1 << 13)
    view[Slot.UNNORMALIZED] = view[Slot.UNNORMALIZED] | bit(a, request.UNORM).zext(I64)
    palette = given & view[Slot.BORDER].eq(3)
    borders = view[Slot.CLAMP_X].uge(4) | view[Slot.CLAMP_Y].uge(4) | view[Slot.CLAMP_Z].uge(4)
    r.when(palette & borders & ~bit(a, request.QUERY), lambda: r.leave(int(FaultKind.BORDER_PALETTE)))
    r.lines.append("ret i32 0")


def _fields(r: Routine, view: View, table: str, slots: list[Slot], rules: Value, words: str) -> None:
    """Read fields into their slots."""
    row = r.gep(table, rules * (len(slots) * _PIECES * 8))
    for index, slot in enumerate(slots):
        total = r.const(0, I64)
        for piece in range(_PIECES):
            place = r.load(r.gep(row, (index * _PIECES + piece) * 8), I64)
            word = r.load(r.gep(words, (place & 7).shl(3)), I64)
            bits = r.const(1, I64).shl(place.lshr(16) & 63) - 1
            total = total | (word.lshr(place.lshr(8) & 31) & bits).shl(place.lshr(24) & 63)
        view[slot] = total


def _image(r: Routine, view: View, rules: Value, a: Value, chip: Value) -> None:
    """Convert the fields of an image to the properties that instructions see."""
    kind, tiling, compressed = view[Slot.TYPE], view[Slot.TILE], view[Slot.DIM]
    bound = kind.uge(8)
    view[Slot.TYPE] = bound.select(kind, 0)
    # Queries of sizes do not depend on the layout of texels.
    touched = bound & ~bit(a, request.QUERY)
    early = rules.eq(int(Rules.GFX6))
    linear = tiling.eq(early.select(r.const(Rules.GFX6.linear, I64), Rules.GFX9.linear))
    r.when(touched & compressed.ne(0), lambda: r.leave(int(FaultKind.COMPRESSED)))
    first = r.load(r.gep("@image_format_rows", rules.shl(3)), I64)
    row = r.load(r.gep("@image_formats", (first + view[Slot.ROW]).shl(3)), I64)
    r.when(touched & row.eq(0), lambda: r.leave(int(FaultKind.FORMAT)))
    samples = kind.uge(int(ImageType.TWO_MSAA))
    r.when(touched & samples & view[Slot.LAST_LEVEL].ne(0), lambda: r.leave(int(FaultKind.SAMPLES)))
    most = early.select(view[Slot.LAST_LEVEL], view[Slot.MOST_LEVEL])
    most = samples.select(0, most)
    tile = image_tiles.found(r, chip, tiling, row.lshr(48), kind, early)
    tile = (touched & ~linear).select(tile, image_tiles.LINEAR)
    r.when(tile.eq(image_tiles.NONE), lambda: r.leave(int(FaultKind.TILED)))
    r.when(tile.eq(image_tiles.UNKNOWN), lambda: r.leave(int(FaultKind.CHANNELS)))
    stuck = tile.ne(image_tiles.LINEAR) & most.ne(0) & ~image_tiles.has_levels(r, tile, rules)
    r.when(stuck, lambda: r.leave(int(FaultKind.LEVELS)))
    view[Slot.TILE] = tile
    view[Slot.ROW] = row
    view[Slot.BASE] = view[Slot.BASE].shl(8)
    view[Slot.WIDTH] = view[Slot.WIDTH] + 1
    flat = view.is_one_of(Slot.TYPE, ImageType.ONE, ImageType.ONE_ARRAY)
    view[Slot.HEIGHT] = flat.select(r.const(1, I64), view[Slot.HEIGHT] + 1)
    three = kind.eq(int(ImageType.THREE))
    array = view.is_one_of(
        Slot.TYPE, ImageType.CUBE, ImageType.ONE_ARRAY, ImageType.TWO_ARRAY, ImageType.TWO_MSAA_ARRAY
    )
    deep = view[Slot.DEPTH]
    last = (early & ~three).select(view[Slot.LAYERS], deep)
    cubes = kind.eq(int(ImageType.CUBE)).select(r.const(6, I64), 1)
    view[Slot.STORED] = array.select((deep + 1) * cubes, view[Slot.FIRST_LAYER] + 1)
    layer = three.select(0, view[Slot.FIRST_LAYER])
    view[Slot.DEPTH] = three.select(deep + 1, 1)
    view[Slot.FIRST_LAYER] = layer
    view[Slot.LAYERS] = array.select((last + 1).usub_sat(layer), 1)
    view[Slot.MOST_LEVEL] = most
    view[Slot.FIRST_LEVEL] = samples.select(0, view[Slot.FIRST_LEVEL])
    own_pitch = kind.eq(int(ImageType.ONE)) | kind.eq(int(ImageType.TWO)) | kind.eq(int(ImageType.TWO_MSAA))
    pitch = view[Slot.PITCH]
    gfx9 = rules.ule(int(Rules.GFX9))
    own = early | most.eq(0) & (gfx9 | own_pitch & pitch.ne(0))
    view[Slot.PITCH] = own.select(pitch + 1, 0)
    # On GFX9, the image and not the instruction determines what the addresses mean, except for the layer, so DIM is set
    # from TYPE.
    declared = (a.lshr(request.DIM) & 7) + 8
    layered = bit(a, request.DA)
    by_type = layered.select(_mapped(view, _WITH_LAYER), _mapped(view, _WITHOUT_LAYER))
    view[Slot.DIM] = gfx9.select(by_type, declared)


_WITH_LAYER = {
    ImageType.ONE: ImageType.ONE_ARRAY, ImageType.TWO: ImageType.TWO_ARRAY,
    ImageType.TWO_MSAA: ImageType.TWO_MSAA_ARRAY,
}
_WITHOUT_LAYER = {other: one for one, other in _WITH_LAYER.items()} | {ImageType.CUBE: ImageType.TWO}


def _mapped(view: View, types: dict[ImageType, ImageType]) -> Value:
    kind = found = view[Slot.TYPE]
    for one, other in types.items():
        found = kind.eq(int(one)).select(int(other), found)
    return found


__all__ = ["PARAMETERS", "SLOTS", "Slot", "View", "bit", "constants", "new_view", "read", "room"]
