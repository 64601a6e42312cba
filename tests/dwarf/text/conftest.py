"""The notation of the tables in this folder: expressions as text, results as text, and one small world.

An expression is operations separated by `;`, without their prefixes: `regx 32; push_lane; lit4; mul; offset`. Operands
are numbers, `x:00ff` (bytes), `[...]` (a nested expression), `u32` (a base type entry), `$name` (an entry of `dies`),
`@label` (a branch target; `label:` precedes an operation). The codes below are copied from the standard and from the
tables of the documents, so that the tests do not use the library's own table to encode.

A result reads `0x5` (generic type), `s32 -1` (typed), `mem5 0x10 lane5`, `mem0 0x10.3` (bit 3), `reg32`, `reg32+8`
(bits), `implicit`, `pointer`, `composite`, `undefined`, several places joined by ` | `; `ill-formed`, `error`
(evaluation error). `{32: 0x1, 8+16: 0x0}` after a location gives the contents read there: bits, offset in bits, value.
"""

# ruff: noqa: E501  (a case is a line)
from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from rocdbg import dwarf

STANDARD: dict[str, tuple[int, str]] = {
    "addr": (0x03, "8"), "deref": (0x06, ""), "const1u": (0x08, "1"), "const1s": (0x09, "1"), "const2u": (0x0A, "2"),
    "const2s": (0x0B, "2"), "const4u": (0x0C, "4"), "const4s": (0x0D, "4"), "const8u": (0x0E, "8"),
    "const8s": (0x0F, "8"), "constu": (0x10, "u"), "consts": (0x11, "s"), "dup": (0x12, ""), "drop": (0x13, ""),
    "over": (0x14, ""), "pick": (0x15, "1"), "swap": (0x16, ""), "rot": (0x17, ""), "xderef": (0x18, ""),
    "abs": (0x19, ""), "and": (0x1A, ""), "div": (0x1B, ""), "minus": (0x1C, ""), "mod": (0x1D, ""), "mul": (0x1E, ""),
    "neg": (0x1F, ""), "not": (0x20, ""), "or": (0x21, ""), "plus": (0x22, ""), "plus_uconst": (0x23, "u"),
    "shl": (0x24, ""), "shr": (0x25, ""), "shra": (0x26, ""), "xor": (0x27, ""), "bra": (0x28, "2"), "eq": (0x29, ""),
    "ge": (0x2A, ""), "gt": (0x2B, ""), "le": (0x2C, ""), "lt": (0x2D, ""), "ne": (0x2E, ""), "skip": (0x2F, "2"),
    "regx": (0x90, "u"), "fbreg": (0x91, "s"), "bregx": (0x92, "us"), "piece": (0x93, "u"), "deref_size": (0x94, "1"),
    "xderef_size": (0x95, "1"), "nop": (0x96, ""), "push_object_address": (0x97, ""), "call2": (0x98, "2"),
    "call4": (0x99, "4"), "call_ref": (0x9A, "o"), "form_tls_address": (0x9B, ""), "call_frame_cfa": (0x9C, ""),
    "bit_piece": (0x9D, "uu"), "implicit_value": (0x9E, "b"), "stack_value": (0x9F, ""),
    "implicit_pointer": (0xA0, "os"), "addrx": (0xA1, "u"), "constx": (0xA2, "u"), "entry_value": (0xA3, "b"),
    "const_type": (0xA4, "uB"), "regval_type": (0xA5, "uu"), "deref_type": (0xA6, "1u"), "xderef_type": (0xA7, "1u"),
    "convert": (0xA8, "u"), "reinterpret": (0xA9, "u"), "GNU_entry_value": (0xF3, "b"), "GNU_parameter_ref": (0xFA, "4"),
    "GNU_addr_index": (0xFB, "u"), "GNU_const_index": (0xFC, "u"), "GNU_push_tls_address": (0xE0, ""),
    "GNU_implicit_pointer": (0xF2, "os"), "GNU_const_type": (0xF4, "uB"), "GNU_regval_type": (0xF5, "uu"),
    "GNU_deref_type": (0xF6, "1u"), "GNU_convert": (0xF7, "u"), "GNU_reinterpret": (0xF9, "u"), "GNU_uninit": (0xF0, ""),
    "GNU_variable_value": (0xFD, "o"),
    **{f"lit{n}": (0x30 + n, "") for n in range(32)}, **{f"reg{n}": (0x50 + n, "") for n in range(32)},
    **{f"breg{n}": (0x70 + n, "s") for n in range(32)},
}
# name: (code after DW_OP_LLVM_user, code of the 2020 proposal, operands there and here)
EXTENSIONS: dict[str, tuple[int, int, str]] = {
    "form_aspace_address": (0x02, 0xE1, ""), "push_lane": (0x03, 0xE2, ""), "offset": (0x04, 0xE3, ""),
    "offset_uconst": (0x05, 0xE4, "u"), "bit_offset": (0x06, 0xE5, ""), "call_frame_entry_reg": (0x07, 0xE6, "u"),
    "undefined": (0x08, 0xE7, ""), "aspace_bregx": (0x09, 0xE8, "us"), "piece_end": (0x0A, 0xEA, ""),
    "extend": (0x0B, 0xEB, "uu"), "select_bit_piece": (0x0C, 0xEC, "uu"),
}
# No code is agreed on for these: the public table says which one.
TO_BE_ANNOUNCED = {"aspace_implicit_pointer": "os", "push_iteration": "", "overlay": "", "bit_overlay": ""}

