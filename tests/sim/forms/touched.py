"""The registers that an instruction's translation touches, and those that the decoded instruction names.

    python -m tests.sim.forms.touched [TARGET...] [--every N]

`Recorder` is the translator's builder, which notes every register and dword of the transfer buffer that a semantic
names. A vector register must belong to an operand; a scalar one must belong to an operand or be implied by the
instruction (`implied`).
"""

from __future__ import annotations

import argparse
import itertools
import sys
from collections.abc import Sequence

from rocdbg.arch.targets import Generation, target_by_name
from rocdbg.isa.instruction import Instruction, OperandKind
from rocdbg.sim.core import image_request, layout
from rocdbg.sim.core.builder import Value
from rocdbg.sim.core.layout import EXEC_LO, MAX_DATA, SGPR_COUNT, VCC_LO, VGPR_COUNT, Mode, mode_key
from rocdbg.sim.semantics.access import Context, Unsupported
from rocdbg.sim.semantics.registry import lookup
from rocdbg.sim.translator.routine_names import PLACE_BITS, helper_names
from rocdbg.sim.translator.translate import execute
from rocdbg.sim.translator.wave_builder import WaveBuilder
from tests.sim.forms.listing import TARGETS, forms

HELPERS = {name: slot for slot, name in enumerate(helper_names())}
_WORD = 0xFFFFFFFF


