"""Runs single instructions on arrays of lanes: the fixture ``run``.

An instruction is built by hand: source k is in v[8k], the destination in v[100], masks (VCC, carry) are arguments. The
instruction is translated like any block, compiled, and run on as many waves as the arrays need.
"""

from __future__ import annotations

import ctypes
import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import llvmlite.binding as llvm
import numpy as np
import pytest

from rocdbg.arch.targets import TARGETS
from rocdbg.isa.instruction import Instruction, Operand, OperandKind
from rocdbg.sim.core import layout
from rocdbg.sim.core.wave import block_of_size
from rocdbg.sim.engine.native_jit import _masked_ternary_logic
from rocdbg.sim.semantics.access import Context
from rocdbg.sim.translator.blocks import Block
from rocdbg.sim.translator.translate import translate
from rocdbg.sim.translator.wave_builder import WaveBuilder

MODE_DEFAULT = 0x3F0
"""RNE, all subnormals, DX10_CLAMP, IEEE: the setting that compilers request on GFX9 to GFX11."""
MODE_FLUSH = 0x300
RESULT = 100
WAVE = 64


@dataclass
class Outcome:
    """The results of an instruction: the destination by lane, mask results by lane, scalar state of the last wave.
    """

    value: np.ndarray
    masks: dict[int, np.ndarray] = field(default_factory=dict)
    scc: int = 0
    sgprs: np.ndarray | None = None


