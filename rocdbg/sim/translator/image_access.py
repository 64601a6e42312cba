"""Native routines of image instructions with integer coordinates: loads, stores, the addresses of atomics, and queries
of sizes.

Arguments ``a`` and ``b`` are those of `rocdbg.sim.core.image_request`. Addresses are in the transfer buffer from dword
``ADDRESSES`` on; data, one dword per component regardless of the mask of components, from dword 0 on. Texels outside
the image read 0 (or 1 in a component that DST_SEL sets to 1) and ignore writes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocdbg.sim.core import image_request as request
from rocdbg.sim.core import layout
from rocdbg.sim.core.builder import I8, I16, I32, I64, Value
from rocdbg.sim.core.layout import Access, FaultKind, Space
from rocdbg.sim.data.buffer_formats import NumberFormat
from rocdbg.sim.images.image_descriptor import ImageType
from rocdbg.sim.translator import image_texels, image_tiles, image_view
from rocdbg.sim.translator.format_conversion import to_memory, widen
from rocdbg.sim.translator.image_view import Slot, View, bit, new_view, room

if TYPE_CHECKING:
    from rocdbg.sim.translator.routine import Routine
    from rocdbg.sim.translator.runtime import Runtime

_READ = int(layout.PageFlags.READ)
WHOLE_TEXEL = -1
"""The size that means a whole texel."""


class ImageRoutines:
    """Builds the routines of the part ``image``, and the code that atomics and samples share with them."""

    def __init__(self, runtime: Runtime) -> None:
        self.runtime = runtime

    def define(self) -> None:
        """Add all routines of the part."""
        args = "ptr %state, ptr %env, i64 %mask, i64 %size, i64 %a, i64 %b"
        self.define_view()
        self.define_texel()
        self.define_translation()
        self.runtime.define("load_image", args, self.load)
        self.runtime.define("store_image", args, self.store)
        self.runtime.define("check_image", args, self.check)
        self.runtime.define("info_image", args, self.info)

    def define_view(self) -> None:
        """Add ``image_view``."""
        self.runtime.declarations |= image_view.constants() | image_tiles.constants()
        self.runtime.define("image_view", image_view.PARAMETERS, image_view.read, "internal")

    def define_texel(self) -> None:
        """Add ``image_texel``."""
        self.runtime.declarations.add(image_texels.srgb_table())
        self.runtime.define(
            "image_texel", image_texels.PARAMETERS, lambda r: image_texels.texel(self.runtime, r), "internal"
        )

    def define_translation(self) -> None:
        """Add ``translate_image``, with which atomics and stores begin."""
        parameters = "ptr %state, ptr %env, i64 %mask, i64 %size, i64 %need, i64 %a, i64 %b"
        self.runtime.define("translate_image", parameters, self.translate, "internal")

    # -- common beginning --------------------

    def begin(self, r: Routine, access: Access) -> View:
        """Clear the fault record, fetch GFX9's addresses, and read the descriptors; emits a return from the routine if
        they are unsupported.
        """
        r.set_env("fault_lanes", 0)
        r.set_env("fault_kind", 0)
        r.set_env("fault_access", int(access))
        r.set_env("fault_space", int(Space.IMAGE))
        _collect(r)
        view = new_view(r)
        kind = r.new(I32, True, f"call i32 @image_view(ptr %state, i64 %a, i64 %b, ptr {view.name})")
        size = view[Slot.ROW].lshr(48)
        r.set_env("texel_size", size)
        r.set_env("fault_size", size.trunc(I32))

        def refuse() -> None:
            r.set_env("fault_kind", kind)
            r.set_env("fault_lanes", r.value("%mask"))
            r.leave(1)

        r.when(kind.ne(0) & r.value("%mask").ne(0), refuse)
        return view

    @staticmethod
    def finish(r: Routine) -> None:
        """Return whether a lane has faulted."""
        r.lines.append(f"ret i32 {r.env('fault_lanes').ne(0).zext(I32).ref}")

    # -- routines --------------------

    def load(self, r: Routine) -> None:
        """Body of ``load_image``."""
        view, a = self.begin(r, Access.LOAD), r.value("%a")
        f = image_texels.format_of(r, view, a)
        out = room(r, 4)
        raw = bit(a, request.RAW)
        bound = view[Slot.TYPE].ne(0)

        def lane(lane: Value) -> None:
            x, y, z, level = image_texels.coordinates(r, view, lane, a)
            status = call_texel(r, view, a, x, y, z, level, out)
            channels = [r.load(r.gep(out, n * 8), I64).trunc(I32) for n in range(4)]
            for n in range(4):
                value = raw.select(channels[n], image_texels.select(r, f, channels, n))
                r.store(r.data(n, lane), bound.select(value, 0))
            r.when(status.ne(0), lambda: self.runtime.fault_at(r, lane, status.zext(I64), view[Slot.ADDRESS]))

        r.for_lanes(r.value("%mask"), lane)
        self.finish(r)

    def translate(self, r: Routine) -> None:
        """Body of ``translate_image``: the host address of each lane's texel and a stride of 4, or 0 if the access is
        dropped."""
        view, a = self.begin(r, Access.STORE), r.value("%a")
        need = r.value("%need")
        r.set_env("fault_access", need.eq(3).select(r.const(int(Access.ATOMIC), I32), int(Access.STORE)))
        size = r.value("%size").eq(WHOLE_TEXEL).select(view[Slot.ROW].lshr(48), r.value("%size"))
        r.set_env("fault_size", size.trunc(I32))

        def lane(lane: Value) -> None:
            x, y, z, level = image_texels.coordinates(r, view, lane, a)
            inside, address = image_texels.place(r, view, x, y, z, level)
            pointer, kind = self.runtime._page(r, address, size)
            r.store(r.slot(layout.ENV_POINTER, lane, 8), pointer)
            r.store(r.slot(layout.ENV_KIND, lane, 8), inside.select(r.const(4, I64), 0))
            r.when(inside & kind.ne(0), lambda: self.runtime.fault_at(r, lane, kind, address))

        r.for_lanes(r.value("%mask"), lane)
        self.finish(r)

    def _located(self, r: Routine, size: str = "%size") -> None:
        """Call ``translate_image`` for a store, and emit a return of 1 from the routine if a lane faults."""
        call = f"call i32 @translate_image(ptr %state, ptr %env, i64 %mask, i64 {size}, i64 2, i64 %a, i64 %b)"
        r.when(r.new(I32, True, call).ne(0), lambda: r.leave(1))

    def check(self, r: Routine) -> None:
        """Body of ``check_image``: finds where a store goes, and whether it is legal."""
        self._located(r)
        r.lines.append("ret i32 0")

    def store(self, r: Routine) -> None:
        """Body of ``store_image``. A channel in memory gets the component whose selector names it, or 0."""
        self._located(r)
        view, a = self.begin(r, Access.STORE), r.value("%a")
        f = image_texels.format_of(r, view, a)
        raw = bit(a, request.RAW)
        special = f.number.eq(int(NumberFormat.SRGB)) | f.number.eq(int(NumberFormat.SHARED))

        def refuse() -> None:
            r.set_env("fault_kind", int(FaultKind.READ_ONLY_FORMAT))
            r.set_env("fault_lanes", r.value("%mask"))
            r.leave(1)

        r.when(special & ~raw & view[Slot.TYPE].ne(0) & r.value("%mask").ne(0), refuse)
        words = room(r, 4)

        def lane(lane: Value) -> None:
            given = [r.load(r.data(n, lane), I32) for n in range(4)]
            values = [widen(r, f, word) for word in given]
            total = [r.const(0, I32) for _ in range(4)]
            for channel in range(4):
                value = r.const(0, I32)
                for n in reversed(range(4)):
                    value = (f.selectors.lshr(3 * n) & 7).eq(4 + channel).select(values[n], value)
                at = f.offset(channel)
                bits = to_memory(r, f, value, channel).shl((at & 31).trunc(I32))
                for dword in range(4):
                    total[dword] = total[dword] | at.lshr(5).eq(dword).select(bits, 0)
            for dword in range(4):
                r.store(r.gep(words, dword * 4), raw.select(given[dword], total[dword]))
            pointer = r.load(r.slot(layout.ENV_POINTER, lane, 8), I64)
            live = r.load(r.slot(layout.ENV_KIND, lane, 8), I64).ne(0)
            size = live.select(f.size, 0)
            r.when(size.eq(1), lambda: r.store(r.pointer(pointer), r.load(words, I8)))
            r.when(size.eq(2), lambda: r.store(r.pointer(pointer), r.load(words, I16)))

            def dword_at(n: Value) -> None:
                r.store(r.pointer(pointer + n.shl(2)), r.load(r.gep(words, n.shl(2)), I32))

            r.for_range(size.lshr(2), dword_at)

        r.for_lanes(r.value("%mask"), lane)
        r.lines.append("ret i32 0")

    def info(self, r: Routine) -> None:
        """Body of ``info_image``: width, height, depth or layers of the level that the address gives, and the number of
        levels. A level that does not exist has no size."""
        view, a = self.begin(r, Access.LOAD), r.value("%a")
        three = view[Slot.TYPE].eq(int(ImageType.THREE))
        count = (view[Slot.LAST_LEVEL] + 1).usub_sat(view[Slot.FIRST_LEVEL])
        samples = view[Slot.TYPE].uge(int(ImageType.TWO_MSAA))
        count = samples.select(r.const(1, I64), count)
        bound = view[Slot.TYPE].ne(0)

        def lane(lane: Value) -> None:
            level = image_texels.Addresses(r, lane, bit(a, request.A16)).part(r.const(0, I64)).zext(I64)
            exists = level.ult(count) & bound
            at = view[Slot.FIRST_LEVEL] + level
            depth = three.select(image_texels.extent(view, Slot.DEPTH, at), view[Slot.LAYERS])
            width, height = (image_texels.extent(view, slot, at) for slot in (Slot.WIDTH, Slot.HEIGHT))
            for n, size in enumerate((width, height, depth)):
                r.store(r.data(n, lane), exists.select(size, 0).trunc(I32))
            r.store(r.data(3, lane), bound.select(count, 0).trunc(I32))

        r.for_lanes(r.value("%mask"), lane)
        r.lines.append("ret i32 0")


def call_texel(
    r: Routine, view: View, a: Value, x: Value, y: Value, z: Value, level: Value, out: str
) -> Value:
    """Call ``image_texel`` for the request ``a``; returns its status, I32."""
    at = ", ".join(f"i64 {value.ref}" for value in (x, y, z, level))
    return r.new(
        I32, True, f"call i32 @image_texel(ptr %env, ptr {view.name}, i64 {a.ref}, i64 {_READ}, {at}, ptr {out})"
    )


def _collect(r: Routine) -> None:
    """Up to GFX9: copy the address registers to the transfer buffer. All registers that an address may occupy are read
    if the wave has them; the dwords for the others become 0, so that nothing is left from an earlier instruction.
    """
    b = r.value("%b")
    first = b & (1 << request.COUNT) - 1
    count = b.lshr(request.COUNT) & 0xFFF
    number = (first - layout.VGPRS).udiv(r.wave_size * 4)
    limit = r.state("vgpr_limit").zext(I64)

    def bring() -> None:
        def lane(lane: Value) -> None:
            def one(n: Value) -> None:
                known = (number + n).ult(limit) & n.ult(count)
                offset = known.select(first + n * (r.wave_size * 4), layout.VGPRS)
                word = r.load(r.gep("%state", offset + lane.shl(2)), I32)
                r.store(r.data(n + request.ADDRESSES, lane), known.select(word, 0))

            r.for_range(r.const(request.MOST_ADDRESSES, I64), one)

        # For all lanes, even inactive ones: derivatives are differences between neighbours.
        r.for_range(r.const(r.wave_size, I64), lane)

    r.when(first.ne(0), bring)


__all__ = ["WHOLE_TEXEL", "ImageRoutines", "call_texel"]