TYPES = {
    "u8": dwarf.BaseType("u8", "DW_ATE_unsigned", 8), "s8": dwarf.BaseType("s8", "DW_ATE_signed", 8),
    "u16": dwarf.BaseType("u16", "DW_ATE_unsigned", 16), "s16": dwarf.BaseType("s16", "DW_ATE_signed", 16),
    "u32": dwarf.BaseType("u32", "DW_ATE_unsigned", 32), "s32": dwarf.BaseType("s32", "DW_ATE_signed", 32),
    "u64": dwarf.BaseType("u64", "DW_ATE_unsigned", 64), "s64": dwarf.BaseType("s64", "DW_ATE_signed", 64),
    "u128": dwarf.BaseType("u128", "DW_ATE_unsigned", 128), "s128": dwarf.BaseType("s128", "DW_ATE_signed", 128),
    "u12": dwarf.BaseType("u12", "DW_ATE_unsigned", 12), "s5": dwarf.BaseType("s5", "DW_ATE_signed", 5),
    "bool": dwarf.BaseType("bool", "DW_ATE_boolean", 8), "char": dwarf.BaseType("char", "DW_ATE_signed_char", 8),
    "uchar": dwarf.BaseType("uchar", "DW_ATE_unsigned_char", 8), "ptr": dwarf.BaseType("ptr", "DW_ATE_address", 64),
    "f16": dwarf.BaseType("f16", "DW_ATE_float", 16), "f32": dwarf.BaseType("f32", "DW_ATE_float", 32),
    "f64": dwarf.BaseType("f64", "DW_ATE_float", 64), "utf": dwarf.BaseType("utf", "DW_ATE_UTF", 32),
    "cf32": dwarf.BaseType("cf32", "DW_ATE_complex_float", 64), "f80": dwarf.BaseType("f80", "DW_ATE_float", 80),
    "f128": dwarf.BaseType("f128", "DW_ATE_float", 128), "cf64": dwarf.BaseType("cf64", "DW_ATE_complex_float", 128),
    "u32x4": dwarf.BaseType("u32x4", "DW_ATE_unsigned", 32, 4), "f32x2": dwarf.BaseType("f32x2", "DW_ATE_float", 32, 2),
    "s16x2": dwarf.BaseType("s16x2", "DW_ATE_signed", 16, 2), "u32x64": dwarf.BaseType("u32x64", "DW_ATE_unsigned", 32, 64),
}
TYPE_OFFSETS = {name: 0x100 + index for index, name in enumerate(TYPES)}


def uleb(value: int) -> bytes:
    out = bytearray()
    while True:
        out.append(value & 0x7F | (0x80 if value > 0x7F else 0))
        value >>= 7
        if not value:
            return bytes(out)


def sleb(value: int) -> bytes:
    out = bytearray()
    while not -64 <= value < 64:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value & 0x7F])