class Runner:
    """Compiles instructions, and caches them."""

    def __init__(self) -> None:
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        self._functions: dict[tuple[object, ...], Callable[[int, int], int]] = {}
        self._keep: list[object] = []

    def function(self, instruction: Instruction, target: str, mode: int) -> Callable[[int, int], int]:
        key = (repr(instruction), target, mode)
        if key not in self._functions:
            context = Context(TARGETS[target], WAVE, layout.Mode(layout.mode_key(mode)))
            name = f"f{len(self._functions)}"
            builder = WaveBuilder(WAVE, 8, False, {})
            made = translate(builder, [Block(0, (instruction,))], [name], context)
            assert len(made.blocks[0].instructions) == 1, f"unsupported: {instruction.text}"
            engine = self._engine(made.text)
            kind = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
            self._functions[key] = kind(engine.get_function_address(name))
        return self._functions[key]

    def compile(
        self, instructions: Sequence[Instruction], context: Context, optimised: bool = False
    ) -> list[Callable[[int, int], int]]:
        """Functions of several instructions, in as few modules as `translate` makes of them."""
        functions: list[Callable[[int, int], int]] = []
        kind = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
        while len(functions) < len(instructions):
            builder = WaveBuilder(context.wave_size, 8, False, {})
            blocks = [Block(0, (instruction,)) for instruction in instructions[len(functions) :]]
            names = [f"g{k}" for k in range(len(blocks))]
            made = translate(builder, blocks, names, context)
            done = list(itertools.takewhile(lambda block: block.instructions, made.blocks))
            assert done, f"unsupported: {blocks[0].instructions[0].text}"
            engine = self._engine(made.text, optimised)
            functions += [kind(engine.get_function_address(name)) for name in names[: len(done)]]
        return functions

    def _engine(self, text: str, optimised: bool = False) -> llvm.ExecutionEngine:
        module = llvm.parse_assembly(text)
        machine = llvm.Target.from_default_triple().create_target_machine(
            cpu=llvm.get_host_cpu_name(), features=llvm.get_host_cpu_features().flatten(), opt=int(optimised)
        )
        code = bytes(machine.emit_object(module))
        if optimised and _masked_ternary_logic(code):
            return self._engine(text)
        engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)
        engine.add_object_file(llvm.ObjectFileRef.from_data(code))
        engine.finalize_object()
        self._keep += [module, machine, engine]
        return engine

    def __call__(
        self,
        name: str,
        *sources: np.ndarray | int | float,
        result: str = "u4",
        target: str = "gfx90a",
        mode: int = MODE_DEFAULT,
        old: np.ndarray | None = None,
        masks: Mapping[int, np.ndarray] | None = None,
        modifiers: Mapping[str, int] | None = None,
        encoding: str = "VOP3",
        neg: int = 0,
        abs: int = 0,
        mask_source: bool = False,
        mask_result: bool = False,
        vdst: bool = True,
        exec: np.ndarray | None = None,
    ) -> Outcome:
        """Run a vector instruction.

        ``sources``: arrays (their item size is the register width) or inline constants. ``old``:
        destination before.
        ``masks``: lane masks by SGPR code, one bool per lane. ``mask_source``: a third source in s[20:21];
        ``mask_result``:
        a scalar destination s[22:23]. ``neg``, ``abs``: bit k for source k.
        """
        arrays = [s for s in sources if isinstance(s, np.ndarray)]
        count = len(arrays[0]) if arrays else WAVE
        operands: list[Operand] = []
        dtype = np.dtype(result)
        if vdst:
            operands.append(
                Operand(
                    "vdst", OperandKind.VGPR, RESULT, max(1, dtype.itemsize // 4), bits=dtype.itemsize * 8
                )
            )
        if mask_result:
            operands.append(Operand("sdst", OperandKind.SGPR, 22, 2, bits=64))
        fields = {"VOP3": ("src0", "src1", "src2"), "VOP2": ("src0", "vsrc1", "src2")}.get(
            encoding, ("src0", "src1", "src2")
        )
        for k, source in enumerate(sources):
            signs = {"neg": bool(neg >> k & 1), "abs": bool(abs >> k & 1)}
            if isinstance(source, np.ndarray):
                size = source.dtype.itemsize
                operands.append(
                    Operand(
                        fields[k], OperandKind.VGPR, 8 * k, max(1, size // 4), bits=max(16, size * 8), **signs
                    )
                )
            else:
                operands.append(Operand(fields[k], OperandKind.CONSTANT, value=int(source), **signs))
        if mask_source:
            operands.append(Operand("src2", OperandKind.SGPR, 20, 2, bits=64))
        instruction = Instruction(0, 8, encoding, name, name, tuple(operands), dict(modifiers or {}), name)
        function = self.function(instruction, target, mode)
        waves = -(-count // WAVE)
        found = np.zeros(waves * WAVE, dtype)
        found_masks = {code: np.zeros(waves * WAVE, bool) for code in (22, layout.VCC_LO, layout.EXEC_LO)}
        outcome = Outcome(found)
        for wave in range(waves):
            part = slice(wave * WAVE, (wave + 1) * WAVE)
            block = block_of_size(layout.state_size(WAVE, True))
            state = block.state
            self._scalar_mask(state, layout.EXEC_LO, np.ones(WAVE, bool) if exec is None else exec)
            block.cell("limit")[0] = 1 << 40
            for code, lanes in (masks or {}).items():
                self._scalar_mask(state, code, lanes[part])
            for k, source in enumerate(sources):
                if isinstance(source, np.ndarray):
                    self._load(state, 8 * k, source[part])
            if old is not None:
                self._load(state, RESULT, old[part])
            env = np.zeros(layout.ENV_SIZE, np.uint8)
            assert function(state.ctypes.data, env.ctypes.data) == 0
            found[part] = self._read(state, RESULT, dtype)
            for code, bits in found_masks.items():
                word = int(state[layout.sgpr_offset(code) :][:8].view("<u8")[0])
                bits[part] = [word >> lane & 1 for lane in range(WAVE)]
        outcome.value = found[:count]
        outcome.masks = {code: bits[:count] for code, bits in found_masks.items()}
        return outcome

    def scalar(
        self,
        name: str,
        *sources: int,
        width: int = 32,
        source_width: int = 32,
        scc: int = 0,
        old: int = 0,
        simm16: int | None = None,
        exec: int = (1 << 64) - 1,
        target: str = "gfx90a",
        mode: int = MODE_DEFAULT,
        writes: bool = True,
    ) -> tuple[int, int, int]:
        """Run a scalar instruction on s[8k]; return (destination s[40:41], SCC, EXEC)."""
        operands = [Operand("sdst", OperandKind.SGPR, 40, width // 32, bits=width)] if writes else []
        widths = source_width if isinstance(source_width, tuple) else (source_width,) * len(sources)
        for k in range(len(sources)):
            operands.append(Operand(f"ssrc{k}", OperandKind.SGPR, 8 * k, widths[k] // 32, bits=widths[k]))
        if simm16 is not None:
            operands.append(Operand("simm16", OperandKind.IMMEDIATE, value=simm16 & 0xFFFF))
        instruction = Instruction(0, 4, "SOP", name, name, tuple(operands), {}, name)
        function = self.function(instruction, target, mode)
        block = block_of_size(layout.state_size(WAVE, True))
        state = block.state
        block.cell("limit")[0] = 1 << 40
        state[layout.HEADER["scc"].offset] = scc
        for k, value in enumerate(sources):
            state[layout.sgpr_offset(8 * k) :][:8].view("<u8")[0] = value & (1 << 64) - 1
        state[layout.sgpr_offset(40) :][:8].view("<u8")[0] = old & (1 << 64) - 1
        state[layout.sgpr_offset(layout.EXEC_LO) :][:8].view("<u8")[0] = exec
        env = np.zeros(layout.ENV_SIZE, np.uint8)
        assert function(state.ctypes.data, env.ctypes.data) == 0

        def word(code: int) -> int:
            return int(state[layout.sgpr_offset(code) :][:8].view("<u8")[0])

        return word(40) & (1 << width) - 1, int(state[layout.HEADER["scc"].offset]), word(layout.EXEC_LO)

    def registers(
        self,
        instruction: Instruction,
        before: Mapping[int, np.ndarray],
        wanted: tuple[int, ...],
        target: str,
        m0: int = 0,
    ) -> dict[int, np.ndarray]:
        """Run any instruction on given VGPRs (64 lanes each); return the requested ones after it."""
        state = self._fresh_state(target, m0)
        for number, values in before.items():
            self._load(state, number, values)
        self._execute(instruction, target, state)
        return {number: self._read(state, number, np.dtype(np.uint32)) for number in wanted}

    def scalar_registers(
        self, instruction: Instruction, before: Mapping[int, int], target: str, m0: int = 0
    ) -> dict[int, int]:
        """Run any instruction on given SGPRs; return those that have changed."""
        state = self._fresh_state(target, m0)
        file = state[layout.SGPRS : layout.SGPRS + 4 * layout.SGPR_COUNT].view("<u4")
        for number, value in before.items():
            file[number] = value
        self._execute(instruction, target, state)
        return {number: int(file[number]) for number, value in before.items() if file[number] != value}

    def _fresh_state(self, target: str, m0: int) -> np.ndarray:
        block = block_of_size(layout.state_size(WAVE, True))
        state = block.state
        self._scalar_mask(state, layout.EXEC_LO, np.ones(WAVE, bool))
        block.cell("limit")[0] = 1 << 40
        code = 125 if TARGETS[target].generation >= 11 else 124
        state[layout.sgpr_offset(code) :][:4].view("<u4")[0] = m0
        block.cell("vgpr_limit")[0] = layout.VGPR_COUNT
        return state

    def _execute(self, instruction: Instruction, target: str, state: np.ndarray) -> None:
        env = np.zeros(layout.ENV_SIZE, np.uint8)
        function = self.function(instruction, target, MODE_DEFAULT)
        assert function(state.ctypes.data, env.ctypes.data) == 0

    @staticmethod
    def _scalar_mask(state: np.ndarray, code: int, lanes: np.ndarray) -> None:
        word = sum(1 << n for n, bit in enumerate(lanes) if bit)
        state[layout.sgpr_offset(code) :][:8].view("<u8")[0] = word

    @staticmethod
    def _load(state: np.ndarray, number: int, values: np.ndarray) -> None:
        if values.dtype.itemsize == 2:
            values = values.view(np.uint16).astype(np.uint32)
        words = np.ascontiguousarray(values).view(np.uint32).reshape(len(values), -1)
        for n in range(words.shape[1]):
            offset = layout.vgpr_offset(number + n, WAVE)
            state[offset : offset + 4 * len(values)].view(np.uint32)[:] = words[:, n]

    @staticmethod
    def _read(state: np.ndarray, number: int, dtype: np.dtype) -> np.ndarray:
        count = max(1, dtype.itemsize // 4)
        words = np.empty((WAVE, count), np.uint32)
        for n in range(count):
            offset = layout.vgpr_offset(number + n, WAVE)
            words[:, n] = state[offset : offset + 4 * WAVE].view(np.uint32)
        if dtype.itemsize == 2:
            return words[:, 0].astype(np.uint16).view(dtype)
        return words.reshape(-1).view(dtype)


@pytest.fixture(scope="session")
def run() -> Runner:
    return Runner()