class Recorder(WaveBuilder):
    """Records what is touched: VGPR numbers (AGPR n is 256 + n), scalar codes, dwords of the transfer buffer."""

    def __init__(self, wave_size: int, width: int = 8, masked_stores: bool = False) -> None:
        super().__init__(wave_size, width, masked_stores, HELPERS)
        self.vectors: set[int] = set()
        self.scalars: set[int] = set()
        self.data: set[int] = set()

    def forget(self) -> None:
        self.vectors.clear()
        self.scalars.clear()
        self.data.clear()

    def read_vgpr(self, number: int) -> Value:
        self.vectors.add(number)
        return super().read_vgpr(number)

    def write_vgpr(self, number: int, value: Value) -> None:
        self.vectors.add(number)
        super().write_vgpr(number, value)

    def read_lane(self, vgpr: int, lane: Value) -> Value:
        self.vectors.add(vgpr)
        return super().read_lane(vgpr, lane)

    def write_lane(self, vgpr: int, lane: Value, value: Value) -> None:
        self.vectors.add(vgpr)
        super().write_lane(vgpr, lane, value)

    def shuffle(self, vgpr: int, sources: Sequence[int | None], dword: int) -> None:
        self.vectors.add(vgpr)
        self.data.add(dword)
        assert all(s is None or 0 <= s < self.wave_size for s in sources) and len(sources) == self.wave_size
        super().shuffle(vgpr, sources, dword)

    def permute_mask(self, mask: Value, sources: Sequence[int | None]) -> Value:
        assert all(s is None or 0 <= s < self.wave_size for s in sources) and len(sources) == self.wave_size
        return super().permute_mask(mask, sources)

    def read_sgpr(self, code: int, dwords: int = 1) -> Value:
        self.scalars.update(range(code, code + dwords))
        return super().read_sgpr(code, dwords)

    def write_sgpr(self, code: int, value: Value) -> None:
        self.scalars.update(range(code, code + value.type.bits // 32))
        super().write_sgpr(code, value)

    def read_lane_mask(self, code: int) -> Value:
        self.scalars.update(range(code, code + self.wave_size // 32))
        return super().read_lane_mask(code)

    def write_lane_mask(self, code: int, bit: Value) -> None:
        self.scalars.update(range(code, code + self.wave_size // 32))
        super().write_lane_mask(code, bit)

    def read_data(self, dword: int) -> Value:
        self.data.add(dword)
        return super().read_data(dword)

    def write_data(self, dword: int, value: Value) -> None:
        self.data.add(dword)
        super().write_data(dword, value)

    def read_transfer(self, dword: int, lane: int = 0) -> Value:
        self.data.add(dword)
        return super().read_transfer(dword, lane)

    def write_scalar_data(self, dword: int, value: Value) -> None:
        self.data.add(dword)
        super().write_scalar_data(dword, value)

    def call(self, helper: str, args: Sequence[Value]) -> None:
        numbers = [self.constant(a) for a in args]
        if helper.startswith("lds_"):
            self._lds(helper, numbers)
        elif helper.startswith("matrix_"):
            self._matrix(helper, numbers)
        elif helper.endswith("_buffer"):
            place = numbers[2]
            assert place is not None
            code = ((place & 0x3FF) - layout.SGPRS) // 4
            self.scalars.update(range(code, code + 4))
            if "format" in helper:
                self.data.update(range(4))
        elif helper.endswith(("_image", "_texture")):
            self._image(helper, numbers)
        sized = helper.partition("_")[0] in ("load", "store", "sload") and "format" not in helper
        if sized and numbers[1] is not None and not helper.endswith("_image"):
            self.data.update(range(-(-numbers[1] // 4)))
        super().call(helper, args)

    def _image(self, helper: str, numbers: list[int | None]) -> None:
        """The descriptors and, of GFX9's addresses (whose number the encoding does not contain), the first."""
        a, b = numbers[2:4]
        assert a is not None
        for shift, words in ((0, 4 if a & image_request.R128 else 8), (image_request.SAMPLER, 4)):
            place = a >> shift & 0xFFFF
            if place:
                code = (place - layout.SGPRS) // 4
                self.scalars.update(range(code, code + words))
        if b is not None and b & (1 << image_request.COUNT) - 1:
            self._registers(b & (1 << image_request.COUNT) - 1, 1)
            first = ((b & (1 << image_request.COUNT) - 1) - layout.VGPRS) // (4 * self.wave_size)
            assert first + (b >> image_request.COUNT & 0xFFF) <= VGPR_COUNT * (1 + (first >= VGPR_COUNT))
        self.data.update(range(4))
        self.data.update(range(image_request.ADDRESSES, image_request.ADDRESSES + image_request.MOST_ADDRESSES))

    def _registers(self, offset: int, count: int) -> None:
        first, odd = divmod(offset - layout.VGPRS, 4 * self.wave_size)
        assert not odd
        self.vectors.update(range(first, first + count))

    def _lds(self, helper: str, numbers: list[int | None]) -> None:
        size, places = numbers[1:3]
        assert size is not None and places is not None
        two = "2_" in helper
        at = [places >> n * PLACE_BITS & (1 << PLACE_BITS) - 1 for n in range(3)]
        self._registers(at[0], 1)
        words = max(1, size // 4)
        if "write" in helper:
            for place in at[1 : 3 if two else 2]:
                self._registers(place, words)
        else:
            self._registers(at[1], words * (2 if two else 1))

    def _matrix(self, helper: str, numbers: list[int | None]) -> None:
        """Places of A, B, C and D; `test_matrix_operands` compares the number of registers in each with the operands.
        """
        for place in (numbers[0], numbers[1], numbers[3]):
            assert place is not None
            self._registers(place, 1)


def declared(instruction: Instruction, context: Context) -> tuple[set[int], set[int]]:
    """The vector registers and scalar codes that an instruction's operands name."""
    vectors: set[int] = set()
    scalars: set[int] = set()
    for operand in instruction.operands:
        numbers = range(operand.index, operand.index + max(1, operand.dwords))
        match operand.kind:
            case OperandKind.VGPR:
                vectors.update(numbers)
            case OperandKind.AGPR:
                vectors.update(VGPR_COUNT + n for n in numbers)
            case OperandKind.SGPR | OperandKind.SPECIAL:
                scalars.update(numbers)
            case OperandKind.TTMP:
                scalars.update(context.target.first_ttmp + n for n in numbers)
    return vectors, scalars


def implied(instruction: Instruction, context: Context) -> set[int]:
    """Scalar registers that an instruction may touch in addition to its operands."""
    name, codes = instruction.name, {EXEC_LO, EXEC_LO + 1, VCC_LO, VCC_LO + 1, context.m0}
    if context.exceptions:
        codes.update(range(SGPR_COUNT, SGPR_COUNT + 14))
    if "_movrel" in name:
        codes.update(range(VCC_LO))
    if name.startswith("s_cbranch_") and ("fork" in name or "join" in name):
        codes.update(range(32))
    if context.target.flat_scratch_code >= 0 and instruction.encoding in ("FLAT", "SCRATCH"):
        codes.update((context.target.flat_scratch_code, context.target.flat_scratch_code + 1))
    if context.generation < Generation.GFX9 and instruction.encoding == "DS":
        codes.update((SGPR_COUNT, SGPR_COUNT + 1))  # the lanes below M0
    return codes


def excess(recorder: Recorder, instruction: Instruction, context: Context, name: str = "f") -> str:
    """The registers that an instruction's translation touches but must not; empty if there are none (or if it is
    refused).

    The function ``name`` is added to the recorder's, unless the instruction is refused.
    """
    semantic = lookup(instruction.name)
    assert semantic is not None
    recorder.begin(name, instruction.address, 1)
    recorder.instruction(instruction.address, instruction.size)
    recorder.forget()
    try:
        execute(recorder, instruction, semantic, context)
    except Unsupported:
        return ""
    recorder.finish()
    vectors, scalars = declared(instruction, context)
    found = []
    if more := recorder.vectors - vectors:
        found.append(f"VGPRs {sorted(more)}")
    if more := recorder.scalars - scalars - implied(instruction, context):
        found.append(f"SGPRs {sorted(more)}")
    if more := {n for n in recorder.scalars if n >= SGPR_COUNT} - implied(instruction, context):
        found.append(f"scalar codes {sorted(more)}")
    if more := {n for n in recorder.data if not 0 <= n < MAX_DATA}:
        found.append(f"dwords {sorted(more)} of the transfer buffer")
    return ", ".join(found)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("targets", nargs="*", default=TARGETS)
    parser.add_argument("--every", type=int, default=1, metavar="N", help="look at one of N forms")
    parser.add_argument("--mode", type=lambda text: int(text, 16), default=0x3F0, help="MODE, hexadecimal")
    parser.add_argument("--exceptions", action="store_true", help="watch arithmetic exceptions")
    arguments = parser.parse_args()
    bad = 0
    for name in arguments.targets or TARGETS:
        target = target_by_name(name)
        for wave_size in target.wave_sizes:
            context = Context(target, wave_size, Mode(mode_key(arguments.mode)), arguments.exceptions)
            recorder, total = Recorder(wave_size), 0
            for instruction in itertools.islice(forms(name, wave_size), 0, None, arguments.every):
                total += 1
                recorder.functions.clear()
                try:
                    what = excess(recorder, instruction, context)
                except Exception as error:
                    what = f"{type(error).__name__}: {error}"
                if what:
                    bad += 1
                    print(f"{name} wave{wave_size} {instruction.text}: {what}", flush=True)
            print(f"{name} wave{wave_size}: {total} forms", flush=True)
    return bad != 0


if __name__ == "__main__":
    sys.exit(main())