def encode_operation(name: str, operands: list[str], dialect: str, die: Callable[[str], int], offset_size: int) -> bytes:
    if name in STANDARD:
        code, kinds = STANDARD[name]
        out = bytearray([code])
    elif name in EXTENSIONS:
        extension, code, kinds = EXTENSIONS[name]
        if dialect == "proposal2020":
            out = bytearray([code])
            kinds = "uu" if name == "aspace_bregx" else kinds
        else:
            out = bytearray([0xE9, extension])
    elif name == "user_nop":
        out, kinds = bytearray([0xE9, 0x01]), ""
    else:
        kinds = TO_BE_ANNOUNCED[name]
        (row,) = (r for r in dwarf.OPERATIONS if r.name == f"DW_OP_LLVM_{name}" and dialect in r.dialects)
        out = bytearray([row.code] if row.extension is None else [row.code, row.extension])
    assert len(operands) == len(kinds), (name, operands)
    for kind, text in zip(kinds, operands, strict=True):
        if kind in "bB":
            data = bytes.fromhex(text[2:]) if text.startswith("x:") else assemble(text[1:-1], dialect, die, offset_size)
            out += (uleb(len(data)) if kind == "b" else bytes([len(data)])) + data
            continue
        value = TYPE_OFFSETS[text] if text in TYPES else die(text[1:]) if text[0] == "$" else int(text, 0)
        if kind == "u":
            out += uleb(value)
        elif kind == "s":
            out += sleb(value)
        else:
            size = offset_size if kind == "o" else int(kind)
            out += (value & (1 << 8 * size) - 1).to_bytes(size, "little")
    return bytes(out)


def assemble(text: str, dialect: str, die: Callable[[str], int], offset_size: int = 4) -> bytes:
    chunks: list[bytes] = []
    labels: dict[str, int] = {}
    branches: list[tuple[int, str]] = []
    position = 0
    for item in re.findall(r"(?:\[(?:[^\[\]]|\[[^\[\]]*\])*\]|[^;\[\]])+", text):
        label = re.match(r"\s*(\w+):(?![0-9a-f])", item)
        if label:
            labels[label[1]] = position
            item = item[label.end() :]
        words = re.findall(r"\[.*\]|\S+", item.strip())
        if not words:
            continue
        name, *operands = words
        if operands and operands[0].startswith("@"):
            branches.append((len(chunks), operands[0][1:]))
            operands = ["0"]
        chunk = encode_operation(name, operands, dialect, die, offset_size)
        position += len(chunk)
        chunks.append(chunk)
    for index, label_name in branches:
        end = sum(map(len, chunks[: index + 1]))
        chunks[index] = chunks[index][:1] + (labels[label_name] - end).to_bytes(2, "little", signed=True)
    return b"".join(chunks)


def vector(first: int, lanes: int = 64) -> bytes:
    """A vector register whose dword in lane N is `first` + N."""
    return b"".join((first + lane).to_bytes(4, "little") for lane in range(lanes))


def world() -> dict[str, Any]:
    """PC 0x1000, EXEC 0xff0f, sN = 0x1000 * N + 2, v0 and v1; memory whose byte at A is the low byte of A."""
    return {
        "lane": 5,
        "lanes": 64,
        "pc": 0x1000,
        "registers": {
            16: (0x1000).to_bytes(8, "little"), 17: (0xFF0F).to_bytes(8, "little"),
            **{32 + n: (0x1000 * n + 2).to_bytes(4, "little") for n in range(64)},
            2560: vector(0x100), 2561: vector(0x200), 3072: vector(0x300), 1536: vector(0x400, 32),
            768: (0x8000_0000_0000_0001).to_bytes(8, "little"), 128: b"\x78\x56\x34\x12",
        },
        "memory": {
            0: {0x1000: bytes(range(256)) * 32}, 2: {0: bytes(range(64))}, 3: {0: bytes(range(128))},
            6: {0: b"".join(bytes([dword * 16, lane, 0x55, 0xAA]) for dword in range(16) for lane in range(64))},
        },
        "apertures": {"local": 0x1_0000_0000_0000, "private": 0x2_0000_0000_0000},
        "debug_addr": [0x1010, 0xFFFF_FFFF_FFFF_FFF0],
        "entry_registers": {16: (0x3004).to_bytes(8, "little"), 32: (0x1234).to_bytes(4, "little")},
    }


def show_place(place: dwarf.Place) -> str:
    kind = place.kind.value
    if kind == "memory":
        address, bit = divmod(place.bit_offset, 8)
        lane = "" if place.lane is None else f" lane{place.lane}"
        return f"mem{place.address_space} {address:#x}{f'.{bit}' if bit else ''}{lane}"
    name = f"reg{place.register}" if kind == "register" else kind.split()[-1]
    return name if not place.bit_offset or kind == "undefined" else f"{name}+{place.bit_offset}"


def show(result: object) -> str:
    if isinstance(result, dwarf.LocationDescription):
        return " | ".join(show_place(place) for place in result.places)
    assert isinstance(result, dwarf.Value)
    if isinstance(result, dwarf.ImplicitPointerValue):
        return f"implicit-pointer-value{result.address_space}"
    if result.type is None:
        assert isinstance(result.value, int)
        return f"{result.value:#x}"
    return f"{result.type.name} {result.value}"


def outcome(function: Callable[[], object]) -> str:
    try:
        return show(function())
    except dwarf.IllFormed:
        return "ill-formed"
    except dwarf.EvaluationError:
        return "error"


class World:
    """Evaluates the texts of one test in one dialect."""

    def __init__(self, dialect: str, changes: dict[str, Any] | None = None) -> None:
        self.dialect = dialect
        changes = dict(changes or {})
        dies = changes.pop("dies", {})
        self.offsets: dict[str, int] = {}
        self.kind = changes.pop("kind", None)
        self.initial = changes.pop("initial", ())
        self.offsets |= {name: 0x200 + 8 * index for index, name in enumerate(dies or {})}
        self.offset_size = changes.get("offset_size", 4)
        in_memory = {name: changes.pop(name, None) for name in ("elsewhere", "entry_in_memory")}
        settings = world() | changes
        cfa, thing = settings.pop("cfa", None), settings.pop("object", None)
        for key in ("frame_base",):
            if isinstance(settings.get(key), (str, list)):
                settings[key] = self.content(settings[key])
        sites = settings.get("call_site_values", {})
        settings["call_site_values"] = {self.offsets[name]: self.content(text) for name, text in sites.items()}
        if dies is not None:
            settings["dies"] = {TYPE_OFFSETS[name]: type_ for name, type_ in TYPES.items()}
            settings["dies"] |= {self.offsets[name]: self.content(content) for name, content in dies.items()}
        if changes.get("debug_addr", 0) is None:
            settings["debug_addr"] = None
        self.context = dwarf.SimpleContext(**settings)
        for name, registers in (
            ("elsewhere", self.context.registers), ("entry_in_memory", self.context.entry_registers)
        ):
            if in_memory[name] is not None:
                registers[in_memory[name]] = self.location("lit8; lit5; form_aspace_address")
        if cfa is not None:
            self.context.cfa = self.location(cfa)
        if thing is not None:
            self.context.object = self.location(thing)

    def content(self, content: Any) -> Any:
        if isinstance(content, str):
            return self.code(content)
        if isinstance(content, list):
            return dwarf.LocationList([(low, high, self.code(text)) for low, high, text in content])
        return content

    def code(self, text: str) -> bytes:
        return assemble(text, self.dialect, self.die, self.offset_size)

    def die(self, name: str) -> int:
        return 0x7FFF if name == "nowhere" else self.offsets[name]

    def location(self, text: str) -> dwarf.LocationDescription:
        result = dwarf.evaluate(self.code(text), self.context, "location", self.dialect)
        assert isinstance(result, dwarf.LocationDescription)
        return result

    def evaluate(self, text: str) -> Any:
        initial = [self.location(item) if isinstance(item, str) else item for item in self.initial]
        return dwarf.evaluate(self.code(text), self.context, self.kind, self.dialect, initial)

    def check(self, text: str, expected: str) -> None:
        match = re.fullmatch(r"(.*?)\s*(\{.*\})?", expected)
        assert match is not None
        results: list[Any] = []

        def run() -> object:
            results.append(self.evaluate(text))
            return results[0]

        assert outcome(run) == match[1]
        for extent, value in reads(match[2]):
            bits, _, offset = extent.partition("+")

            def read(bits: str = bits, offset: str = offset) -> object:
                return dwarf.Value(None, results[0].read(int(bits), int(offset or 0)))

            assert outcome(read) == value, extent


def reads(text: str | None) -> Iterable[tuple[str, str]]:
    for item in (text or "{}")[1:-1].split(","):
        if item.strip():
            extent, value = item.split(":")
            value = value.strip()
            yield extent.strip(), hex(ast.literal_eval(value)) if value[0] in "0123456789" else value


@pytest.fixture
def check() -> Callable[..., None]:
    """``check(expression, expected, dialect, changes)``: evaluate in the world with changes and compare."""

    def run(text: str, expected: str, dialect: str, changes: dict[str, Any] | None = None) -> None:
        World(dialect, changes).check(text, expected)

    return run


@pytest.fixture
def make_world() -> Callable[..., World]:
    return World


@pytest.fixture
def show_result() -> Callable[[object], str]:
    return show


@pytest.fixture
def outcome_of() -> Callable[[Callable[[], object]], str]:
    return outcome
